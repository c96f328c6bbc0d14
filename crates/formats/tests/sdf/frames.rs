use std::f64::consts::FRAC_PI_2;

use super::*;

/// Where a link is in a model of this content.
fn at(content: &str, link: &str) -> Vec3<f64> {
    let loaded = load(&model(content));
    placement(&loaded.model, link, &loaded.model.q0).pos
}

#[test]
fn poses_are_meant_in_the_frame_of_the_model() {
    let links = link("a", "1 2 3 0 0 0") + &link("b", "0 0 1 0 0 1.5707963267948966");
    near(at(&links, "a"), [1.0, 2.0, 3.0]);
    near(at(&format!("<pose>0 0 10 0 0 {FRAC_PI_2}</pose>{links}"), "a"), [-2.0, 1.0, 13.0]);
    near(at(&format!("<pose degrees=\"true\">0 0 10 0 0 90</pose>{links}"), "a"), [-2.0, 1.0, 13.0]);
    let turned = format!("<pose rotation_format=\"quat_xyzw\">0 0 10 0 0 0.5 0.5</pose>{links}");
    near(at(&turned, "a"), [-2.0, 1.0, 13.0]);
}

#[test]
fn poses_relative_to_links_joints_frames_and_models() {
    let relative = |to: &str| {
        format!(
            "{}<frame name=\"f\" attached_to=\"a\"><pose>0 1 0 0 0 0</pose></frame>\
             <model name=\"inner\"><pose>0 0 5 0 0 0</pose>{}</model>\
             <joint name=\"j\" type=\"fixed\"><pose>0 0 0.5 0 0 0</pose><parent>a</parent><child>c</child></joint>{}\
             <link name=\"b\"><pose relative_to=\"{to}\">1 0 0 0 0 0</pose>{INERTIAL}</link>",
            link("a", &format!("0 0 1 0 0 {FRAC_PI_2}")),
            link("tip", "0 0 2 0 0 0"),
            link("c", "3 0 0 0 0 0")
        )
    };
    near(at(&relative("a"), "b"), [0.0, 1.0, 1.0]);
    near(at(&relative("f"), "b"), [-1.0, 1.0, 1.0]);
    near(at(&relative("j"), "b"), [4.0, 0.0, 0.5]);
    near(at(&relative("inner"), "b"), [1.0, 0.0, 5.0]);
    near(at(&relative("inner::tip"), "b"), [1.0, 0.0, 7.0]);
    near(at(&relative("__model__"), "b"), [1.0, 0.0, 0.0]);
    near(at(&relative("a"), "inner::tip"), [0.0, 0.0, 7.0]);
}

#[test]
fn a_placement_frame_is_what_a_pose_places() {
    let text = "<sdf version=\"1.9\"><model name=\"m\" placement_frame=\"foot\"><pose>0 0 10 0 0 0</pose>\
        <frame name=\"foot\"><pose>0 0 -1 0 0 0</pose></frame>";
    let loaded = load(&format!("{text}{}</model></sdf>", link("a", "0 0 0 0 0 0")));
    near(placement(&loaded.model, "a", &loaded.model.q0).pos, [0.0, 0.0, 11.0]);
}

#[test]
fn frames_that_lead_nowhere() {
    let ring = "<link name=\"a\"><pose relative_to=\"b\">0 0 0 0 0 0</pose></link><link name=\"b\"><pose relative_to=\"a\"/></link>";
    assert!(error(&model(ring)).message().contains("hangs on itself"));
    let unknown = "<link name=\"arm\"/><link name=\"b\"><pose relative_to=\"arn\">0 0 0 0 0 0</pose></link>";
    let found = error(&model(unknown));
    assert!(found.message().contains("did you mean \"arm\"?"), "{found}");
    assert_eq!(found.line(), 2);
    for bad in ["1 2 3", "1 2 3 x 0 0", "1 2 3 inf 0 0"] {
        assert!(error(&model(&link("a", bad))).message().contains("expected"), "{bad}");
    }
    let frames: String =
        (0..2000).rev().map(|k| format!("<frame name=\"f{}\"><pose relative_to=\"f{k}\"/></frame>", k + 1)).collect();
    let deep = format!("<link name=\"a\"><pose relative_to=\"f2000\"/></link><frame name=\"f0\"/>{frames}");
    assert!(error(&model(&deep)).message().contains("500"));
}
