"""What is typed at first by those who know no other engine: errors that say what to type."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import _guesses

TEXT = """<mujoco><worldbody><camera name="eye" pos="0 -2 1" xyaxes="1 0 0 0 0 1"/><geom type="plane" size="0 0 1"/>
  <body name="base" pos="0 0 .5"><freejoint name="root"/><geom name="box" type="box" size=".1 .1 .1"/><site name="tip"/>
    <body name="arm"><joint name="elbow" axis="0 1 0" range="-90 90"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body>
  </body></worldbody><tendon><fixed name="rope"><joint joint="elbow" coef="1"/></fixed></tendon>
  <actuator><position name="servo" joint="elbow" kp="20" kv="1"/></actuator>
  <equality><weld name="grasp" body1="base" active="false"/></equality>
  <sensor><gyro name="gyro" site="tip"/></sensor>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 0"/></keyframe></mujoco>"""

ANY: Any = sw
"""For calls that checkers of types know better than to make."""


@pytest.fixture
def model() -> sw.Model:
    return sw.load(TEXT)


def builder() -> Any:
    b = sw.ModelBuilder("arm")
    body = b.add_body("a")
    body.add_joint("j", "revolute")
    body.add_geom("box", (0.1, 0.1, 0.1), mass=1.0)
    b.add_tendon("rope", {"j": 1.0})
    return b


CALLS: list[tuple[Callable[[Any], object], type[Exception], str]] = [
    (lambda m: ANY.Simulation(m, 0.01), TypeError, "Simulation(model, timestep=0.005)"),
    (lambda m: ANY.Simulation(m).pd(stiffness=10, damping=1, target=0), TypeError, "did you mean 'kp'?"),
    (lambda m: ANY.Simulation(m).pd(kp=10, kd=1, q_des=0), TypeError, "did you mean 'target'?"),
    (lambda m: ANY.Simulation(m).pd(10, 1), TypeError, "pd(kp, kd, sim.q)"),
    (lambda m: ANY.Batch(m, 2).pd(10, 1, target=0, max_force=3), TypeError, "did you mean 'effort_limit'?"),
    (lambda m: ANY.Simulation(m).pd([10.0], 1, m.keyframe().q), ValueError, "np.r_[np.zeros(6), kp]"),
    (
        lambda m: ANY.Simulation(m).pd(10, 1, [0.0]),
        ValueError,
        "target has shape (1,): expected (8,); it is laid out as `q`",
    ),
    (lambda m: ANY.Batch(m, 2).pd(10, 1, [0.0]), ValueError, "laid out as `q`"),
    (lambda m: ANY.Batch(m, 2).reset(env_ids=[1]), TypeError, "did you mean 'mask'?"),
    (lambda m: ANY.Batch(m, 2).reset("up"), ValueError, "reset(keyframe='up')"),
    (lambda m: ANY.Batch(m, 2).reset(states=[ANY.Simulation(m).state()] * 3), TypeError, "batch.set_state(i, state)"),
    (lambda m: ANY.Simulation(m).jacobian("tip"), KeyError, "but a site: sim.site('tip'), site='tip'"),
    (lambda m: ANY.Simulation(m).joint("servo"), KeyError, "but an actuator: sim.actuator('servo')"),
    (lambda m: sw.inverse_kinematics(m, sw.PoseTarget("tip", position=[0, 0, 1])), KeyError, "site='tip'"),
    (lambda m: ANY.Batch(m, num_envs=4), TypeError, "did you mean 'n'?"),
    (lambda m: ANY.Batch(m, 2).step(np.zeros((2, 1))), TypeError, "controls are set before, ctrl[:] = …"),
    (lambda m: ANY.Simulation(m).reset(np.zeros(8)), TypeError, "positions are set afterwards, q[:] = …"),
    (lambda m: setattr(ANY.Simulation(m).equality("grasp"), "enabled", 1), AttributeError, "active = True"),
    (lambda m: ANY.Batch(m), TypeError, "Batch(model, 256)"),
    (lambda m: ANY.Batch(m, 2).set_parameters([0], friction=1), TypeError, 'did you mean "frictions"'),
    (lambda m: sw.Simulation(m).parameters["mass"], KeyError, "did you mean 'masses'"),
    (lambda m: ANY.Simulation(m).body_names, AttributeError, "sim.model.body_names"),
    (lambda m: ANY.Simulation(m).masses, AttributeError, "sim.parameters.masses"),
    (lambda m: ANY.Batch(m, 2).energy, AttributeError, "batch.simulation(i).energy"),
    (lambda m: m.ctrl, AttributeError, "sim.ctrl of sim = sw.Simulation(model)"),
    (lambda m: ANY.Simulation(m).render((64, 48)), TypeError, "(64, 48): expected numbers one by one"),
    (lambda _: ANY.Model("robot.xml"), TypeError, "sapwood.load(file)"),
    (lambda m: setattr(m, "gravity", [0, 0, 0]), AttributeError, "sim.parameters.gravity"),
    (lambda m: setattr(m, "nq", 3), AttributeError, "'nq' of 'Model' is not writable"),
    (lambda m: setattr(sw.Batch(m, 2), "timestep", 0.1), AttributeError, "sw.Batch(model, n, timestep=…)"),
    (lambda m: setattr(sw.Simulation(m).actuator("servo"), "kp", 3), AttributeError, "sim.parameters.kp"),
    (lambda m: setattr(sw.Simulation(m).parameters, "friction", 1), AttributeError, "did you mean 'frictions'"),
    (lambda m: sw.Simulation(m).record().save("motion.txt"), ValueError, "a name that ends with .html"),
    (lambda _: sw.load(TEXT.replace("axis=", "axes="), strict=True), sw.ModelError, "mean `axis`?"),
    (lambda _: sw.tracking.track("humanoid", "walk"), TypeError, "sapwood.load makes one"),  # type: ignore[arg-type]
    (lambda _: ANY.Renderer("robot.xml"), TypeError, "sapwood.load makes one"),
    (lambda _: ANY.Replay.from_trajectory("robot.xml", [[0.0]], 0.1), TypeError, "sapwood.load makes one"),
    (lambda _: ANY.load(b"<mujoco/>"), TypeError, "source.decode()"),
    (lambda _: ANY.Camera(pos=[0, 0, 1]), TypeError, "did you mean 'position'?"),
    (lambda _: ANY.Camera(fov=1.0), TypeError, "did you mean 'fovy'?"),
    (lambda _: ANY.PoseTarget("base", quat=[1, 0, 0, 0]), TypeError, "did you mean 'quaternion'?"),
    (lambda _: sw.write_png("picture.jpg", np.zeros((2, 2, 3), np.uint8)), ValueError, "ends with .png"),
    (lambda _: ANY.write_png(np.zeros((2, 2, 3), np.uint8), "a.png"), TypeError, "write_png(path, image)"),
    (lambda _: sw.ModelBuilder("robot.xml"), ValueError, "ModelBuilder.from_model(sw.load(file))"),
    (lambda _: sw.ModelBuilder(TEXT), ValueError, "ModelBuilder.from_model(sw.load(file))"),
    (lambda _: ANY.ModelBuilder.from_model("robot.xml"), TypeError, "ModelBuilder.from_model(sw.load(file))"),
    (lambda _: builder().attach("robot.xml"), TypeError, "sw.load(file)"),
    (lambda _: builder().add_body("b", pos=(0, 0, 1)), TypeError, "did you mean 'position'?"),
    (lambda _: builder().add_motor("m", joint="j"), TypeError, "did you mean 'on'?"),
    (
        lambda _: builder().add_motor("m"),
        TypeError,
        "missing 1 required positional argument: 'on': expected name, on, gear",
    ),
    (lambda _: builder().add_velocity_servo("m", "j", kv=1), TypeError, "did you mean 'kd'?"),
    (lambda _: builder().add_coupling("j", ratio=2), TypeError, "did you mean 'polynomial'?"),
    (lambda _: builder().add_connect("a", anchor=(0, 0, 0)), TypeError, "did you mean 'position'?"),
    (
        lambda _: builder().body("a").add_mesh((np.eye(4, 3), None), fromto=(0, 0, 0, 0, 0, 1)),
        TypeError,
        "'position' and 'quaternion'?",
    ),
    (lambda _: builder().body("a").add_geom("box", (1, 1, 1), rgba=(1, 0, 0, 1)), TypeError, "did you mean 'color'?"),
    (
        lambda _: builder().body("a").add_geom("box", (1, 1, 1), condim=6),
        TypeError,
        "did you mean 'torsional_friction' and 'rolling_friction'?",
    ),
    (
        lambda _: builder().body("a").add_geom("box", (1, 1, 1), friction=(1, 0.01, 0.001)),
        ValueError,
        "torsional_friction and rolling_friction (m) have arguments",
    ),
    (lambda _: builder().body("a").add_geom("mesh", "part.stl"), ValueError, "did you mean body.add_mesh(file)?"),
    (lambda _: builder().body("a").add_geom("cube", (1, 1, 1)), ValueError, "did you mean 'box', of half extents?"),
    (
        lambda _: builder().add_body("hand", mocap=True).add_joint("k", "free"),
        ValueError,
        "sim.body('hand').position = …",
    ),
    (lambda _: builder().body("a").add_joint("k", "hinge"), ValueError, "did you mean 'revolute'?"),
    (lambda _: builder().body("a").add_joint("k", limits=(0, 1)), TypeError, "did you mean 'range'?"),
    (lambda _: builder().add_sensor("s"), AttributeError, "b.add_mjcf('<sensor>"),
    (lambda _: builder().compile(), AttributeError, "b.build()"),
]


@pytest.mark.parametrize(("call", "error", "hint"), CALLS, ids=[hint for _, _, hint in CALLS])
def test_errors_say_what_to_type(
    model: sw.Model, call: Callable[[Any], object], error: type[Exception], hint: str
) -> None:
    with pytest.raises(error, match=re.escape(hint)) as raised:
        call(model)
    assert len(str(raised.value)) < 300


def test_modules_that_are_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sw, "gym", raising=False)
    with pytest.raises(AttributeError, match=r"import sapwood\.gym first"):
        ANY.gym  # noqa: B018


def test_a_mesh_is_no_model(tmp_path: Path) -> None:
    mesh = tmp_path / "part.stl"
    mesh.write_bytes(b"\0" * 80 + b"\1\0\0\0" + b"\0" * 50)
    with pytest.raises(sw.ModelError, match=r"this is a mesh: body\.add_mesh"):
        sw.load(mesh)


@pytest.mark.parametrize("owner", _guesses.ATTRIBUTES)
def test_what_guesses_lead_to(model: sw.Model, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sim, batch = sw.Simulation(model), sw.Batch(model, 3, contacts=True)
    b = builder()
    owners: dict[str, Any] = {"sapwood": sw, "Simulation": sim, "Model": model, "Batch": batch, "ModelBuilder": b}
    owners |= {"BodyView": sim.body("base"), "JointView": sim.joint("elbow"), "ActuatorView": sim.actuator("servo")}
    owners |= {"BodyBuilder": b.body("a"), "GeomView": sim.geom("box"), "SensorView": sim.sensor("gyro")}
    owners |= {"EqualityView": sim.equality("grasp")}
    names = {"sim": sim, "batch": batch, "model": model, "b": b, "sw": sw, "i": 0, "ModelBuilder": sw.ModelBuilder}
    names |= {"body": {"BodyView": sim.body("base"), "ModelBuilder": b.body("a")}.get(owner, b.body("a"))}
    names |= {"joint": sim.joint("elbow"), "actuator": sim.actuator("servo"), "state": sim.state(), "keyframe": "up"}
    names |= {"name": "base", "geom": sim.geom("box"), "n": 1, "t": 1.0, "width": 16, "height": 12}
    for guess, words in _guesses.ATTRIBUTES[owner].items():
        if isinstance(getattr(owners[owner], guess, None), ModuleType):  # that another test has imported
            monkeypatch.delattr(owners[owner], guess)
        assert not hasattr(owners[owner], guess), guess
        with pytest.raises(AttributeError, match=re.escape(words)):
            getattr(owners[owner], guess)
        for chain in re.findall(r"\b(?:sim|batch|model|b|body|joint|actuator|sw|ModelBuilder)(?:\.\w+)+", words):
            eval(chain, dict(names))
        for snippet in re.findall(r"\b(?:sim|batch|model)\.\w+\[[^]]*\]", words):
            known = {**names, "name": "tip" if "site_index" in snippet else "base"}
            eval(snippet, known)


@pytest.mark.parametrize("owner", _guesses.SETTINGS)
def test_what_is_not_writable_says_what_changes_it(model: sw.Model, owner: str) -> None:
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    views = {"body": sim.body("base"), "joint": sim.joint("elbow"), "geom": sim.geom(0)}
    owners: dict[str, Any] = {"Model": model, "Batch": batch, "Simulation": sim, "ActuatorView": sim.actuator("servo")}
    owners |= {"BodyView": views["body"], "JointView": views["joint"], "GeomView": views["geom"]}
    names = {**views, "sim": sim, "sw": sw, "a": sim.v, "name": "servo"}
    for name, words in _guesses.SETTINGS[owner].items():
        with pytest.raises(AttributeError, match=re.escape(f"'{name}' of '{owner}' is not writable: {words}")):
            setattr(owners[owner], name, getattr(owners[owner], name))
        for place in re.findall(r"sim\.parameters\.\w+\[\w+\.index\]", words):
            exec(f"{place} = {place}", dict(names))
        for chain in re.findall(r"\b(?:sim|sw)(?:\.\w+)+(?:\(\w+\))?(?:\.\w+)*", words):
            eval(chain.split("(")[0] if "Batch" in chain or "pd" in chain else chain, dict(names))
    sim.step()


def test_servos_are_switched_off(model: sw.Model) -> None:
    """A gain of 0 is no force, and as if the model had it, in a simulation and in a batch."""
    without = sw.Simulation(sw.load(TEXT.replace('kp="20" kv="1"', 'kp="0" kv="0"')))
    sim, batch = sw.Simulation(model), sw.Batch(model, 5)
    for parameters in (sim.parameters, batch.parameters):
        parameters.kp[:] = 0
        parameters.kv[:] = 0
    for each in (without, sim, batch):
        each.ctrl[:] = 1.0
        each.q[..., 7] = 0.4
        each.step(200)
    np.testing.assert_allclose(sim.q, without.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(batch.q, np.tile(without.q, (5, 1)), rtol=0, atol=1e-5)
    assert sim.actuator_forces[0] == 0.0
    sim.parameters.reset()
    sim.step(400)
    assert sim.joint("elbow").q == pytest.approx(1.0, abs=0.2)


def test_a_world_by_its_index(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    batch.step(10)
    batch.reset(1)
    assert (batch.time == [batch.time[0], 0.0, batch.time[0]]).all()
    with pytest.raises(ValueError, match="mask has 3: expected indices below 3"):
        batch.reset(3)


def test_drives_on_a_tendon_by_name() -> None:
    b = builder()
    b.add_motor("m", "rope", gear=2.0)
    sim = sw.Simulation(b.build())
    sim.ctrl[:] = 3.0
    sim.step()
    assert sim.actuator("m").length == pytest.approx(2.0 * sim.tendon("rope").length)
    assert sim.actuation_forces[0] == pytest.approx(6.0)


def test_warnings_where_arguments_have_no_part() -> None:
    with pytest.warns(UserWarning, match="floating_base=True frees the root of a URDF file alone"):
        sw.load(TEXT.replace('<freejoint name="root"/>', "").replace("0 0 1 1 0 0 0 0", "0"), floating_base=True)
    with pytest.warns(UserWarning, match=r"timestep = 5 s: 0\.005 if these are milliseconds"):
        sw.Simulation(sw.load(TEXT), timestep=5)
    with pytest.warns(UserWarning, match=r"in radians, np\.deg2rad\(range\)"):
        builder().body("a").add_joint("k", "revolute", range=(-90, 90))


def test_nodes_of_cloth_that_is_left_out() -> None:
    model = sw.load("""<mujoco><worldbody><body name="pole"><geom size=".1"/></body>
      <flexcomp name="flag" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1">
      <edge equality="vert"/></flexcomp></worldbody>
      <equality><connect body1="flag_0" body2="pole" anchor="0 0 0"/></equality></mujoco>""")
    assert "of a node of a flexible body that is missing" in " ".join(str(warning) for warning in model.warnings)
    with pytest.raises(sw.ModelError, match='body1="flug_0": expected the name of a body'):
        sw.load('<mujoco><equality><connect body1="flug_0" anchor="0 0 0"/></equality></mujoco>')


def test_pictures_of_one_shade(tmp_path: Path) -> None:
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    sw.write_png(tmp_path / "grey.png", grey)
    sw.write_png(tmp_path / "colours.png", np.repeat(grey[:, :, None], 3, axis=2))
    assert (tmp_path / "grey.png").read_bytes() == (tmp_path / "colours.png").read_bytes()
