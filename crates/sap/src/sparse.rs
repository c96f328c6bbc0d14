use std::fmt;

use support::Interrupt;

mod nodes;

use crate::jacobian::{Jacobian, Product};
use crate::{Block, BlockCholesky, BlockMut, Constraint, Error, FactorError, SparseMatrix, Structure};
use nodes::Nodes;

/// The structure of sparse matrices: `A` and `J` by their entries, `H` factored as a sparse matrix of blocks.
///
/// Velocities next to each other that meet the same others in `H` make one node of [`BlockCholesky`]. `H` has the blocks of `A` and
/// of the constraints that have pushed since [`reset`](Self::reset) or [`forget`](Self::forget).
///
/// ```
/// use sapwood_sap::{Constraint, Law, Options, Sparse, SparseMatrix, Workspace, solve};
///
/// // Two masses, 3 kg and 1 kg; the first falls at 2 m/s and is stopped.
/// let a = SparseMatrix::from_dense("A", 2, 2, &[3.0, 0.0, 0.0, 1.0])?;
/// let mut sparse = Sparse::new();
/// sparse.reset(&a);
/// sparse.push_jacobian(&[0], &[1.0])?;
/// let limit = Constraint::from(Law::limit(1e-9, 0.0));
///
/// let mut v = [0.0; 2];
/// let mut ws = Workspace::new();
/// solve(&mut sparse, &[limit], &[-2.0, 5.0], &mut v, &Options::default(), &mut ws)?;
/// assert!((ws.impulses()[0] - 6.0).abs() < 1e-7 && v[1] == 5.0);
/// # Ok::<(), sapwood_sap::Error>(())
/// ```
#[derive(Default)]
pub struct Sparse {
    /// The lower triangle of `A` by rows.
    lower: SparseMatrix,
    diagonal: Vec<f64>,
    jacobian: Jacobian,
    /// None after a change of `A` or `J`.
    nodes: Option<Nodes>,
    /// Of every patch of `J`: whether it has pushed.
    was_active: Vec<bool>,
    cholesky: BlockCholesky,
    /// `e J_n` and `J_kᵀ b_k`, over all velocities.
    normal: Vec<f64>,
    change: Vec<f64>,
    interrupt: Interrupt,
}

impl Sparse {
    /// A problem of no velocities.
    pub fn new() -> Sparse {
        Sparse::default()
    }

    /// Starts a problem with this `A`, which is symmetric; only its lower triangle is read. `J` is without rows.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn reset(&mut self, a: &SparseMatrix) {
        let nv = a.rows();
        assert_eq!(nv, a.columns(), "rows and columns of A");
        self.lower = a.lower_triangle();
        self.diagonal.clear();
        self.diagonal.extend((0..nv).map(|i| a.entry(i, i)));
        self.jacobian.reset(nv);
        self.nodes = None;
        for vector in [&mut self.normal, &mut self.change] {
            vector.clear();
            vector.resize(nv, 0.0);
        }
        self.forget();
    }

    /// Appends a constraint to `J`: its nonzero columns, in increasing order, and its values there, row-major
    /// (rows × `columns.len()`). Constraints with the same columns are best pushed one after the other.
    ///
    /// # Errors
    /// [`Error::Value`] if the columns are none, not increasing or out of range, or the values not those of one row or three;
    /// the structure is then unchanged.
    pub fn push_jacobian(&mut self, columns: &[u32], values: &[f64]) -> Result<(), Error> {
        self.nodes = None;
        self.jacobian.push(columns, values)
    }

    /// Forgets which constraints have pushed: the next solve goes as the first did.
    pub fn forget(&mut self) {
        self.was_active.clear();
    }

    /// Solves end with [`Error::Interrupted`] once this is raised.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Names the blocks of `H`; `pushes` says which patches have some now.
    fn couple(&mut self, pushes: impl Fn(&Jacobian, usize) -> bool) {
        let Self { lower, jacobian, nodes, was_active, cholesky, .. } = self;
        let nodes = nodes.get_or_insert_with(|| Nodes::new(lower, jacobian));
        was_active.resize(jacobian.patches().len(), false);
        cholesky.begin(nodes.sizes());
        for block in &nodes.blocks {
            cholesky.couple(block.row, block.column);
        }
        for (patch, was_active) in was_active.iter_mut().enumerate() {
            *was_active |= pushes(jacobian, patch);
            if *was_active {
                let own = nodes.of_patch(patch);
                for (k, i) in own.iter().enumerate() {
                    own[..k].iter().for_each(|j| cholesky.couple(*i, *j));
                }
            }
        }
    }

    /// Couples constraints that a contact's normal impulse bounds with the contact, where that has other columns.
    fn couple_friction(&mut self, constraints: &[Constraint], slopes: &[[f64; 3]]) {
        let Self { jacobian, nodes: Some(nodes), cholesky, .. } = self else { return };
        let mut contact = 0;
        for (patch, of_patch) in jacobian.patches().iter().enumerate() {
            for k in of_patch.constraints.clone() {
                if constraints[k].law.is_contact() {
                    contact = patch;
                } else if slopes[k] != [0.0; 3] && contact != patch {
                    for i in nodes.of_patch(patch) {
                        nodes.of_patch(contact).iter().filter(|j| *j != i).for_each(|j| cholesky.couple(*i, *j));
                    }
                }
            }
        }
    }

    /// Fills the blocks of `H`.
    fn assemble(&mut self, constraints: &[Constraint], hessian: &[Block]) {
        let Self { jacobian, nodes: Some(nodes), cholesky, .. } = self else { return };
        cholesky.analyze();
        for block in &nodes.blocks {
            let BlockMut { row, stride, values, .. } = cholesky.block_mut(block.row, block.column);
            let (down, across) = if row == block.row { (1, stride) } else { (stride, 1) };
            for entry in &nodes.entries[block.entries.clone()] {
                values[entry.row as usize * down + entry.column as usize * across] += entry.value;
            }
        }
        for patch in 0..jacobian.patches().len() {
            if jacobian.patches()[patch].is_active(hessian) {
                let product = jacobian.product(patch, constraints, hessian);
                nodes.add_product(&product, cholesky);
            }
        }
    }

    /// Adds `J_kᵀ b_k e J_n` for every constraint `k` with a slope `b_k`, `n` the normal row of the last contact.
    fn add_friction(&mut self, constraints: &[Constraint], hessian: &[Block], slopes: &[[f64; 3]]) {
        let Self { jacobian, nodes: Some(nodes), cholesky, normal, change, .. } = self else { return };
        let (mut contact, mut stiffness) = (0, 0.0);
        for (patch, of_patch) in jacobian.patches().iter().enumerate() {
            for member in jacobian.members(of_patch, constraints) {
                let k = member.constraint;
                if constraints[k].law.is_contact() {
                    nodes.clear(contact, normal);
                    (contact, stiffness) = (patch, hessian[k].0[5]);
                    member.add_rows(hessian[k].normal_row(), |column| column, normal);
                }
                if slopes[k] == [0.0; 3] || stiffness == 0.0 {
                    continue;
                }
                member.add_rows(slopes[k], |column| column, change);
                for i in nodes.of_patch(patch) {
                    for j in nodes.of_patch(contact) {
                        cholesky.add_outer_product(*i, &change[nodes.rows(*i)], *j, &normal[nodes.rows(*j)]);
                    }
                }
                nodes.clear(patch, change);
            }
        }
        normal.fill(0.0);
    }
}

impl Nodes {
    /// Adds `J_pᵀ G_p J_p` to the blocks of `H`.
    fn add_product(&self, product: &Product<'_>, h: &mut BlockCholesky) {
        let Product { columns, values, stride } = *product;
        for (left, j) in self.runs(columns) {
            let first = self.rows(j).start;
            for (right, i) in self.runs(&columns[left.start..]) {
                let right = left.start + right.start..left.start + right.end;
                let of_row = self.rows(i).start;
                let block = h.block_mut(i, j);
                let (down, across) = if block.row == i { (1, block.stride) } else { (block.stride, 1) };
                for c in left.clone() {
                    let column = (columns[c] - first) * across;
                    for r in right.clone().filter(|r| *r >= c) {
                        block.values[(columns[r] - of_row) * down + column] += values[c * stride + r];
                    }
                }
            }
        }
    }
}

impl Structure for Sparse {
    fn nv(&self) -> usize {
        self.diagonal.len()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.jacobian.rows())
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        self.momentum(x, a_x);
        self.row_velocities(x, j_x);
    }

    fn momentum(&mut self, x: &[f64], a_x: &mut [f64]) {
        for i in 0..self.diagonal.len() {
            let mut sum = self.diagonal[i] * x[i];
            let (columns, values) = self.lower.row(i);
            for (&column, value) in columns.iter().zip(values) {
                let j = column as usize;
                if j < i {
                    sum += value * x[j];
                    a_x[j] += value * x[i];
                }
            }
            a_x[i] = sum;
        }
    }

    fn row_velocities(&mut self, x: &[f64], j_x: &mut [f64]) {
        self.jacobian.multiply(x, j_x);
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        self.jacobian.add_transpose(gamma, out);
    }

    fn factor(&mut self, constraints: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        self.couple(|jacobian, patch| jacobian.patches()[patch].is_active(hessian));
        self.assemble(constraints, hessian);
        self.cholesky.factor_unless(&self.interrupt)
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve(b, x);
    }

    fn factor_unsymmetric(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), FactorError> {
        self.couple(|jacobian, patch| {
            let patch = &jacobian.patches()[patch];
            patch.is_active(hessian) || patch.constraints.clone().any(|k| slopes[k] != [0.0; 3])
        });
        self.couple_friction(constraints, slopes);
        self.assemble(constraints, hessian);
        self.cholesky.make_unsymmetric();
        self.add_friction(constraints, hessian, slopes);
        self.cholesky.factor_unsymmetric_unless(&self.interrupt)
    }

    fn solve_unsymmetric(&mut self, b: &[f64], x: &mut [f64]) {
        self.cholesky.solve_unsymmetric(b, x);
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    fn scale(&mut self, d: &mut [f64]) {
        for (d, a) in d.iter_mut().zip(&self.diagonal) {
            *d = 1.0 / a.sqrt();
        }
    }
}

impl fmt::Debug for Sparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sparse")
            .field("nv", &self.diagonal.len())
            .field("rows", &self.jacobian.rows())
            .finish_non_exhaustive()
    }
}
