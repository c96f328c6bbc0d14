use std::path::{Path, PathBuf};

use super::*;

/// A folder of this test's own with these files in it.
fn folder(test: &str, files: &[(&str, String)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdf").join(test);
    for (path, content) in files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    folder
}

fn box_model() -> String {
    format!(
        "<sdf version=\"1.7\"><model name=\"box\"><pose>0 0 7 0 0 0</pose>{}</model></sdf>",
        link("body", "0 0 0.5 0 0 0")
    )
}

fn load_file(path: &Path) -> Result<Loaded, LoadError> {
    sapwood_formats::load(path, &LoadOptions::default())
}

#[test]
fn models_of_other_files() {
    let include = |content: &str| format!("<include><uri>model://box</uri>{content}</include>");
    let content = include("")
        + &include("<name>second</name><pose>0 0 1 0 0 0</pose>")
        + &include("<name>fixed</name><static>true</static>");
    let folder = folder("models", &[("models/box/model.sdf", box_model()), ("models/world.sdf", world(&content))]);
    let loaded = load_file(&folder.join("models/world.sdf")).unwrap();
    let at = |body: &str| placement(&loaded.model, body, &loaded.model.q0).pos.z;
    assert_eq!([at("box::body"), at("second::body"), at("fixed::body")], [7.5, 1.5, 7.5]);
    assert_eq!(loaded.model.nv(), 12);
}

#[test]
fn the_newest_file_that_a_config_names() {
    let config = "<model><sdf version=\"1.3\">old.sdf</sdf><sdf version=\"1.10\">new.sdf</sdf><sdf version=\"1.9\">old.sdf</sdf></model>";
    let files = [
        ("box/model.config", config.to_owned()),
        ("box/new.sdf", box_model()),
        ("box/old.sdf", "no model".to_owned()),
        ("world.sdf", world("<include><uri>box</uri></include>")),
    ];
    assert_eq!(load_file(&folder("config", &files).join("world.sdf")).unwrap().model.nv(), 6);
}

#[test]
fn models_merged_into_a_model() {
    let content = format!(
        "{}<include merge=\"true\"><uri>box</uri></include>\
         <joint name=\"j\" type=\"fixed\"><parent>base</parent><child>body</child></joint>",
        link("base", "0 0 0 0 0 0")
    );
    let folder = folder("merged", &[("box/model.sdf", box_model()), ("robot.sdf", model(&content))]);
    let loaded = load_file(&folder.join("robot.sdf")).unwrap().model;
    assert_eq!(loaded.bodies.iter().map(|body| &*body.name).collect::<Vec<_>>(), ["world", "base", "body"]);
    assert_eq!((loaded.nv(), loaded.bodies[2].pose.pos.z), (6, 7.5));
}

#[test]
fn files_that_include_themselves() {
    let folder = folder("ring", &[("a.sdf", model("<include><uri>a.sdf</uri></include>"))]);
    let found = load_file(&folder.join("a.sdf")).unwrap_err();
    assert!(found.message().contains("deep"), "{found}");
}

#[test]
fn files_that_are_not_there() {
    let text = |uri: &str| world(&format!("<include><uri>{uri}</uri></include>"));
    assert!(error(&text("model://nothing")).message().contains("no such file"));
    assert!(error(&text("https://fuel.gazebosim.org/1.0/x")).message().contains("on a server"));
    let folder = folder("bad", &[("box/model.sdf", "<mujoco/>".to_owned()), ("world.sdf", text("box"))]);
    let found = load_file(&folder.join("world.sdf")).unwrap_err();
    assert!(found.file().ends_with("model.sdf") && found.message().contains("expected <sdf>"), "{found}");
}
