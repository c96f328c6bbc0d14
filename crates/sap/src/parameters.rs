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
    /// Coulomb's law is met where impulses are off by no more than so many times `ε_r`: a problem whose bounds of friction are off by as much
    /// is solved to `ε_r`.
    pub friction_tolerance_factor: f64,
    /// What is round-off of a sum of terms that cancel, as a fraction of these: the slope of a line search, `|F|` of semismooth Newton beside
    /// `√(v*ᵀ A v*)`. No step leads nearer.
    pub round_off: f64,
    /// Where residuals of any method cease to fall.
    pub stall: StallParameters,
    /// Semismooth Newton, and what it takes in contact space.
    pub contact_space: ContactSpaceParameters,
    /// Newton's method from every mode of few constraints.
    pub modes: ModesParameters,
    /// Newton's method on one convex problem.
    pub convex: ConvexParameters,
    /// Its line search.
    pub line_search: LineSearchParameters,
    /// What it takes in all velocities.
    pub semismooth: SemismoothParameters,
    /// The proximal point method.
    pub proximal_point: ProximalPointParameters,
    /// The choice between factorisations.
    pub factorization: FactorizationParameters,
}

/// Of what falls from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StallParameters {
    /// Steps in a row that may leave more than [`reduction`](Self::reduction). One alone may be a last change of region before the residual
    /// falls again.
    pub limit: usize,
    /// The share of the least residual so far below which the residual still falls.
    pub reduction: f64,
}

/// Of semismooth Newton, in [`ContactSpace`](crate::ContactSpace) above all. `F` is the excess of velocities whose root is the solution; `|F|` is measured relative to
/// `√(v*ᵀ A v*)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSpaceParameters {
    /// The most rows: of 18 contacts with torsional friction, a third of whose rows never push.
    pub max_rows: usize,
    /// Steps after which the proximal point method takes over: robots in motion take 3 in the mean, and what has not settled by then seldom
    /// does.
    pub max_steps: usize,
    /// The same of more than [`many_rows`](Self::many_rows), where a step costs as much as one of the global solver: what converges mostly does
    /// in 8.
    pub max_steps_of_many_rows: usize,
    /// Those of 16 contacts. Problems of matrices are solved otherwise from there on.
    pub many_rows: usize,
    /// Factorisations of the proximal point method, with those of Newton's method before it, after which the problem is left to the
    /// global solver. Of the 3,300 problems of a hand and a gripper that it solves, half take 20 and 25 at most, 99 of 100 62 and 82.
    pub max_proximal_steps: usize,
    /// `w` relative to the constraint's own share of `W`: neighbours resist as well. Of 4180 problems of a humanoid and a dog that walk
    /// and run, 48 are given up with 1, 44 with 2, 46 with 3.
    pub scaling: f64,
    /// The factor by which `w` grows where the iteration cycles: another `w` leads elsewhere.
    pub scaling_growth: f64,
    /// Steps after which it grows: lanes keep no history, and what has not settled by then cycles.
    pub cycle_length: usize,
    /// `|F|` above which no law is evaluated at `v_c`: the gradient is greater still.
    pub evaluation_excess: f64,
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

/// Of Newton's method from every combination of modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModesParameters {
    /// Combinations above which none is tried: four contacts have 256.
    pub max_combinations: usize,
    /// Steps from each.
    pub max_steps: usize,
}

/// Of Newton's method on one convex problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexParameters {
    /// Steps of semismooth Newton, which predicts what sticks, slides and parts, before Newton's method goes on alone. A humanoid and an ant
    /// that move by random torques take 8 iterations in the mean without any, 6 with 1, 3.5 with 4; more gain nothing there and a little on
    /// the ground.
    pub max_predictions: usize,
    /// Steps with known bounds of friction, where semismooth Newton has not found this step's: what is jammed takes three, what comes to be
    /// jammed ten or twenty.
    pub max_steps_of_known_bounds: usize,
    /// How many bounds are tried so, each from the solution with the last.
    pub max_known_bounds: usize,
    /// Rows over velocities above which bodies may be jammed: a pile has two or three.
    pub rows_of_jams: usize,
    /// The step length above which a step counts as whole: only then is its factor used again.
    pub whole_step: f64,
    /// Steps after which the cost must have fallen below that of the line search which was set aside (the watchdog of Chamberlain,
    /// Powell, Lemaréchal and Pedersen, 1982).
    pub watchdog_steps: usize,
    /// The least share of a contact's normal impulse that the curvature of its friction cone is reckoned with: a model that says that the
    /// contact parts may be wrong. Shares from 0.05 to 0.3 do alike.
    pub min_curvature_share: f64,
}

/// Of the line search. The slope is `dℓ/dα`, relative to that at `α = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSearchParameters {
    /// The search ends when the slope has fallen to this fraction, or to its round-off.
    pub slope_fraction: f64,
    /// Evaluations of a search at most. Bisection alone needs 53 halvings to reach round-off of the bracket, and every other step
    /// at worst is one.
    pub max_root_steps: usize,
    /// Armijo's constant: the decrease of the cost asked for, as a fraction of what the slope predicts.
    pub armijo_fraction: f64,
    /// A decrease of the cost below this fraction of the cost cannot be seen in it.
    pub cost_round_off: f64,
}

/// Of semismooth Newton in all velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemismoothParameters {
    /// The residual above which the search ends without a solution.
    pub divergence_residual: f64,
    /// The residual from which on steps with the last factor are tried, while the residual falls.
    pub near_residual: f64,
}

/// Of the proximal point method. Softness is `τ`; errors and changes are of impulses, relative to these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalPointParameters {
    /// Factorisations after which the method starts elsewhere where no budget ends it before. With 300 one of 200 steps of 27 falling
    /// spheres spends the budget of its island.
    pub max_factorizations: usize,
    /// The same where it has started everywhere.
    pub max_factorizations_of_last: usize,
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
    /// `τ` below which Newton's method for the law itself is tried first.
    pub first_trial_softness: f64,
    /// The share of `τ` at a trial below which the next one is made.
    pub trial_fall: f64,
    /// Steps of a trial at most.
    pub max_trial_steps: usize,
    /// What the change of a step may be, as a multiple of that of the last step. With 1.2 nine times as many steps are not converged.
    pub max_growth: f64,
    /// What counts as the change before the first step.
    pub first_change: f64,
    /// What counts as the change at least.
    pub least_change: f64,
    /// The change below which the iterate may meet the law.
    pub near_change: f64,
}

/// Of problems of matrices ([`Problem`](crate::Problem)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorizationParameters {
    /// The most velocities of a connected part of `A` that is factored for the shares that constraints have of the Delassus operator.
    pub max_factored_part: usize,
    /// `A` counts as symmetric if `|A_ij − A_ji|` is within this fraction of `√(A_ii A_jj)`.
    pub asymmetry: f64,
}

impl SolverParameters {
    /// What the solver works with.
    pub const STANDARD: SolverParameters = SolverParameters {
        friction_tolerance_factor: 100.0,
        round_off: 8.0 * f64::EPSILON,
        stall: StallParameters { limit: 3, reduction: 0.5 },
        contact_space: ContactSpaceParameters {
            max_rows: 108,
            max_steps: 12,
            max_steps_of_many_rows: 8,
            many_rows: 48,
            max_proximal_steps: 100,
            scaling: 2.0,
            scaling_growth: 3.0,
            cycle_length: 6,
            evaluation_excess: 1e-3,
            exact_fraction: 1e-3,
            exact_excess_fraction: 1e-7,
            late_step: 4,
        },
        modes: ModesParameters { max_combinations: 256, max_steps: 4 },
        convex: ConvexParameters {
            max_predictions: 6,
            max_steps_of_known_bounds: 32,
            max_known_bounds: 30,
            rows_of_jams: 4,
            whole_step: 0.9,
            watchdog_steps: 3,
            min_curvature_share: 0.1,
        },
        line_search: LineSearchParameters {
            slope_fraction: 1e-8,
            max_root_steps: 200,
            armijo_fraction: 1e-4,
            cost_round_off: 4.0 * f64::EPSILON,
        },
        semismooth: SemismoothParameters { divergence_residual: 0.9, near_residual: 1e-2 },
        proximal_point: ProximalPointParameters {
            max_factorizations: 100,
            max_factorizations_of_last: 300,
            first_softness: 0.1,
            least_softness: 1e-7,
            fall: 0.6,
            rise: 10.0,
            max_newton_steps: 3,
            error_fraction: 0.5,
            first_trial_softness: 4e-3,
            trial_fall: 0.1,
            max_trial_steps: 8,
            max_growth: 2.0,
            first_change: 0.5,
            least_change: 1e-3,
            near_change: 0.03,
        },
        factorization: FactorizationParameters { max_factored_part: 512, asymmetry: 1e-9 },
    };
}
