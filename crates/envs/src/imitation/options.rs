//! What a user chooses.

use sim::stable_pd::Method;

/// What an action is, in the order of the degrees of freedom after the root's: a rotation vector for each ball, rad, an angle or a
/// distance for each other joint, rad or m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// The target itself, from the joint's zero: DeepMimic's.
    Target,
    /// What the target departs by from the reference at the end of the control step.
    Residual,
    /// What it departs by from that reference moved ahead by kd/kp times its velocity. Damping pulls towards rest, which holds a joint behind
    /// its target by as much (0.1 s of motion by the usual gains): so controllers act as if their targets had the reference's velocity.
    Lead,
}

impl ActionKind {
    /// All of them by name.
    pub const NAMED: [(&str, Self); 3] = [("target", Self::Target), ("residual", Self::Residual), ("lead", Self::Lead)];
}

/// How rotations are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationKind {
    /// Quaternions w x y z with w ≥ 0, as in the paper.
    Quaternion,
    /// The first two columns of the rotation matrix, which do not jump.
    SixNumbers,
}

impl RotationKind {
    /// All of them by name.
    pub const NAMED: [(&str, Self); 2] = [("quaternion", Self::Quaternion), ("6d", Self::SixNumbers)];

    /// Numbers of a rotation.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Quaternion => 4,
            Self::SixNumbers => 6,
        }
    }
}

/// Which reward; each is 1 on the reference itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewardKind {
    /// Of the paper: 0.65 exp(−2 Σ‖q̂ ⊖ q‖²) + 0.1 exp(−0.1 Σ‖ω̂ − ω‖²) + 0.15 exp(−40 Σ‖p̂ − p‖²) + 0.1 exp(−10 ‖ĉ − c‖²), over joints
    /// (the root among them), joints, end effectors in the world, and the centre of mass.
    Paper,
    /// Of the published code: joints weighted with sum 1, end effectors as seen from the root along its heading, the root's placement and
    /// motion, and the velocity of the centre of mass in the place of its position.
    Code,
}

impl RewardKind {
    /// All of them by name.
    pub const NAMED: [(&str, Self); 2] = [("paper", Self::Paper), ("code", Self::Code)];

    /// Weights of pose, velocity, end effectors, root, centre of mass.
    pub const fn weights(self) -> [f64; 5] {
        match self {
            Self::Paper => [0.65, 0.1, 0.15, 0.0, 0.1],
            Self::Code => [0.5, 0.05, 0.15, 0.2, 0.1],
        }
    }
}

/// How targets become forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Stable PD within the step, by MABA: one pass is forward dynamics and control, and contacts and effort limits are solved for with it.
    Embedded,
    /// Stable PD before the step, by a method of [`sim::stable_pd`]; the step is then made under its force, cut at the effort limits.
    TwoPass(Method),
}

impl Controller {
    /// All of them by name.
    pub const NAMED: [(&str, Self); 5] = [
        ("maba", Self::Embedded),
        ("maba_standalone", Self::TwoPass(Method::Maba)),
        ("dense", Self::TwoPass(Method::Dense)),
        ("sparse", Self::TwoPass(Method::Sparse)),
        ("pcg", Self::TwoPass(Method::Pcg)),
    ];
}

/// Where a motion has its ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Where a tenth of the motion is below it: single postures of motion capture are, by centimetres.
    Most,
    /// Where the first posture stands. Postures that are below it are lifted on to it, each by itself.
    Start,
}

impl Ground {
    /// All of them by name.
    pub const NAMED: [(&str, Self); 2] = [("most", Self::Most), ("start", Self::Start)];
}

/// The options of an imitation task; names of joints and bodies are the model's.
#[derive(Clone, Debug)]
pub struct ImitationOptions {
    /// Actions a second.
    pub control_hz: f64,
    /// How targets become forces.
    pub controller: Controller,
    /// What an action is.
    pub action: ActionKind,
    /// How rotations are observed.
    pub rotations: RotationKind,
    /// Whether it is observed where the reference's root is, which DeepMimic's paper does not.
    pub observe_root: bool,
    /// Which reward.
    pub reward: RewardKind,
    /// Whether forces of the controllers are limited.
    pub effort_limits: bool,
    /// Whether episodes begin anywhere in the motion, or all at its start.
    pub reference_state_init: bool,
    /// Whether an episode ends when a body touches the ground that never does in the motion.
    pub early_termination: bool,
    /// Whether the reference is moved horizontally to where the character is when a cycle of the motion begins.
    pub cycle_sync: bool,
    /// Stiffness by joint where it is other than the character's own, N·m/rad or N/m.
    pub kp: Vec<(String, f64)>,
    /// Damping by joint, N·m·s/rad or N·s/m.
    pub kd: Vec<(String, f64)>,
    /// Greatest force by joint and degree of freedom, N·m or N.
    pub effort_limit: Vec<(String, f64)>,
    /// Bodies whose tips the reward compares; none: the character's own, or all that end a limb.
    pub end_effectors: Option<Vec<String>>,
    /// Bodies that must not touch the ground; none: those that the motion keeps above it.
    pub fall_bodies: Option<Vec<String>>,
    /// Where the motion has its ground.
    pub ground: Ground,
    /// Added to the motion's height, m; none: what puts it on that ground.
    pub height_offset: Option<f64>,
    /// Bodies that the motion never takes nearer to the ground than this must not touch it, m.
    pub fall_margin: f64,
}

impl Default for ImitationOptions {
    fn default() -> Self {
        Self {
            control_hz: 30.0,
            controller: Controller::Embedded,
            action: ActionKind::Target,
            rotations: RotationKind::Quaternion,
            observe_root: false,
            reward: RewardKind::Paper,
            effort_limits: true,
            reference_state_init: true,
            early_termination: true,
            cycle_sync: true,
            kp: Vec::new(),
            kd: Vec::new(),
            effort_limit: Vec::new(),
            end_effectors: None,
            fall_bodies: None,
            ground: Ground::Most,
            height_offset: None,
            fall_margin: 0.05,
        }
    }
}
