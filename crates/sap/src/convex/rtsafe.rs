//! Root of an increasing function of one variable: Newton safeguarded with bisection (*Numerical Recipes* §9.4, `rtsafe`).

use crate::SolverParameters;

/// A function's value and derivative at `x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub x: f64,
    pub value: f64,
    pub derivative: f64,
    /// Close enough to the root: the search ends here.
    pub accepted: bool,
}

/// Finds the root of the nondecreasing `f` in `[lo, hi]`, where `f(lo) ≤ 0 ≤ f(hi)`, starting from the sample `start` in it.
///
/// Newton steps are replaced by bisection when they leave the bracket or do not halve the step before last. Ends at the first
/// accepted sample, or when the next step is round-off; the sample returned is the last one that `f` was asked for (`start` if
/// none was).
pub(crate) fn rtsafe(mut f: impl FnMut(f64) -> Sample, mut lo: f64, mut hi: f64, start: Sample) -> Sample {
    let mut sample = start;
    let mut step_before_last = hi - lo;
    let mut last_step = step_before_last;
    for _ in 0..SolverParameters::STANDARD.line_search.max_root_steps {
        if sample.accepted || sample.value.is_nan() {
            break;
        }
        if sample.value < 0.0 {
            lo = sample.x;
        } else {
            hi = sample.x;
        }
        let newton = -sample.value / sample.derivative;
        let mut x = sample.x + newton;
        if newton.abs().min(hi - lo) <= f64::EPSILON * sample.x.abs() {
            break;
        }
        let inside = lo < x && x < hi;
        let mut step = newton.abs();
        if !inside || 2.0 * step > step_before_last {
            x = lo + 0.5 * (hi - lo);
            step = 0.5 * (hi - lo);
        }
        step_before_last = last_step;
        last_step = step;
        sample = f(x);
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(f: impl Fn(f64) -> (f64, f64), lo: f64, hi: f64, start: f64) -> (Sample, usize) {
        let mut evaluations = 0;
        let mut sample = |x: f64| {
            evaluations += 1;
            let (value, derivative) = f(x);
            Sample { x, value, derivative, accepted: value == 0.0 }
        };
        let first = sample(start);
        let root = rtsafe(sample, lo, hi, first);
        (root, evaluations)
    }

    #[test]
    fn line_takes_one_step() {
        let (root, evaluations) = find(|x| (2.0 * x - 1.0, 2.0), 0.0, 1.0, 1.0);
        assert_eq!(root.x, 0.5);
        assert_eq!(evaluations, 2);
    }

    #[test]
    fn smooth_root_to_round_off() {
        // x³ = 2 in [0, 2]
        let (root, evaluations) = find(|x| (x * x * x - 2.0, 3.0 * x * x), 0.0, 2.0, 2.0);
        assert!((root.x - 2f64.cbrt()).abs() <= 4.0 * f64::EPSILON);
        assert!(evaluations < 15, "{evaluations}");
    }

    #[test]
    fn newton_that_cycles_is_bisected() {
        // sign(x)·√|x| makes Newton cycle between x and −x.
        let f = |x: f64| (x.signum() * x.abs().sqrt(), 0.5 / x.abs().sqrt().max(1e-300));
        let (root, _) = find(f, -1.0, 2.0, 1.5);
        assert!(root.x.abs() < 1e-12, "{}", root.x);
    }

    #[test]
    fn kink_between_slopes_of_very_different_size() {
        // Slope 1e8 left of x = 0.3, 1 right of it.
        let f = |x: f64| if x < 0.3 { (1e8 * (x - 0.3) - 1e-3, 1e8) } else { (x - 0.3 - 1e-3, 1.0) };
        let (root, evaluations) = find(f, 0.0, 1.0, 0.1);
        assert!((root.x - 0.301).abs() < 1e-15);
        assert!(evaluations < 8, "{evaluations}");
    }

    #[test]
    fn jump_ends_at_the_jump() {
        let f = |x: f64| (if x < 0.7 { -1.0 } else { 1.0 }, 0.0);
        let (root, _) = find(f, 0.0, 1.0, 1.0);
        assert!((root.x - 0.7).abs() < 1e-15);
    }

    #[test]
    fn nan_ends_at_once() {
        let (root, evaluations) = find(|_| (f64::NAN, f64::NAN), 0.0, 1.0, 1.0);
        assert!(root.value.is_nan());
        assert_eq!(evaluations, 1);
    }
}
