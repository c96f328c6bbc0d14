"""What is read off measured curves: orders of convergence, times at equal error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

POINTS = 4
"""Points that an order is fitted to, the finest that say something."""


class Point(NamedTuple):
    """A run: what it cost and how wrong it was; the error is infinite where it diverged."""

    timestep: float
    """s; for runs that choose their steps, the accuracy that was asked."""
    cost: float
    """CPU time, s."""
    error: float


def order(points: Sequence[Point], floor: float) -> float | None:
    """The slope of log error over log time step: least squares over the finest runs with errors above ``floor``.

    None where fewer than ``POINTS`` are left. Runs coarser than one that diverged do not count.
    """
    kept = told(points, floor)
    if len(kept) < POINTS:
        return None
    x = np.log([point.timestep for point in kept])
    y = np.log([point.error for point in kept])
    return float(np.polyfit(x, y, 1)[0])


def slopes(points: Sequence[Point], floor: float) -> list[float]:
    """The slopes between one and the next of the runs that an order is fitted to, coarsest first.

    Where they do not settle, runs are not yet in the regime of their order.
    """
    kept = told(points, floor)[::-1]
    return [
        math.log(coarse.error / fine.error) / math.log(coarse.timestep / fine.timestep)
        for coarse, fine in pairwise(kept)
    ]


def told(points: Sequence[Point], floor: float) -> list[Point]:
    """The finest ``POINTS`` runs with errors above ``floor``, finest first; none coarser than one that diverged."""
    finest_first = sorted(points, key=lambda point: point.timestep)
    kept: list[Point] = []
    for point in finest_first:
        if floor < point.error < math.inf:
            kept.append(point)
        elif kept:
            break
    return kept[:POINTS]


def front(points: Sequence[Point]) -> list[Point]:
    """Runs to which no other is better in both cost and error, from cheap and wrong to dear and right."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.cost, point.error)):
        if math.isfinite(point.error) and (not best or point.error < best[-1].error):
            best.append(point)
    return best


def cost_at(points: Sequence[Point], error: float) -> float | None:
    """CPU time, s, that buys this error: on straight lines between runs on logarithmic axes.

    Nothing is taken for granted beyond what ran: where the cheapest run is better already, its cost; None where none is
    as good.
    """
    runs = front(points)
    for worse, better in zip([None, *runs], runs, strict=False):
        if better.error > error:
            continue
        if worse is None or better.error <= 0:
            return better.cost
        share = math.log(worse.error / error) / math.log(worse.error / better.error)
        return float(worse.cost * (better.cost / worse.cost) ** share)
    return None
