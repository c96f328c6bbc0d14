//! From compliance to regularisation R and bias v̂, as documented: `docs/time-stepping.md`, and Castro, Permenter, Han, *An Unconstrained
//! Convex Formulation of Compliant Contact*. Dampers of constraints leave of a velocity
//! what they leave in continuous time.

use std::f64::consts::PI;

use multibody::{Compliance, Model};
use sapwood_sim::Options;
use spatial::Vec3;

use super::bodies::Bodies;
use super::dense::{Matrix, Vector, dot, part, response, solve, with_diagonal};

/// A law γ = (v̂ − v)/R of a violation, v̂ = −(violation + ahead · rate)/time.
pub struct Compliant {
    pub r: f64,
    /// v̂ over the violation, and over its rate at the beginning of the step.
    pub per_violation: f64,
    pub per_rate: f64,
    /// How fast it is righted at most.
    pub fastest: f64,
}

pub struct OneSided {
    pub r: f64,
    pub v_hat: f64,
    pub is_rigid: bool,
}

/// What a row meets: its share of the Delassus operator, and its inverse weight at the default configuration.
#[derive(Clone, Copy)]
pub struct Row {
    pub w: f64,
    pub inverse: f64,
}

/// Where a spring with dt² k w = z is taken, q₀ + dt (first · v₀ + second · (v − v₀)): (0, ½) where a step resolves it, (1, 1) where it does not.
pub fn spring_point(z: f64) -> [f64; 2] {
    let unresolved = z * z / (16.0 + z * z);
    [unresolved, 0.5 + 0.5 * unresolved]
}

/// h coth h as the engine has it: the mean of both ends of the step, 2h of which a damper takes, and an inertia this many times as large
/// leave e⁻²ʰ of a velocity.
fn inertia_beside_damper(h: f64) -> f64 {
    (h * h + 3.0 / (h * h + 3.0)).sqrt()
}

/// The law of a row that pushes in a share of the step.
pub fn compliant(options: &Options, dt: f64, compliance: Compliance, row: Row, size: f64, share: f64) -> Compliant {
    let w = row.w;
    let period = options.beta / (2.0 * PI);
    let rigid = Compliant {
        r: period * period * w,
        per_violation: -1.0 / (dt + options.beta * dt / PI),
        per_rate: 0.0,
        fastest: options.recovery_speed,
    };
    let (stiffness, relaxation) = match compliance {
        Compliance::NearRigid => return rigid,
        Compliance::Physical { stiffness, relaxation } => (stiffness, relaxation),
        Compliance::Reference(reference) => return of_reference(dt, &reference, row, size, share),
    };
    let [first, second] = spring_point(dt * dt * stiffness * w);
    // −k (φ + τ φ̇) with φ₀ + dt (first v₀ + second (v − v₀)).
    let rate = dt * stiffness * w;
    let half = 0.5 * relaxation * share;
    let inertia = inertia_beside_damper(rate * half);
    // Each over the velocities v − v₀ and v + v₀.
    let of_change = (inertia - 1.0) / rate + second * dt;
    let of_sum = half + second * dt * rate * half / inertia;
    let time = of_change + of_sum;
    let r = 1.0 / (dt * stiffness * time);
    let (per_violation, per_rate) = (-1.0 / time, (of_change - of_sum - dt * first) / time);
    // No constraint is stiffer than the step resolves.
    if r > rigid.r { Compliant { r, per_violation, per_rate, fastest: f64::INFINITY } } else { rigid }
}

/// MuJoCo's row, R f = −b ṙ − d k r − r̈, with r̈ at the end of the step and r where springs are taken.
fn of_reference(dt: f64, reference: &multibody::Reference, row: Row, size: f64, share: f64) -> Compliant {
    let Row { w, inverse } = row;
    let [d0, d1, width, middle, power] = reference.solimp;
    let x = if width > 0.0 { (size / width).min(1.0) } else { 1.0 };
    let y = if x < middle {
        middle * (x / middle).powf(power)
    } else {
        1.0 - (1.0 - middle) * ((1.0 - x) / (1.0 - middle)).powf(power)
    };
    let d = d0 + y * (d1 - d0);
    let [first, second] = reference.solref;
    let (k, b) = if first > 0.0 {
        let time = d1 * first.max(2.0 * dt);
        (1.0 / (time * second).powi(2), 2.0 / time)
    } else {
        (-first / (d1 * d1), -second / d1)
    };
    let r = inverse * (1.0 - d) / d;
    let spring = dt * dt * d * k;
    // Where it is resolved, so that what swings with the row's own inertia has the right period.
    let [first, _] = spring_point(spring * d);
    let second = first + (1.0 - first) / 12.0;
    let half = 0.5 * dt * b * share;
    let inertia = inertia_beside_damper(half * d);
    let of_change = 1.0 + (inertia - 1.0) / d + spring * second;
    let of_sum = half + spring * second * half * d / inertia;
    let whole = of_change + of_sum;
    Compliant {
        r: (r / whole).max(1e-7 * w),
        per_violation: -dt * d * k / whole,
        per_rate: (of_change - of_sum - spring * first) / whole,
        fastest: f64::INFINITY,
    }
}

/// R and v̂ of dry friction: near-rigid, or −(b v̄ + (v − v₀)/dt)/R of a reference.
pub fn dry_friction(options: &Options, dt: f64, compliance: Compliance, row: Row, rate: f64) -> (f64, f64) {
    let Compliance::Reference(reference) = compliance else { return (options.sigma * row.w, 0.0) };
    let [d0, d1, width, ..] = reference.solimp;
    let d = if width > 0.0 { d0 } else { 0.5 * (d0 + d1) };
    let [first, second] = reference.solref;
    let damper = dt * if first > 0.0 { 2.0 / (d1 * first.max(2.0 * dt)) } else { -second / d1 };
    let of_change = 1.0 + (inertia_beside_damper(0.5 * damper * d) - 1.0) / d;
    let whole = of_change + 0.5 * damper;
    (row.inverse * (1.0 - d) / d / whole, rate * (of_change - 0.5 * damper) / whole)
}

/// R of sliding friction over `share` of that along the normal, and v̂ over what slides at the beginning: near-rigid, or of MuJoCo's
/// damper, −b v̄ − (v − v₀)/dt, with the impedance that the contact has at this gap.
pub fn sliding_friction(
    options: &Options,
    dt: f64,
    reference: Option<multibody::Reference>,
    row: Row,
    gap: f64,
    share: f64,
) -> (f64, f64) {
    let (Some(_), Some(reference)) = (options.impratio, reference) else { return (options.sigma * row.w, 0.0) };
    let [first, second] = reference.solref;
    let damping = if first > 0.0 { 2.0 / first.max(2.0 * dt) } else { -second };
    let damper = multibody::Reference { solref: [0.0, -damping], ..reference };
    let law = of_reference(dt, &damper, row, gap.abs(), 1.0);
    ((law.r * share).max(1e-7 * row.w), law.per_rate)
}

impl Compliant {
    pub fn v_hat(&self, violation: f64, rate: f64) -> f64 {
        violation * self.per_violation + rate * self.per_rate
    }
}

pub fn one_sided(options: &Options, dt: f64, compliance: Compliance, row: Row, gap: f64, rate: f64) -> OneSided {
    // Half a step before and after its beginning positions go from gap − ½ dt rate to gap + ½ dt rate: the share of them that are below 0.
    let share = if rate < 0.0 { (0.5 - gap / (-rate * dt)).clamp(0.0, 1.0) } else { 1.0 };
    let law = compliant(options, dt, compliance, row, gap.abs(), share);
    let mut v_hat = law.v_hat(gap, rate).min(law.fastest);
    if gap >= 0.0 && matches!(compliance, Compliance::Reference(_)) {
        // What is not there yet is not stopped before it is.
        v_hat = v_hat.min(-gap / dt);
    }
    OneSided { r: law.r, v_hat, is_rigid: law.fastest.is_finite() }
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

    /// How much more it would be if Λ were the armature alone.
    pub fn slack(&self, bodies: &Bodies<'_>, node: usize, arm: Vec3<f64>) -> f64 {
        let arm = bodies.frames[node].rot.transpose_mul(arm);
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let trace = |block: &Matrix| axes.iter().map(|e| Self::along(block, arm, *e)).sum::<f64>();
        PER_TRACE * (trace(&self.bare[node]) - trace(&self.blocks[node])).max(0.0)
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
