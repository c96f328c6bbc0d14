//! How people walk and run.

use spatial::Vec3;

use super::{GaitPattern, LegPattern, Pulse, Sway, Wave};

const X: Vec3<f64> = Vec3::new(1.0, 0.0, 0.0);
const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);
const Z: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

/// Part of the cycle for which a foot stands.
const DUTY: f64 = 0.62;
/// The middle of the right foot's stance.
const MIDDLE: f64 = 0.5 * DUTY;

/// A person's walk: 1.5 leg lengths a cycle (1.3 m at 1.26 m/s for a leg of 0.88 m), heel down first, on joints named
/// `chest`, `neck`, and `hip`, `knee`, `ankle`, `shoulder`, `elbow` after `right_` and `left_`. The right foot comes
/// down at time 0.
pub fn walk() -> GaitPattern {
    let sway = |direction, amplitude, harmonic, phase| Sway { direction, amplitude, harmonic, phase };
    GaitPattern {
        period: 3.5,
        stride: 1.5,
        legs: vec![leg("right", 0.0), leg("left", 0.5)],
        waves: [trunk(), arm("right", 0.0), arm("left", 0.5)].concat(),
        // Highest over the standing foot, and a little towards it.
        sways: vec![sway(Z, 0.024, 2, 2.0 * MIDDLE), sway(-Y, 0.018, 1, MIDDLE)],
    }
}

/// Part of the cycle for which a foot stands in a run; both are in the air for twice 0.16 of it.
const RUN_DUTY: f64 = 0.34;
/// The middle of the right foot's stance in a run.
const RUN_MIDDLE: f64 = 0.5 * RUN_DUTY;

/// A person's run: 2.1 leg lengths a cycle (1.9 m at 2.6 m/s for a leg of 0.88 m), on the joints of [`walk`]. The right foot comes down at
/// time 0.
pub fn run() -> GaitPattern {
    GaitPattern {
        period: 2.4,
        stride: 2.1,
        legs: vec![running_leg("right", 0.0), running_leg("left", 0.5)],
        waves: [running_trunk(), running_arm("right", 0.0), running_arm("left", 0.5)].concat(),
        // Highest in the middle of the flight, which is as high as the fall in half of it is deep: there (4π/period)² times the amplitude
        // is g.
        sways: vec![
            Sway { direction: Z, amplitude: 0.036, harmonic: 2, phase: 2.0 * RUN_MIDDLE + 0.5 },
            Sway { direction: -Y, amplitude: 0.008, harmonic: 1, phase: RUN_MIDDLE },
        ],
    }
}

fn running_leg(side: &str, phase: f64) -> LegPattern {
    LegPattern {
        duty: RUN_DUTY,
        ahead: -0.16,
        width: 0.55,
        clearance: 0.13,
        // The ankle goes up behind the tip of the foot, and comes down with the sole level.
        push: Pulse { from: 0.12, peak: 0.46, to: 0.90, angle: 1.45 },
        strike: Pulse { from: 0.86, peak: 0.98, to: 1.10, angle: -0.12 },
        ..leg(side, phase)
    }
}

fn running_trunk() -> Vec<Wave> {
    vec![
        wave("", Z, 0.0, 0.10, 0.0),
        wave("", X, 0.0, -0.04, RUN_MIDDLE),
        wave("", Y, 0.10, 0.0, 0.0),
        wave("chest", Z, 0.0, -0.26, 0.0),
        wave("chest", X, 0.0, 0.04, RUN_MIDDLE),
        wave("chest", Y, 0.05, 0.0, 0.0),
        wave("neck", Z, 0.0, 0.16, 0.0),
        wave("neck", Y, -0.12, 0.0, 0.0),
    ]
}

/// An arm is bent by more than a right angle, and the hand comes to the height of the chest in front.
fn running_arm(side: &str, phase: f64) -> Vec<Wave> {
    let out = if side == "right" { -X } else { X };
    let of = |joint: &str| format!("{side}_{joint}");
    vec![
        wave(&of("shoulder"), Y, 0.28, 0.55, phase),
        wave(&of("shoulder"), out, 0.16, 0.0, 0.0),
        wave(&of("elbow"), -Y, 1.65, 0.20, phase + 0.5),
    ]
}

fn leg(side: &str, phase: f64) -> LegPattern {
    LegPattern {
        hip: format!("{side}_hip"),
        knee: format!("{side}_knee"),
        ankle: format!("{side}_ankle"),
        toe: None,
        knee_forwards: true,
        phase,
        duty: DUTY,
        // The tip of the sole, which turns the foot over far behind the hip, stands under it somewhat late.
        ahead: -0.12,
        width: 0.8,
        clearance: 0.06,
        sole: [-0.079, 0.203],
        push: Pulse { from: 0.36, peak: 0.68, to: 0.88, angle: 0.95 },
        strike: Pulse { from: 0.82, peak: 0.98, to: 1.13, angle: -0.30 },
        curl: Pulse::default(),
    }
}

/// Pelvis and chest turn against each other, and both dip towards the swinging leg; the neck keeps the head level.
fn trunk() -> Vec<Wave> {
    vec![
        wave("", Z, 0.0, 0.07, 0.0),
        wave("", X, 0.0, -0.035, MIDDLE),
        wave("", Y, 0.03, 0.0, 0.0),
        wave("chest", Z, 0.0, -0.16, 0.0),
        wave("chest", X, 0.0, 0.045, MIDDLE),
        wave("neck", Z, 0.0, 0.09, 0.0),
        wave("neck", X, 0.0, -0.01, MIDDLE),
        wave("neck", Y, -0.03, 0.0, 0.0),
    ]
}

/// An arm swings against the leg of its side, and bends as it comes forwards.
fn arm(side: &str, phase: f64) -> Vec<Wave> {
    let out = if side == "right" { -X } else { X };
    let of = |joint: &str| format!("{side}_{joint}");
    vec![
        wave(&of("shoulder"), Y, 0.02, 0.38, phase),
        wave(&of("shoulder"), out, 0.10, 0.0, 0.0),
        wave(&of("elbow"), -Y, 0.40, 0.22, phase + 0.5),
    ]
}

/// A wave once a cycle.
fn wave(joint: &str, axis: Vec3<f64>, mean: f64, amplitude: f64, phase: f64) -> Wave {
    Wave { joint: joint.into(), axis, mean, amplitude, harmonic: 1, phase }
}
