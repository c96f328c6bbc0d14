"""Actuators of URDF robots, and what an empty ``ctrl`` says."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
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


def quadruped(effort: str) -> str:
    """A trunk of 12 kg on four legs of two links of 0.25 m, hip and knee."""
    sphere = '<collision><origin xyz="0 0 -.25"/><geometry><sphere radius=".02"/></geometry></collision>'

    def link(name: str, mass: float, low: float, more: str = "") -> str:
        inertia = f'<inertia ixx="{mass / 60}" iyy="{mass / 60}" izz="{mass / 60}" ixy="0" ixz="0" iyz="0"/>'
        return (
            f'<link name="{name}"><inertial><origin xyz="0 0 {low}"/><mass value="{mass}"/>{inertia}</inertial>{more}'
            f"</link>"
        )

    def joint(name: str, parent: str, child: str, place: str) -> str:
        limit = f'<limit lower="-2.5" upper="2.5" {effort} velocity="20"/>'
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{place}"/><axis xyz="0 1 0"/>{limit}</joint>'
        )

    legs = [
        link(f"thigh{k}", 0.6, -0.125)
        + link(f"shank{k}", 0.2, -0.125, sphere)
        + joint(f"hip{k}", "trunk", f"thigh{k}", f"{x} {y} 0")
        + joint(f"knee{k}", f"thigh{k}", f"shank{k}", "0 0 -.25")
        for k, (x, y) in enumerate([(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)])
    ]
    return f'<robot name="quadruped">{link("trunk", 12, 0)}{"".join(legs)}</robot>'


@pytest.mark.parametrize("effort", ['effort="45"', 'effort="1000"', ""])
def test_servos_let_a_robot_stand(effort: str) -> None:
    """Also where a file's efforts are placeholders; without `floating_base` they are those of an arm."""
    model = sw.load(quadruped(effort), floating_base=True, ground=True, actuators="position")
    sim = sw.Simulation(model)
    bent = np.tile([0.7, -1.4], 4)
    sim.q[2] = 2 * 0.25 * np.cos(0.7) + 0.02
    sim.q[7:] = sim.ctrl = bent
    sim.step(2000)
    assert np.abs(sim.q[7:] - bent).max() < 0.12
    assert sim.q[2] > 0.36
    assert np.abs(sim.v).max() < 1e-3
    kp = sim.parameters.kp
    # 15.2 kg at the end of a shank of 0.25 m, or 45 N·m, by 0.25 rad.
    assert kp[1] == pytest.approx(min(15.2 * 9.81 * 0.25, 45 if "45" in effort else np.inf) / 0.25, rel=1e-3)
    arm = sw.Simulation(sw.load(quadruped(effort), actuators="position")).parameters.kp
    assert arm[1] < 900 * (0.2 / 60 + 0.2 * 0.125**2)


def test_a_go2_stands_on_its_servos() -> None:
    try:
        share = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    file = share / "example-robot-data/robots/go2_description/urdf/go2.urdf"
    model = sw.load(file, floating_base=True, ground=True, actuators="position")
    sim = sw.Simulation(model)
    for joint in sim.joints:
        pose = {"thigh": 0.8, "calf": -1.5}
        for part, angle in pose.items():
            if joint.name.endswith(f"{part}_joint"):
                joint.q = angle
    sim.q[2] = 0.33
    for actuator in sim.actuators:
        actuator.ctrl = float(sim.joint(actuator.name).q)
    wanted = sim.q.copy()
    sim.step(2000)
    assert sim.q[2] > 0.3
    assert np.abs(sim.q[7:] - wanted[7:]).max() < 0.1


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
