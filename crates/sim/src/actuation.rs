//! Actuators in the free motion: their stiffness and damping are implicit, their force limits are kept.

use multibody::{Actuator, JointKind, Model, Node, Transmission};

/// An actuator on a joint with one degree of freedom.
#[derive(Clone, Debug)]
pub(crate) struct Servo {
    ctrl: usize,
    /// Coordinate and degree of freedom within the tree.
    q: usize,
    dof: usize,
    gear: f64,
    actuator: Actuator,
    /// Force (before the gear) at the beginning of the step, and what of it is implicit.
    force: f64,
    stiffness: f64,
    damping: f64,
}

impl Servo {
    /// The servo of actuator `ctrl`, if it is one; `first` is the first node of its tree.
    pub fn new(model: &Model, first: &Node<f64>, ctrl: usize) -> Option<Self> {
        let actuator = &model.actuators[ctrl];
        let Transmission::Joint { joint, gear } = actuator.transmission else { return None };
        let joint = &model.joints[joint];
        if joint.kind.nv() != 1 {
            return None;
        }
        let node = &model.tree.nodes[joint.nodes.start];
        // What would feed energy in stays explicit: an implicit negative impedance is no convex problem.
        let [_, b1, b2] = actuator.law.bias;
        Some(Self {
            ctrl,
            q: node.q - first.q,
            dof: node.v - first.v,
            gear,
            actuator: actuator.clone(),
            force: 0.0,
            stiffness: (-b1).max(0.0),
            damping: (-b2).max(0.0),
        })
    }

    /// Adds the implicit impedance to Λ and the impulse to the right-hand side.
    pub fn engage(&mut self, ctrl: &[f64], q: &[f64], v: &[f64], dt: f64, lambda: &mut [f64], rhs: &mut [f64]) {
        let law = &self.actuator.law;
        let u = clamp(ctrl[self.ctrl], self.actuator.ctrl_range);
        let (length, velocity) = (self.gear * q[self.q], self.gear * v[self.dof]);
        self.force = law.gain * u + law.bias[0] + law.bias[1] * length + law.bias[2] * velocity;
        if self.stiffness == 0.0 && self.damping == 0.0 {
            // Nothing of it depends on the solution: the limit can be kept at once.
            self.force = clamp(self.force, self.actuator.force_range);
            rhs[self.dof] += dt * self.gear * self.force;
            return;
        }
        lambda[self.dof] += self.impedance(dt);
        rhs[self.dof] += self.impulse(v, dt);
    }

    fn impedance(&self, dt: f64) -> f64 {
        self.gear * self.gear * dt * (self.damping + dt * self.stiffness)
    }

    fn impulse(&self, v: &[f64], dt: f64) -> f64 {
        dt * self.gear * (self.force - dt * self.stiffness * self.gear * v[self.dof])
    }

    /// Replaces the implicit law by the force limit if the law's force at the end of the step is beyond it;
    /// `change` is v* − v₀. Returns whether it did.
    pub fn saturate(&mut self, change: &[f64], v: &[f64], dt: f64, lambda: &mut [f64], rhs: &mut [f64]) -> bool {
        let Some(range) = self.actuator.force_range else { return false };
        if self.stiffness == 0.0 && self.damping == 0.0 {
            return false;
        }
        let (start, delta) = (self.gear * v[self.dof], self.gear * change[self.dof]);
        let end = self.force - dt * self.stiffness * (start + delta) - self.damping * delta;
        let limited = clamp(end, Some(range));
        if limited == end {
            return false;
        }
        lambda[self.dof] -= self.impedance(dt);
        rhs[self.dof] += dt * self.gear * limited - self.impulse(v, dt);
        true
    }
}

/// An actuator along fixed axes of a ball or free joint; explicit.
#[derive(Clone, Debug)]
pub(crate) struct AxisDrive {
    ctrl: usize,
    dof: usize,
    axes: usize,
    gear: [f64; 6],
    actuator: Actuator,
}

impl AxisDrive {
    /// The drive of actuator `ctrl`, if it is one; `first` is the first node of its tree.
    pub fn new(model: &Model, first: &Node<f64>, ctrl: usize) -> Option<Self> {
        let actuator = &model.actuators[ctrl];
        let Transmission::JointAxes { joint, gear } = actuator.transmission else { return None };
        let joint = &model.joints[joint];
        matches!(joint.kind, JointKind::Ball | JointKind::Free).then(|| {
            let (dof, axes) = (joint.v - first.v, joint.kind.nv());
            Self { ctrl, dof, axes, gear, actuator: actuator.clone() }
        })
    }

    /// Adds the impulse to the right-hand side.
    pub fn add_impulse(&self, ctrl: &[f64], v: &[f64], dt: f64, rhs: &mut [f64]) {
        let law = &self.actuator.law;
        let u = clamp(ctrl[self.ctrl], self.actuator.ctrl_range);
        let velocity: f64 = (0..self.axes).map(|k| self.gear[k] * v[self.dof + k]).sum();
        let force = clamp(law.gain * u + law.bias[0] + law.bias[2] * velocity, self.actuator.force_range);
        for k in 0..self.axes {
            rhs[self.dof + k] += dt * self.gear[k] * force;
        }
    }
}

fn clamp(x: f64, range: Option<(f64, f64)>) -> f64 {
    match range {
        Some((low, high)) => x.max(low).min(high),
        None => x,
    }
}
