"""The builder itself."""

# The limits of a joint are its range; values of whatever type are judged by the compiled half; arguments that are as
# those of another method are described there.
# ruff: noqa: ANN401, D417

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import ceil
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood._sapwood import Assembly, Model, SoftBody, load
from sapwood.builder._bodies import BodyBuilder
from sapwood.builder._checks import (
    at_least_zero,
    fixed,
    floats,
    inertia_of,
    number_of,
    product,
    rotated,
    shown,
    turn_of,
    unexpected,
    vector_of,
    with_context,
)
from sapwood.builder._constraints import Constraints
from sapwood.builder._elements import (
    ActuatorBuilder,
    CameraBuilder,
    EqualityBuilder,
    GeomBuilder,
    JointBuilder,
    KeyframeBuilder,
    SensorBuilder,
    SiteBuilder,
    TendonBuilder,
)
from sapwood.builder._soft import SoftBodyBuilder

FILES = (".xml", ".mjcf", ".urdf", ".sdf", ".xacro")
_FROM_FILE = "ModelBuilder.from_model(sw.load(file))"
_PART = "sapwood.Model, of sw.load(file), or sapwood.ModelBuilder"


class ModelBuilder(Constraints):
    """A model in the making.

    Args:
        name: Name of the model.
        gravity: Acceleration of gravity, (3,), m/s².
        timestep: Suggested time step, s.

    Raises:
        ValueError: When an argument does not fit; it names the argument.
    """

    def __init__(self, name: str = "model", *, gravity: ArrayLike = (0.0, 0.0, -9.81), timestep: float = 0.002) -> None:
        if isinstance(name, str | PathLike) and (str(name).lstrip().startswith("<") or str(name).endswith(FILES)):
            raise ValueError(f"name is {shown(name)}: expected a name; a file is {_FROM_FILE}")
        self._assembly = Assembly(name)
        self._removals = []
        self._mjcf: list[str] = []
        self.gravity = gravity
        self.timestep = timestep

    @classmethod
    def from_model(cls, model: Model) -> ModelBuilder:
        """A loaded model, to be changed and built again."""
        if not isinstance(model, Model):
            raise TypeError(f"model is of type {type(model).__name__}: expected sapwood.Model; a file is {_FROM_FILE}")
        builder = cls()
        builder._assembly = Assembly.of(model)
        return builder

    @property
    def name(self) -> str:
        """Name of the model."""
        return str(self._assembly.get("name"))

    @name.setter
    def name(self, value: str) -> None:
        self._assembly.set("name", value)

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Acceleration of gravity, (3,), m/s²; assign a whole new one."""
        return fixed(self._assembly.get("gravity"))

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._assembly.set("gravity", value)

    @property
    def timestep(self) -> float:
        """Suggested time step, s."""
        return float(self._assembly.get("timestep"))

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._assembly.set("timestep", value)

    @property
    def world(self) -> BodyBuilder:
        """The world, to which fixed geoms and sites belong."""
        return BodyBuilder(self, 0)

    @property
    def bodies(self) -> list[BodyBuilder]:
        """The bodies, the world first, in the order of addition."""
        return [BodyBuilder(self, index) for index in range(len(self._assembly.names("body")))]

    @property
    def joints(self) -> list[JointBuilder]:
        """The joints, in the order of addition."""
        return [JointBuilder(self, index) for index in range(len(self._assembly.names("joint")))]

    @property
    def geoms(self) -> list[GeomBuilder]:
        """The geoms, in the order of addition."""
        return [GeomBuilder(self, index) for index in range(len(self._assembly.names("geom")))]

    @property
    def soft_bodies(self) -> list[SoftBodyBuilder]:
        """The soft bodies, in the order of addition."""
        return [SoftBodyBuilder(self, index) for index in range(len(self._assembly.names("soft body")))]

    def _body_at(self, index: int) -> BodyBuilder:
        return BodyBuilder(self, index)

    def body(self, name: str) -> BodyBuilder:
        """The body of this name."""
        return BodyBuilder(self, self._find("body", name))

    def joint(self, name: str) -> JointBuilder:
        """The joint of this name."""
        return JointBuilder(self, self._find("joint", name))

    def geom(self, name: str) -> GeomBuilder:
        """The geom of this name."""
        return GeomBuilder(self, self._find("geom", name))

    def site(self, name: str) -> SiteBuilder:
        """The site of this name."""
        return SiteBuilder(self, self._find("site", name))

    def actuator(self, name: str) -> ActuatorBuilder:
        """The actuator of this name."""
        return ActuatorBuilder(self, self._find("actuator", name))

    def tendon(self, name: str) -> TendonBuilder:
        """The tendon of this name."""
        return TendonBuilder(self, self._find("tendon", name))

    def soft_body(self, name: str) -> SoftBodyBuilder:
        """The soft body of this name."""
        return SoftBodyBuilder(self, self._find("soft body", name))

    def equality(self, name: str) -> EqualityBuilder:
        """The equality constraint of this name."""
        return EqualityBuilder(self, self._find("equality", name))

    def sensor(self, name: str) -> SensorBuilder:
        """The sensor of this name, of a model that was loaded or attached."""
        return SensorBuilder(self, self._find("sensor", name))

    def camera(self, name: str) -> CameraBuilder:
        """The camera of this name, of a model that was loaded or attached."""
        return CameraBuilder(self, self._find("camera", name))

    def keyframe(self, name: str) -> KeyframeBuilder:
        """The keyframe of this name."""
        return KeyframeBuilder(self, self._find("keyframe", name))

    def add_mjcf(self, elements: str) -> None:
        """Add sections of MJCF, such as ``<sensor>``, ``<actuator>`` or ``<asset>``, when the model is built.

        They may name elements of the builder, and have what no method here adds: sensors, muscles, cameras of the
        world, materials. The model then has to be one that MJCF can say: see ``Model.to_mjcf``.

        Args:
            elements: Text that stands within ``<mujoco>``: ``'<sensor><gyro name="imu" site="imu"/></sensor>'``.

        Raises:
            TypeError: When it is no text.
        """
        if not isinstance(elements, str):
            raise TypeError(f"elements is of type {type(elements).__name__}: expected MJCF text")
        self._mjcf.append(elements)

    def add_body(
        self,
        name: str = "",
        parent: BodyBuilder | str | None = None,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        com: ArrayLike | None = None,
        gravity_compensation: float = 0.0,
        mocap: bool = False,
    ) -> BodyBuilder:
        """Add a body. Without joints it moves with its parent.

        Args:
            name: Name.
            parent: The body that it hangs from, or its name; the world when None.
            position: Origin in the parent's frame, (3,), m.
            quaternion: Orientation in the parent's frame, (w, x, y, z).
            euler: Or turns about x, y, z, each about the axis as turned so far, rad.
            mass, inertia, com: An inertia of its own, as :meth:`BodyBuilder.set_inertia` takes it; from its geoms
                when mass and inertia are None.
            gravity_compensation: The share of its weight that is cancelled.
            mocap: Whether it is moved from outside, ``sim.body(name).position = ...``: a child of the world,
                without joints of its own.

        Raises:
            ValueError: When an argument does not fit; it names the body and the argument.
        """
        label = f"body {shown(name)}"
        self._check_name("body", name)
        above = 0 if parent is None else self._index("body", parent, f"{label}: parent")
        if (mass is None) != (inertia is None):
            given, other = ("inertia", "mass") if mass is None else ("mass", "inertia")
            raise ValueError(f"{label}: {given} without {other}: expected both, or neither and geoms with mass")
        if com is not None and mass is None:
            raise ValueError(f"{label}: com without mass and inertia: expected all three")
        own = None
        if mass is not None and inertia is not None:
            own = with_context(label, inertia_of, mass, inertia, (0.0, 0.0, 0.0) if com is None else com)
        fields = {
            "name": name,
            "position": position,
            "quaternion": turn_of(label, quaternion, euler),
            "inertia": own,
            "gravity_compensation": gravity_compensation,
            "mocap": mocap,
        }
        return BodyBuilder(self, with_context(label, self._assembly.add_body, above, fields))

    def add_ground(self, *, name: str = "ground", height: float = 0.0, friction: float = 1.0) -> GeomBuilder:
        """Add level ground, infinite, at this height, m."""
        return self.world.add_geom("plane", name=name, position=(0.0, 0.0, height), friction=friction)

    def add_soft_body(
        self,
        name: str,
        soft_body: SoftBody,
        parent: BodyBuilder | str | None = None,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        pinned: ArrayLike | None = None,
        friction: float = 1.0,
        radius: float = 0.0,
        color: ArrayLike | None = None,
        self_contact: bool = False,
    ) -> SoftBodyBuilder:
        """Add a soft body. Nothing holds it but what is said here or by :meth:`SoftBodyBuilder.attach`.

        Args:
            name: Name.
            soft_body: What it is: ``sw.SoftBody.ball(0.04, 6, young=5e4)``.
            parent: The body in whose frame it is placed, and which holds pinned nodes, or its name; the world when
                None.
            position: Where the origin of its mesh is in that frame, (3,), m.
            quaternion: Orientation, (w, x, y, z).
            euler: Or turns about x, y, z, each about the axis as turned so far, rad.
            pinned: Nodes that the parent holds: indices, or booleans (n,).
            friction: Coefficient of friction.
            radius: Contact begins at this distance from its surface, m.
            color: Red, green, blue, and opacity if it is said, from 0 to 1.
            self_contact: Whether its surface may touch itself.

        Raises:
            ValueError: When an argument does not fit; it names the soft body and the argument.
        """
        label = f"soft body {shown(name)}"
        self._check_name("soft body", name)
        if not isinstance(soft_body, SoftBody):
            raise TypeError(f"{label}: soft_body is of type {type(soft_body).__name__}: expected sapwood.SoftBody")
        body = 0 if parent is None else self._index("body", parent, f"{label}: parent")
        fields: dict[str, Any] = {"name": name, "friction": friction, "radius": radius, "self_contact": self_contact}
        fields |= {key: value for key, value in (("color", color), ("pinned", pinned)) if value is not None}
        place = vector_of(label, "position", position, 3)
        turn = turn_of(label, quaternion, euler)
        add = self._assembly.add_soft_body
        return SoftBodyBuilder(self, with_context(label, add, body, soft_body, place, turn, fields))

    def attach(
        self,
        model: Model | ModelBuilder,
        to: BodyBuilder | SiteBuilder | str | None = None,
        *,
        prefix: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
    ) -> BodyBuilder | None:
        """Attach a whole model: what stands in its world comes to stand in a body of this one, actuators and all.

        Gravity, medium, magnetic field, view and time step stay those of this model; a medium that is lost, or a
        magnetic field that a sensor measures, is a ``UserWarning``. Cameras, sensors and keyframes come along; what
        keyframes say nothing of has its default.

        Args:
            model: A loaded model, or another builder.
            to: A body or a site, or the name of a body; the world when None.
            prefix: Comes before all names of the attached model.
            position: Where its world's origin comes to lie, in the frame of the body or site, (3,), m.
            quaternion: And its orientation, (w, x, y, z).
            euler: Or turns about x, y, z, each about the axis as turned so far, rad.

        Returns:
            The first of its bodies; None when it has no body.

        Raises:
            ValueError: When an argument does not fit, or a name with its prefix is taken already.
        """
        if isinstance(model, ModelBuilder):
            model = model.build()
        if not isinstance(model, Model):
            raise TypeError(f"model is of type {type(model).__name__}: expected {_PART}")
        turn = turn_of("attach", quaternion, euler)
        place = vector_of("attach", "position", position, 3)
        if isinstance(to, SiteBuilder):
            self._own(to, "attach: to")
            body, origin, own = self._assembly.site(to.index)
            place = np.asarray(origin) + rotated(own, place)
            turn = product(own, turn)
        else:
            body = 0 if to is None else self._index("body", to, "attach: to")
        first = with_context("attach", self._assembly.attach, model, body, place, turn, prefix)
        return BodyBuilder(self, first) if first < len(self._assembly.names("body")) else None

    def add_motor(
        self, name: str, on: JointBuilder | TendonBuilder | str, *, gear: ArrayLike = 1.0, **ranges: Any
    ) -> ActuatorBuilder:
        """Add a drive whose force, before the gear, is its control.

        Args:
            name: Name.
            on: A joint or a tendon, or its name.
            gear: Factor of the force; of a ball or free joint one number for each degree of freedom.
            **ranges: ``ctrl_range``, ``force_range``, ``delay``, ``samples`` and ``reading`` as of
                :meth:`add_actuator`.
        """
        _check_ranges("add_motor", name, "gear", ranges)
        return self.add_actuator(name, on, gear=gear, **ranges)

    def add_position_servo(
        self,
        name: str,
        on: JointBuilder | TendonBuilder | str,
        *,
        kp: float,
        kd: float = 0.0,
        gear: ArrayLike = 1.0,
        **ranges: Any,
    ) -> ActuatorBuilder:
        """Add a servo: force = kp (ctrl − length) − kd velocity, N/m or N·m/rad."""
        _check_ranges("add_position_servo", name, "kp, kd, gear", ranges)
        label = f"actuator {shown(name)}"
        kp, kd = at_least_zero(label, "kp", kp), at_least_zero(label, "kd", kd)
        return self.add_actuator(name, on, gain=kp, bias=(0.0, -kp, -kd), gear=gear, **ranges)

    def add_velocity_servo(
        self, name: str, on: JointBuilder | TendonBuilder | str, *, kd: float, gear: ArrayLike = 1.0, **ranges: Any
    ) -> ActuatorBuilder:
        """Add a servo: force = kd (ctrl − velocity), N·s/m or N·m·s/rad."""
        _check_ranges("add_velocity_servo", name, "kd, gear", ranges)
        kd = at_least_zero(f"actuator {shown(name)}", "kd", kd)
        return self.add_actuator(name, on, gain=kd, bias=(0.0, 0.0, -kd), gear=gear, **ranges)

    def add_actuator(
        self,
        name: str,
        on: JointBuilder | TendonBuilder | str,
        *,
        gain: float = 1.0,
        bias: ArrayLike = (0.0, 0.0, 0.0),
        gear: ArrayLike = 1.0,
        ctrl_range: ArrayLike | None = None,
        force_range: ArrayLike | None = None,
        delay: float = 0.0,
        samples: int | None = None,
        reading: str = "latest",
    ) -> ActuatorBuilder:
        """Add an actuator: force = gain·ctrl + bias[0] + bias[1]·length + bias[2]·velocity, times the gear.

        Args:
            name: Name.
            on: A joint or a tendon, or its name.
            gain: Force per unit of control.
            bias: Constant force, force per unit of length and of velocity, (3,).
            gear: Factor of the force; of a ball or free joint one number for each degree of freedom.
            ctrl_range: Controls are clamped to (lower, upper).
            force_range: Forces, before the gear, are clamped to (lower, upper).
            delay: How long a control takes to act, s.
            samples: Of how many time steps controls are kept; as many as the delay has of the builder's present
                ``timestep`` when None. Shorter steps, of the builder later or of a simulation, shorten the delay.
            reading: How a control is read between two that were given: ``"latest"``, ``"linear"`` or ``"cubic"``.
        """
        label = f"actuator {shown(name)}"
        self._check_name("actuator", name)
        if isinstance(on, SiteBuilder):
            expected = (
                f"expected a joint or a tendon; b.add_mjcf('<actuator><general site=\"{on.name}\" …/></actuator>')"
            )
            raise TypeError(f"{label}: on is a site: {expected}")
        kind = "tendon" if isinstance(on, TendonBuilder) or self._is_tendon_alone(on) else "joint"
        target = self._index(kind, on, f"{label}: on")
        law = [number_of(label, "gain", gain), *vector_of(label, "bias", bias, 3).tolist()]
        gears = np.atleast_1d(floats(label, "gear", gear)).tolist()
        add = self._assembly.add_actuator
        delayed = self._delay(label, delay, samples, reading)
        made = with_context(label, add, name, kind, target, gears, law, ctrl_range, force_range, delayed)
        return ActuatorBuilder(self, made)

    def _delay(self, label: str, delay: float, samples: int | None, reading: str) -> tuple[float, int, str] | None:
        time = at_least_zero(label, "delay", delay)
        if time == 0.0:
            return None
        if samples is None:
            samples = self._samples_of(time)
        elif isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
            raise ValueError(f"{label}: samples is {shown(samples)}: expected a whole number of 1 or more")
        return time, samples, reading

    def _warn_of_short_memories(self) -> None:
        """Warn of controls that are forgotten before they act, as the time step was made shorter after their count."""
        for actuator, name in enumerate(self._assembly.names("actuator")):
            time, samples, _ = self._assembly.get_delay(actuator) or (0.0, 0, "")
            reach = samples * self.timestep
            if reach < time * (1 - 1e-9):
                message = (
                    f"actuator {shown(name)}: {samples} samples at steps of {self.timestep:g} s reach back {reach:g} s "
                    f"and controls act after that, not after the delay of {time:g} s: add it after b.timestep = …, "
                    f"or with samples={self._samples_of(time)}"
                )
                warnings.warn(message, stacklevel=3)

    def _samples_of(self, delay: float) -> int:
        # Sums of steps are not multiples of one to the last digit.
        return max(1, ceil(delay / self.timestep * (1 - 1e-9)))

    def _is_tendon_alone(self, name: object) -> bool:
        """Whether a name is that of a tendon, and not of a joint."""
        return name not in self._assembly.names("joint") and name in self._assembly.names("tendon")

    def add_keyframe(
        self,
        name: str,
        *,
        q: Mapping[JointBuilder | str, ArrayLike] | None = None,
        v: Mapping[JointBuilder | str, ArrayLike] | None = None,
        ctrl: Mapping[ActuatorBuilder | str, float] | None = None,
        mocap: Mapping[BodyBuilder | str, ArrayLike] | None = None,
        time: float = 0.0,
    ) -> KeyframeBuilder:
        """Name a state; what it says nothing of has its default.

        Args:
            name: Name.
            q: Coordinates by joint or its name.
            v: Velocities by joint or its name.
            ctrl: Controls by actuator or its name.
            mocap: Where bodies are that are moved from outside, by body or its name: position (3), m, then the
                quaternion w x y z.
            time: Time, s.
        """
        label = f"keyframe {shown(name)}"
        self._check_name("keyframe", name)
        positions = dict(self._by_joint(label, "q", "nq", q or {}))
        velocities = dict(self._by_joint(label, "v", "nv", v or {}))
        controls = {
            self._index("actuator", key, f"{label}: ctrl"): number_of(label, "ctrl", value)
            for key, value in (ctrl or {}).items()
        }
        poses = {}
        for key, value in (mocap or {}).items():
            pose = vector_of(label, "mocap", value, 7)
            pose[3:] = turn_of(f"{label}: mocap", pose[3:], None) / np.linalg.norm(pose[3:])
            poses[self._index("body", key, f"{label}: mocap")] = pose.tolist()
        at = number_of(label, "time", time)
        with_context(label, self._assembly.add_keyframe, name, at, positions, velocities, controls, poses)
        return KeyframeBuilder(self, len(self._assembly.names("keyframe")) - 1)

    def build(self) -> Model:
        """The model as it is now. The builder can be changed further and built again.

        Warns:
            UserWarning: Where the samples of a delayed actuator do not reach back to its delay.

        Raises:
            ModelError: When something is missing or does not fit; it names the element.
        """
        model = self._assembly.build()
        self._warn_of_short_memories()
        if not self._mjcf:
            return model
        text, end = model.to_mjcf(), "</mujoco>"
        return load("\n".join([text[: text.rindex(end)], *self._mjcf, end]))

    def __copy__(self) -> ModelBuilder:
        """A builder of the same elements, independent of this one."""
        twin = ModelBuilder()
        twin._assembly = self._assembly.copy()
        twin._removals, twin._mjcf = list(self._removals), list(self._mjcf)
        return twin

    def __deepcopy__(self, memo: dict[int, object]) -> ModelBuilder:
        """The same; handles that are copied along with it are of the copy."""
        twin = memo[id(self)] = self.__copy__()
        return twin

    def __repr__(self) -> str:
        names = self._assembly.names
        counts = ", ".join(f"{len(names(kind))} {kind}s" for kind in ("geom", "joint", "actuator"))
        return f"<sapwood.ModelBuilder {self.name!r}: {len(names('body'))} bodies, {counts}>"

    def _by_joint(
        self, label: str, argument: str, size: str, values: Mapping[JointBuilder | str, ArrayLike]
    ) -> list[tuple[int, list[float]]]:
        found: list[tuple[int, list[float]]] = []
        for key, value in values.items():
            joint = self._index("joint", key, f"{label}: {argument}")
            numbers = np.atleast_1d(floats(label, argument, value))
            expected = int(self._assembly.get_joint(joint, size))
            if numbers.shape != (expected,):
                name = self._assembly.names("joint")[joint]
                raise ValueError(
                    f"{label}: {argument} of joint {name!r} has shape {numbers.shape}: expected ({expected},)"
                )
            found.append((joint, numbers.tolist()))
        return found


def _check_ranges(method: str, name: str, others: str, ranges: Mapping[str, Any]) -> None:
    """Refuse what ``add_actuator`` would refuse, in the name of the method that was called."""
    known = [*others.split(", "), "ctrl_range", "force_range", "delay", "samples", "reading"]
    for key in ranges:
        if key not in known:
            raise TypeError(f"actuator {shown(name)}: {method}: {unexpected(key, known)}")
