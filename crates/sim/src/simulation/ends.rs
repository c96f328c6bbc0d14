//! From the state to the trees at the beginning of a step, and back at its end, shared among threads.

use lanes::constants::FASTEST;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use support::ThreadPool;

use super::Simulation;
use crate::actuation::{ActuationStart, advance_activations, replace_by_activations};
use crate::extrapolation::{Differences, Mark};
use crate::scheme::Discretization;
use crate::tree_workspace::TreeWorkspace;
use crate::{SimulationError, State, VelocityExtrapolation};

/// Parts that loops over several things at once are cut into for threads.
const SHARES: usize = 32;

/// Share `k` of `all`.
fn share(k: usize, all: usize) -> Range<usize> {
    all * k / SHARES..all * (k + 1) / SHARES
}

/// Trees in a row, with what there is of each of their degrees of freedom and of their coordinates.
struct Trees<'a> {
    /// The index of the first.
    first: usize,
    workspaces: &'a [TreeWorkspace],
    v: &'a mut [f64],
    /// Empty where coordinates are of no interest.
    q: &'a mut [f64],
    /// The extrapolation, empty where that is of no interest.
    differences: Differences<'a>,
    marks: &'a mut [Mark],
}

/// What there is of one of them.
struct TreeEnd<'a> {
    workspace: &'a TreeWorkspace,
    v: &'a mut [f64],
    q: &'a mut [f64],
    differences: Differences<'a>,
    mark: Option<&'a mut Mark>,
}

impl<'a> Trees<'a> {
    /// All trees in shares.
    fn cut(self) -> [Self; SHARES] {
        let Self { workspaces: all, mut v, mut q, mut differences, mut marks, .. } = self;
        std::array::from_fn(|k| {
            let Range { start: first, end } = share(k, all.len());
            let workspaces = &all[first..end];
            let ends = workspaces.first().zip(workspaces.last());
            let dofs = ends.map_or(0, |(first, last)| last.dofs.end - first.dofs.start);
            let qs = ends.map_or(0, |(first, last)| last.qs.end - first.qs.start);
            Self {
                first,
                workspaces,
                v: v.split_off_mut(..dofs).unwrap_or_default(),
                q: q.split_off_mut(..qs).unwrap_or_default(),
                differences: differences.split_off(dofs),
                marks: marks.split_off_mut(..workspaces.len()).unwrap_or_default(),
            }
        })
    }

    /// Calls `f` for every tree, with its index.
    fn each(&mut self, mut f: impl FnMut(usize, TreeEnd<'_>)) {
        let (mut v, mut q) = (&mut *self.v, &mut *self.q);
        let mut differences = self.differences.reborrow();
        let mut marks = self.marks.iter_mut();
        for (k, workspace) in (self.first..).zip(self.workspaces) {
            let (nv, nq) = (workspace.dofs.len(), workspace.qs.len());
            let end = TreeEnd {
                workspace,
                v: v.split_off_mut(..nv).unwrap_or_default(),
                q: q.split_off_mut(..nq).unwrap_or_default(),
                differences: differences.split_off(nv),
                mark: marks.next(),
            };
            f(k, end);
        }
    }
}

impl Simulation {
    /// Checks the state and takes the velocities that the step starts from, or leaves to [`take_state_and`] what
    /// threads can share.
    pub(super) fn take_state(&mut self) -> Result<(), SimulationError> {
        if self.is_shared() && !self.is_free_motion_only() {
            self.state.check_sizes(&self.model, &self.sizes)?;
            self.soft.begin(&self.state);
            return Ok(());
        }
        self.state.check(&self.model, &self.sizes)?;
        self.v_start.copy_from_slice(&self.state.v);
        self.soft.begin(&self.state);
        Ok(())
    }

    /// Whether loops are shared among threads.
    pub(super) fn is_shared(&self) -> bool {
        self.pool.count() > 1
    }
}

/// Takes the velocities that the step starts from and calls `then` for every tree; whether there are only numbers in the state.
pub(super) fn take_state_and(
    pool: &mut ThreadPool,
    state: &State,
    v_start: &mut [f64],
    workspaces: &mut [TreeWorkspace],
    then: impl Fn(&mut TreeWorkspace) + Sync,
) -> bool {
    let (are_bad, all) = (AtomicBool::new(false), workspaces.len());
    let (mut workspaces, mut v_start) = (workspaces, v_start);
    let mut shares: [_; SHARES] = std::array::from_fn(|k| {
        let workspaces = workspaces.split_off_mut(..share(k, all).len()).unwrap_or_default();
        let dofs =
            workspaces.first().zip(workspaces.last()).map_or(0..0, |(first, last)| first.dofs.start..last.dofs.end);
        (k, workspaces, v_start.split_off_mut(..dofs.len()).unwrap_or_default(), dofs)
    });
    pool.parallel_for(&mut shares, |_, (k, workspaces, v_start, dofs)| {
        v_start.copy_from_slice(&state.v[dofs.clone()]);
        if !state.is_finite_in(|all| share(*k, all)) {
            are_bad.store(true, Ordering::Relaxed);
        }
        workspaces.iter_mut().for_each(&then);
    });
    !are_bad.into_inner()
}

impl Simulation {
    /// Gathers the velocities at the end of the step.
    pub(super) fn collect_velocities(&mut self, dt: f64) -> Result<(), SimulationError> {
        self.check_interrupt()?;
        if let Some(source) = self.islands.error() {
            let v_star = self.trees.iter().flat_map(|workspace| &workspace.v_star).copied();
            let (step, time, source) = (self.state.step, self.state.time, source.clone());
            let error = SimulationError::Contact { step, time, timestep: dt, source };
            return Err(self.runaway(v_star, dt).unwrap_or(error));
        }
        let Self { islands, trees, v_next, pool, .. } = self;
        let (islands, runs_away) = (&*islands, AtomicBool::new(false));
        let gather = |trees: &mut Trees<'_>| {
            trees.each(|k, TreeEnd { workspace, v, .. }| {
                v.copy_from_slice(islands.velocities_of(k).map_or(&workspace.v_star, |(v, _)| v));
                if !v.iter().all(|v| v.abs() <= FASTEST) {
                    runs_away.store(true, Ordering::Relaxed);
                }
            });
        };
        let mut all = Trees {
            first: 0,
            workspaces: trees,
            v: v_next,
            q: &mut [],
            differences: Differences::default(),
            marks: &mut [],
        };
        if pool.count() == 1 {
            gather(&mut all);
        } else {
            pool.parallel_for(&mut all.cut(), |_, trees| gather(trees));
        }
        if let Some(error) = runs_away.into_inner().then(|| self.runaway(self.v_next.iter().copied(), dt)).flatten() {
            return Err(error);
        }
        self.collect_soft_velocities(dt)
    }

    /// The error of the first of the velocities that runs away.
    fn runaway(&self, v: impl Iterator<Item = f64>, timestep: f64) -> Option<SimulationError> {
        let (step, time) = (self.state.step, self.state.time);
        let fast = v.enumerate().find(|(_, v)| v.abs() > FASTEST || v.is_nan());
        let (dof, value) = fast?;
        let joint_of = |dof| {
            let joint = self.model.joints.iter().find(|joint| (joint.v..joint.v + joint.kind.nv()).contains(&dof));
            joint.map_or_else(String::new, |joint| joint.name.clone())
        };
        // Where nothing resists a joint all that hangs together with it has no velocity.
        if value.is_nan()
            && let Some(dof) = multibody::singular_dof(&self.model, &self.state.q)
        {
            return Some(SimulationError::Singular { step, time, joint: joint_of(dof), dof });
        }
        Some(SimulationError::Diverged { step, time, timestep, joint: joint_of(dof), dof, value })
    }

    /// Moves the state to the end of the step.
    pub(super) fn advance(&mut self, dt: f64) {
        self.last_step.begin(&self.state, &self.v_start, &self.v_next, dt);
        if !self.state.act.is_empty() {
            let (step, model) = (self.discretization(dt), &self.model);
            replace_by_activations(model, &mut self.last_step.inputs, &self.state.act, &step);
            let start = ActuationStart { ctrl: &self.state.ctrl, q: &self.last_step.q, v: &self.last_step.v0 };
            advance_activations(model, &start, &mut self.state.act, &step);
        }
        self.remember_accelerations(dt);
        let follows = !self.is_free_motion_only();
        let Self { trees, state, v_start, v_next, constraint_force, islands, pool, .. } = self;
        state.constraint_force.clone_from(constraint_force);
        let Discretization { theta, retraction, .. } =
            Discretization::new(self.options.scheme, dt, self.options.pd_law);
        if theta.vq < 1.0 {
            v_start.iter_mut().zip(&*v_next).for_each(|(v0, v)| *v0 += theta.vq * (v - *v0));
        }
        let (v_next, v_of_q) = (&v_next[..], if theta.vq < 1.0 { &v_start[..] } else { &v_next[..] });
        if follows {
            state.extrapolation.resize(v_next.len(), trees.len());
        }
        let islands = &*islands;
        let move_on = |trees: &mut Trees<'_>| {
            trees.each(|k, TreeEnd { workspace, v, q, differences, mark }| {
                v.copy_from_slice(&v_next[workspace.dofs.clone()]);
                if let Some(mark) = mark {
                    let predicted = islands.velocities_of(k).and_then(|(_, predicted)| predicted);
                    mark.follow(differences, predicted, v, dt);
                    mark.is_calm = islands.is_calm(k);
                }
                let v_of_q = &v_of_q[workspace.dofs.clone()];
                if let Some(recovery_v) = islands.recovery_velocities_of(k) {
                    // Recovery moves positions and leaves no velocity.
                    for ((v, recovery_v), v_of_q) in v.iter_mut().zip(recovery_v).zip(v_of_q) {
                        *v = v_of_q + (recovery_v - *v);
                    }
                    retraction.advance(&workspace.tree, q, v, dt, 1.0);
                    v.copy_from_slice(&v_next[workspace.dofs.clone()]);
                } else {
                    retraction.advance(&workspace.tree, q, v_of_q, dt, 1.0);
                }
                if let Some(lack) = workspace.lack() {
                    v.iter_mut().zip(lack).for_each(|(v, lack)| *v += lack);
                }
                if let Some(lack) = workspace.lack_of_place() {
                    q.iter_mut().zip(lack.to_array()).for_each(|(q, lack)| *q += lack);
                }
            });
        };
        let State { v, q, extrapolation: VelocityExtrapolation { differences, marks }, .. } = state;
        let differences = Differences::of(differences);
        let mut all = Trees { first: 0, workspaces: trees, v, q, differences, marks };
        if pool.count() == 1 {
            move_on(&mut all);
        } else {
            pool.parallel_for(&mut all.cut(), |_, trees| move_on(trees));
        }
        self.advance_soft(dt);
        self.take_parts();
        self.last_step.end(&self.state.v);
        self.fall_asleep(dt);
    }
}
