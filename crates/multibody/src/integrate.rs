//! The configuration manifold: q ⊞ v and q₁ ⊟ q₀.

use spatial::Quat;

use crate::kinematics::quaternion;
use crate::rotations::{self, Lanes, MOST, PerJoint, Place, exponential};
use crate::{Retraction, Tree};

/// q ← q ⊞ dt v: coordinates of joints with one degree of freedom and positions add, quaternions take the
/// exponential map of the angular velocity in the body's frame. `q` (nq), `v` (nv).
pub fn integrate(tree: &Tree<f64>, q: &mut [f64], v: &[f64], dt: f64) {
    Retraction::Exponential.advance(tree, q, v, dt, 1.0);
}

/// Makes the quaternions in `q` (nq) unit.
pub fn normalize(tree: &Tree<f64>, q: &mut [f64]) {
    for node in &tree.nodes {
        let Some(at) = node.quaternion() else { continue };
        let Quat { w, x, y, z } = quaternion(&q[at..]);
        q[at..at + 4].copy_from_slice(&[w, x, y, z]);
    }
}

/// The velocity that takes `q0` to `q1` in unit time: v with q1 = q0 ⊞ v, by the shorter arcs. `v` (nv).
pub fn difference(tree: &Tree<f64>, q0: &[f64], q1: &[f64], v: &mut [f64]) {
    rotations::for_each(tree, &mut Differences::<false> { q0, q: q1, v: &[], dt: 0.0, out: v });
}

/// Where the velocity `v` leads, seen from `q0`: (q ⊞ dt v) ⊟ q0, to `out`. `q0` and `q` (nq), `v` and `out` (nv).
pub fn difference_ahead(tree: &Tree<f64>, q0: &[f64], q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
    if dt == 0.0 {
        difference(tree, q0, q, out);
    } else {
        rotations::for_each(tree, &mut Differences::<true> { q0, q, v, dt, out });
    }
}

/// [`difference`], or with AHEAD [`difference_ahead`].
struct Differences<'a, const AHEAD: bool> {
    q0: &'a [f64],
    q: &'a [f64],
    v: &'a [f64],
    dt: f64,
    out: &'a mut [f64],
}

impl<const AHEAD: bool> PerJoint for Differences<'_, AHEAD> {
    #[inline(always)]
    fn slide(&mut self, (iq, iv): Place) {
        let end = if AHEAD { self.q[iq] + self.dt * self.v[iv] } else { self.q[iq] };
        self.out[iv] = end - self.q0[iq];
    }

    #[inline(never)]
    fn turn<T: Lanes>(&mut self, places: &[Place; MOST]) {
        // No quaternion here need be unit: the logarithm takes any.
        let mut turn = T::quaternions(self.q0, places).conjugate() * T::quaternions(self.q, places);
        if AHEAD {
            turn = turn * exponential(T::vectors(self.v, places) * T::splat(self.dt));
        }
        let arcs = turn.rotation_vector();
        for (k, (_, iv)) in places.iter().enumerate().take(T::LANES) {
            self.out[*iv..iv + 3].copy_from_slice(&[arcs.x.lane(k), arcs.y.lane(k), arcs.z.lane(k)]);
        }
    }
}
