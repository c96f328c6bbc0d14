//! `<keyframe>`: named states.

use multibody::{Keyframe, Model};

use super::names::Names;
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Reads every `<keyframe>` below the root. What a key does not set has its default: q0, at rest, no control.
pub(super) fn read(
    root: Element<'_>,
    model: &mut Model,
    names: &mut Names,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    for element in root.children_named("keyframe").flat_map(Element::children).filter(|e| e.name() == "key") {
        let vector = |name: &str, otherwise: Vec<f64>| {
            let Some(values) = element.numbers(name)? else { return Ok(otherwise) };
            let (found, expected) = (values.len(), otherwise.len());
            if found == expected {
                return Ok(values);
            }
            Err(element.error(format!("{name}: {found} numbers: expected {expected}, as the model has")))
        };
        let key = Keyframe {
            name: names.claim(element, "key", "", model.keyframes.len())?,
            time: element.number("time")?.unwrap_or(0.0),
            q: vector("qpos", model.q0.clone())?,
            v: vector("qvel", vec![0.0; model.nv()])?,
            ctrl: vector("ctrl", vec![0.0; model.nu()])?,
        };
        for name in ["act", "mpos", "mquat", "plastic"] {
            if element.attribute(name).is_some() {
                warnings.add_attribute(element, name, "not part of the state here: ignored");
            }
        }
        model.keyframes.push(key);
    }
    Ok(())
}
