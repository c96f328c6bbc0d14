"""Recordings and simulations in Rerun, read back from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import rerun

pytest.importorskip("rerun", reason="Rerun is not installed (pip install 'sapwood[rerun]')")

MODEL = """<mujoco><option timestep="0.01"/><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body name="ball" pos="0 0 .2"><freejoint/><geom size=".1" mass="2"/></body>
<body name="arm" pos="2 0 1"><joint name="hinge" axis="0 1 0"/>
<geom name="rod" type="capsule" size=".05 .2" pos=".2 0 0"/>
<geom name="shape" type="box" size=".1 .1 .1" group="3" contype="0" conaffinity="0"/></body>
</worldbody><actuator><motor name="pull" joint="hinge"/></actuator></mujoco>"""


def columns(path: Path) -> tuple[dict[str, dict[str, list[Any]]], set[str]]:
    """What changes over time, by entity and component, and the entities that do not."""
    from rerun.chunk import RrdReader

    changing: dict[str, dict[str, list[Any]]] = {}
    static = set()
    for chunk in RrdReader(str(path)).stream():
        entity = str(chunk.entity_path).strip("/")
        if chunk.is_static:
            static.add(entity)
            continue
        batch = chunk.to_record_batch()
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name == "time" or ":" in name:
                # Times in nanoseconds.
                values = (column.cast("int64") if name == "time" else column).to_pylist()
                changing.setdefault(entity, {}).setdefault(name, []).extend(values)
    return changing, static


def rows(entity: dict[str, list[Any]], component: str) -> np.ndarray:
    """The first instance at every time, in the order of time."""
    order = np.argsort(entity["time"])
    return np.array([value[0] for value in entity[component]])[order]


@pytest.mark.parametrize("live", [False, True])
def test_poses_contacts_and_scalars_come_back(tmp_path: Path, live: bool) -> None:
    sim, path = sw.Simulation(sw.load(MODEL)), tmp_path / "run.rrd"
    sim.ctrl[0] = 0.3
    with sim.record(fps=50) as replay:
        if live:
            with rerun.Stream(sim, path) as stream:
                for _ in range(100):
                    sim.step(2)
                    stream.log()
        else:
            sim.step(200)
    if not live:
        rerun.log(replay, path).disconnect()
    changing, static = columns(path)
    assert {"world/floor", "world/arm/rod", "world/arm/collision/shape"} <= static
    poses = [sim.model.forward_kinematics(q) for q in replay.q]
    for body, name in ((1, "ball"), (2, "arm")):
        entity = changing[f"world/{name}"]
        positions = np.array([pose.positions[body] for pose in poses])
        quaternions = np.array([pose.quaternions[body] for pose in poses])
        # Rerun keeps single precision.
        assert rows(entity, "Transform3D:translation") == pytest.approx(positions, abs=1e-6)
        assert rows(entity, "Transform3D:quaternion")[:, [3, 0, 1, 2]] == pytest.approx(quaternions, abs=1e-6)
    assert rows(changing["energy/kinetic"], "Scalars:scalars") == pytest.approx(replay.kinetic_energy)
    assert rows(changing["ctrl/pull"], "Scalars:scalars") == pytest.approx(replay.ctrl[:, 0])
    # At rest the floor carries the weight: an arrow as long as its share of that of the model.
    contacts = changing["world/contacts"]
    last = int(np.argmax(contacts["time"]))
    share = 2 / sim.model.body_masses[1:].sum()
    assert contacts["Arrows3D:vectors"][last][0] == pytest.approx([0, 0, share / rerun.WEIGHT], abs=1e-3)


def test_a_recording_without_frames_is_an_error() -> None:
    sim = sw.Simulation(sw.load(MODEL))
    replay = sim.record()
    replay.stop()
    if len(replay) == 0:
        with pytest.raises(ValueError, match="without frames"):
            rerun.log(replay)
