//! What overlaps in the default configuration.

use std::sync::Arc;

use geometry::{Attachment, Collider, Contact, Scene, Sweep, TooMany};
use multibody::{Kinematics, Model};
use spatial::Pose;

/// Names of pairs in a message.
const NAMED: usize = 5;

/// The share of the smaller geom's inner radius beyond which links of one robot that overlap are worth a warning.
const DEEP: f64 = 0.1;

/// Where the bodies are in the default configuration.
pub(crate) fn poses_at_start(model: &Model) -> Vec<Pose<f64>> {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
    (0..model.bodies.len()).map(|body| kinematics.body_pose(model, body)).collect()
}

/// The contact points of the default configuration.
pub(crate) fn contacts_at_start(model: &Model, scene: &Scene) -> Result<Vec<Contact>, TooMany> {
    let poses = poses_at_start(model);
    let attach = |geom: &geometry::Geom| {
        let is_fixed = model.bodies[geom.body].node.is_none();
        Attachment {
            frame: (!is_fixed).then_some(geom.body),
            pose: if is_fixed { poses[geom.body] * geom.pose } else { geom.pose },
            group: model.contact_group(geom.body),
            parent_group: model.parent_contact_group(geom.body),
        }
    };
    let attachments = scene.geoms.iter().map(attach);
    let mut collider = Collider::new(Arc::new(scene.clone()), attachments.collect());
    let mut contacts = Vec::new();
    let frame = |body: usize| (poses[body].rot.to_mat3(), poses[body].pos);
    collider.contacts(frame, &vec![Sweep::default(); model.bodies.len()], &mut contacts);
    collider.overflow().map_or(Ok(contacts), Err)
}

/// The names of up to [`NAMED`] pairs, and how many more there are.
pub(crate) fn listed(pairs: &[String]) -> String {
    let (first, rest) = pairs.split_at(pairs.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more pairs", rest.len()) };
    format!("{}{more}", first.join(", "))
}

/// Two geoms of one robot that start in each other.
pub(crate) struct DeepOverlap {
    /// The geoms, the earlier one first.
    pub geoms: [usize; 2],
    /// How deep, m.
    pub depth: f64,
}

/// The pairs of geoms of one robot that start deeper in each other than a tenth of the smaller one's inner radius
/// ([`geometry::Shape::inner_radius`]), the deepest first.
pub(crate) fn deep_overlaps(model: &Model, scene: &Scene) -> Vec<DeepOverlap> {
    let mut found: Vec<DeepOverlap> = Vec::new();
    // What is too much to look at is no place for a warning: a step says so.
    for contact in contacts_at_start(model, scene).unwrap_or_default() {
        let [a, b] = contact.geoms;
        let radius = f64::min(scene.geoms[a].shape.inner_radius(), scene.geoms[b].shape.inner_radius());
        // Planes and height fields are no links.
        let is_deep = radius.is_finite() && -contact.gap > DEEP * radius;
        if !is_deep || !is_one_robot(model, contact.geoms.map(|geom| scene.geoms[geom].body)) {
            continue;
        }
        match found.last_mut().filter(|last| last.geoms == contact.geoms) {
            Some(last) => last.depth = last.depth.max(-contact.gap),
            None => found.push(DeepOverlap { geoms: contact.geoms, depth: -contact.gap }),
        }
    }
    found.sort_by(|a, b| b.depth.total_cmp(&a.depth).then(a.geoms.cmp(&b.geoms)));
    found
}

/// Whether two bodies belong to one kinematic tree, or one of them is fixed in the world and so is the robot of the other.
fn is_one_robot(model: &Model, bodies: [usize; 2]) -> bool {
    let tree_of = |node: usize| model.tree.trees.partition_point(|nodes| nodes.end <= node);
    match bodies.map(|body| model.bodies[body].node) {
        [Some(a), Some(b)] => tree_of(a) == tree_of(b),
        [Some(node), None] | [None, Some(node)] => {
            let root = model.tree.trees[tree_of(node)].start;
            model.tree.nodes[root].joint.nv() < 6
        }
        [None, None] => false,
    }
}
