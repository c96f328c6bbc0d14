//! The branch-induced sparse factorisation H = LᵀL (RBDA §6.5).
//!
//! Degrees of freedom that are not on one path to the root do not meet in H, and numbered from the root, neither do they in L:
//! no fill. O(n d²), d the depth.

use multibody::{NO_PARENT, Tree};

/// The path of every degree of freedom to the root, and H = LᵀL on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    /// The next degree of freedom towards the root.
    parent: Vec<Option<usize>>,
    /// n×n, row-major; row i is in use at the ancestors of i and at i itself.
    l: Vec<f64>,
}

impl Sparse {
    pub fn new(tree: &Tree<f64>) -> Self {
        let mut parent = Vec::with_capacity(tree.nv);
        for node in &tree.nodes {
            for k in 0..node.joint.nv() {
                parent.push(if k > 0 {
                    Some(node.v + k - 1)
                } else {
                    (node.parent != NO_PARENT).then(|| {
                        let above = &tree.nodes[node.parent];
                        above.v + above.joint.nv() - 1
                    })
                });
            }
        }
        Self { l: vec![0.0; tree.nv * tree.nv], parent }
    }

    /// Factors `h`, a full symmetric matrix; the row of the first pivot that is not positive is the error.
    pub fn factor(&mut self, h: &[f64]) -> Result<(), usize> {
        let n = self.parent.len();
        let l = &mut self.l;
        l.copy_from_slice(h);
        for k in (0..n).rev() {
            let pivot = l[k * n + k];
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(k);
            }
            let (root, inverse) = (pivot.sqrt(), 1.0 / pivot.sqrt());
            l[k * n + k] = root;
            let mut i = self.parent[k];
            while let Some(at) = i {
                l[k * n + at] *= inverse;
                i = self.parent[at];
            }
            let mut i = self.parent[k];
            while let Some(row) = i {
                let l_ki = l[k * n + row];
                let mut j = Some(row);
                while let Some(column) = j {
                    l[row * n + column] -= l_ki * l[k * n + column];
                    j = self.parent[column];
                }
                i = self.parent[row];
            }
        }
        Ok(())
    }

    /// x ← H⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.parent.len();
        for i in (0..n).rev() {
            x[i] /= self.l[i * n + i];
            let mut j = self.parent[i];
            while let Some(at) = j {
                x[at] -= self.l[i * n + at] * x[i];
                j = self.parent[at];
            }
        }
        for i in 0..n {
            let mut j = self.parent[i];
            while let Some(at) = j {
                x[i] -= self.l[i * n + at] * x[at];
                j = self.parent[at];
            }
            x[i] /= self.l[i * n + i];
        }
    }
}
