//! `<tendon>`: weighted sums of joint coordinates, and strings through sites and around geoms.

use std::collections::BTreeSet;

use geometry::Shape;
use multibody::{
    Actuator, Branch, Coordinate, EqualityKind, Model, Obstacle, ObstacleShape, PathPoint, Tendon, TendonLook,
    TendonPath, Transmission,
};

use super::Reader;
use super::compliance::compliance;
use super::defaults::Attributes;
use crate::LoadError;
use crate::assembly::rest_strings;
use crate::xml::Element;

/// What actuators, constraints and messages need to know of a tendon.
#[derive(Clone, Debug)]
pub(super) struct TendonInfo<'a> {
    /// Where it stands.
    pub element: Element<'a>,
    /// Its index in the model.
    pub index: usize,
    /// The length of a fixed tendon in the default configuration.
    pub reference: f64,
    /// Limits of its length, in force or not.
    pub range: Option<(f64, f64)>,
    /// Limits of the sum of the forces of its actuators.
    pub effort_limit: Option<(f64, f64)>,
}

impl<'a> Reader<'_, 'a> {
    /// Reads every `<tendon>` below the root. Joints must be known.
    pub(super) fn tendons(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in root.children_named("tendon").flat_map(Element::children) {
            match element.name() {
                "fixed" => self.fixed_tendon(element)?,
                "spatial" => self.spatial_tendon(element)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn fixed_tendon(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let terms = self.terms(element)?;
        let length = |coordinate: &dyn Fn(usize) -> f64| terms.iter().map(|&(j, c)| c * coordinate(j)).sum::<f64>();
        let reference = length(&|j| self.joints[j].reference);
        let rest = length(&|j| self.joints[j].spring_reference);
        self.tendon(element, TendonPath::Joints(terms), reference, |_| rest)
    }

    fn spatial_tendon(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let branches = self.branches(element)?;
        // Lengths are known when the model is complete.
        self.tendon(element, TendonPath::Spatial(branches), 0.0, |reader| {
            reader.strings_at_rest.push(reader.builder.tendons.len());
            0.0
        })
    }

    /// Adds a tendon, whose length is `reference` in the default configuration; `rest` tells where its spring rests by default.
    fn tendon(
        &mut self,
        element: Element<'a>,
        path: TendonPath,
        reference: f64,
        rest: impl FnOnce(&mut Self) -> f64,
    ) -> Result<(), LoadError> {
        let attributes = &self.defaults.attributes(element, 0)?;
        let range = self.range(attributes, "range", "limited")?;
        let flags = self.options.flags;
        let (stiffness, damping, polynomial) = self.springs_and_dampers(attributes)?;
        let friction_loss = attributes.number("frictionloss")?.unwrap_or(0.0);
        let name = self.names.claim(element, "tendon", "", self.tendons.len())?;
        let look = self.string_look(attributes)?;
        let look = match path {
            TendonPath::Spatial(_) => look,
            // Its defaults may have what only strings show.
            TendonPath::Joints(_) => TendonLook { group: look.group, ..TendonLook::default() },
        };
        let tendon = Tendon {
            name,
            path,
            range: self.limits(attributes, range.filter(|_| flags.limit), false)?,
            limit_compliance: compliance(
                attributes,
                ["solreflimit", "solimplimit"],
                &self.options,
                &mut self.warnings,
            )?,
            stiffness,
            damping,
            polynomial,
            rest: rest_lengths(attributes)?.unwrap_or_else(|| {
                let length = rest(self);
                (length, length)
            }),
            friction_loss: if flags.friction_loss { friction_loss } else { 0.0 },
            friction_compliance: compliance(
                attributes,
                ["solreffriction", "solimpfriction"],
                &self.options,
                &mut self.warnings,
            )?,
            armature: attributes.number("armature")?.unwrap_or(0.0),
            // Known with the actuators.
            effort_limit: None,
            look,
        };
        attributes.skip(&["user", "material"]);
        let effort_limit = self.range(attributes, "actuatorfrcrange", "actuatorfrclimited")?;
        let index = self.builder.tendons.len();
        self.tendons.push(TendonInfo { element, index, reference, range, effort_limit });
        self.builder.tendons.push(tendon);
        Ok(())
    }

    fn string_look(&self, attributes: &Attributes<'_, '_>) -> Result<TendonLook, LoadError> {
        let usual = TendonLook::default();
        Ok(TendonLook {
            radius: attributes.number("width")?.unwrap_or(usual.radius).max(0.0),
            rgba: self.assets.rgba(attributes)?,
            group: attributes.integer("group")?.unwrap_or(0).max(0) as u32,
        })
    }

    /// Limits the forces of actuators as their tendons ask.
    pub(super) fn limit_tendon_efforts(&mut self) {
        for TendonInfo { index, effort_limit, .. } in &self.tendons {
            let Some((least, most)) = *effort_limit else { continue };
            let is_on_it = |actuator: &&mut Actuator| matches!(actuator.transmission, Transmission::Tendon { tendon, .. } if tendon == *index);
            let mut actuators: Vec<&mut Actuator> = self.builder.actuators.iter_mut().filter(is_on_it).collect();
            match &mut actuators[..] {
                [] => {}
                [actuator] => {
                    let (low, high) = actuator.force_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                    actuator.force_range = Some((low.max(least).min(most), high.min(most).max(least)));
                }
                _ => self.builder.tendons[*index].effort_limit = *effort_limit,
            }
        }
    }

    /// What a spatial tendon passes.
    fn branches(&self, element: Element<'a>) -> Result<Vec<Branch>, LoadError> {
        let mut branches = vec![Branch { divisor: 1.0, points: Vec::new() }];
        for (place, child) in element.children().enumerate() {
            let point = match child.name() {
                "site" => PathPoint::Site(self.names.find(child, "site", "site")?),
                "geom" => PathPoint::Obstacle(self.obstacle(child)?),
                "pulley" => {
                    child.required("divisor")?;
                    let divisor = child.number("divisor")?.unwrap_or_default();
                    if divisor <= 0.0 {
                        return Err(child.error(format!("divisor=\"{divisor}\": expected a number above 0")));
                    }
                    if place == 0 {
                        branches.clear();
                    }
                    branches.push(Branch { divisor, points: Vec::new() });
                    continue;
                }
                other => {
                    return Err(
                        child.error(format!("<{other}> in a spatial tendon: expected <site>, <geom> or <pulley>"))
                    );
                }
            };
            if let Some(branch) = branches.last_mut() {
                branch.points.push(point);
            }
        }
        Ok(branches)
    }

    /// A geom that a string wraps around.
    fn obstacle(&self, element: Element<'a>) -> Result<Obstacle, LoadError> {
        let index = self.names.find(element, "geom", "geom")?;
        let geom = &self.scene.geoms[index];
        let (shape, radius) = match geom.shape {
            Shape::Sphere { radius } => (ObstacleShape::Sphere, radius),
            Shape::Cylinder { radius, .. } => (ObstacleShape::Cylinder, radius),
            _ => {
                let message = format!("geom=\"{}\": expected a sphere or a cylinder", geom.name);
                return Err(element.error(message));
            }
        };
        let named = element.attribute("sidesite").is_some_and(|name| !name.is_empty());
        let side = if named { Some(self.names.find(element, "sidesite", "site")?) } else { None };
        Ok(Obstacle { geom: index, body: geom.body, pose: geom.pose, shape, radius, side })
    }

    /// The joints of a fixed tendon and their coefficients.
    fn terms(&self, element: Element<'a>) -> Result<Vec<(usize, f64)>, LoadError> {
        let (mut terms, mut seen) = (Vec::new(), BTreeSet::new());
        for child in element.children_named("joint") {
            let joint = self.scalar_joint(child, "joint")?;
            if !seen.insert(joint) {
                return Err(child.error("names a joint for the second time: expected every joint at most once"));
            }
            child.required("coef")?;
            terms.push((joint, child.number("coef")?.unwrap_or_default()));
        }
        if terms.is_empty() {
            return Err(element.error("no <joint>: expected at least one"));
        }
        Ok(terms)
    }

    /// The joint with one coordinate that an attribute names.
    pub(super) fn scalar_joint(&self, element: Element<'a>, attribute: &str) -> Result<usize, LoadError> {
        let joint = self.names.find(element, attribute, "joint")?;
        match self.joints[joint].kind.nv() {
            1 => Ok(joint),
            _ => {
                let name = &self.joints[joint].name;
                Err(element.error(format!("{attribute}=\"{name}\": expected a joint of type hinge or slide")))
            }
        }
    }
}

/// The lengths between which the spring is slack; `None` where it is at rest as the springs of the joints are.
fn rest_lengths(attributes: &Attributes<'_, '_>) -> Result<Option<(f64, f64)>, LoadError> {
    let Some(numbers) = attributes.numbers("springlength")? else { return Ok(None) };
    let (low, high) = match numbers[..] {
        [length] => (length, length),
        [low, high] if low <= high => (low, high),
        _ => {
            let message = "springlength: expected one number, or two in ascending order";
            return Err(attributes.source("springlength").error(message));
        }
    };
    Ok(Some((low, high)).filter(|&lengths| lengths != (-1.0, -1.0)))
}

/// Sets the lengths of strings in the default configuration, where equality constraints refer to them, and those at which their springs rest:
/// of the tendons `at_rest`, where the springs of the joints do.
pub(super) fn complete_strings(model: &mut Model, at_rest: &[usize]) {
    rest_strings(model, at_rest);
    let Model { equalities, .. } = model;
    let mut equalities = std::mem::take(equalities);
    for equality in &mut equalities {
        let EqualityKind::Coupling { y, x, .. } = &mut equality.kind else { continue };
        for (coordinate, reference) in std::iter::once(y).chain(x) {
            if let Coordinate::Tendon(tendon) = *coordinate
                && model.tendons[tendon].is_spatial()
            {
                *reference = model.tendons[tendon].length(model, &model.q0);
            }
        }
    }
    model.equalities = equalities;
}
