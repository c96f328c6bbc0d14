//! A height field against convex shapes, without a search in three dimensions: contacts of faces, edges and corners of the surface, each
//! within the directions that it faces.
//!
//! The point of the surface that is nearest to a shape lies in a triangle, on an edge or at a corner, and the way to the shape is one of
//! the directions that this feature faces: the normal of the triangle, between those of the two triangles at the edge, within the cone of
//! the corner (the feature's part of the Gauss map). So each is looked at by support points along its own directions alone. Nothing stumbles
//! over edges inside a smooth surface, as these face no direction of their own, and no neighbours have to be compared. The surface is
//! one-sided: what is below it is pushed up along the same directions.

mod ridge;

use spatial::{Mat3, Vec3};

use super::convex::{Nearest, Overlap};
use super::facets::{Facet, Facets, Row};
use super::placed::Placed;
use super::spread::spread;
use super::weights::{nearest_weights, weighted};
use super::{Convex, Point, Sink, point};
use crate::solid::{Ground, PlacedSolid, Placement, Solid};

/// Points of one field and shape with normals within this cosine stand for one another.
const SAME_FACE: f64 = 0.95;

/// Share of a cell's size within which points are one, and by which a surface must fall away at a ridge.
const BORDER: f64 = 1e-6;

/// Share of a side's length by which a point may be beside a triangle that it counts as over: what is over the side that two triangles
/// have in common is over one of them, whatever its last digits.
const BESIDE: f64 = 1e-9;

/// Flat faces and straight edges of a shape within this angle of a direction face it as a whole, rad: which of their points is the farthest
/// does not matter then.
const TILT: f64 = 1e-3;

/// Share of a cell's size by which what is deeper in a triangle must be under the surface as well: it may be beyond a ridge.
const DEEP: f64 = 0.1;

/// Most cells beside a shape, and the margin of its contacts, in which it may come to touch in a step. What is faster hits a hill farther off
/// when it is there: else all triangles of the field would be asked, in each part of a step.
const BESIDE_CELLS: f64 = 32.0;

/// Points of a field and shape that are kept until all are known.
const CROWD: usize = 256;

/// A shape over a height field, in the axes of the field with the shape's position as origin.
struct Query<'a> {
    field: &'a Ground,
    solid: &'a Solid,
    place: Placement,
    shape: Placed<'a>,
    limit: f64,
    columns: [usize; 2],
    rows: [usize; 2],
    cell_size: [f64; 2],
    /// Its inverse.
    per_size: [f64; 2],
    /// The shape's position in the field's frame.
    position: Vec3<f64>,
    /// The least height that the shape reaches, in the field's frame.
    bottom: f64,
    /// A radius about the shape's centre that holds it.
    radius: f64,
}

/// Contact points of a height field and a convex shape.
pub fn collide(field: &Ground, at: &Placement, other: PlacedSolid<'_>, workspace: &mut Convex, sink: &mut Sink) {
    let Some(query) = Query::new(field, at, other, sink.limit, sink.margin) else { return };
    workspace.points.clear();
    workspace.patch.clear();
    let mut facets = std::mem::take(&mut workspace.facets);
    query.touch(&mut facets, workspace);
    workspace.facets = facets;
    query.drop_repeated(&mut workspace.points);
    spread_by_direction(&mut workspace.points, &mut workspace.patch, |patch| {
        let first = sink.out.count();
        for p in patch {
            sink.push_point(Point { position: at.rot * p.position + other.at.pos, normal: at.rot * p.normal, ..*p });
        }
        sink.add_middle(first, [other.solid; 2]);
    });
}

/// Takes all points, at most four for each direction in which the surface faces.
fn spread_by_direction(points: &mut Vec<Point>, patch: &mut Vec<Point>, mut take: impl FnMut(&mut Vec<Point>)) {
    // Slopes beyond the range of numbers have no normal.
    points.retain(|p| p.normal.norm_squared() > 0.5);
    while !points.is_empty() {
        let deepest = points.iter().fold(points[0], |d, p| if p.distance < d.distance { *p } else { d });
        patch.clear();
        points.retain(|p| {
            let same = p.normal.dot(deepest.normal) > SAME_FACE;
            if same {
                patch.push(*p);
            }
            !same
        });
        spread(patch, deepest.normal);
        take(patch);
    }
}

/// Leaves at most four points for each direction once they are more than `crowd`; returns how many may come to be before the next time.
///
/// Under a body that lies on thousands of triangles each has points, and what repeats an earlier one is looked for among all.
fn thin(crowd: usize, workspace: &mut Convex) -> usize {
    let Convex { points, patch, kept, .. } = workspace;
    if points.len() <= crowd {
        return crowd;
    }
    kept.clear();
    spread_by_direction(points, patch, |patch| kept.append(patch));
    std::mem::swap(points, kept);
    CROWD.max(2 * points.len())
}

impl<'a> Query<'a> {
    /// `None` when the shape is not over the field.
    fn new(field: &'a Ground, at: &Placement, other: PlacedSolid<'a>, limit: f64, margin: f64) -> Option<Self> {
        let PlacedSolid { solid, at: bt } = other;
        let (position, radius) = (at.local(bt.pos), solid.bounding_radius());
        let half = solid.half_extents()?;
        let place = Placement { rot: at.rot.transpose() * bt.rot, pos: Vec3::ZERO };
        let shape = Placed::new(solid, &place, Vec3::ZERO)?;
        let centre = position + shape.centre;
        if centre.z - radius - limit > field.top {
            return None;
        }
        let Mat3 { x, y, z } = place.rot;
        let reach = match solid {
            Solid::Hull(_) => (x * half.x).map(f64::abs) + (y * half.y).map(f64::abs) + (z * half.z).map(f64::abs),
            // About its own position a shape is symmetric.
            _ => Vec3::new(
                shape.support(Vec3::new(1.0, 0.0, 0.0)).x + shape.radius,
                shape.support(Vec3::new(0.0, 1.0, 0.0)).y + shape.radius,
                shape.support(Vec3::new(0.0, 0.0, 1.0)).z + shape.radius,
            ),
        };
        let [rows, columns] = field.size;
        let [hx, hy] = field.half_extents;
        let cell_size = [2.0 * hx / (columns - 1) as f64, 2.0 * hy / (rows - 1) as f64];
        let cells = |x: f64, reach: f64, size: f64, samples: usize| {
            let reach = reach + limit.min(margin + BESIDE_CELLS * size);
            let (low, high) = ((x - reach) / size, (x + reach) / size);
            // A cast saturates: below 0 is 0.
            (high >= 0.0 && low <= (samples - 1) as f64)
                .then(|| [(low as usize).min(samples - 2), (high as usize).min(samples - 2)])
        };
        let columns = cells(centre.x + hx, reach.x, cell_size[0], columns)?;
        let rows = cells(centre.y + hy, reach.y, cell_size[1], rows)?;
        let [bottom, top] = [-1.0, 1.0].map(|side| centre.z + side * (reach.z + limit));
        if bottom > field.top || top < -field.base {
            return None;
        }
        let per_size = cell_size.map(f64::recip);
        Some(Self { field, solid, place, position, shape, limit, columns, rows, cell_size, per_size, bottom, radius })
    }

    #[inline(always)]
    fn sample(&self, row: usize, column: usize) -> Vec3<f64> {
        let [dx, dy] = self.cell_size;
        let [hx, hy] = self.field.half_extents;
        let height = self.field.heights[row * self.field.size[1] + column];
        Vec3::new(column as f64 * dx - hx, row as f64 * dy - hy, height) - self.position
    }

    /// Appends the contact points of all triangles under the shape, row by row: one of them is a moment's work.
    fn touch(&self, facets: &mut Facets, workspace: &mut Convex) {
        let halves = 2 * (self.columns[1] - self.columns[0] + 1);
        facets.row_before.clear(halves);
        facets.seen.clear();
        let (mut are_met, mut crowd) = (false, CROWD);
        for row in self.rows[0]..=self.rows[1] {
            if workspace.interrupt.is_raised() {
                return;
            }
            facets.row.clear(halves);
            self.find_facets(row, &mut facets.row);
            are_met |= facets.row.facets.iter().any(|facet| facet.distance < -self.shape.radius);
            self.touch_faces(&facets.row.facets, workspace);
            self.touch_edges(facets, workspace);
            crowd = thin(crowd, workspace);
            std::mem::swap(&mut facets.row, &mut facets.row_before);
        }
        if workspace.points.is_empty() && are_met {
            self.push_out(workspace);
        }
    }

    /// Finds the triangles of a row of cells that the shape can reach. Each cell is cut along its diagonal from low row and column to high
    /// row and column.
    fn find_facets(&self, row: usize, facets: &mut Row) {
        let [first, last] = self.columns;
        let samples = |row: usize| &self.field.heights[row * self.field.size[1] + first..][..last - first + 2];
        let (near, far) = (samples(row), samples(row + 1));
        let mut top_before = near[0].max(far[0]);
        for k in 0..=last - first {
            let top_after = near[k + 1].max(far[k + 1]);
            let top = top_before.max(top_after);
            top_before = top_after;
            if top < self.bottom {
                continue;
            }
            let column = first + k;
            let low = near[k].min(far[k]).min(near[k + 1].min(far[k + 1]));
            let (a, c) = (self.sample(row, column), self.sample(row + 1, column + 1));
            if self.is_clear(a, c, low - self.position.z, top - self.position.z) {
                continue;
            }
            let (b, d) = (self.sample(row, column + 1), self.sample(row + 1, column));
            for (half, corners) in [[a, b, c], [a, c, d]].into_iter().enumerate() {
                if let Some(facet) = self.facet(corners, [row, column, half]) {
                    facets.places[2 * k + half] = facets.facets.len() as u32;
                    facets.facets.push(facet);
                }
            }
        }
    }

    /// Whether the shape is out of reach of the box around a cell, from one corner to the other, by a plane across the way from its centre
    /// to the nearest point of the box.
    fn is_clear(&self, a: Vec3<f64>, c: Vec3<f64>, low: f64, high: f64) -> bool {
        let p = self.shape.centre;
        let nearest = Vec3::new(p.x.clamp(a.x, c.x), p.y.clamp(a.y, c.y), p.z.clamp(low, high));
        let away = p - nearest;
        let (squared, reach) = (away.norm_squared(), self.radius + self.limit);
        if squared > reach * reach {
            return true;
        }
        let facing = (self.shape.support(-away) - nearest).dot(away);
        let reach = self.shape.radius + self.limit;
        facing > 0.0 && facing * facing > reach * reach * squared
    }

    /// A triangle, if the shape reaches its plane.
    #[inline(always)]
    fn facet(&self, corners: [Vec3<f64>; 3], cell: [usize; 3]) -> Option<Facet> {
        let ([a, b, c], [per_x, per_y]) = (corners, self.per_size);
        // The corners are those of a right angle along the axes.
        let (slope_x, slope_y) = if cell[2] == 0 { (b.z - a.z, c.z - b.z) } else { (b.z - c.z, c.z - a.z) };
        let across = Vec3::new(-slope_x * per_x, -slope_y * per_y, 1.0);
        let low = self.shape.support(-across);
        let height = (low - a).dot(across);
        // Many triangles end here: no need of a unit vector.
        let (reach, squared) = (self.shape.radius + self.limit, across.norm_squared());
        if height > 0.0 && height * height > reach * reach * squared {
            return None;
        }
        let scale = 1.0 / squared.sqrt();
        let (normal, distance) = (across * scale, height * scale - self.shape.radius);
        if distance > self.limit || distance < -2.0 * self.radius && self.is_centre_over() {
            // Where the shape is altogether behind the plane, it is beyond a ridge that it has not gone through.
            return None;
        }
        // Where in the cell the foot of the farthest point is.
        let foot = low.add_scaled(-height / squared, across) - a;
        let (u, v) = (foot.x * per_x, foot.y * per_y);
        let beyond = if cell[2] == 0 { [-v, u - 1.0, v - u] } else { [u - v, v - 1.0, -u] };
        let is_along = self.shape.is_along(-normal, TILT);
        Some(Facet { corners, cell, normal, low, beyond, distance, is_along })
    }

    /// Whether the shape's centre is over the surface.
    #[cold]
    fn is_centre_over(&self) -> bool {
        point::height_field(self.field, self.position + self.shape.centre).is_some_and(|(_, distance)| distance > 0.0)
    }

    /// Whether the shape's point of a pair of nearest points is over the surface.
    #[cold]
    fn is_over(&self, nearest: &Nearest) -> bool {
        let p = nearest.position.add_scaled(0.5 * nearest.distance, nearest.normal);
        point::height_field(self.field, self.position + p).is_some_and(|(_, distance)| distance > 0.0)
    }

    /// The shape's point that is farthest against a triangle's normal, as if it were over the triangle.
    fn straight(&self, facet: &Facet) -> Nearest {
        let Facet { normal, low, distance, .. } = *facet;
        Nearest { normal, position: low.add_scaled(-self.shape.radius - 0.5 * distance, normal), distance }
    }

    /// Appends contact points along the normals of triangles.
    fn touch_faces(&self, facets: &[Facet], workspace: &mut Convex) {
        for facet in facets {
            let nearest = self.straight(facet);
            if facet.beyond.iter().all(|beyond| *beyond <= BESIDE) {
                if nearest.distance < -DEEP * self.cell_size[0].min(self.cell_size[1]) && self.is_over(&nearest) {
                    continue;
                }
                workspace.manifold(&Placed::triangle(facet.corners), &self.shape, &nearest, self.limit);
            } else if !self.has_ridge(facet) || facet.is_along && self.lies_on(facet) {
                // Among flat or hollow surroundings nothing touches the border alone.
                workspace.faces(&Placed::triangle(facet.corners), &self.shape, &nearest, self.limit);
            }
        }
    }

    /// Whether a face or an edge of the shape that is along a triangle's plane may lie over the triangle: it does not where the shape
    /// would touch beyond one of the sides if it were tilted that way.
    fn lies_on(&self, facet: &Facet) -> bool {
        (0..3).all(|side| {
            let outward = facet.outward(side);
            let tilted = facet.normal.add_scaled(TILT / outward.norm(), outward);
            (self.shape.support(-tilted) - facet.corners[side]).dot(outward) <= BESIDE * outward.norm_squared()
        })
    }

    /// Whether the surface falls away across some side of the triangle.
    fn has_ridge(&self, facet: &Facet) -> bool {
        (0..3).any(|side| self.is_ridge(facet, side))
    }

    /// Whether the surface falls away across a side of a triangle: the middle of the side is over that of the corners beside it. At the rim
    /// of the field it does.
    #[inline(always)]
    fn is_ridge(&self, facet: &Facet, side: usize) -> bool {
        let [row, column, half] = facet.cell;
        // The third corner of the neighbour across each side, from the cell's low corner.
        const FAR: [[[isize; 2]; 3]; 2] = [[[-1, 0], [1, 2], [1, 0]], [[0, 1], [2, 1], [0, -1]]];
        let [r, c] = FAR[half][side];
        let Some(far) = self.height(row.wrapping_add_signed(r), column.wrapping_add_signed(c)) else { return true };
        let [start, end, own] = [0, 1, 2].map(|k| facet.corners[(side + k) % 3].z);
        let slack = BORDER * self.cell_size[0].min(self.cell_size[1]);
        start + end - own - (far - self.position.z) > slack
    }

    /// A sample's height; none beside the field.
    #[inline(always)]
    fn height(&self, row: usize, column: usize) -> Option<f64> {
        let [rows, columns] = self.field.size;
        (row < rows && column < columns).then(|| self.field.heights[row * columns + column])
    }

    /// Appends points along the normal of the triangle in the shape that is the least deep, where no feature that faces the shape was found:
    /// it is far below the surface, or spiked.
    #[inline(never)]
    fn push_out(&self, workspace: &mut Convex) {
        let mut least: Option<Facet> = None;
        for row in self.rows[0]..=self.rows[1] {
            if workspace.interrupt.is_raised() {
                return;
            }
            for column in self.columns[0]..=self.columns[1] {
                let (a, b) = (self.sample(row, column), self.sample(row, column + 1));
                let (c, d) = (self.sample(row + 1, column + 1), self.sample(row + 1, column));
                for (half, corners) in [[a, b, c], [a, c, d]].into_iter().enumerate() {
                    let facet = self.facet(corners, [row, column, half]).filter(|facet| {
                        facet.distance < 0.0 && least.is_none_or(|least| facet.distance > least.distance)
                    });
                    if facet.is_some() && self.is_spiked(corners, workspace) {
                        least = facet;
                    }
                }
            }
        }
        let Some(facet) = least else { return };
        let straight = self.straight(&facet);
        workspace.faces(&Placed::triangle(facet.corners), &self.shape, &straight, self.limit);
        if workspace.points.is_empty() {
            let Nearest { normal, position, distance } = straight;
            workspace.points.push(Point::new(position, normal, distance));
        }
    }

    /// Whether a triangle overlaps the shape's core.
    fn is_spiked(&self, corners: [Vec3<f64>; 3], workspace: &mut Convex) -> bool {
        let nearest = weighted(corners, nearest_weights(corners, self.shape.centre));
        let away = self.shape.centre - nearest;
        if (self.shape.support(-away) - nearest).dot(away) > 0.0 {
            return false;
        }
        matches!(workspace.nearest_apart(&Placed::triangle(corners), &self.shape, 0.0), Err(Overlap))
    }

    /// Drops points that an earlier one repeats: neighbouring triangles share their border.
    fn drop_repeated(&self, points: &mut Vec<Point>) {
        let [dx, dy] = self.cell_size;
        let near2 = BORDER * BORDER * dx * dy;
        let mut kept = 0;
        for i in 0..points.len() {
            let p = points[i];
            let same =
                |q: &Point| (q.position - p.position).norm_squared() < near2 && q.normal.dot(p.normal) > 1.0 - BORDER;
            if !points[..kept].iter().any(same) {
                points[kept] = p;
                kept += 1;
            }
        }
        points.truncate(kept);
    }
}
