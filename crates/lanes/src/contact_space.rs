//! The contact problem of every lane in contact space.
//!
//! Every lane has its own list of constraints that may push. Lanes do side by side what costs most: they send a unit load along every row
//! to the roots and multiply what arrives, which gives the Delassus operator W = J (M + Λ)⁻¹ Jᵀ. The small problem that is left is solved in
//! all lanes at once ([`solve`](super::solve)), each with its own rows.
//!
//! The rows of a lane come in blocks of three: constraints of three rows first, then those of one row, three to a block, then rolling and
//! torsional friction. That of the first contact stands in the same block in all lanes, and so on: contacts that have any come first.

mod carry;
mod islands;

use multibody::ellipse_tangents;
use sap::contact_blocks::{Block3, BlockRows, DenseScratch};
use spatial::{Mat3, Real, Three, Twist, Vec3, Wrench};

use super::dynamics::{motion_of, moved};
use super::{Bundle, Lanes, dofs_of, select, select3, wide};
use crate::constants::ROWS_OF_JAMS;
use crate::plan::{Plan, PlanJacobian, Source};
use islands::Islands;

/// Rows of a problem at most; a step of more is left to a simulation.
const MAX_ROWS: usize = 96;

/// Rows of all islands at most, of a world by itself.
const MAX_ROWS_OF_ISLANDS: usize = 240;

/// Most blocks of three rows of so many rows.
const fn max_blocks(rows: usize) -> usize {
    rows / 3 + 2
}

/// Most blocks that torsional or rolling friction adds: torsional of 24 contacts in 96 rows, rolling of 16.
const fn max_spin_blocks(rows: usize) -> usize {
    rows / 6
}

/// Lanes at most.
pub(super) const MAX_LANES: usize = 16;

/// A constraint in some lanes of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub constraint: usize,
    /// Its first row within the block.
    pub row: usize,
    /// The lanes, a bit each.
    pub lanes: u32,
}

/// Three rows of every lane.
#[derive(Clone, Debug)]
pub(super) struct Block<T: Real> {
    pub entries: Vec<Entry>,
    /// A point's position, and the directions of its rows, world.
    pub position: Vec3<T>,
    pub frame: Mat3<T>,
}

/// Velocities of a step: at its beginning, of free motion, and those found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Velocities {
    Start,
    Free,
    Found,
}

/// Scratch of the contact problem.
#[derive(Clone, Debug)]
pub(super) struct ContactSpace<T: Real> {
    max_rows: usize,
    pub blocks: Vec<Block<T>>,
    pub rows: Vec<BlockRows<T>>,
    pub newton: DenseScratch<T>,
    /// Blocks in use, and the first of rolling and torsional friction.
    pub count: usize,
    pub first_spin: usize,
    /// By lanes: blocks of constraints of three rows, contacts among them with rolling or torsional friction, and rows of the others.
    pub threes: [usize; MAX_LANES],
    pub spins: [usize; MAX_LANES],
    pub ones: [usize; MAX_LANES],
    /// The lanes in which each constraint is chosen, a bit each.
    pub chosen: Vec<u32>,
    /// The constraints that were chosen in any lane in this step, each once, and whether a constraint is among them.
    pub listed: Vec<usize>,
    pub is_listed: Vec<bool>,
    /// Constraints of which memory is kept.
    pub remembered: Vec<usize>,
    /// Constraints other than contacts that may push in any lane.
    pub reached: Vec<usize>,
    /// The lanes that are to be solved still, a bit each.
    pub open: u32,
    /// The lanes in which each constraint of one row is at a bound, a bit each: no row, but a part of free motion. Whether any is, and what
    /// of their impulses arrives at the degrees of freedom.
    pub bounded: Vec<u32>,
    pub has_bounded: bool,
    pub bounded_x: Vec<T>,
    /// W of the blocks in use, by rows of blocks; of islands that are solved one by one what is between them is not set.
    pub w: Vec<Block3<T>>,
    pub islands: Islands<T>,
    /// ½ v*ᵀ (M + Λ) v*, by trees.
    pub kinetic: Vec<T>,
    /// u of each row by block and degree of freedom; the nodes that a block's loads pass, a bit each, and those that wait for other blocks'
    /// loads; scratch to find them, zeros but while they pass.
    carried: Vec<T::Three>,
    passing: Vec<u64>,
    waiting: Vec<u64>,
    loads: Vec<[Wrench<T>; 3]>,
    pushed: Vec<[T; 3]>,
}

/// Words for a bit of each node.
fn words(plan: &Plan) -> usize {
    plan.nodes.len().div_ceil(64)
}

impl<T: Bundle> ContactSpace<T> {
    /// That of lanes side by side.
    pub fn new(plan: &Plan) -> Self {
        Self::with_rows(plan, MAX_ROWS)
    }

    /// That of a world by itself.
    pub fn of_single_world(plan: &Plan) -> Self {
        let most = MAX_ROWS_OF_ISLANDS.min(MAX_ROWS * plan.trees.len());
        Self::with_rows(plan, most.min(ROWS_OF_JAMS * plan.nv))
    }

    fn with_rows(plan: &Plan, max_rows: usize) -> Self {
        let zeros = [T::ZERO; 3];
        let constraints = plan.constraints.all.len();
        let has_spin = plan.constraints.spin_of.iter().any(Option::is_some);
        let spin_blocks = if has_spin { max_spin_blocks(max_rows) } else { 0 };
        let blocks = (max_blocks(max_rows) + spin_blocks).min(constraints);
        let block = Block { entries: Vec::new(), position: Vec3::ZERO, frame: Mat3::IDENTITY };
        let with_room = |_| Block { entries: Vec::with_capacity(3 * MAX_LANES), ..block.clone() };
        Self {
            max_rows,
            blocks: (0..blocks).map(with_room).collect(),
            rows: vec![BlockRows::none(); blocks],
            newton: DenseScratch::new(blocks),
            count: 0,
            first_spin: 0,
            threes: [0; MAX_LANES],
            spins: [0; MAX_LANES],
            ones: [0; MAX_LANES],
            chosen: vec![0; constraints],
            listed: Vec::with_capacity(constraints),
            is_listed: vec![false; constraints],
            remembered: Vec::with_capacity(constraints),
            reached: Vec::with_capacity(constraints),
            open: 0,
            bounded: vec![0; constraints],
            has_bounded: false,
            bounded_x: vec![T::ZERO; plan.nv],
            w: vec![[T::Three::ZERO; 3]; blocks * blocks],
            islands: Islands::new(plan, blocks),
            kinetic: vec![T::ZERO; plan.trees.len()],
            carried: vec![T::Three::ZERO; blocks * plan.nv],
            passing: vec![0; blocks * words(plan)],
            waiting: vec![0; blocks * words(plan)],
            loads: vec![[Wrench::ZERO; 3]; blocks * plan.nodes.len()],
            pushed: vec![zeros; blocks * plan.nv],
        }
    }
}

/// Calls `f` for every bit that is set.
#[inline(always)]
fn each_bit(words: impl Iterator<Item = u64>, mut f: impl FnMut(usize)) {
    for (k, mut word) in words.enumerate() {
        while word != 0 {
            f(64 * k + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

impl<T: Bundle> Lanes<T> {
    /// Numbers the chosen constraints of each open lane, and gathers what their rows act on.
    #[inline(always)]
    pub(super) fn gather(&mut self, plan: &Plan) {
        self.count_blocks(plan);
        let Self { space, slots, numbers, .. } = self;
        let ContactSpace { blocks, count, first_spin, threes, chosen, listed, open, .. } = space;
        for block in &mut blocks[..*count] {
            block.entries.clear();
            (block.position, block.frame) = (Vec3::ZERO, Mat3::IDENTITY);
        }
        let (mut of_threes, mut of_ones, mut last_trees) = ([0; MAX_LANES], [0; MAX_LANES], [None; MAX_LANES]);
        for &k in listed.iter() {
            let constraint = &plan.constraints.all[k];
            let is_spin = matches!(constraint.source, Source::Spin { .. });
            let is_three = constraint.jacobian.are_three();
            let mut lanes = chosen[k] & *open;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let (b, row) = if is_spin {
                    // The contact came just before.
                    let contact = of_threes[lane] - 1;
                    if is_three { (*first_spin + contact, 0) } else { (*first_spin + contact / 3, contact % 3) }
                } else if is_three {
                    of_threes[lane] += 1;
                    (of_threes[lane] - 1, 0)
                } else {
                    of_ones[lane] = first_row(plan, k, of_ones[lane], &mut last_trees[lane]) + 1;
                    (threes[lane] + (of_ones[lane] - 1) / 3, (of_ones[lane] - 1) % 3)
                };
                blocks[b].add(k, row, lane);
            }
        }
        for block in &mut blocks[..*count] {
            let mut normal = Vec3::new(T::ZERO, T::ZERO, T::ONE);
            for entry in &block.entries {
                if plan.constraints.all[entry.constraint].jacobian.are_three() {
                    let (lanes, slot) = (T::mask(entry.lanes), &slots[entry.constraint]);
                    block.position = select3(lanes, slot.position, block.position);
                    normal = select3(lanes, slot.normal, normal);
                }
            }
            block.frame = frame(normal);
            for entry in block.entries.iter().filter(|entry| entry.constraint < numbers.ellipses.len()) {
                let k = entry.constraint;
                if plan.contacts.pairs[plan.contacts.ends[k].pair].is_elliptic {
                    let ([x, y], lanes) =
                        (ellipse_tangents(numbers.ellipses[k], slots[k].normal), T::mask(entry.lanes));
                    (block.frame.x, block.frame.y) =
                        (select3(lanes, x, block.frame.x), select3(lanes, y, block.frame.y));
                }
            }
        }
        if self.is_single_world && plan.trees.len() > 1 {
            space.find_islands(plan, 1);
            if space.islands.most_blocks() > max_blocks(MAX_ROWS) {
                (self.fallback, space.open, space.count) = (1, 0, 0);
                space.islands.clear();
            }
        }
    }

    /// Counts the rows of every lane and the blocks of all, and lets the lanes that have too many fall back.
    #[inline(always)]
    fn count_blocks(&mut self, plan: &Plan) {
        let Self { space, fallback, .. } = self;
        let ContactSpace { max_rows, threes, spins, ones, chosen, listed, open, .. } = space;
        listed.sort_unstable_by_key(|&k| plan.constraints.order(k));
        (*threes, *spins, *ones) = ([0; MAX_LANES], [0; MAX_LANES], [0; MAX_LANES]);
        let mut last_trees = [None; MAX_LANES];
        let add = |to: &mut [usize; MAX_LANES], lanes: u32| {
            to.iter_mut().enumerate().for_each(|(lane, of)| *of += (lanes >> lane & 1) as usize);
        };
        for &k in listed.iter() {
            let (constraint, lanes) = (&plan.constraints.all[k], chosen[k] & *open);
            match constraint.source {
                // They are counted with their contacts.
                Source::Spin { .. } => {}
                _ if constraint.jacobian.are_three() => {
                    add(threes, lanes);
                    if plan.constraints.spin_of.get(k).is_some_and(Option::is_some) {
                        add(spins, lanes);
                    }
                }
                _ => {
                    for lane in (0..T::LANES).filter(|lane| lanes >> lane & 1 != 0) {
                        ones[lane] = first_row(plan, k, ones[lane], &mut last_trees[lane]) + 1;
                    }
                }
            }
        }
        let per_block = if plan.constraints.rolls { 1 } else { 3 };
        let (mut first_spin, mut spin_blocks) = (0, 0);
        for lane in 0..T::LANES {
            if 3 * threes[lane] + 3 / per_block * spins[lane] + ones[lane] > *max_rows {
                *fallback |= 1 << lane;
                *open &= !(1 << lane);
                (threes[lane], spins[lane], ones[lane]) = (0, 0, 0);
            }
            first_spin = first_spin.max(threes[lane] + ones[lane].div_ceil(3));
            spin_blocks = spin_blocks.max(spins[lane].div_ceil(per_block));
        }
        (space.count, space.first_spin) = (first_spin + spin_blocks, first_spin);
    }

    /// Lets the constraints at a bound push, in the lanes that are open: motions of nodes are then what they add to free motion.
    #[inline(always)]
    fn push_bounded(&mut self, plan: &Plan) {
        let Self { space, slots, dofs, nodes, coefficients, .. } = self;
        let is_any = |k: &usize| space.bounded[*k] & space.open != 0;
        space.has_bounded = space.reached.iter().any(is_any);
        if !space.has_bounded {
            return;
        }
        dofs.iter_mut().for_each(|dof| dof.x = T::ZERO);
        nodes.iter_mut().for_each(|node| node.load = Wrench::ZERO);
        for &k in &space.reached {
            let lanes = space.bounded[k] & space.open;
            let PlanJacobian::Sum(terms) = &plan.constraints.all[k].jacobian else { continue };
            if lanes == 0 {
                continue;
            }
            let impulse = slots[k].at_bound * T::mask(lanes);
            for term in terms.clone() {
                let x = &mut dofs[plan.constraints.terms[term].dof].x;
                *x = coefficients[term].mul_add(impulse, *x);
            }
        }
        self.bear(plan);
        for (bounded, dof) in self.space.bounded_x.iter_mut().zip(&self.dofs) {
            *bounded = dof.x;
        }
        self.respond(plan);
    }

    /// J v* of all blocks, the constraints at a bound included in free motion.
    #[inline(always)]
    pub(super) fn set_free_velocities(&mut self, plan: &Plan) {
        self.push_bounded(plan);
        let at = if self.space.has_bounded { Velocities::Found } else { Velocities::Free };
        for b in 0..self.space.count {
            let block = &self.space.blocks[b];
            let (mut velocity, mut sums) = (Vec3::ZERO, [T::ZERO; 3]);
            for entry in &block.entries {
                let lanes = T::mask(entry.lanes);
                match &plan.constraints.all[entry.constraint].jacobian {
                    PlanJacobian::Point(nodes) => {
                        velocity = select3(lanes, self.relative(plan, nodes, block.position, at), velocity);
                    }
                    PlanJacobian::Turn(nodes) => velocity = select3(lanes, self.relative_turn(nodes, at), velocity),
                    PlanJacobian::Twist(nodes) => {
                        let twist = self.relative_turn(nodes, at).dot(self.slots[entry.constraint].normal);
                        sums[entry.row] = lanes.mul_add(twist, sums[entry.row]);
                    }
                    PlanJacobian::Sum(_) => {
                        let sum = self.row_velocity(plan, entry.constraint, at);
                        sums[entry.row] = lanes.mul_add(sum, sums[entry.row]);
                    }
                }
            }
            let of_three = block.frame.transpose_mul(velocity).to_array();
            for (v, (three, sum)) in self.space.rows[b].v_free.iter_mut().zip(of_three.into_iter().zip(sums)) {
                *v = three + sum;
            }
        }
    }

    /// The velocity of the second node's point at `position` relative to the first's.
    #[inline(always)]
    pub(super) fn relative(
        &self,
        plan: &Plan,
        nodes: &[Option<usize>; 2],
        position: Vec3<T>,
        at: Velocities,
    ) -> Vec3<T> {
        self.point_velocity(plan, nodes[1], position, at) - self.point_velocity(plan, nodes[0], position, at)
    }

    /// The velocity of the point of a node that is at `position`.
    #[inline(always)]
    fn point_velocity(&self, plan: &Plan, node: Option<usize>, position: Vec3<T>, at: Velocities) -> Vec3<T> {
        let Some(node) = node else { return Vec3::ZERO };
        Self::velocity_at(self.twist(node, at), position - self.origins[plan.nodes[node].tree])
    }

    /// The angular velocity of the second node relative to the first.
    #[inline(always)]
    pub(super) fn relative_turn(&self, nodes: &[Option<usize>; 2], at: Velocities) -> Vec3<T> {
        self.turn(nodes[1], at) - self.turn(nodes[0], at)
    }

    #[inline(always)]
    fn turn(&self, node: Option<usize>, at: Velocities) -> Vec3<T> {
        let Some(node) = node else { return Vec3::ZERO };
        self.twist(node, at).ang
    }

    #[inline(always)]
    fn twist(&self, node: usize, at: Velocities) -> Twist<T> {
        let here = &self.nodes[node];
        match at {
            Velocities::Start => here.twist,
            Velocities::Free => here.twist + here.change,
            Velocities::Found => here.twist + here.change + motion_of(here.load),
        }
    }

    /// W = J (M + Λ)⁻¹ Jᵀ from what was carried.
    #[inline(always)]
    pub(super) fn multiply(&mut self, plan: &Plan) {
        let Self { space, dofs, .. } = self;
        let ContactSpace { count, carried, passing, w, islands, .. } = space;
        let (nv, words, count) = (plan.nv, words(plan), *count);
        let passing = |b: usize| &passing[b * words..(b + 1) * words];
        for b in 0..count {
            for c in (0..=b).filter(|c| islands.are_one(b, *c)) {
                let (of_b, of_c) = (&carried[b * nv..(b + 1) * nv], &carried[c * nv..(c + 1) * nv]);
                let mut product = [T::Three::ZERO; 3];
                let both = passing(b).iter().zip(passing(c)).map(|(b, c)| b & c);
                each_bit(both, |node| {
                    for k in dofs_of(&plan.nodes[node]) {
                        let x = of_b[k].scaled(dofs[k].d_inv).to_array();
                        for i in 0..3 {
                            product[i] = product[i].add_scaled(x[i], of_c[k]);
                        }
                    }
                });
                let [x, y, z] = [product[0].to_array(), product[1].to_array(), product[2].to_array()];
                w[c * count + b] = [
                    T::Three::new([x[0], y[0], z[0]]),
                    T::Three::new([x[1], y[1], z[1]]),
                    T::Three::new([x[2], y[2], z[2]]),
                ];
                w[b * count + c] = product;
            }
        }
    }

    /// What the solved impulses add to free motion: `x` of the degrees of freedom, and the motions of nodes in place of their loads.
    #[inline(always)]
    pub(super) fn set_response(&mut self, plan: &Plan) {
        let Self { space, dofs, .. } = self;
        let ContactSpace { rows, count, carried, passing, has_bounded, bounded_x, .. } = space;
        let (nv, words) = (plan.nv, words(plan));
        for (dof, bounded) in dofs.iter_mut().zip(bounded_x) {
            dof.x = if *has_bounded { *bounded } else { T::ZERO };
        }
        for (b, block) in rows[..*count].iter().enumerate() {
            each_bit(passing[b * words..(b + 1) * words].iter().copied(), |node| {
                for k in dofs_of(&plan.nodes[node]) {
                    for (u, impulse) in carried[b * nv + k].to_array().into_iter().zip(block.solved_lambda) {
                        dofs[k].x = u.mul_add(impulse, dofs[k].x);
                    }
                }
            });
        }
        T::respond(self, plan);
    }

    /// Sets velocities to those of the solution in the lanes that are open.
    #[inline(always)]
    pub(super) fn take_solution(&mut self, plan: &Plan) {
        T::set_response(self, plan);
        let is_open = T::mask(self.space.open);
        for ((v, v_star), dof) in self.v.iter_mut().zip(&self.v_star).zip(&self.dofs) {
            *v = select(is_open, *v_star + dof.x, *v);
        }
        for (v_of_q, v) in self.v_of_q.iter_mut().zip(&self.v) {
            *v_of_q = select(is_open, *v, *v_of_q);
        }
    }

    /// Finds the velocities that move positions where constraints recover, in the lanes that are open. No point of a body is moved faster
    /// by recovery than at its speed, and its island is slowed with it.
    #[inline(always)]
    pub(super) fn take_recovery(&mut self, plan: &Plan) {
        // What recovery adds to the velocities.
        for ((dof, v_star), v) in self.dofs.iter_mut().zip(&self.v_star).zip(&self.v) {
            dof.x = dof.x + *v_star - *v;
        }
        let mut fastest = std::mem::take(&mut self.fastest);
        fastest.fill(T::ZERO);
        for (i, node) in plan.nodes.iter().enumerate() {
            let mut motion =
                if let Some(parent) = node.parent { motion_of(self.nodes[parent].load) } else { Twist::ZERO };
            for k in dofs_of(node) {
                motion = moved(motion, self.dofs[k].x, &self.dofs[k]);
            }
            let here = &mut self.nodes[i];
            here.load = Wrench { ang: motion.ang, lin: motion.lin };
            let speed = Self::velocity_at(motion, here.pos).norm() + motion.ang.norm() * wide(node.extent);
            fastest[node.tree] = fastest[node.tree].max(speed);
        }
        let open = self.space.open;
        if plan.trees.len() > 1 {
            self.combine_islands(plan, open, &mut fastest, f64::max);
        }
        let most = wide::<T>(plan.rule.recovery_speed);
        for ((tree, fastest), recovers) in plan.trees.iter().zip(&fastest).zip(&self.recovers) {
            let recovering = T::mask(open) * *recovers;
            let share = select(most.if_less(*fastest, T::ONE, T::ZERO), most / *fastest, T::ONE);
            for k in tree.dofs.clone() {
                let v = share.mul_add(self.dofs[k].x, self.v[k]);
                self.v_of_q[k] = select(recovering, v, self.v_of_q[k]);
            }
        }
        self.fastest = fastest;
    }

    /// ½ v*ᵀ (M + Λ) v* of every tree.
    #[inline(always)]
    pub(super) fn measure_free_motion(&mut self, plan: &Plan) {
        let Self { space, nodes, v_star, lambda, .. } = self;
        let half = wide::<T>(0.5);
        for (tree, kinetic) in plan.trees.iter().zip(&mut space.kinetic) {
            let mut sum = T::ZERO;
            for (node, of_plan) in nodes[tree.nodes.clone()].iter().zip(&plan.nodes[tree.nodes.clone()]) {
                if of_plan.is_massless {
                    continue;
                }
                let motion = node.twist + node.change;
                sum += motion.dot(node.inertia.momentum(motion));
            }
            for k in tree.dofs.clone() {
                sum = (v_star[k] * v_star[k]).mul_add(lambda[k], sum);
            }
            *kinetic = sum * half;
        }
    }
}

/// Where a constraint of one row begins, after so many such rows: those of each tree have blocks of their own, which keep islands apart.
#[inline(always)]
fn first_row(plan: &Plan, k: usize, rows: usize, last_tree: &mut Option<usize>) -> usize {
    if plan.trees.len() == 1 {
        return rows;
    }
    let tree = plan.tree_of(k);
    if last_tree.replace(tree).is_some_and(|last| last != tree) { rows.next_multiple_of(3) } else { rows }
}

/// (t1, t2, n), as [`Vec3::tangents`].
#[inline(always)]
fn frame<T: Real>(n: Vec3<T>) -> Mat3<T> {
    let sign = T::ONE.copysign(n.z);
    let a = -(sign + n.z).recip();
    let b = n.x * n.y * a;
    let x = Vec3::new((sign * n.x * n.x).mul_add(a, T::ONE), sign * b, -(sign * n.x));
    let y = Vec3::new(b, (n.y * n.y).mul_add(a, sign), -n.y);
    Mat3::from_columns(x, y, n)
}

impl<T: Real> Block<T> {
    /// Adds a constraint of a lane.
    #[inline(always)]
    fn add(&mut self, constraint: usize, row: usize, lane: usize) {
        match self.entries.iter_mut().find(|entry| entry.constraint == constraint && entry.row == row) {
            Some(entry) => entry.lanes |= 1 << lane,
            None => self.entries.push(Entry { constraint, row, lanes: 1 << lane }),
        }
    }
}
