//! The contact problem of every lane in contact space: the semismooth Newton method of [`sap::ContactSpace`] for contacts and limits.
//!
//! Every lane has its own list of constraints that may push. They are numbered lane by lane, so that the problem is as large as that of
//! the lane that has most; rows come in blocks of three, of a contact or of three limits.

use spatial::{Mat3, Real, Twist, Vec3, Wrench};

use super::dynamics::{motion_of, moved};
use super::newton::{Problem, Rows};
use super::{Bundle, Lanes, Memory, Slot, bits, dofs_of, get, mask, put, select, wide};
use crate::plan::Plan;

/// Contacts and limits of a lane at most that may push; a step of more is left to one world.
const MAX_CONTACTS: usize = 16;
const MAX_LIMITS: usize = 24;
const MAX_BLOCKS: usize = MAX_CONTACTS + MAX_LIMITS / 3;

/// Rounds of one step: in each, constraints that push although they were not chosen join in.
const MAX_ROUNDS: usize = 4;

/// Which constraint a row of a lane is of; none.
const NOTHING: u32 = u32::MAX;

/// What a block of three rows acts on.
#[derive(Clone, Debug)]
struct Block<T> {
    is_contact: bool,
    /// The constraint of each row in each lane; of a contact, that of the first row.
    constraints: [Vec<u32>; 3],
    /// A contact's point, and its normal as the last axis of a frame (t1, t2, n), world.
    position: Vec3<T>,
    frame: Mat3<T>,
}

/// What a row of a lane acts on: a point of a node, or one of its degrees of freedom.
#[derive(Clone, Copy, Debug)]
struct End {
    lane: usize,
    row: usize,
    node: usize,
    dof: Option<usize>,
    sign: f64,
}

/// Scratch of the contact problem.
#[derive(Clone, Debug)]
pub(super) struct ContactSpace<T> {
    blocks: Vec<Block<T>>,
    /// Blocks of contacts, which come first.
    contacts: usize,
    problem: Problem<T>,
    /// The lanes in which each constraint is chosen, a bit each; those that are not 0.
    chosen: Vec<u32>,
    listed: Vec<usize>,
    /// Constraints of which memory is kept.
    known: Vec<usize>,
    /// The sides of limits that any lane can reach.
    limits: Vec<usize>,
    /// The lanes that are to be solved still, and those in which the last iteration converged, a bit each.
    open: u32,
    solved: u32,
    /// u of each row by block and degree of freedom, and the nodes that it passes, by block.
    carried: Vec<[T; 3]>,
    passes: Vec<bool>,
    loads: Vec<[Wrench<T>; 3]>,
    pushed: Vec<[T; 3]>,
    ends: Vec<End>,
}

impl<T: Bundle> ContactSpace<T> {
    pub fn new(plan: &Plan) -> Self {
        let zeros = [T::ZERO; 3];
        let block = Block {
            is_contact: true,
            constraints: [const { Vec::new() }; 3].map(|_: Vec<u32>| vec![NOTHING; T::LANES]),
            position: Vec3::ZERO,
            frame: Mat3::IDENTITY,
        };
        let constraints = plan.contacts.slots + 2 * plan.limits.len();
        let blocks = MAX_BLOCKS.min(plan.contacts.slots + (2 * plan.limits.len()).div_ceil(3));
        Self {
            blocks: vec![block; blocks],
            contacts: 0,
            problem: Problem::new(blocks),
            chosen: vec![0; constraints],
            listed: Vec::with_capacity(constraints),
            known: Vec::with_capacity(constraints),
            limits: Vec::with_capacity(2 * plan.limits.len()),
            open: 0,
            solved: 0,
            carried: vec![zeros; blocks * plan.nv],
            passes: vec![false; blocks * plan.nodes.len()],
            loads: vec![[Wrench::ZERO; 3]; plan.nodes.len()],
            pushed: vec![zeros; plan.nv],
            ends: Vec::with_capacity(3 * T::LANES),
        }
    }
}

impl<T: Bundle> Lanes<T> {
    /// Finds the velocities at the end of the step from those of free motion.
    #[inline(always)]
    pub(super) fn resolve_contacts(&mut self, plan: &Plan) {
        self.v.copy_from_slice(&self.v_star);
        self.nodes.iter_mut().for_each(|node| node.load = Wrench::ZERO);
        self.space.chosen.fill(0);
        self.space.listed.clear();
        self.space.open = ((1_u32 << T::LANES) - 1) & !self.left;
        T::choose_first(self, plan);
        for _ in 0..MAX_ROUNDS {
            if self.space.open == 0 {
                break;
            }
            T::gather(self, plan);
            T::carry(self, plan);
            T::multiply(self, plan);
            T::iterate(self, plan);
            self.left |= self.space.open & !self.space.solved;
            self.space.open &= !self.left;
            T::take_solution(self, plan);
            // Those of which more constraints push than were chosen are solved again.
            T::choose_more(self, plan);
        }
        self.left |= self.space.open;
        self.remember();
        self.v_of_q.copy_from_slice(&self.v);
        let recovering = self.recovering();
        if recovering != 0 {
            self.space.open = recovering;
            T::recover(self, plan);
        }
    }

    /// The lanes in which positions are righted apart from velocities.
    #[inline(always)]
    fn recovering(&self) -> u32 {
        let mut recovers = T::ZERO;
        for &k in &self.space.listed {
            let slot = &self.slots[k];
            let here = slot.v_hat.if_less(slot.recovery, T::ONE, T::ZERO) * mask(self.space.chosen[k]);
            recovers = recovers.max(here);
        }
        bits(recovers) & !self.left
    }

    /// Finds the velocities that move positions where constraints recover. Friction is bounded by the normal impulses of the solution, and
    /// no point of a body is moved faster by recovery than at its speed.
    #[inline(always)]
    pub(super) fn recover(&mut self, plan: &Plan) {
        self.recall();
        self.search(true);
        let recovering = self.space.open;
        self.left |= recovering & !self.space.solved;
        self.set_response(plan);
        // What recovery adds to the velocities.
        for ((dof, v_star), v) in self.dofs.iter_mut().zip(&self.v_star).zip(&self.v) {
            dof.x = dof.x + *v_star - *v;
        }
        let mut fastest = T::ZERO;
        for (i, node) in plan.nodes.iter().enumerate() {
            let mut motion = node.parent.map_or(Twist::ZERO, |parent| motion_of(self.nodes[parent].load));
            for k in dofs_of(node) {
                motion = moved(motion, self.dofs[k].x, &self.dofs[k]);
            }
            let here = &mut self.nodes[i];
            here.load = Wrench { ang: motion.ang, lin: motion.lin };
            let speed = Self::velocity_at(motion, here.pos).norm() + motion.ang.norm() * wide(node.extent);
            fastest = fastest.max(speed);
        }
        let most = wide::<T>(plan.rule.recovery_speed);
        let share = mask::<T>(recovering) * select(most.if_less(fastest, T::ONE, T::ZERO), most / fastest, T::ONE);
        for ((v_of_q, v), dof) in self.v_of_q.iter_mut().zip(&self.v).zip(&self.dofs) {
            *v_of_q = select(share.if_less(wide(1e-300), T::ZERO, T::ONE), share.mul_add(dof.x, *v), *v);
        }
    }

    /// Lets the problem go on from the solution that is in memory: friction bounded by its normal impulses, v̂ those for positions. What was
    /// solved last need not be the solution of a lane that had no part in the last round.
    #[inline(always)]
    fn recall(&mut self) {
        let Self { space, memory, .. } = self;
        for (block, rows) in space.blocks.iter().zip(&mut space.problem.rows[..space.problem.count]) {
            let mut known = [Memory::<T>::NONE; 3];
            for (known, constraints) in known.iter_mut().zip(&block.constraints) {
                for (lane, &k) in constraints.iter().enumerate().filter(|(_, k)| **k != NOTHING) {
                    let memory = &memory[k as usize];
                    let pairs = [
                        (&mut known.z.x, memory.z.x),
                        (&mut known.z.y, memory.z.y),
                        (&mut known.z.z, memory.z.z),
                        (&mut known.normal, memory.normal),
                    ];
                    for (to, from) in pairs {
                        put(to, lane, get(&from, lane));
                    }
                }
            }
            let z = match block.is_contact {
                true => block.frame.transpose_mul(known[0].z).to_array(),
                false => known.map(|known| known.z.x),
            };
            rows.recover(z, known[0].normal);
        }
    }

    /// Chooses what pushes in free motion or is expected to push; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_first(&mut self, plan: &Plan) {
        self.choose_contacts(plan, true);
        let dt = wide::<T>(2.0 * plan.dt);
        let mut news = self.space.solved;
        for (l, limit) in plan.limits.iter().enumerate() {
            let (v_start, v_star, q) = (self.v_start[limit.v], self.v_star[limit.v], self.q[limit.q]);
            let reach = (v_start.abs() + v_star.abs()) * dt;
            let gaps = [q - wide(limit.range.0), wide::<T>(limit.range.1) - q];
            for (side, gap) in gaps.into_iter().enumerate() {
                let k = plan.contacts.slots + 2 * l + side;
                let is_far = reach.if_less(gap, T::ONE, T::ZERO);
                let present = bits(T::ONE - is_far);
                if present == 0 {
                    continue;
                }
                let w = self.dofs[limit.v].d_inv;
                self.regularise_limit(plan, limit.compliance, gap, w, k);
                self.slots[k].is_present = T::ONE - is_far;
                self.space.limits.push(k);
                let velocity = if side == 0 { v_star } else { -v_star };
                news |= self.choose_one(k, velocity, true);
            }
        }
        self.space.open = news & !self.left;
    }

    /// Chooses what pushes at the velocities found so far as well; leaves open the lanes in which there is any.
    #[inline(always)]
    pub(super) fn choose_more(&mut self, plan: &Plan) {
        self.choose_contacts(plan, false);
        let mut news = self.space.solved;
        for n in 0..self.space.limits.len() {
            let k = self.space.limits[n];
            let (dof, sign) = limit_of(plan, k as u32);
            let velocity = self.v[dof] * wide(sign);
            news |= self.choose_one(k, velocity, false);
        }
        self.space.open = news & !self.left;
    }

    /// Chooses contacts; `solved` becomes the lanes in which there is something new.
    #[inline(always)]
    fn choose_contacts(&mut self, plan: &Plan, is_first: bool) {
        if is_first {
            self.space.limits.clear();
        }
        let mut news = 0;
        for n in 0..self.near.len() {
            let k = self.near[n];
            let slot = &self.slots[k];
            let [a, b] = plan.contacts.ends[k].nodes;
            let mut velocity = T::ZERO;
            if let Some(b) = b {
                velocity = self.velocity_of(plan, b, slot.position, true).dot(slot.normal);
            }
            if let Some(a) = a {
                velocity = velocity - self.velocity_of(plan, a, slot.position, true).dot(slot.normal);
            }
            news |= self.choose_one(k, velocity, is_first);
        }
        self.space.solved = news;
    }

    /// Chooses a constraint in the lanes where it pushes at `velocity`; those in which it was not chosen before.
    #[inline(always)]
    fn choose_one(&mut self, k: usize, velocity: T, is_first: bool) -> u32 {
        let slot = &self.slots[k];
        // What recovers pushes where positions are righted.
        let mut pushes = velocity.if_less(slot.recovery, T::ONE, T::ZERO);
        if is_first {
            pushes = pushes.max(self.memory[k].is_known);
        }
        let chosen = bits(pushes * slot.is_present) & self.space.open & !self.space.chosen[k];
        if chosen != 0 {
            if self.space.chosen[k] == 0 {
                self.space.listed.push(k);
            }
            self.space.chosen[k] |= chosen;
        }
        chosen
    }

    /// The velocity of a point of a node in free motion, or at the velocities found so far.
    #[inline(always)]
    fn velocity_of(&self, plan: &Plan, node: usize, position: Vec3<T>, is_found: bool) -> Vec3<T> {
        let here = &self.nodes[node];
        let free = here.twist + here.change;
        let twist = if is_found { free + motion_of(here.load) } else { free };
        Self::velocity_at(twist, position - self.origins[plan.nodes[node].tree])
    }

    /// Numbers the chosen constraints of each lane and gathers what is known of them.
    #[inline(always)]
    pub(super) fn gather(&mut self, plan: &Plan) {
        let Self { space, slots, memory, left, .. } = self;
        let ContactSpace { blocks, contacts, problem: Problem { rows, count, .. }, chosen, listed, .. } = space;
        let is_open = |k: usize| chosen[k] & !*left;
        // Contacts in the order of their slots, then limits.
        listed.sort_unstable();
        let (mut of_contacts, mut of_limits) = ([0_usize; 32], [0_usize; 32]);
        for &k in listed.iter() {
            let counts = if k < plan.contacts.slots { &mut of_contacts } else { &mut of_limits };
            for (lane, count) in counts.iter_mut().enumerate().take(T::LANES) {
                *count += (is_open(k) >> lane & 1) as usize;
            }
        }
        let mut too_many = 0;
        for lane in 0..T::LANES {
            if of_contacts[lane] > MAX_CONTACTS || of_limits[lane] > MAX_LIMITS {
                too_many |= 1 << lane;
                (of_contacts[lane], of_limits[lane]) = (0, 0);
            }
        }
        *left |= too_many;
        *contacts = of_contacts.into_iter().max().unwrap_or(0);
        *count = *contacts + of_limits.into_iter().max().unwrap_or(0).div_ceil(3);
        for (b, block) in blocks[..*count].iter_mut().enumerate() {
            block.clear(b < *contacts);
            rows[b] = Rows::none(b < *contacts);
        }
        (of_contacts, of_limits) = ([0; 32], [0; 32]);
        for &k in listed.iter() {
            let open = chosen[k] & !*left;
            for lane in (0..T::LANES).filter(|lane| open >> lane & 1 != 0) {
                let (slot, known) = (&slots[k], &memory[k]);
                if k < plan.contacts.slots {
                    let b = of_contacts[lane];
                    of_contacts[lane] += 1;
                    blocks[b].set_contact(lane, k, slot);
                    set_contact(&mut rows[b], lane, slot, known);
                    put(&mut rows[b].friction, lane, plan.contacts.ends[k].friction);
                } else {
                    let n = of_limits[lane];
                    of_limits[lane] += 1;
                    let b = *contacts + n / 3;
                    blocks[b].constraints[n % 3][lane] = k as u32;
                    set_limit(&mut rows[b], lane, n % 3, slot, known);
                }
            }
        }
        for (block, rows) in blocks[..*contacts].iter_mut().zip(rows) {
            block.frame = frame(block.frame.z);
            let w = rows.w[2];
            let r_t = w * wide(plan.rule.sigma);
            rows.r = [r_t, r_t, rows.r[2]];
            rows.w = [w, w, w];
            rows.z = block.frame.transpose_mul(Vec3::from(rows.z)).to_array();
        }
        // Velocities in free motion, and where nothing is remembered those are where the search begins.
        for b in 0..self.space.problem.count {
            let is_contact = b < self.space.contacts;
            let velocities = if is_contact { self.contact_velocity(plan, b) } else { self.limit_velocities(plan, b) };
            let (block, rows) = (&self.space.blocks[b], &mut self.space.problem.rows[b]);
            for (row, v) in velocities.into_iter().enumerate() {
                let mut unknown = T::ZERO;
                for lane in 0..T::LANES {
                    let k = block.constraints[if is_contact { 0 } else { row }][lane];
                    if k != NOTHING && get(&self.memory[k as usize].is_known, lane) == 0.0 {
                        put(&mut unknown, lane, 1.0);
                    }
                }
                rows.v_free[row] = v;
                rows.z[row] = select(unknown, v, rows.z[row]);
            }
        }
    }

    /// J v* of a contact block.
    #[inline(always)]
    fn contact_velocity(&self, plan: &Plan, b: usize) -> [T; 3] {
        let block = &self.space.blocks[b];
        let mut velocity = Vec3::ZERO;
        for lane in 0..T::LANES {
            let k = block.constraints[0][lane];
            if k == NOTHING {
                continue;
            }
            // All lanes with the same ends at once.
            if block.constraints[0][..lane].contains(&k) {
                continue;
            }
            let mut same = 0;
            for (other, of_other) in block.constraints[0].iter().enumerate() {
                same |= u32::from(*of_other == k) << other;
            }
            let [a, b] = plan.contacts.ends[k as usize].nodes;
            let mut of = Vec3::ZERO;
            if let Some(b) = b {
                of = self.velocity_of(plan, b, block.position, false);
            }
            if let Some(a) = a {
                of = of - self.velocity_of(plan, a, block.position, false);
            }
            velocity = super::select3(mask::<T>(same), of, velocity);
        }
        block.frame.transpose_mul(velocity).to_array()
    }

    /// J v* of a block of limits.
    #[inline(always)]
    fn limit_velocities(&self, plan: &Plan, b: usize) -> [T; 3] {
        let block = &self.space.blocks[b];
        let mut velocities = [T::ZERO; 3];
        for (velocity, constraints) in velocities.iter_mut().zip(&block.constraints) {
            for (lane, &k) in constraints.iter().enumerate() {
                if k != NOTHING {
                    let (dof, sign) = limit_of(plan, k);
                    put(velocity, lane, sign * get(&self.v_star[dof], lane));
                }
            }
        }
        velocities
    }

    /// Sends a unit load along every row to the roots.
    #[inline(always)]
    pub(super) fn carry(&mut self, plan: &Plan) {
        let Self { space, dofs, origins, .. } = self;
        let ContactSpace { blocks, problem, carried, passes, loads, pushed, ends, .. } = space;
        let (nv, n) = (plan.nv, plan.nodes.len());
        for (b, block) in blocks[..problem.count].iter().enumerate() {
            let passes = &mut passes[b * n..(b + 1) * n];
            passes.fill(false);
            let mut last = 0;
            block.list_ends(plan, ends);
            for end in &*ends {
                last = last.max(end.node);
                let mut next = Some(end.node);
                while let Some(node) = next.filter(|&node| !passes[node]) {
                    passes[node] = true;
                    loads[node] = [Wrench::ZERO; 3];
                    next = plan.nodes[node].parent;
                }
            }
            for end in &*ends {
                match end.dof {
                    Some(dof) => put(&mut pushed[dof][end.row], end.lane, end.sign),
                    None => {
                        let arm = block.position - origins[plan.nodes[end.node].tree];
                        for (load, axis) in
                            loads[end.node].iter_mut().zip([block.frame.x, block.frame.y, block.frame.z])
                        {
                            add_lane(&mut load.lin, &axis, end.lane, end.sign);
                            add_lane(&mut load.ang, &arm.cross(axis), end.lane, end.sign);
                        }
                    }
                }
            }
            let carried = &mut carried[b * nv..(b + 1) * nv];
            for node in (0..=last).rev().filter(|&node| passes[node]) {
                let mut load = loads[node];
                for k in dofs_of(&plan.nodes[node]).rev() {
                    let dof = &dofs[k];
                    for row in 0..3 {
                        let u = dof.axis.dot(load[row]) + pushed[k][row];
                        carried[k][row] = u;
                        let s = -(dof.d_inv * u);
                        load[row].ang = load[row].ang.add_scaled(s, dof.u.ang);
                        load[row].lin = load[row].lin.add_scaled(s, dof.u.lin);
                    }
                }
                if let Some(parent) = plan.nodes[node].parent {
                    for (sum, load) in loads[parent].iter_mut().zip(load) {
                        *sum += load;
                    }
                }
            }
            for dof in ends.iter().filter_map(|end| end.dof) {
                pushed[dof] = [T::ZERO; 3];
            }
        }
    }

    /// W = J (M + Λ)⁻¹ Jᵀ from what was carried.
    #[inline(always)]
    pub(super) fn multiply(&mut self, plan: &Plan) {
        let Self { space, dofs, .. } = self;
        let ContactSpace { problem, carried, passes, .. } = space;
        let (nv, n) = (plan.nv, plan.nodes.len());
        for b in 0..problem.count {
            for c in 0..=b {
                let mut product = [[T::ZERO; 3]; 3];
                for (i, node) in plan.nodes.iter().enumerate() {
                    if !(passes[b * n + i] && passes[c * n + i]) {
                        continue;
                    }
                    for k in dofs_of(node) {
                        let (x, y, d) = (carried[b * nv + k], carried[c * nv + k], dofs[k].d_inv);
                        for (product, x) in product.iter_mut().zip(x) {
                            let x = x * d;
                            for (entry, y) in product.iter_mut().zip(y) {
                                *entry = x.mul_add(y, *entry);
                            }
                        }
                    }
                }
                problem.set(b, c, &product);
            }
        }
    }

    /// The semismooth Newton iteration; notes the lanes in which it converged.
    #[inline(always)]
    pub(super) fn iterate(&mut self, _: &Plan) {
        self.search(false);
    }

    /// The iteration, with friction bounded by each contact's own normal impulse or by the `bound` of its block.
    #[inline(always)]
    fn search(&mut self, is_bounded: bool) {
        let (solved, [spent, slowest]) = self.space.problem.solve(is_bounded, self.space.open);
        self.space.solved = solved;
        self.stats.iterations += spent;
        self.stats.group_iterations += slowest;
    }

    /// Sets velocities to those of the solution in the lanes that are open.
    #[inline(always)]
    pub(super) fn take_solution(&mut self, plan: &Plan) {
        let open = self.space.open;
        self.set_response(plan);
        let is_open = mask::<T>(open);
        for ((v, v_star), dof) in self.v.iter_mut().zip(&self.v_star).zip(&self.dofs) {
            *v = select(is_open, *v_star + dof.x, *v);
        }
        self.note_solution(open);
    }

    /// What the solved impulses add to free motion: `x` of the degrees of freedom, and the motions of nodes in place of their loads.
    #[inline(always)]
    fn set_response(&mut self, plan: &Plan) {
        let Self { space, dofs, .. } = self;
        let ContactSpace { problem, carried, passes, .. } = space;
        let (nv, n) = (plan.nv, plan.nodes.len());
        dofs.iter_mut().for_each(|dof| dof.x = T::ZERO);
        for (b, rows) in problem.rows[..problem.count].iter().enumerate() {
            for (_, node) in plan.nodes.iter().enumerate().filter(|(i, _)| passes[b * n + i]) {
                for k in dofs_of(node) {
                    for (u, lambda) in carried[b * nv + k].into_iter().zip(rows.solved_lambda) {
                        dofs[k].x = u.mul_add(lambda, dofs[k].x);
                    }
                }
            }
        }
        T::respond(self, plan);
    }

    /// Notes what the chosen constraints of the lanes `open` met.
    #[inline(always)]
    fn note_solution(&mut self, open: u32) {
        let Self { space, memory, .. } = self;
        for (block, of) in space.blocks.iter().zip(&space.problem.rows[..space.problem.count]) {
            let z = block.frame * Vec3::from(of.solved_z);
            for lane in (0..T::LANES).filter(|lane| open >> lane & 1 != 0) {
                let rows = if block.is_contact { 1 } else { 3 };
                for row in 0..rows {
                    let k = block.constraints[row][lane];
                    if k == NOTHING {
                        continue;
                    }
                    let known = &mut memory[k as usize];
                    if block.is_contact {
                        put(&mut known.z.x, lane, get(&z.x, lane));
                        put(&mut known.z.y, lane, get(&z.y, lane));
                        put(&mut known.z.z, lane, get(&z.z, lane));
                        put(&mut known.normal, lane, get(&of.solved_lambda[2], lane));
                    } else {
                        put(&mut known.z.x, lane, get(&of.solved_z[row], lane));
                        put(&mut known.normal, lane, get(&of.solved_lambda[row], lane));
                    }
                    put(&mut known.is_known, lane, 1.0);
                }
            }
        }
    }

    /// Keeps in memory what was chosen in this step, and nothing else.
    #[inline(always)]
    fn remember(&mut self) {
        let Self { space, memory, left, stats, .. } = self;
        for &k in &space.known {
            memory[k].is_known = mask::<T>(space.chosen[k] & !*left) * memory[k].is_known;
        }
        space.known.clear();
        for &k in &space.listed {
            memory[k].is_known = mask::<T>(space.chosen[k] & !*left) * memory[k].is_known;
            let pushes = T::ZERO.if_less(memory[k].normal, T::ONE, T::ZERO) * memory[k].is_known;
            stats.pushing += u64::from(bits(pushes).count_ones());
            space.known.push(k);
        }
    }
}

/// The degree of freedom of a limit's side and the sign of its row.
fn limit_of(plan: &Plan, k: u32) -> (usize, f64) {
    let l = k as usize - plan.contacts.slots;
    (plan.limits[l / 2].v, if l.is_multiple_of(2) { 1.0 } else { -1.0 })
}

#[inline(always)]
fn add_lane<T: Bundle>(sum: &mut Vec3<T>, v: &Vec3<T>, lane: usize, sign: f64) {
    for (sum, v) in [(&mut sum.x, v.x), (&mut sum.y, v.y), (&mut sum.z, v.z)] {
        let value = get(sum, lane) + sign * get(&v, lane);
        put(sum, lane, value);
    }
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

impl<T: Bundle> Block<T> {
    /// Nothing in any lane.
    #[inline(always)]
    fn clear(&mut self, is_contact: bool) {
        self.is_contact = is_contact;
        self.constraints.iter_mut().for_each(|lanes| lanes.fill(NOTHING));
        self.position = Vec3::ZERO;
        self.frame = Mat3::IDENTITY;
    }

    #[inline(always)]
    fn set_contact(&mut self, lane: usize, k: usize, slot: &Slot<T>) {
        self.constraints[0][lane] = k as u32;
        let pairs = [
            (&mut self.position.x, slot.position.x),
            (&mut self.position.y, slot.position.y),
            (&mut self.position.z, slot.position.z),
            (&mut self.frame.z.x, slot.normal.x),
            (&mut self.frame.z.y, slot.normal.y),
            (&mut self.frame.z.z, slot.normal.z),
        ];
        for (to, from) in pairs {
            put(to, lane, get(&from, lane));
        }
    }

    /// What the rows of every lane act on.
    #[inline(always)]
    fn list_ends(&self, plan: &Plan, ends: &mut Vec<End>) {
        ends.clear();
        for lane in 0..T::LANES {
            if self.is_contact {
                let k = self.constraints[0][lane];
                if k == NOTHING {
                    continue;
                }
                for (node, sign) in plan.contacts.ends[k as usize].nodes.into_iter().zip([-1.0, 1.0]) {
                    if let Some(node) = node {
                        ends.push(End { lane, row: 0, node, dof: None, sign });
                    }
                }
                continue;
            }
            for row in 0..3 {
                let k = self.constraints[row][lane];
                if k != NOTHING {
                    let (dof, sign) = limit_of(plan, k);
                    ends.push(End { lane, row, node: plan.node_of_dof[dof], dof: Some(dof), sign });
                }
            }
        }
    }
}

/// Takes a contact's law, and what is known of it in world axes.
#[inline(always)]
fn set_contact<T: Bundle>(rows: &mut Rows<T>, lane: usize, slot: &Slot<T>, known: &Memory<T>) {
    let [z1, z2, z3] = &mut rows.z;
    let pairs = [
        (z1, known.z.x),
        (z2, known.z.y),
        (z3, known.z.z),
        (&mut rows.v_hat[2], slot.v_hat),
        (&mut rows.recovery[2], slot.recovery),
        (&mut rows.r[2], slot.r_n),
        (&mut rows.w[2], slot.w),
    ];
    for (to, from) in pairs {
        put(to, lane, get(&from, lane));
    }
}

/// Takes a limit's law, and what is known of it.
#[inline(always)]
fn set_limit<T: Bundle>(rows: &mut Rows<T>, lane: usize, row: usize, slot: &Slot<T>, known: &Memory<T>) {
    let pairs = [
        (&mut rows.z[row], known.z.x),
        (&mut rows.v_hat[row], slot.v_hat),
        (&mut rows.recovery[row], slot.recovery),
        (&mut rows.r[row], slot.r_n),
        (&mut rows.w[row], slot.w),
    ];
    for (to, from) in pairs {
        put(to, lane, get(&from, lane));
    }
}
