//! Steps of a world in a lane of its own are those of the step for all models.

mod common;

use characters::{Character, Options as CharacterOptions};
use common::{BIPED, simulation};
use random::SplitMix64;
use sapwood_sim::{Options, Simulation};

fn humanoid(options: Options) -> Simulation {
    simulation(&characters::mjcf(Character::Humanoid, &CharacterOptions::default()), options)
}

/// Pushes all joints at random.
fn push(s: &mut Simulation, random: &mut SplitMix64, most: f64) {
    let root = 6;
    s.state_mut().applied_force[root..].iter_mut().for_each(|force| *force = most * random.symmetric());
}

#[test]
fn residuals_are_within_the_tolerance() {
    let tolerance = Options::default().tolerance;
    let (mut pushing, mut worst) = (0, 0.0_f64);
    for seed in 0..WORLDS {
        let mut random = SplitMix64(seed);
        let options = Options { timestep: Some(0.004), ..Options::default() };
        let (mut s, most) = if seed % 2 == 0 { (humanoid(options), 60.0) } else { (simulation(BIPED, options), 30.0) };
        for step in 0..2000 {
            if step % 25 == 0 {
                push(&mut s, &mut random, most);
            }
            s.step().unwrap();
            let stats = s.stats();
            pushing += usize::from(stats.active_contacts > 0);
            if stats.unsettled == 0 {
                worst = worst.max(stats.residual);
            }
        }
    }
    assert!(worst <= tolerance && pushing > 1000 * WORLDS as usize, "{worst}, {pushing}");
}

/// Worlds that are pushed at random.
const WORLDS: u64 = 20;
