//! Bodies at a configuration: Jacobians as dense columns, M = Σ Jᵀ I J and what follows from it, without recursions.
//!
//! A body is a node of the model with all that is fixed to it. Forces on bodies are about their centres of mass.

use multibody::{JointType, Kinematics, Model, NO_PARENT, NodeFrame, forward_kinematics, joint_axis};
use spatial::{Mat3, Vec3};

use super::dense::{Matrix, Vector};

/// An angular and a linear vector of a body: velocities, or torque and force.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub ang: Vec3<f64>,
    pub lin: Vec3<f64>,
}

impl Pair {
    pub const ZERO: Self = Self { ang: Vec3::ZERO, lin: Vec3::ZERO };

    pub fn plus(self, s: f64, other: Self) -> Self {
        Self { ang: self.ang + other.ang * s, lin: self.lin + other.lin * s }
    }

    pub fn dot(self, other: Self) -> f64 {
        self.ang.dot(other.ang) + self.lin.dot(other.lin)
    }
}

/// A degree of freedom: how a point at `origin` moves at unit rate, and the rotation.
struct Axis {
    node: usize,
    motion: Pair,
    origin: Vec3<f64>,
    /// Whether it is fixed in the world, as the translation of a free joint.
    is_fixed: bool,
}

/// A body where it is.
pub struct Body {
    pub mass: f64,
    pub com: Vec3<f64>,
    pub inertia: Mat3<f64>,
}

pub struct Bodies<'a> {
    model: &'a Model,
    pub frames: Vec<NodeFrame<f64>>,
    pub all: Vec<Body>,
    axes: Vec<Axis>,
}

impl<'a> Bodies<'a> {
    pub fn at(model: &'a Model, q: &[f64]) -> Self {
        let mut kin = Kinematics::new(&model.tree);
        forward_kinematics(&model.tree, model.tree.all(), q, &mut kin);
        let frames = kin.frames;
        let mut axes = Vec::new();
        for (i, node) in model.tree.nodes.iter().enumerate() {
            for k in 0..node.joint.nv() {
                let axis = joint_axis(node, &frames[i], k);
                let is_fixed = node.joint == JointType::Free && k < 3;
                let motion = Pair { ang: axis.ang, lin: axis.lin };
                axes.push(Axis { node: i, motion, origin: frames[i].pos, is_fixed });
            }
        }
        let body = |(node, frame): (&multibody::Node<f64>, &NodeFrame<f64>)| Body {
            mass: node.inertia.mass,
            com: frame.pos + frame.rot * node.inertia.com,
            inertia: frame.rot * node.inertia.inertia.to_mat3() * frame.rot.transpose(),
        };
        let all = model.tree.nodes.iter().zip(&frames).map(body).collect();
        Self { model, frames, all, axes }
    }

    fn nv(&self) -> usize {
        self.model.nv()
    }

    /// Whether a node moves with another one: it is that node or hangs on it.
    pub fn moves_with(&self, node: usize, root: usize) -> bool {
        let mut above = node;
        while above != root && above != NO_PARENT {
            above = self.model.tree.nodes[above].parent;
        }
        above == root
    }

    /// The tree of a node.
    pub fn tree_of(&self, node: usize) -> usize {
        self.model.tree.trees.iter().position(|nodes| nodes.contains(&node)).unwrap()
    }

    /// How a point of a node moves at unit rate of each degree of freedom, with the node's rotation; nothing of the world.
    pub fn columns(&self, node: Option<usize>, point: Vec3<f64>) -> Vec<Pair> {
        let Some(node) = node else { return vec![Pair::ZERO; self.nv()] };
        let column = |axis: &Axis| {
            let Axis { motion, origin, .. } = axis;
            let lin = motion.lin + motion.ang.cross(point - *origin);
            if self.moves_with(node, axis.node) { Pair { ang: motion.ang, lin } } else { Pair::ZERO }
        };
        self.axes.iter().map(column).collect()
    }

    /// The motion of a point of a node at velocities `v`.
    pub fn motion(&self, node: usize, point: Vec3<f64>, v: &[f64]) -> Pair {
        self.columns(Some(node), point).iter().zip(v).fold(Pair::ZERO, |sum, (column, v)| sum.plus(*v, *column))
    }

    /// The motions of all bodies' centres of mass.
    pub fn motions(&self, v: &[f64]) -> Vec<Pair> {
        self.all.iter().enumerate().map(|(i, body)| self.motion(i, body.com, v)).collect()
    }

    /// I J v of a body, and in the same way I a.
    pub fn momentum(&self, i: usize, motion: Pair) -> Pair {
        Pair { ang: self.all[i].inertia * motion.ang, lin: motion.lin * self.all[i].mass }
    }

    /// Σ Jᵀ I J.
    pub fn mass_matrix(&self) -> Matrix {
        let nv = self.nv();
        let mut m = vec![vec![0.0; nv]; nv];
        for (i, body) in self.all.iter().enumerate() {
            let columns = self.columns(Some(i), body.com);
            for (row, b) in m.iter_mut().zip(&columns) {
                for (x, a) in row.iter_mut().zip(&columns) {
                    *x += b.dot(self.momentum(i, *a));
                }
            }
        }
        m
    }

    /// Σ Jᵀ f.
    pub fn generalized(&self, forces: &[Pair]) -> Vector {
        let mut sum = vec![0.0; self.nv()];
        for (i, force) in forces.iter().enumerate() {
            let columns = self.columns(Some(i), self.all[i].com);
            sum.iter_mut().zip(columns).for_each(|(sum, column)| *sum += column.dot(*force));
        }
        sum
    }

    /// The generalised forces of what compensates gravity, at the centres of mass of the model's own bodies.
    pub fn lifts(&self) -> Vector {
        let mut sum = vec![0.0; self.nv()];
        for body in &self.model.bodies {
            let Some(node) = body.node else { continue };
            let (frame, point) = (&self.frames[node], body.pose.transform_point(body.inertia.com));
            let lift = self.model.gravity * (-body.gravity_compensation * body.inertia.mass);
            let columns = self.columns(Some(node), frame.pos + frame.rot * point);
            sum.iter_mut().zip(columns).for_each(|(sum, column)| *sum += column.lin.dot(lift));
        }
        sum
    }

    /// J̇ v of a point that moves with a node where the velocities `v` stay. Axes turn with their nodes: J̇ is the derivative of every column.
    pub fn bias(&self, node: usize, point: Vec3<f64>, v: &[f64]) -> Pair {
        let motion = self.motion(node, point, v);
        let mut bias = Pair::ZERO;
        for (axis, rate) in self.axes.iter().zip(v).filter(|(axis, _)| self.moves_with(node, axis.node)) {
            let carrier = self.motion(axis.node, self.frames[axis.node].pos, v);
            let Axis { motion: Pair { ang, lin }, origin, is_fixed, .. } = *axis;
            let spin = if is_fixed { Vec3::ZERO } else { carrier.ang };
            let (ang_rate, lin_rate) = (spin.cross(ang), spin.cross(lin));
            let arm_rate = motion.lin - carrier.lin;
            let lin = lin_rate + ang_rate.cross(point - origin) + ang.cross(arm_rate);
            bias = bias.plus(*rate, Pair { ang: ang_rate, lin });
        }
        bias
    }

    /// d/dt (I J v) of all bodies where the velocities `v` stay, I J̇ v + ω × I ω.
    pub fn inertial_forces(&self, v: &[f64]) -> Vec<Pair> {
        let mut forces = Vec::new();
        for (i, body) in self.all.iter().enumerate() {
            let spin = self.motion(i, body.com, v).ang;
            let force = self.momentum(i, self.bias(i, body.com, v));
            forces.push(Pair { ang: force.ang + spin.cross(body.inertia * spin), ..force });
        }
        forces
    }

    /// The polar form of the inertial forces, which are quadratic in the velocities: f(v, v) = f(v), bilinear.
    pub fn polar_forces(&self, v: &[f64], u: &[f64]) -> Vec<Pair> {
        let sum: Vec<f64> = v.iter().zip(u).map(|(v, u)| v + u).collect();
        let (both, of_v, of_u) = (self.inertial_forces(&sum), self.inertial_forces(v), self.inertial_forces(u));
        let polar = |((both, of_v), of_u): ((&Pair, &Pair), &Pair)| {
            Pair::ZERO.plus(0.5, both.plus(-1.0, *of_v).plus(-1.0, *of_u))
        };
        both.iter().zip(&of_v).zip(&of_u).map(polar).collect()
    }
}
