//! What pictures of a simulation show that its model does not have: markers, and geoms in other colours.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use render::{Label, Marker, MarkerShape};
use replay::Sketch;
use sim::{Frame, Simulation};
use spatial::Vec3;

/// Markers of a simulation at most, and places of all its trails.
pub const MAX_MARKERS: usize = 100_000;

/// Markers and colours of a simulation. They are no part of its state.
#[derive(Default)]
pub struct Drawing {
    markers: Mutex<Markers>,
    colours: Mutex<BTreeMap<usize, [f32; 4]>>,
    /// How often either has changed.
    changes: AtomicU64,
    /// Whether there are trails: what a step of a simulation without looks at.
    has_trails: AtomicBool,
}

/// What programs have drawn.
#[derive(Default)]
pub struct Markers {
    pub shapes: Vec<Marker>,
    pub labels: Vec<Label>,
    pub trails: Vec<Trail>,
}

impl Markers {
    /// How many there are; a trail counts as all the places that it may keep.
    pub fn count(&self) -> usize {
        self.shapes.len() + self.labels.len() + self.trails.iter().map(|trail| trail.capacity).sum::<usize>()
    }
}

/// Where something has been in the last steps.
pub struct Trail {
    pub of: Frame,
    pub radius: f64,
    pub rgba: [f32; 4],
    /// How many places it keeps.
    pub capacity: usize,
    /// From the oldest to the present one.
    pub places: VecDeque<Vec3<f64>>,
    /// Time of the last, s.
    pub time: f64,
}

impl Trail {
    /// Notes the place at the end of a step that began at a time. Where the simulation has been put into another state in between, the
    /// trail begins anew.
    fn follow(&mut self, simulation: &mut Simulation, start: f64) {
        if start != self.time {
            self.places.clear();
        }
        self.time = simulation.state().time;
        let place = simulation.observe().pose(self.of).pos;
        // What stays where it is makes the trail no longer.
        let is_near = |before: &Vec3<f64>| (place - *before).norm() < self.radius;
        if self.places.len() > 1 && self.places.get(self.places.len() - 2).is_some_and(is_near) {
            self.places.pop_back();
        }
        if self.places.len() == self.capacity {
            self.places.pop_front();
        }
        self.places.push_back(place);
    }

    fn rods(&self) -> impl Iterator<Item = Marker> {
        let (radius, rgba) = (self.radius, self.rgba);
        let ends = self.places.iter().zip(self.places.iter().skip(1));
        ends.map(move |(from, to)| Marker { shape: MarkerShape::Rod { ends: [*from, *to], radius }, rgba })
    }
}

impl Drawing {
    /// What programs have drawn.
    pub fn markers(&self) -> MutexGuard<'_, Markers> {
        self.markers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Markers, with trails as rods, and texts.
    pub fn sketch(&self) -> Sketch {
        let drawn = self.markers();
        let mut markers = drawn.shapes.clone();
        markers.extend(drawn.trails.iter().flat_map(Trail::rods));
        Sketch { markers, labels: drawn.labels.clone() }
    }

    /// Adds a trail that begins where the simulation is.
    pub fn add_trail(&self, mut trail: Trail, simulation: &mut Simulation) {
        trail.follow(simulation, trail.time);
        self.markers().trails.push(trail);
        self.has_trails.store(true, Ordering::Relaxed);
        self.note_change();
    }

    /// Takes all markers away.
    pub fn clear(&self) {
        *self.markers() = Markers::default();
        self.has_trails.store(false, Ordering::Relaxed);
        self.note_change();
    }

    /// Whether something is drawn that goes along with the simulation.
    pub fn has_trails(&self) -> bool {
        self.has_trails.load(Ordering::Relaxed)
    }

    /// Lets trails grow by a step that began at a time.
    pub fn after_step(&self, start: f64, simulation: &mut Simulation) {
        if self.has_trails() {
            self.markers().trails.iter_mut().for_each(|trail| trail.follow(simulation, start));
            self.note_change();
        }
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
