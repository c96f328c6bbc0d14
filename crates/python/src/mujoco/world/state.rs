//! The state and the inputs of an `MjData`: what a step reads, and the state that it writes.

use pyo3::prelude::*;
use sim::State;

use super::{Running, is_good, is_same, raised};
use crate::arguments::check_quaternions;
use crate::mujoco::native::Part;

impl Running<'_> {
    /// Takes over the state and the inputs.
    pub(super) fn read(&mut self) -> PyResult<()> {
        // SAFETY: as in `step`.
        let is_controlled = unsafe { is_good(self.memory.ctrl.get()) };
        if !is_controlled {
            self.call_part(Part::Actuation)?;
        }
        let (memory, simulation) = (self.memory, &mut *self.simulation);
        // SAFETY: as in `step`.
        let ([qpos, qvel, act], time) = unsafe { (memory.state(), memory.time.get()) };
        let goes_on = simulation.state().time == time;
        if !goes_on || !is_same(&self.kept.left, [qpos, qvel, act]) {
            // Someone has set the state: what the simulation remembers of the last one has no part in what follows, but for who sleeps. Those
            // that were moved will wake.
            let State { rests, rest_q, .. } = simulation.state_mut();
            let sleep = goes_on.then(|| (std::mem::take(rests), std::mem::take(rest_q)));
            simulation.reset(None).map_err(|error| raised(&error))?;
            let state = simulation.state_mut();
            state.time = time;
            if let Some(sleep) = sleep {
                (state.rests, state.rest_q) = sleep;
            }
        }
        let state = simulation.state_mut();
        // SAFETY: as in `step`.
        let (ctrl, force, wrenches) =
            unsafe { (memory.ctrl.get(), memory.applied_force.get(), memory.applied_wrench.get()) };
        state.q.copy_from_slice(qpos);
        state.v.copy_from_slice(qvel);
        state.act.iter_mut().zip(&self.world.activations).for_each(|(own, &at)| *own = act[at]);
        if is_controlled {
            state.ctrl.copy_from_slice(ctrl);
        } else {
            state.ctrl.fill(0.0);
        }
        state.applied_force.copy_from_slice(force);
        for (own, wrench) in state.applied_wrench.chunks_exact_mut(6).zip(wrenches.chunks_exact(6)) {
            own[..3].copy_from_slice(&wrench[3..]);
            own[3..].copy_from_slice(&wrench[..3]);
        }
        self.read_history();
        self.read_mocap();
        self.read_equalities();
        check_quaternions("qpos", qpos, &self.simulation.model().tree)
    }

    fn read_mocap(&mut self) {
        // SAFETY: as in `step`.
        let (positions, quaternions) = unsafe { (self.memory.mocap_pos.get(), self.memory.mocap_quat.get()) };
        // They have no velocity there.
        self.simulation.state_mut().mocap_from.clear();
        for (own, &at) in self.simulation.state_mut().mocap.chunks_exact_mut(7).zip(&self.world.mocap) {
            own[..3].copy_from_slice(&positions[3 * at..][..3]);
            own[3..].copy_from_slice(&quaternions[4 * at..][..4]);
        }
    }

    fn read_equalities(&mut self) {
        // SAFETY: as in `step`.
        let active = unsafe { self.memory.eq_active.get() };
        let State { equality_active, .. } = self.simulation.state_mut();
        let now = self.world.equalities.iter().map(|&at| if active[at] == 0 { 0.0 } else { 1.0 });
        if now.clone().zip(&*equality_active).any(|(now, before)| now != *before) {
            equality_active.iter_mut().zip(now).for_each(|(own, now)| *own = now);
            self.simulation.state_mut().wake();
        }
    }

    /// Hands the state over, and notes it.
    pub(super) fn write(&mut self) {
        let (memory, state) = (self.memory, self.simulation.state());
        // SAFETY: as in `step`; no slice of these is in use.
        let (qpos, qvel, act) = unsafe {
            memory.time.set(state.time);
            (memory.qpos.get_mut(), memory.qvel.get_mut(), memory.act.get_mut())
        };
        qpos.copy_from_slice(&state.q);
        qvel.copy_from_slice(&state.v);
        self.world.activations.iter().zip(&state.act).for_each(|(&at, own)| act[at] = *own);
        self.write_history();
        let left = &mut self.kept.left;
        left.clear();
        [&*qpos, qvel, act].iter().for_each(|of| left.extend_from_slice(of));
    }
}
