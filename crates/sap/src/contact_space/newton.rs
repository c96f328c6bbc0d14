//! The semismooth Newton method of [`ContactSpace`](super::ContactSpace) on blocks of three rows, in scalars or with a problem of its own in
//! every lane of vector registers.
//!
//! Everything is inlined into its caller, which may be compiled for other registers than this crate.

use spatial::masks::{positive, select, wide};
use spatial::{Real, Three};

use super::PARAMETERS;
use super::blocks::{BlockRows, Coupling, Spin};
use super::softened::Proximal;

/// What a solution may take, and what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Steps at most.
    pub steps: usize,
    /// |F| relative to velocities. The gradient is greater by no more than w/R of near-rigid contacts, 4,000 at the default β.
    pub excess: f64,
    /// |F| relative to √(v*ᵀ A v*) that is round-off: no step leads nearer.
    pub round_off: f64,
    /// ‖λ − γ(v_c)‖_W relative to momentum at which what the iteration starts from is a solution.
    pub at_start: f64,
    /// The same once some steps were made: where contacts are redundant, F need not vanish.
    pub late: f64,
    /// The same of every solution, but for round-off. Infinite: it is not looked at where |F| is small enough, nor kept.
    pub residual: f64,
}

/// What became of the problems of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The lanes in which the iteration converged, a bit each.
    pub solved: u32,
    /// The steps that these took together, without those of lanes that did not converge.
    pub steps: u64,
    /// Those of the slowest lane, solved or not.
    pub slowest: u64,
}

/// A block of a matrix, by rows.
pub type Block3<T> = [<T as Real>::Three; 3];

/// The numbers of a block, by rows.
type Entries<T> = [[T; 3]; 3];

/// Scratch of solutions.
#[derive(Clone, Debug)]
pub struct SemismoothNewton<T: Real> {
    /// 1 + T (W − w) of the blocks that are active, by rows of blocks.
    pub(super) system: Vec<Block3<T>>,
    /// −T F, then the step.
    pub(super) step: Vec<[T; 3]>,
    pub(super) active: Vec<usize>,
    pub(super) pushing: Vec<usize>,
    pub(super) scratch: Vec<[T; 3]>,
    residual: T,
    /// Of the proximal point method.
    pub(super) proximal: Vec<Proximal>,
}

impl<T: Real> SemismoothNewton<T> {
    /// For problems of up to this many blocks.
    pub fn new(blocks: usize) -> Self {
        Self {
            system: vec![[T::Three::ZERO; 3]; blocks * blocks],
            step: vec![[T::ZERO; 3]; blocks],
            active: Vec::with_capacity(blocks),
            pushing: Vec::with_capacity(blocks),
            scratch: vec![[T::ZERO; 3]; blocks],
            residual: T::ZERO,
            proximal: Vec::with_capacity(blocks),
        }
    }

    /// ‖λ − γ(v_c)‖_W of the last solutions relative to their momentum, where that was to be looked at.
    pub fn residual(&self) -> T {
        self.residual
    }

    /// Solves the problem of `rows` with this W, by rows of blocks, in the `open` lanes; `energy` is v*ᵀ A v*. z of the rows is the velocity
    /// that each constraint would meet with its own share of W for w.
    #[inline(always)]
    pub fn solve(
        &mut self,
        rows: &mut [BlockRows<T>],
        w: &[Block3<T>],
        energy: T,
        open: u32,
        limits: &Limits,
    ) -> Outcome {
        let Self { system, active, pushing, step, scratch, residual, .. } = self;
        let mut scaling = PARAMETERS.scaling;
        // Loops: a closure may stay outside, where operations of wider registers than this crate's are calls.
        for block in &mut *rows {
            block.rescale(1.0);
        }
        localise(rows, open);
        for block in &mut *rows {
            block.start(PARAMETERS.scaling);
        }
        let least = wide::<T>(if T::IS_SINGLE { 1e-30 } else { 1e-200 });
        let (mut solved, mut steps, mut iteration) = (0, 0, 0);
        loop {
            let remaining = open & !solved;
            localise(rows, remaining);
            find_active(rows, remaining, active, pushing, scratch);
            add_response(rows, w, pushing, scratch);
            let (excess, size) = measure(rows);
            let round_off = energy * wide(limits.round_off * limits.round_off) + least;
            let exact = excess.lanes_less(size * wide(limits.excess * limits.excess) + round_off) & remaining;
            let is_looked_at = iteration == 0 || iteration >= PARAMETERS.late_step;
            let evaluation = wide(PARAMETERS.evaluation_excess * PARAMETERS.evaluation_excess);
            let near = if is_looked_at { excess.lanes_less(energy * evaluation) & remaining & !exact } else { 0 };
            let is_checked = limits.residual < f64::INFINITY;
            let mut new = exact;
            if near != 0 || is_checked && exact != 0 {
                let (error, momentum) = imbalance(rows, w, energy, scratch);
                if is_checked {
                    let most = momentum * wide(limits.residual * limits.residual);
                    new &= error.lanes_less(most) | excess.lanes_less(round_off);
                }
                let tolerance = if iteration == 0 { limits.at_start } else { limits.late };
                new |= error.lanes_less(momentum * wide(tolerance * tolerance)) & near;
                if is_checked {
                    let of_new = (error.max(T::ZERO) / momentum.max(least)).sqrt();
                    *residual = select(T::mask(new), of_new, *residual);
                }
            }
            if new != 0 {
                take_solution(rows, new);
                solved |= new;
                steps += u64::from(new.count_ones()) * iteration as u64;
            }
            if solved == open || iteration == limits.steps {
                return Outcome { solved, steps, slowest: iteration as u64 };
            }
            assemble(rows, w, active, system, step);
            eliminate(system, active.len(), step);
            for (&b, &change) in active.iter().zip(&*step) {
                for row in 0..3 {
                    rows[b].lambda[row] += change[row];
                }
            }
            add_response(rows, w, active, step);
            iteration += 1;
            if iteration % PARAMETERS.cycle_length == 0 {
                scaling *= PARAMETERS.scaling_growth;
                for block in &mut *rows {
                    block.rescale(scaling);
                }
            }
            for block in rows.iter_mut() {
                block.set_free();
            }
        }
    }
}

/// Lists the blocks that are active, and those with an impulse in some of the lanes `remaining`, whose impulses go to `scratch`; blocks that
/// only solved lanes need are skipped. Velocities become those without impulses.
#[inline(always)]
pub(super) fn find_active<T: Real>(
    rows: &mut [BlockRows<T>],
    remaining: u32,
    active: &mut Vec<usize>,
    pushing: &mut Vec<usize>,
    scratch: &mut [[T; 3]],
) {
    active.clear();
    pushing.clear();
    for (b, block) in rows.iter_mut().enumerate() {
        block.v_c = block.v_free;
        if block.is_active {
            active.push(b);
        }
        let [x, y, z] = block.lambda;
        if positive(x.abs() + y.abs() + z.abs()) & remaining != 0 {
            scratch[pushing.len()] = block.lambda;
            pushing.push(b);
        }
    }
}

/// Keeps the iterate as the solution of these lanes.
#[inline(always)]
pub(super) fn take_solution<T: Real>(rows: &mut [BlockRows<T>], lanes: u32) {
    let lanes = T::mask(lanes);
    for block in rows {
        for row in 0..3 {
            block.solved_lambda[row] = select(lanes, block.lambda[row], block.solved_lambda[row]);
            block.solved_v[row] = select(lanes, block.v_c[row], block.solved_v[row]);
        }
    }
}

/// λ = γ̄(z) and T of all blocks, and which of them are active in any of these lanes: first of contacts, which bound rolling and torsional
/// friction.
#[inline(always)]
pub(super) fn localise<T: Real>(rows: &mut [BlockRows<T>], lanes: u32) {
    for b in 0..rows.len() {
        let (before, here) = rows.split_at_mut(b);
        let block = &mut here[0];
        if block.spin == Spin::None {
            block.localise(lanes);
        } else {
            let mut normal = [(T::ZERO, [T::ZERO; 3]); 3];
            for row in 0..3 {
                let contact = &before[block.contacts[row]];
                normal[row] = (contact.lambda[2], contact.t[2]);
            }
            block.localise_spin(normal, lanes);
        }
    }
}

/// v_c += W x, of the blocks `of`, x in their order.
#[inline(always)]
pub(super) fn add_response<T: Real>(rows: &mut [BlockRows<T>], w: &[Block3<T>], of: &[usize], x: &[[T; 3]]) {
    let n = rows.len();
    for (k, block) in rows.iter_mut().enumerate() {
        let mut v_c = T::Three::new(block.v_c);
        for (&b, x) in of.iter().zip(x) {
            // W is symmetric: the columns of a block are the rows of its mirror image.
            let mirrored = &w[b * n + k];
            v_c = v_c.add_scaled(x[2], mirrored[2]).add_scaled(x[1], mirrored[1]).add_scaled(x[0], mirrored[0]);
        }
        block.v_c = v_c.to_array();
    }
}

/// Σ F² / w, and what velocities and impulses are in that measure.
#[inline(always)]
pub(super) fn measure<T: Real>(rows: &[BlockRows<T>]) -> (T, T) {
    let (mut excess, mut size) = (T::ZERO, T::ZERO);
    for block in rows {
        for row in 0..3 {
            let (v_c, v_free, lambda) = (block.v_c[row], block.v_free[row], block.lambda[row]);
            let f = block.excess(row);
            let per_w = block.per_w[row];
            excess = (f * f).mul_add(per_w, excess);
            size = (v_free * v_free).mul_add(per_w, lambda.mul_add(v_c - v_free, size));
        }
    }
    (excess, size)
}

/// ‖λ − γ(v_c)‖²_W, and the square of the momentum.
#[inline(always)]
pub(super) fn imbalance<T: Real>(rows: &[BlockRows<T>], w: &[Block3<T>], energy: T, lacks: &mut [[T; 3]]) -> (T, T) {
    let mut momentum = energy;
    for (block, lack) in rows.iter().zip(&mut *lacks) {
        let mut normal = [T::ZERO; 3];
        if block.spin != Spin::None {
            for row in 0..3 {
                normal[row] = rows[block.contacts[row]].normal_at_velocity();
            }
        }
        let gamma = block.impulse_at_velocity(normal);
        for row in 0..3 {
            lack[row] = block.lambda[row] - gamma[row];
            momentum = block.lambda[row].mul_add(block.v_c[row] - block.v_free[row], momentum);
        }
    }
    (norm_squared(w, &lacks[..rows.len()]), momentum)
}

/// ‖x‖²_W
#[inline(always)]
pub(super) fn norm_squared<T: Real>(w: &[Block3<T>], x: &[[T; 3]]) -> T {
    let n = x.len();
    let mut sum = T::ZERO;
    for b in 0..n {
        for c in 0..n {
            let of_c = times(&entries::<T>(&w[b * n + c]), &x[c]);
            sum = plus_dot(sum, &x[b], &of_c);
        }
    }
    sum
}

/// 1 + T (W − w) and −T F on the right, of the active blocks.
#[inline(always)]
pub(super) fn assemble<T: Real>(
    rows: &[BlockRows<T>],
    w: &[Block3<T>],
    active: &[usize],
    system: &mut [Block3<T>],
    right: &mut [[T; 3]],
) {
    let (n, m) = (rows.len(), active.len());
    for (i, &b) in active.iter().enumerate() {
        let block = &rows[b];
        let f = [block.excess(0), block.excess(1), block.excess(2)];
        let ([t0, t1, t2], coupling) = (block.t, block.coupling());
        let of_block = &w[b * n..(b + 1) * n];
        let equations = &mut system[i * m..(i + 1) * m];
        for (entry, &c) in equations.iter_mut().zip(active) {
            let of_pair = &of_block[c];
            *entry = match coupling {
                Coupling::None => [of_pair[0].scaled(t0[0]), of_pair[1].scaled(t1[1]), of_pair[2].scaled(t2[2])],
                Coupling::Friction => [mixed(t0, of_pair), mixed(t1, of_pair), of_pair[2].scaled(t2[2])],
                Coupling::Full => [mixed(t0, of_pair), mixed(t1, of_pair), mixed(t2, of_pair)],
            };
        }
        let mut own = entries::<T>(&equations[i]);
        for (row, t) in block.t.iter().enumerate() {
            for k in 0..3 {
                own[row][k] -= t[k] * block.own[k];
            }
            own[row][row] += T::ONE;
            right[i][row] = -(t[0] * f[0] + t[1] * f[1] + t[2] * f[2]);
        }
        equations[i] = [T::Three::new(own[0]), T::Three::new(own[1]), T::Three::new(own[2])];
        if block.spin != Spin::None {
            couple(rows, w, active, b, equations, &mut right[i]);
        }
    }
}

/// tᵀ M
#[inline(always)]
fn mixed<T: Real>(t: [T; 3], m: &Block3<T>) -> T::Three {
    m[2].scaled(t[2]).add_scaled(t[1], m[1]).add_scaled(t[0], m[0])
}

/// Adds to the equations of rolling and torsional friction in block `b` how they follow the normal impulses of their contacts.
#[inline(always)]
fn couple<T: Real>(
    rows: &[BlockRows<T>],
    w: &[Block3<T>],
    active: &[usize],
    b: usize,
    equations: &mut [Block3<T>],
    right: &mut [T; 3],
) {
    let (n, block) = (rows.len(), &rows[b]);
    for row in 0..3 {
        let contact = block.contacts[row];
        let of_contact = &rows[contact];
        for (k, &slope) in block.slope[row].iter().enumerate() {
            if positive(slope.abs()) == 0 {
                continue;
            }
            for (entry, &c) in equations.iter_mut().zip(active) {
                entry[row] = entry[row].add_scaled(slope, w[contact * n + c][k]);
                if c == contact {
                    let mut own = [T::ZERO; 3];
                    own[k] = of_contact.own[k];
                    entry[row] = entry[row].add_scaled(-slope, T::Three::new(own));
                }
            }
            right[row] -= slope * of_contact.excess(k);
        }
    }
}

/// Solves the system of `m` blocks of three rows; the solution is `right` afterwards, the system is used up.
#[inline(always)]
pub(super) fn eliminate<T: Real>(system: &mut [Block3<T>], m: usize, right: &mut [[T; 3]]) {
    for b in 0..m {
        let (above, below) = system[..m * m].split_at_mut((b + 1) * m);
        let pivots = &mut above[b * m..];
        // The pivot's own rows become those of its inverse times the rest.
        let inverse = inverse(&entries::<T>(&pivots[b]));
        let own = times(&inverse, &right[b]);
        right[b] = own;
        for entry in &mut pivots[b + 1..] {
            let [x, y, z] = *entry;
            for (row, [a, b, c]) in entry.iter_mut().zip(inverse) {
                *row = z.scaled(c).add_scaled(b, y).add_scaled(a, x);
            }
        }
        for (i, equations) in below.chunks_exact_mut(m).enumerate() {
            let mut factor = entries::<T>(&equations[b]);
            for row in &mut factor {
                for entry in row {
                    *entry = -*entry;
                }
            }
            let right = &mut right[b + 1 + i];
            for row in 0..3 {
                right[row] = plus_dot(right[row], &factor[row], &own);
            }
            for (entry, [x, y, z]) in equations[b + 1..].iter_mut().zip(&pivots[b + 1..]) {
                for (row, [a, b, c]) in entry.iter_mut().zip(factor) {
                    *row = row.add_scaled(c, *z).add_scaled(b, *y).add_scaled(a, *x);
                }
            }
        }
    }
    for b in (0..m).rev() {
        let (own, later) = right.split_at_mut(b + 1);
        for (entry, x) in system[b * m + b + 1..(b + 1) * m].iter().zip(&*later) {
            let change = times(&entries::<T>(entry), x);
            for row in 0..3 {
                own[b][row] -= change[row];
            }
        }
    }
}

/// The numbers of a block.
#[inline(always)]
fn entries<T: Real>(block: &Block3<T>) -> Entries<T> {
    [block[0].to_array(), block[1].to_array(), block[2].to_array()]
}

/// s + x · y
#[inline(always)]
fn plus_dot<T: Real>(s: T, x: &[T; 3], y: &[T; 3]) -> T {
    x[0].mul_add(y[0], x[1].mul_add(y[1], x[2].mul_add(y[2], s)))
}

#[inline(always)]
fn times<T: Real>(m: &Entries<T>, x: &[T; 3]) -> [T; 3] {
    [dot(&m[0], x), dot(&m[1], x), dot(&m[2], x)]
}

#[inline(always)]
fn dot<T: Real>(a: &[T; 3], x: &[T; 3]) -> T {
    a[0].mul_add(x[0], a[1].mul_add(x[1], a[2] * x[2]))
}

/// The inverse by cofactors: blocks on the diagonal are near the identity, or far from singular.
#[inline(always)]
fn inverse<T: Real>(m: &Entries<T>) -> Entries<T> {
    let [[a, b, c], [d, e, f], [g, h, i]] = *m;
    let (x, y, z) = (e * i - f * h, f * g - d * i, d * h - e * g);
    let scale = a.mul_add(x, b.mul_add(y, c * z)).recip();
    let mut block =
        [[x, c * h - b * i, b * f - c * e], [y, a * i - c * g, c * d - a * f], [z, b * g - a * h, a * e - b * d]];
    for row in &mut block {
        for entry in row {
            *entry *= scale;
        }
    }
    block
}
