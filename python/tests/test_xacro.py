"""Files of xacro, which its own package expands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sapwood as sw

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="2"/>
<xacro:macro name="part" params="name"><link name="${name}"><inertial><mass value="$(arg mass)"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>
<xacro:part name="base"/><xacro:part name="arm"/>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(ROBOT)
    return path


def test_arguments(robot: Path) -> None:
    pytest.importorskip("xacrodoc", reason="no xacrodoc: files of xacro are not expanded")
    assert sw.load(robot).body_masses[1] == 2.0
    model = sw.load(robot, xacro={"mass": "3"}, actuators="motor")
    assert (model.body_masses[1], model.nu) == (3.0, 1)
    robot.write_text(ROBOT.replace("$(arg mass)", "$(arg weight)"))
    with pytest.raises(sw.ModelError, match="weight"):
        sw.load(robot)


def test_without_the_package(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(sw.ModelError, match=r"sapwood\[xacro\]"):
        sw.load(robot)
    with pytest.raises(ValueError, match="ends with .xacro"):
        sw.load(ROBOT, xacro={"mass": "3"})
    with pytest.raises(FileNotFoundError):
        sw.load("nothing.xacro")
