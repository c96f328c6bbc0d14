//! Who moves, and how.

use std::path::Path;
use std::sync::Arc;

use characters::Character;
use geometry::Scene;
use motion::gait::{self, LeggedGait, Slither, SlitherPattern};
use motion::{Binding, BindingOptions, Motion, Skeleton, deepmimic};
use multibody::{Kinematics, Model, forward_kinematics};
use spatial::Vec3;

use crate::Error;

/// A gait that is written as code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gait {
    /// Of the humanoid.
    Walk,
    /// Of the dog.
    Pace,
    /// Of the dog.
    Trot,
    /// Of the dog.
    Canter,
    /// Of snakes.
    Slither,
}

impl Gait {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Pace => "pace",
            Self::Trot => "trot",
            Self::Canter => "canter",
            Self::Slither => "slither",
        }
    }
}

/// A character on the ground with a motion to follow.
#[derive(Clone)]
pub struct Subject {
    /// Who.
    pub character: Character,
    /// The name of the motion.
    pub motion_name: String,
    /// The character's model.
    pub model: Arc<Model>,
    /// Its shapes and the ground.
    pub scene: Arc<Scene>,
    motion: Arc<dyn Motion>,
}

impl Subject {
    /// A character in a gait.
    ///
    /// # Errors
    /// When the gait is not one of this character.
    pub fn gait(character: Character, gait: Gait) -> Result<Self, Error> {
        let (model, scene) = load(character, true)?;
        let skeleton =
            Skeleton::of_model(&model).ok_or(Error::NoBody { character: character.name(), name: "root".into() })?;
        let legged =
            |pattern| -> Result<Arc<dyn Motion>, Error> { Ok(Arc::new(LeggedGait::new(&skeleton, &pattern)?)) };
        let motion = match gait {
            Gait::Walk => legged(gait::walk())?,
            Gait::Pace => legged(gait::pace())?,
            Gait::Trot => legged(gait::trot())?,
            Gait::Canter => legged(gait::canter())?,
            Gait::Slither => Arc::new(Slither::new(&skeleton, &SlitherPattern::default())?),
        };
        Ok(Self { character, motion_name: gait.name().into(), model, scene, motion })
    }

    /// The humanoid in a clip of DeepMimic's text format. The seam of a loop is closed over its last 0.2 s.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn clip(path: &Path, name: &str) -> Result<Self, Error> {
        let character = Character::Humanoid;
        let (model, scene) = load(character, true)?;
        let clip = deepmimic::load(path)?.clip;
        let clip = if clip.loop_mode() == motion::LoopMode::Wrap { clip.with_closed_loop(0.2) } else { clip };
        Ok(Self { character, motion_name: name.into(), model, scene, motion: Arc::new(clip) })
    }

    /// The same without ground.
    ///
    /// # Errors
    /// None but those of reading the character.
    pub fn in_the_air(self) -> Result<Self, Error> {
        let (model, scene) = load(self.character, false)?;
        Ok(Self { model, scene, ..self })
    }

    /// The same with the mass and the inertia of some bodies multiplied by `factor` > 0.
    pub fn with_scaled_bodies(mut self, factor: f64, which: impl Fn(&str) -> bool) -> Self {
        let model = Arc::make_mut(&mut self.model);
        for body in model.bodies.iter_mut().filter(|body| which(&body.name)) {
            let Some(node) = body.node else { continue };
            for inertia in [&mut body.inertia, &mut model.tree.nodes[node].inertia] {
                inertia.mass *= factor;
                inertia.inertia = inertia.inertia * factor;
            }
        }
        self
    }

    /// "dog canter".
    pub fn name(&self) -> String {
        format!("{} {}", self.character, self.motion_name)
    }

    /// The reference motion in steps of `dt`: the start and `steps` more.
    ///
    /// # Errors
    /// When the motion does not fit the character.
    pub fn reference(&self, dt: f64, steps: usize) -> Result<Reference, Error> {
        let motion = &*self.motion;
        let mut binding = Binding::new(&self.model, &motion, &BindingOptions::default())?;
        let (nq, nv) = (self.model.nq(), self.model.nv());
        let (mut q, mut velocity) = (vec![0.0; (steps + 1) * nq], vec![0.0; nv]);
        binding.positions_and_velocities(&motion, 0.0, dt, &mut q[..nq], &mut velocity);
        for k in 1..=steps {
            binding.positions(&motion, k as f64 * dt, &mut q[k * nq..(k + 1) * nq]);
        }
        Ok(Reference { dt, nq, q, velocity })
    }
}

fn load(character: Character, ground: bool) -> Result<(Arc<Model>, Arc<Scene>), Error> {
    let text = characters::mjcf(character, &characters::Options { ground, self_collision: false });
    let loaded = formats::load_str(&text, None, &formats::LoadOptions::default())?;
    Ok((Arc::new(loaded.model), Arc::new(loaded.scene)))
}

/// A motion as configurations of a model at equal intervals.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The interval, s.
    pub dt: f64,
    nq: usize,
    q: Vec<f64>,
    /// The velocity that leads from the first configuration to the second, (nv).
    pub velocity: Vec<f64>,
}

impl Reference {
    /// The number of steps from the first configuration to the last.
    pub fn steps(&self) -> usize {
        self.q.len() / self.nq - 1
    }

    /// The configuration after `k` steps, (nq).
    pub fn at(&self, k: usize) -> &[f64] {
        &self.q[k * self.nq..(k + 1) * self.nq]
    }

    /// The configuration to reach in step `step`, (nq): that of its end, and the last one from then on.
    pub fn aim(&self, step: u64) -> &[f64] {
        self.at((step as usize).saturating_add(1).min(self.steps()))
    }
}

/// How far a body is from where the reference has it, seen from the root as in the paper's figures 5 and 6.
#[derive(Clone, Debug)]
pub struct EndEffector {
    node: usize,
    offset: Vec3<f64>,
    kinematics: Kinematics<f64>,
    squares: f64,
    samples: usize,
}

impl EndEffector {
    /// Follows the origin of the body of this name.
    ///
    /// # Errors
    /// When there is none that moves.
    pub fn new(subject: &Subject, name: &str) -> Result<Self, Error> {
        let model = &subject.model;
        let missing = || Error::NoBody { character: subject.character.name(), name: name.into() };
        let body = &model.bodies[model.body(name).ok_or_else(missing)?];
        let node = body.node.ok_or_else(missing)?;
        Ok(Self { node, offset: body.pose.pos, kinematics: Kinematics::new(&model.tree), squares: 0.0, samples: 0 })
    }

    /// From the root's origin to the body's, world axes, m.
    fn vector(&mut self, model: &Model, q: &[f64]) -> Vec3<f64> {
        forward_kinematics(&model.tree, model.tree.all(), q, &mut self.kinematics);
        let (root, frame) = (&self.kinematics.frames[0], &self.kinematics.frames[self.node]);
        frame.pos + frame.rot * self.offset - root.pos
    }

    /// Compares two configurations and returns the distance, m.
    pub fn compare(&mut self, model: &Model, q: &[f64], reference: &[f64]) -> f64 {
        let distance = (self.vector(model, q) - self.vector(model, reference)).norm();
        self.squares += distance * distance;
        self.samples += 1;
        distance
    }

    /// The root of the mean square of all distances, m.
    pub fn root_mean_square(&self) -> f64 {
        (self.squares / self.samples.max(1) as f64).sqrt()
    }
}
