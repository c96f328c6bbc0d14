//! Nodes of one tree across lanes: where their numbers are, and how they come and go.

use spatial::{Quat, Real, Sym3, Vec3};

use super::broadcast::{Accelerations, Coordinates};
use super::packed::Constants;

/// The most lanes that nodes are laid across.
pub(super) const MAX_LANES: usize = 8;

/// Coordinates of the joints of a row, one in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransposedRows<'a, S> {
    /// At least as many as the plan counts.
    pub x: &'a [S],
    pub first: &'a [usize; MAX_LANES],
}

impl<T: Real> Coordinates<T> for TransposedRows<'_, T::Scalar> {
    #[inline(always)]
    fn read<const N: usize>(self) -> [T; N] {
        let mut out = [T::ZERO; N];
        for lane in 0..T::LANES {
            let first = self.first[lane];
            debug_assert!(first + N <= self.x.len());
            for k in 0..N {
                // SAFETY: a plan's indices are below its numbers of coordinates, and every kernel asserts before it reads
                // or writes that there are as many.
                out[k].set_lane(lane, unsafe { *self.x.get_unchecked(first + k) });
            }
        }
        out
    }
}

/// Where the accelerations of a row's joints go.
pub(super) struct Out<'a, T: Real> {
    /// At least as many as the plan counts.
    pub out: &'a mut [T::Scalar],
    pub first: &'a [usize; MAX_LANES],
    pub used: &'a [bool; MAX_LANES],
}

impl<T: Real> Accelerations<T> for Out<'_, T> {
    #[inline(always)]
    fn write<const N: usize>(&mut self, x: [T; N]) {
        for lane in 0..T::LANES {
            if self.used[lane] {
                let first = self.first[lane];
                debug_assert!(first + N <= self.out.len());
                for k in 0..N {
                    // SAFETY: as above.
                    unsafe { *self.out.get_unchecked_mut(first + k) = x[k].lane(lane) };
                }
            }
        }
    }
}

/// A unit inertia at the parent's origin.
pub(super) fn idle<T: Real>() -> Constants<T> {
    let x = Vec3::new(T::ONE, T::ZERO, T::ZERO);
    Constants {
        pos: Vec3::ZERO,
        rot: Quat::IDENTITY,
        axis: x,
        pitch: T::ZERO,
        q_ref: T::ZERO,
        mass: T::ONE,
        moment: Vec3::ZERO,
        inertia: Sym3::diagonal(Vec3::new(T::ONE, T::ONE, T::ONE)),
        deflated: (T::ONE, Vec3::ZERO, Vec3::ZERO),
    }
}

pub(super) fn set_lane<T: Real>(lanes: &mut Constants<T>, k: usize, one: &Constants<T::Scalar>) {
    let set3 = |lanes: &mut Vec3<T>, x: Vec3<T::Scalar>| {
        lanes.x.set_lane(k, x.x);
        lanes.y.set_lane(k, x.y);
        lanes.z.set_lane(k, x.z);
    };
    set3(&mut lanes.pos, one.pos);
    set3(&mut lanes.axis, one.axis);
    set3(&mut lanes.moment, one.moment);
    set3(&mut lanes.deflated.1, one.deflated.1);
    set3(&mut lanes.deflated.2, one.deflated.2);
    let (rot, inertia) = (&mut lanes.rot, &mut lanes.inertia);
    let pairs = [
        (&mut rot.w, one.rot.w),
        (&mut rot.x, one.rot.x),
        (&mut rot.y, one.rot.y),
        (&mut rot.z, one.rot.z),
        (&mut lanes.pitch, one.pitch),
        (&mut lanes.q_ref, one.q_ref),
        (&mut lanes.mass, one.mass),
        (&mut lanes.deflated.0, one.deflated.0),
        (&mut inertia.xx, one.inertia.xx),
        (&mut inertia.xy, one.inertia.xy),
        (&mut inertia.xz, one.inertia.xz),
        (&mut inertia.yy, one.inertia.yy),
        (&mut inertia.yz, one.inertia.yz),
        (&mut inertia.zz, one.inertia.zz),
    ];
    for (lanes, x) in pairs {
        lanes.set_lane(k, x);
    }
}
