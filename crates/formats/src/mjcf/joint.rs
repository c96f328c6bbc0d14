//! `<joint>` and `<freejoint>`.

use std::f64::consts::TAU;

use multibody::{JointKind, JointSpec, PolynomialForces};
use spatial::{Pose, Vec3};

use super::Reader;
use super::compliance::compliance;
use super::defaults::Attributes;
use crate::LoadError;
use crate::xml::Element;

/// A stiffness and damping that depend on the inertia that they act on: set when the model is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpringDamper {
    /// The joint.
    pub joint: usize,
    /// Time constant, s.
    pub time_constant: f64,
    /// Damping ratio.
    pub damping_ratio: f64,
}

/// What actuators, tendons, constraints and messages need to know of a joint.
#[derive(Clone, Debug)]
pub(super) struct JointInfo<'a> {
    /// Where it stands.
    pub element: Element<'a>,
    /// Its name.
    pub name: String,
    /// The name of its body.
    pub body_name: String,
    /// Kind of motion.
    pub kind: JointKind,
    /// Limits, in force or not.
    pub range: Option<(f64, f64)>,
    /// The coordinate in the default configuration (joints with one coordinate).
    pub reference: f64,
    /// The coordinate at which its spring is at rest (joints with one coordinate).
    pub spring_reference: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Hinge,
    Slide,
    Ball,
    Free,
}

const TYPES: [(&str, Type); 4] =
    [("hinge", Type::Hinge), ("slide", Type::Slide), ("ball", Type::Ball), ("free", Type::Free)];

impl<'a> Reader<'_, 'a> {
    /// Reads a joint of the body added last. `frame` is that of the `<frame>` elements around it; `alone` says whether
    /// it is the only joint of a body in the world, as a free joint must be.
    pub(super) fn joint(
        &mut self,
        attributes: &Attributes<'_, 'a>,
        frame: Pose<f64>,
        body_name: &str,
        alone: bool,
    ) -> Result<(), LoadError> {
        let free = attributes.element().name() == "freejoint";
        let kind = if free { Type::Free } else { attributes.keyword("type", &TYPES)?.unwrap_or(Type::Hinge) };
        if kind == Type::Free && !alone {
            let message = "moves freely: expected it as the only joint of a body whose parent is the world";
            return Err(attributes.element().error(message));
        }
        // That `align`s the body has been seen to, see `align`.
        attributes.skip(&["group", "user", "align"]);
        let axis = frame.rot * attributes.array("axis")?.map_or(Vec3::new(0.0, 0.0, 1.0), Vec3::from);
        let kind_of_motion = match kind {
            Type::Hinge => JointKind::Revolute { axis },
            Type::Slide => JointKind::Prismatic { axis },
            Type::Ball => JointKind::Ball,
            Type::Free => JointKind::Free,
        };
        let unit = if kind == Type::Slide { 1.0 } else { self.compiler.angles.unit };
        let mut spec = JointSpec::new(kind_of_motion);
        spec.anchor = frame.transform_point(attributes.array("pos")?.map_or(Vec3::ZERO, Vec3::from));
        spec.armature = attributes.number("armature")?.unwrap_or(0.0);
        spec.friction_loss = attributes.number("frictionloss")?.unwrap_or(0.0);
        (spec.stiffness, spec.damping, spec.polynomial) = self.springs_and_dampers(attributes)?;
        let flags = self.options.flags;
        if !matches!(kind, Type::Hinge | Type::Slide) && spec.polynomial.is_any() {
            let message = "of balls and free joints only the linear part is simulated";
            self.warnings.add_attribute(attributes.element(), "stiffness", message);
            spec.polynomial = PolynomialForces::NONE;
        }
        if !flags.friction_loss {
            spec.friction_loss = 0.0;
        }
        let (reference, spring) = (attributes.number("ref")?, attributes.number("springref")?);
        if matches!(kind, Type::Hinge | Type::Slide) {
            spec.reference = unit * reference.unwrap_or(0.0);
            spec.spring_reference = unit * spring.unwrap_or(0.0);
        }
        spec.limit_compliance =
            compliance(attributes, ["solreflimit", "solimplimit"], &self.options, &mut self.warnings)?;
        spec.friction_compliance =
            compliance(attributes, ["solreffriction", "solimpfriction"], &self.options, &mut self.warnings)?;
        let range = self.joint_range(attributes, kind)?.map(|(low, high)| (unit * low, unit * high));
        spec.range = self.limits(attributes, range.filter(|_| flags.limit), kind == Type::Ball)?;
        spec.effort_limit = self.effort_limit(attributes, kind)?;
        spec.is_lifted_by_actuators = attributes.flag("actuatorgravcomp")?.unwrap_or(false);
        self.warn_about_unit(attributes, &spec);
        spec.name = self.names.claim(attributes.element(), "joint", &self.suffix, self.joints.len())?;
        let info = JointInfo {
            element: attributes.element(),
            name: spec.name.clone(),
            body_name: body_name.into(),
            kind: spec.kind,
            range,
            reference: spec.reference,
            spring_reference: spec.spring_reference,
        };
        let body = self.builder.body_count() - 1;
        let joint = self.builder.add_joint(body, spec).map_err(|e| attributes.element().error(e.to_string()))?;
        self.joints.push(info);
        if let Some((time_constant, damping_ratio)) = self.spring_damper(attributes)? {
            self.spring_dampers.push(SpringDamper { joint, time_constant, damping_ratio });
        }
        Ok(())
    }

    /// The limits of the sum of the actuator forces at a hinge or slide.
    fn effort_limit(&self, attributes: &Attributes<'_, '_>, kind: Type) -> Result<Option<(f64, f64)>, LoadError> {
        attributes.skip(&["actuatorfrcrange", "actuatorfrclimited"]);
        if !matches!(kind, Type::Hinge | Type::Slide) {
            return Ok(None);
        }
        self.range(attributes, "actuatorfrcrange", "actuatorfrclimited")
    }

    /// Stiffness and damping, and what their forces have beyond the linear parts.
    pub(super) fn springs_and_dampers(
        &self,
        attributes: &Attributes<'_, '_>,
    ) -> Result<(f64, f64, PolynomialForces), LoadError> {
        let flags = self.options.flags;
        let [stiffness, s0, s1] = polynomial(attributes, "stiffness", flags.spring)?;
        let [damping, d0, d1] = polynomial(attributes, "damping", flags.damper)?;
        Ok((stiffness, damping, PolynomialForces { spring: [s0, s1], damper: [d0, d1] }))
    }

    /// The interval of a joint's coordinate, or of the angle of a ball joint.
    fn joint_range(&self, attributes: &Attributes<'_, '_>, kind: Type) -> Result<Option<(f64, f64)>, LoadError> {
        match kind {
            // Has no limits, whatever its range says.
            Type::Free => {
                attributes.skip(&["range", "limited"]);
                Ok(None)
            }
            // A ball joint that cannot turn, which MuJoCo takes as well.
            Type::Ball if attributes.array("range")?.unwrap_or_default() == [0.0; 2] => {
                Ok((attributes.auto_flag("limited")? == Some(true)).then_some((0.0, 0.0)))
            }
            _ => self.range(attributes, "range", "limited"),
        }
    }

    /// The interval of a range attribute, if it is in force.
    pub(super) fn range(
        &self,
        attributes: &Attributes<'_, '_>,
        range: &'static str,
        limited: &'static str,
    ) -> Result<Option<(f64, f64)>, LoadError> {
        // Infinite on both sides: no range.
        let is_endless = |text: &str| {
            let mut words = text.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0.0));
            (words.next(), words.next()) == (Some(f64::NEG_INFINITY), Some(f64::INFINITY))
        };
        if attributes.text(range).is_some_and(is_endless) {
            return Ok(None);
        }
        let values = attributes.array(range)?;
        let set = values.is_some_and(|[low, high]| low != 0.0 || high != 0.0);
        let at = attributes.source(range);
        let is_limited = match attributes.auto_flag(limited)? {
            Some(limited) => limited,
            None if set && !self.compiler.auto_limits => {
                return Err(at.error(format!("`{range}` without `{limited}`: expected both where autolimits is false")));
            }
            None => set,
        };
        if !is_limited {
            return Ok(None);
        }
        let Some([low, high]) = values else {
            return Err(at.error(format!("`{limited}` without `{range}`: expected two numbers")));
        };
        if low >= high {
            return Err(at.error(format!("{range}=\"{low} {high}\": expected the first number below the second")));
        }
        Ok(Some((low, high)))
    }

    fn spring_damper(&self, attributes: &Attributes<'_, '_>) -> Result<Option<(f64, f64)>, LoadError> {
        match attributes.array("springdamper")? {
            Some([time_constant, ratio]) if time_constant > 0.0 && ratio > 0.0 => Ok(Some((time_constant, ratio))),
            Some([a, b]) if a < 0.0 || b < 0.0 => {
                let message = format!("springdamper=\"{a} {b}\": expected two positive numbers (or zeros)");
                Err(attributes.element().error(message))
            }
            _ => Ok(None),
        }
    }

    /// Warns of limits of a hinge that look as if they had the unit that the file has not.
    fn warn_about_unit(&mut self, attributes: &Attributes<'_, '_>, spec: &JointSpec) {
        let (JointKind::Revolute { .. }, Some((low, high))) = (spec.kind, spec.range) else { return };
        let ends = [low, high].map(|end| end / self.compiler.angles.unit);
        let are_whole = ends.iter().all(|end| (end - end.round()).abs() < 1e-9);
        let largest = ends[0].abs().max(ends[1].abs());
        let message = match (self.compiler.angles.unit == 1.0, are_whole) {
            (false, false) if largest < 3.2 => {
                "angles of this file are degrees: <compiler angle=\"radian\"/> if these are radians"
            }
            (true, true) if largest > 2.0 * TAU && largest <= 360.0 => {
                "angles of this file are radians: <compiler angle=\"degree\"/> if these are degrees"
            }
            _ => return,
        };
        self.warnings.add_attribute(attributes.element(), "range", message);
    }

    /// Where the limits of a range act: `margin` before its ends. Of one where the lower end is none, at the upper one alone.
    pub(super) fn limits(
        &mut self,
        attributes: &Attributes<'_, '_>,
        range: Option<(f64, f64)>,
        is_one_sided: bool,
    ) -> Result<Option<(f64, f64)>, LoadError> {
        let margin = attributes.number("margin")?.unwrap_or(0.0);
        let Some((low, high)) = range else { return Ok(None) };
        let (least, most) = (if is_one_sided { low } else { low + margin }, high - margin);
        if least <= most {
            return Ok(Some((least, most)));
        }
        let message = "wider than half the range: limits act at the ends of the range";
        self.warnings.add_attribute(attributes.element(), "margin", message);
        Ok(range)
    }
}

/// The coefficients of a force law, all zero where it is disabled.
fn polynomial(attributes: &Attributes<'_, '_>, name: &'static str, is_enabled: bool) -> Result<[f64; 3], LoadError> {
    let Some(numbers) = attributes.numbers(name)? else { return Ok([0.0; 3]) };
    if numbers.is_empty() || numbers.len() > 3 {
        let message = format!("{name}: {} numbers: expected 1 to 3", numbers.len());
        return Err(attributes.element().error(message));
    }
    let mut coefficients = [0.0; 3];
    if is_enabled {
        coefficients[..numbers.len()].copy_from_slice(&numbers);
    }
    Ok(coefficients)
}
