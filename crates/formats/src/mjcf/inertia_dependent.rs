//! Springs and dampers that a file gives relative to the inertia that they act on.

use multibody::{CrbaWorkspace, Kinematics, Model, Transmission};

use super::actuator::DampingRatio;
use super::joint::SpringDamper;

/// Sets what needs the mass matrix of the complete model in its default configuration.
pub(super) fn complete(model: &mut Model, spring_dampers: &[SpringDamper], damping_ratios: &[DampingRatio]) {
    if spring_dampers.is_empty() && damping_ratios.is_empty() {
        return;
    }
    let inertia = diagonal_of_mass_matrix(model);
    for spring in spring_dampers {
        let joint = &model.joints[spring.joint];
        let dofs = joint.v..joint.v + joint.kind.nv();
        let mean = inertia[dofs.clone()].iter().sum::<f64>() / dofs.len().max(1) as f64;
        let time = spring.time_constant;
        model.stiffness[dofs.clone()].fill(mean / (time * spring.damping_ratio).powi(2));
        model.damping[dofs].fill(2.0 * mean / time);
    }
    for servo in damping_ratios {
        let actuator = &mut model.actuators[servo.actuator];
        let (joint, gear) = match actuator.transmission {
            Transmission::Joint { joint, gear } => (joint, [gear, 0.0, 0.0, 0.0, 0.0, 0.0]),
            Transmission::JointAxes { joint, gear } => (joint, gear),
            Transmission::Unsupported => continue,
        };
        let joint = &model.joints[joint];
        // Inertia as seen through the gear.
        let reflected = (0..joint.kind.nv()).filter(|&i| gear[i] != 0.0);
        let mass: f64 = reflected.map(|i| inertia[joint.v + i] / gear[i].powi(2)).sum();
        actuator.law.bias[2] = -2.0 * servo.ratio * (actuator.law.gain * mass).sqrt();
    }
}

/// The diagonal of the mass matrix at q0, armature included, (nv).
fn diagonal_of_mass_matrix(model: &Model) -> Vec<f64> {
    let mut diagonal = model.armature.clone();
    let tree = &model.tree;
    let mut kinematics = Kinematics::new(tree);
    multibody::forward_kinematics(tree, tree.all(), &model.q0, &mut kinematics);
    let mut workspace = CrbaWorkspace::new(tree);
    // Tree by tree: the whole matrix of many small trees would be mostly zeros.
    for (nodes, dofs) in tree.trees.iter().zip(&tree.dofs) {
        let n = dofs.len();
        let mut matrix = vec![0.0; n * n];
        multibody::mass_matrix(tree, nodes.clone(), &kinematics, &mut workspace, &mut matrix, n, dofs.start);
        for i in 0..n {
            diagonal[dofs.start + i] += matrix[i * n + i];
        }
    }
    diagonal
}
