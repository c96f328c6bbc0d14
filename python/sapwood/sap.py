"""SAP, the convex contact problem, for matrices of your own.

    min_v ½‖v − v*‖²_A + Σ_k ½ γ_kᵀ R_k γ_k,      γ_k = P_K(−R_k⁻¹ (J_k v − v̂_k))

``A`` is the mass matrix, ``J`` stacks three rows per contact (t1, t2, n), ``R_k = diag(R_t, R_t, R_n)`` regularises,
``v̂_k = (0, 0, vn_hat)``, and P_K projects onto the friction cone ``|γ_t| ≤ μ γ_n`` in the norm of ``R_k``.
"""

from sapwood._results import Solution
from sapwood._sapwood import sap_solve as solve

__all__ = ["Solution", "solve"]
