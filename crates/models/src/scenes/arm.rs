//! A robot arm: driven, flung, or on springs.

use super::text::{Document, numbers};

/// Masses of the links, kg.
const MASSES: [f64; 7] = [3.0, 3.0, 2.5, 2.5, 2.0, 1.5, 0.5];
/// Greatest torques of the servos, N·m; the second joint needs 55 to hold the arm out.
const TORQUES: [f64; 7] = [200.0, 200.0, 120.0, 120.0, 60.0, 40.0, 20.0];
/// Stiffness of the springs, N·m/rad: each holds what is beyond it upright.
const STIFFNESS: [f64; 7] = [100.0, 200.0, 50.0, 100.0, 20.0, 20.0, 5.0];
/// Damping over stiffness, s.
const RELAXATION: f64 = 0.02;

/// What links look and weigh like.
const CAPSULE: &str = r#"type="capsule" size="0.04""#;
const CYLINDER: &str = r#"type="cylinder" size="0.05""#;

/// Position and velocity of the keyframes: bent at every joint, all hinges turning.
const BENT: [f64; 7] = [0.3, 0.7, -0.4, 0.9, 0.5, -0.6, 0.2];
const TURNING: [f64; 7] = [1.0, -0.5, 0.75, 1.0, -1.5, 1.25, 2.0];

/// Held by servos within limits.
pub fn arm7(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    links(&mut document, CAPSULE, |_| r#" range="-172 172" limited="true""#.into());
    for (i, torque) in TORQUES.into_iter().enumerate() {
        document.actuator.push(format!(
            r#"<position name="servo{i}" joint="joint{i}" kp="1e5" kv="1e3" forcelimited="true" forcerange="-{torque} {torque}"/>"#
        ));
    }
    document.finish()
}

/// Nothing but gravity acts.
pub fn flung(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    links(&mut document, CYLINDER, |_| String::new());
    document.keyframe.push(key("flung", &BENT, &TURNING));
    document.finish()
}

/// With a spring and a damper at every hinge.
pub fn sprung(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    links(&mut document, CYLINDER, |i| {
        let (stiffness, damping) = (STIFFNESS[i], RELAXATION * STIFFNESS[i]);
        format!(r#" stiffness="{stiffness}" damping="{}""#, numbers(&[damping]))
    });
    document.keyframe.push(key("bent", &BENT, &[0.0; 7]));
    document.finish()
}

fn key(name: &str, qpos: &[f64], qvel: &[f64]) -> String {
    format!(r#"<key name="{name}" qpos="{}" qvel="{}"/>"#, numbers(qpos), numbers(qvel))
}

/// Seven links of 0.2 m that point up, on hinges about z and y in turn; `shape` is theirs,
/// `attributes` are further ones of a hinge.
fn links(document: &mut Document, shape: &str, attributes: impl Fn(usize) -> String) {
    for (i, mass) in MASSES.into_iter().enumerate() {
        let (axis, height) = (if i % 2 == 0 { "0 0 1" } else { "0 1 0" }, if i == 0 { 0.0 } else { 0.2 });
        let (indent, attributes) = ("  ".repeat(i), attributes(i));
        document.world.push(format!(r#"{indent}<body name="link{i}" pos="0 0 {height}">"#));
        document.world.push(format!(
            r#"{indent}  <joint name="joint{i}" axis="{axis}"{attributes}/><geom {shape} fromto="0 0 0 0 0 0.2" mass="{mass}" contype="0" conaffinity="0"/>"#
        ));
    }
    for i in (0..MASSES.len()).rev() {
        document.world.push(format!("{}</body>", "  ".repeat(i)));
    }
}
