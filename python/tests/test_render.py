"""Pictures: depth and geoms against MuJoCo's rays, cameras against its placements, what arguments mean, video."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"

SCENE = """<mujoco><asset><material name="green" rgba=".2 .6 .3 1"/></asset>
 <worldbody>
  <geom type="plane" size="4 4 .1"/>
  <geom type="sphere" size=".3" pos="-1 0 .3" rgba=".8 .2 .2 1"/>
  <geom type="capsule" size=".15 .3" pos="-.3 .3 .5" euler="30 40 0" material="green"/>
  <geom type="cylinder" size=".25 .3" pos=".5 -.2 .35" euler="70 20 0"/>
  <geom type="ellipsoid" size=".2 .3 .5" pos="1.2 .2 .5" euler="10 30 50"/>
  <geom type="box" size=".2 .3 .25" pos="0 -1 .3" euler="20 10 40"/>
  <camera name="front" pos="0 -4 2.5" xyaxes="1 0 0 0 .5 1" fovy="50"/>
  <camera name="target" mode="targetbody" target="b" pos="2 -2 1.5"/>
  <camera name="target com" mode="targetbodycom" target="b" pos="2 -2 1.5"/>
  <body name="b" pos="0 .8 1"><freejoint/><geom size=".2"/><geom size=".35" pos=".5 0 .3" rgba=".9 .9 .2 .4"/>
   <camera name="fixed" pos="0 -3 0" xyaxes="1 0 0 0 0 1"/>
   <camera name="track" mode="track" pos="0 -3 0" xyaxes="1 0 0 0 0 1"/>
   <camera name="track com" mode="trackcom" pos="0 -3 0" xyaxes="1 0 0 0 0 1"/>
   <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="box" size=".3 .1 .1" pos=".3 0 0"/></body></body>
 </worldbody></mujoco>"""
Q = [0.1, 0.9, 1.3, 0.9, 0.3, 0.1, 0.2, 0.4]


def pair(source: str, q: list[float] | None = None) -> tuple[Any, Any, sw.Simulation]:
    theirs = mujoco.MjModel.from_xml_string(source) if source.startswith("<") else mujoco.MjModel.from_xml_path(source)
    data = mujoco.MjData(theirs)
    if q is not None:
        data.qpos[:] = q
        mujoco.mj_normalizeQuat(theirs, data.qpos)
    mujoco.mj_forward(theirs, data)
    sim = sw.Simulation(sw.load(source))
    sim.q = data.qpos
    return theirs, data, sim


def cast(theirs: Any, data: Any, camera: int, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Depth and geom of every pixel by MuJoCo's ray casting."""
    rot, origin = data.cam_xmat[camera].reshape(3, 3), data.cam_xpos[camera]
    pitch = 2 * np.tan(np.deg2rad(theirs.cam_fovy[camera]) / 2) / height
    depth, geoms = np.full((height, width), np.inf), np.full((height, width), -1)
    geom = np.zeros((1, 1), np.int32)
    normal = np.zeros((3, 1))
    for row in range(height):
        for column in range(width):
            ray = np.array([pitch * (column + 0.5 - width / 2), pitch * (height / 2 - row - 0.5), -1.0])
            distance = mujoco.mj_ray(theirs, data, origin, rot @ ray, None, 1, -1, geom, normal)
            if distance >= 0:
                depth[row, column], geoms[row, column] = distance, geom[0, 0]
    return depth, geoms


@pytest.mark.parametrize(
    ("source", "q", "camera"),
    [(SCENE, Q, 0), (SCENE, Q, 5), (str(ASSETS / "humanoid.xml"), None, 0), (str(ASSETS / "ant.xml"), None, 0)],
    ids=["shapes", "shapes from a body", "humanoid", "ant"],
)
def test_depth_and_geoms_are_those_of_mujocos_rays(source: str, q: list[float] | None, camera: int) -> None:
    theirs, data, sim = pair(source, q)
    width, height = 96, 72
    depth, geoms = cast(theirs, data, camera, width, height)
    ours = sim.render(width, height, camera, "segmentation")
    same = ours == geoms
    # Rays that meet an outline to round-off may go either way.
    assert np.mean(same) > 0.998
    assert len(np.unique(ours)) > 5
    found = sim.render(width, height, camera, "depth")
    np.testing.assert_allclose(found[same], depth[same], rtol=2e-4)
    seen = same & np.isfinite(depth)
    assert np.median(np.abs(found[seen] / depth[seen] - 1)) < 2e-7


def test_cameras_stand_where_mujocos_do() -> None:
    theirs, data, sim = pair(SCENE, Q)
    assert sim.model.camera_names == [theirs.camera(k).name for k in range(theirs.ncam)]
    for k, name in enumerate(sim.model.camera_names):
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, data.cam_xmat[k])
        same = sw.Camera(position=data.cam_xpos[k], quaternion=quat, fovy=np.deg2rad(theirs.cam_fovy[k]))
        depths = [sim.render(64, 48, camera, "depth") for camera in (name, same)]
        assert np.isfinite(depths[0]).sum() > 100, name
        close = np.isclose(depths[0], depths[1], rtol=1e-5) | (depths[0] == depths[1])
        assert np.mean(close) > 0.998, name


@pytest.mark.parametrize("position", [[2.0, -1.5, 1.8], [0.3, 0.1, 4.0]])
def test_a_camera_at_a_position_looks_at_a_point(position: list[float]) -> None:
    _, _, sim = pair(SCENE, Q)
    lookat = np.array([0.3, 0.1, 0.2])
    way = lookat - position
    level = float(np.hypot(way[0], way[1]))
    # Straight down y is up in the picture, as without a point.
    azimuth = np.arctan2(way[1], way[0]) if level > 0 else np.pi / 2
    turned = sw.Camera(
        lookat=lookat, distance=float(np.linalg.norm(way)), azimuth=azimuth, elevation=np.arctan2(way[2], level)
    )
    found = sim.render(64, 48, sw.Camera(position=position, lookat=lookat), "depth")
    assert np.isfinite(found).sum() > 100
    np.testing.assert_allclose(found, sim.render(64, 48, turned, "depth"), rtol=1e-5)
    if level == 0:
        np.testing.assert_allclose(found, sim.render(64, 48, sw.Camera(position=position), "depth"), rtol=1e-5)


@pytest.mark.parametrize("file", ["humanoid", "ant", "hopper", "half_cheetah", "reacher", "inverted_pendulum"])
def test_default_view_is_that_of_mujocos_free_camera(file: str) -> None:
    theirs, _, sim = pair(str(ASSETS / f"{file}.xml"))
    view = theirs.vis.global_
    explicit = sw.Camera(
        lookat=theirs.stat.center,
        distance=1.5 * theirs.stat.extent,
        azimuth=np.deg2rad(view.azimuth),
        elevation=np.deg2rad(view.elevation),
        fovy=np.deg2rad(view.fovy),
    )
    np.testing.assert_allclose(sim.render(64, 48, None, "depth"), sim.render(64, 48, explicit, "depth"), rtol=1e-3)


def test_kinds_and_renderers() -> None:
    _, _, sim = pair(SCENE, Q)
    rgb = sim.render(64, 48)
    assert rgb.shape == (48, 64, 3)
    assert rgb.dtype == np.uint8
    geoms, bodies = sim.render(64, 48, 0, "segmentation"), sim.render(64, 48, 0, "bodies")
    assert geoms.dtype == bodies.dtype == np.int32
    assert set(bodies[geoms == 6]) == {1}
    assert set(bodies[geoms == 0]) == {0}
    assert set(bodies[geoms == -1]) == {-1}
    renderer = sw.Renderer(sim.model, 64, 48, threads=2)
    for kind in ("rgb", "depth", "segmentation", "bodies"):
        np.testing.assert_array_equal(renderer.render(sim, 0, kind), sim.render(64, 48, 0, kind))
        np.testing.assert_array_equal(renderer.render(sim.q, 0, kind), sim.render(64, 48, 0, kind))


def test_materials_colour_their_geoms() -> None:
    _, _, sim = pair(SCENE, Q)
    rgb, geoms = sim.render(160, 120, 0, antialias=False), sim.render(160, 120, 0, "segmentation")
    red, green = (rgb[geoms == k].mean(axis=0) for k in (1, 2))
    assert np.argmax(red) == 0
    assert np.argmax(green) == 1


def test_tracking_moves_the_camera_with_the_body() -> None:
    _, _, sim = pair(SCENE, Q)
    track = sw.Camera(track="b", distance=3.0)
    before = sim.render(64, 48, track, "segmentation") >= 6
    q = sim.q.copy()
    q[:2] += 1.0
    sim.q = q
    after = sim.render(64, 48, track, "segmentation") >= 6
    assert before.sum() > 100
    assert np.mean(before == after) > 0.99


def test_groups_from_three_on_are_hidden() -> None:
    text = '<mujoco><worldbody><geom size="1" group="3"/><geom size=".5" group="2"/></worldbody></mujoco>'
    sim = sw.Simulation(sw.load(text))

    def seen(groups: tuple[int, ...] | None) -> set[int]:
        return set(np.unique(sim.render(32, 32, kind="segmentation", groups=groups)).tolist()) - {-1}

    assert seen(None) == {1}
    assert seen((3,)) == seen((0, 1, 2, 3)) == {0}
    assert seen(()) == set()


def test_contacts_are_drawn_on_request() -> None:
    text = '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 .1"><freejoint/>'
    sim = sw.Simulation(sw.load(text + '<geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>'))
    sim.step(10)
    plain, drawn = (sim.render(160, 120, contacts=contacts) for contacts in (False, True))
    changed = np.any(plain != drawn, axis=2)
    assert 20 < changed.sum() < 2000
    assert np.argmax(drawn[changed].astype(int).mean(axis=0) - plain[changed].mean(axis=0)) == 0


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"width": 0}, ValueError, "width is 0: expected 1 to 16384 pixels"),
        ({"height": 10**6}, ValueError, "height is 1000000"),
        ({"kind": "colour"}, ValueError, 'available: "rgb", "depth", "segmentation", "bodies"'),
        ({"groups": (3, 40)}, ValueError, "groups is (3, 40): expected integers from 0 to 31"),
        ({"camera": "rear"}, sw.UnknownNameError, "there is no camera 'rear'"),
        ({"camera": "frnt"}, sw.UnknownNameError, "there is no camera 'frnt': did you mean 'front'?"),
        ({"camera": 17}, IndexError, "camera is 17: the model has 6 cameras"),
        ({"camera": 1.5}, TypeError, "camera is of type float"),
        ({"camera": sw.Camera(elevation=-45)}, ValueError, "camera.elevation is -45: expected radians"),
        ({"camera": sw.Camera(fovy=45)}, ValueError, "camera.fovy is 45: expected radians"),
        ({"camera": sw.Camera(distance=0)}, ValueError, "camera.distance is 0"),
        ({"camera": sw.Camera(lookat=[0, 1])}, ValueError, "camera.lookat has shape"),
        ({"camera": sw.Camera(azimuth=float("nan"))}, ValueError, "camera.azimuth is nan"),
        ({"camera": sw.Camera(track="nobody")}, sw.UnknownNameError, "there is no body 'nobody'"),
        ({"camera": sw.Camera(quaternion=[1, 0, 0, 0])}, ValueError, "camera.quaternion without position"),
        (
            {"camera": sw.Camera(position=[0, 0, 1], distance=2)},
            ValueError,
            "camera.distance says nothing where position",
        ),
        ({"camera": sw.Camera(position=[0, 0, 1], track="b")}, ValueError, "camera.track says nothing where position"),
        ({"camera": sw.Camera(position=[0, 0, 1], lookat=[0, 0, 1])}, ValueError, "camera.lookat is camera.position"),
        (
            {"camera": sw.Camera(position=[0, 0, 1], lookat=[0, 0, 0], quaternion=[1, 0, 0, 0])},
            ValueError,
            "camera.lookat and camera.quaternion are both given",
        ),
        ({"camera": sw.Camera(position=[0, 0, 1], quaternion=[0, 0, 0, 0])}, ValueError, "camera.quaternion is zero"),
    ],
)
def test_errors_say_what_to_do(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    sim = sw.Simulation(sw.load(SCENE))
    with pytest.raises(kind) as error:
        sim.render(**arguments)
    assert message in str(error.value)


def test_a_renderer_refuses_what_is_not_its_models() -> None:
    renderer = sw.Renderer(sw.load(SCENE), 8, 8)
    with pytest.raises(ValueError, match="of another model"):
        renderer.render(sw.Simulation(sw.load(SCENE)))
    with pytest.raises(ValueError, match="source has shape"):
        renderer.render(np.zeros(3))
    with pytest.raises(ValueError, match="contacts"):
        renderer.render(Q, contacts=True)


def test_png_files_hold_the_picture(tmp_path: Path) -> None:
    image = sw.Simulation(sw.load(SCENE)).render(33, 21)
    sw.write_png(tmp_path / "a.png", image)
    data = (tmp_path / "a.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (33, 21)
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(21, 1 + 33 * 3)
    np.testing.assert_array_equal(rows[:, 1:].reshape(21, 33, 3), image)
    with pytest.raises(ValueError, match="expected \\(height, width, 3\\) and uint8"):
        sw.write_png(tmp_path / "b.png", image.astype(float))


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_videos_name_their_extra(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio", None)
    monkeypatch.setitem(sys.modules, "imageio.v2", None)
    with pytest.raises(ImportError, match="sapwood\\[video\\]"):
        sw.VideoWriter(tmp_path / name)


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_videos_have_all_frames(name: str, tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v3", reason="the extra sapwood[video] is not installed")
    pytest.importorskip("imageio_ffmpeg", reason="the extra sapwood[video] is not installed")
    sim = sw.Simulation(sw.load(SCENE))
    renderer = sw.Renderer(sim.model, 64, 48)
    frames = []
    for _ in range(5):
        sim.step(20)
        frames.append(renderer.render(sim, "front"))
    sw.video(tmp_path / name, frames, fps=10)
    read = np.stack(list(imageio.imiter(tmp_path / name)))[..., :3]
    assert read.shape == (5, 48, 64, 3)
    assert np.abs(read.astype(int) - np.stack(frames)).mean() < 8
    with sw.VideoWriter(tmp_path / name) as video:
        video.add(frames[0])
        with pytest.raises(ValueError, match="frame has shape"):
            video.add(frames[0][:, :32])


def test_stresses_are_colours() -> None:
    sim = sw.Simulation(sw.scenes.soft_gripper())
    sim.reset("lift")
    sim.step(100)
    is_ball = sim.render(160, 120, kind="segmentation") == -2

    def ball(stress: bool | float | None) -> np.ndarray:
        picture = sim.render(160, 120, stress=stress, shadows=False, antialias=False)
        seen: np.ndarray = picture[is_ball].astype(float)
        return seen

    assert np.array_equal(ball(None), ball(False))
    # Far below the end of the scale all of it is pale yellow: as much red as green; far above it dark red.
    pale, dark = ball(1e9), ball(1e-9)
    assert np.abs(pale[:, 0] - pale[:, 1]).max() <= 8
    assert (pale[:, 2] < pale[:, 1]).all()
    assert dark[:, 1].mean() < 0.5 * dark[:, 0].mean()
    reds = ball(True)[:, 1] / ball(True)[:, 0]
    assert reds.min() < 0.7
    assert reds.max() > 0.9
    assert not np.array_equal(ball(True), ball(None))
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="stress is .*expected True, False, or Pa above 0"):
            sim.render(stress=wrong)
    with pytest.raises(ValueError, match="expected a simulation"):
        sw.Renderer(sim.model, 16, 16).render(sim.q, stress=True)
