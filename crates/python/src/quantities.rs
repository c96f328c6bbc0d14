//! `Simulation`: where things are and how they move, Jacobians, momentum, forces of the last step, rays and distances.

use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::{Element, PyArray, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sim::{Frame, Observation, SensorJacobians};
use spatial::{Twist, Vec3, Wrench};

use crate::arguments::vector;
use crate::model::Model;
use crate::names::{self, Kind};
use crate::results;
use crate::simulation::Simulation;

/// An array that nobody writes into: what is written would be lost.
pub fn fixed<'py, T: Element, D: numpy::ndarray::Dimension>(array: Bound<'py, PyArray<T, D>>) -> Bound<'py, PyAny> {
    // SAFETY: the array is new, and nobody else has it.
    unsafe { (*array.as_array_ptr()).fields.flags &= !NPY_ARRAY_WRITEABLE };
    array.into_any()
}

/// A vector that nobody writes into.
pub fn fixed_vector<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyAny> {
    fixed(PyArray1::from_slice(py, values))
}

/// A matrix that nobody writes into; `values` has whole rows of so many columns.
pub fn fixed_matrix(py: Python<'_>, values: Vec<f64>, shape: [usize; 2]) -> PyResult<Bound<'_, PyAny>> {
    Ok(fixed(PyArray1::from_vec(py, values).reshape(shape)?))
}

/// Angular, then linear.
pub fn twist(v: Twist<f64>) -> [f64; 6] {
    let (a, l) = (v.ang, v.lin);
    [a.x, a.y, a.z, l.x, l.y, l.z]
}

impl Simulation {
    /// A look at what belongs to the tree of one body, in the state that the live arrays show.
    pub fn observe<R>(&self, py: Python<'_>, body: usize, look: impl FnOnce(&mut Observation<'_>) -> R) -> PyResult<R> {
        let mut simulation = self.lock()?;
        self.bring_parameters(py, &mut simulation)?;
        if let Some((qs, dofs)) = simulation.coordinates_of(body) {
            let state = simulation.state_mut();
            self.live().q.read_range(py, qs.clone(), &mut state.q[qs])?;
            self.live().v.read_range(py, dofs.clone(), &mut state.v[dofs])?;
        } else {
            self.live().mocap.read(py, &mut simulation.state_mut().mocap)?;
        }
        Ok(look(&mut simulation.observe()))
    }

    /// A look at everything, in the state that the live arrays show.
    pub fn observe_all<R>(&self, py: Python<'_>, look: impl FnOnce(&mut Observation<'_>) -> R) -> PyResult<R> {
        let mut simulation = self.lock()?;
        self.bring_parameters(py, &mut simulation)?;
        let state = simulation.state_mut();
        self.live().q.read(py, &mut state.q)?;
        self.live().v.read(py, &mut state.v)?;
        self.live().mocap.read(py, &mut state.mocap)?;
        Ok(look(&mut simulation.observe()))
    }

    /// One row of N numbers for each of `count` frames, (count, N).
    fn table<'py, const N: usize>(
        &self,
        py: Python<'py>,
        frames: impl ExactSizeIterator<Item = Frame>,
        row: impl Fn(&mut Observation<'_>, Frame) -> [f64; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        let count = frames.len();
        let values = self.observe_all(py, |now| {
            let mut values = Vec::with_capacity(N * count);
            frames.for_each(|frame| values.extend(row(now, frame)));
            values
        })?;
        fixed_matrix(py, values, [count, N])
    }

    fn body_frames(&self) -> impl ExactSizeIterator<Item = Frame> + use<> {
        (0..self.model_inner().inner().bodies.len()).map(Frame::Body)
    }

    fn geom_frames(&self) -> impl ExactSizeIterator<Item = Frame> + use<> {
        (0..self.model_inner().scene().geoms.len()).map(Frame::Geom)
    }

    fn site_frames(&self) -> impl ExactSizeIterator<Item = Frame> + use<> {
        (0..self.model_inner().inner().sites.len()).map(Frame::Site)
    }

    /// The body that an optional argument names; the world, which stands for all, for none.
    fn subtree(&self, body: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        body.map_or(Ok(0), |body| names::index(self.model_inner(), Kind::Body, body))
    }

    /// A matrix (rows, nv) of the present state.
    fn matrix<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        fill: impl FnOnce(&mut Observation<'_>, &mut [f64]),
    ) -> PyResult<Bound<'py, PyAny>> {
        let nv = self.model_inner().inner().nv();
        let values = self.observe_all(py, |now| {
            let mut values = vec![0.0; rows * nv];
            fill(now, &mut values);
            values
        })?;
        fixed_matrix(py, values, [rows, nv])
    }

    fn force<'py>(&self, py: Python<'py>, of: fn(&sim::StepForces) -> &[f64]) -> PyResult<Bound<'py, PyAny>> {
        Ok(fixed_vector(py, of(self.lock()?.step_forces())))
    }

    /// The frame that one of three arguments names.
    fn frame(
        &self,
        body: Option<&Bound<'_, PyAny>>,
        geom: Option<&Bound<'_, PyAny>>,
        site: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Frame> {
        let model = self.model_inner();
        match (body, geom, site) {
            (Some(body), None, None) => Ok(Frame::Body(names::index(model, Kind::Body, body)?)),
            (None, Some(geom), None) => Ok(Frame::Geom(names::index(model, Kind::Geom, geom)?)),
            (None, None, Some(site)) => Ok(Frame::Site(names::index(model, Kind::Site, site)?)),
            _ => Err(PyValueError::new_err("expected one of body=, geom= and site=")),
        }
    }

    /// The bodies that a ray goes through: one, or several of them.
    fn excluded(&self, exclude: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        let (Some(exclude), model) = (exclude, self.model_inner()) else { return Ok(Vec::new()) };
        let is_several = exclude.is_instance_of::<pyo3::types::PyList>()
            || exclude.is_instance_of::<pyo3::types::PyTuple>()
            || exclude.is_instance_of::<pyo3::types::PySet>();
        if is_several {
            exclude.try_iter()?.map(|body| names::index(model, Kind::Body, &body?)).collect()
        } else {
            Ok(vec![names::index(model, Kind::Body, exclude)?])
        }
    }
}

/// A direction of length 1.
fn unit(name: &str, direction: Vec3<f64>) -> PyResult<Vec3<f64>> {
    direction.normalized().ok_or_else(|| PyValueError::new_err(format!("{name} is zero: expected a direction")))
}

fn vec3(x: &[f64]) -> Vec3<f64> {
    Vec3::new(x[0], x[1], x[2])
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// Origins of the bodies, (nbody, 3), m.
    #[getter]
    fn body_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.body_frames(), |now, frame| now.pose(frame).pos.to_array())
    }

    /// Orientations of the bodies, (nbody, 4), w x y z.
    #[getter]
    fn body_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.body_frames(), |now, frame| now.pose(frame).rot.to_array())
    }

    /// Velocities of the bodies, (nbody, 6): angular, then linear at the origin, world axes.
    #[getter]
    fn body_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.body_frames(), |now, frame| twist(now.velocity(frame)))
    }

    /// Accelerations of the bodies in the last step, (nbody, 6): angular, then linear at the origin, world axes.
    #[getter]
    fn body_accelerations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.body_frames(), |now, frame| twist(now.acceleration(frame)))
    }

    /// Centres of mass of the bodies, (nbody, 3), m.
    #[getter]
    fn body_coms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.body_frames(), |now, frame| now.body_com(now.body_of(frame)).to_array())
    }

    /// Origins of the geoms, (ngeom, 3), m.
    #[getter]
    fn geom_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.geom_frames(), |now, frame| now.pose(frame).pos.to_array())
    }

    /// Orientations of the geoms, (ngeom, 4), w x y z.
    #[getter]
    fn geom_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.geom_frames(), |now, frame| now.pose(frame).rot.to_array())
    }

    /// Velocities of the geoms, (ngeom, 6): angular, then linear at the origin, world axes.
    #[getter]
    fn geom_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.geom_frames(), |now, frame| twist(now.velocity(frame)))
    }

    /// Origins of the sites, (nsite, 3), m.
    #[getter]
    fn site_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.site_frames(), |now, frame| now.pose(frame).pos.to_array())
    }

    /// Orientations of the sites, (nsite, 4), w x y z.
    #[getter]
    fn site_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.site_frames(), |now, frame| now.pose(frame).rot.to_array())
    }

    /// Velocities of the sites, (nsite, 6): angular, then linear at the origin, world axes.
    #[getter]
    fn site_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py, self.site_frames(), |now, frame| twist(now.velocity(frame)))
    }

    /// Lengths of the tendons, (ntendon,).
    #[getter]
    fn tendon_lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model_inner().inner();
        let lengths = self.observe_all(py, |now| {
            (0..model.tendons.len()).map(|tendon| now.tendon_row(tendon).length).collect::<Vec<_>>()
        })?;
        Ok(fixed_vector(py, &lengths))
    }

    /// (v − v₀)/dt of the last step, (nv,).
    #[getter]
    fn acceleration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(fixed_vector(py, self.lock()?.acceleration()))
    }

    /// The Jacobian of a body's origin, a geom's, a site's, or of a point of these, (6, nv).
    #[pyo3(signature = (body=None, *, site=None, geom=None, point=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        body: Option<&Bound<'py, PyAny>>,
        site: Option<&Bound<'py, PyAny>>,
        geom: Option<&Bound<'py, PyAny>>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let frame = self.frame(body, geom, site)?;
        let point = point.map(|point| vector("point", point, 3)).transpose()?;
        self.matrix(py, 6, |now, out| now.jacobian(frame, point.as_deref().map(vec3), out))
    }

    /// J̇ v of that Jacobian, (6,).
    #[pyo3(signature = (body=None, *, site=None, geom=None, point=None))]
    fn bias_acceleration<'py>(
        &self,
        py: Python<'py>,
        body: Option<&Bound<'py, PyAny>>,
        site: Option<&Bound<'py, PyAny>>,
        geom: Option<&Bound<'py, PyAny>>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let frame = self.frame(body, geom, site)?;
        let point = point.map(|point| vector("point", point, 3)).transpose()?;
        let acceleration = self.observe_all(py, |now| now.bias_acceleration(frame, point.as_deref().map(vec3)))?;
        Ok(fixed_vector(py, &twist(acceleration)))
    }

    /// The forces that give the next step an acceleration, (nv,).
    #[pyo3(signature = (acceleration, *others), text_signature = "($self, acceleration)")]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        acceleration: &Bound<'py, PyAny>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !others.is_empty() {
            return Err(PyTypeError::new_err(
                "sim.inverse_dynamics(acceleration) takes the present state, contacts and limits: expected one array, \
                 or model.inverse_dynamics(q, v, a) of any state without them",
            ));
        }
        let mut simulation = self.lock_to_compute(py)?;
        let simulation = &mut *simulation;
        let acceleration = vector("acceleration", acceleration, simulation.model().nv())?;
        let forces = py.detach(|| simulation.inverse_dynamics(&acceleration));
        Ok(PyArray1::from_vec(py, forces.map_err(|error| self.watch().error(py, &error))?).into_any())
    }

    /// The derivative of what sensors show with respect to the state and the controls.
    fn sensor_jacobians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut simulation = self.lock_to_compute(py)?;
        let simulation = &mut *simulation;
        let jacobians = py.detach(|| simulation.sensor_jacobians());
        let SensorJacobians { nv, nu, c, d } = jacobians.map_err(|error| self.watch().error(py, &error))?;
        let rows = simulation.model().sensor_data_len();
        let matrix = |values, columns| PyArray1::from_vec(py, values).reshape([rows, columns]);
        results::sensor_jacobians(py, (matrix(c, 2 * nv)?, matrix(d, nu)?))
    }

    /// The centre of mass of the model, or of a body and all that hangs on it, (3,), m.
    #[pyo3(signature = (body=None))]
    fn center_of_mass<'py>(&self, py: Python<'py>, body: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let body = self.subtree(body)?;
        let center = self.observe_all(py, |now| now.center_of_mass(body))?;
        Ok(fixed_vector(py, &center.to_array()))
    }

    /// The Jacobian of that centre of mass, (3, nv).
    #[pyo3(signature = (body=None))]
    fn center_of_mass_jacobian<'py>(
        &self,
        py: Python<'py>,
        body: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let body = self.subtree(body)?;
        self.matrix(py, 3, |now, out| now.center_of_mass_jacobian(body, out))
    }

    /// Momentum of the model, or of a body and all that hangs on it, about their centre of mass, (6,).
    #[pyo3(signature = (body=None))]
    fn momentum<'py>(&self, py: Python<'py>, body: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let body = self.subtree(body)?;
        let Wrench { ang, lin } = self.observe_all(py, |now| now.momentum(body))?;
        Ok(fixed_vector(py, &twist(Twist { ang, lin })))
    }

    /// The centroidal momentum matrix, (6, nv).
    #[pyo3(signature = (body=None))]
    fn momentum_jacobian<'py>(&self, py: Python<'py>, body: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let body = self.subtree(body)?;
        self.matrix(py, 6, |now, out| now.momentum_jacobian(body, out))
    }

    /// Forces of the actuators in the last step, (nu,).
    #[getter]
    fn actuator_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force(py, |forces| &forces.actuators)
    }

    /// Forces of the actuators on the degrees of freedom in the last step, (nv,).
    #[getter]
    fn actuation_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force(py, |forces| &forces.actuation)
    }

    /// Forces of the PD controller in the last step, (nv,).
    #[getter]
    fn pd_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force(py, |forces| &forces.pd)
    }

    /// Forces of springs, dampers and gravity compensation in the last step, (nv,).
    #[getter]
    fn passive_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force(py, |forces| &forces.passive)
    }

    /// Forces of contacts, limits, equalities and dry friction in the last step, (nv,).
    #[getter]
    fn constraint_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force(py, |forces| &forces.constraint)
    }

    /// Sums of the forces of contacts on the bodies in the last step, (nbody, 3), N.
    #[getter]
    fn body_contact_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut forces = Vec::new();
        self.lock()?.contact_forces_of_bodies(&mut forces);
        let values = forces.iter().flat_map(|force| force.to_array()).collect();
        fixed_matrix(py, values, [forces.len(), 3])
    }

    /// The contacts that push, with names and forces in world axes.
    fn contact_forces<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let simulation = self.lock()?;
        let per_second = simulation.last_timestep().map_or(0.0, f64::recip);
        let (model, scene) = (self.model_inner().inner(), self.model_inner().scene());
        let shared = self.shared_model(py);
        let pushing = simulation.contacts().iter().filter(|contact| contact.impulse != [0.0; 3]);
        let record = |contact: &sim::ContactPoint| {
            let [a, b] = contact.geoms.map(|geom| scene.geoms[geom].name.as_str());
            let [c, d] = contact.bodies.map(|body| model.bodies[body].name.as_str());
            let force = contact.impulse_world() * per_second;
            let fields = (
                // For `on`, which takes names of the whole model.
                shared.clone_ref(py),
                (a, b),
                (c, d),
                <(usize, usize)>::from(contact.geoms),
                <(usize, usize)>::from(contact.bodies),
                fixed_vector(py, &contact.position.to_array()),
                fixed_vector(py, &force.to_array()),
                fixed_vector(py, &contact.normal.to_array()),
                contact.gap,
            );
            results::contact_force(py, fields)
        };
        pushing.map(record).collect()
    }

    /// The first geom that a ray meets.
    #[pyo3(signature = (origin, direction, *, exclude=None, max_distance=None))]
    fn ray<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'py, PyAny>,
        direction: &Bound<'py, PyAny>,
        exclude: Option<&Bound<'py, PyAny>>,
        max_distance: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let origin = vec3(&vector("origin", origin, 3)?);
        let direction = unit("direction", vec3(&vector("direction", direction, 3)?))?;
        let (exclude, limit) = (self.excluded(exclude)?, reach(max_distance)?);
        let hit = self.observe_all(py, |now| now.ray(origin, direction, limit, |_, body| !exclude.contains(&body)))?;
        let (distance, geom, normal) =
            hit.map_or((f64::INFINITY, -1, Vec3::ZERO), |hit| (hit.distance, hit.geom as i64, hit.normal));
        results::ray_hit(py, (distance, geom, fixed_vector(py, &normal.to_array())))
    }

    /// The first geoms that rays from one point meet: distances (n,), geoms (n,), normals (n, 3).
    #[pyo3(signature = (origin, directions, *, exclude=None, max_distance=None))]
    fn rays<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        exclude: Option<&Bound<'py, PyAny>>,
        max_distance: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let origin = vec3(&vector("origin", origin, 3)?);
        let (count, directions) = crate::arguments::any_rows("directions", directions, 3)?;
        let directions: Vec<Vec3<f64>> = directions
            .chunks_exact(3)
            .enumerate()
            .map(|(k, direction)| unit(&format!("directions[{k}]"), vec3(direction)))
            .collect::<PyResult<_>>()?;
        let (exclude, limit) = (self.excluded(exclude)?, reach(max_distance)?);
        let hits = self.observe_all(py, |now| {
            let cast = |direction| now.ray(origin, direction, limit, |_, body| !exclude.contains(&body));
            directions.into_iter().map(cast).collect::<Vec<_>>()
        })?;
        let distances = hits.iter().map(|hit| hit.map_or(f64::INFINITY, |hit| hit.distance));
        let geoms = hits.iter().map(|hit| hit.map_or(-1, |hit| hit.geom as i64));
        let normals = hits.iter().flat_map(|hit| hit.map_or([0.0; 3], |hit| hit.normal.to_array()));
        let normals = fixed_matrix(py, normals.collect(), [count, 3])?;
        let (distances, geoms) = (PyArray1::from_iter(py, distances), PyArray1::from_iter(py, geoms));
        results::ray_hits(py, (fixed(distances), fixed(geoms), normals))
    }

    /// How far two geoms are apart, and between which points.
    fn distance<'py>(
        &self,
        py: Python<'py>,
        first: &Bound<'py, PyAny>,
        second: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model: &Model = self.model_inner();
        let index = |geom| names::index(model, Kind::Geom, geom);
        let geoms = [index(first)?, index(second)?];
        let Some(found) = self.observe_all(py, |now| now.separation(geoms))? else {
            let [a, b] = geoms.map(|geom| format!("geom {geom} {:?}", model.scene().geoms[geom].name));
            let message = format!(
                "{a} and {b} have no distance: expected one that is convex (no plane, height field or flat mesh)"
            );
            return Err(PyValueError::new_err(message));
        };
        let points = found.points.iter().flat_map(|point| point.to_array()).collect();
        let normal = fixed_vector(py, &found.normal.to_array());
        results::distance(py, (found.distance, fixed_matrix(py, points, [2, 3])?, normal))
    }
}

fn reach(max_distance: Option<f64>) -> PyResult<f64> {
    let max_distance = max_distance.unwrap_or(f64::INFINITY);
    if max_distance >= 0.0 {
        return Ok(max_distance);
    }
    Err(PyValueError::new_err(format!("max_distance is {max_distance}: expected a number, 0 or more")))
}
