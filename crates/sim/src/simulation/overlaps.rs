//! When in a step contacts begin, which steps under error control must not step over.
//!
//! A compliant contact that begins late in a step pushes at none of the places where the whole step and its halves take
//! forces: they agree, and both are wrong. So a step is repeated to end where the first gap closes, where its end shows
//! a new overlap.

use geometry::{Movement, Sweep};
use spatial::Vec3;

use super::Simulation;
use crate::constraint_jacobian::{ConstraintEnd, Motion};

/// A point where two geoms overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverlapPoint {
    geoms: [usize; 2],
    position: Vec3<f64>,
    /// m
    depth: f64,
    /// How fast it grows, m/s, and how fast the surfaces' points move at most.
    closing: f64,
    speed: f64,
}

impl OverlapPoint {
    /// Whether it may be one of those at the beginning of a step of `h`: contact points wander no faster than surfaces.
    fn was_there(&self, before: &[Self], h: f64) -> bool {
        let may_be = |b: &Self| {
            b.geoms == self.geoms && (b.position - self.position).norm() <= h * (self.speed + b.speed) + WANDER
        };
        before.iter().any(may_be)
    }
}

/// Contact points may be found this far apart where nothing moves, m.
const WANDER: f64 = 1e-9;

/// How much shorter a step of `h` should be to end where the first of the overlaps begins that were not there before and are
/// deeper than `depth`, s; none when there is none.
pub(super) fn overshoot(before: &[OverlapPoint], now: &[OverlapPoint], h: f64, depth: f64) -> Option<f64> {
    let new = now.iter().filter(|overlap| overlap.depth > depth && !overlap.was_there(before, h));
    // A body that has turned back within the step touched in the middle of it.
    let late =
        new.map(|overlap| if overlap.closing > 0.0 { (overlap.depth / overlap.closing).min(0.5 * h) } else { 0.5 * h });
    late.reduce(f64::max)
}

impl Simulation {
    /// The overlaps in the present state.
    pub(super) fn find_overlaps(&mut self, overlaps: &mut Vec<OverlapPoint>) {
        self.present.place_all(&self.model, &self.state.q, &self.state.v);
        let Self { trees, collider, tree_of, detected, pool, present, .. } = self;
        let movement = |node: usize| {
            let workspace = &trees[tree_of[node]];
            let frame = &present.kin.frames[node];
            Movement { rot: frame.rot, pos: frame.pos, sweep: Sweep { rests: workspace.asleep, ..Sweep::default() } }
        };
        collider.shared_contacts(pool, movement, detected);
        overlaps.clear();
        for contact in self.detected.iter().filter(|contact| contact.gap < 0.0) {
            let (mut relative, mut speed) = (Vec3::ZERO, 0.0);
            for (geom, sign) in contact.geoms.into_iter().zip([-1.0, 1.0]) {
                let Some(node) = self.model.bodies[self.scene.geoms[geom].body].node else { continue };
                let kin = &self.present.kin;
                let end = ConstraintEnd { tree: 0, node, arm: contact.position - kin.frames[node].pos };
                relative += end.velocity(&kin.twists, Motion::Linear) * sign;
                speed += kin.twists[node].lin.norm() + self.extents[node] * kin.twists[node].ang.norm();
            }
            let closing = -relative.dot(contact.normal);
            overlaps.push(OverlapPoint {
                geoms: contact.geoms,
                position: contact.position,
                depth: -contact.gap,
                closing,
                speed,
            });
        }
    }
}
