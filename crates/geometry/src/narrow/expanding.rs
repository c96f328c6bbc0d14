//! The least way apart of two convex cores that overlap, by expanding a polytope in their difference (G. van den Bergen, *Proximity Queries and
//! Penetration Depth Computation on 3D Game Objects*).
//!
//! The difference a − b of two convex bodies is convex and holds the origin where they overlap, and the point of its surface that is nearest to the
//! origin is the least way apart. A polytope inside it, which holds the origin as well, grows by the farthest point along the normal of its
//! nearest side, until that side is one of the difference.

use parry3d_f64::query::gjk::{CsoPoint, VoronoiSimplex};
use spatial::Vec3;

use super::placed::{Detail, Ends, Placed, vec3};
use super::weights::{nearest_weights, weighted};

/// Vertices of a polytope at most.
const MOST_VERTICES: usize = 100;

/// A convex polytope of triangles with V vertices has 2 V − 4 of them.
const MOST_SIDES: usize = 2 * MOST_VERTICES;

/// A side of the polytope is one of the difference where that goes no farther than this share of its size beyond it. Of curved cores Newton's
/// method finds the last digits; polytopes inscribed in them end at their own.
const SLACK: f64 = 1e-12;
const SLACK_OF_CURVED: f64 = 1e-7;

/// What lies by less than this share of the size off a line or a plane spans nothing with it.
const FLAT: f64 = 1e-11;

/// A point of the first core less one of the second, and that of the first.
#[derive(Clone, Copy)]
struct Difference {
    of: Vec3<f64>,
    on_a: Vec3<f64>,
}

impl Difference {
    /// The farthest one along a direction.
    #[inline]
    fn farthest(a: &Placed, b: &Placed, direction: Vec3<f64>) -> Self {
        let on_a = a.seen(direction);
        Self { of: on_a - b.seen(-direction), on_a }
    }

    fn of_simplex(point: &CsoPoint) -> Self {
        Self { of: vec3(point.point), on_a: vec3(point.orig1) }
    }
}

/// A side of the polytope: corners, counter-clockwise from outside, outward unit normal and its distance from the origin.
#[derive(Clone, Copy)]
struct Side {
    corners: [u32; 3],
    normal: Vec3<f64>,
    distance: f64,
}

/// Workspace.
pub(super) struct Polytope {
    vertices: Vec<Difference>,
    sides: Vec<Side>,
    /// The border of the sides that a new vertex sees: edges from one corner to another, counter-clockwise.
    border: Vec<[u32; 2]>,
}

impl Default for Polytope {
    fn default() -> Self {
        Self {
            vertices: Vec::with_capacity(MOST_VERTICES),
            sides: Vec::with_capacity(MOST_SIDES),
            border: Vec::with_capacity(3 * MOST_SIDES),
        }
    }
}

impl Polytope {
    /// The least way apart of cores whose difference has this simplex in it, which holds the origin; none where their difference is flat.
    pub fn find_least_way(&mut self, a: &Placed, b: &Placed, simplex: &VoronoiSimplex) -> Option<Ends> {
        self.vertices.clear();
        self.vertices.extend((0..=simplex.dimension()).map(|i| Difference::of_simplex(simplex.point(i))));
        while self.vertices.len() < 4 {
            self.extend(a, b)?;
        }
        self.close()?;
        let size = self.vertices.iter().map(|vertex| vertex.of.norm()).fold(0.0, f64::max);
        let is_curved = a.core.is_curved() || b.core.is_curved();
        let slack = size * if is_curved && a.detail.get() == Detail::Exact { SLACK_OF_CURVED } else { SLACK };
        loop {
            let least = self.nearest_side();
            let next = Difference::farthest(a, b, least.normal);
            let beyond = next.of.dot(least.normal) - least.distance;
            let is_found = beyond <= slack || self.vertices.len() == MOST_VERTICES;
            if is_found || self.add(next, 0.01 * slack).is_none() {
                return Some(self.way_through(&least));
            }
        }
    }

    /// Adds a vertex off the line or plane of those that there are.
    fn extend(&mut self, a: &Placed, b: &Placed) -> Option<()> {
        let first = self.vertices[0].of;
        let ways = [1, 2].map(|i| self.vertices.get(i).map(|vertex| vertex.of - first));
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let directions = axes.into_iter().filter_map(|axis| match ways {
            [None, _] => Some(axis),
            [Some(way), None] => way.cross(axis).normalized(),
            [Some(way), Some(other)] => way.cross(other).normalized(),
        });
        for direction in directions.flat_map(|direction| [direction, -direction]) {
            let next = Difference::farthest(a, b, direction);
            let way = next.of - first;
            let off = match ways {
                [None, _] => way.norm(),
                [Some(line), None] => line.cross(way).norm() / line.norm(),
                _ => direction.dot(way).abs(),
            };
            if off > FLAT * next.of.norm().max(first.norm()) {
                self.vertices.push(next);
                return Some(());
            }
        }
        None
    }

    /// Makes the sides of the first four vertices.
    fn close(&mut self) -> Option<()> {
        let [p, q, r, s] = [0, 1, 2, 3].map(|i| self.vertices[i].of);
        if (q - p).cross(r - p).dot(s - p) > 0.0 {
            self.vertices.swap(1, 2);
        }
        self.sides.clear();
        for corners in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]] {
            let side = self.side(corners)?;
            self.sides.push(side);
        }
        Some(())
    }

    /// The side between three vertices; none where they are on a line.
    #[inline]
    fn side(&self, corners: [u32; 3]) -> Option<Side> {
        let [p, q, r] = corners.map(|i| self.vertices[i as usize].of);
        let normal = (q - p).cross(r - p).normalized()?;
        Some(Side { corners, normal, distance: normal.dot(p) })
    }

    fn nearest_side(&self) -> Side {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (i, side) in self.sides.iter().enumerate() {
            if side.distance < least {
                (nearest, least) = (i, side.distance);
            }
        }
        self.sides[nearest]
    }

    /// Adds a vertex: what it sees goes, and the border of that is joined to it. None where round-off leaves no border that is.
    fn add(&mut self, vertex: Difference, tolerance: f64) -> Option<()> {
        let Self { sides, border, .. } = self;
        border.clear();
        let mut kept = 0;
        for i in 0..sides.len() {
            if vertex.of.dot(sides[i].normal) < sides[i].distance - tolerance {
                sides[kept] = sides[i];
                kept += 1;
            } else {
                let [p, q, r] = sides[i].corners;
                [[p, q], [q, r], [r, p]].into_iter().for_each(|edge| toggle(border, edge));
            }
        }
        sides.truncate(kept);
        let last = self.vertices.len() as u32;
        self.vertices.push(vertex);
        if self.border.len() < 3 || kept + self.border.len() > MOST_SIDES {
            return None;
        }
        for i in 0..self.border.len() {
            let [from, to] = self.border[i];
            let side = self.side([from, to, last])?;
            self.sides.push(side);
        }
        Some(())
    }

    /// The way out through a side.
    fn way_through(&self, side: &Side) -> Ends {
        let corners = side.corners.map(|i| self.vertices[i as usize]);
        let foot = side.normal * side.distance;
        let weights = nearest_weights(corners.map(|corner| corner.of), foot);
        let on_a = weighted(corners.map(|corner| corner.on_a), weights);
        Ends { normal: side.normal, on_a, on_b: on_a - foot }
    }
}

/// Adds an edge to a border, or takes away the same one of the other side of it.
#[inline]
fn toggle(border: &mut Vec<[u32; 2]>, [from, to]: [u32; 2]) {
    match border.iter().position(|edge| *edge == [to, from]) {
        Some(twin) => _ = border.swap_remove(twin),
        None => border.push([from, to]),
    }
}
