//! A soft body in a step.

use spatial::Vec3;

use super::SoftMovement;
use super::surface::{SoftSurface, Topology};
use super::tree::TriangleTree;

/// A soft body, and where it is in a step.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub index: u32,
    pub topology: Topology,
    pub bits: [u32; 2],
    pub margin: f64,
    pub radius: f64,
    pub self_contact: bool,
    /// The nodes at rest.
    pub rest: Vec<Vec3<f64>>,
    /// The mean length of the triangles' sides at rest, m.
    pub edge: f64,
    /// Half the least extent of the box around the body at rest, m: what is deeper inside has no nearest side.
    pub half_thickness: f64,
    pub reach: Reach,
    tree: TriangleTree,
    /// Whether the tree knows where the nodes are in this step.
    is_fitted: bool,
}

/// The box around a body, and how far its nodes may move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub low: Vec3<f64>,
    pub high: Vec3<f64>,
    /// The farthest that a node may move, with what surrounds the body, m.
    pub farthest: f64,
}

/// Whether a `contype` shares a bit with the other's `conaffinity`.
pub(super) fn share_bits([contype, conaffinity]: [u32; 2], other: [u32; 2]) -> bool {
    (contype & other[1]) | (conaffinity & other[0]) != 0
}

impl Body {
    /// The body of this index, whose nodes begin at `first` among all.
    pub fn new(index: u32, surface: &SoftSurface, first: usize) -> Self {
        let positions: Vec<f64> = surface.nodes.iter().flat_map(|p| p.to_array()).collect();
        let mut topology = Topology::new(surface, 0);
        let tree = TriangleTree::new(&topology, &positions);
        let sides = surface.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let length = |[a, b]: [u32; 2]| (surface.nodes[a as usize] - surface.nodes[b as usize]).norm();
        let edge = sides.map(length).sum::<f64>() / (3 * surface.triangles.len().max(1)) as f64;
        let reach = Reach::new(&topology, &SoftMovement { positions: &positions, displacements: &[], slack: 0.0 });
        let size = reach.high - reach.low;
        topology.first = first;
        Self {
            index,
            topology,
            bits: [surface.contype, surface.conaffinity],
            margin: surface.margin,
            radius: surface.radius,
            self_contact: surface.self_contact,
            rest: surface.nodes.clone(),
            edge,
            half_thickness: 0.5 * size.x.min(size.y).min(size.z).max(0.0),
            reach,
            tree,
            is_fitted: false,
        }
    }

    /// How many nodes it has.
    pub fn count(&self) -> usize {
        self.rest.len()
    }

    /// How far from its triangles something touches it, m.
    pub fn shell(&self) -> f64 {
        self.radius + self.margin
    }

    /// Takes its place in a step.
    pub fn place(&mut self, soft: &SoftMovement<'_>) {
        self.is_fitted = false;
        self.reach = Reach::new(&self.topology, soft);
        self.reach.farthest += self.shell();
    }

    /// Its triangles where they are in the step.
    pub fn fitted_tree(&mut self, positions: &[f64]) -> &TriangleTree {
        if !self.is_fitted {
            self.tree.refit(&self.topology, positions);
            self.is_fitted = true;
        }
        &self.tree
    }

    /// The same once it is fitted.
    pub fn tree(&self) -> &TriangleTree {
        &self.tree
    }

    /// Whether another body may touch it.
    pub fn may_touch(&self, other: &Self) -> bool {
        share_bits(self.bits, other.bits)
    }

    /// What a node does in the step.
    #[inline(always)]
    pub fn displacement(&self, soft: &SoftMovement<'_>, node: u32) -> Vec3<f64> {
        soft.displacement(self.topology.first + node as usize)
    }
}

impl Reach {
    fn new(topology: &Topology, soft: &SoftMovement<'_>) -> Self {
        let infinity = Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let (mut low, mut high, mut farthest) = (infinity, -infinity, 0.0);
        for &node in &topology.nodes {
            let p = topology.node(soft.positions, node);
            // `min` and `max` drop what is not a number.
            low = Vec3::new(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z));
            high = Vec3::new(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z));
            farthest = f64::max(farthest, soft.displacement(topology.first + node as usize).norm_squared());
        }
        Self { low, high, farthest: farthest.sqrt() + soft.slack }
    }

    /// Whether two bodies may come near each other.
    pub fn meet(a: &Body, b: &Body) -> bool {
        let limit = a.reach.farthest + b.reach.farthest;
        let is_between = |low: f64, high: f64| low <= high + limit;
        let (a, b) = (&a.reach, &b.reach);
        is_between(a.low.x, b.high.x)
            && is_between(b.low.x, a.high.x)
            && is_between(a.low.y, b.high.y)
            && is_between(b.low.y, a.high.y)
            && is_between(a.low.z, b.high.z)
            && is_between(b.low.z, a.high.z)
    }

    /// How far a point is from the box, squared, m².
    pub fn distance_squared(&self, p: Vec3<f64>) -> f64 {
        let beyond = |x: f64, low: f64, high: f64| f64::max(low - x, x - high).max(0.0);
        let apart = Vec3::new(
            beyond(p.x, self.low.x, self.high.x),
            beyond(p.y, self.low.y, self.high.y),
            beyond(p.z, self.low.z, self.high.z),
        );
        apart.norm_squared()
    }
}
