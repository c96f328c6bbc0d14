//! The fastest kernel for one world of a tree.

use spatial::F64x4;

use super::{Arguments, LimbDynamics, NodeDynamics, PackedTree};
use crate::Tree;

/// Forward dynamics of one world: its limbs across lanes where that pays ([`LimbDynamics`]), else node by node ([`NodeDynamics`]).
///
/// ```
/// use sapwood_multibody::kernels::{Arguments, OneWorld};
/// use sapwood_multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
/// use spatial::{RigidInertia, Sym3, Vec3};
///
/// let mut builder = ModelBuilder::new("pendulum");
/// let inertia = RigidInertia { mass: 1.0, com: Vec3::new(0.0, 0.0, -0.5), inertia: Sym3::ZERO };
/// let rod = builder.add_body(BodySpec { name: "rod".into(), inertia, ..BodySpec::default() })?;
/// let axis = Vec3::new(0.0, 1.0, 0.0);
/// builder.add_joint(rod, JointSpec { name: "pivot".into(), ..JointSpec::new(JointKind::Revolute { axis }) })?;
/// let model = builder.build()?;
///
/// let mut world = OneWorld::new(&model.tree);
/// let gravity = Vec3::new(0.0, 0.0, -9.81);
/// let arguments = Arguments { q: &[0.5], v: &[0.0], tau: &[0.0], impedance: None, gravity };
/// let mut acceleration = [0.0];
/// world.forward_dynamics(&arguments, &mut acceleration);
/// assert!((acceleration[0] + 9.81 / 0.5 * 0.5_f64.sin()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneWorld {
    tree: PackedTree<f64>,
    kernel: Kernel,
}

#[derive(Clone, Debug)]
enum Kernel {
    Limbs(LimbDynamics<F64x4>),
    Nodes(NodeDynamics),
}

impl OneWorld {
    /// The kernel for a tree, and its scratch.
    pub fn new(tree: &Tree<f64>) -> Self {
        let limbs = LimbDynamics::new(tree);
        let kernel = if limbs.pays() { Kernel::Limbs(limbs) } else { Kernel::Nodes(NodeDynamics::new(tree)) };
        Self { tree: PackedTree::new(tree), kernel }
    }

    /// v̇ = (M + Λ)⁻¹(τ − C), by the best version for this processor.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn forward_dynamics(&mut self, arguments: &Arguments<'_, f64>, acceleration: &mut [f64]) {
        match &mut self.kernel {
            Kernel::Limbs(limbs) => limbs.forward_dynamics(arguments, acceleration),
            Kernel::Nodes(nodes) => nodes.forward_dynamics(arguments, acceleration),
        }
    }

    /// [`PackedTree::is_uniform`] of an impedance, (nv).
    pub fn is_uniform(&self, impedance: &[f64]) -> bool {
        self.tree.is_uniform(impedance)
    }
}
