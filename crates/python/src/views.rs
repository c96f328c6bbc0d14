//! Views of single things of a simulation by name: `sim.body("torso").position`.

mod container;
mod drives;
mod equality;
mod joint;
mod sensor;

pub use container::Views;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use sim::{Frame, Parameter};
use spatial::{Pose, Quat, Vec3};

use crate::arguments::{bits, colour};
use crate::follow::Motion;
use crate::model::Model;
use crate::names::Kind;
use crate::quantities::{fixed_matrix, fixed_vector, twist};
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
                Ok(fixed_vector(py, &pose.rot.to_array()))
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
        let values = crate::arguments::rotation("quaternion", value)?;
        let py = value.py();
        let turn = Quat { w: values[0], x: values[1], y: values[2], z: values[3] };
        if let (true, Some(turn)) = (self.is_fixed(), turn.normalized()) {
            let in_parent = (self.parent_pose(py)?.rot.conjugate() * turn).to_array();
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

    /// Red, green, blue, opacity from 0 to 1, in pictures and in the viewer; 0 hides it.
    #[getter]
    fn color(&self) -> (f32, f32, f32, f32) {
        self.simulation().drawing().colours().get(&self.index).copied().unwrap_or(self.geom().rgba).into()
    }

    #[setter]
    fn set_color(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.simulation().drawing().paint(self.index, colour("color", value)?);
        Ok(())
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
