//! Bodies that roll and drive up stairs made of boxes.

use crate::common::{G, simulation};
use sapwood_sim::{Options, Simulation};

const STEPS: [f64; 4] = [0.0005, 0.001, 0.002, 0.005];
/// Radius of what rolls, m.
const R: f64 = 0.1;
/// Depth of a tread, m.
const TREAD: f64 = 0.3;

/// A floor and `count` steps of height `rise` that go up along x from x = 0.5. Every tread is made of four boxes: two along x, two along y.
fn stairs(count: u32, rise: f64, mu: f64) -> String {
    let mut text = String::new();
    for k in 0..=count {
        let (start, depth) = if k == 0 { (-0.5, 1.0) } else { (0.5 + TREAD * f64::from(k - 1), TREAD) };
        // The last tread is a long landing.
        let depth = if k == count { 3.0 } else { depth };
        let top = rise * f64::from(k);
        for (x, y) in [(0.25, -0.2), (0.25, 0.2), (0.75, -0.2), (0.75, 0.2)] {
            let (x, half) = (start + x * depth, 0.25 * depth);
            text += &format!(r#"<geom type="box" pos="{x} {y} {}" size="{half} .2 .1" friction="{mu}"/>"#, top - 0.1);
        }
    }
    text
}

fn rolling(geom: &str, count: u32, rise: f64, speed: f64, dt: f64) -> Simulation {
    let mut s = simulation(
        &format!(
            r#"<mujoco><worldbody>{}<body pos="0 0 {R}"><freejoint/><geom {geom} friction="1" density="1000"/></body>
            </worldbody></mujoco>"#,
            stairs(count, rise, 1.0)
        ),
        Options { timestep: Some(dt), ..Options::default() },
    );
    s.state_mut().v[0] = speed;
    // Geoms lie along y, about which the body rolls.
    s.state_mut().v[4] = speed / R;
    s
}

/// A rigid roller that meets an edge of height h turns about it: its angular momentum about the edge is kept in the impact,
/// its energy on the way up. With I = β m R² its speed on the next tread follows from
/// v² ← v² (1 − h / (R (1 + β)))² − 2 g h / (1 + β).
#[test]
fn rollers_climb_low_stairs_as_rigid_bodies_do() {
    const RISE: f64 = 0.005;
    const SPEED: f64 = 0.85;
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom, beta) in [
            ("ball", r#"type="sphere" size=".1""#, 0.4),
            ("cylinder", r#"type="cylinder" size=".1 .15" euler="90 0 0""#, 0.5),
        ] {
            let mut s = rolling(geom, 8, RISE, SPEED, dt);
            // A step finds the edge up to v dt before it is met: the normal, whose angle has the sine 0.31, is off by v dt / R, and gravity
            // acts along it for a step more or less. Of v² each takes less than 5 dt at a riser.
            let tolerance = |riser: u32| 1e-6 + 10.0 * dt * f64::from(riser);
            let mut expected = SPEED * SPEED;
            for riser in 0..8 {
                if expected < 2.0 * tolerance(riser) {
                    break;
                }
                let middle = if riser == 0 { 0.2 } else { 0.5 + TREAD * (f64::from(riser) - 0.5) };
                let latest = s.state().time + 3.0;
                while s.state().q[0] < middle && s.state().time < latest {
                    s.step().unwrap();
                }
                let (v, height) = (s.state().v[0], s.state().q[2] - R - RISE * f64::from(riser));
                let error = v * v.abs() - expected;
                if error > 1e-4 || error < -tolerance(riser) || height.abs() > 1e-6 {
                    failures += &format!("{name} dt {dt}: {v} for {}, riser {riser}, {height:.1e}\n", expected.sqrt());
                }
                expected = expected * (1.0 - RISE / (R * (1.0 + beta))).powi(2) - 2.0 * G * RISE / (1.0 + beta);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// A cart whose four wheels are driven at 5 rad/s, on the floor before six steps, or on the landing above them, driven back.
fn cart(up: bool, dt: f64) -> Simulation {
    let (x, height) = if up { (0.0, 0.0) } else { (3.0, 6.0 * CART_RISE) };
    let (mut wheels, mut motors) = (String::new(), String::new());
    for (i, (x, y)) in [(-0.2, -0.2), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2)].into_iter().enumerate() {
        wheels += &format!(
            r#"<body pos="{x} {y} 0"><joint name="{i}" axis="0 1 0"/>
            <geom type="cylinder" size="{R} .03" euler="90 0 0" mass=".5" friction="1"/></body>"#
        );
        motors += &format!(r#"<velocity joint="{i}" kv="2"/>"#);
    }
    let mut s = simulation(
        &format!(
            r#"<mujoco><worldbody>{}<body pos="{x} 0 {}"><freejoint/>
            <geom type="box" size=".25 .15 .04" mass="4" contype="0" conaffinity="0"/>{wheels}</body></worldbody>
            <actuator>{motors}</actuator></mujoco>"#,
            stairs(6, CART_RISE, 1.0),
            R + height
        ),
        Options { timestep: Some(dt), ..Options::default() },
    );
    s.state_mut().ctrl.fill(if up { 5.0 } else { -5.0 });
    s
}

/// A third of the wheels' radius: they cannot be pushed over it, they have to pull themselves up.
const CART_RISE: f64 = 0.033;

#[test]
fn a_cart_drives_up_and_down_stairs() {
    let mut failures = String::new();
    for dt in STEPS {
        for up in [true, false] {
            let mut s = cart(up, dt);
            let (mut highest, mut deepest, mut sideways) = (0.0_f64, 0.0_f64, 0.0_f64);
            let there = |x: f64| if up { x > 3.0 } else { x < 0.1 };
            while !there(s.state().q[0]) && s.state().time < 10.0 {
                s.step().unwrap();
                let q = &s.state().q;
                highest = highest.max(q[2] - R);
                deepest = deepest.max(s.stats().penetration);
                sideways = sideways.max(q[1].abs());
            }
            // Steps of 0.05 ms take 6.252 s up and 5.858 s down. The wheels' edges may be found a step late, twice at each riser.
            let (time, expected) = (s.state().time, if up { 6.252 } else { 5.858 });
            let end = if up { 6.0 * CART_RISE } else { 0.0 };
            let height = s.state().q[2] - R - end;
            let slow = (time - expected).abs() > 12.0 * dt + 1e-3;
            let hops = highest > 6.0 * CART_RISE + 1e-4 || height.abs() > 1e-6;
            if slow || hops || deepest > 1e-6 || sideways > 1e-3 {
                failures += &format!(
                    "up {up} dt {dt}: {time} s, {highest} m high, {height:.1e} at the end, {deepest:.1e} deep, {sideways:.1e} aside\n"
                );
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
