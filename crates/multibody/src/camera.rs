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
    /// Vertical field of view, rad.
    pub fovy: f64,
    /// How it moves.
    pub mode: CameraMode,
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
