//! Blocks of the problems that the [proximal point method](super::proximal_point) solves.

use super::PARAMETERS;
use super::blocks::BlockRows;

/// A block as it is without softness, and where the last accepted step led.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proximal {
    pub r: [f64; 3],
    pub v_free: [f64; 3],
    /// `z` and `λₖ`.
    pub z: [f64; 3],
    pub lambda: [f64; 3],
    /// The impulses that lead to the velocities of the present step.
    pub balancing: [f64; 3],
}

impl Proximal {
    pub fn new(block: &BlockRows<f64>) -> Self {
        let BlockRows { r, v_free, z, lambda, .. } = *block;
        Self { r, v_free, z, lambda, balancing: lambda }
    }

    /// `τ w λₖ`
    fn shift(&self, block: &BlockRows<f64>, tau: f64) -> [f64; 3] {
        [0, 1, 2].map(|row| tau * block.w[row] * self.lambda[row])
    }

    /// Softens the block; `z` is that of the last accepted step.
    pub fn soften(&self, block: &mut BlockRows<f64>, tau: f64) {
        let shift = self.shift(block, tau);
        for row in 0..3 {
            block.r[row] = self.r[row] + tau * block.w[row];
            block.v_free[row] = self.v_free[row] - shift[row];
            block.z[row] = self.z[row] - shift[row];
        }
        block.rescale(PARAMETERS.scaling);
    }

    /// Takes the softness back: impulses and velocities are then those of the step, `z` that of its constraints.
    pub fn harden(&self, block: &mut BlockRows<f64>, tau: f64) {
        let shift = self.shift(block, tau);
        (block.r, block.v_free, block.lambda) = (self.r, self.v_free, self.balancing);
        for row in 0..3 {
            block.v_c[row] += shift[row];
            block.z[row] += shift[row];
        }
    }
}
