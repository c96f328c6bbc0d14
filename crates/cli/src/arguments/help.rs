//! Texts of the help: examples and exit codes, and its colours.

use clap::builder::styling::{AnsiColor, Styles};

/// As cargo has them; clap leaves them out where the output is no terminal, or `NO_COLOR` is set.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

macro_rules! exit_codes {
    () => {
        "Exit codes:
    0  done
    1  the simulation failed; what was computed until then is written
    2  bad input, or a file that cannot be written (files that were there before are kept)
  130  ended by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP; what was computed until then is written"
    };
}

pub const EXIT_CODES: &str = exit_codes!();

pub const SAPWOOD: &str = concat!(
    "Examples:
  sapwood run                                a humanoid falls among boxes
  sapwood run humanoid.xml --out out         5 s of a model; open out/replay.html
  sapwood track @dog --clip trot --out out   a motion that a character follows
  sapwood view @dog                          live, in the browser
  sapwood info robot.urdf                    what was read, and what was not

sapwood COMMAND --help says all of a command, with its examples.

",
    exit_codes!()
);

pub const RUN: &str = concat!(
    "Examples:
  sapwood run humanoid.xml --time 10 --out out
  sapwood run robot.urdf --floating-base --ground -0.6 --package-path ~/robots --out out
  sapwood run @tower-50 --dt 0.01 --scheme midpoint
  sapwood run @humanoid --hold 1000,100 --out out
  sapwood run @slider-2-0.5 --keyframe sliding --json | jq .energy_end.kinetic

",
    exit_codes!()
);

pub const TRACK: &str = concat!(
    "Examples:
  sapwood track @dog --clip trot --out out
  sapwood track @humanoid --clip walk.bvh --scale 0.01 --rename Hips=root --keep-unnamed
  sapwood track @dog --clip canter --control dense --target end --dt 0.01 --json | jq .errors.rms

",
    exit_codes!()
);

pub const VIEW: &str = "Examples:
  sapwood view @dog
  sapwood view humanoid.xml --keyframe squat --controls random
  sapwood view robot.urdf --floating-base --ground -0.6
  ssh -L 8080:localhost:8080 HOST sapwood view humanoid.xml      then open http://localhost:8080

The viewer is part of the Python package: pip install 'sapwood[viewer]'. SAPWOOD_PYTHON names an interpreter other than python3.
Ctrl-C ends it.

Exit codes: 0 ended by Ctrl-C; 2 bad input, or no viewer.";

pub const INFO: &str = "Examples:
  sapwood info humanoid.xml
  sapwood info @stewart --json | jq .counts.nv

Exit codes: 0 done; 2 bad input.";

pub const WRITE: &str = "Examples:
  sapwood write @dog dog.xml
  sapwood write @tower-20 | sed 's/friction=\"1/friction=\"0.3/g' > slippery.xml

Exit codes: 0 done; 2 bad input, or a file that cannot be written (one that was there before is kept).";

pub const BENCH: &str = "Suites beside other engines run from the Python package, with the engines that they compare with: pip install '.[test]' \
in the repository. SAPWOOD_PYTHON names an interpreter other than python3. sapwood bench SUITE --help says what a suite takes.

Examples:
  sapwood bench spd --out out --json spd.json
  sapwood bench schemes --case double-pendulum
  sapwood bench spd --quick --json | jq '.[] | select(.case == \"dog trot\")'

Exit codes: 0 done; 1 a suite failed; 2 bad input, or a file that cannot be written; 130 after Ctrl-C (what was measured until then is written).";

pub const COMPLETIONS: &str = "To install:
  bash        echo 'source <(sapwood completions bash)' >> ~/.bashrc
  zsh         echo 'source <(sapwood completions zsh)' >> ~/.zshrc      (after compinit)
  fish        echo 'sapwood completions fish | source' > ~/.config/fish/completions/sapwood.fish
  powershell  'sapwood completions powershell | Out-String | Invoke-Expression' | Add-Content $PROFILE
  elvish      echo 'eval (sapwood completions elvish | slurp)' >> ~/.config/elvish/rc.elv

The script asks the command itself at every Tab, so that it knows models, characters, scenes and the keyframes of the model.";
