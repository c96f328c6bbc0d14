//! Pseudo-random numbers that are the same everywhere: for starts that differ by a seed, and for tests. A generator of a crate may give others in
//! its next version; starts of episodes, what users recorded and golden bits depend on these.
//!
//! ```
//! use sapwood_support::SplitMix64;
//!
//! let mut random = SplitMix64(7);
//! let angle = random.uniform(0.0, 90.0);
//! assert!((0.0..90.0).contains(&angle));
//! assert_eq!(SplitMix64(7).uniform(0.0, 90.0), angle);
//! ```

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Begins with the seed; any will do.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// All 64 bits, each as random as the others.
    #[expect(clippy::should_implement_trait, reason = "an iterator without an end invites loops without one")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `low..high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in −1..1.
    pub fn symmetric(&mut self) -> f64 {
        self.uniform(-1.0, 1.0)
    }

    /// One of `0..n`, all but equally likely; `n` is above 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// `n` numbers, uniform in `-size..size`.
    pub fn vector(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| self.uniform(-size, size)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_agrees_with_the_published_sequence() {
        // The first outputs for seed 1234567 in the authors' test vectors.
        let mut random = SplitMix64(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbers_are_in_range_and_centred() {
        let numbers = SplitMix64(7).vector(10_000, 1.0);
        assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
        // The mean of n uniform numbers has standard deviation 1/√(3 n) = 0.0058.
        assert!((numbers.iter().sum::<f64>() / 10_000.0).abs() < 0.03);
        let mut random = SplitMix64(8);
        let counts = (0..6000).fold([0_u32; 6], |mut counts, _| {
            counts[random.below(6)] += 1;
            counts
        });
        // Five standard deviations of a count, √(6000 · 5)/6.
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 145), "{counts:?}");
    }
}
