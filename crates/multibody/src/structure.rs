//! Whether a model that did not come from a [`ModelBuilder`](crate::ModelBuilder) is one.

use crate::builder::split_trees;
use crate::checks::check_references;
use crate::tree::{JointType, NO_PARENT};
use crate::{BuildError, Model, Transmission, Tree};

impl Model {
    /// Checks all that algorithms rely on without looking: indices, lengths, and that numbers are finite where they must be. Models that a
    /// builder made pass; what was read from bytes of unknown origin may not.
    ///
    /// # Errors
    /// What is wrong, first of all.
    pub fn check_structure(&self) -> Result<(), BuildError> {
        check_tree(&self.tree)?;
        self.check_bodies()?;
        self.check_joints()?;
        let (nq, nv) = (self.nq(), self.nv());
        let vectors = [
            ("q0", &self.q0, nq),
            ("spring_reference", &self.spring_reference, nq),
            ("armature", &self.armature, nv),
            ("damping", &self.damping, nv),
            ("stiffness", &self.stiffness, nv),
            ("friction_loss", &self.friction_loss, nv),
        ];
        for (name, values, len) in vectors {
            ensure(values.len() == len && values.iter().all(|x| x.is_finite()), name)?;
        }
        ensure(self.gravity.is_finite() && self.timestep.is_finite() && self.timestep > 0.0, "gravity and timestep")?;
        for actuator in &self.actuators {
            let joint = |index: usize| self.joints.get(index).map(|joint| joint.kind.nv());
            let fits = match &actuator.transmission {
                Transmission::Joint { joint: index, gear } => joint(*index) == Some(1) && gear.is_finite(),
                Transmission::JointAxes { joint: index, gear, .. } => {
                    joint(*index).is_some_and(|nv| nv <= 6) && gear.iter().all(|x| x.is_finite())
                }
                Transmission::Tendon { gear, .. } => gear.is_finite(),
                Transmission::SliderCrank { rod, gear, .. } => rod.is_finite() && gear.is_finite(),
                Transmission::Site { gear, .. } => gear.iter().all(|x| x.is_finite()),
                Transmission::Orientation { joint: index, .. } => joint(*index) == Some(3),
                Transmission::Input | Transmission::Unsupported | Transmission::Adhesion { .. } => true,
            };
            let law = [actuator.law.gain].into_iter().chain(actuator.law.gain_slopes).chain(actuator.law.bias);
            let muscle = actuator.law.muscle.iter().flat_map(crate::Muscle::numbers);
            let motor = actuator.motor.iter().flat_map(crate::Motor::numbers);
            ensure(fits && law.chain(muscle).chain(motor).all(f64::is_finite), "actuators")?;
        }
        // It makes quaternions of welds unit ones, which these are.
        check_references(&mut self.clone())
    }

    fn check_bodies(&self) -> Result<(), BuildError> {
        ensure(!self.bodies.is_empty(), "bodies")?;
        for (index, body) in self.bodies.iter().enumerate() {
            let parent_precedes = body.parent < index || (index == 0 && body.parent == 0);
            ensure(parent_precedes && body.rigid_group <= index, "bodies")?;
            ensure(self.bodies[body.rigid_group].rigid_group == body.rigid_group, "bodies")?;
            ensure(body.node.is_none_or(|node| node < self.tree.nodes.len()), "bodies")?;
            let numbers =
                body.inertia.mass.is_finite() && body.inertia.com.is_finite() && body.inertia.inertia.is_finite();
            ensure(numbers && body.inertia.mass >= 0.0 && body.pose.pos.is_finite(), "bodies")?;
        }
        let sites = self.sites.iter().all(|site| site.body < self.bodies.len());
        ensure(self.bodies[0].node.is_none() && sites, "sites")
    }

    /// Joints have the coordinates of the tree's nodes, in order.
    fn check_joints(&self) -> Result<(), BuildError> {
        let (mut q, mut v, mut node) = (0, 0, 0);
        for joint in &self.joints {
            let nodes = joint.kind.nodes();
            ensure(joint.body < self.bodies.len() && (joint.q, joint.v) == (q, v), "joints")?;
            ensure(joint.nodes == (node..node + nodes) && node + nodes <= self.tree.nodes.len(), "joints")?;
            (q, v, node) = (q + joint.kind.nq(), v + joint.kind.nv(), node + nodes);
            let own = &self.tree.nodes[joint.nodes.clone()];
            let dofs: usize = own.iter().map(|node| node.joint.nv()).sum();
            ensure(dofs == joint.kind.nv(), "joints")?;
        }
        ensure((q, v, node) == (self.nq(), self.nv(), self.tree.nodes.len()), "joints")
    }
}

/// Nodes come after their parents and have the coordinates in order; ranges are those of its trees.
fn check_tree(tree: &Tree<f64>) -> Result<(), BuildError> {
    let (mut q, mut v) = (0_usize, 0_usize);
    for (index, node) in tree.nodes.iter().enumerate() {
        let is_root = node.parent == NO_PARENT;
        ensure(is_root || node.parent < index && node.joint != JointType::Free, "tree")?;
        ensure(index > 0 || is_root, "tree")?;
        ensure((node.q, node.v) == (q, v), "tree")?;
        (q, v) = (q + node.joint.nq(), v + node.joint.nv());
        let placed = node.pos.is_finite() && node.axis.is_finite() && node.pitch.is_finite() && node.q_ref.is_finite();
        let rotation = node.rot.to_array().iter().all(|x| x.is_finite());
        let inertia = &node.inertia;
        let numbers = inertia.mass.is_finite() && inertia.com.is_finite() && inertia.inertia.is_finite();
        ensure(placed && rotation && numbers, "tree")?;
    }
    ensure((tree.nq, tree.nv) == (q, v), "tree")?;
    let mut own = tree.clone();
    split_trees(&mut own);
    ensure(own.trees == tree.trees && own.dofs == tree.dofs, "tree")?;
    // No node hangs on another tree.
    let within = |range: &std::ops::Range<usize>| {
        tree.nodes[range.clone()].iter().all(|node| node.parent == NO_PARENT || range.contains(&node.parent))
    };
    ensure(tree.trees.iter().all(within), "tree")
}

fn ensure(holds: bool, what: &str) -> Result<(), BuildError> {
    if holds { Ok(()) } else { Err(BuildError::Structure { what: what.into() }) }
}
