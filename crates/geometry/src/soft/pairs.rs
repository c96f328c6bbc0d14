//! Soft bodies against each other and themselves: nodes against the nearest points of triangles.

use spatial::Vec3;

use super::body::Body;
use super::rigid::NODES_PER_LOOK;
use super::rigid::Workspace;
use super::{SoftContact, SoftMovement, SoftPartner, SoftPoint};
use crate::narrow::{nearest_weights, weighted};

/// A body touches itself where two of its points are nearer than this share of their distance at rest. What is near at rest is held apart
/// by the material between.
const NEARER_THAN_AT_REST: f64 = 0.5;

/// The same of points that have passed each other: the far side of a thin part is not to be taken for a fold.
const DEEPER_THAN_AT_REST: f64 = 0.25;

/// How deep a body reaches into itself at most, in lengths of its sides.
const SELF_DEPTH: f64 = 0.5;

/// Distances below this leave no direction, m.
const TINY: f64 = 1e-12;

/// The point of a surface nearest to a node.
#[derive(Clone, Copy)]
struct Nearest {
    triangle: u32,
    weights: [f64; 3],
    square: f64,
}

impl Nearest {
    /// What is nearer, or of the lower index where both are as near: whatever the order in which they come.
    fn offer(best: &mut Option<Self>, new: Self) {
        let is_better = best.is_none_or(|b| (new.square, new.triangle) < (b.square, b.triangle));
        if is_better {
            *best = Some(new);
        }
    }
}

impl Body {
    /// Appends the contact points of the body's nodes with the triangles of another.
    pub(super) fn against_body(
        &self,
        other: &mut Self,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
        out: &mut Vec<SoftContact>,
    ) {
        let limit = self.reach.farthest + other.reach.farthest;
        let search = f64::max(limit, other.half_thickness);
        other.fitted_tree(soft.positions);
        for (k, &node) in self.topology.nodes.iter().enumerate() {
            if k.is_multiple_of(NODES_PER_LOOK) && workspace.is_interrupted() {
                return;
            }
            let p = self.topology.node(soft.positions, node);
            if other.reach.distance_squared(p) > limit * limit {
                continue;
            }
            let nearest = other.nearest(p, search, soft.positions, |_, _| true);
            out.extend(nearest.and_then(|nearest| self.meet(node, other, nearest, soft, None)));
        }
    }

    /// Appends the contact points of the body's nodes with its own triangles.
    pub(super) fn against_itself(
        &mut self,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
        out: &mut Vec<SoftContact>,
    ) {
        self.fitted_tree(soft.positions);
        let search = f64::max(2.0 * self.reach.farthest, SELF_DEPTH * self.edge);
        for (k, &node) in self.topology.nodes.iter().enumerate() {
            if k.is_multiple_of(NODES_PER_LOOK) && workspace.is_interrupted() {
                return;
            }
            let p = self.topology.node(soft.positions, node);
            let facing = self.topology.node_normal(soft.positions, node);
            let at_rest = self.rest[node as usize];
            let counts = |triangle: u32, weights: [f64; 3]| {
                let nodes = self.topology.triangles[triangle as usize];
                if self.is_neighbour(node, nodes) {
                    return false;
                }
                let rest = (weighted(nodes.map(|n| self.rest[n as usize]), weights) - at_rest).norm_squared();
                let apart = weighted(self.topology.corners(soft.positions, triangle), weights) - p;
                let share = NEARER_THAN_AT_REST * NEARER_THAN_AT_REST;
                // The way out of one leads into the other.
                let outward = self.topology.normal(soft.positions, triangle, weights);
                apart.norm_squared() < share * rest && apart.dot(facing) * apart.dot(outward) <= 0.0
            };
            let nearest = self.nearest(p, search, soft.positions, counts);
            out.extend(nearest.and_then(|nearest| self.meet(node, self, nearest, soft, Some(facing))));
        }
    }

    /// Whether a triangle has a node in common with those around a node.
    fn is_neighbour(&self, node: u32, nodes: [u32; 3]) -> bool {
        let around = self.topology.around(node).iter();
        around.flat_map(|&t| self.topology.triangles[t as usize]).any(|other| nodes.contains(&other))
    }

    /// The nearest point of the surface, of those that count, within a distance.
    fn nearest(
        &self,
        p: Vec3<f64>,
        distance: f64,
        positions: &[f64],
        counts: impl Fn(u32, [f64; 3]) -> bool,
    ) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let square = distance * distance;
        self.tree().near(p, distance, |triangle| {
            let corners = self.topology.corners(positions, triangle);
            let weights = nearest_weights(corners, p);
            let new = Nearest { triangle, weights, square: (weighted(corners, weights) - p).norm_squared() };
            if new.square <= square && counts(triangle, weights) {
                Nearest::offer(&mut best, new);
            }
            best.map_or(square, |best| best.square)
        });
        best
    }

    /// The contact of a node with the nearest point of a surface; `facing` is the node's normal where the surface is the same body's.
    fn meet(
        &self,
        node: u32,
        other: &Self,
        nearest: Nearest,
        soft: &SoftMovement<'_>,
        facing: Option<Vec3<f64>>,
    ) -> Option<SoftContact> {
        let Nearest { triangle, weights, square } = nearest;
        let nodes = other.topology.triangles[triangle as usize];
        let p = self.topology.node(soft.positions, node);
        let q = weighted(other.topology.corners(soft.positions, triangle), weights);
        let outward = other.topology.normal(soft.positions, triangle, weights);
        let is_inside = (p - q).dot(outward) < 0.0;
        let length = square.sqrt();
        let away = if length > TINY {
            (q - p) * (if is_inside { -1.0 } else { 1.0 } / length)
        } else {
            -outward.normalized()?
        };
        let distance = if is_inside { -length } else { length };
        if let Some(facing) = facing {
            let at_rest = weighted(nodes.map(|n| other.rest[n as usize]), weights) - self.rest[node as usize];
            let deepest = f64::min(SELF_DEPTH * self.edge, DEEPER_THAN_AT_REST * at_rest.norm());
            if facing.dot(away) <= 0.0 || -distance > deepest {
                return None;
            }
        }
        let moves = nodes.map(|n| other.displacement(soft, n));
        let approach = self.displacement(soft, node) - weighted(moves, weights);
        let shells = self.shell() + other.shell();
        if distance > 2.0 * soft.slack + shells + approach.dot(away).max(0.0) {
            return None;
        }
        // Both bodies report their nodes: each speaks for half of the surface.
        let area = 0.5 * self.topology.area(soft.positions, node);
        let between = distance - self.radius - other.radius;
        Some(SoftContact {
            point: SoftPoint::node(self.index, node),
            partner: SoftPartner::Soft(SoftPoint { body: other.index, nodes, weights }),
            position: p.add_scaled(self.radius + 0.5 * between, away),
            normal: away,
            gap: between - self.margin - other.margin,
            area,
        })
    }
}
