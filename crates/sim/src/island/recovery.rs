//! Recovery of constraints that start violated: it moves positions and leaves no velocity.
//!
//! The island is solved twice. The first solution is the velocity at the end of the step; there a constraint that starts
//! violated stops what approaches and pushes nothing out. The second one moves positions. It has the same constraints
//! recovering at `recovery_speed` at most.

use sap::{Error, Report};

use super::budget::Size;
use super::{Island, Path, Problem, Scratch, solve_problem};
use crate::constrain::{ConstraintSet, Context};

/// Factorisations that a recovery may take in any case. Where bodies start beside each other it takes fewer than ten.
const MIN_RECOVERY: usize = 25;

impl Island {
    /// Finds the velocities that move positions; returns the `report` of the step's solution with what was spent added.
    ///
    /// No point of a body is moved faster by recovery than at the speed of recovery: where a contact's normal passes near a joint, a
    /// link would have to turn by radians to open the gap, and in a heap the outermost bodies would have to move at a multiple of the
    /// speed at which each two part. They leave no energy behind, so that nothing depends on Coulomb's law: friction is bounded by
    /// the normal impulses that are known, of contacts that push.
    pub(super) fn recover(
        &mut self,
        problem: &Problem<'_>,
        report: Report,
        scratch: &mut Scratch,
    ) -> Result<Report, Error> {
        let Context { cliques, rule, extents, .. } = *problem.cx;
        scratch.release_friction();
        let ConstraintSet { constraints, recoveries, .. } = &mut scratch.set;
        for (k, v_hat) in &*recoveries {
            constraints[*k].law.set_normal_bias(*v_hat);
        }
        self.recovery_v.clone_from(&self.v);
        let options = budgeted(problem.options, self.size, report.iterations);
        let spent = match solve_problem(
            problem,
            &self.slots,
            &mut self.cholesky,
            &mut self.recovery_v,
            Path::Again,
            &options,
            scratch,
        ) {
            Ok(spent) => spent.iterations,
            // The last iterate recovers too, if not every contact at its speed.
            Err(Error::NotConverged { iterations, .. }) if options.max_iterations < problem.options.max_iterations => {
                self.is_unfinished = true;
                iterations
            }
            Err(error) => return Err(error),
        };
        self.recovery_v.iter_mut().zip(&self.v).for_each(|(recovery_v, v)| *recovery_v -= v);
        let speed = scratch.coupled.greatest_speed(cliques, &self.slots, extents, &self.recovery_v);
        let share = if speed > rule.of_step.recovery_speed { rule.of_step.recovery_speed / speed } else { 1.0 };
        self.recovery_v.iter_mut().zip(&self.v).for_each(|(recovery_v, v)| *recovery_v = v + share * *recovery_v);
        Ok(Report { iterations: report.iterations + spent, ..report })
    }
}

/// The options of a recovery after so many factorisations: it may take what they leave of the budget of an island of this size.
fn budgeted(options: &sap::Options, size: Size, spent: usize) -> sap::Options {
    let remaining = |budget: usize| size.factorizations(budget).saturating_sub(spent).max(MIN_RECOVERY);
    let max_iterations = options.factorization_budget.map_or(usize::MAX, remaining).min(options.max_iterations);
    sap::Options { friction: sap::FrictionLaw::Lagged, max_iterations, ..*options }
}
