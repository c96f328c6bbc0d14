//! A model and its scene as MJCF.
//!
//! Reading the text back gives the same model: every number is printed with the digits that it needs, and where reading
//! computes (rotations are made unit quaternions, `solref` becomes a stiffness) the writer looks for text that leads to
//! the very bits. What MJCF cannot say is an error, or a note where something close stands in for it.

mod actuators;
mod asset_names;
mod assets;
mod constraints;
mod distances;
mod inertia;
mod looks;
mod motors;
mod numbers;
mod sensors;
mod soft;
mod textures;
mod tree;
mod xml;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use geometry::Scene;
use multibody::{CameraMode, Compliance, JointKind, Model};
use support::{UnwrittenFile, WholeFiles};

use super::keyframe::split;
use numbers::list;
use xml::Xml;

/// Why a model cannot be written as MJCF.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{element}: {reason}")]
pub struct WriteError {
    /// The element, by name.
    pub element: String,
    /// What MJCF does not have.
    pub reason: String,
}

/// Where meshes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshFiles {
    /// In the text, with all digits.
    #[default]
    Inline,
    /// In OBJ files beside it, in single precision, which is what MuJoCo computes with.
    Obj,
}

/// Which files the text may refer to.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    /// Where meshes are written.
    pub meshes: MeshFiles,
    /// What names of files begin with. Without it there are none: meshes are in the text, and textures are left out, with a note.
    pub stem: Option<&'a str>,
}

/// A file beside the text.
#[derive(Clone, Debug)]
pub struct WrittenFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// A model as MJCF.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The MJCF text.
    pub text: String,
    /// Files that the text refers to.
    pub files: Vec<WrittenFile>,
    /// What stands in the text in place of what MJCF cannot say.
    pub notes: Vec<String>,
}

impl Written {
    /// Writes the text to `path`, and the files beside it: all of them, or those that were there stay as they were.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), UnwrittenFile> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut files = WholeFiles::default();
        for WrittenFile { name, content } in &self.files {
            files.add(&folder.join(name), |out| out.write_all(content))?;
        }
        files.add(path, |out| out.write_all(self.text.as_bytes()))?;
        files.put_in_place()
    }
}

/// Writes a model and its scene as MJCF; files are called `{stem}_{mesh}.obj` and `{stem}_{texture}.png`.
///
/// # Errors
/// When MJCF has no words for something: a screw joint, a free joint below a body that is fixed in the world, two
/// elements of a kind with one name, …
pub fn to_mjcf(model: &Model, scene: &Scene, options: &WriteOptions<'_>) -> Result<Written, WriteError> {
    let strings = distances::as_strings(model, scene);
    let model = strings.as_ref().unwrap_or(model);
    let mut writer = Writer::new(model, scene)?;
    if strings.is_some() {
        writer.note("equality", "points that keep a distance are written as strings that keep their length");
    }
    let mut assets = assets::Assets::new(scene);
    let mut xml = Xml::default();
    xml.open("mujoco", &[("model", model.name.clone())]);
    xml.empty(
        "compiler",
        &[("angle", "radian".into()), ("autolimits", "false".into()), ("inertiafromgeom", "false".into())],
    );
    let mut option = vec![("timestep", format!("{}", model.timestep)), ("gravity", list(&model.gravity.to_array()))];
    let medium = model.medium;
    for (name, value) in [("density", medium.density), ("viscosity", medium.viscosity)] {
        if value != 0.0 {
            option.push((name, numbers::number(value)));
        }
    }
    for (name, value, default) in
        [("wind", medium.wind, [0.0; 3]), ("magnetic", model.magnetic_field, [0.0, -0.5, 0.0])]
    {
        if value.to_array() != default {
            option.push((name, list(&value.to_array())));
        }
    }
    if model.actuators.iter().any(|a| a.transmission == multibody::Transmission::Unsupported) {
        option.push(("actuatorgroupdisable", actuators::DISABLED_GROUP.to_string()));
    }
    option.extend(
        model.sleep_speed.filter(|speed| *speed != 1e-3).map(|speed| ("sleep_tolerance", numbers::number(speed))),
    );
    option.extend(cone(model));
    xml.open("option", &option);
    let flags = [("filterparent", scene.parents_touch), ("refsafe", has_unsafe_references(model))];
    let mut flags: Vec<_> = flags.iter().filter(|(_, off)| *off).map(|(flag, _)| (*flag, "disable".into())).collect();
    if model.sleep_speed.is_some() {
        flags.push(("sleep", "enable".into()));
    }
    if !flags.is_empty() {
        xml.empty("flag", &flags);
    }
    xml.close("option");
    looks::view(&mut xml, &model.view);
    let files = assets.write(&mut xml, options, &mut writer.notes);
    let soft = writer.soft_below()?;
    writer.bodies(&mut xml, &assets, &soft)?;
    writer.flexes(&mut xml, &soft);
    writer.soft_materials(&mut xml, &soft);
    writer.contacts(&mut xml);
    writer.tendons(&mut xml)?;
    writer.equalities(&mut xml)?;
    writer.actuators(&mut xml)?;
    writer.keyframes(&mut xml);
    writer.sensors(&mut xml);
    xml.close("mujoco");
    Ok(Written { text: xml.finish(), files, notes: writer.notes })
}

/// Whether time constants of `solref` count as they are, however short.
fn has_unsafe_references(model: &Model) -> bool {
    let of_surfaces = model.materials.iter().map(|material| &material.compliance);
    let of_joints = model.joints.iter().flat_map(|joint| [&joint.limit_compliance, &joint.friction_compliance]);
    let of_tendons = model.tendons.iter().flat_map(|tendon| [&tendon.limit_compliance, &tendon.friction_compliance]);
    let of_equalities = model.equalities.iter().map(|equality| &equality.compliance);
    of_surfaces
        .chain(of_joints)
        .chain(of_tendons)
        .chain(of_equalities)
        .any(|compliance| matches!(compliance, Compliance::Reference(reference) if reference.least_steps == 0.0))
}

/// What the file says of friction cones, which `solref` of contacts depends on.
fn cone(model: &Model) -> Option<(&'static str, String)> {
    let pyramid = model.materials.iter().find_map(|material| match material.compliance {
        Compliance::Reference(reference) => Some(reference.pyramid),
        _ => None,
    })?;
    match pyramid {
        0.0 => Some(("cone", "elliptic".into())),
        1.0 => None,
        _ => Some(("impratio", numbers::number(1.0 / pyramid))),
    }
}

/// The names that the text uses, and what has been noted.
struct Writer<'m> {
    model: &'m Model,
    scene: &'m Scene,
    bodies: Vec<String>,
    joints: Vec<String>,
    geoms: Vec<String>,
    sites: Vec<String>,
    tendons: Vec<String>,
    actuators: Vec<String>,
    cameras: Vec<String>,
    notes: Vec<String>,
    /// Sites for constraints whose ends no attribute gives: body, name, frame.
    extra_sites: Vec<(usize, String, spatial::Pose<f64>)>,
    /// Sites for principal axes that sensors look at.
    axes_sites: Vec<sensors::AxesSite>,
    /// Of each body the joints of its own that move it.
    moving_joints: Vec<usize>,
}

impl<'m> Writer<'m> {
    fn new(model: &'m Model, scene: &'m Scene) -> Result<Self, WriteError> {
        let name_of = |name: &String| name.clone();
        let mut writer = Self {
            model,
            scene,
            bodies: names("body", model.bodies.iter().map(|b| name_of(&b.name)))?,
            joints: names("joint", model.joints.iter().map(|j| name_of(&j.name)))?,
            geoms: names("geom", scene.geoms.iter().map(|g| name_of(&g.name)))?,
            sites: names("site", model.sites.iter().map(|s| name_of(&s.name)))?,
            tendons: names("tendon", model.tendons.iter().map(|t| name_of(&t.name)))?,
            actuators: names("actuator", model.actuators.iter().map(|a| name_of(&a.name)))?,
            cameras: names("camera", model.cameras.iter().map(|c| name_of(&c.name)))?,
            notes: Vec::new(),
            extra_sites: Vec::new(),
            axes_sites: Vec::new(),
            moving_joints: vec![0; model.bodies.len()],
        };
        let moving = model.joints.iter().filter(|joint| joint.kind.nv() > 0);
        moving.for_each(|joint| writer.moving_joints[joint.body] += 1);
        names("sensor", model.sensors.iter().map(|s| name_of(&s.name)))?;
        names("keyframe", model.keyframes.iter().map(|k| name_of(&k.name)))?;
        names("equality", model.equalities.iter().map(|e| name_of(&e.name)))?;
        writer.name_what_is_referred_to();
        writer.name_what_is_measured();
        Ok(writer)
    }

    /// MJCF refers by name: what has none and is referred to gets one.
    fn name_what_is_referred_to(&mut self) {
        use multibody::{Coordinate, EqualityKind, PathPoint, TendonPath, Transmission};
        let (model, scene) = (self.model, self.scene);
        for geom in scene.pairs.iter().flat_map(|pair| pair.geoms) {
            give_name(&mut self.geoms, geom, "geom");
        }
        for body in scene.excluded.iter().flatten() {
            give_name(&mut self.bodies, *body, "body");
        }
        for tendon in &model.tendons {
            match &tendon.path {
                TendonPath::Joints(terms) => {
                    terms.iter().for_each(|(joint, _)| give_name(&mut self.joints, *joint, "joint"));
                }
                TendonPath::Spatial(branches) => {
                    for point in branches.iter().flat_map(|branch| &branch.points) {
                        match point {
                            PathPoint::Site(site) => give_name(&mut self.sites, *site, "site"),
                            PathPoint::Obstacle(obstacle) => {
                                give_name(&mut self.geoms, obstacle.geom, "geom");
                                obstacle.side.iter().for_each(|site| give_name(&mut self.sites, *site, "site"));
                            }
                        }
                    }
                }
            }
        }
        for actuator in &model.actuators {
            match actuator.transmission {
                Transmission::Joint { joint, .. }
                | Transmission::JointAxes { joint, .. }
                | Transmission::Orientation { joint, .. } => {
                    give_name(&mut self.joints, joint, "joint");
                }
                Transmission::Tendon { tendon, .. } => give_name(&mut self.tendons, tendon, "tendon"),
                Transmission::Site { .. } | Transmission::SliderCrank { .. } => {
                    actuator.transmission.sites().for_each(|site| give_name(&mut self.sites, site, "site"));
                }
                Transmission::Adhesion { body } => give_name(&mut self.bodies, body, "body"),
                Transmission::Input => {}
                Transmission::Unsupported => {
                    if let Some(joint) = model.joints.iter().position(|j| j.kind != JointKind::Weld) {
                        give_name(&mut self.joints, joint, "joint");
                    }
                }
            }
        }
        for camera in &model.cameras {
            if let CameraMode::TargetBody(body) | CameraMode::TargetBodyCom(body) = camera.mode {
                give_name(&mut self.bodies, body, "body");
            }
        }
        for equality in &model.equalities {
            match &equality.kind {
                EqualityKind::Connect { bodies, .. } | EqualityKind::Weld { bodies, .. } => {
                    bodies.iter().for_each(|&body| give_name(&mut self.bodies, body, "body"));
                }
                EqualityKind::Distance { .. } => {}
                EqualityKind::Coupling { y, x, .. } => {
                    for (coordinate, _) in [Some(*y), *x].into_iter().flatten() {
                        match coordinate {
                            Coordinate::Joint(joint) => give_name(&mut self.joints, joint, "joint"),
                            Coordinate::Tendon(tendon) => give_name(&mut self.tendons, tendon, "tendon"),
                        }
                    }
                }
            }
        }
    }

    /// A keyframe: all of it, so that nothing depends on defaults.
    fn keyframes(&mut self, xml: &mut Xml) {
        if self.model.keyframes.is_empty() {
            return;
        }
        xml.open("keyframe", &[]);
        for key in &self.model.keyframes {
            let mut attributes = named(&key.name);
            if key.time != 0.0 {
                attributes.push(("time", format!("{}", key.time)));
            }
            let (positions, quaternions) = split(&printed_mocap(&key.mocap));
            for (name, values) in [
                ("qpos", self.printed_configuration(&key.q)),
                ("qvel", key.v.clone()),
                ("ctrl", key.ctrl.clone()),
                ("act", key.act.clone()),
                ("mpos", positions),
                ("mquat", quaternions),
            ] {
                if !values.is_empty() {
                    attributes.push((name, list(&values)));
                }
            }
            xml.empty("key", &attributes);
        }
        xml.close("keyframe");
    }

    /// A configuration whose quaternions keep their bits when they are read.
    fn printed_configuration(&self, q: &[f64]) -> Vec<f64> {
        let mut q = q.to_vec();
        for first in self.model.tree.nodes.iter().filter_map(multibody::Node::quaternion) {
            let rot = spatial::Quat::new(q[first], q[first + 1], q[first + 2], q[first + 3]);
            q[first..first + 4].copy_from_slice(&numbers::quaternion(rot, 1));
        }
        q
    }

    fn note(&mut self, element: &str, text: &str) {
        self.notes.push(format!("{element}: {text}"));
    }
}

/// Poses whose quaternions keep their bits when they are read.
fn printed_mocap(poses: &[f64]) -> Vec<f64> {
    let mut poses = poses.to_vec();
    for pose in poses.as_chunks_mut::<7>().0 {
        let rot = multibody::mocap_pose(pose).rot;
        pose[3..].copy_from_slice(&numbers::quaternion(rot, 1));
    }
    poses
}

/// The name attribute, where there is a name.
fn named(name: &str) -> Vec<(&'static str, String)> {
    if name.is_empty() { Vec::new() } else { vec![("name", name.to_owned())] }
}

/// An element in messages: its name, or its place.
fn label(kind: &str, name: &str, index: usize) -> String {
    if name.is_empty() { format!("{kind} {index}") } else { format!("{kind} {name:?}") }
}

fn names(kind: &str, names: impl Iterator<Item = String>) -> Result<Vec<String>, WriteError> {
    let names: Vec<String> = names.collect();
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        None => Ok(names),
        Some(name) => Err(WriteError {
            element: format!("{kind} {name:?}"),
            reason: format!("another {kind} has this name: MJCF refers by names, expected names that differ"),
        }),
    }
}

/// A name that nothing else has, where there is none.
fn give_name(names: &mut [String], index: usize, kind: &str) {
    if names[index].is_empty() {
        names[index] = free_name(names, &format!("{kind}{index}"));
    }
}

/// `wanted`, or with underscores behind it until nothing else is called so.
fn free_name(names: &[String], wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while names.contains(&name) {
        name.push('_');
    }
    name
}
