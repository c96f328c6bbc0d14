//! Contact points of the last step, lane by lane.

use spatial::Vec3;

use super::{Bundle, Lanes, get};
use crate::contacts::BatchContact;
use crate::plan::{PairKind, Plan};

impl<T: Bundle> Lanes<T> {
    /// Appends the contact points of a lane in the last step, in the order of their pairs. Not of a lane that was left.
    pub fn report_contacts(&self, plan: &Plan, lane: usize, contacts: &mut Vec<BatchContact>) {
        let vec3 = |v: &Vec3<T>| Vec3::new(get(&v.x, lane), get(&v.y, lane), get(&v.z, lane));
        let per_time = 1.0 / plan.dt;
        for pair in &plan.contacts.pairs {
            for slot in &self.slots[pair.first..pair.first + pair.count] {
                if slot.step != self.steps || get(&slot.is_present, lane) == 0.0 {
                    continue;
                }
                let (normal, gap) = (vec3(&slot.normal), get(&slot.gap, lane));
                let position = match pair.kind {
                    PairKind::Moving { .. } => vec3(&slot.position),
                    // The slot has the body's own surface.
                    PairKind::Plane { .. } | PairKind::Fixed { .. } => {
                        vec3(&slot.position).add_scaled(-0.5 * gap, normal)
                    }
                };
                let sign = if pair.is_flipped { -per_time } else { per_time };
                contacts.push(BatchContact {
                    geoms: pair.pair.geoms,
                    position,
                    normal: if pair.is_flipped { -normal } else { normal },
                    gap,
                    force: vec3(&slot.impulse) * sign,
                });
            }
        }
    }
}

/// Contact points of a step of one world, as those of lanes.
pub(crate) fn of_simulation(points: &[sim::ContactPoint], dt: f64, contacts: &mut Vec<BatchContact>) {
    contacts.extend(points.iter().map(|point| BatchContact {
        geoms: point.geoms,
        position: point.position,
        normal: point.normal,
        gap: point.gap,
        force: point.impulse_world() * (1.0 / dt),
    }));
}
