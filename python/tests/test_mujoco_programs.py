"""Programs of MuJoCo that nobody edits: Gymnasium's environments, scripts; what is said where something is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")
_carry = pytest.importorskip("sapwood.mujoco._carry")

pytestmark = pytest.mark.usefixtures("mujoco_as_before")

ENVIRONMENTS = (
    *("Ant", "HalfCheetah", "Hopper", "Walker2d", "Humanoid", "HumanoidStandup", "Swimmer", "Reacher", "Pusher"),
    *("InvertedPendulum", "InvertedDoublePendulum"),
)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_of_gymnasium_run(name: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    environment = gymnasium.make(f"{name}-v5")
    environment.action_space.seed(1)
    runs = []
    with guest.physics():
        for _ in range(2):
            environment.reset(seed=1)
            actions = np.random.default_rng(1).uniform(-1, 1, (20, *environment.action_space.shape))
            steps = [environment.step(action) for action in actions * environment.action_space.high.max()]
            runs.append(np.array([observation for observation, *_ in steps]))
    assert np.isfinite(runs[0]).all()
    # What an episode remembers of the one before has no part in it.
    np.testing.assert_array_equal(runs[0], runs[1])
    assert environment.unwrapped.data.time == pytest.approx(20 * environment.unwrapped.dt)


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_a_program_that_nobody_edits(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys, mujoco\nprint(mujoco.mj_step.__module__, sys.argv[1:], __name__)\n")
    done = run("-m", "sapwood.mujoco", str(program), "a")
    assert done.stdout.split(maxsplit=1) == ["sapwood.mujoco._install", "['a'] __main__\n"], done.stderr
    assert run("-m", "sapwood.mujoco").returncode == 2


def test_a_variable_of_the_environment(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "wheel-data" / "platlib"
    if not folder.is_dir():
        pytest.skip("not in the repository")
    program = tmp_path / "program.py"
    words = f"import site; site.addsitedir({str(folder)!r})\n"
    words += "import sys; assert 'mujoco' not in sys.modules and 'numpy' not in sys.modules\n"
    program.write_text(words + "import mujoco; print(mujoco.mj_step.__module__)\n")
    for value, module in (("1", "sapwood.mujoco._install"), ("0", "mujoco._functions"), ("", "mujoco._functions")):
        done = run(str(program), SAPWOOD_MUJOCO=value)
        assert done.stdout == f"{module}\n", done.stderr


def test_without_the_package(tmp_path: Path) -> None:
    (tmp_path / "mujoco.py").write_text("raise ModuleNotFoundError('none', name='mujoco')\n")
    done = run(
        "-c",
        "import sapwood as sw; sw.Model.from_mujoco(1)",
        PYTHONPATH=f"{tmp_path}:{Path(sw.__file__).parent.parent}",
    )
    assert "pip install 'sapwood[mujoco]'" in done.stderr
    (tmp_path / "mujoco.py").write_text("__version__ = '3.1.0'\n")
    done = run("-c", "import sapwood.mujoco", PYTHONPATH=f"{tmp_path}:{Path(sw.__file__).parent.parent}")
    assert "3.1.0" in done.stderr


def test_what_is_refused_is_refused_again() -> None:
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint stiffness="1"/><geom size=".1"/></body></worldbody></mujoco>'
    )
    d = mujoco.MjData(m)
    guest.step(m, d)
    m.jnt_stiffness[0] = -5
    for _ in range(2):
        with pytest.raises(sw.ModelError, match="stiffness: -5"):
            guest.step(m, d)
    m.jnt_stiffness[0] = 1
    m.opt.timestep = -1
    for _ in range(2):
        with pytest.raises(ValueError, match="timestep"):
            guest.step(m, d)
    m.opt.timestep = 0.002
    guest.step(m, d)
    assert d.time == pytest.approx(0.004)


def test_threads_make_a_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    carry = _carry.carry

    def counted(m: Any, **options: bool) -> Any:
        made.append(m)
        return carry(m, **options)

    monkeypatch.setattr(_carry, "carry", counted)
    bodies = '<body><freejoint/><geom size=".1" contype="0" conaffinity="0"/></body>' * 40
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    worlds = [mujoco.MjData(m) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda d: guest.step(m, d), worlds))
    assert len(made) == 1
