//! What is drawn of a model.

use std::collections::HashMap;
use std::sync::Arc;

use geometry::{Scene, Shape};
use multibody::{Kinematics, Lens, Model, forward_kinematics};
use spatial::{Pose, Vec3};

use crate::mesh::DrawnMesh;
use crate::skin::Skin;
use crate::textures::{ItemLook, Textures};
use crate::view::{self, Eye, FreeCamera, Home, View};

type Vector = Vec3<f64>;

/// The near plane, as a fraction of the size of the model: MuJoCo's.
const NEAR: f64 = 0.01;

/// The geoms of a model, ready to be drawn from anywhere; made once and shared.
#[derive(Debug)]
pub struct Stage {
    pub(crate) model: Arc<Model>,
    pub(crate) scene: Arc<Scene>,
    pub(crate) meshes: Vec<Arc<DrawnMesh>>,
    /// The mesh that a geom is drawn by.
    pub(crate) mesh_of: Vec<Option<u32>>,
    /// The surfaces of soft bodies.
    pub(crate) skins: Vec<Skin>,
    pub(crate) textures: Textures,
    /// What a geom shows in the place of one colour.
    pub(crate) look_of: Vec<ItemLook>,
    pub(crate) centre: Vector,
    pub(crate) extent: f64,
    homes: Vec<Home>,
}

impl Stage {
    /// Prepares meshes and finds the size of the model in its default configuration.
    #[must_use]
    pub fn new(model: Arc<Model>, scene: Arc<Scene>) -> Self {
        let mut meshes = Vec::new();
        let mut known = HashMap::new();
        let mut mesh_of = Vec::with_capacity(scene.geoms.len());
        for geom in &scene.geoms {
            let (key, make): (usize, &dyn Fn() -> DrawnMesh) = match &geom.shape {
                Shape::Mesh(mesh) => (Arc::as_ptr(mesh).addr(), &|| DrawnMesh::of_mesh(mesh)),
                Shape::HeightField(field) => (Arc::as_ptr(field).addr(), &|| DrawnMesh::of_height_field(field)),
                _ => {
                    mesh_of.push(None);
                    continue;
                }
            };
            let index = *known.entry(key).or_insert_with(|| {
                meshes.push(Arc::new(make()));
                meshes.len() as u32 - 1
            });
            mesh_of.push(Some(index));
        }
        let skins: Vec<Skin> = scene.soft_bodies.iter().map(|body| Skin::new(body)).collect();
        let mut textures = Textures::default();
        let look_of = scene.geoms.iter().zip(&mesh_of).map(|(geom, mesh)| {
            let mesh = mesh.map(|mesh| &*meshes[mesh as usize]);
            textures.look(geom, mesh)
        });
        let look_of = look_of.collect();
        textures.sky = scene.sky.as_ref().filter(|sky| sky.is_whole()).map(|sky| textures.index(sky));
        let mut kinematics = Kinematics::new(&model.tree);
        let mut poses = Vec::new();
        place_bodies(&model, &model.q0, &mut kinematics, &mut poses);
        let homes = view::homes(&model, &poses);
        let (centre, extent) = measure(&model, &scene, &meshes, &mesh_of, &skins, &poses);
        let centre = model.view.centre.unwrap_or(centre);
        let extent = model.view.extent.filter(|x| x.is_finite() && *x > 0.0).unwrap_or(extent);
        Self { model, scene, meshes, mesh_of, skins, textures, look_of, centre, extent, homes }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The camera that is used when none is chosen: as MuJoCo's free camera, it looks at the centre of the model from 1.5 times its size.
    #[must_use]
    pub fn default_camera(&self) -> FreeCamera {
        let view = &self.model.view;
        FreeCamera {
            lookat: self.centre,
            distance: 1.5 * self.extent,
            azimuth: view.azimuth,
            elevation: view.elevation,
            lens: Lens::Fovy(view.fovy),
            track: None,
        }
    }

    /// The size of the model in its default configuration, m.
    #[must_use]
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// The view of a camera with the bodies at these places. `None` when the model has no such camera or body.
    #[must_use]
    pub fn view(&self, eye: &Eye, poses: &[Pose<f64>]) -> Option<View> {
        let near = NEAR * self.extent;
        Some(match *eye {
            Eye::Model(camera) => {
                let home = self.homes.get(camera)?;
                let lens = self.model.cameras[camera].lens;
                View { pose: view::pose(&self.model, poses, camera, home), lens, near }
            }
            Eye::Free(camera) => {
                let origin = match camera.track {
                    Some(body) => poses.get(body)?.pos,
                    None => Vec3::ZERO,
                };
                View { pose: camera.pose(origin), lens: camera.lens, near }
            }
            Eye::Fixed { pose, lens } => View { pose, lens, near },
        })
    }
}

/// The placements of all bodies, the world first.
pub(crate) fn place_bodies(model: &Model, q: &[f64], kinematics: &mut Kinematics<f64>, poses: &mut Vec<Pose<f64>>) {
    let tree = &model.tree;
    forward_kinematics(tree, tree.all(), q, kinematics);
    poses.clear();
    poses.extend((0..model.bodies.len()).map(|body| kinematics.body_pose(model, body)));
}

/// The centre and the longest side of the box around the bodies, sites and geoms, the latter as balls, as MuJoCo measures them.
fn measure(
    model: &Model,
    scene: &Scene,
    meshes: &[Arc<DrawnMesh>],
    mesh_of: &[Option<u32>],
    skins: &[Skin],
    poses: &[Pose<f64>],
) -> (Vector, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut add = |centre: Vector, radius: f64| {
        for (k, x) in centre.to_array().into_iter().enumerate() {
            low[k] = low[k].min(x - radius);
            high[k] = high[k].max(x + radius);
        }
    };
    for (body, pose) in model.bodies.iter().zip(poses).skip(1) {
        add(pose.pos, 0.0);
        add(pose.transform_point(body.inertia.com), 0.0);
    }
    for site in &model.sites {
        add((poses[site.body] * site.pose).pos, 0.0);
    }
    for vertex in skins.iter().flat_map(|skin| &skin.mesh.vertices) {
        add(*vertex, 0.0);
    }
    for (geom, mesh) in scene.geoms.iter().zip(mesh_of) {
        let pose = poses[geom.body] * geom.pose;
        match (&geom.shape, mesh) {
            (Shape::Plane { half_extents: [x, y] }, _) => {
                add(pose.pos, if *x > 0.0 || *y > 0.0 { 0.1 * x.max(*y) } else { 1.0 });
            }
            (_, Some(mesh)) => {
                let mesh = &meshes[*mesh as usize];
                if !mesh.vertices.is_empty() {
                    let [a, b] = mesh.bounds;
                    add(pose.transform_point((a + b) * 0.5), 0.5 * (b - a).norm());
                }
            }
            (shape, None) => {
                if let Some((centre, radius)) = shape.bounding_ball() {
                    add(pose.transform_point(centre), radius);
                }
            }
        }
    }
    let sides: [f64; 3] = std::array::from_fn(|k| high[k] - low[k]);
    if !sides.iter().all(|x| x.is_finite()) {
        return (Vec3::ZERO, 2.0);
    }
    let centre = std::array::from_fn::<f64, 3, _>(|k| 0.5 * (low[k] + high[k]));
    (centre.into(), sides.into_iter().fold(1e-5, f64::max))
}
