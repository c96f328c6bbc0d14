"""The command line of the benchmarks."""

from __future__ import annotations

import pytest

from sapwood.bench.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["spd", "--quick"], "sapwood bench spd --quick"),
        (["characters"], "sapwood bench characters"),
        (["speed"], "schemes"),
        (["step", "--case", "nothing"], "--case nothing: expected one of"),
        (["schemes", "--case", "double-pendulun"], "did you mean double-pendulum?"),
        (["step", "--repetitions", "0"], "--repetitions 0"),
    ],
)
def test_what_cannot_be_measured_here_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_help_tells_of_the_suites_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for word in (
        "step",
        "dynamics",
        "contact",
        "clutter",
        "deformables",
        "schemes",
        "batch",
        "imitation",
        "spd",
        "characters",
        "sapwood bench",
    ):
        assert word in text
