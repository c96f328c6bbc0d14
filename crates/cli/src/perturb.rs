//! A random start: the same motion from slightly different beginnings.

use multibody::{JointType, Model, integrate};
use sim::State;

/// Largest turn of a joint, rad.
const ANGLE: f64 = 0.05;
/// Largest shift of a sliding joint, m.
const SHIFT: f64 = 0.01;
/// Largest velocity, rad/s or m/s.
const VELOCITY: f64 = 0.1;

/// Moves every joint by a small random amount within its range, and adds small velocities. Free bodies stay where they
/// are, so that none starts inside another.
pub fn perturb(model: &Model, state: &mut State, seed: u64) {
    let mut random = SplitMix64(seed);
    let mut turn = vec![0.0; model.nv()];
    for node in &model.tree.nodes {
        let moves = match node.joint {
            JointType::Prismatic => &[SHIFT][..],
            JointType::Revolute | JointType::Screw => &[ANGLE],
            JointType::Ball => &[ANGLE; 3],
            JointType::Free => &[],
        };
        for (turn, size) in turn[node.v..].iter_mut().zip(moves) {
            *turn = size * random.symmetric();
        }
    }
    integrate(&model.tree, &mut state.q, &turn, 1.0);
    for joint in model.joints.iter().filter(|joint| joint.kind.nq() == 1) {
        if let Some((low, high)) = joint.range {
            state.q[joint.q] = state.q[joint.q].max(low).min(high);
        }
    }
    for v in &mut state.v {
        *v += VELOCITY * random.symmetric();
    }
}

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in −1..1.
    fn symmetric(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2.0f64.powi(-52) - 1.0
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
        let mut random = SplitMix64(7);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.symmetric()).collect();
        assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
        // The mean of n uniform numbers has standard deviation 1/√(3 n) = 0.0058.
        assert!((numbers.iter().sum::<f64>() / 10_000.0).abs() < 0.03);
    }
}
