//! How snakes go: every part along the track of the part before it.

use std::f64::consts::TAU;

use spatial::{Pose, Quat, Real, Vec3};

use super::GaitError;
use crate::{Channel, JointValue, Motion, Posture, Skeleton};

/// The shape and speed of a slither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlitherPattern {
    /// Greatest angle between the body and the way it goes, rad, in (0, 2].
    pub amplitude: f64,
    /// Waves along the body.
    pub waves: f64,
    /// Speed along the body, body lengths per second.
    pub speed: f64,
}

impl Default for SlitherPattern {
    fn default() -> Self {
        Self { amplitude: 0.8, waves: 1.5, speed: 0.4 }
    }
}

/// Terms of the curve's series; the first neglected has J₂₀(2) ≈ 4e-19.
const TERMS: usize = 10;

/// Lateral undulation of a chain that at rest lies along x: the body lies on the serpenoid curve (Hirose, *Biologically
/// Inspired Robots*, 1993), whose heading is θ(s) = A sin ks at arc length s, and moves along it. Each link has the
/// heading of its middle, so sideways it slides only by what a chord differs from its arc.
#[derive(Clone, Debug)]
pub struct Slither {
    channels: Vec<Channel>,
    start: Vec3<f64>,
    /// Middle of every link behind (−) or before (+) the root along the body, m.
    middles: Vec<f64>,
    amplitude: f64,
    /// Waves per metre times 2π.
    wave_number: f64,
    /// Along the curve, m/s.
    speed: f64,
    /// J₀(A), J₁(A), … up to twice [`TERMS`].
    bessel: [f64; 2 * TERMS],
}

impl Slither {
    /// The slither of a skeleton whose joints are one chain.
    ///
    /// # Errors
    /// When the joints are no chain, the chain has no length along x, or a number is out of its domain.
    pub fn new(skeleton: &Skeleton, pattern: &SlitherPattern) -> Result<Self, GaitError> {
        check(pattern)?;
        for (k, joint) in skeleton.joints().iter().enumerate().skip(1) {
            if joint.parent != Some(k - 1) {
                let parent = skeleton.joints()[k - 1].name.clone();
                return Err(GaitError::NotBelow { name: joint.name.clone(), parent });
            }
        }
        let rest = skeleton.rest_positions();
        let ends: Vec<f64> = rest.iter().map(|p| p.x - rest[0].x).collect();
        let middles = middles(&ends);
        let length = middles.last().copied().unwrap_or(0.0).abs();
        if length.is_nan() || length <= 0.0 {
            let expected = "a chain along x";
            return Err(GaitError::OutOfRange { what: "length of the skeleton along x", value: length, expected });
        }
        let bessel = std::array::from_fn(|n| libm::jn(n as i32, pattern.amplitude));
        Ok(Self {
            channels: skeleton.channels(),
            start: rest[0],
            middles,
            amplitude: pattern.amplitude,
            wave_number: TAU * pattern.waves / length,
            speed: pattern.speed * length,
            bessel,
        })
    }

    /// How far it gets in one [`Motion::duration`], m.
    pub fn stride(&self) -> f64 {
        self.bessel[0] * TAU / self.wave_number
    }

    fn heading(&self, s: f64) -> f64 {
        self.amplitude * Real::sin_cos(self.wave_number * s).0
    }

    /// The point of the curve at arc length s: ∫ (cos θ, sin θ) ds term by term, by
    /// cos(A sin x) = J₀ + 2 Σ J₂ₙ cos 2nx and sin(A sin x) = 2 Σ J₂ₙ₋₁ sin (2n − 1)x (Jacobi and Anger).
    fn point(&self, s: f64) -> (f64, f64) {
        let (k, j) = (self.wave_number, &self.bessel);
        let (mut x, mut y) = (j[0] * s, 0.0);
        for n in 1..TERMS {
            let even = 2.0 * n as f64;
            x += 2.0 * j[2 * n] / (even * k) * Real::sin_cos(even * k * s).0;
            y -= 2.0 * j[2 * n - 1] / ((even - 1.0) * k) * Real::sin_cos((even - 1.0) * k * s).1;
        }
        (x, y)
    }
}

impl Motion for Slither {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn duration(&self) -> f64 {
        TAU / (self.wave_number * self.speed)
    }

    fn sample(&self, time: f64, out: &mut Posture) {
        let s = self.speed * time;
        let about_z = |angle| Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), angle);
        let (x, y) = self.point(s);
        let mut heading = self.heading(s + self.middles[0]);
        out.root = Pose::new(self.start + Vec3::new(x, y, 0.0), about_z(heading));
        out.joints.clear();
        for middle in &self.middles[1..] {
            let next = self.heading(s + middle);
            out.joints.push(JointValue::Rotation(about_z(next - heading)));
            heading = next;
        }
    }
}

/// The middle of every link between its joint and the next; the last is as long as the one before.
fn middles(ends: &[f64]) -> Vec<f64> {
    let last = ends.len().saturating_sub(1);
    let half = |k: usize| match k {
        _ if k < last => 0.5 * (ends[k + 1] - ends[k]),
        0 => 0.0,
        _ => 0.5 * (ends[k] - ends[k - 1]),
    };
    (0..ends.len()).map(|k| ends[k] + half(k)).collect()
}

fn check(pattern: &SlitherPattern) -> Result<(), GaitError> {
    let SlitherPattern { amplitude, waves, speed } = *pattern;
    if !(amplitude > 0.0 && amplitude <= 2.0) {
        return Err(GaitError::OutOfRange { what: "amplitude", value: amplitude, expected: "a number in (0, 2]" });
    }
    for (what, value) in [("waves", waves), ("speed", speed)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(GaitError::OutOfRange { what, value, expected: "a finite number above 0" });
        }
    }
    Ok(())
}
