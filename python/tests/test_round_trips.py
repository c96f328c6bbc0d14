"""What ``to_mjcf`` writes is read as the same model, by Sapwood bit for bit, and by MuJoCo with the same numbers."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from agreement import Worst

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
mujoco.set_mju_user_warning(lambda message: None)

ROOTS = [Path(pytest.importorskip(name).__file__).parent for name in ("dm_control", "gymnasium", "mujoco")]
FILES = [path for root in ROOTS for path in sorted(root.rglob("*.xml"))]


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
@pytest.mark.filterwarnings("ignore")
def test_a_file_comes_back(path: Path, tmp_path: Path) -> None:
    try:
        first = sw.load(path)
    except sw.ModelError as error:
        pytest.skip(f"not a model by itself: {error}")
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        first.to_mjcf(folders[0] / "model.xml")
    if notes:  # something else stands in the text, and is said
        sw.load(folders[0] / "model.xml")
        return
    second = sw.load(folders[0] / "model.xml")
    if not first.warnings and not second.warnings:  # these name files and lines
        assert first.to_bytes() == second.to_bytes()
    second.to_mjcf(folders[1] / "model.xml")
    files = sorted(file.name for file in folders[0].iterdir())
    assert files == sorted(file.name for file in folders[1].iterdir())
    for file in files:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file
    compare_with_mujoco(first, folders[0] / "model.xml")


URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="{}"/></geometry></visual>{}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><limit lower="-1" upper="1" effort="9"/></joint>
</robot>"""
COLLISION = '<collision><geometry><mesh filename="solid.obj"/></geometry></collision>'


@pytest.mark.parametrize("collision", ["", COLLISION], ids=["seen", "touched"])
@pytest.mark.parametrize("visual", ["solid.obj", "flat.obj"])
def test_a_mesh_that_is_only_seen_comes_back(visual: str, collision: str, tmp_path: Path) -> None:
    corners = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\n"
    (tmp_path / "solid.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "flat.obj").write_text(corners + "f 1 3 2\n")
    (tmp_path / "robot.urdf").write_text(URDF.format(visual, collision))
    first = sw.load(tmp_path / "robot.urdf")
    first.to_mjcf(tmp_path / "model.xml")
    assert first.to_bytes() == sw.load(tmp_path / "model.xml").to_bytes()


SPHERE = '<geom size=".1" mass="1"/>'
ODD = {
    "two meshes of one file, scaled": """<mujoco><asset><mesh name="a" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
        <mesh name="a.obj" vertex="0 0 0 2 0 0 0 1 0 0 0 1"/></asset><worldbody><body><freejoint/>
        <geom type="mesh" mesh="a"/><geom type="mesh" mesh="a.obj" pos="3 0 0"/></body></worldbody></mujoco>""",
    "names that XML writes otherwise": f"""<mujoco model="a &amp; b"><worldbody><body name="&lt;x&gt; &quot;y&quot;">
        <joint name="it's" axis="0 1 0"/>{SPHERE}</body></worldbody>
        <actuator><motor joint="it's"/></actuator></mujoco>""",
    "a joint whose range is far from where it starts": f"""<mujoco><compiler angle="radian"/><worldbody><body>
        <joint type="slide" range="2 3" ref="2.5"/>{SPHERE}<body pos="0 0 1">
        <joint axis="1 0 0" range="-5 -4" ref="-4.5"/>{SPHERE}</body></body></worldbody></mujoco>""",
    "inertia that only just is one": """<mujoco><worldbody><body><freejoint/>
        <inertial pos=".1 .2 .3" mass="2" fullinertia="1 2 2.9999999 1e-9 0 0"/></body></worldbody></mujoco>""",
    "a ground below a body named ground": f"""<mujoco><worldbody><geom name="ground" type="plane" size="0 0 1"/>
        <body name="ground"><freejoint name="ground"/>{SPHERE}</body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_models_come_back(text: str, tmp_path: Path) -> None:
    first = sw.load(text)
    assert not first.warnings
    first.to_mjcf(tmp_path / "model.xml")
    assert first.to_bytes() == sw.load(tmp_path / "model.xml").to_bytes()
    compare_with_mujoco(first, tmp_path / "model.xml")


def compare_with_mujoco(ours: sw.Model, path: Path) -> None:
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data, worst, rng = mujoco.MjData(theirs), Worst(), np.random.default_rng(5)
    assert (ours.nq, ours.nv, ours.nu, ours.ngeom) == (theirs.nq, theirs.nv, theirs.nu, theirs.ngeom)
    worst.compare("masses", ours.body_masses, np.array(theirs.body_mass))
    mujoco.mj_integratePos(theirs, data.qpos, 0.3 * rng.normal(size=theirs.nv), 1)
    data.qvel[:] = rng.normal(size=theirs.nv)
    mujoco.mj_forward(theirs, data)
    matrix = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, matrix)
    worst.compare("mass matrix", ours.mass_matrix(data.qpos), matrix)
    worst.compare("bias", ours.bias_forces(data.qpos, data.qvel), np.array(data.qfrc_bias))
    worst.compare("tendons", ours.tendon_lengths(data.qpos), np.array(data.ten_length))
    worst.check()
