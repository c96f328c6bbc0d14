//! Inverse kinematics: the configuration at which frames of bodies are where they should be.
//!
//! min ½‖r(q)‖² within the joints' limits, r the weighted errors of all targets, by Levenberg–Marquardt steps on the manifold:
//!
//! (JᵀJ + λ 1) d = −Jᵀr,    q ← q ⊞ d,    λ = μ ½‖r‖²
//!
//! λ vanishes with the error (Sugihara 2011), so the last steps are Newton's; μ follows from how well the linear model foretold the decrease.

mod least_squares;
mod problem;

use spatial::{Pose, Quat, Vec3};

use crate::Model;
use problem::Problem;

/// Where a frame of a body should be.
#[derive(Clone, Debug)]
pub struct PoseTarget {
    /// The body.
    pub body: usize,
    /// The frame in the body's frame.
    pub frame: Pose<f64>,
    /// Where its origin should be in the world, m; None leaves it free.
    pub position: Option<Vec3<f64>>,
    /// How it should be oriented in the world; None leaves it free.
    pub orientation: Option<Quat<f64>>,
    /// Factors on the position's error along the world's axes, 1/m; 0 leaves a direction free.
    pub position_weights: Vec3<f64>,
    /// Factors on the rotation vector from the target to the frame, in the target's axes, 1/rad; 0 leaves an axis free.
    pub orientation_weights: Vec3<f64>,
}

impl PoseTarget {
    /// A target for the origin of a body's frame, with weights of 1.
    pub fn new(body: usize, position: Option<Vec3<f64>>, orientation: Option<Quat<f64>>) -> Self {
        let ones = Vec3::new(1.0, 1.0, 1.0);
        Self { body, frame: Pose::IDENTITY, position, orientation, position_weights: ones, orientation_weights: ones }
    }
}

/// How [`inverse_kinematics`] searches.
#[derive(Clone, Debug)]
pub struct InverseKinematicsOptions {
    /// The joints that may move; None: all of them.
    pub joints: Option<Vec<usize>>,
    /// A configuration (nq) to be near to with what freedom the targets leave.
    pub reference: Option<Vec<f64>>,
    /// The largest error of a target that is none, m and rad.
    pub tolerance: f64,
    /// Steps from one start, those towards the reference on top.
    pub max_iterations: usize,
    /// Further starts, drawn within the limits, until one leads to the targets.
    pub restarts: usize,
}

impl Default for InverseKinematicsOptions {
    fn default() -> Self {
        Self { joints: None, reference: None, tolerance: 1e-6, max_iterations: 100, restarts: 10 }
    }
}

/// What [`inverse_kinematics`] found.
#[derive(Clone, Debug)]
pub struct InverseKinematicsSolution {
    /// The configuration, (nq), within the limits.
    pub q: Vec<f64>,
    /// The largest distance (m) or angle (rad) of a target.
    pub error: f64,
    /// Steps that were computed, those of all starts together.
    pub iterations: usize,
    /// Whether the error is within the tolerance.
    pub converged: bool,
}

/// Why there is nothing to search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InverseKinematicsError {
    /// No target.
    #[error("there are no targets: expected at least one")]
    NoTargets,
    /// A target that asks for nothing.
    #[error("target {target}: neither position nor orientation with a weight above 0: expected at least one")]
    EmptyTarget {
        /// Its index.
        target: usize,
    },
    /// A body that nothing moves.
    #[error("target {target}: no joint that may move carries body {body:?}: expected a body behind one of them")]
    NotMovable {
        /// The target's index.
        target: usize,
        /// The body's name.
        body: String,
    },
    /// An index out of range, numbers that are not as many as expected, or not finite.
    #[error("{what}: expected {expected}")]
    Invalid {
        /// What it is.
        what: &'static str,
        /// What was expected.
        expected: &'static str,
    },
}

/// The configuration nearest to `targets` that a search from `start` (nq) leads to: a local minimum, which further starts leave behind
/// where it is no solution. The same arguments give the same bits. Coordinates that bear on no target stay.
///
/// ```
/// use sapwood_multibody::{BodySpec, InverseKinematicsOptions, JointKind, JointSpec, ModelBuilder, PoseTarget, inverse_kinematics};
/// use spatial::{RigidInertia, Sym3, Vec3};
///
/// let mut builder = ModelBuilder::new("two links");
/// let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0)) };
/// for (parent, x) in [(0, 0.0), (1, 1.0)] {
///     let pose = spatial::Pose::new(Vec3::new(x, 0.0, 0.0), spatial::Quat::IDENTITY);
///     let body = builder.add_body(BodySpec { parent, pose, inertia, ..BodySpec::default() })?;
///     builder.add_joint(body, JointSpec::new(JointKind::Revolute { axis: Vec3::new(0.0, 0.0, 1.0) }))?;
/// }
/// let model = builder.build()?;
/// let mut tip = PoseTarget::new(2, Some(Vec3::new(1.0, 1.0, 0.0)), None);
/// tip.frame.pos = Vec3::new(1.0, 0.0, 0.0);
/// let found = inverse_kinematics(&model, &[tip], &[0.1, 0.1], &InverseKinematicsOptions::default())?;
/// assert!(found.converged && (found.q[1] - std::f64::consts::FRAC_PI_2).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`InverseKinematicsError`] where there is nothing to search, or numbers are missing or not finite.
pub fn inverse_kinematics(
    model: &Model,
    targets: &[PoseTarget],
    start: &[f64],
    options: &InverseKinematicsOptions,
) -> Result<InverseKinematicsSolution, InverseKinematicsError> {
    let mut problem = Problem::new(model, targets, start, options)?;
    let mut best = problem.search(start.to_vec(), options.max_iterations);
    let mut iterations = best.iterations;
    for attempt in 1..=options.restarts {
        if best.converged {
            break;
        }
        let found = problem.search(problem.draw(start, attempt), options.max_iterations);
        iterations += found.iterations;
        if found.error < best.error {
            best = found;
        }
    }
    if let (Some(reference), true) = (&options.reference, best.converged) {
        iterations += problem.approach(reference, &mut best, options.max_iterations);
    }
    Ok(InverseKinematicsSolution { iterations, ..best })
}
