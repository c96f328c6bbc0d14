"""What a step calls of MuJoCo: its errors, callbacks in C, its timer; and batches in which a simulation fails."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")

pytestmark = pytest.mark.usefixtures("mujoco_as_before")

PENDULUM = """<mujoco>
  <worldbody><body name="b"><joint name="j" axis="0 1 0"/><geom size=".1" pos="0 0 -.5"/></body></worldbody>
  <actuator><motor joint="j"/></actuator>
  <sensor><jointpos joint="j"/></sensor></mujoco>"""


def pendulum() -> tuple[Any, Any]:
    m = mujoco.MjModel.from_xml_string(PENDULUM)
    return m, mujoco.MjData(m)


def test_errors_of_mujoco_are_errors() -> None:
    m, d = pendulum()
    guest.step(m, d)
    kind = int(m.sensor_type[0])
    m.sensor_type[0] = 999
    for _ in range(3):
        with pytest.raises(mujoco.FatalError, match="sensor"):
            guest.step(m, d)
    m.sensor_type[0] = kind
    time = d.time
    guest.step(m, d)
    assert d.time == pytest.approx(time + m.opt.timestep)


def test_a_control_of_c() -> None:
    m, d = pendulum()
    seen = []
    control = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda m, d: seen.append((m, d)))
    mujoco.set_mjcb_control(control)
    try:
        guest.step(m, d, 3)
    finally:
        mujoco.set_mjcb_control(None)
    guest.step(m, d)
    assert seen == 3 * [(m._address, d._address)]


@pytest.mark.filterwarnings("ignore:sensor own")
def test_a_sensor_of_python_that_fails() -> None:
    m = mujoco.MjModel.from_xml_string(
        PENDULUM.replace("<jointpos", '<user name="own" dim="1" needstage="pos" objtype="body" objname="b"/><jointpos')
    )
    d = mujoco.MjData(m)

    def sense(m: Any, d: Any, stage: Any) -> None:
        raise RuntimeError("of the program")

    guest.step(m, d)
    mujoco.set_mjcb_sensor(sense)
    try:
        with pytest.raises(RuntimeError, match="of the program"):
            guest.step(m, d)
    finally:
        mujoco.set_mjcb_sensor(None)
    guest.step(m, d)


def test_the_timer_of_steps() -> None:
    m, d = pendulum()
    timer = d.timer[mujoco.mjtTimer.mjTIMER_STEP]
    guest.step(m, d)
    guest.step(m, d, 4)
    assert timer.number == 5
    assert timer.duration > 0


def test_a_simulation_that_fails_leaves_the_others() -> None:
    from mujoco import batch

    m, _ = pendulum()
    with guest.physics():
        worlds = batch.Batch(m, nsim=4, nthread=2)
        damping = worlds.expand("dof_damping")
        damping[2] = np.nan
        with pytest.raises(batch.SimulationError) as error:
            worlds.step()
        np.testing.assert_array_equal(error.value.ids, [2])
        assert worlds.error(2)
        assert not worlds.error(1)
        time = worlds.bind("time")
        assert time[2] == 0
        assert (np.delete(time, 2) > 0).all()
        damping[2] = 0
        worlds.step()
        assert not worlds.status.any()


def test_a_rollout_ends_where_a_warning_is_raised() -> None:
    from mujoco import batch

    m, _ = pendulum()
    with guest.physics():
        worlds = batch.Batch(m, nsim=3, nthread=1)
        worlds.bind("qvel")[1] = np.inf
        recorded = worlds.rollout(4, record=("qpos",))["qpos"][..., 0]
    assert worlds.warning[1, int(mujoco.mjtWarning.mjWARN_BADQVEL), 1] == 1
    assert not worlds.warning[[0, 2]].any()
    np.testing.assert_array_equal(recorded[1], recorded[1, 0])
    too_short = np.zeros((3, 2, m.nu))
    with pytest.raises(ValueError, match="control"):
        worlds._b.rollout(None, 3, too_short, int(mujoco.mjtState.mjSTATE_CTRL), [])


def test_heights_that_no_geom_shows_are_not_compared() -> None:
    field = '<asset><hfield name="f" nrow="100" ncol="100" size="1 1 1 1"/></asset><worldbody>'
    m = mujoco.MjModel.from_xml_string(PENDULUM.replace("<worldbody>", field))
    from sapwood.mujoco._carry import Watched

    watched = Watched(m, near_rigid=False)
    m.hfield_data[:] = 0.5
    assert not watched.numbers.differ()


def test_numbers_count_from_when_something_has_them() -> None:
    """The range of a joint that has no limit is not compared, until a program gives it one."""
    m, d = pendulum()
    m.jnt_limited[0], m.jnt_range[0] = 0, (-0.1, 0.1)
    with guest.physics():
        mujoco.mj_step(m, d)
        for highest in (0.2, 0.4):
            m.jnt_limited[0], m.jnt_range[0] = 1, (-0.1, highest)
            mujoco.mj_resetData(m, d)
            d.qfrc_applied[0] = 25.0
            mujoco.mj_step(m, d, nstep=2000)
            assert d.qpos[0] == pytest.approx(highest, abs=0.01)


def test_moved_bodies_have_their_own_poses() -> None:
    """Each is where its row of `mocap_pos` has it, also behind one that joints hang on."""
    m = mujoco.MjModel.from_xml_string("""<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="A" mocap="true" pos="0 3 .5"><body><joint type="slide" axis="0 1 0"/><geom size=".01"/></body></body>
      <body name="B" mocap="true" pos="-.5 0 .1"><geom type="box" size=".05 .05 .05"/></body>
      <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>""")
    places = []
    for step in (mujoco.mj_step, guest.step):
        d = mujoco.MjData(m)
        for k in range(500):
            d.mocap_pos[1, 0] = -0.5 + 0.001 * k
            step(m, d)
        places.append(d.qpos[1])
    assert places[0] > 0.1
    assert places[1] == pytest.approx(places[0], abs=0.005)


def test_stages_alone_follow_the_flags() -> None:
    """``mj_step1`` does not compare all numbers of the model, but knows what is enabled."""
    m, d = pendulum()
    with guest.physics():
        mujoco.mj_step(m, d)
        assert d.energy[0] == 0
        m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        mujoco.mj_step1(m, d)
    z = d.xipos[1, 2]
    assert d.energy[0] == pytest.approx(9.81 * m.body_mass[1] * z)


def test_numbers_that_change_before_stages_alone_are_seen_by_the_step() -> None:
    ends = []
    for is_halved in (False, True):
        m, d = pendulum()
        d.ctrl[:] = 1
        with guest.physics():
            mujoco.mj_step(m, d, 10)
            m.actuator_gear[0, 0] = 20
            if is_halved:
                mujoco.mj_step1(m, d)
                mujoco.mj_step2(m, d)
            else:
                mujoco.mj_step(m, d)
        ends.append((np.array(d.qpos), np.array(d.qvel), np.array(d.qfrc_actuator)))
    for found, expected in zip(*ends, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert ends[0][2] == pytest.approx(20)


def test_options_are_followed_without_another_world() -> None:
    from sapwood.mujoco import _world

    m, d = pendulum()
    d.qvel[:] = 5
    guest.step(m, d)
    count = len(_world.worlds)
    state = np.array(d.qpos), np.array(d.qvel)
    ends = []
    for scheme in ("bilinear", "implicit-euler", "bilinear"):
        with guest.physics(scheme=scheme):
            d.qpos[:], d.qvel[:] = state
            mujoco.mj_step(m, d, 20)
            ends.append(d.qpos[0])
            assert len(_world.worlds) == count
    assert ends[0] == ends[2] != ends[1]


def test_errors_of_callbacks_reach_the_program() -> None:
    m, d = pendulum()

    def control(m: Any, d: Any) -> None:
        raise ArithmeticError("no control")

    mujoco.set_mjcb_control(control)
    try:
        with pytest.raises(ArithmeticError, match="no control"):
            guest.step(m, d)
    finally:
        mujoco.set_mjcb_control(None)
    guest.step(m, d)


@pytest.mark.parametrize("medium", ["", 'density="1000" viscosity=".01"'])
def test_forces_are_those_of_the_simulation(medium: str) -> None:
    """What a step writes of forces is what ``Simulation`` says of the same step, bit for bit."""
    m = mujoco.MjModel.from_xml_string(f"""<mujoco><option {medium}/><worldbody><geom type="plane" size="5 5 1"/>
      <body pos="0 0 .2"><freejoint/><geom type="box" size=".2 .1 .05"/>
        <body pos=".2 0 0"><joint name="a" axis="0 1 0" range="-20 20" damping=".1" frictionloss=".1"/>
          <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body></body></worldbody>
      <actuator><motor joint="a" gear="2"/></actuator></mujoco>""")
    d = mujoco.MjData(m)
    from sapwood.mujoco import _world

    softness: dict[str, Any] = _world._softness(m)
    sim = sw.Simulation(sw.Model.from_mujoco(m), **softness)
    pushed = 0.0
    for k in range(200):
        d.ctrl[:] = np.sin(0.05 * k)
        sim.ctrl = d.ctrl
        guest.step(m, d)
        sim.step()
        np.testing.assert_array_equal(d.qpos, sim.q)
        np.testing.assert_array_equal(d.qfrc_constraint, sim.constraint_forces)
        np.testing.assert_array_equal(d.qfrc_actuator, sim.actuation_forces)
        np.testing.assert_array_equal(d.actuator_force, sim.actuator_forces)
        pushed = max(pushed, np.abs(d.qfrc_constraint).max())
    assert pushed > 1


ROWS = """<mujoco><option jacobian="{}"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="hand" mocap="true" pos="0 0 .5"/>
  <body name="held" pos="0 0 .5"><freejoint/><geom size=".05"/>
    <body name="door" pos=".1 0 0"><joint name="door" axis="0 1 0" range="-1 1" frictionloss=".1"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass=".4"/></body></body>
  <body name="box" pos="1 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body></worldbody>
  <equality><weld body1="hand" body2="held"/>{}</equality>
  <sensor><jointlimitfrc joint="door"/></sensor></mujoco>"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("twice", ["", '<weld body1="hand" body2="held"/>'])
def test_rows_have_the_least_forces_that_make_what_contacts_leave(jacobian: str, twice: str) -> None:
    """Also where rows depend on each other: two welds share one load."""
    m = mujoco.MjModel.from_xml_string(ROWS.format(jacobian, twice))
    d = mujoco.MjData(m)
    pushed = 0.0
    for k in range(300):
        if k == 150:
            m.opt.jacobian = int(not mujoco.mj_isSparse(m))  # the other kind
        d.mocap_pos[0, 0] = 0.1 * np.sin(0.02 * k)
        guest.step(m, d)
        count = d.ne + d.nf + d.nl
        rows = rows_of(m, d)
        rest = d.qfrc_constraint - rows[count:].T @ d.efc_force[count:]
        own = rows[:count].T
        least = np.linalg.lstsq(own, rest, rcond=1e-10)[0]
        np.testing.assert_allclose(d.efc_force[:count], least, rtol=0, atol=1e-8)
        np.testing.assert_allclose(own @ d.efc_force[:count], own @ least, rtol=0, atol=1e-9)
        pushed = max(pushed, d.sensordata[0])
    assert pushed > 0.1
    assert np.abs(d.efc_force[count:]).max() > 0.1, "the box stands"


def rows_of(m: Any, d: Any) -> Any:
    """The Jacobian of all constraints, dense."""
    if not mujoco.mj_isSparse(m):
        return d.efc_J.reshape(d.nefc, m.nv).copy()
    rows = np.zeros((d.nefc, m.nv))
    mujoco.mju_sparse2dense(rows, d.efc_J.ravel(), d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind.ravel())
    return rows
