//! `<keyframe>`: named states.

use multibody::{Keyframe, KeyframeKey, Model};
use spatial::Quat;

use super::names::Names;
use crate::LoadError;
use crate::limits::MAX_KEYFRAME_NUMBERS;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Reads every `<keyframe>` below the root. What a key does not set has its default: q0, at rest, no control. Of a key of a model with soft
/// bodies that counts the coordinates of their nodes, positions and velocities are left out. Keys count the bodies `in_place` as well,
/// which are not moved from outside though they have `mocap`.
pub(super) fn read(
    root: Element<'_>,
    model: &mut Model,
    soft_coordinates: usize,
    in_place: &[usize],
    names: &mut Names,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    for element in root.children_named("keyframe").flat_map(Element::children).filter(|e| e.name() == "key") {
        check_keyframes(element, model)?;
        let counted = (0..model.bodies.len()).filter(|body| model.bodies[*body].is_mocap || in_place.contains(body));
        let pose_of = |body: usize| model.bodies[body].pose_in_parent.to_array();
        let mut vector = |name: &'static str, otherwise: Vec<f64>| {
            let Some(values) = element.numbers(name)? else { return Ok(otherwise) };
            let (found, expected) = (values.len(), otherwise.len());
            if found == expected {
                return Ok(values);
            }
            if found < expected {
                warnings.add_attribute(
                    element,
                    name,
                    "fewer numbers than the model has: the others have their defaults",
                );
                let rest = otherwise[found..].iter().copied();
                return Ok(values.into_iter().chain(rest).collect());
            }
            if soft_coordinates > 0 && matches!(name, "qpos" | "qvel") && found == expected + soft_coordinates {
                warnings.add_attribute(element, name, "counts nodes of soft bodies, whose places no key sets: ignored");
                return Ok(otherwise);
            }
            Err(element.error(format!("{name}: {found} numbers: expected at most {expected}, as the model has")))
        };
        let mut key = Keyframe {
            name: names.claim(element, "key", "", model.keyframes.len())?,
            time: element.number("time")?.unwrap_or(0.0),
            q: vector("qpos", model.q0.clone())?,
            v: vector("qvel", vec![0.0; model.nv()])?,
            ctrl: vector("ctrl", vec![0.0; model.nu()])?,
            act: vec![0.0; model.na()],
            mocap: Vec::new(),
        };
        let (positions, quaternions) = split(&counted.clone().flat_map(pose_of).collect::<Vec<_>>());
        let (positions, quaternions) = (vector("mpos", positions)?, vector("mquat", quaternions)?);
        let poses = joined(&positions, &quaternions).ok_or_else(|| {
            element.error("mquat: a quaternion is zero: expected the orientation of a body that is moved from outside")
        })?;
        let of_moved = poses.chunks_exact(7).zip(counted).filter(|(_, body)| model.bodies[*body].is_mocap);
        key.mocap = of_moved.flat_map(|(pose, _)| pose).copied().collect();
        normalize_quaternions(model, &mut key.q).ok_or_else(|| {
            element.error("qpos: a quaternion is zero: expected the orientation of a ball or free joint")
        })?;
        // An actuator that is not simulated may have a state in the file.
        match element.numbers("act")? {
            Some(act) if act.len() == key.act.len() => key.act = act,
            Some(_) => {
                warnings.add_attribute(element, "act", "not the states of the actuators that are simulated: ignored")
            }
            None => {}
        }
        if element.attribute("plastic").is_some() {
            warnings.add_attribute(element, "plastic", "not part of the state here: ignored");
        }
        model.keyframes.push(key);
    }
    // `nkey` of `<size>` asks for more, which have all by default.
    for element in root.children_named("size") {
        let asked = element.number("nkey")?.unwrap_or(0.0);
        while (model.keyframes.len() as f64) < asked {
            check_keyframes(element, model)?;
            model.keyframes.extend(model.keyframe(KeyframeKey::Start));
        }
    }
    Ok(())
}

/// Numbers that a keyframe of a small model counts as.
const LEAST_NUMBERS: usize = 100;

/// Whether the model may have one more keyframe: each has all of its coordinates.
pub(super) fn check_keyframes(element: Element<'_>, model: &Model) -> Result<(), LoadError> {
    let numbers =
        (model.nq() + model.nv() + model.nu() + model.na() + 7 * model.mocap_bodies().count()).max(LEAST_NUMBERS);
    match (model.keyframes.len() + 1).saturating_mul(numbers) <= MAX_KEYFRAME_NUMBERS {
        true => Ok(()),
        false => Err(element.error(format!("expected at most {MAX_KEYFRAME_NUMBERS} numbers in all keyframes"))),
    }
}

/// Positions and quaternions of poses.
pub(super) fn split(poses: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let poses = poses.as_chunks::<7>().0;
    (
        poses.iter().flat_map(|pose| &pose[..3]).copied().collect(),
        poses.iter().flat_map(|pose| &pose[3..]).copied().collect(),
    )
}

/// Poses from positions and quaternions, which become unit quaternions; `None` when one is zero.
fn joined(positions: &[f64], quaternions: &[f64]) -> Option<Vec<f64>> {
    let mut poses = Vec::new();
    for (position, &[w, x, y, z]) in positions.chunks_exact(3).zip(quaternions.as_chunks().0) {
        let rot = Quat::new(w, x, y, z).normalized()?;
        poses.extend_from_slice(position);
        poses.extend(rot.to_array());
    }
    Some(poses)
}

/// Makes the quaternions in `q` unit quaternions, to more digits than files print; `None` when one is zero.
fn normalize_quaternions(model: &Model, q: &mut [f64]) -> Option<()> {
    for node in &model.tree.nodes {
        let Some(first) = node.quaternion() else { continue };
        let slots = &mut q[first..first + 4];
        let Quat { w, x, y, z } = Quat::new(slots[0], slots[1], slots[2], slots[3]).normalized()?;
        slots.copy_from_slice(&[w, x, y, z]);
    }
    Some(())
}
