//! The contact problem of every lane in contact space: the semismooth Newton method of [`sap::ContactSpace`] for contacts and limits.
//!
//! Every lane has its own list of constraints that may push. They are numbered lane by lane, so that the problem is as large as that of
//! the lane that has most; rows come in blocks of three, of a contact or of three limits.

use spatial::{Mat3, Real, Twist, Vec3, Wrench};

use super::dynamics::{motion_of, moved};
use super::{Bundle, Lanes, Memory, bits, dofs_of, get, mask, put, select, wide};
use crate::plan::Plan;

/// Contacts and limits of a lane at most that may push; a step of more is left to one world.
const MAX_CONTACTS: usize = 16;
const MAX_LIMITS: usize = 24;
const MAX_BLOCKS: usize = MAX_CONTACTS + MAX_LIMITS / 3;

/// Steps after which the iteration is given up, as in [`sap::ContactSpace`].
const MAX_STEPS: usize = 20;

/// `w` relative to a constraint's own share of W, and steps after which it grows by how much: what has not settled by then cycles.
const SCALING: f64 = 2.0;
const PATIENCE: usize = 6;
const SCALING_GROWTH: f64 = 3.0;

/// |F| relative to velocities at which a problem is solved. The gradient is greater by no more than w/R of near-rigid contacts, 4,000 at
/// the default β: within the tolerance 1e-6 of the solver.
const TOLERANCE: f64 = 1e-10;

/// Rounds of one step: in each, constraints that push although they were not chosen join in.
const MAX_ROUNDS: usize = 4;

/// v̂ of what is not there.
const NEVER: f64 = -1e100;

/// Which constraint a row of a lane is of; none.
const NOTHING: u32 = u32::MAX;

/// Three rows.
#[derive(Clone, Debug)]
struct Block<T> {
    is_contact: bool,
    /// The constraint of each row in each lane; of a contact, that of the first row.
    constraints: [Vec<u32>; 3],
    /// A contact's point and normal, world; then its frame (t1, t2, n).
    position: Vec3<T>,
    frame: Mat3<T>,
    friction: T,
    /// R, v̂ and the share of W, by rows.
    r: [T; 3],
    v_hat: [T; 3],
    recovery: [T; 3],
    w: [T; 3],
    /// The bound of friction where it is known.
    bound: T,
    /// Velocities without impulse, at v*, and with λ.
    z: [T; 3],
    v_free: [T; 3],
    v_c: [T; 3],
    lambda: [T; 3],
    /// −∂γ̄/∂z
    t: [[T; 3]; 3],
    /// The solution where the lane has one.
    solved_lambda: [T; 3],
    solved_z: [T; 3],
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
    contacts: usize,
    count: usize,
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
    /// W, and 1 + T (W − w) with −T F on the right, of active rows.
    w: Vec<T>,
    system: Vec<T>,
    active: Vec<usize>,
    step: Vec<T>,
}

impl<T: Bundle> ContactSpace<T> {
    pub fn new(plan: &Plan) -> Self {
        let zeros = [T::ZERO; 3];
        let block = Block {
            is_contact: true,
            constraints: [const { Vec::new() }; 3].map(|_: Vec<u32>| vec![NOTHING; T::LANES]),
            position: Vec3::ZERO,
            frame: Mat3::IDENTITY,
            friction: T::ZERO,
            r: zeros,
            v_hat: zeros,
            recovery: zeros,
            w: zeros,
            bound: T::ZERO,
            z: zeros,
            v_free: zeros,
            v_c: zeros,
            lambda: zeros,
            t: [zeros; 3],
            solved_lambda: zeros,
            solved_z: zeros,
        };
        let constraints = plan.contacts.slots + 2 * plan.limits.len();
        let blocks = MAX_BLOCKS.min(plan.contacts.slots + (2 * plan.limits.len()).div_ceil(3));
        let rows = 3 * blocks;
        Self {
            blocks: vec![block; blocks],
            contacts: 0,
            count: 0,
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
            w: vec![T::ZERO; rows * rows],
            system: vec![T::ZERO; rows * (rows + 1)],
            active: Vec::with_capacity(rows),
            step: vec![T::ZERO; rows],
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
        for block in &mut self.space.blocks[..self.space.count] {
            block.bound = block.friction * block.solved_lambda[2];
            block.v_hat = block.recovery;
            for row in 0..3 {
                block.z[row] = block.solved_z[row];
            }
        }
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
        let ContactSpace { blocks, contacts, count, chosen, listed, .. } = space;
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
        }
        (of_contacts, of_limits) = ([0; 32], [0; 32]);
        for &k in listed.iter() {
            let open = chosen[k] & !*left;
            for lane in (0..T::LANES).filter(|lane| open >> lane & 1 != 0) {
                let (slot, known) = (&slots[k], &memory[k]);
                if k < plan.contacts.slots {
                    let block = &mut blocks[of_contacts[lane]];
                    of_contacts[lane] += 1;
                    block.set_contact(lane, k, slot, known);
                    put(&mut block.friction, lane, plan.contacts.ends[k].friction);
                } else {
                    let n = of_limits[lane];
                    of_limits[lane] += 1;
                    blocks[*contacts + n / 3].set_limit(lane, n % 3, k, slot, known);
                }
            }
        }
        for block in &mut blocks[..*contacts] {
            block.frame = frame(block.frame.z);
            let w = block.w[2];
            let r_t = w * wide(plan.rule.sigma);
            block.r = [r_t, r_t, block.r[2]];
            block.w = [w, w, w];
            block.z = block.frame.transpose_mul(Vec3::from(block.z)).to_array();
        }
        // Velocities in free motion, and where nothing is remembered those are where the search begins.
        for b in 0..*count {
            let is_contact = b < self.space.contacts;
            let velocities = if is_contact { self.contact_velocity(plan, b) } else { self.limit_velocities(plan, b) };
            let block = &mut self.space.blocks[b];
            for (row, v) in velocities.into_iter().enumerate() {
                let mut unknown = T::ZERO;
                for lane in 0..T::LANES {
                    let k = block.constraints[if is_contact { 0 } else { row }][lane];
                    if k != NOTHING && get(&self.memory[k as usize].is_known, lane) == 0.0 {
                        put(&mut unknown, lane, 1.0);
                    }
                }
                block.v_free[row] = v;
                block.z[row] = select(unknown, v, block.z[row]);
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
        let ContactSpace { blocks, count, carried, passes, loads, pushed, ends, .. } = space;
        let (nv, n) = (plan.nv, plan.nodes.len());
        for (b, block) in blocks[..*count].iter().enumerate() {
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
                        for (load, axis) in loads[end.node].iter_mut().zip([block.frame.x, block.frame.y, block.frame.z]) {
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
        let ContactSpace { count, carried, passes, w, .. } = space;
        let (nv, n, rows) = (plan.nv, plan.nodes.len(), 3 * *count);
        for b in 0..*count {
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
                for (i, product) in product.into_iter().enumerate() {
                    for (j, entry) in product.into_iter().enumerate() {
                        w[(3 * b + i) * rows + 3 * c + j] = entry;
                        w[(3 * c + j) * rows + 3 * b + i] = entry;
                    }
                }
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
        let ContactSpace { blocks, count, w, system, active, step, solved: converged_lanes, .. } = &mut self.space;
        let blocks = &mut blocks[..*count];
        let all = (1_u32 << T::LANES) - 1;
        let (mut solved, mut scaling) = (0, SCALING);
        for iteration in 0..=MAX_STEPS {
            for block in &mut *blocks {
                block.localise(wide(scaling), is_bounded);
            }
            set_velocities(blocks, w);
            let converged = excess(blocks, wide(scaling));
            let new = converged & !solved;
            if new != 0 {
                let is_new = mask::<T>(new);
                for block in &mut *blocks {
                    block.take(is_new);
                }
                solved |= new;
                self.stats.iterations += u64::from(new.count_ones()) * iteration as u64;
            }
            if solved == all || iteration == MAX_STEPS {
                self.stats.group_iterations += iteration as u64;
                break;
            }
            assemble(blocks, w, wide(scaling), system, active);
            eliminate(system, active.len(), step);
            for (n, row) in active.iter().enumerate() {
                blocks[row / 3].lambda[row % 3] += step[n];
            }
            set_velocities(blocks, w);
            if (iteration + 1) % PATIENCE == 0 {
                scaling *= SCALING_GROWTH;
            }
            for block in &mut *blocks {
                for row in 0..3 {
                    block.z[row] = block.v_c[row] - block.lambda[row] * block.w[row] * wide(scaling);
                }
            }
        }
        *converged_lanes = solved;
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
        let ContactSpace { blocks, count, carried, passes, .. } = space;
        let (nv, n) = (plan.nv, plan.nodes.len());
        dofs.iter_mut().for_each(|dof| dof.x = T::ZERO);
        for (b, block) in blocks[..*count].iter().enumerate() {
            for (_, node) in plan.nodes.iter().enumerate().filter(|(i, _)| passes[b * n + i]) {
                for k in dofs_of(node) {
                    for (u, lambda) in carried[b * nv + k].into_iter().zip(block.solved_lambda) {
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
        for block in &space.blocks[..space.count] {
            let z = block.frame * Vec3::from(block.solved_z);
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
                        put(&mut known.normal, lane, get(&block.solved_lambda[2], lane));
                    } else {
                        put(&mut known.z.x, lane, get(&block.solved_z[row], lane));
                        put(&mut known.normal, lane, get(&block.solved_lambda[row], lane));
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
        self.friction = T::ZERO;
        (self.r, self.w) = ([T::ONE; 3], [T::ONE; 3]);
        (self.v_hat, self.recovery) = ([wide(NEVER); 3], [wide(NEVER); 3]);
        for zero in [&mut self.z, &mut self.lambda, &mut self.v_free, &mut self.solved_lambda, &mut self.solved_z] {
            *zero = [T::ZERO; 3];
        }
    }

    #[inline(always)]
    fn set_contact(&mut self, lane: usize, k: usize, slot: &super::Slot<T>, known: &Memory<T>) {
        self.constraints[0][lane] = k as u32;
        let [z1, z2, z3] = &mut self.z;
        let pairs = [
            (&mut self.position.x, slot.position.x),
            (&mut self.position.y, slot.position.y),
            (&mut self.position.z, slot.position.z),
            (&mut self.frame.z.x, slot.normal.x),
            (&mut self.frame.z.y, slot.normal.y),
            (&mut self.frame.z.z, slot.normal.z),
            (z1, known.z.x),
            (z2, known.z.y),
            (z3, known.z.z),
            (&mut self.v_hat[2], slot.v_hat),
            (&mut self.recovery[2], slot.recovery),
            (&mut self.r[2], slot.r_n),
            (&mut self.w[2], slot.w),
        ];
        for (to, from) in pairs {
            put(to, lane, get(&from, lane));
        }
    }

    #[inline(always)]
    fn set_limit(&mut self, lane: usize, row: usize, k: usize, slot: &super::Slot<T>, known: &Memory<T>) {
        self.constraints[row][lane] = k as u32;
        let pairs = [
            (&mut self.z[row], known.z.x),
            (&mut self.v_hat[row], slot.v_hat),
            (&mut self.recovery[row], slot.recovery),
            (&mut self.r[row], slot.r_n),
            (&mut self.w[row], slot.w),
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

    /// λ = γ̄(z) and T, with w `scaling` times the constraints' own.
    #[inline(always)]
    fn localise(&mut self, scaling: T, is_bounded: bool) {
        self.t = [[T::ZERO; 3]; 3];
        let stiffness = |row: usize| (self.w[row].mul_add(scaling, self.r[row])).recip();
        if !self.is_contact {
            for row in 0..3 {
                let k = stiffness(row);
                let lacks = self.v_hat[row] - self.z[row];
                let pushes = T::ZERO.if_less(lacks, T::ONE, T::ZERO);
                self.lambda[row] = select(pushes, lacks * k, T::ZERO);
                self.t[row][row] = pushes * k;
            }
            return;
        }
        let (k_t, k_n) = (stiffness(0), stiffness(2));
        let lacks = self.v_hat[2] - self.z[2];
        let pushes = T::ZERO.if_less(lacks, T::ONE, T::ZERO);
        let normal = select(pushes, lacks * k_n, T::ZERO);
        let k_n = pushes * k_n;
        let (bound, friction) =
            if is_bounded { (self.bound, T::ZERO) } else { (self.friction * normal, self.friction) };
        let [z1, z2, _] = self.z;
        let speed2 = z1.mul_add(z1, z2 * z2);
        let speed = speed2.sqrt();
        // It slides where what would hold it is beyond the bound.
        let slides = bound.if_less(speed * k_t, T::ONE, T::ZERO);
        let per_speed = select(slides, bound / select(slides, speed, T::ONE), k_t);
        self.lambda = [-(per_speed * z1), -(per_speed * z2), normal];
        let inverse = slides / select(slides, speed, T::ONE);
        let (d1, d2) = (z1 * inverse, z2 * inverse);
        // A weaker push lets it slide with less friction.
        let along = -(friction * k_n);
        self.t[0] = [per_speed - per_speed * d1 * d1, -(per_speed * d1 * d2), along * d1];
        self.t[1] = [-(per_speed * d1 * d2), per_speed - per_speed * d2 * d2, along * d2];
        self.t[2][2] = k_n;
    }

    /// Keeps λ as the solution of some lanes, and the z that begins a search for the same.
    #[inline(always)]
    fn take(&mut self, lanes: T) {
        for row in 0..3 {
            self.solved_lambda[row] = select(lanes, self.lambda[row], self.solved_lambda[row]);
            let z = self.v_c[row] - self.lambda[row] * self.w[row] * wide(SCALING);
            self.solved_z[row] = select(lanes, z, self.solved_z[row]);
        }
    }
}

/// v_c = J v* + W λ
#[inline(always)]
fn set_velocities<T: Real>(blocks: &mut [Block<T>], w: &[T]) {
    let rows = 3 * blocks.len();
    for b in 0..blocks.len() {
        let mut v_c = blocks[b].v_free;
        for (c, other) in blocks.iter().enumerate() {
            for (row, v) in v_c.iter_mut().enumerate() {
                for (column, lambda) in other.lambda.into_iter().enumerate() {
                    *v = w[(3 * b + row) * rows + 3 * c + column].mul_add(lambda, *v);
                }
            }
        }
        blocks[b].v_c = v_c;
    }
}

/// The lanes in which F = v_c − w λ − z has vanished.
#[inline(always)]
fn excess<T: Real>(blocks: &[Block<T>], scaling: T) -> u32 {
    let (mut excess, mut size) = (T::ZERO, T::ZERO);
    for block in blocks {
        for row in 0..3 {
            let w = block.w[row];
            let (v_c, v_free, lambda) = (block.v_c[row], block.v_free[row], block.lambda[row]);
            let f = v_c - w * scaling * lambda - block.z[row];
            excess += f * f / w;
            size += v_free * v_free / w + lambda * (v_c - v_free);
        }
    }
    let is_large = (size * wide(TOLERANCE * TOLERANCE)).if_less(excess, T::ONE, T::ZERO);
    // What is no number is not small.
    let is_small = excess.if_less(wide(f64::MAX), T::ONE, T::ZERO) * (T::ONE - is_large);
    bits(is_small)
}

/// 1 + T (W − w) and −T F on the right, of the rows that are active in any lane.
#[inline(always)]
fn assemble<T: Real>(blocks: &[Block<T>], w: &[T], scaling: T, system: &mut [T], active: &mut Vec<usize>) {
    active.clear();
    for (b, block) in blocks.iter().enumerate() {
        for row in 0..3 {
            let follows = block.t[row].into_iter().fold(T::ZERO, |sum, t| sum + t.abs());
            if bits(T::ZERO.if_less(follows, T::ONE, T::ZERO)) != 0 {
                active.push(3 * b + row);
            }
        }
    }
    let (rows, n) = (3 * blocks.len(), active.len());
    for (i, &row) in active.iter().enumerate() {
        let (b, k) = (row / 3, row % 3);
        let block = &blocks[b];
        let equation = &mut system[i * (n + 1)..(i + 1) * (n + 1)];
        equation.fill(T::ZERO);
        let couples = |l: usize| block.is_contact && (k < 2 || l == 2) || l == k;
        for l in (0..3).filter(|&l| couples(l)) {
            let (t, own) = (block.t[k][l], 3 * b + l);
            for (entry, &column) in equation.iter_mut().zip(&*active) {
                *entry = t.mul_add(w[own * rows + column], *entry);
            }
            if let Ok(j) = active.binary_search(&own) {
                equation[j] = equation[j] - t * block.w[l] * scaling;
            }
            let f = block.v_c[l] - block.w[l] * scaling * block.lambda[l] - block.z[l];
            equation[n] = equation[n] - t * f;
        }
        equation[i] += T::ONE;
    }
}

/// Solves the system of n equations, row after row with the right-hand side last.
#[inline(always)]
fn eliminate<T: Real>(system: &mut [T], n: usize, x: &mut [T]) {
    let width = n + 1;
    for k in 0..n {
        let (above, below) = system.split_at_mut((k + 1) * width);
        let pivot = &above[k * width..];
        let inverse = -pivot[k].recip();
        for row in below.chunks_exact_mut(width).take(n - k - 1) {
            let multiple = row[k] * inverse;
            for (entry, pivot) in row[k + 1..].iter_mut().zip(&pivot[k + 1..width]) {
                *entry = pivot.mul_add(multiple, *entry);
            }
        }
    }
    for k in (0..n).rev() {
        let row = &system[k * width..(k + 1) * width];
        let mut sum = row[n];
        for j in k + 1..n {
            sum = sum - row[j] * x[j];
        }
        x[k] = sum / row[k];
    }
}
