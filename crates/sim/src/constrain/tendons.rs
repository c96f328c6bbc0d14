//! Fixed tendons: their limits, springs, friction and inertia, and the actuators on them.

use multibody::{Model, Tendon, Transmission};
use sap::BoxConstraint;

use super::sums::{Sum, push_terms};
use super::{ConstraintSet, Context, Start};
use crate::actuation::{ForceOfStep, Inputs, PlacedActuator};
use crate::scheme::Discretization;
use crate::simulation::forces::{LastStep, StepForces};
use crate::tree_workspace::TreeWorkspace;
use crate::warm_start::Key;
use crate::{Energy, State};

/// An actuator on a tendon.
#[derive(Clone, Debug)]
struct TendonActuator {
    gear: f64,
    actuator: PlacedActuator,
}

/// A fixed tendon of the model and the actuators on it.
#[derive(Clone, Debug)]
pub(crate) struct TendonForces {
    sum: Sum,
    tendon: Tendon,
    actuators: Vec<TendonActuator>,
}

impl TendonForces {
    /// Those of the model.
    pub fn of_model(model: &Model, tree_of: &[usize]) -> Vec<Self> {
        let acts_on = |tendon: usize| {
            model.actuators.iter().enumerate().filter_map(move |(ctrl, actuator)| match actuator.transmission {
                Transmission::Tendon { tendon: of, gear } if of == tendon => {
                    Some(TendonActuator { gear, actuator: PlacedActuator::new(model, ctrl) })
                }
                _ => None,
            })
        };
        let of = |(k, tendon): (usize, &Tendon)| Self {
            sum: Sum::new(model, tree_of, &tendon.terms),
            tendon: tendon.clone(),
            actuators: acts_on(k).collect(),
        };
        model.tendons.iter().enumerate().map(of).collect()
    }

    /// The forces of the actuators over the step, along the tendon.
    fn drives(
        &self,
        inputs: Inputs<'_>,
        (length, rate): (f64, f64),
        step: &Discretization,
    ) -> impl Iterator<Item = ForceOfStep> {
        self.actuators.iter().map(move |TendonActuator { gear, actuator }| {
            actuator.force(inputs, gear * length, gear * rate, step).geared(*gear)
        })
    }

    /// The forces over the step along the tendon: spring and damper, inertia, actuators.
    fn forces(
        &self,
        inputs: Inputs<'_>,
        (length, rate): (f64, f64),
        step: &Discretization,
    ) -> impl Iterator<Item = ForceOfStep> {
        let (tendon, dt) = (&self.tendon, step.dt);
        let stretch = self.stretch(length);
        let stiffness = if stretch == 0.0 { 0.0 } else { tendon.stiffness };
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let spring = ForceOfStep {
            impulse: -dt * (stiffness * (stretch + step.lead() * rate) + tendon.damping * rate),
            impedance: dt * step.resistance(stiffness, tendon.damping),
            low,
            high,
        };
        let inertia = ForceOfStep { impulse: 0.0, impedance: tendon.armature, low, high };
        [spring, inertia].into_iter().chain(self.drives(inputs, (length, rate), step))
    }

    /// Adds the forces of the last step to those of actuators and springs, and takes off the constraints what was one there: all that
    /// opposes motion. Inertia is no force.
    pub fn add_step_forces(
        &self,
        last: &LastStep,
        step: &Discretization,
        parts: &[TreeWorkspace],
        out: &mut StepForces,
    ) {
        if self.sum.0.first().is_none_or(|term| parts[term.tree].asleep) {
            return;
        }
        let (length, rate) = (self.sum.value(&last.q), self.sum.rate(&last.v0));
        let change = self.sum.rate(&last.v) - rate;
        for (part, force) in self.forces(Inputs::resolved(&last.inputs), (length, rate), step).enumerate() {
            let is_constraint = force.impedance > 0.0;
            let impulse = (force.impulse - force.impedance * change).max(force.low).min(force.high);
            for term in &self.sum.0 {
                let along = term.coefficient * impulse / last.dt;
                match part {
                    0 if is_constraint => out.passive[term.v] += along,
                    // Springs that nothing opposes are none in the step.
                    0 | 1 => {}
                    _ => out.actuation[term.v] += along,
                }
                if is_constraint {
                    out.constraint[term.v] -= along;
                }
            }
        }
    }

    /// Adds the forces that do not depend on velocities at the end of the step; `force` is on the model's degrees of
    /// freedom.
    pub fn add_explicit(&self, inputs: Inputs<'_>, (q, v): (&[f64], &[f64]), step: &Discretization, force: &mut [f64]) {
        let drives = self.drives(inputs, (self.sum.value(q), self.sum.rate(v)), step);
        let explicit = drives.filter(|f| f.impedance == 0.0);
        let total: f64 = explicit.map(|f| f.impulse.max(f.low).min(f.high) / step.dt).sum();
        for term in &self.sum.0 {
            force[term.v] += term.coefficient * total;
        }
    }

    /// Stretch of the spring, 0 while it is slack.
    fn stretch(&self, length: f64) -> f64 {
        let (low, high) = self.tendon.rest;
        (length - high).max(0.0) + (length - low).min(0.0)
    }

    /// Adds the energy of the spring and of the inertia.
    pub fn add_energy(&self, state: &State, energy: &mut Energy) {
        energy.kinetic += 0.5 * self.tendon.armature * self.sum.rate(&state.v).powi(2);
        energy.potential += 0.5 * self.tendon.stiffness * self.stretch(self.sum.value(&state.q)).powi(2);
    }

    /// Adds the tendon's limits and all that opposes its motion.
    pub fn push(&self, index: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        if self.sum.is_asleep(cx) {
            return;
        }
        self.push_limits(index, cx, set);
        let (tendon, dt) = (&self.tendon, cx.rule.dt);
        let Start { violation: length, rate, .. } = self.sum.start(cx);
        let forces = self.forces(cx.state.inputs(), (length, rate), cx.step);
        for (part, force) in (2..).zip(forces) {
            if force.impedance > 0.0
                && let Some((link, w)) = push_terms(&[(&self.sum, 1.0)], cx, set)
            {
                let v_hat = rate + force.impulse / force.impedance;
                let law = BoxConstraint::new(1.0 / force.impedance, v_hat, force.low, force.high);
                set.push(law, w, link, Key::tendon(index, part), cx);
            }
        }
        let friction = dt * tendon.friction_loss;
        if friction > 0.0
            && let Some((link, w)) = push_terms(&[(&self.sum, 1.0)], cx, set)
        {
            let law = BoxConstraint::new(cx.rule.sigma * w, 0.0, -friction, friction);
            set.push(law, w, link, Key::tendon(index, 2 + 2 + self.actuators.len()), cx);
        }
    }

    /// Adds the limits that the motion can reach in the step.
    fn push_limits(&self, index: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        let Some((low, high)) = self.tendon.range else { return };
        let (length, free) = (self.sum.value(cx.q), self.sum.free_rate(cx));
        let rate = self.sum.rate(cx.v);
        let reach = 2.0 * cx.rule.dt * (rate.abs() + free.abs()) + cx.rule.margin;
        for (side, (gap, sign)) in [(length - low, 1.0), (high - length, -1.0)].into_iter().enumerate() {
            if gap <= reach
                && let Some((link, w)) = push_terms(&[(&self.sum, sign)], cx, set)
            {
                let start = cx.rule.start(gap, || [sign * rate, sign * self.sum.rate_led(cx)]);
                let law = cx.rule.normal(self.tendon.limit_compliance, start, w);
                set.push_limit(law, w, link, Key::tendon(index, side), cx);
            }
        }
    }
}
