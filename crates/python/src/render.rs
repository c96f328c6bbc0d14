//! Pictures: `sapwood.Renderer`, `Simulation.render`.

mod markers;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use multibody::{Lens, Model as Multibody};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use render::{Eye, Options, Stage};
use spatial::{Pose, Quat, Vec3};
use support::brief;

use self::markers::{Added, add_markers};
use crate::arguments::{configuration, elements, vector, whole, word};
use crate::drawing::Drawing;
use crate::errors::unknown_name;
use crate::model::{Model, a_model};
use crate::signals::Watch;
use crate::simulation::Simulation;

/// What pictures show.
#[derive(Clone, Copy)]
enum Kind {
    Rgb,
    Depth,
    Segmentation,
    Bodies,
}

const KINDS: [(&str, Kind); 4] =
    [("rgb", Kind::Rgb), ("depth", Kind::Depth), ("segmentation", Kind::Segmentation), ("bodies", Kind::Bodies)];

/// Renderers of a model that are not in use, and what they share.
#[derive(Default)]
pub struct Pictures {
    stage: OnceLock<Arc<Stage>>,
    idle: Mutex<Vec<render::Renderer>>,
}

impl Pictures {
    fn stage(&self, model: &Model) -> Arc<Stage> {
        self.stage.get_or_init(|| Arc::new(Stage::new(model.inner().clone(), model.scene().clone()))).clone()
    }

    /// A renderer with one thread: one that was given back, or a new one.
    fn take(&self, model: &Model) -> PyResult<render::Renderer> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| render::Renderer::new(self.stage(model), 1).map_err(no_threads), Ok)
    }

    fn give_back(&self, renderer: render::Renderer) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
    }
}

fn no_threads(error: std::io::Error) -> PyErr {
    PyRuntimeError::new_err(format!("threads: the system grants no more: {error}"))
}

/// A picture that is to be taken.
struct Order {
    size: [usize; 2],
    eye: Eye,
    kind: Kind,
    options: Options,
}

/// What of a simulation pictures show.
#[derive(Default)]
struct Shown {
    q: Vec<f64>,
    soft: Vec<f64>,
    mocap: Vec<f64>,
    /// Colours of the nodes of soft bodies, where these do not have their own.
    colours: Option<Vec<[f32; 3]>>,
    /// Those of geoms that are not the model's.
    geoms: BTreeMap<usize, [f32; 4]>,
}

/// Whether pictures show stresses, and the stress at the end of the scale of colours, Pa, where that is not the greatest.
#[derive(Clone, Copy)]
enum Stress {
    Hidden,
    Shown(Option<f64>),
}

impl Stress {
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(is_shown) = value.extract::<bool>() {
            return Ok(if is_shown { Self::Shown(None) } else { Self::Hidden });
        }
        let most = value.extract::<f64>().ok().filter(|most| *most > 0.0 && most.is_finite());
        let wrong = || PyValueError::new_err(format!("stress is {value}: expected True, False, or Pa above 0"));
        most.map(|most| Self::Shown(Some(most))).ok_or_else(wrong)
    }

    fn colours(self, simulation: &mut sim::Simulation) -> Option<Vec<[f32; 3]>> {
        let Self::Shown(most) = self else { return None };
        let mut stresses = Vec::new();
        for (index, body) in simulation.scene().soft_bodies.clone().iter().enumerate() {
            let first = stresses.len();
            stresses.resize(first + body.node_count(), 0.0);
            simulation.soft_von_mises(index, &mut stresses[first..]);
        }
        let most = most.unwrap_or_else(|| stresses.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
        Some(stresses.iter().map(|stress| render::scale_colour(stress / most)).collect())
    }
}

impl Shown {
    fn of(simulation: &mut sim::Simulation, drawing: &Drawing, stress: Stress) -> Self {
        let colours = stress.colours(simulation);
        let state = simulation.state();
        let (q, soft, mocap) = (state.q.clone(), state.soft_positions.clone(), state.mocap.clone());
        Self { q, soft, mocap, colours, geoms: drawing.colours().clone() }
    }
}

impl Order {
    /// Takes the picture of the model in the configuration q with the interpreter's lock released.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        renderer: &mut render::Renderer,
        Shown { q, soft, mocap, colours, geoms }: &Shown,
        bodies: &[i32],
    ) -> PyResult<Bound<'py, PyAny>> {
        let [width, height] = self.size;
        let (eye, size) = (&self.eye, self.size);
        let watch = Watch::new();
        watch.begin();
        renderer.set_interrupt(watch.interrupt());
        let failed = |error: render::RenderError| match error {
            render::RenderError::Interrupted => watch.interrupted(),
            other => PyValueError::new_err(other.to_string()),
        };
        renderer.place_mocap_bodies(mocap).map_err(failed)?;
        renderer.place_soft_bodies(soft).map_err(failed)?;
        renderer.paint_soft_bodies(colours.as_deref()).map_err(failed)?;
        renderer.paint_geoms(geoms);
        match self.kind {
            Kind::Rgb => {
                let mut out = vec![0u8; width * height * 3];
                py.detach(|| renderer.rgb(q, eye, size, &self.options, &mut out)).map_err(failed)?;
                Ok(PyArray1::from_vec(py, out).reshape([height, width, 3])?.into_any())
            }
            Kind::Depth => {
                let mut out = vec![0f32; width * height];
                py.detach(|| renderer.depth(q, eye, size, &mut out)).map_err(failed)?;
                Ok(PyArray1::from_vec(py, out).reshape([height, width])?.into_any())
            }
            Kind::Segmentation | Kind::Bodies => {
                let mut out = vec![0i32; width * height];
                py.detach(|| renderer.segmentation(q, eye, size, &mut out)).map_err(failed)?;
                if matches!(self.kind, Kind::Bodies) {
                    out.iter_mut().filter(|geom| **geom >= 0).for_each(|geom| *geom = bodies[*geom as usize]);
                }
                Ok(PyArray1::from_vec(py, out).reshape([height, width])?.into_any())
            }
        }
    }
}

fn bodies_of(model: &Model) -> Vec<i32> {
    model.scene().geoms.iter().map(|geom| geom.body as i32).collect()
}

/// The nodes of soft bodies where they are at rest.
fn at_rest(model: &Model) -> Vec<f64> {
    model.scene().soft_bodies.iter().flat_map(|body| body.rest_positions()).collect()
}

fn side(name: &str, value: i64) -> PyResult<usize> {
    let max = render::MAX_SIDE;
    let fits = usize::try_from(value).ok().filter(|n| (1..=max).contains(n));
    fits.ok_or_else(|| PyValueError::new_err(format!("{name} is {value}: expected 1 to {max} pixels")))
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let wrong = || PyValueError::new_err(format!("camera.{name} is {value}: expected a finite number"));
    value.extract::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong)
}

/// The field of a `sapwood.Camera`; `None` where it is None.
fn field<'py>(camera: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let value = camera.getattr(name)?;
    Ok((!value.is_none()).then_some(value))
}

/// The groups that are drawn, as bits.
fn shown(groups: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
    let Some(groups) = groups else { return Ok(render::SHOWN_GROUPS) };
    let wrong =
        || PyValueError::new_err(format!("groups is {groups}: expected integers from 0 to 31, such as (0, 1, 2)"));
    let groups = elements(groups, 1000, |group| group.extract::<u32>()).map_err(|_| wrong())?;
    groups.iter().try_fold(0, |bits, &group| 1u32.checked_shl(group).map(|bit| bits | bit)).ok_or_else(wrong)
}

/// The error of a name that none of these has.
fn unknown<'a>(
    py: Python<'_>,
    kind: (&str, &str),
    name: &str,
    all: impl ExactSizeIterator<Item = &'a String>,
) -> PyErr {
    let count = all.len();
    unknown_name(py, kind, name, all.map(String::as_str).filter(|known| !known.is_empty()).collect(), count)
}

/// A body by name or index.
fn body(model: &Multibody, name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let n = model.bodies.len();
    if let Ok(text) = value.extract::<String>() {
        let names = model.bodies.iter().map(|body| &body.name);
        return model.body(&text).ok_or_else(|| unknown(value.py(), ("body", "bodies"), &text, names));
    }
    let index: i64 = value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name} is {value}: expected the name or the index of a body")))?;
    let found = usize::try_from(index).ok().filter(|&k| k < n);
    found.ok_or_else(|| PyIndexError::new_err(format!("{name} is {index}: expected an index from 0 to {}", n - 1)))
}

/// The camera that an argument means: a name, an index, a `sapwood.Camera`, or None.
fn eye(stage: &Stage, camera: Option<&Bound<'_, PyAny>>) -> PyResult<Eye> {
    let model = stage.model();
    let mut free = stage.default_camera();
    let Some(camera) = camera else { return Ok(Eye::Free(free)) };
    if let Ok(name) = camera.extract::<String>() {
        let found = model.cameras.iter().position(|camera| camera.name == name);
        let names = model.cameras.iter().map(|camera| &camera.name);
        return found.map(Eye::Model).ok_or_else(|| unknown(camera.py(), ("camera", "cameras"), &name, names));
    }
    if let Ok(index) = whole(camera) {
        let n = model.cameras.len() as i64;
        if (0..n).contains(&index) {
            return Ok(Eye::Model(index as usize));
        }
        let names: Vec<&str> = model.cameras.iter().map(|camera| camera.name.as_str()).collect();
        let has = format!("the model has {n} cameras, {names:?}");
        return Err(PyIndexError::new_err(format!("camera is {index}: {has}; None is the default view")));
    }
    if !camera.hasattr("azimuth")? {
        let kind = camera.get_type().name()?;
        let expected = "expected the name or index of a camera of the model, a sapwood.Camera, or None";
        return Err(PyTypeError::new_err(format!("camera is of type {kind}: {expected}")));
    }
    let pi = std::f64::consts::PI;
    if let Some(fovy) = field(camera, "fovy")? {
        let fovy = number("fovy", &fovy)?;
        if !(fovy > 0.0 && fovy < pi) {
            let message = format!("camera.fovy is {fovy}: expected radians above 0 and below π");
            return Err(PyValueError::new_err(message));
        }
        free.lens = Lens::Fovy(fovy);
    }
    if let Some(lens) = sensor(camera)? {
        free.lens = lens;
    }
    if let Some(position) = field(camera, "position")? {
        return Ok(Eye::Fixed { pose: standing(camera, &position)?, lens: free.lens });
    }
    if field(camera, "quaternion")?.is_some() {
        return Err(PyValueError::new_err("camera.quaternion without position: expected both, or neither"));
    }
    if let Some(track) = field(camera, "track")? {
        free.track = Some(body(model, "camera.track", &track)?);
        free.lookat = Vec3::ZERO;
    }
    if let Some(lookat) = field(camera, "lookat")? {
        let lookat: [f64; 3] = vector("camera.lookat", &lookat, 3)?.try_into().unwrap_or_default();
        free.lookat = lookat.into();
    }
    if let Some(distance) = field(camera, "distance")? {
        free.distance = number("distance", &distance)?;
        if free.distance <= 0.0 {
            let message = format!("camera.distance is {}: expected metres above 0", free.distance);
            return Err(PyValueError::new_err(message));
        }
    }
    if let Some(azimuth) = field(camera, "azimuth")? {
        free.azimuth = number("azimuth", &azimuth)?;
    }
    if let Some(elevation) = field(camera, "elevation")? {
        free.elevation = number("elevation", &elevation)?;
        if free.elevation.abs() > 0.5 * pi + 1e-9 {
            let message = format!("camera.elevation is {}: expected radians from −π/2 to π/2", free.elevation);
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(Eye::Free(free))
}

/// The lens of a `sapwood.Camera` with a focal length.
fn sensor(camera: &Bound<'_, PyAny>) -> PyResult<Option<Lens>> {
    let pair = |name: &str| match field(camera, name)? {
        Some(value) if value.len().is_ok() => {
            let numbers: [f64; 2] = vector(&format!("camera.{name}"), &value, 2)?.try_into().unwrap_or_default();
            Ok::<_, PyErr>(Some(numbers))
        }
        Some(value) => number(name, &value).map(|number| Some([number; 2])),
        None => Ok(None),
    };
    let (focal, size, principal) = (pair("focal")?, pair("sensor_size")?, pair("principal")?);
    let (Some(focal), Some(size)) = (focal, size) else {
        if focal.is_none() && size.is_none() && principal.is_none() {
            return Ok(None);
        }
        return Err(PyValueError::new_err("camera.focal and camera.sensor_size: expected both, in the same unit"));
    };
    if field(camera, "fovy")?.is_some() {
        return Err(PyValueError::new_err("camera.fovy and camera.focal are both given: expected one of them"));
    }
    if !focal.iter().chain(&size).all(|x| *x > 0.0) {
        return Err(PyValueError::new_err(format!(
            "camera.focal {focal:?}, sensor_size {size:?}: expected numbers above 0"
        )));
    }
    Ok(Some(Lens::Sensor { focal, size, principal: principal.unwrap_or_default() }))
}

/// The frame of a `sapwood.Camera` that stands at a position. What says nothing there is refused.
fn standing(camera: &Bound<'_, PyAny>, position: &Bound<'_, PyAny>) -> PyResult<Pose<f64>> {
    for name in ["distance", "azimuth", "elevation", "track"] {
        if field(camera, name)?.is_some() {
            let expected = "expected lookat or quaternion beside it, or no position";
            return Err(PyValueError::new_err(format!(
                "camera.{name} says nothing where position is given: {expected}"
            )));
        }
    }
    let place = |name: &str, value: &Bound<'_, PyAny>| -> PyResult<Vec3<f64>> {
        let numbers: [f64; 3] = vector(name, value, 3)?.try_into().unwrap_or_default();
        Ok(Vec3::from(numbers))
    };
    let position = place("camera.position", position)?;
    let turn = match (field(camera, "lookat")?, field(camera, "quaternion")?) {
        (None, None) => Quat::new(1.0, 0.0, 0.0, 0.0),
        (Some(lookat), None) => {
            let lookat = place("camera.lookat", &lookat)?;
            let same = || PyValueError::new_err("camera.lookat is camera.position: expected another point");
            return render::looking_at(position, lookat).ok_or_else(same);
        }
        (None, Some(turn)) => {
            let [w, x, y, z] = vector("camera.quaternion", &turn, 4)?.try_into().unwrap_or_default();
            let none =
                || PyValueError::new_err("camera.quaternion is zero: expected a quaternion (w, x, y, z) of length 1");
            Quat::new(w, x, y, z).normalized().ok_or_else(none)?
        }
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "camera.lookat and camera.quaternion are both given: expected one of them",
            ));
        }
    };
    Ok(Pose::new(position, turn))
}

/// Draws pictures of a model, and keeps its buffers.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Renderer {
    model: Py<Model>,
    size: [usize; 2],
    bodies: Vec<i32>,
    renderer: Mutex<render::Renderer>,
}

#[stubdoc::documented]
#[pymethods]
impl Renderer {
    #[new]
    #[pyo3(signature = (model, width=640, height=480, *, threads=1))]
    fn new(
        #[pyo3(from_py_with = a_model)] model: Bound<'_, Model>,
        #[pyo3(from_py_with = whole)] width: i64,
        #[pyo3(from_py_with = whole)] height: i64,
        #[pyo3(from_py_with = whole)] threads: i64,
    ) -> PyResult<Self> {
        let size = [side("width", width)?, side("height", height)?];
        let count = usize::try_from(threads).ok().filter(|n| (1..=256).contains(n));
        let threads = count.ok_or_else(|| PyValueError::new_err(format!("threads is {threads}: expected 1 to 256")))?;
        let inner = model.get();
        let stage = model.py().detach(|| inner.pictures().stage(inner));
        let renderer = render::Renderer::new(stage, threads).map_err(no_threads)?;
        Ok(Self { model: model.clone().unbind(), size, bodies: bodies_of(inner), renderer: Mutex::new(renderer) })
    }

    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Width of the pictures, pixels.
    #[getter]
    fn width(&self) -> usize {
        self.size[0]
    }

    /// Height of the pictures, pixels.
    #[getter]
    fn height(&self) -> usize {
        self.size[1]
    }

    /// A picture of a simulation, or of the model in a configuration.
    #[pyo3(signature = (
        source, camera=None, kind="rgb", *, shadows=true, antialias=true, contacts=false, sites=false, frames=false,
        stress=None, groups=None
    ))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        camera: Option<&Bound<'py, PyAny>>,
        kind: &str,
        shadows: bool,
        antialias: bool,
        contacts: bool,
        sites: bool,
        frames: bool,
        stress: Option<&Bound<'py, PyAny>>,
        groups: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get();
        let kind = word("kind", kind, &KINDS)?;
        let Ok(mut renderer) = self.renderer.try_lock() else {
            return Err(PyRuntimeError::new_err("this renderer draws in another thread: make one for each"));
        };
        let eye = eye(renderer.stage(), camera)?;
        let mut options = Options { shadows, antialias, ..Options::default() };
        let stress = stress.map_or(Ok(Stress::Hidden), Stress::of)?;
        let q = match source.cast::<Simulation>() {
            Ok(simulation) => {
                if !simulation.get().is_of(model) {
                    return Err(PyValueError::new_err("the simulation is of another model than the renderer"));
                }
                let (extent, drawing) = (renderer.stage().extent(), simulation.get().drawing());
                simulation.get().picture(py, |s| {
                    add_markers(s, drawing, extent, Added { contacts, sites, frames }, &mut options);
                    Shown::of(s, drawing, stress)
                })?
            }
            Err(_) if contacts || sites || frames => {
                let message = "contacts, sites, frames: expected a simulation as source, not a configuration";
                return Err(PyValueError::new_err(message));
            }
            Err(_) if matches!(stress, Stress::Shown(_)) => {
                return Err(PyValueError::new_err("stress: expected a simulation as source, not a configuration"));
            }
            Err(_) => {
                let q = configuration("source", source, model.inner())?;
                Shown { q, soft: at_rest(model), mocap: model.inner().mocap_poses(), ..Shown::default() }
            }
        };
        renderer.show_groups(shown(groups)?);
        let order = Order { size: self.size, eye, kind, options };
        order.fill(py, &mut renderer, &q, &self.bodies)
    }

    fn __repr__(&self) -> String {
        format!("<sapwood.Renderer of {:?}, {} by {}>", self.model.get().inner().name, self.size[0], self.size[1])
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// A picture of the present state.
    #[pyo3(signature = (
        width=None, height=None, camera=None, kind="rgb", *, shadows=true, antialias=true, contacts=false,
        sites=false, frames=false, stress=None, groups=None
    ))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: Option<&Bound<'py, PyAny>>,
        height: Option<&Bound<'py, PyAny>>,
        camera: Option<&Bound<'py, PyAny>>,
        kind: &str,
        shadows: bool,
        antialias: bool,
        contacts: bool,
        sites: bool,
        frames: bool,
        stress: Option<&Bound<'py, PyAny>>,
        groups: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = word("kind", kind, &KINDS)?;
        let model = self.model_of();
        let pictures = model.pictures();
        let stage = py.detach(|| pictures.stage(model));
        let eye = eye(&stage, camera)?;
        let own = match eye {
            Eye::Model(camera) => model.inner().cameras[camera].resolution.filter(|size| size.iter().all(|n| *n > 1)),
            Eye::Free(_) | Eye::Fixed { .. } => None,
        };
        let [columns, rows] = own.unwrap_or([640, 480]).map(i64::from);
        if let Some(text) = width.filter(|width| width.is_instance_of::<PyString>()) {
            let text = brief(&text.to_string());
            let message = format!(
                "width is {text:?}: expected pixels; sapwood.write_png({text:?}, sim.render()) writes a picture"
            );
            return Err(PyTypeError::new_err(message));
        }
        let pixels = |name, given: Option<&Bound<'py, PyAny>>, own| side(name, given.map_or(Ok(own), whole)?);
        let size = [pixels("width", width, columns)?, pixels("height", height, rows)?];
        let groups = shown(groups)?;
        let mut options = Options { shadows, antialias, ..Options::default() };
        let stress = stress.map_or(Ok(Stress::Hidden), Stress::of)?;
        let q = self.picture(py, |s| {
            add_markers(s, self.drawing(), stage.extent(), Added { contacts, sites, frames }, &mut options);
            Shown::of(s, self.drawing(), stress)
        })?;
        let mut renderer = pictures.take(model)?;
        renderer.show_groups(groups);
        let picture = Order { size, eye, kind, options }.fill(py, &mut renderer, &q, &bodies_of(model));
        pictures.give_back(renderer);
        picture
    }
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// Names of the cameras; empty where the file gives none.
    #[getter]
    fn camera_names(&self) -> Vec<&str> {
        self.inner().cameras.iter().map(|camera| camera.name.as_str()).collect()
    }
}
