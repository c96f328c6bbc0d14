//! Motors with a controller on board.

use multibody::{Actuator, BristleFriction, Cogging, Controller, Heat, Motor, MotorInputs, Winding};

use super::super::motor_law::INPUTS;
use super::numbers::{list, number};
use super::xml::Attributes;

/// A motor's element and its attributes; `inputs` are the actuator itself and those that stand for its further controls.
pub(super) fn motor(motor: &Motor, inputs: &[Actuator]) -> (&'static str, Attributes) {
    let mut attributes = vec![("input", words(motor.inputs))];
    let Some(winding) = &motor.winding else {
        attributes.extend(pid(motor, inputs));
        return ("pid", attributes);
    };
    let Controller { kp, ki, kd, integral_limit, fastest_input, .. } = motor.controller;
    let Winding { resistance, motor_constant, voltage_limit, time_constant, fastest_current, heat, cogging, friction } =
        *winding;
    attributes.extend([("motorconst", number(motor_constant)), ("resistance", number(resistance))]);
    if motor.inputs.has_controller() {
        let numbers = [kp, ki, kd, finite(fastest_input), finite(integral_limit), finite(voltage_limit)];
        attributes.push(("controller", list(&numbers)));
    }
    if time_constant > 0.0 {
        attributes.push(("inductance", list(&[0.0, time_constant])));
    }
    let most = inputs.first().and_then(|own| own.force_range).map_or(0.0, |(_, most)| most);
    if fastest_current.is_finite() || most > 0.0 {
        attributes.push(("saturation", list(&[most, 0.0, finite(fastest_current)])));
    }
    if let Some(Heat { resistance, capacity, coefficient, reference, ambient }) = heat {
        attributes.push(("thermal", list(&[resistance, capacity, 0.0, coefficient, reference, ambient])));
    }
    let Cogging { amplitude, periods, phase } = cogging;
    if amplitude != 0.0 {
        attributes.push(("cogging", list(&[amplitude, periods, phase])));
    }
    if let Some(BristleFriction { stiffness, damping, sliding, sticking, speed }) = friction {
        attributes.push(("lugre", list(&[stiffness, damping, sliding, sticking, speed])));
    }
    ("dcmotor", attributes)
}

fn pid(motor: &Motor, inputs: &[Actuator]) -> Attributes {
    let Controller { kp, ki, kd, integral_limit, fastest_input, .. } = motor.controller;
    let mut attributes = vec![("kp", number(kp)), ("kv", number(kd))];
    if ki > 0.0 {
        attributes.push(("ki", number(ki)));
        attributes.push(("imax", number(finite(integral_limit))));
    }
    if fastest_input.is_finite() {
        attributes.push(("slewmax", number(fastest_input)));
    }
    let MotorInputs { position, velocity, force, .. } = motor.inputs;
    let all = [(position, "posrange"), (velocity, "velrange"), (force, "ffrange")];
    for ((_, name), input) in all.into_iter().filter(|(is_there, _)| *is_there).zip(inputs) {
        attributes.extend(input.ctrl_range.map(|(low, high)| (name, list(&[low, high]))));
    }
    attributes
}

fn words(inputs: MotorInputs) -> String {
    let MotorInputs { position, velocity, force, voltage } = inputs;
    let present = INPUTS.into_iter().zip([position, velocity, force, voltage]).filter(|(_, is_there)| *is_there);
    present.map(|(word, _)| word).collect::<Vec<_>>().join(" ")
}

/// 0 in the place of no limit.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
