"""The longest suite: the longest step of falling piles, of starts inside each other and over height fields.

Every engine goes each course from the start with its defaults, a step at a time. A course is the same whenever it is
gone, so of each step the least CPU time of all turns counts: what is left is the step's, not the machine's. Beside the
longest: the steps that end with the solver's budget spent, and how deep bodies are in each other at the end, in all
engines' poses by this package's geometry. MuJoCo runs with both cones, by Newton's method and by conjugate gradients.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.cases import installed
from sapwood.bench.clutter import Ruler
from sapwood.bench.clutter_cases import scene
from sapwood.bench.engines import Mujoco, Sapwood

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--limit": {"type": float, "default": 60.0, "help": "CPU time of an engine for a case, s (default: %(default)s)"},
}
TIMESTEP = 0.005
# Of MuJoCo's arena, for the starts of more than 10,000 contacts.
MEMORY = '<size memory="4G"/>'

Row = dict[str, str | float]


class Case(NamedTuple):
    """A course."""

    text: Callable[[], str]
    seconds: float
    """Simulated time, s."""


def overlapping(side: int) -> str:
    """Boxes of 0.1 m, turned at random, whose centres are 0.07 m apart in a cube."""
    geom = '<geom type="box" size=".05 .05 .05" mass="1"/>'
    rng, bodies = np.random.default_rng(1), ""
    for place in np.ndindex(side, side, side):
        x, y, z = 0.07 * np.array(place) + [0, 0, 0.05]
        quat = " ".join(map(str, rng.normal(size=4)))
        bodies += f'<body pos="{x} {y} {z}" quat="{quat}"><freejoint/>{geom}</body>'
    return f'<mujoco>{MEMORY}<worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'


def height_field(bodies: str) -> str:
    """Bodies over 200 by 200 heights within 10 m by 10 m, up to 0.3 m high."""
    x, y = np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 200))
    heights = np.sin(37 * x) * np.cos(29 * y) + 0.2 * np.random.default_rng(1).random((200, 200))
    elevation = " ".join(f"{h:.4f}" for h in heights.ravel())
    field = f'<hfield name="h" nrow="200" ncol="200" size="5 5 .3 .1" elevation="{elevation}"/>'
    world = f'<geom type="hfield" hfield="h"/>{bodies}'
    return f"<mujoco>{MEMORY}<asset>{field}</asset><worldbody>{world}</worldbody></mujoco>"


def _scattered() -> str:
    shapes = ('type="box" size=".1 .1 .1"', 'size=".1"', 'type="capsule" size=".05 .1"', 'type="cylinder" size=".1 .1"')
    bodies = ""
    for k in range(64):
        place = f'pos="{0.5 * (k % 8) - 2} {0.5 * (k // 8) - 2} .5" euler="{20 * k} {35 * k} 0"'
        bodies += f"<body {place}><freejoint/><geom {shapes[k % 4]}/></body>"
    return bodies


def _frictional(mu: float) -> str:
    return scene("clutter-box-27")().replace('friction="0.5"', f'friction="{mu}"', 1)


CAPSULE = '<body pos="0 0 .6"><freejoint/><geom type="capsule" size=".1 1.4" euler="0 80 20"/></body>'
PLATE = '<body pos="0 0 .6"><freejoint/><geom type="box" size="2 2 .05"/></body>'

CASES: dict[str, Case] = {
    "box-125": Case(scene("clutter-box-125"), 1.2),
    "sphere-125": Case(scene("clutter-sphere-125"), 1.2),
    "box-1000": Case(scene("clutter-box-1000"), 1.0),
    "sphere-1000": Case(scene("clutter-sphere-1000"), 1.0),
    "overlapping-512": Case(partial(overlapping, 8), 0.5),
    "overlapping-1000": Case(partial(overlapping, 10), 0.25),
    "hfield-capsule": Case(lambda: height_field(CAPSULE), 2.0),
    "hfield-plate": Case(lambda: height_field(PLATE), 2.0),
    "hfield-64": Case(lambda: height_field(_scattered()), 2.0),
    "friction-100": Case(lambda: _frictional(100.0), 1.2),
}
MUJOCO = [(cone, solver) for solver in ("newton", "cg") for cone in ("elliptic", "pyramidal")]


class Course(NamedTuple):
    """What a course took."""

    times: list[float]
    """Of each step the least CPU time, s."""
    spent: int
    """Steps that ended with the budget spent."""
    contacts: int
    """The most at the end of a step."""
    end: str
    """Why it is shorter than it should be, or nothing."""


def run(peers: list[str], cases: list[str], repetitions: int, limit: float) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    header = ("case", "engine", "steps", "mean ms", "longest", "at step", "contacts", "spent", "deepest mm")
    print("{:16} {:20} {:>9} {:>8} {:>9} {:>7} {:>8} {:>6} {:>10}".format(*header))
    rows: list[Row] = []
    for name in cases:
        text = CASES[name].text()
        makers: list[Callable[[], Sapwood | Mujoco]] = [lambda text=text: Sapwood(text, timestep=TIMESTEP)]  # type: ignore[misc]
        if "mujoco" in peers and installed("mujoco", "mujoco"):
            makers += [partial(Mujoco, text, cone, solver, timestep=TIMESTEP) for cone, solver in MUJOCO]
        for maker in makers:
            rows += measure(name, CASES[name], maker(), Ruler(text), repetitions, limit)
    return rows


def measure(name: str, case: Case, engine: Sapwood | Mujoco, ruler: Ruler, turns: int, limit: float) -> list[Row]:
    """One engine on one case: prints a line, returns the rows."""
    course = go(engine, round(case.seconds / TIMESTEP), turns, limit)
    longest = int(np.argmax(course.times))
    depth = ruler.penetration(engine.q) if np.isfinite(engine.q).all() else float("nan")
    mean, most = 1e3 * float(np.mean(course.times)), 1e3 * course.times[longest]
    print(
        f"{name:16} {engine.name:20} {len(course.times):9} {mean:8.2f} {most:9.2f} {longest:7} {course.contacts:8} "
        f"{course.spent:6} {1e3 * depth:10.3f} {course.end}",
        flush=True,
    )
    values = [
        ("longest step", 1e-3 * most, "s"),
        ("mean step", 1e-3 * mean, "s"),
        ("steps", len(course.times), "1"),
        ("steps with the budget spent", course.spent, "1"),
        ("contacts", course.contacts, "1"),
        ("penetration", depth, "m"),
    ]
    where = {"suite": "longest", "case": name, "engine": engine.name}
    return [
        {**where, "metric": metric, "value": value, "unit": unit} for metric, value, unit in values if value == value
    ]


def go(engine: Sapwood | Mujoco, steps: int, turns: int, limit: float) -> Course:
    """The course `turns` times, or as often as the limit allows: the first one until then, at least a step."""
    begin, times, end = time.process_time(), [float("inf")] * steps, ""
    spent = contacts = 0
    for turn in range(turns):
        engine.reset()
        for step in range(len(times)):
            start = time.process_time()
            try:
                engine.step(1)
            except sw.SimulationError as error:
                times, end = times[:step], f"ended by an error: {error}".splitlines()[0]
                break
            now = time.process_time()
            times[step] = min(times[step], now - start)
            if turn == 0:
                points, is_spent = engine.effort()
                spent, contacts = spent + is_spent, max(contacts, points)
            if now - begin > limit:
                # What is left of a later turn would only confirm the first.
                if turn == 0 and step + 1 < steps:
                    times, end = times[: step + 1], f"stopped after {limit:g} s"
                break
        if end or time.process_time() - begin > limit:
            break
    return Course(times, spent, contacts, end)
