//! The semismooth Newton method of Alart and Curnier: all laws and velocities at once, of one problem or of one in every lane.
//!
//! A constraint of velocity `v_c` and impulse `λ` meets its law if `λ = γ̄(z)` at the free velocity `z = v_c − w λ`, for any `w > 0`; `γ̄` is
//! the law with `R + w` in place of `R`. So the solution is the root of
//!
//! ```text
//! F(z) = J v* + (W − w) γ̄(z) − z      W = J A⁻¹ Jᵀ
//! ```
//!
//! which is Lipschitz continuous however stiff constraints are, and linear while every constraint sticks, slides along the same line, or
//! is open. Under Coulomb's law friction is bounded by the contact's own `γ̄_n(z)`, and `T = −∂γ̄/∂z` is not symmetric. A step solves
//! the linear model of `F`, in one of two ways ([`Backend`]) that lead to the same:
//!
//! | backend | factors | for |
//! | --- | --- | --- |
//! | [`DenseW`](dense_w::DenseW) | `1 + T (W − w)` | few rows |
//! | [`SparseA`](sparse_a::SparseA) | `A + JᵀḠJ`, `Ḡ = (1 − T w)⁻¹ T` | many |
//!
//! There is no line search, and nothing guarantees convergence: near a solution, where no contact changes between sticking, sliding and
//! parting, this converges in a few steps; from far away, as in impacts of many bodies, it cycles, with line searches as well. The proximal
//! point method ([`proximal_point`]) goes on then.
//!
//! Source: Alart, Curnier, *A Mixed Formulation for Frictional Contact Problems Prone to Newton Like Solution Methods*, Computer
//! Methods in Applied Mechanics and Engineering 92, 1991.
//!
//! Everything that lanes need is inlined into its caller, which may be compiled for other registers than this crate.

mod block_rows;
pub(crate) mod dense_w;
pub(crate) mod proximal_point;
mod softness;
pub(crate) mod sparse_a;

use spatial::Real;
use spatial::masks::{select, wide};

pub use block_rows::BlockRows;
pub(crate) use block_rows::localise;

use crate::law::Bounds;
use crate::parameters::{ContactSpaceParameters, SemismoothParameters, SolverParameters, StallParameters};
use block_rows::take_solution;

pub(crate) const PARAMETERS: ContactSpaceParameters = SolverParameters::STANDARD.contact_space;
const OF_VELOCITIES: SemismoothParameters = SolverParameters::STANDARD.semismooth;
const STALL: StallParameters = SolverParameters::STANDARD.stall;

/// The linear algebra of a problem.
pub(crate) trait Backend<T: Real> {
    /// Whether velocities follow impulses without a factor, so that F is known; else the imbalance is known after each step.
    const KNOWS_EXCESS: bool;
    /// `w` relative to the constraint's own share of `W`.
    const SCALING: f64;
    /// The factor by which `w` grows where the iteration cycles: another `w` leads elsewhere.
    const GROWTH: f64;

    /// Velocities become those that the impulses of the rows lead to, in these lanes, where [`KNOWS_EXCESS`](Self::KNOWS_EXCESS).
    fn respond(&mut self, rows: &mut [BlockRows<T>], lanes: u32);

    /// Solves the linear model at the rows' z: impulses and velocities become its own. False where that cannot be done.
    fn step(&mut self, rows: &mut [BlockRows<T>], bounds: Bounds) -> bool;

    /// Goes nearer to a solution by what the last step has left, where that costs little.
    fn polish(&mut self, _: &mut [BlockRows<T>], _: Bounds) {}

    /// ‖λ − γ(v_c)‖², and the square of the momentum.
    fn imbalance(&mut self, rows: &[BlockRows<T>], bounds: Bounds) -> (T, T);

    /// `v*ᵀ A v*`, which `F` is measured by.
    fn energy(&self) -> T {
        T::ZERO
    }
}

/// What a solution may take, and what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Which normal impulses bound friction.
    pub bounds: Bounds,
    /// Steps at most.
    pub steps: usize,
    /// |F| relative to velocities. The gradient is greater by no more than w/R of near-rigid contacts, 4,000 at the default β.
    pub excess: f64,
    /// |F| relative to √(v*ᵀ A v*) that is round-off: no step leads nearer.
    pub round_off: f64,
    /// ‖λ − γ(v_c)‖ relative to momentum at which what the iteration starts from is a solution.
    pub at_start: f64,
    /// The same once some steps were made: where contacts are redundant, F need not vanish.
    pub late: f64,
    /// The same of every solution, but for round-off. Infinite: it is not looked at where |F| is small enough, nor kept.
    pub residual: f64,
    /// The same of a solution that no step leads nearer to, where others can finish it.
    pub near: f64,
}

/// What became of the problems of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<T> {
    /// The lanes in which the iteration converged, a bit each.
    pub solved: u32,
    /// The steps that these took together, without those of lanes that did not converge.
    pub steps: u64,
    /// Those of the slowest lane, solved or not.
    pub slowest: u64,
    /// ‖λ − γ(v_c)‖ of the solutions relative to their momentum, where that was to be looked at.
    pub residual: T,
}

/// Solves the problems of the `open` lanes.
#[inline(always)]
pub(crate) fn newton<T: Real, B: Backend<T>>(
    rows: &mut [BlockRows<T>],
    backend: &mut B,
    open: u32,
    limits: &Limits,
) -> Outcome<T> {
    let mut scaling = B::SCALING;
    start(rows, open, scaling, limits.bounds);
    let mut outcome = Outcome { solved: 0, steps: 0, slowest: 0, residual: T::ZERO };
    let mut progress = Progress::new();
    for iteration in 0.. {
        let remaining = open & !outcome.solved;
        localise(rows, remaining, limits.bounds);
        backend.respond(rows, remaining);
        let Settled { solved, given_up, residual } = if B::KNOWS_EXCESS {
            settled_by_excess(rows, backend, iteration, remaining, limits)
        } else {
            settled_by_residual(rows, backend, iteration, &mut progress, limits)
        };
        let new = solved & remaining;
        if new != 0 {
            take_solution(rows, new);
            outcome.solved |= new;
            outcome.steps += u64::from(new.count_ones()) * iteration as u64;
            outcome.residual = select(T::mask(new), residual, outcome.residual);
        }
        outcome.slowest = iteration as u64;
        if outcome.solved == open || iteration == limits.steps || given_up & remaining != 0 {
            break;
        }
        if !backend.step(rows, limits.bounds) {
            break;
        }
        backend.polish(rows, limits.bounds);
        if (iteration + 1) % PARAMETERS.cycle_length == 0 {
            scaling *= B::GROWTH;
            for block in &mut *rows {
                block.rescale(scaling);
            }
        }
        for block in &mut *rows {
            block.set_free();
        }
    }
    outcome
}

/// From z with the rows' own shares of W for w to that with `scaling` times as much. Loops: a closure may stay outside, where operations of
/// wider registers than this crate's are calls.
#[inline(always)]
fn start<T: Real>(rows: &mut [BlockRows<T>], lanes: u32, scaling: f64, bounds: Bounds) {
    for block in &mut *rows {
        block.rescale(1.0);
    }
    localise(rows, lanes, bounds);
    for block in &mut *rows {
        block.start(scaling);
    }
}

/// The lanes that are solved, those that nothing leads nearer, and the residuals.
struct Settled<T> {
    solved: u32,
    given_up: u32,
    residual: T,
}

/// Whether F vanishes, or the laws are met as they are.
#[inline(always)]
fn settled_by_excess<T: Real, B: Backend<T>>(
    rows: &[BlockRows<T>],
    backend: &mut B,
    iteration: usize,
    remaining: u32,
    limits: &Limits,
) -> Settled<T> {
    let least = wide::<T>(if T::IS_SINGLE { 1e-30 } else { 1e-200 });
    let (excess, size) = measure(rows);
    let energy = backend.energy();
    let round_off = energy * wide(limits.round_off * limits.round_off) + least;
    let exact = excess.lanes_less(size * wide(limits.excess * limits.excess) + round_off) & remaining;
    let is_looked_at = iteration == 0 || iteration >= PARAMETERS.late_step;
    let evaluation = wide(PARAMETERS.evaluation_excess * PARAMETERS.evaluation_excess);
    let near = if is_looked_at { excess.lanes_less(energy * evaluation) & remaining & !exact } else { 0 };
    let is_checked = limits.residual < f64::INFINITY;
    let mut settled = Settled { solved: exact, given_up: 0, residual: T::ZERO };
    if near != 0 || is_checked && exact != 0 {
        let (error, momentum) = backend.imbalance(rows, limits.bounds);
        if is_checked {
            let most = momentum * wide(limits.residual * limits.residual);
            settled.solved &= error.lanes_less(most) | excess.lanes_less(round_off);
            settled.residual = (error.max(T::ZERO) / momentum.max(least)).sqrt();
        }
        let tolerance = if iteration == 0 { limits.at_start } else { limits.late };
        settled.solved |= error.lanes_less(momentum * wide(tolerance * tolerance)) & near;
    }
    settled
}

/// Whether the laws are met, or a step has led nowhere.
#[inline(always)]
fn settled_by_residual<T: Real, B: Backend<T>>(
    rows: &[BlockRows<T>],
    backend: &mut B,
    iteration: usize,
    progress: &mut Progress<T>,
    limits: &Limits,
) -> Settled<T> {
    let (error, momentum) = backend.imbalance(rows, limits.bounds);
    let residual = (error / momentum).sqrt();
    let tolerance = if iteration == 0 { limits.at_start } else { limits.late };
    let mut settled = Settled { solved: residual.lanes_less(wide(tolerance)), given_up: 0, residual };
    if iteration > 0 {
        let stalls = progress.stalls(residual);
        // One more step costs as much as what others take to finish it, and leaves less of the law.
        settled.solved |= stalls & residual.lanes_less(wide(limits.near));
        settled.given_up = progress.is_over();
        if iteration > 1 {
            settled.given_up |= wide::<T>(OF_VELOCITIES.divergence_residual).lanes_less(residual);
        }
    }
    settled
}

/// Σ F² / w, and what velocities and impulses are in that measure.
#[inline(always)]
pub(crate) fn measure<T: Real>(rows: &[BlockRows<T>]) -> (T, T) {
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

/// Whether residuals fall from step to step.
struct Progress<T> {
    least: T,
    /// Steps that may yet leave more than the share of the least residual.
    patience: T,
}

impl<T: Real> Progress<T> {
    #[inline(always)]
    fn new() -> Self {
        Self { least: wide(f64::INFINITY), patience: wide(STALL.limit as f64) }
    }

    /// Takes the residual of a step; returns the lanes in which it has not fallen.
    #[inline(always)]
    fn stalls(&mut self, residual: T) -> u32 {
        let falls = residual.if_less(self.least * wide(STALL.reduction), T::ONE, T::ZERO);
        self.patience = select(falls, wide(STALL.limit as f64), self.patience - T::ONE);
        self.least = select(falls, residual, self.least);
        falls.lanes_less(wide(0.5))
    }

    /// The lanes in which it has not fallen for too long.
    #[inline(always)]
    fn is_over(&self) -> u32 {
        self.patience.lanes_less(wide(0.5))
    }
}
