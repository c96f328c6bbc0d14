"""ALOHA with end-effector control, scripted, on MuJoCo and on Sapwood; skipped where gym-aloha is not there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")

EPISODES = 20
OPEN, SHUT = 0.058, 0.01844
"""Places of the fingers, m."""
LEVEL, DOWN, ACROSS = [1, 0, 0, 0], [np.sqrt(0.75), 0, -0.5, 0], [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
STARTS = np.array([-0.31718881, 0.5, 0.29525084]), np.array([0.31718881, 0.5, 0.29525084])
TIME = 1040
"""Controls in an episode, fifty a second."""

Way = list[tuple[int, NDArray[np.float64], list[float], float]]
"""At which controls a hand is where, how it is turned, and its fingers; even between."""


def ways_of_hands(cube: NDArray[np.float64]) -> tuple[Way, Way]:
    """Those of the left and the right hand: the right one lifts the cube and gives it to the left one."""
    meet, out, up = np.array([0, 0.5, 0.25]), np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    above, low = cube + 0.08 * up, cube - 0.01 * up
    aside, near = meet - 0.1 * out - 0.02 * up, meet + 0.02 * out - 0.02 * up
    left = [(0, STARTS[0], LEVEL, OPEN), (400, aside, ACROSS, OPEN), (620, aside, ACROSS, OPEN)]
    left += [(680, near, ACROSS, OPEN), (720, near, ACROSS, SHUT), (960, near, ACROSS, SHUT)]
    left += [(1020, aside, ACROSS, SHUT)]
    right = [(0, STARTS[1], LEVEL, OPEN), (100, above, DOWN, OPEN), (220, above, DOWN, OPEN)]
    right += [(280, low, DOWN, OPEN), (320, low, DOWN, OPEN), (360, low, DOWN, SHUT), (440, low, DOWN, SHUT)]
    right += [(520, low + 0.12 * up, DOWN, SHUT), (600, meet, DOWN, SHUT), (780, meet, DOWN, SHUT)]
    right += [(820, meet, DOWN, OPEN), (880, meet, DOWN, OPEN), (960, meet + 0.15 * out, DOWN, OPEN)]
    return left, right


def is_handed_over(m: Any, cube: NDArray[np.float64]) -> bool:
    """Whether the left hand has carried the cube away in the end."""
    d = mujoco.MjData(m)
    d.qpos[:16] = [0, -0.96, 1.16, 0, -0.3, 0, 0.02239, -0.02239] * 2
    d.qpos[16:] = [*cube, 1, 0, 0, 0]
    tables = [
        ([time for time, *_ in way], np.array([[*place, *turned, fingers] for _, place, turned, fingers in way]))
        for way in ways_of_hands(cube)
    ]
    for tick in range(TIME):
        for hand, (times, rows) in enumerate(tables):
            pose = np.array([np.interp(tick, times, column) for column in rows.T])
            d.mocap_pos[hand], d.mocap_quat[hand] = pose[:3], pose[3:7]
            d.ctrl[2 * hand : 2 * hand + 2] = pose[7], -pose[7]
        mujoco.mj_step(m, d, 10)
    return bool(d.qpos[16] < -0.1 and d.qpos[18] > 0.2)


def test_cubes_are_handed_over_as_on_mujoco() -> None:
    """Hands hang on mocap bodies by soft welds, against the dry friction of the arms, which creeps as in MuJoCo.

    At the border of its reach the hand is still turned when it comes down, and pushes the cube away.
    """
    found = find_spec("gym_aloha")
    if found is None or found.origin is None:
        pytest.skip("gym-aloha is not installed")
    file = Path(found.origin).parent / "assets/bimanual_viperx_end_effector_transfer_cube.xml"
    m = mujoco.MjModel.from_xml_path(str(file))
    cubes = [np.array([*np.random.default_rng(seed).uniform([0, 0.4], [0.2, 0.6]), 0.02]) for seed in range(EPISODES)]
    theirs = [is_handed_over(m, cube) for cube in cubes]
    with guest.physics():
        ours = [is_handed_over(m, cube) for cube in cubes]
    assert EPISODES / 4 < sum(theirs) < EPISODES
    assert abs(sum(ours) - sum(theirs)) <= EPISODES / 20, (ours, theirs)
