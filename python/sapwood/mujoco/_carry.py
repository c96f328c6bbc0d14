"""Sapwood's model of a compiled ``MjModel``, made once, and again when numbers of the ``MjModel`` change."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import threading
import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np
from mujoco import mjtObj, mjtTrn, mjtWrap

from sapwood._sapwood import Model, _load_mujoco, _MujocoNumbers
from sapwood.mujoco._layout import OPTION
from sapwood.mujoco._text import text_of

__all__ = ["Carried", "carry"]

KINDS = (
    *("body", "jnt", "dof", "geom", "site", "exclude", "pair", "eq", "tendon", "wrap", "actuator", "tree", "hfield"),
    *("qpos0", "qpos", "flex"),
)
"""Beginnings of names of arrays with a part in the motion. Meshes are not among them, as no program changes them while
it runs."""

LOOKS = ("_rgba", "_matid", "_width")
"""Ends of names of what has none."""

MAX_GAP = 64
"""Arrays that lie no farther apart, bytes, are compared as one."""


class Carried(NamedTuple):
    """A model of Sapwood, and where its parts are in the model that it comes from."""

    model: Model
    equalities: list[int]
    activations: list[int]
    histories: list[int]
    readings: list[int]
    mocap: list[int]
    meshes: frozenset[int]
    arrays: frozenset[str]


def carry(mj_model: Any, *, near_rigid: bool = False, before: Carried | None = None) -> Carried:
    """The model of the arrays of a compiled ``MjModel``; meshes are those of ``before``, if it has them."""
    text = text_of(mj_model, near_rigid=near_rigid, known=before.meshes if before else frozenset())
    model = _load_mujoco(text.text, text.assets, before.model if before else None)
    where = text.equalities, text.activations, text.histories, text.readings, text.mocap, text.meshes, text.arrays
    return Carried(model, *where)


def _idle(m: Any) -> set[str]:
    """Beginnings of names of arrays that have no part in the motion of this model."""
    idle = {"site_size", "site_type"}
    transmissions = np.isin(m.actuator_trntype, [int(mjtTrn.mjTRN_SITE), int(mjtTrn.mjTRN_SLIDERCRANK)])
    if not transmissions.any() and not (m.eq_objtype == int(mjtObj.mjOBJ_SITE)).any():
        idle.add("site_quat")
        # Fixed tendons pass no sites, but spatial ones have them at sides of geoms as well.
        if (m.wrap_type == int(mjtWrap.mjWRAP_JOINT)).all():
            idle.add("site_")
    if m.opt.density == 0 and m.opt.viscosity == 0:
        idle.add("geom_fluid")
    return idle


def _spans(m: Any, names: list[str]) -> list[tuple[int, int]]:
    """Where arrays and options lie in memory: neighbours as one, (address, bytes)."""
    arrays = [getattr(m, name) for name in names]
    places = [(a.ctypes.data, a.nbytes) for a in arrays if a.nbytes]
    # All options between the first and the last that count, but for the time step.
    options = m.opt.gravity.ctypes.data - OPTION["gravity"]
    first, end = OPTION["impratio"], OPTION["sdf_initpoints"]
    places.append((options + first, end - first))
    spans: list[tuple[int, int]] = []
    for at, size in sorted(places):
        if spans and at <= sum(spans[-1]) + MAX_GAP:
            first = spans[-1][0]
            spans[-1] = (first, max(sum(spans[-1]), at + size) - first)
        else:
            spans.append((at, size))
    return spans


class Watched:
    """A compiled model, with a copy of the numbers that Sapwood's model was made of."""

    def __init__(self, mj_model: Any, near_rigid: bool) -> None:
        self.near_rigid = near_rigid
        self.carried = carry(mj_model, near_rigid=near_rigid)
        self.numbers = _MujocoNumbers()
        self.keep(mj_model)

    @property
    def version(self) -> int:
        """How often a model was made."""
        return self.numbers.version

    def keep(self, m: Any) -> None:
        """Notes the numbers that Sapwood's model was made of; others may be anything."""
        idle = tuple(_idle(m))
        of_motion = [name for name in self.carried.arrays if name.split("_")[0] in KINDS and not name.endswith(LOOKS)]
        names = [name for name in of_motion if not name.startswith(idle)]
        self.numbers.keep(_spans(m, names))

    def _make(self, m: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said once
            self.carried = carry(m, near_rigid=self.near_rigid, before=self.carried)
        # Last: a model that is refused is refused again.
        self.keep(m)

    def update(self, m: Any) -> None:
        """Makes the model again if a number has changed."""
        if self.numbers.differ():
            with _making:
                if self.numbers.differ():
                    self._make(m)


_watched: dict[tuple[int, bool], Watched] = {}
_making = threading.Lock()
"""Held while a model is made: once for all worlds on threads."""


def watch(mj_model: Any, near_rigid: bool) -> Watched:
    """What is kept of a compiled model, for as long as it lives."""
    key = (id(mj_model), near_rigid)
    found = _watched.get(key)
    if found is None:
        with _making:
            found = _watched.get(key)
            if found is None:
                found = _watched[key] = Watched(mj_model, near_rigid)
                weakref.finalize(mj_model, _watched.pop, key, None)
    return found
