//! Newton's method for steps of materials whose forces are not linear within a step.
//!
//! The equation M (v − v₀) + dt (f(x^θ(v)) + D v^θ) = e + Jᵀγ, with e the impulses of gravity and applied forces and D the damping, constant within a step, is the
//! stationarity of a function ψ of v where the impulses of constraints are held. Linearised at some v it is a problem that constraints can
//! be solved with, and whose solution v̂ lies downhill on ψ: the next linearisation is at v̂, or so far towards it that ψ falls. As the cost
//! of constraints is convex, the sum of it and of ψ falls too. Without constraints this is Newton's method on free motion.

use spatial::Vec3;
use support::{Interrupt, ThreadPool};

use super::{Dynamics, ThetaStep};
use crate::law::Law;
use crate::{MaterialModel, SoftBody, StepError};

/// Most iterations of free motion.
const MOST: usize = 60;
/// Where the residual of free motion counts as zero, as a part of the impulses that it is the sum of.
const TOLERANCE: f64 = 1e-10;
/// The same with constraints, whose own solution is not more exact.
pub(super) const CONSTRAINED_TOLERANCE: f64 = 1e-6;
/// What round-off leaves of an elastic force, as a part of stiffness times position.
const ROUND_OFF: f64 = 1e-14;
/// Halvings of a Newton step.
const HALVINGS: usize = 30;
/// Part of the decrease that the slope promises which is enough.
const ENOUGH: f64 = 1e-4;

/// What the equation of a step is made of besides the state of the iteration.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub x0: &'a [f64],
    pub v0: &'a [f64],
    pub step: ThetaStep,
}

impl Problem<'_> {
    /// x^θ for velocities `v` at the end.
    fn place(&self, v: &[f64], x_theta: &mut [f64]) {
        let ThetaStep { dt, lead, reach, .. } = self.step;
        for (((x, x0), v0), v) in x_theta.iter_mut().zip(self.x0).zip(self.v0).zip(v) {
            *x = x0 + dt * (lead * v0 + reach * (v - v0));
        }
    }

    /// Whether forces depend on the velocities at the end.
    fn is_nonlinear(&self) -> bool {
        self.step.dt * self.step.reach > 0.0
    }
}

/// Where the method is. Three numbers a node; empty for materials that do without.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// Where the equation is linearised, m/s; at pinned nodes v₀.
    v: Vec<f64>,
    /// Impulses of gravity and applied forces, and of constraints, N s.
    external: Vec<f64>,
    constraints: Vec<f64>,
    /// What is missing of the balance at `v` without constraints, N s: minus the gradient. Zero at pinned nodes.
    residual: Vec<f64>,
    /// From `v` to the solution of the linearised problem, m/s.
    direction: Vec<f64>,
    trial: Vec<f64>,
    product: Vec<f64>,
    /// What `residual` at the last velocities tried was, relative.
    relative: f64,
}

impl Newton {
    pub fn of(body: &SoftBody) -> Self {
        if !body.material.model.is_nonlinear() {
            return Self::default();
        }
        let zeros = || vec![0.0; 3 * body.node_count()];
        Self {
            v: zeros(),
            external: zeros(),
            constraints: zeros(),
            residual: zeros(),
            direction: zeros(),
            trial: zeros(),
            product: zeros(),
            ..Self::default()
        }
    }

    /// How much of the impulses is not in balance at the last velocities that were tried.
    pub fn residual(&self) -> f64 {
        self.relative
    }
}

/// What became of an attempt to end the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The equation holds there.
    Holds,
    /// The linearisation is somewhere else now.
    Moved,
    /// No way leads downhill.
    Stuck,
}

impl Dynamics {
    /// Begins a step: linearises at the velocities at its beginning.
    pub(super) fn begin_newton(
        &mut self,
        problem: &Problem<'_>,
        gravity: Vec3<f64>,
        applied: Option<&[f64]>,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<(), StepError> {
        self.find_external(problem.step.dt, gravity, applied);
        self.system.keep_damping(None);
        let beta = self.body.material.damping_stiffness;
        if beta > 0.0 && problem.step.dt > 0.0 {
            // The viscosity does not change with strain: Hooke's stiffness in axes that turn with elements, never negative.
            let law = Law { model: MaterialModel::LinearCorotated, ..self.law };
            self.elements.linearize(&law, problem.x0, problem.x0, false, pool);
            self.system.collect_stiffness(&self.elements);
            self.system.keep_damping(Some(beta));
        }
        self.newton.v.copy_from_slice(problem.v0);
        self.newton.constraints.fill(0.0);
        self.linearize(problem, interrupt, pool)
    }

    /// Newton's method on free motion that [has begun](Self::begin_newton); returns the number of iterations.
    pub(super) fn solve_freely(
        &mut self,
        problem: &Problem<'_>,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<usize, StepError> {
        for iteration in 1..=MOST {
            self.newton.trial.copy_from_slice(&self.v_star);
            match self.attempt(problem, TOLERANCE, pool) {
                Attempt::Holds => return Ok(iteration),
                Attempt::Stuck => return Err(self.not_converged(iteration)),
                Attempt::Moved if iteration < MOST => self.linearize(problem, interrupt, pool)?,
                Attempt::Moved => {}
            }
        }
        Err(self.not_converged(MOST))
    }

    fn not_converged(&self, iterations: usize) -> StepError {
        StepError::NotConverged { iterations, residual: self.newton.relative }
    }

    /// Goes on from velocities `v` that constraints have led to, which gave the touched nodes the impulses L Lᵀ `dv_touched`. Where the
    /// equation does not hold there it is linearised anew.
    pub(super) fn refine_newton(
        &mut self,
        problem: &Problem<'_>,
        dv_touched: &[f64],
        v: &[f64],
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<Attempt, StepError> {
        let Self { newton, system, schur_factor, .. } = self;
        newton.trial.copy_from_slice(v);
        newton.constraints.fill(0.0);
        system.add_impulses(schur_factor, dv_touched, &mut newton.constraints);
        let attempt = self.attempt(problem, CONSTRAINED_TOLERANCE, pool);
        if attempt == Attempt::Moved {
            self.linearize(problem, interrupt, pool)?;
        }
        Ok(attempt)
    }

    /// The impulses of gravity and applied forces.
    fn find_external(&mut self, dt: f64, gravity: Vec3<f64>, applied: Option<&[f64]>) {
        let external = &mut self.newton.external;
        external.fill(0.0);
        self.scratch.chunks_exact_mut(3).for_each(|node| node.copy_from_slice(&gravity.to_array()));
        self.system.multiply_add(dt, 0.0, &self.scratch, external);
        if let Some(applied) = applied {
            external.iter_mut().zip(applied).for_each(|(sum, f)| *sum += dt * f);
        }
    }

    /// Linearises at `newton.v`: A, what is missing of the balance there, and v* = v + A⁻¹ residual. The stiffness is as it is where A is
    /// positive definite all the same, which makes the method converge quadratically, or else projected.
    fn linearize(
        &mut self,
        problem: &Problem<'_>,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<(), StepError> {
        let ThetaStep { dt, reach, theta_v, .. } = problem.step;
        problem.place(&self.newton.v, &mut self.x_theta);
        let mass = 1.0 + theta_v * dt * self.body.material.damping_mass;
        let parts = [mass, reach * dt * dt, theta_v * dt];
        let mut is_projected = false;
        loop {
            self.elements.linearize(&self.law, &self.x_theta, &self.x_theta, is_projected, pool);
            self.system.collect_stiffness(&self.elements);
            match self.system.factor(parts, interrupt) {
                Err(StepError::NotPositiveDefinite { .. }) if !is_projected => is_projected = true,
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
        self.shared.count += 1;
        self.find_schur_factor();
        let mut residual = std::mem::take(&mut self.newton.residual);
        self.newton.trial.copy_from_slice(&self.newton.v);
        self.balance_at_trial(problem, &mut residual);
        self.step.copy_from_slice(&residual);
        self.newton.residual = residual;
        self.system.solve(&mut self.step);
        let ends = self.newton.v.iter().zip(&self.step);
        self.v_star.iter_mut().zip(ends).for_each(|(v_star, (v, d))| *v_star = v + d);
        self.system.clear_pinned(&mut self.v_star);
        Ok(())
    }

    /// What is missing of the balance at `newton.trial`, where elements have computed their forces, and the tolerance of it: the largest impulse,
    /// and what round-off makes.
    fn balance_at_trial(&mut self, problem: &Problem<'_>, out: &mut [f64]) -> (f64, f64) {
        let ThetaStep { dt, theta_v, .. } = problem.step;
        let alpha = self.body.material.damping_mass;
        let Self { newton, system, elements, scratch, x_theta, .. } = self;
        out.fill(0.0);
        system.add_forces(elements, -dt, out);
        system.clear_pinned(out);
        let scale = largest(out).max(largest(&newton.external)).max(largest(&newton.constraints));
        let round_off = ROUND_OFF * dt * system.largest_stiffness() * largest(x_theta);
        for ((p, v), v0) in scratch.iter_mut().zip(&newton.trial).zip(problem.v0) {
            *p = -(v - v0) - dt * alpha * (v0 + theta_v * (v - v0));
        }
        system.multiply_add(1.0, 0.0, scratch, out);
        for ((v_theta, v), v0) in scratch.iter_mut().zip(&newton.trial).zip(problem.v0) {
            *v_theta = v0 + theta_v * (v - v0);
        }
        system.multiply_damping_add(0.0, -dt, scratch, out);
        out.iter_mut().zip(&newton.external).for_each(|(sum, e)| *sum += e);
        system.clear_pinned(out);
        (scale, round_off)
    }

    /// Tries to end the step at `newton.trial`, where the linearised problem has its solution: whether the equation holds there, or `newton.v`
    /// has moved there or towards it.
    fn attempt(&mut self, problem: &Problem<'_>, tolerance: f64, pool: &mut ThreadPool) -> Attempt {
        let Newton { v, trial, direction, .. } = &mut self.newton;
        direction.iter_mut().zip(&*trial).zip(&*v).for_each(|((d, end), v)| *d = end - v);
        self.system.clear_pinned(&mut self.newton.direction);
        if !problem.is_nonlinear() {
            self.newton.relative = 0.0;
            return Attempt::Holds;
        }
        self.go(1.0);
        let mut residual = std::mem::take(&mut self.newton.product);
        let (scale, round_off) = self.residual_at_trial(problem, &mut residual, pool);
        let end_slope = -dot(&residual, &self.newton.direction);
        let left = largest(&residual);
        self.newton.product = residual;
        self.newton.relative = left / scale.max(f64::MIN_POSITIVE);
        let ThetaStep { dt, reach, .. } = problem.step;
        let way = largest(&self.newton.direction) * dt * reach;
        if left <= tolerance * scale + round_off || way <= 0.1 * ROUND_OFF * largest(&self.x_theta) {
            return Attempt::Holds;
        }
        self.go_downhill(problem, end_slope, pool)
    }

    /// `newton.trial` ← `newton.v` and a part of the direction.
    fn go(&mut self, part: f64) {
        let Newton { v, trial, direction, .. } = &mut self.newton;
        trial.iter_mut().zip(&*v).zip(&*direction).for_each(|((trial, v), d)| *trial = v + part * d);
    }

    /// What is missing of the balance at `newton.trial` with constraints; the size of impulses and round-off as of
    /// [`balance_at_trial`](Self::balance_at_trial).
    fn residual_at_trial(&mut self, problem: &Problem<'_>, out: &mut [f64], pool: &mut ThreadPool) -> (f64, f64) {
        problem.place(&self.newton.trial, &mut self.x_theta);
        self.elements.find_forces(&self.law, &self.x_theta, pool);
        let sizes = self.balance_at_trial(problem, out);
        out.iter_mut().zip(&self.newton.constraints).for_each(|(sum, w)| *sum += w);
        sizes
    }

    /// Moves `newton.v` along the direction, all of the way, at whose end the slope is `end_slope`, or a part at whose end ψ is enough lower.
    fn go_downhill(&mut self, problem: &Problem<'_>, end_slope: f64, pool: &mut ThreadPool) -> Attempt {
        let Newton { residual, constraints, direction, .. } = &self.newton;
        let slope = -dot(residual, direction) - dot(constraints, direction);
        self.newton.trial.copy_from_slice(&self.newton.v);
        let (start, noise) = self.potential_at_trial(problem);
        let (mut part, mut part_slope) = (1.0, Some(end_slope));
        for _ in 0..HALVINGS {
            self.go(part);
            let (end, end_noise) = self.potential_at_trial(problem);
            let is_lower = end <= start + ENOUGH * part * slope;
            // What the decrease is lost in: the slope tells.
            let is_lost = -slope * part <= noise + end_noise;
            let is_flatter = is_lost && {
                let at_part = part_slope.take().unwrap_or_else(|| {
                    let mut residual = std::mem::take(&mut self.newton.product);
                    self.residual_at_trial(problem, &mut residual, pool);
                    let slope = -dot(&residual, &self.newton.direction);
                    self.newton.product = residual;
                    slope
                });
                at_part.abs() <= slope.abs()
            };
            if is_lower || is_flatter {
                self.newton.v.copy_from_slice(&self.newton.trial);
                return Attempt::Moved;
            }
            part *= 0.5;
            part_slope = None;
        }
        Attempt::Stuck
    }

    /// What the midpoint rule makes of energy where the equation holds, at `newton.trial`: see [`Refinement`](super::Refinement::energy_gain).
    pub(super) fn energy_gain(&mut self, problem: &Problem<'_>) -> f64 {
        let ThetaStep { dt, .. } = problem.step;
        if !self.law.model.is_nonlinear() || !problem.step.is_midpoint() || dt == 0.0 {
            return 0.0;
        }
        let alpha = self.body.material.damping_mass;
        let Self { newton: Newton { trial, product, .. }, elements, law, system, scratch, x_theta, .. } = self;
        // What forces and damping take: (f + D v) dt·v with v in the middle, by which positions move.
        scratch.iter_mut().zip(&*trial).zip(problem.v0).for_each(|((middle, v), v0)| *middle = 0.5 * (v + v0));
        product.fill(0.0);
        system.add_forces(elements, dt, product);
        system.multiply_damping_add(dt * alpha, dt, scratch, product);
        let taken = dot(product, scratch);
        let start = elements.energy(law, problem.x0);
        x_theta.iter_mut().zip(problem.x0).zip(&*scratch).for_each(|((x, x0), v)| *x = x0 + dt * v);
        let end = elements.energy(law, x_theta);
        // That of strains of 1e-5 is nothing.
        let nothing = 1e-10 * (law.lambda + 2.0 * law.mu) * self.volume;
        (end - start - taken) / start.max(end).max(nothing)
    }

    /// ψ at `newton.trial`, whose gradient is what is missing of the balance with the impulses of constraints held; and what round-off makes
    /// of it, J.
    fn potential_at_trial(&mut self, problem: &Problem<'_>) -> (f64, f64) {
        let ThetaStep { dt, reach, theta_v, .. } = problem.step;
        let alpha = self.body.material.damping_mass;
        problem.place(&self.newton.trial, &mut self.x_theta);
        let per_potential = 1.0 / reach;
        let elastic = self.elements.energy(&self.law, &self.x_theta) * per_potential;
        let Self { newton, system, law, scratch, .. } = self;
        let Newton { trial, product, external, constraints, .. } = newton;
        scratch.iter_mut().zip(&*trial).zip(problem.v0).for_each(|((d, v), v0)| *d = v - v0);
        let impulses = dot(scratch, external) + dot(scratch, constraints);
        // ½ M d·d, and ∫ D (v₀ + θ s)·ds along the way d from v₀: D (v₀ + ½ θ d)·d.
        product.fill(0.0);
        system.multiply_damping_add(0.5 + 0.5 * theta_v * dt * alpha, 0.5 * theta_v * dt, scratch, product);
        system.multiply_damping_add(dt * alpha, dt, problem.v0, product);
        let inertial = dot(scratch, product);
        let size = inertial.abs() + impulses.abs() + elastic.abs();
        let stiff = (law.lambda + 2.0 * law.mu) * self.volume * per_potential;
        (inertial + elastic - impulses, 1e-12 * size + 1e-14 * stiff)
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| f64::max(most, x.abs()))
}
