//! Models of MuJoCo, and steps in the memory of an `MjData`: `sapwood/mujoco` says where that is.

mod contact;
mod memory;
mod world;

pub use memory::MujocoNumbers;
pub use world::MujocoWorld;

use pyo3::prelude::*;

use crate::model::Model;

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// The model of the arrays of a compiled `MjModel`.
    #[staticmethod]
    #[pyo3(signature = (mj_model, *, near_rigid=false))]
    fn from_mujoco<'py>(mj_model: &Bound<'py, PyAny>, near_rigid: bool) -> PyResult<Bound<'py, PyAny>> {
        let module = mj_model.py().import("sapwood.mujoco")?;
        module.getattr("model_of")?.call1((mj_model, near_rigid))
    }
}
