//! From compliance to regularisation R and bias v̂, as documented: `docs/time-stepping.md`, and Castro, Permenter, Han, *An Unconstrained
//! Convex Formulation of Compliant Contact*. The default scheme takes forces of constraints at the end of the step.

use std::f64::consts::PI;

use multibody::{Compliance, Model};
use sapwood_sim::Options;
use spatial::Vec3;

use super::bodies::Bodies;
use super::dense::{Matrix, Vector, dot, part, response, solve, with_diagonal};

/// A law γ = (v̂ − v)/R of a violation.
pub struct Compliant {
    pub r: f64,
    /// v̂ is −violation over this.
    pub time: f64,
    /// How fast it is righted at most.
    pub fastest: f64,
}

pub struct OneSided {
    pub r: f64,
    pub v_hat: f64,
    pub is_rigid: bool,
}

/// `w` is the inverse of the mass that an impulse meets, and `spring_w` that which a stiffness per mass refers to.
pub fn compliant(options: &Options, dt: f64, compliance: Compliance, [w, spring_w]: [f64; 2]) -> Compliant {
    let period = options.beta / (2.0 * PI);
    let rigid =
        Compliant { r: period * period * w, time: dt + options.beta * dt / PI, fastest: options.recovery_speed };
    let (stiffness, relaxation) = match compliance {
        Compliance::NearRigid => return rigid,
        Compliance::Physical { stiffness, relaxation } => (stiffness, relaxation),
        Compliance::PerMass { stiffness, relaxation } => (stiffness / spring_w, relaxation),
    };
    let time = dt + relaxation;
    let r = 1.0 / (dt * stiffness * time);
    // No constraint is stiffer than the step resolves.
    if r > rigid.r { Compliant { r, time, fastest: f64::INFINITY } } else { rigid }
}

pub fn one_sided(options: &Options, dt: f64, compliance: Compliance, gap: f64, w: [f64; 2]) -> OneSided {
    let Compliant { r, time, fastest } = compliant(options, dt, compliance, w);
    OneSided { r, v_hat: (-gap / time).min(fastest), is_rigid: fastest.is_finite() }
}

impl OneSided {
    /// v̂ for the velocity at the end of the step, and for the one that moves positions if that is another one: what a near-rigid constraint
    /// recovers beyond what its own compliance took up in the step before, R γ, leaves no velocity.
    pub fn split(&self, options: &Options, impulse_before: f64) -> (f64, Option<f64>) {
        let given_back = self.r * impulse_before;
        if self.is_rigid && self.v_hat > given_back + 0.01 * options.recovery_speed {
            (given_back, Some(self.v_hat))
        } else {
            (self.v_hat, None)
        }
    }
}

/// How easily bodies are moved at the default configuration, J (M + Λ)⁻¹ Jᵀ of the motions of nodes at their origins, rotations first, in the
/// nodes' axes.
pub struct Mobility {
    /// With all that is implicit in Λ, and with armature alone.
    blocks: Vec<Matrix>,
    bare: Vec<Matrix>,
    /// The farthest point of any geom from the origin of its node, m.
    extents: Vec<f64>,
}

/// From the trace of a block of the Delassus operator to its norm over 3, where it is isotropic.
const PER_TRACE: f64 = 0.192_450_089_729_875_26;

impl Mobility {
    pub fn new(model: &Model, extents: &[f64], lambda: &[f64]) -> Self {
        let bodies = Bodies::at(model, &model.q0);
        let mass = bodies.mass_matrix();
        let of = |lambda: &[f64]| {
            let a = with_diagonal(&mass, lambda);
            let of_node = |i: usize| {
                let frame = &bodies.frames[i];
                let columns = bodies.columns(Some(i), frame.pos);
                let axes = [frame.rot.x, frame.rot.y, frame.rot.z];
                let turns = axes.map(|e| columns.iter().map(|c| c.ang.dot(e)).collect::<Vector>());
                let pushes = axes.map(|e| columns.iter().map(|c| c.lin.dot(e)).collect::<Vector>());
                response(&a, &[turns, pushes].concat())
            };
            (0..model.tree.len()).map(of_node).collect()
        };
        Self { blocks: of(lambda), bare: of(&model.armature), extents: extents.to_vec() }
    }

    /// The block's part along the unit vector `n` at the point `arm`, both in the node's axes.
    fn along(block: &Matrix, arm: Vec3<f64>, n: Vec3<f64>) -> f64 {
        let row = [arm.cross(n).to_array(), n.to_array()].concat();
        dot(&row, &super::dense::times(block, &row))
    }

    fn trace(block: &Matrix, rows: std::ops::Range<usize>) -> f64 {
        rows.map(|k| block[k][k]).sum()
    }

    /// The inverse mass of a point at `arm` from the origin of a node, world, now.
    pub fn of_point(&self, bodies: &Bodies<'_>, node: usize, arm: Vec3<f64>) -> f64 {
        let arm = bodies.frames[node].rot.transpose_mul(arm);
        let (block, extent) = (&self.blocks[node], self.extents[node]);
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let trace: f64 = axes.iter().map(|e| Self::along(block, arm, *e)).sum();
        // No arm counts as shorter than a hundredth of the extent.
        PER_TRACE * trace.max(Self::trace(block, 0..3) * (0.01 * extent).powi(2))
    }

    /// The same of the rotation of a node; 0 where it cannot turn.
    pub fn of_turn(&self, node: usize) -> f64 {
        let (turn, push) = (Self::trace(&self.blocks[node], 0..3), Self::trace(&self.blocks[node], 3..6));
        let extent = self.extents[node];
        if extent > 0.0 && turn * extent * extent <= 1e-12 * push { 0.0 } else { PER_TRACE * turn }
    }

    /// Along a normal, armature alone.
    pub fn bare(&self, bodies: &Bodies<'_>, node: usize, arm: Vec3<f64>, normal: Vec3<f64>) -> f64 {
        let rot = bodies.frames[node].rot;
        Self::along(&self.bare[node], rot.transpose_mul(arm), rot.transpose_mul(normal))
    }

    /// How easily a point is moved along the normal, of what the farthest point of the node is in all directions; 1 where every point of the
    /// node can be moved in every direction.
    pub fn leverage(&self, bodies: &Bodies<'_>, node: usize, arm: Vec3<f64>, normal: Vec3<f64>) -> f64 {
        let (block, extent) = (&self.bare[node], self.extents[node]);
        let scale = |k: usize| if k < 3 { extent } else { 1.0 };
        let mut rest: Matrix = (0..6).map(|i| (0..6).map(|j| scale(i) * scale(j) * block[i][j]).collect()).collect();
        let greatest = (0..6).map(|k| rest[k][k]).fold(0.0, f64::max);
        // Pivots, the greatest first.
        let mut left: Vec<usize> = (0..6).collect();
        while let Some(&k) = left.iter().max_by(|i, j| rest[**i][**i].total_cmp(&rest[**j][**j])) {
            if rest[k][k] <= 1e-3 * greatest {
                let farthest = Self::trace(block, 3..6) + Self::trace(block, 0..3) * extent * extent;
                return (self.bare(bodies, node, arm, normal) / farthest).max(0.0);
            }
            left.retain(|i| *i != k);
            let row = rest[k].clone();
            for i in &left {
                let factor = rest[*i][k] / row[k];
                (0..6).for_each(|j| rest[*i][j] -= factor * row[j]);
            }
        }
        1.0
    }
}

/// The inverse masses that the degrees of freedom of a joint meet with its parent held: of M + Λ of what hangs on it.
pub fn joint_mobility(bodies: &Bodies<'_>, model: &Model, a: &Matrix, node: usize) -> Vector {
    let nodes = (0..model.tree.len()).filter(|i| bodies.moves_with(*i, node)).map(|i| &model.tree.nodes[i]);
    let dofs: Vec<usize> = nodes.flat_map(|node| node.v..node.v + node.joint.nv()).collect();
    let of_subtree = part(a, &dofs);
    let first = model.tree.nodes[node].v;
    let own = dofs.iter().enumerate().filter(|(_, v)| (first..first + model.tree.nodes[node].joint.nv()).contains(v));
    let unit = |k: usize| (0..dofs.len()).map(|i| if i == k { 1.0 } else { 0.0 }).collect::<Vector>();
    own.map(|(k, _)| solve(&of_subtree, &unit(k))[k]).collect()
}
