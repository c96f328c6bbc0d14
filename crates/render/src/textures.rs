//! The textures of a scene, and what has them.

use std::collections::HashMap;
use std::sync::Arc;

use geometry::{Geom, Look, Mapping, Texture};
use spatial::Vec3;

use crate::mesh::DrawnMesh;
use crate::texture::Mips;

/// What is seen in the place of one colour.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemLook {
    /// Nothing else.
    Plain,
    /// A texture, and where points are in it.
    Texture { texture: u32, mapping: Mapping },
    /// The paints of its mesh.
    Paints,
    /// The colours of the vertices of its mesh.
    Vertices,
}

/// The textures of a scene, each once.
#[derive(Debug, Default)]
pub(crate) struct Textures {
    pub list: Vec<Mips>,
    /// By their addresses, which are only compared.
    index_of: HashMap<usize, u32>,
    /// The cube that is seen where nothing else is.
    pub sky: Option<u32>,
}

impl Textures {
    /// The number of a texture.
    pub fn index(&mut self, texture: &Arc<Texture>) -> u32 {
        *self.index_of.entry(Arc::as_ptr(texture).addr()).or_insert_with(|| {
            self.list.push(Mips::new(texture));
            self.list.len() as u32 - 1
        })
    }

    /// The texture of a paint.
    pub fn of(&self, texture: &Arc<Texture>) -> Option<&Mips> {
        self.index_of.get(&Arc::as_ptr(texture).addr()).map(|&index| &self.list[index as usize])
    }

    /// The colour of the sky at the horizon, where there is a texture for it: the mean of six directions.
    pub fn haze(&self) -> Option<[f32; 3]> {
        let sky = &self.list[self.sky? as usize];
        let far = |k: u32| {
            let angle = std::f32::consts::TAU * k as f32 / 6.0;
            Vec3::new(libm::cosf(angle), 0.02, libm::sinf(angle))
        };
        let sum = (0..6).map(far).fold([0.0; 3], |sum: [f32; 3], d| {
            let colour = sky.cube(d, [d + Vec3::new(0.0, 0.05, 0.0), d + d.cross(Vec3::new(0.0, 0.05, 0.0))]);
            std::array::from_fn(|c| sum[c] + colour[c] / 6.0)
        });
        Some(sum)
    }

    /// How a geom is seen.
    pub fn look(&mut self, geom: &Geom, mesh: Option<&DrawnMesh>) -> ItemLook {
        if let Some((texture, mapping)) = geom.texture().filter(|(texture, _)| texture.is_whole()) {
            return ItemLook::Texture { texture: self.index(texture), mapping };
        }
        match (&geom.look, mesh) {
            (Some(Look::Paints), Some(mesh)) if !mesh.surface.paint_of.is_empty() => {
                for texture in mesh.surface.paints.iter().filter_map(|paint| paint.texture.as_ref()) {
                    self.index(texture);
                }
                ItemLook::Paints
            }
            _ => ItemLook::Plain,
        }
    }
}
