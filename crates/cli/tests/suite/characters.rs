//! Characters by name, wherever a model is expected.

use std::fs;

use crate::common::{folder, sapwood};
use serde_json::Value;

const DOFS: [(&str, u64); 5] =
    [("@humanoid", 34), ("@dog", 72), ("@snake36", 36), ("@snake72", 72), ("@snake195", 195)];

#[test]
fn info_describes_them() {
    for (name, nv) in DOFS {
        let outcome = sapwood(&["info", "--json", name]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        let info: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&info["file"], &info["counts"]["nv"]), (&name.into(), &nv.into()));
        assert_eq!(info["warnings"].as_array().unwrap().len(), 0, "{name}");
    }
}

#[test]
fn run_moves_them() {
    for (name, nv) in DOFS {
        let outcome = sapwood(&["run", name, "--time", "0.1"]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        assert!(outcome.stdout.contains(&format!("{nv} degrees of freedom")), "{outcome:#?}");
    }
}

/// Energy at the end of a run of the dog, J.
fn energy_of_dog(test: &str, ground: &[&str]) -> f64 {
    let out = folder(test);
    let mut arguments = vec!["run", "@dog", "--time", "0.5", "--out", out.to_str().unwrap()];
    arguments.extend(ground);
    assert_eq!(sapwood(&arguments).code, 0);
    let summary: Value = serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    summary["energy_end"]["potential"].as_f64().unwrap()
}

#[test]
fn a_ground_of_the_user_replaces_theirs() {
    let (own, deep) = (energy_of_dog("own_ground", &[]), energy_of_dog("deep_ground", &["--ground", "-10"]));
    // It falls freely in the second case: 1.23 m in half a second, from a centre of mass that is below 0.6 m.
    assert!(own > 0.0 && deep < 0.0, "{own} J, {deep} J");
}

#[test]
fn write_makes_model_files() {
    let path = folder("write_makes_model_files").join("dog.xml");
    let file = path.to_str().unwrap();
    let outcome = sapwood(&["write", "@dog", file]);
    assert_eq!((outcome.code, outcome.stdout), (0, format!("wrote {file}\n")));
    let (from_file, from_name) = (sapwood(&["info", "--json", file]), sapwood(&["info", "--json", "@dog"]));
    assert_eq!(from_file.stdout.replace(file, "@dog"), from_name.stdout);
    assert_eq!(sapwood(&["write", "@dog"]).stdout, fs::read_to_string(&path).unwrap());

    let alone = sapwood(&["write", "@dog", "--no-ground", "--self-collision"]).stdout;
    assert!(!alone.contains("plane") && alone.contains("<exclude"));
}

#[test]
fn what_is_no_character_is_bad_input() {
    for arguments in [["run", "@cat"], ["info", "@cat"], ["write", "@cat"], ["write", "cat"], ["run", "@"]] {
        let outcome = sapwood(&arguments);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        let names = "@humanoid, @dog, @snake36, @snake72, @snake195, @clutter-box-COUNT";
        assert!(outcome.stderr.contains(names), "{outcome:#?}");
    }
    let outcome = sapwood(&["write", "@dog", "no/such/folder/dog.xml"]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    assert!(outcome.stderr.contains("no/such/folder/dog.xml: cannot be written"), "{outcome:#?}");
}
