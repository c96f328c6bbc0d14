"""Sensors of cameras show MuJoCo's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

LENSES = {
    "field of view": 'resolution="5 5" fovy="50"',
    "wide": 'resolution="7 4" fovy="70"',
    "sensor": 'resolution="6 4" sensorsize=".03 .02" focal=".02 .03"',
    "parallel": 'resolution="4 4" fovy="1.5" projection="orthographic"',
    "a pixel": "",
}
TEXT = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><geom type="sphere" size=".4" pos="1 .2 .5"/>
  <geom type="box" size=".2 .3 .4" pos="-.6 .4 .7" euler="10 20 30"/>
  <site name="far" pos=".5 .3 .2"/>
  <body name="head" pos="0 0 2" euler="10 20 30"><joint type="ball"/><geom type="box" size=".1 .2 .3"/>
    <camera name="eye" pos=".1 0 .1" euler="5 10 0" {}/><site name="near" pos="0 .1 .2"/></body></worldbody>
  <sensor>{}</sensor></mujoco>"""
WHAT = ("pos", "quat", "xaxis", "linvel", "angvel")
FRAMES = "".join(
    f'<frame{what} objtype="camera" objname="eye" {reference}/>'
    for what in WHAT
    for reference in ("", 'reftype="site" refname="far"')
)
FRAMES += '<framepos objtype="site" objname="far" reftype="camera" refname="eye"/>'
FRAMES += '<framelinacc objtype="camera" objname="eye"/>'
SEEN = '<camprojection site="far" camera="eye"/>'
BEHIND = '<camprojection site="near" camera="eye"/>'
RAYS = '<rangefinder camera="eye" data="dist dir origin point normal depth"/>'


@pytest.mark.parametrize(
    ("lens", "sensors"),
    [(lens, sensors) for lens in LENSES for sensors in (FRAMES, SEEN + BEHIND, RAYS)],
)
def test_numbers_are_those_of_mujoco(lens: str, sensors: str) -> None:
    if lens == "parallel" and sensors == SEEN + BEHIND:
        pytest.skip("MuJoCo takes a parallel projection for a perspective one there")
    if lens == "sensor" and sensors == RAYS:
        pytest.skip("MuJoCo's rays go through the corner of such a picture, not its middle")
    text = TEXT.format(LENSES[lens], sensors)
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    sims = [sw.Simulation(model, timestep=1e-7) for model in (sw.load(text), sw.Model.from_mujoco(m))]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(m, data)
        mujoco.mj_integratePos(m, data.qpos, 0.3 * rng.normal(size=3), 1.0)
        data.qvel[:] = rng.normal(size=3)
        mujoco.mj_forward(m, data)
        for sim in sims:
            sim.q, sim.v = data.qpos, data.qvel
            sim.forward()
            assert sim.sensordata == pytest.approx(data.sensordata, rel=1e-5, abs=1e-5)


def test_the_middle_of_a_picture_is_in_it() -> None:
    """Closed forms of what MuJoCo takes otherwise: a site 2 m before the camera and .1 m to the right, .2 m up."""
    text = """<mujoco><worldbody><geom type="plane" size="9 9 1" pos="0 0 -3"/><site name="s" pos=".1 .2 -2"/>
      <body><camera name="c" {}/></body></worldbody>
      <sensor><camprojection site="s" camera="c"/><rangefinder camera="c" data="point"/></sensor></mujoco>"""
    sensor = sw.Simulation(sw.load(text.format('resolution="2 2" sensorsize=".02 .02" focal=".01 .01"')))
    sensor.forward()
    assert sensor.sensordata[:2] == pytest.approx([1 + 0.05, 1 - 0.1])
    corners = [[-1.5, 1.5, -3], [1.5, 1.5, -3], [-1.5, -1.5, -3], [1.5, -1.5, -3]]
    assert sensor.sensordata[2:].reshape(4, 3) == pytest.approx(np.array(corners))
    parallel = sw.Simulation(sw.load(text.format('resolution="4 2" fovy="2" projection="orthographic"')))
    parallel.forward()
    assert parallel.sensordata[:2] == pytest.approx([2 + 0.1, 1 - 0.2])
    assert parallel.sensordata[2:5] == pytest.approx([-1.5, 0.5, -3])


def test_text_has_them_and_what_moves_by_itself_is_named() -> None:
    text = TEXT.format(LENSES["parallel"], SEEN + RAYS + FRAMES)
    model = sw.load(text)
    again = sw.load(model.to_mjcf())
    first, second = sw.Simulation(model), sw.Simulation(again)
    first.forward()
    second.forward()
    assert first.sensordata == pytest.approx(second.sensordata, abs=1e-12)
    tracking = sw.load(text.replace('name="eye"', 'name="eye" mode="track"'))
    named = {warning.element for warning in tracking.warnings if "moves by itself" in warning.message}
    assert named == {"camprojection", "rangefinder", *(f"frame{what}" for what in (*WHAT, "linacc"))}
    still = sw.Simulation(tracking)
    still.forward()
    assert not still.sensordata.any()
    builder = sw.ModelBuilder.from_model(model)
    builder.camera("eye").remove()
    assert sw.Simulation(builder.build()).sensordata.size == 0
