/// How a step length is found along a Newton direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// The minimiser on the way to the whole step, `0 < α ≤ 1`: the root of `dℓ/dα` by Newton safeguarded with bisection.
    #[default]
    Exact,
    /// The same search, ended where Wolfe's conditions hold: `|dℓ/dα|` down to half of its value at `α = 0` and the cost down
    /// by Armijo's fraction. Fewer evaluations for about as many iterations.
    Wolfe,
    /// Backtracking `α = 0.8^m` to Armijo's decrease, `c = 1e-4`.
    Inexact,
}

/// Parameters of [`solve`](crate::solve).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// `ε_r`: the solution has `‖D∇ℓ‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖)`, `D = diag(A)^{-1/2}`. Default 1e-6.
    pub tolerance: f64,
    /// `ε_a`, in √J (the square root of energy). Default 1e-14.
    pub absolute_tolerance: f64,
    /// Newton iterations of one convex problem after which the solve gives up with an error. With other bounds of friction it is
    /// another problem. Default 300.
    pub max_iterations: usize,
    /// Factorisations that the search for Coulomb's law ([`max_friction_iterations`](Self::max_friction_iterations)) may spend, whatever it spends them on: all
    /// problems, semismooth Newton steps and path continuation count. Then the best friction bounds found so far are taken and the
    /// convex problem with these bounds is solved to the tolerance, which takes some factorisations more;
    /// [`Report::friction_residual`] says what is left. `None`: until the search succeeds or has tried everything, which takes up
    /// to about 5500 factorisations. Default 100.
    pub factorization_budget: Option<usize>,
    /// How many problems may be solved for Coulomb's law, each with its bounds of friction ([`BoundedFrictionContact`](crate::BoundedFrictionContact),
    /// [`SpinFriction`](crate::SpinFriction)) from the normal impulses of the one before; the last change of bounds moves the residual by no more
    /// than 100 times the tolerance. After 40 of them, or fewer, a path is tried where there are no more than 400 constraints.
    /// Default 1: the bounds stay as they are given.
    pub max_friction_iterations: usize,
    /// Default exact.
    pub line_search: LineSearch,
    /// Whether the guess is probably the solution, as where bodies rest: it is looked at before `v*`. Costs an evaluation where it is
    /// not. Default false.
    pub expects_guess: bool,
    /// Whether a solution that meets Coulomb's law is refined to a tenth of the tolerance where that takes few more passes. Where
    /// bodies rest, the next steps start from it, and have nothing to do while it stays within the tolerance. Default false.
    pub refines: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tolerance: 1e-6,
            absolute_tolerance: 1e-14,
            max_iterations: 300,
            factorization_budget: Some(100),
            max_friction_iterations: 1,
            line_search: LineSearch::Exact,
            expects_guess: false,
            refines: false,
        }
    }
}

/// Which test ended the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// No constraint pushes at `v*`, which is then the solution, bit for bit.
    Unconstrained,
    /// The gradient is below the tolerance.
    Gradient,
    /// The convex problem is solved, but with friction bounds that are not the contacts' own normal impulses:
    /// [`Options::factorization_budget`] or [`Options::max_friction_iterations`] ran out. [`Report::friction_residual`] says how far off they are.
    FrictionBounds,
    /// The decrease of the cost, predicted and achieved, is round-off, and the gradient no longer falls.
    RoundOff,
}

/// What led to the solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// No constraint pushes at `v*`.
    #[default]
    Unconstrained,
    /// The guess was the solution, or so near that Newton's method led there with the friction bounds that it has.
    InitialGuess,
    /// Semismooth Newton in contact space ([`ContactSpace`](crate::ContactSpace)).
    ContactSpace,
    /// Newton's method on one convex problem.
    Newton,
    /// Convex problems whose friction bounds follow their own normal impulses.
    FrictionIterations,
    /// Semismooth Newton in all velocities, for friction bounds and velocities at once.
    SemismoothNewton,
    /// The proximal point method, each step by semismooth Newton.
    ProximalPoint,
    /// A path of solutions, followed from a convex problem to Coulomb's law.
    Continuation,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Factorisations: predictions and Newton iterations, those for Coulomb's law among them, but for such as could do with the last
    /// factor.
    pub iterations: usize,
    /// Evaluations of the constraints in line searches and after steps of Newton's method for Coulomb's law.
    pub line_search_evaluations: usize,
    /// `‖D∇ℓ‖ / max(‖D A v‖, ‖D Jᵀγ‖)`; where the second alone meets the tolerance, the first may be left out.
    pub residual: f64,
    /// Changes of the bounds of friction; a search for Coulomb's law that succeeds is one.
    pub friction_iterations: usize,
    /// How far the solution is from Coulomb's law, as [`friction_residual`](crate::friction_residual()) measures it; 0 where
    /// [`Options::max_friction_iterations`] do not ask for that law.
    pub friction_residual: f64,
    /// `ℓ_p` at the solution.
    pub cost: f64,
    /// Which test ended the iteration.
    pub criterion: Criterion,
    /// What led to the solution; where the bounds of friction did not converge, what moved them last.
    pub strategy: Strategy,
}

impl Report {
    /// Of a problem in which no constraint pushes at `v*`.
    pub(crate) fn unconstrained() -> Report {
        Report {
            iterations: 0,
            line_search_evaluations: 0,
            residual: 0.0,
            friction_iterations: 0,
            friction_residual: 0.0,
            cost: 0.0,
            criterion: Criterion::Unconstrained,
            strategy: Strategy::Unconstrained,
        }
    }
}
