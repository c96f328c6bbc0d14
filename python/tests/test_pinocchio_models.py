"""The URDF robots of example-robot-data against Pinocchio: names, masses, kinematics, dynamics.

Joints come in another order there and a free or continuous joint has other coordinates, so vectors are mapped: joints
by name, and for a free root v' = T v, where Pinocchio's linear velocity is in the body's axes and ours in the world's.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import Array, Worst, brief, random_quaternion
from conftest import Recorder

import sapwood as sw

pin = pytest.importorskip("pinocchio")
try:
    DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
except PackageNotFoundError:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)
PACKAGES = DATA / "example-robot-data" / "robots"

STATES = 20

ROBOTS = sorted(str(path.relative_to(PACKAGES)) for path in PACKAGES.rglob("*.urdf"))
NOT_BODIES = {
    "romeo_description/urdf/romeo.urdf": "a finger without mass: its mass matrix is singular",
    "romeo_description/urdf/romeo_laas_small.urdf": "an inertia with a negative principal moment",
}
"""Files that Pinocchio reads and that describe no mechanism: refused, each with its reason."""


class Pair:
    """One robot in both libraries, with the maps between their coordinates."""

    def __init__(self, path: Path, floating: bool) -> None:
        root = [pin.JointModelFreeFlyer()] if floating else []
        self.theirs = pin.buildModelFromUrdf(str(path), *root)
        self.data = self.theirs.createData()
        self.ours = sw.load(path, package_path=DATA, floating_base=floating)
        assert self.ours.nv == self.theirs.nv
        joints = {joint.name: joint for joint in self.ours.joints if joint.kind != "weld"}
        assert sorted(joints) == sorted(self.theirs.names[1:])
        # For every joint: ours, and their indices.
        self.joints = [
            (joints[name], joint.idx_q, joint.idx_v, joint.nq)
            for name, joint in zip(self.theirs.names[1:], self.theirs.joints[1:], strict=True)
        ]

    def configuration(self, q: Array) -> Array:
        """Our q as theirs: quaternions with w last, continuous joints as (cos, sin)."""
        theirs = np.zeros(self.theirs.nq)
        for joint, iq, _, nq in self.joints:
            x = q[joint.q]
            if joint.kind == "free":
                x = np.concatenate([x[:3], x[4:], x[3:4]])
            elif nq == 2:
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            theirs[iq : iq + nq] = x
        return theirs

    def jacobian(self, q: Array, v: Array) -> tuple[Array, Array]:
        """T with v' = T v, and Ṫ v."""
        t = np.zeros((self.ours.nv, self.ours.nv))
        rate = np.zeros(self.ours.nv)
        for joint, _, iv, _ in self.joints:
            n = joint.v.stop - joint.v.start
            t[iv : iv + n, joint.v] = np.eye(n)
            if joint.kind == "free":
                rotation = pin.Quaternion(*q[joint.q][3:]).matrix()
                linear, angular = v[joint.v][:3], v[joint.v][3:]
                t[iv : iv + 3, joint.v.start : joint.v.start + 3] = rotation.T
                rate[iv : iv + 3] = -np.cross(angular, rotation.T @ linear)
        return t, rate

    def random_q(self, rng: np.random.Generator) -> Array:
        q = rng.normal(size=self.ours.nq)
        for joint in self.ours.joints:
            if joint.kind == "free":
                q[joint.q.start + 3 : joint.q.stop] = random_quaternion(rng)
        return q


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot not in NOT_BODIES])
def test_robot_agrees(robot: str, floating: bool, record: Recorder) -> None:
    path = PACKAGES / robot
    reason = unsuitable(path, floating)
    if reason:
        pytest.skip(reason)
    case = f"{robot} ({'floating' if floating else 'fixed'})"
    worst = Worst()
    try:
        pair = Pair(path, floating)
        compare_links(pair, worst)
        rng = np.random.default_rng(3)
        for _ in range(STATES):
            compare_state(pair, pair.random_q(rng), rng.normal(size=pair.ours.nv), worst)
        worst.check()
    except (AssertionError, sw.ModelError) as error:
        record("pinocchio", case, f"FAILS: {brief(error)}")
        raise
    record("pinocchio", case, f"agrees: {worst}")


@pytest.mark.parametrize("robot", NOT_BODIES)
def test_impossible_robot_is_refused(robot: str, record: Recorder) -> None:
    with pytest.raises(sw.ModelError):
        sw.load(PACKAGES / robot, package_path=DATA)
    record("pinocchio", robot, f"refused: {NOT_BODIES[robot]}")


def unsuitable(path: Path, floating: bool) -> str:
    """Why this file cannot be compared, if so."""
    try:
        model = pin.buildModelFromUrdf(str(path))
    except ValueError:
        return "Pinocchio itself does not read it"
    if floating and links(model)[0][1] == "world":
        return "its root link is the world"
    return ""


def links(model: Any) -> list[tuple[int, str]]:
    """Frames of links, the universe apart."""
    return [(i, frame.name) for i, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY]


def compare_links(pair: Pair, worst: Worst) -> None:
    theirs = {name: i for i, name in links(pair.theirs)}
    ours = pair.ours.body_names
    # A root link called "world" is our world and a link of theirs.
    assert sorted(set(ours) - {"world"}) == sorted(set(theirs) - {"world"})
    # Pinocchio keeps one inertia for all links that move with a joint.
    masses = np.zeros(pair.theirs.njoints)
    for name, mass in zip(ours, pair.ours.body_masses, strict=True):
        if name in theirs:
            masses[pair.theirs.frames[theirs[name]].parentJoint] += mass
    worst.compare("mass", masses, np.array([inertia.mass for inertia in pair.theirs.inertias]))


def compare_state(pair: Pair, q: Array, v: Array, worst: Worst) -> None:
    model, data = pair.theirs, pair.data
    t, rate = pair.jacobian(q, v)
    q_theirs = pair.configuration(q)
    pin.framesForwardKinematics(model, data, q_theirs)
    poses = pair.ours.forward_kinematics(q)
    index = {name: i for i, name in enumerate(pair.ours.body_names)}
    frames = [(index[name], data.oMf[i]) for i, name in links(model) if name in index]
    bodies = [body for body, _ in frames]
    worst.compare("position", poses.positions[bodies], np.array([frame.translation for _, frame in frames]))
    quaternions = [pin.Quaternion(frame.rotation).coeffs()[[3, 0, 1, 2]] for _, frame in frames]
    worst.compare_quaternions("orientation", poses.quaternions[bodies], np.array(quaternions))

    mass_matrix = pin.crba(model, data, q_theirs)
    mass_matrix = np.triu(mass_matrix) + np.triu(mass_matrix, 1).T
    worst.compare("mass matrix", pair.ours.mass_matrix(q), t.T @ mass_matrix @ t)
    bias = t.T @ (pin.nonLinearEffects(model, data, q_theirs, t @ v) + mass_matrix @ rate)
    worst.compare("bias", pair.ours.bias_forces(q, v), bias)
