"""Friction of two directions of a pair, beside MuJoCo's elliptic cone."""

from __future__ import annotations

from typing import Literal

import mujoco
import numpy as np
import pytest

import sapwood as sw


def text(first: float, second: float, gravity: str = "0 0 -9.81", pose: str = "") -> str:
    return f"""<mujoco><option timestep="0.0001" cone="elliptic" impratio="1000" gravity="{gravity}" solver="Newton"
    iterations="100" tolerance="1e-12"/><worldbody><geom name="ground" type="plane" size="0 0 1" {pose}/>
    <body pos="0 0 .05"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom name="block" type="box" size=".1 .1 .05" mass="1"/></body></worldbody>
    <contact><pair geom1="ground" geom2="block" friction="{first} {second} .0001 .0001 .0001"/></contact></mujoco>"""


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.2), (0.2, 0.6)])
def test_a_block_slides_as_in_mujoco(first: float, second: float) -> None:
    xml = text(first, second)
    m = mujoco.MjModel.from_xml_string(xml)
    model = sw.load(xml)
    assert not any("all directions" in w.message for w in model.warnings)
    for gravity in ([7.0, 0.0], [0.0, 7.0], [6.0, 3.0], [-3.0, 6.0]):
        m.opt.gravity[:] = [*gravity, -7.0]
        d, sim = mujoco.MjData(m), sw.Simulation(model)
        sim.parameters.gravity = m.opt.gravity
        speeds = []
        for _ in range(2):
            mujoco.mj_step(m, d, 2500)
            sim.step(2500)
            speeds.append([d.qvel[:2].copy(), sim.v[:2].copy()])
        accelerations = np.subtract(speeds[1], speeds[0]) / 0.25
        # Along an axis the answer is known: MuJoCo is 2 % of the force off. Across the axes the two differ by 7 %.
        friction = np.linalg.norm(gravity - accelerations[1])
        share = 0.02 if 0.0 in gravity else 0.1
        assert np.linalg.norm(accelerations[0] - accelerations[1]) < share * friction, accelerations
        along = 7.0 * np.array([second, first])  # the first is along y
        ellipse = ((gravity - accelerations[1]) / along) ** 2
        assert ellipse.sum() == pytest.approx(1.0, rel=1e-6)


def test_a_block_stays_on_the_slope_of_its_direction() -> None:
    for gravity, slides in (("2.5 0 -9.5", True), ("0 2.5 -9.5", False), ("1.5 0 -9.5", False)):
        xml = text(0.6, 0.2, gravity)
        sim = sw.Simulation(sw.load(xml))
        sim.step(5000)
        assert (np.abs(sim.v[:2]).max() > 0.1) == slides, gravity
        d = mujoco.MjData(m := mujoco.MjModel.from_xml_string(xml))
        mujoco.mj_step(m, d, 5000)
        assert (np.abs(d.qvel[:2]).max() > 0.1) == slides, gravity


def test_the_builder_has_it_and_texts_keep_it() -> None:
    builder = sw.ModelBuilder("skate")
    ground = builder.add_ground()
    block = builder.world.add_body("block", position=(0, 0, 0.05))
    block.add_joint("root", "free")
    builder.add_pair(ground, block.add_geom("box", (0.1, 0.1, 0.05), mass=1.0), friction=(0.6, 0.2))
    model = builder.build()
    written = model.to_mjcf()
    assert mujoco.MjModel.from_xml_string(written).pair_friction[0, :2].tolist() == [0.6, 0.2]
    speeds = []
    for loaded in (model, sw.load(written), sw.Model.from_bytes(model.to_bytes())):
        sim = sw.Simulation(loaded, timestep=0.001)
        sim.step(100)
        sim.v[:2] = 1.0
        sim.step(100)
        speeds.append(sim.v[:2].copy())
    np.testing.assert_allclose(speeds[0], speeds[1], atol=1e-9)
    np.testing.assert_array_equal(speeds[0], speeds[2])
    assert speeds[0][0] - speeds[0][1] > 0.1  # along y it is rougher


ROLLING = """<mujoco><option timestep=".001" cone="elliptic"/><worldbody>
    <geom name="f" type="plane" size="9 9 .1" {pose}/>
    <body pos="0 0 .1"><freejoint/><geom name="b" size=".1" mass="1"/></body></worldbody>
    <contact><pair geom1="f" geom2="b" condim="6" friction=".8 .8 .005 {rolling}"/></contact></mujoco>"""


@pytest.mark.parametrize("contact", ["coulomb", "lagged", "sap"])
@pytest.mark.parametrize("rolling", [".02 .0001", ".0001 .02"])
def test_a_ball_rolls_farther_along_one_axis(rolling: str, contact: Literal["coulomb", "lagged", "sap"]) -> None:
    """It loses 5/7 g ρ/r: ρ N of torque about the axis on which it rolls, and the friction that keeps it rolling."""
    text = ROLLING.format(rolling=rolling, pose="")
    m = mujoco.MjModel.from_xml_string(text)
    model = sw.load(text)
    assert not model.warnings
    about_y, about_x = map(float, rolling.split())
    for direction, length in (((1, 0), about_y), ((0, 1), about_x)):
        vx, vy = direction
        d, sim = mujoco.MjData(m), sw.Simulation(model, contact=contact)
        sim.v = d.qvel[:] = np.array([vx, vy, 0, -vy / 0.1, vx / 0.1, 0.0])
        sim.step(400)
        mujoco.mj_step(m, d, 400)
        speed = np.hypot(*sim.v[:2])
        assert speed == pytest.approx(1 - 5 / 7 * 9.81 * length / 0.1 * 0.4, abs=5e-3)
        assert speed == pytest.approx(np.hypot(*d.qvel[:2]), abs=0.02)


def test_rolling_of_two_directions_in_texts_builders_and_batches() -> None:
    model = sw.load(ROLLING.format(rolling=".02 .0001", pose=""))
    written = model.to_mjcf()
    assert mujoco.MjModel.from_xml_string(written).pair_friction[0, 3:].tolist() == [0.02, 0.0001]
    builder = sw.ModelBuilder("ball")
    ground, ball = builder.add_ground(), builder.world.add_body("ball", position=(0, 0, 0.1))
    ball.add_joint("root", "free")
    geom = ball.add_geom("sphere", 0.1, mass=1.0)
    builder.add_pair(ground, geom, friction=0.8, torsional_friction=0.005, rolling_friction=(0.02, 0.0001))
    start = np.array([0.6, 0.8, 0, -8.0, 6.0, 0])
    ends = []
    for each in (model, sw.load(written), sw.Model.from_bytes(model.to_bytes()), builder.build()):
        sim = sw.Simulation(each, timestep=0.001)
        sim.v = start
        sim.step(200)
        ends.append(sim.v.copy())
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-6)
    batch = sw.Batch(model, 2, timestep=0.001)
    batch.v[:] = start
    batch.step(200)
    np.testing.assert_allclose(batch.v[1], ends[0], atol=1e-9)
