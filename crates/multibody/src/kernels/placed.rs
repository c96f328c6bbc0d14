//! Where a joint puts its node, and how it moves.

use spatial::{Mat3, Quat, Real, Twist, Vec3};

use super::broadcast::{Broadcast, Coordinates, read_quat, read_vec};
use super::fused::{plus_cross, rotation};
use super::packed::Constants;
use crate::JointType;

/// What a node leaves for its children: orientation and angular velocity, world axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<T> {
    pub quat: Quat<T>,
    pub rot: Mat3<T>,
    pub omega: Vec3<T>,
}

impl<T: Real> Frame<T> {
    /// The world's.
    pub const WORLD: Self = Self { quat: Quat::IDENTITY, rot: Mat3::IDENTITY, omega: Vec3::ZERO };
}

/// What the first pass leaves for the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<T> {
    pub frame: Frame<T>,
    /// Origin less the parent's, world axes.
    pub offset: Vec3<T>,
    /// The acceleration that the velocities cause: what the joint adds to the parent's when v̇ = 0.
    pub coriolis: Twist<T>,
}

/// Numbers of a [`Placed`] as an array.
pub(super) const PLACED: usize = 25;
/// Of these the first, a quaternion and an angular velocity, from which a [`Frame`] follows.
pub(super) const TURN: usize = 7;
/// And the first, which are all of a frame.
pub(super) const FRAME: usize = 16;

impl<T: Real> Frame<T> {
    /// Of a quaternion and an angular velocity.
    #[inline(always)]
    pub fn of_turn([w, x, y, z, a, b, c]: [T; TURN]) -> Self {
        let quat = Quat::new(w, x, y, z);
        Self { quat, rot: rotation(quat), omega: Vec3::new(a, b, c) }
    }

    /// Of the numbers at the head of a [`Placed`].
    #[inline(always)]
    pub fn from_array([w, i, j, k, p, q, r, xx, xy, xz, yx, yy, yz, zx, zy, zz]: [T; FRAME]) -> Self {
        let rot = Mat3::from_columns(Vec3::new(xx, xy, xz), Vec3::new(yx, yy, yz), Vec3::new(zx, zy, zz));
        Self { quat: Quat::new(w, i, j, k), rot, omega: Vec3::new(p, q, r) }
    }
}

impl<T: Real> Placed<T> {
    /// A frame that rests in its parent's origin.
    #[inline(always)]
    pub fn resting(frame: Frame<T>) -> Self {
        Self { frame, offset: Vec3::ZERO, coriolis: Twist::ZERO }
    }

    /// As an array.
    #[inline(always)]
    pub fn to_array(self) -> [T; PLACED] {
        let Self { frame: Frame { quat: q, rot: Mat3 { x, y, z }, omega: o }, offset: r, coriolis } = self;
        let (a, l) = (coriolis.ang, coriolis.lin);
        [
            q.w, q.x, q.y, q.z, o.x, o.y, o.z, x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z, //
            r.x, r.y, r.z, a.x, a.y, a.z, l.x, l.y, l.z,
        ]
    }

    /// Of an array.
    #[inline(always)]
    pub fn from_array(x: &[T; PLACED]) -> Self {
        let [frame @ .., rx, ry, rz, ax, ay, az, lx, ly, lz] = *x;
        let coriolis = Twist { ang: Vec3::new(ax, ay, az), lin: Vec3::new(lx, ly, lz) };
        Self { frame: Frame::from_array(frame), offset: Vec3::new(rx, ry, rz), coriolis }
    }
}

/// Where a joint puts its node, at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oriented<T> {
    pub quat: Quat<T>,
    pub rot: Mat3<T>,
    /// Origin less the parent's, world axes.
    pub offset: Vec3<T>,
}

/// Turns and moves a joint. `offset` is its place in the parent, world axes; `turned` as in
/// [`PackedNode`](super::packed::PackedNode).
#[inline(always)]
pub(super) fn orient_joint<T: Real, C: Broadcast<T>>(
    joint: JointType,
    turned: bool,
    constants: &Constants<C>,
    parent: (Quat<T>, Mat3<T>),
    offset: Vec3<T>,
    q: impl Coordinates<T>,
) -> Oriented<T> {
    let base = if turned { parent.0 * read_quat(constants.rot) } else { parent.0 };
    match joint {
        JointType::Ball => {
            let quat = base * joint_turn(JointType::Ball, constants, q);
            Oriented { quat, rot: rotation(quat), offset }
        }
        JointType::Free => {
            let quat = joint_turn(JointType::Free, constants, q);
            let [x, y, z] = q.read();
            Oriented { quat, rot: rotation(quat), offset: Vec3::new(x, y, z) }
        }
        JointType::Revolute | JointType::Screw => {
            let quat = base * joint_turn(joint, constants, q);
            let rot = rotation(quat);
            if joint == JointType::Revolute {
                return Oriented { quat, rot, offset };
            }
            let along = slide(joint, constants, q);
            Oriented { quat, rot, offset: offset.add_scaled(along, rot * read_vec(constants.axis)) }
        }
        JointType::Prismatic => {
            let rot = if turned { rotation(base) } else { parent.1 };
            let along = slide(joint, constants, q);
            Oriented { quat: base, rot, offset: offset.add_scaled(along, rot * read_vec(constants.axis)) }
        }
    }
}

/// By what a joint turns its node, in its own axes.
#[inline(always)]
pub(super) fn joint_turn<T: Real, C: Broadcast<T>>(
    joint: JointType,
    constants: &Constants<C>,
    q: impl Coordinates<T>,
) -> Quat<T> {
    match joint {
        JointType::Ball => near_unit(q.read()),
        JointType::Free => {
            let [_, _, _, a, b, c, d] = q.read();
            near_unit([a, b, c, d])
        }
        JointType::Revolute | JointType::Screw => {
            Quat::of_turn(read_vec(constants.axis), q.read1() - constants.q_ref.read())
        }
        JointType::Prismatic => Quat::IDENTITY,
    }
}

/// How far a sliding joint (prismatic, screw) moves its node along its axis.
#[inline(always)]
pub(super) fn slide<T: Real, C: Broadcast<T>>(joint: JointType, constants: &Constants<C>, q: impl Coordinates<T>) -> T {
    let x = q.read1() - constants.q_ref.read();
    if joint == JointType::Screw { x * constants.pitch.read() } else { x }
}

/// What the sliding of a joint along `axis` at `rate` adds to the Coriolis acceleration of its node, whose parent turns by `swing`.
#[inline(always)]
pub(super) fn sliding<T: Real>(swing: Vec3<T>, axis: Vec3<T>, rate: T) -> Vec3<T> {
    swing.cross(axis) * (rate + rate)
}

/// The node's placement and what its velocity does. Stored at once for every type of joint, not carried through where
/// they meet: so many numbers would go through memory twice.
#[inline(always)]
pub(super) fn place_joint<T: Real, C: Broadcast<T>>(
    joint: JointType,
    turned: bool,
    constants: &Constants<C>,
    parent: &Frame<T>,
    offset: Vec3<T>,
    q: impl Coordinates<T>,
    v: impl Coordinates<T>,
    out: &mut [T; PLACED],
) {
    let (above, swing) = ((parent.quat, parent.rot), parent.omega);
    match joint {
        JointType::Ball => {
            let Oriented { quat, rot, offset } = orient_joint(JointType::Ball, turned, constants, above, offset, q);
            put_orientation(out, quat, rot, offset);
            let own = rot * v.read3();
            put_motion(out, swing + own, swing.cross(own), centripetal(swing, offset));
        }
        JointType::Free => {
            let Oriented { quat, rot, offset } = orient_joint(JointType::Free, turned, constants, above, offset, q);
            put_orientation(out, quat, rot, offset);
            let [_, _, _, a, b, c] = v.read();
            put_motion(out, rot * Vec3::new(a, b, c), Vec3::ZERO, Vec3::ZERO);
        }
        JointType::Revolute | JointType::Screw => {
            let Oriented { quat, rot, offset } = orient_joint(joint, turned, constants, above, offset, q);
            put_orientation(out, quat, rot, offset);
            let own = rot * read_vec(constants.axis) * v.read1();
            let ang = swing.cross(own);
            let mut lin = Vec3::ZERO;
            if joint == JointType::Screw {
                lin = sliding(swing, own, constants.pitch.read());
            }
            put_motion(out, swing + own, ang, plus_cross(lin, swing, swing.cross(offset)));
        }
        JointType::Prismatic => {
            let Oriented { quat, rot, offset } =
                orient_joint(JointType::Prismatic, turned, constants, above, offset, q);
            put_orientation(out, quat, rot, offset);
            let lin = sliding(swing, rot * read_vec(constants.axis), v.read1());
            let lin = plus_cross(lin, swing, swing.cross(offset));
            put_motion(out, swing, Vec3::ZERO, lin);
        }
    }
}

/// Stores part of a [`Placed`] as soon as it is known, and before velocities are read, so that it need not wait in registers.
#[inline(always)]
fn put_orientation<T: Real>(out: &mut [T; PLACED], q: Quat<T>, Mat3 { x, y, z }: Mat3<T>, r: Vec3<T>) {
    [out[0], out[1], out[2], out[3]] = [q.w, q.x, q.y, q.z];
    [out[7], out[8], out[9], out[10], out[11], out[12]] = [x.x, x.y, x.z, y.x, y.y, y.z];
    [out[13], out[14], out[15], out[16], out[17], out[18]] = [z.x, z.y, z.z, r.x, r.y, r.z];
}

/// The rest of it: the angular velocity, and the Coriolis acceleration (angular, linear).
#[inline(always)]
fn put_motion<T: Real>(out: &mut [T; PLACED], omega: Vec3<T>, ang: Vec3<T>, lin: Vec3<T>) {
    [out[4], out[5], out[6]] = omega.to_array();
    [out[19], out[20], out[21]] = ang.to_array();
    [out[22], out[23], out[24]] = lin.to_array();
}

/// The quaternion w x y z, made unit to second order in what it is off by.
#[inline(always)]
fn near_unit<T: Real>([w, x, y, z]: [T; 4]) -> Quat<T> {
    let n2 = w.mul_add(w, Vec3::new(x, y, z).norm_squared());
    let s = n2.mul_add(T::from_f64(-0.5), T::from_f64(1.5));
    Quat::new(w * s, x * s, y * s, z * s)
}

/// What a point at `r` is accelerated by in a frame that turns steadily.
#[inline(always)]
pub(super) fn centripetal<T: Real>(omega: Vec3<T>, r: Vec3<T>) -> Vec3<T> {
    omega.cross(omega.cross(r))
}
