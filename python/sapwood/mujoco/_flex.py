"""Flexible bodies of a compiled ``MjModel``: what holds the bodies together that are their nodes."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco import mjtEq, mjtObj

from sapwood.mujoco._words import Names, element, kind_of

__all__ = ["Flexes"]

FLAT = 1e-3
"""Triangles lie in one plane if the sine of the angle between them is at most this, as in the reader of the text."""


class Hinges(NamedTuple):
    """Edges at which cloth bends."""

    is_flat: Any
    """Whether the triangles beside each lie in one plane."""
    rigidity: Any
    """The flexural rigidity that resists it, N·m, of flat ones."""


class Flexes(Names):
    """Elements of flexible bodies and of their constraints."""

    def flexes(self) -> Iterator[str]:
        """Those whose nodes are bodies."""
        m = self.m
        for f in range(m.nflex):
            if not self.has_node_bodies(f):
                continue
            bodies = [self.ref(mjtObj.mjOBJ_BODY, body) for body in self.node_bodies(f).tolist()]
            corners = m.flex_dim[f] + 1
            yield element(
                "flex",
                element("edge", stiffness=m.flex_edgestiffness[f], damping=m.flex_edgedamping[f]),
                *self.bending(f),
                name=self.ref(mjtObj.mjOBJ_FLEX, f),
                dim=m.flex_dim[f],
                body=" ".join(bodies),
                vertex=m.flex_vert[m.flex_vertadr[f] :][: m.flex_vertnum[f]],
                element=m.flex_elem[m.flex_elemdataadr[f] :][: corners * m.flex_elemnum[f]],
            )

    def warn_of_flexes(self) -> None:
        """Names what does not come over."""
        m = self.m
        for f in range(m.nflex):
            lacks = "that touch nothing"
            first = m.flex_stiffnessadr[f]
            # Not an array that the model is made of.
            if not self.has_node_bodies(f) or (first >= 0 and self.compiled.flex_stiffness[first]):
                lacks += ", without elasticity"
            elif m.flex_bendingadr[f] >= 0 and not self.hinges(f).is_flat.all():
                lacks += ", and do not resist bending where it is not flat"
            name = self.own_name(mjtObj.mjOBJ_FLEX, f) or f
            warnings.warn(f"flex {name}: its nodes are bodies {lacks}", UserWarning, stacklevel=6)

    def node_bodies(self, f: int) -> Any:
        """The body of each node."""
        return self.m.flex_vertbodyid[self.m.flex_vertadr[f] :][: self.m.flex_vertnum[f]]

    def has_node_bodies(self, f: int) -> bool:
        """Whether each node is in a body of its own, and bodies can be listed: no name has a blank."""
        m = self.m
        if m.flex_interp[f] or m.flex_rigid[f]:
            return False
        names = [self.own_name(mjtObj.mjOBJ_BODY, body) or "" for body in self.node_bodies(f).tolist()]
        return all(len(name.split()) == 1 for name in names)

    def of_edges(self, f: int, name: str) -> Any:
        """An array of a flex that has a row for each edge."""
        return getattr(self.m, name)[self.m.flex_edgeadr[f] :][: self.m.flex_edgenum[f]]

    def hinges(self, f: int) -> Hinges:
        """The edges between two triangles."""
        m, flaps = self.m, self.of_edges(f, "flex_edgeflap")
        inner = flaps[:, 1] >= 0
        nodes = np.column_stack([self.of_edges(f, "flex_edge"), flaps])[inner]
        a, b, c, d = (self.places(f)[nodes[:, k]] for k in range(4))
        normals = np.cross(b - a, c - a), np.cross(d - a, b - a)
        (first, second), lengths = (np.linalg.norm(n, axis=1) for n in normals), np.linalg.norm(b - a, axis=1)
        sines = np.linalg.norm(np.cross(*normals), axis=1)
        is_flat = (np.sum(normals[0] * normals[1], axis=1) > 0) & (sines <= FLAT * first * second)
        # A matrix of four nodes for each edge, and a number: the weight of a node opposite is −L²/2A, of its triangle.
        matrices = m.flex_bending[m.flex_bendingadr[f] :][: 17 * len(flaps)].reshape(-1, 17)[inner]
        return Hinges(is_flat, matrices[:, 10] * (first + second) / 2 * first**2 / lengths**4)

    def bending(self, f: int) -> list[str]:
        """What resists bending: nothing where no edge is flat."""
        if self.m.flex_bendingadr[f] < 0:
            return []
        hinges = self.hinges(f)
        # That of a plate, E t³/12 (1 − ν²): the model does not have the thickness t.
        rigidity = np.max(hinges.rigidity, where=hinges.is_flat, initial=0.0)
        plate = {"young": 12 * rigidity, "poisson": 0.0, "thickness": 1.0, "elastic2d": "bend"}
        return [element("elasticity", **plate, damping=self.m.flex_damping[f])] if rigidity > 0 else []

    def places(self, f: int) -> Any:
        """Where the nodes are by default."""
        data = mujoco.MjData(self.compiled)
        for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_flex):
            stage(self.compiled, data)
        return data.flexvert_xpos[self.m.flex_vertadr[f] :][: self.m.flex_vertnum[f]]

    def flex_equality(self, e: int) -> dict[str, Any] | None:
        """What a constraint refers to by which edges keep their lengths; None of other constraints of flexes."""
        f = int(self.m.eq_obj1id[e])
        if mjtEq(self.m.eq_type[e]) != mjtEq.mjEQ_FLEX or not self.has_node_bodies(f):
            return None
        return {kind_of(mjtObj.mjOBJ_FLEX, mjtObj): self.ref(mjtObj.mjOBJ_FLEX, f)}

    def count_moving_edges(self, f: int) -> int:
        """How many edges can change their lengths."""
        welded = self.m.body_weldid[self.node_bodies(f)[self.of_edges(f, "flex_edge")]]
        moves = (welded[:, 0] != welded[:, 1]) & (self.of_edges(f, "flexedge_length0") > 0)
        return int(np.count_nonzero(moves))
