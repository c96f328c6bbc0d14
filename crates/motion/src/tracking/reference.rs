//! A motion in equal steps, and how far a body is from it.

use crate::BoundMotion;
use multibody::{Kinematics, Model, difference, forward_kinematics};
use spatial::Vec3;
use support::suggest;

use super::Error;

/// Configurations of a reference at most.
pub const MAX_STEPS: usize = 1_000_000;
/// Their coordinates at most: 400 MB.
const MAX_COORDINATES: usize = 50_000_000;

/// A motion as configurations of a model, one for each step, or one for many short ones.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The time step, s.
    pub dt: f64,
    /// Steps between two configurations; each is kept until the next.
    held: usize,
    steps: usize,
    nq: usize,
    q: Vec<f64>,
    /// The velocity that leads from the first configuration to that after a step, (nv).
    pub velocity: Vec<f64>,
}

impl Reference {
    /// The motion from its beginning in steps of `dt` > 0: the start and `steps` more.
    ///
    /// # Errors
    /// When there would be more than [`MAX_STEPS`] configurations, or 400 MB of them.
    pub fn new(model: &Model, motion: &BoundMotion, dt: f64, steps: usize) -> Result<Self, Error> {
        Self::held(model, motion, dt, steps, 1)
    }

    /// The same with one configuration for every `held` ≥ 1 steps: for steps so short that nothing happens from one to the next.
    ///
    /// # Errors
    /// When there would be more than [`MAX_STEPS`] configurations, or 400 MB of them.
    pub fn held(model: &Model, motion: &BoundMotion, dt: f64, steps: usize, held: usize) -> Result<Self, Error> {
        let held = held.max(1);
        let count = steps.div_ceil(held);
        let (nq, nv) = (model.nq(), model.nv());
        let most = MAX_STEPS.min(MAX_COORDINATES / nq.max(1));
        if count > most {
            return Err(Error::TooLong { steps, dt, most: most * held });
        }
        let (mut q, mut velocity) = (vec![0.0; (count + 1) * nq], vec![0.0; nv]);
        let mut binding = motion.binding.clone();
        binding.positions_and_velocities(&motion.motion, 0.0, dt, &mut q[..nq], &mut velocity);
        for k in 1..=count {
            binding.positions(&motion.motion, (k * held) as f64 * dt, &mut q[k * nq..(k + 1) * nq]);
        }
        Ok(Self { dt, held, steps, nq, q, velocity })
    }

    /// The number of steps from the first configuration to the last.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The configuration after `k` steps, (nq); the last one after more.
    pub fn at(&self, k: usize) -> &[f64] {
        let k = k.min(self.steps) / self.held;
        &self.q[k * self.nq..(k + 1) * self.nq]
    }

    /// The configuration at the end of step `step`, (nq).
    pub fn aim(&self, step: u64) -> &[f64] {
        self.at((step as usize).saturating_add(1))
    }

    /// The velocity of the motion in step `step`, (nv): the one that leads from its configuration to the next.
    pub fn velocity_in(&self, model: &Model, step: u64, v: &mut [f64]) {
        let step = step as usize;
        difference(&model.tree, self.at(step), self.at(step.saturating_add(self.held)), v);
        let interval = self.held as f64 * self.dt;
        v.iter_mut().for_each(|v| *v /= interval);
    }
}

/// Where bodies are as seen from the root, in world axes: what the figures 5 and 6 of the MABA paper compare.
#[derive(Clone, Debug)]
pub struct Effectors {
    /// Their names.
    pub names: Vec<String>,
    /// Node and place in its frame of each.
    points: Vec<(usize, Vec3<f64>)>,
    root: usize,
    kinematics: [Kinematics<f64>; 2],
}

impl Effectors {
    /// The origins of the bodies of these names.
    ///
    /// # Errors
    /// If a body of these names is missing or does not move.
    pub fn named(model: &Model, names: &[String]) -> Result<Self, Error> {
        let points = names.iter().map(|name| {
            let body = model.body(name).map(|body| &model.bodies[body]);
            body.and_then(|body| Some((body.node?, body.pose.pos))).ok_or_else(|| {
                let moving = model.bodies.iter().filter(|body| body.node.is_some()).map(|body| body.name.as_str());
                Error::NoBody { model: model.name.clone(), name: name.clone(), hint: hint(name, moving) }
            })
        });
        Ok(Self::new(model, names.to_vec(), points.collect::<Result<_, _>>()?))
    }

    /// The ends of the figure: the bodies that move and carry no body that moves otherwise.
    pub fn ends(model: &Model) -> Self {
        let tree = &model.tree;
        let root = root_node(model);
        let is_end = |node: usize| node != root && !tree.nodes.iter().any(|other| other.parent == node);
        let bodies = model.bodies.iter().enumerate();
        let ends = bodies.filter(|(i, body)| body.node.is_some_and(is_end) && body.rigid_group == *i);
        let (names, points) =
            ends.filter_map(|(_, body)| Some((body.name.clone(), (body.node?, body.pose.pos)))).unzip();
        Self::new(model, names, points)
    }

    fn new(model: &Model, names: Vec<String>, points: Vec<(usize, Vec3<f64>)>) -> Self {
        let kinematics = [Kinematics::new(&model.tree), Kinematics::new(&model.tree)];
        Self { names, points, root: root_node(model), kinematics }
    }

    /// The distance of every body from where it is in `reference`, both seen from the root, m; and that of the root in the world.
    pub fn compare(&mut self, model: &Model, q: &[f64], reference: &[f64], out: &mut Vec<f64>) -> f64 {
        let tree = &model.tree;
        for (kinematics, q) in self.kinematics.iter_mut().zip([q, reference]) {
            forward_kinematics(tree, tree.all(), q, kinematics);
        }
        let root = |k: usize| self.kinematics[k].frames[self.root].pos;
        out.clear();
        out.extend(self.points.iter().map(|&(node, offset)| {
            let vector = |k: usize| {
                let frame = &self.kinematics[k].frames[node];
                frame.pos + frame.rot * offset - root(k)
            };
            (vector(0) - vector(1)).norm()
        }));
        (root(0) - root(1)).norm()
    }
}

/// The root mean square of the coordinates by which two configurations differ, those in `but` left out, rad (m of what slides).
pub fn joint_error(
    model: &Model,
    q: &[f64],
    reference: &[f64],
    but: &std::ops::Range<usize>,
    scratch: &mut Vec<f64>,
) -> f64 {
    scratch.resize(model.nv(), 0.0);
    difference(&model.tree, reference, q, scratch);
    let others = scratch.iter().enumerate().filter(|(i, _)| !but.contains(i));
    let (sum, count) = others.fold((0.0, 0), |(sum, count), (_, x)| (sum + x * x, count + 1));
    (sum / f64::from(count.max(1))).sqrt()
}

/// The node of the first free joint, or the first one.
fn root_node(model: &Model) -> usize {
    let free = model.joints.iter().find(|joint| joint.kind == multibody::JointKind::Free);
    free.map_or(0, |joint| joint.nodes.start)
}

fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = suggest::did_you_mean(name, known.clone());
    near.unwrap_or_else(|| format!("expected one of {}", known.collect::<Vec<_>>().join(", ")))
}
