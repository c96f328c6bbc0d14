//! Contacts of soft bodies, and nodes of theirs that bodies hold.

use geometry::{SoftContact, SoftPartner};
use multibody::{Compliance, Material, Resistance};
use spatial::Vec3;

use super::contacts::{Touching, push_touching};
use super::{ConstraintSet, Context, Report};
use crate::constraint_jacobian::{ConstraintEnd, Motion};
use crate::soft::{SoftBodies, SoftEnd};
use lanes::ConstraintName;

/// Adds the contacts of soft bodies and the nodes that bodies hold; `gaps` become those that the contacts start the step with.
pub(crate) fn push_soft(cx: &Context<'_>, soft: &SoftBodies, set: &mut ConstraintSet, gaps: &mut Vec<f64>) {
    gaps.clear();
    for (index, (contact, (point, other))) in soft.contacts.iter().zip(&soft.ends).enumerate() {
        gaps.push(push_contact(cx, soft, (index, contact), (*point, *other), set));
    }
    for (k, (hold, end)) in soft.holds.iter().zip(&soft.hold_ends).enumerate() {
        let held = cx.soft_end(*end);
        let (body, node) = (&cx.model.bodies[hold.body], cx.node_pose(hold.body));
        let pose = node.map_or(body.pose, |node| node * body.pose);
        let (point, position) = (pose.transform_point(hold.point), cx.origin(&held));
        // Both forces act at the node.
        let ends = [cx.end(hold.body, position), Some(held)];
        set.push_hold(ends, Motion::Linear, position - point, ConstraintName::hold(k), cx);
    }
}

/// Gaps of the contacts of soft bodies, and their rates at the beginning of the step and under free motion.
pub(crate) fn soft_rates<'a>(cx: &'a Context<'a>, soft: &'a SoftBodies) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
    soft.contacts.iter().zip(&soft.ends).map(|(contact, (point, other))| {
        let first = cx.soft_end(*point);
        let second = match (contact.partner, other) {
            (SoftPartner::Geom(geom), _) => cx.end(cx.scene.geoms[geom].body, cx.origin(&first)),
            (SoftPartner::Soft(_), other) => other.map(|other| cx.soft_end(other)),
        };
        let [start, free_rate] = cx.velocities(&[Some(first), second], Motion::Linear).map(|v| v.dot(contact.normal));
        (contact.gap, start, free_rate)
    })
}

/// Adds a contact of a soft body, with its friction; returns the gap that it starts the step with. Its flesh is the spring: only a stiffness that is a geom's own makes it softer. It
/// moves without turning, so that nothing resists spinning.
fn push_contact(
    cx: &Context<'_>,
    soft: &SoftBodies,
    (index, contact): (usize, &SoftContact),
    (point, other): (SoftEnd, Option<SoftEnd>),
    set: &mut ConstraintSet,
) -> f64 {
    let own = soft_surface(soft.body(point.0).friction);
    let (mut surface_velocity, mut carried) = (Vec3::ZERO, Vec3::ZERO);
    let first = cx.soft_end(point);
    let (surface, second) = match contact.partner {
        SoftPartner::Geom(geom) => {
            surface_velocity = cx.surface_velocity_of(geom) + cx.surface_turning_of(geom, cx.origin(&first));
            let geom = &cx.scene.geoms[geom];
            carried = cx.carried(geom.body, cx.origin(&first));
            let material = &cx.model.materials[geom.material];
            let compliance = match material.compliance {
                Compliance::Reference(_) => Compliance::NearRigid,
                other => other,
            };
            let second = cx.end(geom.body, cx.origin(&first));
            (Material::combine(&own, &Material { compliance, ..*material }), second)
        }
        SoftPartner::Soft(_) => {
            let Some(other) = other else { return contact.gap };
            (Material::combine(&own, &soft_surface(soft.body(other.0).friction)), Some(cx.soft_end(other)))
        }
    };
    let resistance = surface.resistance.min(Resistance::Sliding);
    let surface = Material { resistance, ..surface };
    let key = key(contact, index);
    let touching = Touching {
        surface: &surface,
        spring_depth: f64::INFINITY,
        inverse_weight: 0.0,
        surface_velocity,
        carried,
        normal: contact.normal,
        gap: contact.gap,
        key,
        spin_key: key,
        report: Report::Soft(index),
    };
    let ends = [Some(first), second];
    let w = cx.mobility_between(&ends, Motion::Linear);
    if w > 0.0 { push_touching(cx, set, &touching, ends, w, || (Vec3::ZERO, 0.0)) } else { contact.gap }
}

/// What a contact is known by: the bodies, and the node on one of its sides, else its place among all.
fn key(contact: &SoftContact, index: usize) -> ConstraintName {
    let is_node = |point: &geometry::SoftPoint| point.weights[0] == 1.0;
    let (other, node) = match &contact.partner {
        SoftPartner::Geom(geom) => (*geom as u32, None),
        SoftPartner::Soft(point) => (point.body | 1 << 31, is_node(point).then_some(point.nodes[0] | 1 << 30)),
    };
    let of_point = is_node(&contact.point).then_some(contact.point.nodes[0]);
    ConstraintName::soft(contact.point.body, other, of_point.or(node).unwrap_or(index as u32 | 1 << 31))
}

fn soft_surface(friction: f64) -> Material {
    Material { friction, resistance: Resistance::Sliding, compliance: Compliance::NearRigid, ..Material::default() }
}

impl Context<'_> {
    /// A point of a soft body as an end.
    fn soft_end(&self, (body, point): SoftEnd) -> ConstraintEnd {
        ConstraintEnd { tree: self.cliques.trees.len() + body, node: point, arm: Vec3::ZERO }
    }

    /// Where an end is, world, m.
    fn origin(&self, end: &ConstraintEnd) -> Vec3<f64> {
        self.cliques.get(end.tree).origin(end.node) + end.arm
    }
}
