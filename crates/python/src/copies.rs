//! Copies of models, simulations and batches, here and in other processes. `sapwood/_copies.py` puts them together again.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::batch::Batch;
use crate::model::Model;
use crate::options::keywords;
use crate::parameters;
use crate::signals::in_background;
use crate::simulation::Simulation;

/// A function of `sapwood/_copies.py`, and what it is to be called with.
type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

fn restorer<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("sapwood._copies")?.getattr(name)
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// The model as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let (model, scene) = (self.inner(), self.scene());
        let bytes = py.detach(|| formats::to_bytes(model, scene));
        PyBytes::new(py, &bytes)
    }

    /// The model of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let data = data.to_vec();
        let loaded = in_background(py, move || formats::from_bytes(&data))?;
        loaded.map(Self::new).map_err(|error| PyValueError::new_err(format!("data: {error}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        Ok((restorer(py, "model")?, PyTuple::new(py, [slf.get().to_bytes(py)])?))
    }

    /// Nothing of a model can be changed: it is its own copy.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// The options as the constructor takes them.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = self.lock()?.options().clone();
        let keywords = keywords(py, &options)?;
        keywords.set_item("threads", options.threads)?;
        Ok(keywords)
    }

    /// Parameters of this simulation, live arrays.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.live_parameters(py)?.object(py))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, own) = (slf.py(), slf.get());
        let arguments = (own.shared_model(py), own.options(py)?, own.state(py)?);
        Ok((restorer(py, "simulation")?, arguments.into_pyobject(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (function, arguments) = Self::__reduce__(slf)?;
        function.call1(arguments)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::__copy__(slf)
    }
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// The options as the constructor takes them.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let batch = self.lock()?;
        let keywords = keywords(py, batch.options())?;
        keywords.set_item("threads", batch.threads())?;
        keywords.set_item(
            "precision",
            match batch.precision() {
                batch::Precision::F64 => "f64",
                batch::Precision::F32 => "f32",
            },
        )?;
        keywords.set_item("lanes", batch.most_lanes())?;
        keywords.set_item("contacts", batch.records_contacts())?;
        Ok(keywords)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, own) = (slf.py(), slf.get());
        let options = own.options(py)?;
        let batch = own.lock_to_compute(py)?;
        let (model, n) = (batch.model().clone(), batch.worlds());
        let pd = batch.pd().map(|pd| {
            let array = |values: &[f64]| PyArray1::from_slice(py, values);
            let target = array(batch.pd_target()).reshape([n, model.nq()])?;
            let own = batch.pd_gains();
            let shared = pd.gains().rows();
            let gains = |k: usize| match own {
                [] => Ok(array(shared[k]).into_any()),
                own => {
                    let nv = model.nv();
                    let rows: Vec<f64> =
                        own.chunks_exact(shared.len() * nv).flat_map(|row| &row[k * nv..][..nv]).copied().collect();
                    array(&rows).reshape([n, nv]).map(Bound::into_any)
                }
            };
            PyResult::Ok((gains(0)?, gains(1)?, target, gains(2)?, gains(3)?))
        });
        let states: Vec<_> = (0..n).map(|world| PyBytes::new(py, &batch.state(world).to_bytes())).collect();
        let scene = own.of_model().scene().clone();
        let parameters = PyDict::new(py);
        for world in 0..n {
            if let Some(of_world) = batch.own_parameters(world) {
                parameters.set_item(world, parameters::arrays(py, of_world, &model, &scene)?)?;
            }
        }
        drop(batch);
        let arguments = (own.shared_model(py), n, options, pd.transpose()?, states, parameters);
        Ok((restorer(py, "batch")?, arguments.into_pyobject(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (function, arguments) = Self::__reduce__(slf)?;
        function.call1(arguments)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::__copy__(slf)
    }
}
