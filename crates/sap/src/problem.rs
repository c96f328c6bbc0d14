//! Problems of matrices, of every kind of constraint.

mod kind;
mod start;

use std::ops::Range;

use support::Interrupt;

pub use kind::{Kind, NEAR_RIGID};
pub use start::Start;

use crate::delassus::Delassus;
use crate::{
    Block, Constraint, ContactSpace, Error, FrictionLaw, Options, Report, SolverParameters, Sparse, SparseMatrix,
    Structure, Workspace, friction_residual, solve,
};

/// The most rows of a problem in contact space: W takes a solve for each.
const MAX_ROWS: usize = SolverParameters::STANDARD.contact_space.many_rows;

/// How the equations of a problem of matrices are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Factorization {
    /// As `Sparse`. Under Coulomb's law contact space is tried before, as long as there are
    /// no more than [`many_rows`](crate::parameters::ContactSpaceParameters::many_rows).
    #[default]
    Auto,
    /// `H = A + JᵀGJ` as a sparse matrix of blocks ([`Sparse`]).
    Sparse,
    /// `J A⁻¹ Jᵀ`, of no more than [`many_rows`](crate::parameters::ContactSpaceParameters::many_rows), without a line search ([`ContactSpace`]).
    ContactSpace,
}

/// The solution of a [`Problem`].
#[derive(Clone, Debug)]
pub struct ProblemSolution {
    /// `v`, n_v.
    pub v: Vec<f64>,
    /// `γ`, of the constraints' rows in the order in which they were pushed.
    pub impulses: Vec<f64>,
    /// `J v`, likewise.
    pub velocities: Vec<f64>,
    /// What the solve did.
    pub report: Report,
}

/// A constraint as it was pushed.
#[derive(Clone, Debug)]
struct Member {
    kind: Kind,
    /// Its share of the Delassus operator.
    w: f64,
    /// Its rows in the order of pushing.
    rows: Range<usize>,
    /// Its columns and, row by row, its entries there.
    columns: Range<usize>,
    values: Range<usize>,
    /// Its rolling and torsional friction.
    spin: Option<usize>,
}

/// A contact problem of matrices: `A`, `v*`, and constraints with their rows of `J`, as [`solve`] has it.
///
/// What a solve finds out about `A` and the pattern of `J` is kept for the next one; nothing kept changes a result.
///
/// ```
/// use sapwood_sap::{Factorization, FrictionLaw, Kind, Options, Problem, SparseMatrix};
///
/// // A block of 2 kg on the ground (rows t1, t2, n) that a motor of at most 1 N s drags along.
/// let a = SparseMatrix::from_dense("A", 3, 3, &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0])?;
/// let mut problem = Problem::new(a, vec![0.0, 0.0, -0.1])?;
/// let identity = SparseMatrix::from_dense("J", 3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let contact = Kind::Contact { mu: 0.5, r_t: None, r_n: None, v_hat: [0.0; 3], normal_impulse: None };
/// problem.push(&[contact], &identity)?;
/// let along = SparseMatrix::from_dense("J", 1, 3, &[1.0, 0.0, 0.0])?;
/// problem.push(&[Kind::Bounded { r: None, v_hat: 3.0, lower: -1.0, upper: 1.0 }], &along)?;
///
/// let solution = problem.solve(FrictionLaw::Coulomb, Factorization::Auto, &Options::default(), None)?;
/// assert!((solution.impulses[3] - 1.0).abs() < 1e-9); // the motor at its bound
/// assert!((solution.v[0] - (1.0 - 0.5 * 0.2) / 2.0).abs() < 1e-3); // less what friction takes
/// # Ok::<(), sapwood_sap::Error>(())
/// ```
pub struct Problem {
    a: SparseMatrix,
    v_star: Vec<f64>,
    delassus: Delassus,
    members: Vec<Member>,
    columns: Vec<u32>,
    values: Vec<f64>,
    rows: usize,
    sparse: Option<Sparse>,
    space: ContactSpace,
    ws: Workspace,
    interrupt: Interrupt,
}

impl Problem {
    /// A problem without constraints.
    ///
    /// # Errors
    /// [`Error::Dimension`] if `A` is not n_v × n_v, [`Error::Value`] if it is not symmetric and positive definite or `v*` not finite.
    pub fn new(a: SparseMatrix, v_star: Vec<f64>) -> Result<Problem, Error> {
        let nv = v_star.len();
        if (a.rows(), a.columns()) != (nv, nv) {
            return Err(Error::Dimension { argument: "A", found: a.rows() * a.columns(), expected: nv * nv });
        }
        check_symmetric(&a)?;
        let delassus = Delassus::new(&a)?;
        let mut problem = Problem {
            a,
            v_star: Vec::new(),
            delassus,
            members: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            rows: 0,
            sparse: None,
            space: ContactSpace::default(),
            ws: Workspace::new(),
            interrupt: Interrupt::default(),
        };
        problem.set_v_star(v_star)?;
        Ok(problem)
    }

    /// Sets `v*`.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::Value`] if it does not have n_v finite entries.
    pub fn set_v_star(&mut self, v_star: Vec<f64>) -> Result<(), Error> {
        start::check("v_star", &v_star, self.a.rows())?;
        self.v_star = v_star;
        Ok(())
    }

    /// `A`.
    pub fn a(&self) -> &SparseMatrix {
        &self.a
    }

    /// `v*`.
    pub fn v_star(&self) -> &[f64] {
        &self.v_star
    }

    /// The constraints in the order of pushing.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = Kind> {
        self.members.iter().map(|member| member.kind)
    }

    /// A row of `J` in the order of pushing: columns, ascending, and entries there.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let member = &self.members[self.members.partition_point(|member| member.rows.end <= row)];
        let (columns, k) = (&self.columns[member.columns.clone()], row - member.rows.start);
        (columns, &self.values[member.values.clone()][k * columns.len()..(k + 1) * columns.len()])
    }

    /// The number of rows of `J`.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Solves end with [`Error::Interrupted`] once this is raised.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Appends constraints; `j` has their rows one after the other. The first of them has the place that is returned, the others follow.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::Value`] if rows do not fit, a number is outside its domain, or friction does not belong to a
    /// contact or belongs to one that has some. Nothing is appended then.
    pub fn push(&mut self, kinds: &[Kind], j: &SparseMatrix) -> Result<usize, Error> {
        let (nv, rows) = (self.a.rows(), kinds.iter().map(Kind::rows).sum());
        if j.rows() != rows || j.columns() != nv {
            return Err(Error::Dimension { argument: "J", found: j.rows() * j.columns(), expected: rows * nv });
        }
        if nv == 0 && !kinds.is_empty() {
            return Err(Error::Dimension { argument: "v_star", found: 0, expected: 1 });
        }
        let first = self.members.len();
        for (k, kind) in kinds.iter().enumerate() {
            kind.check()?;
            if let Kind::SpinFriction { contact, .. } = kind {
                let of_it = |kind: &Kind| matches!(kind, Kind::SpinFriction { contact: other, .. } if other == contact);
                self.check_spin(*contact, kinds[..k].iter().any(of_it))?;
            }
        }
        let mut row = 0;
        for kind in kinds {
            self.push_one(*kind, j, row);
            row += kind.rows();
        }
        self.sparse = None;
        Ok(first)
    }

    fn check_spin(&self, contact: usize, is_taken: bool) -> Result<(), Error> {
        let message = match self.members.get(contact) {
            Some(Member { kind: Kind::Contact { .. }, spin: None, .. }) if !is_taken => return Ok(()),
            Some(Member { kind: Kind::Contact { .. }, .. }) => {
                format!("contact {contact} has rolling and torsional friction: expected one that has none")
            }
            Some(_) => {
                format!("constraint {contact} is not a contact: rolling and torsional friction belong to contacts")
            }
            None => format!("there is no constraint {contact}: expected a contact below {}", self.members.len()),
        };
        Err(Error::Value { argument: "contact", message })
    }

    /// Appends a constraint with the rows of `j` from `row` on.
    fn push_one(&mut self, kind: Kind, j: &SparseMatrix, row: usize) {
        let rows = row..row + kind.rows();
        let columns = self.columns.len();
        for row in rows.clone() {
            self.columns.extend_from_slice(j.row(row).0);
        }
        if rows.len() > 1 {
            self.columns[columns..].sort_unstable();
            let mut kept = columns;
            for k in columns..self.columns.len() {
                if kept == columns || self.columns[kept - 1] != self.columns[k] {
                    self.columns[kept] = self.columns[k];
                    kept += 1;
                }
            }
            self.columns.truncate(kept);
        }
        if self.columns.len() == columns {
            self.columns.push(0);
        }
        let columns = columns..self.columns.len();
        let values = self.values.len();
        for row in rows.clone() {
            let start = self.values.len();
            self.values.resize(start + columns.len(), 0.0);
            let (own, entries) = j.row(row);
            for (column, value) in own.iter().zip(entries) {
                if let Ok(k) = self.columns[columns.clone()].binary_search(column) {
                    self.values[start + k] = *value;
                }
            }
        }
        let values = values..self.values.len();
        let w = self.delassus.share(&self.columns[columns.clone()], &self.values[values.clone()]);
        if let Kind::SpinFriction { contact, .. } = kind {
            self.members[contact].spin = Some(self.members.len());
        }
        let rows = self.rows..self.rows + rows.len();
        self.rows = rows.end;
        self.members.push(Member { kind, w, rows, columns, values, spin: None });
    }

    /// Solves the problem, from `v*` or from `start`.
    ///
    /// [`Options::friction`] and [`Options::expects_guess`] are set by `law` and `start`.
    ///
    /// # Errors
    /// Those of [`solve`]; [`Error::Value`] if the law lacks a normal impulse, or a near-rigid `R` is not there as nothing moves, or contact space is asked for with too
    /// many rows, [`Error::ContactSpace`] if its iteration does not converge.
    pub fn solve(
        &mut self,
        law: FrictionLaw,
        factorization: Factorization,
        options: &Options,
        start: Option<&Start<'_>>,
    ) -> Result<ProblemSolution, Error> {
        if let Some(start) = start {
            start.check(self.v_star.len(), self.rows)?;
        }
        let order = self.order();
        let constraints = self.constraints(&order, law, start)?;
        let expects_guess = start.is_some();
        let options = Options { friction: law, expects_guess, ..*options };
        let v = start.map_or(&self.v_star[..], |start| start.v).to_vec();
        let mut sparse = self.sparse.take().map_or_else(|| self.make_sparse(&order), Ok)?;
        sparse.set_interrupt(self.interrupt.clone());
        sparse.forget();
        let solved = self.solve_with(&mut sparse, &constraints, v, factorization, &options);
        self.sparse = Some(sparse);
        let mut solution = solved?;
        if law == FrictionLaw::Lagged {
            solution.report.friction_residual =
                friction_residual(&constraints, &solution.velocities, &solution.impulses);
        }
        self.put_in_order(&order, &mut solution);
        Ok(solution)
    }

    /// The constraints as the solver has them: friction of contacts behind its contact.
    fn order(&self) -> Vec<usize> {
        let contacts = |k: &usize| !matches!(self.members[*k].kind, Kind::SpinFriction { .. });
        (0..self.members.len()).filter(contacts).flat_map(|k| std::iter::once(k).chain(self.members[k].spin)).collect()
    }

    fn constraints(
        &self,
        order: &[usize],
        law: FrictionLaw,
        start: Option<&Start<'_>>,
    ) -> Result<Vec<Constraint>, Error> {
        let mut normal_impulse = 0.0;
        order
            .iter()
            .map(|k| {
                let member = &self.members[*k];
                let kind = member.kind.complete(member.w)?;
                if let Kind::Contact { normal_impulse: given, .. } = kind {
                    let is_bound = law != FrictionLaw::Sap || member.spin.is_some();
                    let started = start.and_then(|start| start.normal_impulse(&member.rows));
                    normal_impulse = match started.or(given) {
                        Some(n) => n,
                        None if is_bound && law != FrictionLaw::Coulomb => return Err(start::lacks_impulse(*k, law)),
                        None => kind.normal_impulse_alone(member.w, self.free_normal_velocity(member)),
                    };
                }
                // Constraints that nothing moves are alone whatever w is.
                let w = if member.w > 0.0 { member.w } else { 1.0 };
                let constraint = kind.law(law, normal_impulse, w);
                let free = start.and_then(|start| start.free_velocity(&constraint, &member.rows));
                Ok(free.map_or(constraint, |free| constraint.with_free_velocity(free)))
            })
            .collect()
    }

    /// The third row of `J v*` of a constraint.
    fn free_normal_velocity(&self, member: &Member) -> f64 {
        let columns = &self.columns[member.columns.clone()];
        let row = &self.values[member.values.clone()][2 * columns.len()..];
        columns.iter().zip(row).map(|(column, j)| j * self.v_star[*column as usize]).sum()
    }

    fn make_sparse(&self, order: &[usize]) -> Result<Sparse, Error> {
        let mut sparse = Sparse::new();
        sparse.reset(&self.a);
        for (columns, values) in self.jacobian(order) {
            sparse.push_jacobian(columns, values)?;
        }
        Ok(sparse)
    }

    fn jacobian(&self, order: &[usize]) -> impl Iterator<Item = (&[u32], &[f64])> {
        order.iter().map(|k| {
            let member = &self.members[*k];
            (&self.columns[member.columns.clone()], &self.values[member.values.clone()])
        })
    }

    /// Solves in contact space where that is asked for or worth a try, else by Newton's method in all velocities.
    fn solve_with(
        &mut self,
        structure: &mut Sparse,
        constraints: &[Constraint],
        mut v: Vec<f64>,
        factorization: Factorization,
        options: &Options,
    ) -> Result<ProblemSolution, Error> {
        let is_asked_for = factorization == Factorization::ContactSpace;
        let is_coulomb = options.friction == FrictionLaw::Coulomb;
        let mut spent = 0;
        if is_asked_for && self.rows > MAX_ROWS {
            let (rows, most) = (self.rows, MAX_ROWS);
            let message = format!("J has {rows} rows: contact space is for at most {most}, expected auto or sparse");
            return Err(Error::Value { argument: "factorization", message });
        }
        let is_tried = factorization == Factorization::Auto && is_coulomb && (1..=MAX_ROWS).contains(&self.rows);
        if is_asked_for || is_tried {
            match self.solve_in_contact_space(structure, constraints, options)? {
                Ok(solution) => return Ok(solution),
                Err(iterations) if is_asked_for => return Err(Error::ContactSpace { iterations }),
                Err(iterations) => spent = iterations,
            }
        }
        let factorization_budget = options.factorization_budget.map(|budget| budget.saturating_sub(spent));
        let options = Options { factorization_budget, ..*options };
        let mut report = solve(structure, constraints, &self.v_star, &mut v, &options, &mut self.ws)?;
        report.iterations += spent;
        let (impulses, velocities) = (self.ws.impulses().to_vec(), self.ws.velocities().to_vec());
        Ok(ProblemSolution { v, impulses, velocities, report })
    }

    /// The solution, or the iterations that did not find it.
    fn solve_in_contact_space(
        &mut self,
        structure: &mut Sparse,
        constraints: &[Constraint],
        options: &Options,
    ) -> Result<Result<ProblemSolution, usize>, Error> {
        let (nv, rows) = (self.v_star.len(), self.rows);
        let factored = structure.factor(constraints, &vec![Block::ZERO; constraints.len()]);
        if self.interrupt.is_raised() {
            return Err(Error::Interrupted);
        }
        factored.map_err(|source| Error::Factorization { iteration: 0, source })?;
        let (mut unit, mut row) = (vec![0.0; rows], vec![0.0; rows]);
        let (mut push, mut response) = (vec![0.0; nv], vec![0.0; nv]);
        let mut w = vec![0.0; rows * rows];
        let mut constraints = constraints.to_vec();
        let mut first = 0;
        for constraint in &mut constraints {
            let own = first..first + constraint.rows();
            first = own.end;
            let mut share = 0.0;
            for k in own.clone() {
                unit[k] = 1.0;
                push.fill(0.0);
                structure.add_transpose(&unit, &mut push);
                unit[k] = 0.0;
                structure.solve(&push, &mut response);
                structure.row_velocities(&response, &mut row);
                w[k * rows..][..rows].copy_from_slice(&row);
                share += row[k] / own.len() as f64;
            }
            if share > 0.0 {
                *constraint = constraint.with_delassus(share);
            }
        }
        self.space.start(&constraints, &w);
        let (mut momentum, mut free) = (vec![0.0; nv], vec![0.0; rows]);
        structure.products(&self.v_star, &mut momentum, &mut free);
        let energy = self.v_star.iter().zip(&momentum).map(|(v, p)| v * p).sum();
        let report = match self.space.solve(&constraints, &free, energy, options) {
            Ok(report) => report,
            Err(failure) => return Ok(Err(failure.iterations)),
        };
        push.fill(0.0);
        structure.add_transpose(self.space.balancing_impulses(), &mut push);
        structure.solve(&push, &mut response);
        let v = self.v_star.iter().zip(&response).map(|(v, change)| v + change).collect();
        let (impulses, velocities) = (self.space.impulses().to_vec(), self.space.velocities().to_vec());
        Ok(Ok(ProblemSolution { v, impulses, velocities, report }))
    }

    /// Puts rows into the order of pushing.
    fn put_in_order(&self, order: &[usize], solution: &mut ProblemSolution) {
        if order.is_sorted() {
            return;
        }
        for rows in [&mut solution.impulses, &mut solution.velocities] {
            let solved = rows.clone();
            let mut from = 0;
            for k in order {
                let own = self.members[*k].rows.clone();
                rows[own.clone()].copy_from_slice(&solved[from..from + own.len()]);
                from += own.len();
            }
        }
    }
}

fn check_symmetric(a: &SparseMatrix) -> Result<(), Error> {
    let diagonal: Vec<f64> = (0..a.rows()).map(|i| a.entry(i, i).abs()).collect();
    for i in 0..a.rows() {
        let (columns, values) = a.row(i);
        for (&j, &value) in columns.iter().zip(values) {
            let mirrored = a.entry(j as usize, i);
            let scale = (diagonal[i] * diagonal[j as usize]).sqrt();
            if (value - mirrored).abs() > SolverParameters::STANDARD.factorization.asymmetry * scale {
                let message =
                    format!("expected a symmetric matrix, found A[{i}, {j}] = {value}, A[{j}, {i}] = {mirrored}");
                return Err(Error::Value { argument: "A", message });
            }
        }
    }
    Ok(())
}
