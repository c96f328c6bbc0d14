//! How far a solution is from Coulomb's law.

use crate::{Block, Constraint, Law, Options, SolverParameters};

/// The distance of the impulses `γ` from those of Coulomb's law at the velocities `v_c`, relative to the former:
///
/// ```text
/// √(Σ w |γ − γ'|²) / √(Σ w |γ|²)       γ' = law(v_c) with friction bounded by the contact's own normal impulse
/// ```
///
/// over the contacts that push and over their rolling and torsional friction. `w` is a constraint's share of the Delassus operator, 1 where that is unknown.
/// Friction cones (`Law::Cone`) bound friction by their own normal impulse as they are; they count as 0.
///
/// `velocities` and `impulses` have the rows of all `constraints` in order.
///
/// ```
/// use sapwood_sap::{Constraint, BoundedFrictionContact, friction_residual};
///
/// // The contact presses with 1 N s and slides, but its friction is bounded as if it pressed with 0.9 N s.
/// let contact = Constraint::from(BoundedFrictionContact::new(0.5, 1e-6, 1e-6, 0.0, 0.9)).with_delassus(1.0);
/// let (velocity, impulse) = ([0.2, 0.0, -1e-6], [-0.45, 0.0, 1.0]);
/// let residual = friction_residual(&[contact], &velocity, &impulse);
/// assert!((residual - 0.05 / (1.0 + 0.45_f64 * 0.45).sqrt()).abs() < 1e-9);
/// ```
///
/// # Panics
/// If there are fewer velocities or impulses than rows.
#[must_use]
pub fn friction_residual(constraints: &[Constraint], velocities: &[f64], impulses: &[f64]) -> f64 {
    let (mut error, mut size, mut row, mut normal) = (0.0, 0.0, 0, None);
    for constraint in constraints {
        let rows = row..row + constraint.rows();
        row = rows.end;
        let (v_c, gamma) = (&velocities[rows.clone()], &impulses[rows]);
        match constraint.law {
            Law::BoundedFriction(_) => normal = Some(gamma[2]),
            Law::Cone(_) => {
                normal = Some(gamma[2]);
                continue;
            }
            Law::SpinFriction(_) => {}
            _ => continue,
        }
        let Some(normal) = normal else { continue };
        if normal == 0.0 && gamma.iter().all(|x| *x == 0.0) {
            continue;
        }
        let own = own_impulse(&constraint.law, normal, v_c);
        let w = if constraint.delassus() > 0.0 { constraint.delassus() } else { 1.0 };
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        error += w * gamma.iter().zip(own).map(|(gamma, own)| (gamma - own) * (gamma - own)).sum::<f64>();
        size += w * squares(gamma);
    }
    if error > 0.0 { (error / size).sqrt() } else { 0.0 }
}

/// The impulse of a law at these velocities with friction bounded by this normal impulse.
#[inline(always)]
fn own_impulse(law: &Law, normal: f64, v_c: &[f64]) -> [f64; 3] {
    let mut own = [0.0; 3];
    if let (&Law::BoundedFriction(mut contact), &[v_1, v_2, v_n]) = (law, v_c) {
        // Its other results are not computed where they are not used: this runs over all contacts in every step.
        contact.set_normal_impulse(normal);
        own = contact.evaluate([v_1, v_2, v_n]).1;
    } else {
        let (mut law, mut hessian) = (*law, Block::ZERO);
        law.set_bound(normal);
        law.evaluate(v_c, &mut own, &mut hessian);
    }
    own
}

/// Whether friction with this [`friction_residual`] counts as Coulomb's.
#[must_use]
pub fn meets_coulomb(residual: f64, options: &Options) -> bool {
    residual <= SolverParameters::STANDARD.friction_tolerance_factor * options.tolerance
}
