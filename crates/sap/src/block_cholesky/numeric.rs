//! The numeric phase: factorisation and substitution panel by panel.

use support::Interrupt;

use super::kernel::{Shape, factor_panel, in_widest_vectors, subtract_product};
use super::layout::{Layout, Panel};
use super::substitution::{substitute, substitute_back};

in_widest_vectors! {
    /// Replaces the values by those of the factor. Right-looking: every panel, once factored, is subtracted from all later ones
    /// that it touches.
    ///
    /// # Errors
    /// The row, in the order of elimination, of the first pivot that is not positive, or the one reached when `interrupt` was raised.
    pub(super) fn factor(layout: &Layout, values: &mut [f64], interrupt: &Interrupt) -> Result<(), usize>,
    factor_in_tiles::<8>, factor_in_tiles::<16>
}

/// [`factor`] with tiles of up to `TALL` rows.
#[inline(always)]
fn factor_in_tiles<const TALL: usize>(layout: &Layout, values: &mut [f64], interrupt: &Interrupt) -> Result<(), usize> {
    let mut work = Work::default();
    for panel in &layout.panels {
        let Panel { width, stride, .. } = *panel;
        if work.is_much(width * stride * stride) && interrupt.is_raised() {
            return Err(panel.first);
        }
        let (done, rest) = values.split_at_mut(panel.values + width * stride);
        let source = &mut done[panel.values..];
        factor_panel::<TALL>(source, width, stride).map_err(|column| panel.first + column)?;
        for update in &layout.updates[panel.updates.clone()] {
            let target = &layout.panels[update.panel];
            let values = &mut rest[target.values - panel.values - width * stride..];
            let runs = &layout.runs[update.runs.clone()];
            for (k, columns) in runs[..update.columns].iter().enumerate() {
                for rows in &runs[k..] {
                    let c = &mut values[columns.target * target.stride + rows.target..];
                    let (a, b) = (&source[rows.source..], &source[columns.source..]);
                    let shape = Shape { m: rows.len, n: columns.len, k: width };
                    subtract_product::<TALL>(c, target.stride, shape, a, b, stride);
                }
            }
        }
    }
    Ok(())
}

/// Counts multiplications, to look at something now and then: a look costs about as much as a small panel.
#[derive(Default)]
pub(super) struct Work(usize);

impl Work {
    /// Multiplications between two looks: less than a millisecond.
    const MUCH: usize = 1 << 20;

    /// Adds some; whether it is time for a look.
    #[inline(always)]
    pub fn is_much(&mut self, multiplications: usize) -> bool {
        self.0 += multiplications;
        let is_much = self.0 > Self::MUCH;
        if is_much {
            self.0 = 0;
        }
        is_much
    }
}

in_widest_vectors! {
    /// `x ← U⁻¹ L⁻¹ x` in the order of elimination for every `x` of `xs`, `rows` numbers each, `upper` being the panels of `Uᵀ`, which is `L` of a
    /// symmetric matrix; `local` is scratch. All go through a panel before the next: a large factor passes through the caches once. Sums run over
    /// the same lanes in vectors of any width.
    pub(super) fn solve(layout: &Layout, values: &[f64], upper: &[f64], xs: &mut [f64], rows: usize, local: &mut Vec<f64>),
    solve_in_lanes, solve_in_lanes
}

#[inline(always)]
fn solve_in_lanes(layout: &Layout, values: &[f64], upper: &[f64], xs: &mut [f64], rows: usize, local: &mut Vec<f64>) {
    for panel in &layout.panels {
        let Panel { first, width, stride, .. } = *panel;
        for x in xs.chunks_exact_mut(rows) {
            let own = &mut x[first..first + width];
            local.clear();
            local.extend_from_slice(own);
            local.resize(stride, 0.0);
            substitute(&values[panel.values..], width, stride, local);
            own.copy_from_slice(&local[..width]);
            for run in &layout.runs[panel.segments.clone()] {
                let local = &local[run.source..run.source + run.len];
                for (x, change) in x[run.target..run.target + run.len].iter_mut().zip(local) {
                    *x += change;
                }
            }
        }
    }
    back_in_lanes(layout, upper, xs, rows, local);
}

in_widest_vectors! {
    /// `x ← U⁻¹ x` in the order of elimination for every `x` of `xs`, `rows` numbers each.
    pub(super) fn solve_back(layout: &Layout, upper: &[f64], xs: &mut [f64], rows: usize, local: &mut Vec<f64>),
    back_in_lanes, back_in_lanes
}

#[inline(always)]
fn back_in_lanes(layout: &Layout, upper: &[f64], xs: &mut [f64], rows: usize, local: &mut Vec<f64>) {
    for panel in layout.panels.iter().rev() {
        let Panel { first, width, stride, .. } = *panel;
        for x in xs.chunks_exact_mut(rows) {
            local.clear();
            local.extend_from_slice(&x[first..first + width]);
            for run in &layout.runs[panel.segments.clone()] {
                local.extend_from_slice(&x[run.target..run.target + run.len]);
            }
            local.resize(stride, 0.0);
            substitute_back(&upper[panel.values..], width, stride, local);
            x[first..first + width].copy_from_slice(&local[..width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unsymmetric;
    use super::*;

    type FactorUnsymmetric = fn(&Layout, &mut [f64], &mut [f64], &Interrupt) -> Result<(), usize>;
    type Factor = fn(&Layout, &mut [f64], &Interrupt) -> Result<(), usize>;
    type Solve = fn(&Layout, &[f64], &[f64], &mut [f64], usize, &mut Vec<f64>);
    use crate::BlockCholesky;

    /// A band of nodes of all sizes, the values from a congruential sequence.
    fn matrix() -> BlockCholesky {
        let size = |i: usize| [6, 1, 17, 6, 34, 3, 6, 6, 29, 5][i % 10];
        let mut h = BlockCholesky::new();
        h.begin((0..60).map(size));
        let pairs = || (0..60_usize).flat_map(|i| (i.saturating_sub(4)..=i).map(move |j| (i, j)));
        pairs().for_each(|(i, j)| h.couple(i, j));
        h.analyze();
        let mut state = 1_u32;
        for (i, j) in pairs() {
            let block = h.block_mut(i, j);
            for column in block.values.chunks_mut(block.stride) {
                for value in &mut column[..size(block.row)] {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *value = f64::from(state) / f64::from(u32::MAX) - 0.5;
                }
            }
            if i == j {
                block.values.iter_mut().step_by(block.stride + 1).for_each(|diagonal| *diagonal += 100.0);
            }
        }
        h
    }

    #[test]
    fn the_bits_of_unsymmetric_factors_do_not_depend_on_the_instructions() {
        let mut h = matrix();
        h.make_unsymmetric();
        for (i, j) in [(3, 3), (7, 5), (5, 7), (20, 20)] {
            h.add_outer_product(i, &[0.5; 8], j, &[0.3, -0.2, 0.1, 0.4, 0.6, -0.7, 0.8, 0.9]);
        }
        let factored = |factor: FactorUnsymmetric| {
            let (mut lower, mut upper) = (h.values.clone(), h.upper.clone());
            factor(&h.layout, &mut lower, &mut upper, &Interrupt::default()).unwrap();
            lower.into_iter().chain(upper).map(f64::to_bits).collect::<Vec<u64>>()
        };
        let narrow = factored(unsymmetric::factor_in_tiles::<8>);
        assert!(narrow == factored(unsymmetric::factor_in_tiles::<16>));
        assert!(narrow == factored(unsymmetric::factor));
    }

    #[test]
    fn the_bits_do_not_depend_on_the_instructions() {
        let h = matrix();
        let factored = |factor: Factor| {
            let mut values = h.values.clone();
            factor(&h.layout, &mut values, &Interrupt::default()).unwrap();
            values.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        };
        let narrow = factored(factor_in_tiles::<8>);
        assert!(narrow == factored(factor_in_tiles::<16>));
        assert!(narrow == factored(factor));
        let mut h = h;
        h.factor().unwrap();
        let solved = |solve: Solve| {
            let mut x: Vec<f64> = (0..h.rows).map(|i| (i % 17) as f64 - 7.3).collect();
            solve(&h.layout, &h.values, &h.values, &mut x, h.rows, &mut Vec::new());
            x.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        };
        assert!(solved(solve_in_lanes) == solved(solve));
        let (b, other) = ((0..h.rows).map(|i| (i % 17) as f64 - 7.3), (0..h.rows).map(|i| (i % 5) as f64));
        let (b, other): (Vec<f64>, Vec<f64>) = (b.collect(), other.collect());
        let mut h_solve = |b: &[f64]| {
            let mut x = vec![0.0; b.len()];
            h.solve(b, &mut x);
            x
        };
        assert_eq!([h_solve(&b), h_solve(&other)].concat(), h_solve(&[b, other].concat()));
    }
}
