//! Suite `figures`: the paper's figures 1, 5 and 6 on our characters, and what there is to compare with.
//!
//! The paper's text has no numbers of its curves; beside ours stand what it says of them and its tables.

use std::fmt::Write;
use std::path::Path;

use models::characters::Character;
use motion::tracking::{Control, Target, Torque};
use sim::stable_pd::Method;

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
const STEPS_READING: &str = "
The paper prints its figure's numbers in the picture alone. Explicit PD is stable below 2 / λ, λ the greatest eigenvalue of M⁻¹ K_d, here that of an
effective inertia of 6·10⁻⁶ kg·m². The law of stable PD is stable below 2/3 K_d / K_p = 1/28 s (z² + (2 a − 1) z = a, a = dt K_p / K_d, of a joint without inertia),
by whatever method it is solved: in double precision DF and SF go as far as MABA. In the paper DF is lost from 1/60 s on and MABA at none of its steps, up to
1/30 s. What loses DF at these steps here, and MABA too, is a round trip through τ = Q − dt K_d q̈ in single precision
(`docs/design/stable-pd-in-simulation.md`).

That their ends are in place hides what DF and SF do on the ground: a force that is found before the step is what moves a joint against its inertia I alone,
I / (I + dt K_d) of what the law asks for, and hardly anything of a light body. The ground turns the dog's toes over, by up to 3 rad, until steps are as short
as the last column says. MABA's damping is there when contact is solved, and its joints hold.
";
/// What figures 5 and 6 say, and where they differ from the paper's.
const READING: &str = "
**Which target is the paper's.** Its equations 3 and 4 aim at the pose of the end of the step, at rest: `end`. Its curves fall with the time step, which those of
`end` do not, and those of `start` do. A joint of constant speed ω lags behind `end` by K_d / K_p ω, 53 ms of its motion, whatever the step, and behind `start`
by another dt ω; a target that moves as the motion does, `end-velocity`, leaves only what contact and acceleration do: up to a hundredth.

**Where the curves differ from the paper's.** DF is lost on the paper's dog from 1/60 s on and worse than MABA at 1/120 s; here, in double precision, neither DF
nor SF is lost. They differ from MABA in what they make of contact, most with `end-velocity`, where little else is left: their force does not know of the
ground, and MABA's damping does (figure 1). The characters are our own, and so is the dog's canter.
";

/// What the comparison at equal contact says.
const EQUAL_READING: &str = "
A frame is contact and control. Where contact has the same to do, DF costs the humanoid what it costs in the paper, and the dog, whose frame is a tenth of the
paper's, more. On the snakes most of a frame is contact, of 20 to 117 points, and the ratios of DF are below the paper's. The frames as they are tell more of
contact than of control: after a force that does not know of it, contact with light toes is harder to solve.
";

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
    /// Measures everything; `done` is told what was measured, and its numbers.
    ///
    /// # Errors
    /// When a clip cannot be read.
    pub fn measure(clips: Option<&Path>, effort: Effort, mut done: impl FnMut(&str, Vec<Row>)) -> Result<Self, Error> {
        let dog = Subject::gait(Character::Dog, "canter")?;
        let of = |subject: &Subject, effector| {
            let figures = TARGETS.map(|target| Figure::measure(subject, effector, target, &CURVES, effort.seconds));
            figures.into_iter().collect::<Result<Vec<_>, _>>()
        };
        let curves = [of(&cases::runner(clips)?, ANKLE)?, of(&dog, TOE)?];
        done("figures 5 and 6", curves.iter().flatten().flat_map(|figure| figure.rows(SUITE)).collect());
        let figure1 = Figure1::measure(&dog, TOE, &STEPS, effort.usable)?;
        done("figure 1", figure1.rows(SUITE));
        let mut frames = Vec::new();
        for subject in cases::all(clips)? {
            let measured = speed::measure(&subject, effort.speed)?;
            done(&format!("frames at equal contact, {}", subject.name()), equal_contact(&measured));
            frames.push(measured);
        }
        Ok(Self { figure1, curves, frames })
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
            "\n## Figure 1: the largest time step, {case}\n\nThe largest step, within 2 %, in which no limb's end is ever 1 m from its place, seen \
             from the root; the characters that one core simulates in real time with it; and the largest in which no joint is off by 2 rad \
             either. The paper: its table 2, frames per second of this motion at 1/{:.0} s over {:.0}.\n\n| | simulated, s | largest step | \
             tracking error there, mm | characters | at 1/{:.0} s | the paper at 1/{:.0} s | no joint off by 2 rad |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n",
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
            let joints = step_text(method.dt_of_joints);
            let _ = writeln!(
                text,
                "| {title} | {seconds} | {dt}{more} | {error} | {count} | {own} | {printed} | {joints} |"
            );
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
        text.push_str(EQUAL_READING);
    }
}

/// The numbers of a comparison at equal contact.
fn equal_contact(measured: &Measured) -> Vec<Row> {
    let rows = measured.rows().into_iter();
    let rows = rows.filter(|row| row.metric.ends_with("at_equal_contact") || row.metric.ends_with("_alone"));
    rows.map(|row| Row { suite: SUITE, ..row }).collect()
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
