//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use sim::{ContactLaw, Scheme};

use crate::source::{Named, Source, named, source};

/// Physically right motion of robots and characters, in contact with the world.
#[derive(Debug, Parser)]
#[command(name = "sapwood", version, about, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0; 1 the simulation failed, 130 Ctrl-C or 143 SIGTERM ended it (what was computed until then is written); 2 bad input, \
     or a file that cannot be written (files that were there before are kept).";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a model, print a summary, and write the motion.
    #[command(after_help = EXIT_CODES)]
    Run(RunArguments),
    /// Say what was read from a model, and what was ignored or approximated.
    Info(InfoArguments),
    /// Write a character or scene as an MJCF file.
    #[command(after_help = EXIT_CODES)]
    Write(WriteArguments),
    /// Measure: a suite of benchmarks, with its figures as a table, JSON and pictures.
    #[command(after_help = EXIT_CODES)]
    Bench(BenchArguments),
}

/// How a model file is read.
#[derive(Args, Debug)]
pub struct ReadArguments {
    /// A folder in which package:// addresses of URDF files are looked up (may be repeated).
    #[arg(long, value_name = "DIR")]
    pub package_path: Vec<PathBuf>,
    /// Let the root of a URDF robot move freely instead of fixing it to the world.
    #[arg(long)]
    pub floating_base: bool,
}

#[derive(Args, Debug)]
pub struct RunArguments {
    /// MJCF or URDF file, or @humanoid, @dog, @snake36, …, or a scene: @clutter-box-125, @tower-50, @stewart, … (@ alone
    /// lists them); without it, a humanoid falls among boxes.
    #[arg(value_parser = source)]
    pub model: Option<Source>,
    /// Simulated time, s.
    #[arg(long, value_name = "S", default_value_t = 5.0, allow_negative_numbers = true, value_parser = duration)]
    pub time: f64,
    /// Time step, s [default: the model's own].
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub dt: Option<f64>,
    /// Error that may be made per second, in m, rad and relative velocities: steps are then as long as it lets them be.
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true, value_parser = positive)]
    pub accuracy: Option<f64>,
    /// Let islands sleep that have rested for this long.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub sleep_after: Option<f64>,
    /// Time-stepping scheme: symplectic-euler, bilinear, midpoint, implicit-euler, explicit-euler, or theta_q,theta_v,theta_vq.
    #[arg(long, value_name = "SCHEME", default_value = "bilinear", value_parser = scheme)]
    pub scheme: Scheme,
    /// Friction law: sap, lagged, or coulomb.
    #[arg(long, value_name = "LAW", default_value = "coulomb", value_parser = contact_law)]
    pub contact: ContactLaw,
    /// Factorisations that an island may spend on Coulomb's law in a step, or "unlimited". Then the step takes the best friction
    /// found so far; the summary counts such steps.
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = budget)]
    pub factorization_budget: Budget,
    /// Add a level ground at this height, m: URDF files have none. Characters have one at 0, which this replaces;
    /// scenes keep theirs.
    #[arg(long, value_name = "Z", allow_negative_numbers = true, value_parser = height)]
    pub ground: Option<f64>,
    /// Keyframe of the model to start from.
    #[arg(long, value_name = "NAME")]
    pub keyframe: Option<String>,
    /// Folder for trajectory.npz, summary.json, energy.svg and replay.html [default: nothing is written].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Perturb the start: joint coordinates by up to 0.05 rad or 0.01 m, velocities by up to 0.1 rad/s or m/s.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads; the result is the same for any number.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Frames to record per second of simulated time, rounded to whole steps.
    #[arg(long, value_name = "N", default_value_t = 60.0, allow_negative_numbers = true, value_parser = positive)]
    pub frames_per_second: f64,
    #[command(flatten)]
    pub read: ReadArguments,
}

#[derive(Args, Debug)]
pub struct InfoArguments {
    /// MJCF or URDF file, or a character or scene: @humanoid, @tower-50, … (@ alone lists them).
    #[arg(value_parser = source)]
    pub model: Source,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub read: ReadArguments,
}

#[derive(Args, Debug)]
pub struct WriteArguments {
    /// A character or scene: @humanoid, @clutter-box-125, … (@ alone lists them).
    #[arg(value_name = "@NAME", value_parser = named)]
    pub model: Named,
    /// The file [default: standard output].
    pub file: Option<PathBuf>,
    /// Leave out a character's ground.
    #[arg(long)]
    pub no_ground: bool,
    /// Let bodies of the character that are no neighbours touch each other.
    #[arg(long)]
    pub self_collision: bool,
}

#[derive(Args, Debug)]
#[command(subcommand_value_name = "spd|characters|step|dynamics|contact|clutter|schemes|motion|starts|batch")]
pub struct BenchArguments {
    /// What to measure.
    #[command(subcommand)]
    pub suite: Suite,
}

/// The suites.
#[derive(Debug, Subcommand)]
pub enum Suite {
    /// Frames per second and extra time of Stable PD by five methods, five characters and their motions.
    Spd(MeasureArguments),
    /// Tracking error against the time step, and what precision and contact do to a controller's force.
    Characters(MeasureArguments),
    #[command(flatten)]
    Peers(PeerSuite),
}

/// The suites beside other engines, all of which have a Python package or are built by it: they run from the Python
/// package `sapwood`, which takes their arguments as they are.
#[derive(Debug, Subcommand)]
pub enum PeerSuite {
    /// A step of falling and lying models beside MuJoCo (needs the Python package).
    Step(Forwarded),
    /// Dynamics of trees beside Pinocchio (needs the Python package).
    Dynamics(Forwarded),
    /// Friction laws beside MuJoCo and Drake (needs the Python package).
    Contact(Forwarded),
    /// Piles, stacks and arms beside MuJoCo, Drake and Rapier (needs the Python package).
    Clutter(Forwarded),
    /// Order, energy and cost of the time-stepping schemes beside MuJoCo's and Drake's (needs the Python package).
    Schemes(Forwarded),
    /// A step of robots that move by random controls beside MuJoCo (needs the Python package).
    Motion(Forwarded),
    /// Characters and robots from perturbed starts beside MuJoCo (needs the Python package).
    Starts(Forwarded),
    /// A step of one of many worlds beside MuJoCo's rollout and batch (needs the Python package).
    Batch(Forwarded),
}

/// What is passed on, `--help` too.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Forwarded {
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct MeasureArguments {
    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Folder for pictures (SVG) [default: none are written].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Folder with DeepMimic's humanoid3d_walk.txt, _run, _cartwheel and _backflip; without it the humanoid only walks.
    #[arg(long, value_name = "DIR")]
    pub clips: Option<PathBuf>,
    /// Measure briefly, to see that it works: the figures are not to be quoted.
    #[arg(long)]
    pub quick: bool,
}

fn number(text: &str, fits: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    text.parse().ok().filter(|&x: &f64| x.is_finite() && fits(x)).ok_or_else(|| format!("expected {expected}"))
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0, "a finite number above 0")
}

fn height(text: &str) -> Result<f64, String> {
    number(text, |_| true, "a finite number of metres")
}

fn duration(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 0.0, "a finite number of seconds, 0 or more")
}

/// A number of factorisations; none is unlimited.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub Option<usize>);

fn budget(text: &str) -> Result<Budget, String> {
    match text {
        "unlimited" => Ok(Budget(None)),
        _ => {
            text.parse().map(|n| Budget(Some(n))).map_err(|_| "expected a whole number, 0 or more, or unlimited".into())
        }
    }
}

fn scheme(text: &str) -> Result<Scheme, String> {
    text.parse()
}

fn contact_law(text: &str) -> Result<ContactLaw, String> {
    match text {
        "sap" => Ok(ContactLaw::Sap),
        "lagged" => Ok(ContactLaw::Lagged),
        "coulomb" => Ok(ContactLaw::Coulomb),
        _ => Err("no such friction law; available: sap, lagged, coulomb".into()),
    }
}
