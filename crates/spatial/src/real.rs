//! The scalar that every kernel is written over.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::{F64x4, Three};

/// A scalar of the dynamics kernels: `f64`, `f32`, or a bundle of lanes of either.
///
/// Kernels over `Real` never branch on a value, only on the structure of the tree, so that one source serves
/// scalars and lanes. All functions give the same bits on every machine of one build: none calls the system's
/// mathematical library.
pub trait Real:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// What a lane holds; the type itself for a scalar.
    type Scalar: Real<Scalar = Self::Scalar> + PartialEq;
    /// Three of these numbers, in as few registers as they take.
    type Three: Three<Self>;
    /// Fills a [`Vec3`](crate::Vec3) up to the length of its register.
    type Padding: Copy + Debug + Default + Send + Sync + 'static;
    /// That of new vectors.
    const PADDING: Self::Padding;
    /// The number of lanes, 1 for a scalar.
    const LANES: usize = 1;
    /// π less the scalar nearest to it.
    const PI_TAIL: f64;
    /// Whether a lane has 32 bits.
    const IS_SINGLE: bool = size_of::<Self::Scalar>() == 4;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The scalar nearest to `x`.
    fn from_f64(x: f64) -> Self;
    /// `x` in every lane.
    fn splat(x: Self::Scalar) -> Self;
    /// The number in lane `k`.
    fn lane(self, k: usize) -> Self::Scalar;
    /// Replaces the number in lane `k`.
    fn set_lane(&mut self, k: usize, x: Self::Scalar);
    /// 1 in the lanes of these bits, the first lane's the lowest, else 0.
    fn mask(bits: u32) -> Self;
    /// The numbers of all lanes of all bundles, one bundle after the other.
    fn scalars(x: &[Self]) -> &[Self::Scalar];
    /// The same to be written.
    fn scalars_mut(x: &mut [Self]) -> &mut [Self::Scalar];
    /// `self · a + b`, fused where the target has the instruction.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// 1 / `self`.
    fn recip(self) -> Self {
        Self::ONE / self
    }
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// Sine and cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// Lane by lane `yes` where `self < bound`, else `no`; what is no number is less than nothing.
    fn if_less(self, bound: Self, yes: Self, no: Self) -> Self;
    /// The lanes in which `self < bound`, a bit each, the first lane's the lowest.
    #[inline(always)]
    fn lanes_less(self, bound: Self) -> u32 {
        let less = self.if_less(bound, Self::ONE, Self::ZERO);
        (0..Self::LANES).fold(0, |bits, k| bits | u32::from(less.lane(k) != Self::Scalar::ZERO) << k)
    }
    /// The lesser of the two, lane by lane; `other` where either is no number.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.if_less(other, self, other)
    }
    /// The greater of the two, lane by lane; `other` where either is no number.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        other.if_less(self, self, other)
    }
    /// The magnitude.
    #[inline(always)]
    fn abs(self) -> Self {
        self.if_less(Self::ZERO, -self, self)
    }
}

impl Real for f64 {
    type Scalar = f64;
    type Three = F64x4;
    type Padding = f64;
    const PADDING: f64 = 0.0;
    const PI_TAIL: f64 = 1.224_646_799_147_353_2e-16;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn mul_add(self, a: f64, b: f64) -> f64 {
        // One rounding everywhere, so that bits do not depend on how a program is compiled. Without the instruction it is a call.
        f64::mul_add(self, a, b)
    }
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn set_lane(&mut self, _: usize, x: f64) {
        *self = x;
    }
    #[inline(always)]
    fn mask(bits: u32) -> f64 {
        (bits & 1) as f64
    }
    #[inline(always)]
    fn scalars(x: &[f64]) -> &[f64] {
        x
    }
    #[inline(always)]
    fn scalars_mut(x: &mut [f64]) -> &mut [f64] {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        sin_cos(self)
    }
    #[inline(always)]
    fn if_less(self, bound: f64, yes: f64, no: f64) -> f64 {
        if self < bound { yes } else { no }
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
}

impl Real for f32 {
    type Scalar = f32;
    type Three = [f32; 3];
    type Padding = ();
    const PADDING: () = ();
    const PI_TAIL: f64 = std::f64::consts::PI - std::f32::consts::PI as f64;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn mul_add(self, a: f32, b: f32) -> f32 {
        f32::mul_add(self, a, b)
    }
    #[inline(always)]
    fn splat(x: f32) -> f32 {
        x
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f32 {
        self
    }
    #[inline(always)]
    fn set_lane(&mut self, _: usize, x: f32) {
        *self = x;
    }
    #[inline(always)]
    fn mask(bits: u32) -> f32 {
        (bits & 1) as f32
    }
    #[inline(always)]
    fn scalars(x: &[f32]) -> &[f32] {
        x
    }
    #[inline(always)]
    fn scalars_mut(x: &mut [f32]) -> &mut [f32] {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn copysign(self, sign: f32) -> f32 {
        f32::copysign(self, sign)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f32, f32) {
        let (s, c) = sin_cos(f64::from(self));
        (s as f32, c as f32)
    }
    #[inline(always)]
    fn if_less(self, bound: f32, yes: f32, no: f32) -> f32 {
        if self < bound { yes } else { no }
    }
    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }
}

/// Sine and cosine of `x`, both with the sign that makes the cosine positive or zero: of `x` modulo π. What a quaternion needs,
/// whose sign does not matter, and without a branch, so that lanes stay together. For |x| up to 1e5.
#[inline(always)]
pub(crate) fn sin_cos_modulo_pi<T: Real>(x: T) -> (T, T) {
    let c = T::from_f64;
    // Adding and taking away 1.5·2⁵² (1.5·2²³) rounds to the nearest integer.
    let round = c(if size_of::<T::Scalar>() == 8 { 6_755_399_441_055_744.0 } else { 12_582_912.0 });
    let n = x.mul_add(c(std::f64::consts::FRAC_1_PI), round) - round;
    let r = n.mul_add(-c(T::PI_TAIL), n.mul_add(-c(std::f64::consts::PI), x));
    let z = r * r;
    let (sin, cos) = series(z);
    ((r * z).mul_add(sin, r), z.mul_add(cos, T::ONE))
}

/// Sine and cosine of `x`, |x| up to 1e5, without a branch, so that lanes stay together.
#[inline(always)]
pub fn sin_cos_in_lanes<T: Real>(x: T) -> (T, T) {
    let (s, c) = sin_cos_modulo_pi(x * T::from_f64(0.5));
    let twice = s + s;
    (twice * c, (-twice).mul_add(s, T::ONE))
}

/// sin(√z)/√z and cos(√z) for 0 ≤ z ≤ (π/2)².
#[inline(always)]
pub(crate) fn sinc_cos<T: Real>(z: T) -> (T, T) {
    let (sin, cos) = series(z);
    (z.mul_add(sin, T::ONE), z.mul_add(cos, T::ONE))
}

/// (sin(√z)/√z − 1)/z and (cos(√z) − 1)/z for 0 ≤ z ≤ (π/2)².
#[inline(always)]
fn series<T: Real>(z: T) -> (T, T) {
    let c = T::from_f64;
    // The Taylor series to r²³ and r²²: on r ≤ π/2 what follows is below 1e-18.
    const SIN: [f64; 11] = taylor(3);
    const COS: [f64; 11] = taylor(2);
    // Even and odd powers of z by themselves: Horner's rule on both at once takes half as long.
    let zz = z * z;
    let (mut s, mut k) = ([c(SIN[10]), c(SIN[9])], [c(COS[10]), c(COS[9])]);
    for i in (0..9).rev() {
        s[i % 2] = s[i % 2].mul_add(zz, c(SIN[i]));
        k[i % 2] = k[i % 2].mul_add(zz, c(COS[i]));
    }
    (s[1].mul_add(z, s[0]), k[1].mul_add(z, k[0]))
}

/// ∓1/k! for k = `first`, `first` + 2, …
const fn taylor(first: u32) -> [f64; 11] {
    let mut coefficients = [0.0; 11];
    let (mut factorial, mut order, mut i) = (1.0, 1, 0);
    while i < 11 {
        while order <= first + 2 * i {
            factorial *= order as f64;
            order += 1;
        }
        coefficients[i as usize] = if i.is_multiple_of(2) { -1.0 / factorial } else { 1.0 / factorial };
        i += 1;
    }
    coefficients
}

/// Beyond this many radians the two-constant reduction loses digits and `libm`'s exact one takes over.
const REDUCTION_LIMIT: f64 = 1e5;

/// Sine and cosine to about one unit in the last place, without a branch on the quadrant.
///
/// The argument is reduced by multiples of π/2 with two fused multiply-adds (Cody and Waite); on |r| ≤ π/4 the
/// Taylor series to r¹⁷ and r¹⁶, whose first neglected terms are below 1e-17, with their coefficients 1/k!.
#[inline]
fn sin_cos(x: f64) -> (f64, f64) {
    if x.is_nan() || x.abs() > REDUCTION_LIMIT {
        return libm::sincos(x);
    }
    /// π/2 − FRAC_PI_2, the digits of π/2 that an f64 leaves out.
    const HALF_PI_TAIL: f64 = 6.123_233_995_736_766e-17;
    // Adding and taking away 1.5·2⁵² rounds to the nearest integer, whose low bits are then in the mantissa.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = x.mul_add(std::f64::consts::FRAC_2_PI, ROUND);
    let quadrant = shifted.to_bits();
    let n = shifted - ROUND;
    let r = n.mul_add(-HALF_PI_TAIL, n.mul_add(-std::f64::consts::FRAC_PI_2, x));
    let (s, c) = sin_cos_reduced(r);
    let odd = quadrant & 1 != 0;
    let (sin, cos) = if odd { (c, s) } else { (s, c) };
    let sin_sign = (quadrant & 2) << 62;
    let cos_sign = ((quadrant + 1) & 2) << 62;
    (f64::from_bits(sin.to_bits() ^ sin_sign), f64::from_bits(cos.to_bits() ^ cos_sign))
}

#[inline(always)]
fn sin_cos_reduced(r: f64) -> (f64, f64) {
    /// Coefficients of r³, r⁵, … and of r⁴, r⁶, …: ±1/k!.
    const S: [f64; 8] = [
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    const C: [f64; 7] = [
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];
    let z = r * r;
    let mut s = S[7];
    for k in (0..7).rev() {
        s = s.mul_add(z, S[k]);
    }
    let mut c = C[6];
    for k in (0..6).rev() {
        c = c.mul_add(z, C[k]);
    }
    let sin = (r * z).mul_add(s, r);
    let cos = (z * z).mul_add(c, z.mul_add(-0.5, 1.0));
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::F64x4;

    #[test]
    fn sine_and_cosine_modulo_pi_agree_with_libm() {
        for i in -20_000..20_000 {
            let x = f64::from(i) * 0.013_7;
            let (s, c) = sin_cos_modulo_pi(x);
            let sign = 1.0_f64.copysign(libm::cos(x));
            assert!((s - sign * libm::sin(x)).abs() < 4.5e-16, "{x}: {s}");
            assert!((c - sign * libm::cos(x)).abs() < 4.5e-16, "{x}: {c}");
            let (s, c) = sin_cos_modulo_pi(x as f32);
            let x = f64::from(x as f32);
            let sign = 1.0_f64.copysign(libm::cos(x));
            // A cosine near 0 may come out with either sign.
            let apart =
                |sign: f64| (f64::from(s) - sign * libm::sin(x)).abs().max((f64::from(c) - sign * libm::cos(x)).abs());
            assert!(apart(sign).min(apart(-sign)) < 3e-7, "{x}: {s} {c}");
        }
    }

    #[test]
    fn lanes_choose_each_by_itself() {
        let (a, b) = (F64x4::from_array([1.0, f64::NAN, -2.0, 0.0]), F64x4::from_array([2.0, 1.0, -3.0, -0.0]));
        let chosen = a.if_less(b, F64x4::splat(5.0), F64x4::splat(7.0));
        assert_eq!(chosen.to_array(), [5.0, 7.0, 7.0, 7.0]);
        assert_eq!(Real::max(a, b).to_array()[2], -2.0);
        assert_eq!(Real::min(a, b).to_array()[0], 1.0);
        assert_eq!(Real::abs(a).to_array()[2], 2.0);
        for i in -3000..3000 {
            let x = f64::from(i) * 0.037;
            let (s, c) = sin_cos_in_lanes(F64x4::splat(x));
            assert!((s.lane(1) - libm::sin(x)).abs() < 2e-15 && (c.lane(2) - libm::cos(x)).abs() < 2e-15, "{x}");
        }
    }

    #[test]
    fn sine_and_cosine_agree_with_libm() {
        for i in -200_000..200_000 {
            let x = f64::from(i) * 0.001_37;
            let (s, c) = Real::sin_cos(x);
            assert!((s - libm::sin(x)).abs() < 2.3e-16, "sin {x}: {s} against {}", libm::sin(x));
            assert!((c - libm::cos(x)).abs() < 2.3e-16, "cos {x}: {c} against {}", libm::cos(x));
        }
        for x in [1e6, -3e9, 1e300] {
            assert_eq!(Real::sin_cos(x), libm::sincos(x));
        }
        assert!(Real::sin_cos(f64::NAN).0.is_nan());
    }
}
