//! Λ: armature, and what is implicit of dampers, springs and drives.

use std::ops::Range;

use spatial::{Real, Sym3, Vec3};

use crate::kinematics::{add3, vec3};
use crate::{JointType, Node, Tree};

/// The impedance of the joints, Λ.
#[derive(Clone, Debug, Default)]
pub struct JointImpedance<T> {
    /// The diagonal, (nv).
    pub diagonal: Vec<T>,
    /// (xy, xz, yz) of a ball joint's block in the child's frame, one per node; zero for other nodes.
    pub ball: Vec<[T; 3]>,
}

impl<T: Real> JointImpedance<T> {
    /// No impedance.
    pub fn new(tree: &Tree<T>) -> Self {
        Self { diagonal: vec![T::ZERO; tree.nv], ball: vec![[T::ZERO; 3]; tree.len()] }
    }

    pub(crate) fn ball_block(&self, node: &Node<T>, i: usize) -> Sym3<T> {
        let [xy, xz, yz] = self.ball[i];
        let d = &self.diagonal[node.v..node.v + 3];
        Sym3::new([d[0], xy, xz, d[1], yz, d[2]])
    }

    /// m += Λ, `m` a square matrix of `stride` rows over all degrees of freedom of the tree.
    pub fn add_to_matrix(&self, tree: &Tree<T>, m: &mut [T], stride: usize) {
        self.for_triangle(tree, |row, column, x| {
            m[row + column * stride] += x;
            if row != column {
                m[column + row * stride] += x;
            }
        });
    }

    /// Calls `add` with row, column and value of the entries of the lower triangle.
    #[inline(always)]
    fn for_triangle(&self, tree: &Tree<T>, mut add: impl FnMut(usize, usize, T)) {
        for (k, d) in self.diagonal.iter().enumerate() {
            add(k, k, *d);
        }
        for (node, block) in tree.nodes.iter().zip(&self.ball) {
            if node.joint == JointType::Ball {
                for (entry, (row, column)) in block.iter().zip([(1, 0), (2, 0), (2, 1)]) {
                    add(node.v + row, node.v + column, *entry);
                }
            }
        }
    }

    /// out += Λ x for the nodes of `range`.
    pub fn add_product(&self, tree: &Tree<T>, range: Range<usize>, x: &[T], out: &mut [T]) {
        let nodes = &tree.nodes[range.clone()];
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return };
        let dofs = first.v..last.v + last.joint.nv();
        for ((out, d), x) in out[dofs.clone()].iter_mut().zip(&self.diagonal[dofs.clone()]).zip(&x[dofs]) {
            *out += *d * *x;
        }
        for (node, [xy, xz, yz]) in nodes.iter().zip(&self.ball[range]) {
            if node.joint == JointType::Ball {
                let x = vec3(&x[node.v..]);
                let y = Vec3::new(*xy * x.y + *xz * x.z, *xy * x.x + *yz * x.z, *xz * x.x + *yz * x.y);
                add3(&mut out[node.v..], y);
            }
        }
    }
}
