//! The surface of a soft body as contact sees it.

use spatial::Vec3;

use crate::collider::MAX_CONTACTS;

/// The surface of a soft body: triangles between its nodes.
///
/// Nodes are those of the body, those inside included, so that a contact names nodes by the body's own numbers. Faces of quadratic elements
/// are four flat triangles between their six nodes each, as `deformable::Surface` has them: what touches is that polyhedron, whose points move
/// linearly with three nodes.
#[derive(Clone, Debug, Default)]
pub struct SoftSurface {
    /// Every node of the body at rest, m.
    pub nodes: Vec<Vec3<f64>>,
    /// The nodes of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// It may touch a geom or another soft body when one's `contype` and the other's `conaffinity` share a bit.
    pub contype: u32,
    /// See `contype`.
    pub conaffinity: u32,
    /// Contact force begins at this distance from the surface, m; what it touches adds its own.
    pub margin: f64,
    /// The surface that touches is this far outside of the nodes, m.
    pub radius: f64,
    /// Whether the body touches itself.
    pub self_contact: bool,
    /// Nodes that do not touch certain geoms.
    pub exempt: Vec<Exemption>,
}

/// A node that does not touch the geoms of one rigid group, because it is attached to it; nor do the triangles around the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exemption {
    /// The node.
    pub node: u32,
    /// The rigid group ([`Attachment::group`](crate::Attachment::group)); the world's is 0.
    pub group: usize,
}

/// What is wrong with a [`SoftSurface`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SoftSurfaceError {
    /// A triangle names a node that the body does not have.
    #[error("triangle {triangle} of soft body {body} names node {node}, but the body has {nodes} nodes")]
    Index {
        /// The soft body.
        body: usize,
        /// The triangle.
        triangle: usize,
        /// The node that it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A node has a coordinate that is not a finite number.
    #[error("node {node} of soft body {body} is at {at:?}: give finite coordinates")]
    NotFinite {
        /// The soft body.
        body: usize,
        /// The node.
        node: usize,
        /// Its place.
        at: [f64; 3],
    },
    /// More nodes in all than can be counted, or more triangles.
    #[error("soft bodies have {count} nodes and triangles in all; contacts work with up to {most}")]
    TooLarge {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A margin or a radius that is negative or not finite.
    #[error("the {what} of soft body {body} is {value}: give a finite number ≥ 0")]
    Length {
        /// The soft body.
        body: usize,
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
}

/// Nodes and triangles at most, in all: indices into coordinates fit 32 bits with room to spare.
const MAX_ENTRIES: usize = 100 * MAX_CONTACTS;

/// Says what is wrong with surfaces.
pub(super) fn check(surfaces: &[SoftSurface]) -> Result<(), SoftSurfaceError> {
    let count = surfaces.iter().map(|s| s.nodes.len() + s.triangles.len()).sum();
    if count > MAX_ENTRIES {
        return Err(SoftSurfaceError::TooLarge { count, most: MAX_ENTRIES });
    }
    for (body, surface) in surfaces.iter().enumerate() {
        let nodes = surface.nodes.len();
        for (triangle, corners) in surface.triangles.iter().enumerate() {
            if let Some(&node) = corners.iter().find(|&&node| node as usize >= nodes) {
                return Err(SoftSurfaceError::Index { body, triangle, node, nodes });
            }
        }
        if let Some(node) = surface.nodes.iter().position(|p| !p.is_finite()) {
            return Err(SoftSurfaceError::NotFinite { body, node, at: surface.nodes[node].to_array() });
        }
        for (what, value) in [("margin", surface.margin), ("radius", surface.radius)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SoftSurfaceError::Length { body, what, value });
            }
        }
    }
    Ok(())
}

/// A surface and what is known of it beforehand.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    /// Where its nodes begin among those of all bodies.
    pub first: usize,
    pub triangles: Vec<[u32; 3]>,
    /// The nodes of the surface, ascending.
    pub nodes: Vec<u32>,
    /// Triangles around node i: `around[around_start[i]..around_start[i + 1]]`, ascending.
    around: Vec<u32>,
    around_start: Vec<u32>,
    /// The triangle beyond each side of every triangle (corners 0 and 1, 1 and 2, 2 and 0), [`NONE`] where the surface ends.
    across: Vec<[u32; 3]>,
    /// Ascending.
    exempt: Vec<Exemption>,
}

/// No triangle.
pub(super) const NONE: u32 = u32::MAX;

impl Topology {
    pub fn new(surface: &SoftSurface, first: usize) -> Self {
        let corners = surface.triangles.iter().enumerate();
        let mut pairs: Vec<_> = corners.flat_map(|(t, nodes)| nodes.map(|node| [node, t as u32])).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let count = surface.nodes.len();
        let mut around_start = vec![0; count + 1];
        pairs.iter().for_each(|[node, _]| around_start[*node as usize + 1] += 1);
        (0..count).for_each(|i| around_start[i + 1] += around_start[i]);
        let mut nodes: Vec<_> = pairs.iter().map(|[node, _]| *node).collect();
        nodes.dedup();
        let across = neighbours(&surface.triangles);
        let mut exempt = surface.exempt.clone();
        exempt.sort_unstable();
        Self {
            first,
            triangles: surface.triangles.clone(),
            nodes,
            around: pairs.into_iter().map(|[_, t]| t).collect(),
            around_start,
            across,
            exempt,
        }
    }

    /// Triangles around a node, ascending.
    pub fn around(&self, node: u32) -> &[u32] {
        &self.around[self.around_start[node as usize] as usize..self.around_start[node as usize + 1] as usize]
    }

    /// Whether a point with these weights counts as one of this triangle: of two triangles with a side in common the first has what is on it.
    pub fn owns(&self, triangle: u32, weights: [f64; 3]) -> bool {
        // Side k is opposite to corner k + 2.
        (0..3).all(|side| weights[(side + 2) % 3] > ON_SIDE || self.across[triangle as usize][side] >= triangle)
    }

    /// A vector along the outward normal at a point of a triangle with these weights, which are exactly 0 of corners that it does not depend
    /// on: the mean of the triangles that meet there, by their angles (Bærentzen and Aanæs 2005), so that its sign tells outside from inside.
    pub fn normal(&self, all: &[f64], triangle: u32, weights: [f64; 3]) -> Vec3<f64> {
        let unit = |t: u32| {
            let [a, b, c] = self.corners(all, t);
            (b - a).cross(c - a).normalized().unwrap_or(Vec3::ZERO)
        };
        if let Some(corner) = (0..3).find(|&k| weights[(k + 1) % 3] == 0.0 && weights[(k + 2) % 3] == 0.0) {
            return self.node_normal(all, self.triangles[triangle as usize][corner]);
        }
        let side = (0..3).find(|&side| weights[(side + 2) % 3] == 0.0);
        let other = side.map(|side| self.across[triangle as usize][side]).filter(|&t| t != NONE);
        unit(triangle) + other.map_or(Vec3::ZERO, unit)
    }

    /// The same at a node.
    pub fn node_normal(&self, all: &[f64], node: u32) -> Vec3<f64> {
        self.around(node).iter().fold(Vec3::ZERO, |sum, &t| {
            let nodes = self.triangles[t as usize];
            let k = (0..3).find(|&k| nodes[k] == node).unwrap_or(0);
            let corners = self.corners(all, t);
            let (u, v) = (corners[(k + 1) % 3] - corners[k], corners[(k + 2) % 3] - corners[k]);
            let cross = u.cross(v);
            let angle = libm::atan2(cross.norm(), u.dot(v));
            sum.add_scaled(angle, cross.normalized().unwrap_or(Vec3::ZERO))
        })
    }

    /// Whether a node does not touch geoms of a rigid group.
    pub fn is_exempt(&self, node: u32, group: usize) -> bool {
        !self.exempt.is_empty() && self.exempt.binary_search(&Exemption { node, group }).is_ok()
    }

    /// A node of the body among the coordinates of all.
    #[inline(always)]
    pub fn node(&self, all: &[f64], node: u32) -> Vec3<f64> {
        let at = 3 * (self.first + node as usize);
        Vec3::new(all[at], all[at + 1], all[at + 2])
    }

    /// The corners of a triangle.
    #[inline(always)]
    pub fn corners(&self, all: &[f64], triangle: u32) -> [Vec3<f64>; 3] {
        self.triangles[triangle as usize].map(|node| self.node(all, node))
    }

    /// The area that is a node's share of the surface: a third of the triangles around it, m².
    pub fn area(&self, all: &[f64], node: u32) -> f64 {
        let twice = |t: &u32| {
            let [a, b, c] = self.corners(all, *t);
            (b - a).cross(c - a).norm()
        };
        self.around(node).iter().map(twice).sum::<f64>() / 6.0
    }
}

/// Weights below this are of points on the side of a triangle.
const ON_SIDE: f64 = 1e-6;

/// The triangle beyond each side.
fn neighbours(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    let mut half_edges: Vec<_> =
        triangles.iter().enumerate().flat_map(|(t, nodes)| sides(nodes).map(|side| (side, t as u32))).collect();
    half_edges.sort_unstable();
    let beyond = |[a, b]: [u32; 2]| {
        let found = half_edges.binary_search_by(|(side, _)| side.cmp(&[b, a]));
        found.map_or(NONE, |i| half_edges[i].1)
    };
    triangles.iter().map(|nodes| sides(nodes).map(beyond)).collect()
}
