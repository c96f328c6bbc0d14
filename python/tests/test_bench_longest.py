"""The longest suite: its rows, and that a course is gone as far as the limit allows."""

from __future__ import annotations

import pytest

from sapwood.bench import longest
from sapwood.bench.clutter import Ruler
from sapwood.bench.clutter_cases import scene
from sapwood.bench.engines import Mujoco, Sapwood

pytest.importorskip("mujoco")

SMALL = longest.Case(scene("clutter-box-8"), 0.2)


def test_rows_of_both_engines() -> None:
    text = SMALL.text()
    for engine in (Sapwood(text, timestep=0.005), Mujoco(text, "elliptic", "cg", timestep=0.005)):
        rows = longest.measure("small", SMALL, engine, Ruler(text), turns=2, limit=60.0)
        values = {str(row["metric"]): float(row["value"]) for row in rows}
        assert values["steps"] == 40
        assert values["longest step"] >= values["mean step"] > 0
        assert values["contacts"] >= 4
        assert 0 <= values["penetration"] < 0.05


def test_limit_ends_the_first_course() -> None:
    course = longest.go(Sapwood(SMALL.text(), timestep=0.005), steps=1000, turns=3, limit=0.0)
    assert (len(course.times), course.end) == (1, "stopped after 0 s")


def test_spent_budgets_are_counted() -> None:
    # A budget of nothing is spent wherever bodies fall upon each other with friction.
    ours = Sapwood(scene("clutter-box-8")(), timestep=0.005, factorization_budget=0)
    assert longest.go(ours, steps=80, turns=1, limit=60.0).spent > 0
