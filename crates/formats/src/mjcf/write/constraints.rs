//! Tendons and equality constraints.

use geometry::Shape;
use multibody::{Branch, Coordinate, EqualityKind, PathPoint, Tendon, TendonLook, TendonPath};
use spatial::{Pose, Quat, Vec3};

use super::distances::sphere_at;
use super::numbers::{list, number, quaternion};
use super::tree::{effort_limit, springs_and_dampers};
use super::xml::{Attributes, Xml};
use super::{WriteError, Writer, label, named};

impl Writer<'_> {
    pub(super) fn tendons(&mut self, xml: &mut Xml) -> Result<(), WriteError> {
        if self.model.tendons.is_empty() {
            return Ok(());
        }
        xml.open("tendon", &[]);
        for (index, tendon) in self.model.tendons.iter().enumerate() {
            let label = label("tendon", &tendon.name, index);
            let mut attributes = named(&self.tendons[index]);
            if let Some((low, high)) = tendon.range {
                attributes.extend([("range", self.interval(low, high, false, &label)), ("limited", "true".into())]);
            }
            attributes.extend(self.compliance(tendon.limit_compliance, ["solreflimit", "solimplimit"], &label));
            let of_friction = ["solreffriction", "solimpfriction"];
            attributes.extend(self.compliance(tendon.friction_compliance, of_friction, &label));
            attributes.extend(springs_and_dampers(tendon.stiffness, tendon.damping, &tendon.polynomial));
            for (key, value) in [("frictionloss", tendon.friction_loss), ("armature", tendon.armature)] {
                if value != 0.0 {
                    attributes.push((key, number(value)));
                }
            }
            if let Some((low, high)) = tendon.effort_limit.filter(|(low, high)| low.is_finite() || high.is_finite()) {
                attributes.extend(effort_limit(low, high));
            }
            let rest = self.spring_length(tendon);
            if tendon.rest != (rest, rest) {
                attributes.push(("springlength", list(&[tendon.rest.0, tendon.rest.1])));
            }
            attributes.extend(look(tendon));
            match &tendon.path {
                TendonPath::Joints(terms) => {
                    xml.open("fixed", &attributes);
                    for &(joint, coefficient) in terms {
                        xml.empty("joint", &[("joint", self.joints[joint].clone()), ("coef", number(coefficient))]);
                    }
                    xml.close("fixed");
                }
                TendonPath::Spatial(branches) => {
                    xml.open("spatial", &attributes);
                    branches.iter().enumerate().for_each(|(place, branch)| self.branch(place, branch, xml));
                    xml.close("spatial");
                }
            }
        }
        xml.close("tendon");
        Ok(())
    }

    /// A part of a spatial tendon; behind the first one a pulley is needed in any case.
    fn branch(&self, place: usize, branch: &Branch, xml: &mut Xml) {
        if place > 0 || branch.divisor != 1.0 {
            xml.empty("pulley", &[("divisor", number(branch.divisor))]);
        }
        for point in &branch.points {
            match point {
                PathPoint::Site(site) => xml.empty("site", &[("site", self.sites[*site].clone())]),
                PathPoint::Obstacle(obstacle) => {
                    let mut attributes = vec![("geom", self.geoms[obstacle.geom].clone())];
                    attributes.extend(obstacle.side.map(|site| ("sidesite", self.sites[site].clone())));
                    xml.empty("geom", &attributes);
                }
            }
        }
    }

    /// The length where the springs of the joints rest, as its own does by default.
    fn spring_length(&self, tendon: &Tendon) -> f64 {
        tendon.length(self.model, &self.model.spring_reference)
    }

    pub(super) fn equalities(&mut self, xml: &mut Xml) -> Result<(), WriteError> {
        if self.model.equalities.is_empty() {
            return Ok(());
        }
        xml.open("equality", &[]);
        for (index, equality) in self.model.equalities.iter().enumerate() {
            let label = label("equality", &equality.name, index);
            let (kind, ends) = match &equality.kind {
                EqualityKind::Connect { bodies, anchors } => ("connect", self.connect(index, *bodies, *anchors)),
                EqualityKind::Weld { bodies, frames, torque_scale } => {
                    let mut weld = self.weld(*bodies, *frames);
                    if *torque_scale != 1.0 {
                        weld.push(("torquescale", number(*torque_scale)));
                    }
                    ("weld", weld)
                }
                EqualityKind::Distance { bodies, anchors, distance } => {
                    ("distance", self.distance(*bodies, *anchors, *distance, &label)?)
                }
                EqualityKind::Coupling { y, x, polynomial } => self.coupling(*y, *x, *polynomial, &label)?,
            };
            let mut attributes = named(&equality.name);
            attributes.extend(ends);
            if !equality.active {
                attributes.push(("active", "false".into()));
            }
            attributes.extend(self.compliance(equality.compliance, ["solref", "solimp"], &label));
            xml.empty(kind, &attributes);
        }
        xml.close("equality");
        Ok(())
    }

    /// A point of the first body alone, if the reader finds the second body's where it is; two sites otherwise.
    fn connect(&self, index: usize, bodies: [usize; 2], anchors: [Vec3<f64>; 2]) -> Attributes {
        if let Some(sites) = self.sites_at(bodies, |k, site| site.pos == anchors[k]) {
            return sites;
        }
        if self.is_found(bodies, anchors) {
            let [first, second] = bodies.map(|body| self.bodies[body].clone());
            return vec![("body1", first), ("body2", second), ("anchor", list(&anchors[0].to_array()))];
        }
        let [first, second] = [0, 1].map(|k| self.extra_name(index, k));
        vec![("site1", first), ("site2", second)]
    }

    /// Whether the second anchor is where the first is in the default configuration, to round-off.
    fn is_found(&self, bodies: [usize; 2], anchors: [Vec3<f64>; 2]) -> bool {
        let [first, second] = bodies.map(|body| self.default_pose(body));
        let found = (first.inverse() * second).inverse().transform_point(anchors[0]);
        (found - anchors[1]).norm() <= 1e-12 * (1.0 + anchors[1].norm() + (first.pos - second.pos).norm())
    }

    /// Sites for connections that are not together in the default configuration.
    pub(super) fn place_extra_sites(&mut self) {
        for (index, equality) in self.model.equalities.iter().enumerate() {
            let EqualityKind::Connect { bodies, anchors } = equality.kind else { continue };
            if self.sites_at(bodies, |k, site| site.pos == anchors[k]).is_none() && !self.is_found(bodies, anchors) {
                for k in 0..2 {
                    let name = self.extra_name(index, k);
                    self.extra_sites.push((bodies[k], name, Pose::new(anchors[k], Quat::IDENTITY)));
                }
                let text = "its points are apart in the default configuration: two sites are written for them";
                self.note(&label("equality", &equality.name, index), text);
            }
        }
    }

    fn extra_name(&self, index: usize, k: usize) -> String {
        super::free_name(&self.sites, &format!("connect{index}_{}", k + 1))
    }

    fn default_pose(&self, body: usize) -> Pose<f64> {
        let (mut at, mut pose) = (body, Pose::IDENTITY);
        while at != 0 {
            let body = &self.model.bodies[at];
            (at, pose) = (body.parent, body.pose_in_parent * pose);
        }
        pose
    }

    /// Two sites of the model, with names, at these ends.
    fn sites_at(&self, bodies: [usize; 2], fits: impl Fn(usize, &Pose<f64>) -> bool) -> Option<Attributes> {
        let find = |k: usize| {
            let fits = |i: &usize| {
                let site = &self.model.sites[*i];
                site.body == bodies[k] && !site.name.is_empty() && fits(k, &site.pose)
            };
            (0..self.model.sites.len()).find(fits).map(|i| self.sites[i].clone())
        };
        Some(vec![("site1", find(0)?), ("site2", find(1)?)])
    }

    fn weld(&self, bodies: [usize; 2], frames: [Pose<f64>; 2]) -> Attributes {
        if let Some(sites) = self.sites_at(bodies, |k, site| *site == frames[k]) {
            return sites;
        }
        // MJCF has a point of the second body, with that body's axes: the same turn on both sides changes nothing.
        let [first, second] = frames;
        let first = if second.rot == Quat::IDENTITY {
            first
        } else {
            Pose::new(first.pos, (first.rot * second.rot.conjugate()).unit())
        };
        let [w, x, y, z] = quaternion(first.rot, 2);
        let [a, b, c] = first.pos.to_array();
        let [one, two] = bodies.map(|body| self.bodies[body].clone());
        let mut attributes = vec![("body1", one), ("body2", two)];
        if second.pos != Vec3::ZERO {
            attributes.push(("anchor", list(&second.pos.to_array())));
        }
        attributes.push(("relpose", list(&[a, b, c, w, x, y, z])));
        attributes
    }

    /// Between the surfaces of two spheres, which MuJoCo no longer has.
    fn distance(
        &mut self,
        bodies: [usize; 2],
        anchors: [Vec3<f64>; 2],
        distance: f64,
        label: &str,
    ) -> Result<Attributes, WriteError> {
        let find = |k: usize| sphere_at(self.scene, bodies[k], anchors[k]);
        let (Some(one), Some(two)) = (find(0), find(1)) else {
            let reason =
                "keeps two points at a distance: MJCF can say that of the centres of two spheres with names only";
            return Err(WriteError { element: label.into(), reason: reason.into() });
        };
        let radius = |geom: usize| match self.scene.geoms[geom].shape {
            Shape::Sphere { radius } => radius,
            _ => 0.0,
        };
        let gap = distance - (radius(one) + radius(two));
        let names = [one, two].map(|geom| self.geoms[geom].clone());
        self.note(label, "MuJoCo after 2.2.1 does not read <distance>");
        let [first, second] = names;
        Ok(vec![("geom1", first), ("geom2", second), ("distance", number(gap))])
    }

    /// y − y₀ = p(x − x₀), about the references that MJCF takes.
    fn coupling(
        &self,
        y: (Coordinate, f64),
        x: Option<(Coordinate, f64)>,
        polynomial: [f64; 5],
        label: &str,
    ) -> Result<(&'static str, Attributes), WriteError> {
        let names = |keys: [&'static str; 2], of: &dyn Fn(&Coordinate) -> Option<String>| {
            let first = (keys[0], of(&y.0)?);
            let second = x.as_ref().map(|(x, _)| of(x).map(|name| (keys[1], name)));
            match second {
                None => Some(vec![first]),
                Some(second) => Some(vec![first, second?]),
            }
        };
        let joint = |c: &Coordinate| match c {
            Coordinate::Joint(joint) => Some(self.joints[*joint].clone()),
            Coordinate::Tendon(_) => None,
        };
        let tendon = |c: &Coordinate| match c {
            Coordinate::Tendon(tendon) => Some(self.tendons[*tendon].clone()),
            Coordinate::Joint(_) => None,
        };
        let (kind, mut attributes) = match (names(["joint1", "joint2"], &joint), names(["tendon1", "tendon2"], &tendon))
        {
            (Some(names), _) => ("joint", names),
            (None, Some(names)) => ("tendon", names),
            _ => {
                let reason = "couples a joint with a tendon: MJCF couples two joints or two tendons";
                return Err(WriteError { element: label.into(), reason: reason.into() });
            }
        };
        let by_x = x.map_or(0.0, |(x, reference)| self.reference(x) - reference);
        let mut polynomial = shifted(polynomial, by_x);
        polynomial[0] += y.1 - self.reference(y.0);
        attributes.push(("polycoef", list(&polynomial)));
        Ok((kind, attributes))
    }

    /// The coordinate at which MJCF measures deviations.
    fn reference(&self, coordinate: Coordinate) -> f64 {
        match coordinate {
            Coordinate::Joint(joint) => self.written_reference(joint),
            Coordinate::Tendon(tendon) => {
                let mut q = self.model.q0.clone();
                for (index, joint) in self.model.joints.iter().enumerate().filter(|(_, joint)| joint.kind.nv() == 1) {
                    q[joint.q] = self.written_reference(index);
                }
                self.model.tendons[tendon].length(self.model, &q)
            }
        }
    }
}

/// Radius, colour and group of a string where they are not the usual ones.
fn look(tendon: &Tendon) -> Attributes {
    let (look, usual) = (tendon.look, TendonLook::default());
    let mut attributes = Attributes::new();
    // Of what is drawn, fixed tendons have a group alone.
    let is_drawn = matches!(tendon.path, TendonPath::Spatial(_));
    if is_drawn && look.radius != usual.radius {
        attributes.push(("width", number(look.radius)));
    }
    if is_drawn && look.rgba != usual.rgba {
        let [r, g, b, a] = look.rgba;
        attributes.push(("rgba", format!("{r} {g} {b} {a}")));
    }
    if look.group != usual.group {
        attributes.push(("group", look.group.to_string()));
    }
    attributes
}

/// The coefficients of p(x + by), by repeated Horner steps.
fn shifted(mut p: [f64; 5], by: f64) -> [f64; 5] {
    if by != 0.0 {
        for i in 0..4 {
            for k in (i..4).rev() {
                p[k] += by * p[k + 1];
            }
        }
    }
    p
}
