//! Springs and dampers that a file gives relative to the inertia that they act on.

use multibody::{Factor, JointImpedance, Kinematics, Model, Tendon, TendonRow, Transmission, Tree};

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
    let sum: f64 = (joint.v..joint.v + n).map(|dof| mobility.along(&model.tree, &[(dof, 1.0)])).sum();
    let inertia = n as f64 / sum;
    let (dofs, time) = (joint.v..joint.v + n, spring.time_constant);
    model.stiffness[dofs.clone()].fill(inertia / (time * spring.damping_ratio).powi(2));
    model.damping[dofs].fill(2.0 * inertia / time);
}

/// Damping 2 ratio √(gain I) of a position servo, where 1 / I = g M⁻¹ gᵀ with the row g of forces that it makes.
fn set_damping_ratio(model: &mut Model, mobility: &mut Mobility, servo: &DampingRatio) {
    let row: Vec<(usize, f64)> = match model.actuators[servo.actuator].transmission {
        Transmission::Joint { joint, gear } => vec![(model.joints[joint].v, gear)],
        Transmission::JointAxes { joint, gear } => {
            let joint = &model.joints[joint];
            (joint.v..joint.v + joint.kind.nv()).zip(gear).collect()
        }
        Transmission::Tendon { tendon, gear } => {
            let terms = tendon_row(model, &mobility.kinematics, &model.tendons[tendon]).into_iter();
            terms.map(|(dof, coefficient)| (dof, gear * coefficient)).collect()
        }
        Transmission::Unsupported => return,
    };
    let mobility = mobility.along(&model.tree, &row);
    // Without a gear the servo moves nothing.
    if mobility > 0.0 {
        let law = &mut model.actuators[servo.actuator].law;
        law.bias[2] = -2.0 * servo.ratio * (law.gain.max(0.0) / mobility).sqrt();
    }
}

/// ∂length/∂q of a tendon at q0: degrees of freedom and their coefficients.
fn tendon_row(model: &Model, kinematics: &Kinematics<f64>, tendon: &Tendon) -> Vec<(usize, f64)> {
    let mut row = TendonRow::default();
    tendon.write_row(model, kinematics, &model.q0, &mut row);
    row.terms.iter().map(|term| (term.dof, term.coefficient)).collect()
}

/// M⁻¹ at q0, the armature of joints and tendons included.
///
/// With the joints' armature by the articulated-body recursion; each tendon adds a jᵀj to M, by the Sherman–Morrison
/// formula.
struct Mobility {
    kinematics: Kinematics<f64>,
    factor: Factor<f64>,
    /// For each tendon with armature a, in order: u = M⁻¹ jᵀ without it and those after it, and a / (1 + a j u).
    tendons: Vec<(Vec<f64>, f64)>,
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
        let zeros = || vec![0.0; tree.nv];
        let mut mobility = Self { kinematics, factor, tendons: Vec::new(), force: zeros(), response: zeros() };
        for tendon in model.tendons.iter().filter(|tendon| tendon.armature > 0.0) {
            let row = tendon_row(model, &mobility.kinematics, tendon);
            let along = mobility.along(tree, &row);
            let scale = tendon.armature / (1.0 + tendon.armature * along);
            mobility.tendons.push((mobility.response.clone(), scale));
        }
        mobility
    }

    /// g M⁻¹ gᵀ for a row g of (degree of freedom, entry); leaves M⁻¹ gᵀ in `response`.
    fn along(&mut self, tree: &Tree<f64>, row: &[(usize, f64)]) -> f64 {
        self.force.fill(0.0);
        self.response.fill(0.0);
        for &(dof, entry) in row {
            self.force[dof] += entry;
        }
        let mut trees: Vec<usize> =
            row.iter().map(|&(dof, _)| tree.dofs.partition_point(|range| range.end <= dof)).collect();
        trees.dedup();
        for index in trees {
            let nodes = tree.trees[index].clone();
            self.factor.solve(tree, nodes, &self.kinematics, &self.force, None, &mut self.response);
        }
        for (u, scale) in &self.tendons {
            let share = scale * row.iter().map(|&(dof, entry)| entry * u[dof]).sum::<f64>();
            self.response.iter_mut().zip(u).for_each(|(x, u)| *x -= share * u);
        }
        row.iter().map(|&(dof, entry)| entry * self.response[dof]).sum()
    }
}
