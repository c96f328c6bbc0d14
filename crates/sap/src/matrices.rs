use crate::{Error, Factorization, FrictionLaw, Kind, Options, Problem, ProblemSolution, Report, SparseMatrix};

/// A contact problem of plain matrices, all slices row-major: `n_v` velocities, `n_c` contacts.
#[derive(Clone, Copy, Debug)]
pub struct MatrixProblem<'a> {
    /// `A`, n_v × n_v, symmetric positive definite.
    pub a: &'a [f64],
    /// `v*`, n_v.
    pub v_star: &'a [f64],
    /// `J`, 3 n_c × n_v; rows of each contact: t1, t2, n.
    pub j: &'a [f64],
    /// Friction coefficients `μ ≥ 0`, n_c.
    pub mu: &'a [f64],
    /// Tangential regularisations `R_t > 0`, n_c.
    pub r_t: &'a [f64],
    /// Normal regularisations `R_n > 0`, n_c.
    pub r_n: &'a [f64],
    /// Normal biases `v̂_n`, n_c.
    pub vn_hat: &'a [f64],
}

/// The solution of a [`MatrixProblem`].
#[derive(Clone, Debug)]
pub struct MatrixSolution {
    /// `v`, n_v.
    pub v: Vec<f64>,
    /// `γ`, 3 n_c: t1, t2, n of each contact.
    pub impulses: Vec<f64>,
    /// What the solve did.
    pub report: Report,
}

/// Solves a problem of plain matrices, from `v*` as the guess.
///
/// # Errors
/// [`Error::Dimension`] and [`Error::Value`] name the argument that does not fit or holds a value that is not allowed; then those
/// of [`solve`](crate::solve).
pub fn solve_matrices(problem: &MatrixProblem, options: &Options) -> Result<MatrixSolution, Error> {
    check_dimensions(problem)?;
    check_values(problem)?;
    let nv = problem.v_star.len();
    let mut constraints = Problem::new(SparseMatrix::from_dense("A", nv, nv, problem.a)?, problem.v_star.to_vec())?;
    let contacts: Vec<Kind> = (0..problem.mu.len())
        .map(|k| Kind::Contact {
            mu: problem.mu[k],
            r_t: Some(problem.r_t[k]),
            r_n: Some(problem.r_n[k]),
            v_hat: [0.0, 0.0, problem.vn_hat[k]],
            normal_impulse: None,
        })
        .collect();
    constraints.push(&contacts, &SparseMatrix::from_dense("J", 3 * contacts.len(), nv, problem.j)?)?;
    let ProblemSolution { v, impulses, report, .. } =
        constraints.solve(FrictionLaw::Sap, Factorization::Sparse, options, None)?;
    Ok(MatrixSolution { v, impulses, report })
}

fn check_dimensions(problem: &MatrixProblem) -> Result<(), Error> {
    let nv = problem.v_star.len();
    let nc = problem.mu.len();
    for (argument, found, expected) in [
        ("A", problem.a.len(), nv * nv),
        ("J", problem.j.len(), 3 * nc * nv),
        ("R_t", problem.r_t.len(), nc),
        ("R_n", problem.r_n.len(), nc),
        ("vn_hat", problem.vn_hat.len(), nc),
    ] {
        if found != expected {
            return Err(Error::Dimension { argument, found, expected });
        }
    }
    Ok(())
}

fn check_values(problem: &MatrixProblem) -> Result<(), Error> {
    let finite: fn(f64) -> bool = f64::is_finite;
    let positive: fn(f64) -> bool = |x| x > 0.0 && x.is_finite() && (1.0 / x).is_finite();
    let nonnegative: fn(f64) -> bool = |x| x >= 0.0 && x.is_finite();
    for (argument, values, allowed, expected) in [
        ("A", problem.a, finite, "a finite value"),
        ("v_star", problem.v_star, finite, "a finite value"),
        ("J", problem.j, finite, "a finite value"),
        ("mu", problem.mu, nonnegative, "a finite value ≥ 0"),
        ("R_t", problem.r_t, positive, "a finite value > 0"),
        ("R_n", problem.r_n, positive, "a finite value > 0"),
        ("vn_hat", problem.vn_hat, finite, "a finite value"),
    ] {
        if let Some(index) = values.iter().position(|&x| !allowed(x)) {
            let message = format!("entry {index} is {}, expected {expected}", values[index]);
            return Err(Error::Value { argument, message });
        }
    }
    Ok(())
}
