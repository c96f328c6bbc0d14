//! Steps of models with few constraints, made in the one lane of a world by itself.
//!
//! Lanes take half the time of the step for all models, since a step is laid out before it begins ([`lanes::Plan`]) and reports are made on
//! request alone. They solve the same problem to the same tolerance. The step for all models makes what they do not: problems that do not
//! converge, steps to be halved, and steps of worlds that hardly move, which it starts from the last solution.

use lanes::{Bundle, Known, Lanes, Plan, Summary};
use spatial::Vec3;

use super::Simulation;
use super::planning::plan_with;
use crate::report::{Reports, Touch};
use crate::sensors::trace::StepTrace;
use crate::step_forces::LastStep;
use crate::warm_start::{Entry, Key};
use crate::{Factorization, Options, SimulationError, State, Stats};

/// Trees at most: lanes solve the constraints of all trees as one problem, whatever islands there are.
const MOST_TREES: usize = 4;

/// Constraints at most that may ever push: lanes look at most of them in every step.
const MOST_CONSTRAINTS: usize = 2000;

/// Factorisations that an island may spend from which on lanes, which spend a few dozen at most, stay within the budget.
const LEAST_BUDGET: usize = 50;

/// The lane of a simulation.
#[derive(Debug)]
pub(crate) struct Lane {
    plan: Plan,
    lanes: Box<Lanes<f64>>,
    /// Whether the last step of the simulation was made here; then reports are made from it.
    is_last: bool,
}

impl Lane {
    /// A lane for simulations that it serves.
    pub fn new(
        (model, scene): (&multibody::Model, &geometry::Scene),
        options: &Options,
        (attachments, extents): (&[geometry::Attachment], &[f64]),
    ) -> Option<Box<Self>> {
        let trees = &model.tree.trees;
        let is_wanted = options.factorization == Factorization::Auto
            && options.contact == crate::ContactLaw::Coulomb
            && options.factorization_budget.is_none_or(|budget| budget >= LEAST_BUDGET)
            && trees.len() <= MOST_TREES
            && trees.iter().any(|nodes| nodes.len() > 1);
        if !is_wanted {
            return None;
        }
        let plan = plan_with(model, scene, options, None, (attachments, extents)).ok()?;
        if plan.constraint_count() > MOST_CONSTRAINTS {
            return None;
        }
        let mut lanes = Box::new(Lanes::new(&plan, model.nu()));
        lanes.is_lone = true;
        Some(Box::new(Self { plan, lanes, is_last: false }))
    }

    /// Whether it can make the next step from this state.
    fn takes(&self, state: &State) -> bool {
        !state.pd.is_active() && !state.extrapolation.is_calm() && state.surface_velocity.iter().all(|v| *v == 0.0)
    }

    /// Takes what a step starts from.
    fn load(&mut self, state: &State) {
        let lanes = &mut self.lanes;
        if lanes.q != state.q {
            lanes.q.copy_from_slice(&state.q);
            lanes.disturb();
        }
        lanes.v.copy_from_slice(&state.v);
        lanes.ctrl.copy_from_slice(&state.ctrl);
        let is_any = |forces: &[f64]| forces.iter().any(|force| *force != 0.0);
        (lanes.has_forces, lanes.has_wrenches) = (is_any(&state.applied_force), is_any(&state.applied_wrench));
        lanes.applied_force.copy_from_slice(&state.applied_force);
        lanes.applied_wrench.copy_from_slice(&state.applied_wrench);
        let known =
            |&Entry { key, free_velocity, normal }: &Entry| Some(Known { name: key.in_lane()?, free_velocity, normal });
        lanes.set_known(state.warm_start.entries().iter().filter_map(known));
        lanes.stats = lanes::LaneStats::default();
    }

    /// Writes what a step led to.
    fn store(&mut self, state: &mut State) {
        let Self { lanes, plan, .. } = self;
        state.q.copy_from_slice(&lanes.q);
        state.v.copy_from_slice(&lanes.v);
        let entries = state.warm_start.entries_mut();
        entries.clear();
        let entry = |Known { name, free_velocity, normal }| Entry { key: Key::of_lane(name), free_velocity, normal };
        entries.extend(lanes.known(plan).map(entry));
        state.warm_start.sort(0);
        state.extrapolation.clear();
    }

    /// Writes what became of the contact points in reach, and the statistics of the last step.
    fn report(&self, reports: &mut Reports, stats: &mut Stats) {
        reports.clear();
        self.lanes.each_contact(&self.plan, 0, |contact, impulse, velocity| {
            let lanes::LaneContact { geoms, position, normal, gap, .. } = contact;
            let (t1, t2) = normal.tangents();
            let along = |v: Vec3<f64>| [t1.dot(v), t2.dot(v), normal.dot(v)];
            reports.detected.push(geometry::Contact { geoms, position, normal, gap, pair: None });
            reports.touches.push(Touch { gap, impulse: along(impulse), velocity: along(velocity) });
        });
        let Summary { contacts, active_contacts, limits, constraints, islands, iterations, residual, penetration } =
            self.lanes.summary(&self.plan);
        *stats = Stats {
            contacts,
            active_contacts,
            limits,
            constraints,
            islands,
            iterations,
            residual,
            penetration,
            friction_residual: residual,
            substeps: 1,
            force_evaluations: 1,
            ..Stats::default()
        };
    }
}

impl Simulation {
    /// Makes the step in the lane; false where it is for the step of all models, the state being as it was.
    pub(super) fn step_in_lane(&mut self, dt: f64) -> Result<bool, SimulationError> {
        let Self { lane: Some(lane), state, last_step, reports, stats, .. } = self else { return Ok(false) };
        lane.is_last = false;
        if !lane.takes(state) {
            return Ok(false);
        }
        if self.interrupt.is_raised() {
            return Err(SimulationError::Interrupted { step: state.step, time: state.time });
        }
        state.check(&self.model, &self.scene)?;
        lane.load(state);
        Bundle::step(&mut *lane.lanes, &lane.plan);
        if lane.lanes.left() != 0 {
            return Ok(false);
        }
        last_step.begin(state, (&state.v, &state.v), dt);
        last_step.v.clear();
        last_step.v.extend(lane.lanes.solved_velocities(0));
        lane.store(state);
        last_step.end(&state.v);
        lane.is_last = true;
        lane.report(reports, stats);
        Ok(true)
    }

    /// Makes room for what steps in the lane remember and report, in all the buffers that take turns.
    pub(super) fn make_room_for_lane(&mut self) {
        let Self { lane: Some(lane), state, remembered, before, reports, detected, touches, .. } = self else { return };
        let most = lane.plan.constraint_count();
        for warm_start in [&mut state.warm_start, remembered, &mut before.warm_start] {
            warm_start.entries_mut().reserve(most);
        }
        for touches in [&mut reports.touches, touches] {
            touches.reserve(most);
        }
        for detected in [&mut reports.detected, detected] {
            detected.reserve(most);
        }
    }

    /// The lane, if it made the last step.
    pub(super) fn last_lane(&self) -> Option<&Lane> {
        self.lane.as_deref().filter(|lane| lane.is_last)
    }

    /// There was no last step.
    pub(super) fn forget_lane(&mut self) {
        if let Some(lane) = &mut self.lane {
            lane.is_last = false;
        }
    }

    /// Writes what sensors look at after a last step in the lane; false where that was not made there.
    pub(super) fn trace_lane(&self, trace: &mut StepTrace) -> bool {
        let Some(lane) = self.last_lane() else { return false };
        crate::trace_lane(&lane.lanes, 0, (&lane.plan, &self.model, &self.scene, &self.options), trace);
        true
    }

    /// Brings the workspaces of the trees to where a step that was made in the lane began, for its forces.
    pub(super) fn follow_lane(&mut self, last: &LastStep) {
        if self.last_lane().is_none() {
            return;
        }
        self.before.copy_from(&self.state);
        let Self { lane: Some(lane), state, v_next, .. } = self else { return };
        let lanes = &lane.lanes;
        state.q.copy_from_slice(&last.q);
        state.v.copy_from_slice(&last.v_before);
        state.ctrl.copy_from_slice(&lanes.ctrl);
        state.applied_force.copy_from_slice(&lanes.applied_force);
        state.applied_wrench.copy_from_slice(&lanes.applied_wrench);
        state.pd = crate::Pd::default();
        v_next.copy_from_slice(&last.v);
        if self.take_state().and_then(|()| self.move_freely_from_state(last.dt)).is_ok() {
            while self.set_drives_apart() {}
        }
        self.state.copy_from(&self.before);
    }
}
