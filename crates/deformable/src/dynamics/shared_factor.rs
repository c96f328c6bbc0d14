//! A factor that steps share: that of A at another place of the body, near enough to take A's part in iterations.
//!
//! Of a large body the factor is most of a step. A changes little while a body flies or lies: of a linear-corotated one it turns with the
//! elements. So free motion is solved by conjugate gradients, preconditioned by the last factor (turned as the body has turned since), and
//! constraints are solved in the metric Ã that this is the factor of, again from where the balance A (v − v*) = Jᵀγ fails:
//!
//! ```text
//! v = ṽ + Ã⁻¹ Jᵀγ         r = Jᵀγ − A (v − v*)         ṽ ← ṽ + Ã⁻¹ r
//! ```
//!
//! Where this does not converge fast, A is factored where the body is. Where a factor was made is a part of the simulation's state, so that
//! results depend on the state alone.

use spatial::{Mat3, Vec3};
use support::{Interrupt, ThreadPool};

use super::gradients::{Matrix, NEAR_WITH_CONSTRAINTS};
use super::newton::{CONSTRAINED_TOLERANCE, Problem, largest};
use super::{Dynamics, Refinement, ThetaStep};
use crate::polar::rotation;
use crate::{SoftBody, StepError};

/// Bodies of fewer nodes have a factor of their own in each step: it costs no more than a few substitutions.
const LEAST_NODES: usize = 300;
/// A body that moves by a smaller part of its way since the factor was made, in a step that had to be refined, gets a factor for where it rests.
const RESTS: f64 = 0.05;

/// A factor, where it was made, and what works with it. Vectors have three numbers a node and are empty where no factor is shared.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedFactor {
    /// Positions of the nodes, then a mark of the step and of the nodes touched: of the factor that the step expects, and of that in memory.
    origin: Vec<f64>,
    in_memory: Vec<f64>,
    /// How many were made.
    pub count: u64,
    pub matrix: Matrix,
    /// Velocities of free motion, m/s, and the largest impulse on a node that leads there, N s.
    v_free: Vec<f64>,
    scale: f64,
    residual: Vec<f64>,
    change: Vec<f64>,
    /// What the last solution with constraints left, relative.
    left: f64,
}

/// How many numbers tell where the factor of a body was made.
pub fn factor_origin_len(body: &SoftBody) -> usize {
    3 * body.node_count() + 1
}

impl Dynamics {
    /// From now on steps share factors, and the next one expects that which was made at `origin`: what
    /// [`factor_origin`](Self::factor_origin) was after the step before, or none, where it makes one.
    ///
    /// # Panics
    /// If there are other than [`factor_origin_len`] numbers.
    pub fn share_factor(&mut self, origin: Option<&[f64]>) {
        let (len, shared) = (factor_origin_len(&self.body), &mut self.shared);
        shared.origin.clear();
        match origin {
            Some(origin) => shared.origin.extend_from_slice(origin),
            None => shared.origin.resize(len, 0.0),
        }
        assert_eq!(shared.origin.len(), len, "numbers of a factor's origin");
        let SharedFactor { v_free, residual, change, .. } = shared;
        for scratch in [v_free, residual, change] {
            scratch.resize(len - 1, 0.0);
        }
    }

    /// Where the factor of the last step was made; empty where none is [shared](Self::share_factor).
    pub fn factor_origin(&self) -> &[f64] {
        &self.shared.origin
    }

    /// How many factors were made: while it stays the same, so does [`schur_factor`](Self::schur_factor).
    pub fn factor_count(&self) -> u64 {
        self.shared.count
    }

    /// The symbolic phase was done again, or another matrix was factored.
    pub(super) fn forget_factor(&mut self) {
        self.shared.in_memory.clear();
    }

    /// Finds a factor for the step whose stiffness has been collected.
    pub(super) fn find_factor(
        &mut self,
        problem: &Problem<'_>,
        matrix: Matrix,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<(), StepError> {
        self.shared.matrix = matrix;
        let mark = mark(&problem.step, self.system.touched());
        let is_expected = self.shared.origin.last() == Some(&mark) && self.body.node_count() >= LEAST_NODES;
        if !is_expected {
            return self.factor_here(problem, interrupt);
        }
        if self.shared.in_memory != self.shared.origin {
            // The state was put here from elsewhere.
            let origin = std::mem::take(&mut self.shared.origin);
            let there = &origin[..origin.len() - 1];
            self.linearize_linear(there, there, pool);
            self.shared.origin = origin;
            self.factor(interrupt)?;
            self.shared.in_memory.clone_from(&self.shared.origin);
            let x_theta = std::mem::take(&mut self.x_theta);
            self.linearize_linear(problem.x0, &x_theta, pool);
            self.x_theta = x_theta;
        }
        let turn = self.system.touched().is_empty().then(|| self.turn_since(problem.x0));
        self.shared.matrix = Matrix { is_other: true, turn, ..matrix };
        Ok(())
    }

    fn linearize_linear(&mut self, x0: &[f64], x: &[f64], pool: &mut ThreadPool) {
        self.elements.linearize(&self.law, x0, x, false, pool);
        self.system.collect_stiffness(&self.elements);
    }

    fn factor(&mut self, interrupt: &Interrupt) -> Result<(), StepError> {
        let Matrix { mass, stiffness, .. } = self.shared.matrix;
        self.forget_factor();
        self.system.factor([mass, stiffness, 0.0], interrupt)?;
        self.shared.count += 1;
        self.find_schur_factor();
        Ok(())
    }

    /// Factors A.
    pub(super) fn factor_here(&mut self, problem: &Problem<'_>, interrupt: &Interrupt) -> Result<(), StepError> {
        self.factor(interrupt)?;
        let mark = mark(&problem.step, self.system.touched());
        let SharedFactor { origin, in_memory, matrix, .. } = &mut self.shared;
        if let Some((last, positions)) = origin.split_last_mut() {
            positions.copy_from_slice(problem.x0);
            *last = mark;
            in_memory.clone_from(origin);
        }
        (matrix.is_other, matrix.turn) = (false, None);
        Ok(())
    }

    /// The rotation of the body as a whole since its factor was made.
    fn turn_since(&self, x: &[f64]) -> Mat3<f64> {
        let masses = self.body.node_masses();
        let at = |x: &[f64], node: usize| Vec3::new(x[3 * node], x[3 * node + 1], x[3 * node + 2]);
        let total: f64 = masses.iter().sum();
        let centre = |x: &[f64]| masses.iter().enumerate().fold(Vec3::ZERO, |sum, (k, m)| sum + at(x, k) * (m / total));
        let origin = &self.shared.origin;
        let (centre_now, centre_then) = (centre(x), centre(origin));
        let moments = masses.iter().enumerate().fold(Mat3::ZERO, |sum, (node, m)| {
            sum.plus_outer((at(x, node) - centre_now) * *m, at(origin, node) - centre_then)
        });
        rotation(moments)
    }

    /// Notes the velocities that free motion ends with, for which impulses as large as `scale` were solved.
    pub(super) fn note_free_motion(&mut self, scale: f64) {
        let SharedFactor { v_free, matrix, left, scale: of_step, .. } = &mut self.shared;
        (*of_step, *left) = (scale, 1.0);
        if matrix.is_other {
            v_free.copy_from_slice(&self.v_star);
        }
    }

    /// Whether the balance holds where constraints have led to `v` by the shared factor; where it does not, free motion is that with which they
    /// are to be solved again.
    pub(super) fn refine_shared(
        &mut self,
        problem: &Problem<'_>,
        dv_touched: &[f64],
        v: &[f64],
        interrupt: &Interrupt,
    ) -> Result<Refinement, StepError> {
        let Self { system, shared, schur_factor, v_star, .. } = self;
        let SharedFactor { matrix, residual, change, v_free, .. } = shared;
        residual.fill(0.0);
        system.add_impulses(schur_factor, dv_touched, residual);
        let scale = largest(residual).max(shared.scale);
        change.iter_mut().zip(v).zip(&*v_free).for_each(|((d, v), free)| *d = v - free);
        system.multiply_add(-matrix.mass, -matrix.stiffness, change, residual);
        system.clear_pinned(residual);
        let left = largest(residual) / scale.max(f64::MIN_POSITIVE);
        let is_needed = left > CONSTRAINED_TOLERANCE;
        if is_needed && left > NEAR_WITH_CONSTRAINTS * shared.left {
            v_star.copy_from_slice(v_free);
            self.factor_here(problem, interrupt)?;
        } else if is_needed {
            system.solve(residual);
            v_star.iter_mut().zip(&*residual).for_each(|(v, d)| *v += d);
            let way =
                problem.x0.iter().zip(&shared.origin).fold(0.0, |most, (x, then)| f64::max(most, (x - then).abs()));
            if let Some(mark) = shared.origin.last_mut().filter(|_| problem.step.dt * largest(problem.v0) < RESTS * way)
            {
                *mark = 0.0;
            }
        }
        self.shared.left = left;
        Ok(Refinement { is_needed, residual: left, energy_gain: 0.0 })
    }
}

/// Tells factors of other steps and touched nodes apart: an integer that a number of 64 bits holds.
fn mark(step: &ThetaStep, touched: &[u32]) -> f64 {
    let ThetaStep { dt, lead, reach, theta_v } = *step;
    let numbers =
        [dt, lead, reach, theta_v].map(f64::to_bits).into_iter().chain(touched.iter().map(|node| u64::from(*node)));
    let hash = numbers.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
        word.to_le_bytes().iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    });
    ((hash >> 12) + 1) as f64
}
