//! What the time-stepping schemes promise: their order and what they conserve.

use std::sync::Arc;

use crate::common::{DOUBLE_PENDULUM, G, TUMBLING, run, simulation};
use multibody::Compliance;
use sapwood_sim::{Options, Pd, Scheme, Simulation, SimulationError, Theta};
use spatial::{Quat, Vec3};

const NAMED: [Scheme; 5] =
    [Scheme::SymplecticEuler, Scheme::Bilinear, Scheme::Midpoint, Scheme::ImplicitEuler, Scheme::ExplicitEuler];

fn options(scheme: Scheme, timestep: f64) -> Options {
    Options { scheme, timestep: Some(timestep), ..Options::default() }
}

/// Ball, hinge and slide with springs and dampers on them, and an axis-aligned motor's load.
const SPRUNG: &str = r#"<mujoco><worldbody>
    <body><joint type="ball" stiffness="4" damping=".3"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="1"/>
    <body pos=".4 0 0"><joint axis="0 1 .5" stiffness="3" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .3 .1 0" mass=".6"/>
    <body pos=".3 .1 0"><joint type="slide" axis="1 0 1" stiffness="60" damping="1"/><geom type="sphere" size=".05" mass=".4"/></body>
    </body></body></worldbody></mujoco>"#;

/// The same without springs, under PD control, a servo and a motor with a force that its joint's limits do not reach.
const CONTROLLED: &str = r#"<mujoco><worldbody>
    <body><joint type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="1"/>
    <body pos=".4 0 0"><joint name="hinge" axis="0 1 .5"/><geom type="capsule" size=".03" fromto="0 0 0 .3 .1 0" mass=".6"/>
    <body pos=".3 .1 0"><joint name="slide" type="slide" axis="1 0 1"/><geom type="sphere" size=".05" mass=".4"/></body>
    </body></body></worldbody>
    <actuator><position joint="slide" kp="50" kv="2" forcerange="-99 99"/><motor joint="hinge" gear="2"/></actuator></mujoco>"#;

/// A ball whose centre of mass is off its middle, which rolls without slip.
const LOPSIDED: &str = r#"<mujoco><worldbody><geom type="plane" size="50 50 1" friction="2"/>
    <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="0" friction="2"/>
    <inertial pos=".02 0 0" mass="1" diaginertia=".004 .004 .004"/></body></worldbody></mujoco>"#;

/// A rod on a hinge across, its end tied to the world by a soft spring with a damper that turns with nothing.
const TIED: &str = r#"<mujoco><worldbody><body name="rod"><joint axis="0 1 0"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="1"/>
    <body name="tip" pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".6"/></body></body>
    </worldbody><equality><connect body1="tip" anchor=".3 0 0"/></equality></mujoco>"#;

/// The simulation with springs in N/m and relaxation times in s in the place of what its surfaces and equalities have; two surfaces act in series.
fn with_springs(s: &Simulation, stiffness: f64, relaxation: f64, options: Options) -> Simulation {
    let (mut model, spring) = ((**s.model()).clone(), Compliance::Physical { stiffness, relaxation });
    model.materials.iter_mut().for_each(|material| material.compliance = spring);
    model.equalities.iter_mut().for_each(|equality| equality.compliance = spring);
    Simulation::new(Arc::new(model), s.scene().clone(), options).unwrap()
}

fn start(mjcf: &str, scheme: Scheme, dt: f64) -> Simulation {
    let options = Options { tolerance: 1e-12, ..options(scheme, dt) };
    let mut s = simulation(mjcf, options.clone());
    if mjcf == TIED {
        s = with_springs(&s, 200.0, 0.1, options);
    }
    let state = s.state_mut();
    match mjcf {
        DOUBLE_PENDULUM => state.q.copy_from_slice(&[1.5, 0.5]),
        TUMBLING => state.v.copy_from_slice(&[0.1, 0.2, 0.3, 0.05, 3.0, 0.02]),
        SPRUNG => state.v.copy_from_slice(&[2.0, -1.0, 3.0, 1.0, 0.5]),
        CONTROLLED => {
            state.v.copy_from_slice(&[2.0, -1.0, 3.0, 1.0, 0.5]);
            state.ctrl.copy_from_slice(&[0.1, 0.3]);
            state.pd = Pd {
                kp: vec![8.0, 8.0, 8.0, 3.0, 0.0],
                kd: vec![0.3, 0.3, 0.3, 0.2, 0.0],
                target: vec![0.8, 0.6, 0.0, 0.0, 0.4, 0.0],
                target_velocity: vec![0.0; 5],
                effort_limit: vec![f64::INFINITY; 5],
            };
        }
        TIED => state.v.copy_from_slice(&[4.0, -9.0]),
        LOPSIDED => state.v.copy_from_slice(&[0.5, 0.0, 0.0, 0.0, 5.0, 0.0]),
        _ => {}
    }
    s
}

/// The slope of the error at `time` between two steps, against a fine reference by a scheme of another kind.
fn order(mjcf: &str, scheme: Scheme, time: f64) -> f64 {
    let end = |scheme, steps: usize| {
        let mut s = start(mjcf, scheme, time / steps as f64);
        run(&mut s, steps);
        s.state().q.clone()
    };
    // Of the symplectic Euler scheme, errors of first order taken away: none of it is code of the implicit schemes.
    let (coarse, fine) = (end(Scheme::SymplecticEuler, 40_000), end(Scheme::SymplecticEuler, 80_000));
    let reference: Vec<f64> = fine.iter().zip(&coarse).map(|(fine, coarse)| 2.0 * fine - coarse).collect();
    let error = |steps| {
        let q = end(scheme, steps);
        q.iter().zip(&reference).map(|(q, r)| (q - r) * (q - r)).sum::<f64>().sqrt()
    };
    let steps = if scheme == Scheme::Midpoint { 200 } else { 1600 };
    (error(steps) / error(2 * steps)).log2()
}

#[test]
fn midpoint_is_of_second_order_and_the_others_of_first() {
    for mjcf in [DOUBLE_PENDULUM, TUMBLING, SPRUNG, CONTROLLED] {
        let slope = order(mjcf, Scheme::Midpoint, 0.8);
        assert!((slope - 2.0).abs() < 0.05, "midpoint {slope} in {mjcf}");
        for scheme in [Scheme::SymplecticEuler, Scheme::ImplicitEuler, Scheme::ExplicitEuler] {
            let slope = order(mjcf, scheme, 0.8);
            assert!((slope - 1.0).abs() < 0.05, "{scheme} {slope} in {mjcf}");
        }
    }
}

#[test]
fn midpoint_is_of_second_order_in_compliant_ties() {
    let slope = order(TIED, Scheme::Midpoint, 0.5);
    assert!((slope - 2.0).abs() < 0.05, "{slope}");
}

/// A ball of 1 kg that falls on a spring and a damper, both of which only push: its height after a time.
fn bounced(stiffness: f64, damping: f64, time: f64) -> f64 {
    let (radius, drop): (f64, f64) = (0.05, 0.2);
    let touch = (2.0 * drop / G).sqrt();
    let ratio = damping / (2.0 * stiffness.sqrt());
    let (decay, rate) = (ratio * stiffness.sqrt(), (stiffness * (1.0 - ratio * ratio)).sqrt());
    // Depth and its rate: an oscillation about where the spring carries the weight.
    let sag = G / stiffness;
    let [cosine, sine] = [-sag, (G * touch - decay * sag) / rate];
    let motion = |t: f64| {
        let (s, c) = (rate * t).sin_cos();
        let depth = sag + (-decay * t).exp() * (cosine * c + sine * s);
        let slope = (-decay * t).exp() * ((rate * sine - decay * cosine) * c - (rate * cosine + decay * sine) * s);
        (depth, slope)
    };
    let push = |t: f64| {
        let (depth, slope) = motion(t);
        stiffness * depth + damping * slope
    };
    // It lets go once, between a quarter and a little more than half of an oscillation.
    let (mut low, mut high) = (0.5 * std::f64::consts::PI / rate, 1.2 * std::f64::consts::PI / rate);
    assert!(push(low) > 0.0 && push(high) < 0.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if push(middle) > 0.0 { low = middle } else { high = middle }
    }
    let (depth, slope) = motion(low);
    let flight = time - touch - low;
    radius - depth - slope * flight - 0.5 * G * flight * flight
}

#[test]
fn midpoint_is_of_second_order_through_touch_and_parting() {
    for damping in [0.0, 60.0] {
        let expected = bounced(9e4, damping, 0.3);
        let error = |steps: usize| {
            let mjcf = r#"<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .25"><freejoint/>
                <geom type="sphere" size=".05" mass="1"/></body></worldbody></mujoco>"#;
            let plain = start(mjcf, Scheme::Midpoint, 0.3 / steps as f64);
            let mut s = with_springs(&plain, 2.0 * 9e4, damping / 9e4, plain.options().clone());
            run(&mut s, steps);
            (s.state().q[2] - expected).abs()
        };
        // Where in a step it touches is another part of it in every run; over a factor of 32 that does not matter.
        let slope = (error(1000) / error(32_000)).log2() / 5.0;
        assert!((slope - 2.0).abs() < 0.05, "damping {damping}: {slope}");
    }
}

#[test]
fn midpoint_stays_of_second_order_while_contact_does_no_work() {
    let slope = order(LOPSIDED, Scheme::Midpoint, 0.5);
    assert!((slope - 2.0).abs() < 0.05, "{slope}");
}

/// Angular momentum of the tumbling body, world.
fn spin(s: &Simulation) -> Vec3<f64> {
    let (q, v) = (&s.state().q, &s.state().v);
    let momentum = Vec3::new(0.15 * v[3], 0.2 * v[4], 0.3 * v[5]);
    Quat::new(q[3], q[4], q[5], q[6]).to_mat3() * momentum
}

#[test]
fn a_tumbling_body_keeps_energy_and_angular_momentum_under_midpoint() {
    let mut s = start(TUMBLING, Scheme::Midpoint, 0.01);
    let (energy, momentum) = (s.energy().total(), spin(&s));
    for _ in 0..10_000 {
        run(&mut s, 1);
        assert!((s.energy().total() / energy - 1.0).abs() < 1e-12);
        assert!((spin(&s) - momentum).norm() < 1e-12 * momentum.norm());
    }
}

#[test]
fn the_energy_of_a_double_pendulum_does_not_drift_under_the_midpoint_rule() {
    let worst = |dt: f64, steps: usize| {
        let rule = Options { conserve: false, ..options(Scheme::Midpoint, dt) };
        let mut s = simulation(DOUBLE_PENDULUM, rule);
        // It swings regularly from here; from where motion is chaotic, its digits decide by how much energy errs.
        s.state_mut().q.copy_from_slice(&[0.7, 0.35]);
        let energy = s.energy().total();
        let mut quarters = [0.0_f64; 4];
        for k in 0..steps {
            run(&mut s, 1);
            let worst = &mut quarters[4 * k / steps];
            *worst = worst.max((s.energy().total() - energy).abs());
        }
        quarters
    };
    let (coarse, fine) = (worst(0.01, 40_000), worst(0.005, 80_000));
    let mean = |q: [f64; 4]| q.iter().sum::<f64>() / 4.0;
    for quarters in [coarse, fine] {
        assert!(quarters.iter().all(|q| (q / mean(quarters) - 1.0).abs() < 0.01), "{quarters:?}");
    }
    let ratio = mean(coarse) / mean(fine);
    assert!((3.95..4.05).contains(&ratio), "{coarse:?} {fine:?}");
}

#[test]
fn an_undamped_chain_keeps_its_energy_under_midpoint() {
    let mut mjcf = String::from(r#"<mujoco><option gravity="0 0 0"/><worldbody>"#);
    for k in 0..10 {
        let at = if k == 0 { 0.0 } else { 0.1 };
        mjcf += &format!(
            r#"<body pos="{at} 0 0"><joint axis="0 1 0" stiffness="1000"/>
            <geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" mass=".1"/>"#
        );
    }
    mjcf += &"</body>".repeat(10);
    mjcf += "</worldbody></mujoco>";
    for (dt, lost) in [(0.001, 0.01), (0.005, 0.02)] {
        let mut s = start(&mjcf, Scheme::Midpoint, dt);
        s.state_mut().q.fill(0.05);
        let energy = s.energy().total();
        for _ in 0..(5.0 / dt) as usize {
            run(&mut s, 1);
            assert!(s.stats().free_iterations <= 5 && s.stats().substeps == 1, "{:?}", s.stats());
        }
        assert!((s.energy().total() / energy - 1.0).abs() < lost, "{dt}: {}", s.energy().total() / energy);
    }
}

#[test]
fn a_rolling_ball_keeps_its_energy() {
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="1"/>
        <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1" friction="1"/></body></worldbody></mujoco>"#;
    for scheme in NAMED {
        let mut s = simulation(mjcf, options(scheme, 0.001));
        s.state_mut().v.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 10.0, 0.0]);
        let energy = s.energy().kinetic;
        for _ in 0..10_000 {
            run(&mut s, 1);
            assert!(
                (s.energy().kinetic / energy - 1.0).abs() < 1e-10,
                "{scheme}: {}",
                s.energy().kinetic / energy - 1.0
            );
        }
    }
}

#[test]
fn explicit_euler_diverges_where_springs_are_stiff() {
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><body><joint axis="0 1 0" stiffness="1e4"/>
        <geom type="sphere" size=".1" mass="1" pos=".1 0 0"/></body></worldbody></mujoco>"#;
    let after = |scheme| {
        let mut s = simulation(mjcf, options(scheme, 0.01));
        s.state_mut().q[0] = 0.1;
        let energy = s.energy().total();
        run(&mut s, 5);
        s.energy().total() / energy
    };
    assert!(after(Scheme::ExplicitEuler) > 1e6);
    assert!((after(Scheme::Midpoint) - 1.0).abs() < 1e-9);
    assert!(after(Scheme::ImplicitEuler) < 1e-3 && after(Scheme::SymplecticEuler) < 1e-3);
}

#[test]
fn any_theta_is_a_scheme() {
    // θ = ½ throughout is the midpoint rule, to the bit.
    let mut named = start(SPRUNG, Scheme::Midpoint, 0.01);
    let mut other = start(SPRUNG, Scheme::Theta(Theta { q: 0.5, v: 0.5, vq: 0.5 }), 0.01);
    run(&mut named, 100);
    run(&mut other, 100);
    assert_eq!(named.state().q, other.state().q);
    for theta in
        [Theta { q: 0.0, v: 1.0, vq: 1.0 }, Theta { q: 0.7, v: 0.6, vq: 1.0 }, Theta { q: 1.0, v: 0.5, vq: 0.5 }]
    {
        let slope = order(DOUBLE_PENDULUM, Scheme::Theta(theta), 0.8);
        assert!((slope - 1.0).abs() < 0.1, "{theta:?}: {slope}");
    }
}

#[test]
fn steps_beyond_newtons_reach_are_halved_or_refused() {
    // Up to ten turns in a step: some of these have no solution near their beginning, or one that is far too fast.
    let mut parts = 0;
    for k in 0..20 {
        let mut s = simulation(DOUBLE_PENDULUM, options(Scheme::Midpoint, 0.5));
        s.state_mut().q.copy_from_slice(&[2.0, 1.0]);
        s.state_mut().v.copy_from_slice(&[20.0 + 5.0 * f64::from(k), -45.0 - 3.0 * f64::from(k)]);
        for step in 1..=20 {
            let before = s.state().to_bytes();
            match s.step() {
                Ok(()) => assert!(s.state().step == step && (s.state().time - 0.5 * step as f64).abs() < 1e-12),
                Err(error) => {
                    assert!(matches!(error, SimulationError::FreeMotion { .. }), "{error}");
                    assert!(s.state().to_bytes() == before);
                    break;
                }
            }
            parts = parts.max(s.stats().substeps);
        }
    }
    assert!(parts > 1);
}
