//! What makes the matrix of Coulomb's law unsymmetric: friction that changes with its contact's normal velocity.

use sap::{Block, Constraint};

use spatial::Vec3;

use super::{CliqueSlot, Coupled};
use crate::clique::Cliques;
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};

/// Scratch of [`Coupled::add_friction`].
#[derive(Default)]
pub(super) struct FrictionScratch {
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
    /// Sets it to `Jᵀ w` of a constraint between `ends`, `load` being `w` in world axes.
    fn set(
        &mut self,
        ends: &[Option<ConstraintEnd>; 2],
        motion: Motion,
        load: Vec3<f64>,
        slots: &[CliqueSlot],
        cliques: Cliques<'_>,
    ) {
        let clique = |slot: usize| cliques.get(slots[slot].tree);
        self.slots = match ends.map(|end| end.map(|e| e.tree)) {
            [a, b] if a == b => [a, None],
            both => both,
        };
        for (slot, values) in self.slots.iter().zip(&mut self.values) {
            values.clear();
            values.resize(slot.map_or(0, |slot| clique(slot).nv()), 0.0);
        }
        let [first, second] = &mut self.values;
        match ends {
            [Some(a), Some(b)] if a.tree == b.tree => {
                // What moves both ends alike is left out, not subtracted: that would cost digits.
                let (clique, wrench) = (clique(a.tree), a.wrench(load, motion));
                clique.each_relative_column([a.node, b.node], clique.origin(a.node), |dof, per_unit| {
                    first[dof] = per_unit.dot(wrench);
                });
            }
            _ => {
                for (end, load, values) in [(ends[0], -load, first), (ends[1], load, second)] {
                    let Some(end) = end else { continue };
                    clique(end.tree).set_generalized_force(end.node, end.wrench(load, motion), values);
                }
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.slots.iter().zip(&self.values).filter_map(|(slot, values)| slot.map(|slot| (slot, values.as_slice())))
    }
}

impl Coupled<'_> {
    /// Adds `J_kᵀ b_k e J_n` for every constraint `k` with a slope `b_k`, `n` the normal row of the last contact.
    pub(super) fn add_friction(&mut self, constraints: &[Constraint], hessian: &[Block], slopes: &[[f64; 3]]) {
        let (cliques, slots) = (self.cliques, self.slots);
        let FrictionScratch { normal, change } = &mut self.scratch.friction;
        let (mut contact, mut of_normal) = (0, None);
        for (k, (constraint, slope)) in constraints.iter().zip(slopes).enumerate() {
            if constraint.law.is_contact() {
                contact = k;
            }
            let stiffness = hessian[contact].0[5];
            if *slope == [0.0; 3] || stiffness == 0.0 {
                continue;
            }
            if of_normal != Some(contact) {
                let ConstraintJacobian::Ends { ends, basis, motion } = &self.jacobians[contact] else { continue };
                let [x, y, z] = hessian[contact].normal_row();
                normal.set(ends, *motion, basis.x * x + basis.y * y + basis.z * z, slots, cliques);
                of_normal = Some(contact);
            }
            let ConstraintJacobian::Ends { ends, basis, motion } = &self.jacobians[k] else { continue };
            let load = basis.x * slope[0] + basis.y * slope[1] + basis.z * slope[2];
            change.set(ends, *motion, load, slots, cliques);
            for (i, c) in change.entries() {
                for (j, r) in normal.entries() {
                    self.cholesky.add_outer_product(i, c, j, r);
                }
            }
        }
    }
}
