//! Trees at rest fall asleep, island by island, and wake when something comes near or acts on them.
//!
//! Sleeping trees do not move, only their placement is computed, and contacts among them are not looked for. Trees that fell
//! asleep together wake together.

use multibody::{Model, SleepPolicy, Transmission};
use spatial::{Vec3, are_zero};

use super::Simulation;
use crate::constrain::PullStep;
use crate::tree_workspace::TreeWorkspace;
use crate::{Options, Rest, State};

/// Steps that what rests makes before it falls asleep, where the file says that it does: MuJoCo's `mjMINAWAKE`.
const STEPS_TO_SLEEP: f64 = 10.0;
/// What the file does not say, m/s.
const SLEEP_SPEED: f64 = 1e-3;
/// Coordinates that differ by no more are the same, m or rad: a text rounds them, and so does whoever normalises a quaternion.
const ROUND_OFF: f64 = 1e-12;

/// Whether each tree may sleep: those that the file forbids to may not, nor those that actuators drive unless it allows them to, nor those
/// with a string between them that resists; what comes to the end of one that is slack wakes the other.
pub(super) fn may_sleep(model: &Model, tree_of: &[usize]) -> Vec<bool> {
    let mut may = vec![true; model.tree.trees.len()];
    forbid_driven(model, tree_of, &mut may);
    let policies = model.bodies.iter().filter_map(|body| Some((tree_of[body.node?], body.sleep)));
    for (tree, policy) in policies {
        match policy {
            SleepPolicy::Auto => {}
            SleepPolicy::Never => may[tree] = false,
            SleepPolicy::Allowed | SleepPolicy::Init => may[tree] = true,
        }
    }
    for tendon in model.tendons.iter().filter(|tendon| tendon.resists()) {
        let trees = || tendon.bodies(model).filter_map(|body| Some(tree_of[model.bodies[body].node?]));
        if trees().any(|tree| Some(tree) != trees().next()) {
            trees().for_each(|tree| may[tree] = false);
        }
    }
    may
}

/// Says that trees may not sleep that actuators drive.
fn forbid_driven(model: &Model, tree_of: &[usize], may: &mut [bool]) {
    for (index, tendon) in model.tendons.iter().enumerate() {
        let trees = || tendon.bodies(model).filter_map(|body| Some(tree_of[model.bodies[body].node?]));
        let drives = |actuator: &multibody::Actuator| match actuator.transmission {
            Transmission::Tendon { tendon, .. } => tendon == index,
            _ => false,
        };
        if model.actuators.iter().any(drives) {
            trees().for_each(|tree| may[tree] = false);
        }
    }
    let sites = model.actuators.iter().flat_map(|actuator| actuator.transmission.sites());
    let trees_of_sites = sites.filter_map(|site| Some(tree_of[model.bodies[model.sites[site].body].node?]));
    trees_of_sites.for_each(|tree| may[tree] = false);
    let mut drives = |joint: usize| {
        if let Some(&tree) = tree_of.get(model.joints[joint].nodes.start) {
            may[tree] = false;
        }
    };
    for actuator in &model.actuators {
        match actuator.transmission {
            Transmission::Joint { joint, .. }
            | Transmission::JointAxes { joint, .. }
            | Transmission::Orientation { joint, .. } => drives(joint),
            Transmission::Tendon { tendon, .. } => {
                model.tendons[tendon].terms().iter().for_each(|(joint, _)| drives(*joint));
            }
            _ => {}
        }
    }
}

/// How long trees must have rested to fall asleep, s. It is infinite where trees sleep from the start and the option says so: none falls
/// asleep again. None where nothing sleeps.
pub(super) fn time_to_sleep(model: &Model, options: &Options) -> Option<f64> {
    // Between two steps: sums of time steps round.
    let of_file = || model.sleep_speed.map(|_| (STEPS_TO_SLEEP - 0.5) * options.timestep.unwrap_or(model.timestep));
    let after = options.sleep_after.or_else(of_file)?;
    (after.is_finite() || model.sleepers().next().is_some()).then_some(after)
}

impl Simulation {
    /// Whether anything may sleep.
    pub fn may_sleep(&self) -> bool {
        self.time_to_sleep.is_some()
    }

    /// Whether everything sleeps, as it did in the last step, which was one of `dt`: this one changes nothing.
    pub(super) fn is_still(&self, dt: f64) -> bool {
        let Self { state, last_step, mocap, soft, .. } = self;
        self.all_slept
            && state.rests.iter().all(|rest| rest.asleep_with.is_some())
            && last_step.is_of(state, dt)
            && state.q == state.rest_q
            && [&state.v, &state.applied_force, &state.applied_wrench].iter().all(|of| are_zero(of))
            && !(state.pd.is_active() || self.has_moving_surfaces() || self.is_adhesion_on())
            && state.act.is_empty()
            && mocap.is_empty()
            && soft.is_empty()
    }

    /// Whether the surface of a geom moves on its body.
    fn has_moving_surfaces(&self) -> bool {
        let turns = |geom: &geometry::Geom| geom.surface_motion.is_some_and(|motion| motion.angular != Vec3::ZERO);
        self.state.surface_velocity.iter().any(|v| *v != 0.0) || self.scene.geoms.iter().any(turns)
    }

    /// Notes in the workspaces which trees sleep in this step: all that the state has asleep but those that something was done to
    /// since the last step, and what fell asleep with them.
    pub(super) fn wake_the_disturbed(&mut self) {
        if self.time_to_sleep.is_none() {
            // Trees are not looked at: of many, that would be a cache miss each.
            return;
        }
        let has_rests = self.has_rests();
        for (k, workspace) in self.trees.iter_mut().enumerate() {
            workspace.asleep = has_rests && self.state.rests[k].asleep_with.is_some();
        }
        // A belt may start below anything.
        let is_moved = self.state.pd.is_active() || self.has_moving_surfaces() || self.is_adhesion_on();
        for k in 0..self.trees.len() {
            if self.trees[k].asleep && (is_moved || self.is_disturbed(k)) {
                self.wake(k);
            }
        }
    }

    /// Whether the state knows of every tree how long it has rested.
    fn has_rests(&self) -> bool {
        self.state.rests.len() == self.trees.len() && self.state.rest_q.len() == self.state.q.len()
    }

    fn is_disturbed(&self, k: usize) -> bool {
        let (workspace, state) = (&self.trees[k], &self.state);
        let is_any = |x: &[f64]| x.iter().any(|x| *x != 0.0);
        let mut coordinates = state.q[workspace.qs.clone()].iter().zip(&state.rest_q[workspace.qs.clone()]);
        !coordinates.all(|(q, rest)| (q - rest).abs() <= ROUND_OFF)
            || is_any(&state.v[workspace.dofs.clone()])
            || is_any(&state.applied_force[workspace.dofs.clone()])
            || workspace.is_loaded_by(&state.applied_wrench)
    }

    /// Wakes a sleeper and those that fell asleep with it. The state learns of it when the step has succeeded.
    fn wake(&mut self, k: usize) {
        let Self { trees, state, .. } = self;
        let group = state.rests[k].asleep_with;
        for (workspace, rest) in trees.iter_mut().zip(&state.rests) {
            workspace.asleep &= rest.asleep_with != group;
        }
    }

    /// Wakes the sleepers that contact points in reach concern, and those that something awake pulls at in the step of `dt`; whether there
    /// were any.
    pub(super) fn wake_the_touched(&mut self, dt: f64) -> bool {
        if self.time_to_sleep.is_none() {
            return false;
        }
        let mut woken = false;
        while let Some(tree) = self.soft_touches_sleeper() {
            self.wake(tree);
            woken = true;
        }
        while let Some(tree) = self.pulled_sleeper(dt) {
            self.wake(tree);
            woken = true;
        }
        for c in 0..self.detected.len() {
            for geom in self.detected[c].geoms {
                let Some(node) = self.model.bodies[self.scene.geoms[geom].body].node else { continue };
                let tree = self.tree_of[node];
                if self.trees[tree].asleep {
                    self.wake(tree);
                    woken = true;
                }
            }
        }
        woken
    }

    /// A sleeper that an equality or a string ties to what is awake.
    fn pulled_sleeper(&self, dt: f64) -> Option<usize> {
        let margin = self.rule(dt, 0.0).margin;
        let step = PullStep { state: &self.state, v: &self.v_start, dt, margin };
        self.sources.pulled_sleeper(&self.model, &self.tree_of, &self.trees, &step)
    }

    /// Counts how long trees have rested, and lets islands sleep that have for long enough. After the state has moved on
    /// by `dt`.
    pub(super) fn fall_asleep(&mut self, dt: f64) {
        let Some(after) = self.time_to_sleep else {
            self.state.rests.clear();
            self.state.rest_q.clear();
            return;
        };
        if !self.has_rests() {
            self.state.rests.clear();
            self.state.rests.resize(self.trees.len(), Rest::default());
            self.state.rest_q.clone_from(&self.state.q);
        }
        let is_held = self.state.pd.is_active() || self.has_moving_surfaces() || self.is_adhesion_on();
        for k in 0..self.trees.len() {
            if self.trees[k].asleep {
                // Bit for bit, so that changes by users are recognised.
                let Self { trees, state: State { q, rest_q, .. }, .. } = self;
                q[trees[k].qs.clone()].copy_from_slice(&rest_q[trees[k].qs.clone()]);
                continue;
            }
            let rests = !is_held && self.may_sleep[k] && self.is_slow(k) && !self.is_driven(k);
            let rest = &mut self.state.rests[k];
            let before = if rest.asleep_with.is_some() { 0.0 } else { rest.time };
            *rest = Rest { time: if rests { before + dt } else { 0.0 }, asleep_with: None };
        }
        self.group.clear();
        self.group.extend(0..self.trees.len());
        for island in self.islands.active() {
            let first = island.slots.first().map_or(0, |slot| slot.tree);
            let trees = || island.slots.iter().map(|slot| slot.tree).filter(|tree| *tree < self.trees.len());
            for tree in trees() {
                self.group[tree] = first;
            }
            // Soft bodies do not sleep, nor does what they touch.
            if trees().count() < island.slots.len() {
                for tree in trees() {
                    self.state.rests[tree].time = 0.0;
                }
            }
        }
        // The least time that any tree of a group has rested, at the group's first tree.
        self.least.clear();
        self.least.resize(self.trees.len(), f64::INFINITY);
        for (k, &first) in self.group.iter().enumerate() {
            self.least[first] = self.least[first].min(self.state.rests[k].time);
        }
        for (k, &first) in self.group.iter().enumerate() {
            let workspace = &self.trees[k];
            if workspace.asleep || self.least[first] < after {
                continue;
            }
            self.state.rests[k].asleep_with = Some(first as u32);
            self.state.v[workspace.dofs.clone()].fill(0.0);
            if let Some(force) = self.state.constraint_force.get_mut(workspace.dofs.clone()) {
                force.fill(0.0);
            }
            self.state.rest_q[workspace.qs.clone()].copy_from_slice(&self.state.q[workspace.qs.clone()]);
        }
        self.all_slept = self.trees.iter().all(|workspace| workspace.asleep);
        if self.all_slept {
            // Steps in which nothing happens leave nothing behind.
            self.state.extrapolation.clear();
            self.state.accelerations.clear();
        }
    }

    /// Whether no point of the tree moves faster than the options let it at rest.
    fn is_slow(&mut self, k: usize) -> bool {
        let workspace: &mut TreeWorkspace = &mut self.trees[k];
        let extents = &self.extents[workspace.nodes.clone()];
        let speed = self.options.sleep_speed.or(self.model.sleep_speed).unwrap_or(SLEEP_SPEED);
        workspace.is_slower_than(speed, extents, &self.state.v[workspace.dofs.clone()])
            && self.islands.recovery_velocities_of(k).is_none_or(|v| workspace.is_slower_than(speed, extents, v))
    }

    /// Whether forces are applied to the tree.
    fn is_driven(&self, k: usize) -> bool {
        let workspace = &self.trees[k];
        self.state.applied_force[workspace.dofs.clone()].iter().any(|f| *f != 0.0)
            || workspace.is_loaded_by(&self.state.applied_wrench)
    }
}
