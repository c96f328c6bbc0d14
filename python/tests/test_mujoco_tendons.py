"""Tendons of programs of MuJoCo: what lies in an ``MjData`` after a step is what ``mj_tendon`` leaves there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")
_carry = pytest.importorskip("sapwood.mujoco._carry")

pytestmark = pytest.mark.usefixtures("mujoco_as_before")

MODEL = """<mujoco>
  <option timestep="2e-3"/>
  <worldbody>
    <site name="ceiling" pos="0 0 1.2"/><site name="wall" pos="-.5 0 1"/><site name="corner" pos="-.5 .1 .6"/>
    <geom name="post" type="cylinder" size=".15 .3" pos="-.25 0 .95" euler="80 20 0" contype="0" conaffinity="0"/>
    <body pos="0 0 1">
      <joint name="shoulder" type="ball" damping=".05"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" contype="0" conaffinity="0"/>
      <geom name="knob" size=".06" pos=".1 0 .02" contype="0" conaffinity="0"/>
      <site name="upper" pos=".02 0 .12"/><site name="middle" pos=".3 .02 .05"/><site name="side" pos=".1 0 .2"/>
      <site name="within" pos=".1 0 .025"/>
      <body pos=".4 0 0">
        <joint name="elbow" axis="0 1 0"/><joint name="slide" type="slide" axis="1 0 0" stiffness="40" damping="1"/>
        <geom name="pin" type="cylinder" size=".04 .1" euler="90 0 0" contype="0" conaffinity="0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/>
        <site name="lower" pos=".1 0 .06"/><site name="tip" pos=".3 0 0"/><site name="below" pos="0 0 -.1"/>
      </body>
    </body>{bodies}
  </worldbody>
  <tendon>
    <spatial name="straight" stiffness="30"><site site="wall"/><site site="corner"/><site site="upper"/>
      <site site="middle"/><site site="tip"/></spatial>
    <fixed name="sum" damping=".1"><joint joint="elbow" coef=".5"/><joint joint="slide" coef="-2"/></fixed>
    <spatial name="pulleys" damping=".3"><site site="ceiling"/><site site="upper"/><pulley divisor="2"/>
      <site site="upper"/><geom geom="knob" sidesite="side"/><site site="lower"/><pulley divisor="4"/>
      <site site="middle"/><site site="wall"/></spatial>
    <spatial name="muscle"><site site="middle"/><geom geom="pin" sidesite="{side}"/><site site="tip"/></spatial>
    <spatial name="round"><site site="wall"/><geom geom="post"/><site site="upper"/>
      <geom geom="knob" sidesite="within"/><site site="middle"/></spatial>
    <spatial name="limited" limited="true" range="0 3"><site site="ceiling"/><geom geom="knob"/>
      <site site="tip"/></spatial>
    {tendons}
  </tendon>
  <actuator><motor name="pull" tendon="muscle" gear="2"/><motor tendon="round"/>
    <position tendon="sum" kp="3"/></actuator>
  <sensor><tendonpos tendon="pulleys"/><tendonvel tendon="round"/><actuatorpos actuator="pull"/></sensor>
</mujoco>"""
EXACT = ("ten_wrapadr", "ten_wrapnum")
CLOSE = ("ten_length", "ten_J", "ten_velocity", "actuator_length", "actuator_velocity", "actuator_moment", "sensordata")


def model(*, bodies: str = "", tendons: str = "", side: str = "below") -> Any:
    return mujoco.MjModel.from_xml_string(MODEL.format(bodies=bodies, tendons=tendons, side=side))


def points(m: Any, d: Any) -> tuple[Any, Any]:
    """What strings are drawn through: only so many entries are written."""
    count = int((d.ten_wrapnum).sum())
    return d.wrap_obj.ravel()[:count], d.wrap_xpos.reshape(-1, 3)[:count]


def check(m: Any, d: Any, before: Any) -> None:
    """Compares with MuJoCo's stages at the state before the step."""
    mujoco.mj_fwdPosition(m, before)
    mujoco.mj_sensorPos(m, before)
    mujoco.mj_fwdVelocity(m, before)
    mujoco.mj_sensorVel(m, before)
    for name in EXACT:
        np.testing.assert_array_equal(getattr(d, name), getattr(before, name), err_msg=name)
    for name in CLOSE:
        np.testing.assert_allclose(getattr(d, name), getattr(before, name), rtol=0, atol=1e-12, err_msg=name)
    (objects, places), (their_objects, their_places) = points(m, d), points(m, before)
    np.testing.assert_array_equal(objects, their_objects)
    np.testing.assert_allclose(places, their_places, rtol=0, atol=1e-12)


OTHERS = {
    "strings": {},
    "on_the_other_side": {"side": "side"},
    "one_is_only_seen": {"tendons": '<spatial><site site="wall"/><geom geom="post"/><site site="tip"/></spatial>'},
    "one_pulls_at_what_is_moved": {
        "bodies": '<body name="hand" mocap="true" pos="0 .3 1"><site name="hand"/></body>',
        "tendons": '<spatial stiffness="5"><site site="hand"/><geom geom="knob"/><site site="tip"/></spatial>',
    },
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_a_step_leaves_of_tendons(case: str) -> None:
    m = model(**OTHERS[case])
    d, before = mujoco.MjData(m), mujoco.MjData(m)
    rng = np.random.default_rng(3)
    seen: set[int] = set()
    for k in range(60):
        if k % 10 == 0:
            d.qpos[:] = mujoco.MjData(m).qpos + rng.normal(0, 0.4, m.nq) * [1, 1, 1, 1, 1, 0.1]
            mujoco.mj_normalizeQuat(m, d.qpos)
            d.qvel[:] = rng.normal(0, 1, m.nv)
        d.ctrl[:] = rng.uniform(-1, 1, m.nu)
        d.mocap_pos[:] += 0.001
        mujoco.mj_copyData(before, m, d)
        if k % 3 == 2:
            guest.step(m, before, 2)
            guest.step(m, d, 3)
        else:
            guest.step(m, d)
        if case == "one_pulls_at_what_is_moved":
            # A body that is moved stays where it is in steps of one call.
            before.mocap_pos[:] = d.mocap_pos
        check(m, d, before)
        seen |= {int(count) for count in d.ten_wrapnum}
    # Strings that pass geoms by, and that lie on them.
    assert len(seen) > 4


def test_stages_of_a_step_leave_tendons() -> None:
    """``mj_step1`` after ``mj_step2``, as dm_control has it, and after a state that a program has set."""
    m = model()
    d, before = mujoco.MjData(m), mujoco.MjData(m)
    with guest.physics():
        mujoco.mj_step1(m, d)
        for k in range(20):
            d.ctrl[:] = np.sin(k)
            mujoco.mj_step2(m, d)
            if k % 5 == 4:
                d.qpos[-1] += 0.05
            mujoco.mj_copyData(before, m, d)
            mujoco.mj_step1(m, d)
            check(m, d, before)


@pytest.mark.parametrize("turn", ["0 0 0", "20 50 70"])
def test_strings_in_line_with_a_centre(turn: str) -> None:
    """They may pass on any side: on MuJoCo's."""
    m = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>
      <site name="0" pos="0 0 1"/><geom name="0" size=".1" pos="0 0 .5" euler="{turn}"/>
      <site name="1" pos="1 .4 .5"/><geom name="1" size=".1" pos="1 0 .5" euler="{turn}"/>
      <body pos="0 0 .1"><freejoint/><geom size=".05"/><site name="0b"/></body>
      <body pos="1 -.3 .5"><freejoint/><geom size=".05"/><site name="1b"/></body></worldbody>
      <tendon><spatial stiffness="1"><site site="0"/><geom geom="0"/><site site="0b"/></spatial>
      <spatial stiffness="1"><site site="1"/><geom geom="1"/><site site="1b"/></spatial></tendon></mujoco>""")
    d, before = mujoco.MjData(m), mujoco.MjData(m)
    guest.step(m, d)
    check(m, d, before)
    assert list(d.ten_wrapnum) == [4, 4]


def test_forces_of_actuators_are_along_the_tendons() -> None:
    m = model()
    m.opt.timestep = 1e-7
    d = mujoco.MjData(m)
    d.ctrl[:] = [0.7, -0.4, 0.3]
    guest.step(m, d, 3)
    assert abs(d.qfrc_actuator).min() > 0
    np.testing.assert_allclose(d.qfrc_actuator, d.actuator_force @ _dense_moment(m, d), atol=1e-6)


def _dense_moment(m: Any, d: Any) -> Any:
    moment = np.zeros((m.nactuator, m.nv))
    mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    return moment


def test_strings_follow_what_is_moved() -> None:
    m = mujoco.MjModel.from_xml_string("""<mujoco><worldbody>
      <body mocap="true" pos="-1 0 0"><site name="hand" pos="0 .1 0"/></body>
      <body><joint type="slide" axis="1 0 0" damping="20"/><geom size=".1"/><site name="at" pos="0 .1 0"/></body>
      </worldbody><tendon><spatial stiffness="50" springlength=".5"><site site="hand"/><site site="at"/></spatial>
      </tendon></mujoco>""")
    d = mujoco.MjData(m)
    for place in (-1.0, 0.3, 2.0, -1.5):
        d.mocap_pos[0, 0] = place
        guest.step(m, d, 3000)
        assert abs(d.qpos[0] - place) == pytest.approx(0.5, abs=1e-3)
        assert d.ten_length[0] == pytest.approx(0.5, abs=1e-3)


def test_numbers_of_sites_that_turn_nothing_are_not_compared() -> None:
    m = model()
    d = mujoco.MjData(m)

    def version() -> int:
        guest.step(m, d)
        return int(_carry.watch(m, False).version)

    first = version()
    m.site_quat[:] = [0, 1, 0, 0]
    m.site_size[:] *= 2
    m.geom_fluid[:] = 0.5
    assert version() == first
    m.site_pos[0, 0] += 0.01
    assert version() == first + 1
    m.opt.density = 1.2
    assert version() == first + 2
    m.geom_fluid[:] = 0
    assert version() == first + 3
