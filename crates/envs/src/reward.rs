//! Rewards, and whether an episode ends.

use batch::World;

use crate::quantities::{Quantities, Scratch};
use crate::task::{Task, TaskOptions};

/// A step of an environment: where it began and what was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transition {
    /// Where what counts as position was before, x y, m: [`Environment::position`](crate::Environment::position).
    pub before: [f64; 2],
    /// Where it is now, x y, m.
    pub after: [f64; 2],
    /// `qfrc_constraint` of the first degree of freedom in the last time step, N.
    pub constraint_force: f64,
}

/// What a task's definition takes from its model.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub task: Task,
    pub options: TaskOptions,
    /// Time that a step of the environment takes, s.
    pub dt: f64,
    /// Height at the start, by which `z_distance_from_origin` is told.
    pub start_height: f64,
    /// The bodies, or the site's body, that the task names.
    pub named: Vec<usize>,
    /// The site that must stay up, in its body.
    pub tip: spatial::Vec3<f64>,
}

/// Writes the entries of `info` one after another.
struct Info<'a>(std::slice::IterMut<'a, f64>);

impl Info<'_> {
    fn push(&mut self, value: f64) {
        if let Some(entry) = self.0.next() {
            *entry = value;
        }
    }

    fn extend<const N: usize>(&mut self, values: [f64; N]) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

fn norm(x: [f64; 2]) -> f64 {
    libm::hypot(x[0], x[1])
}

fn sum_of_squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

impl Definition {
    /// Whether the state is one in which an episode goes on.
    pub fn is_healthy(&self, world: &World<'_>, tip_height: f64) -> bool {
        let (q, v, options) = (world.q, world.v, &self.options);
        let within = |x: f64, (low, high): (f64, f64)| low < x && x < high;
        match self.task {
            Task::Ant => {
                let (low, high) = options.healthy_z_range;
                q.iter().chain(v).all(|x| x.is_finite()) && (low..=high).contains(&q[2])
            }
            Task::Humanoid => within(q[2], options.healthy_z_range),
            Task::Hopper => {
                q.iter().chain(v).skip(2).all(|x| within(*x, options.healthy_state_range))
                    && within(q[1], options.healthy_z_range)
                    && within(q[2], options.healthy_angle_range)
            }
            Task::Walker2d => within(q[1], options.healthy_z_range) && within(q[2], options.healthy_angle_range),
            Task::InvertedPendulum => q.iter().chain(v).all(|x| x.is_finite()) && q[1].abs() <= 0.2,
            Task::InvertedDoublePendulum => tip_height > 1.0,
            Task::HalfCheetah | Task::HumanoidStandup | Task::Pusher | Task::Reacher | Task::Swimmer => true,
        }
    }

    /// Whether an episode ends by itself.
    fn ends(&self) -> bool {
        match self.task {
            Task::Ant | Task::Hopper | Task::Humanoid | Task::Walker2d => self.options.terminate_when_unhealthy,
            _ => true,
        }
    }

    /// The entries of `info` that a reset has, too; how many they are.
    fn write_place(&self, all: &Quantities<'_>, world: &World<'_>, info: &mut Info<'_>) {
        let q = world.q;
        match self.task {
            Task::Ant | Task::Swimmer => info.extend([q[0], q[1], norm([q[0], q[1]])]),
            Task::HalfCheetah => info.push(q[0]),
            Task::Hopper | Task::Walker2d => info.extend([q[0], q[1] - self.start_height]),
            Task::Humanoid | Task::HumanoidStandup => {
                let last = if self.task == Task::Humanoid { norm([q[0], q[1]]) } else { q[2] - self.start_height };
                info.extend([q[0], q[1], last]);
                for (values, is_velocity) in [(q, false), (world.v, true)] {
                    for tendon in &all.model.tendons {
                        let of = |&(joint, coefficient): &(usize, f64)| {
                            let joint = &all.model.joints[joint];
                            coefficient * values[if is_velocity { joint.v } else { joint.q }]
                        };
                        info.push(tendon.terms().iter().map(of).sum());
                    }
                }
            }
            Task::InvertedDoublePendulum | Task::InvertedPendulum | Task::Pusher | Task::Reacher => {}
        }
    }

    /// The `info` of a reset; what it does not have is zero.
    pub fn write_reset_info(&self, all: &Quantities<'_>, world: &World<'_>, info: &mut [f64]) {
        info.fill(0.0);
        self.write_place(all, world, &mut Info(info.iter_mut()));
    }

    /// Reward and end; `info` gets its entries. Quantities of bodies are in `scratch`.
    pub fn reward(
        &self,
        all: &Quantities<'_>,
        world: &World<'_>,
        transition: &Transition,
        scratch: &Scratch,
        info: &mut [f64],
    ) -> (f64, bool) {
        let mut info = Info(info.iter_mut());
        self.write_place(all, world, &mut info);
        let (options, ctrl) = (&self.options, world.ctrl);
        let Transition { before, after, .. } = *transition;
        let velocity = [(after[0] - before[0]) / self.dt, (after[1] - before[1]) / self.dt];
        let tip = self.tip_position(all, scratch);
        let is_healthy = self.is_healthy(world, tip[1]);
        let survive = if is_healthy { options.healthy_reward } else { 0.0 };
        let forward = options.forward_reward_weight * velocity[0];
        let control = options.ctrl_cost_weight * sum_of_squares(ctrl);
        let contact = self.contact_cost(scratch);
        let reward = match self.task {
            Task::Ant => {
                info.extend(velocity);
                info.extend([forward, -control, -contact, survive]);
                forward + survive - (control + contact)
            }
            Task::Humanoid => {
                info.extend(velocity);
                info.extend([survive, forward, -control, -contact]);
                forward + survive - (control + contact)
            }
            Task::HalfCheetah => {
                info.extend([velocity[0], forward, -control]);
                forward - control
            }
            Task::Hopper | Task::Walker2d => {
                info.extend([velocity[0], forward, -control, survive]);
                forward + survive - control
            }
            Task::Swimmer => {
                info.extend(velocity);
                info.extend([forward, -control]);
                forward - control
            }
            Task::HumanoidStandup => {
                // The definition divides by the time step of the model and has no use for its weight.
                let up = world.q[2] / all.model.timestep;
                info.extend([up, -control, -contact]);
                up - control - contact + 1.0
            }
            Task::InvertedPendulum => {
                let survive = f64::from(is_healthy);
                info.push(survive);
                survive
            }
            Task::InvertedDoublePendulum => {
                let [x, y] = tip;
                let distance = 0.01 * x * x + (y - 2.0) * (y - 2.0);
                let speed = 1e-3 * world.v[1] * world.v[1] + 5e-3 * world.v[2] * world.v[2];
                info.extend([survive, -distance, -speed]);
                survive - distance - speed
            }
            Task::Reacher => {
                let distance = self.distance(all, scratch, 0, 1) * options.reward_dist_weight;
                let control = options.reward_control_weight * sum_of_squares(ctrl);
                info.extend([-distance, -control]);
                -distance - control
            }
            Task::Pusher => {
                let near = self.distance(all, scratch, 1, 0) * options.reward_near_weight;
                let distance = self.distance(all, scratch, 1, 2) * options.reward_dist_weight;
                let control = options.reward_control_weight * sum_of_squares(ctrl);
                info.extend([-distance, -control, -near]);
                -distance - control - near
            }
        };
        (reward, !is_healthy && self.ends())
    }

    /// Between two of the bodies that the task names.
    fn distance(&self, all: &Quantities<'_>, scratch: &Scratch, a: usize, b: usize) -> f64 {
        (all.frame(self.named[a], scratch).pos - all.frame(self.named[b], scratch).pos).norm()
    }

    /// x and z of the site that must stay up; zero where there is none.
    fn tip_position(&self, all: &Quantities<'_>, scratch: &Scratch) -> [f64; 2] {
        if self.task != Task::InvertedDoublePendulum {
            return [0.0; 2];
        }
        let frame = all.frame(self.named[0], scratch);
        let tip = frame.pos + frame.rot * self.tip;
        [tip.x, tip.z]
    }

    fn contact_cost(&self, scratch: &Scratch) -> f64 {
        let options = &self.options;
        let (weight, range) = match self.task {
            Task::Ant => (options.contact_cost_weight, (f64::NEG_INFINITY, f64::INFINITY)),
            Task::Humanoid => (options.contact_cost_weight, options.contact_cost_range),
            Task::HumanoidStandup => (options.impact_cost_weight, options.impact_cost_range),
            _ => return 0.0,
        };
        let force = if self.task == Task::Ant { options.contact_force_range } else { (f64::MIN, f64::MAX) };
        let cut = |x: &f64| x.max(force.0).min(force.1);
        let squares = scratch.contact_forces.iter().flatten().map(|x| cut(x) * cut(x)).sum::<f64>();
        (weight * squares).max(range.0).min(range.1)
    }
}

/// Names of the entries of `info` with how many numbers each has, and how many of the names a reset has, too.
pub(crate) fn info(task: Task, tendons: usize) -> (Vec<(&'static str, usize)>, usize) {
    let place: &[&str] = match task {
        Task::Ant | Task::Swimmer | Task::Humanoid => &["x_position", "y_position", "distance_from_origin"],
        Task::HumanoidStandup => &["x_position", "y_position", "z_distance_from_origin"],
        Task::HalfCheetah => &["x_position"],
        Task::Hopper | Task::Walker2d => &["x_position", "z_distance_from_origin"],
        Task::InvertedDoublePendulum | Task::InvertedPendulum | Task::Pusher | Task::Reacher => &[],
    };
    let step: &[&str] = match task {
        Task::Ant => &["x_velocity", "y_velocity", "reward_forward", "reward_ctrl", "reward_contact", "reward_survive"],
        Task::Humanoid => {
            &["x_velocity", "y_velocity", "reward_survive", "reward_forward", "reward_ctrl", "reward_contact"]
        }
        Task::HalfCheetah => &["x_velocity", "reward_forward", "reward_ctrl"],
        Task::Hopper | Task::Walker2d => &["x_velocity", "reward_forward", "reward_ctrl", "reward_survive"],
        Task::Swimmer => &["x_velocity", "y_velocity", "reward_forward", "reward_ctrl"],
        Task::HumanoidStandup => &["reward_linup", "reward_quadctrl", "reward_impact"],
        Task::InvertedPendulum => &["reward_survive"],
        Task::InvertedDoublePendulum => &["reward_survive", "distance_penalty", "velocity_penalty"],
        Task::Reacher => &["reward_dist", "reward_ctrl"],
        Task::Pusher => &["reward_dist", "reward_ctrl", "reward_near"],
    };
    let mut columns: Vec<_> = place.iter().map(|name| (*name, 1)).collect();
    if matches!(task, Task::Humanoid | Task::HumanoidStandup) {
        columns.extend([("tendon_length", tendons), ("tendon_velocity", tendons)]);
    }
    let of_reset = columns.len();
    columns.extend(step.iter().map(|name| (*name, 1)));
    (columns, of_reset)
}
