//! The factor of small matrices in whole registers.

use spatial::{F64x4, Real};

use crate::vector::{LANES, multiply_add};
use crate::{Block, FactorError};

/// `H = Lᵀ D L` of a symmetric positive definite matrix of few rows.
///
/// A robot has a few dozen degrees of freedom. What [`BlockCholesky`](crate::BlockCholesky) saves there in operations it loses in
/// looking for them. Rows are eliminated from the last to the first, as in trees from the leaves to the root: what is zero between
/// limbs stays zero (RBDA §6.5) and is skipped, four rows at a time.
///
/// ```
/// let mut h = sap::SmallCholesky::new();
/// let stride = sap::SmallCholesky::MOST;
/// let rows = h.start(2);
/// rows[0] = 2.0;
/// rows[stride..stride + 2].copy_from_slice(&[1.0, 3.0]);
/// h.factor().unwrap();
///
/// let mut x = [0.0; 2];
/// h.solve(&[4.0, 7.0], &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SmallCholesky {
    n: usize,
    /// The lower triangle of `H`, then the rows of `D L`, up to the diagonal's register; what is left of it has no meaning. Ones on
    /// the diagonal fill the last register up.
    rows: Vec<Row>,
    /// `1/D`
    inverses: Vec<Register>,
}

type Row = [Register; SmallCholesky::MOST / LANES];
type Register = [f64; LANES];

const ZEROS: Row = [[0.0; LANES]; SmallCholesky::MOST / LANES];

impl SmallCholesky {
    /// The most rows.
    pub const MOST: usize = 36;

    /// A matrix of size 0.
    pub fn new() -> SmallCholesky {
        SmallCholesky::default()
    }

    /// Starts a matrix of `n` rows, its values arbitrary, and returns it: rows of [`MOST`](Self::MOST) numbers, to be set up to the
    /// diagonal.
    ///
    /// # Panics
    /// If `n` is greater than [`MOST`](Self::MOST).
    pub fn start(&mut self, n: usize) -> &mut [f64] {
        assert!(n <= Self::MOST, "{n} rows, expected at most {}", Self::MOST);
        self.n = n;
        self.rows.resize(n.next_multiple_of(LANES), ZEROS);
        for (i, row) in self.rows.iter_mut().enumerate().skip(n) {
            *row = ZEROS;
            row[i / LANES][i % LANES] = 1.0;
        }
        self.rows_mut()
    }

    /// The rows, those that fill the last register up included.
    pub fn rows_mut(&mut self) -> &mut [f64] {
        self.rows.as_flattened_mut().as_flattened_mut()
    }

    /// Adds `Jᵀ G J`, for three rows of `J` in [`MOST`](Self::MOST) numbers each, those from `n` on zero.
    pub fn add(&mut self, j: &[[f64; SmallCholesky::MOST]; 3], block: &Block) {
        let [g11, g12, g13, g22, g23, g33] = block.0.map(F64x4::splat);
        let j = j.each_ref().map(|row| row.as_chunks().0);
        let (blocks, _) = self.rows.as_chunks_mut::<LANES>();
        for (last, rows) in blocks.iter_mut().enumerate() {
            // The limbs that have no share in a contact.
            if j.iter().all(|row| row[last] == [0.0; LANES]) {
                continue;
            }
            let [x, y, z] = [0, 1, 2].map(|k| F64x4::from_array(j[k][last]));
            let shares = [
                g13.mul_add(z, g12.mul_add(y, g11 * x)),
                g23.mul_add(z, g22.mul_add(y, g12 * x)),
                g33.mul_add(z, g23.mul_add(y, g13 * x)),
            ];
            add_block(&shares.map(F64x4::to_array), j, rows, last);
        }
    }

    /// Replaces the matrix by its factor.
    ///
    /// # Errors
    /// If it is not numerically positive definite: the row whose pivot is not positive.
    pub fn factor(&mut self) -> Result<(), FactorError> {
        let SmallCholesky { rows, inverses, .. } = self;
        inverses.resize(rows.len() / LANES, [0.0; LANES]);
        for (last, inverse) in inverses.iter_mut().enumerate().rev() {
            let (rest, pivots) = rows.split_at_mut(last * LANES);
            let Some(pivots) = pivots.first_chunk_mut::<LANES>() else { break };
            *inverse = eliminate_square(pivots, last)?;
            let (blocks, _) = rest.as_chunks_mut::<LANES>();
            for (register, rows) in blocks.iter_mut().enumerate() {
                if pivots.iter().all(|pivot| pivot[register] == [0.0; LANES]) {
                    continue;
                }
                let shares: [Register; LANES] = std::array::from_fn(|k| {
                    (F64x4::from_array(pivots[k][register]) * F64x4::splat(-inverse[k])).to_array()
                });
                add_block(&shares, pivots.each_ref().map(|row| &row[..]), rows, register);
            }
        }
        Ok(())
    }

    /// `x = H⁻¹ b` with the last factor.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let mut left = ZEROS;
        left.as_flattened_mut()[..self.n].copy_from_slice(b);
        let (rows, _) = self.rows.as_chunks::<LANES>();
        for (last, (rows, inverse)) in rows.iter().zip(&self.inverses).enumerate().rev() {
            let mut own = left[last];
            for k in (0..LANES).rev() {
                own[k] *= inverse[k];
                for i in 0..k {
                    own[i] = multiply_add(-own[k], rows[k][last][i], own[i]);
                }
            }
            left[last] = own;
            add_combination(&own.map(|x| -x), rows.each_ref().map(|row| &row[..]), &mut left, last);
        }
        for (last, (rows, inverse)) in rows.iter().zip(&self.inverses).enumerate() {
            let sums = [0, 1, 2, 3].map(|k| dot(&rows[k], &left, last));
            let own = &mut left[last];
            for k in 0..LANES {
                let sum = (0..k).fold(sums[k], |sum, i| multiply_add(rows[k][last][i], own[i], sum));
                own[k] = multiply_add(-inverse[k], sum, own[k]);
            }
        }
        x.copy_from_slice(&left.as_flattened()[..self.n]);
    }
}

/// The product of two vectors over the registers before `end`.
#[inline(always)]
fn dot(a: &Row, b: &Row, end: usize) -> f64 {
    let mut sum = F64x4::ZERO;
    for (a, b) in a[..end].iter().zip(&b[..end]) {
        sum = F64x4::from_array(*a).mul_add(F64x4::from_array(*b), sum);
    }
    let sum = sum.to_array();
    (sum[0] + sum[1]) + (sum[2] + sum[3])
}

/// `y += Σ_k a_k x_k` over the registers before `end`.
#[inline(always)]
fn add_combination<const K: usize>(a: &[f64; K], x: [&[Register]; K], y: &mut Row, end: usize) {
    let a = a.map(F64x4::splat);
    let x = x.map(|x| &x[..end]);
    for (r, y) in y[..end].iter_mut().enumerate() {
        let mut sum = F64x4::from_array(*y);
        for k in 0..K {
            sum = F64x4::from_array(x[k][r]).mul_add(a[k], sum);
        }
        *y = sum.to_array();
    }
}

/// Adds `Σ_k x_k y_k` to four rows up to register `last`, the `x_k` having an entry for each of the rows.
#[inline(always)]
fn add_block<const K: usize>(x: &[Register; K], y: [&[Register]; K], rows: &mut [Row; LANES], last: usize) {
    for (i, row) in rows.iter_mut().enumerate() {
        add_combination(&std::array::from_fn(|k| x[k][i]), y, row, last + 1);
    }
}

/// Eliminates four rows from each other, the last first, of register `last` on the diagonal; returns the inverse pivots.
#[inline(always)]
fn eliminate_square(rows: &mut [Row; LANES], last: usize) -> Result<Register, FactorError> {
    let mut inverse = [0.0; LANES];
    for k in (0..LANES).rev() {
        let (above, pivot) = rows.split_at_mut(k);
        let pivot = &pivot[0];
        let d = pivot[last][k];
        if !(d > 0.0 && d.is_finite()) {
            return Err(FactorError { row: last * LANES + k });
        }
        inverse[k] = 1.0 / d;
        for (i, row) in above.iter_mut().enumerate() {
            let share = -pivot[last][i] * inverse[k];
            add_combination(&[share], [&pivot[..]], row, last + 1);
        }
    }
    Ok(inverse)
}
