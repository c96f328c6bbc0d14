//! What starts violated comes to rest without violence: recovery moves positions and leaves no energy.

use crate::common::{self, G, simulation};
use sapwood_sim::{Options, Simulation};

/// Speed up to which recovery stays in the velocities, m/s or rad/s: 1 % of the default `recovery_speed`.
const LEFT: f64 = 0.01;
const STEPS: [f64; 3] = [0.01, 0.005, 0.001];
const GEOMS: [&str; 3] =
    [r#"type="sphere" size=".1""#, r#"type="box" size=".1 .1 .1""#, r#"type="capsule" size=".05 .1""#];

fn at(mjcf: &str, dt: f64) -> Simulation {
    simulation(mjcf, Options { timestep: Some(dt), ..Options::default() })
}

fn fastest(s: &Simulation) -> f64 {
    s.state().v.iter().fold(0.0, |most, v| f64::max(most, v.abs()))
}

/// Free bodies of 1 kg in the same place, at the height `z` above a plane if there is gravity.
fn coincident(geom: &str, count: usize, z: f64, gravity: f64) -> String {
    let plane = if gravity == 0.0 { "" } else { r#"<geom type="plane" size="9 9 1"/>"# };
    let body = format!(r#"<body pos="0 0 {z}"><freejoint/><geom {geom} mass="1"/></body>"#);
    format!(
        r#"<mujoco><option gravity="0 0 -{gravity}"/><worldbody>{plane}{}</worldbody></mujoco>"#,
        body.repeat(count)
    )
}

#[test]
fn a_body_that_starts_in_the_ground_is_lifted_out_and_rests() {
    for (geom, half) in GEOMS.into_iter().zip([0.1, 0.1, 0.15]) {
        for dt in STEPS {
            let mut s = at(&coincident(geom, 1, 0.0, G), dt);
            let start = s.energy().potential;
            let mut steps = 0;
            while f64::from(steps) * dt < 1.0 {
                s.step().unwrap();
                let energy = s.energy();
                // It may leave with what stays in the velocities, and fall back.
                assert!(fastest(&s) < LEFT + G * dt, "{geom} dt {dt} step {steps}: {:?}", s.state().v);
                assert!(energy.kinetic + energy.potential - start < G * half + 0.5 * LEFT * LEFT + 1e-6);
                steps += 1;
            }
            assert!((s.state().q[2] - half).abs() < 1e-5, "{geom} dt {dt}: {:?}", s.state().q);
            assert!(fastest(&s) < 1e-5, "{geom} dt {dt}: {:?}", s.state().v);
        }
    }
}

#[test]
fn bodies_in_the_same_place_part_without_kinetic_energy() {
    for geom in GEOMS {
        for (count, dt) in [(2, 0.01), (2, 0.001), (7, 0.005)] {
            let mut s = at(&coincident(geom, count, 0.0, 0.0), dt);
            for step in 0..(2.0 / dt) as usize {
                s.step().unwrap();
                let kinetic = s.energy().kinetic;
                // Each of two that part at LEFT has half of it; spin counts like motion.
                let bound = count as f64 * LEFT * LEFT * count as f64;
                assert!(kinetic < bound, "{count} {geom} dt {dt} step {step}: {kinetic} of {bound}");
            }
            let deepest = s.contacts().iter().fold(0.0, |least, c| f64::min(least, c.gap));
            assert!(deepest > -1e-4, "{count} {geom} dt {dt}: {deepest}");
        }
    }
}

#[test]
fn a_heap_that_starts_in_one_place_gains_speed_by_falling_alone() {
    for geom in GEOMS {
        let (count, dt) = (10, 0.005);
        let mut s = at(&coincident(geom, count, 0.1, G), dt);
        let mut before = 0.0;
        for step in 0..400 {
            s.step().unwrap();
            // Also where Coulomb's law is left aside, in heaps that recover.
            let stats = s.stats();
            assert_eq!(stats.unsettled > 0, stats.friction_residual > 1e-4, "{geom} step {step}: {stats:?}");
            let kinetic = s.energy().kinetic;
            // ½ v'² − ½ v² ≤ v' (v' − v): the work of gravity; contacts only add what recovery leaves.
            let work: f64 = s.state().v.chunks(6).map(|v| -G * dt * v[2]).sum();
            let left = count as f64 * LEFT * LEFT;
            assert!(
                kinetic < before + work.max(0.0) + left,
                "{geom} step {step}: {kinetic} after {before}, work {work}"
            );
            before = kinetic;
        }
    }
}

/// Of a heap that starts in itself each body is righted at the speed of recovery; one that has to turn fast does not keep all others in each
/// other.
#[test]
fn a_heap_that_starts_in_itself_is_righted_body_by_body() {
    let spacing = 0.07;
    let body = |i: usize| {
        let [x, y, z] = [i % 3, i / 3 % 3, i / 9].map(|place| spacing * place as f64);
        let [a, b, c] = [37 * i, 53 * i, 71 * i];
        format!(
            r#"<body pos="{x} {y} {}" euler="{a} {b} {c}"><freejoint/>
            <geom type="capsule" fromto="0 0 0 .15 0 0" size=".02" mass=".5"/>
            <geom type="capsule" fromto="0 0 0 0 .1 .05" size=".03" mass=".3"/></body>"#,
            z + 0.12
        )
    };
    let bodies: String = (0..27).map(body).collect();
    let plane = r#"<geom type="plane" size="9 9 1"/>"#;
    let mut s = at(&format!("<mujoco><worldbody>{plane}{bodies}</worldbody></mujoco>"), 0.005);
    let deepest = [0, 50, 50].map(|steps| {
        common::run(&mut s, steps + 1);
        s.stats().penetration
    });
    // Slowed as a whole, 16 mm were left after 60 steps.
    assert!(deepest[0] > 0.05 && deepest[1] < 0.006 && deepest[2] < 5e-4, "{deepest:?}");
}

#[test]
fn a_joint_beyond_its_limit_is_righted_without_speed() {
    let model = |joint: &str| {
        format!(
            r#"<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body><joint limited="true" {joint}/>
            <geom type="capsule" size=".02" fromto="0 0 0 0 0 -.3" mass="1"/></body></worldbody></mujoco>"#
        )
    };
    for dt in STEPS {
        for joint in [r#"type="hinge" axis="0 1 0" range="-1 -.33""#, r#"type="slide" axis="1 0 0" range="-1 -.33""#] {
            let mut s = at(&model(joint), dt);
            common::run(&mut s, (0.5 / dt) as usize);
            // On the way nothing but what is left at the end.
            assert!((s.state().q[0] + 0.33).abs() < LEFT, "{joint} dt {dt}: {:?}", s.state().q);
            assert!(fastest(&s) < LEFT, "{joint} dt {dt}: {:?}", s.state().v);
        }
        let mut s = at(&model(r#"type="ball" range="0 .5""#), dt);
        let half = 0.5 * (0.5 + 0.33_f64);
        s.state_mut().q.copy_from_slice(&[half.cos(), 0.6 * half.sin(), 0.8 * half.sin(), 0.0]);
        common::run(&mut s, (0.5 / dt) as usize);
        let q = &s.state().q;
        let angle = 2.0 * q[0].acos();
        assert!((angle - 0.5).abs() < LEFT && fastest(&s) < LEFT, "ball dt {dt}: {angle} {:?}", s.state().v);
    }
}

/// A limb on a fixed base that reaches into it beside its joint: a spring there meets a lever of 5 mm.
#[test]
fn links_that_overlap_beside_their_joint_do_not_throw_each_other_about() {
    for solref in ["", r#"solref=".015 1""#] {
        let mjcf = format!(
            r#"<mujoco><default><geom {solref}/><joint damping=".1" armature=".01"/></default><worldbody>
            <body><geom type="capsule" size=".09 .06" euler="0 90 0"/>
            <body pos=".05 0 -.02"><joint axis="0 1 0" range="-60 60" limited="true"/><inertial pos="0 0 -.02" mass=".1" diaginertia="1e-4 1e-4 1e-4"/>
            <body pos="0 0 -.05"><joint axis="1 0 0" range="-60 60" limited="true"/><geom type="capsule" size=".06 .15" pos=".005 0 -.1"/></body>
            </body></body></worldbody></mujoco>"#
        );
        for dt in STEPS {
            let mut s = at(&mjcf, dt);
            let mut most: f64 = 0.0;
            for _ in 0..(3.0 / dt) as usize {
                s.step().unwrap();
                most = most.max(fastest(&s));
            }
            // Falling through the range of its joints it would reach √(3 g · 2/0.3 · …): below 12 rad/s.
            assert!(most < 12.0, "{solref} dt {dt}: {most}");
            assert!(s.stats().contacts > 0, "{solref} dt {dt}: they do not overlap");
        }
    }
}
