"""The strangers suite: starts within limits, what is counted of them, and models that are not installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sapwood.bench import strangers
from sapwood.bench.cases import packaged
from sapwood.bench.engines import Mujoco, Sapwood

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
<body pos="0 0 .5"><joint name="free" type="free"/><geom type="box" size=".1 .2 .3"/>
<body pos=".1 0 0"><joint axis="0 1 0" range="-30 60"/><geom size=".05"/>
<body pos=".1 0 0"><joint type="ball"/><geom size=".05" pos=".1 0 0"/></body></body></body></worldbody>
<actuator><motor joint="free" gear="1 0 0 0 0 0" ctrllimited="true" ctrlrange="2 3"/></actuator></mujoco>"""
PLAN = strangers.Plan(starts=3, steps=20, turns=2)


def write(folder: Path, text: str) -> Path:
    path = folder / "model.xml"
    path.write_text(text)
    return path


def test_starts_are_within_limits_and_differ(tmp_path: Path) -> None:
    engine = Mujoco(write(tmp_path, MODEL), None, None)
    starts = [strangers.start(engine, seed) for seed in range(30)]
    hinge = np.array([start.q[7] for start in starts])
    assert (-np.pi / 6 <= hinge).all()
    assert (hinge <= np.pi / 3).all()
    assert np.ptp(hinge) > 1.0
    # A free body turns where it is; quaternions stay units.
    assert all((start.q[:3] == [0, 0, 0.5]).all() for start in starts)
    for first in (3, 8):
        turned = np.array([start.q[first : first + 4] for start in starts])
        assert np.linalg.norm(turned, axis=1) == pytest.approx(np.ones(30), abs=1e-12)
        assert np.ptp(turned[:, 1]) > 0.5
    assert all(2 <= start.ctrl[0] <= 3 for start in starts)
    again = strangers.start(engine, 4)
    assert (again.q == starts[4].q).all()
    assert (again.v == starts[4].v).all()


def test_rows_of_both_engines(tmp_path: Path) -> None:
    rows = strangers.compare("small", write(tmp_path, MODEL), 0.004, PLAN)
    values = {(str(row["engine"]), str(row["metric"])): float(row["value"]) for row in rows}
    assert {str(row["case"]) for row in rows} == {"small 4 ms"}
    assert values["sapwood", "lost"] == values["mujoco", "lost"] == 0
    assert values["sapwood", "longest step"] >= values["sapwood", "mean step"] > 0
    assert values["mujoco", "mean step"] > 0


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    engine = Sapwood(write(tmp_path, MODEL))
    start = strangers.start(Mujoco(tmp_path / "model.xml", None, None), 1)
    assert strangers.go(engine, start, PLAN).lost == ""
    course = strangers.go(engine, start._replace(v=np.full_like(start.v, 1e300)), PLAN)
    assert course.lost
    assert len(course.times) < PLAN.steps


def test_files_decide_how_mujoco_steps(tmp_path: Path) -> None:
    path = write(tmp_path, '<mujoco><option cone="elliptic" solver="CG" integrator="RK4"/></mujoco>')
    option = Mujoco(path, None, None, None, None).model.opt
    assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert option.solver == mujoco.mjtSolver.mjSOL_CG
    assert option.integrator == mujoco.mjtIntegrator.mjINT_RK4


def test_packages_that_are_missing_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(strangers.CASES, "nobody", packaged("no_such_package", "model.xml"))
    assert strangers.run(["mujoco"], ["nobody"], 1, 1, 1) == []
    assert "left out: no_such_package is not installed: pip install no_such_package" in capsys.readouterr().out
