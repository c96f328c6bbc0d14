"""The motion suite: how long a step takes while a robot moves by random controls over their full range.

As the step suite, but that controls have all of their range, and that every turn is another world: its controls have a
seed of their own.
"""

from __future__ import annotations

from sapwood.bench import step
from sapwood.bench.batch_objects import hand_with_cube
from sapwood.bench.cases import dm_control, gymnasium
from sapwood.bench.manipulators import gripper

__all__ = ["CASES", "PEERS", "run"]

PEERS = step.PEERS
CASES = {
    "humanoid": gymnasium("humanoid"),
    "ant": gymnasium("ant"),
    "half_cheetah": gymnasium("half_cheetah"),
    "dm_humanoid": dm_control("humanoid"),
    "humanoid_CMU": dm_control("humanoid_CMU"),
    "quadruped": dm_control("quadruped"),
    "gripper": gripper,
    "hand_cube": hand_with_cube,
}


def run(peers: list[str], cases: list[str], repetitions: int) -> list[step.Row]:
    """Runs the cases, prints a table, returns the rows."""
    driving = step.Driving("motion", 1.0, has_many_worlds=True)
    return step.run_driven(driving, {case: CASES[case] for case in cases}, peers, repetitions)
