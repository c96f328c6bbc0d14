//! `<pid>` and `<dcmotor>`: motors with a controller on board.

use multibody::{BristleFriction, Cogging, Controller, Heat, Motor, MotorInputs, Winding};

use super::defaults::at_least_zero;
use super::plugin::{Plugin, Setting};
use crate::LoadError;
use crate::xml::Element;

/// What a motor's element and its defaults say.
#[derive(Clone, Copy, Debug)]
pub(super) struct MotorLaw {
    /// The motor. Of a `dcmotor` its winding is there.
    pub motor: Motor,
    /// A damping that is a ratio to the critical one, in the place of the controller's.
    pub damping_ratio: Option<f64>,
    /// Ranges of the inputs of a `pid`: position, velocity, force.
    pub ranges: [Option<(f64, f64)>; 3],
    /// Most torque of a `dcmotor`, N·m.
    pub saturation: Option<f64>,
    /// Damping beside the motor, N·m·s/rad, from which the constant of a motor follows whose nominal speed is given.
    damping: f64,
}

/// What MuJoCo calls inputs, in their order.
pub(super) const INPUTS: [&str; 4] = ["pos", "vel", "ff", "voltage"];

impl MotorLaw {
    /// What [`MotorLaw::pid`] and [`MotorLaw::dcmotor`] read.
    pub const ATTRIBUTES: [&str; 17] = [
        "ki",
        "imax",
        "slewmax",
        "input",
        "posrange",
        "velrange",
        "ffrange",
        "motorconst",
        "resistance",
        "nominal",
        "saturation",
        "inductance",
        "cogging",
        "controller",
        "thermal",
        "lugre",
        "damping",
    ];

    const fn new(inputs: MotorInputs) -> Self {
        let (integral_limit, fastest_input) = (f64::INFINITY, f64::INFINITY);
        let controller = Controller { kp: 0.0, ki: 0.0, kd: 0.0, constant: 0.0, integral_limit, fastest_input };
        let motor = Motor { inputs, controller, winding: None, is_early: false };
        Self { motor, damping_ratio: None, ranges: [None; 3], saturation: None, damping: 0.0 }
    }

    /// A `<pid>` element on what its defaults say.
    pub fn pid(before: Option<Self>, element: Element<'_>) -> Result<Self, LoadError> {
        const BOTH: MotorInputs = MotorInputs { position: true, velocity: true, force: false, voltage: false };
        let mut law = before.unwrap_or(const { Self::new(BOTH) });
        let of = &mut law.motor.controller;
        of.kp = element.number("kp")?.unwrap_or(of.kp);
        let (kv, ratio) = (at_least_zero(element, "kv")?, at_least_zero(element, "dampratio")?);
        if kv.is_some() && ratio.is_some() {
            return Err(element.error("has both `kv` and `dampratio`: expected one of them"));
        }
        if let Some(kv) = kv {
            (of.kd, law.damping_ratio) = (kv, None);
        }
        law.damping_ratio = ratio.filter(|ratio| *ratio > 0.0).or(law.damping_ratio);
        of.ki = element.number("ki")?.unwrap_or(of.ki);
        of.integral_limit = limit(at_least_zero(element, "imax")?, of.integral_limit);
        of.fastest_input = limit(at_least_zero(element, "slewmax")?, of.fastest_input);
        law.motor.inputs = inputs_of(element)?.unwrap_or(law.motor.inputs);
        for (range, name) in law.ranges.iter_mut().zip(["posrange", "velrange", "ffrange"]) {
            if let Some([low, high]) = element.array(name)? {
                *range = (low < high).then_some((low, high));
            }
        }
        let MotorInputs { position, voltage, .. } = law.motor.inputs;
        if voltage {
            return Err(element.error("input: expected some of pos, vel, ff"));
        }
        law.check_controller(element, position, "ki and slewmax")?;
        Ok(law)
    }

    /// A `<plugin>` element of the plugin `mujoco.pid`, or of an instance of it in `root`: a `<pid>` with a position alone, whose integral is that at
    /// the end of the step. None of other plugins, and of what that has no words for.
    pub fn plugin(root: Element<'_>, element: Element<'_>) -> Result<Option<Self>, LoadError> {
        const PID: &str = "mujoco.pid";
        const POSITION: MotorInputs = MotorInputs { position: true, velocity: false, force: false, voltage: false };
        let (Some(plugin), None) =
            (Plugin::of(root, element), element.attribute("dyntype").filter(|kind| *kind != "none"))
        else {
            return Ok(None);
        };
        if plugin.name != PID {
            return Ok(None);
        }
        let mut law = Self::new(POSITION);
        law.motor.is_early = true;
        let of = &mut law.motor.controller;
        for setting in plugin.numbers() {
            let Setting { at, key, value } = setting?;
            match key {
                "kp" => of.kp = value,
                "ki" => of.ki = value,
                "kd" => of.kd = value,
                "imax" if value < 0.0 => return Err(at.error(format!("imax is {value}: expected 0 or more"))),
                // 0 is no integral at all.
                "imax" if value > 0.0 => of.integral_limit = value,
                _ => return Ok(None),
            }
        }
        // The file has the limit of its force.
        of.integral_limit = if of.ki > 0.0 { of.integral_limit / of.ki } else { f64::INFINITY };
        Ok((of.ki >= 0.0).then_some(law))
    }

    /// A `<dcmotor>` element on what its defaults say.
    pub fn dcmotor(before: Option<Self>, element: Element<'_>) -> Result<Self, LoadError> {
        const VOLTAGE: MotorInputs = MotorInputs { position: false, velocity: false, force: false, voltage: true };
        let mut law = before.unwrap_or(const { Self::new(VOLTAGE) });
        if let Some(numbers) = element.numbers("damping")? {
            law.damping = numbers.first().copied().unwrap_or_default();
        }
        let known = law.motor.winding;
        let [motor_constant, resistance] = law.constants(element, known)?;
        let [stall, most_current, current_rate] = leading(element, "saturation", [0.0; 3])?;
        let [kp, ki, kd, slew, integral, voltage] = law.controller_numbers(element, known)?;
        let [inductance, time] = leading(element, "inductance", [0.0, known.map_or(0.0, |of| of.time_constant)])?;
        if inductance < 0.0 || time < 0.0 {
            return Err(element.error("inductance: expected numbers of 0 or more: H, s"));
        }
        if stall > 0.0 || most_current > 0.0 {
            law.saturation = Some(if stall == 0.0 { motor_constant * most_current } else { stall });
        }
        let fastest = known.map_or(f64::INFINITY, |of| of.fastest_current);
        let Cogging { amplitude, periods, phase } = known.map_or(Cogging::default(), |of| of.cogging);
        let [amplitude, periods, phase] = leading(element, "cogging", [amplitude, periods, phase])?;
        law.motor.winding = Some(Winding {
            resistance,
            motor_constant,
            voltage_limit: limit(Some(voltage).filter(|most| *most > 0.0), f64::INFINITY),
            time_constant: if inductance > 0.0 { inductance / resistance } else { time },
            fastest_current: if current_rate > 0.0 { current_rate } else { fastest },
            heat: heat(element, known.and_then(|of| of.heat))?,
            cogging: Cogging { amplitude, periods, phase },
            friction: friction(element, known.and_then(|of| of.friction))?,
        });
        law.motor.controller = Controller {
            kp,
            ki,
            kd,
            constant: 0.0,
            integral_limit: limit(Some(integral), f64::INFINITY),
            fastest_input: limit(Some(slew), f64::INFINITY),
        };
        law.motor.inputs = inputs_of(element)?.unwrap_or(law.motor.inputs);
        if !law.motor.inputs.has_controller() && [kp, ki, kd].iter().any(|gain| *gain != 0.0) {
            return Err(element.error("controller: expected an input among pos, vel, ff where it has gains"));
        }
        law.check_controller(element, law.motor.inputs.has_controller(), "slewmax")?;
        law.check_controller(element, ki <= 0.0 || law.motor.inputs.position, "ki")?;
        Ok(law)
    }

    /// The controller's states need an input.
    fn check_controller(&self, element: Element<'_>, has_input: bool, what: &str) -> Result<(), LoadError> {
        let Controller { ki, fastest_input, .. } = self.motor.controller;
        if has_input || (ki <= 0.0 && fastest_input == f64::INFINITY) {
            return Ok(());
        }
        Err(element.error(format!("input: expected `pos` among the inputs, with {what}")))
    }

    /// Motor constant and resistance, from what is given of them, of stall torque and of nominal speed.
    fn constants(&self, element: Element<'_>, known: Option<Winding>) -> Result<[f64; 2], LoadError> {
        let [torque, mut induced] = leading(element, "motorconst", [known.map_or(0.0, |of| of.motor_constant), 0.0])?;
        let mut resistance = element.number("resistance")?.or(known.map(|of| of.resistance)).unwrap_or(0.0);
        let [voltage, stall, speed] = leading(element, "nominal", [0.0; 3])?;
        if voltage > 0.0 && induced <= 0.0 && speed > 0.0 {
            // No-load speed = voltage K / (K² + resistance damping).
            let (damping, alone) = (self.damping, voltage / speed);
            induced = match () {
                () if damping > 0.0 && resistance > 0.0 => {
                    let square = voltage * voltage - 4.0 * resistance * damping * speed * speed;
                    if square > 0.0 { (voltage + square.sqrt()) / (2.0 * speed) } else { alone }
                }
                () if damping > 0.0 && stall > 0.0 => {
                    let exact = alone - voltage * damping / stall;
                    if exact > 0.0 { exact } else { alone }
                }
                () => alone,
            };
        }
        let constant = match (torque > 0.0, induced > 0.0) {
            (true, true) => (torque * induced).sqrt(),
            (true, false) => torque,
            _ => induced,
        };
        if resistance == 0.0 && voltage > 0.0 && stall > 0.0 && constant > 0.0 {
            resistance = constant * voltage / stall;
        }
        let is_good = |x: f64| x > 0.0 && x.is_finite();
        if !is_good(constant) {
            return Err(element.error("motorconst: expected a number above 0, or `nominal` voltage and speed"));
        }
        if !is_good(resistance) {
            return Err(element.error("resistance: expected a number above 0, or `nominal` voltage and stall torque"));
        }
        Ok([constant, resistance])
    }

    /// kp, ki, kd, slewmax, imax, voltage; 0 without limit.
    fn controller_numbers(&self, element: Element<'_>, known: Option<Winding>) -> Result<[f64; 6], LoadError> {
        let Controller { kp, ki, kd, integral_limit, fastest_input, .. } = self.motor.controller;
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let voltage = known.map_or(0.0, |of| finite(of.voltage_limit));
        leading(element, "controller", [kp, ki, kd, finite(fastest_input), finite(integral_limit), voltage])
    }

    /// The plain law of a motor that has no states and one input: gain and bias.
    pub fn plain(&self) -> Option<(f64, [f64; 3])> {
        let Motor { inputs, controller, winding, .. } = self.motor;
        if self.motor.states() > 0 || inputs.count() != 1 {
            return None;
        }
        match winding {
            None if inputs.position => Some((controller.kp, [0.0, -controller.kp, -controller.kd])),
            Some(of) if inputs.voltage && of.cogging.amplitude == 0.0 => {
                let gain = of.motor_constant / of.resistance;
                Some((gain, [0.0, 0.0, -gain * of.motor_constant]))
            }
            _ => None,
        }
    }
}

/// A limit that is none where it is 0.
fn limit(given: Option<f64>, otherwise: f64) -> f64 {
    match given {
        Some(0.0) => f64::INFINITY,
        Some(most) if most > 0.0 => most,
        Some(_) => f64::INFINITY,
        None => otherwise,
    }
}

/// Up to N numbers in the place of the first of others.
fn leading<const N: usize>(element: Element<'_>, name: &str, mut numbers: [f64; N]) -> Result<[f64; N], LoadError> {
    let given = element.numbers(name)?.unwrap_or_default();
    if given.len() > N {
        return Err(element.error(format!("{name}: {} numbers: expected at most {N}", given.len())));
    }
    numbers.iter_mut().zip(given).for_each(|(slot, value)| *slot = value);
    Ok(numbers)
}

fn heat(element: Element<'_>, known: Option<Heat>) -> Result<Option<Heat>, LoadError> {
    let numbers =
        known.map_or([0.0; 6], |of| [of.resistance, of.capacity, 0.0, of.coefficient, of.reference, of.ambient]);
    let [mut resistance, mut capacity, time, coefficient, reference, ambient] = leading(element, "thermal", numbers)?;
    if resistance <= 0.0 && capacity <= 0.0 && time <= 0.0 {
        return Ok(None);
    }
    if time > 0.0 && resistance > 0.0 && capacity == 0.0 {
        capacity = time / resistance;
    } else if time > 0.0 && capacity > 0.0 && resistance == 0.0 {
        resistance = time / capacity;
    }
    if !(resistance > 0.0 && capacity > 0.0) {
        let expected = "expected two of thermal resistance, capacity and time constant above 0";
        return Err(element.error(format!("thermal: {expected}")));
    }
    Ok(Some(Heat { resistance, capacity, coefficient, reference, ambient }))
}

fn friction(element: Element<'_>, known: Option<BristleFriction>) -> Result<Option<BristleFriction>, LoadError> {
    let numbers = known.map_or([0.0; 5], |of| [of.stiffness, of.damping, of.sliding, of.sticking, of.speed]);
    let [stiffness, damping, sliding, sticking, speed] = leading(element, "lugre", numbers)?;
    Ok((stiffness > 0.0).then_some(BristleFriction { stiffness, damping, sliding, sticking, speed }))
}

/// The inputs that an element names.
fn inputs_of(element: Element<'_>) -> Result<Option<MotorInputs>, LoadError> {
    let Some(text) = element.attribute("input") else { return Ok(None) };
    if text == "none" {
        return Ok(Some(MotorInputs::default()));
    }
    let mut places = Vec::new();
    for word in text.split_ascii_whitespace() {
        let place = INPUTS.iter().position(|of| *of == word);
        match place.filter(|place| places.last().is_none_or(|last| last < place)) {
            Some(place) => places.push(place),
            None => {
                let expected = "expected some of pos, vel, ff, voltage in this order, or none";
                return Err(element.error(format!("input=\"{}\": {expected}", crate::xml::shortened(text))));
            }
        }
    }
    let has = |place: usize| places.contains(&place);
    Ok(Some(MotorInputs { position: has(0), velocity: has(1), force: has(2), voltage: has(3) }))
}
