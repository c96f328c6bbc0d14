//! Actuators of a robot, which its file does not describe: those of its `<transmission>`s (URDF), else one for each joint.

use std::collections::BTreeMap;

use geometry::Scene;
use multibody::{
    Actuator, ActuatorLaw, Body, Coordinate, EqualityKind, InverseWeights, Joint, JointKind, JointType, Model,
    Transmission,
};

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
    /// Position servos: a control is a coordinate, rad or m. Each is at least so stiff that it has a natural frequency of [`SERVO_FREQUENCY`] at
    /// the inertia that it moves in the default configuration, and critically damped there. Those of robots that float are stiffer where legs
    /// need it: they give way by no more than [`SERVO_SAG`] under the robot's weight at the end of the stretched limb, or under their effort where
    /// that is less.
    PositionServos,
}

/// rad/s: an arm of length l that is held level sags by about 1 / (l ω²/g) rad, a hundredth at 1 m.
pub const SERVO_FREQUENCY: f64 = 30.0;

/// rad, and of joints that slide the same share of the limb's length.
pub const SERVO_SAG: f64 = 0.25;

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
    scene: &Scene,
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
                let kp = (inertia * SERVO_FREQUENCY * SERVO_FREQUENCY).max(bearing_stiffness(model, scene, joint));
                (ActuatorLaw::fixed(kp, [0.0, -kp, -2.0 * kp / SERVO_FREQUENCY]), of.range)
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

/// How stiff a servo must be for [`SERVO_SAG`], N·m/rad or N/m; 0 of a robot that does not float.
fn bearing_stiffness(model: &Model, scene: &Scene, joint: usize) -> f64 {
    let of = &model.joints[joint];
    let Joint { body, kind, ref nodes, .. } = *of;
    let Some(tree) = model.tree.trees.iter().find(|tree| tree.contains(&nodes.start)) else { return 0.0 };
    if model.tree.nodes[tree.start].joint != JointType::Free {
        return 0.0;
    }
    let is_of_tree = |body: &&Body| body.node.is_some_and(|node| tree.contains(&node));
    let mass: f64 = model.bodies.iter().filter(is_of_tree).map(|body| body.inertia.mass).sum();
    let (weight, limb) = (mass * model.gravity.norm(), reach(model, scene, body));
    let effort = of.effort_both_ways().unwrap_or(f64::INFINITY);
    match kind {
        JointKind::Prismatic { .. } if limb > 0.0 => weight.min(effort) / (SERVO_SAG * limb),
        JointKind::Prismatic { .. } => 0.0,
        _ => (weight * limb).min(effort) / SERVO_SAG,
    }
}

/// How far the farthest frame, shape or centre of mass of what hangs on a body is from its origin where all is stretched, m.
fn reach(model: &Model, scene: &Scene, body: usize) -> f64 {
    let parts: Vec<usize> = model.subtree(body).collect();
    let mut reaches: BTreeMap<usize, f64> =
        parts.iter().map(|part| (*part, model.bodies[*part].inertia.com.norm())).collect();
    for geom in &scene.geoms {
        if let Some(own) = reaches.get_mut(&geom.body) {
            *own = own.max(geom.pose.pos.norm());
        }
    }
    for part in parts.into_iter().rev().filter(|part| *part != body) {
        let Body { parent, ref pose_in_parent, .. } = model.bodies[part];
        let all = pose_in_parent.pos.norm() + reaches.get(&part).copied().unwrap_or(0.0);
        reaches.entry(parent).and_modify(|above| *above = above.max(all));
    }
    reaches.get(&body).copied().unwrap_or(0.0)
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
