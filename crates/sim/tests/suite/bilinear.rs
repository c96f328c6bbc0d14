//! The default step: energy and momentum change by what forces and constraints do, however fast bodies turn.

use std::fmt::Write;

use crate::common::{DOUBLE_PENDULUM, TUMBLING, simulation};
use models::characters::{self, Character, Options as CharacterOptions};
use multibody::{Kinematics, forward_kinematics, velocities};
use sapwood_sim::{Options, Scheme, Simulation};
use spatial::{Vec3, Wrench};

fn options(scheme: Scheme, timestep: f64) -> Options {
    Options { scheme, timestep: Some(timestep), ..Options::default() }
}

/// The greatest energy within `duration` s, and the last, over the first; infinite where the motion diverges.
fn energies(s: &mut Simulation, duration: f64) -> (f64, f64) {
    let first = s.energy().total();
    let (mut greatest, mut last) = (first, first);
    for _ in 0..(duration / s.timestep()).round() as usize {
        if s.step().is_err() {
            return (f64::INFINITY, f64::INFINITY);
        }
        last = s.energy().total();
        greatest = greatest.max(last);
    }
    (greatest / first, last / first)
}

#[test]
fn a_body_that_turns_fast_keeps_its_energy() {
    let run = |scheme, dt, speed| {
        let mut s = simulation(TUMBLING, options(scheme, dt));
        s.state_mut().v[3..].copy_from_slice(&[1.0, speed, 1.0]);
        energies(&mut s, 1.0)
    };
    // 0.1 to 10 rad in a step; round-off of 1000 steps.
    for speed in [100.0, 1000.0, 10_000.0] {
        let (greatest, last) = run(Scheme::Bilinear, 1e-3, speed);
        assert!(greatest < 1.0 + 1e-11 && (last - 1.0).abs() < 1e-11, "{speed}: {greatest} {last}");
    }
    // Where Coriolis forces are those of the beginning of the step it gains a fifth.
    assert!(run(Scheme::SymplecticEuler, 1e-3, 100.0).1 > 1.2);
}

/// Hinges about y and z in turn, in no field.
fn chain(links: usize) -> String {
    let mut text = String::from(r#"<mujoco><option gravity="0 0 0"/><worldbody>"#);
    for k in 0..links {
        let (pos, axis) = (if k == 0 { "0 0 0" } else { ".1 0 0" }, ["0 1 0", "0 0 1"][k % 2]);
        write!(
            text,
            r#"<body pos="{pos}"><joint axis="{axis}"/><geom type="capsule" size=".02" fromto="0 0 0 .1 0 0" mass=".1" contype="0" conaffinity="0"/>"#
        )
        .unwrap();
    }
    text + &"</body>".repeat(links) + "</worldbody></mujoco>"
}

#[test]
fn a_chain_that_is_flung_keeps_its_energy() {
    let run = |scheme, dt| {
        let mut s = simulation(&chain(40), options(scheme, dt));
        let starts = s.state_mut().v.iter_mut().enumerate();
        starts.for_each(|(k, v)| *v = 3.0 * libm::sin(1.7 * k as f64));
        energies(&mut s, 2.0)
    };
    for dt in [1e-3, 5e-3, 1e-2] {
        let (greatest, last) = run(Scheme::Bilinear, dt);
        assert!(greatest < 1.0 + 1e-10 && (last - 1.0).abs() < 1e-10, "{dt}: {greatest} {last}");
    }
    assert!(run(Scheme::SymplecticEuler, 1e-3).0 > 1.04);
}

/// Perturbed starts on the ground, undamped: symplectic Euler loses both of them within 3 s.
#[test]
fn passive_characters_gain_no_energy_on_the_ground() {
    for character in [Character::Humanoid, Character::Dog] {
        let text = characters::mjcf(character, &CharacterOptions::default());
        let mut s = simulation(&text, options(Scheme::Bilinear, 5e-3));
        for (k, v) in s.state_mut().v.iter_mut().enumerate() {
            *v = 0.1 * libm::sin(1.7 * k as f64);
        }
        let (greatest, last) = energies(&mut s, 4.0);
        assert!(greatest < 1.0001 && last < 1.0, "{character:?}: {greatest} {last}");
    }
}

/// Linear momentum, and angular momentum about the centre of mass, of a tree with a free root that has no armature: the root's rows of M v.
fn momenta(s: &Simulation) -> [Vec3<f64>; 2] {
    let tree = &s.model().tree;
    let (mut kin, mut momentum) = (Kinematics::new(tree), Wrench::ZERO);
    forward_kinematics(tree, tree.all(), &s.state().q, &mut kin);
    velocities(tree, tree.all(), &s.state().v, &mut kin);
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
        momentum += frame.inertia.momentum(*twist).shifted_back(frame.pos);
        mass += frame.inertia.mass;
        moment += (frame.pos + frame.inertia.com) * frame.inertia.mass;
    }
    let about_center = momentum.shifted_back(moment * (-1.0 / mass));
    [about_center.lin, about_center.ang]
}

/// In flight nothing pushes but weight: linear momentum falls as weights say, angular momentum about the centre of mass stays.
#[test]
fn a_character_in_flight_keeps_its_momentum() {
    for character in [Character::Humanoid, Character::Dog] {
        let text = characters::mjcf(character, &CharacterOptions { ground: false, ..CharacterOptions::default() });
        for dt in [2e-3, 1e-2] {
            let mut s = simulation(&text, options(Scheme::Bilinear, dt));
            s.state_mut().v.iter_mut().enumerate().for_each(|(k, v)| *v = libm::sin(1.7 * k as f64));
            let [linear, angular] = momenta(&s);
            let steps = (4.0 / dt).round() as usize;
            (0..steps).for_each(|_| s.step().unwrap());
            let [linear_end, angular_end] = momenta(&s);
            let weight = s.model().gravity * (s.model().mass() * dt * steps as f64);
            let (lost, turned) = ((linear_end - linear - weight).norm(), (angular_end - angular).norm());
            // The round-off of momenta that grow to mass times 40 m/s.
            assert!(lost < 1e-10 * weight.norm(), "{character:?} {dt}: {lost}");
            assert!(turned < 1e-9 * angular.norm(), "{character:?} {dt}: {turned} of {}", angular.norm());
        }
    }
}

/// Errors of positions halve with the step: what is added to velocities is no larger than what they err by anyway.
#[test]
fn it_is_of_first_order() {
    let end = |scheme, dt: f64| {
        let mut s = simulation(DOUBLE_PENDULUM, options(scheme, dt));
        s.state_mut().q.copy_from_slice(&[1.5, 0.5]);
        (0..(1.0 / dt).round() as usize).for_each(|_| s.step().unwrap());
        s.state().q.clone()
    };
    let exact = end(Scheme::Midpoint, 1e-4);
    let error = |dt| end(Scheme::Bilinear, dt).iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let errors = [4e-3, 2e-3, 1e-3].map(error);
    for pair in errors.windows(2) {
        let order = libm::log2(pair[0] / pair[1]);
        assert!((order - 1.0).abs() < 0.1, "{errors:?}");
    }
}

/// The derivative of a step while a body tumbles: that of the velocities by differences of whole steps.
#[test]
fn steps_are_differentiated() {
    let start = || {
        let mut s = simulation(&chain(5), options(Scheme::Bilinear, 5e-3));
        s.state_mut().v.copy_from_slice(&[3.0, -2.0, 1.0, 4.0, -1.0]);
        s
    };
    let jacobians = start().step_jacobians().unwrap();
    let after = |k: usize, h: f64| {
        let mut s = start();
        s.state_mut().v[k] += h;
        s.step().unwrap();
        s.state().v.clone()
    };
    let n = 5;
    for k in 0..n {
        let (plus, minus) = (after(k, 1e-6), after(k, -1e-6));
        for i in 0..n {
            let difference = (plus[i] - minus[i]) / 2e-6;
            let found = jacobians.a[(n + i) * 2 * n + n + k];
            assert!((found - difference).abs() < 1e-7, "{i} {k}: {found} {difference}");
        }
    }
}
