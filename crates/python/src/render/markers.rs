//! Markers in pictures: those of programs, contacts, sites, frames.

use std::collections::{BTreeMap, VecDeque};

use multibody::Model as Multibody;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use render::{Label, Marker, MarkerShape, Options};
use replay::Sketch;
use sim::Frame;
use spatial::Vec3;

use crate::arguments::{any_rows, array, colour, positive};
use crate::drawing::{Drawing, MAX_MARKERS, Trail};
use crate::simulation::Simulation;

/// Radius of the points at which contacts are drawn, and length of the arrow of a force as great as the model's weight, relative to
/// the size of the model.
const CONTACT_RADIUS: f64 = 0.008;
const FORCE_LENGTH: f64 = 0.4;

/// What of a simulation is drawn as markers.
#[derive(Clone, Copy)]
pub struct Added {
    pub contacts: bool,
    pub sites: bool,
    pub frames: bool,
}

/// Radius of sites, and length of the axes of bodies, relative to the size of the model.
const SITE_RADIUS: f64 = 0.012;
const AXIS_LENGTH: f64 = 0.08;

/// Adds what programs have drawn, markers of contacts, of sites and of the bodies' frames, whose axes are red, green and blue.
pub fn add_markers(
    simulation: &mut sim::Simulation,
    drawing: &Drawing,
    extent: f64,
    added: Added,
    options: &mut Options,
) {
    let model = simulation.model().clone();
    let Sketch { mut markers, labels } = drawing.sketch();
    options.labels = labels;
    if added.contacts {
        markers.extend(contact_markers(simulation, &model, extent));
    }
    if added.sites {
        let mut now = simulation.observe();
        markers.extend((0..model.sites.len()).map(|site| {
            let shape = MarkerShape::Ball { centre: now.pose(Frame::Site(site)).pos, radius: SITE_RADIUS * extent };
            Marker { shape, rgba: [0.85, 0.35, 0.75, 1.0] }
        }));
    }
    if added.frames {
        let mut now = simulation.observe();
        for body in 1..model.bodies.len() {
            let pose = now.pose(Frame::Body(body));
            let axes = pose.rot.to_mat3();
            for (axis, rgba) in
                [(axes.x, [0.85, 0.2, 0.2, 1.0]), (axes.y, [0.2, 0.7, 0.25, 1.0]), (axes.z, [0.2, 0.35, 0.9, 1.0])]
            {
                let ends = [pose.pos, pose.pos.add_scaled(AXIS_LENGTH * extent, axis)];
                markers.push(Marker { shape: MarkerShape::Rod { ends, radius: 0.05 * AXIS_LENGTH * extent }, rgba });
            }
        }
    }
    options.markers = markers;
}

/// Contact points as balls, forces as rods from them: on the second body, as long as the force is great.
fn contact_markers(simulation: &sim::Simulation, model: &Multibody, extent: f64) -> Vec<Marker> {
    let weight = model.mass() * model.gravity.norm();
    let scale = if weight > 0.0 { FORCE_LENGTH * extent / (weight * simulation.timestep()) } else { 0.0 };
    let rigid = simulation.contacts().iter().map(|contact| {
        let [x, y, z] = contact.impulse;
        let [t1, t2] = contact.tangents;
        (contact.position, t1 * x + t2 * y + contact.normal * z)
    });
    let soft = simulation.soft_contacts().iter().map(|contact| (contact.position, contact.impulse_world()));
    let radius = CONTACT_RADIUS * extent;
    let mut markers = Vec::new();
    for (position, impulse) in rigid.chain(soft) {
        let ball = MarkerShape::Ball { centre: position, radius };
        markers.push(Marker { shape: ball, rgba: [0.95, 0.55, 0.10, 1.0] });
        let force = impulse * scale;
        if force.norm() > 0.25 * radius {
            let rod = MarkerShape::Rod { ends: [position, position + force], radius: 0.4 * radius };
            markers.push(Marker { shape: rod, rgba: [0.85, 0.15, 0.12, 1.0] });
        }
    }
    markers
}

/// Points, radius, colour of what is drawn, for programs that draw themselves: (1, 3) of a ball, (2, 3) of a rod, (n, 3) of a trail.
type DrawnMarker = (Vec<[f64; 3]>, f64, Rgba);

/// Text, position, height, colour of a label for them.
type DrawnLabel = (String, [f64; 3], f64, Rgba);

/// Red, green, blue, opacity.
type Rgba = (f32, f32, f32, f32);

/// The longest text of a label, letters.
const LONGEST_TEXT: usize = 10_000;

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
        let radius = positive("radius", radius)?;
        let points: Vec<Vec3<f64>> =
            any_rows("points", points, 3)?.1.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2])).collect();
        let shapes: Vec<MarkerShape> = match shape {
            "ball" => points.iter().map(|&centre| MarkerShape::Ball { centre, radius }).collect(),
            _ => points.windows(2).map(|ends| MarkerShape::Rod { ends: [ends[0], ends[1]], radius }).collect(),
        };
        self.check_room(shapes.len())?;
        self.drawing().markers().shapes.extend(shapes.into_iter().map(|shape| Marker { shape, rgba }));
        self.drawing().note_change();
        Ok(())
    }

    /// Adds a text in the middle of a point, (3,), with capital letters so high.
    fn _add_label(
        &self,
        text: &str,
        position: &Bound<'_, PyAny>,
        height: f64,
        color: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let rgba = colour("color", color)?;
        let height = positive("height", height)?;
        let at = array("position", position, &[3])?;
        let letters = text.chars().count();
        if letters > LONGEST_TEXT {
            return Err(PyValueError::new_err(format!("text has {letters} letters: expected at most {LONGEST_TEXT}")));
        }
        self.check_room(1)?;
        let position = Vec3::new(at[0], at[1], at[2]);
        self.drawing().markers().labels.push(Label { text: text.into(), position, height, rgba });
        self.drawing().note_change();
        Ok(())
    }

    /// Adds a line that follows a body or a site.
    fn _add_trail(
        &self,
        py: Python<'_>,
        kind: &str,
        index: usize,
        places: i64,
        radius: f64,
        color: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let rgba = colour("color", color)?;
        let radius = positive("radius", radius)?;
        let capacity = usize::try_from(places).ok().filter(|n| (2..=MAX_MARKERS).contains(n)).ok_or_else(|| {
            PyValueError::new_err(format!("places is {places}: expected a whole number from 2 to {MAX_MARKERS}"))
        })?;
        self.check_room(capacity)?;
        let of = if kind == "body" { Frame::Body(index) } else { Frame::Site(index) };
        self.picture(py, |simulation| {
            let time = simulation.state().time;
            self.drawing().add_trail(Trail { of, radius, rgba, capacity, places: VecDeque::new(), time }, simulation);
        })
    }

    /// Takes all markers away.
    fn _clear_markers(&self) {
        self.drawing().clear();
    }

    /// Balls and rods, trails, texts, and the colours of geoms that are not the model's.
    fn _drawing(&self) -> (Vec<DrawnMarker>, Vec<DrawnMarker>, Vec<DrawnLabel>, BTreeMap<usize, Rgba>) {
        let shape = |marker: &Marker| match marker.shape {
            MarkerShape::Ball { centre, radius } => (vec![centre.to_array()], radius, marker.rgba.into()),
            MarkerShape::Rod { ends, radius } => (ends.map(|end| end.to_array()).to_vec(), radius, marker.rgba.into()),
        };
        let trail = |trail: &Trail| {
            (trail.places.iter().map(|place| place.to_array()).collect(), trail.radius, trail.rgba.into())
        };
        let label =
            |label: &Label| (label.text.to_string(), label.position.to_array(), label.height, label.rgba.into());
        let drawn = self.drawing().markers();
        let colours = self.drawing().colours().iter().map(|(geom, rgba)| (*geom, (*rgba).into())).collect();
        (
            drawn.shapes.iter().map(shape).collect(),
            drawn.trails.iter().map(trail).collect(),
            drawn.labels.iter().map(label).collect(),
            colours,
        )
    }

    /// How often markers and colours have changed.
    #[getter]
    fn _drawing_changes(&self) -> u64 {
        self.drawing().changes()
    }

    /// How many markers there are.
    #[getter]
    fn _marker_count(&self) -> usize {
        let drawn = self.drawing().markers();
        drawn.shapes.len() + drawn.labels.len() + drawn.trails.len()
    }
}

impl Simulation {
    /// Whether so many markers more can be drawn.
    fn check_room(&self, more: usize) -> PyResult<()> {
        let count = self.drawing().markers().count() + more;
        if count > MAX_MARKERS {
            return Err(PyValueError::new_err(format!(
                "markers: {count} are too many, expected at most {MAX_MARKERS}: sim.markers.clear() takes them away"
            )));
        }
        Ok(())
    }
}
