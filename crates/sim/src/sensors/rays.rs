//! Rays to surfaces, and what cameras see of sites.

use multibody::{Camera, Lens, RayField, RaySource, SensorFrame};
use spatial::{Pose, Vec3};

use super::{Instruments, write};
use crate::Frame;

/// A ray of a sensor.
#[derive(Clone, Copy)]
struct Ray {
    origin: Vec3<f64>,
    direction: Vec3<f64>,
    /// The body whose geoms it passes through.
    own: usize,
    /// Depth of what is 1 m away.
    depth: f64,
}

/// Depths nearer to 0 are taken for this, as in MuJoCo, m.
const LEAST_DEPTH: f64 = 1e-15;

impl Instruments<'_> {
    /// Rays along the z axis of a site or through the pixels of a camera, and what they meet.
    pub(super) fn rays(&mut self, rays: RaySource, fields: &[RayField], out: &mut [f64]) {
        match rays {
            RaySource::Site(site) => {
                let pose = self.now.pose(Frame::Site(site));
                let own = self.model().sites[site].body;
                self.ray(Ray { origin: pose.pos, direction: pose.rot.to_mat3().z, own, depth: 1.0 }, fields, out);
            }
            RaySource::Camera { camera, pixels: [columns, rows] } => {
                let pose = self.frame_pose(SensorFrame::Camera(camera));
                let mut rest = out;
                for pixel in (0..rows).flat_map(|row| (0..columns).map(move |column| [column, row])) {
                    let ray = pixel_ray(&self.model().cameras[camera], pose, pixel);
                    let (here, after) = rest.split_at_mut(fields.iter().map(|field| field.dim()).sum());
                    self.ray(ray, fields, here);
                    rest = after;
                }
            }
        }
    }

    fn ray(&mut self, ray: Ray, fields: &[RayField], out: &mut [f64]) {
        let Ray { origin, direction, own, depth } = ray;
        let hit = self.now.ray(origin, direction, f64::INFINITY, |_, body| body != own);
        let distance = hit.map_or(-1.0, |hit| hit.distance);
        let mut rest = out;
        for field in fields {
            let (here, after) = rest.split_at_mut(field.dim());
            let if_hit = |v: Vec3<f64>| if hit.is_some() { v } else { Vec3::ZERO };
            match field {
                RayField::Distance => here[0] = distance,
                RayField::Depth => here[0] = hit.map_or(-1.0, |hit| hit.distance * depth),
                RayField::Direction => write(here, if_hit(direction)),
                RayField::Origin => write(here, origin),
                RayField::Point => write(here, if_hit(origin + direction * distance)),
                // The normal is that of the side that the ray comes from; the surface's own points outwards.
                RayField::Normal => write(here, hit.map_or(Vec3::ZERO, |hit| hit.normal)),
            }
            rest = after;
        }
    }

    /// Where a site is in the picture of a camera, in pixels to the right and down; of what is behind it as well.
    pub(super) fn projection(&mut self, site: usize, camera: usize, out: &mut [f64]) {
        let at = self.now.pose(Frame::Site(site)).pos;
        let pose = self.frame_pose(SensorFrame::Camera(camera));
        let camera = &self.model().cameras[camera];
        let seen = pose.rot.to_mat3().transpose_mul(at - pose.pos);
        let depth = match camera.lens {
            Lens::Parallel { .. } => 1.0,
            _ => (-seen.z).abs().max(LEAST_DEPTH).copysign(-seen.z),
        };
        let size = size_of(camera);
        let (middle, half) = camera.lens.window(size[0], size[1]);
        out[0] = 0.5 * size[0] * (1.0 + (seen.x / depth - middle[0]) / half[0]);
        out[1] = 0.5 * size[1] * (1.0 - (seen.y / depth - middle[1]) / half[1]);
    }
}

/// Columns and rows of a camera's picture, at least one each.
fn size_of(camera: &Camera) -> [f64; 2] {
    camera.pixels().map(|pixels| f64::from(pixels.max(1)))
}

/// The ray through the middle of a pixel, by column and row from above.
fn pixel_ray(camera: &Camera, pose: Pose<f64>, [column, row]: [u32; 2]) -> Ray {
    let size = size_of(camera);
    let (middle, half) = camera.lens.window(size[0], size[1]);
    let x = middle[0] + half[0] * (2.0 * (f64::from(column) + 0.5) / size[0] - 1.0);
    let y = middle[1] - half[1] * (2.0 * (f64::from(row) + 0.5) / size[1] - 1.0);
    let axes = pose.rot.to_mat3();
    match camera.lens {
        Lens::Parallel { .. } => {
            Ray { origin: pose.pos + axes.x * x + axes.y * y, direction: -axes.z, own: camera.body, depth: 1.0 }
        }
        Lens::Fovy(_) | Lens::Sensor { .. } => {
            let depth = 1.0 / (x * x + y * y + 1.0).sqrt();
            let direction = (axes.x * x + axes.y * y - axes.z) * depth;
            Ray { origin: pose.pos, direction, own: camera.body, depth }
        }
    }
}
