//! Texts in pictures: upright, facing the camera, over all that is there.

use std::sync::{Arc, LazyLock};

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use spatial::Vec3;

use crate::projection::Projection;

static FONT: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(dejavu::sans::regular()).expect("the font of a crate"));

/// From one line to the next, in heights of capital letters.
const LINE_SPACING: f32 = 1.6;
/// Width of the outline around letters, in heights of capital letters, its limits in pixels, and how opaque it is.
const OUTLINE_WIDTH: f32 = 0.12;
const OUTLINE_PIXELS: [f32; 2] = [1.0, 3.0];
const OUTLINE_OPACITY: f32 = 0.75;
/// Letters lower than this are not drawn, pixels.
const LEAST_HEIGHT: f64 = 1.0;

/// A text in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// What it says, in one line or in several.
    pub text: Arc<str>,
    /// Where its middle is, m.
    pub position: Vec3<f64>,
    /// Height of capital letters, m.
    pub height: f64,
    /// Red, green, blue, opacity in 0..=1.
    pub rgba: [f32; 4],
}

/// Writes labels over a picture, red, green and blue of each pixel, the nearest last. `at` has one sample a pixel.
pub(crate) fn write_labels(labels: &[Label], at: &Projection, out: &mut [u8]) {
    let mut seen: Vec<(f64, &Label)> =
        labels.iter().map(|label| (-at.point(label.position).z, label)).filter(|(depth, _)| *depth > 0.0).collect();
    seen.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (depth, label) in seen {
        let height = label.height / (depth * at.pitch[1]);
        // Letters that are higher than the picture cannot be read, and would take long.
        if height >= LEAST_HEIGHT && height <= at.size[1] as f64 {
            let middle = at.sample(at.point(label.position)).map(|x| x as f32);
            if let Some(sheet) = Sheet::of(&label.text, height as f32, middle, at.size) {
                sheet.lay_over(label.rgba, at.size[0], out);
            }
        }
    }
}

/// How much of each pixel of a part of the picture letters cover.
struct Sheet {
    /// The first column and row.
    start: [usize; 2],
    size: [usize; 2],
    /// By letters, and by letters with their outline, in 0..=1.
    covered: Vec<f32>,
    outlined: Vec<f32>,
}

impl Sheet {
    /// The part of a picture of this size that a text about `middle` covers. None outside.
    fn of(text: &str, height: f32, middle: [f32; 2], picture: [usize; 2]) -> Option<Self> {
        // Its bounds have y upwards.
        let capital = FONT.outline(FONT.glyph_id('H'))?.bounds.height().abs();
        let font = FONT.as_scaled(PxScale::from(height / capital * FONT.height_unscaled()));
        let lines: Vec<&str> = text.lines().collect();
        let width_of = |line: &str| line.chars().map(|c| font.h_advance(font.glyph_id(c))).sum::<f32>();
        let width = lines.iter().map(|line| width_of(line)).fold(0.0, f32::max);
        let spacing = LINE_SPACING * height;
        // Letters hang below the lowest line, and accents stand above the highest.
        let half = [0.5 * width + height, 0.5 * spacing * lines.len() as f32 + height];
        let mut sheet = Self::between([0, 1].map(|k| [middle[k] - half[k], middle[k] + half[k]]), picture)?;
        let mut baseline = middle[1] + 0.5 * height - 0.5 * spacing * (lines.len() as f32 - 1.0);
        for line in lines {
            let mut x = middle[0] - 0.5 * width_of(line);
            for id in line.chars().map(|c| font.glyph_id(c)) {
                sheet.write(&font, id.with_scale_and_position(font.scale(), point(x, baseline)));
                x += font.h_advance(id);
            }
            baseline += spacing;
        }
        sheet.outline((OUTLINE_WIDTH * height).clamp(OUTLINE_PIXELS[0], OUTLINE_PIXELS[1]));
        Some(sheet)
    }

    fn between(ends: [[f32; 2]; 2], picture: [usize; 2]) -> Option<Self> {
        // A float that is cast saturates.
        let range = |k: usize| {
            let (first, end) = (ends[k][0].floor() as usize, (ends[k][1].ceil().max(0.0) as usize).min(picture[k]));
            (first < end).then_some([first, end - first])
        };
        let ([left, width], [top, height]) = (range(0)?, range(1)?);
        let blank = vec![0.0; width * height];
        Some(Self { start: [left, top], size: [width, height], covered: blank.clone(), outlined: blank })
    }

    fn write(&mut self, font: &impl ScaleFont<&'static FontRef<'static>>, glyph: ab_glyph::Glyph) {
        let Some(outline) = font.outline_glyph(glyph) else { return };
        let bounds = outline.px_bounds();
        let [width, height] = self.size.map(|n| n as i64);
        let corner = [bounds.min.x as i64 - self.start[0] as i64, bounds.min.y as i64 - self.start[1] as i64];
        if corner[0] >= width || corner[0] + (bounds.width() as i64) < 0 {
            return;
        }
        outline.draw(|x, y, part| {
            let [x, y] = [corner[0] + i64::from(x), corner[1] + i64::from(y)];
            if (0..width).contains(&x) && (0..height).contains(&y) {
                let pixel = &mut self.covered[(y * width + x) as usize];
                *pixel = (*pixel + part).min(1.0);
            }
        });
    }

    /// Widens what letters cover by a disc of this radius in pixels, with a soft rim.
    fn outline(&mut self, radius: f32) {
        let reach = radius.ceil() as i64;
        let [width, height] = self.size.map(|n| n as i64);
        let mut disc = Vec::new();
        for y in -reach..=reach {
            for x in -reach..=reach {
                let part = (radius + 0.5 - libm::sqrtf((x * x + y * y) as f32)).clamp(0.0, 1.0);
                disc.push((x, y, part));
            }
        }
        disc.retain(|(.., part)| *part > 0.0);
        for (k, part) in self.covered.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            let [column, row] = [k as i64 % width, k as i64 / width];
            for (x, y, rim) in &disc {
                let [x, y] = [column + x, row + y];
                if (0..width).contains(&x) && (0..height).contains(&y) {
                    let pixel = &mut self.outlined[(y * width + x) as usize];
                    *pixel = pixel.max(part * rim);
                }
            }
        }
    }

    /// Lays letters over a picture, and below them an outline: dark around light colours, light around dark ones.
    fn lay_over(&self, [red, green, blue, opacity]: [f32; 4], columns: usize, out: &mut [u8]) {
        let is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
        let around = if is_light { 0.0 } else { 1.0 };
        for (k, (covered, outlined)) in self.covered.iter().zip(&self.outlined).enumerate() {
            let pixel = (self.start[1] + k / self.size[0]) * columns + self.start[0] + k % self.size[0];
            for (value, colour) in out[3 * pixel..][..3].iter_mut().zip([red, green, blue]) {
                let under = f32::from(*value) / 255.0;
                let under = under + (around - under) * (OUTLINE_OPACITY * opacity * outlined);
                *value = ((under + (colour - under) * (opacity * covered)) * 255.0 + 0.5) as u8;
            }
        }
    }
}
