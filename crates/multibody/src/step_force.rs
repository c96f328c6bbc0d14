//! Forces over a step that oppose motion, of one world or of one in each lane.

use spatial::Real;
use spatial::masks::wide;

/// An impulse is near a limit from this share of it on: the next step may meet it.
pub const NEAR_LIMIT: f64 = 0.8;

/// A limit is exceeded by more than this share of the impulses.
const ROUND_OFF: f64 = 1e-12;
const SINGLE_ROUND_OFF: f64 = 1e-5;

/// A force along something that ends the step with the velocity v, from v₀: `p(v) = impulse − impedance (v − v₀)`, cut to `[low, high]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepForce<T> {
    /// The impulse at v₀, N·s or N·m·s.
    pub impulse: T,
    /// Impulse per change of velocity.
    pub impedance: T,
    /// The least impulse.
    pub low: T,
    /// The greatest impulse.
    pub high: T,
}

impl<T: Real> StepForce<T> {
    /// No force.
    pub const ZERO: Self = Self { impulse: T::ZERO, impedance: T::ZERO, low: T::ZERO, high: T::ZERO };

    /// The impulse without limits where the velocity has changed by `change`.
    #[inline(always)]
    pub fn unlimited(&self, change: T) -> T {
        self.impulse - self.impedance * change
    }

    /// The impulse where the velocity has changed by `change`.
    #[inline(always)]
    pub fn over(&self, change: T) -> T {
        self.unlimited(change).max(self.low).min(self.high)
    }

    /// The impulse at v₀, whatever moves.
    #[inline(always)]
    pub fn as_constant(self) -> Self {
        let cut = self.impulse.max(self.low).min(self.high);
        Self { impulse: cut, low: cut, high: cut, ..self }
    }

    /// Both on the same thing.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self {
            impulse: self.impulse + other.impulse,
            impedance: self.impedance + other.impedance,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    /// With its limits cut to others.
    #[inline(always)]
    pub fn within(self, least: T, most: T) -> Self {
        Self { low: self.low.max(least).min(most), high: self.high.min(most).max(least), ..self }
    }

    /// 1 where an impulse without limits is beyond one, by more than round-off, else 0.
    #[inline(always)]
    pub fn exceeds(&self, impulse: T) -> T {
        let tolerance = wide::<T>(if T::IS_SINGLE { SINGLE_ROUND_OFF } else { ROUND_OFF });
        let slack = tolerance * self.impulse.abs().max(impulse.abs());
        let is_above = (self.high + slack).if_less(impulse, T::ONE, T::ZERO);
        is_above.max((impulse + slack).if_less(self.low, T::ONE, T::ZERO))
    }

    /// 1 where an impulse is so near a limit that the next step may meet it, else 0.
    #[inline(always)]
    pub fn is_near_limit(&self, impulse: T) -> T {
        let near = wide::<T>(NEAR_LIMIT);
        let is_within =
            (self.low * near).if_less(impulse, T::ONE, T::ZERO) * impulse.if_less(self.high * near, T::ONE, T::ZERO);
        T::ONE - is_within
    }
}

impl StepForce<f64> {
    /// The same force on something that moves `gear` times slower.
    pub fn geared(self, gear: f64) -> Self {
        let (a, b) = (gear * self.low, gear * self.high);
        let (low, high) = if gear == 0.0 { (0.0, 0.0) } else { (a.min(b), a.max(b)) };
        Self { impulse: gear * self.impulse, impedance: gear * gear * self.impedance, low, high }
    }

    /// Both on the same thing; those without impedance are constants.
    pub fn and(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|force| if force.impedance > 0.0 { force } else { force.as_constant() });
        a.plus(b)
    }

    /// Whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.low > f64::NEG_INFINITY || self.high < f64::INFINITY
    }
}

/// Force of PD control: −K_p e − K_d (v − v̄), e the error of position and `lag` that of velocity.
#[inline(always)]
pub fn pd_law<T: Real>(kp: T, kd: T, error: T, lag: T) -> T {
    -kp * error - kd * lag
}

/// Whether the damping of stable PD control over `dt` s is all of its impedance: Z = K_d.
pub fn damps_alone(kp: f64, kd: f64, dt: f64) -> bool {
    kd >= 1.5 * dt * kp
}

/// Impulse per change of velocity of stable PD control over `dt` s: dt Z, Z = K_d (Tan, Liu, Turk 2011) or dt K_p + ⅓ K_d if that is more.
///
/// A joint without inertia at its target goes from v to (1 − (K_d + dt K_p)/Z) v: with Z = K_d this overshoots by dt
/// K_p/K_d. Here that is two thirds at most, and nothing without damping, where all of K_p is implicit.
pub fn stable_pd_impedance(kp: f64, kd: f64, dt: f64) -> f64 {
    dt * kd.max(dt * kp + kd / 3.0)
}
