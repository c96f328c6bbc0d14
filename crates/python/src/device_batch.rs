//! `sapwood.DeviceBatch`, what `sapwood.Batch` is on a GPU, and its arrays.

mod array;

use std::sync::{Mutex, MutexGuard};

use gpu::{Array, GpuBatch, GpuOptions, Order, Place, Precision};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};

pub use array::DeviceArray;

use crate::arguments::{array, check_quaternions, per_dof, rows, vector, whole};
use crate::errors::gpu_error;
use crate::first_words::no_attribute;
use crate::lock::try_lock;
use crate::model::Model;
use crate::resets::{Reset, ResetTo};
use crate::world_parameters::{WorldParameters, live};

/// The device that an argument names; none for the processor.
pub fn place(device: &Bound<'_, PyAny>) -> PyResult<Option<Place>> {
    let name: String = device.extract().unwrap_or_default();
    let number = name.strip_prefix("cuda:").map(str::parse);
    match (name.as_str(), number) {
        ("cpu", _) => Ok(None),
        ("cuda", _) => Ok(Some(Place::Cuda(0))),
        ("host", _) => Ok(Some(Place::Host(Order::Forwards))),
        (_, Some(Ok(number))) => Ok(Some(Place::Cuda(number))),
        _ => Err(PyValueError::new_err(format!(
            "device is {}: expected \"cpu\", \"cuda\" or \"cuda:1\" (\"host\", for tests, runs the GPU's kernels on the processor)",
            device.repr()?
        ))),
    }
}

/// Worlds of one model on a GPU.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct DeviceBatch {
    model: Py<Model>,
    worlds: usize,
    place: Place,
    precision: Precision,
    batch: Mutex<Box<GpuBatch>>,
    parameters: WorldParameters,
}

impl DeviceBatch {
    /// A batch on a device.
    pub fn make(
        model: &Bound<'_, Model>,
        worlds: usize,
        place: Place,
        options: (sim::Options, Precision, Option<usize>),
    ) -> PyResult<Self> {
        let (simulation, precision, rows) = options;
        let options = GpuOptions { simulation, place, precision, rows };
        let (of_model, scene) = (model.get().inner().clone(), model.get().scene().clone());
        let batch = model.py().detach(|| GpuBatch::new(of_model, scene, worlds, options));
        let batch = Mutex::new(Box::new(batch.map_err(|error| gpu_error(&error))?));
        let parameters = WorldParameters::default();
        Ok(Self { model: model.clone().unbind(), worlds, place, precision, batch, parameters })
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Box<GpuBatch>>> {
        try_lock(
            &self.batch,
            "a call of this batch is in progress in another thread",
            "a call of this batch was aborted: make a new Batch",
        )
    }

    fn array(slf: &Bound<'_, Self>, of: Array) -> PyResult<DeviceArray> {
        let view = slf.get().lock()?.view(of).map_err(|error| gpu_error(&error))?;
        Ok(DeviceArray { batch: slf.clone().unbind(), array: of, view })
    }

    fn write(&self, py: Python<'_>, of: Array, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        let shape = batch.view(of).map_err(|error| gpu_error(&error))?.shape;
        let values = array(name, value, &shape)?;
        if matches!(of, Array::Q | Array::PdTarget) {
            let tree = &self.model.get().inner().tree;
            let mut rows = values.chunks_exact(shape[1].max(1)).enumerate();
            rows.try_for_each(|(world, row)| check_quaternions(&format!("{name}[{world}]"), row, tree))?;
        }
        py.detach(|| batch.write(of, &values)).map_err(|error| gpu_error(&error))
    }
}

#[stubdoc::documented]
#[pymethods]
impl DeviceBatch {
    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Number of worlds.
    #[getter]
    fn n(&self) -> usize {
        self.worlds
    }

    fn __len__(&self) -> usize {
        self.worlds
    }

    /// Where the worlds are.
    #[getter]
    fn device(&self) -> String {
        match self.place {
            Place::Cuda(number) => format!("cuda:{number}"),
            Place::Host(_) => "host".into(),
        }
    }

    /// Numbers that worlds are computed with.
    #[getter]
    fn precision(&self) -> &'static str {
        if self.precision == Precision::F32 { "f32" } else { "f64" }
    }

    /// Room for rows of constraints that push in a step.
    #[getter]
    fn rows(&self) -> PyResult<usize> {
        Ok(3 * self.lock()?.layout().blocks)
    }

    /// Bytes of shared memory that a world takes while it is stepped.
    #[getter]
    fn shared_memory(&self) -> PyResult<usize> {
        Ok(self.lock()?.world_size())
    }

    /// Time step, s.
    #[getter]
    fn timestep(&self) -> PyResult<f64> {
        let own = self.lock()?.options().simulation.timestep;
        Ok(own.unwrap_or(self.model.get().inner().timestep))
    }

    /// Positions, (n, nq).
    #[getter]
    fn q(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Q)
    }

    #[setter]
    fn set_q(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::Q, "q", value)
    }

    /// Velocities, (n, nv).
    #[getter]
    fn v(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::V)
    }

    #[setter]
    fn set_v(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::V, "v", value)
    }

    /// Controls, (n, nu).
    #[getter]
    fn ctrl(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Ctrl)
    }

    #[setter]
    fn set_ctrl(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::Ctrl, "ctrl", value)
    }

    /// Activations, (n, na).
    #[getter]
    fn act(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Act)
    }

    #[setter]
    fn set_act(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::Act, "act", value)
    }

    /// Times, (n,), s.
    #[getter]
    fn time(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Time)
    }

    /// Targets of PD control, (n, nq).
    #[getter]
    fn pd_target(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::PdTarget)
    }

    #[setter]
    fn set_pd_target(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::PdTarget, "pd_target", value)
    }

    /// Forces on the degrees of freedom, (n, nv).
    #[getter]
    fn applied_force(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::AppliedForce)
    }

    #[setter]
    fn set_applied_force(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::AppliedForce, "applied_force", value)
    }

    /// Torque and force at the centre of mass of each body, (n, nbody, 6).
    #[getter]
    fn applied_wrench(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::AppliedWrench)
    }

    #[setter]
    fn set_applied_wrench(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(value.py(), Array::AppliedWrench, "applied_wrench", value)
    }

    /// What all sensors of every world show, (n, nsensordata).
    #[getter]
    fn sensordata(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Sensors)
    }

    /// Counts of every world, (n, 8).
    #[getter]
    fn status(slf: &Bound<'_, Self>) -> PyResult<DeviceArray> {
        Self::array(slf, Array::Status)
    }

    /// Launch k time steps of all worlds.
    #[pyo3(signature = (k=1, stream=None))]
    fn step(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] k: i64,
        stream: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let steps = usize::try_from(k).map_err(|_| PyValueError::new_err(format!("k is {k}: expected 0 or more")))?;
        let stream = stream.map_or(Ok(0), |stream| handle(&stream))?;
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        self.parameters.bring(py, batch)?;
        py.detach(|| batch.step(steps, stream)).map_err(|error| gpu_error(&error))
    }

    /// Parameters of all worlds as live arrays.
    #[getter]
    fn parameters<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        live(slf.as_any())
    }

    /// The live array of a parameter.
    fn _parameter_array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let batch = self.lock()?;
        self.parameters.view(py, name, self.model.get(), &**batch)
    }

    /// All parameters of a world, copies.
    fn _parameters_of<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] world: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        self.parameters.bring(py, batch)?;
        self.parameters.of_world(py, self.model.get(), batch, world)
    }

    /// Give worlds parameters of their own.
    #[pyo3(signature = (worlds=None, **parameters))]
    fn set_parameters(
        &self,
        py: Python<'_>,
        worlds: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        self.parameters.set(py, self.model.get(), batch, worlds, parameters)
    }

    /// Take parameters of their own back.
    #[pyo3(signature = (worlds=None))]
    fn reset_parameters(&self, py: Python<'_>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        self.parameters.reset(py, batch, worlds)
    }

    /// Wait for all steps that were launched.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        let guard = self.lock()?;
        let batch: &GpuBatch = &guard;
        py.detach(|| batch.synchronize()).map_err(|error| gpu_error(&error))
    }

    /// Take worlds to a keyframe, to the default configuration, or to states of their own.
    #[pyo3(signature = (mask=None, keyframe=None, states=None))]
    fn reset(
        &self,
        py: Python<'_>,
        mask: Option<&Bound<'_, PyAny>>,
        keyframe: Option<&Bound<'_, PyAny>>,
        states: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let Reset { which, to } = Reset::new(self.model.get().inner(), self.worlds, mask, keyframe, states)?;
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        py.detach(|| match to {
            ResetTo::Keyframe(key) => batch.reset(&which, key),
            ResetTo::States { q, v } => batch.reset_to(&which, &q, &v),
        })
        .map_err(|error| gpu_error(&error))
    }

    /// Stable PD control of all worlds by the same gains.
    #[pyo3(signature = (kp, kd, target, target_velocity=None, effort_limit=None))]
    fn pd(
        &self,
        py: Python<'_>,
        kp: &Bound<'_, PyAny>,
        kd: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        target_velocity: Option<&Bound<'_, PyAny>>,
        effort_limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let model = self.model.get().inner();
        let (nq, nv) = (model.nq(), model.nv());
        let targets = rows("target", target, self.worlds, nq)?;
        let pd = sim::Pd {
            kp: per_dof("kp", kp, nv)?,
            kd: per_dof("kd", kd, nv)?,
            target: targets[..nq].to_vec(),
            target_velocity: target_velocity.map_or(Ok(vec![0.0; nv]), |x| vector("target_velocity", x, nv))?,
            effort_limit: effort_limit.map_or_else(|| Ok(model.effort_limits()), |x| per_dof("effort_limit", x, nv))?,
        };
        pd.check(&model.tree).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        py.detach(|| {
            batch.set_pd(Some(pd))?;
            batch.write(Array::PdTarget, &targets)
        })
        .map_err(|error| gpu_error(&error))
    }

    /// End PD control.
    fn end_pd(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        py.detach(|| batch.set_pd(None)).map_err(|error| gpu_error(&error))
    }

    /// What `Batch` has on the processor alone.
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        let of_cpu = [
            "accelerations",
            "alone",
            "body_positions",
            "body_quaternions",
            "body_velocities",
            "contacts",
            "equality_active",
            "errors",
            "failed",
            "lanes",
            "mocap_positions",
            "mocap_quaternions",
            "rollout",
            "set_state",
            "simulation",
            "state",
            "stats",
            "step_jacobians",
            "surface_velocity",
            "threads",
            "vjp",
        ];
        if of_cpu.contains(&name) {
            return Err(PyAttributeError::new_err(format!("a batch on a GPU has no {name}: device=\"cpu\" has")));
        }
        Err(no_attribute(slf.as_any(), name))
    }

    fn __repr__(&self) -> String {
        let name = &self.model.get().inner().name;
        format!("<sapwood.Batch of {} worlds of {name:?} on {}>", self.worlds, self.device())
    }
}

/// The address of a stream: a number, or an object that has one as `cuda_stream` (PyTorch), `ptr` (CuPy) or by CUDA's stream protocol.
fn handle(stream: &Bound<'_, PyAny>) -> PyResult<u64> {
    let not_one = || {
        let kind = stream.get_type();
        let expected = "expected a CUDA stream, such as torch.cuda.current_stream(), or its address";
        PyTypeError::new_err(format!("stream is of {kind}: {expected}"))
    };
    for name in ["cuda_stream", "ptr", "handle"] {
        if let Ok(own) = stream.getattr(name) {
            return own.extract().map_err(|_| not_one());
        }
    }
    if let Ok(own) = stream.call_method0("__cuda_stream__") {
        return own.get_item(1)?.extract();
    }
    let is_number = stream.is_instance_of::<PyInt>();
    let out_of_range = || PyValueError::new_err(format!("stream is {stream}: expected an address, 0 or more"));
    stream.extract().map_err(|_| if is_number { out_of_range() } else { not_one() })
}
