"""The contact suite of the benchmarks: its closed forms, its engines, and what our laws make of it."""

from __future__ import annotations

import os
import shutil
from functools import partial

import numpy as np
import pytest

import sapwood as sw
from sapwood.bench import contact
from sapwood.bench.engines import Engine, Mujoco, Sapwood
from sapwood.bench.friction_laws import LAWS, default

mujoco = pytest.importorskip("mujoco")

TEXT = """<mujoco model="two"><worldbody>
  <geom type="plane" size="0 0 1"/>
  <body name="a" pos="0 0 1"><freejoint name="a"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
  <body name="b" pos="1 0 1"><freejoint name="b"/><geom type="box" size="0.1 0.2 0.3" mass="1"/></body>
</worldbody></mujoco>"""


def engines(text: str, dt: float) -> list[Engine]:
    """All that are installed."""
    found: list[Engine] = [Sapwood(text, timestep=dt), Mujoco(text, "elliptic", timestep=dt)]
    try:
        from sapwood.bench.drake import Drake

        found.append(Drake(text, "sap", timestep=dt))
    except ImportError:
        pass
    return found


def test_engines_have_the_same_coordinates_and_steps() -> None:
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=14), rng.normal(size=12)
    for k in (3, 10):
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    q[[2, 9]] = 3
    ends = []
    for engine in engines(TEXT, 1e-4):
        engine.place(q, v)
        np.testing.assert_allclose(engine.q, q, atol=1e-15)
        np.testing.assert_allclose(engine.v, v, atol=1e-14)
        before = engine.state()
        engine.step(7)
        engine.step(3)
        end = np.concatenate([engine.q, engine.v])
        engine.restore(before)
        engine.step(10)
        np.testing.assert_array_equal(np.concatenate([engine.q, engine.v]), end)
        ends.append(end)
    for end in ends[1:]:
        # Free flight by different formulas of first order: they differ by dt² n times the rates.
        np.testing.assert_allclose(end, ends[0], atol=1e-5)


def test_stopping_distance() -> None:
    continuous = contact.SPEED**2 / (2 * contact.FRICTION * contact.GRAVITY)
    for dt in (1e-3, 1e-5):
        assert contact.stopping_distance(dt) == pytest.approx(continuous - contact.SPEED * dt / 2, abs=2 * dt**2)


@pytest.mark.parametrize("shape", ["cube", "ball"])
def test_scenes_rest_on_the_plane(shape: str) -> None:
    sim = sw.Simulation(sw.load(contact.scene(degrees=10, shape=shape)))
    sim.step()
    assert sim.stats.active_contacts == (4 if shape == "cube" else 1)
    assert sim.stats.penetration < 1e-12
    assert contact.lowest_corner(sw.load(contact.scene()).keyframe().q) == pytest.approx(0, abs=1e-15)
    assert sim.model.mass == pytest.approx(1)


def test_the_convex_cone_hops_and_is_right_otherwise() -> None:
    rows = {(row["engine"], row["metric"]): row["value"] for row in contact.run([], ["10ms"], 1)}
    values = [rows["sapwood sap", measure.metric] for measure in contact.MEASURES]
    above, below, stop, hop, ball, cube, creep = map(float, values)
    # dt μ v is 10 mm, and the cube flies on from there.
    assert hop > 5e-3
    assert max(abs(above), abs(below)) < 1e-6
    assert max(abs(ball - 1), abs(cube - 1)) < 1e-3
    assert creep < 1e-6
    assert abs(stop) < 1e-3


@pytest.mark.parametrize("case", contact.CASES)
def test_coulomb_has_everything_right_at_once(case: str) -> None:
    rows = {(row["engine"], row["metric"]): row["value"] for row in contact.run([], [case], 1)}
    for engine in ("sapwood coulomb", "sapwood coulomb f64 lanes"):
        above, below, stop, hop, ball, cube, creep = (
            abs(float(rows[engine, measure.metric])) for measure in contact.MEASURES
        )
        assert max(above, below) < 1e-6
        # The law is met to 1e-4 of the momentum (``Stats.friction_residual``): a step may leave as much of the speed.
        assert stop < 1e-4 * contact.SPEED * contact.SPEED / (contact.FRICTION * contact.GRAVITY)
        assert hop < 10e-6
        assert max(abs(ball - 1), abs(cube - 1)) < 1e-3
        assert creep < 1e-6


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "c++")) is None, reason="no C++ compiler for the kernels")
@pytest.mark.parametrize("law", LAWS)
def test_kernels_have_the_laws_of_lanes(law: str) -> None:
    for precision, round_off in [("f64", 1e-9), ("f32", 1e-4)]:
        lanes, kernels = (partial(contact.in_batch, 0.01, law, precision, device=device) for device in ("cpu", "host"))
        for measure in contact.MEASURES:
            expected = measure.run(lanes)
            assert measure.run(kernels) == pytest.approx(expected, rel=round_off, abs=round_off), measure.metric


def test_the_default_law_is_one_of_ours() -> None:
    assert default() in LAWS


def test_missing_peers_are_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sapwood.bench.cases.util.find_spec", lambda _: None)
    assert all(name.startswith("sapwood") for name in contact.makers(["mujoco", "drake"], 0.01))
    output = capsys.readouterr().out
    assert "mujoco left out: pip install mujoco" in output
    assert "drake left out: pip install drake" in output
