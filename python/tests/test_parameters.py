"""Parameters of a simulation act as the same numbers in the model's file do."""

from __future__ import annotations

import time
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest

import sapwood as sw

NUMBERS: dict[str, Any] = {
    "gravity": "0 0 -9.81",
    "mass": 2.0,
    "com": "0.01 0 0",
    "inertia": 0.01,
    "friction": "0.6 0.01 0.001",
    "radius": 0.08,
    "at": "0 0 0",
    "hip": "0.2 0 0",
    "turn": "1 0 0 0",
    "armature": 0.01,
    "damping": 0.1,
    "stiffness": 1.0,
    "frictionloss": 0.02,
    "range": "-1 1",
    "kp": 5.0,
    "kv": 0.2,
}


def text(**changes: Any) -> str:
    n = NUMBERS | changes
    return f"""<mujoco><compiler angle="radian" autolimits="true"/><option timestep="0.004" gravity="{n["gravity"]}"/>
      <worldbody><geom type="plane" size="0 0 1" friction="0.1 0.001 0.0001"/>
        <body pos="0 0 0.3"><freejoint/><inertial pos="{n["com"]}" mass="{n["mass"]}"
          diaginertia="{n["inertia"]} {2 * n["inertia"]} {2 * n["inertia"]}"/>
          <geom type="capsule" size="{n["radius"]} 0.2" pos="{n["at"]}" euler="0 1.5 0" friction="{n["friction"]}"
            condim="6"/>
          <body pos="{n["hip"]}" quat="{n["turn"]}">
            <joint name="tail" axis="0 1 0" damping="{n["damping"]}" armature="{n["armature"]}"
              stiffness="{n["stiffness"]}" frictionloss="{n["frictionloss"]}" range="{n["range"]}"/>
            <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" mass="0.5" friction="0.1 0.001 0.0001"/></body></body>
      </worldbody><actuator><position joint="tail" kp="{n["kp"]}" kv="{n["kv"]}"/></actuator></mujoco>"""


#: A parameter, where in it, its value, and the file's numbers that say the same.
CHANGES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("gravity", ..., [1, 0, -3], {"gravity": "1 0 -3"}),
    ("masses", 1, 4.0, {"mass": 4.0, "inertia": 0.02}),
    ("coms", 1, [0, 0.02, 0.01], {"com": "0 0.02 0.01"}),
    ("inertias", (1, slice(0, 3)), [0.02, 0.04, 0.04], {"inertia": 0.02}),
    ("inertia_scales", 1, 2.0, {"inertia": 0.02}),
    ("body_positions", 2, [0.25, 0.1, 0], {"hip": "0.25 0.1 0"}),
    ("body_quaternions", 2, [0.6, 0, 0, 0.8], {"turn": "0.6 0 0 0.8"}),
    ("frictions", 1, 0.9, {"friction": "0.9 0.01 0.001"}),
    ("torsional_frictions", 1, 0.05, {"friction": "0.6 0.05 0.001"}),
    ("rolling_frictions", 1, 0.02, {"friction": "0.6 0.01 0.02"}),
    ("geom_sizes", (1, 0), 0.12, {"radius": 0.12}),
    ("geom_positions", 1, [0.05, 0, -0.02], {"at": "0.05 0 -0.02"}),
    ("armature", 6, 0.05, {"armature": 0.05}),
    ("damping", 6, 0.5, {"damping": 0.5}),
    ("stiffness", 6, 3.0, {"stiffness": 3.0}),
    ("frictionloss", 6, 0.3, {"frictionloss": 0.3}),
    ("joint_ranges", 1, [-0.2, 0.1], {"range": "-0.2 0.1"}),
    ("gains", 0, 9.0, {"kp": 9.0}),
    ("kp", 0, 9.0, {"kp": 9.0}),
    ("kv", 0, 0.7, {"kv": 0.7}),
]


def drive(sim: sw.Simulation, steps: int = 150) -> bytes:
    sim.ctrl[:] = 0.8
    sim.v[:2] = [0.5, 1.0]
    sim.step(steps)
    return sim.q.tobytes() + sim.v.tobytes()


@pytest.mark.parametrize(("name", "where", "value", "numbers"), CHANGES)
def test_a_parameter_is_the_number_in_the_file(name: str, where: Any, value: Any, numbers: dict[str, Any]) -> None:
    model = sw.load(text())
    sim = sw.Simulation(model)
    getattr(sim.parameters, name)[where] = value
    moved = drive(sim)
    assert moved == drive(sw.Simulation(sw.load(text(**numbers))))
    assert moved != drive(sw.Simulation(model))
    # In a batch it has the same name and the same meaning, to the bit: in vector lanes, and alone where they cannot.
    batch, of_file = sw.Batch(model, 2), sw.Batch(sw.load(text(**numbers)), 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sw.PerformanceWarning)
        batch.set_parameters([1], **{name: getattr(sim.parameters, name)[None]})
    np.testing.assert_array_equal(getattr(batch.parameters(1), name), getattr(sim.parameters, name))
    for worlds in (batch, of_file):
        worlds.ctrl[:] = 0.8
        worlds.v[:, :2] = [0.5, 1.0]
        worlds.step(150)
    assert bool(caught) == name.startswith(("geom_", "body_"))
    if caught:
        assert "1 of 2 worlds" in str(caught[0].message)
        assert batch.q[1].tobytes() + batch.v[1].tobytes() == moved
    else:
        assert batch.q[1].tobytes() + batch.v[1].tobytes() == of_file.q[1].tobytes() + of_file.v[1].tobytes()


def test_live_while_it_moves() -> None:
    """What is written between steps acts in the next one, and `reset` takes it back."""
    sim = sw.Simulation(sw.load(text()))
    sim.step(10)
    v = sim.v[2]
    sim.parameters.gravity[2] = 0
    sim.step()
    assert abs(sim.v[2] - v) < 1e-12
    sim.parameters.reset()
    sim.step()
    assert sim.v[2] - v == pytest.approx(-9.81 * 0.004)
    assert repr(sim.parameters) == "<sapwood.SimulationParameters, none of its own>"
    sim.parameters.masses = sim.parameters.masses * 2
    assert sim.energy().potential == pytest.approx(2 * 9.81 * (2.5 * sim.q[2] + 0.5 * 0), rel=0.5)
    assert sim.model.mass == 2.5


def test_other_simulations_stay_as_they_are() -> None:
    model = sw.load(text())
    sim, other = sw.Simulation(model), sw.Simulation(model)
    before = drive(sw.Simulation(model))
    sim.parameters.masses[:] *= 3
    sim.step()
    assert drive(other) == before
    assert model.body_masses.tolist() == [0, 2, 0.5]


def test_states_hold_parameters() -> None:
    sim = sw.Simulation(sw.load(text()))
    plain = sim.state()
    sim.parameters.frictions[1] = 0.05
    sim.parameters.joint_ranges[1] = [-0.1, np.inf]
    sim.step(50)
    changed = sim.state()
    end = drive(sim)
    sim.restore(plain)
    assert sim.parameters.frictions[1] == 0.6
    assert sim.state() == plain
    fresh = sw.Simulation(sim.model)
    fresh.restore(changed)
    assert fresh.parameters.frictions[1] == 0.05
    assert drive(fresh) == end
    # They stay through a reset, as those of a batch do.
    fresh.reset()
    assert fresh.parameters.joint_ranges[1].tolist() == [-0.1, np.inf]
    other = sw.Simulation(sw.load("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"))
    with pytest.raises(ValueError, match="it is of another model"):
        other.restore(changed)


@pytest.mark.parametrize(
    ("name", "where", "value", "message"),
    [
        ("masses", 1, -1, r"parameters.masses\[1\] is -1: expected a finite number, 0 or more"),
        ("masses", 1, 0, r"masses\[1\] is 0: expected above 0"),
        ("masses", 0, 1, r"masses\[0\] is 1: expected 0, as the body has no mass"),
        ("gravity", 2, np.nan, r"gravity\[2\] is NaN: expected a finite number"),
        ("coms", (1, 2), np.inf, r"coms\[1, 2\] is inf: expected a finite number"),
        ("inertias", (1, 0), 1.0, r"inertias\[1\]"),
        ("inertia_scales", 1, 0, r"inertia_scales\[1\] is 0: expected a finite number above 0"),
        ("frictions", 1, -0.1, r"frictions\[1\]"),
        ("geom_sizes", (2, 1), 0, r"geom_sizes\[2, 1\] is 0: expected a finite number above 0"),
        ("geom_quaternions", 1, 0, r"geom_quaternions\[1\].*quaternion"),
        ("joint_ranges", 1, [1, -1], r"joint_ranges\[1, 1\] is -1: expected a lower limit and an upper one"),
        ("joint_ranges", 0, [0, 1], r"joint_ranges\[0, 1\] is 1: expected -inf and inf"),
        ("damping", 6, -1, r"damping\[6\]"),
        ("gains", 0, -1, r"gains\[0\] is -1: expected 0 or more, the actuator is a servo"),
        ("kv", 0, -1, r"kv\[0\]"),
    ],
)
def test_wrong_values_are_named(name: str, where: Any, value: Any, message: str) -> None:
    sim = sw.Simulation(sw.load(text()))
    sim.step(5)
    q, v = sim.q.copy(), sim.v[0]
    sim.parameters.gravity[0] = 1.0
    sim.forward()
    before = sim.parameters[name].copy()
    getattr(sim.parameters, name)[where] = value
    with pytest.raises(ValueError, match=message):
        sim.step()
    np.testing.assert_array_equal(sim.q, q)
    # The arrays show what the simulation has.
    np.testing.assert_array_equal(sim.parameters[name], before)
    sim.step()
    assert sim.v[0] - v == pytest.approx(0.004, rel=0.1)


def test_wrong_shapes_and_names() -> None:
    sim = sw.Simulation(sw.load(text()))
    with pytest.raises(ValueError, match="shape"):
        sim.parameters.masses = [1, 2]
    with pytest.raises(AttributeError):
        sim.parameters.weights = 3  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no parameter 'mass': did you mean 'masses'"):
        _ = sim.parameters.mass  # type: ignore[attr-defined]
    assert np.shares_memory(sim.parameters["kp"], sim.parameters.gains)
    with pytest.raises(AttributeError, match="no parameter 'weights': expected one that list"):
        _ = sim.parameters.weights  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match='no parameter "weights": expected some of list'):
        sw.Batch(sim.model, 1).set_parameters(weights=[1])  # type: ignore[call-arg]


def test_a_lighter_arm_is_mujocos() -> None:
    """Free fall and swing with other masses, inertias and damping, beside MuJoCo's with the same change."""
    mjcf = """<mujoco><option timestep="0.0005" integrator="implicitfast"/><worldbody><body>
        <joint axis="0 1 0" damping="0.02"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="1"/><body pos=".4 0 0"><joint axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass="0.5"/></body></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(mjcf), scheme="midpoint")
    sim.parameters.masses[2] *= 0.3
    sim.parameters.damping[1] = 0.01
    sim.parameters.gravity[0] = 1.5
    reference = mujoco.MjModel.from_xml_string(mjcf)
    reference.body_mass[2] *= 0.3
    reference.body_inertia[2] *= 0.3
    reference.dof_damping[1] = 0.01
    reference.opt.gravity[0] = 1.5
    data = mujoco.MjData(reference)
    for _ in range(400):
        sim.step()
        mujoco.mj_step(reference, data)
    # MuJoCo's step is of first order: 0.2 s at 0.5 ms.
    np.testing.assert_allclose(sim.q, data.qpos, atol=2e-3)
    assert abs(sim.q[0]) > 0.1


@pytest.mark.alone
def test_a_step_costs_nothing_more() -> None:
    """Once parameters have been looked at, a step compares them: that is to be lost in its time."""

    def best(sim: sw.Simulation) -> float:
        times = []
        for _ in range(30):
            start = time.perf_counter()
            for _ in range(20):
                sim.step()
            times.append(time.perf_counter() - start)
        return min(times)

    model = sw.characters.humanoid()
    plain, watched = sw.Simulation(model), sw.Simulation(model)
    assert watched.parameters.gravity[2] < 0
    ratios = [best(watched) / best(plain) for _ in range(5)]
    assert min(ratios) < 1.1, ratios


def test_bodies_that_are_placed_elsewhere() -> None:
    """A body without joints takes along what hangs on it; the place of a free one is in q."""
    file = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
      <body name="shelf" pos="{}"><geom type="box" size=".3 .3 .05"/>
        <body name="arm" pos="0 0 .3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        </body></body>
      <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    sim, other = sw.Simulation(sw.load(file.format("0 0 .2"))), sw.Simulation(sw.load(file.format(".1 0 .5")))
    sim.parameters.body_positions[1] = [0.1, 0, 0.5]
    assert drive_free(sim) == drive_free(other)
    assert sim.body("arm").position == pytest.approx(other.body("arm").position)
    sim.parameters.body_positions[3] = [0, 0, 2]
    with pytest.raises(ValueError, match=r"body_positions\[3, 2\] is 2: .*where the state has it"):
        sim.step()
    sim.parameters.reset()
    sim.parameters.body_quaternions[1] = 0
    with pytest.raises(ValueError, match=r"body_quaternions\[1\] is 0: expected a quaternion"):
        sim.step()


def drive_free(sim: sw.Simulation) -> bytes:
    sim.step(200)
    return sim.q.tobytes() + sim.v.tobytes()


def test_frictions_of_pairs_are_those_of_the_file() -> None:
    """The second tangent of a normal along z is the x axis."""
    file = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>
      <body pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body></worldbody>
      <contact><pair geom1="floor" geom2="box" friction="{}"/></contact></mujoco>"""

    def slide(sim: sw.Simulation) -> float:
        sim.v[0] = 1.0
        sim.step(50)
        return float(sim.v[0])

    model = sw.load(file.format(".3 .3 .01 .001 .001"))
    for row, friction in (([0.6, 0.6, 0.01, 0.001], ".6 .6 .01 .001 .001"), ([0.2, 0.5, 0, 0], ".2 .5 0 0 0")):
        sim = sw.Simulation(model)
        np.testing.assert_array_equal(sim.parameters.pair_frictions, [[0.3, 0.3, 0.01, 0.001]])
        sim.parameters.pair_frictions[0] = row
        expected = slide(sw.Simulation(sw.load(file.format(friction))))
        assert slide(sim) == expected
        assert expected == pytest.approx(1 - row[1] * 9.81 * 0.1, abs=2e-3)
        batch = sw.Batch(model, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.PerformanceWarning)
            batch.set_parameters([1], pair_frictions=[[row]])
        batch.v[:, 0] = 1.0
        batch.step(50)
        assert batch.v[1, 0] == pytest.approx(expected, abs=1e-9)
        assert batch.v[0, 0] == pytest.approx(1 - 0.3 * 0.981, abs=2e-3)
    sim.parameters.pair_frictions[0, 1] = -1
    with pytest.raises(ValueError, match=r"pair_frictions\[0, 1\] is -1"):
        sim.step()


def test_states_give_worlds_their_parameters() -> None:
    text = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody>
      <equality><weld name="e" body1="a" active="false"/></equality></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.step(50)
    sim.equality("e").attach()
    sim.step()
    batch = sw.Batch(sim.model, 4)
    batch.set_state(0, sim)
    batch.set_state(1, sim.state())
    batch.set_state(2, batch.state(0))
    batch.step(300)
    sim.step(300)
    np.testing.assert_allclose(batch.q[:3, 2], sim.q[2], atol=1e-9)
    assert batch.q[3, 2] < 0
    anchors = sim.parameters.equality_anchors
    np.testing.assert_array_equal(batch.parameters.equality_anchors[:3], [anchors] * 3)
    # One without parameters leaves the world its own.
    batch.set_state(2, sw.Simulation(sim.model).state())
    np.testing.assert_array_equal(batch.parameters.equality_anchors[2], anchors)
    other = sw.Simulation(sim.model)
    other.restore(batch.state(1))
    np.testing.assert_array_equal(other.parameters.equality_anchors, anchors)
    with pytest.raises(ValueError, match="cut short or of another version"):
        batch.set_state(0, sim.state()[:30])


def test_axes_and_anchors_of_joints_are_those_of_the_file() -> None:
    """Of several joints of a body, with bodies behind it, limits and geoms."""
    file = """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .6">
      <joint name="a" axis="{0}" pos="{1}" damping=".1"/>
      <joint name="b" type="slide" axis="{2}" pos=".1 0 0" stiffness="50"/>
      <geom size=".06" pos=".2 0 0"/><body pos=".4 0 0" euler="0 20 0"><joint name="c" pos="{3}" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body>
      <body pos="1 0 1"><joint name="d" type="ball" pos="{4}"/><geom type="box" size=".1 .05 .03" pos=".1 0 0"/></body>
      </worldbody></mujoco>"""
    before, after = (
        ("0 1 0", "0 0 0", "0 0 1", ".02 0 0", "0 0 0"),
        ("0 3 4", "-.1 .02 0", "1 0 0", "0 .03 .1", ".05 0 .1"),
    )
    sim, expected = sw.Simulation(sw.load(file.format(*before))), sw.Simulation(sw.load(file.format(*after)))
    sim.parameters.joint_axes[0] = [0, 3, 4]
    sim.parameters.joint_axes[1] = [1, 0, 0]
    sim.parameters.joint_anchors[[0, 2, 3]] = [[-0.1, 0.02, 0], [0, 0.03, 0.1], [0.05, 0, 0.1]]
    assert drive_free(sim) == drive_free(expected)
    batch = sw.Batch(sim.model, 2)
    with pytest.warns(sw.PerformanceWarning):
        batch.set_parameters([1], joint_axes=[sim.parameters.joint_axes], joint_anchors=[sim.parameters.joint_anchors])
    batch.step(200)
    assert batch.q[1].tobytes() == expected.q.tobytes()
    sim.parameters.reset()
    sim.reset()
    assert drive_free(sim) == drive_free(sw.Simulation(sim.model))
    sim.parameters.joint_axes[0] = 0
    with pytest.raises(ValueError, match=r"joint_axes\[0\] is 0: expected an axis"):
        sim.step()
    sim.parameters.reset()
    sim.parameters.joint_axes[3] = [0, 0, 1]
    with pytest.raises(ValueError, match=r"joint_axes\[3\] is 0: expected 0, 0, 0: the joint has not one axis"):
        sim.step()


def test_actuators_are_disabled_by_group() -> None:
    """As by MuJoCo's `actuatorgroupdisable` in the file; in batches, too."""
    file = """<mujoco><option timestep="0.002">{}</option><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom size=".1" pos=".2 0 0"/><body pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
      </body></body></worldbody><actuator><position joint="a" kp="80" kv="3" group="2"/><motor joint="b" gear="3"/>
      <general joint="b" gainprm="5" biastype="affine" biasprm="1 -2 -3" group="2"/></actuator></mujoco>"""
    model = sw.load(file.format(""))
    assert model.actuator_groups == [2, 0, 2]

    def run(worlds: sw.Simulation | sw.Batch) -> None:
        worlds.ctrl[:] = [0.3, 0.5, -1.0]
        worlds.step(300)

    all_on, sim = sw.Simulation(model), sw.Simulation(model)
    expected = sw.Simulation(sw.load(file.format("").replace("<option", '<option actuatorgroupdisable="2"')))
    run(expected)
    run(all_on)
    sim.parameters.actuators_enabled[np.equal(model.actuator_groups, 2)] = 0
    assert [sim.actuator(k).enabled for k in range(3)] == [False, True, False]
    assert sim.actuator(0).group == 2
    run(sim)
    np.testing.assert_allclose(sim.q, expected.q, atol=1e-12)
    assert sim.actuator(0).force == 0
    assert np.abs(sim.q - all_on.q).max() > 0.1
    batch = sw.Batch(model, 2)
    with warnings.catch_warnings():
        # Both worlds stay in lanes.
        warnings.simplefilter("error", sw.PerformanceWarning)
        batch.set_parameters([1], actuators_enabled=[[0, 1, 0]])
        run(batch)
    np.testing.assert_allclose(batch.q, [all_on.q, sim.q], atol=1e-9)
    for k in (0, 2):
        sim.actuator(k).enabled = True
    sim.reset()
    run(sim)
    np.testing.assert_allclose(sim.q, all_on.q, atol=1e-12)
    assert sw.load(model.to_mjcf()).actuator_groups == [2, 0, 2]
    with pytest.raises(TypeError, match="enabled is 'no': expected True or False"):
        sim.actuator(0).enabled = "no"  # type: ignore[assignment]
    sim.parameters.actuators_enabled[1] = 0.5
    with pytest.raises(ValueError, match=r"actuators_enabled\[1\] is 0.5: expected 1 or 0"):
        sim.step()


def test_numbers_of_a_model_say_where_they_are_changed() -> None:
    model = sw.load("""<mujoco><worldbody><body><joint armature=".1"/><geom size=".1"/></body></worldbody></mujoco>""")
    for array, name in ((model.body_masses, "masses"), (model.gravity, "gravity"), (model.armature, "armature")):
        with pytest.raises(ValueError, match=rf"a model is read-only: expected sim.parameters.{name}\[...\] = ..."):
            array[0] = 2
        # What is computed from them is like any other array.
        assert type(array * 2) is np.ndarray
        assert isinstance(array.sum(), np.float64)
        copy = array.copy()
        copy[0] = 3
        assert copy[0] == 3


def test_a_length_of_rolling_friction_counts_about_both_axes() -> None:
    """Of a pair that has two, until one is given."""
    model = sw.load(
        """<mujoco><worldbody><geom name="ground" type="plane" size="1 1 1"/>
        <body pos="0 0 .1"><freejoint/><geom name="ball" size=".1"/></body></worldbody>
        <contact><pair geom1="ground" geom2="ball" condim="6" friction="1 1 .005 .0001 .01"/></contact></mujoco>"""
    )

    def speed(v: list[float], length: float | None) -> float:
        sim = sw.Simulation(model)
        sim.v = v
        if length is not None:
            sim.parameters.pair_frictions[0, 3] = length
        sim.step(50)
        return float(np.linalg.norm(sim.v[:2]))

    along_x, along_y = [1.0, 0, 0, 0, 10, 0], [0, 1.0, 0, -10, 0, 0]
    assert speed(along_y, None) < speed(along_x, None) - 0.05
    np.testing.assert_allclose(speed(along_x, 0.02), speed(along_y, 0.02), rtol=1e-9)


SWITCHED = """<mujoco><compiler autolimits="true"/><option timestep="0.002">{flag}</option><worldbody>
  <geom name="floor" type="plane" size="0 0 1" condim="1"/>
  <body pos="0 0 .13">
    <joint name="lift" type="slide" axis="0 0 1" damping="2" stiffness="20" springref="-.2" frictionloss="1"/>
    <geom name="ball" size=".1" condim="1"/>
    <body pos=".2 0 0"><joint name="turn" axis="0 1 0" range="-5 5" damping=".1 .05"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" condim="1"/></body></body></worldbody>
  <contact><pair geom1="floor" geom2="ball" condim="3"/></contact>
  <tendon><fixed name="both" stiffness="5" damping=".5" frictionloss=".2" range="-.1 .1"><joint joint="lift" coef="1"/>
    <joint joint="turn" coef=".3"/></fixed></tendon>
  <actuator><motor joint="turn" gear="2"/></actuator></mujoco>"""


@pytest.mark.parametrize("feature", ["contact", "gravity", "limit", "actuation", "frictionloss", "spring", "damper"])
def test_what_is_switched_off_is_as_in_a_file_with_the_flag(feature: str) -> None:
    model = sw.load(SWITCHED.format(flag=""))
    flagged = sw.Simulation(sw.load(SWITCHED.format(flag=f'<flag {feature}="disable"/>')))
    all_on, sim = sw.Simulation(model), sw.Simulation(model)
    sim.parameters.disable(feature)
    steps: dict[int, list[Any]] = {}
    for k, world in enumerate((flagged, all_on, sim)):
        world.v, world.ctrl = [-1, 2], [1]
        steps[k] = []
        for _ in range(100):
            world.step()
            steps[k].append(world.q.copy())
    np.testing.assert_allclose(steps[2], steps[0], atol=1e-9)
    assert np.abs(np.subtract(steps[2], steps[1])).max() > 1e-3
    # On again, from the same state, it is the model's; a state brings back what was off.
    state = sim.state()
    sim.parameters.enable(feature)
    assert not sim.parameters.disabled.any()
    again = sw.Simulation(model)
    again.q, again.v, again.ctrl = sim.q, sim.v, sim.ctrl
    for world in (sim, again):
        world.step(20)
    np.testing.assert_allclose(sim.q, again.q, atol=1e-9)
    sim.restore(state)
    assert sim.parameters.disabled.sum() == 1
    # Of a batch, in one world.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        batch = sw.Batch(model, 3)
        batch.parameters.disable(feature, worlds=[1])
        batch.v[:], batch.ctrl[:] = [-1, 2], 1
        batch.step(100)
    np.testing.assert_allclose(batch.q, [steps[1][-1], steps[0][-1], steps[1][-1]], atol=1e-6)


def test_what_cannot_be_switched_off_says_so() -> None:
    sim = sw.Simulation(sw.load(text()))
    for name, words in [
        ("contacts", "did you mean 'contact'"),
        ("equality", "equality_active"),
        ("x", "expected contact, "),
    ]:
        with pytest.raises(ValueError, match=words):
            sim.parameters.disable(name)
    with pytest.raises(ValueError, match="a simulation has one"):
        sim.parameters.enable("contact", worlds=[0])
    sim.parameters.disabled[2] = 0.5
    with pytest.raises(ValueError, match=r"disabled\[2\] is 0.5: expected 1 or 0"):
        sim.step()


@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_condims_are_those_of_a_file(condim: int) -> None:
    """A ball that is thrown spinning over the ground, as its file with this `condim`, and as MuJoCo's."""
    file = """<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
      <geom type="plane" size="0 0 1" condim="1" friction=".5 .03 .02"/>
      <body pos="0 0 .1"><freejoint/><geom size=".1" condim="{}" friction=".5 .03 .02"/></body></worldbody></mujoco>"""

    def thrown(sim: sw.Simulation) -> sw.Simulation:
        sim.v = [1, 0, 0, 0, 0, 20]
        sim.step(200)
        return sim

    sim = sw.Simulation(sw.load(file.format(1)))
    sim.parameters.condims[1] = condim
    expected = thrown(sw.Simulation(sw.load(file.format(condim))))
    np.testing.assert_array_equal(thrown(sim).q, expected.q)
    # What it resists stops: the spin with 4, both with 6.
    assert (abs(sim.v[5]) < 15) == (condim >= 4)
    assert (abs(sim.v[0]) < 0.6) == (condim >= 6)
    sim.parameters.condims[1] = 2
    with pytest.raises(ValueError, match=r"condims\[1\] is 2: expected 1, 3, 4 or 6"):
        sim.step()


def test_activations_of_actuators_that_a_file_disables_stay() -> None:
    """As in MuJoCo: `na` and the order of `act` are those of all actuators, and what is disabled keeps its own."""
    file = """<mujoco><option timestep="0.002" actuatorgroupdisable="1"/><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom size=".1" pos=".2 0 0"/></body></worldbody><actuator>
      <intvelocity joint="a" kp="8" group="1" actrange="-1 1"/><general joint="a" dyntype="filter" dynprm=".1"/>
      <general joint="a" dyntype="filterexact" dynprm=".1" group="1"/></actuator></mujoco>"""
    m = mujoco.MjModel.from_xml_string(file)
    d = mujoco.MjData(m)
    model = sw.load(file)
    sim = sw.Simulation(model)
    d.act[:] = sim.act = [0.3, 0.2, -0.5]
    d.ctrl[:] = sim.ctrl = [1.0, 0.5, 2.0]
    for _ in range(50):
        mujoco.mj_step(m, d)
    sim.step(50)
    np.testing.assert_allclose(sim.act, d.act, atol=1e-12)
    assert sim.act[0] == 0.3
    assert sim.act[2] == -0.5
    # They come back from the text, and stand in batches.
    with pytest.warns(UserWarning, match="one of a group that is switched off"):
        again = model.to_mjcf()
    batch = sw.Batch(sw.load(again), 1)
    batch.act[:], batch.ctrl[:] = [0.3, 0.2, -0.5], [1.0, 0.5, 2.0]
    batch.step(50)
    np.testing.assert_allclose(batch.act[0], d.act, atol=1e-9)
