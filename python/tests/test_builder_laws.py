"""Delays, polynomial springs and dampers, and ellipsoids in a medium, of models made in code."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")


def made() -> sw.ModelBuilder:
    b = sw.ModelBuilder(timestep=0.001)
    arm = b.add_body("arm", position=[0, 0, 1])
    arm.add_joint("a", "revolute", axis=[0, 1, 0], stiffness=[3, -1, 2], damping=(0.1, 0.2, 0.3))
    arm.add_geom("capsule", [0.05, 0.2], mass=1, fluid=True, name="g")
    hand = arm.add_body("hand", position=[0, 0, 0.3])
    hand.add_joint("b", "prismatic", axis=[1, 0, 0], stiffness=5, damping=[0.2])
    hand.add_geom("ellipsoid", [0.1, 0.05, 0.02], mass=1, fluid=[0.4, 0.2, 1.0, 0.9, 0.8])
    b.add_tendon("t", {"a": 1.0, "b": -2.0}, stiffness=(1, 2, 3), damping=(0.1, 0, 0.4))
    b.add_motor("slow", "a", delay=0.0035, ctrl_range=(-1, 1))
    b.add_position_servo("curve", "b", kp=2, delay=0.01, samples=6, reading="cubic")
    b.add_motor("now", "t")
    return b


def test_what_a_builder_says_is_read_from_its_text() -> None:
    b = made()
    model = b.build()
    theirs = mujoco.MjModel.from_xml_string(model.to_mjcf())
    np.testing.assert_array_equal(theirs.actuator_delay, [0.0035, 0.01, 0])
    np.testing.assert_array_equal(theirs.actuator_history, [[4, 0], [6, 2], [0, 0]])
    np.testing.assert_array_equal(theirs.jnt_stiffness.ravel(), [3, 5])
    np.testing.assert_array_equal(theirs.jnt_stiffnesspoly, [[-1, 2], [0, 0]])
    np.testing.assert_array_equal(theirs.dof_dampingpoly, [[0.2, 0.3], [0, 0]])
    np.testing.assert_array_equal(theirs.tendon_stiffnesspoly, [[2, 3]])
    np.testing.assert_array_equal(theirs.geom_fluid[:, 0], 1)
    again = sw.load(model.to_mjcf())
    sims = [sw.Simulation(model), sw.Simulation(again)]
    rng = np.random.default_rng(0)
    for _ in range(50):
        ctrl = rng.normal(size=3)
        for sim in sims:
            sim.ctrl[:] = ctrl
            sim.step()
    np.testing.assert_allclose(sims[0].q, sims[1].q, rtol=0, atol=1e-13)


def test_they_can_be_read_and_assigned() -> None:
    b = made()
    joint, geom = b.joint("a"), b.geom("g")
    assert (joint.stiffness, joint.damping) == ((3, -1, 2), (0.1, 0.2, 0.3))
    joint.stiffness = 4
    assert joint.stiffness == 4.0
    assert geom.fluid == (0.5, 0.25, 1.5, 1.0, 1.0)
    geom.fluid = None
    assert geom.fluid is None
    assert (b.actuator("slow").delay, b.actuator("now").delay) == (0.0035, 0.0)


def test_errors_say_what_was_expected() -> None:
    b = made()
    body = b.add_body("c")
    with pytest.raises(ValueError, match="expected one, or up to three"):
        body.add_joint("c", stiffness=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="first of 0 or more"):
        body.add_joint("c", damping=[-1, 2])
    with pytest.raises(ValueError, match="ball joint: expected one number"):
        body.add_joint("c", "ball", damping=[1, 2])
    with pytest.raises(ValueError, match="drag"):
        body.add_geom("sphere", 0.1, fluid=[-1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="delay"):
        b.add_motor("x", "a", delay=-1)
    with pytest.raises(ValueError, match="whole number"):
        b.add_motor("x", "a", delay=1, samples=0)
    with pytest.raises(ValueError, match="latest"):
        b.add_motor("x", "a", delay=1, reading="zoh")
