"""The package is typed: the stub says what the compiled module has, and a strict checker accepts the package."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood as sw

if importlib.util.find_spec("mypy") is None:
    pytest.skip("mypy is not installed", allow_module_level=True)

USE = """
import numpy as np
import sapwood as sw

model = sw.load("a.xml")
sim = sw.Simulation(model, timestep=0.01)
sim.q = [0.0, 1.0]
sim.ctrl[:] = 1.0
reveal_type(sim.q)
reveal_type(model.forward_kinematics(sim.q).positions)
reveal_type(sim.stats.iterations)
reveal_type(sw.sap.solve(np.eye(3), [0, 0, 0], np.eye(3), [1], [1], [1], [0]).impulses)
sw.Simulation(model, scheme="sideways")
"""


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)


def test_marker_is_installed() -> None:
    assert (Path(sw.__file__).parent / "py.typed").is_file()


def test_stub_matches_the_compiled_module() -> None:
    done = mypy(
        "mypy.stubtest",
        "--ignore-disjoint-bases",
        "sapwood._sapwood",
        "sapwood._results",
        "sapwood._errors",
        "sapwood._parameters",
        "sapwood.sap",
        "sapwood.spd",
        "sapwood.tracking",
        "sapwood.characters",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_users_get_types(tmp_path: Path) -> None:
    program = tmp_path / "use.py"
    program.write_text(USE)
    done = mypy("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program))
    array = "numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.floating[numpy._typing._64Bit]]]"
    revealed = [line.split('"')[1] for line in done.stdout.splitlines() if "Revealed type" in line]
    plain = [kind.replace("builtins.", "").replace("typing.", "") for kind in revealed]
    assert [kind for kind in plain if kind.startswith("numpy.ndarray")] == [plain[0]] * 3, (array, plain)
    assert "float" in plain[0]
    assert plain[2] == "int"
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, done.stdout
    assert "sideways" in errors[0]
