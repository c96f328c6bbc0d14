//! The moves of the iteration.

use crate::law::LawKind;
use crate::vector::{axpy, dot, scaled_norm, sum};
use crate::{Block, Constraint, Error, FactorError, Options, Structure};

use super::line_search::Line;
use super::workspace::ConvexWorkspace;
use super::{Optimality, PARAMETERS};

/// What changes along the iteration, but for the workspace: the iterate `v`, of which the workspace holds `A (v − v*)` and the
/// constraints at `J v`.
pub(crate) struct Iteration<'a, S> {
    pub structure: &'a mut S,
    pub v_star: &'a [f64],
    pub v: &'a mut [f64],
    options: &'a Options,
    /// Factorisations so far.
    pub iterations: usize,
    /// Factorisations after which no search for Coulomb's law begins or goes on.
    pub budget: usize,
    /// Trials of line searches so far.
    pub line_search_evaluations: usize,
    /// Whether the last [`residual`](Self::residual) met the tolerance.
    pub is_solved: bool,
    /// Whether the last factor led to a whole step.
    is_reusable: bool,
    /// Whether the workspace has `A v*`.
    has_a_v_star: bool,
    /// Whether there are friction cones: surfaces that are bent.
    has_cones: bool,
    /// Where to go back to, while the cost is yet to fall below what it is there.
    pub retreat: Option<Retreat>,
}

/// A point of the line search that was passed by: the whole step was taken although the cost is greater there.
pub(crate) struct Retreat {
    cost: f64,
    /// Steps within which the cost must fall below it.
    remaining: usize,
}

impl<'a, S: Structure> Iteration<'a, S> {
    pub fn new(
        structure: &'a mut S,
        constraints: &[Constraint],
        v_star: &'a [f64],
        v: &'a mut [f64],
        options: &'a Options,
    ) -> Self {
        Self {
            structure,
            v_star,
            v,
            options,
            iterations: 0,
            budget: options.factorization_budget.unwrap_or(usize::MAX),
            line_search_evaluations: 0,
            is_solved: false,
            is_reusable: false,
            has_a_v_star: false,
            has_cones: constraints.iter().any(|c| c.law.kind == LawKind::Cone && c.law.friction[0] > 0.0),
            retreat: None,
        }
    }

    /// Whether the search for Coulomb's law has to end with the best it has found.
    pub fn is_budget_spent(&self) -> bool {
        self.iterations >= self.budget
    }

    /// `ℓ_p` at the iterate.
    pub fn cost(&self, ws: &ConvexWorkspace) -> f64 {
        self.kinetic_cost(ws) + ws.current.cost
    }

    /// `½ ‖v − v*‖²_A`
    fn kinetic_cost(&self, ws: &ConvexWorkspace) -> f64 {
        0.5 * sum(self.v, self.v_star, &ws.momentum, |v, v_star, p| (v - v_star) * p)
    }

    /// Sets the gradient at the iterate; returns the relative residual and the cost.
    pub fn residual(&mut self, ws: &mut ConvexWorkspace) -> Result<Optimality, Error> {
        let (gradient, mut momentum) = self.gradient(ws);
        // Where constraints rest, their impulses alone tell that this is the solution.
        if gradient > self.options.tolerance * momentum {
            let of_bodies = self.momentum_norm(ws);
            if !of_bodies.is_finite() {
                return Err(Error::NotFinite { quantity: "A v*" });
            }
            momentum = momentum.max(of_bodies);
        }
        let cost = self.cost(ws);
        if !(gradient.is_finite() && cost.is_finite()) {
            return Err(Error::NotFinite { quantity: "the gradient of the cost" });
        }
        self.is_solved = gradient <= self.options.absolute_tolerance + self.options.tolerance * momentum;
        // At rest with nothing pushing yet there is no momentum to measure by: solved only if no force acts either.
        let residual = match momentum > 0.0 {
            // Solved by the absolute tolerance: where nothing acts both are round-off, and their ratio says nothing.
            true if self.is_solved && gradient > self.options.tolerance * momentum => {
                gradient / (momentum + self.options.absolute_tolerance / self.options.tolerance)
            }
            true => gradient / momentum,
            false if self.is_solved => 0.0,
            false => f64::INFINITY,
        };
        Ok(Optimality { residual, cost })
    }

    /// `‖D A v‖`
    fn momentum_norm(&mut self, ws: &mut ConvexWorkspace) -> f64 {
        if !self.has_a_v_star {
            self.structure.momentum(self.v_star, &mut ws.a_v_star);
            self.has_a_v_star = true;
        }
        sum(&ws.scale, &ws.a_v_star, &ws.momentum, |d, a_v_star, p| (d * (a_v_star + p)) * (d * (a_v_star + p))).sqrt()
    }

    /// Sets `Jᵀγ` and `−∇ℓ_p`; returns `‖D∇ℓ_p‖` and `‖D Jᵀγ‖`.
    fn gradient(&mut self, ws: &mut ConvexWorkspace) -> (f64, f64) {
        ws.impulse.fill(0.0);
        self.structure.add_transpose(&ws.current.gamma, &mut ws.impulse);
        for ((descent, impulse), momentum) in ws.descent.iter_mut().zip(&ws.impulse).zip(&ws.momentum) {
            *descent = impulse - momentum;
        }
        (scaled_norm(&ws.scale, &ws.descent), scaled_norm(&ws.scale, &ws.impulse))
    }

    pub fn factor(&mut self, constraints: &[Constraint], hessian: &[Block]) -> Result<(), Error> {
        self.check_interrupt()?;
        self.iterations += 1;
        let factored = self.structure.factor(constraints, hessian);
        factored.map_err(|source| self.factorization_error(source))
    }

    /// Factors `A + Jᵀ(G + b eᵀ)J`.
    pub fn factor_unsymmetric(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), Error> {
        self.check_interrupt()?;
        self.iterations += 1;
        self.is_reusable = false;
        let factored = self.structure.factor_unsymmetric(constraints, hessian, slopes);
        factored.map_err(|source| self.factorization_error(source))
    }

    /// An error if the structure was told to stop.
    pub fn check_interrupt(&self) -> Result<(), Error> {
        if self.structure.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Why the last factorisation failed.
    fn factorization_error(&self, source: FactorError) -> Error {
        let iteration = self.iterations - 1;
        self.check_interrupt().err().unwrap_or(Error::Factorization { iteration, source })
    }

    /// `v ← v + α Δv` with `Δv = −H⁻¹∇ℓ_p` from the workspace's gradient, and `α` by line search. With `reuse`, `H` is that of the
    /// last step if that was a whole one. Returns the decrease of the cost, predicted or achieved, whichever is greater.
    ///
    /// Where friction slides on stiff contacts the way of least cost is bent, and a straight line soon leaves it; the step after a
    /// whole one would be back on it, far ahead (Maratos' effect). So the whole step is taken even if the cost is greater there,
    /// and the point that the line search found is kept. If three steps later the cost is not below what it was there, the
    /// iteration goes back to it: the least cost that it may go back to falls from retreat to retreat (the watchdog of
    /// Chamberlain, Powell, Lemaréchal and Pedersen, 1982).
    pub fn newton_step(
        &mut self,
        constraints: &[Constraint],
        reuse: bool,
        ws: &mut ConvexWorkspace,
    ) -> Result<f64, Error> {
        let kinetic = self.kinetic_cost(ws);
        let reuse = reuse && self.is_reusable;
        if !reuse {
            ws.set_hessian(constraints);
            self.factor(constraints, &ws.hessian)?;
        }
        self.structure.solve(&ws.descent, &mut ws.dv);
        self.structure.products(&ws.dv, &mut ws.dp, &mut ws.dv_c);
        ws.set_dual(constraints);
        let mut line = Line {
            constraints,
            current: &ws.current,
            trial: &mut ws.trial,
            dv_c: &ws.dv_c,
            kinetic,
            slope: -dot(&ws.descent, &ws.dv),
            dv_p: dot(&ws.dv, &ws.momentum),
            dv_dp: dot(&ws.dv, &ws.dp),
            evaluations: 0,
        };
        if !line.slope.is_finite() {
            return Err(Error::NotFinite { quantity: "the Newton direction" });
        }
        let alpha = line.search();
        self.line_search_evaluations += line.evaluations;
        self.is_reusable = alpha > PARAMETERS.whole_step;
        let reached = line.kinetic_at(alpha) + line.trial.cost;
        let decrease = kinetic + ws.current.cost - reached;
        let predicted = -0.5 * line.slope;
        let mut step = alpha;
        if self.is_failing(reached) {
            self.go_back(constraints, ws);
            return Ok(predicted.max(decrease));
        }
        if alpha < 1.0 && self.has_cones && !reuse && self.retreat.is_none() {
            line.evaluate(1.0);
            step = 1.0;
            self.retreat = Some(Retreat { cost: reached, remaining: PARAMETERS.watchdog_steps });
            ws.keep(self.v, alpha);
        }
        axpy(step, &ws.dv, self.v);
        axpy(step, &ws.dp, &mut ws.momentum);
        std::mem::swap(&mut ws.current, &mut ws.trial);
        Ok(predicted.max(decrease))
    }

    /// Whether the steps since the retreat have led nowhere; `reached` is the cost that the present one can reach. If that is
    /// below the cost there, the retreat is given up.
    fn is_failing(&mut self, reached: f64) -> bool {
        let Some(retreat) = &mut self.retreat else { return false };
        retreat.remaining -= 1;
        if reached <= retreat.cost {
            self.retreat = None;
        }
        self.retreat.as_ref().is_some_and(|retreat| retreat.remaining == 0)
    }

    /// Goes back to the point that was kept.
    pub fn go_back(&mut self, constraints: &[Constraint], ws: &mut ConvexWorkspace) {
        self.retreat = None;
        self.is_reusable = false;
        let kept = &ws.kept;
        self.v.copy_from_slice(&kept.v);
        ws.momentum.copy_from_slice(&kept.momentum);
        ws.dual.copy_from_slice(&kept.dual);
        ws.current.v_c.copy_from_slice(&kept.v_c);
        ws.current.update(constraints);
    }
}
