"""Textures and colours of files, beside MuJoCo's and those that the files say."""

from __future__ import annotations

import io
import json
import struct
import zlib
from base64 import b64decode
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sapwood as sw
from sapwood._sapwood import _scene_json

TEXTURES = """<mujoco><asset>
<texture name="checker" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".9 .8 .7" width="7" height="5"
mark="edge" markrgb="1 0 0"/>
<texture name="gradient" type="2d" builtin="gradient" rgb1="1 0 0" rgb2="0 0 1" width="31" height="17" mark="cross"/>
<texture name="cube" builtin="checker" rgb1="1 1 1" rgb2="0 .5 0" width="9" height="9"/>
<texture name="flat" type="cube" builtin="flat" rgb1=".8 .6 .4" rgb2=".8 .2 .4" width="13" height="9" mark="cross"
markrgb="1 1 1"/>
<texture name="sky" type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="64" mark="random"
markrgb="1 1 1"/>
<texture name="file" type="2d" file="four.png"/><texture name="flipped" type="2d" file="four.png" hflip="true"
vflip="true"/>
<texture name="grid" type="cube" file="grid.png" gridsize="3 4" gridlayout=".U..LFRB.D.."/>
{materials}</asset><worldbody>{geoms}</worldbody></mujoco>"""
FLAT, CUBES = ("checker", "gradient", "file", "flipped"), ("cube", "flat", "grid")


def png(path: Path, pixels: np.ndarray) -> None:
    sw.write_png(path, pixels.astype(np.uint8))


def unpacked(data: str) -> np.ndarray:
    """The pixels of a PNG file as sapwood writes them: 8 bits, three channels."""
    file = io.BytesIO(b64decode(data))
    file.seek(8)
    packed = b""
    width = height = 0
    while header := file.read(8):
        length, kind = struct.unpack(">I4s", header)
        body = file.read(length)
        file.read(4)
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            packed += body
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 3 * width + 1)
    out = np.zeros((height, 3 * width), np.uint8)
    for row in range(height):
        above = out[row - 1] if row else np.zeros(3 * width, np.uint8)
        out[row] = unfiltered(rows[row, 0], rows[row, 1:], above)
    return out.reshape(height, width, 3)


def unfiltered(kind: int, row: np.ndarray, above: np.ndarray) -> np.ndarray:
    out = np.zeros(len(row) + 3, int)
    for i, x in enumerate(row):
        a, b, c = int(out[i]), int(above[i]), int(above[i - 3]) if i >= 3 else 0
        paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out[i + 3] = (int(x) + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
    return out[3:].astype(np.uint8)


def test_textures_are_those_of_mujoco(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    png(tmp_path / "four.png", rng.integers(0, 256, (3, 4, 3)))
    png(tmp_path / "grid.png", rng.integers(0, 256, (6, 8, 3)))
    names = [*FLAT, *CUBES]
    materials = "".join(f'<material name="m_{name}" texture="{name}"/>' for name in names)
    geoms = "".join(f'<geom size=".1" material="m_{name}"/>' for name in names)
    path = tmp_path / "model.xml"
    path.write_text(TEXTURES.format(materials=materials, geoms=geoms))
    theirs = mujoco.MjModel.from_xml_path(str(path))
    model = sw.load(path)
    assert not model.warnings
    data = json.loads(_scene_json(model))
    images = [geom["texture"]["image"] for geom in data["geoms"]]
    for name, image in zip([*names, "sky"], [*images, data["sky"]], strict=True):
        k = theirs.texture(name).id
        start, (height, width) = theirs.tex_adr[k], (theirs.tex_height[k], theirs.tex_width[k])
        expected = theirs.tex_data[start : start + height * width * 3].reshape(height, width, 3).astype(int)
        ours = unpacked(data["textures"][image]["png"]).astype(int)
        assert ours.shape == expected.shape, name
        # Functions of the system's mathematical library may round otherwise, and the result is cut off.
        assert np.abs(ours - expected).max() <= (1 if name in ("gradient", "sky") else 0), name


def test_a_checkered_floor_is_where_mujoco_has_it() -> None:
    floor = """<mujoco><asset><texture name="t" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="64"
height="64"/>
    <material name="m" texture="t" texrepeat="{repeat}" texuniform="{uniform}"/></asset>
    <worldbody><geom type="plane" size="{size}" material="m"/></worldbody></mujoco>"""
    # Seen from straight above, the middle of a pixel at (x, y) on the floor is red where both halves agree.
    camera = sw.Camera(position=[0, 0, 10], fovy=2 * np.arctan(0.2))
    at = (np.arange(200) + 0.5) / 50 - 2
    x, y = np.meshgrid(at, -at)
    for size, repeat, uniform in [("0 0 1", "1 1", "true"), ("2 2 1", "3 2", "false"), ("2 3 1", "1 2", "true")]:
        model = sw.load(floor.format(size=size, repeat=repeat, uniform=uniform))
        picture = sw.Simulation(model).render(200, 200, camera).astype(int)
        half, (a, b) = np.array(size.split(), float)[:2], np.array(repeat.split(), float)
        # MuJoCo's rule: from edge to edge, or over 2 m from half a texture before the origin.
        if half[0] == 0:
            u, v = 0.5 * a * x - 0.5, -0.5 * b * y - 0.5
        else:
            metres = half if uniform == "true" else (1, 1)
            u, v = a * metres[0] * (x + half[0]) / (2 * half[0]), b * metres[1] * (half[1] - y) / (2 * half[1])
        red = (u % 1 < 0.5) == (v % 1 < 0.5)
        edge = np.minimum(np.abs((2 * u + 0.5) % 1 - 0.5), np.abs((2 * v + 0.5) % 1 - 0.5)) < 0.1
        agree = (picture[..., 0] > picture[..., 2]) == red
        assert agree[~edge].all(), size


COLLADA = """<COLLADA version="1.4.1"><asset><unit meter="1"/></asset>
<library_images><image id="i"><init_from>my%20picture.png</init_from></image></library_images>
<library_effects>
<effect id="red-fx"><profile_COMMON><technique sid="c"><phong><diffuse><color>1 0 0
1</color></diffuse></phong></technique></profile_COMMON></effect>
<effect id="pic-fx"><profile_COMMON><newparam sid="surf"><surface
type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="samp"><sampler2D><source>surf</source></sampler2D></newparam>
<technique sid="c"><lambert><diffuse><texture texture="samp"
texcoord="UV"/></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects><library_materials><material id="red"><instance_effect url="#red-fx"/></material>
<material id="pic"><instance_effect url="#pic-fx"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 -1 0 0 1 0 0 1 1 0 -1 1</float_array><technique_common><accessor
source="#pa" count="4" stride="3"/></technique_common></source>
<source id="t"><float_array id="ta" count="8">0 0 1 0 1 1 0 1</float_array><technique_common><accessor source="#ta"
count="4" stride="2"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles material="a" count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
<triangles material="b" count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="TEXCOORD"
source="#t" offset="1"/><p>0 0 2 2 3 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="a" target="#red"/><instance_material symbol="b" target="#pic"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""

OBJ = """mtllib x.mtl
v 0 -1 0\nv 0 1 0\nv 0 1 1\nv 0 -1 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1
usemtl red one\nf 1 2 3\nusemtl pic\nf 1/1 3/3 4/4\n"""
MTL = "newmtl red one\nKd 1 0 0\nnewmtl pic\nKd 1 1 1\nmap_Kd picture.png\n"


@pytest.mark.parametrize("kind", ["dae", "obj"])
def test_colours_and_textures_of_mesh_files_are_seen(tmp_path: Path, kind: str) -> None:
    """A square: its right lower half red, the left upper one with a picture that is green above and blue below."""
    picture = np.zeros((8, 8, 3))
    picture[:4, :, 1] = picture[4:, :, 2] = 255
    for name in ("my picture.png", "picture.png"):
        png(tmp_path / name, picture)
    (tmp_path / "x.dae").write_text(COLLADA)
    (tmp_path / "x.obj").write_text(OBJ)
    (tmp_path / "x.mtl").write_text(MTL)
    mesh = f'<geometry><mesh filename="x.{kind}"/></geometry>'
    urdf = f'<robot name="r"><link name="a"><visual>{mesh}{{}}</visual></link></robot>'
    (tmp_path / "r.urdf").write_text(urdf.format(""))
    model = sw.load(tmp_path / "r.urdf")
    camera = sw.Camera(lookat=[0, 0, 0.5], distance=10, azimuth=np.pi, elevation=0.0, fovy=2 * np.arctan(0.05))
    seen = sw.Simulation(model).render(400, 200, camera).astype(int)

    def colour(y: float, z: float) -> str:
        pixel = seen[round(200 * (1 - z)), round(200 * (y + 1))]
        return "rgb"[int(pixel.argmax())]

    assert [colour(0.5, 0.3), colour(-0.5, 0.9), colour(-0.8, 0.35)] == ["r", "g", "b"]
    # A material of the URDF outranks the file.
    (tmp_path / "r.urdf").write_text(urdf.format('<material name="m"><color rgba="0 1 0 1"/></material>'))
    seen = sw.Simulation(sw.load(tmp_path / "r.urdf")).render(400, 200, camera).astype(int)
    assert (seen[10:190, 10:390].argmax(axis=2) == 1).all()


def test_textures_that_cannot_be_shown_are_a_warning(tmp_path: Path) -> None:
    texture = """<mujoco><asset><texture name="t" type="2d" {}/><material name="m" texture="t"/></asset>
    <worldbody><geom size="1" material="m"/></worldbody></mujoco>"""
    (tmp_path / "bad.png").write_bytes(b"no picture")
    huge = struct.pack(">I4sIIBBBBB", 13, b"IHDR", 2**30, 2**30, 8, 2, 0, 0, 0)
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + huge + struct.pack(">I", zlib.crc32(huge[4:])))
    cases = {
        'file="bad.png"': "PNG or JPEG",
        'file="huge.png"': "8192",
        'file="none.png"': "cannot be read",
        'builtin="checker" width="100000" height="1"': "width",
    }
    for attributes, expected in cases.items():
        path = tmp_path / "m.xml"
        path.write_text(texture.format(attributes))
        model = sw.load(path)
        assert any(expected in str(warning) for warning in model.warnings), model.warnings
        assert sw.Simulation(model).render(8, 8).shape == (8, 8, 3)
