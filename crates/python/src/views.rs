//! Views of single things of a simulation by name: `sim.body("torso").position`.

mod container;
mod drives;
mod equality;
mod sensor;

pub use container::Views;
use multibody::JointKind;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use sim::{Frame, Parameter};
use spatial::{Pose, Quat, Vec3};

use crate::arguments::bits;
use crate::follow::Motion;
use crate::model::Model;
use crate::names::Kind;
use crate::quantities::{fixed_matrix, fixed_vector, quaternion, twist};
use crate::results;
use crate::simulation::Simulation;

/// What all views have: a simulation and an index.
macro_rules! view {
    ($view:ident, $kind:expr, $doc:literal) => {
        #[doc = $doc]
        #[stubdoc::documented]
        #[pyclass(frozen, module = "sapwood")]
        pub struct $view {
            simulation: Py<Simulation>,
            index: usize,
        }

        impl $view {
            fn simulation(&self) -> &Simulation {
                self.simulation.get()
            }

            fn model(&self) -> &Model {
                self.simulation.get().model_inner()
            }
        }

        #[stubdoc::documented]
        #[pymethods]
        impl $view {
            /// Name; empty when the file gives none.
            #[getter]
            fn name(&self) -> &str {
                $kind.name(self.model(), self.index)
            }

            /// Index in the model.
            #[getter]
            fn index(&self) -> usize {
                self.index
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<Self>().is_ok_and(|other| {
                    let other = other.get();
                    self.index == other.index && self.simulation.is(&other.simulation)
                })
            }

            fn __hash__(&self) -> u64 {
                (self.simulation.as_ptr() as u64).wrapping_mul(31).wrapping_add(self.index as u64)
            }
        }
    };
}

view!(BodyView, Kind::Body, "A body of a simulation.");
view!(JointView, Kind::Joint, "A joint of a simulation.");
view!(GeomView, Kind::Geom, "A geom of a simulation.");
view!(SiteView, Kind::Site, "A site of a simulation.");
view!(ActuatorView, Kind::Actuator, "An actuator of a simulation.");
view!(TendonView, Kind::Tendon, "A fixed tendon of a simulation.");
view!(SensorView, Kind::Sensor, "A sensor of a simulation.");
view!(EqualityView, Kind::Equality, "An equality constraint of a simulation.");

/// The index of a view of this kind.
pub fn index_of(kind: Kind, value: &Bound<'_, PyAny>) -> Option<usize> {
    match kind {
        Kind::Body => value.cast::<BodyView>().ok().map(|view| view.get().index),
        Kind::Joint => value.cast::<JointView>().ok().map(|view| view.get().index),
        Kind::Geom => value.cast::<GeomView>().ok().map(|view| view.get().index),
        Kind::Site => value.cast::<SiteView>().ok().map(|view| view.get().index),
        Kind::Actuator => value.cast::<ActuatorView>().ok().map(|view| view.get().index),
        Kind::Tendon => value.cast::<TendonView>().ok().map(|view| view.get().index),
        Kind::Sensor => value.cast::<SensorView>().ok().map(|view| view.get().index),
        Kind::Equality => value.cast::<EqualityView>().ok().map(|view| view.get().index),
    }
}

/// A view of one thing.
fn view<'py>(simulation: &Bound<'py, Simulation>, kind: Kind, index: usize) -> PyResult<Bound<'py, PyAny>> {
    let (py, simulation) = (simulation.py(), simulation.clone().unbind());
    Ok(match kind {
        Kind::Body => Bound::new(py, BodyView { simulation, index })?.into_any(),
        Kind::Joint => Bound::new(py, JointView { simulation, index })?.into_any(),
        Kind::Geom => Bound::new(py, GeomView { simulation, index })?.into_any(),
        Kind::Site => Bound::new(py, SiteView { simulation, index })?.into_any(),
        Kind::Actuator => Bound::new(py, ActuatorView { simulation, index })?.into_any(),
        Kind::Tendon => Bound::new(py, TendonView { simulation, index })?.into_any(),
        Kind::Sensor => Bound::new(py, SensorView { simulation, index })?.into_any(),
        Kind::Equality => Bound::new(py, EqualityView { simulation, index })?.into_any(),
    })
}

/// Numbers as a person reads them.
fn brief(values: &[f64]) -> String {
    let number = |x: &f64| {
        let text = format!("{x:.4}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    };
    let all: Vec<String> = values.iter().map(number).collect();
    if let [one] = &all[..] { one.clone() } else { format!("[{}]", all.join(" ")) }
}

/// `name` in quotes, or the index where there is none.
fn title(kind: Kind, model: &Model, index: usize) -> String {
    let name = kind.name(model, index);
    if name.is_empty() { format!("{index}") } else { format!("{name:?}") }
}

/// Where a frame is and how it moves, for the views that have one.
macro_rules! framed {
    ($view:ident, $frame:expr) => {
        impl $view {
            fn look<R>(&self, py: Python<'_>, look: impl FnOnce(&mut sim::Observation<'_>, Frame) -> R) -> PyResult<R> {
                self.simulation().observe(py, self.body_index(), |now| look(now, $frame(self.index)))
            }
        }

        #[stubdoc::documented]
        #[pymethods]
        impl $view {
            /// Position of the origin, (3,), m.
            #[getter]
            fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let pose = self.look(py, |now, frame| now.pose(frame))?;
                Ok(fixed_vector(py, &pose.pos.to_array()))
            }

            /// Orientation, (4,), w x y z.
            #[getter]
            fn quaternion<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let pose = self.look(py, |now, frame| now.pose(frame))?;
                Ok(fixed_vector(py, &quaternion(pose.rot)))
            }

            /// Orientation as a matrix, (3, 3): its columns are the axes in the world.
            #[getter]
            fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let rot = self.look(py, |now, frame| now.pose(frame))?.rot.to_mat3();
                let values = (0..9).map(|k| rot.at(k / 3, k % 3)).collect();
                fixed_matrix(py, values, [3, 3])
            }

            /// Angular, then linear velocity of the origin, world axes, (6,), rad/s and m/s.
            #[getter]
            fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(fixed_vector(py, &twist(self.look(py, |now, frame| now.velocity(frame))?)))
            }

            /// Angular, then linear acceleration of the origin in the last step, world axes, (6,), rad/s² and m/s².
            #[getter]
            fn acceleration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(fixed_vector(py, &twist(self.look(py, |now, frame| now.acceleration(frame))?)))
            }
        }
    };
}

framed!(BodyView, Frame::Body);
framed!(GeomView, Frame::Geom);
framed!(SiteView, Frame::Site);

impl BodyView {
    fn body_index(&self) -> usize {
        self.index
    }

    fn body(&self) -> &multibody::Body {
        &self.model().inner().bodies[self.index]
    }

    /// Its place among the bodies that are moved from outside.
    fn mocap_place(&self) -> PyResult<usize> {
        self.model().inner().mocap_bodies().position(|body| body == self.index).ok_or_else(|| {
            let title = title(Kind::Body, self.model(), self.index);
            PyAttributeError::new_err(format!(
                "body {title} moves by its joints, or is fixed: set `sim.q`, or give it mocap=\"true\" in the model"
            ))
        })
    }

    /// Whether it is fixed to its parent.
    fn is_fixed(&self) -> bool {
        let is_own = |joint: &multibody::Joint| joint.body == self.index;
        self.index != 0 && !self.body().is_mocap && !self.model().inner().joints.iter().any(is_own)
    }

    /// Sets some of the seven numbers of a body that is moved from outside, from the `first` of them on.
    fn move_to(&self, py: Python<'_>, first: usize, values: &[f64]) -> PyResult<()> {
        let start = 7 * self.mocap_place()? + first;
        let _idle = self.simulation().lock()?;
        self.simulation().live().mocap.write_range(py, start..start + values.len(), values)
    }

    /// Where its parent is now.
    fn parent_pose(&self, py: Python<'_>) -> PyResult<Pose<f64>> {
        let parent = self.body().parent;
        self.simulation().observe(py, parent, |now| now.pose(Frame::Body(parent)))
    }
}

#[stubdoc::documented]
#[pymethods]
impl BodyView {
    /// Mass, kg.
    #[getter]
    fn mass(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.simulation().lock_current(py)?.model().bodies[self.index].inertia.mass)
    }

    /// Centre of mass, world, (3,), m.
    #[getter]
    fn com<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let com = self.simulation().observe(py, self.index, |now| now.body_com(self.index))?;
        Ok(fixed_vector(py, &com.to_array()))
    }

    /// Rotational inertia about the centre of mass in the body's axes, (3, 3), kg·m².
    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inertia = self.simulation().lock_current(py)?.model().bodies[self.index].inertia.inertia.to_mat3();
        fixed_matrix(py, (0..9).map(|k| inertia.at(k / 3, k % 3)).collect(), [3, 3])
    }

    /// The body that it hangs on; the world hangs on itself.
    #[getter]
    fn parent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), Kind::Body, self.body().parent)
    }

    // Of one without joints of its own.
    #[setter]
    fn set_position(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, values) = (value.py(), crate::arguments::vector("position", value, 3)?);
        if self.is_fixed() {
            let Pose { pos, rot } = self.parent_pose(py)?;
            let in_parent = rot.conjugate() * (Vec3::new(values[0], values[1], values[2]) - pos);
            return self.simulation().set_parameter(py, Parameter::BodyPositions, self.index, &in_parent.to_array());
        }
        self.move_to(py, 0, &values)
    }

    // Of one without joints of its own.
    #[setter]
    fn set_quaternion(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = crate::arguments::vector("quaternion", value, 4)?;
        if values.iter().all(|x| *x == 0.0) {
            return Err(PyValueError::new_err("quaternion: all four numbers are 0: expected a rotation, w x y z"));
        }
        let py = value.py();
        let turn = Quat { w: values[0], x: values[1], y: values[2], z: values[3] };
        if let (true, Some(turn)) = (self.is_fixed(), turn.normalized()) {
            let in_parent = quaternion(self.parent_pose(py)?.rot.conjugate() * turn);
            return self.simulation().set_parameter(py, Parameter::BodyQuaternions, self.index, &in_parent);
        }
        self.move_to(py, 3, &values)
    }

    /// Follow a motion from the next step on.
    #[pyo3(signature = (motion, times=None))]
    fn follow(&self, motion: Option<&Bound<'_, PyAny>>, times: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let place = self.mocap_place()?;
        let motion = motion.map(|motion| Motion::new(motion, times)).transpose()?;
        self.simulation().followers().set(place, motion);
        Ok(())
    }

    /// Whether it is moved from outside.
    #[getter]
    fn mocap(&self) -> bool {
        self.body().is_mocap
    }

    /// Sum of the forces of contacts on it in the last step, world, (3,), N.
    #[getter]
    fn contact_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut forces = Vec::new();
        self.simulation().lock()?.contact_forces_of_bodies(&mut forces);
        Ok(fixed_vector(py, &forces[self.index].to_array()))
    }

    /// Torque and force at the centre of mass in world axes, (6,), a live view of `sim.applied_wrench`.
    #[getter]
    fn applied_wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.simulation().live().applied_wrench.view(py)?.get_item(self.index)
    }

    #[setter]
    fn set_applied_wrench(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = crate::arguments::vector("applied_wrench", value, 6)?;
        let _idle = self.simulation().lock()?;
        self.simulation().live().applied_wrench.write_row(py, self.index, &values)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (model, mass) = (self.model(), self.mass(py)?);
        let position = self.look(py, |now, frame| now.pose(frame))?.pos.to_array();
        let title = title(Kind::Body, model, self.index);
        Ok(format!("<sapwood body {title} at {} m, {} kg>", brief(&position), brief(&[mass])))
    }
}

/// What `GeomView.friction` has.
const FRICTIONS: [Parameter; 3] = [Parameter::Frictions, Parameter::TorsionalFrictions, Parameter::RollingFrictions];

impl GeomView {
    fn bits(&self, py: Python<'_>, parameter: Parameter) -> PyResult<u32> {
        let mut bits = [0.0];
        self.simulation().parameter(py, parameter, self.index, &mut bits)?;
        Ok(bits[0] as u32)
    }

    fn body_index(&self) -> usize {
        self.geom().body
    }

    fn geom(&self) -> &geometry::Geom {
        &self.model().scene().geoms[self.index]
    }
}

#[stubdoc::documented]
#[pymethods]
impl GeomView {
    /// The body that it is fixed in.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), Kind::Body, self.body_index())
    }

    /// The shape: plane, sphere, capsule, ellipsoid, cylinder, box, mesh or height-field.
    #[getter(r#type)]
    fn kind(&self) -> &'static str {
        use geometry::Shape::*;
        match self.geom().shape {
            Plane { .. } => "plane",
            Sphere { .. } => "sphere",
            Capsule { .. } => "capsule",
            Cylinder { .. } => "cylinder",
            Ellipsoid { .. } => "ellipsoid",
            Box { .. } => "box",
            Mesh(_) => "mesh",
            HeightField(_) => "height-field",
        }
    }

    /// Size, (3,), as MJCF has it; 0 of a mesh or height field.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        use geometry::Shape::*;
        let size = match self.geom().shape {
            Plane { half_extents: [x, y] } => [x, y, 0.0],
            Sphere { radius } => [radius, 0.0, 0.0],
            Capsule { radius, half_length } | Cylinder { radius, half_length } => [radius, half_length, 0.0],
            Ellipsoid { radii } => radii,
            Box { half_extents } => half_extents,
            Mesh(_) | HeightField(_) => [0.0; 3],
        };
        fixed_vector(py, &size)
    }

    /// Coefficients of sliding, torsional and rolling friction, (3,); 1, m and m.
    #[getter]
    fn friction<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut all = [0.0; 3];
        for (x, parameter) in all.iter_mut().zip(FRICTIONS) {
            self.simulation().parameter(py, parameter, self.index, std::slice::from_mut(x))?;
        }
        Ok(fixed_vector(py, &all))
    }

    #[setter]
    fn set_friction(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let all = match value.extract::<f64>() {
            Ok(sliding) => vec![sliding],
            Err(_) => crate::arguments::any_vector("friction", value)?,
        };
        if !(1..=3).contains(&all.len()) {
            return Err(PyValueError::new_err("friction: expected 1 to 3 numbers: sliding, torsional, rolling"));
        }
        let mut own = all.iter().zip(FRICTIONS);
        own.try_for_each(|(x, parameter)| self.simulation().set_parameter(py, parameter, self.index, &[*x]))
    }

    /// Bits: two geoms may touch when one's contype and the other's conaffinity share one.
    #[getter]
    fn contype(&self, py: Python<'_>) -> PyResult<u32> {
        self.bits(py, Parameter::Contypes)
    }

    #[setter]
    fn set_contype(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = bits("contype", value)?;
        self.simulation().set_parameter(py, Parameter::Contypes, self.index, &[f64::from(value)])
    }

    /// See `contype`.
    #[getter]
    fn conaffinity(&self, py: Python<'_>) -> PyResult<u32> {
        self.bits(py, Parameter::Conaffinities)
    }

    #[setter]
    fn set_conaffinity(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = bits("conaffinity", value)?;
        self.simulation().set_parameter(py, Parameter::Conaffinities, self.index, &[f64::from(value)])
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.model();
        let position = self.look(py, |now, frame| now.pose(frame))?.pos.to_array();
        let (title, body) = (title(Kind::Geom, model, self.index), title(Kind::Body, model, self.body_index()));
        Ok(format!("<sapwood geom {title}, a {} of body {body}, at {} m>", self.kind(), brief(&position)))
    }
}

impl SiteView {
    fn body_index(&self) -> usize {
        self.model().inner().sites[self.index].body
    }
}

#[stubdoc::documented]
#[pymethods]
impl SiteView {
    /// The body that it is fixed in.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), Kind::Body, self.body_index())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.model();
        let position = self.look(py, |now, frame| now.pose(frame))?.pos.to_array();
        let (title, body) = (title(Kind::Site, model, self.index), title(Kind::Body, model, self.body_index()));
        Ok(format!("<sapwood site {title} of body {body} at {} m>", brief(&position)))
    }
}

impl JointView {
    fn joint(&self) -> &multibody::Joint {
        &self.model().inner().joints[self.index]
    }

    /// A live view of a joint's part of a vector, or the number where there is one.
    fn part<'py>(
        &self,
        py: Python<'py>,
        live: &crate::live::LiveArray,
        start: usize,
        len: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if len == 1 {
            let mut x = [0.0];
            live.read_range(py, start..start + 1, &mut x)?;
            return Ok(x[0].into_pyobject(py)?.into_any());
        }
        live.view(py)?.get_item(py.get_type::<PySlice>().call1((start, start + len))?)
    }

    fn set_part(
        &self,
        name: &str,
        value: &Bound<'_, PyAny>,
        live: &crate::live::LiveArray,
        (start, len): (usize, usize),
    ) -> PyResult<()> {
        let is_number = len == 1 && value.extract::<f64>().is_ok();
        let values = crate::arguments::array(name, value, if is_number { &[] } else { std::slice::from_ref(&len) })?;
        if name == "q" && len >= 4 {
            // Whatever else is wrong with the configuration is not this joint's.
            let q = &values[len - 4..];
            let norm = q.iter().map(|x| x * x).sum::<f64>();
            if !(1e-12..1e12).contains(&norm) {
                let message = format!("q ends with {q:?}: expected a quaternion (w, x, y, z) of length 1");
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
        }
        let _idle = self.simulation().lock()?;
        live.write_range(value.py(), start..start + len, &values)
    }
}

#[stubdoc::documented]
#[pymethods]
impl JointView {
    /// Kind: revolute, prismatic, screw, universal, planar, ball, free or weld.
    #[getter]
    fn kind(&self) -> &'static str {
        self.joint().kind.name()
    }

    /// The body that it moves.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), Kind::Body, self.joint().body)
    }

    /// Position: a number, or a live view of `sim.q` of a joint with several coordinates.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        self.part(py, &self.simulation().live().q, joint.q, joint.kind.nq())
    }

    #[setter]
    fn set_q(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let joint = self.joint();
        self.set_part("q", value, &self.simulation().live().q, (joint.q, joint.kind.nq()))
    }

    /// Velocity: a number, or a live view of `sim.v` of a joint with several degrees of freedom.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        self.part(py, &self.simulation().live().v, joint.v, joint.kind.nv())
    }

    #[setter]
    fn set_v(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let joint = self.joint();
        self.set_part("v", value, &self.simulation().live().v, (joint.v, joint.kind.nv()))
    }

    /// Force of its actuators and of PD control in the last step, N or N·m: a number, or (nv,) of its degrees of freedom.
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        let dofs = joint.v..joint.v + joint.kind.nv();
        let mut simulation = self.simulation().lock()?;
        let forces = simulation.step_forces();
        let effort: Vec<f64> = dofs.map(|dof| forces.actuation[dof] + forces.pd[dof]).collect();
        match effort[..] {
            [one] => Ok(one.into_pyobject(py)?.into_any()),
            _ => Ok(fixed_vector(py, &effort)),
        }
    }

    /// Limits of the coordinate (rad or m), or of the angle of a ball; None without.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.joint().range
    }

    /// Whether it is held where it was when this was set to True.
    #[getter]
    fn locked(&self, py: Python<'_>) -> PyResult<bool> {
        let mut range = [0.0; 2];
        self.simulation().parameter(py, Parameter::JointRanges, self.index, &mut range)?;
        Ok(range[0] == range[1])
    }

    #[setter]
    fn set_locked(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        let joint = self.joint();
        if joint.kind.nv() != 1 {
            let message = format!(
                "joint {} has {} degrees of freedom: expected one with 1; a weld holds others",
                title(Kind::Joint, self.model(), self.index),
                joint.kind.nv()
            );
            return Err(PyValueError::new_err(message));
        }
        let mut q = [0.0];
        self.simulation().live().q.read_range(py, joint.q..joint.q + 1, &mut q)?;
        let (low, high) = joint.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let range = if value { [q[0]; 2] } else { [low, high] };
        self.simulation().set_parameter(py, Parameter::JointRanges, self.index, &range)
    }

    /// Greatest force of its drives, N or N·m, or the least and the greatest where they differ; None without limit.
    #[getter]
    fn effort_limit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        results::effort_limit(py, self.joint().effort_limit)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let joint = self.joint();
        let mut q = vec![0.0; joint.kind.nq()];
        self.simulation().live().q.read_range(py, joint.q..joint.q + q.len(), &mut q)?;
        let (title, kind) = (title(Kind::Joint, self.model(), self.index), joint.kind.name());
        let unit = match joint.kind {
            JointKind::Prismatic { .. } => " m",
            JointKind::Revolute { .. } | JointKind::Screw { .. } => " rad",
            _ => "",
        };
        Ok(format!("<sapwood joint {title}, {kind}, q = {}{unit}>", brief(&q)))
    }
}
