//! Ctrl-C, SIGTERM, SIGHUP, places that are no files, and limits of file sizes: what is written, and what is kept.
#![cfg(unix)]

#[path = "suite/common/mod.rs"]
mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{folder, sapwood};
use serde_json::Value;

const SAPWOOD: &str = env!("CARGO_BIN_EXE_sapwood");

fn summary(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap()
}

fn names(out: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Sends a signal into the middle of a long run: it ends at once with this code and writes what there is.
fn ends(signal: &str, code: i32) {
    let out = folder(&format!("ends_by_{signal}"));
    let mut child = Command::new(SAPWOOD)
        .args(["run", "@clutter-box-125", "--dt", "0.005", "--time", "100000", "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The heading comes when signals are listened to.
    let mut heading = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut heading).unwrap();
    sleep(Duration::from_millis(700));
    let sent = Instant::now();
    assert!(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success());
    let text = stdout.lines().map(Result::unwrap).collect::<Vec<_>>().join("\n");
    let output = child.wait_with_output().unwrap();
    println!("{signal}: {:?} until everything is written", sent.elapsed());
    // A step is stopped within milliseconds; on a busy machine files take longer.
    assert!(sent.elapsed() < Duration::from_secs(5));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert!(errors.contains(&signal.to_string()) && errors.contains("steps were computed"), "{errors}");
    assert!(text.contains("trajectory.npz"), "{text}");
    let summary = summary(&out);
    assert_eq!(summary["completed"], false);
    assert!(summary["error"]["message"].as_str().unwrap().contains(signal), "{summary}");
    assert_eq!(summary["error"]["kind"], "interrupted");
    assert!(summary["steps"].as_u64().unwrap() > 0);
    assert!(!names(&out).iter().any(|name| name.ends_with(".part")));
}

#[test]
fn ctrl_c_ends_a_run_and_writes_what_there_is() {
    ends("INT", 130);
}

/// Figures that were measured until then are written.
#[test]
fn ctrl_c_ends_a_suite_and_writes_what_was_measured() {
    let json = folder("bench_interrupted").join("rows.json");
    let mut child = Command::new(SAPWOOD)
        .args(["bench", "spd", "--json"])
        .arg(&json)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The full measurement of the other five cases takes many seconds.
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(stdout.any(|line| line.starts_with("humanoid walk")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(stdout.any(|line| line.starts_with("wrote ")));
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("interrupted by Ctrl-C (SIGINT)"), "{errors}");
    let rows: Vec<Value> = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let has = |case: &str| rows.iter().any(|row| row["case"] == case);
    assert!(has("humanoid walk") && !has("snake195 slither"), "{rows:?}");
}

#[test]
fn sigterm_ends_a_run_and_writes_what_there_is() {
    ends("TERM", 143);
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_that_goes_away_ends_a_run_and_writes_what_there_is() {
    if ignores_hang_ups() {
        eprintln!("hang-ups are ignored here, as under nohup: not tried");
        return;
    }
    ends("HUP", 129);
}

/// Whether this process ignores SIGHUP, and with it those that it starts.
#[cfg(target_os = "linux")]
fn ignores_hang_ups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

/// `nohup` has a run go on.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_is_ignored_stays_so() {
    let out = folder("nohup");
    let script = "trap '' HUP; exec \"$0\" run @clutter-box-125 --dt 0.005 --time 1 --out \"$1\"";
    let mut child = Command::new("sh").args(["-c", script, SAPWOOD]).arg(&out).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    let _: Vec<_> = stdout.lines().collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(summary(&out)["completed"], true);
}

/// A folder, a pipe, a device, a link to one of them in the place of an output: an error before the run, which would take hours.
#[test]
fn places_that_are_no_files_are_refused_before_the_run() {
    let pipe = folder("places_pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (name, place) in [
        ("trajectory.npz", pipe.as_path()),
        ("replay.html", Path::new("/dev/full")),
        ("energy.svg", Path::new("/tmp")),
        ("summary.json", Path::new("/dev/null")),
    ] {
        let out = folder("places");
        std::os::unix::fs::symlink(place, out.join(name)).unwrap();
        let hours = ["run", "@humanoid", "--time", "1e7", "--out"].map(String::from);
        let outcome = sapwood(&[&hours[..], &[out.display().to_string()]].concat());
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        assert!(outcome.stderr.contains(&format!("{name} is there and is no file")), "{outcome:#?}");
        assert_eq!(names(&out), [name]);
    }
    let folder = pipe.parent().unwrap();
    for (words, what) in [
        (&["bench", "spd", "--json"][..], "a folder"),
        (&["bench", "spd", "--json"], "a pipe"),
        (&["write", "@humanoid"], "a folder"),
        (&["write", "@humanoid"], "a pipe"),
    ] {
        let place = if what == "a pipe" { &pipe } else { folder };
        let outcome = sapwood(&[words, &[place.to_str().unwrap()]].concat());
        assert_eq!(outcome.code, 2, "{outcome:#?}");
        assert!(outcome.stderr.contains(&format!("cannot be written: it is {what}")), "{outcome:#?}");
    }
    // What a shell hands on is written to.
    let outcome = sapwood(&["write", "@humanoid", "/dev/stdout"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("</mujoco>"), "{outcome:#?}");
}

#[test]
fn an_energy_that_is_no_number_fails() {
    let body = |joint: &str| {
        format!(
            "<mujoco><option gravity='0 0 -1e9'/><worldbody><body pos='0 0 1e7'>{joint}<inertial pos='0 0 0' mass='1e300' \
             diaginertia='1e300 1e300 1e300'/></body></worldbody></mujoco>"
        )
    };
    let file = common::file("energy_overflow", "heavy.xml", &body("<joint type='slide' axis='0 0 1'/>"));
    let outcome = sapwood(&["run", file.to_str().unwrap(), "--time", "0.01", "--json"]);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(outcome.stderr.contains("the energy is"), "{outcome:#?}");
}

/// A limit of file sizes stands for a disk that is full: it needs no rights.
#[test]
fn files_that_cannot_be_written_leave_those_that_were_there() {
    let out = folder("full_disk");
    let run = |limit: &str| {
        let script = format!("{limit} exec \"$0\" run @humanoid --time 1 --out \"$1\"");
        Command::new("sh").args(["-c", &script, SAPWOOD]).arg(&out).output().unwrap()
    };
    assert!(run("").status.success());
    let before: Vec<_> = names(&out).iter().map(|name| fs::read(out.join(name)).unwrap()).collect();
    let limited = run("ulimit -f 16;");
    let errors = String::from_utf8(limited.stderr).unwrap();
    assert_eq!(limited.status.code(), Some(2), "{errors}");
    for words in ["cannot be written", "File too large", "kept"] {
        assert!(errors.contains(words), "no {words:?} in {errors}");
    }
    let after: Vec<_> = names(&out).iter().map(|name| fs::read(out.join(name)).unwrap()).collect();
    assert!(before == after, "{:?}", names(&out));
}

#[test]
fn write_keeps_the_old_file_too() {
    let file = folder("full_disk_write").join("humanoid.xml");
    fs::write(&file, "old").unwrap();
    let script = "ulimit -f 1; exec \"$0\" write @humanoid \"$1\"";
    let output = Command::new("sh").args(["-c", script, SAPWOOD]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(names(file.parent().unwrap()), ["humanoid.xml"]);
}
