//! A path of solutions: where it is, its tangent, and the product that lengths are measured by.

use crate::Constraint;
use crate::vector::{axpy, dot};

/// Scratch of a search, and where it is on the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// `b⁰`, one per constraint.
    pub(super) start: Vec<f64>,
    /// `n − b⁰`
    pub(super) excess: Vec<f64>,
    /// `z` at the last point.
    pub(super) free: Vec<f64>,
    /// `ż` there.
    pub(super) tangent: Vec<f64>,
    /// `dz/dt` with the last factor.
    pub(super) derivative: Vec<f64>,
    /// How impulses change with `t` where velocities stay.
    pub(super) push: Vec<f64>,
    /// `z` before a correction.
    pub(super) before: Vec<f64>,
    /// `⟨z, z⟩` that counts as 1.
    pub(super) unit: f64,
}

impl Path {
    pub(super) fn resize(&mut self, rows: usize, constraints: usize) {
        self.start.resize(constraints, 0.0);
        self.excess.resize(constraints, 0.0);
        for vector in [&mut self.free, &mut self.tangent, &mut self.derivative, &mut self.push, &mut self.before] {
            vector.resize(rows, 0.0);
        }
    }

    /// Lets the path begin at the bounds that are set.
    pub(super) fn set_start(&mut self, constraints: &[Constraint]) {
        self.start.iter_mut().zip(constraints).for_each(|(start, constraint)| *start = constraint.law.bound());
    }

    /// Goes back to the bounds at which the path began.
    pub(super) fn set_bounds(&self, constraints: &mut [Constraint]) {
        constraints.iter_mut().zip(&self.start).for_each(|(constraint, start)| constraint.law.set_bound(*start));
    }

    /// Lets the path begin at `free`, in the direction of `t`.
    pub(super) fn start_tangent(&mut self, constraints: &[Constraint], free: &[f64]) {
        self.free.copy_from_slice(free);
        self.unit = inner(constraints, free, free);
        self.tangent.fill(0.0);
    }

    /// The product of the tangent, of `ṫ = speed`, and the one with the last derivative towards greater `t`, times the latter's length.
    pub(super) fn onwards(&self, constraints: &[Constraint], speed: f64) -> f64 {
        inner(constraints, &self.tangent, &self.derivative) / self.unit + speed
    }

    /// Turns the tangent into that with the last derivative, of the given sign of `ṫ`; returns `ṫ`.
    pub(super) fn turn_tangent(&mut self, constraints: &[Constraint], sign: f64) -> f64 {
        let length = (1.0 + inner(constraints, &self.derivative, &self.derivative) / self.unit).sqrt();
        let speed = sign / length;
        self.tangent.iter_mut().zip(&self.derivative).for_each(|(tangent, d)| *tangent = speed * d);
        speed
    }

    /// How far `z` is from what it was before the correction, as a share of it; the difference is then where it was before.
    pub(super) fn relative_change(&mut self, constraints: &[Constraint], z: &[f64]) -> f64 {
        axpy(-1.0, z, &mut self.before);
        (inner(constraints, &self.before, &self.before) / inner(constraints, z, z)).sqrt()
    }
}

/// `⟨x, y⟩ = Σ_k x_kᵀ y_k / w_k` over the constraints whose share `w` of the Delassus operator is known: an energy, whatever moves.
pub(super) fn inner(constraints: &[Constraint], x: &[f64], y: &[f64]) -> f64 {
    let (mut row, mut sum) = (0, 0.0);
    for constraint in constraints {
        let rows = row..row + constraint.rows();
        if constraint.can_predict() {
            sum += dot(&x[rows.clone()], &y[rows.clone()]) / constraint.delassus();
        }
        row = rows.end;
    }
    sum
}
