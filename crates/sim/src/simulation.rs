//! The simulation and its step.

mod accuracy;
mod adhesion;
mod asked;
pub(crate) mod build;
mod delay;
mod ends;
pub(crate) mod forces;
mod free_motion;
mod impacts;
mod inverse;
mod jacobians;
mod lane;
pub(crate) mod mocap;
mod observing;
mod overlaps;
mod part;
pub(crate) mod planning;
mod sensing;
mod sensor_jacobians;
pub(crate) mod sleeping;
mod soft;

use std::ops::ControlFlow;
use std::sync::Arc;

use geometry::{Collider, Movement, Scene, SceneQueries, Sweep};
use lanes::ConstraintName;
use multibody::{Keyframe, KeyframeKey, Model};
use spatial::Wrench;
use support::{Interrupt, ThreadPool};

use crate::clique::Cliques;
use crate::constrain::{Carrier, ConstraintSet, Context, JacobianDrift, Regularization, Sources, push_soft};
use crate::island::{Islands, Problem};
use crate::observe::Present;
use crate::report::{ContactOutcome, Reports};
use crate::scheme::Discretization;
use crate::soft::SoftBodies;
use crate::state::StateSizes;
use crate::tree_workspace::TreeWorkspace;
use crate::{ContactPoint, Options, SimulationError, SoftContactPoint, State, Stats, WarmStart};
use multibody::{EffectiveMass, InverseWeights};

/// How often a step is halved at most where free motion has no solution or is not resolved.
const HALVINGS: u32 = 6;

/// One world in motion.
#[derive(Debug)]
pub struct Simulation {
    model: Arc<Model>,
    scene: Arc<Scene>,
    options: Options,
    state: State,
    sizes: StateSizes,
    reports: Reports,
    stats: Stats,
    // What follows is derived from the model, or scratch of a step: no step depends on what an earlier one left there.
    collider: Collider,
    effective_mass: EffectiveMass,
    inverse_weights: InverseWeights,
    adhesion: adhesion::Adhesion,
    /// Bodies that are moved from outside.
    mocap: Vec<mocap::MocapBody>,
    /// How they move in this step, one per body; empty where none does.
    carriers: Vec<Carrier>,
    /// The forces that their motion seems to exert on what hangs on them by joints, (nv), empty where there are none; scratch, (nnode).
    base_force: Vec<f64>,
    base_loads: Vec<Wrench<f64>>,
    /// The steps in which they get to where the state has them.
    steps_ahead: usize,
    /// Of the heaviest tree in the island of each tree, see [`EffectiveMass::of_heaviest`]; none where all are about as heavy.
    heaviest: Vec<f64>,
    jacobian_drift: JacobianDrift,
    sources: Sources,
    /// The farthest point of any geom from the origin of its node, one per node, m.
    extents: Vec<f64>,
    /// The tree of every node, and of every geom.
    tree_of: Vec<usize>,
    tree_of_geom: Vec<usize>,
    trees: Vec<TreeWorkspace>,
    soft: SoftBodies,
    soft_contacts: Vec<SoftContactPoint>,
    /// Newton steps of soft bodies, the most of one, and what they leave of its equation, relative.
    soft_iterations: usize,
    soft_residual: f64,
    detected: Vec<geometry::Contact>,
    contact_outcomes: Vec<ContactOutcome>,
    remembered: WarmStart,
    /// What is remembered of the last solution of the constraints in the same step, and whether there was one.
    last_round: WarmStart,
    is_again: bool,
    /// Newton iterations of the solutions before the last in the step.
    earlier_iterations: usize,
    /// All constraints of a step, for derivatives; and those of every step that are no contacts.
    set: ConstraintSet,
    others: ConstraintSet,
    islands: Islands,
    /// Forces on the degrees of freedom, and velocities that the step starts from and at its end, (nv).
    force: Vec<f64>,
    /// What actuators of tendons and sites do there, (nv); empty where no joint limits it.
    other_actuation: Vec<f64>,
    v_start: Vec<f64>,
    v_next: Vec<f64>,
    /// Positions where constraints are taken, (nq), and the part of the step that lies before them.
    q_at: Vec<f64>,
    theta_at: f64,
    /// Generalised forces of constraints in the step under implicit schemes, (nv).
    constraint_force: Vec<f64>,
    /// Where a step in parts began.
    before: State,
    /// Makes steps in parts for some trees; made when one first needs it.
    part: Option<Box<part::Part>>,
    /// Whether this is such a one, and whether its trees have come near others.
    is_part: bool,
    meets_others: bool,
    /// Whether there are drives in the step.
    has_drives: bool,
    /// Steps under error control.
    doubling: accuracy::Doubling,
    /// See [`sleeping::time_to_sleep`]; which trees may fall asleep; scratch of who does with whom.
    time_to_sleep: Option<f64>,
    may_sleep: Vec<bool>,
    /// Whether everything slept in the last step.
    all_slept: bool,
    group: Vec<usize>,
    least: Vec<f64>,
    /// Whether there were contact points in reach at q₀.
    is_near: bool,
    /// Impulses of what was hit before the step.
    impacts: Vec<(ConstraintName, ContactPoint)>,
    /// Newton steps of free motion, the most of a tree; those of all its solutions in the step.
    free_iterations: usize,
    free_evaluations: usize,
    /// What the step has taken of the budget of factorisations so far: in every solve that of its most expensive island.
    factorizations: usize,
    /// The controls that are given, while those act in their place that were given before.
    given_ctrl: Vec<f64>,
    /// How often the step has been halved to come to the part that is made.
    halved: u32,
    /// What the last step started from, and what became of it.
    last_step: crate::step_forces::LastStep,
    /// Placements and motions of the present state, as far as someone has asked.
    present: Present,
    /// Made when someone asks.
    queries: Option<Box<SceneQueries>>,
    /// Scratch of readings of sensors.
    sensing: sensing::Sensing,
    /// What may stop a step.
    interrupt: Interrupt,
    /// The threads that loops are shared among.
    pool: ThreadPool,
    /// Makes the steps of models with few constraints.
    lane: Option<Box<lane::Lane>>,
    /// Whether all contact problems are left to the global solver.
    is_global: bool,
}

impl Simulation {
    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The time step, s.
    pub fn timestep(&self) -> f64 {
        self.options.timestep.unwrap_or(self.model.timestep)
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed between steps. Sizes must stay as they are; the next step checks.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Lets whatever computes steps or their derivatives stop once `interrupt` is raised, within some milliseconds: with
    /// [`SimulationError::Interrupted`], and the state as before the step. It is asked at every factorisation and every few dozen pairs
    /// of geoms; a step that is not interrupted does not depend on it.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.collider.set_interrupt(&interrupt);
        self.soft.set_interrupt(&interrupt);
        self.pool.set_interrupt(interrupt.clone());
        self.interrupt = interrupt;
    }

    /// An error if the step was told to stop: what was computed since is void then.
    fn check_interrupt(&self) -> Result<(), SimulationError> {
        let State { step, time, .. } = self.state;
        if self.interrupt.is_raised() { Err(SimulationError::Interrupted { step, time }) } else { Ok(()) }
    }

    /// Goes to a keyframe, or to the default configuration at rest for `None`; time becomes the keyframe's.
    ///
    /// # Errors
    /// When the model has no such keyframe.
    pub fn reset<'a>(&mut self, keyframe: impl Into<KeyframeKey<'a>>) -> Result<(), SimulationError> {
        let key = SimulationError::keyframe(&self.model, keyframe.into())?;
        let mut warm_start = std::mem::take(&mut self.state.warm_start);
        warm_start.clear();
        let Keyframe { time, q, v, ctrl, act, mocap, .. } = key;
        self.state = State { time, q, v, ctrl, act, mocap, warm_start, ..State::of(&self.model, &self.scene) };
        self.soft_contacts.clear();
        self.sensing.asked = None;
        self.forget_lane();
        self.reports.clear();
        self.last_step.clear();
        self.stats = Stats::default();
        Ok(())
    }

    /// Advances by one time step; with an accuracy in the options, in as many steps as it takes.
    ///
    /// # Errors
    /// When the state is not finite, the motion diverges, or the contact solver does not converge; the state is then
    /// as it was.
    pub fn step(&mut self) -> Result<(), SimulationError> {
        self.step_of(self.timestep())
    }

    /// [`step`](Self::step), or a shorter one that ends at `time`. Nothing moves when `time` has passed.
    ///
    /// # Errors
    /// As `step`.
    pub fn step_within(&mut self, time: f64) -> Result<(), SimulationError> {
        let (remaining, dt) = (time - self.state.time, self.timestep());
        if remaining > dt * (1.0 + 1e-9) {
            return self.step();
        }
        // A remainder that is round-off is no step, and makes none shorter.
        if remaining > 1e-12 * time.abs().max(dt) {
            self.step_of(if remaining < dt * (1.0 - 1e-9) { remaining } else { dt })?;
        }
        if remaining > 0.0 {
            self.state.time = time;
        }
        Ok(())
    }

    fn step_of(&mut self, dt: f64) -> Result<(), SimulationError> {
        self.move_mocap(dt);
        if self.options.accuracy.is_some() {
            let _ = self.advance_through(self.state.time + dt, |_, _| ControlFlow::Continue(()))?;
            self.leave_mocap();
            return Ok(());
        }
        self.note_readings()?;
        let is_whole = dt == self.timestep();
        self.with_acting_controls(|simulation| {
            if !(is_whole && simulation.step_in_lane(dt, false)?) {
                simulation.step_by(dt, HALVINGS)?;
            }
            Ok(())
        })?;
        self.count_step(dt);
        Ok(())
    }

    /// [`step`](Self::step) of a world that falls back from lanes, `unresolved` if they ask for smaller steps: what they would do again is not
    /// tried again.
    ///
    /// # Errors
    /// As `step`.
    pub fn step_fallback(&mut self, unresolved: bool) -> Result<(), SimulationError> {
        let dt = self.timestep();
        self.move_mocap(dt);
        self.note_readings()?;
        self.forget_lane();
        self.with_acting_controls(|simulation| {
            if !unresolved || !simulation.step_in_lane(dt, true)? {
                simulation.step_by(dt, HALVINGS)?;
            }
            Ok(())
        })?;
        self.count_step(dt);
        Ok(())
    }

    fn count_step(&mut self, dt: f64) {
        self.leave_mocap();
        self.keep_controls(self.state.time);
        self.keep_readings(self.state.time);
        self.state.time += dt;
        // A restored count may be any.
        self.state.step = self.state.step.wrapping_add(1);
    }

    /// Moves the state by `dt`, but for time and count of steps: in two halves, each of them in two again up to
    /// `halvings` times, where free motion has no solution near the velocities at the beginning, or the step does not resolve
    /// it. What cannot be halved any more counts as resolved.
    fn step_by(&mut self, dt: f64, halvings: u32) -> Result<(), SimulationError> {
        if self.is_still(dt) {
            self.sensing.asked = None;
            return self.check_interrupt();
        }
        let is_to_resolve = halvings > 0;
        self.halved = HALVINGS - halvings;
        let found = self.find_velocities(dt, is_to_resolve);
        self.halved = 0;
        match found {
            Err(SimulationError::FreeMotion { .. }) if is_to_resolve => {}
            found => {
                found?;
                if self.conserve() || !is_to_resolve {
                    self.collect_reports();
                    self.advance(dt);
                    return Ok(());
                }
                if self.halve_unresolved(dt)? {
                    return Ok(());
                }
            }
        }
        let spent = Stats { force_evaluations: 1 + self.free_evaluations, ..Stats::default() };
        let is_whole = halvings == HALVINGS;
        if is_whole {
            self.before.copy_from(&self.state);
        }
        let halves = self.step_by_halves(dt, halvings, spent);
        if halves.is_err() && is_whole {
            self.state.copy_from(&self.before);
        }
        halves
    }

    /// Moves the state by `dt` in two halves, after what has been `spent`.
    fn step_by_halves(&mut self, dt: f64, halvings: u32, spent: Stats) -> Result<(), SimulationError> {
        let mut sum = spent;
        for _ in 0..2 {
            self.step_by(0.5 * dt, halvings - 1)?;
            sum = sum.followed_by(&self.stats);
        }
        self.stats = sum;
        Ok(())
    }

    /// Finds the velocities at the end of the step, or with `is_to_resolve` that it does not resolve free motion.
    fn find_velocities(&mut self, dt: f64, is_to_resolve: bool) -> Result<(), SimulationError> {
        self.all_slept = false;
        self.take_state()?;
        self.note_base_forces();
        self.sensing.asked = None;
        self.adhesion.force.clear();
        self.last_step.forget_workspaces();
        (self.free_evaluations, self.factorizations) = (0, 0);
        (self.is_again, self.earlier_iterations) = (false, 0);
        self.predict_constraint_forces(dt);
        self.wake_the_disturbed();
        self.move_freely_from_state(dt)?;
        let margin = self.adhesion_reach();
        self.detect(dt, margin);
        while self.wake_the_touched(dt) {
            self.move_freely(dt);
            self.detect(dt, margin);
        }
        self.note_others();
        self.check_interrupt()?;
        self.check_contacts()?;
        if self.adhere() {
            self.move_freely(dt);
        }
        self.move_soft(dt)?;
        if self.options.scheme.has_impacts() && self.resolve_impacts(dt)? {
            self.move_freely(dt);
            self.soft.forget_free_motion();
            self.move_soft(dt)?;
        }
        self.note_jacobian_drift(dt);
        self.is_near = !self.detected.is_empty();
        let mut may_correct = true;
        loop {
            if self.options.scheme.is_implicit() {
                self.move_implicitly(dt, is_to_resolve)?;
                self.check_contacts()?;
            }
            for round in 1.. {
                if !self.is_idle() {
                    self.solve(self.rule(dt, 0.0), false);
                }
                self.collect_velocities(dt)?;
                if !self.refine_soft(dt, round, is_to_resolve)? {
                    break;
                }
                self.remember_round();
            }
            let is_any_saturated = self.saturate_drives();
            let is_corrected = self.rejects_prediction(dt, &mut may_correct);
            if !is_any_saturated && !is_corrected {
                return Ok(());
            }
        }
    }

    /// Finds the contact points that the step can reach, and those farther off by `margin`, m.
    fn detect(&mut self, dt: f64, margin: f64) {
        if self.is_free_motion_only() {
            return;
        }
        // Placed where the scheme takes positions, of which the rest of the step lies ahead.
        let rest = 1.0 - self.theta_at;
        let Self { trees, collider, tree_of, detected, pool, .. } = self;
        let movement = |node: usize| {
            let Movement { rot, pos, sweep } = trees[tree_of[node]].movement(node, dt, rest);
            Movement { rot, pos, sweep: Sweep { slack: sweep.slack + margin, ..sweep } }
        };
        collider.shared_contacts(pool, movement, detected);
        self.detect_soft(dt);
    }

    /// Whether all contact points have been found.
    fn check_contacts(&self) -> Result<(), SimulationError> {
        let State { step, time, .. } = self.state;
        self.collider
            .overflow()
            .or_else(|| self.soft.overflow())
            .map_or(Ok(()), |source| Err(SimulationError::TooMany { step, time, source }))
    }

    /// How constraints become laws; limits farther off than the step can reach by `margin` do, too.
    fn rule(&self, dt: f64, margin: f64) -> Regularization {
        let Options { scheme, beta, sigma, impratio, recovery_speed, .. } = self.options;
        let (theta, constraint_theta) = (scheme.theta(), scheme.constraint_theta());
        let of_step = lanes::Rule { impratio, ..lanes::Rule::new(dt, beta, sigma, recovery_speed) };
        Regularization { theta, constraint_theta, of_step, margin }
    }

    /// What constraints are made from.
    fn context<'a>(&'a self, rule: Regularization, step: &'a Discretization) -> Context<'a> {
        let Self {
            model,
            scene,
            state,
            trees,
            tree_of,
            effective_mass,
            inverse_weights,
            jacobian_drift,
            q_at: q,
            v_start: v,
            ..
        } = self;
        let Self { extents, carriers, options: Options { contact: law, .. }, .. } = self;
        let (law, heaviest) = (*law, &self.heaviest[..]);
        let warm_start = if self.is_again { &self.last_round } else { &state.warm_start };
        let cliques = Cliques { trees, soft: &self.soft.parts };
        Context {
            model,
            scene,
            state,
            warm_start,
            q,
            v,
            step,
            cliques,
            tree_of,
            effective_mass,
            inverse_weights,
            heaviest,
            jacobian_drift,
            extents,
            carriers,
            rule,
            law,
        }
    }

    /// Finds the islands of the step and solves them. Contacts become constraints island by island; all other constraints are made first,
    /// since they join trees to islands; with `rigid_only` those constraints alone
    /// that stop things in no time.
    fn solve(&mut self, rule: Regularization, rigid_only: bool) {
        let options = sap::Options {
            tolerance: self.options.tolerance,
            friction: self.options.contact,
            factorization_budget: self.options.factorization_budget.map(|of_step| {
                // A part may take the share that it has of the step's time: the longest step has 64 parts.
                of_step.div_ceil(1 << self.halved).saturating_sub(self.factorizations)
            }),
            ..sap::Options::default()
        };
        let step = self.discretization(rule.of_step.dt);
        let (mut islands, mut others) = (std::mem::take(&mut self.islands), std::mem::take(&mut self.others));
        let (mut pool, mut heaviest) = (std::mem::take(&mut self.pool), std::mem::take(&mut self.heaviest));
        let mut soft_gaps = std::mem::take(&mut self.soft.gaps);
        let cx = self.context(rule, &step);
        others.clear();
        self.sources.push(&cx, self.has_drives, &mut others);
        push_soft(&cx, &self.soft, &mut others, &mut soft_gaps);
        islands.partition(self.collider.touching(), self.detected.len(), &self.tree_of_geom, &others, cx.cliques);
        if self.effective_mass.is_uneven() {
            islands.of_heaviest(&self.effective_mass, self.trees.len(), &mut heaviest);
        }
        let problem = Problem {
            cx: &Context { heaviest: &heaviest, ..cx },
            detected: &self.detected,
            others: &others,
            rigid_only,
            is_global: self.is_global,
            options: &options,
            interrupt: &self.interrupt,
        };
        islands.solve(&problem, &mut pool);
        self.factorizations += islands.most_spent();
        (self.islands, self.others, self.pool, self.heaviest) = (islands, others, pool, heaviest);
        self.soft.gaps = soft_gaps;
    }

    /// Gathers impulses, statistics, and what the next step starts from.
    fn collect_reports(&mut self) {
        // Where nothing may sleep trees are not looked at: of many, that would be a cache miss each.
        let asleep = if self.time_to_sleep.is_some() {
            self.trees.iter().filter(|workspace| workspace.asleep).count()
        } else {
            0
        };
        self.stats = Stats {
            contacts: self.detected.len(),
            limits: self.others.limits,
            islands: self.islands.active().len(),
            asleep,
            substeps: 1,
            force_evaluations: 1 + self.free_evaluations,
            free_iterations: self.free_iterations,
            ..Stats::default()
        };
        self.islands.collect(&mut self.pool, &mut self.stats, &mut self.contact_outcomes, &mut self.remembered);
        std::mem::swap(&mut self.state.warm_start, &mut self.remembered);
        std::mem::swap(&mut self.reports.contact_outcomes, &mut self.contact_outcomes);
        std::mem::swap(&mut self.reports.detected, &mut self.detected);
        // Swapped buffers: reserve the capacity of the other, so that later steps do not allocate; exactly that, since both would double in
        // every step if `reserve` took more.
        self.detected.clear();
        self.detected.reserve_exact(self.reports.detected.capacity());
        self.reports.renew();
        self.report_impacts();
        self.report_soft();
    }

    /// The contact points of the last step.
    pub fn contacts(&self) -> &[ContactPoint] {
        self.reports.points(&self.scene)
    }

    /// Statistics of the last step.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}
