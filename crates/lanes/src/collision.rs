//! Contact points: the same as in `sim`. Positions are where the bodies are pushed: midway between two that move; normals
//! point from the first geom to the second.
//!
//! Which pairs are near is found for all lanes side by side, and so are points in closed form. All others are found lane by lane, by
//! [`geometry::PairCollider`].

mod narrow;
mod near;

use geometry::{
    Axis, FAR, NEARLY_PARALLEL, OF_CAPSULE, lowest_corners, nearest_of_axes, share_of_end, share_of_middle,
};
use spatial::{Real, Vec3};

pub(super) use narrow::NarrowPhase;
pub(super) use near::NearPairs;

use super::{Ball, Bundle, Geom, Lanes, lanes_of, wide, wide_mat, wide3};
use crate::plan::{Bounds, PairKind, Plan, PlanPair, Shape};
use spatial::masks::all_lanes;

/// What lies at `normal · x = height`.
#[derive(Clone, Copy)]
struct Plane<T: Real> {
    normal: Vec3<T>,
    height: T,
}

/// A contact point, how far apart the surfaces are there, and one over [`geometry::Contact::stiffness_share`].
struct Point<T: Real> {
    position: Vec3<T>,
    normal: Vec3<T>,
    distance: T,
    softness: T,
}

/// Where a point of a body's surface may be contact, 1 or 0, and with which softness.
#[derive(Clone, Copy)]
struct Bearing<T> {
    is_valid: T,
    softness: T,
}

impl<T: Real> Bearing<T> {
    /// Everywhere, alone.
    const ALONE: Self = Self { is_valid: T::ONE, softness: T::ONE };
}

impl<T: Bundle> Lanes<T> {
    /// Finds the contact points that the step can reach: which slots are `near`, and what is in them.
    #[inline(always)]
    pub(super) fn collide(&mut self, plan: &Plan) {
        self.place_geoms(plan);
        self.near.clear();
        if !self.is_single_world {
            // Groups take turns with this scratch.
            for (k, bounds) in plan.contacts.bounds.iter().enumerate() {
                self.collide_pair(plan, k, bounds);
            }
            return;
        }
        self.follow_geoms(plan);
        for n in 0..self.near_pairs.bits.len() {
            let mut bits = self.near_pairs.bits[n];
            while bits != 0 {
                let k = 64 * n + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.collide_pair(plan, k, &plan.contacts.bounds[k]);
            }
        }
    }

    /// Finds the contact points of a pair.
    #[inline(always)]
    fn collide_pair(&mut self, plan: &Plan, k: usize, bounds: &Bounds) {
        let near = self.meet(bounds);
        if near == 0 {
            return;
        }
        let pair = &plan.contacts.pairs[k];
        let others = match pair.kind {
            PairKind::Plane { normal, height, geom } => {
                let mut plane = Plane { normal: wide3(normal), height: wide(height) };
                if let Some(carrier) = pair.carrier.map(|carrier| &self.carriers[carrier]) {
                    plane.normal = carrier.rot * plane.normal;
                    plane.height += plane.normal.dot(carrier.pos);
                }
                self.collide_plane(plan, pair, plane, geom, near)
            }
            PairKind::Moving { .. } => self.collide_moving(plan, pair, bounds, near),
            PairKind::Fixed { centre, axes, half, geom } => {
                let mut place = self.balls[geom].centre;
                if let Some(carrier) = pair.carrier.map(|carrier| &self.carriers[carrier]) {
                    place = carrier.rot.transpose_mul(place - carrier.pos);
                }
                let apart = wide_mat::<T>(&axes).transpose_mul(place - wide3(centre));
                let reach = self.balls[geom].reach + wide(pair.margin);
                within(excess(apart, half).norm_squared(), reach) & near
            }
        };
        if others != 0 {
            self.collide_one_by_one(plan, pair, others);
        }
    }

    /// The lanes in which what two geoms may come to meets, a bit each; all where one of them is fixed. Where it does not, no other test of
    /// the pair can succeed: this one takes no root.
    #[inline(always)]
    fn meet(&self, bounds: &Bounds) -> u32 {
        if !bounds.are_two {
            return all_lanes::<T>();
        }
        let [a, b] = bounds.geoms.map(|geom| &self.balls[geom as usize]);
        let reach = if bounds.float_together { a.reach_in_tree + b.reach_in_tree } else { a.reach + b.reach };
        within((b.centre - a.centre).norm_squared(), reach + wide(bounds.margin))
    }

    /// How far the geoms of a pair may move, together and apart from what they have in common.
    #[inline(always)]
    fn farthest(&self, bounds: &Bounds) -> T {
        let [a, b] = bounds.geoms.map(|geom| &self.balls[geom as usize]);
        if bounds.float_together { a.farthest_in_tree + b.farthest_in_tree } else { a.farthest + b.farthest }
    }

    #[inline(always)]
    fn place_geoms(&mut self, plan: &Plan) {
        let Self { geoms, balls, nodes, origins, spins, adhesion_reach, .. } = self;
        let dt = wide::<T>(plan.dt);
        for (spin, node) in spins.iter_mut().zip(&*nodes) {
            *spin = (node.twist.ang.norm() + node.change.ang.norm()) * dt;
        }
        for ((geom, here), ball) in plan.contacts.geoms.iter().zip(geoms).zip(balls) {
            let (node, origin) = (&nodes[geom.node], origins[plan.nodes[geom.node].tree]);
            let pos = origin + node.pos;
            here.pos = pos + node.rot * wide3(geom.pos);
            match geom.shape {
                Shape::Capsule { .. } => here.rot.z = node.rot * wide3(geom.rot.z),
                Shape::Box { .. } => here.rot = node.rot * wide_mat(&geom.rot),
                Shape::Sphere { .. } | Shape::Other => {}
            }
            let centre = if geom.shape == Shape::Other { pos + node.rot * wide3(geom.centre) } else { here.pos };
            let arm = centre - origin;
            let change = Self::velocity_at(node.change, arm) * dt;
            let shift = Self::velocity_at(node.twist, arm) * dt + change;
            let stray = change.norm() + spins[geom.node] * wide(geom.radius) + *adhesion_reach;
            let farthest = shift.norm() + stray;
            let tree = &plan.trees[plan.nodes[geom.node].tree];
            let farthest_in_tree = if tree.floats {
                let root = &nodes[tree.nodes.start];
                (shift - (root.twist.lin + root.change.lin) * dt).norm() + stray
            } else {
                farthest
            };
            let (reach, reach_in_tree) = (farthest + wide(geom.radius), farthest_in_tree + wide(geom.radius));
            *ball = Ball { centre, shift, change, stray, farthest, reach, farthest_in_tree, reach_in_tree };
        }
    }

    /// By how much the surfaces of two geoms that move may come nearer to each other, as in `geometry`. Links of one tree that turn alike do
    /// not come nearer; of others each may be stopped. Points that meet lie within the smaller of the balls.
    #[inline(always)]
    fn approach(&self, plan: &Plan, [a, b]: [usize; 2]) -> T {
        let geoms = &plan.contacts.geoms;
        let apart = (self.balls[a].shift - self.balls[b].shift).norm() + (self.balls[a].stray + self.balls[b].stray);
        let tree = plan.nodes[geoms[a].node].tree;
        if tree != plan.nodes[geoms[b].node].tree {
            return apart;
        }
        let (small, large) = if geoms[a].radius <= geoms[b].radius { (a, b) } else { (b, a) };
        let (ball, dt) = (&self.balls[small], wide::<T>(plan.dt));
        let [own, other] = [small, large].map(|geom| &self.nodes[geoms[geom].node]);
        let arm = ball.centre - self.origins[tree];
        let change = Self::velocity_at(other.change, arm) * dt;
        let shift = ball.shift - (Self::velocity_at(other.twist, arm) * dt + change);
        let spin = (own.twist.ang - other.twist.ang).norm() + (own.change.ang.norm() + other.change.ang.norm());
        let changes = ball.change.norm() + change.norm();
        let own_and_other = self.adhesion_reach + self.adhesion_reach;
        (shift.norm() + changes + spin * wide(plan.dt * geoms[small].radius) + own_and_other).min(apart)
    }

    /// Finds points in closed form; returns the lanes, a bit each, that have others.
    #[inline(always)]
    fn collide_plane(&mut self, plan: &Plan, pair: &PlanPair, plane: Plane<T>, geom: usize, near: u32) -> u32 {
        let (plan_geom, ball) = (&plan.contacts.geoms[geom], &self.balls[geom]);
        let n = plane.normal;
        let above = n.dot(ball.centre) - plane.height;
        let near = lanes_of(above.if_less(ball.reach + wide(pair.margin), T::ONE, T::ZERO)) & near;
        if near == 0 || !pair.is_closed {
            return near;
        }
        let Geom { pos, rot } = self.geoms[geom];
        let limit = ball.farthest + wide(pair.margin);
        match plan_geom.shape {
            Shape::Sphere { radius } => {
                self.touch(pair, 0, plane, pos.add_scaled(wide(-radius), n), limit, Bearing::ALONE);
            }
            Shape::Capsule { radius, half_length } => {
                let slope = n.dot(rot.z);
                let share = share_of_end(OF_CAPSULE, slope * slope);
                let end = Bearing { is_valid: T::ONE, softness: share.recip() };
                let is_line = share.if_less(T::ONE, T::ONE, T::ZERO);
                let middle = Bearing { is_valid: is_line, softness: wide(1.0 / share_of_middle(OF_CAPSULE)) };
                for (k, (along, bearing)) in
                    [(half_length, end), (-half_length, end), (0.0, middle)].into_iter().enumerate()
                {
                    let lowest = pos.add_scaled(wide(along), rot.z).add_scaled(wide(-radius), n);
                    self.touch(pair, k, plane, lowest, limit, bearing);
                }
            }
            Shape::Box { half } => {
                for (k, corner) in lowest_corners(pos, &rot, half, n).into_iter().enumerate() {
                    self.touch(pair, k, plane, corner, limit, Bearing::ALONE);
                }
            }
            Shape::Other => {}
        }
        0
    }

    /// Reports a point of a body's surface above a plane.
    #[inline(always)]
    fn touch(
        &mut self,
        pair: &PlanPair,
        k: usize,
        Plane { normal, height }: Plane<T>,
        point: Vec3<T>,
        limit: T,
        Bearing { is_valid, softness }: Bearing<T>,
    ) {
        let distance = normal.dot(point) - height;
        // The body is pushed half the gap beyond the middle between the surfaces, which is its own but for the margin.
        let position = point.add_scaled(wide(-0.5 * pair.margin), normal);
        self.report(pair, k, Point { position, normal, distance, softness }, limit, is_valid);
    }

    /// Finds points in closed form; returns the lanes, a bit each, that have others.
    #[inline(always)]
    fn collide_moving(&mut self, plan: &Plan, pair: &PlanPair, bounds: &Bounds, near: u32) -> u32 {
        let [a, b] = bounds.geoms.map(|geom| geom as usize);
        let (plan_a, plan_b) = (&plan.contacts.geoms[a], &plan.contacts.geoms[b]);
        let apart = self.balls[b].centre - self.balls[a].centre;
        if !pair.is_closed {
            let limit = self.approach(plan, [a, b]) + wide(pair.margin);
            return within(apart.norm_squared(), limit + wide(plan_a.radius + plan_b.radius)) & near;
        }
        let (at, bt) = (self.geoms[a], self.geoms[b]);
        let (u, v) = (at.rot.z, bt.rot.z);
        let ((r, h), (s, k)) = (thickness(plan_a.shape), thickness(plan_b.shape));
        let axes = [Axis { direction: u, half_length: wide(h) }, Axis { direction: v, half_length: wide(k) }];
        let nearest = nearest_of_axes(axes[0], axes[1], apart);
        let (p, q) = (at.pos.add_scaled(nearest.along[0], u), bt.pos.add_scaled(nearest.along[1], v));
        let gap = q - p;
        let gap2 = gap.norm_squared();
        // How far they may come takes longer to find than how far apart they are, and a bound of it tells most of them apart.
        let most = self.farthest(bounds) + wide(pair.margin + (r + s));
        let near = within(gap2, most) & near;
        if near == 0 {
            return 0;
        }
        let limit = self.approach(plan, [a, b]) + wide(pair.margin);
        let reaches = within(gap2, limit + wide(r + s)) & near;
        if reaches == 0 {
            return 0;
        }
        // The axis of a sphere has no length.
        let sine2 = if h > 0.0 && k > 0.0 { nearest.sine2 } else { T::ONE };
        // Along a line, or axes that cross.
        let parallel = sine2.if_less(wide(NEARLY_PARALLEL), T::ONE, T::ZERO);
        let crossing = gap2.if_less(wide(1e-24), T::ONE, T::ZERO);
        let length = gap2.sqrt();
        let normal = gap * length.recip();
        let distance = length - wide(r + s);
        let position = p.add_scaled(wide::<T>(0.5).mul_add(distance, wide(r)), normal);
        let [own, other] = [plan_a.node, plan_b.node];
        let own = Self::velocity_at(self.nodes[own].twist, position - self.origins[plan.nodes[own].tree]);
        let other = Self::velocity_at(self.nodes[other].twist, position - self.origins[plan.nodes[other].tree]);
        let approach = (own - other).dot(normal) * wide(plan.dt);
        let far = wide::<T>(FAR * plan_a.radius.min(plan_b.radius)).if_less(approach, T::ONE, T::ZERO);
        let others = (lanes_of(parallel) | lanes_of(crossing) | lanes_of(far)) & reaches;
        let point = Point { position, normal, distance, softness: T::ONE };
        self.report(pair, 0, point, limit, T::mask(reaches & !others));
        others
    }

    /// Puts a point into the slot `k` of the pair, in those lanes where `is_valid` is 1 and it is near enough.
    #[inline(always)]
    fn report(
        &mut self,
        pair: &PlanPair,
        k: usize,
        Point { position, normal, distance, softness }: Point<T>,
        limit: T,
        is_valid: T,
    ) {
        // Farther than the limit, or no number: not present.
        let is_far = limit.if_less(distance, T::ONE, T::ZERO);
        let is_present = is_valid - is_valid * is_far;
        if lanes_of(is_present) == 0 {
            return;
        }
        let slot = &mut self.slots[pair.first + k];
        slot.is_present = is_present;
        slot.position = position;
        slot.normal = normal;
        (slot.gap, slot.softness) = (distance - wide(pair.margin), softness);
        self.near.push(pair.first + k);
    }
}

/// The lanes in which a squared distance is at most that of `reach`.
#[inline(always)]
fn within<T: Bundle>(distance2: T, reach: T) -> u32 {
    let is_far = (reach * reach).if_less(distance2, T::ONE, T::ZERO);
    lanes_of(T::ONE - is_far)
}

/// From a box of these half extents to what is `apart` from its middle, along the axes of the box.
#[inline(always)]
fn excess<T: Bundle>(apart: Vec3<T>, half: Vec3<f64>) -> Vec3<T> {
    let beyond = |x: T, half: f64| (x.abs() - wide(half)).max(T::ZERO);
    Vec3::new(beyond(apart.x, half.x), beyond(apart.y, half.y), beyond(apart.z, half.z))
}

/// Radius and half length of a sphere or capsule.
fn thickness(shape: Shape) -> (f64, f64) {
    match shape {
        Shape::Sphere { radius } => (radius, 0.0),
        Shape::Capsule { radius, half_length } => (radius, half_length),
        Shape::Box { .. } | Shape::Other => (0.0, 0.0),
    }
}
