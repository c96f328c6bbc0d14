//! What pictures of a simulation show that its model does not have: markers, and geoms in other colours.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use render::Marker;

/// Markers of a simulation at most.
pub const MAX_MARKERS: usize = 100_000;

/// Markers and colours of a simulation. They are no part of its state.
#[derive(Default)]
pub struct Drawing {
    markers: Mutex<Vec<Marker>>,
    colours: Mutex<BTreeMap<usize, [f32; 4]>>,
    /// How often either has changed.
    changes: AtomicU64,
}

impl Drawing {
    /// The markers.
    pub fn markers(&self) -> MutexGuard<'_, Vec<Marker>> {
        self.markers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The colours of geoms that are not the model's, by geoms.
    pub fn colours(&self) -> MutexGuard<'_, BTreeMap<usize, [f32; 4]>> {
        self.colours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a geom another colour.
    pub fn paint(&self, geom: usize, rgba: [f32; 4]) {
        self.colours().insert(geom, rgba);
        self.note_change();
    }

    /// How often either has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Has programs that draw themselves look again.
    pub fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
