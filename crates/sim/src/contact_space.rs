//! An island's problem in contact space, where it is pushed in few rows.
//!
//! Newton's method in all velocities factors and multiplies along whole trees in every iteration. A robot in motion is pushed in a few
//! rows, and the Delassus operator W = J A⁻¹ Jᵀ is all that these need of the trees. Each row is carried to the root once; iterations are
//! then on matrices of a few rows ([`sap::ContactSpace`]), and one pass down the trees gives the velocities.
//!
//! A hand has dry friction in every joint. While a joint keeps moving, its friction is a known impulse: constraints that are expected at a
//! bound are part of v*, and become rows where they turn out not to be at it.

use lanes::constants::{MAX_ROUNDS, ROWS_OF_JAMS};
use multibody::{Loads, alone};
use sap::{Constraint, ContactSpace, FrictionLaw, LawKind, NotSolved, Options, Report, Structure};
use spatial::{F64x4, Real, Vec3, Wrench};

use crate::constraint_jacobian::{ConstraintJacobian, Term};
use crate::coupled::Coupled;

/// Scratch of such a problem, reused from step to step.
#[derive(Default)]
pub(crate) struct ContactSpaceSolver {
    space: ContactSpace,
    /// The constraints that may push, ascending, and where the rows of each start among theirs.
    chosen: Vec<Choice>,
    chosen_before: Vec<Choice>,
    chosen_constraints: Vec<Constraint>,
    /// Those at a bound, ascending; J v* where they push, and what of them arrives at the degrees of freedom (u, as in `carried`).
    bounded: Vec<Bounded>,
    bounded_v_free: Vec<f64>,
    bounded_carried: Vec<f64>,
    /// u and D⁻¹u (`multibody::Factor::carry`) of the rows of every chosen constraint side by side: by degree of freedom, then by
    /// constraint.
    carried: Vec<[F64x4; 2]>,
    /// The chosen constraints whose loads pass a degree of freedom, a bit each: what was carried there of others means nothing.
    passing: Vec<u64>,
    /// Scratch of one row's way to the root.
    on_its_way: Vec<F64x4>,
    /// Terms of one row that have not been carried yet.
    terms: Vec<Term>,
    /// J v*, of all rows and of those that are chosen, and v*ᵀ A v*.
    v_free: Vec<f64>,
    chosen_v_free: Vec<f64>,
    energy: f64,
    /// Rows up to which it pays.
    max_rows: usize,
    /// v − v*, and scratch before.
    change: Vec<f64>,
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

/// A constraint of one row whose impulse is at a bound: its place among the constraints, its row, its impulse.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    constraint: usize,
    row: usize,
    impulse: f64,
}

/// Which problems are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of so few rows that it pays.
    WhatPays,
    /// All that there is room for.
    All,
}

/// What became of the set of chosen constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choosing {
    Same,
    Grown,
    TooMany,
}

/// Nodes from which on it pays: of a single body, H is as small as W unless so few constraints of one row push it. Two that hang on strings take
/// 5.7 µs a step, by the global solver 6.5.
const MIN_NODES: usize = 2;
const MAX_ROWS_OF_BODY: usize = 3;

/// Rows up to which it pays where nodes push against the world alone: the global solver's factor is a recursion there. With 39 rows a humanoid
/// of 34 degrees of freedom takes 1.7 times as long as by recursion, with 30 to 36 as long.
const MAX_ROWS_WITH_THE_WORLD: usize = 36;

/// Rows up to which it pays where nodes push against each other.
const MAX_ROWS_OF_PAIRS: usize = 72;

/// The same of friction cones: the global solver solves a convex problem in few factors.
const MAX_ROWS_OF_CONES: usize = 48;

/// Rows up to which W is so small that it pays even where velocities are fewer and nothing has friction: of the six muscles of an arm it takes
/// 7.6 µs a step, in the velocities 7.8.
const MAX_SMALL: usize = 6;

/// Constraints at most: a word has a bit for each.
const MAX_CHOSEN: usize = u64::BITS as usize;

impl ContactSpaceSolver {
    /// Solves the problem and returns what the solve did, the velocities in `v`.
    ///
    /// # Errors
    /// Where the whole problem is to be solved: no constraint pushes at `v_star` or is expected to, too many are, or the iteration does
    /// not converge.
    pub fn solve(
        &mut self,
        structure: &mut Coupled<'_>,
        constraints: &mut [Constraint],
        v_star: &[f64],
        v: &mut [f64],
        reach: Reach,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        const UNTRIED: NotSolved = NotSolved { iterations: 0 };
        self.chosen.clear();
        // The two are swapped: room for the most in both, so that no later step allocates.
        self.chosen.reserve(MAX_CHOSEN + 1);
        self.chosen_before.clear();
        self.chosen_before.reserve(MAX_CHOSEN + 1);
        self.bounded.clear();
        let has_cones = constraints.iter().any(|constraint| constraint.law.kind == LawKind::Cone);
        let of_pairs = if has_cones { MAX_ROWS_OF_CONES } else { MAX_ROWS_OF_PAIRS };
        let max_rows = if structure.has_pairs() { of_pairs } else { MAX_ROWS_WITH_THE_WORLD };
        self.max_rows = match reach {
            Reach::WhatPays => max_rows.min(ROWS_OF_JAMS * structure.nv),
            Reach::All => ContactSpace::MAX_ROWS,
        };
        let is_small =
            constraints.len() <= MAX_ROWS_OF_BODY && constraints.iter().all(|constraint| constraint.rows() == 1);
        if structure.nodes() < MIN_NODES && !is_small {
            return Err(UNTRIED);
        }
        let rows = constraints.iter().map(Constraint::rows).sum();
        for vector in [&mut self.v_free, &mut self.impulses, &mut self.velocities] {
            vector.resize(rows, 0.0);
        }
        structure.row_velocities(v_star, &mut self.v_free);
        self.velocities.copy_from_slice(&self.v_free);
        self.expect_bounds(constraints);
        let mut choosing = self.choose(constraints, options);
        if choosing == Choosing::Same && !self.bounded.is_empty() {
            // There is nothing else: these are all rows.
            self.bounded.clear();
            choosing = self.choose(constraints, options);
        }
        if choosing != Choosing::Grown || self.has_many_without_friction(structure.nv) {
            return Err(UNTRIED);
        }
        self.change.resize(v_star.len(), 0.0);
        structure.momentum(v_star, &mut self.change);
        self.energy = v_star.iter().zip(&self.change).map(|(v, p)| v * p).sum();
        self.prepare(structure, constraints);
        self.go_on(structure, constraints, v_star, v, options)
    }

    /// Whether all that is chosen has one row, and there are more rows than velocities: muscles, limits. Without friction one convex problem
    /// in the velocities says all, and its matrix is smaller than W.
    fn has_many_without_friction(&self, nv: usize) -> bool {
        self.chosen.len() > nv.max(MAX_SMALL) && self.chosen.iter().all(|choice| choice.rows == 1)
    }

    /// Solves a problem that differs from the last one, which was solved, in its `constraints` alone.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_again(
        &mut self,
        structure: &mut Coupled<'_>,
        constraints: &mut [Constraint],
        v_star: &[f64],
        v: &mut [f64],
        options: &Options,
    ) -> Result<Report, NotSolved> {
        for (chosen, choice) in self.chosen_constraints.iter_mut().zip(&self.chosen) {
            *chosen = constraints[choice.constraint];
        }
        self.go_on(structure, constraints, v_star, v, options)
    }

    /// Solves the problem of the chosen constraints, and of more where more push at the solution.
    fn go_on(
        &mut self,
        structure: &mut Coupled<'_>,
        constraints: &mut [Constraint],
        v_star: &[f64],
        v: &mut [f64],
        options: &Options,
    ) -> Result<Report, NotSolved> {
        let mut iterations = 0;
        for _ in 0..MAX_ROUNDS {
            let solved = self.space.solve(&self.chosen_constraints, &self.chosen_v_free, self.energy, options);
            let report = solved.map_err(|failure| NotSolved { iterations: iterations + failure.iterations })?;
            iterations += report.iterations;
            self.respond();
            structure.respond(&mut self.change);
            structure.rows_of_motions(&self.change, &mut self.velocities);
            self.velocities.iter_mut().zip(&self.v_free).for_each(|(v, v_free)| *v += v_free);
            if !self.agrees(options) {
                break;
            }
            let choosing = self.choose(constraints, options);
            if choosing != Choosing::Same {
                self.expect_solution(constraints);
            }
            match choosing {
                Choosing::Same => {
                    self.write_solution();
                    v.iter_mut().zip(v_star).zip(&self.change).for_each(|((v, v_star), change)| *v = v_star + change);
                    return Ok(Report { iterations, ..report });
                }
                Choosing::Grown => self.prepare(structure, constraints),
                Choosing::TooMany => break,
            }
        }
        Err(NotSolved { iterations })
    }

    /// Lets constraints expect what the last solution makes of them: the next problem, of more constraints or of all, is nearer to it than to
    /// the step before. Those at a bound expect it still.
    fn expect_solution(&self, constraints: &mut [Constraint]) {
        let (mut row, mut solved) = (0, self.chosen_before.iter().peekable());
        for (k, constraint) in constraints.iter_mut().enumerate() {
            let rows = row..row + constraint.rows();
            row = rows.end;
            let impulses = match solved.next_if(|choice| choice.constraint == k) {
                Some(choice) => &self.space.impulses()[choice.chosen_row..choice.chosen_row + choice.rows],
                None if constraint.expected_bound().is_some() => continue,
                None => &[0.0; 3][..rows.len()],
            };
            let mut free = [0.0; 3];
            constraint.free_velocity(&self.velocities[rows], impulses, &mut free);
            *constraint = constraint.with_free_velocity(free);
        }
    }

    /// Finds the constraints that are expected at a bound, as those of the step before make expect.
    fn expect_bounds(&mut self, constraints: &[Constraint]) {
        self.bounded.reserve(constraints.len());
        let mut row = 0;
        for (k, constraint) in constraints.iter().enumerate() {
            if let Some(impulse) = constraint.expected_bound() {
                self.bounded.push(Bounded { constraint: k, row, impulse });
            }
            row += constraint.rows();
        }
    }

    /// Chooses the constraints that push at the velocities of rows, those that are chosen already included; of those that were expected at
    /// a bound those that are not there.
    fn choose(&mut self, constraints: &[Constraint], options: &Options) -> Choosing {
        let before = self.chosen.len();
        std::mem::swap(&mut self.chosen, &mut self.chosen_before);
        self.chosen.clear();
        let mut chosen_before = self.chosen_before.iter().map(|choice| choice.constraint).peekable();
        let (mut next, mut kept) = (0, 0);
        let (mut row, mut chosen_row, mut pushing_rows) = (0, 0, 0);
        for (k, constraint) in constraints.iter().enumerate() {
            let rows = constraint.rows();
            let velocities = &self.velocities[row..row + rows];
            let was_chosen = chosen_before.next_if_eq(&k).is_some();
            // Under Coulomb's law rolling and torsional friction stay with their contact, which bounds them.
            let follows = options.friction == FrictionLaw::Coulomb && constraint.law.is_spin();
            let last = self.chosen.last().map(|choice| choice.constraint + 1);
            let is_chosen = if let Some(bounded) = self.bounded.get(next).copied().filter(|b| b.constraint == k) {
                next += 1;
                let is_there = before == 0 || constraint.bound_at(velocities[0]) == Some(bounded.impulse);
                if is_there {
                    self.bounded[kept] = bounded;
                    kept += 1;
                }
                !is_there
            } else if follows {
                last == Some(k)
            } else {
                was_chosen || constraint.pushes_at(velocities) || before == 0 && constraint.expects_to_push()
            };
            if is_chosen {
                self.chosen.push(Choice { constraint: k, row, chosen_row, rows });
                chosen_row += rows;
                pushing_rows += constraint.rows_that_push();
                if pushing_rows > self.max_rows || chosen_row > ContactSpace::MAX_ROWS || self.chosen.len() > MAX_CHOSEN
                {
                    return Choosing::TooMany;
                }
            }
            row += rows;
        }
        self.bounded.truncate(kept);
        if self.chosen.len() == before { Choosing::Same } else { Choosing::Grown }
    }

    /// Sets W of the chosen rows, and their velocities where those at a bound push.
    fn prepare(&mut self, structure: &mut Coupled<'_>, constraints: &[Constraint]) {
        self.push_bounded(structure);
        self.chosen_constraints.clear();
        self.chosen_v_free.clear();
        for choice in &self.chosen {
            self.chosen_constraints.push(constraints[choice.constraint]);
            self.chosen_v_free.extend_from_slice(&self.bounded_v_free[choice.row..choice.row + choice.rows]);
        }
        self.carry(structure);
        self.multiply();
    }

    /// Lets those at a bound push.
    fn push_bounded(&mut self, structure: &mut Coupled<'_>) {
        self.bounded_v_free.clear();
        self.bounded_carried.clear();
        self.bounded_carried.resize(structure.nv, 0.0);
        if self.bounded.is_empty() {
            self.bounded_v_free.extend_from_slice(&self.v_free);
            return;
        }
        let Self { bounded, bounded_carried, on_its_way, .. } = self;
        for Bounded { constraint, impulse, .. } in bounded {
            for (slot, dof, coefficient) in structure.jacobians[*constraint].coordinates(structure.terms) {
                let at = &structure.slots[slot];
                let clique = structure.cliques.get(at.tree);
                let node = clique.node_of_dof(dof);
                let loads = along_joint(structure, slot, node, dof, &[coefficient * *impulse]);
                clique.carry(node, &loads, alone, on_its_way, |_, dof, u, _| {
                    bounded_carried[at.dof + dof] += u.to_array()[0];
                });
            }
        }
        self.change.copy_from_slice(&self.bounded_carried);
        structure.respond(&mut self.change);
        self.bounded_v_free.resize(self.v_free.len(), 0.0);
        structure.rows_of_motions(&self.change, &mut self.bounded_v_free);
        self.bounded_v_free.iter_mut().zip(&self.v_free).for_each(|(v, v_free)| *v += v_free);
    }

    /// Sends a unit load along every chosen row to the roots.
    fn carry(&mut self, structure: &Coupled<'_>) {
        let Self { chosen, carried, passing, on_its_way, terms: left, .. } = self;
        let count = chosen.len();
        // Room for the most that there may be.
        carried.reserve((structure.nv * MAX_CHOSEN).saturating_sub(carried.len()));
        carried.resize(structure.nv * count, [F64x4::ZERO; 2]);
        passing.clear();
        passing.resize(structure.nv, 0);
        for (g, choice) in chosen.iter().enumerate() {
            let mut add = |dof: usize, u: F64x4, d: F64x4| {
                let sum = &mut carried[dof * count + g];
                let is_first = passing[dof] >> g & 1 == 0;
                *sum = if is_first { [u, d] } else { [sum[0] + u, sum[1] + d] };
                passing[dof] |= 1 << g;
            };
            let mut carry = |slot: usize, start: usize, loads: &Loads| {
                let slot = &structure.slots[slot];
                let clique = structure.cliques.get(slot.tree);
                clique.carry(start, loads, alone, on_its_way, |_, dof, u, d| add(slot.dof + dof, u, d));
            };
            match &structure.jacobians[choice.constraint] {
                ConstraintJacobian::Ends { ends, basis, motion } => {
                    for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
                        let Some(end) = end else { continue };
                        let [x, y, z] = [basis.x, basis.y, basis.z].map(|axis| end.wrench(axis * sign, *motion));
                        carry(end.tree, end.node, &Loads { wrench: side_by_side(x, y, z), joint: [F64x4::ZERO; 6] });
                    }
                }
                ConstraintJacobian::Joint { tree, node, dof, width, axis } => {
                    carry(*tree, *node, &along_joint(structure, *tree, *node, *dof, &axis[..*width]));
                }
                ConstraintJacobian::Sum { terms } => {
                    for of_slot in structure.terms[terms.clone()].chunk_by(|a, b| a.tree == b.tree) {
                        left.clear();
                        left.extend_from_slice(of_slot);
                        carry_terms(structure, left, on_its_way, &mut add);
                    }
                }
            }
        }
    }

    /// Multiplies what was carried.
    fn multiply(&mut self) {
        let Self { space, chosen, carried, passing, chosen_v_free, .. } = self;
        let count = chosen.len();
        let products = space.start_pairs(chosen_v_free.len(), count);
        for (carried, passing) in carried.chunks_exact(count).zip(&*passing) {
            add_products(carried, *passing, products);
        }
    }

    /// Sets the change to what the first half of a solve makes of Jᵀ λ.
    fn respond(&mut self) {
        let count = self.chosen.len();
        let mut impulses = [F64x4::ZERO; MAX_CHOSEN];
        for (impulse, choice) in impulses.iter_mut().zip(&self.chosen) {
            let mut lanes = [0.0; 4];
            let rows = choice.chosen_row..choice.chosen_row + choice.rows;
            lanes[..choice.rows].copy_from_slice(&self.space.balancing_impulses()[rows]);
            *impulse = F64x4::from_array(lanes);
        }
        let carried = self.carried.chunks_exact(count);
        let of_dofs = carried.zip(&self.passing).zip(&self.bounded_carried);
        for (change, ((carried, passing), bounded)) in self.change.iter_mut().zip(of_dofs) {
            let (mut sum, mut remaining) = (F64x4::ZERO, *passing);
            while remaining != 0 {
                let g = remaining.trailing_zeros() as usize;
                remaining &= remaining - 1;
                sum = carried[g][0].mul_add(impulses[g], sum);
            }
            let [x, y, z, _] = sum.to_array();
            *change = x + y + z + bounded;
        }
    }

    /// Whether the chosen rows move with the trees as the solution has it, up to the tolerance. Not so where W has lost too many digits.
    fn agrees(&self, options: &Options) -> bool {
        let (mut error, mut size) = (0.0, 0.0);
        for choice in &self.chosen {
            let (all, chosen) =
                (choice.row..choice.row + choice.rows, choice.chosen_row..choice.chosen_row + choice.rows);
            for ((v, v_free), v_c) in
                self.velocities[all.clone()].iter().zip(&self.v_free[all]).zip(&self.space.velocities()[chosen])
            {
                error += (v - v_c) * (v - v_c);
                size += (v - v_free) * (v - v_free) + v_free * v_free;
            }
        }
        error <= options.tolerance * options.tolerance * size
    }

    /// Spreads impulses and velocities of the chosen rows over all rows. The others have no impulse.
    fn write_solution(&mut self) {
        self.impulses.fill(0.0);
        for choice in &self.chosen {
            let (all, chosen) =
                (choice.row..choice.row + choice.rows, choice.chosen_row..choice.chosen_row + choice.rows);
            self.impulses[all.clone()].copy_from_slice(&self.space.impulses()[chosen.clone()]);
            self.velocities[all].copy_from_slice(&self.space.velocities()[chosen]);
        }
        for Bounded { row, impulse, .. } in &self.bounded {
            self.impulses[*row] = *impulse;
        }
    }
}

/// Carries the terms of one row in a tree, ascending: from the last of them to the root, with all that are on the way, then from the last of
/// those that are left.
fn carry_terms(
    structure: &Coupled<'_>,
    left: &mut Vec<Term>,
    scratch: &mut Vec<F64x4>,
    mut add: impl FnMut(usize, F64x4, F64x4),
) {
    const CARRIED: usize = usize::MAX;
    while let Some(&Term { tree: slot, node: start, .. }) = left.last() {
        let slot = &structure.slots[slot];
        let (nodes, mut next) = (&structure.cliques.trees[slot.tree].tree.nodes, left.len());
        let mut joint = |node: usize| {
            let mut forces = [F64x4::ZERO; 6];
            while let Some(term) = next.checked_sub(1).map(|k| &mut left[k]).filter(|term| term.node >= node) {
                next -= 1;
                if term.node == node {
                    forces[term.dof - nodes[node].v] = F64x4::from_array([term.coefficient, 0.0, 0.0, 0.0]);
                    term.tree = CARRIED;
                }
            }
            forces
        };
        let loads = Loads { wrench: Wrench::ZERO, joint: joint(start) };
        let clique = structure.cliques.get(slot.tree);
        clique.carry(start, &loads, joint, scratch, |_, dof, u, d| add(slot.dof + dof, u, d));
        left.retain(|term| term.tree != CARRIED);
    }
}

/// The loads of one row on the degrees of freedom of a node's joint from `dof` on, which counts within the tree.
fn along_joint(structure: &Coupled<'_>, slot: usize, node: usize, dof: usize, axis: &[f64]) -> Loads {
    let first = dof - structure.cliques.trees[structure.slots[slot].tree].tree.nodes[node].v;
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
    let mut remaining = passing;
    while remaining != 0 {
        let g = remaining.trailing_zeros() as usize;
        remaining &= remaining - 1;
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
