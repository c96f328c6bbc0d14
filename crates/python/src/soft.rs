//! Soft bodies of a simulation: their nodes as live views, surfaces, energies.

use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use spatial::{Sym3, Vec3};

use crate::arguments::whole;
use crate::errors::unknown_name;
use crate::live::LiveArray;
use crate::simulation::Simulation;

/// A soft body of a simulation.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct SoftBodyView {
    simulation: Py<Simulation>,
    index: usize,
}

impl SoftBodyView {
    fn body(&self) -> &deformable::SoftBody {
        &self.simulation.get().model_inner().scene().soft_bodies[self.index]
    }

    fn first_node(&self) -> usize {
        let before = &self.simulation.get().model_inner().scene().soft_bodies[..self.index];
        before.iter().map(|body| body.node_count()).sum()
    }

    /// Its rows of an array of all nodes.
    fn rows<'py>(&self, py: Python<'py>, array: &LiveArray) -> PyResult<Bound<'py, PyAny>> {
        let first = self.first_node() as isize;
        let end = first + self.body().node_count() as isize;
        array.view(py)?.get_item(PySlice::new(py, first, end, 1))
    }

    /// Whether it is the first side of a contact; none where it is no side of it.
    fn side(&self, contact: &sim::SoftContactPoint) -> Option<bool> {
        let is_second =
            || matches!(contact.partner, geometry::SoftPartner::Soft(point) if point.body as usize == self.index);
        if contact.point.body as usize == self.index { Some(true) } else { is_second().then_some(false) }
    }

    /// Something of each of its contacts in the last step; the arguments are the contact, whether it is the first side, and dt.
    fn contacts(
        &self,
        py: Python<'_>,
        of: impl Fn(&sim::SoftContactPoint, bool, f64) -> Vec3<f64>,
    ) -> PyResult<Py<PyArray2<f64>>> {
        let simulation = self.simulation.get().lock()?;
        let dt = simulation.last_timestep().unwrap_or(f64::INFINITY);
        let touching = simulation.soft_contacts().iter().filter_map(|contact| Some((contact, self.side(contact)?)));
        let rows: Vec<f64> = touching.flat_map(|(contact, first)| of(contact, first, dt).to_array()).collect();
        table(py, rows, 3)
    }

    fn energy(&self, py: Python<'_>) -> PyResult<deformable::Energy> {
        Ok(self.simulation.get().lock_current(py)?.soft_energy(self.index))
    }
}

/// Rows of a table that Python cannot change.
pub fn table<T: numpy::Element>(py: Python<'_>, list: Vec<T>, width: usize) -> PyResult<Py<PyArray2<T>>> {
    let table = Array2::from_shape_vec((list.len() / width, width), list);
    let table = table.map_err(|error| PyIndexError::new_err(error.to_string()))?.into_pyarray(py);
    table.getattr("flags")?.setattr("writeable", false)?;
    Ok(table.unbind())
}

#[stubdoc::documented]
#[pymethods]
impl SoftBodyView {
    /// Name.
    #[getter]
    fn name(&self) -> &str {
        &self.body().name
    }

    /// Index in the model.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// Positions of the nodes, a live view.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, &self.simulation.get().live().soft.positions)
    }

    /// Velocities of the nodes, a live view.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, &self.simulation.get().live().soft.velocities)
    }

    /// Applied forces on the nodes, a live view.
    #[getter]
    fn applied_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, &self.simulation.get().live().soft.forces)
    }

    /// Tetrahedra.
    #[getter]
    fn elements(&self, py: Python<'_>) -> PyResult<Py<PyArray2<u32>>> {
        let mesh = &self.body().mesh;
        table(py, mesh.elements().to_vec(), mesh.order().nodes_per_element())
    }

    /// Triangles of the surface.
    #[getter]
    fn triangles(&self, py: Python<'_>) -> PyResult<Py<PyArray2<u32>>> {
        table(py, self.body().surface().triangles.as_flattened().to_vec(), 3)
    }

    /// The law of its material.
    #[getter]
    fn material(&self) -> String {
        self.body().material.model.to_string()
    }

    /// Young's modulus, Pa.
    #[getter]
    fn young(&self) -> f64 {
        self.body().material.young
    }

    /// Poisson's ratio.
    #[getter]
    fn poisson(&self) -> f64 {
        self.body().material.poisson
    }

    /// Density, kg/m³.
    #[getter]
    fn density(&self) -> f64 {
        self.body().material.density
    }

    /// Damping relative to stiffness, s.
    #[getter]
    fn damping(&self) -> f64 {
        self.body().material.damping_stiffness
    }

    /// Damping relative to mass, 1/s.
    #[getter]
    fn mass_damping(&self) -> f64 {
        self.body().material.damping_mass
    }

    /// Mass, kg.
    #[getter]
    fn mass(&self) -> f64 {
        self.body().total_mass()
    }

    /// Centre of mass, m.
    #[getter]
    fn com(&self, py: Python<'_>) -> PyResult<[f64; 3]> {
        let simulation = self.simulation.get().lock_current(py)?;
        let range = simulation.soft_coordinates_of(self.index);
        let body = self.body();
        let mut com = [0.0; 3];
        for (x, m) in simulation.state().soft_positions[range].chunks_exact(3).zip(body.node_masses()) {
            (0..3).for_each(|k| com[k] += m * x[k]);
        }
        Ok(com.map(|x| x / body.total_mass()))
    }

    /// Energy of deformation, J.
    #[getter]
    fn elastic_energy(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.energy(py)?.elastic)
    }

    /// Von Mises stress at the nodes, Pa.
    #[getter]
    fn von_mises<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut stresses = vec![0.0; self.body().node_count()];
        self.simulation.get().lock_current(py)?.soft_von_mises(self.index, &mut stresses);
        Ok(stresses.into_pyarray(py))
    }

    /// Cauchy stress at the nodes, Pa.
    #[getter]
    fn stresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let mut stresses = vec![Sym3::ZERO; self.body().node_count()];
        self.simulation.get().lock_current(py)?.soft_stresses(self.index, &mut stresses);
        let entry = |(node, i, j): (usize, usize, usize)| stresses[node].to_mat3().at(i, j);
        Ok(Array3::from_shape_fn((stresses.len(), 3, 3), entry).into_pyarray(py))
    }

    /// Kinetic energy, J.
    #[getter]
    fn kinetic_energy(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.energy(py)?.kinetic)
    }

    /// Contact points of the last step.
    #[getter]
    fn contact_positions(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        self.contacts(py, |contact, _, _| contact.position)
    }

    /// Forces on it at these points.
    #[getter]
    fn contact_forces(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        self.contacts(py, |contact, is_first, dt| contact.impulse_world() * (if is_first { -1.0 } else { 1.0 } / dt))
    }

    /// The geom at each of these points.
    #[getter]
    fn contact_geoms(&self) -> PyResult<Vec<i64>> {
        let simulation = self.simulation.get().lock()?;
        let touching = simulation.soft_contacts().iter().filter_map(|contact| self.side(contact).map(|_| contact));
        Ok(touching
            .map(|contact| match contact.partner {
                geometry::SoftPartner::Geom(geom) => geom as i64,
                geometry::SoftPartner::Soft(_) => -1,
            })
            .collect())
    }

    fn __repr__(&self) -> String {
        let (name, body) = (self.name(), self.body());
        let (nodes, elements) = (body.node_count(), body.mesh.element_count());
        format!("<sapwood soft body {name:?}: {nodes} nodes, {elements} tetrahedra, {:.4} kg>", body.total_mass())
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// A soft body by name or index.
    fn soft_body(slf: Bound<'_, Self>, soft_body: &Bound<'_, PyAny>) -> PyResult<SoftBodyView> {
        let simulation = slf.unbind();
        let bodies = &simulation.get().model_inner().scene().soft_bodies;
        if let Ok(name) = soft_body.extract::<String>() {
            let Some(index) = bodies.iter().position(|body| body.name == name) else {
                let known = bodies.iter().map(|body| body.name.as_str()).filter(|name| !name.is_empty()).collect();
                return Err(unknown_name(soft_body.py(), ("soft body", "soft bodies"), &name, known, bodies.len()));
            };
            return Ok(SoftBodyView { index, simulation });
        }
        let index = whole(soft_body)?;
        let count = bodies.len();
        if let Some(index) = usize::try_from(index).ok().filter(|index| *index < count) {
            return Ok(SoftBodyView { index, simulation });
        }
        Err(PyIndexError::new_err(format!(
            "soft_body: {index}: expected an index below {count}, the number of soft bodies"
        )))
    }

    /// All soft bodies.
    #[getter]
    fn soft_bodies(slf: Bound<'_, Self>) -> PyResult<Vec<SoftBodyView>> {
        let count = slf.get().model_inner().scene().soft_bodies.len();
        Ok((0..count).map(|index| SoftBodyView { index, simulation: slf.clone().unbind() }).collect())
    }

    /// Positions of the nodes of all soft bodies, a live view.
    #[getter]
    fn soft_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live().soft.positions.view(py)
    }

    #[setter]
    fn set_soft_positions(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live().soft.positions, value)
    }

    /// Their velocities, a live view.
    #[getter]
    fn soft_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live().soft.velocities.view(py)
    }

    #[setter]
    fn set_soft_velocities(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live().soft.velocities, value)
    }

    /// Applied forces on them, a live view.
    #[getter]
    fn soft_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live().soft.forces.view(py)
    }

    #[setter]
    fn set_soft_forces(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live().soft.forces, value)
    }
}
