"""Constrained motion against MuJoCo's, with small steps and stiff constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Recorder

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

OURS, THEIRS = 5e-5, 2e-5
"""Time steps, s."""

STIFF = (4e-5, 1.0)
"""``solref`` of MuJoCo's constraints: as stiff as its step allows."""


class Case(NamedTuple):
    """A model, what drives it, and for how long it moves."""

    text: str
    ctrl: tuple[float, ...] = ()
    time: float = 0.5
    tolerance: float = 1e-3
    """Of positions, m or rad: 1 mm after motions of half a metre or a radian."""


def arms(constraints: str, joints: str = "", default: str = "") -> str:
    """Two double pendulums side by side, held out."""

    def pendulum(name: str, x: float) -> str:
        return f"""<body name="{name}1" pos="{x} 0 0" euler="0 70 0"><joint name="{name}1" axis="0 1 0" {joints}/>
          <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".6"/>
          <body name="{name}2" pos="0 0 -.3"><joint name="{name}2" axis="0 1 0" {joints}/>
            <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/></body></body>"""

    return f"""<mujoco><default><geom contype="0" conaffinity="0"/>{default}</default>
      <worldbody>{pendulum("a", 0.0)}{pendulum("b", 0.7)}</worldbody>{constraints}</mujoco>"""


def equality(text: str) -> str:
    return f"<equality>{text}</equality>"


TENDON = '<tendon><fixed name="t" {}><joint joint="a1" coef="1"/><joint joint="b2" coef="-.7"/></fixed></tendon>'

CASES = {
    "four-bar linkage": Case(sw.scenes.mjcf("four-bar"), ctrl=(0.05,), time=1.0),
    "connect across trees": Case(arms(equality('<connect body1="a2" body2="b2" anchor="0 0 -.1"/>'))),
    "connect within a tree": Case(arms(equality('<connect body1="a2" body2="world" anchor="0 0 -.2"/>'))),
    "loop within a tree": Case(
        """<mujoco><default><geom contype="0" conaffinity="0"/><joint axis="0 1 0"/></default><worldbody>
        <body name="top" euler="0 50 0"><joint/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
          <body name="left"><joint/><geom type="capsule" fromto="0 0 0 .05 0 -.3" size=".02" mass=".4"/></body>
          <body name="right" pos=".3 0 0"><joint/><geom type="capsule" fromto="0 0 0 0 0 -.25" size=".02" mass=".3"/>
            <body name="bar" pos="0 0 -.25"><joint/>
              <geom type="capsule" fromto="0 0 0 -.25 0 -.05" size=".02" mass=".6"/></body></body></body>
        </worldbody><equality><connect body1="bar" body2="left" anchor="-.25 0 -.05"/></equality></mujoco>""",
        time=0.2,
    ),
    "weld": Case(arms(equality('<weld body1="a2" body2="b2"/>'))),
    "weld to the world": Case(arms(equality('<weld body1="a1"/>'))),
    "joint coupling": Case(arms(equality('<joint joint1="b1" joint2="a1" polycoef="0 .5 .3 0 0"/>'))),
    "tendon coupling": Case(arms(TENDON.format("") + equality('<tendon tendon1="t"/>'))),
    "tendon spring": Case(arms(TENDON.format('stiffness="8" damping=".1" springlength="-.2 .1"'))),
    # MuJoCo's mass matrix has no place for what couples two trees; the tests in Rust have that.
    "tendon armature": Case(arms(TENDON.format('armature=".05"').replace("b2", "a2"))),
    "tendon friction": Case(arms(TENDON.format('frictionloss=".4"'))),
    "joint friction": Case(arms("", joints='frictionloss=".2"')),
    "tendon actuator": Case(
        arms(
            TENDON.format("")
            + '<actuator><position tendon="t" kp="200" kv="10" forcelimited="true" forcerange="-2 2"/></actuator>'
        ),
        ctrl=(0.5,),
    ),
    "servo within its range": Case(
        arms(
            '<actuator><position joint="a1" kp="2000" kv="20" forcelimited="true" forcerange="-2 2"/></actuator>',
        ),
        ctrl=(1.0,),
    ),
    "sum of actuators within the joint's range": Case(
        arms(
            '<actuator><motor joint="a1"/><position joint="a1" kp="200" kv="5"/></actuator>',
            default='<joint actuatorfrclimited="true" actuatorfrcrange="-1.5 1.5"/>',
        ),
        ctrl=(1.0, 0.3),
    ),
}


def theirs(case: Case) -> Any:
    """Positions at the end, MuJoCo's."""
    model = mujoco.MjModel.from_xml_string(case.text)
    model.opt.timestep = THEIRS
    # Its implicit integrators go on damping an actuator of a tendon at the limit of its force.
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.eq_solref[:] = STIFF
    model.dof_solref[:] = STIFF
    model.tendon_solref_fri[:] = STIFF
    for impedance in (model.eq_solimp, model.dof_solimp, model.tendon_solimp_fri):
        impedance[:] = (0.9999, 0.9999, 0.001, 0.5, 2)
    data = mujoco.MjData(model)
    data.ctrl[:] = case.ctrl
    for _ in range(round(case.time / THEIRS)):
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


@pytest.mark.parametrize("name", CASES)
def test_constrained_motion_agrees(name: str, record: Recorder) -> None:
    case = CASES[name]
    sim = sw.Simulation(sw.load(case.text), timestep=OURS)
    start = np.array(sim.q)
    if case.ctrl:
        sim.ctrl = case.ctrl
    sim.step(round(case.time / OURS))
    expected = theirs(case)
    error = float(np.abs(sim.q - expected).max())
    travel = float(np.abs(expected - start).max())
    outcome = "agrees" if error <= case.tolerance else "FAILS"
    record("mujoco", name, f"{outcome}: {error:.1e} after motions of {travel:.2g}")
    assert error <= case.tolerance, f"{error} after motions of {travel}"


def ball(solref: str, solimp: str) -> str:
    """A ball over a plane, with these parameters of both."""
    return f"""<mujoco><default><geom solref="{solref}" solimp="{solimp}"/></default><worldbody>
      <geom type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("solref", "solimp"),
    [(".02 1", ".9 .9 .001"), (".015 .7", ".99 .99 .003"), ("-2000 -20", ".9 .9 .001"), (".03 .4", ".5 .5 .001")],
)
def test_a_ball_rests_as_deep_as_mujocos(solref: str, solimp: str) -> None:
    text = ball(solref, solimp)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=3000)
    sim = sw.Simulation(sw.load(text), timestep=2e-3)
    sim.step(3000)
    assert -sim.q[0] == pytest.approx(-data.qpos[0], rel=1e-4), "six seconds of settling"


@pytest.mark.parametrize(
    ("solref", "solimp"), [("-2000 -2", ".9 .9 .001"), (".02 .2", ".9 .95 .001"), (".05 .1", ".5 .5 .001")]
)
def test_a_ball_bounces_as_high_as_mujocos(solref: str, solimp: str) -> None:
    """A twentieth apart: MuJoCo's contact lets go at another depth, and carries the ball's weight by a part."""
    text, step = ball(solref, solimp), 2e-5
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = step
    data = mujoco.MjData(model)
    sim = sw.Simulation(sw.load(text), timestep=step)
    data.qpos[0] = sim.q[0] = 0.2

    def apex(advance: Any) -> float:
        heights = np.array([advance() for _ in range(25000)])
        return float(heights[np.argmax(heights < 0) :].max())

    def ours() -> float:
        sim.step()
        return float(sim.q[0])

    def theirs() -> float:
        mujoco.mj_step(model, data)
        return float(data.qpos[0])

    assert apex(ours) == pytest.approx(apex(theirs), rel=0.05)


@pytest.mark.parametrize("friction", ["", 'solreffriction="0.05 1"', 'solimpfriction=".5 .9 .01"'])
@pytest.mark.parametrize("kind", ["joint", "tendon"])
def test_dry_friction_of_a_compiled_model_creeps(kind: str, friction: str) -> None:
    """As MuJoCo's, which always does: v = f R/b. With ``near_rigid`` it holds."""
    guest = pytest.importorskip("sapwood.mujoco")
    dry = f'frictionloss="50" {friction}'
    of_joint, of_tendon = (dry, "") if kind == "joint" else ("", dry)
    m = mujoco.MjModel.from_xml_string(f"""<mujoco><option gravity="0 0 0"/><worldbody><body>
        <joint name="j" axis="0 0 1" {of_joint}/><geom size=".1" mass="5" pos=".3 0 0"/></body></worldbody>
        <tendon><fixed {of_tendon}><joint joint="j" coef="1.5"/></fixed></tendon></mujoco>""")
    speeds = []
    for step in (mujoco.mj_step, guest.step):
        d = mujoco.MjData(m)
        d.qfrc_applied[0] = 20
        step(m, d, 1000)
        speeds.append(d.qvel[0])
    assert speeds[0] > 0.01
    assert speeds[1] == pytest.approx(speeds[0], rel=1e-4)
    rigid = sw.Simulation(sw.Model.from_mujoco(m, near_rigid=True))
    rigid.applied_force[0] = 20
    rigid.step(1000)
    assert abs(rigid.v[0]) < 1e-5


def test_adhesion_of_a_compiled_model_holds() -> None:
    guest = pytest.importorskip("sapwood.mujoco")
    m = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.002"/><worldbody>
        <body name="cup" pos="0 0 1"><geom type="box" size=".1 .1 .05" margin=".01" gap=".01"/></body>
        <body pos="0 0 .899"><freejoint/><geom type="box" size=".05 .05 .05" mass=".5"/></body></worldbody>
        <actuator><adhesion body="cup" ctrlrange="0 1" gain="20"/></actuator></mujoco>""")
    heights = []
    for step in (mujoco.mj_step, guest.step):
        d = mujoco.MjData(m)
        for ctrl, time in ((1, 1000), (0, 100)):
            d.ctrl[0] = ctrl
            step(m, d, time)
            heights.append(d.qpos[2])
    np.testing.assert_allclose(heights[2:], heights[:2], rtol=0, atol=1e-6)
    assert heights[0] > 0.89 > 0.7 > heights[1]
