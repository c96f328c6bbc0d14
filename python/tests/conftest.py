"""What the tests share: a table of agreement with other engines, printed at the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Row = tuple[str, str, str]
Recorder = Callable[[str, str, str], None]

TABLE: list[Row] = []


@pytest.fixture(scope="session")
def record() -> Recorder:
    """Notes (engine, case, outcome) for the table at the end."""

    def add(engine: str, case: str, outcome: str) -> None:
        TABLE.append((engine, case, outcome))

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not TABLE:
        return
    terminalreporter.section("agreement with other engines")
    width = max(len(case) for _, case, _ in TABLE)
    for engine, case, outcome in TABLE:
        terminalreporter.write_line(f"{engine:10} {case:{width}} {outcome}")
