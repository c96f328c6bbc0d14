//! Cameras: where they are, and where they look.

use std::f64::consts::FRAC_PI_2;

use multibody::{CameraMode, Lens, Model};
use spatial::{Mat3, Pose, Quat, Vec3};

type Vector = Vec3<f64>;

/// A camera in the world: it looks along −z of its frame, with x to the right and y up.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its frame in the world.
    pub pose: Pose<f64>,
    /// What of the world it sees.
    pub lens: Lens,
    /// What is nearer than this is not seen, m, above 0.
    pub near: f64,
}

/// A camera that looks at a point.
#[derive(Clone, Copy, Debug)]
pub struct FreeCamera {
    /// The point looked at, in the world or from the origin of the tracked body, in world axes, m.
    pub lookat: Vector,
    /// Its distance, m.
    pub distance: f64,
    /// The direction of looking about z, from x, rad.
    pub azimuth: f64,
    /// The direction of looking above the horizon, rad.
    pub elevation: f64,
    /// What of the world it sees.
    pub lens: Lens,
    /// The body that it moves with; it does not turn.
    pub track: Option<usize>,
}

/// Who takes a picture.
#[derive(Clone, Copy, Debug)]
pub enum Eye {
    /// A camera of the model.
    Model(usize),
    /// A camera that looks at a point.
    Free(FreeCamera),
    /// A camera at this place.
    Fixed {
        /// Its frame in the world.
        pose: Pose<f64>,
        /// What of the world it sees.
        lens: Lens,
    },
}

impl FreeCamera {
    /// Its frame in the world when the tracked body is at `origin`.
    #[must_use]
    pub fn pose(&self, origin: Vector) -> Pose<f64> {
        let ((sa, ca), (se, ce)) = (libm::sincos(self.azimuth), libm::sincos(self.elevation));
        let forward = Vec3::new(ce * ca, ce * sa, se);
        let right = Vec3::new(sa, -ca, 0.0);
        let rot = Mat3::from_columns(right, right.cross(forward), -forward);
        Pose::new(origin + self.lookat - forward * self.distance, Quat::from_mat3(&rot))
    }
}

/// The frame of a camera that stands at a point and looks at another, upright; looking straight down, y is up in the
/// picture. `None` where the points are one.
#[must_use]
pub fn looking_at(position: Vector, lookat: Vector) -> Option<Pose<f64>> {
    let way = lookat - position;
    let distance = way.norm();
    if distance.is_nan() || distance <= 0.0 {
        return None;
    }
    let level = libm::hypot(way.x, way.y);
    let azimuth = if level > 0.0 { libm::atan2(way.y, way.x) } else { FRAC_PI_2 };
    let elevation = libm::atan2(way.z, level);
    let free = FreeCamera { lookat, distance, azimuth, elevation, lens: Lens::Fovy(1.0), track: None };
    // Exactly there: `pose` goes back from the point looked at.
    Some(Pose::new(position, free.pose(Vec3::ZERO).rot))
}

/// What a camera that does not turn keeps of the default configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    rot: Quat<f64>,
    from_body: Vector,
    from_com: Vector,
}

/// Where a camera of the model stands in the default configuration.
pub(crate) fn homes(model: &Model, poses: &[Pose<f64>]) -> Vec<Home> {
    let of = |camera: &multibody::Camera| {
        let pose = poses[camera.body] * camera.pose;
        let com = subtree_com(model, poses, camera.body);
        Home { rot: pose.rot, from_body: pose.pos - poses[camera.body].pos, from_com: pose.pos - com }
    };
    model.cameras.iter().map(of).collect()
}

/// The frame of a camera of the model.
pub(crate) fn pose(model: &Model, poses: &[Pose<f64>], camera: usize, home: &Home) -> Pose<f64> {
    let camera = &model.cameras[camera];
    let fixed = poses[camera.body] * camera.pose;
    match camera.mode {
        CameraMode::Fixed => fixed,
        CameraMode::Track => Pose::new(poses[camera.body].pos + home.from_body, home.rot),
        CameraMode::TrackCom => Pose::new(subtree_com(model, poses, camera.body) + home.from_com, home.rot),
        CameraMode::TargetBody(body) => looking(fixed, poses[body].pos),
        CameraMode::TargetBodyCom(body) => looking(fixed, subtree_com(model, poses, body)),
    }
}

/// The camera turned to a point, level where that is possible.
fn looking(from: Pose<f64>, at: Vector) -> Pose<f64> {
    let level = |z: Vector| Some((Vec3::new(-z.y, z.x, 0.0).normalized()?, z));
    match (from.pos - at).normalized().and_then(level) {
        Some((x, z)) => Pose::new(from.pos, Quat::from_mat3(&Mat3::from_columns(x, z.cross(x), z))),
        None => from,
    }
}

/// The centre of mass of a body and its descendants; the body's origin when they have no mass.
fn subtree_com(model: &Model, poses: &[Pose<f64>], root: usize) -> Vector {
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    let mut below = vec![false; model.bodies.len()];
    for (k, body) in model.bodies.iter().enumerate() {
        below[k] = k == root || (k > 0 && below[body.parent]);
        if below[k] {
            mass += body.inertia.mass;
            moment += poses[k].transform_point(body.inertia.com) * body.inertia.mass;
        }
    }
    if mass > 0.0 { moment * (1.0 / mass) } else { poses[root].pos }
}
