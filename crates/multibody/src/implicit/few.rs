//! Newton's matrix of a few joints with one degree of freedom, written out.
//!
//! Where a joint moves all that is outwards of another with the joint itself, forces there turn with them, and what the joint
//! feels stays as it is: η is left out. With sums over what is outwards of joint i, H of momenta, F of forces, I of inertias
//! and R of the rates of rotational inertia, a joint j at or before i changes what i feels by
//!
//! ```text
//! N_ij = (R s + H_ω × s + 2 H_v × t)·ν_j + (I S_i)·α_j,    S = (s, t),
//! ```
//!
//! and one that is outwards by S_i·(η_j ×* F_j + I_j α_j + ν_j ×* H_j + …), the force that it takes to move so. That is n² scalar
//! products of a few numbers and a factor of n³/3: for an arm of seven hinges half the instructions of operators of 6×15, and a fifth of
//! theirs in a solve.

use spatial::{F64x4, Mat3, Real, Twist, Vec3, Wrench};

use super::elimination::{Reach, inertia_rate, single_reach};
use super::motion::Moving;
use super::{ImplicitFactor, JointDerivative, Rates};

/// The most joints.
pub(super) const MOST: usize = 8;

type Column = [f64; MOST];

/// All that is outwards of a joint as one body, about the fixed point.
#[derive(Clone, Copy, Debug)]
struct Composite {
    mass: f64,
    moment: Vec3<f64>,
    rotation: Mat3<f64>,
    /// How fast that changes.
    rate: Mat3<f64>,
    momentum: Wrench<f64>,
}

impl Composite {
    const NONE: Self =
        Self { mass: 0.0, moment: Vec3::ZERO, rotation: Mat3::ZERO, rate: Mat3::ZERO, momentum: Wrench::ZERO };

    #[inline(always)]
    fn add(&mut self, o: &Self) {
        self.mass += o.mass;
        self.moment += o.moment;
        self.rotation = self.rotation + o.rotation;
        self.rate = self.rate + o.rate;
        self.momentum += o.momentum;
    }

    /// I A.
    #[inline(always)]
    fn times(&self, a: Twist<f64>) -> Wrench<f64> {
        let lin = a.ang.cross(self.moment).add_scaled(self.mass, a.lin);
        Wrench { ang: self.rotation * a.ang + self.moment.cross(a.lin), lin }
    }

    /// The force that it takes to move so, where it feels `force`.
    #[inline(always)]
    fn push(&self, force: Wrench<f64>, Reach { eta, nu, alpha }: &Reach) -> Wrench<f64> {
        let (inertial, h) = (self.times(*alpha), self.momentum);
        let turned = h.lin.cross(*nu);
        let lin = -(turned + turned);
        inertial + eta.cross_force(force) + Wrench { ang: self.rate * *nu - h.ang.cross(*nu), lin }
    }

    /// What a joint with the axis `s` feels of ν.
    #[inline(always)]
    fn pull(&self, s: Twist<f64>) -> Vec3<f64> {
        let turned = self.momentum.lin.cross(s.lin);
        self.rate * s.ang + self.momentum.ang.cross(s.ang) + (turned + turned)
    }
}

/// The matrix, factored N = (1 + L) U from its last row on, U a lower triangle.
#[derive(Clone, Debug)]
pub(super) struct Few {
    composites: [Composite; MOST],
    reach: [Reach; MOST],
    /// N, then U without its diagonal: rows.
    rows: [Column; MOST],
    /// Columns of L.
    columns: [Column; MOST],
    /// 1/U_ii
    inverses: Column,
}

impl Few {
    pub fn new() -> Self {
        Self {
            composites: [Composite::NONE; MOST],
            reach: [Reach::ZERO; MOST],
            rows: [[0.0; MOST]; MOST],
            columns: [[0.0; MOST]; MOST],
            inverses: [0.0; MOST],
        }
    }

    /// N from its last row on: U, and L in columns; y ← (1 + L)⁻¹ y meanwhile.
    #[inline(always)]
    fn eliminate(&mut self, n: usize, y: &mut Column) {
        let Self { rows, columns, inverses, .. } = self;
        for k in (0..n.min(MOST)).rev() {
            let (before, here) = rows.split_at_mut(k);
            let row = &mut here[0];
            let inverse = 1.0 / row[k];
            inverses[k] = inverse;
            row[k..].fill(0.0);
            let row = halves(row);
            for (row_i, l_i) in before.iter_mut().zip(&mut columns[k]) {
                let l = row_i[k] * inverse;
                *l_i = l;
                subtract(row_i, l, row);
            }
            let left = y[k];
            subtract(y, left, halves(&columns[k]));
        }
    }

    /// x ← N⁻¹ r.
    #[inline(always)]
    pub fn solve(&self, r: &[f64], x: &mut [f64]) {
        let mut y = [0.0; MOST];
        y[..r.len()].copy_from_slice(r);
        for k in (1..r.len().min(MOST)).rev() {
            let left = y[k];
            subtract(&mut y, left, halves(&self.columns[k]));
        }
        self.expand(&y, x);
    }

    /// x ← U⁻¹ y.
    #[inline(always)]
    fn expand(&self, y: &Column, x: &mut [f64]) {
        let mut all = [0.0; MOST];
        for k in 0..x.len().min(MOST) {
            let ([a, b], [c, d]) = (halves(&self.rows[k]), halves(&all));
            let [p, q, r, s] = b.mul_add(d, a * c).to_array();
            all[k] = (y[k] - ((p + r) + (q + s))) * self.inverses[k];
        }
        x.copy_from_slice(&all[..x.len()]);
    }
}

#[inline(always)]
fn halves(x: &Column) -> [F64x4; 2] {
    let (parts, _) = x.as_chunks();
    [F64x4::from_array(parts[0]), F64x4::from_array(parts[1])]
}

/// x ← x − s y
#[inline(always)]
fn subtract(x: &mut Column, s: f64, [a, b]: [F64x4; 2]) {
    let (s, [c, d]) = (F64x4::splat(-s), halves(x));
    let (parts, _) = x.as_chunks_mut();
    parts[0] = s.mul_add(a, c).to_array();
    parts[1] = s.mul_add(b, d).to_array();
}

/// [`ImplicitFactor::factor`]
#[inline(always)]
pub(super) fn factor(
    factor: &ImplicitFactor,
    few: &mut Few,
    rates: Rates,
    joints: JointDerivative<'_>,
    r: &[f64],
    x: &mut [f64],
) {
    let n = factor.stages.len();
    assert!(n <= MOST, "{n} joints");
    let (stages, moving, diagonal) = (&factor.stages[..n], &factor.moving[..n], &joints.diagonal[..n]);
    let Few { composites, reach, rows, .. } = few;
    for k in 0..n {
        let (stage, Moving { motion, axes, swing, momentum, .. }) = (&stages[k], &moving[k]);
        let before = match stage.parent {
            Some(parent) => &moving[parent].motion,
            None => &factor.world,
        };
        reach[k] = single_reach(axes[0], *swing, before, rates);
        let body = &factor.placed[k];
        let (moment, rotation) = (body.moment(), body.rotation());
        let rate = inertia_rate(rotation, motion.velocity, moment);
        composites[k] = Composite { mass: body.mass, moment, rotation, rate, momentum: *momentum };
        rows[k] = [0.0; MOST];
    }
    for k in (0..n).rev() {
        let Moving { axes: [axis, ..], force, .. } = &moving[k];
        let (before, outwards) = composites.split_at_mut(k);
        let composite = &outwards[0];
        let push = composite.push(*force, &reach[k]);
        let (pull, inertial) = (composite.pull(*axis), composite.times(*axis));
        rows[k][k] = reach[k].alpha.dot(inertial) + pull.dot(reach[k].nu) + diagonal[k];
        let mut next = stages[k].parent;
        if let Some(parent) = next {
            before[parent].add(composite);
        }
        while let Some(j) = next {
            rows[k][j] = reach[j].alpha.dot(inertial) + pull.dot(reach[j].nu);
            rows[j][k] = moving[j].axes[0].dot(push);
            next = stages[j].parent;
        }
    }
    let mut y = [0.0; MOST];
    y[..n].copy_from_slice(&r[..n]);
    few.eliminate(n, &mut y);
    few.expand(&y, &mut x[..n]);
}
