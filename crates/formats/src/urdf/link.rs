//! `<inertial>`.

use spatial::{RigidInertia, Sym3, Vec3};

use super::pose;
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Mass, centre of mass and inertia of a link; zero without `<inertial>`.
pub(super) fn inertia(link: Element<'_>, warnings: &mut Warnings) -> Result<RigidInertia<f64>, LoadError> {
    // An attribute that urdfdom knows and nobody uses.
    link.skip(&["type"]);
    let Some(inertial) = link.child("inertial") else {
        return Ok(RigidInertia::ZERO);
    };
    let frame = pose::origin(inertial)?;
    let mass = match inertial.child("mass") {
        Some(mass) => mass.number("value")?.ok_or_else(|| mass.error("no attribute `value`: expected one"))?,
        None => {
            warnings.add(inertial, "no <mass>: the link has none");
            0.0
        }
    };
    let about_com = match inertial.child("inertia") {
        Some(inertia) => matrix(inertia)?,
        None => {
            warnings.add(inertial, "no <inertia>: the link is a point mass");
            Sym3::ZERO
        }
    };
    let inertia = RigidInertia { mass, com: frame.pos, inertia: about_com.rotated(frame.rot.to_mat3()) + Sym3::ZERO };
    if mass.is_finite() && multibody::inertia_flaw(&inertia).is_some() {
        warnings.add(inertial, "an inertia that no rigid body has (principal moments): used as it is");
    }
    Ok(inertia)
}

fn matrix(inertia: Element<'_>) -> Result<Sym3<f64>, LoadError> {
    let entry =
        |name: &str| inertia.number(name)?.ok_or_else(|| inertia.error(format!("no attribute `{name}`: expected one")));
    let diagonal = Vec3::new(entry("ixx")?, entry("iyy")?, entry("izz")?);
    Ok(Sym3::new([diagonal.x, entry("ixy")?, entry("ixz")?, diagonal.y, entry("iyz")?, diagonal.z]))
}
