//! `--json`: one document on standard output, for errors too.

use crate::common::{Outcome, file, folder, sapwood};
use serde_json::{Value, json};

/// The document, which is all of standard output.
fn document(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:#?}"))
}

#[test]
fn a_run_prints_its_summary_and_files() {
    let out = folder("json_run");
    let out = out.to_str().unwrap();
    let outcome = sapwood(&["run", "@tower-2", "--time", "0.1", "--json", "--out", out]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let mut printed = document(&outcome);
    let files = printed.as_object_mut().unwrap().remove("files").unwrap();
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{out}/summary.json")).unwrap()).unwrap();
    assert_eq!(printed, written);
    assert_eq!(
        (&printed["completed"], &printed["error"], &printed["model"]),
        (&json!(true), &Value::Null, &json!("tower-2"))
    );
    assert!(files.as_array().unwrap().contains(&json!(format!("{out}/trajectory.npz"))), "{files}");
    for field in ["simulated_time", "timestep", "steps", "wall_time", "real_time_factor", "worst_residual"] {
        assert!(printed[field].is_number(), "{field}: {printed:#}");
    }
    for field in ["contacts", "newton_iterations", "energy_start", "energy_end", "settings"] {
        assert!(printed[field].is_object(), "{field}: {printed:#}");
    }
}

#[test]
fn bad_input_is_a_document_with_file_and_line() {
    let model = file(
        "json_error",
        "arm.xml",
        "<mujoco>\n<worldbody>\n<body>\n<joint type=\"spring\"/></body>\n</worldbody>\n</mujoco>",
    );
    let path = model.to_str().unwrap();
    for command in ["run", "info"] {
        let outcome = sapwood(&[command, path, "--json"]);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        let error = &document(&outcome)["error"];
        assert_eq!(
            (&error["kind"], &error["file"], &error["line"]),
            (&json!("model"), &json!(path), &json!(4)),
            "{error}"
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("spring") && outcome.stderr.contains(message), "{outcome:#?}");
    }
    for (arguments, kind, words) in [
        (&["run", "@dog", "--json", "--tmie", "3"][..], "arguments", "--time"),
        (&["run", "@cat", "--json"], "arguments", "there is no character or scene"),
        (&["run", "@dog", "--json", "--keyframe", "up"], "arguments", "keyframe"),
        (&["run", "@dog", "--json", "--out", path], "file", "cannot make this folder"),
        (&["bench", "spd", "--json", "--quik"], "arguments", "--quick"),
    ] {
        let outcome = sapwood(arguments);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        let error = &document(&outcome)["error"];
        assert_eq!((&error["kind"], &error["line"]), (&json!(kind), &Value::Null), "{arguments:?}");
        assert!(error["message"].as_str().unwrap().contains(words), "{arguments:?}: {error}");
    }
    // Rows that go to a file leave standard output to people, errors too; so does help.
    assert_eq!(sapwood(&["bench", "spd", "--json", "rows.json", "--quik"]).stdout, "");
    assert!(sapwood(&["run", "--json", "--help"]).stdout.contains("Usage: sapwood run"));
}

#[test]
fn a_run_that_fails_prints_what_was_computed() {
    // x'' = 10¹⁰ x: no step size follows it for long.
    let text = r#"<mujoco><option timestep="0.01"/><worldbody><body><joint name="x" type="slide"/><geom size="0.1" mass="1" pos="0 0 0.1"/></body>
        </worldbody><actuator><general joint="x" gainprm="1" biastype="affine" biasprm="1 1e10 0"/></actuator></mujoco>"#;
    let outcome = sapwood(&["run", file("json_failed", "away.xml", text).to_str().unwrap(), "--json"]);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    let summary = document(&outcome);
    assert_eq!(
        (&summary["completed"], &summary["error"]["kind"]),
        (&json!(false), &json!("simulation")),
        "{summary:#}"
    );
    assert!(summary["steps"].as_u64().unwrap() < 500 && summary["error"]["message"].is_string(), "{summary:#}");
}

#[test]
fn quiet_prints_errors_alone() {
    let outcome = sapwood(&["run", "@tower-2", "--time", "0.1", "--quiet"]);
    assert_eq!((outcome.code, &*outcome.stdout, &*outcome.stderr), (0, "", ""));
    assert!(sapwood(&["run", "@cat", "-q"]).stderr.contains("@dog"));
}
