//! The force law of an actuator, from its shortcut.

use multibody::{ActivationDynamics, ActuatorLaw, Muscle, OrientationInput};

use super::defaults::{at_least_zero, parse_keyword};
use super::motor_law::MotorLaw;
use crate::LoadError;
use crate::xml::Element;

/// How the gain or bias depends on the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    None,
    Fixed,
    Affine,
    Muscle,
    Other,
}

/// What an actuator's own state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dynamics {
    None,
    Integrator,
    Filter,
    ExactFilter,
    Muscle,
}

/// How many numbers the gain and the bias of a muscle have; others take the first three.
const MUSCLE_PRM: usize = 9;

/// Gain, or bias, of which three numbers count.
const fn three([a, b, c]: [f64; 3]) -> [f64; MUSCLE_PRM] {
    [a, b, c, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
}

/// What `<muscle>` puts in the place of numbers that nothing has set.
const MUSCLE_DEFAULTS: [f64; MUSCLE_PRM] = [0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2];

/// The time constant of a filter where the file gives none, s.
const DYNAMICS_PRM: [f64; 3] = [1.0, 0.0, 0.0];

/// Gain, bias and dynamics while an actuator's defaults and its own attributes are applied in turn.
///
/// A class has one actuator default, whatever the shortcuts that set it. A shortcut keeps what `<general>` or the
/// same shortcut has set before, and resets what another shortcut has set.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForceLaw {
    gain_form: Form,
    gain: [f64; MUSCLE_PRM],
    bias_form: Form,
    bias: [f64; MUSCLE_PRM],
    /// The kind of state that it has of its own, with its parameters.
    dynamics: Dynamics,
    dynamics_prm: [f64; 3],
    /// Why the law cannot be simulated, if it cannot.
    unsupported: Option<&'static str>,
    /// The shortcut that was applied last.
    shortcut: Option<Shortcut>,
    /// Whether gain and bias of `general` are those of `orientation`.
    is_orientation: [bool; 2],
    /// How the controls of `<orientation>` say where to.
    pub orientation: Option<OrientationInput>,
    /// What `<pid>` and `<dcmotor>` say.
    pub motor: Option<MotorLaw>,
    /// The share of the joint's range that controls get.
    pub inherit_range: f64,
}

/// The shortcuts whose law can be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shortcut {
    Motor,
    Position,
    Velocity,
    IntegratedVelocity,
    Damper,
    Cylinder,
    Muscle,
    Adhesion,
    Orientation,
    Pid,
    DcMotor,
    Other,
}

const FORMS: [(&str, Form); 9] = [
    ("none", Form::None),
    ("fixed", Form::Fixed),
    ("affine", Form::Affine),
    ("muscle", Form::Muscle),
    ("dcmotor", Form::Other),
    ("user", Form::Other),
    ("pid", Form::Other),
    ("so3", Form::Other),
    ("plugin", Form::Other),
];

/// MJCF's words for how controls say an orientation.
pub(super) const CHARTS: [(&str, OrientationInput); 2] =
    [("expmap", OrientationInput::RotationVector), ("quat", OrientationInput::Quaternion)];

const DYNAMICS: &str = "this kind of state of an actuator (dyntype) is not simulated: it takes a control, but has no \
                        force";
const GAIN: &str = "a gain that depends on the state is not simulated: it takes a control, but has no force";
const BIAS: &str = "a muscle whose passive force has other parameters than its active one is not simulated: it takes a control, but has \
                    no force";
const KIND: &str = "this kind of actuator is not simulated: it takes a control, but has no force";

const DYNAMICS_FORMS: [(&str, Dynamics); 5] = [
    ("muscle", Dynamics::Muscle),
    ("none", Dynamics::None),
    ("integrator", Dynamics::Integrator),
    ("filter", Dynamics::Filter),
    ("filterexact", Dynamics::ExactFilter),
];

impl ForceLaw {
    /// Force = control.
    pub const MOTOR: Self = Self {
        gain_form: Form::Fixed,
        gain: three([1.0, 0.0, 0.0]),
        bias_form: Form::None,
        bias: [0.0; MUSCLE_PRM],
        dynamics: Dynamics::None,
        dynamics_prm: DYNAMICS_PRM,
        unsupported: None,
        shortcut: None,
        is_orientation: [false; 2],
        orientation: None,
        motor: None,
        inherit_range: 0.0,
    };

    /// What [`ForceLaw::apply`] reads.
    pub const ATTRIBUTES: [&str; 24] = [
        "area",
        "diameter",
        "bias",
        "gain",
        "kp",
        "kv",
        "dampratio",
        "timeconst",
        "inheritrange",
        "gaintype",
        "biastype",
        "dyntype",
        "gainprm",
        "biasprm",
        "dynprm",
        "tausmooth",
        "range",
        "force",
        "scale",
        "lmin",
        "lmax",
        "vmax",
        "fpmax",
        "fvmax",
    ];

    /// Applies an element: a default, or the actuator itself.
    pub fn apply(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        let inherit_range = at_least_zero(element, "inheritrange")?;
        self.inherit_range = inherit_range.unwrap_or(self.inherit_range);
        match element.name() {
            "general" => self.general(element)?,
            "motor" => {
                let inherit_range = self.inherit_range;
                *self = Self { shortcut: Some(Shortcut::Motor), inherit_range, ..Self::MOTOR };
            }
            "position" => self.position(element)?,
            "velocity" => {
                self.begin(Shortcut::Velocity);
                let kv = at_least_zero(element, "kv")?.unwrap_or(self.gain[0]);
                self.set_affine(kv, [0.0, 0.0, -kv]);
            }
            "intvelocity" => {
                self.begin(Shortcut::IntegratedVelocity);
                self.set_servo(element)?;
                self.dynamics = Dynamics::Integrator;
            }
            "damper" => {
                self.begin(Shortcut::Damper);
                let kv = at_least_zero(element, "kv")?.unwrap_or(-self.gain[2]);
                (self.gain_form, self.gain) = (Form::Affine, three([0.0, 0.0, -kv]));
                (self.bias_form, self.bias, self.unsupported) = (Form::None, [0.0; MUSCLE_PRM], None);
            }
            "cylinder" => self.cylinder(element)?,
            "muscle" => self.muscle(element)?,
            "adhesion" => {
                self.begin(Shortcut::Adhesion);
                let gain = at_least_zero(element, "gain")?.unwrap_or(self.gain[0]);
                (self.gain_form, self.gain) = (Form::Fixed, three([gain, 0.0, 0.0]));
                (self.bias_form, self.bias, self.unsupported) = (Form::None, [0.0; MUSCLE_PRM], None);
            }
            "orientation" => self.orientation(element)?,
            "pid" => {
                self.begin(Shortcut::Pid);
                (self.motor, self.unsupported) = (Some(MotorLaw::pid(self.motor, element)?), None);
            }
            "dcmotor" => {
                self.begin(Shortcut::DcMotor);
                (self.motor, self.unsupported) = (Some(MotorLaw::dcmotor(self.motor, element)?), None);
            }
            _ => {
                self.begin(Shortcut::Other);
                self.unsupported = Some(KIND);
                // What these set has no meaning for a law that is not simulated.
                element.skip_all();
            }
        }
        Ok(())
    }

    /// Becomes that of a motor.
    pub fn set_motor(&mut self, motor: MotorLaw) {
        (self.motor, self.unsupported) = (Some(motor), None);
    }

    /// How many controls MuJoCo gives the actuator.
    pub fn controls(&self) -> usize {
        match (&self.motor, self.orientation) {
            (Some(law), _) => law.motor.inputs.count(),
            (None, Some(input)) => input.count(),
            (None, None) if self.shortcut.is_none() && self.is_orientation == [true; 2] => 3,
            (None, None) => 1,
        }
    }

    /// `kp`, and `kv` or `dampratio`.
    fn set_servo(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        let kp = element.number("kp")?.unwrap_or(self.gain[0]);
        let (kv, ratio) = (at_least_zero(element, "kv")?, at_least_zero(element, "dampratio")?);
        if kv.is_some() && ratio.is_some() {
            return Err(element.error("has both `kv` and `dampratio`: expected one of them"));
        }
        // As in MuJoCo, a damping ratio is a positive bias (a damping a negative one) until the inertia is known.
        let damping = kv.map(|kv| -kv).or(ratio).unwrap_or(self.bias[2]);
        self.set_affine(kp, [0.0, -kp, damping]);
        Ok(())
    }

    /// A servo of a ball joint to an orientation.
    fn orientation(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        self.begin(Shortcut::Orientation);
        self.set_servo(element)?;
        let input =
            element.attribute("input").map(|word| parse_keyword(element, "input", word, &CHARTS)).transpose()?;
        self.orientation = Some(input.or(self.orientation).unwrap_or_default());
        Ok(())
    }

    /// Forgets what another shortcut has set.
    fn begin(&mut self, shortcut: Shortcut) {
        if self.shortcut.is_some_and(|last| last != shortcut) {
            *self = Self { inherit_range: self.inherit_range, ..Self::MOTOR };
        }
        self.shortcut = Some(shortcut);
    }

    fn set_affine(&mut self, gain: f64, bias: [f64; 3]) {
        self.gain_form = Form::Fixed;
        self.gain = three([gain, 0.0, 0.0]);
        self.bias_form = Form::Affine;
        self.bias = three(bias);
        self.unsupported = None;
    }

    /// A pneumatic or hydraulic cylinder: a filtered pressure on an area.
    fn cylinder(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        self.begin(Shortcut::Cylinder);
        let area = match (element.number("area")?, element.number("diameter")?) {
            (_, Some(diameter)) => std::f64::consts::FRAC_PI_4 * diameter * diameter,
            (Some(area), None) => area,
            (None, None) => self.gain[0],
        };
        let [constant, per_length, per_velocity, ..] = self.bias;
        let bias = element.array::<3>("bias")?.unwrap_or([constant, per_length, per_velocity]);
        self.set_affine(area, bias);
        self.dynamics = Dynamics::Filter;
        if let Some(time) = element.number("timeconst")? {
            self.dynamics_prm[0] = time;
        }
        Ok(())
    }

    fn position(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        self.begin(Shortcut::Position);
        self.set_servo(element)?;
        if let Some(time) = at_least_zero(element, "timeconst")? {
            self.dynamics = if time > 0.0 { Dynamics::ExactFilter } else { Dynamics::None };
            self.dynamics_prm[0] = time;
        }
        Ok(())
    }

    fn muscle(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        self.begin(Shortcut::Muscle);
        // What has the value of an actuator without defaults counts as not set.
        for (k, value) in [(0, 0.01), (1, 0.04)] {
            if self.dynamics_prm[k] == DYNAMICS_PRM[k] {
                self.dynamics_prm[k] = value;
            }
        }
        for (k, value) in MUSCLE_DEFAULTS.into_iter().enumerate() {
            if self.gain[k] == Self::MOTOR.gain[k] {
                self.gain[k] = value;
            }
        }
        let pairs = [("timeconst", &mut self.dynamics_prm[..2]), ("range", &mut self.gain[..2])];
        for (name, into) in pairs {
            if let Some(pair) = element.array::<2>(name)? {
                into.iter_mut().zip(pair).filter(|(_, value)| *value >= 0.0).for_each(|(slot, value)| *slot = value);
            }
        }
        self.dynamics_prm[2] = at_least_zero(element, "tausmooth")?.unwrap_or(self.dynamics_prm[2]);
        for (k, name) in (2..).zip(["force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"]) {
            if let Some(value) = element.number(name)?.filter(|value| *value >= 0.0) {
                self.gain[k] = value;
            }
        }
        self.bias = self.gain;
        (self.gain_form, self.bias_form, self.dynamics) = (Form::Muscle, Form::Muscle, Dynamics::Muscle);
        self.unsupported = None;
        Ok(())
    }

    /// What a muscle whose peak force the file does not give has in its place: the acceleration that it can make, 1/s² at its joints.
    pub fn muscle_scale(&self) -> Option<f64> {
        (self.gain_form == Form::Muscle && self.gain[2] < 0.0).then_some(self.gain[3])
    }

    /// The law of a muscle, but for its range of lengths.
    fn finish_muscle(&self) -> Result<ActuatorLaw, &'static str> {
        let [low, high, force, _, shortest, longest, fastest, passive, lengthening] = self.gain;
        let passive = match self.bias_form {
            Form::None => 0.0,
            Form::Muscle if self.bias == self.gain => passive,
            _ => return Err(BIAS),
        };
        let (range, active) = ((low, high), (shortest, longest));
        let muscle = Muscle { length_range: (0.0, 0.0), range, active, fastest, passive, lengthening };
        Ok(ActuatorLaw { gain: force, muscle: Some(muscle), ..ActuatorLaw::default() })
    }

    fn general(&mut self, element: Element<'_>) -> Result<(), LoadError> {
        let form =
            |name: &str| element.attribute(name).map(|value| parse_keyword(element, name, value, &FORMS)).transpose();
        self.gain_form = form("gaintype")?.unwrap_or(self.gain_form);
        self.bias_form = form("biastype")?.unwrap_or(self.bias_form);
        for (name, is_so3) in ["gaintype", "biastype"].into_iter().zip(&mut self.is_orientation) {
            *is_so3 = element.attribute(name).map_or(*is_so3, |value| value == "so3");
        }
        match element.attribute("dyntype") {
            None => {}
            Some(value) => match DYNAMICS_FORMS.iter().find(|(name, _)| *name == value) {
                Some((_, dynamics)) => (self.dynamics, self.unsupported) = (*dynamics, None),
                None => self.unsupported = Some(DYNAMICS),
            },
        }
        let vectors =
            [("gainprm", &mut self.gain[..]), ("biasprm", &mut self.bias), ("dynprm", &mut self.dynamics_prm)];
        for (name, into) in vectors {
            for (slot, value) in into.iter_mut().zip(element.numbers(name)?.unwrap_or_default()) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// The state that the actuator has of its own.
    pub fn dynamics(&self) -> Option<ActivationDynamics> {
        let time_constant = self.dynamics_prm[0];
        match self.dynamics {
            Dynamics::None => None,
            Dynamics::Integrator => Some(ActivationDynamics::Integrator),
            Dynamics::Filter => Some(ActivationDynamics::Filter { time_constant }),
            Dynamics::ExactFilter => Some(ActivationDynamics::ExactFilter { time_constant }),
            Dynamics::Muscle => {
                let [rising, falling, smoothing] = self.dynamics_prm;
                Some(ActivationDynamics::Muscle { time_constants: (rising, falling), smoothing })
            }
        }
    }

    /// The law, with the damping ratio that replaces its damping if there is one; or why it cannot be simulated.
    pub fn finish(&self) -> Result<(ActuatorLaw, Option<f64>), &'static str> {
        if let Some(reason) = self.unsupported {
            return Err(reason);
        }
        if let Some(law) = &self.motor {
            let (gain, bias) = law.plain().unwrap_or((1.0, [0.0; 3]));
            return Ok((ActuatorLaw::fixed(gain, bias), law.damping_ratio));
        }
        if self.gain_form == Form::Muscle {
            return self.finish_muscle().map(|law| (law, None));
        }
        let (gain, gain_slopes) = match self.gain_form {
            Form::Fixed => (self.gain[0], [0.0; 2]),
            Form::Affine => (self.gain[0], [self.gain[1], self.gain[2]]),
            _ => return Err(GAIN),
        };
        let mut bias = match self.bias_form {
            Form::None => [0.0; 3],
            Form::Affine => [self.bias[0], self.bias[1], self.bias[2]],
            _ => return Err(KIND),
        };
        let ratio = bias[2];
        if self.gain_form == Form::Fixed && gain == -bias[1] && ratio > 0.0 {
            bias[2] = 0.0;
            return Ok((ActuatorLaw { gain, gain_slopes, bias, muscle: None }, Some(ratio)));
        }
        Ok((ActuatorLaw { gain, gain_slopes, bias, muscle: None }, None))
    }
}
