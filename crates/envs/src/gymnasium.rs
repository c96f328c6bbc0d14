//! A task of Gymnasium on a model.

use batch::World;
use multibody::{JointKind, JointType, Model, Transmission};
use spatial::Vec3;

use crate::error::EnvError;
use crate::observation::{Named, Part, Sizes, parts};
use crate::quantities::{Quantities, Scratch};
use crate::reward::{Definition, Transition, info};
use crate::task::{Task, TaskOptions};

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
pub(crate) struct Gymnasium {
    pub definition: Definition,
    pub parts: Vec<Part>,
    position: Position,
    needs_placements: bool,
    pub needs_contacts: bool,
}

impl Gymnasium {
    /// A task on a model, whose steps take `dt`, s.
    ///
    /// # Errors
    /// When the model lacks what the task names, or has other coordinates than it needs.
    pub fn new(model: &Model, task: Task, options: &TaskOptions, dt: f64) -> Result<Self, EnvError> {
        check_coordinates(model, task)?;
        let (named, tip) = named(model, task)?;
        let parts = parts(task, options, sizes(model), &Named(&named));
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
        let start_height = match task {
            Task::Hopper | Task::Walker2d => model.q0[1],
            Task::HumanoidStandup => model.q0[2],
            _ => 0.0,
        };
        Ok(Self {
            definition: Definition { task, options: options.clone(), dt, start_height, named, tip },
            parts,
            position,
            needs_placements,
            needs_contacts,
        })
    }

    /// Names and numbers of the entries of `info`, and how many of them resets have.
    pub fn info(&self, model: &Model) -> (Vec<(&'static str, usize)>, usize) {
        info(self.definition.task, model.tendons.len())
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self, model: &Model) -> usize {
        self.parts.iter().map(|part| part.len(sizes(model))).sum()
    }

    /// Where what counts as position is, x y, m.
    pub fn position(&self, all: &Quantities<'_>, q: &[f64], scratch: &mut Scratch) -> [f64; 2] {
        let of = |p: Vec3<f64>| [p.x, p.y];
        match self.position {
            Position::Nothing => [0.0; 2],
            Position::Coordinates => [q[0], q[1]],
            Position::Body(body) => {
                // A free body, which the ant's torso is, is where its coordinates say.
                let own = &all.model.bodies[body];
                match own.node.map(|node| &all.model.tree.nodes[node]) {
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

    /// Finds what observation and reward need, and writes the observation.
    pub fn observe(
        &self,
        all: &Quantities<'_>,
        world: &World<'_>,
        constraint_force: f64,
        scratch: &mut Scratch,
        mut out: &mut [f64],
    ) {
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
        for part in &self.parts {
            let (own, rest) = out.split_at_mut(part.len(sizes(all.model)));
            part.write(all, world, constraint_force, scratch, own);
            out = rest;
        }
    }

    /// Observation, `info`, reward and end of a step.
    pub fn step(
        &self,
        all: &Quantities<'_>,
        world: &World<'_>,
        mut transition: Transition,
        scratch: &mut Scratch,
        observation: &mut [f64],
        info: &mut [f64],
    ) -> (f64, bool) {
        transition.after = self.position(all, world.q, scratch);
        self.observe(all, world, transition.constraint_force, scratch, observation);
        self.definition.reward(all, world, &transition, scratch, info)
    }
}

fn sizes(model: &Model) -> Sizes {
    Sizes { nq: model.nq(), nv: model.nv(), bodies: model.bodies.len() }
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
