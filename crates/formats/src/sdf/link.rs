//! `<inertial>`.

use spatial::{RigidInertia, Sym3, Vec3};

use super::value::{self, GivenPose};
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Density of shapes whose mass is wanted, kg/m³: that of water.
pub(super) const DENSITY: f64 = 1000.0;

/// Where the mass of a link comes from.
pub(super) enum Mass {
    /// The file says it.
    Given(RigidInertia<f64>),
    /// Its collision shapes, as dense as they or `<inertial>` say, all together of this mass if there is one.
    FromShapes {
        /// Density of shapes that say none, kg/m³.
        density: f64,
        /// Mass of the link, kg.
        mass: Option<f64>,
    },
}

/// The mass of a link. What the file leaves out is 1 kg and 1 kg·m² about each axis, as the format has it.
pub(super) fn mass(link: Element<'_>, warnings: &mut Warnings) -> Result<Mass, LoadError> {
    let Some(inertial) = link.child("inertial") else {
        return Ok(Mass::Given(RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: unit() }));
    };
    let density = value::positive(inertial, "density")?;
    if inertial.attribute("auto").is_some_and(|text| matches!(text.trim(), "true" | "1")) {
        let mass = value::positive(inertial, "mass")?;
        return Ok(Mass::FromShapes { density: density.unwrap_or(DENSITY), mass });
    }
    let GivenPose { pose: frame, relative_to } = value::pose(inertial)?.unwrap_or(GivenPose::NONE);
    if relative_to.is_some() {
        warnings.add(inertial, "relative_to of its pose: taken in the frame of the link");
    }
    let mass = value::positive(inertial, "mass")?.unwrap_or(1.0);
    let about_com = inertial.child("inertia").map_or(Ok(unit()), matrix)?;
    let inertia = RigidInertia { mass, com: frame.pos, inertia: about_com.rotated(frame.rot.to_mat3()) };
    if multibody::inertia_flaw(&inertia).is_some() {
        warnings.add(inertial, "an inertia that no rigid body has (principal moments): used as it is");
    }
    Ok(Mass::Given(inertia))
}

fn unit() -> Sym3<f64> {
    Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0))
}

fn matrix(inertia: Element<'_>) -> Result<Sym3<f64>, LoadError> {
    let entry = |name: &str, default: f64| Ok(value::number(inertia, name)?.unwrap_or(default));
    let diagonal = Vec3::new(entry("ixx", 1.0)?, entry("iyy", 1.0)?, entry("izz", 1.0)?);
    let [xy, xz, yz] = [entry("ixy", 0.0)?, entry("ixz", 0.0)?, entry("iyz", 0.0)?];
    Ok(Sym3::new([diagonal.x, xy, xz, diagonal.y, yz, diagonal.z]))
}
