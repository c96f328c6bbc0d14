//! Coriolis and gyroscopic forces in their bilinear form, for steps that take everything else as symplectic Euler does.
//!
//! The velocity-dependent forces of inertia c(q, v) are quadratic in v. Their polar form c(q; v₀, v₁), with c(q; v, v) = c(q, v), is
//! linear in the velocity v₁ at the end of the step, so that
//!
//! ```text
//! M (v₁ − v₀) + dt c(q₀; v₀, v₁) = dt f      ⇔      (M + Λ + ½ dt C) (v₁ − v₀) = dt (f − c(q₀, v₀)),      C = ∂c/∂v at v₀
//! ```
//!
//! is one linear solve, with a matrix that is not symmetric and still factored in O(n) ([`multibody::ImplicitFactor`]). Taken at v₀
//! alone these forces feed energy into whatever turns fast; in this form a free rigid body neither gains nor loses energy in the mean.
//!
//! Source: Kahan, *Unconventional Numerical Methods for Trajectory Calculations*, 1993.

use multibody::{ImplicitFactor, JointDerivative, Rates, Tree};
use spatial::{Mat3, Vec3};

use super::Part;

/// The turn of a body in a step below which Coriolis forces are taken at v₀, rad. That changes energy by the square of it a step, relative.
const LEAST_TURN: f64 = 1e-4;

/// Scratch of the solve on a tree.
#[derive(Clone, Debug)]
pub(super) struct Bilinear {
    factor: ImplicitFactor,
    /// Whether the tree turns so fast in this step that the solve is needed.
    pub is_active: bool,
    /// A x, and dt (f − c(q₀, v₀)), (nv).
    momentum: Vec<f64>,
    loads: Vec<f64>,
    /// Zeros, and forces that are not read, (nv).
    zeros: Vec<f64>,
    unused: Vec<f64>,
    /// The latter and Λ, each over dt, (nv).
    force: Vec<f64>,
    diagonal: Vec<f64>,
    /// Zeros, one for each node.
    blocks: Vec<Mat3<f64>>,
}

impl Bilinear {
    pub fn new(tree: &Tree<f64>) -> Self {
        let zeros = vec![0.0; tree.nv];
        Self {
            factor: ImplicitFactor::new(tree),
            is_active: false,
            momentum: zeros.clone(),
            loads: zeros.clone(),
            unused: zeros.clone(),
            force: zeros.clone(),
            diagonal: zeros.clone(),
            zeros,
            blocks: vec![Mat3::default(); tree.len()],
        }
    }
}

impl Part {
    /// Notes how the tree moves at the beginning of the step, `q` and `v` its own: what C is made of.
    pub(super) fn note_turning(&mut self, q: &[f64], v: &[f64], dt: f64) {
        let Self { bilinear: Some(bilinear), tree, kin, .. } = self else { return };
        let fastest = kin.twists.iter().fold(0.0, |most, twist| f64::max(most, twist.ang.norm_squared()));
        bilinear.is_active = fastest * dt * dt > LEAST_TURN * LEAST_TURN;
        if bilinear.is_active {
            let Bilinear { factor, zeros, unused, .. } = &mut **bilinear;
            factor.inverse_dynamics(tree, (q, v, zeros), Vec3::ZERO, kin, unused);
        }
    }

    /// Adds to the step's impulses what Coriolis forces in their bilinear form are more than those at v₀: −½ dt C x, x the change of
    /// velocities in free motion. They are forces like all others from there on: constraints find A = M + Λ. Drives with limits resist
    /// in x and do not pull: how far they may is found later, and x must not depend on where the search for that begins.
    pub(super) fn turn_bilinearly(&mut self) {
        let Self { bilinear, tree, kin, impedance, implicit, change, factor, momenta, impulse, free, dt, .. } = self;
        let Some(bilinear) = bilinear.as_deref_mut().filter(|bilinear| bilinear.is_active) else { return };
        impedance.diagonal.copy_from_slice(implicit);
        let Bilinear { factor: of_motion, momentum, loads, force, diagonal, blocks, .. } = bilinear;
        free.loads(tree, kin, impulse, momenta, loads);
        let per_second = 1.0 / *dt;
        force.iter_mut().zip(&*loads).for_each(|(force, load)| *force = load * per_second);
        diagonal.iter_mut().zip(&impedance.diagonal).for_each(|(d, lambda)| *d = lambda * per_second);
        let rates = Rates { position: 0.0, velocity: 0.5, acceleration: per_second };
        of_motion.factor(rates, JointDerivative { diagonal, blocks, turns: blocks }, force, change);
        multibody::apply(tree, tree.all(), kin, impedance, change, &mut factor.motions, momenta, momentum);
        for (impulse, (momentum, load)) in impulse.iter_mut().zip(momentum.iter().zip(loads)) {
            *impulse += momentum - *load;
        }
    }
}
