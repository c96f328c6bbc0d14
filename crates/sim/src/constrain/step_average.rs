//! One-sided compliant constraints that push during a part of the step.
//!
//! Contact begins and ends anywhere in a step. A rule that looks at its middle alone has all of a damper's force or none, an
//! error of first order wherever contact begins, and an elastic force with an error of dt² that depends on when in the step
//! that was. So the force is averaged over the part of the step in which it acts: gap and rate are linear in time between
//! their values at both ends.

/// Gap, rate and force of a constraint at both ends of a step, the force over its stiffness: −(φ + τ φ̇).
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub dt: f64,
    pub relaxation: f64,
    pub gaps: [f64; 2],
    pub rates: [f64; 2],
}

/// The mean force in the step, over the stiffness, and by how much it falls per rate at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub force: f64,
    pub slope: f64,
}

/// The least slope, as a part of that of a constraint that pushes throughout: what is met otherwise than expected is not let through.
const MIN_SLOPE: f64 = 0.1;

impl Passage {
    /// A step from a gap at one rate to another rate.
    pub fn new(dt: f64, relaxation: f64, gap: f64, rates: [f64; 2]) -> Self {
        Self { dt, relaxation, gaps: [gap, gap + 0.5 * dt * (rates[0] + rates[1])], rates }
    }

    fn forces(&self) -> [f64; 2] {
        [0, 1].map(|end| -(self.gaps[end] + self.relaxation * self.rates[end]))
    }

    /// Whether the surfaces are apart at both ends.
    pub fn is_apart(&self) -> bool {
        self.gaps.iter().all(|gap| *gap >= 0.0)
    }

    /// The rate at the end with which the gap would just close.
    pub fn closing_rate(&self) -> f64 {
        -2.0 * self.gaps[0] / self.dt - self.rates[0]
    }

    /// The force in the mean; none where it acts throughout, and zeros where it does not act at all.
    pub fn mean(&self) -> Option<Mean> {
        let forces = self.forces();
        let [touch, push] = [self.gaps.map(|gap| -gap), forces].map(above_zero);
        let (start, end) = (touch.0.max(push.0), touch.1.min(push.1));
        if start >= end {
            return Some(Mean { force: 0.0, slope: 0.0 });
        }
        if start == 0.0 && end == 1.0 {
            return None;
        }
        let at = |s: f64| forces[0] + s * (forces[1] - forces[0]);
        let per_rate = 0.5 * self.dt + self.relaxation;
        let mut slope = 0.5 * per_rate * (end * end - start * start);
        // d(crossing)/d(rate at the end) = ½ dt φ₀/(φ₀ − φ₁)².
        let closed = self.gaps[0] - self.gaps[1];
        let later = 0.5 * self.dt * self.gaps[0] / (closed * closed);
        if touch.0 > 0.0 && touch.0 >= push.0 {
            slope += at(start) * later;
        }
        if touch.1 < 1.0 && touch.1 <= push.1 {
            slope -= at(end) * later;
        }
        let force = 0.5 * (end - start) * (at(start) + at(end));
        Some(Mean { force, slope: slope.max(MIN_SLOPE * 0.5 * per_rate) })
    }
}

/// The part of a step, from 0 to 1, in which what is linear in time is above zero.
fn above_zero([first, last]: [f64; 2]) -> (f64, f64) {
    let crossing = || first / (first - last);
    match (first > 0.0, last > 0.0) {
        (true, true) => (0.0, 1.0),
        (true, false) => (0.0, crossing()),
        (false, true) => (crossing(), 1.0),
        (false, false) => (0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean by sums over many moments.
    fn summed(step_average: &Passage) -> f64 {
        let n = 200_000;
        let forces = step_average.forces();
        let at = |ends: [f64; 2], s: f64| ends[0] + s * (ends[1] - ends[0]);
        let moments = (0..n).map(|k| (f64::from(k) + 0.5) / f64::from(n));
        let push = |s| if at(step_average.gaps, s) < 0.0 { at(forces, s).max(0.0) } else { 0.0 };
        moments.map(push).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn the_mean_is_that_of_many_moments_and_falls_with_the_rate() {
        let dt = 1e-3;
        let (mut partly, mut never) = (0, 0);
        for relaxation in [0.0, 7e-4, 3e-3] {
            for (gap, rates) in [
                (0.4e-3, [-1.0, -0.9]),
                (0.9e-3, [-1.0, -0.95]),
                (-0.3e-3, [0.8, 1.0]),
                (-0.9e-3, [0.5, 0.9]),
                (-1e-5, [0.02, 0.05]),
                (0.3e-3, [-1.0, 0.1]),
                (0.3e-3, [-1.0, 0.3]),
                (-0.2e-3, [1.0, -0.5]),
            ] {
                let step_average = |rate| Passage::new(dt, relaxation, gap, [rates[0], rate]);
                let scale = dt + relaxation;
                let Some(mean) = step_average(rates[1]).mean() else {
                    assert!(step_average(rates[1]).forces().iter().all(|force| *force > 0.0), "{gap} {rates:?}");
                    assert!(step_average(rates[1]).gaps.iter().all(|gap| *gap < 0.0), "{gap} {rates:?}");
                    continue;
                };
                assert!((mean.force - summed(&step_average(rates[1]))).abs() < 1e-5 * scale, "{gap} {rates:?}");
                if mean.force == 0.0 {
                    never += 1;
                    continue;
                }
                let h = 1e-5;
                let [less, more] = [-h, h].map(|d| step_average(rates[1] + d).mean().unwrap().force);
                let slope = ((less - more) / (2.0 * h)).max(MIN_SLOPE * 0.5 * (0.5 * dt + relaxation));
                assert!((mean.slope - slope).abs() < 1e-6 * scale, "{gap} {rates:?}: {} {slope}", mean.slope);
                partly += 1;
            }
        }
        assert!(partly >= 12 && never >= 4, "{partly} {never}");
    }

    #[test]
    fn what_pushes_throughout_is_left_to_the_middle_of_the_step() {
        assert_eq!(Passage::new(1e-3, 1e-3, -2e-3, [-1.0, -0.5]).mean(), None);
        assert_eq!(Passage::new(1e-3, 0.0, 2e-3, [-1.0, -0.5]).mean(), Some(Mean { force: 0.0, slope: 0.0 }));
        let step_average = Passage::new(1e-3, 0.0, 2e-3, [-1.0, 0.0]);
        assert!(step_average.is_apart());
        assert!(Passage::new(1e-3, 0.0, 2e-3, [-1.0, step_average.closing_rate()]).gaps[1].abs() < 1e-18);
    }
}
