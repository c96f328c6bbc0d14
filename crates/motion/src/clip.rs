//! Frames at times.

use spatial::{Pose, Quat};

use crate::posture::slerp;
use crate::{Channel, ChannelKind, JointValue, Motion, Posture};

/// What follows after a clip's last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMode {
    /// It starts again, carried on horizontally by the root's displacement between its first and last frame, which
    /// stand for the same instant.
    Wrap,
    /// It stays in its last posture.
    Clamp,
}

/// Why frames do not make a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// A clip without frames.
    #[error("no frames: expected one at least")]
    Empty,
    /// Times that do not match the frames.
    #[error("{times} times for {frames} frames: expected as many")]
    Times {
        /// Number of times.
        times: usize,
        /// Number of frames.
        frames: usize,
    },
    /// A hinge without a direction.
    #[error("joint {name:?}: axis of zero length: expected a direction")]
    Axis {
        /// The joint.
        name: String,
    },
    /// A frame that does not come after the one before.
    #[error("frame {frame}: time {time} s: expected a finite number {expected}")]
    Time {
        /// The frame, from 0.
        frame: usize,
        /// Its time.
        time: f64,
        /// "0" or "above that of the frame before".
        expected: &'static str,
    },
    /// A frame with a wrong number of joints.
    #[error("frame {frame}: {found} joint values: expected {expected}")]
    Joints {
        /// The frame, from 0.
        frame: usize,
        /// Values that came.
        found: usize,
        /// Channels of the clip.
        expected: usize,
    },
    /// A value that is no posture.
    #[error("frame {frame}: {what}: expected {expected}")]
    Value {
        /// The frame, from 0.
        frame: usize,
        /// The joint, or "root position".
        what: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// A motion given by postures at times, with slerp between rotations and straight lines between numbers.
///
/// ```
/// use sapwood_motion::{Channel, ChannelKind, Clip, JointValue, LoopMode, Motion, Posture};
/// use spatial::{Pose, Quat, Vec3};
/// let y = Vec3::new(0.0, 1.0, 0.0);
/// let knee = Channel { name: "knee".into(), kind: ChannelKind::Hinge { axis: y } };
/// let frame = |x: f64, angle: f64| Posture {
///     root: Pose::new(Vec3::new(x, 0.0, 0.9), Quat::IDENTITY),
///     joints: vec![JointValue::Angle(angle)],
/// };
/// let frames = vec![frame(0.0, 0.25), frame(0.5, 0.75), frame(1.0, 0.25)];
/// let clip = Clip::new("hop", vec![knee], vec![0.0, 0.5, 1.0], frames, LoopMode::Wrap)?;
/// let mut posture = Posture::default();
/// clip.sample(1.25, &mut posture);
/// assert_eq!(posture.root.pos.x, 1.25);
/// assert_eq!(posture.joints, [JointValue::Angle(0.5)]);
/// # Ok::<(), sapwood_motion::ClipError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clip {
    name: String,
    channels: Vec<Channel>,
    times: Vec<f64>,
    frames: Vec<Posture>,
    loop_mode: LoopMode,
}

impl Clip {
    /// The clip of these frames: `times` in seconds, from 0 upwards, `frames[k].joints` in the order of `channels`.
    /// Quaternions and axes are scaled to unit norm.
    ///
    /// # Errors
    /// When a hinge has no axis, there are no frames, times do not rise from 0, a frame does not fit the channels, or a number is not finite.
    pub fn new(
        name: &str,
        mut channels: Vec<Channel>,
        times: Vec<f64>,
        mut frames: Vec<Posture>,
        loop_mode: LoopMode,
    ) -> Result<Self, ClipError> {
        if frames.is_empty() {
            return Err(ClipError::Empty);
        }
        if times.len() != frames.len() {
            return Err(ClipError::Times { times: times.len(), frames: frames.len() });
        }
        for Channel { name, kind } in &mut channels {
            if let ChannelKind::Hinge { axis } = kind {
                *axis = axis.normalized().ok_or_else(|| ClipError::Axis { name: name.clone() })?;
            }
        }
        for (k, frame) in frames.iter_mut().enumerate() {
            check_time(&times, k)?;
            check_frame(k, frame, &channels)?;
        }
        Ok(Self { name: name.into(), channels, times, frames, loop_mode })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The times of the frames, s, from 0.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The frames.
    pub fn frames(&self) -> &[Posture] {
        &self.frames
    }

    /// What follows after the last frame.
    pub fn loop_mode(&self) -> LoopMode {
        self.loop_mode
    }

    /// The same clip with another ending.
    pub fn with_loop_mode(mut self, loop_mode: LoopMode) -> Self {
        self.loop_mode = loop_mode;
        self
    }

    /// The same clip with its seam closed: over the last `blend` seconds (all of it, if that is more) every joint, the
    /// root's rotation and its height are led to where the first frame has them. Recorded loops miss that by 20° and
    /// more, which a wrapping clip crosses in no time and a controller answers with a blow. Where the root travels to
    /// stays.
    pub fn with_closed_loop(mut self, blend: f64) -> Self {
        let duration = self.duration();
        let blend = blend.min(duration);
        let (Some(first), Some(last)) = (self.frames.first().cloned(), self.frames.last().cloned()) else {
            return self;
        };
        if blend <= 0.0 {
            return self;
        }
        for (time, frame) in self.times.iter().zip(&mut self.frames) {
            let u = smooth_step((time - (duration - blend)) / blend);
            let turn = |q, from: Quat<f64>, to: Quat<f64>| q * slerp(Quat::IDENTITY, from.conjugate() * to, u);
            frame.root.rot = turn(frame.root.rot, last.root.rot, first.root.rot).unit();
            frame.root.pos.z += u * (first.root.pos.z - last.root.pos.z);
            for ((value, from), to) in frame.joints.iter_mut().zip(&last.joints).zip(&first.joints) {
                match (value, from, to) {
                    (JointValue::Rotation(q), JointValue::Rotation(a), JointValue::Rotation(b)) => {
                        *q = turn(*q, *a, *b).unit();
                    }
                    (JointValue::Angle(x), JointValue::Angle(a), JointValue::Angle(b)) => *x += u * (b - a),
                    _ => {}
                }
            }
        }
        self
    }

    /// Full turns of the clip before `time`, and the time within the present one.
    fn local_time(&self, time: f64) -> (f64, f64) {
        let duration = self.duration();
        if self.loop_mode == LoopMode::Clamp || duration <= 0.0 {
            return (0.0, time.clamp(0.0, duration));
        }
        let cycles = libm::floor(time / duration);
        (cycles, (time - cycles * duration).clamp(0.0, duration))
    }
}

impl Motion for Clip {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The time of the last frame.
    fn duration(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    fn sample(&self, time: f64, out: &mut Posture) {
        let (cycles, local) = self.local_time(time);
        let next = self.times.partition_point(|&t| t <= local).clamp(1, self.times.len());
        let (a, b) = (next - 1, next.min(self.times.len() - 1));
        let span = self.times[b] - self.times[a];
        let u = if span > 0.0 { (local - self.times[a]) / span } else { 0.0 };
        let (from, to) = (&self.frames[a], &self.frames[b]);
        out.root =
            Pose::new(from.root.pos.add_scaled(u, to.root.pos - from.root.pos), slerp(from.root.rot, to.root.rot, u));
        let travel = self.frames[self.frames.len() - 1].root.pos - self.frames[0].root.pos;
        out.root.pos.x += cycles * travel.x;
        out.root.pos.y += cycles * travel.y;
        out.joints.clear();
        out.joints.extend(from.joints.iter().zip(&to.joints).map(|(&a, &b)| between(a, b, u)));
    }
}

fn between(a: JointValue, b: JointValue, u: f64) -> JointValue {
    match (a, b) {
        (JointValue::Rotation(a), JointValue::Rotation(b)) => JointValue::Rotation(slerp(a, b, u)),
        (JointValue::Angle(a), JointValue::Angle(b)) => JointValue::Angle(a + u * (b - a)),
        // Kinds are checked when the clip is made.
        (a, _) => a,
    }
}

/// 0 below 0, 1 above 1, 3u² − 2u³ between.
fn smooth_step(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * (3.0 - 2.0 * u)
}

fn check_time(times: &[f64], k: usize) -> Result<(), ClipError> {
    let time = times[k];
    let error = |expected| Err(ClipError::Time { frame: k, time, expected });
    match k {
        0 if time != 0.0 => error("0"),
        0 => Ok(()),
        _ if time.is_finite() && time > times[k - 1] => Ok(()),
        _ => error("above that of the frame before"),
    }
}

fn check_frame(k: usize, frame: &mut Posture, channels: &[Channel]) -> Result<(), ClipError> {
    let error = |what: &str, expected| Err(ClipError::Value { frame: k, what: what.into(), expected });
    if frame.joints.len() != channels.len() {
        return Err(ClipError::Joints { frame: k, found: frame.joints.len(), expected: channels.len() });
    }
    if !frame.root.pos.is_finite() {
        return error("root position", FINITE);
    }
    match frame.root.rot.normalized() {
        Some(q) => frame.root.rot = q,
        None => return error("root rotation", QUATERNION),
    }
    for (value, channel) in frame.joints.iter_mut().zip(channels) {
        match (&mut *value, channel.kind) {
            (JointValue::Rotation(q), ChannelKind::Ball) => match q.normalized() {
                Some(unit) => *q = unit,
                None => return error(&channel.name, QUATERNION),
            },
            (JointValue::Angle(angle), ChannelKind::Hinge { .. }) if angle.is_finite() => {}
            (JointValue::Angle(_), ChannelKind::Hinge { .. }) => return error(&channel.name, FINITE),
            (_, ChannelKind::Ball) => return error(&channel.name, "a rotation, as the channel is a ball"),
            (_, ChannelKind::Hinge { .. }) => return error(&channel.name, "an angle, as the channel is a hinge"),
        }
    }
    Ok(())
}

const FINITE: &str = "finite numbers";
const QUATERNION: &str = "a finite quaternion other than zero";
