//! `<tendon>`: weighted sums of joint coordinates.

use std::collections::BTreeSet;

use multibody::Tendon;

use super::Reader;
use super::compliance::{Side, compliance};
use super::defaults::Attributes;
use crate::LoadError;
use crate::xml::Element;

/// What actuators, constraints and messages need to know of a tendon.
#[derive(Clone, Debug)]
pub(super) struct TendonInfo<'a> {
    /// Where it stands.
    pub element: Element<'a>,
    /// Its index in the model; `None` for what is not simulated.
    pub index: Option<usize>,
    /// Its length in the default configuration.
    pub reference: f64,
    /// Limits of its length, in force or not.
    pub range: Option<(f64, f64)>,
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

    fn spatial_tendon(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        self.names.claim(element, "tendon", "", self.tendons.len())?;
        self.tendons.push(TendonInfo { element, index: None, reference: 0.0, range: None });
        self.warnings.add(element, "spatial tendons are not simulated: ignored");
        element.skip_all();
        Ok(())
    }

    fn fixed_tendon(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let attributes = &self.defaults.attributes(element, 0)?;
        let terms = self.terms(element)?;
        let length = |coordinate: &dyn Fn(usize) -> f64| terms.iter().map(|&(j, c)| c * coordinate(j)).sum::<f64>();
        let reference = length(&|j| self.joints[j].reference);
        let spring_reference = length(&|j| self.joints[j].spring_reference);
        let range = self.range(attributes, "range", "limited")?;
        let flags = self.options.flags;
        let (stiffness, damping) = (self.linear(attributes, "stiffness")?, self.linear(attributes, "damping")?);
        let friction_loss = attributes.number("frictionloss")?.unwrap_or(0.0);
        let tendon = Tendon {
            name: self.names.claim(element, "tendon", "", self.tendons.len())?,
            range: range.filter(|_| flags.limit),
            limit_compliance: compliance(attributes, ["solreflimit", "solimplimit"], Side::One, &mut self.warnings)?,
            stiffness: if flags.spring { stiffness } else { 0.0 },
            damping: if flags.damper { damping } else { 0.0 },
            rest: rest(attributes)?.unwrap_or((spring_reference, spring_reference)),
            friction_loss: if flags.friction_loss { friction_loss } else { 0.0 },
            armature: attributes.number("armature")?.unwrap_or(0.0),
            terms,
        };
        attributes.skip(&["group", "user", "width", "material", "rgba"]);
        self.warn_about_friction_and_margin(attributes)?;
        if self.range(attributes, "actuatorfrcrange", "actuatorfrclimited")?.is_some() {
            let message = "a limit on the sum of actuator forces along a tendon is not simulated: ignored";
            self.warnings.add_attribute(element, "actuatorfrcrange", message);
        }
        let index = Some(self.builder.tendons.len());
        self.tendons.push(TendonInfo { element, index, reference, range });
        self.builder.tendons.push(tendon);
        Ok(())
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

/// The lengths between which the spring is slack; `None` when the reference lengths of the joints' springs say so.
fn rest(attributes: &Attributes<'_, '_>) -> Result<Option<(f64, f64)>, LoadError> {
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
