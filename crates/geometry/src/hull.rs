//! A convex hull prepared for contact queries: support points by walking, faces as polygons.

use spatial::Vec3;

/// A triangle belongs to a flat face when its corners are nearer to the face's plane than this share of the radius. Flat sides of meshes whose
/// coordinates have 32 bits are uneven by a tenth of that, and a body that stood now on one and then on another of their triangles would
/// never come to rest.
const FLAT: f64 = 1e-6;

/// The cosine between an axis and the normal of a face that is across it.
const ACROSS: f64 = 1.0 - 1e-8;

/// Vertices whose heights differ by less than this share of the radius are equally high.
const LEVEL: f64 = 1e-9;

/// Below this number of vertices looking at each is faster than walking along edges.
const WALK_FROM: usize = 20;

/// Directions are told apart by the squares of a cube that they go through, so many along an edge.
const SQUARES: usize = 8;

/// A convex polytope.
#[derive(Clone, Debug)]
pub(crate) struct Hull {
    pub vertices: Vec<Vec3<f64>>,
    /// Outward unit normal of each face.
    pub normals: Vec<Vec3<f64>>,
    /// Corners of face i, counter-clockwise from outside: `corners[face_start[i]..face_start[i + 1]]`.
    corners: Vec<u32>,
    face_start: Vec<u32>,
    /// Faces around vertex i: `faces[faces_start[i]..faces_start[i + 1]]`, ascending.
    faces: Vec<u32>,
    faces_start: Vec<u32>,
    /// Neighbours of vertex i: `neighbours[vertex_start[i]..vertex_start[i + 1]]`, ascending.
    neighbours: Vec<u32>,
    vertex_start: Vec<u32>,
    /// The vertex farthest along the middle of each square of directions: where walks begin.
    starts: Vec<u32>,
    /// The box around the hull: centre and half extents.
    pub centre: Vec3<f64>,
    pub half_extents: Vec3<f64>,
    /// Radius of the ball about `centre` that holds the hull.
    pub radius: f64,
    /// Corners of the largest face.
    pub largest_face: usize,
    /// The faces across x, −x, y, −y, z and −z.
    sides: [Option<u32>; 6],
}

/// The tables of a hull that queries walk over, for those who make such queries elsewhere. Ranges are pairs of first and end.
#[derive(Clone, Debug, Default)]
pub struct HullTables {
    /// In the shape's frame, m.
    pub vertices: Vec<Vec3<f64>>,
    /// Of each vertex its neighbours, and the faces around it.
    pub vertex_ranges: Vec<[u32; 4]>,
    /// Vertices that share an edge, vertex after vertex.
    pub neighbours: Vec<u32>,
    /// The faces around vertices, vertex after vertex.
    pub faces: Vec<u32>,
    /// Outward unit normals of faces.
    pub normals: Vec<Vec3<f64>>,
    /// Of each face its corners.
    pub face_ranges: Vec<[u32; 2]>,
    /// The corners of faces, counter-clockwise from outside, face after face.
    pub corners: Vec<u32>,
    /// The vertex farthest along the middle of each square of directions; none of a hull of few vertices.
    pub starts: Vec<u32>,
}

impl Hull {
    /// Its tables.
    pub fn tables(&self) -> HullTables {
        let range = |of: &[u32], i: usize| [of[i], of[i + 1]];
        let of_vertex = |i| {
            let ([a, b], [c, d]) = (range(&self.vertex_start, i), range(&self.faces_start, i));
            [a, b, c, d]
        };
        HullTables {
            vertex_ranges: (0..self.vertices.len()).map(of_vertex).collect(),
            face_ranges: (0..self.normals.len()).map(|face| range(&self.face_start, face)).collect(),
            vertices: self.vertices.clone(),
            neighbours: self.neighbours.clone(),
            faces: self.faces.clone(),
            normals: self.normals.clone(),
            corners: self.corners.clone(),
            starts: self.starts.clone(),
        }
    }

    /// The hull with these vertices and triangles, of which there are some.
    pub fn new(vertices: &[Vec3<f64>], triangles: &[[u32; 3]]) -> Self {
        let vertices = vertices.to_vec();
        let (mut low, mut high) = (vertices[0], vertices[0]);
        for v in &vertices {
            low = Vec3::new(low.x.min(v.x), low.y.min(v.y), low.z.min(v.z));
            high = Vec3::new(high.x.max(v.x), high.y.max(v.y), high.z.max(v.z));
        }
        let centre = (low + high) * 0.5;
        let radius = vertices.iter().map(|&v| (v - centre).norm()).fold(0.0, f64::max);
        let (neighbours, vertex_start) = adjacency(vertices.len(), triangles);
        let faces = merged_faces(&vertices, radius, triangles);
        // Also those within a face, which may be lower than its corners by a hair.
        let around = faces
            .iter()
            .enumerate()
            .flat_map(|(f, Face { vertices, .. })| vertices.iter().map(move |&v| [v, f as u32]));
        let (around, faces_start) = grouped(vertices.len(), around.collect());
        let mut hull = Self {
            faces: around,
            faces_start,
            starts: Vec::new(),
            sides: [None; 6],
            centre,
            half_extents: (high - low) * 0.5,
            radius,
            largest_face: faces.iter().map(|f| f.corners.len()).max().unwrap_or(0),
            normals: faces.iter().map(|f| f.normal).collect(),
            face_start: std::iter::once(0)
                .chain(faces.iter().scan(0, |end, f| {
                    *end += f.corners.len() as u32;
                    Some(*end)
                }))
                .collect(),
            corners: faces.into_iter().flat_map(|f| f.corners).collect(),
            neighbours,
            vertex_start,
            vertices,
        };
        if hull.vertices.len() >= WALK_FROM {
            let mut at = 0;
            let walk = |direction| {
                at = hull.walk(at, direction);
                at as u32
            };
            hull.starts = middles().map(walk).collect();
        }
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let ends = [0, 1, 2, 3, 4, 5].map(|i| axes[i / 2] * if i % 2 == 0 { 1.0 } else { -1.0 });
        hull.sides = ends.map(|end| {
            let face = hull.facing(end).filter(|&face| hull.normals[face].dot(end) > ACROSS);
            face.map(|face| face as u32)
        });
        hull
    }

    /// The vertex farthest along `direction`.
    #[inline]
    pub fn support(&self, direction: Vec3<f64>) -> Vec3<f64> {
        self.vertices[self.support_index(direction)]
    }

    /// Index of the vertex farthest along `direction`.
    pub fn support_index(&self, direction: Vec3<f64>) -> usize {
        if self.vertices.len() < WALK_FROM {
            return self.farthest_of_all(direction);
        }
        self.walk(self.starts[square(direction)] as usize, direction)
    }

    /// The vertex farthest along `direction`, by way of higher and higher ones from this one on.
    #[inline(always)]
    fn walk(&self, mut at: usize, direction: Vec3<f64>) -> usize {
        let mut top = self.vertices[at].dot(direction);
        loop {
            let (mut next, mut next_top) = (at, top);
            for &j in self.neighbours_of(at) {
                let height = self.vertices[j as usize].dot(direction);
                if height > next_top {
                    (next, next_top) = (j as usize, height);
                }
            }
            if next == at {
                return at;
            }
            (at, top) = (next, next_top);
        }
    }

    /// Whether an edge at the vertex farthest along a unit vector is across it within a small angle.
    pub fn is_along(&self, direction: Vec3<f64>, angle: f64) -> bool {
        let vertex = self.support_index(direction);
        self.neighbours_of(vertex).iter().any(|&i| {
            let edge = self.vertices[i as usize] - self.vertices[vertex];
            let rise = edge.dot(direction);
            rise * rise <= angle * angle * edge.norm_squared()
        })
    }

    fn farthest_of_all(&self, direction: Vec3<f64>) -> usize {
        let (mut best, mut top) = (0, f64::NEG_INFINITY);
        for (i, v) in self.vertices.iter().enumerate() {
            let h = v.dot(direction);
            if h > top {
                (best, top) = (i, h);
            }
        }
        best
    }

    /// Vertices that share an edge with vertex `i`.
    pub fn neighbours_of(&self, i: usize) -> &[u32] {
        &self.neighbours[self.vertex_start[i] as usize..self.vertex_start[i + 1] as usize]
    }

    /// Corners of face `i`.
    pub fn face(&self, i: usize) -> impl Iterator<Item = Vec3<f64>> + '_ {
        let range = self.face_start[i] as usize..self.face_start[i + 1] as usize;
        self.corners[range].iter().map(|&c| self.vertices[c as usize])
    }

    /// Of the faces around the vertices farthest along the unit vector `direction`, the one that faces it most.
    pub fn facing(&self, direction: Vec3<f64>) -> Option<usize> {
        let (mut best, mut most) = (None, f64::NEG_INFINITY);
        self.each_face_near(direction, |face| {
            let cosine = self.normals[face].dot(direction);
            if cosine > most {
                (best, most) = (Some(face), cosine);
            }
        });
        best
    }

    /// The face across an axis (0, 1, 2 for x, y, z) at its end of this sign.
    pub fn side(&self, axis: usize, sign: f64) -> Option<usize> {
        self.sides[2 * axis + usize::from(sign < 0.0)].map(|face| face as usize)
    }

    /// How far inside a face a point is, seen along the face's normal; negative outside.
    pub fn margin(&self, face: usize, point: Vec3<f64>) -> f64 {
        let normal = self.normals[face];
        let mut least = f64::INFINITY;
        let Some(mut from) = self.face(face).last() else { return f64::NEG_INFINITY };
        for to in self.face(face) {
            let edge = to - from;
            let length = edge.norm();
            if length > 0.0 {
                least = least.min(edge.cross(point - from).dot(normal) / length);
            }
            if least < 0.0 {
                break;
            }
            from = to;
        }
        least
    }

    /// Visits the faces around the vertices farthest along the unit vector `direction`, some of them more than once.
    #[inline(always)]
    pub fn each_face_near(&self, direction: Vec3<f64>, mut visit: impl FnMut(usize)) {
        let vertex = self.support_index(direction);
        let top = self.vertices[vertex].dot(direction);
        // Both ends of an edge that lies across the direction count, whichever round-off lifts.
        let level = |&&i: &&u32| self.vertices[i as usize].dot(direction) >= top - LEVEL * self.radius;
        for i in self.neighbours_of(vertex).iter().filter(level).map(|&i| i as usize).chain([vertex]) {
            let around = self.faces_start[i] as usize..self.faces_start[i + 1] as usize;
            self.faces[around].iter().for_each(|&face| visit(face as usize));
        }
    }
}

/// The square of a cube that a direction goes through.
#[inline(always)]
fn square(direction: Vec3<f64>) -> usize {
    let Vec3 { x, y, z, .. } = direction;
    let (side, across, u, v) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
        (0, x, y, z)
    } else if y.abs() >= z.abs() {
        (1, y, z, x)
    } else {
        (2, z, x, y)
    };
    // What is no number is in the first one.
    let scale = 0.5 * SQUARES as f64 / across.abs();
    let place = |w: f64| (w.mul_add(scale, 0.5 * SQUARES as f64) as usize).min(SQUARES - 1);
    ((2 * side + usize::from(across < 0.0)) * SQUARES + place(u)) * SQUARES + place(v)
}

/// The middles of all squares in their order.
fn middles() -> impl Iterator<Item = Vec3<f64>> {
    let place = |i: usize| (2 * i + 1) as f64 / SQUARES as f64 - 1.0;
    (0..6 * SQUARES * SQUARES).map(move |i| {
        let (side, u, v) = (i / (SQUARES * SQUARES), place(i / SQUARES % SQUARES), place(i % SQUARES));
        let across = if side % 2 == 0 { 1.0 } else { -1.0 };
        match side / 2 {
            0 => Vec3::new(across, u, v),
            1 => Vec3::new(v, across, u),
            _ => Vec3::new(u, v, across),
        }
    })
}

/// Second entries of the pairs by first entry, and where each group of 0..n begins.
fn grouped(n: usize, mut pairs: Vec<[u32; 2]>) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let start = (0..=n as u32).map(|i| pairs.partition_point(|e| e[0] < i) as u32).collect();
    (pairs.into_iter().map(|e| e[1]).collect(), start)
}

fn adjacency(n: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]]);
    grouped(n, edges.collect())
}

/// A flat face.
struct Face {
    /// Its outline, counter-clockwise from outside.
    corners: Vec<u32>,
    /// The vertices of its triangles, some more than once.
    vertices: Vec<u32>,
    /// Outward unit normal.
    normal: Vec3<f64>,
}

/// Flat faces: sets of connected triangles in one plane.
fn merged_faces(vertices: &[Vec3<f64>], radius: f64, triangles: &[[u32; 3]]) -> Vec<Face> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| vertices[i as usize]);
        (b - a).cross(c - a)
    };
    // Large triangles first: their normals are the most accurate, so they name the plane of their face.
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| area(&triangles[j]).norm().total_cmp(&area(&triangles[i]).norm()).then(i.cmp(&j)));
    let mut half_edges: Vec<([u32; 2], usize)> =
        triangles.iter().enumerate().flat_map(|(t, &[a, b, c])| [([a, b], t), ([b, c], t), ([c, a], t)]).collect();
    half_edges.sort_unstable();
    let across = |a: u32, b: u32| {
        let i = half_edges.binary_search_by(|(edge, _)| edge.cmp(&[b, a])).ok()?;
        Some(half_edges[i].1)
    };
    let mut face_of = vec![usize::MAX; triangles.len()];
    let mut faces = vec![];
    for seed in order {
        if face_of[seed] != usize::MAX {
            continue;
        }
        let Some(normal) = area(&triangles[seed]).normalized() else { continue };
        let foot = vertices[triangles[seed][0] as usize];
        let is_in_plane = |t: &[u32; 3]| {
            let is_near = |&i: &u32| (vertices[i as usize] - foot).dot(normal).abs() <= FLAT * radius;
            // The other side of a thin plate is as near.
            t.iter().all(is_near) && area(t).dot(normal) >= 0.0
        };
        let face = faces.len();
        face_of[seed] = face;
        let mut members = vec![seed];
        let mut next = 0;
        while next < members.len() {
            let [a, b, c] = triangles[members[next]];
            next += 1;
            for (p, q) in [(a, b), (b, c), (c, a)] {
                let Some(t) = across(p, q) else { continue };
                if face_of[t] == usize::MAX && is_in_plane(&triangles[t]) {
                    face_of[t] = face;
                    members.push(t);
                }
            }
        }
        let sum = members.iter().fold(Vec3::ZERO, |sum, &t| sum + area(&triangles[t]));
        faces.push(Face {
            corners: outline(triangles, &members, |p, q| across(p, q).is_some_and(|t| face_of[t] == face)),
            vertices: members.iter().flat_map(|&t| triangles[t]).collect(),
            normal: sum.normalized().unwrap_or(normal),
        });
    }
    faces.retain(|face| face.corners.len() >= 3);
    faces
}

/// The border of a set of triangles, as one loop.
fn outline(triangles: &[[u32; 3]], members: &[usize], inner: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut border: Vec<[u32; 2]> = members
        .iter()
        .flat_map(|&t| {
            let [a, b, c] = triangles[t];
            [[a, b], [b, c], [c, a]]
        })
        .filter(|&[p, q]| !inner(p, q))
        .collect();
    border.sort_unstable();
    let Some(&[first, _]) = border.first() else { return vec![] };
    let mut corners = vec![first];
    let mut at = first;
    while let Ok(i) = border.binary_search_by(|e| e[0].cmp(&at)) {
        at = border[i][1];
        if at == first || corners.len() > border.len() {
            break;
        }
        corners.push(at);
    }
    corners
}

#[cfg(test)]
mod tests {
    use spatial::Quat;

    use super::*;

    fn hull_of(points: Vec<Vec3<f64>>) -> Hull {
        let mesh = crate::Mesh::new("mesh", points, vec![]).unwrap();
        let crate::Surface { vertices, triangles } = mesh.hull().unwrap();
        Hull::new(vertices, triangles)
    }

    fn ball(n: usize) -> Hull {
        // A spiral of points on the sphere, none of them symmetric.
        let points = (0..n)
            .map(|i| {
                let z = 1.0 - 2.0 * (i as f64 + 0.5) / n as f64;
                let (r, phi) = ((1.0 - z * z).sqrt(), 2.4 * i as f64);
                Vec3::new(r * libm::cos(phi), r * libm::sin(phi), z)
            })
            .collect();
        hull_of(points)
    }

    #[test]
    fn squares_are_those_of_their_middles() {
        assert!(middles().enumerate().all(|(i, middle)| square(middle * 3.0) == i));
        let none = [Vec3::ZERO, Vec3::new(f64::NAN, 1.0, 0.0), Vec3::new(0.0, f64::INFINITY, f64::INFINITY)];
        assert!(none.into_iter().all(|direction| square(direction) < 6 * SQUARES * SQUARES));
    }

    #[test]
    fn walking_finds_the_farthest_vertex() {
        let hull = ball(300);
        assert_eq!(hull.vertices.len(), 300);
        for i in 0..200 {
            let a = i as f64;
            let d = Vec3::new(libm::sin(a), libm::cos(1.7 * a), libm::sin(0.3 * a + 1.0));
            assert_eq!(hull.support_index(d), hull.farthest_of_all(d));
        }
    }

    #[test]
    fn coplanar_triangles_make_one_face() {
        let corners = (0..8).map(|i| Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)).collect();
        let hull = hull_of(corners);
        assert_eq!(hull.normals.len(), 6);
        for i in 0..6 {
            let face: Vec<_> = hull.face(i).collect();
            assert_eq!(face.len(), 4);
            for k in 0..4 {
                let turn = (face[(k + 1) % 4] - face[k]).cross(face[(k + 2) % 4] - face[k]);
                assert!(turn.dot(hull.normals[i]) > 0.9);
            }
        }
        assert_eq!(hull.largest_face, 4);
    }

    #[test]
    fn sides_that_are_flat_but_for_their_last_digits_are_one_face() {
        // A can of 26 sides, turned, with the digits of 32 bits; points of its caps are no corners.
        let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.0);
        let ring = |radius: f64| {
            (0..52).map(move |i| {
                let angle = (i / 2) as f64 * std::f64::consts::TAU / 26.0;
                let z = if i % 2 == 0 { -0.04 } else { 0.04 };
                Vec3::new(radius * libm::cos(angle), radius * libm::sin(angle), z)
            })
        };
        let points = ring(0.025).chain(ring(0.017)).map(|p| (turn * p).map(|x| f64::from(x as f32)));
        let hull = hull_of(points.collect());
        assert_eq!(hull.normals.len(), 28);
        for end in [turn * Vec3::new(0.0, 0.0, 1.0), turn * Vec3::new(0.0, 0.0, -1.0)] {
            let mut corners = Vec::new();
            for tilt in 0..20 {
                let aside = Vec3::new(libm::sin(tilt as f64), libm::cos(tilt as f64), 0.5) * 1e-7;
                let face = hull.facing((end + aside).normalized().unwrap()).unwrap();
                assert!((hull.normals[face] - end).norm() < 1e-6);
                corners.push(hull.face(face).count());
            }
            assert!(corners.iter().all(|&n| n >= 26), "{corners:?}");
        }
    }
}
