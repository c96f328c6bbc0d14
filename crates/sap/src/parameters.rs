//! All tolerances and limits that steer the solver, strategy by strategy.
//!
//! They are the method's own, the same for every problem; what a caller may choose is in [`Options`](crate::Options), which has the
//! tolerance `ε_r` that some of them are relative to. None has a scale of its own: residuals and lengths are relative to those of the
//! problem, and everything else is a count. Sizes of registers, tiles and panels are with the code that is cut to them.
//!
//! Residuals are relative to momentum, as [`Report::residual`](crate::Report::residual) is; a step of any strategy is one
//! factorisation unless it says otherwise. How the strategies follow each other: `coulomb.rs`, and `docs/design/contact-solver.md` for
//! what was measured.

/// Declares structures of parameters, each of which has `STANDARD`, what the solver works with.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty = $value:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl $name {
            /// What the solver works with.
            pub const STANDARD: Self = Self { $($field: $value),* };
        }
    )*};
}

parameters! {
    /// The parameters of every strategy.
    SolverParameters {
        /// Coulomb's law is met where impulses are off by no more than so many times `ε_r`: a problem whose bounds of friction are off by as much
        /// is solved to `ε_r`.
        friction_tolerance_factor: f64 = 100.0,
        /// What is round-off of a sum of terms that cancel, as a fraction of these: the slope of a line search, `|F|` of semismooth Newton beside
        /// `√(v*ᵀ A v*)`. No step leads nearer.
        round_off: f64 = 8.0 * f64::EPSILON,
        /// Where residuals of any method cease to fall.
        stall: StallParameters = StallParameters::STANDARD,
        /// Semismooth Newton, and what it takes in contact space.
        contact_space: ContactSpaceParameters = ContactSpaceParameters::STANDARD,
        /// Newton's method from every mode of few constraints.
        modes: ModesParameters = ModesParameters::STANDARD,
        /// Newton's method on one convex problem.
        convex: ConvexParameters = ConvexParameters::STANDARD,
        /// The interior point method that goes before it.
        interior_point: InteriorPointParameters = InteriorPointParameters::STANDARD,
        /// Its line search.
        line_search: LineSearchParameters = LineSearchParameters::STANDARD,
        /// What it takes in all velocities.
        semismooth: SemismoothParameters = SemismoothParameters::STANDARD,
        /// The proximal point method.
        proximal_point: ProximalPointParameters = ProximalPointParameters::STANDARD,
        /// The choice between factorisations.
        factorization: FactorizationParameters = FactorizationParameters::STANDARD,
    }

    /// Of what falls from step to step.
    StallParameters {
        /// Steps in a row that may leave more than [`reduction`](Self::reduction). One alone may be a last change of region before the residual
        /// falls again.
        limit: usize = 3,
        /// The share of the least residual so far below which the residual still falls.
        reduction: f64 = 0.5,
    }

    /// Of semismooth Newton, in [`ContactSpace`](crate::ContactSpace) above all. `F` is the excess of velocities whose root is the solution; `|F|` is measured relative to
    /// `√(v*ᵀ A v*)`.
    ContactSpaceParameters {
        /// The most rows: of 18 contacts with torsional friction, a third of whose rows never push.
        max_rows: usize = 108,
        /// Steps after which the proximal point method takes over: robots in motion take 3 in the mean, and what has not settled by then seldom
        /// does.
        max_steps: usize = 12,
        /// The same of more than [`many_rows`](Self::many_rows), where a step costs as much as one of the global solver: what converges mostly does
        /// in 8.
        max_steps_of_many_rows: usize = 8,
        /// Those of 16 contacts. Problems of matrices are solved otherwise from there on.
        many_rows: usize = 48,
        /// Factorisations of the proximal point method, with those of Newton's method before it, after which the problem is left to the
        /// global solver. Of the 3,300 problems of a hand and a gripper that it solves, half take 20 and 25 at most, 99 of 100 62 and 82.
        max_proximal_steps: usize = 100,
        /// `w` relative to the constraint's own share of `W`: neighbours resist as well. Of 4180 problems of a humanoid and a dog that walk
        /// and run, 48 are given up with 1, 44 with 2, 46 with 3.
        scaling: f64 = 2.0,
        /// The factor by which `w` grows where the iteration cycles: another `w` leads elsewhere.
        scaling_growth: f64 = 3.0,
        /// Steps after which it grows: lanes keep no history, and what has not settled by then cycles.
        cycle_length: usize = 6,
        /// `|F|` above which no law is evaluated at `v_c`: the gradient is greater still.
        evaluation_excess: f64 = 1e-3,
        /// The share of `ε_r` from which on a solution is not refined by another step. Near a solution a step squares the error, and whoever
        /// controls the error of steps is not to see that of the solver.
        exact_fraction: f64 = 1e-3,
        /// The same for `|F|`, relative to velocities and to `ε_r`. The gradient is greater by `w/R` of near-rigid contacts, 4,000
        /// at the default β.
        exact_excess_fraction: f64 = 1e-7,
        /// Steps from which on `ε_r` itself is enough: fast convergence is far below it by then, and where contacts are redundant
        /// `F` need not vanish.
        late_step: usize = 4,
    }

    /// Of Newton's method from every combination of modes.
    ModesParameters {
        /// Combinations above which none is tried: four contacts have 256.
        max_combinations: usize = 256,
        /// Steps from each.
        max_steps: usize = 4,
    }

    /// Of Newton's method on one convex problem.
    ConvexParameters {
        /// Steps of semismooth Newton, which predicts what sticks, slides and parts, before Newton's method goes on alone. A humanoid and an ant
        /// that move by random torques take 8 iterations in the mean without any, 6 with 1, 3.5 with 4; more gain nothing there and a little on
        /// the ground.
        max_predictions: usize = 6,
        /// Steps with known bounds of friction, where semismooth Newton has not found this step's: what is jammed takes three, what comes to be
        /// jammed ten or twenty.
        max_steps_of_known_bounds: usize = 32,
        /// How many bounds are tried so, each from the solution with the last.
        max_known_bounds: usize = 30,
        /// Rows over velocities above which bodies may be jammed: a pile has two or three.
        rows_of_jams: usize = 4,
        /// The step length above which a step counts as whole: only then is its factor used again.
        whole_step: f64 = 0.9,
        /// Steps after which the cost must have fallen below that of the line search which was set aside (the watchdog of Chamberlain,
        /// Powell, Lemaréchal and Pedersen, 1982).
        watchdog_steps: usize = 3,
        /// The least share of a contact's normal impulse that the curvature of its friction cone is reckoned with: a model that says that the
        /// contact parts may be wrong. Shares from 0.05 to 0.3 do alike.
        min_curvature_share: f64 = 0.1,
    }

    /// Of the interior point method.
    InteriorPointParameters {
        /// Constraints from which on it is tried, where they have as many rows as bodies that may be jammed.
        min_constraints: usize = 2000,
        /// Velocities from which a factor of all costs more than the many products with it that friction takes.
        dear_factor: usize = 3000,
        /// `μ` of the start, relative to the energy that violated constraints alone would have.
        first_mu: f64 = 1e3,
        /// The method ends where `Σ γ s` is this share of `Σ γ R γ`.
        end: f64 = 3e-4,
        /// Steps at most.
        max_steps: usize = 60,
        /// The share of the way to where the first impulse or slack vanishes.
        to_boundary: f64 = 0.99,
        /// What conjugate gradients leave of a step, in the norm of the preconditioner.
        tolerance: f64 = 5e-2,
        /// Their products at most.
        max_products: usize = 50,
    }

    /// Of the line search. The slope is `dℓ/dα`, relative to that at `α = 0`.
    LineSearchParameters {
        /// The search ends when the slope has fallen to this fraction, or to its round-off.
        slope_fraction: f64 = 1e-8,
        /// Evaluations of a search at most. Bisection alone needs 53 halvings to reach round-off of the bracket, and every other step
        /// at worst is one.
        max_root_steps: usize = 200,
        /// Armijo's constant: the decrease of the cost asked for, as a fraction of what the slope predicts.
        armijo_fraction: f64 = 1e-4,
        /// A decrease of the cost below this fraction of the cost cannot be seen in it.
        cost_round_off: f64 = 4.0 * f64::EPSILON,
    }

    /// Of semismooth Newton in all velocities.
    SemismoothParameters {
        /// The residual above which the search ends without a solution.
        divergence_residual: f64 = 0.9,
        /// The residual from which on steps with the last factor are tried, while the residual falls.
        near_residual: f64 = 1e-2,
    }

    /// Of the proximal point method. Softness is `τ`; errors and changes are of impulses, relative to these.
    ProximalPointParameters {
        /// Factorisations after which the method starts elsewhere where no budget ends it before. With 300 one of 200 steps of 27 falling
        /// spheres spends the budget of its island.
        max_factorizations: usize = 100,
        /// The same where it has started everywhere.
        max_factorizations_of_last: usize = 300,
        /// `τ` of the first step.
        first_softness: f64 = 0.1,
        /// The least `τ`.
        least_softness: f64 = 1e-7,
        /// The factor of `τ` after a step of one Newton step. Two falls each of 125 boxes and 125 spheres: with 0.3 131 and 220 of 800 steps
        /// are not converged, with 0.5 14 and 84, with 0.6 11 and 30, with 0.7 12 and 32, with 3 % more factorisations.
        fall: f64 = 0.6,
        /// The factor of `τ` after a step that is not accepted.
        rise: f64 = 10.0,
        /// Newton steps of a step at most; after so many `τ` doubles.
        max_newton_steps: usize = 3,
        /// The share of the change that the error of a step may be.
        error_fraction: f64 = 0.5,
        /// `τ` below which Newton's method for the law itself is tried first.
        first_trial_softness: f64 = 4e-3,
        /// The share of `τ` at a trial below which the next one is made.
        trial_fall: f64 = 0.1,
        /// Steps of a trial at most.
        max_trial_steps: usize = 8,
        /// What the change of a step may be, as a multiple of that of the last step. With 1.2 nine times as many steps are not converged.
        max_growth: f64 = 2.0,
        /// What counts as the change before the first step.
        first_change: f64 = 0.5,
        /// What counts as the change at least.
        least_change: f64 = 1e-3,
        /// The change below which the iterate may meet the law.
        near_change: f64 = 0.03,
    }

    /// Of problems of matrices ([`Problem`](crate::Problem)).
    FactorizationParameters {
        /// The most velocities of a connected part of `A` that is factored for the shares that constraints have of the Delassus operator.
        max_factored_part: usize = 512,
        /// `A` counts as symmetric if `|A_ij − A_ji|` is within this fraction of `√(A_ii A_jj)`.
        asymmetry: f64 = 1e-9,
    }
}
