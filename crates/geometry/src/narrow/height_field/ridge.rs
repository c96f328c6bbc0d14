//! Edges and corners of a height field that stand out.

use spatial::Vec3;

use super::{Query, TILT};
use crate::narrow::convex::Nearest;
use crate::narrow::facets::{Facet, Facets, MAX_SEEN, Side};
use crate::narrow::placed::Placed;
use crate::narrow::point::signed_distance;
use crate::narrow::{Convex, Point};
use crate::solid::PlacedSolid;

/// Directions across an edge that are tried at most.
const MAX_TRIED: usize = 40;

/// The shape is nearest where it lies straight over the edge within this, m.
const STRAIGHT: f64 = 1e-10;

/// A point farther than an edge of the shape's outline by less than this is on it, m.
const ON_OUTLINE: f64 = 1e-12;

/// An edge that stands out, and the plane across it.
struct Ridge {
    start: Vec3<f64>,
    /// Along the edge, a unit vector.
    axis: Vec3<f64>,
    /// Unit vectors across it: the normal of the one triangle, and out of that triangle in its plane.
    up: Vec3<f64>,
    out: Vec3<f64>,
}

/// A direction across an edge, and the shape's farthest point against it, in the plane across the edge.
#[derive(Clone, Copy)]
struct Tried {
    direction: [f64; 2],
    point: [f64; 2],
    along: f64,
    /// How far the point is along the direction, and how far beyond it on the side of the last direction: 0 where the shape is nearest.
    gap: f64,
    beyond: f64,
}

/// Where a shape is nearest to the line of an edge.
struct Crossing {
    normal: Vec3<f64>,
    /// Distance of the shape's core.
    gap: f64,
    along: f64,
}

fn dot([a, b]: [f64; 2], [x, y]: [f64; 2]) -> f64 {
    a * x + b * y
}

fn cross([a, b]: [f64; 2], [x, y]: [f64; 2]) -> f64 {
    a * y - b * x
}

fn unit([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let length = (x * x + y * y).sqrt();
    (length > 0.0).then(|| [x / length, y / length])
}

/// The point of a segment that is nearest to the origin.
fn nearest_to_origin(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let way = [b[0] - a[0], b[1] - a[1]];
    let share = (-dot(a, way) / dot(way, way).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    [a[0] + share * way[0], a[1] + share * way[1]]
}

/// A direction, or the middle of two others where it is not between them.
fn between(first: [f64; 2], direction: [f64; 2], last: [f64; 2]) -> Option<[f64; 2]> {
    if cross(first, direction) >= 0.0 && cross(direction, last) >= 0.0 {
        return Some(direction);
    }
    unit([first[0] + last[0], first[1] + last[1]])
}

impl Ridge {
    /// A direction across the edge, from its part upward and its part outward.
    fn direction(&self, [up, out]: [f64; 2]) -> Vec3<f64> {
        self.up * up + self.out * out
    }

    fn crossing(&self, direction: [f64; 2], point: [f64; 2], along: f64) -> Crossing {
        Crossing { normal: self.direction(direction), gap: dot(direction, point), along }
    }
}

impl Query<'_> {
    /// Appends the contact points on edges of the last row of cells, and at their ends. Every edge is a side of the first half of a cell,
    /// see [`Query::find_facets`], or on the rim of the field.
    pub(super) fn touch_edges(&self, facets: &mut Facets, workspace: &mut Convex) {
        let Facets { row, row_before, seen } = facets;
        let [rows, columns] = self.field.size;
        for facet in &row.facets {
            let [r, c, half] = facet.cell;
            let i = 2 * (c - self.columns[0]);
            if half == 0 {
                // Each side and what the neighbour across it has it as.
                let (below, right, twin) = (row_before.get(i + 1), row.get(i + 3), row.get(i + 1));
                self.touch_edge(facet.of_side(0), below.map(|other| other.of_side(1)), r == 0, seen, workspace);
                self.touch_edge(
                    facet.of_side(1),
                    right.map(|other| other.of_side(2)),
                    c == columns - 2,
                    seen,
                    workspace,
                );
                self.touch_edge(facet.of_side(2), twin.map(|other| other.of_side(0)), false, seen, workspace);
            } else {
                if r == rows - 2 {
                    self.touch_edge(facet.of_side(1), None, true, seen, workspace);
                }
                if c == 0 {
                    self.touch_edge(facet.of_side(2), None, true, seen, workspace);
                }
            }
        }
    }

    /// Appends the contact points on a side of a triangle, which it has in common with a neighbour unless that is out of reach, or the side
    /// is on the rim.
    #[inline(always)]
    fn touch_edge(
        &self,
        edge: Side<'_>,
        neighbour: Option<Side<'_>>,
        is_rim: bool,
        seen: &mut Vec<[usize; 2]>,
        workspace: &mut Convex,
    ) {
        // Where one of the triangles is out of reach, so is what the edge faces.
        if neighbour.is_none() && !is_rim {
            return;
        }
        // Of what reaches through the plane the farthest point tells nothing.
        let is_beyond = |Side { facet, side }: Side<'_>| {
            facet.beyond[side] > 0.0 || facet.is_along || facet.distance < -self.shape.radius
        };
        let Side { facet, side } = edge;
        let (own, others) = (is_beyond(edge), neighbour.is_none_or(is_beyond));
        let other = neighbour.map(|other| other.facet);
        if !(own || others) || !self.is_ridge(facet, side) {
            return;
        }
        if own && others {
            // Seen along the normals of both triangles the shape is beyond the edge: else it is nearer to something else.
            return self.touch_ridge(edge, other, seen, workspace);
        }
        let [start, end] = facet.side(side);
        let low = if own { facet.low } else { other.map_or(facet.low, |other| other.low) };
        let (edge, along) = (end - start, (low - start).dot(end - start));
        if along < 0.0 {
            self.touch_corner(facet, side, seen, workspace);
        } else if along > edge.norm_squared() {
            self.touch_corner(facet, (side + 1) % 3, seen, workspace);
        }
    }

    #[inline(never)]
    fn touch_ridge(
        &self,
        Side { facet, side }: Side<'_>,
        neighbour: Option<&Facet>,
        seen: &mut Vec<[usize; 2]>,
        workspace: &mut Convex,
    ) {
        let [start, end] = facet.side(side);
        let length = (end - start).norm();
        let axis = (end - start) * (1.0 / length);
        let ridge = Ridge { start, axis, up: facet.normal, out: axis.cross(facet.normal) };
        // At the rim up to the plane of the triangle.
        let other = neighbour.map_or(ridge.out, |other| other.normal);
        let turn = [other.dot(ridge.up), other.dot(ridge.out)];
        let tilted = |[x, y]: [f64; 2], sine: f64| [x - sine * y, y + sine * x];
        let first = if facet.is_along { tilted([1.0, 0.0], -TILT) } else { [1.0, 0.0] };
        let last = if neighbour.is_some_and(|other| other.is_along) { tilted(turn, TILT) } else { turn };
        let Some(crossing) = self.find_crossing(&ridge, [first, last]) else { return };
        let Crossing { normal, gap, along } = crossing;
        let distance = gap - self.shape.radius;
        if distance > self.limit {
            return;
        }
        let on_edge = start.add_scaled(along.clamp(0.0, length), axis);
        let nearest = Nearest { normal, position: on_edge.add_scaled(0.5 * distance, normal), distance };
        let edge = Placed::segment([start, end]);
        if (0.0..=length).contains(&along) {
            workspace.manifold(&edge, &self.shape, &nearest, self.limit);
        } else if !self.lies_along(&ridge, &edge, &nearest, along, workspace) {
            let corner = if along > length { (side + 1) % 3 } else { side };
            self.touch_corner(facet, corner, seen, workspace);
        }
    }

    /// Appends the contact points of an edge that a face or an edge of the shape lies on, although one of their points beyond the edge is
    /// nearer by a little; whether there are any.
    fn lies_along(&self, ridge: &Ridge, edge: &Placed, nearest: &Nearest, along: f64, workspace: &mut Convex) -> bool {
        if !self.shape.is_along(-nearest.normal, TILT) {
            return false;
        }
        let before = workspace.points.len();
        workspace.faces(edge, &self.shape, nearest, self.limit);
        let is_as_near = |p: &Point| {
            let apart = (p.position - ridge.start).dot(ridge.axis) - along;
            p.distance <= nearest.distance + TILT * apart.abs()
        };
        let lies = workspace.points[before..].iter().any(is_as_near);
        if !lies {
            workspace.points.truncate(before);
        }
        lies
    }

    /// The shape's farthest point against a direction across an edge.
    fn look(&self, ridge: &Ridge, direction: [f64; 2]) -> Tried {
        let p = self.shape.support(-ridge.direction(direction)) - ridge.start;
        let point = [p.dot(ridge.up), p.dot(ridge.out)];
        let (gap, beyond) = (dot(direction, point), cross(direction, point));
        Tried { direction, point, along: p.dot(ridge.axis), gap, beyond }
    }

    /// Two directions with the one between them in which the shape is farthest from the line of an edge; none where it is farther in one that
    /// is not between `first` and `last`.
    ///
    /// Where the shape's distance along a direction is positive, the sign of [`Tried::beyond`] tells on which side the direction is.
    fn bracket(&self, ridge: &Ridge, [first, last]: [[f64; 2]; 2]) -> Option<[Tried; 2]> {
        let (mut a, mut b) = (self.look(ridge, first), self.look(ridge, last));
        if a.beyond >= 0.0 && b.beyond <= 0.0 {
            return Some([a, b]);
        }
        let is_outside = |a: &Tried, b: &Tried| a.beyond < 0.0 && a.gap >= 0.0 || b.beyond > 0.0 && b.gap >= 0.0;
        if is_outside(&a, &b) {
            return None;
        }
        // The shape reaches through the plane of a triangle: it is seen on one side from the directions of points in it.
        let centre = self.shape.centre - ridge.start;
        let towards = [nearest_to_origin(a.point, b.point), [centre.dot(ridge.up), centre.dot(ridge.out)]];
        let mut seen = towards.into_iter().filter_map(|p| Some(self.look(ridge, between(first, unit(p)?, last)?)));
        let seen = seen.find(|seen| seen.gap > 0.0)?;
        *(if seen.beyond > 0.0 { &mut a } else { &mut b }) = seen;
        (!is_outside(&a, &b)).then_some([a, b])
    }

    /// Where between two directions the shape is farthest from the line of an edge: there it lies straight over the edge.
    fn find_crossing(&self, ridge: &Ridge, ends: [[f64; 2]; 2]) -> Option<Crossing> {
        let [mut a, mut b] = self.bracket(ridge, ends)?;
        let is_curved = self.shape.core.is_curved();
        for k in 0..MAX_TRIED {
            let chord = [b.point[0] - a.point[0], b.point[1] - a.point[1]];
            let Some([x, y]) = unit([-chord[1], chord[0]]) else {
                return Some(ridge.crossing(unit(a.point)?, a.point, a.along));
            };
            // Across the chord: of a polygon's edge no point is farther. On a smooth outline the chord is never met: every second time by
            // false position.
            let middle = [a.direction[0] + b.direction[0], a.direction[1] + b.direction[1]];
            let is_across = !is_curved || k % 2 == 0;
            let direction = if is_across {
                between(a.direction, if dot([x, y], middle) < 0.0 { [-x, -y] } else { [x, y] }, b.direction)?
            } else {
                let (u, v) = (-b.beyond, a.beyond);
                unit([u * a.direction[0] + v * b.direction[0], u * a.direction[1] + v * b.direction[1]])?
            };
            let now = self.look(ridge, direction);
            if now.beyond.abs() <= STRAIGHT {
                return Some(ridge.crossing(direction, now.point, now.along));
            }
            if is_across && now.gap >= dot(direction, a.point).min(dot(direction, b.point)) - ON_OUTLINE {
                let (before, after) = (cross(direction, a.point), cross(direction, b.point));
                return Some(match () {
                    () if before <= 0.0 => ridge.crossing(unit(a.point)?, a.point, a.along),
                    () if after >= 0.0 => ridge.crossing(unit(b.point)?, b.point, b.along),
                    () => {
                        let along = a.along + before / (before - after) * (b.along - a.along);
                        ridge.crossing(direction, now.point, along)
                    }
                });
            }
            let is_before = match () {
                () if now.gap >= 0.0 => now.beyond > 0.0,
                () if a.beyond < 0.0 => true,
                () if b.beyond > 0.0 => false,
                () => now.beyond > 0.0,
            };
            *(if is_before { &mut a } else { &mut b }) = now;
        }
        Some(ridge.crossing(a.direction, a.point, a.along))
    }

    /// Whether a corner may face any direction: it is not below the middle of two neighbours that are opposite to one another.
    #[inline(always)]
    fn may_stand_out(&self, [row, column]: [usize; 2]) -> bool {
        let Some(own) = self.height(row, column) else { return false };
        let slack = 2.0 * TILT * (self.cell_size[0] + self.cell_size[1]);
        [[0, 1], [1, 0], [1, 1]].into_iter().all(|[r, c]| {
            let after = self.height(row + r, column + c);
            match (self.height(row.wrapping_sub(r), column.wrapping_sub(c)), after) {
                (Some(before), Some(after)) => before + after - 2.0 * own <= slack,
                _ => true,
            }
        })
    }

    /// Appends the contact point at a corner of a triangle, if the shape is in the cone of directions that the corner faces.
    fn touch_corner(&self, facet: &Facet, corner: usize, seen: &mut Vec<[usize; 2]>, workspace: &mut Convex) {
        let [row, column, half] = facet.cell;
        let offset = [[[0, 0], [0, 1], [1, 1]], [[0, 0], [1, 1], [1, 0]]][half][corner];
        let place = [row + offset[0], column + offset[1]];
        if !self.may_stand_out(place) || seen.contains(&place) {
            return;
        }
        if seen.len() < MAX_SEEN {
            seen.push(place);
        }
        let p = facet.corners[corner];
        let Some((away, distance)) =
            signed_distance(PlacedSolid { solid: self.solid, at: &self.place }, p, self.limit, workspace)
        else {
            return;
        };
        let normal = -away;
        let [rows, columns] = self.field.size;
        let is_in_cone = [[-1, -1], [-1, 0], [0, -1], [0, 1], [1, 0], [1, 1]].into_iter().all(|[r, c]: [isize; 2]| {
            match (place[0].checked_add_signed(r), place[1].checked_add_signed(c)) {
                (Some(r), Some(c)) if r < rows && c < columns => {
                    let edge = self.sample(r, c) - p;
                    let rise = edge.dot(normal);
                    rise <= 0.0 || rise * rise <= TILT * TILT * edge.norm_squared()
                }
                _ => true,
            }
        });
        if is_in_cone && normal.z > 0.0 {
            workspace.points.push(Point::new(p.add_scaled(0.5 * distance, normal), normal, distance));
        }
    }
}
