//! Classes whose unknown attributes are errors with advice.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::batch::Batch;
use crate::first_words::{no_attribute, set_attribute};
use crate::model::Model;
use crate::simulation::Simulation;
use crate::views::{ActuatorView, BodyView, EqualityView, GeomView, JointView, SensorView, SiteView, TendonView};

/// Gives a class errors with advice for attributes that it does not have.
macro_rules! with_advice {
    ($($class:ty),*) => {$(
        #[pymethods]
        impl $class {
            fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                Err(no_attribute(slf.as_any(), name))
            }

            fn __setattr__(
                slf: &Bound<'_, Self>,
                name: &Bound<'_, PyString>,
                value: &Bound<'_, PyAny>,
            ) -> PyResult<()> {
                set_attribute(slf.as_any(), name, value)
            }
        }
    )*};
}

with_advice!(
    Simulation,
    Batch,
    Model,
    BodyView,
    JointView,
    GeomView,
    SiteView,
    ActuatorView,
    TendonView,
    EqualityView,
    SensorView
);
