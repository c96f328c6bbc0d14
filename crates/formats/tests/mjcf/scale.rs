//! Large files: many bodies, and deep ones.

use crate::load;

#[test]
fn a_hundred_thousand_bodies_side_by_side() {
    let body = r#"<body pos="1 2 3"><freejoint/><geom size=".1"/></body>"#;
    let model = load(&format!("<mujoco><worldbody>{}</worldbody></mujoco>", body.repeat(100_000))).model;
    assert_eq!((model.bodies.len(), model.nv(), model.materials.len()), (100_001, 600_000, 1));
}

#[test]
fn a_hundred_thousand_bodies_one_in_the_other() {
    let n = 100_000;
    let open = r#"<body pos="0 0 .1"><joint/><geom size=".1"/>"#;
    let text = format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", open.repeat(n), "</body>".repeat(n));
    let model = load(&text).model;
    assert_eq!((model.bodies.len(), model.nv(), model.bodies[n].parent), (n + 1, n, n - 1));
}

#[test]
fn deep_frames_and_default_classes_do_not_exhaust_the_stack() {
    let n = 50_000;
    let text =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<frame pos='1 0 0'>".repeat(n), "</frame>".repeat(n));
    assert_eq!(load(&text).model.bodies.len(), 1);
    let text = format!("<mujoco>{}{}</mujoco>", "<default class='main'>".repeat(n), "</default>".repeat(n));
    assert!(crate::try_load(&text).is_err());
}

/// Writing a model takes a time that grows with it, not with its square, which would be half a minute.
#[test]
fn many_bodies_are_written_in_linear_time() {
    let body = r#"<body><joint type="slide"/><geom size="1"/></body>"#;
    let sapwood_formats::Loaded { model, scene } = super::world(&body.repeat(100_000));
    let started = std::time::Instant::now();
    let written = sapwood_formats::to_mjcf(&model, &scene, &sapwood_formats::WriteOptions::default()).unwrap();
    assert!(written.text.len() > 100_000 * body.len());
    assert!(started.elapsed().as_secs() < 8, "{:?}", started.elapsed());
}
