//! What an observation consists of.

use std::ops::Range;

use batch::World;

use crate::quantities::{Quantities, Scratch};
use crate::task::{Task, TaskOptions};

/// A part of an observation, entry after entry.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Positions.
    Q(Range<usize>),
    /// Their sines.
    Sines(Range<usize>),
    /// Their cosines.
    Cosines(Range<usize>),
    /// Velocities, at most so fast.
    V(Range<usize>, f64),
    /// The origin of a body, x y z.
    Origin(usize),
    /// The origin of the first body less that of the second, x y.
    Between(usize, usize),
    /// `cinert` of all bodies but the world.
    Inertias,
    /// `cvel` of all bodies but the world.
    Velocities,
    /// `qfrc_actuator` from a degree of freedom on.
    ActuatorForces(usize),
    /// `cfrc_ext` of all bodies but the world, entries cut to a range.
    ContactForces((f64, f64)),
    /// `qfrc_constraint` of the first degree of freedom, at most so large.
    ConstraintForce(f64),
}

/// How an observation is made of a model of so many coordinates and bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub nq: usize,
    pub nv: usize,
    pub bodies: usize,
}

/// The bodies that a task names.
pub(crate) struct Named<'a>(pub &'a [usize]);

/// The parts of a task's observation.
pub(crate) fn parts(task: Task, options: &TaskOptions, sizes: Sizes, named: &Named<'_>) -> Vec<Part> {
    let Sizes { nq, nv, .. } = sizes;
    let skipped = |n: usize| if options.exclude_current_positions_from_observation { n } else { 0 };
    let free = f64::INFINITY;
    let without_limits = (f64::NEG_INFINITY, f64::INFINITY);
    match (task, named.0) {
        (Task::Ant, _) => {
            let mut parts = vec![Part::Q(skipped(2)..nq), Part::V(0..nv, free)];
            if options.include_cfrc_ext_in_observation {
                parts.push(Part::ContactForces(options.contact_force_range));
            }
            parts
        }
        (Task::HalfCheetah, _) => vec![Part::Q(skipped(1)..nq), Part::V(0..nv, free)],
        (Task::Hopper | Task::Walker2d, _) => vec![Part::Q(skipped(1)..nq), Part::V(0..nv, 10.0)],
        (Task::Swimmer, _) => vec![Part::Q(skipped(2)..nq), Part::V(0..nv, free)],
        (Task::Humanoid | Task::HumanoidStandup, _) => {
            let mut parts = vec![Part::Q(skipped(2)..nq), Part::V(0..nv, free)];
            let own = [
                (options.include_cinert_in_observation, Part::Inertias),
                (options.include_cvel_in_observation, Part::Velocities),
                (options.include_qfrc_actuator_in_observation, Part::ActuatorForces(6)),
                (options.include_cfrc_ext_in_observation, Part::ContactForces(without_limits)),
            ];
            parts.extend(own.into_iter().filter(|(is_in, _)| *is_in).map(|(_, part)| part));
            parts
        }
        (Task::InvertedDoublePendulum, _) => vec![
            Part::Q(0..1),
            Part::Sines(1..nq),
            Part::Cosines(1..nq),
            Part::V(0..nv, 10.0),
            Part::ConstraintForce(10.0),
        ],
        (Task::Reacher, &[fingertip, target]) => vec![
            Part::Cosines(0..2),
            Part::Sines(0..2),
            Part::Q(2..nq),
            Part::V(0..2, free),
            Part::Between(fingertip, target),
        ],
        (Task::Pusher, &[tips, object, goal]) => {
            vec![Part::Q(0..7), Part::V(0..7, free), Part::Origin(tips), Part::Origin(object), Part::Origin(goal)]
        }
        _ => vec![Part::Q(0..nq), Part::V(0..nv, free)],
    }
}

impl Part {
    /// How many entries it has.
    pub fn len(&self, sizes: Sizes) -> usize {
        match self {
            Self::Q(range) | Self::Sines(range) | Self::Cosines(range) | Self::V(range, _) => range.len(),
            Self::Origin(_) => 3,
            Self::Between(..) => 2,
            Self::Inertias => 10 * (sizes.bodies - 1),
            Self::Velocities | Self::ContactForces(_) => 6 * (sizes.bodies - 1),
            Self::ActuatorForces(first) => sizes.nv - first,
            Self::ConstraintForce(_) => 1,
        }
    }

    /// Whether it needs placements.
    pub fn needs_placements(&self) -> bool {
        !matches!(
            self,
            Self::Q(_)
                | Self::Sines(_)
                | Self::Cosines(_)
                | Self::V(..)
                | Self::ActuatorForces(_)
                | Self::ConstraintForce(_)
        )
    }

    /// Writes it to `out`; quantities of bodies are in `scratch`.
    pub fn write(
        &self,
        all: &Quantities<'_>,
        world: &World<'_>,
        constraint_force: f64,
        scratch: &Scratch,
        out: &mut [f64],
    ) {
        let bodies = 1..all.model.bodies.len();
        match self {
            Self::Q(range) => out.copy_from_slice(&world.q[range.clone()]),
            Self::Sines(range) => {
                out.iter_mut().zip(&world.q[range.clone()]).for_each(|(out, q)| *out = libm::sin(*q));
            }
            Self::Cosines(range) => {
                out.iter_mut().zip(&world.q[range.clone()]).for_each(|(out, q)| *out = libm::cos(*q));
            }
            Self::V(range, most) => {
                out.iter_mut().zip(&world.v[range.clone()]).for_each(|(out, v)| *out = v.max(-most).min(*most));
            }
            Self::Origin(body) => out.copy_from_slice(&all.frame(*body, scratch).pos.to_array()),
            Self::Between(a, b) => {
                let between = all.frame(*a, scratch).pos - all.frame(*b, scratch).pos;
                out.copy_from_slice(&[between.x, between.y]);
            }
            Self::Inertias => {
                for (out, body) in out.chunks_exact_mut(10).zip(bodies) {
                    out.copy_from_slice(&all.inertia(body, scratch));
                }
            }
            Self::Velocities => {
                for (out, body) in out.chunks_exact_mut(6).zip(bodies) {
                    out.copy_from_slice(&all.velocity(body, scratch));
                }
            }
            Self::ActuatorForces(first) => out.copy_from_slice(&scratch.actuator_forces[*first..]),
            Self::ContactForces((low, high)) => {
                for (out, force) in out.chunks_exact_mut(6).zip(&scratch.contact_forces[bodies]) {
                    out.iter_mut().zip(force).for_each(|(out, x)| *out = x.max(*low).min(*high));
                }
            }
            Self::ConstraintForce(most) => out.fill(constraint_force.max(-most).min(*most)),
        }
    }
}
