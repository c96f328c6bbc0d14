"""Worlds of a batch with parameters of their own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from batches import WALKER, make

import sapwood as sw


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(WALKER)


def quietly(batch: sw.Batch, *worlds: Any, **parameters: Any) -> None:
    """Sets parameters; that worlds are then stepped one by one is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        batch.set_parameters(*worlds, **parameters)


def test_worlds_with_parameters_are_those_of_such_a_model() -> None:
    """Of a falling, sliding, driven model: the same as the file that has these numbers."""

    def text(gravity: float, mass: float, friction: float, radius: float, damping: float, kp: float) -> str:
        return f"""<mujoco><option timestep="0.005" gravity="1 0 {gravity}"/>
          <worldbody><geom type="plane" size="0 0 1" friction="{min(friction, 0.1)}"/>
            <body pos="0 0 0.5"><freejoint/><inertial pos="0.01 0 0" mass="{mass}"
              diaginertia="{0.01 * mass} {0.02 * mass} {0.02 * mass}"/>
              <geom type="capsule" size="{radius} 0.2" euler="0 90 0" friction="{friction}"/>
              <body pos="0.2 0 0"><joint name="tail" axis="0 1 0" damping="{damping}" armature="0.01" stiffness="1"/>
                <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" mass="0.5" friction="{friction}"/></body></body>
          </worldbody><actuator><position joint="tail" kp="{kp}" kv="0.2"/></actuator></mujoco>"""

    before, after = (-9.81, 2.0, 0.6, 0.08, 0.1, 5.0), (-3.0, 3.0, 0.9, 0.12, 0.4, 9.0)
    batch = make(sw.load(text(*before)), 3, tolerance=1e-11)
    gravity, mass, friction, radius, damping, kp = after
    size = batch.parameters(1).geom_sizes
    size[1, 0] = radius
    dofs = np.array([0.0] * 6 + [damping])
    quietly(batch, [1], gravity=[1, 0, gravity], masses=[[0, mass, 0.5]], frictions=[0.1, friction, friction])
    quietly(batch, [False, True, False], geom_sizes=[size], damping=dofs, gains=[[kp]])
    lone = [sw.Simulation(sw.load(text(*numbers)), tolerance=1e-11) for numbers in (before, after)]
    for sim in lone:
        sim.ctrl[:] = 0.5
    batch.ctrl[:] = 0.5
    for _ in range(30):
        batch.step(5)
        for sim in lone:
            sim.step(5)
    np.testing.assert_allclose(batch.q[0], lone[0].q, atol=1e-9)
    np.testing.assert_allclose(batch.q[1], lone[1].q, atol=1e-6)
    assert np.abs(lone[0].q - lone[1].q).max() > 0.1
    assert batch.q[2].tobytes() == batch.q[0].tobytes()
    parameters = batch.parameters(1)
    assert parameters.masses.tolist() == [0, mass, 0.5]
    assert parameters.frictions.tolist() == [0.1, friction, friction]
    assert parameters.gravity.tolist() == [1, 0, gravity]
    assert parameters.gains.tolist() == [kp]
    assert parameters.kv.tolist() == [0.2]
    assert parameters.damping[6] == damping
    assert parameters.geom_sizes[1].tolist() == [radius, 0.2, 0]
    assert batch.parameters(0).masses.tolist() == [0, 2, 0.5]
    # Such a world as a simulation, and back to the model's.
    sim = batch.simulation(1)
    assert sim.model.mass == mass + 0.5
    batch.step(3)
    sim.step(3)
    restored = sw.Simulation(batch.model)
    restored.restore(batch.state(1))
    assert restored.q.tobytes() + restored.v.tobytes() == sim.q.tobytes() + sim.v.tobytes()
    assert restored.parameters.masses.tolist() == [0, mass, 0.5]
    A, _ = sim.step_jacobians()
    np.testing.assert_array_equal(batch.step_jacobians().A[1], A)
    batch.reset_parameters()
    batch.reset()
    batch.step(50)
    assert len({q.tobytes() for q in batch.q}) == 1
    assert batch.parameters(1).masses.tolist() == [0, 2, 0.5]


def test_a_row_for_every_world(model: sw.Model) -> None:
    batch = make(model, 4)
    masses = np.outer([1.0, 2, 3, 4], model.body_masses)
    quietly(batch, None, masses=masses, inertia_scales=np.full((4, 6), 1.5))
    for i in range(4):
        np.testing.assert_array_equal(batch.parameters(i).masses, masses[i])
        M = batch.simulation(i).model.mass_matrix(model.keyframe().q)
        assert M[0, 0] == pytest.approx((i + 1) * model.mass)
    quietly(batch, [-1, 0], gravity=np.zeros(3))
    batch.q[:, 2] = 5
    batch.step(10)
    assert (np.abs(batch.v[[0, 3]]) < 1e-9).all()
    assert (batch.v[[1, 2], 2] < -0.3).all()


def test_bad_parameters(model: sw.Model) -> None:
    batch = make(model, 3)
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (None, {"gravity": np.zeros((2, 3))}, r"gravity has shape \(2, 3\): expected \(3, 3\) or \(3,\)"),
        ([0], {"gravity": [0, 0, np.nan]}, "gravity"),
        ([0], {"masses": np.zeros(6)}, r"world 0: masses\[1\] is 0: expected above 0"),
        ([0], {"masses": np.ones(6)}, r"masses\[0\] is 1: expected 0"),
        ([0], {"frictions": -np.ones(6)}, "frictions"),
        ([0], {"geom_sizes": np.zeros((6, 3))}, "geom_sizes"),
        ([0], {"geom_sizes": np.zeros((2, 6, 3))}, "geom_sizes has shape"),
        ([0], {"damping": np.full(10, -1.0)}, "damping"),
        ([0], {"gains": "much"}, "gains"),
        ([3], {"gravity": np.zeros(3)}, "worlds has 3: expected indices below 3"),
        ([-4], {"gravity": np.zeros(3)}, "worlds has -4"),
        ([True], {"gravity": np.zeros(3)}, "worlds has shape"),
        ([0.5], {"gravity": np.zeros(3)}, "worlds has dtype"),
        ([[0]], {"gravity": np.zeros(3)}, "worlds"),
    ]
    for worlds, parameters, message in bad:
        with pytest.raises(ValueError, match=message):
            batch.set_parameters(worlds, **parameters)
    assert batch.alone is None
