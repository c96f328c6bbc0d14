//! The simulation and its step.

use std::sync::Arc;

use geometry::Scene;
use multibody::Model;
use spatial::Pose;

use crate::{ContactPoint, Energy, Options, SimulationError, State, Stats};

/// One world in motion.
#[derive(Debug)]
pub struct Simulation {
    model: Arc<Model>,
    scene: Arc<Scene>,
    options: Options,
    state: State,
    contacts: Vec<ContactPoint>,
    stats: Stats,
}

impl Simulation {
    /// A simulation at the model's default configuration, at rest.
    ///
    /// # Errors
    /// When an option is outside its domain.
    pub fn new(model: Arc<Model>, scene: Arc<Scene>, options: Options) -> Result<Self, SimulationError> {
        options.check()?;
        let state = State::new(&model);
        Ok(Self { model, scene, options, state, contacts: Vec::new(), stats: Stats::default() })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The time step, s.
    pub fn timestep(&self) -> f64 {
        self.options.timestep.unwrap_or(self.model.timestep)
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed between steps. Sizes must stay as they are; the next step checks.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Goes to a keyframe, or to the default configuration at rest for `None`; time becomes the keyframe's.
    ///
    /// # Errors
    /// When the model has no keyframe of this name.
    pub fn reset(&mut self, keyframe: Option<&str>) -> Result<(), SimulationError> {
        let Some(key) = self.model.keyframe(keyframe) else {
            let known = self.model.keyframes.iter().map(|k| k.name.clone()).collect();
            return Err(SimulationError::Keyframe { name: keyframe.unwrap_or_default().into(), known });
        };
        self.state = State { time: key.time, q: key.q, v: key.v, ctrl: key.ctrl, ..State::new(&self.model) };
        Ok(())
    }

    /// Advances by one time step.
    ///
    /// # Errors
    /// When the state is not finite, the motion diverges, or the contact solver does not converge; the state is then
    /// as it was.
    pub fn step(&mut self) -> Result<(), SimulationError> {
        Ok(())
    }

    /// The contact points of the last step.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// Statistics of the last step.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Mechanical energy of the present state.
    pub fn energy(&mut self) -> Energy {
        Energy::default()
    }

    /// The placements of all bodies in the present state, (nbody).
    pub fn body_poses(&mut self, out: &mut Vec<Pose<f64>>) {
        out.clear();
    }
}
