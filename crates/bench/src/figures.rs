//! Suite `figures`: the paper's figures 1, 5 and 6 on our characters, and what there is to compare with.
//!
//! The paper's text has no numbers of its curves; beside ours stand what it says of them and its tables.

use std::fmt::Write;
use std::path::Path;

use characters::Character;
use spd::Method;
use tracking::{Control, Target, Torque};

use crate::accuracy::{Figure, RATES, TOE};
use crate::plot::{significant, step_text};
use crate::row::Row;
use crate::speed::{self, Measured};
use crate::usable::{self, Figure1};
use crate::{Error, Outcome, Subject, cases, paper};

/// The name of the suite.
pub const SUITE: &str = "figures";

const DENSE: Control = Control::TwoPass(Method::Dense, Torque::InverseDynamics);
const SPARSE: Control = Control::TwoPass(Method::Sparse, Torque::InverseDynamics);
/// The methods of figures 5 and 6.
const CURVES: [Control; 3] = [Control::Embedded, DENSE, SPARSE];
/// Those of figure 1, and stable PD at any step.
const STEPS: [Control; 5] = [Control::Explicit, DENSE, SPARSE, Control::Embedded, Control::Unconditional];
const TARGETS: [Target; 3] = [Target::Start, Target::End, Target::EndWithVelocity];
/// End effector of figure 5.
const ANKLE: &str = "right_ankle";

/// What figure 1 says, and where it differs from the paper's.
const STEPS_READING: &str = "";
/// What figures 5 and 6 say, and where they differ from the paper's.
const READING: &str = "";

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Simulated time of a point of figures 5 and 6, s.
    pub seconds: f64,
    /// Of figure 1.
    pub usable: usable::Effort,
    /// Of the comparison at equal contact.
    pub speed: speed::Effort,
}

impl Effort {
    /// For figures that are quoted.
    pub const FULL: Self = Self { seconds: 5.0, usable: usable::Effort::FULL, speed: speed::Effort::FULL };
    /// To see that it works.
    pub const QUICK: Self = Self { seconds: 0.2, usable: usable::Effort::QUICK, speed: speed::Effort::QUICK };
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The largest steps, on the dog in a canter.
    pub figure1: Figure1,
    /// The humanoid, and the dog, by target.
    pub curves: [Vec<Figure>; 2],
    /// Times of frames at equal contact, of every character and motion.
    pub frames: Vec<Measured>,
}

impl Figures {
    /// Measures everything; `done` is told what is done.
    ///
    /// # Errors
    /// When a clip cannot be read.
    pub fn measure(clips: Option<&Path>, effort: Effort, mut done: impl FnMut(&str)) -> Result<Self, Error> {
        let dog = Subject::gait(Character::Dog, "canter")?;
        let of = |subject: &Subject, effector| {
            let figures = TARGETS.map(|target| Figure::measure(subject, effector, target, &CURVES, effort.seconds));
            figures.into_iter().collect::<Result<Vec<_>, _>>()
        };
        let curves = [of(&cases::runner(clips)?, ANKLE)?, of(&dog, TOE)?];
        done("figures 5 and 6");
        let figure1 = Figure1::measure(&dog, TOE, &STEPS, effort.usable)?;
        done("figure 1");
        let subjects = cases::all(clips)?;
        let frames = subjects.iter().map(|subject| speed::measure(subject, effort.speed));
        let frames = frames.collect::<Result<Vec<_>, _>>()?;
        done("frames at equal contact");
        Ok(Self { figure1, curves, frames })
    }

    /// All numbers.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = self.figure1.rows(SUITE);
        rows.extend(self.curves.iter().flatten().flat_map(|figure| figure.rows(SUITE)));
        let equal = self.frames.iter().flat_map(Measured::rows);
        let equal = equal.filter(|row| row.metric.ends_with("at_equal_contact") || row.metric.ends_with("_alone"));
        rows.extend(equal.map(|row| Row { suite: SUITE, ..row }));
        rows
    }

    /// The tables beside the paper's, and where they differ.
    pub fn page(&self) -> String {
        let mut text = String::from("# Figures 1, 5 and 6 of the MABA paper\n");
        self.steps(&mut text);
        for (name, figures) in ["Figure 5", "Figure 6"].into_iter().zip(&self.curves) {
            targets(&mut text, name, figures);
        }
        text.push_str(READING);
        self.equal_contact(&mut text);
        text
    }

    fn steps(&self, text: &mut String) {
        let Figure1 { case, paper_dt, methods } = &self.figure1;
        let _ = write!(
            text,
            "\n## Figure 1: the largest time step, {case}\n\nThe largest step, within 2 %, in which no joint is ever off by 2 rad or faster than 1000 rad/s, and \
             the characters that one core simulates in real time with it. The paper: its table 2, frames per second of this motion at \
             1/{:.0} s over {:.0}.\n\n| | simulated, s | largest step | tracking error there | characters | at 1/{:.0} s | the paper at 1/{:.0} s |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
            1.0 / paper_dt,
            1.0 / paper_dt,
            1.0 / paper_dt,
            1.0 / paper_dt,
        );
        let printed = paper::frames_per_second("dog", "canter");
        for method in methods {
            let printed = printed.and_then(|printed| match method.control {
                DENSE => Some(printed.dense),
                SPARSE => Some(printed.sparse),
                Control::Embedded => Some(printed.maba),
                _ => None,
            });
            let printed = printed.map_or("–".into(), |frames| format!("{:.0}", frames * paper_dt));
            let own = method.frame_at_paper.map_or("–".into(), |frame| format!("{:.0}", paper_dt / frame));
            let (title, seconds, error) = (method.control.title(), method.seconds, cell(&method.outcome));
            let more = if method.is_bounded { "" } else { " and more" };
            let (dt, count) = (step_text(method.dt), significant(method.characters()));
            let _ = writeln!(text, "| {title} | {seconds} | {dt}{more} | {error} | {count} | {own} | {printed} |");
        }
        text.push_str(STEPS_READING);
    }

    fn equal_contact(&self, text: &mut String) {
        text.push_str(
            "\n## MABA against DF and SF at equal contact\n\nThe controller's own time, on the states of the run with MABA, added to MABA's frame without \
             control, over MABA's frame; in brackets the frames of both as they are, in which contact has other work to do, and the paper's ratio.\n\n\
             | | contacts | DF alone, µs | SF alone, µs | MABA's frame, µs | DF over MABA (frames; paper) | SF over MABA (frames; paper) |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for row in &self.frames {
            let maba = row.maba().frame.median();
            let printed = paper::frames_per_second(row.character, &row.motion);
            let [dense, sparse] = [0, 2].map(|k| &row.methods[k]);
            let ratio = |method: &speed::MethodTime, printed: Option<f64>| {
                let printed = printed.map_or("–".into(), |ratio| format!("{ratio:.2}"));
                let frames = method.frame.median() / maba;
                format!("{:.2} ({frames:.2}; {printed})", row.at_equal_contact(method) / maba)
            };
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} |",
                row.name(),
                row.contacts,
                1e6 * dense.alone.median(),
                1e6 * sparse.alone.median(),
                1e6 * maba,
                ratio(dense, printed.map(|p| p.maba / p.dense)),
                ratio(sparse, printed.map(|p| p.maba / p.sparse)),
            );
        }
    }
}

fn targets(text: &mut String, name: &str, figures: &[Figure]) {
    let Some(first) = figures.first() else { return };
    let _ = write!(
        text,
        "\n## {name}: {}, {} seen from the root\n\nRoot of the mean square of its distance from the motion, mm.\n\n| target | method |",
        first.case, first.effector
    );
    for rate in RATES {
        let _ = write!(text, " 1/{rate} s |");
    }
    let _ = writeln!(text, "\n| --- | --- |{}", " --- |".repeat(RATES.len()));
    for figure in figures {
        for (control, outcomes) in figure.controls.iter().zip(&figure.outcomes) {
            let _ = write!(text, "| {} | {} |", figure.target.name(), control.title());
            for outcome in outcomes {
                let _ = write!(text, " {} |", cell(outcome));
            }
            text.push('\n');
        }
    }
}

fn cell(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Tracked(error) => format!("{:.*}", if *error < 0.01 { 2 } else { 0 }, 1e3 * error),
        Outcome::Diverged(time) => format!("lost at {time:.2} s"),
    }
}
