//! How many factorisations an island may spend on Coulomb's law.
//!
//! The budget is there to bound the time of the longest step, so it counts what a factorisation costs. That grows at least in
//! proportion to the island's size, its velocities and rows: each of them is passed at least once. So the budget is in factorisations of an
//! island of [`FULL_SIZE`], and a smaller one may take as many more as it is smaller. Its longest step is then no longer than that of an
//! island of the full size.

use sap::FrictionLaw;

use crate::constrain::ConstraintSet;

/// Velocities and rows of an island that has the budget as it is, as every larger one has: those of 125 spheres that have fallen into
/// a bin, 750 velocities and 320 contacts.
const FULL_SIZE: usize = 750 + 3 * 320;

/// Constraints of an island up to which Coulomb's law is looked for while most of them recover. Where many bodies start in each
/// other all of them touch all others, and their law would take hundreds of factorisations.
const MAX_COULOMB: usize = 100;

/// Velocities and rows of an island, [`FULL_SIZE`] at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size(usize);

impl Size {
    /// Of an island with these constraints.
    pub fn new(velocities: usize, set: &ConstraintSet) -> Self {
        let rows: usize = set.constraints.iter().map(sap::Constraint::rows).sum();
        Self((velocities + rows).clamp(1, FULL_SIZE))
    }

    /// How many factorisations of the island a budget is.
    pub fn factorizations(self, budget: usize) -> usize {
        budget.saturating_mul(FULL_SIZE) / self.0
    }

    /// What so many factorisations of the island take of a budget.
    pub fn spent(self, factorizations: usize) -> usize {
        factorizations.saturating_mul(self.0).div_ceil(FULL_SIZE)
    }
}

/// The solver's options for an island of this size with these constraints.
pub(super) fn options(size: Size, set: &ConstraintSet, options: &sap::Options) -> sap::Options {
    let constraints = set.constraints.len();
    let is_crowd = constraints > MAX_COULOMB && 2 * set.recoveries.len() > constraints;
    sap::Options {
        friction: if is_crowd { FrictionLaw::Lagged } else { options.friction },
        factorization_budget: options.factorization_budget.map(|budget| size.factorizations(budget)),
        ..*options
    }
}
