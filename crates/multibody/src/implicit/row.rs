//! Sixteen numbers side by side, and what is done with them in registers.

use spatial::{F64x4, F64x8, Real};

/// Numbers in a row.
pub(super) const WIDTH: usize = 16;

/// A row in memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row(pub [f64; WIDTH]);

impl Row {
    pub const ZERO: Self = Self([0.0; WIDTH]);
}

/// A row in registers. The same bits come out of all kinds of registers.
///
/// No closures here: what is not inlined at once does not know of the widest instructions.
pub(super) trait Lanes: Copy {
    fn load(row: &Row) -> Self;
    fn store(self, row: &mut Row);
    fn plus(self, other: Self) -> Self;
    fn scaled(self, s: f64) -> Self;
    /// self + s other
    fn plus_scaled(self, s: f64, other: Self) -> Self;
    /// Four sums of which the sum is the scalar product.
    fn partial(self, other: Self) -> [f64; 4];

    /// The scalar product.
    #[inline(always)]
    fn dot(self, other: Self) -> f64 {
        let [a, b, c, d] = self.partial(other);
        (a + c) + (b + d)
    }
}

macro_rules! lanes {
    ($(#[$doc:meta])* $name:ident: $count:literal of $lanes:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name([$lanes; $count]);

        impl Lanes for $name {
            #[inline(always)]
            fn load(Row(x): &Row) -> Self {
                let mut all = [$lanes::ZERO; $count];
                let (parts, _) = x.as_chunks();
                for k in 0..$count {
                    all[k] = $lanes::from_array(parts[k]);
                }
                Self(all)
            }

            #[inline(always)]
            fn store(self, row: &mut Row) {
                let (parts, _) = row.0.as_chunks_mut();
                for k in 0..$count {
                    parts[k] = self.0[k].to_array();
                }
            }

            #[inline(always)]
            fn plus(mut self, other: Self) -> Self {
                for k in 0..$count {
                    self.0[k] += other.0[k];
                }
                self
            }

            #[inline(always)]
            fn scaled(mut self, s: f64) -> Self {
                let s = $lanes::splat(s);
                for k in 0..$count {
                    self.0[k] *= s;
                }
                self
            }

            #[inline(always)]
            fn plus_scaled(mut self, s: f64, other: Self) -> Self {
                let s = $lanes::splat(s);
                for k in 0..$count {
                    self.0[k] = other.0[k].mul_add(s, self.0[k]);
                }
                self
            }

            #[inline(always)]
            fn partial(self, other: Self) -> [f64; 4] {
                $name::sums(self.0, other.0)
            }
        }
    };
}

lanes! {
    /// In four registers of 256 bits.
    Narrow: 4 of F64x4
}
lanes! {
    /// In two of 512, where there is AVX-512.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Wide: 2 of F64x8
}

impl Narrow {
    #[inline(always)]
    fn sums([a, b, c, d]: [F64x4; 4], [p, q, r, s]: [F64x4; 4]) -> [f64; 4] {
        (c.mul_add(r, a * p) + d.mul_add(s, b * q)).to_array()
    }
}

impl Wide {
    #[inline(always)]
    fn sums([a, b]: [F64x8; 2], [p, q]: [F64x8; 2]) -> [f64; 4] {
        let [a, b, c, d, e, f, g, h] = b.mul_add(q, a * p).to_array();
        (F64x4::from_array([a, b, c, d]) + F64x4::from_array([e, f, g, h])).to_array()
    }
}

/// The scalar products of six rows with another.
#[inline(always)]
pub(super) fn products<L: Lanes>(rows: &[L; 6], x: L) -> [f64; 6] {
    let (a, b, c, d) = (rows[0].partial(x), rows[1].partial(x), rows[2].partial(x), rows[3].partial(x));
    let first = F64x4::from_array([a[0], b[0], c[0], d[0]]) + F64x4::from_array([a[2], b[2], c[2], d[2]]);
    let second = F64x4::from_array([a[1], b[1], c[1], d[1]]) + F64x4::from_array([a[3], b[3], c[3], d[3]]);
    let [a, b, c, d] = (first + second).to_array();
    [a, b, c, d, rows[4].dot(x), rows[5].dot(x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seed: f64) -> Row {
        Row(std::array::from_fn(|k| Real::sin_cos(seed + k as f64).0))
    }

    /// Numbers from everything that rows can do.
    fn numbers<L: Lanes>() -> Vec<f64> {
        let rows = [0.0, 1.5, 0.3, -2.0, 4.0, 9.0].map(|seed| L::load(&row(seed)));
        let x = L::load(&row(7.0));
        let of_rows = products(&rows, x);
        assert_eq!(of_rows, rows.map(|row| row.dot(x)));
        let mut sum = Row::ZERO;
        rows[1].scaled(2.0).plus_scaled(-2.0, rows[1]).plus(rows[2]).store(&mut sum);
        [&of_rows[..], &sum.0].concat()
    }

    #[test]
    fn rows_are_added_and_multiplied() {
        let numbers = numbers::<Narrow>();
        let exact: f64 = row(0.0).0.iter().zip(row(7.0).0).map(|(a, b)| a * b).sum();
        assert!((numbers[0] - exact).abs() < 1e-14);
        assert_eq!(numbers[6..], row(0.3).0);
    }

    #[test]
    fn all_registers_give_the_same_bits() {
        if spatial::cpu::has_avx512() {
            assert_eq!(numbers::<Narrow>(), numbers::<Wide>());
        }
    }
}
