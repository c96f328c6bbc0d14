//! A person of 1.67 m and 60 kg. Shares of the masses are those of human bodies, rounded.

use super::figure::{
    Body, Colour, Figure, Geom, Joint, Point, SIDES, Shape, capsule, cuboid, ellipsoid, mark, solid, sphere, spheroid,
};

const SKIN: Colour = [0.91, 0.70, 0.56];
const LIPS: Colour = [0.70, 0.33, 0.30];
const HAIR: Colour = [0.30, 0.19, 0.13];
const SHIRT: Colour = [0.86, 0.42, 0.26];
const TROUSERS: Colour = [0.20, 0.31, 0.45];
const BELT: Colour = [0.24, 0.18, 0.15];
const SHOE: Colour = [0.93, 0.93, 0.91];
const SOLE: Colour = [0.86, 0.86, 0.84];
const EYE: Colour = [0.10, 0.10, 0.12];

/// Heights of the joints, m.
const ANKLE: f64 = 0.055;
const KNEE: f64 = ANKLE + 0.41;
const HIP: f64 = KNEE + 0.42;
const CHEST: f64 = HIP + 0.23;
const NECK: f64 = CHEST + 0.25;
const SHOULDER: f64 = CHEST + 0.205;
const ELBOW: f64 = SHOULDER - 0.28;
const WRIST: f64 = ELBOW - 0.25;

/// The humanoid.
pub fn figure() -> Figure {
    let mut figure = Figure::new("humanoid", 1.0);
    let root = figure.add(body("root", None, Joint::Free, [0.0, 0.0, HIP], 10.0, pelvis()));
    let chest = figure.add(body("chest", Some(root), Joint::Ball, [0.0, 0.0, CHEST], 16.0, chest()));
    let neck = figure.add(body("neck", Some(chest), Joint::Ball, [0.0, 0.0, NECK], 4.2, head()));
    let shoulders = SIDES.map(|(side, sign)| arm(&mut figure, chest, side, sign));
    let hips = SIDES.map(|(side, sign)| leg(&mut figure, root, side, sign));
    figure.touching.push(hips);
    figure.touching.extend(shoulders.map(|shoulder| [shoulder, neck]));
    figure.touching.extend(hips.map(|hip| [hip, chest]));
    figure
}

fn body(name: &str, parent: Option<usize>, joint: Joint, at: Point, mass: f64, geoms: Vec<Geom>) -> Body {
    Body { name: name.into(), parent, joint, at, mass, geoms }
}

/// A capsule across, from right to left.
fn across(x: f64, half_width: f64, z: f64, radius: f64) -> Shape {
    capsule([x, -half_width, z], [x, half_width, z], radius)
}

fn pelvis() -> Vec<Geom> {
    vec![
        solid(TROUSERS, across(-0.005, 0.065, HIP + 0.015, 0.095)),
        solid(SHIRT, across(0.0, 0.045, HIP + 0.145, 0.078)),
        mark(SHIRT, ellipsoid([0.0, 0.0, HIP + 0.160], [0.098, 0.138, 0.125])),
        mark(BELT, ellipsoid([-0.003, 0.0, HIP + 0.080], [0.100, 0.146, 0.022])),
    ]
}

fn chest() -> Vec<Geom> {
    vec![
        solid(SHIRT, across(0.0, 0.045, CHEST + 0.030, 0.078)),
        solid(SHIRT, across(-0.002, 0.058, CHEST + 0.110, 0.092)),
        solid(SHIRT, across(-0.015, 0.130, CHEST + 0.200, 0.056)),
        mark(SHIRT, ellipsoid([-0.002, 0.0, CHEST + 0.090], [0.110, 0.160, 0.172])),
    ]
}

fn head() -> Vec<Geom> {
    let mut geoms = vec![
        solid(SKIN, capsule([-0.012, 0.0, NECK - 0.02], [0.005, 0.0, NECK + 0.08], 0.048)),
        solid(SKIN, ellipsoid([0.020, 0.0, NECK + 0.165], [0.092, 0.074, 0.122])),
        mark(HAIR, ellipsoid([-0.006, 0.0, NECK + 0.195], [0.094, 0.082, 0.110])),
        mark(LIPS, ellipsoid([0.097, 0.0, NECK + 0.105], [0.008, 0.022, 0.005])),
        mark(SKIN, capsule([0.106, 0.0, NECK + 0.165], [0.116, 0.0, NECK + 0.145], 0.011)),
    ];
    for (_, y) in SIDES {
        geoms.push(mark(EYE, sphere([0.096, y * 0.030, NECK + 0.180], 0.0115)));
        geoms.push(mark(HAIR, ellipsoid([0.097, y * 0.031, NECK + 0.203], [0.007, 0.015, 0.004])));
        geoms.push(mark(SKIN, ellipsoid([0.005, y * 0.080, NECK + 0.160], [0.018, 0.010, 0.030])));
    }
    geoms
}

/// Adds an arm and returns its upper body.
fn arm(figure: &mut Figure, chest: usize, side: &str, sign: f64) -> usize {
    let y = sign * 0.200;
    let at = |x: f64, z: f64| [x, y, z];
    let upper = vec![
        solid(SKIN, capsule(at(0.0, SHOULDER), at(0.0, ELBOW + 0.01), 0.043)),
        mark(SHIRT, capsule(at(0.0, SHOULDER), at(0.0, SHOULDER - 0.13), 0.050)),
    ];
    let fore = vec![
        solid(SKIN, capsule(at(0.0, ELBOW - 0.005), at(0.0, WRIST + 0.025), 0.034)),
        solid(SKIN, ellipsoid(at(0.008, WRIST - 0.075), [0.040, 0.020, 0.095])),
        mark(SKIN, capsule(at(0.030, WRIST - 0.035), at(0.055, WRIST - 0.085), 0.012)),
    ];
    let shoulder =
        figure.add(body(&format!("{side}_shoulder"), Some(chest), Joint::Ball, at(0.0, SHOULDER), 1.6, upper));
    let bends_forwards = Joint::Hinge([0.0, -1.0, 0.0]);
    figure.add(body(&format!("{side}_elbow"), Some(shoulder), bends_forwards, at(0.0, ELBOW), 1.3, fore));
    shoulder
}

/// Adds a leg and returns its upper body.
fn leg(figure: &mut Figure, root: usize, side: &str, sign: f64) -> usize {
    let y = sign * 0.085;
    let at = |x: f64, z: f64| [x, y, z];
    let thigh = vec![
        solid(TROUSERS, capsule(at(0.0, HIP - 0.02), at(0.0, KNEE + 0.01), 0.062)),
        mark(TROUSERS, spheroid(at(0.004, HIP + 0.06), at(0.0, KNEE - 0.08), 0.080)),
    ];
    let shin = vec![
        solid(TROUSERS, capsule(at(-0.002, KNEE - 0.01), at(-0.006, ANKLE + 0.065), 0.047)),
        mark(TROUSERS, spheroid(at(-0.010, KNEE + 0.05), at(-0.012, ANKLE + 0.05), 0.059)),
    ];
    let foot = vec![
        solid(SOLE, cuboid(at(0.050, ANKLE - 0.043), [0.112, 0.040, 0.012])),
        mark(SHOE, ellipsoid(at(0.052, ANKLE - 0.028), [0.124, 0.046, 0.036])),
        mark(SHOE, capsule(at(-0.022, ANKLE - 0.008), at(-0.006, ANKLE + 0.028), 0.043)),
    ];
    let hip = figure.add(body(&format!("{side}_hip"), Some(root), Joint::Ball, at(0.0, HIP), 8.4, thigh));
    let bends_backwards = Joint::Hinge([0.0, 1.0, 0.0]);
    let knee = figure.add(body(&format!("{side}_knee"), Some(hip), bends_backwards, at(0.0, KNEE), 2.7, shin));
    figure.add(body(&format!("{side}_ankle"), Some(knee), Joint::Ball, at(0.0, ANKLE), 0.9, foot));
    hip
}
