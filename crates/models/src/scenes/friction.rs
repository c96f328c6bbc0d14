//! Blocks for which theory knows the answer.

use super::text::{Document, about_y, numbers};

/// Half the width of the block, m.
const HALF: f64 = 0.05;

fn block() -> String {
    format!(r#"type="box" size="{HALF} {HALF} {HALF}" mass="1""#)
}

/// A cube on a slope that falls towards +x.
pub fn incline(name: String, degrees: f64, friction: f64) -> String {
    let mut document = Document::new(name, friction);
    let slope = degrees.to_radians();
    let turn = about_y(slope);
    document.world.push(format!(
        r#"<geom name="slope" type="plane" size="0 0 1" quat="{}" rgba="0.85 0.87 0.9 1"/>"#,
        numbers(&turn)
    ));
    let pos = [HALF * libm::sin(slope), 0.0, HALF * libm::cos(slope)];
    document.free("block", pos, Some(turn), &block());
    document.finish()
}

/// A cube on a level ground.
pub fn slider(name: String, speed: f64, friction: f64) -> String {
    let mut document = Document::new(name, friction);
    document.ground();
    document.free("block", [0.0, 0.0, HALF], None, &block());
    let qpos = numbers(&[0.0, 0.0, HALF, 1.0, 0.0, 0.0, 0.0]);
    let qvel = numbers(&[speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    document.keyframe.push(format!(r#"<key name="sliding" qpos="{qpos}" qvel="{qvel}"/>"#));
    document.finish()
}
