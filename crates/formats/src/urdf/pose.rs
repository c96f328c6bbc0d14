//! `<origin>`.

use spatial::{Pose, Quat, Vec3};

use crate::LoadError;
use crate::robot::from_rpy;
use crate::xml::Element;

/// The placement that the `<origin>` of an element describes; the identity without one.
///
/// `rpy`: [`from_rpy`].
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
