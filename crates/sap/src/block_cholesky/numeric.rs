//! The numeric phase: factorisation and substitution panel by panel.

use super::kernel::{factor_panel, subtract_product};
use super::layout::{Layout, Panel};
use crate::vector::{axpy, dot};

/// Replaces the values by those of the factor. Right-looking: every panel, once factored, is subtracted from all later ones
/// that it touches.
///
/// # Errors
/// The row, in the order of elimination, of the first pivot that is not positive.
pub(super) fn factor(layout: &Layout, values: &mut [f64]) -> Result<(), usize> {
    for panel in &layout.panels {
        let Panel { width, stride, .. } = *panel;
        let (done, rest) = values.split_at_mut(panel.values + width * stride);
        let source = &mut done[panel.values..];
        factor_panel(source, width, stride).map_err(|column| panel.first + column)?;
        for update in &layout.updates[panel.updates.clone()] {
            let target = &layout.panels[update.panel];
            let values = &mut rest[target.values - panel.values - width * stride..];
            let runs = &layout.runs[update.runs.clone()];
            for (k, columns) in runs[..update.columns].iter().enumerate() {
                for rows in &runs[k..] {
                    let c = &mut values[columns.target * target.stride + rows.target..];
                    let (a, b) = (&source[rows.source..], &source[columns.source..]);
                    subtract_product(c, target.stride, (rows.len, columns.len, width), a, b, stride);
                }
            }
        }
    }
    Ok(())
}

/// `x ← L⁻ᵀ L⁻¹ x` in the order of elimination; `below` is scratch.
pub(super) fn solve(layout: &Layout, values: &[f64], x: &mut [f64], below: &mut Vec<f64>) {
    for panel in &layout.panels {
        let Panel { first, width, stride, .. } = *panel;
        let own = &mut x[first..first + width];
        below.clear();
        below.resize(stride - width, 0.0);
        for (j, column) in values[panel.values..].chunks_exact(stride.max(1)).take(width).enumerate() {
            own[j] *= column[j];
            let x_j = own[j];
            axpy(-x_j, &column[j + 1..width], &mut own[j + 1..]);
            axpy(x_j, &column[width..], below);
        }
        for run in &layout.runs[panel.segments.clone()] {
            axpy(-1.0, &below[run.source - width..][..run.len], &mut x[run.target..][..run.len]);
        }
    }
    for panel in layout.panels.iter().rev() {
        let Panel { first, width, stride, .. } = *panel;
        below.clear();
        below.resize(stride - width, 0.0);
        for run in &layout.runs[panel.segments.clone()] {
            below[run.source - width..][..run.len].copy_from_slice(&x[run.target..][..run.len]);
        }
        let own = &mut x[first..first + width];
        for j in (0..width).rev() {
            let column = &values[panel.values + j * stride..][..stride];
            let sum = dot(&column[j + 1..width], &own[j + 1..]) + dot(&column[width..], below);
            own[j] = (own[j] - sum) * column[j];
        }
    }
}
