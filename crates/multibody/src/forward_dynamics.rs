//! Forward dynamics in one call, by the recursion of a step: from state and forces to accelerations.

use spatial::Vec3;

use crate::{Factor, FreeStep, JointImpedance, Kinematics, Tree};

/// Forward dynamics of a tree, with its scratch.
///
/// With Λ = 0 this is the articulated-body algorithm. With τ = −K_p (…) − K_d v and Λ = dt K_d it is the modified algorithm of Yin and
/// Yin, *Linear Time Stable PD Controllers* (2020), equations 30 to 46.
///
/// ```
/// use sapwood_multibody::{BodySpec, DynamicsInput, ForwardDynamics, JointKind, JointSpec, ModelBuilder};
/// use spatial::{RigidInertia, Sym3, Vec3};
///
/// let mut builder = ModelBuilder::new("pendulum");
/// let inertia = RigidInertia { mass: 1.0, com: Vec3::new(0.0, 0.0, -0.5), inertia: Sym3::ZERO };
/// let rod = builder.add_body(BodySpec { name: "rod".into(), inertia, ..BodySpec::default() })?;
/// let axis = Vec3::new(0.0, 1.0, 0.0);
/// builder.add_joint(rod, JointSpec { name: "pivot".into(), ..JointSpec::new(JointKind::Revolute { axis }) })?;
/// let model = builder.build()?;
///
/// let mut dynamics = ForwardDynamics::new(&model.tree);
/// let gravity = Vec3::new(0.0, 0.0, -9.81);
/// let input = DynamicsInput { q: &[0.5], v: &[0.0], tau: &[0.0], impedance: &[0.0], gravity };
/// let mut acceleration = [0.0];
/// dynamics.solve(&model.tree, &input, &mut acceleration);
/// assert!((acceleration[0] + 9.81 / 0.5 * 0.5_f64.sin()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForwardDynamics {
    /// Boxed: its registers are aligned to more bytes than owners in Python give memory.
    step: Box<FreeStep>,
    kin: Kinematics<f64>,
    joints: JointImpedance<f64>,
    factor: Factor<f64>,
}

/// What accelerations depend on.
#[derive(Clone, Copy, Debug)]
pub struct DynamicsInput<'a> {
    /// Positions, (nq); quaternions need not be unit.
    pub q: &'a [f64],
    /// Velocities, (nv).
    pub v: &'a [f64],
    /// Joint forces, (nv).
    pub tau: &'a [f64],
    /// The diagonal of Λ, (nv): armature, and what is implicit of dampers and drives.
    pub impedance: &'a [f64],
    /// The gravitational field, m/s².
    pub gravity: Vec3<f64>,
}

impl ForwardDynamics {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        Self {
            step: Box::new(FreeStep::new(tree)),
            kin: Kinematics::new(tree),
            joints: JointImpedance::new(tree),
            factor: Factor::new(tree),
        }
    }

    /// v̇ = (M + Λ)⁻¹ (τ − C(q, v)), (nv). `tree` is the one that this was made for.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn solve(&mut self, tree: &Tree<f64>, input: &DynamicsInput<'_>, acceleration: &mut [f64]) {
        let Self { step, kin, joints, factor } = self;
        let DynamicsInput { q, v, tau, impedance, gravity } = *input;
        joints.diagonal.copy_from_slice(&impedance[..tree.nv]);
        step.place(tree, q, v, gravity, 1.0, kin);
        step.solve(tree, kin, joints, tau, acceleration, factor);
    }
}
