//! Actuators.

use multibody::{
    Activation, ActivationDynamics, Actuator, ActuatorLaw, Delay, GearFrame, JointKind, Muscle, OrientationInput,
    Transmission,
};

use super::super::actuator::READINGS;
use super::super::force_law::CHARTS;
use super::motors::motor;
use super::numbers::{list, number};
use super::xml::{Attributes, Xml};
use super::{WriteError, Writer, label, named};

/// The group of actuators that give no force.
pub(super) const DISABLED_GROUP: u32 = 30;

/// Gain and bias of a muscle, as both have them.
fn muscle(peak: f64, muscle: &Muscle) -> Attributes {
    let Muscle { length_range, range, active, fastest, passive, lengthening } = *muscle;
    // Where the peak force is given, the scale (200 by default) has no part in it.
    let numbers = list(&[range.0, range.1, peak, 200.0, active.0, active.1, fastest, passive, lengthening]);
    vec![
        ("gaintype", "muscle".into()),
        ("gainprm", numbers.clone()),
        ("biastype", "muscle".into()),
        ("biasprm", numbers),
        ("lengthrange", list(&[length_range.0, length_range.1])),
    ]
}

/// The attributes of an actuator with a state of its own, or with a gain that depends on its motion.
fn general(actuator: &Actuator) -> Attributes {
    let ActuatorLaw { gain, gain_slopes: [g1, g2], bias, muscle: curves } = actuator.law;
    let affine = || {
        vec![
            ("gaintype", "affine".into()),
            ("gainprm", list(&[gain, g1, g2])),
            ("biastype", "affine".into()),
            ("biasprm", list(&bias)),
        ]
    };
    let mut attributes = curves.map_or_else(affine, |curves| muscle(gain, &curves));
    let Some(Activation { dynamics, range, is_early }) = actuator.activation else { return attributes };
    let (kind, numbers) = match dynamics {
        // What is frozen stands in a group that is switched off.
        ActivationDynamics::Integrator | ActivationDynamics::Frozen => ("integrator", Vec::new()),
        ActivationDynamics::Filter { time_constant } => ("filter", vec![time_constant]),
        ActivationDynamics::ExactFilter { time_constant } => ("filterexact", vec![time_constant]),
        ActivationDynamics::Muscle { time_constants: (rising, falling), smoothing } => {
            ("muscle", vec![rising, falling, smoothing])
        }
    };
    attributes.push(("dyntype", kind.into()));
    if !numbers.is_empty() {
        attributes.push(("dynprm", list(&numbers)));
    }
    if let Some((low, high)) = range {
        attributes.extend([("actrange", list(&[low, high])), ("actlimited", "true".into())]);
    }
    if is_early {
        attributes.push(("actearly", "true".into()));
    }
    attributes
}

/// How samples of a control or a sensor are kept and read.
pub(super) fn delay(of: &Delay) -> Attributes {
    let word = READINGS.iter().find(|(_, reading)| *reading == of.reading);
    let word = word.map(|(word, _)| ("interp", (*word).into()));
    [("delay", number(of.time)), ("nsample", of.samples.to_string())].into_iter().chain(word).collect()
}

/// The element of a law with one control, and its attributes.
fn force_law(actuator: &Actuator) -> Result<(&'static str, Attributes), String> {
    let (gain, bias) = (actuator.law.gain, actuator.law.bias);
    // MuJoCo and the reader take this one for a damping ratio.
    if gain == -bias[1] && bias[2] > 0.0 {
        return Err("a position servo that pushes along its velocity: MJCF takes that for a damping ratio".into());
    }
    let law_is_plain = actuator.law.gain_slopes == [0.0; 2] && actuator.law.muscle.is_none();
    let adheres = matches!(actuator.transmission, Transmission::Adhesion { .. });
    if actuator.activation.is_some() || !law_is_plain || adheres {
        return Ok(("general", general(actuator)));
    }
    Ok(match bias {
        [0.0, 0.0, 0.0] if gain == 1.0 => ("motor", Vec::new()),
        [0.0, p, d] if p == -gain && gain > 0.0 => {
            let kv = if d == 0.0 { Vec::new() } else { vec![("kv", number(-d))] };
            ("position", [("kp", number(gain))].into_iter().chain(kv).collect())
        }
        [0.0, 0.0, d] if d == -gain && gain > 0.0 => ("velocity", vec![("kv", number(gain))]),
        [0.0, 0.0, 0.0] => ("general", vec![("gainprm", number(gain))]),
        _ => {
            let bias = vec![("biastype", "affine".into()), ("biasprm", list(&bias))];
            ("general", [("gainprm", number(gain))].into_iter().chain(bias).collect())
        }
    })
}

/// A servo of a ball to an orientation.
fn orientation(actuator: &Actuator, input: OrientationInput) -> Attributes {
    let word = CHARTS.iter().find(|(_, of)| *of == input).map(|(word, _)| ("input", (*word).into()));
    let ActuatorLaw { gain, bias, .. } = actuator.law;
    [("kp", number(gain)), ("kv", number(-bias[2]))].into_iter().chain(word).collect()
}

impl Writer<'_> {
    pub(super) fn actuators(&mut self, xml: &mut Xml) -> Result<(), WriteError> {
        if self.model.actuators.is_empty() {
            return Ok(());
        }
        xml.open("actuator", &[]);
        for (index, actuator) in self.model.actuators.iter().enumerate() {
            if actuator.transmission == Transmission::Input {
                continue;
            }
            let label = label("actuator", &actuator.name, index);
            let mut attributes = named(&self.actuators[index]);
            attributes.extend(self.transmission(&actuator.transmission, &label)?);
            let (kind, law) = match (&actuator.motor, &actuator.transmission) {
                (Some(own), _) => {
                    let inputs = &self.model.actuators[index..][..own.inputs.count()];
                    if actuator.law.gain != 1.0 {
                        self.note(&label, "MJCF has no gain on a motor: left out");
                    }
                    motor(own, inputs)
                }
                (None, Transmission::Orientation { input, .. }) => ("orientation", orientation(actuator, *input)),
                _ => force_law(actuator).map_err(|reason| WriteError { element: label.clone(), reason })?,
            };
            attributes.extend(law);
            attributes.extend(self.ranges(actuator, kind, &label));
            attributes.extend(actuator.delay.iter().flat_map(delay));
            if actuator.group != 0 && actuator.transmission != Transmission::Unsupported {
                attributes.push(("group", actuator.group.to_string()));
            }
            xml.empty(kind, &attributes);
        }
        xml.close("actuator");
        Ok(())
    }

    /// Ranges of controls and forces, as far as the element has them.
    fn ranges(&mut self, actuator: &Actuator, kind: &str, label: &str) -> Attributes {
        let mut attributes = Attributes::new();
        if let Some((low, high)) = actuator.ctrl_range.filter(|_| kind != "pid") {
            attributes.push(("ctrlrange", self.interval(low, high, false, label)));
            if kind != "orientation" {
                attributes.push(("ctrllimited", "true".into()));
            }
        }
        if let Some((low, high)) = actuator.force_range.filter(|_| kind != "dcmotor") {
            attributes
                .extend([("forcerange", self.interval(low, high, false, label)), ("forcelimited", "true".into())]);
        }
        attributes
    }

    fn transmission(&mut self, transmission: &Transmission, label: &str) -> Result<Attributes, WriteError> {
        let fail = |reason: &str| Err(WriteError { element: label.into(), reason: reason.into() });
        let geared = |gear: &[f64]| if gear == [1.0] { Vec::new() } else { vec![("gear", list(gear))] };
        match *transmission {
            Transmission::Joint { joint, .. } if self.model.joints[joint].kind.nodes() > 1 => {
                fail("acts on a joint of several axes, which MJCF has not: expected single axes")
            }
            Transmission::Joint { joint, gear } => {
                Ok([("joint", self.joints[joint].clone())].into_iter().chain(geared(&[gear])).collect())
            }
            Transmission::JointAxes { joint, .. } if !self.model.joints[joint].kind.rotates_about_point() => {
                fail("acts along axes of a joint that MJCF has not: expected a ball or free joint")
            }
            Transmission::JointAxes { joint, gear, frame } => {
                let target = if frame == GearFrame::Parent { "jointinparent" } else { "joint" };
                Ok(vec![(target, self.joints[joint].clone()), ("gear", list(&gear))])
            }
            Transmission::Tendon { tendon, gear } => {
                Ok([("tendon", self.tendons[tendon].clone())].into_iter().chain(geared(&[gear])).collect())
            }
            Transmission::Site { site, reference, gear } => {
                let reference = reference.map(|site| ("refsite", self.sites[site].clone()));
                let site = ("site", self.sites[site].clone());
                Ok([site].into_iter().chain(reference).chain([("gear", list(&gear))]).collect())
            }
            Transmission::SliderCrank { crank, slider, rod, gear } => {
                let (crank, slider) = (self.sites[crank].clone(), self.sites[slider].clone());
                let own = [("cranksite", crank), ("slidersite", slider), ("cranklength", number(rod))];
                Ok(own.into_iter().chain(geared(&[gear])).collect())
            }
            Transmission::Adhesion { body } => Ok(vec![("body", self.bodies[body].clone())]),
            Transmission::Orientation { joint, .. } => Ok(vec![("joint", self.joints[joint].clone())]),
            Transmission::Input => Ok(Vec::new()),
            Transmission::Unsupported => {
                let Some(joint) = self.model.joints.iter().position(|joint| joint.kind != JointKind::Weld) else {
                    return fail("gives no force, and there is no joint that it could stand at");
                };
                self.note(label, "gives no force in this model: it is written as one of a group that is switched off");
                Ok(vec![("joint", self.joints[joint].clone()), ("group", DISABLED_GROUP.to_string())])
            }
        }
    }
}
