//! Gravity compensation that is a force of actuators: part of their sum at a joint, and within its limits.

use multibody::{Joint, Kinematics, Tree, add_generalized_forces};
use spatial::Wrench;

use super::BodyLoad;

/// What lifts the bodies of a tree, at the joints whose actuators do so.
#[derive(Clone, Debug)]
pub(super) struct ActuatedLift {
    /// Degrees of freedom of these joints within the tree.
    dofs: Vec<usize>,
    /// At all degrees of freedom of the tree, N or N·m.
    force: Vec<f64>,
    /// Scratch, one per node.
    wrenches: Vec<Wrench<f64>>,
}

impl ActuatedLift {
    /// That of a tree whose joints are `joints` and whose first degree of freedom is `first`; none where no joint's actuators lift.
    pub fn new<'a>(tree: &Tree<f64>, first: usize, joints: impl Iterator<Item = &'a Joint>) -> Option<Self> {
        let lifted = joints.filter(|joint| joint.is_lifted_by_actuators);
        let dofs: Vec<usize> = lifted.flat_map(|joint| joint.v - first..joint.v - first + joint.kind.nv()).collect();
        let force = vec![0.0; tree.nv];
        (!dofs.is_empty()).then(|| Self { dofs, force, wrenches: vec![Wrench::ZERO; tree.len()] })
    }

    /// Finds it where the nodes are placed as in `kin`.
    pub fn find(&mut self, tree: &Tree<f64>, kin: &Kinematics<f64>, loads: &[BodyLoad]) {
        self.force.fill(0.0);
        self.wrenches.fill(Wrench::ZERO);
        for load in loads {
            let lift = Wrench { lin: load.lift, ..Wrench::ZERO };
            if let Some(wrench) = load.about_node(lift, kin) {
                self.wrenches[load.node] += wrench;
            }
        }
        add_generalized_forces(tree, tree.all(), kin, &mut self.wrenches, &mut self.force);
    }

    /// Its forces, by the degrees of freedom within the tree.
    pub fn forces(&self) -> impl Iterator<Item = (usize, f64)> {
        self.dofs.iter().map(|dof| (*dof, self.force[*dof]))
    }

    /// Its force on a degree of freedom within the tree.
    pub fn on(&self, dof: usize) -> f64 {
        if self.dofs.contains(&dof) { self.force[dof] } else { 0.0 }
    }
}
