//! The ways to write a rotation.

use spatial::{Pose, Quat, Vec3};

use super::defaults::Attributes;
use crate::LoadError;
use crate::xml::{Element, parse_array};

/// The axes of the three rotations of `euler`, and whether each turns with the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct EulerSequence([(Vec3<f64>, bool); 3]);

/// Units and conventions of angles (`<compiler angle eulerseq>`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Angles {
    /// Radians per unit of the file.
    pub unit: f64,
    /// The rotations of `euler`.
    pub sequence: EulerSequence,
}

const FORMS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

impl EulerSequence {
    /// Intrinsic x, y, z.
    pub const XYZ: Self =
        Self([(Vec3::new(1.0, 0.0, 0.0), true), (Vec3::new(0.0, 1.0, 0.0), true), (Vec3::new(0.0, 0.0, 1.0), true)]);

    /// Three letters: lower case turns with the frame, upper case stays fixed in the parent.
    pub fn parse(element: Element<'_>, value: &str) -> Result<Self, LoadError> {
        let axis = |c: char| {
            let unit = match c.to_ascii_lowercase() {
                'x' => Vec3::new(1.0, 0.0, 0.0),
                'y' => Vec3::new(0.0, 1.0, 0.0),
                'z' => Vec3::new(0.0, 0.0, 1.0),
                _ => return None,
            };
            Some((unit, c.is_ascii_lowercase()))
        };
        let axes: Option<Vec<_>> = value.chars().map(axis).collect();
        axes.and_then(|axes| axes.try_into().ok().map(Self))
            .ok_or_else(|| element.error(format!("eulerseq=\"{value}\": expected three letters out of xyzXYZ")))
    }
}

impl Angles {
    /// The rotation by these Euler angles, in units of the file.
    pub fn euler(&self, angles: [f64; 3]) -> Quat<f64> {
        let turn = |rot: Quat<f64>, ((axis, moving), angle): ((Vec3<f64>, bool), f64)| {
            let next = Quat::from_axis_angle(axis, angle * self.unit);
            if moving { rot * next } else { next * rot }
        };
        self.sequence.0.into_iter().zip(angles).fold(Quat::IDENTITY, turn)
    }

    /// The pose of an element with `pos` and one form of orientation.
    pub fn pose(&self, attributes: &Attributes<'_, '_>) -> Result<Pose<f64>, LoadError> {
        let pos = attributes.array("pos")?.map_or(Vec3::ZERO, Vec3::from);
        Ok(Pose::new(pos, self.orientation(attributes)?.unwrap_or_default()))
    }

    /// The orientation of an element; `None` when it has none.
    pub fn orientation(&self, attributes: &Attributes<'_, '_>) -> Result<Option<Quat<f64>>, LoadError> {
        let Some((at, form, value)) = attributes.find(&FORMS) else { return Ok(None) };
        if let Some(other) = FORMS.iter().find(|&&f| f != form && at.attribute(f).is_some()) {
            return Err(at.error(format!("has both `{form}` and `{other}`: expected one orientation")));
        }
        let fail = |expected: &str| at.error(format!("{form}=\"{value}\": expected {expected}"));
        let rot = match form {
            "quat" => {
                let [w, x, y, z] = parse_array(at, form, value)?;
                unit(Quat::new(w, x, y, z)).ok_or_else(|| fail("a quaternion that is not zero"))?
            }
            "axisangle" => {
                let [x, y, z, angle] = parse_array(at, form, value)?;
                let axis = Vec3::new(x, y, z).normalized().ok_or_else(|| fail("an axis that is not zero"))?;
                Quat::from_axis_angle(axis, angle * self.unit)
            }
            "euler" => self.euler(parse_array(at, form, value)?),
            "xyaxes" => {
                let [a, b, c, d, e, f] = parse_array(at, form, value)?;
                from_xy_axes([a, b, c].into(), [d, e, f].into())
                    .ok_or_else(|| fail("two axes that are not parallel"))?
            }
            _ => {
                let axis: Vec3<f64> = parse_array(at, form, value)?.into();
                from_z_axis(axis.normalized().ok_or_else(|| fail("an axis that is not zero"))?)
            }
        };
        Ok(Some(rot))
    }
}

/// A quaternion of length 1; one that is that to round-off is taken as it is.
pub(super) fn unit(quaternion: Quat<f64>) -> Option<Quat<f64>> {
    let Quat { w, x, y, z } = quaternion;
    let is_unit = (w * w + x * x + y * y + z * z - 1.0).abs() <= 4.0 * f64::EPSILON;
    if is_unit { Some(quaternion) } else { quaternion.normalized() }
}

/// The rotation whose z axis is the unit vector `axis`: the shortest one from z, half a turn about x from z to −z.
pub(super) fn from_z_axis(axis: Vec3<f64>) -> Quat<f64> {
    Quat::between(Vec3::new(0.0, 0.0, 1.0), axis)
}

/// The rotation with x along `x` and y in the plane of `x` and `y`.
fn from_xy_axes(x: Vec3<f64>, y: Vec3<f64>) -> Option<Quat<f64>> {
    let x = x.normalized()?;
    let y = (y - x * x.dot(y)).normalized()?;
    Some(Quat::from_mat3(&spatial::Mat3::from_columns(x, y, x.cross(y))))
}
