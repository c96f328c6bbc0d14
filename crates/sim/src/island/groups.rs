//! Trees of an island that push each other, apart from those that are only near.
//!
//! Contact points are all that the step can reach, and most of those between bodies that move do not push. Trees that share a constraint which is
//! expected to push, as in the step before or at v*, are a group, and each group is solved by itself: what is hard in one takes no factorisation of
//! another. A contact between two groups that pushes at their solutions joins them, and what is joined is solved again. In the end none does, so
//! that the solution is that of the island.

use sap::{BlockCholesky, Criterion, Error, Report, Structure};

use super::Problem;
use super::solver::{Part, Path, Solver};
use crate::constrain::ConstraintSet;
use crate::coupled::CliqueSlot;

/// Velocities for every tree above which there are robots: among free bodies, whose blocks are small, what is gained is little, and falls would miss
/// Coulomb's law more often.
const OF_FREE_BODY: usize = 6;

/// The trees of an island, the constraints on them and their free motion.
pub(super) struct Whole<'a> {
    pub slots: &'a [CliqueSlot],
    pub set: &'a ConstraintSet,
    pub v_star: &'a [f64],
}

/// A constraint or a slot, and the first slot of the group that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    group: usize,
    index: usize,
}

/// The groups of an island; its buffers are reused.
#[derive(Default)]
pub(super) struct Groups {
    /// Union-find over the slots, roots the smallest of their sets.
    parent: Vec<usize>,
    /// How many slots each root has.
    sizes: Vec<usize>,
    /// The slots, and the constraints within groups, by group.
    slots: Vec<Member>,
    constraints: Vec<Member>,
    /// Which groups are solved, and how.
    is_solved: Vec<bool>,
    reports: Vec<Option<Report>>,
    /// Where the rows of each constraint start among the island's, and where the last ends.
    first_row: Vec<usize>,
    group: Group,
    /// Whether the last problem was solved in groups; its solution, of all rows.
    are_apart: bool,
    impulses: Vec<f64>,
    velocities: Vec<f64>,
}

/// The problem of a group.
#[derive(Default)]
struct Group {
    slots: Vec<CliqueSlot>,
    /// The slot here of each of the island's.
    slot_of: Vec<usize>,
    set: ConstraintSet,
    v_star: Vec<f64>,
    v: Vec<f64>,
}

impl Groups {
    /// Impulses and velocities of all rows at the solution of the last problem, if that was solved in groups.
    pub fn solution(&self) -> Option<(&[f64], &[f64])> {
        self.are_apart.then_some((&self.impulses, &self.velocities))
    }

    /// Finds the groups; whether they pay. Of robots alone: what rests is not looked at, nor what was solved as a whole and is
    /// solved again.
    pub fn find(
        &mut self,
        problem: &Problem<'_>,
        whole: &Whole<'_>,
        path: Path,
        solver: &mut Solver,
        cholesky: &mut BlockCholesky,
    ) -> bool {
        let Whole { slots, set, v_star } = *whole;
        // Soft bodies come last.
        let has_soft_bodies = slots.last().is_some_and(|slot| problem.cx.cliques.get(slot.tree).is_soft());
        let has_robots = !has_soft_bodies && v_star.len() > OF_FREE_BODY * slots.len();
        self.are_apart = path == Path::ContactSpace && slots.len() > 1 && has_robots && {
            self.parent.clear();
            self.parent.extend(0..slots.len());
            self.join_where(set, |k| {
                let constraint = &set.constraints[k];
                !(constraint.law.is_contact() || constraint.law.is_spin()) || constraint.expects_to_push()
            });
            self.pay() && {
                self.lay_out(whole);
                solver.structure(problem, slots, set, cholesky).row_velocities(v_star, &mut self.velocities);
                self.join_pushing(set);
                self.pay()
            }
        };
        self.are_apart
    }

    /// Solves the groups, from the guess in `v`, which becomes the solution. Iterations are those of the group that took most, in each round: as
    /// many of the island would have taken no less time.
    pub fn solve(
        &mut self,
        problem: &Problem<'_>,
        whole: &Whole<'_>,
        cholesky: &mut BlockCholesky,
        v: &mut [f64],
        options: &sap::Options,
        solver: &mut Solver,
    ) -> Result<Report, Error> {
        let (mut iterations, mut outcome) = (0, Ok(()));
        loop {
            self.sort(whole.set);
            let mut most = 0;
            let factorization_budget = options.factorization_budget.map(|budget| budget.saturating_sub(iterations));
            let options = sap::Options { factorization_budget, ..*options };
            for root in 0..self.parent.len() {
                if self.parent[root] != root || self.is_solved[root] {
                    continue;
                }
                self.take(root, problem, whole, v);
                self.is_solved[root] = true;
                let Group { slots, set, v_star, v: of_group, .. } = &mut self.group;
                if set.constraints.is_empty() {
                    of_group.copy_from_slice(v_star);
                } else {
                    let part = Part::new(slots, set, v_star);
                    match solver.solve(problem, part, cholesky, of_group, Path::ContactSpace, &options) {
                        Ok(report) => {
                            most = report.iterations.max(most);
                            self.reports[root] = Some(report);
                        }
                        // The others go on from where they are.
                        Err(error @ Error::NotConverged { .. }) => outcome = Err(error),
                        Err(error) => return Err(error),
                    }
                }
                self.put(root, problem, whole, solver, v);
            }
            iterations += most;
            let Whole { slots, set, .. } = *whole;
            solver.structure(problem, slots, set, cholesky).row_velocities(v, &mut self.velocities);
            if !self.join_pushing(set) {
                break;
            }
        }
        outcome?;
        let all = self.reports.iter().flatten().copied().reduce(joined);
        Ok(Report { iterations, ..all.unwrap_or_else(Report::unconstrained) })
    }

    /// Sizes all for an island in which nothing is solved.
    fn lay_out(&mut self, Whole { slots, set, .. }: &Whole<'_>) {
        let Self { first_row, is_solved, reports, impulses, velocities, group, .. } = self;
        first_row.clear();
        first_row.push(0);
        let mut row = 0;
        first_row.extend(set.constraints.iter().map(|constraint| {
            row += constraint.rows();
            row
        }));
        is_solved.clear();
        is_solved.resize(slots.len(), false);
        reports.clear();
        reports.resize(slots.len(), None);
        for vector in [impulses, velocities] {
            vector.clear();
            vector.resize(row, 0.0);
        }
        group.slot_of.resize(slots.len(), 0);
    }

    /// Joins groups that share a constraint of which `is_joint` holds; whether there were any.
    fn join_where(&mut self, set: &ConstraintSet, is_joint: impl Fn(usize) -> bool) -> bool {
        let mut are_any = false;
        for (k, jacobian) in set.jacobians.iter().enumerate() {
            let mut trees = jacobian.trees(&set.terms);
            let Some(first) = trees.next() else { continue };
            for other in trees {
                let (a, b) = (root(&self.parent, first), root(&self.parent, other));
                if a != b && is_joint(k) {
                    self.parent[a.max(b)] = a.min(b);
                    are_any = true;
                    for of_joined in [a, b] {
                        if let Some(is_solved) = self.is_solved.get_mut(of_joined) {
                            (*is_solved, self.reports[of_joined]) = (false, None);
                        }
                    }
                }
            }
        }
        are_any
    }

    /// Joins groups that push each other at the velocities of the rows; whether there were any. Friction of a contact's rotation goes with it.
    fn join_pushing(&mut self, set: &ConstraintSet) -> bool {
        let (velocities, first_row) = (std::mem::take(&mut self.velocities), std::mem::take(&mut self.first_row));
        let are_any = self.join_where(set, |k| {
            let constraint = &set.constraints[k];
            !constraint.law.is_spin() && constraint.pushes_at(&velocities[first_row[k]..first_row[k + 1]])
        });
        (self.velocities, self.first_row) = (velocities, first_row);
        are_any
    }

    /// Whether no group has more than three quarters of the trees: little would be gained there, and lost where it is to be solved again with one of
    /// the others.
    fn pay(&mut self) -> bool {
        let Self { parent, sizes, .. } = self;
        sizes.clear();
        sizes.resize(parent.len(), 0);
        let mut most = 0;
        for slot in 0..parent.len() {
            let root = root(parent, slot);
            sizes[root] += 1;
            most = sizes[root].max(most);
        }
        4 * most <= 3 * parent.len()
    }

    /// Sorts slots and constraints by their groups.
    fn sort(&mut self, set: &ConstraintSet) {
        let (mut slots, mut constraints) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.constraints));
        slots.clear();
        slots.extend((0..self.parent.len()).map(|index| Member { group: root(&self.parent, index), index }));
        constraints.clear();
        for (index, jacobian) in set.jacobians.iter().enumerate() {
            let mut groups = jacobian.trees(&set.terms).map(|slot| slots[slot].group);
            let Some(group) = groups.next() else { continue };
            if groups.all(|other| other == group) {
                constraints.push(Member { group, index });
            }
        }
        slots.sort_unstable();
        constraints.sort_unstable();
        (self.slots, self.constraints) = (slots, constraints);
    }

    /// Makes the problem of a group, from its part of the guess in `v`.
    fn take(&mut self, root: usize, problem: &Problem<'_>, whole: &Whole<'_>, v: &[f64]) {
        let Self { slots, constraints, group, .. } = self;
        let Group { slots: own, slot_of, set, v_star, v: own_v } = group;
        own.clear();
        set.clear();
        v_star.clear();
        own_v.clear();
        let mut node = 0;
        for Member { index, .. } in of_group(slots, root) {
            let CliqueSlot { tree, dof, .. } = whole.slots[*index];
            let clique = problem.cx.cliques.get(tree);
            slot_of[*index] = own.len();
            own.push(CliqueSlot { tree, dof: v_star.len(), node });
            node += clique.len();
            let dofs = dof..dof + clique.nv();
            v_star.extend_from_slice(&whole.v_star[dofs.clone()]);
            own_v.extend_from_slice(&v[dofs]);
        }
        for Member { index, .. } in of_group(constraints, root) {
            set.push_from(whole.set, *index);
        }
        set.rename_trees(|slot| slot_of[slot]);
    }

    /// Takes the solution of a group.
    fn put(&mut self, root: usize, problem: &Problem<'_>, whole: &Whole<'_>, solver: &Solver, v: &mut [f64]) {
        let Self { slots, constraints, first_row, group, impulses, .. } = self;
        let mut own = &group.v[..];
        for Member { index, .. } in of_group(slots, root) {
            let CliqueSlot { tree, dof, .. } = whole.slots[*index];
            let of_tree = own.split_off(..problem.cx.cliques.get(tree).nv()).unwrap_or_default();
            v[dof..dof + of_tree.len()].copy_from_slice(of_tree);
        }
        let (mut solution, _) = solver.solution();
        for Member { index, .. } in of_group(constraints, root) {
            let rows = first_row[*index]..first_row[index + 1];
            let (own, others) = solution.split_at(rows.len());
            impulses[rows].copy_from_slice(own);
            solution = others;
        }
    }
}

/// The first slot of the group that a slot is in.
fn root(parent: &[usize], mut slot: usize) -> usize {
    while parent[slot] != slot {
        slot = parent[slot];
    }
    slot
}

/// Those of a group.
fn of_group(members: &[Member], group: usize) -> &[Member] {
    let start = members.partition_point(|member| member.group < group);
    let end = members.partition_point(|member| member.group <= group);
    &members[start..end]
}

/// What two groups add up to; what leaves most of the law is what both ended with.
fn joined(a: Report, b: Report) -> Report {
    let rank = |report: &Report| match report.criterion {
        Criterion::FrictionBounds => 3,
        Criterion::RoundOff => 2,
        Criterion::Gradient => 1,
        Criterion::Unconstrained => 0,
    };
    let Report { iterations, criterion, strategy, .. } = if rank(&b) > rank(&a) { b } else { a };
    Report {
        iterations,
        line_search_evaluations: a.line_search_evaluations + b.line_search_evaluations,
        residual: f64::max(a.residual, b.residual),
        friction_residual: f64::max(a.friction_residual, b.friction_residual),
        cost: a.cost + b.cost,
        criterion,
        strategy,
    }
}
