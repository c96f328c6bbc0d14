//! SDFormat: models and worlds as Gazebo and Drake read them (<http://sdformat.org/spec>).
//!
//! A link becomes a body of its name whose frame is the link's, a joint a joint of its name; those of a model in a world begin with its name,
//! `robot::arm`. A link that hangs on no joint moves freely, by a joint of its own name, unless its model is static. A joint to a link that
//! hangs on another closes a loop: an equality constraint in its place.

mod bodies;
mod include;
mod joint;
mod layout;
mod link;
mod loops;
mod shape;
mod surface;
mod value;

use std::path::Path;

use spatial::Vec3;

use crate::assembly::Assembly;
use crate::robot::mesh::Meshes;
use crate::robot::resolve::Resolver;
use crate::robot::{actuators, couplings};
use crate::warnings::Warnings;
use crate::xml::{Document, Element};
use crate::{LoadError, LoadOptions, Loaded};
use bodies::Reader;
use layout::Layout;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// The `version` of an element; 1.0 where it has none.
    fn of(element: Element<'_>) -> Self {
        let (major, minor) =
            element.attribute("version").and_then(|text| text.trim().split_once('.')).unwrap_or(("1", "0"));
        let number = |text: &str, default| text.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(default);
        Self { major: number(major, 1), minor: number(minor, 0) }
    }
}

/// The oldest version that this reader knows; its root element is `<gazebo>`.
const OLDEST: Version = Version { major: 1, minor: 2 };

/// Reads a document whose root is `<sdf>`.
pub(crate) fn read(
    mut document: Document,
    root: usize,
    base: Option<&Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    let sdf = document.element(root);
    if sdf.name() == "gazebo" && Version::of(sdf) < OLDEST {
        return Err(sdf.error("a file of Gazebo before version 1.2 of its format: expected a newer one"));
    }
    include::expand(&mut document, root, &Resolver::new(base, None, options))?;
    let sdf = document.element(root);
    let mut loaded = read_elements(sdf, base, options).map_err(|error| sdf.with_misspelt(error))?;
    loaded.model.warnings.splice(0..0, document.faults.iter().cloned());
    Ok(loaded)
}

fn read_elements(sdf: Element<'_>, base: Option<&Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let version = Version::of(sdf);
    let mut warnings = Warnings::default();
    let world = sdf.child("world").unwrap_or(sdf);
    let layout = Layout::read(world)?;
    let Some(first) = layout.scopes.get(1) else {
        return Err(world.error("no model: expected <model> or <include>"));
    };
    // A model that is alone gives its name to the whole.
    let named = if world.name() == "world" { world } else { first.element };
    let mut assembly = Assembly::new(named.attribute("name").unwrap_or_default());
    if world.name() == "world" {
        read_world(world, &mut assembly, &mut warnings)?;
    }
    let meshes = Meshes::new(Resolver::new(base, None, options));
    Reader::new(layout, version, meshes, &mut assembly, &mut warnings).read(sdf)?;
    skip_names(sdf);
    warnings.add_unread(sdf);
    let mut loaded = assembly.build().map_err(|error| sdf.error(error.to_string()))?;
    couplings::follow(&mut loaded.model);
    actuators::add(&[], &mut loaded.model, &loaded.scene, options.actuators, &mut warnings)?;
    loaded.model.warnings = warnings.finish();
    Ok(loaded)
}

/// What a world has beside models.
fn read_world(world: Element<'_>, assembly: &mut Assembly, warnings: &mut Warnings) -> Result<(), LoadError> {
    // What is to be seen or heard around the models, where on Earth it is, and a state that a program saved.
    let around = ["scene", "gui", "light", "audio", "spherical_coordinates", "state", "atmosphere"];
    around.iter().flat_map(|name| world.children_named(name)).for_each(Element::skip_all);
    assembly.gravity = value::array::<3>(world, "gravity")?.map_or(Vec3::new(0.0, 0.0, -9.8), Vec3::from);
    if let Some(field) = value::array::<3>(world, "magnetic_field")? {
        assembly.magnetic_field = field.into();
    }
    let Some(physics) = world.child("physics") else { return Ok(()) };
    if let Some(step) = value::number(physics, "max_step_size")? {
        if step <= 0.0 {
            return Err(physics.error(format!("max_step_size {step}: expected a number above 0")));
        }
        assembly.timestep = step;
    }
    for other in world.children_named("physics").skip(1) {
        warnings.add(other, "another <physics>: the first counts");
        other.skip_all();
    }
    // Settings of other engines' solvers, and of how fast a program shows it.
    physics.skip(&["name", "default", "type"]);
    physics.children().filter(|child| child.name() != "max_step_size").for_each(Element::skip_all);
    Ok(())
}

/// Parts that say nothing of motion: plugins' names would be warnings, what they do is not simulated.
fn skip_names(sdf: Element<'_>) {
    for element in sdf.descendants() {
        match element.name() {
            "light" => element.skip_all(),
            "include" | "model" | "world" => element.skip(&["name", "version"]),
            "allow_auto_disable" | "enable_wind" | "must_be_base_link" => element.skip_all(),
            _ => {}
        }
    }
}
