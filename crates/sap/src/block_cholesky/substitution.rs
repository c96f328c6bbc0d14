//! Substitution with one panel of the factor. Sums run in a fixed order over lanes, so that they have the same bits everywhere.

use super::kernel::{TILE, for_columns};

const LANES: usize = 8;

/// `x₁ ← L₁⁻¹ x₁` and `x₂ ← x₂ − L₂ x₁`, where `L₁` is the square top of a panel, `L₂` the rest of it.
#[inline(always)]
pub(super) fn substitute(panel: &[f64], width: usize, stride: usize, x: &mut [f64]) {
    for first in (0..width).step_by(TILE) {
        let strip = &panel[first * stride + first..];
        for_columns!(width - first, substitute_strip::<_>(strip, stride, &mut x[first..]));
    }
}

/// `x₁ ← L₁⁻ᵀ (x₁ − L₂ᵀ x₂)`.
#[inline(always)]
pub(super) fn substitute_back(panel: &[f64], width: usize, stride: usize, x: &mut [f64]) {
    for first in (0..width).step_by(TILE).rev() {
        let strip = &panel[first * stride + first..];
        for_columns!(width - first, substitute_strip_back::<_>(strip, stride, &mut x[first..]));
    }
}

/// The rows of `N` columns from the diagonal on: its square and what is below.
#[inline(always)]
fn columns<const N: usize>(strip: &[f64], stride: usize, rows: usize) -> ([&[f64]; N], [&[f64]; N]) {
    let (mut square, mut below) = ([&strip[..0]; N], [&strip[..0]; N]);
    for j in 0..N {
        (square[j], below[j]) = strip[j * stride..j * stride + rows].split_at(N);
    }
    (square, below)
}

#[inline(always)]
fn substitute_strip<const N: usize>(strip: &[f64], stride: usize, x: &mut [f64]) {
    let (square, below) = columns::<N>(strip, stride, x.len());
    let (own, rest) = x.split_at_mut(N);
    let mut y = [0.0; N];
    y.copy_from_slice(own);
    for j in 0..N {
        y[j] *= square[j][j];
        for i in j + 1..N {
            y[i] = (-square[j][i]).mul_add(y[j], y[i]);
        }
    }
    own.copy_from_slice(&y);
    let mut below = below;
    for column in &mut below {
        *column = &column[..rest.len()];
    }
    for i in 0..rest.len() {
        let mut x = rest[i];
        for j in 0..N {
            x = (-below[j][i]).mul_add(y[j], x);
        }
        rest[i] = x;
    }
}

#[inline(always)]
fn substitute_strip_back<const N: usize>(strip: &[f64], stride: usize, x: &mut [f64]) {
    let (square, below) = columns::<N>(strip, stride, x.len());
    let (own, rest) = x.split_at_mut(N);
    let mut sums = [[0.0; LANES]; N];
    let mut i = 0;
    while i + LANES <= rest.len() {
        add_products::<LANES, N>(&mut sums, &below, rest, i);
        i += LANES;
    }
    if i + 4 <= rest.len() {
        add_products::<4, N>(&mut sums, &below, rest, i);
        i += 4;
    }
    if i + 2 <= rest.len() {
        add_products::<2, N>(&mut sums, &below, rest, i);
        i += 2;
    }
    if i < rest.len() {
        add_products::<1, N>(&mut sums, &below, rest, i);
    }
    let mut y = [0.0; N];
    for j in (0..N).rev() {
        let mut sum = sums[j];
        for half in [4, 2, 1] {
            for lane in 0..half {
                sum[lane] += sum[lane + half];
            }
        }
        y[j] = own[j] - sum[0];
        for i in j + 1..N {
            y[j] = (-square[j][i]).mul_add(y[i], y[j]);
        }
        y[j] *= square[j][j];
    }
    own.copy_from_slice(&y);
}

/// Adds the products of rows `i` to `i + M` to the first `M` lanes of each column's sums.
#[inline(always)]
fn add_products<const M: usize, const N: usize>(
    sums: &mut [[f64; LANES]; N],
    below: &[&[f64]; N],
    x: &[f64],
    i: usize,
) {
    let x = &x[i..i + M];
    for j in 0..N {
        let column = &below[j][i..i + M];
        for lane in 0..M {
            sums[j][lane] = column[lane].mul_add(x[lane], sums[j][lane]);
        }
    }
}
