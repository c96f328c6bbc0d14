//! Fingers that slide over objects with joints: seams between links are as smooth as the links.

use crate::common::{run, simulation};
use sapwood_sim::{Options, Simulation};

const STEPS: [f64; 3] = [0.001, 0.002, 0.005];

/// Half sizes and places of a chest's boxes: it is 0.1 m high, its top in three parts that are flush, 0.1, 0.2 and 0.1 m long.
const RIM: &str = r#"<geom type="box" pos="-.15 0 .05" size=".05 .1 .05" friction="MU" mass="2"/>
    <geom type="box" pos=".15 0 .05" size=".05 .1 .05" friction="MU" mass="2"/>
    <geom type="box" pos="0 0 .03" size=".1 .1 .03" friction="MU" mass="2"/>"#;
const LID: &str = r#"<geom type="box" pos="0 0 .08" size=".1 .1 .02" friction="MU" mass="1"/>"#;

/// What lies under the hand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Chest {
    /// One box.
    Whole,
    /// Its lid is a link that turns upwards about the edge at x = −0.1.
    Hinged,
    /// The lid is a drawer that slides along y, with friction in its joint.
    Sliding,
}

/// A palm that is led along x above a chest, with two fingers of three links whose joints are servos.
fn hand(chest: Chest, tip: &str, mu: f64, free: bool, dt: f64) -> Simulation {
    let root = if free { "<freejoint/>" } else { "" };
    let body = match chest {
        Chest::Whole => {
            format!(r#"<body>{root}<geom type="box" pos="0 0 .05" size=".2 .1 .05" friction="MU" mass="7"/></body>"#)
        }
        Chest::Hinged => {
            format!(r#"<body>{root}{RIM}<body><joint axis="0 -1 0" pos="-.1 0 .1" range="0 90"/>{LID}</body></body>"#)
        }
        Chest::Sliding => {
            format!(r#"<body>{root}{RIM}<body><joint type="slide" axis="0 1 0" frictionloss="5"/>{LID}</body></body>"#)
        }
    };
    let (mut fingers, mut servos) = (String::new(), String::new());
    for (i, y) in [-0.03, 0.03].into_iter().enumerate() {
        fingers += &format!(
            r#"<body pos="0 {y} 0" euler="0 -30 0"><joint name="a{i}" axis="0 1 0"/>
              <geom type="capsule" size=".008" fromto="0 0 0 0 0 -.05" mass=".03" contype="0" conaffinity="0"/>
            <body pos="0 0 -.05" euler="0 30 0"><joint name="b{i}" axis="0 1 0"/>
              <geom type="capsule" size=".008" fromto="0 0 0 0 0 -.03" mass=".02" contype="0" conaffinity="0"/>
            <body pos="0 0 -.03" euler="0 30 0"><joint name="c{i}" axis="0 1 0"/>
              <geom {tip} mass=".015" friction="{mu}"/></body></body></body>"#
        );
        for joint in ["a", "b", "c"] {
            servos += &format!(r#"<position joint="{joint}{i}" kp="2" kv=".05"/>"#);
        }
    }
    let text = format!(
        r#"<mujoco><option timestep="{dt}"/><worldbody><geom type="plane" size="9 9 1" friction="1"/>{}
        <body name="palm" pos="-.15 0 .195"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <geom type="box" size=".03 .05 .01" mass=".4" contype="0" conaffinity="0"/>{fingers}</body></worldbody>
        <actuator>{servos}<position joint="x" kp="4000" kv="80"/><position joint="z" kp="400" kv="20"/></actuator></mujoco>"#,
        body.replace("MU", &mu.to_string())
    );
    simulation(&text, Options { timestep: Some(dt), ..Options::default() })
}

/// The palm goes along x by 0.3 m in 1 s and back. Its coordinates and those of the fingers, at every step.
fn stroke(s: &mut Simulation) -> Vec<Vec<f64>> {
    // The hand's joints come last.
    let (nq, nu) = (s.state().q.len(), s.state().ctrl.len());
    s.state_mut().ctrl[nu - 1] = -0.02;
    run(s, (0.5 / s.timestep()) as usize);
    let (start, mut course) = (s.state().time, Vec::new());
    while s.state().time < start + 2.0 {
        let t = s.state().time - start;
        s.state_mut().ctrl[nu - 2] = 0.3 * (1.0 - (t - 1.0).abs());
        s.step().unwrap();
        course.push(s.state().q[nq - 8..].to_vec());
    }
    course
}

#[test]
fn fingers_do_not_feel_the_seams_of_a_chest() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, tip) in [
            ("ball", r#"type="sphere" size=".01" pos="0 0 -.02""#),
            ("capsule", r#"type="capsule" size=".008" fromto="0 0 0 0 0 -.02""#),
            ("box", r#"type="box" size=".006 .008 .012" pos="0 0 -.012""#),
        ] {
            for mu in [0.0, 0.5] {
                for free in [false, true] {
                    let expected = stroke(&mut hand(Chest::Whole, tip, mu, free, dt));
                    for chest in [Chest::Hinged, Chest::Sliding] {
                        let mut s = hand(chest, tip, mu, free, dt);
                        let course = stroke(&mut s);
                        assert!(s.stats().active_contacts >= 2, "the fingers do not touch");
                        let differences =
                            course.iter().flatten().zip(expected.iter().flatten()).map(|(a, b)| (a - b).abs());
                        let worst = differences.fold(0.0, f64::max);
                        // The last coordinate before the hand's is the lid's.
                        let lid = s.state().q[s.state().q.len() - 9];
                        // Near-rigid contacts give by micrometres.
                        if worst > 1e-5 || lid.abs() > 1e-5 {
                            failures +=
                                &format!("{name} {chest:?} mu {mu} free {free} dt {dt}: {worst:.1e}, lid {lid:.1e}\n");
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
