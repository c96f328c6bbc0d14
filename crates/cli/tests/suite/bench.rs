//! `sapwood bench`.

use std::fs;

use crate::common::{self, folder, folder_of, sapwood, sapwood_with};
use serde_json::Value;

/// Runs a suite briefly and returns its rows; every picture is an SVG.
fn rows(suite: &str, pictures: &[&str]) -> Vec<Value> {
    let out = folder(&format!("bench_{suite}"));
    let json = out.join("rows.json");
    let (out_text, json_text) = (out.to_string_lossy(), json.to_string_lossy());
    let outcome = sapwood(&["bench", suite, "--quick", "--out", &*out_text, "--json", &*json_text]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    for picture in pictures {
        let text = fs::read_to_string(out.join(picture)).expect("a picture");
        assert!(text.starts_with("<svg") && text.contains("</svg>"), "{picture}");
    }
    let rows: Vec<Value> = serde_json::from_str(&fs::read_to_string(json).expect("a file")).expect("JSON");
    for row in &rows {
        assert_eq!((row["suite"].as_str(), row["engine"].as_str()), (Some(suite), Some("sapwood")), "{row}");
        assert!(row["value"].as_f64().is_some_and(f64::is_finite) && row["unit"].is_string(), "{row}");
    }
    rows
}

fn has(rows: &[Value], case: &str, metric: &str) -> bool {
    rows.iter().any(|row| row["case"] == case && row["metric"] == metric)
}

#[test]
fn spd_has_every_character_and_method() {
    let rows = rows("spd", &["frames_per_second.svg"]);
    for case in ["humanoid walk", "dog pace", "dog trot", "dog canter", "snake36 slither", "snake195 slither"] {
        for method in ["maba", "dense", "pcg", "sparse"] {
            assert!(has(&rows, case, &format!("{method}_frames_per_second")), "{case} {method}");
            assert!(has(&rows, case, &format!("{method}_extra_time")), "{case} {method}");
        }
        assert!(has(&rows, case, "maba_over_dense"), "{case}");
    }
}

#[test]
fn characters_has_errors_for_every_time_step() {
    let rows = rows("characters", &["tracking_error_humanoid.svg", "tracking_error_dog.svg"]);
    for dt in ["1/30", "1/60", "1/600"] {
        let case = format!("dog canter on the ground, front_right_toe, target end, dt {dt}");
        assert!(has(&rows, &case, "maba_error") && has(&rows, &case, "dense_error"), "{case}");
        assert!(has(&rows, &case, "explicit_diverged_after"), "{case}");
    }
    assert!(has(&rows, "dog canter, toes x 0.01, front_right_toe, dt 1/60", "air_f32_maba_kept_error"));
}

#[test]
fn figures_have_every_target_and_method_and_a_page() {
    let rows = rows("figures", &["figure1.svg", "figure5.svg", "figure6.svg"]);
    for target in ["start", "end", "end-velocity"] {
        let case = format!("dog canter on the ground, front_right_toe, target {target}, dt 1/240");
        for method in ["maba", "dense", "sparse"] {
            assert!(has(&rows, &case, &format!("{method}_error")), "{case} {method}");
        }
    }
    let value = |metric: &str| {
        let row = rows.iter().find(|row| row["case"] == "dog canter" && row["metric"] == metric);
        row.and_then(|row| row["value"].as_f64()).unwrap_or_else(|| panic!("no {metric}"))
    };
    // Explicit PD needs far shorter steps than the paper's 1/240 s, in which all the others track.
    assert!(value("explicit_largest_step") < 1e-5 && value("maba_largest_step") > 1.0 / 60.0);
    assert!(value("dense_largest_step") > 1.0 / 240.0 && value("sparse_alone") > 0.0);
    // Before the step a force cannot hold a toe against the ground, within it can.
    assert!(value("dense_largest_step_of_joints") < 0.1 * value("maba_largest_step_of_joints"));
    assert!(value("maba_over_dense_at_equal_contact") > 0.0);
    let page = fs::read_to_string(folder_of("bench_figures").join("figures.md")).expect("a page");
    for words in ["## Figure 1", "## Figure 5", "## Figure 6", "equal contact", "| end-velocity | MABA |"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let outcome = sapwood(&["bench", "speed"]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    for suite in ["spd", "characters", "figures"].iter().chain(&BESIDE_OTHERS) {
        assert!(outcome.stderr.contains(suite), "{suite}: {outcome:#?}");
    }
    let outcome = sapwood(&["bench", "characters", "--quick", "--clips", "no-such-folder"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("humanoid3d_run.txt"), "{outcome:#?}");
}

const BESIDE_OTHERS: [&str; 15] = [
    "step",
    "dynamics",
    "contact",
    "clutter",
    "deformables",
    "schemes",
    "motion",
    "models",
    "starts",
    "strangers",
    "longest",
    "batch",
    "imitation",
    "inverse-kinematics",
    "gpu",
];

#[test]
fn help_names_every_suite() {
    let help = sapwood(&["bench", "--help"]).stdout;
    for suite in ["spd", "characters", "figures"].iter().chain(&BESIDE_OTHERS) {
        assert!(help.contains(&format!("\n  {suite} ")), "{suite}: {help}");
    }
}

/// An interpreter that tells what it is asked: it has the package, and ends as a suite does that fails.
#[cfg(unix)]
#[test]
fn suites_beside_others_run_in_python_with_their_arguments_and_exit_code() {
    use std::os::unix::fs::PermissionsExt;

    let python = common::file("bench_python", "python", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 7\n");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    for suite in BESIDE_OTHERS {
        for rest in [&[][..], &["--help"], &["--case", "a b", "--peers", "", "--repetitions=3"]] {
            let outcome = sapwood_with("SAPWOOD_PYTHON", python.as_os_str(), &[&["bench", suite], rest].concat());
            let expected = [&["-m", "sapwood.bench", suite], rest].concat().join(" ");
            assert_eq!((outcome.code, outcome.stdout.trim_end()), (7, &*expected), "{outcome:#?}");
        }
    }
}

#[test]
fn what_is_missing_for_a_suite_in_python_is_said() {
    let without_package = if cfg!(unix) { "/bin/false" } else { "no-such-interpreter" };
    for python in ["no-such-interpreter", without_package] {
        let outcome = sapwood_with("SAPWOOD_PYTHON", python.as_ref(), &["bench", "schemes"]);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        for part in ["bench schemes", python, "pip install '.[test]'", "SAPWOOD_PYTHON"] {
            assert!(outcome.stderr.contains(part), "no {part:?} in {outcome:#?}");
        }
    }
}
