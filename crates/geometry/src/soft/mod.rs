//! The points in which soft bodies touch rigid shapes, each other and themselves.
//!
//! A contact point of a soft body is a point of its surface that moves with up to three nodes: their weights are its Jacobian.
//!
//! 1. *Nodes against rigid shapes*, by the shapes' signed distance; its gradient is the normal.
//! 2. *Triangles against rigid shapes* that are sharp, or curved so much that they fit between nodes: the triangle's deepest point, where
//!    that is deeper than its nodes.
//! 3. *Nodes against triangles* of other soft bodies, and of the same: the nearest point of the surface, inside and outside told apart by
//!    its normal.

mod body;
mod collider;
mod features;
mod pairs;
mod rigid;
mod surface;
mod tree;

use spatial::Vec3;

pub use self::collider::SoftCollider;
pub use self::surface::{Exemption, SoftSurface, SoftSurfaceError};

/// A point of the surface of a soft body, Σ weights · nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPoint {
    /// The soft body.
    pub body: u32,
    /// Nodes of the body; those without weight repeat the first.
    pub nodes: [u32; 3],
    /// Their weights, which sum to 1 and are not negative.
    pub weights: [f64; 3],
}

impl SoftPoint {
    /// A node.
    #[must_use]
    pub fn node(body: u32, node: u32) -> Self {
        Self { body, nodes: [node; 3], weights: [1.0, 0.0, 0.0] }
    }

    /// The nodes that have a weight, with it.
    pub fn parts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.nodes.into_iter().zip(self.weights).filter(|(_, weight)| *weight != 0.0)
    }
}

/// What a soft body touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SoftPartner {
    /// A geom, an index into the scene; that may be fixed in the world.
    Geom(usize),
    /// A point of another soft body, or of the same.
    Soft(SoftPoint),
}

/// A contact point of a soft body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftContact {
    /// The point of the soft body that touches.
    pub point: SoftPoint,
    /// What it touches.
    pub partner: SoftPartner,
    /// Midway between the two surfaces, in the world, m.
    pub position: Vec3<f64>,
    /// Unit vector from the soft body towards its partner.
    pub normal: Vec3<f64>,
    /// Distance of the surfaces along the normal less the margins, m; negative in penetration.
    pub gap: f64,
    /// The point's share of the soft body's surface, m².
    pub area: f64,
}

/// Where the nodes of soft bodies are in a step and how they may move: three coordinates a node, all bodies one after the other.
#[derive(Clone, Copy, Debug)]
pub struct SoftMovement<'a> {
    /// Where they are, m.
    pub positions: &'a [f64],
    /// What they do in the step at the velocities with which it begins, m; may be empty: nothing.
    pub displacements: &'a [f64],
    /// The farthest that a node may stray from that, m.
    pub slack: f64,
}

impl SoftMovement<'_> {
    /// The displacement of a node among all.
    #[inline(always)]
    fn displacement(&self, node: usize) -> Vec3<f64> {
        match self.displacements.get(3 * node..3 * node + 3) {
            Some(d) => Vec3::new(d[0], d[1], d[2]),
            None => Vec3::ZERO,
        }
    }
}
