"""Friction of two directions of a pair, beside MuJoCo's elliptic cone."""

from __future__ import annotations

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
