"""What bodies and joints of a builder carry: joints, geoms, sites, actuators, tendons, equality constraints."""

# The limits of a joint are its range.
# ruff: noqa: A003

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.builder._checks import fixed, number_of, vector_of, with_context
from sapwood.builder._element import Number, Numbers, Polynomial, Whole, _Element, _Handle

if TYPE_CHECKING:
    from sapwood.builder._bodies import BodyBuilder


class JointBuilder(_Element):
    """A joint of a :class:`ModelBuilder`; its properties can be assigned."""

    _kind = "joint"

    @property
    def kind(self) -> str:
        """Kind of motion."""
        return str(self._get("kind"))

    @property
    def body(self) -> BodyBuilder:
        """The body that it moves."""
        return self._builder._body_at(int(self._get("body")))

    @property
    def range(self) -> tuple[float, float] | None:
        """Limits, rad or m; None without."""
        return cast("tuple[float, float] | None", self._get("range"))

    @range.setter
    def range(self, value: ArrayLike | None) -> None:
        self._set("range", value)

    @property
    def effort_limit(self) -> float | tuple[float, float] | None:
        """Greatest force of its drives, N or N·m, or the least and the greatest where they differ; None without."""
        return cast("float | tuple[float, float] | None", self._get("effort_limit"))

    @effort_limit.setter
    def effort_limit(self, value: float | ArrayLike | None) -> None:
        self._set("effort_limit", value)

    damping = Polynomial("N·s/m or N·m·s/rad; (d, d0, d1) where the force is (d + d0 abs(v) + d1 v²) v.")
    stiffness = Polynomial("N/m or N·m/rad; (k, s0, s1) where the force is (k + s0 x + s1 x²) x.")

    armature = Number("Inertia of the drive, kg or kg·m².")
    friction_loss = Number("Coulomb friction, N or N·m.")

    @property
    def reference(self) -> float:
        """The coordinate in the configuration that is drawn, rad or m."""
        return float(self._get("reference"))

    spring_reference = Number("The coordinate at which the spring is at rest, rad or m.")


class GeomBuilder(_Element):
    """A geom of a :class:`ModelBuilder`; its properties can be assigned."""

    _kind = "geom"

    @property
    def shape(self) -> str:
        """Shape."""
        return str(self._get("shape"))

    @property
    def body(self) -> BodyBuilder:
        """The body that it is fixed in."""
        return self._builder._body_at(int(self._get("body")))

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin in the body's frame, (3,), m."""
        return fixed(self._get("position"))

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._set("position", value)

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the body's frame, (w, x, y, z)."""
        return fixed(self._get("quaternion"))

    @quaternion.setter
    def quaternion(self, value: ArrayLike) -> None:
        self._set("quaternion", value)

    friction = Number("Coulomb coefficient.")
    torsional_friction = Number("Greatest torque about the normal over normal force, m.")
    rolling_friction = Number("Greatest torque about a tangent over normal force, m.")
    margin = Number("Distance that counts as contact, m.")
    mix = Number("Weight of its solref and solimp in those of a pair.")
    priority = Whole("Of two geoms the surface of the one with the higher priority counts alone.")
    contype = Whole("Two geoms may touch when one's contype and the other's conaffinity share a bit.")

    conaffinity = Whole("See :attr:`contype`.")

    fluid = Numbers(
        "How strongly a medium acts on it as an ellipsoid, five coefficients; None where it counts as none."
    )
    solref = Numbers(
        "How contact springs, as in MJCF, two numbers; None of what is near-rigid or has a stiffness in N/m."
    )
    solimp = Numbers("How strongly contact is held, as in MJCF, five numbers; see :attr:`solref`.")

    @property
    def color(self) -> NDArray[np.float64]:
        """Red, green, blue, opacity, from 0 to 1."""
        return fixed(self._get("color"))

    @color.setter
    def color(self, value: ArrayLike) -> None:
        self._set("color", value)


class SiteBuilder(_Handle):
    """A site of a :class:`ModelBuilder`."""

    _kind = "site"

    @property
    def body(self) -> BodyBuilder:
        """The body that it is fixed in."""
        return self._builder._body_at(self._builder._assembly.site(self._index)[0])

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin in the body's frame, (3,), m."""
        return fixed(self._builder._assembly.site(self._index)[1])

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the body's frame, (w, x, y, z)."""
        return fixed(self._builder._assembly.site(self._index)[2])


class ActuatorBuilder(_Handle):
    """An actuator of a :class:`ModelBuilder`: force = gain·ctrl + bias[0] + bias[1]·length + bias[2]·velocity."""

    _kind = "actuator"

    @property
    def gain(self) -> float:
        """Force per unit of control."""
        return self._builder._assembly.get_actuator(self._index)[0][0]

    @gain.setter
    def gain(self, value: float) -> None:
        law, ctrl, force = self._builder._assembly.get_actuator(self._index)
        law = [number_of(f"actuator {self.name!r}", "gain", value), *law[1:]]
        with_context(f"actuator {self.name!r}", self._builder._assembly.set_actuator, self._index, law, ctrl, force)

    @property
    def bias(self) -> tuple[float, ...]:
        """Constant force, force per unit of length, force per unit of velocity."""
        return tuple(self._builder._assembly.get_actuator(self._index)[0][1:])

    @bias.setter
    def bias(self, value: ArrayLike) -> None:
        law, ctrl, force = self._builder._assembly.get_actuator(self._index)
        law = [law[0], *vector_of(f"actuator {self.name!r}", "bias", value, 3).tolist()]
        with_context(f"actuator {self.name!r}", self._builder._assembly.set_actuator, self._index, law, ctrl, force)

    @property
    def delay(self) -> float:
        """How long its control takes to act, s."""
        delay = self._builder._assembly.get_delay(self._index)
        return 0.0 if delay is None else delay[0]

    @property
    def ctrl_range(self) -> tuple[float, float] | None:
        """Controls are clamped to this range."""
        return self._builder._assembly.get_actuator(self._index)[1]

    @ctrl_range.setter
    def ctrl_range(self, value: ArrayLike | None) -> None:
        law, _, force = self._builder._assembly.get_actuator(self._index)
        with_context(f"actuator {self.name!r}", self._builder._assembly.set_actuator, self._index, law, value, force)

    @property
    def force_range(self) -> tuple[float, float] | None:
        """Forces, before the gear, are clamped to this range."""
        return self._builder._assembly.get_actuator(self._index)[2]

    @force_range.setter
    def force_range(self, value: ArrayLike | None) -> None:
        law, ctrl, _ = self._builder._assembly.get_actuator(self._index)
        with_context(f"actuator {self.name!r}", self._builder._assembly.set_actuator, self._index, law, ctrl, value)


class TendonBuilder(_Handle):
    """A tendon of a :class:`ModelBuilder`."""

    _kind = "tendon"


class EqualityBuilder(_Handle):
    """An equality constraint of a :class:`ModelBuilder`."""

    _kind = "equality"


class SensorBuilder(_Handle):
    """A sensor of a :class:`ModelBuilder`."""

    _kind = "sensor"


class CameraBuilder(_Handle):
    """A camera of a :class:`ModelBuilder`."""

    _kind = "camera"


class KeyframeBuilder(_Handle):
    """A keyframe of a :class:`ModelBuilder`."""

    _kind = "keyframe"
