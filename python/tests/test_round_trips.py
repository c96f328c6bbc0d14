"""What ``to_mjcf`` writes is read as the same model, by Sapwood bit for bit, and by MuJoCo with the same numbers."""

from __future__ import annotations

import contextlib
import warnings
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from agreement import Worst

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
mujoco.set_mju_user_warning(lambda message: None)

ROOTS = [Path(pytest.importorskip(name).__file__).parent for name in ("dm_control", "gymnasium", "mujoco")]
FILES = [path for root in ROOTS for path in sorted(root.rglob("*.xml"))]
# Robots with what URDF has and MJCF has not: meshes in colours, with places in textures, joints that start away from 0.
ROBOTS = [
    "a1_description/urdf/a1.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "go2_description/urdf/go2.urdf",
    "laikago_description/urdf/laikago.urdf",
    "pr2_description/urdf/pr2.urdf",
    "quadruped_description/urdf/quadruped.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
]
with contextlib.suppress(PackageNotFoundError):
    DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    FILES += [path for robot in ROBOTS if (path := DATA / "example-robot-data" / "robots" / robot).exists()]


def packed(text: str) -> bytes:
    content = text.encode()
    return number(len(content)) + content


def number(n: int) -> bytes:
    """As models' bytes have whole numbers: seven bits a byte, the lowest first."""
    more = [n >> shift & 0x7F for shift in range(0, max(n.bit_length(), 1), 7)]
    return bytes([*(byte | 0x80 for byte in more[:-1]), more[-1]])


def without_warnings(model: sw.Model) -> bytes:
    """The bytes of a model but for its warnings, which name files and lines, and the sum over all bytes."""
    body = model.to_bytes()[20:]
    notes = [
        packed(note.file or "") + number(note.line or 0) + packed(note.element) + packed(note.message)
        for note in model.warnings
    ]
    listed = number(len(notes)) + b"".join(notes)
    assert body.count(listed) == 1 or not notes
    return body.replace(listed, number(0)) if notes else body


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
    second = sw.load(folders[0] / "model.xml")
    # Otherwise something else stands in the text, and is said.
    if not notes:
        assert without_warnings(first) == without_warnings(second)
    second.to_mjcf(folders[1] / "model.xml")
    files = sorted(file.name for file in folders[0].iterdir())
    assert files == sorted(file.name for file in folders[1].iterdir())
    for file in files:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file
    if not notes:
        compare_with_mujoco(first, folders[0] / "model.xml")


def test_a_cube_with_large_sides_comes_back(tmp_path: Path) -> None:
    """Six sides of 1,450 pixels below each other would be higher than a picture may be."""
    first = sw.load("""<mujoco><asset><texture name="t" type="cube" builtin="gradient" rgb1="1 0 0" rgb2="0 0 1"
        width="1450" height="8700"/><material name="m" texture="t"/></asset><worldbody><geom size="1" material="m"/>
        </worldbody></mujoco>""")
    first.to_mjcf(tmp_path / "model.xml")
    second = sw.load(tmp_path / "model.xml")
    assert not second.warnings
    assert without_warnings(first) == without_warnings(second)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml")).tex_width[0] == 1450


@pytest.mark.filterwarnings("ignore")
def test_colours_that_no_geom_shows_are_not_kept(tmp_path: Path) -> None:
    """Of a mesh file with colours, where the robot gives its links colours of its own."""
    corners = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nvt 0 0\nvt 1 0\nvt 0 1\n"
    (tmp_path / "looks.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    faces = "usemtl red\nf 1/1 3/2 2/3\nf 1/2 2/1 4/3\nusemtl blue\nf 1/1 4/2 3/3\nf 2/3 3/2 4/1\n"
    (tmp_path / "solid.obj").write_text(f"mtllib looks.mtl\n{corners}{faces}")
    plain = URDF.format("solid.obj", "").replace(
        "</geometry>", '</geometry><material name="m"><color rgba="0 1 0 1"/></material>'
    )
    for text, is_kept in ((URDF.format("solid.obj", ""), True), (plain, False)):
        (tmp_path / "robot.urdf").write_text(text)
        first = sw.load(tmp_path / "robot.urdf")
        first.to_mjcf(tmp_path / "model.xml")
        second = sw.load(tmp_path / "model.xml")
        assert (without_warnings(first) == without_warnings(second)) != is_kept


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


def test_next_to_no_inertia_has_no_axes_that_change() -> None:
    """Moments that MuJoCo refuses are raised to a sphere's, whose text is the same when it is read and written."""
    inertia = 'ixx="1.10961e-18" ixy="5.42101e-20" ixz="-5.42101e-20" iyy="0" iyz="8.47033e-22" izz="0"'
    robot = f"""<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="-.1071 .00182 -.00211"/>
        <mass value="1.264"/><inertia {inertia}/></inertial></link>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    first = sw.load(robot).to_mjcf()
    assert "diaginertia" in first
    assert sw.load(first).to_mjcf() == first
    mujoco.MjModel.from_xml_string(first)


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
