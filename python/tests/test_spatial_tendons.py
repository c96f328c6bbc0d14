"""Spatial tendons beside MuJoCo: lengths, Jacobians, what acts along them, and their way through files."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

WRAPS = {
    f"{geom} {side}".strip(): f'<geom geom="{geom}"' + (f' sidesite="{geom} {side}"' if side else "") + "/>"
    for geom in ("ball", "post")
    for side in ("", "near", "far", "inside")
}
"""Ways past a sphere and a cylinder: the shorter one, on the side of a site, through the inside."""

PATHS = {
    "straight": '<site site="w"/><site site="x"/>',
    "bent": '<site site="w"/><site site="y"/><site site="x"/>',
    "pulleys": '<site site="w"/><site site="x"/><pulley divisor="2"/><site site="x"/><site site="y"/>'
    '<pulley divisor="3"/><site site="z"/><site site="w"/>',
    **{name: f'<site site="w"/>{wrap}<site site="x"/>' for name, wrap in WRAPS.items()},
}

SCENE = """
<mujoco><option timestep="1e-8"/><worldbody><site name="w" pos="-.5 .1 .2"/>
  <body name="b"><freejoint/><inertial pos=".01 .02 .03" mass="1" diaginertia=".01 .02 .03"/>
    <geom name="ball" type="sphere" size=".15" pos="0 0 .1"/><site name="y" pos="-.2 .1 .3"/>
    <site name="ball near" pos="0 .3 .1"/><site name="ball far" pos=".1 -.3 .3"/>
    <site name="ball inside" pos=".01 .02 .11"/>
    <body pos=".2 .1 0"><joint type="ball"/><geom size=".03" mass=".5"/>
      <geom name="post" type="cylinder" size=".12 .2" pos=".05 0 0" euler="30 40 20"/>
      <site name="post near" pos=".3 .3 .1"/><site name="post far" pos="-.1 -.3 .3"/>
      <site name="post inside" pos=".05 .02 .01"/>
      <body pos=".2 .1 0"><joint axis="1 1 0"/><joint type="slide" axis="0 1 1"/><geom size=".03" mass=".5"/>
        <site name="x" pos=".3 0 .1"/></body></body></body>
  <body pos="1 0 0"><joint axis="0 1 0"/><geom size=".03" mass=".4" pos="0 0 .2"/><site name="z" pos="0 .1 .4"/></body>
</worldbody>
<tendon>{tendons}</tendon>
<actuator>{actuators}</actuator>
<sensor>{sensors}</sensor></mujoco>"""

NAMES = list(PATHS)


def scene() -> str:
    """All paths, each with a spring, a damper, limits, two actuators and sensors."""
    attributes = 'stiffness="20" damping=".3" springlength=".3 .6" range=".1 .7"'
    return SCENE.format(
        tendons="".join(f'<spatial name="{name}" {attributes}>{path}</spatial>' for name, path in PATHS.items()),
        actuators="".join(
            f'<motor tendon="{name}" gear="-2"/><position tendon="{name}" kp="7" kv=".2" forcerange="-3 3"/>'
            for name in PATHS
        ),
        sensors="".join(
            f'<{kind} tendon="{name}"/>'
            for name in PATHS
            for kind in ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel")
        ),
    )


def jacobian(model: Any, data: Any) -> Any:
    dense = np.zeros((model.ntendon, model.nv))
    mujoco.mju_sparse2dense(dense, data.ten_J, model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
    return dense


def test_strings_are_as_long_and_pull_as_in_mujoco() -> None:
    """In random states; which of them lie on a geom is counted, so that each way past it is seen."""
    text = scene()
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text, ground=None)
    # A pair of geoms that start in each other is no matter of strings.
    assert not [warning for warning in ours.warnings if "tendon" in str(warning) or "spatial" in str(warning)]
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours)
    rng = np.random.default_rng(0)
    wrapped = dict.fromkeys(NAMES, 0)
    for _ in range(200):
        sim.q[:] = data.qpos[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        sim.v[:] = data.qvel[:] = rng.normal(size=ours.nv)
        mujoco.mj_forward(theirs, data)
        rows = jacobian(theirs, data)
        np.testing.assert_allclose(sim.tendon_lengths, data.ten_length, rtol=0, atol=1e-12)
        np.testing.assert_allclose(sim.sensordata[: 4 * len(NAMES)], data.sensordata, rtol=1e-6, atol=2e-6)
        for name, length, row, rate in zip(NAMES, data.ten_length, rows, data.ten_velocity, strict=True):
            tendon = sim.tendon(name)
            wrapped[name] += len(tendon.strands) > 1
            # From the inside, MuJoCo finds the point to 1e-6 rad.
            tolerance = 2e-6 if "inside" in name else 1e-10
            np.testing.assert_allclose(tendon.jacobian, row, rtol=0, atol=tolerance, err_msg=name)
            assert (tendon.length, tendon.velocity) == pytest.approx((length, rate), abs=20 * tolerance)
    assert all(wrapped[name] >= 4 for name in WRAPS), wrapped
    assert sum(wrapped[name] for name in WRAPS) > 200


def test_jacobians_from_the_inside_are_derivatives() -> None:
    ours = sw.load(scene())
    sim, rng = sw.Simulation(ours), np.random.default_rng(1)
    for _ in range(10):
        q = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        for name in ("ball inside", "post inside"):
            sim.q[:] = q
            row = sim.tendon(name).jacobian
            lengths = []
            for unit in np.eye(ours.nv):
                ends = [ours.tendon_lengths(ours.integrate(q, h * unit))[NAMES.index(name)] for h in (1e-6, -1e-6)]
                lengths.append((ends[0] - ends[1]) / 2e-6)
            np.testing.assert_allclose(row, lengths, rtol=0, atol=1e-8)


def test_forces_along_strings_are_those_of_mujoco() -> None:
    """Of a step so short that it does not matter where in it they are taken; limits, which stop what moves, are far."""
    text = scene().replace('range=".1 .7"', 'range="0 99"')
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text)
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours, scheme="symplectic-euler")
    rng = np.random.default_rng(2)
    for _ in range(20):
        sim.reset()
        sim.q[:] = data.qpos[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        sim.v[:] = data.qvel[:] = rng.normal(size=ours.nv)
        sim.ctrl[:] = data.ctrl[:] = rng.normal(size=ours.nu)
        mujoco.mj_forward(theirs, data)
        sim.step()
        # MuJoCo's rows from the inside are right to 1e-6.
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(sim.passive_forces, data.qfrc_spring + data.qfrc_damper, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-5, atol=1e-5)


def test_strings_survive_mjcf_and_bytes_and_attachment() -> None:
    ours = sw.load(scene())
    q = ours.integrate(ours.keyframe().q, np.random.default_rng(3).normal(size=ours.nv))
    lengths = ours.tendon_lengths(q)
    again = sw.load(ours.to_mjcf())
    np.testing.assert_array_equal(again.tendon_lengths(q), lengths)
    assert again.to_mjcf() == ours.to_mjcf()
    np.testing.assert_array_equal(sw.Model.from_bytes(ours.to_bytes()).tendon_lengths(q), lengths)
    builder = sw.ModelBuilder()
    builder.attach(ours, position=(3, 0, 0), prefix="far_")
    moved = builder.build()
    assert moved.tendon_names == [f"far_{name}" for name in NAMES]
    sites = sw.Simulation(moved).tendon("far_straight").strands
    np.testing.assert_allclose(sites[0, 0], [2.5, 0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(
        moved.tendon_lengths(moved.keyframe().q), ours.tendon_lengths(ours.keyframe().q), atol=1e-14
    )


def pieces(sim: sw.Simulation) -> list[np.ndarray]:
    """The points that each string is drawn through."""
    scene = json.loads(sw._sapwood._scene_json(sim.model))
    ends = np.cumsum([string["points"] for string in scene["strings"]])
    return np.split(sim._string_points(), ends[:-1])


def test_strings_are_drawn_where_they_run() -> None:
    """Twelve chords of an arc of up to half a turn are 0.3 % shorter than it; a string that passes by is straight."""
    ours = sw.load(scene(), ground=None)
    single = [name for name in NAMES if name != "pulleys"]
    sim = sw.Simulation(ours)
    rng = np.random.default_rng(0)
    around = dict.fromkeys(WRAPS, 0)
    for _ in range(100):
        sim.q[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv) * ([0.1] * 3 + [1.0] * (ours.nv - 3)))
        points = dict(zip(["straight", "bent", *["pulleys"] * 3, *WRAPS], pieces(sim), strict=True))
        for name in single:
            length = sim.tendon(name).length
            drawn = np.linalg.norm(np.diff(points[name], axis=0), axis=1).sum()
            np.testing.assert_allclose(points[name][0], sim.site("w").position, atol=1e-14)
            np.testing.assert_allclose(points[name][-1], sim.site("x").position, atol=1e-14)
            assert -1e-9 < length - drawn < 0.02 * length, name
            if length > np.linalg.norm(points[name][-1] - points[name][0]) + 1e-9 and name in WRAPS:
                around[name] += 1
                geom = sim.geom(name.split()[0])
                off = (points[name][1:-1] - geom.position) @ geom.rotation
                off[:, 2] *= name.startswith("ball")
                radius = 0.15 if name.startswith("ball") else 0.12
                np.testing.assert_allclose(np.linalg.norm(off, axis=1), radius, atol=1e-12)
    assert min(around.values()) > 3, around


RED = "<mujoco><worldbody><site name='a' pos='-.5 0 1'/><body pos='0 0 1'><joint axis='0 1 0' damping='1'/>" + (
    "<geom name='post' type='cylinder' size='.1 .2' euler='90 0 0' rgba='0 0 1 1'/><site name='b' pos='.5 0 -.1'/>"
    "</body></worldbody><tendon><spatial name='rope' width='.03' rgba='1 0 0 1' {}><site site='a'/><geom geom='post'/>"
    "<site site='b'/></spatial></tendon></mujoco>"
)


def test_strings_are_seen_in_pictures_and_replays() -> None:
    camera = sw.Camera(position=[0, -2, 1], quaternion=[np.sqrt(0.5), np.sqrt(0.5), 0, 0])

    def red(attributes: str, **options: Any) -> int:
        image = sw.Simulation(sw.load(RED.format(attributes))).render(160, 120, camera, **options)
        return int((image[..., 0] > 2.0 * image[..., 2]).sum())

    # A bar of 1.01 m by 6 cm, 2 m away: 120 / (2 tan 22.5°) / 2 = 72 pixels to the metre; the post hides some of it.
    assert 0.75 < red("") / (1.01 * 0.06 * 72.4**2) < 1.0
    assert red("group='3'") == 0
    sim = sw.Simulation(sw.load(RED.format("")))
    assert (sim.render(160, 120, camera, kind="depth") < 2.1).sum() > red("") / 2
    assert set(np.unique(sim.render(160, 120, camera, kind="segmentation"))) == {-1, 0}

    replay = sim.record(fps=100)
    places = [pieces(sim)[0]]
    for _ in range(10):
        sim.step(5)
        places.append(pieces(sim)[0])
    try:
        page = replay.html()
    except RuntimeError:
        pytest.skip("the package was built without the replay page (cargo xtask web)")
    start = page.index('type="application/json">') + len('type="application/json">')
    data = json.loads(page[start : page.index("</script>", start)])
    (string,) = data["strings"]
    assert (string["name"], string["rgba"], string["radius"]) == ("rope", [1, 0, 0, 1], 0.03)
    fixed = [point for point in string["points"] if point is not None]
    assert fixed == [{"body": 0, "pos": [-0.5, 0, 1]}, {"body": 1, "pos": [0.5, 0, -0.1]}]
    planes = np.frombuffer(gzip.decompress(base64.b64decode(data["string_points"])), np.uint8).reshape(4, -1)
    bits = np.ascontiguousarray(planes.T).view("<u4").reshape(-1, data["frames"])
    free = np.cumsum(bits, axis=1, dtype=np.uint32).view(np.float32).T.reshape(data["frames"], -1, 3)
    np.testing.assert_array_equal(free, np.array(places, np.float32)[: len(free), 1:-1])


def test_strings_made_in_code_are_those_of_files() -> None:
    b = sw.ModelBuilder("red")
    a = b.world.add_site("a", position=(-0.5, 0, 1))
    arm = b.add_body("arm", position=(0, 0, 1))
    arm.add_joint("hinge", "revolute", axis=(0, 1, 0), damping=1.0)
    post = arm.add_geom("cylinder", (0.1, 0.2), name="post", mass=1.0, euler=(np.pi / 2, 0, 0))
    far = arm.add_site("b", position=(0.5, 0, -0.1))
    side = arm.add_site("side", position=(0, 0, 0.3))
    look: dict[str, Any] = {"radius": 0.03, "color": (1, 0, 0), "group": 1}
    rope = b.add_spatial_tendon("rope", [a, (post, side), far], stiffness=20.0, range=(0, 2), **look)
    b.add_spatial_tendon("tackle", [2.0, "a", far, 3.0, a, post, "b"], friction_loss=0.5, armature=0.2)
    b.add_motor("winch", rope)
    model = b.build()
    q = np.array([0.3])
    expected = np.linalg.norm(np.array([-0.5, 0, 1]) - sw.Simulation(model).site("b").position) / 2
    assert model.tendon_lengths([0.0])[1] > expected
    again = sw.load(model.to_mjcf())
    np.testing.assert_array_equal(again.tendon_lengths(q), model.tendon_lengths(q))
    assert again.to_mjcf() == model.to_mjcf()
    assert 'width="0.03" rgba="1 0 0 1" group="1"' in model.to_mjcf()
    assert 'armature="0.2"' in model.to_mjcf()
    theirs = mujoco.MjModel.from_xml_string(model.to_mjcf().replace('armature="0.2"', ""))
    data = mujoco.MjData(theirs)
    data.qpos[:] = q
    mujoco.mj_forward(theirs, data)
    np.testing.assert_allclose(model.tendon_lengths(q), data.ten_length, rtol=1e-12)
    # The spring rests at the length of the configuration that is drawn, as MuJoCo's does.
    np.testing.assert_allclose(theirs.tendon_lengthspring[0], model.tendon_lengths([0.0])[0], rtol=1e-12)
    # A geom that is changed takes its strings along.
    before = b.build().tendon_lengths(q)
    post.position = (0, 0, 0.1)
    assert b.build().tendon_lengths(q)[0] > before[0] + 0.01

    box = arm.add_geom("box", (0.1, 0.1, 0.1), name="box", mass=1.0)
    wrong: list[tuple[list[Any], str]] = [
        ([a], "expected two sites or more"),
        ([post, far], "expected a site before and after each geom"),
        ([a, box, far], "expected a sphere or a cylinder"),
        ([a, "nowhere"], r"path\[1\]: there is no site 'nowhere'"),
        ([a, (post,), far], r"path\[1\] has 1 elements: expected \(geom, site\)"),
        ([a, far, -1.0, a, far], "divisor"),
    ]
    for path, message in wrong:
        c = copy.copy(b)
        with pytest.raises((ValueError, sw.ModelError), match=message):
            with_string(c, [moved(c, element) for element in path])


def with_string(builder: sw.ModelBuilder, path: list[Any]) -> sw.Model:
    builder.add_spatial_tendon("wrong", path)
    return builder.build()


def moved(builder: sw.ModelBuilder, element: Any) -> Any:
    """An element of a path, of a copied builder."""
    if isinstance(element, tuple):
        return tuple(moved(builder, one) for one in element)
    kind = {"SiteBuilder": builder.site, "GeomBuilder": builder.geom}.get(type(element).__name__)
    return kind(element.name) if kind else element


def test_geoms_that_move_as_parameters_take_strings_with_them() -> None:
    ours = sw.load(scene())
    sim = sw.Simulation(ours)
    ball = ours.geom_names.index("ball")
    before = sim.tendon_lengths
    sim.parameters.geom_sizes[ball] *= 1.5
    changed = np.flatnonzero(sim.tendon_lengths != before)
    assert changed.size > 0
    assert {NAMES[i] for i in changed} <= {name for name in NAMES if name.startswith("ball")}


def test_batches_step_strings_one_world_at_a_time() -> None:
    ours = sw.load(scene())
    with pytest.warns(sw.PerformanceWarning, match="it has spatial tendons"):
        batch = sw.Batch(ours, 3)
    sim = sw.Simulation(ours, contact="coulomb")
    batch.step(2)
    sim.step(2)
    np.testing.assert_allclose(batch.v[2], sim.v, rtol=1e-9, atol=1e-12)


HEAVY = {
    "straight": PATHS["straight"],
    "bent": PATHS["bent"],
    "pulleys": '<site site="w"/><site site="x"/><pulley divisor="2"/><site site="x"/><site site="y"/>'
    '<pulley divisor="3"/><site site="y"/><site site="w"/>',
}
"""Strings whose inertia MuJoCo has in full: none around geoms, none that pulls at two branches of a tree."""


def heavy_scene(paths: dict[str, str], armature: float) -> str:
    tendons = "".join(f'<spatial name="{name}" armature="{armature}">{path}</spatial>' for name, path in paths.items())
    return SCENE.format(tendons=tendons, actuators="", sensors="")


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint", "implicit-euler", "explicit-euler"])
def test_inertia_along_strings_is_that_of_mujoco(scheme: Any) -> None:
    text = heavy_scene(HEAVY, 0.7)
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text, ground=None)
    assert not [warning for warning in ours.warnings if "armature" in str(warning)]
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours, scheme=scheme, timestep=1e-7, tolerance=1e-13)
    rng = np.random.default_rng(4)
    for _ in range(20):
        sim.reset()
        sim.q[:] = data.qpos[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        sim.v[:] = data.qvel[:] = v = rng.normal(size=ours.nv)
        sim.applied_force[:] = data.qfrc_applied[:] = rng.normal(size=ours.nv)
        mujoco.mj_forward(theirs, data)
        q, expected = sim.q.copy(), np.zeros((ours.nv, ours.nv))
        scale = np.abs(data.qacc).max()
        mujoco.mj_fullM(theirs, data, expected)
        np.testing.assert_allclose(ours.mass_matrix(q), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        bias = data.qfrc_bias
        np.testing.assert_allclose(ours.bias_forces(q, v), bias, rtol=0, atol=1e-10 * np.abs(bias).max())
        a = ours.forward_dynamics(q, v, data.qfrc_applied)
        np.testing.assert_allclose(a, data.qacc, rtol=0, atol=1e-9 * scale)
        tau = ours.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(tau, data.qfrc_applied, rtol=0, atol=1e-9 * np.abs(bias).max())
        mujoco.mj_energyVel(theirs, data)
        assert sim.energy().kinetic == pytest.approx(data.energy[1], rel=1e-12)
        sim.step()
        np.testing.assert_allclose((sim.v - v) / 1e-7, data.qacc, rtol=0, atol=1e-6 * scale)


def test_mass_matrices_have_the_inertia_of_all_strings() -> None:
    """M + a JᵀJ with the M and J of MuJoCo, also where MuJoCo has no such inertia."""
    light = mujoco.MjModel.from_xml_string(heavy_scene(PATHS, 0.0))
    heavy, data = sw.load(heavy_scene(PATHS, 0.7)), mujoco.MjData(light)
    rng, mass = np.random.default_rng(7), np.zeros((heavy.nv, heavy.nv))
    for _ in range(10):
        data.qpos[:] = q = heavy.integrate(heavy.keyframe().q, rng.normal(size=heavy.nv))
        mujoco.mj_forward(light, data)
        mujoco.mj_fullM(light, data, mass)
        rows = jacobian(light, data)
        # MuJoCo's rows from the inside are right to 1e-6.
        np.testing.assert_allclose(heavy.mass_matrix(q), mass + 0.7 * rows.T @ rows, rtol=1e-5, atol=1e-5)


def test_rows_turn_as_their_differences_say() -> None:
    """J̇ v of all ways, also around geoms, where MuJoCo has none."""
    ours = sw.load(heavy_scene(PATHS, 0.0))
    sim, rng = sw.Simulation(ours), np.random.default_rng(5)
    h, wrapped = 1e-5, 0
    for name, path in PATHS.items():
        heavy, light = (sw.load(heavy_scene({name: path}, armature)) for armature in (1.0, 0.0))
        for _ in range(24):
            q = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
            v, rows = rng.normal(size=ours.nv), []
            for t in (-h, 0.0, h):
                sim.q[:] = ours.integrate(q, t * v)
                tendon = sim.tendon(name)
                rows.append(tendon.jacobian)
                pieces_here = len(tendon.strands)
            wrapped += pieces_here == 3
            drift = float(v @ (rows[2] - rows[0])) / (2 * h)
            found = heavy.bias_forces(q, v) - light.bias_forces(q, v)
            np.testing.assert_allclose(found, drift * rows[1], rtol=1e-6, atol=1e-6, err_msg=name)
    assert wrapped > 20


PENDULUMS = """<mujoco><option gravity="0 0 -9.81"/><worldbody><site name="w" pos="-.4 .1 1.2"/>
  <body name="a" pos="0 0 1"><joint type="ball"/><geom size=".05" mass="1" pos="0 0 -.5"/>
    <site name="x" pos=".02 0 -.4"/>
    <body name="c" pos="0 0 -.5"><joint axis="0 1 0"/><geom size=".04" mass=".5" pos=".3 0 0"/>
      <site name="z" pos=".3 0 0"/></body></body>
  <body name="b" pos=".7 0 1"><joint axis="0 1 0"/><geom size=".05" mass="1" pos=".1 0 -.5"/>
    <site name="y" pos=".1 0 -.4"/></body>
</worldbody><tendon>
  <spatial armature="2"><site site="w"/><site site="x"/><site site="y"/></spatial>
  <spatial armature="1"><site site="w"/><site site="z"/><pulley divisor="2"/><site site="z"/><site site="y"/></spatial>
</tendon></mujoco>"""


@pytest.mark.parametrize(("scheme", "tolerance"), [("midpoint", 1e-4), ("bilinear", 5e-3)])
def test_strings_with_inertia_keep_energy(scheme: Any, tolerance: float) -> None:
    """10 s of what swings; more than a tenth of its kinetic energy is the strings'."""
    model = sw.load(PENDULUMS)
    sim = sw.Simulation(model, scheme=scheme, timestep=1e-3)
    sim.v[:] = [1.0, -0.5, 0.3, 1.0, -1.0]
    first, kinetic, of_strings = sim.energy().total, [], []
    for _ in range(1000):
        sim.step(10)
        assert sim.energy().total == pytest.approx(first, abs=tolerance * 10.0)
        kinetic.append(sim.energy().kinetic)
        rates = [sim.tendon(k).velocity for k in range(2)]
        of_strings.append(0.5 * (2.0 * rates[0] ** 2 + rates[1] ** 2))
    assert np.mean(of_strings) > 0.1 * np.mean(kinetic)


SUMS = """<mujoco><worldbody><site name="w" pos="0 .1 .5"/>
  <body><joint name="j" axis="0 1 0"/><geom size=".1" mass="1" pos="0 0 .3"/>
    <site name="x" pos=".1 0 .3"/></body></worldbody>
<tendon>{}</tendon><actuator>{}</actuator><sensor><tendonactuatorfrc tendon="t"/></sensor></mujoco>"""

LINES = {
    "fixed": '<fixed name="t" actuatorfrcrange="-2 3"><joint joint="j" coef=".5"/></fixed>',
    "spatial": '<spatial name="t" actuatorfrcrange="-2 3"><site site="w"/><site site="x"/></spatial>',
}

CREWS = {
    "motors": '<motor tendon="t"/><motor tendon="t"/><motor tendon="t" ctrlrange="-1 1"/>',
    "limits of their own": '<motor tendon="t" forcerange="-.5 1"/><motor tendon="t"/>',
    "gears": '<motor tendon="t" gear="2"/><motor tendon="t" gear="-3"/>',
    "servos": '<position tendon="t" kp="40" kv="1"/><motor tendon="t"/><velocity tendon="t" kv=".5"/>',
    "all": '<position tendon="t" kp="30" kv="1" gear="2" forcerange="-1 2"/><motor tendon="t" gear="-.5"/>',
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("crew", CREWS)
def test_sums_of_forces_along_tendons_are_limited(line: str, crew: str) -> None:
    text = SUMS.format(LINES[line], CREWS[crew])
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text, ground=None)
    assert not [warning for warning in ours.warnings if "actuatorfrcrange" in str(warning)]
    copies = [
        ours,
        sw.load(ours.to_mjcf(), ground=None),
        sw.Model.from_mujoco(theirs),
        sw.Model.from_bytes(ours.to_bytes()),
    ]
    free = mujoco.MjModel.from_xml_string(text.replace('actuatorfrcrange="-2 3"', ""))
    rng, limited = np.random.default_rng(6), 0
    for k in range(40):
        data, state = mujoco.MjData(theirs), rng.normal(size=2)
        data.qpos[:], data.qvel[:] = state
        data.ctrl[:] = rng.normal(size=ours.nu) * 3
        mujoco.mj_forward(theirs, data)
        without = mujoco.MjData(free)
        without.qpos[:], without.qvel[:], without.ctrl[:] = data.qpos, data.qvel, data.ctrl
        mujoco.mj_forward(free, without)
        limited += not np.allclose(without.actuator_force, data.actuator_force)
        sim = sw.Simulation(copies[k % 4], timestep=1e-7)
        sim.q[:], sim.v[:], sim.ctrl[:] = data.qpos, data.qvel, data.ctrl
        sim.step()
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=0, atol=2e-5)
        np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=0, atol=2e-5)
        np.testing.assert_allclose(sim.sensordata, data.sensordata, rtol=0, atol=2e-5)
    assert limited > 3


def test_a_limited_sum_holds_over_large_steps() -> None:
    """A stiff servo and a motor that lift more than they can: at the limit in each step, and at rest where they can."""
    text = SUMS.format(LINES["fixed"], '<position tendon="t" kp="1e5" kv="1e3"/><motor tendon="t"/>')
    sim = sw.Simulation(sw.load(text, ground=None), timestep=0.02)
    sim.ctrl[:] = [2.0, 0.5]
    for _ in range(100):
        sim.step()
        assert -2 - 1e-9 <= sim.sensordata[0] <= 3 + 1e-9
        assert sim.actuation_forces[0] == pytest.approx(0.5 * sim.actuator_forces.sum(), abs=1e-9)
