use crate::FactorError;

/// Why a problem was not solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The iteration cap was reached. The last iterate is in `v` and in the workspace.
    #[error("not converged after {iterations} Newton iterations: the relative residual of momentum is {residual:e}")]
    NotConverged {
        /// Newton iterations done.
        iterations: usize,
        /// Relative residual then, as in [`Report::residual`](crate::Report::residual).
        residual: f64,
    },
    /// The Hessian could not be factored.
    #[error("Newton iteration {iteration}: {source}")]
    Factorization {
        /// The Newton iteration, from 0.
        iteration: usize,
        /// What failed.
        source: FactorError,
    },
    /// Newton's method in contact space, which has no line search, did not converge.
    #[error(
        "not converged in contact space after {iterations} iterations; Newton's method in all velocities has a line search"
    )]
    ContactSpace {
        /// Iterations done.
        iterations: usize,
    },
    /// The structure was told to stop ([`Structure::is_interrupted`](crate::Structure::is_interrupted)).
    #[error("interrupted")]
    Interrupted,
    /// A value is not finite: a NaN or infinity came in, or the problem overflows.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// Which value.
        quantity: &'static str,
    },
    /// An argument has the wrong size.
    #[error("{argument} has {found} entries, expected {expected}")]
    Dimension {
        /// Which argument.
        argument: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits the others.
        expected: usize,
    },
    /// An argument has a value that the problem does not allow.
    #[error("{argument}: {message}")]
    Value {
        /// Which argument.
        argument: &'static str,
        /// What was found where, and what was expected.
        message: String,
    },
}
