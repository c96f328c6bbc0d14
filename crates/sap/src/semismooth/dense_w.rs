//! The linear algebra of a problem in contact space, whose Delassus operator `W = J A⁻¹ Jᵀ` is a matrix of blocks: in scalars, or with a
//! problem of its own in every lane of vector registers.
//!
//! Impulses λ lead to `v_c = J v* + W λ`, and a step solves `(1 + T (W − w)) dλ = −T F`.

use spatial::masks::{all_lanes, positive};
use spatial::{Real, Three};

use super::block_rows::{BlockRows, Coupling};
use super::{Backend, Limits, Outcome, PARAMETERS, newton};
use crate::law::Bounds;

/// A block of a matrix, by rows.
pub type Block3<T> = [<T as Real>::Three; 3];

/// The numbers of a block, by rows.
type Entries<T> = [[T; 3]; 3];

/// Scratch of solutions.
#[derive(Clone, Debug)]
pub struct DenseScratch<T: Real> {
    /// 1 + T (W − w) of the blocks that are active, by rows of blocks.
    system: Vec<Block3<T>>,
    /// −T F, then the step.
    step: Vec<[T; 3]>,
    active: Vec<usize>,
    pushing: Vec<usize>,
    scratch: Vec<[T; 3]>,
}

impl<T: Real> DenseScratch<T> {
    /// For problems of up to this many blocks.
    pub fn new(blocks: usize) -> Self {
        Self {
            system: vec![[T::Three::ZERO; 3]; blocks * blocks],
            step: vec![[T::ZERO; 3]; blocks],
            active: Vec::with_capacity(blocks),
            pushing: Vec::with_capacity(blocks),
            scratch: vec![[T::ZERO; 3]; blocks],
        }
    }

    /// How many these are.
    pub(crate) fn blocks(&self) -> usize {
        self.step.len()
    }

    /// Solves the problem of `rows` with this W, by rows of blocks, in the `open` lanes by Newton's method; `energy` is v*ᵀ A v*. z of the
    /// rows is the velocity that each constraint would meet with its own share of W for w.
    #[inline(always)]
    pub fn solve(
        &mut self,
        rows: &mut [BlockRows<T>],
        w: &[Block3<T>],
        energy: T,
        open: u32,
        limits: &Limits,
    ) -> Outcome<T> {
        newton(rows, &mut DenseW { w, energy, scratch: self }, open, limits)
    }
}

/// A problem in contact space.
pub(crate) struct DenseW<'a, T: Real> {
    pub w: &'a [Block3<T>],
    pub energy: T,
    pub scratch: &'a mut DenseScratch<T>,
}

impl<T: Real> DenseW<'_, T> {
    /// λ − γ(v_c) by blocks, of the last [`imbalance`](Backend::imbalance).
    pub fn lacks(&self) -> &[[T; 3]] {
        &self.scratch.scratch
    }
}

impl<T: Real> Backend<T> for DenseW<'_, T> {
    const KNOWS_EXCESS: bool = true;
    const SCALING: f64 = PARAMETERS.scaling;
    const GROWTH: f64 = PARAMETERS.scaling_growth;

    #[inline(always)]
    fn respond(&mut self, rows: &mut [BlockRows<T>], lanes: u32) {
        let DenseScratch { active, pushing, scratch, .. } = &mut *self.scratch;
        find_active(rows, lanes, active, pushing, scratch);
        add_response(rows, self.w, pushing, scratch);
    }

    #[inline(always)]
    fn step(&mut self, rows: &mut [BlockRows<T>], _: Bounds) -> bool {
        let DenseScratch { system, active, step, .. } = &mut *self.scratch;
        assemble(rows, self.w, active, system, step);
        eliminate(system, active.len(), step);
        for (&b, change) in active.iter().zip(&*step) {
            for row in 0..3 {
                rows[b].lambda[row] += change[row];
            }
        }
        add_response(rows, self.w, active, step);
        true
    }

    #[inline(always)]
    fn imbalance(&mut self, rows: &[BlockRows<T>], bounds: Bounds) -> (T, T) {
        let lacks = &mut self.scratch.scratch[..rows.len()];
        let mut momentum = self.energy;
        for (block, lack) in rows.iter().zip(&mut *lacks) {
            let mut normal = [T::ZERO; 3];
            if block.law.is_spin() && bounds == Bounds::Own {
                for row in 0..3 {
                    normal[row] = rows[block.contacts[row]].normal_at_velocity();
                }
            }
            let gamma = block.respond_at(block.v_c, bounds, normal).impulse;
            for row in 0..3 {
                lack[row] = block.lambda[row] - gamma[row];
                momentum = block.lambda[row].mul_add(block.v_c[row] - block.v_free[row], momentum);
            }
        }
        (norm_squared(self.w, lacks), momentum)
    }

    #[inline(always)]
    fn energy(&self) -> T {
        self.energy
    }
}

/// Lists the blocks that are active, and those with an impulse in some of the lanes `remaining`, whose impulses go to `scratch`; blocks that
/// only solved lanes need are skipped. Velocities become those without impulses.
#[inline(always)]
fn find_active<T: Real>(
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

/// v_c += W x, of the blocks `of`, x in their order.
#[inline(always)]
fn add_response<T: Real>(rows: &mut [BlockRows<T>], w: &[Block3<T>], of: &[usize], x: &[[T; 3]]) {
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

/// ‖x‖²_W
#[inline(always)]
fn norm_squared<T: Real>(w: &[Block3<T>], x: &[[T; 3]]) -> T {
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
fn assemble<T: Real>(
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
        if block.law.is_spin() {
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
        for k in 0..3 {
            let slope = block.slope[row] * of_contact.t[2][k];
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
fn eliminate<T: Real>(system: &mut [Block3<T>], m: usize, right: &mut [[T; 3]]) {
    for b in 0..m {
        let (above, below) = system[..m * m].split_at_mut((b + 1) * m);
        let pivots = &mut above[b * m..];
        // The pivot's own rows become those of its inverse times the rest, with the other sign.
        let inverse = negative_inverse(&entries::<T>(&pivots[b]));
        let own = times(&inverse, &right[b]);
        right[b] = own;
        for entry in &mut pivots[b + 1..] {
            let [x, y, z] = *entry;
            for (row, [a, b, c]) in entry.iter_mut().zip(inverse) {
                *row = z.scaled(c).add_scaled(b, y).add_scaled(a, x);
            }
        }
        for (i, equations) in below.chunks_exact_mut(m).enumerate() {
            let factor = entries::<T>(&equations[b]);
            // Islands have nothing to do with each other.
            if is_zero(&factor) {
                continue;
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
        let mut sum = own[b].map(|x| -x);
        for (entry, x) in system[b * m + b + 1..(b + 1) * m].iter().zip(&*later) {
            let change = times(&entries::<T>(entry), x);
            for row in 0..3 {
                sum[row] += change[row];
            }
        }
        own[b] = sum;
    }
}

/// The numbers of a block.
#[inline(always)]
fn entries<T: Real>(block: &Block3<T>) -> Entries<T> {
    [block[0].to_array(), block[1].to_array(), block[2].to_array()]
}

/// Whether a block is zero in all lanes; what is no number is not. Loops: a closure may stay outside, see [`start`](super::start).
#[inline(always)]
fn is_zero<T: Real>(m: &Entries<T>) -> bool {
    let least = T::from_f64(1e-37);
    let mut lanes = all_lanes::<T>();
    for row in m {
        for x in row {
            lanes &= x.abs().lanes_less(least);
        }
    }
    lanes == all_lanes::<T>()
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

/// −1 times the inverse, by cofactors: blocks on the diagonal are near the identity, or far from singular.
#[inline(always)]
fn negative_inverse<T: Real>(m: &Entries<T>) -> Entries<T> {
    let [[a, b, c], [d, e, f], [g, h, i]] = *m;
    let (x, y, z) = (e * i - f * h, f * g - d * i, d * h - e * g);
    let scale = -a.mul_add(x, b.mul_add(y, c * z)).recip();
    let mut block =
        [[x, c * h - b * i, b * f - c * e], [y, a * i - c * g, c * d - a * f], [z, b * g - a * h, a * e - b * d]];
    for row in &mut block {
        for entry in row {
            *entry *= scale;
        }
    }
    block
}
