"""Arguments for calls of the API: some that fit, by name and annotation, and some that nobody should pass."""

from __future__ import annotations

import ast
import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from api_targets import Parameter

import sapwood as sw
from sapwood import _sapwood

EVERYTHING = """<mujoco model="everything"><option timestep="0.004"/>
  <asset><mesh name="wedge" vertex="0 0 0 .3 0 0 0 .3 0 0 0 .2"/></asset>
  <worldbody><geom name="floor" type="plane" size="0 0 1"/><camera name="eye" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
  <body name="box" pos="0 0 0.3"><freejoint name="loose"/><geom name="crate" type="box" size=".1 .1 .1" mass="1"/>
    <site name="imu" pos="0 0 .1"/>
    <body name="arm" pos="0.1 0 0"><joint name="hinge" axis="0 1 0" range="-60 60" damping="0.1" stiffness="2"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0" mass="0.3"/></body></body>
  <body name="ball" pos="0.6 0 0.5"><joint name="socket" type="ball"/>
    <geom size=".08" mass="0.5" condim="6" friction="0.7 0.01 0.002"/></body>
  <body name="wedge" pos="-0.6 0 0.4"><joint name="lift" type="slide" axis="0 0 1"/>
    <geom type="mesh" mesh="wedge" name="stone"/></body></worldbody>
  <tendon><fixed name="rope"><joint joint="hinge" coef="1"/><joint joint="lift" coef="-2"/></fixed></tendon>
  <actuator><position name="servo" joint="hinge" kp="4" kv="0.1"/><motor name="winch" tendon="rope"/></actuator>
  <sensor><accelerometer name="acc" site="imu"/><touch site="imu"/><jointpos name="angle" joint="hinge"/></sensor>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 .1 1 0 0 0 .2"/></keyframe></mujoco>"""

WORDS = ["box", "hinge", "crate", "imu", "servo", "rope", "angle", "up", "eye", "humanoid", "torso", "", "none"]


class World:
    """Objects to call things on, and a source of arguments."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.objects: list[Any] = []
        self.bytes = [b""]
        cube = sw.SoftBody.box((0.1, 0.1, 0.1), 2)
        soft = sw.ModelBuilder("soft")
        soft.add_soft_body("cube", cube, position=(0, 0, 0.3))
        models = [sw.load(EVERYTHING), sw.characters.humanoid(), sw.load("<mujoco/>"), sw.scenes.tower(2), soft.build()]
        self.keep(cube)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for model in models:
                sim = sw.Simulation(model)
                sim.step(rng.choice([0, 3]))
                batch = sw.Batch(model, rng.choice([1, 3]), threads=1, contacts=rng.random() < 0.5)
                self.bytes += [model.to_bytes(), sim.state()]
                self.keep(
                    model, sim, sim.parameters, batch, sw.Renderer(model, 40, 30), sw.ModelBuilder.from_model(model)
                )
            self.keep(sw.Simulation(models[0], scheme="midpoint", sleep_after=0.1), sw.Camera(), sim.record())
        for sim in [thing for thing in self.objects if isinstance(thing, sw.Simulation)]:
            views = (sim.bodies, sim.joints, sim.geoms, sim.sites, sim.actuators, sim.tendons, sim.sensors)
            for of_kind in views:
                self.keep(of_kind, *itertools.islice(of_kind, 2))
            self.keep(*sim.soft_bodies)
        batch = next(thing for thing in self.objects if isinstance(thing, sw.Batch))
        self.keep(_sapwood.Assembly.of(models[0]), batch.stats, sim.stats, models[0].joints[0])

    def keep(self, *things: Any) -> None:
        """Has things to call something on, or to pass."""
        for thing in things:
            if type(thing).__module__.startswith("sapwood"):
                self.objects.append(thing)
                if isinstance(thing, sw.ModelBuilder):
                    self.keep(*thing.bodies[:2], *thing.joints[:2], *thing.geoms[:2], *thing.soft_bodies)
                if isinstance(thing, sw.ModelBuilder) and thing.name == "everything":
                    self.keep(thing.site("imu"), thing.actuator("servo"), thing.tendon("rope"))

    def one(self, cls: type) -> Any:
        """An object of a class, or None where there is none."""
        found = [thing for thing in self.objects if type(thing) is cls]
        return self.rng.choice(found) if found else None

    def model(self, subject: object) -> sw.Model:
        """The model that something is of."""
        model = subject if isinstance(subject, sw.Model) else getattr(subject, "model", None)
        return model if isinstance(model, sw.Model) else self.one(sw.Model)

    # Arguments that fit.

    def fitting(self, parameter: Parameter, subject: object) -> Any:
        """A value of the right kind, of the right shape where the name says which."""
        model = self.model(subject)
        shape = self.shape(parameter.name, subject, model)
        if parameter.name in {"q", "q0", "q1", "target"} and shape is not None and self.rng.random() < 0.8:
            q = model.integrate(model.keyframe().q, np.array(self.numbers((model.nv,))) * 0.1)
            return np.broadcast_to(q, shape).copy()
        if shape is not None:
            return self.numbers(shape)
        if parameter.name in {"path", "source"} and "Path" in parameter.annotation:
            return self.rng.choice([self.folder / "a.xml", str(self.folder / "b.html"), EVERYTHING, self.folder])
        return self.annotated(parameter.annotation, subject)

    def shape(self, name: str, subject: object, model: sw.Model) -> tuple[int, ...] | None:
        """The shape of an array by the name of the argument."""
        lead = (len(subject),) if isinstance(subject, sw.Batch) else ()
        shapes: dict[str, tuple[int, ...]] = {
            **dict.fromkeys(("q0", "q1", "target"), (model.nq,)),
            **dict.fromkeys(("dv", "a", "tau", "target_velocity", "kp", "kd", "effort_limit", "armature"), (model.nv,)),
            **dict.fromkeys(("damping", "stiffness", "frictionloss", "applied_force"), (model.nv,)),
            **dict.fromkeys(("grad_q", "grad_v"), (*lead, model.nv)),
            **dict.fromkeys(("position", "origin", "direction", "gravity", "point", "axis", "lookat", "com"), (3,)),
            "quaternion": (4,),
            "directions": (2, 3),
            "q": (*lead, model.nq),
            "v": (*lead, model.nv),
            "times": (3,),
            "ctrl": (*lead, 2, model.nu) if lead else (model.nu,),
            "A": (3, 3),
            "v_star": (3,),
            "J": (3, 3),
            "mu": (1,),
            "R_t": (1,),
            "R_n": (1,),
            "vn_hat": (1,),
        }
        if name == "value" or name not in shapes:
            return None
        return shapes[name]

    def numbers(self, shape: tuple[int, ...]) -> Any:
        """Numbers in an array or in lists, of some type and layout."""
        rng = np.random.default_rng(self.rng.randrange(2**32))
        values = rng.normal(size=shape)
        if self.rng.random() < 0.3:
            values = np.abs(values)
        if len(shape) == 2 and shape[0] == shape[1]:
            values = values @ values.T + np.eye(shape[0])
        forms: list[Callable[[], Any]] = [
            lambda: values,
            lambda: values.tolist(),
            lambda: values.astype(np.float32),
            lambda: np.asfortranarray(values),
            lambda: np.repeat(values, 2, axis=-1)[..., ::2] if values.ndim else values,
            lambda: np.round(values).astype(int),
            lambda: np.zeros(shape),
        ]
        return self.rng.choice(forms)()

    def annotated(self, annotation: str, subject: object) -> Any:
        """A value of an annotated type."""
        try:
            node = ast.parse(annotation, mode="eval").body
        except SyntaxError:
            return None
        return self.of_node(node, subject)

    def of_node(self, node: ast.expr, subject: object) -> Any:
        rng = self.rng
        if isinstance(node, ast.BinOp):
            return self.of_node(rng.choice([node.left, node.right]), subject)
        if isinstance(node, ast.Subscript):
            name = ast.unparse(node.value).rpartition(".")[2]
            inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if name == "Literal":
                return ast.literal_eval(rng.choice(inside))
            if name == "tuple":
                return tuple(self.of_node(part, subject) for part in inside if ast.unparse(part) != "...")
            if name in {"dict", "Mapping"}:
                return {self.of_node(inside[0], subject): self.of_node(inside[1], subject)}
            if name in {"list", "Sequence", "Iterable"}:
                return [self.of_node(inside[0], subject) for _ in range(rng.choice([1, 2, 3]))]
            return self.numbers(rng.choice([(3,), (2, 3), (4,), ()]))
        name = ast.unparse(node).rpartition(".")[2]
        simple: dict[str, Callable[[], Any]] = {
            "int": lambda: rng.choice([0, 1, 2, 3, 5, 36, -1]),
            "float": lambda: rng.choice([0.0, 0.002, 0.01, 0.5, 1.0, 3, -1.0]),
            "bool": lambda: rng.random() < 0.5,
            "str": lambda: rng.choice(WORDS),
            "bytes": lambda: rng.choice(self.bytes),
            "None": lambda: None,
            "ArrayLike": lambda: self.numbers(rng.choice([(3,), (2, 3), (4,), (2,), (), (1,)])),
        }
        if name in simple:
            return simple[name]()
        found = [thing for thing in self.objects if type(thing).__name__ == name]
        return rng.choice(found) if found else rng.choice([0, 0.5, "box", None, [1.0, 2.0]])

    # Arguments that nobody should pass.

    def hostile(self, subject: object) -> Any:
        """Anything."""
        return self.rng.choice(HOSTILE)(self, subject)


class ReentrantArray:
    """An array that uses what it is passed to while it is being converted."""

    def __init__(self, subject: object) -> None:
        self.subject = subject

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        for name in ("reset", "step", "build", "stop"):
            getattr(self.subject, name, lambda: None)()
        return np.ones(3)


class Refuses:
    """What raises whenever it is looked at."""

    def refuse(self, *_arguments: object) -> Any:
        raise ZeroDivisionError("refused")

    __array__ = __len__ = __index__ = __float__ = __bool__ = __iter__ = __getitem__ = __fspath__ = refuse


def deep(levels: int) -> list[Any]:
    """Lists in lists."""
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


def cyclic() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = [1.0]
    found.append(found)
    return found


def endless() -> Iterator[float]:
    """Numbers without end."""
    return itertools.repeat(1.0)


NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    1,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    10**60,
    -(2**63),
    1e308,
    5e-324,
    1e-9,
    -0.0,
]
HOSTILE: list[Callable[[World, object], Any]] = [
    *(lambda _w, _s, number=number: number for number in NUMBERS),
    lambda w, s: w.rng.choice(w.objects),
    lambda w, s: s,
    lambda _w, s: type(s),
    lambda _w, s: ReentrantArray(s),
    *(
        lambda _w, _s, make=make: make()
        for make in [
            lambda: None,
            lambda: True,
            lambda: "",
            lambda: "nobody",
            lambda: "a\0b",
            lambda: "\ud800",
            lambda: "x" * 100_000,
            lambda: "<" * 1000,
            lambda: b"",
            lambda: b"\xff" * 200,
            lambda: bytearray(8),
            list,
            lambda: [[]],
            lambda: [[1.0], [1.0, 2.0]],
            lambda: ["a", 1],
            lambda: {"a": 1},
            lambda: {1, 2},
            lambda: deep(100),
            lambda: deep(3000),
            cyclic,
            endless,
            Refuses,
            lambda: 1 + 2j,
            lambda: slice(None),
            lambda: Ellipsis,
            lambda: lambda: None,
            lambda: np.zeros(0),
            lambda: np.zeros((0, 3)),
            lambda: np.zeros((3, 0)),
            lambda: np.zeros((1, 1, 1, 1, 1)),
            lambda: np.full(3, np.nan),
            lambda: np.array([1e308, -1e308, 0]),
            lambda: np.array(1.0),
            lambda: np.zeros(3, complex),
            lambda: np.zeros(3, "f2"),
            lambda: np.zeros(3, ">f8"),
            lambda: np.zeros(3, "U4"),
            lambda: np.zeros(3, "M8[s]"),
            lambda: np.zeros(3, [("x", "f8")]),
            lambda: np.array([1, None, "a"], dtype=object),
            lambda: np.ma.masked_array(np.ones(3), [True, False, True]),
            lambda: np.broadcast_to(1.0, (10**6, 10**6)),
            lambda: np.broadcast_to(np.uint8(1), (2**16, 2**16, 3)),
            lambda: np.broadcast_to(np.True_, (10**10,)),
            lambda: np.frombuffer(bytes(range(1, 26)), dtype=np.uint8)[1:].view(np.float64),
            lambda: memoryview(b"12345678"),
            lambda: Path("/nowhere/at/all"),
            lambda: range(3),
        ]
    ),
]
