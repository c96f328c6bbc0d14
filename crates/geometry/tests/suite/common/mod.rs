//! What the tests of contact points share.
#![allow(dead_code)] // Each test crate uses a part.

use std::sync::Arc;

use sapwood_geometry::{Attachment, Collider, Contact, Geom, Mesh, Scene, Shape};
use spatial::{Mat3, Pose, Quat, Vec3};
use support::SplitMix64;

/// Random placements.
pub trait Placements {
    fn vec3(&mut self, size: f64) -> Vec3<f64>;
    fn rotation(&mut self) -> Quat<f64>;
    fn pose(&mut self, size: f64) -> Pose<f64>;
}

impl Placements for SplitMix64 {
    fn vec3(&mut self, size: f64) -> Vec3<f64> {
        Vec3::new(self.uniform(-size, size), self.uniform(-size, size), self.uniform(-size, size))
    }

    fn rotation(&mut self) -> Quat<f64> {
        loop {
            let q = [0; 4].map(|_| self.uniform(-1.0, 1.0));
            let q = Quat::new(q[0], q[1], q[2], q[3]);
            if let Some(unit) = q.normalized() {
                return unit;
            }
        }
    }

    fn pose(&mut self, size: f64) -> Pose<f64> {
        Pose::new(self.vec3(size), self.rotation())
    }
}

/// A geom of body `body` at its body's origin that touches everything.
pub fn geom(body: usize, shape: Shape) -> Geom {
    Geom::new(body, shape)
}

/// A collider of freely moving bodies: geom i is body i + 1 on frame i; a fixed geom has frame `None`.
pub fn collider(geoms: Vec<Geom>, fixed: &[usize]) -> Collider {
    let attachments = (0..geoms.len())
        .map(|i| {
            let moving = !fixed.contains(&i);
            Attachment {
                frame: moving.then_some(i),
                pose: geoms[i].pose,
                group: if moving { i + 1 } else { 0 },
                parent_group: 0,
            }
        })
        .collect();
    Collider::new(Arc::new(Scene { geoms, ..Scene::default() }), attachments)
}

/// The contacts of shapes at the given poses, all moving.
pub fn contacts(shapes: &[(Shape, Pose<f64>)], reach: f64) -> Vec<Contact> {
    let geoms = shapes.iter().enumerate().map(|(i, (s, _))| geom(i + 1, s.clone())).collect();
    let mut out = vec![];
    let frames: Vec<(Mat3<f64>, Vec3<f64>)> = shapes.iter().map(|(_, p)| (p.rot.to_mat3(), p.pos)).collect();
    collider(geoms, &[]).contacts(
        |i| frames[i],
        &vec![sapwood_geometry::Sweep::from(reach / 2.0); shapes.len()],
        &mut out,
    );
    out
}

/// An irregular polytope with `n` vertices near a sphere.
pub fn rock(n: usize, size: f64, seed: u64) -> Shape {
    let mut random = SplitMix64(seed);
    let points = (0..n).map(|_| random.vec3(1.0).normalized().unwrap() * (size * random.uniform(0.9, 1.0)));
    Shape::Mesh(Arc::new(Mesh::new("rock", points.collect(), vec![]).unwrap()))
}

/// A box as a mesh.
pub fn box_mesh([x, y, z]: [f64; 3]) -> Shape {
    let sign = |i: usize, bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let corners = (0..8).map(|i| Vec3::new(x * sign(i, 0), y * sign(i, 1), z * sign(i, 2))).collect();
    Shape::Mesh(Arc::new(Mesh::new("box", corners, vec![]).unwrap()))
}
