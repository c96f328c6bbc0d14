//! Distances, depths and normals of every pair of convex shapes against two strangers: support functions written
//! here, by which the signed distance of convex bodies is the maximum over unit n of the gap along n; and the
//! distance queries of parry.

use crate::common::{Placements, contacts, rock};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::shape::SharedShape;
use sapwood_geometry::{Contact, Shape};
use spatial::{Pose, Vec3};
use support::SplitMix64;

/// Height of a shape along the unit vector `n`.
fn height(shape: &Shape, pose: &Pose<f64>, n: Vec3<f64>) -> f64 {
    let l = pose.rot.conjugate() * n;
    let across = (l.x * l.x + l.y * l.y).sqrt();
    pose.pos.dot(n)
        + match shape {
            Shape::Sphere { radius } => *radius,
            Shape::Capsule { radius, half_length } => radius + half_length * l.z.abs(),
            Shape::Cylinder { radius, half_length } => radius * across + half_length * l.z.abs(),
            Shape::Ellipsoid { radii: [a, b, c] } => Vec3::new(a * l.x, b * l.y, c * l.z).norm(),
            Shape::Box { half_extents: [a, b, c] } => a * l.x.abs() + b * l.y.abs() + c * l.z.abs(),
            Shape::Mesh(m) => m.vertices.iter().map(|v| v.dot(l)).fold(f64::NEG_INFINITY, f64::max),
            Shape::Plane { .. } | Shape::HeightField(_) => unreachable!("not bounded and convex"),
        }
}

/// The gap of two shapes along `n`.
fn gap_along(pair: &[(Shape, Pose<f64>); 2], n: Vec3<f64>) -> f64 {
    -height(&pair[1].0, &pair[1].1, -n) - height(&pair[0].0, &pair[0].1, n)
}

fn parry_shape(shape: &Shape) -> SharedShape {
    match shape {
        Shape::Sphere { radius } => SharedShape::ball(*radius),
        // The axis alone, which parry measures more accurately than the rounded shape.
        Shape::Capsule { half_length, .. } => {
            SharedShape::segment(Vector::new(0.0, 0.0, -half_length), Vector::new(0.0, 0.0, *half_length))
        }
        Shape::Box { half_extents: [a, b, c] } => SharedShape::cuboid(*a, *b, *c),
        Shape::Mesh(m) => {
            let points: Vec<_> = m.vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
            SharedShape::convex_hull(&points).unwrap()
        }
        _ => unreachable!("parry has no such shape along z"),
    }
}

fn parry_pose(pose: &Pose<f64>) -> ParryPose {
    let q = pose.rot;
    ParryPose::from_parts(Vector::new(pose.pos.x, pose.pos.y, pose.pos.z), Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

const KINDS: [&str; 6] = ["sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"];

fn shape(kind: &str, random: &mut SplitMix64) -> Shape {
    let mut size = || random.uniform(0.05, 0.2);
    match kind {
        "sphere" => Shape::Sphere { radius: size() },
        "capsule" => Shape::Capsule { radius: size(), half_length: size() },
        "cylinder" => Shape::Cylinder { radius: size(), half_length: size() },
        "ellipsoid" => Shape::Ellipsoid { radii: [size(), size(), size()] },
        "box" => Shape::Box { half_extents: [size(), size(), size()] },
        _ => rock(4 + (random.next() % 70) as usize, 0.2, random.next()),
    }
}

fn deepest(found: &[Contact]) -> Option<&Contact> {
    found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))
}

/// The largest gap along a direction that many tries find: random ones, and ones ever closer to the best so far.
fn largest_gap(pair: &[(Shape, Pose<f64>); 2], start: Vec3<f64>, rounds: usize, random: &mut SplitMix64) -> f64 {
    let (mut best, mut at) = (gap_along(pair, start), start);
    for _ in 0..rounds {
        for i in 0..400 {
            let n = if i < 150 {
                random.vec3(1.0)
            } else {
                at + random.vec3(1.0) * libm::pow(10.0, -8.0 * (i - 150) as f64 / 250.0)
            };
            let Some(n) = n.normalized() else { continue };
            let gap = gap_along(pair, n);
            if gap > best {
                (best, at) = (gap, n);
            }
        }
    }
    best
}

fn check(a: &str, b: &str, tolerance: f64) {
    let mut random = SplitMix64(7 + a.len() as u64 * 31 + b.len() as u64);
    let (mut touching, mut worst) = (0, (0.0_f64, 0.0_f64));
    let mut report = String::new();
    for case in 0..400 {
        let shapes = [shape(a, &mut random), shape(b, &mut random)];
        let offset = random.vec3(1.0).normalized().unwrap() * random.uniform(0.02, 0.45);
        let base = random.pose(1.0);
        let other = Pose::new(base.pos + offset, random.rotation());
        let [s, t] = shapes;
        let pair = [(s, base), (t, other)];
        let reach = 0.05;
        let found = contacts(&pair, reach);
        let start = offset.normalized().unwrap();
        let Some(contact) = deepest(&found) else {
            let gap = largest_gap(&pair, start, 20, &mut random);
            assert!(gap > reach - 1e-4, "case {case}: {a}–{b} at gap {gap} not found");
            continue;
        };
        touching += 1;
        assert!((contact.normal.norm() - 1.0).abs() < 1e-12);
        let own = contact.gap - gap_along(&pair, contact.normal);
        let better = largest_gap(&pair, contact.normal, 1, &mut random) - contact.gap;
        if own.abs() > tolerance || better > tolerance {
            report += &format!("case {case}: gap {} own {own:e} better {better:e}\n", contact.gap);
        }
        worst = (worst.0.max(own.abs()), worst.1.max(better));
        let known = |k: &str| k != "cylinder" && k != "ellipsoid";
        if known(a) && known(b) && contact.gap > 0.0 {
            let [p, q] = [0, 1].map(|i| (parry_pose(&pair[i].1), parry_shape(&pair[i].0)));
            let rounding = |s: &Shape| if let Shape::Capsule { radius, .. } = s { *radius } else { 0.0 };
            let theirs = query::distance(&p.0, p.1.as_ref(), &q.0, q.1.as_ref()).unwrap().distance
                - rounding(&pair[0].0)
                - rounding(&pair[1].0);
            assert!((theirs - contact.gap).abs() < 1e-9, "case {case}: {a}–{b} {theirs} and {}", contact.gap);
        }
    }
    assert!(touching > 100, "{a}–{b}: only {touching} cases touch");
    println!("{a}–{b}: gap off by {:.1e}, better by {:.1e} in {touching}", worst.0, worst.1);
    assert!(report.is_empty(), "{a}–{b}:\n{report}");
}

macro_rules! pairs {
    ($($name:ident: $a:literal $b:literal $tolerance:literal;)*) => {
        $(#[test] fn $name() { check($a, $b, $tolerance); })*
    };
}

// Closed forms and polytopes are exact; 1e-9 leaves room for the 1e-8 relative stopping rule of GJK at 0.05 m.
pairs! {
    sphere_sphere: "sphere" "sphere" 1e-9;
    sphere_capsule: "sphere" "capsule" 1e-9;
    sphere_cylinder: "sphere" "cylinder" 1e-9;
    sphere_ellipsoid: "sphere" "ellipsoid" 1e-9;
    sphere_box: "sphere" "box" 1e-9;
    sphere_mesh: "sphere" "mesh" 1e-9;
    capsule_capsule: "capsule" "capsule" 1e-9;
    capsule_cylinder: "capsule" "cylinder" 1e-9;
    capsule_ellipsoid: "capsule" "ellipsoid" 1e-9;
    capsule_box: "capsule" "box" 1e-9;
    capsule_mesh: "capsule" "mesh" 1e-9;
    cylinder_cylinder: "cylinder" "cylinder" 1e-9;
    cylinder_ellipsoid: "cylinder" "ellipsoid" 1e-9;
    cylinder_box: "cylinder" "box" 1e-9;
    cylinder_mesh: "cylinder" "mesh" 1e-9;
    ellipsoid_ellipsoid: "ellipsoid" "ellipsoid" 1e-9;
    ellipsoid_box: "ellipsoid" "box" 1e-9;
    ellipsoid_mesh: "ellipsoid" "mesh" 1e-9;
    box_box: "box" "box" 1e-9;
    box_mesh: "box" "mesh" 1e-9;
    mesh_mesh: "mesh" "mesh" 1e-9;
}

#[test]
fn all_kinds_are_paired() {
    assert_eq!(KINDS.len() * (KINDS.len() + 1) / 2, 21);
}
