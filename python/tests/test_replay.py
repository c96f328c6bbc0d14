"""Recordings: what the page plays is what happened, and recording changes nothing."""

from __future__ import annotations

import base64
import gzip
import html
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw

COMMANDS = [Path(__file__).parents[2] / "target" / profile / "sapwood" for profile in ("debug", "release")]
PLACEHOLDER = '<script id="sapwood-replay" type="application/json">'

try:
    sw.Replay.from_trajectory(sw.characters.humanoid(), [sw.characters.humanoid().keyframe().q], 0.1).html()
    HAS_PLAYER = True
except RuntimeError:
    HAS_PLAYER = False
needs_player = pytest.mark.skipif(
    not HAS_PLAYER, reason="the package was built without the replay page (cargo xtask web)"
)


def data(page: str) -> dict[str, Any]:
    start = page.index(PLACEHOLDER) + len(PLACEHOLDER)
    found: dict[str, Any] = json.loads(page[start : page.index("</script>", start)])
    return found


def poses(replay: dict[str, Any]) -> np.ndarray:
    """The poses (frames, bodies but the world, 7) of a replay, as ``docs/replay-format.md`` says."""
    frames, bodies = replay["frames"], len(replay["bodies"]) - 1
    planes = np.frombuffer(gzip.decompress(base64.b64decode(replay["poses"])), np.uint8).reshape(4, -1)
    bits = np.ascontiguousarray(planes.T).view("<u4").reshape(7 * bodies, frames)
    channels = np.cumsum(bits, axis=1, dtype=np.uint32).view(np.float32)
    return channels.T.reshape(frames, bodies, 7)


def contacts(replay: dict[str, Any]) -> list[np.ndarray]:
    """Positions and forces (n, 6) of each frame."""
    data, at, out = gzip.decompress(base64.b64decode(replay["contacts"])), 0, []
    for _ in range(replay["frames"]):
        n = int.from_bytes(data[at : at + 2], "little")
        out.append(np.frombuffer(data, "<f4", 6 * n, at + 2).reshape(n, 6))
        at += 2 + 24 * n
    assert at == len(data)
    return out


def at_positions(model: sw.Model, q: np.ndarray) -> np.ndarray:
    placed = [np.hstack(model.forward_kinematics(row)) for row in q]
    return np.array(placed, np.float32)[:, 1:]


@needs_player
def test_a_controller_in_python_is_replayed() -> None:
    sim = sw.Simulation(sw.characters.dog(), timestep=0.005)
    positions = [sim.q.copy()]
    replay = sim.record(fps=50)
    for k in range(60):
        sim.applied_force[6:] = 5.0 * np.sin(0.1 * k)
        sim.step()
        if k % 4 == 3:
            positions.append(sim.q.copy())
    replay.stop()
    sim.step(20)

    assert len(replay) == 16
    assert not replay.active
    assert np.array_equal(replay.q, positions)
    assert np.allclose(replay.time, np.arange(16) * 0.02, rtol=0, atol=1e-12)
    page = data(replay.html())
    assert page["frames"] == 16
    assert page["dt_frame"] == pytest.approx(0.02)
    assert np.array_equal(poses(page), at_positions(sim.model, replay.q))
    assert len(page["series"]["kinetic"]) == 16


@needs_player
def test_contacts_carry_their_force() -> None:
    model = sw.load(
        """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>"""
    )
    sim = sw.Simulation(model)
    with sim.record() as replay:
        sim.step(100)
    last = contacts(data(replay.html()))[-1]
    # At rest the ground carries the weight.
    assert np.allclose(last[:, 3:].sum(axis=0), [0, 0, 2 * 9.81], atol=1e-3)
    assert np.allclose(np.abs(last[:, :2]), 0.1, atol=1e-6)


@needs_player
def test_the_command_writes_the_same_poses(tmp_path: Path) -> None:
    command = next((path for path in COMMANDS if path.exists()), None)
    if command is None:
        pytest.skip("the command has not been built (cargo build --bin sapwood)")
    model = sw.characters.humanoid()
    (tmp_path / "model.xml").write_text(sw.characters.mjcf("humanoid"))
    arguments = ["run", str(tmp_path / "model.xml"), "--time", "1", "--dt", "0.004", "--out", str(tmp_path)]
    subprocess.run([command, *arguments], check=True, capture_output=True)
    if not (tmp_path / "replay.html").exists():
        pytest.skip("the command was built without the replay page")
    sim = sw.Simulation(model, timestep=0.004)
    with sim.record(fps=60) as replay:
        sim.step(250)
    theirs, ours = data((tmp_path / "replay.html").read_text()), data(replay.html())
    for key in ["frames", "dt_frame", "poses", "contacts", "geoms", "meshes", "series", "parents"]:
        assert ours[key] == theirs[key], key


def advance(sim: sw.Simulation) -> None:
    sim.step(7)
    sim.advance_to(0.1234)
    sim.trajectory([0.15, 0.2, 0.21])
    sim.step(20)


@pytest.mark.parametrize("accuracy", [None, 1e-4])
def test_recording_changes_nothing(accuracy: float | None) -> None:
    model = sw.characters.humanoid()
    plain, recorded = (sw.Simulation(model, timestep=0.004, accuracy=accuracy) for _ in range(2))
    replays = [recorded.record(fps) for fps in (60, 1000, 100)]
    advance(plain)
    advance(recorded)
    assert plain.state() == recorded.state()
    for replay in replays:
        # Steps of any length, and frames as evenly spaced as ever.
        spaces = np.diff(replay.time)
        assert np.allclose(spaces, replay.frame_time, rtol=0, atol=1e-3 * sim_step(recorded))
        assert len(replay) == 1 + int((recorded.time + 1e-9) / replay.frame_time)


def sim_step(sim: sw.Simulation) -> float:
    return sim.timestep


def test_frames_within_a_step_are_interpolated() -> None:
    """A ball in free fall: the cubic through the ends of a step is the parabola."""
    model = sw.load(
        """<mujoco><worldbody><body pos="0 0 10"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    sim = sw.Simulation(model, timestep=0.01, scheme="midpoint")
    sim.step()
    sim.advance_to(0.0137)
    with sim.record(fps=100) as replay:
        sim.advance_to(0.02)
        sim.step(5)
    start = replay.time[0]
    assert start == pytest.approx(0.0137)
    assert np.allclose(replay.time, start + 0.01 * np.arange(len(replay)), rtol=0, atol=1e-9)
    assert len(replay) == 6
    assert np.allclose(replay.q[:, 2], 10 - 9.81 / 2 * replay.time**2, rtol=0, atol=1e-12)


def test_time_goes_on_over_a_reset() -> None:
    sim = sw.Simulation(sw.characters.humanoid(), timestep=0.01)
    with sim.record(fps=100) as replay:
        sim.step(5)
        sim.reset()
        sim.step(5)
    assert len(replay) == 11
    assert np.allclose(np.diff(replay.time), 0.01)
    assert np.array_equal(replay.q[1:6], replay.q[6:])


def test_a_dropped_replay_records_no_more() -> None:
    sim = sw.Simulation(sw.characters.humanoid())
    replay = sim.record()
    assert "recording" in repr(replay)
    del replay
    sim.step(3)
    with sim.record() as replay:
        assert len(replay) == 1


@needs_player
def test_positions_alone_are_replayed() -> None:
    model = sw.characters.humanoid()
    q0 = model.keyframe().q
    velocity = np.linspace(-1, 1, model.nv)
    q = np.array([model.integrate(q0, 0.1 * k * velocity) for k in range(5)])
    by_dt = sw.Replay.from_trajectory(model, q, 0.1)
    page = data(by_dt.html())
    assert np.array_equal(poses(page), at_positions(model, q))
    assert set(page["series"]) == {"time"}
    # The motion is that of constant velocity, so that any frames between lie on it.
    by_times = sw.Replay.from_trajectory(model, q[[0, 1, 4]], times=[1.0, 1.1, 1.4], fps=20)
    assert len(by_times) == 9
    assert by_times.q[::2] == pytest.approx(q, abs=1e-12)
    assert by_times.frame_time == 0.05


@needs_player
def test_jupyter_gets_the_page(tmp_path: Path) -> None:
    sim = sw.Simulation(sw.characters.humanoid())
    with sim.record() as replay:
        sim.step(10)
    shown = replay._repr_html_()
    inside = shown[shown.index('srcdoc="') + 8 :]
    assert html.unescape(inside[: inside.index('"')]) == replay.html()
    replay.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == replay.html()
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


def test_a_path_is_judged_before_the_page(tmp_path: Path) -> None:
    with sw.Simulation(sw.characters.humanoid()).record() as replay:
        pass
    with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere: make it first"):
        replay.save(tmp_path / "nowhere" / "x.html")
    with pytest.raises(IsADirectoryError, match="is a folder: expected a file, such as motion.html"):
        replay.save(tmp_path)
    if not HAS_PLAYER:
        with pytest.raises(RuntimeError, match="cargo xtask web"):
            replay.save(tmp_path / "x.html")


def test_bad_input() -> None:
    model = sw.characters.humanoid()
    sim = sw.Simulation(model)
    q = np.tile(model.keyframe().q, (3, 1))
    make = sw.Replay.from_trajectory
    with pytest.raises(ValueError, match="fps is 0: expected a finite number above 0"):
        sim.record(fps=0)
    with pytest.raises(ValueError, match=r"q has shape \(3, 5\): expected \(any, "):
        make(model, q[:, :5], 0.1)
    with pytest.raises(ValueError, match="no rows"):
        make(model, q[:0], 0.1)
    with pytest.raises(ValueError, match="dt is -1"):
        make(model, q, -1)
    with pytest.raises(ValueError, match="either dt"):
        make(model, q)
    with pytest.raises(ValueError, match="either dt"):
        make(model, q, 0.1, times=[0, 1, 2])
    with pytest.raises(ValueError, match=r"times\[2\] is 1 after 1: expected ascending times"):
        make(model, q, times=[0, 1, 1])
    with pytest.raises(ValueError, match="at most 10 million"):
        make(model, q, times=[0, 1, 1e9])
    with pytest.raises(ValueError, match=r"q\[3:7\]"):
        make(model, 0 * q, 0.1)


@needs_player
def test_stresses_are_recorded_if_asked() -> None:
    sim = sw.Simulation(sw.scenes.soft_gripper())
    sim.reset("lift")
    with sim.record(fps=50) as plain, sim.record(fps=50, stress=True) as replay:
        sim.step(120)
    assert "soft_stress" not in data(plain.html())
    page = data(replay.html())
    most, nodes = page["soft_stress"]["most"], page["soft"][0]["nodes"]
    values = np.frombuffer(gzip.decompress(base64.b64decode(page["soft_stress"]["values"])), np.uint8)
    values = values.reshape(page["frames"], nodes)
    body = sim.soft_body(0)
    stresses = body.von_mises[np.unique(body.triangles)]
    # A byte is a part of 255 of the scale, which ends at 1, 2 or 5 times a power of ten.
    assert round(most / 10.0 ** np.floor(np.log10(most) + 1e-9), 9) in {1, 2, 5}
    assert np.allclose(values[-1] * most / 255, np.minimum(stresses, most), atol=most / 500)
    assert values[0].max() == 0
    # One stress in a hundred may be beyond the end, which is at most 2.5 times as much as all others.
    assert (values == 255).mean() <= 0.01
    assert np.quantile(values, 0.99) >= 255 / 2.5 - 1
