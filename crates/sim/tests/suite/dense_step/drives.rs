//! Actuators, tendons and PD control as forces of a step: `impulse − impedance (v − v₀)` within limits.

use multibody::{Actuator, Model, Transmission, difference_ahead};
use sapwood_sim::State;

use super::constraints::{Key, Start};
use super::dense::dot;
use super::laws::spring_point;

#[derive(Clone, Copy, Debug)]
pub struct Force {
    pub impulse: f64,
    pub impedance: f64,
    pub low: f64,
    pub high: f64,
}

impl Force {
    const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

    /// A force at the beginning of the step, of which a damper is taken at its end, a spring where [`spring_point`] says; `w` is how easily what
    /// they act on is moved.
    fn new(dt: f64, [force, stiffness, damping]: [f64; 3], [v, w]: [f64; 2], [low, high]: [f64; 2]) -> Self {
        let [first, second] = if stiffness == 0.0 { [0.0; 2] } else { spring_point(dt * dt * stiffness * w) };
        Self {
            impulse: dt * (force - first * dt * stiffness * v),
            impedance: dt * (damping + second * dt * stiffness),
            low: dt * low,
            high: dt * high,
        }
    }

    /// Of an actuator, whose length is `gear` times the coordinate.
    fn of_actuator(start: &Start<'_>, ctrl: usize, gear: f64, [length, rate]: [f64; 2]) -> Self {
        let Actuator { law, force_range, .. } = &start.model.actuators[ctrl];
        let u = start.inputs[ctrl];
        let [constant, of_length, of_rate] = law.bias;
        let force = law.gain * u + constant + of_length * gear * length + of_rate * gear * rate;
        // What feeds energy in stays explicit.
        let (stiffness, damping) = ((-of_length).max(0.0), (-of_rate).max(0.0));
        let limits = force_range.map_or(Self::FREE, |(low, high)| [low, high]);
        let Self { impulse, impedance, low, high } =
            Self::new(start.dt, [force, stiffness, damping], [gear * rate, start.weights.of_actuator(ctrl)], limits);
        let (a, b) = (gear * low, gear * high);
        Self { impulse: gear * impulse, impedance: gear * gear * impedance, low: a.min(b), high: a.max(b) }
    }

    fn cut(&self, impulse: f64) -> f64 {
        impulse.max(self.low).min(self.high)
    }
}

/// What actuators act by in a step, controls within their ranges or activations, and the activations at its end.
pub fn inputs(model: &Model, state: &State, dt: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut inputs, mut act) = (Vec::new(), Vec::new());
    for (actuator, u) in model.actuators.iter().zip(&state.ctrl) {
        let (low, high) = actuator.ctrl_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let u = u.max(low).min(high);
        inputs.push(u);
        if let (Some(activation), Some(input)) = (actuator.activation, inputs.last_mut()) {
            let a = state.act[act.len()];
            act.push(activation.next(u, a, dt, 0.0));
            *input = activation.of_step(u, a, dt, 0.0);
        }
    }
    (inputs, act)
}

/// A force on one degree of freedom.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    pub key: Key,
    pub dof: usize,
    pub force: Force,
    /// Whether it is a constraint: it may not stay within its limits.
    pub is_apart: bool,
}

impl Drive {
    /// Whether it is beyond a limit where the velocity has changed by this.
    pub fn exceeds(&self, change: f64) -> bool {
        let Force { impulse, impedance, low, high } = self.force;
        let at_end = impulse - impedance * change;
        let round_off = 1e-12 * impulse.abs().max(at_end.abs());
        at_end < low - round_off || at_end > high + round_off
    }
}

/// Forces along a fixed tendon: spring and damper, inertia, actuators.
pub fn tendon_forces(start: &Start<'_>, k: usize, length: f64, row: &[f64]) -> Vec<Force> {
    let (tendon, rate) = (&start.model.tendons[k], dot(row, start.v));
    let stretch = (length - tendon.rest.1).max(0.0) + (length - tendon.rest.0).min(0.0);
    let ([s0, s1], [d0, d1], speed) = (tendon.polynomial.spring, tendon.polynomial.damper, rate.abs());
    let pull = tendon.stiffness * stretch + s0 * stretch.powi(2) + s1 * stretch.powi(3);
    let drag = (tendon.damping + d0 * speed + d1 * speed.powi(2)) * rate;
    let stiffness = tendon.stiffness + 2.0 * s0 * stretch + 3.0 * s1 * stretch.powi(2);
    let damping = tendon.damping + 2.0 * d0 * speed + 3.0 * d1 * speed.powi(2);
    let spring = [-pull - drag, if stretch == 0.0 { 0.0 } else { stiffness.max(0.0) }, damping.max(0.0)];
    let inertia =
        Force { impulse: 0.0, impedance: tendon.armature, ..Force::new(0.0, [0.0; 3], [0.0; 2], [-1.0, 1.0]) };
    let inertia = Force { low: f64::NEG_INFINITY, high: f64::INFINITY, ..inertia };
    let mut forces = vec![Force::new(start.dt, spring, [rate, start.weights.of_tendon(k)], Force::FREE), inertia];
    for (ctrl, actuator) in start.model.actuators.iter().enumerate() {
        if let Transmission::Tendon { tendon, gear } = actuator.transmission
            && tendon == k
        {
            let force = Force::of_actuator(start, ctrl, gear, [length, rate]);
            match (start.model.tendons[k].effort_limit, forces.get_mut(2)) {
                (Some(_), Some(sum)) => {
                    sum.impulse += force.impulse;
                    sum.impedance += force.impedance;
                }
                _ => forces.push(force),
            }
        }
    }
    // Of actuators with gears of 1 and no limits of their own.
    if let (Some((least, most)), Some(sum)) = (tendon.effort_limit, forces.get_mut(2)) {
        (sum.low, sum.high) = (start.dt * least, start.dt * most);
    }
    forces
}

/// The length of a fixed tendon, and its row.
fn tendon_at(start: &Start<'_>, k: usize) -> (f64, Vec<f64>) {
    let (mut length, mut row) = (0.0, vec![0.0; start.model.nv()]);
    for (joint, coefficient) in start.model.tendons[k].terms() {
        let joint = &start.model.joints[*joint];
        row[joint.v] += coefficient;
        length += coefficient * start.q[joint.q];
    }
    (length, row)
}

/// What acts on the degrees of freedom in a step.
pub struct Forces {
    /// Impulses, without those of drives.
    pub impulse: Vec<f64>,
    /// Λ without drives.
    pub lambda: Vec<f64>,
    pub drives: Vec<Drive>,
}

impl Forces {
    pub fn new(start: &Start<'_>, state: &State) -> Self {
        let Start { model, dt, q, v, .. } = *start;
        let mut forces = Self { impulse: Vec::new(), lambda: Vec::new(), drives: Vec::new() };
        let mut stretch = vec![0.0; model.nv()];
        multibody::difference(&model.tree, &model.spring_reference, q, &mut stretch);
        for i in 0..model.nv() {
            let (k, d) = (model.stiffness[i], model.damping[i]);
            let force = state.applied_force[i] - k * stretch[i] - d * v[i];
            let Force { impulse, impedance, .. } =
                Force::new(dt, [force, k, d], [v[i], start.weights.of_axis(i)], Force::FREE);
            forces.impulse.push(impulse);
            forces.lambda.push(model.armature[i] + impedance);
        }
        forces.add_servos(start);
        forces.add_pd(start, state);
        forces.add_tendons(start);
        forces.settle(start);
        forces
    }

    /// Actuators of joints, or all of them together where their sum is limited.
    fn add_servos(&mut self, start: &Start<'_>) {
        let Start { model, dt, q, v, .. } = *start;
        for (ctrl, actuator) in model.actuators.iter().enumerate() {
            let Transmission::Joint { joint, gear } = actuator.transmission else { continue };
            let joint = &model.joints[joint];
            let force = Force::of_actuator(start, ctrl, gear, [q[joint.q], v[joint.v]]);
            let is_joint = |drive: &&mut Drive| drive.dof == joint.v && joint.effort_limit.is_some();
            if let Some(other) = self.drives.iter_mut().find(is_joint) {
                let [a, b] = [other.force, force].map(|force| {
                    let constant = force.cut(force.impulse);
                    let fixed = Force { impulse: constant, low: constant, high: constant, ..force };
                    if force.impedance > 0.0 { force } else { fixed }
                });
                other.force = Force {
                    impulse: a.impulse + b.impulse,
                    impedance: a.impedance + b.impedance,
                    low: a.low + b.low,
                    high: a.high + b.high,
                };
            } else {
                self.drives.push(Drive { key: Key::Servo(ctrl), dof: joint.v, force, is_apart: false });
            }
        }
        let beside = Self::beside_servos(start);
        for joint in model.joints.iter().filter(|joint| joint.effort_limit.is_some() && joint.kind.nv() == 1) {
            if self.drives.iter().all(|drive| drive.dof != joint.v) {
                let force = Force { impulse: 0.0, impedance: 0.0, low: 0.0, high: 0.0 };
                self.drives.push(Drive { key: Key::Pd(joint.v), dof: joint.v, force, is_apart: false });
            }
        }
        for Drive { dof, force, .. } in &mut self.drives {
            let limit = model.joints.iter().find(|joint| joint.v == *dof).and_then(|joint| joint.effort_limit);
            let within = |(low, high): (f64, f64)| (dt * (low - beside[*dof]), dt * (high - beside[*dof]));
            let (least, most) = limit.map_or((f64::NEG_INFINITY, f64::INFINITY), within);
            (force.low, force.high) = (force.low.max(least).min(most), force.high.min(most).max(least));
        }
    }

    /// What else than servos is a force of actuators at joints, at the beginning of the step: gravity compensation, actuators of tendons.
    fn beside_servos(start: &Start<'_>) -> Vec<f64> {
        let model = start.model;
        let mut beside = vec![0.0; model.nv()];
        let lifts = start.bodies.lifts();
        for joint in model.joints.iter().filter(|joint| joint.is_lifted_by_actuators) {
            let dofs = joint.v..joint.v + joint.kind.nv();
            beside[dofs.clone()].copy_from_slice(&lifts[dofs]);
        }
        for k in 0..model.tendons.len() {
            let (length, row) = tendon_at(start, k);
            let sum: f64 = tendon_forces(start, k, length, &row)[2..].iter().map(|f| f.cut(f.impulse)).sum();
            beside.iter_mut().zip(&row).for_each(|(beside, row)| *beside += row * sum / start.dt);
        }
        beside
    }

    /// Stable PD control (Tan, Liu, Turk 2011): positions where the present velocity leads, damping at the end of the step, and as much of
    /// the stiffness as makes it stable.
    fn add_pd(&mut self, start: &Start<'_>, state: &State) {
        let Start { model, dt, q, v, .. } = *start;
        let pd = &state.pd;
        if pd.kp.is_empty() {
            return;
        }
        let mut error = vec![0.0; model.nv()];
        difference_ahead(&model.tree, &pd.target, q, v, dt, &mut error);
        for dofs in &model.tree.dofs {
            let is_limited = pd.effort_limit[dofs.clone()].iter().any(|limit| limit.is_finite());
            for i in dofs.clone().filter(|i| pd.kp[*i] != 0.0 || pd.kd[*i] != 0.0) {
                let (kp, kd) = (pd.kp[i], pd.kd[i]);
                let most = dt * pd.effort_limit[i];
                let impulse = dt * (-kp * error[i] - kd * (v[i] - pd.target_velocity[i]));
                let impedance = dt * kd.max(dt * kp + kd / 3.0);
                if is_limited {
                    let force = Force { impulse, impedance, low: -most, high: most };
                    self.drives.push(Drive { key: Key::Pd(i), dof: i, force, is_apart: false });
                } else {
                    self.impulse[i] += impulse;
                    self.lambda[i] += impedance;
                }
            }
        }
    }

    /// What does not oppose the motion of tendons.
    fn add_tendons(&mut self, start: &Start<'_>) {
        for k in 0..start.model.tendons.len() {
            let (length, row) = tendon_at(start, k);
            let forces = tendon_forces(start, k, length, &row);
            let sum: f64 = forces.iter().filter(|f| f.impedance == 0.0).map(|f| f.cut(f.impulse)).sum();
            self.impulse.iter_mut().zip(&row).for_each(|(impulse, row)| *impulse += row * sum);
        }
    }

    /// Takes drives that nothing opposes as impulses, and those apart that were near a limit in the step before.
    fn settle(&mut self, start: &Start<'_>) {
        let Self { impulse, drives, .. } = self;
        drives.retain_mut(|drive| {
            let force = drive.force;
            if force.impedance <= 0.0 {
                impulse[drive.dof] += force.cut(force.impulse);
                return false;
            }
            let is_near = |impulse: &f64| *impulse <= 0.8 * force.low || *impulse >= 0.8 * force.high;
            drive.is_apart = start.memory.get(&drive.key).is_some_and(is_near);
            true
        });
    }

    /// Λ with those drives that are no constraints, or with all.
    pub fn lambda_with(&self, all: bool) -> Vec<f64> {
        let mut lambda = self.lambda.clone();
        for drive in self.drives.iter().filter(|drive| all || !drive.is_apart) {
            lambda[drive.dof] += drive.force.impedance;
        }
        lambda
    }
}
