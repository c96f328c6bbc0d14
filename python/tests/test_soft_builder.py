"""Soft bodies made in code: meshes, what holds them, models that are taken apart and put together."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
VTK = """# vtk DataFile Version 3.0
one
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 4 double
0 0 0 1 0 0 0 1 0 0 0 1
CELLS 1 5
4 0 {nodes} 3
CELL_TYPES 1
10
"""


def builder() -> sw.ModelBuilder:
    b = sw.ModelBuilder("soft", timestep=0.005)
    b.add_ground()
    return b


def test_shapes_have_their_volumes() -> None:
    box = sw.SoftBody.box((0.2, 0.3, 0.4), (2, 3, 4), density=500.0, young=2e4, poisson=0.3, damping=0.02)
    assert box.volume == pytest.approx(0.024)
    assert box.mass == pytest.approx(12.0)
    assert (box.young, box.poisson, box.damping, box.order) == (2e4, 0.3, 0.02, "P1")
    assert box.tetrahedra.shape == (120, 4)
    assert sw.SoftBody.cylinder(0.1, 0.3, 12).volume == pytest.approx(np.pi * 0.003, rel=0.02)
    ball = sw.SoftBody.ball(0.1, 12, mass=2.0)
    assert ball.mass == pytest.approx(2.0)
    assert ball.volume == pytest.approx(4e-3 / 3 * np.pi, rel=0.03)
    assert np.linalg.norm(ball.vertices, axis=1).max() == pytest.approx(0.1)
    assert sw.SoftBody.box((1, 1, 1), 1, order="P2").tetrahedra.shape == (5, 10)


def test_a_beam_of_quadratic_elements_sags_by_the_table() -> None:
    # 0.5 m, 0.1 m square, E 2 MPa, ν 0.3, two cells across: -0.04651 m (the table of docs/design/soft-bodies.md).
    beam = sw.SoftBody.box(
        (0.5, 0.1, 0.1), (10, 2, 2), order="P2", young=2e6, poisson=0.3, material="linear", damping=1
    )
    b = sw.ModelBuilder(timestep=0.1)
    b.add_soft_body("beam", beam, pinned=beam.vertices[:, 0] < -0.2499)
    sim = sw.Simulation(b.build())
    tip = beam.vertices[:, 0] > 0.2499
    sim.step(200)
    assert np.abs(sim.soft_velocities).max() < 1e-9
    assert sim.soft_positions[tip, 2].mean() == pytest.approx(-0.0465, abs=4e-4)


def test_bodies_hold_nodes_and_the_world_pins_them() -> None:
    b = builder()
    cube = sw.SoftBody.box((0.1, 0.1, 0.1), 2, mass=0.2)
    hand = b.add_body("hand", position=(0, 0, 1), euler=(0, 0, 0.7))
    hand.add_joint("slide", "prismatic", axis=(0, 0, 1))
    hand.add_geom("box", (0.02, 0.02, 0.02), mass=10.0)
    glued = b.add_soft_body("glued", cube, position=(0, 0, 1.1), friction=0.5, color=(1, 0, 0))
    glued.attach(glued.positions[:, 2] < 1.051, hand)
    child = b.add_soft_body("child", cube, "hand", position=(1, 0, 0), pinned=[0, 1])
    hung = b.add_soft_body("hung", cube, position=(2, 0, 0.5))
    hung.pin(hung.positions[:, 2] > 0.549)
    assert (glued.friction, glued.color, child.body.name, child.pinned) == (0.5, (1, 0, 0, 1), "hand", [0, 1])
    model = b.build()
    sim = sw.Simulation(model)
    start = sim.soft_positions.copy()
    # The child stands in a body that is turned by 0.7 rad.
    assert sim.soft_body("child").com == pytest.approx((np.cos(0.7), np.sin(0.7), 1.0))
    sim.step(20)
    moved = sim.soft_positions - start
    fall = sim.body("hand").position[2] - 1.0
    assert fall < -0.04
    first = len(cube.vertices)
    held = np.flatnonzero(glued.positions[:, 2] < 1.051)
    assert np.allclose(moved[held], [0, 0, fall], atol=1e-5)
    assert np.allclose(moved[[first, first + 1]], [0, 0, fall], atol=1e-5)
    assert (moved[2 * first :][hung.pinned] == 0).all()
    # From the model to a builder and back: the same bytes, and the same again below a body of another model.
    assert sw.ModelBuilder.from_model(model).build().to_bytes() == model.to_bytes()
    c = sw.ModelBuilder(timestep=0.005)
    c.attach(model, c.add_body("base", position=(0, 3, 0)), prefix="a_")
    placed = sw.Simulation(c.build())
    assert placed.soft_body("a_hung").com == pytest.approx((2, 3, 0.5))
    placed.step(20)
    assert np.allclose(placed.soft_positions - [0, 3, 0], sim.soft_positions, atol=1e-9)


def test_files_are_read_whichever_way_round(tmp_path: Path) -> None:
    file = tmp_path / "one.vtk"
    for nodes in ("1 2", "2 1"):
        file.write_text(VTK.format(nodes=nodes))
        assert sw.SoftBody.from_file(file, scale=0.01).volume == pytest.approx(1e-6 / 6)
    file.write_text(VTK.format(nodes="1 1"))
    with pytest.raises(ValueError, match=r"one\.vtk: element 0 has node 1 twice"):
        sw.SoftBody.from_file(file)
    file.write_text(VTK[:60])
    with pytest.raises(ValueError, match=r"one\.vtk: line \d+: "):
        sw.SoftBody.from_file(file)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sw.SoftBody.box((1, 1, 1), 2, poisson=0.5), r"Poisson's ratio is 0.5.*0.4999"),
        (lambda: sw.SoftBody.box((1, 1, 1), 2, density=-1), "density is -1.*positive"),
        (lambda: sw.SoftBody.box((1, 1, 1), 2, density=1, mass=1), "expected one of them"),
        (lambda: sw.SoftBody.box((1, 1), 2), r"size has shape \(2,\): expected \(3,\)"),
        (lambda: sw.SoftBody.box((1, 1, 1), (2, 2)), "cells is .*3 of them"),
        (lambda: sw.SoftBody.ball(1, 2), "2 cells; from 3"),
        (lambda: sw.SoftBody(CORNERS, [[0, 2, 1, 3]]), "element 0 is inverted.*swap two"),
        (lambda: sw.SoftBody(CORNERS * [1, 1, 0], [[0, 1, 2, 3]]), "element 0 is flat"),
        (lambda: sw.SoftBody(CORNERS, [[0, 1, 2, 4]]), "element 0 has node 4: expected indices below 4"),
        (lambda: sw.SoftBody(CORNERS, [[0.0, 1, 2, 3]]), r"expected integers of shape \(m, 4\)"),
        (lambda: sw.SoftBody(CORNERS * np.nan, [[0, 1, 2, 3]]), r"vertices\[0, 0\] is NaN"),
        (lambda: sw.SoftBody(CORNERS, [[0, 1, 2, 3]], material="linaer"), 'did you mean "linear"'),  # type: ignore[arg-type]
    ],
)
def test_what_no_body_is_made_of_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_builder_names_what_does_not_fit() -> None:
    b = builder()
    cube = sw.SoftBody.box((0.1, 0.1, 0.1), 1)
    soft = b.add_soft_body("cube", cube, pinned=[0])
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: b.add_soft_body("cube", cube), "soft body 'cube': there is a soft body of this name"),
        (lambda: b.add_soft_body("b", cube, pinned=[8]), "soft body 'b': pinned has 8: expected indices below 8"),
        (lambda: b.add_soft_body("b", cube, friction=-1), "soft body 'b': friction is -1: expected 0 or more"),
        (lambda: soft.pin([0, 1]), "soft body 'cube': node 0 is held already"),
        (lambda: soft.attach([True], "world"), "soft body 'cube': nodes has shape"),
        (lambda: b.soft_body("cub"), "no soft body 'cub'"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match='unexpected keyword argument "yung"; did you mean "young"'):
        sw.SoftBody.ball(1, 4, yung=1.0)  # type: ignore[call-arg]
    assert [body.name for body in b.soft_bodies] == ["cube"]


def test_surfaces_are_filled_by_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    with pytest.raises(ImportError, match="pytetwild cannot be imported.*pip install"):
        sw.SoftBody.from_surface(CORNERS, faces)
    with pytest.raises(ValueError, match="edge is 0"):
        sw.SoftBody.from_surface(CORNERS, faces, edge=0)
    with pytest.raises(ValueError, match="expected indices from 0 to 3"):
        sw.SoftBody.from_surface(CORNERS, [[0, 1, 4]])
    asked: dict[str, Any] = {}

    def tetrahedralize(vertices: Any, faces: Any, **options: Any) -> Any:
        asked.update(options)
        return vertices, np.array([[0, 2, 1, 3]]) if len(faces) == 4 else np.zeros((0, 4), dtype=int)

    monkeypatch.setitem(sys.modules, "pytetwild", types.SimpleNamespace(tetrahedralize=tetrahedralize))
    body = sw.SoftBody.from_surface(CORNERS, faces, edge=np.sqrt(3) / 5, young=1e4)
    assert asked["edge_length_fac"] == pytest.approx(0.2)
    assert body.volume == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match="has no inside"):
        sw.SoftBody.from_surface(CORNERS, faces[:1])


def test_sensors_feel_soft_bodies_and_batches_say_why_they_are_slow() -> None:
    tray = """<mujoco><option timestep="0.005"/><worldbody><body name="tray" pos="0 0 .5">
      <geom type="box" size=".1 .1 .01" mass="1"/><site name="top" type="box" size=".1 .1 .02"/></body></worldbody>
      <sensor><touch site="top"/><force site="top"/></sensor></mujoco>"""
    b = sw.ModelBuilder.from_model(sw.load(tray))
    b.add_soft_body("cube", sw.SoftBody.box((0.1, 0.1, 0.1), 3, mass=0.4), position=(0, 0, 0.561))
    model = b.build()
    sim = sw.Simulation(model)
    sim.step(300)
    weight = 0.4 * 9.81
    # Of the force on the tray its own weight is a part.
    assert sim.sensordata == pytest.approx([weight, 0, 0, weight + 9.81], abs=1e-3)
    with pytest.warns(sw.PerformanceWarning, match="it has soft bodies"):
        batch = sw.Batch(model, 2, threads=1)
    batch.step(300)
    assert batch.sensordata[1] == pytest.approx(sim.sensordata, abs=1e-9)
