//! Surfaces: friction and compliance, and what two of them make together.

/// How much a contact or a joint limit yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Compliance {
    /// As stiff as the time step can resolve.
    #[default]
    NearRigid,
    /// A spring and damper in physical units.
    Physical {
        /// N/m, or N·m/rad at a joint that turns.
        stiffness: f64,
        /// Kelvin–Voigt relaxation time (damping over stiffness), s.
        relaxation: f64,
    },
    /// A spring and damper per unit of the effective mass that it meets (what MJCF's `solref` describes).
    PerMass {
        /// Stiffness over effective mass, 1/s².
        stiffness: f64,
        /// Kelvin–Voigt relaxation time, s.
        relaxation: f64,
    },
}

/// The motions of a contact that friction resists (MJCF `condim` 1, 3, 4, 6), each one those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Resistance {
    /// None: friction coefficients count for nothing.
    None,
    /// Sliding.
    #[default]
    Sliding,
    /// Spinning about the normal.
    Spinning,
    /// Rolling.
    Rolling,
}

/// The surface of a geom.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// Coulomb coefficient of friction; the pair takes the larger of the two.
    pub friction: f64,
    /// Greatest torque about the normal over normal force, m; the pair takes the larger one, and uses it if either spins
    /// with resistance.
    pub torsional_friction: f64,
    /// Greatest torque about a tangent over normal force, m; as [`torsional_friction`](Self::torsional_friction).
    pub rolling_friction: f64,
    /// What it resists; the pair resists what either does.
    pub resistance: Resistance,
    /// How much it yields; two surfaces act in series.
    pub compliance: Compliance,
    /// Of two surfaces with different priorities the higher one decides alone.
    pub priority: i32,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            friction: 1.0,
            torsional_friction: 0.0,
            rolling_friction: 0.0,
            resistance: Resistance::Sliding,
            compliance: Compliance::NearRigid,
            priority: 0,
        }
    }
}

impl Material {
    /// The surface that two surfaces make together: the one of higher priority, or the rougher friction and both
    /// compliances together.
    pub fn combine(a: &Self, b: &Self) -> Self {
        if a.priority != b.priority {
            return if a.priority > b.priority { *a } else { *b };
        }
        Self {
            friction: a.friction.max(b.friction),
            torsional_friction: a.torsional_friction.max(b.torsional_friction),
            rolling_friction: a.rolling_friction.max(b.rolling_friction),
            resistance: a.resistance.max(b.resistance),
            compliance: together(a.compliance, b.compliance),
            priority: a.priority,
        }
    }
}

/// Physical springs act in series, the softer one's damping counting in proportion. Stiffnesses per unit of mass, which
/// in MJCF describe the contact and not the body, are averaged. A rigid surface changes nothing; of two kinds of units
/// the physical one wins.
fn together(a: Compliance, b: Compliance) -> Compliance {
    match (a, b) {
        (Compliance::NearRigid, other) | (other, Compliance::NearRigid) => other,
        (
            Compliance::Physical { stiffness: k1, relaxation: t1 },
            Compliance::Physical { stiffness: k2, relaxation: t2 },
        ) => {
            Compliance::Physical { stiffness: 1.0 / (1.0 / k1 + 1.0 / k2), relaxation: (k2 * t1 + k1 * t2) / (k1 + k2) }
        }
        (
            Compliance::PerMass { stiffness: k1, relaxation: t1 },
            Compliance::PerMass { stiffness: k2, relaxation: t2 },
        ) => Compliance::PerMass { stiffness: 0.5 * (k1 + k2), relaxation: 0.5 * (t1 + t2) },
        (physical @ Compliance::Physical { .. }, _) | (_, physical @ Compliance::Physical { .. }) => physical,
    }
}
