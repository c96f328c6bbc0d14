"""Soft bodies of a builder."""

# Values of whatever type are judged by the compiled half.
# ruff: noqa: ANN401

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.builder._bodies import BodyBuilder
from sapwood.builder._checks import with_context
from sapwood.builder._element import Number, _Element


class SoftBodyBuilder(_Element):
    """A soft body of a :class:`ModelBuilder`."""

    _kind = "soft body"

    def _call(self, call: Any, *arguments: Any) -> None:
        with_context(f"soft body {self.name!r}", call, *arguments)

    @property
    def body(self) -> BodyBuilder:
        """The body in which it stands, which holds the nodes that are pinned."""
        return BodyBuilder(self._builder, self._get("body"))

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of its nodes in the frame of :attr:`body`, (n, 3), m, read-only."""
        return self._builder._assembly.soft_nodes(self._index)

    friction = Number("Coefficient of friction of its surface.")
    radius = Number("Contact begins at this distance from its surface, m.")

    @property
    def color(self) -> tuple[float, float, float, float]:
        """Red, green, blue, opacity, from 0 to 1."""
        red, green, blue, opacity = self._get("color")
        return red, green, blue, opacity

    @color.setter
    def color(self, value: ArrayLike) -> None:
        self._set("color", value)

    @property
    def self_contact(self) -> bool:
        """Whether its surface may touch itself."""
        return bool(self._get("self_contact"))

    @self_contact.setter
    def self_contact(self, value: bool) -> None:
        self._set("self_contact", value)

    @property
    def pinned(self) -> list[int]:
        """The nodes that :attr:`body` holds."""
        return list(self._get("pinned"))

    def pin(self, nodes: ArrayLike) -> None:
        """Hold nodes where they are in :attr:`body`; in the world they do not move.

        Args:
            nodes: Indices, or booleans (n,): ``soft.pin(soft.positions[:, 2] < 0)``.

        Raises:
            ValueError: When there is no such node, or it is held already.
        """
        self._call(self._builder._assembly.hold_soft_nodes, self._index, nodes, None)

    def attach(self, nodes: ArrayLike, body: BodyBuilder | str) -> None:
        """Let a body hold nodes where they are in the default configuration, as if they were glued to it.

        Args:
            nodes: Indices, or booleans (n,).
            body: The body, or its name.

        Raises:
            ValueError: When there is no such node, or it is held already.
        """
        index = self._builder._index("body", body, f"soft body {self.name!r}: body")
        self._call(self._builder._assembly.hold_soft_nodes, self._index, nodes, index)
