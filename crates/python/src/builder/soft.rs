//! Soft bodies of a builder: where they stand, their surface, and what holds their nodes.

use deformable::SoftBodyDescription;
use formats::StandingSoftBody;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spatial::{Pose, Vec3};

use super::fields::{at_least_zero, unknown};
use super::{Assembly, rotation, vector3};
use crate::arguments::{colour, selection};
use crate::soft::table;
use crate::soft_body::SoftBody;

#[stubdoc::documented]
#[pymethods]
impl Assembly {
    /// A soft body that stands in a body.
    fn add_soft_body(
        &mut self,
        body: usize,
        soft_body: &SoftBody,
        position: &Bound<'_, PyAny>,
        quaternion: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        self.check("body", &[body])?;
        let pose = Pose::new(vector3("position", position)?, rotation("quaternion", quaternion)?);
        let mut description = soft_body.description().clone();
        if pose != Pose::IDENTITY {
            let placed = description.mesh.transformed(|x| pose.transform_point(x));
            description.mesh = placed.map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        for (name, value) in fields {
            set(&mut description, &name.extract::<String>()?, &value)?;
        }
        self.inner.soft_bodies.push(StandingSoftBody { body, description, held: Vec::new() });
        Ok(self.inner.soft_bodies.len() - 1)
    }

    fn get_soft_body<'py>(&self, py: Python<'py>, soft_body: usize, field: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check("soft body", &[soft_body])?;
        let StandingSoftBody { body, description, .. } = &self.inner.soft_bodies[soft_body];
        Ok(match field {
            "body" => body.into_pyobject(py)?.into_any(),
            "friction" => description.friction.into_pyobject(py)?.into_any(),
            "radius" => description.radius.into_pyobject(py)?.into_any(),
            "color" => description.colour.into_pyobject(py)?.into_any(),
            "self_contact" => description.self_contact.into_pyobject(py)?.to_owned().into_any(),
            "pinned" => description.pinned.clone().into_pyobject(py)?.into_any(),
            _ => return Err(unknown("soft body", field)),
        })
    }

    /// Positions of the nodes of a soft body in the body in which it stands.
    fn soft_nodes(&self, py: Python<'_>, soft_body: usize) -> PyResult<Py<PyArray2<f64>>> {
        self.check("soft body", &[soft_body])?;
        let nodes = self.inner.soft_bodies[soft_body].description.mesh.positions();
        table(py, nodes.iter().flat_map(|x| x.to_array()).collect(), 3)
    }

    fn set_soft_body(&mut self, soft_body: usize, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check("soft body", &[soft_body])?;
        set(&mut self.inner.soft_bodies[soft_body].description, field, value)
    }

    /// Nodes that a body holds where they are in the default configuration; that in which the soft body stands when None.
    fn hold_soft_nodes(&mut self, soft_body: usize, nodes: &Bound<'_, PyAny>, body: Option<usize>) -> PyResult<()> {
        self.check("soft body", &[soft_body])?;
        let standing = &self.inner.soft_bodies[soft_body];
        let count = standing.description.mesh.positions().len();
        let mut nodes: Vec<u32> = selection("nodes", nodes, count)?.into_iter().map(|node| node as u32).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut is_held = vec![false; count];
        let held = standing.held.iter().map(|(node, _, _)| node);
        held.chain(&standing.description.pinned).for_each(|node| is_held[*node as usize] = true);
        if let Some(node) = nodes.iter().find(|node| is_held[**node as usize]) {
            return Err(PyValueError::new_err(format!("node {node} is held already: expected nodes that are free")));
        }
        let Some(body) = body.filter(|body| *body != standing.body) else {
            self.inner.soft_bodies[soft_body].description.pinned.extend(nodes);
            return Ok(());
        };
        self.check("body", &[body])?;
        let from_soft = self.inner.default_pose(body).inverse() * self.inner.default_pose(standing.body);
        let point = |node: u32| from_soft.transform_point(standing.description.mesh.positions()[node as usize]);
        let held: Vec<(u32, usize, Vec3<f64>)> = nodes.iter().map(|&node| (node, body, point(node))).collect();
        self.inner.soft_bodies[soft_body].held.extend(held);
        Ok(())
    }
}

fn set(description: &mut SoftBodyDescription, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match field {
        "name" => description.name = value.extract()?,
        "friction" => description.friction = at_least_zero(field, value)?,
        "radius" => description.radius = at_least_zero(field, value)?,
        "color" => description.colour = colour(field, value)?,
        "self_contact" => description.self_contact = value.extract()?,
        "pinned" => {
            let nodes = selection(field, value, description.mesh.positions().len())?;
            description.pinned = nodes.into_iter().map(|node| node as u32).collect();
        }
        _ => return Err(unknown("soft body", field)),
    }
    Ok(())
}
