//! The semismooth Newton method of [`sap::ContactSpace`], every lane with a problem of its own.
//!
//! Rows come in blocks of three: of a contact (t1, t2, n) with friction bounded by its normal impulse, or of three constraints of one row,
//! γ = (v̂ − v_c)/R cut to [low, high]. Lanes may differ in what a block is. A row that a lane does not have has both bounds at zero.

use spatial::Real;

use super::contact_space::{all_lanes, positive};
use super::{Bundle, by_precision, select, wide};

/// Steps after which the iteration is given up.
const MAX_STEPS: usize = 12;

/// `w` relative to a constraint's own share of W, and steps after which it grows by how much: what has not settled by then cycles.
const SCALING: f64 = 2.0;
const CYCLE_LENGTH: usize = 6;
const SCALING_GROWTH: f64 = 3.0;

/// |F| relative to velocities at which a problem is solved. The gradient is greater by no more than w/R of near-rigid contacts, 4,000 at
/// the default β: within the tolerance 1e-6 of the solver.
const TOLERANCE: f64 = 1e-10;
const SINGLE_TOLERANCE: f64 = 1e-5;

/// The solver's tolerance on momentum, and the steps after which it is enough: fast convergence is far below it by then. |F| relative to
/// √(v*ᵀ A v*) from which on that is looked at.
const MOMENTUM_TOLERANCE: f64 = 1e-6;
const SINGLE_MOMENTUM_TOLERANCE: f64 = 1e-3;
const LATE: usize = 4;
const FAR: f64 = 1e-3;

/// The numbers of a block, by rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRows<T> {
    /// 1 in the lanes where it is a contact, else 0; the lanes, a bit each.
    pub is_contact: T,
    pub contact_lanes: u32,
    pub friction: T,
    /// The normal impulse times the coefficient of friction, where that is known.
    pub bound: T,
    /// R, v̂, the share of W, and bounds of the impulse of constraints of one row.
    pub r: [T; 3],
    pub v_hat: [T; 3],
    pub w: [T; 3],
    pub low: [T; 3],
    pub high: [T; 3],
    /// Velocities at v*; and those alone, with λ left out.
    pub v_free: [T; 3],
    pub z: [T; 3],
    pub v_c: [T; 3],
    pub lambda: [T; 3],
    /// The impulses and velocities of the solution.
    pub solved_lambda: [T; 3],
    pub solved_v: [T; 3],
    /// scaling · w
    own: [T; 3],
    /// T = −∂γ̄/∂z, and whether it is anything in any lane.
    t: [[T; 3]; 3],
    is_active: bool,
}

/// A block of a matrix, by rows.
pub(super) type Block3<T> = [[T; 3]; 3];

/// Scratch of the solution.
#[derive(Clone, Debug)]
pub(super) struct Newton<T> {
    /// 1 + T (W − w) of the blocks that are active, by rows of blocks, and −T F, then the step.
    system: Vec<Block3<T>>,
    step: Vec<[T; 3]>,
    active: Vec<usize>,
    scratch: Vec<[T; 3]>,
}

impl<T: Bundle> BlockRows<T> {
    /// Rows that no lane has.
    #[inline(always)]
    pub fn none() -> Self {
        let (zeros, ones) = ([T::ZERO; 3], [T::ONE; 3]);
        Self {
            is_contact: T::ZERO,
            contact_lanes: 0,
            friction: T::ZERO,
            bound: T::ZERO,
            r: ones,
            v_hat: zeros,
            w: ones,
            low: zeros,
            high: zeros,
            v_free: zeros,
            z: zeros,
            v_c: zeros,
            lambda: zeros,
            solved_lambda: zeros,
            solved_v: zeros,
            own: zeros,
            t: [zeros; 3],
            is_active: false,
        }
    }

    /// λ = γ̄(z) and T, with `scaling` times their own share of W for w.
    #[inline(always)]
    fn localise(&mut self, scaling: f64, is_bounded: bool) {
        for row in 0..3 {
            self.own[row] = self.w[row] * wide(scaling);
        }
        if self.contact_lanes != all_lanes::<T>() {
            for row in 0..3 {
                let k = (self.own[row] + self.r[row]).recip();
                let whole = (self.v_hat[row] - self.z[row]) * k;
                self.lambda[row] = whole.max(self.low[row]).min(self.high[row]);
                let follows = self.low[row].if_less(whole, T::ONE, T::ZERO) * whole.if_less(self.high[row], k, T::ZERO);
                self.t[row] = [T::ZERO; 3];
                self.t[row][row] = follows;
            }
        }
        if self.contact_lanes != 0 {
            let (lambda, t) = self.contact(is_bounded);
            for row in 0..3 {
                self.lambda[row] = select(self.is_contact, lambda[row], self.lambda[row]);
                for column in 0..3 {
                    self.t[row][column] = select(self.is_contact, t[row][column], self.t[row][column]);
                }
            }
        }
        let t = &self.t;
        let follows = t[0][0] + t[1][1] + t[2][2] + t[0][2].abs() + t[1][2].abs();
        self.is_active = positive(follows) != 0;
    }

    #[inline(always)]
    fn contact(&self, is_bounded: bool) -> ([T; 3], [[T; 3]; 3]) {
        let (k_t, k_n) = ((self.own[0] + self.r[0]).recip(), (self.own[2] + self.r[2]).recip());
        let lacks = self.v_hat[2] - self.z[2];
        let normal = T::ZERO.if_less(lacks, lacks * k_n, T::ZERO);
        let k_n = T::ZERO.if_less(lacks, k_n, T::ZERO);
        let (bound, friction) =
            if is_bounded { (self.bound, T::ZERO) } else { (self.friction * normal, self.friction) };
        let [z1, z2, _] = self.z;
        let speed = z1.mul_add(z1, z2 * z2).sqrt();
        // It slides where what would hold it is beyond the bound.
        let slides = bound.if_less(speed * k_t, T::ONE, T::ZERO);
        let inverse = slides / select(slides, speed, T::ONE);
        let per_speed = select(slides, bound * inverse, k_t);
        let (d1, d2) = (z1 * inverse, z2 * inverse);
        // A weaker push lets it slide with less friction.
        let along = -(friction * k_n);
        let (x, y) = (per_speed * d1, per_speed * d2);
        let t = [
            [per_speed - x * d1, -(x * d2), along * d1],
            [-(x * d2), per_speed - y * d2, along * d2],
            [T::ZERO, T::ZERO, k_n],
        ];
        ([-(per_speed * z1), -(per_speed * z2), normal], t)
    }

    /// γ(v_c), the impulse of the laws at the velocities themselves.
    #[inline(always)]
    fn impulse_at_velocity(&self, is_bounded: bool) -> [T; 3] {
        let mut gamma = [T::ZERO; 3];
        for row in 0..3 {
            let whole = (self.v_hat[row] - self.v_c[row]) / self.r[row];
            gamma[row] = whole.max(self.low[row]).min(self.high[row]);
        }
        if self.contact_lanes != 0 {
            let normal = ((self.v_hat[2] - self.v_c[2]) / self.r[2]).max(T::ZERO);
            let bound = if is_bounded { self.bound } else { self.friction * normal };
            let [x, y, _] = self.v_c;
            let speed = x.mul_add(x, y * y).sqrt();
            let slides = (bound * self.r[0]).if_less(speed, T::ONE, T::ZERO);
            let per_speed = select(slides, bound / select(slides, speed, T::ONE), self.r[0].recip());
            let of_contact = [-(per_speed * x), -(per_speed * y), normal];
            for row in 0..3 {
                gamma[row] = select(self.is_contact, of_contact[row], gamma[row]);
            }
        }
        gamma
    }

    /// F of a row.
    #[inline(always)]
    fn excess(&self, row: usize) -> T {
        self.v_c[row] - self.own[row] * self.lambda[row] - self.z[row]
    }

    /// z = v_c − w λ
    #[inline(always)]
    fn set_free(&mut self, scaling: f64) {
        for row in 0..3 {
            self.z[row] = self.v_c[row] - self.lambda[row] * self.w[row] * wide(scaling);
        }
    }
}

impl<T: Bundle> Newton<T> {
    pub fn new(blocks: usize) -> Self {
        Self {
            system: vec![[[T::ZERO; 3]; 3]; blocks * blocks],
            step: vec![[T::ZERO; 3]; blocks],
            active: Vec::with_capacity(blocks),
            scratch: vec![[T::ZERO; 3]; blocks],
        }
    }

    /// Solves the problem of `rows` with this W, friction bounded by each contact's own normal impulse or by its known `bound`; z of the
    /// rows is the velocity that each constraint would meet with its own share of W for w. Returns the lanes in which it converged, among
    /// the `open` ones, the iterations that these took together, and those of the slowest.
    #[inline(always)]
    pub fn solve(
        &mut self,
        rows: &mut [BlockRows<T>],
        w: &[Block3<T>],
        energy: T,
        open: u32,
        is_bounded: bool,
    ) -> (u32, [u64; 2]) {
        let Self { system, active, step, scratch } = self;
        for block in &mut *rows {
            block.localise(1.0, is_bounded);
            for row in 0..3 {
                block.z[row] -= block.lambda[row] * block.w[row] * wide(SCALING - 1.0);
            }
        }
        let tolerance = by_precision::<T>(TOLERANCE, SINGLE_TOLERANCE);
        let least = wide::<T>(by_precision::<T>(1e-200, 1e-30));
        let (mut solved, mut scaling, mut spent) = (0, SCALING, 0);
        for iteration in 0..=MAX_STEPS {
            active.clear();
            for (b, block) in rows.iter_mut().enumerate() {
                block.localise(scaling, is_bounded);
                block.v_c = block.v_free;
                if block.is_active {
                    active.push(b);
                }
            }
            for b in 0..rows.len() {
                add_response(rows, w, b, rows[b].lambda);
            }
            let (excess, size) = measure(rows);
            let mut new = excess.lanes_less(size * wide(tolerance * tolerance) + least) & open & !solved;
            let near = excess.lanes_less(energy * wide(FAR * FAR)) & open & !solved & !new;
            if near != 0 && (iteration == 0 || iteration >= LATE) {
                new |= balanced(rows, w, energy, is_bounded, scratch) & near;
            }
            if new != 0 {
                let lanes = T::mask(new);
                for block in &mut *rows {
                    for row in 0..3 {
                        block.solved_lambda[row] = select(lanes, block.lambda[row], block.solved_lambda[row]);
                        block.solved_v[row] = select(lanes, block.v_c[row], block.solved_v[row]);
                    }
                }
                solved |= new;
                spent += u64::from(new.count_ones()) * iteration as u64;
            }
            if solved == open || iteration == MAX_STEPS {
                return (solved, [spent, iteration as u64]);
            }
            assemble(rows, w, active, system, step);
            eliminate(system, active.len(), step);
            for (&b, &change) in active.iter().zip(&*step) {
                for row in 0..3 {
                    rows[b].lambda[row] += change[row];
                }
                add_response(rows, w, b, change);
            }
            if (iteration + 1) % CYCLE_LENGTH == 0 {
                scaling *= SCALING_GROWTH;
            }
            for block in rows.iter_mut() {
                block.set_free(scaling);
            }
        }
        (solved, [spent, MAX_STEPS as u64])
    }
}

/// v_c += W λ of one block's impulses.
#[inline(always)]
fn add_response<T: Bundle>(rows: &mut [BlockRows<T>], w: &[Block3<T>], b: usize, lambda: [T; 3]) {
    let [x, y, z] = lambda;
    if positive(x.abs() + y.abs() + z.abs()) == 0 {
        return;
    }
    let n = rows.len();
    // W is symmetric: its column of blocks is the transpose of its row.
    for (block, [p, q, r]) in rows.iter_mut().zip(&w[b * n..(b + 1) * n]) {
        for k in 0..3 {
            block.v_c[k] = p[k].mul_add(x, q[k].mul_add(y, r[k].mul_add(z, block.v_c[k])));
        }
    }
}

/// Σ F² / w, and what velocities and impulses are in that measure.
#[inline(always)]
fn measure<T: Bundle>(rows: &[BlockRows<T>]) -> (T, T) {
    let (mut excess, mut size) = (T::ZERO, T::ZERO);
    for block in rows {
        for row in 0..3 {
            let (v_c, v_free, lambda) = (block.v_c[row], block.v_free[row], block.lambda[row]);
            let f = block.excess(row);
            let per_w = block.w[row].recip();
            excess = (f * f).mul_add(per_w, excess);
            size = (v_free * v_free).mul_add(per_w, lambda.mul_add(v_c - v_free, size));
        }
    }
    (excess, size)
}

/// The lanes in which momentum is balanced to the tolerance of the solver: ‖λ − γ(v_c)‖_W relative to the momentum, as [`sap::ContactSpace`]
/// has it. Where contacts are redundant, F need not vanish.
#[inline(always)]
fn balanced<T: Bundle>(
    rows: &[BlockRows<T>],
    w: &[Block3<T>],
    energy: T,
    is_bounded: bool,
    lacks: &mut [[T; 3]],
) -> u32 {
    let mut momentum = energy;
    for (block, lack) in rows.iter().zip(&mut *lacks) {
        let gamma = block.impulse_at_velocity(is_bounded);
        for row in 0..3 {
            lack[row] = block.lambda[row] - gamma[row];
            momentum = block.lambda[row].mul_add(block.v_c[row] - block.v_free[row], momentum);
        }
    }
    let n = rows.len();
    let mut error = T::ZERO;
    for b in 0..n {
        for c in 0..n {
            let of_c = times(&w[b * n + c], &lacks[c]);
            error = plus_dot(error, &lacks[b], &of_c);
        }
    }
    let tolerance = by_precision::<T>(MOMENTUM_TOLERANCE, SINGLE_MOMENTUM_TOLERANCE);
    error.lanes_less(momentum * wide(tolerance * tolerance))
}

/// 1 + T (W − w) and −T F on the right, of the active blocks.
#[inline(always)]
fn assemble<T: Bundle>(
    rows: &[BlockRows<T>],
    w: &[Block3<T>],
    active: &[usize],
    system: &mut [Block3<T>],
    right: &mut [[T; 3]],
) {
    let (n, m) = (rows.len(), active.len());
    for (i, &b) in active.iter().enumerate() {
        let block = &rows[b];
        let f: [T; 3] = std::array::from_fn(|row| block.excess(row));
        let [t0, t1, t2] = block.t;
        let of_block = &w[b * n..(b + 1) * n];
        let equations = &mut system[i * m..(i + 1) * m];
        if block.contact_lanes == 0 {
            for (entry, &c) in equations.iter_mut().zip(active) {
                let [x, y, z] = &of_block[c];
                for k in 0..3 {
                    entry[0][k] = t0[0] * x[k];
                    entry[1][k] = t1[1] * y[k];
                    entry[2][k] = t2[2] * z[k];
                }
            }
        } else {
            // The normal row follows nothing else.
            for (entry, &c) in equations.iter_mut().zip(active) {
                let [x, y, z] = &of_block[c];
                for k in 0..3 {
                    entry[0][k] = t0[0].mul_add(x[k], t0[1].mul_add(y[k], t0[2] * z[k]));
                    entry[1][k] = t1[0].mul_add(x[k], t1[1].mul_add(y[k], t1[2] * z[k]));
                    entry[2][k] = t2[2] * z[k];
                }
            }
        }
        for (row, t) in block.t.iter().enumerate() {
            for k in 0..3 {
                equations[i][row][k] -= t[k] * block.own[k];
            }
            equations[i][row][row] += T::ONE;
            right[i][row] = -(t[0] * f[0] + t[1] * f[1] + t[2] * f[2]);
        }
    }
}

/// Solves the system of `m` blocks of three rows; the solution is `right` afterwards, the system is used up.
#[inline(always)]
fn eliminate<T: Bundle>(system: &mut [Block3<T>], m: usize, right: &mut [[T; 3]]) {
    for b in 0..m {
        let (above, below) = system[..m * m].split_at_mut((b + 1) * m);
        let pivots = &mut above[b * m..];
        // The pivot's own rows become those of its inverse times the rest.
        let inverse = inverse(&pivots[b]);
        let own = times(&inverse, &right[b]);
        right[b] = own;
        for entry in &mut pivots[b + 1..] {
            *entry = product(&inverse, entry);
        }
        for (i, equations) in below.chunks_exact_mut(m).enumerate() {
            let factor = equations[b].map(|row| row.map(|x| -x));
            let right = &mut right[b + 1 + i];
            for row in 0..3 {
                right[row] = plus_dot(right[row], &factor[row], &own);
            }
            for (entry, of_pivot) in equations[b + 1..].iter_mut().zip(&pivots[b + 1..]) {
                *entry = plus_product(entry, &factor, of_pivot);
            }
        }
    }
    for b in (0..m).rev() {
        let (own, later) = right.split_at_mut(b + 1);
        for (entry, x) in system[b * m + b + 1..(b + 1) * m].iter().zip(&*later) {
            let change = times(entry, x);
            for row in 0..3 {
                own[b][row] -= change[row];
            }
        }
    }
}

/// s + x · y
#[inline(always)]
fn plus_dot<T: Real>(s: T, x: &[T; 3], y: &[T; 3]) -> T {
    x[0].mul_add(y[0], x[1].mul_add(y[1], x[2].mul_add(y[2], s)))
}

/// m + a b
#[inline(always)]
fn plus_product<T: Real>(m: &Block3<T>, a: &Block3<T>, b: &Block3<T>) -> Block3<T> {
    let row = |k: usize| {
        let ([x, y, z], of_m) = (a[k], m[k]);
        let entry = |c: usize| x.mul_add(b[0][c], y.mul_add(b[1][c], z.mul_add(b[2][c], of_m[c])));
        [entry(0), entry(1), entry(2)]
    };
    [row(0), row(1), row(2)]
}

#[inline(always)]
fn times<T: Real>(m: &Block3<T>, x: &[T; 3]) -> [T; 3] {
    let row = |k: usize| m[k][0].mul_add(x[0], m[k][1].mul_add(x[1], m[k][2] * x[2]));
    [row(0), row(1), row(2)]
}

#[inline(always)]
fn product<T: Real>(a: &Block3<T>, b: &Block3<T>) -> Block3<T> {
    let row = |k: usize| {
        let [x, y, z] = a[k];
        let entry = |c: usize| x.mul_add(b[0][c], y.mul_add(b[1][c], z * b[2][c]));
        [entry(0), entry(1), entry(2)]
    };
    [row(0), row(1), row(2)]
}

/// The inverse by cofactors: blocks on the diagonal are near the identity, or far from singular.
#[inline(always)]
fn inverse<T: Real>(m: &Block3<T>) -> Block3<T> {
    let [[a, b, c], [d, e, f], [g, h, i]] = *m;
    let (x, y, z) = (e * i - f * h, f * g - d * i, d * h - e * g);
    let scale = a.mul_add(x, b.mul_add(y, c * z)).recip();
    let block =
        [[x, c * h - b * i, b * f - c * e], [y, a * i - c * g, c * d - a * f], [z, b * g - a * h, a * e - b * d]];
    block.map(|row| row.map(|entry| entry * scale))
}
