"""Models made in code, and loaded models changed and put together.

::

    import sapwood as sw

    b = sw.ModelBuilder("pendulum")
    b.add_ground()
    rod = b.add_body("rod", position=(0, 0, 1))
    rod.add_joint("hinge", "revolute", axis=(0, 1, 0), damping=0.1)
    rod.add_geom("capsule", size=(0.02, 0.2), mass=0.5, position=(0, 0, -0.2))
    b.add_motor("motor", "hinge", ctrl_range=(-1, 1))
    sim = sw.Simulation(b.build())

Units are SI, angles radians, quaternions (w, x, y, z). Handles (:class:`BodyBuilder`, …) have properties that can be
assigned until the model is built; what is built does not change any more.
"""

# The limits of a joint are its range; values of whatever type are judged by the compiled half; arguments that are as
# those of another method are described there.
# ruff: noqa: A002, A003, ANN401, D417

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood._sapwood import Assembly, Model

JointKind: TypeAlias = Literal["revolute", "prismatic", "screw", "universal", "planar", "ball", "free"]
Shape: TypeAlias = Literal["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box"]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_DEFAULT_AXES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "revolute": (_Z,),
    "prismatic": (_Z,),
    "screw": (_Z,),
    "universal": (_X, _Y),
    "planar": (_X, _Y, _Z),
    "ball": (),
    "free": (),
}


class _Handle:
    """An element of a builder."""

    _kind = ""

    def __init__(self, builder: ModelBuilder, index: int) -> None:
        self._builder = builder
        self._index = index

    @property
    def index(self) -> int:
        """Index among the elements of its kind, in the order of addition."""
        return self._index

    @property
    def name(self) -> str:
        """Name; empty where it has none."""
        return self._builder._assembly.names(self._kind)[self._index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self._builder.name!r}>"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._builder is self._builder and other._index == self._index

    def __hash__(self) -> int:
        return hash((id(self._builder), self._kind, self._index))


class BodyBuilder(_Handle):
    """A body of a :class:`ModelBuilder`. Body 0 is the world."""

    _kind = "body"

    def _get(self, field: str) -> Any:
        return self._builder._assembly.get_body(self._index, field)

    def _set(self, field: str, value: object) -> None:
        if self._index == 0:
            raise ValueError(f"{field}: the world has none to be set: expected another body")
        with_context(f"body {self.name!r}", self._builder._assembly.set_body, self._index, field, value)

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin in the parent's frame, (3,), m; assign a whole new one."""
        return _fixed(self._get("position"))

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._set("position", value)

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the parent's frame, (w, x, y, z)."""
        return _fixed(self._get("quaternion"))

    @quaternion.setter
    def quaternion(self, value: ArrayLike) -> None:
        self._set("quaternion", value)

    @property
    def parent(self) -> BodyBuilder:
        """The body that it hangs from; the world is its own."""
        return BodyBuilder(self._builder, int(self._get("parent")))

    @property
    def mass(self) -> float:
        """Mass as it is now, its own or the sum of its geoms', kg."""
        return float(self._get("mass"))

    @property
    def com(self) -> NDArray[np.float64]:
        """Centre of mass in the body's frame, (3,), m."""
        return _fixed(self._get("com"))

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Inertia about the centre of mass in the body's axes, (3, 3), kg·m²."""
        return _fixed(self._get("inertia"))

    @property
    def gravity_compensation(self) -> float:
        """The share of its weight that is cancelled."""
        return float(self._get("gravity_compensation"))

    @gravity_compensation.setter
    def gravity_compensation(self, value: float) -> None:
        self._set("gravity_compensation", value)

    def set_inertia(self, mass: float, inertia: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Give the body an inertia of its own, whatever its geoms are.

        Args:
            mass: Mass, kg.
            inertia: About the centre of mass: the moments (3,), or the matrix (3, 3), kg·m².
            com: Centre of mass in the body's frame, (3,), m.
        """
        self._set("inertia", _inertia(mass, inertia, com))

    def inertia_from_geoms(self) -> None:
        """Take the inertia from the geoms that were added with mass or density."""
        self._set("inertia", None)

    def add_body(self, name: str = "", **properties: Any) -> BodyBuilder:
        """Add a body that hangs from this one: see :meth:`ModelBuilder.add_body`."""
        return self._builder.add_body(name, parent=self, **properties)

    def add_joint(
        self,
        name: str = "",
        kind: JointKind = "revolute",
        *,
        axis: ArrayLike | None = None,
        axes: ArrayLike | None = None,
        pitch: float | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        range: ArrayLike | None = None,
        reference: float = 0.0,
        spring_reference: float = 0.0,
        damping: float = 0.0,
        stiffness: float = 0.0,
        armature: float = 0.0,
        friction_loss: float = 0.0,
        effort_limit: float | None = None,
        limit_compliance: ArrayLike | None = None,
    ) -> JointBuilder:
        """Let the body move against its parent. Several joints act one after the other, in the order of addition.

        Args:
            name: Name.
            kind: ``"revolute"``, ``"prismatic"``, ``"screw"``, ``"universal"``, ``"planar"``, ``"ball"`` or ``"free"``.
            axis: Axis in the body's frame (revolute, prismatic, screw), (3,); z when None.
            axes: Two axes of a universal joint (2, 3), three of a planar one (two directions, then the axis) (3, 3).
            pitch: Of a screw, m/rad.
            position: The joint's point in the body's frame, (3,), m.
            range: Lower and upper limit, rad or m; of a ball (0, greatest angle).
            reference: The coordinate in the configuration that is drawn, rad or m.
            spring_reference: The coordinate at which the spring is at rest.
            damping: N·s/m or N·m·s/rad, on every degree of freedom.
            stiffness: N/m or N·m/rad.
            armature: Inertia of the drive, kg or kg·m².
            friction_loss: Coulomb friction, N or N·m.
            effort_limit: Greatest force of its drives, N or N·m.
            limit_compliance: (stiffness, relaxation time) of the limits, N/m or N·m/rad and s; near-rigid when None.

        Raises:
            ValueError: When an argument does not fit; it names the joint and the argument.
        """
        label = f"joint {name!r}"
        if self._index == 0:
            raise ValueError(f"{label}: the world does not move: expected a joint of another body")
        if kind not in _DEFAULT_AXES:
            raise ValueError(f"{label}: kind={kind!r}: expected one of {', '.join(map(repr, _DEFAULT_AXES))}")
        wanted = _axes(label, kind, axis, axes)
        if (pitch is None) == (kind == "screw"):
            expected = "expected the pitch of a screw, m/rad" if pitch is None else "expected it of a screw only"
            raise ValueError(f"{label}: pitch={pitch!r}: {expected}")
        self._builder._check_name("joint", name)
        fields = {
            "name": name,
            "position": position,
            "range": range,
            "reference": reference,
            "spring_reference": spring_reference,
            "damping": damping,
            "stiffness": stiffness,
            "armature": armature,
            "friction_loss": friction_loss,
            "effort_limit": effort_limit,
            "limit_compliance": limit_compliance,
        }
        pitch = 0.0 if pitch is None else _number(label, "pitch", pitch)
        add = self._builder._assembly.add_joint
        return JointBuilder(self._builder, with_context(label, add, self._index, kind, wanted, pitch, fields))

    def add_geom(
        self,
        shape: Shape,
        size: ArrayLike = (),
        *,
        name: str = "",
        mass: float | None = None,
        density: float | None = None,
        shell: bool = False,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        friction: float = 1.0,
        **properties: Any,
    ) -> GeomBuilder:
        """Add a shape. A body without an inertia of its own has the sum of those of its geoms.

        Args:
            shape: ``"plane"``, ``"sphere"``, ``"capsule"``, ``"cylinder"``, ``"ellipsoid"`` or ``"box"``.
            size: Half extents of a box; semi-axes of an ellipsoid; radius of a sphere; radius and half length of a
                capsule or cylinder, along z; half extents of a plane, for pictures (0, the default: infinite). m
            name: Name.
            mass: Mass, kg.
            density: Density, kg/m³ (kg/m² with ``shell``); 1000 when neither mass nor density is given.
            shell: Whether the mass is on the surface.
            position: Origin in the body's frame, (3,), m.
            quaternion: Orientation in the body's frame, (w, x, y, z).
            euler: Or turns about x, y, z, each about the axis as turned so far, rad.
            friction: Coulomb coefficient; a pair takes the larger of the two.
            **properties: ``torsional_friction`` and ``rolling_friction`` (m), ``contype``, ``conaffinity``, ``margin``
                (m), ``color`` (3 or 4 numbers from 0 to 1), ``compliance`` (stiffness in N/m and relaxation time in s;
                None: near-rigid), ``priority``.

        Raises:
            ValueError: When an argument does not fit; it names the geom and the argument.
        """
        label = f"geom {name!r}" if name else f"geom of body {self.name!r}"
        sizes = np.atleast_1d(np.asarray(size, dtype=float)).tolist() if np.size(size) else []
        if shape == "plane" and not sizes:
            sizes = [0.0, 0.0]
        weight = self._weight(label, mass, density, shell)
        fields = self._geom_fields(label, name, position, quaternion, euler, friction, properties)
        add = self._builder._assembly.add_primitive
        return GeomBuilder(self._builder, with_context(label, add, self._index, shape, sizes, weight, fields))

    def add_mesh(
        self,
        mesh: str | os.PathLike[str] | tuple[ArrayLike, ArrayLike | None],
        *,
        name: str = "",
        scale: ArrayLike = (1.0, 1.0, 1.0),
        mass: float | None = None,
        density: float | None = None,
        shell: bool = False,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        friction: float = 1.0,
        **properties: Any,
    ) -> GeomBuilder:
        """Add a triangle mesh. Contacts see its convex hull.

        Args:
            mesh: A file (STL, OBJ, COLLADA, MSH), or vertices (n, 3) in m and faces (m, 3) counter-clockwise seen from
                outside; faces may be None for the convex hull of the vertices.
            name: Name of the geom and of the mesh.
            scale: Factors along x, y, z, or one for all.
            mass, density, shell, position, quaternion, euler, friction, properties: As :meth:`add_geom`.

        Raises:
            ValueError: When an argument does not fit.
        """
        label = f"mesh {name!r}" if name else f"mesh of body {self.name!r}"
        factors = np.broadcast_to(np.asarray(scale, dtype=float), (3,)) if np.ndim(scale) == 0 else scale
        weight = self._weight(label, mass, density, shell)
        fields = self._geom_fields(label, name, position, quaternion, euler, friction, properties)
        assembly, title = self._builder._assembly, name or "mesh"
        if isinstance(mesh, tuple):
            if len(mesh) != 2:
                raise ValueError(f"{label}: mesh has {len(mesh)} parts: expected (vertices, faces)")
            vertices, faces = np.asarray(mesh[0], dtype=float), mesh[1]
            if vertices.ndim != 2 or vertices.shape[1] != 3:
                raise ValueError(f"{label}: vertices has shape {vertices.shape}: expected (n, 3)")
            vertices = vertices * np.asarray(factors, dtype=float)
            triangles = None if faces is None else np.asarray(faces)
            if triangles is not None and (triangles.dtype.kind not in "iu" or triangles.ndim != 2):
                found = f"shape {triangles.shape} of {triangles.dtype}"
                raise ValueError(f"{label}: faces has {found}: expected integers of shape (m, 3)")
            triangles = None if triangles is None else np.ascontiguousarray(triangles, dtype=np.int64)
            index = with_context(label, assembly.add_mesh, self._index, title, vertices, triangles, weight, fields)
        else:
            path = os.fspath(mesh)
            index = with_context(label, assembly.add_mesh_file, self._index, title, path, factors, weight, fields)
        return GeomBuilder(self._builder, index)

    def add_height_field(
        self,
        heights: ArrayLike,
        half_extents: ArrayLike,
        *,
        name: str = "",
        base: float = 1.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        friction: float = 1.0,
        **properties: Any,
    ) -> GeomBuilder:
        """Add heights over a grid, linear on triangles.

        Args:
            heights: (rows, columns), rows from −y, columns from −x, m above the geom's origin.
            half_extents: Along x and y, (2,), m.
            name: Name.
            base: Thickness below height 0, m.
            position, quaternion, euler, friction, properties: As :meth:`add_geom`.
        """
        label = f"height field {name!r}"
        values = np.asarray(heights, dtype=float)
        half = _vector(label, "half_extents", half_extents, 2)
        fields = self._geom_fields(label, name, position, quaternion, euler, friction, properties)
        add = self._builder._assembly.add_height_field
        title = name or "hfield"
        index = with_context(label, add, self._index, title, values, half, _number(label, "base", base), fields)
        return GeomBuilder(self._builder, index)

    def add_site(
        self,
        name: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        *,
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
    ) -> SiteBuilder:
        """Add a frame of interest, fixed in the body."""
        label = f"site {name!r}"
        self._builder._check_name("site", name)
        turn = _turn(label, quaternion, euler)
        add = self._builder._assembly.add_site
        return SiteBuilder(self._builder, with_context(label, add, self._index, name, position, turn))

    def attach(self, model: Model | ModelBuilder, prefix: str = "", **place: Any) -> BodyBuilder | None:
        """Attach a whole model here: see :meth:`ModelBuilder.attach`."""
        return self._builder.attach(model, to=self, prefix=prefix, **place)

    def _weight(
        self, label: str, mass: float | None, density: float | None, shell: bool
    ) -> tuple[float | None, float | None, bool]:
        if mass is not None and density is not None:
            raise ValueError(f"{label}: mass and density are both given: expected one of them")
        if (mass or density) and self._index and self._builder._assembly.has_inertia(self._index):
            name = "mass" if mass else "density"
            expected = "expected none (change it by body.set_inertia, or call body.inertia_from_geoms)"
            raise ValueError(f"{label}: {name}: the body has an inertia of its own: {expected}")
        return (
            None if mass is None else _number(label, "mass", mass),
            None if density is None else _number(label, "density", density),
            bool(shell),
        )

    def _geom_fields(
        self,
        label: str,
        name: str,
        position: ArrayLike,
        quaternion: ArrayLike | None,
        euler: ArrayLike | None,
        friction: float,
        properties: dict[str, Any],
    ) -> dict[str, Any]:
        self._builder._check_name("geom", name)
        known = ("torsional_friction", "rolling_friction", "contype", "conaffinity", "margin", "color", "compliance")
        for key in properties:
            if key not in (*known, "priority"):
                raise TypeError(f"{label}: {key}: expected one of {', '.join((*known, 'priority'))}")
        turn = _turn(label, quaternion, euler)
        return {"name": name, "position": position, "quaternion": turn, "friction": friction, **properties}


class JointBuilder(_Handle):
    """A joint of a :class:`ModelBuilder`; its properties can be assigned."""

    _kind = "joint"

    def _get(self, field: str) -> Any:
        return self._builder._assembly.get_joint(self._index, field)

    def _set(self, field: str, value: object) -> None:
        with_context(f"joint {self.name!r}", self._builder._assembly.set_joint, self._index, field, value)

    @property
    def kind(self) -> str:
        """Kind of motion."""
        return str(self._get("kind"))

    @property
    def body(self) -> BodyBuilder:
        """The body that it moves."""
        return BodyBuilder(self._builder, int(self._get("body")))

    @property
    def range(self) -> tuple[float, float] | None:
        """Limits, rad or m; None without."""
        return cast("tuple[float, float] | None", self._get("range"))

    @range.setter
    def range(self, value: ArrayLike | None) -> None:
        self._set("range", value)

    @property
    def effort_limit(self) -> float | None:
        """Greatest force of its drives, N or N·m; None without."""
        return cast("float | None", self._get("effort_limit"))

    @effort_limit.setter
    def effort_limit(self, value: float | None) -> None:
        self._set("effort_limit", value)

    @property
    def damping(self) -> float:
        """N·s/m or N·m·s/rad."""
        return float(self._get("damping"))

    @damping.setter
    def damping(self, value: float) -> None:
        self._set("damping", value)

    @property
    def stiffness(self) -> float:
        """N/m or N·m/rad."""
        return float(self._get("stiffness"))

    @stiffness.setter
    def stiffness(self, value: float) -> None:
        self._set("stiffness", value)

    @property
    def armature(self) -> float:
        """Inertia of the drive, kg or kg·m²."""
        return float(self._get("armature"))

    @armature.setter
    def armature(self, value: float) -> None:
        self._set("armature", value)

    @property
    def friction_loss(self) -> float:
        """Coulomb friction, N or N·m."""
        return float(self._get("friction_loss"))

    @friction_loss.setter
    def friction_loss(self, value: float) -> None:
        self._set("friction_loss", value)

    @property
    def reference(self) -> float:
        """The coordinate in the configuration that is drawn, rad or m."""
        return float(self._get("reference"))

    @property
    def spring_reference(self) -> float:
        """The coordinate at which the spring is at rest, rad or m."""
        return float(self._get("spring_reference"))

    @spring_reference.setter
    def spring_reference(self, value: float) -> None:
        self._set("spring_reference", value)


class GeomBuilder(_Handle):
    """A geom of a :class:`ModelBuilder`; its properties can be assigned."""

    _kind = "geom"

    def _get(self, field: str) -> Any:
        return self._builder._assembly.get_geom(self._index, field)

    def _set(self, field: str, value: object) -> None:
        with_context(f"geom {self.name!r}", self._builder._assembly.set_geom, self._index, field, value)

    @property
    def shape(self) -> str:
        """Shape."""
        return str(self._get("shape"))

    @property
    def body(self) -> BodyBuilder:
        """The body that it is fixed in."""
        return BodyBuilder(self._builder, int(self._get("body")))

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin in the body's frame, (3,), m."""
        return _fixed(self._get("position"))

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._set("position", value)

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the body's frame, (w, x, y, z)."""
        return _fixed(self._get("quaternion"))

    @quaternion.setter
    def quaternion(self, value: ArrayLike) -> None:
        self._set("quaternion", value)

    @property
    def friction(self) -> float:
        """Coulomb coefficient."""
        return float(self._get("friction"))

    @friction.setter
    def friction(self, value: float) -> None:
        self._set("friction", value)

    @property
    def contype(self) -> int:
        """Two geoms may touch when one's contype and the other's conaffinity share a bit."""
        return int(self._get("contype"))

    @contype.setter
    def contype(self, value: int) -> None:
        self._set("contype", value)

    @property
    def conaffinity(self) -> int:
        """See :attr:`contype`."""
        return int(self._get("conaffinity"))

    @conaffinity.setter
    def conaffinity(self, value: int) -> None:
        self._set("conaffinity", value)

    @property
    def color(self) -> NDArray[np.float64]:
        """Red, green, blue, opacity, from 0 to 1."""
        return _fixed(self._get("color"))

    @color.setter
    def color(self, value: ArrayLike) -> None:
        self._set("color", value)


class SiteBuilder(_Handle):
    """A site of a :class:`ModelBuilder`."""

    _kind = "site"

    @property
    def body(self) -> BodyBuilder:
        """The body that it is fixed in."""
        return BodyBuilder(self._builder, self._builder._assembly.site(self._index)[0])

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin in the body's frame, (3,), m."""
        return _fixed(self._builder._assembly.site(self._index)[1])

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the body's frame, (w, x, y, z)."""
        return _fixed(self._builder._assembly.site(self._index)[2])


class ActuatorBuilder(_Handle):
    """An actuator of a :class:`ModelBuilder`: force = gain·ctrl + bias[0] + bias[1]·length + bias[2]·velocity."""

    _kind = "actuator"

    @property
    def gain(self) -> float:
        """Force per unit of control."""
        return self._builder._assembly.get_actuator(self._index)[0][0]

    @property
    def bias(self) -> tuple[float, ...]:
        """Constant force, force per unit of length, force per unit of velocity."""
        return tuple(self._builder._assembly.get_actuator(self._index)[0][1:])

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
    """A fixed tendon of a :class:`ModelBuilder`."""

    _kind = "tendon"


class EqualityBuilder(_Handle):
    """An equality constraint of a :class:`ModelBuilder`."""

    _kind = "equality"


class ModelBuilder:
    """A model in the making.

    Args:
        name: Name of the model.
        gravity: Acceleration of gravity, (3,), m/s².
        timestep: Suggested time step, s.

    Raises:
        ValueError: When an argument does not fit; it names the argument.
    """

    def __init__(self, name: str = "model", *, gravity: ArrayLike = (0.0, 0.0, -9.81), timestep: float = 0.002) -> None:
        self._assembly = Assembly(name)
        self.gravity = gravity
        self.timestep = timestep

    @classmethod
    def from_model(cls, model: Model) -> ModelBuilder:
        """A loaded model, to be changed and built again."""
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
        return _fixed(self._assembly.get("gravity"))

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

        Raises:
            ValueError: When an argument does not fit; it names the body and the argument.
        """
        label = f"body {name!r}"
        self._check_name("body", name)
        above = 0 if parent is None else self._index("body", parent, f"{label}: parent")
        if (mass is None) != (inertia is None):
            given, other = ("inertia", "mass") if mass is None else ("mass", "inertia")
            raise ValueError(f"{label}: {given} without {other}: expected both, or neither and geoms with mass")
        if com is not None and mass is None:
            raise ValueError(f"{label}: com without mass and inertia: expected all three")
        own = None
        if mass is not None and inertia is not None:
            own = with_context(label, _inertia, mass, inertia, (0.0, 0.0, 0.0) if com is None else com)
        fields = {
            "name": name,
            "position": position,
            "quaternion": _turn(label, quaternion, euler),
            "inertia": own,
            "gravity_compensation": gravity_compensation,
        }
        return BodyBuilder(self, with_context(label, self._assembly.add_body, above, fields))

    def add_ground(self, *, name: str = "ground", height: float = 0.0, friction: float = 1.0) -> GeomBuilder:
        """Add level ground, infinite, at this height, m."""
        return self.world.add_geom("plane", name=name, position=(0.0, 0.0, height), friction=friction)

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
            raise TypeError(f"model is of type {type(model).__name__}: expected sapwood.Model or sapwood.ModelBuilder")
        turn = _turn("attach", quaternion, euler)
        place = _vector("attach", "position", position, 3)
        if isinstance(to, SiteBuilder):
            self._own(to, "attach: to")
            body, origin, own = self._assembly.site(to.index)
            place = np.asarray(origin) + _rotated(own, place)
            turn = _product(own, turn)
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
            on: A joint or its name, or a tendon.
            gear: Factor of the force; of a ball or free joint one number for each degree of freedom.
            **ranges: ``ctrl_range`` and ``force_range``, each (lower, upper).
        """
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
        label = f"actuator {name!r}"
        kp, kd = _at_least_zero(label, "kp", kp), _at_least_zero(label, "kd", kd)
        return self.add_actuator(name, on, gain=kp, bias=(0.0, -kp, -kd), gear=gear, **ranges)

    def add_velocity_servo(
        self, name: str, on: JointBuilder | TendonBuilder | str, *, kd: float, gear: ArrayLike = 1.0, **ranges: Any
    ) -> ActuatorBuilder:
        """Add a servo: force = kd (ctrl − velocity), N·s/m or N·m·s/rad."""
        kd = _at_least_zero(f"actuator {name!r}", "kd", kd)
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
    ) -> ActuatorBuilder:
        """Add an actuator: force = gain·ctrl + bias[0] + bias[1]·length + bias[2]·velocity, times the gear."""
        label = f"actuator {name!r}"
        self._check_name("actuator", name)
        if isinstance(on, TendonBuilder):
            kind, target = "tendon", self._index("tendon", on, f"{label}: on")
        else:
            kind, target = "joint", self._index("joint", on, f"{label}: on")
        law = [_number(label, "gain", gain), *_vector(label, "bias", bias, 3).tolist()]
        gears = np.atleast_1d(_floats(label, "gear", gear)).tolist()
        add = self._assembly.add_actuator
        return ActuatorBuilder(self, with_context(label, add, name, kind, target, gears, law, ctrl_range, force_range))

    def add_tendon(
        self,
        name: str,
        terms: Mapping[JointBuilder | str, float],
        *,
        range: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        friction_loss: float = 0.0,
        armature: float = 0.0,
    ) -> TendonBuilder:
        """Add a fixed tendon: length = Σ coefficient · coordinate.

        Args:
            name: Name.
            terms: Coefficients by joint (with one coordinate) or its name.
            range: Limits of the length.
            rest: Lengths between which its spring is slack; the length at the joints' spring references when None.
            stiffness, damping, friction_loss, armature: Along the length.
        """
        label = f"tendon {name!r}"
        self._check_name("tendon", name)
        if not terms:
            raise ValueError(f"{label}: terms is empty: expected at least one joint")
        pairs = [
            (self._index("joint", joint, f"{label}: terms"), _number(label, "terms", c)) for joint, c in terms.items()
        ]
        for joint, _ in pairs:
            self._check_scalar(JointBuilder(self, joint), label)
        parameters = [stiffness, damping, friction_loss, armature]
        return TendonBuilder(self, with_context(label, self._assembly.add_tendon, name, pairs, range, rest, parameters))

    def add_connect(
        self,
        body1: BodyBuilder | str,
        body2: BodyBuilder | str | None = None,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        position2: ArrayLike | None = None,
        name: str = "",
        active: bool = True,
        compliance: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Hold two points together.

        Args:
            body1, body2: The bodies or their names; the second is the world when None.
            position: The point in the first body's frame, (3,), m.
            position2: That in the second's; where the first lies in the default configuration when None.
            name: Name.
            active: Whether it is in force.
            compliance: (stiffness in N/m, relaxation time in s); near-rigid when None.
        """
        label = f"connect {name!r}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        index = with_context(label, self._assembly.add_connect, name, bodies, position, position2)
        return self._finish(label, index, active, compliance)

    def add_weld(
        self,
        body1: BodyBuilder | str,
        body2: BodyBuilder | str | None = None,
        *,
        anchor: ArrayLike = (0.0, 0.0, 0.0),
        position: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        euler: ArrayLike | None = None,
        name: str = "",
        active: bool = True,
        compliance: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Hold two frames together.

        Args:
            body1, body2: The bodies or their names; the second is the world when None.
            anchor: Origin of the frame in the second body, which has that body's axes, (3,), m.
            position, quaternion, euler: That frame in the first body; where it is in the default configuration when
                position is None.
            name, active, compliance: As :meth:`add_connect`.
        """
        label = f"weld {name!r}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        if position is None and (quaternion is not None or euler is not None):
            raise ValueError(f"{label}: an orientation without position: expected both, or neither")
        pose = None if position is None else (position, _turn(label, quaternion, euler))
        index = with_context(label, self._assembly.add_weld, name, bodies, anchor, pose)
        return self._finish(label, index, active, compliance)

    def add_distance(
        self,
        body1: BodyBuilder | str,
        body2: BodyBuilder | str | None = None,
        *,
        distance: float | None = None,
        position1: ArrayLike = (0.0, 0.0, 0.0),
        position2: ArrayLike = (0.0, 0.0, 0.0),
        name: str = "",
        active: bool = True,
        compliance: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Keep two points at a distance, m; that of the default configuration when None."""
        label = f"distance {name!r}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        anchors = [
            _vector(label, "position1", position1, 3).tolist(),
            _vector(label, "position2", position2, 3).tolist(),
        ]
        length = None if distance is None else _number(label, "distance", distance)
        index = with_context(label, self._assembly.add_distance, name, bodies, anchors, length)
        return self._finish(label, index, active, compliance)

    def add_coupling(
        self,
        y: JointBuilder | TendonBuilder | str,
        x: JointBuilder | TendonBuilder | str | None = None,
        *,
        polynomial: Sequence[float] = (0.0, 1.0),
        name: str = "",
        active: bool = True,
        compliance: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Couple coordinates: y − y₀ = p(x − x₀), of joints (or names of joints) or tendons, from their references.

        Args:
            y, x: Joints with one coordinate, or tendons; without an x the coordinate y is held at p(0).
            polynomial: Coefficients of p, up to five, the constant first.
            name, active, compliance: As :meth:`add_connect`.
        """
        label = f"coupling {name!r}"
        self._check_name("equality", name)
        first = self._coordinate(label, "y", y)
        second = None if x is None else self._coordinate(label, "x", x)
        coefficients = np.atleast_1d(_floats(label, "polynomial", polynomial)).tolist()
        index = with_context(label, self._assembly.add_coupling, name, first, second, coefficients)
        return self._finish(label, index, active, compliance)

    def exclude(self, body1: BodyBuilder | str, body2: BodyBuilder | str) -> None:
        """Let the geoms of two bodies never touch."""
        self._assembly.exclude(*self._two_bodies("exclude", body1, body2))

    def add_pair(self, geom1: GeomBuilder | str, geom2: GeomBuilder | str, **surface: Any) -> None:
        """Let two geoms touch whatever their bits say, with a surface of their own: properties as of a geom."""
        geoms = [self._index("geom", geom1, "pair: geom1"), self._index("geom", geom2, "pair: geom2")]
        with_context("pair", self._assembly.add_pair, geoms, surface)

    def add_keyframe(
        self,
        name: str,
        *,
        q: Mapping[JointBuilder | str, ArrayLike] | None = None,
        v: Mapping[JointBuilder | str, ArrayLike] | None = None,
        ctrl: Mapping[ActuatorBuilder | str, float] | None = None,
        time: float = 0.0,
    ) -> None:
        """Name a state; what it says nothing of has its default.

        Args:
            name: Name.
            q: Coordinates by joint or its name.
            v: Velocities by joint or its name.
            ctrl: Controls by actuator or its name.
            time: Time, s.
        """
        label = f"keyframe {name!r}"
        self._check_name("keyframe", name)
        positions = dict(self._by_joint(label, "q", "nq", q or {}))
        velocities = dict(self._by_joint(label, "v", "nv", v or {}))
        controls = {
            self._index("actuator", key, f"{label}: ctrl"): _number(label, "ctrl", value)
            for key, value in (ctrl or {}).items()
        }
        self._assembly.add_keyframe(name, _number(label, "time", time), positions, velocities, controls)

    def build(self) -> Model:
        """The model as it is now. The builder can be changed further and built again.

        Raises:
            ModelError: When something is missing or does not fit; it names the element.
        """
        return self._assembly.build()

    def __repr__(self) -> str:
        names = self._assembly.names
        counts = ", ".join(f"{len(names(kind))} {kind}s" for kind in ("geom", "joint", "actuator"))
        return f"<sapwood.ModelBuilder {self.name!r}: {len(names('body'))} bodies, {counts}>"

    def _by_joint(
        self, label: str, argument: str, size: str, values: Mapping[JointBuilder | str, ArrayLike]
    ) -> list[tuple[int, list[float]]]:
        found = []
        for key, value in values.items():
            joint = self._index("joint", key, f"{label}: {argument}")
            numbers = np.atleast_1d(_floats(label, argument, value))
            expected = int(self._assembly.get_joint(joint, size))
            if numbers.shape != (expected,):
                name = self._assembly.names("joint")[joint]
                raise ValueError(
                    f"{label}: {argument} of joint {name!r} has shape {numbers.shape}: expected ({expected},)"
                )
            found.append((joint, numbers.tolist()))
        return found

    def _coordinate(self, label: str, argument: str, of: JointBuilder | TendonBuilder | str) -> tuple[str, int]:
        if isinstance(of, TendonBuilder):
            return "tendon", self._index("tendon", of, f"{label}: {argument}")
        joint = self._index("joint", of, f"{label}: {argument}")
        self._check_scalar(JointBuilder(self, joint), f"{label}: {argument}")
        return "joint", joint

    def _check_scalar(self, joint: JointBuilder, label: str) -> None:
        if joint._get("nv") != 1:
            raise ValueError(f"{label}: joint {joint.name!r} is {joint.kind}: expected a joint with one coordinate")

    def _two_bodies(self, label: str, body1: BodyBuilder | str, body2: BodyBuilder | str | None) -> list[int]:
        first = self._index("body", body1, f"{label}: body1")
        second = 0 if body2 is None else self._index("body", body2, f"{label}: body2")
        if first == second:
            raise ValueError(f"{label}: body1 and body2 are both {self._assembly.names('body')[first]!r}: expected two")
        return [first, second]

    def _finish(self, label: str, index: int, active: bool, compliance: ArrayLike | None) -> EqualityBuilder:
        with_context(label, self._assembly.set_equality, index, bool(active), compliance)
        return EqualityBuilder(self, index)

    def _own(self, handle: _Handle, argument: str) -> None:
        if handle._builder is not self:
            raise ValueError(f"{argument} is of another builder: expected an element of {self.name!r}")

    def _index(self, kind: str, of: object, argument: str) -> int:
        if isinstance(of, str):
            return self._find(kind, of, argument)
        if isinstance(of, _Handle) and of._kind == kind:
            self._own(of, argument)
            return of.index
        raise TypeError(f"{argument} is of type {type(of).__name__}: expected a {kind} of this builder, or its name")

    def _find(self, kind: str, name: str, argument: str = "name") -> int:
        names = self._assembly.names(kind)
        if name and name in names:
            return names.index(name)
        known = ", ".join(repr(n) for n in names if n) or "none with a name"
        raise ValueError(f"{argument}: there is no {kind} {name!r}; the builder has {known}")

    def _check_name(self, kind: str, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name of a {kind} is of type {type(name).__name__}: expected str")
        if name and name in self._assembly.names(kind):
            raise ValueError(f"{kind} {name!r}: there is a {kind} of this name already: expected another name")


def with_context(label: str, call: Any, *arguments: Any) -> Any:
    """Call, and put what it was about before the text of an error."""
    try:
        return call(*arguments)
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(label) else f"{label}: {text}") from None
    except TypeError as error:
        raise TypeError(f"{label}: {error}") from None


def _fixed(values: object) -> NDArray[np.float64]:
    """A copy that cannot be written to: an element of it is no way to change the model."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def _floats(label: str, name: str, value: object) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{label}: {name} is {value!r}: expected numbers") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{label}: {name} is {value!r}: expected finite numbers")
    return array


def _number(label: str, name: str, value: object) -> float:
    array = _floats(label, name, value)
    if array.shape != ():
        raise ValueError(f"{label}: {name} has shape {array.shape}: expected one number")
    return float(array)


def _at_least_zero(label: str, name: str, value: object) -> float:
    number = _number(label, name, value)
    if number < 0:
        raise ValueError(f"{label}: {name} is {number}: expected 0 or more")
    return number


def _vector(label: str, name: str, value: object, size: int) -> NDArray[np.float64]:
    array = _floats(label, name, value)
    if array.shape != (size,):
        raise ValueError(f"{label}: {name} has shape {array.shape}: expected ({size},)")
    return array


def _inertia(mass: object, inertia: object, com: object) -> NDArray[np.float64]:
    """Mass, centre of mass and rows of the inertia, in one array."""
    matrix = _floats("inertia", "inertia", inertia)
    if matrix.shape == (3,):
        matrix = np.diag(matrix)
    if matrix.shape != (3, 3):
        raise ValueError(f"inertia has shape {matrix.shape}: expected (3,) or (3, 3)")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ValueError("inertia is not symmetric: expected a symmetric matrix")
    return np.concatenate([[_number("inertia", "mass", mass)], _vector("inertia", "com", com, 3), matrix.ravel()])


def _axes(label: str, kind: str, axis: ArrayLike | None, axes: ArrayLike | None) -> list[list[float]]:
    """The axes that a kind of joint needs."""
    count = len(_DEFAULT_AXES[kind])
    wanted = "axis" if count == 1 else "axes"
    for name, value in (("axis", axis), ("axes", axes)):
        if value is not None and (count == 0 or name != wanted):
            expected = f"expected {wanted} of a {kind} joint" if count else f"expected none of a {kind} joint"
            raise ValueError(f"{label}: {name} is given: {expected}")
    if axis is None and axes is None:
        return [list(default) for default in _DEFAULT_AXES[kind]]
    if axis is not None:
        found = _vector(label, "axis", axis, 3)[None]
    else:
        found = _floats(label, "axes", axes)
        if found.shape != (count, 3):
            raise ValueError(f"{label}: axes has shape {found.shape}: expected ({count}, 3)")
    if (np.linalg.norm(found, axis=1) == 0).any():
        raise ValueError(f"{label}: {wanted} of zero length: expected a direction")
    return cast("list[list[float]]", found.tolist())


def _turn(label: str, quaternion: ArrayLike | None, euler: ArrayLike | None) -> NDArray[np.float64]:
    """An orientation as a quaternion."""
    if quaternion is not None and euler is not None:
        raise ValueError(f"{label}: quaternion and euler are both given: expected one of them")
    if euler is not None:
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        for k, angle in enumerate(_vector(label, "euler", euler, 3)):
            step = np.zeros(4)
            step[0], step[1 + k] = np.cos(angle / 2), np.sin(angle / 2)
            turn = _product(turn, step)
        return turn
    if quaternion is None:
        return np.array([1.0, 0.0, 0.0, 0.0])
    found = _vector(label, "quaternion", quaternion, 4)
    if not np.any(found):
        raise ValueError(f"{label}: quaternion is zero: expected (w, x, y, z) of length 1")
    return found


def _product(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """The product of two quaternions."""
    p, q = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], vector])


def _rotated(quaternion: ArrayLike, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector turned by a unit quaternion."""
    q = np.asarray(quaternion, dtype=float)
    t = 2.0 * np.cross(q[1:], vector)
    return np.asarray(vector + q[0] * t + np.cross(q[1:], t), dtype=np.float64)
