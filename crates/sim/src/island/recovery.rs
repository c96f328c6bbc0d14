//! Recovery of constraints that start violated: it moves positions and leaves no velocity.
//!
//! The island is solved twice. The first solution is the velocity at the end of the step; there a constraint that starts
//! violated stops what approaches and pushes nothing out. The second one moves positions. It has the same constraints
//! recovering at `recovery_speed` at most.

use sap::{Constraint, Error, Report};

use super::budget::Size;
use super::{Island, Path, Problem, Scratch};
use crate::constrain::{ConstraintSet, Context};
use crate::constraint_jacobian::ConstraintJacobian;

/// Factorisations that a recovery may take in any case. Where bodies start beside each other it takes fewer than ten.
const MIN_RECOVERY: usize = 25;

/// Trees from which on an island is a heap where they meet in contacts alone: more than lanes step. With soft bodies it is none: they would be
/// left in what they touch.
const MIN_HEAP: usize = 5;

impl Island {
    /// Finds the velocities that move positions; returns the `report` of the step's solution with what was spent added.
    ///
    /// Its velocities leave no energy behind, so that nothing depends on Coulomb's law: friction is bounded by the normal impulses that are
    /// known, of contacts that push.
    pub(super) fn recover(
        &mut self,
        problem: &Problem<'_>,
        report: Report,
        scratch: &mut Scratch,
    ) -> Result<Report, Error> {
        scratch.release_friction();
        let ConstraintSet { constraints, recoveries, .. } = &mut scratch.set;
        for (k, v_hat) in &*recoveries {
            constraints[*k].law.set_normal_bias(*v_hat);
        }
        self.recovery_v.clone_from(&self.v);
        let options = budgeted(problem.options, self.size, report.iterations);
        let Self { slots, cholesky, recovery_v, .. } = self;
        let spent = match scratch.solve(problem, slots, cholesky, recovery_v, Path::ContactSpaceAgain, &options) {
            Ok(spent) => spent.iterations,
            // The last iterate recovers too, if not every contact at its speed.
            Err(Error::NotConverged { iterations, .. }) if options.max_iterations < problem.options.max_iterations => {
                self.is_unfinished = true;
                iterations
            }
            Err(error) => return Err(error),
        };
        self.slow_down(problem, scratch);
        Ok(Report { iterations: report.iterations + spent, ..report })
    }

    /// Lets no point of a body be moved faster by recovery than at the speed of recovery: where a contact's normal passes near a joint, a
    /// link would have to turn by radians to open the gap, and in a heap the outermost bodies would have to move at a multiple of the
    /// speed at which each two part. The island is slowed as a whole, so that what holds together stays so; of a heap each body by itself:
    /// one that would have to turn fast kept all others in each other.
    fn slow_down(&mut self, problem: &Problem<'_>, scratch: &mut Scratch) {
        let Context { cliques, rule, extents, .. } = *problem.cx;
        let most = rule.of_step.recovery_speed;
        self.recovery_v.iter_mut().zip(&self.v).for_each(|(recovery_v, v)| *recovery_v -= v);
        // Soft bodies come last.
        let has_soft_bodies = self.slots.last().is_some_and(|slot| cliques.get(slot.tree).is_soft());
        let is_heap = self.slots.len() >= MIN_HEAP && !has_soft_bodies && meet_in_contacts_alone(&scratch.set);
        let together = if is_heap { 1 } else { self.slots.len().max(1) };
        for slots in self.slots.chunks(together) {
            let dofs = slots[0].dof..slots.last().map_or(0, |slot| slot.dof + cliques.get(slot.tree).nv());
            let speed = scratch.solver.coupled.greatest_speed(cliques, slots, extents, &self.recovery_v);
            let share = if speed > most { most / speed } else { 1.0 };
            let recovery_v = self.recovery_v[dofs.clone()].iter_mut();
            recovery_v.zip(&self.v[dofs]).for_each(|(recovery_v, v)| *recovery_v = v + share * *recovery_v);
        }
    }
}

/// The options of a recovery after so many factorisations: it may take what they leave of the budget of an island of this size.
fn budgeted(options: &sap::Options, size: Size, spent: usize) -> sap::Options {
    let remaining = |budget: usize| size.factorizations(budget).saturating_sub(spent).max(MIN_RECOVERY);
    let max_iterations = options.factorization_budget.map_or(usize::MAX, remaining).min(options.max_iterations);
    sap::Options { friction: sap::FrictionLaw::Lagged, max_iterations, ..*options }
}

/// Whether no equality is between two bodies.
fn meet_in_contacts_alone(ConstraintSet { constraints, jacobians, terms, .. }: &ConstraintSet) -> bool {
    let of_contact = |constraint: &Constraint| constraint.law.is_contact() || constraint.law.is_spin();
    terms.is_empty()
        && constraints.iter().zip(jacobians).all(|(constraint, jacobian)| {
            of_contact(constraint) || !matches!(jacobian, ConstraintJacobian::Ends { ends: [Some(_), Some(_)], .. })
        })
}
