//! Springs and dampers that a file gives relative to the inertia that they act on.

use multibody::{Factor, JointImpedance, Kinematics, Model, Transmission};

use super::actuator::DampingRatio;
use super::joint::SpringDamper;

/// Sets what needs the inertia of the complete model in its default configuration.
pub(super) fn complete(model: &mut Model, spring_dampers: &[SpringDamper], damping_ratios: &[DampingRatio]) {
    if spring_dampers.is_empty() && damping_ratios.is_empty() {
        return;
    }
    let mut mobility = Mobility::new(model);
    for spring in spring_dampers {
        set_spring_damper(model, &mut mobility, spring);
    }
    for servo in damping_ratios {
        set_damping_ratio(model, &mut mobility, servo);
    }
}

/// Stiffness I / (timeconst² dampratio²) and damping 2 I / timeconst, where 1 / I is the mean of the joint's entries on
/// the diagonal of M⁻¹.
fn set_spring_damper(model: &mut Model, mobility: &mut Mobility, spring: &SpringDamper) {
    let joint = &model.joints[spring.joint];
    let n = joint.kind.nv();
    let unit = |k| [0, 1, 2, 3, 4, 5].map(|i| f64::from(u8::from(i == k)));
    let sum: f64 = (0..n).map(|k| mobility.along(model, joint.v, &unit(k)[..n])).sum();
    let inertia = n as f64 / sum;
    let (dofs, time) = (joint.v..joint.v + n, spring.time_constant);
    model.stiffness[dofs.clone()].fill(inertia / (time * spring.damping_ratio).powi(2));
    model.damping[dofs].fill(2.0 * inertia / time);
}

/// Damping 2 ratio √(gain I) of a position servo, where 1 / I = g M⁻¹ gᵀ with the gear vector g.
fn set_damping_ratio(model: &mut Model, mobility: &mut Mobility, servo: &DampingRatio) {
    let (joint, gear) = match model.actuators[servo.actuator].transmission {
        Transmission::Joint { joint, gear } => (joint, [gear, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Transmission::JointAxes { joint, gear } => (joint, gear),
        Transmission::Tendon { .. } | Transmission::Unsupported => return,
    };
    let joint = &model.joints[joint];
    let mobility = mobility.along(model, joint.v, &gear[..joint.kind.nv()]);
    // Without a gear the servo moves nothing.
    if mobility > 0.0 {
        let law = &mut model.actuators[servo.actuator].law;
        law.bias[2] = -2.0 * servo.ratio * (law.gain.max(0.0) / mobility).sqrt();
    }
}

/// M⁻¹ at q0, armature included, by the articulated-body recursion.
struct Mobility {
    kinematics: Kinematics<f64>,
    factor: Factor<f64>,
    force: Vec<f64>,
    response: Vec<f64>,
}

impl Mobility {
    fn new(model: &Model) -> Self {
        let tree = &model.tree;
        let mut kinematics = Kinematics::new(tree);
        multibody::forward_kinematics(tree, tree.all(), &model.q0, &mut kinematics);
        let mut armature = JointImpedance::new(tree);
        armature.diagonal.clone_from(&model.armature);
        let mut factor = Factor::new(tree);
        factor.factor(tree, tree.all(), &kinematics, &armature, None);
        Self { kinematics, factor, force: vec![0.0; tree.nv], response: vec![0.0; tree.nv] }
    }

    /// g M⁻¹ gᵀ, where g is `gear` at the degrees of freedom from `first` on.
    fn along(&mut self, model: &Model, first: usize, gear: &[f64]) -> f64 {
        let tree = &model.tree;
        let dofs = first..first + gear.len();
        let nodes = tree.trees[tree.dofs.partition_point(|range| range.end <= first)].clone();
        self.force[dofs.clone()].copy_from_slice(gear);
        self.factor.solve(tree, nodes, &self.kinematics, &self.force, None, &mut self.response);
        self.force[dofs.clone()].fill(0.0);
        gear.iter().zip(&self.response[dofs]).map(|(g, x)| g * x).sum()
    }
}
