//! Contact points of one lane after the other.

use geometry::{Contact, Movement, PairCollider, Sweep};
use spatial::{Mat3, Twist, Vec3};

use super::super::surfaces::Carrier;
use super::super::{Bundle, Lanes, get, get3, put, put3};
use crate::plan::{PairKind, Plan, PlanPair};

/// Room for the contact points of a pair.
const POINTS: usize = 64;

/// Scratch of the narrow phase.
#[derive(Clone, Debug)]
pub(crate) struct NarrowPhase {
    collider: PairCollider,
    found: Vec<Contact>,
}

impl NarrowPhase {
    pub fn new(plan: &Plan) -> Self {
        Self { collider: plan.contacts.narrow.clone(), found: Vec::with_capacity(POINTS) }
    }
}

impl<T: Bundle> Lanes<T> {
    /// Puts the contact points of these lanes, a bit each, into the slots of the pair. A lane with more points than slots falls back.
    #[inline(never)]
    pub(super) fn collide_one_by_one(&mut self, plan: &Plan, pair: &PlanPair, mut lanes: u32) {
        // A closed form may have filled slots in other lanes.
        let mut filled = match self.near.last() {
            Some(last) if *last >= pair.first => last + 1 - pair.first,
            _ => 0,
        };
        let mut found = std::mem::take(&mut self.narrow.found);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let [first, second] = match pair.kind {
                PairKind::Plane { geom, .. } | PairKind::Fixed { geom, .. } => {
                    let first = pair.carrier.map_or(Movement::default(), |carrier| self.rests(carrier, lane));
                    [first, self.movement(plan, geom, lane)]
                }
                PairKind::Moving { geoms } => geoms.map(|geom| self.movement(plan, geom, lane)),
            };
            let frames = if pair.is_flipped { [&second, &first] } else { [&first, &second] };
            self.narrow.collider.contacts(&pair.pair, frames, &mut found);
            if found.len() > pair.count {
                self.fallback |= 1 << lane;
                continue;
            }
            for (k, contact) in found.iter().enumerate() {
                if k >= filled {
                    self.open_slot(pair, k);
                    filled = k + 1;
                }
                self.fill_slot(pair, k, lane, contact);
            }
        }
        self.narrow.found = found;
    }

    /// Where a body that is moved from outside is: in a step, collision detection takes it to be at rest where the step ends.
    fn rests(&self, carrier: usize, lane: usize) -> Movement {
        let Carrier { rot, pos, .. } = &self.carriers[carrier];
        let [x, y, z] = [&rot.x, &rot.y, &rot.z].map(|v| get3(v, lane));
        Movement { rot: Mat3::from_columns(x, y, z), pos: get3(pos, lane), ..Movement::default() }
    }

    /// How a geom's node moves in a lane.
    #[inline(always)]
    fn movement(&self, plan: &Plan, geom: usize, lane: usize) -> Movement {
        let node = plan.contacts.geoms[geom].node;
        let (here, tree) = (&self.nodes[node], Some(plan.nodes[node].tree));
        let vec3 = |v: &Vec3<T>| get3(v, lane);
        let arm = vec3(&here.pos);
        let over_step = |twist: &Twist<T>| {
            let ang = vec3(&twist.ang);
            ((vec3(&twist.lin) + ang.cross(arm)) * plan.dt, ang * plan.dt)
        };
        let ((translation, rotation), (change, turn)) = (over_step(&here.twist), over_step(&here.change));
        let slack = get(&self.adhesion_reach, lane);
        Movement {
            rot: Mat3::from_columns(vec3(&here.rot.x), vec3(&here.rot.y), vec3(&here.rot.z)),
            pos: vec3(&self.origins[plan.nodes[node].tree]) + arm,
            sweep: Sweep { translation, rotation, change, turn, slack, tree, rests: false },
        }
    }

    /// Makes the slot `k` of the pair one that is near, in no lane so far. What it holds in other lanes counts for nothing but must be
    /// numbers of their own.
    fn open_slot(&mut self, pair: &PlanPair, k: usize) {
        let (PairKind::Plane { geom, .. } | PairKind::Fixed { geom, .. } | PairKind::Moving { geoms: [geom, _] }) =
            pair.kind;
        let slot = &mut self.slots[pair.first + k];
        slot.is_present = T::ZERO;
        slot.position = self.balls[geom].centre;
        slot.normal = Vec3::new(T::ZERO, T::ZERO, T::ONE);
        (slot.gap, slot.softness) = (T::ZERO, T::ONE);
        self.near.push(pair.first + k);
    }

    /// Puts a contact point into the slot `k` of the pair.
    #[inline(always)]
    fn fill_slot(&mut self, pair: &PlanPair, k: usize, lane: usize, contact: &Contact) {
        let normal = if pair.is_flipped { -contact.normal } else { contact.normal };
        let position = match pair.kind {
            PairKind::Moving { .. } => contact.position,
            // The body's own surface, beyond the middle by half the gap.
            PairKind::Plane { .. } | PairKind::Fixed { .. } => contact.position.add_scaled(0.5 * contact.gap, normal),
        };
        let slot = &mut self.slots[pair.first + k];
        put(&mut slot.is_present, lane, 1.0);
        put3(&mut slot.position, lane, position);
        put3(&mut slot.normal, lane, normal);
        put(&mut slot.gap, lane, contact.gap);
        put(&mut slot.softness, lane, 1.0 / contact.stiffness_share);
    }
}
