//! `<visual>` and `<collision>`.

use std::collections::BTreeSet;

use geometry::{Geom, MassModel, Shape};
use multibody::{Material, Resistance};
use spatial::RigidInertia;

use super::shape::{self, Placed};
use super::value::{self, GivenPose};
use crate::LoadError;
use crate::assembly::AssemblyGeom;
use crate::robot::geoms::{COLLISION, GREY, VISUAL, untouchable, with_own_paints};
use crate::robot::mesh::{Meshes, Purpose};
use crate::warnings::Warnings;
use crate::xml::Element;

/// Bits of geoms that say none.
const ALL_BITS: u32 = 0xffff;

/// A coefficient of friction at which nothing slides.
const STICKS: f64 = 1000.0;

/// Colours of Gazebo's own scripts that files name most.
const COLOURS: [(&str, [f32; 3]); 12] = [
    ("Black", [0.0, 0.0, 0.0]),
    ("Blue", [0.0, 0.0, 1.0]),
    ("DarkGrey", [0.175, 0.175, 0.175]),
    ("Green", [0.0, 1.0, 0.0]),
    ("Grey", [0.7, 0.7, 0.7]),
    ("Orange", [1.0, 0.51, 0.0]),
    ("Purple", [1.0, 0.0, 1.0]),
    ("Red", [1.0, 0.0, 0.0]),
    ("Turquoise", [0.0, 1.0, 1.0]),
    ("White", [1.0, 1.0, 1.0]),
    ("Wood", [0.6, 0.45, 0.3]),
    ("Yellow", [1.0, 1.0, 0.0]),
];

/// The link whose geoms are read.
pub(super) struct Owner<'n> {
    /// Its name in the model.
    pub name: &'n str,
    /// Its body.
    pub body: usize,
    /// Density of shapes that say none, kg/m³; none where they have no mass.
    pub density: Option<f64>,
}

/// The geoms of a `<link>`: first those to be seen, then those that touch.
pub(super) fn read(
    link: Element<'_>,
    owner: &Owner<'_>,
    meshes: &mut Meshes,
    warnings: &mut Warnings,
) -> Result<Vec<AssemblyGeom>, LoadError> {
    let mut geoms = Vec::new();
    for element in link.children_named("visual") {
        // What cannot be shown does not change the motion.
        match visual(element, owner, meshes, warnings) {
            Ok(Some(geom)) => {
                geoms.push(AssemblyGeom { geom, material: Material::default(), inertia: RigidInertia::ZERO });
            }
            Ok(None) => {}
            Err(error) => warnings.add(element, &format!("not shown: {}", error.message())),
        }
    }
    let shown = geoms.len();
    let group = if geoms.is_empty() { VISUAL } else { COLLISION };
    for element in link.children_named("collision") {
        geoms.extend(collision(element, owner, group, meshes, warnings)?);
    }
    // A ground has no end, whatever its picture says: pictures of all would be taken from far away.
    let (shown, touching) = geoms.split_at_mut(shown);
    if touching.iter().any(|geom| matches!(geom.geom.shape, Shape::Plane { .. })) {
        for geom in shown.iter_mut().filter(|geom| matches!(geom.geom.shape, Shape::Plane { .. })) {
            geom.geom.shape = Shape::Plane { half_extents: [0.0; 2] };
        }
    }
    Ok(geoms)
}

fn visual(
    element: Element<'_>,
    owner: &Owner<'_>,
    meshes: &mut Meshes,
    warnings: &mut Warnings,
) -> Result<Option<Geom>, LoadError> {
    // How light falls on it.
    ["cast_shadows", "visibility_flags", "laser_retro"]
        .iter()
        .filter_map(|c| element.child(c))
        .for_each(Element::skip_all);
    let rgb = element.child("material").map(|material| colour(material, warnings)).transpose()?.flatten();
    let opacity = 1.0 - value::number(element, "transparency")?.unwrap_or(0.0).clamp(0.0, 1.0) as f32;
    let Some(placed) = shape::read(element, meshes, Purpose::Picture)? else { return Ok(None) };
    let mut geom = geom(element, owner, placed, warnings)?;
    match rgb {
        Some(rgba) => geom.rgba = rgba,
        None => geom = with_own_paints(geom),
    }
    geom.rgba[3] *= opacity;
    Ok(Some(geom))
}

fn collision(
    element: Element<'_>,
    owner: &Owner<'_>,
    group: u32,
    meshes: &mut Meshes,
    warnings: &mut Warnings,
) -> Result<Option<AssemblyGeom>, LoadError> {
    // How many points other engines take, and what a laser sees.
    ["max_contacts", "laser_retro"].iter().filter_map(|c| element.child(c)).for_each(Element::skip_all);
    let Some(placed) = shape::read(element, meshes, Purpose::Contact)? else { return Ok(None) };
    let inertia = match (value::positive(element, "density")?, owner.density) {
        (own, Some(density)) => {
            let inertia = placed.shape.inertia(own.unwrap_or(density), MassModel::Solid);
            let inertia = inertia.map_err(|error| element.error(error.to_string()))?.rotated(placed.pose.rot.to_mat3());
            RigidInertia { com: inertia.com + placed.pose.pos, ..inertia }
        }
        _ => RigidInertia::ZERO,
    };
    let is_solid = !matches!(&placed.shape, Shape::Mesh(mesh) if mesh.hull().is_none());
    if !is_solid {
        warnings.add(element, "a mesh without volume: it touches nothing");
    }
    let Surface { material, bits } = surface(element, warnings)?;
    let bits = if is_solid { bits } else { 0 };
    let geom = Geom { contype: bits, conaffinity: bits, group, ..geom(element, owner, placed, warnings)? };
    Ok(Some(AssemblyGeom { geom, material, inertia }))
}

fn geom(element: Element<'_>, owner: &Owner<'_>, placed: Placed, warnings: &mut Warnings) -> Result<Geom, LoadError> {
    let GivenPose { pose, relative_to } = value::pose(element)?.unwrap_or(GivenPose::NONE);
    if relative_to.is_some() {
        warnings.add(element, "relative_to of its pose: taken in the frame of the link");
    }
    let name = format!("{}::{}", owner.name, element.required("name")?);
    Ok(Geom { name, body: owner.body, rgba: GREY, ..untouchable(pose * placed.pose, placed.shape) })
}

/// What a `<surface>` says.
struct Surface {
    material: Material,
    bits: u32,
}

fn surface(collision: Element<'_>, warnings: &mut Warnings) -> Result<Surface, LoadError> {
    let mut material = Material::default();
    let mut bits = ALL_BITS;
    // As Drake has it.
    if let Some(properties) = collision.child("proximity_properties") {
        let given = value::positive(properties, "mu_dynamic")?;
        material.friction = given.or(value::positive(properties, "mu_static")?).unwrap_or(material.friction);
    }
    let Some(surface) = collision.child("surface") else { return Ok(Surface { material, bits }) };
    if let Some(friction) = surface.child("friction") {
        if let Some(ode) = friction.child("ode") {
            let mu = value::number(ode, "mu")?.map(coefficient);
            let mu2 = value::number(ode, "mu2")?.map(coefficient);
            material.friction = mu.or(mu2).unwrap_or(1.0);
            if mu2.is_some_and(|mu2| mu2 != material.friction) {
                warnings.add_attribute(ode, "mu2", "friction is the same in all directions: mu is taken");
            }
        }
        if let Some(torsional) = friction.child("torsional") {
            torsion(torsional, &mut material)?;
        }
    }
    if let Some(bounce) = surface.child("bounce")
        && value::number(bounce, "restitution_coefficient")?.is_some_and(|e| e != 0.0)
    {
        warnings.add_attribute(bounce, "restitution_coefficient", "contacts do not bounce: ignored");
    }
    if let Some(contact) = surface.child("contact") {
        if let Some((element, text)) = value::text(contact, "collide_bitmask") {
            let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
            let number = digits.map_or_else(|| text.parse(), |digits| u32::from_str_radix(digits, 16));
            bits = number.map_err(|_| element.error(format!("\"{text}\": expected a whole number of 32 bits")))?;
        }
        if value::flag(contact, "collide_without_contact")?.unwrap_or(false) {
            bits = 0;
        }
    }
    Ok(Surface { material, bits })
}

/// A coefficient of friction; ODE takes those below 0 for infinity.
fn coefficient(mu: f64) -> f64 {
    if mu < 0.0 { STICKS } else { mu }
}

/// Friction about the normal: of a patch of radius r under even pressure, μ 3π/16 r times the normal force.
fn torsion(torsional: Element<'_>, material: &mut Material) -> Result<(), LoadError> {
    let coefficient = value::positive(torsional, "coefficient")?.unwrap_or(1.0);
    let patch = value::positive(torsional, "patch_radius")?.unwrap_or(0.0);
    if value::flag(torsional, "use_patch_radius")?.unwrap_or(true) && patch * coefficient > 0.0 {
        material.resistance = Resistance::Spinning;
        material.torsional_friction = 3.0 * std::f64::consts::PI / 16.0 * coefficient * patch;
    }
    Ok(())
}

/// The colour of a `<material>`; none where it says none.
fn colour(material: Element<'_>, warnings: &mut Warnings) -> Result<Option<[f32; 4]>, LoadError> {
    // Shine, and parts of light.
    ["specular", "emissive", "lighting", "shininess", "double_sided", "render_order"]
        .iter()
        .filter_map(|c| material.child(c))
        .for_each(Element::skip_all);
    let ambient = rgba(material, "ambient")?;
    if let Some(diffuse) = rgba(material, "diffuse")? {
        return Ok(Some(diffuse));
    }
    let Some(script) = material.child("script") else { return Ok(ambient) };
    script.children().for_each(Element::skip_all);
    let name = value::text(script, "name").map_or("", |(_, name)| name);
    let known = COLOURS.iter().find(|(known, _)| name.strip_prefix("Gazebo/").is_some_and(|name| name == *known));
    if known.is_none() && ambient.is_none() {
        warnings.add(script, "a colour that Gazebo's scripts give: grey");
    }
    Ok(ambient.or(known.map(|(_, [r, g, b])| [*r, *g, *b, 1.0])))
}

fn rgba(material: Element<'_>, name: &str) -> Result<Option<[f32; 4]>, LoadError> {
    let Some((element, text)) = value::text(material, name) else { return Ok(None) };
    match crate::xml::parse_numbers(element, "text", text)?[..] {
        [r, g, b] => Ok(Some([r as f32, g as f32, b as f32, 1.0])),
        [r, g, b, a] => Ok(Some([r, g, b, a].map(|c| c as f32))),
        _ => Err(element.error("expected 4 numbers")),
    }
}

/// The smaller friction of two surfaces is that of the pair, as in Gazebo: of surfaces with different priorities the higher one decides, so
/// less friction has a higher one.
pub(super) fn rank_by_friction<'g>(geoms: impl Iterator<Item = &'g mut AssemblyGeom>) {
    let geoms: Vec<_> = geoms.filter(|geom| geom.geom.contype != 0).collect();
    // Numbers of 0 or more are in the order of their bits.
    let all: BTreeSet<u64> = geoms.iter().map(|geom| geom.material.friction.to_bits()).collect();
    let larger = |friction: f64| all.range(friction.to_bits()..).count() as i32 - 1;
    for geom in geoms {
        geom.material.priority = larger(geom.material.friction);
    }
}
