//! Actuators that pull a body and what it touches together, as in `sim`: explicit forces, in equal shares at the points where the body
//! touches something at the beginning of the step.

use spatial::{Real, Vec3, Wrench};

use super::{Bundle, Lanes, select, wide};
use crate::constants::TOUCHING;
use crate::plan::{Plan, PlanAdhesion};
use crate::surfaces::middle;
use spatial::masks::positive;

impl<T: Bundle> Lanes<T> {
    /// Finds how much adhesions pull in this step, and how far beyond its reach contact points are looked for.
    #[inline(always)]
    pub(super) fn begin_adhesion(&mut self, plan: &Plan) {
        self.adhesion_reach = T::ZERO;
        for (adhesion, pull) in plan.adhesions.iter().zip(&mut self.pulls) {
            let PlanAdhesion { actuator, activation, .. } = adhesion;
            let input = activation.map_or(self.ctrl[actuator.ctrl], |act| self.act_start[act]);
            let u = input.max(wide(actuator.ctrl_range.0)).min(wide(actuator.ctrl_range.1));
            let of = &self.numbers.actuators[actuator.ctrl];
            let (low, high) = actuator.force_range;
            *pull = u.mul_add(of.per_ctrl, of.constant).max(wide(low)).min(wide(high));
            let reach = T::ZERO.if_less(pull.abs(), wide(TOUCHING), T::ZERO);
            self.adhesion_reach = self.adhesion_reach.max(reach);
        }
    }

    /// Adds the forces of adhesions at the contact points that have been found to what moves the nodes, and moves freely anew with them,
    /// if there are any.
    #[inline(always)]
    pub(super) fn adhere(&mut self, plan: &Plan) {
        let mut any = 0;
        for (adhesion, pull) in plan.adhesions.iter().zip(&mut self.pulls) {
            let mut count = T::ZERO;
            for &k in self.near.iter().filter(|k| adhesion.pairs[plan.contacts.ends[**k].pair]) {
                count += touches(self.slots[k].gap, self.slots[k].is_present);
            }
            let is_any = T::ZERO.if_less(count, T::ONE, T::ZERO);
            *pull = select(is_any, *pull / select(is_any, count, T::ONE), T::ZERO);
            any |= positive(pull.abs());
        }
        if any == 0 {
            return;
        }
        T::move_nodes(self, plan);
        if self.has_wrenches {
            self.apply_wrenches(plan);
        }
        for (a, adhesion) in plan.adhesions.iter().enumerate() {
            for n in 0..self.near.len() {
                let k = self.near[n];
                let ends = &plan.contacts.ends[k];
                if adhesion.pairs[ends.pair] {
                    let slot = &self.slots[k];
                    let point = middle(&plan.contacts.pairs[ends.pair], slot.position, slot.gap, slot.normal);
                    let impulse = self.pulls[a] * touches(slot.gap, slot.is_present) * wide(plan.dt);
                    let normal = slot.normal;
                    for (node, sign) in ends.nodes.into_iter().zip([impulse, -impulse]) {
                        let Some(node) = node else { continue };
                        let lin: Vec3<T> = normal * sign;
                        let arm = point - self.origins[plan.nodes[node].tree];
                        self.nodes[node].force += -Wrench { ang: arm.cross(lin), lin };
                    }
                }
            }
        }
        self.load_coriolis(plan);
        self.move_freely(plan);
    }
}

/// 1 where a point touches, else 0.
#[inline(always)]
fn touches<T: Real>(gap: T, is_present: T) -> T {
    wide::<T>(TOUCHING).if_less(gap, T::ZERO, is_present)
}
