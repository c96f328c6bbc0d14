//! Nearest points of two polytopes where a corner of one is over a side of the other that lies across an axis of its own, as those of most that lie
//! on something: exact, in less time than GJK and EPA take.

use super::placed::{Core, Ends, Placed};

/// Of which depths the border of the side is away at least, where they overlap.
const MARGIN: f64 = 4.0;

/// The cosine that goes with a sine of 2 / [`MARGIN`].
const STRAIGHT: f64 = 0.866;

/// A side of one of two bodies, across an axis of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Whether it is one of the first body.
    pub is_of_first: bool,
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Which end: 1 or −1.
    pub sign: f64,
}

/// The ends of the shortest way between two bodies, or of the shortest way apart, where one of them is over this side of the other.
pub(super) fn over_side(a: &Placed, b: &Placed, side: Side) -> Option<Ends> {
    if side.is_of_first {
        over_own_side(a, b, side)
    } else {
        over_own_side(b, a, side).map(|Ends { normal, on_a, on_b }| Ends { normal: -normal, on_a: on_b, on_b: on_a })
    }
}

/// The same for a side of body `a`.
///
/// With the depth δ, let d be a direction at the angle θ to the normal. Points of both bodies bound the gap along d from above: the corner of
/// `b`, and of `a` those of the side, no nearer than r to the foot of that corner, and the centre, D below it and L aside. The corners of the
/// side give −δ cos θ − r sin θ, which is no more than −δ for θ up to 90° as r ≥ δ, and beyond where r sin θ ≥ 2 δ; where it is not,
/// |cos θ| > [`STRAIGHT`], and the centre gives −D |cos θ| + L sin θ. So no way apart is shorter.
fn over_own_side(a: &Placed, b: &Placed, Side { axis, sign, .. }: Side) -> Option<Ends> {
    let (normal, face) = match a.core {
        Core::Box(_) => ([a.rot.x, a.rot.y, a.rot.z][axis] * sign, 0),
        Core::Hull(hull) => {
            let face = hull.side(axis, sign)?;
            (a.rot * hull.normals[face], face)
        }
        _ => return None,
    };
    let corner = b.support(-normal);
    let local = a.rot.transpose_mul(corner - a.pos);
    let (gap, margin) = match a.core {
        Core::Box(half) => {
            let beyond = local.map(f64::abs) - half;
            let height = [local.x, local.y, local.z][axis] * sign - [half.x, half.y, half.z][axis];
            (height, -[beyond.y.max(beyond.z), beyond.z.max(beyond.x), beyond.x.max(beyond.y)][axis])
        }
        Core::Hull(hull) => {
            let margin = hull.margin(face, local);
            if margin < 0.0 {
                return None;
            }
            (corner.dot(normal) - a.support(normal).dot(normal), margin)
        }
        _ => return None,
    };
    let depth = (-gap).max(0.0);
    if margin < MARGIN * depth {
        return None;
    }
    if depth > 0.0 {
        let up = corner - a.centre;
        let below = up.dot(normal);
        let aside = up.add_scaled(-below, normal).norm();
        if margin * (STRAIGHT * below - depth) < 2.0 * depth * aside {
            return None;
        }
    }
    Some(Ends { normal, on_a: corner.add_scaled(-gap, normal), on_b: corner })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spatial::{Pose, Quat, Vec3};
    use support::SplitMix64;

    use super::super::placed::Core;
    use super::*;
    use crate::hull::Hull;
    use crate::solid::{Placement, Solid};

    fn within(random: &mut SplitMix64, size: f64) -> Vec3<f64> {
        Vec3::new(random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size))
    }

    /// A box, or the hull of some points.
    fn solid(random: &mut SplitMix64, half: Option<Vec3<f64>>) -> Solid {
        let Some(half) = half else {
            let points = (0..4 + random.next() % 30).map(|_| within(random, 0.1)).collect();
            let mesh = crate::Mesh::new("rock", points, vec![]).unwrap();
            let crate::Surface { vertices, triangles } = mesh.hull().unwrap();
            return Solid::Hull(Arc::new(Hull::new(vertices, triangles)));
        };
        Solid::Box { half }
    }

    fn normals(of: &Placed) -> Vec<Vec3<f64>> {
        match of.core {
            Core::Hull(hull) => hull.normals.iter().map(|n| of.rot * *n).collect(),
            _ => vec![of.rot.x, of.rot.y, of.rot.z],
        }
    }

    /// Two polytopes are apart, or part, along normals of their faces or across an edge of each.
    fn separating_axes(a: &Placed, b: &Placed) -> Vec<Vec3<f64>> {
        let [of_a, of_b] = [a, b].map(normals);
        let edges = |of: &[Vec3<f64>]| of.iter().flat_map(|m| of.iter().map(|n| m.cross(*n))).collect::<Vec<_>>();
        let across = edges(&of_b);
        let mut axes: Vec<_> = edges(&of_a).iter().flat_map(|e| across.iter().map(|f| e.cross(*f))).collect();
        axes.extend(of_a.iter().chain(&of_b));
        axes.into_iter().filter_map(Vec3::normalized).collect()
    }

    #[test]
    fn no_way_apart_is_shorter() {
        let mut random = SplitMix64(3);
        let mut found_of = [0; 2];
        for case in 0..3000 {
            let halves = [
                (case % 2 == 0).then_some(Vec3::new(0.2, 0.3, 0.1)),
                (case % 3 == 0).then_some(Vec3::new(0.04, 0.05, 0.06)),
            ];
            let [ground, body] = halves.map(|half| solid(&mut random, half));
            let turn = if case % 5 == 0 { Vec3::ZERO } else { within(&mut random, 3.0) };
            let turn = Quat::from_rotation_vector(turn);
            let places = [Pose::IDENTITY, Pose::new(within(&mut random, 0.2), turn)].map(Placement::from);
            let a = Placed::new(&ground, &places[0], Vec3::ZERO).unwrap();
            let b = Placed::new(&body, &places[1], Vec3::ZERO).unwrap();
            let [a, b] = if case % 7 == 0 { [b, a] } else { [a, b] };
            let sides = (0..12).map(|i| Side {
                is_of_first: i < 6,
                axis: i / 2 % 3,
                sign: if i % 2 == 0 { 1.0 } else { -1.0 },
            });
            let widest = sides.filter_map(|side| over_side(&a, &b, side));
            let widest = widest.max_by(|a, b| a.gap().total_cmp(&b.gap()));
            let Some(Ends { normal, on_a: p, on_b: q }) = widest else { continue };
            let gap = |n: Vec3<f64>| (b.support(-n) - a.support(n)).dot(n);
            let found = (q - p).dot(normal);
            found_of[usize::from(found < 0.0)] += 1;
            assert!((gap(normal) - found).abs() < 1e-12 && (q - p).add_scaled(-found, normal).norm() < 1e-12);
            for (point, of) in [(p, &a), (q, &b)] {
                let is_below = |n: Vec3<f64>| point.dot(n) <= of.support(n).dot(n) + 1e-9;
                assert!(normals(of).into_iter().all(|n| is_below(n) && is_below(-n)), "case {case}: not a point of it");
            }
            let most = if found > 0.0 {
                // The distance of two points of them.
                (q - p).norm()
            } else {
                let axes = separating_axes(&a, &b);
                axes.iter().map(|&axis| gap(axis).max(gap(-axis))).fold(f64::NEG_INFINITY, f64::max)
            };
            assert!(most <= found + 1e-12, "case {case}: {most} {found}");
        }
        assert!(found_of.iter().all(|&n| n > 50), "{found_of:?}");
    }
}
