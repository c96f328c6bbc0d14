"""The derivative of a step: against differences of steps, and put to use."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scenes import RAGDOLL

import sapwood as sw

BALLS = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>
  <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" axis="0 1 0"/><geom type="sphere" size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="turn"/><position joint="x" kp="30" kv="3"/></actuator></mujoco>"""


def after(sim: sw.Simulation, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, v) after a step from (q, v, ctrl) = x, for models without quaternions."""
    state, nv = sim.state(), sim.model.nv
    sim.q[:], sim.v[:], sim.ctrl[:] = x[:nv], x[nv : 2 * nv], x[2 * nv :]
    sim.step()
    end = np.concatenate([sim.q, sim.v])
    sim.restore(state)
    return end


@pytest.mark.parametrize("contact", ["sap", "lagged", "coulomb"])
def test_a_driven_wheel_against_differences(contact: str) -> None:
    sim = sw.Simulation(sw.load(BALLS), contact=contact, tolerance=1e-12)  # type: ignore[arg-type]
    sim.ctrl[:] = [0.3, 0.5]
    sim.step(100)
    before = sim.state()
    A, B = sim.step_jacobians()
    assert sim.state() == before
    assert A.shape == (6, 6)
    assert B.shape == (6, 2)
    x, h = np.concatenate([sim.q, sim.v, sim.ctrl]), 1e-5
    columns = [(after(sim, x + h * e) - after(sim, x - h * e)) / (2 * h) for e in np.eye(8)]
    scale = np.abs(columns).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.hstack([A, B]).T / scale, columns / scale, atol=1e-5)


def test_quaternions_count_three() -> None:
    sim = sw.Simulation(sw.load(RAGDOLL))
    sim.step(20)
    jacobians = sim.step_jacobians()
    nv, nu = sim.model.nv, sim.model.nu
    assert jacobians.A.shape == (2 * nv, 2 * nv)
    assert jacobians.B.shape == (2 * nv, nu)
    assert np.isfinite(jacobians.A).all()


def test_the_example_of_the_documentation_balances() -> None:
    pytest.importorskip("scipy")
    page = (Path(__file__).parents[2] / "docs" / "jacobians.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(code) == 1
    exec(compile(code[0], "jacobians.md", "exec"), {})


def test_a_state_that_is_not_finite() -> None:
    sim = sw.Simulation(sw.load(BALLS))
    sim.v[0] = np.nan
    with pytest.raises(ValueError, match="v"):
        sim.step_jacobians()
