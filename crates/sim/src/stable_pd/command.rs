//! What is asked of the joints.

use multibody::{Tree, difference_ahead, pd_law};
use spatial::{are_finite, are_finite_and_nonnegative};

/// Gains and targets of a PD controller over all degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Stiffness, (nv), ≥ 0: N/m or N·m/rad.
    pub kp: &'a [f64],
    /// Damping, (nv), ≥ 0: N·s/m or N·m·s/rad.
    pub kd: &'a [f64],
    /// Target positions, (nq).
    pub target: &'a [f64],
    /// Target velocities, (nv); none: zero.
    pub target_velocity: Option<&'a [f64]>,
    /// Greatest force of every degree of freedom, (nv), ≥ 0; none: no limit.
    pub effort_limit: Option<&'a [f64]>,
}

/// Why a command cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A vector of the wrong length.
    #[error("{name} has {found} entries: expected {expected}")]
    Length {
        /// Which.
        name: &'static str,
        /// Its entries.
        found: usize,
        /// What the model has.
        expected: usize,
    },
    /// A value outside its domain.
    #[error("{name}[{index}] = {value}: expected {expected}")]
    Value {
        /// Which.
        name: &'static str,
        /// The entry.
        index: usize,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// The system is singular: a body without mass or rotational inertia moves freely.
    #[error("the mass matrix with dt K_d is not positive definite at degree of freedom {dof}")]
    Singular {
        /// The degree of freedom.
        dof: usize,
    },
}

pub(crate) fn check(name: &'static str, x: &[f64], expected: usize, nonnegative: bool) -> Result<(), Error> {
    if x.len() != expected {
        return Err(Error::Length { name, found: x.len(), expected });
    }
    if if nonnegative { are_finite_and_nonnegative(x) } else { are_finite(x) } {
        return Ok(());
    }
    let index = x.iter().position(|&x| !x.is_finite() || (nonnegative && x < 0.0)).unwrap_or_default();
    let expected = if nonnegative { "a finite number, 0 or more" } else { "a finite number" };
    Err(Error::Value { name, index, value: x[index], expected })
}

impl Command<'_> {
    /// Whether the command fits a tree.
    ///
    /// # Errors
    /// When a vector has the wrong length or a value outside its domain.
    pub fn check(&self, tree: &Tree<f64>) -> Result<(), Error> {
        check("kp", self.kp, tree.nv, true)?;
        check("kd", self.kd, tree.nv, true)?;
        check("target", self.target, tree.nq, false)?;
        if let Some(velocity) = self.target_velocity {
            check("target_velocity", velocity, tree.nv, false)?;
        }
        if let Some(limit) = self.effort_limit {
            // Infinity is a limit that is none.
            if limit.len() != tree.nv {
                return Err(Error::Length { name: "effort_limit", found: limit.len(), expected: tree.nv });
            }
            if limit.iter().fold(false, |found, x| found | x.is_nan() | (*x < 0.0)) {
                let index = limit.iter().position(|x| x.is_nan() || *x < 0.0).unwrap_or_default();
                let (name, value) = ("effort_limit", limit[index]);
                return Err(Error::Value { name, index, value, expected: "0 or more" });
            }
        }
        Ok(())
    }
}

/// Q = −K_p (q ⊞ dt v ⊟ q̄) − K_d (v − v̄), (nv): the force of the controller before its implicit part; that of explicit PD with
/// dt = 0.
pub fn pd_force(tree: &Tree<f64>, q: &[f64], v: &[f64], command: &Command<'_>, dt: f64, force: &mut [f64]) {
    let n = tree.nv;
    let (v, kp, kd, force) = (&v[..n], &command.kp[..n], &command.kd[..n], &mut force[..n]);
    difference_ahead(tree, command.target, q, v, dt, force);
    for i in 0..n {
        let lag = v[i] - command.target_velocity.map_or(0.0, |target| target[i]);
        force[i] = pd_law(kp[i], kd[i], force[i], lag);
    }
}
