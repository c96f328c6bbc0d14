//! `sapwood bench`: the suites that need no other engine; those beside others are run by the Python package.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ::bench::accuracy::{self, Figure, RoundTrip};
use ::bench::figures::{self, Figures};
use ::bench::speed::{self, Effort, Measured};
use ::bench::{Outcome, Row, Subject, cases, paper, plot};
use anyhow::{Context, Result};
use models::characters::Character;
use motion::tracking::Target;

use crate::BAD_INPUT;
use crate::arguments::{BenchArguments, MeasureArguments, PeerSuite, Suite};
use crate::console::{self, print, print_beside};
use crate::python::{self, Module};
use crate::signals::Signals;

/// Simulated time of a tracking run, s.
const SECONDS: f64 = 5.0;
const QUICK_SECONDS: f64 = 0.2;
/// How often somebody looks whether Ctrl-C came.
const GLANCE: Duration = Duration::from_millis(50);

/// Measures a suite, prints its table, and writes what was asked for.
pub fn bench(arguments: &BenchArguments) -> Result<u8> {
    let (name, forwarded) = match &arguments.suite {
        Suite::Spd(arguments) => return measure(arguments, spd),
        Suite::Characters(arguments) => return measure(arguments, characters),
        Suite::Figures(arguments) => return measure(arguments, figures),
        Suite::Peers(PeerSuite::Step(rest)) => ("step", rest),
        Suite::Peers(PeerSuite::Dynamics(rest)) => ("dynamics", rest),
        Suite::Peers(PeerSuite::Contact(rest)) => ("contact", rest),
        Suite::Peers(PeerSuite::Clutter(rest)) => ("clutter", rest),
        Suite::Peers(PeerSuite::Deformables(rest)) => ("deformables", rest),
        Suite::Peers(PeerSuite::Schemes(rest)) => ("schemes", rest),
        Suite::Peers(PeerSuite::Motion(rest)) => ("motion", rest),
        Suite::Peers(PeerSuite::Models(rest)) => ("models", rest),
        Suite::Peers(PeerSuite::Starts(rest)) => ("starts", rest),
        Suite::Peers(PeerSuite::Strangers(rest)) => ("strangers", rest),
        Suite::Peers(PeerSuite::Longest(rest)) => ("longest", rest),
        Suite::Peers(PeerSuite::Batch(rest)) => ("batch", rest),
        Suite::Peers(PeerSuite::Imitation(rest)) => ("imitation", rest),
        Suite::Peers(PeerSuite::InverseKinematics(rest)) => ("inverse-kinematics", rest),
        Suite::Peers(PeerSuite::Gpu(rest)) => ("gpu", rest),
    };
    let module = Module {
        task: &format!("bench {name}"),
        name: "sapwood.bench",
        check: "import sapwood.bench",
        advice: &format!(
            "in the repository of Sapwood: python3 -m venv .venv && .venv/bin/pip install '.[test]'\n\
             then: SAPWOOD_PYTHON=.venv/bin/python sapwood bench {name}"
        ),
    };
    python::run(&module, &[&[name.into()], &forwarded.arguments[..]].concat())
}

/// What has been measured, for whoever writes it: the suite at its end, or Ctrl-C before.
#[derive(Clone, Debug)]
struct Results {
    rows: Arc<Mutex<Vec<Row>>>,
    json: Option<std::path::PathBuf>,
}

impl Results {
    fn add(&self, rows: impl IntoIterator<Item = Row>) {
        self.rows().extend(rows);
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        // Rows are whole whatever ended the thread that added some.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Text for people: beside the rows, where these go to standard output.
    fn say(&self, text: &str) {
        if self.is_printed() { print_beside(text) } else { print(text) }
    }

    fn is_printed(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    fn put(&self, path: &Path, text: &str) -> Result<()> {
        support::write_whole(path, text.as_bytes())?;
        self.say(&format!("wrote {}\n", path.display()));
        Ok(())
    }

    /// Writes the rows to where they were asked for.
    fn write(&self, rows: &[Row]) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        let json = serde_json::to_string_pretty(rows)? + "\n";
        if self.is_printed() {
            print(&json);
            return Ok(());
        }
        self.put(path, &json)
    }

    /// Has Ctrl-C and SIGTERM end the command with what there is until then.
    fn write_when_interrupted(&self) -> Result<()> {
        let (results, signals) = (self.clone(), Signals::listen().context("signals")?);
        thread::spawn(move || {
            let (signal, code) = loop {
                match signals.came() {
                    Some(came) => break came,
                    None => thread::sleep(GLANCE),
                }
            };
            // Held until the end: nothing is added, and nobody else writes.
            let rows = results.rows();
            let written = results.write(&rows);
            console::error(format!("interrupted by {signal}: {} figures were measured", rows.len()));
            if let Err(error) = written {
                console::error(format!("{error:#}"));
                exit(BAD_INPUT.into());
            }
            exit(code.into());
        });
        Ok(())
    }
}

fn measure(arguments: &MeasureArguments, suite: impl FnOnce(&MeasureArguments, &Results) -> Result<()>) -> Result<u8> {
    // A folder that cannot be made should not wait for the end of a measurement.
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder).with_context(|| format!("--out {}: cannot make this folder", folder.display()))?;
    }
    let results = Results { rows: Arc::default(), json: arguments.json.clone() };
    if let Some(path) = results.json.as_deref().filter(|_| !results.is_printed()) {
        support::check_place(path)?;
    }
    results.write_when_interrupted()?;
    suite(arguments, &results)?;
    let rows = results.rows();
    results.write(&rows)?;
    Ok(0)
}

fn spd(arguments: &MeasureArguments, results: &Results) -> Result<()> {
    let effort = if arguments.quick { Effort::QUICK } else { Effort::FULL };
    let mut table = Vec::new();
    results.say(&frames_header());
    for subject in cases::all(arguments.clips.as_deref())? {
        let measured = speed::measure(&subject, effort).with_context(|| subject.name())?;
        results.say(&frames_lines(&measured));
        results.add(measured.rows());
        table.push(measured);
    }
    results.say(&extra_table(&table));
    if let Some(folder) = &arguments.out {
        results.put(&folder.join("frames_per_second.svg"), &plot::frames_per_second(&table)?)?;
    }
    Ok(())
}

fn frames_header() -> String {
    let mut text = String::from("frames per second (the paper's table 2 below ours), MABA against the others\n");
    let _ = write!(text, "{:<20}", "");
    for control in speed::CONTROLS {
        let _ = write!(text, "{:>15}", control.title());
    }
    text.push_str("   MABA/DF  MABA/SF  at equal contact  contacts  iterations  MABA in the air\n");
    text
}

fn frames_lines(row: &Measured) -> String {
    let rates: Vec<f64> = row.methods.iter().map(speed::MethodTime::frames_per_second).collect();
    let mut text = format!("{:<20}", row.name());
    for rate in &rates {
        let _ = write!(text, "{rate:>15.0}");
    }
    let maba = row.maba().frames_per_second();
    let [dense, sparse] = [0, 2].map(|k| maba / rates[k]);
    let _ = write!(text, "{dense:>10.2}{sparse:>9.2}");
    let equal = [0, 2].map(|k| format!("{:.2} {}", maba * row.at_equal_contact(&row.methods[k]), ["DF", "", "SF"][k]));
    let _ = write!(text, "{:>18}", equal.join(", "));
    let air = 1.0 / row.in_the_air.median();
    let _ = writeln!(text, "{:>10.1}{:>12.2}{air:>17.0}", row.contacts, row.iterations);
    if let Some(p) = paper::frames_per_second(row.character, &row.motion) {
        let _ = write!(text, "{:<20}{:>15}{:>15}{:>15}{:>15}", "", p.dense, p.pcg, p.sparse, p.maba);
        let (dense, sparse) = (p.maba / p.dense, p.maba / p.sparse);
        let _ =
            writeln!(text, "{dense:>10.2}{sparse:>9.2}             ours over the paper's MABA: {:.2}", maba / p.maba);
    }
    text
}

fn extra_table(table: &[Measured]) -> String {
    let mut text = String::from(
        "\nextra time of Stable PD, % of a frame (the paper's table 3 in brackets, a mean over motions)\n",
    );
    for row in table {
        let _ = write!(text, "{:<20}", row.name());
        let printed = paper::extra_time(row.character);
        for (k, method) in row.methods.iter().enumerate() {
            // Of the paper: DF, SF, MABA.
            let printed = printed.and_then(|p| [Some(p[0]), None, Some(p[1]), Some(p[2])][k]);
            let printed = printed.map(|p| format!(" ({p})")).unwrap_or_default();
            let _ =
                write!(text, "{:>24}", format!("{} {:.1}{printed}", method.control.title(), 100.0 * method.extra()));
        }
        text.push('\n');
    }
    text
}

fn characters(arguments: &MeasureArguments, results: &Results) -> Result<()> {
    let seconds = if arguments.quick { QUICK_SECONDS } else { SECONDS };
    let clips = arguments.clips.as_deref();
    let dog = || Subject::gait(Character::Dog, "canter");
    let figures = [
        ("humanoid", cases::runner(clips)?, "right_ankle"),
        ("humanoid_air", cases::runner(clips)?.in_the_air()?, "right_ankle"),
        ("dog", dog()?, accuracy::TOE),
        ("dog_air", dog()?.in_the_air()?, accuracy::TOE),
    ];
    for (name, subject, effector) in figures {
        let figure = Figure::measure(&subject, effector, Target::End, &accuracy::CONTROLS, seconds)?;
        results.say(&figure_table(&figure));
        if let Some(folder) = &arguments.out {
            results.put(&folder.join(format!("tracking_error_{name}.svg")), &plot::tracking_error(&figure)?)?;
        }
        results.add(figure.rows(accuracy::SUITE));
    }
    let lines = accuracy::round_trip(seconds)?;
    results.say(&round_trip_table(&lines));
    results.add(lines.iter().flat_map(RoundTrip::rows));
    Ok(())
}

fn figures(arguments: &MeasureArguments, results: &Results) -> Result<()> {
    let effort = if arguments.quick { figures::Effort::QUICK } else { figures::Effort::FULL };
    let done = |what: &str, rows: Vec<Row>| {
        results.add(rows);
        print_beside(&format!("measured: {what}\n"));
    };
    let measured = Figures::measure(arguments.clips.as_deref(), effort, done)?;
    results.say(&measured.page());
    if let Some(folder) = &arguments.out {
        results.put(&folder.join("figure1.svg"), &plot::largest_steps(&measured.figure1)?)?;
        for ((file, name), curves) in
            [("figure5.svg", "Figure 5"), ("figure6.svg", "Figure 6")].iter().zip(&measured.curves)
        {
            results.put(&folder.join(file), &plot::targets(name, curves)?)?;
        }
        results.put(&folder.join("figures.md"), &measured.page())?;
    }
    Ok(())
}

fn figure_table(figure: &Figure) -> String {
    let Figure { case, effector, target, .. } = figure;
    let mut text =
        format!("\ntracking error, {case}: {effector} seen from the root, target {}\n{:<18}", target.name(), "");
    for rate in accuracy::RATES {
        let _ = write!(text, "{:>18}", format!("1/{rate} s"));
    }
    text.push('\n');
    for (control, outcomes) in figure.controls.iter().zip(&figure.outcomes) {
        let _ = writeln!(text, "{:<18}{}", control.title(), outcome_cells(outcomes));
    }
    text
}

fn round_trip_table(lines: &[RoundTrip]) -> String {
    let mut text = format!("\ndog canter, {}, by the masses of the toes\n{:<52}", accuracy::TOE, "");
    for rate in accuracy::ROUND_TRIP_RATES {
        let _ = write!(text, "{:>18}", format!("1/{rate} s"));
    }
    text.push('\n');
    for line in lines {
        let _ = writeln!(text, "x {:<5} {:<44}{}", line.toes, line.what, outcome_cells(&line.outcomes));
    }
    text
}

fn outcome_cells(outcomes: &[Outcome]) -> String {
    let cell = |outcome: &Outcome| match outcome {
        Outcome::Tracked(error) => format!("{:.3} mm", 1e3 * error),
        Outcome::Diverged(time) => format!("lost at {time:.2} s"),
    };
    outcomes.iter().map(|outcome| format!("{:>18}", cell(outcome))).collect()
}
