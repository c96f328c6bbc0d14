"""Elements of MJCF, and the names of a compiled ``MjModel``."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import warnings
from typing import Any
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
from mujoco import mjtObj

__all__ = ["Names", "element", "kind_of"]


def quoted(value: Any) -> str:
    """A value as an attribute has it: all digits of every number."""
    if isinstance(value, str):
        return quoteattr(value)
    if isinstance(value, (bool, np.bool_)):
        return '"true"' if value else '"false"'
    return f'"{" ".join(map(repr, np.asarray(value).ravel().tolist()))}"'


def element(tag: str, /, *children: str, **attributes: Any) -> str:
    """An element; attributes that are None are left out."""
    said = "".join([f" {key}={quoted(value)}" for key, value in attributes.items() if value is not None])
    return f"<{tag}{said}>{''.join(children)}</{tag}>" if children else f"<{tag}{said}/>"


def kind_of(value: int, enumeration: Any) -> str:
    """The name of a constant in lower case, without its prefix."""
    return str(enumeration(value).name).split("_", 1)[1].lower()


class Read:
    """The attributes of an ``MjModel``, each taken at its first use: what has been read of the model."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        setattr(self, name, value)
        return value

    def arrays(self) -> frozenset[str]:
        """The names of the arrays among them."""
        return frozenset([name for name, value in vars(self).items() if isinstance(value, np.ndarray)])


class Names:
    """The names of a model's elements."""

    def __init__(self, model: Any, near_rigid: bool) -> None:
        self.compiled, self.m = model, Read(model)
        self.near_rigid = near_rigid
        self.needed: set[tuple[mjtObj, int]] = set()

    def own_name(self, kind: mjtObj, index: int) -> str | None:
        """The name that the model gives."""
        return mujoco.mj_id2name(self.compiled, int(kind), index) or None

    def ref(self, kind: mjtObj, index: int) -> str:
        """The name by which something is referred to, made up where it has none."""
        if kind == mjtObj.mjOBJ_BODY and index == 0:
            return "world"
        self.needed.add((kind, index))
        name = self.own_name(kind, index)
        if name is None:
            name = f"{kind_of(int(kind), mjtObj)} {index}"
            while mujoco.mj_name2id(self.compiled, int(kind), name) >= 0:
                name += "'"
        return name

    def name(self, kind: mjtObj, index: int) -> str | None:
        """The name of an element, if it has one or something refers to it."""
        return self.ref(kind, index) if (kind, index) in self.needed else self.own_name(kind, index)

    def compliance(self, solref: Any, solimp: Any, suffix: str = "") -> dict[str, Any]:
        return {} if self.near_rigid else {f"solref{suffix}": solref, f"solimp{suffix}": solimp}

    def leave_out(self, kind: mjtObj, index: int, message: str) -> None:
        name = self.own_name(kind, index) or index
        warnings.warn(f"{kind_of(int(kind), mjtObj)} {name}: {message}", UserWarning, stacklevel=2)

    @staticmethod
    def plain(kind: mjtObj) -> mjtObj:
        """The kind of thing that has the name."""
        return mjtObj.mjOBJ_BODY if kind == mjtObj.mjOBJ_XBODY else kind
