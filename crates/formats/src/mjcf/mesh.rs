//! `<mesh>`: triangles from a file or from the text, and primitives fitted to them.

use std::sync::Arc;

use geometry::{MassModel, Mesh, MeshSurface, Shape};
use spatial::{Mat3, Pose, Quat, Vec3};

use super::asset_files::{Files, asset_name};
use super::builtin_mesh;
use super::defaults::Attributes;
use super::distance_field;
use super::geom::Type;
use super::plugin::Plugin;
use crate::LoadError;
use crate::limits::Budget;
use crate::mesh_files::{self, TriangleSoup};
use crate::warnings::Warnings;
use crate::xml::{Element, shortened};

/// A mesh and where its mass is.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    /// The mesh, in the frame of its file. Its own frame (centre of mass, principal axes), to which MuJoCo moves it,
    /// appears nowhere: poses of geoms are those of the file.
    pub shape: Arc<Mesh>,
    /// Where its mass is.
    pub mass_model: MassModel,
}

const INERTIA: [(&str, MassModel); 4] = [
    ("legacy", MassModel::Pyramids),
    ("exact", MassModel::Solid),
    ("convex", MassModel::ConvexHull),
    ("shell", MassModel::Shell),
];

/// Reads a `<mesh>` of the assets of `root`.
pub(super) fn read(
    root: Element<'_>,
    attributes: &Attributes<'_, '_>,
    files: Files<'_>,
    budget: &mut Budget,
    warnings: &mut Warnings,
) -> Result<MeshAsset, LoadError> {
    let element = attributes.element();
    let mut mass_model = attributes.keyword("inertia", &INERTIA)?.unwrap_or(MassModel::Pyramids);
    if element.attribute("builtin") == Some("plate") {
        mass_model = MassModel::Shell;
    }
    let name = asset_name(element)?;
    if let Some(shape) = crate::assets::mesh(&name) {
        element.skip_all();
        return Ok(MeshAsset { shape, mass_model });
    }
    let mut soup = match element.attribute("file") {
        Some(name) => {
            let path = files.path(element, name)?;
            mesh_files::read(&path).map_err(|error| element.error(error.to_string()))?
        }
        None => inline(root, element)?,
    };
    budget.take_mesh(soup.vertices.len(), soup.triangles.len()).map_err(|message| element.error(message))?;
    place(attributes, &mut soup)?;
    let TriangleSoup { vertices, triangles, mut surface } = soup;
    // Colours are the material's of the geom, whatever the file says.
    (surface.paints, surface.paint_of) = (Vec::new(), Vec::new());
    let mut mesh = Mesh::new(name, vertices, triangles).map_err(|error| element.error(error.to_string()))?;
    mesh.surface = surface;
    if mesh.triangles.is_empty() {
        let error = || element.error("vertices without volume: expected points that span one, or faces");
        mesh = mesh.stand_for_hull().ok_or_else(error)?;
        mass_model = if mass_model == MassModel::Shell { MassModel::Shell } else { MassModel::ConvexHull };
    }
    let shape = Arc::new(mesh);
    if mass_model != MassModel::Shell {
        Shape::Mesh(shape.clone())
            .inertia(1.0, mass_model)
            .map_err(|error| element.error(format!("{error}: expected a mesh with a volume, or inertia=\"shell\"")))?;
    }
    if attributes.integer("maxhullvert")?.is_some_and(|n| n > 0) {
        warnings.add_attribute(element, "maxhullvert", "hulls keep all their vertices: ignored");
    }
    element.skip(&["normal", "smoothnormal", "content_type", "material", "params"]);
    Ok(MeshAsset { shape, mass_model })
}

fn inline(root: Element<'_>, element: Element<'_>) -> Result<TriangleSoup, LoadError> {
    if let Some(kind) = element.attribute("builtin").filter(|&kind| kind != "none") {
        let params = element.numbers("params")?;
        let params = params.ok_or_else(|| element.error("no attribute `params`, which `builtin` needs"))?;
        return builtin_mesh::make(kind, &params)
            .map_err(|message| element.error(format!("builtin=\"{}\": {message}", shortened(kind))));
    }
    let numbers = element.numbers("vertex")?;
    if let (None, Some(at)) = (&numbers, element.child("plugin")) {
        let plugin = Plugin::of(root, at);
        return distance_field::make(
            at,
            plugin.ok_or_else(|| at.error("expected a plugin or the name of an instance"))?,
        );
    }
    let numbers = numbers.ok_or_else(|| element.error("no vertices: expected an attribute `file` or `vertex`"))?;
    if numbers.is_empty() || numbers.len() % 3 != 0 {
        let message = format!("vertex: {} numbers: expected three for every vertex", numbers.len());
        return Err(element.error(message));
    }
    let vertices: Vec<Vec3<f64>> = numbers.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect();
    let indices = element.numbers("face")?.unwrap_or_default();
    if indices.len() % 3 != 0 {
        let message = format!("face: {} numbers: expected three for every triangle", indices.len());
        return Err(element.error(message));
    }
    let index = |&x: &f64| {
        let valid = x >= 0.0 && x.fract() == 0.0 && x < vertices.len() as f64;
        let last = vertices.len() - 1;
        valid.then_some(x as u32).ok_or_else(|| element.error(format!("face: {x}: expected vertices from 0 to {last}")))
    };
    let triangle = |t: &[f64]| Ok::<_, LoadError>([index(&t[0])?, index(&t[1])?, index(&t[2])?]);
    let triangles = indices.chunks_exact(3).map(triangle).collect::<Result<Vec<_>, _>>()?;
    let texcoords = texcoords(element, &triangles)?;
    Ok(TriangleSoup { vertices, triangles, surface: MeshSurface { texcoords, ..MeshSurface::default() } })
}

/// The places of all corners in a texture: by vertices, or by `facetexcoord`. What does not fit is no reason to refuse the model.
fn texcoords(element: Element<'_>, triangles: &[[u32; 3]]) -> Result<Vec<[f32; 2]>, LoadError> {
    let Some(numbers) = element.numbers("texcoord")? else { return Ok(Vec::new()) };
    let places: Vec<[f32; 2]> = numbers.as_chunks::<2>().0.iter().map(|uv| uv.map(|x| x as f32)).collect();
    let indices: Vec<usize> = match element.numbers("facetexcoord")? {
        Some(indices) => indices.iter().map(|&k| k as usize).collect(),
        None => triangles.as_flattened().iter().map(|&k| k as usize).collect(),
    };
    let found: Option<Vec<[f32; 2]>> = indices.iter().map(|&k| places.get(k).copied()).collect();
    Ok(found.filter(|found| found.len() == 3 * triangles.len()).unwrap_or_default())
}

/// `refpos`, `refquat`, then `scale`; triangles turn around where an odd number of axes is mirrored.
fn place(attributes: &Attributes<'_, '_>, soup: &mut TriangleSoup) -> Result<(), LoadError> {
    let element = attributes.element();
    let origin: Vec3<f64> = element.array("refpos")?.unwrap_or([0.0; 3]).into();
    let [w, x, y, z] = element.array("refquat")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    let turn = Quat::new(w, x, y, z).normalized();
    let turn = turn.ok_or_else(|| element.error("refquat: expected a quaternion that is not zero"))?.conjugate();
    let [sx, sy, sz]: [f64; 3] = attributes.array("scale")?.unwrap_or([1.0; 3]);
    if sx * sy * sz == 0.0 {
        return Err(element.error(format!("scale=\"{sx} {sy} {sz}\": expected numbers that are not zero")));
    }
    for v in &mut soup.vertices {
        let p = turn * (*v - origin);
        *v = Vec3::new(sx * p.x, sy * p.y, sz * p.z);
    }
    if sx * sy * sz < 0.0 {
        soup.turn_around();
    }
    Ok(())
}

impl MeshAsset {
    /// A primitive fitted to the mesh, and its pose in the mesh's frame: by the box of equal inertia, or by the bounds
    /// along the principal axes.
    pub fn fitted(&self, kind: Type, to_bounds: bool, scale: f64) -> Result<(Shape, Pose<f64>), String> {
        let solid = Shape::Mesh(self.shape.clone()).inertia(1.0, self.mass_model).map_err(|e| e.to_string())?;
        let (axes, moments) = solid.inertia.principal_axes();
        let (axes, moments) = sorted_axes(axes, moments);
        let frame = Pose::new(solid.com, Quat::from_mat3(&axes));
        let (centre, half) = match to_bounds {
            true => self.bounds(frame),
            // A box of this mass with these moments: I_x = m (b² + c²) / 3, …
            false => (Vec3::ZERO, {
                let total: f64 = moments.iter().sum();
                moments.map(|m| (1.5 * (total - 2.0 * m).max(0.0) / solid.mass).sqrt())
            }),
        };
        let [x, y, z] = half.map(|h| h * scale);
        let (mean, widest) = ((x + y) / 2.0, x.max(y));
        let shape = match (kind, to_bounds) {
            (Type::Sphere, false) => Shape::Sphere { radius: (x + y + z) / 3.0 },
            (Type::Sphere, true) => Shape::Sphere { radius: widest.max(z) },
            (Type::Capsule, false) => Shape::Capsule { radius: mean, half_length: (z - mean / 2.0).max(0.0) },
            (Type::Capsule, true) => Shape::Capsule { radius: widest, half_length: (z - widest).max(0.0) },
            (Type::Cylinder, false) => Shape::Cylinder { radius: mean, half_length: z },
            (Type::Cylinder, true) => Shape::Cylinder { radius: widest, half_length: z },
            (Type::Ellipsoid, _) => Shape::Ellipsoid { radii: [x, y, z] },
            (Type::Box, _) => Shape::Box { half_extents: [x, y, z] },
            _ => return Err("this type of geom cannot be fitted to a mesh: expected a primitive with a volume".into()),
        };
        Ok((shape, frame * Pose::new(centre, Quat::IDENTITY)))
    }

    /// Centre and half extents of the bounds along the axes of a frame.
    fn bounds(&self, frame: Pose<f64>) -> (Vec3<f64>, [f64; 3]) {
        let inverse = frame.inverse();
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for &v in &self.shape.vertices {
            for (k, x) in inverse.transform_point(v).to_array().into_iter().enumerate() {
                (low[k], high[k]) = (low[k].min(x), high[k].max(x));
            }
        }
        let half = [0, 1, 2].map(|k| (high[k] - low[k]) / 2.0);
        (Vec3::from([0, 1, 2].map(|k| (high[k] + low[k]) / 2.0)), half)
    }
}

/// Right-handed axes by descending moment, so that z is the longest.
fn sorted_axes(axes: Mat3<f64>, moments: [f64; 3]) -> (Mat3<f64>, [f64; 3]) {
    let columns = [axes.x, axes.y, axes.z];
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| moments[b].total_cmp(&moments[a]));
    let [x, y, _] = order.map(|i| columns[i]);
    (Mat3::from_columns(x, y, x.cross(y)), order.map(|i| moments[i]))
}
