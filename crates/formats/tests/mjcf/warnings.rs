//! Nothing is dropped in silence: what is not simulated has a warning with its line, one for every kind.

use crate::{load, world};
use sapwood_formats::{LoadOptions, load_str};

fn warnings(text: &str) -> Vec<String> {
    load(text).model.warnings.iter().map(ToString::to_string).collect()
}

const BODY: &str =
    r#"<worldbody><body name="b"><joint name="j"/><geom name="g" size="1"/><site name="s"/></body></worldbody>"#;

#[test]
fn a_plain_model_has_none() {
    let text = format!(
        r#"<mujoco model="plain"><compiler angle="radian" discardvisual="true" texturedir="t"/><option timestep="0.01" cone="elliptic"/>
        <size nconmax="10"/><visual><global offwidth="1"/></visual><statistic extent="1"/><custom><numeric name="n" data="1"/></custom>
        <default><joint frictionloss="1" actuatorfrcrange="-2 2"/><geom rgba="1 0 0 1" group="2" user="1" condim="6"/><tendon width="1"/><camera fovy="1"/></default>
        <asset><texture type="skybox" builtin="flat" width="1" height="1"/><material name="m" shininess="1"/></asset>{BODY}
        <actuator><motor name="a" joint="j" group="3"/></actuator>
        <tendon><fixed name="t" limited="true" range="-1 1"><joint joint="j" coef="1"/></fixed></tendon>
        <equality><connect body1="b" anchor="0 0 0"/><tendon tendon1="t"/></equality><keyframe><key name="k"/></keyframe></mujoco>"#
    );
    assert_eq!(warnings(&text), Vec::<String>::new());
}

#[test]
fn whole_elements_are_named() {
    let text = format!(
        "<mujoco>{BODY}<sensor>\n<gyro site=\"s\"/><glow/></sensor><equality>\n<flexstrain flex=\"f\"/>\n<flexvert flex=\"f\"/></equality>
        <unheard/></mujoco>"
    );
    let found = warnings(&text);
    let starts = [
        "<text>:2: sensor/glow: ",
        "<text>:3: equality/flexstrain: ",
        "<text>:4: equality/flexvert: ",
        "<text>:5: mujoco/unheard: ",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (warning, start) in found.iter().zip(starts) {
        assert!(warning.starts_with(start), "{warning}");
    }
}

#[test]
fn attributes_that_nobody_reads_are_named_once_with_a_count() {
    let loaded = world("<geom size=\"1\" colour=\"red\"/>\n<geom size=\"1\" colour=\"blue\"/>\n<geom size=\"1\"/>");
    let [warning] = &loaded.model.warnings[..] else { panic!("{:#?}", loaded.model.warnings) };
    assert_eq!((warning.line, warning.element.as_str()), (1, "geom colour"));
    assert_eq!(warning.message, "not read: ignored (2 places, this is the first)");
}

#[test]
fn defaults_are_looked_through_as_well() {
    let text = format!("<mujoco><default>\n<geom colour=\"red\"/></default>{BODY}</mujoco>");
    let found = warnings(&text);
    assert!(found.len() == 1 && found[0].starts_with("<text>:2: geom colour: "), "{found:#?}");
}

#[test]
fn approximations_are_named() {
    let attribute = |geom: &str, word: &str| {
        let found: Vec<String> = world(&format!(r#"<body><joint/><geom size="1" {geom}/></body>"#))
            .model
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(found.len() == 1 && found[0].contains(word), "{geom}: {found:#?}");
    };
    attribute(r#"solref="1 -1""#, "solref");
    attribute(r#"gap="0.1""#, "gap");

    let section = |section: &str, word: &str| {
        let found = warnings(&format!("<mujoco>{section}{BODY}</mujoco>"));
        assert!(found.len() == 1 && found[0].contains(word), "{section}: {found:#?}");
    };
    section(r#"<option integrator="RK4"/>"#, "integrator");
    section(r#"<option solver="PGS"/>"#, "solver");
    section(r#"<option impratio="10"/>"#, "impratio");
    section(r#"<compiler fusestatic="true"/>"#, "fusestatic");
    section(r#"<actuator><muscle joint="j"/></actuator>"#, "lengthrange");
    let pair = r#"<worldbody><geom name="a" size="1" pos="9 0 0"/></worldbody><contact><pair geom1="a" geom2="g" solreffriction=".02 1"/></contact>"#;
    section(&format!(r#"<option cone="elliptic"/>{pair}"#), "solreffriction");
    assert!(warnings(&format!("<mujoco>{pair}{BODY}</mujoco>")).is_empty());
    section(r#"<actuator><general joint="j" dyntype="dcmotor"/></actuator>"#, "dyntype");
}

#[test]
fn looks_of_materials_are_none_in_defaults_either() {
    let looks = "specular='1' shininess='0' reflectance='1' emission='1' metallic='1' roughness='1' texrepeat='1 1'";
    let default = format!("<default><material {looks}/></default>");
    let text = format!("<mujoco>{default}<asset><material name='m' {looks} rgba='1 0 0 1'/></asset></mujoco>");
    assert!(crate::load(&text).model.warnings.is_empty());
}

#[test]
fn a_material_that_nothing_defines_is_named() {
    let text = "<mujoco><worldbody>\n<geom size='1' material='brass'/></worldbody></mujoco>";
    assert!(matches!(&warnings(text)[..], [one] if one.contains(":2: ") && one.contains("material")), "{text}");
}

#[test]
fn parts_of_other_models_need_a_folder() {
    let model = "<asset><model name='m' file='m.xml'/></asset>";
    let attach = format!("<mujoco>{model}<worldbody>\n<attach model='m' body='b' prefix='p'/></worldbody></mujoco>");
    let error = crate::try_load(&attach).expect_err("a part that is missing");
    assert!(error.line() == 2 && error.element() == "attach", "{error}");
}

/// A leg whose middle link reaches into the base, and the parent's geoms beside it, which never touch it.
#[test]
fn links_of_one_robot_that_start_deep_in_each_other_are_named() {
    let leg = |pos: &str, exclude: &str| {
        format!(
            "<mujoco><worldbody><body name=\"base\"><freejoint/><geom name=\"hip\" type=\"sphere\" size=\".1\"/>
            <body pos=\"0 0 -.05\"><joint/><geom name=\"knuckle\" type=\"sphere\" size=\".05\"/>
            <body name=\"thigh\" pos=\"0 0 -.05\"><joint axis=\"1 0 0\"/>
            <geom name=\"femur\" type=\"sphere\" size=\".05\" pos=\"{pos}\"/></body></body></body></worldbody>
            <contact>{exclude}</contact></mujoco>"
        )
    };
    // Centres 0.11 m apart: 40 mm deep.
    let found = warnings(&leg("0 0 -.01", ""));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("<text>:4: geom: "), "{found:#?}");
    assert!(found[0].contains(r#""hip" – "femur" (40.0 mm)"#), "{found:#?}");
    // 4 mm are within a tenth of 50 mm.
    assert_eq!(warnings(&leg("0 0 -.046", "")), Vec::<String>::new());
    assert_eq!(warnings(&leg("0 0 -.01", r#"<exclude body1="base" body2="thigh"/>"#)), Vec::<String>::new());
    // Bodies that are no robot may start in each other; that is for the simulation to undo.
    let loose = r#"<mujoco><worldbody><body><freejoint/><geom size="1"/></body><body><freejoint/><geom size="1"/></body></worldbody></mujoco>"#;
    assert_eq!(warnings(loose), Vec::<String>::new());
}

#[test]
fn limits_in_the_other_unit_are_named() {
    let warning = |angle: &str, joint: &str| {
        let body = format!("<body><joint name=\"j\" {joint}/><geom size=\"1\"/></body>");
        warnings(&format!("<mujoco><compiler angle=\"{angle}\"/><worldbody>{body}</worldbody></mujoco>")).concat()
    };
    let of_degrees =
        "<text>:1: joint range: angles of this file are degrees: <compiler angle=\"radian\"/> if these are radians";
    let of_radians =
        "<text>:1: joint range: angles of this file are radians: <compiler angle=\"degree\"/> if these are degrees";
    assert_eq!(warning("degree", "range='-1.57 1.57'"), of_degrees);
    assert_eq!(warning("radian", "range='-90 90'"), of_radians);
    for right in ["range='-90 90'", "range='-3 3'", "range='0 12.5'", "type='slide' range='-.5 .5'"] {
        assert_eq!(warning("degree", right), "");
    }
    for right in ["range='-1.57 1.57'", "range='-12 12'", "range='-1000 1000'", "type='slide' range='0 90'"] {
        assert_eq!(warning("radian", right), "");
    }
}

#[test]
fn constraints_on_nodes_of_missing_cloth_are_named() {
    let cloth = r#"<flexcomp name="flag" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1"><edge equality="vert"/></flexcomp>"#;
    let text = |node: &str| {
        format!(
            "<mujoco>{BODY}<worldbody>{cloth}</worldbody><equality><connect body1=\"{node}\" anchor=\"0 0 0\"/></equality></mujoco>"
        )
    };
    let found = warnings(&text("flag_8"));
    assert!(
        found[1].ends_with("connect: of a node of a flexible body that is missing from the model: ignored"),
        "{found:#?}"
    );
    for wrong in ["flag", "flag_", "flag_x", "flug_0"] {
        assert!(crate::try_load(&text(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn sleep_is_read() {
    let body = "<body sleep=\"never\"><freejoint/><geom size=\"1\"/></body>";
    let text = |options: &str| format!("<mujoco><option {options}/></option><worldbody>{body}</worldbody></mujoco>");
    let on = text("sleep_tolerance=\"0.01\"><flag sleep=\"enable\"");
    let loaded = crate::load(&on);
    assert_eq!(warnings(&on), Vec::<String>::new());
    assert_eq!(loaded.model.sleep_speed, Some(0.01));
    assert_eq!(loaded.model.bodies[1].sleep, multibody::SleepPolicy::Never);
    assert_eq!(crate::load(&text("sleep_tolerance=\"0.01\"><flag sleep=\"disable\"")).model.sleep_speed, None);
    for wrong in [text("sleep_tolerance=\"-1\"><flag"), on.replace("never", "sometimes")] {
        assert!(crate::try_load(&wrong).is_err_and(|error| error.to_string().contains("sleep")), "{wrong}");
    }
}

#[test]
fn what_looks_misspelt_is_asked_about() {
    let text = format!(
        "<mujoco>{BODY}<actuator><moter joint=\"j\"/></actuator>\n<worldbody><body><joint axes=\"0 1 0\"/>\n<geom typ=\"box\" size=\"1 1 1\"/>
        </body></worldbody><asset>\n<material name=\"m\" texture=\"t\"/><texture name=\"u\" builtin=\"flat\" width=\"1\" height=\"1\"/></asset>
        <tendons/></mujoco>"
    );
    let found = warnings(&text);
    for expected in [
        "actuator/moter: not simulated: ignored; did you mean `motor`?",
        "<text>:2: joint axes: not read: ignored; did you mean `axis`?",
        "<text>:3: geom typ: not read: ignored; did you mean `type`?",
        "<text>:5: material texture: no texture has the name \"t\": not shown",
        "mujoco/tendons: not simulated: ignored; did you mean `tendon`?",
    ] {
        assert!(found.iter().any(|warning| warning.contains(expected)), "{expected}: {found:#?}");
    }
    assert_eq!(found.len(), 5, "{found:#?}");
}

#[test]
fn strict_readers_take_no_warning() {
    let strict = LoadOptions { is_strict: true, ..LoadOptions::default() };
    let read = |text: &str| load_str(text, None, &strict).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(read(&format!("<mujoco>{BODY}</mujoco>")), Ok(()));
    let error = read(&format!(
        "<mujoco>{BODY}\n<worldbody><geom size=\"1\" pos=\"9 9 9\" colour=\"red\"/></worldbody><glow/></mujoco>"
    ));
    assert_eq!(error, Err("<text>:2: <geom colour>: not read: ignored (and 1 more warning)".into()));
    let error = load_str("<robot name='r'><link name='l' typ='x'/></robot>", None, &strict).unwrap_err();
    assert!(error.to_string().contains("link typ"), "{error}");
}
