//! Actuators.

use crate::{Activation, Muscle, Transmission};

/// The force law: force = (`gain` + `gain_slopes[0]`·length + `gain_slopes[1]`·velocity)·u + `bias[0]` + `bias[1]`·length
/// + `bias[2]`·velocity, u the control, or the activation of an actuator that has one.
///
/// A motor has gain 1 and no bias, a position servo gain kp and bias (0, −kp, −kv), a velocity servo gain kv and
/// bias (0, 0, −kv). The parts with length and velocity are treated implicitly when they are ≤ 0.
///
/// A muscle pulls with its `gain`, the peak force, times its curves; it has no slopes and no bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ActuatorLaw {
    /// Force per unit of control.
    pub gain: f64,
    /// Part of the gain per unit of length and per unit of velocity.
    pub gain_slopes: [f64; 2],
    /// Constant part, part per unit of length, part per unit of velocity.
    pub bias: [f64; 3],
    /// How the force of a muscle depends on length and velocity.
    pub muscle: Option<Muscle>,
}

impl ActuatorLaw {
    /// One whose gain does not depend on motion.
    pub const fn fixed(gain: f64, bias: [f64; 3]) -> Self {
        Self { gain, gain_slopes: [0.0; 2], bias, muscle: None }
    }

    /// The force when u is given, and its derivatives by length and velocity.
    pub fn at(&self, u: f64, length: f64, velocity: f64) -> [f64; 3] {
        if let Some(muscle) = &self.muscle {
            return muscle.force(u, length, velocity).map(|x| self.gain * x);
        }
        let ([b0, mut b1, mut b2], [g1, g2]) = (self.bias, self.gain_slopes);
        if self.gain_slopes != [0.0; 2] {
            (b1, b2) = (b1 + g1 * u, b2 + g2 * u);
        }
        [self.gain * u + b0 + b1 * length + b2 * velocity, b1, b2]
    }

    /// Whether the force without control is a constant, and that per unit of control as well.
    pub fn is_constant(&self) -> bool {
        self.bias[1..] == [0.0; 2] && self.gain_slopes == [0.0; 2] && self.muscle.is_none()
    }
}

/// An actuator: a control input, a force law, and what the force acts on.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Actuator {
    /// Name; empty when the file gives none.
    pub name: String,
    /// What the force acts on.
    pub transmission: Transmission,
    /// The force law.
    pub law: ActuatorLaw,
    /// The state that it has of its own, if it has one.
    pub activation: Option<Activation>,
    /// Control inputs are clamped to this range.
    pub ctrl_range: Option<(f64, f64)>,
    /// Forces (before the gear) are clamped to this range.
    pub force_range: Option<(f64, f64)>,
}
