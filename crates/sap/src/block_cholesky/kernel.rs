//! Dense kernels on column-major panels, in tiles that stay in registers.
//!
//! The kernels are compiled for several tile heights and instruction sets. Each entry sums over the columns in their order, by
//! itself, in whatever tile it is: its bits do not depend on that choice.

/// Defines a function that calls the first of two in vectors of 256 bits, the second in vectors of 512 bits where the processor has these.
/// Both have to be inlined to be compiled for them.
macro_rules! in_widest_vectors {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $narrow:expr, $wide:expr) => {
        $(#[$meta])*
        $vis fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl")]
                fn avx512($($argument: $type),*) $(-> $result)? {
                    $wide($($argument),*)
                }
                #[cfg(not(target_feature = "fma"))]
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    $narrow($($argument),*)
                }
                if spatial::cpu::has_avx512() {
                    // SAFETY: the processor has the instructions that the function is compiled for.
                    return unsafe { avx512($($argument),*) };
                }
                #[cfg(not(target_feature = "fma"))]
                if spatial::cpu::has_avx2() {
                    // SAFETY: as above.
                    return unsafe { avx2($($argument),*) };
                }
            }
            $narrow($($argument),*)
        }
    };
}
pub(super) use in_widest_vectors;

/// Columns of a tile.
pub(super) const TILE: usize = 6;

/// `m`, `n` and `k` of a product of an `m × k` with a `k × n` matrix.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Calls a function with the const argument `N` that is least of `$n` and [`TILE`].
macro_rules! for_columns {
    ($n:expr, $function:ident::<$($tall:ident,)? _>($($argument:expr),*)) => {
        match $n {
            0 => unreachable!("a strip has columns"),
            1 => $function::<$($tall,)? 1>($($argument),*),
            2 => $function::<$($tall,)? 2>($($argument),*),
            3 => $function::<$($tall,)? 3>($($argument),*),
            4 => $function::<$($tall,)? 4>($($argument),*),
            5 => $function::<$($tall,)? 5>($($argument),*),
            _ => $function::<$($tall,)? TILE>($($argument),*),
        }
    };
}
pub(super) use for_columns;

/// Calls a function with the const arguments `M` and `N` and the first row, for tiles of up to `$tall` rows that make up the rows
/// from `$first` to `$end`.
macro_rules! for_rows {
    ($tall:ident, $first:expr, $end:expr, |$i:ident| $function:ident::<_, $n:ident>($($argument:expr),*)) => {{
        let (mut $i, end): (usize, usize) = ($first, $end);
        if $tall >= 16 {
            while $i + 16 <= end {
                $function::<16, $n>($($argument),*);
                $i += 16;
            }
        }
        while $i + 8 <= end {
            $function::<8, $n>($($argument),*);
            $i += 8;
        }
        if $i + 6 <= end {
            $function::<6, $n>($($argument),*);
            $i += 6;
        }
        if $i + 4 <= end {
            $function::<4, $n>($($argument),*);
            $i += 4;
        }
        if $i + 2 <= end {
            $function::<2, $n>($($argument),*);
            $i += 2;
        }
        if $i < end {
            $function::<1, $n>($($argument),*);
        }
    }};
}

/// `C −= A Bᵀ`: the columns of `C` are `stride_c` apart, those of `A` and `B` `stride`.
#[inline(always)]
pub(super) fn subtract_product<const TALL: usize>(
    c: &mut [f64],
    stride_c: usize,
    shape: Shape,
    a: &[f64],
    b: &[f64],
    stride: usize,
) {
    let Shape { m, n, k } = shape;
    for j in (0..n).step_by(TILE) {
        for_columns!(n - j, subtract_strip::<TALL, _>(&mut c[j * stride_c..], stride_c, m, k, a, &b[j..], stride));
    }
}

/// `N` columns of [`subtract_product`].
#[inline(always)]
fn subtract_strip<const TALL: usize, const N: usize>(
    c: &mut [f64],
    stride_c: usize,
    m: usize,
    k: usize,
    a: &[f64],
    b: &[f64],
    stride: usize,
) {
    for_rows!(TALL, 0, m, |i| subtract_tile::<_, N>(&mut c[i..], stride_c, k, &a[i..], b, stride));
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
    let sum = product_tile::<M, N>(k, a, b, stride);
    for j in 0..N {
        let c = &mut c[j * stride_c..j * stride_c + M];
        for i in 0..M {
            c[i] -= sum[j][i];
        }
    }
}

/// `A Bᵀ` for `M` rows of `A` and `N` of `B`, by columns.
#[inline(always)]
fn product_tile<const M: usize, const N: usize>(k: usize, a: &[f64], b: &[f64], stride: usize) -> [[f64; M]; N] {
    let mut sum = [[0.0; M]; N];
    let mut at = 0;
    for _ in 0..k {
        let (a, b) = (&a[at..at + M], &b[at..at + N]);
        for j in 0..N {
            for i in 0..M {
                sum[j][i] = a[i].mul_add(b[j], sum[j][i]);
            }
        }
        at += stride;
    }
    sum
}

/// Factors a panel of `width` columns `stride` apart: `L` of its square top and `B L⁻ᵀ` of the rows below. On the diagonal it
/// leaves the inverse of `L`'s.
///
/// # Errors
/// The first column whose pivot is not positive.
#[inline(always)]
pub(super) fn factor_panel<const TALL: usize>(panel: &mut [f64], width: usize, stride: usize) -> Result<(), usize> {
    for first in (0..width).step_by(TILE) {
        for_columns!(width - first, factor_strip::<TALL, _>(panel, first, stride)).map_err(|column| first + column)?;
    }
    Ok(())
}

/// [`factor_panel`] of `N` columns, those before being done.
#[inline(always)]
fn factor_strip<const TALL: usize, const N: usize>(
    panel: &mut [f64],
    first: usize,
    stride: usize,
) -> Result<(), usize> {
    let (done, strip) = panel.split_at_mut(first * stride);
    let done = done.get(first..).unwrap_or(&[]);
    let strip = &mut strip[first..];
    let mut l = product_tile::<N, N>(first, done, done, stride);
    for j in 0..N {
        for i in 0..N {
            l[j][i] = strip[j * stride + i] - l[j][i];
        }
    }
    factor_square(&mut l)?;
    for j in 0..N {
        strip[j * stride..j * stride + N].copy_from_slice(&l[j]);
    }
    let rows = stride - first;
    for_rows!(TALL, N, rows, |i| solve_tile::<_, N>(
        &mut strip[i..],
        stride,
        first,
        done.get(i..).unwrap_or(&[]),
        done,
        &l
    ));
    Ok(())
}

/// `L` of a small matrix given by its columns, the inverse on the diagonal.
#[inline(always)]
fn factor_square<const N: usize>(l: &mut [[f64; N]; N]) -> Result<(), usize> {
    for j in 0..N {
        let pivot = l[j][j];
        if pivot.is_nan() || pivot <= 0.0 {
            return Err(j);
        }
        let inverse = 1.0 / pivot.sqrt();
        l[j][j] = inverse;
        for i in j + 1..N {
            l[j][i] *= inverse;
        }
        for k in j + 1..N {
            for i in k..N {
                l[k][i] = (-l[j][i]).mul_add(l[j][k], l[k][i]);
            }
        }
    }
    Ok(())
}

/// Factors a panel that is not symmetric, and the transposed one beside it: `L` with ones on its diagonal and `B U⁻¹` of the rows
/// below in `lower`, `Uᵀ` with the inverse of its diagonal and the like in `upper`.
///
/// # Errors
/// The first column whose pivot is zero or not a number.
#[inline(always)]
pub(super) fn factor_panels<const TALL: usize>(
    lower: &mut [f64],
    upper: &mut [f64],
    width: usize,
    stride: usize,
) -> Result<(), usize> {
    for first in (0..width).step_by(TILE) {
        for_columns!(width - first, factor_strips::<TALL, _>(lower, upper, first, stride))
            .map_err(|column| first + column)?;
    }
    Ok(())
}

/// [`factor_panels`] of `N` columns, those before being done.
#[inline(always)]
fn factor_strips<const TALL: usize, const N: usize>(
    lower: &mut [f64],
    upper: &mut [f64],
    first: usize,
    stride: usize,
) -> Result<(), usize> {
    let (done, strip) = lower.split_at_mut(first * stride);
    let (upper_done, upper_strip) = upper.split_at_mut(first * stride);
    let (done, upper_done) = (done.get(first..).unwrap_or(&[]), upper_done.get(first..).unwrap_or(&[]));
    let (strip, upper_strip) = (&mut strip[first..], &mut upper_strip[first..]);
    let mut square = product_tile::<N, N>(first, done, upper_done, stride);
    for j in 0..N {
        for i in 0..N {
            let own = if i >= j { strip[j * stride + i] } else { upper_strip[i * stride + j] };
            square[j][i] = own - square[j][i];
        }
    }
    let (l, u) = factor_general_square(square)?;
    for j in 0..N {
        strip[j * stride..j * stride + N].copy_from_slice(&l[j]);
        upper_strip[j * stride..j * stride + N].copy_from_slice(&u[j]);
    }
    let rows = stride - first;
    for (x, a, b, square) in [(strip, done, upper_done, &u), (upper_strip, upper_done, done, &l)] {
        for_rows!(TALL, N, rows, |i| solve_tile::<_, N>(
            &mut x[i..],
            stride,
            first,
            a.get(i..).unwrap_or(&[]),
            b,
            square
        ));
    }
    Ok(())
}

/// A small matrix by its columns.
type Square<const N: usize> = [[f64; N]; N];

/// `L` with ones on the diagonal and `Uᵀ` with the inverse there.
#[inline(always)]
fn factor_general_square<const N: usize>(mut rest: Square<N>) -> Result<(Square<N>, Square<N>), usize> {
    let (mut l, mut u) = ([[0.0; N]; N], [[0.0; N]; N]);
    for j in 0..N {
        let inverse = 1.0 / rest[j][j];
        if !inverse.is_finite() {
            return Err(j);
        }
        (l[j][j], u[j][j]) = (1.0, inverse);
        for i in j + 1..N {
            l[j][i] = rest[j][i] * inverse;
            u[j][i] = rest[i][j];
        }
        for k in j + 1..N {
            for i in j + 1..N {
                rest[k][i] = (-l[j][i]).mul_add(u[j][k], rest[k][i]);
            }
        }
    }
    Ok((l, u))
}

/// `X ← (X − A Bᵀ) L⁻ᵀ` for `M` rows of `N` columns.
#[inline(always)]
fn solve_tile<const M: usize, const N: usize>(
    x: &mut [f64],
    stride: usize,
    k: usize,
    a: &[f64],
    b: &[f64],
    l: &[[f64; N]; N],
) {
    let mut tile = product_tile::<M, N>(k, a, b, stride);
    for j in 0..N {
        let x = &x[j * stride..j * stride + M];
        for i in 0..M {
            tile[j][i] = x[i] - tile[j][i];
        }
    }
    for j in 0..N {
        for k in 0..j {
            for i in 0..M {
                tile[j][i] = (-tile[k][i]).mul_add(l[k][j], tile[j][i]);
            }
        }
        for i in 0..M {
            tile[j][i] *= l[j][j];
        }
    }
    for j in 0..N {
        x[j * stride..j * stride + M].copy_from_slice(&tile[j]);
    }
}
