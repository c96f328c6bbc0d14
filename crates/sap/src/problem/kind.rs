//! The kinds of constraint of a problem of matrices.

use std::f64::consts::PI;

use crate::{Constraint, Error, FrictionLaw, Law};

/// A constraint of a [`Problem`](super::Problem). A regularisation `R` that is `None` is [near-rigid](NEAR_RIGID).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Contact with friction, rows `t1, t2, n`.
    Contact {
        /// Friction coefficient, ≥ 0.
        mu: f64,
        /// Tangential regularisation (velocity per impulse).
        r_t: Option<f64>,
        /// Normal regularisation (velocity per impulse).
        r_n: Option<f64>,
        /// Bias: of surfaces that move by themselves, and normal.
        v_hat: [f64; 3],
        /// The normal impulse, ≥ 0, that bounds friction where the law takes a given one, and is a guess where it does not.
        normal_impulse: Option<f64>,
    },
    /// One-sided constraint, one row.
    Limit {
        /// Regularisation.
        r: Option<f64>,
        /// Bias.
        v_hat: f64,
    },
    /// Equality, one row.
    Equality {
        /// Regularisation.
        r: Option<f64>,
        /// Bias.
        v_hat: f64,
    },
    /// Impulse between two bounds, one row.
    Bounded {
        /// Regularisation.
        r: Option<f64>,
        /// Bias.
        v_hat: f64,
        /// The least impulse.
        lower: f64,
        /// The greatest impulse.
        upper: f64,
    },
    /// Rolling and torsional friction of a contact, rows `t1, t2, n` of the relative angular velocity.
    SpinFriction {
        /// The contact, by its place among the constraints.
        contact: usize,
        /// Greatest rolling torque per normal force, a length.
        rolling: f64,
        /// Greatest torsional torque per normal force, a length.
        torsional: f64,
        /// Regularisation (angular velocity per angular impulse).
        r: Option<f64>,
    },
}

/// Near-rigid regularisation, relative to a constraint's share `w` of the Delassus operator: normal `β²/(4π²)` with `β = 0.1`, and
/// tangential.
pub const NEAR_RIGID: (f64, f64) = (0.01 / (4.0 * PI * PI), 1e-5);

impl Kind {
    /// The number of rows, 3 or 1.
    pub fn rows(&self) -> usize {
        match self {
            Kind::Contact { .. } | Kind::SpinFriction { .. } => 3,
            Kind::Limit { .. } | Kind::Equality { .. } | Kind::Bounded { .. } => 1,
        }
    }

    /// Whether the numbers are within their domains.
    ///
    /// # Errors
    /// [`Error::Value`] with the name of the number.
    pub fn check(&self) -> Result<(), Error> {
        match *self {
            Kind::Contact { mu, r_t, r_n, v_hat, normal_impulse } => {
                nonnegative("mu", mu)?;
                positive("R_t", r_t)?;
                positive("R_n", r_n)?;
                finite("vt_hat", v_hat[0])?;
                finite("vt_hat", v_hat[1])?;
                finite("vn_hat", v_hat[2])?;
                normal_impulse.map_or(Ok(()), |n| nonnegative("normal_impulse", n))
            }
            Kind::Limit { r, v_hat } | Kind::Equality { r, v_hat } => {
                positive("R", r)?;
                finite("v_hat", v_hat)
            }
            Kind::Bounded { r, v_hat, lower, upper } => {
                positive("R", r)?;
                finite("v_hat", v_hat)?;
                if lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY {
                    return Ok(());
                }
                let message = format!("is {lower}, upper {upper}: expected lower ≤ upper, infinite for no bound");
                Err(Error::Value { argument: "lower", message })
            }
            Kind::SpinFriction { rolling, torsional, r, .. } => {
                nonnegative("rolling", rolling)?;
                nonnegative("torsional", torsional)?;
                positive("R", r)
            }
        }
    }

    /// Which of `R` are to be found.
    fn lacks_r(&self) -> Option<&'static str> {
        match self {
            Kind::Contact { r_n: None, .. } => Some("R_n"),
            Kind::Contact { r_t: None, .. } => Some("R_t"),
            Kind::Limit { r: None, .. }
            | Kind::Equality { r: None, .. }
            | Kind::Bounded { r: None, .. }
            | Kind::SpinFriction { r: None, .. } => Some("R"),
            _ => None,
        }
    }

    /// The same with every `R`, where the constraint has the share `w` of the Delassus operator.
    pub(super) fn complete(&self, w: f64) -> Result<Kind, Error> {
        let near_rigid = |r: Option<f64>, share: f64| Some(r.unwrap_or(share * w));
        let (normal, tangential) = NEAR_RIGID;
        let mut kind = *self;
        match &mut kind {
            Kind::Contact { r_t, r_n, .. } => {
                (*r_t, *r_n) = (near_rigid(*r_t, tangential), near_rigid(*r_n, normal));
            }
            Kind::Limit { r, .. } | Kind::Equality { r, .. } => *r = near_rigid(*r, normal),
            Kind::Bounded { r, .. } | Kind::SpinFriction { r, .. } => *r = near_rigid(*r, tangential),
        }
        match self.lacks_r() {
            Some(argument) if kind.check().is_err() => {
                let message =
                    "expected a number, as the rows of J are zero: nothing moves, near-rigid is no number".into();
                Err(Error::Value { argument, message })
            }
            _ => Ok(kind),
        }
    }

    /// The law of a constraint that has every `R`; `normal_impulse` bounds its friction.
    pub(super) fn law(&self, law: FrictionLaw, normal_impulse: f64, w: f64) -> Constraint {
        let given = |r: Option<f64>| r.unwrap_or(f64::NAN);
        let law = match *self {
            Kind::Contact { mu, r_t, r_n, v_hat: [t1, t2, n], .. } => {
                let (r_t, r_n) = (given(r_t), given(r_n));
                let contact = if law == FrictionLaw::Sap {
                    Law::cone(mu, r_t, r_n, n)
                } else {
                    Law::bounded_friction(mu, r_t, r_n, n, normal_impulse)
                };
                contact.with_surface_velocity([t1, t2])
            }
            Kind::Limit { r, v_hat } => Law::limit(given(r), v_hat),
            Kind::Equality { r, v_hat } => Law::equality(given(r), v_hat),
            Kind::Bounded { r, v_hat, lower, upper } => Law::bounded(given(r), v_hat, lower, upper),
            Kind::SpinFriction { rolling, torsional, r, .. } => {
                Law::spin_friction(given(r), rolling, torsional, normal_impulse)
            }
        };
        Constraint::from(law).with_delassus(w)
    }

    /// The normal impulse of a contact alone, where it would move with `free`.
    pub(super) fn normal_impulse_alone(&self, w: f64, free: f64) -> f64 {
        match *self {
            Kind::Contact { r_n: Some(r_n), v_hat, .. } => ((v_hat[2] - free) / (r_n + w)).max(0.0),
            _ => 0.0,
        }
    }
}

fn finite(argument: &'static str, x: f64) -> Result<(), Error> {
    if x.is_finite() { Ok(()) } else { unexpected(argument, x, "a finite number") }
}

fn nonnegative(argument: &'static str, x: f64) -> Result<(), Error> {
    if x >= 0.0 && x.is_finite() { Ok(()) } else { unexpected(argument, x, "a finite number, 0 or more") }
}

/// Its inverse is to be a number, too.
fn positive(argument: &'static str, x: Option<f64>) -> Result<(), Error> {
    match x {
        Some(x) if !(x > 0.0 && x.is_finite() && (1.0 / x).is_finite()) => {
            unexpected(argument, x, "a finite number above 0")
        }
        _ => Ok(()),
    }
}

fn unexpected(argument: &'static str, x: f64, expected: &str) -> Result<(), Error> {
    Err(Error::Value { argument, message: format!("is {x}: expected {expected}") })
}
