//! What a projection sees: primitives of geoms, soft bodies, strings and markers, by bands of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use geometry::{Geom, Shape};
use spatial::{Mat3, Pose, Vec3};

use crate::marker::{Marker, MarkerShape};
use crate::mesh::DrawnMesh;
use crate::primitives::{Primitives, triangle};
use crate::projection::Projection;
use crate::raster::{BAND, Band};
use crate::shade::Item;
use crate::stage::Stage;
use crate::textures::ItemLook;

type Vector = Vec3<f64>;

/// Which groups of geoms and tendons are drawn, and geoms in colours that are not the model's.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Bit g: whether those of group g are.
    pub groups: u32,
    /// By geoms.
    pub colours: BTreeMap<usize, [f32; 4]>,
}

impl Shown {
    /// The colour of a geom, and how opaque it is.
    pub fn rgba(&self, index: usize, geom: &Geom) -> [f32; 4] {
        self.colours.get(&index).copied().unwrap_or(geom.rgba)
    }
}

/// What is drawn, and in which bands.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub primitives: Primitives,
    pub items: Vec<Item>,
    /// Items that are seen through, from back to front, with the range of their primitives.
    pub transparent: Vec<(f64, [u32; 2])>,
    /// Opaque primitives of every band.
    bins: Vec<Vec<u32>>,
    vertices: Vec<Vector>,
}

impl Lists {
    /// Everything that the projection sees, and the bands that it is in.
    pub fn gather(
        &mut self,
        stage: &Stage,
        meshes: &[Arc<DrawnMesh>],
        poses: &[Pose<f64>],
        shown: &Shown,
        at: &Projection,
        see_through: bool,
        markers: &[Marker],
    ) {
        self.primitives.clear();
        self.items.clear();
        self.transparent.clear();
        for (k, geom) in stage.scene.geoms.iter().enumerate() {
            let pose = poses[geom.body] * geom.pose;
            let mesh = stage.mesh_of[k];
            let ground = match geom.shape {
                Shape::Plane { half_extents: [x, y] } => Some(!(x > 0.0 && y > 0.0)),
                _ => None,
            };
            let smooth = matches!(geom.shape, Shape::Capsule { .. });
            let rgba = shown.rgba(k, geom);
            self.add_item(at, &pose, rgba, mesh, ground, smooth, stage.look_of[k]);
            if rgba[3] > 0.0 && is_shown(geom, shown.groups) {
                self.add_shape(at, meshes, &geom.shape, mesh, &pose, see_through);
            }
        }
        for (k, body) in stage.scene.soft_bodies.iter().enumerate() {
            let mesh = Some((stage.meshes.len() + k) as u32);
            let drawn = &meshes[stage.meshes.len() + k];
            let look = if drawn.colours.is_empty() { ItemLook::Plain } else { ItemLook::Vertices };
            self.add_item(at, &Pose::IDENTITY, body.colour, mesh, None, true, look);
            self.add_drawn(at, drawn, body.colour, see_through);
        }
        for tendon in &stage.model.tendons {
            let look = tendon.look;
            if look.rgba[3] > 0.0 && look.radius > 0.0 && shows(shown.groups, look.group) {
                for points in tendon.drawn(&stage.model, poses) {
                    let points: Vec<Vector> = points.iter().map(|point| point.place(poses)).collect();
                    for (&from, &to) in points.iter().zip(points.iter().skip(1)) {
                        let shape = MarkerShape::Rod { ends: [from, to], radius: look.radius };
                        self.add_marker(at, meshes, &Marker { shape, rgba: look.rgba }, see_through);
                    }
                }
            }
        }
        for marker in markers {
            self.add_marker(at, meshes, marker, see_through);
        }
        self.transparent.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.sort_into_bands(at);
    }

    fn add_marker(&mut self, at: &Projection, meshes: &[Arc<DrawnMesh>], marker: &Marker, see_through: bool) {
        let (shape, pose) = marker.shape.placed();
        self.add_item(at, &pose, marker.rgba, None, None, true, ItemLook::Plain);
        self.add_shape(at, meshes, &shape, None, &pose, see_through);
    }

    fn add_item(
        &mut self,
        at: &Projection,
        pose: &Pose<f64>,
        rgba: [f32; 4],
        mesh: Option<u32>,
        ground: Option<bool>,
        smooth: bool,
        look: ItemLook,
    ) {
        let (rot, centre) = at.frame(pose);
        let (rot, centre) = (rot.map(|x| x as f32), centre.map(|x| x as f32));
        self.items.push(Item { rgba, rot, centre, mesh, ground, smooth, look });
    }

    /// Adds the primitives of the item added last.
    fn add_shape(
        &mut self,
        at: &Projection,
        meshes: &[Arc<DrawnMesh>],
        shape: &Shape,
        mesh: Option<u32>,
        pose: &Pose<f64>,
        see_through: bool,
    ) {
        let item = self.items.len() as u32 - 1;
        let (rot, centre) = at.frame(pose);
        let first = self.primitives.list.len() as u32;
        match mesh {
            Some(mesh) => self.add_mesh(at, &meshes[mesh as usize], item, &rot, centre),
            None => add_primitives(&mut self.primitives, at, item, shape, &rot, centre),
        }
        let end = self.primitives.list.len() as u32;
        if see_through && self.items[item as usize].rgba[3] < 1.0 && first < end {
            self.transparent.push((centre.norm_squared(), [first, end]));
        }
    }

    /// Adds the triangles of the item added last, a soft body.
    fn add_drawn(&mut self, at: &Projection, mesh: &DrawnMesh, rgba: [f32; 4], see_through: bool) {
        let item = self.items.len() as u32 - 1;
        let (rot, centre) = at.frame(&Pose::IDENTITY);
        let first = self.primitives.list.len() as u32;
        if rgba[3] > 0.0 {
            self.add_mesh(at, mesh, item, &rot, centre);
        }
        let end = self.primitives.list.len() as u32;
        if see_through && rgba[3] < 1.0 && first < end {
            let [a, b] = mesh.bounds;
            let middle = rot * ((a + b) * 0.5) + centre;
            self.transparent.push((middle.norm_squared(), [first, end]));
        }
    }

    fn add_mesh(&mut self, at: &Projection, mesh: &DrawnMesh, item: u32, rot: &Mat3<f64>, centre: Vector) {
        let [a, b] = mesh.bounds;
        let corner = |k: usize| {
            let pick = |bit: usize, a: f64, b: f64| if k >> bit & 1 == 0 { a } else { b };
            *rot * Vec3::new(pick(0, a.x, b.x), pick(1, a.y, b.y), pick(2, a.z, b.z)) + centre
        };
        if at.bounds(&std::array::from_fn::<Vector, 8, _>(corner)).is_none() {
            return;
        }
        let Self { vertices, primitives, .. } = self;
        vertices.clear();
        vertices.extend(mesh.vertices.iter().map(|&v| *rot * v + centre));
        let seen = mesh
            .triangles
            .iter()
            .enumerate()
            .filter_map(|(face, corners)| triangle(at, item, face as u32, corners.map(|v| vertices[v as usize])));
        primitives.list.extend(seen);
    }

    fn sort_into_bands(&mut self, at: &Projection) {
        let Self { primitives, transparent, bins, .. } = self;
        let rows = BAND * at.samples;
        let bands = at.size[1].div_ceil(rows);
        bins.resize_with(bands.max(bins.len()), Vec::new);
        bins.iter_mut().for_each(Vec::clear);
        let mut skip = transparent.iter().map(|t| t.1).collect::<Vec<_>>();
        skip.sort_unstable();
        let mut skip = skip.into_iter().peekable();
        let mut k = 0;
        while k < primitives.list.len() {
            if let Some([first, end]) = skip.peek().copied()
                && k == first as usize
            {
                k = end as usize;
                skip.next();
                continue;
            }
            let [first, end] = primitives.list[k].bounds.rows.map(usize::from);
            for bin in &mut bins[first / rows..end.div_ceil(rows)] {
                bin.push(k as u32);
            }
            k += 1;
        }
    }

    /// Draws the opaque primitives of a band.
    pub fn draw(&self, band: &mut Band, at: &Projection, number: usize, rows: [usize; 2]) {
        band.clear(at.size[0], rows);
        let nearest = at.nearest as f32;
        for &k in &self.bins[number] {
            band.draw(&self.primitives.list[k as usize], k, nearest);
        }
    }
}

/// The primitives of a shape, placed in the camera's frame.
fn add_primitives(
    primitives: &mut Primitives,
    at: &Projection,
    item: u32,
    shape: &Shape,
    rot: &Mat3<f64>,
    centre: Vector,
) {
    let axis = rot.z;
    match *shape {
        Shape::Plane { half_extents: [x, y] } if x > 0.0 && y > 0.0 => {
            primitives.rectangle(at, item, centre, rot.x * x, rot.y * y);
        }
        Shape::Plane { .. } => primitives.plane(at, item, centre, axis),
        Shape::Sphere { radius: r } => primitives.ellipsoid(at, item, rot, centre, Vec3::new(r, r, r)),
        Shape::Ellipsoid { radii } => primitives.ellipsoid(at, item, rot, centre, radii.into()),
        Shape::Capsule { radius: r, half_length: h } => {
            if at.is_inside_capsule(centre - axis * h, centre + axis * h, r) {
                return;
            }
            primitives.cylinder_side(at, item, rot, centre, r, h);
            for end in [centre + axis * h, centre - axis * h] {
                primitives.ellipsoid(at, item, rot, end, Vec3::new(r, r, r));
            }
        }
        Shape::Cylinder { radius: r, half_length: h } => {
            primitives.cylinder_side(at, item, rot, centre, r, h);
            primitives.disc(at, item, centre + axis * h, axis, r);
            primitives.disc(at, item, centre - axis * h, -axis, r);
        }
        Shape::Box { half_extents: [x, y, z] } => {
            let (x, y, z) = (rot.x * x, rot.y * y, rot.z * z);
            for (n, a, b) in [(x, y, z), (y, z, x), (z, x, y)] {
                primitives.rectangle(at, item, centre + n, a, b);
                primitives.rectangle(at, item, centre - n, b, a);
            }
        }
        Shape::Mesh(_) | Shape::HeightField(_) => {}
    }
}

pub(crate) fn is_shown(geom: &Geom, groups: u32) -> bool {
    shows(groups, geom.group)
}

/// Whether a set of groups has this one; the last bit stands for all from 31 on.
fn shows(groups: u32, group: u32) -> bool {
    groups >> group.min(31) & 1 == 1
}
