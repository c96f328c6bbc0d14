//! `<texture>`: pictures from files, and those that MuJoCo makes itself, the same bytes.

use geometry::{Texture, TextureKind};
use spatial::Vec3;

use super::asset_files::{Files, asset_name};
use crate::limits::{Budget, MAX_TEXTURE_SIDE};
use crate::pictures::{self, Picture};
use crate::xml::Element;

/// A texture, and whether it is that of the sky.
pub(super) struct TextureAsset {
    pub texture: Texture,
    pub is_sky: bool,
}

/// The sides of a cube in the order in which they are kept: +x, −x, +y, −y, +z, −z.
const SIDES: [(char, &str); 6] =
    [('R', "fileright"), ('L', "fileleft"), ('U', "fileup"), ('D', "filedown"), ('F', "filefront"), ('B', "fileback")];

type Rgb = [f64; 3];

/// Reads a `<texture>`. Errors say why it cannot be shown.
pub(super) fn read(element: Element<'_>, files: Files<'_>, budget: &mut Budget) -> Result<TextureAsset, String> {
    element.skip_all();
    let (kind, is_sky) = match element.attribute("type").unwrap_or("cube") {
        "2d" => (TextureKind::Flat, false),
        "cube" => (TextureKind::Cube, false),
        "skybox" => (TextureKind::Cube, true),
        other => return Err(format!("type=\"{other}\": expected 2d, cube or skybox")),
    };
    // Nothing refers to that of the sky.
    let name = if is_sky {
        element.attribute("name").unwrap_or_default().into()
    } else {
        asset_name(element).unwrap_or_default()
    };
    let given = |name: &str| element.attribute(name).filter(|value| !value.is_empty());
    let builtin = given("builtin").filter(|&builtin| builtin != "none");
    if let Some(builtin) = builtin {
        let size = made_size(element, kind)?;
        // Not drawn first: that takes time for every one of those that nobody sees.
        budget.take_pixels(size[0] * size[1])?;
        let pixels = made(element, builtin, kind, size)?;
        return Ok(TextureAsset { texture: Texture { name, kind, size, pixels }, is_sky });
    }
    let (size, pixels) = match given("file") {
        Some(file) if kind == TextureKind::Flat => {
            let Picture { size, pixels } = picture(element, file, files)?;
            (size, pixels)
        }
        Some(file) => grid(element, picture(element, file, files)?)?,
        None if kind == TextureKind::Cube => separate(element, files)?,
        None => return Err("expected an attribute `file` or `builtin`".into()),
    };
    let mut texture = Texture { name, kind, size, pixels };
    while texture.side() > MAX_TEXTURE_SIDE {
        texture = texture.halved();
    }
    budget.take_pixels(texture.size[0] * texture.size[1])?;
    Ok(TextureAsset { texture, is_sky })
}

fn picture(element: Element<'_>, file: &str, files: Files<'_>) -> Result<Picture, String> {
    let path = files.texture(element, file).map_err(|error| error.message().to_owned())?;
    let mut picture = pictures::read(&path)?;
    let flag = |name: &str| element.attribute(name) == Some("true");
    picture.flip(flag("hflip"), flag("vflip"));
    Ok(picture)
}

/// The attribute with three numbers, or these.
fn colour(element: Element<'_>, name: &str, otherwise: Rgb) -> Result<Rgb, String> {
    Ok(element.array::<3>(name).map_err(|error| error.message().to_owned())?.unwrap_or(otherwise))
}

fn bytes_of(colour: Rgb) -> [u8; 3] {
    // A cast cuts off and saturates.
    colour.map(|c| (255.0 * c) as u8)
}

/// A cube from one square for all sides, or from a grid of squares.
fn grid(element: Element<'_>, picture: Picture) -> Result<([usize; 2], Vec<u8>), String> {
    let [rows, columns] = element.array::<2>("gridsize").map_err(|e| e.message().to_owned())?.unwrap_or([1.0; 2]);
    let [rows, columns] = [rows as usize, columns as usize];
    if rows == 0 || columns == 0 || rows.saturating_mul(columns) > 12 {
        return Err(format!("gridsize=\"{rows} {columns}\": expected at most 12 squares"));
    }
    let [width, height] = picture.size;
    let side = width / columns;
    if side * columns != width || side * rows != height {
        return Err(format!("{width} × {height} pixels: expected {columns} × {rows} squares"));
    }
    let square = |k: usize| picture.part([k % columns * side, k / columns * side], [side; 2]).collect::<Vec<_>>();
    if rows * columns == 1 {
        return Ok(cube([(); 6].map(|()| Some(square(0))), side, [0; 3]));
    }
    let mut sides = [const { None }; 6];
    for (k, letter) in element.attribute("gridlayout").unwrap_or_default().chars().take(rows * columns).enumerate() {
        if let Some(at) = SIDES.iter().position(|(symbol, _)| *symbol == letter) {
            sides[at] = Some(square(k));
        }
    }
    Ok(cube(sides, side, bytes_of(colour(element, "rgb1", [0.8; 3])?)))
}

/// A cube from a file for each side.
fn separate(element: Element<'_>, files: Files<'_>) -> Result<([usize; 2], Vec<u8>), String> {
    let (mut sides, mut side) = ([const { None }; 6], None);
    for (at, (_, attribute)) in SIDES.iter().enumerate() {
        let Some(file) = element.attribute(attribute) else { continue };
        let Picture { size: [width, height], pixels } = picture(element, file, files)?;
        if width != height || *side.get_or_insert(width) != width {
            return Err(format!("{attribute}: {width} × {height} pixels: expected squares of one size"));
        }
        sides[at] = Some(pixels);
    }
    let side = side.ok_or("expected an attribute `file`, `builtin`, or a file for each side")?;
    Ok(cube(sides, side, bytes_of(colour(element, "rgb1", [0.8; 3])?)))
}

/// Six squares below each other; those that are missing have one colour.
fn cube(sides: [Option<Vec<u8>>; 6], side: usize, missing: [u8; 3]) -> ([usize; 2], Vec<u8>) {
    let squares = sides.into_iter().map(|square| square.unwrap_or_else(|| missing.repeat(side * side)));
    ([side, 6 * side], squares.flatten().collect())
}

/// Width and height of a picture that MuJoCo makes, the sides of a cube below each other.
fn made_size(element: Element<'_>, kind: TextureKind) -> Result<[usize; 2], String> {
    let integer = |name: &str| {
        let text = element.attribute(name).unwrap_or("0").trim();
        let valid = text.parse::<usize>().ok().filter(|n| (1..=MAX_TEXTURE_SIDE).contains(n));
        valid.ok_or_else(|| format!("{name}=\"{text}\": expected 1 to {MAX_TEXTURE_SIDE} pixels"))
    };
    let width = integer("width")?;
    let height = if kind == TextureKind::Flat { integer("height")? } else { width * SIDES.len() };
    Ok([width, height])
}

/// A picture of this size that MuJoCo makes.
fn made(element: Element<'_>, builtin: &str, kind: TextureKind, [width, rows]: [usize; 2]) -> Result<Vec<u8>, String> {
    let sides = if kind == TextureKind::Flat { 1 } else { SIDES.len() };
    let height = rows / sides;
    let (rgb1, rgb2) = (colour(element, "rgb1", [0.8; 3])?, colour(element, "rgb2", [0.5; 3])?);
    let mark_colour = bytes_of(colour(element, "markrgb", [0.0; 3])?);
    let (one, two) = (bytes_of(rgb1), bytes_of(rgb2));
    let middle = [width / 2, height / 2];
    if !["gradient", "checker", "flat"].contains(&builtin) {
        return Err(format!("builtin=\"{builtin}\": expected gradient, checker or flat"));
    }
    let (is_gradient, is_checker) = (builtin == "gradient", builtin == "checker");
    let pixel = |side: usize, row: usize, column: usize| match () {
        () if is_gradient => gradient(kind, side, centred(column, width), -centred(row, height), rgb1, rgb2),
        // The front and the back of a cube begin with the other colour.
        () if is_checker => match ((row < middle[1]) == (column < middle[0])) == (side < 4) {
            true => one,
            false => two,
        },
        () if side == 3 => two,
        () => one,
    };
    let mark = element.attribute("mark").unwrap_or("none");
    let (is_edged, is_crossed) = (mark == "edge", mark == "cross");
    let marked = |row: usize, column: usize| {
        is_edged && (row == 0 || column == 0 || row == height - 1 || column == width - 1)
            || is_crossed && (column == middle[0] || row == middle[1])
    };
    let mut pixels = Vec::with_capacity(3 * width * height * sides);
    for side in 0..sides {
        // The four sides of a gradient around the horizon are alike, and skies are large: most of the time that a file with one takes to load.
        if is_gradient && [1, 4, 5].contains(&side) {
            pixels.extend_from_within(..3 * width * height);
            continue;
        }
        for row in 0..height {
            for column in 0..width {
                pixels.extend(if marked(row, column) { mark_colour } else { pixel(side, row, column) });
            }
        }
    }
    if mark == "random" {
        let share = element.number("random").map_err(|e| e.message().to_owned())?.unwrap_or(0.01);
        dots(&mut pixels, mark_colour, share);
    }
    Ok(pixels)
}

/// From −1 to 1 over a row of pixels.
fn centred(k: usize, n: usize) -> f64 {
    2.0 * k as f64 / (n as f64 - 1.0) - 1.0
}

fn gradient(kind: TextureKind, side: usize, x: f64, y: f64, rgb1: Rgb, rgb2: Rgb) -> [u8; 3] {
    if kind == TextureKind::Flat {
        return blend(rgb2, rgb1, 2.0 * (x * x + y * y).sqrt() - 1.0);
    }
    let half_turn = 0.5 * std::f64::consts::PI;
    let length = (1.0 + x * x + y * y).sqrt();
    let up = || 1.0 - libm::acos(1.0 / length) / half_turn;
    match side {
        2 => blend(rgb1, rgb2, up()),
        3 => blend(rgb1, rgb2, -up()),
        _ => blend(rgb1, rgb2, libm::asin(y / length) / half_turn),
    }
}

/// From the second colour at −1 to the first at 1.
fn blend(rgb1: Rgb, rgb2: Rgb, at: f64) -> [u8; 3] {
    let correction = 1.0 / 2f64.sqrt();
    let alpha = (0.5 * (1.0 + at / (1.0 + at * at).sqrt() / correction)).clamp(0.0, 1.0);
    let mixed = Vec3::from(rgb1) * alpha + Vec3::from(rgb2) * (1.0 - alpha);
    bytes_of(mixed.to_array())
}

/// Sets every pixel with this probability, by the generator and the seed of MuJoCo: a 64-bit Mersenne twister.
fn dots(pixels: &mut [u8], colour: [u8; 3], probability: f64) {
    const N: usize = 312;
    const M: usize = 156;
    let mut state = [0u64; N];
    state[0] = 42;
    for k in 1..N {
        let last = state[k - 1];
        state[k] = 6_364_136_223_846_793_005u64.wrapping_mul(last ^ (last >> 62)).wrapping_add(k as u64);
    }
    let mut at = N;
    for pixel in pixels.as_chunks_mut::<3>().0 {
        if at == N {
            for k in 0..N {
                let x = (state[k] & (u64::MAX << 31)) | (state[(k + 1) % N] & !(u64::MAX << 31));
                let odd = if x & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                state[k] = state[(k + M) % N] ^ (x >> 1) ^ odd;
            }
            at = 0;
        }
        let mut x = state[at];
        at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^= x >> 43;
        if x as f64 / 18_446_744_073_709_551_616.0 < probability {
            *pixel = colour;
        }
    }
}
