//! What is drawn: quadrics, discs and triangles, as functions of the sample.
//!
//! A quadric (p − c)ᵀ A (p − c) = 1 meets the ray p = d / w where C w² − 2 (A c · d) w + dᵀA d = 0 with C = cᵀA c − 1, hence
//!
//! ```text
//! w = (A c · d) / C + √(dᵀ S d),     S = ((A c)(A c)ᵀ − C A) / C²
//! ```
//!
//! at the point next to the camera. The quadratic form is expanded about the sample that sees the centre, in f64, so that its f32
//! coefficients do not cancel near the outline. No tessellation: outlines, depths and normals are those of the shape itself.

use spatial::{Mat3, Vec3};

use crate::projection::{Bounds, Projection, Rays};

type Vector = Vec3<f64>;

/// Something that is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Primitive {
    /// The item that it belongs to.
    pub item: u32,
    /// The index of its surface, or of the triangle of a mesh.
    pub face: u32,
    pub bounds: Bounds,
    /// The sample from which (u, v) are counted.
    pub origin: [f32; 2],
    /// Nearness, or its linear part.
    pub nearness: [f32; 3],
    pub kind: Kind,
}

/// The samples at which a primitive is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Where three linear functions are not negative: barycentric coordinates up to a factor.
    Triangle { edges: [[f32; 3]; 3] },
    /// Where a quadratic form is not negative, and its root is added to the nearness if `curved`.
    Conic { form: [f32; 6], curved: bool, slab: Option<Slab> },
}

/// |s₀ + s₁ u + s₂ v + slope w| ≤ limit w + constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slab {
    pub along: [f32; 3],
    pub slope: f32,
    pub limit: f32,
    pub constant: f32,
}

/// What the normal of a conic's surface follows from, in the camera's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Surface {
    /// The gradient A (p − c).
    Quadric { matrix: Mat3<f32>, centre: Vec3<f32> },
    /// The same everywhere.
    Flat { normal: Vec3<f32> },
}

/// Primitives of a picture, with the surfaces that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Primitives {
    pub list: Vec<Primitive>,
    pub surfaces: Vec<Surface>,
}

impl Primitives {
    pub fn clear(&mut self) {
        self.list.clear();
        self.surfaces.clear();
    }

    /// An ellipsoid about `centre` with semi-axes along the columns of `rot`, all in the camera's frame.
    pub fn ellipsoid(&mut self, at: &Projection, item: u32, rot: &Mat3<f64>, centre: Vector, radii: Vector) {
        let columns = [rot.x, rot.y, rot.z];
        let corners = corners(centre, [rot.x * radii.x, rot.y * radii.y, rot.z * radii.z]);
        let squares = radii.to_array().map(|r| 1.0 / (r * r));
        let matrix = (0..3).fold(Mat3::ZERO, |sum, k| sum + Mat3::outer(columns[k], columns[k]) * squares[k]);
        self.quadric(at, item, matrix, centre, &corners, None);
    }

    /// The side of a cylinder about `centre` along the third column of `rot`.
    pub fn cylinder_side(&mut self, at: &Projection, item: u32, rot: &Mat3<f64>, centre: Vector, r: f64, h: f64) {
        let axis = rot.z;
        let corners = corners(centre, [rot.x * r, rot.y * r, axis * h]);
        let matrix = (Mat3::outer(rot.x, rot.x) + Mat3::outer(rot.y, rot.y)) * (1.0 / (r * r));
        self.quadric(at, item, matrix, centre, &corners, Some((axis, h)));
    }

    fn quadric(
        &mut self,
        at: &Projection,
        item: u32,
        matrix: Mat3<f64>,
        centre: Vector,
        corners: &[Vector],
        slab: Option<(Vector, f64)>,
    ) {
        let Some(bounds) = at.bounds(corners) else { return };
        let origin = origin(at, centre, &bounds);
        let ac = matrix * centre;
        let (form, linear, slab) = match at.rays {
            Rays::Central => {
                let c = centre.dot(ac) - 1.0;
                // Seen from inside, a shape has no front.
                if c <= 1e-12 {
                    return;
                }
                let form = (Mat3::outer(ac, ac) - matrix * c) * (1.0 / (c * c));
                let slab = slab.map(|(axis, h)| Slab {
                    along: at.linear(axis, origin),
                    slope: -axis.dot(centre) as f32,
                    limit: h as f32,
                    constant: 0.0,
                });
                (form, ac * (1.0 / c), slab)
            }
            Rays::Parallel { offset } => {
                // The ray meets (p − c)ᵀ A (p − c) = 1 at p = L d + c + z e, with L = [e₁ e₂ c].
                let e = Vec3::new(0.0, 0.0, 1.0);
                let (ae, aee) = (matrix.z, matrix.z.z);
                if aee <= 1e-9 * (matrix.x.x + matrix.y.y) {
                    return;
                }
                let l = Mat3::from_columns(Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), centre);
                let inner = (Mat3::outer(ae, ae) - matrix * aee) * (1.0 / (aee * aee));
                let form = l.transpose() * inner * l + Mat3::outer(e, e) * (1.0 / aee);
                let slope = l.transpose_mul(ae) * (-1.0 / aee) - e * offset;
                let slab = slab.map(|(axis, h)| Slab {
                    along: at.linear(Vec3::new(axis.x, axis.y, axis.dot(centre) + axis.z * offset), origin),
                    slope: axis.z as f32,
                    limit: 0.0,
                    constant: h as f32,
                });
                (form, slope, slab)
            }
        };
        let kind = Kind::Conic { form: at.quadratic(&form, origin), curved: true, slab };
        let surface = Surface::Quadric { matrix: matrix.map(|x| x as f32), centre: centre.map(|x| x as f32) };
        self.push(item, surface, bounds, origin, at.linear(linear, origin), kind);
    }

    /// A disc that faces along `normal`.
    pub fn disc(&mut self, at: &Projection, item: u32, centre: Vector, normal: Vector, radius: f64) {
        let (x, y) = normal.tangents();
        let corners = corners(centre, [x * radius, y * radius, Vec3::ZERO]);
        let Some(bounds) = at.bounds(&corners) else { return };
        let origin = origin(at, centre, &bounds);
        let identity = Mat3::IDENTITY;
        let square = radius * radius;
        let (form, nearness) = match at.rays {
            Rays::Central => {
                let distance = normal.dot(centre);
                if distance >= 0.0 {
                    return;
                }
                let g = normal * (1.0 / distance);
                let m = identity - Mat3::outer(centre, g);
                (Mat3::outer(g, g) * square - m.transpose() * m, g)
            }
            Rays::Parallel { offset } => {
                if normal.z <= 1e-6 {
                    return;
                }
                let g = Vec3::new(normal.x, normal.y, normal.dot(centre)) * (-1.0 / normal.z);
                let e = Vec3::new(0.0, 0.0, 1.0);
                let m =
                    Mat3::from_columns(Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), centre) + Mat3::outer(e, g);
                (Mat3::outer(e, e) * square - m.transpose() * m, g - e * offset)
            }
        };
        let kind = Kind::Conic { form: at.quadratic(&form, origin), curved: false, slab: None };
        let surface = Surface::Flat { normal: normal.map(|x| x as f32) };
        self.push(item, surface, bounds, origin, at.linear(nearness, origin), kind);
    }

    /// The plane through `point`, as far as it is seen from above.
    pub fn plane(&mut self, at: &Projection, item: u32, point: Vector, normal: Vector) {
        let distance = normal.dot(point);
        if at.rays != Rays::Central || distance >= 0.0 {
            return;
        }
        let [columns, rows] = at.size.map(|n| n as u16);
        let bounds = Bounds { columns: [0, columns], rows: [0, rows] };
        let origin = middle(&bounds);
        let kind = Kind::Conic { form: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], curved: false, slab: None };
        let surface = Surface::Flat { normal: normal.map(|x| x as f32) };
        self.push(item, surface, bounds, origin, at.linear(normal * (1.0 / distance), origin), kind);
    }

    /// A rectangle with these half sides, that faces along their cross product.
    pub fn rectangle(&mut self, at: &Projection, item: u32, centre: Vector, x: Vector, y: Vector) {
        let corners = [centre - x - y, centre + x - y, centre + x + y, centre - x + y];
        let face = self.surfaces.len() as u32;
        let triangles = [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]];
        let seen = triangles.into_iter().filter_map(|t| triangle(at, item, face, t));
        let before = self.list.len();
        self.list.extend(seen);
        if self.list.len() > before {
            let normal = x.cross(y).normalized().unwrap_or_default();
            self.surfaces.push(Surface::Flat { normal: normal.map(|x| x as f32) });
        }
    }

    fn push(&mut self, item: u32, surface: Surface, bounds: Bounds, origin: [f64; 2], nearness: [f32; 3], kind: Kind) {
        let face = self.surfaces.len() as u32;
        self.surfaces.push(surface);
        self.list.push(Primitive { item, face, bounds, origin: origin.map(|x| x as f32), nearness, kind });
    }
}

/// A triangle, counter-clockwise as seen from outside; none where it shows its back or meets no sample.
pub(crate) fn triangle(at: &Projection, item: u32, face: u32, [a, b, c]: [Vector; 3]) -> Option<Primitive> {
    let bounds = at.bounds(&[a, b, c])?;
    let [columns, rows] = at.size;
    // One origin for all, so that both sides of an edge compute the same numbers.
    let origin = [(columns / 2) as f64, (rows / 2) as f64];
    let normal = cross(b - a, c - a);
    let (edges, nearness) = match at.rays {
        Rays::Central => {
            let distance = normal.dot(a);
            if distance >= 0.0 || distance.is_nan() {
                return None;
            }
            ([cross(c, b), cross(a, c), cross(b, a)], normal * (1.0 / distance))
        }
        Rays::Parallel { offset } => {
            if normal.z <= 0.0 || normal.z.is_nan() {
                return None;
            }
            // (q − p) × ((x, y) − p) as a linear function of (x, y, −1).
            let edge = |p: Vector, q: Vector| Vec3::new(-(q.y - p.y), q.x - p.x, -(p.x * q.y - p.y * q.x));
            let plane = Vec3::new(normal.x, normal.y, normal.dot(a)) * (-1.0 / normal.z);
            ([edge(b, c), edge(c, a), edge(a, b)], plane - Vec3::new(0.0, 0.0, offset))
        }
    };
    let kind = Kind::Triangle { edges: edges.map(|e| at.linear(e, origin)) };
    Some(Primitive {
        item,
        face,
        bounds,
        origin: origin.map(|x| x as f32),
        nearness: at.linear(nearness, origin),
        kind,
    })
}

/// A cross product that is exactly the opposite when its factors are swapped.
fn cross(a: Vector, b: Vector) -> Vector {
    Vec3::new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

fn corners(centre: Vector, [x, y, z]: [Vector; 3]) -> [Vector; 8] {
    std::array::from_fn(|k| {
        let side = |bit: usize, v: Vector| if k >> bit & 1 == 0 { -v } else { v };
        centre + side(0, x) + side(1, y) + side(2, z)
    })
}

/// The sample about which forms are expanded: the one that sees the centre, if there is one nearby.
fn origin(at: &Projection, centre: Vector, bounds: &Bounds) -> [f64; 2] {
    let far = 4.0 * at.size[0].max(at.size[1]) as f64;
    let sample = at.sample(centre);
    if at.sees(centre) && sample.iter().all(|x| x.abs() < far) { sample.map(f64::round) } else { middle(bounds) }
}

fn middle(bounds: &Bounds) -> [f64; 2] {
    [bounds.columns, bounds.rows].map(|[first, end]| f64::from((first + end) / 2))
}
