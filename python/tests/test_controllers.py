"""The controllers of python/examples: each runs as a program, does what it says, and leaves a picture."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw

EXAMPLES, DOCS = Path(__file__).parents[1] / "examples", Path(__file__).parents[2] / "docs"
MAX_PICTURE = 60_000
"""Bytes: the pictures of docs/controllers.md are these."""

for package in ("dm_control", "gymnasium", "mujoco", "pinocchio", "scipy"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)


def operational_space(names: dict[str, Any]) -> None:
    result = names["result"]
    assert result.tracking_error < 0.005
    elbow, hand = result.posture_changed
    assert elbow > 0.1
    # J̄ᵀ (1 − Jᵀ J̄ᵀ) = 0: what is left is the end of the transient.
    assert hand < 1e-4
    assert result.hand_pushed == pytest.approx(result.push / names["STIFFNESS"][3:], abs=1e-4)


def inverse_kinematics(names: dict[str, Any]) -> None:
    import pinocchio
    from shared import robot

    bounded, free = names["bounded"], names["free"]
    arm = pinocchio.buildModelFromUrdf(str(robot("panda_description/urdf/panda.urdf")))
    hand, data = arm.getFrameId(names["HAND"]), arm.createData()
    for solution, (position, quaternion) in zip(bounded, names["POSES"], strict=True):
        pinocchio.framesForwardKinematics(arm, data, solution.q)
        w, x, y, z = quaternion
        error = pinocchio.SE3(pinocchio.Quaternion(w, x, y, z), position).actInv(data.oMf[hand])
        assert np.linalg.norm(pinocchio.log6(error).vector) < 1e-9
        assert (solution.q >= arm.lowerPositionLimit).all()
        assert (solution.q <= arm.upperPositionLimit).all()
    assert any((q < arm.lowerPositionLimit).any() or (q > arm.upperPositionLimit).any() for q in (s.q for s in free))
    # 1.2 m ahead is beyond the arm.
    assert 0.2 < names["far"].error < 0.5


def computed_torque(names: dict[str, Any]) -> None:
    result = names["result"]
    assert result.computed_torque < 2e-3
    assert result.pd > 50 * result.computed_torque
    assert result.computed_torque < result.heavier < 0.05
    # The torque is held for a step: an error of first order.
    model = sw.load(names["robot"]("ur_description/urdf/ur5_robot.urdf"))
    coarse = names["track"](model, names["computed_torque"], timestep=0.002)[0].max()
    assert coarse / result.computed_torque == pytest.approx(2, rel=0.02)


def lqr(names: dict[str, Any]) -> None:
    result = names["result"]
    assert result.growth > 1.01
    assert result.fell_after < 3.0
    assert 0.005 < result.excursion < 0.05
    assert result.recovered < 2e-3


def ilqr(names: dict[str, Any]) -> None:
    result = names["result"]
    first, last = result.costs
    assert last < 0.1 * first
    assert np.abs(result.end).max() < 0.3
    assert 0.1 < result.tilt < 0.5
    assert np.abs(result.controlled).max() < 0.2


def hop(names: dict[str, Any]) -> None:
    result = names["result"]
    assert abs(result.rough[2]) > 0.5
    assert result.flight > 0.4
    assert result.apex > 0.15
    assert result.end[0] == pytest.approx(names["DISTANCE"], abs=0.05)
    assert np.abs(result.end[2:]).max() < 0.2


CHECKS = [operational_space, inverse_kinematics, computed_torque, lqr, ilqr, hop]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_controller(check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", ["example", "--out", str(tmp_path)])
    names = runpy.run_path(str(EXAMPLES / f"{check.__name__}.py"), run_name="__main__")
    check(names)
    picture = tmp_path / f"{check.__name__}.png"
    assert 5_000 < picture.stat().st_size < MAX_PICTURE


def test_every_example_is_tested_and_on_the_page() -> None:
    names = {check.__name__ for check in CHECKS}
    # The example of training has tests of its own.
    assert {path.stem for path in EXAMPLES.glob("*.py")} == names | {"shared", "imitation_ppo"}
    page = (DOCS / "controllers.md").read_text()
    for name in names:
        assert f"(../python/examples/{name}.py)" in page
        assert f"(images/controller-{name}.png)" in page
        assert (DOCS / f"images/controller-{name}.png").stat().st_size < MAX_PICTURE


def gain(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    from scipy.linalg import solve_discrete_are

    Q, R = np.eye(len(A)), 0.1 * np.eye(B.shape[1])
    P = solve_discrete_are(A, B, Q, R)
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


@pytest.mark.parametrize("name", ["inverted_pendulum", "inverted_double_pendulum"])
def test_gains_are_those_of_mujocos_derivatives(name: str) -> None:
    import gymnasium
    import mujoco

    file = Path(gymnasium.__file__).parent / "envs/mujoco/assets" / f"{name}.xml"
    theirs, ours = mujoco.MjModel.from_xml_path(str(file)), sw.load(file)
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER

    def difference(scheme: Any, speed: float, timestep: float) -> float:
        """Of the gains, relative."""
        theirs.opt.timestep = timestep
        data, sim = mujoco.MjData(theirs), sw.Simulation(ours, scheme=scheme, timestep=timestep)
        data.qvel[:] = sim.v[:] = speed
        A, B = np.zeros((2 * ours.nv, 2 * ours.nv)), np.zeros((2 * ours.nv, ours.nu))
        mujoco.mjd_transitionFD(theirs, data, 1e-6, True, A, B, None, None)
        K, own = gain(A, B), gain(*sim.step_jacobians()[:2])
        return float(np.abs(own - K).max() / np.abs(K).max())

    # At rest both step alike; 1e-6 is the half width of their differences, 1e-16 / 1e-6 their round-off.
    assert difference("bilinear", 0.0, 0.01) < 1e-8
    assert difference("symplectic-euler", 0.5, 0.01) < 1e-7
    # In motion the default scheme takes Coriolis forces between both ends of the step: first order apart.
    coarse, fine = difference("bilinear", 0.5, 0.01), difference("bilinear", 0.5, 0.001)
    assert coarse < 1e-3
    assert coarse / fine == pytest.approx(10, rel=0.2)
