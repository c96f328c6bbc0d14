"""Masses and inertias of shapes that MuJoCo makes by rules of its own."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

FIELDS = {
    "torus": "",
    "bolt": '<config key="radius" value=".25"/>',
    "bowl": '<config key="height" value=".3"/><config key="radius" value=".8"/><config key="thickness" value=".05"/>',
    "gear": '<config key="teeth" value="12"/><config key="innerdiameter" value=".5"/><config key="alpha" value=".1"/>',
    "nut": "",
}
FREE = '<body pos=".1 .2 .3" euler="10 20 30"><joint axis="1 2 3" pos=".3 0 0"/>{}</body>'


def compare(text: str, rel: float) -> None:
    m = mujoco.MjModel.from_xml_string(text)
    model = sw.load(text)
    data = mujoco.MjData(m)
    data.qpos[:] = 0.3
    mujoco.mj_forward(m, data)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, mass)
    assert model.body_masses == pytest.approx(m.body_mass, rel=rel)
    assert model.mass_matrix(data.qpos) == pytest.approx(mass, rel=rel)
    assert model.bias_forces(data.qpos, data.qvel) == pytest.approx(data.qfrc_bias, rel=rel)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("where", ["instance", "mesh"])
def test_meshes_of_distance_fields(field: str, where: str) -> None:
    plugin, config = f'<plugin plugin="mujoco.sdf.{field}">', FIELDS[field]
    of_mesh = {"instance": '<plugin instance="i"/>', "mesh": f"{plugin}{config}</plugin>"}[where]
    geom = FREE.format('<geom type="sdf" mesh="m"><plugin instance="i"/></geom>')
    text = f"""<mujoco><extension>{plugin}<instance name="i">{config}</instance></plugin></extension>
        <asset><mesh name="m">{of_mesh}</mesh></asset><worldbody>{geom}</worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    model = sw.load(text)
    assert model.body_masses == pytest.approx(m.body_mass, rel=1e-6)
    # MuJoCo has the right moments, but the greatest always about x, and the centre of mass at the origin.
    moments = np.linalg.eigvalsh(sw.Simulation(model).body(1).inertia)
    assert moments == pytest.approx(np.sort(m.body_inertia[1]), rel=1e-6)


def test_the_inertia_of_a_torus() -> None:
    """Closed forms: π² R r² / 2 · (4 R² + 3 r²) about its axis, π² R r² / 4 · (4 R² + 5 r²) across."""
    text = """<mujoco><asset><mesh name="m" inertia="exact"><plugin plugin="mujoco.sdf.torus"/></mesh></asset>
      <worldbody><body><freejoint/><geom type="sdf" mesh="m" density="1"/></body></worldbody></mujoco>"""
    body = sw.Simulation(sw.load(text)).body(1)
    big, small = 0.35, 0.15
    unit = np.pi**2 * big * small**2 / 4
    across, along = unit * (4 * big**2 + 5 * small**2), 2 * unit * (4 * big**2 + 3 * small**2)
    assert body.inertia == pytest.approx(np.diag([across, across, along]), rel=5e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ('plugin="mujoco.sdf.cow"', "which is not read"),
        ('instance="x"', "name of an instance"),
        ('plugin="mujoco.sdf.torus"><config key="radius3" value="1"/', "no such number"),
        ('plugin="mujoco.sdf.torus"><config key="radius1" value="1e300"/', "above 0|300th"),
        ('plugin="mujoco.sdf.torus"><config key="radius2" value="-.2"/', "above 0"),
        ('plugin="mujoco.sdf.torus"><config key="radius2" value="nan"/', "finite"),
    ],
)
def test_fields_that_make_no_mesh(plugin: str, message: str) -> None:
    end = "</plugin>" if "config" in plugin else "/>"
    inside = f"<plugin {plugin}>{end}" if "config" in plugin else f"<plugin {plugin}{end}"
    asset = f'<asset><mesh name="m">{inside}</mesh></asset>'
    with pytest.raises(sw.ModelError, match=message):
        sw.load(f'<mujoco>{asset}<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>')


def test_a_height_field_weighs_as_much_as_a_block() -> None:
    field = '<hfield name="h" nrow="3" ncol="2" size=".4 .3 .5 .1" elevation="0 1 2 1 0 3"/>'
    geom = FREE.format('<geom type="hfield" hfield="h" pos=".1 0 0" euler="0 0 20"/>')
    compare(f"<mujoco><asset>{field}</asset><worldbody>{geom}</worldbody></mujoco>", 1e-12)


@pytest.mark.parametrize("inertia", ["exact", "legacy"])
def test_meshes_with_holes(inertia: str) -> None:
    vertices = "0 0 0  1 0 0  0 1 0  0 0 1  1 1 1"
    faces = "0 2 1  0 1 3  0 3 2  1 2 4  2 3 4"  # without 1 4 3
    mesh = f'<mesh name="m" inertia="{inertia}" vertex="{vertices}" face="{faces}"/>'
    geom = FREE.format('<geom type="mesh" mesh="m"/>')
    compare(f"<mujoco><asset>{mesh}</asset><worldbody>{geom}</worldbody></mujoco>", 1e-6)
