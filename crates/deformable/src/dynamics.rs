//! A step of a soft body: free motion, and the factor that constraints on its nodes need.

mod gradients;
mod newton;
mod shared_factor;
mod system;

use std::sync::Arc;

use spatial::{Sym3, Vec3};
use support::{Interrupt, ThreadPool};

use crate::elements::Elements;
use crate::law::Law;
use crate::{SoftBody, StepError, stress};
use gradients::{Equations, Matrix};
use newton::{Attempt, Newton, Problem, largest};
use shared_factor::SharedFactor;
pub use shared_factor::factor_origin_len;
use system::System;

/// How much of v₀ a [ringing](ThetaStep::ringing) step takes from what swings far faster than it resolves: its amplitude falls by a factor of √2 a
/// step. Without that it would go on at the frequency of the steps for ever.
const UNRESOLVED_LOSS: f64 = 0.5;

/// A step of the θ-method, from velocities v₀ to v. Positions are taken at x₀ + dt (`lead` v₀ + `reach` (v − v₀)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThetaStep {
    /// Length of the step, s.
    pub dt: f64,
    /// Share of the way at v₀ at which forces take positions.
    pub lead: f64,
    /// Share of the way that the change of velocity makes.
    pub reach: f64,
    /// Where forces take velocities, from 0 at v₀ to 1 at v.
    pub theta_v: f64,
}

impl ThetaStep {
    /// θ = 1: takes energy, first order.
    pub fn implicit_euler(dt: f64) -> Self {
        Self { dt, lead: 1.0, reach: 1.0, theta_v: 1.0 }
    }

    /// θ = ½: keeps energy and momenta, second order.
    pub fn midpoint(dt: f64) -> Self {
        Self { dt, lead: 0.5, reach: 0.25, theta_v: 0.5 }
    }

    /// Velocities are those between two steps, positions follow v: forces of linear materials, taken at x₀ + ½ dt (v − v₀), neither give nor take
    /// energy but of what swings faster than the step resolves. Nonlinear ones are taken at the end of the step. Dampers are, too.
    pub fn ringing(dt: f64) -> Self {
        Self { dt, lead: 0.0, reach: 0.5, theta_v: 1.0 }
    }

    fn is_midpoint(&self) -> bool {
        *self == Self::midpoint(self.dt)
    }

    fn is_ringing(&self) -> bool {
        *self == Self::ringing(self.dt)
    }
}

/// What a step took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Solutions of linear systems: 1 where the step is linear, or where constraints are to come and then [`Dynamics::refine`].
    pub iterations: usize,
    /// Factorisations.
    pub factorizations: usize,
    /// Whether the touched nodes were others than in the last step, so that the symbolic phase was done again.
    pub analyzed: bool,
    /// What Newton's method has left of the equation of free motion, as a part of its largest impulse on a node.
    pub residual: f64,
    /// As of [`Refinement::energy_gain`].
    pub energy_gain: f64,
}

/// Whether velocities that constraints have led to are the end of the step: see [`Dynamics::refine`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Whether constraints are to be solved once more.
    pub is_needed: bool,
    /// What is missing of the balance of impulses, as a part of the largest on a node.
    pub residual: f64,
    /// By how much more the elastic energy grows in the step than forces and damping take from the motion, as a part of the energy: what the midpoint
    /// rule makes of nothing where the step does not resolve how a nonlinear material is deformed. 0 of other materials and steps.
    pub energy_gain: f64,
}

/// Energies, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// ½ vᵀ M v.
    pub kinetic: f64,
    /// Energy of deformation.
    pub elastic: f64,
    /// −Σ m g·x, zero at the origin.
    pub potential: f64,
}

impl Energy {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}

/// Scratch that makes steps of one soft body. It keeps no state: results depend on arguments alone, and where steps
/// [share a factor](Self::share_factor) on where that was made.
///
/// Vectors have three numbers a node, world axes. After a warm-up a step allocates nothing while the touched nodes are those of the step
/// before or fewer kinds of them than there have been.
#[derive(Clone, Debug)]
pub struct Dynamics {
    body: Arc<SoftBody>,
    law: Law,
    elements: Elements,
    system: System,
    /// Positions at which forces are taken.
    x_theta: Vec<f64>,
    v_star: Vec<f64>,
    step: Vec<f64>,
    scratch: Vec<f64>,
    newton: Newton,
    shared: SharedFactor,
    equations: Equations,
    /// Of the undeformed body, m³.
    volume: f64,
    schur_factor: Vec<f64>,
    /// Of the nodes, once they have been asked for.
    stresses: Vec<Sym3<f64>>,
}

impl Dynamics {
    /// Scratch for `body`: gradients of shape functions, the order of elimination.
    pub fn new(body: &Arc<SoftBody>) -> Self {
        let n = 3 * body.node_count();
        let (lambda, mu) = body.material.lame();
        Self {
            law: Law { model: body.material.model, lambda, mu },
            elements: Elements::of(&body.mesh),
            system: System::new(body),
            x_theta: vec![0.0; n],
            v_star: vec![0.0; n],
            step: vec![0.0; n],
            scratch: vec![0.0; n],
            newton: Newton::of(body),
            shared: SharedFactor::default(),
            equations: Equations::default(),
            volume: body.total_mass() / body.material.density,
            schur_factor: Vec::new(),
            stresses: Vec::new(),
            body: body.clone(),
        }
    }

    /// The body.
    pub fn body(&self) -> &Arc<SoftBody> {
        &self.body
    }

    /// Free motion from positions `x0` (m) and velocities `v0` (m/s) under `gravity` (m/s²) and forces `applied` on the nodes (N): the
    /// velocities at the end of the step that has no constraints, [`v_star`](Self::v_star), and the factor of A. `touched` nodes are
    /// eliminated last, for [`schur_factor`](Self::schur_factor); they must not be pinned. Pinned nodes have no velocity.
    ///
    /// # Errors
    /// If an argument has the wrong length or is not finite, a touched node is not valid, A is not positive definite, Newton's method
    /// finds no solution, or `interrupt` is raised.
    pub fn free_motion(
        &mut self,
        x0: &[f64],
        v0: &[f64],
        step: &ThetaStep,
        gravity: Vec3<f64>,
        applied: Option<&[f64]>,
        touched: &[u32],
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<Report, StepError> {
        self.check(x0, v0, applied)?;
        let analyzed = self.system.analyze(touched)?;
        if analyzed {
            self.forget_factor();
        }
        let problem = self.problem(x0, v0, *step);
        let (mut iterations, before) = (1, self.shared.count);
        if self.law.model.is_nonlinear() {
            self.begin_newton(&problem, gravity, applied, interrupt, pool)?;
            if touched.is_empty() {
                iterations = self.solve_freely(&problem, interrupt, pool)?;
            }
        } else {
            self.solve_linear(&problem, gravity, applied, interrupt, pool)?;
        }
        let is_solved = touched.is_empty();
        let residual = if is_solved { self.newton.residual() } else { 0.0 };
        let energy_gain = if is_solved { self.energy_gain(&problem) } else { 0.0 };
        let factorizations = (self.shared.count - before) as usize;
        Ok(Report { iterations, factorizations, analyzed, residual, energy_gain })
    }

    /// Goes on where constraints on the touched nodes have changed their velocities by `dv_touched` from free motion, and all velocities
    /// to `v`, those of [`respond`](Self::respond); the other arguments are those of [`free_motion`](Self::free_motion). Where the equation
    /// of the step holds there nothing happens. Elsewhere, which is in nonlinear materials, it is linearised anew, at these velocities or on
    /// the way to them: free motion and the factor are others then, and constraints are to be solved with them again.
    ///
    /// # Errors
    /// If A is not positive definite, no velocities are nearer to a solution, or `interrupt` is raised.
    pub fn refine(
        &mut self,
        x0: &[f64],
        v0: &[f64],
        step: &ThetaStep,
        dv_touched: &[f64],
        v: &[f64],
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<Refinement, StepError> {
        let problem = self.problem(x0, v0, *step);
        if dv_touched.is_empty() || !self.is_refined() {
            return Ok(Refinement { is_needed: false, residual: 0.0, energy_gain: 0.0 });
        }
        if self.shared.matrix.is_other {
            return self.refine_shared(&problem, dv_touched, v, interrupt);
        }
        let attempt = self.refine_newton(&problem, dv_touched, v, interrupt, pool)?;
        let residual = self.newton.residual();
        match attempt {
            Attempt::Holds => Ok(Refinement { is_needed: false, residual, energy_gain: self.energy_gain(&problem) }),
            Attempt::Moved => Ok(Refinement { is_needed: true, residual, energy_gain: 0.0 }),
            Attempt::Stuck => Err(StepError::NotConverged { iterations: 1, residual }),
        }
    }

    /// Whether the velocities that constraints lead to may have to be [refined](Self::refine) in this step.
    pub fn is_refined(&self) -> bool {
        self.law.model.is_nonlinear() || self.shared.matrix.is_other
    }

    /// The step from `x0` and `v0` as this material makes it.
    fn problem<'a>(&self, x0: &'a [f64], v0: &'a [f64], step: ThetaStep) -> Problem<'a> {
        let is_damped = step.is_ringing() && self.law.model.is_nonlinear();
        Problem { x0, v0, step: if is_damped { ThetaStep::implicit_euler(step.dt) } else { step } }
    }

    fn find_schur_factor(&mut self) {
        let rows = 3 * self.system.touched().len();
        self.schur_factor.resize(rows * rows, 0.0);
        self.system.schur_factor(&mut self.schur_factor);
    }

    /// Free motion where forces are linear within the step.
    fn solve_linear(
        &mut self,
        problem: &Problem<'_>,
        gravity: Vec3<f64>,
        applied: Option<&[f64]>,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<(), StepError> {
        let Problem { x0, v0, step: ThetaStep { dt, lead, reach, theta_v } } = *problem;
        let material = &self.body.material;
        for ((x, x0), v0) in self.x_theta.iter_mut().zip(x0).zip(v0) {
            *x = x0 + lead * dt * v0;
        }
        self.elements.linearize(&self.law, x0, &self.x_theta, false, pool);
        self.system.collect_stiffness(&self.elements);
        let mass = 1.0 + theta_v * dt * material.damping_mass;
        let stiffness = reach * dt * dt + theta_v * dt * material.damping_stiffness;
        self.find_factor(problem, Matrix { mass, stiffness, ..Matrix::default() }, interrupt, pool)?;
        let material = &self.body.material;
        // −dt (f(x^θ) + D v₀ − M g − applied)
        self.step.fill(0.0);
        self.system.add_forces(&self.elements, -dt, &mut self.step);
        self.system.multiply_add(-dt * material.damping_mass, -dt * material.damping_stiffness, v0, &mut self.step);
        let g = gravity.to_array();
        for node in self.scratch.chunks_exact_mut(3) {
            node.copy_from_slice(&g);
        }
        self.system.multiply_add(dt, 0.0, &self.scratch, &mut self.step);
        if let Some(applied) = applied {
            self.step.iter_mut().zip(applied).for_each(|(step, f)| *step += dt * f);
        }
        let scale = largest(&self.step);
        self.solve_step(problem, scale, interrupt)?;
        for (node, v) in self.v_star.chunks_exact_mut(3).enumerate() {
            for k in 0..3 {
                v[k] = if self.body.is_pinned(node as u32) { 0.0 } else { v0[3 * node + k] + self.step[3 * node + k] };
            }
        }
        self.note_free_motion(scale);
        Ok(())
    }

    /// The velocities that free motion ends with, m/s.
    pub fn v_star(&self) -> &[f64] {
        &self.v_star
    }

    /// The touched nodes of the last free motion, in the order of [`schur_factor`](Self::schur_factor)'s rows.
    pub fn touched(&self) -> &[u32] {
        self.system.touched()
    }

    /// L with L Lᵀ = A_c, the Schur complement of A on the touched nodes: 3k×3k, column-major, zeros above the diagonal, the nodes in
    /// the order in which they were named.
    pub fn schur_factor(&self) -> &[f64] {
        &self.schur_factor
    }

    /// All velocities when those of the touched nodes differ from v* by `dv_touched`, in their order: `v` = v* + A⁻¹ Sᵀ A_c `dv_touched`.
    pub fn respond(&mut self, dv_touched: &[f64], v: &mut [f64]) {
        self.system.extend(&self.schur_factor, dv_touched, v);
        v.iter_mut().zip(&self.v_star).for_each(|(v, v_star)| *v += v_star);
    }

    /// `x` ← A⁻¹ `x` with the factor of the last free motion: impulses on the nodes (N s) to changes of velocity (m/s).
    pub fn solve(&mut self, x: &mut [f64]) {
        self.system.solve(x);
    }

    /// Energies at positions `x` and velocities `v`.
    pub fn energy(&mut self, x: &[f64], v: &[f64], gravity: Vec3<f64>) -> Energy {
        let momentum = &mut self.scratch;
        momentum.fill(0.0);
        self.system.multiply_add(1.0, 0.0, v, momentum);
        let kinetic = 0.5 * momentum.iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
        let masses = self.body.node_masses();
        let weight = |(x, m): (&[f64], &f64)| -m * gravity.dot(Vec3::new(x[0], x[1], x[2]));
        let potential = x.chunks_exact(3).zip(masses).map(weight).sum();
        Energy { kinetic, elastic: self.elements.energy(&self.law, x), potential }
    }

    /// Cauchy stress in every element at positions `x`, its mean over the element, world axes, Pa. Of a linear material it is that of small
    /// strains, and without meaning where the body has turned.
    ///
    /// # Panics
    /// If `x` has not three numbers a node, or `stresses` not one place an element.
    pub fn element_stresses(&self, x: &[f64], stresses: &mut [Sym3<f64>]) {
        assert_eq!(stresses.len(), self.body.mesh.element_count(), "one stress an element");
        stress::of_elements(&self.elements, &self.law, x, stresses);
    }

    /// Cauchy stress at every node at positions `x`: the mean over its elements, each with the share of its volume, world axes, Pa.
    ///
    /// # Panics
    /// If `x` has not three numbers a node, or `stresses` not one place a node.
    pub fn node_stresses(&mut self, x: &[f64], stresses: &mut [Sym3<f64>]) {
        let nodes = self.body.node_count();
        assert_eq!(stresses.len(), nodes, "one stress a node");
        stress::of_nodes(&self.elements, &self.law, x, &mut self.scratch[..nodes], stresses);
    }

    /// The von Mises stress at every node at positions `x`, Pa: that of [`node_stresses`](Self::node_stresses).
    ///
    /// # Panics
    /// If `x` has not three numbers a node, or `out` not one place a node.
    pub fn von_mises(&mut self, x: &[f64], out: &mut [f64]) {
        let mut stresses = std::mem::take(&mut self.stresses);
        stresses.resize(self.body.node_count(), Sym3::ZERO);
        assert_eq!(out.len(), stresses.len(), "one number a node");
        self.node_stresses(x, &mut stresses);
        out.iter_mut().zip(&stresses).for_each(|(out, stress)| *out = stress::von_mises(stress));
        self.stresses = stresses;
    }

    /// `f` ← dV/dx at positions `x`, V the elastic energy: minus the elastic forces on the nodes, N.
    pub fn elastic_gradient(&mut self, x: &[f64], f: &mut [f64], pool: &mut ThreadPool) {
        self.elements.find_forces(&self.law, x, pool);
        f.fill(0.0);
        self.system.add_forces(&self.elements, 1.0, f);
    }

    /// `out` ← K d, K the stiffness at positions `x`: of a linear-corotated body that for axes that do not turn; N for `d` in m.
    pub fn stiffness_times(&mut self, x: &[f64], d: &[f64], out: &mut [f64], pool: &mut ThreadPool) {
        self.elements.linearize(&self.law, x, x, false, pool);
        self.system.collect_stiffness(&self.elements);
        out.fill(0.0);
        self.system.multiply_add(0.0, 1.0, d, out);
    }

    fn check(&self, x0: &[f64], v0: &[f64], applied: Option<&[f64]>) -> Result<(), StepError> {
        let expected = 3 * self.body.node_count();
        for (what, values) in [("positions", Some(x0)), ("velocities", Some(v0)), ("applied forces", applied)] {
            let Some(values) = values else { continue };
            if values.len() != expected {
                return Err(StepError::Length { what, got: values.len(), expected });
            }
            if !spatial::are_finite(values) {
                let node = values.iter().position(|x| !x.is_finite()).unwrap_or(0) / 3;
                return Err(StepError::NotFinite { what, node });
            }
        }
        Ok(())
    }
}
