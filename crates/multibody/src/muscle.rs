//! The force of a muscle.

/// Lengths and speeds below this count as this, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// A muscle after MuJoCo's model: force = −`peak_force` · (activation · f(length) · g(velocity) + p(length)), with the curves of
/// force over length f, over velocity g, and of passive force p. Lengths in the curves are over the optimal length L₀, at which the
/// muscle is strongest.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Muscle {
    /// Lengths over L₀ at the ends of `length_range`.
    pub range: (f64, f64),
    /// Least and greatest length of what it acts on, m or rad.
    pub length_range: (f64, f64),
    /// Force of the active muscle at rest at its optimal length, N.
    pub peak_force: f64,
    /// Lengths over L₀ between which it has active force.
    pub active_range: (f64, f64),
    /// Speed of shortening at which active force is zero, L₀/s.
    pub top_speed: f64,
    /// Passive force at the upper end of `active_range`, over the peak force.
    pub passive_force: f64,
    /// Active force at great speed of lengthening, over the peak force.
    pub lengthening_force: f64,
}

impl Muscle {
    /// Force at an activation, and its derivatives by length and velocity.
    pub fn force(&self, activation: f64, length: f64, velocity: f64) -> [f64; 3] {
        let optimal = (self.length_range.1 - self.length_range.0) / (self.range.1 - self.range.0).max(LEAST);
        let optimal = optimal.max(LEAST);
        let l = self.range.0 + (length - self.length_range.0) / optimal;
        let per_speed = 1.0 / (optimal * self.top_speed).max(LEAST);
        let [f, f_l] = self.over_length(l);
        let [g, g_v] = self.over_velocity(velocity * per_speed);
        let [p, p_l] = self.passive(l);
        [
            -self.peak_force * (activation * f * g + p),
            -self.peak_force * (activation * f_l * g + p_l) / optimal,
            -self.peak_force * activation * f * g_v * per_speed,
        ]
    }

    /// Active force over length, and its slope.
    fn over_length(&self, l: f64) -> [f64; 2] {
        let (low, high) = self.active_range;
        let (a, b) = (0.5 * (low + 1.0), 0.5 * (1.0 + high));
        let [x, dx, top] = match l {
            l if l < low || l > high => return [0.0; 2],
            l if l <= a => ramp(l - low, a - low, 0.0),
            l if l <= 1.0 => ramp(l - 1.0, 1.0 - a, 1.0),
            l if l <= b => ramp(l - 1.0, b - 1.0, 1.0),
            l => ramp(l - high, high - b, 0.0),
        };
        if top > 0.0 { [1.0 - 0.5 * x * x, -x * dx] } else { [0.5 * x * x, x * dx] }
    }

    /// Active force over velocity, and its slope.
    fn over_velocity(&self, v: f64) -> [f64; 2] {
        let rise = self.lengthening_force - 1.0;
        match v {
            v if v <= -1.0 => [0.0, 0.0],
            v if v <= 0.0 => [(v + 1.0) * (v + 1.0), 2.0 * (v + 1.0)],
            v if v <= rise => {
                let per_rise = 1.0 / rise.max(LEAST);
                [self.lengthening_force - (rise - v) * (rise - v) * per_rise, 2.0 * (rise - v) * per_rise]
            }
            _ => [self.lengthening_force, 0.0],
        }
    }

    /// Passive force over length, and its slope.
    fn passive(&self, l: f64) -> [f64; 2] {
        let b = 0.5 * (1.0 + self.active_range.1);
        let width = (b - 1.0).max(LEAST);
        match l {
            l if l <= 1.0 => [0.0, 0.0],
            l if l <= b => {
                let x = (l - 1.0) / width;
                [self.passive_force * 0.5 * x * x, self.passive_force * x / width]
            }
            l => [self.passive_force * (0.5 + (l - b) / width), self.passive_force / width],
        }
    }
}

/// Where in a piece of a curve a length is, over the piece's width, how fast that grows, and the curve's value where it is 0.
fn ramp(l: f64, width: f64, value: f64) -> [f64; 3] {
    let width = width.max(LEAST);
    [l / width, 1.0 / width, value]
}
