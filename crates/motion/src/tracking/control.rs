//! How a controller acts, and what it is asked to reach.

use std::ops::Range;

use multibody::{JointKind, Model};
use sim::Pd;
use sim::stable_pd::{Command, Method};

/// Gains of the MABA paper for all joints: N·m/rad and N·m·s/rad.
pub const JOINT_GAINS: [f64; 2] = [75_000.0, 4_000.0];
/// Its gains for the root, the "hand of God": N/m, N·m/rad and with s.
pub const ROOT_GAINS: [f64; 2] = [20_000.0, 2_000.0];

/// How the force of the controller comes from the acceleration q̈ that a solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torque {
    /// τ = M q̈ + C by RNEA.
    InverseDynamics,
    /// τ = Q − dt K_d q̈: the cheapest, but what dt K_d q̈ cancels of Q is lost to the following forward dynamics.
    RoundTrip,
}

/// How the controller acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// [`sim::Pd`]: the law of stable PD within the step, with as much of K_p implicit as makes it stable at any gain and step.
    Unconditional,
    /// The law of stable PD as the paper has it, within the step: one pass is forward dynamics and control, and contact meets the
    /// controlled joints. It is [`Self::Unconditional`] where K_d ≥ 1.5 dt K_p, and below that unstable if bodies are light.
    Embedded,
    /// The same law before the step: its force by a method of [`sim::stable_pd`], then a step under this force.
    TwoPass(Method, Torque),
    /// PD as of old: τ = −K_p (q ⊟ q̄) − K_d (q̇ − q̇̄) at the beginning of the step, then a step under this force.
    Explicit,
}

impl Control {
    /// Those that users choose by name, and what each is.
    pub const NAMED: [(&'static str, Self, &'static str); 7] = [
        ("stable", Self::Unconditional, "stable PD within the step, stable at any gain and step"),
        ("maba", Self::Embedded, "the law of the MABA paper exactly, within the step"),
        ("maba-standalone", Self::before(Method::Maba), "the same law, its force found before the step in linear time"),
        ("dense", Self::before(Method::Dense), "the same by a dense factorisation (the paper's DF)"),
        ("sparse", Self::before(Method::Sparse), "the same by a branch-sparse factorisation (the paper's SF)"),
        ("pcg", Self::before(Method::Pcg), "the same by conjugate gradients"),
        ("explicit", Self::Explicit, "explicit PD: the force at the beginning of the step"),
    ];

    /// Stable PD before the step, by inverse dynamics.
    const fn before(method: Method) -> Self {
        Self::TwoPass(method, Torque::InverseDynamics)
    }

    /// The name that users choose it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unconditional => "stable",
            Self::Embedded => "maba",
            Self::TwoPass(Method::Maba, _) => "maba-standalone",
            Self::TwoPass(Method::Dense, _) => "dense",
            Self::TwoPass(Method::Sparse, _) => "sparse",
            Self::TwoPass(Method::Pcg, _) => "pcg",
            Self::Explicit => "explicit",
        }
    }

    /// The name in tables and pictures: MABA, DF, PCG, SF as in the paper.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Unconditional => "stable PD",
            Self::Embedded => "MABA",
            Self::TwoPass(Method::Maba, _) => "MABA, standalone",
            Self::TwoPass(Method::Dense, _) => "DF",
            Self::TwoPass(Method::Sparse, _) => "SF",
            Self::TwoPass(Method::Pcg, _) => "PCG",
            Self::Explicit => "explicit PD",
        }
    }
}

/// What a controller is asked to reach in the step from t to t + dt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The pose of t, at rest: q̄(t), q̇̄ = 0.
    Start,
    /// The pose of t + dt, at rest: q̄(t + dt), q̇̄ = 0. Equations 3 and 4 of the MABA paper.
    End,
    /// The pose of t + dt, reached at the reference's velocity: q̄(t + dt), q̇̄ = (q̄(t + dt) ⊟ q̄(t)) / dt.
    #[default]
    EndWithVelocity,
}

impl Target {
    /// Those that users choose by name, and what each is.
    pub const NAMED: [(&'static str, Self, &'static str); 3] = [
        ("start", Self::Start, "the pose at the start of the step, at rest"),
        ("end", Self::End, "the pose at the end of the step, at rest: the paper's"),
        ("end-velocity", Self::EndWithVelocity, "the pose at the end of the step, with the reference's velocity"),
    ];

    /// The name that users choose it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::EndWithVelocity => "end-velocity",
        }
    }
}

/// Stiffness and damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// K_p and K_d of all joints: N·m/rad and N·m·s/rad, or N/m and N·s/m.
    pub joints: [f64; 2],
    /// Those of the root; `None` leaves it free, as physics has it.
    pub root: Option<[f64; 2]>,
}

impl Default for Gains {
    fn default() -> Self {
        Self { joints: JOINT_GAINS, root: Some(ROOT_GAINS) }
    }
}

impl Gains {
    /// A controller with these gains, within the model's own effort limits and this one; the root is the model's first free joint, and
    /// any other free joint is left alone.
    pub fn controller(&self, model: &Model, effort_limit: f64) -> Pd {
        let root = root_dofs(model);
        let free = |i: usize| {
            model.joints.iter().any(|joint| joint.kind == JointKind::Free && (joint.v..joint.v + 6).contains(&i))
        };
        let of = |which: usize| -> Vec<f64> {
            let gain = |i| match self.root {
                Some(gains) if root.contains(&i) => gains[which],
                _ if free(i) => 0.0,
                _ => self.joints[which],
            };
            (0..model.nv()).map(gain).collect()
        };
        let own = model.effort_limits();
        // The hand that holds the root is no motor.
        let limit = |i| if root.contains(&i) { f64::INFINITY } else { effort_limit.min(own[i]) };
        Pd {
            kp: of(0),
            kd: of(1),
            target: model.q0.clone(),
            target_velocity: vec![0.0; model.nv()],
            effort_limit: (0..model.nv()).map(limit).collect(),
        }
    }
}

/// The degrees of freedom of the model's first free joint; none without one.
pub fn root_dofs(model: &Model) -> Range<usize> {
    let root = model.joints.iter().find(|joint| joint.kind == JointKind::Free);
    root.map_or(0..0, |joint| joint.v..joint.v + 6)
}

/// The controller as a command.
pub fn command(pd: &Pd) -> Command<'_> {
    Command {
        kp: &pd.kp,
        kd: &pd.kd,
        target: &pd.target,
        target_velocity: Some(&pd.target_velocity),
        effort_limit: Some(&pd.effort_limit),
    }
}
