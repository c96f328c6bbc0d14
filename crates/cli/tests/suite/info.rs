//! `sapwood info`: what was read, and what was not.

use crate::common::{self, file, sapwood};
use serde_json::Value;

const ARM: &str = r#"<mujoco model="arm">
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="upper">
      <joint name="shoulder" type="ball"/>
      <geom type="capsule" size="0.05 0.2" mass="2"/><site name="near" pos="0 0.1 0"/>
      <body name="lower" pos="0 0 0.4">
        <joint name="elbow" type="hinge" axis="0 1 0"/>
        <geom type="capsule" size="0.04 0.2" mass="1.5" gap="0.1"/>
        <site name="hand" pos="0 0 0.2"/>
      </body>
    </body>
  </worldbody>
  <tendon><spatial name="string"><site site="near"/><site site="hand"/></spatial></tendon>
  <actuator><motor name="bend" joint="elbow"/><motor name="pull" tendon="pulley"/></actuator>
  <sensor><user dim="1"/></sensor>
  <tendon><fixed name="pulley" range="-1 2"><joint joint="elbow" coef="1.5"/></fixed></tendon>
  <equality><connect name="pin" body1="lower" anchor="0 0 0"/><tendon tendon1="pulley" active="false"/></equality>
  <keyframe><key name="up" qpos="1 0 0 0 0.5"/></keyframe>
</mujoco>
"#;

#[test]
fn counts_and_warnings_as_text() {
    let path = file("info_text", "arm.xml", ARM);
    let outcome = sapwood(&["info", path.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    for words in [
        "arm",
        "2 in 1 moving trees",
        "3.500000 kg",
        "nq = 5, nv = 4",
        "1 plane",
        "2 capsule",
        "ball shoulder",
        "up",
        "1.5 elbow  -1 to 2",
        "site near, site hand",
        "connect   lower, world",
        "coupling  pulley (inactive)",
    ] {
        assert!(outcome.stdout.contains(words), "no {words:?} in {}", outcome.stdout);
    }
    for place in ["arm.xml:10: ", "arm.xml:17: "] {
        assert!(outcome.stdout.contains(place), "no warning at {place:?} in {}", outcome.stdout);
    }
}

#[test]
fn the_same_as_json() {
    let path = file("info_json", "arm.xml", ARM);
    let outcome = sapwood(&["info", "--json", path.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let info: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(info["name"], "arm");
    assert_eq!(info["timestep"], 0.004);
    let counts = &info["counts"];
    for (name, expected) in [("bodies", 2), ("trees", 1), ("joints", 2), ("nq", 5), ("nv", 4), ("nu", 2), ("geoms", 3)]
    {
        assert_eq!(counts[name], expected, "{name}");
    }
    assert_eq!(info["actuators"][0]["joint"], "elbow");
    assert_eq!(info["actuators"][1]["tendon"], "pulley");
    let tendon = serde_json::json!({"name": "pulley", "joints": [["elbow", 1.5]], "path": [], "range": [-1.0, 2.0]});
    assert_eq!(info["tendons"][1], tendon);
    let path = serde_json::json!([["site", "near"], ["site", "hand"]]);
    assert_eq!(info["tendons"][0], serde_json::json!({"name": "string", "joints": [], "path": path, "range": null}));
    let pin = serde_json::json!({"name": "pin", "kind": "connect", "between": ["lower", "world"], "active": true});
    assert_eq!(info["equalities"][0], pin);
    assert_eq!((&counts["tendons"], &counts["equalities"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(info["keyframes"][0], "up");
    let warnings = info["warnings"].as_array().unwrap();
    let lines: Vec<u64> = warnings.iter().map(|w| w["line"].as_u64().unwrap()).collect();
    assert!(lines.contains(&10) && lines.contains(&17), "{warnings:#?}");
    assert!(warnings.iter().all(|w| w["file"].as_str().unwrap().ends_with("arm.xml")));
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_cannot_be_written_is_an_error_of_every_command() {
    let commands: [&[&str]; 7] = [
        &["info", "@arm7"],
        &["info", "@arm7", "--json"],
        &["write", "@arm7"],
        &["run", "@arm7", "--time", "0.01"],
        &["completions", "bash"],
        &["--version"],
        &["run", "--help"],
    ];
    for words in commands {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sapwood"))
            .args(words)
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdout(full)
            .output()
            .expect("the command");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("standard output cannot be written: No space left"), "{words:?}: {said}");
    }
}

#[test]
fn names_do_not_command_the_terminal() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("escape.xml");
    let body = r#"<body name="a&#27;[31m"><joint name="j&#155;31m"/><joint name="k&#13;l&#8238;m"/><geom size="1" gap="0.1"/></body>"#;
    std::fs::write(&path, format!("<mujoco><worldbody>{body}</worldbody></mujoco>")).expect("a file to write");
    let outcome = common::sapwood(&["info".as_ref(), path.as_os_str()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(outcome.stdout.contains("[31m"), "{outcome:#?}");
    let controls = |text: &str| text.chars().any(|c| c == '\u{202e}' || c.is_control() && !matches!(c, '\n' | '\t'));
    assert!(!controls(&outcome.stdout) && !controls(&outcome.stderr), "{outcome:#?}");
}
