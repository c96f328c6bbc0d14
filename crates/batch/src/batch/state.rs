//! States of single worlds: in, out, and back to the start.

use multibody::{Keyframe, KeyframeKey};
use sim::{Simulation, SimulationError, State, StepTrace};

use super::{Batch, BatchError, check_size};
use crate::arrays::Arrays;

impl Batch {
    /// Takes the worlds where `which` is true to a keyframe, or to the default configuration at rest for `None`: positions, velocities,
    /// controls, time and applied forces, which become zero. All that is remembered of them is forgotten; PD control stays.
    ///
    /// # Errors
    /// When the model has no such keyframe, or there is not one entry for each world.
    pub fn reset<'a>(&mut self, which: &[bool], keyframe: impl Into<KeyframeKey<'a>>) -> Result<(), BatchError> {
        check_size("which", which.len(), self.worlds())?;
        let Keyframe { time, q, v, ctrl, act, mocap, .. } = SimulationError::keyframe(&self.model, keyframe.into())?;
        for world in (0..self.worlds()).filter(|&world| which[world]) {
            self.reset_world_to(world, &q, &v);
            let reset = self.arrays.world_mut(world);
            reset.ctrl.copy_from_slice(&ctrl);
            reset.act.copy_from_slice(&act);
            reset.mocap.copy_from_slice(&mocap);
            reset.time[0] = time;
        }
        Ok(())
    }

    /// Takes the worlds where `which` is true to states of their own: positions `q`, one row of nq for each of these worlds in order,
    /// and velocities `v` likewise; controls, activations and time become zero. All that is remembered of them is forgotten; PD control stays.
    ///
    /// # Errors
    /// When a slice has another length.
    pub fn reset_to(&mut self, which: &[bool], q: &[f64], v: &[f64]) -> Result<(), BatchError> {
        check_size("which", which.len(), self.worlds())?;
        let (nq, nv) = (self.model.nq(), self.model.nv());
        let count = which.iter().filter(|which| **which).count();
        check_size("q", q.len(), count * nq)?;
        check_size("v", v.len(), count * nv)?;
        for (k, world) in (0..self.worlds()).filter(|&world| which[world]).enumerate() {
            self.reset_world_to(world, &q[k * nq..][..nq], &v[k * nv..][..nv]);
        }
        Ok(())
    }

    /// Takes one world to a state of its own, as [`reset_to`](Self::reset_to) does.
    ///
    /// # Panics
    /// When there is no such world, or a slice has another length than nq and nv.
    pub fn reset_world_to(&mut self, world: usize, q: &[f64], v: &[f64]) {
        self.forget(world);
        self.reset_soft(world);
        let mut of_world = self.arrays.world_mut(world);
        of_world.read_inputs(&self.start);
        of_world.q.copy_from_slice(q);
        of_world.v.copy_from_slice(v);
    }

    /// Takes the soft bodies of a world to where they were made.
    fn reset_soft(&mut self, world: usize) {
        if !self.scene.soft_bodies.is_empty() {
            self.groups[world / self.width].remember(world % self.width, &self.start);
        }
    }

    /// Forgets what the solver remembers of a world, its error and its contact points, so that its next steps depend on its state alone.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn forget(&mut self, world: usize) {
        self.groups[world / self.width].forget(world % self.width);
        let Arrays { errors, contacts, traces, .. } = self.arrays.world_mut(world);
        errors.fill(None);
        contacts.iter_mut().for_each(Vec::clear);
        traces.iter_mut().for_each(StepTrace::clear);
    }

    /// The state of a world, from which a [`Simulation`] of the same options goes on. Of worlds that are stepped
    /// [one by one](Self::alone) it is complete: the same bits follow. Of others it leaves out what lanes remember of the last step, by
    /// which contacts and stops that rest are told from those that were just pressed in: the next step is that of a new simulation in
    /// this state.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn state(&self, world: usize) -> State {
        let mut state = State::new(&self.model);
        self.write_state(world, &mut state);
        state
    }

    /// [`state`](Self::state), into a state of this model.
    pub(super) fn write_state(&self, world: usize, state: &mut State) {
        self.groups[world / self.width].recall(world % self.width, state);
        self.arrays.world(world).write_state(state, self.pd.as_ref());
    }

    /// Takes a world to a state, as one of a [`Simulation`].
    ///
    /// # Errors
    /// When the state is of another model, or has PD control by other gains than the batch's; the world is then as it was.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_state(&mut self, world: usize, state: &State) -> Result<(), BatchError> {
        let (nq, nv, nu) = (self.model.nq(), self.model.nv(), self.model.nu());
        check_size("q", state.q.len(), nq)?;
        check_size("v", state.v.len(), nv)?;
        check_size("ctrl", state.ctrl.len(), nu)?;
        let nodes = 3 * self.scene.soft_bodies.iter().map(|body| body.node_count()).sum::<usize>();
        check_size("soft_positions", state.soft_positions.len(), nodes)?;
        check_size("soft_velocities", state.soft_velocities.len(), nodes)?;
        check_size("soft_forces", state.soft_forces.len(), nodes)?;
        check_size("act", state.act.len(), self.model.na())?;
        check_size("past_ctrl", state.past_ctrl.len(), self.arrays.world(world).past_ctrl.len())?;
        check_size("past_readings", state.past_readings.len(), self.arrays.world(world).past_readings.len())?;
        let acts = |x: &[f64]| x.iter().any(|x| *x != 0.0);
        check_size("applied_force", state.applied_force.len(), nv)?;
        check_size("applied_wrench", state.applied_wrench.len(), 6 * self.model.bodies.len())?;
        if acts(&state.surface_velocity) {
            check_size("surface_velocity", state.surface_velocity.len(), 3 * self.scene.geoms.len())?;
        }
        if state.pd.is_active() {
            if self.pd.is_none() || self.state(world).pd.gains() != state.pd.gains() {
                let expected = "that of the batch, Batch::set_pd";
                return Err(BatchError::State { what: "PD control", expected });
            }
            check_size("target", state.pd.target.len(), nq)?;
            self.arrays.world_mut(world).pd_target.copy_from_slice(&state.pd.target);
        }
        self.reset_world_to(world, &state.q, &state.v);
        if acts(&state.applied_force) {
            self.applied_force_mut();
        }
        if acts(&state.applied_wrench) {
            self.applied_wrench_mut();
        }
        if acts(&state.surface_velocity) {
            self.surface_velocity_mut();
        }
        self.arrays.world_mut(world).read_inputs(state);
        self.groups[world / self.width].remember(world % self.width, state);
        Ok(())
    }

    /// A simulation that goes on from where a world is.
    ///
    /// # Errors
    /// As [`Simulation::new`]: none where the batch could be made.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn simulation(&self, world: usize) -> Result<Simulation, SimulationError> {
        let (model, scene) = self.world_model(world);
        let mut simulation = Simulation::new(model.clone(), scene.clone(), self.options.clone())?;
        self.write_state(world, simulation.state_mut());
        Ok(simulation)
    }
}
