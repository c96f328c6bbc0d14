//! Any two convex shapes: closest points by GJK, penetration by EPA, then the facing features clipped.

use interrupt::Interrupt;
use std::cell::Cell;
use std::fmt;

use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{CsoPoint, GJKResult, VoronoiSimplex, closest_points};
use parry3d_f64::shape::SupportMap;
use spatial::{Mat3, Vec3};

use super::manifold::Clipper;
use super::polish::{Polished, is_peak, polish};
use super::spread::spread;
use super::{Point, Sink};
use crate::hull::Hull;
use crate::solid::{Placement, Solid};

/// A deepest point of its own is reported when the clipped points are shallower by more than this, m.
const DEEPER: f64 = 1e-9;

/// Numbers below this are zero where a direction is scaled: the inverses and squares of the others are normal numbers.
const TINY: f64 = 1e-150;

/// Coordinates that GJK and EPA see are cut off here, m: their products of up to six coordinates do not overflow.
const HUGE: f64 = 1e50;

/// A way apart that is shorter than the one found by more than this is taken instead, m.
const MISSED: f64 = 1e-6;

/// cos of the tilt up to which a cylinder's cap, not its side, faces a normal.
const CAP: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Triangles of a height field that are in reach of a shape, of which there is room before any step.
const TRIANGLES: usize = 64;

/// A convex set that a radius completes to a shape: a capsule is a segment with a radius.
pub(super) enum Core<'a> {
    Point,
    /// Half the segment, in the world.
    Segment(Vec3<f64>),
    Ellipsoid(Vec3<f64>),
    Cylinder {
        radius: f64,
        half_length: f64,
    },
    Box(Vec3<f64>),
    Hull(&'a Hull),
    /// Corners in the world.
    Triangle([Vec3<f64>; 3]),
}

impl Core<'_> {
    /// Whether the surface has curvature that is not the radius'.
    fn is_curved(&self) -> bool {
        matches!(self, Self::Ellipsoid(_) | Self::Cylinder { .. })
    }
}

/// A core in a common frame: the axes of the world, the origin near the pair.
pub(super) struct Placed<'a> {
    pub core: Core<'a>,
    pub radius: f64,
    pub rot: Mat3<f64>,
    pub pos: Vec3<f64>,
    /// A point inside.
    pub centre: Vec3<f64>,
    /// Whether GJK and EPA see an inscribed polytope in place of a curved core.
    pub coarse: Cell<bool>,
}

impl<'a> Placed<'a> {
    /// `None` for planes and height fields.
    pub fn new(solid: &'a Solid, at: &Placement, origin: Vec3<f64>) -> Option<Self> {
        let (core, radius) = match solid {
            Solid::Plane | Solid::HeightField(_) => return None,
            &Solid::Sphere { radius } => (Core::Point, radius),
            &Solid::Capsule { radius, half_length } => (Core::Segment(at.rot.z * half_length), radius),
            &Solid::Ellipsoid { radii } => (Core::Ellipsoid(radii), 0.0),
            &Solid::Cylinder { radius, half_length } => (Core::Cylinder { radius, half_length }, 0.0),
            &Solid::Box { half } => (Core::Box(half), 0.0),
            Solid::Hull(hull) => (Core::Hull(hull), 0.0),
        };
        let pos = at.pos - origin;
        let centre = if let Solid::Hull(hull) = solid { at.rot * hull.centre + pos } else { pos };
        Some(Self { core, radius, rot: at.rot, pos, centre, coarse: Cell::new(true) })
    }

    /// A triangle without thickness.
    pub fn triangle(corners: [Vec3<f64>; 3]) -> Placed<'static> {
        let [a, b, c] = corners;
        let centre = (a + b + c) * (1.0 / 3.0);
        let core = Core::Triangle(corners);
        Placed { core, radius: 0.0, rot: Mat3::IDENTITY, pos: Vec3::ZERO, centre, coarse: Cell::new(false) }
    }

    /// A point.
    pub fn point(p: Vec3<f64>) -> Placed<'static> {
        Placed { core: Core::Point, radius: 0.0, rot: Mat3::IDENTITY, pos: p, centre: p, coarse: Cell::new(false) }
    }

    /// The point of the core farthest along `d`.
    #[inline(always)]
    pub fn support(&self, d: Vec3<f64>) -> Vec3<f64> {
        self.support_by(d, |d| d, |d| d)
    }

    /// The same for a polytope inscribed in the core, which GJK and EPA work through in few iterations. No point of
    /// it is deeper inside than [`Placed::coarseness`].
    #[inline(always)]
    fn coarse_support(&self, d: Vec3<f64>) -> Vec3<f64> {
        self.support_by(d, rounded_on_cube, rounded_on_square)
    }

    /// The farthest point, with directions on the unit sphere of an ellipsoid and the unit circle of a cylinder
    /// passed through a function.
    #[inline(always)]
    fn support_by(
        &self,
        d: Vec3<f64>,
        sphere: impl Fn(Vec3<f64>) -> Vec3<f64>,
        circle: impl Fn([f64; 2]) -> [f64; 2],
    ) -> Vec3<f64> {
        let local = match self.core {
            Core::Point => return self.pos,
            Core::Segment(half) => return if half.dot(d) > 0.0 { self.pos + half } else { self.pos - half },
            Core::Triangle([a, b, c]) => {
                let (x, y, z) = (a.dot(d), b.dot(d), c.dot(d));
                return if x >= y && x >= z {
                    a
                } else if y >= z {
                    b
                } else {
                    c
                };
            }
            Core::Ellipsoid(r) => {
                let d = self.rot.transpose_mul(d);
                let s = sphere(Vec3::new(d.x * r.x, d.y * r.y, d.z * r.z));
                let length = s.norm();
                let scale = if length > TINY { 1.0 / length } else { 0.0 };
                Vec3::new(s.x * r.x, s.y * r.y, s.z * r.z) * scale
            }
            Core::Cylinder { radius, half_length } => {
                let d = self.rot.transpose_mul(d);
                let [x, y] = circle([d.x, d.y]);
                let across = (x * x + y * y).sqrt();
                let scale = if across > TINY { radius / across } else { 0.0 };
                Vec3::new(x * scale, y * scale, half_length.copysign(d.z))
            }
            Core::Box(half) => {
                let d = self.rot.transpose_mul(d);
                Vec3::new(half.x.copysign(d.x), half.y.copysign(d.y), half.z.copysign(d.z))
            }
            Core::Hull(hull) => hull.support(self.rot.transpose_mul(d)),
        };
        self.rot * local + self.pos
    }

    /// How far inside the core the polytope of [`Placed::coarse_support`] may be, m.
    fn coarseness(&self) -> f64 {
        COARSENESS
            * match self.core {
                Core::Ellipsoid(r) => r.x.max(r.y).max(r.z),
                Core::Cylinder { radius, .. } => radius,
                _ => 0.0,
            }
    }

    /// The flat feature that faces the unit vector `d`: nothing for a rounded core.
    pub(super) fn feature(&self, d: Vec3<f64>, out: &mut Vec<Vec3<f64>>) {
        out.clear();
        match self.core {
            Core::Point | Core::Ellipsoid(_) => {}
            Core::Segment(half) => out.extend([self.pos + half, self.pos - half]),
            Core::Triangle(corners) => out.extend(corners),
            Core::Cylinder { radius, half_length } => self.cylinder_feature(d, radius, half_length, out),
            Core::Box(half) => self.box_face(d, half, out),
            Core::Hull(hull) => {
                if let Some(face) = hull.facing(self.rot.transpose_mul(d)) {
                    out.extend(hull.face(face).map(|c| self.rot * c + self.pos));
                }
            }
        }
    }

    fn box_face(&self, d: Vec3<f64>, half: Vec3<f64>, out: &mut Vec<Vec3<f64>>) {
        let l = self.rot.transpose_mul(d);
        let (x, y, z) = (self.rot.x * half.x, self.rot.y * half.y, self.rot.z * half.z);
        let (face, u, v) = if l.x.abs() >= l.y.abs() && l.x.abs() >= l.z.abs() {
            (x * 1.0_f64.copysign(l.x), y, z)
        } else if l.y.abs() >= l.z.abs() {
            (y * 1.0_f64.copysign(l.y), z, x)
        } else {
            (z * 1.0_f64.copysign(l.z), x, y)
        };
        let centre = self.pos + face;
        out.extend([centre + u + v, centre - u + v, centre - u - v, centre + u - v]);
    }

    /// A cap as an octagon that turns with the body, or the line of the side nearest to `d`.
    fn cylinder_feature(&self, d: Vec3<f64>, radius: f64, half_length: f64, out: &mut Vec<Vec3<f64>>) {
        let axis = self.rot.z;
        let slope = axis.dot(d);
        if slope.abs() > CAP {
            let centre = self.pos.add_scaled(half_length.copysign(slope), axis);
            let (x, y) = (self.rot.x * radius, self.rot.y * radius);
            let (p, q) = ((x + y) * CAP, (x - y) * CAP);
            out.extend([x, p, y, -q, -x, -p, -y, q].map(|r| centre + r));
        } else {
            let across = d.add_scaled(-slope, axis);
            let foot = self.pos.add_scaled(radius / across.norm(), across);
            out.extend([foot.add_scaled(half_length, axis), foot.add_scaled(-half_length, axis)]);
        }
    }
}

impl SupportMap for Placed<'_> {
    /// Always finite, also for directions and poses that are not: parry's GJK asserts it. (`max` and `min` drop NaN.)
    #[inline]
    #[allow(clippy::manual_clamp)] // `clamp` keeps NaN.
    fn local_support_point(&self, d: Vector) -> Vector {
        let d = vec3(d);
        let point = if self.coarse.get() { self.coarse_support(d) } else { self.support(d) };
        glam(point.map(|x| x.max(-HUGE).min(HUGE)))
    }

    /// Both bodies are in one frame: the transform is the identity.
    #[inline]
    fn support_point(&self, _: &Pose, d: Vector) -> Vector {
        self.local_support_point(d)
    }
}

/// Steps from the middle of a cube's face to its border in which directions are rounded: about 7°.
const STEPS: f64 = 8.0;

/// How deep inside a unit sphere a polytope of points at such directions is, at most.
const COARSENESS: f64 = 0.01;

/// The direction rounded to a grid on a cube.
#[inline(always)]
fn rounded_on_cube(d: Vec3<f64>) -> Vec3<f64> {
    let largest = d.x.abs().max(d.y.abs()).max(d.z.abs());
    if largest > TINY { d.map(|x| (x * (STEPS / largest)).round_ties_even()) } else { Vec3::ZERO }
}

/// The direction rounded to a grid on a square.
#[inline(always)]
fn rounded_on_square(d: [f64; 2]) -> [f64; 2] {
    let largest = d[0].abs().max(d[1].abs());
    if largest > TINY { d.map(|x| (x * (STEPS / largest)).round_ties_even()) } else { [0.0; 2] }
}

fn glam(v: Vec3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn vec3(v: Vector) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

/// The points of two surfaces between which their distance, or the least way apart, is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    /// Unit vector from the first body to the second.
    pub normal: Vec3<f64>,
    /// Midway between the two points.
    pub position: Vec3<f64>,
    /// Negative in penetration.
    pub distance: f64,
}

/// Workspace for pairs of convex shapes. It holds no state from one pair to the next.
#[derive(Default)]
pub(crate) struct Convex {
    simplex: VoronoiSimplex,
    epa: EPA,
    pub(super) clipper: Clipper,
    pub(super) points: Vec<Point>,
    pub(super) patch: Vec<Point>,
    /// The nearest points of triangles of a height field and a shape, by the triangles' cells.
    pub(super) of_triangles: Vec<([usize; 3], Apart)>,
    /// Vertices that a walk over a hull has found, and a mark for each vertex; all unmarked between walks.
    pub(super) found: Vec<u32>,
    pub(super) marked: Vec<bool>,
    /// What is found once it is raised is void, so that anything may be left out.
    pub(crate) interrupt: Interrupt,
}

/// Unit normal from a to b, and the nearest points of a and b.
type Ends = (Vec3<f64>, Vec3<f64>, Vec3<f64>);

/// The cores overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap;

/// The nearest points of bodies whose cores do not overlap; none when they are too far apart.
pub(super) type Apart = Result<Option<Nearest>, Overlap>;

/// How two cores lie to each other.
enum Cores {
    /// Farther apart than asked for.
    Beyond,
    Apart(Ends),
    Overlapping,
}

impl Convex {
    /// A workspace for shapes whose largest face has `corners` corners and whose largest hull has `vertices`.
    fn new(corners: usize, vertices: usize) -> Self {
        let corners = corners.max(16);
        Self {
            found: Vec::with_capacity(vertices),
            marked: vec![false; vertices],
            clipper: Clipper::with_capacity(2 * corners),
            points: Vec::with_capacity(vertices.max(8 * corners)),
            patch: Vec::with_capacity(8 * corners),
            of_triangles: Vec::with_capacity(TRIANGLES),
            ..Self::default()
        }
    }

    /// A workspace for pairs of these shapes.
    pub fn for_solids<'a>(solids: impl Iterator<Item = &'a Solid>) -> Self {
        let hulls = solids.filter_map(|solid| if let Solid::Hull(hull) = solid { Some(hull) } else { None });
        let (corners, vertices) = hulls.fold((0, 0), |(corners, vertices), hull| {
            (hull.largest_face.max(corners), hull.vertices.len().max(vertices))
        });
        Self::new(corners, vertices)
    }

    /// Contact points of two convex shapes.
    pub fn collide(&mut self, (a, at): (&Solid, &Placement), (b, bt): (&Solid, &Placement), sink: &mut Sink) {
        let origin = at.pos;
        let (Some(a), Some(b)) = (Placed::new(a, at, origin), Placed::new(b, bt, origin)) else { return };
        let Some(nearest) = self.nearest(&a, &b, sink.limit) else { return };
        self.points.clear();
        self.manifold(&a, &b, &nearest, sink.limit);
        spread(&mut self.points, nearest.normal, 4);
        for p in &self.points {
            sink.push(p.position + origin, p.normal, p.distance);
        }
    }

    /// Appends to `points` the deepest point and the corners of the overlap of the features that face along the
    /// normal.
    pub(super) fn manifold(&mut self, a: &Placed, b: &Placed, nearest: &Nearest, limit: f64) {
        let Nearest { normal, position, distance } = *nearest;
        let before = self.points.len();
        self.faces(a, b, nearest, limit);
        let deepest = self.points[before..].iter().fold(f64::INFINITY, |d, p| d.min(p.distance));
        if deepest > distance + DEEPER {
            self.points.push(Point { position, normal, distance });
        }
    }

    /// Appends to `points` the corners of the overlap of the features that face along the normal.
    pub(super) fn faces(&mut self, a: &Placed, b: &Placed, nearest: &Nearest, limit: f64) {
        let Nearest { normal, position, .. } = *nearest;
        a.feature(normal, &mut self.clipper.a);
        b.feature(-normal, &mut self.clipper.b);
        self.clipper.clip(position, normal, [a.radius, b.radius], limit, &mut self.points);
    }

    /// The nearest points, or `None` when the bodies are more than `limit` apart.
    pub(super) fn nearest(&mut self, a: &Placed, b: &Placed, limit: f64) -> Option<Nearest> {
        self.search(a, b, limit, |this| Some(this.penetration(a, b))).unwrap_or(None)
    }

    /// The nearest points of bodies whose cores do not overlap; `Err` when they do.
    pub(super) fn nearest_apart(&mut self, a: &Placed, b: &Placed, limit: f64) -> Apart {
        self.search(a, b, limit, |_| None)
    }

    /// The nearest points; `overlapping` gives normal and points of overlapping cores.
    fn search(&mut self, a: &Placed, b: &Placed, limit: f64, overlapping: impl Fn(&mut Self) -> Option<Ends>) -> Apart {
        let curved = a.core.is_curved() || b.core.is_curved();
        // Two curved bodies: first as inscribed polytopes; where Newton's method from there finds no peak, as they
        // are. Beside the sharp edges of a polytope the estimate would be too far off.
        let sharp = |p: &Placed| matches!(p.core, Core::Box(_) | Core::Hull(_) | Core::Triangle(_));
        for coarse in [curved && !sharp(a) && !sharp(b), false] {
            a.coarse.set(coarse);
            b.coarse.set(coarse);
            let (normal, p, q) = match self.cores(a, b, limit + a.radius + b.radius) {
                Cores::Beyond => return Ok(None),
                Cores::Apart(ends) => ends,
                Cores::Overlapping => overlapping(self).ok_or(Overlap)?,
            };
            let middle = (p + q) * 0.5;
            let finish = |normal: Vec3<f64>, gap: f64, middle: Vec3<f64>| {
                if curved { polish(a, b, normal, middle) } else { Polished { normal, gap, position: middle } }
            };
            let mut found = finish(normal, (q - p).dot(normal), middle);
            if found.gap < MISSED
                && let Some((normal, gap, middle)) = shorter_way(a, b, found.normal)
            {
                found = finish(normal, gap, middle);
            }
            if !curved || !coarse || is_peak(a, b, &found) {
                let distance = found.gap - a.radius - b.radius;
                let position = found.position.add_scaled(0.5 * (a.radius - b.radius), found.normal);
                return Ok((distance <= limit).then_some(Nearest { normal: found.normal, position, distance }));
            }
        }
        Ok(None)
    }

    /// GJK.
    fn cores(&mut self, a: &Placed, b: &Placed, limit: f64) -> Cores {
        // Seeded by the centres alone, so that the result does not depend on earlier queries.
        let seed = CsoPoint::from_shapes(&Pose::IDENTITY, a, b, glam(toward(a, b)));
        self.simplex.reset(seed);
        let inside = if a.coarse.get() { a.coarseness() + b.coarseness() } else { 0.0 };
        let reach = limit + inside;
        match closest_points(&Pose::IDENTITY, a, b, reach, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, direction) => {
                let (p, q) = (vec3(p), vec3(q));
                let apart = q - p;
                let length = apart.norm();
                let normal = if length > 1e-9 { apart * (1.0 / length) } else { vec3(direction) };
                Cores::Apart((normal, p, q))
            }
            GJKResult::NoIntersection(direction) => {
                // The direction proves it, unless the iterations ran out.
                let n = vec3(direction);
                let proved = (b.support(-n) - a.support(n)).dot(n) >= limit;
                if proved { Cores::Beyond } else { Cores::Overlapping }
            }
            GJKResult::Proximity(_) | GJKResult::Intersection => Cores::Overlapping,
        }
    }

    /// EPA: normal and the points that are deepest in one another.
    fn penetration(&mut self, a: &Placed, b: &Placed) -> Ends {
        if let Some((p, q, normal)) = self.epa.closest_points(&Pose::IDENTITY, a, b, &self.simplex) {
            let normal = vec3(normal);
            if let Some(normal) = normal.normalized() {
                return (normal, vec3(p), vec3(q));
            }
        }
        // EPA gave up on a degenerate polytope: apart along the centres, which is far enough if not the shortest.
        let toward = toward(a, b);
        (toward, a.support(toward), b.support(-toward))
    }
}

/// Normal, gap and middle of a way apart that is shorter than the one along `normal`, if there is one.
///
/// The way apart along any direction is no shorter than the least one. On aligned bodies GJK and EPA sometimes stop on
/// a degenerate face, its way apart far too long, so the directions that aligned bodies part along are tried besides: from
/// centre to centre, along the axes, across an axis of either or of both.
fn shorter_way(a: &Placed, b: &Placed, normal: Vec3<f64>) -> Option<(Vec3<f64>, f64, Vec3<f64>)> {
    let toward = toward(a, b);
    let facing = |n: Vec3<f64>| if n.dot(toward) < 0.0 { -n } else { n };
    let across = |axis: Vec3<f64>| toward.add_scaled(-toward.dot(axis), axis);
    let (Mat3 { x, y, z }, Mat3 { x: u, y: v, z: w }) = (a.rot, b.rot);
    let tried = [toward, facing(x), facing(y), facing(z), facing(u), facing(v), facing(w)];
    let tried = tried.into_iter().chain([across(z), across(w), facing(z.cross(w))]);
    let mut best = None;
    let gap = |n: Vec3<f64>| (b.support(-n) - a.support(n)).dot(n);
    let mut least = gap(normal) + MISSED;
    for n in tried.filter_map(Vec3::normalized) {
        if gap(n) > least {
            (best, least) = (Some(n), gap(n));
        }
    }
    // The points face each other midway between the centres: on flat faces any would do.
    let n = best?;
    let middle = (a.centre + b.centre) * 0.5;
    let height = 0.5 * (a.support(n) + b.support(-n)).dot(n);
    Some((n, least, middle.add_scaled(height - middle.dot(n), n)))
}

/// The direction between the centres.
fn toward(a: &Placed, b: &Placed) -> Vec3<f64> {
    (b.centre - a.centre).normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0))
}

impl Clone for Convex {
    /// A workspace of the same size: there is nothing else to keep.
    fn clone(&self) -> Self {
        Self {
            clipper: self.clipper.clone(),
            found: Vec::with_capacity(self.found.capacity()),
            marked: vec![false; self.marked.len()],
            points: Vec::with_capacity(self.points.capacity()),
            patch: Vec::with_capacity(self.patch.capacity()),
            of_triangles: Vec::with_capacity(self.of_triangles.capacity()),
            ..Self::default()
        }
    }
}

impl fmt::Debug for Convex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Convex").finish_non_exhaustive()
    }
}
