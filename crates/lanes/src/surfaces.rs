//! Surfaces that move otherwise than the nodes of the model: on bodies that are moved from outside, and on their own bodies.
//!
//! The rows of a contact have the motion of nodes alone; its law gets what is known beside it.

use spatial::{Mat3, Pose, Real, Twist, Vec3};

use super::{Bundle, ConstraintSlot, Lanes, put3, wide, wide_mat, wide3};
use crate::plan::{PairKind, Plan, PlanFrame, PlanPair};
use spatial::masks::positive;

/// A body that is moved from outside, in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier<T: Real> {
    pub rot: Mat3<T>,
    pub pos: Vec3<T>,
    /// Of its origin, world axes.
    velocity: Twist<T>,
}

impl<T: Real> Carrier<T> {
    pub const AT_ORIGIN: Self = Self { rot: Mat3::IDENTITY, pos: Vec3::ZERO, velocity: Twist::ZERO };

    #[inline(always)]
    fn velocity_at(&self, point: Vec3<T>) -> Vec3<T> {
        self.velocity.lin + self.velocity.ang.cross(point - self.pos)
    }
}

impl<T: Bundle> Lanes<T> {
    /// Says where a body that is moved from outside is in the next step of a lane, and how its origin moves, world.
    pub fn set_carrier(&mut self, lane: usize, carrier: usize, pose: &Pose<f64>, velocity: &Twist<f64>) {
        let Carrier { rot, pos, velocity: own } = &mut self.carriers[carrier];
        let Mat3 { x, y, z } = pose.rot.to_mat3();
        let vectors = [&mut rot.x, &mut rot.y, &mut rot.z, pos, &mut own.ang, &mut own.lin];
        for (to, from) in vectors.into_iter().zip([x, y, z, pose.pos, velocity.ang, velocity.lin]) {
            put3(to, lane, from);
        }
    }

    /// Sets the velocities of geoms' surfaces on their bodies in a lane, (ngeom, 3) in the axes of the model's nodes, world axes where the body
    /// is fixed; none moves where there are none. They act where any lane [has some](Self::has_surface_velocity).
    pub fn set_surface_velocities(&mut self, plan: &Plan, lane: usize, velocities: &[f64]) {
        let homes = &plan.contacts.surfaces.homes;
        for ((to, home), geom) in self.surface_velocity.iter_mut().zip(homes).zip(0..) {
            let v = velocities.as_chunks().0.get(geom).map_or(Vec3::ZERO, |v: &[f64; 3]| Vec3::from(*v));
            put3(to, lane, home.node.map_or(v, |node| plan.turns[node].transpose_mul(v)));
        }
    }

    /// Finds whether surfaces move otherwise than the nodes in this step.
    #[inline(always)]
    pub(super) fn find_moving_surfaces(&mut self, plan: &Plan) {
        let mut moves = 0;
        for Carrier { velocity, .. } in &self.carriers {
            moves |= positive(velocity.ang.norm_squared() + velocity.lin.norm_squared());
        }
        self.surfaces_move = moves != 0 || self.has_surface_velocity || plan.contacts.surfaces.turn;
    }

    /// Notes how surfaces move at the contact points in reach.
    #[inline(always)]
    pub(super) fn note_surfaces(&mut self, plan: &Plan) {
        for n in 0..self.near.len() {
            let k = self.near[n];
            let pair = &plan.contacts.pairs[plan.contacts.ends[k].pair];
            let ConstraintSlot { position, gap, normal, .. } = self.slots[k];
            let point = middle(pair, position, gap, normal);
            let (first, second) = (usize::from(pair.is_flipped), usize::from(!pair.is_flipped));
            let [first, second] = [pair.pair.geoms[first], pair.pair.geoms[second]];
            let on_body = self.surface_velocity_at(plan, second, point) - self.surface_velocity_at(plan, first, point);
            // A pair has one carrier at most, under its first geom.
            let mut carried = Vec3::ZERO;
            if let Some(carrier) = pair.carrier {
                carried = -self.carriers[carrier].velocity_at(point);
            }
            let all = on_body + carried;
            let slot = &mut self.slots[k];
            slot.sliding = all - normal * all.dot(normal);
            slot.parting = carried.dot(normal);
        }
    }

    /// The velocity of a geom's surface on its body, world.
    #[inline(always)]
    fn surface_velocity_at(&self, plan: &Plan, geom: usize, point: Vec3<T>) -> Vec3<T> {
        let surfaces = &plan.contacts.surfaces;
        let (home, frame) = (surfaces.homes[geom], &surfaces.frames[geom]);
        let own = if self.has_surface_velocity { self.surface_velocity[geom] } else { Vec3::ZERO };
        let linear = if let Some(node) = home.node { self.nodes[node].rot * own } else { own };
        if surfaces.angular[geom] == Vec3::ZERO {
            return linear;
        }
        let frame = PlanFrame { pos: wide3(frame.pos), rot: wide_mat(&frame.rot) };
        let (pos, rot) = self.place_frame(plan, home, frame);
        linear + (rot * wide3(surfaces.angular[geom])).cross(point - pos)
    }
}

/// A contact point midway between the surfaces. The slots of what touches something fixed have the body's own surface.
#[inline(always)]
pub(super) fn middle<T: Real>(pair: &PlanPair, position: Vec3<T>, gap: T, normal: Vec3<T>) -> Vec3<T> {
    match pair.kind {
        PairKind::Moving { .. } => position,
        PairKind::Plane { .. } | PairKind::Fixed { .. } => position.add_scaled(gap * wide(-0.5), normal),
    }
}
