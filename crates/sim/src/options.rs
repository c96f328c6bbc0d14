//! What a user may choose.

use crate::{ContactLaw, PdLaw, Scheme, SimulationError, Theta};

/// Options of a simulation. The defaults need no touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Time step, s; the model's own when none.
    pub timestep: Option<f64>,
    /// Error that may be made per second, in m, rad, and of velocities relative to 1 m/s or rad/s and themselves: steps
    /// are then as long as it lets them be, and [`Simulation::step`](crate::Simulation::step) advances by the time step
    /// in as many as it takes. None: every step is one of the time step.
    pub accuracy: Option<f64>,
    /// Time-stepping scheme.
    pub scheme: Scheme,
    /// Whether the midpoint rule mends velocities at the end of a step, so that energy and the momentum that no joint can change are
    /// kept, or change by what forces do, to round-off: at any step that resolves the motion, without drift. The
    /// rule by itself keeps them to second order, without drift where joints turn little in a step.
    pub conserve: bool,
    /// Where PD control is taken.
    pub pd_law: PdLaw,
    /// Friction law.
    pub contact: ContactLaw,
    /// Relative tolerance of the contact solver on the scaled momentum balance, ε_r.
    pub tolerance: f64,
    /// Factorisations that an island may spend on Coulomb's law in a step. Each of the [`Stats::substeps`](crate::Stats::substeps) gets the
    /// share that it has of the time. Islands of fewer than 1,700 velocities and rows, those of some 125 bodies in a pile, get as many more as
    /// they are smaller.
    ///
    /// When they are spent, the step takes the friction bounds that it has come to, with momentum balanced to the tolerance, which may take
    /// some factorisations more. [`Stats::unsettled`](crate::Stats::unsettled) counts the islands where that happened,
    /// [`Stats::friction_residual`](crate::Stats::friction_residual) says how far friction is from the law. None: the search goes on until
    /// it succeeds or stops improving, after some 500 factorisations.
    pub factorization_budget: Option<usize>,
    /// Near-rigid contacts oscillate with the period β dt.
    pub beta: f64,
    /// Tangential regularisation over the Delassus estimate: a stuck contact creeps at about σ g dt.
    pub sigma: f64,
    /// Of contacts whose surfaces have a `solref`: friction yields as MuJoCo's with this `impratio`. What slides is braked in the time constant
    /// of `solref`, what sticks creeps under its load. None: friction is Coulomb's, as rigid as `sigma` says. Derivatives leave out how
    /// what yields follows the velocity at the beginning of the step.
    pub impratio: Option<f64>,
    /// Greatest speed at which near-rigid contacts, limits and equalities that start violated are righted, m/s or rad/s. Contacts and
    /// limits right positions alone: no velocity is left of it.
    pub recovery_speed: f64,
    /// Islands that have rested for this long, s, sleep: they are not moved until something touches them or is done to
    /// them. None: ten steps where the model's file says that things sleep (MJCF's flag `sleep`); else, and if infinite, nothing
    /// falls asleep. What actuators or PD control drive does not sleep unless the file allows it, what the file forbids to sleep stays
    /// awake, and contacts among sleepers are not reported.
    pub sleep_after: Option<f64>,
    /// What rests moves no faster at any point, m/s. None: as the file says, else 1e-3.
    pub sleep_speed: Option<f64>,
    /// Threads that islands are shared among, at most [`Options::MAX_THREADS`]; the result is the same for any number.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timestep: None,
            accuracy: None,
            scheme: Scheme::Bilinear,
            conserve: true,
            pd_law: PdLaw::Auto,
            contact: ContactLaw::Coulomb,
            tolerance: 1e-6,
            factorization_budget: Some(100),
            beta: 0.1,
            sigma: 1e-5,
            impratio: None,
            recovery_speed: 1.0,
            sleep_after: None,
            sleep_speed: None,
            threads: 1,
        }
    }
}

impl Options {
    /// The most threads that a simulation may ask for: what exceeds the machine helps nothing.
    pub const MAX_THREADS: usize = 1024;

    pub(crate) fn check(&self) -> Result<(), SimulationError> {
        let positive = [
            ("timestep", self.timestep.unwrap_or(1.0)),
            ("accuracy", self.accuracy.unwrap_or(1.0)),
            ("tolerance", self.tolerance),
            ("beta", self.beta),
            ("sigma", self.sigma),
            ("impratio", self.impratio.unwrap_or(1.0)),
            ("recovery_speed", self.recovery_speed),
            ("sleep_after", self.sleep_after.filter(|time| *time != f64::INFINITY).unwrap_or(1.0)),
            ("sleep_speed", self.sleep_speed.unwrap_or(1.0)),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(SimulationError::Option { name, value, expected: "a finite number above 0" });
            }
        }
        let Theta { q, v, vq } = self.scheme.theta();
        for (name, value) in [("theta_q", q), ("theta_v", v), ("theta_vq", vq)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(SimulationError::Option { name, value, expected: "from 0 to 1" });
            }
        }
        if !(1..=Self::MAX_THREADS).contains(&self.threads) {
            let (name, value) = ("threads", self.threads as f64);
            return Err(SimulationError::Option { name, value, expected: "from 1 to 1024" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bounded() {
        let check = |threads| Options { threads, ..Options::default() }.check();
        for threads in [1, 2, Options::MAX_THREADS] {
            assert_eq!(check(threads), Ok(()));
        }
        assert_eq!(check(0).unwrap_err().to_string(), "threads = 0: expected from 1 to 1024");
        assert_eq!(check(1025).unwrap_err().to_string(), "threads = 1025: expected from 1 to 1024");
        assert!(check(usize::MAX).is_err());
    }
}
