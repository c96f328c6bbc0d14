use std::fmt;
use std::ops::Range;

use support::Interrupt;

use crate::cholesky::Cholesky;
use crate::jacobian::{Jacobian, Product};
use crate::vector::{axpy, dot};
use crate::{Block, BlockCholesky, Constraint, Error, FactorError, Structure};

/// The structure of matrices: `A` block diagonal, `J` with a dense block per constraint, `H` factored
/// within its profile.
///
/// To set up a problem, [`reset`](Self::reset), then [`set_blocks`](Self::set_blocks) where `A` has blocks, fill them through
/// [`a_block_mut`](Self::a_block_mut), and [`push_jacobian`](Self::push_jacobian) once for each constraint in their order.
/// Memory is reused from problem to problem.
///
/// ```
/// use sapwood_sap::{Constraint, Dense, Law, Options, Workspace, solve};
///
/// // 3 kg falling at 2 m/s; a limit at v ≥ 0.
/// let mut dense = Dense::new();
/// dense.reset(1);
/// dense.a_block_mut(0)[0] = 3.0;
/// dense.push_jacobian(&[0], &[1.0])?;
/// let limit = Constraint::from(Law::limit(1e-9, 0.0));
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
    jacobian: Jacobian,
    cholesky: Cholesky,
    /// The factors of a matrix that is not symmetric: one block.
    unsymmetric: BlockCholesky,
    /// `e J_n` and `J_kᵀ b_k`, one after the other.
    outer: Vec<f64>,
    interrupt: Interrupt,
}

impl Dense {
    /// A problem of no velocities.
    pub fn new() -> Dense {
        Dense {
            nv: 0,
            blocks: Vec::new(),
            block_values: Vec::new(),
            a: Vec::new(),
            jacobian: Jacobian::default(),
            cholesky: Cholesky::new(),
            unsymmetric: BlockCholesky::new(),
            outer: Vec::new(),
            interrupt: Interrupt::default(),
        }
    }

    /// Starts a problem of `nv` velocities: `A` one block of zeros, `J` without rows.
    pub fn reset(&mut self, nv: usize) {
        self.nv = nv;
        self.jacobian.reset(nv);
        self.blocks.clear();
        if nv > 0 {
            self.blocks.push(0..nv);
        }
        self.place_blocks();
        self.cholesky.resize(nv);
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
        self.jacobian.push(columns, values)
    }

    /// Solves end with [`Error::Interrupted`] once this is raised.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
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
        for patch in self.jacobian.patches() {
            for member in self.jacobian.members(patch, constraints) {
                let k = member.constraint;
                if constraints[k].law.is_contact() {
                    normal.fill(0.0);
                    member.add_rows(hessian[k].normal_row(), |column| column, normal);
                }
                if slopes[k] != [0.0; 3] {
                    change.fill(0.0);
                    member.add_rows(slopes[k], |column| column, change);
                    self.unsymmetric.add_outer_product(0, change, 0, normal);
                }
            }
        }
    }

    /// Puts `H` together within its profile.
    fn assemble(&mut self, constraints: &[Constraint], hessian: &[Block]) {
        self.assemble_a(hessian);
        for patch in 0..self.jacobian.patches().len() {
            if self.jacobian.patches()[patch].is_active(hessian) {
                self.assemble_patch(patch, constraints, hessian);
            }
        }
    }

    /// Puts `A` into the profile, which only active constraints widen.
    fn assemble_a(&mut self, hessian: &[Block]) {
        for block in &self.blocks {
            self.cholesky.couple(block.start, block.clone());
        }
        for patch in self.jacobian.patches() {
            if patch.is_active(hessian) {
                let columns = self.jacobian.columns(patch);
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
        let Product { columns, values, stride } = self.jacobian.product(patch, constraints, hessian);
        let h = self.cholesky.matrix_mut();
        for (a, &column) in columns.iter().enumerate() {
            let target = &mut h[column * self.nv..(column + 1) * self.nv];
            for (&row, value) in columns[a..].iter().zip(&values[a * stride + a..]) {
                target[row] += value;
            }
        }
    }
}

impl Structure for Dense {
    fn nv(&self) -> usize {
        self.nv
    }

    fn rows(&self) -> Option<usize> {
        Some(self.jacobian.rows())
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
        self.jacobian.multiply(x, j_x);
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        self.jacobian.add_transpose(gamma, out);
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

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve(b, x);
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
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
            .field("rows", &self.jacobian.rows())
            .field("patches", &self.jacobian.patches().len())
            .finish_non_exhaustive()
    }
}
