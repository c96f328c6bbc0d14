//! Energy and momentum under the midpoint rule, where nothing constrains: kept to round-off, or changed by what forces do.

use crate::common::{self, DOUBLE_PENDULUM, run, simulation};
use models::scenes;
use multibody::{Kinematics, forward_kinematics, velocities};
use sapwood_sim::{Options, Scheme, Simulation};
use spatial::{Vec3, Wrench};

fn midpoint(mjcf: &str, dt: f64) -> Simulation {
    simulation(mjcf, Options { scheme: Scheme::Midpoint, timestep: Some(dt), ..Options::default() })
}

/// Mass, first moment about the origin of the world, and momentum about it, of all bodies.
fn whole(s: &Simulation) -> (f64, Vec3<f64>, Wrench<f64>) {
    let tree = &s.model().tree;
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), &s.state().q, &mut kin);
    velocities(tree, tree.all(), &s.state().v, &mut kin);
    let (mut mass, mut moment, mut momentum) = (0.0, Vec3::ZERO, Wrench::ZERO);
    for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
        mass += frame.inertia.mass;
        moment += (frame.pos + frame.inertia.com) * frame.inertia.mass;
        momentum += frame.inertia.momentum(*twist).shifted_back(frame.pos);
    }
    (mass, moment, momentum)
}

/// Angular momentum about the centre of mass.
fn spin(s: &Simulation) -> Vec3<f64> {
    let (mass, moment, momentum) = whole(s);
    momentum.ang - moment.cross(momentum.lin) * (1.0 / mass)
}

/// Bodies on a hinge with a spring, on a ball joint and on a slide, which hang on nothing.
fn thrown(joint: &str) -> String {
    format!(
        r#"<mujoco><worldbody><body><freejoint/><geom type="box" size=".3 .1 .1" mass="2"/>
        <body pos=".3 0 0"><joint name="hinge" axis="0 1 0" {joint}/>
        <geom type="capsule" size=".03" fromto="0 0 0 .3 0 .1" mass=".6"/>
        <body pos=".3 0 .1"><joint type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .2 .1 0" mass=".5"/></body></body>
        <body pos="-.3 0 0"><joint type="slide" axis="0 0 1" stiffness="80"/><geom type="sphere" size=".05" mass=".4"/></body>
        </body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>"#
    )
}

fn throw(mjcf: &str) -> Simulation {
    let mut s = midpoint(mjcf, 0.01);
    let v = [1.0, 2.0, 8.0, 3.0, -2.0, 4.0, 9.0, -6.0, 5.0, 7.0, 0.5];
    s.state_mut().v.copy_from_slice(&v);
    s
}

#[test]
fn a_flung_arm_keeps_its_energy_and_what_turns_about_its_upright_axis() {
    let mjcf = scenes::mjcf("flung-arm".parse().unwrap());
    for (dt, most) in [(0.01, 11_000), (0.02, 8_000)] {
        let mut s = midpoint(&mjcf, dt);
        s.state_mut().q[1] = std::f64::consts::PI;
        let hanging = s.energy().total();
        s.reset(Some("flung")).unwrap();
        let (start, spin) = (s.energy().total(), whole(&s).2.ang.z);
        let mut parts = 0;
        for _ in 0..(100.0 / dt) as usize {
            run(&mut s, 1);
            parts += s.stats().substeps;
            let error = (s.energy().total() - start) / (start - hanging);
            assert!(error.abs() < 1e-10, "{error} at {} s", s.state().time);
            let error = whole(&s).2.ang.z - spin;
            assert!(error.abs() < 1e-10 * spin.abs(), "{error} at {} s", s.state().time);
        }
        // Hardly any step is made in parts for that.
        assert!(parts < most, "{parts} parts");
    }
}

#[test]
fn what_is_known_of_the_last_step_changes_no_bit() {
    let mjcf = scenes::mjcf("flung-arm".parse().unwrap());
    let mut s = midpoint(&mjcf, 0.01);
    s.reset(Some("flung")).unwrap();
    run(&mut s, 100);
    let mut other = midpoint(&mjcf, 0.01);
    for _ in 0..20 {
        let there = s.state().to_bytes();
        run(&mut s, 1);
        // From another place, and from one that was never reached by a step.
        run(&mut other, 1);
        other.state_mut().restore(&there).unwrap();
        run(&mut other, 1);
        assert!(other.state().to_bytes() == s.state().to_bytes());
        s.state_mut().v[3] += 0.01;
    }
}

#[test]
fn a_pendulum_keeps_its_energy_however_it_swings() {
    for q in [[0.7, 0.35], [2.5, 1.0]] {
        let mut s = midpoint(DOUBLE_PENDULUM, 0.01);
        s.state_mut().q.copy_from_slice(&q);
        let start = s.energy();
        for _ in 0..20_000 {
            run(&mut s, 1);
            assert!((s.energy().total() - start.total()).abs() < 1e-11 * start.total().abs());
        }
    }
}

#[test]
fn what_is_thrown_keeps_energy_and_momentum() {
    let mut s = throw(&thrown(r#"stiffness="5""#));
    let (energy, jacobian_drift) = (s.energy().total(), spin(&s));
    let (mass, _, Wrench { lin: first, .. }) = whole(&s);
    for _ in 0..1000 {
        run(&mut s, 1);
        let fallen = Vec3::new(0.0, 0.0, -common::G * s.state().time) * mass;
        let weight = (first + fallen).norm();
        assert!((s.energy().total() - energy).abs() < 1e-10 * energy, "at {} s", s.state().time);
        assert!((spin(&s) - jacobian_drift).norm() < 1e-10 * jacobian_drift.norm());
        assert!((whole(&s).2.lin - first - fallen).norm() < 1e-12 * weight);
    }
}

#[test]
fn springs_on_the_root_take_and_give() {
    let sprung = thrown("").replace("<freejoint/>", r#"<joint type="free" stiffness="60"/>"#);
    let mut s = throw(&sprung);
    let energy = s.energy().total();
    // Not half a turn, where springs change sides.
    for _ in 0..50 {
        run(&mut s, 1);
        assert!((s.energy().total() - energy).abs() < 1e-10 * energy, "at {} s", s.state().time);
    }
}

#[test]
fn motors_do_work() {
    let mut s = throw(&thrown(""));
    s.state_mut().ctrl[0] = 0.4;
    let (energy, jacobian_drift, angle) = (s.energy().total(), spin(&s), s.state().q[7]);
    for _ in 0..500 {
        run(&mut s, 1);
        let work = 0.4 * (s.state().q[7] - angle);
        assert!((s.energy().total() - energy - work).abs() < 1e-10 * energy);
        // It pushes the one body as it pushes the other.
        assert!((spin(&s) - jacobian_drift).norm() < 1e-10 * jacobian_drift.norm());
    }
}

#[test]
fn dampers_take_energy_and_no_momentum() {
    let weightless = r#"<option gravity="0 0 0"/><worldbody>"#;
    let mut s = throw(&thrown(r#"damping=".3""#).replace("<worldbody>", weightless));
    let (mut energy, jacobian_drift) = (s.energy().total(), spin(&s));
    let start = energy;
    for _ in 0..500 {
        run(&mut s, 1);
        assert!(s.energy().total() < energy + 1e-3 * start);
        energy = s.energy().total();
        assert!((spin(&s) - jacobian_drift).norm() < 1e-10 * jacobian_drift.norm());
    }
    // Most of it is of the centre of mass.
    assert!(energy < start - 1.0, "{start} {energy}");
}

#[test]
fn the_rule_by_itself_can_be_had() {
    let energy_error = |conserve: bool| {
        let mut s = simulation(
            DOUBLE_PENDULUM,
            Options { scheme: Scheme::Midpoint, timestep: Some(0.01), conserve, ..Options::default() },
        );
        s.state_mut().q.copy_from_slice(&[0.7, 0.35]);
        let start = s.energy().total();
        run(&mut s, 1000);
        (s.energy().total() - start).abs()
    };
    assert!(energy_error(true) < 1e-12);
    assert!(energy_error(false) > 1e-6);
}

#[test]
fn newtons_method_leaves_little_beside_the_rules_own_error() {
    let at_the_end = |dt: f64, conserve: bool| {
        let options = Options { scheme: Scheme::Midpoint, timestep: Some(dt), conserve, ..Options::default() };
        let mut s = simulation(&scenes::mjcf("double-pendulum".parse().unwrap()), options);
        s.state_mut().v.copy_from_slice(&[1.0, -1.5]);
        let mut iterations = 0;
        for _ in 0..(0.5 / dt).round() as usize {
            run(&mut s, 1);
            iterations += s.stats().free_iterations;
        }
        (s.state().q[0], s.state().q[1], iterations)
    };
    let reference = at_the_end(5e-5, false);
    let miss = |(a, b, _): (f64, f64, usize)| (a - reference.0).abs().max((b - reference.1).abs());
    for dt in [0.01, 0.005, 0.002] {
        let (mended, alone) = (at_the_end(dt, true), at_the_end(dt, false));
        // Alone it is solved to round-off. Seen: 1.003 of the error in 0.51 to 0.59 of the iterations.
        assert!(miss(mended) < 1.02 * miss(alone), "{} and {} at {dt} s", miss(mended), miss(alone));
        assert!(10 * mended.2 < 7 * alone.2, "{} and {} iterations at {dt} s", mended.2, alone.2);
    }
}

#[test]
fn friction_in_joints_takes_no_momentum() {
    let weightless = r#"<option gravity="0 0 0"/><worldbody>"#;
    let mut s = throw(&thrown(r#"damping=".02" frictionloss=".05""#).replace("<worldbody>", weightless));
    let jacobian_drift = spin(&s);
    for _ in 0..200 {
        run(&mut s, 1);
        // Friction that begins to slide is not predicted in that step. Seen: 6.8e-7.
        let error = (spin(&s) - jacobian_drift).norm() / jacobian_drift.norm();
        assert!(error < 2e-6, "{error:e} at {} s", s.state().time);
    }
}
