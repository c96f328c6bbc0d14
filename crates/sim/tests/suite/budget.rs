//! The budget of factorisations: it bounds a step, and what is not converged is said.

use crate::common::{self, simulation};
use models::characters::{self, Character};
use models::scenes;
use sapwood_sim::{Options, Simulation, Stats};

/// Spheres that fall upon each other: unlimited searches for Coulomb's law take more than a hundred factorisations in some steps.
fn spheres(factorization_budget: Option<usize>) -> Simulation {
    let scene = scenes::mjcf("clutter-sphere-27".parse().unwrap());
    simulation(&scene, Options { timestep: Some(0.005), factorization_budget, ..Options::default() })
}

const STEPS: usize = 200;

/// What every step does.
fn run(simulation: &mut Simulation) -> Vec<Stats> {
    let step = |_| {
        simulation.step().unwrap();
        *simulation.stats()
    };
    (0..STEPS).map(step).collect()
}

/// After the search one convex problem is left, from velocities near its solution: 30 Newton steps are ample, where an island may
/// take 300.
const LAST_PROBLEM: usize = 30;
/// An island of the full size has the budget as it is, a smaller one as many more as it is smaller.
const FULL_SIZE: usize = 750 + 3 * 320;

#[test]
fn the_budget_bounds_a_step_and_momentum_is_balanced_all_the_same() {
    for budget in [0, 1, 5, 10] {
        let (steps, mut alone) = (run(&mut spheres(Some(budget))), 0);
        for (step, stats) in steps.iter().enumerate() {
            if stats.islands == 1 {
                // Its velocities make it greater still.
                let most = budget * FULL_SIZE / (3 * stats.constraints) + LAST_PROBLEM;
                assert!(stats.iterations <= most, "budget {budget}, step {step}: {stats:?}");
                alone += 1;
            }
            assert!(stats.residual <= 1e-6, "budget {budget}, step {step}: {stats:?}");
            // Converged is what meets the law to a hundred tolerances.
            assert_eq!(stats.unsettled > 0, stats.friction_residual > 1e-4, "budget {budget}, step {step}: {stats:?}");
        }
        assert!(alone > 50 && steps.iter().any(|stats| stats.unsettled > 0), "budget {budget}: {alone}");
    }
}

/// By default what is small is solved: without a limit these steps take 341 factorisations at most.
#[test]
fn small_piles_settle_within_the_default() {
    let steps = run(&mut spheres(Options::default().factorization_budget));
    assert!(steps.iter().any(|stats| stats.iterations > 40 * stats.islands));
    assert!(steps.iter().all(|stats| stats.unsettled == 0 && stats.friction_residual <= 1e-4));
}

#[test]
fn a_greater_budget_leaves_fewer_steps_that_are_not_converged() {
    let [few, more, all] = [Some(3), Some(10), None].map(|budget| {
        let steps = run(&mut spheres(budget));
        steps.iter().filter(|stats| stats.unsettled > 0).count()
    });
    assert!(few > 2 * more && more > 0 && all == 0, "{few} {more} {all}");
}

/// As long as nothing spends it, the budget has no part in the result.
#[test]
fn steps_within_the_budget_are_those_without_one() {
    let (mut bounded, mut unlimited) = (spheres(Some(100)), spheres(None));
    let mut compared = 0;
    for _ in 0..STEPS {
        let before = bounded.state().to_bytes();
        unlimited.state_mut().restore(&before).unwrap();
        bounded.step().unwrap();
        unlimited.step().unwrap();
        if unlimited.stats().iterations < 100 && unlimited.stats().active_contacts > 0 {
            assert!(bounded.state().to_bytes() == unlimited.state().to_bytes());
            assert_eq!(bounded.stats(), unlimited.stats());
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Boxes that start in each other and in the ground, each turned otherwise.
fn boxes_in_each_other() -> String {
    let at = |k: usize| [k % 4, k / 4 % 4, k / 16].map(|i| 0.14 * i as f64);
    let body = |k: usize| {
        let ([x, y, z], turn) = (at(k), 37 * k);
        format!(
            r#"<body pos="{x} {y} {z}" euler="{turn} {} {k}"><freejoint/><geom type="box" size=".1 .08 .06"/></body>"#,
            2 * turn
        )
    };
    let bodies: String = (0..64).map(body).collect();
    format!(r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>"#)
}

#[test]
fn a_recovery_that_ends_at_its_budget_is_counted() {
    let [few, all] = [Some(1), None].map(|factorization_budget| {
        let options = Options { timestep: Some(0.005), factorization_budget, ..Options::default() };
        let mut s = common::simulation(&boxes_in_each_other(), options);
        let counts = (0..20).map(|_| {
            s.step().unwrap();
            s.stats().unfinished_recoveries
        });
        counts.sum::<usize>()
    });
    println!("{few} {all}");
    assert!(few > 0 && all == 0, "{few} {all}");
}

#[test]
fn a_step_in_many_parts_has_not_the_budget_in_each() {
    // A dog that 1e6 N tear at: a step in 42 parts took 1,465 factorisations.
    let text = characters::mjcf(Character::Dog, &characters::Options::default());
    let mut most = 0;
    for force in (6..150).step_by(9) {
        let mut s = simulation(&text, Options::default());
        s.step().and_then(|()| s.step()).unwrap();
        s.state_mut().applied_wrench[force] = 1e6;
        for _ in 0..4 {
            if s.step().is_err() {
                break;
            }
            most = most.max(s.stats().iterations);
        }
    }
    assert!(most < 700, "{most}");
}

/// A hundred boxes in each other: which of thousands of contacts push is found in as many steps as of few. Newton's method alone took 130, and left
/// recovery unfinished.
#[test]
fn boxes_in_each_other_take_few_steps() {
    let mut bodies = String::new();
    for k in 0..125 {
        let [x, y, z] = [k / 25, k / 5 % 5, k % 5].map(|place| 0.07 * f64::from(place));
        bodies += &format!(
            r#"<body pos="{x} {y} {}" euler="{} {} {}"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>"#,
            z + 0.05,
            37 * k,
            61 * k,
            17 * k
        );
    }
    let scene = format!(r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>"#);
    let mut simulation = simulation(&scene, Options { timestep: Some(0.005), ..Options::default() });
    simulation.step().unwrap();
    let stats = simulation.stats();
    assert!(stats.constraints > 2000 && stats.iterations < 60, "{stats:?}");
    assert!(stats.residual <= 1e-6 && stats.unfinished_recoveries == 0, "{stats:?}");
}
