//! Colours from textures, as means over what a pixel sees of them.

use std::sync::Arc;

use geometry::{Texture, TextureKind};
use spatial::Vec3;

use crate::colour::{Colour, mix};

type V = Vec3<f32>;

/// Most samples along the longer side of what a pixel sees.
const MAX_SAMPLES: f32 = 8.0;

/// What the sides of a cube face along, and what is to the right and down in them: the axes of OpenGL's cube maps.
const SIDES: [[[f32; 3]; 3]; 6] = [
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]],
    [[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
];

/// A texture at its size and at half, a quarter, … of it.
#[derive(Debug)]
pub(crate) struct Mips {
    levels: Vec<Arc<Texture>>,
}

impl Mips {
    pub fn new(texture: &Arc<Texture>) -> Self {
        let mut levels = vec![texture.clone()];
        while let Some(last) = levels.last().filter(|last| last.side() > 1) {
            let next = Arc::new(last.halved());
            levels.push(next);
        }
        Self { levels }
    }

    /// The mean over a parallelogram about a place, which repeats; its sides are what changes from pixel to pixel.
    pub fn flat(&self, at: [f32; 2], sides: [[f32; 2]; 2]) -> Colour {
        self.mean(at, sides, |texture, [u, v]| bilinear(texture, 0, u - u.floor(), v - v.floor(), true))
    }

    /// The mean over what a pixel sees of a cube in a direction; in its neighbours the directions are others.
    pub fn cube(&self, direction: V, neighbours: [V; 2]) -> Colour {
        let side = side_of(direction);
        let at = place(side, direction);
        let sides = neighbours.map(|direction| {
            let there = place(side, direction);
            [there[0] - at[0], there[1] - at[1]]
        });
        self.mean(at, sides, |texture, [s, t]| bilinear(texture, side, s.clamp(0.0, 1.0), t.clamp(0.0, 1.0), false))
    }

    fn mean(&self, at: [f32; 2], sides: [[f32; 2]; 2], sample: impl Fn(&Texture, [f32; 2]) -> Colour) -> Colour {
        let [width, height] = self.size().map(|n| n as f32);
        let length = |side: [f32; 2]| (side[0] * width).hypot(side[1] * height);
        let [a, b] = sides.map(length);
        let (long, most, least) = if a > b { (sides[0], a, b) } else { (sides[1], b, a) };
        if !most.is_finite() {
            return sample(&self.levels[self.levels.len() - 1], at);
        }
        let count = (most / least.max(1e-3)).ceil().clamp(1.0, MAX_SAMPLES);
        let level = (most / count).max(least).max(1.0).log2().min((self.levels.len() - 1) as f32);
        let (fine, share) = (level as usize, level.fract());
        let coarse = (fine + 1).min(self.levels.len() - 1);
        let mut sum = [0.0; 3];
        for k in 0..count as usize {
            let along = (k as f32 + 0.5) / count - 0.5;
            let place = [at[0] + along * long[0], at[1] + along * long[1]];
            let mut colour = sample(&self.levels[fine], place);
            if share > 0.0 {
                colour = mix(colour, sample(&self.levels[coarse], place), share);
            }
            sum = std::array::from_fn(|c| sum[c] + colour[c] / count);
        }
        sum
    }

    /// Pixels, of a cube those of one side.
    fn size(&self) -> [usize; 2] {
        let texture = &self.levels[0];
        if texture.kind == TextureKind::Cube { [texture.size[0]; 2] } else { texture.size }
    }
}

/// The side of a cube that a direction meets.
fn side_of(d: V) -> usize {
    let (x, y, z) = (d.x.abs(), d.y.abs(), d.z.abs());
    if x >= y && x >= z {
        usize::from(d.x < 0.0)
    } else if y >= z {
        2 + usize::from(d.y < 0.0)
    } else {
        4 + usize::from(d.z < 0.0)
    }
}

/// Where a direction meets the plane of a side, in 0..=1 within the side.
fn place(side: usize, d: V) -> [f32; 2] {
    let [ahead, right, down] = SIDES[side].map(|axis| V::from(axis).dot(d));
    let scale = 0.5 / ahead.max(1e-6);
    [0.5 + scale * right, 0.5 + scale * down]
}

/// Between the four pixels around a place of a square or a picture, whose first row is at v = 0; at the border either the first pixels
/// follow the last, or there is nothing beyond them.
fn bilinear(texture: &Texture, side: usize, u: f32, v: f32, repeats: bool) -> Colour {
    let width = texture.size[0];
    let height = if texture.kind == TextureKind::Cube { width } else { texture.size[1] };
    let around = |x: f32, n: usize| {
        let x = x * n as f32 - 0.5;
        let low = x.floor();
        let index = |k: f32| {
            let k = if repeats { k.rem_euclid(n as f32) } else { k };
            (k.max(0.0) as usize).min(n - 1)
        };
        ([index(low), index(low + 1.0)], x - low)
    };
    let ((columns, s), (rows, t)) = (around(u, width), around(v, height));
    let pixel = |row: usize, column: usize| {
        let at = 3 * ((side * height + row) * width + column);
        [0, 1, 2].map(|c| f32::from(texture.pixels[at + c]) * (1.0 / 255.0))
    };
    let row = |row: usize| mix(pixel(row, columns[0]), pixel(row, columns[1]), s);
    mix(row(rows[0]), row(rows[1]), t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(kind: TextureKind, size: [usize; 2], pixel: impl Fn(usize) -> u8) -> Mips {
        let pixels = (0..size[0] * size[1]).flat_map(|k| [pixel(k); 3]).collect();
        Mips::new(&Arc::new(Texture { name: String::new(), kind, size, pixels }))
    }

    #[test]
    fn a_pixel_that_sees_much_sees_the_mean() {
        // A checkerboard of single pixels: its mean is a half, wherever one looks and however askew.
        let board = texture(TextureKind::Flat, [64, 64], |k| if (k / 64 + k % 64) % 2 == 0 { 255 } else { 0 });
        for sides in [[[0.3, 0.0], [0.0, 0.3]], [[2.0, 0.1], [0.0, 0.2]], [[0.1, 0.1], [-0.2, 0.3]]] {
            for at in [[0.1, 0.2], [-3.7, 11.3]] {
                assert!((board.flat(at, sides)[0] - 0.5).abs() < 0.01, "{sides:?}");
            }
        }
        // Close up its pixels are apart, and the first row is at v = 0.
        let tiny = [[1e-4, 0.0], [0.0, 1e-4]];
        assert!(board.flat([0.5 / 64.0, 0.5 / 64.0], tiny)[0] > 0.99);
        assert!(board.flat([1.5 / 64.0, 0.5 / 64.0], tiny)[0] < 0.01);
    }

    #[test]
    fn sides_of_a_cube_are_where_opengl_has_them() {
        let cube = texture(TextureKind::Cube, [4, 24], |k| (40 * (k / 16)) as u8);
        let axes =
            [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
        for (side, axis) in axes.into_iter().enumerate() {
            let d = V::from(axis);
            let grey = cube.cube(d, [d; 2])[0];
            assert!((grey - 40.0 * side as f32 / 255.0).abs() < 1e-6, "{side}");
        }
    }
}
