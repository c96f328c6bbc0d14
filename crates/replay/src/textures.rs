//! Textures as PNG.

use std::io;
use std::sync::Arc;

use geometry::{Texture, TextureKind};
use serde_json::{Value, json};

use crate::binary::base64;

/// Pixels along each side of a texture, or of a side of a cube.
const MAX_SIDE: usize = 1024;

/// Bytes of all textures together. Where they are more, the largest are halved until they fit, down to [`MIN_SIDE`].
const MAX_BYTES: usize = 8 << 20;

/// No texture is made smaller than this for the sake of [`MAX_BYTES`], pixels.
const MIN_SIDE: usize = 32;

/// The textures of a scene, each once.
#[derive(Default)]
pub(crate) struct Textures {
    list: Vec<Arc<Texture>>,
}

impl Textures {
    /// The index of a texture.
    pub fn index(&mut self, texture: &Arc<Texture>) -> usize {
        self.list.iter().position(|known| Arc::ptr_eq(known, texture)).unwrap_or_else(|| {
            self.list.push(texture.clone());
            self.list.len() - 1
        })
    }

    /// All of them, as small as they must be.
    pub fn encode(self) -> io::Result<Vec<Value>> {
        let mut side = MAX_SIDE;
        loop {
            let files = self.list.iter().map(|texture| png(texture, side)).collect::<io::Result<Vec<_>>>()?;
            if files.iter().map(Vec::len).sum::<usize>() <= MAX_BYTES || side <= MIN_SIDE {
                let kind = |texture: &Texture| if texture.kind == TextureKind::Cube { "cube" } else { "2d" };
                let value =
                    |(texture, file): (&Arc<Texture>, &Vec<u8>)| json!({ "kind": kind(texture), "png": base64(file) });
                return Ok(self.list.iter().zip(&files).map(value).collect());
            }
            side /= 2;
        }
    }
}

/// A texture of at most so many pixels along each side as a PNG file.
fn png(texture: &Arc<Texture>, side: usize) -> io::Result<Vec<u8>> {
    let mut texture = texture.clone();
    while texture.side() > side {
        texture = Arc::new(texture.halved());
    }
    let [width, height] = texture.size.map(|n| n as u32);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(&texture.pixels).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_within_the_limit() {
        // Noise, which PNG cannot make smaller: 4 × 3 MiB at full size.
        let mut x = 1u32;
        let mut noise = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        };
        let mut textures = Textures::default();
        for _ in 0..4 {
            let pixels = (0..3 << 20).map(|_| noise()).collect();
            let texture = Texture { name: String::new(), kind: TextureKind::Flat, size: [1024; 2], pixels };
            textures.index(&Arc::new(texture));
        }
        let bytes: usize = textures.encode().unwrap().iter().map(|t| t["png"].as_str().unwrap().len()).sum();
        assert!((3 << 20..=MAX_BYTES).contains(&bytes), "{bytes}");
    }
}
