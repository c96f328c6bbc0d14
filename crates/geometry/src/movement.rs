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
    /// How the frame moves at the velocities with which the step begins, which contacts of the last step have already stopped where
    /// they had to: of its origin, in the world, m.
    pub translation: Vec3<f64>,
    /// The rotation vector of the same motion, world axes, rad.
    pub rotation: Vec3<f64>,
    /// What the forces of the step may change of the translation before contacts push, m.
    pub change: Vec3<f64>,
    /// The same of the rotation, rad.
    pub turn: Vec3<f64>,
    /// How much farther any of their points may stray, m.
    pub slack: f64,
    /// Which tree of joints holds the frame, if any: of one tree, frames that move alike do not come nearer.
    pub tree: Option<usize>,
    /// Whether what they touch that rests too, or is fixed, is of no interest.
    pub rests: bool,
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

/// How a geom moves in a step, at the velocities with which it begins and by their change.
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
    /// The same of the rotation, rad.
    pub turn: Vec3<f64>,
}

impl Motion {
    /// How a geom of a frame whose origin is at `pos` moves about its centre.
    #[inline(always)]
    pub fn new(sweep: &Sweep, pos: Vec3<f64>, centre: Vec3<f64>) -> Self {
        let (Sweep { translation, rotation, change, turn, .. }, arm) = (*sweep, centre - pos);
        let (translation, change) = (translation + rotation.cross(arm), change + turn.cross(arm));
        Self { centre, translation, rotation, change, turn }
    }

    /// How the material point that is at `p` at the beginning moves in the step, to first order.
    #[inline(always)]
    pub fn displacement(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.translation + self.rotation.cross(p - self.centre)
    }

    /// What the centre does in free motion.
    #[inline(always)]
    pub fn shift(&self) -> Vec3<f64> {
        self.translation + self.change
    }

    /// How far a point within `radius` of the centre may be from where that leads: it turns, and constraints may undo what forces change.
    #[inline(always)]
    pub fn stray(&self, radius: f64) -> f64 {
        self.change.norm() + radius * (self.rotation.norm() + self.turn.norm())
    }

    /// How far a point within `radius` of the centre may move relative to another geom of its tree. Constraints may undo what forces change
    /// of either.
    #[inline(always)]
    pub fn farthest_from(&self, other: &Self, radius: f64) -> f64 {
        let arm = self.centre - other.centre;
        let change = other.change + other.turn.cross(arm);
        let shift = self.shift() - (other.translation + other.rotation.cross(arm) + change);
        let spin = (self.rotation - other.rotation).norm() + (self.turn.norm() + other.turn.norm());
        shift.norm() + (self.change.norm() + change.norm()) + radius * spin
    }
}
