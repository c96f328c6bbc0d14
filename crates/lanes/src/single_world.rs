//! A world that is stepped by itself, in the one lane of `Lanes<f64>`: its warm start and its reports.

use crate::constants::CALM;
use spatial::{Twist, Vec3, Wrench};

use super::dynamics::motion_of;
use super::{Bundle, ConstraintName, Lanes, Memory, WarmStartEntry, dofs_of, get3, put, put3, wide};
use crate::forest::join;
use crate::plan::{Plan, PlanJacobian, PlanPair, Source};

/// What a step did, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Contact points in reach, and those with an impulse.
    pub contacts: usize,
    /// Contact points with an impulse.
    pub active_contacts: usize,
    /// Limits in reach.
    pub limits: usize,
    /// Constraints in reach.
    pub constraints: usize,
    /// Sets of trees that constraints join, and trees by themselves that have any.
    pub islands: usize,
    /// Iterations of the contact solver.
    pub iterations: usize,
    /// How far impulses are from what the laws ask for at the velocities found, relative to momentum.
    pub residual: f64,
    /// The deepest penetration at the beginning of the step, m.
    pub penetration: f64,
}

impl<T: Bundle> Lanes<T> {
    /// Whether velocities in all lanes are small beside what free motion adds to them. Solvers that start from the velocities of the last
    /// step have little to do then.
    #[inline(always)]
    pub(super) fn is_calm(&self) -> bool {
        let (mut speed, mut change) = (T::ZERO, T::ZERO);
        for (v, v_star) in self.v_start.iter().zip(&self.v_star) {
            speed = v.mul_add(*v, speed);
            let own = *v_star - *v;
            change = own.mul_add(own, change);
        }
        (change * wide(CALM * CALM)).lanes_less(speed) == 0
    }

    /// Takes over what constraints but contacts met in the step before.
    pub(super) fn recall_all_but_contacts(&mut self, plan: &Plan) {
        for k in self.space.remembered.drain(..) {
            self.memory[k] = Memory::NONE;
        }
        self.recall(plan, false);
    }

    /// Takes over what contacts met in the step before, contact points having been found.
    pub(super) fn recall_contacts(&mut self, plan: &Plan) {
        self.recall(plan, true);
    }

    fn recall(&mut self, plan: &Plan, are_contacts: bool) {
        let mut first = 0;
        for n in 0..self.warm_start.len() {
            let WarmStartEntry { name, free_velocity, normal } = self.warm_start[n];
            if name.is_contact() != are_contacts {
                continue;
            }
            let Some((k, is_flipped)) = self.constraint_of(plan, name, &mut first) else { continue };
            let free_velocity = if is_flipped { -free_velocity } else { free_velocity };
            let free_velocity = match (&plan.constraints.all[k].jacobian, &plan.constraints.all[k].source) {
                (PlanJacobian::Twist(_), Source::Spin { contact }) => {
                    Vec3::new(free_velocity.dot(get3(&self.slots[*contact].normal, 0)), 0.0, 0.0)
                }
                _ => free_velocity,
            };
            let memory = &mut self.memory[k];
            put3(&mut memory.free_velocity, 0, free_velocity);
            put(&mut memory.normal, 0, normal);
            put(&mut memory.is_remembered, 0, 1.0);
            self.space.remembered.push(k);
        }
    }

    /// The constraint of a name in this step, and whether its ends have changed places. Names come in order, as slots do: those of contacts
    /// that come before the `first` that is near are gone.
    fn constraint_of(&self, plan: &Plan, name: ConstraintName, first: &mut usize) -> Option<(usize, bool)> {
        if !name.is_contact() {
            return Some((plan.constraints.of_name(name)?, false));
        }
        let ([lower, upper], ordinal) = name.point();
        let pair_of = |k: usize| &plan.contacts.pairs[plan.contacts.ends[k].pair];
        let order = |pair: &PlanPair| [pair.pair.geoms[1], pair.pair.geoms[0]].cmp(&[upper, lower]);
        while order(pair_of(*self.near.get(*first)?)).is_lt() {
            *first += 1;
        }
        let pair = pair_of(self.near[*first]);
        if order(pair).is_gt() {
            return None;
        }
        let of_pair = self.near[*first..].iter().take_while(|k| **k < pair.first + pair.count);
        let slot = *of_pair.filter(|k| self.is_there(&self.slots[**k], 0)).nth(ordinal)?;
        Some((if name.is_spin() { plan.constraints.spin_of[slot]? } else { slot }, pair.is_flipped))
    }

    /// The name of a constraint of a lane's last step, and whether its ends have changed places.
    pub(super) fn name_of(&self, plan: &Plan, k: usize, lane: usize) -> Option<(ConstraintName, bool)> {
        let (slot, is_spin) = match plan.constraints.all[k].source {
            Source::Contact => (k, false),
            Source::Spin { contact } => (contact, true),
            _ => return Some((plan.constraints.all[k].name?, false)),
        };
        let pair = &plan.contacts.pairs[plan.contacts.ends[slot].pair];
        let ordinal = self.slots[pair.first..slot].iter().filter(|slot| self.is_there(slot, lane)).count();
        let name = if is_spin { ConstraintName::spin } else { ConstraintName::contact };
        Some((name(pair.pair.geoms, ordinal), pair.is_flipped))
    }
}

impl Lanes<f64> {
    /// What the constraints of the last step met, and contact points in reach that did not push. A contact point is named by its place
    /// among those of its geoms that are in reach.
    pub fn warm_start(&self, plan: &Plan) -> impl Iterator<Item = WarmStartEntry> {
        let remembered = self.space.remembered.iter().map(|&k| (k, &self.memory[k]));
        let remembered = remembered.filter(|(_, memory)| memory.is_remembered != 0.0);
        remembered.filter_map(|(k, &Memory { free_velocity, normal, .. })| {
            let (name, is_flipped) = self.name_of(plan, k, 0)?;
            let is_twist = matches!(plan.constraints.all[k].jacobian, PlanJacobian::Twist(_));
            let free_velocity = if is_twist { self.slots[k].normal * free_velocity.x } else { free_velocity };
            Some(WarmStartEntry {
                name,
                free_velocity: if is_flipped { -free_velocity } else { free_velocity },
                normal,
            })
        })
    }

    /// Says what constraints met in the step before, for the next step: those that are not named met nothing.
    pub fn set_warm_start(&mut self, entries: &[WarmStartEntry]) {
        self.warm_start.clear();
        self.warm_start.extend_from_slice(entries);
    }

    /// A (v − v*), the generalised impulse of constraints in the last step, (nv): both halves of a solve backwards, with the factor of that
    /// step.
    pub fn constraint_impulse(&mut self, plan: &Plan, out: &mut [f64]) {
        let Self { nodes, dofs, axes_at_start: axes, v_solved, v_star, .. } = self;
        if v_solved == v_star {
            out.fill(0.0);
            return;
        }
        for (i, node) in plan.nodes.iter().enumerate() {
            let mut motion = node.parent.map_or(Twist::ZERO, |parent| motion_of(nodes[parent].load));
            for k in dofs_of(node) {
                let x = v_solved[k] - v_star[k];
                out[k] = x / dofs[k].d_inv + motion.dot(dofs[k].u);
                motion = motion.add_scaled(x, axes[k]);
            }
            nodes[i].load = Wrench { ang: motion.ang, lin: motion.lin };
        }
        nodes.iter_mut().for_each(|node| node.load = Wrench::ZERO);
        for (i, node) in plan.nodes.iter().enumerate().rev() {
            let mut load = nodes[i].load;
            for k in dofs_of(node).rev() {
                let borne = axes[k].dot(load);
                load = load.add_scaled(dofs[k].d_inv * out[k], dofs[k].u);
                out[k] += borne;
            }
            if let Some(parent) = node.parent {
                nodes[parent].load += load;
            }
        }
    }

    /// What the last step did.
    pub fn summary(&self, plan: &Plan) -> Summary {
        let mut all =
            Summary { iterations: self.stats.iterations as usize, residual: self.residual, ..Summary::default() };
        let present = self.near.iter().filter(|k| self.is_there(&self.slots[**k], 0));
        // Roots of sets of trees, and the trees that have constraints, a bit each; of more than 64, the last stands for the rest.
        let (mut roots, mut joined): ([usize; 64], u64) = (std::array::from_fn(|tree| tree), 0);
        let are_many = plan.trees.len() > 1;
        let mut join_trees = |k: usize| {
            if !are_many {
                joined = 1;
                return;
            }
            let mut first = None;
            plan.constraints.each_node(k, &plan.node_of_dof, |node| {
                let tree = plan.nodes[node].tree.min(63);
                joined |= 1 << tree;
                join(&mut roots, *first.get_or_insert(tree), tree);
            });
        };
        for &k in present {
            let slot = &self.slots[k];
            all.contacts += 1;
            all.active_contacts += usize::from(slot.impulse != Vec3::ZERO);
            all.penetration = all.penetration.max(-self.gap_at_start(plan, k));
            join_trees(k);
        }
        all.constraints = all.contacts;
        for &k in self.space.reached.iter().filter(|k| self.slots[**k].is_present != 0.0) {
            all.limits += usize::from(plan.constraints.all[k].source.is_limit());
            all.constraints += 1;
            join_trees(k);
        }
        all.islands =
            (0..plan.trees.len().min(64)).filter(|tree| joined >> tree & 1 != 0 && roots[*tree] == *tree).count();
        all
    }
}
