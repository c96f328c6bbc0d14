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
//! products of a few numbers and a factor of n³/3, for an arm a third of what operators of 6×15 take.

use spatial::Real;

use super::elimination::{Reach, single_reach};
use super::{ImplicitFactor, JointDerivative, Rates};
use crate::wide::{Matrix, Screw, Wide, cross};

/// The most joints.
pub(super) const MOST: usize = 8;

type Column = [f64; MOST];

/// All that is outwards of a joint as one body, about the fixed point.
#[derive(Clone, Copy, Debug)]
struct Composite {
    mass: f64,
    moment: Wide,
    rotation: Matrix,
    /// How fast that changes.
    rate: Matrix,
    momentum: Screw,
}

impl Composite {
    const NONE: Self =
        Self { mass: 0.0, moment: Wide::ZERO, rotation: Matrix::ZERO, rate: Matrix::ZERO, momentum: Screw::ZERO };

    #[inline(always)]
    fn plus(&self, o: &Self) -> Self {
        Self {
            mass: self.mass + o.mass,
            moment: self.moment + o.moment,
            rotation: self.rotation.plus(o.rotation),
            rate: self.rate.plus(o.rate),
            momentum: self.momentum.plus(o.momentum),
        }
    }

    /// I A.
    #[inline(always)]
    fn times(&self, a: Screw) -> Screw {
        let lin = Wide::splat(self.mass).mul_add(a.lin, cross(a.ang, self.moment));
        Screw { ang: self.rotation.times(a.ang) + cross(self.moment, a.lin), lin }
    }

    /// The force that it takes to move so, where it feels `force`.
    #[inline(always)]
    fn push(&self, force: Screw, Reach { eta, nu, alpha }: &Reach) -> Screw {
        let (inertial, h) = (self.times(*alpha), self.momentum);
        let ang = cross(eta.ang, force.ang) + cross(eta.lin, force.lin) + self.rate.times(*nu) - cross(h.ang, *nu);
        let turned = cross(h.lin, *nu);
        let lin = cross(eta.ang, force.lin) - (turned + turned);
        Screw { ang: inertial.ang + ang, lin: inertial.lin + lin }
    }

    /// What a joint with the axis `s` feels of ν.
    #[inline(always)]
    fn pull(&self, s: Screw) -> Wide {
        let turned = cross(self.momentum.lin, s.lin);
        self.rate.times(s.ang) + cross(self.momentum.ang, s.ang) + (turned + turned)
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

    /// N from its last row on: U, and L in columns.
    #[inline(always)]
    fn eliminate(&mut self, n: usize) {
        for k in (0..n).rev() {
            let inverse = 1.0 / self.rows[k][k];
            self.inverses[k] = inverse;
            self.rows[k][k..].fill(0.0);
            let row = halves(&self.rows[k]);
            for i in 0..k {
                let l = self.rows[i][k] * inverse;
                self.columns[k][i] = l;
                subtract(&mut self.rows[i], l, row);
            }
        }
    }

    /// x ← N⁻¹ r.
    #[inline(always)]
    pub fn solve(&self, r: &[f64], x: &mut [f64]) {
        let n = r.len();
        let (mut y, mut z) = ([0.0; MOST], [0.0; MOST]);
        y[..n].copy_from_slice(r);
        for k in (1..n).rev() {
            let left = y[k];
            subtract(&mut y, left, halves(&self.columns[k]));
        }
        for k in 0..n {
            let ([a, b], [c, d]) = (halves(&self.rows[k]), halves(&z));
            let [p, q, r, s] = b.mul_add(d, a * c).to_array();
            z[k] = (y[k] - ((p + r) + (q + s))) * self.inverses[k];
        }
        x[..n].copy_from_slice(&z[..n]);
    }
}

#[inline(always)]
fn halves(x: &Column) -> [Wide; 2] {
    let (parts, _) = x.as_chunks();
    [Wide::from_array(parts[0]), Wide::from_array(parts[1])]
}

/// x ← x − s y
#[inline(always)]
fn subtract(x: &mut Column, s: f64, [a, b]: [Wide; 2]) {
    let (s, [c, d]) = (Wide::splat(-s), halves(x));
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
    few.rows = [[0.0; MOST]; MOST];
    for k in 0..n {
        let stage = factor.stages[k];
        let before = match stage.parent {
            Some(parent) => factor.motions[parent],
            None => factor.world,
        };
        few.reach[k] = single_reach(factor.axes[k][0], factor.swings[k], &before, rates);
        let (body, velocity) = (&factor.placed[stage.node], factor.motions[k].velocity);
        let (moment, rotation) = (body.moment(), body.rotation());
        let rate = rotation.rate((velocity.ang, velocity.lin), moment);
        few.composites[k] = Composite { mass: body.mass, moment, rotation, rate, momentum: factor.momenta[k] };
    }
    for k in (0..n).rev() {
        let (stage, composite, axis) = (factor.stages[k], few.composites[k], factor.axes[k][0]);
        let push = composite.push(factor.forces[k], &few.reach[k]);
        let (pull, inertial) = (composite.pull(axis), composite.times(axis));
        let Reach { nu, alpha, .. } = few.reach[k];
        few.rows[k][k] = inertial.dot_with((pull, nu), alpha) + joints.diagonal[stage.dof];
        if let Some(parent) = stage.parent {
            few.composites[parent] = few.composites[parent].plus(&composite);
        }
        let mut next = stage.parent;
        while let Some(j) = next {
            let Reach { nu, alpha, .. } = few.reach[j];
            few.rows[k][j] = inertial.dot_with((pull, nu), alpha);
            few.rows[j][k] = factor.axes[j][0].dot(push);
            next = factor.stages[j].parent;
        }
    }
    few.eliminate(n);
    few.solve(&r[..n], x);
}
