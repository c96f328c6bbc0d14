//! The shares that constraints have of the Delassus operator `J A⁻¹ Jᵀ` of a sparse `A`.

use crate::{BlockCholesky, Error, SolverParameters, SparseMatrix, Structure, sparse::Sparse};

const MAX_PART: usize = SolverParameters::STANDARD.factorization.max_factored_part;

/// `A` by its connected parts, each with its factor.
pub(crate) struct Delassus {
    /// The part of every velocity, and its place there.
    place: Vec<(u32, u32)>,
    /// None of parts with more than [`MAX_PART`] velocities.
    parts: Vec<Option<BlockCholesky>>,
    /// How many velocities each has.
    sizes: Vec<usize>,
    diagonal: Vec<f64>,
    /// A row of `J` in one part, and `A⁻¹` times it.
    row: Vec<f64>,
    response: Vec<f64>,
}

impl Delassus {
    /// # Errors
    /// [`Error::Value`] if `A`, which is symmetric, is not positive definite.
    pub fn new(a: &SparseMatrix) -> Result<Delassus, Error> {
        let (place, members) = parts(a);
        let diagonal = (0..a.rows()).map(|i| a.entry(i, i)).collect();
        let factors = members.iter().map(|own| factor(a, own, &place)).collect::<Result<Vec<_>, _>>()?;
        if factors.iter().any(Option::is_none) {
            let mut sparse = Sparse::new();
            sparse.reset(a);
            sparse.factor(&[], &[]).map_err(|error| not_definite(error.row))?;
        }
        let sizes = members.iter().map(Vec::len).collect();
        Ok(Delassus { place, parts: factors, sizes, diagonal, row: Vec::new(), response: Vec::new() })
    }

    /// The mean of the diagonal of `J_k A⁻¹ J_kᵀ` for rows with entries in these columns, ascending, row by row; in parts of more than
    /// [`MAX_PART`] velocities `diag(A)⁻¹` stands for `A⁻¹`.
    pub fn share(&mut self, columns: &[u32], values: &[f64]) -> f64 {
        let Self { place, parts, sizes, diagonal, row, response } = self;
        let rows = values.len() / columns.len();
        let mut met: Vec<u32> = columns.iter().map(|column| place[*column as usize].0).collect();
        met.sort_unstable();
        met.dedup();
        let mut sum = 0.0;
        for values in values.chunks_exact(columns.len()) {
            for part in &met {
                let own = || columns.iter().zip(values).filter(|(column, _)| place[**column as usize].0 == *part);
                let Some(factor) = &mut parts[*part as usize] else {
                    sum += own().map(|(column, j)| j * j / diagonal[*column as usize]).sum::<f64>();
                    continue;
                };
                row.clear();
                row.resize(sizes[*part as usize], 0.0);
                response.resize(row.len(), 0.0);
                own().for_each(|(column, j)| row[place[*column as usize].1 as usize] = *j);
                factor.solve(row, response);
                sum += row.iter().zip(&*response).map(|(j, x)| j * x).sum::<f64>();
            }
        }
        sum / rows as f64
    }
}

fn not_definite(row: usize) -> Error {
    let message = format!("expected a positive definite matrix, it is not at row {row}");
    Error::Value { argument: "A", message }
}

/// The part of every velocity with its place there, and the velocities of every part, ascending.
fn parts(a: &SparseMatrix) -> (Vec<(u32, u32)>, Vec<Vec<usize>>) {
    const NONE: u32 = u32::MAX;
    let mut place = vec![(NONE, 0); a.rows()];
    let mut members = Vec::new();
    for start in 0..a.rows() {
        if place[start].0 != NONE {
            continue;
        }
        let part = members.len() as u32;
        let mut own = vec![start];
        place[start].0 = part;
        let mut next = 0;
        while let Some(&i) = own.get(next) {
            next += 1;
            for j in a.row(i).0.iter().map(|j| *j as usize) {
                if place[j].0 == NONE {
                    place[j].0 = part;
                    own.push(j);
                }
            }
        }
        own.sort_unstable();
        own.iter().enumerate().for_each(|(k, i)| place[*i].1 = k as u32);
        members.push(own);
    }
    (place, members)
}

/// The factor of a part, if it is not too large.
fn factor(a: &SparseMatrix, own: &[usize], place: &[(u32, u32)]) -> Result<Option<BlockCholesky>, Error> {
    let n = own.len();
    if n > MAX_PART {
        return Ok(None);
    }
    let entries = || {
        own.iter().enumerate().flat_map(|(k, i)| {
            let (columns, values) = a.row(*i);
            let local = columns.iter().map(|j| place[*j as usize].1 as usize);
            local.zip(values).filter(move |(j, _)| *j <= k).map(move |(j, value)| (k, j, *value))
        })
    };
    let mut factor = BlockCholesky::new();
    factor.begin(std::iter::repeat_n(1, n));
    entries().filter(|(i, j, _)| i != j).for_each(|(i, j, _)| factor.couple(i, j));
    factor.analyze();
    entries().for_each(|(i, j, value)| factor.block_mut(i, j).values[0] = value);
    factor.factor().map_err(|error| not_definite(own[error.row]))?;
    Ok(Some(factor))
}
