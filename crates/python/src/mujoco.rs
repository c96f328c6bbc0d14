//! Models of MuJoCo, and steps in the memory of an `MjData`: `sapwood/mujoco` says where that is.

mod contact;
mod memory;
mod native;
mod world;
mod worlds;

pub use memory::MujocoNumbers;
pub use world::MujocoWorld;
pub use worlds::MujocoWorlds;

use formats::{LoadOptions, Meshes};
use geometry::Shape;
use pyo3::prelude::*;

use crate::errors::model_error;
use crate::load::contents;
use crate::model::Model;
use crate::signals::in_background;

/// The model of a text; meshes that `like` has need not be read again.
#[pyfunction]
pub fn _load_mujoco(
    py: Python<'_>,
    text: String,
    assets: &Bound<'_, PyAny>,
    like: Option<&Bound<'_, Model>>,
) -> PyResult<Model> {
    let assets = contents(assets)?;
    let mut meshes = Meshes::new();
    for geom in like.iter().flat_map(|like| &like.get().scene().geoms) {
        if let Shape::Mesh(mesh) = &geom.shape {
            meshes.insert(mesh.name.clone(), mesh.clone());
        }
    }
    let work = move || formats::load_with_meshes(&text, assets, meshes, &LoadOptions::default());
    in_background(py, work)?.map(Model::new).map_err(|error| model_error(py, &error))
}

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
