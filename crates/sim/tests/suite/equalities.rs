//! Equality constraints against closed forms: loops, welds, distances, couplings.

use crate::common::{measured_period, pendulum_period, run, simulation, violation};
use models::scenes;
use sapwood_sim::{Options, Scheme, Simulation};
use spatial::{Quat, Vec3};

const G: f64 = 9.81;

fn at(timestep: f64) -> Options {
    Options { timestep: Some(timestep), ..Options::default() }
}

/// A rod of 1 kg on a hinge, level, whose fixed tip of 0.2 kg is tied to the world: the tip bears half of the rod, from the tie, and the sensor in
/// it feels that less its own weight, in lanes and by the step for all models.
#[test]
fn a_force_sensor_in_a_fixed_tip_feels_what_ties_the_tip() {
    for tie in [
        r#"<connect body1="tip" anchor="0 0 0"/>"#,
        r#"<connect body1="k" body2="tip" anchor="0 0 0"/>"#,
        r#"<connect body1="rod" anchor=".5 0 0"/>"#,
    ] {
        let mjcf = format!(
            r#"<mujoco><worldbody><body name="k" pos=".5 0 1"/><body name="rod" pos="0 0 1"><joint axis="0 1 0" damping=".5"/>
            <inertial pos=".25 0 0" mass="1" diaginertia=".001 .02 .02"/><body name="tip" pos=".5 0 0"><site name="s"/>
            <inertial pos="0 0 0" mass=".2" diaginertia=".0001 .0001 .0001"/></body></body></worldbody>
            <equality>{tie}</equality><sensor><force site="s"/></sensor></mujoco>"#
        );
        let on_tip = tie.contains("tip");
        for scheme in [Scheme::Bilinear, Scheme::Midpoint] {
            let mut s = simulation(&mjcf, Options { scheme, ..at(1e-3) });
            run(&mut s, 2000);
            let mut force = vec![0.0; 3];
            s.sensor_data(&mut force);
            // From child to parent: what the tip's weight leaves of the tie's force pushes up.
            let expected = if on_tip { 0.2 * G - (0.5 + 0.2) * G } else { 0.2 * G };
            assert!((force[2] - expected).abs() < 1e-3 * G, "{tie} {scheme}: {force:?}, expected {expected}");
        }
    }
}

const CRANK: f64 = 0.3;
const START: f64 = 1.0;

/// Two cranks of 0.3 m and 0.5 kg that hang from the ceiling, and a bar of 0.8 kg between their ends: a parallelogram. It
/// starts at rest, the cranks at 1 rad.
fn parallelogram(options: Options) -> Simulation {
    let crank = r#"<inertial pos="0 0 -.15" mass=".5" diaginertia=".004 .004 .001"/><joint axis="0 1 0"/>"#;
    let mjcf = format!(
        r#"<mujoco><worldbody>
          <body name="left">{crank}<body name="bar" pos="0 0 -.3"><joint axis="0 1 0"/>
            <inertial pos=".2 0 0" mass=".8" diaginertia=".001 .012 .012"/></body></body>
          <body name="right" pos=".4 0 0">{crank}</body>
        </worldbody><equality><connect body1="bar" body2="right" anchor=".4 0 0"/></equality></mujoco>"#
    );
    let mut s = simulation(&mjcf, options);
    s.state_mut().q.copy_from_slice(&[START, -START, START]);
    assert!(violation(&s) < 1e-15);
    s
}

/// Its inertia and moment of weight about the crank's angle: the bar moves in a circle and does not turn.
fn parallelogram_inertia() -> (f64, f64) {
    let inertia = 2.0 * (0.004 + 0.5 * 0.15 * 0.15) + 0.8 * CRANK * CRANK;
    (inertia, G * (2.0 * 0.5 * 0.15 + 0.8 * CRANK))
}

#[test]
fn a_four_bar_swings_as_a_pendulum_with_its_effective_inertia() {
    let (inertia, moment) = parallelogram_inertia();
    let expected = pendulum_period((moment / inertia).sqrt(), START);
    for (dt, tolerance) in [(0.005, 1e-3), (0.001, 1e-4)] {
        let period = measured_period(&mut parallelogram(at(dt)), 10.0, |s| s.state().q[0]);
        assert!((period / expected - 1.0).abs() < tolerance, "{dt}: {period} against {expected}");
    }
}

#[test]
fn a_four_bar_stays_closed_and_gains_no_energy() {
    let (inertia, moment) = parallelogram_inertia();
    // Greatest angular velocity, from the height that is lost.
    let omega2 = 2.0 * moment * (1.0 - START.cos()) / inertia;
    for dt in [0.005, 0.001] {
        let mut s = parallelogram(at(dt));
        let start = s.energy().total();
        // (greatest violation, greatest energy) of the first and the last two seconds
        let mut seen = [(0.0_f64, f64::NEG_INFINITY); 5];
        for span in &mut seen {
            for _ in 0..(2.0 / dt) as usize {
                s.step().unwrap();
                *span = (span.0.max(violation(&s)), span.1.max(s.energy().total()));
            }
        }
        for (k, (apart, energy)) in seen.into_iter().enumerate() {
            // The cranks leave their circles alike: what is left of ½ dt² ω² L is the yielding of the joint.
            assert!(apart < 1e-6 * CRANK, "{dt}, span {k}: {apart} m");
            // Symplectic Euler's energy is wrong by ½ dt times the power of gravity, and does not drift.
            let power = moment * omega2.sqrt();
            assert!(energy - start < 0.5 * dt * power, "{dt}, span {k}: {}", energy - start);
        }
        assert!(seen[4].1 <= seen[0].1 && seen[4].0 <= seen[0].0, "{dt}: {seen:?}");
        // Hanging at rest it is closed but for what the joint yields to the weight.
        s.state_mut().v.fill(0.0);
        s.state_mut().q.fill(0.0);
        run(&mut s, 200);
        assert!(violation(&s) < 1e-6 * CRANK, "{dt}: {}", violation(&s));
    }
}

#[test]
fn a_crank_that_turns_all_the_way_keeps_its_energy() {
    // Without weight the energy is that of motion alone, whatever the linkage's shape.
    let text =
        scenes::mjcf("four-bar".parse().unwrap()).replace("<worldbody>", "<option gravity=\"0 0 0\"/><worldbody>");
    for dt in [0.005, 0.001] {
        let mut s = simulation(&text, at(dt));
        let crank = s.model().joints[s.model().joint("crank").unwrap()].v;
        // Pushed to 10 rad/s or so, let go.
        s.state_mut().ctrl[0] = 0.1;
        while s.state().v[crank] < 10.0 {
            run(&mut s, 1);
        }
        s.state_mut().ctrl[0] = 0.0;
        let (start, turns) = (s.energy().total(), s.state().q[crank]);
        let (mut most, mut worst) = (0.0_f64, 0.0_f64);
        for _ in 0..(10.0 / dt) as usize {
            s.step().unwrap();
            most = most.max(s.energy().total() / start);
            worst = worst.max(violation(&s));
        }
        assert!(s.state().q[crank] - turns > 8.0 * std::f64::consts::TAU, "{dt}: {}", s.state().q[crank] - turns);
        // The loop is linearised where the step begins: its joint does a little work, of second order in dt, turn after turn.
        let end = s.energy().total() / start;
        assert!(most < 1.0 + 10.0 * dt && (end - 1.0).abs() < 10.0 * dt, "{dt}: {most} {end}");
        // A step leaves the circles by ½ dt² ω² L; the next one takes that back.
        assert!(worst < dt * dt * 100.0 * 0.36, "{dt}: {worst}");
    }
}

/// Two free bodies that are one, welded or by the tree, under a force and a torque on the first; the placement of the first.
fn pushed(welded: bool, dt: f64, load: [f64; 6], time: f64) -> Vec<f64> {
    let first = r#"<freejoint/><inertial pos="0 .02 0" mass="2" diaginertia=".02 .03 .04"/>"#;
    let second = r#"<inertial pos=".05 0 0" mass="1" diaginertia=".01 .01 .005"/>"#;
    let mjcf = if welded {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="a">{first}</body>
            <body name="b" pos=".3 0 .1" euler="20 0 0"><freejoint/>{second}</body></worldbody>
            <equality><weld body1="a" body2="b"/></equality></mujoco>"#
        )
    } else {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="a">{first}
            <body name="b" pos=".3 0 .1" euler="20 0 0">{second}</body></body></worldbody></mujoco>"#
        )
    };
    let mut s = simulation(&mjcf, at(dt));
    s.state_mut().applied_wrench[6..12].copy_from_slice(&load);
    run(&mut s, (time / dt).round() as usize);
    if welded {
        // What a step of a turn leaves out, which the next one takes back.
        let omega2: f64 = s.state().v[3..6].iter().map(|x| x * x).sum();
        assert!(violation(&s) < 1e-6 * dt + dt * dt * omega2 * 0.32, "{dt}: {}", violation(&s));
    }
    s.state().q[..7].to_vec()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn welded_bodies_move_as_one() {
    // Slow: what one step of a turn leaves out, dt ω² r, is below the tolerance.
    let load = [0.001, -0.002, 0.003, 1.0, 0.0, 0.02];
    let [fused, welded] = [false, true].map(|welded| pushed(welded, 1e-3, load, 0.5));
    assert!(fused[0] > 0.04);
    assert!(apart(&fused, &welded) < 1e-6, "{fused:?} {welded:?}");
    // Fast: both are wrong by the order of the step, and agree to it.
    let load = [0.3, -0.2, 0.4, 1.0, 2.0, 3.0];
    let errors = [2e-3, 1e-3, 5e-4].map(|dt| {
        let [fused, welded] = [false, true].map(|welded| pushed(welded, dt, load, 0.5));
        apart(&fused, &welded)
    });
    assert!(errors[2] < 1e-3, "{errors:?}");
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.3, "{errors:?}");
    }
}

#[test]
fn a_weld_to_the_world_holds_what_can_only_turn_and_what_can_only_move() {
    for (joint, name) in [("hinge", "turns"), ("slide", "moves")] {
        for dt in [0.01, 0.001] {
            let axis = if joint == "hinge" { "0 1 0" } else { "0 0 1" };
            let mjcf = format!(
                r#"<mujoco><worldbody><body name="a"><joint type="{joint}" axis="{axis}"/>
                <inertial pos=".2 0 0" mass="3" diaginertia=".01 .01 .01"/></body></worldbody>
                <equality><weld body1="a"/></equality></mujoco>"#
            );
            let mut s = simulation(&mjcf, at(dt));
            run(&mut s, 200);
            // R = β²/(4π²) w: under an acceleration g it yields by β²/(4π²) g dt² or so.
            let bound = 10.0 * 2.5e-4 * G / 0.2 * dt * dt;
            let (q, v) = (s.state().q[0].abs(), s.state().v[0].abs());
            assert!(q < bound && v < 1e-9, "what {name}, {dt}: {q} {v}");
        }
    }
}

#[test]
fn a_weld_that_starts_elsewhere_is_righted_at_the_speed_of_recovery() {
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><freejoint/>
        <inertial pos="0 0 0" mass="3" diaginertia=".01 .02 .03"/></body></worldbody>
        <equality><weld body1="a" relpose="0.3 0 0 0.8 0 0.6 0"/></equality></mujoco>"#;
    let mut s = simulation(mjcf, at(0.005));
    for _ in 0..600 {
        s.step().unwrap();
        let v = &s.state().v;
        let [linear, angular] = [&v[..3], &v[3..]].map(|v| v.iter().map(|x| x * x).sum::<f64>().sqrt());
        // The point of the body that is at the frame's goal has the speed of recovery; its origin is up to 0.3 m away.
        assert!(linear < 1.3 && angular < 1.001, "{linear} {angular}");
    }
    let away = s.state().q[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(violation(&s) < 1e-9 && (away - 0.3).abs() < 1e-9, "{} {:?}", violation(&s), s.state().q);
}

#[test]
fn a_ball_at_a_distance_swings_as_a_pendulum() {
    let mjcf = r#"<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <geom name="pivot" type="sphere" size=".02"/>
        <body name="bob" pos="0.24 0 -0.32"><freejoint/><geom name="bob" type="sphere" size=".03" mass="1"/></body>
        </worldbody><equality><distance geom1="pivot" geom2="bob" distance="0.35"/></equality></mujoco>"#;
    let angle = 0.75_f64.atan();
    let expected = pendulum_period((G / 0.4).sqrt(), angle);
    for (dt, tolerance) in [(0.005, 1e-3), (0.001, 1e-4)] {
        let mut s = simulation(mjcf, at(dt));
        assert!(violation(&s) < 1e-15);
        let period = measured_period(&mut s, 10.0, |s| s.state().q[0]);
        assert!((period / expected - 1.0).abs() < tolerance, "{dt}: {period} against {expected}");
        let omega2 = 2.0 * G / 0.4 * (1.0 - angle.cos());
        assert!(violation(&s) < 0.5 * dt * dt * omega2 * 0.4, "{dt}: {}", violation(&s));
    }
}

#[test]
fn a_soft_weld_swings_at_the_rate_that_solref_asks_for() {
    // Acceleration −b v − k x, whatever the masses and the impedance where that is constant, as MuJoCo's.
    let (time, ratio) = (0.5, 0.1);
    let (k, b) = (1.0 / ((time * ratio) * (time * ratio)), 2.0 / time);
    // Of a turn the rows are half angles, and meet a quarter of the inverse inertia that they are made for.
    let impedance = 0.6;
    let slower = 0.25 / (0.25 + (1.0 - impedance) / impedance) / impedance;
    let period = |share: f64| std::f64::consts::TAU / f64::sqrt(share * k - 0.25 * (share * b).powi(2));
    for (mass, inertia) in [(0.3, 0.7), (5.0, 0.02)] {
        let mjcf = format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><freejoint/>
            <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/></body></worldbody>
            <equality><weld body1="a" solref="{time} {ratio}" solimp=".6 .6"/></equality></mujoco>"#
        );
        for (coordinate, name, expected) in [(0, "moves", period(1.0)), (3, "turns", period(slower))] {
            let mut s = simulation(&mjcf, at(1e-4));
            s.state_mut().v[coordinate] = 0.1;
            let read = |s: &Simulation| s.state().q[if coordinate == 0 { 0 } else { 4 }];
            let period = measured_period(&mut s, 1.5, read);
            assert!((period / expected - 1.0).abs() < 2e-3, "{mass} kg {name}: {period} {expected}");
        }
    }
}

/// From the centre of a body to where it is held, m.
const ARM: f64 = 0.4;

#[test]
fn what_whirls_on_a_soft_constraint_stands_off_by_what_the_load_stretches() {
    // The row holds m ω² l, and gives way by R m ω² l/(d k) with R = (1 − d)/(d m): (1 − d) T² ω² l.
    let (time, impedance, omega) = (0.02, 0.9, 10.0);
    let compliance = format!(r#"solref="{time} 1" solimp="{impedance} {impedance}""#);
    let whirling = |equality: &str, scheme: Scheme| {
        let mjcf = format!(
            r#"<mujoco><option gravity="0 0 0"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
            <geom name="pivot" type="sphere" size=".01"/>
            <body name="heavy"><freejoint/><inertial pos="0 0 0" mass="1e7" diaginertia="1e7 1e7 1e7"/></body>
            <body name="a" pos="{ARM} 0 0"><freejoint/><inertial pos="0 0 0" mass=".5" diaginertia=".01 .02 .03"/>
              <geom name="bob" type="sphere" size=".01"/></body></worldbody><equality>{equality}</equality></mujoco>"#
        );
        let mut s = simulation(&mjcf, Options { scheme, ..at(5e-4) });
        s.state_mut().v.copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 0.0, omega, 0.0, omega * ARM, 0.0, 0.0, 0.0, omega]);
        run(&mut s, 2000);
        let q = &s.state().q;
        // Where the anchor of the body is, and how far apart the two points are.
        let turn = Quat::new(q[10], q[11], q[12], q[13]).to_mat3();
        let center = Vec3::new(q[7], q[8], q[9]);
        (center.norm() - ARM, (center - turn.x * ARM).norm(), center.norm() * ARM.recip())
    };
    for scheme in [Scheme::Bilinear, Scheme::Midpoint, Scheme::SymplecticEuler] {
        for equality in [
            format!(r#"<connect body1="heavy" body2="a" anchor="0 0 0" {compliance}/>"#),
            format!(r#"<weld body1="heavy" body2="a" anchor="{} 0 0" {compliance}/>"#, -ARM),
        ] {
            let (away, apart, longer) = whirling(&equality, scheme);
            // Momentum stays.
            let omega = omega / (longer * longer);
            let expected = (1.0 - impedance) * time * time * omega * omega * (ARM + away);
            assert!((apart / expected - 1.0).abs() < 0.02, "{scheme:?} {equality}: {apart} against {expected}");
        }
        let equality = format!(r#"<distance geom1="pivot" geom2="bob" distance="{}" {compliance}/>"#, ARM - 0.02);
        let (away, _, longer) = whirling(&equality, scheme);
        let omega = omega / (longer * longer);
        let expected = (1.0 - impedance) * time * time * omega * omega * (ARM + away);
        assert!((away / expected - 1.0).abs() < 0.02, "{scheme:?} distance: {away} against {expected}");
    }
}

/// Three wheels on parallel axles, of inertia 0.5, 0.2 and 0.3 kg·m².
const WHEELS: &str = r#"<body><joint name="x" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia=".5 .5 .5"/></body>
    <body><joint name="y" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia=".2 .2 .2"/></body>
    <body><joint name="z" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia=".3 .3 .3"/></body>"#;

#[test]
fn geared_wheels_accelerate_with_their_effective_inertia() {
    let mjcf = format!(
        r#"<mujoco><worldbody>{WHEELS}</worldbody><equality>
        <joint joint1="y" joint2="x" polycoef="0 -3 0 0 0"/></equality></mujoco>"#
    );
    for dt in [0.01, 0.001] {
        let mut s = simulation(&mjcf, at(dt));
        s.state_mut().applied_force[0] = 1.4;
        run(&mut s, (1.0 / dt).round() as usize);
        let expected = 1.4 / (0.5 + 9.0 * 0.2);
        let v = &s.state().v;
        assert!((v[0] / expected - 1.0).abs() < 1e-5 && (v[1] / v[0] + 3.0).abs() < 1e-5, "{dt}: {v:?} {expected}");
        assert!(violation(&s) < 1e-6 && v[2] == 0.0, "{dt}: {}", violation(&s));
    }
}

#[test]
fn a_cam_conserves_energy() {
    // y = x²: ½ (J_x + J_y (2 x)²) ẋ² stays.
    let mjcf = format!(
        r#"<mujoco><worldbody>{WHEELS}</worldbody><equality>
        <joint joint1="y" joint2="x" polycoef="0 0 1 0 0"/></equality></mujoco>"#
    );
    let mut s = simulation(&mjcf, at(2e-4));
    let inertia = |x: f64| 0.5 + 0.2 * 4.0 * x * x;
    let (x, v) = (0.3, 1.0);
    s.state_mut().q[..2].copy_from_slice(&[x, x * x]);
    s.state_mut().v[..2].copy_from_slice(&[v, 2.0 * x * v]);
    run(&mut s, 5000);
    let (q, u) = (s.state().q[0], s.state().v[0]);
    assert!(q > 1.0 && (u * (inertia(q) / inertia(x)).sqrt() - v).abs() < 1e-3, "{q} {u}");
    assert!(violation(&s) < 1e-6, "{}", violation(&s));
}

#[test]
fn coupled_tendons_share_a_force() {
    // 2 x − y = −1.5 z; a torque on z alone.
    let mjcf = format!(
        r#"<mujoco><worldbody>{WHEELS}</worldbody><tendon>
        <fixed name="a"><joint joint="x" coef="2"/><joint joint="y" coef="-1"/></fixed>
        <fixed name="b"><joint joint="z" coef="-1.5"/></fixed></tendon>
        <equality><tendon tendon1="a" tendon2="b"/></equality></mujoco>"#
    );
    let mut s = simulation(&mjcf, at(0.001));
    s.state_mut().applied_force[2] = 1.0;
    run(&mut s, 1000);
    // a = M⁻¹(f − cᵀ (c M⁻¹ f)/(c M⁻¹ cᵀ))
    let (c, inverse, f) = ([2.0, -1.0, 1.5], [1.0 / 0.5, 1.0 / 0.2, 1.0 / 0.3], [0.0, 0.0, 1.0]);
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * inverse[i] * b[i]).sum::<f64>();
    let share = dot(c, f) / dot(c, c);
    for i in 0..3 {
        let expected = inverse[i] * (f[i] - c[i] * share);
        let v = s.state().v[i];
        assert!((v - expected).abs() < 1e-5, "{i}: {v} against {expected}");
    }
    assert!(violation(&s) < 1e-6, "{}", violation(&s));
}

#[test]
fn a_joint_that_mimics_another_follows_it() {
    let link = |name: &str, inertia: f64| {
        format!(
            r#"<link name="{name}"><inertial><mass value="1"/>
            <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>"#
        )
    };
    let urdf = format!(
        r#"<robot name="gripper"><link name="base"/>{}{}
        <joint name="leader" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
        <joint name="follower" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/>
        <mimic joint="leader" multiplier="-2" offset="0.1"/></joint></robot>"#,
        link("a", 0.4),
        link("b", 0.15)
    );
    let mut s = simulation(&urdf, at(0.002));
    assert!(violation(&s) < 1e-15);
    s.state_mut().applied_force[0] = 2.0;
    run(&mut s, 500);
    let expected = 2.0 / (0.4 + 4.0 * 0.15);
    let (q, v) = (&s.state().q, &s.state().v);
    assert!((v[0] / expected - 1.0).abs() < 1e-5, "{v:?} {expected}");
    assert!((q[1] - (0.1 - 2.0 * q[0])).abs() < 1e-6, "{q:?}");
}

#[test]
fn a_platform_on_six_legs_hangs_in_their_forces() {
    let text = scenes::mjcf("stewart".parse().unwrap());
    for dt in [0.01, 0.001] {
        let mut s = simulation(&text, at(dt));
        run(&mut s, (3.0 / dt).round() as usize);
        assert!(violation(&s) < 1e-6 && s.state().v.iter().all(|v| v.abs() < 1e-6), "{dt}: {}", violation(&s));
        let joint = |k: usize| &s.model().joints[s.model().joint(&format!("leg{k}")).unwrap()];
        let forces: Vec<f64> = (0..6).map(|k| -20_000.0 * s.state().q[joint(k).q]).collect();
        // Virtual work of a lift: a leg at the angle α to the vertical is drawn out by cos α and swings by sin α / length.
        let (foot, head) = (polar(0.4, 0.2), polar(0.25, 0.85));
        let across = (foot[0] - head[0]).hypot(foot[1] - head[1]);
        let (sin, cos) = (across / across.hypot(0.5), 0.5 / across.hypot(0.5));
        let tube = 1.0 * 0.275 * sin * sin;
        let rod = 0.5 * (cos * cos + 0.775 * sin * sin);
        let expected = G * (5.0 + 6.0 * (tube + rod)) / cos;
        let sum: f64 = forces.iter().sum();
        assert!((sum / expected - 1.0).abs() < 1e-3, "{dt}: {sum} N against {expected} N");
        for force in &forces {
            assert!((6.0 * force / expected - 1.0).abs() < 2e-3, "{dt}: {forces:?}");
        }
    }
}

fn polar(radius: f64, angle: f64) -> [f64; 2] {
    [radius * angle.cos(), radius * angle.sin()]
}
