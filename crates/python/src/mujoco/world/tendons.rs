//! Tendons in an `MjData`: where a string lies on geoms is found once, for the step and for what `mj_tendon` would leave.

use pyo3::prelude::*;
use sim::PlacedTendons;

use crate::mujoco::memory::Numbers;

/// What a tendon may pass: values of `mjtWrap`.
const JOINT: i32 = 1;
const PULLEY: i32 = 2;
const SITE: i32 = 3;

/// What `wrap_obj` has of a pulley and of a site.
const AT_PULLEY: i32 = -2;
const AT_SITE: i32 = -1;

/// The tendons of an `MjModel`, as `_Tendons` in `sapwood/mujoco/_world.py` has them.
#[derive(FromPyObject)]
pub(super) struct TendonNumbers {
    /// Of each tendon where its way begins in the lists below, and what it passes.
    starts: Vec<usize>,
    counts: Vec<usize>,
    kinds: Vec<i32>,
    objects: Vec<i32>,
    /// Of each tendon where its row begins among the entries, and its length; the degrees of freedom of all entries.
    row_starts: Vec<usize>,
    row_lengths: Vec<usize>,
    columns: Vec<usize>,
}

/// The same, and where an `MjData` has them.
pub(super) struct TendonMemory {
    of_model: TendonNumbers,
    /// How many geoms strings pass.
    obstacles: usize,
    lengths: Numbers<f64>,
    entries: Numbers<f64>,
    point_starts: Numbers<i32>,
    point_counts: Numbers<i32>,
    point_objects: Numbers<i32>,
    points: Numbers<f64>,
    sites: Numbers<f64>,
}

/// Points that strings are drawn through.
struct Points<'a> {
    objects: &'a mut [i32],
    places: &'a mut [f64],
    count: usize,
}

impl Points<'_> {
    fn push(&mut self, object: i32, place: [f64; 3]) {
        self.objects[self.count] = object;
        self.places[3 * self.count..][..3].copy_from_slice(&place);
        self.count += 1;
    }
}

impl TendonMemory {
    pub fn new(d: &Bound<'_, PyAny>, of_model: TendonNumbers) -> PyResult<Self> {
        Ok(Self {
            obstacles: of_model.kinds.iter().filter(|kind| **kind > SITE).count(),
            of_model,
            lengths: Numbers::of(d, "ten_length")?,
            entries: Numbers::of(d, "ten_J")?,
            point_starts: Numbers::of(d, "ten_wrapadr")?,
            point_counts: Numbers::of(d, "ten_wrapnum")?,
            point_objects: Numbers::of(d, "wrap_obj")?,
            points: Numbers::of(d, "wrap_xpos")?,
            sites: Numbers::of(d, "site_xpos")?,
        })
    }

    /// Whether these are the tendons of the model, and the geoms that strings pass.
    pub fn are_those(&self, placed: &PlacedTendons<'_>) -> bool {
        self.of_model.starts.len() == placed.count() && self.obstacles == placed.touches.len()
    }

    /// Writes what `mj_tendon` would leave after `mj_kinematics`.
    ///
    /// # Safety
    /// As of [`Numbers::get_mut`].
    pub unsafe fn write(&self, placed: &PlacedTendons<'_>) {
        // SAFETY: as the caller says.
        unsafe {
            self.write_rows(placed);
            self.write_points(placed.touches);
        }
    }

    unsafe fn write_rows(&self, placed: &PlacedTendons<'_>) {
        let TendonNumbers { row_starts, row_lengths, columns, .. } = &self.of_model;
        // SAFETY: as of `write`.
        let (lengths, entries) = unsafe { (self.lengths.get_mut(), self.entries.get_mut()) };
        for (k, (length, terms)) in placed.rows().enumerate() {
            lengths[k] = length;
            let (columns, entries) =
                (&columns[row_starts[k]..][..row_lengths[k]], &mut entries[row_starts[k]..][..row_lengths[k]]);
            entries.fill(0.0);
            // Both ascend; degrees of freedom that have no column do not move the tendon.
            let mut at = 0;
            for (dof, coefficient) in terms {
                at += columns[at..].iter().take_while(|column| **column < dof).count();
                if columns.get(at) == Some(&dof) {
                    entries[at] += coefficient;
                }
            }
        }
    }

    /// Each site, both ends of the string's touch of each geom, and each pulley but one at the end.
    unsafe fn write_points(&self, touches: &[Option<[spatial::Vec3<f64>; 2]>]) {
        let TendonNumbers { starts, counts, kinds, objects, .. } = &self.of_model;
        // SAFETY: as of `write`.
        let (point_starts, point_counts, places_of_sites) =
            unsafe { (self.point_starts.get_mut(), self.point_counts.get_mut(), self.sites.get()) };
        // SAFETY: as of `write`.
        let mut points =
            unsafe { Points { objects: self.point_objects.get_mut(), places: self.points.get_mut(), count: 0 } };
        let mut touches = touches.iter();
        for (k, (&start, &count)) in starts.iter().zip(counts).enumerate() {
            let first = points.count;
            point_starts[k] = first as i32;
            let way = start..start + count;
            for at in way.clone() {
                let is_on_branch = |at: usize| way.contains(&at) && kinds[at] != PULLEY;
                match kinds[at] {
                    JOINT => {}
                    PULLEY if at + 1 < way.end => points.push(AT_PULLEY, [0.0; 3]),
                    PULLEY => {}
                    // A site between two pulleys is no part of the string.
                    SITE if is_on_branch(at + 1) || at > start && is_on_branch(at - 1) => {
                        let [x, y, z, ..] = places_of_sites[3 * objects[at] as usize..] else { continue };
                        points.push(AT_SITE, [x, y, z]);
                    }
                    SITE => {}
                    _ => {
                        let ends = touches.next().into_iter().flatten().flatten();
                        ends.for_each(|end| points.push(objects[at], end.to_array()));
                    }
                }
            }
            point_counts[k] = (points.count - first) as i32;
        }
    }
}
