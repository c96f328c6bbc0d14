//! H by its products, a recursion over every tree and a 6×6 impedance for every two nodes that push each other. The preconditioner is the recursive
//! factor of every tree, with what pushes it from outside as if that stood still.

use multibody::apply;
use sap::{Block, HessianOperator};
use spatial::{ArticulatedInertia, Vec3};

use super::{Coupled, CoupledScratch, Factored, TreeFactor};
use crate::clique::Clique;
use crate::tree_workspace::TreeWorkspace;

/// What two nodes push each other with.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The nodes, among those of the island.
    a: u32,
    b: u32,
    /// From the origin of the first node to that of the second.
    arm: Vec3<f64>,
    /// Of their relative motion, about the origin of the second.
    impedance: ArticulatedInertia<f64>,
}

/// What products take beside the factors of the trees.
#[derive(Default)]
pub(super) struct OperatorScratch {
    links: Vec<Link>,
    /// The impedances of contacts with the world, one of every node.
    grounded: Vec<ArticulatedInertia<f64>>,
}

impl HessianOperator for Coupled<'_> {
    fn set(&mut self, hessian: &[Block]) {
        self.gather_own_impedances(hessian);
        let CoupledScratch { impedance, patches, operator: OperatorScratch { links, grounded }, .. } =
            &mut *self.scratch;
        grounded.clone_from(impedance);
        links.clear();
        for patch in patches.iter().filter(|patch| patch.active) {
            let [a, b] = &patch.ends;
            let place = |tree: usize, node: usize| self.cliques.get(self.slots[tree].tree).origin(node);
            links.push(Link {
                a: (self.slots[a.tree].node + a.node) as u32,
                b: (self.slots[b.tree].node + b.node) as u32,
                arm: place(b.tree, b.node) - place(a.tree, a.node),
                impedance: patch.impedance,
            });
        }
        self.add_patches();
        self.factor_recursively(hessian);
        self.scratch.factored = Factored::None;
    }

    fn apply(&mut self, x: &[f64], h_x: &mut [f64]) {
        let CoupledScratch { motions, wrenches, factors, operator: OperatorScratch { links, grounded }, .. } =
            &mut *self.scratch;
        for (slot, TreeFactor { joints, .. }) in self.slots.iter().zip(&*factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            let (motions, wrenches) = (&mut motions[slot.node..], &mut wrenches[slot.node..]);
            apply(tree, tree.all(), kin, joints, &x[slot.dof..], motions, wrenches, &mut h_x[slot.dof..]);
        }
        for ((wrench, impedance), motion) in wrenches.iter_mut().zip(&*grounded).zip(&*motions) {
            *wrench = impedance.apply(*motion);
        }
        for Link { a, b, arm, impedance } in &*links {
            let (a, b) = (*a as usize, *b as usize);
            let wrench = impedance.apply(motions[b] - motions[a].shifted(*arm));
            wrenches[b] += wrench;
            wrenches[a] += -wrench.shifted_back(*arm);
        }
        for slot in self.slots {
            self.cliques.get(slot.tree).add_generalized_forces(&mut wrenches[slot.node..], &mut h_x[slot.dof..]);
        }
    }

    fn precondition(&mut self, b: &[f64], x: &mut [f64]) {
        for (slot, TreeFactor { symmetric, .. }) in self.slots.iter().zip(&mut self.scratch.factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            symmetric.solve(tree, tree.all(), kin, &b[slot.dof..], None, &mut x[slot.dof..]);
        }
    }
}
