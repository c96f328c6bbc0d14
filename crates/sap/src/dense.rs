use std::fmt;
use std::ops::Range;

use crate::cholesky::Cholesky;
use crate::vector::{LANES, axpy, dot, multiply_add};
use crate::{Block, BlockCholesky, Constraint, Error, FactorError, Law, Structure};

/// Constraints one after the other in `J` with the same columns: they share one dense block of `J` and one of `JᵀGJ`.
#[derive(Clone, Debug)]
struct Patch {
    /// Into `columns`.
    columns: Range<usize>,
    /// Rows of `J`.
    rows: Range<usize>,
    /// Where the patch's values start: row by row, each padded with zeros to [`stride`](Self::stride).
    values: usize,
    /// Its constraints.
    constraints: Range<usize>,
}

impl Patch {
    /// The length of a row.
    fn stride(&self) -> usize {
        self.columns.len().next_multiple_of(LANES)
    }

    fn is_active(&self, hessian: &[Block]) -> bool {
        hessian[self.constraints.clone()].iter().any(Block::is_active)
    }
}

/// The structure of matrices: `A` block diagonal, `J` with a dense block per constraint, `H` factored
/// within its profile.
///
/// To set up a problem, [`reset`](Self::reset), then [`set_blocks`](Self::set_blocks) where `A` has blocks, fill them through
/// [`a_block_mut`](Self::a_block_mut), and [`push_jacobian`](Self::push_jacobian) once for each constraint in their order.
/// Memory is reused from problem to problem.
///
/// ```
/// use sapwood_sap::{solve, Constraint, Dense, Limit, Options, Workspace};
///
/// // 3 kg falling at 2 m/s; a limit at v ≥ 0.
/// let mut dense = Dense::new();
/// dense.reset(1);
/// dense.a_block_mut(0)[0] = 3.0;
/// dense.push_jacobian(&[0], &[1.0])?;
/// let limit = Constraint::from(Limit::new(1e-9, 0.0));
///
/// let mut v = [0.0];
/// let mut ws = Workspace::new();
/// solve(&mut dense, &[limit], &[-2.0], &mut v, &Options::default(), &mut ws)?;
/// assert!((ws.impulses()[0] - 6.0).abs() < 1e-7); // 3 kg × 2 m/s
/// # Ok::<(), sapwood_sap::Error>(())
/// ```
pub struct Dense {
    nv: usize,
    /// The rows and columns of each diagonal block of `A`.
    blocks: Vec<Range<usize>>,
    /// Where each block's values start.
    block_values: Vec<usize>,
    /// The blocks one after the other, each column-major, its lower triangle in use.
    a: Vec<f64>,
    patches: Vec<Patch>,
    columns: Vec<usize>,
    /// The patches' rows.
    j: Vec<f64>,
    rows: usize,
    cholesky: Cholesky,
    /// The factors of a matrix that is not symmetric: one block.
    unsymmetric: BlockCholesky,
    /// `e J_n` and `J_kᵀ b_k`, one after the other.
    outer: Vec<f64>,
    /// `x` at a patch's columns, or what is added there.
    local: Vec<f64>,
    /// `J_pᵀ G_p J_p` of a patch, column-major, its lower triangle in use.
    product: Vec<f64>,
}

impl Dense {
    /// A problem of no velocities.
    pub fn new() -> Dense {
        Dense {
            nv: 0,
            blocks: Vec::new(),
            block_values: Vec::new(),
            a: Vec::new(),
            patches: Vec::new(),
            columns: Vec::new(),
            j: Vec::new(),
            rows: 0,
            cholesky: Cholesky::new(),
            unsymmetric: BlockCholesky::new(),
            outer: Vec::new(),
            local: Vec::new(),
            product: Vec::new(),
        }
    }

    /// Starts a problem of `nv` velocities: `A` one block of zeros, `J` without rows.
    pub fn reset(&mut self, nv: usize) {
        self.nv = nv;
        self.rows = 0;
        self.patches.clear();
        self.columns.clear();
        self.j.clear();
        self.blocks.clear();
        if nv > 0 {
            self.blocks.push(0..nv);
        }
        self.place_blocks();
        self.cholesky.resize(nv);
        self.local.resize(nv.next_multiple_of(LANES), 0.0);
    }

    /// Makes `A` block diagonal, its blocks zero. `blocks` are the rows of each, from 0 to `nv` without gaps.
    ///
    /// # Errors
    /// [`Error::Value`] if they are not that; the structure is then unchanged.
    pub fn set_blocks(&mut self, blocks: &[Range<usize>]) -> Result<(), Error> {
        let mut next = 0;
        for block in blocks {
            if block.start != next || block.end <= block.start {
                let message = format!("expected a block that starts at {next} and is not empty, found {block:?}");
                return Err(Error::Value { argument: "blocks", message });
            }
            next = block.end;
        }
        if next != self.nv {
            let message = format!("the blocks end at {next}, expected {}", self.nv);
            return Err(Error::Value { argument: "blocks", message });
        }
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.place_blocks();
        Ok(())
    }

    fn place_blocks(&mut self) {
        self.block_values.clear();
        let mut values = 0;
        for block in &self.blocks {
            self.block_values.push(values);
            values += block.len() * block.len();
        }
        self.a.clear();
        self.a.resize(values, 0.0);
    }

    /// Diagonal block `block` of `A`, column-major. Only its lower triangle is read.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn a_block_mut(&mut self, block: usize) -> &mut [f64] {
        let n = self.blocks[block].len();
        let start = self.block_values[block];
        &mut self.a[start..start + n * n]
    }

    /// Appends a constraint to `J`: its nonzero columns, in increasing order, and its values there, row-major
    /// (rows × `columns.len()`). Constraints with the same columns are best pushed one after the other.
    ///
    /// # Errors
    /// [`Error::Value`] if the columns are none, not increasing or out of range, or the values not those of one row or three;
    /// the structure is then unchanged.
    pub fn push_jacobian(&mut self, columns: &[u32], values: &[f64]) -> Result<(), Error> {
        let increasing = columns.windows(2).all(|pair| pair[0] < pair[1]);
        let in_range = columns.last().is_some_and(|&last| (last as usize) < self.nv);
        if !(increasing && in_range) {
            let message = format!("expected increasing indices below {}, found {columns:?}", self.nv);
            return Err(Error::Value { argument: "columns", message });
        }
        let rows = values.len() / columns.len();
        if values.len() != rows * columns.len() || !matches!(rows, 1 | 3) {
            let message = format!("expected 1 or 3 rows of {} values, found {} values", columns.len(), values.len());
            return Err(Error::Value { argument: "values", message });
        }
        self.extend_patch(columns, rows);
        let stride = columns.len().next_multiple_of(LANES);
        for row in values.chunks_exact(columns.len()) {
            self.j.extend_from_slice(row);
            self.j.resize(self.j.len() + stride - columns.len(), 0.0);
        }
        self.rows += rows;
        Ok(())
    }

    /// Makes room for a constraint's rows in the last patch, or in a new one if the columns differ.
    fn extend_patch(&mut self, columns: &[u32], rows: usize) {
        let same = |patch: &Patch| {
            let shared = &self.columns[patch.columns.clone()];
            shared.len() == columns.len() && shared.iter().zip(columns).all(|(&a, &b)| a == b as usize)
        };
        if !self.patches.last().is_some_and(same) {
            let start = self.columns.len();
            let constraint = self.patches.last().map_or(0, |patch| patch.constraints.end);
            self.columns.extend(columns.iter().map(|&column| column as usize));
            self.patches.push(Patch {
                columns: start..self.columns.len(),
                rows: self.rows..self.rows,
                values: self.j.len(),
                constraints: constraint..constraint,
            });
        }
        if let Some(patch) = self.patches.last_mut() {
            patch.rows.end += rows;
            patch.constraints.end += 1;
        }
    }

    /// Copies `H`, once it is put together, and adds `J_kᵀ b_k e J_n` for every constraint `k` with a slope `b_k`, `n` being the normal
    /// row of the last lagged contact.
    fn assemble_unsymmetric(&mut self, constraints: &[Constraint], hessian: &[Block], slopes: &[[f64; 3]]) {
        let n = self.nv;
        self.unsymmetric.begin([n]);
        self.unsymmetric.analyze();
        let block = self.unsymmetric.block_mut(0, 0);
        let h = self.cholesky.matrix_mut();
        for j in 0..n {
            block.values[j * block.stride + j..j * block.stride + n].copy_from_slice(&h[j * n + j..(j + 1) * n]);
        }
        self.unsymmetric.make_unsymmetric();
        self.outer.resize(2 * n, 0.0);
        let (normal, change) = self.outer.split_at_mut(n);
        for patch in &self.patches {
            let (columns, stride) = (&self.columns[patch.columns.clone()], patch.stride());
            let mut row = patch.values;
            for k in patch.constraints.clone() {
                let end = row + constraints[k].rows() * stride;
                let j = &self.j[row..end];
                row = end;
                if matches!(constraints[k].law, Law::BoundedFriction(_)) {
                    scatter(columns, j, stride, [0.0, 0.0, hessian[k].0[5]], normal);
                }
                if slopes[k] != [0.0; 3] {
                    scatter(columns, j, stride, slopes[k], change);
                    self.unsymmetric.add_outer_product(0, change, 0, normal);
                }
            }
        }
    }

    /// Puts `H` together within its profile.
    fn assemble(&mut self, constraints: &[Constraint], hessian: &[Block]) {
        self.assemble_a(hessian);
        for patch in 0..self.patches.len() {
            if self.patches[patch].is_active(hessian) {
                self.assemble_patch(patch, constraints, hessian);
            }
        }
    }

    /// Puts `A` into the profile, which only active constraints widen.
    fn assemble_a(&mut self, hessian: &[Block]) {
        for block in &self.blocks {
            self.cholesky.couple(block.start, block.clone());
        }
        for patch in &self.patches {
            if patch.is_active(hessian) {
                let columns = &self.columns[patch.columns.clone()];
                self.cholesky.couple(columns[0], columns.iter().copied());
            }
        }
        let h = self.cholesky.zeroed();
        for (block, &start) in self.blocks.iter().zip(&self.block_values) {
            let n = block.len();
            for j in 0..n {
                let column = &self.a[start + j * n + j..start + (j + 1) * n];
                let diagonal = (block.start + j) * (self.nv + 1);
                h[diagonal..diagonal + column.len()].copy_from_slice(column);
            }
        }
    }

    /// Adds `J_pᵀ G_p J_p` of one patch to the matrix to factor.
    fn assemble_patch(&mut self, patch: usize, constraints: &[Constraint], hessian: &[Block]) {
        let patch = &self.patches[patch];
        let columns = &self.columns[patch.columns.clone()];
        let (m, stride) = (columns.len(), patch.stride());
        self.product.clear();
        self.product.resize(m * stride, 0.0);
        let mut row = patch.values;
        for k in patch.constraints.clone() {
            let end = row + constraints[k].rows() * stride;
            if hessian[k].is_active() {
                add_congruence(&hessian[k], &self.j[row..end], stride, &mut self.product);
            }
            row = end;
        }
        let h = self.cholesky.matrix_mut();
        for (a, &column) in columns.iter().enumerate() {
            let target = &mut h[column * self.nv..(column + 1) * self.nv];
            for (&row, value) in columns[a..].iter().zip(&self.product[a * stride + a..a * stride + m]) {
                target[row] += value;
            }
        }
    }
}

/// `product += Jᵀ G J`, its columns from the four rows that hold the diagonal entry on; `j` has one row or three. The rows of `j`
/// and the columns of `product` are `stride` long.
fn add_congruence(g: &Block, j: &[f64], stride: usize, product: &mut [f64]) {
    fn lanes(x: &[f64]) -> &[[f64; LANES]] {
        x.as_chunks().0
    }
    let (j1, rest) = j.split_at(stride);
    // The block of one row has no other entries.
    let (j2, j3) = if rest.is_empty() { (j1, j1) } else { rest.split_at(stride) };
    for (a, column) in product.chunks_exact_mut(stride).enumerate() {
        let [w1, w2, w3] = g.apply([j1[a], j2[a], j3[a]]);
        let from = a / LANES * LANES;
        let (out, _) = column[from..].as_chunks_mut::<LANES>();
        let (r1, r2, r3) = (lanes(&j1[from..]), lanes(&j2[from..]), lanes(&j3[from..]));
        for (((out, r1), r2), r3) in out.iter_mut().zip(r1).zip(r2).zip(r3) {
            for i in 0..LANES {
                out[i] = multiply_add(w3, r3[i], multiply_add(w2, r2[i], multiply_add(w1, r1[i], out[i])));
            }
        }
    }
}

/// Sets `out` to `Σ_a weights_a J_a` of the three rows `j`, `stride` apart, that have entries in `columns`.
fn scatter(columns: &[usize], j: &[f64], stride: usize, weights: [f64; 3], out: &mut [f64]) {
    out.fill(0.0);
    for (row, weight) in j.chunks_exact(stride).zip(weights) {
        columns.iter().zip(row).for_each(|(column, j)| out[*column] += weight * j);
    }
}

impl Structure for Dense {
    fn nv(&self) -> usize {
        self.nv
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        self.momentum(x, a_x);
        self.row_velocities(x, j_x);
    }

    fn momentum(&mut self, x: &[f64], a_x: &mut [f64]) {
        for (block, &start) in self.blocks.iter().zip(&self.block_values) {
            let n = block.len();
            multiply_symmetric(&self.a[start..start + n * n], &x[block.clone()], &mut a_x[block.clone()]);
        }
    }

    fn row_velocities(&mut self, x: &[f64], j_x: &mut [f64]) {
        for patch in &self.patches {
            let columns = &self.columns[patch.columns.clone()];
            let local = &mut self.local[..patch.stride()];
            local[columns.len()..].fill(0.0);
            for (local, &column) in local.iter_mut().zip(columns) {
                *local = x[column];
            }
            let rows = self.j[patch.values..].chunks_exact(patch.stride());
            for (out, row) in j_x[patch.rows.clone()].iter_mut().zip(rows) {
                *out = dot(row, local);
            }
        }
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        for patch in &self.patches {
            let columns = &self.columns[patch.columns.clone()];
            let local = &mut self.local[..patch.stride()];
            local.fill(0.0);
            let rows = self.j[patch.values..].chunks_exact(patch.stride());
            for (&gamma, row) in gamma[patch.rows.clone()].iter().zip(rows) {
                if gamma != 0.0 {
                    axpy(gamma, row, local);
                }
            }
            for (local, &column) in local.iter().zip(columns) {
                out[column] += local;
            }
        }
    }

    fn factor(&mut self, constraints: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        self.cholesky.begin();
        self.assemble(constraints, hessian);
        self.cholesky.factor()
    }

    fn factor_unsymmetric(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), FactorError> {
        self.cholesky.begin();
        self.cholesky.couple(0, 0..self.nv);
        self.assemble(constraints, hessian);
        self.assemble_unsymmetric(constraints, hessian, slopes);
        self.unsymmetric.factor_unsymmetric()
    }

    fn solve_unsymmetric(&mut self, b: &[f64], x: &mut [f64]) {
        self.unsymmetric.solve_unsymmetric(b, x);
    }

    fn determinant_sign(&self) -> f64 {
        self.unsymmetric.determinant_sign()
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve(b, x);
    }

    fn scale(&mut self, d: &mut [f64]) {
        for (block, &start) in self.blocks.iter().zip(&self.block_values) {
            let n = block.len();
            for i in 0..n {
                d[block.start + i] = 1.0 / self.a[start + i * (n + 1)].sqrt();
            }
        }
    }
}

/// `out = A x`, `A` symmetric, column-major, given by its lower triangle.
fn multiply_symmetric(a: &[f64], x: &[f64], out: &mut [f64]) {
    let n = x.len();
    out.fill(0.0);
    for j in 0..n {
        let column = &a[j * n + j..(j + 1) * n];
        axpy(x[j], column, &mut out[j..]);
        out[j] += dot(&column[1..], &x[j + 1..]);
    }
}

impl Default for Dense {
    fn default() -> Dense {
        Dense::new()
    }
}

impl fmt::Debug for Dense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dense")
            .field("nv", &self.nv)
            .field("blocks", &self.blocks)
            .field("rows", &self.rows)
            .field("patches", &self.patches.len())
            .finish_non_exhaustive()
    }
}
