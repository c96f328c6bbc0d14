"""Soft bodies from Python: files, views, forces, copies, replays."""

from __future__ import annotations

import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sapwood as sw

CUBE = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 .1"/>
    <body name="holder" pos="0 0 .11">
      <flexcomp name="cube" type="grid" dim="3" count="6 6 6" spacing=".02 .02 .02" mass="1" radius="0" {more}>
        <elasticity young="1e5" poisson=".4" damping=".01"/>
        {inside}
      </flexcomp>
    </body>
  </worldbody>
</mujoco>
"""


def cube(more: str = "", inside: str = "") -> sw.Simulation:
    return sw.Simulation(sw.load(CUBE.format(more=more, inside=inside)))


def test_a_cube_falls_and_its_weight_is_carried() -> None:
    sim = cube()
    body = sim.soft_body("cube")
    assert body.positions.shape == (216, 3)
    assert body.mass == pytest.approx(1.0)
    sim.step(400)
    # At rest the ground carries the weight; the solver's tolerance is 1e-6 of it.
    assert body.contact_forces.sum(axis=0) == pytest.approx([0.0, 0.0, 9.81], abs=1e-5)
    assert sim.body("world").contact_force == pytest.approx([0.0, 0.0, -9.81], abs=1e-5)
    assert sim.body_contact_forces[0].tolist() == sim.body("world").contact_force.tolist()
    assert set(body.contact_geoms) == {sim.model.geom_index("ground")}
    assert body.kinetic_energy < 1e-9
    assert body.elastic_energy > 0.0
    assert 0.049 < body.com[2] < 0.05


def test_stresses_are_those_of_the_weight_above() -> None:
    sim = cube()
    body = sim.soft_body("cube")
    assert body.von_mises == pytest.approx(np.zeros(216), abs=1e-9)
    sim.step(400)
    stresses = body.stresses
    assert stresses.shape == (216, 3, 3)
    assert stresses == pytest.approx(stresses.transpose(0, 2, 1))
    middle = abs(body.positions[:, 2] - body.com[2]) < 0.02
    # Between the layers of nodes below and above the middle: half of 9.81 N on 0.01 m².
    assert stresses[middle, 2, 2].mean() == pytest.approx(-490, rel=0.05)
    deviator = stresses - np.trace(stresses, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    assert body.von_mises == pytest.approx(np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2))))


def test_files_choose_materials() -> None:
    def text(name: str, data: str) -> str:
        inside = f'<custom><text name="{name}" data="{data}"/></custom></mujoco>'
        return CUBE.format(more="", inside="").replace("</mujoco>", inside)

    assert cube().soft_body("cube").material == "linear-corotated"
    rubber = text("cube.material", "stable-neo-hookean")
    mujoco.MjModel.from_xml_string(rubber)  # MuJoCo reads the file, too.
    sim = sw.Simulation(sw.load(rubber))
    body = sim.soft_body("cube")
    assert body.material == "stable-neo-hookean"
    assert (body.young, body.poisson, body.damping, body.mass_damping) == (1e5, 0.4, 0.01, 0.0)
    assert body.density == pytest.approx(1000)
    sim.step(400)
    assert body.contact_forces.sum(axis=0) == pytest.approx([0.0, 0.0, 9.81], abs=1e-5)
    assert sim.stats.free_iterations == 1
    assert sim.stats.soft_residual < 1e-6
    with pytest.raises(sw.ModelError, match=r'data: no material model is called "rubber"; .*stable-neo-hookean'):
        sw.load(text("cube.material", "rubber"))
    assert "no soft body is called" in sw.load(text("cub.material", "corotated")).warnings[0].message
    assert not sw.load(text("some.material", "oak")).warnings


def test_nodes_lie_where_mujoco_has_them() -> None:
    # A unit quaternion: MuJoCo does not make it one.
    pose = 'pos=".1 .2 .3" quat=".8 .2 .4 .4"'
    sim = cube(pose)
    model = mujoco.MjModel.from_xml_string(CUBE.format(more=pose, inside=""))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert sim.soft_positions == pytest.approx(data.flexvert_xpos, abs=1e-12)


def test_pinned_nodes_stay_and_those_of_bodies_go_along() -> None:
    sim = cube(inside='<pin gridrange="0 0 5 5 5 5"/>')
    top = sim.soft_positions[:, 2] > 0.159
    assert top.sum() == 36
    before = sim.soft_positions[top].copy()
    sim.step(100)
    assert (sim.soft_positions[top] == before).all()
    moving = CUBE.replace(
        '<body name="holder" pos="0 0 .11">',
        '<body name="holder" pos="0 0 .5"><freejoint/><geom size=".02" pos="0 0 .07"/>',
    )
    sim = sw.Simulation(sw.load(moving.format(more="", inside='<pin gridrange="0 0 5 5 5 5"/>')))
    held = np.array([np.linalg.norm(x - [0, 0, 0.55]) < 0.08 and x[2] > 0.549 for x in sim.soft_positions])
    assert held.sum() == 36
    sim.step(40)
    # They fall together, as nothing holds them: each node is held 0.05 m above the body's origin.
    assert sim.soft_positions[held][:, 2] == pytest.approx(sim.body(1).position[2] + 0.05, abs=1e-5)


def test_positions_are_live_and_keep_their_size() -> None:
    sim = cube()
    body = sim.soft_bodies[0]
    body.positions[:] += [0.0, 0.0, 1.0]
    assert body.com[2] == pytest.approx(1.11)
    body.applied_forces[:] = [0.0, 0.0, 9.81 / 216]
    sim.soft_velocities = np.zeros((216, 3))
    sim.step()
    assert abs(body.velocities.sum(axis=0)[2]) < 1.0
    with pytest.raises(ValueError, match=r"soft_positions.*\(216, 3\)"):
        sim.soft_positions = np.zeros((3, 216))
    sim.soft_positions[5] = np.nan
    with pytest.raises(Exception, match="finite"):
        sim.step()


def test_copies_go_on_with_the_same_bits() -> None:
    sim = cube()
    sim.step(20)
    other = pickle.loads(pickle.dumps(sim))
    sim.step(20)
    other.step(20)
    assert (sim.soft_positions == other.soft_positions).all()


def test_names_and_indices() -> None:
    sim = cube()
    with pytest.raises(sw.UnknownNameError, match="did you mean 'cube'"):
        sim.soft_body("cub")
    with pytest.raises(IndexError, match="below 1"):
        sim.soft_body(3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('count="6 6 6"', 'count="6 6 1"', "expected three integers from 2 to"),
        ('spacing=".02 .02 .02"', 'spacing="0 1 1"', "expected three numbers above 0"),
        ('mass="1"', 'mass="-1"', "expected a number above 0, kg"),
        ("</flexcomp>", '<pin id="216"/></flexcomp>', "beyond the last one, 215"),
        ("</flexcomp>", '<pin grid="0 0"/></flexcomp>', "expected 3 whole numbers"),
    ],
)
def test_bad_attributes_are_errors_with_their_line(old: str, new: str, message: str) -> None:
    with pytest.raises(sw.ModelError, match=rf":\d+: .*{message}"):
        sw.load(CUBE.format(more="", inside="").replace(old, new))


@pytest.mark.parametrize(
    ("young", "poisson", "message"),
    [("1e5", "0.5", "Poisson"), ("-1", "0.3", "Young"), ("1e5", "nan", "expected finite numbers")],
)
def test_bad_materials_name_what_is_wrong(young: str, poisson: str, message: str) -> None:
    text = CUBE.format(more="", inside="").replace('"1e5"', f'"{young}"').replace('".4"', f'"{poisson}"')
    with pytest.raises(sw.ModelError, match=message):
        sw.load(text)


def test_elastic_cloth_is_left_out_with_a_warning() -> None:
    cloth = '<flexcomp name="c" type="grid" count="4 4 1" dim="2"><elasticity young="1e5"/></flexcomp>'
    model = sw.load(f"<mujoco><worldbody>{cloth}</worldbody></mujoco>")
    assert any("elastic cloth" in warning.message for warning in model.warnings)


def test_meshes_of_gmsh_are_read(tmp_path: Path) -> None:
    mesh = tmp_path / "one.msh"
    mesh.write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
        "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n"
    )
    text = (
        '<mujoco><worldbody><flexcomp name="one" type="gmsh" file="one.msh" dim="3" mass="2" pos="0 0 1">'
        '<elasticity young="1e4" poisson=".3"/></flexcomp></worldbody></mujoco>'
    )
    file = tmp_path / "one.xml"
    file.write_text(text)
    body = sw.Simulation(sw.load(file)).soft_body("one")
    assert body.mass == pytest.approx(2.0)
    assert body.positions[3].tolist() == [0.0, 0.0, 2.0]
    mesh.write_text(mesh.read_text()[:60])
    with pytest.raises(sw.ModelError, match=r"one\.msh: line \d+: the file ends"):
        sw.load(file)


def test_a_replay_shows_them(tmp_path: Path) -> None:
    sim = cube()
    replay = sim.record()
    sim.step(20)
    replay.save(tmp_path / "soft.html")
    assert '"soft_positions"' in (tmp_path / "soft.html").read_text()


def test_the_gripper_lifts_its_ball() -> None:
    sim = sw.Simulation(sw.scenes.soft_gripper())
    sim.reset("lift")
    ball = sim.soft_body("ball")
    sim.step(1400)
    start = ball.com
    sim.step(400)
    assert start[2] > 0.12
    # Held: it creeps by less than 0.1 mm in 2 s.
    assert np.linalg.norm(np.subtract(ball.com, start)) < 1e-4
