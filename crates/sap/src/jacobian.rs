//! `J` by dense patches: what the structures of matrices share.

use std::ops::Range;

use crate::vector::{LANES, axpy, dot};
use crate::{Block, Constraint, Error};

/// Constraints one after the other in `J` with the same columns: they share one dense block of `J` and one of `JᵀGJ`.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    /// Into `columns`.
    columns: Range<usize>,
    /// Rows of `J`.
    rows: Range<usize>,
    /// Where the patch's values start: row by row, each padded with zeros to [`stride`](Self::stride).
    values: usize,
    /// Its constraints.
    pub constraints: Range<usize>,
}

impl Patch {
    /// The length of a row.
    fn stride(&self) -> usize {
        self.columns.len().next_multiple_of(LANES)
    }

    pub fn is_active(&self, hessian: &[Block]) -> bool {
        hessian[self.constraints.clone()].iter().any(Block::is_active)
    }
}

/// A constraint of a patch.
pub(crate) struct Member<'a> {
    /// Its place among all constraints.
    pub constraint: usize,
    pub columns: &'a [usize],
    /// Its rows, `stride` apart.
    j: &'a [f64],
    stride: usize,
}

impl Member<'_> {
    /// Adds `Σ_a weights_a J_a` of its rows to `out`, at the place that `place` says for every column.
    pub fn add_rows(&self, weights: [f64; 3], place: impl Fn(usize) -> usize, out: &mut [f64]) {
        for (row, weight) in self.j.chunks_exact(self.stride).zip(weights) {
            self.columns.iter().zip(row).for_each(|(column, j)| out[place(*column)] += weight * j);
        }
    }
}

/// `J_pᵀ G_p J_p` of a patch.
pub(crate) struct Product<'a> {
    /// What its rows and columns are of `H`, ascending.
    pub columns: &'a [usize],
    /// Column-major, columns `stride` apart, the lower triangle in use.
    pub values: &'a [f64],
    pub stride: usize,
}

/// The constraint Jacobian, and scratch to multiply with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jacobian {
    nv: usize,
    patches: Vec<Patch>,
    columns: Vec<usize>,
    /// The patches' rows.
    j: Vec<f64>,
    rows: usize,
    /// `x` at a patch's columns, or what is added there.
    local: Vec<f64>,
    /// `J_pᵀ G_p J_p` of a patch, column-major, its lower triangle in use.
    product: Vec<f64>,
}

impl Jacobian {
    /// Starts one without rows.
    pub fn reset(&mut self, nv: usize) {
        self.nv = nv;
        self.rows = 0;
        self.patches.clear();
        self.columns.clear();
        self.j.clear();
        self.local.resize(nv.next_multiple_of(LANES), 0.0);
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// The columns of a patch, ascending.
    pub fn columns(&self, patch: &Patch) -> &[usize] {
        &self.columns[patch.columns.clone()]
    }

    /// The constraints of a patch.
    pub fn members<'a>(
        &'a self,
        patch: &'a Patch,
        constraints: &'a [Constraint],
    ) -> impl Iterator<Item = Member<'a>> + use<'a> {
        let (columns, stride) = (self.columns(patch), patch.stride());
        let mut row = patch.values;
        patch.constraints.clone().map(move |constraint| {
            let end = row + constraints[constraint].rows() * stride;
            let j = &self.j[row..end];
            row = end;
            Member { constraint, columns, j, stride }
        })
    }

    /// See [`Sparse::push_jacobian`](crate::Sparse::push_jacobian).
    pub fn push(&mut self, columns: &[u32], values: &[f64]) -> Result<(), Error> {
        let increasing = columns.windows(2).all(|pair| pair[0] < pair[1]);
        let in_range = columns.last().is_some_and(|&last| (last as usize) < self.nv);
        if !(increasing && in_range) {
            let message = format!("expected increasing indices below {}, found {columns:?}", self.nv);
            return Err(Error::Value { argument: "columns", message });
        }
        let rows = values.len() / columns.len();
        if values.len() != rows * columns.len() || !matches!(rows, 1 | 3) {
            let message = format!("expected 1 or 3 rows of {} values, found {} values", columns.len(), values.len());
            return Err(Error::Value { argument: "values", message });
        }
        self.extend_patch(columns, rows);
        let stride = columns.len().next_multiple_of(LANES);
        for row in values.chunks_exact(columns.len()) {
            self.j.extend_from_slice(row);
            self.j.resize(self.j.len() + stride - columns.len(), 0.0);
        }
        self.rows += rows;
        Ok(())
    }

    /// Makes room for a constraint's rows in the last patch, or in a new one if the columns differ.
    fn extend_patch(&mut self, columns: &[u32], rows: usize) {
        let same = |patch: &Patch| {
            let shared = &self.columns[patch.columns.clone()];
            shared.len() == columns.len() && shared.iter().zip(columns).all(|(&a, &b)| a == b as usize)
        };
        if !self.patches.last().is_some_and(same) {
            let start = self.columns.len();
            let constraint = self.patches.last().map_or(0, |patch| patch.constraints.end);
            self.columns.extend(columns.iter().map(|&column| column as usize));
            self.patches.push(Patch {
                columns: start..self.columns.len(),
                rows: self.rows..self.rows,
                values: self.j.len(),
                constraints: constraint..constraint,
            });
        }
        if let Some(patch) = self.patches.last_mut() {
            patch.rows.end += rows;
            patch.constraints.end += 1;
        }
    }

    /// `j_x = J x`
    pub fn multiply(&mut self, x: &[f64], j_x: &mut [f64]) {
        for patch in &self.patches {
            let columns = &self.columns[patch.columns.clone()];
            let local = &mut self.local[..patch.stride()];
            local[columns.len()..].fill(0.0);
            for (local, &column) in local.iter_mut().zip(columns) {
                *local = x[column];
            }
            let rows = self.j[patch.values..].chunks_exact(patch.stride());
            for (out, row) in j_x[patch.rows.clone()].iter_mut().zip(rows) {
                *out = dot(row, local);
            }
        }
    }

    /// `out += Jᵀ γ`
    pub fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        for patch in &self.patches {
            let columns = &self.columns[patch.columns.clone()];
            let local = &mut self.local[..patch.stride()];
            local.fill(0.0);
            let rows = self.j[patch.values..].chunks_exact(patch.stride());
            for (&gamma, row) in gamma[patch.rows.clone()].iter().zip(rows) {
                if gamma != 0.0 {
                    axpy(gamma, row, local);
                }
            }
            for (local, &column) in local.iter().zip(columns) {
                out[column] += local;
            }
        }
    }

    /// `J_pᵀ G_p J_p` of one patch.
    pub fn product(&mut self, patch: usize, constraints: &[Constraint], hessian: &[Block]) -> Product<'_> {
        let patch = &self.patches[patch];
        let (m, stride) = (patch.columns.len(), patch.stride());
        self.product.clear();
        self.product.resize(m * stride, 0.0);
        let mut row = patch.values;
        for k in patch.constraints.clone() {
            let end = row + constraints[k].rows() * stride;
            if hessian[k].is_active() {
                add_congruence(&hessian[k], &self.j[row..end], stride, &mut self.product);
            }
            row = end;
        }
        Product { columns: &self.columns[patch.columns.clone()], values: &self.product, stride }
    }
}

/// `product += Jᵀ G J`, its columns from the four rows that hold the diagonal entry on; `j` has one row or three. The rows of `j`
/// and the columns of `product` are `stride` long.
fn add_congruence(g: &Block, j: &[f64], stride: usize, product: &mut [f64]) {
    fn lanes(x: &[f64]) -> &[[f64; LANES]] {
        x.as_chunks().0
    }
    let (j1, rest) = j.split_at(stride);
    // The block of one row has no other entries.
    let (j2, j3) = if rest.is_empty() { (j1, j1) } else { rest.split_at(stride) };
    for (a, column) in product.chunks_exact_mut(stride).enumerate() {
        let [w1, w2, w3] = g.apply([j1[a], j2[a], j3[a]]);
        let from = a / LANES * LANES;
        let (out, _) = column[from..].as_chunks_mut::<LANES>();
        let (r1, r2, r3) = (lanes(&j1[from..]), lanes(&j2[from..]), lanes(&j3[from..]));
        for (((out, r1), r2), r3) in out.iter_mut().zip(r1).zip(r2).zip(r3) {
            for i in 0..LANES {
                out[i] = w3.mul_add(r3[i], w2.mul_add(r2[i], w1.mul_add(r1[i], out[i])));
            }
        }
    }
}
