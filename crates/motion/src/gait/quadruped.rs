//! How dogs trot, pace and canter.

use spatial::Vec3;

use super::{GaitPattern, LegPattern, Pulse, Sway, Wave};

const X: Vec3<f64> = Vec3::new(1.0, 0.0, 0.0);
const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);
const Z: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

/// Phases at which the feet come down: front right, front left, hind right, hind left.
type Footfalls = [f64; 4];

/// A trot: diagonal feet come down together. On joints named `front_right_` with `shoulder`, `elbow`, `wrist`, `toe`,
/// `hind_right_` with `hip`, `knee`, `ankle`, `toe`, the same on the left, and `spine_1`, `spine_2`, `neck`, `head`,
/// `tail_1`, `tail_2`.
pub fn trot() -> GaitPattern {
    let duty = 0.42;
    GaitPattern {
        period: 2.3,
        stride: 1.5,
        legs: legs([0.0, 0.5, 0.5, 0.0], duty, 0.11),
        waves: vec![
            wave("", Z, 0.0, 0.03, 1, 0.25),
            wave("spine_1", Z, 0.0, -0.04, 1, 0.25),
            wave("spine_2", Z, 0.0, -0.04, 1, 0.25),
            wave("neck", Y, 0.10, 0.03, 2, 0.0),
            wave("head", Y, -0.05, -0.02, 2, 0.0),
            wave("tail_1", Z, 0.0, 0.20, 1, 0.0),
            wave("tail_2", Z, 0.0, 0.15, 1, 0.15),
            wave("tail_1", Y, 0.0, 0.05, 2, 0.0),
        ],
        // Lowest in the middle of each stance.
        sways: vec![Sway { direction: Z, amplitude: 0.025, harmonic: 2, phase: duty + 0.5 }],
    }
}

/// A pace: the feet of one side come down together, and the body rolls over them.
pub fn pace() -> GaitPattern {
    let duty = 0.45;
    // The middle of the right feet's stance.
    let middle = 0.5 * duty;
    GaitPattern {
        period: 2.4,
        stride: 1.4,
        legs: legs([0.0, 0.5, 0.04, 0.54], duty, 0.10),
        waves: vec![
            wave("", X, 0.0, 0.05, 1, middle),
            wave("spine_1", X, 0.0, -0.015, 1, middle),
            wave("spine_2", X, 0.0, -0.015, 1, middle),
            wave("neck", Y, 0.08, 0.02, 2, 0.0),
            wave("neck", X, 0.0, -0.02, 1, middle),
            wave("head", Y, -0.05, -0.02, 2, 0.0),
            wave("tail_1", Z, 0.0, 0.25, 1, 0.25),
            wave("tail_2", Z, 0.0, 0.20, 1, 0.40),
        ],
        sways: vec![
            Sway { direction: -Y, amplitude: 0.03, harmonic: 1, phase: middle },
            Sway { direction: Z, amplitude: 0.015, harmonic: 2, phase: duty + 0.5 },
        ],
    }
}

/// A canter on the right lead: left hind foot, then right hind and left fore together, then right fore, then none. The
/// body rocks, and the back bends and stretches with it.
pub fn canter() -> GaitPattern {
    let duty = 0.34;
    GaitPattern {
        period: 2.1,
        stride: 1.9,
        legs: legs([0.54, 0.30, 0.27, 0.0], duty, 0.15),
        waves: vec![
            // Nose up when the hind feet come down; down when the leading foot bears.
            wave("", Y, 0.0, -0.09, 1, 0.05),
            wave("spine_1", Y, 0.0, 0.10, 1, 0.90),
            wave("spine_2", Y, 0.0, 0.06, 1, 0.90),
            wave("neck", Y, 0.15, 0.12, 1, 0.60),
            wave("head", Y, -0.08, -0.08, 1, 0.60),
            wave("tail_1", Y, 0.10, 0.20, 1, 0.30),
            wave("tail_2", Y, 0.05, 0.20, 1, 0.45),
        ],
        // Highest while no foot stands.
        sways: vec![Sway { direction: Z, amplitude: 0.04, harmonic: 1, phase: 0.94 }],
    }
}

fn wave(joint: &str, axis: Vec3<f64>, mean: f64, amplitude: f64, harmonic: u32, phase: f64) -> Wave {
    Wave { joint: joint.into(), axis, mean, amplitude, harmonic, phase }
}

fn legs([front_right, front_left, hind_right, hind_left]: Footfalls, duty: f64, clearance: f64) -> Vec<LegPattern> {
    vec![
        foreleg("right", front_right, duty, clearance),
        foreleg("left", front_left, duty, clearance),
        hind_leg("right", hind_right, duty, clearance),
        hind_leg("left", hind_left, duty, clearance),
    ]
}

/// A leg whose foot rolls over its toes as it is left behind, and whose paw hangs while it is lifted.
fn leg(side: &str, names: [&str; 4], phase: f64, duty: f64, clearance: f64) -> LegPattern {
    let name = |joint: &str| format!("{side}_{joint}");
    let swing = 1.0 - duty;
    LegPattern {
        hip: name(names[0]),
        knee: name(names[1]),
        ankle: name(names[2]),
        toe: Some(name(names[3])),
        knee_forwards: true,
        phase,
        duty,
        ahead: 0.03,
        width: 0.9,
        clearance,
        sole: [0.0; 2],
        push: Pulse { from: 0.35 * duty, peak: duty + 0.10, to: 0.80, angle: 0.8 },
        strike: Pulse { from: 0.76, peak: 1.0, to: 1.0 + 0.45 * duty, angle: -0.3 },
        curl: Pulse { from: duty + 0.05 * swing, peak: duty + 0.5 * swing, to: duty + 0.95 * swing, angle: 0.7 },
    }
}

fn foreleg(side: &str, phase: f64, duty: f64, clearance: f64) -> LegPattern {
    let names = ["shoulder", "elbow", "wrist", "toe"];
    // At rest the paws stand behind the joints of the shoulders; in motion below them.
    LegPattern { knee_forwards: false, ahead: 0.09, ..leg(&format!("front_{side}"), names, phase, duty, clearance) }
}

fn hind_leg(side: &str, phase: f64, duty: f64, clearance: f64) -> LegPattern {
    leg(&format!("hind_{side}"), ["hip", "knee", "ankle", "toe"], phase, duty, clearance)
}
