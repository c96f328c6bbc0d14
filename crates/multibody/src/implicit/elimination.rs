//! The elimination of joints from 6×15 operators, and solves with what it leaves.

use spatial::{Mat3, Sym3, Twist, Vec3, Wrench};

use super::motion::{Body, Motion, Moving, turn};
use super::row::{Lanes, Row, products};
use super::{Eliminated, ImplicitFactor, JointDerivative, Kind, Rates, Stage};

/// Columns of x: η (angular, linear), ν (angular), α (angular, linear), and 1 for the right-hand side.
const NU: usize = 6;
const ALPHA: usize = 9;
const RIGHT: usize = 15;

/// How a degree of freedom moves its body, changes its velocity and its acceleration: U.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub eta: Twist<f64>,
    pub nu: Vec3<f64>,
    pub alpha: Twist<f64>,
}

impl Reach {
    /// None.
    pub const ZERO: Self = Self { eta: Twist::ZERO, nu: Vec3::ZERO, alpha: Twist::ZERO };

    #[inline(always)]
    fn store(&self, row: &mut Row) {
        let ([a, b], [c, d]) = (parts(self.eta), parts(self.alpha));
        let nu = self.nu.to_array();
        row.0 = [a[0], a[1], a[2], b[0], b[1], b[2], nu[0], nu[1], nu[2], c[0], c[1], c[2], d[0], d[1], d[2], 0.0];
    }
}

/// Its numbers.
#[inline(always)]
fn parts(x: Twist<f64>) -> [[f64; 3]; 2] {
    [x.ang.to_array(), x.lin.to_array()]
}

/// [`ImplicitFactor::factor`]
#[inline(always)]
pub(super) fn factor<L: Lanes>(
    factor: &mut ImplicitFactor,
    rates: Rates,
    joints: JointDerivative<'_>,
    r: &[f64],
    x: &mut [f64],
) {
    set_reaches(factor, rates, joints);
    eliminate::<L>(factor, joints, r);
    // The state's last number multiplies the right-hand side.
    let mut start = Row::ZERO;
    start.0[RIGHT] = 1.0;
    x.fill(0.0);
    expand::<L>(factor, &start, x);
}

/// Sets how far each joint reaches, and the rows of bodies.
#[inline(always)]
fn set_reaches(factor: &mut ImplicitFactor, rates: Rates, joints: JointDerivative<'_>) {
    for k in 0..factor.stages.len() {
        let stage = factor.stages[k];
        let body = &factor.placed[stage.node];
        let Moving { axes, swing, motion: now, momentum, own_force, .. } = &factor.moving[k];
        let before = match stage.parent {
            Some(parent) => factor.moving[parent].motion,
            None => factor.world,
        };
        let reach = &mut factor.eliminated[k].reach;
        if stage.kind == Kind::Single {
            single_reach(axes[0], *swing, &before, rates).store(&mut reach[0]);
        } else {
            for j in 0..3 {
                let moved = match stage.kind {
                    Kind::Turn => {
                        let Mat3 { x, y, z } = joints.turns[stage.node];
                        turn(body.frame.rot * [x, y, z][j], body)
                    }
                    _ => axes[j] * rates.position,
                };
                reach_of_three(axes[j], moved, &before, now, rates).store(&mut reach[j]);
            }
        }
        if stage.has_body {
            set_body(&mut factor.bodies[k], body, now.velocity, *momentum, *own_force);
        }
    }
}

/// Eliminates the joints from the leaves to the roots.
#[inline(always)]
fn eliminate<L: Lanes>(factor: &mut ImplicitFactor, joints: JointDerivative<'_>, r: &[f64]) {
    for k in (0..factor.stages.len()).rev() {
        let stage = factor.stages[k];
        let mut operator = [L::load(&Row::ZERO); 6];
        for i in 0..6 {
            operator[i] = L::load(&factor.bodies[k][i]);
        }
        if stage.gathers {
            for i in 0..6 {
                operator[i] = operator[i].plus(L::load(&factor.store[k][i]));
            }
        }
        let (Moving { axes, force, .. }, out) = (&factor.moving[k], &mut factor.eliminated[k]);
        match stage.kind {
            Kind::Single => {
                let d = [[joints.diagonal[stage.dof]]];
                eliminate_single(out, &mut operator, axes[0], *force, d[0][0], r[stage.dof]);
            }
            _ => eliminate_three(out, &mut operator, axes, *force, &derivative(&stage, joints), &r[stage.dof..]),
        }
        let Some(parent) = stage.parent else { continue };
        let store = &mut factor.store[parent];
        if !stage.puts {
            for i in 0..6 {
                operator[i] = operator[i].plus(L::load(&store[i]));
            }
        }
        for i in 0..6 {
            operator[i].store(&mut store[i]);
        }
    }
}

/// d of three degrees of freedom.
#[inline(always)]
fn derivative(stage: &Stage, joints: JointDerivative<'_>) -> Mat3<f64> {
    let d = &joints.diagonal[stage.dof..stage.dof + 3];
    let diagonal = Sym3::diagonal(Vec3::new(d[0], d[1], d[2])).to_mat3();
    if stage.kind == Kind::Turn { diagonal + joints.blocks[stage.node] } else { diagonal }
}

/// [`ImplicitFactor::solve`]
#[inline(always)]
pub(super) fn solve<L: Lanes>(factor: &mut ImplicitFactor, r: &[f64], x: &mut [f64]) {
    factor.p.fill([0.0; 6]);
    for k in (0..factor.stages.len()).rev() {
        let (stage, eliminated) = (factor.stages[k], &factor.eliminated[k]);
        let p = factor.p[k];
        let count = if stage.kind == Kind::Single { 1 } else { 3 };
        // What is left for the degrees of freedom when x of the parent is zero.
        let mut u = [0.0; 3];
        for j in 0..count {
            u[j] = r[stage.dof + j] - power(factor.moving[k].axes[j], &p);
            x[stage.dof + j] = u[j];
        }
        if let Some(parent) = stage.parent {
            let sum = &mut factor.p[parent];
            for i in 0..6 {
                sum[i] += p[i];
            }
            for j in 0..count {
                let [a, b, c] = eliminated.inverse[j];
                let y = a * u[0] + b * u[1] + c * u[2];
                for i in 0..6 {
                    sum[i] += eliminated.push[j][i] * y;
                }
            }
        }
    }
    expand::<L>(factor, &Row::ZERO, x);
}

/// From the roots to the leaves: x ← D⁻¹ (x − pull x_λ), from x of the world.
#[inline(always)]
fn expand<L: Lanes>(factor: &mut ImplicitFactor, world: &Row, x: &mut [f64]) {
    for k in 0..factor.stages.len() {
        let (stage, Eliminated { reach, pull, inverse, .. }) = (factor.stages[k], &factor.eliminated[k]);
        let before = match stage.parent {
            Some(parent) => L::load(&factor.x[parent]),
            None => L::load(world),
        };
        let mut state = before;
        if stage.kind == Kind::Single {
            let y = inverse[0][0] * (x[stage.dof] - L::load(&pull[0]).dot(before));
            x[stage.dof] = y;
            state = state.plus_scaled(y, L::load(&reach[0]));
        } else {
            let mut u = [0.0; 3];
            for j in 0..3 {
                u[j] = x[stage.dof + j] - L::load(&pull[j]).dot(before);
            }
            for j in 0..3 {
                let [a, b, c] = inverse[j];
                let y = a * u[0] + b * u[1] + c * u[2];
                x[stage.dof + j] = y;
                state = state.plus_scaled(y, L::load(&reach[j]));
            }
        }
        state.store(&mut factor.x[k]);
    }
}

/// U of the only degree of freedom of a joint, whose axis is `axis`: V_λ × S is `swing`, and so is V × S.
#[inline(always)]
pub(super) fn single_reach(axis: Twist<f64>, swing: Twist<f64>, before: &Motion, rates: Rates) -> Reach {
    let nu = (axis.ang * rates.velocity).add_scaled(rates.position, swing.ang);
    let turning = before.acceleration.cross_motion(axis) + before.velocity.cross_motion(swing);
    let alpha = (axis * rates.acceleration).add_scaled(rates.position, turning);
    Reach { eta: axis * rates.position, nu, alpha: alpha.add_scaled(2.0 * rates.velocity, swing) }
}

/// U of one of several degrees of freedom whose axis is `axis`, and which moves the body by `moved`.
#[inline(always)]
fn reach_of_three(axis: Twist<f64>, moved: Twist<f64>, before: &Motion, now: &Motion, rates: Rates) -> Reach {
    let (v, a) = (before.velocity, before.acceleration);
    let carried = v.cross_motion(moved);
    let nu = carried.ang.add_scaled(rates.velocity, axis.ang);
    let turning = v.cross_motion(axis) + now.velocity.cross_motion(axis);
    let changed = a.cross_motion(moved) + v.cross_motion(carried);
    let alpha = (axis * rates.acceleration + changed).add_scaled(rates.velocity, turning);
    Reach { eta: moved, nu, alpha }
}

/// How fast the rotational inertia J of a body about a fixed point changes, `moment` its mass times centre of mass, where it moves with
/// (ω, v): ω̂ J − J ω̂ − m (v̂ ĉ + ĉ v̂).
#[inline(always)]
pub(super) fn inertia_rate(rotation: Mat3<f64>, Twist { ang, lin }: Twist<f64>, moment: Vec3<f64>) -> Mat3<f64> {
    // Symmetric: half of it and its transpose.
    let Mat3 { x, y, z } = rotation;
    let half = Mat3::from_columns(ang.cross(x), ang.cross(y), ang.cross(z)).plus_outer(-lin, moment);
    (half + half.transpose()).plus_diagonal(2.0 * lin.dot(moment))
}

/// P of a body that moves with v, has momentum h and feels f. What is always zero is not set.
#[inline(always)]
fn set_body(rows: &mut [Row; 6], body: &Body, v: Twist<f64>, h: Wrench<f64>, f: Wrench<f64>) {
    let (moment, rotation) = (body.moment(), body.rotation());
    set_skew(rows, 0, 0, -f.ang);
    set_skew(rows, 0, 3, -f.lin);
    set_skew(rows, 3, 0, -f.lin);
    set(rows, 0, NU, inertia_rate(rotation, v, moment) - Mat3::skew(h.ang));
    set_skew(rows, 3, NU, h.lin * -2.0);
    set(rows, 0, ALPHA, rotation);
    set_skew(rows, 0, ALPHA + 3, moment);
    set_skew(rows, 3, ALPHA, -moment);
    for k in 0..3 {
        rows[3 + k].0[ALPHA + 3 + k] = body.mass;
    }
}

#[inline(always)]
fn set(rows: &mut [Row; 6], row: usize, column: usize, Mat3 { x, y, z }: Mat3<f64>) {
    let (a, b, c) = (x.to_array(), y.to_array(), z.to_array());
    for i in 0..3 {
        rows[row + i].0[column..column + 3].copy_from_slice(&[a[i], b[i], c[i]]);
    }
}

/// The matrix of the cross product with r, but for the zeros on its diagonal.
#[inline(always)]
fn set_skew(rows: &mut [Row; 6], row: usize, column: usize, r: Vec3<f64>) {
    rows[row].0[column + 1] = -r.z;
    rows[row].0[column + 2] = r.y;
    rows[row + 1].0[column] = r.z;
    rows[row + 1].0[column + 2] = -r.x;
    rows[row + 2].0[column] = -r.y;
    rows[row + 2].0[column + 1] = r.x;
}

/// SᵀP + (S ×* F)ᵀ on η, and −r.
#[inline(always)]
fn pull<L: Lanes>(operator: &[L; 6], axis: Twist<f64>, force: Wrench<f64>, r: f64) -> L {
    let (s, turned) = (axis, axis.cross_force(force));
    let (t, u) = (turned.ang.to_array(), turned.lin.to_array());
    let start = [t[0], t[1], t[2], u[0], u[1], u[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -r];
    let angular = L::load(&Row(start))
        .plus_scaled(s.ang.x, operator[0])
        .plus_scaled(s.ang.y, operator[1])
        .plus_scaled(s.ang.z, operator[2]);
    let linear = operator[3].scaled(s.lin.x).plus_scaled(s.lin.y, operator[4]).plus_scaled(s.lin.z, operator[5]);
    angular.plus(linear)
}

/// Eliminates one degree of freedom.
#[inline(always)]
fn eliminate_single<L: Lanes>(
    out: &mut Eliminated,
    operator: &mut [L; 6],
    axis: Twist<f64>,
    force: Wrench<f64>,
    d: f64,
    r: f64,
) {
    let reach = L::load(&out.reach[0]);
    let pull = pull(operator, axis, force, r);
    let push = products(operator, reach);
    let inverse = 1.0 / (pull.dot(reach) + d);
    let row = pull.scaled(-inverse);
    for i in 0..6 {
        operator[i] = operator[i].plus_scaled(push[i], row);
    }
    pull.store(&mut out.pull[0]);
    out.push[0] = push;
    out.inverse[0][0] = inverse;
}

/// Eliminates three degrees of freedom.
#[inline(always)]
fn eliminate_three<L: Lanes>(
    out: &mut Eliminated,
    operator: &mut [L; 6],
    axes: &[Twist<f64>; 3],
    force: Wrench<f64>,
    d: &Mat3<f64>,
    r: &[f64],
) {
    let reach = [L::load(&out.reach[0]), L::load(&out.reach[1]), L::load(&out.reach[2])];
    let pulls = [
        pull(operator, axes[0], force, r[0]),
        pull(operator, axes[1], force, r[1]),
        pull(operator, axes[2], force, r[2]),
    ];
    let columns = [d.x.to_array(), d.y.to_array(), d.z.to_array()];
    let mut matrix = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            matrix[i][j] = pulls[i].dot(reach[j]) + columns[j][i];
        }
    }
    out.inverse = inverse(matrix);
    for j in 0..3 {
        out.push[j] = products(operator, reach[j]);
        pulls[j].store(&mut out.pull[j]);
    }
    for j in 0..3 {
        let [a, b, c] = out.inverse[j];
        let row = pulls[0].scaled(-a).plus_scaled(-b, pulls[1]).plus_scaled(-c, pulls[2]);
        for i in 0..6 {
            operator[i] = operator[i].plus_scaled(out.push[j][i], row);
        }
    }
}

/// The inverse of a 3×3 matrix of rows.
#[inline(always)]
fn inverse([a, b, c]: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let (a, b, c) = (Vec3::from(a), Vec3::from(b), Vec3::from(c));
    let (x, y, z) = (b.cross(c), c.cross(a), a.cross(b));
    let scale = 1.0 / a.dot(x);
    let (x, y, z) = (x * scale, y * scale, z * scale);
    [[x.x, y.x, z.x], [x.y, y.y, z.y], [x.z, y.z, z.z]]
}

/// aᵀ f of a force as an array.
#[inline(always)]
fn power(a: Twist<f64>, f: &[f64; 6]) -> f64 {
    (a.ang.x * f[0] + a.ang.y * f[1] + a.ang.z * f[2]) + (a.lin.x * f[3] + a.lin.y * f[4] + a.lin.z * f[5])
}
