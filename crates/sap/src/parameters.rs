//! All tolerances and limits that steer the solver, strategy by strategy.
//!
//! They are the method's own, the same for every problem; what a caller may choose is in [`Options`](crate::Options), which has the
//! tolerance `ε_r` that some of them are relative to. None has a scale of its own: residuals and lengths are relative to those of the
//! problem, and everything else is a count. Sizes of registers, tiles and panels are with the code that is cut to them.
//!
//! Residuals are relative to momentum, as [`Report::residual`](crate::Report::residual) is; a step of any strategy is one
//! factorisation unless it says otherwise. How the strategies follow each other: `coulomb.rs`, and `docs/design/contact-solver.md` for
//! what was measured.

/// The parameters of every strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParameters {
    /// Semismooth Newton in contact space, the fast path.
    pub contact_space: ContactSpaceParameters,
    /// Newton's method on one convex problem.
    pub convex: ConvexParameters,
    /// Its line searches.
    pub line_search: LineSearchParameters,
    /// Problems whose friction bounds follow their own normal impulses.
    pub friction_iterations: FrictionIterationParameters,
    /// Semismooth Newton in all velocities.
    pub semismooth: SemismoothParameters,
    /// The proximal point method.
    pub proximal_point: ProximalPointParameters,
    /// Path continuation.
    pub continuation: ContinuationParameters,
    /// The choice between factorisations.
    pub factorization: FactorizationParameters,
}

/// Of [`ContactSpace`](crate::ContactSpace). `F` is the excess of velocities whose root is the solution; `|F|` is measured relative to
/// `√(v*ᵀ A v*)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSpaceParameters {
    /// The most rows: of 18 contacts with torsional friction, a third of whose rows never push.
    pub max_rows: usize,
    /// Steps after which the proximal point method takes over: robots in motion take 3 in the mean, and what has not settled by then seldom
    /// does.
    pub max_steps: usize,
    /// The same of more than [`many_rows`](Self::many_rows), where a step costs as much as one of the safeguard: what converges mostly does
    /// in 8.
    pub max_steps_of_many_rows: usize,
    /// Those of 16 contacts. Problems of matrices are solved otherwise from there on.
    pub many_rows: usize,
    /// Factorisations of the proximal point method, with those of Newton's method before it, after which the problem is left to the
    /// safeguard. Of the 3,300 problems of a hand and a gripper that it solves, half take 20 and 25 at most, 99 of 100 62 and 82.
    pub max_steps_from_afar: usize,
    /// `w` relative to the constraint's own share of `W`: neighbours resist as well. Of 4180 problems of a humanoid and a dog that walk
    /// and run, 48 are given up with 1, 44 with 2, 46 with 3.
    pub scaling: f64,
    /// The factor by which `w` grows where the iteration cycles: another `w` leads elsewhere.
    pub scaling_growth: f64,
    /// Steps after which it grows: lanes keep no history, and what has not settled by then cycles.
    pub cycle_length: usize,
    /// `|F|` above which no law is evaluated at `v_c`: the gradient is greater still.
    pub evaluation_excess: f64,
    /// `|F|` that is round-off: no step leads nearer.
    pub round_off: f64,
    /// The share of `ε_r` from which on a solution is not refined by another step. Near a solution a step squares the error, and whoever
    /// controls the error of steps is not to see that of the solver.
    pub exact_fraction: f64,
    /// The same for `|F|`, relative to velocities and to `ε_r`. The gradient is greater by `w/R` of near-rigid contacts, 4,000
    /// at the default β.
    pub exact_excess_fraction: f64,
    /// Steps from which on `ε_r` itself is enough: fast convergence is far below it by then, and where contacts are redundant
    /// `F` need not vanish.
    pub late_step: usize,
}

/// Of Newton's method on one convex problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexParameters {
    /// Predictions of what sticks, slides and parts before Newton's method goes on alone. A humanoid and an ant that move by random
    /// torques take 8 iterations in the mean without any, 6 with 1, 3.5 with 4; more gain nothing there and a little on the ground.
    pub max_predictions: usize,
    /// The residual up to which a change of friction bounds is so small that the last factor will do for the step after it. Beyond,
    /// constraints may do something else, and are asked what.
    pub reuse_residual: f64,
    /// The step length above which a step counts as whole: only then is its factor used again.
    pub whole_step: f64,
    /// With the cost at round-off, this many iterations that leave more than [`stall_reduction`](Self::stall_reduction) end the
    /// iteration. The gradient is finer than the cost, so one alone may be a last change of region before the residual falls again.
    pub stall_limit: usize,
    /// The share of the least residual so far below which the residual still falls.
    pub stall_reduction: f64,
    /// Steps after which the cost must have fallen below that of the line search which was set aside (the watchdog of Chamberlain,
    /// Powell, Lemaréchal and Pedersen, 1982).
    pub watchdog_steps: usize,
    /// The least share of a contact's normal impulse that the curvature of its friction cone is reckoned with: a model that says that the
    /// contact parts may be wrong. Shares from 0.05 to 0.3 do alike.
    pub min_curvature_share: f64,
    /// Steps of one problem between two paths of continuation; the next path begins from what they reach.
    pub max_steps_between_paths: usize,
}

/// Of line searches. The slope is `dℓ/dα`, relative to that at `α = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSearchParameters {
    /// An exact search ends when the slope has fallen to this fraction, or to its round-off.
    pub exact_slope_fraction: f64,
    /// Wolfe's curvature constant: the same fraction for a search that need not be exact.
    pub wolfe_slope_fraction: f64,
    /// Terms of the slope cancel; its round-off is this fraction of them.
    pub slope_round_off: f64,
    /// Evaluations of an exact search at most. Bisection alone needs 53 halvings to reach round-off of the bracket, and every other step
    /// at worst is one.
    pub max_root_steps: usize,
    /// The ratio of step lengths of the inexact search.
    pub backtracking_ratio: f64,
    /// Trials of the inexact search at most: `0.8^170` is below round-off.
    pub max_backtracks: usize,
    /// Armijo's constant: the decrease of the cost asked for, as a fraction of what the slope predicts.
    pub armijo_fraction: f64,
    /// A decrease of the cost below this fraction of the cost cannot be seen in it.
    pub cost_round_off: f64,
}

/// Of friction iterations. A pass is one convex problem with given bounds of friction; its iterations are factorisations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionIterationParameters {
    /// The residual to which the first problem is solved: its bounds are a guess.
    pub first_tolerance: f64,
    /// Coulomb's law is met when its bounds change the residual by no more than so many times `ε_r`: the problem with the new bounds is
    /// solved to `ε_r`, and the next change would be smaller again.
    pub tolerance_factor: f64,
    /// Where bodies rest, solutions are refined to this fraction of `ε_r`: the next steps start from them, and find them to be the
    /// solution while rounding, creep and the bounds' own error stay below the tolerance.
    pub refinement_fraction: f64,
    /// Passes and steps that may refine a solution: only where that takes few.
    pub max_refinements: usize,
    /// Each pass reduces its residual to this fraction of what the change of bounds made of it, or to `ε_r`.
    pub inexact_reduction: f64,
    /// The same after [`undamped_passes`](Self::undamped_passes), when what inexact problems leave is all that the acceleration sees.
    pub late_inexact_reduction: f64,
    /// Iterations after which the search for a fixed point is given up.
    pub max_iterations: usize,
    /// The same where there are few contacts ([`SemismoothParameters::min_contacts`]) and a path can be followed, which costs little then.
    pub max_iterations_of_few: usize,
    /// The same for a crowd, whose path would be longer than most searches.
    pub max_iterations_of_crowd: usize,
    /// How many more may follow where paths were tried in vain.
    pub max_iterations_after_continuation: usize,
    /// Passes after which the search is given up for a path where there is no crowd, not to go on with old factors for long.
    pub max_passes: usize,
    /// The most passes that callers ask for: [`Options::factorization_budget`](crate::Options::factorization_budget) ends a search before.
    pub max_passes_of_callers: usize,
    /// More constraints than this are a crowd: in falling piles of 216 and 343 bodies passes that go on where a path might be followed
    /// take three quarters to all of its factorisations and half to two thirds of its time, in one of 1000 boxes a tenth or less.
    pub crowd_size: usize,
    /// Passes after which bounds move by [`damped_mixing`](Self::damped_mixing) only: the acceleration has not settled.
    pub undamped_passes: usize,
    /// The share of what was asked by which bounds move then.
    pub damped_mixing: f64,
    /// Acceleration starts anew where the residual grows by more than this factor.
    pub restart_growth: f64,
    /// Steps that Anderson's acceleration remembers.
    pub anderson_depth: usize,
    /// Tikhonov's regularisation of its least squares, over the greatest of the squared lengths.
    pub anderson_regularization: f64,
    /// How often a search that ended at a rough solution begins again because the exact one is farther from Coulomb's law.
    pub max_reopenings: usize,
    /// Steps of semismooth Newton and path continuation after which bounds move by passes alone.
    pub max_search_steps: usize,
}

/// Of semismooth Newton in all velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemismoothParameters {
    /// The fewest contacts; with fewer, plain passes cost less.
    pub min_contacts: usize,
    /// Steps after which the search is given up.
    pub max_steps: usize,
    /// Steps in a row that may leave more than [`stall_reduction`](Self::stall_reduction).
    pub stall_limit: usize,
    /// The share of the least residual so far below which the residual still falls.
    pub stall_reduction: f64,
    /// The residual above which the search ends without a solution.
    pub divergence_residual: f64,
    /// The residual from which on passes need not lead nearer, and steps with the last factor are tried.
    pub near_residual: f64,
    /// Those go on while each leaves no more than this share.
    pub reuse_contraction: f64,
}

/// Of the proximal point method. Softness is `τ`; errors and changes are of impulses, relative to these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalPointParameters {
    /// Constraints from which on it comes before all friction iterations.
    pub min_constraints: usize,
    /// Friction iterations that come before it where there are fewer: falls of 27 boxes take 0.35 ms a step with 5, 0.43 with none.
    pub passes_of_few: usize,
    /// Factorisations after which the search is given up where no budget ends it before.
    pub max_factorizations: usize,
    /// `τ` of the first step.
    pub first_softness: f64,
    /// The least `τ`.
    pub least_softness: f64,
    /// The factor of `τ` after a step of one Newton step. Two falls each of 125 boxes and 125 spheres: with 0.3 131 and 220 of 800 steps
    /// are not converged, with 0.5 14 and 84, with 0.6 11 and 30, with 0.7 12 and 32, with 3 % more factorisations.
    pub fall: f64,
    /// The factor of `τ` after a step that is not accepted.
    pub rise: f64,
    /// Newton steps of a step at most; after so many `τ` doubles.
    pub max_newton_steps: usize,
    /// The share of the change that the error of a step may be.
    pub error_fraction: f64,
    /// What the change of a step may be, as a multiple of that of the last step. With 1.2 nine times as many steps are not converged.
    pub max_growth: f64,
    /// What counts as the change before the first step.
    pub first_change: f64,
    /// What counts as the change at least.
    pub least_change: f64,
    /// The change below which the iterate may meet the law.
    pub near_change: f64,
    /// The share of the least residual so far below which the residual still falls.
    pub stall_reduction: f64,
}

/// Of path continuation. Lengths are along the path, whose direction has unit length in `t` from 0 to 1 and in free velocities relative
/// to the problem's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContinuationParameters {
    /// Factorisations after which the search is given up, between predictions. With steps of 5 ms, falling piles of 125 spheres take 86
    /// in the mean where they search, 125 boxes 21. Of 44000 steps of piles of 27 to 125 bodies, one was given up, which passes lead to
    /// the end now; no other took more than 1313 with its passes.
    pub max_factorizations: usize,
    /// Corrections of one prediction.
    pub max_corrections: usize,
    /// From this correction on they must be smaller than [`late_contraction`](Self::late_contraction) times the first.
    pub free_corrections: usize,
    /// A share of the first correction.
    pub late_contraction: f64,
    /// A correction that is not smaller than this share of the one before is damped: corrections go to and fro between both sides of a
    /// corner.
    pub contraction_limit: f64,
    /// The share of itself by which it is taken back.
    pub damping: f64,
    /// A correction this small, as a share of `z`, is the last. In 291 steps of falling piles that take 70 factorisations or more, with
    /// 146 searches, the first path leads to the end in 139, with 0.01 in 127, with 0.001 in 136; both take 4 % more factorisations.
    pub correction_tolerance: f64,
    /// Corrections up to which the next step is longer by [`step_growth`](Self::step_growth), but for a step after a failure.
    pub few_corrections: usize,
    /// A factor of the length after few corrections.
    pub step_growth: f64,
    /// A factor of the length after a failure.
    pub step_shrinkage: f64,
    /// Steps shorter than this do not pay: there is a corner.
    pub min_step: f64,
    /// The length of the first step from a corner on.
    pub step_after_branch_point: f64,
    /// A path is given up after more corners than this without a step between them.
    pub max_branch_points: usize,
    /// A path is given up after more turns sharper than a right angle.
    pub max_turning_points: usize,
    /// Steps longer than this after which the path seems to go back have left it for another part of it.
    pub min_reversing_step: f64,
    /// By how much of itself a bound may move before another path begins from it. In trials on the 68 hardest of these steps 0 gave up
    /// four, 0.03, 0.05 and 0.1 none, 0.2 two.
    pub perturbation: f64,
    /// The least of a path that the first step of another one goes: ten times the shortest step.
    pub min_restart_step: f64,
    /// The most of it.
    pub max_restart_step: f64,
    /// Steps this short go on along the path if they might have ended it but Newton's method does not find the end: the path may turn.
    pub near_end: f64,
    /// From this far before the end it is corrected, as other points are, before Newton's method looks for it again.
    pub at_end: f64,
}

/// Of the choice between factorisations, of problems of matrices ([`Problem`](crate::Problem)) above all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorizationParameters {
    /// Velocities up to which a dense factor costs less than finding out about sparsity.
    pub max_small: usize,
    /// The share of entries of `H` that are not zero from which on it is factored as a dense matrix.
    pub min_dense_fill: f64,
    /// The most velocities of a connected part of `A` that is factored as a dense matrix for the Delassus operator: 2 MB.
    pub max_dense_part: usize,
    /// The size from which on a dense matrix of full profile is factored by faer, whose blocking pays there.
    pub min_blocked: usize,
    /// `A` counts as symmetric if `|A_ij − A_ji|` is within this fraction of `√(A_ii A_jj)`.
    pub asymmetry: f64,
}

impl SolverParameters {
    /// What the solver works with.
    pub const STANDARD: SolverParameters = SolverParameters {
        contact_space: ContactSpaceParameters {
            max_rows: 108,
            max_steps: 12,
            max_steps_of_many_rows: 8,
            many_rows: 48,
            max_steps_from_afar: 100,
            scaling: 2.0,
            scaling_growth: 3.0,
            cycle_length: 6,
            evaluation_excess: 1e-3,
            round_off: 8.0 * f64::EPSILON,
            exact_fraction: 1e-3,
            exact_excess_fraction: 1e-7,
            late_step: 4,
        },
        convex: ConvexParameters {
            max_predictions: 6,
            reuse_residual: 1e-2,
            whole_step: 0.9,
            stall_limit: 3,
            stall_reduction: 0.5,
            watchdog_steps: 3,
            min_curvature_share: 0.1,
            max_steps_between_paths: 30,
        },
        line_search: LineSearchParameters {
            exact_slope_fraction: 1e-8,
            wolfe_slope_fraction: 0.5,
            slope_round_off: 8.0 * f64::EPSILON,
            max_root_steps: 200,
            backtracking_ratio: 0.8,
            max_backtracks: 170,
            armijo_fraction: 1e-4,
            cost_round_off: 4.0 * f64::EPSILON,
        },
        friction_iterations: FrictionIterationParameters {
            first_tolerance: 1e-2,
            tolerance_factor: 100.0,
            refinement_fraction: 0.1,
            max_refinements: 12,
            inexact_reduction: 0.1,
            late_inexact_reduction: 0.03,
            max_iterations: 100,
            max_iterations_of_few: 25,
            max_iterations_of_crowd: 1000,
            max_iterations_after_continuation: 3000,
            max_passes: 40,
            max_passes_of_callers: 5000,
            crowd_size: 400,
            undamped_passes: 12,
            damped_mixing: 0.5,
            restart_growth: 2.0,
            anderson_depth: 5,
            anderson_regularization: 1e-12,
            max_reopenings: 10,
            max_search_steps: 30,
        },
        semismooth: SemismoothParameters {
            min_contacts: 32,
            max_steps: 10,
            stall_limit: 3,
            stall_reduction: 0.5,
            divergence_residual: 0.9,
            near_residual: 1e-2,
            reuse_contraction: 0.5,
        },
        proximal_point: ProximalPointParameters {
            min_constraints: 128,
            passes_of_few: 5,
            max_factorizations: 300,
            first_softness: 0.1,
            least_softness: 1e-7,
            fall: 0.6,
            rise: 10.0,
            max_newton_steps: 3,
            error_fraction: 0.5,
            max_growth: 2.0,
            first_change: 0.5,
            least_change: 1e-3,
            near_change: 0.03,
            stall_reduction: 0.5,
        },
        continuation: ContinuationParameters {
            max_factorizations: 1500,
            max_corrections: 12,
            free_corrections: 5,
            late_contraction: 0.5,
            contraction_limit: 0.9,
            damping: 0.3,
            correction_tolerance: 3e-3,
            few_corrections: 3,
            step_growth: 2.0,
            step_shrinkage: 0.4,
            min_step: 1e-3,
            step_after_branch_point: 1e-2,
            max_branch_points: 2,
            max_turning_points: 1,
            min_reversing_step: 2e-3,
            perturbation: 0.05,
            min_restart_step: 1e-2,
            max_restart_step: 0.25,
            near_end: 0.1,
            at_end: 5e-3,
        },
        factorization: FactorizationParameters {
            max_small: 40,
            min_dense_fill: 0.5,
            max_dense_part: 512,
            min_blocked: 200,
            asymmetry: 1e-9,
        },
    };
}
