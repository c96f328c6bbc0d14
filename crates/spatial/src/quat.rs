//! Unit quaternions and poses.

use std::ops::Mul;

use crate::{Mat3, Real, Vec3};

/// A quaternion w + x i + y j + z k, scalar first; of unit norm where it stands for a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl<T: Real> Quat<T> {
    /// No rotation.
    pub const IDENTITY: Self = Self { w: T::ONE, x: T::ZERO, y: T::ZERO, z: T::ZERO };

    /// The quaternion w + x i + y j + z k.
    #[inline(always)]
    pub const fn new(w: T, x: T, y: T, z: T) -> Self {
        Self { w, x, y, z }
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
    pub fn map<U>(self, f: impl Fn(T) -> U) -> Quat<U> {
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

    /// The logarithm: the rotation vector of the shorter arc, of norm ≤ π.
    #[inline]
    pub fn rotation_vector(self) -> Vec3<f64> {
        let q = if self.w < 0.0 { Self::new(-self.w, -self.x, -self.y, -self.z) } else { self };
        let sin2 = q.vector().norm_squared();
        let factor = if sin2 < 1e-8 {
            // 2 asin(s)/s for small s.
            2.0 + sin2 / 3.0
        } else {
            let sin = sin2.sqrt();
            2.0 * libm::atan2(sin, q.w) / sin
        };
        q.vector() * factor
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<T> {
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

    #[test]
    fn exponential_and_logarithm_are_inverse() {
        for theta in [[1e-9, 0.0, 2e-9], [1e-4, -1e-4, 0.0], [0.3, -2.0, 1.0], [0.0, 3.1, 0.0]] {
            let theta = Vec3::from(theta);
            let back = Quat::from_rotation_vector(theta).rotation_vector();
            assert!((back - theta).norm() <= 1e-15 + 4e-16 * theta.norm(), "{theta:?} {back:?}");
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
