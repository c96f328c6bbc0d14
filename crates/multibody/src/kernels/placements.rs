//! Where everything is.

use spatial::{Mat3, Quat, Real, Vec3};

use super::broadcast::{Broadcast, read_vec};
use super::packed::PackedTree;
use super::placed::{Oriented, orient_joint};
use crate::NO_PARENT;

/// The placement of every node in the world.
#[derive(Clone, Debug, Default)]
pub struct Placements<T> {
    /// Orientations.
    pub orientations: Vec<Quat<T>>,
    /// The same as matrices.
    pub rotations: Vec<Mat3<T>>,
    /// Origins, m.
    pub origins: Vec<Vec3<T>>,
}

impl<T: Real> Placements<T> {
    /// Room for a tree.
    pub fn new(tree: &PackedTree<T::Scalar>) -> Self {
        let n = tree.len();
        Self { orientations: vec![Quat::IDENTITY; n], rotations: vec![Mat3::IDENTITY; n], origins: vec![Vec3::ZERO; n] }
    }
}

impl<T: Real> Placements<T>
where
    T::Scalar: Broadcast<T>,
{
    /// Places every node at `q` (nq), as in [`ForwardDynamics::aba`](super::ForwardDynamics::aba).
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn place<I: Broadcast<T>>(&mut self, tree: &PackedTree<T::Scalar>, q: &[I]) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let (constants, p) = (&node.constants, node.parent);
            let pos = read_vec(constants.pos);
            let (parent, origin, offset) = if p == NO_PARENT {
                ((Quat::IDENTITY, Mat3::IDENTITY), Vec3::ZERO, pos)
            } else {
                let rot = self.rotations[p];
                ((self.orientations[p], rot), self.origins[p], rot * pos)
            };
            let Oriented { quat, rot, offset } =
                orient_joint(node.joint, node.turned, constants, parent, offset, &q[node.q..]);
            self.orientations[i] = quat;
            self.rotations[i] = rot;
            self.origins[i] = origin + offset;
        }
    }
}
