"""Engines that step many worlds, behind one face."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood.bench.engines import Mujoco

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

LANES: dict[str, tuple[int, ...]] = {"f64": (4, 8), "f32": (8, 16)}
"""Worlds in a register, of AVX2 and of AVX-512."""
LONE_WORLDS = 8
"""Worlds of the row of lone simulations, which are stepped one after the other."""
SETTLED_WORLDS = 4
"""Worlds that MuJoCo settles; all others are copies of these. It steps them one after the other, at the same cost."""


class Counts(NamedTuple):
    """What an engine did since it was made; None where it does not say."""

    steps: int
    """Steps of worlds."""
    left: int | None = None
    """Steps that lanes left to the solver of one world."""
    unsettled: int | None = None
    """Steps whose friction did not converge."""
    iterations: int | None = None
    """Iterations of the solver, summed over worlds."""
    group_iterations: int | None = None
    """Iterations of groups of worlds, each as many as its slowest world makes."""


class Worlds(Protocol):
    """Many worlds of one model."""

    name: str
    precision: str
    lanes: int
    n: int
    lost: int
    """Worlds that failed and began again, so far."""

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls (n, nu) of the next steps."""

    def advance(self) -> None:
        """Makes the steps; this is what is timed."""

    def mend(self) -> None:
        """Lets worlds that failed begin again, and counts them."""

    def settle(self, steps: int) -> None:
        """Makes steps without controls."""

    def position(self, world: int) -> Vector:
        """Positions of a world, (nq,)."""

    def counts(self) -> Counts:
        """What was done so far."""


class SapwoodBatch:
    """Worlds of a ``sapwood.Batch``."""

    def __init__(self, model: sw.Model, n: int, precision: str, lanes: int | None, threads: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.PerformanceWarning)  # `alone` says the same
            self.batch = sw.Batch(model, n, threads=threads, precision=precision, lanes=lanes)  # type: ignore[arg-type]
        self.precision, self.lanes, self.n, self.lost = precision, self.batch.lanes, n, 0
        self.name = f"sapwood {precision} x {self.lanes}"
        self._steps = 0

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""
        self.batch.reset(which)

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls of the next steps."""
        self.batch.ctrl[:] = controls
        self._steps = steps

    def advance(self) -> None:
        """Makes the steps."""
        # `failed` holds the worlds that failed until they are reset.
        with contextlib.suppress(sw.SimulationError):
            self.batch.step(self._steps)

    def mend(self) -> None:
        """Lets worlds that failed begin again."""
        failed = self.batch.failed
        if failed.any():
            self.lost += int(failed.sum())
            self.begin(failed)

    def settle(self, steps: int) -> None:
        """Makes steps without controls."""
        self.hold(np.zeros_like(self.batch.ctrl), steps)
        self.advance()
        self.mend()

    def position(self, world: int) -> Vector:
        """Positions of a world."""
        return np.array(self.batch.q[world])

    def counts(self) -> Counts:
        """What was done so far."""
        s = self.batch.stats
        iterations = s.iterations + s.left_iterations
        return Counts(s.steps, s.left, s.unsettled, iterations, s.group_iterations)


class LoneSimulations:
    """A few worlds, each a ``sapwood.Simulation`` of its own, one after the other."""

    def __init__(self, model: sw.Model, n: int) -> None:
        self.name, self.precision, self.lanes, self.lost = "sapwood alone", "f64", 1, 0
        self.n = min(n, LONE_WORLDS)
        self._simulations = [sw.Simulation(model) for _ in range(self.n)]
        self._steps = self._made = 0
        self._failed: list[int] = []

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""
        for world in np.flatnonzero(which):
            self._simulations[world].reset()

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls of the next steps."""
        for simulation, ctrl in zip(self._simulations, controls, strict=True):
            simulation.ctrl[:] = ctrl
        self._steps = steps

    def advance(self) -> None:
        """Makes the steps."""
        for world, simulation in enumerate(self._simulations):
            try:
                simulation.step(self._steps)
            except sw.SimulationError:
                self._failed.append(world)
        self._made += self._steps * self.n

    def mend(self) -> None:
        """Lets worlds that failed begin again."""
        for world in self._failed:
            self._simulations[world].reset()
        self.lost += len(self._failed)
        self._failed = []

    def settle(self, steps: int) -> None:
        """Makes steps without controls."""
        self.hold(np.zeros((self.n, self._simulations[0].model.nu)), steps)
        self.advance()
        self.mend()

    def position(self, world: int) -> Vector:
        """Positions of a world."""
        return self._simulations[world].q.copy()

    def counts(self) -> Counts:
        """What was done so far."""
        return Counts(self._made)


class MujocoRollout:
    """Worlds of ``mujoco.rollout``, with the Newton solver and the Euler integrator."""

    def __init__(self, path: Path, n: int, cone: str, threads: int) -> None:
        import mujoco
        from mujoco import rollout

        engine = Mujoco(path, cone)
        self.name = engine.name
        self.precision, self.lanes, self.n, self.lost = "f64", 1, n, 0
        self.controls, self.timestep, self._model = engine.controls, engine.timestep, engine.model
        self._data = [mujoco.MjData(self._model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads)
        spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self._default = np.empty(mujoco.mj_stateSize(self._model, spec))
        mujoco.mj_getState(self._model, self._data[0], self._default, spec)
        self._state = np.tile(self._default, (n, 1))
        self._held = self._out = self._sensors = np.empty((n, 0, 0))
        self._made = 0
        self._iterations: list[int] = []

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""
        self._state[which] = self._default

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls of the next steps."""
        self._held = np.repeat(controls[:, None, :], steps, axis=1)
        if self._out.shape[:2] != (len(controls), steps):
            self._out = np.empty((len(controls), steps, len(self._default)))
            self._sensors = np.empty((len(controls), steps, self._model.nsensordata))

    def advance(self) -> None:
        """Makes the steps."""
        n, steps = self._out.shape[:2]
        models = [self._model] * n
        self._rollout.rollout(
            models, self._data, self._state, self._held, nstep=steps, state=self._out, sensordata=self._sensors
        )
        self._state[:] = self._out[:, -1]
        self._made += n * steps
        # Those of the last step of the last world: a sample.
        self._iterations.append(int(np.sum(self._data[0].solver_niter)))

    def mend(self) -> None:
        """Lets worlds that failed begin again: a rollout repeats their last state from where it failed on."""
        steps = self._out.shape[1]
        stuck = self._out[:, -1, 0] - self._out[:, 0, 0] < (steps - 1.5) * self.timestep
        failed = stuck | ~np.isfinite(self._state).all(axis=1)
        self.lost += int(failed.sum())
        self.begin(failed)

    def settle(self, steps: int) -> None:
        """Makes steps without controls, with a few worlds; all are copies of these then."""
        n, whole = self.n, self._state
        self.n = min(n, SETTLED_WORLDS)
        self._state = whole[: self.n].copy()
        self.hold(np.zeros((self.n, self._model.nu)), steps)
        self.advance()
        self.mend()
        self._state = np.resize(self._state, whole.shape)
        self.n = n

    def position(self, world: int) -> Vector:
        """Positions of a world."""
        return self._state[world, 1 : 1 + self._model.nq].copy()

    def counts(self) -> Counts:
        """What was done so far."""
        mean = float(np.mean(self._iterations)) if self._iterations else 0.0
        return Counts(self._made, iterations=round(mean * self._made))


class MujocoBatch:
    """Worlds of ``mujoco.batch``, with the Newton solver, the Euler integrator and pyramidal cones."""

    def __init__(self, path: Path, n: int, threads: int) -> None:
        from mujoco import batch

        engine = Mujoco(path, "pyramidal")
        self.name, self.precision, self.lanes, self.n, self.lost = "mujoco.batch-pyramidal", "f64", 1, n, 0
        self._batch: Any = batch.Batch(engine.model, n, nthread=threads)
        self._steps = self._made = 0
        self._niter = self._batch.bind("solver_niter")
        self._iterations: list[float] = []

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""
        if which.any():
            self._batch.reset(np.flatnonzero(which))

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls of the next steps."""
        self._batch.bind("ctrl")[:] = controls
        self._steps = steps

    def advance(self) -> None:
        """Makes the steps."""
        self._batch.step(nstep=self._steps)
        self._made += self._steps * self.n
        self._iterations.append(float(self._niter.sum()) / self.n)

    def mend(self) -> None:
        """Lets worlds that failed begin again."""
        failed = ~np.isfinite(self._batch.state).all(axis=1)
        self.lost += int(failed.sum())
        self.begin(failed)

    def settle(self, steps: int) -> None:
        """Makes steps without controls, with a few worlds; all are copies of these then."""
        few = min(self.n, SETTLED_WORLDS)
        self._batch.bind("ctrl")[:] = 0.0
        self._batch.step(np.arange(few), nstep=steps)
        self._batch.state[:] = np.resize(self._batch.state[:few], self._batch.state.shape)
        self.mend()

    def position(self, world: int) -> Vector:
        """Positions of a world."""
        return np.array(self._batch.bind("qpos")[world])

    def counts(self) -> Counts:
        """What was done so far."""
        mean = float(np.mean(self._iterations)) if self._iterations else 0.0
        return Counts(self._made, iterations=round(mean * self._made))
