//! Contact points as numpy arrays.

use batch::{Batch, BatchContact};
use numpy::{Element, PyArray1, PyArrayDescr, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sim::ContactPoint;
use spatial::Vec3;

use crate::results::{self, read_only};

/// One row of `Simulation.contacts`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Row {
    bodies: [i64; 2],
    geoms: [i64; 2],
    position: [f64; 3],
    normal: [f64; 3],
    tangents: [[f64; 3]; 2],
    gap: f64,
    impulse: [f64; 3],
    slip: [f64; 2],
}

const FIELDS: [(&str, &str); 8] = [
    ("bodies", "(2,)i8"),
    ("geoms", "(2,)i8"),
    ("position", "(3,)f8"),
    ("normal", "(3,)f8"),
    ("tangents", "(2,3)f8"),
    ("gap", "f8"),
    ("impulse", "(3,)f8"),
    ("slip", "(2,)f8"),
];

// SAFETY: plain numbers of eight bytes in C order without padding, which is what the dtype of `FIELDS` describes.
unsafe impl Element for Row {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
        let make = || PyArrayDescr::new(py, FIELDS.to_vec()).map(Bound::unbind);
        DTYPE.get_or_try_init(py, make).expect("a constant that numpy understands").bind(py).clone()
    }

    fn clone_ref(&self, _py: Python<'_>) -> Self {
        *self
    }
}

impl From<&ContactPoint> for Row {
    fn from(point: &ContactPoint) -> Self {
        Self {
            bodies: point.bodies.map(|i| i as i64),
            geoms: point.geoms.map(|i| i as i64),
            position: point.position.to_array(),
            normal: point.normal.to_array(),
            tangents: point.tangents.map(|t| t.to_array()),
            gap: point.gap,
            impulse: point.impulse,
            slip: [point.velocity[0], point.velocity[1]],
        }
    }
}

/// The contact points, in order.
pub fn structured<'py>(py: Python<'py>, points: &[ContactPoint]) -> Bound<'py, PyAny> {
    read_only(PyArray1::from_iter(py, points.iter().map(Row::from))).into_any()
}

/// An error where a batch does not record contacts.
pub fn check_recorded(batch: &Batch) -> PyResult<()> {
    if batch.records_contacts() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("contacts are not recorded: make the batch with contacts=True"))
}

/// `sapwood._results.BatchContacts` of all worlds, one after the other.
pub fn of_batch<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    check_recorded(batch)?;
    let all: Vec<(usize, &BatchContact)> = (0..batch.worlds())
        .flat_map(|world| batch.contacts(world).iter().map(move |contact| (world, contact)))
        .collect();
    let world = PyArray1::from_iter(py, all.iter().map(|(world, _)| *world as i64));
    let geoms = PyArray1::from_iter(py, all.iter().flat_map(|(_, contact)| contact.geoms.map(|geom| geom as i64)));
    let vectors = |of: fn(&BatchContact) -> Vec3<f64>| {
        PyArray1::from_iter(py, all.iter().flat_map(|(_, contact)| of(contact).to_array())).reshape([all.len(), 3])
    };
    let gap = PyArray1::from_iter(py, all.iter().map(|(_, contact)| contact.gap));
    let fields = (
        batch.worlds(),
        read_only(world),
        read_only(geoms.reshape([all.len(), 2])?),
        read_only(vectors(|contact| contact.position)?),
        read_only(vectors(|contact| contact.normal)?),
        read_only(gap),
        read_only(vectors(|contact| contact.force)?),
    );
    results::batch_contacts(py, fields)
}
