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
//! impacts of many bodies, it cycles, with line searches as well. Friction iterations ([`super::friction_iterations`]) come near enough,
//! or where they fail path continuation ([`super::continuation`]).
//!
//! Source: Alart, Curnier, *A Mixed Formulation for Frictional Contact Problems Prone to Newton Like Solution Methods*, Computer
//! Methods in Applied Mechanics and Engineering 92, 1991.

use crate::convex::{ConvexWorkspace, Iteration, set_free_velocities};
use crate::parameters::{SemismoothParameters, SolverParameters};
use crate::vector::axpy;
use crate::{Constraint, Error, Law, Options, Structure, Workspace};

use super::friction_residual::meets_coulomb;

const PARAMETERS: SemismoothParameters = SolverParameters::STANDARD.semismooth;

fn lagged(constraints: &[Constraint]) -> impl Iterator<Item = &Constraint> {
    constraints.iter().filter(|c| matches!(c.law, Law::BoundedFriction(_)))
}

/// Whether a search is possible: there are contacts under Coulomb's law, and all know their share of the Delassus operator.
pub(super) fn can_solve_semismooth(constraints: &[Constraint]) -> bool {
    let mut contacts = lagged(constraints).peekable();
    contacts.peek().is_some() && contacts.all(Constraint::can_predict)
}

/// Whether there are so many contacts that a search before and between passes is worth its steps.
pub(super) fn are_many(constraints: &[Constraint]) -> bool {
    lagged(constraints).count() >= PARAMETERS.min_contacts
}

impl<S: Structure> Iteration<'_, S> {
    /// Looks for velocities that meet Coulomb's law, from the free velocities that are remembered. Where they do, returns the residual
    /// with the bounds of friction that are the contacts' own; else all is as it was.
    pub fn solve_semismooth_from_warm_start(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Option<f64>, Error> {
        self.keep(constraints, ws);
        let residual = self.own_residual(constraints, ws)?;
        if self.is_solved {
            return Ok(Some(residual));
        }
        linearise_alone(constraints, ws);
        self.settle(constraints, options, ws)
    }

    /// [`solve_semismooth_from_warm_start`](Self::solve_semismooth_from_warm_start), but from the iterate, and not where that is far from Coulomb's law.
    pub fn solve_semismooth_from_iterate(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Option<f64>, Error> {
        self.keep(constraints, ws);
        let is_reusable = self.is_reusable;
        if self.own_residual(constraints, ws)? > PARAMETERS.near_residual {
            self.restore(constraints, ws)?;
            self.is_reusable = is_reusable;
            return Ok(None);
        }
        ws.convex.set_free(constraints);
        linearise_alone(constraints, ws);
        self.settle(constraints, options, ws)
    }

    fn settle(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Option<f64>, Error> {
        // A pivot may be zero, or so small that numbers overflow. Passes go on then.
        if let Ok(Some(residual)) = self.search(constraints, options, ws) {
            return Ok(Some(residual));
        }
        self.restore(constraints, ws)?;
        Ok(None)
    }

    /// Goes from step to step while that leads nearer.
    pub(super) fn search(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Option<f64>, Error> {
        let (mut least, mut patience) = (f64::INFINITY, PARAMETERS.stall_limit);
        for step in 0..PARAMETERS.max_steps {
            if self.is_budget_spent() {
                break;
            }
            self.factor_unsymmetric(constraints, ws)?;
            let mut residual = self.semismooth_step(constraints, ws)?;
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
                return Ok(Some(residual));
            }
            if patience == 0 || step > 0 && residual > PARAMETERS.divergence_residual {
                break;
            }
            linearise_alone(constraints, ws);
        }
        Ok(None)
    }

    /// Factors `A + JᵀḠJ`.
    pub(super) fn factor_unsymmetric(&mut self, constraints: &[Constraint], ws: &Workspace) -> Result<(), Error> {
        self.check_interrupt()?;
        self.iterations += 1;
        self.searching += 1;
        self.is_reusable = false;
        let factored = self.structure.factor_unsymmetric(constraints, &ws.convex.predicted.hessian, &ws.slopes);
        factored.map_err(|source| self.factorization_error(source))
    }

    /// Moves to where the linear model balances, and sets `z` there. Returns the residual of the contacts themselves.
    fn semismooth_step(&mut self, constraints: &mut [Constraint], ws: &mut Workspace) -> Result<f64, Error> {
        self.balance(constraints, ws);
        self.own_residual(constraints, ws)
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

/// Bounds friction by the normal impulses of contacts alone with `free` and `w`.
pub(super) fn set_own_bounds(constraints: &mut [Constraint], free: &[f64], w: impl Fn(&Constraint) -> f64) {
    let (mut row, mut normal) = (0, 0.0);
    for constraint in constraints {
        let w = w(constraint);
        match &constraint.law {
            Law::BoundedFriction(contact) => normal = contact.normal_impulse_alone(w, free[row + 2]),
            // The bounds of what belongs to friction cones are left to passes.
            Law::Cone(_) => normal = f64::NAN,
            _ => {}
        }
        if !normal.is_nan() {
            constraint.law.set_bound(normal);
        }
        row += constraint.rows();
    }
}

/// Sets the bounds, `γ̄`, `v̄_c`, `G` and `b` of every constraint alone with its free velocity, `w` being its share of the Delassus
/// operator.
pub(super) fn linearise_alone(constraints: &mut [Constraint], ws: &mut Workspace) {
    set_own_bounds(constraints, &ws.convex.free, Constraint::delassus);
    set_model(constraints, ws);
}

/// Sets `γ̄`, `v̄_c`, `G` and `b` with the bounds that are set.
pub(super) fn set_model(constraints: &[Constraint], ws: &mut Workspace) {
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
        add_friction(constraints, slopes, dual, |row, normal| normal - predicted.gamma[row]);
    }

    /// Sets `dual` to the change of these where velocities change by `dv_c`: `−Ḡ dv_c`.
    pub(super) fn set_impulse_change(&mut self, constraints: &[Constraint]) {
        let Workspace { convex: ConvexWorkspace { predicted, dual, dv_c, .. }, slopes, .. } = self;
        let mut row = 0;
        for (constraint, block) in constraints.iter().zip(&predicted.hessian) {
            let rows = row..row + constraint.rows();
            let mut ahead = [0.0; 3];
            ahead.iter_mut().zip(&dv_c[rows.clone()]).for_each(|(a, dv)| *a = -dv);
            dual[rows.clone()].iter_mut().zip(block.apply(ahead)).for_each(|(dual, g)| *dual = g);
            row = rows.end;
        }
        add_friction(constraints, slopes, dual, |_, normal| normal);
    }
}

/// Lets friction follow the normal impulses of the last lagged contacts: `change` of them, from their rows and what `dual` has there.
fn add_friction(constraints: &[Constraint], slopes: &[[f64; 3]], dual: &mut [f64], change: impl Fn(usize, f64) -> f64) {
    let (mut row, mut normal) = (0, 0.0);
    for (constraint, slope) in constraints.iter().zip(slopes) {
        match &constraint.law {
            Law::BoundedFriction(_) => normal = change(row + 2, dual[row + 2]),
            Law::Cone(_) => normal = 0.0,
            _ => {}
        }
        let rows = row..row + constraint.rows();
        dual[rows.clone()].iter_mut().zip(slope).for_each(|(dual, b)| *dual += *b * normal);
        row = rows.end;
    }
}
