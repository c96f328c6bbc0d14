//! Cliques, the generalised velocities that A couples: those of a tree of rigid bodies, or those that constraints see of a soft body.

use multibody::{CrbaWorkspace, Loads, NodeMotion, add_generalized_forces, joint_columns, mass_matrix};
use sap::BlockMut;
use spatial::{ArticulatedInertia, F64x4, Twist, Vec3, Wrench};

use crate::free_body::{is_free_body, set_own_block};
use crate::soft_part::SoftPart;
use crate::tree_workspace::{KnownMotion, TreeWorkspace};

/// All that may move: trees first, then soft bodies. What is called the index of a tree counts soft bodies, too: theirs come after the trees'.
#[derive(Clone, Copy)]
pub(crate) struct Cliques<'a> {
    pub trees: &'a [TreeWorkspace],
    pub soft: &'a [SoftPart],
}

impl<'a> Cliques<'a> {
    pub fn len(self) -> usize {
        self.trees.len() + self.soft.len()
    }

    #[inline(always)]
    pub fn get(self, k: usize) -> Clique<'a> {
        match self.trees.get(k) {
            Some(tree) => Clique::Tree(tree),
            None => Clique::Soft(&self.soft[k - self.trees.len()]),
        }
    }
}

/// One of them. Nodes are those of a tree, or the points of a soft body that constraints refer to.
#[derive(Clone, Copy)]
pub(crate) enum Clique<'a> {
    Tree(&'a TreeWorkspace),
    Soft(&'a SoftPart),
}

impl<'a> Clique<'a> {
    /// Its degrees of freedom.
    #[inline(always)]
    pub fn nv(self) -> usize {
        match self {
            Self::Tree(workspace) => workspace.tree.nv,
            Self::Soft(soft) => soft.nv(),
        }
    }

    /// Its nodes.
    #[inline(always)]
    pub fn len(self) -> usize {
        match self {
            Self::Tree(workspace) => workspace.tree.len(),
            Self::Soft(soft) => soft.points.len(),
        }
    }

    /// Whether it is a soft body.
    pub fn is_soft(self) -> bool {
        matches!(self, Self::Soft(_))
    }

    /// Whether it is one rigid body that hangs on nothing.
    pub fn is_free_body(self) -> bool {
        match self {
            Self::Tree(workspace) => is_free_body(&workspace.tree),
            Self::Soft(_) => false,
        }
    }

    /// Where a node is, world, m.
    #[inline(always)]
    pub fn origin(self, node: usize) -> Vec3<f64> {
        match self {
            Self::Tree(workspace) => workspace.kin.frames[node].pos,
            Self::Soft(soft) => soft.points[node].position,
        }
    }

    /// How its nodes move at the beginning of the step.
    #[inline(always)]
    pub fn twists(self) -> &'a [Twist<f64>] {
        match self {
            Self::Tree(workspace) => &workspace.kin.twists,
            Self::Soft(soft) => &soft.twists,
        }
    }

    /// How a node moves at the beginning of the step, about the point at `arm` from its origin.
    pub fn motion_about(self, node: usize, arm: Vec3<f64>) -> NodeMotion<f64> {
        match self {
            Self::Tree(workspace) => NodeMotion::about(&workspace.tree, &workspace.kin, node, arm),
            Self::Soft(soft) => NodeMotion { twist: soft.twists[node].shifted(arm), acceleration: Twist::ZERO },
        }
    }

    /// By how much free motion changes that.
    #[inline(always)]
    pub fn changes(self) -> &'a [Twist<f64>] {
        match self {
            Self::Tree(workspace) => &workspace.factor.motions,
            Self::Soft(soft) => &soft.changes,
        }
    }

    /// Free motion.
    pub fn v_star(self) -> &'a [f64] {
        match self {
            Self::Tree(workspace) => &workspace.v_star,
            Self::Soft(soft) => &soft.v_star,
        }
    }

    /// The velocities that the step starts from; `v0` are the model's.
    pub fn v_start(self, v0: &'a [f64]) -> &'a [f64] {
        match self {
            Self::Tree(workspace) => &v0[workspace.dofs.clone()],
            Self::Soft(soft) => &soft.v_start,
        }
    }

    /// The motions of the nodes under velocities `x`.
    pub fn propagate(self, x: &[f64], motions: &mut [Twist<f64>]) {
        match self {
            Self::Tree(workspace) => {
                multibody::propagate(&workspace.tree, workspace.tree.all(), &workspace.kin.frames, x, motions)
            }
            Self::Soft(soft) => soft.propagate(x, motions),
        }
    }

    /// `a_x = A x`, and the motions of the nodes under `x`.
    pub fn apply(self, x: &[f64], motions: &mut [Twist<f64>], wrenches: &mut [Wrench<f64>], a_x: &mut [f64]) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, impedance, .. }) => {
                multibody::apply(tree, tree.all(), kin, impedance, x, motions, wrenches, a_x);
            }
            Self::Soft(soft) => {
                soft.propagate(x, motions);
                soft.momentum(x, a_x);
            }
        }
    }

    /// What is known of how the nodes move under the velocities `v`; `v0` are the model's that the step starts from.
    pub fn known_motions_of(self, v: &[f64], v0: &[f64]) -> Option<KnownMotion> {
        match self {
            Self::Tree(workspace) => workspace.known_motions_of(v, v0),
            Self::Soft(_) => None,
        }
    }

    /// A (v₀ − v*); `wrenches` is scratch, one for each node.
    pub fn momentum_to_start(self, wrenches: &mut [Wrench<f64>], out: &mut [f64]) {
        match self {
            Self::Tree(workspace) => workspace.momentum_to_start(wrenches, out),
            Self::Soft(soft) => soft.momentum_to_start(out),
        }
    }

    /// Adds what `wrenches` on the nodes do to the degrees of freedom.
    pub fn add_generalized_forces(self, wrenches: &mut [Wrench<f64>], out: &mut [f64]) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, .. }) => {
                add_generalized_forces(tree, tree.all(), kin, wrenches, out);
            }
            Self::Soft(soft) => soft.add_forces(wrenches, out),
        }
    }

    /// The diagonal of A, or an estimate of it.
    pub fn diagonal(self, d: &mut [f64]) {
        match self {
            Self::Tree(workspace) => workspace.factor.diagonal(&workspace.tree, workspace.tree.all(), d),
            Self::Soft(soft) => soft.diagonal(d),
        }
    }

    /// The node of a degree of freedom.
    pub fn node_of_dof(self, dof: usize) -> usize {
        match self {
            Self::Tree(workspace) => workspace.tree.nodes.partition_point(|node| node.v <= dof) - 1,
            Self::Soft(_) => 0,
        }
    }

    /// Sends loads on a node to the roots: `f(node, dof, u, D⁻¹u)` with the degrees of freedom of the workspace on the way, those of the row in
    /// lane k being u_k, such that the sum of u D⁻¹u over all of them is the loads' part in the Delassus operator. `joint` says what joins them
    /// along the joints of the nodes on their way.
    #[inline(always)]
    pub fn carry(
        self,
        node: usize,
        loads: &Loads,
        joint: impl FnMut(usize) -> [F64x4; 6],
        scratch: &mut Vec<F64x4>,
        mut f: impl FnMut(usize, usize, F64x4, F64x4),
    ) {
        match self {
            Self::Tree(workspace) => {
                workspace.factor.carry(&workspace.tree, &workspace.kin, node, loads, joint, |i, k, u, d| {
                    f(i, workspace.tree.nodes[i].v + k, u, d)
                });
            }
            Self::Soft(soft) => soft.carry(node, loads, scratch, |dof, u| f(0, dof, u, u)),
        }
    }

    /// Sets `x` to A⁻¹ of what the loads' carried sum stands for, and the motions of the nodes to those under it.
    pub fn respond(self, x: &mut [f64], motions: &mut [Twist<f64>]) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, factor, .. }) => factor.respond(tree, kin, x, motions),
            Self::Soft(soft) => {
                soft.respond(x);
                soft.propagate(x, motions);
            }
        }
    }

    /// Adds A with the impedances of the nodes to a block of zeros, its lower triangle.
    pub fn assemble(
        self,
        impedance: &[ArticulatedInertia<f64>],
        crba: &mut CrbaWorkspace<f64>,
        block: &mut BlockMut<'_>,
    ) {
        let TreeWorkspace { tree, kin, impedance: joints, .. } = match self {
            Self::Tree(workspace) => workspace,
            Self::Soft(soft) => return soft.assemble(impedance, block.values, block.stride),
        };
        if is_free_body(tree) {
            let mut own = kin.frames[0].inertia.articulated();
            own += impedance[0];
            set_own_block(&own, kin.frames[0].rot, block);
        } else {
            crba.resize(tree);
            mass_matrix(tree, tree.all(), kin, Some(impedance), crba, block.values, block.stride, 0);
        }
        joints.add_to_matrix(tree, block.values, block.stride);
    }

    /// The greatest speed of a point within `extents` of the origins of the model's nodes where it moves with `v`, m/s; `motions` is scratch.
    pub fn greatest_speed(self, extents: &[f64], v: &[f64], motions: &mut [Twist<f64>]) -> f64 {
        self.propagate(v, motions);
        let most = |most: f64, speed: f64| f64::max(most, speed);
        match self {
            Self::Tree(workspace) => {
                let of_nodes = motions.iter().zip(&extents[workspace.nodes.clone()]);
                of_nodes.map(|(twist, extent)| twist.lin.norm() + extent * twist.ang.norm()).fold(0.0, most)
            }
            Self::Soft(soft) => motions[..soft.points.len()].iter().map(|twist| twist.lin.norm()).fold(0.0, most),
        }
    }

    /// Sets the generalized forces of a wrench on a node, about the node's origin; those of other nodes stay.
    pub fn set_generalized_force(self, node: usize, wrench: Wrench<f64>, out: &mut [f64]) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, .. }) if is_free_body(tree) => {
                out[..3].copy_from_slice(&wrench.lin.to_array());
                out[3..6].copy_from_slice(&kin.frames[0].rot.transpose_mul(wrench.ang).to_array());
            }
            _ => self.each_column(node, self.origin(node), |dof, per_unit| out[dof] = per_unit.dot(wrench)),
        }
    }

    /// Tells `push` the columns that move a node, from the last to the first, with the motion of the node's origin per unit of each, as it
    /// is at the world point `origin`.
    pub fn each_column(self, node: usize, origin: Vec3<f64>, mut push: impl FnMut(usize, Twist<f64>)) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, .. }) => {
                let columns = |node| joint_columns(tree, kin, node, origin).rev();
                tree.path_to_root(node).flat_map(columns).for_each(|(dof, motion)| push(dof, motion));
            }
            Self::Soft(soft) => soft.each_column(node, push),
        }
    }

    /// The columns that move two of its nodes relative to each other, from the last to the first: what moves both alike is left out.
    pub fn each_relative_column(self, [a, b]: [usize; 2], origin: Vec3<f64>, mut push: impl FnMut(usize, Twist<f64>)) {
        match self {
            Self::Tree(TreeWorkspace { tree, kin, .. }) => {
                for (node, side) in tree.path_between([a, b]) {
                    for (dof, motion) in joint_columns(tree, kin, node, origin).rev() {
                        push(dof, if side == 0 { motion * -1.0 } else { motion });
                    }
                }
            }
            Self::Soft(soft) => soft.each_relative_column([a, b], push),
        }
    }
}
