//! Tasks of dm_control's suite: each is a table of what its observation and its reward consist of.
//!
//! Observations have the entries of dm_control's in their order, one after another. No episode ends by itself, but
//! those of `lqr` at rest.

mod legged;
mod parts;
mod quantity;
mod reward;
mod tables;
mod variation;

use std::ops::Range;
use std::sync::Arc;

use batch::World;
use geometry::Scene;
use multibody::Model;

use crate::error::EnvError;
use crate::quantities::{Quantities, Scratch};
use quantity::{Quantity, View};
use reward::Reward;
use variation::Variation;

/// A task of dm_control's suite.
#[derive(Clone, Copy, Debug)]
pub struct SuiteTask(&'static tables::Entry);

impl PartialEq for SuiteTask {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl SuiteTask {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        tables::TASKS.iter().map(Self)
    }

    /// The task of a domain's and a task's name with a hyphen between: `walker-run`.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|task| task.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

/// A part of an observation.
#[derive(Clone, Debug)]
struct Part {
    /// Its name in dm_control.
    name: &'static str,
    quantities: Vec<Quantity>,
}

/// A task on a model.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    observation: Vec<Part>,
    reward: Reward,
    goal: usize,
    variation: Option<Variation>,
    /// The length of positions and velocities, as one vector, below which an episode ends.
    rest: f64,
}

impl Suite {
    /// A task on a model.
    ///
    /// # Errors
    /// When the model lacks what the task names.
    pub fn new(model: &Model, scene: &Scene, task: SuiteTask) -> Result<Self, EnvError> {
        (task.0.build)(&parts::Names { model, scene, task: task.name() })
    }

    /// How many numbers the goal of an episode has.
    pub fn goal_len(&self) -> usize {
        self.goal
    }

    /// The model of an episode with such a goal, where it is not that of all episodes.
    pub fn model_of(&self, model: &Arc<Model>, scene: &Arc<Scene>, goal: &[f64]) -> Option<(Arc<Model>, Arc<Scene>)> {
        self.variation.as_ref().map(|variation| variation.of(model, scene, goal))
    }

    /// Names of the parts of an observation, and where they are in it.
    pub fn parts(&self, controls: usize) -> Vec<(&'static str, Range<usize>)> {
        let mut first = 0;
        let of = |part: &Part| {
            let start = first;
            first += part.quantities.iter().map(|quantity| quantity.len(controls)).sum::<usize>();
            (part.name, start..first)
        };
        self.observation.iter().map(of).collect()
    }

    /// Whether an observation depends on contact points.
    pub fn needs_contacts(&self) -> bool {
        self.observation.iter().flat_map(|part| &part.quantities).any(Quantity::needs_contacts)
    }

    /// Whether observation or reward depend on activations or sensors.
    pub fn needs_sensors(&self) -> bool {
        let observed = self.observation.iter().flat_map(|part| &part.quantities);
        observed.chain(self.reward.quantities()).any(Quantity::needs_sensors)
    }

    /// Writes the observation of a world; gives the reward of being there, and whether the episode ends.
    pub fn look(
        &self,
        all: &Quantities<'_>,
        world: &World<'_>,
        goal: &[f64],
        scratch: &mut Scratch,
        observation: &mut [f64],
    ) -> (f64, bool) {
        all.place(world.q, scratch);
        all.move_on(world.v, scratch);
        let view = View { all, world, goal, scratch };
        let mut out = observation.iter_mut();
        for quantity in self.observation.iter().flat_map(|part| &part.quantities) {
            quantity.each(&view, &mut |x| {
                if let Some(entry) = out.next() {
                    *entry = x;
                }
            });
        }
        let squares: f64 = world.q.iter().chain(world.v).map(|x| x * x).sum();
        (self.reward.of(&view), libm::sqrt(squares) < self.rest)
    }
}
