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
    let mut sum = 0.0;
    for (d, x) in d.iter().zip(x) {
        let scaled = d * x;
        sum += scaled * scaled;
    }
    sum.sqrt()
}

/// `a b + c`, fused where that is one instruction; elsewhere `mul_add` would be a slow call.
#[inline(always)]
pub(crate) fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
}
