//! MJCF: bodies, joints, geoms, actuators and contacts, with the defaults and conventions of MuJoCo.
//!
//! Meanings follow MuJoCo's XML reference; what is approximated is written down in `docs/model-files.md`.

mod actuator;
mod align;
mod asset;
mod asset_files;
mod attach;
mod body;
mod builtin_mesh;
mod camera;
mod compiler;
mod compliance;
mod contact;
mod defaults;
mod deformable;
mod distance_field;
mod elements;
mod equality;
mod flex;
mod flex_mesh;
mod flex_net;
mod force_law;
mod frames;
mod geom;
mod height_field;
mod include;
mod inertia;
mod inertia_dependent;
mod joint;
mod keyframe;
mod marching_cubes;
mod mesh;
mod motor_law;
mod names;
mod node_bodies;
mod option;
mod orientation;
mod overrides;
mod plugin;
mod replicas;
mod sensor;
mod surface;
mod tendon;
mod texture;
pub(crate) mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use geometry::Scene;
use multibody::{BuildError, ElementKind, Model, ModelBuilder};
use spatial::Quat;

use crate::overlaps::{DeepOverlap, deep_overlaps, listed};
use crate::warnings::Warnings;
use crate::xml::{Document, Element};
use crate::{LoadError, Loaded, StandingSoftBody};

/// Reads a document whose root is `<mujoco>`. Other files are looked for relative to `base`.
pub(crate) fn read(document: Document, root: usize, base: Option<&Path>) -> Result<Loaded, LoadError> {
    let file = document.element(root).file();
    let own = if file.is_empty() { Vec::new() } else { vec![include::identity(Path::new(file))] };
    let ancestry = attach::Ancestry { files: own, shared: Rc::default(), options: None, is_without_own: false };
    Ok(read_part(document, root, base, ancestry)?.loaded)
}

/// Reads a document to which other files lead.
fn read_part(
    mut document: Document,
    root: usize,
    base: Option<&Path>,
    ancestry: attach::Ancestry,
) -> Result<frames::Source, LoadError> {
    include::expand(&mut document, root, base)?;
    replicas::expand(&mut document, root)?;
    overrides::apply(&mut document, root);
    document.known = &elements::ELEMENTS;
    let root = document.element(root);
    let mut source = read_elements(root, base, ancestry).map_err(|error| root.with_misspelt(error))?;
    source.loaded.model.warnings.splice(0..0, document.faults.iter().cloned());
    Ok(source)
}

/// Reads a model without copies to be made.
fn read_elements(
    root: Element<'_>,
    base: Option<&Path>,
    ancestry: attach::Ancestry,
) -> Result<frames::Source, LoadError> {
    let defaults = defaults::Defaults::read(root)?;
    let mut reader = Reader::new(root, base, &defaults)?;
    reader.declare_parts(root);
    reader.parts.base = base.map(Path::to_path_buf);
    (reader.parts.ancestors, reader.parts.shared) = (ancestry.files, ancestry.shared);
    reader.parts.is_without_own = ancestry.is_without_own;
    reader.options = ancestry.options.unwrap_or(reader.options);
    reader.list_flex_bodies(root)?;
    reader.bodies(root)?;
    reader.flexes_of_bodies(root)?;
    reader.find_camera_targets()?;
    reader.default_view(root)?;
    reader.contacts(root)?;
    reader.attach_contacts();
    reader.tendons(root)?;
    reader.attach_tendons()?;
    reader.net_tendons();
    reader.equalities(root)?;
    reader.attach_equalities()?;
    reader.actuators(root)?;
    reader.limit_tendon_efforts();
    reader.attach_actuators()?;
    reader.sensors(root)?;
    reader.attach_sensors()?;
    let frames = std::mem::take(&mut reader.frames);
    Ok(frames::Source { loaded: reader.finish(root)?, frames })
}

/// The model and scene while the file is read.
struct Reader<'d, 'a> {
    compiler: compiler::Compiler,
    options: option::Options,
    defaults: &'d defaults::Defaults<'a>,
    assets: asset::Assets,
    builder: ModelBuilder,
    scene: Scene,
    surfaces: surface::Surfaces,
    names: names::Names,
    warnings: Warnings,
    /// Where the geoms stand.
    geoms: Vec<Element<'a>>,
    /// What the joints are, for what refers to them.
    joints: Vec<joint::JointInfo<'a>>,
    /// What the tendons are, for what refers to them.
    tendons: Vec<tendon::TendonInfo<'a>>,
    /// Bodies whose inertia no rigid body has, and where they say so.
    odd_inertias: Vec<(String, Element<'a>)>,
    /// Bodies with `mocap` that are not moved from outside.
    mocap_in_place: Vec<usize>,
    /// Where the equality constraints stand.
    equalities: Vec<Element<'a>>,
    /// Where the sensors stand.
    sensors: Vec<Element<'a>>,
    /// The principal axes of bodies whose files give them.
    inertial_axes: BTreeMap<usize, Quat<f64>>,
    /// Cameras that turn to a body: which, where that stands, and its name.
    camera_targets: Vec<(usize, Element<'a>, &'a str)>,
    /// Spatial tendons whose springs rest where those of the joints do.
    strings_at_rest: Vec<usize>,
    spring_dampers: Vec<joint::SpringDamper>,
    damping_ratios: Vec<actuator::DampingRatio>,
    muscles: Vec<actuator::UnfinishedMuscle>,
    /// What `<replicate>` elements around the present element append to names.
    suffix: String,
    /// Soft bodies, which wait for the model.
    flexes: Vec<flex::Flex<'a>>,
    net_tendons: Vec<flex_net::NetTendon<'a>>,
    nets: Vec<flex_net::Net<'a>>,
    listed_flexes: Vec<deformable::ListedFlex<'a>>,
    flex_bodies: deformable::FlexBodies<'a>,
    attached_soft_bodies: Vec<(Element<'a>, StandingSoftBody)>,
    frames: frames::Frames,
    parts: attach::Parts<'a>,
}

impl<'d, 'a> Reader<'d, 'a> {
    fn new(root: Element<'a>, base: Option<&Path>, defaults: &'d defaults::Defaults<'a>) -> Result<Self, LoadError> {
        let mut warnings = Warnings::default();
        let compiler = compiler::Compiler::read(root, &mut warnings)?;
        let options = option::Options::read(root, &mut warnings)?;
        let assets = asset::Assets::read(root, base, &compiler, defaults, &mut warnings)?;
        let sky = assets.sky();
        let mut builder = ModelBuilder::new(root.attribute("model").unwrap_or("MuJoCo Model"));
        // As of URDF files: warnings name what no rigid body has, and `build` refuses what cannot move.
        builder.strict_inertia = false;
        builder.gravity = options.gravity;
        builder.medium = options.medium;
        (builder.timestep, builder.sleep_speed) =
            (options.timestep, options.flags.sleep.then_some(options.sleep_speed));
        builder.magnetic_field = options.magnetic_field;
        let mut names = names::Names::default();
        names.reserve("body", "world", 0);
        Ok(Self {
            compiler,
            options,
            defaults,
            assets,
            builder,
            scene: Scene { sky, parents_touch: !options.flags.filter_parent, ..Scene::default() },
            surfaces: surface::Surfaces::default(),
            names,
            warnings,
            geoms: Vec::new(),
            joints: Vec::new(),
            tendons: Vec::new(),
            odd_inertias: Vec::new(),
            mocap_in_place: Vec::new(),
            equalities: Vec::new(),
            sensors: Vec::new(),
            inertial_axes: BTreeMap::new(),
            camera_targets: Vec::new(),
            strings_at_rest: Vec::new(),
            spring_dampers: Vec::new(),
            damping_ratios: Vec::new(),
            muscles: Vec::new(),
            suffix: String::new(),
            flexes: Vec::new(),
            net_tendons: Vec::new(),
            nets: Vec::new(),
            listed_flexes: Vec::new(),
            flex_bodies: deformable::FlexBodies::default(),
            attached_soft_bodies: Vec::new(),
            frames: frames::Frames::default(),
            parts: attach::Parts::default(),
        })
    }

    fn finish(mut self, root: Element<'a>) -> Result<Loaded, LoadError> {
        self.scale_to_total_mass();
        self.builder.materials = self.surfaces.finish();
        let built = self.builder.build();
        let element_of = |error: &BuildError| match error {
            BuildError::In { element: ElementKind::Sensor, index, .. } => self.sensors.get(*index).copied(),
            BuildError::BadInertia { body, .. } => {
                self.odd_inertias.iter().find(|(name, _)| name == body).map(|(_, element)| *element)
            }
            _ => element_of(error, &self.joints, &self.tendons, &self.equalities),
        };
        let mut model = built.map_err(|error| element_of(&error).unwrap_or(root).error(error.to_string()))?;
        let models = self.flexes.iter_mut().map(flex::Flex::material_model);
        let models = models.chain(self.listed_flexes.iter_mut().map(deformable::ListedFlex::material_model));
        flex::material::choose(root, models.collect(), &mut self.warnings)?;
        flex::attach(self.flexes, &model, &mut self.scene)?;
        deformable::attach(self.listed_flexes, &model, &mut self.scene)?;
        let poses = crate::overlaps::poses_at_start(&model);
        for (element, standing) in self.attached_soft_bodies {
            let added = standing.add_to(&mut self.scene, &model, &poses, None);
            added.map_err(|error| element.error(error.to_string()))?;
        }
        tendon::complete_strings(&mut model, &self.strings_at_rest);
        inertia_dependent::complete(&mut model, &self.spring_dampers, &self.damping_ratios, &self.muscles);
        let soft_coordinates = free_coordinates(&self.scene);
        keyframe::read(root, &mut model, soft_coordinates, &self.mocap_in_place, &mut self.names, &mut self.warnings)?;
        self.parts.add_keyframes(&mut self.names, &mut model)?;
        self.defaults.mark_read();
        // Sections about pictures, storage and names for users are no part of a simulation.
        for section in root.children() {
            match section.name() {
                "visual" | "statistic" | "size" | "custom" => section.skip_all(),
                // Looked into, so that warnings name what is in them.
                "tendon" | "equality" | "sensor" | "deformable" | "extension" | "keyframe" => drop(section.children()),
                _ => {}
            }
        }
        self.warnings.add_unread(root);
        warn_about_overlaps(&model, &self.scene, &self.geoms, &mut self.warnings);
        model.warnings = self.warnings.finish();
        model.warnings.extend(self.parts.warnings());
        Ok(Loaded { model, scene: self.scene })
    }

    /// `settotalmass`: scales all masses and inertias.
    fn scale_to_total_mass(&mut self) {
        let Some(total) = self.compiler.total_mass else { return };
        let mut bodies: Vec<usize> = (1..self.builder.body_count()).collect();
        let mass_of = |builder: &mut ModelBuilder, body| builder.body_mut(body).map_or(0.0, |b| b.inertia.mass);
        let mass: f64 = bodies.iter().map(|&body| mass_of(&mut self.builder, body)).sum();
        if mass <= 0.0 {
            return;
        }
        for body in bodies.drain(..) {
            if let Some(spec) = self.builder.body_mut(body) {
                spec.inertia.mass *= total / mass;
                spec.inertia.inertia = spec.inertia.inertia * (total / mass);
            }
        }
    }
}

/// The coordinates of nodes of soft bodies that nothing holds: MuJoCo has them among those of the model.
fn free_coordinates(scene: &Scene) -> usize {
    let nodes = scene.soft_bodies.iter().map(|body| body.node_count() - body.pinned.len()).sum::<usize>();
    3 * (nodes - scene.soft_attachments.len().min(nodes))
}

/// Names geoms of one robot that start deep in each other; `elements` are where the geoms stand.
fn warn_about_overlaps(model: &Model, scene: &Scene, elements: &[Element<'_>], warnings: &mut Warnings) {
    let deep = deep_overlaps(model, scene);
    let Some(element) = deep.first().and_then(|first| elements.get(first.geoms[1])) else { return };
    let name = |geom: usize| match scene.geoms[geom].name.as_str() {
        "" => format!("geom {geom} of body {:?}", model.bodies[scene.geoms[geom].body].name),
        name => format!("{name:?}"),
    };
    let pair = |DeepOverlap { geoms: [a, b], depth }: &DeepOverlap| {
        format!("{} – {} ({:.1} mm)", name(*a), name(*b), 1e3 * depth)
    };
    let pairs: Vec<String> = deep.iter().map(pair).collect();
    let message = format!(
        "geoms of one robot start in each other and are pushed apart, against its joints: {}; expected a gap, or <exclude>",
        listed(&pairs)
    );
    warnings.add(*element, &message);
}

/// The element that an error of the whole model is about.
fn element_of<'a>(
    error: &BuildError,
    joints: &[joint::JointInfo<'a>],
    tendons: &[tendon::TendonInfo<'a>],
    equalities: &[Element<'a>],
) -> Option<Element<'a>> {
    match error {
        BuildError::Massless { joint, body } => {
            joints.iter().find(|j| j.name == *joint && j.body_name == *body).map(|j| j.element)
        }
        BuildError::In { element: ElementKind::Tendon, index, .. } => {
            tendons.iter().find(|t| t.index == *index).map(|t| t.element)
        }
        BuildError::In { element: ElementKind::Equality, index, .. } => equalities.get(*index).copied(),
        _ => None,
    }
}
