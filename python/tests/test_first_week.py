"""The fourteen tasks of docs/first-week: every program runs, is short, and does what it says, in both engines."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sapwood as sw

FOLDER = Path(__file__).parents[2] / "docs/first-week"
PAGES = ("models", "robots", "pictures", "learning")
MAX_LINES = 25
ENGINES = ("sapwood", "mujoco")

for package in ("gymnasium", "mujoco", "scipy"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

Names = dict[str, Any]


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


(SETUP,) = blocks((FOLDER / "index.md").read_text())
NUMBERED = [
    section
    for page in PAGES
    for section in re.split(r"^## (?=\d+\. )", (FOLDER / f"{page}.md").read_text(), flags=re.MULTILINE)[1:]
]
SECTIONS = [section.partition(". ")[2] for section in NUMBERED]
TITLES = [section.splitlines()[0] for section in SECTIONS]

NEEDS = {
    ("sapwood", 12): "stable_baselines3",
    ("mujoco", 12): "stable_baselines3",
    ("sapwood", 9): "viser",
    ("sapwood", 10): "imageio_ffmpeg",
    ("mujoco", 10): "imageio_ffmpeg",
}
# Programs that are run in a process of their own, and what the test reads of them: MuJoCo picks its OpenGL when it is
# imported, and processes that are spawned import the program.
APART = {
    ("mujoco", 8): ("acceleration", "turning", "image"),
    ("mujoco", 10): (),
    ("sapwood", 14): (),
    ("mujoco", 14): (),
}
NO_OPENGL = ("OpenGL", "EGL", "GLFW", "gladLoadGL")


def run_apart(program: str, names: tuple[str, ...], folder: Path) -> Names:
    if names:
        program += f"\nimport json\nprint(json.dumps({{n: np.asarray(globals()[n]).tolist() for n in {names}}}))\n"
    (folder / "program.py").write_text(program)
    environment = {"MUJOCO_GL": "egl", **os.environ}
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0 and any(word in done.stderr.rpartition("Traceback")[2] for word in NO_OPENGL):
        pytest.skip("MuJoCo's renderer finds no OpenGL here")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    return {n: np.array(v) for n, v in printed.items()} if isinstance(printed, dict) else {"heights": printed}


def without_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo's viewer needs a display: all but its window."""
    import mujoco.viewer

    @contextlib.contextmanager
    def launch_passive(*_: Any) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(perturb=mujoco.MjvPerturb(), sync=lambda: None)

    monkeypatch.setattr(mujoco.viewer, "launch_passive", launch_passive)


def feet_carry_the_weight(names: Names) -> None:
    loads = [names["feet"][f"{leg}_foot"][2] for leg in ("FR", "FL", "RR", "RL")]
    assert min(loads) > 0.2 * names["weight"]
    assert sum(loads) == pytest.approx(names["weight"], rel=1e-4)


def the_imu_rests_and_the_camera_sees_the_ball(names: Names) -> None:
    assert names["acceleration"] == pytest.approx([0, 0, 9.81], abs=1e-3)
    assert names["turning"] == pytest.approx([0, 0, 0], abs=1e-6)
    image = np.asarray(names["image"]).astype(int)
    assert image.shape == (120, 160, 3)
    red = (image[..., 0] > 100) & (image[..., 1:].max(axis=-1) < 60)
    columns = np.nonzero(red)[1]
    assert len(columns) > 100
    assert columns.mean() == pytest.approx(79.5, abs=5)


def a_thousand_have_moved(names: Names) -> None:
    heights = names["heights"]
    assert heights.shape == (1000,)
    assert len(np.unique(heights)) == 1000
    # 30 ms of random controls from 1.4 m, in the air.
    assert heights == pytest.approx(1.4 - 0.5 * 9.81 * 0.03**2, abs=0.02)


def the_video_has_its_frames(_: Names) -> None:
    import imageio

    frames = [np.asarray(frame) for frame in imageio.mimread("fall.mp4")]
    assert [frame.shape for frame in frames] == 15 * [(240, 320, 3)]
    assert np.abs(frames[-1].astype(int) - frames[0]).max() > 50


def equal(name: str, value: Any, *, rel: float | None = None, off: float | None = None) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        assert names[name] == pytest.approx(value, rel=rel, abs=off)

    return check


def below(name: str, bound: float) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        assert np.all(np.asarray(names[name]) < bound), (name, names[name])

    return check


def above(name: str, bound: float) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        assert np.all(np.asarray(names[name]) > bound), (name, names[name])

    return check


def all_differ(name: str, number: int) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        assert len(set(names[name])) == number

    return check


# What each task comes to, of either engine's program. Both stand on the same figures: closed forms, or each other.
OUTCOMES: dict[int, list[Callable[[Names], None]]] = {
    1: [equal("time", 1.5, off=1e-9), above("height", 0.0), below("height", 0.6)],  # it falls
    2: [below("error", 1e-9)],
    3: [below("error", 1e-6)],
    4: [equal("travel", 0.129, rel=2e-3)],
    5: [below("error", 0.005)],
    6: [equal("height", 0.322, off=0.003)],
    7: [feet_carry_the_weight],
    8: [the_imu_rests_and_the_camera_sees_the_ball],
    9: [equal("moved", 0.5, off=0.05)],
    10: [the_video_has_its_frames],
    11: [a_thousand_have_moved],
    12: [above("steps", 25)],  # at random it is about 10
    13: [all_differ("slips", 3), above("slips", 1.2)],
    14: [all_differ("heights", 4)],
}


def test_there_are_fourteen_tasks_of_two_short_programs() -> None:
    assert [int(section.partition(".")[0]) for section in NUMBERED] == list(range(1, 15)) == sorted(OUTCOMES)
    for title, section in zip(TITLES, SECTIONS, strict=True):
        programs = blocks(section)
        assert len(programs) == 2, title
        assert [line for line in section.splitlines() if line in ("Sapwood:", "MuJoCo:")] == ["Sapwood:", "MuJoCo:"]
        for program in programs:
            assert len(program.splitlines()) <= MAX_LINES, title


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", range(1, 15), ids=[f"{i}-{title}" for i, title in enumerate(TITLES, 1)])
def test_a_task_of_the_first_week(engine: str, task: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = NEEDS.get((engine, task))
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if (engine, task) == ("mujoco", 9) and not os.environ.get("DISPLAY"):
        without_a_window(monkeypatch)
    program = blocks(SECTIONS[task - 1])[ENGINES.index(engine)]
    program = program.replace("samples = 20_000", "samples = 4096")
    monkeypatch.chdir(tmp_path)
    if (engine, task) in APART:
        names = run_apart(SETUP + program, APART[engine, task], tmp_path)
    else:
        names = {"__name__": "first_week"}
        exec(compile(SETUP + program, f"first-week, task {task}, {engine}", "exec"), names)
    for check in OUTCOMES[task]:
        check(names)
    if (engine, task) == ("sapwood", 14):
        exec(SETUP, names)
        for i, height in enumerate(names["heights"]):
            sim = sw.Simulation(sw.load(names["HUMANOID"]))
            sim.ctrl[:] = 0.1 * i
            sim.step(200)
            assert sim.q[2] == height  # the same bits in another process
