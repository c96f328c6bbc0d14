//! The linear algebra of a problem in all velocities.
//!
//! A step solves
//!
//! ```text
//! A (v − v*) = Jᵀλ        λ = γ̄ − Ḡ (J v − v̄_c)        v̄_c = z + w γ̄(z)
//! ```
//!
//! `Ḡ = G + b eᵀ` at `v̄_c`: `G` is the Hessian where the bounds of friction are given, `b eᵀ` makes them follow the normal velocity.
//! `A + JᵀḠJ` is not symmetric, and is factored as it is ([`Structure::factor_unsymmetric`]): steps that are solved to 1e-2 or 1e-3 only, as
//! by GMRES, do not converge.

use super::block_rows::BlockRows;
use super::{Backend, OF_VELOCITIES, STALL};
use crate::block::{narrow, widened};
use crate::constraint::rows_of;
use crate::convex::{ConvexWorkspace, Iteration};
use crate::law::Bounds;
use crate::vector::axpy;
use crate::{Constraint, Structure};

/// A problem in all velocities, a block for every constraint.
pub(crate) struct SparseA<'a, 'b, S> {
    pub iteration: &'a mut Iteration<'b, S>,
    pub constraints: &'a [Constraint],
    pub ws: &'a mut ConvexWorkspace,
    /// b, one per constraint.
    pub slopes: &'a mut [[f64; 3]],
    /// The residual at the iterate, where it is known.
    pub residual: Option<f64>,
}

/// Blocks of constraints, with what they meet if they do not push.
pub(crate) fn blocks(constraints: &[Constraint], v_c_star: &[f64], free: &[f64], out: &mut Vec<BlockRows<f64>>) {
    out.clear();
    let mut contact = 0;
    for (k, (constraint, rows)) in constraints.iter().zip(rows_of(constraints)).enumerate() {
        if constraint.law.is_contact() {
            contact = k;
        }
        out.push(BlockRows {
            law: constraint.law,
            contacts: [contact; 3],
            w: [constraint.delassus(); 3],
            v_free: widened(&v_c_star[rows.clone()]),
            z: widened(&free[rows]),
            ..BlockRows::none()
        });
    }
}

impl<S: Structure> SparseA<'_, '_, S> {
    /// The linear model at the rows' z: γ̄, v̄_c, G and b. Velocities of softened rows are shifted; those here are not.
    fn linearise(&mut self, rows: &[BlockRows<f64>], bounds: Bounds) {
        let Self { ws: ConvexWorkspace { predicted, v_c_star, .. }, slopes, .. } = self;
        let outputs = predicted.hessian.iter_mut().zip(slopes.iter_mut()).zip(rows_of(self.constraints));
        for (block, ((hessian, slope), own_rows)) in rows.iter().zip(outputs) {
            let own = block.contacts.map(|contact| rows[contact].lambda[2]);
            let v_c = [0, 1, 2].map(|row| block.z[row] + block.own[row] * block.lambda[row]);
            let response = block.respond_at(v_c, bounds, own);
            *hessian = response.hessian();
            *slope = if bounds == Bounds::Own { response.slope } else { [0.0; 3] };
            let (v_free, free) = (block.v_free, widened(&v_c_star[own_rows.clone()]));
            let v_c = [0, 1, 2].map(|row| v_c[row] - (v_free[row] - free[row]));
            narrow(v_c, &mut predicted.v_c[own_rows.clone()]);
            narrow(response.impulse, &mut predicted.gamma[own_rows]);
        }
    }

    /// Sets `dual` to the impulses of the linear model at `v_c`.
    fn set_dual(&mut self) {
        let ConvexWorkspace { predicted, current, dual, .. } = &mut *self.ws;
        predicted.linear_impulse(self.constraints, &current.v_c, dual);
        let mut change = 0.0;
        for ((constraint, slope), rows) in self.constraints.iter().zip(&*self.slopes).zip(rows_of(self.constraints)) {
            if constraint.law.is_contact() {
                change = dual[rows.start + 2] - predicted.gamma[rows.start + 2];
            }
            if *slope != [0.0; 3] {
                dual[rows].iter_mut().zip(slope).for_each(|(dual, b)| *dual += *b * change);
            }
        }
    }

    /// `v ← v + share Δv`
    fn advance(&mut self, share: f64) {
        let ConvexWorkspace { current, dv, dv_c, dp, momentum, .. } = &mut *self.ws;
        axpy(share, dv, self.iteration.v);
        axpy(share, dp, momentum);
        axpy(share, dv_c, &mut current.v_c);
        self.residual = None;
    }

    /// Evaluates the laws at the iterate, and returns the residual; not a number where something is not finite.
    fn find_residual(&mut self, rows: &[BlockRows<f64>], bounds: Bounds) -> f64 {
        let ConvexWorkspace { current, .. } = &mut *self.ws;
        let mut normal = 0.0;
        for (block, own) in rows.iter().zip(rows_of(self.constraints)) {
            let impulse = block.respond_at(widened(&current.v_c[own.clone()]), bounds, [normal; 3]).impulse;
            if block.law.is_contact() {
                normal = impulse[2];
            }
            narrow(impulse, &mut current.gamma[own]);
        }
        // As a trial of a line search would, it takes a pass over all rows.
        self.iteration.line_search_evaluations += 1;
        let residual = self.iteration.residual(self.ws).map_or(f64::NAN, |optimality| optimality.residual);
        self.residual = Some(residual);
        residual
    }

    /// Takes velocities, and impulses, to the rows.
    fn write(&self, rows: &mut [BlockRows<f64>], impulses: impl Fn(&ConvexWorkspace) -> &[f64]) {
        let (impulses, v_c, v_c_star) = (impulses(self.ws), &self.ws.current.v_c, &self.ws.v_c_star);
        for (block, own) in rows.iter_mut().zip(rows_of(self.constraints)) {
            let (v, v_star) = (widened(&v_c[own.clone()]), widened(&v_c_star[own.clone()]));
            block.v_c = [0, 1, 2].map(|row| v[row] + (block.v_free[row] - v_star[row]));
            block.lambda = widened(&impulses[own]);
        }
    }
}

impl<S: Structure> Backend<f64> for SparseA<'_, '_, S> {
    const KNOWS_EXCESS: bool = false;
    const SCALING: f64 = 1.0;
    const GROWTH: f64 = 1.0;

    fn respond(&mut self, _: &mut [BlockRows<f64>], _: u32) {}

    fn step(&mut self, rows: &mut [BlockRows<f64>], bounds: Bounds) -> bool {
        if self.iteration.is_budget_spent() || self.residual.is_some_and(f64::is_nan) {
            return false;
        }
        self.linearise(rows, bounds);
        // A pivot may be zero, or so small that numbers overflow.
        let hessian = &self.ws.predicted.hessian;
        let factored = match bounds {
            Bounds::Given => self.iteration.factor(self.constraints, hessian),
            Bounds::Own => self.iteration.factor_unsymmetric(self.constraints, hessian, self.slopes),
        };
        if factored.is_err() {
            return false;
        }
        self.set_dual();
        self.ws.impulse.fill(0.0);
        self.iteration.structure.add_transpose(&self.ws.dual, &mut self.ws.impulse);
        let ConvexWorkspace { difference, impulse, momentum, dv, dp, dv_c, .. } = &mut *self.ws;
        for ((out, impulse), momentum) in difference.iter_mut().zip(&*impulse).zip(&*momentum) {
            *out = impulse - momentum;
        }
        match bounds {
            Bounds::Given => self.iteration.structure.solve(difference, dv),
            Bounds::Own => self.iteration.structure.solve_unsymmetric(difference, dv),
        }
        self.iteration.structure.products(dv, dp, dv_c);
        self.advance(1.0);
        self.set_dual();
        self.write(rows, |ws| &ws.dual);
        true
    }

    /// Steps with the last factor while the residual falls fast.
    fn polish(&mut self, rows: &mut [BlockRows<f64>], bounds: Bounds) {
        let mut residual = self.find_residual(rows, bounds);
        if bounds == Bounds::Given {
            return;
        }
        while residual <= OF_VELOCITIES.near_residual && !self.iteration.is_solved {
            let before = residual;
            let ConvexWorkspace { descent, dv, dp, dv_c, .. } = &mut *self.ws;
            self.iteration.structure.solve_unsymmetric(descent, dv);
            self.iteration.structure.products(dv, dp, dv_c);
            self.advance(1.0);
            residual = self.find_residual(rows, bounds);
            if residual > before {
                self.advance(-1.0);
                self.find_residual(rows, bounds);
                return;
            }
            self.write(rows, |ws| &ws.current.gamma);
            if residual > STALL.reduction * before {
                return;
            }
        }
    }

    fn imbalance(&mut self, rows: &[BlockRows<f64>], bounds: Bounds) -> (f64, f64) {
        let residual = match self.residual {
            Some(residual) => residual,
            None => self.find_residual(rows, bounds),
        };
        (residual * residual, 1.0)
    }
}
