//! A task on a model: pure functions of a world.

use std::ops::Range;
use std::sync::Arc;

use batch::World;
use geometry::Scene;
use multibody::Model;

use crate::error::EnvError;
use crate::gymnasium::Gymnasium;
use crate::observation::Part;
use crate::quantities::{Quantities, Scratch, roots};
use crate::reward::Transition;
use crate::suite::{Suite, SuiteTask};
use crate::task::{Task, TaskOptions};

/// An entry of `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoColumn {
    /// Its name in Gymnasium.
    pub name: &'static str,
    /// How many numbers it has.
    pub width: usize,
    /// Whether resets have it, too.
    pub is_of_reset: bool,
}

/// What is observed and rewarded.
#[derive(Clone, Debug)]
enum Kind {
    Gymnasium(Gymnasium),
    Suite(Suite),
}

/// A task on a model.
#[derive(Clone, Debug)]
pub struct Environment {
    model: Arc<Model>,
    scene: Arc<Scene>,
    name: &'static str,
    kind: Kind,
    roots: Vec<usize>,
    len: usize,
    columns: Vec<InfoColumn>,
}

impl Environment {
    /// A task of Gymnasium on a model, whose steps take `dt` (time step times frames), s.
    ///
    /// # Errors
    /// When the model lacks what the task names, or has other coordinates than it needs.
    pub fn new(
        model: &Arc<Model>,
        scene: &Arc<Scene>,
        task: Task,
        options: &TaskOptions,
        dt: f64,
    ) -> Result<Self, EnvError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(EnvError::Value { name: "dt", value: dt, expected: "a finite time above 0" });
        }
        let kind = Gymnasium::new(model, task, options, dt)?;
        let (columns, of_reset) = kind.info(model);
        let column = |(index, (name, width))| InfoColumn { name, width, is_of_reset: index < of_reset };
        Ok(Self {
            name: task.name(),
            len: kind.observation_len(model),
            columns: columns.into_iter().enumerate().map(column).collect(),
            roots: roots(model),
            model: model.clone(),
            scene: scene.clone(),
            kind: Kind::Gymnasium(kind),
        })
    }

    /// A task of dm_control's suite on a model.
    ///
    /// # Errors
    /// When the model lacks what the task names.
    pub fn of_suite(model: &Arc<Model>, scene: &Arc<Scene>, task: SuiteTask) -> Result<Self, EnvError> {
        let kind = Suite::new(model, scene, task)?;
        Ok(Self {
            name: task.name(),
            len: kind.parts(model.nu()).last().map_or(0, |(_, range)| range.end),
            columns: Vec::new(),
            roots: roots(model),
            model: model.clone(),
            scene: scene.clone(),
            kind: Kind::Suite(kind),
        })
    }

    /// The task's name, without version.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self) -> usize {
        self.len
    }

    /// Names of the parts of an observation, and where they are in it; none for tasks of Gymnasium, which does not name them.
    pub fn observation_parts(&self) -> Vec<(&'static str, Range<usize>)> {
        match &self.kind {
            Kind::Gymnasium(_) => Vec::new(),
            Kind::Suite(suite) => suite.parts(self.model.nu()),
        }
    }

    /// How many numbers say where the goal of an episode is: what an episode has of its own beside its state.
    pub fn goal_len(&self) -> usize {
        match &self.kind {
            Kind::Gymnasium(_) => 0,
            Kind::Suite(suite) => suite.goal_len(),
        }
    }

    /// The model and the scene of an episode with a goal of [`goal_len`](Self::goal_len) numbers, for tasks whose models differ from episode to
    /// episode; `None` for the others.
    pub fn model_of(&self, goal: &[f64]) -> Option<(Arc<Model>, Arc<Scene>)> {
        match &self.kind {
            Kind::Gymnasium(_) => None,
            Kind::Suite(suite) => suite.model_of(&self.model, &self.scene, goal),
        }
    }

    /// The entries of `info`, in the order in which they are written.
    pub fn info_columns(&self) -> &[InfoColumn] {
        &self.columns
    }

    /// How many numbers `info` has.
    pub fn info_len(&self) -> usize {
        self.columns.iter().map(|column| column.width).sum()
    }

    /// Whether observation or reward depend on contact points.
    pub fn needs_contacts(&self) -> bool {
        match &self.kind {
            Kind::Gymnasium(task) => task.needs_contacts,
            Kind::Suite(suite) => suite.needs_contacts(),
        }
    }

    /// Whether observation or reward depend on [`World::act`] and [`World::sensors`].
    pub fn needs_sensors(&self) -> bool {
        match &self.kind {
            Kind::Gymnasium(_) => false,
            Kind::Suite(suite) => suite.needs_sensors(),
        }
    }

    /// Whether it needs the [`constraint_force`](Self::constraint_force) of the last time step.
    pub fn needs_constraint_force(&self) -> bool {
        match &self.kind {
            Kind::Gymnasium(task) => task.parts.iter().any(|part| matches!(part, Part::ConstraintForce(_))),
            Kind::Suite(_) => false,
        }
    }

    fn quantities(&self) -> Quantities<'_> {
        Quantities { model: &self.model, scene: &self.scene, roots: &self.roots }
    }

    /// Where what counts as position is, x y, m.
    pub fn position(&self, q: &[f64], scratch: &mut Scratch) -> [f64; 2] {
        match &self.kind {
            Kind::Gymnasium(task) => task.position(&self.quantities(), q, scratch),
            Kind::Suite(_) => [0.0; 2],
        }
    }

    /// The observation and `info` after a reset; `info` of steps alone is zero. `goal` has [`goal_len`](Self::goal_len) numbers.
    pub fn observe_reset(
        &self,
        world: &World<'_>,
        goal: &[f64],
        scratch: &mut Scratch,
        observation: &mut [f64],
        info: &mut [f64],
    ) {
        let all = self.quantities();
        match &self.kind {
            Kind::Gymnasium(task) => {
                task.observe(&all, world, 0.0, scratch, observation);
                task.definition.write_reset_info(&all, world, info);
            }
            Kind::Suite(suite) => {
                suite.look(&all, world, goal, scratch, observation);
            }
        }
    }

    /// The observation and `info` after a step; gives the reward, and whether the episode ends by itself. Controls of the world are the action,
    /// as it came; [`Transition::after`] is found here. `goal` has [`goal_len`](Self::goal_len) numbers.
    pub fn observe_step(
        &self,
        world: &World<'_>,
        goal: &[f64],
        transition: Transition,
        scratch: &mut Scratch,
        observation: &mut [f64],
        info: &mut [f64],
    ) -> (f64, bool) {
        let all = self.quantities();
        match &self.kind {
            Kind::Gymnasium(task) => task.step(&all, world, transition, scratch, observation, info),
            Kind::Suite(suite) => suite.look(&all, world, goal, scratch, observation),
        }
    }

    /// The force of constraints on the first degree of freedom in a time step of `dt` from (q0, v0) to `world`, N: what the equation of
    /// motion lacks. Where the coordinate is within its limits, none acts, and it is zero; at a limit it is right to the order of the step.
    pub fn constraint_force(&self, q0: &[f64], v0: &[f64], world: &World<'_>, dt: f64, scratch: &mut Scratch) -> f64 {
        let Some((low, high)) = self.model.joints.first().and_then(|joint| joint.range) else { return 0.0 };
        let is_free = |q: &[f64]| q[0] > low && q[0] < high;
        if is_free(q0) && is_free(world.q) {
            return 0.0;
        }
        self.quantities().missing_force(q0, v0, world, dt, scratch)
    }
}
