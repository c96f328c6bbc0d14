//! Whether numbers are numbers, without a branch for each of them.

/// Whether none of `x` is infinite or NaN.
///
/// ```
/// assert!(sapwood_spatial::are_finite(&[1.0, -0.0, 1e300]));
/// assert!(!sapwood_spatial::are_finite(&[1.0, f64::NAN]));
/// ```
pub fn are_finite(x: &[f64]) -> bool {
    // What is not finite is not zero when multiplied by it.
    vanishes(x, |x| x * 0.0)
}

/// Whether all of `x` are 0.
pub fn are_zero(x: &[f64]) -> bool {
    vanishes(x, f64::abs)
}

/// Whether all of `x` are 0 or more, and finite.
pub fn are_finite_and_nonnegative(x: &[f64]) -> bool {
    vanishes(x, |x| x.abs() - x)
}

/// Whether a function that is 0, more, or not a number is 0 of all of `x`: summed up in as many chains as fill the processor's lanes.
#[inline(always)]
fn vanishes(x: &[f64], f: impl Fn(f64) -> f64) -> bool {
    const LANES: usize = 8;
    let chunks = x.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|x| f(*x)).sum();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += f(*x));
    }
    sums.iter().sum::<f64>() + rest == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_counts() {
        for n in 0..20 {
            assert!(are_zero(&vec![-0.0; n]));
            for at in 0..n {
                let mut x = vec![1.5; n];
                assert!(are_finite(&x) && are_finite_and_nonnegative(&x) && !are_zero(&x));
                x[at] = -0.0;
                assert!(are_finite_and_nonnegative(&x));
                x[at] = -f64::MIN_POSITIVE;
                assert!(are_finite(&x) && !are_finite_and_nonnegative(&x));
                let mut zeros = vec![0.0; n];
                zeros[at] = x[at];
                assert!(!are_zero(&zeros));
                for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    x[at] = bad;
                    assert!(!are_finite(&x) && !are_finite_and_nonnegative(&x), "{bad} at {at} of {n}");
                }
            }
        }
    }
}
