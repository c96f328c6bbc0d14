"""Cables and cloth of `flexcomp`: bodies, masses and springs as in MuJoCo, edges that keep their lengths."""

from __future__ import annotations

import copy
import struct
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sapwood as sw

if TYPE_CHECKING:
    from pathlib import Path

mujoco = pytest.importorskip("mujoco")

import sapwood.mujoco  # noqa: E402

HOLD = '<edge equality="true"/>'
FREE = '<option><flag constraint="disable"/></option>'
DIRECT = 'point="0 0 0 9 9 9 .2 0 0 0 .3 0 .3 .3 .1" element="0 2 3 2 4 3"'
CASES = {
    "cable": ('type="grid" dim="1" count="5 1 1" spacing=".1 .1 .1"', HOLD),
    "ring": ('type="circle" dim="1" count="9 1 1" spacing=".1 .1 .1" pos=".1 .2 .3" euler="30 40 50"', HOLD),
    "sheet": ('type="grid" dim="2" count="3 4 1" spacing=".1 .2 .1"', HOLD + '<pin grid="0 0 2 1"/>'),
    "rows": ('type="grid" dim="2" count="4 3 1" spacing=".1 .2 .1"', HOLD + '<pin gridrange="0 0 1 2"/>'),
    "square": ('type="square" count="3 3 1" spacing=".1 .1 .1"', HOLD),
    "disc": ('type="disc" count="5 5 1" spacing=".1 .1 .1"', HOLD),
    "box": ('type="box" dim="3" count="3 4 3" spacing=".1 .2 .3" scale="1 2 3"', HOLD),
    "shell": ('type="box" dim="2" count="3 4 3" spacing=".1 .2 .3"', HOLD),
    "cylinder": ('type="cylinder" dim="3" count="3 3 4" spacing=".1 .1 .1"', HOLD + '<pin id="0"/>'),
    "ball": ('type="ellipsoid" dim="2" count="4 4 4" spacing=".1 .2 .1"', HOLD),
    "solid": ('type="grid" dim="3" count="3 2 3" spacing=".1 .2 .1"', HOLD + '<pin grid="0 1 0"/>'),
    "direct": (f'type="direct" dim="2" scale="1 2 3" {DIRECT}', HOLD + '<pin id="3"/>'),
    "flat": ('type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" dof="2d"', HOLD),
    "radial": ('type="ellipsoid" dim="3" count="3 3 3" spacing=".1 .1 .1" dof="radial"', HOLD),
    "springs": (
        'type="grid" dim="1" count="4 1 1" spacing=".1 .1 .1"',
        '<edge stiffness="300" damping="5"/><pin id="1"/>',
    ),
    "stiff cloth": (
        'type="grid" dim="2" count="4 3 1" spacing=".1 .12 .1" euler="10 20 30"',
        HOLD + '<elasticity young="3e5" poisson=".3" thickness=".01" damping=".01" elastic2d="bend"/>',
    ),
    "stiff disc": (
        'type="disc" count="5 5 1" spacing=".1 .1 .1"',
        '<edge equality="true" damping="2"/><elasticity young="3e5" thickness=".02" elastic2d="bend"/>',
    ),
    "nothing": ('type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1"', ""),
}


def text(shape: str, inside: str, more: str = "") -> str:
    joint = "<freejoint/>" if "<pin" in inside else ""  # MuJoCo has joints with pinned nodes alone
    return f"""<mujoco>{more}<worldbody><body name="hand" pos="0 0 1" euler="10 20 30">
      {joint}<geom size=".05" pos="0 0 -1"/><body name="first" pos="0 0 1"><geom size=".1"/></body>
      <flexcomp name="f" radius=".01" mass="2" inertiabox=".01" {shape}><contact selfcollide="none"/>{inside}</flexcomp>
      <body name="last" pos="0 1 1"><joint name="last"/><geom size=".1"/></body></body></worldbody></mujoco>"""


def moved(m: Any) -> Any:
    """Without constraints, away from the default configuration."""
    rng = np.random.default_rng(5)
    data = mujoco.MjData(m)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    mujoco.mj_integratePos(m, data.qpos, 0.1 * rng.normal(size=m.nv), 1.0)
    data.qvel[:] = 0.1 * rng.normal(size=m.nv)
    mujoco.mj_forward(m, data)
    return data


def check_accelerations(free: sw.Model, data: Any) -> None:
    """Those of the default and of another configuration, without constraints."""
    sim = sw.Simulation(free, timestep=1e-9, tolerance=1e-14)
    sim.q, sim.v = data.qpos, data.qvel
    sim.forward()
    assert sim.acceleration == pytest.approx(data.qacc, abs=1e-5 * np.abs(data.qacc).max())


@pytest.mark.parametrize("name", CASES)
def test_nodes_are_bodies_of_mujoco(name: str) -> None:
    shape, inside = CASES[name]
    m = mujoco.MjModel.from_xml_string(text(shape, inside))
    data, ours = moved(m), sw.load(text(shape, inside))
    assert (ours.nq, ours.nv, ours.nbody) == (m.nq, m.nv, m.nbody)
    assert ours.body_names == [m.body(k).name for k in range(m.nbody)]
    assert ours.body_masses == pytest.approx(m.body_mass, rel=1e-12)
    assert ours.forward_kinematics(data.qpos).positions == pytest.approx(data.xpos, abs=1e-12)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, mass)
    assert ours.mass_matrix(data.qpos) == pytest.approx(mass, abs=1e-12)
    check_accelerations(sw.load(text(shape, inside, FREE)), data)


def moving_edges(m: Any) -> int:
    return sum(bool(m.body_weldid[a] != m.body_weldid[b]) for a, b in m.flex_vertbodyid[m.flex_edge])


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_model_comes_over(name: str) -> None:
    shape, inside = CASES[name]
    own = '<tendon><fixed name="own"><joint joint="last" coef="2"/></fixed></tendon>'
    m = mujoco.MjModel.from_xml_string(text(shape, inside).replace("</mujoco>", own + "</mujoco>"))
    with pytest.warns(UserWarning, match="flex f: its nodes are bodies that touch nothing$"):
        ours = sw.Model.from_mujoco(m)
    assert len(ours.equality_names) == (moving_edges(m) if "equality" in inside else 0)
    data = moved(m)
    assert ours.tendon_names[0] == "own"
    assert ours.tendon_lengths(data.qpos)[: m.ntendon] == pytest.approx(data.ten_length)
    assert ours.joint_names == [m.joint(k).name for k in range(m.njnt)]
    check_accelerations(sw.Model.from_mujoco(m), data)


@pytest.mark.parametrize("name", [name for name, (shape, _) in CASES.items() if "dof" not in shape])
def test_what_mujoco_writes_is_read(name: str) -> None:
    shape, inside = CASES[name]
    spec = mujoco.MjSpec.from_string(text(shape, inside))
    spec.compile()
    written = spec.to_xml()
    # It has six digits.
    m, ours = mujoco.MjModel.from_xml_string(written), sw.load(written)
    assert (ours.nq, ours.body_names) == (m.nq, [m.body(k).name for k in range(m.nbody)])
    assert len(ours.equality_names) == (moving_edges(m) if "equality" in inside else 0)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    check_accelerations(sw.load(spec.to_xml()), moved(m))


def test_edges_of_a_compiled_model_keep_their_lengths_and_answer_to_changes() -> None:
    m = mujoco.MjModel.from_xml_string(text(*CASES["stiff disc"]))
    data = mujoco.MjData(m)
    data.qvel[:] = 0.1 * np.random.default_rng(6).normal(size=m.nv)
    for _ in range(100):
        sapwood.mujoco.step(m, data)
    mujoco.mj_forward(m, data)
    assert data.flexedge_length == pytest.approx(m.flexedge_length0, rel=2e-3)
    data.eq_active[:] = 0
    m.opt.timestep, m.flex_edgestiffness[:], m.flex_edgedamping[:] = 1e-9, 50, 3
    theirs = copy.copy(data)
    mujoco.mj_forward(m, theirs)
    try:
        # Relative to momentum, of which so short a step changes little.
        sapwood.mujoco.configure(tolerance=1e-14)
        sapwood.mujoco.forward(m, data)
    finally:
        sapwood.mujoco.configure()
    assert data.qacc == pytest.approx(theirs.qacc, abs=1e-5 * np.abs(theirs.qacc).max())


@pytest.mark.parametrize("name", [name for name, (_, inside) in CASES.items() if HOLD in inside])
def test_edges_are_those_of_mujoco_and_keep_their_lengths(name: str) -> None:
    shape, inside = CASES[name]
    m = mujoco.MjModel.from_xml_string(text(shape, inside))
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    ends = [(a, b) for a, b in m.flex_edge if m.flex_vertbodyid[a] != m.flex_vertbodyid[b]]
    model = sw.load(text(shape, inside))
    assert len(model.equality_names) == len(ends)
    sim = sw.Simulation(model, timestep=0.002)
    sim.v = 0.3 * np.random.default_rng(6).normal(size=model.nv)
    sim.step(200)

    def vertices() -> np.ndarray:
        data.qpos[:] = sim.q
        mujoco.mj_kinematics(m, data)
        mujoco.mj_comPos(m, data)
        mujoco.mj_flex(m, data)
        return np.array(data.flexvert_xpos)

    lengths = [np.linalg.norm(np.subtract(*vertices()[[a, b]])) for a, b in ends]
    mujoco.mj_resetData(m, data)
    mujoco.mj_forward(m, data)
    before = [np.linalg.norm(np.subtract(*data.flexvert_xpos[[a, b]])) for a, b in ends]
    assert lengths == pytest.approx(before, rel=2e-3)


def test_a_cable_of_one_edge_swings_as_a_pendulum() -> None:
    model = sw.load("""<mujoco><worldbody><flexcomp name="f" type="grid" dim="1" count="2 1 1" spacing="1 1 1"
      pos=".5 0 0" euler="0 60 0" radius=".01" mass="2"><edge equality="true"/><pin id="0"/></flexcomp>
      </worldbody></mujoco>""")
    sim = sw.Simulation(model, timestep=1e-3)
    energy = sim.energy().kinetic + sim.energy().potential
    angles = []
    for _ in range(4000):
        sim.step()
        x, _, z = sim.body("f_1").position - np.array([0.25, 0, 0.4330127018922193])
        angles.append(np.arctan2(x, -z))
    quarter = np.flatnonzero(np.diff(np.sign(angles)))[:3]
    # Half a period from an angle of 30° on: π / agm(1, cos 15°) √(l / g).
    mean = 0.5 * (1 + np.cos(np.pi / 12))
    half = np.pi / mean * np.sqrt(1 / 9.81)
    assert 1e-3 * np.diff(quarter) == pytest.approx([half, half], abs=2e-3)
    assert sim.energy().kinetic + sim.energy().potential == pytest.approx(energy, abs=1e-3)


def test_nodes_lie_on_the_ground() -> None:
    model = sw.load("""<mujoco><worldbody><geom type="plane" size="2 2 1"/>
      <flexcomp name="f" dim="2" count="3 3 1" spacing=".1 .1 .1" pos="0 0 .05" radius=".01" mass="1">
      <edge equality="true"/></flexcomp></worldbody></mujoco>""")
    assert any("touch as spheres" in warning.message for warning in model.warnings)
    sim = sw.Simulation(model)
    sim.step(500)
    heights = [sim.body(f"f_{k}").position[2] for k in range(9)]
    assert heights == pytest.approx(np.full(9, 0.01), abs=1e-3)


def test_what_is_no_net_is_left_out_with_a_warning() -> None:
    for inside in ('<edge equality="vert"/>', '<elasticity young="1e5"/>'):
        model = sw.load(text('dim="2" count="3 3 1"', inside))
        assert model.nbody == 4
        assert any("missing from the model" in warning.message for warning in model.warnings)
    model = sw.load(text('dim="2" count="3 3 1"', HOLD + '<elasticity young="1e5" elastic2d="bend"/>'))
    assert model.nbody == 13
    assert any("elasticity" in str(warning) for warning in model.warnings)


@pytest.mark.parametrize("name", ["sheet", "solid", "springs", "stiff cloth"])
def test_text_says_it_with_strings_that_keep_their_lengths(name: str) -> None:
    model = sw.load(text(*CASES[name]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        written = model.to_mjcf()
    assert any("strings that keep their length" in str(warning.message) for warning in caught) == (name != "springs")
    again = sw.load(written)
    assert again.to_mjcf() == written
    m = mujoco.MjModel.from_xml_string(written)
    assert (m.nq, m.neq) == (model.nq, len(model.equality_names))
    first, second = sw.Simulation(model, timestep=1e-3), sw.Simulation(again, timestep=1e-3)
    first.v = second.v = 0.1 * np.random.default_rng(7).normal(size=model.nv)
    first.step(50)
    second.step(50)
    # Edges of a sheet keep their lengths to 2e-5 while it moves.
    assert first.q == pytest.approx(second.q, abs=1e-4)


def test_text_and_parts_have_the_nodes() -> None:
    shape, inside = CASES["sheet"]
    model = sw.load(text(shape, inside))
    part = (
        '<asset><model name="m" file="m.xml"/></asset><worldbody><attach model="m" body="hand" prefix="p"/></worldbody>'
    )
    attached = sw.load(f"<mujoco>{part}</mujoco>", assets={"m.xml": text(shape, inside).encode()})
    assert attached.nq == model.nq
    assert attached.body_names[3] == "pf_1"


NODES = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.125), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)]
ELEMENTS: dict[int, list[tuple[int, ...]]] = {2: [(1, 2, 3), (2, 5, 3)], 3: [(1, 2, 3, 4), (2, 5, 3, 4)]}


def gmsh(version: str, dimension: int) -> bytes:
    """A binary file of Gmsh."""
    kind, elements = {2: 2, 3: 4}[dimension], ELEMENTS[dimension]
    places = list(enumerate(NODES, 1))
    if version == "2.2":
        nodes = b"5\n" + b"".join(struct.pack("<i3d", tag, *at) for tag, at in places)
        rows = [struct.pack(f"<{3 + len(e)}i", tag, 1, 1, *e) for tag, e in enumerate(elements, 1)]
        body = b"2\n" + struct.pack("<3i", kind, 2, 2) + b"".join(rows)
    else:
        nodes = struct.pack("<4Q3iQ", 1, 5, 1, 5, dimension, 1, 0, 5) + struct.pack("<5Q", 1, 2, 3, 4, 5)
        nodes += b"".join(struct.pack("<3d", *at) for _, at in places)
        rows = [struct.pack(f"<{1 + len(e)}Q", tag, *e) for tag, e in enumerate(elements, 1)]
        body = struct.pack("<4Q3iQ", 1, 2, 1, 2, dimension, 1, kind, 2) + b"".join(rows)
    head = f"$MeshFormat\n{version} 1 8\n".encode() + struct.pack("<i", 1) + b"\n$EndMeshFormat\n"
    return head + b"$Nodes\n" + nodes + b"\n$EndNodes\n$Elements\n" + body + b"\n$EndElements\n"


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_binary_files_of_gmsh(version: str, dimension: int, tmp_path: Path) -> None:
    (tmp_path / "m.msh").write_bytes(gmsh(version, dimension))
    flex = f'<flexcomp name="f" type="gmsh" file="m.msh" dim="{dimension}" mass="2" radius=".01">{HOLD}</flexcomp>'
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco><worldbody>{flex}</worldbody></mujoco>")
    model = sw.load(path)
    places = np.array(NODES) if dimension == 3 else np.delete(NODES, 3, axis=0)
    assert model.forward_kinematics(sw.Simulation(model).q).positions[1:] == pytest.approx(places)
    edges = {pair for element in ELEMENTS[dimension] for pair in combinations(sorted(element), 2)}
    assert len(model.equality_names) == len(edges)
    whole = gmsh(version, dimension)
    for cut in range(1, len(whole) - 14):
        (tmp_path / "m.msh").write_bytes(whole[:cut])
        with pytest.raises(sw.ModelError):
            sw.load(path)


def test_lines_of_an_obj_file(tmp_path: Path) -> None:
    (tmp_path / "l.obj").write_text("v 0 0 0\nv 2 0 0\nv 1 0 0\nv 9 9 9\nv 3 0 0\nl 1 3 2\nl 2/1 -1\n")
    flex = f'<flexcomp name="f" type="mesh" file="l.obj" dim="1" radius=".1" scale="1 2 3">{HOLD}</flexcomp>'
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco><worldbody>{flex}</worldbody></mujoco>")
    model = sw.load(path)
    assert model.forward_kinematics(sw.Simulation(model).q).positions[1:, 0] == pytest.approx([0, 2, 1, 3])
    assert len(model.equality_names) == 3
    (tmp_path / "l.obj").write_text("v 0 0 0\nl 1 2\n")
    with pytest.raises(sw.ModelError, match="line 2: l: expected vertices"):
        sw.load(path)
