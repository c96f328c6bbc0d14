//! The articulated-body algorithm in three passes, with or without joint impedances (MABA).
//!
//! ```text
//! (M + Λ) v̇ = τ − C(q, v)
//! ```
//!
//! RBDA §7.3 in world axes; Λ ⪰ 0 as in (★) of [`Factor`](crate::Factor). With τ = −K_p(…) − K_d v and Λ = dt K_d it is the
//! modified algorithm of Yin and Yin, *Linear Time Stable PD Controllers* (2020), equations 30 to 46.
//!
//! A ball joint with rotational block A, coupling B and impedance K leaves, with E = (A + K)⁻¹,
//!
//! ```text
//! A' = K E A    B' = K E B    C' = C − Bᵀ E B    n' = τ − K E u    f' = f + Bᵀ E u        u = τ − n
//! ```
//!
//! With K alike about all axes, a number, K E A = K (1 − K E): on the diagonal that cancels digits where K is large, elsewhere it
//! is a product. Without impedance A' = B' = 0 and n' = τ: nothing cancels, and of the shift to the parent half is left.

use spatial::{Real, Twist, Vec3};

use super::articulated::{ARTICULATED, Articulated, JointDrive, Own, Reduced, eliminate, expand};
use super::broadcast::{Broadcast, read_vec};
use super::packed::{HandOver, PackedTree};
use super::placed::{Frame, PLACED, Placed, place_joint};
use crate::NO_PARENT;

/// The impedance of the joints, Λ: diagonal over the degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub struct Impedance<'a, T> {
    /// The diagonal, (nv).
    pub diagonal: &'a [T],
    /// Whether the rotations of every ball and free joint have one and the same impedance: then it need not be turned. Only
    /// the first of the three is read.
    pub uniform: bool,
}

/// Scratch of forward dynamics.
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamics<T> {
    placed: Vec<[T; PLACED]>,
    reduced: Vec<Reduced<T>>,
    store: Vec<Articulated<T>>,
    accelerations: Vec<Twist<T>>,
}

impl<T: Real> ForwardDynamics<T>
where
    T::Scalar: Broadcast<T>,
{
    /// Scratch for a tree.
    pub fn new(tree: &PackedTree<T::Scalar>) -> Self {
        let n = tree.len();
        Self {
            placed: vec![[T::ZERO; PLACED]; n],
            reduced: vec![Reduced::ZERO; n],
            store: vec![Articulated::ZERO; n],
            accelerations: vec![Twist::ZERO; n],
        }
    }

    /// v̇ = M⁻¹(τ − C), at `q` (nq), `v`, `tau` (nv), in the field `gravity`.
    ///
    /// Quaternions of `q` are taken to be unit to about 1e-8; what they are off by is put right to second order.
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn aba<I: Broadcast<T>>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        q: &[I],
        v: &[I],
        tau: &[I],
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        self.place(tree, q, v);
        self.reduce::<I, false>(tree, tau, Impedance { diagonal: &[], uniform: true }, gravity);
        self.expand::<I, false>(tree, gravity, acceleration);
    }

    /// v̇ = (M + Λ)⁻¹(τ − C), as [`aba`](Self::aba).
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn maba<I: Broadcast<T>>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        q: &[I],
        v: &[I],
        tau: &[I],
        impedance: Impedance<'_, I>,
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        self.place(tree, q, v);
        self.reduce::<I, true>(tree, tau, impedance, gravity);
        self.expand::<I, true>(tree, gravity, acceleration);
    }

    /// From the roots to the leaves: placements, angular velocities, and what they do to accelerations.
    #[inline(always)]
    fn place<I: Broadcast<T>>(&mut self, tree: &PackedTree<T::Scalar>, q: &[I], v: &[I]) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let (constants, q, v) = (&node.constants, &q[node.q..], &v[node.v..]);
            let pos = read_vec(constants.pos);
            let (before, out) = self.placed.split_at_mut(i);
            let out = &mut out[0];
            if node.parent == NO_PARENT {
                place_joint(node.joint, node.turned, constants, &Frame::WORLD, pos, q, v, out);
            } else {
                let parent = Placed::from_array(&before[node.parent]).frame;
                place_joint(node.joint, node.turned, constants, &parent, parent.rot * pos, q, v, out);
            }
        }
    }

    /// From the leaves to the roots: eliminates the joints.
    #[inline(always)]
    fn reduce<I: Broadcast<T>, const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        tau: &[I],
        impedance: Impedance<'_, I>,
        gravity: Vec3<T>,
    ) {
        let mut carried = [T::ZERO; ARTICULATED];
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let placed = &Placed::from_array(&self.placed[i]);
            let own = Own::new(&node.constants, placed.frame.rot, placed.frame.omega);
            let mut whole = if node.carries { own.with(&Articulated::from_array(&carried)) } else { own.alone() };
            if node.gathers {
                whole.add(&self.store[i]);
            }
            let lambda = if IMPEDANCE { &impedance.diagonal[node.v..] } else { &[] };
            let drive = JointDrive { tau: &tau[node.v..], lambda, uniform: impedance.uniform };
            let reduced = &mut self.reduced[i];
            eliminate::<T, _, _, IMPEDANCE>(
                node.joint,
                &node.constants,
                placed,
                &whole,
                drive,
                gravity,
                reduced,
                &mut carried,
            );
            match node.hand_over {
                HandOver::Put => self.store[node.parent] = Articulated::from_array(&carried),
                HandOver::Add => self.store[node.parent].add(&Articulated::from_array(&carried)),
                HandOver::Carry | HandOver::Drop => {}
            }
        }
    }

    /// From the roots to the leaves: accelerations.
    #[inline(always)]
    fn expand<I: Broadcast<T>, const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let (placed, reduced) = (&Placed::from_array(&self.placed[i]), &self.reduced[i]);
            // An accelerated world is a world with gravity.
            let base = if node.parent == NO_PARENT {
                Twist { ang: Vec3::ZERO, lin: -gravity }
            } else {
                self.accelerations[node.parent]
            };
            let out = &mut acceleration[node.v..];
            self.accelerations[i] =
                expand::<T, _, IMPEDANCE>(node.joint, &node.constants, placed, reduced, base, gravity, out);
        }
    }
}
