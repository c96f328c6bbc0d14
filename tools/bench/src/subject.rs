//! Who moves, and how.

use std::path::Path;
use std::sync::Arc;

use geometry::Scene;
use models::characters::{self, Character};
use motion::tracking::{Control, Controller, Effectors, Reference, Tracker};
use motion::{BoundMotion, Source, SourceOptions};
use multibody::Model;

use crate::Error;

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
    /// The motion on the model.
    pub motion: BoundMotion,
}

impl Subject {
    /// A character in a gait, by its name.
    ///
    /// # Errors
    /// When the gait is not one of this character.
    pub fn gait(character: Character, gait: &str) -> Result<Self, Error> {
        Self::new(character, gait, gait)
    }

    /// The humanoid in a clip of DeepMimic's text format, under a name of ours.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn clip(path: &Path, name: &str) -> Result<Self, Error> {
        Self::new(Character::Humanoid, &path.to_string_lossy(), name)
    }

    fn new(character: Character, source: &str, name: &str) -> Result<Self, Error> {
        let (model, scene) = load(character, true)?;
        let motion = Source::open(source)?.on(&model, &SourceOptions::default())?;
        Ok(Self { character, motion_name: name.into(), model, scene, motion })
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
    /// When there are too many.
    pub fn reference(&self, dt: f64, steps: usize) -> Result<Reference, Error> {
        Ok(Reference::new(&self.model, &self.motion, dt, steps)?)
    }

    /// The paper's controller by this method on the reference of so many steps.
    ///
    /// # Errors
    /// When the time step is refused.
    pub fn tracker(&self, control: Control, dt: f64, steps: usize) -> Result<Tracker, Error> {
        let reference = self.reference(dt, steps)?;
        Ok(Tracker::new(&self.model, &self.scene, reference, Controller::of_paper(control))?)
    }

    /// A body whose place against the root is compared.
    ///
    /// # Errors
    /// If no body of this name moves.
    pub fn effector(&self, name: &str) -> Result<Effectors, Error> {
        Ok(Effectors::named(&self.model, &[name.into()])?)
    }
}

fn load(character: Character, ground: bool) -> Result<(Arc<Model>, Arc<Scene>), Error> {
    let text = characters::mjcf(character, &characters::Options { ground, self_collision: false });
    let loaded = formats::load_str(&text, None, &formats::LoadOptions::default())?;
    Ok((Arc::new(loaded.model), Arc::new(loaded.scene)))
}
