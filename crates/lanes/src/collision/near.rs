//! Pairs that may be near while geoms stay where they are known to be: of some thousand pairs of a robot a few dozen, found anew where a geom
//! leaves.

use spatial::{Real, Vec3};

use super::super::{Bundle, Lanes, lanes_of, wide, wide_mat, wide3};
use super::{excess, within};
use crate::plan::{Bounds, PairKind, PairsOfGeoms, Plan, PlanPair};
use spatial::masks::all_lanes;

/// How much wider than all that a geom may come to in a step a ball is in which it is known to be: as a part of its radius, and in steps of
/// its motion.
const SPARE: f64 = 0.1;
const SPARE_STEPS: f64 = 4.0;

/// A ball in which a geom is known to be, its reach included, and how much wider it was made.
#[derive(Clone, Copy, Debug)]
struct WideBall<T: Real> {
    centre: Vec3<T>,
    radius: T,
    spare: T,
}

impl<T: Bundle> WideBall<T> {
    /// Becomes a ball about a geom that is not within it in all lanes; whether that was so.
    #[inline(always)]
    fn follow(&mut self, centre: Vec3<T>, reach: T, farthest: T) -> bool {
        let room = self.radius - reach;
        let is_within = (centre - self.centre).norm_squared().if_less(room * room, T::ONE, T::ZERO);
        // Not much wider than it was made, as it may be of something that was fast.
        let is_narrow = room.if_less(self.spare + self.spare, T::ONE, T::ZERO);
        let fits = T::ZERO.if_less(room, is_within * is_narrow, T::ZERO);
        let has_left = lanes_of(fits) != all_lanes::<T>();
        if has_left {
            let spare = farthest.mul_add(wide(SPARE_STEPS), (reach - farthest) * wide(SPARE));
            *self = Self { centre, radius: reach + spare, spare };
        }
        has_left
    }
}

/// The pairs that may be near, a bit each.
#[derive(Clone, Debug)]
pub(crate) struct NearPairs<T: Real> {
    /// By geoms; and as seen from the origins of trees that float, which take all of their geoms along.
    in_world: Vec<WideBall<T>>,
    in_tree: Vec<WideBall<T>>,
    pub bits: Vec<u64>,
    /// Geoms that have left.
    left: Vec<usize>,
}

impl<T: Bundle> NearPairs<T> {
    pub fn new(plan: &Plan) -> Self {
        let nowhere = WideBall { centre: Vec3::ZERO, radius: wide(f64::NEG_INFINITY), spare: T::ZERO };
        let geoms = plan.contacts.geoms.len();
        let bits = vec![0; plan.contacts.pairs.len().div_ceil(64)];
        let balls = vec![nowhere; geoms];
        Self { in_world: balls.clone(), in_tree: balls, bits, left: Vec::with_capacity(geoms) }
    }

    /// Whether two geoms may be near each other in any lane.
    #[inline(always)]
    fn may_meet(&self, pair: &PlanPair, bounds: &Bounds) -> bool {
        if pair.carrier.is_some() {
            // They may be put anywhere from step to step.
            return true;
        }
        let margin = wide::<T>(pair.margin);
        let balls = if bounds.float_together { &self.in_tree } else { &self.in_world };
        let near = match pair.kind {
            PairKind::Plane { normal, height, geom } => {
                let ball = &balls[geom];
                let above = wide3(normal).dot(ball.centre) - wide(height);
                lanes_of(above.if_less(ball.radius + margin, T::ONE, T::ZERO))
            }
            PairKind::Moving { geoms } => {
                let [a, b] = geoms.map(|geom| &balls[geom]);
                within((b.centre - a.centre).norm_squared(), a.radius + b.radius + margin)
            }
            PairKind::Fixed { centre, axes, half, geom } => {
                let ball = &balls[geom];
                let apart = wide_mat::<T>(&axes).transpose_mul(ball.centre - wide3(centre));
                within(excess(apart, half).norm_squared(), ball.radius + margin)
            }
        };
        near != 0
    }

    /// Finds out which of these pairs of geoms that have left may be near.
    #[inline(always)]
    fn find_anew(&mut self, plan: &Plan, pairs: &PairsOfGeoms) {
        for n in 0..self.left.len() {
            for &k in pairs.of(self.left[n]) {
                let k = k as usize;
                let bit = u64::from(self.may_meet(&plan.contacts.pairs[k], &plan.contacts.bounds[k]));
                let word = &mut self.bits[k / 64];
                *word = *word & !(1 << (k % 64)) | bit << (k % 64);
            }
        }
    }
}

impl<T: Bundle> Lanes<T> {
    /// Finds the near pairs of geoms that have left where they were known to be.
    #[inline(always)]
    pub(super) fn follow_geoms(&mut self, plan: &Plan) {
        let Self { near_pairs, balls, origins, .. } = self;
        near_pairs.left.clear();
        for (i, (ball, known)) in balls.iter().zip(&mut near_pairs.in_world).enumerate() {
            if known.follow(ball.centre, ball.reach, ball.farthest) {
                near_pairs.left.push(i);
            }
        }
        near_pairs.find_anew(plan, &plan.contacts.pairs_in_world);
        if plan.contacts.pairs_in_tree.is_empty() {
            return;
        }
        near_pairs.left.clear();
        for (i, (ball, known)) in balls.iter().zip(&mut near_pairs.in_tree).enumerate() {
            let origin = origins[plan.nodes[plan.contacts.geoms[i].node].tree];
            if known.follow(ball.centre - origin, ball.reach_in_tree, ball.farthest_in_tree) {
                near_pairs.left.push(i);
            }
        }
        near_pairs.find_anew(plan, &plan.contacts.pairs_in_tree);
    }
}
