"""Learning curves of controllers side by side: every method with every seed, by the same trainer and settings.

It is the experiment of Yin and Yin, "Linear time stable PD controllers for physics-based character animation", 2020,
figure 7: how fast a character learns with stable PD by different algorithms.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sapwood._files import write_whole
from sapwood.bench.svg import Curve, plot, stacked
from sapwood.train import imitation
from sapwood.train.policy import Array
from sapwood.train.settings import Settings

METHODS = ("maba", "dense", "sparse")
"""The methods of the paper's figure: embedded modified articulated bodies, dense and sparse factorisation."""

COLORS = ("#1668dc", "#d97706", "#15803d", "#9333ea", "#be123c", "#475569")

DEFAULTS = replace(imitation.DEFAULTS, seconds=1e9, samples=1_000_000, evaluate_every=0.0)
"""Samples end every run, so that all methods have the same number."""

LEVELS = (0.5, 0.8, 0.9)
"""Returns of which it is said when they were reached."""

CLOCKS = ("samples", "seconds_training", "cpu_seconds_training")


@dataclass(frozen=True)
class Plan:
    """What is compared.

    Attributes:
        options: Those of the environment, without the method.
        methods: Names of ``spd``.
        seeds: Of the runs of each method.
        settings: Of the trainer, without the seed.
        judgements: How many there are of a run.
    """

    options: dict[str, Any]
    methods: list[str]
    seeds: list[int]
    settings: Settings
    judgements: int

    def runs(self) -> list[tuple[str, int]]:
        """Methods take turns, so that what else the machine does in time slows all of them."""
        return [(method, seed) for seed in self.seeds for method in self.methods]

    def task(self, method: str) -> imitation.Imitation:
        """What a method learns."""
        return imitation.Imitation.of(**self.options, spd=method)

    def settings_of(self, seed: int) -> Settings:
        """Of a run."""
        every = max(self.settings.samples // self.judgements, 1)
        return replace(self.settings, seed=seed, evaluate_samples=every)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the comparison, and of the environment but for the method."""
    parser.add_argument("--spd", nargs="+", default=list(METHODS), metavar="METHOD", help="controllers (%(default)s)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], metavar="SEED", help="seeds (%(default)s)")
    parser.add_argument("--judgements", type=int, default=12, help="points of every curve (%(default)s)")
    imitation.add_arguments(parser, without=("spd",), defaults={"physics_hz": 600.0})


def plan(settings: Settings, spd: list[str], seeds: list[int], judgements: int, **options: Any) -> Plan:  # noqa: ANN401 - texts, numbers, flags
    """What the command line asks for.

    Raises:
        ValueError: When there is nothing to compare, or a run is too short for its judgements.
    """
    for name, given in (("spd", spd), ("seeds", seeds)):
        if not given or len(set(given)) < len(given):
            message = f"{name} is {given}: expected one or more, all different"
            raise ValueError(message)
    if settings.workers:
        message = f"workers is {settings.workers}: expected 0, since CPU time is that of one process"
        raise ValueError(message)
    if not 1 <= judgements <= settings.samples:
        message = f"judgements is {judgements}: expected 1 to {settings.samples}, the samples of a run"
        raise ValueError(message)
    return Plan(options, spd, seeds, settings, judgements)


def compare(asked: Plan, out: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train all runs, and write ``result.json`` and ``curves.svg`` under `out`; runs are in folders ``METHOD-SEED``.

    Args:
        asked: What is compared.
        out: A folder, which is made.
        resume: Whether runs that have ended are kept, and one that was interrupted goes on.

    Returns:
        What ``result.json`` has.

    Raises:
        ValueError: When a setting is outside its domain, or a run to be kept is another one.
        KeyboardInterrupt: When a run was interrupted.
    """
    from sapwood.train.run import train  # torch: arguments are read without it

    found: dict[str, list[dict[str, Any]]] = {method: [] for method in asked.methods}
    for method, seed in asked.runs():
        folder = out / f"{method}-{seed}"
        task, settings = asked.task(method), asked.settings_of(seed)
        known = _ended(folder, task.about(), settings) if resume else None
        if known is None:
            print(f"{method}, seed {seed}", flush=True)
            known = train(task, settings, folder, resume=resume and (folder / "checkpoint.pt").is_file())
        if known["samples"] < settings.samples:
            raise KeyboardInterrupt
        found[method].append(known)
        # After every run, so that there is something to look at.
        result = summary(asked, {method: runs for method, runs in found.items() if runs})
        write_whole(out / "result.json", json.dumps(result, indent=1) + "\n")
        write_whole(out / "curves.svg", picture(result))
    print(table(result))
    return result


def _ended(folder: Path, about: dict[str, Any], settings: Settings) -> dict[str, Any] | None:
    """The result of a run that has ended; of one that went on for longer, its first part."""
    path = folder / "result.json"
    if not path.is_file():
        return None
    result: dict[str, Any] = json.loads(path.read_text())
    if result["task"] != about or result["settings"] | {"samples": settings.samples} != asdict(settings):
        message = f"{path} is of other options or settings: expected the same, or another --out"
        raise ValueError(message)
    if result["samples"] < settings.samples:
        # One that was interrupted has written a result as well.
        return None
    marks = settings.samples // settings.evaluate_samples
    return result | {"judgements": result["judgements"][:marks]}


def summary(asked: Plan, found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Curves of methods: means and bounds over seeds, at the judgements, which have the same samples in all runs."""
    methods = {method: _curve(runs) for method, runs in found.items()}
    return {
        "options": asked.options,
        "settings": asdict(asked.settings),
        "seeds": asked.seeds,
        "methods": methods,
    }


def _curve(runs: list[dict[str, Any]]) -> dict[str, Any]:
    points = min(len(run["judgements"]) for run in runs)

    def rows(name: str) -> Array:
        return np.array([[judged[name] for judged in run["judgements"][:points]] for run in runs], dtype=np.float64)

    curve: dict[str, Any] = {name: rows(name).mean(axis=0).tolist() for name in CLOCKS}
    for name in ("return", "return_sampled"):
        values = rows(name)
        bounds = {"mean": values.mean(axis=0), "low": values.min(axis=0), "high": values.max(axis=0)}
        curve[name] = {bound: of.tolist() for bound, of in bounds.items()}
    totals = {clock: sum(run["judgements"][-1][clock] for run in runs) for clock in CLOCKS}
    curve["samples_per_second"] = totals["samples"] / totals["seconds_training"]
    curve["samples_per_cpu_second"] = totals["samples"] / totals["cpu_seconds_training"]
    curve["reached"] = {str(level): _reached(curve, level) for level in LEVELS}
    return curve


def _reached(curve: dict[str, Any], level: float) -> dict[str, float] | None:
    """When the mean of the seeds reached a return; None when it did not."""
    above = [k for k, value in enumerate(curve["return"]["mean"]) if value >= level]
    return {clock: curve[clock][above[0]] for clock in CLOCKS} if above else None


def picture(result: dict[str, Any]) -> str:
    """Panels: return over samples, over the time of training, and over the time of processors that it took."""
    options, methods = result["options"], result["methods"]
    subject = f"{options['character']}, {Path(options['clip']).stem}, {options['physics_hz']:g} Hz"
    note = "Normalised return of the policy's mean: mean of the seeds, bands from the least to the greatest"
    longest = max(of[clock][-1] for of in methods.values() for clock in CLOCKS[1:])
    second, unit = (3600.0, "h") if longest > 7200.0 else (60.0, "min")
    axes = [
        ("samples", 1.0, "samples"),
        ("seconds_training", second, f"time of training, {unit}"),
        ("cpu_seconds_training", second, f"time of processors, {unit}"),
    ]

    def curve(method: str, color: str, clock: str, scale: float) -> Curve:
        of = methods[method]
        x, values = [at / scale for at in of[clock]], of["return"]
        points = list(zip(x, values["mean"], strict=True))
        return Curve(method, color, points, band=list(zip(x, values["low"], values["high"], strict=True)))

    def panel(clock: str, scale: float, axis: str) -> str:
        curves = [curve(method, color, clock, scale) for method, color in zip(methods, COLORS, strict=False)]
        return plot(f"{subject}: over {axis}", note, (axis, "normalised return"), curves, logarithmic=(False, False))

    return stacked([panel(*of) for of in axes])


def table(result: dict[str, Any]) -> str:
    """Methods, a line each."""
    lines = [f"{'':16} return (least to greatest)  samples/s  samples/CPU s  samples, s to 0.8"]
    for method, of in result["methods"].items():
        at = {bound: values[-1] for bound, values in of["return"].items()}
        reached = of["reached"]["0.8"]
        when = "–" if reached is None else f"{reached['samples']:9.0f}, {reached['seconds_training']:.0f}"
        returns = f"{at['mean']:.3f} ({at['low']:.3f} to {at['high']:.3f})"
        lines.append(
            f"{method:16} {returns:27} {of['samples_per_second']:9.0f}  {of['samples_per_cpu_second']:13.0f}  {when}"
        )
    return "\n".join(lines)


def main(given: dict[str, Any], settings: Settings, out: Path, *, resume: bool) -> str:
    """Run what the command line asks for; returns what it has to say."""
    compare(plan(settings, **given), out, resume=resume)
    return f"{out / 'result.json'}, {out / 'curves.svg'}"
