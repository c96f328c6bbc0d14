//! Walking, trotting, cantering: feet that stand still on the ground, and legs that reach them.

use std::f64::consts::TAU;

use spatial::{Pose, Quat, Real, Vec3};

use super::limb::{Reached, TwoBones};
use super::pulse::{fraction, hump, smooth_step};
use super::{GaitError, GaitPattern, LegPattern, Sway};
use crate::{Channel, JointValue, Motion, Posture, Skeleton};

/// Earth's gravity, m/s², which sets the pace of legs.
const GRAVITY: f64 = 9.81;
/// Straighter than this no leg is stretched: at full stretch the knee's speed has no bound.
const GREATEST_STRETCH: f64 = 0.985;
/// Instants of a cycle at which the stretch is looked at.
const INSTANTS: usize = 240;

const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);

/// A leg on a skeleton, in metres.
#[derive(Clone, Debug)]
struct Leg {
    pattern: LegPattern,
    parent: usize,
    hip: usize,
    knee: usize,
    ankle: usize,
    toe: Option<usize>,
    bones: TwoBones,
    /// From the ankle to the point that the foot stands on (toe joint or tip of the sole), at rest.
    foot: Vec3<f64>,
    /// From the tip of the sole back to the heel; 0 with a toe joint.
    sole: f64,
    /// Where that point stands in the middle of a stance, from the root's place on the ground.
    home: Vec3<f64>,
    clearance: f64,
}

/// A wave on a skeleton.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Channel, or `None` for the root.
    channel: Option<usize>,
    axis: Vec3<f64>,
    mean: f64,
    amplitude: f64,
    harmonic: f64,
    phase: f64,
}

/// A gait of a skeleton: a motion over its joints, with no end, that goes along x from where the skeleton rests.
///
/// Trunk, neck, tail and arms swing by the waves of the pattern. Feet stand still during their stance and go over to
/// the next place along a smooth path; hip and knee are solved for where the foot is, the knee bending about y only.
/// The root is lowered from its height at rest just so far that no leg is ever stretched beyond 98.5 % of its length.
/// Positions and rotations have continuous second derivatives wherever those of the pattern's pulses meet smoothly.
#[derive(Clone, Debug)]
pub struct LeggedGait {
    skeleton: Skeleton,
    channels: Vec<Channel>,
    period: f64,
    stride: f64,
    start: Vec3<f64>,
    lowered: f64,
    legs: Vec<Leg>,
    turns: Vec<Turn>,
    sways: Vec<Sway>,
}

impl LeggedGait {
    /// The gait of this pattern on a skeleton that at rest stands on z = 0.
    ///
    /// # Errors
    /// When the pattern names joints that the skeleton does not have or that do not follow each other, a number is out
    /// of its domain, or the legs are too short for the stride.
    pub fn new(skeleton: &Skeleton, pattern: &GaitPattern) -> Result<Self, GaitError> {
        pattern.check()?;
        let rest = skeleton.rest_positions();
        let mut length: f64 = 0.0;
        for leg in &pattern.legs {
            length = length.max(rest[find(skeleton, &leg.hip)?].z);
        }
        if length.is_nan() || length <= 0.0 {
            return Err(GaitError::OutOfRange {
                what: "height of the hips at rest",
                value: length,
                expected: "above 0",
            });
        }
        let legs = pattern.legs.iter().map(|leg| place_leg(skeleton, &rest, leg, length)).collect::<Result<_, _>>()?;
        let mut turns = Vec::with_capacity(pattern.waves.len());
        for wave in &pattern.waves {
            let joint = if wave.joint.is_empty() { 0 } else { find(skeleton, &wave.joint)? };
            let (axis, mean, amplitude) = (wave.axis, wave.mean, wave.amplitude);
            let channel = joint.checked_sub(1);
            turns.push(Turn { channel, axis, mean, amplitude, harmonic: f64::from(wave.harmonic), phase: wave.phase });
        }
        let sways = pattern.sways.iter().map(|s| Sway { amplitude: s.amplitude * length, ..*s }).collect();
        let mut gait = Self {
            skeleton: skeleton.clone(),
            channels: skeleton.channels(),
            period: pattern.period * (length / GRAVITY).sqrt(),
            stride: pattern.stride * length,
            start: rest[0],
            lowered: 0.0,
            legs,
            turns,
            sways,
        };
        gait.lower(length)?;
        Ok(gait)
    }

    /// The skeleton that moves.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// How far a cycle goes, m.
    pub fn stride(&self) -> f64 {
        self.stride
    }

    /// Mean speed, m/s.
    pub fn speed(&self) -> f64 {
        self.stride / self.period
    }

    /// How far below its height at rest the root travels, m.
    pub fn lowered(&self) -> f64 {
        self.lowered
    }

    /// Whether the foot of leg `leg` of the pattern stands on the ground at `time`; `false` if there is no such leg.
    pub fn stands(&self, leg: usize, time: f64) -> bool {
        let stance = |leg: &Leg| fraction(time / self.period - leg.pattern.phase) < leg.pattern.duty;
        self.legs.get(leg).is_some_and(stance)
    }

    /// Finds the least lowering of the root with which all legs reach, by bisection.
    fn lower(&mut self, length: f64) -> Result<(), GaitError> {
        let mut posture = Posture::default();
        let mut worst = |lowered: f64| {
            self.lowered = lowered;
            let mut worst = (0.0, 0);
            for k in 0..INSTANTS {
                let (stretch, leg) = self.pose(k as f64 / INSTANTS as f64, &mut posture);
                if stretch > worst.0 {
                    worst = (stretch, leg);
                }
            }
            worst
        };
        if worst(0.0).0 <= GREATEST_STRETCH {
            self.lowered = 0.0;
            return Ok(());
        }
        let (mut short, mut enough) = (0.0, 0.4 * length);
        let (stretch, leg) = worst(enough);
        if stretch > GREATEST_STRETCH {
            return Err(GaitError::TooFar { leg: self.legs[leg].pattern.hip.clone(), stretch });
        }
        for _ in 0..40 {
            let middle = 0.5 * (short + enough);
            if worst(middle).0 > GREATEST_STRETCH { short = middle } else { enough = middle }
        }
        self.lowered = enough;
        Ok(())
    }

    /// The posture after `cycles`; returns the greatest stretch of a leg and which it is.
    fn pose(&self, cycles: f64, out: &mut Posture) -> (f64, usize) {
        let phase = fraction(cycles);
        out.joints.clear();
        out.joints.resize(self.channels.len(), JointValue::Rotation(Quat::IDENTITY));
        out.root = self.root(cycles, phase);
        for (k, turn) in self.turns.iter().enumerate() {
            // The turns of one joint are added up at the first of them.
            if let Some(channel) = turn.channel
                && !self.turns[..k].iter().any(|t| t.channel == turn.channel)
            {
                out.joints[channel] = JointValue::Rotation(self.turn(turn.channel, phase));
            }
        }
        let mut worst = (0.0, 0);
        for (k, leg) in self.legs.iter().enumerate() {
            let stretch = self.step(leg, cycles, out);
            if stretch > worst.0 {
                worst = (stretch, k);
            }
        }
        worst
    }

    /// The root's placement: even travel, the sways, and its own turns.
    fn root(&self, cycles: f64, phase: f64) -> Pose<f64> {
        let mut at = self.start + Vec3::new(self.stride * cycles, 0.0, -self.lowered);
        for sway in &self.sways {
            let wave = wave(f64::from(sway.harmonic), sway.phase, phase);
            at = at.add_scaled(sway.amplitude * wave, sway.direction);
        }
        Pose::new(at, self.turn(None, phase))
    }

    /// The rotation of a channel, or of the root: the exponential of the sum of its waves.
    fn turn(&self, channel: Option<usize>, phase: f64) -> Quat<f64> {
        let mut vector = Vec3::ZERO;
        for t in self.turns.iter().filter(|t| t.channel == channel) {
            vector = vector.add_scaled(t.mean + t.amplitude * wave(t.harmonic, t.phase, phase), t.axis);
        }
        Quat::from_rotation_vector(vector)
    }

    /// Puts a leg where its foot is, and returns how far it is stretched.
    fn step(&self, leg: &Leg, cycles: f64, out: &mut Posture) -> f64 {
        let own = cycles - leg.pattern.phase;
        let phase = fraction(own);
        let trunk = self.skeleton.frame(leg.parent, out);
        let hip = trunk.transform_point(self.skeleton.joints()[leg.hip].offset);
        let (push, strike) = (leg.pattern.push.at(phase), leg.pattern.strike.at(phase));
        let foot = Quat::from_axis_angle(Y, push + strike);
        let ankle = self.contact(leg, own, strike) - foot * leg.foot;
        let back = trunk.rot.conjugate();
        let Reached { hip: thigh, knee, stretch } = leg.bones.reach(back * (ankle - hip));
        let shank = trunk.rot * thigh * knee;
        let mut set = |joint: usize, q: Quat<f64>| out.joints[joint - 1] = JointValue::Rotation(q.unit());
        set(leg.hip, thigh);
        set(leg.knee, knee);
        set(leg.ankle, shank.conjugate() * foot);
        if let Some(toe) = leg.toe {
            set(toe, foot.conjugate() * Quat::from_axis_angle(Y, leg.pattern.curl.at(phase)));
        }
        stretch
    }

    /// Where the point that the foot stands on is, in the world: still during the stance, but for the tip of a sole that
    /// turns about its heel. `own` are the leg's cycles.
    fn contact(&self, leg: &Leg, own: f64, strike: f64) -> Vec3<f64> {
        let (whole, phase) = (libm::floor(own), fraction(own));
        let LegPattern { duty, phase: offset, .. } = leg.pattern;
        let swing = (phase - duty) / (1.0 - duty);
        let steps = whole + offset + 0.5 * duty + smooth_step(swing);
        let place = leg.home + Vec3::new(self.start.x + self.stride * steps, self.start.y, leg.clearance * hump(swing));
        let (sin, cos) = Real::sin_cos(strike);
        place + Vec3::new(leg.sole * (cos - 1.0), 0.0, -leg.sole * sin)
    }
}

impl Motion for LeggedGait {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn duration(&self) -> f64 {
        self.period
    }

    fn sample(&self, time: f64, out: &mut Posture) {
        self.pose(time / self.period, out);
    }
}

/// cos 2π(harmonic τ − phase).
fn wave(harmonic: f64, phase: f64, tau: f64) -> f64 {
    Real::sin_cos(TAU * (harmonic * tau - phase)).1
}

fn find(skeleton: &Skeleton, name: &str) -> Result<usize, GaitError> {
    skeleton.joint(name).ok_or_else(|| GaitError::NoJoint { name: name.into() })
}

/// The joint `name`, which must hang on `parent`.
fn find_below(skeleton: &Skeleton, name: &str, parent: usize) -> Result<usize, GaitError> {
    let joint = find(skeleton, name)?;
    if skeleton.joints()[joint].parent == Some(parent) {
        return Ok(joint);
    }
    Err(GaitError::NotBelow { name: name.into(), parent: skeleton.joints()[parent].name.clone() })
}

fn place_leg(skeleton: &Skeleton, rest: &[Vec3<f64>], p: &LegPattern, length: f64) -> Result<Leg, GaitError> {
    let hip = find(skeleton, &p.hip)?;
    let Some(parent) = skeleton.joints()[hip].parent else {
        return Err(GaitError::NotBelow { name: p.hip.clone(), parent: "another joint".into() });
    };
    let knee = find_below(skeleton, &p.knee, hip)?;
    let ankle = find_below(skeleton, &p.ankle, knee)?;
    let toe = p.toe.as_ref().map(|toe| find_below(skeleton, toe, ankle)).transpose()?;
    let foot = match toe {
        Some(toe) => skeleton.joints()[toe].offset,
        None => Vec3::new(p.sole[1] * length, 0.0, -rest[ankle].z),
    };
    let stand = rest[ankle] + foot - rest[0];
    let bend = if p.knee_forwards { 1.0 } else { -1.0 };
    Ok(Leg {
        pattern: p.clone(),
        parent,
        hip,
        knee,
        ankle,
        toe,
        bones: TwoBones { upper: skeleton.joints()[knee].offset, lower: skeleton.joints()[ankle].offset, bend },
        foot,
        sole: if toe.is_some() { 0.0 } else { (p.sole[1] - p.sole[0]) * length },
        home: Vec3::new(stand.x + p.ahead * length, stand.y * p.width, rest[ankle].z + foot.z),
        clearance: p.clearance * length,
    })
}
