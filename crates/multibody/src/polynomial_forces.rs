//! Springs and dampers whose forces are polynomials.

/// What a spring and a damper have beyond their linear parts: forces −(k + s₀ x + s₁ x²) x of a stretch x, and −(d + d₀ |v| + d₁ v²) v of its
/// rate v (MJCF `stiffness` and `damping` with three numbers, as MuJoCo 4 has them).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PolynomialForces {
    /// s₀ and s₁: N/m² and N/m³, or N·m/rad² and N·m/rad³.
    pub spring: [f64; 2],
    /// d₀ and d₁: N·s²/m² and N·s³/m³, or the same of N·m and rad.
    pub damper: [f64; 2],
}

/// A force law at a point: force = `secant` · x, and how fast it grows with x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawAt {
    /// Force over x.
    pub secant: f64,
    /// ∂force/∂x.
    pub tangent: f64,
}

impl PolynomialForces {
    /// None.
    pub const NONE: Self = Self { spring: [0.0; 2], damper: [0.0; 2] };

    /// Whether there is anything.
    pub fn is_any(&self) -> bool {
        *self != Self::NONE
    }

    /// The spring at the stretch `x`, with its linear part.
    pub fn spring_at(&self, stiffness: f64, x: f64) -> LawAt {
        law_at(stiffness, self.spring, x)
    }

    /// The damper at the rate `v`, with its linear part.
    pub fn damper_at(&self, damping: f64, v: f64) -> LawAt {
        law_at(damping, self.damper, v.abs())
    }

    /// The potential energy of the spring at the stretch `x`, with its linear part, J.
    pub fn energy_at(&self, stiffness: f64, x: f64) -> f64 {
        let [first, second] = self.spring;
        (0.5 * stiffness + x * (first / 3.0 + x * second / 4.0)) * x.powi(2)
    }
}

fn law_at(linear: f64, [first, second]: [f64; 2], x: f64) -> LawAt {
    LawAt { secant: linear + x * (first + x * second), tangent: linear + x * (2.0 * first + x * 3.0 * second) }
}
