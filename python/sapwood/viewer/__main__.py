"""The command line of the live viewer: ``python -m sapwood.viewer MODEL``, which ``sapwood view MODEL`` runs."""

from __future__ import annotations

import argparse
import math
import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sapwood as sw

if TYPE_CHECKING:
    from sapwood._sapwood import Model, Simulation

SCHEMES = ("symplectic-euler", "bilinear", "midpoint", "implicit-euler", "explicit-euler")
# Random controls change this often, s of simulated time.
HOLD = 0.5
# The exit code of bad input, as the command has it.
BAD_INPUT = 2


def main(arguments: list[str] | None = None) -> int:
    """Opens a model in the viewer until Ctrl-C or until the viewer is closed; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        model = load(options)
        sim = simulation(model, options)
        controller = RandomControls(model, options.seed) if options.controls == "random" else None
        viewer = sw.view(sim, controller=controller, port=options.port, host=options.host, speed=options.speed)
    except (sw.ModelError, ImportError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 0
    with viewer:
        try:
            if not options.no_browser and has_display():
                webbrowser.open(viewer.url)
            print("Ctrl-C ends it", flush=True)
            viewer.wait()
        except KeyboardInterrupt:
            print()
    return 0


def parser() -> argparse.ArgumentParser:
    """The options, which have the names and defaults of ``sapwood view``."""
    parser = argparse.ArgumentParser(
        prog="python -m sapwood.viewer",
        description="Watch a model live in the browser: pause, pull at bodies, move controls.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("model", help="MJCF, URDF or SDFormat file, or a character or scene: @humanoid, @tower-50, …")
    add(
        "--package-path", action="append", default=[], type=Path, metavar="DIR", help="where packages of URDF files are"
    )
    add("--floating-base", action="store_true", help="let the root of a URDF robot move freely")
    add("--ground", type=finite, metavar="Z", help="add a level ground at this height, m")
    add("--keyframe", metavar="NAME", help="where to start")
    add("--dt", type=finite, metavar="S", help="time step, s; without it the model's own")
    add("--accuracy", type=finite, metavar="ERROR", help="error that may be made per second, in place of a time step")
    add("--scheme", type=scheme, default="bilinear", help=f"{', '.join(SCHEMES)}, or theta_q,theta_v,theta_vq")
    add("--contact", choices=("coulomb", "lagged", "sap"), default="coulomb", help="friction law")
    add(
        "--factorization-budget",
        type=budget,
        default=100,
        metavar="N",
        help="for Coulomb's law in a step, or unlimited",
    )
    add("--sleep-after", type=finite, metavar="S", help="let islands sleep that have rested for this long")
    add("--threads", type=int, default=1, metavar="N", help="threads; the result is the same for any number")
    add("--controls", choices=("sliders", "random"), default="sliders", help="what moves the controls")
    add("--seed", type=int, default=0, metavar="N", help="seed of random controls")
    add("--speed", type=finite, default=1.0, metavar="FACTOR", help="simulated time over real time")
    add("--port", type=int, default=8080, metavar="N", help="where to listen; the next free one where it is taken")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="who may look: 0.0.0.0 for everyone")
    add("--no-browser", action="store_true", help="print the address without opening a browser")
    return parser


def finite(text: str) -> float:
    """A finite number; for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a finite number")
    return value


def budget(text: str) -> int | None:
    """A number of factorisations, None for no limit; for argparse."""
    if text == "unlimited":
        return None
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, 0 or more, or unlimited")
    return int(text)


def scheme(text: str) -> str | tuple[float, ...]:
    """A scheme by its name or its three numbers; for argparse."""
    if "," not in text:
        return text
    return tuple(finite(number) for number in text.split(","))


def load(options: argparse.Namespace) -> Model:
    """The model that was asked for.

    Raises:
        ModelError: When the file cannot be loaded.
        ValueError: When no character or scene has this name.
    """
    source = options.model
    if source.startswith("@"):
        name = source[1:]
        if name in sw.characters.NAMES:
            source = sw.characters.mjcf(name, ground=options.ground is None)
        else:
            source = sw.scenes.mjcf(name)
    return sw.load(
        source, ground=options.ground, package_path=options.package_path, floating_base=options.floating_base
    )


def simulation(model: Model, options: argparse.Namespace) -> Simulation:
    """The simulation that was asked for, at its start.

    Raises:
        ValueError: When an option makes no sense, or the model has no such keyframe.
    """
    sim = sw.Simulation(
        model,
        timestep=options.dt,
        accuracy=options.accuracy,
        scheme=options.scheme,
        contact=options.contact,
        factorization_budget=options.factorization_budget,
        sleep_after=options.sleep_after,
        threads=options.threads,
    )
    if options.keyframe is not None:
        sim.reset(options.keyframe)
    return sim


class RandomControls:
    """A controller that gives every control a new random value now and then."""

    def __init__(self, model: Model, seed: int) -> None:
        ranges = np.array(model.ctrl_range, dtype=float).reshape(-1, 2)
        has_range = np.isfinite(ranges).all(axis=1, keepdims=True)
        self._low, self._high = np.where(has_range, ranges, [-1.0, 1.0]).T
        self._random = np.random.default_rng(seed)
        self._next = -math.inf
        self._last = -math.inf

    def __call__(self, sim: Simulation) -> None:
        """Sets the controls before a step."""
        # Time also goes back, at a reset.
        if sim.time >= self._next or sim.time < self._last:
            sim.ctrl[:] = self._random.uniform(self._low, self._high)
            self._next = sim.time + HOLD
        self._last = sim.time


def has_display() -> bool:
    """Whether there is a screen for a browser: otherwise one that runs in the terminal would open."""
    if "SSH_CONNECTION" in os.environ:
        return False
    on_desktop = sys.platform in ("darwin", "win32")
    return on_desktop or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
