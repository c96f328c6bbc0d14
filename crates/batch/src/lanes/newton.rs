//! The semismooth Newton method of [`sap::ContactSpace`], every lane with a problem of its own.
//!
//! Rows come in blocks of three, of a contact (t1, t2, n) or of three limits. A row that a lane does not have follows nothing: its impulse is
//! zero whatever the velocities.

use spatial::Real;

use super::{Bundle, bits, mask, select, wide};

/// Steps after which the iteration is given up, as in [`sap::ContactSpace`].
const MAX_STEPS: usize = 20;

/// `w` relative to a constraint's own share of W, and steps after which it grows by how much: what has not settled by then cycles.
pub(super) const SCALING: f64 = 2.0;
const PATIENCE: usize = 6;
const SCALING_GROWTH: f64 = 3.0;

/// |F| relative to velocities at which a problem is solved. The gradient is greater by no more than w/R of near-rigid contacts, 4,000 at
/// the default β: within the tolerance 1e-6 of the solver.
const TOLERANCE: f64 = 1e-10;

/// v̂ of what is not there.
const NEVER: f64 = -1e100;

/// The numbers of a block, by rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<T> {
    pub is_contact: bool,
    pub friction: T,
    /// The bound of friction where it is known.
    pub bound: T,
    /// R, v̂ for velocities and for positions, and the share of W.
    pub r: [T; 3],
    pub v_hat: [T; 3],
    pub recovery: [T; 3],
    pub w: [T; 3],
    /// Velocities at v*; and those alone with λ left out.
    pub v_free: [T; 3],
    pub z: [T; 3],
    /// The impulses of the solution, and the z from which a search for it starts.
    pub solved_lambda: [T; 3],
    pub solved_z: [T; 3],
    v_c: [T; 3],
    lambda: [T; 3],
    /// scaling · w
    own: [T; 3],
    /// T = −∂γ̄/∂z, and whether it is anything in any lane.
    t: [[T; 3]; 3],
    is_active: bool,
}

/// A problem and the scratch of its solution.
#[derive(Clone, Debug)]
pub(super) struct Problem<T> {
    pub rows: Vec<Rows<T>>,
    pub count: usize,
    /// W, and 1 + T (W − w) with −T F on the right, of the blocks that are active; rows filled up with zeros.
    w: Vec<T>,
    system: Vec<T>,
    active: Vec<usize>,
    step: Vec<T>,
}

impl<T: Bundle> Rows<T> {
    /// Rows that no lane has.
    #[inline(always)]
    pub fn none(is_contact: bool) -> Self {
        let (zeros, ones, never) = ([T::ZERO; 3], [T::ONE; 3], [wide(NEVER); 3]);
        Self {
            is_contact,
            friction: T::ZERO,
            bound: T::ZERO,
            r: ones,
            v_hat: never,
            recovery: never,
            w: ones,
            v_free: zeros,
            z: zeros,
            solved_lambda: zeros,
            solved_z: zeros,
            v_c: zeros,
            lambda: zeros,
            own: zeros,
            t: [zeros; 3],
            is_active: false,
        }
    }

    /// Goes on from a solution with these z and this normal impulse, which bounds friction; v̂ become those for positions.
    #[inline(always)]
    pub fn recover(&mut self, z: [T; 3], normal: T) {
        self.bound = self.friction * normal;
        self.v_hat = self.recovery;
        self.z = z;
    }

    /// λ = γ̄(z) and T.
    #[inline(always)]
    fn localise(&mut self, scaling: T, is_bounded: bool) {
        for row in 0..3 {
            self.own[row] = self.w[row] * scaling;
        }
        if self.is_contact {
            self.localise_contact(is_bounded);
        } else {
            for row in 0..3 {
                let k = (self.own[row] + self.r[row]).recip();
                let lacks = self.v_hat[row] - self.z[row];
                self.lambda[row] = T::ZERO.if_less(lacks, lacks * k, T::ZERO);
                self.t[row] = [T::ZERO; 3];
                self.t[row][row] = T::ZERO.if_less(lacks, k, T::ZERO);
            }
        }
        let follows = match self.is_contact {
            true => self.t[0][0] + self.t[1][1] + self.t[0][2].abs() + self.t[1][2].abs() + self.t[2][2],
            false => self.t[0][0] + self.t[1][1] + self.t[2][2],
        };
        self.is_active = bits(T::ZERO.if_less(follows, T::ONE, T::ZERO)) != 0;
    }

    #[inline(always)]
    fn localise_contact(&mut self, is_bounded: bool) {
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
        self.lambda = [-(per_speed * z1), -(per_speed * z2), normal];
        let (d1, d2) = (z1 * inverse, z2 * inverse);
        // A weaker push lets it slide with less friction.
        let along = -(friction * k_n);
        let (x, y) = (per_speed * d1, per_speed * d2);
        self.t = [
            [per_speed - x * d1, -(x * d2), along * d1],
            [-(x * d2), per_speed - y * d2, along * d2],
            [T::ZERO, T::ZERO, k_n],
        ];
    }
}

impl<T: Bundle> Problem<T> {
    pub fn new(blocks: usize) -> Self {
        let rows = 3 * blocks;
        Self {
            rows: vec![Rows::none(true); blocks],
            count: 0,
            w: vec![T::ZERO; rows * rows],
            system: vec![T::ZERO; rows * (rows + 1)],
            active: Vec::with_capacity(blocks),
            step: vec![T::ZERO; rows],
        }
    }

    /// Sets the block of W between two blocks, and its mirror image.
    #[inline(always)]
    pub fn set(&mut self, b: usize, c: usize, product: &[[T; 3]; 3]) {
        let rows = 3 * self.count;
        for (i, product) in product.iter().enumerate() {
            for (j, entry) in product.iter().enumerate() {
                self.w[(3 * b + i) * rows + 3 * c + j] = *entry;
                self.w[(3 * c + j) * rows + 3 * b + i] = *entry;
            }
        }
    }

    /// Solves the problem, friction bounded by each contact's own normal impulse or by its known `bound`: the lanes in which it converged,
    /// the iterations that all of `counted` took together, and those of the slowest lane.
    #[inline(always)]
    pub fn solve(&mut self, is_bounded: bool, counted: u32) -> (u32, [u64; 2]) {
        let Self { rows, count, w, system, active, step } = self;
        let rows = &mut rows[..*count];
        let all = (1_u32 << T::LANES) - 1;
        let (mut solved, mut scaling, mut spent) = (0, SCALING, 0);
        for iteration in 0..=MAX_STEPS {
            active.clear();
            for (b, block) in rows.iter_mut().enumerate() {
                block.localise(wide(scaling), is_bounded);
                block.v_c = block.v_free;
                if block.is_active {
                    active.push(b);
                }
            }
            // Only what follows z has an impulse, but for friction that slides at a known bound.
            for b in 0..rows.len() {
                add_response(rows, w, b, rows[b].lambda);
            }
            let new = vanished(rows) & !solved;
            if new != 0 {
                let lanes = mask::<T>(new);
                for block in &mut *rows {
                    for row in 0..3 {
                        let z = block.v_c[row] - block.lambda[row] * block.w[row] * wide(SCALING);
                        block.solved_lambda[row] = select(lanes, block.lambda[row], block.solved_lambda[row]);
                        block.solved_z[row] = select(lanes, z, block.solved_z[row]);
                    }
                }
                solved |= new;
                spent += u64::from((new & counted).count_ones()) * iteration as u64;
            }
            if solved == all || iteration == MAX_STEPS {
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
            let grows = (iteration + 1) % PATIENCE == 0;
            scaling *= if grows { SCALING_GROWTH } else { 1.0 };
            for block in &mut *rows {
                for row in 0..3 {
                    block.z[row] = block.v_c[row] - block.lambda[row] * block.w[row] * wide(scaling);
                }
            }
        }
        (solved, [spent, MAX_STEPS as u64])
    }
}

/// v_c += W λ of one block's impulses.
#[inline(always)]
fn add_response<T: Bundle>(rows: &mut [Rows<T>], w: &[T], b: usize, [x, y, z]: [T; 3]) {
    let is_none = x.abs() + y.abs() + z.abs();
    if bits(T::ZERO.if_less(is_none, T::ONE, T::ZERO)) == 0 {
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

/// The lanes in which F = v_c − w λ − z has vanished.
#[inline(always)]
fn vanished<T: Bundle>(rows: &[Rows<T>]) -> u32 {
    let (mut excess, mut size) = (T::ZERO, T::ZERO);
    for block in rows {
        let (mut own, mut of_velocities) = (T::ZERO, T::ZERO);
        for row in 0..3 {
            let (v_c, v_free, lambda) = (block.v_c[row], block.v_free[row], block.lambda[row]);
            let f = v_c - block.own[row] * lambda - block.z[row];
            let per_w = block.w[row].recip();
            own = (f * f).mul_add(per_w, own);
            of_velocities = (v_free * v_free).mul_add(per_w, lambda.mul_add(v_c - v_free, of_velocities));
        }
        excess += own;
        size += of_velocities;
    }
    let is_large = (size * wide(TOLERANCE * TOLERANCE)).if_less(excess, T::ONE, T::ZERO);
    // What is no number is not small.
    bits(excess.if_less(wide(f64::MAX), T::ONE, T::ZERO) * (T::ONE - is_large))
}

/// 1 + T (W − w) and −T F on the right, of the active blocks.
#[inline(always)]
fn assemble<T: Bundle>(rows: &[Rows<T>], w: &[T], active: &[usize], system: &mut [T]) {
    let (n, m) = (3 * rows.len(), 3 * active.len());
    for (i, &b) in active.iter().enumerate() {
        let block = &rows[b];
        let f: [T; 3] = std::array::from_fn(|row| block.v_c[row] - block.own[row] * block.lambda[row] - block.z[row]);
        let [w0, w1, w2] = [0, 1, 2].map(|row| &w[(3 * b + row) * n..][..n]);
        for row in 0..3 {
            let t = block.t[row];
            let equation = &mut system[(3 * i + row) * (m + 1)..][..m + 1];
            for (j, &c) in active.iter().enumerate() {
                let columns = 3 * c..3 * c + 3;
                let (x, y, z) = (&w0[columns.clone()], &w1[columns.clone()], &w2[columns]);
                let entries = &mut equation[3 * j..3 * j + 3];
                for k in 0..3 {
                    entries[k] = match (block.is_contact, row) {
                        (true, 2) => t[2] * z[k],
                        (true, _) => t[0].mul_add(x[k], t[1].mul_add(y[k], t[2] * z[k])),
                        (false, 0) => t[0] * x[k],
                        (false, 1) => t[1] * y[k],
                        (false, _) => t[2] * z[k],
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
