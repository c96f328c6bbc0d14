//! Textures as PNG files, and the materials by which geoms have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use geometry::{Geom, Look, Scene, Texture, TextureKind};

use super::asset_names::{asset_name, file_part};
use super::numbers::list;
use super::xml::{Attributes, Xml};
use super::{WrittenFile, label};

/// Textures and materials, each once, with a name of its own.
#[derive(Default)]
pub(super) struct Looks {
    textures: Vec<(String, Arc<Texture>)>,
    materials: Vec<Material>,
    sky: Option<Arc<Texture>>,
    /// Meshes whose file paints their triangles.
    painted: Vec<String>,
    /// Whether the pictures are written.
    has_files: bool,
}

/// How a texture lies on geoms.
struct Material {
    name: String,
    /// Index.
    texture: usize,
    repeat: [f64; 2],
    uniform: bool,
}

impl Looks {
    pub fn new(scene: &Scene) -> Self {
        let mut looks = Self { sky: scene.sky.clone(), ..Self::default() };
        let (mut names, mut material_names, mut known) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (index, geom) in scene.geoms.iter().enumerate() {
            match &geom.look {
                Some(Look::Texture { texture, repeat, uniform }) => {
                    let of = *known.entry(Arc::as_ptr(texture)).or_insert_with(|| {
                        looks.textures.push((asset_name(&mut names, &texture.name, "texture"), texture.clone()));
                        looks.textures.len() - 1
                    });
                    if looks.find(of, *repeat, *uniform).is_none() {
                        let name = asset_name(&mut material_names, &texture.name, "material");
                        looks.materials.push(Material { name, texture: of, repeat: *repeat, uniform: *uniform });
                    }
                }
                Some(Look::Paints) => looks.painted.push(label("geom", &geom.name, index)),
                None => {}
            }
        }
        looks
    }

    pub fn is_empty(&self) -> bool {
        self.textures.is_empty() && self.sky.is_none() && self.painted.is_empty()
    }

    fn find(&self, texture: usize, repeat: [f64; 2], uniform: bool) -> Option<&Material> {
        self.materials.iter().find(|m| (m.texture, m.repeat, m.uniform) == (texture, repeat, uniform))
    }

    /// The material of a geom, where it is written.
    pub fn of_geom(&self, geom: &Geom) -> Attributes {
        let Some(Look::Texture { texture, repeat, uniform }) = &geom.look else { return Vec::new() };
        let of = self.textures.iter().position(|(_, known)| Arc::ptr_eq(known, texture));
        let material = of.filter(|_| self.has_files).and_then(|of| self.find(of, *repeat, *uniform));
        material.map(|material| ("material", material.name.clone())).into_iter().collect()
    }

    /// Writes the elements, and the pictures where files may have a name.
    pub fn write(&mut self, xml: &mut Xml, stem: Option<&str>, files: &mut Vec<WrittenFile>, notes: &mut Vec<String>) {
        if let Some(first) = self.painted.first() {
            let text = "the colours of triangles are left out, as MJCF has one for each geom";
            let others = self.painted.len() - 1;
            let others = if others > 0 { format!(" and {others} more") } else { String::new() };
            notes.push(format!("{first}{others}: {text}"));
        }
        let Some(stem) = stem else {
            let count = self.textures.len() + self.sky.iter().count();
            if count > 0 {
                notes.push(format!("textures: {count} are left out, as they need files beside the text"));
            }
            return;
        };
        self.has_files = true;
        if let Some(sky) = &self.sky {
            let (mut attributes, file) = (super::named(&sky.name), format!("{stem}_sky.png"));
            attributes.extend([("type", "skybox".into()), ("file", file.clone())]);
            attributes.extend(grid());
            xml.empty("texture", &attributes);
            files.push(WrittenFile { name: file, content: png(&sides_in_grid(sky)) });
        }
        let mut short = vec!["sky".to_owned()];
        for (name, texture) in &self.textures {
            let file = format!("{stem}_{}.png", file_part(&mut short, name, "texture"));
            let kind = if texture.kind == TextureKind::Cube { "cube" } else { "2d" };
            let mut attributes = vec![("name", name.clone()), ("type", kind.into()), ("file", file.clone())];
            let content = if texture.kind == TextureKind::Cube {
                attributes.extend(grid());
                png(&sides_in_grid(texture))
            } else {
                png(texture)
            };
            xml.empty("texture", &attributes);
            files.push(WrittenFile { name: file, content });
        }
        for Material { name, texture, repeat, uniform } in &self.materials {
            let mut attributes = vec![("name", name.clone()), ("texture", self.textures[*texture].0.clone())];
            if *repeat != [1.0; 2] {
                attributes.push(("texrepeat", list(repeat)));
            }
            if *uniform {
                attributes.push(("texuniform", "true".into()));
            }
            xml.empty("material", &attributes);
        }
    }
}

/// The six sides of a cube in three rows of two: below each other, large ones would be higher than a picture may be.
fn grid() -> Attributes {
    vec![("gridsize", "3 2".into()), ("gridlayout", "RLUDFB".into())]
}

/// The picture of a cube: its sides, which a texture has below each other, in the places of [`grid`].
fn sides_in_grid(cube: &Texture) -> Texture {
    let [side, _] = cube.size;
    let row = 3 * side;
    let mut pixels = Vec::with_capacity(cube.pixels.len());
    for pair in cube.pixels.chunks_exact(2 * row * side) {
        let (left, right) = pair.split_at(row * side);
        for (left, right) in left.chunks_exact(row).zip(right.chunks_exact(row)) {
            pixels.extend_from_slice(left);
            pixels.extend_from_slice(right);
        }
    }
    Texture { name: cube.name.clone(), kind: TextureKind::Flat, size: [2 * side, 3 * side], pixels }
}

/// A picture of eight bits a colour, as a file.
fn png(texture: &Texture) -> Vec<u8> {
    let mut bytes = Vec::new();
    let [width, height] = texture.size.map(|n| n as u32);
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    // Into memory, of a texture that is whole, this cannot fail.
    let _ = encoder.write_header().and_then(|mut writer| writer.write_image_data(&texture.pixels));
    bytes
}
