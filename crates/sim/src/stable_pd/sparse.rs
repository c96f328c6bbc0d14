//! The branch-induced sparse factorisation H = LᵀL (RBDA §6.5), scalar and by 3×3 blocks.
//!
//! Degrees of freedom that are not on one path to the root do not meet in H, and numbered from the root, neither do they in L:
//! no fill. O(n d²), d the depth.

use multibody::{NO_PARENT, Tree};
use spatial::{Mat3, Sym3, Vec3};

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

/// The same by blocks: a ball joint is one, a free root two, a joint with one degree of freedom one that is padded.
///
/// H = Uᵀ D U with unit upper U by paths: D_k = H_kk, U_ki = D_k⁻¹ H_ki.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockSparse {
    /// First degree of freedom and number of them in every block.
    dofs: Vec<(usize, usize)>,
    /// The blocks of every block's path to the root, nearest first, and where they start.
    ancestors: Vec<usize>,
    start: Vec<usize>,
    /// H_ki, then U_ki, for the ancestors i of k.
    above: Vec<Mat3<f64>>,
    diagonal: Vec<Sym3<f64>>,
    inverse: Vec<Sym3<f64>>,
    scaled: Vec<Mat3<f64>>,
    x: Vec<Vec3<f64>>,
}

impl BlockSparse {
    pub fn new(tree: &Tree<f64>) -> Self {
        let mut s = Self::default();
        // The last block of every node, and the blocks' parents.
        let (mut last_of, mut parent): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let nv = node.joint.nv();
            for k in (0..nv).step_by(3) {
                let above = if k > 0 {
                    Some(s.dofs.len() - 1)
                } else {
                    (node.parent != NO_PARENT).then(|| last_of[node.parent])
                };
                parent.push(above);
                s.dofs.push((node.v + k, (nv - k).min(3)));
            }
            last_of.push(s.dofs.len() - 1);
        }
        for k in 0..s.dofs.len() {
            s.start.push(s.ancestors.len());
            let mut i = parent[k];
            while let Some(at) = i {
                s.ancestors.push(at);
                i = parent[at];
            }
        }
        s.start.push(s.ancestors.len());
        s.above = vec![Mat3::ZERO; s.ancestors.len()];
        let depth = (0..s.dofs.len()).map(|k| s.start[k + 1] - s.start[k]).max().unwrap_or(0);
        s.scaled = vec![Mat3::ZERO; depth];
        s.diagonal = vec![Sym3::ZERO; s.dofs.len()];
        s.inverse = vec![Sym3::ZERO; s.dofs.len()];
        s.x = vec![Vec3::ZERO; s.dofs.len()];
        s
    }

    /// The block at the degrees of freedom of `row` and `column`; zero where padded.
    fn block(h: &[f64], n: usize, row: (usize, usize), column: (usize, usize)) -> Mat3<f64> {
        let entry =
            |i: usize, j: usize| if i < row.1 && j < column.1 { h[(row.0 + i) * n + column.0 + j] } else { 0.0 };
        let of = |j| Vec3::new(entry(0, j), entry(1, j), entry(2, j));
        Mat3::from_columns(of(0), of(1), of(2))
    }

    /// Factors `h`, n×n; the first degree of freedom of a block that is not positive definite is the error.
    pub fn factor(&mut self, h: &[f64], n: usize) -> Result<(), usize> {
        for (k, &dofs) in self.dofs.iter().enumerate() {
            let mut diagonal = Sym3::lower(Self::block(h, n, dofs, dofs));
            if dofs.1 == 1 {
                diagonal = Sym3::diagonal(Vec3::new(diagonal.xx(), 1.0, 1.0));
            }
            self.diagonal[k] = diagonal;
            for at in self.start[k]..self.start[k + 1] {
                self.above[at] = Self::block(h, n, dofs, self.dofs[self.ancestors[at]]);
            }
        }
        for k in (0..self.dofs.len()).rev() {
            let d = self.diagonal[k];
            let det = d.xx() * (d.yy() * d.zz() - d.yz() * d.yz()) - d.xy() * (d.xy() * d.zz() - d.yz() * d.xz())
                + d.xz() * (d.xy() * d.yz() - d.yy() * d.xz());
            if !(d.xx() > 0.0 && d.xx() * d.yy() - d.xy() * d.xy() > 0.0 && det > 0.0) {
                return Err(self.dofs[k].0);
            }
            let inverse = d.inverse();
            self.inverse[k] = inverse;
            let path = self.start[k]..self.start[k + 1];
            for (scaled, at) in self.scaled.iter_mut().zip(path.clone()) {
                *scaled = inverse * self.above[at];
            }
            // H_ij −= H_kiᵀ D_k⁻¹ H_kj for ancestors i and, further up, j: the path of i is the rest of the path of k.
            for (a, at) in path.clone().enumerate() {
                let (i, t) = (self.ancestors[at], self.above[at].transpose());
                self.diagonal[i] = self.diagonal[i] - Sym3::lower(t * self.scaled[a]);
                let from = self.start[i];
                for b in a + 1..path.len() {
                    let target = from + b - a - 1;
                    self.above[target] = self.above[target] - t * self.scaled[b];
                }
            }
            for (a, at) in path.enumerate() {
                self.above[at] = self.scaled[a];
            }
        }
        Ok(())
    }

    /// x ← H⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        for (block, &(first, count)) in self.x.iter_mut().zip(&self.dofs) {
            let entry = |i: usize| if i < count { x[first + i] } else { 0.0 };
            *block = Vec3::new(entry(0), entry(1), entry(2));
        }
        for k in (0..self.dofs.len()).rev() {
            let x_k = self.x[k];
            for at in self.start[k]..self.start[k + 1] {
                let i = self.ancestors[at];
                self.x[i] = self.x[i] - self.above[at].transpose_mul(x_k);
            }
        }
        for k in 0..self.dofs.len() {
            let mut x_k = self.inverse[k] * self.x[k];
            for at in self.start[k]..self.start[k + 1] {
                x_k -= self.above[at] * self.x[self.ancestors[at]];
            }
            self.x[k] = x_k;
        }
        for (block, &(first, count)) in self.x.iter().zip(&self.dofs) {
            x[first..first + count].copy_from_slice(&block.to_array()[..count]);
        }
    }
}
