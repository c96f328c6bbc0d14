//! Newton's matrix of an implicit step on a tree, factored in O(n).
//!
//! An implicit step solves τ(q(v), v̄(v), a(v)) = f for the velocity v at its end, τ the inverse dynamics, all three
//! arguments functions of v. The derivative of τ along them (the Fréchet derivative of Potra, Gavrea, Anitescu, Trinkle
//! 2006) is no sum of symmetric operators, and one joint's velocity enters every inertia outwards of it. It is a
//! recursion all the same. In spatial vectors about a fixed point, a change δv moves body i by η_i, changes its velocity
//! by η_i × V_i + ν_i and its acceleration by η_i × A_i + α_i − V_i × ν_i, where
//!
//! ```text
//! x_i = (η, ν, α)_i = x_λ + U_i δv_i,    δf_i = η ×* f_i + I_i α + (ν ×* h_i + V_i ×* I_i ν − I_i (V_i × ν))
//! U_i = (S c,  S θ_v + V_λ × S c,  S/dt + A_λ × S c + V_λ × (V_λ × S c) + θ_v (V_λ × S + V_i × S)),    c = dt θ_q θ_vq
//! ```
//!
//! with λ the parent, S the joint's axes, h momentum, f the rate of momentum: what a body feels is a linear map of what
//! its parent does, without a transform between the two. So the joints are eliminated from the leaves down as in the
//! articulated-body algorithm, with a 6×15 matrix in the place of the 6×6 inertia (the linear part of ν changes no force:
//! Galileo). A rotation is moved by T δv, not by c δv: T is the derivative of the map from v to the rotation,
//! [`Retraction::tangent`](crate::Retraction::tangent).

use spatial::{Mat3, RigidInertia, Twist, Vec3, Wrench};

use crate::kinematics::{joint_axis, joint_twist, vec3};
use crate::{JointType, Kinematics, NO_PARENT, NodeFrame, Tree};

/// Columns for x: η (angular, linear), ν (angular), α (angular, linear); one of padding for registers.
const WIDTH: usize = 16;
const NU: usize = 6;
const ALPHA: usize = 9;

/// A row over x.
type Row = [f64; WIDTH];

/// How fast positions, velocities and accelerations of the joints change with v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Coordinates with one degree of freedom and positions: c = dt θ_q θ_vq, s.
    pub position: f64,
    /// Velocities: θ_v.
    pub velocity: f64,
    /// Accelerations: 1/dt, 1/s.
    pub acceleration: f64,
}

/// Motion and load of a body, about the fixed point.
#[derive(Clone, Copy, Debug)]
struct Motion {
    velocity: Twist<f64>,
    acceleration: Twist<f64>,
}

impl Motion {
    fn at_rest(gravity: Vec3<f64>) -> Self {
        // An accelerated world is a world with gravity.
        let acceleration = Twist { ang: Vec3::ZERO, lin: -gravity };
        Self { velocity: Twist::ZERO, acceleration }
    }

    /// The child's motion, when a joint adds the velocity `rate` and its rate of change `change` along its axes.
    fn add(&self, rate: Twist<f64>, change: Twist<f64>) -> Self {
        let acceleration = self.acceleration + change + cross(self.velocity, rate);
        Self { velocity: self.velocity + rate, acceleration }
    }
}

/// One, two or three degrees of freedom that are eliminated together.
#[derive(Clone, Copy, Debug)]
struct Stage {
    node: usize,
    /// First degree of freedom and how many.
    dof: usize,
    width: usize,
    /// Whether x of the stage before it is that of the parent node; else that of the stage before in order.
    parent: Option<usize>,
    axes: [[f64; 6]; 3],
    /// U
    reach: [Row; 3],
    /// SᵀP + (S ×* F)ᵀ on η
    pull: [Row; 3],
    /// P U
    push: [[f64; 6]; 3],
    /// (pull U + d)⁻¹
    inverse: [[f64; 3]; 3],
}

const NO_STAGE: Stage = Stage {
    node: 0,
    dof: 0,
    width: 0,
    parent: None,
    axes: [[0.0; 6]; 3],
    reach: [[0.0; WIDTH]; 3],
    pull: [[0.0; WIDTH]; 3],
    push: [[0.0; 6]; 3],
    inverse: [[0.0; 3]; 3],
};

/// The factor of ∂τ/∂v + d, and the scratch of its solves.
#[derive(Clone, Debug, Default)]
pub struct ImplicitFactor {
    stages: Vec<Stage>,
    /// The last stage of every node.
    last: Vec<usize>,
    motions: Vec<Motion>,
    /// P and F of every stage, what bodies outwards add included.
    operators: Vec<[Row; 6]>,
    forces: Vec<Wrench<f64>>,
    x: Vec<Row>,
    p: Vec<[f64; 6]>,
}

impl ImplicitFactor {
    /// Storage for a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let mut factor = Self::default();
        for (i, node) in tree.nodes.iter().enumerate() {
            let parent = (node.parent != NO_PARENT).then(|| factor.last[node.parent]);
            let mut add = |dof: usize, width: usize, parent: Option<usize>| {
                factor.stages.push(Stage { node: i, dof, width, parent, ..NO_STAGE });
            };
            match node.joint {
                JointType::Revolute | JointType::Prismatic | JointType::Screw => add(node.v, 1, parent),
                JointType::Ball => add(node.v, 3, parent),
                JointType::Free => {
                    add(node.v, 3, parent);
                    let shifted = factor.stages.len() - 1;
                    factor.stages.push(Stage { node: i, dof: node.v + 3, width: 3, parent: Some(shifted), ..NO_STAGE });
                }
            }
            factor.last.push(factor.stages.len() - 1);
        }
        let n = factor.stages.len();
        factor.motions = vec![Motion::at_rest(Vec3::ZERO); n];
        factor.operators = vec![[[0.0; WIDTH]; 6]; n];
        factor.forces = vec![Wrench::ZERO; n];
        factor.x = vec![[0.0; WIDTH]; n];
        factor.p = vec![[0.0; 6]; n];
        factor
    }

    /// Factors ∂τ/∂v + d at the placements `kin`, velocities `v` (nv) and accelerations `a` (nv).
    ///
    /// `turns` has T for every node that rotates about a point, and is not read for others; d is `diagonal` (nv) and, for
    /// ball and free joints, all of `blocks` on their rotations, one per node.
    pub fn factor(
        &mut self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        (v, a): (&[f64], &[f64]),
        gravity: Vec3<f64>,
        rates: Rates,
        turns: &[Mat3<f64>],
        (diagonal, blocks): (&[f64], &[Mat3<f64>]),
    ) {
        let Some(root) = kin.frames.first() else { return };
        let origin = root.pos;
        for k in 0..self.stages.len() {
            self.prepare(k, tree, kin, (v, a), gravity, rates, turns, origin);
        }
        for k in (0..self.stages.len()).rev() {
            let Stage { node, dof, width, parent, .. } = self.stages[k];
            let mut d = [[0.0; 3]; 3];
            for (j, row) in d.iter_mut().enumerate().take(width) {
                row[j] = diagonal[dof + j];
            }
            if width == 3 && self.last[node] == k {
                let Mat3 { x, y, z } = blocks[node];
                for (j, column) in [x, y, z].into_iter().enumerate() {
                    for (row, entry) in d.iter_mut().zip(column.to_array()) {
                        row[j] += entry;
                    }
                }
            }
            self.eliminate(k, &d);
            if let Some(parent) = parent {
                let force = self.forces[k];
                self.forces[parent] += force;
                // Parents come first.
                let (before, rest) = self.operators.split_at_mut(k);
                for (sum, row) in before[parent].iter_mut().zip(&rest[0]) {
                    sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += *x);
                }
            }
        }
    }

    /// Motion, axes, U and the body's own operator of a stage.
    fn prepare(
        &mut self,
        k: usize,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        (v, a): (&[f64], &[f64]),
        gravity: Vec3<f64>,
        rates: Rates,
        turns: &[Mat3<f64>],
        origin: Vec3<f64>,
    ) {
        let Stage { node: i, width, parent, .. } = self.stages[k];
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let before = parent.map_or_else(|| Motion::at_rest(gravity), |parent| self.motions[parent]);
        // From the node's origin to the fixed point.
        let arm = origin - frame.pos;
        let is_shift = node.joint == JointType::Free && self.last[i] != k;
        let is_turn = width == 3 && !is_shift;
        let first = if node.joint == JointType::Free && is_turn { 3 } else { 0 };
        let (rate, change) = match () {
            () if is_shift => {
                let lin = |x: &[f64]| Twist { ang: Vec3::ZERO, lin: vec3(&x[node.v..]) };
                (lin(v), lin(a))
            }
            () if is_turn => {
                let ang =
                    |x: &[f64]| Twist { ang: frame.rot * vec3(&x[node.v + first..]), lin: Vec3::ZERO }.shifted(arm);
                (ang(v), ang(a))
            }
            () => (joint_twist(node, frame, v).shifted(arm), joint_twist(node, frame, a).shifted(arm)),
        };
        let now = before.add(rate, change);
        self.motions[k] = now;
        for j in 0..width {
            let axis = joint_axis(node, frame, first + j).shifted(arm);
            let moved = if is_turn {
                let Mat3 { x, y, z } = turns[i];
                let column = [x, y, z][j];
                Twist { ang: frame.rot * column, lin: Vec3::ZERO }.shifted(arm)
            } else {
                axis * rates.position
            };
            self.stages[k].axes[j] = twist_array(axis);
            self.stages[k].reach[j] = reach(axis, moved, &before, &now, rates);
        }
        if self.last[i] == k {
            (self.operators[k], self.forces[k]) = body(frame, frame.pos - origin, &now);
        } else {
            self.operators[k] = [[0.0; WIDTH]; 6];
            self.forces[k] = Wrench::ZERO;
        }
    }

    /// Eliminates the stage's degrees of freedom from its operator.
    fn eliminate(&mut self, k: usize, d: &[[f64; 3]; 3]) {
        let (stage, operator, force) = (&mut self.stages[k], &mut self.operators[k], self.forces[k]);
        if stage.width == 1 {
            eliminate::<1>(stage, operator, force, d);
        } else {
            eliminate::<3>(stage, operator, force, d);
        }
    }

    /// x ← (∂τ/∂v + d)⁻¹ r, both (nv).
    pub fn solve(&mut self, r: &[f64], x: &mut [f64]) {
        self.p.fill([0.0; 6]);
        for k in (0..self.stages.len()).rev() {
            let stage = &self.stages[k];
            let p = self.p[k];
            // What is left for the degrees of freedom when x of the parent is zero.
            let mut u = [0.0; 3];
            for j in 0..stage.width {
                u[j] = r[stage.dof + j] - dot(&stage.axes[j], &p);
                x[stage.dof + j] = u[j];
            }
            if let Some(parent) = stage.parent {
                let mut carried = p;
                for j in 0..stage.width {
                    let y = dot(&stage.inverse[j], &u);
                    carried.iter_mut().zip(&stage.push[j]).for_each(|(c, push)| *c += push * y);
                }
                self.p[parent].iter_mut().zip(carried).for_each(|(sum, c)| *sum += c);
            }
        }
        for (k, stage) in self.stages.iter().enumerate() {
            let mut state = stage.parent.map_or([0.0; WIDTH], |parent| self.x[parent]);
            let mut u = [0.0; 3];
            for j in 0..stage.width {
                u[j] = x[stage.dof + j] - dot(&stage.pull[j], &state);
            }
            for j in 0..stage.width {
                let y = dot(&stage.inverse[j], &u);
                x[stage.dof + j] = y;
                state.iter_mut().zip(&stage.reach[j]).for_each(|(s, reach)| *s += reach * y);
            }
            self.x[k] = state;
        }
    }
}

/// U of one degree of freedom whose axis is `axis`, and which moves the body by `moved`.
fn reach(axis: Twist<f64>, moved: Twist<f64>, before: &Motion, now: &Motion, rates: Rates) -> Row {
    let (v, a) = (before.velocity, before.acceleration);
    let carried = cross(v, moved);
    let nu = axis * rates.velocity + carried;
    let turning = cross(v, axis) + cross(now.velocity, axis);
    let alpha = axis * rates.acceleration + cross(a, moved) + cross(v, carried) + turning * rates.velocity;
    let mut row = [0.0; WIDTH];
    row[..6].copy_from_slice(&twist_array(moved));
    row[NU..NU + 3].copy_from_slice(&nu.ang.to_array());
    row[ALPHA..ALPHA + 6].copy_from_slice(&twist_array(alpha));
    row
}

/// δf of a body over x, and f; its node's origin is at `pos` from the fixed point.
fn body(frame: &NodeFrame<f64>, pos: Vec3<f64>, motion: &Motion) -> ([Row; 6], Wrench<f64>) {
    let RigidInertia { mass, com, inertia } = frame.inertia;
    let inertia = RigidInertia { mass, com: com + pos, inertia };
    let Motion { velocity: v, acceleration: a } = *motion;
    let h = inertia.momentum(v);
    let f = inertia.momentum(a) + cross_force(v, h);
    let (m, c, j) = (mass, inertia.com, inertia.articulated().a.to_mat3());
    let first_moment = Mat3::skew(c * m);
    // ω̂ J − J ω̂ − m (v̂ ĉ + ĉ v̂) − ĥ: the rate of the inertia and the momentum's turn.
    let spin = Mat3::skew(v.ang);
    let turning = spin * j - j * spin;
    let trace = 2.0 * m * v.lin.dot(c);
    let diagonal =
        Mat3::from_columns(Vec3::new(trace, 0.0, 0.0), Vec3::new(0.0, trace, 0.0), Vec3::new(0.0, 0.0, trace));
    let shifting = Mat3::outer(v.lin * m, c) + Mat3::outer(c * m, v.lin) - diagonal;
    let mut rows = [[0.0; WIDTH]; 6];
    let zero = Mat3::skew(Vec3::ZERO);
    let lin_of_f = zero - Mat3::skew(f.lin);
    set(&mut rows, 0, 0, zero - Mat3::skew(f.ang));
    set(&mut rows, 0, 3, lin_of_f);
    set(&mut rows, 3, 0, lin_of_f);
    set(&mut rows, 0, NU, turning - shifting - Mat3::skew(h.ang));
    set(&mut rows, 3, NU, Mat3::skew(h.lin * -2.0));
    set(&mut rows, 0, ALPHA, j);
    set(&mut rows, 0, ALPHA + 3, first_moment);
    set(&mut rows, 3, ALPHA, zero - first_moment);
    for k in 0..3 {
        rows[3 + k][ALPHA + 3 + k] = m;
    }
    (rows, f)
}

fn eliminate<const K: usize>(stage: &mut Stage, operator: &mut [Row; 6], force: Wrench<f64>, d: &[[f64; 3]; 3]) {
    for j in 0..K {
        let axis = &stage.axes[j];
        let mut pull = [0.0; WIDTH];
        for (s, row) in axis.iter().zip(operator.iter()) {
            pull.iter_mut().zip(row).for_each(|(p, x)| *p += s * x);
        }
        let turned = cross_force(twist(axis), force);
        for (p, x) in pull.iter_mut().zip(wrench_array(turned)) {
            *p += x;
        }
        stage.pull[j] = pull;
        for (push, row) in stage.push[j].iter_mut().zip(operator.iter()) {
            *push = dot(row, &stage.reach[j]);
        }
    }
    if K == 1 {
        stage.inverse[0][0] = 1.0 / (dot(&stage.pull[0], &stage.reach[0]) + d[0][0]);
    } else {
        let entry = |i: usize, j: usize| dot(&stage.pull[i], &stage.reach[j]) + d[i][j];
        stage.inverse = inverse([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))));
    }
    for i in 0..K {
        let mut row = [0.0; WIDTH];
        for j in 0..K {
            let s = stage.inverse[i][j];
            row.iter_mut().zip(&stage.pull[j]).for_each(|(r, p)| *r += s * p);
        }
        for (operator_row, push) in operator.iter_mut().zip(&stage.push[i]) {
            operator_row.iter_mut().zip(&row).for_each(|(x, r)| *x -= push * r);
        }
    }
}

/// The inverse of a 3×3 matrix of rows.
fn inverse(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let [a, b, c] = m.map(Vec3::from);
    let (x, y, z) = (b.cross(c), c.cross(a), a.cross(b));
    let scale = 1.0 / a.dot(x);
    [0, 1, 2].map(|i| [x.to_array()[i] * scale, y.to_array()[i] * scale, z.to_array()[i] * scale])
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

fn set(rows: &mut [Row; 6], row: usize, column: usize, m: Mat3<f64>) {
    for (j, entries) in [m.x, m.y, m.z].into_iter().enumerate() {
        for (i, entry) in entries.to_array().into_iter().enumerate() {
            rows[row + i][column + j] = entry;
        }
    }
}

/// The motion's cross product a × b.
fn cross(a: Twist<f64>, b: Twist<f64>) -> Twist<f64> {
    Twist { ang: a.ang.cross(b.ang), lin: a.ang.cross(b.lin) + a.lin.cross(b.ang) }
}

/// The force's cross product a ×* f.
fn cross_force(a: Twist<f64>, f: Wrench<f64>) -> Wrench<f64> {
    Wrench { ang: a.ang.cross(f.ang) + a.lin.cross(f.lin), lin: a.ang.cross(f.lin) }
}

fn twist_array(t: Twist<f64>) -> [f64; 6] {
    [t.ang.x, t.ang.y, t.ang.z, t.lin.x, t.lin.y, t.lin.z]
}

fn wrench_array(w: Wrench<f64>) -> [f64; 6] {
    [w.ang.x, w.ang.y, w.ang.z, w.lin.x, w.lin.y, w.lin.z]
}

fn twist(x: &[f64; 6]) -> Twist<f64> {
    Twist { ang: vec3(&x[..3]), lin: vec3(&x[3..]) }
}
