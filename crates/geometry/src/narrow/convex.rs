//! Any two convex shapes: closest points by GJK, penetration by an expanding polytope, then the facing features clipped.

use std::fmt;

use parry3d_f64::math::Pose;
use parry3d_f64::query::gjk::{CsoPoint, GJKResult, VoronoiSimplex, closest_points};
use spatial::{Mat3, Vec3};
use support::Interrupt;

use super::expanding::Polytope;
use super::facets::Facets;
use super::manifold::Clipper;
use super::over_side::{Side, over_side};
use super::placed::{Core, Detail, Ends, Placed, glam, vec3};
use super::polish::{Polished, gap_along, is_peak, polish};
use super::separations::Separations;
use super::spread::spread;
use super::{Point, Sink};
use crate::solid::{PlacedSolid, Solid};

/// A deepest point of its own is reported when the clipped points are shallower by more than this, m.
const DEEPER: f64 = 1e-9;

/// A way apart that is shorter than the one found by more than this is taken instead, m.
const MISSED: f64 = 1e-6;

/// Bodies are deep in each other where they overlap by so many times as much as their polytopes lie within them.
const DEEP: f64 = 4.0;

/// A gap that is wider than the limit by this share of both shows that a pair is too far apart, whatever round-off does to it.
const CLEARLY: f64 = 1e-9;

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

/// Workspace for pairs of convex shapes. What it finds of a pair does not depend on what it did before.
#[derive(Default)]
pub(crate) struct Convex {
    simplex: VoronoiSimplex,
    polytope: Polytope,
    /// What is known of pairs that were apart, and the direction that showed that of the last pair.
    separations: Separations,
    separation: Vec3<f64>,
    pub(super) clipper: Clipper,
    pub(super) points: Vec<Point>,
    pub(super) patch: Vec<Point>,
    pub(super) kept: Vec<Point>,
    /// Triangles of a height field that a shape can reach.
    pub(super) facets: Facets,
    /// Vertices that a walk over a hull has found, and a mark for each vertex; all unmarked between walks.
    pub(super) found: Vec<u32>,
    pub(super) marked: Vec<bool>,
    /// What is found once it is raised is void, so that anything may be left out.
    pub(crate) interrupt: Interrupt,
}

/// The cores overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap;

/// The nearest points of bodies whose cores do not overlap; none when they are too far apart.
pub(super) type Apart = Result<Option<Nearest>, Overlap>;

/// How two cores lie to each other.
enum Cores {
    /// Farther apart than asked for, along this direction.
    Beyond(Vec3<f64>),
    Apart(Ends),
    Overlapping,
}

impl Convex {
    /// A workspace for shapes whose largest face has `corners` corners, whose largest hull has `vertices` and whose widest height field has
    /// `columns`.
    fn new(corners: usize, vertices: usize, columns: usize) -> Self {
        let corners = corners.max(16);
        Self {
            found: Vec::with_capacity(vertices),
            marked: vec![false; vertices],
            clipper: Clipper::with_capacity(2 * corners),
            points: Vec::with_capacity(vertices.max(8 * corners)),
            patch: Vec::with_capacity(8 * corners),
            kept: Vec::new(),
            facets: Facets::with_capacity(columns),
            ..Self::default()
        }
    }

    /// A workspace for pairs of these shapes.
    pub fn for_solids<'a>(solids: impl Iterator<Item = &'a Solid>) -> Self {
        let (mut corners, mut vertices, mut columns) = (0, 0, 0);
        for solid in solids {
            match solid {
                Solid::Hull(hull) => {
                    corners = hull.largest_face.max(corners);
                    vertices = hull.vertices.len().max(vertices);
                }
                Solid::HeightField(field) => columns = field.size[1].max(columns),
                _ => {}
            }
        }
        Self::new(corners, vertices, columns)
    }

    /// Contact points of two convex shapes.
    pub fn collide(&mut self, a: PlacedSolid<'_>, b: PlacedSolid<'_>, sink: &mut Sink) {
        let gaps = box_gaps([a, b]);
        // Most shapes near each other are apart along an axis of either.
        if gaps.iter().flatten().any(|gap| gap.x.max(gap.y).max(gap.z) > sink.limit) {
            return;
        }
        let (origin, solids) = (a.at.pos, [a, b]);
        let [a, b] = solids.map(|placed| Placed::new(placed.solid, placed.at, origin));
        let (Some(a), Some(b)) = (a, b) else { return };
        if self.separations.of(sink.geoms).is_some_and(|n| are_apart_along(a.rot * n, [&a, &b], sink.limit)) {
            return;
        }
        let side = gaps.and_then(|gaps| over_side(&a, &b, side_of_widest_gap(solids, gaps)));
        let nearest = match side {
            Some(ends) => {
                let cores = Polished { normal: ends.normal, gap: ends.gap(), position: ends.middle() };
                self.of_bodies(&a, &b, &cores, sink.limit)
            }
            None => self.nearest(&a, &b, sink.limit),
        };
        let Some(nearest) = nearest else {
            self.separations.insert(sink.geoms, a.rot.transpose_mul(self.separation));
            return;
        };
        self.separations.remove(sink.geoms);
        self.points.clear();
        self.manifold(&a, &b, &nearest, sink.limit);
        spread(&mut self.points, nearest.normal);
        for p in &self.points {
            sink.push_point(Point { position: p.position + origin, ..*p });
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
            self.points.push(Point::new(position, normal, distance));
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
        let sharp = |p: &Placed| matches!(p.core, Core::Box(_) | Core::Hull(_) | Core::Triangle(_));
        // Two curved bodies: first as inscribed polytopes; where Newton's method from there finds no peak, as they are. Beside sharp edges
        // the estimate of a coarse polytope would be too far off, and GJK soon finds the nearest points of round sides. But an expanding
        // polytope would refine what is deep inside to the last digit: there a fine one.
        let estimates = match () {
            () if !curved => [Detail::Exact; 2],
            () if sharp(a) || sharp(b) => [Detail::Exact, Detail::Fine],
            () => [Detail::Coarse; 2],
        };
        let look = |detail: Detail| [a, b].iter().for_each(|p| p.detail.set(detail));
        for [apart, overlap] in [estimates, [Detail::Exact; 2]] {
            look(apart);
            let ends = match self.cores(a, b, limit + a.radius + b.radius) {
                Cores::Beyond(normal) => {
                    self.separation = normal;
                    return Ok(None);
                }
                // The gap along any direction is a bound of the distance: most curved bodies near each other are known to be too far apart.
                Cores::Apart(ends) if curved && gap_along(a, b, ends.normal).0 > limit + a.radius + b.radius => {
                    self.separation = ends.normal;
                    return Ok(None);
                }
                Cores::Apart(ends) => ends,
                Cores::Overlapping => {
                    look(overlap);
                    overlapping(self).ok_or(Overlap)?
                }
            };
            let finish = |normal: Vec3<f64>, gap: f64, middle: Vec3<f64>| {
                if curved { polish(a, b, normal, middle) } else { Polished { normal, gap, position: middle } }
            };
            let mut found = finish(ends.normal, ends.gap(), ends.middle());
            if found.gap < MISSED
                && let Some((normal, gap, middle)) = shorter_way(a, b, found.normal)
            {
                found = finish(normal, gap, middle);
            }
            let is_enough = match a.detail.get() {
                Detail::Exact => true,
                Detail::Coarse => is_peak(a, b, &found),
                Detail::Fine => found.gap < -DEEP * (a.coarseness() + b.coarseness()) && is_peak(a, b, &found),
            };
            if is_enough {
                return Ok(self.of_bodies(a, b, &found, limit));
            }
        }
        Ok(None)
    }

    /// The nearest points of bodies, by those of their cores.
    fn of_bodies(&mut self, a: &Placed, b: &Placed, cores: &Polished, limit: f64) -> Option<Nearest> {
        let Polished { normal, gap, position } = *cores;
        self.separation = normal;
        let distance = gap - a.radius - b.radius;
        let position = position.add_scaled(0.5 * (a.radius - b.radius), normal);
        (distance <= limit).then_some(Nearest { normal, position, distance })
    }

    /// GJK.
    fn cores(&mut self, a: &Placed, b: &Placed, limit: f64) -> Cores {
        // Seeded by the centres alone, so that the result does not depend on earlier queries.
        let seed = CsoPoint::from_shapes(&Pose::IDENTITY, a, b, glam(toward(a, b)));
        self.simplex.reset(seed);
        let reach = limit + a.coarseness() + b.coarseness();
        match closest_points(&Pose::IDENTITY, a, b, reach, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, direction) => {
                let (on_a, on_b) = (vec3(p), vec3(q));
                let apart = on_b - on_a;
                let length = apart.norm();
                let normal = if length > 1e-9 { apart * (1.0 / length) } else { vec3(direction) };
                Cores::Apart(Ends { normal, on_a, on_b })
            }
            GJKResult::NoIntersection(direction) => {
                // The direction proves it, unless the iterations ran out.
                let n = vec3(direction);
                let proved = (b.support(-n) - a.support(n)).dot(n) >= limit;
                if proved { Cores::Beyond(n) } else { Cores::Overlapping }
            }
            GJKResult::Proximity(_) | GJKResult::Intersection => Cores::Overlapping,
        }
    }

    /// Normal and the points that are deepest in one another.
    fn penetration(&mut self, a: &Placed, b: &Placed) -> Ends {
        self.polytope.find_least_way(a, b, &self.simplex).unwrap_or_else(|| {
            // Apart along the centres, which is far enough if not the shortest.
            let normal = toward(a, b);
            Ends { normal, on_a: a.support(normal), on_b: b.support(-normal) }
        })
    }
}

/// The side of either box along which the gap between the boxes around two shapes is widest.
fn side_of_widest_gap([a, b]: [PlacedSolid<'_>; 2], gaps: [Vec3<f64>; 2]) -> Side {
    let mut widest = (0, f64::NEG_INFINITY);
    for (i, gap) in gaps.into_iter().flat_map(|gap| [gap.x, gap.y, gap.z]).enumerate() {
        if gap > widest.1 {
            widest = (i, gap);
        }
    }
    let (is_of_first, axis) = (widest.0 < 3, widest.0 % 3);
    let apart = b.at.point(b.solid.centre()) - a.at.point(a.solid.centre());
    let (rot, toward) = if is_of_first { (a.at.rot, apart) } else { (b.at.rot, -apart) };
    Side { is_of_first, axis, sign: 1.0_f64.copysign([rot.x, rot.y, rot.z][axis].dot(toward)) }
}

/// The gaps between the boxes around two shapes along the axes of the first and of the second; none of shapes without bounds.
#[inline(always)]
fn box_gaps([a, b]: [PlacedSolid<'_>; 2]) -> Option<[Vec3<f64>; 2]> {
    let (h, k) = (a.solid.half_extents()?, b.solid.half_extents()?);
    let apart = b.at.point(b.solid.centre()) - a.at.point(a.solid.centre());
    let (along_a, along_b) = (a.at.rot.transpose_mul(apart), b.at.rot.transpose_mul(apart));
    // Each axis of the second box along those of the first.
    let [x, y, z] = [b.at.rot.x, b.at.rot.y, b.at.rot.z].map(|axis| a.at.rot.transpose_mul(axis).map(f64::abs));
    let of_b = x * k.x + y * k.y + z * k.z;
    let of_a = Vec3::new(x.dot(h), y.dot(h), z.dot(h));
    Some([along_a.map(f64::abs) - h - of_b, along_b.map(f64::abs) - k - of_a])
}

/// Whether the gap between two bodies along a unit vector shows that they are farther apart than `limit`.
fn are_apart_along(n: Vec3<f64>, [a, b]: [&Placed; 2], limit: f64) -> bool {
    let [top, bottom] = [a.support(n).dot(n) + a.radius, b.support(-n).dot(n) - b.radius];
    bottom - top > limit + CLEARLY * (limit.abs() + top.abs() + bottom.abs())
}

/// Normal, gap and middle of a way apart that is shorter than the one along `normal`, if there is one.
///
/// The way apart along any direction is no shorter than the least one. On aligned bodies GJK and the expanding polytope sometimes stop on
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
    let mut known = Known::default();
    let mut least = known.gap(a, b, normal) + MISSED;
    for n in tried.filter_map(Vec3::normalized) {
        if known.most(n) <= least {
            continue;
        }
        let gap = known.gap(a, b, n);
        if gap > least {
            (best, least) = (Some(n), gap);
        }
    }
    // The points face each other midway between the centres: on flat faces any would do.
    let n = best?;
    let middle = (a.centre + b.centre) * 0.5;
    let height = 0.5 * (a.support(n) + b.support(-n)).dot(n);
    Some((n, least, middle.add_scaled(height - middle.dot(n), n)))
}

/// Directions in which the gap between two bodies is measured at most.
const DIRECTIONS: usize = 11;

/// Points of two bodies that are known: along no direction is the gap wider than between those.
#[derive(Default)]
struct Known {
    /// Of the first body and of the second.
    points: [[Vec3<f64>; 2]; DIRECTIONS],
    count: usize,
}

impl Known {
    /// The gap along a direction.
    fn gap(&mut self, a: &Placed, b: &Placed, n: Vec3<f64>) -> f64 {
        let ends = [a.support(n), b.support(-n)];
        if let Some(points) = self.points.get_mut(self.count) {
            *points = ends;
            self.count += 1;
        }
        (ends[1] - ends[0]).dot(n)
    }

    /// What it is at most.
    fn most(&self, n: Vec3<f64>) -> f64 {
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for [p, q] in &self.points[..self.count] {
            (top, bottom) = (top.max(p.dot(n)), bottom.min(q.dot(n)));
        }
        bottom - top
    }
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
            facets: Facets::with_capacity(self.facets.columns()),
            ..Self::default()
        }
    }
}

impl fmt::Debug for Convex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Convex").finish_non_exhaustive()
    }
}
