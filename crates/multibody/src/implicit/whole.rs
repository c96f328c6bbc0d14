//! A tree as one body.

use spatial::{ArticulatedInertia, Mat3, Sym3, Vec3, Wrench};

use crate::NodeFrame;

/// A tree as one body in motion, about a fixed point.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Mass, kg.
    pub mass: f64,
    /// Σ m c with centres of mass from the fixed point, kg·m.
    pub moment: Vec3<f64>,
    /// Rotational inertia about the fixed point, kg·m².
    pub rotation: Sym3<f64>,
    /// Momentum about the fixed point.
    pub momentum: Wrench<f64>,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// The root's placement.
    pub root: NodeFrame<f64>,
}

impl Default for Whole {
    /// Nothing.
    fn default() -> Self {
        let root = NodeFrame::default();
        Self { mass: 0.0, moment: Vec3::ZERO, rotation: Sym3::ZERO, momentum: Wrench::ZERO, kinetic: 0.0, root }
    }
}

impl Whole {
    /// The centre of mass from the fixed point, m; that point where there is no mass.
    pub fn center(&self) -> Vec3<f64> {
        if self.mass > 0.0 { self.moment * (1.0 / self.mass) } else { Vec3::ZERO }
    }

    /// The inertia of the body about the fixed point.
    pub fn inertia(&self) -> ArticulatedInertia<f64> {
        let m = self.mass;
        ArticulatedInertia { a: self.rotation, b: Mat3::skew(self.moment), c: Sym3::diagonal(Vec3::new(m, m, m)) }
    }
}
