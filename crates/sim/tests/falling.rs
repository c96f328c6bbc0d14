//! What falls: piles, impacts of many bodies in one step, and a biped that jams.

mod common;

use common::simulation;
use models::scenes;
use sapwood_sim::{Options, Scheme};
use support::SplitMix64;

/// Without a budget Coulomb's law is met in every step, most of all in those where neither passes nor Newton's method find it and a path to it is
/// followed: more than a hundred factorisations tell them.
#[test]
fn every_step_of_falling_spheres_meets_coulombs_law() {
    every_step_meets_coulombs_law("clutter-sphere-27", 260);
}

/// Twice the first path ends before it is there, and another leads on.
#[test]
fn paths_that_end_are_followed_by_others() {
    every_step_meets_coulombs_law("clutter-sphere-64", 260);
}

/// 1100 constraints: paths are long, and passes have to go on where few bodies would leave them.
#[test]
fn a_crowd_meets_coulombs_law() {
    every_step_meets_coulombs_law("clutter-box-216", 280);
}

fn every_step_meets_coulombs_law(scene: &str, steps: usize) {
    let scene = scenes::mjcf(scene.parse().unwrap());
    // The scheme of the courses in which paths were seen to end; what is solved in a step does not depend on it.
    let scheme = Scheme::SymplecticEuler;
    let options = Options { timestep: Some(0.005), factorization_budget: None, scheme, ..Options::default() };
    let mut simulation = simulation(&scene, options);
    let mut hard = 0;
    for step in 0..steps {
        simulation.step().unwrap();
        let stats = simulation.stats();
        assert_eq!(stats.unsettled, 0, "step {step}: {stats:?}");
        assert!(stats.friction_residual <= 1e-4 && stats.residual <= 1e-6, "step {step}: {stats:?}");
        hard += usize::from(stats.iterations > 100);
    }
    assert!(hard > 0);
}

/// A planar biped whose feet grip well.
fn biped() -> String {
    let leg = |y: f64| {
        format!(
            r#"<body pos="0 {y} -.3"><joint axis="0 1 0" range="-20 100"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 -.4" mass="3"/>
            <body pos="0 0 -.45"><joint axis="0 1 0" range="-150 0"/><geom type="capsule" size=".04" fromto="0 0 0 0 0 -.5" mass="2"/>
            <body pos=".06 0 -.5"><joint axis="0 1 0" range="-45 45"/><geom type="capsule" size=".05" fromto="-.1 0 0 .1 0 0" mass="1"/>
            </body></body></body>"#
        )
    };
    let (left, right) = (leg(0.05), leg(-0.05));
    format!(
        r#"<mujoco><compiler angle="degree"/><option timestep=".005"/><default><geom friction="1.2"/></default><worldbody>
        <geom type="plane" size="9 9 1"/><body pos="0 0 1.35"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
        <joint axis="0 1 0"/><geom type="capsule" size=".07" fromto="0 0 -.3 0 0 .3" mass="10"/>{left}{right}</body></worldbody></mujoco>"#
    )
}

/// Strong random torques: in some steps feet jam, and Newton's method in contact space finds no solution.
#[test]
fn a_jammed_biped_meets_coulombs_law() {
    let mut simulation = simulation(&biped(), Options { factorization_budget: None, ..Options::default() });
    let mut rng = SplitMix64(1);
    let mut hard = 0;
    for step in 0..1500 {
        if step % 20 == 0 {
            let torques = rng.vector(6, 60.0);
            simulation.state_mut().applied_force[3..].copy_from_slice(&torques);
        }
        simulation.step().unwrap();
        let stats = simulation.stats();
        assert!(stats.unsettled == 0 && stats.friction_residual <= 1e-4, "step {step}: {stats:?}");
        hard += usize::from(stats.iterations > 40);
    }
    assert!(hard > 5, "{hard}");
}
