//! Springs, dampers and muscles that a file gives relative to the inertia that they act on.

use multibody::{Actuator, Factor, JointImpedance, Kinematics, Model, Tendon, TendonRow, Transmission, Tree};

use super::actuator::{DampingRatio, UnfinishedMuscle};
use super::joint::SpringDamper;

/// Sets what needs the inertia of the complete model in its default configuration.
pub(super) fn complete(
    model: &mut Model,
    spring_dampers: &[SpringDamper],
    damping_ratios: &[DampingRatio],
    muscles: &[UnfinishedMuscle],
) {
    if spring_dampers.is_empty() && damping_ratios.is_empty() && muscles.is_empty() {
        return;
    }
    let mut mobility = Mobility::new(model);
    for spring in spring_dampers {
        set_spring_damper(model, &mut mobility, spring);
    }
    for servo in damping_ratios {
        set_damping_ratio(model, &mut mobility, servo);
    }
    for muscle in muscles {
        finish_muscle(model, &mut mobility, muscle);
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

/// Damping 2 ratio √(gain I) of a position servo, where 1 / I = g M⁻¹ gᵀ with the row g of forces that it makes; of one that turns a ball the
/// mean of those about its axes.
fn set_damping_ratio(model: &mut Model, mobility: &mut Mobility, servo: &DampingRatio) {
    let mobility = match model.actuators[servo.actuator].transmission {
        Transmission::Orientation { joint, .. } => {
            let first = model.joints[joint].v;
            (first..first + 3).map(|dof| mobility.along(&model.tree, &[(dof, 1.0)])).sum::<f64>() / 3.0
        }
        _ => {
            let row = length_row(model, &mobility.kinematics, &model.q0, servo.actuator);
            mobility.along(&model.tree, &row)
        }
    };
    // Without a gear the servo moves nothing.
    if mobility > 0.0 {
        let Actuator { law, motor, .. } = &mut model.actuators[servo.actuator];
        let gain = motor.map_or(law.gain, |motor| motor.controller.kp);
        let damping = 2.0 * servo.ratio * (gain.max(0.0) / mobility).sqrt();
        match motor {
            Some(motor) => motor.controller.kd = damping,
            None => law.bias[2] = -damping,
        }
    }
}

/// The range of lengths of a muscle, and its peak force: scale / ‖M⁻¹ gᵀ‖ with the row g of forces that it makes.
fn finish_muscle(model: &mut Model, mobility: &mut Mobility, muscle: &UnfinishedMuscle) {
    if let Some(scale) = muscle.scale {
        let row = length_row(model, &mobility.kinematics, &model.q0, muscle.actuator);
        mobility.along(&model.tree, &row);
        let response = mobility.response.iter().map(|x| x * x).sum::<f64>().sqrt();
        model.actuators[muscle.actuator].law.gain = scale / response.max(1e-15);
    }
    if muscle.needs_range {
        let range = bounded_length_range(model, muscle.actuator);
        if let Some(curves) = &mut model.actuators[muscle.actuator].law.muscle {
            curves.length_range = range;
        }
    }
}

/// What a limited tendon leaves of an actuator's range of lengths: all of its own where joints move it that have no range, which the ascent
/// leaves alone.
fn bounded_length_range(model: &Model, actuator: usize) -> (f64, f64) {
    let (low, high) = length_range(model, actuator);
    let Transmission::Tendon { tendon, gear } = model.actuators[actuator].transmission else { return (low, high) };
    let Some((shortest, longest)) = model.tendons[tendon].range else { return (low, high) };
    let (shortest, longest) = if gear < 0.0 { (longest, shortest) } else { (shortest, longest) };
    let (shortest, longest) = (gear * shortest, gear * longest);
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
    let row = length_row(model, &kinematics, &model.q0, actuator);
    let moves = |joint: &multibody::Joint| {
        let dofs = joint.v..joint.v + joint.kind.nv();
        row.iter().any(|(dof, coefficient)| dofs.contains(dof) && *coefficient != 0.0)
    };
    let is_open = model.joints.iter().any(|joint| joint.range.is_none() && moves(joint));
    if is_open || low.max(shortest) >= high.min(longest) {
        return (shortest, longest);
    }
    (low.max(shortest), high.min(longest))
}

/// The shortest and the longest length of an actuator that are found from q0 on, uphill within the ranges of the joints.
fn length_range(model: &Model, actuator: usize) -> (f64, f64) {
    /// Largest first and least last step, rad or m.
    const STEPS: (f64, f64) = (0.1, 1e-7);
    const MAX_TRIALS: usize = 2000;
    let mut kinematics = Kinematics::new(&model.tree);
    let mut at = |q: &[f64]| {
        multibody::forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
        (length(model, q, actuator), length_row(model, &kinematics, q, actuator))
    };
    // Of the joints that the length depends on: coordinate, degree of freedom, range. One that turns without end turns at most once.
    let turn = std::f64::consts::PI;
    let scalar = model.joints.iter().filter(|joint| joint.kind.nq() == 1).filter_map(|joint| {
        let q0 = model.q0[joint.q];
        let endless = matches!(joint.kind, multibody::JointKind::Revolute { .. }).then_some((q0 - turn, q0 + turn));
        joint.range.or(endless).map(|range| (joint.q, joint.v, range))
    });
    let scalar: Vec<(usize, usize, (f64, f64))> = scalar.collect();
    let [low, high] = [-1.0, 1.0].map(|sign| {
        let mut q = model.q0.clone();
        let (mut best, mut row) = at(&q);
        let mut step = STEPS.0;
        for _ in 0..MAX_TRIALS {
            let slope = |v: usize| sign * row.iter().filter(|(dof, _)| *dof == v).map(|(_, x)| x).sum::<f64>();
            let moves = scalar.iter().map(|&(iq, v, (low, high))| {
                let slope = slope(v);
                let is_free = if slope > 0.0 { q[iq] < high } else { q[iq] > low };
                (iq, (low, high), if is_free { slope } else { 0.0 })
            });
            let moves: Vec<(usize, (f64, f64), f64)> = moves.collect();
            let steepest = moves.iter().map(|(.., slope)| slope.abs()).fold(0.0, f64::max);
            if steepest == 0.0 || step < STEPS.1 {
                break;
            }
            let mut next = q.clone();
            for (iq, (low, high), slope) in moves {
                next[iq] = (q[iq] + step * slope / steepest).clamp(low.min(high), high.max(low));
            }
            let (length, next_row) = at(&next);
            if sign * (length - best) > 0.0 {
                (q, best, row) = (next, length, next_row);
                step = (1.5 * step).min(STEPS.0);
            } else {
                step *= 0.5;
            }
        }
        best
    });
    (low, high)
}

/// The length of what an actuator acts on, times its gear.
fn length(model: &Model, q: &[f64], actuator: usize) -> f64 {
    match model.actuators[actuator].transmission {
        Transmission::Joint { joint, gear } => gear * q[model.joints[joint].q],
        Transmission::Tendon { tendon, gear } => gear * model.tendons[tendon].length(model, q),
        Transmission::JointAxes { .. }
        | Transmission::Site { .. }
        | Transmission::SliderCrank { .. }
        | Transmission::Orientation { .. }
        | Transmission::Input
        | Transmission::Unsupported
        | Transmission::Adhesion { .. } => 0.0,
    }
}

/// The derivative of that length: degrees of freedom and their coefficients. `kinematics` is that of `q`.
fn length_row(model: &Model, kinematics: &Kinematics<f64>, q: &[f64], actuator: usize) -> Vec<(usize, f64)> {
    match model.actuators[actuator].transmission {
        Transmission::Joint { joint, gear } => vec![(model.joints[joint].v, gear)],
        Transmission::JointAxes { joint, gear, frame } => {
            let joint = &model.joints[joint];
            let gear = multibody::gear_of_axes(gear, frame, &q[joint.q..][..joint.kind.nq()]);
            (joint.v..joint.v + joint.kind.nv()).zip(gear).collect()
        }
        Transmission::Tendon { tendon, gear } => {
            let terms = tendon_row(model, kinematics, q, &model.tendons[tendon]).into_iter();
            terms.map(|(dof, coefficient)| (dof, gear * coefficient)).collect()
        }
        Transmission::Site { .. } | Transmission::SliderCrank { .. } => {
            let mut row = TendonRow::default();
            model.actuators[actuator].transmission.write_row(model, kinematics, &mut row);
            row.terms.iter().map(|term| (term.dof, term.coefficient)).collect()
        }
        Transmission::Orientation { .. }
        | Transmission::Input
        | Transmission::Unsupported
        | Transmission::Adhesion { .. } => Vec::new(),
    }
}

/// ∂length/∂q of a tendon: degrees of freedom and their coefficients.
fn tendon_row(model: &Model, kinematics: &Kinematics<f64>, q: &[f64], tendon: &Tendon) -> Vec<(usize, f64)> {
    let mut row = TendonRow::default();
    tendon.write_row(model, kinematics, q, &mut row);
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
            let row = tendon_row(model, &mobility.kinematics, &model.q0, tendon);
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
