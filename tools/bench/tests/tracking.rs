//! The methods at work: what they should track, what they should lose, and what a replay leaves out.

use models::characters::Character;
use motion::tracking::{Control, Controller, Gains, JOINT_GAINS, ROOT_GAINS, Reference, Torque};
use multibody::{Factor, JointImpedance, Kinematics, forward_kinematics};
use sapwood_bench::accuracy::{ROUND_TRIP_RATES, TOE, round_trip};
use sapwood_bench::{Outcome, Replay, States, Subject};
use sim::stable_pd::Method;

const DENSE: Control = Control::TwoPass(Method::Dense, Torque::InverseDynamics);

fn walk() -> Subject {
    Subject::gait(Character::Humanoid, "walk").expect("a walk")
}

fn canter() -> Subject {
    Subject::gait(Character::Dog, "canter").expect("a canter")
}

fn run(subject: &Subject, effector: &str, control: Control, rate: f64, seconds: f64) -> Outcome {
    Outcome::of(subject, effector, Controller::of_paper(control), 1.0 / rate, seconds).expect("an outcome")
}

fn error(subject: &Subject, effector: &str, control: Control, rate: f64) -> f64 {
    match run(subject, effector, control, rate, 2.0) {
        Outcome::Tracked(error) => error,
        Outcome::Diverged(time) => panic!("{control:?} at {rate} Hz: lost after {time} s"),
    }
}

/// The root of the mean square of the end effector's speed in the reference, seen from the root, m/s.
fn speed(subject: &Subject, effector: &str, reference: &Reference) -> f64 {
    let mut effector = subject.effector(effector).expect("a body");
    let (mut distance, mut squares) = (Vec::new(), 0.0);
    for k in 0..reference.steps() {
        effector.compare(&subject.model, reference.at(k + 1), reference.at(k), &mut distance);
        squares += distance[0] * distance[0];
    }
    (squares / reference.steps() as f64).sqrt() / reference.dt
}

#[test]
fn a_walk_is_tracked_as_closely_as_the_gains_allow() {
    let subject = walk();
    let reference = subject.reference(1.0 / 60.0, 120).expect("a reference");
    // With target velocity 0 a joint follows as a low-pass of time constant k_d / k_p: its error is below that time times its
    // speed. The ground adds at most as much as the root sinks under the weight, where it pushes the feet back up.
    let lag = JOINT_GAINS[1] / JOINT_GAINS[0] * speed(&subject, "right_ankle", &reference);
    let sag = 9.81 * subject.model.mass() / ROOT_GAINS[0];
    for control in [Control::Embedded, DENSE] {
        let error = error(&subject, "right_ankle", control, 60.0);
        println!("{}: {error} m, lag {lag} m, sag {sag} m", control.title());
        assert!(error < lag + sag && error > 0.5 * lag, "{control:?}: {error}, lag {lag}, sag {sag}");
    }
}

#[test]
fn without_contact_all_methods_are_one() {
    for (subject, effector) in [(walk(), "right_ankle"), (canter(), TOE)] {
        let subject = subject.in_the_air().expect("no ground");
        for rate in [30.0, 240.0] {
            let embedded = error(&subject, effector, Control::Embedded, rate);
            let check = |method, torque| {
                let error = error(&subject, effector, Control::TwoPass(method, torque), rate);
                assert!((error - embedded).abs() < 1e-6, "{method:?} {torque:?}: {error}, embedded {embedded}");
            };
            for method in [Method::Maba, Method::Dense, Method::Sparse] {
                check(method, Torque::InverseDynamics);
                check(method, Torque::RoundTrip);
            }
            // What conjugate gradients leave as residual, 1e-6, the round trip hands to bodies that are 1e5 times lighter than
            // dt K_d: not so the inverse dynamics.
            check(Method::Pcg, Torque::InverseDynamics);
        }
    }
}

#[test]
fn explicit_pd_diverges() {
    for (subject, effector) in [(walk(), "right_ankle"), (canter(), TOE)] {
        for rate in [60.0, 600.0] {
            let outcome = run(&subject, effector, Control::Explicit, rate, 2.0);
            assert!(matches!(outcome, Outcome::Diverged(time) if time < 1.0), "{} {rate} {outcome:?}", subject.name());
        }
    }
}

#[test]
fn a_controller_in_the_step_takes_large_steps_on_the_ground() {
    let dog = canter();
    let [large, middle, small] = [30.0, 60.0, 240.0].map(|rate| error(&dog, TOE, Control::Embedded, rate));
    assert!(large < 1.2 * small && middle < 1.2 * small, "{large} {middle} {small}");
    // One that is done when contact comes holds as well, where friction obeys Coulomb's law.
    let two_pass = [30.0, 60.0].map(|rate| error(&dog, TOE, DENSE, rate));
    println!("embedded {large} {middle} {small}, two passes {two_pass:?}");
    assert!(two_pass.iter().all(|&error| error < 1.2 * small), "{two_pass:?} {small}");
}

#[test]
fn single_precision_loses_a_light_body_on_the_round_trip_only() {
    let lines = round_trip(1.0).expect("a canter");
    let of = |key: &str| {
        let line = lines.iter().find(|line| line.toes == 0.01 && line.key == key);
        line.unwrap_or_else(|| panic!("no {key}")).outcomes.clone()
    };
    let exact = of("air_f64_maba_kept");
    for key in ["air_f32_maba_round_trip", "air_f32_dense_round_trip"] {
        assert!(of(key).iter().all(|outcome| matches!(outcome, Outcome::Diverged(_))), "{key}: {:?}", of(key));
    }
    for key in ["air_f32_maba_kept", "air_f32_dense_kept", "air_f32_maba_inverse_dynamics", "air_f64_dense_round_trip"]
    {
        let outcomes = of(key);
        assert_eq!(outcomes.len(), ROUND_TRIP_RATES.len());
        for pair in outcomes.iter().zip(&exact) {
            let (Outcome::Tracked(error), Outcome::Tracked(exact)) = pair else { panic!("{key}: {pair:?}") };
            assert!((error - exact).abs() < 1e-5, "{key}: {error} {exact}");
        }
    }
}

#[test]
fn a_replay_is_the_same_frames_without_control() {
    for control in [Control::Embedded, DENSE, Control::TwoPass(Method::Sparse, Torque::RoundTrip)] {
        let subject = canter();
        let mut tracker = subject.tracker(Control::Embedded, 1.0 / 240.0, 60).expect("a tracker");
        let states = States::of(&mut tracker).expect("a run");
        let mut tracker = subject.tracker(control, 1.0 / 240.0, 60).expect("a tracker");
        let mut replay = Replay::of(&mut tracker, &subject, &states).expect("a replay");
        tracker.restart();
        for (q, v) in states.iter(&subject.model) {
            tracker.place(q, v);
            replay.place(q, v);
            tracker.step().expect("a step");
            replay.step().expect("a step");
            let (a, b) = (tracker.simulation(), replay.simulation());
            let change = |v: &[f64]| v.iter().zip(&a.state().v).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            // Forces of 1e5 N·m on bodies of 1e-4 kg·m² cancel; the contact solver ends at 1e-6 of its momenta.
            assert!(change(&b.state().v) < 1e-6, "{control:?}: {}", change(&b.state().v));
            assert_eq!(a.stats().iterations, b.stats().iterations, "{control:?}");
        }
    }
}

#[test]
fn what_there_is_not_is_named() {
    let controller = Controller::of_paper(DENSE);
    let missing = Outcome::of(&walk(), "left_wing", controller, 0.1, 1.0).expect_err("no wing").to_string();
    assert!(missing.starts_with("model \"humanoid\" has no moving body \"left_wing\": "), "{missing}");
    assert!(Subject::gait(Character::Snake36, "trot").is_err());
    assert!(Subject::clip(std::path::Path::new("nowhere.txt"), "run").is_err());
}

/// Explicit damping is stable for dt < 2 / λ, λ the greatest eigenvalue of M⁻¹ K_d; K_p adds 1e-5 in steps that short.
#[test]
fn explicit_pd_is_stable_up_to_its_stiffest_mode() {
    let subject = walk().in_the_air().expect("no ground");
    let (model, tree) = (&subject.model, &subject.model.tree);
    let reference = subject.reference(1e-6, 1).expect("a reference");
    let mut kinematics = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), reference.at(0), &mut kinematics);
    let mut factor = Factor::new(tree);
    factor.factor(tree, tree.all(), &kinematics, &JointImpedance::new(tree), None);
    let kd = Gains::default().controller(model, f64::INFINITY).kd;
    let (mut x, mut greatest) = (vec![1.0; model.nv()], 0.0);
    for _ in 0..2000 {
        let force: Vec<f64> = kd.iter().zip(&x).map(|(kd, x)| kd * x).collect();
        factor.solve(tree, tree.all(), &kinematics, &force, None, &mut x);
        greatest = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= greatest);
    }
    // 2 % beyond, the mode grows by 1.04 a step, until it has turned a joint to where M is another.
    for (factor, is_stable) in [(0.98, true), (1.02, false)] {
        let mut tracker = subject.tracker(Control::Explicit, factor * 2.0 / greatest, 2000).expect("a tracker");
        let mut fastest: f64 = 0.0;
        for _ in 0..2000 {
            tracker.step().expect("a step");
            fastest = tracker.simulation().state().v.iter().fold(fastest, |fastest, v| fastest.max(v.abs()));
        }
        println!("{factor} of {:e} s: {fastest} rad/s", 2.0 / greatest);
        assert_eq!(fastest < 100.0, is_stable, "{factor}: {fastest} rad/s");
    }
}
