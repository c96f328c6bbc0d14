//! Newton's method for Coulomb's law as it stands: every contact's friction bounded by its own normal impulse.
//!
//! A contact of velocity `v_c` and impulse `γ` meets the law if `γ = γ̄(z)` at the free velocity `z = v_c − w γ`, for any `w > 0`; `γ̄` is
//! the law with `R + w` in place of `R`, and `v̄_c(z) = z + w γ̄(z)`. `γ̄` is Lipschitz continuous, however stiff the contact, and
//! differentiable between its kinks. One step solves
//!
//! ```text
//! A (v − v*) = Jᵀγ        γ = γ̄ − Ḡ (J v − v̄_c)        Ḡ = G + b eᵀ at v̄_c
//! ```
//!
//! and `z ← J v − w γ` leads to the next: the semismooth Newton method of Alart and Curnier. `G` is the Hessian where the bounds of
//! friction are given, `b eᵀ` makes them follow the normal velocity. `A + JᵀḠJ` is not symmetric, and is factored as it is
//! ([`Structure::factor_unsymmetric`]): steps that are solved to 1e-2 or 1e-3 only, as by GMRES, do not converge.
//!
//! Near a solution, where no contact changes between sticking, sliding and parting, this converges in a few steps. From far away, as in
//! impacts of many bodies, it cycles, with line searches as well. The proximal point method ([`super::proximal_point`]) goes on then.
//!
//! Source: Alart, Curnier, *A Mixed Formulation for Frictional Contact Problems Prone to Newton Like Solution Methods*, Computer
//! Methods in Applied Mechanics and Engineering 92, 1991.

use crate::convex::{ConvexWorkspace, Iteration, set_free_velocities};
use crate::parameters::{SemismoothParameters, SolverParameters};
use crate::vector::axpy;
use crate::{Block, Constraint, Error, Law, Options, Structure, Workspace};

use super::friction_residual::meets_coulomb;

const PARAMETERS: SemismoothParameters = SolverParameters::STANDARD.semismooth;

impl<S: Structure> Iteration<'_, S> {
    /// Looks for velocities that meet Coulomb's law, from the free velocities of the step before; returns whether they do. Bounds of friction
    /// are the contacts' own then; else all is as it was.
    pub(super) fn solve_semismooth(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<bool, Error> {
        self.own_residual(constraints, ws)?;
        if self.is_solved {
            return Ok(true);
        }
        linearise_alone(constraints, ws);
        // A pivot may be zero, or so small that numbers overflow.
        if let Ok(true) = self.search(constraints, options, ws) {
            return Ok(true);
        }
        self.restore(constraints, ws)?;
        Ok(false)
    }

    /// Goes from step to step while that leads nearer.
    fn search(&mut self, constraints: &mut [Constraint], options: &Options, ws: &mut Workspace) -> Result<bool, Error> {
        let (mut least, mut patience) = (f64::INFINITY, PARAMETERS.stall_limit);
        for step in 0..PARAMETERS.max_steps {
            if self.is_budget_spent() {
                break;
            }
            self.factor_unsymmetric(constraints, ws)?;
            self.balance(constraints, ws);
            let mut residual = self.own_residual(constraints, ws)?;
            if residual <= PARAMETERS.near_residual {
                residual = self.go_on_with_factor(constraints, residual, ws)?;
            }
            patience -= 1;
            let falls = residual < PARAMETERS.stall_reduction * least;
            if falls {
                (least, patience) = (residual, PARAMETERS.stall_limit);
            }
            // One more step costs as much as the Newton step that would follow with fixed bounds, and leaves less of the law.
            let is_near = meets_coulomb(residual, options);
            if self.is_solved || is_near && !falls {
                return Ok(true);
            }
            if patience == 0 || step > 0 && residual > PARAMETERS.divergence_residual {
                break;
            }
            linearise_alone(constraints, ws);
        }
        Ok(false)
    }

    /// Factors `A + JᵀḠJ`.
    pub(super) fn factor_unsymmetric(&mut self, constraints: &[Constraint], ws: &Workspace) -> Result<(), Error> {
        self.check_interrupt()?;
        self.iterations += 1;
        self.is_reusable = false;
        let factored = self.structure.factor_unsymmetric(constraints, &ws.convex.predicted.hessian, &ws.slopes);
        factored.map_err(|source| self.factorization_error(source))
    }

    /// Moves to where the linear model balances, and sets `z` there.
    pub(super) fn balance(&mut self, constraints: &[Constraint], ws: &mut Workspace) {
        ws.set_coupled_dual(constraints);
        ws.convex.impulse.fill(0.0);
        self.structure.add_transpose(&ws.convex.dual, &mut ws.convex.impulse);
        for ((out, impulse), momentum) in
            ws.convex.difference.iter_mut().zip(&ws.convex.impulse).zip(&ws.convex.momentum)
        {
            *out = impulse - momentum;
        }
        self.structure.solve_unsymmetric(&ws.convex.difference, &mut ws.convex.dv);
        self.structure.products(&ws.convex.dv, &mut ws.convex.dp, &mut ws.convex.dv_c);
        self.advance(1.0, &mut ws.convex);
        ws.set_coupled_dual(constraints);
        set_free_velocities(constraints, &ws.convex.current.v_c, &ws.convex.dual, &mut ws.convex.free);
    }

    /// Steps with the last factor while the `residual` falls fast; returns what is left of it.
    fn go_on_with_factor(
        &mut self,
        constraints: &mut [Constraint],
        mut residual: f64,
        ws: &mut Workspace,
    ) -> Result<f64, Error> {
        while !self.is_solved {
            let before = residual;
            self.structure.solve_unsymmetric(&ws.convex.descent, &mut ws.convex.dv);
            self.structure.products(&ws.convex.dv, &mut ws.convex.dp, &mut ws.convex.dv_c);
            self.advance(1.0, &mut ws.convex);
            residual = self.own_residual(constraints, ws)?;
            if residual > before {
                self.advance(-1.0, &mut ws.convex);
                return self.own_residual(constraints, ws);
            }
            ws.convex.set_free(constraints);
            if residual > PARAMETERS.reuse_contraction * before {
                break;
            }
        }
        Ok(residual)
    }

    /// `v ← v + share Δv`
    fn advance(&mut self, share: f64, ws: &mut ConvexWorkspace) {
        let ConvexWorkspace { current, dv, dv_c, dp, momentum, .. } = ws;
        axpy(share, dv, self.v);
        axpy(share, dp, momentum);
        axpy(share, dv_c, &mut current.v_c);
    }

    /// Bounds friction by the contacts' own normal impulses at the iterate; returns the residual.
    pub(super) fn own_residual(&mut self, constraints: &mut [Constraint], ws: &mut Workspace) -> Result<f64, Error> {
        set_own_bounds(constraints, &ws.convex.current.v_c, |_| 0.0);
        ws.convex.current.update(constraints);
        self.line_search_evaluations += 1;
        Ok(self.residual(&mut ws.convex)?.residual)
    }

    pub(super) fn keep(&self, constraints: &[Constraint], ws: &mut Workspace) {
        ws.convex.keep(self.v, 0.0);
        ws.bounds.clear();
        ws.bounds.extend(constraints.iter().map(|c| c.law.bound()));
    }

    /// Goes back to what was kept.
    pub(super) fn restore(&mut self, constraints: &mut [Constraint], ws: &mut Workspace) -> Result<(), Error> {
        for (constraint, bound) in constraints.iter_mut().zip(&ws.bounds) {
            constraint.law.set_bound(*bound);
        }
        self.go_back(constraints, &mut ws.convex);
        self.residual(&mut ws.convex).map(|_| ())
    }
}

/// Bounds friction by the normal impulses of contacts alone with `free` and `w`; rolling and torsional friction by those of cones, too.
pub(super) fn set_own_bounds(constraints: &mut [Constraint], free: &[f64], w: impl Fn(&Constraint) -> f64) {
    let (mut row, mut normal) = (0, None);
    for constraint in constraints {
        match &constraint.law {
            Law::BoundedFriction(contact) => {
                normal = Some(contact.normal_impulse_alone(w(constraint), free[row + 2]));
            }
            Law::Cone(cone) => {
                let mut gamma = [0.0; 3];
                let alone = Law::Cone(cone.softened(w(constraint)));
                alone.evaluate(&free[row..row + 3], &mut gamma, &mut Block::default());
                normal = Some(gamma[2]);
            }
            _ => {}
        }
        if let Some(normal) = normal {
            constraint.law.set_bound(normal);
        }
        row += constraint.rows();
    }
}

/// Sets the bounds, `γ̄`, `v̄_c`, `G` and `b` of every constraint alone with its free velocity, `w` being its share of the Delassus
/// operator.
pub(super) fn linearise_alone(constraints: &mut [Constraint], ws: &mut Workspace) {
    set_own_bounds(constraints, &ws.convex.free, Constraint::delassus);
    ws.convex.predicted.predict(constraints, &ws.convex.free);
    let mut row = 0;
    for (constraint, slope) in constraints.iter().zip(&mut ws.slopes) {
        *slope = constraint.law.bound_slope(&ws.convex.predicted.v_c[row..row + constraint.rows()]);
        row += constraint.rows();
    }
}

impl Workspace {
    /// Sets `dual` to the impulses of the linear model at `v_c`.
    fn set_coupled_dual(&mut self, constraints: &[Constraint]) {
        let Workspace { convex: ConvexWorkspace { predicted, current, dual, .. }, slopes, .. } = self;
        predicted.linear_impulse(constraints, &current.v_c, dual);
        let (mut row, mut change) = (0, 0.0);
        for (constraint, slope) in constraints.iter().zip(slopes) {
            if constraint.law.is_contact() {
                change = dual[row + 2] - predicted.gamma[row + 2];
            }
            let rows = row..row + constraint.rows();
            dual[rows.clone()].iter_mut().zip(slope).for_each(|(dual, b)| *dual += *b * change);
            row = rows.end;
        }
    }
}
