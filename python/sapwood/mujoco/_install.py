"""Puts Sapwood's step in the place of MuJoCo's, wherever a module has bound it."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import mujoco
import mujoco.rollout

from sapwood.mujoco._world import configure, world_of

__all__ = ["install", "physics", "uninstall"]

ORIGINALS = {name: getattr(mujoco, name) for name in ("mj_step", "mj_step2", "mj_forward")}
ROLLOUT = mujoco.rollout._rollout.Rollout

_bound: list[tuple[dict[str, Any], str, Any]] = []
"""What has been replaced: in the names of which module, which name, by what it was."""


def mj_step(m: Any, d: Any, nstep: int = 1) -> None:
    """Sapwood's, in the place of MuJoCo's: ``sapwood.mujoco.step``."""
    world_of(m, d).step(m, d, nstep)


def mj_step2(m: Any, d: Any) -> None:
    """Sapwood's, in the place of MuJoCo's; ``mj_step1``, which has no part in contact, is MuJoCo's own."""
    world_of(m, d).step(m, d, 1)


def mj_forward(m: Any, d: Any) -> None:
    """Sapwood's, in the place of MuJoCo's: ``sapwood.mujoco.forward``."""
    world_of(m, d).forward(m, d)


for _ours in (mj_step, mj_step2, mj_forward):
    _ours.__doc__ = ORIGINALS[_ours.__name__].__doc__


class Rollout:
    """Sapwood's rollouts in the place of ``mujoco._rollout.Rollout``: worlds on threads."""

    def __init__(self, *, nthread: int) -> None:
        self.nthread = nthread
        self.theirs = ROLLOUT(nthread=nthread)

    def rollout(
        self,
        model: Any,
        data: Any,
        nstep: int,
        control_spec: int,
        state0: Any,
        warmstart0: Any = None,
        control: Any = None,
        state: Any = None,
        sensordata: Any = None,
        chunk_size: int | None = None,
    ) -> None:
        """Rolls out trajectories; arguments are those of MuJoCo's."""
        # MuJoCo's own makes no step here: it says what is wrong with the arguments.
        nothing = [None if array is None else array[:, :0] for array in (control, state, sensordata)]
        self.theirs.rollout(model, data, min(nstep, 0), control_spec, state0, warmstart0, *nothing, chunk_size)
        full = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)

        def run(worker: int) -> None:
            d = data[worker]
            for r in range(worker, len(state0), len(data)):
                m = model[r]
                mujoco.mj_resetData(m, d)
                mujoco.mj_setState(m, d, state0[r], full)
                if warmstart0 is not None:
                    d.qacc_warmstart = warmstart0[r]
                for t in range(nstep):
                    if control is not None:
                        mujoco.mj_setState(m, d, control[r, t], control_spec)
                    world_of(m, d).step(m, d, 1)
                    if state is not None:
                        mujoco.mj_getState(m, d, state[r, t], full)
                    if sensordata is not None:
                        sensordata[r, t] = d.sensordata

        if self.nthread == 0:
            data = data[:1]
            run(0)
            return
        with ThreadPoolExecutor(self.nthread) as pool:
            list(pool.map(run, range(len(data))))


def install(*, forward: bool = False, **options: Any) -> None:
    """Makes Sapwood's step that of every program of MuJoCo in this process.

    ``mj_step``, ``mj_step2`` and rollouts are replaced in ``mujoco`` and in every module that has bound them already;
    functions that objects or closures hold are not found.

    Args:
        forward: Whether ``mj_forward`` is replaced, too: accelerations and forces are then Sapwood's after it.
        **options: Those of ``configure``: ``near_rigid``, and options of ``sapwood.Simulation``.
    """
    configure(**options)
    if _bound:
        uninstall()
    places = {ORIGINALS["mj_step"]: mj_step, ORIGINALS["mj_step2"]: mj_step2, ROLLOUT: Rollout}
    if forward:
        places[ORIGINALS["mj_forward"]] = mj_forward
    _bound.extend(_replace(places))


def uninstall() -> None:
    """Puts MuJoCo's own functions back."""
    while _bound:
        names, name, value = _bound.pop()
        names[name] = value
    # Modules that were imported meanwhile have bound Sapwood's.
    _replace({mj_step: ORIGINALS["mj_step"], mj_step2: ORIGINALS["mj_step2"], mj_forward: ORIGINALS["mj_forward"]})


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
    """Sapwood's step within a ``with`` block; options as of ``install``."""
    install(**options)
    try:
        yield
    finally:
        uninstall()
