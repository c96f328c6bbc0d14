//! Which constraints may push: those that push in free motion or are expected to, then those that push at what was found.

use spatial::Real;

use super::contact_space::{all_lanes, positive};
use super::{Bundle, Lanes, lanes_of, wide};
use crate::plan::{Plan, Rows, Source};

/// Rounds of one step: in each, constraints that push although they were not chosen join in.
const MAX_ROUNDS: usize = 4;

/// What W says of the normal velocities of contacts may differ from how bodies move by this much, relative to the velocities; a lane that
/// has lost more digits is left to one world.
const AGREEMENT: f64 = 1e-6;

impl<T: Bundle> Lanes<T> {
    /// Finds the velocities at the end of the step from those of free motion.
    #[inline(always)]
    pub(super) fn resolve_contacts(&mut self, plan: &Plan) {
        self.v.copy_from_slice(&self.v_star);
        self.v_of_q.copy_from_slice(&self.v_star);
        for k in self.space.listed.drain(..) {
            self.space.chosen[k] = 0;
        }
        self.space.open = all_lanes::<T>() & !self.left;
        T::reach_limits(self, plan);
        T::choose_first(self, plan);
        if self.space.open != 0 {
            self.nodes.iter_mut().for_each(|node| node.load = spatial::Wrench::ZERO);
            T::measure_free_motion(self, plan);
        }
        for _ in 0..MAX_ROUNDS {
            if self.space.open == 0 {
                break;
            }
            T::gather(self, plan);
            T::set_free_velocities(self, plan);
            T::carry(self, plan);
            T::multiply(self, plan);
            T::iterate(self, plan);
            T::take_solution(self, plan);
            let solved = self.space.open;
            // Those of which more constraints push than were chosen are solved again.
            T::choose_more(self, plan);
            self.recover(plan, solved & !self.space.open & !self.left);
        }
        self.left |= self.space.open;
        self.remember();
    }

    /// Finds the velocities that move positions in those of the lanes `solved` where constraints recover.
    #[inline(always)]
    fn recover(&mut self, plan: &Plan, solved: u32) {
        let mut recovering = 0;
        for &k in &self.space.listed {
            let slot = &self.slots[k];
            recovering |= positive(slot.recovery - slot.v_hat) & self.space.chosen[k];
        }
        recovering &= solved;
        if recovering != 0 {
            let open = std::mem::replace(&mut self.space.open, recovering);
            T::iterate_again(self, plan);
            T::take_recovery(self, plan);
            self.space.open = open;
        }
    }

    /// Chooses what pushes in free motion or is expected to push; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_first(&mut self, plan: &Plan) {
        let mut news = 0;
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let Rows::Point(nodes) = &plan.constraints[k].rows else { continue };
            let velocity = self.relative(plan, nodes, slot.position, false).dot(slot.normal);
            let expected = pushes(self.memory[k].free.dot(slot.normal), slot.recovery) * self.memory[k].is_known;
            news |= self.choose(k, pushes(velocity, slot.recovery).max(expected));
        }
        for n in 0..self.space.reached.len() {
            let k = self.space.reached[n];
            let always = !matches!(plan.constraints[k].source, Source::Limit);
            let (velocity, slot) = (self.row_velocity(plan, k), &self.slots[k]);
            let expected = pushes(self.memory[k].free.x, slot.recovery) * self.memory[k].is_known;
            let pushes = if always { T::ONE } else { pushes(velocity, slot.recovery).max(expected) };
            news |= self.choose(k, pushes);
        }
        self.space.open = news;
    }

    /// Chooses what pushes at the velocities found so far as well; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_more(&mut self, plan: &Plan) {
        let (mut news, mut error, mut size) = (0, T::ZERO, T::ZERO);
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let Rows::Point(nodes) = &plan.constraints[k].rows else { continue };
            let velocity = self.relative(plan, nodes, slot.position, true).dot(slot.normal);
            let chosen = self.space.chosen[k] & self.space.open;
            if chosen != 0 {
                let memory = &self.memory[k];
                let by_w = slot.w.mul_add(memory.normal, memory.free.dot(slot.normal));
                let (lanes, own) = (T::mask(chosen), velocity - by_w);
                error = (own * own).mul_add(lanes, error);
                size = (velocity * velocity).mul_add(lanes, size);
            }
            let may_push = self.space.open & !self.space.chosen[k];
            if may_push != 0 {
                news |= self.choose(k, pushes(velocity, slot.recovery));
            }
        }
        for n in 0..self.space.reached.len() {
            let k = self.space.reached[n];
            if self.space.open & !self.space.chosen[k] != 0 {
                let velocity = self.row_velocity(plan, k);
                news |= self.choose(k, pushes(velocity, self.slots[k].recovery));
            }
        }
        let tolerance = wide::<T>(AGREEMENT * AGREEMENT);
        let disagrees = positive(error - tolerance * (size + self.free_speed())) & self.space.open;
        self.left |= disagrees;
        self.space.open = news & !self.left;
    }

    /// Σ (J v*)² of the blocks.
    #[inline(always)]
    fn free_speed(&self) -> T {
        let mut sum = T::ZERO;
        for block in &self.space.rows[..self.space.count] {
            for v in block.v_free {
                sum = v.mul_add(v, sum);
            }
        }
        sum
    }

    /// The rate of a row of joints, at the velocities found so far.
    #[inline(always)]
    fn row_velocity(&self, plan: &Plan, k: usize) -> T {
        let Rows::Sum(terms) = &plan.constraints[k].rows else { return T::ZERO };
        let mut sum = T::ZERO;
        for term in terms.clone() {
            sum = self.v[plan.terms[term].dof].mul_add(self.coefficients[term], sum);
        }
        sum
    }

    /// Chooses a constraint in the open lanes where `pushes` is 1; those in which it was not chosen before.
    #[inline(always)]
    fn choose(&mut self, k: usize, pushes: T) -> u32 {
        let chosen = lanes_of(pushes * self.slots[k].is_present) & self.space.open & !self.space.chosen[k];
        if chosen != 0 {
            if self.space.chosen[k] == 0 {
                self.space.listed.push(k);
            }
            self.space.chosen[k] |= chosen;
        }
        chosen
    }

    /// Finds the limits that the step can reach.
    #[inline(always)]
    pub(super) fn reach_limits(&mut self, plan: &Plan) {
        self.space.reached.clear();
        let dt = wide::<T>(2.0 * plan.dt);
        for (l, limit) in plan.limits.iter().enumerate() {
            let (v_start, v_star, q) = (self.v_start[limit.v], self.v_star[limit.v], self.q[limit.q]);
            let reach = (v_start.abs() + v_star.abs()) * dt;
            let gaps = [q - wide(limit.range.0), wide::<T>(limit.range.1) - q];
            for (side, gap) in gaps.into_iter().enumerate() {
                let is_far = reach.if_less(gap, T::ONE, T::ZERO);
                if lanes_of(is_far) != all_lanes::<T>() {
                    let k = plan.first_limit + 2 * l + side;
                    let w = self.dofs[limit.v].d_inv;
                    self.regularise_limit(plan, limit.compliance, gap, w, k);
                    self.slots[k].is_present = T::ONE - is_far;
                    self.space.reached.push(k);
                }
            }
        }
    }

    /// Keeps in memory what was chosen in this step, and nothing else.
    #[inline(always)]
    fn remember(&mut self) {
        let Self { space, memory, left, stats, .. } = self;
        for &k in &space.known {
            memory[k].is_known = T::mask(space.chosen[k] & !*left) * memory[k].is_known;
        }
        space.known.clear();
        for &k in &space.listed {
            memory[k].is_known = T::mask(space.chosen[k] & !*left) * memory[k].is_known;
            stats.pushing += u64::from((positive(memory[k].normal) & lanes_of(memory[k].is_known)).count_ones());
            space.known.push(k);
        }
    }
}

/// 1 where what comes at `velocity` is slower than it is to be at least.
#[inline(always)]
fn pushes<T: Real>(velocity: T, v_hat: T) -> T {
    velocity.if_less(v_hat, T::ONE, T::ZERO)
}
