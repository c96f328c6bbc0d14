"""Tasks of dm_control's suite: their models, from the installed dm_control's files, and how their episodes begin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike

from sapwood.gym._stage import Rng, Stage, Start, turned, unit
from sapwood.gym._tasks import Array, Options

Edit = Callable[[ET.Element, str], None]


@dataclass(frozen=True, kw_only=True)
class SuiteOptions(Options):
    """Options of the tasks of dm_control's suite.

    Attributes:
        xml_file: The model: a path, or "" for that of dm_control.
    """

    domain: ClassVar[str]
    frames: ClassVar[int] = 1
    camera: ClassVar[dict[str, Any]] = {}
    edits: ClassVar[tuple[Edit, ...]] = ()
    contacts: ClassVar[bool] = False
    varies: ClassVar[bool] = False
    """Whether the goal of an episode changes its model."""

    frame_skip: int = 0

    @classmethod
    def of(cls, **given: Any) -> SuiteOptions:  # noqa: ANN401 - options of any kind
        """The options, with the time steps of the task where none are given."""
        options: dict[str, Any] = {"frame_skip": cls.frames, **given}
        return cls(**options)

    def mjcf(self, goal: Array | None = None) -> str:
        """The model, as XML text, for pictures with its target at a goal.

        Raises:
            ModuleNotFoundError: When dm_control is not installed.
        """
        found = find_spec("dm_control")
        folders = (found and found.submodule_search_locations) or []
        if not folders:
            message = f"sapwood/dm-{self.task}-v0 takes its model from dm_control: pip install dm_control"
            raise ModuleNotFoundError(message)
        folder = Path(folders[0]) / "suite"
        root = ET.parse(folder / f"{self.domain}.xml").getroot()
        for include in root.findall("include"):
            position = list(root).index(include)
            root.remove(include)
            for child in reversed(list(ET.parse(folder / include.attrib["file"]).getroot())):
                root.insert(position, child)
        for compiler in root.iter("compiler"):
            for place in [place for place in ("meshdir", "texturedir") if place in compiler.attrib]:
                compiler.set(place, str(folder / compiler.attrib[place]))
        for edit in self.edits:
            edit(root, self.task)
        if goal is not None:
            _move_target(root, goal)
        return ET.tostring(root, encoding="unicode")

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """Where an episode begins, and its goal."""
        raise NotImplementedError

    def activations(self, rng: Rng, stage: Stage) -> ArrayLike:
        """The activations of actuators where an episode begins."""
        return 0.0


def _move_target(root: ET.Element, goal: Array) -> None:
    """Put the target of the model where a goal is."""
    for body in (body for body in root.iter("body") if body.get("name", "").startswith("target")):
        _, depth, _ = body.attrib["pos"].split()
        body.set("pos", f"{goal[0]} {depth} {goal[1]}")
        half = 0.5 * (goal[2] if len(goal) > 2 else 0.0)
        body.set("quat", f"{math.cos(half)} 0 {math.sin(half)} 0")
        return
    for target in root.findall("./worldbody/*[@name='target']"):
        _, y, z = target.attrib["pos"].split()
        at = (goal[0], y, goal[1]) if target.tag == "site" else (*goal, z)
        target.set("pos", " ".join(str(x) for x in at[:3]))


def _rest(stage: Stage, q: Array, goal: ArrayLike = ()) -> Start:
    return q, np.zeros(stage.model.nv), goal


class Randomized(SuiteOptions):
    """Joints anywhere."""

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        return _rest(stage, stage.randomized(rng))


class RandomizedFree(SuiteOptions):
    """Joints anywhere, without penetration."""

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        return stage.draw_free(lambda: _rest(stage, stage.randomized(rng)))


class Acrobot(SuiteOptions):
    """Both angles anywhere."""

    domain = "acrobot"

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        return _rest(stage, rng.uniform(-math.pi, math.pi, size=2))


class BallInCup(SuiteOptions):
    """The ball anywhere below the cup or beside it, without penetration."""

    domain = "ball_in_cup"
    frames = 10

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""

        def draw() -> Start:
            q = stage.q0.copy()
            q[[stage.index("ball_x"), stage.index("ball_z")]] = rng.uniform([-0.2, 0.2], [0.2, 0.5])
            return _rest(stage, q)

        return stage.draw_free(draw)


def _add_poles(root: ET.Element, task: str) -> None:
    parent = root.find("./worldbody/body/body")
    for pole in range(2, {"cartpole-two_poles": 2, "cartpole-three_poles": 3}.get(task, 1) + 1):
        assert parent is not None
        body = ET.SubElement(parent, "body", {"name": f"pole_{pole}", "pos": "0 0 1", "childclass": "pole"})
        ET.SubElement(body, "joint", {"name": f"hinge_{pole}"})
        ET.SubElement(body, "geom", {"name": f"pole_{pole}"})
        parent = body


class Cartpole(SuiteOptions):
    """Poles near upright, or near hanging."""

    domain = "cartpole"
    edits = (_add_poles,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        nv = stage.model.nv
        if self.task.startswith("cartpole-balance"):
            q = np.concatenate([rng.uniform(-0.1, 0.1, size=1), rng.uniform(-0.034, 0.034, size=nv - 1)])
        else:
            q = np.array([0.0, math.pi, *np.zeros(nv - 2)])
            q += np.array([0.01, 0.01, *np.full(nv - 2, 0.1)]) * rng.standard_normal(nv)
        return q, 0.01 * rng.standard_normal(nv), ()


class Cheetah(SuiteOptions):
    """Limited joints anywhere, after two seconds of rest."""

    domain = "cheetah"

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q = stage.q0.copy()
        for joint in stage.model.joints:
            if joint.range is not None:
                q[joint.q] = rng.uniform(*joint.range)
        simulation = stage.at(q)
        simulation.step(200)
        return simulation.q.copy(), simulation.v.copy(), ()


def _remove(root: ET.Element, tag: str, names: set[str]) -> None:
    for parent in root.iter():
        for child in [child for child in parent if child.tag == tag and child.get("name") in names]:
            parent.remove(child)


def _set_floor(root: ET.Element, size: float, thickness: str) -> None:
    floor = root.find(".//geom[@name='floor']")
    assert floor is not None
    floor.set("size", f"{size} {size} {thickness}")


DOG_SPEEDS = {"dog-stand": 1.0, "dog-walk": 1.0, "dog-trot": 3.0, "dog-run": 9.0}


def _leave_dog_alone(root: ET.Element, task: str) -> None:
    if task == "dog-fetch":
        return
    _set_floor(root, 15 * DOG_SPEEDS[task], ".1")
    _remove(root, "body", {"ball"})
    _remove(root, "geom", {"target", *(f"wall_{side}" for side in ("px", "nx", "py", "ny"))})
    _remove(root, "camera", {"ball", "head"})


class Dog(SuiteOptions):
    """Standing, turned and thrown along the ground, actuators anywhere; a ball to be fetched is thrown."""

    domain = "dog"
    frames = 3
    edits = (_leave_dog_alone,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q, v = stage.q0.copy(), np.zeros(stage.model.nv)
        q[3:7] = turned(rng)
        v[[0, 1, 5]] = 2.0 * rng.standard_normal(3)
        if self.task == "dog-fetch":
            joint = stage.model.joints[stage.model.joint_index("ball_root")]
            q[joint.q][:3], v[joint.v][:3] = self._throw(rng)
        return q, v, ()

    @staticmethod
    def _throw(rng: Rng) -> tuple[ArrayLike, ArrayLike]:
        """Where the ball is and how it flies: from far away towards the middle, at most three metres high."""
        radius, azimuth, gravity = 7.5, rng.uniform(0.0, 2 * math.pi), 9.81
        there = np.array([math.sin(azimuth), math.cos(azimuth)])
        upward = math.sqrt(2 * gravity * rng.uniform(0.0, 3.0))
        along = rng.uniform(0.0, 5.0) * (0.05 * rng.standard_normal(2) - there)
        return [*(radius * there), 0.05], [*along, upward]

    def activations(self, rng: Rng, stage: Stage) -> ArrayLike:
        """See the base class."""
        low, high = stage.model.ctrl_range.T
        drawn: Array = low + (high - low) * rng.random(len(low))
        return drawn


def _damp_spinner(root: ET.Element, task: str) -> None:
    hinge = root.find(".//joint[@name='hinge']")
    if task == "finger-spin" and hinge is not None:
        hinge.set("damping", "0.03")


class Finger(SuiteOptions):
    """Joints anywhere, without penetration; the target anywhere on the circle of the tip."""

    domain = "finger"
    frames = 2
    contacts = True
    edits = (_damp_spinner,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        goal: ArrayLike = ()
        if self.task != "finger-spin":
            angle, radius = rng.uniform(-math.pi, math.pi), 0.13
            x, _, z = stage.simulation.body("spinner").position
            goal = (x + radius * math.sin(angle), z + radius * math.cos(angle))
        return stage.draw_free(lambda: _rest(stage, stage.randomized(rng), goal))


class Fish(SuiteOptions):
    """Any orientation, fins nearly straight; the target anywhere near."""

    domain = "fish"
    frames = 10

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q = stage.q0.copy()
        q[3:7] = unit(rng.standard_normal(4))
        q[7:] = rng.uniform(-0.2, 0.2, size=len(q) - 7)
        goal = rng.uniform([-0.4, -0.4, 0.1], [0.4, 0.4, 0.3]) if self.task == "fish-swim" else ()
        return _rest(stage, q, goal)


class Hopper(Randomized):
    """Joints anywhere."""

    domain = "hopper"
    frames = 4
    contacts = True


class Humanoid(RandomizedFree):
    """Joints anywhere, without penetration."""

    domain = "humanoid"
    frames = 5


class HumanoidCMU(RandomizedFree):
    """Joints anywhere, without penetration."""

    domain = "humanoid_CMU"
    frames = 10


def _add_masses(root: ET.Element, task: str) -> None:
    bodies, motors = (int(number) for number in task.removeprefix("lqr-lqr_").split("_"))
    parent = root.find("./worldbody")
    actuators, tendons = ET.SubElement(root, "actuator"), ET.SubElement(root, "tendon")
    for index in range(bodies):
        assert parent is not None
        body = ET.SubElement(parent, "body", {"name": f"body_{index}", "pos": ".25 0 .1" if index == 0 else ".25 0 0"})
        ET.SubElement(body, "joint", {"name": f"joint_{index}", "stiffness": "20", "damping": "0"})
        ET.SubElement(body, "geom", {"name": f"geom_{index}"})
        ET.SubElement(body, "site", {"name": f"site_{index}"})
        if index < motors:
            ET.SubElement(actuators, "motor", {"name": f"motor_{index}", "joint": f"joint_{index}"})
        if index < bodies - 1:
            string = ET.SubElement(tendons, "spatial", {"name": f"tendon_{index}"})
            ET.SubElement(string, "site", {"site": f"site_{index}"})
            ET.SubElement(string, "site", {"site": f"site_{index + 1}"})
        parent = body


class Lqr(SuiteOptions):
    """Positions anywhere on a sphere.

    All springs have 20 N/m; dm_control draws them between 15 and 25 when an environment is made.
    """

    domain = "lqr"
    edits = (_add_masses,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        return _rest(stage, math.sqrt(2.0) * unit(rng.standard_normal(stage.model.nq)))


def _keep_props(root: ET.Element, task: str) -> None:
    keep = {"peg", "target_peg", "slot"} if task.endswith("peg") else {"ball", "target_ball", "cup"}
    if "bring" in task:
        keep -= {"slot", "cup"}
    _remove(root, "body", {"ball", "target_ball", "cup", "peg", "target_peg", "slot"} - keep)


ARM = ("arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip")


def _draw_arm(rng: Rng, stage: Stage) -> Array:
    """The arm anywhere, its hand symmetric."""
    q = stage.q0.copy()
    for name in ARM:
        limits = stage.model.joints[stage.model.joint_index(name)].range
        q[stage.index(name)] = rng.uniform(*(limits or (-math.pi, math.pi)))
    q[stage.index("finger")] = q[stage.index("thumb")]
    return q


class Manipulator(SuiteOptions):
    """The arm anywhere; the object in the hand, at the target, or anywhere and on its way.

    A receptacle for it stands where the target is, somewhere else in every episode.
    """

    domain = "manipulator"
    frames = 10
    contacts = True
    edits = (_keep_props,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        name = "peg" if self.task.endswith("peg") else "ball"
        where = [stage.index(f"{name}_{axis}") for axis in "xzy"]
        most = math.pi / 3 if self.varies else math.pi

        def draw() -> Start:
            q, v = _draw_arm(rng, stage), np.zeros(stage.model.nv)
            goal = rng.uniform([-0.4, 0.1, -most], [0.4, 0.4, most])
            kind = rng.choice(3, p=[0.1, 0.1, 0.8])
            if kind == 0:
                grasp = stage.at(q).site("grasp")
                angle = math.pi - math.atan2(grasp.rotation[2, 0], grasp.rotation[0, 0])
                q[where] = grasp.position[0], grasp.position[2], angle
            elif kind == 1:
                q[where] = goal
            else:
                q[where] = rng.uniform([-0.5, 0.0, 0.0], [0.5, 0.7, 2 * math.pi])
                v[stage.model.joints[stage.model.joint_index(f"{name}_x")].v] = rng.uniform(-5.0, 5.0)
            return q, v, goal

        return stage.draw_free(draw)


class Pendulum(Randomized):
    """The angle anywhere."""

    domain = "pendulum"


class PointMass(SuiteOptions):
    """Anywhere within the limits; if hard, each control pushes in a direction of its own in every episode."""

    domain = "point_mass"

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        if not self.varies:
            return _rest(stage, stage.randomized(rng))
        q, first = stage.randomized(rng), unit(rng.standard_normal(2))
        second = first
        while abs(first @ second) > 0.9:
            second = unit(rng.standard_normal(2))
        return _rest(stage, q, np.concatenate([first, second]))


QUADRUPED_FLOORS = {"quadruped-walk": 10.0, "quadruped-run": 100.0, "quadruped-escape": 40.0}
"""Half extents, m; to fetch, that of the file."""


def _furnish_quadruped(root: ET.Element, task: str) -> None:
    """Leave out what the task does without."""
    if task in QUADRUPED_FLOORS:
        _set_floor(root, QUADRUPED_FLOORS[task], ".5")
    if task != "quadruped-fetch":
        _remove(root, "geom", {"wall_px", "wall_py", "wall_nx", "wall_ny"})
        _remove(root, "body", {"ball"})
        _remove(root, "site", {"target"})
    if task != "quadruped-escape":
        _remove(root, "geom", {"terrain"})
        sensors = root.find("sensor")
        assert sensors is not None
        for finder in sensors.findall("rangefinder"):
            sensors.remove(finder)


class Quadruped(SuiteOptions):
    """Any orientation, just above the ground, which to escape from is a bowl with other bumps in every episode.

    To fetch, turned anywhere in the arena, with a ball that flies.
    """

    domain = "quadruped"
    frames = 4
    edits = (_furnish_quadruped,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q, v, goal = stage.q0.copy(), np.zeros(stage.model.nv), np.zeros(0)
        q[:7] = 0.0, 0.0, 0.0, *unit(rng.standard_normal(4))
        if self.varies:
            goal = rng.uniform(0.15, 1.0, size=30 * 30)
        reach = 0.9 * 15.0
        if self.task == "quadruped-fetch":
            q[3:7] = turned(rng)
            q[:2] = rng.uniform(-reach, reach, size=2)
        q = stage.of(goal).lifted(q)
        if self.task == "quadruped-fetch":
            ball = stage.model.joints[stage.model.joint_index("ball_root")]
            q[ball.q][:3] = *rng.uniform(-reach, reach, size=2), 2.0
            v[ball.v][:2] = 5.0 * rng.standard_normal(2)
        return q, v, goal


class Reacher(SuiteOptions):
    """Joints anywhere, the target anywhere within reach."""

    domain = "reacher"

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q = stage.randomized(rng)
        angle, radius = rng.uniform(0.0, 2 * math.pi), rng.uniform(0.05, 0.2)
        return _rest(stage, q, (radius * math.sin(angle), radius * math.cos(angle)))


def _keep_boxes(root: ET.Element, task: str) -> None:
    _remove(root, "body", {f"box{index}" for index in range(int(task[-1]), 4)})


class Stacker(SuiteOptions):
    """The arm and the boxes anywhere, the target at a height of the stack."""

    domain = "stacker"
    frames = 10
    contacts = True
    edits = (_keep_boxes,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        boxes, size = int(self.task[-1]), 0.022

        def draw() -> Start:
            q, height = _draw_arm(rng, stage), size * (2 * rng.integers(boxes) + 1)
            goal = (rng.uniform(-0.37, 0.37), height)
            for index in range(boxes):
                where = [stage.index(f"box{index}_{axis}") for axis in "xzy"]
                q[where] = rng.uniform([0.1, 0.0, 0.0], [0.3, 0.7, 2 * math.pi])
            return _rest(stage, q, goal)

        return stage.draw_free(draw)


def _add_links(root: ET.Element, task: str) -> None:
    links = int(task.removeprefix("swimmer-swimmer"))
    parent = root.find("./worldbody/body")
    assert parent is not None
    actuators = ET.SubElement(root, "actuator")
    limit = 360.0 / links
    for index in range(links - 1):
        body = ET.SubElement(parent, "body", {"name": f"segment_{index}", "pos": "0 .1 0"})
        ET.SubElement(body, "geom", {"class": "visual", "name": f"visual_{index}"})
        ET.SubElement(body, "geom", {"class": "inertial", "name": f"inertial_{index}"})
        ET.SubElement(body, "site", {"name": f"site_{index}"})
        ET.SubElement(body, "joint", {"name": f"joint_{index}", "range": f"{-limit} {limit}"})
        ET.SubElement(actuators, "motor", {"name": f"motor_{index}", "joint": f"joint_{index}"})
        parent = body


class Swimmer(SuiteOptions):
    """Joints anywhere; the target near in a fifth of the episodes, else far."""

    domain = "swimmer"
    frames = 15
    edits = (_add_links,)

    def begin(self, rng: Rng, stage: Stage) -> Start:
        """See the base class."""
        q = stage.randomized(rng)
        reach = 0.3 if rng.random() < 0.2 else 2.0
        return _rest(stage, q, rng.uniform(-reach, reach, size=2))


class Walker(Randomized):
    """Joints anywhere."""

    domain = "walker"
    frames = 10


_TASKS: dict[type[SuiteOptions], tuple[str, ...]] = {
    Acrobot: ("swingup", "swingup_sparse"),
    BallInCup: ("catch",),
    Cartpole: ("balance", "balance_sparse", "swingup", "swingup_sparse", "two_poles", "three_poles"),
    Cheetah: ("run",),
    Dog: ("stand", "walk", "trot", "run", "fetch"),
    Finger: ("spin", "turn_easy", "turn_hard"),
    Fish: ("upright", "swim"),
    Hopper: ("stand", "hop"),
    Humanoid: ("stand", "walk", "run", "run_pure_state"),
    HumanoidCMU: ("stand", "walk", "run"),
    Lqr: ("lqr_2_1", "lqr_6_2"),
    Manipulator: ("bring_ball", "bring_peg", "insert_ball", "insert_peg"),
    Pendulum: ("swingup",),
    PointMass: ("easy", "hard"),
    Quadruped: ("walk", "run", "escape", "fetch"),
    Reacher: ("easy", "hard"),
    Stacker: ("stack_2", "stack_4"),
    Swimmer: ("swimmer6", "swimmer15"),
    Walker: ("stand", "walk", "run"),
}

_VARYING = {"manipulator-insert_ball", "manipulator-insert_peg", "point_mass-hard", "quadruped-escape"}


def _options_of(kind: type[SuiteOptions], task: str) -> type[SuiteOptions]:
    name = f"{kind.domain}-{task}"
    return type(f"{kind.__name__}Options", (kind,), {"task": name, "varies": name in _VARYING})


SUITE: dict[str, type[SuiteOptions]] = {
    f"{kind.domain}-{task}": _options_of(kind, task) for kind, tasks in _TASKS.items() for task in tasks
}
"""The options of each task, by dm_control's names of domain and task with a hyphen between."""
