//! Coulomb's law by continuation, where neither passes nor Newton's method found it.
//!
//! The problem in which friction is bounded by given normal impulses `b⁰` is convex, and solved. Bounds between these and the
//! contacts' own normal impulses `n`,
//!
//! ```text
//! b(t) = b⁰ + t (n − b⁰)        0 ≤ t ≤ 1
//! ```
//!
//! lead from there to Coulomb's law. Friction takes energy, and a contact of stiffness `1/R_n` gives no more than `v̂_n²/4R_n`, so that
//! solutions for all `t` are within one ball. At `t = 0` there is just one, so the degree of the equations is 1, and stays so: there
//! is a solution for every `t`, and a path of them from one end to the other.
//!
//! It is followed in the free velocities `z` and `t` by predictions along its tangent and corrections across it. Both are solves with
//! the factor of the semismooth Newton method ([`super::semismooth`]): with `z₀` where the linear model balances at the given `t`, and
//! `dz/dt` there,
//!
//! ```text
//! z = z₀ + Δt dz/dt        ⟨ż, z − z_last⟩ + ṫ (t − t_last) = length        (ż, ṫ) the unit tangent
//! ```
//!
//! so that the path may turn back in `t`, as it does where contacts jam. It has branch points, where contacts begin to slide, stick or part:
//!
//! * The orientation of a path does not change along it, and it starts towards greater `t` with `det K > 0`, `K` the factored matrix.
//!   So `ṫ` has the sign of `det K`, where the angle to the last tangent would mislead.
//! * Where corrections alternate between both sides of a branch point, they are damped. They do so where a contact is about to slide.
//! * Where no step is short enough, the path has turned: its direction is that beyond the branch point.
//!
//! Where that fails too, a new path begins from the bounds `b(t)`:
//!
//! * The convex problem with these bounds is solved first: where corrections alternated, the last one is no point of a path.
//! * The bounds are perturbed a little first, each contact's by another share: the path from `b(t)` itself would end where the last one did.
//!
//! Source: Allgower, Georg, *Introduction to Numerical Continuation Methods*, SIAM, 2003, chapters 2 and 6.

use support::SplitMix64;

use crate::convex::{ConvexWorkspace, Iteration, set_free_velocities};
use crate::parameters::{ContinuationParameters, SolverParameters};
use crate::vector::axpy;
use crate::{Constraint, Error, Law, Options, Structure, Workspace};

use super::path::inner;
use super::semismooth::{set_model, set_own_bounds};

const PARAMETERS: ContinuationParameters = SolverParameters::STANDARD.continuation;

/// What is left of a point of the path apart from `z` and `ż`: `t` and `ṫ`.
#[derive(Clone, Copy)]
struct PathPoint {
    t: f64,
    speed: f64,
}

/// Where a path ends.
enum End {
    /// At Coulomb's law, met up to this residual.
    Law(f64),
    /// At this `t`, where it can be followed no further.
    Turn(f64),
}

impl<S: Structure> Iteration<'_, S> {
    /// Follows paths from the iterate, which solves the problem with the bounds as they are, to Coulomb's law. Returns the residual
    /// there; where it is not reached, all is as it was.
    pub fn follow(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Option<f64>, Error> {
        self.keep(constraints, ws);
        ws.convex.set_free(constraints);
        let last = self.budget.min(self.iterations + PARAMETERS.max_factorizations);
        let (mut first_step, mut random) = (1.0, SplitMix64(0));
        loop {
            ws.path.set_start(constraints);
            let turn = match self.follow_one(constraints, first_step, last, options, ws) {
                Ok(End::Law(residual)) => return Ok(Some(residual)),
                Ok(End::Turn(t)) => t,
                // A pivot may be zero, or so small that numbers overflow: what is known is where the path began.
                Err(_) => {
                    ws.path.set_bounds(constraints);
                    ws.convex.free.copy_from_slice(&ws.convex.v_c_star);
                    0.0
                }
            };
            perturb(constraints, &mut random);
            if self.iterations >= last || self.minimise(constraints, &mut ws.convex).is_err() {
                break;
            }
            first_step = turn.clamp(PARAMETERS.min_restart_step, PARAMETERS.max_restart_step);
            ws.convex.set_free(constraints);
        }
        self.restore(constraints, ws)?;
        Ok(None)
    }

    /// Follows the path from the bounds that are set, at first by `first_step` in `t`. Where it can be followed no further, the bounds
    /// are what they are there.
    fn follow_one(
        &mut self,
        constraints: &mut [Constraint],
        first_step: f64,
        last: usize,
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<End, Error> {
        let mut here = PathPoint { t: 0.0, speed: 1.0 };
        self.correct(constraints, &mut here, None, ws)?;
        ws.path.start_tangent(constraints, &ws.convex.free);
        here.speed = ws.path.turn_tangent(constraints, self.structure.determinant_sign());
        let mut length = first_step / here.speed.abs();
        let (mut branch_points, mut turning_points, mut has_failed) = (0, 0, false);
        while self.iterations < last && length.is_finite() {
            if length < PARAMETERS.min_step {
                branch_points += 1;
                // A pivot may be zero there.
                let Ok(reverses) =
                    self.pass_branch_point(constraints, &mut here, length / PARAMETERS.step_shrinkage, ws)
                else {
                    break;
                };
                turning_points += usize::from(reverses);
                if branch_points > PARAMETERS.max_branch_points || turning_points > PARAMETERS.max_turning_points {
                    break;
                }
                length = PARAMETERS.step_after_branch_point;
            }
            let remaining = (1.0 - here.t) / here.speed;
            let is_last = here.speed > 0.0 && length >= remaining;
            if is_last {
                length = remaining;
                if let Some(residual) = self.end(constraints, length, options, ws) {
                    return Ok(End::Law(residual));
                }
            }
            let next = if is_last && length > PARAMETERS.near_end {
                None
            } else {
                self.advance_on_path(constraints, here, length, ws)?
            };
            let Some((there, corrections)) = next else {
                length *= PARAMETERS.step_shrinkage;
                has_failed = true;
                continue;
            };
            if corrections <= PARAMETERS.few_corrections && !has_failed {
                length *= PARAMETERS.step_growth;
            }
            (here, branch_points, has_failed) = (there, 0, false);
        }
        ws.convex.free.copy_from_slice(&ws.path.free);
        linearise_on_path(constraints, here.t, ws);
        Ok(End::Turn(here.t))
    }

    /// Looks for the end, `length` ahead; returns the residual there if it is found.
    fn end(
        &mut self,
        constraints: &mut [Constraint],
        length: f64,
        options: &Options,
        ws: &mut Workspace,
    ) -> Option<f64> {
        // A pivot may be zero: nothing is found then.
        self.predict_on_path(length, ws);
        linearise_on_path(constraints, 1.0, ws);
        if let Ok(Some(residual)) = self.search(constraints, options, ws) {
            return Some(residual);
        }
        if length > PARAMETERS.at_end {
            return None;
        }
        self.predict_on_path(length, ws);
        self.correct(constraints, &mut PathPoint { t: 1.0, speed: 1.0 }, None, ws).ok()??;
        linearise_on_path(constraints, 1.0, ws);
        self.search(constraints, options, ws).ok()?
    }

    /// Turns the tangent into that `length` ahead, beyond a corner; returns whether the path goes back from there.
    fn pass_branch_point(
        &mut self,
        constraints: &mut [Constraint],
        here: &mut PathPoint,
        length: f64,
        ws: &mut Workspace,
    ) -> Result<bool, Error> {
        self.predict_on_path(length, ws);
        let t = (here.t + length * here.speed).clamp(0.0, 1.0);
        linearise_on_path(constraints, t, ws);
        self.factor_unsymmetric(constraints, ws)?;
        self.set_derivative(constraints, ws);
        let sign = self.structure.determinant_sign();
        let reverses = ws.path.onwards(constraints, here.speed) * sign < 0.0;
        here.speed = ws.path.turn_tangent(constraints, sign);
        if reverses {
            // Behind the corner, the way back would be the way here.
            ws.path.free.copy_from_slice(&ws.convex.free);
            here.t = t;
        }
        Ok(reverses)
    }

    /// Goes on by `length` from the last point; returns the next and how many corrections it took, or none if they do not converge
    /// or lead beyond the path's ends or to another part of it.
    fn advance_on_path(
        &mut self,
        constraints: &mut [Constraint],
        here: PathPoint,
        length: f64,
        ws: &mut Workspace,
    ) -> Result<Option<(PathPoint, usize)>, Error> {
        self.predict_on_path(length, ws);
        let mut there = PathPoint { t: (here.t + length * here.speed).clamp(0.0, 1.0), speed: here.speed };
        let Some(corrections) = self.correct(constraints, &mut there, Some((here, length)), ws)? else {
            return Ok(None);
        };
        if !(0.0 < there.t && there.t < 1.0) {
            return Ok(None);
        }
        let sign = self.structure.determinant_sign();
        if length > PARAMETERS.min_reversing_step && ws.path.onwards(constraints, here.speed) * sign < 0.0 {
            return Ok(None);
        }
        ws.path.free.copy_from_slice(&ws.convex.free);
        there.speed = ws.path.turn_tangent(constraints, sign);
        Ok(Some((there, corrections)))
    }

    /// Sets `z` by `length` ahead along the tangent.
    fn predict_on_path(&mut self, length: f64, ws: &mut Workspace) {
        ws.convex.free.copy_from_slice(&ws.path.free);
        axpy(length, &ws.path.tangent, &mut ws.convex.free);
        // From wherever it is, the next linear model leads to the same velocities. What round-off, or worse, left of those far away is
        // lost by this.
        self.v.copy_from_slice(self.v_star);
        ws.convex.momentum.fill(0.0);
        ws.convex.current.v_c.copy_from_slice(&ws.convex.v_c_star);
    }

    /// Corrects `z` at the point's `t`, or both at a length from another; returns how many corrections it took, or none if they do not
    /// converge. The last factor and derivative are those of the point, or close to it.
    fn correct(
        &mut self,
        constraints: &mut [Constraint],
        point: &mut PathPoint,
        from: Option<(PathPoint, f64)>,
        ws: &mut Workspace,
    ) -> Result<Option<usize>, Error> {
        let (mut first_change, mut last_change) = (f64::INFINITY, f64::INFINITY);
        for correction in 1..=PARAMETERS.max_corrections {
            if self.is_budget_spent() {
                break;
            }
            let t_before = point.t;
            linearise_on_path(constraints, point.t, ws);
            self.factor_unsymmetric(constraints, ws)?;
            ws.path.before.copy_from_slice(&ws.convex.free);
            self.balance(constraints, ws);
            self.set_derivative(constraints, ws);
            if let Some((here, length)) = from {
                let Workspace { path, convex: ConvexWorkspace { free, .. }, .. } = &mut *ws;
                let along = |x: &[f64]| inner(constraints, &path.tangent, x) / path.unit;
                let ahead = along(free) - along(&path.free) + here.speed * (point.t - here.t);
                let change = (length - ahead) / (along(&path.derivative) + here.speed);
                axpy(change, &path.derivative, free);
                point.t += change;
            }
            let change = ws.path.relative_change(constraints, &ws.convex.free);
            if change < PARAMETERS.correction_tolerance {
                return Ok(Some(correction));
            }
            if correction == 1 {
                first_change = change;
            }
            if !change.is_finite()
                || correction >= PARAMETERS.free_corrections && change > PARAMETERS.late_contraction * first_change
            {
                break;
            }
            if change >= PARAMETERS.contraction_limit * last_change {
                let Workspace { path, convex: ConvexWorkspace { free, .. }, .. } = &mut *ws;
                axpy(PARAMETERS.damping, &path.before, free);
                point.t += PARAMETERS.damping * (t_before - point.t);
            }
            last_change = change;
        }
        Ok(None)
    }

    /// Sets `dz/dt` with the last factor.
    fn set_derivative(&mut self, constraints: &[Constraint], ws: &mut Workspace) {
        ws.convex.impulse.fill(0.0);
        self.structure.add_transpose(&ws.path.push, &mut ws.convex.impulse);
        self.structure.solve_unsymmetric(&ws.convex.impulse, &mut ws.convex.dv);
        self.structure.row_velocities(&ws.convex.dv, &mut ws.convex.dv_c);
        ws.set_impulse_change(constraints);
        axpy(1.0, &ws.path.push, &mut ws.convex.dual);
        set_free_velocities(constraints, &ws.convex.dv_c, &ws.convex.dual, &mut ws.path.derivative);
    }
}

/// Sets the bounds at `t` for contacts alone with `z`, their linear model there, and how impulses change with `t`.
fn linearise_on_path(constraints: &mut [Constraint], t: f64, ws: &mut Workspace) {
    set_own_bounds(constraints, &ws.convex.free, Constraint::delassus);
    for ((constraint, start), excess) in constraints.iter_mut().zip(&ws.path.start).zip(&mut ws.path.excess) {
        *excess = constraint.law.bound() - start;
        constraint.law.set_bound(start + t * *excess);
    }
    set_model(constraints, ws);
    let mut row = 0;
    for ((constraint, slope), excess) in constraints.iter().zip(&mut ws.slopes).zip(&ws.path.excess) {
        let rows = row..row + constraint.rows();
        for (push, b) in ws.path.push[rows.clone()].iter_mut().zip(&*slope) {
            *push = b * excess;
        }
        slope.iter_mut().for_each(|b| *b *= t);
        row = rows.end;
    }
}

/// Moves the bounds of contacts a little, each by another share.
fn perturb(constraints: &mut [Constraint], random: &mut SplitMix64) {
    for constraint in constraints {
        if let Law::BoundedFriction(contact) = &mut constraint.law {
            contact.set_normal_impulse(contact.normal_impulse() * (1.0 + PARAMETERS.perturbation * random.symmetric()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoundedFrictionContact, Dense};

    /// Two contacts that slide on three degrees of freedom: normal impulses and friction depend on each other.
    fn problem() -> (Dense, Vec<Constraint>, [f64; 3]) {
        let mut dense = Dense::new();
        dense.reset(3);
        dense.a_block_mut(0).copy_from_slice(&[2.0, 0.1, 0.3, 0.1, 1.5, -0.2, 0.3, -0.2, 1.0]);
        dense.push_jacobian(&[0, 1, 2], &[1.0, 0.0, 0.4, 0.0, 0.3, 0.1, 0.0, 1.0, 0.8]).unwrap();
        dense.push_jacobian(&[0, 1, 2], &[1.0, 0.2, -0.5, 0.1, 0.0, 0.6, 0.1, 1.0, -0.7]).unwrap();
        let contact = |mu, r_n, bound| {
            Constraint::from(BoundedFrictionContact::new(mu, 1e-3, r_n, 0.02, bound)).with_delassus(0.6)
        };
        (dense, vec![contact(0.3, 0.05, 0.2), contact(0.4, 0.08, 1.1)], [2.0, -1.0, 0.7])
    }

    /// `z` of the path at `t`, to round-off, and `dz/dt` there.
    fn point(t: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut dense, mut constraints, v_star) = problem();
        let (mut v, options, mut ws) = (v_star, Options::default(), Workspace::new());
        ws.resize(3, 6, 2);
        dense.row_velocities(&v_star, &mut ws.convex.current.v_c);
        ws.convex.v_c_star.copy_from_slice(&ws.convex.current.v_c);
        ws.convex.free.copy_from_slice(&ws.convex.current.v_c);
        dense.scale(&mut ws.convex.scale);
        ws.path.set_start(&constraints);
        let start = constraints.clone();
        let mut iteration = Iteration::new(&mut dense, &start, &v_star, &mut v, &options);
        for _ in 0..8 {
            iteration.correct(&mut constraints, &mut PathPoint { t, speed: 1.0 }, None, &mut ws).unwrap();
        }
        (ws.convex.free, ws.path.derivative)
    }

    #[test]
    fn the_derivative_is_that_of_the_path() {
        let h = 1e-6;
        for t in [0.1, 0.5, 0.9] {
            let ((plus, _), (minus, _), (_, derivative)) = (point(t + h), point(t - h), point(t));
            assert!(derivative.iter().any(|d| d.abs() > 0.01), "{derivative:?}");
            for ((plus, minus), derivative) in plus.iter().zip(&minus).zip(&derivative) {
                let expected = (plus - minus) / (2.0 * h);
                assert!((derivative - expected).abs() < 1e-7, "t = {t}: {derivative} {expected}");
            }
        }
    }
}
