//! Positions within a step: q₀ ⊞ dt v and what lies between, and how they change with v.

use spatial::{Mat3, Quat, Real, Vec3};

use crate::kinematics::{add3, quaternion, vec3};
use crate::{JointType, Tree};

/// How rotations follow angular velocities over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retraction {
    /// By the angle dt |ω|.
    #[default]
    Exponential,
    /// By the angle φ with tan(φ/2) = dt |ω|/2 (Cayley's map): with the midpoint rule a free body then keeps its angular
    /// momentum.
    Cayley,
}

impl Retraction {
    /// The rotation vector for u = dt ω.
    fn turn(self, u: Vec3<f64>) -> Vec3<f64> {
        u * self.angle(u.norm()).0
    }

    /// φ/|u| and dφ/d|u|.
    fn angle(self, u: f64) -> (f64, f64) {
        match self {
            Self::Exponential => (1.0, 1.0),
            Self::Cayley => {
                let ratio =
                    if u < 1e-4 { 1.0 - u * u / 12.0 } else { cayley(Vec3::new(u, 0.0, 0.0)).rotation_vector().x / u };
                (ratio, 1.0 / (1.0 + 0.25 * u * u))
            }
        }
    }

    /// q ← the configuration a `fraction` of the way from q to q ⊞ dt v, along the shortest path. `q` (nq), `v` (nv).
    pub fn advance(self, tree: &Tree<f64>, q: &mut [f64], v: &[f64], dt: f64, fraction: f64) {
        let shift = fraction * dt;
        for node in &tree.nodes {
            let (iq, iv) = (node.q, node.v);
            match node.joint {
                JointType::Revolute | JointType::Prismatic | JointType::Screw => q[iq] += shift * v[iv],
                JointType::Ball => self.rotate(&mut q[iq..], vec3(&v[iv..]) * dt, fraction),
                JointType::Free => {
                    add3(&mut q[iq..], vec3(&v[iv..]) * shift);
                    self.rotate(&mut q[iq + 3..], vec3(&v[iv + 3..]) * dt, fraction);
                }
            }
        }
    }

    fn rotate(self, q: &mut [f64], u: Vec3<f64>, fraction: f64) {
        let turn = match self {
            Self::Cayley if fraction == 1.0 => cayley(u),
            Self::Cayley if fraction == 0.5 => cayley(u * (1.0 / (1.0 + secant(u)))),
            _ => Quat::from_rotation_vector(self.turn(u) * fraction),
        };
        let Quat { w, x, y, z } = (quaternion(q) * turn).unit();
        q[..4].copy_from_slice(&[w, x, y, z]);
    }

    /// How the rotation a `fraction` of the way turns, in the body's axes, with u = dt ω: J_r(φ) ∂φ/∂u.
    pub fn tangent(self, u: Vec3<f64>, fraction: f64) -> Mat3<f64> {
        if self == Self::Cayley && fraction == 1.0 {
            return cayley_tangent(u);
        }
        if self == Self::Cayley && fraction == 0.5 {
            let n = secant(u);
            let scale = 1.0 / (1.0 + n);
            let change = Mat3::IDENTITY * scale - Mat3::outer(u * (0.25 / n * scale * scale), u);
            return cayley_tangent(u * scale) * change;
        }
        let (ratio, slope) = self.angle(u.norm());
        let along = u.normalized().unwrap_or(Vec3::ZERO);
        let change = Mat3::IDENTITY * (ratio * fraction) + Mat3::outer(along * ((slope - ratio) * fraction), along);
        right_jacobian(self.turn(u) * fraction) * change
    }
}

/// Cayley's map: the rotation by the angle φ about u with tan(φ/2) = |u|/2. Half of it is that of u / (1 + sec(φ/2)).
fn cayley(u: Vec3<f64>) -> Quat<f64> {
    Quat::new(1.0, 0.5 * u.x, 0.5 * u.y, 0.5 * u.z).unit()
}

/// sec(φ/2)
fn secant(u: Vec3<f64>) -> f64 {
    (1.0 + 0.25 * u.norm_squared()).sqrt()
}

/// How Cayley's rotation turns with u, in the body's axes.
fn cayley_tangent(u: Vec3<f64>) -> Mat3<f64> {
    (Mat3::IDENTITY - Mat3::skew(u) * 0.5) * (1.0 / (1.0 + 0.25 * u.norm_squared()))
}

/// J_r(φ): exp(φ + δ) = exp(φ) exp(J_r δ) to first order.
fn right_jacobian(phi: Vec3<f64>) -> Mat3<f64> {
    let square = phi.norm_squared();
    let (first, second) = if square < 1e-6 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let angle = square.sqrt();
        let (sin, cos) = Real::sin_cos(angle);
        ((1.0 - cos) / square, (angle - sin) / (square * angle))
    };
    let skew = Mat3::skew(phi);
    Mat3::IDENTITY - skew * first + skew * skew * second
}

/// J_r⁻¹ at the rotation vector θ: log(exp(θ) exp(δ)) = θ + J_r⁻¹ δ to first order. |θ| < 2π.
pub fn logarithm_tangent(theta: Vec3<f64>) -> Mat3<f64> {
    let square = theta.norm_squared();
    let second = if square < 1e-6 {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * square.sqrt();
        let (sin, cos) = Real::sin_cos(half);
        (1.0 - half * cos / sin) / square
    };
    let skew = Mat3::skew(theta);
    Mat3::IDENTITY + skew * 0.5 + skew * skew * second
}
