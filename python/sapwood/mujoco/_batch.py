"""Sapwood's step in ``mujoco.batch`` and ``mujoco.rollout``: worlds on threads."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import mujoco.batch
import mujoco.rollout
import numpy as np

from sapwood.mujoco._world import worlds

__all__ = ["BATCH", "ROLLOUT", "Batch", "Rollout"]

ROLLOUT = mujoco.rollout._rollout.Rollout
BATCH = mujoco.batch._batch.Batch

FULL = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def _step(m: Any, d: Any) -> bool:
    """Makes a step; whether it raised no warning, after which a rollout stays where it is."""
    before = d.warning.number.copy()
    worlds.step(m, d, 1)
    return bool((d.warning.number == before).all())


class Rollout:
    """Sapwood's rollouts in the place of ``mujoco._rollout.Rollout``."""

    def __init__(self, *, nthread: int) -> None:
        self.nthread = nthread
        self.theirs = ROLLOUT(nthread=nthread)

    def rollout(
        self,
        model: Any,
        data: Any,
        nstep: int,
        control_spec: int,
        state0: Any,
        warmstart0: Any = None,
        control: Any = None,
        state: Any = None,
        sensordata: Any = None,
        chunk_size: int | None = None,
    ) -> None:
        """Rolls out trajectories; arguments are those of MuJoCo's."""
        # MuJoCo's own makes no step here: it says what is wrong with the arguments.
        nothing = [None if array is None else array[:, :0] for array in (control, state, sensordata)]
        self.theirs.rollout(model, data, min(nstep, 0), control_spec, state0, warmstart0, *nothing, chunk_size)

        def run(worker: int) -> None:
            d = data[worker]
            for r in range(worker, len(state0), len(data)):
                m = model[r]
                mujoco.mj_resetData(m, d)
                mujoco.mj_setState(m, d, state0[r], FULL)
                if warmstart0 is not None:
                    d.qacc_warmstart = warmstart0[r]
                goes_on = True
                for t in range(nstep):
                    if goes_on:
                        if control is not None:
                            mujoco.mj_setState(m, d, control[r, t], control_spec)
                        goes_on = _step(m, d)
                    if state is not None:
                        mujoco.mj_getState(m, d, state[r, t], FULL)
                    if sensordata is not None:
                        sensordata[r, t] = d.sensordata

        if self.nthread == 0:
            data = data[:1]
            run(0)
            return
        with ThreadPoolExecutor(self.nthread) as pool:
            list(pool.map(run, range(len(data))))


class Batch:
    """Sapwood's steps in the place of ``mujoco._batch.Batch``, whose states these are; all else is MuJoCo's."""

    def __init__(self, model: Any, nsim: int, nthread: int, persistent: bool) -> None:
        self.theirs = BATCH(model, nsim, nthread, persistent)
        self.model = model
        self.has_own_models = False
        self.worlds: dict[int, tuple[Any, Any]] = {}
        self.outputs: dict[str, Any] = {}
        self.errors: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.theirs, name)

    def output(self, name: str) -> Any:
        """The memory of an output of all simulations."""
        memory = self.theirs.output(name)
        if memory is not None:
            self.outputs[name] = memory
        return memory

    def error(self, sim: int) -> str:
        """What was wrong with a simulation in the last call."""
        return self.errors.get(sim) or str(self.theirs.error(sim))

    def expand(self, name: str) -> Any:
        """The memory of a parameter of each simulation's own."""
        self._part()
        return self.theirs.expand(name)

    def set_const(self, ids: Any = None) -> int:
        """Derives constants of each simulation's model."""
        self._part()
        return int(self.theirs.set_const(ids))

    def set_models(self, models: Any) -> None:
        """Gives each simulation a model."""
        self.theirs.set_models(models)
        if isinstance(models, mujoco.MjModel):
            self.model = models
        self._part()

    def _part(self) -> None:
        """From now on each simulation has a model of its own."""
        if not self.has_own_models:
            self.has_own_models = True
            self.worlds.clear()

    def step(self, ids: Any = None, nstep: int = 1, stage: int = 0) -> int:
        """Makes steps; then stages at the new state, if there are to be any."""

        def work(_: int, m: Any, d: Any) -> None:
            worlds.step(m, d, nstep)

        failed = self.theirs.forward(ids, 0) if nstep > 0 else self.theirs.step(ids, nstep, stage)
        if nstep > 0 and not failed:
            failed = self._run(ids, work)
            if stage:
                sims = range(self.theirs.nsim) if ids is None else ids.tolist()
                good = [sim for sim in sims if sim not in self.errors]
                failed += self.theirs.forward(np.array(good, dtype=np.int32), stage) if good else 0
        return int(failed)

    def rollout(self, ids: Any, nstep: int, control: Any, control_spec: int, records: Sequence[Any]) -> int:
        """Makes steps, and writes after each what is to be recorded."""
        count = self.theirs.nsim if ids is None else len(ids)
        if any(np.shape(into)[:2] != (count, nstep) for *_, into in records):
            raise ValueError(f"records: expected {nstep} places for each of {count} simulations")
        if any(not isinstance(into, np.ndarray) for *_, into in records):
            raise ValueError("records: expected arrays to write into")
        if control is not None and control.shape[:2] != (count, nstep):
            raise ValueError(f"control: expected {nstep} for each of {count} simulations")
        # MuJoCo's own makes one step, which is taken back: it says what is wrong with the arguments.
        state, warning = self.theirs.state(), self.theirs.warning()
        before, warning_before = state.copy(), warning.copy()
        first = [(name, spec, np.ascontiguousarray(into[:, :1])) for name, spec, into in records]
        control_of_first = None if control is None else np.ascontiguousarray(control[:, :1])
        failed = self.theirs.rollout(ids, min(nstep, 1), control_of_first, control_spec, first)
        state[:], warning[:] = before, warning_before

        def work(place: int, m: Any, d: Any) -> None:
            goes_on = True
            for t in range(nstep):
                if goes_on:
                    if control is not None:
                        mujoco.mj_setState(m, d, control[place, t], control_spec)
                    goes_on = _step(m, d)
                for name, spec, into in records:
                    if name is None:
                        mujoco.mj_getState(m, d, into[place, t], spec)
                    else:
                        into[place, t] = getattr(d, name)

        return int(failed or self._run(ids, work))

    def _world(self, sim: int) -> tuple[Any, Any]:
        """The model and the data of a simulation, as they are now."""
        if sim not in self.worlds:
            m = copy.copy(self.model) if self.has_own_models else self.model
            self.worlds[sim] = m, mujoco.MjData(m)
        m, d = self.worlds[sim]
        if self.has_own_models:
            self.theirs.get_model(sim, m)
        self.theirs.get_data(sim, d)
        return m, d

    def _run(self, ids: Any, work: Callable[[int, Any, Any], None]) -> int:
        """Works on simulations; those that fail stay as they were. Returns how many these are."""
        state, warning = self.theirs.state(), self.theirs.warning()
        sims = range(self.theirs.nsim) if ids is None else ids.tolist()
        self.errors = {}

        def run(place: int) -> None:
            sim = sims[place]
            try:
                m, d = self._world(sim)
                work(place, m, d)
            except Exception as error:
                self.errors[sim] = f"{type(error).__name__}: {error}"
                return
            mujoco.mj_getState(m, d, state[sim], INTEGRATION)
            warning[sim] = np.column_stack([d.warning.lastinfo, d.warning.number])
            for name, memory in self.outputs.items():
                kind = mujoco.batch._template(d, name).dtype
                memory[sim].view(kind)[:] = np.ravel(getattr(d, name))

        with ThreadPoolExecutor(max(self.theirs.nthread, 1)) as pool:
            list(pool.map(run, range(len(sims))))
        self.theirs.status()[list(self.errors)] = 1
        return len(self.errors)
