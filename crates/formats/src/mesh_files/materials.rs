//! What mesh files say of looks: MTL libraries of OBJ files, and the textures that they and COLLADA name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use geometry::{Paint, Texture};

use crate::limits::{MAX_MODEL_FILE_BYTES, MAX_TEXTURE_PIXELS, read_file};
use crate::pictures;

/// Textures of a mesh file, each read once.
pub(super) struct Textures {
    folder: PathBuf,
    known: HashMap<String, Option<Arc<Texture>>>,
    pixels_left: usize,
}

impl Textures {
    /// None yet; addresses are relative to the folder of the mesh.
    pub fn new(mesh: &Path) -> Self {
        let folder = mesh.parent().map(Path::to_path_buf).unwrap_or_default();
        Self { folder, known: HashMap::new(), pixels_left: MAX_TEXTURE_PIXELS }
    }

    /// The texture of this address; none where it cannot be shown.
    pub fn get(&mut self, address: &str) -> Option<Arc<Texture>> {
        if let Some(known) = self.known.get(address) {
            return known.clone();
        }
        let texture = self.read(address);
        self.known.insert(address.into(), texture.clone());
        texture
    }

    fn read(&mut self, address: &str) -> Option<Arc<Texture>> {
        let file = unescaped(address.strip_prefix("file://").unwrap_or(address)).replace('\\', "/");
        let name = Path::new(&file).file_stem()?.to_string_lossy().into_owned();
        let texture = pictures::read(&self.folder.join(&file)).ok()?.into_texture(name);
        self.pixels_left = self.pixels_left.checked_sub(texture.size[0] * texture.size[1])?;
        Some(Arc::new(texture))
    }
}

/// An address with its `%20` and the like as what they stand for.
fn unescaped(address: &str) -> String {
    let bytes = address.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut k = 0;
    while k < bytes.len() {
        let digits = address.get(k + 1..k + 3).filter(|_| bytes[k] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                k += 3;
            }
            None => {
                out.push(bytes[k]);
                k += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The materials of an OBJ file.
pub(super) struct Materials {
    textures: Textures,
    folder: PathBuf,
    paints: Vec<Paint>,
    index_of: HashMap<String, u32>,
}

impl Materials {
    pub fn new(mesh: &Path) -> Self {
        let folder = mesh.parent().map(Path::to_path_buf).unwrap_or_default();
        Self { textures: Textures::new(mesh), folder, paints: Vec::new(), index_of: HashMap::new() }
    }

    /// Reads the diffuse colours and textures of a library; one that cannot be read has none.
    pub fn read_library(&mut self, file: &str) {
        let Ok(bytes) = read_file(&self.folder.join(file.replace('\\', "/")), MAX_MODEL_FILE_BYTES) else { return };
        let text = String::from_utf8_lossy(&bytes);
        let mut current: Option<usize> = None;
        for line in text.lines().map(str::trim) {
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let paint = current.and_then(|at| self.paints.get_mut(at));
            match (word, paint) {
                ("newmtl", _) => {
                    current = Some(self.paints.len());
                    self.index_of.entry(rest.trim().into()).or_insert(self.paints.len() as u32);
                    self.paints.push(Paint { rgb: [0.6; 3], texture: None });
                }
                ("Kd", Some(paint)) => {
                    let numbers: Vec<f32> = rest.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
                    if let [r, g, b] = numbers[..] {
                        paint.rgb = [r, g, b].map(|c| c.clamp(0.0, 1.0));
                    }
                }
                // Options stand before the name.
                ("map_Kd", Some(paint)) => {
                    paint.texture = rest.split_ascii_whitespace().last().and_then(|file| self.textures.get(file));
                }
                _ => {}
            }
        }
    }

    /// The index of a material's paint.
    pub fn index(&self, name: &str) -> Option<u32> {
        self.index_of.get(name).copied()
    }

    pub fn finish(self) -> Vec<Paint> {
        self.paints
    }
}
