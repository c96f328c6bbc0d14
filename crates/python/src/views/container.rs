//! All views of one kind, and how a simulation hands views out.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::view;
use crate::model::Model;
use crate::names::{self, Kind};
use crate::simulation::Simulation;

/// All things of one kind of a simulation, by name or index.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Views {
    simulation: Py<Simulation>,
    kind: Kind,
}

impl Views {
    fn model(&self) -> &Model {
        self.simulation.get().model_inner()
    }
}

#[stubdoc::documented]
#[pymethods]
impl Views {
    fn __len__(&self) -> usize {
        self.kind.count(self.model())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), self.kind, names::index(self.model(), self.kind, key)?)
    }

    /// Switches an equality constraint on or off: `sim.equalities["grasp"] = True`.
    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.kind != Kind::Equality {
            let plural = self.kind.plural();
            return Err(PyTypeError::new_err(format!(
                "{plural} cannot be set: set what one of them has, as its name shows"
            )));
        }
        self.__getitem__(py, key)?.setattr("active", value)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        names::index(self.model(), self.kind, key).is_ok()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = (0..self.__len__()).map(|index| view(self.simulation.bind(py), self.kind, index));
        let all = all.collect::<PyResult<Vec<_>>>()?;
        Ok(pyo3::types::PyList::new(py, all)?.try_iter()?.into_any())
    }

    /// The names, those that are not empty.
    fn keys(&self) -> Vec<&str> {
        self.kind.names(self.model()).collect()
    }

    fn _ipython_key_completions_(&self) -> Vec<&str> {
        self.keys()
    }

    fn __repr__(&self) -> String {
        let (names, count) = (self.keys(), self.__len__());
        let shown: Vec<String> = names.iter().take(20).map(|name| format!("{name:?}")).collect();
        let more = if names.len() > 20 { ", …" } else { "" };
        format!("<sapwood {}: {count}; {}{more}>", self.kind.plural(), shown.join(", "))
    }
}

macro_rules! accessors {
    ($($one:ident, $all:ident => $kind:expr, $doc_one:literal, $doc_all:literal;)*) => {
        #[stubdoc::documented]
        #[pymethods]
        impl Simulation {$(
            #[doc = $doc_one]
            fn $one<'py>(slf: &Bound<'py, Self>, $one: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                view(slf, $kind, names::index(slf.get().model_inner(), $kind, $one)?)
            }

            #[doc = $doc_all]
            #[getter]
            fn $all<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Views>> {
                Bound::new(slf.py(), Views { simulation: slf.clone().unbind(), kind: $kind })
            }
        )*}
    };
}

accessors! {
    body, bodies => Kind::Body, "A body by name or index.", "All bodies.";
    joint, joints => Kind::Joint, "A joint by name or index.", "All joints.";
    geom, geoms => Kind::Geom, "A geom by name or index.", "All geoms.";
    site, sites => Kind::Site, "A site by name or index.", "All sites.";
    actuator, actuators => Kind::Actuator, "An actuator by name or index.", "All actuators.";
    tendon, tendons => Kind::Tendon, "A fixed tendon by name or index.", "All fixed tendons.";
    sensor, sensors => Kind::Sensor, "A sensor by name or index.", "All sensors.";
    equality, equalities => Kind::Equality, "An equality constraint by name or index.", "All equality constraints.";
}
