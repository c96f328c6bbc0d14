//! Rewards of the suite: sums and products of how well numbers are within bounds.

use super::quantity::{Quantity, View};

/// How a score falls outside of its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fall {
    /// exp(−d²), scaled.
    Gaussian,
    /// 1 − d, scaled, not below zero.
    Linear,
    /// 1 − d², scaled, not below zero.
    Quadratic,
    /// 1 / (1 + d²), scaled.
    LongTail,
    /// 1 / (1 + d), scaled.
    Reciprocal,
}

/// `dm_control.utils.rewards.tolerance`: 1 within bounds; outside, at a distance of `margin`, `value_at_margin`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    pub bounds: (f64, f64),
    /// 0 where it is 0 at once outside of the bounds.
    pub margin: f64,
    pub value_at_margin: f64,
    pub fall: Fall,
}

impl Tolerance {
    /// 1 within bounds, 0 outside.
    pub const fn within(low: f64, high: f64) -> Self {
        Self { bounds: (low, high), margin: 0.0, value_at_margin: 0.1, fall: Fall::Gaussian }
    }

    /// With a margin over which it falls to 0.1 as a Gaussian does.
    pub const fn margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    /// Falls otherwise.
    pub const fn falling(self, fall: Fall, value_at_margin: f64) -> Self {
        Self { value_at_margin, fall, ..self }
    }

    fn of(&self, x: f64) -> f64 {
        let (low, high) = self.bounds;
        if low <= x && x <= high {
            return 1.0;
        }
        if self.margin == 0.0 {
            return 0.0;
        }
        let d = (if x < low { low - x } else { x - high }) / self.margin;
        let at_margin = self.value_at_margin;
        // Beyond where the scaled distance is 1, these two are zero.
        let cut = |scaled: f64, value: f64| if scaled.abs() < 1.0 { value } else { 0.0 };
        match self.fall {
            Fall::Gaussian => {
                let scaled = d * libm::sqrt(-2.0 * libm::log(at_margin));
                libm::exp(-0.5 * scaled * scaled)
            }
            Fall::Linear => {
                let scaled = d * (1.0 - at_margin);
                cut(scaled, 1.0 - scaled)
            }
            Fall::Quadratic => {
                let scaled = d * libm::sqrt(1.0 - at_margin);
                cut(scaled, 1.0 - scaled * scaled)
            }
            Fall::LongTail => {
                let scaled = d * libm::sqrt(1.0 / at_margin - 1.0);
                1.0 / (scaled * scaled + 1.0)
            }
            Fall::Reciprocal => 1.0 / (d * (1.0 / at_margin - 1.0) + 1.0),
        }
    }
}

/// What becomes of several scores.
#[derive(Clone, Copy, Debug)]
pub(super) enum Join {
    Mean,
    Least,
    Product,
}

/// A reward, or a part of one.
#[derive(Clone, Debug)]
pub(super) enum Reward {
    /// Numbers as they are, their mean.
    Mean(Quantity),
    /// The sum of the squares of numbers.
    Squares(Quantity),
    /// How well numbers are within bounds.
    Score(Quantity, Tolerance, Join),
    /// A constant, and weighted parts.
    Sum(f64, Vec<(f64, Reward)>),
    /// The product of parts.
    Product(Vec<Reward>),
    /// The greatest of parts.
    Greatest(Vec<Reward>),
}

impl Reward {
    /// The score of one number, or the mean of those of several.
    pub fn score(of: Quantity, tolerance: Tolerance) -> Self {
        Self::Score(of, tolerance, Join::Mean)
    }

    /// `a + b * self`.
    pub fn scaled(self, a: f64, b: f64) -> Self {
        Self::Sum(a, vec![(b, self)])
    }

    /// All that it depends on.
    pub fn quantities(&self) -> Vec<&Quantity> {
        match self {
            Self::Mean(quantity) | Self::Squares(quantity) | Self::Score(quantity, ..) => vec![quantity],
            Self::Sum(_, parts) => parts.iter().flat_map(|(_, part)| part.quantities()).collect(),
            Self::Product(parts) | Self::Greatest(parts) => parts.iter().flat_map(Self::quantities).collect(),
        }
    }

    /// Its value.
    pub fn of(&self, view: &View<'_>) -> f64 {
        match self {
            Self::Mean(quantity) => joined(quantity, view, Join::Mean, |x| x),
            Self::Squares(quantity) => {
                let mut squares = 0.0;
                quantity.each(view, &mut |x| squares += x * x);
                squares
            }
            Self::Score(quantity, tolerance, join) => joined(quantity, view, *join, |x| tolerance.of(x)),
            Self::Sum(constant, parts) => {
                constant + parts.iter().map(|(weight, part)| weight * part.of(view)).sum::<f64>()
            }
            Self::Product(parts) => parts.iter().map(|part| part.of(view)).product(),
            Self::Greatest(parts) => parts.iter().map(|part| part.of(view)).fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

fn joined(quantity: &Quantity, view: &View<'_>, join: Join, score: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut least, mut product, mut count) = (0.0, f64::INFINITY, 1.0, 0.0);
    quantity.each(view, &mut |x| {
        let x = score(x);
        sum += x;
        least = least.min(x);
        product *= x;
        count += 1.0;
    });
    match join {
        // Of no numbers, none is bad.
        _ if count == 0.0 => 1.0,
        Join::Mean => sum / count,
        Join::Least => least,
        Join::Product => product,
    }
}

#[cfg(test)]
mod tests {
    use super::{Fall, Tolerance};

    #[test]
    fn scores_fall_from_the_bounds_to_the_value_at_the_margin() {
        for (fall, at_margin) in [
            (Fall::Gaussian, 0.1),
            (Fall::Linear, 0.5),
            (Fall::Linear, 0.0),
            (Fall::Quadratic, 0.0),
            (Fall::LongTail, 0.1),
            (Fall::Reciprocal, 0.1),
        ] {
            let tolerance = Tolerance::within(-1.0, 2.0).margin(0.5).falling(fall, at_margin);
            assert_eq!([tolerance.of(-1.0), tolerance.of(0.3), tolerance.of(2.0)], [1.0; 3]);
            for x in [-1.5, 2.5] {
                assert!((tolerance.of(x) - at_margin).abs() < 1e-15, "{fall:?}");
                assert!(tolerance.of(2.2) > tolerance.of(2.3) && tolerance.of(x) >= tolerance.of(2.0 * x));
            }
        }
        assert_eq!(Tolerance::within(0.0, 1.0).of(1.1), 0.0);
    }
}
