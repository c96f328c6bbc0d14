//! Nodes and elements of `<flexcomp>`, numbered as MuJoCo numbers them.

use std::collections::BTreeSet;
use std::f64::consts::PI;

use spatial::{Pose, Vec3};

use super::Reader;
use super::asset_files::Files;
use super::defaults::Attributes;
use crate::LoadError;
use crate::mesh_files::{self, volume};
use crate::xml::Element;

/// Most nodes along one axis of a grid.
const MAX_COUNT: usize = 257;

/// The corners of a cell, by bits x, y, z from high to low, in six tetrahedra.
const SIX: [[usize; 4]; 6] = [[0, 2, 4, 3], [0, 4, 1, 3], [4, 2, 6, 3], [4, 6, 7, 3], [4, 5, 1, 3], [4, 7, 5, 3]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Grid,
    Box,
    Cylinder,
    Ellipsoid,
    Direct,
    Gmsh,
    Mesh,
    Square,
    Disc,
    Circle,
}

pub(super) const KINDS: [(&str, Kind); 10] = [
    ("grid", Kind::Grid),
    ("box", Kind::Box),
    ("cylinder", Kind::Cylinder),
    ("ellipsoid", Kind::Ellipsoid),
    ("direct", Kind::Direct),
    ("gmsh", Kind::Gmsh),
    ("mesh", Kind::Mesh),
    ("square", Kind::Square),
    ("disc", Kind::Disc),
    ("circle", Kind::Circle),
];

/// What is inside a box, a cylinder or an ellipsoid of dimension 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// A grid.
    Grid,
    /// One node in the middle, as in MuJoCo.
    Middle,
}

/// Nodes and elements in the frame of the parent body.
#[derive(Default)]
pub(super) struct Mesh {
    pub nodes: Vec<Vec3<f64>>,
    /// Indices of nodes, `corners` for each element.
    pub elements: Vec<u32>,
    /// Nodes of an element: 2 to 4.
    pub corners: usize,
    /// Nodes along each axis, of grids.
    pub counts: Option<[usize; 3]>,
}

impl Mesh {
    /// The pairs of nodes of an element, each once, the lower first.
    pub fn edges(&self) -> BTreeSet<[u32; 2]> {
        let pairs = |nodes: &[u32]| {
            let pair = |&a: &u32, &b: &u32| [a.min(b), a.max(b)];
            nodes.iter().enumerate().flat_map(|(k, a)| nodes[..k].iter().map(move |b| pair(a, b))).collect::<Vec<_>>()
        };
        self.elements.chunks_exact(self.corners).flat_map(pairs).collect()
    }

    /// Without the nodes that no element has; `marked` are indices of some, which change with them.
    pub fn without_loose_nodes(mut self, marked: Vec<u32>) -> (Self, Vec<u32>) {
        let mut new = vec![None; self.nodes.len()];
        self.elements.iter().for_each(|node| new[*node as usize] = Some(0));
        for (index, new) in new.iter_mut().flatten().enumerate() {
            *new = index as u32;
        }
        self.elements.iter_mut().for_each(|node| *node = new[*node as usize].unwrap_or_default());
        let mut kept = new.iter();
        self.nodes.retain(|_| kept.next().is_some_and(Option::is_some));
        let marked = marked.into_iter().filter_map(|node| new[node as usize]).collect();
        (self, marked)
    }
}

impl<'a> Reader<'_, 'a> {
    /// The nodes of a `<flexcomp>` in the frame of its parent body, in which its own frame has this pose.
    pub(super) fn flex_mesh(
        &self,
        attributes: &Attributes<'_, 'a>,
        pose: Pose<f64>,
        inside: Inside,
    ) -> Result<Mesh, LoadError> {
        let element = attributes.element();
        let kind = attributes.keyword("type", &KINDS)?.unwrap_or(Kind::Grid);
        let dimension = match attributes.integer("dim")?.unwrap_or(2) {
            dimension @ 1..=3 => dimension as usize,
            dimension => return Err(element.error(format!("dim=\"{dimension}\": expected 1, 2 or 3"))),
        };
        let mut mesh = match kind {
            Kind::Direct => direct(attributes, dimension)?,
            Kind::Gmsh | Kind::Mesh => {
                let files = Files { base: self.parts.base.as_deref(), compiler: &self.compiler };
                let path = files.path(element, element.required("file")?)?;
                let read = if kind == Kind::Gmsh { of_gmsh(&path) } else { of_surface(&path, dimension) };
                read.map_err(|error| element.error(error.to_string()))?
            }
            _ => made(kind, dimension, attributes, inside)?,
        };
        // What has places of its own is scaled.
        let scale: [f64; 3] = attributes.array("scale")?.unwrap_or([1.0; 3]);
        let scale = if matches!(kind, Kind::Direct | Kind::Gmsh | Kind::Mesh) { scale } else { [1.0; 3] };
        for node in &mut mesh.nodes {
            *node = pose.transform_point(Vec3::new(node.x * scale[0], node.y * scale[1], node.z * scale[2]));
        }
        let count = mesh.nodes.len() as u32;
        if mesh.elements.is_empty() || mesh.elements.len() % mesh.corners != 0 {
            return Err(element.error(format!("elements: expected some, of {} nodes each", mesh.corners)));
        }
        if let Some(node) = mesh.elements.iter().find(|node| **node >= count) {
            return Err(element.error(format!("element: node {node}: expected nodes from 0 to {}", count.max(1) - 1)));
        }
        Ok(mesh)
    }
}

fn direct(attributes: &Attributes<'_, '_>, dimension: usize) -> Result<Mesh, LoadError> {
    let element = attributes.element();
    let points = attributes.numbers("point")?.ok_or_else(|| element.error("no attribute `point`: expected nodes"))?;
    if points.len() % 3 != 0 {
        return Err(element.error(format!("point: {} numbers: expected three for each node", points.len())));
    }
    let nodes = points.as_chunks::<3>().0.iter().map(|x| Vec3::from(*x)).collect();
    Ok(Mesh { nodes, elements: indices(element, "element")?, corners: dimension + 1, counts: None })
}

fn of_gmsh(path: &std::path::Path) -> Result<Mesh, mesh_files::MeshFileError> {
    let mesh = volume::read_any(path)?;
    Ok(Mesh { nodes: mesh.nodes, elements: mesh.elements, corners: mesh.nodes_per_element, counts: None })
}

/// The lines of an OBJ file, or the triangles of any mesh, with the origin where the dimension is 3.
fn of_surface(path: &std::path::Path, dimension: usize) -> Result<Mesh, mesh_files::MeshFileError> {
    if dimension == 1 {
        let (nodes, elements) = mesh_files::obj::segments(path)?;
        return Ok(Mesh { nodes, elements, corners: 2, counts: None });
    }
    let mesh_files::TriangleSoup { vertices: mut nodes, triangles, .. } = mesh_files::read(path)?;
    let elements = match dimension {
        2 => triangles.into_flattened(),
        _ => {
            let volume = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|k| nodes[k as usize]);
                a.cross(b).dot(c)
            };
            let kept = triangles.iter().filter(|t| volume(t) >= 1e-15);
            let elements = kept.flat_map(|[a, b, c]| [0, a + 1, b + 1, c + 1]).collect();
            nodes.insert(0, Vec3::ZERO);
            elements
        }
    };
    Ok(Mesh { nodes, elements, corners: dimension + 1, counts: None })
}

/// What `count` and `spacing` make.
fn made(kind: Kind, dimension: usize, attributes: &Attributes<'_, '_>, inside: Inside) -> Result<Mesh, LoadError> {
    let counts = counts(attributes)?;
    let spacing = attributes.array::<3>("spacing")?.unwrap_or([0.02; 3]);
    if let Some(got) = spacing.iter().find(|s| !(**s > 0.0 && s.is_finite())) {
        return Err(attributes.source("spacing").error(format!("spacing: {got}: expected three numbers above 0, m")));
    }
    let is_solid = matches!(kind, Kind::Box | Kind::Cylinder | Kind::Ellipsoid);
    let axes = match (kind, dimension) {
        (Kind::Square | Kind::Disc, _) => 2,
        _ if is_solid => 3,
        _ => dimension,
    };
    if let Some(got) = counts[..axes].iter().find(|n| **n < 2) {
        let word = ["no integers", "an integer", "two integers", "three integers"][axes];
        return Err(attributes.source("count").error(format!("count: {got}: expected {word} from 2 to {MAX_COUNT}")));
    }
    Ok(match (kind, dimension) {
        (Kind::Circle, 1) => circle(counts[0], spacing[0]),
        (Kind::Square | Kind::Disc, _) | (_, 2) if !is_solid => sheet(kind, counts, spacing),
        (_, 1) if !is_solid => line(counts[0], spacing[0]),
        (_, 3) if !is_solid || inside == Inside::Grid => grid(kind, counts, spacing),
        _ => shell(kind, dimension, counts, spacing),
    })
}

/// Numbers of nodes along the axes of a grid.
fn counts(attributes: &Attributes<'_, '_>) -> Result<[usize; 3], LoadError> {
    let counts = attributes.array::<3>("count")?.unwrap_or([10.0; 3]);
    let valid = |n: f64| n.fract() == 0.0 && (1.0..=MAX_COUNT as f64).contains(&n);
    if let Some(got) = counts.iter().find(|n| !valid(**n)) {
        let message = format!("count: {got}: expected three integers from 1 to {MAX_COUNT}");
        return Err(attributes.source("count").error(message));
    }
    let counts = counts.map(|n| n as usize);
    let nodes = counts.iter().product::<usize>();
    if nodes > deformable::MAX_NODES {
        let message = format!("count: {nodes} nodes: expected at most {}", deformable::MAX_NODES);
        return Err(attributes.source("count").error(message));
    }
    Ok(counts)
}

fn line(count: usize, spacing: f64) -> Mesh {
    let nodes = (0..count).map(|k| Vec3::new(spacing * (k as f64 - 0.5 * (count - 1) as f64), 0.0, 0.0)).collect();
    let elements = (1..count as u32).flat_map(|k| [k - 1, k]).collect();
    Mesh { nodes, elements, corners: 2, counts: None }
}

/// A polygon of one node less than counted, whose sides have this length.
fn circle(count: usize, spacing: f64) -> Mesh {
    let sides = (count - 1).max(1);
    let angle = 2.0 * PI / sides as f64;
    let radius = spacing / libm::sin(angle / 2.0) / 2.0;
    let node = |k: usize| {
        let (sine, cosine) = libm::sincos(angle * k as f64);
        Vec3::new(radius * cosine, radius * sine, 0.0)
    };
    let elements = (0..sides).flat_map(|k| [k as u32, ((k + 1) % sides) as u32]).collect();
    Mesh { nodes: (0..sides).map(node).collect(), elements, corners: 2, counts: None }
}

/// A grid in a plane, y fastest, and two triangles in each cell; a disc as MuJoCo draws it in.
fn sheet(kind: Kind, [nx, ny, _]: [usize; 3], spacing: [f64; 3]) -> Mesh {
    const NEXT: f64 = 1e-14;
    let half = [0.5 * spacing[0] * (nx - 1) as f64, 0.5 * spacing[1] * (ny - 1) as f64];
    let at = |i: usize, j: usize| [spacing[0] * i as f64 - half[0], spacing[1] * j as f64 - half[1]];
    let (mut nodes, mut elements) = (Vec::with_capacity(nx * ny), Vec::new());
    for (i, j, _) in triples([nx, ny, 1]) {
        let [x, y] = at(i, j);
        let length = (x * x + y * y).sqrt();
        let inwards = match kind {
            Kind::Disc if length > 0.0 => x.abs().max(y.abs()) / length,
            _ => 1.0,
        };
        let size = if kind == Kind::Disc { half } else { [1.0; 2] };
        nodes.push(Vec3::new(x * inwards * size[0], y * inwards * size[1], 0.0));
        if i + 1 == nx || j + 1 == ny {
            continue;
        }
        let corner = |di: usize, dj: usize| ((i + di) * ny + j + dj) as u32;
        let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        let is_turned = (x < -NEXT && y > -NEXT) || (x > -NEXT && y < -NEXT);
        match kind == Kind::Disc && is_turned {
            true => elements.extend([a, b, d, b, c, d]),
            false => elements.extend([a, b, c, a, c, d]),
        }
    }
    Mesh { nodes, elements, corners: 3, counts: Some([nx, ny, 1]) }
}

/// A grid of nodes about the origin, z fastest, in the given shape, and six tetrahedra in each cell.
fn grid(kind: Kind, counts: [usize; 3], spacing: [f64; 3]) -> Mesh {
    let [nx, ny, nz] = counts;
    let nodes = triples(counts).map(|(i, j, k)| placed(kind, counts, spacing, [i, j, k])).collect();
    let index = |i: usize, j: usize, k: usize| ((i * ny + j) * nz + k) as u32;
    let mut elements = Vec::with_capacity(24 * (nx - 1) * (ny - 1) * (nz - 1));
    for (i, j, k) in triples([nx - 1, ny - 1, nz - 1]) {
        for tetrahedron in SIX {
            elements
                .extend(tetrahedron.map(|corner| index(i + (corner >> 2), j + (corner >> 1 & 1), k + (corner & 1))));
        }
    }
    Mesh { nodes, elements, corners: 4, counts: Some(counts) }
}

/// The surface of the grid: two triangles in each cell. Where the dimension is 3, they are joined with a node in the middle; else the
/// surface is open above, as MuJoCo has it.
fn shell(kind: Kind, dimension: usize, counts: [usize; 3], spacing: [f64; 3]) -> Mesh {
    let [nx, ny, nz] = counts;
    let is_end = |axis: usize, k: usize| k == 0 || k + 1 == counts[axis];
    let mut places = Vec::new();
    let is_open = dimension == 2;
    let ends = |n: usize| [0, n - 1];
    let lids = &ends(nz)[..if is_open { 1 } else { 2 }];
    places.extend(lids.iter().flat_map(|&k| triples([nx, ny, 1]).map(move |(i, j, _)| [i, j, k])));
    let between = |k: &usize| if is_open { *k > 0 } else { !is_end(2, *k) };
    places.extend(
        ends(ny)
            .into_iter()
            .flat_map(|j| (0..nx).flat_map(move |i| (0..nz).map(move |k| [i, j, k])))
            .filter(|[_, _, k]| between(k)),
    );
    places.extend(
        ends(nx)
            .into_iter()
            .flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])))
            .filter(|[_, j, k]| between(k) && !is_end(1, *j)),
    );
    let middle = usize::from(dimension == 3);
    let mut index = vec![0; nx * ny * nz];
    let mut nodes = vec![Vec3::ZERO; middle];
    for (number, at) in places.into_iter().enumerate() {
        index[(at[0] * ny + at[1]) * nz + at[2]] = (number + middle) as u32;
        nodes.push(placed(kind, counts, spacing, at));
    }
    let mut elements = Vec::new();
    for (axis, [u, v]) in [(2, [0, 1]), (1, [0, 2]), (0, [1, 2])] {
        for end in ends(counts[axis]).into_iter().filter(|end| !(is_open && axis == 2 && *end > 0)) {
            for (a, b, _) in triples([counts[u] - 1, counts[v] - 1, 1]) {
                let corner = |da: usize, db: usize| {
                    let mut at = [0; 3];
                    (at[axis], at[u], at[v]) = (end, a + da, b + db);
                    index[(at[0] * ny + at[1]) * nz + at[2]]
                };
                let [from, across, opposite, along] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                // The diagonals of shells are MuJoCo's.
                let is_other = dimension == 2 && ((axis == 1 && end > 0) || (axis == 0 && end == 0));
                let triangles = match is_other {
                    true => [[across, from, along], [across, along, opposite]],
                    false => [[from, across, opposite], [from, along, opposite]],
                };
                for triangle in triangles {
                    elements.extend((0..middle as u32).chain(triangle));
                }
            }
        }
    }
    Mesh { nodes, elements, corners: dimension + 1, counts: None }
}

fn triples([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))))
}

/// A node of a grid about the origin in the given shape: shells of the cube become shells of a cylinder or a ball.
fn placed(kind: Kind, counts: [usize; 3], spacing: [f64; 3], at: [usize; 3]) -> Vec3<f64> {
    let directions = match kind {
        Kind::Cylinder => 2,
        Kind::Ellipsoid => 3,
        _ => 0,
    };
    let mut u: [f64; 3] = std::array::from_fn(|k| 2.0 * at[k] as f64 / (counts[k] - 1) as f64 - 1.0);
    let greatest = u[..directions].iter().fold(0.0, |greatest, x| f64::max(greatest, x.abs()));
    let length = u[..directions].iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        u[..directions].iter_mut().for_each(|x| *x *= greatest / length);
    }
    Vec3::from(std::array::from_fn(|k| u[k] * 0.5 * spacing[k] * (counts[k] - 1) as f64))
}

pub(super) fn indices(element: Element<'_>, name: &str) -> Result<Vec<u32>, LoadError> {
    let parse = |word: &str| {
        let expected = "expected indices of nodes";
        word.parse().map_err(|_| element.error(format!("{name}: \"{}\": {expected}", crate::xml::shortened(word))))
    };
    element.required(name)?.split_whitespace().map(parse).collect()
}

/// The nodes that `<pin>` elements name, by index, range of indices, place in the grid or range of places.
pub(super) fn pins(element: Element<'_>, mesh: &Mesh) -> Result<Vec<u32>, LoadError> {
    let mut pinned = Vec::new();
    let last = mesh.nodes.len().saturating_sub(1);
    for pin in element.children_named("pin") {
        let numbers = |name: &str, multiple: usize| -> Result<Vec<usize>, LoadError> {
            let Some(text) = pin.attribute(name) else { return Ok(Vec::new()) };
            let parse = |word: &str| word.parse::<usize>();
            let list: Result<Vec<_>, _> = text.split_whitespace().map(parse).collect();
            list.ok().filter(|list| list.len() % multiple == 0).ok_or_else(|| {
                pin.error(format!(
                    "{name}=\"{}\": expected {multiple} whole numbers for each",
                    crate::xml::shortened(text)
                ))
            })
        };
        let mut push = |node: usize| {
            let node = u32::try_from(node).ok().filter(|node| *node as usize <= last);
            node.map(|node| pinned.push(node))
                .ok_or_else(|| pin.error(format!("names a node beyond the last one, {last}")))
        };
        numbers("id", 1)?.into_iter().try_for_each(&mut push)?;
        for range in numbers("range", 2)?.chunks_exact(2) {
            // Beyond the last node the first of them is an error already.
            (range[0]..=range[1]).try_for_each(&mut push)?;
        }
        let axes = mesh.corners - 1;
        let (places, ranges) = (numbers("grid", axes)?, numbers("gridrange", 2 * axes)?);
        if places.is_empty() && ranges.is_empty() {
            continue;
        }
        let counts =
            mesh.counts.ok_or_else(|| pin.error("`grid` and `gridrange` are of grids: expected `id` or `range`"))?;
        // Of a sheet the third coordinate is 0.
        let place = |at: &[usize]| [at[0], at[1], at.get(2).copied().unwrap_or(0)];
        let index = |at: [usize; 3]| {
            let is_inside = (0..3).all(|k| at[k] < counts[k]);
            if is_inside { (at[0] * counts[1] + at[1]) * counts[2] + at[2] } else { usize::MAX }
        };
        places.chunks_exact(axes).try_for_each(|at| push(index(place(at))))?;
        for range in ranges.chunks_exact(2 * axes) {
            let (first, last) = (place(&range[..axes]), place(&range[axes..]));
            // Both ends first: what lies between them takes time.
            push(index(first))?;
            push(index(last))?;
            for i in first[0]..=last[0] {
                for j in first[1]..=last[1] {
                    (first[2]..=last[2]).try_for_each(|k| push(index([i, j, k])))?;
                }
            }
        }
    }
    pinned.sort_unstable();
    pinned.dedup();
    Ok(pinned)
}
