"""The time-stepping schemes: their orders of accuracy, against references that Pinocchio, SciPy and theory give."""

from __future__ import annotations

import pytest
from conftest import Recorder

from sapwood.bench.schemes_cases import CASES
from sapwood.bench.schemes_engines import ours, schemes
from sapwood.bench.schemes_fit import order
from sapwood.bench.schemes_runs import error_run, goal, start, timesteps

pytest.importorskip("pinocchio")
pytest.importorskip("scipy")

ORDERS = {"symplectic-euler": 1, "midpoint": 2, "implicit-euler": 1, "explicit-euler": 1}


@pytest.mark.parametrize("case", ["double-pendulum", "tumbling-body", "sprung-arm"])
@pytest.mark.parametrize("scheme", schemes())
def test_errors_fall_with_the_order_of_the_scheme(scheme: str, case: str, record: Recorder) -> None:
    begin = start(CASES[case])
    end = goal(begin, CASES[case].system())
    maker = ours(scheme)
    points = [error_run(begin, end, maker.make(begin.text, dt), dt, 1)[0] for dt in timesteps(CASES[case])[-4:]]
    slope = order(points, 100 * end.doubt)
    record("SciPy", f"{case}, {scheme}", f"order {slope}, error {points[-1].error:.1e} at {points[-1].timestep:g} s")
    assert slope == pytest.approx(ORDERS[scheme], abs=0.05)
