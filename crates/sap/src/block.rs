//! Blocks of G, one for each constraint.

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

    /// How a contact's normal impulse follows its velocities: the last row.
    #[inline]
    pub fn normal_row(&self) -> [f64; 3] {
        [self.0[2], self.0[4], self.0[5]]
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
        let [a, b, c] = widened(x);
        let g = self.apply([a, b, c]);
        a * g[0] + b * g[1] + c * g[2]
    }
}

/// Writes the entries of one row or three. A copy of as many as there are would be a call.
#[inline(always)]
pub(crate) fn narrow(entries: [f64; 3], rows: &mut [f64]) {
    match rows {
        [x] => *x = entries[0],
        [x, y, z] => [*x, *y, *z] = entries,
        _ => unreachable!("constraints have one row or three"),
    }
}

/// Three entries of one row or three.
#[inline(always)]
pub(crate) fn widened(rows: &[f64]) -> [f64; 3] {
    match *rows {
        [x] => [x, 0.0, 0.0],
        [x, y, z] => [x, y, z],
        _ => unreachable!("constraints have one row or three"),
    }
}
