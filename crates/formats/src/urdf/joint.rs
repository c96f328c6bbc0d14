//! `<joint>`.

use multibody::{JointKind, JointSpec};
use spatial::Vec3;

use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

const X: Vec3<f64> = Vec3::new(1.0, 0.0, 0.0);
const Y: Vec3<f64> = Vec3::new(0.0, 1.0, 0.0);
const Z: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

/// Axes whose length is further from 1 than this are no matter of rounding.
const ROUNDING: f64 = 1e-3;

/// The joints of the body that hangs on this `<joint>`, in order: one, none for a fixed joint, four for a floating
/// joint below a link that moves. `below_world` tells that the link above it is fixed to the world.
pub(super) fn specs(
    joint: Element<'_>,
    below_world: bool,
    warnings: &mut Warnings,
) -> Result<Vec<JointSpec>, LoadError> {
    let name = joint.required("name")?;
    let kind = joint.required("type")?;
    let one = |kind| Ok(vec![JointSpec { name: name.into(), ..JointSpec::new(kind) }]);
    let mut specs = match kind {
        "revolute" | "continuous" => one(JointKind::Revolute { axis: axis(joint, warnings)? }),
        "prismatic" => one(JointKind::Prismatic { axis: axis(joint, warnings)? }),
        "planar" => {
            let normal = axis(joint, warnings)?;
            let (first, second) = normal.tangents();
            one(JointKind::Planar { axes: [first, second, normal] })
        }
        // MuJoCo's name, and that of PyBullet.
        "ball" | "spherical" => one(JointKind::Ball),
        "floating" if below_world => one(JointKind::Free),
        "floating" => {
            let message = "below a moving link: three prismatic joints (_x, _y, _z) and a ball joint";
            warnings.add_attribute(joint, "type=\"floating\"", message);
            Ok(floating(name))
        }
        "fixed" => {
            // Exporters write these at fixed joints, too, where they mean nothing.
            ["axis", "limit", "dynamics", "mimic"].iter().filter_map(|c| joint.child(c)).for_each(Element::skip_all);
            return Ok(Vec::new());
        }
        _ => {
            let expected = "expected revolute, continuous, prismatic, fixed, floating, planar or spherical";
            Err(joint.error(format!("type=\"{kind}\": {expected}")))
        }
    }?;
    let Limits { range, effort } = limits(joint, kind, warnings)?;
    let (damping, friction_loss) = dynamics(joint)?;
    for spec in &mut specs {
        (spec.range, spec.effort_limit) = (range, effort.map(|effort| (-effort, effort)));
        (spec.damping, spec.friction_loss) = (damping, friction_loss);
    }
    Ok(specs)
}

/// A free joint must be at a root; below other bodies the same motion is composed.
fn floating(name: &str) -> Vec<JointSpec> {
    let slide = |(suffix, axis)| (suffix, JointKind::Prismatic { axis });
    let slides = [("_x", X), ("_y", Y), ("_z", Z)].map(slide);
    let kinds = slides.into_iter().chain([("", JointKind::Ball)]);
    kinds.map(|(suffix, kind)| JointSpec { name: format!("{name}{suffix}"), ..JointSpec::new(kind) }).collect()
}

/// The unit vector along `<axis>`; x without one.
fn axis(joint: Element<'_>, warnings: &mut Warnings) -> Result<Vec3<f64>, LoadError> {
    let Some(element) = joint.child("axis") else {
        return Ok(X);
    };
    let given = Vec3::from(element.array("xyz")?.unwrap_or(X.to_array()));
    let Some(axis) = given.normalized() else {
        warnings.add(element, "of zero length: replaced by 1 0 0, the default");
        return Ok(X);
    };
    if (given.norm() - 1.0).abs() > ROUNDING {
        warnings.add(element, "not of unit length: normalised");
    }
    Ok(axis)
}

/// What `<limit>` says.
#[derive(Default)]
struct Limits {
    /// The range of the coordinate.
    range: Option<(f64, f64)>,
    /// The greatest force of a drive.
    effort: Option<f64>,
}

fn limits(joint: Element<'_>, kind: &str, warnings: &mut Warnings) -> Result<Limits, LoadError> {
    let bounded = matches!(kind, "revolute" | "prismatic");
    let Some(limit) = joint.child("limit") else {
        if bounded {
            warnings.add(joint, "no <limit>: the joint moves without limits");
        }
        return Ok(Limits::default());
    };
    let (lower, upper) = (bound(limit, "lower")?, bound(limit, "upper")?);
    if bound(limit, "velocity")?.is_some_and(f64::is_finite) {
        warnings.add_attribute(limit, "velocity", "speeds are not limited: ignored");
    }
    let effort = bound(limit, "effort")?;
    if effort.is_some_and(|e| e <= 0.0) {
        warnings.add_attribute(limit, "effort", "not above 0: taken as no limit");
    }
    let effort = effort.filter(|e| *e > 0.0 && e.is_finite());
    if !bounded {
        return Ok(Limits { range: None, effort });
    }
    let (low, high) = match (lower, upper) {
        (None, None) => {
            warnings.add(limit, "neither lower nor upper: the joint moves without limits");
            return Ok(Limits { range: None, effort });
        }
        // What the format says about an attribute that is left out.
        (lower, upper) => (lower.unwrap_or(0.0), upper.unwrap_or(0.0)),
    };
    if low > high {
        return Err(limit.error(format!("lower=\"{low}\" upper=\"{high}\": expected lower ≤ upper")));
    }
    let unlimited = low == f64::NEG_INFINITY && high == f64::INFINITY;
    Ok(Limits { range: (!unlimited).then_some((low, high)), effort })
}

/// A number that may be infinite.
fn bound(limit: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    let Some(text) = limit.attribute(name) else {
        return Ok(None);
    };
    let number = text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    number.map(Some).ok_or_else(|| limit.error(format!("{name}=\"{text}\": expected a number")))
}

/// Damping and Coulomb friction.
fn dynamics(joint: Element<'_>) -> Result<(f64, f64), LoadError> {
    let Some(dynamics) = joint.child("dynamics") else {
        return Ok((0.0, 0.0));
    };
    Ok((dynamics.number("damping")?.unwrap_or(0.0), dynamics.number("friction")?.unwrap_or(0.0)))
}
