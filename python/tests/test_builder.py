"""Models made in code, put together, and written as MJCF, against the same models as text and in MuJoCo."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco model="arm"><compiler angle="radian"/><option timestep="0.004" gravity="0 0 -9.8"/><worldbody>
  <geom name="ground" type="plane" size="0 0 1"/>
  <body name="upper" pos="0 0 1" quat="0.6 0 0.8 0.3">
    <joint name="shoulder" axis="0 1 0.5" range="-2 2" damping="0.5" stiffness="3" armature="0.01" frictionloss="0.1"
      actuatorfrcrange="-20 20"/>
    <geom name="a" type="capsule" size="0.05 0.2" mass="1.5" pos="0 0 -0.2" friction="0.7 0.005 0.0001"/>
    <body name="lower" pos="0 0 -0.4">
      <joint name="elbow" type="slide" axis="0 0 1" ref="0.1" springref="0.2" stiffness="5"/>
      <geom name="b" type="box" size="0.03 0.04 0.2" density="500" quat="1 0.2 0 0"/>
      <site name="tip" pos="0 0 -0.2"/>
    </body>
  </body>
  <body name="ball" pos="1 0 1"><freejoint name="root"/><geom name="c" type="sphere" size="0.1"/></body>
</worldbody>
<contact><exclude body1="upper" body2="lower"/></contact>
<tendon><fixed name="t" stiffness="2" damping="0.1" range="-1 1"><joint joint="shoulder" coef="0.5"/>
  <joint joint="elbow" coef="-1"/></fixed></tendon>
<equality><connect name="pin" body1="lower" body2="ball" anchor="0.1 0 0" active="false"/>
  <weld name="stuck" body1="lower" body2="ball" active="false"/>
  <joint name="pair" joint1="shoulder" joint2="elbow" polycoef="0 0.5 0 0 0"/></equality>
<actuator><motor name="m" joint="shoulder" gear="3" ctrlrange="-1 1"/><position name="p" joint="elbow" kp="50" kv="2"/>
  <velocity name="w" tendon="t" kv="4"/></actuator>
<keyframe><key name="bent" qpos="0.5 0.3 1 0 2 1 0 0 0" ctrl="0.1 0.2 0.3"/></keyframe>
</mujoco>"""


def arm() -> sw.ModelBuilder:
    b = sw.ModelBuilder("arm", timestep=0.004, gravity=(0, 0, -9.8))
    b.add_ground()
    upper = b.add_body("upper", position=(0, 0, 1), quaternion=(0.6, 0, 0.8, 0.3))
    parameters = {"damping": 0.5, "stiffness": 3, "armature": 0.01, "friction_loss": 0.1, "effort_limit": 20.0}
    upper.add_joint("shoulder", "revolute", axis=(0, 1, 0.5), range=(-2, 2), **parameters)
    upper.add_geom("capsule", (0.05, 0.2), name="a", mass=1.5, position=(0, 0, -0.2), friction=0.7)
    # Out of the order of the file, which is depth first.
    ball = b.add_body("ball", position=(1, 0, 1))
    ball.add_joint("root", "free")
    ball.add_geom("sphere", 0.1, name="c")
    lower = upper.add_body("lower", position=(0, 0, -0.4))
    lower.add_joint("elbow", "prismatic", reference=0.1, spring_reference=0.2, stiffness=5)
    lower.add_geom("box", (0.03, 0.04, 0.2), name="b", density=500, quaternion=(1, 0.2, 0, 0))
    lower.add_site("tip", (0, 0, -0.2))
    b.exclude("upper", lower)
    tendon = b.add_tendon("t", {"shoulder": 0.5, "elbow": -1}, stiffness=2, damping=0.1, range=(-1, 1))
    b.add_connect(lower, ball, name="pin", position=(0.1, 0, 0), active=False)
    b.add_weld(lower, ball, name="stuck", active=False)
    b.add_coupling("shoulder", "elbow", name="pair", polynomial=(0, 0.5))
    b.add_motor("m", "shoulder", gear=3, ctrl_range=(-1, 1))
    b.add_position_servo("p", "elbow", kp=50, kd=2)
    b.add_velocity_servo("w", tendon, kd=4)
    q: dict[sw.builder.JointBuilder | str, Any] = {"shoulder": 0.5, "elbow": 0.3, "root": (1, 0, 2, 1, 0, 0, 0)}
    b.add_keyframe("bent", q=q, ctrl={"m": 0.1, "p": 0.2, "w": 0.3})
    return b


def check_same(a: sw.Model, b: sw.Model) -> None:
    """The same names, numbers and motion, bit for bit."""
    fields = ("nq", "nv", "nu", "timestep", "body_names", "joint_names", "geom_names", "actuator_names", "body_parents")
    for name in (*fields, "tendon_names", "equality_names", "keyframe_names", "joints"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("gravity", "body_masses", "armature"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for key in [None, *filter(None, a.keyframe_names)]:
        for ours, theirs in zip(a.keyframe(key)[2:], b.keyframe(key)[2:], strict=True):
            np.testing.assert_array_equal(ours, theirs)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q = a.integrate(a.keyframe().q, rng.normal(size=a.nv) * 0.5) if a.nv else a.keyframe().q
        v = rng.normal(size=a.nv)
        np.testing.assert_array_equal(a.mass_matrix(q), b.mass_matrix(q))
        np.testing.assert_array_equal(a.bias_forces(q, v), b.bias_forces(q, v))
        np.testing.assert_array_equal(a.tendon_lengths(q), b.tendon_lengths(q))
        np.testing.assert_allclose(a.equality_residuals(q), b.equality_residuals(q), rtol=0, atol=1e-11)
    worlds = sw.Simulation(a), sw.Simulation(b)
    for sim in worlds:
        sim.ctrl[:] = 0.1
        sim.step(20)
    np.testing.assert_array_equal(worlds[0].q, worlds[1].q)


def test_code_makes_what_text_makes() -> None:
    check_same(arm().build(), sw.load(ARM))


def test_builder_can_go_on_after_building() -> None:
    b = arm()
    first = b.build()
    b.body("ball").add_geom("sphere", 0.05, mass=1.0, position=(0, 0, 0.2))
    assert b.build().mass == pytest.approx(first.mass + 1.0, rel=1e-15)
    assert first.ngeom == 4


def test_loaded_model_is_edited() -> None:
    b = sw.ModelBuilder.from_model(sw.load(ARM))
    check_same(b.build(), sw.load(ARM))
    b.joint("shoulder").range = None
    b.geom("a").friction = 0.25
    b.gravity = (0, 0, 0)
    tool = b.body("lower").add_body("tool", position=(0, 0, -0.2))
    tool.add_geom("box", (0.01, 0.01, 0.01), mass=0.2)
    model = b.build()
    assert model.joints[0].range is None
    assert model.mass == pytest.approx(sw.load(ARM).mass + 0.2, rel=1e-15)
    assert model.body_names == ["world", "upper", "lower", "tool", "ball"]
    with pytest.raises(ValueError, match="read-only"):
        b.body("upper").position[0] = 1.0


def test_two_arms_on_one_table() -> None:
    part = '<body name="{p}arm" pos="{x} 0 0.5"><joint name="{p}j" axis="0 1 0"/><geom name="{p}g" size=".1"/></body>'
    actuators = '<motor name="{p}m" joint="{p}j"/>'
    arm = sw.load(
        f"<mujoco><worldbody>{part.format(p='', x=0)}</worldbody><actuator>{actuators.format(p='')}</actuator></mujoco>"
    )
    both = "".join(part.format(p=p, x=x) for p, x in (("left_", -0.25), ("right_", 0.25)))
    text = f"""<mujoco model="pair"><worldbody><body name="table" pos="0 0 1">
      <geom name="top" type="box" size="1 1 .1"/>{both}</body></worldbody>
      <actuator>{actuators.format(p="left_")}{actuators.format(p="right_")}</actuator></mujoco>"""
    b = sw.ModelBuilder("pair")
    table = b.add_body("table", position=(0, 0, 1))
    table.add_geom("box", (1, 1, 0.1), name="top")
    mount = table.add_site("mount", (0.25, 0, 0))
    b.attach(arm, to="table", prefix="left_", position=(-0.25, 0, 0))
    assert b.attach(arm, to=mount, prefix="right_") == b.body("right_arm")
    check_same(b.build(), sw.load(text))
    with pytest.raises(ValueError, match='body "left_arm"'):
        b.attach(arm, prefix="left_")


def test_all_kinds_of_joints() -> None:
    b = sw.ModelBuilder("joints")
    kinds: dict[str, int] = {
        "revolute": 1,
        "prismatic": 1,
        "screw": 1,
        "universal": 2,
        "planar": 3,
        "ball": 3,
        "free": 6,
    }
    for kind in kinds:
        body = b.add_body(kind, mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0, 0))
        body.add_joint(f"{kind}_joint", kind, **({"pitch": 0.1} if kind == "screw" else {}))  # type: ignore[arg-type]
    model = b.build()
    assert [joint.kind for joint in model.joints] == list(kinds)
    assert model.nv == sum(kinds.values())
    with pytest.raises(sw.ModelError, match='joint "screw_joint": is a screw'):
        model.to_mjcf()


def test_universal_and_planar_joints_in_mujoco() -> None:
    b = sw.ModelBuilder("joints")
    one = b.add_body("one", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.2, 0))
    one.add_joint("u", "universal", axes=[(1, 0, 0), (0, 1, 1)], position=(0.1, 0, 0.3))
    two = b.add_body("two", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0, 0))
    two.add_joint("p", "planar")
    model = b.build()
    with pytest.warns(UserWarning, match='joint "u": a universal joint'):
        text = model.to_mjcf()
    compare_with_mujoco(model, mujoco.MjModel.from_xml_string(text))


def compare_with_mujoco(ours: sw.Model, theirs: Any) -> None:
    """Mass matrix and bias force at random states, to 1e-9 of their size."""
    assert (ours.nq, ours.nv, ours.nu, ours.nbody) == (theirs.nq, theirs.nv, theirs.nu, theirs.nbody)
    np.testing.assert_allclose(ours.body_masses, theirs.body_mass, rtol=1e-12)
    data, matrix = mujoco.MjData(theirs), np.zeros((theirs.nv, theirs.nv))
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        v = rng.normal(size=ours.nv)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, matrix)
        bias = ours.bias_forces(q, v)
        np.testing.assert_allclose(ours.mass_matrix(q), matrix, rtol=0, atol=1e-9 * max(1.0, np.abs(matrix).max()))
        np.testing.assert_allclose(bias, data.qfrc_bias, rtol=0, atol=1e-9 * max(1.0, np.abs(bias).max()))


def test_arm_in_mujoco() -> None:
    model = arm().build()
    compare_with_mujoco(model, mujoco.MjModel.from_xml_string(model.to_mjcf()))


def shipped() -> list[Path]:
    gymnasium = pytest.importorskip("gymnasium")
    folder = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    return sorted(folder.glob("*.xml"))


@pytest.mark.filterwarnings("ignore:to_mjcf")
def test_shipped_models_survive() -> None:
    for path in shipped():
        model = sw.load(path)
        text = model.to_mjcf()
        check_same(sw.load(text), model)
        check_same(sw.ModelBuilder.from_model(model).build(), model)
        compare_with_mujoco(model, mujoco.MjModel.from_xml_string(text))


def test_meshes_and_height_fields(tmp_path: Path) -> None:
    b = sw.ModelBuilder("terrain")
    heights = np.random.default_rng(1).uniform(0.1, 0.3, size=(4, 5))
    b.world.add_height_field(heights, (1.0, 2.0), name="hills")
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float) / 3
    body = b.add_body("rock", position=(0, 0, 1))
    body.add_joint("free", "free")
    body.add_mesh((corners, None), name="cube", density=300)
    model = b.build()
    assert model.mass == pytest.approx(300 / 27, rel=1e-12)
    again = sw.load(model.to_mjcf())
    np.testing.assert_array_equal(again.body_masses, model.body_masses)
    mujoco.MjModel.from_xml_string(model.to_mjcf())
    model.to_mjcf(tmp_path / "terrain.xml", meshes="obj")
    assert (tmp_path / "terrain_cube.obj").exists()
    mujoco.MjModel.from_xml_path(str(tmp_path / "terrain.xml"))
    assert sw.load(tmp_path / "terrain.xml").ngeom == 2


MISUSE: list[tuple[Callable[[sw.ModelBuilder], object], str]] = [
    (lambda b: b.add_body("upper"), "body 'upper': there is a body of this name already"),
    (
        lambda b: b.add_body("x", parent="nobody"),
        "body 'x': parent: there is no body 'nobody'; the builder has 'world'",
    ),
    (lambda b: b.add_body("x", position=(1, 2)), r"body 'x': position has shape \(2,\): expected \(3,\)"),
    (lambda b: b.add_body("x", quaternion=(0, 0, 0, 0)), "body 'x': quaternion is zero"),
    (lambda b: b.add_body("x", quaternion=(1, 0, 0, 0), euler=(0, 0, 0)), "body 'x': quaternion and euler"),
    (lambda b: b.add_body("x", mass=1), "body 'x': mass without inertia"),
    (lambda b: b.add_body("x", mass=-1, inertia=(1, 1, 1)), "body 'x': body \"x\": mass -1 kg: expected a mass of 0"),
    (lambda b: b.add_body("x", mass=1, inertia=(1, 1, 5)), "no rigid body has such an inertia"),
    (lambda b: b.body("leg"), "there is no body 'leg'; the builder has 'world', 'upper', 'ball', 'lower'"),
    (lambda b: b.world.add_joint("j"), "joint 'j': the world does not move"),
    (lambda b: b.body("ball").add_joint("j", "hinge"), "joint 'j': kind='hinge': did you mean 'revolute'"),  # type: ignore[arg-type]
    (lambda b: b.body("ball").add_joint("j", axis=(0, 0, 0)), "joint 'j': axis of zero length"),
    (
        lambda b: b.body("ball").add_joint("j", "ball", axis=(0, 0, 1)),
        "joint 'j': axis is given: expected none of a ball",
    ),
    (
        lambda b: b.body("ball").add_joint("j", range=(1, -1)),
        r"joint 'j': range is \(1, -1\): expected \(lower, upper\)",
    ),
    (lambda b: b.body("ball").add_joint("j", damping=-1), "joint 'j': damping is -1: expected 0 or more"),
    (lambda b: b.body("ball").add_joint("j", "screw"), "joint 'j': pitch=None: expected the pitch"),
    (lambda b: b.body("ball").add_geom("cube", 1), "shape='cube': did you mean 'box'"),  # type: ignore[arg-type]
    (
        lambda b: b.body("ball").add_geom("box", 1, name="g"),
        "geom 'g': size is .*: expected 3 numbers above 0 for a box",
    ),
    (lambda b: b.body("ball").add_geom("box", (1, 1, 1), mass=1, density=1), "mass and density are both given"),
    (lambda b: b.body("ball").add_geom("sphere", 1, friction=np.nan), "friction.* is NaN|friction"),
    (lambda b: b.body("ball").add_geom("sphere", 1, name="g", color=(2, 0, 0)), "geom 'g': color is"),
    (lambda b: b.add_motor("n", "root"), r"actuator 'n': gear has 1 numbers: expected 6"),
    (lambda b: b.add_motor("n", "knee"), "actuator 'n': on: there is no joint 'knee'"),
    (lambda b: b.add_motor("m", "elbow"), "there is an actuator of this name already"),
    (lambda b: b.joint("elbw"), "there is no joint 'elbw': did you mean 'elbow'?"),
    (
        lambda b: b.add_tendon("u", {"root": 1.0}),
        "tendon 'u': joint 'root' is free: expected a joint with one coordinate",
    ),
    (lambda b: b.add_connect("upper", "upper", name="e"), "connect 'e': body1 and body2 are both 'upper'"),
    (
        lambda b: b.add_keyframe("k", q={"root": (0, 0)}),
        r"keyframe 'k': q of joint 'root' has shape \(2,\): expected \(7,\)",
    ),
    (lambda b: b.attach(arm(), prefix="x", position=(1, 2)), r"attach: position has shape \(2,\)"),
    (lambda b: b.body("lower").add_geom("sphere", 0.1, fromto=(0, 0, 0, 0, 0, 1)), "fromto is given: expected it of a"),
    (lambda b: b.body("lower").add_geom("box", (0.1, 0.1), fromto=(0, 0, 0, 0, 0, 1)), "size has 2 numbers: expected"),
    (lambda b: b.body("lower").add_geom("box", 0.1, fromto=(0,) * 6), "expected two points apart from each other"),
    (
        lambda b: b.body("lower").add_geom("box", 0.1, fromto=(0, 0, 0, 0, 0, 1), euler=(0, 0, 1)),
        "fromto is given with a position or an orientation",
    ),
    (lambda b: b.exclude(arm().body("upper"), "lower"), "exclude: body1 is of another builder"),
    (lambda b: setattr(b, "timestep", 0.0), "timestep is 0: expected a finite number above 0"),
]


@pytest.mark.parametrize("shape", ["capsule", "cylinder", "ellipsoid", "box"])
@pytest.mark.parametrize("ends", [(0.1, 0.2, 0.3, -0.3, 0.4, 0.0), (0, 0, 0, 0, 0, -0.4), (0, 0, 0, 0, 0, 0.4)])
def test_geoms_between_two_points_are_those_of_text(shape: Any, ends: tuple[float, ...]) -> None:
    text = f"""<mujoco><worldbody><body name="a"><freejoint/>
        <geom type="{shape}" size=".03" fromto="{" ".join(map(str, ends))}"/></body></worldbody></mujoco>"""
    b = sw.ModelBuilder("between")
    body = b.add_body("a")
    body.add_joint("", "free")
    body.add_geom(shape, 0.03, fromto=ends)
    made, read = (sw.Simulation(model).geom(0) for model in (b.build(), sw.load(text)))
    assert made.size == pytest.approx(read.size, abs=0)
    assert made.position == pytest.approx(read.position, abs=1e-15)
    assert made.rotation == pytest.approx(read.rotation, abs=1e-15)


def test_solref_and_solimp_are_those_of_text() -> None:
    """A builder's surfaces are MJCF's, and two that differ mix by their weights."""
    soft: dict[str, Any] = {"solref": (0.05, 0.8), "solimp": (0.8, 0.9, 0.002, 0.5, 2)}
    firm: dict[str, Any] = {"solref": (-900.0, -40.0), "mix": 3.0}
    b = sw.ModelBuilder()
    b.world.add_geom("plane", solref=(0.03, 1.0), solimp=(0.7, 0.95, 0.001, 0.4, 3))
    for k, surface in enumerate([soft, firm]):
        body = b.world.add_body(f"b{k}", position=(k, 0, 0.1))
        body.add_joint(f"j{k}", "free")
        body.add_geom("sphere", 0.1, name=f"g{k}", **surface)
    text = """<mujoco><worldbody>
      <geom type="plane" size="0 0 1" solref=".03 1" solimp=".7 .95 .001 .4 3"/>
      <body pos="0 0 .1"><freejoint/><geom size=".1" solref=".05 .8" solimp=".8 .9 .002 .5 2"/></body>
      <body pos="1 0 .1"><freejoint/><geom size=".1" solref="-900 -40" solmix="3"/></body></worldbody></mujoco>"""
    sims = [sw.Simulation(b.build()), sw.Simulation(sw.load(text))]
    for sim in sims:
        sim.step(500)
    np.testing.assert_array_equal(sims[0].q, sims[1].q)
    assert sims[0].q[2] < 0.0999
    assert sims[0].q[9] != sims[0].q[2]
    geom = b.geom("g1")
    assert (geom.solref, geom.mix, geom.priority) == ((-900.0, -40.0), 3.0, 0)
    geom.solref, geom.solimp = (0.02, 1.0), (0.8, 0.9, 0.01)
    assert b.geom("g1").solimp == (0.8, 0.9, 0.01, 0.5, 2)
    with pytest.raises(ValueError, match=r"solref is .*expected a time constant"):
        geom.solref = (0.02, -1.0)
    with pytest.raises(ValueError, match=r"solimp is .*expected up to five numbers"):
        geom.solimp = [0.9] * 6


def test_solref_and_solimp_of_constraints_are_those_of_text() -> None:
    b = sw.ModelBuilder("held", timestep=0.002)
    arm = b.world.add_body("arm")
    arm.add_joint("hinge", axis=(0, 1, 0), range=(-0.2, 0.2), limit_solref=(0.1, 0.5), limit_solimp=(0.7, 0.8))
    arm.add_geom("capsule", 0.02, fromto=(0, 0, 0, 0.5, 0, 0), contype=0, conaffinity=0)
    hung = b.world.add_body("hung", position=(0, 1, 1))
    hung.add_joint("free", "free")
    hung.add_geom("box", (0.1, 0.1, 0.1), contype=0, conaffinity=0)
    b.add_weld("hung", name="held", solref=(0.2, 0.3), solimp=(0.8, 0.9, 0.01))
    text = """<mujoco><compiler angle="radian"/><worldbody>
      <body name="arm"><joint axis="0 1 0" range="-.2 .2" limited="true" solreflimit=".1 .5" solimplimit=".7 .8"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .5 0 0" contype="0" conaffinity="0"/></body>
      <body name="hung" pos="0 1 1"><freejoint/>
        <geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body></worldbody>
      <equality><weld body1="hung" solref=".2 .3" solimp=".8 .9 .01"/></equality></mujoco>"""
    made, read = sw.Simulation(b.build()), sw.Simulation(sw.load(text))
    made.step(400)
    read.step(400)
    np.testing.assert_allclose(made.q, read.q, rtol=0, atol=1e-12)
    assert made.q[3] < 0.999
    with pytest.raises(ValueError, match="compliance is given with solref"):
        b.add_connect("hung", compliance=(1e4, 0.01), solref=(0.02, 1))
    with pytest.raises(ValueError, match="limit_solref is .*expected a time constant"):
        arm.add_joint("other", axis=(0, 1, 0), limit_solref=(0.1, -1))


@pytest.mark.parametrize(("misuse", "text"), MISUSE)
def test_misuse_names_element_and_argument(misuse: Callable[[sw.ModelBuilder], object], text: str) -> None:
    b = arm()
    with pytest.raises(ValueError, match=text):
        misuse(b)
    # What failed has left nothing behind.
    check_same(b.build(), arm().build())


def test_building_names_what_is_missing() -> None:
    b = sw.ModelBuilder()
    b.add_body("empty").add_joint("hinge")
    with pytest.raises(sw.ModelError, match='body "empty" moves by joint "hinge"'):
        b.build()


def test_notes_are_warnings() -> None:
    b = arm()
    b.body("ball").add_geom("sphere", 0.2, name="soft", compliance=(1e4, 0.01))
    with pytest.warns(UserWarning, match='geom "soft": MJCF has no stiffness in N/m'):
        b.build().to_mjcf()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm().build().to_mjcf()


LOOKED_AT = """
<mujoco model="swimmer"><option density="900" viscosity="0.002" wind="1 0 0.5" magnetic="0.1 0.2 0.3"/>
<statistic center="0 0 0.7" extent="3.3"/><visual><global azimuth="33" elevation="-11" fovy="51.7"/></visual>
<worldbody><camera name="wide" pos="0 -3 1" xyaxes="1 0 0 0 0.3 1" fovy="37.3" mode="targetbodycom" target="fish"/>
  <body name="fish" pos="0 0 1"><joint name="swim" axis="0 1 0" range="-1 1" limited="true"/>
    <geom name="skin" type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2" group="4"/>
    <site name="eye" type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="dot"/>
    <site name="nose" size="0.02"/>
    <camera name="ahead" pos="0.2 0 0" mode="track"/></body></worldbody>
<actuator><motor name="tail" joint="swim"/></actuator>
<sensor><jointpos name="angle" joint="swim"/><touch name="felt" site="eye"/><magnetometer name="north" site="dot"/>
  <framepos name="seen" objtype="geom" objname="skin" reftype="site" refname="nose"/>
  <actuatorfrc name="push" actuator="tail"/>
  <subtreecom name="com" body="fish"/></sensor>
</mujoco>"""


SENSOR_FIELDS = [
    "sensor_" + name
    for name in ("adr", "dim", "type", "objtype", "objid", "reftype", "refid", "cutoff", "noise", "needstage", "intprm")
]


def measured(model: sw.Model) -> np.ndarray:
    sim = sw.Simulation(model)
    sim.step(50)
    return np.array(sim.sensordata)


def test_what_is_looked_at_and_measured_is_kept() -> None:
    model = sw.load(LOOKED_AT)
    kept = sw.ModelBuilder.from_model(model).build()
    # Names, volumes, groups, cameras, medium, magnetic field, view and sensors: all of it, bit for bit.
    assert kept.to_bytes() == model.to_bytes()

    text = model.to_mjcf()
    back = sw.load(text)
    assert (back.sensor_names, back.sensor_types) == (model.sensor_names, model.sensor_types)
    assert back.camera_names == ["wide", "ahead"]
    assert back.to_mjcf() == text
    theirs = mujoco.MjModel.from_xml_string(text)
    ours = mujoco.MjModel.from_xml_string(LOOKED_AT)
    for name in (
        "geom_group",
        "site_type",
        "site_size",
        "cam_mode",
        "cam_targetbodyid",
        "cam_fovy",
        "cam_pos",
        "cam_quat",
        *SENSOR_FIELDS,
    ):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-15, atol=1e-15, err_msg=name)
    for name in ("density", "viscosity", "wind", "magnetic"):
        np.testing.assert_array_equal(getattr(theirs.opt, name), getattr(ours.opt, name), err_msg=name)
    for name in ("azimuth", "elevation", "fovy"):
        assert getattr(theirs.vis.global_, name) == pytest.approx(getattr(ours.vis.global_, name), rel=1e-7)
    assert theirs.stat.extent == 3.3
    np.testing.assert_array_equal(theirs.stat.center, [0, 0, 0.7])


MEASURED = """
<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
  <body name="a" pos="0 0 1"><joint name="ball" type="ball" range="0 60" limited="true"/>
    <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/><site name="s" size=".1"/><site size=".2" pos="0 0 .1"/>
    <body pos=".3 0 0"><joint axis="0 1 0" range="-1 1" limited="true" name="hinge"/><geom size=".06" name="tip"/>
      <inertial pos="0 0 0.01" mass="1" fullinertia=".02 .03 .025 .004 .001 -.002"/></body></body></worldbody>
  <tendon><fixed name="t" range="-1 1" limited="true"><joint joint="hinge" coef="2"/></fixed></tendon>
  <actuator><motor joint="hinge"/><motor name="m" tendon="t"/></actuator>
  <sensor><clock/><e_potential name="e" noise=".1"/><e_kinetic/><ballquat joint="ball"/>
    <ballangvel joint="ball" cutoff="3"/>
    <jointlimitpos joint="ball"/><jointlimitvel joint="hinge"/><jointlimitfrc joint="hinge" cutoff="7" noise=".25"/>
    <jointactuatorfrc joint="hinge"/><tendonpos tendon="t"/><tendonlimitfrc tendon="t"/><tendonactuatorfrc tendon="t"/>
    <actuatorpos actuator="m"/><actuatorfrc actuator="m"/><framepos objtype="body" objname="a"/>
    <framelinvel objtype="geom" objname="tip" reftype="xbody" refname="a"/><framezaxis objtype="xbody" objname="a"/>
    <frameangacc objtype="site" objname="s"/><velocimeter site="s"/><torque site="s" cutoff="1e3"/>
    <insidesite objtype="xbody" objname="a" site="s"/><subtreelinvel body="world"/><subtreeangmom body="a"/>
    <distance geom1="floor" geom2="tip" cutoff="2"/><normal body1="a" geom2="floor" cutoff="2"/>
    <fromto geom1="tip" body2="a" cutoff="1"/>
    <contact geom1="floor" subtree2="a" data="found force dist pos" reduce="maxforce" num="3"/><contact site="s"/>
    <rangefinder site="s" data="dist point normal"/><user dim="2" name="mine"/></sensor></mujoco>"""


def test_sensors_are_written() -> None:
    model = sw.load(MEASURED)
    text = model.to_mjcf()
    back = sw.load(text)
    assert (back.sensor_names, back.sensor_types) == (model.sensor_names, model.sensor_types)
    np.testing.assert_array_equal(measured(back), measured(model))
    assert back.to_mjcf() == text
    theirs, ours = mujoco.MjModel.from_xml_string(text), mujoco.MjModel.from_xml_string(MEASURED)
    for name in SENSOR_FIELDS:
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name), err_msg=name)
    # Principal axes that no reader of the text finds get a site.
    axes = MEASURED.replace('<framepos objtype="body"', '<framequat objtype="body"')
    model = sw.load(axes)
    with pytest.warns(UserWarning, match="a site is written for its principal axes"):
        text = model.to_mjcf()
    np.testing.assert_array_equal(measured(sw.load(text)), measured(model))


def test_sensors_come_along_with_what_is_attached() -> None:
    model = sw.load(LOOKED_AT)
    builder = sw.ModelBuilder.from_model(model)
    builder.attach(model, prefix="b_", position=(5.0, 0.0, 0.0))
    both = builder.build()
    assert both.sensor_names == [*model.sensor_names, *("b_" + name for name in model.sensor_names)]
    assert sorted(both.camera_names) == sorted([*model.camera_names, *("b_" + name for name in model.camera_names)])
    alone, values = measured(model), measured(both)
    # One fish beside another, the same motion: only its centre of mass lies elsewhere.
    np.testing.assert_allclose(values[: len(alone)], alone, atol=1e-12)
    alone[-3] += 5.0
    np.testing.assert_allclose(values[len(alone) :], alone, atol=1e-12)


def test_lost_medium_is_a_warning() -> None:
    builder = sw.ModelBuilder("air")
    with pytest.warns(UserWarning, match="its medium") as caught:
        builder.attach(sw.load(LOOKED_AT))
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2
    assert "magnetic field is left out" in texts[1]


@pytest.mark.parametrize(
    ("what", "name", "meant"),
    [
        (lambda b: b, "timstep", "timestep"),
        (lambda b: b.body("upper"), "positon", "position"),
        (lambda b: b.joint("elbow"), "dampin", "damping"),
        (lambda b: b.geom("a"), "frictoin", "friction"),
        (lambda b: b.actuator("m"), "ctrlrange", "ctrl_range"),
    ],
)
def test_an_attribute_that_does_not_exist_is_refused(
    what: Callable[[sw.ModelBuilder], object], name: str, meant: str
) -> None:
    element = what(sw.ModelBuilder.from_model(sw.load(ARM)))
    with pytest.raises(AttributeError, match=f"no '{name}' that can be set: did you mean '{meant}'"):
        setattr(element, name, 0.1)


def test_a_derived_builder_has_attributes_of_its_own() -> None:
    class Robot(sw.ModelBuilder):
        def __init__(self) -> None:
            super().__init__("robot")
            self.legs = [self.add_body(f"leg {k}") for k in range(4)]

    assert len(Robot().legs) == 4
