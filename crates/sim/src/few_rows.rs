//! The contact problem of an island whose constraints have few rows: on the rows alone.
//!
//! Newton's method in all velocities factors and multiplies along whole trees in every iteration. A robot in motion meets the ground in a
//! few points, and each of them knows of the trees no more than how it moves itself and the others: the Delassus operator
//! W = J A⁻¹ Jᵀ. That costs each point its way to the root, once; iterations are then on matrices of a few rows (`sap::Delassus`: Newton's
//! method on W, and where it does not converge what is done in all velocities), and one pass down the trees gives the velocities.

use multibody::Loads;
use sap::{Constraint, Criterion, Delassus, Options, Report, Structure, Workspace};
use spatial::{F64x4, Real, Vec3, Wrench};

use crate::coupled::Coupled;
use crate::link::{Link, Term};

/// Scratch of such a problem, reused from step to step.
#[derive(Default)]
pub(crate) struct FewRows {
    delassus: Delassus,
    /// The constraints that may push, ascending, where the rows of each start among theirs, and their laws.
    chosen: Vec<Choice>,
    chosen_before: Vec<Choice>,
    laws: Vec<Constraint>,
    /// u and D⁻¹u (`multibody::Factor::carry`) of the rows of every chosen constraint side by side: by degree of freedom, then by
    /// constraint.
    carried: Vec<[F64x4; 2]>,
    /// The chosen constraints whose loads pass a node, a bit each.
    passing: Vec<u64>,
    /// The blocks of W by rows: of each chosen constraint with those up to itself.
    products: Vec<[F64x4; 3]>,
    /// J v*, of all rows and of those that are chosen.
    free: Vec<f64>,
    chosen_free: Vec<f64>,
    /// J v of the chosen rows where the choice before has led, then λ.
    lambda: Vec<f64>,
    /// v − v*, and scratch before.
    change: Vec<f64>,
    z: Vec<f64>,
    z_star: Vec<f64>,
    /// Factorisations and trials of line searches of solves that led to nothing.
    pub spent: (usize, usize),
    /// The solution: γ and J v.
    pub impulses: Vec<f64>,
    pub velocities: Vec<f64>,
}

/// A constraint that may push.
#[derive(Clone, Copy)]
struct Choice {
    /// Its place among the constraints.
    constraint: usize,
    /// The first of its rows among all rows, and among those chosen.
    row: usize,
    chosen_row: usize,
    rows: usize,
}

/// Nodes from which on it pays: with 8 and 7 (gymnasium's ant, dm_control's walker) it takes as long as a factor of all velocities, or a
/// little longer, with 13 and 23 (the humanoid and the dog) half to two thirds of the time of a frame.
const MANY_NODES: usize = 12;

/// Rows up to which it pays: those of six contacts.
const MOST_ROWS: usize = 18;

/// Choices in one solve: each time those that push although they were not chosen join in.
const CHOICES: usize = 4;

impl FewRows {
    /// Solves the problem and returns what the solve did, the velocities in `v`; none where the whole problem is to be solved: where
    /// there are few nodes or is a way that is as short, where no constraint pushes at `v_star` or is expected to, or too many are,
    /// and where the rows alone have led to no solution.
    pub fn solve(
        &mut self,
        structure: &mut Coupled<'_>,
        laws: &[Constraint],
        v_star: &[f64],
        v: &mut [f64],
        options: &Options,
        ws: &mut Workspace,
    ) -> Option<Report> {
        self.spent = (0, 0);
        if structure.nodes() < MANY_NODES || structure.is_about_one_point() {
            return None;
        }
        let rows = laws.iter().map(Constraint::rows).sum();
        for vector in [&mut self.free, &mut self.impulses, &mut self.velocities] {
            vector.resize(rows, 0.0);
        }
        structure.row_velocities(v_star, &mut self.free);
        self.velocities.copy_from_slice(&self.free);
        self.chosen.clear();
        if !self.choose(laws)? {
            return None;
        }
        self.change.resize(v_star.len(), 0.0);
        structure.momentum(v_star, &mut self.change);
        let energy = v_star.iter().zip(&self.change).map(|(v, p)| v * p).sum();
        for _ in 0..CHOICES {
            let report = self.solve_chosen(structure, energy, options, ws)?;
            self.spent.0 += report.iterations;
            self.spent.1 += report.line_search_evaluations;
            // A path to Coulomb's law is followed on the whole problem.
            if report.criterion == Criterion::Passes || !self.agrees(ws, options) {
                return None;
            }
            if !self.choose(laws)? {
                self.write_solution(ws);
                v.iter_mut().zip(v_star).zip(&self.change).for_each(|((v, v_star), change)| *v = v_star + change);
                return Some(self.with_spent(Report { iterations: 0, line_search_evaluations: 0, ..report }));
            }
        }
        None
    }

    /// The options of a solve after those that led to nothing: they have spent from its budget.
    pub fn after_spent(&self, options: &Options) -> Options {
        let factorization_budget = options.factorization_budget.map(|budget| budget.saturating_sub(self.spent.0));
        Options { factorization_budget, ..*options }
    }

    /// The report of a solve after those that led to nothing.
    pub fn with_spent(&self, report: Report) -> Report {
        let (iterations, evaluations) = self.spent;
        Report {
            iterations: report.iterations + iterations,
            line_search_evaluations: report.line_search_evaluations + evaluations,
            ..report
        }
    }

    /// Chooses the constraints that push at the velocities of rows, those that are chosen already included; returns whether there are
    /// any that were not, or none if they are too many.
    fn choose(&mut self, laws: &[Constraint]) -> Option<bool> {
        let before = self.chosen.len();
        std::mem::swap(&mut self.chosen, &mut self.chosen_before);
        self.chosen.clear();
        let mut known = self.chosen_before.iter().map(|choice| choice.constraint).peekable();
        let (mut row, mut chosen_row) = (0, 0);
        for (constraint, law) in laws.iter().enumerate() {
            let rows = law.rows();
            let is_known = known.next_if_eq(&constraint).is_some();
            // Rolling and torsional friction stay with their contact, which bounds them.
            let follows = matches!(law.law, sap::Law::Spin(_));
            let last = self.chosen.last().map(|choice| choice.constraint + 1);
            let pushes = || {
                if before == 0 && law.expects_to_push() {
                    return true;
                }
                let (mut gamma, mut hessian) = ([0.0; 3], sap::Block::ZERO);
                law.evaluate(&self.velocities[row..row + rows], &mut gamma[..rows], &mut hessian);
                gamma != [0.0; 3]
            };
            if is_known || (if follows { last == Some(constraint) } else { pushes() }) {
                self.chosen.push(Choice { constraint, row, chosen_row, rows });
                chosen_row += rows;
                if chosen_row > MOST_ROWS {
                    return None;
                }
            }
            row += rows;
        }
        if self.chosen.len() == before {
            return Some(false);
        }
        self.laws.clear();
        self.chosen_free.clear();
        for choice in &self.chosen {
            self.laws.push(laws[choice.constraint]);
            self.chosen_free.extend_from_slice(&self.free[choice.row..choice.row + choice.rows]);
        }
        Some(true)
    }

    /// Solves the problem of the chosen constraints, and sets the change and the velocities of all rows.
    fn solve_chosen(
        &mut self,
        structure: &mut Coupled<'_>,
        energy: f64,
        options: &Options,
        ws: &mut Workspace,
    ) -> Option<Report> {
        self.carry(structure);
        self.multiply(structure);
        self.lambda.resize(self.chosen_free.len(), 0.0);
        let Self { delassus, laws, chosen_free, lambda, .. } = self;
        let report = match delassus.settle(laws, chosen_free, energy, lambda, options, ws) {
            Ok(report) => report,
            Err(steps) => {
                self.spent.0 += steps;
                self.spent.1 += steps;
                self.minimise(energy, &self.after_spent(options), ws)?
            }
        };
        self.respond();
        structure.respond(&mut self.change);
        structure.rows_of_motions(&self.change, &mut self.velocities);
        self.velocities.iter_mut().zip(&self.free).for_each(|(v, free)| *v += free);
        Some(report)
    }

    /// Solves the problem of the chosen constraints by passes.
    fn minimise(&mut self, energy: f64, options: &Options, ws: &mut Workspace) -> Option<Report> {
        self.delassus.factor(&self.laws, &self.chosen_free, energy);
        self.z_star.clear();
        self.z_star.extend_from_slice(self.delassus.free());
        self.z.resize(self.z_star.len(), 0.0);
        if self.chosen_before.is_empty() {
            // The first choice starts at v*: what the trees did before, or were foreseen to do, is no guess of what the rows alone do.
            self.z.clone_from(&self.z_star);
        } else {
            self.lambda.clear();
            for choice in &self.chosen {
                self.lambda.extend_from_slice(&self.velocities[choice.row..choice.row + choice.rows]);
            }
            self.delassus.place(&self.lambda, &mut self.z);
        }
        let report = sap::solve(&mut self.delassus, &self.laws, &self.z_star, &mut self.z, options, ws).ok()?;
        self.delassus.impulses(&self.z, &mut self.lambda);
        Some(report)
    }

    /// Sends a unit load along every chosen row to the roots.
    fn carry(&mut self, structure: &Coupled<'_>) {
        let Self { chosen, carried, passing, .. } = self;
        let count = chosen.len();
        // Room for as many as there may ever be, at once.
        carried.clear();
        carried.reserve(structure.nv * MOST_ROWS);
        carried.resize(structure.nv * count, [F64x4::ZERO; 2]);
        passing.clear();
        passing.resize(structure.nodes(), 0);
        for (g, choice) in chosen.iter().enumerate() {
            let mut carry = |slot: usize, start: usize, loads: &Loads| {
                let slot = &structure.slots[slot];
                let part = &structure.parts[slot.tree];
                part.factor.carry(&part.tree, &part.kin, start, loads, |i, k, u, d| {
                    passing[slot.node + i] |= 1 << g;
                    let [sum_u, sum_d] = &mut carried[(slot.dof + part.tree.nodes[i].v + k) * count + g];
                    *sum_u += u;
                    *sum_d += d;
                });
            };
            match &structure.links[choice.constraint] {
                Link::Ends { ends, basis, motion } => {
                    for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
                        let Some(end) = end else { continue };
                        let [x, y, z] = [basis.x, basis.y, basis.z].map(|axis| end.wrench(axis * sign, *motion));
                        carry(end.tree, end.node, &Loads { wrench: side_by_side(x, y, z), joint: [F64x4::ZERO; 6] });
                    }
                }
                Link::Joint { tree, node, dof, width, axis } => {
                    carry(*tree, *node, &along_joint(structure, (*tree, *node, *dof), &axis[..*width]));
                }
                Link::Sum { terms } => {
                    for Term { tree, node, dof, coefficient } in &structure.terms[terms.clone()] {
                        carry(*tree, *node, &along_joint(structure, (*tree, *node, *dof), &[*coefficient]));
                    }
                }
            }
        }
    }

    /// Sets W.
    fn multiply(&mut self, structure: &Coupled<'_>) {
        let Self { delassus, chosen, carried, passing, products, chosen_free, .. } = self;
        let count = chosen.len();
        products.clear();
        products.reserve(MOST_ROWS * (MOST_ROWS + 1) / 2);
        products.resize(count * (count + 1) / 2, [F64x4::ZERO; 3]);
        for slot in structure.slots {
            for (i, node) in structure.parts[slot.tree].tree.nodes.iter().enumerate() {
                let first = slot.dof + node.v;
                for dof in first..first + node.joint.nv() {
                    add_products(&carried[dof * count..(dof + 1) * count], passing[slot.node + i], products);
                }
            }
        }
        let w = delassus.start(chosen_free.len());
        for (g, choice) in chosen.iter().enumerate() {
            for (h, other) in chosen[..=g].iter().enumerate() {
                for (k, product) in products[g * (g + 1) / 2 + h].iter().enumerate().take(choice.rows) {
                    let entries = &mut w[(choice.chosen_row + k) * Delassus::MOST + other.chosen_row..][..other.rows];
                    entries.copy_from_slice(&product.to_array()[..other.rows]);
                }
            }
        }
    }

    /// Sets the change to what the first half of a solve makes of Jᵀ λ.
    fn respond(&mut self) {
        let count = self.chosen.len();
        let mut impulses = [F64x4::ZERO; Delassus::MOST];
        for (impulse, choice) in impulses.iter_mut().zip(&self.chosen) {
            let mut lanes = [0.0; 4];
            lanes[..choice.rows].copy_from_slice(&self.lambda[choice.chosen_row..][..choice.rows]);
            *impulse = F64x4::from_array(lanes);
        }
        for (change, carried) in self.change.iter_mut().zip(self.carried.chunks_exact(count)) {
            let mut sum = F64x4::ZERO;
            for ([u, _], impulse) in carried.iter().zip(&impulses) {
                sum = u.mul_add(*impulse, sum);
            }
            let [x, y, z, _] = sum.to_array();
            *change = x + y + z;
        }
    }

    /// Whether the chosen rows move with the trees as the solution has it, up to the tolerance. Not so where W has lost too many digits.
    fn agrees(&self, ws: &Workspace, options: &Options) -> bool {
        let (mut error, mut size) = (0.0, 0.0);
        for choice in &self.chosen {
            let (all, chosen) =
                (choice.row..choice.row + choice.rows, choice.chosen_row..choice.chosen_row + choice.rows);
            for ((v, free), v_c) in
                self.velocities[all.clone()].iter().zip(&self.free[all]).zip(&ws.velocities()[chosen])
            {
                error += (v - v_c) * (v - v_c);
                size += (v - free) * (v - free) + free * free;
            }
        }
        error <= options.tolerance * options.tolerance * size
    }

    /// Spreads impulses and velocities of the chosen rows over all rows. The others have no impulse.
    fn write_solution(&mut self, ws: &Workspace) {
        self.impulses.fill(0.0);
        for choice in &self.chosen {
            let (all, chosen) =
                (choice.row..choice.row + choice.rows, choice.chosen_row..choice.chosen_row + choice.rows);
            self.impulses[all.clone()].copy_from_slice(&ws.impulses()[chosen.clone()]);
            self.velocities[all].copy_from_slice(&ws.velocities()[chosen]);
        }
    }
}

/// The loads of one row on the degrees of freedom of a node's joint from `dof` on, which counts within the tree.
fn along_joint(structure: &Coupled<'_>, (slot, node, dof): (usize, usize, usize), axis: &[f64]) -> Loads {
    let first = dof - structure.parts[structure.slots[slot].tree].tree.nodes[node].v;
    let mut joint = [F64x4::ZERO; 6];
    for (force, axis) in joint[first..].iter_mut().zip(axis) {
        *force = F64x4::from_array([*axis, 0.0, 0.0, 0.0]);
    }
    Loads { wrench: Wrench::ZERO, joint }
}

/// The wrenches in the first three lanes.
fn side_by_side(x: Wrench<f64>, y: Wrench<f64>, z: Wrench<f64>) -> Wrench<F64x4> {
    let lanes = |x: f64, y: f64, z: f64| F64x4::from_array([x, y, z, 0.0]);
    let vector = |x: Vec3<f64>, y: Vec3<f64>, z: Vec3<f64>| {
        Vec3::new(lanes(x.x, y.x, z.x), lanes(x.y, y.y, z.y), lanes(x.z, y.z, z.z))
    };
    Wrench { ang: vector(x.ang, y.ang, z.ang), lin: vector(x.lin, y.lin, z.lin) }
}

/// Adds the products of the constraints in `passing` by one degree of freedom.
#[inline(always)]
fn add_products(carried: &[[F64x4; 2]], passing: u64, products: &mut [[F64x4; 3]]) {
    let mut left = passing;
    while left != 0 {
        let g = left.trailing_zeros() as usize;
        left &= left - 1;
        let [x, y, z, _] = carried[g][0].to_array().map(F64x4::splat);
        let blocks = &mut products[g * (g + 1) / 2..][..=g];
        let mut others = passing & (u64::MAX >> (63 - g));
        while others != 0 {
            let h = others.trailing_zeros() as usize;
            others &= others - 1;
            let d = carried[h][1];
            let block = &mut blocks[h];
            *block = [d.mul_add(x, block[0]), d.mul_add(y, block[1]), d.mul_add(z, block[2])];
        }
    }
}
