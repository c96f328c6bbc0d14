use crate::convex::ConvexWorkspace;
use crate::convex::interior_point::InteriorPoint;
use crate::{Block, Constraint};

use crate::semismooth::BlockRows;
use crate::semismooth::proximal_point::Proximal;

/// Scratch of [`solve`](crate::solve), reused from one problem to the next, and the impulses it found.
///
/// It allocates only when a problem is larger than those before it; nothing in it changes a result.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Of the convex problem, and where its iterate is.
    pub(crate) convex: ConvexWorkspace,
    /// The constraints as they stand: their bounds of friction move.
    pub(crate) constraints: Vec<Constraint>,
    /// ∂γ/∂n₀, one per constraint.
    pub(crate) slopes: Vec<[f64; 3]>,
    /// The constraints in blocks, and scratch of the proximal point method on them.
    pub(crate) blocks: Vec<BlockRows<f64>>,
    pub(crate) proximal: Vec<Proximal>,
    pub(crate) interior: InteriorPoint,
}

impl Workspace {
    /// An empty workspace; the first solve sizes it.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// The impulses `γ` at the last iterate, one entry per row of `J`.
    pub fn impulses(&self) -> &[f64] {
        &self.convex.current.gamma
    }

    /// The constraint velocities `v_c = J v` at the last iterate, one entry per row of `J`.
    pub fn velocities(&self) -> &[f64] {
        &self.convex.current.v_c
    }

    /// The Hessian blocks `G` at the last iterate, one per constraint: [`Block::is_active`] tells which constraints push.
    pub fn hessian(&self) -> &[Block] {
        &self.convex.current.hessian
    }

    pub(crate) fn resize(&mut self, nv: usize, rows: usize, constraints: usize) {
        self.convex.resize(nv, rows, constraints);
        self.slopes.resize(constraints, [0.0; 3]);
    }
}
