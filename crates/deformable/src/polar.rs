//! Polar decomposition F = R U with det R = 1, in lanes.

use spatial::{Mat3, Real, Vec3};

/// The rotation nearest to F: that for which Rᵀ F is symmetric with the largest trace, det F < 0 included.
///
/// tr U is the largest root λ of a quartic whose coefficients are invariants of F, and R = ∂λ/∂F. Newton's method from above finds the root;
/// two Newton steps on the rotation take away what round-off has left.
#[inline(always)]
pub(crate) fn rotation<T: Real>(f: Mat3<T>) -> Mat3<T> {
    let c = T::from_f64;
    let a = f.x.norm_squared() + f.y.norm_squared() + f.z.norm_squared();
    // A collapsed element has any rotation.
    let a = Real::max(a, c(1e-200));
    let cof = cofactor(f);
    let b = cof.x.norm_squared() + cof.y.norm_squared() + cof.z.norm_squared();
    let det = f.x.dot(cof.x);
    // λ⁴ − 2aλ² − 8 det λ + a² − 4b, convex above its largest root, which is below √(3a).
    let constant = a * a - c(4.0) * b;
    let mut root = (c(3.0) * a).sqrt();
    for _ in 0..NEWTON_STEPS {
        let square = root * root;
        let value = (square - c(2.0) * a).mul_add(square, root.mul_add(c(-8.0) * det, constant));
        let slope = c(4.0) * root * (square - a) - c(8.0) * det;
        let step = value / Real::max(slope, c(1e-12) * a * root);
        root -= Real::max(step, T::ZERO);
    }
    let second = c(0.5) * (root * root - a);
    let denominator = Real::max(root * second - det, c(1e-12) * a * root).recip();
    let r = (f * (second + a) + cof * root - f * (f.transpose() * f)) * denominator;
    let mut r = orthonormalized(r);
    for _ in 0..2 {
        r = corrected(r, f);
    }
    r
}

/// Enough for stretches that differ by a factor of 100.
const NEWTON_STEPS: usize = 8;

/// The matrix of cofactors: det F F⁻ᵀ.
#[inline(always)]
pub(crate) fn cofactor<T: Real>(f: Mat3<T>) -> Mat3<T> {
    Mat3::from_columns(f.y.cross(f.z), f.z.cross(f.x), f.x.cross(f.y))
}

/// The rotation by Gram and Schmidt; of what is no rotation at all some other one.
#[inline(always)]
fn orthonormalized<T: Real>(r: Mat3<T>) -> Mat3<T> {
    let least = T::from_f64(1e-100);
    let unit = |v: Vec3<T>, or: Vec3<T>| {
        let square = v.norm_squared();
        let scale = Real::max(square, least).sqrt().recip();
        let pick = |a: T, b: T| square.if_less(least, b, a * scale);
        Vec3::new(pick(v.x, or.x), pick(v.y, or.y), pick(v.z, or.z))
    };
    let x = unit(r.x, Vec3::new(T::ONE, T::ZERO, T::ZERO));
    // Perpendicular to x: across its smaller components.
    let other = Vec3::new(-(x.y + x.z), x.x, x.x);
    let other = {
        let flat = (T::ONE - x.x * x.x).if_less(T::from_f64(0.5), T::ONE, T::ZERO);
        // Near the x axis (−(y+z), x, x) is far from zero; elsewhere (0, z, −y) is.
        let across = Vec3::new(T::ZERO, x.z, -x.y);
        other * flat + across * (T::ONE - flat)
    };
    let other = unit(other, Vec3::new(T::ZERO, T::ONE, T::ZERO));
    let y = unit(r.y - x * x.dot(r.y), other);
    Mat3::from_columns(x, y, x.cross(y))
}

/// One step of Newton's method towards a symmetric Rᵀ F: turns by ω with (tr S − S) ω the axial vector of S − Sᵀ, S = Rᵀ F.
#[inline(always)]
fn corrected<T: Real>(r: Mat3<T>, f: Mat3<T>) -> Mat3<T> {
    let half = T::from_f64(0.5);
    let s = r.transpose() * f;
    // S − Sᵀ for S = exp(−ω) U.
    let axial = Vec3::new(s.y.z - s.z.y, s.z.x - s.x.z, s.x.y - s.y.x);
    let trace = s.x.x + s.y.y + s.z.z;
    let m = spatial::Sym3::new([
        trace - s.x.x,
        -(half * (s.x.y + s.y.x)),
        -(half * (s.x.z + s.z.x)),
        trace - s.y.y,
        -(half * (s.y.z + s.z.y)),
        trace - s.z.z,
    ]);
    let (adjugate, det) = m.adjugate();
    // The product of sums of two stretches; where two of them cancel, the rotation is arbitrary and stays.
    let size = trace * trace * trace * T::from_f64(1e-9);
    let inverse =
        det.if_less(Real::max(size, T::from_f64(1e-300)), T::ZERO, Real::max(det, T::from_f64(1e-300)).recip());
    let omega = (adjugate * axial) * inverse;
    // Cayley's map of ω/2.
    let h = omega * half;
    let scale = T::from_f64(2.0) / (T::ONE + h.norm_squared());
    let skew = Mat3::skew(h);
    let turned = skew + skew * skew;
    let turn = Mat3::IDENTITY + turned * scale;
    r * turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use spatial::{F64x4, Quat};

    #[test]
    fn rotations_are_found_to_round_off() {
        let stretches = [
            [1.0, 1.0, 1.0],
            [1.3, 0.7, 1.1],
            [0.05, 1.0, 3.0],
            [1.0, 1.0, 1e-3],
            [5.0, 0.05, 0.06],
            [1.0, 0.9, -0.3],
            [1e-3, 2e-3, 1.5e-3],
            [1.0, 0.0, 0.5],
        ];
        for (k, stretch) in stretches.into_iter().enumerate() {
            let t = k as f64;
            let q = Quat::new(0.3 - t, 0.5 + t, -0.2 * t, 0.7).unit().to_mat3();
            let v = Quat::new(0.9, 0.1 - t, 0.4, 0.3 * t).unit().to_mat3();
            let u = v * Mat3::from_columns(v.transpose().x * 1.0, v.transpose().y, v.transpose().z);
            let diagonal = Mat3::from_columns(
                Vec3::new(stretch[0], 0.0, 0.0),
                Vec3::new(0.0, stretch[1], 0.0),
                Vec3::new(0.0, 0.0, stretch[2]),
            );
            assert!((u.x - Vec3::new(1.0, 0.0, 0.0)).norm() < 1e-14);
            let f = q * (v * diagonal * v.transpose());
            let r = rotation(f);
            let error = (r - q).x.norm() + (r - q).y.norm() + (r - q).z.norm();
            assert!(error < 2e-14, "{stretch:?}: {error:e}");
            let lanes = rotation(f.map(F64x4::splat));
            assert_eq!(lanes.x.y.lane(3), r.x.y, "lanes give the bits of scalars");
        }
    }

    #[test]
    fn collapsed_elements_have_some_rotation() {
        let line = Mat3::outer(Vec3::new(1.0, 2.0, -1.0), Vec3::new(0.3, 0.0, 0.4));
        for f in [Mat3::ZERO, line, line * 1e-30, Mat3::IDENTITY * -1.0] {
            let r: Mat3<f64> = rotation(f);
            let error = r.transpose() * r - Mat3::IDENTITY;
            assert!(error.x.norm() + error.y.norm() + error.z.norm() < 1e-12, "{f:?}: {r:?}");
            assert!((r.x.cross(r.y) - r.z).norm() < 1e-12);
        }
    }
}
