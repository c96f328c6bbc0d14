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

/// Scratch of the solution.
#[derive(Clone, Debug)]
pub(super) struct Newton<T> {
    /// 1 + T (W − w) of the blocks that are active, with −T F on the right.
    system: Vec<T>,
    active: Vec<usize>,
    step: Vec<T>,
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
        let rows = 3 * blocks;
        Self { system: vec![T::ZERO; rows * (rows + 1)], active: Vec::with_capacity(blocks), step: vec![T::ZERO; rows] }
    }

    /// Solves the problem of `rows` with this W, friction bounded by each contact's own normal impulse or by its known `bound`; z of the
    /// rows is the velocity that each constraint would meet with its own share of W for w. Returns the lanes in which it converged, among
    /// the `open` ones, the iterations that these took together, and those of the slowest.
    #[inline(always)]
    pub fn solve(&mut self, rows: &mut [BlockRows<T>], w: &[T], open: u32, is_bounded: bool) -> (u32, [u64; 2]) {
        let Self { system, active, step } = self;
        for block in &mut *rows {
            block.localise(1.0, is_bounded);
            for row in 0..3 {
                block.z[row] = block.z[row] - block.lambda[row] * block.w[row] * wide(SCALING - 1.0);
            }
        }
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
            let new = converged(rows) & open & !solved;
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
            assemble(rows, w, active, system);
            eliminate(system, active.len(), step);
            for (n, &b) in active.iter().enumerate() {
                let change = [step[3 * n], step[3 * n + 1], step[3 * n + 2]];
                for row in 0..3 {
                    rows[b].lambda[row] += change[row];
                }
                add_response(rows, w, b, change);
            }
            if (iteration + 1) % CYCLE_LENGTH == 0 {
                scaling *= SCALING_GROWTH;
            }
            rows.iter_mut().for_each(|block| block.set_free(scaling));
        }
        (solved, [spent, MAX_STEPS as u64])
    }
}

/// v_c += W λ of one block's impulses.
#[inline(always)]
fn add_response<T: Bundle>(rows: &mut [BlockRows<T>], w: &[T], b: usize, [x, y, z]: [T; 3]) {
    if positive(x.abs() + y.abs() + z.abs()) == 0 {
        return;
    }
    let n = 3 * rows.len();
    let (first, rest) = w[3 * b * n..3 * (b + 1) * n].split_at(n);
    let (second, third) = rest.split_at(n);
    let columns = first.as_chunks::<3>().0.iter().zip(second.as_chunks::<3>().0).zip(third.as_chunks::<3>().0);
    for (block, ((a, b), c)) in rows.iter_mut().zip(columns) {
        for row in 0..3 {
            block.v_c[row] = a[row].mul_add(x, b[row].mul_add(y, c[row].mul_add(z, block.v_c[row])));
        }
    }
}

/// The lanes in which F has vanished.
#[inline(always)]
fn converged<T: Bundle>(rows: &[BlockRows<T>]) -> u32 {
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
    // What is no number is not small.
    let tolerance = by_precision::<T>(TOLERANCE, SINGLE_TOLERANCE);
    excess.lanes_less(size * wide(tolerance * tolerance) + wide(by_precision::<T>(1e-200, 1e-30)))
}

/// 1 + T (W − w) and −T F on the right, of the active blocks.
#[inline(always)]
fn assemble<T: Bundle>(rows: &[BlockRows<T>], w: &[T], active: &[usize], system: &mut [T]) {
    let (n, m) = (3 * rows.len(), 3 * active.len());
    for (i, &b) in active.iter().enumerate() {
        let block = &rows[b];
        let f: [T; 3] = std::array::from_fn(|row| block.excess(row));
        let [w0, w1, w2] = [0, 1, 2].map(|row| &w[(3 * b + row) * n..][..n]);
        let is_plain = block.contact_lanes == 0;
        for row in 0..3 {
            let t = block.t[row];
            let equation = &mut system[(3 * i + row) * (m + 1)..][..m + 1];
            for (j, &c) in active.iter().enumerate() {
                let columns = 3 * c..3 * c + 3;
                let (x, y, z) = (&w0[columns.clone()], &w1[columns.clone()], &w2[columns]);
                let entries = &mut equation[3 * j..3 * j + 3];
                for k in 0..3 {
                    entries[k] = match (is_plain, row) {
                        (true, 0) => t[0] * x[k],
                        (true, 1) => t[1] * y[k],
                        (_, 2) => t[2] * z[k],
                        _ => t[0].mul_add(x[k], t[1].mul_add(y[k], t[2] * z[k])),
                    };
                }
            }
            for k in 0..3 {
                equation[3 * i + k] = equation[3 * i + k] - t[k] * block.own[k];
            }
            equation[3 * i + row] += T::ONE;
            equation[m] = -(t[0] * f[0] + t[1] * f[1] + t[2] * f[2]);
        }
    }
}

/// Solves the system of `blocks` blocks of three rows, the right-hand side last in each row.
#[inline(always)]
fn eliminate<T: Bundle>(system: &mut [T], blocks: usize, x: &mut [T]) {
    let m = 3 * blocks;
    let width = m + 1;
    for b in 0..blocks {
        let (above, below) = system[..m * width].split_at_mut(3 * (b + 1) * width);
        let pivots = &mut above[3 * b * width..];
        let first = 3 * b;
        // Within the block.
        let (p, rest) = pivots.split_at_mut(width);
        let (q, r) = rest.split_at_mut(width);
        let inverse_p = -p[first].recip();
        for row in [&mut *q, &mut *r] {
            let multiple = row[first] * inverse_p;
            add_scaled(&mut row[first + 1..], multiple, &p[first + 1..]);
        }
        let inverse_q = -q[first + 1].recip();
        let multiple = r[first + 1] * inverse_q;
        add_scaled(&mut r[first + 2..], multiple, &q[first + 2..]);
        let inverse_r = -r[first + 2].recip();
        // All others by three multiples at once.
        for row in below.chunks_exact_mut(width) {
            let x = row[first] * inverse_p;
            let y = x.mul_add(p[first + 1], row[first + 1]) * inverse_q;
            let z = y.mul_add(q[first + 2], x.mul_add(p[first + 2], row[first + 2])) * inverse_r;
            let others = p[first + 3..].iter().zip(&q[first + 3..]).zip(&r[first + 3..]);
            for (entry, ((p, q), r)) in row[first + 3..].iter_mut().zip(others) {
                *entry = p.mul_add(x, q.mul_add(y, r.mul_add(z, *entry)));
            }
        }
    }
    for b in (0..blocks).rev() {
        let first = 3 * b;
        let [p, q, r] = [0, 1, 2].map(|k| &system[(first + k) * width..][..width]);
        let (mut u, mut v, mut w) = (p[m], q[m], r[m]);
        for (j, x) in x.iter().enumerate().take(m).skip(first + 3) {
            u = u - p[j] * *x;
            v = v - q[j] * *x;
            w = w - r[j] * *x;
        }
        let z = w / r[first + 2];
        let y = (v - q[first + 2] * z) / q[first + 1];
        x[first + 2] = z;
        x[first + 1] = y;
        x[first] = (u - p[first + 1] * y - p[first + 2] * z) / p[first];
    }
}

/// y += s x
#[inline(always)]
fn add_scaled<T: Real>(y: &mut [T], s: T, x: &[T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x.mul_add(s, *y);
    }
}
