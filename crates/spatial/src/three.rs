//! Three numbers that are scaled and added together.

use std::fmt::Debug;

use crate::{F64x4, Real, Vec3};

/// Three numbers of `T`: an array, or for `f64` a register, whose fourth number has no meaning. Both round alike.
pub trait Three<T>: Copy + Debug + Send + Sync + 'static {
    /// Zeros.
    const ZERO: Self;
    /// These numbers.
    fn new(x: [T; 3]) -> Self;
    /// The numbers.
    fn to_array(self) -> [T; 3];
    /// `self · s`
    #[must_use]
    fn scaled(self, s: T) -> Self;
    /// `self + s x`, fused as [`Real::mul_add`] is.
    #[must_use]
    fn add_scaled(self, s: T, x: Self) -> Self;
    /// The products by rows.
    #[must_use]
    fn mul(self, x: Self) -> Self;
    /// The products by rows and `b`, fused.
    #[must_use]
    fn mul_add(self, x: Self, b: Self) -> Self;
    /// (y, z, x)
    #[must_use]
    fn turned(self) -> Self;
    /// `a · b + c · d`, the two products of each row first.
    fn sum_of_products(pairs: [[Self; 2]; 2]) -> T;
    /// A vector.
    fn of(v: Vec3<T>) -> Self
    where
        T: Real;
    /// The vector.
    fn to_vec3(self) -> Vec3<T>
    where
        T: Real;
    /// `self + x`
    #[must_use]
    fn plus(self, x: Self) -> Self;
    /// `self − x`
    #[must_use]
    fn minus(self, x: Self) -> Self;
    /// `self × x`
    #[must_use]
    fn cross(self, x: Self) -> Self;
}

impl<T: Real> Three<T> for [T; 3] {
    const ZERO: Self = [T::ZERO; 3];
    #[inline(always)]
    fn new(x: [T; 3]) -> Self {
        x
    }
    #[inline(always)]
    fn to_array(self) -> [T; 3] {
        self
    }
    #[inline(always)]
    fn scaled(self, s: T) -> Self {
        [self[0] * s, self[1] * s, self[2] * s]
    }
    #[inline(always)]
    fn add_scaled(self, s: T, x: Self) -> Self {
        [s.mul_add(x[0], self[0]), s.mul_add(x[1], self[1]), s.mul_add(x[2], self[2])]
    }
    #[inline(always)]
    fn mul(self, x: Self) -> Self {
        [self[0] * x[0], self[1] * x[1], self[2] * x[2]]
    }
    #[inline(always)]
    fn mul_add(self, x: Self, b: Self) -> Self {
        [self[0].mul_add(x[0], b[0]), self[1].mul_add(x[1], b[1]), self[2].mul_add(x[2], b[2])]
    }
    #[inline(always)]
    fn turned(self) -> Self {
        [self[1], self[2], self[0]]
    }
    #[inline(always)]
    fn sum_of_products([[a, b], [c, d]]: [[Self; 2]; 2]) -> T {
        let (x, y) = (c[0].mul_add(d[0], a[0] * b[0]), c[1].mul_add(d[1], a[1] * b[1]));
        x + y + c[2].mul_add(d[2], a[2] * b[2])
    }
    #[inline(always)]
    fn of(v: Vec3<T>) -> Self {
        [v.x, v.y, v.z]
    }
    #[inline(always)]
    fn to_vec3(self) -> Vec3<T> {
        Vec3::new(self[0], self[1], self[2])
    }
    #[inline(always)]
    fn plus(self, x: Self) -> Self {
        [self[0] + x[0], self[1] + x[1], self[2] + x[2]]
    }
    #[inline(always)]
    fn minus(self, x: Self) -> Self {
        [self[0] - x[0], self[1] - x[1], self[2] - x[2]]
    }
    #[inline(always)]
    fn cross(self, b: Self) -> Self {
        let [x, y, z] = self;
        [y.mul_add(b[2], -(z * b[1])), z.mul_add(b[0], -(x * b[2])), x.mul_add(b[1], -(y * b[0]))]
    }
}

impl Three<f64> for F64x4 {
    const ZERO: Self = <F64x4 as Real>::ZERO;
    #[inline(always)]
    fn new([x, y, z]: [f64; 3]) -> Self {
        F64x4::from_array([x, y, z, 0.0])
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 3] {
        let [x, y, z, _] = F64x4::to_array(self);
        [x, y, z]
    }
    #[inline(always)]
    fn scaled(self, s: f64) -> Self {
        self * F64x4::splat(s)
    }
    #[inline(always)]
    fn add_scaled(self, s: f64, x: Self) -> Self {
        Real::mul_add(F64x4::splat(s), x, self)
    }
    #[inline(always)]
    fn mul(self, x: Self) -> Self {
        self * x
    }
    #[inline(always)]
    fn mul_add(self, x: Self, b: Self) -> Self {
        Real::mul_add(self, x, b)
    }
    #[inline(always)]
    fn turned(self) -> Self {
        let [x, y, z, w] = F64x4::to_array(self);
        F64x4::from_array([y, z, x, w])
    }
    #[inline(always)]
    fn sum_of_products([[a, b], [c, d]]: [[Self; 2]; 2]) -> f64 {
        let [x, y, z, _] = F64x4::to_array(Real::mul_add(c, d, a * b));
        x + y + z
    }
    #[inline(always)]
    fn of(v: Vec3<f64>) -> Self {
        // SAFETY: `Vec3<f64>` is `repr(C)` and four numbers, as the register is.
        unsafe { std::mem::transmute(v) }
    }
    #[inline(always)]
    fn to_vec3(self) -> Vec3<f64> {
        // SAFETY: as above.
        unsafe { std::mem::transmute(self) }
    }
    #[inline(always)]
    fn plus(self, x: Self) -> Self {
        self + x
    }
    #[inline(always)]
    fn minus(self, x: Self) -> Self {
        self - x
    }
    #[inline(always)]
    fn cross(self, b: Self) -> Self {
        Real::mul_add(self, b.turned(), -(self.turned() * b)).turned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_rounds_as_an_array_does() {
        let (x, y, s) = ([0.1, -7.3, 1e-9], [3.3, 0.7, -1e9], 1.0 / 3.0);
        let in_register = F64x4::new(x).add_scaled(s, F64x4::new(y)).scaled(s);
        let in_array = Three::<f64>::scaled(Three::<f64>::add_scaled(x, s, y), s);
        assert_eq!(Three::to_array(in_register), in_array);
    }
}
