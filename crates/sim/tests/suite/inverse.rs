//! The forces that an acceleration takes, contacts and limits included: the next step has it with them, and needs none for its own.

use crate::common::simulation;
use models::characters;
use sapwood_sim::{ContactLaw, Options, Pd, Scheme, Simulation};

/// An arm at its limit beside a box that stands and a ball that rolls, a servo that its force limit holds back, a spring and dry friction.
const SCENE: &str = r#"<mujoco><compiler autolimits="true"/><option timestep=".002"/>
    <worldbody><geom type="plane" size="0 0 1" friction=".6"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
    <body pos="1 0 .05"><freejoint/><geom type="sphere" size=".05" mass=".3"/></body>
    <body pos="0 2 1"><joint name="a" axis="0 1 0" range="-20 90" damping=".1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
      <body pos=".3 0 0"><joint name="b" axis="0 1 0" stiffness="3" frictionloss=".05"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".5"/></body></body>
    </worldbody><actuator><position joint="b" kp="50" kv="1" forcerange="-1 1"/></actuator></mujoco>"#;

fn at(contact: ContactLaw, scheme: Scheme) -> Simulation {
    let mut s = simulation(SCENE, Options { contact, scheme, tolerance: 1e-12, ..Options::default() });
    s.state_mut().ctrl[0] = 0.4;
    s.state_mut().v[6] = 0.7;
    s.state_mut().v[0] = 0.3;
    (0..150).for_each(|_| s.step().unwrap());
    s
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

/// Applies the forces of an acceleration, and checks that the next step has it.
fn check(s: &mut Simulation, acceleration: &[f64], tolerance: f64) -> Vec<f64> {
    let before = s.state().to_bytes();
    let (contacts, stats) = (s.contacts().to_vec(), *s.stats());
    let forces = s.inverse_dynamics(acceleration).unwrap();
    assert_eq!((s.state().to_bytes(), s.contacts(), *s.stats()), (before.clone(), &contacts[..], stats));
    s.state_mut().applied_force.iter_mut().zip(&forces).for_each(|(to, force)| *to += force);
    s.forward().unwrap();
    let error = farthest(s.acceleration(), acceleration);
    assert!(error < tolerance, "{error:e}: {:?} instead of {acceleration:?} by {forces:?}", s.acceleration());
    s.state_mut().restore(&before).unwrap();
    forces
}

#[test]
fn forces_of_an_acceleration_lead_to_it() {
    for contact in [ContactLaw::Coulomb, ContactLaw::Lagged, ContactLaw::Sap] {
        for scheme in [Scheme::Bilinear, Scheme::SymplecticEuler] {
            let mut s = at(contact, scheme);
            s.forward().unwrap();
            let own = s.acceleration().to_vec();
            let forces = check(&mut s, &own, 1e-5);
            assert!(farthest(&forces, &vec![0.0; own.len()]) < 1e-5, "{contact:?} {forces:?}");
            // Everything stays where it is or goes off: up, along the ground and from the limit.
            for (k, size) in [(2, 3.0), (0, 1.0), (7, 4.0), (12, 20.0), (13, -15.0)] {
                let mut other = own.clone();
                other[k] += size;
                check(&mut s, &other, 1e-5);
            }
        }
    }
}

#[test]
fn what_stands_is_lifted_by_its_weight() {
    let mut s = at(ContactLaw::Coulomb, Scheme::Bilinear);
    let mut up = vec![0.0; s.model().nv()];
    up[2] = 2.0;
    let forces = check(&mut s, &up, 1e-5);
    assert!((forces[2] - 2.0 * (9.81 + 2.0)).abs() < 1e-6, "{forces:?}");
}

#[test]
fn a_dog_stands_by_no_force_and_crouches_by_some() {
    let text = characters::mjcf(characters::Character::Dog, &characters::Options::default());
    let mut s = simulation(&text, Options { tolerance: 1e-12, ..Options::default() });
    let (nv, q) = (s.model().nv(), s.state().q.clone());
    let gains = |gain: f64| (0..nv).map(|v| if v < 6 { 0.0 } else { gain }).collect::<Vec<f64>>();
    let effort_limit = vec![f64::INFINITY; nv];
    let pd = Pd { target: q, kp: gains(300.0), kd: gains(10.0), target_velocity: vec![0.0; nv], effort_limit };
    s.state_mut().pd = pd;
    (0..200).for_each(|_| s.step().unwrap());
    s.forward().unwrap();
    let own = s.acceleration().to_vec();
    let forces = check(&mut s, &own, 1e-4);
    assert!(farthest(&forces, &vec![0.0; nv]) < 1e-3, "{forces:?}");
    let other: Vec<f64> =
        own.iter().enumerate().map(|(k, a)| a + if k == 2 { -1.0 } else { 0.1 * (k % 3) as f64 }).collect();
    check(&mut s, &other, 1e-3);
}
