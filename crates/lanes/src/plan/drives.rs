//! Actuators: those whose force opposes motion are implicit, and constraints of the step where they are at their limits.

use geometry::Scene;
use multibody::{Actuator, Joint, Model, Transmission};

use super::{Contacts, NotInLanes, PlanPair};

/// An actuator along what it acts on; how strong it is stands in [`super::ActuatorNumbers`].
#[derive(Clone, Debug)]
pub(crate) struct PlanActuator {
    pub ctrl: usize,
    pub ctrl_range: (f64, f64),
    pub gear: f64,
    /// Force per length and per velocity.
    pub bias: [f64; 2],
    pub force_range: (f64, f64),
}

/// The state that an actuator has of its own: a + gain (u − leak a) in the next step, see [`multibody::Activation`].
#[derive(Clone, Debug)]
pub(crate) struct PlanActivation {
    pub ctrl: usize,
    pub ctrl_range: (f64, f64),
    pub gain: f64,
    pub leak: f64,
    pub range: (f64, f64),
    /// Whether the force of a step is that of the activation at its end.
    pub is_early: bool,
}

impl PlanActivation {
    /// Those of a model, in the order of its activations. Lanes take forces at the beginning of a step, θ = 0.
    pub fn of_model(model: &Model, dt: f64) -> impl Iterator<Item = Self> {
        model.actuators.iter().enumerate().filter_map(move |(ctrl, actuator)| {
            let activation = actuator.activation?;
            let (gain, leak) = activation.change(dt, 0.0)?;
            Some(Self {
                ctrl,
                ctrl_range: actuator.ctrl_range.unwrap_or(FREE),
                gain,
                leak,
                range: activation.range.unwrap_or(FREE),
                is_early: activation.is_early,
            })
        })
    }
}

/// An actuator that pulls a body and what it touches together.
#[derive(Clone, Debug)]
pub(crate) struct PlanAdhesion {
    pub actuator: PlanActuator,
    pub activation: Option<usize>,
    /// Whether a pair of geoms is one of the body, by pairs.
    pub pairs: Vec<bool>,
}

impl PlanAdhesion {
    /// Those of a model.
    pub fn of_model(model: &Model, scene: &Scene, contacts: &Contacts) -> Vec<Self> {
        let of = |(ctrl, actuator): (usize, &Actuator)| {
            let Transmission::Adhesion { body } = actuator.transmission else { return None };
            let is_of_body = |pair: &PlanPair| pair.pair.geoms.iter().any(|geom| scene.geoms[*geom].body == body);
            Some(Self {
                actuator: PlanActuator::new(model, ctrl, 1.0),
                activation: model.activation_index(ctrl),
                pairs: contacts.pairs.iter().map(is_of_body).collect(),
            })
        };
        model.actuators.iter().enumerate().filter_map(of).collect()
    }
}

/// The actuators of one degree of freedom, or several whose sum is limited.
#[derive(Clone, Debug)]
pub(crate) struct PlanDrive {
    pub q: usize,
    pub v: usize,
    /// None of a degree of freedom of PD control.
    pub actuators: Vec<PlanActuator>,
    /// Least and greatest force at the joint.
    pub effort_limit: (f64, f64),
}

pub(crate) const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl PlanActuator {
    pub fn new(model: &Model, ctrl: usize, gear: f64) -> Self {
        let actuator = &model.actuators[ctrl];
        Self {
            ctrl,
            // An activation goes its own way, whatever the range of its control.
            ctrl_range: actuator.ctrl_range.filter(|_| actuator.activation.is_none()).unwrap_or(FREE),
            gear,
            bias: [actuator.law.bias[1], actuator.law.bias[2]],
            force_range: actuator.force_range.unwrap_or(FREE),
        }
    }

    /// Those of a tendon.
    pub fn of_tendon(model: &Model, tendon: usize) -> Vec<Self> {
        let of = |(ctrl, actuator): (usize, &Actuator)| match actuator.transmission {
            Transmission::Tendon { tendon: of, gear } if of == tendon => Some(Self::new(model, ctrl, gear)),
            _ => None,
        };
        model.actuators.iter().enumerate().filter_map(of).collect()
    }

    /// Whether its force opposes motion.
    pub fn has_impedance(&self) -> bool {
        self.bias.iter().any(|bias| *bias < 0.0) && self.gear != 0.0
    }

    /// Limits of the force on what it acts on.
    pub fn limits(&self) -> (f64, f64) {
        let (a, b) = (self.gear * self.force_range.0, self.gear * self.force_range.1);
        if self.gear == 0.0 { (0.0, 0.0) } else { (a.min(b), a.max(b)) }
    }
}

impl PlanDrive {
    /// The drives of a model.
    pub fn of_model(model: &Model) -> Result<Vec<Self>, NotInLanes> {
        let mut drives: Vec<Self> = Vec::new();
        for (ctrl, actuator) in model.actuators.iter().enumerate() {
            let (joint, gear): (&Joint, f64) = match actuator.transmission {
                Transmission::Joint { joint, gear } if model.joints[joint].kind.nv() == 1 => {
                    (&model.joints[joint], gear)
                }
                Transmission::Unsupported | Transmission::Tendon { .. } | Transmission::Adhesion { .. } => continue,
                Transmission::Site { .. } | Transmission::SliderCrank { .. } => {
                    return Err(NotInLanes(format!("actuator {ctrl} acts on a site")));
                }
                _ => return Err(NotInLanes(format!("actuator {ctrl} acts on more than one degree of freedom"))),
            };
            let own = PlanActuator::new(model, ctrl, gear);
            let effort_limit = joint.effort_limit.unwrap_or(FREE);
            match drives.iter_mut().find(|drive| drive.v == joint.v && effort_limit != FREE) {
                Some(drive) => drive.actuators.push(own),
                None => drives.push(Self { q: joint.q, v: joint.v, actuators: vec![own], effort_limit }),
            }
        }
        Ok(drives)
    }

    /// Whether it has impedance.
    pub fn has_impedance(&self) -> bool {
        self.actuators.iter().any(PlanActuator::has_impedance)
    }

    /// Whether its force has limits; PD control drives apart what it limits alone.
    pub fn is_limited(&self) -> bool {
        let is_actuator_limited = |actuator: &PlanActuator| actuator.force_range != FREE;
        self.actuators.is_empty() || self.effort_limit != FREE || self.actuators.iter().any(is_actuator_limited)
    }

    /// Whether it is one actuator that gives no force.
    pub fn is_idle(&self, model: &Model) -> bool {
        let [actuator] = &self.actuators[..] else { return false };
        let law = &model.actuators[actuator.ctrl].law;
        let (low, high) = actuator.limits();
        law.gain == 0.0 && law.bias == [0.0; 3] && low <= 0.0 && high >= 0.0
    }
}
