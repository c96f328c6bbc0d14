//! Dense kernels on column-major panels, in tiles that stay in registers. Each entry sums in the order of the columns, whatever
//! tile it is in, so that it has the same bits wherever it is computed.

use crate::vector::multiply_add;

/// Columns of a tile.
pub(super) const TILE: usize = 6;

/// `C −= A Bᵀ`: `C` is `m × n` with columns `stride_c` apart, `A` `m × k` and `B` `n × k` with columns `stride` apart.
pub(super) fn subtract_product(
    c: &mut [f64],
    stride_c: usize,
    (m, n, k): (usize, usize, usize),
    a: &[f64],
    b: &[f64],
    stride: usize,
) {
    for j in (0..n).step_by(TILE) {
        let (c, b) = (&mut c[j * stride_c..], &b[j..]);
        match n - j {
            1 => subtract_strip::<1>(c, stride_c, m, k, a, b, stride),
            2 => subtract_strip::<2>(c, stride_c, m, k, a, b, stride),
            3 => subtract_strip::<3>(c, stride_c, m, k, a, b, stride),
            4 => subtract_strip::<4>(c, stride_c, m, k, a, b, stride),
            5 => subtract_strip::<5>(c, stride_c, m, k, a, b, stride),
            _ => subtract_strip::<TILE>(c, stride_c, m, k, a, b, stride),
        }
    }
}

/// `N` columns of [`subtract_product`].
fn subtract_strip<const N: usize>(
    c: &mut [f64],
    stride_c: usize,
    m: usize,
    k: usize,
    a: &[f64],
    b: &[f64],
    stride: usize,
) {
    let mut i = 0;
    while i + 8 <= m {
        subtract_tile::<8, N>(&mut c[i..], stride_c, k, &a[i..], b, stride);
        i += 8;
    }
    if i + 4 <= m {
        subtract_tile::<4, N>(&mut c[i..], stride_c, k, &a[i..], b, stride);
        i += 4;
    }
    if i + 2 <= m {
        subtract_tile::<2, N>(&mut c[i..], stride_c, k, &a[i..], b, stride);
        i += 2;
    }
    if i < m {
        subtract_tile::<1, N>(&mut c[i..], stride_c, k, &a[i..], b, stride);
    }
}

#[inline(always)]
fn subtract_tile<const M: usize, const N: usize>(
    c: &mut [f64],
    stride_c: usize,
    k: usize,
    a: &[f64],
    b: &[f64],
    stride: usize,
) {
    let mut sum = [[0.0; M]; N];
    for (a, b) in a.chunks(stride).zip(b.chunks(stride)).take(k) {
        let (Some(a), Some(b)) = (a.first_chunk::<M>(), b.first_chunk::<N>()) else { break };
        for j in 0..N {
            for i in 0..M {
                sum[j][i] = multiply_add(a[i], b[j], sum[j][i]);
            }
        }
    }
    for (c, sum) in c.chunks_mut(stride_c).zip(&sum) {
        for (c, sum) in c[..M].iter_mut().zip(sum) {
            *c -= sum;
        }
    }
}

/// Factors a panel of `width` columns `stride` apart: `L` of its square top and `B L⁻ᵀ` of the rows below. On the diagonal it
/// leaves the inverse of `L`'s.
///
/// # Errors
/// The first column whose pivot is not positive.
pub(super) fn factor_panel(panel: &mut [f64], width: usize, stride: usize) -> Result<(), usize> {
    for first in (0..width).step_by(TILE) {
        let (done, rest) = panel.split_at_mut(first * stride);
        let columns = TILE.min(width - first);
        let (rest, done) = (&mut rest[first..], done.get(first..).unwrap_or(&[]));
        if first > 0 {
            subtract_product(rest, stride, (stride - first, columns, first), done, done, stride);
        }
        let rows = stride - first;
        match columns {
            1 => factor_strip::<1>(rest, rows, stride),
            2 => factor_strip::<2>(rest, rows, stride),
            3 => factor_strip::<3>(rest, rows, stride),
            4 => factor_strip::<4>(rest, rows, stride),
            5 => factor_strip::<5>(rest, rows, stride),
            _ => factor_strip::<TILE>(rest, rows, stride),
        }
        .map_err(|column| first + column)?;
    }
    Ok(())
}

/// [`factor_panel`] of `N` columns, from the diagonal on.
fn factor_strip<const N: usize>(panel: &mut [f64], rows: usize, stride: usize) -> Result<(), usize> {
    let mut l = [[0.0; N]; N];
    for (l, column) in l.iter_mut().zip(panel.chunks(stride)) {
        l.copy_from_slice(&column[..N]);
    }
    factor_square(&mut l)?;
    for (l, column) in l.iter().zip(panel.chunks_mut(stride)) {
        column[..N].copy_from_slice(l);
    }
    let mut i = N;
    while i + 8 <= rows {
        solve_tile::<8, N>(&mut panel[i..], stride, &l);
        i += 8;
    }
    if i + 4 <= rows {
        solve_tile::<4, N>(&mut panel[i..], stride, &l);
        i += 4;
    }
    while i < rows {
        solve_tile::<1, N>(&mut panel[i..], stride, &l);
        i += 1;
    }
    Ok(())
}

/// `L` of a small matrix given by its columns, the inverse on the diagonal.
#[inline(always)]
fn factor_square<const N: usize>(l: &mut [[f64; N]; N]) -> Result<(), usize> {
    for j in 0..N {
        for k in 0..j {
            for i in j..N {
                l[j][i] = multiply_add(-l[k][i], l[k][j], l[j][i]);
            }
        }
        let pivot = l[j][j];
        if pivot.is_nan() || pivot <= 0.0 {
            return Err(j);
        }
        let inverse = 1.0 / pivot.sqrt();
        l[j][j] = inverse;
        for i in j + 1..N {
            l[j][i] *= inverse;
        }
    }
    Ok(())
}

/// `X ← X L⁻ᵀ` for `M` rows of `N` columns.
#[inline(always)]
fn solve_tile<const M: usize, const N: usize>(x: &mut [f64], stride: usize, l: &[[f64; N]; N]) {
    let mut tile = [[0.0; M]; N];
    for (tile, column) in tile.iter_mut().zip(x.chunks(stride)) {
        tile.copy_from_slice(&column[..M]);
    }
    for j in 0..N {
        for k in 0..j {
            for i in 0..M {
                tile[j][i] = multiply_add(-tile[k][i], l[k][j], tile[j][i]);
            }
        }
        for i in 0..M {
            tile[j][i] *= l[j][j];
        }
    }
    for (tile, column) in tile.iter().zip(x.chunks_mut(stride)) {
        column[..M].copy_from_slice(tile);
    }
}
