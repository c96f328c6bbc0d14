//! The forces of the last step by their origin, and its accelerations.
//!
//! A step does not gather them: most programs never ask. It keeps what it started from, a few vectors, and what it leaves in the
//! workspaces of the trees is enough to find every force when someone asks. Whatever uses the workspaces for something else between steps
//! calls [`Simulation::keep_forces`] before.

use super::Simulation;
use crate::State;
use crate::actuation::{axis_force, force_of_step};

/// Forces of the last step by their origin, N or N·m: impulses over the step's length.
///
/// With M (armature included) and the bias forces c as the scheme takes them, M (v − v₀)/dt + c = `actuation` + `pd` + `passive` +
/// `constraint` + applied forces. Of a step that was made in parts, and under error control, these are the forces of the last part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepForces {
    /// Of each actuator, before its gear and within its own limits, (nu).
    pub actuators: Vec<f64>,
    /// Of all actuators on the degrees of freedom, within the joints' effort limits, (nv).
    pub actuation: Vec<f64>,
    /// Of the PD controller, (nv).
    pub pd: Vec<f64>,
    /// Of springs and dampers of joints and tendons, and of gravity compensation, (nv).
    pub passive: Vec<f64>,
    /// Of contacts, limits, equalities and dry friction, (nv).
    pub constraint: Vec<f64>,
}

impl StepForces {
    /// Zero, where there are none yet.
    pub(crate) fn ensure(&mut self, nu: usize, nv: usize) {
        if self.actuators.len() != nu || self.actuation.len() != nv {
            self.clear(nu, nv);
        }
    }

    pub(crate) fn clear(&mut self, nu: usize, nv: usize) {
        let Self { actuators, actuation, pd, passive, constraint } = self;
        for (x, n) in [(actuators, nu), (actuation, nv), (pd, nv), (passive, nv), (constraint, nv)] {
            x.clear();
            x.resize(n, 0.0);
        }
    }
}

/// What a step started from and led to.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastStep {
    /// Its length, s; 0 when there was none.
    pub dt: f64,
    /// The same of the last step that succeeded.
    pub length: f64,
    /// Positions at its beginning, (nq).
    pub q: Vec<f64>,
    /// Velocities of the state at its beginning, those after impacts, and those at its end, (nv).
    pub v_before: Vec<f64>,
    pub v0: Vec<f64>,
    pub v: Vec<f64>,
    /// Controls, in their place activations of the step, (nu).
    pub inputs: Vec<f64>,
    /// Limits of the PD controller, (nv); empty without one.
    pub pd_limits: Vec<f64>,
    /// (velocities of the state at its end − those at its beginning) / dt, (nv).
    pub acceleration: Vec<f64>,
    /// Changes with the step.
    pub serial: u64,
    pub forces: StepForces,
    /// Whether `forces` are this step's.
    pub has_forces: bool,
}

impl LastStep {
    /// Notes what a step from `state` led to.
    pub fn begin(&mut self, state: &State, (v0, v): (&[f64], &[f64]), dt: f64) {
        (self.dt, self.length, self.has_forces) = (dt, dt, false);
        self.serial = self.serial.wrapping_add(1);
        self.pd_limits.clear();
        if state.pd.is_active() {
            self.pd_limits.extend_from_slice(&state.pd.effort_limit);
        }
        let vectors = [
            (&mut self.q, &state.q[..]),
            (&mut self.v_before, &state.v),
            (&mut self.inputs, &state.ctrl),
            (&mut self.v0, v0),
            (&mut self.v, v),
        ];
        for (to, from) in vectors {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// Notes the velocities that the step left in the state.
    pub fn end(&mut self, v: &[f64]) {
        let per_second = 1.0 / self.dt;
        self.acceleration.clear();
        self.acceleration.extend(v.iter().zip(&self.v_before).map(|(v, v0)| (v - v0) * per_second));
    }

    /// The workspaces will be those of another step: forces that nobody asked for until now are lost, if that step fails.
    pub fn forget_workspaces(&mut self) {
        if !self.has_forces {
            self.dt = 0.0;
        }
    }

    /// There was no step.
    pub fn clear(&mut self) {
        (self.dt, self.length, self.has_forces) = (0.0, 0.0, false);
        self.serial = self.serial.wrapping_add(1);
        self.acceleration.fill(0.0);
    }
}

impl Simulation {
    /// The forces of the last step by their origin; zero before the first, and after one that failed.
    pub fn step_forces(&mut self) -> &StepForces {
        self.keep_forces();
        &self.last_step.forces
    }

    /// Finds the forces of the last step while the workspaces know them.
    pub(super) fn keep_forces(&mut self) {
        if self.last_step.has_forces {
            return;
        }
        let mut last = std::mem::take(&mut self.last_step);
        last.has_forces = true;
        last.forces.clear(self.model.nu(), self.model.nv());
        if last.dt > 0.0 {
            self.find_forces(&mut last);
        }
        self.last_step = last;
    }

    fn find_forces(&mut self, last: &mut LastStep) {
        let step = self.discretization(last.dt);
        let mut forces = std::mem::take(&mut last.forces);
        for part in self.parts.iter_mut().filter(|part| !part.asleep) {
            part.add_step_forces(last, &step, &mut forces);
        }
        self.sources.add_tendon_forces(last, &step, &self.parts, &mut forces);
        let StepForces { actuators, .. } = &mut forces;
        for (ctrl, (actuator, force)) in self.model.actuators.iter().zip(actuators).enumerate() {
            *force = match &actuator.transmission {
                multibody::Transmission::Joint { joint, gear } if self.model.joints[*joint].kind.nv() == 1 => {
                    let joint = &self.model.joints[*joint];
                    let rates = (gear * last.v0[joint.v], gear * last.v[joint.v]);
                    force_of_step(actuator, last.inputs[ctrl], gear * last.q[joint.q], rates, &step)
                }
                multibody::Transmission::Tendon { tendon, gear } => {
                    let (length, [start, end], own) = self.sources.tendon_motion(*tendon, last, &step, &self.parts);
                    force_of_step(actuator, last.inputs[ctrl], gear * length, (gear * start, gear * end), &own)
                }
                multibody::Transmission::JointAxes { joint, gear } => {
                    let joint = &self.model.joints[*joint];
                    let theta = if self.options.scheme.is_implicit() { step.theta.v } else { 0.0 };
                    let at = joint.v..joint.v + joint.kind.nv().min(gear.len());
                    let ends = last.v0[at.clone()].iter().zip(&last.v[at]);
                    let velocity = ends.zip(gear).map(|((v0, v), gear)| gear * (v0 + theta * (v - v0))).sum();
                    axis_force(actuator, last.inputs[ctrl], velocity)
                }
                _ => 0.0,
            };
        }
        last.forces = forces;
    }
}
