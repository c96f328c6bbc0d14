//! Coriolis and gyroscopic forces of a node, of one world or of one in each lane.
//!
//! They are quadratic in the velocity. Their polar form c(q; v, u), with c(q; v, v) = c(q, v), is linear in each of the two velocities.

use spatial::masks::{select, wide};
use spatial::{PointInertia, Real, Twist, Vec3, Wrench};

use crate::{JointType, Kinematics, NO_PARENT, Node, Tree};

/// What a joint that moves its node at `own`, about the node's origin, adds to the spatial acceleration of the node above, which moves at
/// `above`, at zero joint accelerations.
///
/// A free root's origin moves evenly then, not the point of the body that passes there.
#[inline(always)]
pub fn joint_acceleration<T: Real>(joint: JointType, above: Twist<T>, own: Twist<T>) -> Twist<T> {
    if joint == JointType::Free {
        Twist { ang: Vec3::ZERO, lin: -own.ang.cross(own.lin) }
    } else {
        above.cross_motion(own)
    }
}

/// How a node moves, about a point.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion<T: Real> {
    /// J v
    pub twist: Twist<T>,
    /// Its spatial acceleration at zero joint accelerations.
    pub acceleration: Twist<T>,
}

impl<T: Real> NodeMotion<T> {
    /// The world's.
    pub const ZERO: Self = Self { twist: Twist::ZERO, acceleration: Twist::ZERO };

    /// How a node moves about the point at `arm` from its origin, m, world axes; after [`velocities`](crate::velocities).
    pub fn about(tree: &Tree<T>, kin: &Kinematics<T>, mut node: usize, mut arm: Vec3<T>) -> Self {
        let Kinematics { frames, twists } = kin;
        let mut motion = Self { twist: twists[node].shifted(arm), acceleration: Twist::ZERO };
        while node != NO_PARENT {
            let (Node { parent, joint, .. }, offset) = (tree.nodes[node], frames[node].offset);
            let above = if parent == NO_PARENT { Twist::ZERO } else { twists[parent].shifted(offset) };
            motion.acceleration += joint_acceleration(joint, above, twists[node] - above).shifted(arm);
            arm += offset;
            node = parent;
        }
        motion
    }

    /// J̇ v of rows about a point of this node, as another node sees it that moves at `frame` about the same point: the relative acceleration
    /// at zero joint accelerations.
    #[inline(always)]
    pub fn bias_seen_from(&self, frame: &Self) -> Twist<T> {
        let (turning, gliding) = (self.twist.ang - frame.twist.ang, self.twist.lin - frame.twist.lin);
        let difference = self.acceleration - frame.acceleration;
        Twist {
            ang: difference.ang - frame.twist.ang.cross(turning),
            lin: difference.lin + turning.cross(self.twist.lin) - frame.twist.ang.cross(gliding),
        }
    }
}

/// What J̇ v is of a distance, from that of the point at its end, `lin`, which glides at `velocity`; `normal` is the direction there.
#[inline(always)]
pub fn bias_of_distance<T: Real>(lin: Vec3<T>, velocity: Vec3<T>, normal: Vec3<T>, distance: T) -> T {
    let across = velocity - normal * normal.dot(velocity);
    let apart = T::ZERO.if_less(distance, T::ONE, T::ZERO);
    normal.dot(lin) + select(apart, across.norm_squared() / distance, T::ZERO)
}

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
    #[inline(always)]
    pub fn child_acceleration(&self, joint: JointType, own: Twist<T>) -> Twist<T> {
        self.acceleration + joint_acceleration(joint, self.start, own)
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
