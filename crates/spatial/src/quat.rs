//! Unit quaternions and poses.

use std::ops::Mul;

use crate::{Mat3, Real, Vec3};

/// A quaternion w + x i + y j + z k, scalar first; of unit norm where it stands for a rotation.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub struct Quat<T> {
    pub w: T,
    pub x: T,
    pub y: T,
    pub z: T,
}

impl<T: Real> Default for Quat<T> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<T: Real> From<[T; 4]> for Quat<T> {
    /// From w x y z.
    #[inline(always)]
    fn from([w, x, y, z]: [T; 4]) -> Self {
        Self::new(w, x, y, z)
    }
}

impl<T: Real> Quat<T> {
    /// No rotation.
    pub const IDENTITY: Self = Self { w: T::ONE, x: T::ZERO, y: T::ZERO, z: T::ZERO };

    /// The quaternion w + x i + y j + z k.
    #[inline(always)]
    pub const fn new(w: T, x: T, y: T, z: T) -> Self {
        Self { w, x, y, z }
    }

    /// Its numbers, w x y z.
    #[inline(always)]
    pub fn to_array(self) -> [T; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// The rotation by `angle` radians about the unit vector `axis`.
    #[inline(always)]
    pub fn from_axis_angle(axis: Vec3<T>, angle: T) -> Self {
        let (s, c) = (angle * T::from_f64(0.5)).sin_cos();
        Self::new(c, axis.x * s, axis.y * s, axis.z * s)
    }

    /// The rotation by `angle` radians about the unit vector `axis`, of either sign, without a branch; |`angle`| up to 1e5.
    #[inline(always)]
    pub fn of_turn(axis: Vec3<T>, angle: T) -> Self {
        let (s, c) = crate::real::sin_cos_modulo_pi(angle * T::from_f64(0.5));
        Self::new(c, axis.x * s, axis.y * s, axis.z * s)
    }

    /// The inverse of a unit quaternion.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self::new(self.w, -self.x, -self.y, -self.z)
    }

    /// The vector part.
    #[inline(always)]
    pub fn vector(self) -> Vec3<T> {
        Vec3::new(self.x, self.y, self.z)
    }

    /// The quaternion divided by its norm, which must not be zero.
    #[inline(always)]
    pub fn unit(self) -> Self {
        let n2 = self.w.mul_add(self.w, self.vector().norm_squared());
        let s = n2.sqrt().recip();
        Self::new(self.w * s, self.x * s, self.y * s, self.z * s)
    }

    /// The exponential map of short vectors: a multiple of the quaternion of the rotation by |θ| about θ, and |θ|², which
    /// must not exceed 4 for that.
    ///
    /// tan(x)/x by its [4/4] Padé approximant in x² = |θ|²/4: half of what sine and cosine take, and no root. Off by less
    /// than a unit in the last place up to |θ| = 2.
    #[inline(always)]
    pub fn from_short_rotation_vector(theta: Vec3<T>) -> (Self, T) {
        let c = T::from_f64;
        let square = theta.norm_squared();
        let z = square * c(0.25);
        let sin = z.mul_add(c(1.0 / 34_459_425.0), c(-2.0 / 69_615.0));
        let cos = z.mul_add(c(1.0 / 765_765.0), c(-4.0 / 9_945.0));
        let (sin, cos) = (z.mul_add(sin, c(1.0 / 255.0)), z.mul_add(cos, c(7.0 / 255.0)));
        let (sin, cos) = (z.mul_add(sin, c(-7.0 / 51.0)), z.mul_add(cos, c(-8.0 / 17.0)));
        let half = z.mul_add(sin, T::ONE) * c(0.5);
        (Self::new(z.mul_add(cos, T::ONE), theta.x * half, theta.y * half, theta.z * half), square)
    }

    /// The rotation by the vector θ, rad, of length up to π, without a branch.
    #[inline(always)]
    pub fn from_rotation_vector_in_lanes(theta: Vec3<T>) -> Self {
        let half = theta * T::from_f64(0.5);
        let (sinc, cos) = crate::real::sinc_cos(half.norm_squared());
        Self::new(cos, half.x * sinc, half.y * sinc, half.z * sinc)
    }

    /// The logarithm: the rotation vector of the shorter arc, of norm ≤ π to round-off. The quaternion may have any norm but zero.
    ///
    /// With s = |q| sin(φ/2), the tangent of an eighth of the angle φ is s/(|q| + w + √(2|q| (|q| + w))): nothing cancels
    /// near 0 or π, and s itself is not needed, its square is.
    #[inline(always)]
    pub fn rotation_vector(self) -> Vec3<T> {
        /// (atan(t)/t − 1)/t² on t ≤ tan(π/8) as a polynomial in t², 1e-17 off 1 + t² times this at most.
        const ATAN: [f64; 11] = [
            -0.333_333_333_333_333_3,
            0.199_999_999_999_955_2,
            -0.142_857_142_846_665_42,
            0.111_111_110_152_563_61,
            -0.090_909_045_781_239_03,
            0.076_921_831_908_260_87,
            -0.066_645_114_473_819_48,
            0.058_581_489_128_022_1,
            -0.050_854_497_379_402_6,
            0.039_231_658_295_587_19,
            -0.019_176_887_119_062_26,
        ];
        let c = T::from_f64;
        // −0 is not below 0.
        let side = T::ONE.copysign(self.w + T::ZERO);
        let (w, square) = (self.w * side, self.vector().norm_squared());
        let norm = w.mul_add(w, square).sqrt();
        let sum = norm + w;
        let inverse = (sum + (norm * (sum + sum)).sqrt()).recip();
        let z = square * inverse * inverse;
        let zz = z * z;
        let mut atan = [c(ATAN[10]), c(ATAN[9])];
        for i in (0..9).rev() {
            atan[i % 2] = atan[i % 2].mul_add(zz, c(ATAN[i]));
        }
        let atan = z.mul_add(atan[1].mul_add(z, atan[0]), T::ONE);
        self.vector() * (atan * inverse * side * c(8.0))
    }

    /// The rotation matrix of a unit quaternion.
    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<T> {
        let (x2, y2, z2) = (self.x + self.x, self.y + self.y, self.z + self.z);
        let (xx, yy, zz) = (self.x * x2, self.y * y2, self.z * z2);
        let (xy, xz, yz) = (self.x * y2, self.x * z2, self.y * z2);
        let (wx, wy, wz) = (self.w * x2, self.w * y2, self.w * z2);
        Mat3::from_columns(
            Vec3::new(T::ONE - yy - zz, xy + wz, xz - wy),
            Vec3::new(xy - wz, T::ONE - xx - zz, yz + wx),
            Vec3::new(xz + wy, yz - wx, T::ONE - xx - yy),
        )
    }

    /// The quaternion in another scalar.
    pub fn map<U: Real>(self, f: impl Fn(T) -> U) -> Quat<U> {
        Quat { w: f(self.w), x: f(self.x), y: f(self.y), z: f(self.z) }
    }
}

impl Quat<f64> {
    /// The quaternion scaled to unit norm, or `None` when it is zero or not finite.
    pub fn normalized(self) -> Option<Self> {
        let n = (self.w * self.w + self.vector().norm_squared()).sqrt();
        (n > 0.0 && n.is_finite()).then(|| Self::new(self.w / n, self.x / n, self.y / n, self.z / n))
    }

    /// The exponential map: the rotation by |θ| about θ.
    #[inline]
    pub fn from_rotation_vector(theta: Vec3<f64>) -> Self {
        let angle2 = theta.norm_squared();
        // Below this square the two-term series is exact to round-off and nothing is divided by zero.
        if angle2 < 1e-8 {
            let s = 0.5 - angle2 / 48.0;
            return Self::new(1.0 - angle2 / 8.0 + angle2 * angle2 / 384.0, theta.x * s, theta.y * s, theta.z * s);
        }
        let angle = angle2.sqrt();
        let (sin, cos) = (0.5 * angle).sin_cos_real();
        let s = sin / angle;
        Self::new(cos, theta.x * s, theta.y * s, theta.z * s)
    }

    /// The rotation whose matrix is `m` (Shepperd's choice of the largest pivot).
    pub fn from_mat3(m: &Mat3<f64>) -> Self {
        let trace = m.x.x + m.y.y + m.z.z;
        let candidates = [trace, m.x.x, m.y.y, m.z.z];
        let largest = (1..4).fold(0, |best, i| if candidates[i] > candidates[best] { i } else { best });
        let q = match largest {
            0 => Self::new(1.0 + trace, m.y.z - m.z.y, m.z.x - m.x.z, m.x.y - m.y.x),
            1 => Self::new(m.y.z - m.z.y, 1.0 + m.x.x - m.y.y - m.z.z, m.x.y + m.y.x, m.z.x + m.x.z),
            2 => Self::new(m.z.x - m.x.z, m.x.y + m.y.x, 1.0 + m.y.y - m.z.z - m.x.x, m.y.z + m.z.y),
            _ => Self::new(m.x.y - m.y.x, m.z.x + m.x.z, m.y.z + m.z.y, 1.0 + m.z.z - m.x.x - m.y.y),
        };
        q.unit()
    }

    /// The shortest rotation that takes the unit vector `from` to the unit vector `to`.
    pub fn between(from: Vec3<f64>, to: Vec3<f64>) -> Self {
        let w = 1.0 + from.dot(to);
        if w < 1e-12 {
            // Opposite vectors: half a turn about any axis across.
            let (axis, _) = from.tangents();
            return Self::new(0.0, axis.x, axis.y, axis.z);
        }
        let axis = from.cross(to);
        Self::new(w, axis.x, axis.y, axis.z).unit()
    }
}

/// `Real::sin_cos` under a name that does not clash with the inherent `f64::sin_cos`.
trait SinCosReal {
    fn sin_cos_real(self) -> (f64, f64);
}

impl SinCosReal for f64 {
    #[inline(always)]
    fn sin_cos_real(self) -> (f64, f64) {
        Real::sin_cos(self)
    }
}

impl<T: Real> Mul for Quat<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        let (v, u) = (self.vector(), b.vector());
        let w = self.w.mul_add(b.w, -v.dot(u));
        let xyz = v.cross(u).add_scaled(self.w, u).add_scaled(b.w, v);
        Self::new(w, xyz.x, xyz.y, xyz.z)
    }
}

impl<T: Real> Mul<Vec3<T>> for Quat<T> {
    type Output = Vec3<T>;
    /// Rotates a vector by a unit quaternion.
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        let t = self.vector().cross(v) * T::from_f64(2.0);
        v.add_scaled(self.w, t) + self.vector().cross(t)
    }
}

/// A placement in space: x ↦ `rot` x + `pos`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pose<T: Real> {
    /// The rotation.
    pub rot: Quat<T>,
    /// The translation, in metres.
    pub pos: Vec3<T>,
}

impl<T: Real> Default for Pose<T> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<T: Real> Pose<T> {
    /// The frame of the parent itself.
    pub const IDENTITY: Self = Self { rot: Quat::IDENTITY, pos: Vec3::ZERO };

    /// The placement with this translation and rotation.
    #[inline(always)]
    pub const fn new(pos: Vec3<T>, rot: Quat<T>) -> Self {
        Self { rot, pos }
    }

    /// Its numbers: position, then the quaternion w x y z.
    #[inline(always)]
    pub fn to_array(self) -> [T; 7] {
        let (Vec3 { x, y, z, .. }, Quat { w, x: a, y: b, z: c }) = (self.pos, self.rot);
        [x, y, z, w, a, b, c]
    }

    /// The image of a point.
    #[inline(always)]
    pub fn transform_point(self, p: Vec3<T>) -> Vec3<T> {
        self.rot * p + self.pos
    }

    /// The inverse placement.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let rot = self.rot.conjugate();
        Self { rot, pos: -(rot * self.pos) }
    }
}

impl<T: Real> Mul for Pose<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self { rot: self.rot * b.rot, pos: self.transform_point(b.pos) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::F64x4;

    #[test]
    fn exponential_and_logarithm_are_inverse() {
        for theta in [[1e-9, 0.0, 2e-9], [1e-4, -1e-4, 0.0], [0.3, -2.0, 1.0], [0.0, 3.1, 0.0]] {
            let theta = Vec3::from(theta);
            let back = Quat::from_rotation_vector(theta).rotation_vector();
            assert!((back - theta).norm() <= 1e-15 + 4e-16 * theta.norm(), "{theta:?} {back:?}");
        }
    }

    /// The logarithm by the system's functions.
    fn logarithm(q: Quat<f64>) -> Vec3<f64> {
        let q = if q.w < 0.0 { q * Quat::new(-1.0, 0.0, 0.0, 0.0) } else { q };
        let sin = libm::hypot(libm::hypot(q.x, q.y), q.z);
        q.vector() * (2.0 * libm::atan2(sin, q.w) / sin)
    }

    #[test]
    fn the_logarithm_is_exact_to_round_off_from_no_turn_to_half_a_turn() {
        let axis = Vec3::new(0.48, -0.6, 0.64);
        let small = (1..160).map(|k| 0.1_f64.powi(k));
        let angles =
            small.clone().chain(small.map(|x| std::f64::consts::PI - x)).chain((1..400).map(|k| 0.01 * f64::from(k)));
        for angle in angles {
            let (sin, cos) = (libm::sin(0.5 * angle), libm::cos(0.5 * angle));
            for norm in [1.0, -1.0, 3e-20, 7e30] {
                let q = Quat::new(norm * cos, norm * sin * axis.x, norm * sin * axis.y, norm * sin * axis.z);
                let (found, expected) = (q.rotation_vector(), logarithm(q));
                let error = (found - expected).norm() / expected.norm();
                assert!(error < 1e-15, "{angle} times {norm}: {found:?} against {expected:?}");
                let other = Quat::new(F64x4::splat(q.w), F64x4::splat(q.x), F64x4::splat(q.y), F64x4::splat(q.z));
                assert_eq!(other.rotation_vector().map(|x| x.lane(2)), found, "lanes");
            }
        }
        assert_eq!(Quat::<f64>::IDENTITY.rotation_vector(), Vec3::ZERO);
        let half = Quat::new(0.0, 0.0, 1.0, 0.0);
        for (q, sign) in [(half, 1.0), (Quat { w: -0.0, ..half }, 1.0), (Quat { y: -1.0, ..half }, -1.0)] {
            assert!((q.rotation_vector().y - sign * std::f64::consts::PI).abs() < 1e-15, "{q:?}");
        }
    }

    #[test]
    fn short_vectors_have_the_exponential_map_of_all() {
        for k in 0..2000 {
            let theta = Vec3::new(0.48, -0.6, 0.64) * (0.001 * f64::from(k));
            let (short, square) = Quat::from_short_rotation_vector(theta);
            let error = (short.rotation_vector() - theta).norm();
            assert!(error <= 7e-16 * theta.norm(), "{theta:?}: {error:e}");
            assert!((square - theta.norm_squared()).abs() <= 1e-15);
            let apart = Quat::from_rotation_vector(theta).conjugate() * short;
            assert!(apart.vector().norm() < 3e-16 && apart.w > 0.5, "{theta:?}: {apart:?}");
        }
    }

    #[test]
    fn matrix_round_trip_in_every_pivot() {
        for q in [[1.0, 0.1, 0.2, 0.3], [0.1, 1.0, 0.2, 0.3], [0.1, 0.2, 1.0, -0.3], [0.1, 0.2, 0.3, 1.0]] {
            let q = Quat::new(q[0], q[1], q[2], q[3]).unit();
            let back = Quat::from_mat3(&q.to_mat3());
            let error = (back.conjugate() * q).rotation_vector().norm();
            assert!(error < 1e-15, "{error}");
        }
    }

    #[test]
    fn between_opposite_vectors_is_half_a_turn() {
        let x = Vec3::new(1.0, 0.0, 0.0);
        assert!((Quat::between(x, -x) * x + x).norm() < 1e-15);
        let y = Vec3::new(0.0, 1.0, 0.0);
        assert!((Quat::between(x, y) * x - y).norm() < 1e-15);
    }
}
