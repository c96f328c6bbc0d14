//! Actuators must fit what they act on, and be followed by the controls that they take.

use super::{check_finite, check_index, element};
use crate::{ActivationDynamics, Actuator, BuildError, Delay, JointKind, Model, Transmission};

/// Checks all actuators of a model.
pub(super) fn check(model: &Model) -> Result<(), BuildError> {
    let mut lacking = 0;
    for (index, actuator) in model.actuators.iter().enumerate() {
        check_actuator(actuator, model)?;
        check_motor(index, actuator, model)?;
        let is_input = actuator.transmission == Transmission::Input;
        if is_input != (lacking > 0) {
            let what = format!("{}: further controls", element("actuator", index, &actuator.name));
            let expected = "as many of the kind `Input` behind an actuator as it takes controls beyond one";
            return Err(BuildError::OutOfRange { what, value: f64::from(u8::from(is_input)), expected });
        }
        lacking = if is_input { lacking - 1 } else { actuator.controls().saturating_sub(1) };
    }
    if lacking > 0 {
        let what = "the last actuator: further controls".into();
        return Err(BuildError::OutOfRange { what, value: 0.0, expected: "as many behind it as it takes" });
    }
    Ok(())
}

/// A motor acts along one length, and an actuator that turns to an orientation on a ball.
fn check_motor(index: usize, actuator: &Actuator, model: &Model) -> Result<(), BuildError> {
    let what = || element("actuator", index, &actuator.name);
    if let Transmission::Orientation { joint, .. } = actuator.transmission
        && model.joints[joint].kind != JointKind::Ball
    {
        let (joint, kind) = (model.joints[joint].name.clone(), model.joints[joint].kind.name());
        return Err(BuildError::NotBall { what: what(), joint, kind });
    }
    let Some(motor) = &actuator.motor else { return Ok(()) };
    check_finite(&motor.numbers().collect::<Vec<_>>(), || format!("{}: motor", what()))?;
    if motor.inputs.count() == 0 {
        let what = format!("{}: inputs of a motor", what());
        return Err(BuildError::OutOfRange { what, value: 0.0, expected: "one at least" });
    }
    let has_length = match actuator.transmission {
        Transmission::Joint { joint, .. } => model.joints[joint].kind.nv() == 1,
        Transmission::Tendon { tendon, .. } => !model.tendons[tendon].is_spatial(),
        Transmission::Unsupported => true,
        _ => false,
    };
    if !has_length || actuator.activation.is_some() {
        let what = format!("{}: what a motor acts on", what());
        let expected = "a joint with one degree of freedom or a fixed tendon, and no activation beside its states";
        return Err(BuildError::OutOfRange { what, value: index as f64, expected });
    }
    Ok(())
}

fn check_actuator(actuator: &Actuator, model: &Model) -> Result<(), BuildError> {
    check_activation(actuator)?;
    check_delay(actuator)?;
    let there = |kind, index, count| check_index(kind, index, count, &format!("actuator {:?}", actuator.name));
    match actuator.transmission {
        Transmission::Joint { joint, .. }
        | Transmission::JointAxes { joint, .. }
        | Transmission::Orientation { joint, .. } => there("joint", joint, model.joints.len()),
        Transmission::Tendon { tendon, .. } => there("tendon", tendon, model.tendons.len()),
        Transmission::Adhesion { body } => there("body", body, model.bodies.len()),
        _ => actuator.transmission.sites().try_for_each(|site| there("site", site, model.sites.len())),
    }
}

fn check_delay(actuator: &Actuator) -> Result<(), BuildError> {
    let Some(Delay { time, samples, .. }) = actuator.delay else { return Ok(()) };
    let what = format!("actuator {:?}: delay", actuator.name);
    if !(time > 0.0 && time.is_finite()) {
        return Err(BuildError::OutOfRange { what, value: time, expected: "a finite time above 0" });
    }
    if !(1..=Delay::MAX_SAMPLES).contains(&samples) {
        let what = format!("{what}: samples");
        return Err(BuildError::OutOfRange { what, value: samples as f64, expected: "1 to 10,000" });
    }
    Ok(())
}

/// Numbers of the activation.
fn check_activation(actuator: &Actuator) -> Result<(), BuildError> {
    let mut numbers = Vec::new();
    if let Some(activation) = &actuator.activation {
        match activation.dynamics {
            ActivationDynamics::Integrator | ActivationDynamics::Frozen => {}
            ActivationDynamics::Filter { time_constant } | ActivationDynamics::ExactFilter { time_constant } => {
                numbers.push(time_constant);
            }
            ActivationDynamics::Muscle { time_constants, smoothing } => {
                numbers.extend([time_constants.0, time_constants.1, smoothing]);
            }
        }
        numbers.extend(activation.range.into_iter().flat_map(|(low, high)| [low, high]));
    }
    check_finite(&numbers, || format!("actuator {:?}: activation", actuator.name))
}
