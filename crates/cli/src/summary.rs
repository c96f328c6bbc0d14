//! What a run comes to: the numbers at the end, as text and as JSON.

use std::fmt;

use multibody::Model;
use serde::Serialize;
use sim::{Energy, Simulation};

use crate::failure::Failure;

/// The summary of a run. Times in seconds, lengths in metres, energies in joules.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub sapwood: &'static str,
    pub model: String,
    pub completed: bool,
    pub error: Option<Failure>,
    pub simulated_time: f64,
    pub timestep: f64,
    pub steps: u64,
    /// Time spent in steps, without reading, recording and writing.
    pub wall_time: f64,
    /// Simulated time over wall time; `None` before the first step.
    pub real_time_factor: Option<f64>,
    /// Contact points with an impulse, per step.
    pub contacts: PerStep,
    pub newton_iterations: PerStep,
    /// Largest relative residual of a contact solve.
    pub worst_residual: f64,
    /// Steps in which the friction of some island did not converge to Coulomb's law within the budget of factorisations, and the
    /// greatest relative friction residual of all steps.
    pub unsettled_steps: u64,
    pub worst_friction_residual: f64,
    /// Deepest penetration; `None` when there was none.
    pub worst_penetration: Option<Penetration>,
    pub energy_start: EnergyParts,
    pub energy_end: EnergyParts,
    pub settings: Settings,
    /// What was read and ignored or approximated, as `file:line: element: what happens instead`.
    pub warnings: Vec<String>,
}

/// Mean and greatest value of something that is counted in every step.
#[derive(Debug, Serialize)]
pub struct PerStep {
    pub mean: f64,
    pub max: u64,
}

/// The deepest penetration.
#[derive(Clone, Debug, Serialize)]
pub struct Penetration {
    pub depth: f64,
    pub time: f64,
    /// Names of the two geoms, with their bodies'.
    pub geoms: [String; 2],
}

#[derive(Debug, Serialize)]
pub struct EnergyParts {
    pub kinetic: f64,
    pub potential: f64,
    pub total: f64,
}

/// What was chosen on the command line.
#[derive(Debug, Serialize)]
pub struct Settings {
    pub scheme: String,
    pub accuracy: Option<f64>,
    pub sleep_after: Option<f64>,
    pub contact: &'static str,
    /// `None`: unlimited.
    pub factorization_budget: Option<usize>,
    pub keyframe: Option<String>,
    pub seed: Option<u64>,
    /// Stiffness and damping that hold the joints.
    pub hold: Option<[f64; 2]>,
    pub threads: u16,
}

/// Sum and greatest value of a count over the steps.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    sum: u64,
    max: u64,
}

impl Count {
    fn add(&mut self, n: usize) {
        self.sum += n as u64;
        self.max = self.max.max(n as u64);
    }
}

/// Sums and worst values over the steps.
#[derive(Debug, Default)]
pub struct Tally {
    steps: u64,
    contacts: Count,
    iterations: Count,
    residual: f64,
    unsettled: u64,
    friction_residual: f64,
    penetration: Option<Penetration>,
}

impl Tally {
    /// Adds the last step.
    pub fn add(&mut self, simulation: &Simulation) {
        let stats = simulation.stats();
        self.steps += 1;
        self.contacts.add(stats.active_contacts);
        self.iterations.add(stats.iterations);
        self.residual = self.residual.max(stats.residual);
        self.unsettled += u64::from(stats.unsettled > 0);
        self.friction_residual = self.friction_residual.max(stats.friction_residual);
        if stats.penetration > self.penetration.as_ref().map_or(0.0, |p| p.depth) {
            self.penetration = deepest(simulation);
        }
    }

    fn per_step(&self, count: Count) -> PerStep {
        PerStep { mean: count.sum as f64 / self.steps.max(1) as f64, max: count.max }
    }

    /// The summary of a run that took `wall_time` seconds and may have failed.
    pub fn summary(
        &self,
        simulation: &mut Simulation,
        wall_time: f64,
        energy_start: Energy,
        settings: Settings,
        error: Option<Failure>,
    ) -> Summary {
        let model: &Model = simulation.model();
        let simulated_time = self.steps as f64 * simulation.timestep();
        Summary {
            sapwood: env!("CARGO_PKG_VERSION"),
            model: model.name.clone(),
            warnings: model.warnings.iter().map(ToString::to_string).collect(),
            completed: error.is_none(),
            error,
            simulated_time,
            timestep: simulation.timestep(),
            steps: self.steps,
            wall_time,
            real_time_factor: (self.steps > 0 && wall_time > 0.0).then(|| simulated_time / wall_time),
            contacts: self.per_step(self.contacts),
            newton_iterations: self.per_step(self.iterations),
            worst_residual: self.residual,
            unsettled_steps: self.unsettled,
            worst_friction_residual: self.friction_residual,
            worst_penetration: self.penetration.clone(),
            energy_start: energy_start.into(),
            energy_end: simulation.energy().into(),
            settings,
        }
    }
}

/// The deepest penetration of the last step.
fn deepest(simulation: &Simulation) -> Option<Penetration> {
    let contact = simulation.contacts().iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
    let geoms = contact.geoms.map(|i| {
        let geom = &simulation.scene().geoms[i];
        let body = &simulation.model().bodies[geom.body].name;
        if geom.name.is_empty() { format!("a geom of {body}") } else { format!("{} of {body}", geom.name) }
    });
    // The gap is that of the beginning of the step.
    Some(Penetration { depth: -contact.gap, time: simulation.state().time - simulation.timestep(), geoms })
}

impl From<Energy> for EnergyParts {
    fn from(energy: Energy) -> Self {
        Self { kinetic: energy.kinetic, potential: energy.potential, total: energy.total() }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<20} {value}");
        let real_time = self.real_time_factor.map_or(String::new(), |factor| format!(", {factor:.1} × real time"));
        row(
            "simulated",
            format!("{:.3} s in {} steps of {} ms", self.simulated_time, self.steps, self.timestep * 1e3),
        )?;
        row("wall time", format!("{:.3} s{real_time}", self.wall_time))?;
        row("contacts", format!("mean {:.1}, most {}", self.contacts.mean, self.contacts.max))?;
        let newton = &self.newton_iterations;
        row("Newton iterations", format!("mean {:.1}, most {} per step", newton.mean, newton.max))?;
        row("worst residual", format!("{:.1e} relative", self.worst_residual))?;
        if self.unsettled_steps > 0 {
            let (steps, worst) = (self.unsettled_steps, self.worst_friction_residual);
            row("friction", format!("{worst:.1e} from Coulomb's law at worst, not converged in {steps} steps"))?;
        }
        row(
            "worst penetration",
            match &self.worst_penetration {
                Some(Penetration { depth, time, geoms: [a, b] }) => {
                    format!("{:.4} mm at {time:.3} s between {a} and {b}", depth * 1e3)
                }
                None => "none".into(),
            },
        )?;
        let (start, end) = (&self.energy_start, &self.energy_end);
        row("energy", format!("{:.4} J at the start, {:.4} J at the end", start.total, end.total))?;
        row(
            "warnings",
            match self.warnings.len() {
                0 => "none".into(),
                n => format!("{n}: sapwood info lists them"),
            },
        )
    }
}
