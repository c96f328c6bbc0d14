//! What is done to every joint of a configuration, rotations side by side: what is a long chain of operations for one takes little
//! longer for eight.

use spatial::{F64x4, F64x4x2, Quat, Real, Vec3};

use crate::{JointType, Tree};

/// The most that are side by side.
pub(crate) const MOST: usize = F64x4x2::LANES;

/// The first position coordinate and the first degree of freedom.
pub(crate) type Place = (usize, usize);

/// What is done.
pub(crate) trait PerJoint {
    /// To a coordinate that adds up.
    fn slide(&mut self, place: Place);

    /// To the rotations at the first `T::LANES` places; some may be the same. All are read before any is written.
    fn turn<T: Lanes>(&mut self, places: &[Place; MOST]);
}

/// Does it to all joints of a tree.
#[inline(always)]
pub(crate) fn for_each(tree: &Tree<f64>, work: &mut impl PerJoint) {
    let (mut places, mut found) = ([(0, 0); MOST], 0);
    for node in &tree.nodes {
        let (iq, iv) = (node.q, node.v);
        match node.joint {
            JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                work.slide((iq, iv));
                continue;
            }
            JointType::Ball => places[found] = (iq, iv),
            JointType::Free => {
                for k in 0..3 {
                    work.slide((iq + k, iv + k));
                }
                places[found] = (iq + 3, iv + 3);
            }
        }
        found += 1;
        if found == MOST {
            work.turn::<F64x4x2>(&places);
            found = 0;
        }
    }
    if found == 0 {
        return;
    }
    let first = places[0];
    places[found..].fill(first);
    match found {
        // A free body.
        1 => work.turn::<f64>(&places),
        2..=F64x4::LANES => work.turn::<F64x4>(&places),
        _ => work.turn::<F64x4x2>(&places),
    }
}

/// As many as are side by side.
pub(crate) trait Lanes: Real<Scalar = f64> {
    /// Numbers from `first` on, a lane for each.
    fn gather<const N: usize>(x: &[f64], first: [usize; MOST]) -> [Self; N];

    /// Quaternions at these places, as they are, unit or not.
    #[inline(always)]
    fn quaternions(q: &[f64], places: &[Place; MOST]) -> Quat<Self> {
        let [w, x, y, z] = Self::gather(q, places.map(|(iq, _)| iq));
        Quat::new(w, x, y, z)
    }

    /// Angular velocities at these places.
    #[inline(always)]
    fn vectors(v: &[f64], places: &[Place; MOST]) -> Vec3<Self> {
        let [x, y, z] = Self::gather(v, places.map(|(_, iv)| iv));
        Vec3::new(x, y, z)
    }
}

impl Lanes for f64 {
    #[inline(always)]
    fn gather<const N: usize>(x: &[f64], [first, ..]: [usize; MOST]) -> [Self; N] {
        let x = &x[first..first + N];
        std::array::from_fn(|k| x[k])
    }
}

impl Lanes for F64x4 {
    #[inline(always)]
    fn gather<const N: usize>(x: &[f64], [a, b, c, d, ..]: [usize; MOST]) -> [Self; N] {
        // Written out: `map` to slices becomes a call.
        let (a, b, c, d) = (&x[a..a + N], &x[b..b + N], &x[c..c + N], &x[d..d + N]);
        std::array::from_fn(|k| Self::from_array([a[k], b[k], c[k], d[k]]))
    }
}

impl Lanes for F64x4x2 {
    #[inline(always)]
    fn gather<const N: usize>(x: &[f64], first: [usize; MOST]) -> [Self; N] {
        let [a, b, c, d, e, f, g, h] = first;
        let (low, high) = (F64x4::gather::<N>(x, first), F64x4::gather::<N>(x, [e, f, g, h, a, b, c, d]));
        std::array::from_fn(|k| Self::of(low[k], high[k]))
    }
}

/// Multiples of the unit quaternions of rotation vectors, however long these are.
#[inline(always)]
pub(crate) fn exponential<T: Lanes>(theta: Vec3<T>) -> Quat<T> {
    /// Up to here the exponential map of short vectors is exact to round-off.
    const SHORT: f64 = 4.0;
    let (short, square) = Quat::from_short_rotation_vector(theta);
    let are_short = T::scalars(&[square]).iter().all(|square| *square <= SHORT);
    if are_short { short } else { long_exponential(theta, short, SHORT) }
}

/// The same where some turn far: these alone, so that no lane depends on the others.
#[cold]
fn long_exponential<T: Lanes>(theta: Vec3<T>, mut quat: Quat<T>, short: f64) -> Quat<T> {
    for k in 0..T::LANES {
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
