"""Stable PD control: gains of any size, at any time step.

    τ = −K_p (q ⊞ dt q̇ ⊟ q̄) − K_d (q̇ + dt q̈ − q̇̄),      (M + dt K_d) q̈ = Q − C,      Q = τ at q̈ = 0

For ball and free joints the error is the rotation vector of ``q̄⁻¹ ∘ (q ⊞ dt q̇)``, by the shorter arc.
``Simulation.pd`` does the same within the step, where contact meets it; ``solve`` returns the acceleration and the
torque to look at. For more than one call make a ``Solver``, which keeps what it can: an order of magnitude faster.
"""

from sapwood._results import SpdSolution
from sapwood._sapwood import SpdSolver as Solver
from sapwood._sapwood import spd_solve as solve

__all__ = ["Solver", "SpdSolution", "solve"]
