"""Bodies that are moved from outside, and equality constraints that are switched."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import sapwood as sw

HAND = """<mujoco><option timestep="0.002"/><worldbody>
    <body name="target" mocap="true" pos="0 0 1"><geom size=".02" contype="0" conaffinity="0"/></body>
    <body name="hand" pos="0 0 1"><freejoint/><geom size=".05" mass="1"/></body></worldbody>
    <equality><weld name="grip" body1="target" body2="hand" {parameters}/></equality></mujoco>"""


@pytest.mark.parametrize("parameters", ["", 'solref="0.02 1" solimp="0.9 0.95 0.001"'])
def test_what_is_welded_to_a_moved_body_follows_it(parameters: str) -> None:
    text = HAND.format(parameters=parameters)
    sim = sw.Simulation(sw.load(text))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    turn = np.array([np.cos(0.2), 0, 0, np.sin(0.2)])
    for k in range(1000):
        x = 0.3 * min(k / 500, 1)
        sim.body("target").position = (x, 0, 1)
        sim.body("target").quaternion = turn
        data.mocap_pos[0, 0], data.mocap_quat[0] = x, turn
        sim.step()
        mujoco.mj_step(model, data)
    assert np.allclose(sim.body("target").position, (0.3, 0, 1))
    assert np.allclose(sim.body("hand").position, (0.3, 0, 1), atol=2e-3)
    assert np.allclose(sim.body("hand").quaternion, turn, atol=2e-3)
    if parameters:
        assert np.allclose(sim.q, data.qpos, atol=1e-4)


def test_moved_bodies_push_what_they_meet() -> None:
    text = """<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
        <body name="pusher" mocap="true" pos="-.3 0 .1"><geom type="box" size=".05 .2 .08"/></body>
        <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    for k in range(1500):
        sim.mocap_positions[0, 0] = -0.3 + 0.2 * k * sim.timestep
        sim.step()
    assert sim.body("box").position[0] == pytest.approx(sim.mocap_positions[0, 0] + 0.15, abs=2e-3)


def test_equalities_are_switched() -> None:
    text = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size=".05"/></body></worldbody>
        <equality><weld name="hold" body1="a" active="false"/></equality></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    assert not sim.equality("hold").active
    sim.equality("hold").active = True
    sim.step(100)
    assert sim.body("a").position[2] == pytest.approx(1, abs=1e-4)
    saved = sim.state()
    sim.equality("hold").active = False
    sim.step(100)
    fallen = sim.q.copy()
    assert fallen[2] < 0.9
    sim.restore(saved)
    assert sim.equality("hold").active
    sim.equality("hold").active = False
    sim.step(100)
    assert np.array_equal(sim.q, fallen)
    sim.reset()
    assert not sim.equality("hold").active
    assert repr(sim.equality("hold")) == '<sapwood equality "hold", a weld, not in force>'


def test_worlds_have_their_own() -> None:
    text = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
            <body name="a" pos="0 0 1"><freejoint/><geom size=".05"/></body></worldbody>
        <equality><weld name="hold" body1="a"/></equality></mujoco>"""
    batch = sw.Batch(sw.load(text), 5)
    batch.equality_active[2:] = 0
    batch.step(100)
    assert np.all(batch.q[:2, 2] > 0.999)
    assert np.all(batch.q[2:, 2] < 0.9)
    batch.reset()
    assert np.all(batch.equality_active == 1)
    moved = sw.Batch(sw.load(HAND.format(parameters="")), 3)
    assert moved.alone is None
    moved.mocap_positions[:, 0, 0] = (0, 0.1, 0.2)
    moved.step(500)
    assert np.allclose(moved.q[:, 0], (0, 0.1, 0.2), atol=2e-3)


def test_worlds_have_their_own_belts() -> None:
    text = """<mujoco><worldbody><geom name="belt" type="plane" size="9 9 .1" surfacevel=".2"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    batch = sw.Batch(sw.load(text), 4, timestep=0.005)
    assert batch.alone is None
    batch.step(200)
    assert np.allclose(batch.v[:, 0], 0.2, atol=1e-4)
    batch.surface_velocity[1:, 0, 0] = (0, -0.3, 0.5)
    batch.step(200)
    assert np.allclose(batch.v[:, 0], (0.2, 0, -0.3, 0.5), atol=1e-4)
    state, other = batch.state(2), sw.Batch(batch.model, 1, timestep=0.005)
    other.set_state(0, state)
    assert other.surface_velocity[0, 0].tolist() == [-0.3, 0, 0]
    batch.reset()
    assert np.all(batch.surface_velocity[:, 0] == (0.2, 0, 0))


def test_what_does_not_move_so_says_so() -> None:
    sim = sw.Simulation(sw.load(HAND.format(parameters="")))
    assert sim.body("target").mocap
    assert not sim.body("hand").mocap
    with pytest.raises(AttributeError, match="mocap"):
        sim.body("hand").position = (0, 0, 0)
    with pytest.raises(ValueError, match="rotation"):
        sim.body("target").quaternion = (0, 0, 0, 0)
    text = '<mujoco><worldbody><body><body name="x" mocap="true"/></body></worldbody></mujoco>'
    with pytest.raises(sw.ModelError, match="worldbody"):
        sw.load(text)


def test_bodies_of_a_builder_are_moved_from_outside_or_not() -> None:
    builder = sw.ModelBuilder.from_model(sw.load(HAND.format(parameters="")))
    target, hand = builder.body("target"), builder.body("hand")
    assert [target.mocap, hand.mocap] == [True, False]
    builder.add_keyframe("far", mocap={target: [1, 2, 3, 1, 0, 0, 0]})
    target.mocap = False
    assert not target.mocap
    target.add_joint("free", "free")
    with pytest.raises(TypeError, match=r"mocap is 'yes': expected True or False"):
        target.mocap = "yes"  # type: ignore[assignment]
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(TypeError, match="expected True or False"):
        target.mocap = nested  # type: ignore[assignment]
    with pytest.raises(ValueError, match="the world"):
        builder.world.mocap = True
    model = builder.build()
    assert model.nq == 14
    assert sw.Simulation(model).mocap_positions.shape == (0, 3)
    hand.mocap = True
    with pytest.raises(sw.ModelError, match="without joints"):
        builder.build()


def test_keyframes_say_where_moved_bodies_are() -> None:
    builder = sw.ModelBuilder()
    hand = builder.add_body("hand", mocap=True, position=(0, 0, 1))
    hand.add_geom("sphere", 0.1)
    free = builder.add_body("free")
    free.add_geom("sphere", 0.1)
    free.add_joint(kind="free")
    with pytest.raises(ValueError, match='"free" is not moved from outside'):
        builder.add_keyframe("wrong", mocap={"free": [0, 0, 0, 1, 0, 0, 0]})
    with pytest.raises(ValueError, match="quaternion is zero"):
        builder.add_keyframe("wrong", mocap={hand: [0, 0, 0, 0, 0, 0, 0]})
    builder.add_keyframe("far", mocap={hand: [1, 2, 3, 0, 0, 0, 2]})
    model = builder.build()
    far = [1, 2, 3, 0, 0, 0, 1]
    np.testing.assert_array_equal(model.keyframe("far").mocap, [far])
    simulation = sw.Simulation(model)
    simulation.reset("far")
    simulation.step()
    np.testing.assert_array_equal(simulation.mocap_positions, [far[:3]])
    np.testing.assert_array_equal(simulation.mocap_quaternions, [far[3:]])
    simulation.reset()
    np.testing.assert_array_equal(simulation.body("hand").position, [0, 0, 1])
    batch = sw.Batch(model, 3)
    batch.reset([False, True, False], keyframe="far")
    np.testing.assert_array_equal(batch.mocap_positions[:, 0, 0], [0, 1, 0])
    # In a file, in a model that another one takes in, and as MuJoCo has it.
    outer = sw.ModelBuilder()
    outer.attach(sw.load(model.to_mjcf()), position=(0, 0, 5), prefix="a_")
    moved = sw.Simulation(outer.build())
    moved.reset("a_far")
    np.testing.assert_array_equal(moved.body("a_hand").position, [1, 2, 8])
    m = mujoco.MjModel.from_xml_string(model.to_mjcf())
    np.testing.assert_array_equal(np.hstack([m.key_mpos[0], m.key_mquat[0]]), far)
    carried = sw.Simulation(sw.Model.from_mujoco(m))
    carried.reset("far")
    np.testing.assert_array_equal(carried.body("hand").position, [1, 2, 3])


def test_pictures_show_where_bodies_are_moved_to() -> None:
    text = """<mujoco><worldbody><geom name="ground" type="plane" size="2 2 .1"/>
        <body name="target" mocap="true" pos="0 0 .5"><geom type="box" size=".1 .1 .1"/>
        <body name="tool" pos="0 0 .2"><geom name="tool" size=".05"/></body></body></worldbody></mujoco>"""
    model = sw.load(text)
    sim = sw.Simulation(model)
    camera = sw.Camera(position=(0, -3, 0.5), lookat=(0, 0, 0.5))

    def column() -> float:
        seen = np.asarray(sim.render(100, 100, camera=camera, kind="segmentation"))
        return float(np.nonzero(seen == model.geom_names.index("tool"))[1].mean())

    assert column() == pytest.approx(49.5, abs=0.5)
    sim.body("target").position = (0.45, 0, 0.5)
    assert column() > 60
    sim.step()
    assert column() > 60
    assert sw.Renderer(model, 100, 100).render(sim.q, camera=camera).shape == (100, 100, 3)


def test_a_body_follows_a_function() -> None:
    model = sw.load("""<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="0 0 1"/>
      <body name="lift" mocap="true" pos="0 0 .5"><geom type="box" size=".3 .3 .05"/></body>
      <body name="crate" pos="0 0 .65"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
      </worldbody></mujoco>""")
    sim, twin = sw.Simulation(model), sw.Simulation(model)

    def height(t: float) -> float:
        return 0.5 + 0.1 * (1 - math.cos(2 * t))

    sim.body("lift").follow(lambda t: [0.05 * t, 0, height(t)])
    sim.step(200)
    for _ in range(200):
        t = twin.time + twin.timestep
        twin.body("lift").position = [0.05 * t, 0, height(t)]
        twin.step()
    np.testing.assert_array_equal(sim.q, twin.q)
    np.testing.assert_allclose(sim.body("lift").position, [0.05 * 0.8, 0, height(0.8)], atol=1e-12)
    np.testing.assert_allclose(sim.body("crate").position, [0.05 * 0.8, 0, height(0.8) + 0.15], atol=2e-3)
    # To a time, which ends within a step, too.
    sim.advance_to(0.9)
    sim.advance_to(1.001)
    for _ in range(50):
        t = twin.time + twin.timestep
        twin.body("lift").position = [0.05 * t, 0, height(t)]
        twin.step()
    assert sim.time == 1.001
    np.testing.assert_allclose(sim.body("lift").position, [0.05 * 1.001, 0, height(1.001)], atol=1e-12)
    np.testing.assert_allclose(sim.q, twin.q, atol=1e-3)
    between = np.linspace(1.0, 1.3, 5)
    q, _ = sim.trajectory(between)
    np.testing.assert_allclose(q[1:, 2], [height(t) + 0.15 for t in between[1:]], atol=2e-3)
    with pytest.raises(ValueError, match=r"times\[1\] is 1.5, after 2: expected an ascending sequence"):
        sim.trajectory([2.0, 1.5])
    with pytest.raises(ValueError, match=r"times\[0\] is 0.5, and the simulation is at 1.3"):
        sim.trajectory([0.5, 2.0])
    half = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    sim.body("lift").follow(lambda _: ([0, 0, 0.5], half))
    sim.step()
    np.testing.assert_allclose(sim.body("lift").quaternion, half)
    sim.body("lift").follow(None)
    sim.advance_to(2.0)
    with pytest.raises(AttributeError, match="moves by its joints"):
        sim.body("crate").follow(lambda t: [0, 0, t])
    with pytest.raises(TypeError, match="expected a function of time"):
        sim.body("lift").follow([0, 0, 1])
    sim.body("lift").follow(lambda _: [1.0])
    with pytest.raises(ValueError, match="position has shape"):
        sim.step()


def test_a_body_follows_an_array() -> None:
    """As the function that goes straight between the poses; quaternions turn at one rate, the shorter way."""
    model = sw.load(
        """<mujoco><option timestep="0.004"/><worldbody><body name="lift" mocap="true"><geom size=".1"/></body>
      </worldbody></mujoco>"""
    )
    sim, twin = sw.Simulation(model), sw.Simulation(model)
    times = np.array([0.1, 0.3, 0.35])
    positions = np.array([[0, 0, 1], [0.02, 0, 1.01], [0.02, 0.01, 1.0]])
    sim.body("lift").follow(positions, times)
    twin.body("lift").follow(lambda t: [np.interp(t, times, column) for column in positions.T])
    for _ in range(100):
        sim.step()
        twin.step()
        np.testing.assert_allclose(sim.body("lift").position, twin.body("lift").position, atol=1e-15)
    turned = np.array([[1, 0, 0, 0], [math.cos(0.4), 0, 0, math.sin(0.4)]])
    sim.body("lift").follow(np.hstack([positions[:2], -3 * turned]), times=[0.4, 0.8])
    sim.advance_to(0.6)
    np.testing.assert_allclose(np.abs(sim.body("lift").quaternion), [math.cos(0.2), 0, 0, math.sin(0.2)], atol=1e-9)
    for motion, at, message in (
        (positions, [0, 1], r"times has shape \(2,\)"),
        (positions, [0, 1, 1], "each later than the one before"),
        (positions[:, :2], times, r"motion has shape \[3, 2\]: expected"),
        (positions * np.nan, times, r"motion\[0\]: expected finite numbers"),
        (np.zeros((3, 7)), times, r"motion\[0\]: a quaternion is zero"),
    ):
        with pytest.raises(ValueError, match=message):
            sim.body("lift").follow(motion, at)


def test_fixed_bodies_are_placed_in_the_world() -> None:
    sim = sw.Simulation(
        sw.load("""<mujoco><worldbody><body name="arm" pos="0 0 1" euler="0 0 90"><joint axis="0 0 1"/><geom size=".1"/>
      <body name="tool" pos=".3 0 0"><geom size=".05"/></body></body>
      <body name="table" pos="0 0 .5"><geom type="box" size=".3 .3 .05"/></body></worldbody></mujoco>""")
    )
    sim.body("table").position = [0.2, 0, 0.4]
    np.testing.assert_allclose(sim.body("table").position, [0.2, 0, 0.4], atol=1e-15)
    half = [math.sqrt(0.5), 0, math.sqrt(0.5), 0]
    sim.body("tool").position = [0.1, 0.4, 1]
    sim.body("tool").quaternion = half
    np.testing.assert_allclose(sim.body("tool").position, [0.1, 0.4, 1], atol=1e-15)
    np.testing.assert_allclose(sim.body("tool").quaternion, half, atol=1e-15)
    # It stays where it is on the arm.
    sim.q[0] = math.pi / 2
    np.testing.assert_allclose(sim.body("tool").position, [-0.4, 0.1, 1], atol=1e-15)
    with pytest.raises(AttributeError, match="moves by its joints"):
        sim.body("arm").position = [0, 0, 0]


def test_keys_place_bodies_that_joints_hang_on() -> None:
    """MuJoCo's `mpos` has a row of each body with `mocap`, those with joints below among them."""
    text = """<mujoco><worldbody><body name="A" mocap="true" pos="0 3 .5"><body><joint type="slide"/><geom size=".01"/>
      </body></body><body name="B" mocap="true" pos="-.5 0 .1"><geom size=".05"/></body></worldbody>
      <keyframe><key name="k" mpos="0 3 .5 4 5 6"/><key name="short" mpos="0 3 .5"/></keyframe></mujoco>"""
    model = sw.load(text)
    assert model.keyframe("k").mocap.tolist() == [[0, 3, 0.5, 1, 0, 0, 0], [4, 5, 6, 1, 0, 0, 0]]
    assert model.keyframe("short").mocap.tolist() == [[0, 3, 0.5, 1, 0, 0, 0], [-0.5, 0, 0.1, 1, 0, 0, 0]]


FINGER = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/><body name="hand" mocap="true" pos="-.5 0 .1">
    <body name="finger" pos=".05 0 0"><joint name="f" type="slide" axis="0 1 0" range="-.1 .1" damping="5"/>
      <geom name="pad" type="box" size=".05 .05 .05" pos="-.05 0 0"/><site name="tip" pos=".02 0 0"/></body></body>
    <body name="cube" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
    <sensor><framelinvel name="v" objtype="site" objname="tip"/></sensor></mujoco>"""


def test_joints_hang_on_moved_bodies() -> None:
    """A finger of a hand that is moved pushes a cube, and has the hand's velocity; in a batch as in a simulation."""
    m = mujoco.MjModel.from_xml_string(FINGER)
    d = mujoco.MjData(m)
    model = sw.load(FINGER)
    assert not model.warnings
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    for k in range(500):
        sim.body("hand").position = d.mocap_pos[0] = [-0.5 + 0.001 * k, 0, 0.1]
        batch.mocap_positions[:, 0] = d.mocap_pos[0]
        mujoco.mj_step(m, d)
        sim.step()
        batch.step()
    # The faces touch. MuJoCo's hand has no velocity, so that the cube gets its speed from being 18 mm in it.
    assert sim.q[1] == pytest.approx(sim.mocap_positions[0, 0] + 0.15, abs=2e-3)
    assert sim.q[1] == pytest.approx(d.qpos[1], abs=0.02)
    assert sim.v[1] == pytest.approx(0.5, abs=1e-3)
    finger = sim.body("finger")
    np.testing.assert_allclose(finger.position, d.body("finger").xpos, atol=1e-3)
    np.testing.assert_allclose(finger.velocity, [0, 0, 0, 0.5, 0, 0], atol=1e-3)
    np.testing.assert_allclose(sim.sensor("v").value, [0.5, 0, 0], atol=1e-3)
    np.testing.assert_array_equal(batch.q, [sim.q, sim.q])
    np.testing.assert_array_equal(batch.v, [sim.v, sim.v])
    np.testing.assert_allclose(batch.body_positions[1], [body.position for body in sim.bodies], atol=1e-15)
    np.testing.assert_allclose(batch.body_velocities[1], [body.velocity for body in sim.bodies], atol=1e-15)
    np.testing.assert_allclose(batch.site_positions[1, 0], sim.site("tip").position, atol=1e-15)
    np.testing.assert_allclose(batch.sensordata[1], sim.sensordata, atol=1e-15)
    again = sw.Simulation(model)
    again.restore(sim.state())
    for each in (sim, again):
        each.mocap_positions[0, 0] += 0.002
        each.step(3)
    assert again.state() == sim.state()


def test_moved_bodies_have_the_velocity_of_their_motion() -> None:
    text = """<mujoco><worldbody><body name="m" mocap="true"><geom name="g" size=".1" pos=".1 0 0"/>
        <site name="s"/></body></worldbody>
        <sensor><framelinvel objtype="site" objname="s"/><frameangvel objtype="geom" objname="g"/></sensor></mujoco>"""
    model = sw.load(text)
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    for k in range(20):
        sim.body("m").position = batch.mocap_positions[:, 0] = [0.001 * k, 0, 0]
        sim.body("m").quaternion = batch.mocap_quaternions[:, 0] = [math.cos(0.002 * k), 0, 0, math.sin(0.002 * k)]
        sim.step()
        batch.step()
    # 4 mrad and 1 mm in each step of 2 ms.
    np.testing.assert_allclose(sim.body("m").velocity, [0, 0, 2, 0.5, 0, 0], atol=1e-9)
    angle = 0.004 * 19
    there = [0, 0, 2, 0.5 - 0.2 * math.sin(angle), 0.2 * math.cos(angle), 0]
    np.testing.assert_allclose(sim.geom("g").velocity, there, atol=1e-9)
    np.testing.assert_allclose(sim.sensordata, [0.5, 0, 0, 0, 0, 2], atol=1e-9)
    np.testing.assert_allclose(batch.sensordata[1], sim.sensordata, atol=1e-12)
    np.testing.assert_allclose(batch.body_velocities[1, 1], sim.body("m").velocity, atol=1e-12)
    np.testing.assert_allclose(batch.body_positions[1, 1], sim.body("m").position, atol=1e-15)
    sim.step()
    assert not sim.body("m").velocity.any()
    sim.body("m").position = [1, 0, 0]
    sim.step()
    assert not sim.body("m").velocity.any()


def test_what_is_written_into_no_controls_is_answered() -> None:
    model = sw.load("""<mujoco><worldbody><body><joint axis="0 1 0"/><geom size=".1"/></body></worldbody></mujoco>""")
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    for owner in (sim, batch):
        with pytest.warns(UserWarning, match="the model has no actuators"):
            owner.ctrl[:] = 0.5
        owner.ctrl[:] = np.zeros(0)
        assert owner.ctrl.size == 0


def test_a_batch_goes_there_evenly_as_a_simulation_does() -> None:
    text = """<mujoco><option timestep=".005"/><worldbody><body mocap="true"><geom type="box" size=".5 .3 .1"/></body>
    <body pos="0 0 .15"><freejoint/><geom type="box" size=".05 .05 .05"/></body></worldbody></mujoco>"""
    model = sw.load(text)
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    sim.step(20)
    batch.step(20)
    for _ in range(5):
        sim.mocap_positions[0, 0] += 0.02
        batch.mocap_positions[:, 0, 0] += 0.02
        sim.step(10)
        batch.step(10)
        # 20 mm in 50 ms, though one step of 5 ms could have made them.
        assert sim.v[0] == pytest.approx(0.4, abs=1e-4)
        assert np.allclose(batch.q, sim.q, atol=1e-8)
        assert np.allclose(batch.v, sim.v, atol=1e-6)


PLATE = """<mujoco><option timestep="{dt}"/><worldbody>
  <body name="plate" mocap="true" pos="0 0 .6"><geom type="box" size=".3 .3 .02"/></body>
  <body name="load" pos="0 0 .67"><freejoint/><geom type="{shape}" size=".05 .05 .05" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("dt", [0.002, 0.005])
@pytest.mark.parametrize("shape", ["box", "sphere"])
@pytest.mark.parametrize("speed", [1.0, 0.2, -1.0])
def test_what_a_plate_carries_lies_on_it(dt: float, shape: str, speed: float) -> None:
    """Neither ahead of it nor behind: it is where the plate is at the end of a step."""
    model = sw.load(PLATE.format(dt=dt, shape=shape))
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    for engine in (sim, batch):
        engine.step(100)
    for _ in range(200):
        sim.mocap_positions[0, 2] += speed * dt
        batch.mocap_positions[:, 0, 2] += speed * dt
        sim.step()
        batch.step()
    for height, v, plate in [
        (sim.q[2], sim.v[2], sim.mocap_positions[0, 2]),
        (batch.q[1, 2], batch.v[1, 2], batch.mocap_positions[1, 0, 2]),
    ]:
        assert height - 0.07 - plate == pytest.approx(0, abs=1e-6)
        assert v == pytest.approx(speed, abs=1e-6)


@pytest.mark.parametrize(("begin", "end"), [("", ""), ("<body><geom size='.05'/>", "</body>")])
def test_what_hangs_from_a_moved_body_passes_through_it(begin: str, end: str) -> None:
    """As in MuJoCo, where only what hangs from the world touches its parent."""
    text = f"""<mujoco><worldbody>
      <body mocap="true" pos="5 0 1">{begin}<geom size="1"/>
        <body pos="0 0 1.5"><joint type="slide" axis="0 0 1"/><geom size="1"/></body></body>{end}
      <body mocap="true" pos="9 0 1"><geom size="1"/></body>
      <body pos="9 0 2"><joint type="slide" axis="0 0 1"/><geom size="1"/></body></worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, 100)
    for model in (sw.load(text), sw.Model.from_mujoco(m)):
        sim, batch = sw.Simulation(model), sw.Batch(model, 1)
        sim.step(100)
        batch.step(100)
        for q in (sim.q, batch.q[0]):
            assert q[0] == pytest.approx(d.qpos[0], abs=1e-3)
            assert q[1] > -1e-3
