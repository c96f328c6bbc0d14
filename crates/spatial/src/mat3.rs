//! 3×3 matrices.

use std::ops::{Add, Mul, Sub};

use crate::{Real, Vec3};

/// A 3×3 matrix, stored by columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Mat3<T: Real> {
    pub x: Vec3<T>,
    pub y: Vec3<T>,
    pub z: Vec3<T>,
}

impl<T: Real> Mat3<T> {
    /// The zero matrix.
    pub const ZERO: Self = Self { x: Vec3::ZERO, y: Vec3::ZERO, z: Vec3::ZERO };
    /// The identity.
    pub const IDENTITY: Self = Self {
        x: Vec3::new(T::ONE, T::ZERO, T::ZERO),
        y: Vec3::new(T::ZERO, T::ONE, T::ZERO),
        z: Vec3::new(T::ZERO, T::ZERO, T::ONE),
    };

    /// The matrix with columns `x`, `y`, `z`.
    #[inline(always)]
    pub const fn from_columns(x: Vec3<T>, y: Vec3<T>, z: Vec3<T>) -> Self {
        Self { x, y, z }
    }

    /// The transpose.
    #[inline(always)]
    pub fn transpose(self) -> Self {
        Self::from_columns(
            Vec3::new(self.x.x, self.y.x, self.z.x),
            Vec3::new(self.x.y, self.y.y, self.z.y),
            Vec3::new(self.x.z, self.y.z, self.z.z),
        )
    }

    /// `selfᵀ v`.
    #[inline(always)]
    pub fn transpose_mul(self, v: Vec3<T>) -> Vec3<T> {
        Vec3::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// The matrix of the cross product: `Mat3::skew(r) * v` is r × v.
    #[inline(always)]
    pub fn skew(r: Vec3<T>) -> Self {
        Self::from_columns(Vec3::new(T::ZERO, r.z, -r.y), Vec3::new(-r.z, T::ZERO, r.x), Vec3::new(r.y, -r.x, T::ZERO))
    }

    /// The outer product a bᵀ.
    #[inline(always)]
    pub fn outer(a: Vec3<T>, b: Vec3<T>) -> Self {
        Self::from_columns(a * b.x, a * b.y, a * b.z)
    }

    /// `self` + s 1.
    #[inline(always)]
    #[must_use]
    pub fn plus_diagonal(self, s: T) -> Self {
        let Self { x, y, z } = Self::IDENTITY;
        Self::from_columns(self.x.add_scaled(s, x), self.y.add_scaled(s, y), self.z.add_scaled(s, z))
    }

    /// `self` + a bᵀ.
    #[inline(always)]
    #[must_use]
    pub fn plus_outer(self, a: Vec3<T>, b: Vec3<T>) -> Self {
        Self::from_columns(self.x.add_scaled(b.x, a), self.y.add_scaled(b.y, a), self.z.add_scaled(b.z, a))
    }

    /// `self` r̂ᵀ, r̂ the [matrix of the cross product](Self::skew).
    #[inline(always)]
    #[must_use]
    pub fn mul_skew_transpose(self, r: Vec3<T>) -> Self {
        Self::from_columns(
            (self.y * -r.z).add_scaled(r.y, self.z),
            (self.z * -r.x).add_scaled(r.z, self.x),
            (self.x * -r.y).add_scaled(r.x, self.y),
        )
    }

    /// The inverse of a symmetric matrix, which must be regular.
    #[inline(always)]
    #[must_use]
    pub fn inverse_of_symmetric(self) -> Self {
        let (a, b, c) = (self.y.cross(self.z), self.z.cross(self.x), self.x.cross(self.y));
        Self::from_columns(a, b, c) * self.x.dot(a).recip()
    }

    /// The entry in row `i`, column `j`.
    ///
    /// # Panics
    /// When an index is above 2.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> T {
        [self.x, self.y, self.z][j].to_array()[i]
    }

    /// The matrix in another scalar.
    pub fn map<U: Real>(self, mut f: impl FnMut(T) -> U) -> Mat3<U> {
        Mat3 { x: self.x.map(&mut f), y: self.y.map(&mut f), z: self.z.map(&mut f) }
    }
}

impl<T: Real> Mul<Vec3<T>> for Mat3<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        (self.x * v.x).add_scaled(v.y, self.y).add_scaled(v.z, self.z)
    }
}

impl<T: Real> Mul for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self::from_columns(self * b.x, self * b.y, self * b.z)
    }
}

impl<T: Real> Mul<T> for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        Self::from_columns(self.x * s, self.y * s, self.z * s)
    }
}

impl<T: Real> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::from_columns(self.x + b.x, self.y + b.y, self.z + b.z)
    }
}

impl<T: Real> Sub for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::from_columns(self.x - b.x, self.y - b.y, self.z - b.z)
    }
}
