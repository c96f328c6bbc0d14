//! Newton's method for Coulomb's law: velocities and the bounds of friction move together.
//!
//! ```text
//! F(v, n₀) = A (v − v*) − Jᵀγ(v, n₀) = 0        n₀ = γ_n(v)
//!
//! (H + Jᵀ b e J_n) Δv = −F + Jᵀ b (γ_n − n₀)    b = ∂γ/∂n₀,   e = −∂γ_n/∂v_n
//! n₀ ← γ_n − e Δv_n
//! ```
//!
//! The matrix is not symmetric. It is `H` but for what slides, and a factor of `H` makes GMRES find `Δv` in a few products.

use crate::iteration::Iteration;
use crate::vector::axpy;
use crate::{Constraint, Error, Law, Structure, Workspace};

/// GMRES ends when its residual has fallen to this fraction: the equations are linearised anyway.
const ACCURACY: f64 = 0.03;
/// Where fewer contacts push, plain passes cost less: their products are cheap beside those of GMRES.
const MANY: usize = 32;

impl<S: Structure> Iteration<'_, S> {
    /// Whether friction couples enough for a step of this method: many contacts push, and some of them slide. Sets ∂γ/∂n₀.
    pub fn is_coupled(&self, constraints: &[Constraint], ws: &mut Workspace) -> bool {
        let mut pushing = 0;
        for_lagged(constraints, |_, row| pushing += usize::from(ws.current.gamma[row] > 0.0));
        if pushing < MANY {
            return false;
        }
        set_slopes(constraints, &ws.current.v_c, &mut ws.slopes);
        ws.slopes.iter().any(|slope| *slope != [0.0; 3])
    }

    /// Moves `v`, and writes the bounds of lagged contacts that belong to it to `ws.anderson.g`; the constraints are not evaluated
    /// there. `H` is that of the last step if that was a whole one. [`Workspace::kept`] is the point before. To be called after
    /// [`is_coupled`](Self::is_coupled).
    pub fn couple(&mut self, constraints: &[Constraint], ws: &mut Workspace) -> Result<(), Error> {
        ws.keep(self.v, 0.0);
        if !self.is_reusable {
            ws.set_hessian(constraints);
            self.factor(constraints, &ws.hessian)?;
            self.is_reusable = true;
        }
        let Workspace { current, slopes, descent, dv, dv_c, dp, scale, momentum, gmres, anderson, difference, .. } = ws;
        let normals = &current.gamma;
        spread(constraints, slopes, dv_c, |_, row, bound, _| normals[row] - bound);
        self.structure.add_transpose(dv_c, descent);
        self.structure.solve(descent, dv);
        let stiffness = |k: usize| current.hessian[k].0[5];
        self.line_search_evaluations += gmres.solve(dv, scale, ACCURACY, |x, y| {
            self.structure.row_velocities(x, dv_c);
            spread(constraints, slopes, dv_c, |k, _, _, v_n| stiffness(k) * v_n);
            difference.fill(0.0);
            self.structure.add_transpose(dv_c, difference);
            self.structure.solve(difference, y);
            axpy(1.0, x, y);
        });
        self.structure.products(dv, dp, dv_c);
        let mut bounds = anderson.g.iter_mut();
        for_lagged(constraints, |k, row| {
            if let Some(bound) = bounds.next() {
                *bound = (normals[row] - stiffness(k) * dv_c[row]).max(0.0);
            }
        });
        axpy(1.0, dv, self.v);
        axpy(1.0, dp, momentum);
        axpy(1.0, dv_c, &mut current.v_c);
        Ok(())
    }
}

/// Sets ∂γ/∂n₀ of all constraints.
fn set_slopes(constraints: &[Constraint], v_c: &[f64], slopes: &mut [[f64; 3]]) {
    let mut row = 0;
    for (constraint, slope) in constraints.iter().zip(slopes) {
        *slope = constraint.law.bound_slope(&v_c[row..row + constraint.rows()]);
        row += constraint.rows();
    }
}

/// Replaces velocities `v_c` by the impulses `b dn` of changes of bounds, `dn = change(k, normal row, n₀, v_n)` for the lagged contact
/// `k`, which rolling and torsional friction after it share.
fn spread(
    constraints: &[Constraint],
    slopes: &[[f64; 3]],
    v_c: &mut [f64],
    change: impl Fn(usize, usize, f64, f64) -> f64,
) {
    let (mut row, mut dn) = (0, 0.0);
    for (k, (constraint, slope)) in constraints.iter().zip(slopes).enumerate() {
        let rows = row..row + constraint.rows();
        match &constraint.law {
            Law::Lagged(contact) => dn = change(k, row + 2, contact.normal_impulse(), v_c[row + 2]),
            // The bound of what belongs to a friction cone is left to the next pass.
            Law::Contact(_) => dn = 0.0,
            _ => {}
        }
        v_c[rows.clone()].iter_mut().zip(slope).for_each(|(v, slope)| *v = slope * dn);
        row = rows.end;
    }
}

/// Calls `f(k, normal row)` for every lagged contact `k`.
fn for_lagged(constraints: &[Constraint], mut f: impl FnMut(usize, usize)) {
    let mut row = 0;
    for (k, constraint) in constraints.iter().enumerate() {
        if matches!(constraint.law, Law::Lagged(_)) {
            f(k, row + 2);
        }
        row += constraint.rows();
    }
}
