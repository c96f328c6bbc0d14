//! `sapwood run`: what it prints and what it writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{self, file, folder, sapwood};
use serde_json::Value;

/// A box that falls from 1 m beside one that rests, with a motor, and something that is not simulated.
const BOXES: &str = r#"<mujoco model="two &lt;boxes&gt;">
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="falling" pos="0 0 1"><freejoint name="f"/><geom type="box" size=".1 .1 .1"/></body>
    <body name="door" pos="2 0 1"><joint name="hinge" damping="1"/><geom type="box" size=".1 .5 .1"/></body>
  </worldbody>
  <actuator><motor name="push" joint="hinge"/></actuator>
</mujoco>
"#;

fn summary(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap()
}

fn run_boxes(test: &str, more: &[&str]) -> (common::Outcome, std::path::PathBuf) {
    let model = file(test, "boxes.xml", BOXES);
    let out = model.with_file_name("out");
    let mut arguments = vec!["run", model.to_str().unwrap(), "--out", out.to_str().unwrap()];
    arguments.extend(more);
    (sapwood(&arguments), out)
}

#[test]
fn writes_everything() {
    let (outcome, out) = run_boxes("writes_everything", &["--time", "1"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    for words in ["100 steps", "real time", "contacts", "Newton iterations", "worst residual", "penetration", "energy"]
    {
        assert!(outcome.stdout.contains(words), "no {words:?} in {outcome:#?}");
    }

    let summary = summary(&out);
    assert_eq!(summary["completed"], true);
    assert_eq!(summary["steps"], 100);
    assert!((summary["simulated_time"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!(summary["contacts"]["max"].as_u64().unwrap() >= 3, "a box rests on at least three points");
    // It ends at rest on the ground: all of m g h is gone but for the half height of 0.1 m. Half extents of 0.1 m and
    // the density of water make 8 kg, the door 40 kg at the height of its hinge.
    let (falling, door) = (8.0 * 9.81, 40.0 * 9.81);
    assert!((summary["energy_start"]["total"].as_f64().unwrap() - falling - door).abs() < 1e-9 * (falling + door));
    assert!((summary["energy_end"]["total"].as_f64().unwrap() - 0.1 * falling - door).abs() < 0.01 * falling);

    let svg = fs::read_to_string(out.join("energy.svg")).unwrap();
    assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for words in ["kinetic", "potential", "total", "Contacts", "Newton iterations", "time (s)", "two &lt;boxes&gt;"] {
        assert!(svg.contains(words), "no {words:?}");
    }
    assert!(fs::read(out.join("trajectory.npz")).unwrap().starts_with(b"PK"));
}

#[test]
fn the_replay_holds_the_motion_or_its_absence_is_explained() {
    let (outcome, out) = run_boxes("replay", &["--time", "0.5"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let Ok(html) = fs::read_to_string(out.join("replay.html")) else {
        let note = &outcome.stderr;
        assert!(note.contains("replay.html was not written") && note.contains("cargo xtask web"), "{note}");
        return;
    };
    let (_, rest) = html.split_once(r#"<script id="sapwood-replay" type="application/json">"#).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let replay: Value = serde_json::from_str(json).unwrap();
    assert_eq!(replay["format"], 1);
    assert_eq!(replay["name"], "two <boxes>");
    assert_eq!(replay["bodies"], serde_json::json!(["world", "falling", "door"]));
    assert_eq!(replay["parents"], serde_json::json!([-1, 0, 0]));
    assert_eq!(replay["geoms"].as_array().unwrap().len(), 3);
    // 60 frames a second are 1.67 steps of 10 ms apart: every second step is a frame.
    assert_eq!(replay["dt_frame"], 0.02);
    assert_eq!(replay["frames"], 26);
    assert_eq!(replay["series"]["time"].as_array().unwrap().len(), 26);
}

#[test]
fn without_out_nothing_is_written() {
    let model = file("nothing_written", "boxes.xml", BOXES);
    let outcome = sapwood(&["run", model.to_str().unwrap(), "--time", "0.1"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert_eq!(fs::read_dir(model.parent().unwrap()).unwrap().count(), 1);
    assert!(!outcome.stdout.contains("wrote"));
}

#[test]
fn the_embedded_scene_runs() {
    let out = folder("embedded");
    let outcome = sapwood(&["run", "--time", "1", "--out", out.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let summary = summary(&out);
    assert_eq!(summary["steps"], 200);
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 0, "{summary:#}");
    assert!(summary["contacts"]["max"].as_u64().unwrap() > 10);
}

#[test]
fn the_same_run_gives_the_same_files_on_any_number_of_threads() {
    let trajectory = |test, threads| {
        let out = folder(test);
        let path = out.to_str().unwrap();
        let outcome = sapwood(&["run", "--time", "1", "--seed", "5", "--threads", threads, "--out", path]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        fs::read(out.join("trajectory.npz")).unwrap()
    };
    let first = trajectory("same_1", "1");
    assert!(first == trajectory("same_2", "1"));
    assert!(first == trajectory("same_3", "2"));
}

#[test]
fn a_seed_changes_the_start() {
    let energies = |test, more: &[&str]| {
        let (outcome, out) = run_boxes(test, &[&["--time", "0"], more].concat());
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        summary(&out)["energy_start"]["total"].as_f64().unwrap()
    };
    let plain = energies("seed_none", &[]);
    let [one, again, two] =
        [("seed_1", "1"), ("seed_1_again", "1"), ("seed_2", "2")].map(|(t, s)| energies(t, &["--seed", s]));
    assert_eq!(one, again);
    assert!(plain != one && one != two);
}

#[test]
fn a_ground_can_be_added() {
    let robot = r#"<robot name="ball"><link name="ball">
        <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision>
    </link></robot>"#;
    let model = file("ground", "ball.urdf", robot);
    let out = model.with_file_name("out");
    let paths = [model.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let outcome = sapwood(&[&["run", "--floating-base", "--ground", "-0.5", "--time", "2"], &paths[..]].concat());
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    // At rest one radius above the ground: m g (−0.5 m + 0.1 m), but for a compression well below a millimetre.
    let energy = summary(&out)["energy_end"]["total"].as_f64().unwrap();
    assert!((energy + 2.0 * 9.81 * 0.4).abs() < 0.02, "{energy}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sapwood"))
        .args(["run", "--time", "0.05"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// A motor with a spring law that pushes away: x'' = 10¹⁰ x, which no step size follows for long.
const RUNAWAY: &str = r#"<mujoco model="runaway">
  <option timestep="0.01"/>
  <worldbody>
    <body name="slider"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1" pos="0.1 0 0"/></body>
  </worldbody>
  <actuator>
    <general name="away" joint="x" gainprm="1" biastype="affine" biasprm="1 1e10 0"/>
  </actuator>
</mujoco>
"#;

#[test]
fn a_failed_simulation_writes_what_there_is() {
    let model = file("failed", "runaway.xml", RUNAWAY);
    let out = model.with_file_name("out");
    let outcome = sapwood(&["run", model.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(outcome.stderr.contains("the simulation failed: step "), "{outcome:#?}");
    assert!(outcome.stderr.contains("of 500 steps were computed"), "{outcome:#?}");
    let summary = summary(&out);
    assert_eq!(summary["completed"], false);
    let steps = summary["steps"].as_u64().unwrap();
    assert!(steps > 0 && steps < 500, "{summary:#}");
    assert!(summary["error"]["message"].as_str().unwrap().contains("diverged"));
    assert!(out.join("trajectory.npz").exists() && out.join("energy.svg").exists());
}

/// Falling spheres need more factorisations than these in many steps; the summary says in how many.
#[test]
fn a_budget_of_factorizations_is_counted() {
    let run = |budget: &str| {
        let out = folder(&format!("budget_{budget}"));
        let scene = ["run", "@clutter-sphere-27", "--dt", "0.005", "--time", "0.8", "--factorization-budget", budget];
        let outcome = sapwood(&[&scene[..], &["--out", out.to_str().unwrap()]].concat());
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        (summary(&out), outcome.stdout)
    };
    let (bounded, text) = run("3");
    assert!(bounded["unsettled_steps"].as_u64().unwrap() > 10 && text.contains("not converged in"), "{text}");
    assert!(bounded["worst_friction_residual"].as_f64().unwrap() > 1e-4);
    assert_eq!(bounded["settings"]["factorization_budget"], 3);
    let (unlimited, text) = run("unlimited");
    // Without a budget the search ends where nothing leads nearer to the law.
    let unsettled = unlimited["unsettled_steps"].as_u64().unwrap();
    assert!(unsettled <= 1 && (unsettled > 0) == text.contains("not converged"), "{text}");
    assert!(unlimited["settings"]["factorization_budget"].is_null());

    let outcome = sapwood(&["run", "--factorization-budget", "-1"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("expected a whole number, 0 or more, or unlimited"));
}

#[test]
fn stresses_of_soft_bodies_are_recorded_if_asked() {
    for stress in [false, true] {
        let out = folder(&format!("stress-{stress}")).join("out");
        let mut arguments =
            vec!["run", "@soft-gripper", "--keyframe", "lift", "--time", "0.05", "--out", out.to_str().unwrap()];
        arguments.extend(stress.then_some("--stress"));
        let outcome = sapwood(&arguments);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        // Without the player there is no page.
        let Ok(html) = fs::read_to_string(out.join("replay.html")) else { continue };
        assert_eq!(html.contains(r#""soft_stress":{"most":"#), stress);
    }
}
