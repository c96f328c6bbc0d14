//! The problem of a step, A (v − v*) = Σ Jᵀ γ(J v), by Newton's method on dense matrices.
//!
//! Where friction is bounded by given impulses the problem is convex: its gradient is monotone along a search direction, so that the exact
//! line search always arrives. Coulomb's law bounds friction by the contact's own impulse: bounds are replaced until they stand.

use std::ops::Range;

use super::constraints::Key;
use super::dense::{Matrix, Vector, dot, largest, minus, plus, solve, times};

/// What an impulse is, given y = (v̂ − J v)/R of its rows.
#[derive(Clone, Debug)]
pub enum Law {
    /// y of every row, cut to these bounds.
    Box([f64; 2]),
    /// Row 0 is max(0, y). Others are cut to discs of the radius of a coefficient times a normal impulse.
    Contact(Vec<Disc>),
    /// The projection of y to the cone |γ_t| ≤ μ γ_n in the norm of R, of the first three rows; others as above.
    Cone(f64, Vec<Disc>),
}

/// Rows whose impulses are bounded together.
#[derive(Clone, Debug)]
pub struct Disc {
    pub rows: Range<usize>,
    pub coefficient: f64,
}

#[derive(Clone, Debug)]
pub struct Constraint {
    pub key: Key,
    pub rows: Vec<Vector>,
    pub r: Vector,
    pub v_hat: Vector,
    pub law: Law,
    /// v̂ of row 0 for the velocity that moves positions, if another one.
    pub recovery: Option<f64>,
    /// The normal impulse that friction is bounded by where it is not the contact's own.
    pub bound: f64,
}

/// What bounds the friction of contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    Own,
    Given,
}

impl Constraint {
    fn y(&self, v: &[f64]) -> Vector {
        let y = |((row, r), v_hat): ((&Vector, &f64), &f64)| (v_hat - dot(row, v)) / r;
        self.rows.iter().zip(&self.r).zip(&self.v_hat).map(y).collect()
    }

    /// γ(y) and ∂γ/∂y.
    fn evaluate(&self, y: &[f64], bound: Bound) -> (Vector, Matrix) {
        let n = y.len();
        let (mut impulse, mut slope) = (y.to_vec(), vec![vec![0.0; n]; n]);
        match &self.law {
            Law::Box([low, high]) => {
                for k in 0..n {
                    slope[k][k] = if y[k] > *low && y[k] < *high { 1.0 } else { 0.0 };
                    impulse[k] = y[k].max(*low).min(*high);
                }
            }
            Law::Contact(discs) => {
                let normal_slope = if y[0] > 0.0 { 1.0 } else { 0.0 };
                impulse[0] = y[0].max(0.0);
                slope[0][0] = normal_slope;
                let normal = if bound == Bound::Own { (impulse[0], normal_slope) } else { (self.bound, 0.0) };
                discs.iter().for_each(|disc| cut(disc, y, normal, &mut impulse, &mut slope));
            }
            Law::Cone(mu, discs) => {
                let ratio = self.r[1] / self.r[0];
                let (mu_hat, shrink) = (mu * ratio, 1.0 / (1.0 + mu * mu * ratio));
                let length = y[1].hypot(y[2]);
                if length <= mu * y[0] {
                    (0..3).for_each(|k| slope[k][k] = 1.0);
                } else if y[0] <= -mu_hat * length {
                    impulse[..3].fill(0.0);
                } else {
                    let along = [0.0, y[1] / length, y[2] / length];
                    let normal = (y[0] + mu_hat * length) * shrink;
                    let normal_slope = [shrink, mu_hat * shrink * along[1], mu_hat * shrink * along[2]];
                    impulse[0] = normal;
                    slope[0][..3].copy_from_slice(&normal_slope);
                    for k in 1..3 {
                        impulse[k] = mu * normal * along[k];
                        for l in 0..3 {
                            let across = if k == l { 1.0 } else { 0.0 } - along[k] * along[l];
                            let turned = if l == 0 { 0.0 } else { normal / length * across };
                            slope[k][l] = mu * (normal_slope[l] * along[k] + turned);
                        }
                    }
                }
                discs.iter().for_each(|disc| cut(disc, y, (self.bound, 0.0), &mut impulse, &mut slope));
            }
        }
        (impulse, slope)
    }
}

/// Cuts rows of y to a disc whose radius is a coefficient times a normal impulse, which is given with its slope.
fn cut(disc: &Disc, y: &[f64], (normal, normal_slope): (f64, f64), impulse: &mut [f64], slope: &mut Matrix) {
    let (rows, coefficient) = (disc.rows.clone(), disc.coefficient);
    let (radius, length) = (coefficient * normal, dot(&y[rows.clone()], &y[rows.clone()]).sqrt());
    if length <= radius {
        rows.for_each(|k| slope[k][k] = 1.0);
        return;
    }
    for k in rows.clone() {
        let along = y[k] / length;
        impulse[k] = radius * along;
        slope[k][0] += coefficient * normal_slope * along;
        for l in rows.clone() {
            let across = if k == l { 1.0 } else { 0.0 } - along * y[l] / length;
            slope[k][l] += radius / length * across;
        }
    }
}

pub struct Problem<'a> {
    pub a: &'a Matrix,
    pub v_star: &'a [f64],
    pub constraints: &'a mut [Constraint],
}

/// Newton steps, and rounds of friction bounds.
const MAX_STEPS: usize = 300;
const MAX_ROUNDS: usize = 120;

/// Steps shorter than this, relative to velocities, end the search.
const TOLERANCE: f64 = 1e-13;

impl Problem<'_> {
    /// A (v − v*) − Σ Jᵀ γ, its derivative, and γ of every constraint.
    fn imbalance(&self, v: &[f64], bound: Bound) -> (Vector, Matrix, Vec<Vector>) {
        let (mut f, mut h) = (times(self.a, &minus(v, self.v_star)), self.a.clone());
        let mut impulses = Vec::new();
        for constraint in &*self.constraints {
            let (impulse, slope) = constraint.evaluate(&constraint.y(v), bound);
            for (k, row) in constraint.rows.iter().enumerate() {
                f = plus(&f, -impulse[k], row);
                for (l, other) in constraint.rows.iter().enumerate().filter(|(l, _)| slope[k][*l] != 0.0) {
                    let g = slope[k][l] / constraint.r[l];
                    for (h, j) in h.iter_mut().zip(row).filter(|(_, j)| **j != 0.0) {
                        *h = plus(h, g * j, other);
                    }
                }
            }
            impulses.push(impulse);
        }
        (f, h, impulses)
    }

    /// The part of A (v − v*) − Jᵀγ along `d`.
    fn slope_along(&self, v: &[f64], d: &[f64], bound: Bound) -> f64 {
        let mut sum = dot(&times(self.a, &minus(v, self.v_star)), d);
        for constraint in &*self.constraints {
            let impulse = constraint.evaluate(&constraint.y(v), bound).0;
            sum -= constraint.rows.iter().zip(impulse).map(|(row, impulse)| impulse * dot(row, d)).sum::<f64>();
        }
        sum
    }

    /// Newton's method from `v` with bounds of friction that are given; always arrives.
    fn solve_convex(&self, mut v: Vector) -> Vector {
        for _ in 0..MAX_STEPS {
            let (f, h, _) = self.imbalance(&v, Bound::Given);
            let d = solve(&h, &f.iter().map(|f| -f).collect::<Vec<_>>());
            if largest(&d) <= TOLERANCE * (largest(&v) + largest(self.v_star) + 1e-3) {
                return plus(&v, 1.0, &d);
            }
            // The gradient grows along the direction: where it crosses zero.
            let at = |s: f64| self.slope_along(&plus(&v, s, &d), &d, Bound::Given);
            let (mut low, mut high) = (0.0, 1.0);
            while at(high) < 0.0 && high < 1e6 {
                (low, high) = (high, 2.0 * high);
            }
            let start = at(0.0).abs();
            if at(1.0).abs() <= 1e-9 * start {
                (low, high) = (1.0, 1.0);
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if at(middle) < 0.0 { low = middle } else { high = middle }
            }
            v = plus(&v, 0.5 * (low + high), &d);
        }
        v
    }

    /// Newton's method for the laws as they are from a `v` nearby; none where it does not settle.
    pub fn solve_nearby(&self, mut v: Vector) -> Option<Vector> {
        for _ in 0..40 {
            let (f, h, _) = self.imbalance(&v, Bound::Own);
            let d = solve(&h, &f.iter().map(|f| -f).collect::<Vec<_>>());
            v = plus(&v, 1.0, &d);
            if largest(&d) <= TOLERANCE * (largest(&v) + largest(self.v_star) + 1e-3) {
                return Some(v);
            }
        }
        None
    }

    /// The velocities with the bounds of friction that are given.
    pub fn solve_bounded(&self) -> Vector {
        self.solve_convex(self.v_star.to_vec())
    }

    /// The velocities with Coulomb's law; none where its bounds do not stand.
    pub fn solve_coulomb(&mut self) -> Option<Vector> {
        let mut v = self.v_star.to_vec();
        for round in 0..MAX_ROUNDS {
            v = self.solve_convex(v);
            if round % 4 == 3
                && let Some(v) = self.solve_nearby(v.clone())
            {
                return Some(v);
            }
            let impulses = self.impulses(&v, Bound::Given);
            // Bounds that go round in a circle are followed part of the way.
            let share = [1.0, 0.5, 0.2, 0.05][4 * round / MAX_ROUNDS];
            for (constraint, impulse) in self.constraints.iter_mut().zip(impulses) {
                constraint.bound += share * (impulse[0] - constraint.bound);
            }
        }
        None
    }

    /// γ of every constraint.
    pub fn impulses(&self, v: &[f64], bound: Bound) -> Vec<Vector> {
        self.constraints.iter().map(|constraint| constraint.evaluate(&constraint.y(v), bound).0).collect()
    }
}
