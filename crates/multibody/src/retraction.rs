//! Positions within a step: q₀ ⊞ dt v and what lies between, and how they change with v.

use spatial::{Mat3, Quat, Real, Vec3};

use crate::Tree;
use crate::rotations::{self, Lanes, MOST, PerJoint, Place, exponential};

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
        rotations::for_each(tree, &mut Advance { retraction: self, q, v, dt, fraction, shift: fraction * dt });
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

/// [`Retraction::advance`].
struct Advance<'a> {
    retraction: Retraction,
    q: &'a mut [f64],
    v: &'a [f64],
    dt: f64,
    fraction: f64,
    /// The fraction of dt.
    shift: f64,
}

impl Advance<'_> {
    /// A multiple of the quaternion of the turn a fraction of the way.
    #[inline(always)]
    fn along<T: Lanes>(&self, u: Vec3<T>) -> Quat<T> {
        let fraction = T::splat(self.fraction);
        match self.retraction {
            Retraction::Exponential => exponential(u * fraction),
            Retraction::Cayley if self.fraction == 1.0 => cayley(u),
            Retraction::Cayley if self.fraction == 0.5 => cayley(u * (T::ONE + secant(u)).recip()),
            Retraction::Cayley => {
                let mut ratio = T::ZERO;
                for k in 0..T::LANES {
                    ratio.set_lane(k, self.retraction.angle(u.map(|u| u.lane(k)).norm()).0);
                }
                exponential(u * (ratio * fraction))
            }
        }
    }
}

impl PerJoint for Advance<'_> {
    #[inline(always)]
    fn slide(&mut self, (iq, iv): Place) {
        self.q[iq] += self.shift * self.v[iv];
    }

    #[inline(never)]
    fn turn<T: Lanes>(&mut self, places: &[Place; MOST]) {
        let turn = self.along(T::vectors(self.v, places) * T::splat(self.dt));
        let Quat { w, x, y, z } = (T::quaternions(self.q, places) * turn).unit();
        for (k, (iq, _)) in places.iter().enumerate().take(T::LANES) {
            self.q[*iq..iq + 4].copy_from_slice(&[w.lane(k), x.lane(k), y.lane(k), z.lane(k)]);
        }
    }
}

/// Cayley's map: a multiple of the quaternion of the rotation by the angle φ about u with tan(φ/2) = |u|/2. Half of it is that of
/// u / (1 + sec(φ/2)).
#[inline(always)]
fn cayley<T: Real>(u: Vec3<T>) -> Quat<T> {
    let half = u * T::from_f64(0.5);
    Quat::new(T::ONE, half.x, half.y, half.z)
}

/// sec(φ/2)
#[inline(always)]
fn secant<T: Real>(u: Vec3<T>) -> T {
    u.norm_squared().mul_add(T::from_f64(0.25), T::ONE).sqrt()
}

/// How Cayley's rotation turns with u, in the body's axes.
fn cayley_tangent(u: Vec3<f64>) -> Mat3<f64> {
    (Mat3::IDENTITY - Mat3::skew(u) * 0.5) * (1.0 / (1.0 + 0.25 * u.norm_squared()))
}

/// J_r(φ): exp(φ + δ) = exp(φ) exp(J_r δ) to first order.
pub fn right_jacobian(phi: Vec3<f64>) -> Mat3<f64> {
    let square = phi.norm_squared();
    // Below this square the series are exact to round-off and nothing is divided by zero.
    let (first, second) = if square < 1e-4 {
        (0.5 - square / 24.0 + square * square / 720.0, 1.0 / 6.0 - square / 120.0 + square * square / 5040.0)
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
