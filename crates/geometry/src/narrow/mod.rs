//! Narrow phase: the contact points of two shapes.
//!
//! Every function takes the two shapes in canonical order ([`Solid`]) and reports points whose distance is at most
//! the sink's limit. Positions are midway between the surfaces, normals point from the first shape to the second.

mod box_box;
mod capsule;
pub(crate) mod closed;
mod convex;
mod ellipsoid;
mod expanding;
mod facets;
mod height_field;
mod manifold;
mod nearest;
mod over_side;
mod placed;
mod plane;
mod point;
mod polish;
mod polygon;
mod separate;
mod separations;
mod sphere;
mod spread;
mod triangle;
mod weights;

use spatial::Vec3;

use self::box_box::PlacedBox;
use self::capsule::PlacedCapsule;
pub(crate) use self::closed::{Axis, nearest_of_axes};
use self::closed::{share_of_end, share_of_middle};
pub(crate) use self::convex::Convex;
pub(crate) use self::nearest::nearest_points;
pub(crate) use self::point::signed_distance;
pub use self::separate::FAR;
pub(crate) use self::separate::{Moving, separate};
pub(crate) use self::triangle::triangle_contact;
pub(crate) use self::weights::{nearest_weights, weighted};
use crate::contact::Contact;
use crate::movement::Motion;
use crate::solid::{PlacedSolid, Solid};

/// Where contact points go: to as many places as there are, and then beyond.
pub(crate) struct Points<'a> {
    places: &'a mut [Contact],
    beyond: &'a mut Vec<Contact>,
    count: usize,
}

impl<'a> Points<'a> {
    /// None yet; `beyond` is cleared.
    pub fn new(places: &'a mut [Contact], beyond: &'a mut Vec<Contact>) -> Self {
        beyond.clear();
        Self { places, beyond, count: 0 }
    }

    /// How many there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The point of index `i`, which there must be.
    #[inline(always)]
    fn get(&self, i: usize) -> &Contact {
        if i < self.places.len() { &self.places[i] } else { &self.beyond[i - self.places.len()] }
    }

    /// The same, to be changed.
    fn get_mut(&mut self, i: usize) -> &mut Contact {
        if i < self.places.len() { &mut self.places[i] } else { &mut self.beyond[i - self.places.len()] }
    }

    /// Forgets all but the first `count`.
    fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
        self.beyond.truncate(self.count.saturating_sub(self.places.len()));
    }

    #[inline(always)]
    fn push(&mut self, contact: Contact) {
        match self.places.get_mut(self.count) {
            Some(place) => *place = contact,
            None => self.beyond.push(contact),
        }
        self.count += 1;
    }
}

/// Where the contact points of one pair go.
pub(crate) struct Sink<'a, 'b> {
    pub out: &'a mut Points<'b>,
    pub geoms: [usize; 2],
    /// Whether the shapes were exchanged to bring them into canonical order.
    pub flipped: bool,
    pub margin: f64,
    pub pair: Option<usize>,
    /// Largest distance to report.
    pub limit: f64,
    /// How the two shapes move in the step, in canonical order.
    pub motions: [&'a Motion; 2],
}

/// Contact points are on a line where they are no farther from it, however that is computed: m, and of the cosine between normals.
const ROUND_OFF: f64 = 1e-9;

/// Fractional parts of multiples of these fill a cube evenly: the powers of 1/x, x⁴ = x + 1 (Roberts' R₃ sequence).
const EVENLY: Vec3<f64> = Vec3::new(0.819_172_513_396_164_4, 0.671_043_606_703_789_3, 0.549_700_477_901_970_3);

impl Sink<'_, '_> {
    /// The normal of a contact that was reported, from the first shape in canonical order to the second.
    #[inline(always)]
    fn normal(&self, contact: &Contact) -> Vec3<f64> {
        if self.flipped { -contact.normal } else { contact.normal }
    }

    /// The unit vector from the first shape to the second where every one is as good, as between concentric spheres.
    ///
    /// Every geom has a place of its own in a cube, and this leads from the one's to the other's: however many lie in the same place,
    /// there is a motion that parts them all, and they part in all directions.
    pub fn way_apart(&self) -> Vec3<f64> {
        let place = |geom: usize| {
            let [x, y, z] = (EVENLY * (geom + 1) as f64).to_array().map(|x| x - x.floor());
            Vec3::new(x, y, z)
        };
        let [first, second] = if self.flipped { [self.geoms[1], self.geoms[0]] } else { self.geoms };
        (place(second) - place(first)).normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0))
    }

    /// The same across an axis, a unit vector.
    pub fn way_apart_across(&self, axis: Vec3<f64>) -> Vec3<f64> {
        let way = self.way_apart();
        way.add_scaled(-way.dot(axis), axis).normalized().unwrap_or_else(|| axis.tangents().0)
    }

    /// How the material point of the second shape that is at `p` at the beginning of the step moves in it beside that of the first, to first
    /// order.
    fn displacement(&self, p: Vec3<f64>) -> Vec3<f64> {
        let [first, second] = self.motions;
        second.displacement(p) - first.displacement(p)
    }

    /// Reports a point, if it is near enough.
    #[inline(always)]
    pub fn push(&mut self, position: Vec3<f64>, normal: Vec3<f64>, distance: f64) {
        self.push_point(Point::new(position, normal, distance));
    }

    #[inline(always)]
    pub fn push_point(&mut self, Point { position, normal, distance, stiffness_share }: Point) {
        if distance <= self.limit {
            let normal = if self.flipped { -normal } else { normal };
            let (gap, geoms, pair) = (distance - self.margin, self.geoms, self.pair);
            self.out.push(Contact { geoms, position, normal, gap, stiffness_share, pair });
        }
    }

    /// Where all points from index `first` on lie on one line, as where a tread crosses triangles of flat ground, leaves its ends.
    fn keep_ends(&mut self, first: usize) {
        let count = self.out.count() - first;
        if !(3..=4).contains(&count) {
            return;
        }
        let mut ends = [*self.out.get(first); 2];
        for (i, j) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
            if j < count {
                let pair = [*self.out.get(first + i), *self.out.get(first + j)];
                let length = |[a, b]: [Contact; 2]| (b.position - a.position).norm_squared();
                if length(pair) > length(ends) {
                    ends = pair;
                }
            }
        }
        let [a, b] = ends;
        let way = b.position - a.position;
        let is_between = |c: &Contact| {
            let part = (c.position - a.position).dot(way) / way.norm_squared();
            let aside = (c.position - a.position.add_scaled(part, way)).norm();
            let over = (c.gap - a.gap - part * (b.gap - a.gap)).abs();
            aside < ROUND_OFF && over < ROUND_OFF && c.normal.dot(a.normal) > 1.0 - ROUND_OFF
        };
        if (first..first + count).all(|i| is_between(self.out.get(i))) {
            *self.out.get_mut(first) = a;
            *self.out.get_mut(first + 1) = b;
            self.out.truncate(first + 2);
        }
    }

    /// Adds the middle of a line on which one of the shapes rolls, see [`plane::cylinder`], where all points from index `first` on lie on one.
    /// What bears there the line's ends can bear, so that no ground need be there.
    #[inline]
    fn add_middle(&mut self, first: usize, solids: [&Solid; 2]) {
        let Some(level) = solids.into_iter().filter_map(Solid::share_of_line).reduce(f64::min) else { return };
        self.keep_ends(first);
        if self.out.count() != first + 2 {
            return;
        }
        let ends = [*self.out.get(first), *self.out.get(first + 1)];
        let rise = ends[1].gap - ends[0].gap;
        let share = share_of_end(level, rise * rise / (ends[1].position - ends[0].position).norm_squared());
        if share < 1.0 {
            for i in [first, first + 1] {
                self.out.get_mut(i).stiffness_share = share;
            }
            let (position, gap) = ((ends[0].position + ends[1].position) * 0.5, 0.5 * (ends[0].gap + ends[1].gap));
            self.out.push(Contact { position, gap, stiffness_share: share_of_middle(level), ..ends[0] });
        }
    }
}

/// A contact point without its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub position: Vec3<f64>,
    pub normal: Vec3<f64>,
    pub distance: f64,
    /// See [`Contact::stiffness_share`].
    pub stiffness_share: f64,
}

impl Point {
    /// One that bears alone.
    #[inline(always)]
    pub const fn new(position: Vec3<f64>, normal: Vec3<f64>, distance: f64) -> Self {
        Self { position, normal, distance, stiffness_share: 1.0 }
    }
}

/// Reports the contact points of two shapes in canonical order.
///
/// What there is most of is inlined: a call takes as long as some of these.
#[inline(always)]
pub(crate) fn collide(a: PlacedSolid<'_>, b: PlacedSolid<'_>, workspace: &mut Convex, sink: &mut Sink) {
    use Solid::*;
    let (at, bt) = (a.at, b.at);
    match (a.solid, b.solid) {
        (Plane, &Sphere { radius }) => plane::sphere(at, bt.pos, radius, sink),
        (Plane, &Capsule { radius, half_length }) => plane::capsule(at, bt, radius, half_length, sink),
        (&Sphere { radius: r }, &Sphere { radius: s }) => sphere::sphere(at.pos, r, bt.pos, s, sink),
        (&Capsule { radius: r, half_length: h }, &Capsule { radius: s, half_length: k }) => {
            let (a, b) =
                (PlacedCapsule { at, radius: r, half_length: h }, PlacedCapsule { at: bt, radius: s, half_length: k });
            capsule::capsule(a, b, sink);
        }
        _ => collide_others(a, b, workspace, sink),
    }
}

/// How many contact points two shapes in canonical order have at most. Of a height field as many as fill two of the directions in which
/// it faces: there may be more.
pub(crate) fn max_points(a: &Solid, b: &Solid) -> usize {
    use Solid::*;
    match (a, b) {
        (HeightField(_), _) => 8,
        (_, Sphere { .. }) | (Sphere { .. }, _) | (Plane, Ellipsoid { .. }) => 1,
        (Plane, Capsule { .. }) => 3,
        (Plane, Cylinder { .. }) => 6,
        (Capsule { .. }, Capsule { .. }) => 3,
        (Box { .. }, Box { .. }) => 8,
        _ => 4,
    }
}

/// [`collide`] of all other shapes.
#[inline(never)]
fn collide_others(a: PlacedSolid<'_>, b: PlacedSolid<'_>, workspace: &mut Convex, sink: &mut Sink) {
    use Solid::*;
    let (at, bt, first) = (a.at, b.at, sink.out.count());
    match (a.solid, b.solid) {
        (Plane, Plane | HeightField(_)) | (HeightField(_), HeightField(_)) => {}
        (Plane, &Ellipsoid { radii }) => plane::ellipsoid(at, bt, radii, sink),
        (Plane, &Cylinder { radius, half_length }) => plane::cylinder(at, bt, radius, half_length, sink),
        (Plane, &Box { half }) => plane::cuboid(at, bt, half, sink),
        (Plane, Hull(hull)) => plane::hull(at, bt, hull, workspace, sink),
        (&Sphere { radius: r }, &Capsule { radius: s, half_length }) => {
            sphere::capsule(at.pos, r, bt, s, half_length, sink);
        }
        (&Sphere { radius: r }, &Ellipsoid { radii }) => sphere::ellipsoid(at.pos, r, bt, radii, sink),
        (&Sphere { radius: r }, &Cylinder { radius: s, half_length }) => {
            sphere::cylinder(at.pos, r, bt, s, half_length, sink);
        }
        (&Sphere { radius: r }, &Box { half }) => sphere::cuboid(at.pos, r, bt, half, sink),
        (&Capsule { radius, half_length }, &Box { half }) => {
            capsule::cuboid(PlacedCapsule { at, radius, half_length }, bt, half, sink);
            sink.add_middle(first, [a.solid, b.solid]);
        }
        (&Box { half: h }, &Box { half: k }) => {
            box_box::collide(PlacedBox { at, half: h }, PlacedBox { at: bt, half: k }, workspace, sink);
        }
        (HeightField(field), _) => height_field::collide(field, at, b, workspace, sink),
        _ => {
            workspace.collide(a, b, sink);
            sink.add_middle(first, [a.solid, b.solid]);
        }
    }
}
