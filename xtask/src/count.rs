//! `cargo xtask count`: instructions of a step, by function, of robots, a batch and falling piles.
//!
//! Callgrind counts: the same binary gives the same figures whatever else the machine does. It runs the paths for AVX2. Cases that are
//! models of others come from the Python packages in `.venv` and are left out where these are missing.
//!
//! `--write` keeps the totals in [`REFERENCE`]; every run prints its totals beside those.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::shell::Shell;

/// Totals of an earlier state: a line a case, its name and thousands of instructions a step.
const REFERENCE: &str = "benches/instructions.tsv";

/// Functions with a smaller share of a step are not listed.
const MIN_SHARE: f64 = 0.01;

/// What is counted.
struct Case {
    name: &'static str,
    program: Program,
    model: Model,
    /// Of the whole run: a batch's are those of its groups.
    steps: u64,
    /// What the program is told after the model.
    arguments: &'static [&'static str],
}

/// An example, and the mangled name of the function that makes its steps.
#[derive(Clone, Copy)]
struct Program {
    example: &'static str,
    step: &'static str,
}

enum Model {
    /// A file of a Python package.
    Package(&'static str),
    /// A scene of Sapwood's own.
    Scene(&'static str),
}

const MOTION: Program = Program { example: "motion_time", step: "*Simulation4step17h*" };
const FALL: Program = Program { example: "fall_time", step: "*Simulation4step17h*" };
const BATCH: Program = Program { example: "batch_time", step: "*Batch4step17h*" };

const CASES: [Case; 11] = [
    robot("humanoid", "gymnasium/envs/mujoco/assets/humanoid.xml"),
    robot("ant", "gymnasium/envs/mujoco/assets/ant.xml"),
    robot("half-cheetah", "gymnasium/envs/mujoco/assets/half_cheetah.xml"),
    robot("dm-humanoid", "dm_control/suite/humanoid.xml"),
    robot("cmu-humanoid", "dm_control/suite/humanoid_CMU.xml"),
    Case {
        name: "dog",
        program: MOTION,
        model: Model::Package("dm_control/suite/dog.xml"),
        steps: 300,
        arguments: &["300", "1.0", "coulomb", "1"],
    },
    Case {
        name: "batch",
        program: BATCH,
        model: Model::Package("gymnasium/envs/mujoco/assets/humanoid.xml"),
        steps: 8000,
        arguments: &["64", "500", "1.0", "4", "1"],
    },
    fall("125-boxes", "@clutter-box-125"),
    fall("125-spheres", "@clutter-sphere-125"),
    // What rests.
    Case { name: "tower-10", program: FALL, model: Model::Scene("@tower-10"), steps: 600, arguments: &["1", "600"] },
    Case {
        name: "humanoid-lies",
        program: MOTION,
        model: Model::Package("gymnasium/envs/mujoco/assets/humanoid.xml"),
        steps: 4000,
        arguments: &["4000", "0.0", "coulomb", "1"],
    },
];

/// Two worlds, 1000 steps each, under random controls.
const fn robot(name: &'static str, file: &'static str) -> Case {
    let arguments = &["1000", "1.0", "coulomb", "2"];
    Case { name, program: MOTION, model: Model::Package(file), steps: 2000, arguments }
}

/// One fall of 120 steps.
const fn fall(name: &'static str, scene: &'static str) -> Case {
    Case { name, program: FALL, model: Model::Scene(scene), steps: 120, arguments: &["1", "120"] }
}

/// Counts the named cases, or all.
pub fn count(shell: &Shell, arguments: &[&str]) -> Result<()> {
    let writes = arguments.contains(&"--write");
    let names: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--write").collect();
    for name in &names {
        if CASES.iter().all(|case| case.name != *name) {
            let known: Vec<_> = CASES.iter().map(|case| case.name).collect();
            bail!("no such case: {name}; there are {}", known.join(", "));
        }
    }
    if !shell.works("valgrind", &["--version"]) {
        bail!("valgrind was not found: install it (Debian: apt-get install valgrind)");
    }
    shell.run("cargo", &["build", "--release", "-p", "sapwood-sim", "-p", "sapwood-batch", "--examples"])?;
    check_that_lanes_are_inlined(&shell.path("target/release/examples").join(BATCH.example))?;
    let mut totals = read_totals(&shell.path(REFERENCE))?;
    let mut summary = Vec::new();
    for case in CASES.iter().filter(|case| names.is_empty() || names.contains(&case.name)) {
        let Some(model) = case.model.find(shell) else {
            println!("{}: left out, its package is not in .venv (cargo xtask python)", case.name);
            continue;
        };
        let functions = case.run(shell, &model)?;
        let thousands = functions.values().sum::<u64>() as f64 / case.steps as f64 / 1e3;
        print_functions(case, &functions, thousands);
        summary.push((case.name, thousands, totals.insert(case.name.into(), thousands)));
    }
    println!("\nthousands of instructions a step, and relative to {REFERENCE}");
    for (name, thousands, before) in summary {
        let ratio = before.map_or("new".into(), |before| format!("{:.3}", thousands / before));
        println!("{name:<14} {thousands:>10.1} {ratio:>8}");
    }
    if writes {
        let lines: Vec<_> = totals.iter().map(|(name, thousands)| format!("{name}\t{thousands:.1}\n")).collect();
        fs::write(shell.path(REFERENCE), lines.concat()).with_context(|| format!("{REFERENCE} cannot be written"))?;
    }
    Ok(())
}

impl Model {
    /// The argument that names it; none if its package is not installed.
    fn find(&self, shell: &Shell) -> Option<String> {
        match self {
            Model::Scene(name) => Some((*name).into()),
            Model::Package(file) => {
                let versions = fs::read_dir(shell.path(".venv/lib")).ok()?;
                let mut paths = versions.flatten().map(|version| version.path().join("site-packages").join(file));
                paths.find(|path| path.exists()).map(|path| path.display().to_string())
            }
        }
    }
}

impl Case {
    /// Instructions in steps by function, of all steps.
    fn run(&self, shell: &Shell, model: &str) -> Result<BTreeMap<String, u64>> {
        let program = readable_for_valgrind(&shell.path("target/release/examples").join(self.program.example))?;
        let counts = program.with_extension("counts");
        let status = Command::new("valgrind")
            .args(["--tool=callgrind", "--demangle=no", "--quiet"])
            .arg(format!("--toggle-collect={}", self.program.step))
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(&program)
            .arg(model)
            .args(self.arguments)
            .stdout(Stdio::null())
            .status()
            .context("valgrind cannot be started")?;
        if !status.success() {
            bail!("{}: valgrind ended with {status}", self.name);
        }
        Ok(by_function(&fs::read_to_string(&counts)?))
    }
}

/// An error where arithmetic of AVX-512 is calls: some function or closure that computes with lanes is not inlined into its phase, and takes
/// several times as long there. Valgrind does not see it, since it runs the paths for AVX2.
fn check_that_lanes_are_inlined(program: &Path) -> Result<()> {
    let symbols = Command::new("nm").arg(program).output().context("nm cannot be started: it comes with binutils")?;
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    let is_arithmetic = |name: &&str| {
        let operation = name.split_once("_mm512_").map(|(_, operation)| operation);
        // Numbers of a model are put into all lanes outside of steps.
        operation.is_some_and(|operation| !operation.starts_with("set1"))
    };
    let outside: Vec<_> = symbols.split_whitespace().filter(is_arithmetic).collect();
    if !outside.is_empty() {
        bail!("{} calls {}: expected them in line", program.display(), outside.join(", "));
    }
    Ok(())
}

/// A copy of a program in which Valgrind knows all instructions.
///
/// Valgrind 3.19 does not know `vmovq` from one of the upper eight registers to another (VEX `C5 79 D6`). `vmovapd` (`C5 79 29`) takes its
/// place: it has the same operands, and nothing looks at the upper half of what is moved.
fn readable_for_valgrind(program: &Path) -> Result<PathBuf> {
    let mut bytes = fs::read(program).with_context(|| format!("{} cannot be read", program.display()))?;
    for at in 0..bytes.len().saturating_sub(3) {
        let is_between_registers = bytes[at + 3] >= 0xc0;
        if bytes[at..at + 3] == [0xc5, 0x79, 0xd6] && is_between_registers {
            bytes[at + 2] = 0x29;
        }
    }
    let name = program.file_name().context("a program has a name")?;
    let copy = env::temp_dir().join(format!("sapwood-count-{}", std::process::id()));
    fs::create_dir_all(&copy)?;
    let copy = copy.join(name);
    fs::copy(program, &copy)?;
    fs::write(&copy, bytes)?;
    Ok(copy)
}

/// Sums a callgrind file by function, without what functions call.
fn by_function(counts: &str) -> BTreeMap<String, u64> {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut functions = BTreeMap::new();
    let mut function = String::new();
    let mut is_call = false;
    for line in counts.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            // `(12) name` where it is first met, `(12)` later.
            let (id, name) = name.split_once(' ').unwrap_or((name, ""));
            function = names.entry(id).or_insert_with(|| short(name)).clone();
        } else if let Some(name) = line.strip_prefix("cfn=") {
            if let Some((id, name)) = name.split_once(' ') {
                names.entry(id).or_insert_with(|| short(name));
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            // The line after `calls=` has what the function called took.
            let own = !std::mem::take(&mut is_call);
            let instructions = line.split_whitespace().nth(1).and_then(|count| count.parse::<u64>().ok());
            if let Some(instructions) = instructions.filter(|_| own) {
                *functions.entry(function.clone()).or_default() += instructions;
            }
        }
    }
    functions
}

/// A function's name without hash, and without the word by which lanes compile a phase for several registers.
fn short(mangled: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(mangled));
    match name.strip_suffix("::phase").and_then(|phase| phase.rsplit_once("::")) {
        Some((_, phase)) => format!("lanes: {phase}"),
        None => name,
    }
}

fn print_functions(case: &Case, functions: &BTreeMap<String, u64>, thousands: f64) {
    println!("\n{}: {thousands:.1} thousand instructions a step", case.name);
    let of_step = |count: u64| count as f64 / case.steps as f64 / 1e3;
    let mut rows: Vec<_> = functions.iter().map(|(name, count)| (of_step(*count), name)).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (own, name) in rows.into_iter().filter(|(own, _)| *own >= MIN_SHARE * thousands) {
        println!("{own:>10.2}  {name}");
    }
}

fn read_totals(path: &Path) -> Result<BTreeMap<String, f64>> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(BTreeMap::new()) };
    let total = |line: &str| {
        let (name, thousands) =
            line.split_once('\t').with_context(|| format!("{line}: expected a name and a number"))?;
        Ok((name.into(), thousands.parse().with_context(|| format!("{thousands}: expected a number"))?))
    };
    text.lines().map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::by_function;

    #[test]
    fn instructions_are_summed_by_function_without_those_of_calls() {
        let counts = "fn=(1) _ZN1a5first17h0123456789abcdefE\n10 5\n+1 6\ncfn=(2) _ZN1a6second17h0123456789abcdefE\n\
                      calls=1 20\n12 100\n\nfn=(2)\n20 40\n* 60\n\nfn=(1)\nfi=(7) other.rs\n3 1\n";
        let functions = by_function(counts);
        assert_eq!(functions["a::first"], 12);
        assert_eq!(functions["a::second"], 100);
    }
}
