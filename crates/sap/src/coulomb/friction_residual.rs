//! How far a solution is from Coulomb's law.

use crate::block::widened;
use crate::constraint::rows_of;
use crate::law::Bounds;
use crate::{Constraint, Law, Options, SolverParameters};

/// The distance of the impulses `γ` from those of Coulomb's law at the velocities `v_c`, relative to the former:
///
/// ```text
/// √(Σ w |γ − γ'|²) / √(Σ w |γ|²)       γ' = law(v_c) with friction bounded by the contact's own normal impulse
/// ```
///
/// over the contacts that push and over their rolling and torsional friction. `w` is a constraint's share of the Delassus operator, 1 where that is unknown.
/// Friction cones bound friction by their own normal impulse as they are; they count as 0.
///
/// `velocities` and `impulses` have the rows of all `constraints` in order.
///
/// ```
/// use sapwood_sap::{Constraint, Law, friction_residual};
///
/// // The contact presses with 1 N s and slides, but its friction is bounded as if it pressed with 0.9 N s.
/// let contact = Constraint::from(Law::bounded_friction(0.5, 1e-6, 1e-6, 0.0, 0.9)).with_delassus(1.0);
/// let (velocity, impulse) = ([0.2, 0.0, -1e-6], [-0.45, 0.0, 1.0]);
/// let residual = friction_residual(&[contact], &velocity, &impulse);
/// assert!((residual - 0.05 / (1.0 + 0.45_f64 * 0.45).sqrt()).abs() < 1e-9);
/// ```
///
/// # Panics
/// If there are fewer velocities or impulses than rows.
#[must_use]
pub fn friction_residual(constraints: &[Constraint], velocities: &[f64], impulses: &[f64]) -> f64 {
    let (mut error, mut size, mut normal) = (0.0, 0.0, 0.0);
    for (constraint, rows) in constraints.iter().zip(rows_of(constraints)) {
        let gamma = &impulses[rows.clone()];
        if constraint.law.is_contact() {
            normal = gamma[2];
        }
        if !constraint.law.has_bound() || normal == 0.0 && gamma.iter().all(|x| *x == 0.0) {
            continue;
        }
        let law = Law { normal_impulse: [normal; 3], ..constraint.law };
        let bounded = law.respond(widened(&velocities[rows]), law.stiffness(0.0), Bounds::Given, [0.0; 3]).impulse;
        let w = if constraint.delassus() > 0.0 { constraint.delassus() } else { 1.0 };
        error += w * gamma.iter().zip(bounded).map(|(gamma, own)| (gamma - own) * (gamma - own)).sum::<f64>();
        size += w * gamma.iter().map(|x| x * x).sum::<f64>();
    }
    if error > 0.0 { (error / size).sqrt() } else { 0.0 }
}

/// Whether friction with this [`friction_residual`] counts as Coulomb's.
#[must_use]
pub fn meets_coulomb(residual: f64, options: &Options) -> bool {
    residual <= friction_tolerance(options)
}

/// The greatest [`friction_residual`] that does.
pub(crate) fn friction_tolerance(options: &Options) -> f64 {
    SolverParameters::STANDARD.friction_tolerance_factor * options.tolerance
}
