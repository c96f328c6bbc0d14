//! Coriolis and gyroscopic forces of a node, of one world or of one in each lane.
//!
//! They are quadratic in the velocity. Their polar form c(q; v, u), with c(q; v, v) = c(q, v), is linear in each of the two velocities.

use spatial::masks::wide;
use spatial::{PointInertia, Real, Twist, Vec3, Wrench};

use crate::JointType;

/// A node's motion at velocities v₀ and under a change x of them, and the spatial acceleration that velocities cause at zero joint
/// accelerations: all about one point.
#[derive(Clone, Copy, Debug)]
pub struct PolarMotion<T: Real> {
    /// J v₀
    pub start: Twist<T>,
    /// J x
    pub change: Twist<T>,
    /// Of (v₀, v₀), or of (v₀, x).
    pub acceleration: Twist<T>,
}

impl<T: Real> PolarMotion<T> {
    /// The world's.
    pub const ZERO: Self = Self { start: Twist::ZERO, change: Twist::ZERO, acceleration: Twist::ZERO };

    /// The same motion about a point displaced by `r`.
    #[inline(always)]
    pub fn shifted(&self, r: Vec3<T>) -> Self {
        Self {
            start: self.start.shifted(r),
            change: self.change.shifted(r),
            acceleration: self.acceleration.shifted(r),
        }
    }

    /// The acceleration of a child, whose joint moves it at `own` against this node, due to v₀ alone.
    ///
    /// A free root's origin moves evenly at zero joint accelerations, not the point of the body that passes there.
    #[inline(always)]
    pub fn child_acceleration(&self, joint: JointType, own: Twist<T>) -> Twist<T> {
        self.acceleration
            + if joint == JointType::Free {
                Twist { ang: Vec3::ZERO, lin: -own.ang.cross(own.lin) }
            } else {
                self.start.cross_motion(own)
            }
    }

    /// The motion of a child, with its acceleration due to v₀ and x.
    #[inline(always)]
    pub fn child(&self, joint: JointType, start: Twist<T>, change: Twist<T>) -> Self {
        let (own, own_change) = (start + -self.start, change + -self.change);
        let both = if joint == JointType::Free {
            Twist { ang: Vec3::ZERO, lin: -(own.ang.cross(own_change.lin) + own_change.ang.cross(own.lin)) }
        } else {
            self.start.cross_motion(own_change) + self.change.cross_motion(own)
        };
        Self { start, change, acceleration: self.acceleration + both * wide(0.5) }
    }

    /// c(q; v₀, v₀) of a body, and what it needs to accelerate so.
    #[inline(always)]
    pub fn force_at_start(&self, body: &PointInertia<T>) -> Wrench<T> {
        body.momentum(self.acceleration) + self.start.cross_force(body.momentum(self.start))
    }

    /// c(q; v₀, x) of a body.
    #[inline(always)]
    pub fn force(&self, body: &PointInertia<T>) -> Wrench<T> {
        let spun =
            self.start.cross_force(body.momentum(self.change)) + self.change.cross_force(body.momentum(self.start));
        body.momentum(self.acceleration) + spun * wide(0.5)
    }
}
