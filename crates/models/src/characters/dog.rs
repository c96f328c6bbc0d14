//! A dog of 0.62 m at the withers and 30 kg.

use super::figure::{
    Body, Colour, Figure, Geom, Joint, Point, SIDES, capsule, cylinder, ellipsoid, mark, solid, sphere, spheroid,
};

const COAT: Colour = [0.83, 0.61, 0.36];
const SADDLE: Colour = [0.42, 0.27, 0.17];
const CREAM: Colour = [0.95, 0.86, 0.70];
const EAR: Colour = [0.48, 0.30, 0.18];
const BLACK: Colour = [0.09, 0.08, 0.08];
const TONGUE: Colour = [0.92, 0.45, 0.48];
const COLLAR: Colour = [0.78, 0.14, 0.16];
const TAG: Colour = [0.93, 0.76, 0.25];

/// The dog.
pub fn figure() -> Figure {
    let mut figure = Figure::new("dog", 1.0);
    let root = figure.add(Body { joint: Joint::Free, ..body("root", None, [-0.24, 0.0, 0.50], 5.0, pelvis()) });
    let spine_1 = figure.add(body("spine_1", Some(root), [-0.13, 0.0, 0.53], 4.0, loin()));
    let spine_2 = figure.add(body("spine_2", Some(spine_1), [0.02, 0.0, 0.53], 9.0, ribs()));
    let neck = figure.add(body("neck", Some(spine_2), [0.25, 0.0, 0.56], 2.0, neck()));
    figure.add(body("head", Some(neck), [0.385, 0.0, 0.715], 2.2, head()));
    let shoulders = SIDES.map(|(side, sign)| foreleg(&mut figure, spine_2, side, sign));
    let hips = SIDES.map(|(side, sign)| hind_leg(&mut figure, root, side, sign));
    let tail_1 = figure.add(body("tail_1", Some(root), [-0.335, 0.0, 0.545], 0.07, tail(0)));
    figure.add(body("tail_2", Some(tail_1), [-0.455, 0.0, 0.60], 0.03, tail(1)));

    // The trunk in a curve, the legs against it and against each other.
    figure.touching.push([root, spine_2]);
    figure.touching.extend([shoulders, hips]);
    for leg in shoulders {
        figure.touching.extend([[leg, neck], [leg, spine_1], [leg + 1, spine_2], [leg + 1, spine_1]]);
    }
    for leg in hips {
        figure.touching.extend([[leg, spine_1], [leg, tail_1], [leg + 1, root], [leg + 1, spine_1]]);
    }
    figure
}

/// A body on a ball joint.
fn body(name: &str, parent: Option<usize>, at: Point, mass: f64, geoms: Vec<Geom>) -> Body {
    Body { name: name.into(), parent, joint: Joint::Ball, at, mass, geoms }
}

fn pelvis() -> Vec<Geom> {
    vec![
        solid(COAT, capsule([-0.275, 0.0, 0.500], [-0.165, 0.0, 0.505], 0.098)),
        mark(SADDLE, capsule([-0.255, 0.0, 0.516], [-0.165, 0.0, 0.521], 0.093)),
    ]
}

fn loin() -> Vec<Geom> {
    vec![
        solid(COAT, capsule([-0.115, 0.0, 0.500], [0.02, 0.0, 0.492], 0.102)),
        mark(SADDLE, capsule([-0.115, 0.0, 0.517], [0.02, 0.0, 0.509], 0.097)),
    ]
}

fn ribs() -> Vec<Geom> {
    vec![
        solid(COAT, ellipsoid([0.130, 0.0, 0.468], [0.215, 0.122, 0.142])),
        solid(COAT, capsule([0.215, 0.0, 0.470], [0.235, 0.0, 0.510], 0.092)),
        mark(SADDLE, ellipsoid([0.110, 0.0, 0.486], [0.200, 0.116, 0.134])),
        mark(CREAM, ellipsoid([0.272, 0.0, 0.430], [0.060, 0.066, 0.085])),
    ]
}

fn neck() -> Vec<Geom> {
    let (base, top): (Point, Point) = ([0.255, 0.0, 0.545], [0.375, 0.0, 0.690]);
    // Points along the neck, 0 at its base and 1 at its top.
    let along = |t: f64| [base[0] + t * (top[0] - base[0]), 0.0, base[2] + t * (top[2] - base[2])];
    vec![
        solid(COAT, capsule(base, along(0.35), 0.080)),
        solid(COAT, capsule(along(0.35), top, 0.064)),
        mark(COLLAR, cylinder(along(0.56), along(0.70), 0.0685)),
        mark(TAG, sphere([0.388, 0.0, 0.598], 0.014)),
    ]
}

fn head() -> Vec<Geom> {
    let mut geoms = vec![
        solid(COAT, ellipsoid([0.415, 0.0, 0.735], [0.092, 0.077, 0.076])),
        solid(CREAM, capsule([0.470, 0.0, 0.712], [0.548, 0.0, 0.703], 0.040)),
        mark(BLACK, ellipsoid([0.584, 0.0, 0.720], [0.017, 0.021, 0.015])),
        mark(TONGUE, ellipsoid([0.552, 0.0, 0.660], [0.022, 0.016, 0.018])),
    ];
    for (_, y) in SIDES {
        geoms.push(mark(BLACK, sphere([0.482, y * 0.040, 0.764], 0.0125)));
        geoms.push(mark(EAR, spheroid([0.392, y * 0.050, 0.808], [0.412, y * 0.106, 0.680], 0.030)));
    }
    geoms
}

/// Adds a foreleg and returns its first body; the others follow it.
fn foreleg(figure: &mut Figure, spine: usize, side: &str, sign: f64) -> usize {
    let at = |x: f64, y: f64, z: f64| [x, sign * y, z];
    let [shoulder, elbow, wrist, toe] =
        [at(0.240, 0.085, 0.425), at(0.165, 0.092, 0.315), at(0.172, 0.090, 0.125), at(0.192, 0.090, 0.034)];
    let geoms = [
        vec![
            solid(COAT, capsule(shoulder, elbow, 0.052)),
            mark(COAT, spheroid(at(0.245, 0.072, 0.375), at(0.160, 0.062, 0.590), 0.052)),
        ],
        vec![
            solid(COAT, capsule(elbow, at(0.170, 0.090, 0.225), 0.037)),
            solid(COAT, capsule(at(0.170, 0.090, 0.225), wrist, 0.028)),
        ],
        vec![solid(CREAM, capsule(wrist, toe, 0.0245))],
        paw(toe),
    ];
    let names = ["shoulder", "elbow", "wrist", "toe"].map(|joint| format!("front_{side}_{joint}"));
    limb(figure, spine, names, [shoulder, elbow, wrist, toe], [0.85, 0.50, 0.16, 0.12], geoms)
}

/// Adds a hind leg and returns its first body; the others follow it.
fn hind_leg(figure: &mut Figure, root: usize, side: &str, sign: f64) -> usize {
    let at = |x: f64, y: f64, z: f64| [x, sign * y, z];
    let [hip, knee, ankle, toe] =
        [at(-0.265, 0.065, 0.480), at(-0.205, 0.090, 0.315), at(-0.350, 0.088, 0.160), at(-0.325, 0.088, 0.034)];
    let geoms = [
        vec![
            solid(COAT, capsule(at(-0.262, 0.070, 0.455), at(-0.222, 0.088, 0.345), 0.064)),
            mark(COAT, spheroid(at(-0.335, 0.064, 0.560), at(-0.215, 0.088, 0.275), 0.076)),
        ],
        vec![
            solid(COAT, capsule(knee, at(-0.278, 0.089, 0.237), 0.041)),
            solid(COAT, capsule(at(-0.278, 0.089, 0.237), ankle, 0.028)),
        ],
        vec![solid(CREAM, capsule(ankle, toe, 0.0235))],
        paw(toe),
    ];
    let names = ["hip", "knee", "ankle", "toe"].map(|joint| format!("hind_{side}_{joint}"));
    limb(figure, root, names, [hip, knee, ankle, toe], [1.35, 0.55, 0.20, 0.12], geoms)
}

/// Adds the four bodies of a leg, one below the other.
fn limb(
    figure: &mut Figure,
    trunk: usize,
    names: [String; 4],
    joints: [Point; 4],
    masses: [f64; 4],
    geoms: [Vec<Geom>; 4],
) -> usize {
    let first = figure.bodies.len();
    for (i, (name, geoms)) in names.iter().zip(geoms).enumerate() {
        let parent = if i == 0 { trunk } else { first + i - 1 };
        figure.add(body(name, Some(parent), joints[i], masses[i], geoms));
    }
    first
}

/// Two toes side by side, on the ground.
fn paw([x, y, _]: Point) -> Vec<Geom> {
    let radius = 0.019;
    let toe = |side: f64| {
        let y = y + side * 0.0155;
        solid(CREAM, capsule([x - 0.004, y, radius], [x + 0.046, y, radius], radius))
    };
    vec![toe(-1.0), toe(1.0), mark(CREAM, spheroid([x - 0.03, y, 0.028], [x + 0.06, y, 0.022], 0.025))]
}

/// The nearer or the farther half of the tail.
fn tail(half: usize) -> Vec<Geom> {
    let points: [Point; 3] = [[-0.335, 0.0, 0.545], [-0.455, 0.0, 0.60], [-0.545, 0.0, 0.70]];
    match half {
        0 => vec![solid(COAT, capsule(points[0], points[1], 0.030))],
        _ => vec![
            solid(COAT, capsule(points[1], points[2], 0.022)),
            mark(CREAM, spheroid([-0.52, 0.0, 0.665], [-0.580, 0.0, 0.745], 0.024)),
        ],
    }
}
