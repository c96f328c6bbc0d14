//! Balls that roll, collide and bounce.

use super::text::{Document, numbers};

/// Radius of a ball that rolls, m.
const RADIUS: f64 = 0.1;
/// How far below its middle the centre of mass of the lopsided ball lies, m.
const OFFSET: f64 = 0.02;

/// A ball that rolls on a level ground without slipping: it goes on for ever.
pub fn rolling(name: String) -> String {
    let mut document = on_ground(name);
    document.free("ball", [0.0, 0.0, RADIUS], None, &format!(r#"type="sphere" size="{RADIUS}" mass="1""#));
    document.finish()
}

/// The same with its mass off the middle: it rolls faster when that is low.
pub fn lopsided(name: String) -> String {
    let mut document = on_ground(name);
    document.world.push(format!(
        r#"<body name="ball" pos="0 0 {RADIUS}"><freejoint name="ball"/><inertial pos="0 0 {}" mass="1" diaginertia="0.004 0.004 0.004"/><geom name="ball" type="sphere" size="{RADIUS}"/></body>"#,
        numbers(&[-OFFSET])
    ));
    document.finish()
}

fn on_ground(name: String) -> Document {
    let mut document = Document::new(name, 1.0);
    document.ground();
    let (qpos, qvel) =
        (numbers(&[0.0, 0.0, RADIUS, 1.0, 0.0, 0.0, 0.0]), numbers(&[1.0, 0.0, 0.0, 0.0, 1.0 / RADIUS, 0.0]));
    document.keyframe.push(format!(r#"<key name="rolling" qpos="{qpos}" qvel="{qvel}"/>"#));
    document
}

/// One smooth ball runs into another, off its middle, without weight. Contact oscillates at 1000 rad/s, damped by a
/// tenth: head-on they would part with 0.73 of their speed. With the least impedance MuJoCo's contact is a plain spring and damper, too.
pub fn billiards(name: String) -> String {
    let mut document = Document::new(name, 0.0).with_timestep(0.001).weightless();
    let shape = r#"type="sphere" size="0.03" mass="0.2" solref="-1e6 -200" solimp="0.0001 0.0001""#;
    document.free("cue", [-0.1, 0.0, 0.0], None, shape);
    document.free("object", [0.0, 0.03, 0.0], None, shape);
    document
        .keyframe
        .push(r#"<key name="struck" qpos="-0.1 0 0 1 0 0 0 0 0.03 0 1 0 0 0" qvel="1 0 0 0 0 0 0 0 0 0 0 0"/>"#.into());
    document.finish()
}

/// A ball that falls by 0.2 m on a level ground. Contact oscillates at 300 rad/s, damped by a tenth.
pub fn bouncing(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    document.ground();
    let shape = r#"type="sphere" size="0.05" mass="1" solref="-9e4 -60" solimp="0.0001 0.0001""#;
    document.free("ball", [0.0, 0.0, 0.25], None, shape);
    document.finish()
}
