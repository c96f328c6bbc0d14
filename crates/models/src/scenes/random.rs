//! Placements that look random and are the same everywhere.

use super::text::{Quat, Vec3};

/// Xorshift with a multiplication at the end: Vigna, "An experimental exploration of Marsaglia's xorshift generators,
/// scrambled", ACM TOMS 2016 (xorshift64*).
pub struct Random(u64);

impl Random {
    /// The sequence that all scenes use.
    pub fn new() -> Self {
        Self(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform in −1..1.
    pub fn symmetric(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 * 2.0f64.powi(-52) - 1.0
    }

    /// A vector in the cube −1..1.
    pub fn vector(&mut self) -> Vec3 {
        [self.symmetric(), self.symmetric(), self.symmetric()]
    }

    /// A rotation, all alike: a point in the ball of four dimensions, by rejection, drawn out to its surface.
    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = [self.symmetric(), self.symmetric(), self.symmetric(), self.symmetric()];
            let squared: f64 = q.iter().map(|x| x * x).sum();
            if (0.01..=1.0).contains(&squared) {
                return q.map(|x| x / squared.sqrt());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_range_evenly() {
        let mut random = Random::new();
        let n = 10_000;
        let values: Vec<f64> = (0..n).map(|_| random.symmetric()).collect();
        assert!(values.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let square = values.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        // Four standard errors: 0.577 / 100 and 0.298 / 100.
        assert!(mean.abs() < 0.024 && (square - 1.0 / 3.0).abs() < 0.012, "{mean} {square}");
    }

    #[test]
    fn rotations_are_unit_and_prefer_no_axis() {
        let mut random = Random::new();
        let n = 10_000;
        let mut squares = [0.0; 4];
        for _ in 0..n {
            let q = random.rotation();
            assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
            for (sum, x) in squares.iter_mut().zip(q) {
                *sum += x * x / f64::from(n);
            }
        }
        // Four standard errors of a mean of x², whose variance on the sphere is 1/16.
        assert!(squares.iter().all(|s| (s - 0.25).abs() < 0.01), "{squares:?}");
    }
}
