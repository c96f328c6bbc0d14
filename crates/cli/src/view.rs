//! `sapwood view`: the live viewer, which is part of the Python package.

use std::ffi::{OsStr, OsString};

use anyhow::Result;

use crate::arguments::{
    Controls, ReadArguments, StartArguments, StepArguments, ViewArguments, ViewerArguments, contact_name,
};
use crate::python::{self, Module};
use crate::source::Source;

const VIEWER: Module<'_> = Module {
    task: "view",
    name: "sapwood.viewer",
    check: "import sapwood, viser",
    advice: "to install what it needs: python3 -m venv .venv && .venv/bin/pip install 'sapwood[viewer]'\n\
             then: SAPWOOD_PYTHON=.venv/bin/python sapwood view MODEL",
};

/// Opens the viewer; the exit code is the viewer's.
pub fn view(arguments: &ViewArguments) -> Result<u8> {
    python::run(&VIEWER, &words(arguments))
}

/// The arguments of `python -m sapwood.viewer`, which have the same names.
fn words(arguments: &ViewArguments) -> Vec<OsString> {
    let ViewArguments { model, start, step, viewer } = arguments;
    let mut words = Words(Vec::new());
    let StartArguments { read: ReadArguments { package_path, floating_base }, ground, keyframe } = start;
    package_path.iter().for_each(|folder| words.option("--package-path", Some(folder)));
    words.flag("--floating-base", *floating_base);
    words.option("--ground", ground.map(text));
    words.option("--keyframe", keyframe.as_ref());
    let StepArguments { dt, accuracy, scheme, contact, factorization_budget, sleep_after, threads } = step;
    words.option("--dt", dt.map(text));
    words.option("--accuracy", accuracy.map(text));
    words.option("--scheme", Some(scheme.to_string()));
    words.option("--contact", Some(contact_name(*contact)));
    let budget = factorization_budget.0.map_or_else(|| "unlimited".to_owned(), text);
    words.option("--factorization-budget", Some(budget));
    words.option("--sleep-after", sleep_after.map(text));
    words.option("--threads", Some(text(threads)));
    let ViewerArguments { controls, seed, speed, port, host, no_browser } = viewer;
    let controls = match controls {
        Controls::Sliders => "sliders",
        Controls::Random => "random",
    };
    words.option("--controls", Some(controls));
    words.option("--seed", Some(text(seed)));
    words.option("--speed", Some(text(speed)));
    words.option("--port", Some(text(port)));
    words.option("--host", Some(host));
    words.flag("--no-browser", *no_browser);
    words.0.push("--".into());
    words.0.push(match model {
        Source::File(path) => path.into(),
        named @ Source::Named(_) => named.to_string().into(),
    });
    words.0
}

fn text(value: impl ToString) -> String {
    value.to_string()
}

/// Words of a command line.
struct Words(Vec<OsString>);

impl Words {
    /// As one word: a value may begin with a minus sign.
    fn option(&mut self, name: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            self.0.push(word);
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push(name.into());
        }
    }
}
