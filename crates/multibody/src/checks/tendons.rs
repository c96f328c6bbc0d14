//! Tendons must fit joints, sites and bodies.

use std::collections::BTreeSet;

use super::{
    check_at_least_zero, check_compliance, check_finite, check_friction, check_index, check_positive, check_scalar,
};
use crate::{Branch, BuildError, Joint, Model, Obstacle, PathPoint, Tendon, TendonPath};

/// Checks a tendon, which messages call `what`.
pub(super) fn check(tendon: &Tendon, model: &Model, what: &str) -> Result<(), BuildError> {
    match &tendon.path {
        TendonPath::Joints(terms) => check_terms(terms, &model.joints, what)?,
        TendonPath::Spatial(branches) => {
            if branches.is_empty() {
                return Err(wrong_path(what, "it passes nothing: expected two sites or more"));
            }
            branches.iter().try_for_each(|branch| check_branch(branch, model, what))?;
        }
    }
    for (name, interval) in [("range", tendon.range), ("rest length", Some(tendon.rest))] {
        let Some((low, high)) = interval else { continue };
        check_finite(&[low, high], || format!("{what}: {name}"))?;
        if low > high {
            let what = format!("{what}: upper end of the {name} (the lower one is {low})");
            return Err(BuildError::OutOfRange { what, value: high, expected: "lower end ≤ upper end" });
        }
    }
    if let Some((low, high)) = tendon.effort_limit
        && !(low <= 0.0 && high >= 0.0)
    {
        let (end, value) = if low <= 0.0 { ("greatest", high) } else { ("least", low) };
        let what = format!("{what}: {end} effort");
        return Err(BuildError::OutOfRange { what, value, expected: "least effort ≤ 0 ≤ greatest effort" });
    }
    let parameters = [
        ("stiffness", tendon.stiffness),
        ("damping", tendon.damping),
        ("friction loss", tendon.friction_loss),
        ("armature", tendon.armature),
        ("radius", tendon.look.radius),
    ];
    for (name, value) in parameters {
        check_at_least_zero(value, || format!("{what}: {name}"))?;
    }
    let higher = [tendon.polynomial.spring, tendon.polynomial.damper];
    check_finite(higher.as_flattened(), || format!("{what}: coefficients of spring and damper"))?;
    check_compliance(tendon.limit_compliance, what)?;
    check_friction(tendon.friction_compliance, what)
}

fn check_terms(terms: &[(usize, f64)], joints: &[Joint], what: &str) -> Result<(), BuildError> {
    if terms.is_empty() {
        return Err(BuildError::NoTerms { what: what.into() });
    }
    let mut seen = BTreeSet::new();
    for &(joint, coefficient) in terms {
        check_scalar(joint, joints, what)?;
        if !seen.insert(joint) {
            return Err(BuildError::Repeated { what: what.into(), kind: "joint", index: joint });
        }
        check_finite(&[coefficient], || format!("{what}: coefficient"))?;
    }
    Ok(())
}

/// Sites at both ends, and on both sides of every obstacle.
fn check_branch(branch: &Branch, model: &Model, what: &str) -> Result<(), BuildError> {
    check_positive(branch.divisor, || format!("{what}: divisor of a pulley"))?;
    let mut site_before = None;
    let mut last_is_site = false;
    for point in &branch.points {
        match point {
            PathPoint::Site(site) => {
                check_index("site", *site, model.sites.len(), what)?;
                if last_is_site && site_before == Some(*site) {
                    return Err(BuildError::Repeated { what: what.into(), kind: "site", index: *site });
                }
                (site_before, last_is_site) = (Some(*site), true);
            }
            PathPoint::Obstacle(obstacle) => {
                if !last_is_site {
                    return Err(wrong_path(what, "expected a site before and after each geom"));
                }
                check_obstacle(obstacle, model, what)?;
                last_is_site = false;
            }
        }
    }
    match (last_is_site, branch.points.len()) {
        (true, 2..) => Ok(()),
        (true, _) => Err(wrong_path(what, "a site stands alone: expected two sites or more between pulleys")),
        (false, 0) => Err(wrong_path(what, "expected two sites or more between pulleys, and behind the last one")),
        (false, _) => Err(wrong_path(what, "expected a site before and after each geom")),
    }
}

fn check_obstacle(obstacle: &Obstacle, model: &Model, what: &str) -> Result<(), BuildError> {
    check_index("body", obstacle.body, model.bodies.len(), what)?;
    let numbers = obstacle.pose.pos.is_finite() && obstacle.pose.rot.normalized().is_some();
    if !numbers {
        return Err(BuildError::NotFinite { what: format!("{what}: pose of a geom") });
    }
    check_at_least_zero(obstacle.radius, || format!("{what}: radius of a geom"))?;
    obstacle.side.map_or(Ok(()), |site| check_index("site", site, model.sites.len(), what))
}

fn wrong_path(what: &str, expected: &'static str) -> BuildError {
    BuildError::Path { what: what.into(), expected }
}
