//! Loads on their way to the root, side by side: what the Delassus operator J (★)⁻¹ Jᵀ of few rows is made of.
//!
//! With a factor of (★) at hand, a load on a node changes what only the joints between it and the root are given: u = r − Sᵀp of the
//! first half of a solve. Products of two loads in (★)⁻¹ are Σ_i u_iᵀ D_i⁻¹ u_i' over the joints that both pass, so that the second half
//! is not needed (the force propagators of Wensing, Featherstone and Orin, 2012), and Σ u of the loads that act is where it starts.

use spatial::{F64x4, Real, Sym3, Twist, Vec3, Wrench};

use crate::elimination::Eliminated;
use crate::{Factor, Kinematics, NO_PARENT, Tree, joint_axis};

/// Four loads on one node, lane by lane: a wrench about its origin in world axes, and forces along the degrees of freedom of its joint.
#[derive(Clone, Copy, Debug)]
pub struct Loads {
    /// The wrenches.
    pub wrench: Wrench<F64x4>,
    /// The joint's own forces, those beyond its degrees of freedom zero.
    pub joint: [F64x4; 6],
}

fn splat(x: Vec3<f64>) -> Vec3<F64x4> {
    x.map(F64x4::splat)
}

/// Of loads that none join on their way to the root.
#[inline(always)]
pub fn alone(_node: usize) -> [F64x4; 6] {
    [F64x4::ZERO; 6]
}

impl Factor<f64> {
    /// Adds u and D⁻¹u of four loads on node `start` of the tree for every degree of freedom on their way to the root: `add(i, k, u, d)`
    /// of degree of freedom `k` of node `i`. Those of ball joints are in world axes; those of a free root are such that the sum of
    /// products over its six is right, not each of them. `joint` says what joins them along the joints of the nodes on their way.
    #[inline]
    pub fn carry(
        &self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        start: usize,
        loads: &Loads,
        mut joint: impl FnMut(usize) -> [F64x4; 6],
        mut add: impl FnMut(usize, usize, F64x4, F64x4),
    ) {
        let (mut i, mut p, mut r) = (start, -loads.wrench, loads.joint);
        loop {
            let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
            match self.eliminated(i) {
                Eliminated::Single { h, d_inv } => {
                    let Twist { ang, lin } = joint_axis(node, frame, 0);
                    let u = r[0] - Twist { ang: splat(ang), lin: splat(lin) }.dot(p);
                    let d = u * F64x4::splat(*d_inv);
                    add(i, 0, u, d);
                    p += Wrench { ang: splat(h.ang) * d, lin: splat(h.lin) * d };
                }
                Eliminated::Ball { e, a, b, .. } => {
                    let (e, a) = (Sym3::lower(*e), Sym3::lower(*a));
                    let u = frame.rot.map(F64x4::splat) * Vec3::new(r[0], r[1], r[2]) - p.ang;
                    let d = e.map(F64x4::splat) * u;
                    add3(&mut add, i, 0, u, d);
                    p += Wrench { ang: a.map(F64x4::splat) * d, lin: b.map(F64x4::splat).transpose_mul(d) };
                }
                Eliminated::Free { e, c_inv, b } => {
                    let lin = Vec3::new(r[0], r[1], r[2]) - p.lin;
                    let ang = frame.rot.map(F64x4::splat) * Vec3::new(r[3], r[4], r[5]) - p.ang;
                    let shift = c_inv.map(F64x4::splat) * lin;
                    let turn = ang - b.map(F64x4::splat) * shift;
                    add3(&mut add, i, 0, lin, shift);
                    add3(&mut add, i, 3, turn, e.map(F64x4::splat) * turn);
                    return;
                }
            }
            if node.parent == NO_PARENT {
                return;
            }
            p = p.shifted_back(splat(frame.offset));
            (i, r) = (node.parent, joint(node.parent));
        }
    }

    /// x = (★)⁻¹ Σ loads, given the sum of what [`carry`](Self::carry) added to u, which is in `x` at first (zero where none passed), and
    /// the motions J x of all nodes.
    pub fn respond(&self, tree: &Tree<f64>, kin: &Kinematics<f64>, x: &mut [f64], motions: &mut [Twist<f64>]) {
        for (i, (node, frame)) in tree.nodes.iter().zip(&kin.frames).enumerate() {
            let carried = match node.parent {
                NO_PARENT => Twist::ZERO,
                parent => motions[parent].shifted(frame.offset),
            };
            if let Eliminated::Free { c_inv, b, .. } = self.eliminated(i) {
                let x = &mut x[node.v..node.v + 6];
                let coupled = *b * (*c_inv * Vec3::new(x[0], x[1], x[2]));
                x[3..].iter_mut().zip(coupled.to_array()).for_each(|(x, coupled)| *x += coupled);
            }
            motions[i] = self.eliminated(i).expand(node, frame, carried, x);
        }
    }
}

#[inline(always)]
fn add3(add: &mut impl FnMut(usize, usize, F64x4, F64x4), i: usize, first: usize, u: Vec3<F64x4>, d: Vec3<F64x4>) {
    add(i, first, u.x, d.x);
    add(i, first + 1, u.y, d.y);
    add(i, first + 2, u.z, d.z);
}
