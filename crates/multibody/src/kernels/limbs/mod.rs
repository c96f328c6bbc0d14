//! One world, its limbs across lanes.
//!
//! Nodes of one joint type that do not depend on each other (the hips; elbows and knees) are worked on side by side: 13
//! bodies of a person in 5 rows, 23 of a dog in 7. See [`schedule`]; the arithmetic is that of
//! [`ForwardDynamics`](super::ForwardDynamics), lane by lane.

mod plan;
mod schedule;

use spatial::{Real, Twist, Vec3};

use super::Impedance;
use super::articulated::{ARTICULATED, Articulated, JointDrive, Own, Reduced, eliminate, expand};
use super::broadcast::Coordinates;
use super::placed::{FRAME, Frame, PLACED, Placed, place_joint};
use super::transposed::{MAX_LANES, Out, TransposedRows};
use crate::{JointType, Tree};
use plan::{Legacies, Parents, Plan, SUMMED, Slot};

/// Forward dynamics of one world over `T::LANES` limbs at a time: a plan for a tree, and scratch.
#[derive(Clone, Debug)]
pub struct LimbDynamics<T> {
    plan: Plan<T>,
    nodes: usize,
    reduced: Vec<Reduced<T>>,
    /// These three begin with the world's row.
    placed: Vec<[T; PLACED]>,
    legacies: Vec<[T; ARTICULATED]>,
    accelerations: Vec<[T; 6]>,
}

impl<T: Real> LimbDynamics<T> {
    /// A plan for a tree.
    ///
    /// # Panics
    /// When `T` has more than eight lanes.
    pub fn new(tree: &Tree<f64>) -> Self {
        let plan = Plan::new(tree);
        let n = plan.rows.len();
        Self {
            nodes: tree.len(),
            reduced: vec![Reduced::ZERO; n],
            placed: vec![Placed::resting(Frame::WORLD).to_array(); n + 1],
            legacies: vec![[T::ZERO; ARTICULATED]; n + 1],
            accelerations: vec![[T::ZERO; 6]; n + 1],
            plan,
        }
    }

    /// The number of rows: what is worked on one after the other.
    pub fn rows(&self) -> usize {
        self.plan.rows.len()
    }

    /// Whether there are so many fewer rows than nodes that this is faster than [`NodeDynamics`](super::NodeDynamics): a row takes as
    /// long as 1.6 hinges or 2.1 ball joints there.
    pub fn pays(&self) -> bool {
        4 * self.nodes > 7 * self.rows()
    }

    /// v̇ = M⁻¹(τ − C), as [`ForwardDynamics::aba`](super::ForwardDynamics::aba), to round-off.
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn aba(
        &mut self,
        q: &[T::Scalar],
        v: &[T::Scalar],
        tau: &[T::Scalar],
        gravity: Vec3<T>,
        acceleration: &mut [T::Scalar],
    ) {
        self.place(q, v);
        self.reduce::<false>(tau, Impedance { diagonal: &[], uniform: true }, gravity);
        self.expand::<false>(gravity, acceleration);
    }

    /// v̇ = (M + Λ)⁻¹(τ − C), as [`ForwardDynamics::maba`](super::ForwardDynamics::maba), to round-off.
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn maba(
        &mut self,
        q: &[T::Scalar],
        v: &[T::Scalar],
        tau: &[T::Scalar],
        impedance: Impedance<'_, T::Scalar>,
        gravity: Vec3<T>,
        acceleration: &mut [T::Scalar],
    ) {
        self.place(q, v);
        self.reduce::<true>(tau, impedance, gravity);
        self.expand::<true>(gravity, acceleration);
    }

    #[inline(always)]
    fn place(&mut self, q: &[T::Scalar], v: &[T::Scalar]) {
        assert!(q.len() >= self.plan.nq && v.len() >= self.plan.nv, "expected a configuration and a velocity");
        for (k, row) in self.plan.rows.iter().enumerate() {
            let parent = parent_frame(&self.placed, &row.parents);
            let q = TransposedRows { x: q, first: &row.q };
            let v: [T; 6] = velocity(row.joint, TransposedRows { x: v, first: &row.v });
            let offset = parent.rot * row.constants.pos;
            place_joint(row.joint, row.turned, &row.constants, &parent, offset, q, &v[..], &mut self.placed[k + 1]);
        }
    }

    #[inline(always)]
    fn reduce<const IMPEDANCE: bool>(
        &mut self,
        tau: &[T::Scalar],
        impedance: Impedance<'_, T::Scalar>,
        gravity: Vec3<T>,
    ) {
        let nv = self.plan.nv;
        assert!(tau.len() >= nv && (!IMPEDANCE || impedance.diagonal.len() >= nv), "expected forces and impedances");
        for (k, row) in self.plan.rows.iter().enumerate().rev() {
            let placed = Placed::from_array(&self.placed[k + 1]);
            let mut whole = Own::new(&row.constants, placed.frame.rot, placed.frame.omega).alone();
            inherit(&mut whole, &row.legacies, &self.legacies);
            let drive = JointDrive {
                tau: TransposedRows { x: tau, first: &row.v },
                lambda: TransposedRows { x: impedance.diagonal, first: &row.v },
                uniform: impedance.uniform,
            };
            eliminate::<T, _, _, IMPEDANCE>(
                row.joint,
                &row.constants,
                &placed,
                &whole,
                drive,
                gravity,
                &mut self.reduced[k],
                &mut self.legacies[k + 1],
            );
        }
    }

    #[inline(always)]
    fn expand<const IMPEDANCE: bool>(&mut self, gravity: Vec3<T>, acceleration: &mut [T::Scalar]) {
        assert!(acceleration.len() >= self.plan.nv, "expected room for accelerations");
        // An accelerated world is a world with gravity.
        self.accelerations[0] = [T::ZERO, T::ZERO, T::ZERO, -gravity.x, -gravity.y, -gravity.z];
        for (k, row) in self.plan.rows.iter().enumerate() {
            let placed = Placed::from_array(&self.placed[k + 1]);
            let [a, b, c, x, y, z] = fetch(&self.accelerations, &row.parents);
            let base = Twist { ang: Vec3::new(a, b, c), lin: Vec3::new(x, y, z) };
            let out = Out { out: acceleration, first: &row.v, used: &row.used };
            let Twist { ang, lin } =
                expand::<T, _, IMPEDANCE>(row.joint, &row.constants, &placed, &self.reduced[k], base, gravity, out);
            self.accelerations[k + 1] = [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z];
        }
    }
}

/// The velocities of the joints of a row, and zeros. To be gathered first: what is gathered takes long to arrive.
#[inline(always)]
fn velocity<T: Real>(joint: JointType, v: TransposedRows<'_, T::Scalar>) -> [T; 6] {
    match joint {
        JointType::Ball => {
            let [x, y, z] = v.read();
            [x, y, z, T::ZERO, T::ZERO, T::ZERO]
        }
        JointType::Free => v.read(),
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            [v.read1(), T::ZERO, T::ZERO, T::ZERO, T::ZERO, T::ZERO]
        }
    }
}

/// The numbers that begin at a slot, `T::LANES` apart.
#[inline(always)]
fn at<T: Real, const N: usize>(rows: &[[T; N]], slot: Slot) -> &[T::Scalar] {
    let all = T::scalars(rows.as_flattened());
    &all[slot.row * N * T::LANES + slot.lane..][..(N - 1) * T::LANES + 1]
}

/// What the lanes of a row find with their parents.
#[inline(always)]
fn fetch<T: Real, const N: usize>(rows: &[[T; N]], parents: &Parents) -> [T; N] {
    match parents {
        Parents::Row(row) => rows[*row],
        Parents::One(slot) => fetch_one(rows, *slot),
        Parents::Each(slots) => fetch_each(rows, slots),
    }
}

/// The first `M` numbers alone.
#[inline(always)]
fn fetch_one<T: Real, const N: usize, const M: usize>(rows: &[[T; N]], slot: Slot) -> [T; M] {
    let x = at(rows, slot);
    let mut out = [T::ZERO; M];
    for k in 0..M {
        out[k] = T::splat(x[k * T::LANES]);
    }
    out
}

/// The first `M` numbers alone.
#[inline(always)]
fn fetch_each<T: Real, const N: usize, const M: usize>(rows: &[[T; N]], slots: &[Slot; MAX_LANES]) -> [T; M] {
    let mut out = [T::ZERO; M];
    for lane in 0..T::LANES {
        let x = at(rows, slots[lane]);
        for k in 0..M {
            out[k].set_lane(lane, x[k * T::LANES]);
        }
    }
    out
}

/// The parents' frames. Gathered from several rows, the rotation matrix is worked out again: it costs less than its
/// nine numbers.
#[inline(always)]
fn parent_frame<T: Real>(placed: &[[T; PLACED]], parents: &Parents) -> Frame<T> {
    match parents {
        Parents::Row(row) => Placed::from_array(&placed[*row]).frame,
        Parents::One(slot) => Frame::from_array(fetch_one::<T, PLACED, FRAME>(placed, *slot)),
        Parents::Each(slots) => Frame::of_turn(fetch_each(placed, slots)),
    }
}

/// Adds what children leave.
#[inline(always)]
fn inherit<T: Real>(whole: &mut Articulated<T>, legacies: &Legacies<T>, left: &[[T; ARTICULATED]]) {
    if let Some(heirs) = &legacies.heirs {
        whole.add_scaled(heirs.lanes, &Articulated::from_array(&left[heirs.row]));
    }
    for heirs in &legacies.other_heirs {
        whole.add_scaled(heirs.lanes, &Articulated::from_array(&left[heirs.row]));
    }
    if let Some(sum) = &legacies.sum {
        whole.add_scaled(sum.lanes, &sum_over(left, &sum.slots));
    }
    for sum in &legacies.other_sums {
        whole.add_scaled(sum.lanes, &sum_over(left, &sum.slots));
    }
}

/// The sum over slots, in every lane. Written out, so that it all stays in registers.
#[inline(always)]
#[rustfmt::skip]
fn sum_over<T: Real>(left: &[[T; ARTICULATED]], [a, b, c]: &[Slot; SUMMED]) -> Articulated<T> {
    let s = [at(left, *a), at(left, *b), at(left, *c)];
    Articulated::from_array(&[
        sum(&s, 0), sum(&s, 1), sum(&s, 2), sum(&s, 3), sum(&s, 4), sum(&s, 5), sum(&s, 6),
        sum(&s, 7), sum(&s, 8), sum(&s, 9), sum(&s, 10), sum(&s, 11), sum(&s, 12), sum(&s, 13),
        sum(&s, 14), sum(&s, 15), sum(&s, 16), sum(&s, 17), sum(&s, 18), sum(&s, 19), sum(&s, 20),
        sum(&s, 21), sum(&s, 22), sum(&s, 23), sum(&s, 24), sum(&s, 25), sum(&s, 26),
    ])
}

#[inline(always)]
fn sum<T: Real>([a, b, c]: &[&[T::Scalar]; SUMMED], k: usize) -> T {
    let i = k * T::LANES;
    T::splat(a[i] + b[i] + c[i])
}
