//! `<actuator>`: controls, their force laws, and the joints and tendons that they act on.

use multibody::{
    Activation, ActivationDynamics, Actuator, ActuatorLaw, Delay, GearFrame, JointKind, Motor, MotorInputs, Reading,
    Transmission,
};

use super::Reader;
use super::defaults::{ACTUATORS, Attributes};
use super::force_law::ForceLaw;
use super::motor_law::MotorLaw;
use crate::LoadError;
use crate::xml::Element;

/// A position servo whose damping is a ratio to the critical one: set when the model is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct DampingRatio {
    /// The actuator.
    pub actuator: usize,
    /// The ratio.
    pub ratio: f64,
}

/// A muscle that needs the complete model: for its range of lengths, or for its peak force.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnfinishedMuscle {
    /// The actuator.
    pub actuator: usize,
    /// Whether the file gives no range of lengths.
    pub needs_range: bool,
    /// Peak force times this is one over the acceleration that a unit of force makes; None: the file gives the peak force.
    pub scale: Option<f64>,
}

const AXES: &str =
    "a muscle on a ball or free joint, a site or a body is not simulated: it takes a control, but has no force";
const ORIENTATION: &str = "turns a site or another joint than a ball: it takes controls, but has no force";
const MOTOR: &str =
    "a motor on what is no hinge, no slide and no fixed tendon is not simulated: it takes controls, but has no force";
const NO_INPUT: &str = "a motor without inputs is not simulated";
/// MJCF's words for how a delayed control is read.
pub(super) const READINGS: [(&str, Reading); 3] =
    [("zoh", Reading::Latest), ("linear", Reading::Linear), ("cubic", Reading::Cubic)];
const LENGTH_RANGE: &str =
    "no `lengthrange`: lengths within the ranges of the joints are taken, where MuJoCo simulates a pull";

impl<'a> Reader<'_, 'a> {
    /// Reads every `<actuator>` below the root. Joints and tendons must be known.
    pub(super) fn actuators(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in root.children_named("actuator").flat_map(Element::children) {
            if ACTUATORS.contains(&element.name()) {
                self.actuator(root, element)?;
            }
        }
        Ok(())
    }

    fn actuator(&mut self, root: Element<'a>, element: Element<'a>) -> Result<(), LoadError> {
        let attributes = &self.defaults.attributes(element, 0)?;
        let mut law = ForceLaw::MOTOR;
        attributes.layers().try_for_each(|layer| law.apply(layer))?;
        if element.name() == "plugin"
            && let Some(motor) = MotorLaw::plugin(root, element)?
        {
            law.set_motor(motor);
        }
        let index = self.builder.actuators.len();
        let mut transmission = self.transmission(attributes)?;
        self.inertia_and_damping(attributes, &transmission)?;
        if law.orientation.is_some() {
            transmission = self.whole_ball(&law, transmission);
        }
        let motor = law.motor.filter(|law| law.plain().is_none()).map(|law| law.motor);
        let none = ActuatorLaw::default();
        let (force_law, reason) = match (&transmission, law.finish()) {
            (_, Err(reason)) => (none, Some(reason)),
            (on, Ok(_)) if law.orientation.is_some() && !matches!(on, Transmission::Orientation { .. }) => {
                (none, Some(ORIENTATION))
            }
            (on, Ok(_)) if motor.is_some() && !self.has_length(on) => (none, Some(MOTOR)),
            (_, Ok(_)) if law.controls() == 0 => (none, Some(NO_INPUT)),
            (
                Transmission::JointAxes { .. }
                | Transmission::Site { .. }
                | Transmission::SliderCrank { .. }
                | Transmission::Adhesion { .. },
                Ok((law, _)),
            ) if law.muscle.is_some() => (none, Some(AXES)),
            (_, Ok((mut force_law, ratio))) => {
                if let Some(muscle) = &mut force_law.muscle {
                    let range = attributes.array::<2>("lengthrange")?.filter(|[low, high]| low < high);
                    muscle.length_range = range.map_or((0.0, 0.0), |[low, high]| (low, high));
                    if range.is_none() {
                        self.warnings.add(element, LENGTH_RANGE);
                    }
                    let needs_range = range.is_none();
                    self.muscles.push(UnfinishedMuscle { actuator: index, needs_range, scale: law.muscle_scale() });
                }
                self.damping_ratios.extend(ratio.map(|ratio| DampingRatio { actuator: index, ratio }));
                (force_law, None)
            }
        };
        let mut force_range = self.range(attributes, "forcerange", "forcelimited")?;
        force_range = law.motor.and_then(|law| law.saturation).map(|most| (-most, most)).or(force_range);
        let mut ctrl_range = self.range(attributes, "ctrlrange", "ctrllimited")?;
        if law.inherit_range > 0.0 && ctrl_range.is_none() {
            ctrl_range = Some(self.inherited_range(element, &transmission, law.inherit_range)?);
        }
        if let Some(reason) = reason {
            self.warnings.add(element, reason);
            transmission = Transmission::Unsupported;
        }
        let group = attributes.integer("group")?.unwrap_or(0);
        let disabled = (0..31).contains(&group) && self.options.disabled_actuators & 1 << group != 0;
        if disabled || !self.options.flags.actuation {
            transmission = Transmission::Unsupported;
        }
        if !self.options.flags.clamp_ctrl {
            ctrl_range = None;
        }
        attributes.skip(&["user", "actdim"]);
        attributes.ask(&ForceLaw::ATTRIBUTES);
        attributes.ask(&MotorLaw::ATTRIBUTES);
        let delay = delay(attributes)?;
        let is_there = transmission != Transmission::Unsupported;
        let mut activation = self.activation(attributes, &law)?;
        if let (Some(activation), false) = (&mut activation, is_there) {
            activation.dynamics = ActivationDynamics::Frozen;
        }
        let is_early = attributes.flag("actearly")?.unwrap_or(false);
        let motor = motor.filter(|_| is_there).map(|motor| Motor { is_early: is_early || motor.is_early, ..motor });
        let mut ranges = [ctrl_range; MotorInputs::MAX];
        if let Some(MotorLaw { motor: Motor { inputs, winding: None, .. }, ranges: given, .. }) = law.motor
            && self.options.flags.clamp_ctrl
        {
            let own = [given[0].or(ctrl_range), given[1], given[2]];
            let present = [inputs.position, inputs.velocity, inputs.force];
            let present = own.into_iter().zip(present).filter(|(_, is_there)| *is_there);
            ranges.iter_mut().zip(present).for_each(|(range, (own, _))| *range = own);
        }
        if law.controls() == 0 {
            return Ok(());
        }
        let name = self.names.claim(element, "actuator", "", index)?;
        let others = if is_there { Transmission::Input } else { Transmission::Unsupported };
        let law_of_others = ActuatorLaw::default();
        let further = ranges[1..law.controls()].iter().map(|range| Actuator {
            // The first control of several has the name.
            name: String::new(),
            transmission: others.clone(),
            law: law_of_others,
            activation: None,
            motor: None,
            ctrl_range: *range,
            force_range: None,
            delay: None,
            group,
        });
        let (law, ctrl_range) = (force_law, ranges[0]);
        let own = Actuator { name, transmission, law, activation, motor, ctrl_range, force_range, delay, group };
        self.builder.actuators.push(own);
        self.builder.actuators.extend(further);
        Ok(())
    }

    /// What an actuator acts on that turns to an orientation: a ball joint as a whole.
    fn whole_ball(&self, law: &ForceLaw, transmission: Transmission) -> Transmission {
        match (transmission, law.orientation) {
            (Transmission::JointAxes { joint, frame: GearFrame::Child, .. }, Some(input))
                if self.joints[joint].kind == JointKind::Ball =>
            {
                Transmission::Orientation { joint, input }
            }
            (other, _) => other,
        }
    }

    /// Whether it is a joint with one degree of freedom or a fixed tendon.
    fn has_length(&self, transmission: &Transmission) -> bool {
        match *transmission {
            Transmission::Joint { joint, .. } => self.joints[joint].kind.nv() == 1,
            Transmission::Tendon { tendon, .. } => !self.builder.tendons[tendon].is_spatial(),
            _ => false,
        }
    }

    /// The state that the actuator has of its own.
    fn activation(&self, attributes: &Attributes<'_, 'a>, law: &ForceLaw) -> Result<Option<Activation>, LoadError> {
        let range = self.range(attributes, "actrange", "actlimited")?;
        let is_early = attributes.flag("actearly")?.unwrap_or(false);
        Ok(law.dynamics().map(|dynamics| Activation { dynamics, range, is_early }))
    }

    fn transmission(&self, attributes: &Attributes<'_, 'a>) -> Result<Transmission, LoadError> {
        let element = attributes.element();
        let gear = attributes.leading("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
        attributes.skip(&["lengthrange"]);
        let rod = attributes.number("cranklength")?;
        let site = |attribute: &str| self.names.find(element, attribute, "site");
        let targets = ["joint", "jointinparent", "tendon", "site", "cranksite", "slidersite", "body"];
        let attribute = match targets.into_iter().find(|target| element.attribute(target).is_some()) {
            Some("tendon") => {
                let tendon = &self.tendons[self.names.find(element, "tendon", "tendon")?];
                return Ok(Transmission::Tendon { tendon: tendon.index, gear: gear[0] });
            }
            Some("site") => {
                let reference = element.attribute("refsite").map(|_| site("refsite")).transpose()?;
                return Ok(Transmission::Site { site: site("site")?, reference, gear });
            }
            Some("cranksite" | "slidersite") => {
                let (crank, slider) = (site("cranksite")?, site("slidersite")?);
                let Some(rod) = rod.filter(|rod| *rod > 0.0) else {
                    return Err(element.error("cranklength: expected a number above 0, with cranksite and slidersite"));
                };
                return Ok(Transmission::SliderCrank { crank, slider, rod, gear: gear[0] });
            }
            Some("body") => return Ok(Transmission::Adhesion { body: self.names.find(element, "body", "body")? }),
            Some(attribute) => attribute,
            None => return Err(element.error("no transmission: expected an attribute such as `joint`")),
        };
        let joint = self.names.find(element, attribute, "joint")?;
        if !self.joints[joint].kind.rotates_about_point() {
            return Ok(Transmission::Joint { joint, gear: gear[0] });
        }
        let frame = if attribute == "jointinparent" { GearFrame::Parent } else { GearFrame::Child };
        Ok(Transmission::JointAxes { joint, gear, frame })
    }

    /// The range of controls that `inheritrange` takes from the joint or tendon.
    fn inherited_range(
        &self,
        element: Element<'a>,
        transmission: &Transmission,
        scale: f64,
    ) -> Result<(f64, f64), LoadError> {
        let range = match *transmission {
            Transmission::Joint { joint, .. } => self.joints[joint].range,
            Transmission::Tendon { tendon, .. } => {
                self.tendons.iter().find(|t| t.index == tendon).and_then(|t| t.range)
            }
            _ => None,
        };
        let (low, high) =
            range.ok_or_else(|| element.error("inheritrange: expected a joint or tendon with a range"))?;
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        Ok((middle - scale * half, middle + scale * half))
    }

    /// What the actuator adds to the inertia and the damping of the joint or tendon that it acts on, through its gear.
    fn inertia_and_damping(
        &mut self,
        attributes: &Attributes<'_, 'a>,
        transmission: &Transmission,
    ) -> Result<(), LoadError> {
        let element = attributes.element();
        for name in ["armature", "damping"] {
            let numbers = attributes.numbers(name)?.unwrap_or_default();
            let &[own, ref powers @ ..] = &numbers[..] else { continue };
            if powers.iter().any(|&x| x != 0.0) {
                self.warnings.add_attribute(element, name, "only the linear part is simulated");
            }
            if !(own >= 0.0 && own.is_finite()) {
                return Err(element.error(format!("{name}=\"{own}\": expected a finite number, not below 0")));
            }
            let (gear, to) = match *transmission {
                Transmission::Joint { joint, gear } | Transmission::JointAxes { joint, gear: [gear, ..], .. } => {
                    let joint = self.builder.nth_joint_mut(joint);
                    (gear, joint.map(|of| if name == "armature" { &mut of.armature } else { &mut of.damping }))
                }
                Transmission::Tendon { tendon, gear } => {
                    let tendon = self.builder.tendons.get_mut(tendon);
                    (gear, tendon.map(|of| if name == "armature" { &mut of.armature } else { &mut of.damping }))
                }
                _ => (0.0, None),
            };
            match to {
                Some(to) => *to += gear * gear * own,
                None if own != 0.0 => {
                    self.warnings.add_attribute(element, name, "of what acts on no joint and no tendon: ignored");
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// How controls are read from those of the last steps; samples without a delay are kept for nobody.
fn delay(attributes: &Attributes<'_, '_>) -> Result<Option<Delay>, LoadError> {
    let (time, samples) = (attributes.number("delay")?.unwrap_or(0.0), attributes.integer("nsample")?.unwrap_or(0));
    let reading = attributes.keyword("interp", &READINGS)?.unwrap_or_default();
    if time == 0.0 {
        return Ok(None);
    }
    let element = attributes.element();
    if !(time > 0.0 && time.is_finite()) {
        return Err(element.error(format!("delay=\"{time}\": expected a time in seconds, not below 0")));
    }
    match usize::try_from(samples) {
        Ok(samples @ 1..=Delay::MAX_SAMPLES) => Ok(Some(Delay { time, samples, reading })),
        _ => {
            let most = Delay::MAX_SAMPLES;
            let message = format!("nsample=\"{samples}\": expected 1 to {most} with `delay`: its length in time steps");
            Err(element.error(message))
        }
    }
}
