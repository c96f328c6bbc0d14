//! MJCF: bodies, joints, geoms, actuators and contacts, with the defaults and conventions of MuJoCo.
//!
//! Meanings follow MuJoCo's XML reference; what is approximated is written down in `docs/model-files.md`.

mod actuator;
mod asset;
mod body;
mod compiler;
mod contact;
mod defaults;
mod force_law;
mod geom;
mod height_field;
mod include;
mod inertia;
mod inertia_dependent;
mod joint;
mod keyframe;
mod mesh;
mod names;
mod option;
mod orientation;
mod surface;

use std::path::Path;

use geometry::Scene;
use multibody::ModelBuilder;

use crate::warnings::Warnings;
use crate::xml::{Document, Element};
use crate::{LoadError, Loaded};

/// Reads a document whose root is `<mujoco>`. Other files are looked for relative to `base`.
pub(crate) fn read(mut document: Document, root: usize, base: Option<&Path>) -> Result<Loaded, LoadError> {
    include::expand(&mut document, root, base)?;
    let root = document.element(root);
    let defaults = defaults::Defaults::read(root)?;
    let mut reader = Reader::new(root, base, &defaults)?;
    reader.bodies(root)?;
    reader.contacts(root)?;
    reader.actuators(root)?;
    let loaded = reader.finish(root)?;
    Ok(loaded)
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
    /// What the joints are, for actuators.
    joints: Vec<joint::JointInfo<'a>>,
    spring_dampers: Vec<joint::SpringDamper>,
    damping_ratios: Vec<actuator::DampingRatio>,
    /// What `<replicate>` elements around the present element append to names.
    suffix: String,
    /// How many elements `<replicate>` has made.
    replicated: usize,
}

impl<'d, 'a> Reader<'d, 'a> {
    fn new(root: Element<'a>, base: Option<&Path>, defaults: &'d defaults::Defaults<'a>) -> Result<Self, LoadError> {
        let mut warnings = Warnings::default();
        let compiler = compiler::Compiler::read(root, &mut warnings)?;
        let options = option::Options::read(root, &mut warnings)?;
        let assets = asset::Assets::read(root, base, &compiler, defaults, &mut warnings)?;
        let mut builder = ModelBuilder::new(root.attribute("model").unwrap_or("MuJoCo Model"));
        builder.gravity = options.gravity;
        builder.timestep = options.timestep;
        let mut names = names::Names::default();
        names.reserve("body", "world", 0);
        Ok(Self {
            compiler,
            options,
            defaults,
            assets,
            builder,
            scene: Scene::default(),
            surfaces: surface::Surfaces::default(),
            names,
            warnings,
            joints: Vec::new(),
            spring_dampers: Vec::new(),
            damping_ratios: Vec::new(),
            suffix: String::new(),
            replicated: 0,
        })
    }

    fn finish(mut self, root: Element<'a>) -> Result<Loaded, LoadError> {
        self.scale_to_total_mass();
        self.builder.materials = self.surfaces.finish();
        let mut model = self.builder.build().map_err(|error| build_error(&error, root, &self.joints))?;
        inertia_dependent::complete(&mut model, &self.spring_dampers, &self.damping_ratios);
        keyframe::read(root, &mut model, &mut self.names, &mut self.warnings)?;
        self.defaults.mark_read();
        // Sections about pictures, storage and names for users are no part of a simulation.
        for section in root.children() {
            match section.name() {
                "visual" | "statistic" | "size" | "custom" => section.skip_all(),
                // Looked into, so that warnings name what is in them.
                "tendon" | "equality" | "deformable" | "extension" | "keyframe" => drop(section.children()),
                _ => {}
            }
        }
        self.warnings.add_unread(root);
        model.warnings = self.warnings.finish();
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

/// What is wrong with the whole, at the joint that it is about.
fn build_error(error: &multibody::BuildError, root: Element<'_>, joints: &[joint::JointInfo<'_>]) -> LoadError {
    let at = match error {
        multibody::BuildError::Massless { joint, body } => {
            joints.iter().find(|j| j.name == *joint && j.body_name == *body)
        }
        _ => None,
    };
    at.map_or(root, |joint| joint.element).error(error.to_string())
}
