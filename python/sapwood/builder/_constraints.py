"""What a builder lets tie bodies and joints together: tendons, equality constraints, pairs of geoms."""

# The limits of a tendon are its range; arguments that are as those of another method are described there.
# ruff: noqa: A002, ANN401, D417

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from sapwood.builder._bodies import BodyBuilder
from sapwood.builder._checks import floats, number_of, shown, turn_of, vector_of, with_context
from sapwood.builder._elements import EqualityBuilder, GeomBuilder, JointBuilder, SiteBuilder, TendonBuilder
from sapwood.builder._lookup import Lookup

if TYPE_CHECKING:
    from sapwood.builder._model import ModelBuilder


PathElement: TypeAlias = SiteBuilder | str | GeomBuilder | tuple[GeomBuilder | str, SiteBuilder | str] | float
"""Something that a spatial tendon passes."""
Branch: TypeAlias = tuple[float, list[tuple[str, int, int | None]]]


class Constraints(Lookup):
    """The half of a :class:`ModelBuilder` that ties elements together."""

    @property
    def _builder(self) -> ModelBuilder:
        return cast("ModelBuilder", self)

    def add_tendon(
        self,
        name: str,
        terms: Mapping[JointBuilder | str, float],
        *,
        range: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        stiffness: float | ArrayLike = 0.0,
        damping: float | ArrayLike = 0.0,
        friction_loss: float = 0.0,
        armature: float = 0.0,
    ) -> TendonBuilder:
        """Add a fixed tendon: length = Σ coefficient · coordinate.

        Args:
            name: Name.
            terms: Coefficients by joint (with one coordinate) or its name.
            range: Limits of the length.
            rest: Lengths between which its spring is slack; the length at the joints' spring references when None.
            stiffness, damping, friction_loss, armature: Along the length; stiffness and damping also as
                (k, s0, s1) and (d, d0, d1), as those of joints.
        """
        label = f"tendon {shown(name)}"
        self._check_name("tendon", name)
        if not terms:
            raise ValueError(f"{label}: terms is empty: expected at least one joint")
        pairs = [
            (self._index("joint", joint, f"{label}: terms"), number_of(label, "terms", c)) for joint, c in terms.items()
        ]
        for joint, _ in pairs:
            self._check_scalar(JointBuilder(self._builder, joint), label)
        parameters = [stiffness, damping, friction_loss, armature]
        add = self._assembly.add_tendon
        return TendonBuilder(self._builder, with_context(label, add, name, pairs, range, rest, parameters))

    def add_spatial_tendon(
        self,
        name: str,
        path: Sequence[PathElement],
        *,
        range: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        stiffness: float | ArrayLike = 0.0,
        damping: float | ArrayLike = 0.0,
        friction_loss: float = 0.0,
        armature: float = 0.0,
        radius: float = 0.003,
        color: ArrayLike = (0.5, 0.5, 0.5),
        group: int = 0,
    ) -> TendonBuilder:
        """Add a string; its length is that of the shortest way along its path, m.

        Args:
            name: Name.
            path: What it passes, in order: sites or their names; between two of them at most one geom, a sphere or a
                cylinder (without ends), that it wraps around, alone or as (geom, site) with a site on the side where it
                passes: inside the geom, the string passes through its inside. A number is a pulley: what follows is a
                branch of its own, whose length is divided by it.
            range: Limits of the length, m.
            rest: Lengths between which its spring is slack; the length at the joints' spring references when None.
            stiffness, damping, friction_loss, armature: Along the length, N/m, N·s/m, N, kg; stiffness and damping
                also as (k, s0, s1) and (d, d0, d1), as those of joints.
            radius: Radius in pictures, m; 0 is not drawn.
            color: Red, green, blue, and opacity if it is said, from 0 to 1, in pictures.
            group: Its group in pictures; those from 3 on are hidden at first.

        Raises:
            ValueError: When an argument does not fit; it names the tendon and the argument.
        """
        label = f"tendon {shown(name)}"
        self._check_name("tendon", name)
        branches = self._branches(label, path)
        if isinstance(group, bool) or not isinstance(group, int) or not 0 <= group < 2**31:
            raise ValueError(f"{label}: group is {shown(group)}: expected a whole number of 0 or more")
        parameters = [stiffness, damping, friction_loss, armature, radius]
        add = self._assembly.add_spatial_tendon
        index = with_context(label, add, name, branches, range, rest, parameters, color, group)
        return TendonBuilder(self._builder, index)

    def _branches(self, label: str, path: Sequence[PathElement]) -> list[Branch]:
        """The branches of a string, each with its divisor, and sites and geoms with a side's site."""
        if isinstance(path, str) or not isinstance(path, Sequence):
            raise TypeError(f"{label}: path is of type {type(path).__name__}: expected a sequence of sites and geoms")
        branches: list[Branch] = [(1.0, [])]
        for place, element in enumerate(path):
            where = f"{label}: path[{place}]"
            points = branches[-1][1]
            if isinstance(element, (int, float)) and not isinstance(element, bool):
                divisor = number_of(label, f"path[{place}]", element)
                branches = [*(branches if place else []), (divisor, [])]
            elif isinstance(element, tuple):
                if len(element) != 2:
                    raise ValueError(f"{where} has {len(element)} elements: expected (geom, site)")
                points.append(("geom", self._index("geom", element[0], where), self._index("site", element[1], where)))
            elif isinstance(element, GeomBuilder):
                points.append(("geom", self._index("geom", element, where), None))
            else:
                points.append(("site", self._index("site", element, where), None))
        return branches

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
        solref: ArrayLike | None = None,
        solimp: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Hold two points together.

        Args:
            body1, body2: The bodies or their names; the second is the world when None.
            position: The point in the first body's frame, (3,), m.
            position2: That in the second's; where the first lies in the default configuration when None.
            name: Name.
            active: Whether it is in force.
            compliance: (stiffness in N/m, relaxation time in s); near-rigid when None.
            solref, solimp: In its place how it yields as in MJCF, up to 2 and 5 numbers.
        """
        label = f"connect {shown(name)}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        index = with_context(label, self._assembly.add_connect, name, bodies, position, position2)
        return self._finish(label, index, active, (compliance, solref, solimp))

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
        solref: ArrayLike | None = None,
        solimp: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Hold two frames together.

        Args:
            body1, body2: The bodies or their names; the second is the world when None.
            anchor: Origin of the frame in the second body, which has that body's axes, (3,), m.
            position, quaternion, euler: That frame in the first body; where it is in the default configuration when
                position is None.
            name, active, compliance, solref, solimp: As :meth:`add_connect`.
        """
        label = f"weld {shown(name)}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        if position is None and (quaternion is not None or euler is not None):
            raise ValueError(f"{label}: an orientation without position: expected both, or neither")
        pose = None if position is None else (position, turn_of(label, quaternion, euler))
        index = with_context(label, self._assembly.add_weld, name, bodies, anchor, pose)
        return self._finish(label, index, active, (compliance, solref, solimp))

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
        solref: ArrayLike | None = None,
        solimp: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Keep two points at a distance, m; that of the default configuration when None."""
        label = f"distance {shown(name)}"
        bodies = self._two_bodies(label, body1, body2)
        self._check_name("equality", name)
        anchors = [
            vector_of(label, "position1", position1, 3).tolist(),
            vector_of(label, "position2", position2, 3).tolist(),
        ]
        length = None if distance is None else number_of(label, "distance", distance)
        index = with_context(label, self._assembly.add_distance, name, bodies, anchors, length)
        return self._finish(label, index, active, (compliance, solref, solimp))

    def add_coupling(
        self,
        y: JointBuilder | TendonBuilder | str,
        x: JointBuilder | TendonBuilder | str | None = None,
        *,
        polynomial: Sequence[float] = (0.0, 1.0),
        name: str = "",
        active: bool = True,
        compliance: ArrayLike | None = None,
        solref: ArrayLike | None = None,
        solimp: ArrayLike | None = None,
    ) -> EqualityBuilder:
        """Couple coordinates: y − y₀ = p(x − x₀), of joints (or names of joints) or tendons, from their references.

        Args:
            y, x: Joints with one coordinate, or tendons; without an x the coordinate y is held at p(0).
            polynomial: Coefficients of p, up to five, the constant first.
            name, active, compliance, solref, solimp: As :meth:`add_connect`.
        """
        label = f"coupling {shown(name)}"
        self._check_name("equality", name)
        first = self._coordinate(label, "y", y)
        second = None if x is None else self._coordinate(label, "x", x)
        coefficients = np.atleast_1d(floats(label, "polynomial", polynomial)).tolist()
        index = with_context(label, self._assembly.add_coupling, name, first, second, coefficients)
        return self._finish(label, index, active, (compliance, solref, solimp))

    def exclude(self, body1: BodyBuilder | str, body2: BodyBuilder | str) -> None:
        """Let the geoms of two bodies never touch."""
        self._assembly.exclude(*self._two_bodies("exclude", body1, body2))

    def add_pair(self, geom1: GeomBuilder | str, geom2: GeomBuilder | str, **surface: Any) -> None:
        """Let two geoms touch whatever their bits say, with a surface of their own: properties as of a geom."""
        geoms = [self._index("geom", geom1, "pair: geom1"), self._index("geom", geom2, "pair: geom2")]
        with_context("pair", self._assembly.add_pair, geoms, surface)

    def _coordinate(self, label: str, argument: str, of: JointBuilder | TendonBuilder | str) -> tuple[str, int]:
        if isinstance(of, TendonBuilder):
            return "tendon", self._index("tendon", of, f"{label}: {argument}")
        joint = self._index("joint", of, f"{label}: {argument}")
        self._check_scalar(JointBuilder(self._builder, joint), f"{label}: {argument}")
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

    def _finish(
        self,
        label: str,
        index: int,
        active: bool,
        yielding: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None],
    ) -> EqualityBuilder:
        """Set whether a constraint is in force, and its compliance or ``solref`` and ``solimp``."""
        with_context(label, self._assembly.set_equality, index, bool(active), *yielding)
        return EqualityBuilder(self._builder, index)
