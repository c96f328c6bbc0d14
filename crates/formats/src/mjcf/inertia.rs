//! `<inertial>`, and the inertia of a body from its geoms.

use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

use super::compiler::{Compiler, InertiaFromGeom};
use super::defaults::Attributes;
use super::geom::GeomMass;
use crate::LoadError;

/// An inertia, and its principal axes where the file has them.
pub(super) type WithAxes = (RigidInertia<f64>, Option<Quat<f64>>);

/// Reads an `<inertial>` of a body, and its principal axes if it names them. `frame` is that of the `<frame>` elements around it.
pub(super) fn inertial(
    attributes: &Attributes<'_, '_>,
    compiler: &Compiler,
    frame: Pose<f64>,
) -> Result<WithAxes, LoadError> {
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
        (Some([xx, yy, zz, xy, xz, yz]), None) => Sym3::new([xx, xy, xz, yy, yz, zz]),
        (None, diagonal) => Sym3::diagonal(diagonal.unwrap_or([0.0; 3]).into()),
    };
    let pose = frame * Pose::new(pos.into(), orientation.unwrap_or(Quat::IDENTITY));
    let inertia = RigidInertia { mass, com: pose.pos, inertia: inertia.rotated(pose.rot.to_mat3()) };
    Ok((inertia, full.is_none().then_some(pose.rot)))
}

/// The inertia of a body: from its `<inertial>`, or the sum of its geoms', then corrected as the compiler asks. Its principal axes, where
/// the file has them: those of the `<inertial>`, or of the only geom.
///
/// As in MuJoCo, a body for which nothing says where its mass is has it at `pose`, its pose in the parent, taken in its own frame: that
/// matters where the compiler bounds masses from below, and for sensors of such bodies.
pub(super) fn of_body(
    explicit: Option<WithAxes>,
    geoms: &[GeomMass],
    pose: Pose<f64>,
    compiler: &Compiler,
) -> WithAxes {
    let [low, high] = compiler.inertia_groups;
    let nothing = (RigidInertia { com: pose.pos, ..RigidInertia::ZERO }, Some(pose.rot));
    let from_geoms = || {
        let selected = || geoms.iter().filter(|g| (low..=high).contains(&g.group) && g.inertia.mass > 0.0);
        let inertia = selected().fold(RigidInertia::ZERO, |sum, geom| sum.combined(&geom.inertia));
        let mut all = selected();
        if inertia.mass == 0.0 {
            return nothing;
        }
        (inertia, all.next().filter(|_| all.next().is_none()).and_then(|geom| geom.axes))
    };
    let (inertia, axes) = match (compiler.inertia_from_geom, explicit) {
        (InertiaFromGeom::Always, _) | (InertiaFromGeom::Auto, None) => from_geoms(),
        (_, explicit) => explicit.unwrap_or(nothing),
    };
    let corrected = corrected(inertia, compiler);
    // Zeros without a sign, which no text tells apart.
    (RigidInertia { com: corrected.com + Vec3::ZERO, inertia: corrected.inertia + Sym3::ZERO, ..corrected }, axes)
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

/// The axes that a medium acts along, where the inertia of a body leaves its principal axes open, as two of its moments are equal: those of
/// the file, or the ones that MuJoCo chooses. None where they are along the body's frame.
pub(super) fn open_axes(inertia: Sym3<f64>, axes: Option<Quat<f64>>) -> Option<Quat<f64>> {
    /// Relative to the moments, and to 1 for the cosines of angles.
    const ROUND_OFF: f64 = 1e-9;
    let axes = axes.unwrap_or_else(|| ordered_principal_axes(inertia));
    let turn = axes.to_mat3();
    let [a, b, c] = inertia.rotated(turn.transpose()).diag().to_array();
    let are_equal = |x: f64, y: f64| (x - y).abs() <= ROUND_OFF * (a + b + c);
    let is_open = a + b + c > 0.0 && (are_equal(a, b) || are_equal(b, c) || are_equal(a, c));
    let is_along = |cosine: f64| cosine.abs() <= ROUND_OFF || (1.0 - cosine.abs()).abs() <= ROUND_OFF;
    let is_aligned = [turn.x, turn.y, turn.z].iter().all(|axis| axis.to_array().into_iter().all(is_along));
    let [_, xy, xz, _, yz, _] = inertia.entries();
    (is_open && !(is_aligned && [xy, xz, yz] == [0.0; 3])).then_some(axes)
}

/// The principal axes of an inertia with the largest moment first, as MuJoCo chooses among the many: plane rotations, the largest entry
/// off the diagonal first, each the shortest that removes it; then quarter turns that put the moments in order.
pub(super) fn ordered_principal_axes(matrix: Sym3<f64>) -> Quat<f64> {
    /// Entries below this are none, kg·m².
    const NEGLIGIBLE: f64 = 1e-12;
    let unit = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let seen_from = |rot: Quat<f64>| matrix.rotated(rot.to_mat3().transpose());
    let mut rot = Quat::IDENTITY;
    for _ in 0..500 {
        let m = seen_from(rot);
        let (axis, p, q, r) = match (m.xy().abs(), m.xz().abs(), m.yz().abs()) {
            (xy, xz, yz) if xy > xz && xy > yz => (2, m.xx(), m.yy(), m.xy()),
            (_, xz, yz) if xz > yz => (1, m.zz(), m.xx(), m.xz()),
            _ => (0, m.yy(), m.zz(), m.yz()),
        };
        if r.abs() < NEGLIGIBLE {
            break;
        }
        // The angle in (−π/4, π/4] that makes the entry vanish.
        let angle = 0.5 * libm::atan(2.0 * r / (p - q));
        let angle = if p == q { std::f64::consts::FRAC_PI_4.copysign(r) } else { angle };
        if 1.0 - libm::cos(angle) < NEGLIGIBLE {
            break;
        }
        rot = (rot * Quat::from_axis_angle(unit[axis], angle)).unit();
    }
    let mut moments = seen_from(rot).diag().to_array();
    for (low, axis) in [(0, 2), (1, 0), (0, 2)] {
        if moments[low] + NEGLIGIBLE < moments[low + 1] {
            moments.swap(low, low + 1);
            rot = (rot * Quat::from_axis_angle(unit[axis], std::f64::consts::FRAC_PI_2)).unit();
        }
    }
    rot
}
