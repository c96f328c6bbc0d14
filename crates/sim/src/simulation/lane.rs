//! Steps of models with few constraints, made in the one lane of a world by itself.
//!
//! Lanes take less time than the step for all models, since a step is laid out before it begins ([`lanes::Plan`]) and much is gathered on
//! request alone. They solve the same problem to the same tolerance. Steps that err by too much are made in halves and quarters. The step for
//! all models makes the rest:
//!
//! * models that [`Lane::new`] refuses,
//! * states that [`takes`] refuses,
//! * problems that do not converge, and quarters of a step that still err by too much.

use std::ops::Range;
use std::sync::Arc;

use geometry::Scene;
use lanes::constants::ROWS_OF_JAMS;
use lanes::{AtRest, Bundle, ChangingGains, Lanes, Numbers, Plan, Summary, WarmStartEntry};
use multibody::{JointType, Model};
use spatial::are_zero;

use super::mocap::MocapBody;
use super::planning::{attachments, numbers_at_rest, plan_with};
use super::{HALVINGS, Simulation};
use crate::report::{self, Reports};
use crate::sensors::trace::{StepTrace, TraceNeeds};
use crate::step_forces::LastStep;
use crate::{ContactLaw, Options, OwnModel, Pd, SimulationError, State, Stats};

/// Trees at most, and of those of more than one degree of freedom robots and bodies that move freely by themselves. Islands are solved one after
/// another; but what rests, such as most free bodies, the step for all models knows the solution of: beside a humanoid it takes as long as the lane
/// with four boxes, 0.9 of the time with six. The doors and knobs of a kitchen are rarely in contact.
const MAX_TREES: usize = 16;
const MAX_ROBOTS: usize = 12;
const MAX_OBJECTS: usize = 4;

/// Such bodies at most beside an arm that is led from outside, where they rest for the most part: with two the step for all models takes 0.6 of the
/// lane's time, with one 1.15 to 1.2 times as long.
const MAX_OBJECTS_OF_LED: usize = 1;

/// Constraints at most that may ever push: lanes look at most of them in every step.
const MAX_CONSTRAINTS: usize = 40_000;

/// Friction cones of an island that push at most. Of more, a factor of all velocities takes less time than W: the global solver finds the
/// solution of a convex problem in a few of them, and of contacts with the world in O(n). A dog that lies on 24 takes 17 µs a step there, 54
/// in the lane.
const MAX_CONES: usize = 12;

/// Contacts of an island that push at most: W of the rows of more is as large as a matrix of all velocities of a large robot. A dog of 72
/// degrees of freedom that lies on 28 takes 0.5 of the lane's time in the step for all models, on 18 as long.
const MAX_CONTACTS: usize = 20;

/// Rows of what pushes up to which W takes less time than a matrix of all velocities, however few these are, and such rows for two velocities.
/// Lanes take up to [`ROWS_OF_JAMS`] for each: about twice as many are chosen as push, and those that have too many have been tried in vain.
const FEW_ROWS: usize = 24;
const ROWS_OF_TWO: usize = 5;

/// The least budget of factorisations with which lanes are used: they spend a few dozen at most.
const MIN_BUDGET: usize = 50;

/// How often a step is halved in the lane at most; parts that ask for less are for the step for all models.
const MAX_HALVINGS_IN_LANE: usize = 2;

/// The lane of a simulation.
#[derive(Debug)]
pub(crate) struct Lane {
    /// What its plan is of; the numbers may be those of the same model with parameters of its own.
    of: (Arc<Model>, Arc<Scene>),
    lanes: Box<Lanes<f64>>,
    /// Whole steps, then halves and quarters, once any were asked for.
    lengths: Vec<Length>,
    /// Which of them the lanes have the numbers of.
    present: usize,
    /// The length of the simulation's last step if that was made here; then reports are made from it.
    last: Option<usize>,
}

/// Steps of one length.
#[derive(Debug)]
struct Length {
    plan: Plan,
    /// What steps are made with, while the lanes make others.
    numbers: Arc<Numbers<f64>>,
    /// PD control of the last of these steps, and what sets its gains: none before there was any.
    pd: Pd,
    gains: Option<ChangingGains>,
}

impl Length {
    fn new(plan: Plan) -> Self {
        Self { numbers: plan.numbers.clone(), plan, pd: Pd::default(), gains: None }
    }

    /// Steps under PD control: all degrees of freedom are drives, most of them without gains.
    fn controlled(plan: Plan, model: &Model) -> Self {
        let gains = Some(ChangingGains::new(&plan, model, &plan.numbers));
        Self { gains, ..Self::new(plan) }
    }

    /// Takes over PD control, with the numbers that the lanes have.
    fn control(&mut self, model: &Model, lanes: &mut Lanes<f64>, control: &Pd) {
        let Self { plan, pd, gains: Some(gains), .. } = self else { return };
        if !pd.has_gains_of(control) {
            let numbers = Arc::make_mut(&mut lanes.numbers);
            gains.set(plan, model, control.is_active().then(|| control.gains()).as_ref(), numbers);
        }
        pd.copy_from(control);
        if pd.is_active() {
            lanes.pd_target.copy_from_slice(&pd.target);
        }
    }
}

/// What became of a step in the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trial {
    Made,
    /// It is to be made in halves.
    Unresolved,
    /// It is for the step for all models.
    Fallback,
}

impl Lane {
    /// A lane for simulations that it serves; `like` is that of a simulation with the same shapes, if there is one, and its PD control.
    pub fn new(
        (model, scene): (&Arc<Model>, &Arc<Scene>),
        options: &Options,
        place: (&[geometry::Attachment], &[f64]),
        like: Option<(&Self, &Pd)>,
    ) -> Option<Box<Self>> {
        let trees = &model.tree.trees;
        let is_wanted = options.factorization_budget.is_none_or(|budget| budget >= MIN_BUDGET)
            && has_few_trees(model)
            && trees.iter().any(|nodes| nodes.len() > 1)
            && !(model.mocap_bodies().next().is_some() && count_objects(model) > MAX_OBJECTS_OF_LED);
        if !is_wanted {
            return None;
        }
        let pd = like.and_then(|(lane, pd)| {
            (lane.is_controlled() && pd.is_active() && pd.check(&model.tree).is_ok()).then_some(pd)
        });
        let like = like.map(|(lane, _)| &lane.lengths[0].plan);
        let plan = plan_with(model, scene, options, (pd, pd.is_some()), place, like).ok()?;
        // Where nothing ever pushes, the step for all models works on all six components of a vector at once and is faster.
        if !(1..=MAX_CONSTRAINTS).contains(&plan.constraint_count()) {
            return None;
        }
        let whole = if pd.is_some() { Length::controlled(plan, model) } else { Length::new(plan) };
        Some(Box::new(Self::with(whole, (model.clone(), scene.clone()))))
    }

    fn with(whole: Length, of: (Arc<Model>, Arc<Scene>)) -> Self {
        let lanes = Box::new(Lanes::of_single_world(&whole.plan, of.0.nu()));
        Self { of, lanes, lengths: vec![whole], present: 0, last: None }
    }

    /// Goes on with other parameters of the model that its plan is of; false where they need another plan.
    pub fn renumber(&mut self, own: &OwnModel, at_rest: AtRest<'_>, pd: &Pd) -> bool {
        let (is_controlled, (model, scene), base) = (self.is_controlled(), own.get(), own.base());
        let Self { of, lanes, lengths, .. } = self;
        let is_of = Arc::ptr_eq(base.0, &of.0) && Arc::ptr_eq(base.1, &of.1);
        // Without control that there was, steps are those of a plan without it.
        if !is_of || is_controlled && !(pd.is_active() && pd.check(&model.tree).is_ok()) {
            return false;
        }
        lengths.truncate(1);
        let Length { plan, pd: last_pd, gains, .. } = &mut lengths[0];
        let numbers = numbers_at_rest(plan, (base.0, base.1), (model, scene), own.parameters(), Some(at_rest));
        let Ok(mut numbers) = numbers else { return false };
        if let Some(gains) = gains {
            *gains = ChangingGains::new(plan, model, &numbers);
            gains.set(plan, model, Some(&pd.gains()), &mut numbers);
            last_pd.copy_from(pd);
        }
        lanes.numbers = Arc::new(numbers);
        lanes.disturb();
        (self.present, self.last) = (0, None);
        true
    }

    /// Whether steps may be under PD control.
    fn is_controlled(&self) -> bool {
        self.lengths[0].gains.is_some()
    }

    /// Gives the lanes the numbers of steps of one length.
    fn exchange_numbers(&mut self, length: usize) {
        let Self { lanes, lengths, present, .. } = self;
        if length != *present {
            std::mem::swap(&mut lanes.numbers, &mut lengths[*present].numbers);
            std::mem::swap(&mut lanes.numbers, &mut lengths[length].numbers);
            *present = length;
        }
    }

    /// Takes what a step starts from.
    fn load(&mut self, model: &Model, state: &State, mocap: &[MocapBody], length: usize) {
        self.exchange_numbers(length);
        let Self { lengths, lanes, .. } = self;
        for (k, MocapBody { step, .. }) in mocap.iter().enumerate() {
            lanes.set_carrier(0, k, &step.pose, &step.velocity);
        }
        lanes.has_surface_velocity = !are_zero(&state.surface_velocity);
        if lanes.has_surface_velocity {
            lanes.set_surface_velocities(&lengths[length].plan, 0, &state.surface_velocity);
        }
        lengths[length].control(model, lanes, &state.pd);
        if lanes.q != state.q {
            lanes.q.copy_from_slice(&state.q);
            lanes.disturb();
        }
        lanes.v.copy_from_slice(&state.v);
        lanes.ctrl.copy_from_slice(&state.ctrl);
        lanes.act.copy_from_slice(&state.act);
        lanes.equality_active.copy_from_slice(&state.equality_active);
        (lanes.has_forces, lanes.has_wrenches) = (!are_zero(&state.applied_force), !are_zero(&state.applied_wrench));
        lanes.applied_force.copy_from_slice(&state.applied_force);
        lanes.applied_wrench.copy_from_slice(&state.applied_wrench);
        lanes.set_warm_start(state.warm_start.entries());
        lanes.stats = lanes::LaneStats::default();
    }

    /// Writes what a step led to.
    fn store(&self, state: &mut State, length: usize) {
        let Self { lanes, lengths, .. } = self;
        state.q.copy_from_slice(&lanes.q);
        state.v.copy_from_slice(&lanes.v);
        state.act.copy_from_slice(&lanes.act);
        let entries = state.warm_start.entries_mut();
        entries.clear();
        entries.extend(lanes.warm_start(&lengths[length].plan));
        state.warm_start.sort(0);
        state.extrapolation.clear();
    }

    /// Writes what became of the contact points in reach, and the statistics of the last step.
    fn report(&self, length: usize, is_coulomb: bool, reports: &mut Reports, stats: &mut Stats) {
        let plan = &self.lengths[length].plan;
        reports.clear();
        self.lanes.each_contact(plan, 0, |contact, impulse, velocity| {
            let (detected, outcome) = report::of_lane(contact, impulse, velocity);
            reports.detected.push(detected);
            reports.contact_outcomes.push(outcome);
        });
        let Summary { contacts, active_contacts, limits, constraints, islands, iterations, residual, penetration } =
            self.lanes.summary(plan);
        *stats = Stats {
            contacts,
            active_contacts,
            limits,
            constraints,
            islands,
            iterations,
            residual,
            penetration,
            // Laws in blocks bound friction by their own impulses, so that the residual holds what misses the law.
            friction_residual: if is_coulomb { residual } else { 0.0 },
            substeps: 1,
            force_evaluations: 1,
            ..Stats::default()
        };
    }
}

/// Whether there are no more trees than lanes take.
pub(super) fn has_few_trees(model: &Model) -> bool {
    let nodes = &model.tree.nodes;
    let nv = |of: &Range<usize>| nodes[of.clone()].iter().map(|node| node.joint.nv()).sum::<usize>();
    let trees = &model.tree.trees;
    let objects = count_objects(model);
    let robots = trees.iter().filter(|of| nv(of) > 1).count() - objects;
    trees.len() <= MAX_TREES && robots <= MAX_ROBOTS && objects <= MAX_OBJECTS
}

/// How many bodies move freely by themselves.
fn count_objects(model: &Model) -> usize {
    let is_free = |nodes: &Range<usize>| model.tree.nodes[nodes.start].joint == JointType::Free;
    model.tree.trees.iter().filter(|nodes| nodes.len() == 1 && is_free(nodes)).count()
}

/// Makes room for so many entries, whatever is there now.
fn make_room<T>(all: &mut Vec<T>, most: usize) {
    all.reserve_exact(most.saturating_sub(all.len()));
}

/// Whether lanes can make the next step from this state. Of worlds that hardly move the step for all models knows the solution of the last
/// step, and has little to do. What is to have more rows than lanes take would be tried in vain, and islands by themselves take less time there.
fn takes(state: &State, model: &Model, scene: &Scene, options: &Options) -> bool {
    let entries = state.warm_start.entries();
    let most = if options.contact == ContactLaw::Sap { MAX_CONES } else { MAX_CONTACTS };
    let pushes = |entry: &&WarmStartEntry| is_point(entry) && entry.normal > 0.0;
    !state.extrapolation.is_calm() && points_of_largest_island(entries.iter().filter(pushes), model, scene) <= most && {
        let falls = model.gravity.norm() * options.timestep.unwrap_or(model.timestep);
        let of_free_body = |entry: &WarmStartEntry| is_of_free_body(entry, model, scene);
        let rows = |entry| rows_in_lane(entry, |entry| entry.free_velocity.norm() < falls && of_free_body(entry));
        let (rows, nv) = (entries.iter().map(rows).sum::<usize>(), state.v.len());
        rows <= ROWS_OF_JAMS * nv && (rows <= FEW_ROWS || 2 * rows <= ROWS_OF_TWO * nv)
    }
}

/// How many of these contact points the island has that has most of them.
fn points_of_largest_island<'a>(
    points: impl Iterator<Item = &'a WarmStartEntry>,
    model: &Model,
    scene: &Scene,
) -> usize {
    let trees = &model.tree.trees;
    if trees.len() == 1 {
        return points.count();
    }
    let tree_of = |geom: u32| {
        let node = model.bodies[scene.geoms.get(geom as usize)?.body].node?;
        trees.iter().position(|nodes| nodes.contains(&node))
    };
    let mut island_of: [usize; MAX_TREES] = std::array::from_fn(|tree| tree);
    let mut count = [0; MAX_TREES];
    for point in points {
        let [upper, lower, _] = point.name.words();
        let Some(a) = tree_of(upper).or(tree_of(lower)).map(|tree| island_of[tree]) else { continue };
        let b = tree_of(lower).map_or(a, |tree| island_of[tree]);
        if a != b {
            island_of.iter_mut().filter(|island| **island == b).for_each(|island| *island = a);
            count[a] += std::mem::take(&mut count[b]);
        }
        count[a] += 1;
    }
    count.into_iter().max().unwrap_or_default()
}

/// Whether it is of a contact point.
fn is_point(entry: &WarmStartEntry) -> bool {
    entry.name.is_contact() && !entry.name.is_spin()
}

/// How many rows a constraint of the last step will have in the lane at least; `is_at_rest` says whether a point that did not push is one on which
/// gravity alone presses its body. Dry friction of a joint and drives at their limits are known impulses, for the most part.
fn rows_in_lane(entry: &WarmStartEntry, is_at_rest: impl Fn(&WarmStartEntry) -> bool) -> usize {
    let WarmStartEntry { name, free_velocity, normal } = entry;
    match () {
        () if is_point(entry) => 3 * usize::from(*normal > 0.0 || is_at_rest(entry)),
        () if name.is_spin() || name.is_limit() => usize::from(*normal != 0.0),
        // What has one row meets one velocity.
        () if name.of_equality().is_some() => 1 + 2 * usize::from(free_velocity.y != 0.0 || free_velocity.z != 0.0),
        () => 0,
    }
}

/// Whether a contact point is one of a body that moves freely.
fn is_of_free_body(entry: &WarmStartEntry, model: &Model, scene: &Scene) -> bool {
    let [upper, lower, _] = entry.name.words();
    [upper, lower].iter().any(|geom| {
        let body = scene.geoms.get(*geom as usize).map(|geom| &model.bodies[geom.body]);
        body.and_then(|body| body.node).is_some_and(|node| model.tree.nodes[node].joint == JointType::Free)
    })
}

impl Simulation {
    /// Makes the step in the lane; false where it is for the step of all models, the state being as it was. What is known to be
    /// `unresolved` is made in halves.
    pub(super) fn step_in_lane(&mut self, dt: f64, unresolved: bool) -> Result<bool, SimulationError> {
        self.forget_lane();
        self.sensing.asked = None;
        if !self.prepare_lane() {
            return Ok(false);
        }
        self.check_interrupt()?;
        self.state.check(&self.model, &self.sizes)?;
        let trial = if unresolved { Trial::Unresolved } else { self.try_in_lane(dt, 0) };
        if trial != Trial::Unresolved {
            return Ok(trial == Trial::Made);
        }
        self.before.copy_from(&self.state);
        let spent = Stats { force_evaluations: 1, ..Stats::default() };
        let halves = self.halve_in_lane(dt, 0, spent);
        if halves.is_err() {
            self.state.copy_from(&self.before);
            self.forget_lane();
        }
        halves.map(|()| true)
    }

    /// Makes a step of `dt` that was halved so often in halves; what the lane does not make of them, the step for all models does.
    fn halve_in_lane(&mut self, dt: f64, halvings: usize, spent: Stats) -> Result<(), SimulationError> {
        if halvings == MAX_HALVINGS_IN_LANE || !self.prepare_length(halvings + 1, 0.5 * dt) {
            self.forget_lane();
            return self.step_by_halves(dt, HALVINGS - halvings as u32, spent);
        }
        let mut sum = spent;
        for _ in 0..2 {
            match self.try_in_lane(0.5 * dt, halvings + 1) {
                Trial::Made => {}
                Trial::Unresolved => self.halve_in_lane(0.5 * dt, halvings + 1, spent)?,
                Trial::Fallback => {
                    self.forget_lane();
                    self.step_by(0.5 * dt, HALVINGS - 1 - halvings as u32)?;
                }
            }
            sum = sum.followed_by(&self.stats);
        }
        self.stats = sum;
        Ok(())
    }

    /// Makes ready for steps of `dt`, which were halved so often, if that was not done before; false where it cannot be.
    fn prepare_length(&mut self, halvings: usize, dt: f64) -> bool {
        let Self { lane: Some(lane), state, model, scene, options, extents, .. } = self else { return false };
        if lane.lengths.len() == halvings {
            let is_controlled = lane.is_controlled();
            let pd = state.pd.is_active().then_some(&state.pd);
            if is_controlled && pd.is_none() {
                return false;
            }
            let options = Options { timestep: Some(dt), ..options.clone() };
            let place = (&attachments(model, scene)[..], &extents[..]);
            let like = Some(&lane.lengths[0].plan);
            let Ok(plan) = plan_with(model, scene, &options, (pd, is_controlled), place, like) else { return false };
            lane.lengths.push(if is_controlled { Length::controlled(plan, model) } else { Length::new(plan) });
        }
        lane.lengths.len() > halvings
    }

    /// Makes a step of `dt` in the lane, which was halved so often; unless it is made, the state is as it was.
    fn try_in_lane(&mut self, dt: f64, halvings: usize) -> Trial {
        let Self { lane: Some(lane), state, mocap, last_step, reports, stats, model, options, .. } = self else {
            return Trial::Fallback;
        };
        lane.load(model, state, mocap, halvings);
        Bundle::step(&mut *lane.lanes, &lane.lengths[halvings].plan);
        if lane.lanes.fallback() != 0 {
            return if lane.lanes.unresolved() != 0 { Trial::Unresolved } else { Trial::Fallback };
        }
        last_step.begin(state, &state.v, &state.v, dt);
        last_step.v.clear();
        last_step.v.extend(lane.lanes.solved_velocities(0));
        last_step.inputs.clear();
        last_step.inputs.extend(lane.lanes.inputs(0));
        lane.store(state, halvings);
        last_step.end(&state.v);
        lane.last = Some(halvings);
        lane.report(halvings, options.contact == ContactLaw::Coulomb, reports, stats);
        Trial::Made
    }

    /// Makes the lane ready for the next step, under PD control if there is any; false where it cannot make it.
    fn prepare_lane(&mut self) -> bool {
        let Self { lane: Some(lane), state, model, scene, options, extents, .. } = self else { return false };
        if !takes(state, model, scene, options) {
            return false;
        }
        if state.pd.is_active() && !lane.is_controlled() && state.pd.check(&model.tree).is_ok() {
            let place = (&attachments(model, scene)[..], &extents[..]);
            let like = Some(&lane.lengths[0].plan);
            let Ok(plan) = plan_with(model, scene, options, (Some(&state.pd), true), place, like) else { return false };
            **lane = Lane::with(Length::controlled(plan, model), (model.clone(), scene.clone()));
            self.make_room_for_lane();
        }
        true
    }

    /// Makes room for what steps in the lane remember and report, in all the buffers that take turns.
    pub(super) fn make_room_for_lane(&mut self) {
        let Self { lane: Some(lane), state, remembered, before, reports, detected, contact_outcomes, .. } = self else {
            return;
        };
        let most = lane.lengths[0].plan.constraint_count();
        for warm_start in [&mut state.warm_start, remembered, &mut before.warm_start] {
            make_room(warm_start.entries_mut(), most);
        }
        for contact_outcomes in [&mut reports.contact_outcomes, contact_outcomes] {
            make_room(contact_outcomes, most);
        }
        for detected in [&mut reports.detected, detected] {
            make_room(detected, most);
        }
    }

    /// The lane, if it made the last step.
    fn last_lane(&self) -> Option<(&Lane, &Length)> {
        let lane = self.lane.as_deref()?;
        Some((lane, &lane.lengths[lane.last?]))
    }

    /// Whether the last step was made in the lane.
    pub(super) fn is_of_lane(&self) -> bool {
        self.last_lane().is_some()
    }

    /// There was no last step.
    pub(super) fn forget_lane(&mut self) {
        if let Some(lane) = &mut self.lane {
            lane.last = None;
        }
    }

    /// Writes what sensors look at after a last step in the lane; false where that was not made there.
    pub(super) fn trace_lane(&self, needs: TraceNeeds, trace: &mut StepTrace) -> bool {
        let Some((lane, length)) = self.last_lane() else { return false };
        let of = (&length.plan, &*self.model, &*self.scene, &self.options);
        crate::trace_lane(&lane.lanes, 0, of, needs, trace);
        true
    }

    /// Brings the workspaces of the trees to the beginning of a step that was made in the lane, from which its forces follow, but for those of
    /// constraints: these are the lane's.
    pub(super) fn follow_lane(&mut self, last: &mut LastStep) {
        if self.last_lane().is_none() {
            return;
        }
        self.exchange_start(last);
        self.adhere_as_in_lane();
        self.sources.place_tendons(&self.model, &self.tree_of, &self.state.q);
        let step = self.discretization(last.dt);
        if let Self { lane: Some(lane), trees, state, .. } = self
            && let Some(Length { plan, .. }) = lane.last.map(|length| &lane.lengths[length])
        {
            for workspace in trees.iter_mut().filter(|workspace| !workspace.asleep) {
                workspace.follow(state, &step, &lane.lanes, plan);
            }
            lane.lanes.constraint_impulse(plan, &mut last.forces.constraint);
            last.forces.constraint.iter_mut().for_each(|force| *force /= last.dt);
        }
        self.exchange_start(last);
    }

    /// Exchanges what the state has of the present for what it had at the beginning of a step that was made in the lane.
    fn exchange_start(&mut self, last: &mut LastStep) {
        let Self { lane: Some(lane), state, .. } = self else { return };
        let Lane { lanes, lengths, last: Some(length), .. } = &mut **lane else { return };
        std::mem::swap(&mut state.q, &mut last.q);
        std::mem::swap(&mut state.v, &mut last.v_before);
        std::mem::swap(&mut state.ctrl, &mut lanes.ctrl);
        std::mem::swap(&mut state.act, &mut lanes.act_start);
        std::mem::swap(&mut state.pd, &mut lengths[*length].pd);
    }
}
