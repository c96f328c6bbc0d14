//! Drives within their limits: whatever the gains, a step is the minimiser of one convex problem.

use crate::common::{run, simulation};
use models::characters::{self, Character, Options as CharacterOptions};
use models::scenes;
use multibody::{InverseWeights, Kinematics, RneaWorkspace, SpringPoint, forward_kinematics, rnea, velocities};
use sapwood_sim::{Options, Pd, Scheme, Simulation};

const LIMITS: [f64; 7] = [200.0, 200.0, 120.0, 120.0, 60.0, 40.0, 20.0];

fn at(timestep: f64) -> Options {
    Options { timestep: Some(timestep), ..Options::default() }
}

/// The forces on the degrees of freedom that take the velocity from `v` to that of the simulation in one step from `q`.
fn forces(s: &Simulation, q: &[f64], v: &[f64]) -> Vec<f64> {
    let (model, dt) = (s.model(), s.timestep());
    let tree = &model.tree;
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), q, &mut kin);
    velocities(tree, tree.all(), v, &mut kin);
    let a: Vec<f64> = s.state().v.iter().zip(v).map(|(after, before)| (after - before) / dt).collect();
    let mut tau = vec![0.0; tree.nv];
    rnea(tree, tree.all(), &kin, v, Some(&a), model.gravity, &mut RneaWorkspace::new(tree), &mut tau);
    for i in 0..tree.nv {
        tau[i] += model.armature[i] * a[i];
    }
    tau
}

const KP: f64 = 1e6;
const KD: f64 = 2e4;

/// How the limits of an arm are given.
#[derive(Clone, Copy, Debug)]
enum Limit {
    ForceRange,
    Controller,
    Joint,
}

/// The arm of seven joints with gains of 1e6 and 2e4, far from its target.
fn arm(limit: Limit, options: Options) -> Simulation {
    let text = scenes::mjcf("arm7".parse().unwrap());
    let mut text = text.replace(r#"kp="1e5" kv="1e3""#, r#"kp="1e6" kv="2e4""#);
    if matches!(limit, Limit::Joint) {
        for (k, torque) in LIMITS.iter().enumerate() {
            text = text.replace(&format!(r#"forcelimited="true" forcerange="-{torque} {torque}""#), "");
            let joint = format!(r#"name="joint{k}""#);
            let limited = format!(r#"{joint} actuatorfrclimited="true" actuatorfrcrange="-{torque} {torque}""#);
            text = text.replace(&format!("<joint {joint}"), &format!("<joint {limited}"));
        }
    }
    if matches!(limit, Limit::Controller) {
        let (start, end) = (text.find("<actuator>").unwrap(), text.find("</actuator>").unwrap());
        text.replace_range(start..end + "</actuator>".len(), "");
    }
    let mut s = simulation(&text, options);
    if matches!(limit, Limit::Controller) {
        let (kp, kd, target, target_velocity) = (vec![KP; 7], vec![KD; 7], TARGET.to_vec(), vec![0.0; 7]);
        s.state_mut().pd = Pd { kp, kd, target, target_velocity, effort_limit: LIMITS.to_vec() };
    } else {
        s.state_mut().ctrl.copy_from_slice(&TARGET);
    }
    for (k, q) in s.state_mut().q.iter_mut().enumerate() {
        *q = 0.4 * (1.3 * k as f64).sin();
    }
    s
}

const TARGET: [f64; 7] = [0.5, -0.4, 0.3, 0.8, -0.6, 0.5, 0.2];

#[test]
fn every_step_of_an_arm_balances_its_limited_drives() {
    for limit in [Limit::ForceRange, Limit::Controller, Limit::Joint] {
        for dt in [0.01, 0.001] {
            // Coriolis forces at the beginning of the step are those that `forces` knows.
            let mut s = arm(limit, Options { tolerance: 1e-12, scheme: Scheme::SymplecticEuler, ..at(dt) });
            let weights = InverseWeights::new(s.model());
            let (mut at_limit, mut worst) = (0, 0.0_f64);
            for _ in 0..(3.0 / dt) as usize {
                let (q, v) = (s.state().q.clone(), s.state().v.clone());
                run(&mut s, 1);
                let tau = forces(&s, &q, &v);
                for i in 0..7 {
                    let after = s.state().v[i];
                    // A servo's spring is where springs are taken; the controller's at the place where v would lead.
                    let SpringPoint { lead, reach } = SpringPoint::of(dt * dt * KP * weights.dofs[i]);
                    let is_pd = matches!(limit, Limit::Controller);
                    let ahead = if is_pd { v[i] } else { lead * v[i] + reach * (after - v[i]) };
                    let force = -KP * (q[i] + dt * ahead - TARGET[i]) - KD * after;
                    let expected = force.clamp(-LIMITS[i], LIMITS[i]);
                    // Zero where the velocities are the minimiser's, whichever drives the solver set apart.
                    worst = worst.max((tau[i] - expected).abs() / LIMITS[i]);
                    at_limit += usize::from(expected.abs() == LIMITS[i]);
                }
            }
            assert!(worst < 1e-6, "{limit:?} {dt}: {worst} of the limit");
            assert!(at_limit > 30, "{limit:?} {dt}: {at_limit}");
            let error = s.state().q.iter().zip(TARGET).fold(0.0_f64, |m, (q, t)| m.max((q - t).abs()));
            let speed = s.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(error < 1e-3 && speed < 1e-4, "{limit:?} {dt}: {error} {speed}");
        }
    }
}

#[test]
fn a_step_does_not_depend_on_the_drives_that_were_at_their_limits() {
    for limit in [Limit::ForceRange, Limit::Controller] {
        let [mut s, mut cold] = [(); 2].map(|()| arm(limit, Options { tolerance: 1e-12, ..at(0.005) }));
        for step in 0..200 {
            // What the last step left tells which drives to set apart at first.
            cold.state_mut().restore(&s.state().to_bytes()).unwrap();
            cold.state_mut().warm_start.clear();
            run(&mut s, 1);
            run(&mut cold, 1);
            for (a, b) in s.state().v.iter().zip(&cold.state().v) {
                assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{limit:?}, step {step}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_controller_within_limits_settles_whatever_its_gains() {
    for limits in [LIMITS, [f64::INFINITY; 7]] {
        for kd in [0.0, 1e2, 1e3, 1e4, 1e5] {
            let mut s = arm(Limit::Controller, Options { tolerance: 1e-6, ..at(0.01) });
            s.state_mut().pd.kd.fill(kd);
            s.state_mut().pd.effort_limit.copy_from_slice(&limits);
            // 1e5 pulls with 1e6/1e5 = 10 1/s.
            run(&mut s, 400);
            let error = s.state().q.iter().zip(TARGET).fold(0.0_f64, |m, (q, t)| m.max((q - t).abs()));
            let speed = s.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(error < 1e-4 && speed < 1e-6, "{limits:?} {kd}: {error} {speed}");
        }
    }
}

#[test]
fn a_limit_of_the_servo_and_one_of_the_joint_are_one() {
    let [mut a, mut b] =
        [Limit::ForceRange, Limit::Joint].map(|limit| arm(limit, Options { tolerance: 1e-6, ..at(0.005) }));
    for _ in 0..200 {
        run(&mut a, 1);
        run(&mut b, 1);
        assert_eq!(a.state().v, b.state().v);
    }
}

#[test]
fn the_limit_of_a_joint_bounds_the_sum_of_its_drives() {
    let mjcf = |actuators: &str, range: &str| {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body>
            <joint name="j" actuatorfrclimited="true" actuatorfrcrange="{range}"/>
            <inertial pos="0 0 0" mass="1" diaginertia=".4 .4 .4"/></body></worldbody>
            <actuator>{actuators}</actuator></mujoco>"#
        )
    };
    let motor = r#"<motor joint="j"/><general joint="j" gainprm="0"/>"#;
    let motors = r#"<motor joint="j"/><motor joint="j"/>"#;
    let servos = r#"<position joint="j" kp="100"/><velocity joint="j" kv="10"/>"#;
    let mixed = r#"<motor joint="j"/><position joint="j" kp="100" kv="1"/>"#;
    let ranged = r#"<motor joint="j"/><position joint="j" kp="100" kv="1" forcelimited="true" forcerange="-2 2"/>"#;
    let cases = [
        // Of two motors.
        (motors, [2.0, 2.0], 3.0),
        (motors, [5.0, -4.0], 1.0),
        (servos, [1.0, 1.0], 3.0),
        (mixed, [-5.0, 1.0], 3.0),
        (mixed, [2.5, 1.0], 3.0),
        (ranged, [-5.0, 1.0], -3.0),
        (ranged, [-1.0, 1.0], 1.0),
        (ranged, [2.0, 1.0], 3.0),
    ]
    .map(|(actuators, ctrl, force)| ("-3 3", actuators, ctrl, force));
    // Ends that differ, of one drive and of several, and an end of zero.
    let uneven = [
        ("-20 5", motor, [30.0, 0.0], 5.0),
        ("-20 5", motor, [-30.0, 0.0], -20.0),
        ("-4 1", motors, [5.0, -4.5], 0.5),
        ("-4 1", mixed, [2.5, 1.0], 1.0),
        ("-4 1", ranged, [-5.0, -1.0], -4.0),
        ("0 2", servos, [-1.0, -1.0], 0.0),
    ];
    let schemes = [Scheme::default(), Scheme::SymplecticEuler, Scheme::ImplicitEuler];
    for (scheme, (range, actuators, ctrl, force)) in
        schemes.into_iter().flat_map(|scheme| cases.into_iter().chain(uneven).map(move |case| (scheme, case)))
    {
        let mut s = simulation(&mjcf(actuators, range), Options { scheme, ..at(1e-4) });
        s.state_mut().ctrl.copy_from_slice(&ctrl);
        run(&mut s, 1);
        let found = s.state().v[0] * 0.4 / 1e-4;
        assert!((found - force).abs() < 1e-6, "{scheme:?} {range} {actuators} {ctrl:?}: {found}, expected {force} N·m");
    }
}

#[test]
fn a_person_who_is_thrown_stays_finite_at_any_rate() {
    let text = characters::mjcf(Character::Humanoid, &CharacterOptions::default());
    for rate in [30.0, 60.0, 120.0, 240.0, 600.0, 1200.0] {
        for seed in 0..2 {
            let mut s = simulation(&text, at(1.0 / rate));
            let nv = s.model().nv();
            let mut random = 17 + 101 * seed as u64;
            let mut uniform = |low: f64, high: f64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                low + (high - low) * (random >> 11) as f64 / (1_u64 << 53) as f64
            };
            let mut kp: Vec<f64> = (0..nv).map(|_| uniform(100.0, 1000.0)).collect();
            kp[..6].fill(0.0);
            let kd = kp.iter().map(|kp| 0.1 * kp).collect();
            let effort_limit = (0..nv).map(|_| uniform(50.0, 200.0)).collect();
            let target = s.model().q0.clone();
            s.state_mut().pd = Pd { kp, kd, target, target_velocity: vec![0.0; nv], effort_limit };
            for v in &mut s.state_mut().v[6..] {
                *v = uniform(-10.0, 10.0);
            }
            s.state_mut().q[2] += 0.3;
            let start = s.energy().total();
            let mut most = start;
            for k in 0..(5.0 * rate) as usize {
                if let Err(error) = s.step() {
                    panic!("{rate} Hz, seed {seed}, step {k}: {error}");
                }
                most = most.max(s.energy().total());
            }
            let speed = s.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            // Contacts and the controller only take energy: it pulls to where it started.
            assert!(most < 1.001 * start && speed < 0.01, "{rate} Hz, seed {seed}: {most} of {start} J, {speed}");
        }
    }
}
