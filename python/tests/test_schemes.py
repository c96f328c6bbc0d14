"""The time-stepping schemes: orders of accuracy and energy, against references of Pinocchio, SciPy and theory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import Recorder

from sapwood.bench.schemes_accuracy import Answer, ask, frames
from sapwood.bench.schemes_cases import CASES
from sapwood.bench.schemes_engines import SCHEMES, ours
from sapwood.bench.schemes_fit import order
from sapwood.bench.schemes_runs import EnergyRun, energy_run, error_run, goal, start, timesteps

pytest.importorskip("pinocchio")
pytest.importorskip("scipy")

ORDERS = {"symplectic-euler": 1, "midpoint": 2, "implicit-euler": 1, "explicit-euler": 1}


@pytest.mark.parametrize("case", ["double-pendulum", "tumbling-body", "sprung-arm", "lopsided-ball"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_errors_fall_with_the_order_of_the_scheme(scheme: str, case: str, record: Recorder) -> None:
    begin = start(CASES[case])
    end = goal(begin, CASES[case].system())
    maker = ours(scheme)
    points = [error_run(begin, end, maker.make(begin.text, dt), dt, 1)[0] for dt in timesteps(CASES[case])[-4:]]
    slope = order(points, 100 * end.doubt)
    record("SciPy", f"{case}, {scheme}", f"order {slope}, error {points[-1].error:.1e} at {points[-1].timestep:g} s")
    assert slope == pytest.approx(ORDERS[scheme], abs=0.05)


def run(case: str, timestep: float, duration: float, *, conserve: bool = True) -> EnergyRun:
    """Energy under the midpoint rule."""
    begin = start(CASES[case])
    engine = ours("midpoint", conserve=conserve).make(begin.text, timestep)
    return energy_run(begin, CASES[case].system(), engine, timestep, duration)


def test_a_tumbling_body_keeps_energy_and_angular_momentum() -> None:
    found = run("tumbling-body", 0.01, 100.0)
    assert found.point.error < 1e-10
    assert found.momentum is not None
    assert found.momentum < 1e-10


@pytest.mark.parametrize("case", ["double-pendulum", "spring-chain", "flung-arm"])
@pytest.mark.parametrize("timestep", [0.02, 0.01, 0.002])
def test_what_nothing_brakes_keeps_its_energy(case: str, timestep: float, record: Recorder) -> None:
    found = run(case, timestep, 100.0)
    record("Pinocchio", f"{case} at {timestep * 1e3:g} ms", f"energy error in 100 s {found.point.error:.1e}")
    assert found.point.error < 1e-10


def test_the_energy_of_a_pendulum_does_not_drift_under_the_rule_alone() -> None:
    # Below the suite's start, where the motion is regular: a chaotic one meets other extremes in every quarter.
    begin = start(CASES["double-pendulum"])._replace(q=np.array([0.7, 0.35]))
    rule = ours("midpoint", conserve=False)
    makers = [(rule.make(begin.text, dt), dt) for dt in (0.01, 0.005)]
    coarse, fine = (energy_run(begin, CASES["double-pendulum"].system(), engine, dt, 1000.0) for engine, dt in makers)
    for found in (coarse, fine):
        assert max(found.quarters()) < 1.05 * min(found.quarters())
    assert coarse.point.error / fine.point.error == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize(("timestep", "bound"), [(0.001, 0.01), (0.005, 0.02)])
def test_an_elastic_chain_keeps_its_energy_under_the_rule_alone(timestep: float, bound: float) -> None:
    assert run("spring-chain", timestep, 5.0, conserve=False).point.error < bound


@pytest.mark.parametrize(("timestep", "bound"), [(0.01, 0.2), (0.007, 0.2), (0.005, 0.1)])
def test_the_energy_of_a_flung_arm_stays_bounded_under_the_rule_alone(timestep: float, bound: float) -> None:
    """At 10 ms first-order steps fail within seconds; a third of these is made in parts, and errors add up slowly."""
    assert run("flung-arm", timestep, 100.0, conserve=False).point.error < bound


def test_a_ball_rolls_on() -> None:
    found = run("rolling-ball", 0.001, 10.0)
    # It sinks into the ground by the near-rigid contact's depth within the first steps, and keeps its speed from there.
    assert found.point.error < 1e-9
    assert np.ptp(found.errors[100:]) < 1e-13


def test_explicit_steps_diverge_where_forces_are_stiff() -> None:
    begin = start(CASES["sprung-arm"])
    end = goal(begin, CASES["sprung-arm"].system())
    errors = [error_run(begin, end, ours(scheme).make(begin.text, 0.01), 0.01, 1)[0].error for scheme in SCHEMES]
    assert [math.isinf(error) for error in errors] == [scheme == "explicit-euler" for scheme in SCHEMES]


@pytest.mark.parametrize("case", ["tumbling-body", "double-pendulum", "flung-arm", "sprung-arm", "lopsided-ball"])
def test_the_accuracy_that_is_asked_comes(case: str, record: Recorder) -> None:
    begin = start(CASES[case])
    reference = frames(begin, CASES[case].system())
    answer = ask(begin, reference, 1e-4)
    assert isinstance(answer, Answer), answer
    record("SciPy", f"{case}, asked 1e-4", f"pose {answer.pose:.2f} of it, velocity {answer.velocity:.2f}")
    assert max(answer.pose, answer.velocity) < 3
    # Nor is it bought with steps that nobody asked for.
    assert max(answer.pose, answer.velocity) > 0.05


@pytest.mark.parametrize("case", ["billiard-balls", "bouncing-ball"])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-4, 1e-6])
def test_impacts_stop_no_run_and_spoil_no_accuracy(case: str, accuracy: float) -> None:
    begin = start(CASES[case])
    answer = ask(begin, frames(begin, CASES[case].system()), accuracy)
    assert isinstance(answer, Answer), answer
    assert max(answer.pose, answer.velocity) < 3
