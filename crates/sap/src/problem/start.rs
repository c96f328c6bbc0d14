//! Initial guesses for problems of matrices.

use std::ops::Range;

use crate::{Constraint, Error, FrictionLaw};

/// A guess of the solution.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Velocities, n_v.
    pub v: &'a [f64],
    /// `γ` and `J v` of a solution of the step before, in the order of pushing: normal impulses that bound friction, and what
    /// constraints would meet if they alone did not push.
    pub rows: Option<[&'a [f64]; 2]>,
}

impl Start<'_> {
    pub(super) fn check(&self, nv: usize, rows: usize) -> Result<(), Error> {
        check("initial", self.v, nv)?;
        self.rows.into_iter().flatten().try_for_each(|of_rows| check("initial", of_rows, rows))
    }

    /// The normal impulse of a contact with these rows.
    pub(super) fn normal_impulse(&self, rows: &Range<usize>) -> Option<f64> {
        self.rows.map(|[impulses, _]| impulses[rows.start + 2].max(0.0))
    }

    /// What a constraint would meet if it alone did not push.
    pub(super) fn free_velocity(&self, constraint: &Constraint, rows: &Range<usize>) -> Option<[f64; 3]> {
        let [impulses, velocities] = self.rows?;
        let mut free = [0.0; 3];
        constraint.free_velocity(&velocities[rows.clone()], &impulses[rows.clone()], &mut free);
        Some(free)
    }
}

/// Whether there are so many numbers, all finite.
pub(super) fn check(argument: &'static str, values: &[f64], expected: usize) -> Result<(), Error> {
    if values.len() != expected {
        return Err(Error::Dimension { argument, found: values.len(), expected });
    }
    if let Some(index) = values.iter().position(|x| !x.is_finite()) {
        let message = format!("entry {index} is {}, expected a finite value", values[index]);
        return Err(Error::Value { argument, message });
    }
    Ok(())
}

pub(super) fn lacks_impulse(contact: usize, law: FrictionLaw) -> Error {
    let what = if law == FrictionLaw::Sap { "rolling and torsional friction" } else { "friction" };
    let message = format!(
        "contact {contact} has none: this law bounds {what} by a given normal impulse; \
         give it or an initial solution, or solve under Coulomb's law, which finds it"
    );
    Error::Value { argument: "normal_impulse", message }
}
