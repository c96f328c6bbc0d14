//! Soft bodies beside rigid ones.

use super::text::Document;
use super::{Solid, piles};

/// A soft ball of so many nodes along each axis, in a cube of this side, m.
fn ball(side: f64, nodes: usize, height: f64, mass: f64, young: f64) -> String {
    let spacing = side / (nodes - 1) as f64;
    format!(
        r#"<body name="holder" pos="0 0 {height}"><flexcomp name="ball" type="ellipsoid" dim="3" count="{nodes} {nodes} {nodes}" spacing="{spacing} {spacing} {spacing}" mass="{mass}" radius="0" rgba="0.85 0.45 0.4 1"><elasticity young="{young}" poisson="0.4" damping="0.01"/><contact friction="1"/></flexcomp></body>"#
    )
}

/// A hand on three slides and two hinges closes two fingers on a soft ball and lifts it: servos of limited force, their targets those of
/// the default controls.
pub fn gripper(name: String) -> String {
    let mut document = Document::new(name, 1.0);
    document.ground();
    document.world.push(ball(0.08, 7, 0.0405, 0.13, 5e4));
    let finger = |name: &str, side: f64| {
        format!(
            r#"<body name="{name}" pos="{} 0 -0.08"><joint name="{name}" type="slide" axis="{} 0 0" range="0 0.055" limited="true"/><geom type="box" size="0.005 0.02 0.04" mass="0.1"/></body>"#,
            0.06 * side,
            -side
        )
    };
    document.world.push(format!(
        r#"<body name="hand" pos="0 0 0.13"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="z" type="slide" axis="0 0 1"/><joint name="yaw" type="hinge" axis="0 0 1"/><joint name="pitch" type="hinge" axis="0 1 0"/><geom type="box" size="0.08 0.02 0.02" mass="0.5" contype="0" conaffinity="0"/>{}{}</body>"#,
        finger("right", 1.0),
        finger("left", -1.0)
    ));
    // Name, stiffness, damping, greatest force, in N, m and rad. The lift is slow, the fingers are fast, and the
    // right one holds its place against the left one, which pushes with all its force.
    let servos = [
        ("x", 500.0, 50.0, 30.0),
        ("y", 500.0, 50.0, 30.0),
        ("z", 500.0, 300.0, 30.0),
        ("yaw", 50.0, 5.0, 5.0),
        ("pitch", 50.0, 5.0, 5.0),
        ("right", 500.0, 20.0, 10.0),
        ("left", 500.0, 20.0, 3.0),
    ];
    for (joint, kp, kv, limit) in servos {
        document.actuator.push(format!(
            r#"<position name="{joint}" joint="{joint}" kp="{kp}" kv="{kv}" forcelimited="true" forcerange="-{limit} {limit}"/>"#
        ));
    }
    document.keyframe.push(r#"<key name="lift" ctrl="0 0 0.15 0 0 0.018 0.04"/>"#.into());
    document.finish()
}

/// A soft ball of 0.2 m that falls among 27 cubes in a bin.
pub fn pile(name: String) -> String {
    let mut document = piles::clutter_document(name, Solid::Box, 27);
    document.world.push(ball(0.2, 7, 1.1, 2.0, 5e4));
    document.finish()
}
