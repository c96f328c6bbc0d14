//! Smooth functions of the phase of a cycle.

/// The step from 0 at u ≤ 0 to 1 at u ≥ 1 with two continuous derivatives: 6u⁵ − 15u⁴ + 10u³.
pub(super) fn smooth_step(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// A hump from 0 over 1 at u = ½ back to 0 at 1 that leaves and meets 0 without speed, but at once: (4u(1 − u))². A
/// foot that follows it is clear of the ground before it has gone anywhere by [`smooth_step`].
pub(super) fn hump(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    let x = 4.0 * u * (1.0 - u);
    x * x
}

/// The part of `x` above the whole number below it, in [0, 1).
pub(super) fn fraction(x: f64) -> f64 {
    x - libm::floor(x)
}

/// An angle that rises smoothly from 0 to its peak and falls back to 0 once per cycle, and rests between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulse {
    /// Phase at which it begins to rise. Phases are of the leg's cycle, whose stance begins at 0; they may lie
    /// outside [0, 1), as the cycle repeats.
    pub from: f64,
    /// Phase of the peak, above `from`.
    pub peak: f64,
    /// Phase at which it is back at 0, above `peak` and at most `from` + 1.
    pub to: f64,
    /// The value at the peak, rad.
    pub angle: f64,
}

impl Pulse {
    /// The value at a phase.
    pub(super) fn at(&self, phase: f64) -> f64 {
        let x = fraction(phase - self.from);
        let (rise, end) = (self.peak - self.from, self.to - self.from);
        if x < rise {
            self.angle * smooth_step(x / rise)
        } else if x < end {
            self.angle * smooth_step((end - x) / (end - rise))
        } else {
            0.0
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let finite = self.angle.is_finite() && self.from.is_finite() && self.to.is_finite();
        finite && (self.angle == 0.0 || (self.from < self.peak && self.peak < self.to && self.to <= self.from + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_is_smooth_across_the_seam_of_the_cycle() {
        let pulse = Pulse { from: 0.9, peak: 1.02, to: 1.2, angle: -0.3 };
        assert!(pulse.is_sound());
        assert_eq!((pulse.at(0.5), pulse.at(0.2), pulse.at(0.02)), (0.0, 0.0, -0.3));
        let h = 1e-4;
        let slope = |x: f64| (pulse.at(x + h) - pulse.at(x - h)) / (2.0 * h);
        for k in 0..10_000 {
            let x = 3.0 * f64::from(k) / 10_000.0;
            // Curvature is at most 0.3 · 5.78 / 0.12², so slopes this far apart differ by at most that times h.
            assert!((slope(x + h) - slope(x)).abs() < 121.0 * h, "{x}");
        }
    }
}
