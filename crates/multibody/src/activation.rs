//! Activations: the states that actuators have of their own.

/// The least time constant, s, as in MuJoCo.
const MIN_TIME: f64 = 1e-15;

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
    /// That of a muscle: da/dt = (u − a) / time constant, u between 0 and 1, with one time constant while it rises and one while it falls,
    /// both of which depend on a.
    Muscle {
        /// At rest: rising, falling, s.
        time_constants: (f64, f64),
        /// Width in u − a over which one passes into the other; 0 switches.
        smoothing: f64,
    },
    /// It stays as it is: that of an actuator that the model switches off.
    Frozen,
}

impl ActivationDynamics {
    /// The time constant at a control and an activation, s; none of an integrator, and where there is none.
    fn time_constant(self, u: f64, a: f64) -> Option<f64> {
        let time = match self {
            Self::Integrator | Self::Frozen => return None,
            Self::Filter { time_constant } | Self::ExactFilter { time_constant } => time_constant,
            Self::Muscle { time_constants: (rising, falling), smoothing } => {
                let slower = 0.5 + 1.5 * a.clamp(0.0, 1.0);
                let (rising, falling) = (rising * slower, falling / slower);
                let share =
                    if smoothing < MIN_TIME { f64::from(u > a) } else { smooth_step((u - a) / smoothing + 0.5) };
                falling + (rising - falling) * share
            }
        };
        Some(time.max(MIN_TIME))
    }

    /// The control that it follows.
    fn goal(self, u: f64) -> f64 {
        match self {
            Self::Muscle { .. } => u.clamp(0.0, 1.0),
            Self::Integrator | Self::Filter { .. } | Self::ExactFilter { .. } | Self::Frozen => u,
        }
    }
}

/// From 0 to 1 between 0 and 1, with two continuous derivatives.
fn smooth_step(x: f64) -> f64 {
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
        let u = self.dynamics.goal(u);
        let (gain, leak) = self.change_at(u, a, dt, theta);
        let next = a + gain * (u - leak * a);
        match self.range {
            Some((low, high)) => next.max(low).min(high),
            None => next,
        }
    }

    /// How an activation changes in a step, but for its range: (g, l) of a + g (u − l a), see [`next`](Self::next). None where these depend
    /// on u and a, as those of a muscle do.
    pub fn change(&self, dt: f64, theta: f64) -> Option<(f64, f64)> {
        let is_linear = !matches!(self.dynamics, ActivationDynamics::Muscle { .. });
        is_linear.then(|| self.change_at(0.0, 0.0, dt, theta))
    }

    fn change_at(&self, u: f64, a: f64, dt: f64, theta: f64) -> (f64, f64) {
        match (self.dynamics, self.dynamics.time_constant(u, a)) {
            (ActivationDynamics::Frozen, _) => (0.0, 0.0),
            (_, None) => (dt, 0.0),
            (ActivationDynamics::ExactFilter { .. }, Some(time)) => (-libm::expm1(-dt / time), 1.0),
            (_, Some(time)) => {
                let k = dt / time;
                ((k / (1.0 + theta * k)).min(1.0), 1.0)
            }
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
