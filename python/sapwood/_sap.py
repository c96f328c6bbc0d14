"""Types of ``sapwood.sap``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class SparseMatrix(Protocol):
    """A sparse matrix of scipy, or whatever else gives compressed rows: ``indptr``, ``indices``, ``data``."""

    @property
    def shape(self) -> Any:  # noqa: ANN401
        """Rows and columns."""

    def tocsr(self) -> Any:  # noqa: ANN401
        """The matrix in compressed rows."""


@dataclass(frozen=True)
class CompressedRows:
    """Compressed rows without scipy, as pickles of problems hold them."""

    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: NDArray[np.float64]

    def tocsr(self) -> CompressedRows:
        """Itself."""
        return self


@dataclass(frozen=True)
class Constraints:
    """Constraints that one call added to a :class:`sapwood.sap.Problem`: the index of what a solution says of them."""

    index: int
    """The place among the calls."""
    kind: Literal["contact", "limit", "equality", "bounded", "rolling"]
    """What was called."""
    count: int
    """How many constraints."""

    def __index__(self) -> int:
        return self.index

    def __len__(self) -> int:
        return self.count


class ProblemSolution(NamedTuple):
    """The solution of a :class:`sapwood.sap.Problem`."""

    v: NDArray[np.float64]
    """Velocities, (nv,)."""
    impulses: list[NDArray[np.float64]]
    """Impulses γ by what was added, ``impulses[feet]``: (n, 3) of contacts (t1, t2, n) and their rolling and torsional
    friction, (n,) of others."""
    velocities: list[NDArray[np.float64]]
    """Constraint velocities J v, likewise."""
    iterations: int
    """Factorisations."""
    line_search_evaluations: int
    """Evaluations of the constraints in line searches."""
    residual: float
    """Relative residual of the momentum balance."""
    friction_residual: float
    """How far impulses are from Coulomb's law, relative to them; 0 for the law ``sap``."""
    cost: float
    """The minimum of the last convex problem."""
    strategy: Literal[
        "unconstrained",
        "initial-guess",
        "contact-space",
        "newton",
        "semismooth-newton",
        "proximal-point",
    ]
    """What led to the solution."""
    converged: bool
    """False where the budget of factorisations was spent before friction was that of Coulomb's law: see
    ``friction_residual``. A convex problem that does not converge raises :class:`sapwood.SimulationError`."""
