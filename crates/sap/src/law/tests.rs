//! Laws in lanes beside those of one constraint, and derivatives with friction that follows the contacts' own normal impulses.

use super::*;
use spatial::{F32x8, F64x4};
use support::SplitMix64;

/// Regions of friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    Sticks,
    Slides,
    Parts,
}

impl Region {
    fn of(impulse: [f64; 3], mu: f64) -> Self {
        let [x, y, n] = impulse;
        match () {
            () if n == 0.0 => Region::Parts,
            () if f64::hypot(x, y) < mu * n * (1.0 - 1e-9) => Region::Sticks,
            () => Region::Slides,
        }
    }
}

/// A contact: μ, R, v̂ and the velocity that it is evaluated at.
#[derive(Clone, Copy, Debug)]
struct Sample {
    mu: f64,
    r: [f64; 2],
    v_hat: [f64; 3],
    v: [f64; 3],
}

impl Sample {
    fn any(random: &mut SplitMix64) -> Self {
        let mut decade = || 10_f64.powf(random.uniform(-2.0, 0.3));
        let r = [decade(), decade()];
        let mut any = || random.uniform(-1.0, 1.0);
        let (v_hat, v) = ([0.3 * any(), 0.3 * any(), 0.3 * any()], [any(), any(), any()]);
        Self { mu: random.uniform(0.1, 1.5), r, v_hat, v }
    }
}

/// Contacts side by side, and their velocities.
fn contacts<T: Real>(kind: LawKind, samples: &[Sample]) -> (Law<T>, [T; 3]) {
    let lanes = |of: &dyn Fn(&Sample) -> f64| {
        let mut x = T::ZERO;
        for (lane, sample) in samples.iter().enumerate() {
            x += T::mask(1 << lane) * wide(of(sample));
        }
        x
    };
    let by_row = |of: &dyn Fn(&Sample) -> [f64; 3]| [0, 1, 2].map(|row| lanes(&|sample| of(sample)[row]));
    let v_hat = by_row(&|sample| sample.v_hat);
    let law =
        Law::cone(lanes(&|sample| sample.mu), lanes(&|sample| sample.r[0]), lanes(&|sample| sample.r[1]), v_hat[2]);
    (Law { kind, ..law.with_surface_velocity([v_hat[0], v_hat[1]]) }, by_row(&|sample| sample.v))
}

fn respond<T: Real>(law: &Law<T>, v: [T; 3], own: T) -> Response<T> {
    law.respond(v, law.r.map(|r| r.recip()), Bounds::Own, [own; 3])
}

fn lane<T: Real<Scalar: Into<f64>>, const N: usize>(x: [T; N], lane: usize) -> [f64; N] {
    x.map(|x| x.lane(lane).into())
}

fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64, what: &str) {
    let size = expected.iter().fold(1.0, |most, x| f64::max(most, x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * size, "{what}: {found} {expected}");
    }
}

/// γ and T are those of one constraint, in every lane, whatever regions its neighbours are in.
fn check_lanes<T: Real<Scalar: Into<f64>>>(tolerance: f64) {
    let (mut random, mut seen) = (SplitMix64(7), [0; 3]);
    for kind in [LawKind::BoundedFriction, LawKind::Cone].repeat(1000 / T::LANES) {
        let samples: Vec<Sample> = (0..T::LANES).map(|_| Sample::any(&mut random)).collect();
        let (law, v) = contacts::<T>(kind, &samples);
        let response = respond(&law, v, T::ZERO);
        for (k, sample) in samples.iter().enumerate() {
            let (law, v) = contacts::<f64>(kind, &[*sample]);
            let expected = respond(&law, v, 0.0);
            seen[Region::of(expected.impulse, sample.mu) as usize] += 1;
            assert_near(lane(response.impulse, k), expected.impulse, tolerance, "γ");
            for (row, expected) in response.t.iter().zip(expected.t) {
                assert_near(lane(*row, k), expected, tolerance, "T");
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen > 200), "{seen:?}");
}

#[test]
fn contacts_in_lanes_are_those_of_one_constraint() {
    check_lanes::<F64x4>(1e-12);
    check_lanes::<F32x8>(1e-4);
}

/// T = −∂γ/∂v under Coulomb's law and on cones, and the slope of friction that such a contact bounds, in all lanes of all regions.
fn check_against_differences<T: Real<Scalar: Into<f64>>>() {
    let (mut random, mut seen) = (SplitMix64(8), [0; 3]);
    let step = 1e-7;
    let (spin, spin_v) = (Law::<T>::rolling(wide(0.1), wide(0.3), wide(0.5), T::ZERO), [0.5, -0.7, 0.9].map(wide));
    for kind in [LawKind::BoundedFriction, LawKind::Cone].repeat(1000 / T::LANES) {
        let samples: Vec<Sample> = (0..T::LANES).map(|_| Sample::any(&mut random)).collect();
        let (law, v) = contacts::<T>(kind, &samples);
        let at = |row: usize, change: f64| {
            let mut v = v;
            v[row] += wide(change);
            let contact = respond(&law, v, T::ZERO);
            (contact, respond(&spin, spin_v, contact.impulse[2]))
        };
        let here = at(0, 0.0);
        for column in 0..3 {
            let (below, above) = (at(column, -step), at(column, step));
            for (k, sample) in samples.iter().enumerate() {
                let region = |contact: &Response<T>| Region::of(lane(contact.impulse, k), sample.mu);
                if region(&below.0) != region(&above.0) {
                    continue;
                }
                seen[region(&here.0) as usize] += 1;
                let fall = |below: [T; 3], above: [T; 3]| {
                    let (below, above) = (lane(below, k), lane(above, k));
                    [0, 1, 2].map(|row| (below[row] - above[row]) / (2.0 * step))
                };
                let of_column = here.0.t.map(|row| row[column].lane(k).into());
                assert_near(of_column, fall(below.0.impulse, above.0.impulse), 1e-4, "T");
                let is_held = |spin: &Response<T>| {
                    [0, 1, 2].map(|row| T::ZERO.if_less(spin.t[row][row], T::ONE, T::ZERO).lane(k).into() > 0.5)
                };
                if is_held(&below.1) == is_held(&above.1) {
                    let of_normal: f64 = here.0.t[2][column].lane(k).into();
                    let slope = lane(here.1.slope, k).map(|slope| slope * of_normal);
                    assert_near(slope, fall(below.1.impulse, above.1.impulse), 1e-4, "slope");
                }
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen > 500), "{seen:?}");
}

#[test]
fn derivatives_are_those_of_the_impulse() {
    check_against_differences::<f64>();
    check_against_differences::<F64x4>();
}
