"""``python -m sapwood.viewer``, which ``sapwood view`` runs."""

from __future__ import annotations

import importlib.util
import itertools
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood.viewer.__main__ import RandomControls, load, main, parser, simulation

needs_viser = pytest.mark.skipif(importlib.util.find_spec("viser") is None, reason="viser is not installed")

ARM = """<mujoco><worldbody><body><joint name="x"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="x" ctrlrange="2 3" ctrllimited="true"/><motor joint="x"/></actuator>
<keyframe><key name="raised" qpos="1.5"/></keyframe></mujoco>"""
BALL = """<robot name="ball"><link name="ball"><inertial><mass value="2"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius=".1"/></geometry></collision></link></robot>"""


def test_the_options_of_run_load_and_step(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "ball.urdf").write_text(BALL)
    options = parser().parse_args(
        [str(tmp_path / "arm.xml"), "--dt=0.003", "--scheme=0.5,1,1", "--contact=sap", "--keyframe=raised"]
    )
    sim = simulation(load(options), options)
    assert (sim.timestep, sim.options["scheme"], sim.options["contact"]) == (0.003, (0.5, 1.0, 1.0), "sap")
    assert sim.q[0] == 1.5

    options = parser().parse_args([str(tmp_path / "ball.urdf"), "--floating-base", "--ground=-0.5"])
    sim = simulation(load(options), options)
    sim.step(1000)
    assert sim.q[2] == pytest.approx(-0.4, abs=1e-3)

    # A ground of the user replaces a character's.
    names = [len(load(parser().parse_args(["@dog", *more])).geom_names) for more in ([], ["--ground=-1"])]
    assert names[0] == names[1]
    assert load(parser().parse_args(["@tower-3"])).nv == 18


def test_what_cannot_be_shown_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    arm = str(tmp_path / "arm.xml")
    for arguments, words in [
        ([str(tmp_path / "amr.xml")], f"did you mean {arm}?"),
        (["@towr-3"], "did you mean"),
        ([arm, "--keyframe=rased"], "did you mean 'raised'?"),
        ([arm, "--scheme=simplectic"], 'did you mean "symplectic-euler"?'),
        ([arm, "--speed=-1"], "speed"),
    ]:
        assert main([*arguments, "--no-browser"]) == 2
        assert words in capsys.readouterr().err
    for arguments, words in [
        ([arm, "--dt=nan"], "expected a finite number"),
        ([arm, "--factorization-budget=-1"], "unlimited"),
    ]:
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert words in capsys.readouterr().err


def test_random_controls_stay_in_their_ranges_and_come_again() -> None:
    def rollout() -> np.ndarray:
        sim = sw.Simulation(sw.load(ARM), timestep=0.1)
        controls, seen = RandomControls(sim.model, seed=1), []
        for _ in range(20):
            controls(sim)
            seen.append(sim.ctrl.copy())
            sim.step()
        return np.array(seen)

    seen = rollout()
    assert np.array_equal(seen, rollout())
    # Two seconds are four values of each.
    assert [len(np.unique(column)) for column in seen.T] == [4, 4]
    assert ((seen[:, 0] >= 2) & (seen[:, 0] <= 3)).all()
    assert (np.abs(seen[:, 1]) <= 1).all()


@needs_viser
def test_ctrl_c_ends_it() -> None:
    command = [sys.executable, "-m", "sapwood.viewer", "@dog", "--no-browser", "--port", "8791", "--controls", "random"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's job in the background ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert child.stdout is not None
        # viser says where it listens, too.
        lines = list(itertools.takewhile(lambda line: line != "Ctrl-C ends it\n", child.stdout))
        address = lines[-1].removeprefix("sapwood: the viewer is at ").strip()
        with urllib.request.urlopen(address, timeout=20) as page:
            assert b"<html" in page.read()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=20)
        assert (child.returncode, errors) == (0, "")
    finally:
        child.kill()
