//! Suite `characters`: how closely the methods track, against the time step (the paper's figures 5 and 6), and what becomes of a
//! controller's force on its way into the step.

use models::characters;
use motion::tracking::{Control, Controller, Target, Torque};
use sim::stable_pd::Method;

use crate::precision::{First, Scalar, Way, track_in_the_air};
use crate::row::{Row, key};
use crate::{Error, Outcome, Subject};

/// Steps per second of the curves.
pub const RATES: [f64; 6] = [30.0, 60.0, 120.0, 240.0, 300.0, 600.0];

/// The methods of the curves.
pub const CONTROLS: [Control; 5] = [
    Control::Embedded,
    Control::TwoPass(Method::Dense, Torque::InverseDynamics),
    Control::TwoPass(Method::Sparse, Torque::InverseDynamics),
    Control::TwoPass(Method::Pcg, Torque::InverseDynamics),
    Control::Explicit,
];

/// The name of the suite.
pub const SUITE: &str = "characters";

/// A figure: one character, one end effector, some methods, all time steps.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The character and its motion, and whether there is ground.
    pub case: String,
    /// The body whose place against the root is compared.
    pub effector: &'static str,
    /// What every step is to reach.
    pub target: Target,
    /// The methods.
    pub controls: &'static [Control],
    /// By method, and rate, as [`RATES`].
    pub outcomes: Vec<Vec<Outcome>>,
}

impl Figure {
    /// Tracks for so many seconds in every combination.
    ///
    /// # Errors
    /// When the motion does not fit the character.
    pub fn measure(
        subject: &Subject,
        effector: &'static str,
        target: Target,
        controls: &'static [Control],
        seconds: f64,
    ) -> Result<Self, Error> {
        let outcome = |control, rate: f64| {
            let controller = Controller { target, ..Controller::of_paper(control) };
            Outcome::of(subject, effector, controller, 1.0 / rate, seconds)
        };
        let of = |control| RATES.iter().map(|&rate| outcome(control, rate)).collect::<Result<Vec<_>, _>>();
        let outcomes = controls.iter().map(|&control| of(control)).collect::<Result<Vec<_>, _>>()?;
        let ground = if subject.scene.geoms.iter().any(|g| g.body == 0) { "on the ground" } else { "in the air" };
        Ok(Self { case: format!("{} {ground}", subject.name()), effector, target, controls, outcomes })
    }

    /// The figures.
    pub fn rows(&self, suite: &'static str) -> Vec<Row> {
        let mut rows = Vec::new();
        for (control, outcomes) in self.controls.iter().zip(&self.outcomes) {
            for (rate, outcome) in RATES.iter().zip(outcomes) {
                let case = format!("{}, {}, target {}, dt 1/{rate}", self.case, self.effector, self.target.name());
                rows.push(outcome_row(suite, &case, &key(*control), *outcome));
            }
        }
        rows
    }
}

fn outcome_row(suite: &'static str, case: &str, key: &str, outcome: Outcome) -> Row {
    match outcome {
        Outcome::Tracked(error) => Row::new(suite, case, format!("{key}_error"), error, "m"),
        Outcome::Diverged(time) => Row::new(suite, case, format!("{key}_diverged_after"), time, "s"),
    }
}

/// Time steps of [`round_trip`], per second.
pub const ROUND_TRIP_RATES: [f64; 4] = [30.0, 60.0, 120.0, 240.0];
/// Factors on the masses of the dog's toes in [`round_trip`].
pub const TOE_FACTORS: [f64; 3] = [1.0, 0.1, 0.01];
/// The end effector of the dog.
pub const TOE: &str = "front_right_toe";

/// One line of [`round_trip`].
#[derive(Clone, Debug)]
pub struct RoundTrip {
    /// What was done, and in which precision.
    pub what: String,
    /// Name in JSON.
    pub key: String,
    /// Factor on the masses of the toes.
    pub toes: f64,
    /// By rate, as [`ROUND_TRIP_RATES`].
    pub outcomes: Vec<Outcome>,
}

impl RoundTrip {
    /// The figures.
    pub fn rows(&self) -> Vec<Row> {
        let cases = ROUND_TRIP_RATES.map(|rate| format!("dog canter, toes x {}, {TOE}, dt 1/{rate}", self.toes));
        cases.iter().zip(&self.outcomes).map(|(case, outcome)| outcome_row(SUITE, case, &self.key, *outcome)).collect()
    }
}

/// The paper reports that DF diverges on the dog from dt = 1/60 s on, and MABA does not, though both solve the same equations. What
/// does differ between the two: whether q̈ is kept or goes through a force τ, how τ is formed, how precise the numbers are, how light
/// the lightest body is, and whether contact with the ground knows of the controller. All of it on the dog in a canter.
///
/// # Errors
/// None but those of the character and its gait.
pub fn round_trip(seconds: f64) -> Result<Vec<RoundTrip>, Error> {
    let mut lines = Vec::new();
    for toes in TOE_FACTORS {
        let canter = || -> Result<Subject, Error> {
            let dog = Subject::gait(characters::Character::Dog, "canter")?;
            Ok(dog.with_scaled_bodies(toes, |name| name.ends_with("_toe")))
        };
        let dog = canter()?;
        let steps = |rate: f64| (seconds * rate).round().max(1.0) as usize;
        for (control, how) in [
            (Control::Embedded, "MABA in the step"),
            (Control::TwoPass(Method::Dense, Torque::InverseDynamics), "DF, τ = M q̈ + C"),
            (Control::TwoPass(Method::Dense, Torque::RoundTrip), "DF, τ = Q − dt K_d q̈"),
        ] {
            let outcome = |rate: &f64| Outcome::of(&dog, TOE, Controller::of_paper(control), 1.0 / rate, seconds);
            let outcomes = ROUND_TRIP_RATES.iter().map(outcome).collect::<Result<_, _>>()?;
            let trip = if let Control::TwoPass(_, Torque::RoundTrip) = control { "_round_trip" } else { "" };
            let (what, key) = (format!("ground, f64: {how}"), format!("ground_f64_{}{trip}", key(control)));
            lines.push(RoundTrip { what, key, toes, outcomes });
        }
        for scalar in [Scalar::F64, Scalar::F32] {
            for (first, way) in [
                (First::Articulated, Way::Kept),
                (First::Dense, Way::Kept),
                (First::Articulated, Way::Through(Torque::InverseDynamics)),
                (First::Dense, Way::Through(Torque::InverseDynamics)),
                (First::Articulated, Way::Through(Torque::RoundTrip)),
                (First::Dense, Way::Through(Torque::RoundTrip)),
            ] {
                let outcome = |rate: &f64| track_in_the_air(&dog, TOE, (first, way, scalar), 1.0 / rate, steps(*rate));
                let outcomes = ROUND_TRIP_RATES.iter().map(outcome).collect::<Result<_, _>>()?;
                let what = format!("air, {}: {}, {}", scalar.name(), first.name(), way.name());
                let key = format!("air_{}_{}_{}", scalar.name(), first.key(), way.key());
                lines.push(RoundTrip { what, key, toes, outcomes });
            }
        }
    }
    Ok(lines)
}
