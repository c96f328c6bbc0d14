//! Sixteen numbers side by side, and what is done with them in registers.

use spatial::{F64x4, Real};

/// Numbers in a row.
pub(super) const WIDTH: usize = 16;

/// A row in memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row(pub [f64; WIDTH]);

impl Row {
    pub const ZERO: Self = Self([0.0; WIDTH]);
}

/// A row in registers.
#[derive(Clone, Copy)]
pub(super) struct Lanes([F64x4; 4]);

// No closures here: what is not inlined at once does not know of the widest instructions.
impl Lanes {
    pub const ZERO: Self = Self([F64x4::ZERO; 4]);

    #[inline(always)]
    pub fn load(Row(x): &Row) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *x;
        Self([
            F64x4::from_array([a, b, c, d]),
            F64x4::from_array([e, f, g, h]),
            F64x4::from_array([i, j, k, l]),
            F64x4::from_array([m, n, o, p]),
        ])
    }

    #[inline(always)]
    pub fn store(self, row: &mut Row) {
        for k in 0..4 {
            row.0[4 * k..4 * k + 4].copy_from_slice(&self.0[k].to_array());
        }
    }

    #[inline(always)]
    pub fn plus(mut self, other: Self) -> Self {
        for k in 0..4 {
            self.0[k] += other.0[k];
        }
        self
    }

    #[inline(always)]
    pub fn scaled(mut self, s: f64) -> Self {
        let s = F64x4::splat(s);
        for k in 0..4 {
            self.0[k] = self.0[k] * s;
        }
        self
    }

    /// self + s other
    #[inline(always)]
    pub fn plus_scaled(mut self, s: f64, other: Self) -> Self {
        let s = F64x4::splat(s);
        for k in 0..4 {
            self.0[k] = other.0[k].mul_add(s, self.0[k]);
        }
        self
    }

    /// Four sums of which the sum is the scalar product.
    #[inline(always)]
    fn partial(self, other: Self) -> [f64; 4] {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
        (c.mul_add(r, a * p) + d.mul_add(s, b * q)).to_array()
    }

    /// The scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> f64 {
        let [a, b, c, d] = self.partial(other);
        (a + c) + (b + d)
    }
}

/// The scalar products of six rows with another.
#[inline(always)]
pub(super) fn products(rows: &[Lanes; 6], x: Lanes) -> [f64; 6] {
    let (a, b, c, d) = (rows[0].partial(x), rows[1].partial(x), rows[2].partial(x), rows[3].partial(x));
    let first = F64x4::from_array([a[0], b[0], c[0], d[0]]) + F64x4::from_array([a[2], b[2], c[2], d[2]]);
    let second = F64x4::from_array([a[1], b[1], c[1], d[1]]) + F64x4::from_array([a[3], b[3], c[3], d[3]]);
    let [a, b, c, d] = (first + second).to_array();
    [a, b, c, d, rows[4].dot(x), rows[5].dot(x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_rows() {
        let row = |seed: f64| Row(std::array::from_fn(|k| libm::sin(seed + k as f64)));
        let rows = [0.0, 1.5, 0.3, -2.0, 4.0, 9.0].map(|seed| Lanes::load(&row(seed)));
        let x = Lanes::load(&row(7.0));
        assert_eq!(products(&rows, x), rows.map(|row| row.dot(x)));
        let exact: f64 = row(0.0).0.iter().zip(row(7.0).0).map(|(a, b)| a * b).sum();
        assert!((rows[0].dot(x) - exact).abs() < 1e-14);
        let mut sum = Row::ZERO;
        rows[1].scaled(2.0).plus_scaled(-2.0, rows[1]).plus(rows[2]).store(&mut sum);
        assert_eq!(sum.0, row(0.3).0);
    }
}
