//! Pictures from PNG and JPEG files, for textures.

use std::io::Cursor;
use std::path::Path;

use geometry::{Texture, TextureKind};

use crate::limits::{MAX_ASSET_FILE_BYTES, MAX_PICTURE_SIDE, MAX_TEXTURE_SIDE, read_file};

/// Red, green and blue of every pixel, row by row from the top.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub size: [usize; 2],
    pub pixels: Vec<u8>,
}

/// Reads a picture; what is not opaque is laid on white.
pub(crate) fn read(path: &Path) -> Result<Picture, String> {
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES)
        .map_err(|error| format!("{} cannot be read ({error}): expected a picture", path.display()))?;
    let picture = match bytes.get(..3) {
        Some([0xff, 0xd8, 0xff]) => jpeg(&bytes),
        _ => png(&bytes),
    };
    picture.map_err(|what| format!("{}: {what}", path.display()))
}

/// Both sides within the limit, before there is memory for the pixels.
fn within_limits(size: [usize; 2]) -> Result<(), String> {
    let [width, height] = size;
    if size.iter().all(|n| (1..=MAX_PICTURE_SIDE).contains(n)) {
        return Ok(());
    }
    Err(format!("{width} × {height} pixels: expected at most {MAX_PICTURE_SIDE} along each side"))
}

fn png(bytes: &[u8]) -> Result<Picture, String> {
    let limits = png::Limits { bytes: 8 * MAX_PICTURE_SIDE * MAX_PICTURE_SIDE };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let fail = |error: png::DecodingError| format!("{error}: expected a PNG or JPEG picture");
    let header = decoder.read_header_info().map_err(fail)?;
    let size = [header.width as usize, header.height as usize];
    within_limits(size)?;
    let mut reader = decoder.read_info().map_err(fail)?;
    let length = reader.output_buffer_size().ok_or("too large: expected a PNG picture that fits in memory")?;
    let mut buffer = vec![0; length];
    let info = reader.next_frame(&mut buffer).map_err(fail)?;
    let on_white = |c: u8, alpha: u8| 255 - (u32::from(255 - c) * u32::from(alpha) / 255) as u8;
    let pixels = buffer[..info.buffer_size()].chunks_exact(info.color_type.samples());
    let pixels = pixels.flat_map(|pixel| match *pixel {
        [g] => [g; 3],
        [g, a] => [on_white(g, a); 3],
        [r, g, b] => [r, g, b],
        [r, g, b, a] => [r, g, b].map(|c| on_white(c, a)),
        _ => [0; 3],
    });
    whole(Picture { size, pixels: pixels.collect() })
}

fn jpeg(bytes: &[u8]) -> Result<Picture, String> {
    use zune_jpeg::JpegDecoder;
    use zune_jpeg::zune_core::bytestream::ZCursor;
    use zune_jpeg::zune_core::colorspace::ColorSpace;
    use zune_jpeg::zune_core::options::DecoderOptions;
    let options = DecoderOptions::default()
        .set_max_width(MAX_PICTURE_SIDE)
        .set_max_height(MAX_PICTURE_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let fail = |error| format!("{error:?}: expected a PNG or JPEG picture");
    let pixels = decoder.decode().map_err(fail)?;
    let (width, height) = decoder.dimensions().ok_or("no size: expected a JPEG picture")?;
    within_limits([width, height])?;
    whole(Picture { size: [width, height], pixels })
}

/// A picture that breaks off has fewer pixels than it says.
fn whole(picture: Picture) -> Result<Picture, String> {
    let Picture { size: [width, height], pixels } = &picture;
    if pixels.len() == 3 * width * height {
        Ok(picture)
    } else {
        Err("it breaks off: expected all of its pixels".into())
    }
}

impl Picture {
    /// As a texture within [`MAX_TEXTURE_SIDE`].
    pub fn into_texture(self, name: String) -> Texture {
        let mut texture = Texture { name, kind: TextureKind::Flat, size: self.size, pixels: self.pixels };
        while texture.side() > MAX_TEXTURE_SIDE {
            texture = texture.halved();
        }
        texture
    }

    /// The rectangle of this size whose first corner is here.
    pub fn part(&self, [x, y]: [usize; 2], [width, height]: [usize; 2]) -> impl Iterator<Item = u8> + '_ {
        let rows = self.pixels.chunks_exact(3 * self.size[0]).skip(y).take(height);
        rows.flat_map(move |row| &row[3 * x..3 * (x + width)]).copied()
    }

    /// Mirrors it left to right, or upside down.
    pub fn flip(&mut self, horizontally: bool, vertically: bool) {
        let row = 3 * self.size[0];
        if horizontally {
            self.pixels.chunks_exact_mut(row).for_each(|row| row.as_chunks_mut::<3>().0.reverse());
        }
        if vertically {
            self.pixels = self.pixels.chunks_exact(row).rev().flatten().copied().collect();
        }
    }
}
