//! Forces of the rows of MuJoCo's constraints that are none of contacts: equalities, dry friction, limits.

use multibody::{factor_positive, solve_factored};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::mujoco::memory::Field;

/// ε, what is added to the diagonal of J Jᵀ, relative to its greatest entry.
const DAMPING: f64 = 1e-11;

/// Solutions of the damped problem, each for what the ones before leave: a singular value of J that is σ of the greatest misses (2 ε/σ²)³ of its
/// force.
const PASSES: usize = 3;

/// Where the rows lie in an `MjData`.
pub(super) struct RowMemory {
    /// How many there are of equalities, dry friction and limits; those of contacts come after these.
    counts: [Field<i32>; 3],
    values: Field<*mut f64>,
    /// Of each row its entries and where these begin, and the columns of all: where rows are sparse.
    row_lengths: Field<*mut i32>,
    row_starts: Field<*mut i32>,
    columns: Field<*mut i32>,
    is_sparse: bool,
}

impl RowMemory {
    pub fn new(fields: &Bound<'_, PyDict>, is_sparse: bool) -> PyResult<Self> {
        let field = |name| Field::of(fields, name);
        Ok(Self {
            counts: [field("ne")?, field("nf")?, field("nl")?],
            values: Field::of(fields, "efc_J")?,
            row_lengths: Field::of(fields, "efc_J_rownnz")?,
            row_starts: Field::of(fields, "efc_J_rowadr")?,
            columns: Field::of(fields, "efc_J_colind")?,
            is_sparse,
        })
    }

    /// # Safety
    /// As of [`Field::get`].
    unsafe fn count(&self) -> usize {
        // SAFETY: as the caller says.
        self.counts.iter().map(|count| usize::try_from(unsafe { count.get() }).unwrap_or(0)).sum()
    }

    /// Calls with column and value of each entry of a row.
    ///
    /// # Safety
    /// There is such a row, of `nv` columns; as of [`Field::get`].
    unsafe fn entries(&self, row: usize, nv: usize, mut with: impl FnMut(usize, f64)) {
        // SAFETY: as the caller says.
        unsafe {
            if !self.is_sparse {
                let values = &self.values.pointed((row + 1) * nv)[row * nv..];
                values.iter().enumerate().for_each(|(column, &value)| with(column, value));
                return;
            }
            let (start, length) = (self.row_starts.pointed(row + 1)[row], self.row_lengths.pointed(row + 1)[row]);
            let (start, length) = (start as usize, length as usize);
            let values = &self.values.pointed(start + length)[start..];
            let columns = &self.columns.pointed(start + length)[start..];
            columns.iter().zip(values).for_each(|(&column, &value)| with(column as usize, value));
        }
    }
}

/// Scratch for the forces of rows.
#[derive(Default)]
pub(super) struct RowForces {
    /// J of the rows that are none of contacts, (rows, nv).
    jacobian: Vec<f64>,
    /// J Jᵀ, and its factor with the damping, (rows, rows).
    products: Vec<f64>,
    factor: Vec<f64>,
    /// What the rows' forces have yet to make, (nv).
    rest: Vec<f64>,
    change: Vec<f64>,
}

impl RowForces {
    /// Writes into `forces` those of the rows that are none of contacts: the least ones that make what contacts leave of `all`, the forces of
    /// constraints in the degrees of freedom.
    ///
    /// # Safety
    /// `memory` has as many rows as `forces` has entries; as of [`Field::get`].
    pub unsafe fn write(&mut self, memory: &RowMemory, all: &[f64], forces: &mut [f64]) {
        // SAFETY: as the caller says.
        let (nv, count) = (all.len(), unsafe { memory.count() }.min(forces.len()));
        if count == 0 || nv == 0 {
            return;
        }
        let (forces, of_contacts) = forces.split_at_mut(count);
        let Self { jacobian, products, factor, rest, change } = self;
        rest.clear();
        rest.extend_from_slice(all);
        jacobian.clear();
        jacobian.resize(count * nv, 0.0);
        // SAFETY: as the caller says.
        unsafe {
            for (k, &force) in of_contacts.iter().enumerate().filter(|(_, force)| **force != 0.0) {
                memory.entries(count + k, nv, |column, value| rest[column] -= value * force);
            }
            for (row, own) in jacobian.chunks_exact_mut(nv).enumerate() {
                memory.entries(row, nv, |column, value| own[column] = value);
            }
        }
        products.clear();
        for one in jacobian.chunks_exact(nv) {
            products.extend(jacobian.chunks_exact(nv).map(|other| dot(one, other)));
        }
        let greatest = products.iter().step_by(count + 1).fold(0.0, |greatest: f64, &x| greatest.max(x));
        factor.clear();
        factor.extend_from_slice(products);
        factor.iter_mut().step_by(count + 1).for_each(|x| *x += DAMPING * greatest);
        factor_positive(factor, count);
        for _ in 0..PASSES {
            change.clear();
            change.extend(jacobian.chunks_exact(nv).map(|row| dot(row, rest)));
            // J Jᵀ (J Jᵀ + ε)⁻² J of the rest: what rows that depend on each other share is theirs to round-off, as J Jᵀ comes last.
            solve_factored(factor, change);
            solve_factored(factor, change);
            for ((force, products), row) in
                forces.iter_mut().zip(products.chunks_exact(count)).zip(jacobian.chunks_exact(nv))
            {
                let change = dot(products, change);
                *force += change;
                rest.iter_mut().zip(row).for_each(|(rest, value)| *rest -= value * change);
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
