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


# Checkers of types know better than to call these.
ANY: Any = sw


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda m: ANY.Simulation(m, dt=0.01), "dt of MuJoCo is timestep="),
        (lambda m: ANY.Simulation(m, integrator="RK4"), "integrator of MuJoCo is scheme="),
        (lambda m: ANY.Batch(m, 2, time_step=0.01), "time_step of Drake is timestep="),
        (lambda m: ANY.Simulation(m, tolerence=0.01), "did you mean 'tolerance'"),
        (lambda _: ANY.load(TEXT, useFixedBase=True), "useFixedBase of PyBullet is floating_base="),
        (lambda m: ANY.Simulation(m).step(0.1), "`advance_to` takes a time"),
        (lambda m: ANY.Batch(m, 2).step(0.1), "`advance_to` takes a time"),
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


# All that the tables name, and where snippets that are typed otherwise differ.
WORLD = """<mujoco><worldbody><camera name="camera" pos="0 -2 1" xyaxes="1 0 0 0 0 1"/>
  <geom type="plane" size="0 0 1"/>
  <body name="b" pos="0 0 .2"><freejoint/><geom name="g" type="box" size=".1 .1 .1"/><site name="s"/></body>
  <body name="arm" pos="1 0 1"><joint name="j" axis="0 1 0"/>
    <geom name="h" type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body>
  <body name="hand" mocap="true" pos="-1 0 1"><geom size=".05"/></body>
  </worldbody><tendon><fixed name="rope"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><position name="m" joint="j" kp="2"/></actuator>
  <equality><weld name="grasp" body1="hand" body2="b" active="false"/></equality>
  <sensor><gyro name="gyro" site="s"/></sensor><keyframe><key name="k" qpos="0 0 .5 1 0 0 0 .1"/></keyframe></mujoco>"""

OTHERWISE = {
    "sim.body(name)": "sim.body(b)",
    "sim.bias_acceleration(b, point=p)": "sim.bias_acceleration(b, point=place)",
    "sim.distance(a, b)": 'sim.distance("g", "h")',
    "sim.inverse_dynamics(a)": "sim.inverse_dynamics(v)",
    "sim.jacobian(b, point=p)": "sim.jacobian(b, point=place)",
    "sim.joint(name)": "sim.joint(j)",
    "sim.rays(…)": "sim.rays(origin, [[0.0, 0, -1], [1.0, 0, 0]])",
    "sim.sensor(s).value": 'sim.sensor("gyro").value',
    "sim.site(name)": "sim.site(s)",
    "sim.step(n)": "sim.step(2)",
    "sim.advance_to(t)": "sim.advance_to(sim.time + 0.01)",
    "sim.tendon(t).jacobian": 'sim.tendon("rope").jacobian',
    "sim.tendon(t).range": 'sim.tendon("rope").range',
    "sim.tendon(t).velocity": 'sim.tendon("rope").velocity',
    "model.body_index(name)": "model.body_index(b)",
    "model.inverse_dynamics(q, v, a)": "model.inverse_dynamics(q, v, v)",
    "sw.inverse_kinematics(model, sw.PoseTarget(b, position=p)": (
        'sw.inverse_kinematics(model, sw.PoseTarget("arm", position=[1, 0, 1]))'
    ),
    "sw.inverse_kinematics(model, targets)": 'sw.inverse_kinematics(model, [sw.PoseTarget("arm", position=[1, 0, 1])])',
    "sw.load(file, package_path=…)": 'sw.load(file, package_path=".")',
    "sw.load(s)": "sw.load(text)",
    "sw.Simulation(model, timestep=…)": "sw.Simulation(model, timestep=0.01)",
    "sw.view(sim)": "sw.view",  # it shows a page and waits
    "sw.view(sim, run=False)": "sw.view",
}


def test_every_row_of_the_tables_is_typed(tmp_path: Path) -> None:
    spatial = pytest.importorskip("scipy.spatial.transform")
    model = sw.load(WORLD)
    sim = sw.Simulation(model)
    file = tmp_path / "world.xml"
    file.write_text(WORLD)
    names: dict[str, Any] = {"sim": sim, "sw": sw, "model": model, "np": np, "text": WORLD, "p": file, "file": file}
    names |= {
        "a": "m",
        "b": "b",
        "g": "g",
        "j": "j",
        "s": "s",
        "name": "grasp",
        "i": 0,
        "k": "k",
        "n": 2,
        "dt": 0.01,
        "kp": 1.0,
        "kd": 0.1,
    }
    names |= {"q": sim.q.copy(), "q0": sim.q.copy(), "q1": sim.q.copy(), "v": sim.v.copy(), "dv": sim.v.copy()}
    names |= {"tau": np.zeros(model.nv), "target": sim.q.copy(), "state": sim.state(), "path": tmp_path / "again.xml"}
    names |= {"place": [0.0, 0, 0], "origin": [0.0, 0, 3], "direction": [0.0, 0, -1]}
    names |= {"width": 32, "height": 24, "w": 32, "h": 24, "camera": "camera"}
    options = {*sim.options, "package_path", "floating_base", "ground", "actuators"}
    typed, excused = 0, []
    for engine, rows in _first_words.ENGINES.values():
        for theirs, words in rows.items():
            snippets = first_words.CODE.findall(words)
            if "Rotation" in words:
                spatial.Rotation.from_quat([1.0, 0, 0, 0], scalar_first=True)
            elif words.endswith("="):
                assert words[:-1] in options, (engine, theirs)
            elif "gymnasium.make" in words:
                gymnasium = pytest.importorskip("gymnasium")
                import sapwood.gym  # noqa: F401

                names["gymnasium"] = gymnasium
            elif not snippets:
                excused.append(theirs)
                continue
            for snippet in snippets:
                try:
                    eval(OTHERWISE.get(snippet, snippet), dict(names))
                except Exception as error:
                    raise AssertionError(f"{engine}: {theirs}: {snippet}: {error}") from error
            typed += 1
    # What is left has no equal because nothing is to be done, or a step that fails says it.
    assert all("not needed" in words or "SimulationError" in words for words in (_words(x) for x in excused)), excused
    assert typed > 250


def _words(theirs: str) -> str:
    return next(rows[theirs] for _, rows in _first_words.ENGINES.values() if theirs in rows)


@pytest.mark.parametrize("name", ["mujoco-names", "pybullet", "drake"])
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
