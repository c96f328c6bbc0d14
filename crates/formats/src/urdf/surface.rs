//! `<visual>`, `<collision>` and `<material>`.

use std::collections::BTreeMap;

use geometry::{Geom, Shape};

use super::{pose, shape};
use crate::LoadError;
use crate::robot::geoms::{
    COLLISION, GREY, VISUAL, drop_unseen_surfaces, number_repeated_names, untouchable, with_own_paints,
};
use crate::robot::mesh::{Meshes, Purpose};
use crate::robot::resolve::Resolver;
use crate::warnings::Warnings;
use crate::xml::Element;

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
    pub fn finish(mut self) -> Vec<Geom> {
        number_repeated_names(&mut self.geoms);
        drop_unseen_surfaces(&mut self.geoms);
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
        let solid = !matches!(&shape, Shape::Mesh(mesh) if mesh.hull().is_none());
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

fn geom(element: Element<'_>, body: usize, shape: Shape, rgba: [f32; 4], group: u32) -> Result<Geom, LoadError> {
    let name = element.attribute("name").unwrap_or_default().into();
    Ok(Geom { name, body, rgba, group, ..untouchable(pose::origin(element)?, shape) })
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
