"""Actuators of URDF robots, and what an empty ``ctrl`` says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood as sw

INERTIAL = """<inertial><origin xyz="0 0 .2"/><mass value="1"/>
  <inertia ixx=".02" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>"""
ARM = f"""
<robot name="arm"><link name="base"/><link name="upper">{INERTIAL}</link><link name="lower">{INERTIAL}</link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="40" velocity="3"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 .4"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="20" velocity="3"/></joint></robot>"""


def test_servos_hold_a_posture() -> None:
    sim = sw.Simulation(sw.load(ARM, actuators="position"))
    assert sim.model.actuator_names == ["shoulder", "elbow"]
    sim.ctrl = [0.5, -0.8]
    sim.step(5000)
    # What gravity bends: its torque over kp.
    bent = -sim.model.bias_forces(sim.q, [0, 0]) / sim.parameters.kp
    assert sim.q - [0.5, -0.8] == pytest.approx(bent, abs=1e-6)
    assert np.abs(bent).max() < 0.05
    assert np.abs(sim.v).max() < 1e-4
    sim.ctrl = [3, 3]
    sim.step(1000)
    assert (sim.q <= 2 + 1e-6).all()
    assert np.abs(sim.actuator_forces).max() < 40


def test_motors_take_torques() -> None:
    model = sw.load(ARM, actuators="motor")
    assert model.ctrl_range.tolist() == [[-40, 40], [-20, 20]]
    sim = sw.Simulation(model)
    sim.ctrl = [1, 0]
    sim.forward()
    assert sim.actuation_forces == pytest.approx([1, 0])
    with pytest.raises(ValueError, match="actuators='motr'|did you mean"):
        sw.load(ARM, actuators="motr")  # type: ignore[arg-type]


def test_an_empty_ctrl_says_what_to_do() -> None:
    sim: Any = sw.Simulation(sw.load(ARM))
    with pytest.raises(
        ValueError, match=r"ctrl has shape \(2,\): expected \(0,\); the model has no actuators: sapwood.load"
    ):
        sim.ctrl = [1, 0]
