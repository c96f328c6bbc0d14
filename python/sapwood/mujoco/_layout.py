"""Where the fields of MuJoCo's structures lie in memory, from MuJoCo's own description of them."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import mujoco
from mujoco.introspect import ast_nodes, structs

from sapwood._sapwood import _MujocoWorld

__all__ = ["DATA", "LOG", "OPTION", "STEPS", "check"]

KINDS: dict[str, Any] = {
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtBool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
}


def _kind(type_: Any) -> Any:
    """The type of a field as ``ctypes`` has it."""
    if isinstance(type_, ast_nodes.PointerType):
        return ctypes.c_void_p
    if isinstance(type_, ast_nodes.ArrayType):
        kind = _kind(type_.inner_type)
        for extent in reversed(type_.extents):
            kind = kind * extent
        return kind
    return KINDS.get(type_.name) or _structure(type_.name)


def _structure(name: str) -> Any:
    fields = [(field.name, _kind(field.type)) for field in structs.STRUCTS[name].fields]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _offsets(name: str) -> dict[str, int]:
    """Where each field begins, bytes."""
    structure = _structure(name)
    return {field: getattr(structure, field).offset for field, _ in structure._fields_}


DATA, OPTION = _offsets("mjData"), _offsets("mjOption")
STEPS = DATA["timer"] + _offsets("mjTimerStat")["number"]
"""The timer of steps is the first."""
LOG = _offsets("mjLogMessage") if "mjLogMessage" in structs.STRUCTS else {}


@cache
def check() -> None:
    """Compares the layout with a structure of MuJoCo, and that of contacts with the one that is written.

    Raises:
        ImportError: When they differ.
    """
    contact = _structure("mjContact")
    offsets, size = _MujocoWorld.contact_layout()
    is_known = size == ctypes.sizeof(contact) and all(getattr(contact, name).offset == at for name, at in offsets)
    body = "<body><freejoint/><geom size='1'/></body>"
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    d = mujoco.MjData(m)
    d.time, d.ncon, d.flg_rnepost = 0.5, 3, True
    found: dict[str, tuple[Any, Any]] = {
        "time": (ctypes.c_double, 0.5),
        "ncon": (ctypes.c_int, 3),
        "flg_rnepost": (ctypes.c_bool, True),
        "qpos": (ctypes.c_size_t, d.qpos.ctypes.data),
        "qfrc_passive": (ctypes.c_size_t, d.qfrc_passive.ctypes.data),
        "signature": (ctypes.c_uint64, d.signature),
    }
    is_known &= all(kind.from_address(d._address + DATA[name]).value == value for name, (kind, value) in found.items())
    d.ncon = 0
    if not is_known:
        raise ImportError(
            f"the structures of MuJoCo {mujoco.__version__} have another layout than it describes: use that of 4.0"
        )
