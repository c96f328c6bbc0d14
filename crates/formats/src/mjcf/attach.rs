//! `<attach>`: bodies of other models, with all that belongs to them.
//!
//! As in MuJoCo, a part is read by itself, with its own compiler settings and defaults. Its bodies take the place of the element; its tendons,
//! constraints, actuators, sensors and keyframes come after the model's own, without those that refer to what is not attached. All names
//! get the prefix.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use geometry::Scene;
use multibody::{
    BodySpec, CameraMode, EqualityKind, JointSpec, Keyframe, KeyframeKey, Model, Transmission, mocap_pose,
};
use spatial::{Pose, Quat};

use super::body::Item;
use super::frames::{Selected, Selection, Source, Standing, Taken};
use super::include::{candidates, first_that_exists, identity};
use super::joint::JointInfo;
use super::keyframe::check_keyframes;
use super::names::Names;
use super::option::Options;
use super::tendon::TendonInfo;
use super::{Reader, read_elements, read_part};
use crate::assembly::{Indices, map_camera, map_equality, map_transmission, place_obstacles};
use crate::limits::{BYTES_OF_COPY, MAX_MODEL_FILE_BYTES, read_file};
use crate::overlaps::poses_at_start;
use crate::xml::{Document, Element};
use crate::{LoadError, Loaded, StandingSoftBody, text};

/// How deep models may lie in each other.
const MAX_DEPTH: usize = 16;

/// A part of another model, and where its elements have gone.
pub(super) struct Part<'a> {
    element: Element<'a>,
    source: Rc<Source>,
    prefix: String,
    suffix: String,
    /// What places in the body that holds the part, in its own model, become in the body that it is attached to.
    frame: Pose<f64>,
    places: Places,
}

/// What all models share that are attached to each other.
#[derive(Default)]
pub(super) struct Shared {
    /// Those that have been read, by their files.
    read: RefCell<BTreeMap<PathBuf, Rc<Source>>>,
    /// Bytes of their files.
    bytes: Cell<u64>,
    /// Elements that `<replicate>` and `<attach>` have copied.
    pub copied: Cell<usize>,
}

/// The files that lead to a model, its own the last, and what it shares with those.
pub(super) struct Ancestry {
    pub files: Vec<PathBuf>,
    pub shared: Rc<Shared>,
    /// Those of the main model, which hold for its parts; none of the main model.
    pub options: Option<Options>,
    /// Whether it is read for its own parts, without these.
    pub is_without_own: bool,
}

/// New indices of the elements that are attached.
#[derive(Default)]
struct Places {
    bodies: BTreeMap<usize, usize>,
    joints: BTreeMap<usize, usize>,
    geoms: BTreeMap<usize, usize>,
    sites: BTreeMap<usize, usize>,
    tendons: BTreeMap<usize, usize>,
    actuators: BTreeMap<usize, usize>,
    cameras: BTreeMap<usize, usize>,
}

/// The models that `<asset>` declares, those of them that have been read, and the files that lead here.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub declared: Vec<Element<'a>>,
    pub base: Option<PathBuf>,
    pub ancestors: Vec<PathBuf>,
    pub shared: Rc<Shared>,
    read: Vec<Option<Rc<Source>>>,
    pub attached: Vec<Part<'a>>,
    root: Option<Element<'a>>,
    /// The model without what is attached of it to itself, where that has been read.
    own: Option<Rc<Source>>,
    pub is_without_own: bool,
}

impl Places {
    /// Changes what something refers to; false where that is not attached.
    fn map<T>(&self, of: &mut T, change: impl FnOnce(&mut T, &Indices<'_>)) -> bool {
        let is_missing = Cell::new(false);
        let find = |places: &BTreeMap<usize, usize>, index: usize| {
            places.get(&index).copied().unwrap_or_else(|| {
                is_missing.set(true);
                0
            })
        };
        let indices = Indices {
            bodies: &|body| if body == 0 { 0 } else { find(&self.bodies, body) },
            joints: &|joint| find(&self.joints, joint),
            geoms: &|geom| find(&self.geoms, geom),
            sites: &|site| find(&self.sites, site),
            tendons: &|tendon| find(&self.tendons, tendon),
            actuators: &|actuator| find(&self.actuators, actuator),
            cameras: &|camera| find(&self.cameras, camera),
        };
        change(of, &indices);
        !is_missing.get()
    }
}

impl Part<'_> {
    fn named(&self, name: &str) -> String {
        if name.is_empty() { String::new() } else { format!("{}{name}{}", self.prefix, self.suffix) }
    }
}

impl<'a> Reader<'_, 'a> {
    /// Notes the models that may be attached.
    pub(super) fn declare_parts(&mut self, root: Element<'a>) {
        let assets = root.children_named("asset").flat_map(Element::children);
        self.parts.declared = assets.filter(|element| element.name() == "model").collect();
        self.parts.read = (0..self.parts.declared.len()).map(|_| None).collect();
        self.parts.root = Some(root);
    }

    /// Puts a part of another model below a body.
    pub(super) fn attach(&mut self, item: &Item<'a>, parent: usize) -> Result<(), LoadError> {
        let element = item.element;
        let prefix = element.attribute("prefix").unwrap_or("").to_owned();
        if element.attribute("model").is_none() && self.parts.is_without_own {
            element.skip(&["body", "frame"]);
            return Ok(());
        }
        let source = self.source(element)?;
        let Source { loaded, frames } = &*source;
        let model = &loaded.model;
        let selection = Selection::new(element, &source)?;
        let taken = selection.bodies(&source);
        // All that may come along, whatever of it does.
        let Scene { geoms, pairs, excluded, soft_bodies, .. } = &loaded.scene;
        let counts = [
            taken.iter().filter(|taken| **taken != Taken::None).count(),
            model.joints.len() + model.sites.len() + model.cameras.len() + model.sensors.len(),
            model.tendons.len() + model.equalities.len() + model.actuators.len() + model.keyframes.len(),
            geoms.len() + pairs.len() + excluded.len(),
            soft_bodies.iter().map(|body| body.node_count()).sum(),
        ];
        let all = model.bodies.iter().zip(&taken);
        let bodies = all.filter(|(_, taken)| **taken != Taken::None).map(|(body, _)| &body.name);
        let others = model.joints.iter().map(|joint| &joint.name).chain(geoms.iter().map(|geom| &geom.name));
        let names = bodies.chain(others).chain(model.sites.iter().map(|site| &site.name)).map(|name| name.len());
        let count: usize = counts.iter().sum();
        let bytes = count.saturating_mul(prefix.len() + item.suffix.len()).saturating_add(names.sum());
        self.count_copies(element, count.saturating_add(bytes / BYTES_OF_COPY))?;
        let has_own = loaded
            .scene
            .geoms
            .iter()
            .enumerate()
            .any(|(index, geom)| geom.body == selection.holder && selection.takes(frames, Standing::Geom, index));
        if parent != 0 && has_own {
            let message = "what it names has geoms of its own, whose mass the body would have to take: expected all of them in bodies, \
                           or `body`, to attach it to a body";
            return Err(element.error(message));
        }
        // Frames around the part stay behind.
        let is_framed = selection.around != Pose::IDENTITY;
        let frame = if is_framed { item.frame * selection.around.inverse() } else { item.frame };
        let (places, suffix) = (Places::default(), item.suffix.clone());
        let mut part = Part { element, source: source.clone(), prefix, suffix, frame, places };
        for (index, body) in model.bodies.iter().enumerate() {
            if taken[index] == Taken::None {
                continue;
            }
            let is_first = taken[index] == Taken::First;
            let name = part.named(&body.name);
            let here = self.builder.body_count();
            self.names.add(element, "body", &name, here)?;
            if is_first {
                self.frames.note(Standing::Body, here, item.inside);
                self.frames.note_pose(here, item.frame);
            }
            let spec = BodySpec {
                name: name.clone(),
                parent: if is_first { parent } else { part.places.bodies[&body.parent] },
                pose: if is_first { frame * body.pose_in_parent } else { body.pose_in_parent },
                inertia: body.inertia,
                axes: body.axes,
                gravity_compensation: body.gravity_compensation,
                is_mocap: body.is_mocap && is_first && parent == 0,
                sleep: body.sleep,
            };
            self.builder.add_body(spec).map_err(|error| element.error(error.to_string()))?;
            part.places.bodies.insert(index, here);
            self.attach_joints(&mut part, index, here)?;
        }
        // What the body has that holds the part stands in the body that it is attached to.
        let home = |of: usize, kind: Standing, index: usize, places: &Places| {
            if of == selection.holder && selection.takes(frames, kind, index) {
                return Some((parent, frame));
            }
            places.bodies.get(&of).map(|body| (*body, Pose::IDENTITY))
        };
        for (index, geom) in loaded.scene.geoms.iter().enumerate() {
            let Some((body, frame)) = home(geom.body, Standing::Geom, index, &part.places) else { continue };
            let here = self.scene.geoms.len();
            let mut next = geom.clone();
            (next.name, next.body) = (part.named(&geom.name), body);
            if geom.body == selection.holder {
                next.pose = frame * geom.pose;
                self.frames.note(Standing::Geom, here, item.inside);
            }
            next.material = self.surfaces.index(model.materials[geom.material]);
            self.names.add(element, "geom", &next.name, here)?;
            self.scene.geoms.push(next);
            self.geoms.push(element);
            part.places.geoms.insert(index, here);
        }
        for (index, site) in model.sites.iter().enumerate() {
            let Some((body, frame)) = home(site.body, Standing::Site, index, &part.places) else { continue };
            let here = self.builder.sites.len();
            let mut next = site.clone();
            (next.name, next.body, next.pose) = (part.named(&site.name), body, frame * site.pose);
            self.names.add(element, "site", &next.name, here)?;
            self.frames.note(Standing::Site, here, item.inside.filter(|_| site.body == selection.holder));
            self.builder.sites.push(next);
            part.places.sites.insert(index, here);
        }
        for (index, camera) in model.cameras.iter().enumerate() {
            let Some((body, frame)) = home(camera.body, Standing::Camera, index, &part.places) else { continue };
            let here = self.builder.cameras.len();
            let mut next = camera.clone();
            (next.name, next.body, next.pose) = (part.named(&camera.name), body, frame * camera.pose);
            if !part.places.map(&mut next.mode, |mode, indices| map_camera(mode, indices.bodies)) {
                next.mode = CameraMode::Fixed;
            }
            self.names.add(element, "camera", &next.name, here)?;
            self.frames.note(Standing::Camera, here, item.inside.filter(|_| camera.body == selection.holder));
            part.places.cameras.insert(index, here);
            self.builder.cameras.push(next);
        }
        self.attach_soft_bodies(&part, &selection, parent)?;
        self.parts.attached.push(part);
        Ok(())
    }

    /// Soft bodies of the part: all of them with its world, with a body those that it, or what hangs from it, holds.
    fn attach_soft_bodies(&mut self, part: &Part<'a>, selection: &Selection, parent: usize) -> Result<(), LoadError> {
        let (element, Loaded { model, scene }) = (part.element, &part.source.loaded);
        if scene.soft_bodies.is_empty() {
            return Ok(());
        }
        let bodies = &part.places.bodies;
        let (body, frame) = match selection.kind {
            Selected::Body(root) => (bodies[&root], poses_at_start(model)[root].inverse()),
            Selected::Frame(_) if selection.holder != 0 => {
                (parent, part.frame * poses_at_start(model)[selection.holder].inverse())
            }
            _ => (parent, part.frame),
        };
        for (index, soft) in scene.soft_bodies.iter().enumerate() {
            let mut description = soft.description().clone();
            description.name = part.named(&soft.name);
            let holds = scene.soft_attachments.iter().filter(|hold| hold.soft == index);
            let held: Option<Vec<_>> =
                holds.map(|hold| Some((hold.node, *bodies.get(&hold.body)?, hold.point))).collect();
            let stays = |held: &Vec<_>| selection.kind == Selected::World || !held.is_empty() && soft.pinned.is_empty();
            let Some(held) = held.filter(stays) else {
                let message = format!("leaves out the soft body {:?}, which no attached body holds alone", soft.name);
                self.warnings.add(element, &message);
                continue;
            };
            let moved = description.mesh.transformed(|x| frame.transform_point(x));
            description.mesh = moved.map_err(|error| element.error(error.to_string()))?;
            self.names.add(element, "flex", &description.name, self.attached_soft_bodies.len())?;
            self.attached_soft_bodies.push((element, StandingSoftBody { body, description, held }));
        }
        Ok(())
    }

    fn attach_joints(&mut self, part: &mut Part<'a>, body: usize, here: usize) -> Result<(), LoadError> {
        let (element, model) = (part.element, &part.source.loaded.model);
        for (index, joint) in model.joints.iter().enumerate().filter(|(_, joint)| joint.body == body) {
            let spec = JointSpec { name: part.named(&joint.name), ..JointSpec::of(model, joint) };
            let info = JointInfo {
                element,
                name: spec.name.clone(),
                body_name: part.named(&model.bodies[body].name),
                kind: spec.kind,
                range: spec.range,
                reference: spec.reference,
                spring_reference: spec.spring_reference,
            };
            self.names.add(element, "joint", &spec.name, self.joints.len())?;
            self.builder.add_joint(here, spec).map_err(|error| element.error(error.to_string()))?;
            part.places.joints.insert(index, self.joints.len());
            self.joints.push(info);
        }
        Ok(())
    }

    /// The model that an `<attach>` names, read when it is first needed; without a name that in which it stands.
    fn source(&mut self, element: Element<'a>) -> Result<Rc<Source>, LoadError> {
        let Some(wanted) = element.attribute("model") else { return self.own_source(element) };
        // A model without a name of its own here has that of its file.
        let is_it = |(_, declared): &(usize, &Element<'_>)| declared.attribute("name") == Some(wanted);
        let nameless = |(_, declared): &(usize, &Element<'_>)| declared.attribute("name").is_none();
        if let Some((index, _)) = self.parts.declared.iter().enumerate().find(is_it) {
            return self.declared(index, element);
        }
        let nameless: Vec<usize> =
            self.parts.declared.iter().enumerate().filter(nameless).map(|(index, _)| index).collect();
        for index in nameless {
            let source = self.declared(index, element)?;
            if source.loaded.model.name == wanted {
                return Ok(source);
            }
        }
        Err(element.error(format!("model=\"{wanted}\": expected the name of a <model> in <asset>")))
    }

    /// The model itself, without what is attached of it.
    fn own_source(&mut self, element: Element<'a>) -> Result<Rc<Source>, LoadError> {
        if element.attribute("body").or(element.attribute("frame")).is_none() {
            return Err(element.error("no attribute `model`: expected one, or `body` or `frame` of this model"));
        }
        let parts = &mut self.parts;
        if let (None, Some(root)) = (&parts.own, parts.root) {
            let (files, shared) = (parts.ancestors.clone(), parts.shared.clone());
            let ancestry = Ancestry { files, shared, options: Some(self.options), is_without_own: true };
            parts.own = Some(Rc::new(read_elements(root, parts.base.as_deref(), ancestry)?));
        }
        parts.own.clone().ok_or_else(|| element.error("expected a model"))
    }

    fn declared(&mut self, index: usize, at: Element<'a>) -> Result<Rc<Source>, LoadError> {
        if let Some(source) = &self.parts.read[index] {
            return Ok(source.clone());
        }
        let element = self.parts.declared[index];
        let name = element.required("file")?;
        let Some(base) = &self.parts.base else {
            return Err(
                at.error(format!("file=\"{name}\": expected no other models in a model without a folder or assets"))
            );
        };
        let path = first_that_exists(candidates(base, element, Path::new(&name.replace('\\', "/"))));
        let (file, known) = (path.display().to_string(), identity(&path));
        let mut ancestors = self.parts.ancestors.clone();
        if ancestors.contains(&known) {
            return Err(element.error(format!("file=\"{name}\": attaches itself: expected a model without it")));
        }
        if ancestors.len() >= MAX_DEPTH {
            return Err(
                element.error(format!("file=\"{name}\": expected models at most {MAX_DEPTH} deep in each other"))
            );
        }
        let shared = self.parts.shared.clone();
        if let Some(source) = shared.read.borrow().get(&known) {
            self.parts.read[index] = Some(source.clone());
            return Ok(source.clone());
        }
        ancestors.push(known.clone());
        let left = MAX_MODEL_FILE_BYTES - shared.bytes.get();
        let bytes = read_file(&path, left).map_err(|error| {
            element.error(format!("file=\"{name}\": {file} cannot be read ({error}): expected an MJCF file"))
        })?;
        shared.bytes.set(shared.bytes.get() + bytes.len() as u64);
        let mut document = Document::default();
        let text = text::decode(&bytes).map_err(|what| element.error(format!("file=\"{name}\": {file} {what}")))?;
        let root = document.parse(&text, &file)?;
        if document.element(root).name() != "mujoco" {
            return Err(document.element(root).error("expected <mujoco>: only MJCF can be attached"));
        }
        let ancestry =
            Ancestry { files: ancestors, shared: shared.clone(), options: Some(self.options), is_without_own: false };
        let source = Rc::new(read_part(document, root, path.parent(), ancestry)?);
        shared.read.borrow_mut().insert(known, source.clone());
        self.parts.read[index] = Some(source.clone());
        Ok(source)
    }

    /// Pairs and excluded pairs of what is attached.
    pub(super) fn attach_contacts(&mut self) {
        for part in &self.parts.attached {
            let (model, scene) = (&part.source.loaded.model, &part.source.loaded.scene);
            for pair in &scene.pairs {
                let mut next = *pair;
                if part.places.map(&mut next.geoms, |geoms, indices| *geoms = geoms.map(indices.geoms)) {
                    next.material = self.surfaces.index(model.materials[pair.material]);
                    self.scene.pairs.push(next);
                }
            }
            for excluded in &scene.excluded {
                let mut next = *excluded;
                if part.places.map(&mut next, |bodies, indices| *bodies = bodies.map(indices.bodies)) {
                    self.scene.excluded.push(next);
                }
            }
        }
    }

    pub(super) fn attach_tendons(&mut self) -> Result<(), LoadError> {
        for part in &mut self.parts.attached {
            let source = part.source.clone();
            let Loaded { model, .. } = &source.loaded;
            for (index, tendon) in model.tendons.iter().enumerate() {
                let mut next = tendon.clone();
                next.name = part.named(&tendon.name);
                if !part.places.map(&mut next, |tendon, indices| indices.map_tendon(tendon)) {
                    continue;
                }
                place_obstacles(&mut next, |geom| &self.scene.geoms[geom]);
                let reference = tendon.length(model, &model.q0);
                let here = self.builder.tendons.len();
                self.names.add(part.element, "tendon", &next.name, self.tendons.len())?;
                let effort_limit = None;
                let info =
                    TendonInfo { element: part.element, index: here, reference, range: tendon.range, effort_limit };
                self.tendons.push(info);
                self.builder.tendons.push(next);
                part.places.tendons.insert(index, here);
            }
        }
        Ok(())
    }

    pub(super) fn attach_equalities(&mut self) -> Result<(), LoadError> {
        for part in &self.parts.attached {
            for equality in &part.source.loaded.model.equalities {
                let mut next = equality.clone();
                next.name = part.named(&equality.name);
                let has_all = part.places.map(&mut next.kind, |kind, indices| {
                    map_equality(kind, indices.bodies, indices.joints, indices.tendons);
                });
                if !has_all {
                    continue;
                }
                // What is tied to the world is tied to where it is by default.
                match &mut next.kind {
                    EqualityKind::Connect { bodies, anchors } => {
                        for (world, other) in [(0, 1), (1, 0)] {
                            if let (0, Some(pose)) = (bodies[world], self.builder.default_pose(bodies[other])) {
                                anchors[world] = pose.transform_point(anchors[other]);
                            }
                        }
                    }
                    EqualityKind::Weld { bodies, frames, .. } => {
                        for (world, other) in [(0, 1), (1, 0)] {
                            if let (0, Some(pose)) = (bodies[world], self.builder.default_pose(bodies[other])) {
                                frames[world] = pose * frames[other];
                            }
                        }
                    }
                    EqualityKind::Distance { .. } | EqualityKind::Coupling { .. } => {}
                }
                self.names.add(part.element, "equality", &next.name, self.builder.equalities.len())?;
                self.equalities.push(part.element);
                self.builder.equalities.push(next);
            }
        }
        Ok(())
    }

    pub(super) fn attach_actuators(&mut self) -> Result<(), LoadError> {
        for part in &mut self.parts.attached {
            let source = part.source.clone();
            let mut is_last_attached = false;
            for (index, actuator) in source.loaded.model.actuators.iter().enumerate() {
                let mut next = actuator.clone();
                next.name = part.named(&actuator.name);
                // Further controls come with the actuator before them.
                let is_input = actuator.transmission == Transmission::Input;
                let has_all = if is_input {
                    is_last_attached
                } else {
                    part.places.map(&mut next.transmission, |transmission, indices| {
                        map_transmission(transmission, indices.joints, indices.tendons, indices.sites, indices.bodies);
                    })
                };
                is_last_attached = has_all;
                if has_all {
                    let here = self.builder.actuators.len();
                    self.names.add(part.element, "actuator", &next.name, here)?;
                    self.builder.actuators.push(next);
                    part.places.actuators.insert(index, here);
                }
            }
        }
        Ok(())
    }

    pub(super) fn attach_sensors(&mut self) -> Result<(), LoadError> {
        for part in &self.parts.attached {
            for sensor in &part.source.loaded.model.sensors {
                let mut next = sensor.clone();
                next.name = part.named(&sensor.name);
                if part.places.map(&mut next.kind, |kind, indices| indices.map(kind)) {
                    self.names.add(part.element, "sensor", &next.name, self.builder.sensors.len())?;
                    self.sensors.push(part.element);
                    self.builder.sensors.push(next);
                }
            }
        }
        Ok(())
    }
}

impl Parts<'_> {
    /// Keyframes of what is attached; all else is at its default in them.
    pub fn add_keyframes(&self, names: &mut Names, model: &mut Model) -> Result<(), LoadError> {
        for part in &self.attached {
            let of_part = &part.source.loaded.model;
            for key in &of_part.keyframes {
                check_keyframes(part.element, model)?;
                let name = part.named(&key.name);
                let start = model.keyframe(KeyframeKey::Start).unwrap_or_default();
                let mut next = Keyframe { name, time: key.time, ..start };
                for (index, here) in &part.places.joints {
                    let (joint, place) = (&of_part.joints[*index], &model.joints[*here]);
                    let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
                    next.q[place.q..][..nq].copy_from_slice(&key.q[joint.q..][..nq]);
                    next.v[place.v..][..nv].copy_from_slice(&key.v[joint.v..][..nv]);
                    if nv == 6 {
                        place_free(part.frame, &mut next.q[place.q..][..7], &mut next.v[place.v..][..3]);
                    }
                }
                for (index, here) in &part.places.actuators {
                    next.ctrl[*here] = key.ctrl[*index];
                }
                for (pose, body) in key.mocap.as_chunks().0.iter().zip(of_part.mocap_bodies()) {
                    let here = part.places.bodies.get(&body);
                    let place = here.and_then(|here| model.mocap_bodies().position(|moved| moved == *here));
                    if let Some(place) = place {
                        next.mocap[7 * place..][..7].copy_from_slice(&(part.frame * mocap_pose(pose)).to_array());
                    }
                }
                names.add(part.element, "key", &next.name, model.keyframes.len())?;
                model.keyframes.push(next);
            }
        }
        Ok(())
    }

    /// Warnings of the models that parts come from.
    pub fn warnings(&self) -> Vec<crate::Warning> {
        self.read.iter().flatten().flat_map(|source| source.loaded.model.warnings.clone()).collect()
    }
}

/// A free joint's coordinates and linear velocity, in a frame.
fn place_free(frame: Pose<f64>, q: &mut [f64], linear: &mut [f64]) {
    if frame == Pose::IDENTITY {
        return;
    }
    let own = Pose::new([q[0], q[1], q[2]].into(), Quat::new(q[3], q[4], q[5], q[6]));
    q.copy_from_slice(&(frame * own).to_array());
    linear.copy_from_slice(&(frame.rot * spatial::Vec3::new(linear[0], linear[1], linear[2])).to_array());
}
