//! `<mesh builtin="…" params="…">`: meshes that MuJoCo makes, with its vertices; those of a convex one without triangles stand for their hull.

use geometry::MeshSurface;
use spatial::Vec3;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::mesh_files::TriangleSoup;

/// Points along each side of a grid, and vertices around a cone or a torus, at most: a million vertices.
const MAX_COUNT: f64 = 1000.0;

/// The mesh of this kind with these parameters.
pub(super) fn make(kind: &str, params: &[f64]) -> Result<TriangleSoup, String> {
    match (kind, params) {
        ("sphere", &[subdivision]) => Ok(sphere(count("subdivision", subdivision, [0.0, 4.0])?)),
        ("hemisphere", &[resolution]) => Ok(hemisphere(count("resolution", resolution, [0.0, 10.0])?)),
        ("cone", &[vertices, radius]) if (0.0..=1.0).contains(&radius) => {
            Ok(cone(count("vertices", vertices, [3.0, MAX_COUNT])?, radius))
        }
        ("cone", [_, radius]) => Err(format!("radius {radius}: expected 0 to 1")),
        ("supersphere", &[resolution, e, n]) if e >= 0.0 && n >= 0.0 => {
            Ok(supersphere(count("resolution", resolution, [3.0, MAX_COUNT])?, e, n))
        }
        ("supertorus", &[resolution, radius, s, t]) if s >= 0.0 && t >= 0.0 && radius > 0.0 && radius <= 1.0 => {
            Ok(supertorus(count("resolution", resolution, [4.0, MAX_COUNT])?, radius, [s, t]))
        }
        ("supersphere" | "supertorus", [_, _, _] | [_, _, _, _]) => {
            Err("expected exponents of 0 or more, and of a torus a radius above 0 and at most 1".into())
        }
        ("wedge", &[columns, rows, horizontal, vertical, fovea]) => {
            let columns = count("columns", columns, [1.0, MAX_COUNT])?;
            let rows = count("rows", rows, [1.0, MAX_COUNT])?;
            Ok(wedge([columns, rows], [horizontal, vertical], fovea))
        }
        ("plate", &[columns, rows]) => {
            Ok(plate(count("columns", columns, [2.0, MAX_COUNT])?, count("rows", rows, [2.0, MAX_COUNT])?))
        }
        ("box" | "cylinder" | "ellipsoid", &[x, y, z, dx, dy, dz]) => grid(kind, [x, y, z], [dx, dy, dz]),
        ("box" | "cylinder" | "ellipsoid", &[x, y, z, dx, dy, dz, 3.0]) => grid(kind, [x, y, z], [dx, dy, dz]),
        ("sphere" | "hemisphere", _) => Err(numbers(params, "1")),
        ("cone" | "plate", _) => Err(numbers(params, "2")),
        ("supersphere", _) => Err(numbers(params, "3")),
        ("supertorus", _) => Err(numbers(params, "4")),
        ("wedge", _) => Err(numbers(params, "5")),
        ("box" | "cylinder" | "ellipsoid", _) => Err(numbers(params, "6, and 3 where a seventh is given")),
        _ => {
            Err("expected sphere, hemisphere, cone, supersphere, supertorus, wedge, plate, box, cylinder or ellipsoid"
                .into())
        }
    }
}

fn numbers(params: &[f64], expected: &str) -> String {
    format!("params: {} numbers: expected {expected}", params.len())
}

/// A whole number within limits; fractions are cut off.
fn count(what: &str, value: f64, [least, most]: [f64; 2]) -> Result<usize, String> {
    match value.trunc() {
        number if number >= least && number <= most => Ok(number as usize),
        _ => Err(format!("{what} {value}: expected {least} to {most}")),
    }
}

fn soup(vertices: Vec<Vec3<f64>>, triangles: Vec<[usize; 3]>) -> TriangleSoup {
    let triangles = triangles.into_iter().map(|triangle| triangle.map(|k| k as u32)).collect();
    TriangleSoup { vertices, triangles, surface: MeshSurface::default() }
}

/// An icosahedron in the unit sphere whose triangles are divided into four, so many times.
fn sphere(subdivision: usize) -> TriangleSoup {
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let unit = |v: Vec3<f64>| v * (1.0 / v.norm());
    let mut vertices = Vec::new();
    for turn in 0..3 {
        for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
            let corner = [Vec3::new(a, b, 0.0), Vec3::new(0.0, a, b), Vec3::new(b, 0.0, a)][turn];
            vertices.push(unit(corner));
        }
    }
    let mut triangles = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..subdivision {
        let mut halves: BTreeMap<[usize; 2], usize> = BTreeMap::new();
        let mut half = |a: usize, b: usize| {
            *halves.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                vertices.push(unit(vertices[a] + vertices[b]));
                vertices.len() - 1
            })
        };
        let divide = |[a, b, c]: [usize; 3]| {
            let (ab, bc, ca) = (half(a, b), half(b, c), half(c, a));
            [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        };
        triangles = triangles.into_iter().flat_map(divide).collect();
    }
    soup(vertices, triangles)
}

/// The upper half of the unit sphere: a grid on the faces of an octahedron, carried to the sphere (rings of 4, 8, 12, … vertices from the pole
/// to the equator), and the middle of the base.
fn hemisphere(resolution: usize) -> TriangleSoup {
    let rings = resolution + 1;
    let mut vertices = vec![Vec3::new(0.0, 0.0, 1.0)];
    for ring in 1..=rings {
        vertices.extend((0..4 * ring).map(|k| {
            let (x, y, z) = ((ring - k % ring) as f64, (k % ring) as f64, (rings - ring) as f64);
            let (x, y) = [(x, y), (-y, x), (-x, -y), (y, -x)][k / ring];
            let corner = Vec3::new(x, y, z);
            corner * (1.0 / corner.norm())
        }));
    }
    let base = vertices.len();
    vertices.push(Vec3::ZERO);
    // Vertex k of a ring; the pole is one of no vertices.
    let at = |ring: usize, k: usize| if ring == 0 { 0 } else { 1 + 2 * ring * (ring - 1) + k % (4 * ring) };
    let mut triangles = Vec::new();
    for ring in 0..rings {
        for quarter in 0..4 {
            let (inner, outer) = (quarter * ring, quarter * (ring + 1));
            for k in 0..=ring {
                triangles.push([at(ring, inner + k), at(ring + 1, outer + k), at(ring + 1, outer + k + 1)]);
                if k < ring {
                    triangles.push([at(ring, inner + k), at(ring + 1, outer + k + 1), at(ring, inner + k + 1)]);
                }
            }
        }
    }
    triangles.extend((0..4 * rings).map(|k| [at(rings, k), base, at(rings, k + 1)]));
    soup(vertices, triangles)
}

/// A cone from z = −1, of radius 1, to z = 1; its points alone.
fn cone(sides: usize, radius: f64) -> TriangleSoup {
    let ring = |radius: f64, z: f64| {
        (0..sides).map(move |k| {
            let (y, x) = libm::sincos(TAU * k as f64 / sides as f64);
            Vec3::new(radius * x, radius * y, z)
        })
    };
    let mut vertices: Vec<Vec3<f64>> = ring(1.0, -1.0).collect();
    vertices.extend(ring(radius, 1.0).take(if radius == 0.0 { 1 } else { sides }));
    soup(vertices, Vec::new())
}

/// |x|^e with the sign of x; round-off of zeros stays zero.
fn signed_power(x: f64, e: f64) -> f64 {
    if x.abs() < 1e-12 { 0.0 } else { x.signum() * libm::pow(x.abs(), e) }
}

fn supersphere(resolution: usize, e: f64, n: f64) -> TriangleSoup {
    let mut vertices = vec![Vec3::new(0.0, 0.0, -1.0)];
    for ring in 1..resolution {
        let (z, level) = libm::sincos(PI * ring as f64 / resolution as f64 - FRAC_PI_2);
        vertices.extend((0..resolution).map(|k| {
            let (y, x) = libm::sincos(TAU * k as f64 / resolution as f64 - PI);
            let level = signed_power(level, n);
            Vec3::new(level * signed_power(x, e), level * signed_power(y, e), signed_power(z, n))
        }));
    }
    let top = vertices.len();
    vertices.push(Vec3::new(0.0, 0.0, 1.0));
    let at = |ring: usize, k: usize| 1 + ring * resolution + k % resolution;
    let mut triangles: Vec<[usize; 3]> = (0..resolution).map(|k| [0, at(0, k + 1), at(0, k)]).collect();
    for ring in 1..resolution - 1 {
        for k in 0..resolution {
            let [a, b, c, d] = [at(ring - 1, k), at(ring - 1, k + 1), at(ring, k), at(ring, k + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    triangles.extend((0..resolution).map(|k| [at(resolution - 2, k), at(resolution - 2, k + 1), top]));
    soup(vertices, triangles)
}

fn supertorus(resolution: usize, radius: f64, [s, t]: [f64; 2]) -> TriangleSoup {
    let angle = |k: usize| libm::sincos(TAU * k as f64 / resolution as f64);
    let mut vertices = Vec::new();
    for around in 0..resolution {
        let (y, x) = angle(around);
        for along in 0..resolution {
            let (z, out) = angle(along);
            let distance = 1.0 + radius * signed_power(out, s);
            let level = radius * signed_power(z, s);
            vertices.push(Vec3::new(distance * signed_power(x, t), distance * signed_power(y, t), level));
        }
    }
    let at = |around: usize, along: usize| around % resolution * resolution + along % resolution;
    let mut triangles = Vec::new();
    for (i, j) in (0..resolution).flat_map(|i| (0..resolution).map(move |j| (i, j))) {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
        triangles.extend([[a, b, c], [b, d, c]]);
    }
    soup(vertices, triangles)
}

/// Points of the unit sphere about −z, the middles of cells of a field of view, degrees.
fn wedge(counts: [usize; 2], fov: [f64; 2], fovea: f64) -> TriangleSoup {
    let fovea = fovea.clamp(0.0, 1.0);
    let edge = |k: usize, n: usize| {
        let x = 2.0 * k as f64 / n as f64 - 1.0;
        fovea * libm::pow(x, 5.0) + (1.0 - fovea) * x
    };
    let angles = |axis: usize| {
        let n = counts[axis];
        (0..n).map(move |k| fov[axis].to_radians() * 0.5 * (edge(k, n) + edge(k + 1, n)))
    };
    let point = |across: f64, up: f64| {
        let ((sx, cx), (sy, cy)) = (libm::sincos(across), libm::sincos(up));
        Vec3::new(sx * cy, sy, -cx * cy)
    };
    soup(angles(0).flat_map(|x| angles(1).map(move |y| point(x, y))).collect(), Vec::new())
}

/// The middles of the cells of a square at z = −1, and triangles between them.
fn plate(columns: usize, rows: usize) -> TriangleSoup {
    let middle = |k: usize, n: usize| -1.0 + (k as f64 + 0.5) * 2.0 / n as f64;
    let points = (0..columns).flat_map(|i| (0..rows).map(move |j| [i, j]));
    let vertices = points.map(|[i, j]| Vec3::new(middle(i, columns), middle(j, rows), -1.0)).collect();
    let at = |i: usize, j: usize| i * rows + j;
    let cells = (1..columns).flat_map(|i| (1..rows).map(move |j| [i, j]));
    let triangles = cells
        .flat_map(|[i, j]| [[at(i - 1, j - 1), at(i, j - 1), at(i - 1, j)], [at(i, j), at(i - 1, j), at(i, j - 1)]]);
    soup(vertices, triangles.collect())
}

/// The points of a grid on the surface of a box, or of what it becomes when it is made round; its points alone.
fn grid(kind: &str, counts: [f64; 3], spacing: [f64; 3]) -> Result<TriangleSoup, String> {
    let [nx, ny, nz] = counts;
    let counts = [
        count("count", nx, [2.0, MAX_COUNT])?,
        count("count", ny, [2.0, MAX_COUNT])?,
        count("count", nz, [2.0, MAX_COUNT])?,
    ];
    if !spacing.iter().all(|d| *d > 0.0) {
        return Err(format!("spacing {spacing:?}: expected numbers above 0"));
    }
    let mut vertices = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            let is_side = i == 0 || i + 1 == counts[0] || j == 0 || j + 1 == counts[1];
            let step = if is_side { 1 } else { counts[2] - 1 };
            for k in (0..counts[2]).step_by(step) {
                let at = [i, j, k];
                let unit: [f64; 3] = std::array::from_fn(|a| 2.0 * at[a] as f64 / (counts[a] - 1) as f64 - 1.0);
                let round = match kind {
                    "cylinder" => 2,
                    "ellipsoid" => 3,
                    _ => 0,
                };
                let norm = unit[..round].iter().map(|x| x * x).sum::<f64>().sqrt();
                let most = unit[..round].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                let scale = |a: usize| if a < round && norm > 0.0 { most / norm } else { 1.0 };
                let half = |a: usize| 0.5 * spacing[a] * (counts[a] - 1) as f64;
                vertices.push(Vec3::from(std::array::from_fn(|a| half(a) * scale(a) * unit[a])));
            }
        }
    }
    Ok(soup(vertices, Vec::new()))
}
