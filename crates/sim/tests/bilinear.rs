//! Coriolis forces in their bilinear form: what turns fast keeps its energy.

mod common;

use std::fmt::Write;

use characters::{Character, Options as CharacterOptions};
use common::{TUMBLING, simulation};
use sim::{Options, Scheme, Simulation};

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

/// Kahan's form of Euler's equations has invariants close to energy and momentum: what comes goes again.
#[test]
fn a_body_that_turns_at_100_radians_per_second_keeps_its_energy() {
    let run = |scheme, dt| {
        let mut s = simulation(TUMBLING, options(scheme, dt));
        s.state_mut().v[3..].copy_from_slice(&[1.0, 100.0, 1.0]);
        energies(&mut s, 1.0)
    };
    let (greatest, last) = run(Scheme::Bilinear, 1e-3);
    assert!(greatest < 1.0005 && (last - 1.0).abs() < 1e-6, "{greatest} {last}");
    // Where Coriolis forces are those of the beginning of the step it gains a fifth.
    assert!(run(Scheme::SymplecticEuler, 1e-3).1 > 1.2);
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
    // Inertia is that of the beginning of the step: an error of first order that comes and goes.
    let errors = [1e-3, 5e-4].map(|dt| run(Scheme::Bilinear, dt).0 - 1.0);
    assert!(errors[0] < 0.02 && errors[1] < 0.6 * errors[0], "{errors:?}");
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
        assert!(greatest < 1.01 && last < 1.0, "{character:?}: {greatest} {last}");
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
