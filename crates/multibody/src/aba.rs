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

use crate::kinematics::{NodeFrame, add3, joint_twist, set3, vec3};
use crate::{JointType, Kinematics, NO_PARENT, Node, Tree};

/// The impedance of the joints, Λ.
#[derive(Clone, Debug, Default)]
pub struct JointImpedance<T> {
    /// The diagonal, (nv).
    pub diagonal: Vec<T>,
    /// (xy, xz, yz) of a ball joint's block in the child's frame, one per node; zero for other nodes.
    pub ball: Vec<[T; 3]>,
}

impl<T: Real> JointImpedance<T> {
    /// No impedance.
    pub fn new(tree: &Tree<T>) -> Self {
        Self { diagonal: vec![T::ZERO; tree.nv], ball: vec![[T::ZERO; 3]; tree.len()] }
    }

    pub(crate) fn ball_block(&self, node: &Node<T>, i: usize) -> Sym3<T> {
        let [xy, xz, yz] = self.ball[i];
        let d = &self.diagonal[node.v..node.v + 3];
        Sym3 { xx: d[0], xy, xz, yy: d[1], yz, zz: d[2] }
    }

    /// m += Λ, `m` a square matrix of `stride` rows over all degrees of freedom of the tree.
    pub fn add_to_matrix(&self, tree: &Tree<T>, m: &mut [T], stride: usize) {
        self.for_triangle(tree, |row, column, x| {
            m[row + column * stride] += x;
            if row != column {
                m[column + row * stride] += x;
            }
        });
    }

    /// Calls `add` with row, column and value of the entries of the lower triangle.
    #[inline(always)]
    fn for_triangle(&self, tree: &Tree<T>, mut add: impl FnMut(usize, usize, T)) {
        for (k, d) in self.diagonal.iter().enumerate() {
            add(k, k, *d);
        }
        for (node, block) in tree.nodes.iter().zip(&self.ball) {
            if node.joint == JointType::Ball {
                for (entry, (row, column)) in block.iter().zip([(1, 0), (2, 0), (2, 1)]) {
                    add(node.v + row, node.v + column, *entry);
                }
            }
        }
    }

    /// out += Λ x for the nodes of `range`.
    pub fn add_product(&self, tree: &Tree<T>, range: Range<usize>, x: &[T], out: &mut [T]) {
        let nodes = &tree.nodes[range.clone()];
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return };
        let dofs = first.v..last.v + last.joint.nv();
        for ((out, d), x) in out[dofs.clone()].iter_mut().zip(&self.diagonal[dofs.clone()]).zip(&x[dofs]) {
            *out += *d * *x;
        }
        for (node, [xy, xz, yz]) in nodes.iter().zip(&self.ball[range]) {
            if node.joint == JointType::Ball {
                let x = vec3(&x[node.v..]);
                let y = Vec3::new(*xy * x.y + *xz * x.z, *xy * x.x + *yz * x.z, *xz * x.x + *yz * x.y);
                add3(&mut out[node.v..], y);
            }
        }
    }
}

/// What the elimination of one joint leaves behind for the solves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Eliminated<T> {
    /// One degree of freedom: H = I^A S and 1/D.
    Single { h: Wrench<T>, d_inv: T },
    /// Three rotations: E = D⁻¹ and H = \[A; Bᵀ\], in world axes.
    Ball { e: Sym3<T>, a: Sym3<T>, b: Mat3<T> },
    /// All six, at a root: E = (A + Λ_ω − B C⁻¹ Bᵀ)⁻¹, the inverse of C + Λ_v, and B.
    Free { e: Sym3<T>, c_inv: Sym3<T>, b: Mat3<T> },
}

/// The factor of (★), and the scratch of its solves.
#[derive(Clone, Debug, Default)]
pub struct Factor<T> {
    joints: Vec<Eliminated<T>>,
    articulated: Vec<ArticulatedInertia<T>>,
    bias: Vec<Wrench<T>>,
    /// J x of the last [`Factor::solve`]: the motion of every node's origin.
    pub motions: Vec<Twist<T>>,
}

impl<T: Real> Factor<T> {
    /// Storage for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        let mut factor = Self { joints: Vec::new(), articulated: Vec::new(), bias: Vec::new(), motions: Vec::new() };
        factor.resize(tree.len());
        factor
    }

    /// Makes room for a tree of `n` nodes; allocates only when it never had as many.
    pub fn resize(&mut self, n: usize) {
        self.joints.resize(n, Eliminated::Single { h: Wrench::ZERO, d_inv: T::ZERO });
        self.articulated.resize(n, ArticulatedInertia::ZERO);
        self.bias.resize(n, Wrench::ZERO);
        self.motions.resize(n, Twist::ZERO);
    }

    /// What is left of every joint, and the motions of the nodes: for those who factor by other means.
    pub(crate) fn parts_mut(&mut self) -> (&mut [Eliminated<T>], &mut [Twist<T>]) {
        (&mut self.joints, &mut self.motions)
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
            self.articulated[i] = kin.frames[i].inertia.articulated();
        }
        if let Some(g) = impedance {
            for i in range.clone() {
                self.articulated[i] += g[i];
            }
        }
        for i in range.rev() {
            self.eliminate(tree, kin, joints, i);
        }
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
        match w {
            Some(w) => {
                for i in range.clone() {
                    self.bias[i] = -w[i];
                }
            }
            None => self.bias[range.clone()].fill(Wrench::ZERO),
        }
        for i in range.clone().rev() {
            self.reduce(tree, kin, r, i, x);
        }
        self.expand(tree, range, kin, x);
    }

    /// Eliminates the joint of node `i` and gives its parent what inertia is left.
    #[inline(always)]
    fn eliminate(&mut self, tree: &Tree<T>, kin: &Kinematics<T>, joints: &JointImpedance<T>, i: usize) {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let (eliminated, rest) = eliminate(node, frame, self.articulated[i], joints, i);
        self.joints[i] = eliminated;
        if node.parent != NO_PARENT {
            self.articulated[node.parent] += rest.shifted_back(frame.offset);
        }
    }

    /// Eliminates the joint of node `i` from the right-hand side.
    #[inline(always)]
    fn reduce(&mut self, tree: &Tree<T>, kin: &Kinematics<T>, r: &[T], i: usize, x: &mut [T]) {
        let (node, frame, p) = (&tree.nodes[i], &kin.frames[i], self.bias[i]);
        let reaction = self.joints[i].reduce(node, frame, p, r, x);
        if node.parent != NO_PARENT {
            self.bias[node.parent] += (p + reaction).shifted_back(frame.offset);
        }
    }

    /// Finds x and the motions of all nodes down the tree.
    #[inline(always)]
    fn expand(&mut self, tree: &Tree<T>, range: Range<usize>, kin: &Kinematics<T>, x: &mut [T]) {
        for i in range {
            let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
            let carried =
                if node.parent == NO_PARENT { None } else { Some(self.motions[node.parent].shifted(frame.offset)) };
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
        let (node, frame, p) = (Node { v: 0, ..tree.nodes[i] }, &kin.frames[i], -w);
        let mut x = [T::ZERO; 6];
        let reaction = self.joints[i].reduce(&node, frame, p, &[T::ZERO; 6], &mut x);
        let carried = of_parent.map(|ArticulatedInertia { a, b, c }| {
            let w = -(p + reaction).shifted_back(frame.offset);
            let motion = Twist { ang: *a * w.ang + *b * w.lin, lin: b.transpose_mul(w.ang) + *c * w.lin };
            motion.shifted(frame.offset)
        });
        self.joints[i].expand(&node, frame, carried, &mut x)
    }

    /// An estimate of diag(★): the articulated-body D of every joint, (nv). Below the true diagonal, above the
    /// Schur complement of everything else; it gives the degrees of freedom common units.
    pub fn diagonal(&self, tree: &Tree<T>, range: Range<usize>, out: &mut [T]) {
        for i in range {
            let node = &tree.nodes[i];
            match self.joints[i] {
                Eliminated::Single { d_inv, .. } => out[node.v] = d_inv.recip(),
                Eliminated::Ball { e, .. } => set3(&mut out[node.v..], reciprocals(e.diag())),
                Eliminated::Free { e, c_inv, .. } => {
                    set3(&mut out[node.v..], reciprocals(c_inv.diag()));
                    set3(&mut out[node.v + 3..], reciprocals(e.diag()));
                }
            }
        }
    }

    /// 1/D of a joint with one degree of freedom, or the mean over those of a joint with several: an estimate of the
    /// joint's entry in the inverse of (★).
    pub fn inverse_diagonal(&self, i: usize) -> T {
        let mean = |d: Vec3<T>| (d.x + d.y + d.z) * T::from_f64(1.0 / 3.0);
        match self.joints[i] {
            Eliminated::Single { d_inv, .. } => d_inv,
            Eliminated::Ball { e, .. } | Eliminated::Free { e, .. } => mean(e.diag()),
        }
    }

    /// The same estimate for degree of freedom `k` of the joint alone.
    pub fn inverse_diagonal_of(&self, i: usize, k: usize) -> T {
        match self.joints[i] {
            Eliminated::Single { d_inv, .. } => d_inv,
            Eliminated::Free { c_inv, .. } if k < 3 => c_inv.diag().to_array()[k],
            Eliminated::Ball { e, .. } | Eliminated::Free { e, .. } => e.diag().to_array()[k % 3],
        }
    }
}

fn reciprocals<T: Real>(d: Vec3<T>) -> Vec3<T> {
    d.map(T::recip)
}

/// Eliminates one joint from its articulated inertia; returns what solves need and the inertia that is left, I^a.
#[inline(always)]
pub(crate) fn eliminate<T: Real>(
    node: &Node<T>,
    frame: &NodeFrame<T>,
    ia: ArticulatedInertia<T>,
    impedance: &JointImpedance<T>,
    i: usize,
) -> (Eliminated<T>, ArticulatedInertia<T>) {
    let s = frame.axis;
    let lambda = impedance.diagonal[node.v];
    let single = |h: Wrench<T>, d: T| {
        let d_inv = d.recip();
        (Eliminated::Single { h, d_inv }, ia.minus_outer(d_inv, h))
    };
    match node.joint {
        JointType::Revolute => {
            let h = Wrench { ang: ia.a * s, lin: ia.b.transpose_mul(s) };
            single(h, s.dot(h.ang) + lambda)
        }
        JointType::Prismatic => {
            let h = Wrench { ang: ia.b * s, lin: ia.c * s };
            single(h, s.dot(h.lin) + lambda)
        }
        JointType::Screw => {
            let s6 = Twist { ang: s, lin: s * node.pitch };
            let h = ia.apply(s6);
            single(h, s6.dot(h) + lambda)
        }
        JointType::Ball => {
            let k = impedance.ball_block(node, i).rotated(frame.rot);
            let e = (ia.a + k).inverse();
            let (ea, eb) = (e * ia.a.to_mat3(), e * ia.b);
            let left =
                ArticulatedInertia { a: Sym3::lower(k * ea), b: k * eb, c: ia.c - Sym3::lower(ia.b.transpose() * eb) };
            (Eliminated::Ball { e, a: ia.a, b: ia.b }, left)
        }
        JointType::Free => {
            let d = &impedance.diagonal[node.v..node.v + 6];
            let c_inv = (ia.c + Sym3::diagonal(vec3(d))).inverse();
            let spin = Sym3::diagonal(vec3(&d[3..])).rotated(frame.rot);
            let schur = Sym3::lower(ia.b * (c_inv * ia.b.transpose()));
            let e = (ia.a + spin - schur).inverse();
            (Eliminated::Free { e, c_inv, b: ia.b }, ArticulatedInertia::ZERO)
        }
    }
}

impl<T: Real> Eliminated<T> {
    /// Leaves u = r − Sᵀp in `x` (rotations in world axes) and returns H D⁻¹ u.
    #[inline(always)]
    pub(crate) fn reduce(&self, node: &Node<T>, frame: &NodeFrame<T>, p: Wrench<T>, r: &[T], x: &mut [T]) -> Wrench<T> {
        let v = node.v;
        match *self {
            Self::Single { h, d_inv } => {
                let along = match node.joint {
                    JointType::Prismatic => frame.axis.dot(p.lin),
                    JointType::Screw => frame.axis.dot(p.ang) + node.pitch * frame.axis.dot(p.lin),
                    JointType::Revolute | JointType::Ball | JointType::Free => frame.axis.dot(p.ang),
                };
                let u = r[v] - along;
                x[v] = u;
                h * (u * d_inv)
            }
            Self::Ball { e, a, b } => {
                let u = frame.rot * vec3(&r[v..]) - p.ang;
                set3(&mut x[v..], u);
                let eu = e * u;
                Wrench { ang: a * eu, lin: b.transpose_mul(eu) }
            }
            Self::Free { .. } => {
                set3(&mut x[v..], vec3(&r[v..]) - p.lin);
                set3(&mut x[v + 3..], frame.rot * vec3(&r[v + 3..]) - p.ang);
                Wrench::ZERO
            }
        }
    }

    /// x = D⁻¹(u − Hᵀ a'), and the node's motion a' + S x.
    #[inline(always)]
    pub(crate) fn expand(
        &self,
        node: &Node<T>,
        frame: &NodeFrame<T>,
        carried: Option<Twist<T>>,
        x: &mut [T],
    ) -> Twist<T> {
        let v = node.v;
        let carried_or_zero = carried.unwrap_or(Twist::ZERO);
        match *self {
            Self::Single { h, d_inv } => {
                x[v] = (x[v] - carried_or_zero.dot(h)) * d_inv;
                carried_or_zero + joint_twist(node, frame, x)
            }
            Self::Ball { e, a, b } => {
                let u = vec3(&x[v..]) - a * carried_or_zero.ang - b * carried_or_zero.lin;
                let turn = e * u;
                set3(&mut x[v..], frame.rot.transpose_mul(turn));
                Twist { ang: carried_or_zero.ang + turn, lin: carried_or_zero.lin }
            }
            Self::Free { e, c_inv, b } => {
                let (lin, ang) = (vec3(&x[v..]), vec3(&x[v + 3..]));
                let turn = e * (ang - b * (c_inv * lin));
                let shift = c_inv * (lin - b.transpose_mul(turn));
                set3(&mut x[v..], shift);
                set3(&mut x[v + 3..], frame.rot.transpose_mul(turn));
                Twist { ang: turn, lin: shift }
            }
        }
    }
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
