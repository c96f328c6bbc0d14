//! What refers to joints and bodies must fit them.

mod actuators;
mod sensors;
mod tendons;

use spatial::Vec3;

use crate::build_error::ElementKind;
use crate::{Body, BuildError, Compliance, Coordinate, Equality, EqualityKind, Joint, Model};

/// Checks everything that refers to joints, bodies or tendons, and makes the rotations of welds unit quaternions.
pub(crate) fn check_references(model: &mut Model) -> Result<(), BuildError> {
    for (index, tendon) in model.tendons.iter().enumerate() {
        tendons::check(tendon, model, &element("tendon", index, &tendon.name))
            .map_err(|error| error.in_element(ElementKind::Tendon, index))?;
    }
    for index in 0..model.equalities.len() {
        let Model { equalities, joints, bodies, tendons, .. } = model;
        let equality = &mut equalities[index];
        let what = element("equality", index, &equality.name);
        check_equality(equality, joints, bodies, tendons.len(), &what)
            .map_err(|error| error.in_element(ElementKind::Equality, index))?;
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
            check_positive(*torque_scale, || format!("{what}: torque scale"))?;
            check_points(&[frames[0].pos, frames[1].pos], what)?;
            for frame in frames {
                let unit = frame.rot.normalized();
                frame.rot = unit.ok_or_else(|| BuildError::NotFinite { what: format!("{what}: rotation") })?;
            }
        }
        EqualityKind::Distance { bodies: pair, anchors, distance } => {
            check_bodies(*pair, bodies, what)?;
            check_points(anchors, what)?;
            check_positive(*distance, || format!("{what}: distance"))?;
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
    pair.into_iter().try_for_each(|index| check_index("body", index, bodies.len(), what))?;
    if pair[0] == pair[1] {
        return Err(BuildError::Repeated { what: what.into(), kind: "body", index: pair[0] });
    }
    let [first, second] = pair.map(|index| &bodies[index]);
    if first.rigid_group == second.rigid_group {
        let names = [first.name.clone(), second.name.clone()];
        return Err(BuildError::MoveAsOne { what: what.into(), bodies: names });
    }
    Ok(())
}

fn check_coordinate(coordinate: Coordinate, joints: &[Joint], tendons: usize, what: &str) -> Result<(), BuildError> {
    match coordinate {
        Coordinate::Joint(index) => check_scalar(index, joints, what),
        Coordinate::Tendon(index) => check_index("tendon", index, tendons, what),
    }
}

/// A joint with one degree of freedom.
fn check_scalar(index: usize, joints: &[Joint], what: &str) -> Result<(), BuildError> {
    check_index("joint", index, joints.len(), what)?;
    match joints[index].kind.nv() {
        1 => Ok(()),
        nv => Err(BuildError::NotScalar { what: what.into(), joint: joints[index].name.clone(), nv }),
    }
}

/// An index of something that is there.
fn check_index(kind: &'static str, index: usize, count: usize, what: &str) -> Result<(), BuildError> {
    if index < count { Ok(()) } else { Err(BuildError::NoSuch { what: what.into(), kind, index }) }
}

fn check_points(points: &[Vec3<f64>; 2], what: &str) -> Result<(), BuildError> {
    check_finite(points.map(Vec3::to_array).as_flattened(), || format!("{what}: anchor"))
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

/// A finite number above 0.
pub(crate) fn check_positive(value: f64, what: impl Fn() -> String) -> Result<(), BuildError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(BuildError::OutOfRange { what: what(), value, expected: "a finite number above 0" })
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
    check_positive(stiffness, || format!("{what}: stiffness of its compliance"))?;
    check_at_least_zero(relaxation, || format!("{what}: relaxation time of its compliance"))
}
