//! Actuators of a robot, which its file does not describe: those of its `<transmission>`s (URDF), else one for each joint.

use multibody::{Actuator, ActuatorLaw, Coordinate, EqualityKind, InverseWeights, Model, Transmission};

use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// What drives the joints of a robot of URDF or SDFormat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Actuators {
    /// Nothing: the format has no actuators.
    #[default]
    None,
    /// Motors: a control is a force, N or N·m.
    Motors,
    /// Position servos: a control is a coordinate, rad or m. Each is critically damped, with a natural frequency of [`SERVO_FREQUENCY`] at the
    /// inertia that it moves in the default configuration.
    PositionServos,
}

/// rad/s: an arm of length l that is held level sags by about 1 / (l ω²/g) rad, a hundredth at 1 m.
pub const SERVO_FREQUENCY: f64 = 30.0;

/// A joint that is driven.
struct Driven {
    name: String,
    joint: usize,
}

/// The `<transmission>`s of a robot, which count as read.
pub(crate) fn transmissions(robot: Element<'_>) -> Vec<Element<'_>> {
    let transmissions: Vec<_> = robot.children_named("transmission").collect();
    transmissions.iter().for_each(|transmission| transmission.skip_all());
    transmissions
}

/// Adds the actuators that are asked for.
pub(crate) fn add(
    transmissions: &[Element<'_>],
    model: &mut Model,
    kind: Actuators,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    let driven = driven(transmissions, model, kind, warnings)?;
    if kind == Actuators::None {
        return Ok(());
    }
    let weights = InverseWeights::new(model);
    for Driven { name, joint } in driven {
        let of = &model.joints[joint];
        let (law, ctrl_range) = match kind {
            Actuators::PositionServos => {
                let inertia = 1.0 / weights.dofs[of.v];
                let (kp, kv) = (inertia * SERVO_FREQUENCY * SERVO_FREQUENCY, 2.0 * inertia * SERVO_FREQUENCY);
                (ActuatorLaw::fixed(kp, [0.0, -kp, -kv]), of.range)
            }
            Actuators::None | Actuators::Motors => (ActuatorLaw::fixed(1.0, [0.0; 3]), of.effort_limit),
        };
        let transmission = Transmission::Joint { joint, gear: 1.0 };
        model.actuators.push(Actuator {
            name,
            transmission,
            law,
            activation: None,
            motor: None,
            ctrl_range,
            force_range: None,
            delay: None,
            group: 0,
        });
    }
    Ok(())
}

/// The joints that have an actuator, and its name: those of `<transmission>`, or all with one degree of freedom that follow no other.
fn driven(
    transmissions: &[Element<'_>],
    model: &Model,
    kind: Actuators,
    warnings: &mut Warnings,
) -> Result<Vec<Driven>, LoadError> {
    if kind == Actuators::None {
        for transmission in transmissions {
            warnings
                .add(*transmission, "no actuator is made of it, unless loading asks for actuators: motor or position");
        }
        return Ok(Vec::new());
    }
    let is_scalar = |joint: usize| model.joints[joint].kind.nv() == 1;
    let mut driven = Vec::new();
    for transmission in transmissions {
        let names = transmission.children_named("actuator").map(|actuator| actuator.peek("name"));
        let mut names = names.collect::<Vec<_>>().into_iter();
        for element in transmission.children_named("joint") {
            let joint = element.required("name")?;
            let name = names.next().flatten().unwrap_or(joint);
            match model.joint(joint).filter(|joint| is_scalar(*joint)) {
                Some(joint) => driven.push(Driven { name: name.into(), joint }),
                None => warnings.add(element, "names no joint with one degree of freedom: no actuator is made of it"),
            }
        }
    }
    if transmissions.is_empty() {
        let follows = |joint: usize| {
            model.equalities.iter().any(|equality| {
                matches!(equality.kind, EqualityKind::Coupling { y: (Coordinate::Joint(y), _), .. } if y == joint)
            })
        };
        let joints = (0..model.joints.len()).filter(|joint| is_scalar(*joint) && !follows(*joint));
        driven.extend(joints.map(|joint| Driven { name: model.joints[joint].name.clone(), joint }));
    }
    Ok(driven)
}
