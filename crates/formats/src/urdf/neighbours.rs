//! Which links do not touch each other.
//!
//! URDF has no word for it. Contacts see convex hulls, and those of links near each other overlap for good. So no
//! contact is looked for between
//! * a link and the links of its parent's rigid group, also when that is fixed to the world,
//! * links that overlap in the default configuration.

use std::collections::BTreeSet;
use std::sync::Arc;

use geometry::{Attachment, Collider, Scene, Sweep};
use multibody::{Kinematics, Model};
use spatial::Pose;

/// Names of pairs in the message.
const NAMED: usize = 5;

/// Adds the pairs to `scene.excluded`. The message names those that overlap in the default configuration.
///
/// # Errors
/// When there are too many of them.
pub(super) fn exclude(model: &Model, scene: &mut Scene) -> Result<Option<String>, String> {
    exclude_base(model, scene)?;
    let overlapping =
        overlapping(model, scene).map_err(|error| format!("{error}: expected links beside each other"))?;
    scene.excluded.extend(&overlapping);
    let name = |body: usize| model.bodies[body].name.as_str();
    let pairs: Vec<String> = overlapping.iter().map(|&[a, b]| format!("{} – {}", name(a), name(b))).collect();
    let (first, rest) = pairs.split_at(pairs.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more pairs", rest.len()) };
    let message = || format!("links that overlap in the default configuration never touch: {}{more}", first.join(", "));
    Ok((!pairs.is_empty()).then(message))
}

/// The rigid group that a body's rigid group hangs from.
fn parent_group(model: &Model, body: usize) -> usize {
    let first = model.bodies[body].rigid_group;
    model.bodies[model.bodies[first].parent].rigid_group
}

/// Excludes contacts between the base, where it is fixed to the world, and what hangs from it. (Those of other rigid
/// groups and what hangs from them are never looked for.)
fn exclude_base(model: &Model, scene: &mut Scene) -> Result<(), String> {
    let bodies: BTreeSet<usize> = scene.geoms.iter().filter(|g| g.contype != 0).map(|g| g.body).collect();
    let fixed = |&&body: &&usize| model.bodies[body].rigid_group == 0;
    let hangs = |&&body: &&usize| model.bodies[body].rigid_group != 0 && parent_group(model, body) == 0;
    let (fixed, hanging) = (bodies.iter().filter(fixed), bodies.iter().filter(hangs).count());
    let count = fixed.clone().count().saturating_mul(hanging);
    if count > geometry::MAX_NEAR_PAIRS {
        let limit = geometry::MAX_NEAR_PAIRS;
        return Err(format!("{count} pairs of the fixed base with links on it: expected at most {limit}"));
    }
    for &base in fixed {
        scene.excluded.extend(bodies.iter().filter(hangs).map(|&body| [base, body]));
    }
    Ok(())
}

/// Pairs of bodies whose geoms overlap in the default configuration, ascending.
fn overlapping(model: &Model, scene: &Scene) -> Result<BTreeSet<[usize; 2]>, geometry::TooMany> {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
    let pose = |body: usize| {
        let body = &model.bodies[body];
        let node = body.node.map(|n| Pose::new(kinematics.frames[n].pos, kinematics.frames[n].quat));
        node.unwrap_or(Pose::IDENTITY) * body.pose
    };
    let attachments = scene.geoms.iter().map(|geom| Attachment {
        frame: Some(geom.body),
        pose: geom.pose,
        group: model.bodies[geom.body].rigid_group,
        parent_group: parent_group(model, geom.body),
    });
    let mut collider = Collider::new(Arc::new(scene.clone()), attachments.collect());
    let mut contacts = Vec::new();
    let frame = |body: usize| (pose(body).rot.to_mat3(), pose(body).pos);
    collider.contacts(frame, &vec![Sweep::default(); model.bodies.len()], &mut contacts);
    if let Some(error) = collider.overflow() {
        return Err(error);
    }
    let ascending = |[a, b]: [usize; 2]| [a.min(b), a.max(b)];
    Ok(contacts.iter().map(|c| ascending(c.geoms.map(|g| scene.geoms[g].body))).collect())
}
