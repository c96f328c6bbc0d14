//! Parameters of simulations and worlds, to and from arrays.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use geometry::Scene;
use multibody::Model;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use sim::{OwnModel, Parameter, Parameters};
use support::{legible, suggest};

use crate::arguments::{array, elements, numbers, rows};
use crate::errors::simulation_error;
use crate::live::LiveArray;

/// The parameters of a simulation as live arrays.
pub struct LiveParameters {
    arrays: Vec<(Parameter, LiveArray)>,
    /// What the model has, and what the simulation has by now.
    of_model: Vec<Vec<f64>>,
    applied: Mutex<Vec<Vec<f64>>>,
    /// `sapwood.SimulationParameters` of the arrays.
    object: Py<PyAny>,
}

impl LiveParameters {
    pub fn new(py: Python<'_>, model: &Model, scene: &Scene) -> PyResult<Self> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let of_model: Vec<Vec<f64>> = Parameter::ALL.iter().map(|parameter| parameter.of(model, scene)).collect();
        let mut arrays = Vec::new();
        let views = PyDict::new(py);
        for (parameter, values) in Parameter::ALL.into_iter().zip(&of_model) {
            let array = match parameter.shape(model, scene) {
                (rows, 1) => LiveArray::new(py, parameter.name(), &[rows])?,
                (rows, columns) => LiveArray::new(py, parameter.name(), &[rows, columns])?,
            };
            array.write(py, values)?;
            views.set_item(parameter.name(), array.view(py)?)?;
            arrays.push((parameter, array));
        }
        let object = CLASS.import(py, "sapwood._parameters", "SimulationParameters")?.call1((views,))?.unbind();
        Ok(Self { arrays, applied: Mutex::new(of_model.clone()), of_model, object })
    }

    pub fn object(&self, py: Python<'_>) -> Py<PyAny> {
        self.object.clone_ref(py)
    }

    /// The array of a parameter, and where a row of so many numbers is in it.
    fn row(&self, parameter: Parameter, row: usize, len: usize) -> (&LiveArray, Range<usize>) {
        let place = Parameter::ALL.iter().position(|known| *known == parameter).unwrap_or_default();
        (&self.arrays[place].1, row * len..(row + 1) * len)
    }

    /// Some numbers of a parameter.
    pub fn read_row(&self, py: Python<'_>, parameter: Parameter, row: usize, out: &mut [f64]) -> PyResult<()> {
        let (array, range) = self.row(parameter, row, out.len());
        array.read_range(py, range, out)
    }

    /// Sets some numbers of a parameter.
    pub fn write_row(&self, py: Python<'_>, parameter: Parameter, row: usize, values: &[f64]) -> PyResult<()> {
        let (array, range) = self.row(parameter, row, values.len());
        array.write_range(py, range, values)
    }

    /// What of the arrays is not the model's.
    pub fn own(&self, py: Python<'_>) -> PyResult<Parameters> {
        let mut own = Parameters::default();
        for ((parameter, array), of_model) in self.arrays.iter().zip(&self.of_model) {
            if array.differs(py, of_model) {
                let mut values = of_model.clone();
                array.read(py, &mut values)?;
                own.set(*parameter, values);
            }
        }
        Ok(own)
    }

    /// Sets the arrays: those that are not given become the model's.
    pub fn write(&self, py: Python<'_>, parameters: &Parameters) -> PyResult<()> {
        for ((parameter, array), of_model) in self.arrays.iter().zip(&self.of_model) {
            array.write(py, parameters.get(*parameter).unwrap_or(of_model))?;
        }
        Ok(())
    }

    /// Gives a simulation of the model what the arrays show, where that has changed. Of wrong numbers it is given nothing, and the arrays show
    /// what it has: later steps do not fail for the same number.
    pub fn bring(
        &self,
        py: Python<'_>,
        simulation: &mut sim::Simulation,
        model: &Arc<Model>,
        scene: &Arc<Scene>,
    ) -> PyResult<()> {
        let mut applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
        let mut arrays = self.arrays.iter().zip(&*applied);
        if !arrays.any(|((_, array), values)| array.differs(py, values)) {
            return Ok(());
        }
        let own = self.own(py)?;
        let own = match OwnModel::made(model, scene, own) {
            Ok(own) => own,
            Err(error) => {
                self.arrays.iter().zip(&*applied).try_for_each(|((_, array), values)| array.write(py, values))?;
                return Err(wrong(&error));
            }
        };
        simulation.go_to_own(&own).map_err(|error| simulation_error(py, &error))?;
        self.arrays.iter().zip(&mut *applied).try_for_each(|((_, array), values)| array.read(py, values))
    }
}

/// `ValueError` for parameters of a simulation.
pub fn wrong(error: &sim::ParameterError) -> PyErr {
    PyValueError::new_err(format!("parameters.{error}"))
}

/// What a state with parameters of its own begins with: then the length of the state, the state, and the parameters.
const MAGIC: &[u8; 8] = b"sapparam";

/// A state and parameters as bytes.
pub fn state_bytes(state: Vec<u8>, parameters: &Parameters) -> Vec<u8> {
    if parameters.is_empty() {
        return state;
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend((state.len() as u64).to_le_bytes());
    bytes.extend(state);
    bytes.extend(parameters.to_bytes());
    bytes
}

/// The state and the parameters of [`state_bytes`].
pub fn split_state(bytes: &[u8]) -> PyResult<(&[u8], Parameters)> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return Ok((bytes, Parameters::default())) };
    let split = || {
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let (state, parameters) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        Some((state, Parameters::from_bytes(parameters).ok()?))
    };
    let expected =
        "state: the bytes are cut short or of another version: expected those of Simulation.state, all of them";
    split().ok_or_else(|| PyValueError::new_err(expected))
}

/// The parameters of each of `worlds` worlds, from keyword arguments: a row for each of them, or one for all.
pub fn of_worlds(
    arguments: Option<&Bound<'_, PyDict>>,
    model: &Model,
    scene: &Scene,
    worlds: usize,
) -> PyResult<Vec<Parameters>> {
    let mut all = vec![Parameters::default(); worlds];
    for (name, value) in arguments.into_iter().flatten() {
        let name: String = name.extract()?;
        let parameter = if name == "kp" { Some(Parameter::Gains) } else { Parameter::named(&name) };
        let Some(parameter) = parameter else {
            let known: Vec<_> = Parameter::ALL.iter().map(|parameter| parameter.name()).collect();
            let hint = suggest::did_you_mean(&name, known.iter().copied()).unwrap_or_else(|| {
                format!("expected some of list(batch.parameters), such as {}", known[..6].join(", "))
            });
            return Err(PyTypeError::new_err(legible(&format!("there is no parameter {name:?}: {hint}"))));
        };
        let (count, columns) = parameter.shape(model, scene);
        let (len, is_unbounded) = (count * columns, parameter == Parameter::JointRanges);
        let values = if is_unbounded {
            unbounded(&name, &value, worlds, count)?
        } else if columns == 1 {
            rows(&name, &value, worlds, len)?
        } else {
            tables(&name, &value, worlds, (count, columns))?
        };
        for (k, parameters) in all.iter_mut().enumerate() {
            parameters.set(parameter, values[k * len..(k + 1) * len].to_vec());
        }
    }
    Ok(all)
}

/// Parameters by name, of those with respect to which steps can be differentiated.
pub fn differentiable(names: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Parameter)>> {
    let names = elements(names, 100, |name| name.extract::<String>())
        .map_err(|error| PyTypeError::new_err(format!("parameters: expected a list of names ({error})")))?;
    let named = |name: String| {
        let parameter = if name == "kp" { Some(Parameter::Gains) } else { Parameter::named(&name) };
        match parameter.filter(|parameter| parameter.is_differentiable()) {
            Some(parameter) => Ok((name, parameter)),
            None => {
                let all = Parameter::ALL.into_iter().filter(|parameter| parameter.is_differentiable());
                let known = all.map(Parameter::name).collect::<Vec<_>>().join(", ");
                Err(PyValueError::new_err(legible(&format!("parameters has {name:?}: expected some of {known}"))))
            }
        }
    };
    names.into_iter().map(named).collect()
}

/// Finite numbers (worlds, count, columns), or (count, columns) for all.
fn tables(name: &str, value: &Bound<'_, PyAny>, worlds: usize, (count, columns): (usize, usize)) -> PyResult<Vec<f64>> {
    if numbers(name, value)?.ndim() == 2 {
        Ok(array(name, value, &[count, columns])?.repeat(worlds))
    } else {
        array(name, value, &[worlds, count, columns])
    }
}

/// Ranges, (worlds, count, 2) or (count, 2) for all, which may be infinite.
fn unbounded(name: &str, value: &Bound<'_, PyAny>, worlds: usize, count: usize) -> PyResult<Vec<f64>> {
    let array = numbers(name, value)?;
    let shape = array.shape();
    let repeat = match *shape {
        [n, 2] if n == count => worlds,
        [k, n, 2] if (k, n) == (worlds, count) => 1,
        _ => {
            let message = format!("{name} has shape {shape:?}: expected ({worlds}, {count}, 2) or ({count}, 2)");
            return Err(PyValueError::new_err(message));
        }
    };
    Ok(array.to_vec()?.repeat(repeat))
}

/// `sapwood.Parameters` of a world.
pub fn tuple<'py>(
    py: Python<'py>,
    parameters: &Parameters,
    model: &Model,
    scene: &Scene,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "sapwood._results", "Parameters")?;
    class.call((), Some(&arrays(py, parameters, model, scene)?))
}

/// Arrays of the parameters that are set, by name.
pub fn arrays<'py>(
    py: Python<'py>,
    parameters: &Parameters,
    model: &Model,
    scene: &Scene,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    for (parameter, values) in parameters.iter() {
        let flat = PyArray1::from_slice(py, values);
        match parameter.shape(model, scene) {
            (_, 1) => fields.set_item(parameter.name(), flat)?,
            (rows, columns) => fields.set_item(parameter.name(), flat.reshape([rows, columns])?)?,
        }
    }
    Ok(fields)
}
