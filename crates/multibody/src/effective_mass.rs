//! How easily a point of a body is moved: the estimate of the Delassus operator that regularises contacts.

use std::ops::Range;

use crate::{Factor, JointImpedance, Kinematics, Model, Tree, forward_kinematics};
use spatial::{ArticulatedInertia, Mat3, Real, Sym3, Vec3};

/// How easily the points of every node are moved, the rest of its tree included: what of the 6×6 block
/// J_i (M + Λ)⁻¹ J_iᵀ at the default configuration bears on the trace of a point's block. Λ is the step's: armature, and what is
/// implicit of springs, dampers and drives, which may hold a point much firmer than its mass does.
///
/// Taken once for every Λ, not in every step: it sets a regularisation, which bears a factor of two.
#[derive(Clone, Debug)]
pub struct EffectiveMass {
    nodes: Vec<NodeMobility<f64>>,
    trees: Vec<TreeAtRest>,
    /// Λ of the mobilities that are known, (nv).
    lambda: Vec<f64>,
    /// How far each node's farthest geom reaches from its origin, m, and whether there are points of it that cannot be moved in every
    /// direction: at a hinge's axis, say.
    extents: Vec<f64>,
    has_fulcrum: Vec<bool>,
    has_fulcrums: bool,
    /// What [`NodeMobility::inverse`] is of each tree as one rigid body, 1/kg; none where no tree is much heavier than another.
    per_tree: Vec<f64>,
}

/// A tree at the default configuration.
#[derive(Clone, Debug)]
struct TreeAtRest {
    tree: Tree<f64>,
    /// Its nodes in the model.
    nodes: Range<usize>,
    kin: Kinematics<f64>,
    impedance: JointImpedance<f64>,
    factor: Factor<f64>,
    /// Ω_i in world axes.
    blocks: Vec<ArticulatedInertia<f64>>,
}

/// How easily the points of a node are moved.
#[derive(Clone, Copy, Debug)]
pub struct NodeMobility<T: Real> {
    /// tr W
    pub own: TraceForm<T>,
    /// What tr W is taken to be at least: that of the shortest arm that counts.
    pub least: T,
    /// What tr W would have more if Λ were the armature alone.
    pub slack: TraceForm<T>,
    /// How easily the node is turned, estimated as [`inverse`](Self::inverse) is, 1/(kg·m²); 0 where it cannot turn.
    pub turn: T,
    /// Ω_i with Λ the armature alone.
    pub bare: ArticulatedInertia<T>,
    /// 1/tr W of the node's farthest point by `bare`, kg; 0 where nothing moves.
    pub per_farthest: T,
}

/// `lin` + `mixed`·r + rᵀ `ang` r, of the points r of a node in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct TraceForm<T: Real> {
    /// 1/kg
    pub lin: T,
    /// 1/(kg·m)
    pub mixed: Vec3<T>,
    /// 1/(kg·m²)
    pub ang: Sym3<T>,
}

const PER_TRACE: f64 = EffectiveMass::PER_TRACE;

/// A point's arm counts as no shorter than this share of the node's extent: a point at a joint's centre would have no mobility at all.
const SHORTEST_ARM: f64 = 0.01;

/// Mobilities below this share of that at the node's extent are round-off.
const ROUND_OFF: f64 = 1e-12;

/// How much of its mobility along some direction a point must have, of that at the node's extent, for its node to have no fulcrum.
const ANYWHERE: f64 = 1e-3;

/// Trees whose masses differ by less than this factor bear each other as they are.
const UNEVEN: f64 = 100.0;

impl EffectiveMass {
    /// 1/(3√3), see [`NodeMobility::inverse`].
    pub const PER_TRACE: f64 = 0.192_450_089_729_875_26;

    /// How easily the points of node `i` are moved.
    #[inline(always)]
    pub fn node(&self, i: usize) -> &NodeMobility<f64> {
        &self.nodes[i]
    }

    /// `extents` says how far the farthest geom of each node is from its origin, m.
    pub fn new(model: &Model, extents: &[f64]) -> Self {
        let at_rest = |(k, nodes): (usize, &Range<usize>)| {
            let tree = model.tree.part(k);
            let mut kin = Kinematics::new(&tree);
            forward_kinematics(&tree, tree.all(), &model.q0[model.tree.nodes[nodes.start].q..], &mut kin);
            let (impedance, factor) = (JointImpedance::new(&tree), Factor::new(&tree));
            let blocks = vec![ArticulatedInertia::ZERO; tree.len()];
            TreeAtRest { tree, nodes: nodes.clone(), kin, impedance, factor, blocks }
        };
        let trees: Vec<TreeAtRest> = model.tree.trees.iter().enumerate().map(at_rest).collect();
        let none = NodeMobility::NONE;
        let lambda = model.armature.clone();
        let mut mass = Self {
            nodes: vec![none; model.tree.len()],
            per_tree: mobilities_as_one(&trees),
            trees,
            lambda,
            extents: extents.to_vec(),
            has_fulcrum: Vec::new(),
            has_fulcrums: false,
        };
        for k in 0..mass.trees.len() {
            mass.trees[k].impedance.diagonal.copy_from_slice(&model.armature[model.tree.dofs[k].clone()]);
            mass.trees[k].refresh(&mut mass.nodes, &mass.extents, NodeMobility::begin);
        }
        mass.has_fulcrum.extend(mass.nodes.iter().zip(extents).map(|(node, extent)| node.has_fulcrum(*extent)));
        mass.has_fulcrums = mass.has_fulcrum.contains(&true);
        mass
    }

    /// The least that [`NodeMobility::inverse`] is of a tree as one rigid body among some, 1/kg: of the heaviest of them; infinite
    /// where no tree of the model is much heavier than another.
    pub fn of_heaviest(&self, trees: impl Iterator<Item = usize>) -> f64 {
        if self.per_tree.is_empty() {
            f64::INFINITY
        } else {
            trees.map(|k| self.per_tree[k]).fold(f64::INFINITY, f64::min)
        }
    }

    /// Whether trees differ so much in mass that [`of_heaviest`](Self::of_heaviest) tells something.
    pub fn is_uneven(&self) -> bool {
        !self.per_tree.is_empty()
    }

    /// Whether the mobilities of the tree with these degrees of freedom are those with Λ = `diagonal`.
    pub fn is_of(&self, dofs: Range<usize>, diagonal: &[f64]) -> bool {
        self.lambda[dofs] == *diagonal
    }

    /// Takes the mobilities of tree `k` with Λ = `diagonal`, if they are of another.
    pub fn update(&mut self, k: usize, dofs: Range<usize>, diagonal: &[f64]) {
        if !self.is_of(dofs.clone(), diagonal) {
            self.lambda[dofs].copy_from_slice(diagonal);
            let tree = &mut self.trees[k];
            tree.impedance.diagonal.copy_from_slice(diagonal);
            tree.refresh(&mut self.nodes, &self.extents, NodeMobility::set);
        }
    }

    /// Whether there are nodes that have a fulcrum.
    pub fn has_fulcrums(&self) -> bool {
        self.has_fulcrums
    }

    /// Whether some points of node `i` cannot be moved in every direction.
    pub fn has_fulcrum(&self, i: usize) -> bool {
        self.has_fulcrum[i]
    }
}

impl<T: Real> NodeMobility<T> {
    /// An estimate of ‖W‖_F / 3 for the point at `arm` from the origin of the node, whose axes are `rot`; W is the 3×3
    /// block of the Delassus operator. 1/kg.
    ///
    /// It is tr W / (3√3): equal where W is isotropic, and below by no more than a factor √3.
    #[inline(always)]
    pub fn inverse(&self, rot: &Mat3<T>, arm: Vec3<T>) -> T {
        self.own.at(rot.transpose_mul(arm)).max(self.least) * T::from_f64(PER_TRACE)
    }

    /// How much more [`inverse`](Self::inverse) would be if Λ were the armature alone; 0 where it is. 1/kg.
    #[inline(always)]
    pub fn slack(&self, rot: &Mat3<T>, arm: Vec3<T>) -> T {
        self.slack.at(rot.transpose_mul(arm)).max(T::ZERO) * T::from_f64(PER_TRACE)
    }

    /// The inverse of the mass that a force along the unit vector `n` meets at the same point, armature included and nothing else
    /// that is implicit. 1/kg.
    #[inline(always)]
    pub fn bare_inverse(&self, rot: &Mat3<T>, arm: Vec3<T>, n: Vec3<T>) -> T {
        let (ang, lin) = (rot.transpose_mul(arm.cross(n)), rot.transpose_mul(n));
        let ArticulatedInertia { a, b, c } = &self.bare;
        let mixed = (*b * lin).dot(ang);
        (*a * ang).dot(ang) + mixed + mixed + (*c * lin).dot(lin)
    }

    /// The same relative to what forces in all directions meet at the farthest point of the node.
    #[inline(always)]
    pub fn leverage(&self, rot: &Mat3<T>, arm: Vec3<T>, n: Vec3<T>) -> T {
        (self.bare_inverse(rot, arm, n) * self.per_farthest).max(T::ZERO)
    }

    /// The same of each number.
    pub fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> NodeMobility<U> {
        let ArticulatedInertia { a, b, c } = self.bare;
        NodeMobility {
            own: self.own.map(f),
            least: f(self.least),
            slack: self.slack.map(f),
            turn: f(self.turn),
            bare: ArticulatedInertia { a: a.map(&mut *f), b: b.map(&mut *f), c: c.map(&mut *f) },
            per_farthest: f(self.per_farthest),
        }
    }
}

impl NodeMobility<f64> {
    const NONE: Self = Self {
        own: TraceForm::ZERO,
        least: 0.0,
        slack: TraceForm::ZERO,
        turn: 0.0,
        bare: ArticulatedInertia::ZERO,
        per_farthest: 0.0,
    };

    /// Takes Ω_i, in the node's axes.
    fn set(&mut self, block: &ArticulatedInertia<f64>, extent: f64) {
        let (of, bare) = (TraceForm::new(block), TraceForm::new(&self.bare));
        self.slack = TraceForm { lin: bare.lin - of.lin, mixed: bare.mixed - of.mixed, ang: bare.ang - of.ang };
        self.own = of;
        self.least = block.a.trace() * (SHORTEST_ARM * extent) * (SHORTEST_ARM * extent);
        let turn = 0.5 * of.ang.trace();
        let is_round_off = extent > 0.0 && turn * extent * extent <= ROUND_OFF * of.lin;
        self.turn = if is_round_off { 0.0 } else { PER_TRACE * turn };
    }

    /// The same of Ω_i with Λ the armature alone.
    fn begin(&mut self, block: &ArticulatedInertia<f64>, extent: f64) {
        self.bare = *block;
        self.set(block, extent);
        let farthest = block.c.trace() + block.a.trace() * extent * extent;
        self.per_farthest = if farthest > 0.0 { 1.0 / farthest } else { 0.0 };
    }

    /// The same in axes that are turned by `turn`.
    pub fn turned(&self, turn: &Mat3<f64>) -> Self {
        let back = turn.transpose();
        let form = |TraceForm { lin, mixed, ang }: TraceForm<f64>| TraceForm {
            lin,
            mixed: turn.transpose_mul(mixed),
            ang: ang.rotated(back),
        };
        Self { own: form(self.own), slack: form(self.slack), bare: in_axes(&self.bare, turn), ..*self }
    }

    /// Whether some points cannot be moved in every direction: Ω_i has an eigenvalue near zero, arms measured by the extent. Its pivots,
    /// the greatest first, are as small then.
    fn has_fulcrum(&self, extent: f64) -> bool {
        let ArticulatedInertia { a, b, c } = self.bare;
        let Mat3 { x, y, z } = Mat3::IDENTITY;
        let axes = [x, y, z];
        let mut m: [[f64; 6]; 6] = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let (u, v) = (axes[i % 3], axes[j % 3]);
                match (i < 3, j < 3) {
                    (true, true) => u.dot(a * v) * extent * extent,
                    (true, false) => u.dot(b * v) * extent,
                    (false, true) => v.dot(b * u) * extent,
                    (false, false) => u.dot(c * v),
                }
            })
        });
        let greatest = (0..6).map(|i| m[i][i]).fold(0.0, f64::max);
        let mut left = [true; 6];
        for _ in 0..6 {
            let rest = (0..6).filter(|&i| left[i]);
            let Some(k) = rest.max_by(|&i, &j| m[i][i].total_cmp(&m[j][j])) else { break };
            let row = m[k];
            if row[k] <= ANYWHERE * greatest {
                return true;
            }
            left[k] = false;
            for i in (0..6).filter(|&i| left[i]) {
                let factor = m[i][k] / row[k];
                m[i].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
            }
        }
        false
    }
}

impl<T: Real> TraceForm<T> {
    #[inline(always)]
    fn at(&self, r: Vec3<T>) -> T {
        (self.mixed + self.ang * r).dot(r) + self.lin
    }

    fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> TraceForm<U> {
        TraceForm { lin: f(self.lin), mixed: self.mixed.map(&mut *f), ang: self.ang.map(&mut *f) }
    }
}

impl TraceForm<f64> {
    const ZERO: Self = Self { lin: 0.0, mixed: Vec3::ZERO, ang: Sym3::ZERO };

    /// tr W of Ω_i. The point's velocity is lin − r̂ ang, so W = c − r̂ b − (r̂ b)ᵀ + r̂ a r̂ᵀ; tr(r̂ b) = −r·(b's skew part) and
    /// tr(r̂ a r̂ᵀ) = tr(a) r·r − rᵀ a r.
    fn new(block: &ArticulatedInertia<f64>) -> Self {
        let ArticulatedInertia { a, b, c } = *block;
        let t = a.trace();
        Self {
            lin: c.trace(),
            mixed: Vec3::new(b.y.z - b.z.y, b.z.x - b.x.z, b.x.y - b.y.x) * 2.0,
            ang: Sym3::diagonal(Vec3::new(t, t, t)) - a,
        }
    }
}

/// An operator in axes that `axes` are the columns of.
fn in_axes(ArticulatedInertia { a, b, c }: &ArticulatedInertia<f64>, axes: &Mat3<f64>) -> ArticulatedInertia<f64> {
    let back = axes.transpose();
    ArticulatedInertia { a: a.rotated(back), b: back * (*b * *axes), c: c.rotated(back) }
}

/// What [`NodeMobility::inverse`] is of every tree as one rigid body; nothing where they are about equally heavy.
fn mobilities_as_one(trees: &[TreeAtRest]) -> Vec<f64> {
    let masses = || trees.iter().map(|at_rest| at_rest.tree.nodes.iter().map(|node| node.inertia.mass).sum::<f64>());
    let (least, most) = masses().fold((f64::INFINITY, 0.0_f64), |(least, most), m| (least.min(m), most.max(m)));
    if most > UNEVEN * least { masses().map(|mass| PER_TRACE * 3.0 / mass).collect() } else { Vec::new() }
}

impl TreeAtRest {
    /// Sets Ω_i = J_i (M + Λ)⁻¹ J_iᵀ of every node, parents first, each from that of its parent: O(n).
    fn refresh(
        &mut self,
        nodes: &mut [NodeMobility<f64>],
        extents: &[f64],
        set: fn(&mut NodeMobility<f64>, &ArticulatedInertia<f64>, f64),
    ) {
        let Self { tree, kin, impedance, factor, blocks, .. } = self;
        factor.factor(tree, tree.all(), kin, impedance, None);
        let extents = &extents[self.nodes.clone()];
        for (i, node) in nodes[self.nodes.clone()].iter_mut().enumerate() {
            let of_parent = blocks.get(tree.nodes[i].parent);
            blocks[i] = factor.delassus_block(tree, kin, i, of_parent);
            set(node, &in_axes(&blocks[i], &kin.frames[i].rot), extents[i]);
        }
    }
}
