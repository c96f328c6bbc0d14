"""What is pressed where it does not fit comes to rest, and costs little there."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

WORLD = """<mujoco><option timestep="{dt}"/><default><geom friction="{friction}"/></default><worldbody>
<geom type="plane" size="1 1 1"/>{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"""


def body(place: str, geom: str, rest: str = "<freejoint/>", turn: str = "0 0 0") -> str:
    return f'<body pos="{place}" euler="{turn}">{rest}{geom}</body>'


def servo(joint: str, kp: float, kv: float) -> str:
    return f'<position joint="{joint}" kp="{kp}" kv="{kv}"/>'


PEG = WORLD.format(
    dt=0.002,
    friction=1,
    actuators="",
    bodies="""<geom type="box" size=".05 .2 .1" pos=".095 0 .1"/><geom type="box" size=".05 .2 .1" pos="-.095 0 .1"/>"""
    + body("0 0 .15", '<geom type="box" size=".05 .05 .1" mass="1"/>'),
)
SLIDES = "".join(
    f'<joint name="{x}" type="slide" axis="{a}"/>' for x, a in zip("xyz", ("1 0 0", "0 1 0", "0 0 1"), strict=True)
)
CORNER = WORLD.format(
    dt=0.002,
    friction=1.5,
    actuators="".join(servo(x, 1e5, 100) for x in "xyz"),
    bodies="""<geom type="box" size=".1 1 1" pos="-.1 0 1"/><geom type="box" size="1 .1 1" pos="0 -.1 1"/>"""
    + body(".08 .08 .08", '<geom size=".1" mass="1"/>', SLIDES + '<joint type="ball"/>'),
)
VICE = WORLD.format(
    dt=0.002,
    friction=1,
    actuators=servo("z", 1e6, 1000),
    bodies="".join(body(f"0 0 {0.05 + 0.1 * i}", '<geom type="box" size=".05 .05 .05" mass=".5"/>') for i in range(5))
    + body("0 0 .56", '<geom type="box" size=".2 .2 .05" mass="2"/>', '<joint name="z" type="slide" axis="0 0 1"/>'),
)
WEDGE = WORLD.format(
    dt=0.002,
    friction=2,
    actuators="",
    bodies="""<geom type="plane" size="1 1 1" zaxis="1 0 .3" pos="-.1 0 0"/>
    <geom type="plane" size="1 1 1" zaxis="-1 0 .3" pos=".1 0 0"/>"""
    + body("0 0 .3", '<geom type="box" size=".12 .1 .1" mass="3"/>', turn="0 10 0"),
)


def fist() -> str:
    fingers = ""
    for c, s in ((np.cos(a), np.sin(a)) for a in 2 * np.pi * np.arange(6) / 6):
        geom = f'<geom type="capsule" size=".01" fromto="0 0 0 {0.05 * c} {0.05 * s} -.05" mass=".05"/>'
        fingers += body(f"{0.04 * c} {0.04 * s} -.03", geom, f'<joint axis="{s} {-c} 0" range="-30 90"/>')
    palm = '<geom type="box" size=".05 .05 .03" mass="1"/>' + fingers
    slide = '<joint name="z" type="slide" axis="0 0 1"/>'
    return WORLD.format(dt=0.005, friction=1, actuators=servo("z", 1e5, 500), bodies=body("0 0 .1", palm, slide))


JAMS = {
    "a peg in a slot 10 mm too narrow": (PEG, []),
    "a ball pressed into a corner": (CORNER, [-0.05] * 3),
    "a stack in a vice": (VICE, [-0.05]),
    "a wedge between walls": (WEDGE, []),
    "a fist on a table": (fist(), [-0.1]),
}


@pytest.mark.parametrize(("text", "controls"), JAMS.values(), ids=JAMS)
def test_what_is_jammed_costs_little(text: str, controls: list[float]) -> None:
    sim = sw.Simulation(sw.load(text))
    sim.ctrl[:] = controls
    iterations = []
    for _ in range(400):
        sim.step()
        iterations.append(sim.stats.iterations)
        assert sim.stats.unsettled == 0
    assert max(iterations) < 100
    assert sum(iterations[-100:]) < 300
    assert np.abs(sim.v).max() < 0.05


def in_one_place(count: int, geom: str) -> str:
    # A millimetre apart, so that each pushes the others somewhere.
    bodies = "".join(f'<body pos="0 0 {0.001 * k}"><freejoint/>{geom}</body>' for k in range(count))
    mesh = '<asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1 .1 .1 .1"/></asset>'
    return f'<mujoco><option timestep=".005"/>{mesh}<worldbody>{bodies}</worldbody></mujoco>'


LINK = '<body pos=".01 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .05 .05"/>'
SOFT = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="9 9 1"/><body name="p" pos="0 0 -.15">
<flexcomp name="f" type="grid" dim="3" count="5 5 5" spacing=".05 .05 .05" mass="1">
<elasticity young="1e4" poisson=".3"/></flexcomp></body></worldbody></mujoco>"""
INSIDE = {
    "meshes": in_one_place(16, '<geom type="mesh" mesh="m"/>'),
    "ellipsoids": in_one_place(20, '<geom type="ellipsoid" size=".05 .07 .1"/>'),
    "a chain in itself": f"<mujoco><worldbody>{LINK * 15}{'</body>' * 15}</worldbody></mujoco>",
    "a soft body in the ground": SOFT,
    "200 balls": in_one_place(200, '<geom size=".1"/>'),
}


@pytest.mark.parametrize("text", INSIDE.values(), ids=INSIDE)
def test_what_starts_inside_each_other_takes_a_bounded_step(text: str) -> None:
    """Searches end at their budgets, and what is not settled is counted."""
    sim = sw.Simulation(sw.load(text))
    for _ in range(5):
        sim.step()
        stats = sim.stats
        assert stats.iterations < 300
        assert (stats.unsettled > 0) == (stats.friction_residual > 1e-4)
    positions, velocities = sim.q, sim.v
    if sim.soft_bodies:
        positions, velocities = sim.soft_bodies[0].positions, sim.soft_bodies[0].velocities
    assert np.isfinite(positions).all()
    assert 0 < np.abs(velocities).max() < 100
