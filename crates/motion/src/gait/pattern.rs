//! What makes one gait differ from another.

use spatial::Vec3;

use super::{GaitError, Pulse};

/// A motion back and forth: `vector` times mean + amplitude · cos 2π(harmonic τ − phase), with τ in cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Wave {
    /// The joint that turns; empty for the root.
    pub joint: String,
    /// Unit axis of a rotation, in the joint's frame at rest.
    pub axis: Vec3<f64>,
    /// Mean angle, rad.
    pub mean: f64,
    /// Amplitude, rad.
    pub amplitude: f64,
    /// Times per cycle; a whole number, or the gait would not repeat.
    pub harmonic: u32,
    /// Part of the wave's own period by which its crest comes later than τ = 0.
    pub phase: f64,
}

/// A motion of the root about its even travel, in the same form; lengths in leg lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sway {
    /// Direction in the world; unit.
    pub direction: Vec3<f64>,
    /// Amplitude, leg lengths.
    pub amplitude: f64,
    /// Times per cycle.
    pub harmonic: u32,
    /// Part of its own period by which its crest comes later than τ = 0.
    pub phase: f64,
}

/// A leg: which joints, and when it does what. Lengths are in leg lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct LegPattern {
    /// The joint that the leg hangs on.
    pub hip: String,
    /// The joint that bends.
    pub knee: String,
    /// The joint that the foot hangs on.
    pub ankle: String,
    /// The joint between foot and paw, for those that walk on their toes; the paw stays level on the ground.
    pub toe: Option<String>,
    /// Whether the knee points forwards; an elbow points backwards.
    pub knee_forwards: bool,
    /// Phase of the gait's cycle at which the foot comes down.
    pub phase: f64,
    /// Part of the cycle for which the foot stands.
    pub duty: f64,
    /// Where the foot stands at the middle of its stance, forwards of where it is at rest.
    pub ahead: f64,
    /// Distance from the middle plane, as a part of that at rest.
    pub width: f64,
    /// How high the foot is lifted.
    pub clearance: f64,
    /// Without a toe joint: where the sole begins and ends, forwards of the ankle. The heel is put down first, the toe
    /// leaves last, and the foot turns about them.
    pub sole: [f64; 2],
    /// Pitch of the foot with its toe on the ground (positive lifts the heel).
    pub push: Pulse,
    /// Pitch of the foot with its heel on the ground (negative lifts the toe). Of a foot without a toe joint it must
    /// rest while `push` does not, or the foot slides.
    pub strike: Pulse,
    /// Pitch of the paw against the ground; must rest during the stance.
    pub curl: Pulse,
}

/// A gait, without size: lengths are in leg lengths (of the highest hip over the ground, at rest), times in the time
/// √(length/g) in which a leg swings, so that figures of all sizes move alike (Alexander & Jayes, *A dynamic similarity
/// hypothesis for the gaits of quadrupedal mammals*, 1983).
#[derive(Clone, Debug, PartialEq)]
pub struct GaitPattern {
    /// Duration of a cycle, √(leg length/g).
    pub period: f64,
    /// How far a cycle goes, leg lengths.
    pub stride: f64,
    /// The legs.
    pub legs: Vec<LegPattern>,
    /// What the other joints and the root's rotation do.
    pub waves: Vec<Wave>,
    /// What the root does besides travelling.
    pub sways: Vec<Sway>,
}

impl GaitPattern {
    /// Whether all numbers are within their domains.
    pub(super) fn check(&self) -> Result<(), GaitError> {
        ensure(self.period > 0.0 && self.period.is_finite(), "period", self.period, "a finite number above 0")?;
        finite("stride", self.stride)?;
        self.legs.iter().try_for_each(LegPattern::check)?;
        for wave in &self.waves {
            finite("wave", wave.mean + wave.amplitude + wave.phase + wave.axis.norm())?;
        }
        self.sways.iter().try_for_each(|s| finite("sway", s.amplitude + s.phase + s.direction.norm()))
    }
}

impl LegPattern {
    fn check(&self) -> Result<(), GaitError> {
        ensure(self.duty > 0.0 && self.duty < 1.0, "duty", self.duty, "a number between 0 and 1")?;
        finite("phase", self.phase)?;
        finite("ahead", self.ahead)?;
        finite("width", self.width)?;
        finite("clearance", self.clearance)?;
        finite("sole", self.sole[0] + self.sole[1])?;
        for (what, pulse) in [("push", self.push), ("strike", self.strike), ("curl", self.curl)] {
            ensure(pulse.is_sound(), what, pulse.peak, "from < peak < to ≤ from + 1")?;
        }
        Ok(())
    }
}

fn finite(what: &'static str, value: f64) -> Result<(), GaitError> {
    ensure(value.is_finite(), what, value, "a finite number")
}

fn ensure(fine: bool, what: &'static str, value: f64, expected: &'static str) -> Result<(), GaitError> {
    if fine { Ok(()) } else { Err(GaitError::OutOfRange { what, value, expected }) }
}
