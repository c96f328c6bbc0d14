//! Two boxes: separating axes, then the facing sides clipped.

use spatial::Vec3;

use super::convex::Nearest;
use super::placed::Placed;
use super::{Convex, Sink};
use crate::solid::{Placement, Solid};

/// Edge directions with a smaller sine squared between them give no axis that the sides do not.
const PARALLEL: f64 = 1e-12;

/// An edge–edge axis must be better than a side's by this, so that resting boxes keep a side's normal, m.
const PREFER_SIDES: f64 = 1e-10;

/// The clipped points show the distance of separated boxes when they are this near to the axis' bound, m.
const EXACT: f64 = 1e-12;

/// A box about the origin of its place.
#[derive(Clone, Copy)]
pub struct PlacedBox<'a> {
    pub at: &'a Placement,
    pub half: Vec3<f64>,
}

/// Up to eight points: the corners of the overlap of the two sides that face each other.
pub fn collide(a: PlacedBox<'_>, b: PlacedBox<'_>, workspace: &mut Convex, sink: &mut Sink) {
    let (at, d) = (a.at, b.at.pos - a.at.pos);
    let Some((normal, separation)) = best_axis(a, b, d, sink.limit) else { return };
    // Support points along the axis: for the position of an edge–edge contact.
    let position = crossing(a, b, d, normal, separation);
    let solids = [a, b].map(|placed| Solid::Box { half: placed.half });
    let (Some(a), Some(b)) = (Placed::new(&solids[0], at, at.pos), Placed::new(&solids[1], b.at, at.pos)) else {
        return;
    };
    workspace.points.clear();
    let nearest = Nearest { normal, position, distance: separation };
    if separation <= 0.0 {
        workspace.manifold(&a, &b, &nearest, sink.limit);
    } else {
        // The axis' bound is the distance only when two points of the boxes attain it.
        workspace.faces(&a, &b, &nearest, sink.limit);
        let deepest = workspace.points.iter().fold(f64::INFINITY, |m, p| m.min(p.distance));
        if deepest > separation + EXACT * (1.0 + separation) {
            workspace.points.clear();
            let Some(nearest) = workspace.nearest(&a, &b, sink.limit) else { return };
            workspace.manifold(&a, &b, &nearest, sink.limit);
        }
    }
    for p in &workspace.points {
        sink.push(p.position + at.pos, p.normal, p.distance);
    }
}

/// The axis of greatest separation (least penetration), from the first box to the second, and the separation along
/// it; `None` when it exceeds `limit`. The fifteen axes: Gottschalk, Lin, Manocha, *OBBTree* (1996).
fn best_axis(a: PlacedBox<'_>, b: PlacedBox<'_>, d: Vec3<f64>, limit: f64) -> Option<(Vec3<f64>, f64)> {
    let (PlacedBox { at, half: h }, PlacedBox { at: bt, half: k }) = (a, b);
    let (a_axes, b_axes) = ([at.rot.x, at.rot.y, at.rot.z], [bt.rot.x, bt.rot.y, bt.rot.z]);
    let (h, k) = (h.to_array(), k.to_array());
    let t = at.rot.transpose_mul(d).to_array();
    // c[i][j]: axis i of a on axis j of b.
    let c = a_axes.map(|a| bt.rot.transpose_mul(a).to_array());
    let m = c.map(|row| row.map(f64::abs));
    let mut best = (f64::NEG_INFINITY, Vec3::ZERO);
    for i in 0..3 {
        let separation = t[i].abs() - h[i] - (m[i][0] * k[0] + m[i][1] * k[1] + m[i][2] * k[2]);
        if separation > best.0 {
            best = (separation, a_axes[i] * 1.0_f64.copysign(t[i]));
        }
    }
    for j in 0..3 {
        let tj = d.dot(b_axes[j]);
        let separation = tj.abs() - k[j] - (m[0][j] * h[0] + m[1][j] * h[1] + m[2][j] * h[2]);
        // A tie goes to the first box's side only if it is its own: both orders then agree but for the sign.
        if separation > best.0 + PREFER_SIDES {
            best = (separation, b_axes[j] * 1.0_f64.copysign(tj));
        }
    }
    if best.0 > limit {
        return None;
    }
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let sine2 = 1.0 - c[i][j] * c[i][j];
            if sine2 < PARALLEL {
                continue;
            }
            // Axis i of a × axis j of b on d, with both radii.
            let along = t[i2] * c[i1][j] - t[i1] * c[i2][j];
            let radii = h[i1] * m[i2][j] + h[i2] * m[i1][j] + k[j1] * m[i][j2] + k[j2] * m[i][j1];
            let overlap = along.abs() - radii;
            // Compare without the division first: (overlap / sine) > best.
            if overlap <= 0.0 && best.0 > 0.0 {
                continue;
            }
            let scale = 1.0 / sine2.sqrt();
            let separation = overlap * scale;
            if separation > best.0 + PREFER_SIDES {
                let axis = a_axes[i].cross(b_axes[j]);
                best = (separation, axis * scale.copysign(axis.dot(d)));
                if separation > limit {
                    return None;
                }
            }
        }
    }
    Some((best.1.normalized()?, best.0))
}

/// Midway between the edges (or corners) that are nearest along `normal`, relative to the first box's centre.
fn crossing(a: PlacedBox<'_>, b: PlacedBox<'_>, d: Vec3<f64>, normal: Vec3<f64>, separation: f64) -> Vec3<f64> {
    let (p, u) = support_edge(a, normal);
    let (q, v) = support_edge(b, -normal);
    let q = q + d;
    // The points of both edges nearest to each other across the normal; corners where the edges are parallel.
    let cross = u.cross(v).dot(normal);
    let (s, t) = if cross.abs() > 1e-9 * u.norm() * v.norm() {
        let w = q - p;
        ((w.cross(v).dot(normal) / cross).clamp(-1.0, 1.0), (w.cross(u).dot(normal) / cross).clamp(-1.0, 1.0))
    } else {
        (0.0, 0.0)
    };
    let on_a = p.add_scaled(s, u);
    let on_b = q.add_scaled(t, v);
    // On the line through the middle, but with the separation known exactly.
    let middle = (on_a + on_b) * 0.5;
    let height = p.dot(normal) + u.dot(normal).abs() + 0.5 * separation;
    middle.add_scaled(height - middle.dot(normal), normal)
}

/// Middle and half of the edge of a box that is farthest along `n`: the one most nearly across it.
fn support_edge(PlacedBox { at, half }: PlacedBox<'_>, n: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let l = at.rot.transpose_mul(n);
    let mut corner = Vec3::new(half.x.copysign(l.x), half.y.copysign(l.y), half.z.copysign(l.z));
    let along = if l.x.abs() <= l.y.abs() && l.x.abs() <= l.z.abs() {
        corner.x = 0.0;
        at.rot.x * half.x
    } else if l.y.abs() <= l.z.abs() {
        corner.y = 0.0;
        at.rot.y * half.y
    } else {
        corner.z = 0.0;
        at.rot.z * half.z
    };
    (at.rot * corner, along)
}
