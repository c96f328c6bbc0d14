//! M + JᵀGJ and rows of J, written out for trees of few degrees of freedom.

use spatial::{F64x4, Real};

use super::{CommonPoint, Coordinates, LANES, Register, Rows, product, sum};
use crate::{NO_PARENT, Tree};

/// The degrees of freedom between every one and the root, κ (RBDA §4.1.4), itself included and later ones of its joint not: a row of
/// ones and zeros for each.
#[derive(Clone, Debug, Default)]
pub struct Supports {
    rows: Vec<Register>,
    /// Registers of a row.
    width: usize,
}

impl Supports {
    /// Those of a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let width = tree.nv.div_ceil(LANES);
        let mut rows = vec![[0.0; LANES]; width * tree.nv];
        for node in &tree.nodes {
            for k in 0..node.joint.nv() {
                let dof = node.v + k;
                let (before, own) = rows.split_at_mut(dof * width);
                let last = match k {
                    0 if node.parent == NO_PARENT => None,
                    0 => Some(last_dof(tree, node.parent)),
                    _ => Some(dof - 1),
                };
                if let Some(last) = last {
                    own[..width].copy_from_slice(&before[last * width..][..width]);
                }
                own[dof / LANES][dof % LANES] = 1.0;
            }
        }
        Self { rows, width }
    }

    /// The row of a degree of freedom, as far as it may have ones.
    #[inline(always)]
    fn of(&self, dof: usize) -> &[Register] {
        &self.rows[dof * self.width..][..=dof / LANES]
    }
}

/// The last degree of freedom of a node, which all others of the node support.
#[inline(always)]
fn last_dof(tree: &Tree<f64>, node: usize) -> usize {
    let node = &tree.nodes[node];
    node.v + node.joint.nv() - 1
}

impl CommonPoint {
    /// M + Σ_b J_bᵀ Ĝ_b J_b by composites (RBDA §6.2): a joint meets what all nodes that it supports meet. Of each row of `out`, which
    /// are `stride` apart, all up to the diagonal is set; what is beyond it in the same four has no meaning.
    ///
    /// The sum is used up as scratch.
    ///
    /// # Panics
    /// If `out` has fewer than `nv` rows, or a row is shorter than `nv`, filled up to a multiple of 4.
    pub fn write_composites(&mut self, supports: &Supports, out: &mut [f64], stride: usize) {
        self.in_rows.clear();
        self.in_rows.resize(self.motions.len().div_ceil(LANES), [[0.0; LANES]; 6]);
        for (dof, motion) in self.motions.iter().enumerate() {
            for (row, x) in self.in_rows[dof / LANES].iter_mut().zip(motion) {
                row[dof % LANES] = *x;
            }
        }
        for (i, parent) in self.parents.iter().enumerate().rev() {
            let own = self.composites[i];
            for (row, own) in self.composites[*parent].iter_mut().zip(&own) {
                *row = sum(row, own);
            }
            let wrench = product(&own, &self.motions[i]);
            let (out, _) = out[i * stride..].as_chunks_mut::<LANES>();
            self.project(&wrench, supports.of(i), out, |_, new| new);
        }
    }

    /// Adds three rows of J to `out`, `stride` apart: those that tell the power of three wrenches on a node. After
    /// [`write_composites`](Self::write_composites).
    ///
    /// # Panics
    /// If there are fewer rows, or a row is shorter than `nv`, filled up to a multiple of 4.
    pub fn add_rows(&self, (node, rows): (usize, &Rows), supports: &Supports, out: &mut [f64], stride: usize) {
        for (k, row) in rows.iter().enumerate() {
            let (out, _) = out[k * stride..].as_chunks_mut::<LANES>();
            self.project(row, supports.of(self.places[node]), out, |old, new| old + new);
        }
    }

    /// Sᵀ w for the degrees of freedom of `support`; `put` makes the new entries of the old ones and these.
    #[inline(always)]
    fn project(
        &self,
        wrench: &Coordinates,
        support: &[Register],
        out: &mut [Register],
        put: impl Fn(F64x4, F64x4) -> F64x4,
    ) {
        let w = wrench.map(F64x4::splat);
        for ((motions, support), out) in self.in_rows.iter().zip(support).zip(out) {
            let [a, b, c, d, e, f] = motions.map(F64x4::from_array);
            let ang = c.mul_add(w[2], b.mul_add(w[1], a * w[0]));
            let lin = f.mul_add(w[5], e.mul_add(w[4], d * w[3]));
            *out = put(F64x4::from_array(*out), (ang + lin) * F64x4::from_array(*support)).to_array();
        }
    }
}
