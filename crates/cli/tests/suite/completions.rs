//! `sapwood completions`, and what shells are answered.

use std::process::Command;

use crate::common::{file, sapwood};

#[test]
fn every_shell_has_a_script_that_asks_the_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = sapwood(&["completions", shell]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        assert!(
            outcome.stdout.contains("SAPWOOD_COMPLETE") && outcome.stdout.contains(env!("CARGO_BIN_EXE_sapwood")),
            "{shell}"
        );
    }
}

/// What a shell is answered for a line whose last word is being completed.
fn answers(folder: &std::path::Path, line: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.args(["--", "sapwood"]).args(line).current_dir(folder).env("SAPWOOD_COMPLETE", "zsh");
    let output = command.env("_CLAP_COMPLETE_INDEX", line.len().to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The words, without what zsh shows beside them.
    text.lines().map(|line| line.split_once(':').map_or(line, |(word, _)| word).to_owned()).collect()
}

#[test]
fn commands_models_keyframes_and_values_are_completed() {
    let text =
        r#"<mujoco><worldbody/><keyframe><key name="stand"/><key name="squat"/><key name="lie"/></keyframe></mujoco>"#;
    let model = file("completions", "arm.xml", text);
    let folder = model.parent().unwrap();
    std::fs::write(folder.join("notes.txt"), "").unwrap();
    for (line, expected) in [
        (&["co"][..], &["completions"][..]),
        (&["run", "ar"], &["arm.xml"]),
        (&["run", "no"], &[]),
        (&["run", "@sn"], &["@snake36", "@snake72", "@snake195"]),
        (&["write", "@tow"], &["@tower-27"]),
        (&["run", "--scheme", "mid"], &["midpoint"]),
        (&["view", "arm.xml", "--contact", "co"], &["coulomb"]),
        (&["run", "arm.xml", "--keyframe", "s"], &["stand", "squat"]),
        (&["run", "@slider-2-0.5", "--keyframe", ""], &["sliding"]),
        (&["bench", "sch"], &["schemes"]),
        (&["track", "@dog", "--clip", "ca"], &["canter"]),
        (&["track", "@dog", "--clip", "no"], &["notes.txt"]),
        (&["track", "@dog", "--target", "end-"], &["end-velocity"]),
    ] {
        assert_eq!(answers(folder, line), expected, "{line:?}");
    }
    let at_first = answers(folder, &["run", ""]);
    assert!(at_first.contains(&"arm.xml".to_owned()) && at_first.contains(&"@dog".to_owned()), "{at_first:?}");
}
