"""Bodies of a builder, and what may be added to them."""

# The limits of a joint are its range; values of whatever type are judged by the compiled half; arguments that are as
# those of another method are described there.
# ruff: noqa: A002, ANN401, D417

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood._sapwood import Model
from sapwood.builder._checks import (
    DEFAULT_AXES,
    KINDS,
    MADE_OTHERWISE,
    SHAPES,
    JointKind,
    Shape,
    axes_of,
    fixed,
    floats,
    inertia_of,
    meant,
    number_of,
    segment_of,
    shown,
    turn_of,
    unexpected,
    vector_of,
    with_context,
)
from sapwood.builder._element import Number, Numbers, Whole, _Element
from sapwood.builder._elements import GeomBuilder, JointBuilder, SiteBuilder

if TYPE_CHECKING:
    from sapwood.builder._model import ModelBuilder


_PLACE = ("name", "position", "quaternion", "euler", "friction", "mass", "density", "shell")
# What can be assigned to a geom can be said of one that is added.
_SURFACE = (
    *(
        name
        for name, of in vars(GeomBuilder).items()
        if isinstance(of, (Number, Numbers, Whole)) and name not in _PLACE
    ),
    "color",
    "compliance",
)


class BodyBuilder(_Element):
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
        return fixed(self._get("position"))

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._set("position", value)

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation in the parent's frame, (w, x, y, z)."""
        return fixed(self._get("quaternion"))

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
        return fixed(self._get("com"))

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Inertia about the centre of mass in the body's axes, (3, 3), kg·m²."""
        return fixed(self._get("inertia"))

    gravity_compensation = Number("The share of its weight that is cancelled.")

    @property
    def mocap(self) -> bool:
        """Whether it is moved from outside: a child of the world without joints of its own."""
        return bool(self._get("mocap"))

    @mocap.setter
    def mocap(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"body {self.name!r}: mocap is {shown(value)}: expected True or False")
        self._set("mocap", bool(value))

    def set_inertia(self, mass: float, inertia: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Give the body an inertia of its own, whatever its geoms are.

        Args:
            mass: Mass, kg.
            inertia: About the centre of mass: the moments (3,), or the matrix (3, 3), kg·m².
            com: Centre of mass in the body's frame, (3,), m.
        """
        self._set("inertia", inertia_of(mass, inertia, com))

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
        damping: float | ArrayLike = 0.0,
        stiffness: float | ArrayLike = 0.0,
        armature: float = 0.0,
        friction_loss: float = 0.0,
        effort_limit: float | ArrayLike | None = None,
        limit_compliance: ArrayLike | None = None,
        limit_solref: ArrayLike | None = None,
        limit_solimp: ArrayLike | None = None,
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
            damping: N·s/m or N·m·s/rad, on every degree of freedom; (d, d0, d1) for a force (d + d0 abs(v) + d1 v²) v.
            stiffness: N/m or N·m/rad; (k, s0, s1) for a force (k + s0 x + s1 x²) x.
            armature: Inertia of the drive, kg or kg·m².
            friction_loss: Coulomb friction, N or N·m.
            effort_limit: Greatest sum of the forces of its drives, N or N·m, or (least, greatest).
            limit_compliance: (stiffness, relaxation time) of the limits, N/m or N·m/rad and s; near-rigid when None.
            limit_solref, limit_solimp: In its place how limits yield as in MJCF, up to 2 and 5 numbers.

        Raises:
            ValueError: When an argument does not fit; it names the joint and the argument.
        """
        label = f"joint {shown(name)}"
        if self._index == 0:
            raise ValueError(f"{label}: the world does not move: expected a joint of another body")
        if self.mocap:
            expected = f"sim.body({shown(self.name)}).position = …; body.mocap = False, if a joint is to move it"
            raise ValueError(f"{label}: the body is moved from outside: {expected}")
        if kind not in DEFAULT_AXES:
            raise ValueError(f"{label}: kind={shown(kind)}: {meant(kind, KINDS, list(DEFAULT_AXES))}")
        wanted = axes_of(label, kind, axis, axes)
        if (pitch is None) == (kind == "screw"):
            expected = "expected the pitch of a screw, m/rad" if pitch is None else "expected it of a screw only"
            raise ValueError(f"{label}: pitch={shown(pitch)}: {expected}")
        self._builder._check_name("joint", name)
        if kind == "revolute" and _are_degrees(range):
            expected = "a limit of a revolute joint in radians, np.deg2rad(range) if these are degrees"
            warnings.warn(f"{label}: range is {shown(range)}: expected {expected}", UserWarning, stacklevel=3)
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
            **{
                name: of
                for name, of in (("limit_solref", limit_solref), ("limit_solimp", limit_solimp))
                if of is not None
            },
        }
        pitch = 0.0 if pitch is None else number_of(label, "pitch", pitch)
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
        fromto: ArrayLike | None = None,
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
            fromto: In place of position, orientation and length: the ends of the axis of a capsule, cylinder, ellipsoid
                or box, (6,), m, as MJCF has them; ``size`` is then the radius alone, or the half width.
            friction: Coulomb coefficient; a pair takes the larger of the two.
            **properties: ``torsional_friction`` and ``rolling_friction`` (m), ``contype``, ``conaffinity``, ``margin``
                (m), ``color`` (3 or 4 numbers from 0 to 1), ``compliance`` (stiffness in N/m and relaxation time in s;
                None: near-rigid) or ``solref`` and ``solimp`` as in MJCF (up to 2 and 5 numbers) with ``mix`` (their
                weight in those of a pair, 1), ``priority``, ``fluid`` (True: in a medium the geom counts as an
                ellipsoid; or its coefficients: drag of what faces the flow, of what does not, of rotation, Kutta's
                lift, Magnus's lift).

        Raises:
            ValueError: When an argument does not fit; it names the geom and the argument.
        """
        label = f"geom {shown(name)}" if name else f"geom of body {self.name!r}"
        if shape not in SHAPES:
            raise ValueError(f"{label}: shape={shown(shape)}: {meant(shape, MADE_OTHERWISE, SHAPES)}")
        sizes: list[float] = np.atleast_1d(floats(label, "size", size)).tolist()
        if shape == "plane" and not sizes:
            sizes = [0.0, 0.0]
        if fromto is not None:
            if np.any(position) or quaternion is not None or euler is not None:
                raise ValueError(f"{label}: fromto is given with a position or an orientation: expected one of them")
            sizes, position, quaternion = segment_of(label, shape, sizes, fromto)
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
        label = f"mesh {shown(name)}" if name else f"mesh of body {self.name!r}"
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
        label = f"height field {shown(name)}" if name else f"height field of body {self.name!r}"
        values = np.asarray(heights, dtype=float)
        half = vector_of(label, "half_extents", half_extents, 2)
        fields = self._geom_fields(label, name, position, quaternion, euler, friction, properties)
        add = self._builder._assembly.add_height_field
        title = name or "hfield"
        index = with_context(label, add, self._index, title, values, half, number_of(label, "base", base), fields)
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
        label = f"site {shown(name)}"
        self._builder._check_name("site", name)
        turn = turn_of(label, quaternion, euler)
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
            None if mass is None else number_of(label, "mass", mass),
            None if density is None else number_of(label, "density", density),
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
        for key in properties:
            if key not in _SURFACE:
                raise TypeError(f"{label}: {unexpected(key, [*_PLACE, *_SURFACE])}")
        if np.size(friction) == 3:
            expected = (
                "expected that of sliding; torsional_friction and rolling_friction (m) have arguments of their own"
            )
            raise ValueError(f"{label}: friction has 3 coefficients: {expected}")
        turn = turn_of(label, quaternion, euler)
        return {"name": name, "position": position, "quaternion": turn, "friction": friction, **properties}


def _are_degrees(limits: object) -> bool:
    """Whether limits of an angle are beyond two turns, and whole numbers, which radians rarely are."""
    try:
        ends = np.asarray(limits, dtype=float)
    except (TypeError, ValueError):
        return False
    ends = ends[np.isfinite(ends)]
    return bool((np.abs(ends) > 4 * np.pi).any() and (ends == np.round(ends)).all())
