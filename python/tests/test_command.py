"""The command that the package brings along: words, exit codes and signals are the binary's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-m", "sapwood"]


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False, timeout=60, **options)


def test_prints_and_fails_as_the_binary_does() -> None:
    found = run("info", "@dog", "--json")
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["counts"]["bodies"] == 23
    wrong = run("rnu")
    assert wrong.returncode == 2
    assert "'run'" in wrong.stderr
    assert "Usage: sapwood <COMMAND>" in wrong.stderr
    script = run("completions", "bash")
    assert script.returncode == 0
    # Not the interpreter: the command is what shells ask.
    assert '\n        "sapwood" -- ' in script.stdout


def test_options_have_the_names_of_python_too() -> None:
    for time, timestep in (("--time", "--dt"), ("--duration", "--timestep"), ("--seconds", "--dt")):
        found = run("run", "@tower-2", time, "0.1", timestep, "0.01", "--json")
        assert (found.returncode, found.stderr) == (0, "")
        assert json.loads(found.stdout)["steps"] == 10
    assert "a similar argument exists: '--timestep'" in run("run", "@tower-2", "--timstep", "0.01").stderr


def test_completions_are_whole() -> None:
    """The last one ends without a new line."""
    for word, meant in (("--tim", ["--time", "--timestep"]), ("--gro", ["--ground"])):
        # As the script for bash asks.
        asks = {"SAPWOOD_COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": "2", "_CLAP_IFS": " "}
        found = run("--", "sapwood", "run", word, env={**os.environ, **asks})
        assert (found.returncode, found.stdout.split(" ")) == (0, meant)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    words = ["run", "@tower-5", "--time", "1e6", "--out", str(tmp_path)]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert json.loads((tmp_path / "summary.json").read_text())["steps"] > 0, output


@pytest.mark.skipif(os.name == "nt", reason="shells of POSIX")
def test_a_closed_standard_output_is_an_error() -> None:
    closed = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "info", "@dog"], capture_output=True, text=True, check=False
    )
    assert closed.returncode == 2
    assert "standard output cannot be written: it is closed" in closed.stderr
    # A reader that goes away has what it wanted.
    script = '"$@" | true'
    assert subprocess.run(["sh", "-c", script, "sh", *COMMAND, "info", "@dog"], check=False).returncode == 0


def test_a_full_device_is_refused_before_a_benchmark() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("Linux has it")
    for words in (["bench", "spd"], ["bench", "step"]):
        found = run(*words, "--json", "/dev/full")
        assert found.returncode == 2, found
        assert "/dev/full: cannot be written" in found.stderr
        assert found.stdout == ""
