//! `sapwood._sapwood.Assembly`: the compiled half of `sapwood.ModelBuilder`, and `Model.to_mjcf`.
//!
//! `python/sapwood/builder/` turns handles and names into indices and says what is wrong with them; here values become
//! numbers, with errors that name the argument.

mod constraints;
mod fields;
mod geoms;
mod soft;

use std::collections::HashMap;
use std::path::PathBuf;

use formats::assembly::{Assembly as Inner, AssemblyError, ElementKind};
use formats::{MeshFiles, WriteError, WriteOptions};
use multibody::{BodySpec, BuildError, JointKind, JointSpec, Site, SiteShape};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

use crate::arguments::{array, several, word};
use crate::errors::{unwritten_file, warn};
use crate::model::Model;

/// The kinds of elements.
const KINDS: [(&str, ElementKind); 11] = [
    ("body", ElementKind::Body),
    ("joint", ElementKind::Joint),
    ("geom", ElementKind::Geom),
    ("site", ElementKind::Site),
    ("camera", ElementKind::Camera),
    ("actuator", ElementKind::Actuator),
    ("tendon", ElementKind::Tendon),
    ("equality", ElementKind::Equality),
    ("sensor", ElementKind::Sensor),
    ("soft body", ElementKind::SoftBody),
    ("keyframe", ElementKind::Keyframe),
];

/// A model and its scene while they are made or changed.
#[stubdoc::documented]
#[pyclass(module = "sapwood._sapwood")]
pub struct Assembly {
    inner: Inner,
}

#[stubdoc::documented]
#[pymethods]
impl Assembly {
    #[new]
    fn new(name: &str) -> Self {
        Self { inner: Inner::new(name) }
    }

    /// A model to be changed.
    #[staticmethod]
    fn of(model: &Model) -> Self {
        Self { inner: Inner::from_model(model.inner(), model.scene()) }
    }

    /// A copy that shares nothing.
    fn copy(&self) -> Self {
        Self { inner: self.inner.clone() }
    }

    /// Name, gravity or time step.
    fn get<'py>(&self, py: Python<'py>, field: &str) -> PyResult<Bound<'py, PyAny>> {
        match field {
            "gravity" => Ok(self.inner.gravity.to_array().into_pyobject(py)?.into_any()),
            "timestep" => Ok(self.inner.timestep.into_pyobject(py)?.into_any()),
            _ => Ok(self.inner.name.clone().into_pyobject(py)?.into_any()),
        }
    }

    fn set(&mut self, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match field {
            "gravity" => self.inner.gravity = vector3("gravity", value)?,
            "timestep" => {
                self.inner.timestep = crate::arguments::positive("timestep", fields::number("timestep", value)?)?
            }
            _ => self.inner.name = value.extract()?,
        }
        Ok(())
    }

    /// Gives an element another name.
    fn rename(&mut self, kind: &str, index: usize, name: &str) -> PyResult<()> {
        self.check(kind, &[index])?;
        self.inner.rename(word("kind", kind, &KINDS)?, index, name);
        Ok(())
    }

    /// Removes an element and what refers to it; by kind, where the others are, None of those that are gone.
    fn remove(&mut self, kind: &str, index: usize) -> PyResult<HashMap<&'static str, Vec<Option<usize>>>> {
        self.check(kind, &[index])?;
        if (kind, index) == ("body", 0) {
            return Err(PyValueError::new_err("the world cannot be removed: expected another body"));
        }
        let moved = self.inner.remove(word("kind", kind, &KINDS)?, index);
        Ok(KINDS.iter().map(|(word, kind)| (*word, moved[*kind as usize].clone())).collect())
    }

    /// The names of a kind of elements, in the order of addition; empty where there is none.
    fn names(&self, kind: &str) -> PyResult<Vec<String>> {
        let inner = &self.inner;
        Ok(match kind {
            "body" => inner.bodies.iter().map(|b| b.spec.name.clone()).collect(),
            "joint" => inner.joints.iter().map(|j| j.spec.name.clone()).collect(),
            "geom" => inner.geoms.iter().map(|g| g.geom.name.clone()).collect(),
            "site" => inner.sites.iter().map(|s| s.name.clone()).collect(),
            "actuator" => inner.actuators.iter().map(|a| a.name.clone()).collect(),
            "tendon" => inner.tendons.iter().map(|t| t.name.clone()).collect(),
            "equality" => inner.equalities.iter().map(|e| e.name.clone()).collect(),
            "soft body" => inner.soft_bodies.iter().map(|s| s.description.name.clone()).collect(),
            "camera" => inner.cameras.iter().map(|c| c.name.clone()).collect(),
            "sensor" => inner.sensors.iter().map(|s| s.name.clone()).collect(),
            "keyframe" => inner.keyframes.iter().map(|k| k.name.clone()).collect(),
            _ => return Err(PyValueError::new_err(format!("kind={kind:?}: expected a kind of element"))),
        })
    }

    fn add_body(&mut self, parent: usize, fields: &Bound<'_, PyDict>) -> PyResult<usize> {
        self.check("body", &[parent])?;
        let mut spec = BodySpec { parent, ..BodySpec::default() };
        let mut inertia = None;
        for (name, value) in fields {
            fields::set_body(&mut spec, &mut inertia, &name.extract::<String>()?, &value)?;
        }
        self.inner.add_body(spec, inertia).map_err(value_error)
    }

    fn get_body<'py>(&self, py: Python<'py>, body: usize, field: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check("body", &[body])?;
        let inertia = self.inner.inertia(body);
        fields::get_body(py, &self.inner.bodies[body].spec, &inertia, field)
    }

    fn set_body(&mut self, body: usize, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check("body", &[body])?;
        let (mut spec, mut inertia) = (self.inner.bodies[body].spec.clone(), self.inner.bodies[body].inertia);
        fields::set_body(&mut spec, &mut inertia, field, value)?;
        // Checked as if it were added to an empty world.
        let alone = BodySpec { parent: 0, ..spec.clone() };
        Inner::new("").add_body(alone, inertia).map_err(value_error)?;
        if let Some(rot) = spec.pose.rot.normalized() {
            spec.pose.rot = rot;
        }
        (self.inner.bodies[body].spec, self.inner.bodies[body].inertia) = (spec, inertia);
        Ok(())
    }

    /// Whether a body has an inertia of its own, which its geoms do not add to.
    fn has_inertia(&self, body: usize) -> PyResult<bool> {
        self.check("body", &[body])?;
        Ok(self.inner.bodies[body].inertia.is_some())
    }

    fn add_joint(
        &mut self,
        body: usize,
        kind: &str,
        #[pyo3(from_py_with = several)] axes: Vec<[f64; 3]>,
        pitch: f64,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        self.check("body", &[body])?;
        let axis = |k: usize| axes.get(k).copied().map_or(Vec3::ZERO, Vec3::from);
        let kinds = [
            ("revolute", JointKind::Revolute { axis: axis(0) }),
            ("prismatic", JointKind::Prismatic { axis: axis(0) }),
            ("screw", JointKind::Screw { axis: axis(0), pitch }),
            ("universal", JointKind::Universal { axes: [axis(0), axis(1)] }),
            ("planar", JointKind::Planar { axes: [axis(0), axis(1), axis(2)] }),
            ("ball", JointKind::Ball),
            ("free", JointKind::Free),
        ];
        let mut spec = JointSpec::new(word("kind", kind, &kinds)?);
        for (name, value) in fields {
            fields::set_joint(&mut spec, &name.extract::<String>()?, &value)?;
        }
        self.inner.add_joint(body, spec).map_err(value_error)
    }

    fn get_joint<'py>(&self, py: Python<'py>, joint: usize, field: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check("joint", &[joint])?;
        fields::get_joint(py, &self.inner.joints[joint], field)
    }

    fn set_joint(&mut self, joint: usize, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check("joint", &[joint])?;
        let mut spec = self.inner.joints[joint].spec.clone();
        fields::set_joint(&mut spec, field, value)?;
        self.inner.set_joint(joint, spec).map_err(value_error)
    }

    fn add_site(
        &mut self,
        body: usize,
        name: String,
        position: &Bound<'_, PyAny>,
        quaternion: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        self.check("body", &[body])?;
        let pose = Pose::new(vector3("position", position)?, rotation("quaternion", quaternion)?);
        self.inner.sites.push(Site { name, body, pose, shape: SiteShape::default() });
        Ok(self.inner.sites.len() - 1)
    }

    /// The body of a site, its position and quaternion there.
    fn site(&self, site: usize) -> PyResult<(usize, [f64; 3], [f64; 4])> {
        self.check("site", &[site])?;
        let site = &self.inner.sites[site];
        Ok((site.body, site.pose.pos.to_array(), site.pose.rot.to_array()))
    }

    /// Attaches a model below a body; returns how many bodies there were before.
    fn attach(
        &mut self,
        py: Python<'_>,
        model: &Model,
        body: usize,
        position: &Bound<'_, PyAny>,
        quaternion: &Bound<'_, PyAny>,
        prefix: &str,
    ) -> PyResult<usize> {
        self.check("body", &[body])?;
        let pose = Pose::new(vector3("position", position)?, rotation("quaternion", quaternion)?);
        let lost = self.inner.differences(model.inner());
        let attached = self.inner.attach(model.inner(), model.scene(), body, pose, prefix).map_err(value_error)?;
        for text in lost {
            warn(py, &format!("attach: model {:?}: {text}", model.inner().name))?;
        }
        Ok(attached.bodies)
    }

    /// Pairs of bodies whose geoms never touch.
    fn exclude(&mut self, first: usize, second: usize) -> PyResult<()> {
        self.check("body", &[first, second])?;
        self.inner.excluded.push([first, second]);
        Ok(())
    }

    fn build(&self, py: Python<'_>) -> PyResult<Model> {
        let built = py.detach(|| self.inner.build());
        built.map(Model::new).map_err(|error| build_error(py, &error))
    }
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// The model as MJCF text, which reads back as the same model; written to a file where a path is given.
    #[pyo3(signature = (path=None, *, meshes="inline"))]
    fn to_mjcf(&self, py: Python<'_>, path: Option<PathBuf>, meshes: &str) -> PyResult<String> {
        let meshes = word("meshes", meshes, &[("inline", MeshFiles::Inline), ("obj", MeshFiles::Obj)])?;
        if path.is_none() && meshes == MeshFiles::Obj {
            return Err(PyValueError::new_err(
                "meshes=\"obj\" without a path: expected a path to write the files beside",
            ));
        }
        if let Some(path) = &path {
            support::check_place(path).map_err(|error| unwritten_file(&error))?;
        }
        let stem = path.as_deref().and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
        let (model, scene) = (self.inner(), self.scene());
        let options = WriteOptions { meshes, stem: stem.as_deref() };
        let written = py.detach(|| formats::to_mjcf(model, scene, &options));
        let written = written.map_err(|error| write_error(py, &error))?;
        if let Some(path) = path {
            py.detach(|| written.save(&path)).map_err(|error| unwritten_file(&error))?;
        }
        for note in &written.notes {
            warn(py, &format!("to_mjcf: {note}"))?;
        }
        Ok(written.text)
    }
}

impl Assembly {
    /// That there are elements of these indices: a handle may be of another builder, or made by hand.
    fn check(&self, kind: &str, indices: &[usize]) -> PyResult<()> {
        let inner = &self.inner;
        let count = match kind {
            "body" => inner.bodies.len(),
            "joint" => inner.joints.len(),
            "geom" => inner.geoms.len(),
            "site" => inner.sites.len(),
            "actuator" => inner.actuators.len(),
            "tendon" => inner.tendons.len(),
            "soft body" => inner.soft_bodies.len(),
            "camera" => inner.cameras.len(),
            "sensor" => inner.sensors.len(),
            "keyframe" => inner.keyframes.len(),
            _ => inner.equalities.len(),
        };
        let Some(index) = indices.iter().find(|index| **index >= count) else { return Ok(()) };
        Err(PyIndexError::new_err(format!(
            "{kind} is {index}: the builder has {count} of them, expected an index below that"
        )))
    }
}

/// Three finite numbers.
fn vector3(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec3<f64>> {
    let values = array(name, value, &[3])?;
    Ok(Vec3::new(values[0], values[1], values[2]))
}

/// A quaternion (w, x, y, z) of any length but 0.
fn rotation(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Quat<f64>> {
    let q = array(name, value, &[4])?;
    let rot = Quat::new(q[0], q[1], q[2], q[3]).normalized();
    rot.ok_or_else(|| PyValueError::new_err(format!("{name} is {q:?}: expected a quaternion (w, x, y, z) of length 1")))
}

/// Mass, centre of mass and the matrix of inertia about it.
fn inertia(mass: f64, com: Vec3<f64>, rows: &[f64]) -> RigidInertia<f64> {
    let inertia = Sym3::new([rows[0], rows[1], rows[2], rows[4], rows[5], rows[8]]);
    RigidInertia { mass, com, inertia }
}

fn value_error(error: AssemblyError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// `sapwood.ModelError` of no file and line.
fn build_error(py: Python<'_>, error: &AssemblyError) -> PyErr {
    let text = match error {
        AssemblyError::Build(BuildError::Massless { .. }) => {
            format!("{error}; give the body a geom with mass, or mass= and inertia=")
        }
        _ => error.to_string(),
    };
    model_error(py, text, None)
}

fn write_error(py: Python<'_>, error: &WriteError) -> PyErr {
    model_error(py, format!("cannot be written as MJCF: {error}"), Some(error.element.clone()))
}

fn model_error(py: Python<'_>, text: String, element: Option<String>) -> PyErr {
    let class = py.import("sapwood._errors").and_then(|module| module.getattr("ModelError"));
    let made = class.and_then(|class| {
        class.cast_into::<PyType>().map_err(PyErr::from)?.call1((
            support::legible(&text),
            None::<String>,
            None::<u32>,
            element,
        ))
    });
    made.map_or_else(|error| error, PyErr::from_value)
}
