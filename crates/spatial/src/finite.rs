//! Whether numbers are numbers, without a branch for each of them.

/// Whether none of `x` is infinite or NaN.
///
/// ```
/// assert!(spatial::are_finite(&[1.0, -0.0, 1e300]));
/// assert!(!spatial::are_finite(&[1.0, f64::NAN]));
/// ```
pub fn are_finite(x: &[f64]) -> bool {
    !x.iter().fold(false, |found, x| found | !x.is_finite())
}

/// Whether all of `x` are 0 or more, and finite.
pub fn are_finite_and_nonnegative(x: &[f64]) -> bool {
    !x.iter().fold(false, |found, x| found | !(*x >= 0.0 && *x < f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_counts() {
        for n in 0..20 {
            for at in 0..n {
                let mut x = vec![1.5; n];
                assert!(are_finite(&x) && are_finite_and_nonnegative(&x));
                x[at] = -0.0;
                assert!(are_finite_and_nonnegative(&x));
                x[at] = -f64::MIN_POSITIVE;
                assert!(are_finite(&x) && !are_finite_and_nonnegative(&x));
                for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    x[at] = bad;
                    assert!(!are_finite(&x) && !are_finite_and_nonnegative(&x), "{bad} at {at} of {n}");
                }
            }
        }
    }
}
