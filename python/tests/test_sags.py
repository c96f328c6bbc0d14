"""How far each kind of constraint gives way under a load, and how it swings without one, beside MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import sapwood as sw

SOLREF = ["0.02 1", "-3000 -80", "0.01 0.7", "-1500 -60"]
SOLIMP = [
    "0.9 0.95 0.001",
    "0.9 0.9 0.001",
    "0.5 0.99 0.01",
    "0.2 0.95 0.02 0.3 1",
    "0.6 0.9 0.005 0.7 3",
    "0.95 0.7 0.01",
    "0.05 0.999 0.1 0.5 6",
    "0.99 0.999 0.0001 0.2 2",
]
# Of the constraint in `<equality>`, of a joint's and of a tendon's limits, of geoms.
EQUALITY = CONTACT = 'solref="{0}" solimp="{1}"'
LIMIT = 'solreflimit="{0}" solimplimit="{1}"'
HINGE = '<joint name="j" axis="0 1 0"/>'

BEAMS = {
    "connect": (HINGE, f'<equality><connect body1="b" anchor=".3 0 0" {EQUALITY}/></equality>'),
    "connects": (
        "<freejoint/>",
        f"""<equality><connect body1="b" anchor=".3 .2 0" {EQUALITY}/><connect body1="b" anchor="-.3 .2 0" {EQUALITY}/>
        <connect body1="b" anchor="0 -.3 0" {EQUALITY}/></equality>""",
    ),
    "weld": ("<freejoint/>", f'<equality><weld body1="b" {EQUALITY}/></equality>'),
    "weld elsewhere": (
        "<freejoint/>",
        f'<equality><weld body1="b" anchor=".1 0 1" torquescale="2" {EQUALITY}/></equality>',
    ),
    "joint": (HINGE, f'<equality><joint joint1="j" {EQUALITY}/></equality>'),
    "tendon": (
        HINGE,
        f"""<tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon>
        <equality><tendon tendon1="t" {EQUALITY}/></equality>""",
    ),
    "string": (
        HINGE,
        f"""<tendon><spatial name="t"><site site="high"/><site site="end"/></spatial></tendon>
        <equality><tendon tendon1="t" {EQUALITY}/></equality>""",
    ),
    "limit": (f'<joint axis="0 1 0" range="-57 0" {LIMIT}/>', ""),
    "limit of a slide": (f'<joint type="slide" axis="0 0 1" range="0 1" {LIMIT}/>', ""),
    "limit of a tendon": (
        HINGE,
        f'<tendon><fixed range="-1 0" {LIMIT}><joint joint="j" coef=".5"/></fixed></tendon>',
    ),
    "limit of a string": (
        HINGE,
        f"""<tendon><spatial range="0 {np.hypot(0.2, 1)}" {LIMIT}><site site="high"/><site site="end"/></spatial>
        </tendon>""",
    ),
}
"""The joint of a body and what holds it."""

STANDS = {
    "ball": ('<joint type="slide" axis="0 0 1"/>', '<geom size=".05" mass="2" {0}/>'),
    "capsule": (
        '<joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>',
        '<geom type="capsule" fromto="-.3 0 0 .3 0 0" size=".05" mass="2" {0}/>',
    ),
    "box": ("<freejoint/>", '<geom type="box" size=".3 .2 .05" mass="2" {0}/>'),
    "two boxes": (
        "<freejoint/>",
        """<geom type="box" size=".1 .2 .05" pos="-.2 0 0" mass="1" {0}/>
        <geom type="box" size=".1 .2 .05" pos=".2 0 0" mass="1" {0}/>""",
    ),
    "standing cylinder": ("<freejoint/>", '<geom type="cylinder" size=".3 .05" mass="2" {0}/>'),
    "lying cylinder": (
        '<joint type="slide" axis="0 0 1"/>',
        '<geom type="cylinder" fromto="-.3 0 0 .3 0 0" size=".05" mass="2" {0}/>',
    ),
}
"""What stands on a plane, on 1, 2, 4, 8 points, and on more than MuJoCo has."""


def beam(kind: str, lever: float, parameters: tuple[str, str]) -> str:
    joint, rest = (part.format(*parameters) for part in BEAMS[kind])
    return f"""<mujoco><compiler autolimits="true"/><option timestep="0.002" gravity="0 0 -.1">
        <flag contact="disable"/></option><worldbody><site name="high" pos=".1 0 2"/>
        <body name="b" pos="0 0 1">{joint}<site name="end" pos=".3 0 0"/>
        <inertial pos="{lever} 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>{rest}</mujoco>"""


def stand(kind: str, friction: str, parameters: tuple[str, str]) -> str:
    """The load is in the middle on cylinders and with friction: aside, it would carry a part, where MuJoCo's creeps."""
    surface = f"{CONTACT.format(*parameters)} {friction}"
    joint, geoms = (part.format(surface) for part in STANDS[kind])
    aside = 0.1 if "condim" in friction and "cylinder" not in kind else 0.0
    return f"""<mujoco><option timestep="0.002"/><worldbody>
        <geom type="plane" size="1 1 .1" {surface}/><body name="b" pos="0 0 .05">{joint}{geoms}
        <geom size=".02" mass="1" pos="{aside} 0 .2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


def displacement(position: np.ndarray, rotation: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The way of the body from where it starts, and its rotation vector."""
    quaternion, turn = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    mujoco.mju_quat2Vel(turn, quaternion, 1.0)
    return np.concatenate([position - start, turn])


def sags(text: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Both engines' displacements at rest; none where MuJoCo does not come to rest, or the body topples."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.tolerance, model.opt.iterations = 1e-14, 200
    data = mujoco.MjData(model)
    body = model.body("b").id
    start = np.array(model.body_pos[body])
    # Where the impedance changes within what a step moves MuJoCo's chatters: it comes to rest by smaller steps.
    for timestep, seconds in ((1e-3, 3), (1e-3, 12), (2e-4, 0.4), (5e-5, 0.2)):
        model.opt.timestep = timestep
        mujoco.mj_step(model, data, round(seconds / timestep))
        if np.abs(data.qvel).max() < 1e-8:
            break
    expected = displacement(data.xpos[body], data.xmat[body], start)
    if np.abs(data.qvel).max() > 1e-6 or np.abs(expected[3:]).max() > 0.5:
        return None
    sim = sw.Simulation(sw.load(text))
    for _ in range(10):
        sim.step(1000)
        if np.abs(sim.v).max() < 1e-9:
            break
    return displacement(sim.body("b").position, sim.body("b").rotation, start), expected


def compare(scenes: list[str], counted: np.ndarray) -> None:
    """Displacements in the directions that are ``counted``, within 2 % of the largest of ways and of turns."""
    compared = 0
    for text in scenes:
        if (both := sags(text)) is not None:
            compared += 1
            found, expected = (displacement * counted for displacement in both)
            for part in (slice(0, 3), slice(3, 6)):
                tolerance = 0.02 * np.abs(expected[part]).max() + 1e-9
                np.testing.assert_allclose(found[part], expected[part], rtol=0, atol=tolerance, err_msg=text)
    assert compared >= 0.8 * len(scenes)


PARAMETERS = [(SOLREF[(k + n) % 4], solimp) for k, solimp in enumerate(SOLIMP) for n in range(2)]
"""Each `solimp` with a `solref` of either format."""


@pytest.mark.parametrize("lever", [0.3, 2.0])
@pytest.mark.parametrize("kind", BEAMS)
def test_constraints_sag_as_in_mujoco(kind: str, lever: float) -> None:
    compare([beam(kind, lever, parameters) for parameters in PARAMETERS], np.ones(6))


@pytest.mark.parametrize("friction", ['condim="1"', 'friction=".6"'])
@pytest.mark.parametrize("kind", STANDS)
def test_contacts_sag_as_in_mujoco(kind: str, friction: str) -> None:
    """Heights and tilts."""
    compare([stand(kind, friction, parameters) for parameters in PARAMETERS], np.array([0, 0, 1, 1, 1, 1]))


def held_apart(parameters: tuple[str, str]) -> str:
    return f"""<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
        <body name="b" pos="0 0 .05"><joint type="slide" axis="0 0 1"/><geom name="ball" size=".05" mass="3"/></body>
        </worldbody><contact><pair geom1="floor" geom2="ball" condim="1" {CONTACT.format(*parameters)}/></contact>
        </mujoco>"""


@pytest.mark.filterwarnings("ignore::sapwood.PerformanceWarning")
@pytest.mark.parametrize("kind", ["limit", "pair"])
def test_limits_and_pairs_of_a_world_sag_as_in_mujoco(kind: str) -> None:
    """With ``solref`` and ``solimp`` of a simulation's own, and of a world of a batch."""

    def text(parameters: tuple[str, str]) -> str:
        return held_apart(parameters) if kind == "pair" else beam("limit", 0.3, parameters).replace("-.1", "-9.8")

    model = sw.load(text(PARAMETERS[0]))
    for solref, solimp in (("-1500 -60", "0.5 0.99 0.01"), ("0.01 0.7", "0.9 0.9 0.001")):
        peer = mujoco.MjModel.from_xml_string(text((solref, solimp)))
        data = mujoco.MjData(peer)
        mujoco.mj_step(peer, data, 3000)
        sim, batch = sw.Simulation(model), sw.Batch(model, 2)
        for name, row in (("solref", solref), ("solimp", solimp)):
            numbers = np.array(row.split(), dtype=float)
            getattr(sim.parameters, f"{kind}_{name}")[-1, : numbers.size] = numbers
            getattr(batch.parameters, f"{kind}_{name}")[1, -1, : numbers.size] = numbers
        sim.step(3000)
        batch.step(3000)
        assert abs(data.qpos[0]) > 1e-6
        assert sim.q[0] == pytest.approx(data.qpos[0], rel=0.02)
        assert batch.q[1, 0] == sim.q[0]
        assert abs(batch.q[0, 0] - sim.q[0]) > 0.1 * abs(sim.q[0])


@pytest.mark.parametrize("kind", BEAMS)
def test_constraints_swing_as_in_mujoco(kind: str) -> None:
    """Without a load, pushed at rest: all along the way within 2 % of the largest of ways and of turns."""
    push = -0.1 if "slide" in kind else 0.1
    for parameters in (("-900 -6", "0.9 0.9"), ("0.04 0.1", "0.5 0.5"), ("-400 -4", "0.2 0.95 0.002 0.3 1")):
        text = beam(kind, 0.5, parameters).replace('gravity="0 0 -.1"', 'gravity="0 0 0"').replace("0.002", "2e-5", 1)
        model = mujoco.MjModel.from_xml_string(text)
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        data = mujoco.MjData(model)
        sim = sw.Simulation(sw.load(text))
        data.qvel[:] = sim.v[:] = push
        both = []
        for _ in range(100):
            sim.step(100)
            mujoco.mj_step(model, data, 100)
            mujoco.mj_kinematics(model, data)
            start = model.body_pos[1]
            both.append(
                [
                    displacement(sim.body("b").position, sim.body("b").rotation, start),
                    displacement(data.xpos[1], data.xmat[1], start),
                ]
            )
        found, expected = np.moveaxis(np.array(both), 1, 0)
        for part in (slice(0, 3), slice(3, 6)):
            assert np.abs(found - expected)[:, part].max() <= 0.02 * np.abs(expected[:, part]).max() + 1e-9, parameters
