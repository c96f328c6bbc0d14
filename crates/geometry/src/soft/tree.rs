//! The triangles of a soft body in a tree of boxes that is refitted as the body moves.

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, TraversalAction};
use spatial::Vec3;

use super::surface::Topology;

/// A tree of the boxes around triangles. Its shape is that of the body at rest, so that what it costs does not depend on what was before.
#[derive(Clone)]
pub(super) struct TriangleTree {
    tree: Bvh,
}

impl TriangleTree {
    /// For a body whose nodes are at `positions`.
    pub fn new(topology: &Topology, positions: &[f64]) -> Self {
        let boxes = (0..topology.triangles.len() as u32).map(|t| around(topology.corners(positions, t)));
        let boxes: Vec<_> = boxes.collect();
        Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// Takes the nodes' positions.
    pub fn refit(&mut self, topology: &Topology, positions: &[f64]) {
        for t in 0..topology.triangles.len() as u32 {
            self.tree.insert_or_update_partially(around(topology.corners(positions, t)), t, 0.0);
        }
        self.tree.refit_without_opt();
    }

    /// Replaces `out` by the triangles whose boxes meet a box, ascending.
    pub fn meeting(&self, centre: Vec3<f64>, half: Vec3<f64>, out: &mut Vec<u32>) {
        out.clear();
        let (low, high) = (glam(centre - half), glam(centre + half));
        self.tree.traverse(|node| {
            if node.mins().cmpgt(high).any() || node.maxs().cmplt(low).any() {
                return TraversalAction::Prune;
            }
            out.extend(node.leaf_data());
            TraversalAction::Continue
        });
        out.sort_unstable();
    }

    /// Visits triangles whose boxes are within a distance of `p`, which `visit` may lessen: given the triangle, it returns the square of the
    /// distance up to which the others count.
    pub fn near(&self, p: Vec3<f64>, distance: f64, mut visit: impl FnMut(u32) -> f64) {
        let (p, mut most) = (glam(p), distance * distance);
        self.tree.traverse(|node| {
            let apart = (node.mins() - p).max(p - node.maxs()).max(Vector::ZERO);
            // What is not a number is near nothing.
            let is_near = apart.length_squared() <= most;
            match node.leaf_data() {
                _ if !is_near => return TraversalAction::Prune,
                Some(triangle) => most = visit(triangle),
                None => {}
            }
            TraversalAction::Continue
        });
    }
}

/// The box around a triangle; far away of one that is nowhere.
fn around([a, b, c]: [Vec3<f64>; 3]) -> Aabb {
    if !((a + b + c).is_finite()) {
        return Aabb::new(Vector::splat(1e30), Vector::splat(1e30));
    }
    let (a, b, c) = (glam(a), glam(b), glam(c));
    Aabb::new(a.min(b).min(c), a.max(b).max(c))
}

fn glam(v: Vec3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

impl std::fmt::Debug for TriangleTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TriangleTree").field("triangles", &self.tree.leaf_count()).finish()
    }
}
