//! Where in a step a spring is taken, and the damper of a constraint.

use spatial::Real;

/// dt² k w of a spring from which on its own motion counts for less than its rest; w is how easily what it moves is moved. At 4 an explicit
/// step would be unstable, ω dt = 2: the swing has three steps a period, and is none that a step resolves.
pub const UNRESOLVED: f64 = 4.0;

/// Share of the change of velocity at which z/(1 + z `reach`) is 2 − 2 cos √z, to third order.
const IN_TUNE: f64 = 1.0 / 12.0;

/// The spring is taken at q₀ + dt (`lead` v₀ + `reach` (v − v₀)), with the velocities v₀ and v of both ends of the step.
///
/// Positions follow v. Taken at their end (1, 1) a spring damps: z = dt² k w makes a damping ratio of √z / 2. Taken with (0, α) the area in
/// phase space is kept, and for every z the step is stable if α ≥ ¼: the θ-stabilised leapfrog, Newmark's average acceleration on a
/// staggered grid. A spring that the step does not resolve would then ring at the frequency of the steps, for ever; it is better at its
/// rest. So (`lead`, `reach`) go from (0, ½) where z is small to (1, 1) where it is large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringPoint<T> {
    /// Share of the way at v₀.
    pub lead: T,
    /// Share of the way that the change of velocity makes.
    pub reach: T,
}

impl<T: Real> SpringPoint<T> {
    /// The end of the step.
    pub fn end() -> Self {
        Self { lead: T::ONE, reach: T::ONE }
    }

    /// For a spring with z = dt² k w, 0 or more.
    ///
    /// ```
    /// use sapwood_multibody::SpringPoint;
    /// let resolved = SpringPoint::<f64>::of(1e-3);
    /// assert!(resolved.lead < 1e-6 && (resolved.reach - 0.5).abs() < 1e-6);
    /// let stiff = SpringPoint::<f64>::of(1e6);
    /// assert!(stiff.lead > 0.999 && stiff.reach > 0.999);
    /// ```
    #[inline(always)]
    pub fn of(z: T) -> Self {
        let x = z * T::from_f64(1.0 / UNRESOLVED);
        let squared = (x * x).min(T::from_f64(1e12));
        let lead = squared / (squared + T::ONE);
        Self { lead, reach: lead.mul_add(T::from_f64(0.5), T::from_f64(0.5)) }
    }

    /// The same where nothing that the spring is coupled to can make z greater than it is thought to be, as at constraints that have an
    /// inerter: it swings with the right frequency then, as far as a step resolves it. 4/z > 1 − 4 `reach` has to hold, which is more than
    /// others can promise.
    #[inline(always)]
    pub fn in_tune(z: T) -> Self {
        let Self { lead, .. } = Self::of(z);
        Self { lead, reach: lead.mul_add(T::from_f64(1.0 - IN_TUNE), T::from_f64(IN_TUNE)) }
    }

    /// Force of a spring per velocity at the beginning of a step of `dt` s.
    #[inline(always)]
    pub fn ahead(&self, dt: f64, stiffness: T) -> T {
        self.lead * stiffness * T::from_f64(dt)
    }

    /// Impulse of a spring and a damper over the step per change of velocity.
    #[inline(always)]
    pub fn impedance(&self, dt: f64, stiffness: T, damping: T) -> T {
        (self.reach * stiffness * T::from_f64(dt) + damping) * T::from_f64(dt)
    }
}

/// What a damper takes from a velocity within a step: of e⁻²ʰ, which is left of it, 2h is taken by a mean of both ends that sees a mass
/// h coth h times as large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay<T> {
    /// How much heavier the mass seems, (h coth h − 1)/h².
    pub heavier: T,
    /// tanh h, over h.
    pub slower: T,
}

impl<T: Real> Decay<T> {
    /// For h, 0 or more, the rate of the decay times half a step. To 1.5 %, and to fourth order where h is small; both ends of the step have
    /// the same direction whatever h is.
    #[inline(always)]
    pub fn over_step(h: T) -> Self {
        let h = h.min(T::from_f64(1e18));
        let squared = h * h;
        let bend = (squared + T::from_f64(3.0)).recip();
        let whole = bend.mul_add(T::from_f64(3.0), squared).sqrt();
        Self { heavier: (squared + T::from_f64(2.0)) * bend * (whole + T::ONE).recip(), slower: whole.recip() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decay, SpringPoint};

    #[test]
    fn decay_is_that_of_a_damper() {
        for h in [1e-3, 0.1, 0.3_f64, 1.0, 2.0, 5.0, 20.0, 1e3, 1e12] {
            let Decay { heavier, slower } = Decay::over_step(h);
            let allowed = 0.015_f64.min(0.03 * h.powi(4) + 1e-15);
            assert!((slower * h / h.tanh() - 1.0).abs() < allowed, "{h}: {slower}");
            assert!(((heavier * h * h + 1.0) * slower - 1.0).abs() < 1e-12, "{h}: {heavier}");
        }
        let of_none = Decay::<f64>::over_step(0.0);
        assert!(of_none.slower == 1.0 && (of_none.heavier - 1.0 / 3.0).abs() < 1e-15);
        assert!(Decay::over_step(1e300).heavier > 0.0);
    }

    /// The amplitude of the swing of unit mass after `steps`, over that at the beginning, both from energies at velocities between steps.
    fn amplitude_left(omega: f64, dt: f64, steps: usize) -> f64 {
        let k = omega * omega;
        let SpringPoint { lead, reach } = SpringPoint::of(dt * dt * k);
        let (mut q, mut v) = (1.0, 0.0);
        let (mut first, mut last) = (0.0_f64, 0.0_f64);
        let period = (std::f64::consts::TAU / (omega * dt)).ceil() as usize + 1;
        for step in 0..steps {
            let impulse = -dt * k * (q + dt * lead * v);
            v += impulse / (1.0 + dt * dt * reach * k);
            q += dt * v;
            if step < period {
                first = first.max(q.abs());
            } else if step + period >= steps {
                last = last.max(q.abs());
            }
        }
        last / first
    }

    #[test]
    fn what_a_step_resolves_swings_on_and_what_it_does_not_rests() {
        for (frequency, dt, least) in
            [(1.0, 2e-3, 0.999), (5.0, 2e-3, 0.99), (20.0, 2e-3, 0.95), (25.0, 1e-3, 0.95), (5.0, 5e-3, 0.95)]
        {
            let left = amplitude_left(frequency * std::f64::consts::TAU, dt, (10.0 / dt) as usize);
            assert!(left > least && left < 1.01, "{frequency} Hz at {dt} s: {left}");
        }
        assert!(amplitude_left(1e4, 2e-3, 100) < 1e-3);
    }
}
