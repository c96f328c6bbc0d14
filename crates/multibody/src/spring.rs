//! Where in a step a spring is taken, and the damper of a constraint.

use spatial::Real;

/// dt² k w of a spring from which on its own motion counts for less than its rest; w is how easily what it moves is moved. At 4 an explicit
/// step would be unstable, ω dt = 2: the swing has three steps a period, and is none that a step resolves.
pub const UNRESOLVED: f64 = 4.0;

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

/// Share of v₀ in the velocity at which the damper of a constraint is taken, whose free motion decays with the rate y/dt: half where a step
/// resolves that, so that both ends count alike, nothing where it does not: at its end a damper only brakes.
#[inline(always)]
pub fn damper_lead<T: Real>(y: T) -> T {
    let squared = y * y;
    squared.mul_add(squared, T::ONE).recip() * T::from_f64(0.5)
}

#[cfg(test)]
mod tests {
    use super::SpringPoint;

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
