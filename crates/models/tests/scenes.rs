//! The scenes as the reader of models sees them.

use std::collections::HashSet;
use std::sync::Arc;

use formats::{LoadOptions, Loaded};
use multibody::{Kinematics, equality_residuals, forward_kinematics};
use sapwood_models::scenes::{FORMS, Scene, UnknownScene};
use sim::{Options, Simulation};

/// One of every form, with the number of bodies, degrees of freedom and kg.
const EXAMPLES: [(&str, usize, usize, f64); 28] = [
    ("clutter-box-27", 27, 162, 27.0),
    ("clutter-box-125", 125, 750, 125.0),
    ("clutter-box-1000", 1000, 6000, 1000.0),
    ("clutter-sphere-64", 64, 384, 64.0),
    ("clutter-sphere-100", 100, 600, 100.0),
    ("tower-50", 50, 300, 50.0),
    ("stacks-100-5", 500, 3000, 500.0),
    ("mass-ratio-1000", 2, 12, 1001.0),
    // Eleven prisms: half the product of two sides and the sine of the angle between them, twice, 0.3 m wide.
    ("arch-11", 11, 66, 11.0 * 2300.0 * 0.5 * (1.0 - 0.64) * 0.3 * 0.281_732_556_841_429_7),
    ("cards-3", 15, 90, 0.3),
    ("incline-20-0.7", 1, 6, 1.0),
    ("slider-2-0.5", 1, 6, 1.0),
    ("four-bar", 3, 3, 0.0),
    ("stewart", 13, 24, 14.0),
    ("arm7", 7, 7, 15.0),
    ("tower-1", 1, 6, 1.0),
    ("flung-arm", 7, 7, 15.0),
    ("sprung-arm", 7, 7, 15.0),
    ("tumbling-body", 1, 6, 1.0),
    ("double-pendulum", 2, 2, 2.0),
    ("spring-chain-10", 10, 10, 1.0),
    ("spinning-top", 1, 3, 0.1),
    ("rolling-ball", 1, 6, 1.0),
    ("lopsided-ball", 1, 6, 1.0),
    ("billiard-balls", 2, 12, 0.4),
    ("bouncing-ball", 1, 6, 1.0),
    ("soft-gripper", 4, 7, 0.7),
    ("soft-pile", 28, 162, 27.0),
];

/// What touches something at the start.
const TOUCHING: [&str; 9] =
    ["tower", "stacks", "mass-ratio", "arch", "cards", "incline", "slider", "rolling-ball", "lopsided-ball"];

/// Scenes that start from a keyframe.
const KEYFRAMES: [(&str, &str); 9] = [
    ("flung-arm", "flung"),
    ("sprung-arm", "bent"),
    ("tumbling-body", "tumbling"),
    ("double-pendulum", "raised"),
    ("spring-chain-3", "bent"),
    ("spinning-top", "spinning"),
    ("rolling-ball", "rolling"),
    ("lopsided-ball", "rolling"),
    ("billiard-balls", "struck"),
];

fn load(name: &str) -> Loaded {
    let scene: Scene = name.parse().unwrap_or_else(|error| panic!("{error}"));
    formats::load_str(&sapwood_models::scenes::mjcf(scene), None, &LoadOptions::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn simulation(name: &str) -> Simulation {
    let Loaded { model, scene } = load(name);
    Simulation::new(Arc::new(model), Arc::new(scene), Options::default()).unwrap()
}

#[test]
fn counts_and_masses_are_as_said() {
    for (name, bodies, nv, mass) in EXAMPLES {
        let model = load(name).model;
        assert_eq!((model.bodies.len() - 1, model.nv(), &*model.name), (bodies, nv, name));
        // The links of the four-bar weigh 2 kg/m.
        let mass = if name == "four-bar" { 2.0 * (0.1 + 0.36 + 0.25) } else { mass };
        assert!((model.mass() - mass).abs() < 1e-9 * mass, "{name}: {} kg", model.mass());
    }
}

#[test]
fn every_form_has_an_example_and_names_are_kept() {
    for form in FORMS {
        let start = form.trim_end_matches(|c: char| c.is_ascii_uppercase() || c == '-');
        assert!(EXAMPLES.iter().any(|(name, ..)| name.starts_with(start)), "{form}");
    }
    for (name, ..) in EXAMPLES {
        assert_eq!(name.parse::<Scene>().unwrap().to_string(), name);
    }
}

#[test]
fn everything_that_moves_has_a_name_of_its_own() {
    for (name, ..) in EXAMPLES {
        let model = load(name).model;
        let names: HashSet<&str> = model.bodies.iter().map(|body| &*body.name).collect();
        assert!(names.len() == model.bodies.len() && !names.contains(""), "{name}");
        assert!(model.joints.iter().all(|joint| !joint.name.is_empty()), "{name}");
    }
}

/// Bodies of a pile start apart; whatever else touches does so without overlapping.
#[test]
fn nothing_overlaps_at_the_start() {
    for (name, ..) in EXAMPLES {
        let mut simulation = simulation(name);
        simulation.step().unwrap_or_else(|error| panic!("{name}: {error}"));
        let stats = simulation.stats();
        assert!(stats.penetration < 1e-9, "{name}: {} m", stats.penetration);
        assert_eq!(stats.active_contacts > 0, TOUCHING.iter().any(|start| name.starts_with(start)), "{name}");
    }
}

#[test]
fn what_should_stand_stands() {
    for name in ["mass-ratio-1000", "arch-11", "cards-2", "stacks-4-5", "incline-20-0.7"] {
        let mut simulation = simulation(name);
        let start = simulation.state().q.clone();
        for _ in 0..200 {
            simulation.step().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let moved = start.iter().zip(&simulation.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 2e-3, "{name}: {moved}");
    }
}

#[test]
fn a_slope_above_the_friction_angle_lets_the_block_slide() {
    let mut simulation = simulation("incline-30-0.4");
    let start = simulation.state().q[0];
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    let (sin, cos) = (0.5, 0.75_f64.sqrt());
    let way = (simulation.state().q[0] - start) / cos;
    let expected = 0.5 * 9.81 * (sin - 0.4 * cos);
    // A first-order step and the convex cone's gap are off by about a step.
    assert!((way / expected - 1.0).abs() < 0.02, "{way} m, expected {expected} m");
}

#[test]
fn the_slider_starts_with_its_speed() {
    let mut simulation = simulation("slider-2.5-0.5");
    simulation.reset(Some("sliding")).unwrap();
    assert_eq!(simulation.state().v, [2.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn keyframes_are_states_of_motion_or_of_strain() {
    for (name, keyframe) in KEYFRAMES {
        let mut simulation = simulation(name);
        simulation.reset(Some(keyframe)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let start = simulation.state().q.clone();
        simulation.step().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(start.iter().zip(&simulation.state().q).any(|(a, b)| (a - b).abs() > 1e-6), "{name}");
    }
}

/// By how much a loop is open, m.
fn opening(simulation: &Simulation) -> f64 {
    let (model, q) = (simulation.model(), &simulation.state().q);
    let mut kinematics = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
    let mut residuals = Vec::new();
    equality_residuals(model, &kinematics, q, &mut residuals);
    residuals.into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// The widest that a loop opens in a second in which the servos move, m.
fn widest_opening(name: &str, timestep: f64) -> f64 {
    let Loaded { model, scene } = load(name);
    let options = Options { timestep: Some(timestep), ..Options::default() };
    let mut simulation = Simulation::new(Arc::new(model), Arc::new(scene), options).unwrap();
    // What is written to twelve decimals.
    assert!(opening(&simulation) < 1e-11, "{name}: {} m", opening(&simulation));
    simulation.state_mut().ctrl.fill(0.05);
    let mut widest: f64 = 0.0;
    for _ in 0..(1.0 / timestep) as usize {
        simulation.step().unwrap_or_else(|error| panic!("{name}: {error}"));
        widest = widest.max(opening(&simulation));
    }
    widest
}

/// A step misses an arc by ½ dt² v²/r, and the next one rights that: halving the step leaves a quarter.
#[test]
fn loops_are_closed_and_open_with_the_square_of_the_time_step() {
    for (name, loops) in [("four-bar", 1), ("stewart", 6)] {
        assert_eq!(load(name).model.equalities.len(), loops);
        let [coarse, fine] = [0.004, 0.002].map(|timestep| widest_opening(name, timestep));
        assert!((1e-5..1e-3).contains(&coarse), "{name}: {coarse} m");
        assert!((3.0..5.0).contains(&(coarse / fine)), "{name}: {coarse} m, {fine} m");
    }
}

#[test]
fn everything_is_simulated() {
    for (name, ..) in EXAMPLES {
        let model = load(name).model;
        assert!(model.warnings.is_empty(), "{name}: {:?}", model.warnings);
    }
}

#[test]
fn names_of_none_are_errors_that_say_what_is_expected() {
    let all = "expected one of clutter-box-COUNT, clutter-sphere-COUNT, tower-COUNT";
    for (name, words) in [
        ("", all),
        ("zeppelin", all),
        // Those that are like it, with its numbers where they fit.
        ("clutter", "did you mean \"clutter-box-COUNT\" or \"clutter-sphere-COUNT\"?"),
        ("clutter-cone-27", "did you mean \"clutter-box-27\""),
        ("tower", "did you mean \"tower-COUNT\"?"),
        ("tower-5-5", "did you mean \"tower-COUNT\"?"),
        ("Tower-5", "did you mean \"tower-5\"?"),
        ("four_bar", "did you mean \"four-bar\"?"),
        ("arm7-1", "did you mean \"arm7\""),
    ] {
        let error = name.parse::<Scene>().unwrap_err();
        assert!(matches!(error, UnknownScene::Name { .. }), "{name}");
        let error = error.to_string();
        assert!(error.contains(words) && error.chars().count() < 300, "{error}");
    }
    for name in [
        "tower-0",
        "tower-x",
        "tower-1e9",
        "clutter-box-99999",
        "arch-2",
        "cards-50",
        "mass-ratio-NaN",
        "mass-ratio-0",
        "incline-90-1",
        "incline-20-inf",
        "slider-101-1",
        "stacks-1-0",
    ] {
        let error = name.parse::<Scene>().unwrap_err();
        assert!(matches!(error, UnknownScene::Number { .. }), "{name}");
        assert!(error.to_string().contains(" from ") && error.to_string().contains(name), "{error}");
    }
}
