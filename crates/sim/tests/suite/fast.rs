//! Small bodies that cross many times their own size in a step.

use crate::common::simulation;
use sapwood_sim::{Options, Simulation};

const SPEEDS: [f64; 4] = [10.0, 100.0, 700.0, 2000.0];
const STEPS: [f64; 3] = [0.001, 0.002, 0.01];

/// A ball of 1 cm that starts at `pos` with velocity `v`, in a world of `others`.
fn shot(others: &str, pos: [f64; 3], v: [f64; 3], dt: f64) -> Simulation {
    let [x, y, z] = pos;
    let mut s = simulation(
        &format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody>
            <body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size=".01" density="2000" friction=".3"/></body>
            {others}</worldbody></mujoco>"#
        ),
        Options { timestep: Some(dt), ..Options::default() },
    );
    s.state_mut().v[..3].copy_from_slice(&v);
    s
}

/// Steps until after the ball should have arrived; energy never grows. Returns the ball's lowest place along the axis.
fn fly(s: &mut Simulation, steps: usize, case: &str) {
    let mut energy = s.energy().kinetic;
    for _ in 0..steps {
        s.step().unwrap();
        let now = s.energy().kinetic;
        assert!(now <= energy * (1.0 + 1e-9), "{case}: energy {energy} to {now}");
        energy = now;
    }
}

#[test]
fn a_fast_ball_stops_at_the_surface_of_a_plane() {
    for (speed, dt) in SPEEDS.into_iter().flat_map(|v| STEPS.map(|dt| (v, dt))) {
        for height in [0.02, 0.5, 3.0, 20.0] {
            for slant in [0.0, 1.0] {
                let mut s =
                    shot(r#"<geom type="plane" size="9 9 1"/>"#, [0.0, 0.0, height], [slant * speed, 0.0, -speed], dt);
                let case = format!("{speed} m/s from {height} m, slant {slant}, dt {dt}");
                fly(&mut s, (height / (speed * dt)) as usize + 5, &case);
                let z = s.state().q[2];
                assert!(z > 0.01 - 1e-4 - 1e-3 * speed * dt, "{case}: at {z}");
                assert!(z < 0.02 + 0.05 * speed * dt, "{case}: at {z}");
            }
        }
    }
}

#[test]
fn a_fast_ball_does_not_pass_a_wall() {
    for (speed, dt) in SPEEDS.into_iter().flat_map(|v| STEPS.map(|dt| (v, dt))) {
        for (name, half) in [("box", 0.1), ("wall", 0.001)] {
            for offset in [0.0, 0.05] {
                let wall = format!(r#"<geom type="box" pos="0 0 0" size="{half} 1 1" friction=".3"/>"#);
                for distance in [0.2, 1.0, 7.0] {
                    let mut s = shot(&wall, [-distance, offset, 0.0], [speed, 0.0, 0.0], dt);
                    let case = format!("{name} {speed} m/s from {distance} m, {offset} m off, dt {dt}");
                    fly(&mut s, (distance / (speed * dt)) as usize + 5, &case);
                    let x = s.state().q[0];
                    assert!(x < -half - 0.01 + 1e-4 + 1e-3 * speed * dt, "{case}: at {x}");
                    assert!(x > -half - 0.02 - 0.05 * speed * dt, "{case}: at {x}");
                }
            }
        }
    }
}

#[test]
fn a_fast_ball_hits_another_or_passes_it() {
    for (speed, dt) in SPEEDS.into_iter().flat_map(|v| STEPS.map(|dt| (v, dt))) {
        for offset in [0.0, 0.02, 0.1, 0.3] {
            let other = format!(
                r#"<body pos="0 {offset} 0"><freejoint/><geom type="sphere" size=".05" mass="1" friction="0" priority="1"/></body>"#
            );
            for distance in [0.2, 1.0, 7.0] {
                let mut s = shot(&other, [-distance, 0.0, 0.0], [speed, 0.0, 0.0], dt);
                let case = format!("{speed} m/s from {distance} m, {offset} m off, dt {dt}");
                let m = 4.0_f64 / 3.0 * std::f64::consts::PI * 1e-6 * 2000.0;
                fly(&mut s, (distance / (speed * dt)) as usize + 5, &case);
                let v = s.state().v.clone();
                // Along the line between the centres where they touch, both move alike afterwards.
                let sine: f64 = offset / 0.06;
                if sine > 1.0 {
                    assert!((v[0] - speed).abs() < 1e-9 * speed && v[6..9].iter().all(|v| v.abs() < 1e-9), "{case}");
                    continue;
                }
                let cosine = (1.0 - sine * sine).sqrt();
                let push = speed * cosine * m / (m + 1.0);
                let along = [push * cosine, push * sine];
                let error = (v[6] - along[0]).hypot(v[7] - along[1]);
                // A contact has one place for both bodies, which meet elsewhere than they are at the beginning of the step: off the line
                // of flight the other ball is pushed beside its centre, spins, and takes less of the push.
                assert!(v[6] > 0.0 && v[7] >= 0.0, "{case}: {v:?} {along:?}");
                assert!(offset > 0.0 || error < 1e-3 * push, "{case}: {v:?} {along:?}");
                assert!((m * (v[0] - speed) + v[6]).abs() < 1e-6 * m * speed, "{case}: {v:?}");
            }
        }
    }
}

#[test]
fn a_fast_ball_passes_beside_a_box() {
    for (speed, dt) in SPEEDS.into_iter().flat_map(|v| STEPS.map(|dt| (v, dt))) {
        for (beside, distance) in [0.11, 0.13, 0.2].into_iter().flat_map(|b| [0.2, 1.0, 7.0].map(|d| (b, d))) {
            let mut s =
                shot(r#"<geom type="box" size=".1 .1 .1"/>"#, [-distance, 0.0, beside + 1e-4], [speed, 0.0, 0.0], dt);
            let case = format!("{speed} m/s from {distance} m, {beside} m beside, dt {dt}");
            fly(&mut s, (distance / (speed * dt)) as usize + 5, &case);
            let v = s.state().v.clone();
            assert!((v[0] - speed).abs() < 1e-6 * speed && v[2].abs() < 1e-6 * speed, "{case}: {v:?}");
        }
    }
}
