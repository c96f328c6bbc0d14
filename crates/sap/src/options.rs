/// What bounds friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLaw {
    /// The friction cone of SAP ([`Law::cone`](crate::Law::cone)): one convex problem; surfaces that slide are pushed apart, by a gap of
    /// about dt μ |v_t| in a simulation.
    #[default]
    Sap,
    /// A given normal impulse, of the step before in a simulation: one convex problem. Slides without a gap; Coulomb's law is missed where
    /// normal forces change, in impacts above all.
    Lagged,
    /// The contact's own normal impulse: Coulomb's law, sliding and in impacts, for about as many Newton iterations.
    Coulomb,
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
    /// Factorisations that the search for Coulomb's law may spend, whatever it spends them on. Then the convex problem with the bounds of
    /// friction that it has come to is solved to the tolerance, which takes some factorisations more; [`Report::friction_residual`] says
    /// what is left. `None`: until the search succeeds or nothing leads nearer, after some 500. Default 100.
    pub factorization_budget: Option<usize>,
    /// What bounds friction ([`Law::bounded_friction`](crate::Law::bounded_friction), [`Law::rolling`](crate::Law::rolling)): under Coulomb's
    /// law the contacts' own normal impulses, else those that are given. Default: given.
    pub friction: FrictionLaw,
    /// Whether the guess is probably the solution, as where bodies rest: it is looked at before `v*`. Costs an evaluation where it is
    /// not. Default false.
    pub expects_guess: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tolerance: 1e-6,
            absolute_tolerance: 1e-14,
            max_iterations: 300,
            factorization_budget: Some(100),
            friction: FrictionLaw::Lagged,
            expects_guess: false,
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
    /// the search spent [`Options::factorization_budget`], or nothing led nearer. [`Report::friction_residual`] says how far off they are.
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
    /// Semismooth Newton in all velocities, for friction bounds and velocities at once.
    SemismoothNewton,
    /// The proximal point method, each step by semismooth Newton.
    ProximalPoint,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Factorisations of all methods, and steps of the interior point method; steps with the last factor are none.
    pub iterations: usize,
    /// Evaluations of the constraints in line searches and after steps of Newton's method for Coulomb's law.
    pub line_search_evaluations: usize,
    /// `‖D∇ℓ‖ / max(‖D A v‖, ‖D Jᵀγ‖)`; where the second alone meets the tolerance, the first may be left out.
    pub residual: f64,
    /// How far the solution is from Coulomb's law, as [`friction_residual`](crate::friction_residual()) measures it; 0 where
    /// [`Options::friction`] does not ask for that law.
    pub friction_residual: f64,
    /// `ℓ_p` at the solution.
    pub cost: f64,
    /// Which test ended the iteration.
    pub criterion: Criterion,
    /// What led to the solution; [`Newton`](Strategy::Newton) where no bounds of friction were found.
    pub strategy: Strategy,
}

impl Report {
    /// Of a problem in which no constraint pushes at `v*`.
    #[must_use]
    pub fn unconstrained() -> Report {
        Report {
            iterations: 0,
            line_search_evaluations: 0,
            residual: 0.0,
            friction_residual: 0.0,
            cost: 0.0,
            criterion: Criterion::Unconstrained,
            strategy: Strategy::Unconstrained,
        }
    }
}
