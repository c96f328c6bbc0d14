"""The inverse kinematics suite: reachable poses of hands and feet from one start, beside Pinocchio and mink.

Targets are where random configurations within the joints' limits have the frames; the start is the middle of the
limits. The engines are given the same robot (its links and joints alone) and the same tolerance, 1e-6 m and rad, and
judged by one forward kinematics. Pinocchio runs the damped Newton steps of its documentation's example, each cut at the
limits, mink its quadratic programs with limits.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood.bench.cases import MissingPackageError, example_robots

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

Array = NDArray[np.float64]
Solve = Callable[[Array, Array], tuple[Array, int]]
"""Positions and quaternions of the frames to a configuration, and how many steps it took."""

CASES = ("ur5", "panda", "g1")
PEERS = ("pinocchio", "mink")
OPTIONS: dict[str, dict[str, Any]] = {
    "--targets": {"type": int, "default": 1000, "help": "how many, of each robot (default: %(default)s)"}
}
TOLERANCE = 1e-6
MAX_STEPS = 100
RESTARTS = 20


class Case(NamedTuple):
    """A robot of example-robot-data and what is to be placed."""

    file: str
    frames: tuple[str, ...]
    floats: bool = False
    spread: float = 1.0
    """The part of the joints' ranges, about their middle, that targets come from."""


ROBOTS = {
    "ur5": Case("ur_description/urdf/ur5_robot.urdf", ("tool0",)),
    "panda": Case("panda_description/urdf/panda.urdf", ("panda_hand",)),
    "g1": Case(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        ("left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"),
        floats=True,
        spread=0.5,
    ),
}


class Robot:
    """A robot of a case, with targets."""

    def __init__(self, case: Case, targets: int) -> None:
        """Reads it, and draws so many targets."""
        text = (example_robots() / case.file).read_text()
        self.text = re.sub(r"<(visual|collision)\b.*?</\1>", "", text, flags=re.DOTALL)
        self.case = case
        self.model = sw.load(self.text, floating_base=case.floats)
        self.bodies = [self.model.body_index(name) for name in case.frames]
        hinges = [joint for joint in self.model.joints if joint.range is not None]
        self.at = [joint.q.start for joint in hinges]
        low, high = np.array([joint.range for joint in hinges]).T
        self.start = self.model.keyframe().q
        self.start[self.at] = (low + high) / 2
        q = np.tile(self.start, (targets, 1))
        half = case.spread * (high - low) / 2
        q[:, self.at] += np.random.default_rng(1).uniform(-half, half, (targets, len(half)))
        self.goals = self.places(q)

    def places(self, q: Array) -> sw.Poses:
        """Where configurations (n, nq) have the frames."""
        poses = self.model.forward_kinematics(q)
        return sw.Poses(poses.positions[:, self.bodies], poses.quaternions[:, self.bodies])

    def errors(self, q: Array) -> Array:
        """The largest distance or angle of each configuration."""
        found = self.places(q)
        shifts = np.linalg.norm(found.positions - self.goals.positions, axis=2)
        dots = np.abs(np.sum(found.quaternions * self.goals.quaternions, axis=2))
        turns = 2 * np.arctan2(np.sqrt(np.maximum(0, 1 - dots**2)), dots)
        # The root of a difference from 1 is 1e-8 coarse.
        return np.asarray(np.maximum(shifts, turns).max(axis=1))


def ours(robot: Robot, restarts: int) -> Solve:
    """``sw.inverse_kinematics``, one call a target."""

    def solve(positions: Array, quaternions: Array) -> tuple[Array, int]:
        poses = zip(robot.case.frames, positions, quaternions, strict=True)
        targets = [sw.PoseTarget(body, position=p, quaternion=q) for body, p, q in poses]
        found = sw.inverse_kinematics(
            robot.model, targets, robot.start, tolerance=TOLERANCE, max_iterations=MAX_STEPS, restarts=restarts
        )
        return found.q, int(found.iterations)

    return solve


def pinocchio(robot: Robot) -> Solve:
    """Damped Newton steps, as the documentation of Pinocchio has them; whole steps, cut at the limits."""
    pin = importlib.import_module("pinocchio")
    root = (pin.JointModelFreeFlyer(),) if robot.case.floats else ()
    model = pin.buildModelFromXML(robot.text, *root)
    data = model.createData()
    frames = [model.getFrameId(name) for name in robot.case.frames]
    quaternion = slice(3, 7) if robot.case.floats else slice(0, 0)

    def solve(positions: Array, quaternions: Array) -> tuple[Array, int]:
        goals = [pin.SE3(pin.Quaternion(*q).matrix(), p) for p, q in zip(positions, quaternions, strict=True)]
        q = robot.start.copy()
        q[quaternion] = np.roll(q[quaternion], -1)
        for step in count():
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            errors, rows = [], []
            for frame, goal in zip(frames, goals, strict=True):
                between = data.oMf[frame].actInv(goal)
                errors.append(pin.log(between).vector)
                rows.append(-pin.Jlog6(between.inverse()) @ pin.getFrameJacobian(model, data, frame, pin.LOCAL))
            if max(max(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) for e in errors) < TOLERANCE or step == MAX_STEPS:
                break
            jacobian = np.vstack(rows)
            damped = jacobian @ jacobian.T + 1e-6 * np.eye(len(jacobian))
            q = pin.integrate(model, q, -jacobian.T @ np.linalg.solve(damped, np.concatenate(errors)))
            q = np.clip(q, model.lowerPositionLimit, model.upperPositionLimit)
        q[quaternion] = np.roll(q[quaternion], 1)
        return q, step

    return solve


def mink(robot: Robot) -> Solve:
    """Quadratic programs with the joints' limits."""
    module, mujoco = importlib.import_module("mink"), importlib.import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(robot.model.to_mjcf())
    configuration = module.Configuration(model)
    limits = [module.ConfigurationLimit(model)]
    tasks = [module.FrameTask(name, "body", 1.0, 1.0, lm_damping=1e-3) for name in robot.case.frames]

    def solve(positions: Array, quaternions: Array) -> tuple[Array, int]:
        configuration.update(robot.start)
        for task, p, q in zip(tasks, positions, quaternions, strict=True):
            task.set_target(module.SE3(np.concatenate([q, p])))
        for step in count():
            errors = [task.compute_error(configuration) for task in tasks]
            if max(max(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) for e in errors) < TOLERANCE or step == MAX_STEPS:
                break
            try:
                v = module.solve_ik(configuration, tasks, 1.0, "daqp", damping=1e-6, limits=limits)
            except module.exceptions.NoSolutionFound:
                break
            configuration.integrate_inplace(v, 1.0)
        return configuration.q.copy(), step

    return solve


def run(peers: list[str], cases: list[str], repetitions: int, targets: int = 1000) -> list[dict[str, str | float]]:
    """Runs the cases, prints a table, returns the rows; one pass over the targets, which are repetitions enough."""
    del repetitions
    rows: list[dict[str, str | float]] = []
    print(f"{'case':6} {'engine':24} {'reached':>8} {'µs':>8} {'steps':>6} {'error of those':>15}")
    for case in cases:
        robot = Robot(ROBOTS[case], targets)
        solvers = {"sapwood": ours(robot, 0), f"sapwood, {RESTARTS} restarts": ours(robot, RESTARTS)}
        for peer in peers:
            try:
                solvers[peer] = {"pinocchio": pinocchio, "mink": mink}[peer](robot)
            except ImportError as error:
                raise MissingPackageError(f"inverse-kinematics beside {peer}: {error}") from error
        for engine, solve in solvers.items():
            solve(robot.goals.positions[0], robot.goals.quaternions[0])
            start = time.process_time()
            found = [solve(*goal) for goal in zip(robot.goals.positions, robot.goals.quaternions, strict=True)]
            seconds = time.process_time() - start
            q, steps = np.array([q for q, _ in found]), np.array([steps for _, steps in found])
            errors = robot.errors(q)
            within = errors < 2 * TOLERANCE
            reached, median = float(within.mean()), float(np.median(errors[within])) if within.any() else float("nan")
            microseconds, mean = seconds / targets * 1e6, float(steps.mean())
            print(f"{case:6} {engine:24} {reached:8.1%} {microseconds:8.0f} {mean:6.1f} {median:15.1e}")
            for quantity, value, unit in [
                ("reached", reached, "1"),
                ("time", microseconds, "µs"),
                ("steps", mean, "1"),
                ("median error of those reached", median, "m, rad"),
            ]:
                rows.append({"case": case, "engine": engine, "quantity": quantity, "value": value, "unit": unit})
    return rows
