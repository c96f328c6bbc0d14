//! Equality constraints: what ties bodies and joints to each other beside the tree.

use spatial::{Pose, Real, Vec3};

use crate::Compliance;

/// A scalar of the configuration: a coordinate of a joint, or the length of a tendon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Coordinate {
    /// The coordinate of a joint with one degree of freedom, an index into [`crate::Model::joints`].
    Joint(usize),
    /// The length of a tendon, an index into [`crate::Model::tendons`].
    Tendon(usize),
}

/// What an equality constraint holds.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum EqualityKind {
    /// Two points, one of each body, coincide: 3 rows.
    Connect {
        /// The bodies, indices into [`crate::Model::bodies`].
        bodies: [usize; 2],
        /// The points in the bodies' frames, m.
        anchors: [Vec3<f64>; 2],
    },
    /// Two frames, one of each body, coincide: 6 rows.
    Weld {
        /// The bodies, indices into [`crate::Model::bodies`].
        bodies: [usize; 2],
        /// The frames in the bodies' frames.
        frames: [Pose<f64>; 2],
        /// What the turn between the frames counts for against their distance where the weld yields, m (MJCF `torquescale`).
        torque_scale: f64,
    },
    /// Two points, one of each body, keep a distance: 1 row.
    Distance {
        /// The bodies, indices into [`crate::Model::bodies`].
        bodies: [usize; 2],
        /// The points in the bodies' frames, m.
        anchors: [Vec3<f64>; 2],
        /// The distance, m.
        distance: f64,
    },
    /// `y − y₀ = p(x − x₀)`, or `y − y₀ = p(0)` without an `x` (MJCF `joint`, `tendon`; URDF `mimic`): 1 row.
    Coupling {
        /// `y` and its reference `y₀`.
        y: (Coordinate, f64),
        /// `x` and its reference `x₀`.
        x: Option<(Coordinate, f64)>,
        /// The coefficients of `p`, constant first.
        polynomial: [f64; 5],
    },
}

impl EqualityKind {
    /// The bodies that it ties to each other; none of what is between coordinates.
    pub fn bodies(&self) -> Option<[usize; 2]> {
        match *self {
            Self::Connect { bodies, .. } | Self::Weld { bodies, .. } | Self::Distance { bodies, .. } => Some(bodies),
            Self::Coupling { .. } => None,
        }
    }
}

/// An equality constraint.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Equality {
    /// Name; empty when the file gives none.
    pub name: String,
    /// What it holds.
    pub kind: EqualityKind,
    /// How much it yields.
    pub compliance: Compliance,
    /// Whether it is in force.
    pub active: bool,
}

/// A polynomial of these coefficients, constant first, and its derivative.
#[inline(always)]
pub fn polynomial<T: Real>(coefficients: &[f64], x: T) -> (T, T) {
    let (mut p, mut slope) = (T::ZERO, T::ZERO);
    for c in coefficients.iter().rev() {
        slope = slope.mul_add(x, p);
        p = p.mul_add(x, T::from_f64(*c));
    }
    (p, slope)
}
