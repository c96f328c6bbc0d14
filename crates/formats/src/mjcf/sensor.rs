//! `<sensor>`: what is measured, where.

use std::collections::BTreeSet;

use multibody::{
    ActuatorQuantity, CameraMode, ContactField, ContactFilter, ContactSensor, Delay, DistanceQuantity, FrameQuantity,
    GeomsOf, JointKind, JointQuantity, RayField, RaySource, Reduction, Sensor, SensorDelay, SensorFrame, SensorKind,
    SiteQuantity, SubtreeQuantity, TendonQuantity,
};
use spatial::Quat;

use super::Reader;
use super::actuator::READINGS;
use super::defaults::{at_least_zero, parse_keyword};
use super::inertia::ordered_principal_axes;
use super::plugin::Plugin;
use crate::LoadError;
use crate::xml::{Element, shortened};

pub(super) const CONTACT_FIELDS: [(&str, ContactField); 9] = [
    ("found", ContactField::Found),
    ("force", ContactField::Force),
    ("torque", ContactField::Torque),
    ("dist", ContactField::Distance),
    ("pos", ContactField::Position),
    ("normal", ContactField::Normal),
    ("tangent", ContactField::Tangent),
    ("linvel", ContactField::LinearVelocity),
    ("angvel", ContactField::AngularVelocity),
];

pub(super) const RAY_FIELDS: [(&str, RayField); 6] = [
    ("dist", RayField::Distance),
    ("dir", RayField::Direction),
    ("origin", RayField::Origin),
    ("point", RayField::Point),
    ("normal", RayField::Normal),
    ("depth", RayField::Depth),
];

pub(super) const REDUCTIONS: [(&str, Reduction); 4] = [
    ("none", Reduction::First),
    ("mindist", Reduction::SmallestDistance),
    ("maxforce", Reduction::LargestForce),
    ("netforce", Reduction::Net),
];

/// The types of objects that have frames.
#[derive(Clone, Copy)]
enum FrameType {
    Inertial,
    Body,
    Geom,
    Site,
    Camera,
}

const FRAME_TYPES: [(&str, FrameType); 5] = [
    ("body", FrameType::Inertial),
    ("xbody", FrameType::Body),
    ("geom", FrameType::Geom),
    ("site", FrameType::Site),
    ("camera", FrameType::Camera),
];

const CAMERAS: &str = "a camera that moves by itself (`mode`) has no sensors: their numbers are zero";
const USER: &str = "computed by a callback of MuJoCo: its numbers are zero";
const TACTILE: &str = "not simulated: the sensor keeps its place, its numbers are zero";
const PLUGIN: &str = "plugins are not simulated: left out";

/// Attributes of every sensor without a part in a simulation.
const COMMON: [&str; 2] = ["user", "class"];

impl<'a> Reader<'_, 'a> {
    /// Reads every `<sensor>` below the root. All else must be known.
    pub(super) fn sensors(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in root.children_named("sensor").flat_map(Element::children) {
            let Some(kind) = self.sensor_kind(root, element)? else { continue };
            let name = self.names.claim(element, "sensor", "", self.builder.sensors.len())?;
            let number = |attribute: &str| at_least_zero(element, attribute).map(|value| value.unwrap_or(0.0));
            let (cutoff, noise) = (number("cutoff")?, number("noise")?);
            if cutoff > 0.0
                && kind.is_direction()
                && !matches!(kind, SensorKind::Distance { quantity: DistanceQuantity::Normal, .. })
            {
                let message = "cutoff: expected none on a unit vector or quaternion, whose numbers cannot be clamped";
                return Err(element.error(message));
            }
            element.skip(&COMMON);
            let delay = delay(element)?;
            self.sensors.push(element);
            self.builder.sensors.push(Sensor { name, kind, cutoff, noise, delay });
        }
        Ok(())
    }

    /// What a sensor measures; none of an element that is no sensor, or one without a place among the numbers.
    fn sensor_kind(&mut self, root: Element<'a>, element: Element<'a>) -> Result<Option<SensorKind>, LoadError> {
        let name = element.name();
        if let Some(quantity) = JointQuantity::named(name) {
            return self.joint_sensor(element, quantity).map(Some);
        }
        if let Some(quantity) = TendonQuantity::named(name) {
            return self.tendon_sensor(element, quantity).map(Some);
        }
        if let Some(quantity) = ActuatorQuantity::named(name) {
            let actuator = self.names.find(element, "actuator", "actuator")?;
            return Ok(Some(SensorKind::Actuator { actuator, quantity }));
        }
        if let Some(quantity) = FrameQuantity::named(name) {
            return self.frame_sensor(element, quantity).map(Some);
        }
        if let Some(quantity) = SiteQuantity::named(name) {
            let site = self.names.find(element, "site", "site")?;
            return Ok(Some(SensorKind::Site { site, quantity }));
        }
        if let Some(quantity) = SubtreeQuantity::named(name) {
            let body = self.names.find(element, "body", "body")?;
            return Ok(Some(SensorKind::Subtree { body, quantity }));
        }
        if let Some(quantity) = DistanceQuantity::named(name) {
            let between = [self.geoms_of(element, ["geom1", "body1"])?, self.geoms_of(element, ["geom2", "body2"])?];
            if between[0] == between[1] {
                return Err(element.error("names the same geom or body twice: expected two different ones"));
            }
            return Ok(Some(SensorKind::Distance { between, quantity }));
        }
        Ok(Some(match name {
            "clock" => SensorKind::Clock,
            "e_potential" => SensorKind::PotentialEnergy,
            "e_kinetic" => SensorKind::KineticEnergy,
            "contact" => self.contact_sensor(element)?,
            "rangefinder" => self.rangefinder(element)?,
            "insidesite" => self.inside_site(element)?,
            "camprojection" => {
                let site = self.names.find(element, "site", "site")?;
                match self.fixed_camera(element, "camera")? {
                    Some(camera) => SensorKind::Projection { site, camera },
                    None => self.unsupported(element, 2, CAMERAS),
                }
            }
            "user" => self.user_sensor(element)?,
            "tactile" => {
                let mesh = self.assets.mesh(element, element.required("mesh")?)?;
                let dim = 3 * mesh.shape.vertices.len();
                element.skip_all();
                self.unsupported(element, dim, TACTILE)
            }
            "plugin" => match Plugin::of(root, element).and_then(touch_grid) {
                Some(dim) => {
                    element.skip_all();
                    self.unsupported(element, dim, TACTILE)
                }
                None => {
                    self.warnings.add(element, PLUGIN);
                    element.skip_all();
                    return Ok(None);
                }
            },
            // Left unread: a warning will name it.
            _ => return Ok(None),
        }))
    }

    /// A sensor that keeps its place and shows zeros, and a warning that says why.
    fn unsupported(&mut self, element: Element<'a>, dim: usize, reason: &str) -> SensorKind {
        self.warnings.add(element, reason);
        SensorKind::Unsupported { element: element.name().into(), dim }
    }

    fn joint_sensor(&self, element: Element<'a>, quantity: JointQuantity) -> Result<SensorKind, LoadError> {
        use JointQuantity::{ActuatorForce, AngularVelocity, Position, Quaternion, Velocity};
        let joint = match quantity {
            Position | Velocity | ActuatorForce => self.scalar_joint(element, "joint")?,
            _ => self.names.find(element, "joint", "joint")?,
        };
        let of = &self.joints[joint];
        let expected = match quantity {
            Position | Velocity | ActuatorForce => return Ok(SensorKind::Joint { joint, quantity }),
            Quaternion | AngularVelocity if of.kind == JointKind::Ball => None,
            Quaternion | AngularVelocity => Some("a joint of type ball"),
            _ if of.range.is_none() => Some("a joint with limits"),
            _ => None,
        };
        match expected {
            Some(expected) => {
                let name = &of.name;
                Err(element.error(format!("joint=\"{name}\": expected {expected}")))
            }
            None => Ok(SensorKind::Joint { joint, quantity }),
        }
    }

    fn tendon_sensor(&self, element: Element<'a>, quantity: TendonQuantity) -> Result<SensorKind, LoadError> {
        use TendonQuantity::{LimitDistance, LimitForce, LimitVelocity};
        let tendon = &self.tendons[self.names.find(element, "tendon", "tendon")?];
        if matches!(quantity, LimitDistance | LimitVelocity | LimitForce) && tendon.range.is_none() {
            return Err(element.error("tendon: expected a tendon with limits"));
        }
        Ok(SensorKind::Tendon { tendon: tendon.index, quantity })
    }

    fn frame_sensor(&mut self, element: Element<'a>, quantity: FrameQuantity) -> Result<SensorKind, LoadError> {
        use FrameQuantity::{AngularAcceleration, LinearAcceleration};
        let frame = self.frame(element, "objtype", "objname")?;
        let has_reference = !matches!(quantity, LinearAcceleration | AngularAcceleration);
        let named = |attribute: &&str| has_reference && element.attribute(attribute).is_some();
        let reference = match ["reftype", "refname"].iter().any(named) {
            true => Some(self.frame(element, "reftype", "refname")?),
            false => None,
        };
        Ok(match (frame, reference) {
            (Some(frame), None) => SensorKind::Frame { frame, reference: None, quantity },
            (Some(frame), Some(Some(reference))) => SensorKind::Frame { frame, reference: Some(reference), quantity },
            _ => self.unsupported(element, quantity.traits().dim, CAMERAS),
        })
    }

    /// The frame that two attributes name; none of a camera that moves by itself.
    fn frame(&self, element: Element<'a>, of_type: &str, of_name: &str) -> Result<Option<SensorFrame>, LoadError> {
        let kind = parse_keyword(element, of_type, element.required(of_type)?, &FRAME_TYPES)?;
        Ok(Some(match kind {
            FrameType::Inertial => {
                let body = self.names.find(element, of_name, "body")?;
                SensorFrame::Inertial { body, axes: self.inertial_axes(body) }
            }
            FrameType::Body => SensorFrame::Body(self.names.find(element, of_name, "body")?),
            FrameType::Geom => SensorFrame::Geom(self.names.find(element, of_name, "geom")?),
            FrameType::Site => SensorFrame::Site(self.names.find(element, of_name, "site")?),
            FrameType::Camera => return Ok(self.fixed_camera(element, of_name)?.map(SensorFrame::Camera)),
        }))
    }

    /// The camera that an attribute names; none of one that moves by itself.
    fn fixed_camera(&self, element: Element<'a>, attribute: &str) -> Result<Option<usize>, LoadError> {
        let camera = self.names.find(element, attribute, "camera")?;
        Ok((self.builder.cameras[camera].mode == CameraMode::Fixed).then_some(camera))
    }

    /// The principal axes of a body: as the file gives them, or the largest moment first.
    fn inertial_axes(&self, body: usize) -> Quat<f64> {
        self.inertial_axes.get(&body).copied().unwrap_or_else(|| {
            let inertia = self.builder.body(body).map_or_else(Default::default, |spec| spec.inertia.inertia);
            ordered_principal_axes(inertia)
        })
    }

    fn inside_site(&mut self, element: Element<'a>) -> Result<SensorKind, LoadError> {
        let site = self.names.find(element, "site", "site")?;
        Ok(match self.frame(element, "objtype", "objname")? {
            Some(frame) => SensorKind::InsideSite { frame, site },
            None => self.unsupported(element, 1, CAMERAS),
        })
    }

    /// The geom or the body that one of two attributes names.
    fn geoms_of(&self, element: Element<'a>, [geom, body]: [&str; 2]) -> Result<GeomsOf, LoadError> {
        match one_of(element, &[geom, body])? {
            Some(attribute) if attribute == geom => Ok(GeomsOf::Geom(self.names.find(element, geom, "geom")?)),
            Some(_) => Ok(GeomsOf::Body(self.names.find(element, body, "body")?)),
            None => Err(element.error(format!("no attribute `{geom}` or `{body}`: expected one of them"))),
        }
    }

    fn contact_sensor(&self, element: Element<'a>) -> Result<SensorKind, LoadError> {
        let filter = |attributes: &[&str]| -> Result<ContactFilter, LoadError> {
            let Some(attribute) = one_of(element, attributes)? else { return Ok(ContactFilter::Any) };
            let find = |kind| self.names.find(element, attribute, kind);
            Ok(match attribute.trim_end_matches(['1', '2']) {
                "geom" => ContactFilter::Geom(find("geom")?),
                "body" => ContactFilter::Body(find("body")?),
                "subtree" => ContactFilter::Subtree(find("body")?),
                _ => ContactFilter::Site(find("site")?),
            })
        };
        let first = filter(&["geom1", "body1", "subtree1", "site"])?;
        let second = filter(&["geom2", "body2", "subtree2"])?;
        let fields = fields(element, &CONTACT_FIELDS)?;
        let reduction = element.attribute("reduce").map(|word| parse_keyword(element, "reduce", word, &REDUCTIONS));
        let slots = positive(element, "num")?.unwrap_or(1);
        let reduction = reduction.transpose()?.unwrap_or_default();
        Ok(SensorKind::Contact(ContactSensor { first, second, fields, reduction, slots }))
    }

    fn rangefinder(&mut self, element: Element<'a>) -> Result<SensorKind, LoadError> {
        let fields = fields(element, &RAY_FIELDS)?;
        match one_of(element, &["site", "camera"])? {
            Some("site") => {
                let site = self.names.find(element, "site", "site")?;
                Ok(SensorKind::Rangefinder { rays: RaySource::Site(site), fields })
            }
            Some(_) => {
                let camera = self.names.find(element, "camera", "camera")?;
                let of = &self.builder.cameras[camera];
                let rays = RaySource::Camera { camera, pixels: of.pixels() };
                let is_fixed = of.mode == CameraMode::Fixed;
                let kind = SensorKind::Rangefinder { rays, fields };
                Ok(if is_fixed { kind } else { self.unsupported(element, kind.dim(), CAMERAS) })
            }
            None => Err(element.error("no attribute `site` or `camera`: expected one of them")),
        }
    }

    fn user_sensor(&mut self, element: Element<'a>) -> Result<SensorKind, LoadError> {
        let dim = element.required("dim")?;
        let expected = || element.error(format!("dim=\"{}\": expected an integer, 0 or more", shortened(dim)));
        let dim = dim.trim().parse::<usize>().map_err(|_| expected())?;
        element.skip(&["objtype", "objname", "datatype", "needstage"]);
        Ok(self.unsupported(element, dim, USER))
    }
}

/// How many numbers a sensor of the plugin `mujoco.sensor.touch_grid` has; none of another plugin.
fn touch_grid(plugin: Plugin<'_>) -> Option<usize> {
    let numbers = |key: &str| plugin.setting(key).and_then(|at| at.numbers("value").ok().flatten()).unwrap_or_default();
    let [columns, rows] = *numbers("size").first_chunk()?;
    let channels = numbers("nchannel").first().map_or(1.0, |n| n.max(1.0));
    let is_known = plugin.name == "mujoco.sensor.touch_grid";
    let count = columns.trunc() * rows.trunc() * channels.trunc();
    (is_known && columns >= 1.0 && rows >= 1.0 && count <= 1e6).then_some(count as usize)
}

/// The attribute of several that is there, of which there may be one at most.
fn one_of<'n>(element: Element<'_>, attributes: &[&'n str]) -> Result<Option<&'n str>, LoadError> {
    let mut there = attributes.iter().copied().filter(|attribute| element.attribute(attribute).is_some());
    let (first, second) = (there.next(), there.next());
    match (first, second) {
        (Some(first), Some(second)) => {
            Err(element.error(format!("has both `{first}` and `{second}`: expected one of them")))
        }
        _ => Ok(first),
    }
}

/// The fields of `data`, by default the first of the table; each at most once, in the order of the table.
fn fields<T: Copy>(element: Element<'_>, table: &[(&str, T)]) -> Result<Vec<T>, LoadError> {
    let Some(value) = element.attribute("data") else { return Ok(vec![table[0].1]) };
    let mut last = None;
    let mut fields = Vec::new();
    let mut seen = BTreeSet::new();
    for word in value.split_ascii_whitespace() {
        let field = parse_keyword(element, "data", word, table)?;
        let index = table.iter().position(|&(of_table, _)| of_table == word);
        if !seen.insert(word) || index < last {
            let words: Vec<&str> = table.iter().map(|&(word, _)| word).collect();
            let message = format!(
                "data=\"{}\": expected each field at most once, in the order {}",
                shortened(value),
                words.join(" ")
            );
            return Err(element.error(message));
        }
        last = index;
        fields.push(field);
    }
    if fields.is_empty() {
        fields.push(table[0].1);
    }
    Ok(fields)
}

/// An integer above 0.
fn positive(element: Element<'_>, attribute: &str) -> Result<Option<usize>, LoadError> {
    let Some(value) = element.attribute(attribute) else { return Ok(None) };
    let number = value.trim().parse::<usize>().ok().filter(|&number| number > 0);
    number
        .map(Some)
        .ok_or_else(|| element.error(format!("{attribute}=\"{}\": expected an integer above 0", shortened(value))))
}

/// When a sensor shows what it measures; samples without a delay and an interval are kept for nobody.
fn delay(element: Element<'_>) -> Result<Option<SensorDelay>, LoadError> {
    let time = at_least_zero(element, "delay")?.unwrap_or(0.0);
    let samples = element.number("nsample")?.unwrap_or(0.0);
    let word = element.attribute("interp").map(|word| parse_keyword(element, "interp", word, &READINGS)).transpose()?;
    let numbers = element.numbers("interval")?.unwrap_or_default();
    if numbers.len() > 2 {
        return Err(element.error(format!("interval: {} numbers: expected a period and a phase, s", numbers.len())));
    }
    let (interval, phase) = (numbers.first().copied().unwrap_or_default(), numbers.get(1).copied().unwrap_or_default());
    if time == 0.0 && interval == 0.0 {
        return Ok(None);
    }
    if !(interval >= 0.0 && interval.is_finite() && phase <= 0.0 && (phase == 0.0 || phase > -interval)) {
        let expected = "expected a period of 0 or more and a phase from -period to 0, s";
        return Err(element.error(format!("interval=\"{interval} {phase}\": {expected}")));
    }
    let most = Delay::MAX_SAMPLES;
    if !time.is_finite() || samples.fract() != 0.0 || !(1.0..=most as f64).contains(&samples) {
        let expected = format!("expected 1 to {most} with `delay` and `interval`: how many readings are kept");
        return Err(element.error(format!("nsample=\"{samples}\": {expected}")));
    }
    let line = Delay { time, samples: samples as usize, reading: word.unwrap_or_default() };
    Ok(Some(SensorDelay { line, interval, phase }))
}
