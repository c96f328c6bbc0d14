//! Input that makes no sense: an error that names the line, the element and what was expected, never a panic.

use crate::{load, try_load};

/// The error of a model with `content` in its worldbody, which starts on line 3.
fn world_error(content: &str) -> (u32, String, String) {
    error_of(&format!("<mujoco>\n<worldbody>\n{content}</worldbody></mujoco>"))
}

fn error_of(text: &str) -> (u32, String, String) {
    let error = try_load(text).map(|_| ()).expect_err(text);
    (error.line(), error.element().into(), error.message().into())
}

#[test]
fn elements_that_make_no_sense() {
    let cases = [
        ("<geom size=\"1\"/>\n<geom type=\"cube\"/>", 4, "geom", "cube"),
        ("<body>\n<joint type=\"screw\"/></body>", 4, "joint", "screw"),
        ("<geom size=\"1\" class=\"nowhere\"/>", 3, "geom", "nowhere"),
        ("<body childclass=\"nowhere\"/>", 3, "body", "nowhere"),
        ("<body>\n<inertial pos=\"0 0 0\" mass=\"-1\"/></body>", 4, "inertial", "-1"),
        ("<body>\n\n<geom size=\"1\" mass=\"-1\"/></body>", 5, "geom", "-1"),
        (
            "<body name=\"b\"><joint/>\n<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 -1\"/></body>",
            4,
            "inertial",
            "-1",
        ),
        (
            "<body name=\"b\"><joint/>\n<inertial pos=\"0 0 0\" mass=\"1\" fullinertia=\"1 1 1 3 0 0\"/></body>",
            4,
            "inertial",
            "principal moment",
        ),
        ("<body><joint/>\n<inertial pos=\"0 0 0\"/></body>", 4, "inertial", "mass"),
        ("<camera focal=\".01 .01\"/>", 3, "camera", "expected `sensorsize`"),
        ("<camera sensorsize=\".01 .01\"/>", 3, "camera", "above 0"),
        ("<camera sensorsize=\".01 .01\" focal=\".01 .01\" fovy=\"45\"/>", 3, "camera", "expected one of them"),
        ("<camera resolution=\"640 1.5\"/>", 3, "camera", "whole numbers"),
        ("<geom size=\"nan\"/>", 3, "geom", "finite"),
        ("<geom size=\"inf\"/>", 3, "geom", "finite"),
        ("<geom size=\"1e999\"/>", 3, "geom", "finite"),
        ("<geom size=\"one\"/>", 3, "geom", "one"),
        ("<body pos=\"1 2\"/>", 3, "body", "expected 3 numbers"),
        ("<geom size=\"1 2 3 4\"/>", 3, "geom", "at most 3"),
        ("<geom type=\"box\" size=\"1 2\"/>", 3, "geom", "3 numbers above 0"),
        ("<geom type=\"sphere\"/>", 3, "geom", "1 number above 0"),
        ("<body name=\"a\"/>\n<body name=\"a\"/>", 4, "body", "no other body"),
        ("<body name=\"world\"/>", 3, "body", "no other body"),
        ("<body quat=\"0 0 0 0\"/>", 3, "body", "not zero"),
        ("<body quat=\"1 0 0 0\" euler=\"0 0 0\"/>", 3, "body", "one orientation"),
        ("<body xyaxes=\"1 0 0 2 0 0\"/>", 3, "body", "parallel"),
        ("<body><joint axis=\"0 0 0\"/><geom size=\"1\"/></body>", 3, "joint", "axis"),
        ("<body><joint damping=\"-1\"/><geom size=\"1\"/></body>", 3, "joint", "damping"),
        ("<body><joint range=\"1 0\"/><geom size=\"1\"/></body>", 3, "joint", "range"),
        ("<body>\n<joint/></body>", 4, "joint", "mass"),
        (
            "<body><geom size=\"1\"/><joint/><body>\n<freejoint/><geom size=\"1\"/></body></body>",
            4,
            "freejoint",
            "world",
        ),
        ("<joint/>", 3, "joint", "world"),
        ("<geom type=\"capsule\" size=\"1\" fromto=\"1 1 1 1 1 1\"/>", 3, "geom", "apart"),
        ("<geom type=\"sphere\" size=\"1\" fromto=\"0 0 0 1 1 1\"/>", 3, "geom", "capsule"),
        ("<geom type=\"mesh\" mesh=\"nowhere\"/>", 3, "geom", "nowhere"),
        ("<geom type=\"mesh\"/>", 3, "geom", "mesh"),
        ("<geom type=\"hfield\"/>", 3, "geom", "height field"),
        ("<geom size=\"1\" condim=\"2\"/>", 3, "geom", "condim"),
        ("<geom size=\"1\" contype=\"many\"/>", 3, "geom", "integer"),
        ("<geom size=\"1\" friction=\"-1\"/>", 3, "geom", "friction"),
        ("<replicate count=\"0\"/>", 3, "replicate", "above 0"),
        ("<replicate count=\"1000000000\"><body/></replicate>", 3, "replicate", "at most"),
    ];
    for (content, line, element, word) in cases {
        let (found_line, found_element, message) = world_error(content);
        assert_eq!((found_line, found_element.as_str()), (line, element), "{content}: {message}");
        assert!(message.contains(word), "{content}: {message}");
    }
}

#[test]
fn sections_that_make_no_sense() {
    let body = r#"<worldbody><body name="b"><joint name="j"/><geom name="g" size="1"/></body></worldbody>"#;
    let cases = [
        (r#"<actuator><motor joint="nowhere"/></actuator>"#, "nowhere"),
        (r#"<actuator><motor/></actuator>"#, "transmission"),
        (r#"<actuator><motor joint="j" ctrlrange="1 -1"/></actuator>"#, "ctrlrange"),
        (r#"<actuator><position joint="j" kv="1" dampratio="1"/></actuator>"#, "dampratio"),
        (r#"<actuator><position joint="j" inheritrange="1"/></actuator>"#, "range"),
        (r#"<contact><exclude body1="b" body2="nowhere"/></contact>"#, "nowhere"),
        (r#"<contact><pair geom1="g"/></contact>"#, "geom2"),
        (r#"<keyframe><key qpos="1 2"/></keyframe>"#, "expected at most 1"),
        (r#"<keyframe><key name="a"/><key name="a"/></keyframe>"#, "no other key"),
        (
            r#"<worldbody><body><joint type="ball"/><geom size="1"/></body></worldbody><keyframe><key qpos="1 0 0 0 0"/></keyframe>"#,
            "quaternion",
        ),
        (r#"<compiler angle="gradian"/>"#, "gradian"),
        (r#"<compiler coordinate="global"/>"#, "global"),
        (r#"<compiler eulerseq="xyw"/>"#, "xyw"),
        (r#"<option timestep="0"/>"#, "above 0"),
        (r#"<default><default/></default>"#, "class"),
        (r#"<default><default class="a"/><default class="a"/></default>"#, "not in use"),
        (r#"<asset><mesh name="m"/></asset>"#, "vertex"),
        (r#"<asset><mesh name="m" vertex="0 0 0 1"/></asset>"#, "three for every vertex"),
        (r#"<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0" face="0 1 3"/></asset>"#, "from 0 to 2"),
        (r#"<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0"/></asset>"#, "volume"),
        (r#"<asset><mesh name="m" vertex=""/></asset>"#, "three for every vertex"),
        (r#"<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3"/></asset>"#, "expected nrow"),
        (r#"<asset><hfield name="h" nrow="99999999999" ncol="99999999999" size="1 1 1 1"/></asset>"#, "at most"),
        (r#"<deformable><flex body="nowhere" element="0 0" dim="1"/></deformable>"#, "nowhere"),
        (r#"<deformable><flex body="b" vertex="0 0 0 1 0 0" element="0 2" dim="1"/></deformable>"#, "indices below 2"),
        (r#"<deformable><flex body="b" vertex="0 0 0 1 0 0" element="0 1 1" dim="1"/></deformable>"#, "2 indices"),
        (r#"<deformable><flex body="b" element="0 0" dim="4"/></deformable>"#, "expected 1, 2 or 3"),
        (
            r#"<deformable><flex body="b" element="0 0 0"><elasticity young="1" poisson=".5"/></flex></deformable>"#,
            "less than 0.5",
        ),
        (r#"<deformable><flex body="b" element="0 0 0"><edge damping="-1"/></flex></deformable>"#, "0 or more"),
    ];
    for (section, word) in cases {
        let (line, _, message) = error_of(&format!("<mujoco>\n{body}\n{section}</mujoco>"));
        assert!(line == 3 && message.contains(word), "{section}: line {line}: {message}");
    }
}

#[test]
fn triangles_without_an_area_do_not_resist_bending() {
    let slides = r#"<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide"/>"#;
    let body = |name: &str, at: &str| format!(r#"<body name="{name}" pos="{at}">{slides}<geom size="1"/></body>"#);
    let bodies = body("a", "0 0 0") + &body("b", "1 0 0") + &body("c", "0 1 0");
    let tendons = |elements: &str| {
        let text = format!(
            r#"<mujoco><worldbody>{bodies}</worldbody><deformable><flex body="a b c c" element="{elements}"
            vertex="0 0 0 0 0 0 0 0 0 1 0 0"><elasticity young="1" thickness="1" elastic2d="bend"/></flex></deformable></mujoco>"#
        );
        load(&text).model.tendons.len()
    };
    for elements in ["0 0 1 1 1 0", "0 1 2 0 1 2", "0 1 2 2 1 0", "0 0 0 0 0 0"] {
        assert_eq!(tendons(elements), 0, "{elements}");
    }
    // The two nodes in one body count together.
    assert_eq!(tendons("0 1 2 1 3 2"), 3);
}

#[test]
fn meshes_without_a_volume_cannot_weigh_anything() {
    // One triangle, seen from both sides.
    let text = r#"<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2 0 2 1" inertia="exact"/></asset>
        <worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"#;
    assert!(error_of(text).2.contains("volume"));
    // Nor be there, as in MuJoCo, unless they are shells.
    let weightless = text.replace("mesh=\"m\"/></body>", "mesh=\"m\" mass=\"0\"/></body>");
    assert!(error_of(&weightless).2.contains("inertia=\"shell\""));
    assert!(try_load(&weightless.replace("exact", "shell")).is_ok());
}

#[test]
fn text_that_is_no_model() {
    assert!(error_of("").2.contains("XML"));
    assert!(error_of("no XML at all").2.contains("XML"));
    let (line, _, message) = error_of("<mujoco>\n<worldbody>\n</mujoco>");
    assert!(line == 3 && message.contains("XML"), "{message}");
    let (_, element, message) = error_of("<scene/>");
    assert!(element == "scene" && message.contains("<mujoco>"), "{message}");
}

#[test]
fn errors_print_where_what_and_what_was_expected() {
    let error = try_load("<mujoco><worldbody>\n<geom type=\"cube\"/></worldbody></mujoco>").expect_err("unknown type");
    let printed = error.to_string();
    assert!(printed.starts_with("<text>:2: <geom>: type=\"cube\": expected one of plane, hfield, sphere"), "{printed}");
}

#[test]
fn nothing_at_all_is_a_model() {
    for text in ["<mujoco/>", "<mujoco><worldbody/></mujoco>"] {
        let model = try_load(text).expect("an empty model").model;
        assert_eq!((model.bodies.len(), model.nq(), model.nu()), (1, 0, 0));
    }
}

#[test]
fn errors_name_what_looks_misspelt() {
    let cases = [
        ("<geom sise=\"1\"/>", "expected 1 number above 0 for a sphere; `sise` is not read, did you mean `size`?"),
        ("<body><joint/>\n<gem size=\"1\"/></body>", "; `gem` in line 4 is not read, did you mean `geom`?"),
        ("<body><joint limited=\"true\"/><geom size=\"1\"/></body>", "`limited` without `range`: expected two numbers"),
    ];
    for (content, expected) in cases {
        let (_, _, message) = world_error(content);
        assert!(message.contains(expected), "{content}: {message}");
    }
    // What is only out of place, or not read yet, is no such thing.
    let (_, _, message) = world_error("<geom type=\"cube\" size=\"1\" rgba=\"1 0 0 1\"/><site/><camera/>");
    assert!(!message.contains("is not read"), "{message}");
}

#[test]
fn messages_are_short_and_do_nothing_to_a_terminal() {
    let long = "x".repeat(5000);
    for text in [
        format!("<mujoco><worldbody><geom class='{long}' size='1'/></worldbody></mujoco>"),
        format!("<mujoco><worldbody><body name='{long}'/><body name='{long}'/></worldbody></mujoco>"),
        format!("<mujoco><asset><mesh file='{long}.obj'/></asset></mujoco>"),
        format!("<mujoco><asset><mesh file='a.{long}'/></asset></mujoco>"),
        format!("<mujoco><include file='{long}'/></mujoco>"),
        format!("<mujoco><compiler eulerseq='{long}'/></mujoco>"),
        format!("<mujoco><a></{long}></mujoco>"),
        format!("<{long}/>"),
        format!("<robot name='r'><link name='a'/><joint name='j' type='{long}'><parent link='a'/></joint></robot>"),
    ] {
        let message = try_load(&text).unwrap_err().to_string();
        assert!(message.chars().count() < 300, "{message}");
    }
    let warned = load(&format!("<mujoco><{long}/></mujoco>")).model.warnings[0].to_string();
    assert!(warned.chars().count() < 300, "{warned}");
    let text = "<mujoco><actuator><motor joint='&#27;[31m&#8238;&#8203;'/></actuator></mujoco>";
    let message = try_load(text).unwrap_err().to_string();
    assert!(message.is_ascii() && !message.contains('\u{1b}'), "{message:?}");
}

#[test]
fn meshes_too_small_to_compute_with() {
    for inertia in ["exact", "convex", "shell"] {
        let text = format!(
            "<mujoco><asset><mesh name='m' inertia='{inertia}' vertex='0 0 0 1e-30 0 0 0 1e-30 0 0 0 1e-30'/></asset>\
             <worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
        );
        let message = try_load(&text).unwrap_err().to_string();
        assert!(message.contains("too little to compute with"), "{message}");
    }
}
