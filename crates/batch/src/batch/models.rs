//! Worlds with models of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use geometry::{Scene, SceneQueries};
use lanes::{ChangingGains, NotInLanes, Numbers};
use multibody::Model;
use sim::{OwnModel, Parameter, ParameterError, Parameters, Simulation, SimulationError, numbers_of};

use super::{Batch, BatchError};
use crate::group::{Change, OwnWorld, Steps};

/// A world that is not of the batch's model.
pub(super) struct Own {
    pub of: Arc<OwnModel>,
    /// Why it is stepped by itself, if it is.
    pub not_in_lanes: Option<String>,
    /// What rays and distances of its sensors need of its scene.
    pub queries: Mutex<Option<Box<SceneQueries>>>,
}

/// What becomes of a world that is given parameters.
struct Given {
    world: usize,
    parameters: Parameters,
    /// What lanes step it with, or why they do not; none where it is one of the model again.
    outcome: Result<Option<InLanes>, ParameterError>,
}

/// The numbers of a world with parameters of its own, none where no world is in lanes.
type InLanes = Result<Option<Numbers<f64>>, NotInLanes>;

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
        self.set_parameters_of(vec![(world, parameters)]).map_err(|(_, error)| error)
    }

    /// [`set_parameters`](Self::set_parameters) of many worlds, each at most once, on all threads.
    ///
    /// # Errors
    /// As `set_parameters`, with the world; all worlds are then as they were.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_parameters_of(&mut self, worlds: Vec<(usize, Parameters)>) -> Result<(), (usize, BatchError)> {
        let begin = |(world, given): (usize, Parameters)| {
            assert!(world < self.worlds(), "world {world} of {}", self.worlds());
            let parameters = match self.own.get(&world) {
                Some(own) => given.or(own.of.parameters()),
                None => given,
            };
            Given { world, parameters, outcome: Ok(None) }
        };
        let mut all: Vec<Given> = worlds.into_iter().map(begin).collect();
        let mut pool = std::mem::take(&mut self.pool);
        let variants: Vec<_> = (0..self.threads()).map(|_| Mutex::new(None)).collect();
        pool.parallel_for(&mut all, |thread, given| {
            let mut variant = variants[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (model, scene) = variant.get_or_insert_with(|| (Model::clone(&self.model), Scene::clone(&self.scene)));
            given.outcome = self.numbers_with(&given.parameters, model, scene);
        });
        self.pool = pool;
        let mut changes = Vec::new();
        for Given { world, parameters, outcome } in all {
            let in_lanes = outcome.map_err(|error| (world, error.into()))?;
            let own = in_lanes.map(|in_lanes| (OwnModel::with(&self.model, &self.scene, parameters), in_lanes));
            changes.push((world, own));
        }
        self.change(changes);
        Ok(())
    }

    /// What lanes step a world with that has these parameters, none where all are the model's.
    fn numbers_with(
        &self,
        parameters: &Parameters,
        model: &mut Model,
        scene: &mut Scene,
    ) -> Result<Option<InLanes>, ParameterError> {
        let (base, base_scene) = (&*self.model, &*self.scene);
        parameters.write(base, base_scene, model, scene)?;
        let is_own = |(parameter, own): (Parameter, &[f64])| own != parameter.of(base, base_scene);
        if !parameters.iter().any(is_own) {
            return Ok(None);
        }
        let numbers = |plan| numbers_of(plan, (base, base_scene), (model, scene), parameters).map(Some);
        Ok(Some(self.plan.as_ref().map_or(Ok(None), numbers)))
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
        let own = self.own.get(&world).map(|own| own.of.parameters());
        match own.and_then(|own| own.get(parameter)) {
            Some(values) => values.to_vec(),
            None if own.is_some_and(|own| !own.is_empty()) => parameter.of(&self.model, &self.scene),
            None => {
                let (model, scene) = self.world_model(world);
                parameter.of(model, scene)
            }
        }
    }

    /// What a world was given beside the batch's model; nothing of a world with a model of its own.
    pub fn own_parameters(&self, world: usize) -> Option<&Parameters> {
        self.own.get(&world).map(|own| own.of.parameters())
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
            assert!(world < self.worlds(), "world {world} of {}", self.worlds());
            let in_lanes = self.plan.is_ok().then(|| NotInLanes("a model of its own".into())).map_or(Ok(None), Err);
            self.change(vec![(world, Some((OwnModel::of(model, scene), in_lanes)))]);
            return Ok(());
        };
        Err(BatchError::Structure { what })
    }

    /// Takes worlds' own models or parameters back.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn clear_world_models(&mut self, worlds: impl IntoIterator<Item = usize>) {
        self.change(
            worlds.into_iter().filter(|world| self.own.contains_key(world)).map(|world| (world, None)).collect(),
        );
    }

    /// The worlds that lanes do not step because of what they have of their own, and why, where lanes step the others.
    pub fn worlds_alone(&self) -> impl Iterator<Item = (usize, &str)> {
        self.own.iter().filter_map(|(&world, own)| Some((world, own.not_in_lanes.as_deref()?)))
    }

    /// The model and the scene of a world.
    pub fn world_model(&self, world: usize) -> (&Arc<Model>, &Arc<Scene>) {
        self.own.get(&world).map_or((&self.model, &self.scene), |own| own.of.get())
    }

    /// Lets worlds have models of their own, or none; what is remembered of them ends.
    fn change(&mut self, worlds: Vec<(usize, Option<(OwnModel, InLanes)>)>) {
        let changed: Vec<usize> = worlds.iter().map(|(world, _)| *world).collect();
        self.hand_out(worlds);
        changed.into_iter().for_each(|world| self.forget(world));
    }

    /// Lets worlds have models of their own, or none, with the gains of their PD control.
    fn hand_out(&mut self, worlds: Vec<(usize, Option<(OwnModel, InLanes)>)>) {
        let mut of_groups = BTreeMap::<usize, Vec<Change>>::new();
        for (world, own) in worlds {
            let (own, numbers) = own.map(|(of, in_lanes)| (Arc::new(of), in_lanes)).unzip();
            let not_in_lanes = numbers.as_ref().and_then(|numbers| Some(numbers.as_ref().err()?.0.clone()));
            match &own {
                Some(of) => {
                    let own = Own { of: of.clone(), not_in_lanes, queries: Mutex::default() };
                    self.own.insert(world, own);
                }
                None => drop(self.own.remove(&world)),
            }
            of_groups.entry(world / self.width).or_default().push(Change {
                lane: world % self.width,
                own: own.map(|of| OwnWorld::new(of, self.options.clone(), self.interrupt.clone())),
                numbers: self.with_gains(world, numbers.map(|numbers| numbers.ok().flatten())),
            });
        }
        let groups = self.groups.iter_mut().enumerate();
        let mut groups: Vec<(&mut Box<dyn Steps>, Vec<Change>)> =
            groups.filter_map(|(k, group)| Some((group, of_groups.remove(&k)?))).collect();
        self.pool.parallel_for(&mut groups, |_, (group, changes)| group.change(std::mem::take(changes)));
    }

    /// What lanes step a world with, by the gains of its PD control where it has its own; `None` of the model itself.
    fn with_gains(&self, world: usize, numbers: Option<Option<Numbers<f64>>>) -> Option<Numbers<f64>> {
        let (Ok(plan), Some(gains)) = (&self.plan, self.arrays.world(world).own_gains()) else {
            return numbers.flatten();
        };
        let mut changing = self.gains.clone().filter(|_| numbers.is_none());
        let mut numbers = numbers.unwrap_or_else(|| Some((*plan.numbers).clone()))?;
        let (model, _) = self.world_model(world);
        let changing = changing.get_or_insert_with(|| ChangingGains::new(plan, model, &numbers));
        changing.set(plan, model, Some(&gains), &mut numbers);
        Some(numbers)
    }

    /// Takes the simulation of a thread back to the batch's model, from that of a world whose step it made.
    pub(super) fn take_back(&self, one: &mut Simulation) -> Result<(), SimulationError> {
        if self.plan.is_ok() { one.go_to_model(&self.model, &self.scene) } else { Ok(()) }
    }

    /// Hands what worlds have of their own to their groups.
    pub(super) fn give_own(&mut self) {
        let own = std::mem::take(&mut self.own);
        let plan = self.plan.as_ref();
        let of = |of: &OwnModel| match plan {
            Err(_) => Ok(None),
            Ok(_) if of.parameters().is_empty() => Err(NotInLanes("a model of its own".into())),
            Ok(plan) => {
                let (model, scene) = of.get();
                numbers_of(plan, (&self.model, &self.scene), (model, scene), of.parameters()).map(Some)
            }
        };
        let with_gains = if self.arrays.pd_gains.is_empty() { 0 } else { self.worlds() };
        let others: Vec<usize> = (0..with_gains).filter(|world| !own.contains_key(world)).collect();
        let owners = own.into_iter().map(|(world, own)| {
            let numbers = of(&own.of);
            (world, Some((Arc::unwrap_or_clone(own.of), numbers)))
        });
        let worlds = owners.chain(others.into_iter().map(|world| (world, None))).collect();
        self.hand_out(worlds);
    }
}
