//! Bodies with their joints, geoms and sites.

use geometry::{FluidCoefficients, Geom, Shape, SurfaceMotion};
use multibody::{
    Body, JointKind, JointMotion, JointSpec, JointType, Material, PolynomialForces, Resistance, SleepPolicy,
};
use spatial::{Pose, Quat, Vec3};

use super::assets::{Assets, heights};
use super::looks::site_shape;
use super::numbers::{body_attributes, compliance, direction, list, number, pose_attributes};
use super::soft::SoftBelow;
use super::xml::{Attributes, Xml};
use super::{WriteError, Writer, free_name, inertia, label, named};
use crate::mjcf::body::SLEEP;
use crate::robot::start::motion;

/// What is written below each body.
struct Below {
    bodies: Vec<Vec<usize>>,
    joints: Vec<Vec<usize>>,
    geoms: Vec<Vec<usize>>,
    sites: Vec<Vec<usize>>,
    cameras: Vec<Vec<usize>>,
    extra_sites: Vec<Vec<usize>>,
}

impl Writer<'_> {
    pub(super) fn bodies(&mut self, xml: &mut Xml, assets: &Assets, soft: &SoftBelow) -> Result<(), WriteError> {
        self.place_extra_sites();
        let model = self.model;
        let mut below = Below::new(model.bodies.len());
        (1..model.bodies.len()).for_each(|index| below.bodies[model.bodies[index].parent].push(index));
        model.joints.iter().enumerate().for_each(|(index, joint)| below.joints[joint.body].push(index));
        self.scene.geoms.iter().enumerate().for_each(|(index, geom)| below.geoms[geom.body].push(index));
        model.sites.iter().enumerate().for_each(|(index, site)| below.sites[site.body].push(index));
        model.cameras.iter().enumerate().for_each(|(index, camera)| below.cameras[camera.body].push(index));
        self.extra_sites.iter().enumerate().for_each(|(index, site)| below.extra_sites[site.0].push(index));
        // Without recursion: trees may be deep.
        xml.open("worldbody", &[]);
        self.contents(xml, 0, &below, assets)?;
        self.soft_bodies(xml, 0, soft);
        self.flex_nodes(xml, soft);
        let mut pending = vec![(0, 0)];
        while let Some((body, next)) = pending.pop() {
            if let Some(&child) = below.bodies[body].get(next) {
                pending.push((body, next + 1));
                self.open_body(xml, child, &below)?;
                self.contents(xml, child, &below, assets)?;
                self.soft_bodies(xml, child, soft);
                pending.push((child, 0));
            } else {
                xml.close(if body == 0 { "worldbody" } else { "body" });
            }
        }
        Ok(())
    }

    fn open_body(&mut self, xml: &mut Xml, index: usize, below: &Below) -> Result<(), WriteError> {
        let body = &self.model.bodies[index];
        let mut attributes = named(&self.bodies[index]);
        let pose = self.drawn_pose(index, body, &below.joints[index]);
        attributes.extend(body_attributes(pose));
        if body.is_mocap {
            attributes.push(("mocap", "true".into()));
        }
        if let Some((word, _)) =
            SLEEP.iter().find(|(_, policy)| *policy == body.sleep && body.sleep != SleepPolicy::Auto)
        {
            attributes.push(("sleep", (*word).into()));
        }
        if body.gravity_compensation != 0.0 {
            attributes.push(("gravcomp", number(body.gravity_compensation)));
        }
        xml.open("body", &attributes);
        Ok(())
    }

    /// MJCF draws a body at the reference coordinates of its joints, which are also where it starts.
    fn drawn_pose(&mut self, index: usize, body: &Body, joints: &[usize]) -> Pose<f64> {
        let model = self.model;
        let moved = |joint: &&usize| {
            let joint = &model.joints[**joint];
            joint.kind.nv() == 1 && model.q0[joint.q] != JointSpec::of(model, joint).reference
        };
        let moved: Vec<&usize> = joints.iter().filter(moved).collect();
        let moving = joints.iter().filter(|&&joint| model.joints[joint].kind.nv() > 0).count();
        match moved[..] {
            [] => body.pose_in_parent,
            [&joint] if moving == 1 => {
                let joint = &model.joints[joint];
                let by = model.q0[joint.q] - JointSpec::of(model, joint).reference;
                body.pose_in_parent * motion(joint.kind, joint.anchor, by)
            }
            _ => {
                let text = "its joints start away from where they are drawn, which MJCF has for single joints only: it starts as drawn";
                self.note(&label("body", &body.name, index), text);
                body.pose_in_parent
            }
        }
    }

    /// The reference coordinate that is written for a joint.
    pub(super) fn written_reference(&self, index: usize) -> f64 {
        let (model, joint) = (self.model, &self.model.joints[index]);
        if joint.kind.nv() == 1 && self.moving_joints[joint.body] == 1 {
            model.q0[joint.q]
        } else {
            JointSpec::of(model, joint).reference
        }
    }

    fn contents(&mut self, xml: &mut Xml, body: usize, below: &Below, assets: &Assets) -> Result<(), WriteError> {
        let model = self.model;
        if body != 0 {
            let moves = |body: usize| below.joints[body].iter().any(|&joint| model.joints[joint].kind.nv() > 0);
            // The mass of what is fixed to a body counts as its own.
            let is_alone = moves(body)
                && below.bodies[body]
                    .iter()
                    .all(|&child| moves(child) || !inertia::is_enough(&model.bodies[child].inertia));
            let open = model.bodies[body].axes.filter(|_| model.medium.is_there());
            let (attributes, note) = inertia::attributes(&model.bodies[body].inertia, open, is_alone);
            note.iter().for_each(|text| self.note(&label("body", &model.bodies[body].name, body), text));
            xml.empty("inertial", &attributes);
        }
        for &joint in &below.joints[body] {
            self.joint(xml, joint)?;
        }
        for &geom in &below.geoms[body] {
            self.geom(xml, geom, assets);
        }
        for &site in &below.sites[body] {
            let mut attributes = named(&self.sites[site]);
            attributes.extend(site_shape(model.sites[site].shape));
            attributes.extend(pose_attributes(model.sites[site].pose));
            xml.empty("site", &attributes);
        }
        for &camera in &below.cameras[body] {
            self.camera(xml, &model.cameras[camera], &self.cameras[camera]);
        }
        for &site in &below.extra_sites[body] {
            let (_, name, pose) = &self.extra_sites[site];
            let mut attributes = named(name);
            attributes.extend(pose_attributes(*pose));
            xml.empty("site", &attributes);
        }
        Ok(())
    }

    fn joint(&mut self, xml: &mut Xml, index: usize) -> Result<(), WriteError> {
        let (model, joint) = (self.model, &self.model.joints[index]);
        let label = label("joint", &joint.name, index);
        let spec = JointSpec::of(model, joint);
        let spec = JointSpec { reference: self.written_reference(index), ..spec };
        let error = |reason: &str| WriteError { element: label.clone(), reason: reason.into() };
        if joint.kind == JointKind::Free && model.bodies[joint.body].parent != 0 {
            return Err(error("moves freely below another body: MJCF has free joints in the world only"));
        }
        let motion = |JointMotion { joint, axis, .. }: JointMotion| match joint {
            JointType::Revolute => Ok(("hinge", Some(axis))),
            JointType::Prismatic => Ok(("slide", Some(axis))),
            JointType::Ball => Ok(("ball", None)),
            JointType::Free => Ok(("free", None)),
            JointType::Screw => {
                Err(error("is a screw: MJCF has none (a hinge and a slide with an equality constraint come close)"))
            }
        };
        let motions = joint.kind.motions().into_iter().map(motion).collect::<Result<Vec<_>, _>>()?;
        let several = motions.len() > 1;
        for (k, (kind, axis)) in motions.into_iter().enumerate() {
            let name = match several && !self.joints[index].is_empty() {
                true => free_name(&self.joints, &format!("{}_{}", self.joints[index], k + 1)),
                false => self.joints[index].clone(),
            };
            let attributes = self.joint_attributes(&name, kind, axis, &spec, &label);
            xml.empty("joint", &attributes);
        }
        if several {
            let text = format!("a {} joint is written as joints of its axes", joint.kind.name());
            self.note(&label, &text);
        }
        Ok(())
    }

    fn joint_attributes(
        &mut self,
        name: &str,
        kind: &str,
        axis: Option<Vec3<f64>>,
        spec: &JointSpec,
        label: &str,
    ) -> Attributes {
        let mut attributes = named(name);
        attributes.push(("type", kind.into()));
        if kind != "free" && spec.anchor != Vec3::ZERO {
            attributes.push(("pos", list(&spec.anchor.to_array())));
        }
        attributes.extend(axis.map(|axis| ("axis", list(&direction(axis)))));
        attributes.extend(springs_and_dampers(spec.stiffness, spec.damping, &spec.polynomial));
        for (key, value) in [
            ("armature", spec.armature),
            ("frictionloss", spec.friction_loss),
            ("ref", spec.reference),
            ("springref", spec.spring_reference),
        ] {
            if value != 0.0 {
                attributes.push((key, number(value)));
            }
        }
        if spec.is_lifted_by_actuators {
            attributes.push(("actuatorgravcomp", "true".into()));
        }
        if let Some((low, high)) = spec.range
            && kind != "free"
        {
            attributes.extend([("range", self.interval(low, high, kind == "ball", label)), ("limited", "true".into())]);
        }
        attributes.extend(self.compliance(spec.limit_compliance, ["solreflimit", "solimplimit"], label));
        attributes.extend(self.compliance(spec.friction_compliance, ["solreffriction", "solimpfriction"], label));
        match spec.effort_limit.filter(|(low, high)| low.is_finite() || high.is_finite()) {
            Some((low, high)) if matches!(kind, "hinge" | "slide") => {
                attributes.extend(effort_limit(low, high));
            }
            Some(_) => self.note(label, "MJCF limits the effort of hinges and slides only: left out"),
            None => {}
        }
        attributes
    }

    /// The ends of an interval, which MJCF wants finite and apart.
    pub(super) fn interval(&mut self, low: f64, high: f64, ball: bool, label: &str) -> String {
        // What MuJoCo takes for infinite.
        const MOST: f64 = 1e10;
        let (mut a, mut b) = (low, high);
        if !(a.is_finite() && b.is_finite()) {
            (a, b) = (a.max(-MOST), b.min(MOST));
            self.note(label, "an infinite end of a range is written as 1e10");
        }
        if a >= b && !ball {
            b = a + (1e-9 * a.abs()).max(1e-9);
            self.note(label, "a range of one point is written 1e-9 wide: MJCF takes no empty ones");
        }
        list(&[a, b])
    }

    pub(super) fn compliance(
        &mut self,
        value: multibody::Compliance,
        names: [&'static str; 2],
        label: &str,
    ) -> Attributes {
        let (attributes, exact) = compliance(value, names);
        if !exact {
            self.note(label, "MJCF has no stiffness in N/m of a contact or limit: near-rigid is written");
        }
        attributes
    }

    fn geom(&mut self, xml: &mut Xml, index: usize, assets: &Assets) {
        let geom = &self.scene.geoms[index];
        let label = label("geom", &geom.name, index);
        let mut attributes = named(&self.geoms[index]);
        let (kind, size, asset) = shape(geom, assets);
        if kind == "plane" && self.model.bodies[geom.body].node.is_some() {
            self.note(&label, "a plane that moves is written as it is, but MuJoCo has planes on what is fixed only");
        }
        attributes.push(("type", kind.into()));
        if !size.is_empty() {
            attributes.push(("size", list(&size)));
        }
        attributes.extend(asset);
        attributes.extend(pose_attributes(raised(geom)));
        for (key, bits) in [("contype", geom.contype), ("conaffinity", geom.conaffinity)] {
            if bits != 1 {
                attributes.push((key, (bits as i32).to_string()));
            }
        }
        let material = self.model.materials.get(geom.material).copied().unwrap_or_default();
        attributes.extend(surface(&material));
        let [slide, spin, roll] = [material.friction, material.torsional_friction, material.rolling_friction];
        attributes.push(("friction", list(&[slide, spin, roll])));
        attributes.extend(self.compliance(material.compliance, ["solref", "solimp"], &label));
        if material.mix != 1.0 {
            attributes.push(("solmix", number(material.mix)));
        }
        if material.priority != 0 {
            attributes.push(("priority", material.priority.to_string()));
        }
        if geom.group != 0 {
            attributes.push(("group", geom.group.to_string()));
        }
        if geom.margin != 0.0 {
            attributes.push(("margin", number(geom.margin)));
        }
        if let Some(SurfaceMotion { linear, angular }) = geom.surface_motion {
            attributes.push(("surfacevel", list(&[linear.to_array(), angular.to_array()].concat())));
        }
        if let Some(fluid) = geom.fluid {
            attributes.push(("fluidshape", "ellipsoid".into()));
            if fluid != FluidCoefficients::default() {
                attributes.push(("fluidcoef", list(&fluid.to_array())));
            }
        }
        attributes.extend(assets.looks.of_geom(geom));
        let [r, g, b, a] = geom.rgba;
        attributes.push(("rgba", format!("{r} {g} {b} {a}")));
        xml.empty("geom", &attributes);
    }

    pub(super) fn contacts(&mut self, xml: &mut Xml) {
        let scene = self.scene;
        if scene.pairs.is_empty() && scene.excluded.is_empty() {
            return;
        }
        xml.open("contact", &[]);
        for pair in &scene.pairs {
            let [a, b] = pair.geoms.map(|geom| self.geoms[geom].clone());
            let label = format!("pair {a:?} – {b:?}");
            let mut attributes = vec![("geom1", a), ("geom2", b)];
            let material = self.model.materials.get(pair.material).copied().unwrap_or_default();
            attributes.extend(surface(&material));
            let [slide, spin, roll] = [material.friction, material.torsional_friction, material.rolling_friction];
            let second = material.second_friction.unwrap_or(slide);
            let second_roll = material.second_rolling_friction.unwrap_or(roll);
            attributes.push(("friction", list(&[slide, second, spin, roll, second_roll])));
            attributes.extend(self.compliance(material.compliance, ["solref", "solimp"], &label));
            if pair.margin != 0.0 {
                attributes.push(("margin", number(pair.margin)));
            }
            xml.empty("pair", &attributes);
        }
        for pair in &scene.excluded {
            let [a, b] = pair.map(|body| self.bodies[body].clone());
            xml.empty("exclude", &[("body1", a), ("body2", b)]);
        }
        xml.close("contact");
    }
}

impl Below {
    fn new(bodies: usize) -> Self {
        let none = || vec![Vec::new(); bodies];
        Self { bodies: none(), joints: none(), geoms: none(), sites: none(), cameras: none(), extra_sites: none() }
    }
}

/// The type of a geom, its sizes, and what it is made of.
fn shape(geom: &Geom, assets: &Assets) -> (&'static str, Vec<f64>, Option<(&'static str, String)>) {
    match &geom.shape {
        // The third size is the spacing of a grid, which must be positive.
        Shape::Plane { half_extents: [x, y] } => ("plane", vec![*x, *y, 1.0], None),
        Shape::Sphere { radius } => ("sphere", vec![*radius], None),
        Shape::Capsule { radius, half_length } => ("capsule", vec![*radius, *half_length], None),
        Shape::Cylinder { radius, half_length } => ("cylinder", vec![*radius, *half_length], None),
        Shape::Ellipsoid { radii } => ("ellipsoid", radii.to_vec(), None),
        Shape::Box { half_extents } => ("box", half_extents.to_vec(), None),
        Shape::Mesh(mesh) => ("mesh", Vec::new(), Some(("mesh", assets.mesh(mesh).to_owned()))),
        Shape::HeightField(field) => ("hfield", Vec::new(), Some(("hfield", assets.height_field(field).to_owned()))),
    }
}

/// A height field whose least height is not 0 stands higher.
fn raised(geom: &Geom) -> Pose<f64> {
    match &geom.shape {
        Shape::HeightField(field) => match heights(field).0 {
            0.0 => geom.pose,
            least => geom.pose * Pose::new(Vec3::new(0.0, 0.0, least), Quat::IDENTITY),
        },
        _ => geom.pose,
    }
}

fn surface(material: &Material) -> Attributes {
    let condim = match material.resistance {
        Resistance::None => "1",
        Resistance::Sliding => return Vec::new(),
        Resistance::Spinning => "4",
        Resistance::Rolling => "6",
    };
    vec![("condim", condim.into())]
}

/// Attributes of a limited sum of actuators' forces: MJCF takes neither an empty interval nor infinite numbers.
pub(super) fn effort_limit(low: f64, high: f64) -> [(&'static str, String); 2] {
    let (low, high) = if low == high { (low - 1e-12, high + 1e-12) } else { (low, high) };
    let range = list(&[low.max(-f64::MAX), high.min(f64::MAX)]);
    [("actuatorfrcrange", range), ("actuatorfrclimited", "true".into())]
}

/// Attributes of springs and dampers, with as many coefficients as are not zero.
pub(super) fn springs_and_dampers(
    stiffness: f64,
    damping: f64,
    polynomial: &PolynomialForces,
) -> impl Iterator<Item = (&'static str, String)> {
    let of = |key, linear: f64, [first, second]: [f64; 2]| {
        let all = [linear, first, second];
        let count = all.iter().rposition(|x| *x != 0.0).map_or(0, |last| last + 1);
        (count > 0).then(|| (key, list(&all[..count])))
    };
    of("damping", damping, polynomial.damper).into_iter().chain(of("stiffness", stiffness, polynomial.spring))
}
