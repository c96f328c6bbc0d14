//! The five forms of an orientation, angles and Euler sequences.

use spatial::{Quat, Vec3};

use crate::load;

const X: Vec3<f64> = Vec3::new(1.0, 0.0, 0.0);
const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);
const Z: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

/// The orientation of a body with these attributes.
fn rotation(compiler: &str, attributes: &str) -> Quat<f64> {
    let text = format!("<mujoco><compiler {compiler}/><worldbody><body {attributes}/></worldbody></mujoco>");
    load(&text).model.bodies[1].pose.rot
}

/// Whether a rotation takes x, y and z to these vectors.
fn takes_axes_to(rot: Quat<f64>, images: [Vec3<f64>; 3]) -> bool {
    [X, Y, Z].into_iter().zip(images).all(|(axis, image)| (rot * axis - image).norm() < 1e-14)
}

#[test]
fn every_form_of_the_quarter_turn_about_z() {
    let forms = [
        ("", r#"quat="2 0 0 2""#),
        ("", r#"axisangle="0 0 3 90""#),
        ("", r#"euler="0 0 90""#),
        (r#"angle="radian""#, r#"euler="0 0 1.5707963267948966""#),
        ("", r#"xyaxes="0 5 0 -1 7 0""#),
    ];
    for (compiler, form) in forms {
        assert!(takes_axes_to(rotation(compiler, form), [Y, -X, Z]), "{form}");
    }
}

#[test]
fn zaxis_is_the_shortest_rotation_even_to_the_opposite() {
    assert!(takes_axes_to(rotation("", r#"zaxis="2 0 0""#), [-Z, Y, X]));
    let down = rotation("", r#"zaxis="0 0 -1""#);
    assert!((down * Z + Z).norm() < 1e-14);
}

#[test]
fn euler_sequences_turn_with_the_frame_or_stay() {
    // About x, then about the new z: y goes to z, then x to what y has become.
    assert!(takes_axes_to(rotation(r#"eulerseq="xzy""#, r#"euler="90 90 0""#), [Z, -X, -Y]));
    // About x, then about the old z.
    assert!(takes_axes_to(rotation(r#"eulerseq="XZY""#, r#"euler="90 90 0""#), [Y, Z, X]));
    // Extrinsic rotations are the intrinsic ones in reverse.
    let (a, b) =
        (rotation(r#"eulerseq="xyz""#, r#"euler="10 20 30""#), rotation(r#"eulerseq="ZYX""#, r#"euler="30 20 10""#));
    assert!((a.conjugate() * b).rotation_vector().norm() < 1e-15);
}

#[test]
fn frames_compose_and_leave_no_body() {
    let text = r#"<mujoco><worldbody><frame pos="1 0 0" euler="0 0 90"><frame pos="1 0 0">
        <body name="b" pos="0 0 5"><joint axis="1 0 0" pos="0 2 0"/><geom size="1"/></body></frame></frame></worldbody></mujoco>"#;
    let model = load(text).model;
    assert_eq!(model.bodies.len(), 2);
    assert!((model.bodies[1].parent, model.bodies[1].name.as_str()) == (0, "b"));
    let node = &model.tree.nodes[0];
    // The joint's anchor (0, 2, 0) in the body at (1, 1, 5), turned by a quarter: (−1, 1, 5).
    assert!((node.pos - Vec3::new(-1.0, 1.0, 5.0)).norm() < 1e-14);
    assert!((node.rot * node.axis - Y).norm() < 1e-14);
}

#[test]
fn replicas_are_numbered_turned_and_displaced() {
    let text = r#"<mujoco><worldbody><replicate count="11" offset="1 0 0" euler="0 0 90" sep="-"><body name="b">
        <geom name="g" size="1"/></body></replicate></worldbody></mujoco>"#;
    let loaded = load(text);
    let model = loaded.model;
    assert_eq!(model.bodies.len(), 12);
    assert_eq!((model.bodies[1].name.as_str(), loaded.scene.geoms[10].name.as_str()), ("b-00", "g-10"));
    // As many digits as the count has, as in MuJoCo.
    for (count, last) in [(9, "b8"), (10, "b09"), (100, "b099")] {
        let text = format!(
            "<mujoco><worldbody><replicate count=\"{count}\"><body name=\"b\"/></replicate></worldbody></mujoco>"
        );
        assert_eq!(load(&text).model.bodies[count].name, last);
    }
    // Every offset is in the frame of the replica before: (0,0), (1,0), (1,1), (0,1), (0,0).
    let place = |k: usize| model.bodies[1 + k].pose.pos;
    assert!((place(2) - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-14 && place(4).norm() < 1e-14);
}
