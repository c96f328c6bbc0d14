//! The first stage of a step: how trees move without constraints, under each scheme.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Simulation;
use super::ends::take_state_and;
use crate::constrain::StringEnd;
use crate::scheme::Discretization;
use crate::tree_workspace::{EndVelocities, FreeMotion, Stall, TreeWorkspace};
use crate::{Scheme, SimulationError, State};

impl Simulation {
    /// The scheme's step.
    pub(super) fn discretization(&self, dt: f64) -> Discretization {
        Discretization::new(self.options.scheme, dt, self.options.pd_law)
    }

    /// Whether the step needs nothing of its beginning but where it is: the equation of free motion is all there is.
    pub(super) fn is_free_motion_only(&self) -> bool {
        self.options.scheme.is_implicit() && self.collider.is_empty() && self.sources.are_none() && self.soft.is_empty()
    }

    /// Whether there is nothing to constrain in this step, and was nothing in the last.
    pub(super) fn is_idle(&self) -> bool {
        let has_limit = |workspace: &TreeWorkspace| workspace.drives.iter().any(|drive| drive.is_saturated);
        self.detected.is_empty()
            && self.sources.are_none()
            && self.soft.is_empty()
            && self.islands.active().is_empty()
            && !self.trees.iter().any(has_limit)
    }

    /// Free motion at the beginning of the step, with what [`take_state`](Self::take_state) left to do.
    pub(super) fn move_freely_from_state(&mut self, dt: f64) -> Result<(), SimulationError> {
        if !self.is_shared() || self.is_free_motion_only() {
            self.move_freely(dt);
            return Ok(());
        }
        let has_numbers = self.gather_forces_and(dt, true, fall);
        self.q_at.copy_from_slice(&self.state.q);
        self.theta_at = 0.0;
        if has_numbers { Ok(()) } else { self.state.check(&self.model, &self.sizes) }
    }

    /// Free motion from forces at the beginning of the step: that of the scheme, or where the search for it starts.
    pub(super) fn move_freely(&mut self, dt: f64) {
        if self.is_free_motion_only() {
            self.gather_drives(dt);
        } else {
            self.gather_forces_and(dt, false, fall);
        }
        self.q_at.copy_from_slice(&self.state.q);
        self.theta_at = 0.0;
    }

    /// Finds what velocities at the end of the default step lack of energy and momentum; false where the step turns so far that it does
    /// not resolve the motion.
    pub(super) fn conserve(&mut self) -> bool {
        if self.options.scheme != Scheme::Bilinear {
            return true;
        }
        self.share_string_energy();
        let (retraction, gravity) = (self.options.scheme.retraction(), self.model.gravity);
        let Self { trees, state, v_next, pool, islands, tree_of, .. } = self;
        let (islands, is_resolved) = (&*islands, AtomicBool::new(true));
        pool.parallel_for(trees, |_, workspace| {
            workspace.is_resolved = true;
            if workspace.asleep {
                return;
            }
            let v = &v_next[workspace.dofs.clone()];
            let v_of_q = islands.recovery_velocities_of(tree_of[workspace.nodes.start]).unwrap_or(v);
            if !workspace.conserve(state, EndVelocities { v, v_of_q }, gravity, retraction) {
                workspace.is_resolved = false;
                is_resolved.store(false, Ordering::Relaxed);
            }
        });
        is_resolved.into_inner()
    }

    /// Gives trees what strings with inertia have of energy at the end of the default step.
    fn share_string_energy(&mut self) {
        if !self.sources.have_string_inertia() {
            return;
        }
        let retraction = self.options.scheme.retraction();
        let Self { model, trees, state, v_start, v_next, q_at, islands, tree_of, sources, .. } = self;
        // Positions where the default scheme takes constraints are those of the state: this is scratch.
        let mut q = std::mem::take(q_at);
        q.copy_from_slice(&state.q);
        let mut dt = 0.0;
        for workspace in trees.iter_mut().filter(|workspace| !workspace.asleep) {
            let v_of_q = islands.recovery_velocities_of(tree_of[workspace.nodes.start]);
            dt = workspace.begin_string_energy(v_of_q.unwrap_or(&v_next[workspace.dofs.clone()]), retraction, &mut q);
        }
        let end = StringEnd { q: &q, v0: v_start, v: v_next, dt };
        sources.share_string_energy(model, tree_of, &end, trees);
        q.copy_from_slice(&state.q);
        *q_at = q;
    }

    /// Expects the constraint forces of the last step, under implicit schemes.
    pub(super) fn predict_constraint_forces(&mut self, dt: f64) {
        if !self.options.scheme.is_implicit() {
            return;
        }
        let forces = &self.state.constraint_force;
        for workspace in &mut self.trees {
            match forces.get(workspace.dofs.clone()) {
                Some(force) => workspace.predicted.iter_mut().zip(force).for_each(|(w, force)| *w = dt * force),
                None => workspace.predicted.fill(0.0),
            }
        }
    }

    /// Gathers the constraint forces of the step; whether some were predicted for trees that nothing pushes, or, once in a
    /// step, others than there are. The prediction is corrected then.
    pub(super) fn rejects_prediction(&mut self, dt: f64, may_correct: &mut bool) -> bool {
        if !self.options.scheme.is_implicit() {
            return false;
        }
        let mut wrongly = false;
        let Self { trees, v_next, constraint_force, .. } = self;
        for workspace in trees.iter_mut() {
            let force = &mut constraint_force[workspace.dofs.clone()];
            let is_pushed = workspace.constraint_force(&v_next[workspace.dofs.clone()], dt, force);
            if !is_pushed && workspace.has_prediction() {
                workspace.predicted.fill(0.0);
                wrongly = true;
            } else if is_pushed && *may_correct && workspace.mispredicts(force, dt) {
                workspace.predicted.iter_mut().zip(force).for_each(|(w, force)| *w = dt * *force);
                wrongly = true;
            }
        }
        *may_correct &= !wrongly;
        wrongly
    }

    /// Free motion of an implicit scheme; with `is_to_resolve` what the step does not resolve is an error too.
    pub(super) fn move_implicitly(&mut self, dt: f64, is_to_resolve: bool) -> Result<(), SimulationError> {
        let step = self.discretization(dt);
        let (is_all, conserves) = (self.is_free_motion_only(), self.options.conserve);
        let is_regular = self.options.accuracy.is_none();
        let Self { state, v_start, force, model, trees, q_at, .. } = self;
        let (v0, gravity) = (&v_start[..], model.gravity);
        let motion =
            FreeMotion { state, v0, force, gravity, step: &step, is_all, is_to_resolve, conserves, is_regular };
        self.free_iterations = 0;
        for workspace in trees.iter_mut().filter(|workspace| !workspace.asleep) {
            let found = workspace.move_implicitly(&motion);
            let (Ok(iterations) | Err(Stall { iterations, .. })) = found;
            self.free_iterations = self.free_iterations.max(iterations);
            if let Err(Stall { residual, .. }) = found {
                self.free_evaluations += self.free_iterations;
                let (step, time) = (state.step, state.time);
                return Err(SimulationError::FreeMotion { step, time, timestep: dt, iterations, residual });
            }
        }
        self.free_evaluations += self.free_iterations;
        let needs_more = |workspace: &TreeWorkspace| {
            workspace.has_prediction() || workspace.drives.iter().any(|drive| drive.is_saturated)
        };
        if !self.is_near && self.sources.are_none() && self.soft.is_empty() && !trees.iter().any(needs_more) {
            return Ok(());
        }
        for workspace in trees.iter_mut().filter(|workspace| !workspace.asleep) {
            workspace.linearize(&motion);
            q_at[workspace.qs.clone()].copy_from_slice(workspace.positions(state));
        }
        self.theta_at = step.theta.q;
        self.sources.place_tendons(&self.model, &self.tree_of, &self.q_at);
        let led = trees.iter().flat_map(|workspace| workspace.v_linearised.iter()).zip(v0);
        self.sources.find_tendon_drifts(&self.model, led.map(|(v, v0)| v0 + step.theta.vq * (v - v0)));
        let rule = self.rule(dt, 0.0);
        self.sources.choose_evaluations(&self.model, &self.effective_mass, &rule);
        self.detect(dt, 0.0);
        self.move_soft(dt)
    }

    /// Gathers what is implicit in the forces, and where the search for free motion starts.
    fn gather_drives(&mut self, dt: f64) {
        let step = self.discretization(dt);
        self.force.copy_from_slice(&self.state.applied_force);
        self.force.iter_mut().zip(&self.base_force).for_each(|(force, own)| *force += own);
        self.has_drives = false;
        for (k, workspace) in self.trees.iter_mut().enumerate() {
            if workspace.asleep {
                workspace.sleep();
                continue;
            }
            workspace.go_on(&self.state, &self.v_start, &step);
            self.has_drives |= !workspace.drives.is_empty();
            self.effective_mass.update(k, workspace.dofs.clone(), &workspace.impedance_all);
        }
    }

    /// Remembers the acceleration of the step for the next.
    pub(super) fn remember_accelerations(&mut self, dt: f64) {
        if !self.is_free_motion_only() {
            self.state.accelerations.clear();
            return;
        }
        let Self { v_next, v_start, state: State { accelerations, .. }, .. } = self;
        let is_first = accelerations.is_empty();
        accelerations.resize(2 * v_next.len(), 0.0);
        let (last, before) = accelerations.split_at_mut(v_next.len());
        before.copy_from_slice(last);
        let per_second = 1.0 / dt;
        for (a, (v, v0)) in last.iter_mut().zip(v_next.iter().zip(v_start.iter())) {
            *a = (v - v0) * per_second;
        }
        if is_first {
            before.copy_from_slice(last);
        }
    }

    /// Places the trees and gathers the forces on them.
    pub(super) fn gather_forces(&mut self, dt: f64) {
        self.gather_forces_and(dt, false, |_, _| {});
    }

    /// Places the trees and gathers the forces on them; `then(workspace, v₀)` is next. Where the step begins, its velocities are taken
    /// from the state; whether this has only numbers.
    fn gather_forces_and(&mut self, dt: f64, begins: bool, then: impl Fn(&mut TreeWorkspace, &[f64]) + Sync) -> bool {
        let step = self.discretization(dt);
        let adheres = !self.adhesion.force.is_empty();
        let is_carried = !self.base_force.is_empty();
        // Equalities couple strings along which nothing else acts, too.
        self.sources.place_tendons(&self.model, &self.tree_of, &self.state.q);
        let has_others = adheres || is_carried || self.sources.have_tendons() || self.options.scheme.is_implicit();
        if has_others {
            self.force.copy_from_slice(&self.state.applied_force);
            self.force.iter_mut().zip(&self.adhesion.force).for_each(|(force, pull)| *force += pull);
            self.force.iter_mut().zip(&self.base_force).for_each(|(force, own)| *force += own);
            let v_start = if begins { &self.state.v } else { &self.v_start };
            self.sources.find_tendon_drifts(&self.model, v_start.iter().copied());
            self.sources.add_explicit_forces(&self.state, v_start, &step, &mut self.force);
            if !self.other_actuation.is_empty() {
                self.other_actuation.fill(0.0);
                self.sources.add_actuation(&self.state, v_start, &step, &mut self.other_actuation);
                for TreeWorkspace { other_actuation, dofs, .. } in &mut self.trees {
                    let own = other_actuation.iter_mut().zip(&self.other_actuation[dofs.clone()]);
                    own.for_each(|(own, of_all)| *own = *of_all);
                }
            }
        }
        let Self { trees, state, v_start, force, model, effective_mass, pool, .. } = self;
        let (state, mass) = (&*state, &*effective_mass);
        let force = if has_others { &force[..] } else { &state.applied_force };
        let (is_mass_current, has_drives) = (AtomicBool::new(true), AtomicBool::new(false));
        let each = |workspace: &mut TreeWorkspace, v_start: &[f64]| {
            if workspace.asleep {
                workspace.place(&state.q, v_start);
            } else {
                workspace.gather_forces(state, v_start, force, model.gravity, &step);
                if !mass.is_of(workspace.dofs.clone(), &workspace.impedance_all) {
                    is_mass_current.store(false, Ordering::Relaxed);
                }
                if !workspace.drives.is_empty() {
                    has_drives.store(true, Ordering::Relaxed);
                }
            }
            then(workspace, v_start);
        };
        let mut has_numbers = true;
        if begins {
            has_numbers = take_state_and(pool, state, v_start, trees, |workspace| each(workspace, &state.v));
        } else {
            pool.parallel_for(trees, |_, workspace| each(workspace, v_start));
        }
        self.has_drives = has_drives.into_inner();
        if !is_mass_current.into_inner() {
            for (k, workspace) in trees.iter().enumerate().filter(|(_, workspace)| !workspace.asleep) {
                effective_mass.update(k, workspace.dofs.clone(), &workspace.impedance_all);
            }
        }
        has_numbers
    }

    /// Marks drives saturated that the step took beyond their limits; whether there were any. Each can be only once.
    pub(super) fn saturate_drives(&mut self) -> bool {
        let mut is_any_saturated = false;
        if !self.has_drives {
            return is_any_saturated;
        }
        for workspace in &mut self.trees {
            let (v, v0) = (&self.v_next[workspace.dofs.clone()], &self.v_start[workspace.dofs.clone()]);
            if workspace.saturate_drives(v, v0) {
                workspace.move_freely(&self.v_start);
                is_any_saturated = true;
            }
        }
        is_any_saturated
    }

    /// Takes the velocities of constraints at q₀, under schemes that take their rows elsewhere.
    pub(super) fn note_jacobian_drift(&mut self, dt: f64) {
        let theta_q = self.options.scheme.theta().q;
        if !self.options.scheme.is_implicit() || theta_q == 0.0 || theta_q == 1.0 {
            return;
        }
        let mut jacobian_drift = std::mem::take(&mut self.jacobian_drift);
        let step = self.discretization(dt);
        jacobian_drift.begin(&self.context(self.rule(dt, 0.0), &step), &self.sources, &self.detected, theta_q);
        self.jacobian_drift = jacobian_drift;
    }
}

/// Moves a tree freely that is awake; the others sleep.
fn fall(workspace: &mut TreeWorkspace, v: &[f64]) {
    if workspace.asleep { workspace.sleep() } else { workspace.move_freely(v) }
}
