//! Numbers that worlds have of their own.

use std::collections::BTreeMap;

use sim::{OwnModel, Parameter, Parameters};

use super::{Array, GpuBatch, bytes_of};
use crate::{GpuError, Source};

impl GpuBatch {
    /// Gives worlds parameters of their own: those that are given, beside what they were given before. The kernels stay: numbers are data.
    ///
    /// # Errors
    /// When a vector has another length, a number is outside its domain, or the kernels of this model do not take it; all worlds are then as
    /// they were.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn set_parameters_of(&mut self, worlds: Vec<(usize, Parameters)>) -> Result<(), (usize, GpuError)> {
        let mut rows = Vec::new();
        for (world, given) in worlds {
            assert!(world < self.worlds, "world {world} of {}", self.worlds);
            let parameters = match self.own.get(&world) {
                Some(own) => given.or(own),
                None => given,
            };
            let row = self.numbers_with(&parameters).map_err(|error| (world, error))?;
            rows.push((world, parameters, row));
        }
        for (world, parameters, row) in rows {
            self.give(world, Some((parameters, row))).map_err(|error| (world, error))?;
        }
        Ok(())
    }

    /// Takes parameters of their own back from worlds.
    ///
    /// # Errors
    /// When the device fails.
    pub fn clear_parameters(&mut self, worlds: impl IntoIterator<Item = usize>) -> Result<(), GpuError> {
        worlds.into_iter().try_for_each(|world| self.give(world, None))
    }

    /// One parameter of a world.
    pub fn parameter(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        let own = self.own.get(&world).and_then(|own| own.get(parameter));
        own.map_or_else(|| parameter.of(&self.model, &self.scene), <[f64]>::to_vec)
    }

    /// All parameters of a world.
    pub fn parameters(&self, world: usize) -> Parameters {
        Parameter::ALL.into_iter().map(|parameter| (parameter, self.parameter(world, parameter))).collect()
    }

    /// The numbers of a world with these parameters, as the kernels have them.
    fn numbers_with(&self, parameters: &Parameters) -> Result<Vec<f64>, GpuError> {
        let refused = |error: String| GpuError::Option(format!("parameters: {error}"));
        let own = OwnModel::made(&self.model, &self.scene, parameters.clone());
        let own = own.map_err(|error| refused(error.to_string()))?;
        let (model, scene) = own.get();
        let numbers = sim::numbers_of(&self.plan, (&self.model, &self.scene), (model, scene), parameters);
        let numbers = numbers.map_err(|reason| GpuError::Missing(vec![reason.0]))?;
        Ok(Source::numbers(&self.plan, &numbers))
    }

    /// Gives a world a set of numbers, or that of the model.
    fn give(&mut self, world: usize, own: Option<(Parameters, Vec<f64>)>) -> Result<(), GpuError> {
        if own.is_none() && !self.own.contains_key(&world) {
            return Ok(());
        }
        self.kernels.synchronize()?;
        let place = world + 1;
        if !self.arrays.contains_key(&Array::OwnOf) {
            // A set for each world, behind the model's.
            self.tables[2] = self.kernels.allocate((self.worlds + 1) * self.size_of_set())?;
            self.allocate(Array::OwnOf)?;
            self.write_set(0, &self.source.own.clone())?;
        }
        let mut of_worlds = self.read(Array::OwnOf)?;
        of_worlds[world] = if own.is_some() { place as f64 } else { 0.0 };
        match own {
            Some((parameters, row)) => {
                self.write_set(place, &row)?;
                self.own.insert(world, parameters);
            }
            None => {
                self.own.remove(&world);
            }
        }
        self.write(Array::OwnOf, &of_worlds)
    }

    fn write_set(&mut self, place: usize, values: &[f64]) -> Result<(), GpuError> {
        let offset = place * self.size_of_set();
        let bytes = bytes_of(values, self.options.precision);
        self.kernels.write_from(&mut self.tables[2], offset, &bytes)
    }

    /// Bytes of a set.
    fn size_of_set(&self) -> usize {
        bytes_of(&[0.0], self.options.precision).len() * self.source.own.len()
    }

    /// Gives worlds what they have again, after the plan has changed.
    pub(super) fn give_again(&mut self) -> Result<(), GpuError> {
        let own: BTreeMap<usize, Parameters> = std::mem::take(&mut self.own);
        self.arrays.remove(&Array::OwnOf);
        self.set_parameters_of(own.into_iter().collect()).map_err(|(_, error)| error)
    }
}
