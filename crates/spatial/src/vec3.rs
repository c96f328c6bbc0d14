//! Vectors in three dimensions.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::{Real, Three};

/// A vector in three dimensions.
///
/// In memory it is as long as the register that works on it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
#[allow(missing_docs)]
pub struct Vec3<T: Real> {
    pub x: T,
    pub y: T,
    pub z: T,
    padding: T::Padding,
}

impl<T: Real> Vec3<T> {
    /// The zero vector.
    pub const ZERO: Self = Self::new(T::ZERO, T::ZERO, T::ZERO);

    /// The vector (x, y, z).
    #[inline(always)]
    pub const fn new(x: T, y: T, z: T) -> Self {
        Self { x, y, z, padding: T::PADDING }
    }

    /// The inner product.
    #[inline(always)]
    pub fn dot(self, b: Self) -> T {
        self.x.mul_add(b.x, self.y.mul_add(b.y, self.z * b.z))
    }

    /// The cross product `self` × `b`.
    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        T::Three::of(self).cross(T::Three::of(b)).to_vec3()
    }

    /// `self + s·b`.
    #[inline(always)]
    pub fn add_scaled(self, s: T, b: Self) -> Self {
        T::Three::of(self).add_scaled(s, T::Three::of(b)).to_vec3()
    }

    /// The Euclidean norm.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.dot(self).sqrt()
    }

    /// The square of the Euclidean norm.
    #[inline(always)]
    pub fn norm_squared(self) -> T {
        self.dot(self)
    }

    /// The entries as an array.
    #[inline(always)]
    pub fn to_array(self) -> [T; 3] {
        [self.x, self.y, self.z]
    }

    /// The vector in another scalar.
    pub fn map<U: Real>(self, mut f: impl FnMut(T) -> U) -> Vec3<U> {
        Vec3::new(f(self.x), f(self.y), f(self.z))
    }
}

impl Vec3<f64> {
    /// The vector scaled to unit length, or `None` when its length is zero or not finite.
    pub fn normalized(self) -> Option<Self> {
        let n = self.norm();
        (n > 0.0 && n.is_finite()).then(|| self * (1.0 / n))
    }

    /// Whether no entry is infinite or NaN.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }

    /// Two unit vectors that complete the unit vector `self` to a right-handed frame (t1, t2, `self`).
    ///
    /// Duff et al., *Building an Orthonormal Basis, Revisited* (2017): continuous but at −z.
    #[inline]
    pub fn tangents(self) -> (Self, Self) {
        let sign = 1.0_f64.copysign(self.z);
        let a = -1.0 / (sign + self.z);
        let b = self.x * self.y * a;
        (
            Self::new(1.0 + sign * self.x * self.x * a, sign * b, -sign * self.x),
            Self::new(b, sign + self.y * self.y * a, -self.y),
        )
    }
}

impl<T: Real> From<[T; 3]> for Vec3<T> {
    #[inline(always)]
    fn from([x, y, z]: [T; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl<T: Real + PartialEq> PartialEq for Vec3<T> {
    fn eq(&self, b: &Self) -> bool {
        self.x == b.x && self.y == b.y && self.z == b.z
    }
}

impl<T: Real> Debug for Vec3<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vec3").field("x", &self.x).field("y", &self.y).field("z", &self.z).finish()
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Vec3")]
struct Entries<T> {
    x: T,
    y: T,
    z: T,
}

impl<T: Real + serde::Serialize> serde::Serialize for Vec3<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Entries { x: self.x, y: self.y, z: self.z }.serialize(serializer)
    }
}

impl<'de, T: Real + serde::Deserialize<'de>> serde::Deserialize<'de> for Vec3<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Entries::deserialize(deserializer).map(|Entries { x, y, z }| Self::new(x, y, z))
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        T::Three::of(self).plus(T::Three::of(b)).to_vec3()
    }
}

impl<T: Real> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        T::Three::of(self).minus(T::Three::of(b)).to_vec3()
    }
}

impl<T: Real> SubAssign for Vec3<T> {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl<T: Real> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl<T: Real> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        T::Three::of(self).scaled(s).to_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_complete_a_right_handed_frame() {
        for n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, 0.0, -0.8], [-0.36, 0.48, 0.8]] {
            let n = Vec3::from(n);
            let (t1, t2) = n.tangents();
            assert!((t1.cross(t2) - n).norm() < 1e-15);
            assert!(t1.dot(t2).abs() < 1e-15 && (t1.norm() - 1.0).abs() < 1e-15);
        }
    }
}
