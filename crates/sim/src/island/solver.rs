//! One contact problem, in contact space or in all velocities.

use sap::{BlockCholesky, Constraint, Criterion, Error, NotSolved, Report};

use super::Problem;
use crate::constrain::{ConstraintSet, Context};
use crate::constraint_jacobian::{ConstraintJacobian, Term};
use crate::contact_space::{ContactSpaceSolver, Reach};
use crate::coupled::{CliqueSlot, Coupled, CoupledScratch};

/// How a problem is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// In contact space, and where that fails by the global solver.
    ContactSpace,
    /// In contact space if that was how the last problem was solved, which differs in its constraints alone.
    ContactSpaceAgain,
    /// By the solver that always converges.
    Global,
}

/// Trees and the constraints on them, whose trees are indices into the slots.
pub(super) struct Part<'a> {
    pub slots: &'a [CliqueSlot],
    pub constraints: &'a mut [Constraint],
    pub jacobians: &'a [ConstraintJacobian],
    /// What Jacobians that are sums refer to.
    pub terms: &'a [Term],
    pub v_star: &'a [f64],
}

impl<'a> Part<'a> {
    pub fn new(slots: &'a [CliqueSlot], set: &'a mut ConstraintSet, v_star: &'a [f64]) -> Self {
        let ConstraintSet { constraints, jacobians, terms, .. } = set;
        Self { slots, constraints, jacobians, terms, v_star }
    }
}

/// The solvers with their scratch.
#[derive(Default)]
pub(super) struct Solver {
    ws: sap::Workspace,
    pub coupled: CoupledScratch,
    contact_space: ContactSpaceSolver,
    /// Whether the last problem was solved in contact space.
    in_contact_space: bool,
}

impl Solver {
    /// The operators of a problem.
    pub fn structure<'a>(
        &'a mut self,
        problem: &'a Problem<'_>,
        slots: &'a [CliqueSlot],
        ConstraintSet { jacobians, terms, .. }: &'a ConstraintSet,
        cholesky: &'a mut BlockCholesky,
    ) -> Coupled<'a> {
        let Context { cliques, v: v0, .. } = *problem.cx;
        Coupled::new(cliques, v0, slots, jacobians, terms, &mut self.coupled, cholesky, problem.interrupt)
    }

    /// Minimises the cost of the problem, from the guess in `v`, which becomes the solution.
    pub fn solve(
        &mut self,
        problem: &Problem<'_>,
        part: Part<'_>,
        cholesky: &mut BlockCholesky,
        v: &mut [f64],
        path: Path,
        options: &sap::Options,
    ) -> Result<Report, Error> {
        let Context { cliques, v: v0, .. } = *problem.cx;
        let Part { slots, constraints, jacobians, terms, v_star } = part;
        let Self { ws, coupled, contact_space, in_contact_space } = self;
        let mut structure = Coupled::new(cliques, v0, slots, jacobians, terms, coupled, cholesky, problem.interrupt);
        let fast = match path {
            Path::ContactSpace => contact_space.solve(&mut structure, constraints, v_star, v, Reach::WhatPays, options),
            Path::ContactSpaceAgain if *in_contact_space => {
                contact_space.solve_again(&mut structure, constraints, v_star, v, options)
            }
            _ => Err(NotSolved { iterations: 0 }),
        };
        *in_contact_space = fast.is_ok();
        let spent = match fast {
            Ok(report) => return Ok(report),
            Err(NotSolved { iterations }) => iterations,
        };
        let factorization_budget = options.factorization_budget.map(|budget| budget.saturating_sub(spent));
        let options = sap::Options { factorization_budget, ..*options };
        let report = sap::solve(&mut structure, constraints, v_star, v, &options, ws)?;
        let iterations = report.iterations + spent;
        let is_missed = report.criterion == Criterion::FrictionBounds
            && path == Path::ContactSpace
            && factorization_budget.is_none_or(|budget| report.iterations < budget);
        if !is_missed {
            return Ok(Report { iterations, ..report });
        }
        // With W of more rows than it pays for, most of these problems meet Coulomb's law.
        let (late, spent) = match contact_space.solve(&mut structure, constraints, v_star, v, Reach::All, &options) {
            Ok(late) => (late, late.iterations),
            Err(NotSolved { iterations: spent }) => (report, spent),
        };
        *in_contact_space = late.criterion != Criterion::FrictionBounds;
        Ok(Report { iterations: iterations + spent, ..late })
    }

    /// Impulses and velocities of all rows at the solution of the last problem.
    pub fn solution(&self) -> (&[f64], &[f64]) {
        let Self { contact_space, ws, in_contact_space, .. } = self;
        if *in_contact_space {
            (&contact_space.impulses, &contact_space.velocities)
        } else {
            (ws.impulses(), ws.velocities())
        }
    }
}
