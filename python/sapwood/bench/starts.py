"""The starts suite: what defaults do with a model that starts moving, many times over.

Every case starts from its default pose, turned about, lifted out of the ground and set in motion at random, and runs at
several time steps, with each engine's own defaults: characters, a chain and a top that nothing drives, and robots under
random controls over their full range. A run is lost where the engine says so, where a number is not finite, or where
something moves faster than 10,000 m/s or rad/s. Of what nothing drives, energy is reckoned by one function for all
engines; none of it should be gained.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood import characters
from sapwood.bench.cases import CASES as MODELS
from sapwood.bench.cases import MissingPackageError, dm_control
from sapwood.bench.engines import Engine, Mujoco, Sapwood

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--seconds": {"type": float, "default": 20.0, "help": "simulated time of a run, s (default: %(default)s)"},
    "--timesteps": {"default": "0.001,0.002,0.005,0.01", "help": "time steps, s, by comma (default: %(default)s)"},
}
LOST = 1e4
"""The speed from which on a run is lost, m/s or rad/s."""
GAIN = 0.01
"""What may be gained of a start's energy, as a share."""
CHUNK = 0.02
"""Time between two looks, and two changes of the controls, s."""

Row = dict[str, str | float]


class Case(NamedTuple):
    """A model and how it is set in motion."""

    source: Callable[[Path], Path]
    is_driven: bool
    speed: float
    """Standard deviation of the velocities at the start, m/s or rad/s."""
    turn: float
    """Standard deviation of how far joints are turned from the default pose, rad."""
    spin: float = 0.0
    """Added to the rate of the sixth degree of freedom, rad/s."""


def _text(name: str, text: Callable[[], str]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / f"{name}.xml"
        path.write_text(text())
        return path

    return write


def _chain(links: int) -> str:
    bodies = ""
    for k in range(links):
        at, axis = ("0 0 0", "0 1 0") if k == 0 else ("0.1 0 0", "0 0 1" if k % 2 else "0 1 0")
        bodies += (
            f'<body pos="{at}"><joint type="hinge" axis="{axis}"/>'
            '<geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" contype="0" conaffinity="0"/>'
        )
    return f'<mujoco><worldbody><body pos="0 0 25">{bodies}{"</body>" * links}</body></worldbody></mujoco>'


TOP = """<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.02"><freejoint/>
<geom type="sphere" size="0.02" mass="0.02"/>
<geom type="cylinder" pos="0 0 0.06" size="0.05 0.01" mass="0.3"/></body></worldbody></mujoco>"""


CASES: dict[str, Case] = {
    **{
        name: Case(_text(name, lambda name=name: characters.mjcf(name)), False, 1.0, 0.2)  # type: ignore[misc]
        for name in characters.NAMES
    },
    "chain-200": Case(_text("chain-200", lambda: _chain(200)), False, 0.2, 0.1),
    "top": Case(_text("top", lambda: TOP), False, 1.0, 0.05, spin=150.0),
    "gym_humanoid": Case(MODELS["humanoid"], True, 1.0, 0.1),
    "dm_humanoid": Case(MODELS["dm_humanoid"], True, 1.0, 0.1),
    "dm_dog": Case(dm_control("dog"), True, 1.0, 0.1),
    "dm_quadruped": Case(dm_control("quadruped"), True, 1.0, 0.1),
}


class Outcome(NamedTuple):
    """One run."""

    lost_at: float | None
    """When it was lost, s."""
    gain: float
    """The most energy seen over that of the start, less one."""
    penetration: float
    """The deepest, m."""
    microseconds: float
    """CPU time of a step."""


def run(peers: list[str], cases: list[str], repetitions: int, seconds: float, timesteps: str) -> list[Row]:
    """Runs the cases, ``repetitions`` starts of each, prints a table, returns the rows."""
    header = ("case", "step ms", "engine", "lost", "first s", "gains", "most gain", "deepest mm", "µs/step")
    print("{:13} {:>7} {:18} {:>6} {:>8} {:>6} {:>10} {:>11} {:>8}".format(*header))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in cases:
            case = CASES[name]
            try:
                path = case.source(Path(folder))
            except MissingPackageError as error:
                print(f"{name:13} left out: {error}")
                continue
            for timestep in (float(word) for word in timesteps.split(",")):
                ours, others = load(path, timestep, peers)
                rows += compare(name, case, ours, others, repetitions, seconds)
    return rows


def load(path: Path, timestep: float, peers: list[str]) -> tuple[Sapwood, list[Engine]]:
    """The file in every engine, ours first."""
    ours = Sapwood(path, timestep=timestep)
    others: list[Engine] = [Mujoco(path, "pyramidal", timestep=timestep)] if "mujoco" in peers else []
    if others:
        ours.controls = others[0].controls
    return ours, others


def compare(name: str, case: Case, ours: Sapwood, others: list[Engine], starts: int, seconds: float) -> list[Row]:
    """All starts of a case at one time step."""
    rows: list[Row] = []
    reckoner = sw.Simulation(ours.simulation.model, timestep=1e-6)
    for engine in [ours, *others]:
        outcomes = [measure(engine, reckoner, case, seed, seconds) for seed in range(starts)]
        lost = [o.lost_at for o in outcomes if o.lost_at is not None]
        gains = [o.gain for o in outcomes]
        milliseconds = 1e3 * engine.timestep
        gained = "-" if case.is_driven else f"{sum(g > GAIN for g in gains)}"
        most = "-" if case.is_driven else f"{100 * max(gains):.2f} %"
        deepest = 1e3 * max(o.penetration for o in outcomes)
        cost = float(np.mean([o.microseconds for o in outcomes]))
        print(
            f"{name:13} {milliseconds:7.3g} {engine.name:18} {len(lost):3}/{starts:<2} "
            f"{min(lost) if lost else float('nan'):8.2f} {gained:>6} {most:>10} {deepest:11.2f} {cost:8.1f}",
            flush=True,
        )
        where = {"suite": "starts", "case": f"{name} {milliseconds:g} ms", "engine": engine.name}
        rows.append({**where, "metric": "lost", "value": len(lost), "unit": "1"})
        if not case.is_driven:
            rows.append({**where, "metric": "energy gained", "value": max(gains), "unit": "1"})
    return rows


def sunk(reckoner: sw.Simulation, q: NDArray[np.float64]) -> float:
    """How deep the model is in the ground, m; the reckoner makes a step that is too short to move anything."""
    reckoner.reset()
    reckoner.q, reckoner.v = q, np.zeros(reckoner.model.nv)
    reckoner.step()
    contacts = reckoner.contacts
    gaps = contacts["gap"][contacts["bodies"].min(axis=1) <= 0] if len(contacts) else np.zeros(0)
    return max(0.0, -float(gaps.min(initial=0.0)))


def measure(engine: Engine, reckoner: sw.Simulation, case: Case, seed: int, seconds: float) -> Outcome:
    """One run from one start; `reckoner` tells energies."""
    rng = np.random.default_rng(seed)
    model = reckoner.model

    def energy_now() -> float:
        reckoner.q, reckoner.v = engine.q, engine.v
        energy = reckoner.energy()
        return float(energy.kinetic + energy.potential)

    engine.reset()
    q = model.integrate(engine.q, case.turn * rng.standard_normal(model.nv))
    q[2] += sunk(reckoner, q) if model.nq > model.nv else 0.0
    v = case.speed * rng.standard_normal(model.nv)
    if model.nv > 5:
        v[5] += case.spin
    engine.place(q, v)
    low, high = engine.controls[:, 0], engine.controls[:, 1]
    steps = max(1, round(CHUNK / engine.timestep))
    start = most = energy_now()
    deepest, elapsed, count = 0.0, 0.0, 0
    for k in range(round(seconds / (steps * engine.timestep))):
        if case.is_driven:
            engine.control(rng.uniform(low, high))
        clock = time.process_time()
        try:
            engine.step(steps)
        except sw.SimulationError:
            return Outcome(k * CHUNK, most / start - 1.0, deepest, 1e6 * elapsed / max(count, 1))
        elapsed += time.process_time() - clock
        count += steps
        q, v = engine.q, engine.v
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.abs(v).max() < LOST):
            return Outcome(k * CHUNK, most / start - 1.0, deepest, 1e6 * elapsed / count)
        if not case.is_driven:
            most = max(most, energy_now())
        deepest = max(deepest, engine.sample().penetration)
    return Outcome(None, most / start - 1.0, deepest, 1e6 * elapsed / count)
