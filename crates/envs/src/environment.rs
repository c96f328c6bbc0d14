//! One of the tasks on a model: pure functions of a world.

use std::sync::Arc;

use batch::World;
use geometry::Scene;
use multibody::{JointKind, JointType, Model, Transmission};
use spatial::Vec3;

use crate::observation::{Named, Part, Sizes, parts};
use crate::quantities::{Quantities, Scratch, roots};
use crate::reward::{Definition, Transition, info};
use crate::task::{Task, TaskOptions};

/// Why an environment could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The model lacks something that the task names.
    #[error("{task}: the model has no {what}: expected that of Gymnasium's file, or one like it")]
    Missing {
        /// The task.
        task: &'static str,
        /// What the model lacks.
        what: String,
    },
    /// The model has other coordinates than the task needs.
    #[error("{task}: the model has {found} {what}: expected {expected}")]
    Coordinates {
        /// The task.
        task: &'static str,
        /// Coordinates of which kind.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: &'static str,
    },
    /// The model has an actuator whose force is not known.
    #[error(
        "{task}: actuator {name:?} does not act on a joint of one degree of freedom: expected such, for qfrc_actuator"
    )]
    Actuator {
        /// The task.
        task: &'static str,
        /// The actuator.
        name: String,
    },
    /// Forces of contact are asked for, and the batch does not record contacts.
    #[error("{task}: the batch does not record contacts: expected one made with `contacts`")]
    Contacts {
        /// The task.
        task: &'static str,
    },
    /// A number outside its domain.
    #[error("{name} is {value}: expected {expected}")]
    Value {
        /// Its name.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// The batch is of another model.
    #[error("the batch is of another model: expected that of the environment")]
    OtherModel,
}

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

/// What counts as the position whose change is rewarded.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// The first two coordinates.
    Coordinates,
    /// The origin of a body.
    Body(usize),
    /// The centre of mass.
    Center,
    /// None.
    Nothing,
}

/// A task on a model.
#[derive(Clone, Debug)]
pub struct Environment {
    model: Arc<Model>,
    scene: Arc<Scene>,
    definition: Definition,
    parts: Vec<Part>,
    position: Position,
    roots: Vec<usize>,
    len: usize,
    columns: Vec<InfoColumn>,
    needs_placements: bool,
    needs_contacts: bool,
}

impl Environment {
    /// A task on a model, whose steps take `dt` (time step times frames), s.
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
        check_coordinates(model, task)?;
        let (named, tip) = named(model, task)?;
        let sizes = Sizes { nq: model.nq(), nv: model.nv(), bodies: model.bodies.len() };
        let parts = parts(task, options, sizes, &Named(&named));
        let position = match task {
            Task::Ant if options.main_body < model.bodies.len() => Position::Body(options.main_body),
            Task::Ant => return Err(missing(task, format!("body {}", options.main_body))),
            Task::Humanoid => Position::Center,
            Task::HalfCheetah | Task::Hopper | Task::Walker2d | Task::Swimmer => Position::Coordinates,
            _ => Position::Nothing,
        };
        let needs_contacts = matches!(task, Task::Ant | Task::Humanoid | Task::HumanoidStandup);
        let needs_placements = needs_contacts
            || matches!(task, Task::InvertedDoublePendulum | Task::Reacher | Task::Pusher)
            || parts.iter().any(Part::needs_placements);
        let (columns, of_reset) = info(task, model.tendons.len());
        let column = |(index, (name, width))| InfoColumn { name, width, is_of_reset: index < of_reset };
        let start_height = match task {
            Task::Hopper | Task::Walker2d => model.q0[1],
            Task::HumanoidStandup => model.q0[2],
            _ => 0.0,
        };
        Ok(Self {
            definition: Definition { task, options: options.clone(), dt, start_height, named, tip },
            len: parts.iter().map(|part| part.len(sizes)).sum(),
            columns: columns.into_iter().enumerate().map(column).collect(),
            roots: roots(model),
            model: model.clone(),
            scene: scene.clone(),
            parts,
            position,
            needs_placements,
            needs_contacts,
        })
    }

    /// The task.
    pub fn task(&self) -> Task {
        self.definition.task
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self) -> usize {
        self.len
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
        self.needs_contacts
    }

    /// Whether it needs the [`constraint_force`](Self::constraint_force) of the last time step.
    pub fn needs_constraint_force(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::ConstraintForce(_)))
    }

    fn quantities(&self) -> Quantities<'_> {
        Quantities { model: &self.model, scene: &self.scene, roots: &self.roots }
    }

    /// Where what counts as position is, x y, m.
    pub fn position(&self, q: &[f64], scratch: &mut Scratch) -> [f64; 2] {
        let all = self.quantities();
        let of = |p: Vec3<f64>| [p.x, p.y];
        match self.position {
            Position::Nothing => [0.0; 2],
            Position::Coordinates => [q[0], q[1]],
            Position::Body(body) => {
                // A free body, which the ant's torso is, is where its coordinates say.
                let own = &self.model.bodies[body];
                match own.node.map(|node| &self.model.tree.nodes[node]) {
                    Some(node) if node.joint == JointType::Free && own.pose.pos == Vec3::ZERO => {
                        [q[node.q], q[node.q + 1]]
                    }
                    _ => {
                        all.place(q, scratch);
                        of(all.frame(body, scratch).pos)
                    }
                }
            }
            Position::Center => {
                all.place(q, scratch);
                of(all.center_of_mass(scratch))
            }
        }
    }

    /// Finds what observation and reward need.
    fn prepare(&self, world: &World<'_>, scratch: &mut Scratch) {
        let all = self.quantities();
        if self.needs_placements {
            all.place(world.q, scratch);
        }
        for part in &self.parts {
            match part {
                Part::Velocities => all.move_on(world.v, scratch),
                Part::ActuatorForces(_) => all.gather_actuator_forces(world, scratch),
                _ => {}
            }
        }
        if self.needs_contacts {
            all.gather_contact_forces(world.contacts, scratch);
        }
    }

    fn write_observation(&self, world: &World<'_>, constraint_force: f64, scratch: &Scratch, mut out: &mut [f64]) {
        let all = self.quantities();
        let sizes = Sizes { nq: self.model.nq(), nv: self.model.nv(), bodies: self.model.bodies.len() };
        for part in &self.parts {
            let (own, rest) = out.split_at_mut(part.len(sizes));
            part.write(&all, world, constraint_force, scratch, own);
            out = rest;
        }
    }

    /// The observation and `info` after a reset; `info` of steps alone is zero.
    pub fn observe_reset(&self, world: &World<'_>, scratch: &mut Scratch, observation: &mut [f64], info: &mut [f64]) {
        self.prepare(world, scratch);
        self.write_observation(world, 0.0, scratch, observation);
        self.definition.write_reset_info(&self.quantities(), world, info);
    }

    /// The observation and `info` after a step; gives the reward, and whether the episode ends by itself. Controls of the world are the action,
    /// as it came; [`Transition::after`] is found here.
    pub fn observe_step(
        &self,
        world: &World<'_>,
        mut transition: Transition,
        scratch: &mut Scratch,
        observation: &mut [f64],
        info: &mut [f64],
    ) -> (f64, bool) {
        transition.after = self.position(world.q, scratch);
        self.prepare(world, scratch);
        self.write_observation(world, transition.constraint_force, scratch, observation);
        self.definition.reward(&self.quantities(), world, &transition, scratch, info)
    }

    /// The force of constraints on the first degree of freedom in a time step of `dt` from (q0, v0) to `world`, N: what the equation of
    /// motion lacks. Where the coordinate is within its limits, none acts, and it is zero; at a limit it is right to the order of the step.
    pub fn constraint_force(&self, start: (&[f64], &[f64]), world: &World<'_>, dt: f64, scratch: &mut Scratch) -> f64 {
        let Some((low, high)) = self.model.joints.first().and_then(|joint| joint.range) else { return 0.0 };
        let is_free = |q: &[f64]| q[0] > low && q[0] < high;
        if is_free(start.0) && is_free(world.q) {
            return 0.0;
        }
        self.quantities().missing_force(start, world, dt, scratch)
    }
}

fn missing(task: Task, what: String) -> EnvError {
    EnvError::Missing { task: task.name(), what }
}

/// Bodies that a task names, and the tip of the double pendulum in the only one.
fn named(model: &Model, task: Task) -> Result<(Vec<usize>, Vec3<f64>), EnvError> {
    let names: &[&str] = match task {
        Task::Reacher => &["fingertip", "target"],
        Task::Pusher => &["tips_arm", "object", "goal"],
        Task::InvertedDoublePendulum => {
            let site = model.sites.first().ok_or_else(|| missing(task, "site".into()))?;
            return Ok((vec![site.body], site.pose.pos));
        }
        _ => &[],
    };
    let body = |name: &&str| model.body(name).ok_or_else(|| missing(task, format!("body {name:?}")));
    Ok((names.iter().map(body).collect::<Result<_, _>>()?, Vec3::ZERO))
}

fn check_coordinates(model: &Model, task: Task) -> Result<(), EnvError> {
    let name = task.name();
    let check = |what, found: usize, is_right, expected| {
        if is_right { Ok(()) } else { Err(EnvError::Coordinates { task: name, what, found, expected }) }
    };
    let (nq, nv) = (model.nq(), model.nv());
    match task {
        Task::Ant | Task::Humanoid | Task::HumanoidStandup => {
            let free = model.joints.first().is_some_and(|joint| joint.kind == JointKind::Free);
            check("free joints at its root", 0, free, "a free joint first")?;
        }
        Task::HalfCheetah | Task::Hopper | Task::Walker2d | Task::Swimmer => {
            check("positions", nq, nq >= 3 && nq == nv, "3 or more, none of them of a quaternion")?;
        }
        Task::InvertedPendulum => check("positions", nq, nq == 2 && nv == 2, "2")?,
        Task::InvertedDoublePendulum => check("positions", nq, nq == 3 && nv == 3, "3")?,
        Task::Reacher => check("positions", nq, nq == 4 && nv == 4, "4")?,
        Task::Pusher => check("positions", nq, nq >= 11 && nq == nv, "11 or more, none of them of a quaternion")?,
    }
    for actuator in &model.actuators {
        let is_known =
            matches!(actuator.transmission, Transmission::Joint { joint, .. } if model.joints[joint].kind.nv() == 1);
        if !is_known {
            return Err(EnvError::Actuator { task: name, name: actuator.name.clone() });
        }
    }
    Ok(())
}
