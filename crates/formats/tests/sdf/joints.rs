use std::f64::consts::FRAC_PI_2;

use multibody::{Coordinate, EqualityKind, JointKind};

use super::*;

/// An arm at (0, 0, 1), turned by 90° about z, that hangs on the world by a joint of this type and content.
fn arm(kind: &str, content: &str) -> String {
    model(&format!(
        "{}<joint name=\"j\" type=\"{kind}\"><parent>world</parent><child>arm</child>{content}</joint>",
        link("arm", &format!("0 0 1 0 0 {FRAC_PI_2}"))
    ))
}

/// The axis in the world at the default configuration.
fn axis(text: &str) -> Vec3<f64> {
    let loaded = load(text);
    let rot = placement(&loaded.model, "arm", &loaded.model.q0).rot;
    match loaded.model.joints[0].kind {
        JointKind::Revolute { axis } | JointKind::Prismatic { axis } => rot * axis,
        _ => panic!("no axis"),
    }
}

#[test]
fn axes_are_meant_in_the_joint_frame_or_one_that_they_name() {
    near(axis(&arm("revolute", "<axis><xyz>2 0 0</xyz></axis>")), [0.0, 1.0, 0.0]);
    near(axis(&arm("prismatic", "<axis><xyz expressed_in=\"__model__\">1 0 0</xyz></axis>")), [1.0, 0.0, 0.0]);
    near(
        axis(&arm("revolute", &format!("<pose>0 0 0 0 0 {FRAC_PI_2}</pose><axis><xyz>1 0 0</xyz></axis>"))),
        [-1.0, 0.0, 0.0],
    );
    near(
        axis(&arm("revolute", "<axis><xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>")),
        [1.0, 0.0, 0.0],
    );
    let old = arm("revolute", "<axis><xyz>1 0 0</xyz></axis>").replace("1.9", "1.4");
    near(axis(&old), [1.0, 0.0, 0.0]);
    near(axis(&arm("revolute", "<axis/>")), [0.0, 0.0, 1.0]);
}

#[test]
fn joints_turn_about_their_own_point() {
    let loaded = load(&arm("revolute", "<pose>0 0 1 0 0 0</pose><axis><xyz>1 0 0</xyz></axis>"));
    near(placement(&loaded.model, "arm", &[FRAC_PI_2]).pos, [-1.0, 0.0, 2.0]);
}

#[test]
fn numbers_of_an_axis() {
    let content = "<axis><xyz>1 0 0</xyz><limit><lower>0.5</lower><upper>2</upper><effort>7</effort><velocity>-1</velocity></limit>\
        <dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>\
        <spring_reference>0.4</spring_reference></dynamics></axis>";
    let model = load(&arm("revolute", content)).model;
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    assert_eq!((model.joints[0].range, model.joints[0].effort_limit), (Some((0.5, 2.0)), Some((-7.0, 7.0))));
    assert_eq!((model.damping[0], model.friction_loss[0], model.stiffness[0]), (0.1, 0.2, 3.0));
    assert_eq!((model.spring_reference[0], model.q0[0]), (0.4, 0.5));
    let unlimited = "<axis><limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort></limit></axis>";
    let model = load(&arm("revolute", unlimited)).model;
    assert_eq!((model.joints[0].range, model.joints[0].effort_limit), (None, None));
    let model = load(&arm("continuous", content)).model;
    assert_eq!(model.joints[0].range, None);
}

#[test]
fn kinds_of_joints() {
    let axes =
        "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis2>";
    let kinds = |kind: &str, content: &str| -> Vec<(String, usize)> {
        let model = load(&arm(kind, content)).model;
        model.joints.iter().map(|joint| (joint.name.clone(), joint.kind.nv())).collect()
    };
    assert_eq!(kinds("universal", axes), [("j".into(), 1), ("j_2".into(), 1)]);
    assert_eq!(kinds("revolute2", axes), [("j".into(), 1), ("j_2".into(), 1)]);
    assert_eq!(kinds("ball", ""), [("j".into(), 3)]);
    assert_eq!(kinds("fixed", "<axis/>"), []);
    let pitch = |content: &str| match load(&arm("screw", &format!("<axis/>{content}"))).model.joints[0].kind {
        JointKind::Screw { pitch, .. } => pitch,
        _ => panic!("no screw"),
    };
    let turn = std::f64::consts::TAU;
    assert!((pitch("<screw_thread_pitch>0.5</screw_thread_pitch>") - 0.5 / turn).abs() < 1e-15);
    assert!((pitch("<thread_pitch>-4</thread_pitch>") - 0.25).abs() < 1e-15);
    assert!(error(&arm("hinge", "")).message().contains("expected revolute"));
    assert!(error(&arm("revolute", "")).message().contains("no <axis>"));
    assert!(error(&arm("revolute", "<axis><xyz>0 0 0</xyz></axis>")).message().contains("length 0"));
    assert!(error(&arm("screw", "<axis/>")).message().contains("screw_thread_pitch"));
}

/// Three links, a chain from the world, by joints `j` and `k`, the second with `of_k` in its axis.
fn chain(of_k: &str, more: &str) -> String {
    let joint = |name: &str, parent: &str, child: &str, content: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent>{parent}</parent><child>{child}</child>\
             <axis><xyz>0 1 0</xyz>{content}</axis></joint>"
        )
    };
    let links = link("a", "0 0 0 0 0 0") + &link("b", "1 0 0 0 0 0");
    model(&(links + &joint("k", "a", "b", of_k) + &joint("j", "world", "a", "") + more))
}

#[test]
fn joints_that_follow_others() {
    let mimic = "<mimic joint=\"j\" axis=\"axis\"><multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic>";
    let model = load(&chain(mimic, "")).model;
    assert_eq!(model.q0, [0.0, 0.3 - 0.2]);
    let EqualityKind::Coupling { y, x, polynomial } = model.equalities[0].kind else { panic!("no coupling") };
    assert_eq!((y, x), ((Coordinate::Joint(1), 0.0), Some((Coordinate::Joint(0), 0.1))));
    assert_eq!(polynomial, [0.3, 2.0, 0.0, 0.0, 0.0]);
    assert!(error(&chain("<mimic joint=\"k\"/>", "")).message().contains("another joint"));
}

#[test]
fn links_without_joints_move_freely() {
    let content = link("a", "0 0 1 0 0 0") + &link("b", "0 0 2 0 0 0");
    let loaded = load(&model(&content)).model;
    assert_eq!(
        loaded.joints.iter().map(|joint| (&*joint.name, joint.kind)).collect::<Vec<_>>(),
        [("a", JointKind::Free), ("b", JointKind::Free)]
    );
    assert_eq!(loaded.q0[2], 1.0);
    let fixed = load(&model(&format!("<static>true</static>{content}"))).model;
    assert_eq!((fixed.nv(), fixed.bodies.len()), (0, 3));
}

#[test]
fn loops_are_closed_by_constraints() {
    let close = |kind: &str| {
        format!(
            "{}<joint name=\"l\" type=\"revolute\"><parent>b</parent><child>c</child><axis/></joint>\
             <joint name=\"close\" type=\"{kind}\"><parent>world</parent><child>c</child><axis><xyz>0 1 0</xyz></axis></joint>",
            link("c", "2 0 0 0 0 0")
        )
    };
    let rows = |kind: &str| {
        let loaded = load(&chain("", &close(kind)));
        warns(&loaded, "closes a loop");
        assert_eq!(loaded.model.nv(), 3);
        loaded
            .model
            .equalities
            .iter()
            .map(|equality| (equality.name.clone(), equality.kind.clone()))
            .collect::<Vec<_>>()
    };
    let hinge = rows("revolute");
    assert_eq!([&hinge[0].0, &hinge[1].0], ["close", "close_2"]);
    let EqualityKind::Connect { anchors: [on_world, on_link], .. } = hinge[0].1 else { panic!("no point") };
    near(on_world, [2.0, 0.05, 0.0]);
    near(on_link, [0.0, 0.05, 0.0]);
    assert!(matches!(rows("ball")[..], [(_, EqualityKind::Connect { .. })]));
    assert!(matches!(rows("fixed")[..], [(_, EqualityKind::Weld { .. })]));
    warns(&load(&chain("", &close("prismatic"))), "not simulated, ignored");
}

#[test]
fn ends_of_joints() {
    let joint = |parent: &str, child: &str| {
        model(&format!(
            "{}<joint name=\"j\" type=\"fixed\"><parent>{parent}</parent><child>{child}</child></joint>",
            link("a", "0 0 0 0 0 0") + &link("b", "0 0 0 0 0 0")
        ))
    };
    assert_eq!(load(&joint("a", "b")).model.nv(), 6);
    for (parent, child, message) in [
        ("a", "a", "one link"),
        ("a", "world", "the world as <child>"),
        ("a", "x", "expected the name of a link"),
        ("", "b", "no <parent>"),
    ] {
        let found = error(&joint(parent, child));
        assert!(found.message().contains(message), "{found}");
    }
    let ring = chain("", "").replace("<parent>world</parent>", "<parent>b</parent>");
    assert!(error(&ring).message().contains("ring of joints"));
}
