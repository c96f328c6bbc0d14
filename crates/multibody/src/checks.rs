//! What refers to joints and bodies must fit them.

mod actuators;
mod sensors;
mod tendons;

use spatial::Vec3;

use crate::{Body, BuildError, Compliance, Coordinate, Equality, EqualityKind, Joint, Model};

/// Checks everything that refers to joints, bodies or tendons, and makes the rotations of welds unit quaternions.
pub(crate) fn check_references(model: &mut Model) -> Result<(), BuildError> {
    for (index, tendon) in model.tendons.iter().enumerate() {
        tendons::check(tendon, model, &element("tendon", index, &tendon.name))
            .map_err(|error| BuildError::InTendon { index, error: Box::new(error) })?;
    }
    for index in 0..model.equalities.len() {
        let Model { equalities, joints, bodies, tendons, .. } = model;
        let equality = &mut equalities[index];
        let what = element("equality", index, &equality.name);
        check_equality(equality, joints, bodies, tendons.len(), &what)
            .map_err(|error| BuildError::InEquality { index, error: Box::new(error) })?;
    }
    actuators::check(model)?;
    sensors::check(model)?;
    check_keyframes(model)
}

/// An element in an error: by its name, or by its place among its kind.
fn element(kind: &str, index: usize, name: &str) -> String {
    if name.is_empty() { format!("{kind} {index}") } else { format!("{kind} {name:?}") }
}

fn check_equality(
    equality: &mut Equality,
    joints: &[Joint],
    bodies: &[Body],
    tendons: usize,
    what: &str,
) -> Result<(), BuildError> {
    match &mut equality.kind {
        EqualityKind::Connect { bodies: pair, anchors } => {
            check_bodies(*pair, bodies, what)?;
            check_points(anchors, what)?;
        }
        EqualityKind::Weld { bodies: pair, frames, torque_scale } => {
            check_bodies(*pair, bodies, what)?;
            if !(*torque_scale > 0.0 && torque_scale.is_finite()) {
                let what = format!("{what}: torque scale");
                return Err(BuildError::OutOfRange { what, value: *torque_scale, expected: "a finite number above 0" });
            }
            check_points(&[frames[0].pos, frames[1].pos], what)?;
            for frame in frames {
                let unit = frame.rot.normalized();
                frame.rot = unit.ok_or_else(|| BuildError::NotFinite { what: format!("{what}: rotation") })?;
            }
        }
        EqualityKind::Distance { bodies: pair, anchors, distance } => {
            check_bodies(*pair, bodies, what)?;
            check_points(anchors, what)?;
            if !(*distance > 0.0 && distance.is_finite()) {
                let what = format!("{what}: distance");
                return Err(BuildError::OutOfRange { what, value: *distance, expected: "a finite number above 0" });
            }
        }
        EqualityKind::Coupling { y, x, polynomial } => {
            for (coordinate, reference) in [Some(*y), *x].into_iter().flatten() {
                check_coordinate(coordinate, joints, tendons, what)?;
                check_finite(&[reference], || format!("{what}: reference"))?;
            }
            if let Some((other, _)) = *x
                && other == y.0
            {
                let (kind, index) = match other {
                    Coordinate::Joint(index) => ("joint", index),
                    Coordinate::Tendon(index) => ("tendon", index),
                };
                return Err(BuildError::Repeated { what: what.into(), kind, index });
            }
            check_finite(polynomial, || format!("{what}: polynomial"))?;
        }
    }
    check_compliance(equality.compliance, what)
}

fn check_keyframes(model: &Model) -> Result<(), BuildError> {
    let (nq, nv, nu, na) = (model.nq(), model.nv(), model.nu(), model.na());
    let nmocap = 7 * model.mocap_bodies().count();
    for key in &model.keyframes {
        let fields = [
            ("q", &key.q, nq),
            ("v", &key.v, nv),
            ("ctrl", &key.ctrl, nu),
            ("act", &key.act, na),
            ("mocap", &key.mocap, nmocap),
        ];
        for (field, values, expected) in fields {
            let found = values.len();
            if found != expected {
                return Err(BuildError::KeyframeSize { name: key.name.clone(), field, found, expected });
            }
        }
        if fields.iter().any(|(_, values, _)| values.iter().any(|x| !x.is_finite())) {
            return Err(BuildError::NotFinite { what: format!("keyframe {:?}", key.name) });
        }
    }
    Ok(())
}

/// Two bodies that can move against each other.
fn check_bodies(pair: [usize; 2], bodies: &[Body], what: &str) -> Result<(), BuildError> {
    let what = || what.into();
    for index in pair {
        if index >= bodies.len() {
            return Err(BuildError::NoSuch { what: what(), kind: "body", index });
        }
    }
    if pair[0] == pair[1] {
        return Err(BuildError::Repeated { what: what(), kind: "body", index: pair[0] });
    }
    let [first, second] = pair.map(|index| &bodies[index]);
    if first.rigid_group == second.rigid_group {
        let names = [first.name.clone(), second.name.clone()];
        return Err(BuildError::MoveAsOne { what: what(), bodies: names });
    }
    Ok(())
}

fn check_coordinate(coordinate: Coordinate, joints: &[Joint], tendons: usize, what: &str) -> Result<(), BuildError> {
    match coordinate {
        Coordinate::Joint(index) => check_scalar(index, joints, what),
        Coordinate::Tendon(index) if index >= tendons => {
            Err(BuildError::NoSuch { what: what.into(), kind: "tendon", index })
        }
        Coordinate::Tendon(_) => Ok(()),
    }
}

/// A joint with one degree of freedom.
fn check_scalar(index: usize, joints: &[Joint], what: &str) -> Result<(), BuildError> {
    let what = what.into();
    match joints.get(index).map(|joint| (joint, joint.kind.nv())) {
        Some((_, 1)) => Ok(()),
        Some((joint, nv)) => Err(BuildError::NotScalar { what, joint: joint.name.clone(), nv }),
        None => Err(BuildError::NoSuch { what, kind: "joint", index }),
    }
}

fn check_points(points: &[Vec3<f64>; 2], what: &str) -> Result<(), BuildError> {
    match points.iter().all(|p| p.is_finite()) {
        true => Ok(()),
        false => Err(BuildError::NotFinite { what: format!("{what}: anchor") }),
    }
}

fn check_finite(values: &[f64], what: impl Fn() -> String) -> Result<(), BuildError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(BuildError::NotFinite { what: what() }) }
}

/// A finite number that is not negative.
pub(crate) fn check_at_least_zero(value: f64, what: impl Fn() -> String) -> Result<(), BuildError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(BuildError::OutOfRange { what: what(), value, expected: "a finite number, 0 or more" })
}

/// Dry friction holds, or creeps as a reference says.
pub(crate) fn check_friction(compliance: Compliance, what: &str) -> Result<(), BuildError> {
    if let Compliance::Physical { stiffness, .. } = compliance {
        let what = format!("{what}: stiffness of its dry friction");
        return Err(BuildError::OutOfRange { what, value: stiffness, expected: "none: dry friction has no spring" });
    }
    check_compliance(compliance, what)
}

/// A spring that pushes back, and a relaxation time.
pub(crate) fn check_compliance(compliance: Compliance, what: &str) -> Result<(), BuildError> {
    let (stiffness, relaxation) = match compliance {
        Compliance::NearRigid => return Ok(()),
        Compliance::Physical { stiffness, relaxation } => (stiffness, relaxation),
        Compliance::Reference(reference) if reference.is_valid() => return Ok(()),
        Compliance::Reference(reference) => {
            let (what, value) = (format!("{what}: reference of its compliance"), reference.solref[0]);
            let expected = "solref with both numbers positive, or none, that make a finite stiffness and damping";
            return Err(BuildError::OutOfRange { what, value, expected });
        }
    };
    if !(stiffness > 0.0 && stiffness.is_finite()) {
        let what = format!("{what}: stiffness of its compliance");
        return Err(BuildError::OutOfRange { what, value: stiffness, expected: "a finite number above 0" });
    }
    check_at_least_zero(relaxation, || format!("{what}: relaxation time of its compliance"))
}
