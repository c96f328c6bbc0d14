//! One world, node by node, four numbers at a time.
//!
//! From node to node go orientations, angular velocities, inertias and accelerations, one after the other along chains
//! ([`recursion`]). The rest (what joints turn by, rotation matrices, own inertias, gyroscopic and centripetal terms, changes of
//! axes), two fifths of the operations, waits for no neighbour: nodes of one joint type, wherever they are in the tree, are
//! worked on side by side. The arithmetic is that of [`ForwardDynamics`](super::ForwardDynamics), in places in another order.

mod plan;
mod recursion;
mod whole;

use spatial::{Mat3, Quat, Real, Vec3};

use super::articulated::Own;
use super::broadcast::{Accelerations, Coordinates};
use super::fused::rotation;
use super::packed::PackedTree;
use super::placed::{centripetal, joint_turn};
use super::transposed::{Out, TransposedRows};
use super::versions::{Arguments, best_version};
use crate::wide::Wide;
use crate::{JointType, Tree};
use plan::Plan;
use recursion::Recursion;

/// Forward dynamics of one world: four nodes' local work side by side, then from node to node with rows of 3×3 matrices in registers.
/// On the five characters it takes a quarter to a third less time than [`ForwardDynamics`](super::ForwardDynamics) of one world.
#[derive(Clone, Debug)]
pub struct NodeDynamics {
    tree: PackedTree<f64>,
    plan: Plan,
    rows: Rows,
    recursion: Recursion,
}

// Where the numbers of a node begin, vectors in world axes.
/// The quaternion by which the joint turns it.
const TURN: usize = 0;
/// The quaternion of its orientation.
const QUAT: usize = TURN + 4;
/// Its angular velocity.
const OMEGA: usize = QUAT + 4;
/// The joint's angular velocity.
const RATE: usize = OMEGA + 3;
/// Its rotation matrix, by columns.
const ROT: usize = RATE + 3;
/// The joint's axis or, of a ball joint, torque.
const LEVER: usize = ROT + 9;
/// Its own rotational inertia, mass times centre of mass, and the torque and the force that it needs to move with its velocity alone.
const OWN: usize = LEVER + 3;
/// The angular acceleration that velocities cause.
const SWING: usize = OWN + 15;
/// The joint's angular acceleration.
const RELATIVE: usize = SWING + 3;
/// How many there are.
const NUMBERS: usize = RELATIVE + 3;
/// Numbers of an offset from the parent and the linear acceleration that velocities cause.
const REACH: usize = 6;

/// What the passes leave for each other, nodes in lanes.
#[derive(Clone, Debug)]
struct Rows {
    nodes: Vec<[Wide; NUMBERS]>,
    reaches: Vec<[Wide; REACH]>,
}

impl NodeDynamics {
    /// A plan for a tree, and scratch.
    ///
    /// # Panics
    /// When the tree's indices are not within it, or a free joint is not a root's.
    pub fn new(tree: &Tree<f64>) -> Self {
        let plan = Plan::new(tree);
        let rows = Rows {
            nodes: vec![[Wide::ZERO; NUMBERS]; plan.rows.len()],
            reaches: vec![[Wide::ZERO; REACH]; plan.reaches],
        };
        Self { tree: PackedTree::new(tree), plan, rows, recursion: Recursion::new(tree.len()) }
    }

    /// v̇ = (M + Λ)⁻¹(τ − C), as [`ForwardDynamics`](super::ForwardDynamics) to round-off, by the best version for this processor.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn forward_dynamics(&mut self, arguments: &Arguments<'_, f64>, acceleration: &mut [f64]) {
        let nodes = self;
        best_version!(true, NodeDynamics::run, (
            nodes: &mut NodeDynamics,
            arguments: &Arguments<'_, f64>,
            acceleration: &mut [f64]
        ));
    }

    #[inline(always)]
    fn run(&mut self, arguments: &Arguments<'_, f64>, acceleration: &mut [f64]) {
        let Arguments { q, v, tau, impedance, gravity } = *arguments;
        let Self { tree, plan, rows, recursion } = self;
        let (nq, nv) = (plan.nq, plan.nv);
        assert!(
            q.len() >= nq && v.len() >= nv && tau.len() >= nv && acceleration.len() >= nv,
            "expected a configuration, a velocity, forces and room for accelerations"
        );
        rows.turn(plan, q);
        recursion::orient(tree, plan, &mut rows.nodes);
        rows.rate(plan, v);
        recursion::swing(tree, plan, (q, v), (&mut rows.nodes, &mut rows.reaches));
        rows.weigh(plan, tau);
        let numbers = (&mut rows.nodes[..], &rows.reaches[..]);
        if let Some(impedance) = impedance {
            recursion.run::<true>(tree, plan, numbers, tau, impedance, gravity, acceleration);
        } else {
            let none = super::Impedance { diagonal: &[], uniform: true };
            recursion.run::<false>(tree, plan, numbers, tau, none, gravity, acceleration);
        }
        rows.write(plan, acceleration);
    }
}

/// Three numbers of a row.
#[inline(always)]
fn vector(row: &[Wide; NUMBERS], k: usize) -> Vec3<Wide> {
    Vec3::new(row[k], row[k + 1], row[k + 2])
}

#[inline(always)]
fn put(row: &mut [Wide; NUMBERS], k: usize, x: Vec3<Wide>) {
    [row[k], row[k + 1], row[k + 2]] = x.to_array();
}

/// The rotation matrices of a row.
#[inline(always)]
fn matrix(row: &[Wide; NUMBERS]) -> Mat3<Wide> {
    Mat3::from_columns(vector(row, ROT), vector(row, ROT + 3), vector(row, ROT + 6))
}

impl Rows {
    /// By what every joint turns its node, the turn at rest included.
    #[inline(always)]
    fn turn(&mut self, plan: &Plan, q: &[f64]) {
        for (row, out) in plan.rows.iter().zip(&mut self.nodes) {
            let quat = joint_turn(row.joint, &row.constants, TransposedRows { x: q, first: &row.q });
            let Quat { w, x, y, z } = if row.turned { row.constants.rot * quat } else { quat };
            [out[TURN], out[TURN + 1], out[TURN + 2], out[TURN + 3]] = [w, x, y, z];
        }
    }

    /// Rotation matrices, axes, and angular velocities of joints.
    #[inline(always)]
    fn rate(&mut self, plan: &Plan, v: &[f64]) {
        for (row, out) in plan.rows.iter().zip(&mut self.nodes) {
            let rot = rotation(Quat::new(out[QUAT], out[QUAT + 1], out[QUAT + 2], out[QUAT + 3]));
            put(out, ROT, rot.x);
            put(out, ROT + 3, rot.y);
            put(out, ROT + 6, rot.z);
            if row.has_axis() {
                let axis = rot * row.constants.axis;
                let rate: Wide = TransposedRows { x: v, first: &row.v }.read1();
                put(out, LEVER, axis);
                put(out, RATE, if row.joint == JointType::Prismatic { Vec3::ZERO } else { axis * rate });
            } else {
                put(out, RATE, rot * TransposedRows { x: v, first: &row.rotation }.read3());
            }
        }
    }

    /// Own inertias, what velocities do, offsets of children that do not slide, torques of ball joints.
    #[inline(always)]
    fn weigh(&mut self, plan: &Plan, tau: &[f64]) {
        for ((row, out), reach) in plan.rows.iter().zip(&mut self.nodes).zip(&mut self.reaches) {
            let (rot, omega) = (matrix(out), vector(out, OMEGA));
            let offset = rot * row.reach;
            let lin = centripetal(omega, offset);
            *reach = [offset.x, offset.y, offset.z, lin.x, lin.y, lin.z];
            // With ω for the parent's: what the joint adds to it has no cross product with itself, but for round-off of |ω|².
            put(out, SWING, omega.cross(vector(out, RATE)));
            if row.joint == JointType::Ball {
                put(out, LEVER, rot * TransposedRows { x: tau, first: &row.v }.read3());
            }
            let Own { inertia: a, moment, bias, .. } = Own::new(&row.constants, rot, omega);
            put(out, OWN, Vec3::new(a.xx, a.xy, a.xz));
            put(out, OWN + 3, Vec3::new(a.yy, a.yz, a.zz));
            put(out, OWN + 6, moment);
            put(out, OWN + 9, bias.ang);
            put(out, OWN + 12, bias.lin);
        }
    }

    /// Angular accelerations of ball and free joints, in the nodes' axes.
    #[inline(always)]
    fn write(&self, plan: &Plan, acceleration: &mut [f64]) {
        for (row, numbers) in plan.rows.iter().zip(&self.nodes) {
            if !row.has_axis() {
                let own = matrix(numbers).transpose_mul(vector(numbers, RELATIVE));
                let mut out = Out::<Wide> { out: acceleration, first: &row.rotation, used: &row.used };
                out.write(own.to_array());
            }
        }
    }
}
