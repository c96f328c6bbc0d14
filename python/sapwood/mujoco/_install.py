"""Puts Sapwood's step in the place of MuJoCo's, wherever a module has bound it."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco

from sapwood.mujoco._batch import BATCH, ROLLOUT, Batch, Rollout
from sapwood.mujoco._layout import check
from sapwood.mujoco._world import configure, configured, worlds

__all__ = ["install", "physics", "uninstall"]

ORIGINALS = {name: getattr(mujoco, name) for name in ("mj_step", "mj_step1", "mj_step2", "mj_forward", "mj_inverse")}

_bound: list[tuple[dict[str, Any], str, Any]] = []
"""What has been replaced: in the names of which module, which name, by what it was."""


def mj_step(m: Any, d: Any, nstep: int = 1) -> None:
    """Sapwood's, in the place of MuJoCo's: ``sapwood.mujoco.step``."""
    worlds.step(m, d, nstep)


def mj_step1(m: Any, d: Any) -> None:
    """In the place of MuJoCo's: contacts after a step stay that step's, as ``mj_step2`` finds those of its own."""
    worlds.step1(m, d)


def mj_step2(m: Any, d: Any) -> None:
    """Sapwood's, in the place of MuJoCo's."""
    worlds.step2(m, d)


def mj_forward(m: Any, d: Any) -> None:
    """Sapwood's, in the place of MuJoCo's: ``sapwood.mujoco.forward``."""
    worlds.forward(m, d)


def mj_inverse(m: Any, d: Any) -> None:
    """Sapwood's, in the place of MuJoCo's: ``sapwood.mujoco.inverse``."""
    worlds.inverse(m, d)


OURS = (mj_step, mj_step1, mj_step2, mj_forward, mj_inverse)
for _ours in OURS:
    _ours.__doc__ = ORIGINALS[_ours.__name__].__doc__


def install(*, forward: bool = False, inverse: bool = False, **options: Any) -> None:
    """Makes Sapwood's step that of every program of MuJoCo in this process.

    ``mj_step``, ``mj_step1``, ``mj_step2``, rollouts and batches are replaced in ``mujoco`` and in every module that
    has bound them already; functions that objects or closures hold are not found.

    Args:
        forward: Whether ``mj_forward`` is replaced, too: accelerations and forces are then Sapwood's after it.
        inverse: Whether ``mj_inverse`` is replaced, too.
        **options: Those of ``configure``: ``near_rigid``, and options of ``sapwood.Simulation``.

    Raises:
        ImportError: When the structures of the MuJoCo that is there are laid out otherwise than it describes.
    """
    check()
    configure(**options)
    if _bound:
        uninstall()
    left = {mj_forward: not forward, mj_inverse: not inverse}
    places = {ORIGINALS[ours.__name__]: ours for ours in OURS if not left.get(ours)}
    _bound.extend(_replace({**places, ROLLOUT: Rollout, BATCH: Batch}))


def uninstall() -> None:
    """Puts MuJoCo's own functions back."""
    while _bound:
        names, name, value = _bound.pop()
        names[name] = value
    # Modules that were imported meanwhile have bound Sapwood's.
    _replace({ours: ORIGINALS[ours.__name__] for ours in OURS})


def _replace(places: dict[Any, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Puts things in the place of others in the names of all modules; returns what was there: names, name, value."""
    by_id = {id(old): new for old, new in places.items()}
    found = []
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or getattr(module, "__name__", "").startswith("sapwood.mujoco"):
            continue
        for name, value in list(names.items()):
            new = by_id.get(id(value))
            if new is not None:
                found.append((names, name, value))
                names[name] = new
    return found


@contextmanager
def physics(**options: Any) -> Iterator[None]:
    """Sapwood's step within a ``with`` block; options as of ``install``, in force there alone."""
    before = configured()
    install(**options)
    try:
        yield
    finally:
        uninstall()
        configure(**before)
