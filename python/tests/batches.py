"""Batches of worlds that several tests make."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sapwood as sw

WALKER = """
<mujoco model="walker"><compiler autolimits="true"/><option timestep="0.004"/>
  <default><joint damping="0.5" armature="0.01"/><geom friction="0.8"/></default>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body name="torso" pos="0 0 0.75"><freejoint/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.1"/>
      <body pos="0 0.1 -0.1"><joint name="hip1" axis="0 1 0" range="-80 80"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body pos="0 0 -0.3"><joint name="knee1" axis="0 1 0" range="-120 2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/></body></body>
      <body pos="0 -0.1 -0.1"><joint name="hip2" axis="0 1 0" range="-80 80"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body pos="0 0 -0.3"><joint name="knee2" axis="0 1 0" range="-120 2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/></body></body>
    </body></worldbody>
  <actuator><motor joint="hip1" gear="20"/><motor joint="knee1" gear="20"/>
    <motor joint="hip2" gear="20"/><motor joint="knee2" gear="20"/></actuator>
  <keyframe><key name="high" time="2" qpos="0 0 2 1 0 0 0 0.1 0.2 -0.1 -0.2" ctrl="0.1 0.2 0.3 0.4"/></keyframe>
</mujoco>"""


def make(model: sw.Model, n: int, **options: Any) -> sw.Batch:
    """A batch that is quiet about how it is stepped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        return sw.Batch(model, n, **options)


def scatter(batch: sw.Batch, seed: int = 0) -> NDArray[np.float64]:
    """Sets worlds going, each in its own way, world i the same in every batch; returns 100 controls, (n, 100, nu)."""
    n, nv, nu = len(batch), batch.model.nv, batch.model.nu
    rngs = [np.random.default_rng([seed, i]) for i in range(n)]
    batch.v[:] = [rng.uniform(-1, 1, nv) for rng in rngs]
    return np.array([rng.uniform(-1, 1, (100, nu)) for rng in rngs])


def bits(batch: sw.Batch, worlds: Any = slice(None)) -> tuple[bytes, bytes]:
    return batch.q[worlds].tobytes(), batch.v[worlds].tobytes()
