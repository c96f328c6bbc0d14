//! Bad input ends with exit code 2 and a message that names the file, the line, and what was expected.

use std::fmt::Write;
use std::fs;

use crate::common::{assert_bad_input, file, folder, sapwood};

fn mjcf(test: &str, text: &str) -> std::path::PathBuf {
    file(test, "model.xml", text)
}

#[test]
fn missing_file() {
    assert_bad_input(&folder("missing_file").join("nothing.xml"), &["nothing.xml", "cannot be read", "expected"]);
}

#[test]
fn a_folder_instead_of_a_file() {
    assert_bad_input(&folder("a_folder"), &["a_folder", "cannot be read"]);
}

#[test]
fn not_text() {
    let path = folder("not_text").join("model.xml");
    fs::write(&path, [0xff, 0xfe, 0x00, 0x80, 0x81]).unwrap();
    assert_bad_input(&path, &["model.xml"]);
}

#[test]
fn empty_file() {
    assert_bad_input(&mjcf("empty_file", ""), &["model.xml"]);
}

#[test]
fn broken_xml() {
    assert_bad_input(&mjcf("broken_xml", "<mujoco>\n  <worldbody>\n    <body>\n</mujoco>\n"), &["model.xml:4"]);
}

#[test]
fn neither_mjcf_nor_urdf() {
    assert_bad_input(&mjcf("neither", "<?xml version=\"1.0\"?>\n<svg/>\n"), &["model.xml:2", "svg", "mujoco", "robot"]);
}

#[test]
fn unknown_joint_type() {
    let text =
        "<mujoco>\n<worldbody>\n<body>\n<joint type=\"spring\"/>\n<geom size=\"1\"/>\n</body>\n</worldbody>\n</mujoco>";
    assert_bad_input(&mjcf("unknown_joint_type", text), &["model.xml:4", "spring", "hinge"]);
}

#[test]
fn unknown_urdf_joint_type() {
    let text = "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\"/>\n<joint name=\"j\" type=\"rubber\">\n\
                <parent link=\"a\"/>\n<child link=\"b\"/>\n</joint>\n</robot>";
    assert_bad_input(&file("unknown_urdf_joint_type", "robot.urdf", text), &["robot.urdf:4", "rubber", "revolute"]);
}

#[test]
fn negative_mass() {
    let text = "<mujoco>\n<worldbody>\n<body>\n<freejoint/>\n<inertial pos=\"0 0 0\" mass=\"-1\" diaginertia=\"1 1 1\"/>\n\
                </body>\n</worldbody>\n</mujoco>";
    assert_bad_input(&mjcf("negative_mass", text), &["model.xml:", "-1"]);
}

#[test]
fn inertia_that_is_not_positive_definite() {
    let text = "<mujoco>\n<worldbody>\n<body>\n<freejoint/>\n\
                <inertial pos=\"0 0 0\" mass=\"1\" fullinertia=\"1 1 1 2 0 0\"/>\n</body>\n</worldbody>\n</mujoco>";
    assert_bad_input(&mjcf("not_positive_definite", text), &["model.xml:", "inertia"]);
}

#[test]
fn not_a_number() {
    let text = "<mujoco>\n<worldbody>\n<body pos=\"0 nan 0\">\n<freejoint/>\n<geom size=\"1\"/>\n</body>\n</worldbody>\n</mujoco>";
    assert_bad_input(&mjcf("not_a_number", text), &["model.xml:3", "pos"]);
}

#[test]
fn cycle_of_includes() {
    let a = mjcf("cycle_of_includes", "<mujoco>\n<include file=\"b.xml\"/>\n</mujoco>");
    fs::write(a.with_file_name("b.xml"), "<mujoco>\n<include file=\"model.xml\"/>\n</mujoco>").unwrap();
    assert_bad_input(&a, &["b.xml:2", "include"]);
}

fn with_mesh(file: &str) -> String {
    format!(
        "<mujoco>\n<asset>\n<mesh name=\"m\" file=\"{file}\"/>\n</asset>\n<worldbody>\n<body>\n<freejoint/>\n\
         <geom type=\"mesh\" mesh=\"m\"/>\n</body>\n</worldbody>\n</mujoco>"
    )
}

#[test]
fn missing_mesh() {
    assert_bad_input(&mjcf("missing_mesh", &with_mesh("gone.stl")), &["model.xml:3", "gone.stl"]);
}

#[test]
fn empty_meshes() {
    for name in ["empty.stl", "empty.obj", "empty.msh", "empty.dae"] {
        let path = mjcf("empty_meshes", &with_mesh(name));
        fs::write(path.with_file_name(name), "").unwrap();
        assert_bad_input(&path, &["model.xml:3", name]);
    }
}

#[test]
fn no_bodies_is_fine() {
    let path = mjcf("no_bodies", "<mujoco>\n<worldbody/>\n</mujoco>");
    let outcome = sapwood(&["run".as_ref(), path.as_os_str(), "--time".as_ref(), "0.1".as_ref()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(outcome.stdout.contains("0 bodies, 0 degrees of freedom"), "{outcome:#?}");
}

#[test]
fn a_hundred_thousand_bodies_are_fine() {
    let mut text = String::from("<mujoco>\n<worldbody>\n");
    for i in 0..100_000 {
        let (x, y) = (i % 316, i / 316);
        writeln!(text, "<body pos=\"{x} {y} 0\"><freejoint/><geom size=\"0.1\"/></body>").unwrap();
    }
    text.push_str("</worldbody>\n</mujoco>");
    let path = mjcf("hundred_thousand", &text);
    let outcome = sapwood(&["run".as_ref(), path.as_os_str(), "--time".as_ref(), "0.004".as_ref()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(outcome.stdout.contains("100000 bodies, 600000 degrees of freedom"), "{outcome:#?}");
}

#[test]
fn a_chain_of_ten_thousand_bodies_is_an_answer() {
    let mut text = String::from("<mujoco>\n<worldbody>\n");
    for _ in 0..10_000 {
        text.push_str("<body pos=\"0 0 1\"><joint axis=\"1 0 0\"/><geom size=\"0.1\"/>\n");
    }
    text.push_str(&"</body>".repeat(10_000));
    text.push_str("</worldbody>\n</mujoco>");
    let path = mjcf("deep_chain", &text);
    let outcome = sapwood(&["info".as_ref(), path.as_os_str()]);
    assert!(outcome.code == 0 || (outcome.code == 2 && outcome.stderr.contains("model.xml")), "{outcome:#?}");
}

#[test]
fn options_outside_their_domain() {
    for arguments in [
        ["run", "--dt", "0"],
        ["run", "--dt", "nan"],
        ["run", "--time", "-1"],
        ["run", "--time", "inf"],
        ["run", "--threads", "0"],
        ["run", "--frames-per-second", "0"],
        ["run", "--scheme", "leapfrog"],
        ["run", "--scheme", "0.5,0.5"],
        ["run", "--scheme", "0.5,0.5,1.5"],
        ["run", "--accuracy", "0"],
        ["run", "--sleep-after", "-1"],
        ["run", "--seed", "-3"],
    ] {
        let outcome = sapwood(&arguments);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        assert!(outcome.stderr.contains(arguments[1]), "{outcome:#?}");
    }
}

#[test]
fn unknown_keyframe() {
    let outcome = sapwood(&["run", "--keyframe", "sleeping"]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    assert!(outcome.stderr.contains("sleeping"), "{outcome:#?}");
}

#[test]
fn an_output_folder_that_cannot_be() {
    let taken = file("taken", "out", "");
    let outcome = sapwood(&["run".as_ref(), "--out".as_ref(), taken.as_os_str()]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    assert!(outcome.stderr.contains("--out") && outcome.stderr.contains("cannot make this folder"), "{outcome:#?}");
}
