//! Points that keep a distance, as strings between sites that keep their length: MJCF has no other words for it.

use std::collections::BTreeMap;

use geometry::{Scene, Shape};
use multibody::{Branch, Coordinate, EqualityKind, Model, PathPoint, Site, SiteShape, Tendon, TendonPath};
use spatial::{Pose, Quat, Vec3};

/// The named sphere about a point of a body.
pub(super) fn sphere_at(scene: &Scene, body: usize, anchor: Vec3<f64>) -> Option<usize> {
    scene.geoms.iter().position(|geom| {
        let is_ball = matches!(geom.shape, Shape::Sphere { .. });
        is_ball && !geom.name.is_empty() && geom.body == body && geom.pose.pos == anchor
    })
}

/// The model with strings in the place of distances that are not those of named spheres; none where there are no such.
pub(super) fn as_strings(model: &Model, scene: &Scene) -> Option<Model> {
    let is_other = |kind: &EqualityKind| match kind {
        EqualityKind::Distance { bodies, anchors, .. } => {
            bodies.iter().zip(anchors).any(|(body, anchor)| sphere_at(scene, *body, *anchor).is_none())
        }
        _ => false,
    };
    if !model.equalities.iter().any(|equality| is_other(&equality.kind)) {
        return None;
    }
    let mut model = model.clone();
    let Model { equalities, sites, tendons, .. } = &mut model;
    let mut known = BTreeMap::new();
    for equality in equalities.iter_mut().filter(|equality| is_other(&equality.kind)) {
        let EqualityKind::Distance { bodies, anchors, distance } = equality.kind else { continue };
        let points = [0, 1].map(|k| {
            let (body, anchor) = (bodies[k], anchors[k]);
            let site = *known.entry((body, anchor.to_array().map(f64::to_bits))).or_insert_with(|| {
                let pose = Pose::new(anchor, Quat::IDENTITY);
                sites.push(Site { name: String::new(), body, pose, shape: SiteShape::default() });
                sites.len() - 1
            });
            PathPoint::Site(site)
        });
        let path = TendonPath::Spatial(vec![Branch { divisor: 1.0, points: points.to_vec() }]);
        tendons.push(Tendon { path, ..Tendon::default() });
        let y = (Coordinate::Tendon(tendons.len() - 1), distance);
        equality.kind = EqualityKind::Coupling { y, x: None, polynomial: [0.0; 5] };
    }
    Some(model)
}
