"""What the tests share: a table of agreement with other engines, printed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import cast

import pytest

Row = tuple[str, str, str]
Recorder = Callable[[str, str, str], None]

AGREEMENT = "agreement"
"""The property of a test's report that has a row: tests may run in processes of their own."""

TABLE: list[Row] = []


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Recorder:
    """Notes (engine, case, outcome) for the table at the end."""

    def add(engine: str, case: str, outcome: str) -> None:
        record_property(AGREEMENT, (engine, case, outcome))

    return add


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        TABLE.extend(cast("Row", row) for name, row in report.user_properties if name == AGREEMENT)


@pytest.fixture
def mujoco_as_before() -> Iterator[None]:
    """Leaves MuJoCo's functions, and the options of guests, as they are without Sapwood."""
    import sapwood.mujoco as guest

    yield
    guest.uninstall()
    guest.configure()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not TABLE:
        return
    terminalreporter.section("agreement with other engines")
    width = max(len(case) for _, case, _ in TABLE)
    for engine, case, outcome in TABLE:
        terminalreporter.write_line(f"{engine:10} {case:{width}} {outcome}")


@pytest.fixture
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whose arrays an environment on a device has: those of PyTorch where it is installed and not hidden."""
    name: str = request.param
    if name == "numpy":
        monkeypatch.setitem(sys.modules, "torch", None)
    return name
