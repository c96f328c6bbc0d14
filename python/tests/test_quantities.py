"""Placements, velocities, Jacobians, momentum, forces, rays and distances by name, against MuJoCo and by hand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import Array, Worst
from test_mujoco_models import FILES, compile_mujoco, label, random_state

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

STATES = 2
TRIANGLES = [int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_HFIELD)]


def velocity(model: Any, data: Any, kind: Any, index: int) -> Array:
    out = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, kind, index, out, 0)
    return out


def table(rows: list[Array], columns: int) -> Array:
    return np.array(rows).reshape(len(rows), columns)


def compare_motion(sim: sw.Simulation, model: Any, data: Any, worst: Worst) -> None:
    """Frames that are the file's own: MuJoCo moves those of meshes, and those within 1e-6 of the principal axes."""
    of = mujoco.mjtObj
    moved = [mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA, mujoco.mjtSameFrame.mjSAMEFRAME_INERTIAROT]
    own = ~np.isin(model.geom_type, TRIANGLES) & ~np.isin(model.geom_sameframe, moved)
    worst.compare("com of bodies", sim.body_coms, np.array(data.xipos))
    worst.compare("geoms", sim.geom_positions[own], data.geom_xpos[own])
    worst.compare("sites", sim.site_positions, np.array(data.site_xpos))
    rotations = table([site.rotation.ravel() for site in sim.sites], 9)
    worst.compare("axes of sites", rotations, np.array(data.site_xmat))
    bodies = [velocity(model, data, of.mjOBJ_XBODY, i) for i in range(model.nbody)]
    worst.compare("velocities", sim.body_velocities, table(bodies, 6))
    sites = [velocity(model, data, of.mjOBJ_SITE, i) for i in range(model.nsite)]
    worst.compare("velocities of sites", sim.site_velocities, table(sites, 6))
    geoms = [velocity(model, data, of.mjOBJ_GEOM, int(i)) for i in np.flatnonzero(own)]
    worst.compare("velocities of geoms", sim.geom_velocities[own], table(geoms, 6))


def compare_jacobians(sim: sw.Simulation, model: Any, data: Any, worst: Worst, rng: np.random.Generator) -> None:
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    for body in range(model.nbody):
        mujoco.mj_jacBody(model, data, linear, angular, body)
        worst.compare("Jacobian", sim.jacobian(body), np.vstack([angular, linear]))
        point = data.xpos[body] + rng.normal(size=3)
        mujoco.mj_jac(model, data, linear, angular, point, body)
        worst.compare("Jacobian of a point", sim.jacobian(body=body, point=point), np.vstack([angular, linear]))
    for site in range(model.nsite):
        mujoco.mj_jacSite(model, data, linear, angular, site)
        worst.compare("Jacobian of a site", sim.jacobian(site=site), np.vstack([angular, linear]))


def compare_momentum(sim: sw.Simulation, model: Any, data: Any, worst: Worst) -> None:
    mujoco.mj_subtreeVel(model, data)
    matrix, linear = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    for body in range(model.nbody):
        mass = model.body_subtreemass[body]
        if mass == 0.0:
            continue
        worst.compare("centre of mass", sim.center_of_mass(body), data.subtree_com[body])
        momentum = np.concatenate([data.subtree_angmom[body], mass * data.subtree_linvel[body]])
        worst.compare("momentum", sim.momentum(body), momentum)
        mujoco.mj_angmomMat(model, data, matrix, body)
        mujoco.mj_jacSubtreeCom(model, data, linear, body)
        ours = sim.momentum_jacobian(body)
        worst.compare("momentum matrix", ours, np.vstack([matrix, mass * linear]))
        worst.compare("Jacobian of the centre of mass", sim.center_of_mass_jacobian(body), linear)
    if model.body_subtreemass[0] > 0:
        assert np.array_equal(sim.momentum(), sim.momentum("world"))


def mujoco_ray(model: Any, data: Any, origin: Array, direction: Array, exclude: int) -> tuple[float, int]:
    geom = np.array([-1], dtype=np.int32)
    distance = mujoco.mj_ray(model, data, origin, direction, None, 1, exclude, geom, None)
    return (np.inf, -1) if geom[0] < 0 else (distance, int(geom[0]))


def compare_rays(sim: sw.Simulation, model: Any, data: Any, rng: np.random.Generator) -> None:
    if np.isin(model.geom_type, TRIANGLES).any():
        return
    for _ in range(20):
        target = data.geom_xpos[rng.integers(model.ngeom)] if model.ngeom else np.zeros(3)
        origin = target + rng.normal(size=3) * 2.0
        direction = target + 0.02 * rng.normal(size=3) - origin
        direction /= np.linalg.norm(direction)
        exclude = int(rng.integers(model.nbody)) if rng.random() < 0.3 else -1
        distance, geom = mujoco_ray(model, data, origin, direction, exclude)
        hit = sim.ray(origin, 3.0 * direction, exclude=None if exclude < 0 else exclude)
        assert hit.geom == geom
        if geom >= 0:
            # Where the ray grazes, both square roots lose digits.
            grazing = max(abs(float(hit.normal @ direction)), 1e-3)
            assert hit.distance == pytest.approx(distance, rel=1e-10 / grazing)
            assert hit.normal @ direction <= 0.0
            assert abs(np.linalg.norm(hit.normal) - 1.0) < 1e-12


@pytest.mark.parametrize(("package", "path"), FILES, ids=[label(*file) for file in FILES])
def test_quantities_agree(package: str, path: Path) -> None:
    model = compile_mujoco(path)
    sim, data, worst = sw.Simulation(sw.load(path)), mujoco.MjData(model), Worst()
    assert (sim.model.nsite, sim.model.ngeom) == (model.nsite, model.ngeom)
    assert sim.model.site_names == [model.site(i).name for i in range(model.nsite)]
    rng = np.random.default_rng(5)
    for _ in range(STATES):
        state = random_state(model, rng)
        data.qpos[:], data.qvel[:] = state.q, state.v
        sim.q[:], sim.v[:] = state.q, state.v
        mujoco.mj_forward(model, data)
        compare_motion(sim, model, data, worst)
        compare_jacobians(sim, model, data, worst, rng)
        compare_momentum(sim, model, data, worst)
        compare_rays(sim, model, data, rng)
    worst.check()


def explicit_actuators(model: Any) -> Array:
    """Actuators without activation, on joints and tendons."""
    plain = [mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_TENDON]
    return np.asarray(np.isin(model.actuator_trntype, plain) & (model.actuator_dyntype == mujoco.mjtDyn.mjDYN_NONE))


@pytest.mark.parametrize(("package", "path"), FILES, ids=[label(*file) for file in FILES])
def test_forces_agree(package: str, path: Path) -> None:
    """Dampers and servos of a step are what MuJoCo finds at its end, springs lie between that and their middle.

    The middle is half of the change of velocity away from the beginning; where springs lie goes by their stiffness.
    """
    model = compile_mujoco(path)
    strings = model.wrap_type[model.tendon_adr] != mujoco.mjtWrap.mjWRAP_JOINT if model.ntendon else np.zeros(0, bool)
    if (np.stack([model.tendon_stiffness, model.tendon_damping])[:, strings] != 0.0).any():
        pytest.skip("springs of strings act along these as they are at the beginning of the step")
    sim, data, worst = sw.Simulation(sw.load(path), scheme="symplectic-euler"), mujoco.MjData(model), Worst()
    rng = np.random.default_rng(7)
    compared = 0
    has_medium = model.opt.viscosity > 0.0 or model.opt.density > 0.0
    for step in range(100):
        sim.ctrl[:] = data.ctrl[:] = rng.normal(size=model.nu)
        q, ahead = sim.q.copy(), sim.model.integrate(sim.q, sim.timestep * sim.v)
        sim.step()
        # Springs of tendons that are just taut begin to pull in the next step.
        if step == 0 or np.abs(sim.model.integrate(q, sim.timestep * sim.v) - sim.q).max(initial=0.0) > 1e-12:
            # Something that started violated was righted: positions moved otherwise than velocities say.
            continue
        compared += 1
        model.opt.viscosity = model.opt.density = 0.0
        ends = []
        for place in (q, ahead, sim.q):
            data.qpos[:], data.qvel[:] = place, sim.v
            mujoco.mj_forward(model, data)
            ends.append([data.actuator_force.copy(), data.qfrc_spring + data.qfrc_damper, data.qfrc_actuator.copy()])

        def compare(name: str, ours: Array, theirs: Array) -> None:
            begin, on, end = theirs
            either = np.stack([end, begin + (end - on) / 2])
            worst.compare(name, ours, np.clip(ours, either.min(axis=0), either.max(axis=0)))

        actuators, passive, actuation = (np.array(found) for found in zip(*ends, strict=True))
        chosen = explicit_actuators(model)
        compare("actuators", sim.actuator_forces[chosen], actuators[:, chosen])
        if not model.body_gravcomp.any() and not has_medium:
            compare("springs and dampers", sim.passive_forces, passive)
        if chosen.all():
            compare("actuators on joints", sim.actuation_forces, actuation)
        if compared == 4:
            break
    worst.check(1e-8)
    assert compared == 4


PILE = """
<mujoco><option timestep="0.002"/>
  <worldbody><geom name="ground" type="plane" size="3 3 .1"/>
    <body name="torso" pos="0 0 .3"><freejoint name="root"/><geom name="trunk" type="box" size=".2 .1 .05" mass="4"/>
      <site name="imu" pos=".1 0 0"/>
      <body name="left leg" pos=".2 0 0"><joint name="left hip" axis="0 1 0" range="-60 60" limited="true" damping="1"/>
        <geom name="left foot" type="capsule" size=".03" fromto="0 0 0 .1 0 -.2" mass="1"/></body>
      <body name="right leg" pos="-.2 0 0"><joint name="right hip" axis="0 1 0" stiffness="2"/>
        <geom name="right foot" type="capsule" size=".03" fromto="0 0 0 -.1 0 -.2" mass="1"/></body>
    </body>
    <body name="ball" pos="1 0 .5"><freejoint/><geom name="ball" type="sphere" size=".1" mass="2"/></body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="left hip" coef="1"/><joint joint="right hip" coef="-1"/></fixed></tendon>
  <actuator><motor name="left" joint="left hip" gear="2" ctrlrange="-1 1"/>
    <position name="right" joint="right hip" kp="40" kv="2" forcerange="-3 3"/></actuator>
</mujoco>
"""


@pytest.fixture
def sim() -> sw.Simulation:
    return sw.Simulation(sw.load(PILE))


def test_contact_forces_bear_the_weight(sim: sw.Simulation) -> None:
    sim.step(3000)
    contacts = sim.contact_forces()
    total = sum(contact.on("world") for contact in contacts)
    np.testing.assert_allclose(total, [0, 0, -sim.model.mass * 9.81], rtol=1e-6, atol=1e-4)
    assert {contact.bodies for contact in contacts} >= {("world", "left leg"), ("world", "ball")}
    assert {contact.geoms for contact in contacts} >= {("ground", "left foot"), ("ground", "ball")}
    ball = [contact for contact in contacts if "ball" in contact.bodies]
    np.testing.assert_allclose(sum(contact.on("ball") for contact in ball), [0, 0, 2 * 9.81], rtol=1e-6, atol=1e-6)
    # Carried to the degrees of freedom by their Jacobians they are the forces of constraints: nothing is at a limit.
    carried = sum(
        sim.jacobian(body=contact.bodies[1], point=contact.position)[3:].T @ contact.force for contact in contacts
    )
    np.testing.assert_allclose(carried, sim.constraint_forces, atol=2e-3)


def test_contact_forces_on_geoms_and_on_names_that_do_not_exist(sim: sw.Simulation) -> None:
    sim.step(3000)
    contacts = sim.contact_forces()

    def on(key: Any) -> Array:
        total: Array = np.sum([contact.on(key) for contact in contacts], axis=0)
        return total

    np.testing.assert_array_equal(on("ground"), on("world"))
    np.testing.assert_array_equal(on("left foot"), on("left leg"))
    assert on("left foot")[2] > 1
    np.testing.assert_array_equal(on(sim.geom("left foot")), on("left foot"))
    np.testing.assert_array_equal(on(sim.body("ball")), on("ball"))
    np.testing.assert_array_equal(on(sim.model.body_index("ball")), on("ball"))
    contact = contacts[0]
    copied = pickle.loads(pickle.dumps(contact))
    np.testing.assert_array_equal(copied.on("world"), contact.on("world"))
    for key, hint in (
        ("left fot", "did you mean 'left foot'"),
        ("nobody", "the model has 'world'"),
        ("", "the model has"),
    ):
        with pytest.raises(sw.UnknownNameError, match=hint):
            contact.on(key)
    with pytest.raises(IndexError, match="body is 99"):
        contact.on(99)
    with pytest.raises(TypeError, match="expected a name or an index"):
        contact.on(1.5)  # type: ignore[arg-type]


def test_motion_is_the_sum_of_forces() -> None:
    sim = sw.Simulation(sw.load(PILE), scheme="symplectic-euler", tolerance=1e-10)
    model = sim.model
    sim.pd(kp=3.0, kd=0.5, target=model.keyframe().q, effort_limit=2.0)
    for k in range(400):
        sim.ctrl[:] = np.sin(0.02 * k), np.cos(0.03 * k)
        q, v = sim.q.copy(), sim.v.copy()
        sim.step()
        forces = sim.actuation_forces + sim.pd_forces + sim.passive_forces + sim.constraint_forces
        needed = model.mass_matrix(q) @ (sim.v - v) / sim.timestep + model.bias_forces(q, v)
        np.testing.assert_allclose(forces, needed, atol=1e-7 * max(1.0, np.abs(needed).max()))
        np.testing.assert_allclose(sim.acceleration, (sim.v - v) / sim.timestep, rtol=1e-12, atol=1e-12)


def test_views_show_and_change_the_state(sim: sw.Simulation) -> None:
    torso, hip, motor = sim.body("torso"), sim.joint("left hip"), sim.actuator("left")
    np.testing.assert_array_equal(torso.position, [0, 0, 0.3])
    sim.q[0] = 2.0
    assert torso.position[0] == 2.0
    assert sim.site("imu").position[0] == 2.1
    hip.q, hip.v = 0.3, -1.5
    assert (sim.q[7], sim.v[6], hip.q, hip.v) == (0.3, -1.5, 0.3, -1.5)
    motor.ctrl = 0.5
    assert sim.ctrl[0] == 0.5
    assert (motor.length, motor.velocity) == (0.6, -3.0)
    tendon = sim.tendon("both")
    assert (tendon.length, tendon.velocity) == (0.3, -1.5)
    root = sim.joint("root")
    root.q[2] = 0.4
    root.v = [0, 0, 0, 0, 0, 1]
    assert sim.q[2] == 0.4
    np.testing.assert_allclose(torso.velocity, [0, 0, 1, 0, 0, 0])
    np.testing.assert_allclose(sim.site("imu").velocity, [0, 0, 1, 0, 0.1, 0], atol=1e-15)
    torso.applied_wrench = [0, 0, 0, 0, 0, 5]
    assert sim.applied_wrench[1, 5] == 5.0
    sim.step()
    assert motor.force == 0.5
    assert hip.effort == pytest.approx(1.0, rel=1e-12)
    assert sim.body("ball").acceleration[5] == pytest.approx(-9.81)
    assert (torso.mass, torso.parent.name, sim.geom("trunk").body.name) == (4.0, "world", "torso")
    assert motor.target is not None
    assert (sim.geom("trunk").type, motor.target.name) == ("box", "left hip")
    np.testing.assert_array_equal(sim.geom("trunk").size, [0.2, 0.1, 0.05])
    assert torso == sim.body(1)
    assert torso != sim.body(2)
    assert len({torso, sim.body(1), sim.body(2)}) == 2


def test_names_are_found_and_suggested(sim: sw.Simulation) -> None:
    assert (sim.body(-1).name, sim.bodies["ball"].index, sim.model.body_index("ball")) == ("ball", 4, 4)
    assert sim.body(np.int64(1)).name == "torso"  # type: ignore[arg-type]
    assert [joint.name for joint in sim.joints] == sim.model.joint_names
    assert "torso" in sim.bodies
    assert "tors" not in sim.bodies
    assert len(sim.geoms) == sim.model.ngeom
    assert sim.bodies._ipython_key_completions_() == sim.model.body_names
    with pytest.raises(sw.UnknownNameError, match="did you mean 'torso'"):
        sim.body("Torzo")
    with pytest.raises(KeyError, match="did you mean 'left foot' or 'right foot'"):
        sim.geoms["foot"]
    with pytest.raises(ValueError, match="the model has 'imu'"):
        sim.site("camera")
    with pytest.raises(IndexError, match="actuator is 2: the model has 2 actuators"):
        sim.actuator(2)
    with pytest.raises(TypeError, match="body is a float: expected a name or an index"):
        sim.body(1.0)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        sim.body("torso").pos  # type: ignore[attr-defined]  # noqa: B018
    for view in [sim.body("torso"), sim.joint(0), sim.geom(0), sim.site(0), sim.actuator(0), sim.tendon(0), sim.bodies]:
        assert repr(view).startswith("<sapwood ")
    assert repr(sim.body("torso")) == '<sapwood body "torso" at [0 0 0.3] m, 4 kg>'
    np.testing.assert_array_equal(sim.model.ctrl_range, [[-1, 1], [-np.inf, np.inf]])


READ_ONLY: list[Callable[[sw.Simulation], Array]] = [
    lambda sim: sim.body_positions,
    lambda sim: sim.body("torso").position,
    lambda sim: sim.jacobian("torso"),
    lambda sim: sim.momentum(),
    lambda sim: sim.actuator_forces,
    lambda sim: sim.constraint_forces,
    lambda sim: sim.model.ctrl_range,
]


@pytest.mark.parametrize("copy", READ_ONLY)
def test_copies_cannot_be_written(sim: sw.Simulation, copy: Callable[[sw.Simulation], Array]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        copy(sim)[0] = 1.0


def test_bad_arguments_say_what_was_expected(sim: sw.Simulation) -> None:
    with pytest.raises(ValueError, match="one of body=, geom= and site="):
        sim.jacobian()
    with pytest.raises(ValueError, match=r"point has shape \(2,\)"):
        sim.jacobian("torso", point=[1, 2])
    with pytest.raises(ValueError, match="direction is zero"):
        sim.ray([0, 0, 1], [0, 0, 0])
    with pytest.raises(ValueError, match=r"directions\[1\] is zero"):
        sim.rays([0, 0, 1], [[0, 0, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match="max_distance is NaN"):
        sim.ray([0, 0, 1], [0, 0, 1], max_distance=float("nan"))
    with pytest.raises(ValueError, match="have no distance"):
        sim.distance("ground", "ground")
    with pytest.raises(ValueError, match="quaternion"):
        sim.joint("root").q = np.zeros(7)
    with pytest.raises(ValueError, match=r"q has shape \(3,\): expected \(7,\)"):
        sim.joint("root").q = np.zeros(3)


def test_nothing_pushed_before_the_first_step(sim: sw.Simulation) -> None:
    assert sim.contact_forces() == []
    for forces in [sim.constraint_forces, sim.passive_forces, sim.pd_forces, sim.acceleration]:
        np.testing.assert_array_equal(forces, np.zeros(sim.model.nv))
    sim.step(500)
    assert np.abs(sim.constraint_forces).max() > 1.0
    sim.reset()
    assert sim.contact_forces() == []
    assert not sim.constraint_forces.any()


SHAPES = """
<mujoco><worldbody>
  <geom name="field" type="hfield" hfield="hills" pos="0 0 -3"/>
  <geom name="plane" type="plane" size="4 3 1" pos="0 0 -5"/>
  {bodies}</worldbody><asset><hfield name="hills" nrow="5" ncol="4" size="2 2 .7 .5"
  elevation="0 .2 .4 .1 .3 .9 .2 0 .1 .5 .8 .2 .3 .3 .1 .6 0 .2 .4 .7"/>
  <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .6 .6 .2"/></asset></mujoco>
"""
KINDS = ["sphere", "capsule", "ellipsoid", "cylinder", "box"]


def shapes(rng: np.random.Generator, spread: float) -> str:
    """Two of each primitive in random places, and a mesh."""
    bodies = []
    for k, kind in enumerate(2 * KINDS):
        size, pos = rng.uniform(0.1, 0.5, 3), spread * rng.normal(size=3)
        quat = rng.normal(size=4)
        place = f'pos="{pos[0]} {pos[1]} {pos[2]}" quat="{quat[0]} {quat[1]} {quat[2]} {quat[3]}"'
        bodies.append(f'<body name="{k}" {place}><geom type="{kind}" size="{size[0]} {size[1]} {size[2]}"/></body>')
    bodies.append('<body name="mesh" pos="1 1 0"><geom name="mesh" type="mesh" mesh="wedge"/></body>')
    return SHAPES.format(bodies="".join(bodies))


@pytest.mark.parametrize("spread", [0.4, 2.0])
def test_distances_agree(spread: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        text = shapes(rng, spread)
        model, sim = mujoco.MjModel.from_xml_string(text), sw.Simulation(sw.load(text))
        data, fromto = mujoco.MjData(model), np.zeros(6)
        mujoco.mj_forward(model, data)
        for a in range(1, model.ngeom):
            for b in range(a + 1, model.ngeom):
                theirs = mujoco.mj_geomDistance(model, data, a, b, 100.0, fromto)
                distance, points, normal = sim.distance(a, b)
                if theirs > 0:
                    assert distance == pytest.approx(theirs, abs=2e-6), (a, b)
                    np.testing.assert_allclose(np.linalg.norm(points[1] - points[0]), distance, rtol=1e-9)
                else:
                    assert distance <= 1e-9, (a, b)
                np.testing.assert_allclose(points[1] - points[0], distance * normal, atol=1e-9)
                swapped = sim.distance(b, a)
                assert swapped.distance == pytest.approx(distance, abs=1e-9)
                np.testing.assert_allclose(swapped.normal, -normal, atol=1e-6)


def test_distances_in_closed_form(sim: sw.Simulation) -> None:
    assert sim.distance("ground", "ball").distance == pytest.approx(0.4, abs=1e-12)
    distance, points, normal = sim.distance("trunk", "ball")
    corner, centre = np.array([0.2, 0.0, 0.35]), np.array([1.0, 0.0, 0.5])
    assert distance == pytest.approx(np.linalg.norm(centre - corner) - 0.1, abs=1e-12)
    np.testing.assert_allclose(points[0], corner, atol=1e-9)
    np.testing.assert_allclose(normal, (centre - corner) / np.linalg.norm(centre - corner), atol=1e-9)


def test_rays_meet_what_mujoco_meets() -> None:
    """All shapes, from outside and from within."""
    rng = np.random.default_rng(11)
    text = shapes(rng, 0.8)
    model, sim = mujoco.MjModel.from_xml_string(text), sw.Simulation(sw.load(text))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    origins = np.vstack([rng.normal(size=(150, 3)) * 2.0, data.geom_xpos[2:] + 0.01])
    found = set()
    for origin in origins:
        directions = rng.normal(size=(6, 3))
        directions[0] = [0, 0, -1]
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        many = sim.rays(origin, directions)
        for k, direction in enumerate(directions):
            distance, geom = mujoco_ray(model, data, origin, direction, -1)
            hit = sim.ray(origin, direction)
            assert (hit.distance, hit.geom) == (many.distance[k], many.geom[k])
            assert hit.geom == geom
            found.add(geom)
            # Within a height field MuJoCo meets the lid of its base, too.
            is_buried = geom == 0 and np.all(np.abs(origin - [0, 0, -2.9]) < [2.0, 2.0, 0.6])
            if geom >= 0 and not is_buried:
                # MuJoCo keeps triangles in single precision.
                is_rounded = int(model.geom_type[geom]) in TRIANGLES
                assert hit.distance == pytest.approx(distance, rel=1e-9, abs=1e-6 if is_rounded else 0.0)
                closer = sim.ray(origin, direction, max_distance=0.999 * hit.distance)
                assert closer.geom == -1
    assert found == set(range(-1, model.ngeom))


def test_batches_know_where_bodies_are() -> None:
    model = sw.load(PILE)
    batch, rng = sw.Batch(model, 5), np.random.default_rng(1)
    batch.q[:, 7:9] = rng.normal(size=(5, 2))
    batch.v[:] = rng.normal(size=batch.v.shape)
    batch.step(3)
    shapes = [batch.body_positions.shape, batch.body_quaternions.shape, batch.body_velocities.shape]
    assert shapes == [(5, model.nbody, 3), (5, model.nbody, 4), (5, model.nbody, 6)]
    for world in range(5):
        sim = batch.simulation(world)
        np.testing.assert_array_equal(batch.body_positions[world], sim.body_positions)
        np.testing.assert_array_equal(batch.body_quaternions[world], sim.body_quaternions)
        np.testing.assert_array_equal(batch.body_velocities[world], sim.body_velocities)
