"""Equalities that attach, joints that lock, geoms that change what they touch, while a simulation runs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal

import mujoco
import numpy as np
import pytest

import sapwood as sw

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRIPPER = """<mujoco><option timestep="0.002"/><worldbody><geom name="ground" type="plane" size="2 2 1"/>
  <body name="cup" pos="0 0 .3"><joint name="lift" type="slide" axis="0 0 1"/>
    <geom type="cylinder" size=".02 .05" mass="1" contype="0" conaffinity="0"/></body>
  <body name="part" pos=".02 .01 .05" euler="0 0 30"><freejoint/>
    <geom name="box" type="box" size=".05 .05 .05" mass=".5"/></body></worldbody>
  <equality><weld name="grasp" body1="cup" body2="part" active="false"/>
    <connect name="pin" body1="cup" body2="part" anchor="0 0 0" active="false"/></equality>
  <actuator><position joint="lift" kp="2000" kv="200"/></actuator></mujoco>"""


def relative(sim: sw.Simulation) -> NDArray[np.float64]:
    cup, part = sim.body("cup"), sim.body("part")
    turn = cup.rotation.T @ part.rotation
    return np.concatenate([cup.rotation.T @ (part.position - cup.position), turn.ravel()])


def test_a_weld_takes_the_present_pose_and_its_force_is_the_weight() -> None:
    sim = sw.Simulation(sw.load(GRIPPER))
    sim.step(100)
    held = relative(sim)
    sim.equality("grasp").attach()
    assert sim.equality("grasp").active
    sim.step()
    np.testing.assert_allclose(relative(sim), held, atol=1e-5)
    sim.ctrl[0] = 0.2
    sim.step(1500)
    np.testing.assert_allclose(relative(sim), held, atol=1e-4)
    assert abs(sim.body("part").position[2] - 0.25) < 0.01
    np.testing.assert_allclose(sim.equality("grasp").force, [0, 0, 0.5 * 9.81], atol=1e-3)
    # The part hangs beside the cup: about its origin, where the weld holds it, its weight has no moment.
    np.testing.assert_allclose(sim.equality("grasp").torque, 0, atol=1e-3)
    sim.equality("grasp").active = False
    sim.step(500)
    assert abs(sim.body("part").position[2] - 0.05) < 1e-3
    np.testing.assert_array_equal(sim.equality("grasp").force, 0)


def test_what_is_attached_is_in_states_and_copies() -> None:
    sim = sw.Simulation(sw.load(GRIPPER))
    sim.step(50)
    sim.equality("grasp").attach()
    sim.ctrl[0] = 0.1
    sim.step(20)
    state, twin = sim.state(), copy.deepcopy(sim)
    sim.step(100)
    twin.step(100)
    other = sw.Simulation(sim.model)
    other.restore(state)
    other.step(100)
    for same in (twin, other):
        np.testing.assert_array_equal(same.q, sim.q)


def test_a_connect_takes_a_point() -> None:
    sim = sw.Simulation(sw.load(GRIPPER))
    pin = sim.equality("pin")
    pin.anchors = np.array([[0, 0, 0], [0, 0, 0.05]])
    pin.attach()
    place = sim.body("part").position + np.array([0, 0, 0.05])
    np.testing.assert_allclose(sim.body("cup").position + pin.anchors[0], place, atol=1e-12)
    sim.ctrl[0] = 0.2
    sim.step(1500)
    top = sim.body("part").position + sim.body("part").rotation @ [0, 0, 0.05]
    np.testing.assert_allclose(top - sim.body("cup").position, place - [0, 0, 0.3], atol=1e-4)


def test_couplings_do_not_attach() -> None:
    text = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body><body pos="1 0 0"><joint name="b"/>
      <geom size=".1"/></body></worldbody><equality><joint name="gear" joint1="a" joint2="b"/></equality></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    with pytest.raises(ValueError, match="coupling"):
        sim.equality("gear").attach()


def test_switching_wakes_sleepers() -> None:
    text = """<mujoco><worldbody><body name="hook" pos="0 0 1"/><body name="part" pos="0 0 1">
      <freejoint/><geom size=".05"/></body></worldbody>
      <equality><weld name="grasp" body1="hook" body2="part"/></equality></mujoco>"""
    sim = sw.Simulation(sw.load(text), sleep_after=0.1)
    sim.step(500)
    assert sim.stats.asleep == 1
    sim.equality("grasp").active = False
    sim.step(100)
    assert sim.body("part").position[2] < 0.95


ARM = """<mujoco><option timestep="0.002"/><worldbody><body name="upper"><joint name="shoulder" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
  <body name="lower" pos=".3 0 0"><joint name="elbow" axis="0 1 0" range="-170 170"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("scheme", ["bilinear", "implicit-euler"])
def test_a_locked_joint_holds_under_load_and_lets_go(scheme: Literal["bilinear", "implicit-euler"]) -> None:
    sim = sw.Simulation(sw.load(ARM), scheme=scheme)
    sim.joint("elbow").q = 0.4
    sim.joint("elbow").locked = True
    sim.joint("shoulder").locked = True
    sim.step(1000)
    assert sim.joint("elbow").locked
    np.testing.assert_allclose(sim.q, [0, 0.4], atol=1e-4)
    # What holds the shoulder is the moment of both links' weights.
    moment = 9.81 * (0.15 + 0.3 + 0.15 * np.cos(0.4))
    np.testing.assert_allclose(abs(sim.constraint_forces[0]), moment, rtol=1e-4)
    sim.joint("elbow").locked = False
    assert not sim.joint("elbow").locked
    sim.step(100)
    assert abs(sim.q[1] - 0.4) > 0.1
    assert abs(sim.q[0]) < 1e-3


BALLS = """<mujoco><option timestep="0.002"/><worldbody>
  <body pos="0 0 2"><joint name="shoulder" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
    <body name="hand" pos=".3 0 0"><joint name="wrist" type="ball" pos=".01 0 0"/>
      <geom type="box" size=".1 .02 .01" pos=".1 .05 0" mass=".5"/></body></body>
  <body name="satellite" pos="0 2 1"><freejoint name="free"/><geom type="box" size=".1 .2 .3" mass="2"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "implicit-euler"])
def test_balls_and_free_joints_lock(scheme: Literal["bilinear", "symplectic-euler", "implicit-euler"]) -> None:
    """An arm with its wrist locked swings as one with its hand welded on; a free body stays, its weight carried."""
    model = sw.load(BALLS)
    sim = sw.Simulation(model, scheme=scheme)
    turn = np.array([0.8, 0.2, -0.4, 0.4])
    sim.joint("wrist").q = turn
    sim.joint("wrist").v = [1.0, 2.0, 3.0]
    sim.joint("free").v = [1.0, 0, 0, 0, 2.0, 0]
    for name in ("wrist", "free"):
        assert not sim.joint(name).locked
        sim.joint(name).locked = True
        assert sim.joint(name).locked
    place = sim.joint("free").q.copy()
    welded = BALLS.replace('<joint name="wrist" type="ball" pos=".01 0 0"/>', "")
    # The hand as it hangs on the wrist, which is 10 mm from its origin.
    w, x, y, z = turn
    rest = np.array([0.01, 0, 0])
    turned = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]) * 0.01
    origin = np.array([0.3, 0, 0]) + rest - turned
    pose = f'pos="{" ".join(map(str, origin))}" quat="{" ".join(map(str, turn))}"'
    expected = sw.Simulation(sw.load(welded.replace('name="hand" pos=".3 0 0"', f'name="hand" {pose}')), scheme=scheme)
    # The push of the lock stops the hand, and moves the arm.
    sim.step()
    expected.q[0], expected.v[0] = sim.q[0], sim.v[0]
    sim.step(200)
    expected.step(200)
    np.testing.assert_allclose(sim.joint("wrist").q, turn, atol=2e-4)
    np.testing.assert_allclose(sim.q[0], expected.q[0], atol=2e-3)
    np.testing.assert_allclose(sim.joint("free").q, place, atol=1e-4)
    np.testing.assert_allclose(sim.joint("free").v, 0, atol=1e-6)
    assert sim.q[0] > 0.3
    # What holds the free body is its weight.
    np.testing.assert_allclose(sim.constraint_forces[4:7], [0, 0, 2 * 9.81], atol=1e-3)
    saved = sim.state()
    for name in ("wrist", "free"):
        sim.joint(name).locked = False
    sim.step(100)
    assert np.abs(sim.joint("wrist").q - turn).max() > 0.05
    assert sim.joint("free").v[2] == pytest.approx(-9.81 * 0.2, rel=1e-3)
    sim.restore(saved)
    sim.step(10)


def test_locks_of_worlds() -> None:
    model = sw.load(BALLS)
    batch = sw.Batch(model, 2)
    locks = np.zeros((1, 3, 8))
    locks[0, 2, 0], locks[0, 2, 1:] = 1, model.keyframe().q[5:12]
    with pytest.warns(sw.PerformanceWarning, match="joint_locks"):
        batch.set_parameters([1], joint_locks=locks)
    batch.step(100)
    assert batch.q[0, 7] < 0.9
    assert batch.q[1, 7] == pytest.approx(1, abs=1e-5)
    sim = sw.Simulation(model)
    for row, message in (
        ([1, 0, 0, 0, 0, 0, 0, 0], r"joint_locks\[1, 1\] is 0: expected a quaternion"),
        ([2, 1, 0, 0, 0, 0, 0, 0], r"joint_locks\[1, 0\] is 2: expected 1 or 0"),
        ([1, 1, 0, 0, 0, 5, 0, 0], r"joint_locks\[1, 5\] is 5: expected 0 behind"),
    ):
        sim.parameters.joint_locks[1] = row
        with pytest.raises(ValueError, match=message):
            sim.step()
    sim.parameters.joint_locks[1] = 0
    sim.parameters.joint_locks[0, 0] = 1
    with pytest.raises(ValueError, match="joint_ranges hold what is neither a ball nor a free joint"):
        sim.step()


def test_planar_joints_do_not_lock() -> None:
    builder = sw.ModelBuilder("table")
    body = builder.world.add_body("puck")
    body.add_joint("slide", "planar")
    body.add_geom("sphere", 0.1, mass=1.0)
    sim = sw.Simulation(builder.build())
    with pytest.raises(
        ValueError, match="is a planar joint: expected one with one degree of freedom, a ball or a free"
    ):
        sim.joint("slide").locked = True


def test_geoms_change_friction_and_what_they_touch() -> None:
    text = """<mujoco><option gravity="2 0 -9.81"/><worldbody>
      <geom name="ground" type="plane" size="0 0 1" friction=".1"/><body name="box" pos="0 0 .1"><freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" friction=".1"/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.step(250)
    np.testing.assert_allclose(sim.v[0] / sim.time, 2 - 0.981, rtol=1e-2)
    sim.geom("box").friction = 0.8
    np.testing.assert_allclose(sim.geom("box").friction[0], 0.8)
    sim.step(250)
    np.testing.assert_allclose(sim.v, 0, atol=1e-6)
    assert sim.geom("box").contype == 1
    sim.geom("box").contype = 0
    sim.geom("box").conaffinity = 0
    sim.step(250)
    assert sim.body("box").position[2] < -1
    sim.parameters.reset()
    assert sim.geom("box").contype == 1
    sim.parameters.contypes[0] = 0.5
    with pytest.raises(ValueError, match="whole number"):
        sim.step()


ADHESION = """<mujoco><option timestep="0.002"/><worldbody>
  <body name="plate" pos="0 0 1"><geom type="box" size=".1 .1 .01"/></body>
  <body name="part" pos="0 0 .9395"><freejoint/>
    <geom type="box" size=".05 .05 .05" mass=".5" gap=".01"/></body></worldbody>
  <actuator><adhesion name="cup" body="part" ctrlrange="0 1" gain="20"/></actuator></mujoco>"""


def test_adhesion_holds_with_mujocos_forces_and_is_written() -> None:
    m = mujoco.MjModel.from_xml_string(ADHESION)
    d = mujoco.MjData(m)
    model = sw.load(ADHESION)
    assert not any("actuator" in str(warning) for warning in model.warnings)
    again = sw.load(model.to_mjcf())
    written = mujoco.MjModel.from_xml_string(model.to_mjcf())
    assert written.actuator_trntype[0] == mujoco.mjtTrn.mjTRN_BODY
    for each in (model, again):
        sim = sw.Simulation(each)
        assert sim.actuator("cup").target == sim.body("part")
        sim.ctrl[0] = 0.6
        sim.step(500)
        np.testing.assert_allclose(sim.body("part").contact_force, [0, 0, 0.5 * 9.81 - 12], atol=1e-3)
        np.testing.assert_allclose(sim.body("part").position[2], 0.94, atol=1e-4)
        assert sim.actuator("cup").force == 12
        sim.ctrl[0] = 0
        sim.step(100)
        assert sim.body("part").position[2] < 0.85
    d.ctrl[0] = 0.6
    mujoco.mj_step(m, d, 2000)
    wrench = np.zeros(6)
    total = 0.0
    for k in range(d.ncon):
        mujoco.mj_contactForce(m, d, k, wrench)
        total += wrench[0]
    np.testing.assert_allclose(total, 12 - 0.5 * 9.81, rtol=1e-2)


GEAR = """<mujoco>{option}<worldbody><body><joint name="p" axis="0 1 0"/><geom size=".05" pos=".2 0 0" mass="1"/></body>
    <body pos="0 1 0"><joint name="r" axis="0 1 0"/><geom size=".05" pos=".2 0 0" mass="1"/></body></worldbody>
    <tendon><fixed name="P"><joint joint="p" coef="2"/></fixed>
      <fixed name="R"><joint joint="r" coef="1"/></fixed></tendon>
    <equality>{coupling}</equality></mujoco>"""


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint"])
@pytest.mark.parametrize(
    "coupling",
    [
        '<joint name="e" joint1="p" joint2="r" polycoef="0 -1 0 0 0"/>',
        '<joint name="e" joint1="p" joint2="r" polycoef=".1 -.5 .2 0 0"/>',
        '<joint name="e" joint1="p" polycoef=".3 0 0 0 0"/>',
        '<tendon name="e" tendon1="P" tendon2="R" polycoef="0 -2 0 0 0"/>',
    ],
)
def test_couplings_have_a_force(coupling: str, scheme: Literal["bilinear", "symplectic-euler", "midpoint"]) -> None:
    """At rest it is MuJoCo's, and along the coordinates it holds their weights."""
    m = mujoco.MjModel.from_xml_string(GEAR.format(coupling=coupling, option='<option integrator="implicitfast"/>'))
    m.dof_damping[:] = 1
    d = mujoco.MjData(m)
    sim = sw.Simulation(sw.load(GEAR.format(coupling=coupling, option="")), scheme=scheme)
    sim.parameters.damping[:] = 1
    assert sim.equality("e").force.tolist() == [0]
    mujoco.mj_step(m, d, 20_000)
    sim.step(20_000)
    assert sim.equality("e").force == pytest.approx(d.efc_force[:1], rel=2e-3)
    assert not sim.equality("e").torque.any()
    sim.equality("e").active = False
    sim.step()
    assert sim.equality("e").force.tolist() == [0]
