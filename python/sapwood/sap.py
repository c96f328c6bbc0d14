"""SAP, the convex contact problem, for matrices of your own.

    min_v ½‖v − v*‖²_A + Σ_k ℓ_k(J_k v),      γ_k = −∂ℓ_k/∂v_c,      A (v − v*) = Jᵀγ

``A`` is the mass matrix, ``v*`` the velocity without constraints, ``J`` the constraint Jacobian. ``solve`` is for
contacts alone: ``J`` stacks three rows per contact (t1, t2, n), ``R_k = diag(R_t, R_t, R_n)`` regularises,
``v̂_k = (0, 0, vn_hat)``, and ``γ_k = P(−R_k⁻¹ (J_k v − v̂_k))`` with the projection P onto the friction cone
``|γ_t| ≤ μ γ_n`` in the norm of ``R_k``. ``Problem`` takes limits, equalities, bounded impulses, rolling and torsional
friction, and Coulomb's law as well:

    problem = sw.sap.Problem(A, v_star)
    feet = problem.contact(J, mu=0.8)
    solution = problem.solve(law="coulomb")
    solution.impulses[feet]
"""

from sapwood._results import Solution
from sapwood._sap import Constraints, ProblemSolution
from sapwood._sapwood import SapProblem as Problem
from sapwood._sapwood import sap_solve as solve

__all__ = ["Constraints", "Problem", "ProblemSolution", "Solution", "solve"]
