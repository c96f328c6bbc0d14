//! The configuration manifold: q ⊞ v and q₁ ⊟ q₀.

use spatial::{F64x4, Quat, Real, Vec3};

use crate::kinematics::quaternion;
use crate::{JointType, Retraction, Tree};

/// q ← q ⊞ dt v: coordinates of joints with one degree of freedom and positions add, quaternions take the
/// exponential map of the angular velocity in the body's frame. `q` (nq), `v` (nv).
pub fn integrate(tree: &Tree<f64>, q: &mut [f64], v: &[f64], dt: f64) {
    Retraction::Exponential.advance(tree, q, v, dt, 1.0);
}

/// Makes the quaternions in `q` (nq) unit.
pub fn normalize(tree: &Tree<f64>, q: &mut [f64]) {
    for node in &tree.nodes {
        let at = match node.joint {
            JointType::Ball => node.q,
            JointType::Free => node.q + 3,
            _ => continue,
        };
        let Quat { w, x, y, z } = quaternion(&q[at..]);
        q[at..at + 4].copy_from_slice(&[w, x, y, z]);
    }
}

/// The velocity that takes `q0` to `q1` in unit time: v with q1 = q0 ⊞ v, by the shorter arcs. `v` (nv).
pub fn difference(tree: &Tree<f64>, q0: &[f64], q1: &[f64], v: &mut [f64]) {
    differences::<false>(tree, q0, q1, (&[], 0.0), v);
}

/// Where the velocity `v` leads, seen from `q0`: (q ⊞ dt v) ⊟ q0, to `out`. `q0` and `q` (nq), `v` and `out` (nv).
pub fn difference_ahead(tree: &Tree<f64>, q0: &[f64], q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
    if dt == 0.0 {
        difference(tree, q0, q, out);
    } else {
        differences::<true>(tree, q0, q, (v, dt), out);
    }
}

/// As many rotations as are side by side.
const LANES: usize = F64x4::LANES;

/// As many times that are worked on in turn: each is a long chain of operations, four of which fit between each other.
const BUNDLES: usize = 4;

/// A rotation's first position coordinate and degree of freedom.
type Rotation = (usize, usize);

/// [`difference`], or with AHEAD [`difference_ahead`].
#[inline(always)]
fn differences<const AHEAD: bool>(tree: &Tree<f64>, q0: &[f64], q: &[f64], (v, dt): (&[f64], f64), out: &mut [f64]) {
    let mut rotations = [[(0, 0); LANES]; BUNDLES];
    let mut found = 0;
    for node in &tree.nodes {
        let (iq, iv) = (node.q, node.v);
        let along = match node.joint {
            JointType::Revolute | JointType::Prismatic | JointType::Screw => 1,
            JointType::Ball => 0,
            JointType::Free => 3,
        };
        for k in 0..along {
            let end = if AHEAD { q[iq + k] + dt * v[iv + k] } else { q[iq + k] };
            out[iv + k] = end - q0[iq + k];
        }
        if along != 1 {
            rotations[found / LANES][found % LANES] = (iq + along, iv + along);
            found += 1;
        }
        if found == LANES * BUNDLES {
            arcs::<AHEAD>(&rotations, q0, q, (v, dt), out);
            found = 0;
        }
    }
    if found > 0 {
        let used = found.div_ceil(LANES);
        let [[first, ..], ..] = rotations;
        rotations.as_flattened_mut()[found..used * LANES].fill(first);
        arcs::<AHEAD>(&rotations[..used], q0, q, (v, dt), out);
    }
}

/// The shorter arcs of rotations, side by side; of [`BUNDLES`] at most.
#[inline(never)]
fn arcs<const AHEAD: bool>(
    rotations: &[[Rotation; LANES]],
    q0: &[f64],
    q: &[f64],
    (v, dt): (&[f64], f64),
    out: &mut [f64],
) {
    let quat = |[w, x, y, z]: [F64x4; 4]| Quat::new(w, x, y, z);
    let mut turns = [Quat::IDENTITY; BUNDLES];
    for (turn, rotations) in turns.iter_mut().zip(rotations) {
        let (from, to) = (gather(q0, rotations.map(|(iq, _)| iq)), gather(q, rotations.map(|(iq, _)| iq)));
        // No quaternion here need be unit: the logarithm takes any.
        *turn = quat(from).conjugate() * quat(to);
        if AHEAD {
            let [x, y, z] = gather(v, rotations.map(|(_, iv)| iv));
            *turn = *turn * exponential(Vec3::new(x, y, z) * F64x4::splat(dt));
        }
    }
    for (turn, rotations) in turns.iter().zip(rotations) {
        let arcs = turn.rotation_vector().map(F64x4::to_array);
        for (k, (_, iv)) in rotations.iter().enumerate() {
            out[*iv..iv + 3].copy_from_slice(&[arcs.x[k], arcs.y[k], arcs.z[k]]);
        }
    }
}

/// Numbers from `first` on, a lane for each.
#[inline(always)]
fn gather<const N: usize>(x: &[f64], first: [usize; LANES]) -> [F64x4; N] {
    let rows = first.map(|i| &x[i..i + N]);
    std::array::from_fn(|k| F64x4::from_array(rows.map(|row| row[k])))
}

/// Quaternions of rotation vectors, of any norm.
#[inline(always)]
fn exponential(theta: Vec3<F64x4>) -> Quat<F64x4> {
    /// Up to here the exponential map of short vectors is exact to round-off.
    const SHORT: f64 = 4.0;
    let (short, square) = Quat::from_short_rotation_vector(theta);
    if square.to_array().iter().any(|square| *square > SHORT) { long_exponential(theta, short, SHORT) } else { short }
}

/// The same where some turn far: these alone, so that no lane depends on the others.
#[cold]
fn long_exponential(theta: Vec3<F64x4>, mut quat: Quat<F64x4>, short: f64) -> Quat<F64x4> {
    for k in 0..LANES {
        let theta = theta.map(|x| x.lane(k));
        if theta.norm_squared() > short {
            let Quat { w, x, y, z } = Quat::from_rotation_vector(theta);
            quat.w.set_lane(k, w);
            quat.x.set_lane(k, x);
            quat.y.set_lane(k, y);
            quat.z.set_lane(k, z);
        }
    }
    quat
}
