//! Triangles of soft bodies against rigid shapes that are small or sharp.
//!
//! The signed distance of a convex shape is a convex function. It has its least value over a triangle at a node, unless the shape reaches
//! between the nodes; the gradients at the nodes bound from below what is there, and most triangles are done with that.

use spatial::Vec3;

use super::body::Body;
use super::rigid::PlacedGeom;
use super::rigid::Workspace;
use super::{SoftContact, SoftMovement, SoftPoint};
use crate::narrow::{Point, triangle_contact, weighted};

/// Share of the length of a side by which a point inside a triangle has to be deeper than its nodes.
const DEEPER: f64 = 1e-3;

/// How deep, in lengths of sides, a rounded shape may reach through a triangle and still count as in front of it.
const THROUGH: f64 = 2.0;

/// The same of a corner or an edge: of one that is deeper, beside a node, the way out along the triangle's normal and that of the node differ.
const CORNER_THROUGH: f64 = 0.05;

/// Triangles between two looks at the request to stop.
const TRIANGLES_PER_LOOK: usize = 64;

impl Body {
    /// Appends the contact points that are inside of triangles and deeper than the nodes around.
    pub(super) fn triangles_against_geom(
        &mut self,
        geom: &PlacedGeom<'_>,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
        out: &mut Vec<SoftContact>,
    ) {
        let farthest = self.reach.farthest + geom.ball.reach + geom.of.margin;
        let half = geom.half_extents() + Vec3::new(farthest, farthest, farthest);
        let mut near = std::mem::take(&mut workspace.near);
        self.fitted_tree(soft.positions).meeting(geom.ball.centre, half, &mut near);
        for (k, &triangle) in near.iter().enumerate() {
            if k.is_multiple_of(TRIANGLES_PER_LOOK) && workspace.is_interrupted() {
                break;
            }
            out.extend(self.triangle_against_geom(triangle, geom, soft, workspace));
        }
        workspace.near = near;
    }

    /// The contact point inside of a triangle.
    fn triangle_against_geom(
        &self,
        triangle: u32,
        geom: &PlacedGeom<'_>,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
    ) -> Option<SoftContact> {
        let topology = &self.topology;
        let nodes = topology.triangles[triangle as usize];
        if nodes.iter().any(|node| topology.is_exempt(*node, geom.of.group)) {
            return None;
        }
        let corners = topology.corners(soft.positions, triangle);
        let approaches = nodes.map(|node| geom.shift - self.displacement(soft, node));
        let farthest = approaches.iter().fold(0.0, |most, a| f64::max(most, a.norm()));
        let steady = geom.steady(self, soft);
        let limit = steady + farthest;
        let mut nearest = f64::INFINITY;
        let mut signed = [(Vec3::ZERO, 0.0); 3];
        for k in 0..3 {
            signed[k] = workspace.signed_distances.get(nodes[k], corners[k], geom, &mut workspace.convex)?;
            nearest = nearest.min(signed[k].1);
        }
        let bound = |(gradient, distance): &(Vec3<f64>, f64), at: Vec3<f64>| {
            corners.iter().map(|p| distance + (*p - at).dot(*gradient)).fold(f64::INFINITY, f64::min)
        };
        let bounds = signed.iter().zip(corners).map(|(signed, at)| bound(signed, at));
        let bound = bounds.fold(f64::NEG_INFINITY, f64::max);
        let deep_enough = nearest - DEEPER * self.edge;
        if !(bound < deep_enough && bound <= limit) {
            return None;
        }
        let most = if geom.of.roundness > 0.0 { THROUGH } else { CORNER_THROUGH } * self.edge;
        let found = triangle_contact(corners, geom.solid(), limit, most, &mut workspace.convex)
            .filter(|found| found.distance < deep_enough)?;
        let approach = weighted(approaches, found.weights);
        if found.distance > steady + approach.dot(-found.normal).max(0.0) || !topology.owns(triangle, found.weights) {
            return None;
        }
        let [a, b, c] = corners;
        let area = 0.5 * (b - a).cross(c - a).norm();
        let point = SoftPoint { body: self.index, nodes, weights: found.weights };
        let position = weighted(corners, found.weights);
        Some(self.contact(point, geom, Point::new(position, found.normal, found.distance), area))
    }
}
