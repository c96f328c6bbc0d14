"""The models suite: files that are no models are passed over, runs that an engine loses are named."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sapwood.bench import models
from sapwood.bench.cases import folder_of

pytest.importorskip("mujoco")

ARM = """<mujoco><worldbody><body name="arm"><joint name="j"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body></worldbody>
<actuator><motor joint="j" ctrlrange="-1 1" gear="{gear}"/></actuator></mujoco>"""


def test_rows_and_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arm.xml").write_text(ARM.format(gear=1))
    (tmp_path / "wild.xml").write_text(ARM.format(gear=1e9))
    (tmp_path / "part.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    (tmp_path / "still.xml").write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    rows = models.run(["mujoco"], [], 1, folders=str(tmp_path), steps=100, limit=10.0)
    times = {(str(row["case"]).split("/")[-1], row["engine"]): float(row["value"]) for row in rows}
    assert sorted(times) == [(file, engine) for file in ("arm.xml", "wild.xml") for engine in ("mujoco", "sapwood")]
    assert all(0 < time < 1e4 for time in times.values())
    said = capsys.readouterr().out
    assert "2 files, 1 lost by an engine and not counted" in said
    (wild,) = [line for line in said.splitlines() if "wild.xml" in line]
    assert wild.endswith("sapwood,mujoco-pyramidal")


def test_missing_packages_are_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.CASES, "no_such_package", partial(folder_of, "no_such_package"))
    assert models.run(["mujoco"], ["no_such_package"], 1, folders="", steps=100, limit=1.0) == []
    assert "no_such_package left out" in capsys.readouterr().out
