"""Motions that characters follow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw

BVH = """HIERARCHY
ROOT root { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition
  JOINT wing { OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 1 0 } } }
MOTION
Frames: 1
Frame Time: 0.1
0 0 0 0 0 0
"""


def page(replay: sw.Replay) -> str | None:
    """The page, if this build has the player."""
    try:
        return replay.html()
    except RuntimeError:
        return None


def test_errors_are_those_of_the_recorded_motion(tmp_path: Path) -> None:
    dog = sw.characters.dog()
    dt = 1 / 60
    result = sw.tracking.track(
        dog, "trot", control="maba", target="end", dt=dt, duration=1.0, effectors=["front_right_toe"]
    )
    assert (result.completed, result.message) == (True, None)
    assert (result.errors.shape, result.effectors) == ((61, 1), ("front_right_toe",))
    np.testing.assert_allclose(result.times, dt * np.arange(61), atol=1e-12)
    # Every step is a frame: the same distances from the model's own kinematics.
    toe, root = (dog.body_names.index(name) for name in ("front_right_toe", "root"))

    def seen(q: np.ndarray) -> np.ndarray:
        positions, _ = dog.forward_kinematics(q)
        return np.asarray(positions[toe] - positions[root])

    pairs = zip(result.replay.q, result.reference, strict=True)
    expected = [np.linalg.norm(seen(q) - seen(reference)) for q, reference in pairs]
    np.testing.assert_allclose(result.errors[:, 0], expected, atol=1e-12)
    assert result.rms == pytest.approx(np.sqrt(np.mean(np.square(result.errors[1:]))), rel=1e-12)
    # The paper's target lags by K_d / K_p = 53 ms; a target that moves does not.
    moving = sw.tracking.track(dog, "trot", dt=dt, duration=1.0, effectors=["front_right_toe"])
    assert moving.rms < 0.1 * result.rms

    assert "front_right_toe" in result.svg("a title")
    html = page(result.replay)
    if html is None:
        return
    found = re.search(r'<script id="sapwood-replay" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    bodies = json.loads(found[1])["bodies"]
    assert bodies[: len(dog.body_names)] == list(dog.body_names)
    assert "reference of front_right_toe" in bodies


def test_what_is_lost_and_what_does_not_fit_is_said(tmp_path: Path) -> None:
    humanoid = sw.characters.humanoid()
    lost = sw.tracking.track(humanoid, "walk", control="explicit", dt=0.01, duration=1.0)
    assert not lost.completed
    assert " s" in str(lost.message)
    assert len(lost.times) == len(lost.errors) < 101
    wings = tmp_path / "wings.bvh"
    wings.write_text(BVH)
    cases: list[tuple[str | Path, str]] = [
        ("wakl", 'did you mean "walk"'),
        (wings, "wings.bvh: frame 0: .*chest"),
        ("trot", "humanoid.*walk"),
    ]
    for clip, expected in cases:
        with pytest.raises(ValueError, match=expected):
            sw.tracking.track(humanoid, clip)
    with pytest.raises(ValueError, match='control="mabba".*did you mean "maba"'):
        sw.tracking.track(humanoid, "walk", control="mabba")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the time step is 0: expected a finite number above 0"):
        sw.tracking.track(humanoid, "walk", dt=0.0)
