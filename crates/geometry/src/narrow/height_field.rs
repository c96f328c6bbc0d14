//! A height field against convex shapes: the triangles under the shape, one by one.
//!
//! The surface is one-sided: what is below it is pushed up along the triangle's normal. A contact on the border of
//! a triangle counts only when no neighbour is nearer, so that nothing stumbles over edges inside a smooth surface.

use spatial::Vec3;

use super::convex::{Apart, Nearest, Overlap};
use super::placed::Placed;
use super::spread::spread;
use super::{Convex, Point, Sink};
use crate::shape::HeightField;
use crate::solid::{Placement, Solid};

/// Points of one field and shape with normals within this cosine stand for one another.
const SAME_FACE: f64 = 0.95;

/// Share of a cell's size within which a point is on the border of a triangle.
const BORDER: f64 = 1e-6;

/// Share of a side's length by which a point may be beside a triangle that it counts as over: what is over the side that two triangles
/// have in common is over one of them, whatever its last digits.
const BESIDE: f64 = 1e-9;

/// A triangle that may touch.
struct Triangle {
    corners: [Vec3<f64>; 3],
    /// Row and column of the cell, and which half of it.
    cell: [usize; 3],
}

/// A shape over a height field, in the axes of the world with the shape's position as origin.
struct Query<'a> {
    field: &'a HeightField,
    at: Placement,
    shape: Placed<'a>,
    limit: f64,
    columns: [usize; 2],
    rows: [usize; 2],
    cell_size: [f64; 2],
    /// The shape's lowest point over the field.
    bottom: f64,
    /// The shape's centre over the field, and a radius about it that holds the shape.
    centre: Vec3<f64>,
    radius: f64,
}

/// Contact points of a height field and a convex shape.
pub fn collide(
    (field, at): (&HeightField, &Placement),
    (solid, bt): (&Solid, &Placement),
    workspace: &mut Convex,
    sink: &mut Sink,
) {
    let origin = bt.pos;
    let Some(query) = Query::new(field, at, solid, bt, sink.limit) else { return };
    workspace.points.clear();
    workspace.patch.clear();
    workspace.of_triangles.clear();
    // Row by row: one of them is a moment's work.
    for row in query.rows[0]..=query.rows[1] {
        if workspace.interrupt.is_raised() {
            return;
        }
        query.each_triangle_in([row; 2], query.columns, |triangle| query.touch(&triangle, workspace));
    }
    // At most four points for each direction in which the surface faces.
    while !workspace.points.is_empty() {
        let points = &mut workspace.points;
        let deepest = points.iter().fold(points[0], |d, p| if p.distance < d.distance { *p } else { d });
        let patch = &mut workspace.patch;
        patch.clear();
        points.retain(|p| {
            let same = p.normal.dot(deepest.normal) > SAME_FACE;
            if same {
                patch.push(*p);
            }
            !same
        });
        spread(patch, deepest.normal, 4);
        for p in patch {
            sink.push(p.position + origin, p.normal, p.distance);
        }
    }
}

impl<'a> Query<'a> {
    /// `None` when the shape is not over the field.
    fn new(field: &'a HeightField, at: &Placement, solid: &'a Solid, bt: &Placement, limit: f64) -> Option<Self> {
        let shape = Placed::new(solid, bt, bt.pos)?;
        let half = solid.half_extents()?;
        let axes = [bt.rot.x * half.x, bt.rot.y * half.y, bt.rot.z * half.z].map(|e| at.rot.transpose_mul(e));
        let reach = |i: usize| axes.iter().map(|e| e.to_array()[i].abs()).sum::<f64>() + limit;
        let centre = at.local(bt.pos + shape.centre);
        let [rows, columns] = field.size;
        let [hx, hy] = field.half_extents;
        let cell_size = [2.0 * hx / (columns - 1) as f64, 2.0 * hy / (rows - 1) as f64];
        let cells = |x: f64, reach: f64, size: f64, samples: usize| {
            let (low, high) = ((x - reach) / size, (x + reach) / size);
            // A cast saturates: below 0 is 0.
            (high >= 0.0 && low <= (samples - 1) as f64)
                .then(|| [(low as usize).min(samples - 2), (high as usize).min(samples - 2)])
        };
        let columns = cells(centre.x + hx, reach(0), cell_size[0], columns)?;
        let rows = cells(centre.y + hy, reach(1), cell_size[1], rows)?;
        let (bottom, top) = (centre.z - reach(2), centre.z + reach(2));
        if top < -field.base {
            return None;
        }
        let at = Placement { rot: at.rot, pos: at.pos - bt.pos };
        let radius = solid.bounding_radius();
        Some(Self { field, at, shape, limit, columns, rows, cell_size, bottom, centre, radius })
    }

    fn sample(&self, row: usize, column: usize) -> Vec3<f64> {
        let [dx, dy] = self.cell_size;
        let [hx, hy] = self.field.half_extents;
        let height = self.field.heights[row * self.field.size[1] + column];
        Vec3::new(column as f64 * dx - hx, row as f64 * dy - hy, height)
    }

    /// The triangles in rows and columns under the shape that reach up to it, row by row. Each cell is cut along its diagonal
    /// from low row and column to high row and column.
    fn each_triangle_in(&self, rows: [usize; 2], columns: [usize; 2], mut visit: impl FnMut(Triangle)) {
        for row in rows[0]..=rows[1] {
            for column in columns[0]..=columns[1] {
                let (a, b) = (self.sample(row, column), self.sample(row, column + 1));
                let (c, d) = (self.sample(row + 1, column + 1), self.sample(row + 1, column));
                if self.is_clear([a, b, c, d]) {
                    continue;
                }
                let reaches_up = [a, b, c, d].map(|p| p.z >= self.bottom);
                let [a, b, c, d] = [a, b, c, d].map(|p| self.at.point(p));
                let halves = [(reaches_up[1], [a, b, c]), (reaches_up[3], [a, c, d])];
                for (half, (third_reaches, corners)) in halves.into_iter().enumerate() {
                    if reaches_up[0] || reaches_up[2] || third_reaches {
                        visit(Triangle { corners, cell: [row, column, half] });
                    }
                }
            }
        }
    }

    /// The rows and columns of the cells under the shape that a point is over, or beside by no more than a sliver.
    fn cells_at(&self, p: Vec3<f64>) -> [[usize; 2]; 2] {
        let p = self.at.local(p);
        let ([dx, dy], [hx, hy]) = (self.cell_size, self.field.half_extents);
        // Twice what `holds` allows: the greatest distance from an edge at which it is still true.
        let sliver = 2.0 * BORDER * dx.max(dy);
        let cells = |x: f64, size: f64, [first, last]: [usize; 2]| {
            // A cast saturates: below 0 is 0.
            [(((x - sliver) / size) as usize).max(first), (((x + sliver) / size) as usize).min(last)]
        };
        [cells(p.y + hy, dy, self.rows), cells(p.x + hx, dx, self.columns)]
    }

    /// Whether the shape is out of reach of a cell, in the field's frame, by a plane across the way from its centre
    /// to the nearest point of the box around the cell.
    fn is_clear(&self, [a, b, c, d]: [Vec3<f64>; 4]) -> bool {
        let low = a.z.min(b.z).min(c.z.min(d.z));
        let high = a.z.max(b.z).max(c.z.max(d.z));
        let p = self.centre;
        let nearest = Vec3::new(p.x.clamp(a.x, c.x), p.y.clamp(a.y, c.y), p.z.clamp(low, high));
        let away = p - nearest;
        let (squared, reach) = (away.norm_squared(), self.radius + self.limit);
        if squared > reach * reach {
            return true;
        }
        let away = self.at.rot * away;
        let facing = self.shape.support(-away) - self.at.point(nearest);
        facing.dot(away) > (self.shape.radius + self.limit) * squared.sqrt()
    }

    /// Appends the contact points of one triangle.
    fn touch(&self, triangle: &Triangle, workspace: &mut Convex) {
        let [a, b, c] = triangle.corners;
        let across = (b - a).cross(c - a);
        let low = self.shape.support(-across);
        let height = (low - a).dot(across);
        // Most triangles end here: no need of a unit vector.
        let reach = self.shape.radius + self.limit;
        if height > 0.0 && height * height > reach * reach * across.norm_squared() {
            return;
        }
        let Some(normal) = across.normalized() else { return };
        let distance = (low - triangle.corners[0]).dot(normal) - self.shape.radius;
        if distance > self.limit {
            return;
        }
        let before = workspace.points.len();
        let straight =
            Nearest { normal, position: low.add_scaled(-self.shape.radius - 0.5 * distance, normal), distance };
        let surface = Placed::triangle(triangle.corners);
        if triangle.is_under(low, normal) {
            // The lowest point is over the triangle: the normal is the triangle's.
            workspace.manifold(&surface, &self.shape, &straight, self.limit);
        } else if !self.has_ridge(triangle, normal) {
            // Among flat or hollow surroundings nothing touches the border alone.
            workspace.faces(&surface, &self.shape, &straight, self.limit);
        } else {
            match self.nearest_to(triangle, workspace) {
                Ok(None) => {}
                Ok(Some(nearest)) if nearest.normal.dot(normal) > 0.0 => {
                    if self.is_outermost(triangle, normal, &nearest, workspace) {
                        workspace.manifold(&surface, &self.shape, &nearest, self.limit);
                    }
                }
                // Below the surface, or through it: up.
                Ok(Some(_)) | Err(Overlap) => workspace.faces(&surface, &self.shape, &straight, self.limit),
            }
        }
        self.drop_repeated(before, &mut workspace.points);
    }

    /// The nearest points of a triangle and the shape. What neighbours ask for again is kept: a corner belongs to six triangles.
    fn nearest_to(&self, triangle: &Triangle, workspace: &mut Convex) -> Apart {
        if let Some((_, known)) = workspace.of_triangles.iter().find(|(cell, _)| *cell == triangle.cell) {
            return *known;
        }
        let nearest = workspace.nearest_apart(&Placed::triangle(triangle.corners), &self.shape, self.limit);
        workspace.of_triangles.push((triangle.cell, nearest));
        nearest
    }

    /// Whether the surface falls away across some side of the triangle.
    fn has_ridge(&self, triangle: &Triangle, normal: Vec3<f64>) -> bool {
        let [row, column, half] = triangle.cell;
        let [rows, columns] = self.field.size;
        // The far corners of the three neighbours, as offsets from the cell's low corner.
        let far: [[isize; 2]; 3] = if half == 0 { [[-1, 0], [1, 2], [1, 0]] } else { [[0, 1], [2, 1], [0, -1]] };
        let slack = BORDER * self.cell_size[0].min(self.cell_size[1]);
        far.into_iter().any(|[r, c]| {
            match (row.checked_add_signed(r), column.checked_add_signed(c)) {
                (Some(r), Some(c)) if r < rows && c < columns => {
                    let p = self.at.point(self.sample(r, c));
                    (p - triangle.corners[0]).dot(normal) < -slack
                }
                // The rim of the field.
                _ => true,
            }
        })
    }

    /// Whether the point on `triangle` is the nearest of all triangles that it belongs to.
    fn is_outermost(&self, triangle: &Triangle, normal: Vec3<f64>, nearest: &Nearest, workspace: &mut Convex) -> bool {
        if nearest.normal.dot(normal) > 1.0 - 1e-12 {
            return true;
        }
        let on_surface = nearest.position.add_scaled(-0.5 * nearest.distance, nearest.normal);
        let up = self.at.rot.z;
        let mut outermost = true;
        let [rows, columns] = self.cells_at(on_surface);
        self.each_triangle_in(rows, columns, |other| {
            if outermost && other.cell != triangle.cell && holds(&other, on_surface, up, self.cell_size) {
                outermost = match self.nearest_to(&other, workspace) {
                    Ok(other) => other.is_none_or(|n| n.distance >= nearest.distance - 1e-9),
                    Err(Overlap) => false,
                };
            }
        });
        outermost
    }
}

impl Triangle {
    /// Whether a point is over the triangle, seen along its normal, or beside it by no more than round-off.
    fn is_under(&self, p: Vec3<f64>, normal: Vec3<f64>) -> bool {
        let [a, b, c] = self.corners;
        let side = |s: Vec3<f64>, e: Vec3<f64>| (e - s).cross(p - s).dot(normal) >= -BESIDE * (e - s).norm_squared();
        side(a, b) && side(b, c) && side(c, a)
    }
}

impl Query<'_> {
    /// Drops from `points[new..]` those that an earlier one repeats: neighbouring triangles share their border.
    fn drop_repeated(&self, new: usize, points: &mut Vec<Point>) {
        let [dx, dy] = self.cell_size;
        let near2 = BORDER * BORDER * dx * dy;
        let mut kept = new;
        for i in new..points.len() {
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

/// Whether `p` is over a triangle, or beside it by no more than a sliver of the cell's size.
fn holds(triangle: &Triangle, p: Vec3<f64>, up: Vec3<f64>, [dx, dy]: [f64; 2]) -> bool {
    let [a, b, c] = triangle.corners;
    let slack = -BORDER * dx * dy;
    [[a, b], [b, c], [c, a]].iter().all(|&[s, e]| (e - s).cross(p - s).dot(up) >= slack)
}
