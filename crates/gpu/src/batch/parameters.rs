//! Numbers that worlds have of their own.

use std::collections::BTreeSet;

use lanes::Plan;
use sim::{OwnModel, Parameter, Parameters};

use super::{Array, GpuBatch, bytes_of};
use crate::device::Memory;
use crate::{GpuError, Source};

/// What a world is given.
struct Given {
    world: usize,
    parameters: Parameters,
    /// As the kernels have it.
    numbers: Vec<f64>,
}

impl GpuBatch {
    /// Gives worlds parameters of their own: those that are given, beside what they were given before. The kernels stay: numbers are data.
    ///
    /// # Errors
    /// When a vector has another length, a number is outside its domain, the kernels of this model do not take it, or there is no memory for
    /// numbers of worlds: all worlds are then as they were. When the device fails, after which its arrays tell nothing.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_parameters_of(&mut self, worlds: Vec<(usize, Parameters)>) -> Result<(), GpuError> {
        let given = |(world, given): (usize, Parameters)| {
            assert!(world < self.worlds, "world {world} of {}", self.worlds);
            let parameters = match self.own.get(&world) {
                Some(own) => given.or(own),
                None => given,
            };
            let numbers = self.numbers_of(&self.plan, world, &parameters)?;
            Ok(Given { world, parameters, numbers })
        };
        let all = worlds.into_iter().map(given).collect::<Result<Vec<_>, GpuError>>()?;
        if all.is_empty() {
            return Ok(());
        }
        self.kernels.synchronize()?;
        if !self.arrays.contains_key(&Array::OwnOf) {
            // No world has a set before all of it is there.
            let own_of = self.zeros(&self.shape(Array::OwnOf))?;
            self.tables[2] = self.room_for_sets(&self.source)?;
            self.arrays.insert(Array::OwnOf, own_of);
        }
        for given in &all {
            let bytes = bytes_of(&given.numbers, self.options.precision);
            let offset = (given.world + 1) * bytes.len();
            self.kernels.write_from(&mut self.tables[2], offset, &bytes)?;
        }
        let having = all.iter().map(|given| given.world).chain(self.own.keys().copied()).collect();
        self.write_own_of(&having)?;
        self.own.extend(all.into_iter().map(|given| (given.world, given.parameters)));
        Ok(())
    }

    /// Takes parameters of their own back from worlds.
    ///
    /// # Errors
    /// When the device fails.
    pub fn clear_parameters(&mut self, worlds: impl IntoIterator<Item = usize>) -> Result<(), GpuError> {
        let worlds: BTreeSet<usize> = worlds.into_iter().collect();
        let having: BTreeSet<usize> = self.own.keys().filter(|world| !worlds.contains(world)).copied().collect();
        if having.len() < self.own.len() {
            self.write_own_of(&having)?;
            self.own.retain(|world, _| having.contains(world));
        }
        Ok(())
    }

    /// One parameter of a world.
    pub fn parameter(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        let own = self.own.get(&world).and_then(|own| own.get(parameter));
        own.map_or_else(|| parameter.of(&self.model, &self.scene), <[f64]>::to_vec)
    }

    /// The numbers of a world with these parameters, as the kernels of a plan have them.
    fn numbers_of(&self, plan: &Plan, world: usize, parameters: &Parameters) -> Result<Vec<f64>, GpuError> {
        let own = OwnModel::made(&self.model, &self.scene, parameters.clone());
        let own = own.map_err(|error| GpuError::Parameters { world, error })?;
        let (model, scene) = own.get();
        let numbers = sim::numbers_of(plan, (&self.model, &self.scene), (model, scene), parameters);
        let numbers = numbers.map_err(|reason| GpuError::Missing(vec![format!("world {world}: {}", reason.0)]))?;
        Ok(Source::numbers(plan, &numbers))
    }

    /// The sets of numbers of the kernels of another plan, if there are sets of worlds: each world keeps its place.
    pub(super) fn sets(&self, plan: &Plan, source: &Source) -> Result<Option<Memory>, GpuError> {
        if !self.arrays.contains_key(&Array::OwnOf) {
            return Ok(None);
        }
        let mut sets = self.room_for_sets(source)?;
        for (world, parameters) in &self.own {
            let bytes = bytes_of(&self.numbers_of(plan, *world, parameters)?, self.options.precision);
            self.kernels.write_from(&mut sets, (world + 1) * bytes.len(), &bytes)?;
        }
        Ok(Some(sets))
    }

    /// Room for the model's set and, behind it, one for each world; the model's is there.
    fn room_for_sets(&self, source: &Source) -> Result<Memory, GpuError> {
        let bytes = bytes_of(&source.own, self.options.precision);
        let mut sets = self.kernels.allocate(bytes.len() * (self.worlds + 1))?;
        self.kernels.write(&mut sets, &bytes)?;
        Ok(sets)
    }

    /// Writes which worlds have a set of their own.
    fn write_own_of(&mut self, having: &BTreeSet<usize>) -> Result<(), GpuError> {
        let place = |world: usize| if having.contains(&world) { world + 1 } else { 0 };
        let places: Vec<f64> = (0..self.worlds).map(|world| place(world) as f64).collect();
        self.write(Array::OwnOf, &places)
    }
}
