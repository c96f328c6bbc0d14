"""Soft bodies read from MJCF that MuJoCo has written, and written as MJCF that MuJoCo reads."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sapwood as sw

CUBE = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="1 1 .1"/>
<body name="{name}" pos="0 .1 .5" euler="0 0 30">{inside}
<flexcomp name="cube" type="grid" dim="3" count="3 3 4" spacing=".02 .02 .02" mass="1" radius="0.001" rgba="1 0 0 .5">
<elasticity young="1e5" poisson=".4" damping=".01"/><contact friction="0.7" selfcollide="none"/>
<pin id="0 1 12"/></flexcomp></body></worldbody>{keys}</mujoco>"""
MOVING = '<freejoint/><geom size=".02" mass="2" contype="0" conaffinity="0"/>'
SQUARE = """<mujoco><worldbody><body name="a"/><body name="b"><joint type="slide"/><geom size=".1"/></body></worldbody>
<deformable><flex name="f" dim="{dim}" body="{bodies}" element="0 1 2 3" {more}>{inside}</flex></deformable></mujoco>"""
SOFT = '<elasticity young="1e5"/>'


def theirs(text: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("inside", ["", MOVING], ids=["fixed", "moving"])
def test_flex_as_mujoco_writes_it_is_the_flexcomp(inside: str) -> None:
    source = CUBE.format(name="holder", inside=inside, keys="")
    spec = mujoco.MjSpec.from_string(source)
    spec.compile()
    text = spec.to_xml()
    assert "<flex " in text
    assert "<flexcomp" not in text
    _, data = theirs(text)
    model = sw.load(text)
    assert [warning.message for warning in model.warnings] == []
    sim, original = sw.Simulation(model), sw.Simulation(sw.load(source))
    assert sim.soft_positions == pytest.approx(data.flexvert_xpos, abs=1e-12)
    # The bodies of its nodes are none of the model.
    assert model.body_names == original.model.body_names
    cube, twin = sim.soft_body("cube"), original.soft_body("cube")
    assert cube.mass == pytest.approx(1.0, rel=1e-6)
    assert np.array_equal(cube.elements, twin.elements)
    # MuJoCo writes six digits. They swing, and fall if they can, above the ground.
    sim.step(40)
    original.step(40)
    assert sim.soft_positions == pytest.approx(original.soft_positions, abs=1e-5)


def test_keys_that_count_nodes_say_nothing_of_soft_bodies() -> None:
    keys = f'<keyframe><key name="k" qpos="0 0 1 1 0 0 0 {"0 " * 99}" qvel="1 2 3 0 0 0 {"0 " * 99}"/></keyframe>'
    model = sw.load(CUBE.format(name="holder", inside=MOVING, keys=keys))
    assert model.keyframe("k").q.shape == (7,)
    assert [w.message for w in model.warnings if "nodes of soft bodies" in w.message]


@pytest.mark.parametrize(
    ("dim", "bodies", "more", "inside", "message"),
    [
        (1, "a", 'vertex="0 0 0 1 0 0 0 1 0 1 1 0"', SOFT, "only the bending of cloth"),
        (3, "a", 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"', "", "its nodes are bodies that touch nothing"),
        (3, "a", 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"', SOFT, "bodies hold all its nodes"),
    ],
)
def test_what_is_left_out_is_named(dim: int, bodies: str, more: str, inside: str, message: str) -> None:
    model = sw.load(SQUARE.format(dim=dim, bodies=bodies, more=more, inside=inside))
    assert any(message in warning.message for warning in model.warnings)
    assert sw.Simulation(model).soft_bodies == []


@pytest.mark.parametrize(
    ("bodies", "more", "message"),
    [
        ("a c", "", "name of a body"),
        ("a b", 'vertex="0 0 0 1"', "three for each"),
        ("a b", 'vertex="0 0 0"', "2 names"),
    ],
)
def test_what_makes_no_flex_is_an_error(bodies: str, more: str, message: str) -> None:
    with pytest.raises(sw.ModelError, match=message):
        sw.load(SQUARE.format(dim=3, bodies=bodies, more=more, inside=SOFT))


def test_attached_models_bring_their_soft_bodies(tmp_path: Path) -> None:
    free = '<flexcomp name="free" type="grid" dim="3" count="2 2 2" radius="0"><elasticity young="1e5"/></flexcomp>'
    part = CUBE.format(name="holder", inside=MOVING, keys="").replace("</worldbody>", f"{free}</worldbody>")
    (tmp_path / "part.xml").write_text(part)
    whole = """<mujoco><option timestep="0.005"/><asset><model name="m" file="part.xml"/></asset><worldbody>
        <body name="base" pos="1 2 3"><attach model="m" body="holder" prefix="a_"/></body></worldbody></mujoco>"""
    (tmp_path / "one.xml").write_text(whole)
    model = sw.load(tmp_path / "one.xml")
    assert any(
        "leaves out the soft body" in warning.message and "free" in warning.message for warning in model.warnings
    )
    sim = sw.Simulation(model)
    assert [body.name for body in sim.soft_bodies] == ["a_cube"]
    alone = sw.Simulation(sw.load(tmp_path / "part.xml"))
    cube, there = alone.soft_body("cube"), np.array([1.0, 2.0, 3.0])
    assert sim.soft_positions == pytest.approx(cube.positions + there, abs=1e-14)
    sim.step(10)
    alone.step(10)
    assert sim.soft_positions == pytest.approx(cube.positions + there, abs=1e-10)


def written(model: sw.Model) -> str:
    text = model.to_mjcf()
    _, data = theirs(text)
    ours = sw.Simulation(model)
    assert data.flexvert_xpos == pytest.approx(ours.soft_positions, abs=1e-12)
    assert sum(data.model.body_mass) >= sum(body.mass for body in ours.soft_bodies) * 0.8
    return text


def test_written_models_are_read_as_the_same() -> None:
    fixed, moving = (sw.load(CUBE.format(name="holder", inside=inside, keys="")) for inside in ("", MOVING))
    # What stands in the world keeps its bits.
    assert sw.load(written(fixed)).to_bytes() == fixed.to_bytes()
    # What stands in a body is written in its frame.
    swinging, again = sw.Simulation(moving), sw.Simulation(sw.load(written(moving)))
    assert np.abs(again.soft_positions - swinging.soft_positions).max() < 1e-15
    assert again.soft_body("cube").mass == pytest.approx(swinging.soft_body("cube").mass, rel=1e-14)
    swinging.step(40)
    again.step(40)
    assert again.soft_positions == pytest.approx(swinging.soft_positions, abs=1e-10)
    b = sw.ModelBuilder("made", timestep=0.005)
    b.add_ground()
    b.add_soft_body("", sw.SoftBody.ball(0.03, 4), position=(0.5, 0, 0.3), self_contact=True)
    hand = b.add_body("hand", position=(0, 0, 0.4), euler=(0.3, 0, 0))
    hand.add_joint("z", "prismatic", axis=(0, 0, 1))
    hand.add_geom("box", (0.03, 0.03, 0.01), mass=0.5)
    tip = sw.SoftBody.cylinder(0.02, 0.06, 4, young=2e5, poisson=0.45, density=1234.5678, damping=0.005)
    soft = b.add_soft_body("tip", tip, position=(0, 0, 0.36), friction=1.2, radius=0.002, color=(0.3, 0.6, 0.8))
    soft.attach(soft.positions[:, 2] > 0.389, hand)
    model = b.build()
    first, second = sw.Simulation(model), sw.Simulation(sw.load(written(model)))
    assert [body.name for body in second.soft_bodies] == ["soft0", "tip"]
    first.step(60)
    second.step(60)
    for one, other in (("tip", "tip"), (0, "soft0")):
        assert second.soft_body(other).positions == pytest.approx(first.soft_body(one).positions, abs=1e-9)


def test_what_several_bodies_hold_is_written_as_a_flex() -> None:
    b = sw.ModelBuilder("strip", timestep=0.005)
    strip = sw.SoftBody.box((0.2, 0.04, 0.02), (5, 1, 1), young=5e5, density=800, damping=0.02)
    ends = []
    for name, x in (("left", -0.1), ("", 0.1)):
        ends.append(b.add_body(name, position=(x, 0, 0.5), euler=(0, 0.2, 0)))
        ends[-1].add_joint(f"j{name}", "prismatic", axis=(0, 0, 1), damping=2.0)
        ends[-1].add_geom("box", (0.01, 0.02, 0.02), mass=0.1, contype=0, conaffinity=0)
    soft = b.add_soft_body("strip", strip, position=(0, 0, 0.5))
    soft.attach(soft.positions[:, 0] < -0.099, ends[0])
    soft.attach(soft.positions[:, 0] > 0.099, ends[1])
    soft.pin(np.abs(soft.positions[:, 0] - 0.02) < 0.001)
    model = b.build()
    text = written(model)
    assert "<flex " in text
    first, second = sw.Simulation(model), sw.Simulation(sw.load(text))
    assert second.model.nv == 2
    assert np.abs(second.soft_positions - first.soft_positions).max() < 1e-15
    assert second.soft_body("strip").mass == pytest.approx(first.soft_body("strip").mass, rel=1e-14)
    first.step(60)
    second.step(60)
    assert np.abs(first.soft_positions - strip.vertices - [0, 0, 0.5]).max() > 2e-3
    assert second.soft_positions == pytest.approx(first.soft_positions, abs=1e-9)


def test_what_mjcf_cannot_say_is_an_error_or_a_warning() -> None:
    cube = (0.1, 0.1, 0.1)

    def built(soft_body: sw.SoftBody) -> sw.Model:
        b = sw.ModelBuilder()
        b.add_soft_body("cube", soft_body)
        return b.build()

    with pytest.raises(sw.ModelError, match="cube.*ten nodes"):
        built(sw.SoftBody.box(cube, 1, order="P2")).to_mjcf()
    rubber = built(sw.SoftBody.box(cube, 1, material="stable-neo-hookean", mass_damping=1.0))
    with pytest.warns(UserWarning, match="damping relative to mass"):
        text = rubber.to_mjcf()
    # Of materials MJCF has no word, but custom texts.
    mujoco.MjModel.from_xml_string(text)
    rubber = built(sw.SoftBody.box(cube, 1, material="stable-neo-hookean"))
    assert sw.load(rubber.to_mjcf()).to_bytes() == rubber.to_bytes()
