use crate::{ConeContact, Dense, Error, Options, Report, Structure, Workspace, solve};

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

/// `A` counts as symmetric if `|A_ij − A_ji|` is within this fraction of `√(A_ii A_jj)`.
const ASYMMETRY: f64 = 1e-9;

/// Solves a problem of plain matrices, from `v*` as the guess.
///
/// # Errors
/// [`Error::Dimension`] and [`Error::Value`] name the argument that does not fit or holds a value that is not allowed; then those
/// of [`solve`].
pub fn solve_matrices(problem: &MatrixProblem, options: &Options) -> Result<MatrixSolution, Error> {
    check_dimensions(problem)?;
    check_values(problem)?;
    let mut dense = Dense::new();
    fill_a(problem, &mut dense)?;
    fill_j(problem, &mut dense)?;
    let mut constraints = Vec::with_capacity(problem.mu.len());
    for k in 0..problem.mu.len() {
        let contact = ConeContact::new(problem.mu[k], problem.r_t[k], problem.r_n[k], problem.vn_hat[k]);
        constraints.push(contact.into());
    }
    let mut v = problem.v_star.to_vec();
    let mut ws = Workspace::new();
    let report = solve(&mut dense, &constraints, problem.v_star, &mut v, options, &mut ws)?;
    Ok(MatrixSolution { v, impulses: ws.impulses().to_vec(), report })
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

/// Checks that `A` is symmetric positive definite and sets it, block by block.
fn fill_a(problem: &MatrixProblem, dense: &mut Dense) -> Result<(), Error> {
    let nv = problem.v_star.len();
    let a = |i: usize, j: usize| problem.a[i * nv + j];
    let value_error = |message| Error::Value { argument: "A", message };
    dense.reset(nv);
    // The last row coupled to a column before it ends the block.
    let mut blocks = Vec::new();
    let (mut start, mut end) = (0, 0);
    for j in 0..nv {
        if j == end && j > 0 {
            blocks.push(start..j);
            start = j;
        }
        end = end.max(j + 1);
        for i in j + 1..nv {
            let scale = (a(i, i).abs() * a(j, j).abs()).sqrt();
            if (a(i, j) - a(j, i)).abs() > ASYMMETRY * scale {
                let message =
                    format!("expected a symmetric matrix, found A[{i}, {j}] = {}, A[{j}, {i}] = {}", a(i, j), a(j, i));
                return Err(value_error(message));
            }
            if a(i, j) != 0.0 {
                end = end.max(i + 1);
            }
        }
    }
    if nv > 0 {
        blocks.push(start..nv);
    }
    dense.set_blocks(&blocks)?;
    for (index, block) in blocks.iter().enumerate() {
        let values = dense.a_block_mut(index);
        let n = block.len();
        for j in 0..n {
            for i in j..n {
                values[j * n + i] = a(block.start + i, block.start + j);
            }
        }
    }
    dense.factor(&[], &[]).map_err(|error| {
        value_error(format!("expected a positive definite matrix; the leading block of {} rows is not", error.row + 1))
    })
}

/// Sets `J`, each contact with the columns where it is not zero.
fn fill_j(problem: &MatrixProblem, dense: &mut Dense) -> Result<(), Error> {
    let nv = problem.v_star.len();
    if nv == 0 && !problem.mu.is_empty() {
        return Err(Error::Dimension { argument: "v_star", found: 0, expected: 1 });
    }
    let mut columns = Vec::new();
    let mut values = Vec::new();
    for rows in problem.j.chunks_exact((3 * nv).max(1)) {
        columns.clear();
        columns.extend((0..nv).filter(|&i| (0..3).any(|row| rows[row * nv + i] != 0.0)).map(|i| i as u32));
        if columns.is_empty() {
            columns.push(0);
        }
        values.clear();
        for row in rows.chunks_exact(nv) {
            values.extend(columns.iter().map(|&i| row[i as usize]));
        }
        dense.push_jacobian(&columns, &values)?;
    }
    Ok(())
}
