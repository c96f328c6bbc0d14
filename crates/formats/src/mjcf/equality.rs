//! `<equality>`: constraints that tie bodies, joints and tendons to each other, and nodes of flexible bodies.

use geometry::Shape;
use multibody::{Coordinate, Equality, EqualityKind};
use spatial::{Pose, Quat, Vec3};

use super::Reader;
use super::compliance::compliance;
use super::defaults::Attributes;
use super::flex::MISSING_FLEX;
use crate::LoadError;
use crate::xml::Element;

/// Where a constraint between two bodies holds them.
enum Ends {
    /// At a site of each: their frames in the bodies' frames.
    Sites([Pose<f64>; 2]),
    /// At a place of one body, and that of the other where it is in the default configuration.
    Bodies,
}

const SITES: [&str; 2] = ["site1", "site2"];
const AS_ONE: &str = "joins bodies that move as one: it has no effect, ignored";

impl<'a> Reader<'_, 'a> {
    /// Reads every `<equality>` below the root. Bodies, joints, geoms, sites and tendons must be known.
    pub(super) fn equalities(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in root.children_named("equality").flat_map(Element::children) {
            if matches!(element.name(), "connect" | "weld" | "joint" | "tendon" | "distance" | "flex") {
                self.equality(element)?;
            }
        }
        Ok(())
    }

    fn equality(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let attributes = &self.defaults.attributes_of(element, "equality", 0)?;
        let name = self.names.claim(element, "equality", "", self.builder.equalities.len())?;
        let active = attributes.flag("active")?.unwrap_or(true) && self.options.flags.equality;
        let compliance = compliance(attributes, ["solref", "solimp"], &self.options, &mut self.warnings)?;
        let kind = match element.name() {
            "connect" | "weld" if self.holds_missing_node(element) => {
                self.warnings.add(element, "of a node of a flexible body that is missing from the model: ignored");
                None
            }
            "connect" => self.connect(element)?,
            "weld" => self.weld(element)?,
            "joint" => Some(self.joint_coupling(attributes)?),
            "tendon" => Some(self.tendon_coupling(attributes)?),
            "flex" => return self.flex_equality(element, compliance, active),
            _ => self.distance(element)?,
        };
        let Some(kind) = kind else {
            element.skip_all();
            return Ok(());
        };
        self.equalities.push(element);
        self.builder.equalities.push(Equality { name, kind, compliance, active });
        Ok(())
    }

    /// Two points coincide: the anchor in the first body, and where that is in the second by default.
    fn connect(&mut self, element: Element<'a>) -> Result<Option<EqualityKind>, LoadError> {
        let (bodies, ends) = self.ends(element)?;
        let anchors = match ends {
            Ends::Sites(frames) => frames.map(|frame| frame.pos),
            Ends::Bodies => {
                element.required("anchor")?;
                let anchor = element.array("anchor")?.map_or(Vec3::ZERO, Vec3::from);
                [anchor, self.relative_pose(bodies).inverse().transform_point(anchor)]
            }
        };
        Ok(self.unless_as_one(element, bodies, EqualityKind::Connect { bodies, anchors }))
    }

    /// Two frames coincide: that at the anchor in the second body, and where `relpose` puts it in the first.
    fn weld(&mut self, element: Element<'a>) -> Result<Option<EqualityKind>, LoadError> {
        let (bodies, ends) = self.ends(element)?;
        let frames = match ends {
            Ends::Sites(frames) => frames,
            Ends::Bodies => {
                let anchor = element.array("anchor")?.map_or(Vec3::ZERO, Vec3::from);
                let second = Pose::new(anchor, Quat::IDENTITY);
                let given = element.array("relpose")?.and_then(|[x, y, z, w, a, b, c]: [f64; 7]| {
                    // A quaternion of zeros stands for the default configuration.
                    Some(Pose::new(Vec3::new(x, y, z), Quat::new(w, a, b, c).normalized()?))
                });
                [given.unwrap_or_else(|| self.relative_pose(bodies) * second), second]
            }
        };
        let kind = match element.number("torquescale")?.unwrap_or(1.0) {
            0.0 => EqualityKind::Connect { bodies, anchors: frames.map(|frame| frame.pos) },
            torque_scale => EqualityKind::Weld { bodies, frames, torque_scale: torque_scale.abs() },
        };
        Ok(self.unless_as_one(element, bodies, kind))
    }

    /// Whether a body that an element names is a node of a flexible body that is missing: `NAME_3`.
    fn holds_missing_node(&self, element: Element<'a>) -> bool {
        let is_missing = |name: &str| {
            let Some((flex, node)) = name.rsplit_once('_') else { return false };
            !node.is_empty()
                && node.bytes().all(|digit| digit.is_ascii_digit())
                && !self.names.has("body", name)
                && self.names.has(MISSING_FLEX, flex)
        };
        ["body1", "body2"].into_iter().filter_map(|end| element.attribute(end)).any(is_missing)
    }

    /// The bodies that a constraint holds together: those of two sites, or two bodies, the world for want of a second.
    fn ends(&self, element: Element<'a>) -> Result<([usize; 2], Ends), LoadError> {
        if SITES.iter().any(|site| element.attribute(site).is_some()) {
            const OTHERS: [&str; 4] = ["body1", "body2", "anchor", "relpose"];
            if let Some(other) = OTHERS.iter().find(|name| element.attribute(name).is_some()) {
                return Err(element.error(format!("has sites and `{other}`: expected two sites, or bodies")));
            }
            let sites = [self.names.find(element, SITES[0], "site")?, self.names.find(element, SITES[1], "site")?];
            let sites = sites.map(|site| &self.builder.sites[site]);
            return Ok((sites.map(|site| site.body), Ends::Sites(sites.map(|site| site.pose))));
        }
        let first = self.names.find(element, "body1", "body")?;
        let second = match element.attribute("body2").unwrap_or_default() {
            "" => 0,
            name => self.names.get(element, "body2", "body", name)?,
        };
        if first == second {
            return Err(element.error("body1 and body2 are the same: expected two bodies"));
        }
        Ok(([first, second], Ends::Bodies))
    }

    /// The second body's frame in that of the first in the default configuration.
    fn relative_pose(&self, bodies: [usize; 2]) -> Pose<f64> {
        let [first, second] = bodies.map(|body| self.builder.default_pose(body).unwrap_or_default());
        first.inverse() * second
    }

    /// The constraint, unless no joint lies between the bodies.
    fn unless_as_one(&mut self, element: Element<'a>, bodies: [usize; 2], kind: EqualityKind) -> Option<EqualityKind> {
        let [first, second] = bodies.map(|body| self.builder.rigid_group(body));
        if first == second {
            self.warnings.add(element, AS_ONE);
            return None;
        }
        Some(kind)
    }

    fn joint_coupling(&self, attributes: &Attributes<'_, 'a>) -> Result<EqualityKind, LoadError> {
        let element = attributes.element();
        let coordinate = |attribute| {
            let joint = self.scalar_joint(element, attribute)?;
            Ok((Coordinate::Joint(joint), self.joints[joint].reference))
        };
        let x = second(element, "joint2").map(coordinate).transpose()?;
        coupling(attributes, coordinate("joint1")?, x)
    }

    fn tendon_coupling(&self, attributes: &Attributes<'_, 'a>) -> Result<EqualityKind, LoadError> {
        let element = attributes.element();
        let coordinate = |attribute| {
            let tendon = &self.tendons[self.names.find(element, attribute, "tendon")?];
            Ok((Coordinate::Tendon(tendon.index), tendon.reference))
        };
        let x = second(element, "tendon2").map(coordinate).transpose()?;
        coupling(attributes, coordinate("tendon1")?, x)
    }

    /// Two spheres keep their surfaces at a distance (MuJoCo, before 2.2.2, had this for geoms of all kinds).
    fn distance(&mut self, element: Element<'a>) -> Result<Option<EqualityKind>, LoadError> {
        let geoms = [self.names.find(element, "geom1", "geom")?, self.names.find(element, "geom2", "geom")?];
        let gap = element.number("distance")?.unwrap_or(0.0);
        let geoms = geoms.map(|geom| &self.scene.geoms[geom]);
        let (bodies, anchors) = (geoms.map(|geom| geom.body), geoms.map(|geom| geom.pose.pos));
        let [Shape::Sphere { radius: first }, Shape::Sphere { radius: second }] = geoms.map(|geom| &geom.shape) else {
            self.warnings.add(element, "the distance of geoms other than spheres is not held: ignored");
            return Ok(None);
        };
        let distance = first + second + gap;
        if distance <= 0.0 {
            let least = -(first + second);
            return Err(element.error(format!("distance=\"{gap}\": expected more than {least}, where centres meet")));
        }
        Ok(self.unless_as_one(element, bodies, EqualityKind::Distance { bodies, anchors, distance }))
    }
}

/// The attribute, if it names something.
fn second<'n>(element: Element<'_>, attribute: &'n str) -> Option<&'n str> {
    element.attribute(attribute).filter(|name| !name.is_empty()).map(|_| attribute)
}

fn coupling(
    attributes: &Attributes<'_, '_>,
    y: (Coordinate, f64),
    x: Option<(Coordinate, f64)>,
) -> Result<EqualityKind, LoadError> {
    let polynomial = attributes.leading("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    Ok(EqualityKind::Coupling { y, x, polynomial })
}
