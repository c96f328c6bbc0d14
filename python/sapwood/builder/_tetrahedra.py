"""Surfaces filled with tetrahedra."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.builder._checks import floats, number_of

# Part of the diagonal of the bounding box.
_EDGE = 0.1
# How far the surface of the mesh may be from the one given, relative to an edge. Less makes smaller elements near it.
_DEVIATION = 0.05


def fill(vertices: ArrayLike, faces: ArrayLike, edge: float | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes and tetrahedra inside a surface: see :meth:`sapwood.SoftBody.from_surface`."""
    points = floats("from_surface", "vertices", vertices)
    triangles = np.asarray(faces)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        raise ValueError(f"from_surface: vertices has shape {points.shape}: expected (n, 3), 4 or more")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        found = f"shape {triangles.shape} of {triangles.dtype}"
        raise ValueError(f"from_surface: faces has {found}: expected integers of shape (m, 3)")
    if triangles.size == 0 or triangles.min() < 0 or triangles.max() >= len(points):
        raise ValueError(f"from_surface: faces: expected indices from 0 to {len(points) - 1}, that of vertices")
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    length = _EDGE * diagonal if edge is None else number_of("from_surface", "edge", edge)
    if not 1e-3 * diagonal < length <= diagonal:
        limits = f"above {1e-3 * diagonal:.3g} and at most {diagonal:.3g}"
        raise ValueError(f"from_surface: edge is {length}: expected a length {limits}, m")
    # In a box of diagonal 1, whatever the unit.
    factor = length / diagonal
    nodes, elements = _pytetwild().tetrahedralize(
        points / diagonal, triangles.astype(np.int32), edge_length_fac=factor, epsilon=_DEVIATION * factor, quiet=True
    )
    if len(elements) == 0:
        raise ValueError("from_surface: the surface has no inside: expected a closed surface")
    return np.asarray(nodes, dtype=np.float64) * diagonal, np.asarray(elements, dtype=np.int64)


def _pytetwild() -> Any:  # noqa: ANN401 - it has no types
    try:
        return importlib.import_module("pytetwild")
    except ImportError as error:
        hint = "pip install 'sapwood[tetrahedra]', or pip install 'pytetwild[all]'"
        raise ImportError(f"from_surface: pytetwild cannot be imported ({error}): {hint}") from error
