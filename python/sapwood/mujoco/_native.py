"""Where MuJoCo's library has the functions of a step: called there, they need not the binding's work around each."""

# MuJoCo's classes have no types.

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import mujoco

from sapwood.mujoco._layout import LOG

__all__ = ["Native", "native"]

MESSAGE = {"level": 0, "subject": 8, "func": 1040}
"""Where the parts of an ``mjLogMessage`` that are read begin, bytes."""

CALLBACKS = ("mjcb_passive", "mjcb_sensor", "mjcb_act_dyn", "mjcb_act_gain", "mjcb_act_bias", "mjcb_contactfilter")
"""What a stage may call of a program."""


class Native(NamedTuple):
    """Addresses of functions, and of the variables of callbacks."""

    kinematics: int
    bodies: list[int]
    stages: list[int]
    actuate: int
    make_rows: int
    sensors: int
    update_sleep: int
    set_handler: int
    """What takes the handler of this thread's messages, and what gives that of all."""
    get_handler: int
    control: int
    callbacks: list[int]
    clock: int
    default_clock: int


@cache
def _library() -> ctypes.CDLL | None:
    """The library that MuJoCo's package has loaded; none where it is found in no known place."""
    if os.name != "posix" or any(LOG.get(name) != at for name, at in MESSAGE.items()):
        return None
    for path in sorted(Path(mujoco.__file__).parent.glob("libmujoco*")):
        try:
            return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
    return None


def _clock() -> int:
    """The address of MuJoCo's own clock; 0 while a program's is in use."""
    library = _library()
    if library is None or mujoco.get_mjcb_time() is not None:
        return 0
    return ctypes.c_void_p.in_dll(library, "mjcb_time").value or 0


CLOCK = _clock()


Call = Callable[..., None]


def native(kinematics: Call, bodies: Sequence[Call], stages: Sequence[Call]) -> Native | None:
    """The addresses, with those of a world's stages; none where they are not known."""
    library = _library()
    if library is None:
        return None

    def function(name: str) -> int:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        assert address is not None
        return address

    def variable(name: str) -> ctypes.c_void_p:
        return ctypes.c_void_p.in_dll(library, name)

    try:
        return Native(
            kinematics=function(kinematics.__name__),
            bodies=[function(part.__name__) for part in bodies],
            stages=[function(stage.__name__) for stage in stages],
            actuate=function("mj_fwdActuation"),
            make_rows=function("mj_makeConstraint"),
            sensors=function("mj_sensorAcc"),
            update_sleep=function("mj_updateSleep"),
            set_handler=function("_mjPRIVATE_setTlsLogHandler"),
            get_handler=function("_mjPRIVATE_getGlobalLogHandler"),
            control=ctypes.addressof(variable("mjcb_control")),
            callbacks=[ctypes.addressof(variable(name)) for name in CALLBACKS],
            clock=ctypes.addressof(variable("mjcb_time")),
            default_clock=CLOCK,
        )
    except (AttributeError, ValueError):
        return None
