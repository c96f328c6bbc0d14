//! The one interface of constraints, `v_c ↦ (ℓ, γ, G)`, and the enum that dispatches to them.

mod contact;
mod limit;

pub use contact::Contact;
pub use limit::Limit;

/// A constraint: a convex cost `ℓ(v_c)` of its constraint velocity `v_c`, with
///
/// ```text
/// γ = −∂ℓ/∂v_c      the impulse
/// G =  ∂²ℓ/∂v_c²    the Hessian, symmetric and positive semidefinite
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// Compliant contact with Coulomb friction, three rows.
    Contact(Contact),
    /// Compliant one-sided constraint, one row.
    Limit(Limit),
}

impl Constraint {
    /// The number of rows in `J`, `v_c` and `γ`: 3 or 1.
    #[inline]
    pub fn rows(&self) -> usize {
        match self {
            Constraint::Contact(_) => Contact::ROWS,
            Constraint::Limit(_) => Limit::ROWS,
        }
    }

    /// The estimate of its diagonal block of the Delassus operator; 0 when unknown.
    #[inline]
    pub(crate) fn delassus(&self) -> f64 {
        match self {
            Constraint::Contact(contact) => contact.delassus(),
            Constraint::Limit(limit) => limit.delassus(),
        }
    }

    /// The guess of the free velocity; NaN when there is none.
    #[inline]
    pub(crate) fn free(&self) -> &[f64] {
        match self {
            Constraint::Contact(contact) => contact.free(),
            Constraint::Limit(limit) => limit.free(),
        }
    }

    /// Writes the velocity that the constraint would meet if it alone did not push, `v_c − w γ`: what the other constraints
    /// make of it. Where `w` is unknown, `v_c` itself.
    ///
    /// # Panics
    /// If a slice is not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn free_velocity(&self, v_c: &[f64], gamma: &[f64], free: &mut [f64]) {
        let (rows, w) = (self.rows(), self.delassus());
        for ((free, v_c), gamma) in free[..rows].iter_mut().zip(&v_c[..rows]).zip(&gamma[..rows]) {
            *free = v_c - w * gamma;
        }
    }

    /// The constraint with `R + κ w` in place of `R`, held at the impulse `about`: both have it at the same velocity. Where `w`
    /// is unknown, the constraint itself.
    pub(crate) fn softened(&self, kappa: f64, about: &[f64]) -> Constraint {
        let soft = kappa * self.delassus();
        match self {
            Constraint::Contact(contact) => Constraint::Contact(contact.softened(soft, about)),
            Constraint::Limit(limit) => Constraint::Limit(limit.softened(soft, about[0])),
        }
    }

    /// Writes the constraint velocity of this constraint alone where it would move with `free`: `v_c = free + w γ(v_c)`.
    #[inline]
    pub(crate) fn alone(&self, free: &[f64], v_c: &mut [f64]) {
        match self {
            Constraint::Contact(contact) => v_c.copy_from_slice(&contact.alone([free[0], free[1], free[2]])),
            Constraint::Limit(limit) => v_c[0] = limit.alone(free[0]),
        }
    }

    /// Writes `γ(v_c)` and `G(v_c)`, returns `ℓ(v_c)`.
    ///
    /// # Panics
    /// If `v_c` and `gamma` are not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn evaluate(&self, v_c: &[f64], gamma: &mut [f64], hessian: &mut Block) -> f64 {
        match self {
            Constraint::Contact(contact) => {
                let (cost, impulse, block) = contact.evaluate([v_c[0], v_c[1], v_c[2]]);
                gamma.copy_from_slice(&impulse);
                *hessian = block;
                cost
            }
            Constraint::Limit(limit) => {
                let (cost, impulse, curvature) = limit.evaluate(v_c[0]);
                gamma[0] = impulse;
                *hessian = Block::scalar(curvature);
                cost
            }
        }
    }
}

/// One diagonal block of `G`: a symmetric positive semidefinite 3×3 matrix.
///
/// The entries are `[G₁₁, G₁₂, G₁₃, G₂₂, G₂₃, G₃₃]`; a constraint of one row uses the first alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block(pub [f64; 6]);

impl Block {
    /// The block of an inactive constraint.
    pub const ZERO: Block = Block([0.0; 6]);

    /// The block of a constraint with one row.
    #[inline]
    pub fn scalar(g: f64) -> Block {
        Block([g, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    /// The block `diag(a, b, c)`.
    #[inline]
    pub fn diagonal(a: f64, b: f64, c: f64) -> Block {
        Block([a, 0.0, 0.0, b, 0.0, c])
    }

    /// Whether the block adds to `H`: a positive semidefinite matrix is zero if its diagonal is.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.0[0] != 0.0 || self.0[3] != 0.0 || self.0[5] != 0.0
    }

    /// `G x`.
    #[inline]
    pub fn apply(&self, x: [f64; 3]) -> [f64; 3] {
        let [g11, g12, g13, g22, g23, g33] = self.0;
        [
            g11 * x[0] + g12 * x[1] + g13 * x[2],
            g12 * x[0] + g22 * x[1] + g23 * x[2],
            g13 * x[0] + g23 * x[1] + g33 * x[2],
        ]
    }

    /// `xᵀ G x`, `x` having three entries, or one for a block of one row.
    ///
    /// # Panics
    /// If `x` has another number of entries.
    #[inline]
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        match *x {
            [a] => self.0[0] * a * a,
            [a, b, c] => {
                let g = self.apply([a, b, c]);
                a * g[0] + b * g[1] + c * g[2]
            }
            _ => unreachable!("constraints have one row or three"),
        }
    }
}
