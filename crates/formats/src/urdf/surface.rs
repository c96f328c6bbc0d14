//! `<visual>`, `<collision>` and `<material>`.

use std::collections::BTreeMap;

use geometry::{Geom, Look, Shape};

use super::mesh::{Meshes, Purpose};
use super::resolve::Resolver;
use super::{pose, shape};
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// The colour of geoms that name none.
const GREY: [f32; 4] = [0.6, 0.6, 0.6, 1.0];

/// Groups as MuJoCo's own models use them: what is to be seen, and what touches beside it.
const VISUAL: u32 = 1;
const COLLISION: u32 = 3;

/// Collects the geoms of a robot.
///
/// Visual geometry is for pictures and touches nothing. Collision geometry touches, and is of a group that pictures hide at first where
/// its link has visual geometry.
pub(super) struct Geoms<'a> {
    meshes: Meshes,
    colours: BTreeMap<&'a str, [f32; 4]>,
    geoms: Vec<Geom>,
}

impl<'a> Geoms<'a> {
    /// Reads the colours of the whole robot: names may be used before the link that gives them their colour.
    pub fn new(robot: Element<'a>, resolver: Resolver, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let mut colours = BTreeMap::new();
        let local = robot.children_named("link").flat_map(|l| l.children_named("visual"));
        let local = local.flat_map(|v| v.children_named("material"));
        for material in robot.children_named("material").chain(local) {
            let colour = colour(material, warnings)?;
            if let (Some(name), Some(colour)) = (material.attribute("name"), colour) {
                // The first definition of a name counts, those of the robot before those of links.
                colours.entry(name).or_insert(colour);
            }
        }
        Ok(Self { meshes: Meshes::new(resolver), colours, geoms: Vec::new() })
    }

    /// Adds the geoms of a link to a body.
    pub fn read_link(&mut self, link: Element<'a>, body: usize, warnings: &mut Warnings) -> Result<(), LoadError> {
        let first = self.geoms.len();
        for visual in link.children_named("visual") {
            // What cannot be shown does not change the motion.
            match self.visual(visual, body, warnings) {
                Ok(geom) => self.geoms.extend(geom),
                Err(error) => warnings.add(visual, &format!("not shown: {}", error.message())),
            }
        }
        let shown = self.geoms.len() > first;
        for collision in link.children_named("collision") {
            let geom = self.collision(collision, body, shown, warnings)?;
            self.geoms.extend(geom);
        }
        Ok(())
    }

    /// The geoms.
    pub fn finish(self) -> Vec<Geom> {
        self.geoms
    }

    fn visual(&mut self, visual: Element<'a>, body: usize, warnings: &mut Warnings) -> Result<Option<Geom>, LoadError> {
        let rgba = self.rgba(visual, warnings)?;
        match shape::read(visual, &mut self.meshes, Purpose::Picture)? {
            Some(shape) => {
                let painted = geom(visual, body, shape, rgba.unwrap_or(GREY), VISUAL)?;
                Ok(Some(if rgba.is_none() { with_own_paints(painted) } else { painted }))
            }
            None => {
                warnings.add(visual, "of size 0: not shown");
                Ok(None)
            }
        }
    }

    fn collision(
        &mut self,
        collision: Element<'a>,
        body: usize,
        shown: bool,
        warnings: &mut Warnings,
    ) -> Result<Option<Geom>, LoadError> {
        // A colour, or a name for debugging: nothing that touches.
        ["material", "verbose"].iter().flat_map(|c| collision.children_named(c)).for_each(Element::skip_all);
        let Some(shape) = shape::read(collision, &mut self.meshes, Purpose::Contact)? else {
            warnings.add(collision, "of size 0: it touches nothing");
            return Ok(None);
        };
        let solid = !matches!(&shape, Shape::Mesh(mesh) if !mesh.has_hull());
        if !solid {
            warnings.add(collision, "a mesh without volume: it touches nothing");
        }
        let bits = u32::from(solid);
        let geom = geom(collision, body, shape, GREY, if shown { COLLISION } else { VISUAL })?;
        Ok(Some(Geom { contype: bits, conaffinity: bits, ..geom }))
    }

    /// The colour of a visual; none where it names none.
    fn rgba(&self, visual: Element<'a>, warnings: &mut Warnings) -> Result<Option<[f32; 4]>, LoadError> {
        let Some(material) = visual.child("material") else {
            return Ok(None);
        };
        if let Some(own) = colour(material, &mut Warnings::default())? {
            return Ok(Some(own));
        }
        let name = material.attribute("name").unwrap_or_default();
        let named = self.colours.get(name).copied();
        if named.is_none() && material.child("texture").is_none() && !name.is_empty() {
            warnings.add_attribute(material, "name", "no colour of this name in the file: grey");
        }
        Ok(named)
    }
}

/// A geom in the colours of its mesh file, if that has any. One paint without a texture is a colour like any other.
fn with_own_paints(mut geom: Geom) -> Geom {
    let Shape::Mesh(mesh) = &geom.shape else { return geom };
    let surface = &mesh.surface;
    let Some([r, g, b]) = surface.mean() else { return geom };
    let plain = |paint: &geometry::Paint| paint.texture.is_none() || surface.texcoords.is_empty();
    geom.look = (surface.paints.len() > 1 || !surface.paints.iter().all(plain)).then_some(Look::Paints);
    geom.rgba = [r, g, b, 1.0];
    geom
}

fn geom(element: Element<'_>, body: usize, shape: Shape, rgba: [f32; 4], group: u32) -> Result<Geom, LoadError> {
    let name = element.attribute("name").unwrap_or_default().into();
    let pose = pose::origin(element)?;
    Ok(Geom {
        name,
        body,
        pose,
        shape,
        contype: 0,
        conaffinity: 0,
        material: 0,
        margin: 0.0,
        rgba,
        group,
        look: None,
        surface_motion: None,
    })
}

/// The colour that a `<material>` gives itself.
fn colour(material: Element<'_>, warnings: &mut Warnings) -> Result<Option<[f32; 4]>, LoadError> {
    if let Some(texture) = material.child("texture") {
        texture.skip_all();
        warnings.add(texture, "textures are not shown: ignored");
    }
    let Some(color) = material.child("color") else {
        return Ok(None);
    };
    match color.numbers("rgba")?.unwrap_or_default()[..] {
        [r, g, b] => Ok(Some([r as f32, g as f32, b as f32, 1.0])),
        [r, g, b, a] => Ok(Some([r, g, b, a].map(|c| c as f32))),
        _ => Err(color.error("rgba: expected 4 numbers")),
    }
}
