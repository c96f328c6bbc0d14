//! What geoms look like beside their colour: textures, how they lie on shapes, and what mesh files say of their triangles.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How a texture is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextureKind {
    /// A picture that repeats.
    #[default]
    Flat,
    /// Six square pictures below each other, those that +x, −x, +y, −y, +z and −z see, with the axes of OpenGL's cube maps.
    Cube,
}

/// An image: red, green and blue of every pixel, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texture {
    /// Name.
    pub name: String,
    /// How it is meant.
    pub kind: TextureKind,
    /// Width and height, pixels; of a cube the height is six times the width.
    pub size: [usize; 2],
    /// Three bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Texture {
    /// Whether there are as many pixels as the size says, at least one.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let [width, height] = self.size;
        let count = width.checked_mul(height).and_then(|n| n.checked_mul(3));
        let cube = self.kind == TextureKind::Flat || width.checked_mul(6) == Some(height);
        width > 0 && height > 0 && cube && count == Some(self.pixels.len())
    }
}

impl Texture {
    /// The texture with half the pixels along both sides, at least one; every side of a cube by itself.
    #[must_use]
    pub fn halved(&self) -> Self {
        let sides = if self.kind == TextureKind::Cube { 6 } else { 1 };
        let [width, height] = [self.size[0], self.size[1] / sides];
        let mut pixels = Vec::with_capacity(self.pixels.len() / 4 + 3);
        for side in self.pixels.chunks_exact(3 * width * height) {
            halve(side, [width, height], &mut pixels);
        }
        let size = [(width / 2).max(1), sides * (height / 2).max(1)];
        Self { name: self.name.clone(), kind: self.kind, size, pixels }
    }

    /// The longer side, of a cube that of its squares, pixels.
    #[must_use]
    pub fn side(&self) -> usize {
        if self.kind == TextureKind::Cube { self.size[0] } else { self.size[0].max(self.size[1]) }
    }
}

/// Appends a picture of half the width and height, each of its pixels the mean of four.
fn halve(pixels: &[u8], [width, height]: [usize; 2], out: &mut Vec<u8>) {
    for row in 0..(height / 2).max(1) {
        for column in 0..(width / 2).max(1) {
            for c in 0..3 {
                let part = |k: usize| {
                    let (x, y) = ((2 * column + k % 2).min(width - 1), (2 * row + k / 2).min(height - 1));
                    u32::from(pixels[3 * (y * width + x) + c])
                };
                out.push(((part(0) + part(1) + part(2) + part(3) + 2) / 4) as u8);
            }
        }
    }
}

/// What a geom shows in the place of one colour.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Look {
    /// A texture, times the colour of the geom.
    Texture {
        /// The texture.
        texture: Arc<Texture>,
        /// How often it repeats along its two directions: over the object, or over 2 m.
        repeat: [f64; 2],
        /// Whether it repeats over metres.
        uniform: bool,
    },
    /// The paints of its mesh ([`MeshSurface`]); the geom's own colour is their mean.
    Paints,
}

/// What a mesh file says of the looks of its triangles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshSurface {
    /// Places in a texture, three for every triangle, (0, 0) its upper left corner; empty where the file has none.
    pub texcoords: Vec<[f32; 2]>,
    /// What triangles are painted with.
    pub paints: Vec<Paint>,
    /// The paint of every triangle; empty where the file has none.
    pub paint_of: Vec<u32>,
}

/// A colour, or a texture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paint {
    /// Red, green, blue in 0..=1.
    pub rgb: [f32; 3],
    /// Shown in the place of the colour where there are places in it.
    pub texture: Option<Arc<Texture>>,
}

impl MeshSurface {
    /// Whether lists have the lengths that a mesh of this many triangles needs, and indices point to something.
    #[must_use]
    pub fn fits(&self, triangles: usize) -> bool {
        let any = |len: usize, per_triangle: usize| len == 0 || Some(len) == triangles.checked_mul(per_triangle);
        let textures = self.paints.iter().filter_map(|paint| paint.texture.as_ref());
        any(self.texcoords.len(), 3)
            && any(self.paint_of.len(), 1)
            && self.paint_of.iter().all(|&paint| (paint as usize) < self.paints.len())
            && textures.into_iter().all(|texture| texture.is_whole() && texture.kind == TextureKind::Flat)
    }

    /// Follows triangles whose second and third corner are swapped.
    pub fn turn_around(&mut self) {
        self.texcoords.as_chunks_mut::<3>().0.iter_mut().for_each(|uv| uv.swap(1, 2));
    }

    /// The mean colour of the triangles, each counted once, textures at their mean; none without paints.
    #[must_use]
    pub fn mean(&self) -> Option<[f32; 3]> {
        let colours: Vec<[f32; 3]> = self.paints.iter().map(Paint::mean).collect();
        let count = self.paint_of.len() as f32;
        let sum = self.paint_of.iter().fold([0.0; 3], |sum: [f32; 3], &paint| {
            let colour = colours.get(paint as usize).copied().unwrap_or_default();
            std::array::from_fn(|k| sum[k] + colour[k])
        });
        (count > 0.0).then(|| sum.map(|c| c / count))
    }
}

impl Paint {
    fn mean(&self) -> [f32; 3] {
        let Some(texture) = &self.texture else { return self.rgb };
        let pixels = texture.pixels.as_chunks::<3>().0;
        // A few thousand pixels tell the mean well enough.
        let step = (pixels.len() / 4096).max(1);
        let taken: Vec<_> = pixels.iter().step_by(step).collect();
        std::array::from_fn(|k| {
            taken.iter().map(|p| f32::from(p[k])).sum::<f32>() / (255.0 * taken.len().max(1) as f32)
        })
    }
}

/// Where a point of a geom, given in its frame in metres, is in a texture; (0, 0) is the upper left corner, (1, 1) the lower right one.
///
/// These are the rules of MuJoCo's renderer; of meshes without places in a texture the box of its vertices stands for that of the
/// principal axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mapping {
    /// (u, v) = `scale` (x, y) + `offset`.
    Plane {
        /// Repetitions per metre.
        scale: [f64; 2],
        /// The place of the origin.
        offset: [f64; 2],
    },
    /// The direction (`scale` · p) into a cube.
    Cube {
        /// Factors along the axes.
        scale: [f64; 3],
    },
    /// Longitude and latitude of p / `size`, or its height where `straight`, `repeat` times.
    Around {
        /// Half the size.
        size: [f64; 3],
        /// Repetitions.
        repeat: [f64; 2],
        /// Whether rows have the same height rather than the same angle.
        straight: bool,
    },
    /// Each side of a box once, `repeat` times.
    Sides {
        /// Half the size.
        size: [f64; 3],
        /// Repetitions.
        repeat: [f64; 2],
    },
    /// The places that the mesh gives its corners, times `repeat`.
    Corners {
        /// Repetitions.
        repeat: [f64; 2],
    },
}
