//! A material's law of stress in the form that elements take.

use crate::MaterialModel;

/// Lamé's parameters and the law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub model: MaterialModel,
    pub lambda: f64,
    pub mu: f64,
}
