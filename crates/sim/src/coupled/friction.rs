//! What makes the matrix of Coulomb's law unsymmetric: friction that changes with its contact's normal velocity.

use sap::{Block, Constraint, Law};

use super::{CliqueSlot, Coupled};
use crate::clique::Cliques;
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, SparseRows};

/// Scratch of [`Coupled::add_friction`].
#[derive(Default)]
pub(super) struct FrictionScratch {
    rows: SparseRows,
    /// `e J_n` of a contact.
    normal: OverTrees,
    /// `J_kᵀ b_k` of a constraint that the contact's normal impulse bounds.
    change: OverTrees,
}

/// A row of J, or a sum of such, over all degrees of freedom of the trees that it concerns.
#[derive(Default)]
struct OverTrees {
    slots: [Option<usize>; 2],
    values: [Vec<f64>; 2],
}

impl OverTrees {
    /// Sets it to `Σ_a weights_a J_a` with the three rows of the constraint between `ends`.
    fn set(
        &mut self,
        ends: &[Option<ConstraintEnd>; 2],
        rows: &SparseRows,
        weights: [f64; 3],
        slots: &[CliqueSlot],
        cliques: Cliques<'_>,
    ) {
        self.slots = match ends.map(|end| end.map(|e| e.tree)) {
            [a, b] if a == b => [a, None],
            both => both,
        };
        let n = rows.columns.len();
        for (slot, values) in self.slots.iter().zip(&mut self.values) {
            let Some(slot) = *slot else { continue };
            let first = slots[slot].dof;
            let nv = cliques.get(slots[slot].tree).nv();
            values.clear();
            values.resize(nv, 0.0);
            for (i, column) in rows.columns.iter().enumerate() {
                // The columns of other trees are before the first or beyond the last.
                if let Some(value) = (*column as usize).checked_sub(first).and_then(|dof| values.get_mut(dof)) {
                    *value = (0..3).map(|a| weights[a] * rows.values[a * n + i]).sum();
                }
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.slots.iter().zip(&self.values).filter_map(|(slot, values)| slot.map(|slot| (slot, values.as_slice())))
    }
}

impl Coupled<'_> {
    /// Adds `J_kᵀ b_k e J_n` for every constraint `k` with a slope `b_k`, `n` the normal row of the last lagged contact.
    pub(super) fn add_friction(&mut self, constraints: &[Constraint], hessian: &[Block], slopes: &[[f64; 3]]) {
        let (cliques, slots) = (self.cliques, self.slots);
        let clique = |slot: usize| (cliques.get(slots[slot].tree), slots[slot].dof);
        let FrictionScratch { rows, normal, change } = &mut self.scratch.friction;
        let (mut contact, mut of_normal) = (0, None);
        for (k, (constraint, slope)) in constraints.iter().zip(slopes).enumerate() {
            if matches!(constraint.law, Law::BoundedFriction(_)) {
                contact = k;
            }
            let stiffness = hessian[contact].0[5];
            if *slope == [0.0; 3] || stiffness == 0.0 {
                continue;
            }
            if of_normal != Some(contact) {
                let ConstraintJacobian::Ends { ends, .. } = &self.jacobians[contact] else { continue };
                rows.gather(&self.jacobians[contact], self.terms, clique);
                normal.set(ends, rows, [0.0, 0.0, stiffness], slots, cliques);
                of_normal = Some(contact);
            }
            let ConstraintJacobian::Ends { ends, .. } = &self.jacobians[k] else { continue };
            if k != contact {
                rows.gather(&self.jacobians[k], self.terms, clique);
            }
            change.set(ends, rows, *slope, slots, cliques);
            for (i, c) in change.entries() {
                for (j, r) in normal.entries() {
                    self.cholesky.add_outer_product(i, c, j, r);
                }
            }
        }
    }
}
