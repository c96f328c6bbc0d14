//! Scenes by name, wherever a model is expected.

use std::fs;

use crate::common::{folder, sapwood};
use serde_json::Value;

#[test]
fn info_describes_them() {
    for (name, nv) in [("@clutter-box-125", 750), ("@arch-11", 66), ("@incline-20-0.7", 6), ("@arm7", 7)] {
        let outcome = sapwood(&["info", "--json", name]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        let info: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&info["file"], &info["counts"]["nv"]), (&name.into(), &nv.into()));
    }
}

#[test]
fn run_moves_them() {
    for name in ["@clutter-sphere-27", "@tower-10", "@cards-2", "@arm7"] {
        let outcome = sapwood(&["run", name, "--time", "0.1"]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
    }
    // Half a second at 2 m/s against a friction of 0.5.
    let out = folder("slider");
    let out_text = out.to_string_lossy();
    let arguments = ["run", "@slider-2-0.5", "--keyframe", "sliding", "--time", "1", "--out", &*out_text];
    assert_eq!(sapwood(&arguments).code, 0);
    let summary: Value = serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    let kinetic = |when: &str| summary[when]["kinetic"].as_f64().unwrap();
    assert!((kinetic("energy_start") - 2.0).abs() < 1e-12 && kinetic("energy_end") < 1e-6, "{summary:#}");
}

#[test]
fn write_makes_model_files() {
    let path = folder("write_makes_scenes").join("tower.xml");
    let file = path.to_str().unwrap();
    let outcome = sapwood(&["write", "@tower-3", file]);
    assert_eq!((outcome.code, outcome.stdout), (0, format!("wrote {file}\n")));
    assert_eq!(sapwood(&["write", "@tower-3"]).stdout, fs::read_to_string(&path).unwrap());
    assert!(sapwood(&["run", file, "--time", "0.1"]).stdout.contains("tower-3: 3 bodies"));
}

#[test]
fn what_makes_no_sense_is_bad_input() {
    let expectations = [
        (["run", "@tower-0"].as_slice(), "expected a whole number from 1 to 10000"),
        (&["write", "@incline-x-0.5"], "\"x\": expected a number from 0 to 89"),
        (&["info", "@tower"], "there is no character or scene \"tower\": did you mean @tower-COUNT?"),
        (&["info", "@zeppelin"], "there is no character or scene \"zeppelin\"; expected one of @humanoid"),
        (&["write", "@tower-3", "--no-ground"], "only characters"),
    ];
    for (arguments, message) in expectations {
        let outcome = sapwood(arguments);
        assert!(outcome.code == 2 && outcome.stderr.contains(message), "{outcome:#?}");
    }
}
