//! `<joint>`.

use multibody::{JointKind, JointSpec};
use spatial::Vec3;

use super::Version;
use super::layout::{Joint, Layout};
use super::value;
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Up to this version axes were meant in the frame of the model.
const AXES_IN_JOINT_FRAME: Version = Version { major: 1, minor: 5 };

/// A joint of the model, and what it follows.
pub(super) struct AxisJoint<'a> {
    /// The joint.
    pub spec: JointSpec,
    /// `<mimic>` of its axis.
    pub mimic: Option<Element<'a>>,
}

/// What a `<joint>` is.
pub(super) enum Motion<'a> {
    /// Joints of the child's body, in order: none for a fixed joint, two for a universal one.
    Joints(Vec<AxisJoint<'a>>),
    /// Nothing that this reader knows: the joint counts for nothing.
    Ignored,
}

/// Reads a joint of the layout.
pub(super) fn read<'a>(
    layout: &mut Layout<'a>,
    index: usize,
    version: Version,
    warnings: &mut Warnings,
) -> Result<Motion<'a>, LoadError> {
    let Joint { element, child, pose, .. } = layout.joints[index];
    let name = layout.joints[index].name.clone();
    let kind = element.required("type")?;
    let anchor = (layout.links[child].pose.inverse() * pose).pos;
    let about = |kind: fn(Vec3<f64>) -> JointKind, axes: &[&str], layout: &mut Layout<'a>, warnings: &mut Warnings| {
        let mut joints = Vec::new();
        for (number, axis) in axes.iter().enumerate() {
            let name = if number == 0 { name.clone() } else { format!("{name}_{}", number + 1) };
            let axis = element.child(axis).ok_or_else(|| element.error(format!("no <{axis}>: expected one")))?;
            let direction = direction(layout, index, axis, version)?;
            let mut spec = JointSpec { name, anchor, ..JointSpec::new(kind(direction)) };
            set_axis(&mut spec, axis, warnings)?;
            // As Drake has it: the inertia of a rotor behind a gear.
            let rotor = value::positive(element, "rotor_inertia")?.unwrap_or(0.0);
            let gear = value::number(element, "gear_ratio")?.unwrap_or(1.0);
            spec.armature = rotor * gear * gear;
            joints.push(AxisJoint { spec, mimic: axis.child("mimic") });
        }
        Ok(Motion::Joints(joints))
    };
    match kind {
        "revolute" => about(|axis| JointKind::Revolute { axis }, &["axis"], layout, warnings),
        "prismatic" => about(|axis| JointKind::Prismatic { axis }, &["axis"], layout, warnings),
        "universal" | "revolute2" => about(|axis| JointKind::Revolute { axis }, &["axis", "axis2"], layout, warnings),
        "continuous" => {
            let mut motion = about(|axis| JointKind::Revolute { axis }, &["axis"], layout, warnings)?;
            if let Motion::Joints(joints) = &mut motion {
                joints.iter_mut().for_each(|joint| joint.spec.range = None);
            }
            Ok(motion)
        }
        "screw" => {
            let mut motion = about(|axis| JointKind::Prismatic { axis }, &["axis"], layout, warnings)?;
            let pitch = pitch(element)?;
            if let Motion::Joints(joints) = &mut motion {
                for AxisJoint { spec, .. } in joints {
                    if let JointKind::Prismatic { axis } = spec.kind {
                        spec.kind = JointKind::Screw { axis, pitch };
                    }
                }
            }
            Ok(motion)
        }
        "ball" => {
            ["axis", "axis2"].iter().filter_map(|axis| element.child(axis)).for_each(Element::skip_all);
            let spec = JointSpec { name, anchor, ..JointSpec::new(JointKind::Ball) };
            Ok(Motion::Joints(vec![AxisJoint { spec, mimic: None }]))
        }
        "fixed" => {
            ["axis", "axis2"].iter().filter_map(|axis| element.child(axis)).for_each(Element::skip_all);
            Ok(Motion::Joints(Vec::new()))
        }
        "gearbox" => {
            element.skip_all();
            warnings.add(element, "type=\"gearbox\": not simulated, ignored");
            Ok(Motion::Ignored)
        }
        _ => {
            let expected = "expected revolute, continuous, prismatic, screw, ball, universal, revolute2 or fixed";
            Err(element.error(format!("type=\"{kind}\": {expected}")))
        }
    }
}

/// Metres per radian of a screw. `thread_pitch` is what Gazebo first took for it: radians per metre, the other way round.
fn pitch(joint: Element<'_>) -> Result<f64, LoadError> {
    let per_turn = value::number(joint, "screw_thread_pitch")?;
    let old = value::number(joint, "thread_pitch")?.filter(|pitch| *pitch != 0.0);
    let pitch = per_turn.map(|pitch| pitch / std::f64::consts::TAU).or(old.map(|pitch| -1.0 / pitch));
    pitch.ok_or_else(|| joint.error("no <screw_thread_pitch>: expected metres per turn"))
}

/// The axis in the frame of the child's body.
fn direction<'a>(
    layout: &mut Layout<'a>,
    index: usize,
    axis: Element<'a>,
    version: Version,
) -> Result<Vec3<f64>, LoadError> {
    let xyz = axis.child("xyz");
    let given = value::array::<3>(axis, "xyz")?.map_or(Vec3::new(0.0, 0.0, 1.0), Vec3::from);
    let length = given.norm();
    if length == 0.0 {
        return Err(axis.error("an axis of length 0: expected a direction"));
    }
    let frame = xyz.and_then(|xyz| xyz.attribute("expressed_in")).map(str::trim).filter(|name| !name.is_empty());
    let in_model = value::flag(axis, "use_parent_model_frame")?.unwrap_or(version < AXES_IN_JOINT_FRAME);
    let Joint { scope, child, pose, .. } = layout.joints[index];
    let rotation = match frame {
        Some(frame) => layout.rotation_of(index, frame)?,
        None if in_model => layout.scopes[scope].pose.rot,
        None => pose.rot,
    };
    Ok(layout.links[child].pose.rot.conjugate() * (rotation * (given * (1.0 / length))))
}

/// Limits, damping, friction and spring of an axis.
fn set_axis(spec: &mut JointSpec, axis: Element<'_>, warnings: &mut Warnings) -> Result<(), LoadError> {
    // Where the joint was in a saved world, and numbers of stops that no engine takes.
    axis.child("initial_position").into_iter().for_each(Element::skip_all);
    if let Some(limit) = axis.child("limit") {
        ["stiffness", "dissipation"].iter().filter_map(|c| limit.child(c)).for_each(Element::skip_all);
        let low = value::bound(limit, "lower")?.unwrap_or(f64::NEG_INFINITY);
        let high = value::bound(limit, "upper")?.unwrap_or(f64::INFINITY);
        if low > high {
            return Err(limit.error(format!("lower {low}, upper {high}: expected lower ≤ upper")));
        }
        let is_bounded = low > f64::NEG_INFINITY || high < f64::INFINITY;
        spec.range = is_bounded.then_some((low, high));
        let effort = value::bound(limit, "effort")?.filter(|effort| *effort > 0.0 && effort.is_finite());
        spec.effort_limit = effort.map(|effort| (-effort, effort));
        if value::bound(limit, "velocity")?.is_some_and(|velocity| velocity >= 0.0 && velocity.is_finite()) {
            warnings.add_attribute(limit, "velocity", "speeds are not limited: ignored");
        }
    }
    if let Some(dynamics) = axis.child("dynamics") {
        spec.damping = value::positive(dynamics, "damping")?.unwrap_or(0.0);
        spec.friction_loss = value::positive(dynamics, "friction")?.unwrap_or(0.0);
        spec.stiffness = value::positive(dynamics, "spring_stiffness")?.unwrap_or(0.0);
        spec.spring_reference = value::number(dynamics, "spring_reference")?.unwrap_or(0.0);
    }
    Ok(())
}
