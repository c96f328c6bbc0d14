//! What the live viewer (`sapwood/viewer`) needs of a model and a simulation beside their public face.

use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::model::Model;
use crate::simulation::Simulation;

/// What there is to draw and to act on, as JSON: geoms, meshes and textures as in a replay, the colours of soft bodies, and per body its mass and centre of mass, per
/// actuator the range of its control.
#[stubdoc::documented]
#[pyfunction]
pub fn _scene_json(py: Python<'_>, model: &Model) -> PyResult<String> {
    py.detach(|| {
        let replay::Encoded { geoms, meshes, textures, sky } = replay::encode_geoms(model.scene())?;
        let (bodies, actuators) = (&model.inner().bodies, &model.inner().actuators);
        Ok(json!({
            "geoms": geoms,
            "meshes": meshes,
            "textures": textures,
            "sky": sky,
            "soft_colors": model.scene().soft_bodies.iter().map(|body| body.colour).collect::<Vec<_>>(),
            "masses": bodies.iter().map(|body| body.inertia.mass).collect::<Vec<_>>(),
            "coms": bodies.iter().map(|body| body.inertia.com.to_array()).collect::<Vec<_>>(),
            "ctrl_ranges": actuators.iter().map(|actuator| actuator.ctrl_range).collect::<Vec<_>>(),
        })
        .to_string())
    })
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// The arguments of `pd` that hold now: kp, kd, target, target_velocity, effort_limit.
    fn _pd(&self, py: Python<'_>) -> PyResult<[Py<PyArray1<f64>>; 5]> {
        let simulation = self.lock()?;
        let pd = &simulation.state().pd;
        let lists = [&pd.kp, &pd.kd, &pd.target, &pd.target_velocity, &pd.effort_limit];
        Ok(lists.map(|list| PyArray1::from_slice(py, list).unbind()))
    }
}
