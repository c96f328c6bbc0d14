//! Conjugate gradients on A x = b with the factor of a matrix near A, or with A's own, several side by side: each pass over a large factor
//! serves all of them.

use spatial::{Mat3, Vec3};
use support::Interrupt;

use super::newton::{Problem, dot, largest};
use super::system::System;
use super::{Dynamics, ThetaStep};
use crate::StepError;

/// What is left of an equation, as a part of the largest impulse on a node in the step.
const TOLERANCE: f64 = 1e-11;
/// What the first solution may leave: more, and a factor of A costs less than to go on. With constraints each round solves these again.
const NEAR: f64 = 0.02;
pub(super) const NEAR_WITH_CONSTRAINTS: f64 = 1e-4;
/// Most iterations.
const MOST: usize = 8;
/// Solutions that take from v₀ what swings faster than a step resolves.
const LINKS: usize = 3;

/// A = `mass` M + `stiffness` K, and the factor that there is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Matrix {
    pub mass: f64,
    pub stiffness: f64,
    /// Whether the factor is that of another matrix.
    pub is_other: bool,
    /// How that has to be turned to be near A.
    pub turn: Option<Mat3<f64>>,
}

impl Matrix {
    /// `out` ← A `x`.
    fn multiply(&self, system: &System, x: &[f64], out: &mut [f64]) {
        system.multiply(self.mass, self.stiffness, x, out);
        system.clear_pinned(out);
    }
}

/// One equation. Vectors have three numbers a node.
#[derive(Clone, Debug, Default)]
struct Equation {
    solution: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    iteration: usize,
    /// r·Ã⁻¹r of the last iteration.
    last: f64,
    /// The largest of b and of what is left of it.
    first: f64,
    left: f64,
}

impl Equation {
    fn start(&mut self, system: &System, b: &[f64]) {
        self.residual.clear();
        self.residual.extend_from_slice(b);
        system.clear_pinned(&mut self.residual);
        self.solution.clear();
        self.solution.resize(b.len(), 0.0);
        self.direction.resize(b.len(), 0.0);
        self.first = largest(&self.residual);
        (self.iteration, self.left) = (0, self.first);
    }

    /// An iteration, `z` being Ã⁻¹ residual. The first solution is `z` itself, without a line search: it is right of how the body moves as a whole.
    fn go_on(&mut self, system: &System, matrix: &Matrix, z: &[f64], product: &mut [f64]) {
        let Self { solution, residual, direction, iteration, last, left, .. } = self;
        let rz = dot(residual, z);
        let beta = if *iteration < 2 { 0.0 } else { rz / *last };
        direction.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p);
        *last = rz;
        let mut alpha = 1.0;
        if matrix.is_other {
            matrix.multiply(system, direction, product);
            alpha = if *iteration == 0 { 1.0 } else { rz / dot(direction, product) };
            residual.iter_mut().zip(&*product).for_each(|(r, a)| *r -= alpha * a);
        }
        solution.iter_mut().zip(&*direction).for_each(|(x, p)| *x += alpha * p);
        *left = if matrix.is_other { largest(residual) } else { 0.0 };
        *iteration += 1;
    }

    /// Whether A's own factor has solved it, or what is left is below `tolerance`.
    fn is_solved(&self, matrix: &Matrix, tolerance: f64) -> bool {
        if matrix.is_other { self.left <= tolerance } else { self.iteration > 0 }
    }

    fn is_hopeless(&self, near: f64) -> bool {
        self.iteration == MOST || self.iteration == 1 && self.left > near * self.first
    }
}

/// The equations of a step: that of its change of velocity, and those that damp it.
#[derive(Clone, Debug, Default)]
pub(super) struct Equations {
    change: Equation,
    damping: Equation,
    /// Right-hand sides of a pass, one after the other.
    together: Vec<f64>,
}

impl Dynamics {
    /// `step` ← A⁻¹ `step`, where impulses of the step are as large as `scale`, N s; and in a step that rings `step` −= part of S³ v₀,
    /// S = A⁻¹ ½ dt² K: of what swings undamped with the rate ω that is z/(2 + z) to the third power, z = (ω dt)². ½ dt² K is A's stiffness
    /// without dampers.
    pub(super) fn solve_step(
        &mut self,
        problem: &Problem<'_>,
        scale: f64,
        interrupt: &Interrupt,
    ) -> Result<(), StepError> {
        let mut equations = std::mem::take(&mut self.equations);
        let mut outcome = Ok(());
        while outcome.is_ok() && !self.try_step(problem, TOLERANCE * scale, &mut equations) {
            outcome = self.factor_here(problem, interrupt);
        }
        self.equations = equations;
        outcome
    }

    /// Whether conjugate gradients found this to `tolerance`; nothing has changed where they did not.
    fn try_step(&mut self, problem: &Problem<'_>, tolerance: f64, equations: &mut Equations) -> bool {
        let Self { system, step, scratch, v_star, .. } = self;
        let (matrix, ThetaStep { dt, reach, .. }) = (self.shared.matrix, problem.step);
        let near = if system.touched().is_empty() { NEAR } else { NEAR_WITH_CONSTRAINTS };
        let Equations { change, damping, together } = equations;
        change.start(system, step);
        let mut links = if problem.step.is_ringing() { LINKS } else { 0 };
        if links > 0 {
            system.multiply(0.0, reach * dt * dt, problem.v0, scratch);
            damping.start(system, scratch);
        }
        loop {
            while links > 0 && damping.is_solved(&matrix, tolerance) {
                links -= 1;
                if links > 0 {
                    system.multiply(0.0, reach * dt * dt, &damping.solution, scratch);
                    damping.start(system, scratch);
                }
            }
            let is_open = [!change.is_solved(&matrix, tolerance), links > 0];
            if is_open == [false; 2] {
                break;
            }
            let open = || [&*change, &*damping].into_iter().zip(is_open).filter(|(_, is_open)| *is_open);
            if open().any(|(equation, _)| equation.is_hopeless(near)) {
                return false;
            }
            together.clear();
            open().for_each(|(equation, _)| together.extend_from_slice(&equation.residual));
            turn_all(matrix.turn.map(Mat3::transpose), together);
            system.solve(together);
            turn_all(matrix.turn, together);
            let equations = [&mut *change, &mut *damping].into_iter().zip(is_open).filter(|(_, is_open)| *is_open);
            for ((equation, _), z) in equations.zip(together.chunks_exact(v_star.len())) {
                // v* is not known yet.
                equation.go_on(system, &matrix, z, v_star);
            }
        }
        step.copy_from_slice(&change.solution);
        if problem.step.is_ringing() {
            step.iter_mut().zip(&damping.solution).for_each(|(step, fast)| *step -= super::UNRESOLVED_LOSS * fast);
        }
        true
    }
}

fn turn_all(turn: Option<Mat3<f64>>, x: &mut [f64]) {
    let Some(turn) = turn else { return };
    for node in x.chunks_exact_mut(3) {
        node.copy_from_slice(&(turn * Vec3::new(node[0], node[1], node[2])).to_array());
    }
}
