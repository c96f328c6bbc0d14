//! Values, which SDFormat writes between tags.

use spatial::{Pose, Quat};

use crate::LoadError;
use crate::robot::from_rpy;
use crate::xml::{Element, parse_array, shortened};

/// Numbers from here on stand for infinity.
const INFINITE: f64 = 1e16;

/// What stands between the tags of the first child of this name, without blanks around it; none where there is nothing.
pub(super) fn text<'a>(parent: Element<'a>, name: &str) -> Option<(Element<'a>, &'a str)> {
    let child = parent.child(name)?;
    Some((child, child.text().trim())).filter(|(_, text)| !text.is_empty())
}

/// The word between the tags, which may not be left out.
pub(super) fn required<'a>(parent: Element<'a>, name: &str) -> Result<&'a str, LoadError> {
    // Before version 1.0 it was an attribute.
    let old = || parent.child(name)?.attribute("link");
    let found = text(parent, name).map(|(_, text)| text).or_else(old);
    found.ok_or_else(|| parent.error(format!("no <{name}>: expected one with text in it")))
}

/// The finite numbers between the tags.
pub(super) fn array<const N: usize>(parent: Element<'_>, name: &str) -> Result<Option<[f64; N]>, LoadError> {
    text(parent, name).map(|(element, text)| parse_array(element, "text", text)).transpose()
}

/// The finite number between the tags.
pub(super) fn number(parent: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    Ok(array::<1>(parent, name)?.map(|[x]| x))
}

/// The number between the tags, which may not be negative.
pub(super) fn positive(parent: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    match number(parent, name)? {
        Some(x) if x < 0.0 => Err(parent.error(format!("{name} {x}: expected a number of 0 or more"))),
        other => Ok(other),
    }
}

/// The number between the tags, which may be infinite.
pub(super) fn bound(parent: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    let Some((element, text)) = text(parent, name) else { return Ok(None) };
    let number = text.parse::<f64>().ok().filter(|x| !x.is_nan());
    let number = number.ok_or_else(|| element.error(format!("\"{}\": expected a number", shortened(text))))?;
    Ok(Some(if number.abs() >= INFINITE { f64::INFINITY.copysign(number) } else { number }))
}

/// Whether `true` or 1 stands between the tags; none without the element.
pub(super) fn flag(parent: Element<'_>, name: &str) -> Result<Option<bool>, LoadError> {
    let Some((element, text)) = text(parent, name) else { return Ok(None) };
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        _ => Err(element.error(format!("\"{}\": expected true or false", shortened(text)))),
    }
}

/// A `<pose>`.
#[derive(Clone, Copy)]
pub(super) struct GivenPose<'a> {
    /// The placement.
    pub pose: Pose<f64>,
    /// The frame that it is meant in; none where the format's own rule says it.
    pub relative_to: Option<&'a str>,
}

impl GivenPose<'_> {
    /// That of elements without one.
    pub const NONE: Self = Self { pose: Pose::IDENTITY, relative_to: None };
}

/// The `<pose>` of an element; none without one.
pub(super) fn pose<'a>(parent: Element<'a>) -> Result<Option<GivenPose<'a>>, LoadError> {
    let Some(element) = parent.child("pose") else { return Ok(None) };
    // Up to version 1.6 the attribute had another name, and mostly no value.
    let frame = element.attribute("relative_to").or(element.attribute("frame"));
    let relative_to = frame.map(str::trim).filter(|name| !name.is_empty());
    let in_degrees = element.attribute("degrees").is_some_and(|text| matches!(text.trim(), "true" | "1"));
    let format = element.attribute("rotation_format").unwrap_or("euler_rpy").trim();
    let Some((_, text)) = text(parent, "pose") else {
        return Ok(Some(GivenPose { pose: Pose::IDENTITY, relative_to }));
    };
    let pose = match format {
        "euler_rpy" => {
            let [x, y, z, roll, pitch, yaw] = parse_array(element, "text", text)?;
            let unit = if in_degrees { std::f64::consts::PI / 180.0 } else { 1.0 };
            Pose::new([x, y, z].into(), from_rpy([roll, pitch, yaw].map(|angle| unit * angle)))
        }
        "quat_xyzw" => {
            let [x, y, z, qx, qy, qz, qw] = parse_array(element, "text", text)?;
            let rot = Quat::new(qw, qx, qy, qz).normalized();
            let rot = rot.ok_or_else(|| element.error("a quaternion of zero length: expected a unit quaternion"))?;
            Pose::new([x, y, z].into(), rot)
        }
        _ => {
            return Err(
                element.error(format!("rotation_format=\"{}\": expected euler_rpy or quat_xyzw", shortened(format)))
            );
        }
    };
    Ok(Some(GivenPose { pose, relative_to }))
}
