//! Worlds with models of their own.

use std::sync::{Arc, Mutex};

use geometry::{Scene, SceneQueries};
use multibody::Model;
use sim::{Parameter, Parameters, Simulation, SimulationError};

use super::{Batch, BatchError};
use crate::group::OwnWorld;
use lanes::NotInLanes;

use crate::own::numbers_of;

/// A world that is not of the batch's model.
pub(super) struct Own {
    pub model: Arc<Model>,
    pub scene: Arc<Scene>,
    /// Where it is the batch's model with these.
    pub parameters: Parameters,
    /// Why it is stepped by itself, if it is.
    pub not_in_lanes: Option<String>,
    /// What rays and distances of its sensors need of its scene.
    pub queries: Mutex<Option<Box<SceneQueries>>>,
}

impl Own {
    fn new(model: Arc<Model>, scene: Arc<Scene>, parameters: Parameters) -> Self {
        Self { model, scene, parameters, not_in_lanes: None, queries: Mutex::default() }
    }
}

impl Batch {
    /// Gives a world parameters of its own: those that are given, beside what it was given before. A world that then has all as the model
    /// is one of the model again.
    ///
    /// # Errors
    /// When a vector has another length or a number is outside its domain; the world is then as it was.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_parameters(&mut self, world: usize, parameters: Parameters) -> Result<(), BatchError> {
        let parameters = match self.own.get(&world) {
            Some(own) => parameters.or(&own.parameters),
            None => parameters,
        };
        let (model, scene) = parameters.apply(&self.model, &self.scene)?;
        let is_own = |(parameter, own): (Parameter, &[f64])| own != parameter.of(&self.model, &self.scene);
        if !parameters.iter().any(is_own) {
            self.clear_world_model(world);
            return Ok(());
        }
        self.set_own(world, Own::new(model.into(), scene.into(), parameters))
    }

    /// All parameters of a world.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn parameters(&self, world: usize) -> Parameters {
        Parameter::ALL.into_iter().map(|parameter| (parameter, self.parameter(world, parameter))).collect()
    }

    /// One parameter of a world.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn parameter(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        let (model, scene) = self.world_model(world);
        let own = self.own.get(&world).map(|own| &own.parameters);
        // Inertias are those at the model's masses, which the world's own model does not tell.
        let is_of_base = matches!(parameter, Parameter::Inertias | Parameter::InertiaScales);
        match own.and_then(|own| own.get(parameter)) {
            Some(values) => values.to_vec(),
            None if is_of_base && own.is_some_and(|own| !own.is_empty()) => parameter.of(&self.model, &self.scene),
            None => parameter.of(model, scene),
        }
    }

    /// What a world was given beside the batch's model; nothing of a world with a model of its own.
    pub fn own_parameters(&self, world: usize) -> Option<&Parameters> {
        self.own.get(&world).map(|own| &own.parameters)
    }

    /// Gives a world a model and scene of its own, of the same structure: joints, bodies, actuators and geoms are those of the batch's,
    /// their numbers may be others.
    ///
    /// # Errors
    /// When the structure is another; the world is then as it was.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_world_model(&mut self, world: usize, model: Arc<Model>, scene: Arc<Scene>) -> Result<(), BatchError> {
        let nodes = |model: &Model| -> Vec<_> {
            model.tree.nodes.iter().map(|node| (node.parent, node.joint, node.q, node.v)).collect()
        };
        let bodies = |model: &Model| -> Vec<_> { model.bodies.iter().map(|body| (body.parent, body.node)).collect() };
        let actuators = |model: &Model| -> Vec<_> {
            model.actuators.iter().map(|actuator| actuator.transmission.clone()).collect()
        };
        let geoms = |scene: &Scene| -> Vec<_> { scene.geoms.iter().map(|geom| geom.body).collect() };
        let what = if nodes(&model) != nodes(&self.model) {
            "joints"
        } else if bodies(&model) != bodies(&self.model) {
            "bodies"
        } else if actuators(&model) != actuators(&self.model) {
            "actuators"
        } else if geoms(&scene) != geoms(&self.scene) {
            "geoms"
        } else {
            return self.set_own(world, Own::new(model, scene, Parameters::default()));
        };
        Err(BatchError::Structure { what })
    }

    /// Takes a world's own model or parameters back.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn clear_world_model(&mut self, world: usize) {
        if self.own.remove(&world).is_some() {
            self.groups[world / self.width].set_own(world % self.width, None);
            self.forget(world);
        }
    }

    /// The worlds that lanes do not step because of what they have of their own, and why, where lanes step the others.
    pub fn worlds_alone(&self) -> impl Iterator<Item = (usize, &str)> {
        self.own.iter().filter_map(|(&world, own)| Some((world, own.not_in_lanes.as_deref()?)))
    }

    /// The model and the scene of a world.
    pub fn world_model(&self, world: usize) -> (&Arc<Model>, &Arc<Scene>) {
        self.own.get(&world).map_or((&self.model, &self.scene), |own| (&own.model, &own.scene))
    }

    fn set_own(&mut self, world: usize, own: Own) -> Result<(), BatchError> {
        assert!(world < self.worlds(), "world {world} of {}", self.worlds());
        self.own.insert(world, own);
        self.give_own(world);
        self.forget(world);
        Ok(())
    }

    /// Hands what a world has of its own to its group.
    pub(super) fn give_own(&mut self, world: usize) {
        let (base, scene) = (&*self.model, &*self.scene);
        let Some(own) = self.own.get_mut(&world) else { return };
        let numbers = match &self.plan {
            Err(_) => Ok(None),
            Ok(_) if own.parameters.is_empty() => Err("a model of its own".into()),
            Ok(plan) => {
                let numbers = numbers_of(plan, base, scene, &own.model, &own.scene, &own.parameters);
                numbers.map(Some).map_err(|NotInLanes(reason)| reason)
            }
        };
        own.not_in_lanes = numbers.as_ref().err().cloned();
        let numbers = numbers.unwrap_or_default();
        let of_group = OwnWorld {
            model: own.model.clone(),
            scene: own.scene.clone(),
            options: self.options.clone(),
            interrupt: self.interrupt.clone(),
            numbers,
            simulation: None,
        };
        self.groups[world / self.width].set_own(world % self.width, Some(of_group));
    }

    /// A simulation that makes the steps of such a world.
    pub(super) fn simulation_of(&self, own: &Own) -> Result<Box<Simulation>, SimulationError> {
        let mut simulation = Simulation::new(own.model.clone(), own.scene.clone(), self.options.clone())?;
        simulation.set_interrupt(self.interrupt.clone());
        Ok(Box::new(simulation))
    }
}
