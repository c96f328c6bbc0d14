//! Snakes: a head and a tapered body of capsules.

use std::f64::consts::PI;

use super::figure::{
    Body, Colour, Figure, Geom, Joint, Keyframe, Point, capsule, ellipsoid, mark, solid, sphere, spheroid,
};

/// Density of a body, kg/m³.
const DENSITY: f64 = 1050.0;
const TONGUE: Colour = [0.80, 0.12, 0.20];

/// What tells one snake from another.
pub struct Kind {
    /// Number of ball joints.
    joints: usize,
    /// From the neck to the tip of the tail, m.
    length: f64,
    /// Where it is thickest, m.
    radius: f64,
    head: Colour,
    eyes: Colour,
    /// Colours of the segments in turn.
    bands: &'static [Colour],
    /// Waves of the keyframe along the body.
    waves: f64,
}

const BLACK: Colour = [0.13, 0.12, 0.13];
const RED: Colour = [0.80, 0.22, 0.16];
const YELLOW: Colour = [0.95, 0.80, 0.36];

/// 1.2 m: banded like a coral snake.
pub const SMALL: Kind = Kind {
    joints: 10,
    length: 1.14,
    radius: 0.030,
    head: BLACK,
    eyes: YELLOW,
    bands: &[YELLOW, RED, BLACK, RED],
    waves: 1.25,
};

const GREEN: Colour = [0.33, 0.58, 0.24];
const LIME: Colour = [0.66, 0.76, 0.30];

/// 2.3 m: a green snake.
pub const MIDDLE: Kind =
    Kind { joints: 22, length: 2.2, radius: 0.040, head: GREEN, eyes: BLACK, bands: &[LIME, GREEN], waves: 1.75 };

const BROWN: Colour = [0.37, 0.25, 0.15];
const TAN: Colour = [0.78, 0.63, 0.41];
const OCHRE: Colour = [0.64, 0.45, 0.24];

/// 4.5 m: a python.
pub const LARGE: Kind = Kind {
    joints: 63,
    length: 4.35,
    radius: 0.062,
    head: OCHRE,
    eyes: BLACK,
    bands: &[TAN, BROWN, BROWN, TAN, OCHRE],
    waves: 2.5,
};

/// The radius at a fraction of the length: a neck, the thickest part before the middle, a tail.
fn radius(kind: &Kind, along: f64) -> f64 {
    let rise = (along / 0.3).min(1.0);
    let fall = ((along - 0.4) / 0.6).max(0.0);
    kind.radius * (0.62 + 0.38 * rise * (2.0 - rise)) * (1.0 - 0.82 * fall * fall)
}

/// The snake.
pub fn figure(name: &'static str, kind: &Kind) -> Figure {
    let mut figure = Figure::new(name, 0.6);
    let segment = kind.length / kind.joints as f64;
    // The middle of the body is above the origin.
    let front = kind.length / 2.0;
    let neck_radius = radius(kind, 0.0);
    let head = [front, 0.0, neck_radius];
    let mass = DENSITY * PI * neck_radius * neck_radius * 4.0 * neck_radius;
    figure.add(Body {
        name: "root".into(),
        parent: None,
        joint: Joint::Free,
        at: head,
        mass,
        geoms: self::head(head, neck_radius, kind),
    });
    for i in 0..kind.joints {
        let radius = radius(kind, (i as f64 + 0.5) / kind.joints as f64);
        let at = [front - i as f64 * segment, 0.0, radius];
        let band = kind.bands[i % kind.bands.len()];
        figure.add(Body {
            name: format!("spine_{}", i + 1),
            parent: Some(i),
            joint: Joint::Ball,
            at,
            mass: DENSITY * PI * radius * radius * segment,
            geoms: vec![solid(band, capsule(at, [at[0] - segment, 0.0, radius], radius))],
        });
    }
    // Segments shorter than they are thick overlap those beyond their neighbours; more so in a bend.
    let near = (3.0 * kind.radius / segment).ceil() as usize + 1;
    for i in 0..figure.bodies.len() {
        figure.touching.extend((i + 2..=i + near).filter(|&j| j <= kind.joints).map(|j| [i, j]));
    }
    figure.keyframes.push(curved(kind, &head));
    figure
}

/// A flat head with eyes and a forked tongue; `at` is where the neck begins and `r` its radius.
fn head([x, _, z]: Point, r: f64, kind: &Kind) -> Vec<Geom> {
    let skull = [x + 1.5 * r, 0.0, z];
    let mut geoms = vec![
        solid(kind.head, ellipsoid(skull, [2.3 * r, 1.45 * r, r])),
        mark(TONGUE, capsule([x + 3.6 * r, 0.0, z - 0.15 * r], [x + 4.5 * r, 0.0, z - 0.15 * r], 0.09 * r)),
    ];
    for y in [-r, r] {
        geoms.push(mark(kind.eyes, sphere([x + 2.25 * r, 0.92 * y, z + 0.52 * r], 0.26 * r)));
        let (fork, tip) = ([x + 4.5 * r, 0.0, z - 0.15 * r], [x + 5.2 * r, 0.35 * y, z - 0.05 * r]);
        geoms.push(mark(TONGUE, spheroid(fork, tip, 0.09 * r)));
    }
    geoms
}

/// A serpentine: the heading swings as a cosine along the body.
fn curved(kind: &Kind, head: &Point) -> Keyframe {
    let heading = |i: usize| 0.75 * libm::cos(2.0 * PI * kind.waves * i as f64 / kind.joints as f64);
    let about_z = |angle: f64| [libm::cos(angle / 2.0), 0.0, 0.0, libm::sin(angle / 2.0)];
    let mut q = head.to_vec();
    q.extend(about_z(heading(0)));
    for i in 1..=kind.joints {
        q.extend(about_z(heading(i) - heading(i - 1)));
    }
    Keyframe { name: "curved", q }
}
