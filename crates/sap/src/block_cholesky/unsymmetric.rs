//! The numeric phase for matrices that are symmetric in their pattern alone: `P K Pᵀ = L U`, without pivots.
//!
//! `L` is kept where the symmetric factor would be, with ones on its diagonal, and `Uᵀ` in panels of the same layout, with the inverse
//! of `U`'s diagonal. Each is then subtracted and substituted as the symmetric factor is.

use support::Interrupt;

use super::kernel::{Shape, factor_panels, in_widest_vectors, subtract_product};
use super::layout::{Layout, Panel};
use super::numeric::Work;

in_widest_vectors! {
    /// Replaces the values, those of the lower triangle and of the transposed upper one, by those of `L` and `Uᵀ`. The diagonal is read
    /// from `lower`.
    ///
    /// # Errors
    /// The row, in the order of elimination, of the first pivot that is zero or not a number, or the one reached when `interrupt` was
    /// raised.
    pub(super) fn factor(
        layout: &Layout, lower: &mut [f64], upper: &mut [f64], interrupt: &Interrupt
    ) -> Result<(), usize>,
    factor_in_tiles::<8>, factor_in_tiles::<16>
}

/// [`factor`] with tiles of up to `TALL` rows.
#[inline(always)]
pub(super) fn factor_in_tiles<const TALL: usize>(
    layout: &Layout,
    lower: &mut [f64],
    upper: &mut [f64],
    interrupt: &Interrupt,
) -> Result<(), usize> {
    let mut work = Work::default();
    for panel in &layout.panels {
        let Panel { width, stride, .. } = *panel;
        if work.is_much(2 * width * stride * stride) && interrupt.is_raised() {
            return Err(panel.first);
        }
        let end = panel.values + width * stride;
        let (lower, lower_rest) = lower.split_at_mut(end);
        let (upper, upper_rest) = upper.split_at_mut(end);
        let (lower, upper) = (&mut lower[panel.values..], &mut upper[panel.values..]);
        factor_panels::<TALL>(lower, upper, width, stride).map_err(|column| panel.first + column)?;
        for update in &layout.updates[panel.updates.clone()] {
            let target = &layout.panels[update.panel];
            let runs = &layout.runs[update.runs.clone()];
            for (k, columns) in runs[..update.columns].iter().enumerate() {
                for rows in &runs[k..] {
                    let at = target.values - end + columns.target * target.stride + rows.target;
                    let shape = Shape { m: rows.len, n: columns.len, k: width };
                    for (c, a, b) in [(&mut *lower_rest, &*lower, &*upper), (&mut *upper_rest, &*upper, &*lower)] {
                        let (a, b) = (&a[rows.source..], &b[columns.source..]);
                        subtract_product::<TALL>(&mut c[at..], target.stride, shape, a, b, stride);
                    }
                }
            }
        }
    }
    Ok(())
}
