"""`solref`, `solimp` and springs beside MuJoCo: how far constraints give way, how they swing, how balls bounce."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import sapwood as sw

SOLREF = ['solref="0.02 1"', 'solref="0.01 0.5"', 'solref="-3000 -80"', 'solref="-500 -10"']
SOLIMP = [
    "",
    'solimp="0.9 0.9 0.001"',
    'solimp="0.5 0.99 0.01"',
    'solimp="0.2 0.95 0.02 0.3 1"',
    'solimp="0.6 0.9 0.005 0.7 3"',
    'solimp="0.95 0.7 0.01"',
]


def both(text: str, seconds: float) -> tuple[sw.Simulation, mujoco.MjData]:
    """Both engines after some seconds, MuJoCo's solver to round-off."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.tolerance, model.opt.iterations = 1e-14, 200
    data = mujoco.MjData(model)
    sim = sw.Simulation(sw.load(text))
    steps = round(seconds / model.opt.timestep)
    mujoco.mj_step(model, data, steps)
    sim.step(steps)
    return sim, data


def scene(kind: str, parameters: str) -> str:
    """Something of 2 kg that hangs on, or lies upon, a constraint of this kind."""
    slide = '<joint name="j" type="slide" axis="0 0 1"/>'
    body = '<body name="b" pos="0 0 1">{joint}<geom size=".05" mass="2"/></body>'
    world, below = "", ""
    if kind == "connect":
        world = body.format(joint="<freejoint/>")
        below = f'<equality><connect body1="b" anchor="0 0 0" {parameters}/></equality>'
    elif kind == "weld":
        world = body.format(joint="<freejoint/>")
        below = f'<equality><weld body1="b" anchor="0.05 0 1" torquescale="2" {parameters}/></equality>'
    elif kind == "joint":
        world = body.format(joint=slide)
        below = f'<equality><joint joint1="j" {parameters}/></equality>'
    elif kind == "tendon":
        world = body.format(joint=slide)
        below = f"""<tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon>
            <equality><tendon tendon1="t" {parameters}/></equality>"""
    elif kind == "limit":
        of_limit = parameters.replace("solref", "solreflimit").replace("solimp", "solimplimit")
        world = body.format(joint=slide.replace("/>", f' range="0 1" {of_limit}/>'))
    elif kind == "ball":
        world = f"""<geom type="plane" size="1 1 .1" {parameters}/><body name="b" pos="0 0 .05"><freejoint/>
            <geom size=".05" mass="2" {parameters}/></body>"""
    elif kind == "box":
        world = f"""<geom type="plane" size="1 1 .1" friction=".6"/><body name="b" pos="0 0 .05"><freejoint/>
            <geom type="box" size=".05 .04 .05" mass="2" friction=".4" solmix="3" {parameters}/></body>"""
    else:
        raise AssertionError(kind)
    return f"""<mujoco><compiler autolimits="true"/><option timestep="0.002"/>
        <worldbody>{world}</worldbody>{below}</mujoco>"""


@pytest.mark.parametrize("kind", ["connect", "weld", "joint", "tendon", "limit", "ball", "box"])
def test_constraints_give_way_as_far_as_in_mujoco(kind: str) -> None:
    for solref in SOLREF:
        for solimp in SOLIMP:
            sim, data = both(scene(kind, f"{solref} {solimp}"), 4)
            if kind == "box" and np.abs(data.qvel).max() > 1e-4:
                # MuJoCo's box chatters for ever on some contacts that swing: nothing to compare with.
                assert solref in SOLREF[1::2]
                continue
            height = sim.body("b").position[2]
            start = 0.05 if kind in ("ball", "box") else 1.0
            sag, expected = start - height, start - data.body("b").xpos[2]
            assert sag == pytest.approx(expected, rel=0.02, abs=1e-8), (kind, solref, solimp, sag, expected)


@pytest.mark.parametrize("kind", ["connect", "joint", "limit"])
def test_constraints_move_as_in_mujoco(kind: str) -> None:
    """The way down, at a step that resolves it: within a hundredth of it, or what a step moves at the speed met."""
    for solref in ('solref="0.1 0.3"', 'solref="-400 -4"'):
        for solimp in ('solimp="0.9 0.9"', 'solimp="0.5 0.5"'):
            text = scene(kind, f"{solref} {solimp}").replace('timestep="0.002"', 'timestep="0.0001"')
            errors, way = [], 0.0
            for seconds in (0.02, 0.05, 0.1, 0.15):
                sim, data = both(text, seconds)
                errors.append(abs(sim.body("b").position[2] - data.body("b").xpos[2]))
                way = max(way, abs(1 - data.body("b").xpos[2]))
            assert max(errors) < max(0.01 * way, 0.2 * 1e-4), (kind, solref, solimp, errors)


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_margins_move_limits_as_in_mujoco(margin: float) -> None:
    """What hangs in a limit of a joint or a tendon hangs higher by its margin."""
    limit = f'range="-.3 .3" margin="{margin}" solreflimit="0.03 1" solimplimit=".7 .95 .02"'
    slide = '<joint name="j" type="slide" axis="0 0 1"{}/>'
    for of_joint, tendon in (
        (f" {limit}", ""),
        ("", f'<tendon><fixed name="t" {limit}><joint joint="j" coef=".5"/></fixed></tendon>'),
    ):
        text = f"""<mujoco><compiler autolimits="true"/><option timestep="0.002"/><worldbody><body name="b">
            {slide.format(of_joint)}<geom size=".05" mass="2"/></body></worldbody>{tendon}</mujoco>"""
        sim, data = both(text, 4)
        assert sim.body("b").position[2] == pytest.approx(data.body("b").xpos[2], abs=2e-5)
    ball = f"""<mujoco><compiler autolimits="true"/><option timestep="0.002"/><worldbody><body name="b">
        <joint type="ball" range="0 40" margin="{margin}" solreflimit="0.03 1" damping=".2"/>
        <geom size=".05" pos=".3 0 .3" mass="2"/></body></worldbody></mujoco>"""
    sim, data = both(ball, 6)
    np.testing.assert_allclose(sim.q, data.qpos, rtol=0, atol=1e-4)


@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_time_constants_below_two_steps(flag: str) -> None:
    """They count as two steps, but where the file has it otherwise."""
    for kind in ("connect", "joint", "limit", "ball"):
        text = scene(kind, 'solref="0.003 1" solimp=".9 .9 .001"')
        text = text.replace("<option", f'<option><flag refsafe="{flag}"/></option><option')
        sim, data = both(text, 1)
        start = 0.05 if kind == "ball" else 1.0
        sag, expected = start - sim.body("b").position[2], start - data.body("b").xpos[2]
        assert sag == pytest.approx(expected, rel=0.02), (kind, sag, expected)
        assert sw.load(sw.load(text).to_mjcf()).to_mjcf() == sw.load(text).to_mjcf()


def test_a_weld_between_turning_bodies_is_mujocos() -> None:
    """A bar that swings down with a body welded to its end, while both turn far.

    MuJoCo pushes each body at its own anchor, here both are pushed at one point: courses part where anchors do.
    """
    text = """<mujoco><option timestep="0.0001"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <body name="a" pos="0 0 2"><joint type="ball"/>
        <geom type="box" size=".2 .03 .02" pos=".2 0 0" mass="1"/></body>
        <body name="b" pos=".5 .1 2"><freejoint/><geom type="box" size=".1 .05 .03" mass=".5"/></body></worldbody>
        <equality><weld body1="a" body2="b" solref="0.01 1" solimp=".9 .9 .001" torquescale="0.3"/></equality>
        </mujoco>"""
    for seconds, far in ((0.1, 3e-4), (0.2, 1.5e-3), (0.3, 4e-3)):
        sim, data = both(text, seconds)
        np.testing.assert_allclose(sim.q[4:7], data.qpos[4:7], rtol=0, atol=far)
        for first in (0, 7):
            turn = slice(first, first + 4)
            assert 2 * np.arccos(min(1.0, abs(sim.q[turn] @ data.qpos[turn]))) < 8 * far, seconds
    # Both have turned by 125 degrees.
    assert abs(data.qpos[0]) < 0.5


@pytest.mark.parametrize("parameters", ['solref="0.02 1"', 'solref="-400 -20"', 'solref=".05 .5" solimp=".8 .8 .01"'])
def test_what_whirls_stands_off_as_in_mujoco(parameters: str) -> None:
    # Forces of the axes' turning, J̇ v, count: without them it would stand off 16 times as far in the first case.
    text = f"""<mujoco><option gravity="0 0 0" timestep="{{timestep}}" integrator="RK4"/>
        <worldbody><body name="a" pos=".4 0 0"><freejoint/>
          <inertial pos="0 0 0" mass=".5" diaginertia=".01 .02 .03"/></body></worldbody>
        <equality><connect body1="a" anchor="-.4 0 0" {parameters}/></equality></mujoco>"""
    start = [0, 4, 0, 0, 0, 10]
    model = mujoco.MjModel.from_xml_string(text.format(timestep=2e-4))
    data = mujoco.MjData(model)
    data.qvel = start
    mujoco.mj_step(model, data, 5000)
    mujoco.mj_forward(model, data)
    expected = np.linalg.norm(data.efc_pos[:3])
    for timestep, tolerance in ((2e-3, 0.005), (5e-4, 0.001)):
        sim = sw.Simulation(sw.load(text.format(timestep=timestep)), scheme="bilinear")
        sim.v[:] = start
        sim.step(round(1 / timestep))
        data.qpos = sim.q
        mujoco.mj_forward(model, data)
        assert np.linalg.norm(data.efc_pos[:3]) == pytest.approx(expected, rel=tolerance)


def bounce(rate: float, ratio: float, timestep: float, height: float) -> float:
    """How high a ball comes back that falls by this height on a surface of this rate, 1/s, and damping ratio."""
    surface = f'friction="0" solref="{-(rate**2)} {-2 * ratio * rate}" solimp=".9 .9"'
    text = f"""<mujoco><option timestep="{timestep}" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 .1" {surface}/><body pos="0 0 {height + 0.05}"><freejoint/>
        <geom size=".05" mass="1" {surface}/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.advance_to(1.04 * np.sqrt(2 * height / 9.81))
    assert sim.q[2] < 0.05
    heights = [0.0]
    while sim.time < 2.65 * np.sqrt(2 * height / 9.81):
        sim.step()
        heights.append(sim.q[2] - 0.05)
    return max(heights)


def closed_form(rate: float, ratio: float, height: float) -> float:
    """ẍ = −2 ζ ω ẋ − ω² x − (1 − d) g, finely, until the surface would hold the ball: its inerter bears d of it."""
    x, v, h = 0.0, -np.sqrt(2 * 9.81 * height), 2e-6
    while (pull := -2 * ratio * rate * v - rate**2 * x - 0.1 * 9.81) > -9.81:
        v += h * pull
        x += h * v
    return float(max(x + v * v / (2 * 9.81), 0.0))


@pytest.mark.parametrize("timestep", [0.0005, 0.001, 0.002])
def test_balls_bounce_as_high_as_springs_and_dampers_say(timestep: float) -> None:
    """From 1 m, at every damping ratio: a contact lasts 16 steps of 2 ms, a strong damper works in two or three."""
    for ratio in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0):
        within = 0.01 if ratio == 0.0 else 0.05 if ratio * timestep < 0.001 else 0.1
        assert bounce(100.0, ratio, timestep, 1.0) == pytest.approx(closed_form(100.0, ratio, 1.0), rel=within), ratio


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_bounces_of_ten_steps_are_right_in_the_mean(ratio: float) -> None:
    """Over where in a step the surface is met: a single bounce errs by what the part of a step makes."""
    rate = np.pi / (10 * 0.002)
    heights = np.linspace(0.95, 1.05, 12)
    ratios = [bounce(rate, ratio, 0.002, height) / closed_form(rate, ratio, height) for height in heights]
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


SPRINGS = {
    "hinge": '<joint axis="0 1 0" stiffness="{k}"/>',
    "slide": '<joint type="slide" axis="1 0 0" stiffness="{k}"/>',
    "ball": '<joint type="ball" stiffness="{k}"/>',
    "tendon": '<joint name="j" axis="0 1 0"/>',
    "servo": '<joint name="j" axis="0 1 0"/>',
    "servo of a site": '<joint name="j" axis="0 1 0"/>',
}


SWINGS = [(0.001, 1, 0.99), (0.001, 5, 0.99), (0.001, 20, 0.95)]
SWINGS += [(0.002, 1, 0.99), (0.002, 5, 0.99), (0.002, 20, 0.95), (0.005, 1, 0.99), (0.005, 5, 0.99)]
"""Steps, s; frequencies up to a fortieth of theirs (a 25th for 20 Hz at 2 ms), Hz; the amplitude's share after 10 s."""


@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize(("timestep", "frequency", "least"), SWINGS)
def test_springs_keep_their_amplitude(kind: str, timestep: float, frequency: float, least: float) -> None:
    """10 s without damping; the frequency to (ω dt)²/4."""
    # A bar of 1 kg about its middle, or along a slide.
    inertia = 1.0 if kind == "slide" else 0.02
    k = inertia * (2 * np.pi * frequency) ** 2
    more = {
        "tendon": f'<tendon><fixed stiffness="{4 * k}"><joint joint="j" coef=".5"/></fixed></tendon>',
        "servo": f'<actuator><position joint="j" kp="{k}"/></actuator>',
        "servo of a site": f"""<actuator><position site="moved" refsite="fixed" gear="0 0 0 0 .5 0" kp="{4 * k}"/>
            </actuator>""",
    }
    text = f"""<mujoco><option timestep="{timestep}" gravity="0 0 0"/><worldbody><site name="fixed"/>
        <body>{SPRINGS[kind].format(k=k)}<site name="moved"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body></worldbody>{more.get(kind, "")}</mujoco>"""
    sim = sw.Simulation(sw.load(text))
    if kind == "ball":
        sim.q[:] = [np.cos(0.05), 0, np.sin(0.05), 0]
    else:
        sim.q[0] = 0.1
    times, angles = [], []
    while sim.time < 10:
        sim.step()
        times.append(sim.time)
        angles.append(2 * np.arctan2(sim.q[2], sim.q[0]) if kind == "ball" else sim.q[0])
    # A turning point lies between two steps.
    rate = 2 * np.pi * frequency
    most = np.abs(angles[-round(1 / (frequency * timestep)) :]).max()
    assert 0.1 * least * np.cos(0.5 * rate * timestep) <= most <= 0.1 / least
    zeros = np.flatnonzero(np.diff(np.sign(angles)))
    first, last = (times[k] + timestep * angles[k] / (angles[k] - angles[k + 1]) for k in zeros[[0, -1]])
    assert (len(zeros) - 1) / (2 * (last - first)) == pytest.approx(frequency, rel=(rate * timestep) ** 2 / 4 + 1e-6)


@pytest.mark.parametrize(("timestep", "frequency", "least"), SWINGS)
def test_contacts_ring_on(timestep: float, frequency: float, least: float) -> None:
    """A ball that lies on a surface without damping, pushed by a tenth of how deep it lies."""
    rate = 2 * np.pi * frequency
    depth = 0.1 * 9.81 / rate**2
    surface = f'friction="0" solref="{-(rate**2)} 0" solimp=".9 .9"'
    text = f"""<mujoco><option timestep="{timestep}" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 .1" {surface}/><body pos="0 0 9"><freejoint/>
        <geom size="9" mass="1" {surface}/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.q[2] = 9 - 1.1 * depth
    sim.advance_to(10 - 1 / frequency)
    most = 0.0
    while sim.time < 10:
        sim.step()
        most = max(most, abs(sim.q[2] - 9 + depth))
    assert least * np.cos(0.5 * rate * sim.timestep) <= most / (0.1 * depth) <= 1 / least


def test_a_lossless_ball_bounces_back() -> None:
    text = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="1 1 .1"/>
        <body name="b" pos="0 0 1.05"><freejoint/>
        <geom size=".05" mass="1" solref="-20000 0" solimp=".9 .9 .001"/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    heights = []
    for _ in range(1000):
        sim.step()
        heights.append(sim.q[2])
    assert max(heights[600:]) == pytest.approx(1.05, rel=0.05)


def test_springs_ring_as_in_mujoco() -> None:
    for frequency in (1, 5, 20):
        stiffness = (2 * np.pi * frequency) ** 2
        text = f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>
            <joint type="slide" stiffness="{stiffness}"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
        sim = sw.Simulation(sw.load(text))
        sim.q[0] = 0.1
        sim.step(5000)
        # Position and velocity of one instant lie half a step apart: the energy swings by ω dt.
        amplitude = np.hypot(sim.q[0], sim.v[0] / (2 * np.pi * frequency))
        assert amplitude == pytest.approx(0.1, rel=0.05 + np.pi * frequency * sim.timestep)


DRY = {
    "hinge": ('<joint axis="0 1 0" {0}/>', ""),
    "slide": ('<joint type="slide" axis="1 0 1" armature=".5" {0}/>', ""),
    "ball": ('<joint type="ball" {0}/>', ""),
    "tendon": (
        '<joint name="j" axis="0 1 0"/>',
        '<tendon><fixed {0}><joint joint="j" coef="2"/></fixed></tendon>',
    ),
    "string": (
        '<joint name="j" axis="0 1 0"/>',
        '<tendon><spatial {0}><site site="fixed"/><site site="moved"/></spatial></tendon>',
    ),
}
"""What has dry friction: a joint, or a tendon along it."""
CREEPS = [
    ("0.02 1", ".9 .9 .001"),
    ("0.1 0.4", ".5 .95 .01"),
    ("-100 -30", ".9 .95 .001"),
    ("0.001 1", ".99 .999 .001 .5 3"),
]


def with_friction(kind: str, most: float, reference: tuple[str, str], option: str) -> str:
    solref, solimp = reference
    friction = f'frictionloss="{most}" solreffriction="{solref}" solimpfriction="{solimp}"'
    joint, tendon = (part.format(friction) for part in DRY[kind])
    return f"""<mujoco><option {option}/><worldbody><site name="fixed" pos="0 0 1"/><body>{joint}
        <inertial pos=".02 0 0" mass="1.5" diaginertia="0.02 0.03 0.04"/><site name="moved" pos=".3 0 0"/></body>
        </worldbody>{tendon}</mujoco>"""


@pytest.mark.parametrize("kind", DRY)
def test_dry_friction_creeps_as_in_mujoco(kind: str) -> None:
    """Under a load that it bears, for 2 s: the way that it gives."""
    gravity = -0.6 if kind == "slide" else -3
    for reference in CREEPS:
        text = with_friction(kind, 3, reference, f'timestep="0.002" gravity="0 0 {gravity}"')
        sim, data = both(text, 2)
        way = np.abs(data.qpos - sim.model.keyframe().q).max()
        assert 1e-6 < way < 0.8
        np.testing.assert_allclose(sim.q, data.qpos, rtol=0, atol=0.02 * way, err_msg=str(reference))


def test_dry_friction_creeps_by_its_law() -> None:
    """v = f R/b with R = (1 - d)/d of the inverse inertia; without `solreffriction` it holds."""
    creep = with_friction("hinge", 3, ("-1 -40", ".8 .95 .01"), 'gravity="0 0 0"')
    hold = creep.replace('solreffriction="-1 -40" solimpfriction=".8 .95 .01"', "")
    inertia = 0.03 + 1.5 * 0.02**2
    for text, speed in ((creep, 0.25 / inertia * 2 / (40 / 0.95)), (hold, 0.0)):
        model = sw.load(text)
        assert not model.warnings
        sim, batch = sw.Simulation(model), sw.Batch(model, 2)
        again = sw.Simulation(sw.load(model.to_mjcf()))
        sim.applied_force[0], again.applied_force[0] = 2, 2
        batch.applied_force[:, 0] = [2, -1]
        for world in (sim, batch, again):
            world.step(500)
        assert sim.v[0] == pytest.approx(speed, rel=1e-6, abs=1e-4)
        np.testing.assert_allclose(batch.v[:, 0], [sim.v[0], -sim.v[0] / 2], rtol=1e-4, atol=1e-9)
        assert again.v[0] == sim.v[0]


@pytest.mark.parametrize("kind", ["hinge", "tendon"])
def test_dry_friction_brakes_as_in_mujoco(kind: str) -> None:
    """From a speed down to rest, finely: within a hundredth of the way, at the bound of the friction and below."""
    for most in (0.2, 50.0):
        text = with_friction(kind, most, ("0.05 1", ".5 .5 .001"), 'timestep="1e-4" gravity="0 0 0"')
        model = mujoco.MjModel.from_xml_string(text)
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        data, sim = mujoco.MjData(model), sw.Simulation(sw.load(text))
        data.qvel[0] = sim.v[0] = 2.0
        for _ in range(20):
            sim.step(50)
            mujoco.mj_step(model, data, 50)
            assert sim.q[0] == pytest.approx(data.qpos[0], rel=0.01), most
        assert data.qpos[0] > 0.02


@pytest.mark.parametrize("young", [1e5, 1e6, 3e6])
@pytest.mark.parametrize("timestep", [0.002, 0.005])
def test_soft_bars_keep_their_amplitude(young: float, timestep: float) -> None:
    """Held at one end, bent as a beam bends in its first mode, of 0.8 to 4.4 Hz."""
    bar = sw.SoftBody.box((0.4, 0.05, 0.05), (8, 2, 2), young=young, poisson=0.0, density=1000, damping=0.0)
    b = sw.ModelBuilder("bar", timestep=timestep, gravity=(0, 0, 0))
    soft = b.add_soft_body("bar", bar)
    soft.pin(soft.positions[:, 0] < -0.2 + 1e-9)
    sim = sw.Simulation(b.build())
    rest = sim.soft_positions.reshape(-1, 3).copy()
    s = 1.875_104_1 / 0.4 * (rest[:, 0] + 0.2)
    bend = np.cosh(s) - np.cos(s) - 0.734_096 * (np.sinh(s) - np.sin(s))
    slope = 1.875_104_1 / 0.4 * (np.sinh(s) + np.sin(s) - 0.734_096 * (np.cosh(s) - np.cos(s)))
    bent = rest + 0.002 * np.stack([-rest[:, 2] * slope, np.zeros_like(s), bend], axis=1)
    sim.soft_positions[:] = bent.reshape(sim.soft_positions.shape)
    tip = int(np.argmax(rest[:, 0]))
    heights = []
    for _ in range(round(10 / timestep)):
        sim.step()
        heights.append(sim.soft_positions.reshape(-1, 3)[tip, 2])
    few = round(2.5 / timestep)
    assert np.ptp(heights[-few:]) / np.ptp(heights[:few]) == pytest.approx(1, abs=0.01)
