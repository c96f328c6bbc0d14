//! How large files and their parts may be.
//!
//! A file must not bring down the program that reads it. Every quantity that costs memory or time has a limit here, far
//! above what real models have; a file beyond it is refused with an error that names the limit. Together they keep what
//! a model takes within about 4 GiB.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of an MJCF, URDF or SDFormat file, of each file that it includes, and of all that it attaches.
pub const MAX_MODEL_FILE_BYTES: u64 = 128 << 20;

/// Bytes of a mesh or height-field file.
pub const MAX_ASSET_FILE_BYTES: u64 = 256 << 20;

/// XML elements of a file and of all that it includes.
pub const MAX_ELEMENTS: usize = 4_000_000;

/// XML elements inside each other. Chains of bodies are elements inside each other, so this is large.
pub const MAX_DEPTH: usize = 200_000;

/// Attributes of one XML element.
pub const MAX_ATTRIBUTES_OF_ELEMENT: usize = 256;

/// Attributes of all XML elements of a file and of all that it includes.
pub const MAX_ATTRIBUTES: usize = 8_000_000;

/// Bytes that the entities of a document type (`<!ENTITY …>`) may add to an XML file.
pub const MAX_ENTITY_BYTES: usize = 1 << 20;

/// Entities that refer to entities.
pub const MAX_ENTITY_DEPTH: usize = 10;

/// Default classes of MJCF inside each other.
pub const MAX_DEFAULT_CLASS_DEPTH: usize = 500;

/// Elements of default classes of MJCF, each in every class that inherits it.
pub const MAX_INHERITED_DEFAULTS: usize = 1_000_000;

/// Elements that the `<replicate>` and `<attach>` elements of a model copy, in all models that are attached to each other.
pub const MAX_REPLICATED_ELEMENTS: usize = 1_000_000;

/// A copy whose attributes and name are as long as this counts as two.
pub const BYTES_OF_COPY: usize = 256;

/// Numbers of all keyframes of a model: each has all coordinates, velocities and controls.
pub const MAX_KEYFRAME_NUMBERS: usize = 64_000_000;

/// Samples of all height fields of a model, pixels of their pictures included.
pub const MAX_HEIGHT_SAMPLES: usize = 25_000_000;

/// Vertices of all meshes of a model.
pub const MAX_MESH_VERTICES: usize = 10_000_000;

/// Triangles of all meshes of a model.
pub const MAX_MESH_TRIANGLES: usize = 10_000_000;

/// Pixels along each side of a picture file for a texture.
pub const MAX_PICTURE_SIDE: usize = 8192;

/// Pixels along each side of a texture, or of a side of a cube; larger pictures are halved until they fit.
pub const MAX_TEXTURE_SIDE: usize = 2048;

/// Pixels of all textures of a model; what exceeds them is not shown.
pub const MAX_TEXTURE_PIXELS: usize = 64 << 20;

/// COLLADA nodes that a scene shows and the elements in them, each as often as it is shown.
pub const MAX_COLLADA_ELEMENTS: usize = 1_000_000;

/// Numbers of a COLLADA file, each list of them as often as something refers to it.
pub const MAX_COLLADA_NUMBERS: usize = 128_000_000;

/// COLLADA nodes inside each other.
pub const MAX_COLLADA_DEPTH: usize = 100;

/// The bytes of a regular file of at most `limit` bytes.
///
/// Devices and pipes can be read without end, or block for ever: they are refused before they are opened.
pub(crate) fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if let Some(given) = crate::assets::read(path) {
        return given;
    }
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a device, pipe or socket" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a regular file")));
    }
    let too_large =
        || io::Error::new(io::ErrorKind::InvalidData, format!("it is larger than {limit} bytes, the limit"));
    if metadata.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // A file may grow while it is read, and some file systems report no length.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// What the meshes, height fields and textures of a model may still hold.
#[derive(Debug)]
pub(crate) struct Budget {
    vertices: usize,
    triangles: usize,
    samples: usize,
    pixels: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            vertices: MAX_MESH_VERTICES,
            triangles: MAX_MESH_TRIANGLES,
            samples: MAX_HEIGHT_SAMPLES,
            pixels: MAX_TEXTURE_PIXELS,
        }
    }
}

impl Budget {
    /// Counts a mesh.
    pub fn take_mesh(&mut self, vertices: usize, triangles: usize) -> Result<(), String> {
        take(&mut self.vertices, vertices, MAX_MESH_VERTICES, "vertices in the meshes")?;
        take(&mut self.triangles, triangles, MAX_MESH_TRIANGLES, "triangles in the meshes")
    }

    /// Counts a height field of rows × columns samples, before there is memory for it.
    pub fn take_samples(&mut self, rows: usize, columns: usize) -> Result<usize, String> {
        let samples = rows.saturating_mul(columns);
        take(&mut self.samples, samples, MAX_HEIGHT_SAMPLES, "samples in the height fields")?;
        Ok(samples)
    }

    /// Counts a texture.
    pub fn take_pixels(&mut self, pixels: usize) -> Result<(), String> {
        take(&mut self.pixels, pixels, MAX_TEXTURE_PIXELS, "pixels in the textures")
    }
}

fn take(left: &mut usize, count: usize, limit: usize, what: &str) -> Result<(), String> {
    *left = left.checked_sub(count).ok_or_else(|| {
        format!("{count} more {what} of the model, which has {} so far: expected at most {limit}", limit - *left)
    })?;
    Ok(())
}
