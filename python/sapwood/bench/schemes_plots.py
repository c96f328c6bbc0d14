"""Pictures of the schemes suite."""

from __future__ import annotations

import math

from sapwood.bench.schemes_cases import Case
from sapwood.bench.schemes_engines import CHOOSES, Maker
from sapwood.bench.schemes_fit import Point
from sapwood.bench.schemes_runs import EnergyRun
from sapwood.bench.svg import Curve, plot

LEAST = 1e-16
"""Energy errors below it are drawn at it."""
MOST = 10.0
"""Errors above it are drawn at it."""

Curves = dict[str, list[Point]]
Styles = dict[str, Maker]


def errors(name: str, case: Case, curves: Curves, orders: dict[str, float | None], styles: Styles) -> dict[str, str]:
    """Order plot, with the orders beside the names, and work–precision diagram."""
    after = f"of the pose after {case.horizon:g} s, rad or m"
    stepped = {engine: points for engine, points in curves.items() if styles[engine].dash != CHOOSES}
    by_step = [against_timestep(engine, points, styles[engine]) for engine, points in stepped.items()]
    return {
        "order": plot(
            f"{name}: error and time step",
            "Largest coordinate of the difference from the reference; numbers: orders; crosses: diverged",
            ("time step, s", f"error {after}"),
            [curve._replace(label=labelled(curve.label, orders.get(curve.label))) for curve in by_step],
            ceiling=MOST,
        ),
        "work": plot(
            f"{name}: error and CPU time",
            "Every dot is a run, most to the left with the longest time step",
            ("CPU time, s", f"error {after}"),
            [against_cost(engine, points, styles[engine]) for engine, points in curves.items()],
            ceiling=MOST,
        ),
    }


def energies(name: str, case: Case, curves: Curves, over_time: dict[str, EnergyRun], styles: Styles) -> dict[str, str]:
    """Energy over time, against the time step, and against CPU time."""
    energy = case.energy
    assert energy is not None
    what = f"largest relative energy error in {energy.duration:g} s"
    stepped = {engine: points for engine, points in curves.items() if engine in over_time}
    return {
        "energy": plot(
            f"{name}: energy at a time step of {1e3 * energy.shown:g} ms",
            "Relative error; the largest so far of every engine; crosses: diverged",
            ("time, s", "relative energy error"),
            [envelope(engine, run, styles[engine]) for engine, run in over_time.items()],
            logarithmic=(False, True),
            ceiling=MOST,
        ),
        "energy-order": plot(
            f"{name}: energy error and time step",
            "Crosses: diverged",
            ("time step, s", what),
            [against_timestep(engine, points, styles[engine]) for engine, points in stepped.items()],
            ceiling=MOST,
        ),
        "energy-work": plot(
            f"{name}: energy error and CPU time",
            "Every dot is a run, most to the left with the longest time step",
            ("CPU time, s", what),
            [against_cost(engine, points, styles[engine]) for engine, points in curves.items()],
            ceiling=MOST,
        ),
    }


def labelled(engine: str, slope: float | None) -> str:
    """An engine's name with its order."""
    return engine if slope is None else f"{engine} {slope:.2f}"


def against_timestep(engine: str, points: list[Point], style: Maker) -> Curve:
    """An engine's errors over its time steps."""
    lost = [point.timestep for point in points if math.isinf(point.error)]
    found = [(point.timestep, max(point.error, LEAST)) for point in points]
    return Curve(engine, style.color, found, lost, style.dash)


def against_cost(engine: str, points: list[Point], style: Maker) -> Curve:
    """An engine's errors over what they cost; what diverged has no place."""
    return Curve(engine, style.color, [(point.cost, max(point.error, LEAST)) for point in points], (), style.dash)


def envelope(engine: str, run: EnergyRun, style: Maker) -> Curve:
    """The largest error so far."""
    worst = LEAST
    found: list[tuple[float, float]] = []
    for time, error in zip(run.times, run.errors, strict=False):
        if abs(error) > worst:
            # A step: it stood until now.
            found += [(time, worst)] if found else []
            worst = abs(error)
            found.append((time, worst))
    found.append((run.times[-1], worst))
    lost = [run.times[-1]] if math.isinf(run.point.error) else []
    return Curve(engine, style.color, found, lost, style.dash, dots=False)
