//! Which points a contact has: resting shapes, speculative points, symmetry, invariance, independence of history.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use crate::common::{Placements, box_mesh, collider, contacts, geom, rock};
use sapwood_geometry::{Contact, HeightField, Mesh, Shape, Sweep};
use spatial::{Mat3, Pose, Quat, Vec3};
use support::SplitMix64;

const PLANE: Shape = Shape::Plane { half_extents: [0.0, 0.0] };
const X: Vec3<f64> = Vec3::new(1.0, 0.0, 0.0);
const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);
const Z: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

fn at(x: f64, y: f64, z: f64) -> Pose<f64> {
    Pose::new(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn turned(axis: Vec3<f64>, angle: f64, z: f64) -> Pose<f64> {
    Pose::new(Vec3::new(0.0, 0.0, z), Quat::from_axis_angle(axis, angle))
}

/// A field of 9 × 9 samples over 2 m × 2 m.
fn field(height: impl Fn(f64, f64) -> f64) -> Shape {
    let sample = |i: usize| i as f64 * 0.25 - 1.0;
    let heights = (0..81).map(|i| height(sample(i % 9), sample(i / 9))).collect();
    Shape::HeightField(Arc::new(HeightField::new("field", [9, 9], [1.0, 1.0], heights, 1.0).unwrap()))
}

/// A body resting 1 mm deep on ground 1 (a plane, a box or flat field with its surface at z = 0).
#[test]
fn resting_bodies_stand_on_enough_points() {
    let slab = Shape::Box { half_extents: [1.0, 1.0, 0.5] };
    let hull = box_mesh([1.0, 1.0, 0.5]);
    let grounds = [
        ("plane", PLANE, at(0.0, 0.0, 0.0)),
        ("box", slab, at(0.0, 0.0, -0.5)),
        ("hull", hull, at(0.0, 0.0, -0.5)),
        ("field", field(|_, _| 0.0), at(0.0, 0.0, 0.0)),
    ];
    let capsule = Shape::Capsule { radius: 0.1, half_length: 0.2 };
    let cylinder = Shape::Cylinder { radius: 0.1, half_length: 0.2 };
    let cuboid = Shape::Box { half_extents: [0.1, 0.15, 0.2] };
    let deep = 1e-3;
    for (name, ground, place) in grounds {
        for (body, pose, least, most) in [
            (Shape::Sphere { radius: 0.1 }, at(0.03, 0.04, 0.1 - deep), 1, 1),
            (Shape::Ellipsoid { radii: [0.1, 0.2, 0.3] }, at(0.03, 0.04, 0.3 - deep), 1, 1),
            (capsule.clone(), turned(Y, FRAC_PI_2, 0.1 - deep), 3, 4),
            (capsule.clone(), at(0.03, 0.04, 0.3 - deep), 1, 1),
            (cylinder.clone(), turned(Y, FRAC_PI_2, 0.1 - deep), 3, 4),
            (cylinder.clone(), at(0.03, 0.04, 0.2 - deep), 4, 4),
            (cuboid.clone(), at(0.03, 0.04, 0.2 - deep), 4, 4),
            (box_mesh([0.1, 0.15, 0.2]), at(0.03, 0.04, 0.2 - deep), 4, 4),
        ] {
            let found = contacts(&[(ground.clone(), place), (body.clone(), pose)], 1e-3);
            let n = found.len();
            assert!((least..=most).contains(&n), "{body:?} on {name}: {n} points {found:#?}");
            for c in &found {
                assert!((c.normal - Z).norm() < 1e-9, "{body:?} on {name}: {c:?}");
                assert!((c.gap + deep).abs() < 1e-9, "{body:?} on {name}: {c:?}");
                assert!((c.position.z + deep / 2.0).abs() < 1e-9, "{body:?} on {name}: {c:?}");
            }
            // The body's centre is over the points.
            let mean = found.iter().fold(Vec3::ZERO, |s, c| s + c.position) * (1.0 / n as f64);
            assert!((mean.x - pose.pos.x).abs() + (mean.y - pose.pos.y).abs() < 0.03, "{body:?} on {name}: {mean:?}");
        }
    }
}

#[test]
fn crossed_boxes_touch_in_eight_corners() {
    let cube = Shape::Box { half_extents: [0.1, 0.1, 0.1] };
    let found = contacts(&[(cube.clone(), at(0.0, 0.0, 0.0)), (cube, turned(Z, 0.5 * FRAC_PI_2, 0.2))], 1e-3);
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|c| c.gap.abs() < 1e-12 && (c.normal - Z).norm() < 1e-12));
}

#[test]
fn crossed_edges_touch_in_one_point() {
    let cube = Shape::Box { half_extents: [0.1, 0.1, 0.1] };
    let d = 0.1 * 2.0_f64.sqrt();
    let lower = turned(X, 0.5 * FRAC_PI_2, 0.0);
    let upper = Pose::new(Z * (2.0 * d - 1e-3), Quat::from_axis_angle(Y, 0.5 * FRAC_PI_2));
    let found = contacts(&[(cube.clone(), lower), (cube, upper)], 1e-4);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!((found[0].gap + 1e-3).abs() < 1e-12 && (found[0].normal - Z).norm() < 1e-9);
    assert!((found[0].position - Z * (d - 0.5e-3)).norm() < 1e-9);
}

/// A capsule whose axis runs deep through a box goes out across the nearest face.
#[test]
fn pierced_boxes_push_the_shortest_way() {
    let slab = Shape::Box { half_extents: [1.0, 1.0, 0.1] };
    let rod = Shape::Capsule { radius: 0.02, half_length: 0.3 };
    let found = contacts(&[(rod, turned(Y, FRAC_PI_2, 0.04)), (slab, at(0.0, 0.0, 0.0))], 0.0);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|c| (c.normal + Z).norm() < 1e-12 && (c.gap + 0.08).abs() < 1e-12));
}

/// A capsule and a cylinder lie on three points, the last midway between the others, which share the stiffness of two: a wheel turns about
/// the middle. What stands on one end has no middle.
#[test]
fn lines_have_a_middle() {
    let (radius, half_length, deep) = (0.1, 0.2, 1e-3);
    let slab = Shape::Box { half_extents: [1.0, 1.0, 0.5] };
    let hull = box_mesh([1.0, 1.0, 0.5]);
    let capsule = Shape::Capsule { radius, half_length };
    let cylinder = Shape::Cylinder { radius, half_length };
    // Whose triangles the line crosses.
    let field = field(|_, _| 0.0);
    let (level, below) = (at(0.02, 0.03, 0.0), at(0.0, 0.0, -0.5));
    for (shape, ground, place) in [
        (&capsule, &PLANE, level),
        (&capsule, &slab, below),
        (&capsule, &hull, below),
        (&capsule, &field, level),
        (&cylinder, &slab, below),
        (&cylinder, &hull, below),
        (&cylinder, &field, level),
    ] {
        let lying = |tilt: f64| {
            let height = radius - deep + half_length * libm::sin(tilt);
            contacts(&[(ground.clone(), place), (shape.clone(), turned(Y, FRAC_PI_2 + tilt, height))], 0.05)
        };
        let found = lying(0.0);
        assert_eq!(found.len(), 3, "{shape:?} on {ground:?}: {found:#?}");
        let middle = (found[0].position + found[1].position) * 0.5;
        assert!((found[2].position - middle).norm() < 1e-12, "{found:#?}");
        assert!(((found[1].position - found[0].position).norm() - 2.0 * half_length).abs() < 1e-9, "{found:#?}");
        let stiffness: f64 = found.iter().map(|c| c.stiffness_share).sum();
        assert!((stiffness - 2.0).abs() < 1e-12, "{found:#?}");
        // The other end is within the margin still.
        let found = lying(0.1);
        assert_eq!(found.len(), 2, "{shape:?} on {ground:?}: {found:#?}");
        assert!(found.iter().all(|c| c.stiffness_share.to_bits() == 1.0_f64.to_bits()), "{found:#?}");
    }
}

#[test]
fn speculative_points_have_their_own_gaps() {
    // A box tilted by 0.01 rad above a plane: its four lower corners at two heights.
    let cuboid = Shape::Box { half_extents: [0.1, 0.1, 0.1] };
    let (s, c) = (libm::sin(0.01), libm::cos(0.01));
    let height = 0.1 * (c + s) + 0.002;
    let found = contacts(&[(PLANE, at(0.0, 0.0, 0.0)), (cuboid.clone(), turned(Y, 0.01, height))], 0.01);
    let mut gaps: Vec<f64> = found.iter().map(|c| c.gap).collect();
    gaps.sort_by(f64::total_cmp);
    for (gap, expected) in gaps.iter().zip([0.002, 0.002, 0.002 + 0.2 * s, 0.002 + 0.2 * s]) {
        assert!((gap - expected).abs() < 1e-15, "{gaps:?}");
    }
    assert_eq!(gaps.len(), 4);
    // With a reach between the two heights, only two.
    let found = contacts(&[(PLANE, at(0.0, 0.0, 0.0)), (cuboid.clone(), turned(Y, 0.01, height))], 0.003);
    assert_eq!(found.len(), 2);
    // The same over a box, along its face.
    let slab = Shape::Box { half_extents: [1.0, 1.0, 0.5] };
    let found = contacts(&[(slab, at(0.0, 0.0, -0.5)), (cuboid, turned(Y, 0.01, height))], 0.01);
    assert_eq!(found.len(), 4);
    assert!(found.iter().any(|c| (c.gap - 0.002).abs() < 1e-15), "{found:?}");
}

fn zoo(random: &mut SplitMix64) -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.12 },
        Shape::Capsule { radius: 0.08, half_length: 0.15 },
        Shape::Ellipsoid { radii: [0.1, 0.15, 0.2] },
        Shape::Cylinder { radius: 0.1, half_length: 0.15 },
        Shape::Box { half_extents: [0.1, 0.12, 0.15] },
        rock(60, 0.18, random.next()),
        box_mesh([0.15, 0.1, 0.12]),
    ]
}

/// Contacts in an order that does not depend on how they were found.
fn sorted(mut found: Vec<Contact>) -> Vec<Contact> {
    let key = |c: &Contact| (c.position.x * 0.7 + c.position.y * 0.5 + c.position.z * 0.3, c.gap);
    found.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    found
}

#[test]
fn exchanging_the_geoms_flips_the_normals_alone() {
    let mut random = SplitMix64(3);
    let shapes = zoo(&mut random);
    for a in &shapes {
        for b in &shapes {
            for _ in 0..30 {
                let (p, q) = (Pose::new(Vec3::ZERO, random.rotation()), random.pose(0.2));
                let forth = sorted(contacts(&[(a.clone(), p), (b.clone(), q)], 0.02));
                let back = sorted(contacts(&[(b.clone(), q), (a.clone(), p)], 0.02));
                assert_eq!(forth.len(), back.len(), "{a:?} {b:?}: {forth:#?} {back:#?}");
                for (f, g) in forth.iter().zip(&back) {
                    let off = (f.position - g.position).norm() + (f.normal + g.normal).norm() + (f.gap - g.gap).abs();
                    assert!(off < 1e-7, "{a:.30?} {b:.30?}: {p:?} {q:?} {f:?} {g:?}");
                }
            }
        }
    }
}

#[test]
fn moving_both_geoms_moves_the_contacts() {
    let mut random = SplitMix64(4);
    let mut shapes = zoo(&mut random);
    shapes.insert(0, PLANE);
    for a in &shapes {
        for b in &shapes[1..] {
            for _ in 0..30 {
                let (p, q) = (Pose::new(Vec3::ZERO, random.rotation()), random.pose(0.2));
                let motion = random.pose(3.0);
                let still = sorted(contacts(&[(a.clone(), p), (b.clone(), q)], 0.02));
                let moved = contacts(&[(a.clone(), motion * p), (b.clone(), motion * q)], 0.02);
                let back = motion.inverse();
                let moved = sorted(
                    moved
                        .into_iter()
                        .map(|c| Contact {
                            position: back.transform_point(c.position),
                            normal: back.rot * c.normal,
                            ..c
                        })
                        .collect(),
                );
                assert_eq!(still.len(), moved.len(), "{a:.30?} {b:.30?} {still:#?} {moved:#?}");
                for (f, g) in still.iter().zip(&moved) {
                    let off = (f.position - g.position).norm() + (f.normal - g.normal).norm() + (f.gap - g.gap).abs();
                    assert!(off < 1e-7, "{a:?} {b:?}: {f:?} {g:?}");
                }
            }
        }
    }
}

#[test]
fn what_was_computed_before_does_not_matter() {
    let mut random = SplitMix64(5);
    let mut shapes = zoo(&mut random);
    shapes.extend(zoo(&mut random));
    let ground = field(|x, y| 0.1 * (x + 2.0 * y * y));
    shapes.push(ground);
    let geoms: Vec<_> = shapes.iter().enumerate().map(|(i, s)| geom(i + 1, s.clone())).collect();
    let last = shapes.len() - 1;
    let reach = vec![sapwood_geometry::Sweep::from(0.01); shapes.len()];
    let mut used = collider(geoms.clone(), &[last]);
    let mut found = vec![];
    for _ in 0..40 {
        let frames: Vec<(Mat3<f64>, Vec3<f64>)> = (0..shapes.len())
            .map(|_| {
                let p = random.pose(0.4);
                (p.rot.to_mat3(), p.pos)
            })
            .collect();
        used.contacts(|i| frames[i], &reach, &mut found);
        let mut fresh = vec![];
        collider(geoms.clone(), &[last]).contacts(|i| frames[i], &reach, &mut fresh);
        assert!(!fresh.is_empty());
        assert_eq!(found, fresh);
    }
}

#[test]
fn poses_that_are_not_finite_touch_nothing() {
    let mut random = SplitMix64(6);
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        for shape in zoo(&mut random) {
            for ground in [PLANE, Shape::Sphere { radius: 1.0 }, field(|_, _| 0.0), rock(30, 1.0, 1)] {
                let pose = at(0.0, bad, 0.0);
                let found = contacts(&[(ground, at(0.0, 0.0, 0.0)), (shape.clone(), pose)], 0.01);
                assert!(bad == 1e300 || found.is_empty());
                assert!(found.iter().all(|c| c.gap.is_finite()));
                let spun = Pose::new(Vec3::ZERO, Quat::new(bad, 0.0, 1.0, 0.0));
                contacts(&[(shape.clone(), spun), (shape.clone(), at(0.0, 0.0, 0.05))], 0.01);
            }
        }
    }
}

/// Directions along an axis, give or take the smallest of numbers, whose inverses are infinite and whose squares are 0.
#[test]
fn denormal_tilts_touch_like_upright_bodies() {
    let shapes = zoo(&mut SplitMix64(9));
    for tilt in [1e-308, 5e-324, 1e-200, 1e-160] {
        for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
            for (x, z) in [(0.0, 0.3), (0.1, 0.35), (0.1, 0.2), (tilt, 0.2), (0.0, 0.0), (0.1, 0.0)] {
                let touch = |rot| {
                    let above = Pose::new(Vec3::new(x, 0.0, z), rot);
                    contacts(&[(a.clone(), at(0.0, 0.0, 0.0)), (b.clone(), above)], 0.02)
                };
                let upright = touch(Quat::IDENTITY);
                for sign in [1.0, -1.0] {
                    let tilted = touch(Quat::new(1.0, -tilt, sign * tilt, 0.0));
                    assert!(tilted.iter().all(|c| c.gap.is_finite() && c.position.norm().is_finite()));
                    assert_eq!(tilted.is_empty(), upright.is_empty(), "{a:?} {b:?} {x} {z} {tilt:e}");
                }
            }
        }
    }
}

/// Bodies that stand exactly on one another, upright or all but: the faces touch, they are not deep in one another.
#[test]
fn aligned_bodies_touch_where_their_faces_meet() {
    let stack = [
        Shape::Cylinder { radius: 0.1, half_length: 0.15 },
        Shape::Box { half_extents: [0.1, 0.12, 0.15] },
        Shape::Capsule { radius: 0.08, half_length: 0.07 },
        Shape::Ellipsoid { radii: [0.12, 0.14, 0.15] },
        box_mesh([0.11, 0.13, 0.15]),
    ];
    for tilt in [0.0, 1e-308, 1e-20, 1e-14, 1e-10] {
        for (a, b) in stack.iter().flat_map(|a| stack.iter().map(move |b| (a, b))) {
            for depth in [0.0, 1e-12, 1e-6, 1e-3, 0.02] {
                for rot in [Quat::new(1.0, tilt, 0.0, 0.0), Quat::new(1.0, -tilt, tilt, 0.0)] {
                    let above = Pose::new(Vec3::new(0.0, 0.0, 0.3 - depth), rot);
                    let found = contacts(&[(a.clone(), at(0.0, 0.0, 0.0)), (b.clone(), above)], 0.02);
                    let deepest = found.iter().fold(f64::INFINITY, |d, c| d.min(c.gap));
                    assert!((deepest + depth).abs() < 1e-8, "{a:?} {b:?} {depth} {tilt:e}: {deepest}");
                }
            }
        }
    }
}

/// A ball, a capsule and a box slide over the inner edges of flat fields and slopes without a stumble.
#[test]
fn smooth_fields_have_one_normal() {
    let mut random = SplitMix64(8);
    for slope in [0.0, 0.3] {
        let ground = field(|x, _| slope * x);
        let normal = Vec3::new(-slope, 0.0, 1.0).normalized().unwrap();
        for (body, low) in [
            (Shape::Sphere { radius: 0.1 }, 0.1),
            (Shape::Capsule { radius: 0.1, half_length: 0.2 }, 0.3),
            (Shape::Box { half_extents: [0.1, 0.15, 0.2] }, 0.2),
            (Shape::Cylinder { radius: 0.1, half_length: 0.2 }, 0.2),
            (box_mesh([0.1, 0.15, 0.2]), 0.2),
        ] {
            for lift in [-5e-3, 1e-3] {
                for _ in 0..50 {
                    let (x, y) = (random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5));
                    // Upright on the slope.
                    let pos = Vec3::new(x, y, slope * x) + normal * (low + lift);
                    let pose = Pose::new(pos, Quat::between(Z, normal));
                    let found = contacts(&[(ground.clone(), at(0.0, 0.0, 0.0)), (body.clone(), pose)], 2e-3);
                    assert!(!found.is_empty());
                    for c in &found {
                        assert!((c.normal - normal).norm() < 1e-6, "{body:?} {pose:?}: {found:#?}");
                        assert!((c.gap - lift).abs() < 1e-9, "{body:?} {pose:?}: {found:#?}");
                    }
                }
            }
        }
    }
}

/// A ball in a valley touches both slopes, on a ridge the ridge.
#[test]
fn fields_have_no_gaps_between_triangles() {
    let mut random = SplitMix64(9);
    let ball = Shape::Sphere { radius: 0.1 };
    for slope in [0.0, 0.3] {
        let ground = field(|x, _| slope * x);
        let normal = Vec3::new(-slope, 0.0, 1.0).normalized().unwrap();
        for k in 0..300 {
            let (t, line) = (random.uniform(-0.5, 0.5), 0.25 * (random.uniform(-1.0, 1.0) * 2.0).round());
            // Over a side that two triangles have in common: along x, along y, or across.
            let (x, y) = [(t, line), (line, t), (t, t + line)][k % 3];
            let place = at(0.1 * random.symmetric(), 0.1 * random.symmetric(), 0.0);
            let pos = Vec3::new(x, y, slope * x) + normal * 0.099 + place.pos;
            let found = contacts(&[(ground.clone(), place), (ball.clone(), at(pos.x, pos.y, pos.z))], 1e-3);
            assert_eq!(found.len(), 1, "over {x}, {y}, slope {slope}: {found:#?}");
            assert!((found[0].normal - normal).norm() < 1e-6 && (found[0].gap + 1e-3).abs() < 1e-9, "{found:#?}");
        }
    }
}

#[test]
fn fields_have_valleys_and_ridges() {
    let ball = Shape::Sphere { radius: 0.1 };
    let valley = field(|x, _| x.abs());
    let pose = at(0.0, 0.1, 0.1 * 2.0_f64.sqrt() - 1e-3);
    let found = contacts(&[(valley, at(0.0, 0.0, 0.0)), (ball.clone(), pose)], 1e-4);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|c| (c.gap + 1e-3 * 0.5_f64.sqrt()).abs() < 1e-9));
    let ridge = field(|x, _| -x.abs());
    let found = contacts(&[(ridge, at(0.0, 0.0, 0.0)), (ball, at(0.0, 0.1, 0.099))], 1e-4);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!((found[0].gap + 1e-3).abs() < 1e-9 && (found[0].normal - Z).norm() < 1e-9);
}

/// A wheel of many flat sides rolls from edge to edge: of those on which it stands at the beginning and at the end of a step both corners are
/// contact points. On one corner alone it would be turned aside.
#[test]
fn meshes_roll_on_both_corners_of_an_edge() {
    const RADIUS: f64 = 0.08;
    const HALF_WIDTH: f64 = 0.025;
    for sides in [16, 24, 64, 128] {
        let angle = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / sides as f64;
        let corner = |k: usize, y: f64| Vec3::new(RADIUS * libm::sin(angle(k)), y, -RADIUS * libm::cos(angle(k)));
        let corners = (0..sides).flat_map(|k| [corner(k, HALF_WIDTH), corner(k, -HALF_WIDTH)]).collect();
        let wheel = Shape::Mesh(Arc::new(Mesh::new("wheel", corners, vec![]).unwrap()));
        let mut collider = collider(vec![geom(0, PLANE), geom(1, wheel)], &[0]);
        for (phase, turn) in (0..60).flat_map(|i| [0.002, 0.01, 0.02, 0.03].map(|turn| (0.1 * f64::from(i), turn))) {
            // Its lowest edge, about which it turns, and the one of the step's end.
            let lowest = |turned: f64| {
                let place = |k: &usize| -libm::cos(angle(*k) - turned);
                (0..sides).min_by(|i, j| place(i).total_cmp(&place(j))).unwrap()
            };
            let rot = Quat::from_axis_angle(Y, phase).to_mat3();
            let pivot = rot * corner(lowest(phase), 0.0);
            let centre = Vec3::new(0.0, 0.0, -pivot.z);
            let rotation = Y * turn;
            let sweep = Sweep { translation: -rotation.cross(pivot), rotation, ..Sweep::default() };
            let mut found = vec![];
            collider.contacts(|_| (rot, centre), &[Sweep::default(), sweep], &mut found);
            for edge in [lowest(phase), lowest(phase + turn)] {
                for y in [HALF_WIDTH, -HALF_WIDTH] {
                    let p = rot * corner(edge, y) + centre;
                    let is_found = found.iter().any(|c| (c.position - Vec3::new(p.x, p.y, 0.5 * p.z)).norm() < 1e-9);
                    assert!(is_found, "{sides} sides at {phase}, turning by {turn}: {p:?} of {found:#?}");
                }
            }
        }
    }
}
