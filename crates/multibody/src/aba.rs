//! The impedance articulated-body algorithm: one factorisation for every linear system on a tree,
//!
//! ```text
//! (M + Λ + Σ_b J_bᵀ Ĝ_b J_b) x = r                                   (★)
//! ```
//!
//! in O(n) and without forming M (RBDA §7.3 with impedances; Featherstone's symbols). Λ ⪰ 0 is diagonal over the
//! degrees of freedom (armature, damping, stiffness, gains, limits) but for a full 3×3 block where a ball joint
//! has one; Ĝ_b ⪰ 0 is a 6×6 impedance between body b and the world (contacts). The factor is kept apart from the
//! solve: many right-hand sides meet one factor.
//!
//! In world axes with each node's frame at its own joint, so that a shift to the parent is cross products only.
//! A ball joint with rotational block A, coupling B and impedance K reduces to A' = K E A, B' = K E B,
//! C' = C − Bᵀ E B with E = (A + K)⁻¹: neither large nor small K cancels digits.

use std::ops::Range;

use spatial::{ArticulatedInertia, Mat3, Real, Sym3, Twist, Vec3, Wrench};

use crate::elimination::{Articulated, Eliminated, eliminate};
use crate::kinematics::{joint_twist, set3};
use crate::{JointImpedance, Kinematics, NO_PARENT, Node, Tree};

/// The factor of (★), and the scratch of its solves.
#[derive(Clone, Debug)]
pub struct Factor<T: Real> {
    joints: Vec<Eliminated<T>>,
    articulated: Vec<Articulated<T>>,
    /// The bias forces of a solve on its way up the tree.
    bias: Vec<Wrench<T>>,
    /// J x of the last [`Factor::solve`]: the motion of every node's origin.
    pub motions: Vec<Twist<T>>,
}

impl<T: Real> Default for Factor<T> {
    /// That of no tree.
    fn default() -> Self {
        Self { joints: Vec::new(), articulated: Vec::new(), bias: Vec::new(), motions: Vec::new() }
    }
}

impl<T: Real + PartialEq> Factor<T> {
    /// Storage for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        let mut factor = Self::default();
        factor.resize(tree.len());
        factor
    }

    /// Makes room for a tree of `n` nodes; allocates only when it never had as many.
    pub fn resize(&mut self, n: usize) {
        self.joints.resize(n, Eliminated::NONE);
        self.articulated.resize(n, Articulated::ZERO);
        self.bias.resize(n, Wrench::ZERO);
        self.motions.resize(n, Twist::ZERO);
    }

    /// What is left of the joint of node `i`.
    pub(crate) fn eliminated(&self, i: usize) -> &Eliminated<T> {
        &self.joints[i]
    }

    /// Factors (★) for the nodes of `range` (a union of whole trees).
    ///
    /// `impedance` has one operator per node of the whole tree, about the node's origin in world axes, or is none.
    pub fn factor(
        &mut self,
        tree: &Tree<T>,
        range: Range<usize>,
        kin: &Kinematics<T>,
        joints: &JointImpedance<T>,
        impedance: Option<&[ArticulatedInertia<T>]>,
    ) {
        for i in range.clone() {
            let mut inertia = kin.frames[i].inertia.articulated();
            if let Some(g) = impedance {
                inertia += g[i];
            }
            self.articulated[i] = Articulated::new(&inertia);
        }
        for i in range.rev() {
            let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
            let left = eliminate(node, frame, &self.articulated[i], joints, i, &mut self.joints[i]);
            if node.parent != NO_PARENT {
                let sum = &mut self.articulated[node.parent];
                *sum = sum.plus(&left.shifted_back(frame.offset));
            }
        }
    }

    /// [`factor`](Self::factor) of M + Λ and [`solve_biased`](Self::solve_biased) of a whole tree, in one pass up.
    #[inline(always)]
    pub(crate) fn factor_and_solve(
        &mut self,
        tree: &Tree<T>,
        kin: &Kinematics<T>,
        joints: &JointImpedance<T>,
        input: FactorInput<'_, T, impl Fn(usize) -> Articulated<T>, impl Fn(usize) -> Wrench<T>>,
        x: &mut [T],
    ) {
        let n = tree.nodes.len();
        let (articulated, biases) = (&mut self.articulated[..n], &mut self.bias[..n]);
        for (i, (articulated, bias)) in articulated.iter_mut().zip(biases.iter_mut()).enumerate() {
            (*articulated, *bias) = ((input.inertia)(i), (input.bias)(i));
        }
        let (frames, eliminated) = (&kin.frames[..n], &mut self.joints[..n]);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (frame, out) = (&frames[i], &mut eliminated[i]);
            let mut left = eliminate(node, frame, &articulated[i], joints, i, out);
            let mut bias = out.reduce(node, frame, biases[i], input.r, x);
            if node.parent != NO_PARENT {
                if !node.is_at_parent() {
                    (left, bias) = (left.shifted_back(frame.offset), bias.shifted_back(frame.offset));
                }
                let (sum, sum_of_bias) = (&mut articulated[node.parent], &mut biases[node.parent]);
                (*sum, *sum_of_bias) = (sum.plus(&left), *sum_of_bias + bias);
            }
        }
        self.expand(tree, 0..n, kin, x);
    }

    /// x = (★)⁻¹ (r + Σ_b J_bᵀ w_b), with the motions J x of all nodes left in [`Factor::motions`].
    ///
    /// `r` and `x` are indexed by dof; `w` has one wrench per node about its origin, or is none.
    pub fn solve(
        &mut self,
        tree: &Tree<T>,
        range: Range<usize>,
        kin: &Kinematics<T>,
        r: &[T],
        w: Option<&[Wrench<T>]>,
        x: &mut [T],
    ) {
        let bias = |i: usize| w.map_or(Wrench::ZERO, |w| -w[i]);
        self.solve_biased(tree, range, kin, r, bias, x);
    }

    /// [`solve`](Self::solve) with −w given as the bias forces p.
    #[inline(always)]
    pub(crate) fn solve_biased(
        &mut self,
        tree: &Tree<T>,
        range: Range<usize>,
        kin: &Kinematics<T>,
        r: &[T],
        bias: impl Fn(usize) -> Wrench<T>,
        x: &mut [T],
    ) {
        for i in range.clone() {
            self.bias[i] = bias(i);
        }
        for i in range.clone().rev() {
            let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
            let left = self.joints[i].reduce(node, frame, self.bias[i], r, x);
            if node.parent != NO_PARENT {
                self.bias[node.parent] += left.shifted_back(frame.offset);
            }
        }
        self.expand(tree, range, kin, x);
    }

    /// The way down of a solve: x of every joint, and the motions of the nodes.
    #[inline(always)]
    pub(crate) fn expand(&mut self, tree: &Tree<T>, range: Range<usize>, kin: &Kinematics<T>, x: &mut [T]) {
        for i in range {
            let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
            let carried = match node.parent {
                NO_PARENT => Twist::ZERO,
                parent => self.motions[parent].shifted(frame.offset),
            };
            self.motions[i] = self.joints[i].expand(node, frame, carried, x);
        }
    }

    /// The motion of node `i` under a wrench on the same node, both about its origin: the product of the wrench with the
    /// diagonal block Ω_i = J_i (★)⁻¹ J_iᵀ of the Delassus operator.
    ///
    /// `of_parent` is the block Ω of the parent in world axes, `None` at a root: what the joint of node `i` does not give
    /// way to reaches the parent, whose motion carries node `i`. O(1), so that the blocks of all nodes, parents first, cost
    /// O(n).
    pub fn response(
        &self,
        tree: &Tree<T>,
        kin: &Kinematics<T>,
        i: usize,
        w: Wrench<T>,
        of_parent: Option<&ArticulatedInertia<T>>,
    ) -> Twist<T> {
        self.motion_of(tree, kin, i, Push { wrench: w, force: [T::ZERO; 6] }, of_parent).0
    }

    /// The block Ω_i = J_i (★)⁻¹ J_iᵀ of node `i`, in world axes; `of_parent` as for [`response`](Self::response).
    pub(crate) fn delassus_block(
        &self,
        tree: &Tree<T>,
        kin: &Kinematics<T>,
        i: usize,
        of_parent: Option<&ArticulatedInertia<T>>,
    ) -> ArticulatedInertia<T> {
        let column = |ang, lin| self.response(tree, kin, i, Wrench { ang, lin }, of_parent);
        let Mat3 { x, y, z } = Mat3::IDENTITY;
        let spin = [x, y, z].map(|e| column(e, Vec3::ZERO));
        let push = [x, y, z].map(|e| column(Vec3::ZERO, e));
        ArticulatedInertia {
            a: Sym3::lower(Mat3::from_columns(spin[0].ang, spin[1].ang, spin[2].ang)),
            b: Mat3::from_columns(push[0].ang, push[1].ang, push[2].ang),
            c: Sym3::lower(Mat3::from_columns(push[0].lin, push[1].lin, push[2].lin)),
        }
    }

    /// The entry of (★)⁻¹ on the diagonal for degree of freedom `k` of node `i`; `of_parent` as for [`response`](Self::response).
    pub(crate) fn inverse_entry(
        &self,
        tree: &Tree<T>,
        kin: &Kinematics<T>,
        i: usize,
        k: usize,
        of_parent: Option<&ArticulatedInertia<T>>,
    ) -> T {
        let mut force = [T::ZERO; 6];
        force[k] = T::ONE;
        self.motion_of(tree, kin, i, Push { wrench: Wrench::ZERO, force }, of_parent).1[k]
    }

    /// The motion of node `i` and of its joint under a push on both.
    fn motion_of(
        &self,
        tree: &Tree<T>,
        kin: &Kinematics<T>,
        i: usize,
        push: Push<T>,
        of_parent: Option<&ArticulatedInertia<T>>,
    ) -> (Twist<T>, [T; 6]) {
        let (node, frame) = (Node { v: 0, ..tree.nodes[i] }, &kin.frames[i]);
        let mut x = [T::ZERO; 6];
        let left = self.joints[i].reduce(&node, frame, -push.wrench, &push.force, &mut x);
        let carried = of_parent.map_or(Twist::ZERO, |ArticulatedInertia { a, b, c }| {
            let w = -left.shifted_back(frame.offset);
            let motion = Twist { ang: *a * w.ang + *b * w.lin, lin: b.transpose_mul(w.ang) + *c * w.lin };
            motion.shifted(frame.offset)
        });
        (self.joints[i].expand(&node, frame, carried, &mut x), x)
    }

    /// An estimate of diag(★): the articulated-body D of every joint, (nv). Below the true diagonal, above the
    /// Schur complement of everything else; it gives the degrees of freedom common units.
    pub fn diagonal(&self, tree: &Tree<T>, range: Range<usize>, out: &mut [T]) {
        for i in range {
            let node = &tree.nodes[i];
            match &self.joints[i] {
                Eliminated::Single { d_inv, .. } => out[node.v] = d_inv.recip(),
                Eliminated::Ball { e, .. } => set3(&mut out[node.v..], reciprocals(Sym3::lower(*e).diag())),
                Eliminated::Free { e, c_inv, .. } => {
                    set3(&mut out[node.v..], reciprocals(c_inv.diag()));
                    set3(&mut out[node.v + 3..], reciprocals(e.diag()));
                }
            }
        }
    }

    /// 1/D of a joint with one degree of freedom, or the mean over those of a joint with several that turn as its degree of freedom `k`
    /// does, or shift as it does: an estimate of the joint's entry in the inverse of (★).
    pub fn inverse_diagonal(&self, i: usize, k: usize) -> T {
        let mean = |d: Vec3<T>| (d.x + d.y + d.z) * T::from_f64(1.0 / 3.0);
        match &self.joints[i] {
            Eliminated::Single { d_inv, .. } => *d_inv,
            Eliminated::Ball { e, .. } => mean(Sym3::lower(*e).diag()),
            Eliminated::Free { e, c_inv, b } if k < 3 => {
                // C⁻¹ + C⁻¹ Bᵀ E B C⁻¹
                let Mat3 { x, y, z } = (*c_inv * b.transpose()).transpose();
                let of_turn = [x, y, z].map(|column| column.dot(*e * column));
                mean(c_inv.diag() + Vec3::from(of_turn))
            }
            Eliminated::Free { e, .. } => mean(e.diag()),
        }
    }

    /// The same estimate for degree of freedom `k` of the joint alone, whatever the others do.
    pub fn inverse_diagonal_of(&self, i: usize, k: usize) -> T {
        match &self.joints[i] {
            Eliminated::Single { d_inv, .. } => *d_inv,
            Eliminated::Ball { e, .. } => Sym3::lower(*e).diag().to_array()[k],
            Eliminated::Free { c_inv, .. } if k < 3 => c_inv.diag().to_array()[k],
            Eliminated::Free { e, .. } => e.diag().to_array()[k - 3],
        }
    }
}

/// What is factored and solved for: inertias and bias forces of nodes about their origins, and forces on the degrees of freedom, (nv).
pub(crate) struct FactorInput<'a, T, I, B> {
    pub inertia: I,
    pub bias: B,
    pub r: &'a [T],
}

/// A wrench on a node about its origin, and forces on the degrees of freedom of its joint.
struct Push<T: Real> {
    wrench: Wrench<T>,
    force: [T; 6],
}

fn reciprocals<T: Real>(d: Vec3<T>) -> Vec3<T> {
    d.map(T::recip)
}

/// y = (M + Λ) x and the motions J x of all nodes, in one traversal down and up.
pub fn apply<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    joints: &JointImpedance<T>,
    x: &[T],
    motions: &mut [Twist<T>],
    momenta: &mut [Wrench<T>],
    y: &mut [T],
) {
    let Some((first, last)) = tree.nodes[range.clone()].first().zip(tree.nodes[range.clone()].last()) else { return };
    y[first.v..last.v + last.joint.nv()].fill(T::ZERO);
    for i in range.clone() {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let mut motion = joint_twist(node, frame, x);
        if node.parent != NO_PARENT {
            motion += motions[node.parent].shifted(frame.offset);
        }
        motions[i] = motion;
        momenta[i] = frame.inertia.momentum(motion);
    }
    crate::kinematics::add_generalized_forces(tree, range.clone(), kin, momenta, y);
    joints.add_product(tree, range, x, y);
}
