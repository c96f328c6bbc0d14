//! What lies between nodes, and soft bodies against each other and themselves: closed forms, parry and dense sampling.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use std::sync::Arc;

use common::{Placements, geom, rock};
use counting_allocator::allocations;
use parry3d_f64::math::Vector;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{TriMesh, TriMeshFlags};
use sapwood_geometry::{
    Attachment, Movement, Scene, Shape, SoftCollider, SoftContact, SoftMovement, SoftPartner, SoftSurface, Sweep,
};
use spatial::{Pose, Quat, Vec3};
use support::SplitMix64;

/// The surface of a box of n³ cells with outward triangles, its nodes alone.
fn block(half: [f64; 3], n: usize) -> SoftSurface {
    let mut nodes: Vec<Vec3<f64>> = vec![];
    let mut triangles = vec![];
    let mut node = |i: [usize; 3]| {
        let p = Vec3::from([0, 1, 2].map(|k| half[k] * (2.0 * i[k] as f64 / n as f64 - 1.0)));
        let known = nodes.iter().position(|q| *q == p);
        known.unwrap_or_else(|| {
            nodes.push(p);
            nodes.len() - 1
        }) as u32
    };
    for axis in 0..3 {
        for side in [0, n] {
            for (u, v) in (0..n).flat_map(|u| (0..n).map(move |v| (u, v))) {
                let at = |du: usize, dv: usize| {
                    let mut i = [0; 3];
                    (i[axis], i[(axis + 1) % 3], i[(axis + 2) % 3]) = (side, u + du, v + dv);
                    i
                };
                let mut corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)].map(&mut node);
                if side == 0 {
                    corners.reverse();
                }
                let [a, b, c, d] = corners;
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    SoftSurface { nodes, triangles, contype: 1, conaffinity: 1, ..SoftSurface::default() }
}

fn collider(shapes: &[Shape], surfaces: &[SoftSurface]) -> SoftCollider {
    let geoms: Vec<_> = shapes.iter().enumerate().map(|(i, shape)| geom(i + 1, shape.clone())).collect();
    let attachment = |i| Attachment { frame: Some(i), pose: Pose::IDENTITY, group: i + 1, parent_group: 0 };
    let attachments: Vec<_> = (0..geoms.len()).map(attachment).collect();
    SoftCollider::new(&Arc::new(Scene { geoms, ..Scene::default() }), &attachments, surfaces).unwrap()
}

fn find(of: &mut SoftCollider, poses: &[Pose<f64>], positions: &[f64], slack: f64, out: &mut Vec<SoftContact>) {
    let movement = |i: usize| Movement { rot: poses[i].rot.to_mat3(), pos: poses[i].pos, sweep: Sweep::default() };
    of.contacts(movement, &SoftMovement { positions, displacements: &[], slack }, out);
}

fn placed(surface: &SoftSurface, pose: &Pose<f64>) -> Vec<f64> {
    surface.nodes.iter().flat_map(|p| pose.transform_point(*p).to_array()).collect()
}

/// The place of the soft body's point, from the nodes and weights of a contact of the only body.
fn place(contact: &SoftContact, positions: &[f64]) -> Vec3<f64> {
    let node = |n: u32| Vec3::from([0, 1, 2].map(|k| positions[3 * n as usize + k]));
    contact.point.parts().fold(Vec3::ZERO, |sum, (n, w)| sum.add_scaled(w, node(n)))
}

/// Shapes smaller than the triangles of a soft block's top, somewhere on it: the deepest contact is that of the face as a whole.
#[test]
fn what_is_smaller_than_a_triangle_does_not_slip_between_nodes() {
    let surface = block([0.5, 0.5, 0.1], 4);
    let positions = placed(&surface, &Pose::IDENTITY);
    let mut random = SplitMix64(9);
    for case in 0..250 {
        let mut size = || random.uniform(0.02, 0.04);
        let (shape, is_round) = match case % 5 {
            0 => (Shape::Sphere { radius: size() }, true),
            1 => (Shape::Capsule { radius: size(), half_length: size() }, true),
            2 => (Shape::Ellipsoid { radii: [size(), size(), size()] }, true),
            3 => (Shape::Box { half_extents: [size(), size(), size()] }, false),
            _ => (rock(30, 0.03, case), false),
        };
        let mut collider = collider(std::slice::from_ref(&shape), std::slice::from_ref(&surface));
        let rot = random.rotation();
        let up = rot.conjugate() * Vec3::new(0.0, 0.0, -1.0);
        let lowest = match &shape {
            Shape::Sphere { radius } => *radius,
            Shape::Capsule { radius, half_length } => radius + half_length * up.z.abs(),
            Shape::Ellipsoid { radii: [a, b, c] } => Vec3::new(a * up.x, b * up.y, c * up.z).norm(),
            Shape::Box { half_extents: [a, b, c] } => a * up.x.abs() + b * up.y.abs() + c * up.z.abs(),
            Shape::Mesh(m) => m.hull().unwrap().vertices.iter().map(|v| v.dot(up)).fold(f64::NEG_INFINITY, f64::max),
            _ => unreachable!(),
        };
        let gap = random.uniform(-0.004, 0.004);
        let at = Vec3::new(random.uniform(-0.4, 0.4), random.uniform(-0.4, 0.4), 0.1 + lowest + gap);
        let pose = Pose::new(at, rot);
        let mut contacts = vec![];
        find(&mut collider, &[pose], &positions, 0.005, &mut contacts);
        let deepest = contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
        // What is round touches in one point, whose depth is that of the shape below the face; what has edges, where they cross the sides of
        // triangles, in others besides.
        assert!(deepest.gap < gap + 1e-4, "case {case}: {} and {gap}", deepest.gap);
        for contact in &contacts {
            let p = place(contact, &positions);
            assert!((p.z - 0.1).abs() < 1e-12, "case {case}: on the face");
            assert!((contact.point.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(contact.gap > gap - 1e-9, "case {case}: {} is too deep for {gap}", contact.gap);
            if is_round && gap > 0.0 {
                assert!(contact.normal.z > 0.5, "case {case}: {:?}", contact.normal);
            }
        }
        let sideways = deepest.normal - Vec3::new(0.0, 0.0, 1.0);
        assert!(sideways.norm() < 1e-3, "case {case}, gap {gap}: {:?}", deepest.normal);
    }
}

/// A ball on the ridge of a block: one contact, towards the ball's centre.
#[test]
fn ridges_touch_once() {
    let surface = block([0.5, 0.5, 0.5], 2);
    let positions = placed(&surface, &Pose::IDENTITY);
    let mut collider = collider(&[Shape::Sphere { radius: 0.05 }], &[surface]);
    for (angle, gap) in [(0.3, 0.002), (0.8, 0.001), (1.2, -0.001), (0.4, -0.003)] {
        let out = Vec3::new(0.0, libm::sin(angle), libm::cos(angle));
        let pose = Pose::new(Vec3::new(0.2, 0.5, 0.5) + out * (0.05 + gap), Quat::IDENTITY);
        let mut contacts = vec![];
        find(&mut collider, &[pose], &positions, 0.003, &mut contacts);
        assert_eq!(contacts.len(), 1, "{contacts:?}");
        assert!((contacts[0].gap - gap).abs() < 1e-9 && (contacts[0].normal - out).norm() < 1e-6, "{contacts:?}");
        assert!((place(&contacts[0], &positions) - Vec3::new(0.2, 0.5, 0.5)).norm() < 1e-6);
    }
}

/// Nodes of a block against a turned one, by parry's signed distance of the mesh.
#[test]
fn nodes_have_the_signed_distance_of_other_soft_bodies() {
    let (a, b) = (block([0.2, 0.15, 0.1], 4), block([0.15, 0.2, 0.1], 3));
    let mut collider = collider(&[], &[a.clone(), b.clone()]);
    let mut random = SplitMix64(2);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..60 {
        let poses = [random.pose(0.15), random.pose(0.15)];
        let mut positions = placed(&a, &poses[0]);
        positions.extend(placed(&b, &poses[1]));
        let node = |body: usize, n: u32| {
            let at = 3 * (body * a.nodes.len() + n as usize);
            Vec3::new(positions[at], positions[at + 1], positions[at + 2])
        };
        let slack = 0.01;
        let mut contacts = vec![];
        find(&mut collider, &[], &positions, slack, &mut contacts);
        for (body, own, other) in [(0, &a, &b), (1, &b, &a)] {
            let vertices = (0..other.nodes.len() as u32).map(|n| node(1 - body, n)).map(|p| Vector::new(p.x, p.y, p.z));
            let mesh =
                TriMesh::with_flags(vertices.collect(), other.triangles.clone(), TriMeshFlags::ORIENTED).unwrap();
            for n in 0..own.nodes.len() as u32 {
                let p = node(body, n);
                let theirs = mesh.project_local_point(Vector::new(p.x, p.y, p.z), false);
                let q = Vec3::new(theirs.point.x, theirs.point.y, theirs.point.z);
                let distance = (p - q).norm() * if theirs.is_inside { -1.0 } else { 1.0 };
                let found = contacts.iter().find(|c| c.point.body == body as u32 && c.point.nodes[0] == n);
                let Some(contact) = found else {
                    assert!(distance > 2.0 * slack - 1e-9, "node {n} at {distance} not found");
                    continue;
                };
                if distance < 0.0 {
                    inside += 1
                } else {
                    outside += 1
                }
                assert!((contact.gap - distance).abs() < 1e-9, "{} and {distance}", contact.gap);
                let SoftPartner::Soft(partner) = contact.partner else { panic!("{contact:?}") };
                let at = partner.parts().fold(Vec3::ZERO, |sum, (m, w)| sum.add_scaled(w, node(1 - body, m)));
                // Two faces may be equally near, but both points are on the surface.
                assert!(((at - p).norm() - distance.abs()).abs() < 1e-9);
                assert!((at - p).cross(contact.normal).norm() < 1e-9);
                assert!((at - p).dot(contact.normal) * distance > -1e-12);
            }
        }
    }
    assert!(inside > 300 && outside > 100, "{inside} {outside}");
}

/// A strip bent until its ends face each other touches itself there and nowhere else; straight, and squeezed to 40 %, it does not.
#[test]
fn folds_touch_themselves() {
    let mut strip = block([1.0, 0.05, 0.02], 20);
    strip.self_contact = true;
    let mut collider = collider(&[], std::slice::from_ref(&strip));
    let mut count = |bend: &dyn Fn(Vec3<f64>) -> Vec3<f64>| {
        let positions: Vec<_> = strip.nodes.iter().flat_map(|p| bend(*p).to_array()).collect();
        let mut contacts = vec![];
        find(&mut collider, &[], &positions, 0.002, &mut contacts);
        contacts
    };
    assert_eq!(count(&|p| p), []);
    assert_eq!(count(&|p| Vec3::new(p.x, p.y, 0.4 * p.z)), []);
    // Along a circle of circumference 2 + gap in x and z.
    for gap in [0.003, -0.003] {
        let ring = |p: Vec3<f64>| {
            let angle = std::f64::consts::TAU * p.x / (2.0 + gap);
            let radius = (2.0 + gap) / std::f64::consts::TAU + p.z;
            Vec3::new(radius * libm::sin(angle), p.y, radius * libm::cos(angle))
        };
        let contacts = count(&ring);
        let ends = |n: u32| strip.nodes[n as usize].x.abs() == 1.0;
        assert!(contacts.len() >= 100, "{}", contacts.len());
        for contact in &contacts {
            assert!(ends(contact.point.nodes[0]), "{contact:?}");
            // Nodes on the rim of the one end may be nearer to the sides of the other than to its face.
            let at_rest = strip.nodes[contact.point.nodes[0] as usize];
            if gap > 0.0 || at_rest.y.abs() < 0.04 && at_rest.z.abs() < 0.015 {
                assert!((contact.gap - gap).abs() < 0.2 * gap.abs(), "{} for {gap}", contact.gap);
                assert!(contact.normal.x.abs() > 0.99, "{contact:?}");
            }
        }
    }
}

/// The same contact points whatever was before, and no memory after the first calls.
#[test]
fn calls_repeat_and_do_not_allocate() {
    let surfaces =
        [block([0.2, 0.2, 0.2], 5), block([0.15, 0.2, 0.1], 4)].map(|s| SoftSurface { self_contact: true, ..s });
    let shapes = [
        Shape::Plane { half_extents: [0.0; 2] },
        Shape::Sphere { radius: 0.03 },
        Shape::Box { half_extents: [0.1, 0.1, 0.05] },
        rock(40, 0.1, 3),
        Shape::Cylinder { radius: 0.05, half_length: 0.1 },
    ];
    let mut random = SplitMix64(4);
    let states: Vec<_> = (0..40)
        .map(|_| {
            let poses: Vec<_> = shapes.iter().map(|_| random.pose(0.3)).collect();
            let positions: Vec<_> = surfaces.iter().flat_map(|s| placed(s, &random.pose(0.2))).collect();
            (poses, positions)
        })
        .collect();
    let mut first = collider(&shapes, &surfaces);
    let (mut out, mut again) = (vec![], vec![]);
    states.iter().for_each(|(poses, positions)| find(&mut first, poses, positions, 0.01, &mut out));
    let (mut found, mut allocated) = (0, 0);
    for (poses, positions) in states.iter().rev() {
        let mut fresh = collider(&shapes, &surfaces);
        find(&mut fresh, poses, positions, 0.01, &mut again);
        out.reserve(again.len());
        let before = allocations();
        find(&mut first, poses, positions, 0.01, &mut out);
        allocated += allocations() - before;
        assert_eq!(out, again);
        found += out.len();
    }
    assert!(found > 1000, "{found}");
    assert_eq!(allocated, 0);
}
