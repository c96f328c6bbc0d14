//! `<inertial>`, in numbers that MuJoCo takes.

use spatial::{Mat3, Quat, RigidInertia, Sym3};

use super::numbers::{list, number, orientation};
use super::xml::Attributes;
use crate::mjcf::inertia::ordered_principal_axes;

/// What MuJoCo wants the moments of `fullinertia` to exceed, kg·m², and mass and moments of a body that moves, with a margin.
const LEAST: f64 = 2e-14;

/// Relative: what misses the moments of a rigid body by less misses them by round-off.
const ROUND_OFF: f64 = 1e-9;

/// The attributes of a body's `<inertial>`, and what to note of them. `is_alone`: the body moves, and nothing is fixed to it. `open`: axes that a
/// medium acts along and that the inertia leaves open.
///
/// They are the body's own bits, but for what MuJoCo refuses: moments that no rigid body has, and a body that moves without mass or inertia.
pub(super) fn attributes(
    body: &RigidInertia<f64>,
    open: Option<Quat<f64>>,
    is_alone: bool,
) -> (Attributes, Option<&'static str>) {
    // Those that a reader finds by itself need no words.
    let open = open.filter(|axes| *axes != ordered_principal_axes(body.inertia));
    let [xx, xy, xz, yy, yz, zz] = body.inertia.entries();
    let is_diagonal = [xy, xz, yz] == [0.0; 3];
    let (axes, moments) = match open.map(|axes| axes.to_mat3()) {
        Some(axes) => (axes, moments_along(body.inertia, axes)),
        None if is_diagonal => (Mat3::IDENTITY, [xx, yy, zz]),
        None => body.inertia.principal_axes(),
    };
    let is_full = open.is_none() && !is_diagonal && moments.iter().all(|&moment| moment >= LEAST);
    // MuJoCo finds the moments of `fullinertia` by rotations of its own.
    let mut taken = possible(moments, if is_full { 8.0 * f64::EPSILON } else { 0.0 });
    let mut mass = body.mass;
    let mut note = (taken.are_far)
        .then_some("no rigid body has its inertia, which MuJoCo refuses: written with the nearest that one has");
    if is_alone && (mass < LEAST || taken.moments.iter().any(|&moment| moment < LEAST)) {
        mass = mass.max(LEAST);
        taken.moments = taken.moments.map(|moment| moment.max(LEAST));
        note = note.or(Some("moves without mass or inertia, which MuJoCo refuses: written with as good as none"));
    }
    let mut attributes = vec![("pos", list(&body.com.to_array())), ("mass", number(mass))];
    let [a, b, c] = taken.moments;
    // What has become a sphere has no axes, whose round-off would come back as others.
    let is_own = taken.moments == moments;
    let has_axes = !is_diagonal && (is_own || (a, b) != (b, c));
    if open.is_none() && has_axes && taken.moments.iter().all(|&moment| moment >= LEAST) {
        let along_axes = || Sym3::new([a, 0.0, 0.0, b, 0.0, c]).rotated(axes);
        let [xx, xy, xz, yy, yz, zz] = if is_own { body.inertia } else { along_axes() }.entries();
        attributes.push(("fullinertia", list(&[xx, yy, zz, xy, xz, yz])));
    } else {
        if let Some(axes) = open {
            attributes.push(("quat", list(&orientation(axes))));
        } else if has_axes && (a, b) != (b, c) {
            attributes.push(("quat", list(&orientation(Quat::from_mat3(&axes)))));
        }
        attributes.push(("diaginertia", list(&taken.moments)));
    }
    (attributes, note)
}

/// The moments along principal axes, in digits that the axes turn into this inertia, if there are any.
fn moments_along(inertia: Sym3<f64>, axes: Mat3<f64>) -> [f64; 3] {
    /// Units in the last place, each way.
    const NEAR: i64 = 3;
    let mut refined = inertia.rotated(axes.transpose()).diag();
    for _ in 0..4 {
        refined += (inertia - Sym3::diagonal(refined).rotated(axes)).rotated(axes.transpose()).diag();
    }
    let moments = refined.to_array();
    let beside = |moment: f64, by: i64| f64::from_bits(moment.to_bits().saturating_add_signed(by));
    let [a, b, c] = moments;
    let near = || -NEAR..=NEAR;
    let all = near().flat_map(|x| near().flat_map(move |y| near().map(move |z| [x, y, z])));
    let mut tried = all.map(|[x, y, z]| [beside(a, x), beside(b, y), beside(c, z)]);
    tried.find(|&tried| Sym3::diagonal(tried.into()).rotated(axes) == inertia).unwrap_or(moments)
}

/// Whether a body has mass and moments enough to move, by their diagonal.
pub(super) fn is_enough(body: &RigidInertia<f64>) -> bool {
    let [a, b, c] = body.inertia.diag().to_array();
    body.mass >= LEAST && a.min(b).min(c) >= LEAST
}

/// Principal moments that a rigid body can have.
struct Possible {
    moments: [f64; 3],
    /// Whether more than round-off parts them from those that were given.
    are_far: bool,
}

/// The moments, if none is negative and none exceeds the sum of the others by more than this relative tolerance; else the nearest of which this
/// is true: a sphere in their place, as by MuJoCo's `balanceinertia`, would turn the digits that a program has left off into another body.
fn possible(given: [f64; 3], tolerance: f64) -> Possible {
    let scale = given.iter().fold(0.0_f64, |most, moment| most.max(moment.abs()));
    let excess = |moments: [f64; 3]| {
        let [a, b, c] = moments;
        // As MuJoCo compares them.
        [a + b - c, a + c - b, b + c - a].map(|left| -left)
    };
    let most = |excess: [f64; 3]| excess.into_iter().fold(0.0, f64::max);
    let mut moments = given.map(|moment| moment.max(0.0));
    let missing = most(excess(moments));
    if moments == given && missing <= tolerance * scale {
        return Possible { moments, are_far: false };
    }
    if scale < LEAST {
        // Too little for axes that would come back.
        return Possible { moments: [moments.iter().sum::<f64>() / 3.0; 3], are_far: true };
    }
    if missing > 0.0 {
        let share = (missing + 64.0 * f64::EPSILON * scale) / 3.0;
        let [z, y, x] = excess(moments).map(|own| if own == missing { -share } else { share });
        moments = [moments[0] + x, moments[1] + y, moments[2] + z];
    }
    let are_far = given.iter().zip(moments).any(|(given, moment)| (given - moment).abs() > ROUND_OFF * scale);
    Possible { moments, are_far }
}
