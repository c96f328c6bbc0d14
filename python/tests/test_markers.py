"""Markers, and colours of geoms while a simulation runs."""

from __future__ import annotations

import copy
import importlib.util
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


def test_what_cannot_be_drawn_says_so(sim: sw.Simulation) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: sim.markers.sphere((0, 0), 0.1), r"points has shape .*expected \(any, 3\)"),
        (lambda: sim.markers.sphere((0, 0, np.nan)), "points"),
        (lambda: sim.markers.sphere((0, 0, 0), -1), "radius is -1: expected metres above 0"),
        (lambda: sim.markers.line([(0, 0, 0), (1, 0, 0)], color=(2, 0, 0)), "color is .*expected 3 or 4 numbers"),
        (lambda: sim.markers.frame((0, 0, 0), (1, 0, 0, 0)), r"rotation has shape \(4,\)"),
        (lambda: sim.markers.sphere(np.zeros((100_001, 3))), "are too many"),
        (lambda: setattr(sim.geom(0), "color", "red"), "color"),
    ]
    for call, words in cases:
        with pytest.raises((ValueError, TypeError), match=words):
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
        sim.markers.clear()
        picture.update()
        assert picture._markers == []
