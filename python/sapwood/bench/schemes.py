"""The schemes suite: how fast errors fall with the time step, what becomes of the energy, and what either costs.

Motions whose continuation is known: by Pinocchio's or written-out equations of motion under SciPy's DOP853 at a
tolerance of 1e-13. For every engine and integrator:

* ``error``: the largest coordinate by which the pose misses the reference at the horizon, rad or m, at time steps that
  halve; ``order``: the slope of its logarithm, fitted to the four finest runs above the reference's own error, and the
  slopes from one of these to the next, which settle where runs are in the regime of their order.
* ``energy error``: the largest change of the energy over a long run, relative to that of the start above rest; in the
  four quarters of the run as well, so that a drift shows. For a free body, the change of its angular momentum too.
* ``time per step`` of a humanoid that lies on the ground.
* ``time``: CPU time of the run; ``mujoco over sapwood``: that of MuJoCo's best integrator over that of our best scheme
  at equal error, between runs on straight lines in logarithms.

* Runs whose accuracy is asked in place of a time step: the largest error in twenty frames over what was asked, of poses
  and of velocities; steps, evaluations of the forces, and how many a Runge–Kutta method that halves its steps needs to
  end as near.

What diverges is said and marked by a cross. Our contact solver runs to a tolerance of 1e-12 here: its default would
hide how a scheme converges.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from sapwood._files import write_whole
from sapwood.bench import schemes_plots
from sapwood.bench.cases import MissingPackageError, installed
from sapwood.bench.engines import Engine, Sapwood
from sapwood.bench.schemes_accuracy import ASKED, ask, frames, halving
from sapwood.bench.schemes_cases import CASES, Case
from sapwood.bench.schemes_engines import ACCURACIES, Maker, conserves, controlled, makers, scheme_of
from sapwood.bench.schemes_fit import Point, cost_at, order, slopes
from sapwood.bench.schemes_runs import (
    PATIENCE,
    SAMPLES,
    EnergyRun,
    Goal,
    energy_run,
    error_run,
    goal,
    start,
    step_times,
    timesteps,
)
from sapwood.bench.schemes_systems import System

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco", "drake")
OPTIONS: dict[str, dict[str, Any]] = {
    "--svg": {"type": Path, "metavar": "DIR", "help": "write pictures into this folder"},
}
FLOOR = 1e-11
"""Errors below this are round-off, rad or m."""
LEVELS = tuple(10.0**-k for k in range(1, 11))
"""Errors at which times are compared."""

Row = dict[str, str | float]
Curves = dict[str, list[Point]]


def run(peers: list[str], cases: list[str], repetitions: int, svg: Path | None = None) -> list[Row]:
    """Runs the cases, prints tables, returns the rows."""
    for module, package in [("scipy", "scipy"), ("pinocchio", "pin"), ("mujoco", "mujoco")]:
        if not installed(module, package):
            raise MissingPackageError(f"the references need {package}: pip install scipy pin mujoco")
    rows: list[Row] = []
    for name in cases:
        rows += Report(name, CASES[name], peers, repetitions, svg).run()
    return rows


class Report:
    """One case on all engines."""

    def __init__(self, name: str, case: Case, peers: list[str], repetitions: int, svg: Path | None) -> None:
        self._name, self._case, self._repetitions, self._svg = name, case, repetitions, svg
        present = [peer for peer in peers if peer in case.peers]
        self._makers = makers(present, case.touching)
        # Those that choose their steps: to the horizon at once, or from look to look at the energy.
        self._at_once = controlled(present, case.touching, case.horizon)
        span = case.energy.duration / SAMPLES if case.energy else 0.0
        self._from_look_to_look = controlled(present, case.touching, span)
        self._begin = start(case)
        self._rows: list[Row] = []

    def run(self) -> list[Row]:
        """Prints and returns what was found."""
        if self._case.horizon:
            self._errors()
        if self._case.energy:
            self._energies()
        if self._case.settle:
            self._costs()
        return self._rows

    def _row(self, engine: str, metric: str, value: float | None, unit: str) -> None:
        if value is not None and math.isfinite(value):
            row: Row = {"suite": "schemes", "case": self._name, "engine": engine, "metric": metric}
            self._rows.append({**row, "value": value, "unit": unit})

    def _point(self, engine: str, what: str, unit: str, point: Point) -> None:
        """Rows of a run."""
        at = f"{point.timestep:g}"
        if math.isfinite(point.error):
            self._row(engine, f"{what}, {at}", point.error, unit)
            self._row(engine, f"time of {what}, {at}", point.cost, "s")
        else:
            self._row(engine, f"{what}, {at}: diverged", 1, "1")

    def _errors(self) -> None:
        """Errors at the horizon: table, rows, pictures."""
        case, begin = self._case, self._begin
        print(f"\n{self._name}: error after {case.horizon:g} s, rad or m", flush=True)
        steps = timesteps(case)
        shown = steps[:: max(1, len(steps) // 5)]
        columns = "".join(f"{f'dt {1e3 * dt:.4g} ms':>14}" for dt in shown)
        print(f"{'engine':26}{'order':>7}{'of pairs':>18}{columns}{'µs/step':>10}")
        goals = {"": goal(begin, case.system())}
        if case.in_mujoco is not None:
            goals["mujoco"] = goal(begin, case.in_mujoco())
        floor = max(FLOOR, 100 * goals[""].doubt)
        curves: Curves = {}
        orders: dict[str, float | None] = {}
        for maker in self._makers:
            end = goals.get(maker.family, goals[""])
            points = self._refined(maker, end, steps)
            curves[maker.name] = points
            slope = orders[maker.name] = order(points, floor)
            self._row(maker.name, "order", slope, "1")
            between = slopes(points, floor)
            for k, each in enumerate(reversed(between)):
                self._row(maker.name, f"slope, {k + 1} from the finest", each, "1")
            self._line(maker.name, slope, between, points, shown)
        for maker in self._at_once:
            if (maker.family, case.touching) != ("sapwood", True):
                curves[maker.name] = self._refined(maker, goals[""], ACCURACIES)
        self._asked(goals[""].system)
        self._compare("error", curves)
        self._draw(schemes_plots.errors(self._name, case, curves, orders, self._styles()))

    def _asked(self, system: System) -> None:
        """What came of runs whose accuracy was asked: table and rows."""
        engine, reference = "sapwood accuracy", frames(self._begin, system)
        rk4 = [] if self._case.touching else halving(self._begin, reference, system)
        for point in rk4:
            self._point("halving rk4", "error, evaluations in place of time", "rad or m", point)
        print(
            f"  {'asked per s':>12}{'got: pose':>12}{'velocity':>12}{'steps':>8}{'given up':>10}"
            f"{'force evaluations':>19}{'halving RK4':>13}{'ms':>9}"
        )
        for asked in ASKED:
            answer = ask(self._begin, reference, asked)
            if isinstance(answer, str):
                print(f"  {asked:>12.0e} failed: {answer}", flush=True)
                self._row(engine, f"failed, asked {asked:.0e}", 1, "1")
                break
            theirs = cost_at(rk4, answer.error)
            self._row(engine, f"pose error over asked {asked:.0e}", answer.pose, "1")
            self._row(engine, f"velocity error over asked {asked:.0e}", answer.velocity, "1")
            self._row(engine, f"steps, asked {asked:.0e}", answer.steps, "1")
            self._row(engine, f"steps given up, asked {asked:.0e}", answer.rejected, "1")
            self._row(engine, f"force evaluations, asked {asked:.0e}", answer.evaluations, "1")
            self._row("halving rk4", f"force evaluations for the error of {engine} {asked:.0e}", theirs, "1")
            print(
                f"  {asked:>12.0e}{answer.pose:>11.2f}×{answer.velocity:>11.2f}×{answer.steps:>8}{answer.rejected:>10}"
                f"{answer.evaluations:>19}{'-' if theirs is None else round(theirs):>13}{1e3 * answer.cost:>9.2f}",
                flush=True,
            )
            if 4 * answer.cost > PATIENCE:
                break

    def _refined(self, maker: Maker, end: Goal, parameters: list[float] | tuple[float, ...]) -> list[Point]:
        """Runs at all parameters, coarsest first, until they take too long."""
        points: list[Point] = []
        for parameter in parameters:
            engine = maker.make(self._begin.source(maker.family), parameter)
            point, loss = error_run(self._begin, end, engine, parameter, self._repetitions)
            points.append(point)
            self._point(maker.name, "error", "rad or m", point)
            if self._case.dissipates:
                self._row(maker.name, f"energy too much, {parameter:g}", loss, "1")
            if 3 * point.cost > PATIENCE and math.isfinite(point.cost):
                break
        return points

    def _line(
        self, name: str, slope: float | None, between: list[float], points: list[Point], shown: list[float]
    ) -> None:
        errors = {point.timestep: point.error for point in points}

        def cell(dt: float) -> str:
            if dt not in errors:
                return f"{'-':>14}"
            return f"{'diverged':>14}" if math.isinf(errors[dt]) else f"{errors[dt]:>14.2e}"

        cells = "".join(cell(dt) for dt in shown)
        finite = [point for point in points if math.isfinite(point.cost)]
        # The longest run says it best.
        per_step = f"{1e6 * finite[-1].cost * finite[-1].timestep / self._case.horizon:10.2f}" if finite else ""
        fitted = "-" if slope is None else f"{slope:.2f}"
        pairs = " ".join(f"{each:.2f}" for each in between)
        print(f"{name:26}{fitted:>7}{pairs:>18}{cells}{per_step}", flush=True)

    def _energies(self) -> None:
        """Energy over time: table, rows, pictures."""
        energy, begin = self._case.energy, self._begin
        assert energy is not None
        print(f"\n{self._name}: energy over {energy.duration:g} s", flush=True)
        quarters = f"{'in quarters of the run':^44}"
        print(f"{'engine':26}{'dt ms':>8}{'most':>11}{quarters}{'last':>11}{'momentum':>11}{'Newton':>7}{'µs/step':>9}")
        system = self._case.system()
        curves: Curves = {}
        over_time: dict[str, EnergyRun] = {}
        for maker in self._makers:
            curves[maker.name] = []
            for dt in energy.timesteps:
                found = energy_run(begin, system, maker.make(begin.source(maker.family), dt), dt, energy.duration)
                curves[maker.name].append(found.point)
                if dt == energy.shown:
                    over_time[maker.name] = found
                self._energy_rows(maker.name, found)
                if 3 * found.point.cost > PATIENCE and math.isfinite(found.point.cost):
                    break
        for maker in self._from_look_to_look:
            curves[maker.name] = self._controlled_energies(maker)
        self._compare("energy error", curves)
        self._draw(schemes_plots.energies(self._name, self._case, curves, over_time, self._styles()))

    def _controlled_energies(self, maker: Maker) -> list[Point]:
        energy = self._case.energy
        assert energy is not None
        points: list[Point] = []
        for accuracy in ACCURACIES:
            engine = maker.make(self._begin.source(maker.family), accuracy)
            # A tenth of the run tells what the whole would take.
            trial = energy_run(self._begin, self._case.system(), engine, accuracy, energy.duration / 10)
            if 10 * trial.point.cost > 2 * PATIENCE:
                break
            engine = maker.make(self._begin.source(maker.family), accuracy)
            found = energy_run(self._begin, self._case.system(), engine, accuracy, energy.duration)
            points.append(found.point)
            self._energy_rows(maker.name, found)
        return points

    def _energy_rows(self, engine: str, found: EnergyRun) -> None:
        energy, point = self._case.energy, found.point
        assert energy is not None
        self._point(engine, "energy error", "1", point)
        chooses = any(maker.name == engine for maker in self._at_once)
        parameter = f"{point.timestep:.0e}" if chooses else f"{1e3 * point.timestep:g}"
        head = f"{engine:26}{parameter:>8}"
        if math.isinf(point.error):
            why = f": {found.reason}" if found.reason else ""
            print(f"{head}   diverged at {found.times[-1]:.4g} s{why}", flush=True)
            self._row(engine, f"time of divergence, {point.timestep:g}", found.times[-1], "s")
            return
        quarters = found.quarters()
        for k, worst in enumerate(quarters):
            self._row(engine, f"energy error in quarter {k + 1}, {point.timestep:g}", worst, "1")
        self._row(engine, f"energy change, {point.timestep:g}", found.errors[-1], "1")
        self._row(engine, f"free-motion iterations, {point.timestep:g}", found.iterations, "1/step")
        newton = "" if not found.iterations else f"{found.iterations:.2f}"
        momentum = ""
        if found.momentum is not None:
            self._row(engine, f"angular momentum error, {point.timestep:g}", found.momentum, "1")
            momentum = f"{found.momentum:.1e}"
        each = "".join(f"{worst:>11.2e}" for worst in quarters)
        # Steps of those that choose them are not counted.
        per_step = "" if chooses else f"{1e6 * point.cost * point.timestep / energy.duration:.2f}"
        print(
            f"{head}{point.error:>11.2e}{each}{found.errors[-1]:>+11.2e}{momentum:>11}{newton:>7}{per_step:>9}",
            flush=True,
        )

    def _costs(self) -> None:
        """Time of a step with contact: table and rows."""
        dt = 0.005
        print(f"\n{self._name}: a step of {1e3 * dt:g} ms after {self._case.settle:g} s", flush=True)
        names = [maker.name for maker in self._makers]
        engines: list[Engine] = []
        for maker in self._makers:
            ours = maker.family == "sapwood"
            # To the default tolerance: what a user gets.
            scheme, conserve = scheme_of(maker), conserves(maker)
            default = Sapwood(self._begin.model, maker.name, dt, scheme=scheme, conserve=conserve) if ours else None
            engine = default or maker.make(self._begin.source(maker.family), dt)
            # All settle alike, or explicit Euler would not.
            settled = Sapwood(self._begin.model, timestep=dt)
            settled.step(round(self._case.settle / dt))
            engine.place(settled.q, settled.v)
            engines.append(engine)
        times = step_times(engines, self._repetitions)
        for name, engine, seconds in zip(names, engines, times, strict=True):
            if math.isinf(seconds):
                print(f"{name:26}{'diverged':>13}", flush=True)
                continue
            over = seconds / times[0]
            self._row(name, "time per step", seconds, "s")
            self._row(name, f"time per step over {names[0]}", over, "1")
            print(f"{name:26}{1e6 * seconds:>10.1f} µs{over:>8.2f}{engine.sample().contacts:>6} contacts", flush=True)

    def _compare(self, what: str, curves: Curves) -> None:
        """Times at equal errors: the best of ours beside MuJoCo's best."""
        families = {name: maker.family for name, maker in self._styles().items()}
        for level in LEVELS:
            best: dict[str, tuple[float, str]] = {}
            for name, points in curves.items():
                cost = cost_at(points, level)
                family = families[name]
                if cost is not None:
                    self._row(name, f"time at {what} {level:.0e}", cost, "s")
                    best[family] = min(best.get(family, (math.inf, "")), (cost, name))
            if "sapwood" not in best or len(best) < 2:
                continue
            cost, ours = best.pop("sapwood")
            words = [f"{ours} {1e3 * cost:.3g} ms"]
            for family, (theirs, name) in best.items():
                words.append(f"{name} {1e3 * theirs:.3g} ms ({theirs / cost:.2f})")
                self._row("sapwood", f"{family} over sapwood, time at {what} {level:.0e}", theirs / cost, "1")
            print(f"  {what} {level:.0e}: {', '.join(words)}", flush=True)

    def _styles(self) -> dict[str, Maker]:
        return {maker.name: maker for maker in [*self._makers, *self._at_once]}

    def _draw(self, pictures: dict[str, str]) -> None:
        if self._svg is not None:
            self._svg.mkdir(parents=True, exist_ok=True)
            for name, picture in pictures.items():
                write_whole(self._svg / f"{name}-{self._name}.svg", picture)
