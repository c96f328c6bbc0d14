"""SDFormat beside Drake, which reads it with the format's own library."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

LINK = """<link name="{name}"><pose{frame}>{pose}</pose><inertial><pose>0.1 -0.05 0.2 0.3 -0.2 0.1</pose>
<mass>{mass}</mass>
<inertia><ixx>0.05</ixx><iyy>0.06</iyy><izz>0.04</izz><ixy>0.003</ixy><ixz>-0.002</ixz><iyz>0.001</iyz></inertia>
</inertial></link>"""

ROBOT = f"""<sdf version="1.9"><model name="robot"><pose>0.2 -0.1 0.3 0.1 0.2 -0.4</pose>
<frame name="mount" attached_to="base"><pose>0 0.2 0.4 0.5 0 -0.3</pose></frame>
{LINK.format(name="base", frame="", pose="0 0 0.5 0 0 0.2", mass=3)}
{LINK.format(name="upper", frame=' relative_to="mount"', pose="0.1 0 0.3 0 0.4 0", mass=2)}
{LINK.format(name="lower", frame=' relative_to="elbow"', pose="0 0 0.1 0.2 0 0", mass=1)}
{LINK.format(name="tip", frame=' relative_to="lower"', pose="0 0.3 0 0 0 1.1", mass=0.5)}
<joint name="foot" type="revolute"><parent>world</parent><child>base</child><axis><xyz>0 0.6 0.8</xyz></axis></joint>
<joint name="shoulder" type="revolute"><pose>0.05 0 -0.1 0.3 0 0</pose><parent>mount</parent><child>upper</child>
<axis><xyz expressed_in="mount">1 2 -1</xyz></axis></joint>
<joint name="elbow" type="prismatic"><pose relative_to="upper">0 0.1 0.5 0 0.7 0</pose><parent>upper</parent>
<child>lower</child><axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint>
<joint name="wrist" type="universal"><parent>lower</parent><child>tip</child><axis><xyz>1 0 0</xyz></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
</model></sdf>"""


def test_a_robot_beside_drake() -> None:
    """Placements, mass matrix and gravity forces of a robot whose frames hang on each other."""
    multibody = pytest.importorskip("pydrake.multibody.plant", reason="no Drake: SDFormat is not compared with it")
    from pydrake.multibody.parsing import Parser

    plant = multibody.MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.AddModelsFromString(ROBOT, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    model = sw.load(ROBOT)
    assert (model.nq, model.nv) == (plant.num_positions(), plant.num_velocities())
    rng = np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(-1.0, 1.0, model.nq)
        plant.SetPositions(context, q)
        np.testing.assert_allclose(model.mass_matrix(q), plant.CalcMassMatrix(context), atol=1e-12)
        sim = sw.Simulation(model)
        sim.q = q
        for name in ("base", "upper", "lower", "tip"):
            pose = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(name))
            np.testing.assert_allclose(sim.body(name).position, pose.translation(), atol=1e-12)


def test_a_world_with_a_ground() -> None:
    """What is thrown onto a ground of another model lies on it."""
    text = """<sdf version="1.9"><world name="w"><model name="ground"><static>true</static><link name="l">
    <collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
    <model name="ball"><pose>0 0 1 0 0 0</pose><link name="l"><inertial auto="true"/>
    <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>
    </world></sdf>"""
    sim = sw.Simulation(sw.load(text))
    sim.step(1000)
    assert sim.body("ball::l").position[2] == pytest.approx(0.1, abs=1e-4)
    assert sim.model.body_masses[sim.model.body_index("ball::l")] == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3)
