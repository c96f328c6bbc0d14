//! `<origin>`.

use spatial::{Pose, Quat, Vec3};

use crate::LoadError;
use crate::xml::Element;

/// The placement that the `<origin>` of an element describes; the identity without one.
///
/// `rpy`: roll, pitch and yaw about **fixed** x, y and z in this order, R = R_z(yaw) R_y(pitch) R_x(roll).
pub(super) fn origin(element: Element<'_>) -> Result<Pose<f64>, LoadError> {
    let Some(origin) = element.child("origin") else {
        return Ok(Pose::IDENTITY);
    };
    // Zeros without a sign: products of frames keep none.
    let pos = Vec3::from(origin.array::<3>("xyz")?.unwrap_or_default()) + Vec3::ZERO;
    let rot = match (origin.array::<4>("quat_xyzw")?, origin.array::<3>("rpy")?) {
        (Some(_), Some(_)) => return Err(origin.error("both quat_xyzw and rpy: expected one of them")),
        (Some([x, y, z, w]), None) => Quat::new(w, x, y, z)
            .normalized()
            .ok_or_else(|| origin.error("quat_xyzw of zero length: expected a unit quaternion"))?,
        (None, rpy) => from_rpy(rpy.unwrap_or_default()),
    };
    Ok(Pose::new(pos, rot))
}

fn from_rpy([roll, pitch, yaw]: [f64; 3]) -> Quat<f64> {
    let about = |axis, angle| Quat::from_axis_angle(axis, angle);
    about(Vec3::new(0.0, 0.0, 1.0), yaw)
        * about(Vec3::new(0.0, 1.0, 0.0), pitch)
        * about(Vec3::new(1.0, 0.0, 0.0), roll)
}
