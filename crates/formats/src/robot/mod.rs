//! What URDF and SDFormat share: where files are, meshes, geoms, joints that follow others, actuators that neither has.

pub(crate) mod actuators;
pub(crate) mod couplings;
pub(crate) mod geoms;
pub(crate) mod mesh;
pub(crate) mod resolve;
pub(crate) mod start;

use spatial::{Quat, Vec3};

/// The rotation of roll, pitch and yaw about **fixed** x, y and z in this order, R = R_z(yaw) R_y(pitch) R_x(roll), rad.
pub(crate) fn from_rpy([roll, pitch, yaw]: [f64; 3]) -> Quat<f64> {
    let about = |axis, angle| Quat::from_axis_angle(axis, angle);
    about(Vec3::new(0.0, 0.0, 1.0), yaw)
        * about(Vec3::new(0.0, 1.0, 0.0), pitch)
        * about(Vec3::new(1.0, 0.0, 0.0), roll)
}
