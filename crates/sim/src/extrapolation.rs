//! Velocities extrapolated from the last steps, where the contact solver starts.

use std::ops::Range;

/// How many divided differences of places are kept, from the second on.
pub(crate) const MAX_ORDER: usize = 2;

/// How much less than with fewer differences the error of a prediction has to be for more of them to be used, squares.
const GAIN: f64 = 0.8;

/// How the velocities of trees in contact change, for the contact solver to start where they lead.
///
/// What creeps or topples over changes its velocities steadily, by more in a step than the solver's tolerance: from where they
/// lead it has nothing to do. What is known well are places at the ends of steps in which the solver had something to do: stiff contacts
/// take back in these what the steps between left undone. The velocity of such a step has that correction in it and does not go on; the mean since
/// the last one does. So places go on along the polynomial through the last few of them, in Newton's form with divided differences, of
/// the order that would have predicted the last mean best. What moves fast is left out: the tolerance is too coarse there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VelocityExtrapolation {
    /// Of every degree of freedom how far the last solution was from the mean since the one before, m/s or rad/s, and divided differences of
    /// places from the second on: (1 + [`MAX_ORDER`], nv); empty before the first step.
    pub(crate) differences: Vec<f64>,
    /// One per tree.
    pub(crate) marks: Vec<Mark>,
}

/// What is known of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mark {
    /// How long its velocities have been those predicted, s.
    pub age: f64,
    /// The times between the last solutions, the latest first, s.
    pub spans: [f64; MAX_ORDER],
    /// How many divided differences are used: with none velocities stay at their mean.
    pub order: usize,
    /// Whether it was in contact in the last step, and its island hardly moved.
    pub is_calm: bool,
}

/// What there is of each degree of freedom of some trees: excursions and differences.
#[derive(Default)]
pub(crate) struct Differences<'a>([&'a mut [f64]; 1 + MAX_ORDER]);

impl<'a> Differences<'a> {
    /// Those of a model.
    pub fn of(mut all: &'a mut [f64]) -> Self {
        let nv = all.len() / (1 + MAX_ORDER);
        Self(std::array::from_fn(|_| all.split_off_mut(..nv).unwrap_or_default()))
    }

    pub fn reborrow(&mut self) -> Differences<'_> {
        Differences(self.0.each_mut().map(|x| &mut **x))
    }

    /// Takes those of the first degrees of freedom off; none where there are none.
    pub fn split_off(&mut self, dofs: usize) -> Self {
        Self(self.0.each_mut().map(|x| x.split_off_mut(..dofs).unwrap_or_default()))
    }
}

impl VelocityExtrapolation {
    /// Forgets everything: nothing is predicted.
    pub fn clear(&mut self) {
        self.differences.clear();
        self.marks.clear();
    }

    /// Makes room for a model.
    pub(crate) fn resize(&mut self, nv: usize, trees: usize) {
        self.differences.resize((1 + MAX_ORDER) * nv, 0.0);
        self.marks.resize(trees, Mark::default());
    }

    /// Whether all trees were in contact in the last step and hardly moved.
    pub(crate) fn is_calm(&self) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|mark| mark.is_calm)
    }

    /// Whether the velocities of tree `k` are probably about those predicted: they were in the last step, or in at least one before the
    /// one of length `dt` that changed them, or they change steadily.
    pub(crate) fn holds(&self, k: usize, dt: f64) -> bool {
        let holds = |mark: &Mark| mark.age > 0.0 || mark.spans[0] > 1.5 * dt || mark.order > 0;
        self.marks.get(k).is_some_and(holds)
    }

    /// Moves the velocities of tree `k` to where they are after `dt`, if they go on as they did; `dofs` are its in the model.
    pub(crate) fn go_on(&self, k: usize, dofs: Range<usize>, dt: f64, v: &mut [f64]) {
        let Some(mark) = self.marks.get(k) else { return };
        let nv = self.differences.len() / (1 + MAX_ORDER);
        let (now, then) = (mark.shares(mark.age, dt), mark.shares(mark.age + dt, dt));
        for (k, (now, then)) in now.into_iter().zip(then).enumerate() {
            let share = then - now;
            if share != 0.0
                && let Some(of_tree) = self.differences.get(k * nv + dofs.start..k * nv + dofs.end)
            {
                v.iter_mut().zip(of_tree).for_each(|(v, x)| *v += share * x);
            }
        }
    }
}

impl Mark {
    /// How far velocities are from the last mean in the step of length `dt` that ends `t` after the last solution: of excursions and of
    /// differences.
    fn shares(&self, t: f64, dt: f64) -> [f64; 1 + MAX_ORDER] {
        let mut shares = [0.0; 1 + MAX_ORDER];
        if t <= 0.0 {
            shares[0] = 1.0;
            return shares;
        }
        // The polynomials of Newton's form at both ends of the step.
        let (mut start, mut end, mut place) = (t - dt, t, 0.0);
        for (share, span) in shares[1..].iter_mut().zip(self.spans).take(self.order) {
            place += span;
            (start, end) = (start * (t - dt + place), end * (t + place));
            *share = (end - start) / dt;
        }
        shares
    }

    /// Takes note of a tree's velocities `v` at the end of a step and of those predicted, if any were.
    pub fn follow(&mut self, differences: Differences<'_>, predicted: Option<&[f64]>, v: &[f64], dt: f64) {
        let Differences([excursions, differences @ ..]) = differences;
        let Some(predicted) = predicted else {
            *self = Self::default();
            excursions.fill(0.0);
            differences.into_iter().for_each(|x| x.fill(0.0));
            return;
        };
        self.age += dt;
        if predicted == v {
            return;
        }
        let shares = self.shares(self.age, dt);
        // From the present to the ends of the last spans; their product is what a difference makes of the mean.
        let (mut reach, mut of_mean) = ([self.age; MAX_ORDER], [1.0; MAX_ORDER]);
        let (mut sum, mut product) = (self.age, 1.0);
        for k in 0..MAX_ORDER {
            sum += self.spans[k];
            product *= sum;
            (reach[k], of_mean[k]) = (sum, product);
        }
        let share = dt / self.age;
        // Squares of what each order would have missed of the mean; metres and radians alike.
        let mut missed = [0.0; 1 + MAX_ORDER];
        for (dof, (v, predicted)) in v.iter().zip(predicted).enumerate() {
            let error = v - predicted;
            // How far the mean since the last solution is from the one before, and the last velocities predicted.
            let (mut change, mut of_last) = (share * error, 0.0);
            for k in 0..self.order {
                change += of_mean[k] * differences[k][dof];
                of_last += shares[1 + k] * differences[k][dof];
            }
            excursions[dof] = error + of_last - change;
            missed[0] += change * change;
            let (mut remainder, mut new) = (change, change);
            for k in 0..MAX_ORDER {
                remainder -= of_mean[k] * differences[k][dof];
                missed[1 + k] += remainder * remainder;
                let before = differences[k][dof];
                new /= reach[k];
                differences[k][dof] = new;
                new -= before;
            }
        }
        let mut order = 0;
        for k in 1..=MAX_ORDER {
            if missed[k] < GAIN * missed[order] {
                order = k;
            }
        }
        let mut spans = self.spans;
        spans.rotate_right(1);
        spans[0] = self.age;
        *self = Self { age: 0.0, spans, order, is_calm: false };
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
            mark.follow(Differences::of(&mut extrapolation.differences), Some(&predicted), &[v], DT);
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
            mark.follow(Differences::of(&mut extrapolation.differences), Some(&predicted), &[v], DT);
            extrapolation.marks[0] = mark;
            assert!(k < 10 || place.abs() < 2.0 * tolerance, "{place}");
        }
        // From the last velocities every other step would have something to do.
        assert!(count < 20, "{count}");
    }

    #[test]
    fn what_was_not_foreseen_is_forgotten() {
        let mut extrapolation = VelocityExtrapolation { differences: vec![1.0; 1 + MAX_ORDER], marks: Vec::new() };
        let mut mark = Mark { order: 1, ..Mark::default() };
        mark.follow(Differences::of(&mut extrapolation.differences), None, &[1.0], DT);
        assert_eq!((extrapolation.differences, mark), (vec![0.0; 1 + MAX_ORDER], Mark::default()));
    }
}
