//! URDF: links and joints of a robot (<https://wiki.ros.org/urdf/XML>).
//!
//! A link becomes a body of its name whose frame is the link's; a joint becomes a joint of its name. Fixed joints weld
//! the body to its parent and leave no joint. The root link is fixed to the world, or moves by a free joint
//! `root_joint` ([`crate::LoadOptions::floating_base`]); a root link named `world` is the world itself. Bodies come
//! depth first, the children of a link in the order of their joints in the file.
//!
//! The default configuration is 0, or the nearest value within the limits of a joint; joints that `<mimic>` others are
//! where these put them.
//!
//! What the format leaves to programs is done as Pinocchio does it: a link without `<inertial>` has no mass, inertias
//! are given about the centre of mass in the axes of `<origin>`.

mod joint;
mod link;
mod mimic;
mod neighbours;
mod pose;
mod repair;
mod shape;
mod surface;
mod tree;

use std::path::Path;

pub(crate) use repair::repaired;

use geometry::Scene;
use multibody::{BodySpec, BuildError, JointKind, JointSpec, Material, Model, ModelBuilder};

use crate::robot::resolve::Resolver;
use crate::robot::{actuators, couplings, start};
use crate::warnings::Warnings;
use crate::xml::{Document, Element};
use crate::{LoadError, LoadOptions, Loaded};
use mimic::Mimics;
use surface::Geoms;
use tree::Tree;

/// Name of the joint of a floating base, as Pinocchio calls it.
pub(crate) const ROOT_JOINT: &str = "root_joint";

/// Reads a document whose root is `<robot>`.
pub(crate) fn read(
    document: Document,
    root: usize,
    base: Option<&Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    let robot = document.element(root);
    let mut loaded = read_robot(&document, robot, base, options).map_err(|error| robot.with_misspelt(error))?;
    loaded.model.warnings.splice(0..0, document.faults.iter().cloned());
    Ok(loaded)
}

fn read_robot(
    document: &Document,
    robot: Element<'_>,
    base: Option<&Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    if let Some(template) = document.template {
        return Err(document
            .element(template)
            .error("is a macro of xacro: expected URDF, which `xacro FILE > robot.urdf` writes; from Python, a file whose name ends with .xacro"));
    }
    // `version` is 1.0 or absent.
    robot.skip(&["version"]);
    let mut warnings = Warnings::default();
    let tree = Tree::read(robot)?;
    let mut builder = ModelBuilder::new(robot.attribute("name").unwrap_or_default());
    // Many files have impossible inertias, most of them at small parts that are fixed to larger ones.
    builder.strict_inertia = false;
    let compiler = robot.child("mujoco").and_then(|extension| extension.child("compiler"));
    let mesh_dir = compiler.and_then(|compiler| {
        // Pictures are kept and paths are tried as they are in any case.
        compiler.skip(&["discardvisual", "strippath"]);
        compiler.attribute("meshdir")
    });
    let mut geoms = Geoms::new(robot, Resolver::new(base, mesh_dir, options), &mut warnings)?;
    let mut mimics = Mimics::default();
    let mut placed = vec![Placed { body: 0, fixed: true }; tree.links.len()];
    for &index in &tree.order {
        let link = &tree.links[index];
        placed[index] = match link.parent {
            None => add_root(&mut builder, link.element, options, &mut warnings)?,
            Some(joint) => {
                let joint = &tree.joints[joint];
                let above = placed[joint.parent];
                add_child(&mut builder, &mut mimics, link.element, joint.element, above, &mut warnings)?
            }
        };
        geoms.read_link(link.element, placed[index].body, &mut warnings)?;
    }
    mimics.finish(&mut builder, &mut warnings)?;
    let mut scene = Scene { geoms: geoms.finish(), ..Scene::default() };
    if !scene.geoms.is_empty() {
        builder.materials.push(Material::default());
    }
    let mut model = build(builder.clone(), robot, &tree)?;
    if start::draw_where_it_starts(&mut builder, &model) {
        model = build(builder, robot, &tree)?;
    }
    let transmissions = actuators::transmissions(robot);
    warnings.add_unread(robot);
    actuators::add(&transmissions, &mut model, &scene, options.actuators, &mut warnings)?;
    if let Some(message) = neighbours::exclude(&model, &mut scene).map_err(|message| robot.error(message))? {
        warnings.add(robot, &message);
    }
    model.warnings = warnings.finish();
    Ok(Loaded { model, scene })
}

/// The model, which starts within its limits.
fn build(builder: ModelBuilder, robot: Element<'_>, tree: &Tree<'_>) -> Result<Model, LoadError> {
    let mut model = builder.build().map_err(|error| locate(error, robot, tree))?;
    start_within_limits(&mut model);
    couplings::follow(&mut model);
    Ok(model)
}

/// Moves the default configuration, which is 0, into the limits.
fn start_within_limits(model: &mut Model) {
    for joint in &model.joints {
        if let Some((low, high)) = joint.range {
            model.q0[joint.q] = model.q0[joint.q].clamp(low, high);
        }
    }
}

/// What a link has become.
#[derive(Clone, Copy)]
struct Placed {
    body: usize,
    /// Whether no joint between it and the world moves.
    fixed: bool,
}

/// Adds the root link.
fn add_root(
    builder: &mut ModelBuilder,
    link: Element<'_>,
    options: &LoadOptions,
    warnings: &mut Warnings,
) -> Result<Placed, LoadError> {
    let name = link.required("name")?;
    let inertia = link::inertia(link, warnings)?;
    if name == "world" {
        if options.floating_base {
            warnings.add(link, "the root link is the world: it does not float");
        }
        return Ok(Placed { body: 0, fixed: true });
    }
    let spec = BodySpec { name: name.into(), inertia, ..BodySpec::default() };
    let body = builder.add_body(spec).map_err(|error| at_inertial(link, &error))?;
    if options.floating_base {
        let spec = JointSpec { name: ROOT_JOINT.into(), ..JointSpec::new(JointKind::Free) };
        builder.add_joint(body, spec).map_err(|error| link.error(error.to_string()))?;
    }
    Ok(Placed { body, fixed: !options.floating_base })
}

/// Adds a link that hangs on a joint.
fn add_child<'a>(
    builder: &mut ModelBuilder,
    mimics: &mut Mimics<'a>,
    link: Element<'_>,
    joint: Element<'a>,
    above: Placed,
    warnings: &mut Warnings,
) -> Result<Placed, LoadError> {
    let pose = pose::origin(joint)?;
    let inertia = link::inertia(link, warnings)?;
    let name = link.required("name")?.into();
    let spec = BodySpec { name, parent: above.body, pose, inertia, ..BodySpec::default() };
    let body = builder.add_body(spec).map_err(|error| at_inertial(link, &error))?;
    let joints = joint::specs(joint, above.fixed, warnings)?;
    let fixed = above.fixed && joints.is_empty();
    let mut added = Vec::new();
    for spec in joints {
        let nv = spec.kind.nv();
        added.push((builder.add_joint(body, spec).map_err(|error| joint.error(error.to_string()))?, nv));
    }
    mimics.add(joint, &added)?;
    Ok(Placed { body, fixed })
}

/// An error of a body at what describes its inertia.
fn at_inertial(link: Element<'_>, error: &BuildError) -> LoadError {
    link.child("inertial").unwrap_or(link).error(error.to_string())
}

/// An error of the finished model at the element that it is about.
fn locate(error: BuildError, robot: Element<'_>, tree: &Tree<'_>) -> LoadError {
    let at = match &error {
        BuildError::Massless { body, .. } => tree.link(body).map(|link| link.element),
        BuildError::BadInertia { body, .. } => {
            tree.link(body).map(|link| link.element.child("inertial").unwrap_or(link.element))
        }
        BuildError::FreeNotAtRoot { joint } => tree.joint(joint).map(|joint| joint.element),
        _ => None,
    };
    at.unwrap_or(robot).error(error.to_string())
}
