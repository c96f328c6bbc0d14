"""Crowds of robots that other packages bring: what nobody drives never has more energy than it fell from."""

from __future__ import annotations

import resource
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw

ROBOTS = {
    "gymnasium": ["ant", "humanoid", "walker2d"],
    "dm_control": ["humanoid"],
}
FOLDERS = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite"}
STEPS = 150


def file(package: str, name: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent / FOLDERS[package] / f"{name}.xml"


def crowd(robot: sw.Model, count: int, gap: float) -> sw.Model:
    """So many robots in rows of four, fastened in the world by the joints that their file has."""
    builder = sw.ModelBuilder(timestep=0.004)
    builder.add_ground()
    for k in range(count):
        builder.attach(robot, prefix=f"{k}/", position=(gap * (k % 4), gap * (k // 4), 0))
    return builder.build()


@pytest.mark.parametrize("gap", [0.8, 4.0], ids=["entangled", "apart"])
@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize(("package", "name"), [(p, name) for p, names in ROBOTS.items() for name in names])
def test_a_crowd_falls(package: str, name: str, count: int, gap: float) -> None:
    robot = sw.load(file(package, name))
    sim = sw.Simulation(crowd(robot, count, gap))
    start, height = sum(sim.energy()), 9.81 * sim.model.mass
    memory = 0
    for step in range(STEPS):
        sim.step()
        # Contacts and limits that are springs give back what they stored: of what was there at first.
        assert sum(sim.energy()) < start + 1e-3 * height
        if step == STEPS // 3:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert np.isfinite(sim.q).all()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    assert grown < 100_000, f"{grown} KB more"
