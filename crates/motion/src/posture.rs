//! What a motion says at one instant.

use std::ops::Deref;

use spatial::{Pose, Quat, Vec3};

/// How a joint of a motion moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChannelKind {
    /// Turns about a point.
    Ball,
    /// Turns about an axis.
    Hinge {
        /// Unit axis in the world's axes, with the figure at rest.
        axis: Vec3<f64>,
    },
}

/// A joint of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Name; models and motions meet by it.
    pub name: String,
    /// Kind of motion.
    pub kind: ChannelKind,
}

/// The value of a joint: the rotation of its body against the parent's, both seen as departures from the figure at
/// rest, in axes that were the world's (x forwards, y to the left, z up) when it stood there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointValue {
    /// Of a [`ChannelKind::Ball`]: a unit quaternion.
    Rotation(Quat<f64>),
    /// Of a [`ChannelKind::Hinge`]: radians about its axis.
    Angle(f64),
}

impl JointValue {
    /// The rotation of a joint of this kind.
    pub fn rotation(self, kind: ChannelKind) -> Quat<f64> {
        match (self, kind) {
            (Self::Rotation(q), _) => q,
            (Self::Angle(angle), ChannelKind::Hinge { axis }) => Quat::from_axis_angle(axis, angle),
            (Self::Angle(_), ChannelKind::Ball) => Quat::IDENTITY,
        }
    }

    /// The angle about `axis`: of a rotation its twist, the part about the axis when the rest (the swing) is taken off,
    /// within [−π, π].
    pub fn angle_about(self, kind: ChannelKind, axis: Vec3<f64>) -> f64 {
        if let (Self::Angle(angle), ChannelKind::Hinge { axis: own }) = (self, kind) {
            let cos = own.dot(axis);
            // A hinge about the same line keeps full turns, which no quaternion can tell.
            if cos.abs() > 1.0 - 1e-9 {
                return angle * cos.signum();
            }
        }
        let q = self.rotation(kind);
        let (sin, cos) = (q.vector().dot(axis), q.w);
        let (sin, cos) = if cos < 0.0 { (-sin, -cos) } else { (sin, cos) };
        2.0 * libm::atan2(sin, cos)
    }
}

/// The pose of a figure: its root in the world and the values of its joints, in the order of [`Motion::channels`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posture {
    /// The root: position in metres, and rotation from where it is at rest.
    pub root: Pose<f64>,
    /// One value per channel.
    pub joints: Vec<JointValue>,
}

/// Named joints that move as a function of time: a [`crate::Clip`] or a gait.
pub trait Motion {
    /// The joints.
    fn channels(&self) -> &[Channel];

    /// The time after which the motion repeats or ends, s.
    fn duration(&self) -> f64;

    /// The posture at `time` ≥ 0 seconds. `out` is sized on first use; after that nothing is allocated.
    fn sample(&self, time: f64, out: &mut Posture);
}

/// Whatever points to a motion is one.
impl<P: Deref<Target: Motion>> Motion for P {
    fn channels(&self) -> &[Channel] {
        (**self).channels()
    }
    fn duration(&self) -> f64 {
        (**self).duration()
    }
    fn sample(&self, time: f64, out: &mut Posture) {
        (**self).sample(time, out);
    }
}

/// Spherical linear interpolation by the shorter arc, from `a` at 0 to `b` at 1 (Shoemake 1985).
pub(crate) fn slerp(a: Quat<f64>, b: Quat<f64>, u: f64) -> Quat<f64> {
    let turn = (a.conjugate() * b).rotation_vector();
    (a * Quat::from_rotation_vector(turn * u)).unit()
}
