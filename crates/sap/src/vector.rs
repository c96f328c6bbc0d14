//! Vector kernels. Sums run in a fixed order over four lanes, so they vectorise and give the same bits on every machine.

/// Numbers handled side by side.
pub(crate) const LANES: usize = 4;

/// `xᵀ y`.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    debug_assert_eq!(x.len(), y.len());
    let (x_lanes, x_rest) = x.as_chunks::<LANES>();
    let (y_lanes, y_rest) = y.as_chunks::<LANES>();
    let mut sum = [0.0; LANES];
    for (a, b) in x_lanes.iter().zip(y_lanes) {
        for i in 0..LANES {
            sum[i] += a[i] * b[i];
        }
    }
    let mut total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (a, b) in x_rest.iter().zip(y_rest) {
        total += a * b;
    }
    total
}

/// `y += a x`.
#[inline]
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    debug_assert_eq!(x.len(), y.len());
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `‖D x‖` for a diagonal `D`.
#[inline]
pub(crate) fn scaled_norm(d: &[f64], x: &[f64]) -> f64 {
    sum(d, x, x, |d, x, _| (d * x) * (d * x)).sqrt()
}

/// The sum of a function of the entries of three vectors.
#[inline(always)]
pub(crate) fn sum(x: &[f64], y: &[f64], z: &[f64], f: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let ((x, x_rest), (y, y_rest), (z, z_rest)) =
        (x.as_chunks::<LANES>(), y.as_chunks::<LANES>(), z.as_chunks::<LANES>());
    let mut sum = [0.0; LANES];
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        for i in 0..LANES {
            sum[i] += f(x[i], y[i], z[i]);
        }
    }
    let total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    x_rest.iter().zip(y_rest).zip(z_rest).fold(total, |total, ((x, y), z)| total + f(*x, *y, *z))
}
