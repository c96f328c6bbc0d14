//! `<flexcomp>` of dimension 3: soft bodies of tetrahedra.
//!
//! Nodes of `grid` and `direct` are numbered as MuJoCo numbers them. `box`, `cylinder` and `ellipsoid` have MuJoCo's surface, but are filled
//! with a grid, where MuJoCo joins the surface to one node in the middle.

pub(super) mod material;

use deformable::{Material, MaterialModel, SoftBodyDescription, TetMesh};
use geometry::Scene;
use multibody::Model;
use spatial::{Pose, Vec3};

use super::Reader;
use super::asset_files::Files;
use super::body::Item;
use super::defaults::Attributes;
use crate::mesh_files::volume::{self, VolumeMesh};
use crate::xml::Element;
use crate::{LoadError, StandingSoftBody};

/// Most nodes along one axis of a grid.
const MAX_COUNT: usize = 257;

/// The corners of a cell, by bits x, y, z from high to low, in six tetrahedra.
const SIX: [[usize; 4]; 6] = [[0, 2, 4, 3], [0, 4, 1, 3], [4, 2, 6, 3], [4, 6, 7, 3], [4, 5, 1, 3], [4, 7, 5, 3]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Grid,
    Box,
    Cylinder,
    Ellipsoid,
    Direct,
    Gmsh,
    /// What has no volume.
    Surface,
}

const KINDS: [(&str, Kind); 10] = [
    ("grid", Kind::Grid),
    ("box", Kind::Box),
    ("cylinder", Kind::Cylinder),
    ("ellipsoid", Kind::Ellipsoid),
    ("direct", Kind::Direct),
    ("gmsh", Kind::Gmsh),
    ("mesh", Kind::Surface),
    ("square", Kind::Surface),
    ("disc", Kind::Surface),
    ("circle", Kind::Surface),
];

/// Flexible bodies that are left out, among the kinds of names.
pub(super) const MISSING_FLEX: &str = "flexible body that is missing from the model";

pub(super) const WITHOUT_YOUNG: &str = "has no <elasticity young=…>: constraints on edges are not simulated";

/// What is said of a surface.
#[derive(Default)]
pub(super) struct SoftSurface {
    radius: f64,
    friction: Option<f64>,
    colour: Option<[f32; 4]>,
    self_contact: bool,
}

impl SoftSurface {
    pub fn of(self, name: String, mesh: TetMesh, material: Material) -> SoftBodyDescription {
        let Self { radius, friction, colour, self_contact } = self;
        let usual = SoftBodyDescription::new(name, mesh, material);
        let (friction, colour) = (friction.unwrap_or(usual.friction), colour.unwrap_or(usual.colour));
        SoftBodyDescription { radius, friction, colour, self_contact, ..usual }
    }
}

/// Young's modulus, Pa; 0 where there is none.
pub(super) fn young(element: Element<'_>) -> Result<f64, LoadError> {
    Ok(element.child("elasticity").map(|e| e.number("young")).transpose()?.flatten().unwrap_or(0.0))
}

/// Nodes and elements in the frame of the parent body.
struct Volume {
    nodes: Vec<Vec3<f64>>,
    elements: Vec<u32>,
    /// Nodes along each axis, of grids.
    counts: Option<[usize; 3]>,
}

/// A soft body that waits for the model, which says where its parent body is.
pub(super) struct Flex<'a> {
    element: Element<'a>,
    body: usize,
    description: SoftBodyDescription,
    /// All its mass, kg.
    mass: f64,
}

impl Flex<'_> {
    /// Its name, and the model of its material.
    pub fn material_model(&mut self) -> (&str, &mut MaterialModel) {
        (&self.description.name, &mut self.description.material.model)
    }
}

impl<'a> Reader<'_, 'a> {
    /// Reads a `<flexcomp>` of `body`. What is no volume is left out with a warning.
    pub(super) fn flexcomp(&mut self, item: &Item<'a>, body: usize) -> Result<(), LoadError> {
        let element = item.element;
        let attributes = &self.defaults.attributes(element, 0)?;
        let kind = attributes.keyword("type", &KINDS)?.unwrap_or(Kind::Grid);
        let dimension = attributes.integer("dim")?.unwrap_or(2);
        let reason = match (dimension, kind) {
            (3, Kind::Surface) => {
                Some("types of surfaces are not filled with tetrahedra: expected a file of `type=\"gmsh\"`")
            }
            (3, _) if attributes.flag("rigid")? == Some(true) => Some("`rigid` bodies are geoms: expected a geom"),
            (3, _) => None,
            _ => Some("only bodies of dimension 3 are simulated, cables and cloth are not"),
        };
        let young = young(element)?;
        if let Some(reason) = reason.or((young == 0.0).then_some(WITHOUT_YOUNG)) {
            self.warnings.add(element, &format!("{reason}; it is missing from the model"));
            self.names.reserve(MISSING_FLEX, attributes.text("name").unwrap_or_default(), 0);
            element.skip_all();
            return Ok(());
        }
        let pose = item.frame * self.compiler.angles.pose(attributes)?;
        let volume = self.volume(kind, attributes, pose)?;
        let name = self.names.claim(element, "flex", &item.suffix, self.flexes.len())?;
        let pinned = pins(element, &volume)?;
        let mesh = tetrahedra(element, volume)?;
        let (material, surface) = self.material_and_surface(attributes, young)?;
        let description = SoftBodyDescription { pinned, ..surface.of(name, mesh, material) };
        let mass = attributes.number("mass")?.unwrap_or(1.0);
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(attributes.source("mass").error(format!("mass=\"{mass}\": expected a number above 0, kg")));
        }
        attributes.skip(&["inertiabox", "group", "flatskin", "texcoord", "origin"]);
        self.flexes.push(Flex { element, body, description, mass });
        Ok(())
    }

    /// What `<flexcomp>` and `<flex>` say alike: the material, which has this Young's modulus, and the surface.
    pub(super) fn material_and_surface(
        &mut self,
        attributes: &Attributes<'_, 'a>,
        young: f64,
    ) -> Result<(Material, SoftSurface), LoadError> {
        let element = attributes.element();
        let mut material = Material { young, poisson: 0.0, damping_stiffness: 0.0, ..Material::default() };
        if let Some(elasticity) = element.child("elasticity") {
            material.poisson = elasticity.number("poisson")?.unwrap_or(0.0);
            material.damping_stiffness = elasticity.number("damping")?.unwrap_or(0.0);
            elasticity.skip(&["thickness", "elastic2d"]);
        }
        let mut surface =
            SoftSurface { radius: attributes.number("radius")?.unwrap_or(0.005), ..SoftSurface::default() };
        if attributes.has(&["rgba", "material"]) {
            surface.colour = Some(self.assets.rgba(attributes)?);
        }
        if let Some(contact) = element.child("contact") {
            surface.friction = contact.numbers("friction")?.and_then(|f| f.first().copied());
            surface.self_contact = contact.attribute("selfcollide").is_some_and(|kind| kind != "none");
            contact.skip(&["internal", "activelayers", "vertcollide"]);
        }
        if let Some(edge) = element.child("edge") {
            edge.skip_all();
        }
        Ok((material, surface))
    }

    fn volume(&self, kind: Kind, attributes: &Attributes<'_, 'a>, pose: Pose<f64>) -> Result<Volume, LoadError> {
        let element = attributes.element();
        let scale: Vec3<f64> = attributes.array("scale")?.unwrap_or([1.0; 3]).into();
        let place = |x: Vec3<f64>| pose.transform_point(Vec3::new(x.x * scale.x, x.y * scale.y, x.z * scale.z));
        match kind {
            Kind::Direct => {
                let points = attributes
                    .numbers("point")?
                    .ok_or_else(|| element.error("no attribute `point`: expected nodes"))?;
                if points.len() % 3 != 0 {
                    return Err(element.error(format!("point: {} numbers: expected three for each node", points.len())));
                }
                let elements = indices(element, "element")?;
                let nodes = points.chunks_exact(3).map(|x| place(Vec3::new(x[0], x[1], x[2]))).collect();
                Ok(Volume { nodes, elements, counts: None })
            }
            Kind::Gmsh => {
                let name = element.required("file")?;
                let path = Files { base: self.parts.base.as_deref(), compiler: &self.compiler }.path(element, name)?;
                let mesh = volume::read(&path).map_err(|error| element.error(error.to_string()))?;
                let nodes = mesh.nodes.into_iter().map(place).collect();
                if mesh.nodes_per_element != 4 {
                    return Err(
                        element.error("file: tetrahedra of ten nodes: expected four (MJCF has linear elements)")
                    );
                }
                Ok(Volume { nodes, elements: mesh.elements, counts: None })
            }
            _ => {
                let counts = counts(attributes)?;
                let spacing = attributes.array::<3>("spacing")?.unwrap_or([0.02; 3]);
                if let Some(got) = spacing.iter().find(|s| !(**s > 0.0 && s.is_finite())) {
                    return Err(attributes
                        .source("spacing")
                        .error(format!("spacing: {got}: expected three numbers above 0, m")));
                }
                Ok(grid(kind, counts, spacing, place))
            }
        }
    }
}

/// Adds the soft bodies to the scene: nodes pinned to the world stay in place, those pinned to a body are held by it.
pub(super) fn attach(flexes: Vec<Flex<'_>>, model: &Model, scene: &mut Scene) -> Result<(), LoadError> {
    if flexes.is_empty() {
        return Ok(());
    }
    let poses = crate::overlaps::poses_at_start(model);
    for Flex { element, body, description, mass } in flexes {
        let standing = StandingSoftBody { body, description, held: Vec::new() };
        standing.add_to(scene, model, &poses, Some(mass)).map_err(|error| element.error(error.to_string()))?;
    }
    Ok(())
}

/// Numbers of nodes along the axes of a grid.
fn counts(attributes: &Attributes<'_, '_>) -> Result<[usize; 3], LoadError> {
    let counts = attributes.array::<3>("count")?.unwrap_or([10.0; 3]);
    let valid = |n: f64| n.fract() == 0.0 && (2.0..=MAX_COUNT as f64).contains(&n);
    if let Some(got) = counts.iter().find(|n| !valid(**n)) {
        let message = format!("count: {got}: expected three integers from 2 to {MAX_COUNT}");
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

/// A grid of nodes about the origin, z fastest, in the given shape, and six tetrahedra in each cell.
fn grid(kind: Kind, counts: [usize; 3], spacing: [f64; 3], place: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Volume {
    let [nx, ny, nz] = counts;
    let half = [0, 1, 2].map(|k| 0.5 * spacing[k] * (counts[k] - 1) as f64);
    let axis = |k: usize, i: usize| 2.0 * i as f64 / (counts[k] - 1) as f64 - 1.0;
    let mut nodes = Vec::with_capacity(nx * ny * nz);
    for (i, j, k) in triples(counts) {
        let u = shaped(kind, [axis(0, i), axis(1, j), axis(2, k)]);
        nodes.push(place(Vec3::new(u[0] * half[0], u[1] * half[1], u[2] * half[2])));
    }
    let index = |i: usize, j: usize, k: usize| ((i * ny + j) * nz + k) as u32;
    let mut elements = Vec::with_capacity(24 * (nx - 1) * (ny - 1) * (nz - 1));
    for (i, j, k) in triples([nx - 1, ny - 1, nz - 1]) {
        for tetrahedron in SIX {
            elements
                .extend(tetrahedron.map(|corner| index(i + (corner >> 2), j + (corner >> 1 & 1), k + (corner & 1))));
        }
    }
    Volume { nodes, elements, counts: Some(counts) }
}

fn triples([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))))
}

/// Where a point of the cube [-1, 1]³ goes in a cylinder or a ball: shells of the cube become shells of the shape.
fn shaped(kind: Kind, u: [f64; 3]) -> [f64; 3] {
    let directions = match kind {
        Kind::Cylinder => 2,
        Kind::Ellipsoid => 3,
        _ => return u,
    };
    let greatest = u[..directions].iter().fold(0.0, |greatest, x| f64::max(greatest, x.abs()));
    let length = u[..directions].iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut shaped = u;
    if length > 0.0 {
        shaped[..directions].iter_mut().for_each(|x| *x *= greatest / length);
    }
    shaped
}

fn tetrahedra(element: Element<'_>, Volume { nodes, elements, .. }: Volume) -> Result<TetMesh, LoadError> {
    let mesh = VolumeMesh { nodes, nodes_per_element: 4, elements };
    mesh.into_mesh().map_err(|error| element.error(error.to_string()))
}

pub(super) fn indices(element: Element<'_>, name: &str) -> Result<Vec<u32>, LoadError> {
    let parse = |word: &str| {
        let expected = "expected indices of nodes, four for each element";
        word.parse().map_err(|_| element.error(format!("{name}: \"{}\": {expected}", crate::xml::shortened(word))))
    };
    element.required(name)?.split_whitespace().map(parse).collect()
}

/// The nodes that `<pin>` elements name, by index, range of indices, place in the grid or range of places.
fn pins(element: Element<'_>, volume: &Volume) -> Result<Vec<u32>, LoadError> {
    let mut pinned = Vec::new();
    let last = volume.nodes.len().saturating_sub(1);
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
        let (places, ranges) = (numbers("grid", 3)?, numbers("gridrange", 6)?);
        if places.is_empty() && ranges.is_empty() {
            continue;
        }
        let counts =
            volume.counts.ok_or_else(|| pin.error("`grid` and `gridrange` are of grids: expected `id` or `range`"))?;
        let index = |at: &[usize]| {
            let is_inside = (0..3).all(|k| at[k] < counts[k]);
            if is_inside { (at[0] * counts[1] + at[1]) * counts[2] + at[2] } else { usize::MAX }
        };
        places.chunks_exact(3).try_for_each(|at| push(index(at)))?;
        for range in ranges.chunks_exact(6) {
            // Both ends first: what lies between them takes time.
            push(index(&range[..3]))?;
            push(index(&range[3..]))?;
            for i in range[0]..=range[3] {
                for j in range[1]..=range[4] {
                    (range[2]..=range[5]).try_for_each(|k| push(index(&[i, j, k])))?;
                }
            }
        }
    }
    pinned.sort_unstable();
    pinned.dedup();
    Ok(pinned)
}
