//! Piles, towers and stacks of loose bodies.

use super::Solid;
use super::random::Random;
use super::text::{Document, Number, numbers};

/// Half the width of a loose body in a pile, m.
const HALF: f64 = 0.05;
/// Half the width of a cube of a tower, m.
const TOWER_HALF: f64 = 0.1;
/// Half the thickness of a wall, m.
const WALL: f64 = 0.05;
/// Most that a body of a pile is away from its place in the grid, m.
const JITTER: f64 = 0.007;

impl Solid {
    /// Distance of the places in the grid, m: bodies do not overlap however they are turned.
    fn pitch(self) -> f64 {
        match self {
            // The diagonal of a cube of 0.1 m is 0.1733 m.
            Self::Box => 0.19,
            Self::Sphere => 0.13,
        }
    }

    fn shape(self) -> String {
        match self {
            Self::Box => cube(HALF, 1.0),
            Self::Sphere => format!(r#"type="sphere" size="{HALF}" mass="1""#),
        }
    }
}

fn cube(half: f64, mass: f64) -> String {
    format!(r#"type="box" size="{half} {half} {half}" mass="{}""#, Number(mass))
}

/// Bodies in a grid of as many layers as bodies in a row, above a bin as wide as the grid.
pub fn clutter(name: String, solid: Solid, count: usize) -> String {
    clutter_document(name, solid, count).finish()
}

/// The same, to be added to.
pub fn clutter_document(name: String, solid: Solid, count: usize) -> Document {
    let mut document = Document::new(name, 0.5);
    document.ground();
    let side = (1..).find(|n| n * n * n >= count).unwrap_or(1);
    let pitch = solid.pitch();
    let inner = side as f64 * pitch / 2.0 + 0.01;
    walls(&mut document, inner, (side as f64 + 1.0) * pitch / 2.0);
    let mut random = Random::new();
    for i in 0..count {
        let place = [i % side, i / side % side, i / (side * side)].map(|k| k as f64 * pitch);
        let corner = -0.5 * (side as f64 - 1.0) * pitch;
        let [dx, dy, dz] = random.vector().map(|x| JITTER * x);
        let pos = [corner + place[0] + dx, corner + place[1] + dy, 0.12 + place[2] + dz];
        let quat = (solid == Solid::Box).then(|| random.rotation());
        document.free(&format!("body{i}"), pos, quat, &solid.shape());
    }
    document
}

/// Four walls around a square of half-width `inner`, m.
fn walls(document: &mut Document, inner: f64, half_height: f64) {
    let (middle, long) = (inner + WALL, inner + 2.0 * WALL);
    for (name, axis, sign) in [("east", 0, 1.0), ("west", 0, -1.0), ("north", 1, 1.0), ("south", 1, -1.0)] {
        let (mut pos, mut size) = ([0.0, 0.0, half_height], [long, long, half_height]);
        pos[axis] = sign * middle;
        size[axis] = WALL;
        let (pos, size) = (numbers(&pos), numbers(&size));
        document
            .world
            .push(format!(r#"<geom name="{name}" type="box" size="{size}" pos="{pos}" rgba="0.85 0.87 0.9 0.3"/>"#));
    }
}

/// Towers in a square, far enough from each other to fall without meeting if they are low.
pub fn stacks(name: String, count: usize, height: usize) -> String {
    let mut document = Document::new(name, 1.0);
    document.ground();
    let side = (1..).find(|n| n * n >= count).unwrap_or(1);
    let pitch = 6.0 * TOWER_HALF;
    let corner = -0.5 * (side as f64 - 1.0) * pitch;
    for i in 0..count {
        let [x, y] = [i % side, i / side].map(|k| corner + k as f64 * pitch);
        for level in 0..height {
            let z = TOWER_HALF * (2 * level + 1) as f64;
            let name = if count == 1 { format!("box{level}") } else { format!("box{i}_{level}") };
            document.free(&name, [x, y, z], None, &cube(TOWER_HALF, 1.0));
        }
    }
    document.finish()
}

/// A cube of `ratio` kg upon one of 1 kg.
pub fn mass_ratio(name: String, ratio: f64) -> String {
    let mut document = Document::new(name, 0.5);
    document.ground();
    document.free("light", [0.0, 0.0, HALF], None, &cube(HALF, 1.0));
    document.free("heavy", [0.0, 0.0, 3.0 * HALF], None, &cube(HALF, ratio));
    document.finish()
}
