//! Muscles: how their force depends on length and velocity.

/// The least divisor, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// The curves of a muscle over its normalised length and velocity: MuJoCo's FLV function, for a force in units of the peak force.
///
/// The normalised length is 1 at the optimum. It and the normalised velocity follow from the length of what the muscle acts on.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Muscle {
    /// Shortest and longest length that what it acts on can have.
    pub length_range: (f64, f64),
    /// Normalised lengths there.
    pub range: (f64, f64),
    /// Normalised lengths between which the muscle is active.
    pub active: (f64, f64),
    /// Shortening velocity at which the active force is 0, in optimal lengths per second.
    pub fastest: f64,
    /// Passive force at the end of [`active`](Self::active), in units of the peak force.
    pub passive: f64,
    /// Largest active force while it lengthens, in units of the peak force.
    pub lengthening: f64,
}

/// A value and its derivative.
type Slope = (f64, f64);

impl Muscle {
    /// Curves as MuJoCo has them where a file says nothing.
    pub const fn new(length_range: (f64, f64)) -> Self {
        Self { length_range, range: (0.75, 1.05), active: (0.5, 1.6), fastest: 1.5, passive: 1.3, lengthening: 1.2 }
    }

    /// Its numbers, for checks.
    pub fn numbers(&self) -> [f64; 9] {
        let Self { length_range, range, active, fastest, passive, lengthening } = *self;
        [length_range.0, length_range.1, range.0, range.1, active.0, active.1, fastest, passive, lengthening]
    }

    /// The force at an activation, in units of the peak force and negative, since muscles pull; and its derivatives by length and velocity.
    pub fn force(&self, activation: f64, length: f64, velocity: f64) -> [f64; 3] {
        let optimum = (self.length_range.1 - self.length_range.0) / (self.range.1 - self.range.0).max(LEAST);
        let (per_length, per_velocity) = (1.0 / optimum.max(LEAST), 1.0 / (optimum * self.fastest).max(LEAST));
        let normalised = self.range.0 + (length - self.length_range.0) * per_length;
        let (of_length, length_slope) = self.active_of_length(normalised);
        let (of_velocity, velocity_slope) = self.active_of_velocity(velocity * per_velocity);
        let (passive, passive_slope) = self.passive(normalised);
        [
            -(activation * of_length * of_velocity + passive),
            -(activation * length_slope * of_velocity + passive_slope) * per_length,
            -activation * of_length * velocity_slope * per_velocity,
        ]
    }

    /// Active force over length: four parabolas from 0 at the shortest to 1 at the optimum and back.
    fn active_of_length(&self, length: f64) -> Slope {
        let (shortest, longest) = self.active;
        let middles = (0.5 * (shortest + 1.0), 0.5 * (1.0 + longest));
        // Each rises from 0 (or falls from 1) by half within its width.
        let from_zero = |x: f64, width: f64| (0.5 * (x / width).powi(2), x / width.powi(2));
        if !(shortest..=longest).contains(&length) {
            (0.0, 0.0)
        } else if length <= middles.0 {
            from_zero(length - shortest, (middles.0 - shortest).max(LEAST))
        } else if length <= 1.0 {
            let (fall, slope) = from_zero(length - 1.0, (1.0 - middles.0).max(LEAST));
            (1.0 - fall, -slope)
        } else if length <= middles.1 {
            let (fall, slope) = from_zero(length - 1.0, (middles.1 - 1.0).max(LEAST));
            (1.0 - fall, -slope)
        } else {
            from_zero(length - longest, (longest - middles.1).max(LEAST))
        }
    }

    /// Active force over velocity, 1 at rest.
    fn active_of_velocity(&self, velocity: f64) -> Slope {
        let more = self.lengthening - 1.0;
        if velocity <= -1.0 {
            (0.0, 0.0)
        } else if velocity <= 0.0 {
            ((velocity + 1.0).powi(2), 2.0 * (velocity + 1.0))
        } else if velocity <= more {
            let left = more - velocity;
            (self.lengthening - left * left / more.max(LEAST), 2.0 * left / more.max(LEAST))
        } else {
            (self.lengthening, 0.0)
        }
    }

    /// Passive force over length: a parabola beyond the optimum, then a line.
    fn passive(&self, length: f64) -> Slope {
        let middle = 0.5 * (1.0 + self.active.1);
        let width = (middle - 1.0).max(LEAST);
        if length <= 1.0 {
            (0.0, 0.0)
        } else if length <= middle {
            let x = (length - 1.0) / width;
            (self.passive * 0.5 * x * x, self.passive * x / width)
        } else {
            let x = (length - middle) / width;
            (self.passive * (0.5 + x), self.passive / width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_force() {
        let muscle = Muscle::new((0.2, 0.35));
        let h = 1e-7;
        for activation in [0.0, 0.3, 1.0] {
            for k in 0..60 {
                let (length, velocity) = (0.05 + 0.0113 * f64::from(k), -0.9 + 0.0309 * f64::from(k));
                let [_, by_length, by_velocity] = muscle.force(activation, length, velocity);
                let difference = |dl: f64, dv: f64| {
                    let ends = [1.0, -1.0].map(|s| muscle.force(activation, length + s * dl, velocity + s * dv)[0]);
                    (ends[0] - ends[1]) / (2.0 * h)
                };
                assert!((difference(h, 0.0) - by_length).abs() < 1e-5 * (1.0 + by_length.abs()), "{length} {velocity}");
                assert!((difference(0.0, h) - by_velocity).abs() < 1e-5, "{length} {velocity}");
            }
        }
    }
}
