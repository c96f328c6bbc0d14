//! Actuators.

use crate::{Activation, Delay, Motor, Muscle};

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

/// An actuator: a control input, a force law, and what the force acts on. One that takes several controls is followed by as many as it lacks of
/// the kind [`Transmission::Input`].
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
    /// What it is if it is a motor with a controller on board: its force is the gain of the law times that of the motor.
    pub motor: Option<Motor>,
    /// Control inputs are clamped to this range.
    pub ctrl_range: Option<(f64, f64)>,
    /// Forces (before the gear) are clamped to this range.
    pub force_range: Option<(f64, f64)>,
    /// How long controls take to act, if they do not at once.
    pub delay: Option<Delay>,
    /// The group that it belongs to (MJCF `group`).
    pub group: i32,
}

impl Actuator {
    /// How many controls it takes: its own and those of the [`Transmission::Input`]s behind it.
    pub fn controls(&self) -> usize {
        match (&self.motor, &self.transmission) {
            (Some(motor), _) => motor.inputs.count(),
            (None, Transmission::Orientation { input, .. }) => input.count(),
            (None, _) => 1,
        }
    }

    /// How many states it has of its own.
    pub fn states(&self) -> usize {
        self.motor.map_or(usize::from(self.activation.is_some()), |motor| motor.states())
    }

    /// The u of the force law: the control within its range, or the activation. Setpoints that are whole `turns` apart are one: that which is
    /// nearest to the length.
    pub fn setpoint(&self, input: f64, length: f64, turn: Option<f64>) -> f64 {
        let u = match (self.activation, self.ctrl_range) {
            (None, Some((low, high))) => input.max(low).min(high),
            _ => input,
        };
        turn.map_or(u, |turn| u - turn * ((u - length) / turn).round())
    }
}

/// What an actuator acts on.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Transmission {
    /// A joint with one degree of freedom: force = gear · actuator force, length = gear · q.
    Joint {
        /// Index of the joint in [`crate::Model::joints`].
        joint: usize,
        /// Gear ratio.
        gear: f64,
    },
    /// A ball or free joint: the force is along the gear vector. The length is the gear vector times the rotation vector of a ball; a free
    /// joint has none.
    JointAxes {
        /// Index of the joint in [`crate::Model::joints`].
        joint: usize,
        /// Gear vector, one entry per degree of freedom (6; a ball uses the first three).
        gear: [f64; 6],
        /// In which frame the gear turns.
        frame: GearFrame,
    },
    /// A tendon: force = gear · actuator force along its length, length = gear · that of the tendon.
    Tendon {
        /// Index of the tendon in [`crate::Model::tendons`].
        tendon: usize,
        /// Gear ratio.
        gear: f64,
    },
    /// A site: the force is a wrench along axes, and the opposite one acts on the reference, if there is one. With a reference the length is
    /// the gear times position and rotation vector of the site in the frame of the reference. Without, as of a thruster, there is no length.
    Site {
        /// Index of the site in [`crate::Model::sites`].
        site: usize,
        /// Index of the site that it is seen from.
        reference: Option<usize>,
        /// Force and torque per unit of actuator force, in the frame of the reference, without one in that of the site.
        gear: [f64; 6],
    },
    /// A rod of fixed length from a site (the pin of a crank) to something that slides along the z axis of another: the length is where.
    SliderCrank {
        /// Index of the crank's site.
        crank: usize,
        /// Index of the site along whose axis the other end slides.
        slider: usize,
        /// Length of the rod, m.
        rod: f64,
        /// Gear ratio.
        gear: f64,
    },
    /// A ball joint as a whole: the force is a torque, in the frame of the body, that turns it to an orientation.
    Orientation {
        /// Index of the joint in [`crate::Model::joints`].
        joint: usize,
        /// How controls say which.
        input: OrientationInput,
    },
    /// A further control of the actuator before it. It has no force of its own.
    Input,
    /// Something that is read but not simulated: no force. A warning of the model names it.
    Unsupported,
    /// A body that adheres: the force pulls it and what it touches together, in equal shares at all points of contact. It has no length.
    Adhesion {
        /// Index of the body in [`crate::Model::bodies`].
        body: usize,
    },
}

/// How controls say which orientation is meant, from the joint's frame at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OrientationInput {
    /// A rotation vector, rad.
    #[default]
    RotationVector,
    /// A quaternion w x y z of any length; that of length 0 is no rotation.
    Quaternion,
}

impl OrientationInput {
    /// How many controls that takes.
    pub fn count(self) -> usize {
        match self {
            Self::RotationVector => 3,
            Self::Quaternion => 4,
        }
    }
}

/// The frame that a gear vector of torques refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GearFrame {
    /// That of the body that the joint moves.
    #[default]
    Child,
    /// That of its parent.
    Parent,
}

impl Transmission {
    /// The sites that it acts on.
    pub fn sites(&self) -> impl Iterator<Item = usize> + use<> {
        let sites = match *self {
            Self::Site { site, reference, .. } => [Some(site), reference],
            Self::SliderCrank { crank, slider, .. } => [Some(crank), Some(slider)],
            Self::Joint { .. }
            | Self::JointAxes { .. }
            | Self::Tendon { .. }
            | Self::Orientation { .. }
            | Self::Input
            | Self::Unsupported
            | Self::Adhesion { .. } => [None; 2],
        };
        sites.into_iter().flatten()
    }

    /// The sites that it acts on, to be changed.
    pub fn sites_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        let sites = match self {
            Self::Site { site, reference, .. } => [Some(site), reference.as_mut()],
            Self::SliderCrank { crank, slider, .. } => [Some(crank), Some(slider)],
            Self::Joint { .. }
            | Self::JointAxes { .. }
            | Self::Tendon { .. }
            | Self::Orientation { .. }
            | Self::Input
            | Self::Unsupported
            | Self::Adhesion { .. } => [None, None],
        };
        sites.into_iter().flatten()
    }
}
