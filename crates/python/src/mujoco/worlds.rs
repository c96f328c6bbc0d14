//! The worlds of all `MjData`, found at the addresses of their objects.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::world::{MujocoWorld, Need};

/// The functions of MuJoCo that are replaced, for every `MjModel` and `MjData`.
///
/// Here, not in Python: what that takes to find a world is as much as a stage of MuJoCo.
#[pyclass(frozen, module = "sapwood._sapwood", name = "_MujocoWorlds")]
pub struct MujocoWorlds {
    /// Makes the world of an `MjModel` and an `MjData` and [puts](Self::put) it here.
    make: Py<PyAny>,
    /// By the address of the `MjData`; none where it has to be made again.
    worlds: Mutex<BTreeMap<usize, Option<Py<MujocoWorld>>>>,
}

#[pymethods]
impl MujocoWorlds {
    #[new]
    fn new(make: Py<PyAny>) -> Self {
        Self { make, worlds: Mutex::default() }
    }

    fn __len__(&self) -> usize {
        self.all().len()
    }

    /// Keeps the world of an `MjData`; whether this is its first.
    fn put(&self, d: &Bound<'_, PyAny>, world: Py<MujocoWorld>) -> bool {
        match self.all().entry(key(d)) {
            Entry::Vacant(place) => {
                place.insert(Some(world));
                true
            }
            Entry::Occupied(mut place) => {
                place.insert(Some(world));
                false
            }
        }
    }

    /// Drops the world of an `MjData` that is gone, by its `id`.
    fn remove(&self, id: usize) {
        let world = self.all().remove(&id);
        // What it refers to may come back here when it is dropped.
        drop(world);
    }

    /// Lets all worlds be made again at their next call.
    fn forget(&self) {
        let worlds: Vec<_> = self.all().values_mut().map(Option::take).collect();
        drop(worlds);
    }

    fn step(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>, nstep: i64) -> PyResult<()> {
        self.world(m, d, Need::Numbers)?.get().step(m, d, nstep)
    }

    fn step1(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.world(m, d, Need::Stages)?.get().step1(m, d)
    }

    fn step2(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.world(m, d, Need::Numbers)?.get().step2(m, d)
    }

    fn forward(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.world(m, d, Need::Numbers)?.get().forward(m, d)
    }

    fn inverse(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.world(m, d, Need::Numbers)?.get().inverse(m, d)
    }
}

impl MujocoWorlds {
    fn all(&self) -> MutexGuard<'_, BTreeMap<usize, Option<Py<MujocoWorld>>>> {
        self.worlds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world of an `MjData`, with what is needed of the `MjModel` as it is now; it is made at the first call.
    fn world(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>, need: Need) -> PyResult<Py<MujocoWorld>> {
        let found = self.all().get(&key(d)).and_then(Option::as_ref).map(|world| world.clone_ref(m.py()));
        match found {
            Some(world) if world.get().is_of(m, need) => Ok(world),
            _ => Ok(self.make.bind(m.py()).call1((m, d))?.extract()?),
        }
    }
}

/// As Python's `id`.
fn key(d: &Bound<'_, PyAny>) -> usize {
    d.as_ptr() as usize
}
