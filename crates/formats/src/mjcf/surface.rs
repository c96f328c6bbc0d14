//! Surfaces of geoms and pairs.

use std::collections::BTreeMap;

use multibody::{Compliance, Material, Reference, Resistance};

use super::compliance::compliance;
use super::defaults::Attributes;
use super::option::Options;
use crate::LoadError;
use crate::warnings::Warnings;

/// Coefficients of friction: of sliding along both tangents, spinning, and rolling about both.
pub(super) struct Friction {
    sliding: [f64; 2],
    spinning: f64,
    rolling: [f64; 2],
}

/// The coefficients of a geom.
pub(super) fn geom_friction(attributes: &Attributes<'_, '_>) -> Result<Friction, LoadError> {
    let [slide, spinning, rolling] = attributes.leading("friction", Material::MJCF_FRICTION)?;
    Ok(Friction { sliding: [slide; 2], spinning, rolling: [rolling; 2] })
}

/// The coefficients of a pair, which has two for sliding and for rolling.
pub(super) fn pair_friction(attributes: &Attributes<'_, '_>) -> Result<Friction, LoadError> {
    let [slide, spin, roll] = Material::MJCF_FRICTION;
    let [first, second, spinning, roll1, roll2] = attributes.leading("friction", [slide, slide, spin, roll, roll])?;
    Ok(Friction { sliding: [first, second], spinning, rolling: [roll1, roll2] })
}

/// The surface that `condim`, `solref` and `solimp` of a geom or pair describe, with these coefficients of friction.
pub(super) fn material(
    attributes: &Attributes<'_, '_>,
    Friction { sliding, spinning: torsional_friction, rolling }: Friction,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<Material, LoadError> {
    let resistance = match attributes.integer("condim")?.unwrap_or(3) {
        1 => Resistance::None,
        3 => Resistance::Sliding,
        4 => Resistance::Spinning,
        6 => Resistance::Rolling,
        condim => {
            let message = format!("condim=\"{condim}\": expected 1, 3, 4 or 6");
            return Err(attributes.source("condim").error(message));
        }
    };
    for coefficient in [sliding[0], sliding[1], torsional_friction, rolling[0], rolling[1]] {
        if coefficient < 0.0 {
            let message = format!("friction: {coefficient}: expected 0 or more");
            return Err(attributes.source("friction").error(message));
        }
    }
    let compliance = match compliance(attributes, ["solref", "solimp"], options, warnings)? {
        Compliance::Reference(reference) => Compliance::Reference(Reference { pyramid: options.pyramid, ..reference }),
        other => other,
    };
    let mix = attributes.number("solmix")?.unwrap_or(1.0).max(0.0);
    let priority = 0;
    let (friction, second_friction) = Material::of_two_tangents(sliding);
    let (rolling_friction, second_rolling_friction) = Material::of_two_tangents(rolling);
    Ok(Material {
        friction,
        second_friction,
        torsional_friction,
        rolling_friction,
        second_rolling_friction,
        resistance,
        compliance,
        mix,
        priority,
    })
}

/// The surfaces of a model, each kept once.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    materials: Vec<Material>,
    /// By all that is written of a surface, so that a field which is new is not forgotten.
    index_of: BTreeMap<String, usize>,
}

impl Surfaces {
    /// The index of a surface.
    pub fn index(&mut self, material: Material) -> usize {
        *self.index_of.entry(format!("{material:?}")).or_insert_with(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// All surfaces.
    pub fn finish(self) -> Vec<Material> {
        self.materials
    }
}
