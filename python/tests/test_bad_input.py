"""Bad input: a clear exception of the right kind, never a crash and never a panic."""

from __future__ import annotations

import errno
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import CLUTTER, RAGDOLL, URDF

import sapwood as sw


def body(inside: str, before: str = "") -> str:
    return f"<mujoco>\n{before}\n<worldbody>\n<body>\n{inside}\n</body>\n</worldbody>\n</mujoco>"


FREE_SPHERE = body('<freejoint/><geom size="0.1"/>')

BAD_MODELS = {
    "broken XML": ("<mujoco>\n<worldbody>\n<body>\n</worldbody>\n</mujoco>", 4, None),
    "not a model": ("<svg>\n</svg>", 1, "svg"),
    "empty text": ("<", 1, None),
    "unknown joint type": (body('<joint type="helix"/><geom size="0.1"/>'), 5, "joint"),
    "negative mass": (body('<freejoint/>\n<geom size="0.1" mass="-1"/>'), 6, "geom"),
    "negative inertial mass": (body('<freejoint/>\n<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), 6, None),
    "inertia not positive": (
        body('<freejoint/>\n<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/>'),
        6,
        None,
    ),
    "NaN": (body('<freejoint/>\n<geom size="nan"/>'), 6, "geom"),
    "not a number": (body('<freejoint/>\n<geom size="big"/>'), 6, "geom"),
    "too few numbers": (body('<freejoint/>\n<geom type="box" size="0.1 0.1"/>'), 6, "geom"),
    "infinite position": (body('<freejoint/>\n<geom size="0.1" pos="inf 0 0"/>'), 6, "geom"),
    "axis without direction": (body('<joint axis="0 0 0"/>\n<geom size="0.1"/>'), 5, "joint"),
    "massless body": (body("<freejoint/>"), None, None),
    "two bodies of one name": (
        "<mujoco>\n<worldbody>\n<body name='a'/>\n<body name='a'/>\n</worldbody>\n</mujoco>",
        4,
        "body",
    ),
    "actuator of no joint": (
        "<mujoco>\n<actuator>\n<motor joint='nobody'/>\n</actuator>\n</mujoco>",
        3,
        "motor",
    ),
    "missing include": ("<mujoco>\n<include file='nowhere.xml'/>\n</mujoco>", 2, "include"),
    "URDF without links": ("<robot name='r'>\n</robot>", None, None),
    "URDF joint to nowhere": (
        "<robot name='r'>\n<link name='a'/>\n<joint name='j' type='fixed'>\n<parent link='a'/>\n<child link='b'/>\n"
        "</joint>\n</robot>",
        None,
        None,
    ),
    "URDF loop": (
        "<robot name='r'>\n<link name='a'/><link name='b'/>\n"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>\n"
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>\n</robot>",
        None,
        None,
    ),
}


@pytest.mark.parametrize("text, line, element", BAD_MODELS.values(), ids=BAD_MODELS)  # noqa: PT006
def test_bad_model(text: str, line: int | None, element: str | None) -> None:
    with pytest.raises(sw.ModelError) as caught:
        sw.load(text)
    assert str(caught.value)
    if line is not None:
        assert caught.value.line == line
    if element is not None:
        assert caught.value.element == element


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "nobody.xml"
    with pytest.raises(sw.ModelError, match="nobody.xml") as caught:
        sw.load(path)
    assert caught.value.file == str(path)
    assert caught.value.line is None


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(sw.ModelError):
        sw.load(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "noise.xml"
    path.write_bytes(bytes(range(256)) * 100)
    with pytest.raises(sw.ModelError):
        sw.load(path)


BODY = "<mujoco><worldbody><body name='{}'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BODY.format("x").encode("utf-16"), "UTF-16"),
        (BODY.format("x").encode("utf-32"), "UTF"),
        (BODY.format("x\0y").encode(), "NUL"),
    ],
    ids=["utf-16", "utf-32", "nul"],
)
def test_text_in_another_encoding_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.xml"
    path.write_bytes(content)
    with pytest.raises(sw.ModelError, match=message) as caught:
        sw.load(path)
    assert len(str(caught.value)) < 300


def test_letters_of_an_old_encoding_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_bytes(BODY.format("caf\xe9").encode("latin-1"))
    (warning,) = sw.load(path).warnings
    assert "not UTF-8" in warning.message


def test_a_mark_of_the_byte_order_and_ends_of_lines_of_other_systems_are_read(tmp_path: Path) -> None:
    text = BODY.format("caf\xe9").replace("><", ">\r<")
    (tmp_path / "model.xml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert "caf\xe9" in sw.load(tmp_path / "model.xml").body_names


@pytest.mark.parametrize("name", ["\x9b31m", "\x7f\x7f", "\u202eevil", "a" * 5000], ids=["csi", "del", "bidi", "long"])
def test_names_in_messages_neither_command_terminals_nor_fill_them(name: str) -> None:
    sim = sw.Simulation(sw.load(BODY.format(name)))
    for ask in (lambda: sim.body(name + "!"), lambda: sim.body("nobody"), lambda: sim.joint(name)):
        with pytest.raises((ValueError, KeyError)) as caught:
            ask()
        said = str(caught.value)
        assert said.isprintable()
        assert len(said) < 300


def test_cycle_of_includes(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<mujoco>\n<include file='b.xml'/>\n</mujoco>")
    (tmp_path / "b.xml").write_text("<mujoco>\n\n<include file='a.xml'/>\n</mujoco>")
    with pytest.raises(sw.ModelError, match=r"a\.xml") as caught:
        sw.load(tmp_path / "a.xml")
    assert caught.value.element == "include"


@pytest.mark.parametrize(
    ("name", "content"),
    [("missing.stl", None), ("empty.stl", b""), ("cut.stl", b"\0" * 84 + b"\1" * 20), ("empty.obj", b"# nothing\n")],
)
def test_bad_mesh(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    text = f"""<mujoco>
<asset>
<mesh name="m" file="{name}"/>
</asset>
<worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>
</mujoco>"""
    (tmp_path / "model.xml").write_text(text)
    with pytest.raises(sw.ModelError, match=name) as caught:
        sw.load(tmp_path / "model.xml")
    assert caught.value.element == "mesh"


@pytest.mark.parametrize("text", ["<mujoco/>", "<mujoco><worldbody/></mujoco>"])
def test_no_bodies(text: str) -> None:
    """Nothing to simulate is no error."""
    model = sw.load(text)
    assert (model.nq, model.nv, model.nbody) == (0, 0, 1)
    assert model.mass_matrix([]).shape == (0, 0)
    sim = sw.Simulation(model)
    sim.step(10)
    assert sim.time == pytest.approx(10 * model.timestep)
    assert sim.energy().total == 0


@pytest.mark.parametrize("text", [RAGDOLL, CLUTTER, URDF], ids=["ragdoll", "clutter", "urdf"])
def test_mutilated_models(text: str) -> None:
    """Numbers replaced, words dropped, doubled and exchanged: it loads and steps, or an exception says why not."""
    rng = np.random.default_rng(11)
    tokens = re.findall(r"""[\w.-]+|\s+|.""", text)
    values = [k for k, token in enumerate(tokens) if re.fullmatch(r"[-.\d]+", token)]
    outcomes = {"refused": 0, "stepped": 0, "failed": 0}
    for _ in range(400):
        mutant = list(tokens)
        for _ in range(rng.integers(1, 4)):
            k = int(rng.integers(len(mutant)) if rng.random() < 0.2 else rng.choice(values))
            numbers = ["nan", "-1", "0", "7", "0.01", "300", "1e308", "1e-308", "99999999999", "inf", "x"]
            other = mutant[int(rng.integers(len(mutant)))]
            mutant[k] = str(rng.choice([*numbers, "", mutant[k] * 2, other]))
        try:
            sim = sw.Simulation(sw.load("".join(mutant)))
            sim.step(3)
            outcomes["stepped"] += 1
        except sw.ModelError:
            outcomes["refused"] += 1
        except (sw.SimulationError, ValueError):
            outcomes["failed"] += 1
    assert outcomes["refused"] > 50, outcomes
    assert outcomes["stepped"] > 50, outcomes


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(FREE_SPHERE)


Q = [0.0, 0, 0, 1, 0, 0, 0]
V = [0.0] * 6


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.0] * 6, r"q has shape \(6,\): expected \(7,\)"),
        (np.zeros((7, 1)), r"q has shape \(7, 1\): expected \(7,\)"),
        (0.0, r"q has shape \(\): expected \(7,\)"),
        ([0, 0, np.nan, 1, 0, 0, 0], r"q\[2\] is NaN: expected a finite number"),
        ([0, 0, np.inf, 1, 0, 0, 0], r"q\[2\] is inf: expected a finite number"),
        ([0.0] * 7, r"q\[3:7\] is .*: expected a quaternion"),
        ("abc", "q: expected an array of numbers|q has dtype"),
        (None, "q has dtype object|q: expected an array of numbers"),
        ([1j] * 7, "q has dtype complex128: expected an array of real numbers"),
        ([[0.0], [1.0, 2.0]], "q: expected an array of numbers"),
    ],
)
def test_bad_configuration(model: sw.Model, q: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.mass_matrix(q)  # type: ignore[arg-type]
    sim = sw.Simulation(model)
    before = sim.state()
    with pytest.raises(ValueError, match=message):
        sim.q = q  # type: ignore[assignment]
    assert sim.state() == before


def test_arguments_are_named(model: sw.Model) -> None:
    bad = [0.0] * 5
    with pytest.raises(ValueError, match=r"^v has shape \(5,\): expected \(6,\)"):
        model.bias_forces(Q, bad)
    with pytest.raises(ValueError, match="^tau has"):
        model.forward_dynamics(Q, V, bad)
    with pytest.raises(ValueError, match="^a has"):
        model.inverse_dynamics(Q, V, bad)
    with pytest.raises(ValueError, match="^dv has"):
        model.integrate(Q, bad)
    with pytest.raises(ValueError, match="^q1 has"):
        model.difference(Q, bad)
    with pytest.raises(ValueError, match="'nobody'|\"nobody\""):
        model.keyframe("nobody")


def test_bad_state_of_a_simulation(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    for name in ("v", "ctrl", "applied_force", "applied_wrench"):
        with pytest.raises(ValueError, match=f"^{name} has shape"):
            setattr(sim, name, np.zeros(99))
    with pytest.raises(ValueError, match=r"^applied_wrench\[1, 2\] is NaN"):
        sim.applied_wrench = np.array([[0.0] * 6, [0, 0, np.nan, 0, 0, 0]])


@pytest.mark.parametrize("name", ["q", "v", "applied_force"])
def test_nan_written_into_a_view(model: sw.Model, name: str) -> None:
    """A view cannot refuse it; the next step does, and changes nothing."""
    sim = sw.Simulation(model)
    getattr(sim, name)[1] = np.nan
    with pytest.raises(ValueError, match=rf"{name}\[1\] is NaN"):
        sim.step()
    assert sim.time == 0
    getattr(sim, name)[1] = 0.0
    sim.step()
    assert sim.time == sim.timestep


def test_quaternion_erased_in_a_view(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    sim.q[3:] = 0
    with pytest.raises(ValueError, match=r"q\[3:7\] is .*: expected a quaternion"):
        sim.step()


TURNED = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .25"><freejoint/>
<geom type="box" size=".1 .2 .3"/><body pos="0 0 .3"><joint type="ball" stiffness="3" damping=".1" range="0 60"/>
<geom type="box" size=".1 .2 .1" pos=".1 .1 .1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint", "implicit-euler"])
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_a_quaternion_of_any_length_is_its_rotation(scheme: Any, precision: Any) -> None:
    """As MuJoCo normalises it before a step: in contact, in a joint's spring and limit, of one world and of several."""
    model = sw.load(TURNED)
    tolerance = 1e-9 if precision == "f64" else 1e-3
    rng = np.random.default_rng(4)
    for factor in (1.1, 1.01, 1.0001, 1.0 + 1e-7, 0.5, 2.0, 1e-3, 1e3):
        q, v = np.array(sw.Simulation(model).q), rng.normal(0.0, 3.0, model.nv)
        ends = []
        for at in (3, 7):
            turn = rng.normal(size=4)
            q[at : at + 4] = turn / np.linalg.norm(turn)
        for length in (1.0, factor):
            start = q.copy()
            start[3:11] *= length
            sim, batch = sw.Simulation(model, scheme=scheme), sw.Batch(model, 3, scheme=scheme, precision=precision)
            sim.q[:], sim.v[:] = start, v
            batch.q[:], batch.v[:] = start, v
            sim.step()
            batch.step()
            ends.append((np.concatenate([sim.q, sim.v]), np.concatenate([batch.q[1], batch.v[1]])))
        # A batch of 32 bits solves to 1e-3.
        assert np.allclose(ends[0][0], ends[1][0], rtol=0, atol=1e-9 * max(1.0, np.abs(ends[0][0]).max()))
        assert np.allclose(ends[0][1], ends[1][1], rtol=0, atol=tolerance * max(1.0, np.abs(ends[0][1]).max()))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("humanod.xml", "did you mean {folder}/humanoid.xml?"),
        ("@dog", 'did you mean sapwood.load(sapwood.characters.mjcf("dog"))?'),
        ("tower-5", 'did you mean sapwood.load(sapwood.scenes.mjcf("tower-5"))?'),
        ("@towr-5", 'did you mean sapwood.load(sapwood.scenes.mjcf("tower-5"))?'),
    ],
)
def test_a_file_that_does_not_exist_names_what_was_meant(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / "humanoid.xml").write_text("<mujoco/>")
    with pytest.raises(sw.ModelError, match=re.escape(hint.format(folder=tmp_path))):
        sw.load(tmp_path / name if "." in name else name)


def test_a_keyframe_that_does_not_exist_names_what_was_meant() -> None:
    model = sw.scenes.slider(2.0, 0.5)
    sim, batch = sw.Simulation(model), sw.Batch(model, 2)
    calls: list[Callable[[str], object]] = [sim.reset, model.keyframe, lambda name: batch.reset(keyframe=name)]
    for call in calls:
        with pytest.raises(sw.UnknownNameError, match="there is no keyframe 'slidng': did you mean 'sliding'"):
            call("slidng")


def test_a_keyframe_of_a_model_without_keyframes() -> None:
    sim = sw.Simulation(sw.load("<mujoco/>"))
    with pytest.raises(sw.UnknownNameError, match="keyframe='x': the model has no keyframes"):
        sim.reset("x")
    with pytest.raises(IndexError, match="keyframe is 0: the model has 0 keyframes"):
        sim.reset(0)
    with pytest.raises(TypeError, match="keyframe is a float: expected the name or the index of a keyframe"):
        sim.reset(0.5)  # type: ignore[arg-type]


def test_a_model_file_that_is_not_there_is_an_error_of_files_too(tmp_path: Path) -> None:
    path = tmp_path / "ant.xml"
    with pytest.raises(FileNotFoundError, match="ant.xml") as caught:
        sw.load(path)
    error = caught.value
    assert isinstance(error, sw.ModelError)
    assert (error.file, error.line, error.element) == (str(path), None, None)
    assert (error.filename, error.errno) == (str(path), errno.ENOENT)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.file) == (str(error), error.file)
    path.write_text("<mujoco")
    with pytest.raises(sw.ModelError) as broken:
        sw.load(path)
    assert not isinstance(broken.value, FileNotFoundError)


def test_a_path_in_the_place_of_a_model() -> None:
    makers: list[Callable[[Any], object]] = [sw.Simulation, lambda path: sw.Batch(path, 2)]
    for make in makers:
        with pytest.raises(TypeError, match=r"model is of type str: expected a sapwood.Model; sapwood.load"):
            make("ant.xml")


def test_bytes_that_are_no_state(model: sw.Model) -> None:
    with pytest.raises(ValueError, match='bytes or more that begin with "sapwood'):
        sw.Simulation(model).restore(b"abc")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timestep": 0.0}, "timestep"),
        ({"timestep": -0.1}, "timestep"),
        ({"timestep": float("nan")}, "timestep"),
        ({"timestep": float("inf")}, "timestep"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"beta": -1.0}, "beta"),
        ({"sigma": float("nan")}, "sigma"),
        ({"threads": 0}, "threads"),
        ({"threads": -3}, "threads"),
        ({"factorization_budget": -1}, "factorization_budget is -1: expected 0 or more, or None"),
        ({"threads": 10**6}, "threads is 1000000: expected 1 to 1024"),
        (
            {"scheme": "leapfrog"},
            'scheme="leapfrog" is not in this version; available: "symplectic-euler", "bilinear", '
            '"midpoint", "implicit-euler", "explicit-euler"',
        ),
        ({"scheme": (0.5, 0.5, 1.5)}, "theta_vq = 1.5: expected from 0 to 1"),
        ({"accuracy": 0.0}, "accuracy = 0: expected a finite number above 0"),
        ({"contact": "cone"}, 'contact="cone" is not in this version; available: "sap", "lagged", "coulomb"'),
    ],
)
def test_bad_options(model: sw.Model, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sw.Simulation(model, **options)  # type: ignore[arg-type]


def test_wrong_types(model: sw.Model) -> None:
    with pytest.raises(TypeError):
        sw.Simulation("model.xml")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="source is of type int"):
        sw.load(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="source is empty"):
        sw.load("")
    with pytest.raises(TypeError, match="package_path is of type int"):
        sw.load("<mujoco/>", package_path=3)  # type: ignore[arg-type]
    sim = sw.Simulation(model)
    with pytest.raises(ValueError, match="n is -1"):
        sim.step(-1)
    with pytest.raises(TypeError):
        sim.step(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nobody"):
        sim.reset("nobody")


@pytest.mark.parametrize("state", [b"", b"sapwood1", b"x" * 200])
def test_bad_state_bytes(model: sw.Model, state: bytes) -> None:
    sim = sw.Simulation(model)
    before = sim.state()
    with pytest.raises(ValueError, match="state"):
        sim.restore(state)
    assert sim.state() == before


def test_state_of_another_model(model: sw.Model) -> None:
    other = sw.Simulation(sw.load("<mujoco/>"))
    with pytest.raises(ValueError, match="another model"):
        sw.Simulation(model).restore(other.state())


def test_states_of_models_that_differ_in_a_name_a_joint_or_the_order_are_of_others() -> None:
    a = '<body name="a"><joint name="x"/><geom size=".1" mass="1"/></body>'
    b = '<body name="b" pos="1 0 0"><joint name="y"/><geom size=".1" mass="1"/></body>'
    text = "<mujoco><worldbody>{}{}</worldbody></mujoco>"
    state = sw.Simulation(sw.load(text.format(a, b))).state()
    sw.Simulation(sw.load(text.format(a, b))).restore(state)
    slides = '<joint name="x" type="slide"/>'
    others = (
        (a.replace('"a"', '"c"'), b),
        (a, b.replace('"y"', '"z"')),
        (b, a),
        (a.replace('<joint name="x"/>', slides), b),
    )
    for other in others:
        with pytest.raises(ValueError, match="another model"):
            sw.Simulation(sw.load(text.format(*other))).restore(state)


def test_overflow_is_an_error_not_a_nan(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    sim.v[:] = 1e200
    with pytest.raises(sw.SimulationError) as caught:
        sim.step(100)
    assert caught.value.step is not None
    assert caught.value.time is not None
    assert np.isfinite(sim.q).all()
    assert np.isfinite(sim.v).all()


SAP = {
    "A": np.eye(3),
    "v_star": [0.0, 0, -1],
    "J": np.eye(3),
    "mu": [0.5],
    "R_t": [1e-3],
    "R_n": [1e-3],
    "vn_hat": [0.0],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A", np.eye(2)),
        ("A", -np.eye(3)),
        ("A", np.diag([1.0, 1, np.nan])),
        ("A", [[1.0, 5, 0], [0, 1, 0], [0, 0, 1]]),
        ("v_star", [[0.0, 0, 0]]),
        ("v_star", [0.0, 0, np.inf]),
        ("J", np.eye(2)),
        ("mu", [-0.5]),
        ("mu", [0.5, 0.5]),
        ("R_t", [0.0]),
        ("R_n", [-1e-3]),
        ("R_n", [1e-3, 1e-3]),
        ("vn_hat", [np.nan]),
        ("tolerance", 0.0),
        ("tolerance", float("nan")),
        ("factorization", "lu"),
        ("law", "lagged"),
    ],
)
def test_bad_contact_problem(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{name}\b"):
        sw.sap.solve(**{**SAP, name: value})  # type: ignore[arg-type]


def test_solve_that_does_not_converge() -> None:
    with pytest.raises(sw.SimulationError, match="not converged after 0"):
        sw.sap.solve(**SAP, max_iterations=0)  # type: ignore[arg-type]


def test_sap_without_contacts_or_velocities() -> None:
    free = sw.sap.solve(np.eye(2), [1.0, 2], np.zeros((0, 2)), [], [], [], [])
    np.testing.assert_array_equal(free.v, [1, 2])
    assert free.impulses.shape == (0, 3)
    nothing = sw.sap.solve(np.zeros((0, 0)), [], np.zeros((0, 0)), [], [], [], [])
    assert nothing.v.shape == (0,)


LONG: Any = "x" * 5000
LONG_ARGUMENT: dict[str, Any] = {LONG: 1}


@pytest.mark.parametrize(
    "act",
    [
        lambda sim: sw.Simulation(sim.model, scheme=LONG),
        lambda sim: sw.Simulation(sim.model, contact=LONG),
        lambda sim: sw.Simulation(sim.model, **LONG_ARGUMENT),
        lambda sim: sim.render(8, 8, kind=LONG),
        lambda sim: getattr(sim, LONG),
        lambda sim: getattr(sim.model, LONG),
        lambda sim: sim.parameters[LONG],
        lambda sim: setattr(sim.parameters, LONG, 1),
        lambda sim: sw.Batch(sim.model, 2).set_parameters(**LONG_ARGUMENT),
        lambda _: sw.characters.mjcf(LONG),
        lambda _: sw.scenes.mjcf(LONG),
        lambda _: sw.load(f"/{LONG}.xml"),
        lambda _: sw.load(f"@{LONG}"),
        lambda sim: sw.tracking.track(sim.model, LONG),
    ],
)
def test_messages_of_long_words_are_short(act: Callable[[sw.Simulation], object]) -> None:
    with pytest.raises(Exception, match="x{40}") as error:
        act(sw.Simulation(sw.load(RAGDOLL)))
    assert len(str(error.value)) < 300


def test_warnings_of_long_words_are_short() -> None:
    for text in (f"<mujoco><{LONG}/></mujoco>", f"<mujoco><worldbody><geom size='1' {LONG}='1'/></worldbody></mujoco>"):
        assert max(len(str(warning)) for warning in sw.load(text).warnings) < 300


def test_arrays_may_lie_anywhere() -> None:
    sim = sw.Simulation(sw.load(RAGDOLL))
    records = np.zeros(1, np.dtype([("flag", "u1"), ("q", "f8", (sim.model.nq,))]))
    records["q"][0] = sim.q
    assert not records["q"][0].flags.aligned
    sim.q = records["q"][0]
    np.testing.assert_array_equal(sim.q, records["q"][0])
