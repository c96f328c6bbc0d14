//! The tests of contact under every scheme, at steps of 1 to 10 ms: incline, impact, stack, and that all steps converge.

use crate::common::{self, G, balls_in_a_box, block, run, simulation, tower};
use sapwood_sim::{Options, Scheme, Simulation};

const NAMED: [Scheme; 5] =
    [Scheme::SymplecticEuler, Scheme::Bilinear, Scheme::Midpoint, Scheme::ImplicitEuler, Scheme::ExplicitEuler];
const TIMESTEPS: [f64; 3] = [0.01, 0.005, 0.001];

fn options(scheme: Scheme, timestep: f64) -> Options {
    Options { scheme, timestep: Some(timestep), ..Options::default() }
}

#[test]
fn blocks_stick_slide_and_stop_alike_under_every_scheme() {
    for scheme in NAMED {
        for dt in TIMESTEPS {
            let seconds = |s: &mut Simulation, time: f64| run(s, (time / dt).round() as usize);
            let angle = 20_f64.to_radians();
            let mut sticks = block(0.7, angle, options(scheme, dt));
            seconds(&mut sticks, 1.0);
            let x = sticks.state().q[0];
            seconds(&mut sticks, 1.0);
            assert!((sticks.state().q[0] - x).abs() < 1e-6, "{scheme} {dt} creeps");
            let mut slides = block(0.2, angle, options(scheme, dt));
            seconds(&mut slides, 0.5);
            let v = slides.state().v[0];
            seconds(&mut slides, 0.5);
            let a = (slides.state().v[0] - v) / 0.5;
            let expected = G * (angle.sin() - 0.2 * angle.cos());
            assert!((a / expected - 1.0).abs() < 1e-5, "{scheme} {dt} slides with {a}, not {expected}");
            let mut stops = block(0.5, 0.0, options(scheme, dt));
            seconds(&mut stops, 0.5);
            let (x, z) = (stops.state().q[0], stops.state().q[2]);
            stops.state_mut().v[0] = 2.0;
            for _ in 0..(1.0 / dt) as usize {
                run(&mut stops, 1);
                assert!((stops.state().q[2] - z).abs() < 1e-5, "{scheme} {dt} hops");
            }
            // First order: within dt v₀/2 of where it must; second: dt² g μ.
            let distance = stops.state().q[0] - x;
            let bound = if scheme == Scheme::Midpoint { 0.5 * G * dt * dt } else { 0.5 * 2.0 * dt } + 1e-6;
            assert!((distance - 4.0 / (2.0 * 0.5 * G)).abs() < 1.01 * bound, "{scheme} {dt} stops after {distance}");
        }
    }
}

#[test]
fn what_hits_stops_and_obeys_coulomb_under_every_scheme() {
    for scheme in NAMED {
        for dt in TIMESTEPS {
            let mut s = block(0.5, 0.0, options(scheme, dt));
            s.state_mut().q[2] = 0.4;
            s.state_mut().v[2] = -5.0;
            for _ in 0..(0.5 / dt) as usize {
                run(&mut s, 1);
                assert!(s.state().q[2] > 0.05 - 1e-6, "{scheme} {dt} is let through to {}", s.state().q[2]);
            }
            assert!(s.state().v.iter().all(|v| v.abs() < 1e-6));
            let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1" friction=".5"/>
                <body pos="0 0 .3"><freejoint/><geom type="sphere" size=".1" mass="1" friction=".5"/></body></worldbody></mujoco>"#;
            let mut s = simulation(mjcf, options(scheme, dt));
            s.state_mut().v.copy_from_slice(&[4.0, 0.0, -2.0, 0.0, 0.0, 0.0]);
            let mut impulse = [0.0; 3];
            for _ in 0..(0.3 / dt) as usize {
                run(&mut s, 1);
                for point in s.contacts() {
                    let world = point.impulse_world().to_array();
                    impulse.iter_mut().zip(world).for_each(|(sum, x)| *sum += x);
                }
            }
            assert!((impulse[2] - 2.0).abs() < 1e-3, "{scheme} {dt}: {impulse:?}");
            assert!((-impulse[0] / impulse[2] - 0.5).abs() < 1e-3, "{scheme} {dt}: {impulse:?}");
        }
    }
}

#[test]
fn a_tower_stands_and_carries_its_weight_under_every_scheme() {
    for (scheme, dt) in NAMED.into_iter().flat_map(|scheme| TIMESTEPS.map(|dt| (scheme, dt))) {
        let mut s = simulation(&tower(), options(scheme, dt));
        let seconds = |time: f64| (time / dt).round() as usize;
        run(&mut s, seconds(2.0));
        let settled = s.state().q.clone();
        run(&mut s, seconds(3.0));
        let drift = s.state().q.iter().zip(&settled).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(drift < 3e-6, "{scheme} {dt}: {drift} in 3 s");
        for level in 0..10 {
            let above = f64::from(10 - level as u8) * G;
            let between = |contact: &&sapwood_sim::ContactPoint| contact.bodies == [level, level + 1];
            let carried: f64 = s.contacts().iter().filter(between).map(|contact| contact.impulse[2] / dt).sum();
            assert!((carried - above).abs() < 1e-3 * above, "{scheme} {dt}, below box {level}: {carried} N of {above}");
        }
    }
}

/// A block of a tonne that falls on one of a gram, and into it: near-rigid is relative to the lighter body.
const UNEQUAL: &str = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass=".001"/></body>
    <body pos="0 0 .16"><freejoint/><geom type="box" size=".05 .05 .05" mass="1000"/></body></worldbody></mujoco>"#;

#[test]
fn every_step_converges_under_every_scheme() {
    for (mjcf, stays_apart) in [(&balls_in_a_box(18)[..], true), (UNEQUAL, false), (common::BIPED, true)] {
        for (scheme, dt) in NAMED.into_iter().flat_map(|scheme| TIMESTEPS.map(|dt| (scheme, dt))) {
            let mut s = simulation(mjcf, options(scheme, dt));
            for _ in 0..(1.5 / dt) as usize {
                s.step().unwrap_or_else(|error| panic!("{scheme} {dt}: {error}"));
            }
            let deep = s.stats().penetration;
            assert!(deep < 1e-3 || !stays_apart, "{scheme} {dt}: {deep} m deep");
        }
    }
}
