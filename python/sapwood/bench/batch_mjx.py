"""MJX: MuJoCo in JAX, here on the processor. Not among the packages that tests need; left out where it is not there."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.bench.batch_engines import Counts, Mask, Vector
from sapwood.bench.engines import Mujoco


class Mjx:
    """Worlds of MJX in f32, JAX's own precision, with pyramidal cones."""

    def __init__(self, path: Path, n: int) -> None:
        import jax
        from mujoco import mjx

        self._jax: Any = jax
        self.name, self.precision, self.lanes, self.n, self.lost = "mjx-pyramidal f32", "f32", 1, n, 0
        model: Any = mjx.put_model(Mujoco(path, "pyramidal").model)
        self._one: Any = mjx.make_data(model)
        self._worlds: Any = jax.vmap(lambda _: self._one)(np.arange(n))
        self._step: Any = jax.jit(
            lambda worlds, steps: jax.lax.fori_loop(
                0, steps, lambda _, d: jax.vmap(mjx.step, (None, 0))(model, d), worlds
            )
        )
        self._steps = self._made = 0

    def begin(self, which: Mask) -> None:
        """Takes these worlds to the default pose, at rest."""
        if which.any():
            rows, at = np.flatnonzero(which), self._jax.numpy.asarray
            self._worlds = self._jax.tree.map(lambda x, y: at(x).at[rows].set(y), self._worlds, self._one)

    def hold(self, controls: Vector, steps: int) -> None:
        """Controls of the next steps."""
        self._worlds = self._worlds.replace(ctrl=self._jax.numpy.asarray(controls))
        self._steps = steps

    def advance(self) -> None:
        """Makes the steps."""
        self._worlds = self._jax.block_until_ready(self._step(self._worlds, self._steps))
        self._made += self._steps * self.n

    def mend(self) -> None:
        """Lets worlds that failed begin again."""
        failed = ~(np.isfinite(self._worlds.qpos).all(axis=1) & np.isfinite(self._worlds.qvel).all(axis=1))
        self.lost += int(failed.sum())
        self.begin(failed)

    def settle(self, steps: int) -> None:
        """Makes steps without controls."""
        self.hold(np.zeros(self._worlds.ctrl.shape), steps)
        self.advance()
        self.mend()

    def position(self, world: int) -> Vector:
        """Positions of a world."""
        return np.array(self._worlds.qpos[world], dtype=np.float64)

    def counts(self) -> Counts:
        """What was done so far."""
        return Counts(self._made)


def load(path: Path, n: int) -> Mjx | None:
    """The model in MJX, or None where MJX is not installed or cannot take it."""
    if util.find_spec("jax") is None or util.find_spec("mujoco.mjx") is None:
        return None
    try:
        return Mjx(path, n)
    except NotImplementedError as error:
        print(f"{path.stem:20} mjx left out: {error}")
        return None
