"""Our friction laws."""

from __future__ import annotations

from inspect import signature

import sapwood as sw

LAWS = ("sap", "lagged", "coulomb")


def default() -> str:
    """The one that a simulation has unless told otherwise."""
    return str(signature(sw.Simulation).parameters["contact"].default)
