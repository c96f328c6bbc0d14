//! Actuators in the free motion: their stiffness and damping are implicit, their force limits are kept.

mod motors;
mod orientation;

use std::ops::Range;

use lanes::ConstraintName;
use multibody::{
    Actuator, GearFrame, InverseWeights, Joint, Model, MotorMotion, Node, StepForce, Tendon, Transmission,
    gear_of_axes, length_of_axes,
};

pub(crate) use motors::ActuationStart;
use motors::{ControlRanges, MotorStart, control_ranges, motor_force};
pub(crate) use orientation::OrientationDrive;

use crate::scheme::{Discretization, SpringDamper};

/// A force on one degree of freedom that opposes its motion, within limits.
///
/// While the step keeps it within its limits it is part of A and of the free motion. If not, it is a constraint of the
/// contact problem (`sap::Law::bounded`): the convex problem is the same, whichever drives are saturated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drive {
    pub key: ConstraintName,
    /// Degree of freedom within the tree.
    pub dof: usize,
    pub force: StepForce<f64>,
    /// Whether it is a constraint.
    pub is_saturated: bool,
}

/// The law of a force that is a constraint; `v` is the velocity at the beginning of the step.
pub(crate) fn law(force: &StepForce<f64>, v: f64) -> sap::Law<f64> {
    let StepForce { impulse, impedance, low, high } = *force;
    sap::Law::bounded(1.0 / impedance, v + impulse / impedance, low, high)
}

/// What force laws take of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    ctrl: &'a [f64],
    act: &'a [f64],
    /// Whether `ctrl` has activations of the step in the place of controls.
    is_resolved: bool,
}

impl<'a> Inputs<'a> {
    /// Those of a step that begins with these controls and activations.
    pub fn new(ctrl: &'a [f64], act: &'a [f64]) -> Self {
        Self { ctrl, act, is_resolved: false }
    }

    /// Those of a step that was made, see [`replace_by_activations`], with the activations at its beginning.
    pub fn resolved(inputs: &'a [f64], act: &'a [f64]) -> Self {
        Self { ctrl: inputs, act, is_resolved: true }
    }

    /// The controls from that of an actuator on.
    pub fn controls(&self, ctrl: usize) -> &'a [f64] {
        self.ctrl.get(ctrl..).unwrap_or_default()
    }

    /// The activations from a place on.
    pub fn states(&self, act: usize) -> &'a [f64] {
        self.act.get(act..).unwrap_or_default()
    }
}

/// Puts the activations of a step in the place of the controls of actuators that have them. Controls of motors stay.
pub(crate) fn replace_by_activations(model: &Model, ctrl: &mut [f64], act: &[f64], step: &Discretization) {
    let mut at = 0;
    for (actuator, u) in model.actuators.iter().zip(ctrl) {
        if let (Some(activation), Some(a)) = (actuator.activation, act.get(at)) {
            *u = activation.of_step(clamp(*u, actuator.ctrl_range), *a, step.dt, step.theta.q);
        }
        at += actuator.states();
    }
}

/// Moves activations to the end of a step.
pub(crate) fn advance_activations(model: &Model, start: &ActuationStart<'_>, act: &mut [f64], step: &Discretization) {
    let mut rest = act;
    for (ctrl, (actuator, u)) in model.actuators.iter().zip(start.ctrl).enumerate() {
        let Some((own, others)) = rest.split_at_mut_checked(actuator.states()) else { return };
        if let (Some(activation), [a]) = (actuator.activation, &mut *own) {
            *a = activation.next(clamp(*u, actuator.ctrl_range), *a, step.dt, step.theta.q);
        } else if !own.is_empty() {
            motors::advance_motor(model, ctrl, start, own, step.dt);
        }
        rest = others;
    }
}

/// What the force law of an actuator takes of the model that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leverage {
    /// How easily the length is changed: [`InverseWeights::of_actuator`].
    pub mobility: f64,
    /// See [`Model::turn_of_servo`].
    pub turn: Option<f64>,
}

impl Leverage {
    /// That of the actuator `ctrl`.
    pub fn new(model: &Model, weights: &InverseWeights, ctrl: usize) -> Self {
        Self { mobility: weights.of_actuator(model, ctrl), turn: model.turn_of_servo(ctrl) }
    }
}

/// An actuator, and where its control and its activation stand.
#[derive(Clone, Debug)]
pub(crate) struct PlacedActuator {
    pub ctrl: usize,
    act: usize,
    actuator: Actuator,
    ranges: ControlRanges,
    leverage: Leverage,
}

impl PlacedActuator {
    pub fn new(model: &Model, weights: &InverseWeights, ctrl: usize) -> Self {
        let act = model.activation_index(ctrl).unwrap_or_default();
        let (ranges, leverage) = (control_ranges(model, ctrl), Leverage::new(model, weights, ctrl));
        Self { ctrl, act, actuator: model.actuators[ctrl].clone(), ranges, leverage }
    }

    /// Its force without control: constant, per unit of length, per unit of velocity.
    pub fn bias(&self) -> [f64; 3] {
        self.actuator.law.bias
    }

    /// The control, or the activation of the step.
    fn input(&self, inputs: Inputs<'_>, step: &Discretization) -> f64 {
        let u = inputs.ctrl[self.ctrl];
        match self.actuator.activation {
            Some(activation) if !inputs.is_resolved => {
                activation.of_step(clamp(u, self.actuator.ctrl_range), inputs.act[self.act], step.dt, step.theta.q)
            }
            _ => u,
        }
    }

    /// Its force over the step, see [`force_law`].
    pub fn force(&self, inputs: Inputs<'_>, length: f64, velocity: f64, step: &Discretization) -> StepForce<f64> {
        let Some(motor) = &self.actuator.motor else {
            return force_law(&self.actuator, self.input(inputs, step), length, velocity, self.leverage, step);
        };
        let start = MotorStart::new(inputs.controls(self.ctrl), &self.ranges, inputs.states(self.act));
        let motion = MotorMotion { length, velocity, dt: step.dt };
        motor_force(&self.actuator, start.step(motor, motion), velocity, self.leverage.mobility, step)
    }
}

/// An actuator of a joint with one degree of freedom, or all of them where their sum is limited.
#[derive(Clone, Debug)]
pub(crate) struct Servo {
    /// Coordinate and degree of freedom within the tree.
    q: usize,
    dof: usize,
    /// With their gears.
    actuators: Vec<(f64, PlacedActuator)>,
    /// Least and greatest force at the joint.
    effort_limit: Option<(f64, f64)>,
}

impl Servo {
    /// Adds the actuator `ctrl` to the servos of its tree, if it is one; `first` is the tree's first node.
    pub fn add(model: &Model, weights: &InverseWeights, first: &Node<f64>, ctrl: usize, servos: &mut Vec<Self>) {
        let actuator = &model.actuators[ctrl];
        let Transmission::Joint { joint, gear } = actuator.transmission else { return };
        let joint = &model.joints[joint];
        if joint.kind.nv() != 1 {
            return;
        }
        let node = &model.tree.nodes[joint.nodes.start];
        let (q, dof, effort_limit) = (node.q - first.q, node.v - first.v, joint.effort_limit);
        let actuator = (gear, PlacedActuator::new(model, weights, ctrl));
        match servos.iter_mut().find(|servo| servo.dof == dof && effort_limit.is_some()) {
            Some(servo) => servo.actuators.push(actuator),
            None => servos.push(Self { q, dof, actuators: vec![actuator], effort_limit }),
        }
    }

    /// Adds the limit of a joint without actuators.
    pub fn add_limit(joint: &Joint, first: &Node<f64>, servos: &mut Vec<Self>) {
        let (q, dof) = (joint.q - first.q, joint.v - first.v);
        if servos.iter().all(|servo| servo.dof != dof) {
            servos.push(Self { q, dof, actuators: Vec::new(), effort_limit: joint.effort_limit });
        }
    }

    /// Its degree of freedom within the tree.
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// Sets the forces of its actuators in a step, before their gears; `q` and `start` are the tree's at the beginning, `end` its velocities after.
    pub fn write_forces(
        &self,
        inputs: Inputs<'_>,
        q: &[f64],
        [start, end]: [&[f64]; 2],
        step: &Discretization,
        actuators: &mut [f64],
    ) {
        for (gear, actuator) in &self.actuators {
            let [q, start, end] = [q[self.q], start[self.dof], end[self.dof]].map(|x| gear * x);
            actuators[actuator.ctrl] = actuator.force(inputs, q, start, step).over(end - start) / step.dt;
        }
    }

    /// The servo's force in a step, as a drive. What other actuators do at the joint `beside` it, those of tendons and gravity compensation, N
    /// or N·m, is no part of the drive, but of what the joint limits.
    ///
    /// Of actuators whose sum is limited, those with limits of their own and impedance reach these together: with one such
    /// actuator at most, as joints have, the sum is exact.
    pub fn drive(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], beside: f64, step: &Discretization) -> Drive {
        let of = |(gear, actuator): &(f64, PlacedActuator)| {
            actuator.force(inputs, gear * q[self.q], gear * v[self.dof], step).geared(*gear)
        };
        let (mut force, mut ctrl) = (StepForce::ZERO, 0);
        if let Some((first, others)) = self.actuators.split_first() {
            ctrl = first.1.ctrl;
            force = others.iter().fold(of(first), |sum, other| sum.and(of(other)));
        }
        if let Some((least, most)) = self.effort_limit {
            force = force.within(step.dt * (least - beside), step.dt * (most - beside));
        }
        Drive { key: ConstraintName::servo(ctrl), dof: self.dof, force, is_saturated: false }
    }
}

/// Least and greatest sum of the impulses of actuators, before their gears.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumLimits {
    pub least: f64,
    pub most: f64,
}

impl SumLimits {
    /// Those of a tendon over `dt`, s; none where it has none.
    pub fn of_tendon(tendon: &Tendon, dt: f64) -> Option<Self> {
        tendon.effort_limit.map(|(least, most)| Self { least: dt * least, most: dt * most })
    }

    /// What brings a sum within them: the factor of all that it has.
    pub fn share(self, sum: f64) -> f64 {
        let Self { least, most } = self;
        if sum < least || sum > most { sum.max(least).min(most) / sum } else { 1.0 }
    }
}

/// The forces of actuators on one thing as one, with their gears, where the sum of those before the gears is limited.
///
/// At v₀ it is exact: all are scaled by the factor of [`SumLimits::share`], then each is cut to its own limits. A sum that meets its limit within
/// the step is cut there if all have the same gear.
pub(crate) fn limited_sum(
    forces: impl Iterator<Item = (f64, StepForce<f64>)> + Clone,
    limits: SumLimits,
) -> StepForce<f64> {
    let SumLimits { least, most } = limits;
    let (mut before, mut along) = (0.0, 0.0);
    for (gear, force) in forces.clone() {
        before += force.impulse;
        along += gear * force.impulse;
    }
    let sum = forces.clone().map(|(gear, force)| force.geared(gear)).reduce(StepForce::and).unwrap_or(StepForce::ZERO);
    let share = limits.share(before);
    if share == 1.0 {
        let gear = forces.clone().next().map_or(0.0, |(gear, _)| gear);
        let is_common = forces.clone().all(|(other, _)| other == gear);
        // What each one's own limits leave may be more than the limit of the sum.
        let (a, b, start) = (gear * least, gear * most, sum.over(0.0));
        return if is_common { sum.within(a.min(b).min(start), a.max(b).max(start)) } else { sum };
    }
    let cut: f64 = forces.map(|(gear, force)| gear * (share * force.impulse).max(force.low).min(force.high)).sum();
    let opposite = along * if before > most { least / before } else { most / before };
    let (low, high) = if along > 0.0 { (opposite.min(cut), cut) } else { (cut, opposite.max(cut)) };
    StepForce { impulse: cut + (1.0 - share) * along, low, high, ..sum }
}

/// The force of an actuator over a step, its parts with length and velocity where the scheme takes them; `length` and
/// `velocity` are those at the beginning, `input` the control or the activation of the step.
pub(crate) fn force_law(
    actuator: &Actuator,
    input: f64,
    length: f64,
    velocity: f64,
    leverage: Leverage,
    step: &Discretization,
) -> StepForce<f64> {
    let dt = step.dt;
    let law = &actuator.law;
    let u = actuator.setpoint(input, length, leverage.turn);
    // What would feed energy in stays explicit: an implicit negative impedance is no convex problem.
    let [force, b1, b2] = law.at(u, length, velocity);
    let (stiffness, damping) = ((-b1).max(0.0), (-b2).max(0.0));
    let (low, high) = actuator.force_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let SpringDamper { ahead, impedance } = step.resist(stiffness, damping, leverage.mobility);
    StepForce { impulse: dt * (force - ahead * velocity), impedance, low: dt * low, high: dt * high }
}

/// The force of an actuator along axes of a joint, before its gear.
pub(crate) fn axis_force(actuator: &Actuator, input: f64, length: f64, velocity: f64, turn: Option<f64>) -> f64 {
    let law = &actuator.law;
    let u = actuator.setpoint(input, length, turn);
    clamp(law.at(u, length, velocity)[0], actuator.force_range)
}

/// An actuator along axes of a ball or free joint; explicit.
#[derive(Clone, Debug)]
pub(crate) struct AxisDrive {
    /// Coordinates and degrees of freedom within the tree.
    qs: Range<usize>,
    dofs: Range<usize>,
    gear: [f64; 6],
    frame: GearFrame,
    actuator: PlacedActuator,
}

impl AxisDrive {
    /// The drive of actuator `ctrl`, if it is one; `first` is the first node of its tree.
    pub fn new(model: &Model, weights: &InverseWeights, first: &Node<f64>, ctrl: usize) -> Option<Self> {
        let actuator = &model.actuators[ctrl];
        let Transmission::JointAxes { joint, gear, frame } = actuator.transmission else { return None };
        let joint = &model.joints[joint];
        joint.kind.rotates_about_point().then(|| {
            let (q, v) = (joint.q - first.q, joint.v - first.v);
            let (qs, dofs) = (q..q + joint.kind.nq(), v..v + joint.kind.nv());
            Self { qs, dofs, gear, frame, actuator: PlacedActuator::new(model, weights, ctrl) }
        })
    }

    /// Its gear, and its control with its force before that; `q` is the tree's at the beginning of the step, `v` where its scheme takes forces.
    pub fn force(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], step: &Discretization) -> ([f64; 6], (usize, f64)) {
        let q = &q[self.qs.clone()];
        let gear = gear_of_axes(self.gear, self.frame, q);
        let velocity: f64 = gear.iter().zip(&v[self.dofs.clone()]).map(|(gear, v)| gear * v).sum();
        let length = length_of_axes(self.gear, q);
        let PlacedActuator { actuator, leverage, .. } = &self.actuator;
        let input = self.actuator.input(inputs, step);
        (gear, (self.actuator.ctrl, axis_force(actuator, input, length, velocity, leverage.turn)))
    }

    /// Adds the impulse to the right-hand side; for arguments see [`force`](Self::force).
    pub fn add_impulse(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], step: &Discretization, rhs: &mut [f64]) {
        let (gear, (_, force)) = self.force(inputs, q, v, step);
        for (rhs, gear) in rhs[self.dofs.clone()].iter_mut().zip(gear) {
            *rhs += step.dt * gear * force;
        }
    }
}

fn clamp(x: f64, range: Option<(f64, f64)>) -> f64 {
    match range {
        Some((low, high)) => x.max(low).min(high),
        None => x,
    }
}
