//! What contacts and limits resist with: their regularisation.

use multibody::Compliance;
use spatial::{Real, Vec3};

use super::{Lanes, bits, select, wide, wide_mat, wide_sym, wide3};
use crate::plan::{PairKind, Plan, PlanPair, Rule};

/// Recovery slower than this share of the recovery speed stays in the velocities, as in a step of one world.
const LEFT_IN_VELOCITIES: f64 = 0.01;

/// R and v̂ of a one-sided constraint.
struct OneSided<T> {
    r: T,
    v_hat: T,
    /// Whether it is near-rigid, 1 or 0.
    is_rigid: T,
}

impl Rule {
    /// The law of a constraint with this gap, and its share `w` of the Delassus operator; `stiffness` and relaxation time where it is a spring.
    #[inline(always)]
    fn one_sided<T: Real>(&self, gap: T, w: T, spring: Option<(T, f64)>) -> OneSided<T> {
        let rigid_r = w * wide(self.near_rigid);
        let rigid_v = (gap * wide(-1.0 / self.near_rigid_time)).min(wide(self.recovery_speed));
        let Some((stiffness, relaxation)) = spring else {
            return OneSided { r: rigid_r, v_hat: rigid_v, is_rigid: T::ONE };
        };
        let time = self.dt + relaxation;
        let r = (stiffness * wide(self.dt * time)).recip();
        let is_rigid = rigid_r.if_less(r, T::ZERO, T::ONE);
        OneSided {
            r: select(is_rigid, rigid_r, r),
            v_hat: select(is_rigid, rigid_v, gap * wide(-1.0 / time)),
            is_rigid,
        }
    }

    /// The lanes in which a near-rigid constraint is violated so far that positions are righted apart.
    #[inline(always)]
    fn recovers<T: Real>(&self, law: &OneSided<T>, impulse_before: T) -> u32 {
        let given_back = law.r * impulse_before + wide(LEFT_IN_VELOCITIES * self.recovery_speed);
        bits(law.is_rigid * given_back.if_less(law.v_hat, T::ONE, T::ZERO))
    }
}

impl<T: Real> Lanes<T> {
    /// The laws of the slots that are near.
    #[inline(always)]
    pub(super) fn regularise_contacts(&mut self, plan: &Plan) {
        let mut near = self.near.iter().copied().peekable();
        for pair in &plan.contacts.pairs {
            while let Some(k) = near.next_if(|&k| k < pair.first + pair.count) {
                let (law, left, w) = self.contact_law(plan, pair, k);
                self.left |= left;
                let slot = &mut self.slots[k];
                (slot.v_hat, slot.r_n, slot.w) = (law.v_hat, law.r, w);
            }
        }
    }

    #[inline(always)]
    fn contact_law(&self, plan: &Plan, pair: &PlanPair, k: usize) -> (OneSided<T>, u32, T) {
        let (slot, memory) = (&self.slots[k], &self.memory[k]);
        let apart = slot.normal * (slot.gap * wide(0.5));
        let is_between = matches!(pair.kind, PairKind::Moving { .. });
        let is_spring = matches!(pair.surface.compliance, Compliance::PerMass { .. });
        let (mut w, mut bare) = (T::ZERO, T::ZERO);
        for (node, sign) in plan.contacts.ends[k].nodes.into_iter().zip([-1.0, 1.0]) {
            let Some(node) = node else { continue };
            let arm = slot.position - self.origins[plan.nodes[node].tree] - self.nodes[node].pos;
            // A body is moved at its own surface.
            let own = if is_between { arm + apart * wide(sign) } else { arm };
            w += self.mobility(plan, node, own);
            if is_spring {
                bare += self.bare_mobility(plan, node, arm, slot.normal);
            }
        }
        let spring = match pair.surface.compliance {
            Compliance::NearRigid => None,
            Compliance::Physical { stiffness, relaxation } => Some((wide(stiffness), relaxation)),
            Compliance::PerMass { stiffness, relaxation } => Some((wide::<T>(stiffness) / bare, relaxation)),
        };
        let law = plan.rule.one_sided(slot.gap, w, spring);
        let mut left = plan.rule.recovers(&law, memory.normal * memory.is_known);
        if is_spring {
            left |= bits(slot.gap.if_less(wide(-pair.surface.spring_depth), T::ONE, T::ZERO));
        }
        // What cannot be moved at all is for one world.
        left |= bits(T::ONE - T::ZERO.if_less(w, T::ONE, T::ZERO));
        (law, left & bits(slot.is_present), w)
    }

    /// The law of a limit: v̂, R, whether positions are righted apart.
    #[inline(always)]
    pub(super) fn limit_law(&self, plan: &Plan, compliance: Compliance, gap: T, w: T, k: usize) -> (T, T, u32) {
        let spring = match compliance {
            Compliance::NearRigid => None,
            Compliance::Physical { stiffness, relaxation } => Some((wide(stiffness), relaxation)),
            Compliance::PerMass { stiffness, relaxation } => Some((wide::<T>(stiffness) / w, relaxation)),
        };
        let law = plan.rule.one_sided(gap, w, spring);
        let memory = &self.memory[k];
        (law.v_hat, law.r, plan.rule.recovers(&law, memory.normal * memory.is_known))
    }

    /// How easily the point at `arm` from a node's origin is moved, see [`sim::EffectiveMass::inverse`].
    #[inline(always)]
    fn mobility(&self, plan: &Plan, node: usize, arm: Vec3<T>) -> T {
        let of = &plan.nodes[node].mobility;
        let r = self.nodes[node].rot.transpose_mul(arm);
        let trace = (wide3::<T>(of.mixed) + wide_sym::<T>(&of.ang) * r).dot(r) + wide(of.lin);
        trace.max(wide(of.least)) * wide(sim::EffectiveMass::PER_TRACE)
    }

    /// See [`sim::EffectiveMass::bare_inverse`].
    #[inline(always)]
    fn bare_mobility(&self, plan: &Plan, node: usize, arm: Vec3<T>, n: Vec3<T>) -> T {
        let (of, rot) = (&plan.nodes[node].mobility.bare, self.nodes[node].rot);
        let (ang, lin) = (rot.transpose_mul(arm.cross(n)), rot.transpose_mul(n));
        let coupling = (wide_mat::<T>(&of.b) * lin).dot(ang);
        (wide_sym::<T>(&of.a) * ang).dot(ang) + coupling + coupling + (wide_sym::<T>(&of.c) * lin).dot(lin)
    }
}
