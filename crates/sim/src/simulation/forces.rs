//! The forces of the last step by their origin, and its accelerations.
//!
//! A step does not gather them, as most programs never ask. It keeps a few vectors of its beginning: these and the workspaces of the trees
//! give every force on request. Code that uses the workspaces for something else between steps calls [`Simulation::keep_forces`] before.

use super::Simulation;
use multibody::{Joint, Motor, MotorMotion, Transmission, gear_of_axes, length_of_axes};

use crate::actuation::{Leverage, MotorStart, axis_force, control_ranges, force_of_step, motor_force, torques_of_step};
use crate::scheme::Discretization;
use crate::step_forces::{ActingForces, KnownForces, LastStep, StepForces};

impl Simulation {
    /// The forces of the last step by their origin; zero before the first, and after one that failed.
    pub fn step_forces(&mut self) -> &StepForces {
        self.keep_forces();
        &self.last_step.forces
    }

    /// Those of actuators and constraints among them, which take less to find.
    pub fn acting_forces(&mut self) -> ActingForces<'_> {
        self.keep_acting_forces();
        let StepForces { actuators, actuation, constraint, .. } = &self.last_step.forces;
        ActingForces { actuators, actuation, constraint }
    }

    /// Finds the forces of the last step while the workspaces know them.
    pub(super) fn keep_forces(&mut self) {
        if self.last_step.known == KnownForces::All {
            return;
        }
        self.keep_acting_forces();
        let mut last = std::mem::take(&mut self.last_step);
        last.known = KnownForces::All;
        if last.dt > 0.0 {
            let (step, is_of_lane) = (self.discretization(last.dt), self.is_of_lane());
            let mut forces = std::mem::take(&mut last.forces);
            for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
                if is_of_lane {
                    workspace.place_loads(&last.q);
                }
                workspace.add_passive_forces(&last, &step, &mut forces.passive);
            }
            last.forces = forces;
        }
        self.last_step = last;
    }

    fn keep_acting_forces(&mut self) {
        if self.last_step.known >= KnownForces::Acting {
            return;
        }
        let mut last = std::mem::take(&mut self.last_step);
        last.known = KnownForces::Acting;
        last.forces.clear(&self.model);
        if last.dt > 0.0 {
            self.follow_lane(&mut last);
            self.find_acting_forces(&mut last);
        }
        self.last_step = last;
    }

    fn find_acting_forces(&mut self, last: &mut LastStep) {
        let (step, is_of_lane) = (self.discretization(last.dt), self.is_of_lane());
        let mut forces = std::mem::take(&mut last.forces);
        for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
            if !is_of_lane {
                workspace.write_constraint_forces(last, &mut forces);
            }
            workspace.add_drive_forces(last, &step, &mut forces);
        }
        self.sources.add_tendon_forces(last, &step, &self.trees, &mut forces);
        let StepForces { actuators, actuation, .. } = &mut forces;
        self.sources.write_actuators(last, &step, &self.trees, actuators);
        actuation.iter_mut().zip(&self.adhesion.force).for_each(|(force, pull)| *force += pull);
        for (ctrl, (actuator, force)) in self.model.actuators.iter().zip(&mut *actuators).enumerate() {
            let leverage = Leverage::new(&self.model, &self.inverse_weights, ctrl);
            *force = match &actuator.transmission {
                Transmission::Joint { joint, gear } if self.model.joints[*joint].kind.nv() == 1 => {
                    let joint = &self.model.joints[*joint];
                    let [q, start, end] = [last.q[joint.q], last.v0[joint.v], last.v[joint.v]].map(|x| gear * x);
                    match &actuator.motor {
                        Some(motor) => self.force_of_motor(motor, ctrl, [q, start, end], last, &step),
                        None => force_of_step(actuator, last.inputs[ctrl], q, start, end, leverage, &step),
                    }
                }
                Transmission::Tendon { .. } | Transmission::Site { .. } | Transmission::SliderCrank { .. } => continue,
                Transmission::JointAxes { joint, gear, frame } => {
                    let joint = &self.model.joints[*joint];
                    let q = &last.q[joint.q..][..joint.kind.nq()];
                    let (gear, length) = (gear_of_axes(*gear, *frame, q), length_of_axes(*gear, q));
                    let theta = if self.options.scheme.is_implicit() { step.theta.v } else { 0.0 };
                    let at = joint.v..joint.v + joint.kind.nv().min(gear.len());
                    let ends = last.v0[at.clone()].iter().zip(&last.v[at]);
                    let velocity = ends.zip(gear).map(|((v0, v), gear)| gear * (v0 + theta * (v - v0))).sum();
                    axis_force(actuator, last.inputs[ctrl], length, velocity, leverage.turn)
                }
                Transmission::Adhesion { .. } => axis_force(actuator, last.inputs[ctrl], 0.0, 0.0, None),
                _ => 0.0,
            };
        }
        self.write_orientation_torques(last, &step, actuators);
        last.forces = forces;
    }

    /// The force of a motor at a joint in the last step, of which its length and its rate at both ends are given.
    fn force_of_motor(
        &self,
        motor: &Motor,
        ctrl: usize,
        [length, start, end]: [f64; 3],
        last: &LastStep,
        step: &Discretization,
    ) -> f64 {
        let act = self.model.activation_index(ctrl).and_then(|at| last.act.get(at..)).unwrap_or_default();
        let motion = MotorMotion { length, velocity: start, dt: last.dt };
        let force = MotorStart::new(&last.inputs[ctrl..], &control_ranges(&self.model, ctrl), act).step(motor, motion);
        let mobility = self.inverse_weights.of_actuator(&self.model, ctrl);
        motor_force(&self.model.actuators[ctrl], force, start, mobility, step).over(end - start) / last.dt
    }

    /// Sets the torques of actuators that turn balls to orientations, one for each of the first three controls.
    fn write_orientation_torques(&self, last: &LastStep, step: &Discretization, out: &mut [f64]) {
        for (ctrl, actuator) in self.model.actuators.iter().enumerate() {
            let Transmission::Orientation { joint, .. } = actuator.transmission else { continue };
            let Joint { q, v, .. } = self.model.joints[joint];
            let velocities = [&last.v0, &last.v].map(|of| [of[v], of[v + 1], of[v + 2]]);
            let mobility = self.inverse_weights.of_actuator(&self.model, ctrl);
            let from = (&last.inputs[..], &last.q[q..]);
            let torques = torques_of_step(&self.model, ctrl, from, velocities, mobility, step);
            out[ctrl..ctrl + 3].copy_from_slice(&torques);
        }
    }
}
