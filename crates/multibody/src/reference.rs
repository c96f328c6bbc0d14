//! Constraints that go to their place as MJCF's `solref` and `solimp` describe.

use spatial::Real;
use spatial::masks::select;

use crate::{Decay, SpringPoint};

/// MuJoCo takes impedances to lie in this interval, and so the place of the middle of their course.
const LEAST: f64 = 1e-4;
const GREATEST: f64 = 0.9999;

/// A constraint with a reference acceleration: with the impedance d of its violation r and the inverse weight Â of its row,
///
/// ```text
/// f = (−b ṙ − d k r − r̈) / R,   R = (1 − d)/d Â
/// ```
///
/// a spring d k/R, a damper b/R and an inerter 1/R (MuJoCo's documentation, *Computation*, Constraint model). Under a load f it gives way by
/// R f/(d k); unloaded it swings with the frequency d √k, as if its mass were 1/(1 − d) times as large.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Reference {
    /// `solref`: time constant, s, and damping ratio, both positive; or −stiffness, 1/s², and −damping, 1/s, neither positive.
    pub solref: [f64; 2],
    /// `solimp`: impedance at no violation, at the width, the width (m or rad), where the middle of its course lies, and its power.
    pub solimp: [f64; 5],
    /// What a pyramidal friction cone makes of R, 1 over MJCF's `impratio`; 0 under an elliptic one.
    pub pyramid: f64,
    /// A time constant counts as this many steps at least: 2 under MJCF's `refsafe`, 0 without.
    pub least_steps: f64,
}

impl Default for Reference {
    /// MJCF's.
    fn default() -> Self {
        Self { solref: [0.02, 1.0], solimp: [0.9, 0.95, 0.001, 0.5, 2.0], pyramid: 1.0, least_steps: 2.0 }
    }
}

/// The law of a row over a step: γ = (v̂ − v)/R with v̂ = `per_rate` ṙ₀ + `per_violation` r₀.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceStep<T> {
    /// R
    pub r: T,
    /// Of v̂ over the rate at the beginning.
    pub per_rate: T,
    /// Of v̂ over the violation at the beginning, 1/s.
    pub per_violation: T,
}

impl Reference {
    /// Whether all numbers are such that the law has a value.
    pub fn is_valid(&self) -> bool {
        let Self { solref: [first, second], solimp, pyramid, least_steps } = *self;
        let is_one_format = (first > 0.0 && second > 0.0) || (first <= 0.0 && second <= 0.0);
        let are_numbers =
            self.solref.iter().chain(&solimp).all(|x| x.is_finite()) && pyramid >= 0.0 && least_steps >= 0.0;
        is_one_format && are_numbers && self.stiffness_and_damping(0.0).iter().all(|x| x.is_finite())
    }

    /// That of a surface in the same file that says nothing.
    pub(crate) fn with_default_numbers(self) -> Self {
        let Self { solref, solimp, .. } = Self::default();
        Self { solref, solimp, ..self }
    }

    /// A number above 0 raised to the power of `solimp`.
    pub fn power(&self, x: f64) -> f64 {
        libm::pow(x, self.solimp[4])
    }

    /// The five numbers of `solimp`, each within the interval that MuJoCo takes it to lie in; the width is 0 where d is the same everywhere.
    pub fn course(&self) -> [f64; 5] {
        let inside = |value: f64| value.clamp(LEAST, GREATEST);
        let [least, greatest, width, middle, exponent] = self.solimp;
        let (least, greatest) = (inside(least), inside(greatest));
        if least == greatest || width <= 0.0 {
            let mean = 0.5 * (least + greatest);
            return [mean, mean, 0.0, 0.5, 1.0];
        }
        [least, greatest, width, inside(middle), exponent.max(1.0)]
    }

    /// d at a violation of 0 or more; `power` is [`power`](Self::power) lane by lane, asked for where that is neither 1 nor 2.
    #[inline(always)]
    pub fn impedance<T: Real>(&self, violation: T, power: impl Fn(T) -> T) -> T {
        let [least, greatest, width, middle, exponent] = self.course();
        if width == 0.0 {
            return T::from_f64(least);
        }
        let x = (violation * T::from_f64(1.0 / width)).min(T::ONE);
        // y = m (x/m)ᵖ up to the middle m, point-symmetric beyond it.
        let below = raised(x * T::from_f64(1.0 / middle), exponent, &power) * T::from_f64(middle);
        let rest = 1.0 - middle;
        let above = raised((T::ONE - x) * T::from_f64(1.0 / rest), exponent, &power) * T::from_f64(rest);
        let beyond = T::from_f64(middle).if_less(x, T::ONE, T::ZERO);
        let y = select(beyond, T::ONE - above, below);
        y.mul_add(T::from_f64(greatest - least), T::from_f64(least))
    }

    /// The depth at which a load rests that would accelerate the row by `acceleration`: (1 − d) a = d² k r.
    pub fn depth(&self, acceleration: f64) -> f64 {
        let [k, _] = self.stiffness_and_damping(0.0);
        let is_beyond = |r: f64| {
            let d = self.impedance(r, |x| self.power(x));
            d * d * k * r > (1.0 - d) * acceleration
        };
        let [mut low, mut high] = [0.0, acceleration / (LEAST * LEAST * k).max(f64::MIN_POSITIVE)];
        for _ in 0..200 {
            let between = 0.5 * (low + high);
            if between <= low || between >= high {
                break;
            }
            if is_beyond(between) { high = between } else { low = between }
        }
        high
    }

    /// k without the impedance, 1/s², and b, 1/s, over steps of `dt` s.
    pub fn stiffness_and_damping(&self, dt: f64) -> [f64; 2] {
        let [first, second] = self.solref;
        let greatest = self.solimp[1].clamp(LEAST, GREATEST);
        if first > 0.0 {
            let time = first.max(self.least_steps * dt);
            [(greatest * time * second).powi(-2), 2.0 / (greatest * time)]
        } else {
            [-first / (greatest * greatest), -second / greatest]
        }
    }

    /// Without its spring, over steps of `dt` s, as dry friction has it: f = (−b ṙ − r̈)/R, which creeps under a load with R f/b.
    pub fn without_spring(&self, dt: f64) -> Self {
        let ([_, b], greatest) = (self.stiffness_and_damping(dt), self.solimp[1].clamp(LEAST, GREATEST));
        Self { solref: [0.0, -b * greatest], ..*self }
    }

    /// The law over a step of `dt` s of a row with the inverse weight Â, where it has the impedance `d`; its damper acts in the share `met` of
    /// the step.
    ///
    /// What has the row's inverse weight swings as r̈ = −d b ṙ − d² k r. With z = dt² d² k and h = dt d b/2 its true motion over a step has the
    /// determinant e⁻²ʰ and the trace 2 e⁻ʰ cos √(z − h²) between r and ṙ half a step apart. This law has both to second order beyond the
    /// first: the sag under a load leaves it two numbers, and these are the two. A spring that the step does not resolve is taken where
    /// [`SpringPoint`] says.
    #[inline(always)]
    pub fn over_step<T: Real>(&self, dt: f64, inverse_weight: T, d: T, met: T) -> ReferenceStep<T> {
        let [k, b] = self.stiffness_and_damping(dt);
        let per_d = d.recip();
        let r = inverse_weight * (T::ONE - d) * per_d;
        let damper = met * T::from_f64(0.5 * dt * b);
        let h = damper * d;
        let Decay { heavier, slower } = Decay::over_step(h);
        // dt² d k
        let spring = d * T::from_f64(dt * dt * k);
        let SpringPoint { lead, reach } = SpringPoint::in_tune(spring * d);
        let reached = spring * reach;
        let inerter = (damper * h).mul_add(heavier, T::ONE + reached);
        let damper = (reached * h).mul_add(slower, damper);
        let per_whole = (inerter + damper).recip();
        ReferenceStep {
            r: r * per_whole,
            per_rate: (inerter - damper - spring * lead) * per_whole,
            per_violation: -(d * per_whole) * T::from_f64(dt * k),
        }
    }

    /// The law of two surfaces together, by their shares in it. Time constants and damping ratios are averaged, stiffnesses and dampings are
    /// the greater ones, as in MuJoCo.
    pub fn mix(a: &Self, b: &Self, share_of_a: f64) -> Self {
        let mean = |x: f64, y: f64| share_of_a * x + (1.0 - share_of_a) * y;
        let are_times = a.solref[0] > 0.0 && b.solref[0] > 0.0;
        let of = |x: f64, y: f64| if are_times { mean(x, y) } else { x.min(y) };
        Self {
            solref: std::array::from_fn(|k| of(a.solref[k], b.solref[k])),
            solimp: std::array::from_fn(|k| mean(a.solimp[k], b.solimp[k])),
            pyramid: a.pyramid.max(b.pyramid),
            least_steps: a.least_steps.min(b.least_steps),
        }
    }

    /// What a friction cone makes of R along the normal: a pyramid of 2 (`rows` − 1) edges is as stiff as all of them together, each of
    /// which has the friction in its direction.
    pub fn share_of_cone(&self, friction: f64, rows: usize) -> f64 {
        if self.pyramid == 0.0 || rows <= 1 {
            return 1.0;
        }
        let squared = friction * friction;
        (self.pyramid * squared * (1.0 + squared) / (rows - 1) as f64).max(MIN_SHARE)
    }

    /// R of sliding friction over R along the normal, of a contact of so many rows: 1 over `impratio` under an elliptic cone. The edges of a
    /// pyramid, of which R is the same, have it along their friction.
    #[inline(always)]
    pub fn share_of_friction<T: Real>(&self, friction: T, rows: usize, impratio: f64) -> T {
        if self.pyramid == 0.0 || rows <= 1 {
            return T::from_f64(1.0 / impratio);
        }
        T::from_f64((rows - 1) as f64) / (friction * friction).max(T::from_f64(MIN_SHARE))
    }
}

/// xᵖ, by `power` where p is neither 1 nor 2.
#[inline(always)]
fn raised<T: Real>(x: T, exponent: f64, power: &impl Fn(T) -> T) -> T {
    match exponent {
        1.0 => x,
        2.0 => x * x,
        _ => power(x),
    }
}

/// MuJoCo's least coefficient of friction is 1e-5: R stays positive there.
const MIN_SHARE: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(solimp: [f64; 5], depth: f64) -> f64 {
        let reference = Reference { solimp, ..Reference::default() };
        reference.impedance(depth, |x| reference.power(x))
    }

    /// Of the motion over a step of what has the row's inverse weight, 1, and no other force: r and its rate half a step apart.
    #[test]
    fn free_motion_is_that_of_its_spring_and_damper() {
        for d in [0.3, 0.5, 0.9, 0.99] {
            for [z, ratio] in
                [[0.1, 0.0], [0.1, 0.3], [0.1, 1.0], [0.1, 2.0], [0.01, 0.5], [0.01, 3.0], [0.01, 20.0_f64]]
            {
                let [k, h] = [z / (d * d), ratio * z.sqrt()];
                // MJCF has k and b of d = 1 here, k d² and b d.
                let solref = [-k * d * d, -2.0 * h];
                let reference = Reference { solref, solimp: [d, d, 1.0, 0.5, 1.0], ..Reference::default() };
                let ReferenceStep { r, per_rate, per_violation } = reference.over_step(1.0, 1.0, d, 1.0);
                let share = (r + 1.0).recip();
                let determinant = (r + per_rate) * share;
                let trace = 1.0 + determinant + per_violation * share;
                let beyond = z - h * h;
                let swing = if beyond > 0.0 { beyond.sqrt().cos() } else { (-beyond).sqrt().cosh() };
                let [error, of_trace] = [determinant - (-2.0 * h).exp(), trace - 2.0 * (-h).exp() * swing];
                let allowed = 0.01 * (z * z + h.powi(4).min(1.0));
                assert!(error.abs() < allowed && of_trace.abs() < allowed, "{d} {z} {ratio}: {error:e} {of_trace:e}");
            }
        }
    }

    #[test]
    fn impedance_follows_its_course() {
        // As MuJoCo's documentation draws it: from dmin at 0 by the middle at half the way to dmax at the width.
        for (depth, expected) in [(0.0, 0.1), (0.0025, 0.2), (0.005, 0.5), (0.0075, 0.8), (0.01, 0.9), (1.0, 0.9)] {
            let found = at([0.1, 0.9, 0.01, 0.5, 2.0], depth);
            assert!((found - expected).abs() < 1e-15, "{depth}: {found} for {expected}");
        }
        assert!((at([0.1, 0.9, 0.01, 0.3, 1.0], 0.002) - 0.26).abs() < 1e-15);
        assert!((at([0.1, 0.9, 0.01, 0.5, 3.0], 0.0025) - 0.15).abs() < 1e-15);
    }

    #[test]
    fn a_load_rests_where_the_law_says() {
        // (1 − d) g = d² k r, whatever the step.
        let law = Reference { solref: [0.02, 1.0], solimp: [0.9, 0.9, 0.001, 0.5, 2.0], ..Reference::default() };
        for dt in [1e-4, 2e-3, 1e-2] {
            let step = law.over_step(dt, 0.5, 0.9, 1.0);
            let [k, _] = law.stiffness_and_damping(dt);
            let load = 9.81 / 0.5;
            let r = 0.1 * 9.81 / (0.81 * k);
            let impulse = -step.per_violation * r / step.r;
            assert!((impulse / (dt * load) - 1.0).abs() < 1e-12, "{dt}: {impulse}");
        }
    }
}
