//! Models with parameters of their own.

use std::sync::{Arc, OnceLock};

use geometry::Scene;
use multibody::Model;

use super::{ParameterError, Parameters};

/// A model with parameters of its own, which is made when someone asks for it.
#[derive(Clone, Debug)]
pub struct OwnModel {
    base: (Arc<Model>, Arc<Scene>),
    parameters: Parameters,
    made: OnceLock<(Arc<Model>, Arc<Scene>)>,
}

impl OwnModel {
    /// A model as it is.
    pub fn of(model: Arc<Model>, scene: Arc<Scene>) -> Self {
        Self { base: (model, scene), parameters: Parameters::default(), made: OnceLock::new() }
    }

    /// A model with parameters that are some of it: [`Parameters::apply`] has been tried.
    pub fn with(model: &Arc<Model>, scene: &Arc<Scene>, parameters: Parameters) -> Self {
        Self { base: (model.clone(), scene.clone()), parameters, made: OnceLock::new() }
    }

    /// A model with parameters, made at once.
    ///
    /// # Errors
    /// As [`Parameters::apply`].
    pub fn made(model: &Arc<Model>, scene: &Arc<Scene>, parameters: Parameters) -> Result<Self, ParameterError> {
        let own = Self::with(model, scene, parameters);
        if !own.parameters.is_empty() {
            let (model, scene) = own.parameters.apply(model, scene)?;
            let _ = own.made.set((model.into(), scene.into()));
        }
        Ok(own)
    }

    /// The model without the parameters.
    pub fn base(&self) -> (&Arc<Model>, &Arc<Scene>) {
        (&self.base.0, &self.base.1)
    }

    /// Empty where it is a model as it is.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Model and scene.
    pub fn get(&self) -> (&Arc<Model>, &Arc<Scene>) {
        let (model, scene) = &self.base;
        if self.parameters.is_empty() {
            return (model, scene);
        }
        let make = || match self.parameters.apply(model, scene) {
            Ok((model, scene)) => (model.into(), scene.into()),
            // They have been checked.
            Err(_) => self.base.clone(),
        };
        let (model, scene) = self.made.get_or_init(make);
        (model, scene)
    }
}
