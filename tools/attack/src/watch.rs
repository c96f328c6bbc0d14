//! The worker, and the process that watches it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::seeds::Corpus;
use crate::{Arguments, case, outcome};

/// Time of the processor that a case may take, s.
const CASE_LIMIT: f64 = 5.0;

/// A case that takes so long and does nothing waits for something that never comes.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

/// How often a case's time is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// After so many findings there is enough to do.
const MAX_FINDINGS: usize = 20;

/// The worker: runs case after case and prints the number of each before it begins, then what became of it.
pub fn work(arguments: &Arguments, corpus: &Corpus) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for number in arguments.first.. {
        writeln!(out, "case {number}")?;
        out.flush()?;
        let outcome = case::run(arguments.seed, number, corpus, &arguments.out)?;
        writeln!(out, "done {outcome}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of the cases.
#[derive(Default)]
struct Tally {
    cases: u64,
    loaded: u64,
    /// The places of panics, and what else was found.
    findings: BTreeSet<String>,
}

/// Runs workers for as long as `time`; failure if there was a finding.
pub fn watch(arguments: &Arguments, time: Duration) -> Result<ExitCode> {
    let end = Instant::now() + time;
    let (mut first, mut tally) = (arguments.first, Tally::default());
    while Instant::now() < end && tally.findings.len() < MAX_FINDINGS {
        let Some((number, what)) = run_worker(arguments, first, end, &mut tally)? else { break };
        // The same panic in many cases is one finding.
        let place = what.lines().find(|line| line.contains("panicked at"));
        let place = place.and_then(|line| line.split_once("panicked at")).map_or(&*what, |(_, place)| place);
        if tally.findings.insert(place.into()) {
            report(arguments, number, &what)?;
        }
        first = number + 1;
    }
    let Tally { cases, loaded, findings } = tally;
    let (seed, count) = (arguments.seed, findings.len());
    println!("files and states: seed {seed}, {cases} cases, {loaded} loaded and simulated, {count} different findings");
    Ok(if count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one worker to the end, or to a finding: the number of its case and what happened.
fn run_worker(arguments: &Arguments, first: u64, end: Instant, tally: &mut Tally) -> Result<Option<(u64, String)>> {
    let errors = arguments.out.join("worker.log");
    let mut worker = Command::new(std::env::current_exe()?)
        .args(["--worker", "--seed", &arguments.seed.to_string(), "--first", &first.to_string()])
        .arg("--packages")
        .arg(&arguments.packages)
        .arg("--out")
        .arg(&arguments.out)
        .stdout(Stdio::piped())
        .stderr(fs::File::create(&errors)?)
        .spawn()
        .context("the worker cannot be started")?;
    let lines = lines_of(&mut worker)?;
    let mut current = Case::new(first, &worker);
    let finding = loop {
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(line) => match line.split_once(' ') {
                Some(("case", number)) => current = Case::new(number.parse()?, &worker),
                Some(("done", outcome)) => {
                    tally.cases += 1;
                    tally.loaded += u64::from(outcome == outcome::SIMULATED);
                }
                _ => {}
            },
            Err(RecvTimeoutError::Timeout) => {
                if let Some(what) = current.overdue(&worker) {
                    break Some(what);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = worker.wait()?;
                let log = fs::read_to_string(&errors).unwrap_or_default();
                break Some(format!("the process ended ({status})\n{}", last_words(&log)));
            }
        }
        if Instant::now() >= end {
            break None;
        }
    };
    // It may have ended by itself.
    let _ = worker.kill();
    worker.wait()?;
    Ok(finding.map(|what| (current.number, what)))
}

fn lines_of(worker: &mut Child) -> Result<Receiver<String>> {
    let out = worker.stdout.take().context("no output of the worker")?;
    let (send, receive) = channel();
    std::thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    Ok(receive)
}

/// A case that runs.
struct Case {
    number: u64,
    start: Instant,
    processor_at_start: f64,
    /// Since when no thread of the worker has wanted a processor.
    idle_since: Instant,
}

impl Case {
    fn new(number: u64, worker: &Child) -> Self {
        let (start, processor_at_start) = (Instant::now(), processor_time(worker.id()).unwrap_or(0.0));
        Self { number, start, processor_at_start, idle_since: start }
    }

    /// What is wrong with it, if it takes too long. On a busy machine the time of the processor counts, not that of the
    /// clock.
    fn overdue(&mut self, worker: &Child) -> Option<String> {
        let waited = self.start.elapsed();
        let computed = processor_time(worker.id()).map_or(waited.as_secs_f64(), |now| now - self.processor_at_start);
        if computed > CASE_LIMIT {
            return Some(format!("it takes longer than {CASE_LIMIT} s"));
        }
        if wants_processor(worker.id()) {
            self.idle_since = Instant::now();
        }
        (self.idle_since.elapsed() > IDLE_LIMIT).then(|| format!("it waits for longer than {} s", IDLE_LIMIT.as_secs()))
    }
}

/// Whether a thread of a process would run if it got a processor, of which a busy machine may have none for long: that is no waiting.
fn wants_processor(process: u32) -> bool {
    let mut threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.any(|thread| {
        let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
    })
}

/// Seconds that a process has computed; none where the system does not say.
fn processor_time(process: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may contain blanks. Times are in hundredths of a second.
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || words.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// The end of what a worker said before it died, without the backtrace.
fn last_words(log: &str) -> String {
    let lines: Vec<&str> = log.lines().take_while(|line| !line.starts_with("stack backtrace")).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}

/// Says what was found, keeps the files of the case, and says how to repeat it.
fn report(arguments: &Arguments, number: u64, what: &str) -> Result<()> {
    let kept = arguments.out.join(format!("seed-{}-case-{number}", arguments.seed));
    fs::create_dir_all(&kept)?;
    for entry in fs::read_dir(case::folder(&arguments.out))? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, kept.join(name))?;
        }
    }
    let Arguments { seed, .. } = arguments;
    println!("FINDING: seed {seed}, case {number}: {what}");
    println!("  files: {}\n  again: cargo xtask attack --seed {seed} --case {number}", kept.display());
    Ok(())
}
