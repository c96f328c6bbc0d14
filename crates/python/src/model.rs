//! `sapwood.Model`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use geometry::Scene;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};
use spatial::Pose;

use crate::arguments::{Rows, configuration, vector, with_axis};
use crate::dynamics::Workspace;
use crate::errors::simulation_error;
use crate::names::{self, Kind, Names, keyframe_key};
use crate::render::Pictures;
use crate::results::{self, model_numbers};

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// An argument that is a model; a path is none.
pub fn a_model<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Model>> {
    if let Ok(model) = value.cast::<Model>() {
        return Ok(model.clone());
    }
    let found = value.get_type().name()?;
    let message =
        format!("model is of type {found}: expected a sapwood.Model; sapwood.load makes one of a path or a text");
    Err(PyTypeError::new_err(message))
}

/// [`a_model`], for what keeps it.
pub fn a_kept_model(value: &Bound<'_, PyAny>) -> PyResult<Py<Model>> {
    a_model(value).map(Bound::unbind)
}

/// A multibody system as a file describes it: bodies, joints, actuators, geoms. Immutable.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Model {
    model: Arc<multibody::Model>,
    scene: Arc<Scene>,
    workspace: Mutex<Workspace>,
    names: Names,
    pictures: Pictures,
}

impl Model {
    pub fn new(loaded: formats::Loaded) -> Self {
        Self::of(Arc::new(loaded.model), Arc::new(loaded.scene))
    }

    pub fn of(model: Arc<multibody::Model>, scene: Arc<Scene>) -> Self {
        let workspace = Mutex::new(Workspace::new(&model));
        Self { model, scene, workspace, names: Names::default(), pictures: Pictures::default() }
    }

    pub fn inner(&self) -> &Arc<multibody::Model> {
        &self.model
    }

    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Indices by name.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Renderers of the model.
    pub fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// Scratch holds nothing from one call to the next, so a poisoned lock does not matter.
    fn workspace(&self) -> MutexGuard<'_, Workspace> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (*_positions, **_named), text_signature = "()")]
    fn new_by_hand(_positions: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Err(PyTypeError::new_err("Model() makes no model: sapwood.load(file) or a sapwood.ModelBuilder does"))
    }

    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    /// Number of position coordinates.
    #[getter]
    fn nq(&self) -> usize {
        self.model.nq()
    }

    /// Number of degrees of freedom.
    #[getter]
    fn nv(&self) -> usize {
        self.model.nv()
    }

    /// Number of controls.
    #[getter]
    fn nu(&self) -> usize {
        self.model.nu()
    }

    /// Number of bodies, the world included.
    #[getter]
    fn nbody(&self) -> usize {
        self.model.bodies.len()
    }

    /// Number of joints.
    #[getter]
    fn njoint(&self) -> usize {
        self.model.joints.len()
    }

    /// Number of geoms.
    #[getter]
    fn ngeom(&self) -> usize {
        self.scene.geoms.len()
    }

    /// Suggested time step, s.
    #[getter]
    fn timestep(&self) -> f64 {
        self.model.timestep
    }

    /// Acceleration of gravity, (3,), m/s².
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        model_numbers(PyArray1::from_slice(py, &self.model.gravity.to_array()), "gravity")
    }

    /// Total mass, kg.
    #[getter]
    fn mass(&self) -> f64 {
        self.model.mass()
    }

    /// Masses of the bodies, (nbody,), kg.
    #[getter]
    fn body_masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        model_numbers(PyArray1::from_iter(py, self.model.bodies.iter().map(|body| body.inertia.mass)), "masses")
    }

    /// Indices of the parents of the bodies; the world is its own.
    #[getter]
    fn body_parents(&self) -> Vec<usize> {
        self.model.bodies.iter().map(|body| body.parent).collect()
    }

    /// Names of the bodies; the first is the world.
    #[getter]
    fn body_names(&self) -> Vec<&str> {
        self.model.bodies.iter().map(|body| body.name.as_str()).collect()
    }

    /// Names of the joints, in the order of their coordinates; empty where the file gives none.
    #[getter]
    fn joint_names(&self) -> Vec<&str> {
        self.model.joints.iter().map(|joint| joint.name.as_str()).collect()
    }

    /// Names of the actuators, in the order of the controls; empty where the file gives none.
    #[getter]
    fn actuator_names(&self) -> Vec<&str> {
        self.model.actuators.iter().map(|actuator| actuator.name.as_str()).collect()
    }

    /// Groups that the actuators belong to, (nu,).
    #[getter]
    fn actuator_groups(&self) -> Vec<i32> {
        self.model.actuators.iter().map(|actuator| actuator.group).collect()
    }

    /// Names of the fixed tendons; empty where the file gives none.
    #[getter]
    fn tendon_names(&self) -> Vec<&str> {
        self.model.tendons.iter().map(|tendon| tendon.name.as_str()).collect()
    }

    /// Names of the equality constraints; empty where the file gives none.
    #[getter]
    fn equality_names(&self) -> Vec<&str> {
        self.model.equalities.iter().map(|equality| equality.name.as_str()).collect()
    }

    /// Names of the geoms; empty where the file gives none.
    #[getter]
    fn geom_names(&self) -> Vec<&str> {
        self.scene.geoms.iter().map(|geom| geom.name.as_str()).collect()
    }

    /// Names of the keyframes.
    #[getter]
    fn keyframe_names(&self) -> Vec<&str> {
        self.model.keyframes.iter().map(|key| key.name.as_str()).collect()
    }

    /// The joints: name, kind, body, slices of q and v, range.
    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let slice = |start: usize, len: usize| py.get_type::<PySlice>().call1((start, start + len));
        let tuple = |joint: &multibody::Joint| {
            let (q, v) = (slice(joint.q, joint.kind.nq())?, slice(joint.v, joint.kind.nv())?);
            let effort = results::effort_limit(py, joint.effort_limit)?;
            results::joint(py, (&joint.name, joint.kind.name(), joint.body, q, v, joint.range, effort))
        };
        self.model.joints.iter().map(tuple).collect()
    }

    /// What the file asks for and this version ignores or approximates.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tuple = |w: &multibody::Warning| results::warning(py, (&w.file, w.line, &w.element, &w.message));
        self.model.warnings.iter().map(tuple).collect()
    }

    /// Armature: inertia of the drives, on the diagonal of the mass matrix, (nv,).
    #[getter]
    fn armature<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        model_numbers(PyArray1::from_slice(py, &self.model.armature), "armature")
    }

    /// The mass matrix, armature included, (nv, nv).
    fn mass_matrix<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Matrix<'py>> {
        let q = configuration("q", q, &self.model)?;
        let m = self.workspace().mass_matrix(&self.model, &q);
        let nv = self.model.nv();
        PyArray1::from_vec(py, m).reshape([nv, nv])
    }

    /// Coriolis, gyroscopic and gravity forces, (nv,): the bias in M a + bias = tau.
    fn bias_forces<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>, v: &Bound<'py, PyAny>) -> PyResult<Vector<'py>> {
        let (q, v) = (configuration("q", q, &self.model)?, vector("v", v, self.model.nv())?);
        Ok(PyArray1::from_vec(py, self.workspace().bias_forces(&self.model, &q, &v)))
    }

    /// The acceleration a of M a + bias = tau, (nv,), in time linear in the number of bodies.
    fn forward_dynamics<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        tau: &Bound<'py, PyAny>,
    ) -> PyResult<Vector<'py>> {
        let nv = self.model.nv();
        let (q, v, tau) = (configuration("q", q, &self.model)?, vector("v", v, nv)?, vector("tau", tau, nv)?);
        Ok(PyArray1::from_vec(py, self.workspace().forward_dynamics(&self.model, &q, &v, &tau)))
    }

    /// The forces tau = M a + bias, (nv,).
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        a: &Bound<'py, PyAny>,
    ) -> PyResult<Vector<'py>> {
        let nv = self.model.nv();
        let (q, v, a) = (configuration("q", q, &self.model)?, vector("v", v, nv)?, vector("a", a, nv)?);
        Ok(PyArray1::from_vec(py, self.workspace().inverse_dynamics(&self.model, &q, &v, &a)))
    }

    /// Positions (nbody, 3) and orientations (nbody, 4; w x y z) of the bodies in the world.
    fn forward_kinematics<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let q = Rows::configurations("q", q, &self.model)?;
        let (mut positions, mut quaternions) = (Vec::new(), Vec::new());
        for k in 0..q.len() {
            for Pose { pos, rot } in self.workspace().body_poses(&self.model, q.row(k)) {
                positions.extend(pos.to_array());
                quaternions.extend(rot.to_array());
            }
        }
        let (n, count) = (self.model.bodies.len(), q.count);
        results::poses(py, (with_axis(py, positions, count, &[n, 3])?, with_axis(py, quaternions, count, &[n, 4])?))
    }

    /// The Jacobian of a body's or a site's origin, (6, nv).
    #[pyo3(signature = (q, body=None, *, site=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        body: Option<&Bound<'py, PyAny>>,
        site: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (body, pose) = match (body, site) {
            (Some(body), None) => (names::index(self, Kind::Body, body)?, Pose::IDENTITY),
            (None, Some(site)) => {
                let site = &self.model.sites[names::index(self, Kind::Site, site)?];
                (site.body, site.pose)
            }
            _ => return Err(PyValueError::new_err("expected one of body= and site=")),
        };
        let (q, nv) = (Rows::configurations("q", q, &self.model)?, self.model.nv());
        let mut all = Vec::with_capacity(q.len() * 6 * nv);
        for k in 0..q.len() {
            all.extend(self.workspace().jacobian(&self.model, q.row(k), body, pose));
        }
        with_axis(py, all, q.count, &[6, nv])
    }

    /// Lengths of the tendons, in the order of their names.
    fn tendon_lengths<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Vector<'py>> {
        let q = configuration("q", q, &self.model)?;
        Ok(PyArray1::from_vec(py, self.workspace().tendon_lengths(&self.model, &q)))
    }

    /// By how much q misses the equality constraints: their rows in the order of their names, 0 where they hold.
    fn equality_residuals<'py>(&self, py: Python<'py>, q: &Bound<'py, PyAny>) -> PyResult<Vector<'py>> {
        let q = configuration("q", q, &self.model)?;
        Ok(PyArray1::from_vec(py, self.workspace().equality_residuals(&self.model, &q)))
    }

    /// q ⊞ dv: the configuration reached from q with the velocity dv in unit time, (nq,).
    fn integrate<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        dv: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (q, dv) = (Rows::configurations("q", q, &self.model)?, Rows::new("dv", dv, self.model.nv())?);
        let (count, nq) = (q.count_with("q", &dv, "dv")?, self.model.nq());
        let mut all = Vec::new();
        for k in 0..count.unwrap_or(1) {
            all.extend_from_slice(q.row(k));
            multibody::integrate(&self.model.tree, &mut all[k * nq..], dv.row(k), 1.0);
        }
        with_axis(py, all, count, &[nq])
    }

    /// q1 ⊟ q0: the velocity that leads from q0 to q1 in unit time, (nv,).
    fn difference<'py>(
        &self,
        py: Python<'py>,
        q0: &Bound<'py, PyAny>,
        q1: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = |name, q| Rows::configurations(name, q, &self.model);
        let (q0, q1) = (rows("q0", q0)?, rows("q1", q1)?);
        let (count, nv) = (q0.count_with("q0", &q1, "q1")?, self.model.nv());
        let mut all = vec![0.0; count.unwrap_or(1) * nv];
        for (k, dv) in all.chunks_exact_mut(nv.max(1)).enumerate() {
            multibody::difference(&self.model.tree, q0.row(k), q1.row(k), dv);
        }
        with_axis(py, all, count, &[nv])
    }

    /// A keyframe by its name or index, or the default configuration at rest.
    #[pyo3(signature = (name=None))]
    fn keyframe<'py>(&self, py: Python<'py>, name: Option<&Bound<'_, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let key = sim::SimulationError::keyframe(&self.model, keyframe_key("name", name)?);
        let key = key.map_err(|error| simulation_error(py, &error))?;
        let array = |values| PyArray1::from_vec(py, values);
        let mocap = array(key.mocap).reshape([self.model.mocap_bodies().count(), 7])?;
        results::keyframe(py, (key.name, key.time, array(key.q), array(key.v), array(key.ctrl), array(key.act), mocap))
    }

    fn __repr__(&self) -> String {
        let m = &self.model;
        let warnings = m.warnings.len();
        format!(
            "<sapwood.Model {:?}: {} bodies, nq {}, nv {}, nu {}, {warnings} warnings>",
            m.name,
            m.bodies.len(),
            m.nq(),
            m.nv(),
            m.nu()
        )
    }
}
