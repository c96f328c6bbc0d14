//! `sapwood view`, which the Python package does; its side has tests in python/tests/test_viewer.py.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{file, sapwood, sapwood_with};

/// An interpreter that has the package, and tells what it is asked.
#[test]
fn the_viewer_gets_all_options() {
    let python = file("view_python", "python", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 7\n");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let view =
        |arguments: &[&str]| sapwood_with("SAPWOOD_PYTHON", python.as_os_str(), &[&["view"], arguments].concat());
    let outcome = view(&["@dog"]);
    let defaults = "-m sapwood.viewer --scheme=bilinear --contact=coulomb --factorization-budget=100 --threads=1 \
                    --controls=sliders --seed=0 --speed=1 --port=8080 --host=127.0.0.1 -- @dog";
    assert_eq!((outcome.code, outcome.stdout.trim_end()), (7, defaults), "{outcome:#?}");
    let options = "--package-path=/robots --floating-base --ground=-0.6 --keyframe=up --dt=0.002 --accuracy=0.001 --scheme=0.5,1,1 \
                   --contact=sap --factorization-budget=unlimited --sleep-after=1 --threads=2 --controls=random --seed=3 --speed=0.5 \
                   --port=9000 --host=0.0.0.0 --no-browser";
    let words: Vec<&str> = options.split_whitespace().collect();
    let outcome = view(&[&words[..], &["robot.urdf"]].concat());
    assert_eq!(outcome.stdout.trim_end(), format!("-m sapwood.viewer {} -- robot.urdf", words.join(" ")));
}

#[test]
fn what_is_missing_is_said() {
    for python in ["no-such-interpreter", "/bin/false"] {
        let outcome = sapwood_with("SAPWOOD_PYTHON", python.as_ref(), &["view", "@dog"]);
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        for part in ["view", python, "pip install 'sapwood[viewer]'", "SAPWOOD_PYTHON"] {
            assert!(outcome.stderr.contains(part), "no {part:?} in {outcome:#?}");
        }
    }
    assert!(sapwood(&["view"]).stderr.contains("<MODEL>"));
}
