"""The characters: what they are made of, and that MuJoCo reads the same from their text."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import Worst, random_quaternion
from conftest import Recorder

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

DOFS = {"humanoid": 34, "dog": 72, "snake36": 36, "snake72": 72, "snake195": 195}


def build(name: str, *, ground: bool = True, self_collision: bool = False) -> sw.Model:
    """The model through the function that users call."""
    if name.startswith("snake"):
        return sw.characters.snake(DOFS[name], ground=ground, self_collision=self_collision)  # type: ignore[arg-type]
    make = {"humanoid": sw.characters.humanoid, "dog": sw.characters.dog}[name]
    return make(ground=ground, self_collision=self_collision)


def depth(model: sw.Model, body: int) -> int:
    """Degrees of freedom from the root to a body."""
    own = sum(joint.v.stop - joint.v.start for joint in model.joints if joint.body == body)
    return 0 if body == 0 else own + depth(model, model.body_parents[body])


def test_names() -> None:
    assert list(DOFS) == list(sw.characters.NAMES)


@pytest.mark.parametrize(("name", "deepest"), list(zip(DOFS, [13, 24, 36, 72, 195], strict=True)))
def test_degrees_of_freedom(name: str, deepest: int) -> None:
    model = build(name)
    assert (model.name, model.nv, model.nu) == (name, DOFS[name], 0)
    assert max(depth(model, body) for body in range(model.nbody)) == deepest
    assert model.joint_names == model.body_names[1:]
    assert {joint.kind for joint in model.joints[1:]} <= {"ball", "revolute"}
    assert not model.warnings


def test_masses() -> None:
    assert build("humanoid").mass == pytest.approx(60, abs=1e-6)
    assert build("dog").mass == pytest.approx(30, abs=1e-6)
    for name in ("humanoid", "dog"):
        model = build(name)
        mass = dict(zip(model.body_names, model.body_masses, strict=True))
        right = [body for body in mass if "right" in body]
        assert len(right) > 4
        for body in right:
            assert mass[body] == pytest.approx(mass[body.replace("right", "left")], abs=1e-9)


@pytest.mark.parametrize("self_collision", [False, True])
@pytest.mark.parametrize("name", DOFS)
def test_mujoco_reads_the_same(name: str, self_collision: bool, record: Recorder) -> None:
    text = sw.characters.mjcf(name, self_collision=self_collision)
    ours, theirs = sw.load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    assert (ours.nq, ours.nv, ours.ngeom) == (theirs.nq, theirs.nv, theirs.ngeom)
    assert ours.joint_names == [theirs.joint(i).name for i in range(theirs.njnt)]
    worst, rng = Worst(), np.random.default_rng(1)
    worst.compare("mass", ours.body_masses, theirs.body_mass)
    for _ in range(3):
        q, v = np.empty(ours.nq), rng.normal(size=ours.nv)
        for joint in ours.joints:
            size = joint.q.stop - joint.q.start
            q[joint.q] = rng.normal(size=size)
            if size >= 4:
                q[joint.q.stop - 4 : joint.q.stop] = random_quaternion(rng)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        matrix = np.empty((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, matrix)
        worst.compare("mass matrix", ours.mass_matrix(q), matrix)
        worst.compare("bias", ours.bias_forces(q, v), data.qfrc_bias)
    worst.check()
    if not self_collision:
        record("MuJoCo", f"character {name}", str(worst))


@pytest.mark.parametrize("name", DOFS)
def test_only_the_ground_is_touched(name: str) -> None:
    sim = sw.Simulation(build(name))
    rng = np.random.default_rng(2)
    # Little: rates add up along a chain of 63 undamped joints, and its tail would be a whip.
    sim.v[6:] = 0.02 * rng.normal(size=sim.v.size - 6)
    sim.step(100)
    assert len(sim.contacts) > 0
    assert (sim.contacts["bodies"] == 0).any(axis=1).all()
    sim = sw.Simulation(build(name, ground=False))
    sim.step(10)
    assert len(sim.contacts) == 0


def test_snakes_have_a_curved_keyframe() -> None:
    model = sw.characters.snake(72)
    assert model.keyframe_names == ["curved"]
    positions = model.forward_kinematics(model.keyframe("curved").q).positions[1:]
    assert np.ptp(positions[:, 1]) > 0.1
    assert np.ptp(model.forward_kinematics(model.keyframe().q).positions[1:, 1]) == 0


def test_unknown_names_are_errors() -> None:
    with pytest.raises(ValueError, match="cat.*humanoid, dog, snake36, snake72, snake195"):
        sw.characters.mjcf("cat")
    with pytest.raises(ValueError, match="snake40"):
        sw.characters.snake(40)  # type: ignore[arg-type]
