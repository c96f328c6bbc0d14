//! Time-stepping schemes: where in a step forces are taken.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use multibody::{Retraction, SpringPoint};
use support::suggest;

/// When in a step the positions and velocities are taken that PD control acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PdLaw {
    /// `Stable` under symplectic Euler, `Theta` under the other schemes.
    #[default]
    Auto,
    /// Stable PD (Tan, Liu, Turk 2011), see [`Pd`](crate::Pd): positions where the velocity at the beginning leads,
    /// velocities at the end. Stable at any gains and steps, first order.
    Stable,
    /// As the scheme takes springs and dampers: of its order.
    Theta,
}

/// The time-stepping scheme, a θ-method in two stages: free motion, then the constraints linearised at it.
///
/// ```text
/// M(q^θq) (v − v₀) + dt F(q^θq, v^θv) = J(q^θq)ᵀ γ,       q = q₀ ⊞ dt v^θvq,      x^θ = (1 − θ) x₀ + θ x
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scheme {
    /// Velocities from forces at the beginning of the step, positions from the new velocities; damping, stiffness and drives implicit all the
    /// same. First order. What turns fast and is not damped gains energy without bound.
    SymplecticEuler,
    /// As symplectic Euler, but with Coriolis and gyroscopic forces between the velocities at both ends of the step, and with energy and
    /// momentum balanced at its end: they change by what forces and constraints do, however fast bodies turn. First order.
    #[default]
    Bilinear,
    /// Everything at the beginning of the step, θ = 0. First order, and unstable where forces are stiff.
    ExplicitEuler,
    /// Everything at the end of the step, θ = 1. First order, takes energy.
    ImplicitEuler,
    /// The symplectic midpoint rule, θ = ½: second order, keeps energy. Rotations advance by Cayley's map.
    Midpoint,
    /// Any θ. Velocity-dependent forces of inertia are implicit too where θ_v > 0.
    Theta(Theta),
}

/// Where in a step each thing is taken, from 0 at its beginning to 1 at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theta {
    /// Positions, of which inertia, forces and rows of constraints are functions.
    pub q: f64,
    /// Velocities, of which forces are functions.
    pub v: f64,
    /// Velocities that move positions.
    pub vq: f64,
}

impl Theta {
    fn all(theta: f64) -> Self {
        Self { q: theta, v: theta, vq: theta }
    }
}

impl Scheme {
    /// θ of the scheme.
    pub fn theta(self) -> Theta {
        match self {
            Self::SymplecticEuler | Self::Bilinear => Theta { q: 0.0, v: 1.0, vq: 1.0 },
            Self::ExplicitEuler => Theta::all(0.0),
            Self::ImplicitEuler => Theta::all(1.0),
            Self::Midpoint => Theta::all(0.5),
            Self::Theta(theta) => theta,
        }
    }

    /// θ of springs, dampers and drives: that of the scheme, but the end of the step for symplectic Euler, whose steps
    /// may be large.
    pub(crate) fn compliant_theta(self) -> Theta {
        match self {
            Self::SymplecticEuler | Self::Bilinear => Theta::all(1.0),
            other => other.theta(),
        }
    }

    /// Where compliant constraints are taken that the step resolves: the stiff ones, and all under schemes that would not
    /// keep them stable, at the end of the step.
    pub(crate) fn constraint_theta(self) -> f64 {
        let Theta { q, v, vq } = self.theta();
        if q.min(v).min(vq) >= 0.5 { q.max(v).max(vq) } else { 1.0 }
    }

    /// Whether free motion is linear in the velocities at the end of the step, and everything else is taken at its end.
    pub(crate) fn is_linear(self) -> bool {
        matches!(self, Self::SymplecticEuler | Self::Bilinear)
    }

    /// Whether free motion is a nonlinear equation in the velocities at the end of the step.
    pub(crate) fn is_implicit(self) -> bool {
        let Theta { q, v, vq } = self.theta();
        !self.is_linear() && (v > 0.0 || q * vq > 0.0)
    }

    /// Whether positions follow velocities at the beginning of the step, or constraints are taken at positions that free
    /// motion leads to: what hits must then be stopped before.
    pub(crate) fn has_impacts(self) -> bool {
        let Theta { q, vq, .. } = self.theta();
        q > 0.0 || vq < 1.0
    }

    /// The schemes that have names.
    pub const NAMED: [(&str, Self); 5] = [
        ("symplectic-euler", Self::SymplecticEuler),
        ("bilinear", Self::Bilinear),
        ("midpoint", Self::Midpoint),
        ("implicit-euler", Self::ImplicitEuler),
        ("explicit-euler", Self::ExplicitEuler),
    ];

    /// By which power of the step errors fall.
    pub(crate) fn order(self) -> f64 {
        if self.is_midpoint() { 2.0 } else { 1.0 }
    }

    /// Whether it is the midpoint rule, by its name or by its θ.
    fn is_midpoint(self) -> bool {
        self.theta() == Theta::all(0.5)
    }

    pub(crate) fn retraction(self) -> Retraction {
        if self.is_midpoint() { Retraction::Cayley } else { Retraction::Exponential }
    }
}

/// The name, or θ_q, θ_v, θ_vq with commas between.
impl Display for Scheme {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match (Self::NAMED.iter().find(|(_, scheme)| scheme == self), self.theta()) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Theta { q, v, vq }) => write!(f, "{q},{v},{vq}"),
        }
    }
}

/// Reads what `Display` writes:
///
/// ```
/// use sapwood_sim::{Scheme, Theta};
/// assert_eq!("midpoint".parse(), Ok(Scheme::Midpoint));
/// assert_eq!("0.5,1,1".parse(), Ok(Scheme::Theta(Theta { q: 0.5, v: 1.0, vq: 1.0 })));
/// assert!("leapfrog".parse::<Scheme>().unwrap_err().contains("midpoint"));
/// ```
impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, scheme)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*scheme);
        }
        let numbers: Vec<f64> = text.split(',').map_while(|x| x.trim().parse().ok()).collect();
        match numbers[..] {
            [q, v, vq] if text.split(',').count() == 3 && numbers.iter().all(|x| (0.0..=1.0).contains(x)) => {
                Ok(Self::Theta(Theta { q, v, vq }))
            }
            _ => {
                let names = Self::NAMED.map(|(name, _)| name);
                let hint = suggest::did_you_mean(text, names).map_or_else(String::new, |hint| format!("; {hint}"));
                let names = names.join(", ");
                Err(format!(
                    "no such scheme; available: {names}, or three numbers from 0 to 1: theta_q,theta_v,theta_vq{hint}"
                ))
            }
        }
    }
}

/// How a spring and a damper resist over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpringDamper {
    /// Force of the spring per velocity at the beginning.
    pub ahead: f64,
    /// Impulse per change of velocity.
    pub impedance: f64,
}

/// A scheme's step of a certain length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Discretization {
    pub dt: f64,
    pub theta: Theta,
    /// θ of springs, dampers and drives; of springs where their place does not depend on what they move.
    pub compliant: Theta,
    /// Whether positions follow the velocity at the end of the step, from where it begins.
    pub is_plain: bool,
    pub retraction: Retraction,
    /// Whether PD control has the law of its own.
    pub stable_pd: bool,
}

impl Discretization {
    pub fn new(scheme: Scheme, dt: f64, pd: PdLaw) -> Self {
        Self {
            dt,
            theta: scheme.theta(),
            compliant: scheme.compliant_theta(),
            is_plain: scheme.is_linear(),
            retraction: scheme.retraction(),
            stable_pd: match pd {
                PdLaw::Auto => scheme.is_linear(),
                PdLaw::Stable => true,
                PdLaw::Theta => false,
            },
        }
    }

    /// Whether it is the midpoint rule.
    pub fn is_midpoint(&self) -> bool {
        self.theta == Theta::all(0.5)
    }

    /// How a spring and a damper resist over the step that act on something of this `mobility`, 1/kg or 1/(kg·m²): where positions follow the
    /// velocity at the end of the step, springs are taken where [`SpringPoint`] says.
    pub fn resist(&self, stiffness: f64, damping: f64, mobility: f64) -> SpringDamper {
        if !self.is_plain || stiffness == 0.0 {
            return self.resist_as_scheme(stiffness, damping);
        }
        self.resist_at(SpringPoint::of(self.dt * self.dt * stiffness * mobility), stiffness, damping)
    }

    /// The same where the scheme has it, whatever moves.
    pub fn resist_as_scheme(&self, stiffness: f64, damping: f64) -> SpringDamper {
        let Theta { q, vq, .. } = self.compliant;
        self.resist_at(SpringPoint { lead: q, reach: q * vq }, stiffness, damping)
    }

    fn resist_at(&self, point: SpringPoint<f64>, stiffness: f64, damping: f64) -> SpringDamper {
        SpringDamper {
            ahead: point.ahead(self.dt, stiffness),
            impedance: point.impedance(self.dt, stiffness, self.compliant.v * damping),
        }
    }
}
