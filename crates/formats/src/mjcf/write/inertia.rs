//! `<inertial>`, in numbers that MuJoCo takes.

use spatial::{Mat3, Quat, RigidInertia};

use super::numbers::{list, number, orientation};
use super::xml::Attributes;

/// What MuJoCo wants the moments of `fullinertia` to exceed, kg·m², and mass and moments of a body that moves, with a margin.
const LEAST: f64 = 2e-14;

/// Relative: what misses the moments of a rigid body by less misses them by round-off.
const ROUND_OFF: f64 = 1e-9;

/// The attributes of a body's `<inertial>`, and what to note of them. `is_alone`: the body moves, and nothing is fixed to it.
///
/// They are the body's own bits, but for what MuJoCo refuses: moments that no rigid body has, and a body that moves without mass or inertia.
pub(super) fn attributes(body: &RigidInertia<f64>, is_alone: bool) -> (Attributes, Option<&'static str>) {
    let [xx, xy, xz, yy, yz, zz] = body.inertia.entries();
    let is_diagonal = [xy, xz, yz] == [0.0; 3];
    let (axes, moments) = if is_diagonal { (Mat3::IDENTITY, [xx, yy, zz]) } else { body.inertia.principal_axes() };
    let is_full = !is_diagonal && moments.iter().all(|&moment| moment >= LEAST);
    // MuJoCo finds the moments of `fullinertia` by rotations of its own.
    let mut taken = possible(moments, if is_full { 8.0 * f64::EPSILON } else { 0.0 });
    let mut mass = body.mass;
    let mut note = (taken.is_balanced)
        .then_some("no rigid body has its inertia, which MuJoCo refuses: written with equal moments of the same sum");
    if is_alone && (mass < LEAST || taken.moments.iter().any(|&moment| moment < LEAST)) {
        mass = mass.max(LEAST);
        taken.moments = taken.moments.map(|moment| moment.max(LEAST));
        note = note.or(Some("moves without mass or inertia, which MuJoCo refuses: written with as good as none"));
    }
    let mut attributes = vec![("pos", list(&body.com.to_array())), ("mass", number(mass))];
    let [a, b, c] = taken.moments;
    if taken.moments == moments && is_full {
        attributes.push(("fullinertia", list(&[xx, yy, zz, xy, xz, yz])));
    } else {
        if !is_diagonal && (a, b) != (b, c) {
            attributes.push(("quat", list(&orientation(Quat::from_mat3(&axes)))));
        }
        attributes.push(("diaginertia", list(&taken.moments)));
    }
    (attributes, note)
}

/// Whether a body has mass and moments enough to move, by their diagonal.
pub(super) fn is_enough(body: &RigidInertia<f64>) -> bool {
    let [a, b, c] = body.inertia.diag().to_array();
    body.mass >= LEAST && a.min(b).min(c) >= LEAST
}

/// Principal moments that a rigid body can have.
struct Possible {
    moments: [f64; 3],
    /// Whether they are far from those that were given.
    is_balanced: bool,
}

/// The moments, if none is negative and none exceeds the sum of the others by more than this relative tolerance. What is beyond that by round-off
/// gets the least that is missing; what else is beyond gets equal moments, as by MuJoCo's `balanceinertia`.
fn possible(mut moments: [f64; 3], tolerance: f64) -> Possible {
    let scale = moments.iter().fold(0.0_f64, |most, moment| most.max(moment.abs()));
    let least = moments.iter().copied().fold(f64::INFINITY, f64::min);
    let excess = |moments: [f64; 3]| {
        let [a, b, c] = moments;
        // As MuJoCo compares them.
        [(a + b, c), (a + c, b), (b + c, a)].into_iter().map(|(two, third)| third - two).fold(0.0, f64::max)
    };
    if least >= 0.0 && excess(moments) <= tolerance * scale {
        return Possible { moments, is_balanced: false };
    }
    if least < -ROUND_OFF * scale || excess(moments) > ROUND_OFF * scale {
        let mean = (moments.iter().sum::<f64>() / 3.0).max(0.0);
        return Possible { moments: [mean; 3], is_balanced: true };
    }
    moments = moments.map(|moment| moment.max(0.0));
    let missing = excess(moments) + 16.0 * f64::EPSILON * scale;
    if let Some(smallest) = moments.iter_mut().min_by(|a, b| a.total_cmp(b)) {
        *smallest += missing;
    }
    Possible { moments, is_balanced: false }
}
