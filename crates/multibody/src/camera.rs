//! Where pictures are taken from.

use spatial::{Pose, Vec3};

/// A camera fixed in a body, or that follows one. It looks along the −z axis of its frame, with x to the right and y up.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Camera {
    /// Name; empty when the file gives none.
    pub name: String,
    /// The body.
    pub body: usize,
    /// Its frame in the body's frame (in the default configuration, for cameras that do not turn with the body).
    pub pose: Pose<f64>,
    /// What of the world it sees.
    pub lens: Lens,
    /// Columns and rows of its sensor, where the file says.
    pub resolution: Option<[u32; 2]>,
    /// How it moves.
    pub mode: CameraMode,
}

/// What of the world a camera sees.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Lens {
    /// A vertical field of view, rad, in (0, π); the axis is in the middle of the picture.
    Fovy(f64),
    /// A sensor behind a lens, all lengths in the same unit. The whole sensor is the picture, whatever the shape of its pixels.
    Sensor {
        /// Focal lengths along columns and rows, above 0.
        focal: [f64; 2],
        /// Width and height of the sensor, above 0.
        size: [f64; 2],
        /// How far the picture lies to the right of the axis, and below it.
        principal: [f64; 2],
    },
    /// Parallel rays through a picture of this height, m, above 0. Pictures are drawn in perspective: with this height at depth 1.
    Parallel {
        /// Height of the picture.
        height: f64,
    },
}

impl Camera {
    /// Columns and rows of its sensor: one pixel where the file says nothing, as in MuJoCo.
    pub fn pixels(&self) -> [u32; 2] {
        self.resolution.unwrap_or([1; 2])
    }
}

impl Lens {
    /// What is seen at depth 1 in a picture of this width by height: the middle and half the extents, to the right and upwards; through parallel
    /// rays at any depth.
    pub fn window(&self, width: f64, height: f64) -> ([f64; 2], [f64; 2]) {
        match *self {
            Self::Fovy(fovy) => {
                let half = libm::tan(0.5 * fovy);
                ([0.0; 2], [half * width / height, half])
            }
            Self::Sensor { focal: [fx, fy], size: [width, height], principal: [x, y] } => {
                ([x / fx, -y / fy], [0.5 * width / fx, 0.5 * height / fy])
            }
            Self::Parallel { height: seen } => ([0.0; 2], [0.5 * seen * width / height, 0.5 * seen]),
        }
    }
}

/// How a camera moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CameraMode {
    /// With the body.
    #[default]
    Fixed,
    /// With the origin of the body; it does not turn.
    Track,
    /// With the centre of mass of the body and all its descendants; it does not turn.
    TrackCom,
    /// With the body; it turns to the origin of this other body.
    TargetBody(usize),
    /// With the body; it turns to the centre of mass of this other body and all its descendants.
    TargetBodyCom(usize),
}

/// From where a model is looked at when nothing else is said (MJCF `<statistic>` and `<visual><global>`).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DefaultView {
    /// The point looked at, m; found from the geoms where `None`.
    pub centre: Option<Vec3<f64>>,
    /// The size of the model, m; found from the geoms where `None`.
    pub extent: Option<f64>,
    /// The direction of looking about z, from x, rad.
    pub azimuth: f64,
    /// The direction of looking above the horizon, rad.
    pub elevation: f64,
    /// Vertical field of view, rad.
    pub fovy: f64,
}

impl Default for DefaultView {
    fn default() -> Self {
        use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
        Self { centre: None, extent: None, azimuth: FRAC_PI_2, elevation: -FRAC_PI_4, fovy: FRAC_PI_4 }
    }
}
