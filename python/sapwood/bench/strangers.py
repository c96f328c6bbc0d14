"""The strangers suite: models of other packages, from starts that nobody prepared, beside MuJoCo.

Positions at random within the limits, parts inside each other where they happen to be, velocities and controls at
random; at the file's step and at 5 ms, both engines from the same starts with everything as the file asks. Counted are
starts that are lost (an error, a number that is not finite), the longest step, and the mean over MuJoCo's of starts
that neither loses. A start goes the same way each time, so that the least CPU time of a step in all turns counts: what
is left is the step's.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood.bench.cases import MissingPackageError, dm_control, example_robots, gymnasium, installed, packaged
from sapwood.bench.engines import Mujoco, Sapwood

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--starts": {"type": int, "default": 40, "help": "starts of each model (default: %(default)s)"},
    "--steps": {"type": int, "default": 100, "help": "steps of each start (default: %(default)s)"},
}
TIMESTEPS = (None, 0.005)
"""None is the file's, s."""
SPEED = 0.5
"""Standard deviation of velocities, m/s or rad/s."""

Row = dict[str, str | float]
Array = NDArray[np.float64]


def _robotics(name: str) -> Callable[[Path], Path]:
    return packaged("gymnasium_robotics", f"envs/assets/{name}.xml")


def _metaworld(name: str) -> Callable[[Path], Path]:
    return packaged("metaworld", f"assets/sawyer_xyz/sawyer_{name}.xml")


def _robosuite(name: str) -> Callable[[Path], Path]:
    return packaged("robosuite", f"models/assets/robots/{name}/robot.xml")


def _urdf(name: str) -> Callable[[Path], Path]:
    """A robot of example-robot-data, as MJCF, which both engines read."""

    def write(folder: Path) -> Path:
        robots, path = example_robots(), folder / Path(name).stem / "model.xml"
        path.parent.mkdir(exist_ok=True)
        with warnings.catch_warnings():
            # Of looks.
            warnings.simplefilter("ignore")
            sw.load(robots / f"{name}.urdf").to_mjcf(path)
        return path

    return write


CASES: dict[str, Callable[[Path], Path]] = {
    **{f"gym_{name}": gymnasium(name) for name in ("ant", "half_cheetah", "humanoid", "pusher_v5")},
    **{f"dm_{name}": dm_control(name) for name in ("dog", "fish", "humanoid_CMU", "manipulator", "quadruped")},
    **{f"adroit_{name}": _robotics(f"adroit_hand/adroit_{name}") for name in ("door", "hammer", "pen", "relocate")},
    **{f"fetch_{name}": _robotics(f"fetch/{name}") for name in ("pick_and_place", "slide")},
    "hand_block": _robotics("hand/manipulate_block"),
    "kitchen": _robotics("kitchen_franka/kitchen_assets/kitchen_env_model"),
    **{f"sawyer_{name}": _metaworld(name) for name in ("door_lock", "door_pull", "drawer", "stick_obj", "window")},
    **{f"robosuite_{name}": _robosuite(name) for name in ("gr1", "panda", "ur5e")},
    "ur5": _urdf("ur_description/urdf/ur5_robot"),
    "solo12": _urdf("solo_description/robots/solo12"),
}


class Plan(NamedTuple):
    """How much is tried of each model."""

    starts: int
    steps: int
    turns: int


class Start(NamedTuple):
    """Where a model starts, and what drives it."""

    q: Array
    v: Array
    ctrl: Array


class Course(NamedTuple):
    """What an engine made of a start."""

    times: Array
    """Of each step the least CPU time, s."""
    lost: str
    """Why it ended early, or nothing."""


def run(peers: list[str], cases: list[str], repetitions: int, starts: int, steps: int) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    if not installed("mujoco", "mujoco"):
        return []
    header = ("case", "step ms", "lost", "longest ms", "start", "step", "mean µs", "MuJoCo", "lost", "ratio")
    print("{:22} {:>7} {:>5} {:>10} {:>5} {:>5} {:>8} {:>8} {:>5} {:>6}".format(*header))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in cases:
            try:
                path = CASES[name](Path(folder))
                for timestep in TIMESTEPS:
                    rows += compare(name, path, timestep, Plan(starts, steps, repetitions))
            except (MissingPackageError, ValueError, OSError) as error:
                print(f"{name:22} left out: {' '.join(str(error).split())[:200]}")
    return rows


def compare(name: str, path: Path, timestep: float | None, plan: Plan) -> list[Row]:
    """Both engines from all starts of a model at one time step: prints a line, returns the rows."""
    ours, theirs = Sapwood(path, timestep=timestep), Mujoco(path, None, None, timestep, None)
    chosen = [start(theirs, seed) for seed in range(plan.starts)]
    mine, others = ([go(engine, one, plan) for one in chosen] for engine in (ours, theirs))
    longest = [float(course.times.max(initial=0.0)) for course in mine]
    worst = int(np.argmax(longest))
    # What is lost in one engine is no work to compare.
    kept = [pair for pair in zip(mine, others, strict=True) if not any(course.lost for course in pair)]
    means = [float(np.mean([course.times for course in of])) for of in zip(*kept, strict=True)] or [np.nan, np.nan]
    lost, lost_there = ([course.lost for course in of if course.lost] for of in (mine, others))
    print(
        f"{name:22} {1e3 * ours.timestep:7.3g} {len(lost):5} {1e3 * longest[worst]:10.2f} {worst:5} "
        f"{int(np.argmax(mine[worst].times)):5} {1e6 * means[0]:8.1f} {1e6 * means[1]:8.1f} {len(lost_there):5} "
        f"{means[0] / means[1]:6.2f}",
        *lost[:1],
        flush=True,
    )
    where: dict[str, str | float] = {"suite": "strangers", "case": f"{name} {1e3 * ours.timestep:g} ms"}
    values = [
        ("sapwood", "lost", float(len(lost)), "1"),
        ("sapwood", "longest step", longest[worst], "s"),
        ("sapwood", "mean step", means[0], "s"),
        ("mujoco", "lost", float(len(lost_there)), "1"),
        ("mujoco", "mean step", means[1], "s"),
    ]
    return [
        {**where, "engine": engine, "metric": metric, "value": value, "unit": unit}
        for engine, metric, value, unit in values
        if value == value
    ]


def start(engine: Mujoco, seed: int) -> Start:
    """Positions within limits, elsewhere about where the file puts them; velocities, controls."""
    rng, model = np.random.default_rng(seed), engine.model
    engine.reset()
    step = np.zeros(model.nv)
    q = engine.q
    for joint, address in enumerate(model.jnt_qposadr):
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (q[address] - 1.0, q[address] + 1.0)
        # Free joints and balls turn by a step in their velocities.
        kind, dof = model.jnt_type[joint], model.jnt_dofadr[joint]
        if kind >= 2:
            q[address] = rng.uniform(low, high)
        else:
            turned = dof + 3 * (kind == 0)
            step[turned : turned + 3] = rng.normal(size=3)
    q = engine.moved(q, step)
    v = SPEED * rng.normal(size=model.nv)
    return Start(q, v, rng.uniform(engine.controls[:, 0], engine.controls[:, 1]))


def go(engine: Sapwood | Mujoco, start: Start, plan: Plan) -> Course:
    """The steps from a start, as often as there are turns."""
    times, lost = np.full(plan.steps, np.inf), ""
    for _ in range(plan.turns):
        engine.reset()
        engine.place(start.q, start.v)
        engine.control(start.ctrl)
        for step in range(len(times)):
            begin = time.process_time_ns()
            try:
                engine.step(1)
            except sw.SimulationError as error:
                times, lost = times[:step], str(error).partition("\n")[0]
                break
            times[step] = min(times[step], 1e-9 * (time.process_time_ns() - begin))
        if not lost and not (np.isfinite(engine.q).all() and np.isfinite(engine.v).all()):
            lost = "not finite"
    return Course(times, lost)
