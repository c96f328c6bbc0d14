//! What makes the matrix of Coulomb's law unsymmetric: friction that changes with its contact's normal velocity.

use multibody::Dyad;
use sap::{Block, Constraint, FactorError};
use spatial::Vec3;

use super::{CliqueSlot, Coupled, CoupledScratch, TreeFactor};
use crate::clique::{Clique, Cliques};
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};
use crate::tree_workspace::TreeWorkspace;

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

/// A constraint whose bound grows with its contact's normal impulse.
struct Bounded<'a> {
    contact: usize,
    /// How the normal impulse falls with the velocity at the contact, and how the constraint's impulse grows with it; world axes.
    normal: Vec3<f64>,
    slope: Vec3<f64>,
    ends: &'a [Option<ConstraintEnd>; 2],
    motion: Motion,
}

/// The constraints with a slope `b_k`, by the normal row of the last contact.
fn bounded<'a>(
    jacobians: &'a [ConstraintJacobian],
    constraints: &'a [Constraint],
    hessian: &'a [Block],
    slopes: &'a [[f64; 3]],
) -> impl Iterator<Item = Bounded<'a>> {
    let mut contact = 0;
    jacobians.iter().zip(constraints).zip(slopes).enumerate().filter_map(move |(k, ((jacobian, constraint), slope))| {
        if constraint.law.is_contact() {
            contact = k;
        }
        if *slope == [0.0; 3] || hessian[contact].0[5] == 0.0 {
            return None;
        }
        let ConstraintJacobian::Ends { basis: of_contact, .. } = &jacobians[contact] else { return None };
        let ConstraintJacobian::Ends { ends, basis, motion } = jacobian else { return None };
        let normal = *of_contact * Vec3::from(hessian[contact].normal_row());
        Some(Bounded { contact, normal, slope: *basis * Vec3::from(*slope), ends, motion: *motion })
    })
}

impl Coupled<'_> {
    /// Adds `J_kᵀ b_k e J_n` of every constraint `k` whose bound grows with its contact's normal impulse.
    pub(super) fn add_friction(&mut self, constraints: &[Constraint], hessian: &[Block], slopes: &[[f64; 3]]) {
        let (cliques, slots) = (self.cliques, self.slots);
        let FrictionScratch { normal, change } = &mut self.scratch.friction;
        let mut of_normal = None;
        for bounded in bounded(self.jacobians, constraints, hessian, slopes) {
            if of_normal != Some(bounded.contact) {
                let ConstraintJacobian::Ends { ends, motion, .. } = &self.jacobians[bounded.contact] else { continue };
                normal.set(ends, *motion, bounded.normal, slots, cliques);
                of_normal = Some(bounded.contact);
            }
            change.set(bounded.ends, bounded.motion, bounded.slope, slots, cliques);
            for (i, c) in change.entries() {
                for (j, r) in normal.entries() {
                    self.cholesky.add_outer_product(i, c, j, r);
                }
            }
        }
    }

    /// Factors every tree by itself, with `J_kᵀ b_k e J_n` of contacts with the world. No two nodes push each other.
    pub(super) fn factor_unsymmetric_recursively(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), FactorError> {
        self.gather_joint_impedances(hessian);
        let CoupledScratch { factors, impedance, .. } = &mut *self.scratch;
        factors.iter_mut().for_each(|factor| factor.dyads.clear());
        for bounded in bounded(self.jacobians, constraints, hessian, slopes) {
            let ConstraintJacobian::Ends { ends, motion, .. } = &self.jacobians[bounded.contact] else { continue };
            for (of_contact, end) in ends.iter().zip(bounded.ends) {
                let (Some(of_contact), Some(end)) = (of_contact, end) else { continue };
                let (wrench, per_motion) =
                    (end.wrench(bounded.slope, bounded.motion), of_contact.wrench(bounded.normal, *motion));
                factors[end.tree].dyads.push(Dyad { node: end.node, wrench, per_motion });
            }
        }
        for (slot, TreeFactor { joints, unsymmetric, dyads, .. }) in self.slots.iter().zip(factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            let impedance = &impedance[slot.node..slot.node + tree.len()];
            if !unsymmetric.factor(tree, kin, joints, impedance, dyads.iter().copied()) {
                return Err(FactorError { row: slot.dof });
            }
        }
        Ok(())
    }
}
