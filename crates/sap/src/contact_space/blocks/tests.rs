//! The law of a friction cone in a block beside [`ConeContact`], its T and that of friction it bounds against finite differences.

use super::*;
use crate::{Block, ConeContact, SpinFriction};
use spatial::{F32x8, F64x4};
use support::SplitMix64;

/// Regions of a friction cone.
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

/// A contact alone: its law, w, and the free velocity.
#[derive(Clone, Copy, Debug)]
struct Sample {
    mu: f64,
    r: [f64; 2],
    v_hat: [f64; 3],
    w: f64,
    z: [f64; 3],
}

impl Sample {
    fn any(random: &mut SplitMix64) -> Self {
        let mut decade = || 10_f64.powf(random.uniform(-3.0, 0.0));
        let (r, w) = ([decade(), decade()], decade());
        let mut any = || random.uniform(-1.0, 1.0);
        let (v_hat, z) = ([0.3 * any(), 0.3 * any(), 0.3 * any()], [any(), any(), any()]);
        Self { mu: random.uniform(0.1, 1.5), r, v_hat, w, z }
    }

    /// The law with R + `soft`.
    fn law(&self, soft: f64) -> ConeContact {
        let [v_1, v_2, v_n] = self.v_hat;
        ConeContact::new(self.mu, self.r[0] + soft, self.r[1] + soft, v_n).with_surface_velocity([v_1, v_2])
    }
}

/// The blocks of so many contacts side by side.
fn block<T: Real>(samples: &[Sample]) -> BlockRows<T> {
    let lanes = |of: &dyn Fn(&Sample) -> f64| {
        let mut x = T::ZERO;
        for (lane, sample) in samples.iter().enumerate() {
            x += T::mask(1 << lane) * wide(of(sample));
        }
        x
    };
    let mut rows = BlockRows::<T>::none();
    (rows.is_contact, rows.contact_lanes, rows.friction_bound) = (T::ONE, all_lanes::<T>(), FrictionBound::Cone);
    rows.friction = lanes(&|sample| sample.mu);
    for row in 0..3 {
        rows.r[row] = lanes(&|sample| sample.r[row / 2]);
        rows.v_hat[row] = lanes(&|sample| sample.v_hat[row]);
        rows.w[row] = lanes(&|sample| sample.w);
        rows.z[row] = lanes(&|sample| sample.z[row]);
    }
    rows.v_c = rows.z;
    rows.rescale(1.0);
    rows
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

/// λ, T and γ(v_c) are those of the law, in every lane, whatever regions its neighbours are in.
fn check_beside_the_law<T: Real<Scalar: Into<f64>>>(tolerance: f64) {
    let (mut random, mut seen) = (SplitMix64(7), [0; 3]);
    for _ in 0..2000 / T::LANES {
        let samples: Vec<Sample> = (0..T::LANES).map(|_| Sample::any(&mut random)).collect();
        let mut rows = block::<T>(&samples);
        rows.localise(all_lanes::<T>());
        let at_velocity = rows.impulse_at_velocity([T::ZERO; 3]);
        for (k, sample) in samples.iter().enumerate() {
            let (_, impulse, Block([xx, xy, xz, yy, yz, zz])) = sample.law(sample.w).evaluate(sample.z);
            seen[Region::of(impulse, sample.mu) as usize] += 1;
            assert_near(lane(rows.lambda, k), impulse, tolerance, "λ");
            for (row, expected) in rows.t.iter().zip([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) {
                assert_near(lane(*row, k), expected, tolerance, "T");
            }
            assert_near(lane(at_velocity, k), sample.law(0.0).evaluate(sample.z).1, tolerance, "γ");
        }
    }
    assert!(seen.iter().all(|seen| *seen > 200), "{seen:?}");
}

#[test]
fn a_cone_is_that_of_the_law_in_scalars_and_lanes() {
    check_beside_the_law::<f64>(1e-12);
    check_beside_the_law::<F64x4>(1e-12);
    check_beside_the_law::<F32x8>(1e-4);
}

/// T = −∂λ/∂z, and the slope of friction that a cone bounds, in all lanes of all regions.
fn check_against_differences<T: Real<Scalar: Into<f64>>>() {
    let (mut random, mut seen) = (SplitMix64(8), [0; 3]);
    let step = 1e-7;
    for _ in 0..2000 / T::LANES {
        let samples: Vec<Sample> = (0..T::LANES).map(|_| Sample::any(&mut random)).collect();
        let contact = block::<T>(&samples);
        let mut spin = BlockRows::<T>::none();
        (spin.spin, spin.lengths, spin.r) = (Spin::Rolling, [wide(0.3), T::ZERO, wide(0.5)], [wide(0.1); 3]);
        spin.z = [0.5, -0.7, 0.9].map(|z| wide(z));
        spin.rescale(1.0);
        let at = |row: usize, change: f64| {
            let (mut contact, mut spin) = (contact, spin);
            contact.z[row] += wide(change);
            contact.localise(all_lanes::<T>());
            spin.localise_spin([(contact.lambda[2], contact.t[2]); 3], all_lanes::<T>());
            (contact, spin)
        };
        let here = at(0, 0.0);
        for column in 0..3 {
            let (below, above) = (at(column, -step), at(column, step));
            for (k, sample) in samples.iter().enumerate() {
                let region = |contact: &BlockRows<T>| Region::of(lane(contact.lambda, k), sample.mu);
                if region(&below.0) != region(&above.0) {
                    continue;
                }
                seen[region(&here.0) as usize] += 1;
                let slope = |below: [T; 3], above: [T; 3]| {
                    let (below, above) = (lane(below, k), lane(above, k));
                    [0, 1, 2].map(|row| (below[row] - above[row]) / (2.0 * step))
                };
                let of = |rows: &[[T; 3]; 3]| rows.map(|row| row[column].lane(k).into());
                assert_near(of(&here.0.t), slope(below.0.lambda, above.0.lambda), 1e-4, "T");
                let is_held = |spin: &BlockRows<T>| {
                    let of_row = |row: usize| T::ZERO.if_less(spin.t[row][row], T::ONE, T::ZERO).lane(k).into();
                    [of_row(0), of_row(1), of_row(2)]
                };
                if is_held(&below.1) == is_held(&above.1) {
                    assert_near(of(&here.1.slope), slope(below.1.lambda, above.1.lambda), 1e-4, "slope");
                }
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen > 600), "{seen:?}");
}

#[test]
fn derivatives_of_a_cone_are_those_of_its_impulse() {
    check_against_differences::<f64>();
    check_against_differences::<F64x4>();
}

/// Friction that a contact of known normal impulse bounds, at the velocity itself.
#[test]
fn friction_is_bounded_by_the_normal_impulse_of_the_cone() {
    let mut random = SplitMix64(9);
    for _ in 0..200 {
        let sample = Sample::any(&mut random);
        let normal = block::<f64>(&[sample]).normal_at_velocity();
        let mut spin = BlockRows::<f64>::none();
        (spin.spin, spin.lengths, spin.r) = (Spin::Rolling, [0.3, 0.0, 0.5], [0.1; 3]);
        spin.v_c = [random.symmetric(), random.symmetric(), random.symmetric()];
        let law = SpinFriction::new(0.1, 0.3, 0.5, sample.law(0.0).evaluate(sample.z).1[2]);
        assert_near(spin.impulse_at_velocity([normal; 3]), law.evaluate(spin.v_c).1, 1e-12, "γ");
    }
}
