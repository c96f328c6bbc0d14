//! Recovery of what starts violated: it moves positions and leaves no velocity.
//!
//! The island is solved twice. The first solution is the velocity at the end of the step; there a constraint that starts
//! violated stops what approaches and pushes nothing out. The second one moves positions. It has the same constraints
//! recovering at `recovery_speed` at most.

use sap::{Error, Report};

use super::{Island, Problem, Scratch};
use crate::Factorization;
use crate::constrain::{ConstraintSet, Context};
use crate::coupled::Coupled;

/// Constraints of an island up to which Coulomb's law is looked for while most of them recover. Where many bodies start in each
/// other all of them touch all others, and their law would take hundreds of factorisations.
const MAX_COULOMB: usize = 100;

/// The solver's options for an island with these constraints.
pub(super) fn options(set: &ConstraintSet, options: &sap::Options) -> sap::Options {
    let is_crowd = set.laws.len() > MAX_COULOMB && 2 * set.recoveries.len() > set.laws.len();
    sap::Options { passes: if is_crowd { 1 } else { options.passes }, ..*options }
}

impl Island {
    /// Finds the velocities that move positions; returns the `report` of the step's solution with what was spent added.
    ///
    /// No point of a body is moved faster by recovery than at the speed of recovery: where a contact's normal passes near a joint, a
    /// link would have to turn by radians to open the gap, and in a heap the outermost bodies would have to move at a multiple of the
    /// speed at which each two part. They leave no energy behind, so that nothing depends on Coulomb's law: friction is bounded by
    /// the normal impulses that are known.
    pub(super) fn right(
        &mut self,
        problem: &Problem<'_>,
        report: Report,
        scratch: &mut Scratch,
    ) -> Result<Report, Error> {
        let Context { parts, v: v0, rule, extents, .. } = *problem.cx;
        let Scratch { set, v_star, ws, coupled, dense, .. } = scratch;
        let ConstraintSet { laws, links, terms, recoveries, .. } = set;
        for (k, v_hat) in &*recoveries {
            laws[*k].law.set_normal_bias(*v_hat);
        }
        self.righting.clone_from(&self.v);
        let options = &sap::Options { passes: 1, ..*problem.options };
        let spent = match problem.factorization {
            Factorization::Dense => sap::solve(dense, laws, v_star, &mut self.righting, options, ws),
            choice => {
                let (of_trees, rows) = ((parts, v0), (&links[..], &terms[..]));
                let cholesky = &mut self.cholesky;
                let mut structure =
                    Coupled::new(of_trees, &self.slots, rows, coupled, cholesky, choice, problem.interrupt);
                sap::solve(&mut structure, laws, v_star, &mut self.righting, options, ws)
            }
        }?;
        self.righting.iter_mut().zip(&self.v).for_each(|(righting, v)| *righting -= v);
        let speed = coupled.greatest_speed(parts, &self.slots, extents, &self.righting);
        let share = if speed > rule.recovery_speed { rule.recovery_speed / speed } else { 1.0 };
        self.righting.iter_mut().zip(&self.v).for_each(|(righting, v)| *righting = v + share * *righting);
        Ok(Report {
            iterations: report.iterations + spent.iterations,
            line_search_evaluations: report.line_search_evaluations + spent.line_search_evaluations,
            ..report
        })
    }
}
