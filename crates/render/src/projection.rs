//! From the world to samples of a picture.
//!
//! A sample (column i, row j) looks along d = (x, y, −1) in the camera's frame, with (x, y) linear in (i, j). The *nearness* w of a point
//! grows towards the camera: 1 / depth in perspective, −depth plus a constant for parallel rays. In both, w of a plane is linear in
//! (x, y), and w of a quadric is linear plus the square root of a quadratic form: see `primitives.rs`.

use spatial::{Mat3, Pose, Vec3};

use crate::View;

type Vector = Vec3<f64>;

/// Where the samples of a picture look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    /// The camera's frame in the world: x to the right, y up, looking along −z.
    pub pose: Pose<f64>,
    /// The rotation from the camera's frame to the world.
    pub rot: Mat3<f64>,
    /// Columns and rows of samples.
    pub size: [usize; 2],
    /// Samples of a pixel along each side.
    pub samples: usize,
    /// Distances of neighbouring samples of a row and of a column at depth 1, or in metres for parallel rays.
    pub pitch: [f64; 2],
    /// (x, y) in the middle of the picture.
    pub middle: [f64; 2],
    /// What holds between depth and nearness.
    pub rays: Rays,
    /// The greatest nearness that is seen.
    pub nearest: f64,
}

/// How rays run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rays {
    /// All through the origin: w = 1 / depth.
    Central,
    /// All along −z: w = `offset` − depth.
    Parallel { offset: f64 },
}

impl Projection {
    /// That of a view, with `samples` by `samples` samples a pixel.
    pub fn of_view(view: &View, size: [usize; 2], samples: usize) -> Self {
        let (middle, half) = view.lens.window(size[0] as f64, size[1] as f64);
        let size = size.map(|n| n * samples);
        let pitch = [2.0 * half[0] / size[0] as f64, 2.0 * half[1] / size[1] as f64];
        let rot = view.pose.rot.to_mat3();
        Self { pose: view.pose, rot, size, samples, pitch, middle, rays: Rays::Central, nearest: 1.0 / view.near }
    }

    /// Parallel rays along `direction` through a square of half the width `radius` about `centre`.
    pub fn parallel(centre: Vector, direction: Vector, radius: f64, size: usize) -> Self {
        let (x, y) = direction.tangents();
        let mut rot = Mat3::from_columns(x, y, -direction);
        if x.cross(y).dot(-direction) < 0.0 {
            rot = Mat3::from_columns(y, x, -direction);
        }
        let pos = centre - direction * (2.0 * radius);
        let pose = Pose::new(pos, spatial::Quat::from_mat3(&rot));
        let rays = Rays::Parallel { offset: 4.0 * radius };
        let pitch = [2.0 * radius / size as f64; 2];
        Self { pose, rot, size: [size; 2], samples: 1, pitch, middle: [0.0; 2], rays, nearest: 4.0 * radius }
    }

    /// A point of the world in the camera's frame.
    pub fn point(&self, p: Vector) -> Vector {
        self.rot.transpose_mul(p - self.pose.pos)
    }

    /// The frame of something in the world, as a rotation and an origin in the camera's frame.
    pub fn frame(&self, pose: &Pose<f64>) -> (Mat3<f64>, Vector) {
        (self.rot.transpose() * pose.rot.to_mat3(), self.point(pose.pos))
    }

    /// (x, y, −1) at a sample.
    pub fn direction(&self, [i, j]: [f64; 2]) -> Vector {
        let [columns, rows] = self.size;
        let x = self.pitch[0] * (i + 0.5 - 0.5 * columns as f64);
        let y = -self.pitch[1] * (j + 0.5 - 0.5 * rows as f64);
        Vec3::new(self.middle[0] + x, self.middle[1] + y, -1.0)
    }

    /// The sample, not rounded, that sees a point before the camera.
    pub fn sample(&self, p: Vector) -> [f64; 2] {
        let scale = match self.rays {
            Rays::Central => 1.0 / -p.z,
            Rays::Parallel { .. } => 1.0,
        };
        let [columns, rows] = self.size.map(|n| 0.5 * n as f64 - 0.5);
        let [x, y] = [p.x * scale - self.middle[0], p.y * scale - self.middle[1]];
        [x / self.pitch[0] + columns, rows - y / self.pitch[1]]
    }

    /// l · d as c₀ + c₁ u + c₂ v, with (u, v) counted from the sample `at`.
    pub fn linear(&self, l: Vector, at: [f64; 2]) -> [f32; 3] {
        let d = self.direction(at);
        [l.x * d.x + l.y * d.y - l.z, l.x * self.pitch[0], -l.y * self.pitch[1]].map(|c| c as f32)
    }

    /// dᵀ S d of a symmetric S as c₀ + c₁ u + c₂ v + c₃ u² + c₄ uv + c₅ v², with (u, v) counted from the sample `at`.
    pub fn quadratic(&self, s: &Mat3<f64>, at: [f64; 2]) -> [f32; 6] {
        let (d, [p, r]) = (self.direction(at), self.pitch);
        let sd = *s * d;
        let [xx, xy, yy] = [s.x.x, s.x.y, s.y.y];
        [d.dot(sd), 2.0 * p * sd.x, -2.0 * r * sd.y, p * p * xx, -2.0 * p * r * xy, r * r * yy].map(|c| c as f32)
    }

    /// Whether a point is clearly before the camera.
    pub fn sees(&self, p: Vector) -> bool {
        match self.rays {
            Rays::Central => -p.z * self.nearest > 1e-3,
            Rays::Parallel { .. } => true,
        }
    }

    /// Whether the camera is in the capsule between two points.
    pub fn is_inside_capsule(&self, a: Vector, b: Vector, radius: f64) -> bool {
        let along = b - a;
        let length = along.norm_squared();
        let t = if length > 0.0 { (-a.dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        self.rays == Rays::Central && (a + along * t).norm() <= radius
    }

    /// The samples that can see something of the convex hull of these points: first and last column, first and last row. None outside.
    pub fn bounds(&self, points: &[Vector]) -> Option<Bounds> {
        let [columns, rows] = self.size;
        let all = Bounds { columns: [0, columns as u16], rows: [0, rows as u16] };
        let seen = points.iter().filter(|p| self.sees(**p)).count();
        if seen == 0 {
            return None;
        }
        if seen < points.len() {
            return Some(all);
        }
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for &p in points {
            let at = self.sample(p);
            for k in 0..2 {
                low[k] = low[k].min(at[k]);
                high[k] = high[k].max(at[k]);
            }
        }
        // A float that is cast saturates, and no number becomes 0.
        let range = |k: usize, n: usize| {
            let first = (low[k] - 1e-3).ceil().max(0.0);
            let last = (high[k] + 1e-3).floor().min(n as f64 - 1.0);
            (first <= last).then(|| [first as u16, last as u16 + 1])
        };
        Some(Bounds { columns: range(0, columns)?, rows: range(1, rows)? })
    }
}

/// A rectangle of samples: first, and one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub columns: [u16; 2],
    pub rows: [u16; 2],
}
