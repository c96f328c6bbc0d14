//! Points of a triangle by the weights of its corners.

use spatial::Vec3;

/// Σ weights · corners.
#[inline(always)]
pub(crate) fn weighted([a, b, c]: [Vec3<f64>; 3], [u, v, w]: [f64; 3]) -> Vec3<f64> {
    a * u + b * v + c * w
}

/// Weights of the point of a triangle that is nearest to `p`: those of corners and sides that it is not on are exactly 0 (Ericson,
/// Real-Time Collision Detection, 5.1.5).
pub(crate) fn nearest_weights([a, b, c]: [Vec3<f64>; 3], p: Vec3<f64>) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (ab.dot(p - a), ac.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = if d1 > d3 { d1 / (d1 - d3) } else { 0.0 };
        return [1.0 - v, v, 0.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = if d2 > d6 { d2 / (d2 - d6) } else { 0.0 };
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let (up, down) = (d4 - d3, d5 - d6);
        let w = if up + down > 0.0 { up / (up + down) } else { 0.0 };
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    let (v, w) = (vb / sum, vc / sum);
    [(1.0 - v - w).max(0.0), v, w]
}
