//! Regularisation of contacts and limits.

use crate::constants::FASTEST;
use multibody::Compliance;
use spatial::{Real, Vec3};

use super::contact_space::Velocities;
use super::forest::{find, join};
use super::{Bundle, ConstraintSlot, Lanes, get, put, select, wide};
use crate::plan::{PairKind, Plan, PlanPair};
use crate::{OneSided, RowWeight, Slider, stiff_mobility};
use spatial::masks::all_lanes;

/// The gap at the beginning of a step of surfaces that part at this speed: what is moved from outside is detected where the step ends.
#[inline(always)]
pub(super) fn gap_before<T: Real>(gap: T, parting: T, dt: f64) -> T {
    parting.mul_add(wide(-dt), gap)
}

impl<T: Bundle> Lanes<T> {
    /// Prepares the laws of the slots that are near. Few of them push: a law is made where that may be.
    #[inline(always)]
    pub(super) fn regularise_contacts(&mut self, plan: &Plan) {
        if self.numbers.is_uneven {
            self.find_heaviest(plan);
        }
        if self.surfaces_move {
            self.note_surfaces(plan);
        }
        let (rigid, closing) = (-1.0 / plan.rule.near_rigid_time, -1.0 / plan.rule.dt);
        for n in 0..self.near.len() {
            let k = self.near[n];
            let gap = self.gap_at_start(plan, k);
            let slot = &mut self.slots[k];
            // Until there is a law: none lets a contact be righted faster, or lets an open gap close slower without pushing.
            slot.v_hat_recovery = match plan.contacts.pairs[plan.contacts.ends[k].pair].surface.compliance {
                Compliance::NearRigid => gap * wide(rigid),
                Compliance::Reference(_) => gap.if_less(T::ZERO, wide(FASTEST), gap * wide(closing)),
                Compliance::Physical { .. } => wide(FASTEST),
            };
            if self.surfaces_move {
                slot.v_hat_recovery -= slot.parting;
            }
            slot.has_law = false;
        }
    }

    /// The gap with which a contact starts the step.
    #[inline(always)]
    pub(super) fn gap_at_start(&self, plan: &Plan, k: usize) -> T {
        let slot = &self.slots[k];
        if self.surfaces_move { gap_before(slot.gap, slot.parting, plan.dt) } else { slot.gap }
    }

    /// Makes the law of a slot.
    #[inline(always)]
    pub(super) fn make_law(&mut self, plan: &Plan, k: usize) {
        self.slots[k].has_law = true;
        let (law, (w, stiff)) = self.contact_law(plan, &plan.contacts.pairs[plan.contacts.ends[k].pair], k);
        self.set_law(plan, k, &law, w);
        self.set_sliding_friction(plan, k, stiff);
        let slot = &mut self.slots[k];
        if self.surfaces_move {
            // v̂ is of the motion of nodes.
            (slot.v_hat, slot.v_hat_recovery) = (slot.v_hat - slot.parting, slot.v_hat_recovery - slot.parting);
        }
        if let Some(spin) = plan.constraints.spin_of[k] {
            self.regularise_spin(plan, k, spin);
        }
    }

    /// Sets the law of the sliding friction of a contact.
    #[inline(always)]
    fn set_sliding_friction(&mut self, plan: &Plan, k: usize, stiff: T) {
        let (ends, numbers) = (&plan.contacts.ends[k], &self.numbers);
        let compliance = &plan.contacts.pairs[ends.pair].surface.compliance;
        let slider = Slider { friction: numbers.friction[k], resistance: ends.spin.resistance };
        let weight = RowWeight { w: stiff, inverse: numbers.pair_weights[ends.pair] * self.slots[k].softness };
        let law = plan.rule.friction(&slider, compliance, weight, self.gap_at_start(plan, k));
        self.slots[k].r_t = law.r;
        if plan.rule.impratio.is_some() {
            let ConstraintSlot { position, normal, sliding, .. } = self.slots[k];
            let velocity = self.relative(plan, &ends.nodes, position, Velocities::Start);
            let on_body = if self.surfaces_move { sliding } else { Vec3::ZERO };
            let slides = velocity - normal * velocity.dot(normal) + on_body;
            self.slots[k].sliding = on_body - slides * law.per_rate;
        }
    }

    /// The law of the rolling and torsional friction of a contact.
    #[inline(always)]
    fn regularise_spin(&mut self, plan: &Plan, contact: usize, spin: usize) {
        let nodes = plan.contacts.ends[contact].nodes;
        let mut w = T::ZERO;
        for &node in nodes.iter().flatten() {
            w += self.numbers.nodes[node].mobility.turn;
        }
        let ConstraintSlot { position, normal, is_present, .. } = self.slots[contact];
        let slot = &mut self.slots[spin];
        (slot.position, slot.normal) = (position, normal);
        // What cannot turn resists no spin.
        slot.is_present = T::ZERO.if_less(w, is_present, T::ZERO);
        (slot.w, slot.r_n) = (w, w * wide(plan.rule.sigma));
    }

    /// How easily the heaviest tree of the island of every tree is moved, lane by lane.
    fn find_heaviest(&mut self, plan: &Plan) {
        for (heaviest, tree) in self.heaviest.iter_mut().zip(&self.numbers.trees) {
            *heaviest = tree.as_one;
        }
        let mut heaviest = std::mem::take(&mut self.heaviest);
        self.combine_islands(plan, all_lanes::<T>(), &mut heaviest, f64::min);
        self.heaviest = heaviest;
    }

    /// Lets every tree have what `combine` makes of the numbers of all trees in its island, in these lanes. Trees are joined by contacts
    /// that the step can reach.
    pub(super) fn combine_islands(
        &mut self,
        plan: &Plan,
        lanes: u32,
        of_trees: &mut [T],
        combine: impl Fn(f64, f64) -> f64,
    ) {
        let Self { near, slots, islands, .. } = self;
        for lane in (0..T::LANES).filter(|lane| lanes >> lane & 1 != 0) {
            islands.clear();
            islands.extend(0..plan.trees.len());
            for &[a, b] in &plan.joined_trees {
                join(islands, a, b);
            }
            for &k in near.iter().filter(|k| get(&slots[**k].is_present, lane) != 0.0) {
                if let [Some(a), Some(b)] = plan.contacts.ends[k].nodes {
                    join(islands, plan.nodes[a].tree, plan.nodes[b].tree);
                }
            }
            // The smallest tree is an island's root: it gathers the maximum, then all others copy it.
            for tree in 0..islands.len() {
                let root = find(islands, tree);
                let both = combine(get(&of_trees[root], lane), get(&of_trees[tree], lane));
                put(&mut of_trees[root], lane, both);
            }
            for tree in 0..islands.len() {
                let of_root = get(&of_trees[find(islands, tree)], lane);
                put(&mut of_trees[tree], lane, of_root);
            }
        }
    }

    #[inline(always)]
    fn contact_law(&self, plan: &Plan, pair: &PlanPair, k: usize) -> (OneSided<T>, (T, T)) {
        let (slot, gap) = (&self.slots[k], self.gap_at_start(plan, k));
        let apart = slot.normal * (slot.gap * wide(0.5));
        let is_between = matches!(pair.kind, PairKind::Moving { .. });
        let is_soft = pair.surface.compliance != Compliance::NearRigid;
        let (mut w, mut slack, mut leverage, mut tree, mut rate) = (T::ZERO, T::ZERO, T::ZERO, 0, T::ZERO);
        for (node, sign) in plan.contacts.ends[k].nodes.into_iter().zip([-1.0, 1.0]) {
            let Some(node) = node else { continue };
            let at = slot.position - self.origins[plan.nodes[node].tree];
            let arm = at - self.nodes[node].pos;
            // A body is moved at its own surface.
            let own = if is_between { arm + apart * wide(sign) } else { arm };
            w += self.mobility(node, own);
            slack += self.numbers.nodes[node].mobility.slack(&self.nodes[node].rot, arm);
            if is_soft {
                let twist = self.nodes[node].twist;
                rate += (twist.lin + twist.ang.cross(at)).dot(slot.normal) * wide(sign);
            }
            tree = plan.nodes[node].tree;
            // Every point of a node without a fulcrum can be moved in every direction.
            let has_fulcrum = plan.nodes[node].has_fulcrum;
            let of = &self.numbers.nodes[node].mobility;
            let own = if has_fulcrum { of.leverage(&self.nodes[node].rot, arm, slot.normal) } else { T::ONE };
            leverage = leverage.max(own);
        }
        if self.surfaces_move {
            rate += slot.parting;
        }
        // A contact between bodies of very different mass is regularised by the heavier one, so that it does not sink in.
        let heaviest = if self.numbers.is_uneven { self.heaviest[tree] } else { wide(f64::INFINITY) };
        let stiff = stiff_mobility(w, slack, heaviest);
        let inverse = self.numbers.pair_weights[plan.contacts.ends[k].pair] * slot.softness;
        let weight = RowWeight { w: stiff, inverse };
        let mut law = plan.rule.one_sided(&pair.surface.compliance, weight, gap, || rate);
        if pair.surface.spring_depth < f64::INFINITY {
            // Where the spring ends a stop begins.
            let depth = wide::<T>(pair.surface.spring_depth);
            let is_deep = gap.if_less(-depth, T::ONE, T::ZERO);
            let stop = plan.rule.one_sided(&Compliance::NearRigid, weight, gap + depth, || rate);
            law = OneSided {
                r: select(is_deep, stop.r, law.r),
                v_hat: select(is_deep, stop.v_hat, law.v_hat),
                is_rigid: select(is_deep, stop.is_rigid, law.is_rigid),
            };
        }
        let fastest = plan.rule.recovery_speed_of(leverage);
        law.v_hat = select(law.is_rigid, law.v_hat.min(fastest), law.v_hat);
        (law, (w, stiff))
    }

    /// Sets the law of a slot.
    #[inline(always)]
    fn set_law(&mut self, plan: &Plan, k: usize, law: &OneSided<T>, w: T) {
        let (slot, memory) = (&mut self.slots[k], &self.memory[k]);
        slot.v_hat = plan.rule.v_hat_at_end(law, law.r * (memory.normal * memory.is_remembered));
        (slot.v_hat_recovery, slot.r_n, slot.w) = (law.v_hat, law.r, w);
    }

    /// Sets the law of the side `k` of a limit, with this gap and its rate at the beginning of the step.
    #[inline(always)]
    pub(super) fn regularise_limit(&mut self, plan: &Plan, compliance: &Compliance, k: usize, w: T, gap: T, rate: T) {
        let weight = RowWeight { w, inverse: self.inverse_weight(plan, k) };
        let law = plan.rule.one_sided(compliance, weight, gap, || rate);
        self.set_law(plan, k, &law, w);
        (self.slots[k].low, self.slots[k].high) = (T::ZERO, wide(f64::INFINITY));
    }

    /// See [`multibody::InverseWeights`]; of a constraint that is no contact.
    #[inline(always)]
    pub(super) fn inverse_weight(&self, plan: &Plan, k: usize) -> T {
        self.numbers.inverse_weights[k - plan.constraints.first_limit]
    }

    /// How easily the point at `arm` from a node's origin is moved.
    #[inline(always)]
    pub(super) fn mobility(&self, node: usize, arm: Vec3<T>) -> T {
        self.numbers.nodes[node].mobility.inverse(&self.nodes[node].rot, arm)
    }
}
