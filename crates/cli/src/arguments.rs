//! The command line.

mod help;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;
use motion::Axes;
use motion::tracking::{Control, Target};
use sim::{ContactLaw, Scheme};

use crate::completions;
use crate::source::{Named, Source, named, source};
pub use values::contact_name;
use values::{Budget, SchemeParser, axes, budget, contact_law, duration, gains, height, named_values, pair, positive};

/// Physically right motion of robots and characters, in contact with the world.
///
/// A model goes in, as MJCF, URDF or SDFormat, and a motion comes out. Units are SI, angles radians.
#[derive(Debug, Parser)]
#[command(name = "sapwood", version, styles = help::STYLES, after_help = help::SAPWOOD, max_term_width = 120)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a model, print a summary, and write the motion.
    #[command(after_help = help::RUN)]
    Run(RunArguments),
    /// Let a character follow a motion, and say how far from it it is.
    #[command(after_help = help::TRACK)]
    Track(TrackArguments),
    /// Watch a model live in the browser: pause, pull at bodies, move controls.
    #[command(after_help = help::VIEW)]
    View(ViewArguments),
    /// Say what was read from a model, and what was ignored or approximated.
    #[command(after_help = help::INFO)]
    Info(InfoArguments),
    /// Write a character or scene as an MJCF file.
    #[command(after_help = help::WRITE)]
    Write(WriteArguments),
    /// Measure: a suite of benchmarks, with its figures as a table, JSON and pictures.
    #[command(after_help = help::BENCH)]
    Bench(BenchArguments),
    /// Print a script that completes commands, options, models and keyframes in a shell.
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArguments),
}

/// How a model file is read.
#[derive(Args, Debug)]
#[command(next_help_heading = "Model")]
pub struct ReadArguments {
    /// A folder in which package:// addresses of URDF files are looked up (may be repeated).
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub package_path: Vec<PathBuf>,
    /// Let the root of a URDF robot move freely instead of fixing it to the world.
    #[arg(long)]
    pub floating_base: bool,
}

/// Where a simulation starts.
#[derive(Args, Debug)]
#[command(next_help_heading = "Model")]
pub struct StartArguments {
    #[command(flatten)]
    pub read: ReadArguments,
    /// Add a level ground at this height, m: URDF files have none. A floating base that would start in it is lifted.
    ///
    /// Characters have one at 0, which this replaces; scenes keep theirs.
    #[arg(long, value_name = "Z", allow_negative_numbers = true, value_parser = height)]
    pub ground: Option<f64>,
    /// Keyframe of the model to start from: its name, or its index (-1: the last).
    #[arg(long, value_name = "NAME", allow_negative_numbers = true, add = ArgValueCompleter::new(completions::keyframes))]
    pub keyframe: Option<String>,
}

/// How steps are made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Steps")]
pub struct StepArguments {
    /// Time step, s [default: the model's own].
    #[arg(long, visible_alias = "timestep", value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub dt: Option<f64>,
    /// Error that may be made per second, in m, rad and relative velocities: steps are then as long as it lets them be.
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true, value_parser = positive)]
    pub accuracy: Option<f64>,
    /// Time-stepping scheme, or theta_q,theta_v,theta_vq as three numbers from 0 to 1.
    #[arg(long, value_name = "SCHEME", default_value = "bilinear", value_parser = SchemeParser)]
    pub scheme: Scheme,
    /// Friction law.
    #[arg(long, value_name = "LAW", default_value = "coulomb", value_parser = contact_law())]
    pub contact: ContactLaw,
    /// Factorisations that an island may spend on Coulomb's law in a step, or "unlimited".
    ///
    /// Then the step takes the best friction found so far; the summary counts such steps.
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = budget)]
    pub factorization_budget: Budget,
    /// Let islands sleep that have rested for this long, s [default: as the file says, or none sleeps].
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub sleep_after: Option<f64>,
    /// Threads; the result is the same for any number.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

#[derive(Args, Debug)]
pub struct RunArguments {
    /// MJCF, URDF or SDFormat file, or a character or scene [default: a humanoid falls among boxes].
    ///
    /// Characters and scenes are @humanoid, @dog, @snake36, @clutter-box-125, @tower-50, @stewart, …; @ alone lists them.
    #[arg(value_parser = source, add = ArgValueCompleter::new(completions::models))]
    pub model: Option<Source>,
    /// Simulated time, s.
    #[arg(
        long, short, visible_aliases = ["duration", "seconds"], value_name = "S", default_value_t = 5.0,
        allow_negative_numbers = true, value_parser = duration
    )]
    pub time: f64,
    #[command(flatten)]
    pub start: StartArguments,
    /// Perturb the start at random, with this seed [default: it is as the model says].
    ///
    /// Joint coordinates by up to 0.05 rad or 0.01 m, velocities by up to 0.1 rad/s or m/s.
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Model")]
    pub seed: Option<u64>,
    /// Hold all joints where they start, by stable PD of this stiffness and damping, N·m/rad and N·m·s/rad (slides: N/m, N·s/m).
    ///
    /// Within the effort limits of the model; free joints stay free. Characters have no motors of their own and fall without.
    #[arg(long, value_name = "KP,KD", allow_negative_numbers = true, value_parser = gains, help_heading = "Model")]
    pub hold: Option<[f64; 2]>,
    #[command(flatten)]
    pub step: StepArguments,
    /// Record von Mises stresses of soft bodies: replay.html shows them as colours.
    #[arg(long, help_heading = "Output")]
    pub stress: bool,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Args, Debug)]
pub struct TrackArguments {
    /// MJCF, URDF or SDFormat file, or a character: @humanoid, @dog, @snake36, … (@ alone lists them).
    #[arg(value_parser = source, add = ArgValueCompleter::new(completions::models))]
    pub model: Source,
    /// Simulated time, s.
    #[arg(
        long, short, visible_aliases = ["duration", "seconds"], value_name = "S", default_value_t = 5.0,
        allow_negative_numbers = true, value_parser = positive
    )]
    pub time: f64,
    /// Time step, s [default: the model's own].
    #[arg(long, visible_alias = "timestep", value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub dt: Option<f64>,
    /// Add a level ground at this height, m: URDF files have none.
    #[arg(long, value_name = "Z", allow_negative_numbers = true, value_parser = height, help_heading = "Model")]
    pub ground: Option<f64>,
    #[command(flatten)]
    pub read: ReadArguments,
    #[command(flatten)]
    pub clip: ClipArguments,
    #[command(flatten)]
    pub control: ControlArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Which motion, and how its joints meet the model's.
#[derive(Args, Debug)]
#[command(next_help_heading = "Motion")]
pub struct ClipArguments {
    /// The motion: a gait (walk, run, trot, pace, canter, slither), or a file, BVH or DeepMimic's text.
    #[arg(long, value_name = "NAME|FILE", add = ArgValueCompleter::new(completions::clips))]
    pub clip: String,
    /// A joint of the file and that of the model that it stands for, where names differ (may be repeated).
    #[arg(long, value_name = "FILE=MODEL", value_parser = pair)]
    pub rename: Vec<(String, String)>,
    /// Metres per unit of a BVH file [default: what makes its bones as long as the model's].
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = positive)]
    pub scale: Option<f64>,
    /// Axes of a BVH file [default: those in which its figure stands as the model does].
    #[arg(long, value_name = "AXES", value_parser = axes())]
    pub axes: Option<Axes>,
    /// Let joints of the model that the file does not have stay at rest.
    #[arg(long)]
    pub keep_unnamed: bool,
    /// Whether the clip begins anew at its end, or stays there [default: as the file says; BVH files stay].
    #[arg(long, value_name = "MODE", value_enum)]
    pub r#loop: Option<Loop>,
}

/// What follows the end of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Loop {
    /// The clip, from where its root is then.
    Wrap,
    /// Its last pose.
    Clamp,
}

/// How the motion is followed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Control")]
pub struct ControlArguments {
    /// The controller.
    #[arg(long, value_name = "NAME", default_value = "stable", value_parser = named_values(&Control::NAMED))]
    pub control: Control,
    /// What each step is to reach.
    #[arg(long, value_name = "NAME", default_value = "end-velocity", value_parser = named_values(&Target::NAMED))]
    pub target: Target,
    /// Whether the root is held, too, as by the hand of God, or moves as forces of joints and ground let it.
    #[arg(long, value_name = "on|off", default_value = "on", value_enum)]
    pub hand_of_god: Switch,
    /// Stiffness and damping of joints, N·m/rad and N·m·s/rad.
    #[arg(long, value_name = "KP,KD", default_value = "75000,4000", allow_negative_numbers = true, value_parser = gains)]
    pub gains: [f64; 2],
    /// The same of the hand of God; N/m and N·s/m, too.
    #[arg(long, value_name = "KP,KD", default_value = "20000,2000", allow_negative_numbers = true, value_parser = gains)]
    pub root_gains: [f64; 2],
    /// Greatest force of a joint, N·m or N, where the model has no smaller limit [default: none].
    #[arg(long, value_name = "LIMIT", allow_negative_numbers = true, value_parser = positive)]
    pub effort_limit: Option<f64>,
    /// A body whose place is compared with the motion's, seen from the root (may be repeated) [default: the ends of all limbs].
    #[arg(long, value_name = "BODY")]
    pub effector: Vec<String>,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// What a run leaves behind.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Folder for replay.html, trajectory.npz, summary.json and a picture [default: nothing is written].
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Frames to record per second of simulated time, rounded to whole steps.
    #[arg(long, value_name = "N", default_value_t = 60.0, allow_negative_numbers = true, value_parser = positive)]
    pub frames_per_second: f64,
    /// Print the summary as JSON, errors too, and nothing else on standard output.
    #[arg(long)]
    pub json: bool,
    /// Print errors only: no summary (but that of --json), no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ViewArguments {
    /// MJCF, URDF or SDFormat file, or a character or scene: @humanoid, @tower-50, … (@ alone lists them).
    #[arg(value_parser = source, add = ArgValueCompleter::new(completions::models))]
    pub model: Source,
    #[command(flatten)]
    pub start: StartArguments,
    #[command(flatten)]
    pub step: StepArguments,
    #[command(flatten)]
    pub viewer: ViewerArguments,
}

/// The viewer itself.
#[derive(Args, Debug)]
#[command(next_help_heading = "Viewer")]
pub struct ViewerArguments {
    /// What moves the controls.
    #[arg(long, value_enum, default_value_t = Controls::Sliders)]
    pub controls: Controls,
    /// Seed of random controls.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Simulated time over real time.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive)]
    pub speed: f64,
    /// Port to listen at; the next free one where it is taken.
    #[arg(long, value_name = "N", default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Who may look: localhost for this machine alone, 0.0.0.0 for everyone who can reach it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_hint = ValueHint::Hostname)]
    pub host: String,
    /// Print the address without opening a browser.
    #[arg(long)]
    pub no_browser: bool,
}

/// What moves the controls of a model that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Controls {
    /// The sliders of the page; they start at the keyframe's controls, or at 0.
    Sliders,
    /// New random values within their ranges twice a second; -1 to 1 where there is no range.
    Random,
}

#[derive(Args, Debug)]
pub struct InfoArguments {
    /// MJCF, URDF or SDFormat file, or a character or scene: @humanoid, @tower-50, … (@ alone lists them).
    #[arg(value_parser = source, add = ArgValueCompleter::new(completions::models))]
    pub model: Source,
    /// Print JSON, errors too.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub read: ReadArguments,
}

#[derive(Args, Debug)]
pub struct WriteArguments {
    /// A character or scene: @humanoid, @clutter-box-125, … (@ alone lists them).
    #[arg(value_name = "@NAME", value_parser = named, add = ArgValueCompleter::new(completions::built_in_models))]
    pub model: Named,
    /// The file [default: standard output].
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Leave out a character's ground.
    #[arg(long)]
    pub no_ground: bool,
    /// Let bodies of the character that are no neighbours touch each other.
    #[arg(long)]
    pub self_collision: bool,
}

#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Shells whose scripts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

#[derive(Args, Debug)]
#[command(
    subcommand_value_name = "spd|characters|figures|step|dynamics|contact|clutter|deformables|schemes|motion|models|starts|strangers|longest|batch|imitation|inverse-kinematics|gpu"
)]
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
    /// The MABA paper's figures 1, 5 and 6: largest time steps, tracking errors by target, MABA beside DF and SF at equal contact.
    Figures(MeasureArguments),
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
    /// A soft cube that falls, lies and slides beside MuJoCo and Drake (needs the Python package).
    Deformables(Forwarded),
    /// Order, energy and cost of the time-stepping schemes beside MuJoCo's and Drake's (needs the Python package).
    Schemes(Forwarded),
    /// A step of robots that move by random controls beside MuJoCo (needs the Python package).
    Motion(Forwarded),
    /// A step of every robot file that installed packages bring beside MuJoCo (needs the Python package).
    Models(Forwarded),
    /// Characters and robots from perturbed starts beside MuJoCo (needs the Python package).
    Starts(Forwarded),
    /// Robots of other packages from random starts, as their files ask, beside MuJoCo (needs the Python package).
    Strangers(Forwarded),
    /// The longest step of falling piles, overlapping starts and height fields beside MuJoCo (needs the Python package).
    Longest(Forwarded),
    /// A step of one of many worlds beside MuJoCo's rollout and batch (needs the Python package).
    Batch(Forwarded),
    /// Characters under effort-limited PD, as they learn to imitate, beside MuJoCo's rollout (needs the Python package).
    Imitation(Forwarded),
    /// Inverse kinematics of arms and humanoids beside mink and Pinocchio (needs the Python package).
    InverseKinematics(Forwarded),
    /// A batch on a GPU beside MuJoCo Warp and MJX (needs the Python package and a GPU).
    Gpu(Forwarded),
}

/// What is passed on, `--help` too.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Forwarded {
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = help::EXIT_CODES)]
pub struct MeasureArguments {
    /// Write the figures to this file, or without one to standard output (tables then go to standard error).
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Folder for pictures (SVG), and for the tables of figures as a page [default: none are written].
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Folder with DeepMimic's humanoid3d_walk.txt, _run, _cartwheel and _backflip; without it the humanoid only walks.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub clips: Option<PathBuf>,
    /// Measure briefly, to see that it works: the figures are not to be quoted.
    #[arg(long)]
    pub quick: bool,
}
