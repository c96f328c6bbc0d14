//! How compliance becomes regularisation: the law of a row over a step in which positions follow the velocity at its end.

use multibody::{Compliance, Decay, Reference, Resistance, SpringPoint};
use spatial::masks::{select, wide};
use spatial::{Real, Vec3};

use crate::constants::{FREEST, LEFT_IN_VELOCITIES, LONGEST_LEVER, OVERLOAD, STIFFEST};

/// R of a reference, of the row's share of the Delassus operator, is this at least: below it factors would lose their digits.
pub(crate) const LEAST_R: f64 = 1e-7;

/// What is the same for all rows of a step.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The time step, s.
    pub dt: f64,
    /// R of friction over the share of the Delassus operator.
    pub sigma: f64,
    /// R along the normal over R of friction, of contacts with a reference: friction then yields as it says; none: R is that of `sigma`.
    pub impratio: Option<f64>,
    /// How fast a near-rigid constraint is righted at most, m/s or rad/s.
    pub recovery_speed: f64,
    /// R of a near-rigid constraint over its share of the Delassus operator, and the time in which it is righted, s.
    pub near_rigid: f64,
    /// See [`near_rigid`](Self::near_rigid).
    pub near_rigid_time: f64,
}

/// What a row weighs.
#[derive(Clone, Copy, Debug)]
pub struct RowWeight<T> {
    /// Its share of the Delassus operator.
    pub w: T,
    /// Its inverse weight at the default configuration, [`multibody::InverseWeights`], which references are relative to.
    pub inverse: T,
}

/// What slides.
#[derive(Clone, Copy, Debug)]
pub struct Slider<T> {
    /// Its coefficient of friction.
    pub friction: T,
    /// What it resists.
    pub resistance: Resistance,
}

/// The law of a row: γ = (v̂ − v)/R, v̂ = `per_violation` φ₀ + `per_rate` φ̇₀, no faster than `fastest`.
#[derive(Clone, Copy, Debug)]
pub struct RowLaw<T> {
    /// R
    pub r: T,
    /// 1/s
    pub per_violation: T,
    /// Of v̂ over the rate at the beginning.
    pub per_rate: T,
    /// Of v̂, m/s or rad/s.
    pub fastest: T,
    /// Whether it is near-rigid, 1 or 0.
    pub is_rigid: T,
}

/// How the velocity of rows changes over a step because they turn.
#[derive(Clone, Copy, Debug)]
pub struct Turning<T: Real> {
    /// dt J̇ v₀, m/s or rad/s; none where the law has no inerter.
    pub drift: Vec3<T>,
    /// The share of it from the beginning to where J is taken. Where positions are the first to move, velocities are those between two steps: ½.
    pub before: f64,
}

impl<T: Real> Turning<T> {
    /// Where positions are the first to move, of rows of which nothing is known.
    pub const NONE: Self = Self { drift: Vec3::ZERO, before: 0.5 };
}

/// R and v̂ of a one-sided constraint.
#[derive(Clone, Copy, Debug)]
pub struct OneSided<T> {
    /// R
    pub r: T,
    /// v̂
    pub v_hat: T,
    /// Whether it is near-rigid, 1 or 0.
    pub is_rigid: T,
}

impl Rule {
    /// For a step of `dt` s; `beta` is the part of a step in which near-rigid constraints swing.
    pub fn new(dt: f64, beta: f64, sigma: f64, recovery_speed: f64) -> Self {
        let pi = std::f64::consts::PI;
        let (near_rigid, near_rigid_time) = (beta * beta / (4.0 * pi * pi), dt + beta * dt / pi);
        Self { dt, sigma, impratio: None, recovery_speed, near_rigid, near_rigid_time }
    }

    /// The law of a row with the violation of this `size`, 0 or more, that pushes in the share `met` of the step. A spring that is stiffer
    /// than near-rigid is near-rigid.
    #[inline(always)]
    pub fn law<T: Real<Scalar: Into<f64>>>(
        &self,
        compliance: &Compliance,
        weight: RowWeight<T>,
        size: T,
        met: T,
    ) -> RowLaw<T> {
        let rigid = RowLaw {
            r: weight.w * wide(self.near_rigid),
            per_violation: wide(-1.0 / self.near_rigid_time),
            per_rate: T::ZERO,
            fastest: wide(self.recovery_speed),
            is_rigid: T::ONE,
        };
        let soft = RowLaw { fastest: wide(f64::INFINITY), is_rigid: T::ZERO, ..rigid };
        match *compliance {
            Compliance::NearRigid => rigid,
            Compliance::Physical { stiffness, relaxation } => {
                // A spring and a damper, −k (φ + τ φ̇).
                let rate = weight.w * wide(self.dt * stiffness);
                let point = SpringPoint::of(rate * wide(self.dt));
                // Half of the time in which the damper takes what the spring does, and h of [`Decay`].
                let damper = met * wide(0.5 * relaxation);
                let h = rate * damper;
                let Decay { heavier, slower } = Decay::over_step(h);
                let reached = point.reach * wide(self.dt);
                let inerter = (damper * h).mul_add(heavier, reached);
                let damper = (reached * h).mul_add(slower, damper);
                let time = inerter + damper;
                let r = (time * wide(self.dt * stiffness)).recip();
                let per_violation = -time.recip();
                let per_rate = (damper - inerter + point.lead * wide(self.dt)) * per_violation;
                let is_rigid = rigid.r.if_less(r, T::ZERO, T::ONE);
                RowLaw {
                    r: select(is_rigid, rigid.r, r),
                    per_violation: select(is_rigid, rigid.per_violation, per_violation),
                    per_rate: select(is_rigid, T::ZERO, per_rate),
                    fastest: select(is_rigid, rigid.fastest, soft.fastest),
                    is_rigid,
                }
            }
            Compliance::Reference(reference) => {
                let d = reference.impedance(size, |x| each(x, |x| reference.power(x)));
                let step = reference.over_step(self.dt, weight.inverse, d, met);
                let r = step.r.max(weight.w * wide(LEAST_R));
                RowLaw { r, per_violation: step.per_violation, per_rate: step.per_rate, ..soft }
            }
        }
    }

    /// The law of dry friction, which has no violation: a reference without its spring.
    #[inline(always)]
    pub fn dry_friction<T: Real<Scalar: Into<f64>>>(&self, compliance: &Compliance, weight: RowWeight<T>) -> RowLaw<T> {
        match compliance {
            Compliance::Reference(reference) => self.damper(reference, weight, T::ZERO),
            _ => self.stuck(weight),
        }
    }

    /// The law of a reference without its spring, with the impedance that it has at a violation of this `size`.
    #[inline(always)]
    fn damper<T: Real<Scalar: Into<f64>>>(&self, reference: &Reference, weight: RowWeight<T>, size: T) -> RowLaw<T> {
        self.law(&Compliance::Reference(reference.without_spring(self.dt)), weight, size, T::ONE)
    }

    /// R of friction that does not yield.
    #[inline(always)]
    fn stuck<T: Real>(&self, weight: RowWeight<T>) -> RowLaw<T> {
        let (r, fastest) = (weight.w * wide(self.sigma), wide(f64::INFINITY));
        RowLaw { r, per_violation: T::ZERO, per_rate: T::ZERO, fastest, is_rigid: T::ZERO }
    }

    /// The law of the sliding friction of a contact with this gap, along either tangent; `weight` is that of the normal row.
    ///
    /// MuJoCo's friction is a damper with the impedance of the contact: f = (−b v − v̇)/R. It brakes what slides in the time 1/b, however far
    /// the force is from what the cone allows, and what it holds creeps with R f/b.
    #[inline(always)]
    pub fn friction<T: Real<Scalar: Into<f64>>>(
        &self,
        slider: &Slider<T>,
        compliance: &Compliance,
        weight: RowWeight<T>,
        gap: T,
    ) -> RowLaw<T> {
        let (Some(impratio), Compliance::Reference(reference)) = (self.impratio, compliance) else {
            return self.stuck(weight);
        };
        let law = self.damper(reference, weight, gap.abs());
        let share = reference.share_of_friction(slider.friction, slider.resistance.rows(), impratio);
        RowLaw { r: (law.r * share).max(weight.w * wide(LEAST_R)), ..law }
    }

    /// How fast a near-rigid contact that starts violated is righted at most, m/s: no point of a body is to become much faster for it than
    /// `recovery_speed`, as it would where the contact has a short lever, see [`NodeMobility::leverage`](multibody::NodeMobility::leverage).
    #[inline(always)]
    pub fn recovery_speed_of<T: Real>(&self, leverage: T) -> T {
        (leverage.sqrt() * wide(LONGEST_LEVER)).min(T::ONE) * wide(self.recovery_speed)
    }

    /// The share of a step in which a row is met that closes at this rate, or has. Forces at the positions that a step begins with act between
    /// the velocities of both ends, half a step before it to half a step after: of that time the part with the gap closed.
    #[inline(always)]
    fn met<T: Real<Scalar: Into<f64>>>(&self, gap: T, rate: T) -> T {
        let closed = (gap / (rate * wide(self.dt)) + wide(0.5)).max(T::ZERO).min(T::ONE);
        rate.if_less(T::ZERO, closed, T::ONE)
    }

    /// The law of a one-sided row with this gap and its rate at the beginning. Where the gap is open a reference brakes no more than to where
    /// it just closes.
    #[inline(always)]
    pub fn one_sided<T: Real<Scalar: Into<f64>>>(
        &self,
        compliance: &Compliance,
        weight: RowWeight<T>,
        gap: T,
        rate: impl FnOnce() -> T,
    ) -> OneSided<T> {
        if *compliance == Compliance::NearRigid {
            let law = self.law(compliance, weight, gap, T::ONE);
            return OneSided { r: law.r, v_hat: (gap * law.per_violation).min(law.fastest), is_rigid: law.is_rigid };
        }
        let rate = rate();
        let law = self.law(compliance, weight, gap.abs(), self.met(gap, rate));
        let mut v_hat = law.v_hat(gap, rate).min(law.fastest);
        if let Compliance::Reference(_) = compliance {
            v_hat = gap.if_less(T::ZERO, v_hat, v_hat.min(gap * wide(-1.0 / self.dt)));
        }
        OneSided { r: law.r, v_hat, is_rigid: law.is_rigid }
    }

    /// v̂ for the velocity at the end of the step, where `given_back` is what the constraint's own compliance has taken up, R γ with the impulse
    /// γ of the step before.
    ///
    /// A near-rigid constraint that starts violated would leave its bodies with the speed of its recovery: ½ m v² that no force has given them,
    /// and in a heap of bodies that start in each other a multiple of it. So velocities only get back that, and recovery moves positions alone.
    #[inline(always)]
    pub fn v_hat_at_end<T: Real>(&self, law: &OneSided<T>, given_back: T) -> T {
        let most = given_back + wide(LEFT_IN_VELOCITIES * self.recovery_speed);
        let recovers = law.is_rigid * most.if_less(law.v_hat, T::ONE, T::ZERO);
        select(recovers, given_back, law.v_hat)
    }
}

/// What the regularisation of a contact is taken from: its mobility `w` and the `slack` that it would have more if drives and dampers did
/// not resist, but where something heavy may lie upon it less; `heaviest` is
/// [`EffectiveMass::of_heaviest`](multibody::EffectiveMass::of_heaviest) of its island.
///
/// More points than hold a body bear it in inverse proportion to R, the wheels of a vehicle, say. What drives resist within a step depends
/// on its length, and so would their shares; what inertia resists does not. A finger that a stiff drive holds keeps a firm contact.
///
/// A near-rigid contact under its own weight sinks in by R g dt² m. Under a load of a million times that it would by a million times
/// as much, and what it resists with at the speed of recovery would not bear the load at all.
#[inline(always)]
pub fn stiff_mobility<T: Real>(w: T, slack: T, heaviest: T) -> T {
    let free = w + slack.min(w * wide(FREEST - 1.0));
    free.min(heaviest * wide(OVERLOAD)).max(w * wide(STIFFEST))
}

impl<T: Real<Scalar: Into<f64>>> RowLaw<T> {
    /// v̂ of one row, without its bound.
    #[inline(always)]
    pub fn v_hat(&self, violation: T, rate: T) -> T {
        rate.mul_add(self.per_rate, violation * self.per_violation)
    }

    /// v̂ of one row of an equality.
    #[inline(always)]
    pub fn bias(&self, violation: T, rate: T) -> T {
        self.v_hat(violation, rate).max(-self.fastest).min(self.fastest)
    }

    /// v̂ of three rows of an equality, whose law is one between the velocities that they see where they are at both ends of the step.
    #[inline(always)]
    pub fn bias3(&self, violation: Vec3<T>, rate: Vec3<T>, turning: Turning<T>) -> Vec3<T> {
        let Turning { drift, before } = turning;
        let bias = violation * self.per_violation + (rate - drift * wide(before)) * self.per_rate;
        let speed = bias.norm();
        let bounded = bias * select(self.fastest.if_less(speed, T::ONE, T::ZERO), self.fastest / speed, T::ONE);
        bounded - drift * wide(1.0 - before)
    }
}

/// A function of each lane.
#[inline(always)]
fn each<T: Real<Scalar: Into<f64>>>(mut x: T, f: impl Fn(f64) -> f64) -> T {
    for lane in 0..T::LANES {
        x.set_lane(lane, T::Scalar::from_f64(f(x.lane(lane).into())));
    }
    x
}
