"""What the documentation says to type and the tests type otherwise, each with its reason, and what pages take as there.

A fence or a command that none of these tables names is typed as it stands.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

OPTIONAL = {"jax", "ray", "rerun", "stable_baselines3", "torch"}
"""Packages of extras that the tests do not install; without them their fences are left, with a warning."""

PAGES_ELSEWHERE = {
    "docs/gpu.md": "needs a GPU and PyTorch: test_gpu.py does the same on the host",
    "docs/controllers.md": "excerpts: test_pages finds them in python/examples, which test_controllers runs",
    **{
        f"docs/first-week/{page}.md": "test_first_week.py runs each of its programs by itself and reads the results"
        for page in ("index", "models", "robots", "pictures", "learning")
    },
}
"""Pages whose Python other tests run; their commands are typed."""

INSTEAD: dict[tuple[str, str], tuple[str, str]] = {
    ("README.md", "bench spd"): ("bench spd --quick", "minutes"),
    ("README.md", "--case double-pendulum"): (
        "--case double-pendulum --help",
        "a minute: test_bench_schemes.py runs it",
    ),
    ("README.md", "run @clutter-box-125"): ("run @clutter-box-125 --time 0.1", "seconds"),
    ("docs/gymnasium.md", "learn(1_000_000)"): ("learn(64)", "hours"),
    ("docs/rendering.md", "range(150)"): ("range(10)", "seconds"),
    ("docs/see-it.md", "sw.view(sim, block=True)"): ("sw.view(sim).close()", "returns after Ctrl-C"),
    ("docs/see-it.md", "while viewer.is_open:"): ("for _ in range(3):", "goes on until the reader closes it"),
    ("docs/soft-bodies.md", "--time 3"): ("--time 0.1", "seconds"),
    ("docs/soft-bodies.md", "sim.step(600)"): ("sim.step(20)", "seconds; test_soft_bodies.py lifts the ball"),
}
"""(page, what it says): (what is typed in its place, why)."""


def installs(command: str) -> None:
    """A command of pip: the extras that it names are those of the package."""
    import sapwood

    declared = re.findall(r'^(\w+) = \["?|^(\w+) = \[$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    names = {a or b for a, b in declared}
    for word in shlex.split(command)[2:]:
        package, extras = re.fullmatch(r"([\w./-]+)(?:\[([\w,]+)\])?", word).groups()  # type: ignore[union-attr]
        if extras is not None:
            assert package in (".", "./sapwood", sapwood.__name__), command
            assert set(extras.split(",")) <= names, command


def is_task(command: str) -> None:
    """A task of cargo xtask."""
    task = command.split()[2]
    assert re.search(rf"^cargo xtask {task} ", (ROOT / "xtask/src/main.rs").read_text(), re.MULTILINE), command


def is_package(command: str) -> None:
    """A command of cargo: the package or the binary that it names is there."""
    words = command.split()
    for option, place in [("-p", 'name = "{}"'), ("--bin", 'name = "{}"')]:
        if option in words:
            name = words[words.index(option) + 1]
            paths = [path for folder in ("crates", "tools") for path in ROOT.glob(f"{folder}/*/Cargo.toml")]
            manifests = [path.read_text() for path in paths]
            assert any(place.format(name) in text for text in manifests), command


def is_script(command: str) -> None:
    """A script of npm."""
    name = command.split()[-1]
    assert name in json.loads((ROOT / "web/package.json").read_text())["scripts"], command


def trains(command: str) -> None:
    """A training: its arguments are read, and where torch is installed it runs for seconds."""
    from sapwood.train.__main__ import parser

    given = parser().parse_args(shlex.split(command)[3:])
    for module in ("torch", *(["ray"] if given.workers else [])):
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(module, name=module)
    short = "--num-envs 16 --num-steps 8 --episodes 1 "
    short += "--samples 256 --judgements 1 --spd maba --seeds 0" if given.algorithm == "compare" else "--seconds 2"
    done = subprocess.run(
        ["bash", "-c", f"{command} {short}"], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"


def until_ctrl_c(command: str) -> None:
    """A command that goes on until Ctrl-C, which it gets when it has printed its address."""
    words = ["bash", "-c", f"exec {command}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        seen = [process.stdout.readline()]
        while seen[-1] and "http://" not in seen[-1]:
            seen.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        seen.append(process.communicate(timeout=60)[0])
    assert process.returncode in (0, 130), "".join(seen)
    assert any("http://" in line for line in seen), seen


def nothing(command: str) -> None:
    """Not typed."""


COMMANDS: list[tuple[str, Callable[[str], None], str]] = [
    (r"pip install ", installs, "downloads; the wheel is tried by cargo xtask wheel"),
    (r"git clone REPOSITORY sapwood$", nothing, "the reader's address"),
    (r"cargo xtask ", is_task, "a part of what runs this test, or minutes"),
    (r"cargo (build|test|clippy|run) ", is_package, "builds for minutes; a part of what runs this test"),
    (r"cd web && npm run ", is_script, "serves until Ctrl-C"),
    (r"(\.venv/bin/)?python python/tests/", nothing, "the tests' own programs"),
    (r"python -m sapwood\.train ", trains, "minutes to hours"),
    (r"sapwood view ", until_ctrl_c, "goes on until Ctrl-C"),
]
"""Commands that begin like this are not typed as they stand: what is done in their place, and why."""

URDF = """<robot name="ball"><link name="ball"><inertial><mass value="2"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius=".1"/></geometry></collision></link></robot>"""

ROBOT = """<mujoco model="robot"><worldbody><geom type="plane" size="0 0 1"/>
  <body name="arm" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
    <geom name="upper" type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
    <body name="hand" pos=".3 0 0"><joint name="elbow" axis="0 1 0" range="-120 120"/>
      <geom name="foot" size=".05"/><site name="imu"/></body></body>
</worldbody><actuator><motor name="elbow" joint="elbow"/></actuator>
<sensor><accelerometer name="imu" site="imu"/></sensor></mujoco>"""

SPRING = """<mujoco>
  <worldbody>
    <body name="arm">
      <joint type="spring"/><geom size=".1"/>
    </body>
  </worldbody>
</mujoco>"""

FILES: Mapping[str, Mapping[str, str]] = {
    "README.md": {"robot.urdf": URDF},
    "docs/command.md": {"arm.xml": SPRING, "robot.urdf": URDF},
    "docs/modelling.md": {"robot.xml": ROBOT},
    "docs/sensors.md": {"robot.xml": ROBOT},
    "docs/time-stepping.md": {"robot.xml": ROBOT},
}
"""Files of the reader that a page begins with."""


def prepare(folder: Path, files: Mapping[str, str]) -> None:
    """Makes an empty folder what a page takes it for: files, programs on the path, ``python/`` of the repository."""
    for name, content in files.items():
        (folder / name).write_text(content)
    (folder / "python").symlink_to(ROOT / "python")
    programs = folder / ".programs"
    programs.mkdir()
    for name, words in [("sapwood", "-m sapwood "), ("python", ""), ("python3", "")]:
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n')
        (programs / name).chmod(0o755)
    import sapwood

    environment = {"PATH": os.pathsep.join([str(programs), os.environ["PATH"]])}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = str(Path(sapwood.__file__).parents[1])
    os.environ.update(environment)
