//! Active set: constraints that push in free motion or are expected to, then those that push at the velocities found.

use sap::{EXPECTED_BEYOND, FrictionLaw};
use spatial::{Real, Vec3};

use super::contact_space::Velocities;
use super::{Bundle, Lanes, by_precision, lanes_of, select, select3, wide};
use crate::constants::{LEFT_IN_VELOCITIES, MAX_ROUNDS};
use crate::plan::{Plan, PlanJacobian};
use spatial::masks::{all_lanes, positive};

/// What W says of the normal velocities of contacts may differ from how bodies move by this much, relative to the velocities; a lane that
/// has lost more digits is left to a simulation. In 64 bits it is the solver's tolerance.
const SINGLE_AGREEMENT: f64 = 1e-2;

/// Velocities below this are round-off, m/s: those along contacts that nothing can move, such as of a slide with the floor beside it.
const NO_SPEED: f64 = 1e-12;

impl<T: Bundle> Lanes<T> {
    /// Finds the velocities at the end of the step from those of free motion, in the lanes `pending`.
    #[inline(always)]
    pub(super) fn resolve(&mut self, plan: &Plan, pending: u32) {
        let lanes = T::mask(pending);
        for ((v, v_of_q), v_star) in self.v.iter_mut().zip(&mut self.v_of_q).zip(&self.v_star) {
            *v = select(lanes, *v_star, *v);
            *v_of_q = select(lanes, *v_star, *v_of_q);
        }
        for &k in &self.space.listed {
            self.space.chosen[k] &= !pending;
            self.space.bounded[k] &= !pending;
            // A round that drives at their limits undo leaves no memory.
            let (memory, before) = (&mut self.memory[k], &self.memory_before[k]);
            memory.free_velocity = select3(lanes, before.free_velocity, memory.free_velocity);
            memory.normal = select(lanes, before.normal, memory.normal);
            memory.is_remembered = select(lanes, before.is_remembered, memory.is_remembered);
        }
        self.space.open = pending & !self.fallback;
        T::constrain(self, plan);
        T::choose_first(self, plan);
        if self.space.open != 0 {
            self.nodes.iter_mut().for_each(|node| node.load = spatial::Wrench::ZERO);
            T::measure_free_motion(self, plan);
        }
        for _ in 0..MAX_ROUNDS {
            if self.space.open == 0 {
                break;
            }
            self.prepare(plan);
            T::iterate(self, plan);
            T::take_solution(self, plan);
            let solved = self.space.open;
            // Those of which more constraints push than were chosen are solved again.
            T::choose_more(self, plan);
            self.recover(plan, solved & !self.space.open & !self.fallback);
        }
        self.fallback |= self.space.open;
    }

    /// Finds the velocities that move positions in those of the lanes `solved` where constraints recover.
    #[inline(always)]
    fn recover(&mut self, plan: &Plan, solved: u32) {
        let recovering = self.recovering_lanes(plan, solved);
        if recovering == 0 {
            return;
        }
        self.find_recovering(plan, recovering);
        self.recovering = recovering;
        let open = std::mem::replace(&mut self.space.open, recovering);
        for _ in 0..MAX_ROUNDS {
            T::iterate_again(self, plan);
            T::set_response(self, plan);
            let solved = self.space.open;
            T::choose_more(self, plan);
            let grown = std::mem::replace(&mut self.space.open, 0);
            self.space.open = solved & !grown & !self.fallback;
            T::take_recovery(self, plan);
            self.space.open = grown;
            if grown == 0 {
                break;
            }
            self.prepare(plan);
        }
        self.fallback |= self.space.open;
        self.space.open = open;
        self.recovering = 0;
    }

    /// Those of the lanes `solved` in which anything recovers, whether it pushes or not.
    #[inline(always)]
    fn recovering_lanes(&mut self, plan: &Plan, solved: u32) -> u32 {
        let least = wide::<T>(LEFT_IN_VELOCITIES * plan.rule.recovery_speed);
        let mut recovering = 0;
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let righted = if self.surfaces_move { slot.v_hat_recovery + slot.parting } else { slot.v_hat_recovery };
            if least.lanes_less(righted) & solved == 0 {
                continue;
            }
            if !slot.has_law {
                self.make_law_of_newcomer(plan, k);
            }
            recovering |= self.recovers(k);
        }
        for &k in &self.space.reached {
            recovering |= self.recovers(k);
        }
        recovering & solved
    }

    /// Makes the law of a contact that was not expected to push.
    #[inline(always)]
    fn make_law_of_newcomer(&mut self, plan: &Plan, k: usize) {
        let slot = &self.slots[k];
        let PlanJacobian::Point(nodes) = &plan.constraints.all[k].jacobian else { return };
        let velocity = self.relative(plan, nodes, slot.position, Velocities::Free).dot(slot.normal);
        self.make_law_at(plan, k, velocity);
    }

    /// Makes the law of a contact, if it has none in this step; its points part at `velocity` in free motion.
    #[inline(always)]
    fn make_law_at(&mut self, plan: &Plan, k: usize, velocity: T) {
        if self.slots[k].has_law {
            return;
        }
        self.make_law(plan, k);
        let (slot, memory) = (&mut self.slots[k], &self.memory[k]);
        let isolated = ((slot.v_hat - velocity) / (slot.r_n + slot.w)).max(T::ZERO);
        slot.normal_estimate = select(memory.is_remembered, memory.normal, isolated);
    }

    /// The lanes in which a constraint is there and recovers.
    #[inline(always)]
    fn recovers(&self, k: usize) -> u32 {
        let slot = &self.slots[k];
        positive(slot.v_hat_recovery - slot.v_hat) & lanes_of(slot.is_present)
    }

    /// Finds the trees of islands where anything recovers, in these lanes.
    fn find_recovering(&mut self, plan: &Plan, lanes: u32) {
        let mut recovers = std::mem::take(&mut self.recovers);
        recovers.fill(T::ZERO);
        let with_law = self.near.iter().filter(|k| self.slots[**k].has_law);
        for &k in with_law.chain(&self.space.reached) {
            let here = T::mask(self.recovers(k) & lanes);
            let mut add = |node: usize| {
                let tree = plan.nodes[node].tree;
                recovers[tree] = recovers[tree].max(here);
            };
            plan.constraints.each_node(k, &plan.node_of_dof, &mut add);
        }
        if plan.trees.len() > 1 {
            self.combine_islands(plan, lanes, &mut recovers, f64::max);
        }
        self.recovers = recovers;
    }

    /// Sets the problem of the constraints that are chosen in the open lanes.
    #[inline(always)]
    fn prepare(&mut self, plan: &Plan) {
        T::gather(self, plan);
        T::set_free_velocities(self, plan);
        T::carry(self, plan);
        T::multiply(self, plan);
    }

    /// Chooses what pushes in free motion or is expected to push; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_first(&mut self, plan: &Plan) {
        let mut news = 0;
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let PlanJacobian::Point(nodes) = &plan.constraints.all[k].jacobian else { continue };
            let velocity = self.relative(plan, nodes, slot.position, Velocities::Free);
            let rate = self.closing_rate(plan, k, velocity);
            let is_remembered = self.memory[k].is_remembered;
            let free_rate = self.closing_rate(plan, k, self.memory[k].free_velocity);
            // But under Coulomb's law what pushed in the step before has friction even where it parts now: of a cone that is rolling and
            // torsional friction.
            let rubs = if plan.friction == FrictionLaw::Coulomb {
                T::ZERO
            } else {
                T::ZERO.if_less(self.memory[k].normal, is_remembered, T::ZERO)
            };
            // No law asks for a greater velocity.
            let may_push = rate.lanes_less(slot.v_hat_recovery)
                | free_rate.lanes_less(slot.v_hat_recovery) & lanes_of(is_remembered)
                | lanes_of(rubs);
            if may_push & lanes_of(slot.is_present) == 0 {
                continue;
            }
            self.make_law_at(plan, k, velocity.dot(slot.normal));
            let v_hat = self.slots[k].v_hat_recovery;
            let expected = pushes(free_rate, v_hat) * is_remembered;
            news |= self.choose(plan, k, pushes(rate, v_hat).max(expected).max(rubs));
        }
        for n in 0..self.space.reached.len() {
            let k = self.space.reached[n];
            if !plan.constraints.all[k].source.is_limit() {
                let bounded = self.expect_bound(plan, k);
                news |= self.choose(plan, k, T::mask(!bounded & all_lanes::<T>())) | bounded;
                continue;
            }
            let (velocity, slot) = (self.row_velocity(plan, k, Velocities::Free), &self.slots[k]);
            let expected = pushes(self.memory[k].free_velocity.x, slot.v_hat_recovery) * self.memory[k].is_remembered;
            news |= self.choose(plan, k, pushes(velocity, slot.v_hat_recovery).max(expected));
        }
        self.space.open = news;
    }

    /// The velocity below whose v̂ a contact pushes, of its points' relative velocity. A cone pushes what slides before it comes near.
    #[inline(always)]
    fn closing_rate(&self, plan: &Plan, k: usize, velocity: Vec3<T>) -> T {
        let normal = self.slots[k].normal;
        let along = velocity.dot(normal);
        if plan.friction != FrictionLaw::Sap {
            return along;
        }
        let mut sliding = velocity - normal * along;
        if self.surfaces_move {
            sliding += self.slots[k].sliding;
        }
        along - self.numbers.friction[k] * sliding.norm()
    }

    /// The open lanes in which a constraint of one row is expected at a bound, from what it met in the step before.
    #[inline(always)]
    fn expect_bound(&mut self, plan: &Plan, k: usize) -> u32 {
        if !matches!(plan.constraints.all[k].jacobian, PlanJacobian::Sum(_)) {
            return 0;
        }
        let (slot, memory) = (&self.slots[k], &self.memory[k]);
        let whole = (slot.v_hat - memory.free_velocity.x) / (slot.r_n + slot.w);
        let margin = (slot.high - slot.low) * wide(EXPECTED_BEYOND);
        let is_remembered = memory.is_remembered * slot.is_present;
        let is_low = whole.if_less(slot.low - margin, is_remembered, T::ZERO);
        let is_high = (slot.high + margin).if_less(whole, is_remembered, T::ZERO);
        let bounded = lanes_of(is_low + is_high) & self.space.open;
        if bounded != 0 {
            self.list(k);
            self.slots[k].at_bound = select(is_low, self.slots[k].low, self.slots[k].high);
        }
        self.space.bounded[k] = self.space.bounded[k] & !self.space.open | bounded;
        bounded
    }

    /// Releases a constraint from the bound that was predicted for it in the lanes where the velocities found are not at that bound; returns
    /// these lanes. In the others the solution there is noted for the warm start.
    #[inline(always)]
    fn check_bound(&mut self, plan: &Plan, k: usize) -> u32 {
        let bounded = self.space.bounded[k] & self.space.open;
        if bounded == 0 {
            return 0;
        }
        let velocity = self.row_velocity(plan, k, Velocities::Found);
        let (slot, memory) = (&self.slots[k], &mut self.memory[k]);
        let impulse = ((slot.v_hat - velocity) / slot.r_n).max(slot.low).min(slot.high);
        let elsewhere = positive((impulse - slot.at_bound).abs()) & bounded;
        let there = T::mask(bounded & !elsewhere & !self.recovering);
        memory.free_velocity.x = select(there, velocity - slot.w * slot.at_bound, memory.free_velocity.x);
        memory.normal = select(there, slot.at_bound, memory.normal);
        memory.is_remembered = memory.is_remembered.max(there);
        self.space.bounded[k] &= !elsewhere;
        self.choose(plan, k, T::mask(elsewhere))
    }

    /// Chooses what pushes at the velocities found so far as well; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_more(&mut self, plan: &Plan) {
        let (mut news, mut error, mut size) = (0, T::ZERO, T::ZERO);
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let PlanJacobian::Point(nodes) = &plan.constraints.all[k].jacobian else { continue };
            let found = self.relative(plan, nodes, slot.position, Velocities::Found);
            let (velocity, rate) = (found.dot(slot.normal), self.closing_rate(plan, k, found));
            let chosen = self.space.chosen[k] & self.space.open;
            if chosen != 0 {
                let memory = &self.memory[k];
                let by_w = slot.w.mul_add(memory.normal, memory.free_velocity.dot(slot.normal));
                let (lanes, own) = (T::mask(chosen), velocity - by_w);
                error = (own * own).mul_add(lanes, error);
                size = (velocity * velocity).mul_add(lanes, size);
            }
            let may_push = self.space.open & !self.space.chosen[k];
            if may_push & rate.lanes_less(slot.v_hat_recovery) != 0 {
                if !slot.has_law {
                    self.make_law_of_newcomer(plan, k);
                }
                news |= self.choose(plan, k, pushes(rate, self.slots[k].v_hat_recovery));
            }
        }
        for n in 0..self.space.reached.len() {
            let k = self.space.reached[n];
            news |= self.check_bound(plan, k);
            if self.space.open & !self.space.chosen[k] & !self.space.bounded[k] != 0 {
                let velocity = self.row_velocity(plan, k, Velocities::Found);
                let is_unbounded = T::mask(!self.space.bounded[k] & all_lanes::<T>());
                news |= self.choose(plan, k, pushes(velocity, self.slots[k].v_hat_recovery) * is_unbounded);
            }
        }
        let tolerance = wide::<T>(by_precision::<T>(plan.solver_options.tolerance, SINGLE_AGREEMENT).powi(2));
        let allowed = tolerance.mul_add(size + self.free_speed(), wide(NO_SPEED * NO_SPEED));
        let disagrees = positive(error - allowed) & self.space.open;
        self.fallback |= disagrees & !self.recovering;
        self.space.open = news & !self.fallback;
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

    /// The rate of a row of joints.
    #[inline(always)]
    pub(super) fn row_velocity(&self, plan: &Plan, k: usize, at: Velocities) -> T {
        let PlanJacobian::Sum(terms) = &plan.constraints.all[k].jacobian else { return T::ZERO };
        let mut sum = T::ZERO;
        for term in terms.clone() {
            let dof = plan.constraints.terms[term].dof;
            let v = match at {
                Velocities::Start => self.v_start[dof],
                Velocities::Free => self.v_star[dof],
                Velocities::Found => self.v_star[dof] + self.dofs[dof].x,
            };
            sum = v.mul_add(self.coefficients[term], sum);
        }
        sum
    }

    /// Chooses a constraint in the open lanes where `pushes` is 1; those in which it was not chosen before.
    #[inline(always)]
    fn choose(&mut self, plan: &Plan, k: usize, pushes: T) -> u32 {
        let chosen = lanes_of(pushes * self.slots[k].is_present) & self.space.open & !self.space.chosen[k];
        if chosen != 0 {
            // What cannot be moved at all is for a simulation. Other lanes may have asked for the law: it leaves none.
            self.fallback |= chosen & !positive(self.slots[k].w);
            self.list(k);
            self.space.chosen[k] |= chosen;
            if let Some(Some(spin)) = plan.constraints.spin_of.get(k) {
                // Friction of a contact stays with it, which bounds it.
                let spins = chosen & lanes_of(self.slots[*spin].is_present);
                if spins != 0 {
                    self.list(*spin);
                }
                self.space.chosen[*spin] |= spins;
            }
        }
        chosen
    }

    /// Notes that a constraint is chosen in some lane of this step.
    #[inline(always)]
    fn list(&mut self, k: usize) {
        if !std::mem::replace(&mut self.space.is_listed[k], true) {
            self.space.listed.push(k);
            self.memory_before[k] = self.memory[k];
        }
    }

    /// Keeps in memory what was chosen in this step; contact points that were not come later: [`remember_apart`](Self::remember_apart).
    #[inline(always)]
    pub(super) fn remember(&mut self) {
        let Self { space, memory, fallback, stats, .. } = self;
        for &k in &space.remembered {
            memory[k].is_remembered =
                T::mask((space.chosen[k] | space.bounded[k]) & !*fallback) * memory[k].is_remembered;
        }
        space.remembered.clear();
        for &k in &space.listed {
            memory[k].is_remembered =
                T::mask((space.chosen[k] | space.bounded[k]) & !*fallback) * memory[k].is_remembered;
            stats.pushing += u64::from((positive(memory[k].normal) & lanes_of(memory[k].is_remembered)).count_ones());
            space.remembered.push(k);
            (space.chosen[k], space.bounded[k]) = (0, 0);
        }
        space.listed.clear();
    }

    /// Keeps in memory how contact points in reach that were not chosen move at the velocities found: what tells in the next step whether they
    /// push, slide or part.
    #[inline(always)]
    pub(super) fn remember_apart(&mut self, plan: &Plan) {
        if !plan.is_balanced && !self.near.is_empty() {
            // Else it has been done to find the energy that is due.
            plan.trees.iter().for_each(|tree| self.set_motions(plan, tree));
        }
        for n in 0..self.near.len() {
            let k = self.near[n];
            let PlanJacobian::Point(nodes) = &plan.constraints.all[k].jacobian else { continue };
            let position = self.slots[k].position;
            let mut velocity = Vec3::ZERO;
            for (node, sign) in nodes.iter().zip([-T::ONE, T::ONE]) {
                let Some(node) = *node else { continue };
                let arm = position - self.origins[plan.nodes[node].tree];
                velocity += Self::velocity_at(self.nodes[node].change, arm) * sign;
            }
            let Self { slots, memory, space, fallback, .. } = self;
            let (slot, memory) = (&mut slots[k], &mut memory[k]);
            slot.velocity = velocity;
            let apart = lanes_of(slot.is_present) & !lanes_of(memory.is_remembered) & !*fallback;
            if apart != 0 {
                let apart = T::mask(apart);
                memory.free_velocity = select3(apart, velocity, memory.free_velocity);
                memory.normal = select(apart, T::ZERO, memory.normal);
                memory.is_remembered = memory.is_remembered.max(apart);
                if !std::mem::replace(&mut space.is_listed[k], true) {
                    space.remembered.push(k);
                }
            }
        }
        for &k in &self.space.remembered {
            self.space.is_listed[k] = false;
        }
    }
}

/// 1 where a constraint pushes: `velocity` along its row is below v̂.
#[inline(always)]
fn pushes<T: Real>(velocity: T, v_hat: T) -> T {
    velocity.if_less(v_hat, T::ONE, T::ZERO)
}
