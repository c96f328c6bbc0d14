//! `<inertial>`, and the inertia of a body from its geoms.

use spatial::{Pose, Quat, RigidInertia, Sym3};

use super::compiler::{Compiler, InertiaFromGeom};
use super::defaults::Attributes;
use super::geom::GeomMass;
use crate::LoadError;

/// Reads an `<inertial>` of a body. `frame` is that of the `<frame>` elements around it.
pub(super) fn inertial(
    attributes: &Attributes<'_, '_>,
    compiler: &Compiler,
    frame: Pose<f64>,
) -> Result<RigidInertia<f64>, LoadError> {
    let element = attributes.element();
    let missing = |name: &str| element.error(format!("no attribute `{name}`: expected one"));
    let mass = attributes.number("mass")?.ok_or_else(|| missing("mass"))?;
    let pos: [f64; 3] = attributes.array("pos")?.ok_or_else(|| missing("pos"))?;
    if mass < 0.0 {
        return Err(element.error(format!("mass=\"{mass}\": expected 0 or more")));
    }
    let orientation = compiler.angles.orientation(attributes)?;
    let (full, diagonal) = (attributes.array::<6>("fullinertia")?, attributes.array::<3>("diaginertia")?);
    let inertia = match (full, diagonal) {
        (Some(_), Some(_)) => {
            return Err(element.error("has both `fullinertia` and `diaginertia`: expected one of them"));
        }
        (Some(_), None) if orientation.is_some() => {
            return Err(element.error("has both `fullinertia` and an orientation: expected one of them"));
        }
        (Some([xx, yy, zz, xy, xz, yz]), None) => Sym3 { xx, xy, xz, yy, yz, zz },
        (None, diagonal) => Sym3::diagonal(diagonal.unwrap_or([0.0; 3]).into()),
    };
    let pose = frame * Pose::new(pos.into(), orientation.unwrap_or(Quat::IDENTITY));
    Ok(RigidInertia { mass, com: pose.pos, inertia: inertia.rotated(pose.rot.to_mat3()) })
}

/// The inertia of a body: from its `<inertial>`, or the sum of its geoms', then corrected as the compiler asks.
pub(super) fn of_body(
    explicit: Option<RigidInertia<f64>>,
    geoms: &[GeomMass],
    compiler: &Compiler,
) -> RigidInertia<f64> {
    let [low, high] = compiler.inertia_groups;
    let from_geoms = || {
        let selected = geoms.iter().filter(|g| (low..=high).contains(&g.group) && g.inertia.mass > 0.0);
        selected.fold(RigidInertia::ZERO, |sum, geom| sum.combined(&geom.inertia))
    };
    let inertia = match (compiler.inertia_from_geom, explicit) {
        (InertiaFromGeom::Always, _) | (InertiaFromGeom::Auto, None) => from_geoms(),
        (_, explicit) => explicit.unwrap_or(RigidInertia::ZERO),
    };
    corrected(inertia, compiler)
}

/// `boundmass`, `boundinertia` and `balanceinertia`.
fn corrected(mut inertia: RigidInertia<f64>, compiler: &Compiler) -> RigidInertia<f64> {
    inertia.mass = inertia.mass.max(compiler.bound_mass);
    if compiler.bound_inertia == 0.0 && !compiler.balance_inertia {
        return inertia;
    }
    let (axes, moments) = inertia.inertia.principal_axes();
    let mut bounded = moments.map(|m| m.max(compiler.bound_inertia));
    let [a, b, c] = bounded;
    if compiler.balance_inertia && (a + b < c || a + c < b || b + c < a) {
        bounded = [(a + b + c) / 3.0; 3];
    }
    // Only what changes is computed anew: no rounding for the rest.
    if bounded != moments {
        inertia.inertia = Sym3::diagonal(bounded.into()).rotated(axes);
    }
    inertia
}
