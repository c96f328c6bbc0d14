//! What the live viewer (`sapwood/viewer`) needs of a model and a simulation beside their public face.

use multibody::{DrawnPoint, Tendon, TendonLook};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sim::Frame;
use spatial::Pose;

use crate::model::Model;
use crate::simulation::Simulation;

/// What there is to draw and to act on, as JSON: geoms, meshes and textures as in a replay, the colours of soft bodies, the strings with
/// the number of their points, and per body its mass and centre of mass, per actuator the range of its control.
#[stubdoc::documented]
#[pyfunction]
pub fn _scene_json(py: Python<'_>, model: &Model) -> PyResult<String> {
    py.detach(|| {
        let replay::Encoded { geoms, meshes, textures, sky } = replay::encode_geoms(model.scene())?;
        // The number of points is the same wherever the bodies are.
        let poses = vec![Pose::IDENTITY; model.inner().bodies.len()];
        let string = |(tendon, points): (&Tendon, Vec<DrawnPoint>)| {
            let TendonLook { radius, rgba, group } = tendon.look;
            json!({ "name": tendon.name, "radius": radius, "rgba": rgba, "group": group, "points": points.len() })
        };
        let strings: Vec<Value> = replay::strings(model.inner(), &poses).map(string).collect();
        let (bodies, actuators) = (&model.inner().bodies, &model.inner().actuators);
        Ok(json!({
            "geoms": geoms,
            "meshes": meshes,
            "textures": textures,
            "sky": sky,
            "soft_colors": model.scene().soft_bodies.iter().map(|body| body.colour).collect::<Vec<_>>(),
            "strings": strings,
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
    /// The points of all strings, one string after the other, (n, 3), world, m.
    fn _string_points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let points = self.observe_all(py, |now| {
            let bodies = 0..now.model().bodies.len();
            let poses: Vec<Pose<f64>> = bodies.map(|body| now.pose(Frame::Body(body))).collect();
            let strings = replay::strings(now.model(), &poses);
            strings.flat_map(|(_, points)| points).flat_map(|point| point.place(&poses).to_array()).collect::<Vec<_>>()
        })?;
        let count = points.len() / 3;
        PyArray1::from_vec(py, points).call_method1("reshape", (count, 3))
    }

    /// The arguments of `pd` that hold now: kp, kd, target, target_velocity, effort_limit.
    fn _pd(&self, py: Python<'_>) -> PyResult<[Py<PyArray1<f64>>; 5]> {
        let simulation = self.lock()?;
        let pd = &simulation.state().pd;
        let lists = [&pd.kp, &pd.kd, &pd.target, &pd.target_velocity, &pd.effort_limit];
        Ok(lists.map(|list| PyArray1::from_slice(py, list).unbind()))
    }
}
