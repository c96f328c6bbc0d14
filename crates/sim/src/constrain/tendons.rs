//! Tendons: their limits, springs, friction and inertia, and the actuators on them. Actuators on sites act along rows of the same kind.

use lanes::{ConstraintName, RowWeight};
use multibody::{InverseWeights, Kinematics, LawAt, Model, StepForce, Tendon, TendonRow, Transmission, stretch};
use sap::Law;

use super::pulls::PullStep;
use super::sums::{Sum, push_terms};
use super::{ConstraintSet, Context, Regularization, Start};
use crate::Theta;
use crate::actuation::{self, Inputs, PlacedActuator, SumLimits, limited_sum};
use crate::scheme::{Discretization, SpringDamper};
use crate::step_forces::{LastStep, StepForces};
use crate::tree_workspace::TreeWorkspace;
use crate::{Energy, State};

/// An actuator on a tendon.
#[derive(Clone, Debug)]
struct TendonActuator {
    gear: f64,
    actuator: PlacedActuator,
}

/// A tendon of the model and the actuators on it; sites that an actuator acts on, and joints with springs and dampers that are not linear, are
/// such tendons.
#[derive(Clone, Debug)]
pub(crate) struct TendonForces {
    sum: Sum,
    tendon: Tendon,
    actuators: Vec<TendonActuator>,
    /// Whether it does anything: else it is only seen and measured.
    acts: bool,
    /// See [`multibody::InverseWeights`]; infinite for a site.
    inverse_weight: f64,
    /// Where in the step an implicit scheme takes the forces of a spatial tendon.
    evaluation: f64,
    /// J̇ v of a spatial tendon with inertia, where it was placed, see [`Tendon::drift`].
    drift: f64,
}

impl TendonForces {
    fn new(sum: Sum, tendon: Tendon, actuators: Vec<TendonActuator>, inverse_weight: f64) -> Self {
        let acts = tendon.acts() || !actuators.is_empty();
        Self { sum, tendon, actuators, acts, inverse_weight, evaluation: 1.0, drift: 0.0 }
    }

    /// Those of the model.
    pub fn of_model(model: &Model, tree_of: &[usize], weights: &InverseWeights) -> Vec<Self> {
        let acts_on = |tendon: usize| {
            model.actuators.iter().enumerate().filter_map(move |(ctrl, actuator)| match actuator.transmission {
                Transmission::Tendon { tendon: of, gear } if of == tendon => {
                    Some(TendonActuator { gear, actuator: PlacedActuator::new(model, weights, ctrl) })
                }
                _ => None,
            })
        };
        let of = |(k, tendon): (usize, &Tendon)| {
            Self::new(Sum::of_tendon(model, tree_of, k), tendon.clone(), acts_on(k).collect(), weights.tendons[k])
        };
        let on_site = |(ctrl, actuator): (usize, &multibody::Actuator)| {
            let is_on_sites = actuator.transmission.sites().next().is_some();
            // The row has the gear in it.
            let own = || TendonActuator { gear: 1.0, actuator: PlacedActuator::new(model, weights, ctrl) };
            is_on_sites.then(|| Self::new(Sum::of_site(ctrl), Tendon::default(), vec![own()], f64::INFINITY))
        };
        let of_joint = |(k, joint): (usize, &multibody::Joint)| {
            let rest = joint.polynomial.is_any().then(|| model.spring_reference[joint.q])?;
            // The linear parts are those of the tree.
            let tendon = Tendon { polynomial: joint.polynomial, rest: (rest, rest), ..Tendon::default() };
            Some(Self::new(Sum::of_joint(model, tree_of, k), tendon, Vec::new(), weights.dofs[joint.v]))
        };
        let tendons = model.tendons.iter().enumerate().map(of);
        let sites = model.actuators.iter().enumerate().filter_map(on_site);
        tendons.chain(sites).chain(model.joints.iter().enumerate().filter_map(of_joint)).collect()
    }

    /// Whether it does anything in a step.
    pub fn acts(&self) -> bool {
        self.acts
    }

    /// Whether its row depends on the configuration.
    pub fn is_spatial(&self) -> bool {
        self.sum.is_spatial()
    }

    /// Whether its row depends on the configuration, and turning it costs force.
    pub fn has_spatial_inertia(&self) -> bool {
        self.sum.is_spatial() && self.tendon.armature > 0.0
    }

    /// Takes J̇ v where the tendon was placed, after the velocities of all nodes.
    pub fn find_drift(&mut self, model: &Model, tendon: usize, kinematics: &Kinematics<f64>) {
        if self.has_spatial_inertia() {
            self.drift = model.tendons[tendon].drift(model, kinematics);
        }
    }

    /// Kinetic energy of its inertia at the beginning of a step under the default scheme, and what is due of it at the end, J.
    pub fn string_energy(&self, end: &StringEnd<'_>) -> [f64; 2] {
        let (armature, start, rate) = (self.tendon.armature, self.rate(end.v0), self.rate(end.v));
        let work = end.dt * self.drift * 0.5 * (start + rate);
        [0.5 * armature * start * start, armature * (0.5 * rate * rate + work)]
    }

    /// Calls `f` for the tree of each of its terms.
    pub fn each_tree(&self, f: impl FnMut(usize)) {
        self.sum.terms.iter().map(|term| term.tree).for_each(f);
    }

    /// Whether it may pull in a step: unless it is slack, and only its limits would.
    pub fn may_pull(&self, trees: &[TreeWorkspace], step: &PullStep<'_>) -> bool {
        if self.tendon.resists() || !self.actuators.is_empty() {
            return true;
        }
        let (length, rate) = (self.sum.value(&step.state.q), self.sum.rate(step.v));
        let free: f64 = self.sum.terms.iter().map(|term| term.coefficient * trees[term.tree].v_star[term.dof]).sum();
        let reach = 2.0 * step.dt * (rate.abs() + free.abs()) + step.margin;
        self.tendon.range.is_some_and(|(low, high)| (length - low).min(high - length) <= reach)
    }

    /// Whether it acts on trees of which some are `chosen` and some are not, one flag a tree.
    pub fn joins(&self, chosen: &[bool]) -> bool {
        let mut of_terms = self.sum.terms.iter().map(|term| chosen[term.tree]);
        of_terms.next().is_some_and(|first| of_terms.any(|other| other != first))
    }

    /// Its length as a scalar of the configuration.
    pub fn sum_mut(&mut self) -> &mut Sum {
        &mut self.sum
    }

    /// Its length at `q`, and its derivative: degrees of freedom and entries; those of a string where it was placed.
    pub fn row(&self, q: &[f64]) -> (f64, impl Iterator<Item = (usize, f64)>) {
        (self.sum.value(q), self.sum.terms.iter().map(|term| (term.v, term.coefficient)))
    }

    /// The rate of the length at the velocities `v` (nv).
    pub fn rate(&self, v: &[f64]) -> f64 {
        self.sum.rate(v)
    }

    /// Whether all of its forces are constraints: those of a string whose row the scheme takes within the step.
    fn is_all_constraints(&self, step: &Discretization) -> bool {
        self.sum.is_spatial() && step.theta.q > 0.0
    }

    /// Chooses where in the step the string's force is taken, from how easily the string is moved, 1/kg.
    pub fn choose_evaluation(&mut self, mobility: f64, rule: &Regularization) {
        if !self.is_spatial() {
            return;
        }
        let stretch = stretch(self.tendon.rest, self.sum.value(&[]));
        let (mut stiffness, mut damping) = (self.spring_at(stretch).tangent.max(0.0), self.tendon.damping);
        for TendonActuator { gear, actuator } in &self.actuators {
            let [_, of_length, of_rate] = actuator.bias();
            stiffness += gear * gear * (-of_length).max(0.0);
            damping += gear * gear * (-of_rate).max(0.0);
        }
        let relaxation = if stiffness > 0.0 { damping / stiffness } else { 0.0 };
        self.evaluation = rule.evaluation(stiffness * mobility, relaxation);
    }

    /// The step as the forces of the tendon take it.
    pub fn own_step(&self, step: &Discretization) -> Discretization {
        let a = self.evaluation;
        let compliant = if self.is_all_constraints(step) { Theta { q: a, v: a, vq: a } } else { step.compliant };
        Discretization { compliant, ..*step }
    }

    /// The forces of the actuators over the step, along the tendon: of each, or all as one where their sum is limited.
    fn drives(
        &self,
        inputs: Inputs<'_>,
        (length, rate): (f64, f64),
        step: &Discretization,
    ) -> impl Iterator<Item = StepForce<f64>> {
        let of = move |TendonActuator { gear, actuator }: &TendonActuator| {
            (*gear, actuator.force(inputs, gear * length, gear * rate, step))
        };
        let limits = SumLimits::of_tendon(&self.tendon, step.dt).filter(|_| !self.actuators.is_empty());
        let sum = limits.map(|limits| limited_sum(self.actuators.iter().map(of), limits));
        let apart = if sum.is_some() { &[] } else { &self.actuators[..] };
        sum.into_iter().chain(apart.iter().map(of).map(|(gear, force)| force.geared(gear)))
    }

    /// Its spring at a stretch; it does not resist where it is slack.
    fn spring_at(&self, stretch: f64) -> LawAt {
        let law = self.tendon.polynomial.spring_at(self.tendon.stiffness, stretch);
        if stretch == 0.0 { LawAt { secant: 0.0, tangent: 0.0 } } else { law }
    }

    /// The forces over the step along the tendon: spring and damper, inertia, actuators.
    fn forces(
        &self,
        inputs: Inputs<'_>,
        (length, rate): (f64, f64),
        step: &Discretization,
    ) -> impl Iterator<Item = StepForce<f64>> {
        let (tendon, dt) = (&self.tendon, step.dt);
        let stretch = stretch(tendon.rest, length);
        let (spring, damper) = (self.spring_at(stretch), tendon.polynomial.damper_at(tendon.damping, rate));
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        // What would feed energy in stays explicit.
        let SpringDamper { ahead, impedance } =
            step.resist(spring.tangent.max(0.0), damper.tangent.max(0.0), self.inverse_weight);
        let impulse = -dt * (spring.secant * stretch + (ahead + damper.secant) * rate);
        let spring = StepForce { impulse, impedance, low, high };
        // a (J v − J₀ v₀) is the change of its momentum, and J v = J₀ v + dt J̇ v.
        let impulse = -tendon.armature * dt * self.drift;
        let inertia = StepForce { impulse, impedance: tendon.armature, low, high };
        [spring, inertia].into_iter().chain(self.drives(inputs, (length, rate), step))
    }

    /// Adds the forces of the last step to those of actuators and springs, and takes off the constraints what was one there: all that
    /// opposes motion, at least. Inertia is no force.
    pub fn add_step_forces(
        &self,
        index: usize,
        last: &LastStep,
        step: &Discretization,
        trees: &[TreeWorkspace],
        out: &mut StepForces,
    ) {
        if self.sum.terms.first().is_none_or(|term| trees[term.tree].asleep) {
            return;
        }
        let start = self.start_of(last, step, trees);
        let change = self.sum.rate(&last.v) - start.1;
        let step = &self.own_step(step);
        for (part, force) in self.forces(Inputs::resolved(&last.inputs, &last.act), start, step).enumerate() {
            let is_constraint = force.impedance > 0.0 || self.is_all_constraints(step);
            let impulse = force.over(change);
            // Sites' transmissions are no tendons of the model; inertia is no force.
            if let Some(along) = out.tendons.get_mut(index).filter(|_| part != 1) {
                *along += impulse / last.dt;
            }
            for term in &self.sum.terms {
                let along = term.coefficient * impulse / last.dt;
                match part {
                    0 => out.passive[term.v] += along,
                    1 => {}
                    _ => out.actuation[term.v] += along,
                }
                if is_constraint {
                    out.constraint[term.v] -= along;
                }
            }
        }
    }

    /// Sets the forces of its actuators in the last step, before their gears, (nu).
    pub fn write_actuators(
        &self,
        last: &LastStep,
        step: &Discretization,
        trees: &[TreeWorkspace],
        actuators: &mut [f64],
    ) {
        let (length, start) = self.start_of(last, step, trees);
        let (change, own) = (self.rate(&last.v) - start, self.own_step(step));
        let of = |TendonActuator { gear, actuator }: &TendonActuator| {
            let force = actuator.force(Inputs::resolved(&last.inputs, &last.act), gear * length, gear * start, &own);
            (actuator.ctrl, force, force.unlimited(gear * change))
        };
        let share = SumLimits::of_tendon(&self.tendon, own.dt)
            .map_or(1.0, |limits| limits.share(self.actuators.iter().map(|actuator| of(actuator).2).sum()));
        for (ctrl, force, unlimited) in self.actuators.iter().map(of) {
            actuators[ctrl] = (share * unlimited).max(force.low).min(force.high) / own.dt;
        }
    }

    /// The length and its rate at the beginning of the last step, as the step took them.
    fn start_of(&self, last: &LastStep, step: &Discretization, trees: &[TreeWorkspace]) -> (f64, f64) {
        let (length, rate) = (self.sum.value(&last.q), self.sum.rate(&last.v0));
        if !self.is_all_constraints(step) {
            return (length, rate);
        }
        let led: f64 = self.sum.terms.iter().map(|t| t.coefficient * trees[t.tree].v_linearised[t.dof]).sum();
        let Theta { q, vq, .. } = step.theta;
        (length - (led * vq + rate * (1.0 - vq)) * (step.dt * q), rate)
    }

    /// Adds the forces that do not depend on velocities at the end of the step; `force` is on the model's degrees of
    /// freedom.
    pub fn add_explicit(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], step: &Discretization, force: &mut [f64]) {
        if self.is_all_constraints(step) {
            return;
        }
        let forces = self.forces(inputs, (self.sum.value(q), self.sum.rate(v)), step);
        let explicit = forces.filter(|f| f.impedance == 0.0);
        let total: f64 = explicit.map(|f| f.over(0.0) / step.dt).sum();
        for term in &self.sum.terms {
            force[term.v] += term.coefficient * total;
        }
    }

    /// Adds what its actuators do at the beginning of a step; `force` is on the model's degrees of freedom.
    pub fn add_actuation(&self, state: &State, v: &[f64], step: &Discretization, force: &mut [f64]) {
        let start = (self.sum.value(&state.q), self.sum.rate(v));
        let total: f64 = self.drives(state.inputs(), start, step).map(|drive| drive.over(0.0) / step.dt).sum();
        for term in &self.sum.terms {
            force[term.v] += term.coefficient * total;
        }
    }

    /// Adds the tendon's limits and all that opposes its motion.
    pub fn push(&self, index: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        if self.sum.is_asleep(cx) {
            return;
        }
        self.push_limits(index, cx, set);
        let tendon = &self.tendon;
        let Start { violation: length, rate, .. } = self.sum.start(cx);
        let step = self.own_step(cx.step);
        let forces = self.forces(cx.state.inputs(), (length, rate), &step);
        for (part, force) in (2..).zip(forces) {
            let is_constant = force.impedance == 0.0;
            if is_constant && (force.impulse == 0.0 || !self.is_all_constraints(cx.step)) {
                continue;
            }
            let Some((jacobian, w)) = push_terms(&[(&self.sum, 1.0)], cx, set) else { continue };
            let law = if is_constant {
                let StepForce { low, high, .. } = force.as_constant();
                Law::bounded(cx.rule.of_step.sigma * w, rate, low, high)
            } else {
                actuation::law(&force, rate)
            };
            set.push(law, w, jacobian, ConstraintName::tendon(index, part), cx);
        }
        if tendon.friction_loss > 0.0
            && let Some((jacobian, w)) = push_terms(&[(&self.sum, 1.0)], cx, set)
        {
            let weight = RowWeight { w, inverse: self.inverse_weight };
            let law =
                cx.rule.dry_friction(tendon.friction_compliance, weight, self.sum.rate(cx.v), tendon.friction_loss);
            set.push(law, w, jacobian, ConstraintName::tendon(index, 2 + 2 + self.actuators.len()), cx);
        }
    }

    /// Adds the limits that the motion can reach in the step.
    fn push_limits(&self, index: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        let Some((low, high)) = self.tendon.range else { return };
        let (length, free_rate) = (self.sum.value(cx.q), self.sum.free_rate(cx));
        let rate = self.sum.rate(cx.v);
        let reach = 2.0 * cx.rule.of_step.dt * (rate.abs() + free_rate.abs()) + cx.rule.margin;
        for (side, (gap, sign)) in [(length - low, 1.0), (high - length, -1.0)].into_iter().enumerate() {
            if gap <= reach
                && let Some((jacobian, w)) = push_terms(&[(&self.sum, sign)], cx, set)
            {
                let compliance = self.tendon.limit_compliance;
                let start = cx.rule.start(compliance, gap, || [sign * rate, sign * self.sum.rate_led(cx)]);
                let mut law = cx.rule.normal(compliance, start, RowWeight { w, inverse: self.inverse_weight });
                if self.sum.is_spatial() && !law.is_midway {
                    law.of.v_hat -= sign * cx.jacobian_drift.of_tendon(index, rate);
                }
                set.push_limit(law, w, jacobian, ConstraintName::tendon(index, side), cx);
            }
        }
    }
}

/// Adds the energy of a tendon's spring and of its inertia; `row` is that of the state.
pub(super) fn add_energy(tendon: &Tendon, row: &TendonRow, state: &State, energy: &mut Energy) {
    energy.kinetic += 0.5 * tendon.armature * row.rate(&state.v).powi(2);
    energy.potential += tendon.polynomial.energy_at(tendon.stiffness, stretch(tendon.rest, row.length));
}

/// The end of a step, as strings see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringEnd<'a> {
    /// Positions, (nq).
    pub q: &'a [f64],
    /// Velocities at the beginning and at the end, (nv).
    pub v0: &'a [f64],
    pub v: &'a [f64],
    /// Length of the step, s.
    pub dt: f64,
}
