//! What pictures of a simulation show that its model does not have: markers, and geoms in other colours.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use render::{Marker, MarkerShape};
use spatial::Vec3;

use crate::arguments::any_rows;
use crate::builder::geoms::colour;
use crate::simulation::Simulation;

/// Markers of a simulation at most.
const MAX_MARKERS: usize = 100_000;

/// Markers and colours of a simulation. They are no part of its state.
#[derive(Default)]
pub struct Drawing {
    markers: Mutex<Vec<Marker>>,
    colours: Mutex<BTreeMap<usize, [f32; 4]>>,
    /// How often either has changed.
    changes: AtomicU64,
}

/// A marker for programs that draw themselves: its points, (1, 3) of a ball and (2, 3) of a rod, radius, colour.
type DrawnMarker = (Vec<[f64; 3]>, f64, Rgba);

/// Red, green, blue, opacity.
type Rgba = (f32, f32, f32, f32);

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

    fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

#[pymethods]
impl Simulation {
    /// Adds balls at points (n, 3), or rods from each to the next.
    fn _add_markers(
        &self,
        shape: &str,
        points: &Bound<'_, PyAny>,
        radius: f64,
        color: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let rgba = colour("color", color)?;
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(PyValueError::new_err(format!("radius is {radius}: expected metres above 0")));
        }
        let points: Vec<Vec3<f64>> =
            any_rows("points", points, 3)?.1.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2])).collect();
        let shapes: Vec<MarkerShape> = match shape {
            "ball" => points.iter().map(|&centre| MarkerShape::Ball { centre, radius }).collect(),
            _ => points.windows(2).map(|ends| MarkerShape::Rod { ends: [ends[0], ends[1]], radius }).collect(),
        };
        let mut markers = self.drawing().markers();
        if markers.len() + shapes.len() > MAX_MARKERS {
            let expected = format!("expected at most {MAX_MARKERS}: sim.markers.clear() takes them away");
            return Err(PyValueError::new_err(format!(
                "markers: {} are too many, {expected}",
                markers.len() + shapes.len()
            )));
        }
        markers.extend(shapes.into_iter().map(|shape| Marker { shape, rgba }));
        self.drawing().note_change();
        Ok(())
    }

    /// Takes all markers away.
    fn _clear_markers(&self) {
        self.drawing().markers().clear();
        self.drawing().note_change();
    }

    /// The markers, and the colours of geoms that are not the model's.
    fn _drawing(&self) -> (Vec<DrawnMarker>, BTreeMap<usize, Rgba>) {
        let drawn = |marker: &Marker| match marker.shape {
            MarkerShape::Ball { centre, radius } => (vec![centre.to_array()], radius, marker.rgba.into()),
            MarkerShape::Rod { ends, radius } => (ends.map(|end| end.to_array()).to_vec(), radius, marker.rgba.into()),
        };
        let colours = self.drawing().colours().iter().map(|(geom, rgba)| (*geom, (*rgba).into())).collect();
        (self.drawing().markers().iter().map(drawn).collect(), colours)
    }

    /// How often markers and colours have changed.
    #[getter]
    fn _drawing_changes(&self) -> u64 {
        self.drawing().changes.load(Ordering::Relaxed)
    }

    /// How many markers there are.
    #[getter]
    fn _marker_count(&self) -> usize {
        self.drawing().markers().len()
    }
}
