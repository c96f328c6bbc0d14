"""Our friction laws."""

from __future__ import annotations

from inspect import signature

import sapwood as sw

LAWS = ("sap", "lagged", "coulomb")


def available() -> list[str]:
    """Those that this version has."""
    model = sw.load("<mujoco/>")
    found = []
    for law in LAWS:
        try:
            sw.Simulation(model, contact=law)  # type: ignore[arg-type]
        except ValueError:
            print(f"sapwood {law}: not in this version")
        else:
            found.append(law)
    return found


def default() -> str:
    """The one that a simulation has unless told otherwise."""
    return str(signature(sw.Simulation).parameters["contact"].default)
