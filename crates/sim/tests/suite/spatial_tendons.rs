//! Strings against closed forms: springs, limits, pulleys, actuators, Jacobians.

use crate::common::{run, simulation};
use multibody::integrate;
use sapwood_sim::{Options, Scheme, Simulation};

/// A box on a string from a site of the world, with these attributes, and an obstacle that the string may meet.
fn on_a_string(attributes: &str, path: &str, actuator: &str, options: Options) -> Simulation {
    let mjcf = format!(
        r#"<mujoco><worldbody><site name="w" pos="0 0 1"/><geom name="post" type="cylinder" size=".05 1" euler="90 0 0" pos="-.02 0 .7"/>
        <body pos=".3 .1 .5"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".002 .003 .004"/>
        <site name="x" pos=".05 .02 .03"/></body></worldbody>
        <tendon><spatial name="t" {attributes}><site site="w"/>{path}<site site="x"/></spatial></tendon>
        <actuator>{actuator}</actuator></mujoco>"#
    );
    simulation(&mjcf, options)
}

fn energy(s: &mut Simulation) -> f64 {
    let energy = s.energy();
    energy.kinetic + energy.potential
}

fn length(s: &mut Simulation) -> f64 {
    s.observe().tendon_row(0).length
}

/// By how much the energy of a spinning box on a spring changes at most in a second.
fn energy_error(path: &str, dt: f64) -> f64 {
    let options = Options { scheme: Scheme::Midpoint, timestep: Some(dt), tolerance: 1e-10, ..Options::default() };
    let mut s = on_a_string(r#"stiffness="100" springlength=".4""#, path, "", options);
    s.state_mut().v.copy_from_slice(&[0.2, 0.1, -0.3, 1.0, 2.0, 3.0]);
    let before = energy(&mut s);
    let mut worst: f64 = 0.0;
    for _ in 0..(1.0 / dt) as usize {
        run(&mut s, 1);
        worst = worst.max((energy(&mut s) - before).abs());
    }
    worst
}

#[test]
fn the_midpoint_rule_keeps_the_energy_of_springs_to_second_order() {
    for path in ["", r#"<geom geom="post"/>"#] {
        let [coarse, fine] = [4e-3, 2e-3].map(|dt| energy_error(path, dt));
        // Of 6 J that swing.
        assert!(fine < 5e-3 && fine < 0.3 * coarse, "{path}: {coarse} {fine}");
    }
}

#[test]
fn springs_far_stiffer_than_the_step_resolves_rest() {
    // Symplectic Euler lets what spins fast and is not damped gain energy, strings or not.
    for scheme in [Scheme::Bilinear, Scheme::ImplicitEuler, Scheme::Midpoint] {
        for stiffness in ["1e4", "1e7"] {
            let options = Options { scheme, timestep: Some(0.01), ..Options::default() };
            let attributes = format!(r#"stiffness="{stiffness}" damping="20" springlength=".4""#);
            let mut s = on_a_string(&attributes, "", "", options);
            for _ in 0..500 {
                if let Err(error) = s.step() {
                    panic!("{scheme} {stiffness}: {error}");
                }
            }
            let found = length(&mut s);
            assert!((found - 0.4).abs() < 0.05 && s.energy().kinetic < 10.0, "{scheme} {stiffness}: {found}");
        }
    }
}

#[test]
fn a_taut_string_holds() {
    for (scheme, tolerance) in [(Scheme::Bilinear, 2e-3), (Scheme::Midpoint, 1e-4), (Scheme::ImplicitEuler, 2e-4)] {
        let options = Options { scheme, timestep: Some(5e-3), ..Options::default() };
        let mut s = on_a_string(r#"range="0 .7""#, "", "", options);
        let (mut longest, mut taut) = (0.0_f64, 0);
        for _ in 0..400 {
            run(&mut s, 1);
            longest = longest.max(length(&mut s));
            taut += s.stats().limits;
        }
        assert!(longest < 0.7 + tolerance && taut > 100, "{scheme}: {longest} {taut}");
        assert!((longest - 0.7).abs() < 1e-2, "{scheme}: {longest}");
    }
}

/// Two weights on one string: one hangs on it at its end, the other in a loop that shares its weight among `divisor` strings.
fn weights(light: f64, heavy: f64, divisor: f64, attributes: &str) -> Simulation {
    let mjcf = format!(
        r#"<mujoco><option timestep="1e-3"/><worldbody><site name="w" pos="0 0 2"/><site name="w2" pos="1 0 2"/>
        <body><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{light}" diaginertia="1 1 1"/><site name="a"/></body>
        <body pos="1 0 0"><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{heavy}" diaginertia="1 1 1"/>
        <site name="b"/></body></worldbody>
        <tendon><spatial {attributes}><site site="w"/><site site="a"/><pulley divisor="{divisor}"/><site site="w2"/><site site="b"/>
        </spatial></tendon></mujoco>"#
    );
    simulation(&mjcf, Options::default())
}

#[test]
fn pulleys_divide_the_force() {
    // Of the string's tension the second weight feels 1/2.5.
    let length = 2.0 + 2.0 / 2.5;
    let mut balanced = weights(1.0, 0.4, 2.5, &format!(r#"range="0 {length}""#));
    run(&mut balanced, 200);
    assert!(balanced.state().v.iter().all(|v| v.abs() < 1e-6), "{:?}", balanced.state().v);
    // z₁ + z₂/d stays: m₁ z̈₁ = T − m₁ g, m₂ z̈₂ = T/d − m₂ g.
    let (m, d, g) = ([1.0, 3.0], 2.0, 9.81);
    let mut s = weights(m[0], m[1], d, &format!(r#"range="0 {}""#, 2.0 + 2.0 / d));
    run(&mut s, 100);
    let tension = g * (1.0 + 1.0 / d) / (1.0 / m[0] + 1.0 / (d * d * m[1]));
    let expected = [tension / m[0] - g, tension / (d * m[1]) - g].map(|a| 0.1 * a);
    let v = &s.state().v;
    assert!((v[0] - expected[0]).abs() < 1e-6 && (v[1] - expected[1]).abs() < 1e-6, "{v:?} {expected:?}");
}

#[test]
fn a_motor_pulls_along_the_string_and_forces_balance() {
    for scheme in [Scheme::Bilinear, Scheme::Midpoint] {
        let options = Options { scheme, timestep: Some(2e-3), tolerance: 1e-12, ..Options::default() };
        let attributes = r#"stiffness="50" damping="3" springlength="0 .4" frictionloss=".1""#;
        let actuators = r#"<motor tendon="t" gear="-2"/><position tendon="t" kp="300" kv="5" forcerange="-4 4"/>"#;
        let mut s = on_a_string(attributes, r#"<geom geom="post"/>"#, actuators, options);
        s.state_mut().ctrl.copy_from_slice(&[1.5, 0.3]);
        run(&mut s, 50);
        let before = s.state().clone();
        run(&mut s, 1);
        let forces = s.step_forces().clone();
        assert!(
            (forces.actuators[0] - 1.5).abs() < 1e-12 && forces.actuators[1].abs() <= 4.0,
            "{:?}",
            forces.actuators
        );
        // Linear momentum changes by what there is.
        for k in 0..3 {
            let of = [&forces.actuation, &forces.passive, &forces.constraint, &forces.pd].map(|f| f[k]);
            let weight = if k == 2 { -9.81 } else { 0.0 };
            let found = (s.state().v[k] - before.v[k]) / 2e-3;
            let expected: f64 = of.iter().sum::<f64>() + weight;
            assert!((found - expected).abs() < 1e-6, "{scheme} {k}: {found} {expected} {of:?}");
        }
        let pull = forces.actuation[..3].iter().map(|f| f * f).sum::<f64>().sqrt();
        let expected = (-2.0 * forces.actuators[0] + forces.actuators[1]).abs();
        assert!((pull - expected).abs() < 1e-9, "{scheme}: {pull} {expected}");
    }
}

#[test]
fn jacobians_of_steps_know_how_strings_turn() {
    let options = Options { timestep: Some(5e-3), tolerance: 1e-12, ..Options::default() };
    let actuator = r#"<position tendon="t" kp="30" kv="2"/>"#;
    let attributes = r#"stiffness="200" damping="3" springlength="0 .3""#;
    let mut s = on_a_string(attributes, r#"<geom geom="post"/>"#, actuator, options);
    s.state_mut().v.copy_from_slice(&[0.2, 0.1, -0.3, 1.0, 2.0, 3.0]);
    run(&mut s, 40);
    let (model, jacobians) = (s.model().clone(), s.step_jacobians().unwrap());
    let nv = model.nv();
    let start = s.state().to_bytes();
    let mut largest: f64 = 0.0;
    let mut error: f64 = 0.0;
    for column in 0..2 * nv {
        let ends = [1e-5, -1e-5].map(|h| {
            if column < nv {
                let mut unit = vec![0.0; nv];
                unit[column] = 1.0;
                integrate(&model.tree, &mut s.state_mut().q, &unit, h);
            } else {
                s.state_mut().v[column - nv] += h;
            }
            run(&mut s, 1);
            let v = s.state().v.clone();
            s.state_mut().restore(&start).unwrap();
            v
        });
        for row in 0..nv {
            let expected = (ends[0][row] - ends[1][row]) / 2e-5;
            let found = jacobians.a[(nv + row) * 2 * nv + column];
            largest = largest.max(expected.abs());
            error = error.max((found - expected).abs());
        }
    }
    assert!(largest > 1.0 && error < 1e-6 * largest, "{error} of {largest}");
}

/// A string on which nothing acts is seen and measured, and changes no bit of a step.
#[test]
fn strings_that_are_only_seen() {
    let text = |tendon: &str| {
        format!(
            r#"<mujoco><worldbody><site name="a" pos="0 0 1"/><body pos="0 0 .5"><joint axis="0 1 0" stiffness="2"/>
            <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/><site name="b" pos=".4 0 0"/><body pos=".4 0 0">
            <joint type="slide" axis="1 0 0" damping="1"/><geom size=".06"/></body></body></worldbody>{tendon}</mujoco>"#
        )
    };
    let seen = r#"<tendon><spatial name="s"><site site="a"/><site site="b"/></spatial></tendon>"#;
    for scheme in [Scheme::Bilinear, Scheme::ImplicitEuler] {
        let [mut with, mut without] =
            [seen, ""].map(|tendon| simulation(&text(tendon), Options { scheme, ..Options::default() }));
        for _ in 0..100 {
            with.step().unwrap();
            without.step().unwrap();
            assert_eq!((&with.state().q, &with.state().v), (&without.state().q, &without.state().v));
            assert_eq!(with.step_forces().tendons, [0.0]);
        }
        // From its end on the arm, which turns about y.
        let (sin, cos) = libm::sincos(with.state().q[0]);
        let expected = libm::hypot(0.4 * cos, 0.5 + 0.4 * sin);
        assert!((length(&mut with) - expected).abs() < 1e-12, "{} {expected}", length(&mut with));
    }
}

/// Strings on which nothing else acts, held by an equality: one carries a ball in place, two share a force in equal parts.
#[test]
fn strings_that_only_equalities_hold() {
    let ball = |y: f64, ends: usize| {
        format!(
            r#"<site name="a{ends}" pos="0 {y} 2"/><body pos="0 {y} 0"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2"/>
            <site name="b{ends}"/></body>"#
        )
    };
    let string = |k: usize| format!(r#"<spatial name="s{k}"><site site="a{k}"/><site site="b{k}"/></spatial>"#);
    let text = |coupled: &str| {
        format!(
            r#"<mujoco><worldbody>{}{}</worldbody><tendon>{}{}</tendon><equality>{coupled}</equality></mujoco>"#,
            ball(0.0, 0),
            ball(1.0, 1),
            string(0),
            string(1)
        )
    };
    for scheme in [Scheme::Bilinear, Scheme::SymplecticEuler, Scheme::ImplicitEuler, Scheme::Midpoint] {
        let options = || Options { scheme, ..Options::default() };
        let mut held = simulation(&text(r#"<tendon tendon1="s0"/>"#), options());
        run(&mut held, 100);
        assert!(held.state().q[0].abs() < 1e-6, "{scheme:?} {:?}", held.state().q);
        // Each string is as much longer as the other is shorter: a push of 3 N on one ball moves both.
        let mut coupled = simulation(&text(r#"<tendon tendon1="s0" tendon2="s1" polycoef="0 -1 0 0 0"/>"#), options());
        coupled.state_mut().applied_force[0] = 3.0;
        run(&mut coupled, 100);
        let [first, second] = [coupled.state().v[0], coupled.state().v[1]];
        let expected = 3.0 / 4.0 * 100.0 * coupled.timestep();
        assert!(
            (first - expected).abs() < 1e-3 * expected && (first + second).abs() < 1e-6,
            "{scheme:?} {first} {second}"
        );
    }
}
