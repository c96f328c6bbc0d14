//! Activations: the states that actuators have of their own.

/// The least time constant, s, as in MuJoCo.
const LEAST_TIME: f64 = 1e-15;

/// How an activation a follows the control u.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum ActivationDynamics {
    /// da/dt = u.
    Integrator,
    /// da/dt = (u − a) / time constant, as the scheme integrates it: by Euler's method, but under implicit schemes.
    Filter {
        /// s.
        time_constant: f64,
    },
    /// The same, integrated exactly for a control that is constant during the step.
    ExactFilter {
        /// s.
        time_constant: f64,
    },
    /// A muscle's: it follows controls from 0 to 1 fast when it is activated and slowly when not (MuJoCo, after Millard 2013).
    Muscle {
        /// Time constants of activation and deactivation, s.
        time_constants: [f64; 2],
        /// The width in u − a of the transition between both.
        smoothing: f64,
    },
}

impl ActivationDynamics {
    /// The time constant at an activation, s; none of an integrator.
    fn time_constant(self, u: f64, a: f64) -> Option<f64> {
        match self {
            Self::Integrator => None,
            Self::Filter { time_constant } | Self::ExactFilter { time_constant } => Some(time_constant.max(LEAST_TIME)),
            Self::Muscle { time_constants: [activation, deactivation], smoothing } => {
                let slowness = 0.5 + 1.5 * a.clamp(0.0, 1.0);
                let (activation, deactivation) = (activation * slowness, deactivation / slowness);
                let share = if smoothing < LEAST_TIME { f64::from(u > a) } else { sigmoid((u - a) / smoothing + 0.5) };
                Some((deactivation + (activation - deactivation) * share).max(LEAST_TIME))
            }
        }
    }
}

/// A polynomial step from 0 at 0 to 1 at 1, smooth to the second derivative.
fn sigmoid(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
}

/// The state that an actuator has of its own, which its force law takes in the place of the control.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Activation {
    /// How it follows the control.
    pub dynamics: ActivationDynamics,
    /// Where it is kept, if anywhere.
    pub range: Option<(f64, f64)>,
    /// Whether the force of a step is that of the activation at its end (MJCF `actearly`).
    pub is_early: bool,
}

impl Activation {
    /// The activation after a step of `dt` that began with `a`, under a control `u` within its range. With `theta` 0 by Euler's
    /// method, with more by the θ-method, which is of second order for ½. However long the step, it does not go beyond its goal.
    pub fn next(&self, u: f64, a: f64, dt: f64, theta: f64) -> f64 {
        let u = if let ActivationDynamics::Muscle { .. } = self.dynamics { u.clamp(0.0, 1.0) } else { u };
        let next = match (self.dynamics, self.dynamics.time_constant(u, a)) {
            (_, None) => a + dt * u,
            (ActivationDynamics::ExactFilter { .. }, Some(time)) => a - (u - a) * libm::expm1(-dt / time),
            (dynamics, Some(time)) => {
                let share = |k: f64| (k / (1.0 + theta * k)).min(1.0);
                // That of a muscle depends on where it goes.
                let midway = a + theta * share(dt / time) * (u - a);
                let time = if theta > 0.0 { dynamics.time_constant(u, midway).unwrap_or(time) } else { time };
                a + share(dt / time) * (u - a)
            }
        };
        match self.range {
            Some((low, high)) => next.max(low).min(high),
            None => next,
        }
    }

    /// The activation that the force of the step is taken at: under a scheme that takes positions at the part `theta` of the step.
    pub fn of_step(&self, u: f64, a: f64, dt: f64, theta: f64) -> f64 {
        if self.is_early {
            self.next(u, a, dt, theta)
        } else if theta > 0.0 {
            a + theta * (self.next(u, a, dt, theta) - a)
        } else {
            a
        }
    }
}
