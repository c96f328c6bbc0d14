//! Piles while they fall: impacts of many bodies in one step.

use std::sync::Arc;

use formats::LoadOptions;
use sim::{Options, Simulation};

/// Coulomb's law is met in every step, most of all in those where neither passes nor Newton's method find it and a path to it is
/// followed: more than a hundred factorisations tell them.
#[test]
fn every_step_of_falling_spheres_meets_coulombs_law() {
    let loaded = formats::load_str(&scenes::mjcf("clutter-sphere-27".parse().unwrap()), None, &LoadOptions::default());
    let loaded = loaded.unwrap();
    let options = Options { timestep: Some(0.005), ..Options::default() };
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap();
    let mut hard = 0;
    for step in 0..260 {
        simulation.step().unwrap();
        let stats = simulation.stats();
        assert_eq!(stats.unsettled, 0, "step {step}: {stats:?}");
        assert!(stats.friction_residual <= 1e-4 && stats.residual <= 1e-6, "step {step}: {stats:?}");
        hard += usize::from(stats.iterations > 100);
    }
    assert!(hard > 0);
}
