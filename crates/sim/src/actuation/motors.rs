//! Motors with a controller on board in a step: their force, and what becomes of their states.

use multibody::{Actuator, Model, Motor, MotorInputs, MotorMotion, Slopes, StepForce};

use super::clamp;
use crate::scheme::{Discretization, SpringDamper};

/// The ranges of a motor's controls.
pub(crate) type ControlRanges = [Option<(f64, f64)>; MotorInputs::MAX];

/// Those of the actuator `ctrl`.
pub(crate) fn control_ranges(model: &Model, ctrl: usize) -> ControlRanges {
    let count = model.actuators[ctrl].controls().min(MotorInputs::MAX);
    std::array::from_fn(|k| if k < count { model.actuators[ctrl + k].ctrl_range } else { None })
}

/// What a motor is told, and its states at the beginning of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotorStart<'a> {
    controls: [f64; MotorInputs::MAX],
    states: &'a [f64],
}

impl<'a> MotorStart<'a> {
    /// That of the motor whose controls and activations begin at these of all.
    pub fn new(ctrl: &[f64], ranges: &ControlRanges, act: &'a [f64]) -> Self {
        let mut given = ctrl.iter();
        let controls = ranges.map(|range| given.next().map_or(0.0, |u| clamp(*u, range)));
        Self { controls, states: act }
    }

    /// What it does in a step.
    pub fn step(&self, motor: &Motor, motion: MotorMotion) -> multibody::MotorStep {
        motor.step(self.controls, self.states, motion)
    }
}

/// The force of a motor over a step, as that of [`force_law`](super::force_law); `mobility` is how easily its length is changed.
pub(crate) fn motor_force(
    actuator: &Actuator,
    force: multibody::MotorStep,
    velocity: f64,
    mobility: f64,
    step: &Discretization,
) -> StepForce<f64> {
    let (dt, gain) = (step.dt, actuator.law.gain);
    let (low, high) = actuator.force_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let Slopes { value, by_length, by_velocity } = force.force.plus(force.mechanism);
    // What would feed energy in stays explicit.
    let (stiffness, damping) = ((-gain * by_length).max(0.0), (-gain * by_velocity).max(0.0));
    let SpringDamper { ahead, impedance } = step.resist(stiffness, damping, mobility);
    let beyond = dt * gain * force.mechanism.value;
    StepForce {
        impulse: dt * (gain * value - ahead * velocity),
        impedance,
        low: dt * low + beyond,
        high: dt * high + beyond,
    }
}

/// Where a step began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActuationStart<'a> {
    /// Controls, (nu).
    pub ctrl: &'a [f64],
    /// Positions and velocities.
    pub q: &'a [f64],
    pub v: &'a [f64],
}

/// Moves the states of the motor `ctrl` to the end of a step.
pub(super) fn advance_motor(model: &Model, ctrl: usize, start: &ActuationStart<'_>, act: &mut [f64], dt: f64) {
    let (Some(motor), Some([length, velocity])) =
        (&model.actuators[ctrl].motor, model.motion_of_actuator(ctrl, start.q, start.v))
    else {
        return;
    };
    let next = MotorStart::new(&start.ctrl[ctrl..], &control_ranges(model, ctrl), act)
        .step(motor, MotorMotion { length, velocity, dt })
        .next;
    act.iter_mut().zip(next).for_each(|(act, next)| *act = next);
}
