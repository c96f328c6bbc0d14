//! How many worlds are side by side.

use crate::Precision;

/// The widths of groups that this processor has registers for, and what a step of one costs in such of a single world: gymnasium's humanoid
/// and dm_control's in motion, in the mean, on Zen 5.
fn widths(precision: Precision) -> &'static [(usize, f64)] {
    let all: &[_] = match precision {
        Precision::F64 => &[(1, 1.0), (4, 2.4), (8, 4.4)],
        Precision::F32 => &[(1, 1.0), (8, 3.2), (16, 5.4)],
    };
    if spatial::cpu::has_avx512() { all } else { &all[..2] }
}

/// The widest groups that this processor has registers for.
pub(crate) fn widest(precision: Precision) -> usize {
    widths(precision).last().map_or(1, |(width, _)| *width)
}

/// The width of groups in which so many worlds take the least time on so many threads; what a world does is the same in all.
pub(crate) fn fastest(precision: Precision, worlds: usize, threads: usize) -> usize {
    let time = |&(width, cost): &(usize, f64)| worlds.div_ceil(width).div_ceil(threads) as f64 * cost;
    let best = widths(precision).iter().rev().min_by(|a, b| time(a).total_cmp(&time(b)));
    best.map_or(1, |(width, _)| *width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_worlds_are_in_narrow_groups() {
        for precision in [Precision::F64, Precision::F32] {
            assert_eq!(fastest(precision, 1, 1), 1, "one world has nobody to share registers with");
            assert_eq!(fastest(precision, 4096, 2), widest(precision));
            assert_eq!(fastest(precision, 4, 4), 1, "a thread for each");
        }
    }
}
