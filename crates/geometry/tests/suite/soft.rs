//! Nodes of soft bodies against rigid shapes: signed distances and their gradients against closed forms, parry and dense sampling.

use std::sync::Arc;

use crate::common::{Placements, geom, rock};
use parry3d_f64::math::Vector;
use parry3d_f64::shape::SharedShape;
use sapwood_geometry::{
    Attachment, Geom, HeightField, Movement, Scene, Shape, SoftCollider, SoftContact, SoftMovement, SoftPartner,
    SoftPoint, SoftSurface, Sweep,
};
use spatial::{Mat3, Pose, Vec3};
use support::SplitMix64;

/// A collider of soft surfaces and shapes, each on a frame of its own.
fn collider(shapes: &[Shape], surfaces: &[SoftSurface]) -> SoftCollider {
    let geoms: Vec<Geom> = shapes.iter().enumerate().map(|(i, shape)| geom(i + 1, shape.clone())).collect();
    let attachment = |i| Attachment { frame: Some(i), pose: Pose::IDENTITY, group: i + 1, parent_group: 0 };
    let attachments: Vec<_> = (0..geoms.len()).map(attachment).collect();
    SoftCollider::new(&Arc::new(Scene { geoms, ..Scene::default() }), &attachments, surfaces).unwrap()
}

fn flat(nodes: &[Vec3<f64>]) -> Vec<f64> {
    nodes.iter().flat_map(|p| p.to_array()).collect()
}

fn find(collider: &mut SoftCollider, poses: &[Pose<f64>], nodes: &[Vec3<f64>], slack: f64) -> Vec<SoftContact> {
    let movement = |i: usize| Movement { rot: poses[i].rot.to_mat3(), pos: poses[i].pos, sweep: Sweep::default() };
    let mut out = vec![];
    let positions = flat(nodes);
    collider.contacts(movement, &SoftMovement { positions: &positions, displacements: &[], slack }, &mut out);
    out
}

/// A surface of loose triangles.
fn loose(nodes: Vec<Vec3<f64>>) -> SoftSurface {
    let triangles = (0..nodes.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    SoftSurface { nodes, triangles, contype: 1, conaffinity: 1, ..SoftSurface::default() }
}

/// What parry has a shape for, the rounding left out.
fn parry_shape(shape: &Shape) -> Option<(SharedShape, f64)> {
    let shape = match shape {
        Shape::Sphere { radius } => (SharedShape::ball(*radius), 0.0),
        Shape::Capsule { radius, half_length: h } => {
            (SharedShape::segment(Vector::new(0.0, 0.0, -h), Vector::new(0.0, 0.0, *h)), *radius)
        }
        Shape::Box { half_extents: [a, b, c] } => (SharedShape::cuboid(*a, *b, *c), 0.0),
        Shape::Mesh(m) => {
            let points: Vec<_> = m.hull().unwrap().vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
            (SharedShape::convex_hull(&points).unwrap(), 0.0)
        }
        _ => return None,
    };
    Some(shape)
}

/// Height of a shape in its own frame along the unit vector `n`.
fn height(shape: &Shape, n: Vec3<f64>) -> f64 {
    let across = (n.x * n.x + n.y * n.y).sqrt();
    match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Capsule { radius, half_length } => radius + half_length * n.z.abs(),
        Shape::Cylinder { radius, half_length } => radius * across + half_length * n.z.abs(),
        Shape::Ellipsoid { radii: [a, b, c] } => Vec3::new(a * n.x, b * n.y, c * n.z).norm(),
        Shape::Box { half_extents: [a, b, c] } => a * n.x.abs() + b * n.y.abs() + c * n.z.abs(),
        Shape::Mesh(m) => m.hull().unwrap().vertices.iter().map(|v| v.dot(n)).fold(f64::NEG_INFINITY, f64::max),
        Shape::Plane { .. } | Shape::HeightField(_) => unreachable!("not bounded and convex"),
    }
}

/// The signed distance of a point from a convex shape is the largest of its heights above the planes that bound the shape: no direction shows
/// more than the one found, and that shows as much.
#[test]
fn nodes_have_the_signed_distance_of_every_convex_shape() {
    let mut random = SplitMix64(5);
    let mut found_of = [0; 6];
    for case in 0..300 {
        let mut size = || random.uniform(0.05, 0.2);
        let kind = case % 6;
        let shape = match kind {
            0 => Shape::Sphere { radius: size() },
            1 => Shape::Capsule { radius: size(), half_length: size() },
            2 => Shape::Cylinder { radius: size(), half_length: size() },
            3 => Shape::Ellipsoid { radii: [size(), size(), size()] },
            4 => Shape::Box { half_extents: [size(), size(), size()] },
            _ => rock(4 + (random.next() % 60) as usize, 0.2, random.next()),
        };
        let pose = random.pose(1.0);
        let nodes: Vec<_> = (0..60).map(|_| pose.transform_point(random.vec3(0.3))).collect();
        let contacts = find(&mut collider(std::slice::from_ref(&shape), &[loose(nodes.clone())]), &[pose], &nodes, 0.1);
        for (i, node) in nodes.iter().enumerate() {
            let local = pose.rot.conjugate() * (*node - pose.pos);
            let contact = contacts.iter().find(|c| c.point == SoftPoint::node(0, i as u32));
            let above = |n: Vec3<f64>| local.dot(n) - height(&shape, n);
            let directions = (0..200).filter_map(|_| random.vec3(1.0).normalized());
            let most = directions.map(above).fold(f64::NEG_INFINITY, f64::max);
            let Some(contact) = contact else {
                let exact = parry_shape(&shape).map(|(shape, radius)| {
                    shape.distance_to_local_point(Vector::new(local.x, local.y, local.z), false) - radius
                });
                assert!(exact.unwrap_or(f64::INFINITY) > 0.1 - 1e-9, "case {case}, node {i}: {exact:?} not found");
                continue;
            };
            found_of[kind] += 1;
            assert_eq!(contact.partner, SoftPartner::Geom(0));
            let outward = pose.rot.conjugate() * -contact.normal;
            assert!((outward.norm() - 1.0).abs() < 1e-12);
            // 1e-9: GJK stops at a relative 1e-8 of some 0.1 m.
            assert!((above(outward) - contact.gap).abs() < 1e-9, "case {case}: {} {}", above(outward), contact.gap);
            assert!(most <= contact.gap + 1e-9, "case {case}: {most} {}", contact.gap);
            let middle = node.add_scaled(0.5 * contact.gap, contact.normal);
            assert!((contact.position - middle).norm() < 1e-12);
            if let Some((theirs, radius)) = parry_shape(&shape) {
                let theirs = theirs.distance_to_local_point(Vector::new(local.x, local.y, local.z), false) - radius;
                assert!((theirs - contact.gap).abs() < 1e-9, "case {case}: parry {theirs}, here {}", contact.gap);
            }
        }
    }
    assert!(found_of.iter().all(|&n| n > 200), "{found_of:?}");
}

#[test]
fn nodes_stand_on_planes_and_height_fields() {
    let field =
        HeightField::new("f", [3, 3], [1.0, 1.0], vec![0.0, 0.1, 0.4, 0.2, 0.0, 0.1, 0.3, 0.2, 0.5], 1.0).unwrap();
    let samples =
        |row: usize, column: usize| Vec3::new(column as f64 - 1.0, row as f64 - 1.0, field.heights[3 * row + column]);
    let mut triangles = vec![];
    for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let [p, q, s, t] = [samples(r, c), samples(r, c + 1), samples(r + 1, c + 1), samples(r + 1, c)];
        triangles.extend([[p, q, s], [p, s, t]]);
    }
    let mut random = SplitMix64(3);
    let pose = random.pose(1.0);
    let mut nodes: Vec<_> = (0..300).map(|_| random.vec3(0.95)).collect();
    nodes.push(Vec3::new(1.2, 0.0, 0.0));
    nodes.extend([Vec3::new(0.0, 0.0, -1.1), Vec3::new(f64::NAN, 0.0, 0.0)]);
    let world: Vec<_> = nodes.iter().map(|p| pose.transform_point(*p)).collect();
    let mut rest = world.clone();
    rest[302] = Vec3::ZERO;
    let shapes = [Shape::HeightField(Arc::new(field.clone())), Shape::Plane { half_extents: [0.0; 2] }];
    let contacts = find(&mut collider(&shapes, &[loose(rest)]), &[pose, pose], &world, 10.0);
    let of = |geom: usize, node: usize| {
        contacts.iter().find(|c| c.partner == SoftPartner::Geom(geom) && c.point == SoftPoint::node(0, node as u32))
    };
    for (i, p) in nodes[..300].iter().enumerate() {
        let plane = of(1, i).unwrap();
        assert!((plane.gap - p.z).abs() < 1e-12 && (plane.normal + pose.rot.to_mat3().z).norm() < 1e-12);
        // The triangle under the node, from its corners.
        let side = |s: Vec3<f64>, e: Vec3<f64>| (e.x - s.x) * (p.y - s.y) - (e.y - s.y) * (p.x - s.x);
        let under =
            triangles.iter().find(|[a, b, c]| side(*a, *b) >= 0.0 && side(*b, *c) >= 0.0 && side(*c, *a) >= 0.0);
        let [a, b, c] = under.unwrap();
        let normal = (*b - *a).cross(*c - *a).normalized().unwrap();
        let contact = of(0, i).unwrap();
        assert!((contact.gap - (*p - *a).dot(normal)).abs() < 1e-12, "node {i}");
        assert!((contact.normal + pose.rot * normal).norm() < 1e-12, "node {i}");
    }
    assert!(of(0, 300).is_none() && of(1, 300).is_some(), "beside the field");
    assert!(of(0, 301).is_none() && of(1, 301).is_some(), "below the field");
    assert!(of(0, 302).is_none() && of(1, 302).is_none(), "nowhere");
}

#[test]
fn gaps_count_margins_and_what_the_step_can_close() {
    let nodes = vec![Vec3::new(0.0, 0.0, 0.05), Vec3::new(1.0, 0.0, 0.05), Vec3::new(0.0, 1.0, 0.05)];
    let mut surface = loose(nodes.clone());
    surface.radius = 0.01;
    surface.margin = 0.002;
    let shapes = [Shape::Plane { half_extents: [0.0; 2] }];
    let positions = flat(&nodes);
    let count = |displacement: [f64; 3], shift: Vec3<f64>, slack: f64, surface: &SoftSurface| {
        let displacements = displacement.repeat(3);
        let sweep = Sweep { translation: shift, ..Sweep::default() };
        let mut out = vec![];
        collider(&shapes, std::slice::from_ref(surface)).contacts(
            |_| Movement { rot: Mat3::IDENTITY, pos: Vec3::ZERO, sweep },
            &SoftMovement { positions: &positions, displacements: &displacements, slack },
            &mut out,
        );
        out
    };
    assert_eq!(count([0.0; 3], Vec3::ZERO, 0.037, &surface).len(), 0);
    let contacts = count([0.0; 3], Vec3::ZERO, 0.039, &surface);
    assert_eq!(contacts.len(), 3);
    for contact in &contacts {
        assert!((contact.gap - 0.038).abs() < 1e-15, "{}", contact.gap);
        assert!((contact.position.z - 0.02).abs() < 1e-15 && contact.normal.z == -1.0);
        assert!((contact.area - 0.5 / 3.0).abs() < 1e-15);
    }
    let down = Vec3::new(0.0, 0.0, 0.1);
    assert_eq!(count([0.0, 0.0, -0.039], Vec3::ZERO, 0.0, &surface).len(), 3, "falls");
    assert_eq!(count([0.0, 0.0, 0.0], down, 0.0, &surface).len(), 3, "is hit");
    assert_eq!(count([0.0, 0.0, 0.1], down, 0.0, &surface).len(), 0, "moves on with the ground");
    assert_eq!(count([5.0, 0.0, 0.1], Vec3::ZERO, 0.01, &surface).len(), 0, "slides and rises");
    surface.exempt = vec![sapwood_geometry::Exemption { node: 1, group: 1 }];
    assert_eq!(count([0.0; 3], Vec3::ZERO, 0.039, &surface).len(), 2, "one is attached");
    surface.contype = 2;
    surface.conaffinity = 2;
    assert_eq!(count([0.0; 3], Vec3::ZERO, 0.039, &surface).len(), 0, "bits");
}

#[test]
fn bad_surfaces_are_named() {
    let error = |surface: SoftSurface| {
        let scene = Arc::new(Scene::default());
        SoftCollider::new(&scene, &[], &[SoftSurface::default(), surface]).unwrap_err().to_string()
    };
    let nodes = vec![Vec3::ZERO; 3];
    let message = error(SoftSurface { triangles: vec![[0, 1, 2], [0, 1, 3]], ..loose(nodes.clone()) });
    assert_eq!(message, "triangle 1 of soft body 1 names node 3, but the body has 3 nodes");
    let message = error(loose(vec![Vec3::ZERO, Vec3::new(0.0, f64::INFINITY, 0.0), Vec3::ZERO]));
    assert!(message.starts_with("node 1 of soft body 1 is at [0.0, inf, 0.0]"), "{message}");
    let message = error(SoftSurface { radius: -1.0, ..loose(nodes) });
    assert_eq!(message, "the radius of soft body 1 is -1: give a finite number ≥ 0");
}
