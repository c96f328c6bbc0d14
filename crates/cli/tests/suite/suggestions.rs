//! A name that does not exist is answered with those that are like it.

use std::fs;

use crate::common::{file, sapwood};

/// Exit code 2 with this text in the message.
fn assert_hint(arguments: &[&str], hint: &str) {
    let outcome = sapwood(arguments);
    assert!(outcome.code == 2 && outcome.stderr.contains(hint), "{arguments:?}: no {hint:?} in {outcome:#?}");
}

#[test]
fn commands_options_and_values() {
    assert_hint(&["rnu"], "a similar subcommand exists: 'run'");
    assert_hint(&["bench", "schems"], "a similar subcommand exists: 'schemes'");
    assert_hint(&["run", "--tmie", "3"], "a similar argument exists: '--time'");
    assert_hint(&["run", "--scheme", "simplectic"], "did you mean \"symplectic-euler\"?");
    assert_hint(&["run", "--contact", "coulom"], "a similar value exists: 'coulomb'");
    assert_hint(&["completions", "bsh"], "'bash'");
}

#[test]
fn characters_and_scenes() {
    assert_hint(&["run", "@humnoid"], "did you mean @humanoid?");
    assert_hint(&["info", "@towr-50"], "did you mean @tower-50?");
    assert_hint(&["info", "@tower"], "did you mean @tower-COUNT?");
    assert_hint(&["write", "dog"], "did you mean @dog?");
    assert_hint(&["run", "humanoid"], "did you mean @humanoid?");
    // What is like nothing gets no hint.
    assert!(!sapwood(&["run", "@xylophone"]).stderr.contains("did you mean"));
}

#[test]
fn keyframes() {
    assert_hint(
        &["run", "@slider-2-0.5", "--keyframe", "slidin"],
        "there is no keyframe \"slidin\": did you mean \"sliding\"?",
    );
    assert_hint(&["run", "@dog", "--keyframe", "stand"], "there is no keyframe \"stand\": the model has none");
}

#[test]
fn files() {
    let model = file("similar_files", "humanoid.xml", "<mujoco><asset><mesh file=\"whel.stl\"/></asset></mujoco>");
    let folder = model.parent().unwrap();
    fs::write(folder.join("wheel.stl"), "").unwrap();
    let text = |path: &str| folder.join(path).to_str().unwrap().to_owned();
    let hint = format!("did you mean {}?", text("humanoid.xml"));
    for wrong in ["humanod.xml", "humanoid", "Humanoid.mjcf.xml"] {
        assert_hint(&["run", &text(wrong)], &hint);
    }
    assert_hint(&["info", folder.to_str().unwrap()], &hint);
    // What a file refers to.
    assert_hint(&["info", &text("humanoid.xml")], &format!("did you mean {}?", text("wheel.stl")));
}
