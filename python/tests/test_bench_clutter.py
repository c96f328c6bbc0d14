"""The clutter suite of the benchmarks: its measures, its table, the scenes as Rapier gets them."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.bench import clutter, rapier
from sapwood.bench.clutter_cases import CASES, Case, scene
from sapwood.bench.engines import Mujoco

pytest.importorskip("mujoco")

SMALL = Case(scene("clutter-sphere-8"), settle=0.2, bodies=8)


def test_table_has_a_row_for_every_metric() -> None:
    rows = clutter.compare("small", SMALL, ["mujoco"], 2)
    assert all(set(row) == {"suite", "case", "engine", "metric", "value", "unit"} for row in rows)
    values = {(row["engine"], row["metric"]): float(row["value"]) for row in rows}
    assert {engine for engine, _ in values} == {"sapwood", "mujoco-elliptic"}
    for engine in ("sapwood", "mujoco-elliptic"):
        assert values[engine, "time per body"] == pytest.approx(values[engine, "time"] / 8)
        assert values[engine, "time"] >= values[engine, "least time"] > 0
        assert values[engine, "bodies lost"] == 0
        assert values[engine, "contacts"] > 0
    assert values["sapwood", "time over sapwood's"] == 1
    assert values["sapwood", "residual"] <= 1e-6
    assert values["sapwood", "penetration"] < 1e-4 < values["mujoco-elliptic", "penetration"]


def test_ruler_measures_poses() -> None:
    ruler, q = clutter.Ruler(sw.scenes.mjcf("clutter-sphere-8")), sw.scenes.clutter("sphere", 8).keyframe().q
    assert ruler.penetration(q) == 0
    assert ruler.lost(q) == 0
    q[2] = 0.048
    assert ruler.penetration(q) == pytest.approx(0.002, abs=1e-12)
    q[2], q[7] = -0.1, 5.0
    assert ruler.lost(q) == 2


def test_residual_of_mujoco_is_that_of_its_equations() -> None:
    exact = Mujoco(sw.scenes.mjcf("clutter-box-8"), "elliptic", tolerance=1e-15)
    rough = Mujoco(sw.scenes.mjcf("clutter-box-8"), "elliptic", tolerance=1e-2)
    residuals = []
    for engine in (exact, rough):
        engine.step(100)
        residuals.append(engine.sample().residual)
    assert residuals[0] is not None
    assert residuals[1] is not None
    assert residuals[0] < 1e-8 < 1e-5 < residuals[1]
    assert Mujoco(sw.scenes.mjcf("arm7"), "elliptic", integrator="implicitfast").sample().residual is None


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "rapier" in case.peers])
def test_rapier_gets_the_same_scene(name: str) -> None:
    text = str(CASES[name].source())
    ours, theirs = sw.load(text), rapier.read(text)
    assert theirs["gravity"] == ours.gravity.tolist()
    moving = [body for body in theirs["bodies"] if not body["fixed"]]
    assert sum(body["mass"] for body in moving) == pytest.approx(ours.mass)
    places = np.array([[*body["pos"], *body["quat"]] for body in moving])
    np.testing.assert_allclose(places.ravel(), ours.keyframe().q, atol=1e-9)
    assert len(theirs["bodies"]) == ours.ngeom
    assert {body["friction"] for body in theirs["bodies"]} == {1.0 if "clutter" not in ours.name else 0.5}


def test_rapier_is_refused_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match="none below another"):
        rapier.read(sw.scenes.mjcf("arm7"))
    with pytest.raises(ValueError, match="expected a freejoint"):
        rapier.read('<mujoco><worldbody><body name="a"><geom size="1" mass="1"/></body></worldbody></mujoco>')


def test_missing_cargo_is_noted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sapwood.bench.rapier.shutil.which", lambda _: None)
    rapier.build.cache_clear()
    names = [runner.name for runner in clutter.settled("small", SMALL._replace(peers=("rapier",)), ["rapier"])]
    assert names == ["sapwood"]
    assert "rapier left out: there is no cargo" in capsys.readouterr().out


def test_a_failing_law_is_noted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise sw.SimulationError("not converged", time=0.1, step=20)

    monkeypatch.setattr(clutter, "engines", lambda *_: [("sapwood odd", fail)])
    assert clutter.settled("small", SMALL, []) == []
    assert "sapwood odd left out: not converged" in capsys.readouterr().out
