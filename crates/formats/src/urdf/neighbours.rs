//! Which links do not touch each other.
//!
//! URDF has no word for it. Contacts see convex hulls, and those of links near each other overlap for good. So no
//! contact is looked for between
//! * a link and the links of its parent's rigid group, also when that is fixed to the world,
//! * links that overlap in the default configuration.

use std::collections::BTreeSet;

use geometry::Scene;
use multibody::Model;

use crate::overlaps::{contacts_at_start, listed};

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
    let message = || format!("links that overlap in the default configuration never touch: {}", listed(&pairs));
    Ok((!pairs.is_empty()).then(message))
}

/// Excludes contacts between the base, where it is fixed to the world, and what hangs from it. (Those of other rigid
/// groups and what hangs from them are never looked for.)
fn exclude_base(model: &Model, scene: &mut Scene) -> Result<(), String> {
    let bodies: BTreeSet<usize> = scene.geoms.iter().filter(|g| g.contype != 0).map(|g| g.body).collect();
    let fixed = |&&body: &&usize| model.bodies[body].rigid_group == 0;
    let hangs = |&&body: &&usize| model.bodies[body].rigid_group != 0 && model.parent_contact_group(body) == 0;
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
    let ascending = |[a, b]: [usize; 2]| [a.min(b), a.max(b)];
    let contacts = contacts_at_start(model, scene)?;
    Ok(contacts.iter().map(|c| ascending(c.geoms.map(|g| scene.geoms[g].body))).collect())
}
