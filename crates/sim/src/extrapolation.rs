//! Velocities extrapolated from the last steps, where the contact solver starts.

use std::ops::Range;

/// How much accelerations, or their rates, may change from one time to the next, relative, to be expected to go on.
const STEADY: f64 = 0.5;

/// How the velocities of trees in contact change, for the contact solver to start where they lead.
///
/// What creeps or topples over changes its velocities steadily, by more in a step than the solver's tolerance: from where they
/// lead it has nothing to do. The velocities of what rests change back and forth, by what the solver has left undone: a step that takes
/// over the last ones goes on past the place of rest, and the next one has to come back. There the mean of the last two is the best guess,
/// from which nothing moves any more. So accelerations are means over the time between steps in which the solver had to do something, and
/// count where they were about the same twice; so do their rates. What moves fast is left out: the tolerance is too coarse there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VelocityExtrapolation {
    /// Accelerations, m/s² or rad/s², and their rates, m/s³ or rad/s³: (2, nv); empty before the first step. Of trees whose velocities go
    /// back and forth, how far the last solution was from their mean in place of rates, m/s or rad/s.
    pub(crate) rates: Vec<f64>,
    /// One per tree.
    pub(crate) marks: Vec<Mark>,
}

/// What is known of the accelerations of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mark {
    /// How long its velocities have been those predicted, s.
    pub age: f64,
    /// The time over which accelerations are the mean, before that, s.
    pub span: f64,
    pub trend: Trend,
    /// Whether it was in contact in the last step, and its island hardly moved.
    pub is_calm: bool,
}

/// How the velocities of a tree go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trend {
    /// As they are.
    #[default]
    Constant,
    /// At the mean of the last solution and of what held before it.
    BackAndForth,
    /// At the accelerations of the last span.
    Steady,
    /// At these, with their rates.
    Smooth,
}

impl Trend {
    fn is_steady(self) -> bool {
        matches!(self, Self::Steady | Self::Smooth)
    }
}

impl VelocityExtrapolation {
    /// Forgets everything: nothing is predicted.
    pub fn clear(&mut self) {
        self.rates.clear();
        self.marks.clear();
    }

    /// Makes room for a model.
    pub(crate) fn resize(&mut self, nv: usize, trees: usize) {
        self.rates.resize(2 * nv, 0.0);
        self.marks.resize(trees, Mark::default());
    }

    /// Whether all trees were in contact in the last step and hardly moved.
    pub(crate) fn is_calm(&self) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|mark| mark.is_calm)
    }

    /// Whether the velocities of tree `k` are probably about those predicted: they were in the last step, or in at least one before the
    /// one of length `dt` that changed them, or they change steadily.
    pub(crate) fn holds(&self, k: usize, dt: f64) -> bool {
        self.marks.get(k).is_some_and(|mark| mark.age > 0.0 || mark.span > 1.5 * dt || mark.trend.is_steady())
    }

    /// Moves the velocities of tree `k` to where they are after `dt`, if they go on as they did; `dofs` are its in the model.
    pub(crate) fn go_on(&self, k: usize, dofs: Range<usize>, dt: f64, v: &mut [f64]) {
        let (accelerations, rates) = self.rates.split_at(self.rates.len() / 2);
        let of_tree = (self.marks.get(k), accelerations.get(dofs.clone()), rates.get(dofs));
        let (Some(mark), Some(a), Some(j)) = of_tree else { return };
        let (now, then) = (mark.shares(mark.age), mark.shares(mark.age + dt));
        let (of_a, of_j) = (then.0 - now.0, then.1 - now.1);
        for (v, (a, j)) in v.iter_mut().zip(a.iter().zip(j)) {
            *v += of_a * a + of_j * j;
        }
    }
}

impl Mark {
    /// What the velocities change by in the time `t` from the last solution on: of the accelerations and of their rates.
    fn shares(&self, t: f64) -> (f64, f64) {
        match self.trend {
            Trend::Constant => (0.0, 0.0),
            Trend::BackAndForth => (0.0, if t > 0.0 { -1.0 } else { 0.0 }),
            Trend::Steady => (t, 0.0),
            Trend::Smooth => (t, 0.5 * t * (self.span + t)),
        }
    }

    /// Takes note of a tree's velocities `v` at the end of a step and of those predicted, if any were.
    pub fn follow(
        &mut self,
        accelerations: &mut [f64],
        rates: &mut [f64],
        predicted: Option<&[f64]>,
        v: &[f64],
        dt: f64,
    ) {
        let Some(predicted) = predicted else {
            *self = Self::default();
            accelerations.fill(0.0);
            rates.fill(0.0);
            return;
        };
        self.age += dt;
        if predicted == v {
            return;
        }
        let (of_a, of_j) = self.shares(self.age);
        let (per_second, between) = (1.0 / self.age, 2.0 / (self.age + self.span));
        // Metres and radians alike.
        let (mut steady, mut smooth) = (Change::default(), Change::default());
        let ends = v.iter().zip(predicted);
        for ((a, j), (v, predicted)) in accelerations.iter_mut().zip(rates.iter_mut()).zip(ends) {
            let acceleration = (of_a * *a + of_j * *j + (v - predicted)) * per_second;
            let rate = (acceleration - *a) * between;
            steady.add(*a, acceleration);
            smooth.add(*j, rate);
            (*a, *j) = (acceleration, rate);
        }
        // A mean that held for a while is one that they go back to.
        let has_held = self.trend == Trend::BackAndForth && self.age > 1.5 * dt;
        let trend = match self.trend {
            Trend::Steady | Trend::Smooth if steady.is_small() && smooth.is_small() => Trend::Smooth,
            _ if steady.is_small() => Trend::Steady,
            _ if has_held || steady.turns_back() => Trend::BackAndForth,
            _ => Trend::Constant,
        };
        if trend == Trend::BackAndForth {
            // The mean over the steps that took over what was predicted, and this one.
            let held = 1.0 - dt * per_second;
            for (excursion, (v, predicted)) in rates.iter_mut().zip(v.iter().zip(predicted)) {
                *excursion = held * (v - predicted);
            }
        }
        *self = Self { age: 0.0, span: self.age, trend, is_calm: false };
    }
}

/// Squares of a vector and of its change, and its product with what it was.
#[derive(Default)]
struct Change {
    change: f64,
    whole: f64,
    product: f64,
}

impl Change {
    fn add(&mut self, before: f64, now: f64) {
        self.change += (now - before) * (now - before);
        self.whole += now * now;
        self.product += before * now;
    }

    fn turns_back(&self) -> bool {
        self.product < 0.0
    }

    fn is_small(&self) -> bool {
        self.change < STEADY * STEADY * self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 0.01;

    /// Steps of one degree of freedom whose velocities would be `velocity(k)`, and the solver's tolerance; how many steps of the
    /// last half it had something to do in.
    fn solves(steps: usize, tolerance: f64, velocity: impl Fn(usize) -> f64) -> usize {
        let mut extrapolation = VelocityExtrapolation::default();
        extrapolation.resize(1, 1);
        let (mut v, mut count) = (velocity(0), 0);
        for k in 1..steps {
            let mut predicted = [v];
            extrapolation.go_on(0, 0..1, DT, &mut predicted);
            v = velocity(k);
            if (predicted[0] - v).abs() <= tolerance {
                v = predicted[0];
            } else {
                count += usize::from(k > steps / 2);
            }
            let mut mark = extrapolation.marks[0];
            let (a, j) = extrapolation.rates.split_at_mut(1);
            mark.follow(a, j, Some(&predicted), &[v], DT);
            extrapolation.marks[0] = mark;
        }
        count
    }

    #[test]
    fn steady_changes_are_foreseen() {
        assert_eq!(solves(100, 1e-9, |k| 3.0 + 0.2 * k as f64), 0);
        assert_eq!(solves(100, 1e-9, |k| 3.0 + 0.2 * k as f64 - 0.01 * (k * k) as f64), 0);
        // Neither: once in a while, for 99 times with the last velocities.
        let topple = |k: usize| 0.01 * (0.01 * k as f64).exp();
        let count = solves(200, 1e-5, topple);
        assert!((1..25).contains(&count), "{count}");
    }

    #[test]
    fn what_goes_back_and_forth_stays() {
        // Below the tolerance around the mean: nothing to do for the last velocities, but for those that go on.
        assert_eq!(solves(100, 1.5, |k| if k % 2 == 0 { 1.0 } else { -0.4 }), 0);
        assert_eq!(solves(100, 0.1, |k| if k % 2 == 0 { 1.0 } else { -1.0 }), 49);
    }

    /// A body on a spring that a step takes nearly all the way to rest: what a solver leaves undone below its tolerance displaces it, and a step
    /// that it solves takes that back.
    #[test]
    fn what_rests_is_not_moved() {
        let (mut place, share, tolerance) = (1e-5, 0.95, 1e-6);
        let mut extrapolation = VelocityExtrapolation::default();
        extrapolation.resize(1, 1);
        let (mut v, mut count) = (0.0, 0);
        for k in 0..400 {
            let mut predicted = [v];
            extrapolation.go_on(0, 0..1, DT, &mut predicted);
            let solution = -share * place / DT;
            let is_solved = (predicted[0] - solution).abs() * DT > tolerance;
            v = if is_solved { solution } else { predicted[0] };
            count += usize::from(is_solved);
            place += DT * v;
            let mut mark = extrapolation.marks[0];
            let (a, j) = extrapolation.rates.split_at_mut(1);
            mark.follow(a, j, Some(&predicted), &[v], DT);
            extrapolation.marks[0] = mark;
            assert!(k < 10 || place.abs() < 2.0 * tolerance, "{place}");
        }
        // From the last velocities every other step would have something to do.
        assert!(count < 20, "{count}");
    }

    #[test]
    fn what_was_not_foreseen_is_forgotten() {
        let (mut a, mut j, mut mark) = ([2.0], [1.0], Mark { trend: Trend::Steady, ..Mark::default() });
        mark.follow(&mut a, &mut j, None, &[1.0], DT);
        assert_eq!((a, j, mark), ([0.0], [0.0], Mark::default()));
    }
}
