"""Markers, and colours of geoms while a simulation runs."""

from __future__ import annotations

import base64
import copy
import gzip
import importlib.util
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sapwood as sw

SCENE = """<mujoco><worldbody><camera name="front" pos="0 -3 .5" xyaxes="1 0 0 0 0 1"/>
  <body name="ball" pos="0 0 .5"><freejoint/><geom name="ball" size=".3" rgba="0 0 1 1"/>
    <site name="top" pos="0 0 .45"/></body></worldbody></mujoco>"""
VIEW: dict[str, Any] = {"width": 121, "height": 121, "camera": "front", "shadows": False, "antialias": False}


def colour_at(picture: np.ndarray, x: float, z: float) -> np.ndarray:
    """The pixel of a point of the plane y = 0, seen from 3 m with the default 45 degrees."""
    per_metre = 60.5 / (3 * np.tan(np.pi / 8))
    pixel: np.ndarray = picture[round(60 - per_metre * (z - 0.5)), round(60 + per_metre * x)].astype(int)
    return pixel


def is_red(pixel: np.ndarray) -> bool:
    return bool(pixel[0] > 2 * max(pixel[1], pixel[2]))


@pytest.fixture
def sim() -> sw.Simulation:
    return sw.Simulation(sw.load(SCENE))


def test_markers_are_seen_where_they_are(sim: sw.Simulation) -> None:
    empty = sim.render(**VIEW)
    sim.markers.sphere([(-0.8, 0, 0.5), (0.8, 0, 0.5)], 0.1, color=(1, 0, 0))
    sim.markers.line([(-0.8, 0, 0), (0.8, 0, 0)], 0.05, color=(1, 0, 0, 1))
    sim.markers.arrow((0, 0, 1), (0.8, 0, 1), 0.03, color=(1, 0, 0))
    picture = sim.render(**VIEW)
    for x, z in [(-0.8, 0.5), (0.8, 0.5), (-0.5, 0), (0.5, 0), (0.3, 1)]:
        assert is_red(colour_at(picture, x, z)), (x, z)
    # The head of the arrow is wider than its shaft, and narrows to its tip.
    assert is_red(colour_at(picture, 0.64, 1.05))
    assert not is_red(colour_at(picture, 0.3, 1.06))
    assert not is_red(colour_at(picture, 0.79, 1.05))
    assert not is_red(colour_at(picture, 0, 0.5))
    assert len(sim.markers) == 2 + 1 + 6
    renderer = sw.Renderer(sim.model, 121, 121)
    np.testing.assert_array_equal(renderer.render(sim, "front", shadows=False, antialias=False), picture)
    # Geometry is the model's.
    depth = sim.render(kind="depth", width=121, height=121, camera="front")
    assert np.isinf(depth[60, 5])
    assert len(copy.copy(sim).markers) == 0
    sim.markers.clear()
    np.testing.assert_array_equal(sim.render(**VIEW), empty)


def test_frames_and_sites(sim: sw.Simulation) -> None:
    sim.markers.frame((0.8, 0, 0), length=0.4)
    picture = sim.render(**VIEW)
    assert is_red(colour_at(picture, 1.0, 0))
    blue = colour_at(picture, 0.8, 0.2)
    assert blue[2] > 1.5 * blue[0]
    turned = sim.render(frames=True, sites=True, **VIEW)
    top = colour_at(turned, 0, 0.95)
    assert top[0] > 1.3 * top[1]
    assert top[2] > 1.3 * top[1]
    with pytest.raises(ValueError, match="contacts, sites, frames: expected a simulation"):
        sw.Renderer(sim.model, 32, 32).render(sim.q, frames=True)


def test_geoms_change_their_colour_and_hide(sim: sw.Simulation) -> None:
    before = sim.render(**VIEW)
    ball = sim.geom("ball")
    assert ball.color == (0, 0, 1, 1)
    ball.color = (1, 0, 0)
    assert ball.color == (1, 0, 0, 1)
    assert is_red(colour_at(sim.render(**VIEW), 0, 0.5))
    assert sim.geom("ball").color == (1, 0, 0, 1)
    # Another simulation of the model has the model's.
    np.testing.assert_array_equal(sw.Simulation(sim.model).render(**VIEW), before)
    ball.color = (0, 0, 0, 0)
    assert (sim.render(kind="segmentation", width=32, height=32, camera="front") == -1).all()


def test_texts_are_upright_over_all_else_and_as_high_as_they_should_be(sim: sw.Simulation) -> None:
    view = {**VIEW, "width": 400, "height": 400}
    empty = sim.render(**view).astype(int)
    # In the middle of the ball: nothing hides it. Its bars are as far apart as capital letters are high.
    sim.markers.text((0, 0, 0.5), "E", 0.4, color=(1, 0, 0))
    picture = sim.render(**view)
    red = (picture[..., 0] > 200) & (picture[..., 1] < 60)
    rows, columns = np.nonzero(red)
    per_metre = 200 / (3 * np.tan(np.pi / 8))
    assert rows.max() - rows.min() + 1 == pytest.approx(0.4 * per_metre, abs=1.5)
    assert (rows.max() + rows.min()) / 2 == pytest.approx(199.5, abs=1)
    assert (columns.max() + columns.min()) / 2 == pytest.approx(199.5, abs=3)
    # Three bars that reach to the right of the stem.
    bars = red[:, columns.max() - 4]
    assert (np.diff(bars.astype(int)) == 1).sum() == 3
    # Only what is near the text has changed.
    changed = np.abs(picture - empty).sum(axis=2) > 0
    assert not changed[: rows.min() - 10].any()
    assert not changed[:, : columns.min() - 10].any()
    assert len(sim.markers) == 1
    # Another line begins lower; behind the camera and outside there is none.
    sim.markers.clear()
    for place in [(0, -4, 0.5), (100, 0, 0.5), (0, 1e9, 0.5)]:
        sim.markers.text(place, "E\nE²\tΩ\u4e2d", 0.4, color=(1, 0, 0))
    np.testing.assert_array_equal(sim.render(**view), empty)
    sim.markers.text((0, 0, 0.5), "E\nE", 0.4, color=(1, 0, 0))
    two = sim.render(**view)
    rows = np.nonzero((two[..., 0] > 200) & (two[..., 1] < 60))[0]
    assert rows.max() - rows.min() + 1 == pytest.approx(2.6 * 0.4 * per_metre, abs=1.5)


def test_trails_grow_and_keep_their_last_places(sim: sw.Simulation) -> None:
    sim.v[0] = 2.0
    sim.markers.trail("ball", places=6, radius=1e-3, color=(1, 0, 0))
    sim.markers.trail(site="top", places=1000, radius=1e-3)
    places = [sim.body("ball").position.copy()]
    for n in (1, 3, 1, 4, 1):
        sim.step(n)
        places.append(sim.body("ball").position.copy())
    _, (ball, top), _, _ = sim._drawing()
    assert len(ball[0]) == 6
    assert len(top[0]) == 11
    np.testing.assert_array_equal(ball[0][-1], places[-1])
    np.testing.assert_array_equal(ball[0][-2], places[-2])
    np.testing.assert_array_equal(top[0][0], (0, 0, 0.95))
    np.testing.assert_array_equal(top[0][-1], sim.site("top").position)
    assert len(sim.markers) == 2
    # What stays within its radius makes it no longer; another state makes it anew.
    sim.markers.clear()
    sim.markers.trail("ball", radius=10)
    sim.step(20)
    assert len(sim._drawing()[1][0][0]) == 2
    sim.reset()
    sim.step()
    assert len(sim._drawing()[1][0][0]) == 1
    # They are the same whatever makes the steps.
    sim.reset()
    sim.markers.clear()
    sim.markers.trail("ball", radius=1e-6)
    sim.advance_to(0.02)
    assert len(sim._drawing()[1][0][0]) == 1 + round(0.02 / sim.timestep)


def test_trails_are_seen(sim: sw.Simulation) -> None:
    empty = sim.render(**VIEW)
    sim.v[0] = 4.0
    sim.markers.trail("ball", radius=0.03, color=(1, 0, 0))
    sim.geom("ball").color = (0, 0, 0, 0)
    sim.advance_to(0.1)
    picture = sim.render(**VIEW)
    assert is_red(colour_at(picture, 0.1, 0.5))
    assert not is_red(colour_at(empty, 0.1, 0.5))


def replay_of(sim: sw.Simulation, replay: sw.Replay) -> dict[str, Any]:
    try:
        html = replay.html()
    except RuntimeError as error:
        pytest.skip(str(error))
    data: dict[str, Any] = json.loads(html.split('type="application/json">')[1].split("</script>")[0])
    if "markers" in data:
        packed = gzip.decompress(base64.b64decode(data["markers"]))
        data["markers"] = np.frombuffer(packed, "<f4").reshape(-1, 13)
    return data


def test_replays_show_what_was_drawn_at_each_frame(sim: sw.Simulation) -> None:
    replay = sim.record(fps=1 / sim.timestep)
    sim.markers.text((0, 0, 1), "start", 0.1)
    sim.markers.sphere((0, 0, 2), 0.1)
    sim.step()
    sim.markers.clear()
    sim.markers.sphere((0, 0, 2), 0.1)
    sim.markers.line([(0, 0, 0), (1, 0, 0)], 0.02, color=(0, 1, 0, 0.5))
    sim.step(2)
    sim.markers.clear()
    sim.markers.trail("ball", radius=1e-9, places=3)
    sim.step(4)
    sim.markers.clear()
    sim.markers.text((0, 0, 1), "end", 0.1)
    data = replay_of(sim, replay)
    assert data["frames"] == 8
    assert [(label["text"], label["frames"]) for label in data["labels"]] == [("start", [0, 1]), ("end", [7, 8])]
    ball, line, *trail = data["markers"]
    np.testing.assert_array_equal(ball, np.array([0, 3, 0, 0, 2, 0, 0, 2, 0.1, 0.95, 0.55, 0.1, 1], np.float32))
    np.testing.assert_array_equal(line, np.array([1, 3, 0, 0, 0, 1, 0, 0, 0.02, 0, 1, 0, 0.5], np.float32))
    # A piece for each step, two of three places at a time; after the last step the trail is gone.
    assert [list(piece[:2]) for piece in trail] == [[4, 6], [5, 7], [6, 7]]
    np.testing.assert_array_equal(trail[0][5:8], trail[1][2:5])
    # A motion that nobody drew into has neither.
    plain = sw.Simulation(sim.model)
    recording = plain.record()
    plain.step(5)
    assert not {"markers", "labels"} & set(replay_of(plain, recording))


def test_what_cannot_be_drawn_says_so(sim: sw.Simulation) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: sim.markers.sphere((0, 0), 0.1), r"points has shape .*expected \(any, 3\)"),
        (lambda: sim.markers.sphere((0, 0, np.nan)), "points"),
        (lambda: sim.markers.sphere((0, 0, 0), -1), "radius is -1: expected a finite number above 0"),
        (lambda: sim.markers.line([(0, 0, 0), (1, 0, 0)], color=(2, 0, 0)), "color is .*expected 3 or 4 numbers"),
        (lambda: sim.markers.frame((0, 0, 0), (1, 0, 0, 0)), r"rotation has shape \(4,\)"),
        (lambda: sim.markers.sphere(np.zeros((100_001, 3))), "are too many"),
        (lambda: sim.markers.text((0, 0), "a"), "position has shape"),
        (lambda: sim.markers.text((0, 0, 0), "a", 0), "height is 0: expected"),
        (lambda: sim.markers.text((0, 0, 0), 10_001 * "a"), "text has 10001 letters"),
        (lambda: sim.markers.text((0, 0, 0), 5), "text"),  # type: ignore[arg-type]
        (lambda: sim.markers.trail(), "expected either a body or a site"),
        (lambda: sim.markers.trail("ball", site="top"), "expected either a body or a site"),
        (lambda: sim.markers.trail("balk"), "ball"),
        (lambda: sim.markers.trail("ball", places=1), "places is 1: expected a whole number from 2"),
        (lambda: setattr(sim.geom(0), "color", "red"), "color"),
    ]
    for call, words in cases:
        with pytest.raises((ValueError, TypeError, LookupError), match=words):
            call()
    sim.markers.arrow((0, 0, 0), (0, 0, 0))
    assert len(sim.markers) == 0


@pytest.mark.skipif(importlib.util.find_spec("viser") is None, reason="viser is not installed")
def test_the_viewer_shows_them(sim: sw.Simulation) -> None:
    sim.markers.sphere([(0, 0, 1), (0, 0, 2)], color=(1, 0, 0))
    with sw.view(sim, run=False, port=0) as viewer:
        picture = viewer.picture
        assert len(picture._markers) == 1
        sim.markers.line([(0, 0, 0), (1, 0, 0), (1, 1, 0)], color=(0, 1, 0))
        sim.geom("ball").color = (1, 0, 0, 0.5)
        picture.update()
        assert [handle.color for handle in picture._markers] == [(255, 0, 0), (0, 255, 0)]
        (handle, _) = picture._handles[0][0]
        assert handle.color == (255, 0, 0)
        assert handle.opacity == 0.5
        sim.markers.text((0, 0, 1), "ball", 0.2)
        sim.markers.trail("ball", radius=1e-9)
        sim.step(4)
        picture.update()
        label = picture._markers[-1]
        assert label.text == "ball"
        assert label.font_scene_height == pytest.approx(0.2 / 0.7)
        (trail,) = picture._trails
        assert trail.vertices.shape == (8 * 5, 3)
        sim.step()
        picture.update()
        # What was drawn before is not sent again.
        assert picture._markers[-1] is label
        assert picture._trails[0].vertices.shape == (8 * 6, 3)
        sim.markers.clear()
        picture.update()
        assert picture._markers == []
        assert picture._trails == []
