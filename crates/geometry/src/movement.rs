//! How geoms and their frames move in a step.

use spatial::{Mat3, Pose, Vec3};

/// How a geom moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// The moving frame that carries it; `None` when it is fixed in the world.
    pub frame: Option<usize>,
    /// Its pose in that frame.
    pub pose: Pose<f64>,
    /// Its rigid group: bodies that are welded together. The world's group is 0.
    pub group: usize,
    /// The group that its group hangs from.
    pub parent_group: usize,
}

/// How the surfaces of a frame's geoms may move in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// What all of them do, in the world, m. Two frames that move alike do not come nearer.
    pub shift: Vec3<f64>,
    /// The farthest that any of their points strays from that, m.
    pub slack: f64,
    /// How the frame moves at the velocities with which the step begins, which contacts of the last step have already stopped where
    /// they had to: of its origin, in the world, m.
    pub translation: Vec3<f64>,
    /// The rotation vector of the same motion, world axes, rad.
    pub rotation: Vec3<f64>,
    /// Whether what they touch that rests too, or is fixed, is of no interest.
    pub rests: bool,
}

impl Sweep {
    /// How far a point may move at all.
    pub(crate) fn farthest(&self) -> f64 {
        self.shift.norm() + self.slack
    }
}

/// A moving frame in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Movement {
    /// Its rotation and its origin in the world.
    pub rot: Mat3<f64>,
    /// m
    pub pos: Vec3<f64>,
    /// How the surfaces of its geoms may move.
    pub sweep: Sweep,
}

impl From<f64> for Sweep {
    /// Points that stray this far in any direction.
    fn from(slack: f64) -> Self {
        Self { slack, ..Self::default() }
    }
}

/// How a geom moves in a step at the velocities with which it begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Motion {
    /// Its centre in the world.
    pub centre: Vec3<f64>,
    /// What the centre does, m.
    pub translation: Vec3<f64>,
    /// Its rotation vector, world axes, rad.
    pub rotation: Vec3<f64>,
    /// What the forces of the step may change of the translation before contacts push, m.
    pub change: Vec3<f64>,
}
