"""What users of other engines type first: errors that say what it is called here, and the pages that list it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import _first_words

sys.path.append(str(Path(__file__).parents[1]))
from documentation import first_words

TEXT = """<mujoco><worldbody><body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s"/></body>
</worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""


@pytest.fixture
def sim() -> sw.Simulation:
    return sw.Simulation(sw.load(TEXT))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("qpos", "d.qpos of MuJoCo is sim.q"),
        ("data", "the simulation itself"),
        ("getJointState", "getJointState(r, j) of PyBullet is sim.joint(j).q"),
        ("GetPositions", "plant.GetPositions(c) of Drake is sim.q"),
        ("contakts", "did you mean 'contacts'"),
    ],
)
def test_attributes_of_other_engines(sim: sw.Simulation, name: str, hint: str) -> None:
    batch = sw.Batch(sim.model, 2)
    owners: list[object] = [sim, batch, sim.model, sim.body("b"), sim.actuator("m"), sw]
    for owner in owners[:2] if "did you" in hint else owners:
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(owner, name)
    if "did you" not in hint:
        with pytest.raises(AttributeError, match=re.escape(hint)):
            setattr(sim, name, 1.0)


def test_arrays_of_the_model(sim: sw.Simulation) -> None:
    with pytest.raises(AttributeError, match=re.escape("sim.parameters.masses")):
        sim.model.body_mass  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=re.escape("model.timestep")):
        sim.model.opt  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="(?i)not writable|can't set|readonly|has no setter"):
        sim.model.nq = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda m: sw.Simulation(m, dt=0.01), "dt of MuJoCo is timestep="),
        (lambda m: sw.Simulation(m, integrator="RK4"), "integrator of MuJoCo is scheme="),
        (lambda m: sw.Batch(m, 2, time_step=0.01), "time_step of Drake is timestep="),
        (lambda m: sw.Simulation(m, tolerence=0.01), "did you mean 'tolerance'"),
        (lambda _: sw.load(TEXT, useFixedBase=True), "useFixedBase of PyBullet is floating_base="),
        (lambda m: sw.Simulation(m).step(0.1), "`advance_to` takes a time"),
        (lambda m: sw.Batch(m, 2).step(0.1), "`advance_to` takes a time"),
    ],
)
def test_arguments_of_other_engines(call: Callable[[Any], object], hint: str) -> None:
    with pytest.raises(TypeError, match=re.escape(hint)):
        call(sw.load(TEXT))


def test_degrees_where_radians_are_expected() -> None:
    with pytest.raises(ValueError, match=re.escape("azimuth is 90: expected radians, math.radians(90)")):
        sw.Camera(azimuth=90)
    assert sw.Camera(azimuth=7.5).azimuth == 7.5


def test_the_names_of_the_table_exist(sim: sw.Simulation) -> None:
    owners = {"sim": sim, "model": sim.model, "sw": sw}
    for _, names in _first_words.ENGINES.values():
        for words in names.values():
            for owner, name in re.findall(r"\b(sim|model|sw)\.(\w+)", words):
                assert hasattr(owners[owner], name), words
            for name in re.findall(r"sim\.parameters\.(\w+)", words):
                assert hasattr(sim.parameters, name), words


@pytest.mark.parametrize("name", _first_words.ENGINES)
def test_pages_have_the_table(name: str) -> None:
    text = (first_words.PAGES / f"{name}.md").read_text()
    assert first_words.page(text, name) == text, "python python/documentation/first_words.py writes the table"


def test_the_timestep_can_be_changed() -> None:
    text = TEXT.replace("<worldbody>", '<option gravity="0 0 -9.81" timestep="0.004"/><worldbody>').replace(
        "<joint", '<joint type="slide"'
    )
    sim = sw.Simulation(sw.load(text))
    sim.parameters.masses[1] = 2.0
    sim.step(10)
    sim.timestep = 0.001
    assert sim.timestep == 0.001
    assert sim.options["timestep"] == 0.001
    sim.step(10)
    assert sim.time == pytest.approx(0.05)
    # Uniform acceleration: velocities do not depend on the step.
    np.testing.assert_allclose(sim.v, -9.81 * 0.05, rtol=1e-9)
    assert sim.parameters.masses[1] == 2.0
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="timestep"):
            sim.timestep = wrong
    assert sim.timestep == 0.001


def test_the_time_can_be_set(sim: sw.Simulation) -> None:
    sim.time = 5.0
    sim.step()
    assert sim.time == pytest.approx(5.002)
    sim.advance_to(5.1)
    assert sim.time == pytest.approx(5.1)
    with pytest.raises(ValueError, match="time is NaN: expected a finite number"):
        sim.time = float("nan")
