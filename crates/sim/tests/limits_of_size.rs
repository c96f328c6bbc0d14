//! Models larger than memory: an error, not the end of the process; and chains, which are built in linear time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use formats::LoadOptions;
use sapwood_sim::{Options, Simulation, SimulationError};

fn simulation(text: &str) -> Result<Simulation, SimulationError> {
    let loaded = formats::load_str(text, None, &LoadOptions::default()).expect("a model");
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), Options::default())
}

fn in_one_place(count: usize, geom: &str) -> String {
    let body = format!("<body><freejoint/>{geom}</body>");
    format!("<mujoco><worldbody>{}</worldbody></mujoco>", body.repeat(count))
}

#[test]
fn two_thousand_bodies_in_one_place_are_an_error() {
    for geom in ["<geom size='.1'/>", "<geom type='box' size='.1 .1 .1'/>"] {
        let mut crowd = simulation(&in_one_place(2000, geom)).expect("a simulation");
        let before = crowd.state().clone();
        let error = crowd.step().expect_err("too many contacts");
        let expected = matches!(error, SimulationError::TooMany { source: geometry::TooMany::Contacts, step: 0, .. });
        assert!(expected, "{error}");
        assert_eq!(*crowd.state(), before);
        // Apart from each other they fall.
        for (k, q) in crowd.state_mut().q.chunks_exact_mut(7).enumerate() {
            q[0] = k as f64;
        }
        crowd.step().expect("a step");
        assert_eq!(crowd.stats().contacts, 0);
    }
}

#[test]
fn pairs_have_a_limit_too_and_are_found_again() {
    let mut crowd = simulation(&in_one_place(3000, "<geom size='.1'/>")).expect("a simulation");
    for threads in [1, 2] {
        let options = Options { threads, ..*crowd.options() };
        crowd = Simulation::new(crowd.model().clone(), crowd.scene().clone(), options).expect("a simulation");
        for _ in 0..2 {
            let error = crowd.step().expect_err("too many pairs");
            assert!(matches!(error, SimulationError::TooMany { source: geometry::TooMany::Pairs, .. }), "{error}");
        }
    }
    // Two of them meet, the others are far.
    for (k, q) in crowd.state_mut().q.chunks_exact_mut(7).enumerate() {
        q[0] = 10.0 * k as f64;
    }
    crowd.state_mut().q[7] = 0.1;
    crowd.step().expect("a step");
    assert_eq!(crowd.stats().contacts, 1);
}

#[test]
fn geoms_that_touch_nothing_may_lie_in_one_place() {
    let bodies = in_one_place(20_000, "<geom size='.1' contype='0'/>");
    simulation(&bodies).expect("a simulation").step().expect("a step");
}

/// A chain of 40 000 links takes a second or two; with the square of the links it would be minutes.
#[test]
fn a_long_chain_is_built_in_linear_time() {
    let links = 40_000;
    let open = "<body pos='0 0 .1'><joint axis='0 1 0'/><geom size='.01' contype='0'/>";
    let text = format!("{}{}", open.repeat(links), "</body>".repeat(links));
    let start = Instant::now();
    let chain = simulation(&format!("<mujoco><worldbody>{text}</worldbody></mujoco>")).expect("a simulation");
    assert_eq!(chain.model().nv(), links);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
