//! `<hfield>`: heights from the text, a picture, or MuJoCo's binary format.

use std::io::Cursor;
use std::path::Path;

use geometry::HeightField;

use super::asset_files::Files;
use crate::limits::{Budget, MAX_ASSET_FILE_BYTES, MAX_HEIGHT_SAMPLES, read_file};
use crate::xml::Element;
use crate::{LoadError, nearby};

/// Rows, columns, and samples row by row from −y.
struct Samples {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

/// Reads an `<hfield>` of the assets.
///
/// Samples are scaled to 0..=1 by their least and greatest, then by the third size. `size` is (half extent along x,
/// half extent along y, height, thickness below).
pub(super) fn read(
    element: Element<'_>,
    name: &str,
    files: Files<'_>,
    budget: &mut Budget,
) -> Result<HeightField, LoadError> {
    let size = element.array::<4>("size")?;
    let [x, y, height, base] = size.ok_or_else(|| element.error("no attribute `size`: expected four numbers"))?;
    if !(x > 0.0 && y > 0.0 && height > 0.0 && base > 0.0) {
        return Err(element.error(format!("size=\"{x} {y} {height} {base}\": expected four numbers above 0")));
    }
    element.skip(&["content_type"]);
    let samples = match element.attribute("file").filter(|file| !file.is_empty()) {
        Some(file) => from_file(element, &files.path(element, file)?, budget)?,
        None => inline(element, budget)?,
    };
    let least = samples.data.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.data.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = if most > least { height / (most - least) } else { 0.0 };
    let heights = samples.data.iter().map(|h| (h - least) * scale).collect();
    HeightField::new(name, [samples.rows, samples.columns], [x, y], heights, base)
        .map_err(|error| element.error(error.to_string()))
}

/// `elevation`, whose first row is the one at +y as on a map; all zero when it is missing.
fn inline(element: Element<'_>, budget: &mut Budget) -> Result<Samples, LoadError> {
    let count = |name: &str| {
        let text = element.required(name)?;
        let valid = text.trim().parse::<usize>().ok().filter(|&n| n >= 2);
        valid.ok_or_else(|| element.error(format!("{name}=\"{text}\": expected an integer above 1")))
    };
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    let expected = budget.take_samples(rows, columns).map_err(|message| element.error(message))?;
    let Some(elevation) = element.numbers("elevation")? else {
        return Ok(Samples { rows, columns, data: vec![0.0; expected] });
    };
    if elevation.len() != expected {
        let message = format!("elevation: {} numbers: expected nrow × ncol = {expected}", elevation.len());
        return Err(element.error(message));
    }
    Ok(Samples { rows, columns, data: flipped(&elevation, columns) })
}

fn flipped(data: &[f64], columns: usize) -> Vec<f64> {
    data.chunks_exact(columns).rev().flatten().copied().collect()
}

fn from_file(element: Element<'_>, path: &Path, budget: &mut Budget) -> Result<Samples, LoadError> {
    element.skip(&["nrow", "ncol", "elevation"]);
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES);
    let bytes = bytes.map_err(|error| {
        let (path, hint) = (path.display(), nearby::hint(path));
        element.error(format!("{path} cannot be read ({error}): expected a file{hint}"))
    })?;
    let picture = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    let samples = if picture { from_png(&bytes, budget) } else { from_binary(&bytes, budget) };
    samples.map_err(|message| element.error(format!("{}: {message}", path.display())))
}

/// The brightness of a picture; its first row is the one at +y.
fn from_png(bytes: &[u8], budget: &mut Budget) -> Result<Samples, String> {
    // What decoding itself may take: 16-bit colours with opacity have 8 bytes a pixel.
    let limits = png::Limits { bytes: 8 * MAX_HEIGHT_SAMPLES };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let fail = |error: png::DecodingError| format!("{error}: expected a PNG picture");
    // The header alone decides, before there is memory for the pixels.
    let header = decoder.read_header_info().map_err(fail)?;
    budget.take_samples(header.height as usize, header.width as usize)?;
    let mut reader = decoder.read_info().map_err(fail)?;
    let size = reader.output_buffer_size().ok_or("too large: expected a PNG picture that fits in memory")?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(fail)?;
    let (rows, columns, channels) = (info.height as usize, info.width as usize, info.color_type.samples());
    let pixels = buffer[..info.buffer_size()].chunks_exact(channels);
    // Grey pictures have one channel; of coloured ones the first is taken.
    let data: Vec<f64> = pixels.map(|pixel| f64::from(pixel[0])).collect();
    Ok(Samples { rows, columns, data: flipped(&data, columns) })
}

/// MuJoCo's format: rows and columns as 32-bit integers, then samples as 32-bit floats, little-endian, from −y.
fn from_binary(bytes: &[u8], budget: &mut Budget) -> Result<Samples, String> {
    let word = |i: usize| bytes.get(4 * i..4 * i + 4).map(|b| [b[0], b[1], b[2], b[3]]);
    let count = |i: usize| word(i).map(i32::from_le_bytes).and_then(|n| usize::try_from(n).ok());
    let (Some(rows), Some(columns)) = (count(0), count(1)) else {
        return Err("no size: expected rows and columns as 32-bit integers".into());
    };
    let expected = rows.checked_mul(columns).and_then(|n| n.checked_mul(4)?.checked_add(8));
    if expected != Some(bytes.len()) {
        return Err(format!("{} bytes: expected 8 + 4 × {rows} × {columns}", bytes.len()));
    }
    budget.take_samples(rows, columns)?;
    let data = (2..2 + rows * columns).filter_map(word).map(|b| f64::from(f32::from_le_bytes(b))).collect();
    Ok(Samples { rows, columns, data })
}
