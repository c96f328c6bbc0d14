//! Things of a model by name or index.

use std::collections::HashMap;
use std::sync::OnceLock;

use multibody::KeyframeKey;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arguments::whole;
use crate::errors::{name_of_another, unknown_name};
use crate::model::Model;
use crate::quantities::fixed_matrix;
use crate::views;

/// What has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Body,
    Joint,
    Geom,
    Site,
    Actuator,
    Tendon,
    Sensor,
    Equality,
}

impl Kind {
    const ALL: [Self; 8] =
        [Self::Body, Self::Site, Self::Joint, Self::Geom, Self::Actuator, Self::Tendon, Self::Sensor, Self::Equality];

    /// As in `sim.body`, which also names the argument.
    pub fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Joint => "joint",
            Self::Geom => "geom",
            Self::Site => "site",
            Self::Actuator => "actuator",
            Self::Tendon => "tendon",
            Self::Sensor => "sensor",
            Self::Equality => "equality",
        }
    }

    /// As in `sim.bodies`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Body => "bodies",
            Self::Joint => "joints",
            Self::Geom => "geoms",
            Self::Site => "sites",
            Self::Actuator => "actuators",
            Self::Tendon => "tendons",
            Self::Sensor => "sensors",
            Self::Equality => "equalities",
        }
    }

    /// How many a model has.
    pub fn count(self, model: &Model) -> usize {
        let inner = model.inner();
        match self {
            Self::Body => inner.bodies.len(),
            Self::Joint => inner.joints.len(),
            Self::Geom => model.scene().geoms.len(),
            Self::Site => inner.sites.len(),
            Self::Actuator => inner.actuators.len(),
            Self::Tendon => inner.tendons.len(),
            Self::Sensor => inner.sensors.len(),
            Self::Equality => inner.equalities.len(),
        }
    }

    /// The name of one, empty where the file gives none.
    pub fn name(self, model: &Model, index: usize) -> &str {
        let inner = model.inner();
        match self {
            Self::Body => &inner.bodies[index].name,
            Self::Joint => &inner.joints[index].name,
            Self::Geom => &model.scene().geoms[index].name,
            Self::Site => &inner.sites[index].name,
            Self::Actuator => &inner.actuators[index].name,
            Self::Tendon => &inner.tendons[index].name,
            Self::Sensor => &inner.sensors[index].name,
            Self::Equality => &inner.equalities[index].name,
        }
    }

    /// All names, those that are not empty.
    pub fn names(self, model: &Model) -> impl Iterator<Item = &str> {
        (0..self.count(model)).map(move |index| self.name(model, index)).filter(|name| !name.is_empty())
    }
}

/// Indices by name, made when a name is first asked for; of things with one name the first counts.
#[derive(Debug, Default)]
pub struct Names {
    indices: [OnceLock<HashMap<String, usize>>; 8],
}

impl Names {
    fn find(&self, model: &Model, kind: Kind, name: &str) -> Option<usize> {
        let make = || {
            let all = (0..kind.count(model)).rev().map(|index| (kind.name(model, index).to_owned(), index));
            all.filter(|(name, _)| !name.is_empty()).collect()
        };
        self.indices[kind as usize].get_or_init(make).get(name).copied()
    }
}

/// The index of one that Python names: by name, by index (a negative one from the end), or by a view of it.
pub fn index(model: &Model, kind: Kind, key: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Ok(name) = key.cast::<PyString>() {
        let name = name.to_str()?;
        return model.names().find(model, kind, name).ok_or_else(|| unknown(key.py(), model, kind, name));
    }
    if let Some(index) = views::index_of(kind, key) {
        // It may be of another simulation, whose model may be another one.
        return in_range(model, kind, index as i64);
    }
    match whole(key) {
        Ok(index) => in_range(model, kind, index),
        Err(_) => {
            let (word, found) = (kind.word(), key.get_type().name()?);
            Err(PyTypeError::new_err(format!("{word} is a {found}: expected a name or an index")))
        }
    }
}

/// A keyframe that Python names, by name or by index; None: the default configuration at rest.
pub fn keyframe_key<'a>(argument: &str, key: Option<&'a Bound<'_, PyAny>>) -> PyResult<KeyframeKey<'a>> {
    let Some(key) = key else { return Ok(KeyframeKey::Start) };
    if let Ok(name) = key.cast::<PyString>() {
        return name.to_str().map(KeyframeKey::Name);
    }
    whole(key).map(KeyframeKey::Index).map_err(|_| {
        let found = key.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        let expected = "expected the name or the index of a keyframe; positions are set afterwards, q[:] = …";
        PyTypeError::new_err(format!("{argument} is a {found}: {expected}"))
    })
}

/// A body by name, index or view, or a geom by name or view: which of the two, and its index. A name that both have is the body's.
fn body_or_geom(model: &Model, key: &Bound<'_, PyAny>) -> PyResult<(Kind, usize)> {
    if let Ok(name) = key.cast::<PyString>() {
        let name = name.to_str()?;
        let find = |kind| model.names().find(model, kind, name).map(|index| (kind, index));
        return find(Kind::Body).or_else(|| find(Kind::Geom)).ok_or_else(|| {
            let known = Kind::Body.names(model).chain(Kind::Geom.names(model)).collect();
            let count = Kind::Body.count(model) + Kind::Geom.count(model);
            unknown_name(key.py(), ("body or geom", "bodies and geoms"), name, known, count)
        });
    }
    let kind = if views::index_of(Kind::Geom, key).is_some() { Kind::Geom } else { Kind::Body };
    Ok((kind, index(model, kind, key)?))
}

fn in_range(model: &Model, kind: Kind, index: i64) -> PyResult<usize> {
    let count = kind.count(model);
    let from_start = if index < 0 { index.saturating_add_unsigned(count as u64) } else { index };
    usize::try_from(from_start).ok().filter(|index| *index < count).ok_or_else(|| {
        let (word, plural) = (kind.word(), kind.plural());
        PyIndexError::new_err(format!(
            "{word} is {index}: the model has {count} {plural}, expected an index below that"
        ))
    })
}

/// `sapwood.UnknownNameError`, with what has this name instead, or the names that are near.
fn unknown(py: Python<'_>, model: &Model, kind: Kind, name: &str) -> PyErr {
    if let Some(other) = Kind::ALL.into_iter().find(|other| model.names().find(model, *other, name).is_some()) {
        return name_of_another(py, kind.word(), name, other.word());
    }
    unknown_name(py, (kind.word(), kind.plural()), name, kind.names(model).collect(), kind.count(model))
}

macro_rules! indices {
    ($($function:ident($argument:ident) => $kind:expr, $doc:literal;)*) => {
        #[stubdoc::documented]
        #[pymethods]
        impl Model {$(
            #[doc = $doc]
            fn $function(&self, $argument: &Bound<'_, PyAny>) -> PyResult<usize> {
                index(self, $kind, $argument)
            }
        )*}
    };
}

indices! {
    body_index(body) => Kind::Body, "The index of the body of this name.";
    joint_index(joint) => Kind::Joint, "The index of the joint of this name.";
    geom_index(geom) => Kind::Geom, "The index of the geom of this name.";
    site_index(site) => Kind::Site, "The index of the site of this name.";
    actuator_index(actuator) => Kind::Actuator, "The index of the actuator of this name.";
    tendon_index(tendon) => Kind::Tendon, "The index of the fixed tendon of this name.";
    sensor_index(sensor) => Kind::Sensor, "The index of the sensor of this name.";
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// Whether a geom is meant, and the index of the body or the geom.
    fn _body_or_geom(&self, key: &Bound<'_, PyAny>) -> PyResult<(bool, usize)> {
        body_or_geom(self, key).map(|(kind, index)| (kind == Kind::Geom, index))
    }

    /// Number of sites.
    #[getter]
    fn nsite(&self) -> usize {
        self.inner().sites.len()
    }

    /// Names of the sites; empty where the file gives none.
    #[getter]
    fn site_names(&self) -> Vec<&str> {
        self.inner().sites.iter().map(|site| site.name.as_str()).collect()
    }

    /// Indices of the bodies that the sites are fixed in.
    #[getter]
    fn site_bodies(&self) -> Vec<usize> {
        self.inner().sites.iter().map(|site| site.body).collect()
    }

    /// Indices of the bodies that the geoms are fixed in.
    #[getter]
    fn geom_bodies(&self) -> Vec<usize> {
        self.scene().geoms.iter().map(|geom| geom.body).collect()
    }

    /// Ranges that controls are cut to, (nu, 2); infinite without.
    #[getter]
    fn ctrl_range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        ranges(py, self.inner().actuators.iter().map(|actuator| actuator.ctrl_range))
    }

    /// Ranges that forces of actuators are cut to, (nu, 2); infinite without.
    #[getter]
    fn force_range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        ranges(py, self.inner().actuators.iter().map(|actuator| actuator.force_range))
    }
}

fn ranges<'py>(
    py: Python<'py>,
    ranges: impl ExactSizeIterator<Item = Option<(f64, f64)>>,
) -> PyResult<Bound<'py, PyAny>> {
    let count = ranges.len();
    let ends = ranges.flat_map(|range| <[f64; 2]>::from(range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY))));
    fixed_matrix(py, ends.collect(), [count, 2])
}
