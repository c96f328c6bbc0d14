//! Bundles of numbers that are worked on side by side: a world in each lane, or what a world has several of.
//!
//! In programs compiled for x86-64 with AVX2 and FMA they are vector registers; elsewhere arrays, which the compiler may or may not put
//! into such. The results are the same bits either way, lane by lane those of the scalar.
//!
//! [`F64x8`] and [`F32x16`] are 512 bits wide. Their operations are instructions of AVX-512 where that is known to be there,
//! which `cpu::has_avx512` tells at run time: use them in functions with these target features only.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::Real;

/// 1 in the lanes of the bits of an index, else 0.
const MASKS: [[f64; 4]; 16] = {
    let mut masks = [[0.0; 4]; 16];
    let mut bits = 0;
    while bits < 64 {
        masks[bits / 4][bits % 4] = ((bits / 4) >> (bits % 4) & 1) as f64;
        bits += 1;
    }
    masks
};

/// What all bundles share, given the five operations on the inner value as expressions.
macro_rules! lanes {
    (
        $(#[$doc:meta])* $name:ident($inner:ty): [$scalar:ty; $n:literal],
        splat $splat:expr, add $add:expr, sub $sub:expr, mul $mul:expr, div $div:expr, fma $fma:expr, sqrt $sqrt:expr, less $less:expr, bits $bits:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($inner);

        impl $name {
            /// The bundle of these numbers.
            #[inline(always)]
            pub fn from_array(x: [$scalar; $n]) -> Self {
                // SAFETY: both are the same bytes, any of which are numbers.
                unsafe { std::mem::transmute(x) }
            }

            /// The numbers of all lanes.
            #[inline(always)]
            pub fn to_array(self) -> [$scalar; $n] {
                // SAFETY: both are the same bytes, any of which are numbers.
                unsafe { std::mem::transmute(self) }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.to_array()).finish()
            }
        }

        impl Default for $name {
            #[inline(always)]
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                // SAFETY: the instructions are there, by the module's contract; so for all that follow.
                #[allow(unused_unsafe)]
                Self(unsafe { $add(self.0, b.0) })
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $sub(self.0, b.0) })
            }
        }

        impl Mul for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $mul(self.0, b.0) })
            }
        }

        impl Div for $name {
            type Output = Self;
            #[inline(always)]
            fn div(self, b: Self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $div(self.0, b.0) })
            }
        }

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_f64(-0.0) - self
            }
        }

        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, b: Self) {
                *self = *self + b;
            }
        }

        impl SubAssign for $name {
            #[inline(always)]
            fn sub_assign(&mut self, b: Self) {
                *self = *self - b;
            }
        }

        impl MulAssign for $name {
            #[inline(always)]
            fn mul_assign(&mut self, b: Self) {
                *self = *self * b;
            }
        }

        impl Real for $name {
            type Scalar = $scalar;
            type Three = [Self; 3];
            type Padding = ();
            const PADDING: () = ();
            const LANES: usize = $n;
            // SAFETY: both are the same bytes, any of which are numbers.
            const ZERO: Self = unsafe { std::mem::transmute([0.0 as $scalar; $n]) };
            // SAFETY: both are the same bytes, any of which are numbers.
            const ONE: Self = unsafe { std::mem::transmute([1.0 as $scalar; $n]) };
            const PI_TAIL: f64 = <$scalar as Real>::PI_TAIL;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                Self::splat(x as $scalar)
            }

            #[inline(always)]
            fn splat(x: $scalar) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $splat(x) })
            }

            #[inline(always)]
            fn lane(self, k: usize) -> $scalar {
                self.to_array()[k]
            }

            #[inline(always)]
            fn mask(bits: u32) -> Self {
                let mut lanes = [0.0; $n];
                for (four, lanes) in lanes.chunks_mut(4).enumerate() {
                    let masks = &MASKS[(bits >> (4 * four) & 15) as usize];
                    lanes.iter_mut().zip(masks).for_each(|(lane, mask)| *lane = *mask as $scalar);
                }
                Self::from_array(lanes)
            }

            #[inline(always)]
            fn set_lane(&mut self, k: usize, x: $scalar) {
                let mut all = self.to_array();
                all[k] = x;
                *self = Self::from_array(all);
            }

            #[inline(always)]
            fn scalars(x: &[Self]) -> &[$scalar] {
                // SAFETY: a bundle is $n numbers and nothing else, of no less alignment.
                unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len() * $n) }
            }

            #[inline(always)]
            fn scalars_mut(x: &mut [Self]) -> &mut [$scalar] {
                // SAFETY: as above; any bytes are numbers.
                unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len() * $n) }
            }

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $fma(self.0, a.0, b.0) })
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $sqrt(self.0) })
            }

            #[inline(always)]
            fn if_less(self, bound: Self, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                Self(unsafe { $less(self.0, bound.0, yes.0, no.0) })
            }

            #[inline(always)]
            fn lanes_less(self, bound: Self) -> u32 {
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                unsafe { $bits(self.0, bound.0) }
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                let (mut each, sign) = (self.to_array(), sign.to_array());
                for k in 0..$n {
                    each[k] = each[k].copysign(sign[k]);
                }
                Self::from_array(each)
            }

            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                let each = self.to_array().map(|x| Real::sin_cos(x));
                (Self::from_array(each.map(|(s, _)| s)), Self::from_array(each.map(|(_, c)| c)))
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma"))]
mod registers {
    use super::*;
    use std::arch::x86_64::*;

    lanes! {
        /// Four lanes of f64.
        F64x4(__m256d): [f64; 4],
        splat _mm256_set1_pd, add _mm256_add_pd, sub _mm256_sub_pd, mul _mm256_mul_pd, div _mm256_div_pd,
        fma _mm256_fmadd_pd, sqrt _mm256_sqrt_pd,
        less |a, b, yes, no| _mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_LT_OQ>(a, b)),
        bits |a, b| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u32
    }
    lanes! {
        /// Eight lanes of f32.
        F32x8(__m256): [f32; 8],
        splat _mm256_set1_ps, add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, div _mm256_div_ps,
        fma _mm256_fmadd_ps, sqrt _mm256_sqrt_ps,
        less |a, b, yes, no| _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)),
        bits |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) as u32
    }
    lanes! {
        /// Eight lanes of f64 in two registers of four: while what is done to one waits for its result, the other is worked on.
        F64x4x2([__m256d; 2]): [f64; 8],
        splat |x| [_mm256_set1_pd(x); 2],
        add |[a, b]: [__m256d; 2], [c, d]: [__m256d; 2]| [_mm256_add_pd(a, c), _mm256_add_pd(b, d)],
        sub |[a, b]: [__m256d; 2], [c, d]: [__m256d; 2]| [_mm256_sub_pd(a, c), _mm256_sub_pd(b, d)],
        mul |[a, b]: [__m256d; 2], [c, d]: [__m256d; 2]| [_mm256_mul_pd(a, c), _mm256_mul_pd(b, d)],
        div |[a, b]: [__m256d; 2], [c, d]: [__m256d; 2]| [_mm256_div_pd(a, c), _mm256_div_pd(b, d)],
        fma |[a, b]: [__m256d; 2], [c, d]: [__m256d; 2], [e, f]: [__m256d; 2]|
            [_mm256_fmadd_pd(a, c, e), _mm256_fmadd_pd(b, d, f)],
        sqrt |[a, b]: [__m256d; 2]| [_mm256_sqrt_pd(a), _mm256_sqrt_pd(b)],
        less |a: [__m256d; 2], b: [__m256d; 2], yes: [__m256d; 2], no: [__m256d; 2]| [
            _mm256_blendv_pd(no[0], yes[0], _mm256_cmp_pd::<_CMP_LT_OQ>(a[0], b[0])),
            _mm256_blendv_pd(no[1], yes[1], _mm256_cmp_pd::<_CMP_LT_OQ>(a[1], b[1])),
        ],
        bits |a: [__m256d; 2], b: [__m256d; 2]| {
            let [low, high] = [0, 1].map(|k| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a[k], b[k])) as u32);
            low | high << 4
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma")))]
mod registers {
    use super::*;
    use std::array::from_fn;

    macro_rules! array_lanes {
        ($name:ident, $scalar:ty, $n:literal) => {
            lanes! {
                #[doc = concat!(stringify!($n), " lanes of ", stringify!($scalar), ".")]
                $name([$scalar; $n]): [$scalar; $n],
                splat |x| [x; $n],
                add |a: [$scalar; $n], b: [$scalar; $n]| from_fn(|k| a[k] + b[k]),
                sub |a: [$scalar; $n], b: [$scalar; $n]| from_fn(|k| a[k] - b[k]),
                mul |a: [$scalar; $n], b: [$scalar; $n]| from_fn(|k| a[k] * b[k]),
                div |a: [$scalar; $n], b: [$scalar; $n]| from_fn(|k| a[k] / b[k]),
                fma |a: [$scalar; $n], b: [$scalar; $n], c: [$scalar; $n]| from_fn(|k| Real::mul_add(a[k], b[k], c[k])),
                sqrt |a: [$scalar; $n]| a.map(|x| x.sqrt()),
                less |a: [$scalar; $n], b: [$scalar; $n], yes: [$scalar; $n], no: [$scalar; $n]|
                    from_fn(|k| if a[k] < b[k] { yes[k] } else { no[k] }),
                bits |a: [$scalar; $n], b: [$scalar; $n]| (0..$n).fold(0, |bits, k| bits | u32::from(a[k] < b[k]) << k)
            }
        };
    }

    array_lanes!(F64x4, f64, 4);
    array_lanes!(F64x4x2, f64, 8);
    array_lanes!(F32x8, f32, 8);
    #[cfg(not(target_arch = "x86_64"))]
    array_lanes!(F64x8, f64, 8);
    #[cfg(not(target_arch = "x86_64"))]
    array_lanes!(F32x16, f32, 16);
}

/// Registers that no program is compiled for: they are used where they are found at run time.
#[cfg(target_arch = "x86_64")]
mod wide_registers {
    use super::*;
    use std::arch::x86_64::*;

    lanes! {
        /// Eight lanes of f64: where there is AVX-512 only.
        F64x8(__m512d): [f64; 8],
        splat _mm512_set1_pd, add _mm512_add_pd, sub _mm512_sub_pd, mul _mm512_mul_pd, div _mm512_div_pd,
        fma _mm512_fmadd_pd, sqrt _mm512_sqrt_pd,
        less |a, b, yes, no| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b), no, yes),
        bits |a, b| u32::from(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b))
    }
    lanes! {
        /// Sixteen lanes of f32: where there is AVX-512 only.
        F32x16(__m512): [f32; 16],
        splat _mm512_set1_ps, add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, div _mm512_div_ps,
        fma _mm512_fmadd_ps, sqrt _mm512_sqrt_ps,
        less |a, b, yes, no| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes),
        bits |a, b| u32::from(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b))
    }
}

pub use registers::{F32x8, F64x4, F64x4x2};
#[cfg(not(target_arch = "x86_64"))]
pub use registers::{F32x16, F64x8};
#[cfg(target_arch = "x86_64")]
pub use wide_registers::{F32x16, F64x8};

impl F64x4x2 {
    /// The lanes of `first`, then those of `second`.
    #[inline(always)]
    pub fn of(first: F64x4, second: F64x4) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (first.to_array(), second.to_array());
        Self::from_array([a, b, c, d, e, f, g, h])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_give_the_bits_of_scalars() {
        let x = F64x4::from_array([0.1, -2.5, 3e-9, 7.0]);
        let y = F64x4::from_array([3.0, 0.2, -5.0, 1e-7]);
        let (sin, cos) = Real::sin_cos(x);
        for k in 0..4 {
            let (a, b) = (x.lane(k), y.lane(k));
            assert_eq!((x + y).lane(k), a + b);
            assert_eq!((x - y).lane(k), a - b);
            assert_eq!((x / y).lane(k), a / b);
            assert_eq!((-x).lane(k), -a);
            assert_eq!(Real::mul_add(x, y, x).lane(k), Real::mul_add(a, b, a));
            assert_eq!(Real::sqrt(y * y).lane(k), (b * b).sqrt());
            assert_eq!((sin.lane(k), cos.lane(k)), Real::sin_cos(a));
            assert_eq!(x.copysign(-y).lane(k), a.copysign(-b));
            assert_eq!(x.lanes_less(y) >> k & 1 == 1, a < b);
        }
        let halves = [[0.3, 1.3, 2.3, 3.3], [4.3, 5.3, 6.3, 7.3]].map(F64x4::from_array);
        let (pair, other) = (F64x4x2::of(halves[0], halves[1]), F64x4x2::splat(-0.7));
        for k in 0..8 {
            let (a, b) = (k as f64 + 0.3, -0.7);
            assert_eq!(
                [pair + other, pair - other, pair * other, pair / other].map(|x| x.lane(k)),
                [a + b, a - b, a * b, a / b]
            );
            assert_eq!(Real::mul_add(pair, other, pair).lane(k), Real::mul_add(a, b, a));
            assert_eq!(Real::sqrt(pair).lane(k), a.sqrt());
        }
        let mut z = F32x8::splat(3e7);
        z.set_lane(5, -1.0);
        assert_eq!((z.lane(4), z.lane(5)), (3e7, -1.0));
        assert_eq!(Real::scalars(&[x, y]), [x.to_array(), y.to_array()].concat());
        assert!((-F64x4::ZERO).lane(0).is_sign_negative());
    }
}
