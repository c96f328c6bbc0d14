"""Curves on logarithmic or linear axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 890, 520
LEFT, RIGHT, TOP, BOTTOM = 84, 240, 64, 56
FONT = "font-family='system-ui, sans-serif'"


class Curve(NamedTuple):
    """A line through points; ``lost`` are where it has none because the run diverged: crosses at the upper edge."""

    label: str
    color: str
    points: Sequence[tuple[float, float]]
    lost: Sequence[float] = ()
    dash: str = ""
    """As SVG's stroke-dasharray; empty: a solid line."""
    dots: bool = True
    band: Sequence[tuple[float, float, float]] = ()
    """What is shaded along it: x, from, to."""


class Axis:
    """Numbers to pixels.

    Args:
        low: At the first pixel.
        high: At the last one.
        start: First pixel.
        end: Last pixel.
        logarithmic: Whether equal ratios are equally far apart.
    """

    def __init__(self, low: float, high: float, start: float, end: float, logarithmic: bool) -> None:
        self._log = logarithmic
        self._low, self._high = self._scale(low), self._scale(high)
        self._start, self._end = start, end

    def _scale(self, x: float) -> float:
        return math.log10(x) if self._log else x

    def at(self, x: float) -> float:
        """The pixel of a number, held within the axis."""
        share = (self._scale(x) - self._low) / (self._high - self._low)
        return self._start + min(max(share, 0.0), 1.0) * (self._end - self._start)

    def holds(self, x: float) -> bool:
        """Whether the number has a place of its own."""
        return self._low - 1e-9 <= self._scale(x) <= self._high + 1e-9

    def ticks(self) -> list[tuple[float, str]]:
        """Numbers that get a line, with their labels."""
        if self._log:
            decades = range(math.ceil(self._low - 1e-9), math.floor(self._high + 1e-9) + 1)
            every = max(1, math.ceil(len(decades) / 10))
            if len(decades) <= 3:
                numbers = [m * 10.0**n for n in range(decades[0] - 1, decades[-1] + 1) for m in (1, 2, 5)]
                return [(x, f"{x:.4g}") for x in [*numbers, 10.0 ** decades[-1]] if self.holds(x)]
            return [(10.0**n, f"1e{n}" if abs(n) > 3 else f"{10.0**n:g}") for n in decades if n % every == 0]
        step = 10 ** math.floor(math.log10((self._high - self._low) / 2))
        step *= next(m for m in (1, 2, 5, 10) if (self._high - self._low) / (m * step) <= 8)
        first = math.ceil(self._low / step - 1e-9)
        count = math.floor((self._high - first * step) / step + 1e-9) + 1
        return [((first + k) * step, f"{(first + k) * step:.10g}") for k in range(count)]


def limits(values: list[float], logarithmic: bool) -> tuple[float, float]:
    """Ends of an axis that shows all values; whole decades where it is logarithmic."""
    if not logarithmic:
        low, high = min(0.0, *values), max(values)
        return (low, high) if high > low else (low - 0.5, high + 0.5)
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return 10.0**low, 10.0 ** max(high, low + 1)


def plot(
    title: str,
    note: str,
    axes: tuple[str, str],
    curves: Sequence[Curve],
    logarithmic: tuple[bool, bool] = (True, True),
    ceiling: float = math.inf,
) -> str:
    """The picture.

    Args:
        title: Above it.
        note: Below the title, smaller.
        axes: What runs to the right, and what runs up.
        curves: With values above 0 on logarithmic axes; others, and those that are not finite, are left out.
        logarithmic: Of either axis.
        ceiling: Values above it are drawn at it.
    """
    shown = [curve._replace(points=[p for p in curve.points if drawable(p, logarithmic)]) for curve in curves]
    xs = [x for curve in shown for x, _ in curve.points] + [x for curve in shown for x in curve.lost]
    ys = [min(y, ceiling) for curve in shown for _, y in curve.points]
    ys += [min(y, ceiling) for curve in shown for _, low, high in curve.band for y in (low, high)]
    across = Axis(*limits(xs or [0.1, 1.0], logarithmic[0]), LEFT, WIDTH - RIGHT, logarithmic[0])
    up = Axis(*limits(ys or [0.1, 1.0], logarithmic[1]), HEIGHT - BOTTOM, TOP + 18, logarithmic[1])
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        text(24, 28, title, 17, "#1f2937"),
        text(24, 48, note, 12),
        *frame(across, up, axes),
    ]
    for k, curve in enumerate(shown):
        # The first are the widest, so that curves which coincide show each other.
        width = 1.5 + 0.45 * (len(shown) - 1 - k)
        parts += drawn(curve, width, across, up)
        y = TOP + 18 + 19 * k
        parts.append(line([(WIDTH - RIGHT + 14, y), (WIDTH - RIGHT + 38, y)], curve, width))
        parts.append(text(WIDTH - RIGHT + 44, y + 4, curve.label, 12))
    return "\n".join([*parts, "</svg>"]) + "\n"


def stacked(pictures: Sequence[str]) -> str:
    """Pictures of :func:`plot`, one below the other."""
    height = HEIGHT * len(pictures)
    placed = [picture.replace("<svg ", f"<svg y='{HEIGHT * k}' ", 1) for k, picture in enumerate(pictures)]
    opening = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}'>"
    )
    return "\n".join([opening, *placed, "</svg>"]) + "\n"


def drawable(point: tuple[float, float], logarithmic: tuple[bool, bool]) -> bool:
    """Whether it has a place on the axes."""
    return all(math.isfinite(x) and (x > 0 or not log) for x, log in zip(point, logarithmic, strict=True))


def frame(across: Axis, up: Axis, axes: tuple[str, str]) -> list[str]:
    """Border, lines at the ticks, labels."""
    parts, right, bottom = [], WIDTH - RIGHT, HEIGHT - BOTTOM
    for value, label in across.ticks():
        x = across.at(value)
        parts.append(f"<path d='M{x:.1f} {bottom}V{TOP}' stroke='#e4e7ec'/>")
        parts.append(text(x, bottom + 18, label, 12, anchor="middle"))
    for value, label in up.ticks():
        y = up.at(value)
        parts.append(f"<path d='M{LEFT} {y:.1f}H{right}' stroke='#e4e7ec'/>")
        parts.append(text(LEFT - 8, y + 4, label, 12, anchor="end"))
    parts.append(
        f"<rect x='{LEFT}' y='{TOP}' width='{right - LEFT}' height='{bottom - TOP}' fill='none' stroke='#9ca3af'/>"
    )
    middle = (TOP + bottom) / 2
    parts.append(text((LEFT + right) / 2, bottom + 42, axes[0], 13, anchor="middle"))
    turned = f"transform='rotate(-90 22 {middle})'"
    parts.append(text(22, middle, axes[1], 13, anchor="middle", extra=turned))
    return parts


def drawn(curve: Curve, width: float, across: Axis, up: Axis) -> list[str]:
    """A curve's line, dots and crosses."""
    points = [(across.at(x), up.at(y)) for x, y in curve.points]
    parts = [line(points, curve, width)] if len(points) > 1 else []
    if curve.band:
        edge = [(x, low) for x, low, _ in curve.band] + [(x, high) for x, _, high in reversed(curve.band)]
        path = "L".join(f"{across.at(x):.1f} {up.at(y):.1f}" for x, y in edge)
        parts.insert(0, f"<path d='M{path}Z' fill='{curve.color}' fill-opacity='0.15'/>")
    if curve.dots:
        radius = 2 + width / 2
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.1f}' fill='{curve.color}'/>" for x, y in points]
    for value in curve.lost:
        x, y = across.at(value), TOP + 9
        cross = f"M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8"
        parts.append(f"<path d='{cross}' stroke='{curve.color}' stroke-width='2' fill='none'/>")
    return parts


def line(points: list[tuple[float, float]], curve: Curve, width: float) -> str:
    """Straight from point to point."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dash = f" stroke-dasharray='{curve.dash}'" if curve.dash else ""
    return f"<path d='M{path}' stroke='{curve.color}' stroke-width='{width:.1f}' fill='none'{dash}/>"


def text(
    x: float, y: float, words: str, size: int, color: str = "#3c4048", anchor: str = "start", extra: str = ""
) -> str:
    """Words at a place."""
    where = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {extra}"
    return f"<text {where} font-size='{size}' fill='{color}' {FONT}>{escape(words)}</text>"
