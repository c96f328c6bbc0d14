//! Steps against closed forms, conservation laws and their own equation.
#![allow(clippy::unwrap_used)]

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::common::{self, body, crooked_box, deformed, elastic, step};
use sapwood_deformable::{Dynamics, Material, MaterialModel, SoftBody, StepError, TetMesh, ThetaStep};
use spatial::Vec3;
use support::{Interrupt, ThreadPool};

/// The frequency (Hz) with which a free bar of P2 elements swings that starts at rest, displaced by the field `mode`.
fn frequency(body: &Arc<SoftBody>, expected: f64, mode: impl Fn(Vec3<f64>) -> Vec3<f64>) -> f64 {
    let shape: Vec<f64> = body.mesh.positions().iter().flat_map(|x| mode(*x).to_array()).collect();
    let rest: Vec<f64> = body.rest_positions().collect();
    let mut x: Vec<f64> = rest.iter().zip(&shape).map(|(x, u)| x + 1e-3 * u).collect();
    let mut v = vec![0.0; x.len()];
    let mut d = Dynamics::new(body);
    let dt = 1.0 / (64.0 * expected);
    let theta = ThetaStep::midpoint(dt);
    let (mut before, mut crossings) = (1.0, Vec::new());
    for k in 0..120 {
        step(&mut d, &mut x, &mut v, &theta, Vec3::ZERO);
        let amount: f64 = x.iter().zip(&rest).zip(&shape).map(|((x, rest), u)| (x - rest) * u).sum();
        if (amount < 0.0) != (before < 0.0) {
            crossings.push((f64::from(k) + before / (before - amount)) * dt);
        }
        before = amount;
    }
    let half_period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    // Midpoint's steps turn by 2 atan(ω dt/2).
    let angle = 0.5 * TAU / half_period * dt;
    2.0 * (0.5 * angle).tan() / dt / TAU
}

#[test]
fn free_bar_swings_along_itself_with_its_frequency() {
    let material = elastic(MaterialModel::Linear, 1e6, 0.0);
    let mesh = TetMesh::cuboid(Vec3::new(1.0, 0.1, 0.1), [8, 1, 1]).unwrap().to_quadratic().unwrap();
    let bar = body(mesh, material, |_| false);
    // c/2L, c = √(E/ρ).
    let expected = (1e6_f64 / 1000.0).sqrt() / 2.0;
    let found = frequency(&bar, expected, |x| Vec3::new((0.5 * TAU * (x.x + 0.5)).cos(), 0.0, 0.0));
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} Hz, {expected} expected");
}

#[test]
fn free_beam_bends_with_its_frequency() {
    let material = elastic(MaterialModel::Linear, 1e6, 0.0);
    let (length, height) = (1.0, 0.03);
    let mesh = TetMesh::cuboid(Vec3::new(length, height, height), [20, 1, 1]).unwrap().to_quadratic().unwrap();
    let beam = body(mesh, material, |_| false);
    // Euler and Bernoulli: ω = β² √(E I/ρ A), cos βL cosh βL = 1; shear and rotary inertia take 0.4 % at this slenderness.
    let beta = 4.730_040_745;
    let expected = beta * beta * (1e6 / 1000.0 * height * height / 12.0_f64).sqrt() / TAU;
    let ratio = (beta.cosh() - beta.cos()) / (beta.sinh() - beta.sin());
    let mode = |x: Vec3<f64>| {
        let s = beta * (x.x + 0.5);
        let w = s.cosh() + s.cos() - ratio * (s.sinh() + s.sin());
        let slope = beta * (s.sinh() - s.sin() - ratio * (s.cosh() + s.cos()));
        Vec3::new(-x.z * slope, 0.0, w)
    };
    let found = frequency(&beam, expected, mode);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} Hz, {expected} expected");
}

#[test]
fn midpoint_keeps_the_energy_of_a_linear_bar() {
    let mesh = TetMesh::cuboid(Vec3::new(0.4, 0.1, 0.1), [4, 1, 1]).unwrap();
    let bar = body(mesh, elastic(MaterialModel::Linear, 1e5, 0.3), |x| x.x < -0.2 + 1e-9);
    let mut x: Vec<f64> = bar.rest_positions().collect();
    let mut v: Vec<f64> = bar.mesh.positions().iter().flat_map(|x| [0.0, 0.3, x.x + 0.2]).collect();
    (0..bar.node_count()).filter(|&i| bar.is_pinned(i as u32)).for_each(|i| v[3 * i..3 * i + 3].fill(0.0));
    let mut d = Dynamics::new(&bar);
    step(&mut d, &mut x, &mut v, &ThetaStep::midpoint(0.005), Vec3::ZERO);
    let start = d.energy(&x, &v, Vec3::ZERO);
    let (mut worst, mut most_elastic) = (0.0_f64, 0.0_f64);
    for _ in 0..10_000 {
        step(&mut d, &mut x, &mut v, &ThetaStep::midpoint(0.005), Vec3::ZERO);
        let now = d.energy(&x, &v, Vec3::ZERO);
        worst = worst.max((now.total() / start.total() - 1.0).abs());
        most_elastic = most_elastic.max(now.elastic);
    }
    assert!(most_elastic > 0.3 * start.total(), "it swings");
    assert!(worst < 1e-9, "{worst:e}");
}

/// The energy of a bar that swings along itself, ½ of it in the first mode where that is its shape, after so many steps of so many a period.
fn energy_left(steps_a_period: f64, steps: usize) -> f64 {
    let material = elastic(MaterialModel::Linear, 1e6, 0.0);
    let bar = body(TetMesh::cuboid(Vec3::new(1.0, 0.1, 0.1), [8, 1, 1]).unwrap(), material, |_| false);
    let period = 2.0 / (1e6_f64 / 1000.0).sqrt();
    let theta = ThetaStep::ringing(period / steps_a_period);
    let mut x: Vec<f64> = bar.rest_positions().collect();
    let mut v: Vec<f64> =
        bar.mesh.positions().iter().flat_map(|x| [1e-3 * (0.5 * TAU * (x.x + 0.5)).cos(), 0.0, 0.0]).collect();
    let mut d = Dynamics::new(&bar);
    let start = d.energy(&x, &v, Vec3::ZERO).total();
    for _ in 0..steps {
        step(&mut d, &mut x, &mut v, &theta, Vec3::ZERO);
    }
    // Velocities are those half a step before: the energy swings by ω dt/2. The mean over many steps is that of the motion.
    let mut sum = 0.0;
    for _ in 0..100 {
        step(&mut d, &mut x, &mut v, &theta, Vec3::ZERO);
        sum += d.energy(&x, &v, Vec3::ZERO).total();
    }
    sum / (100.0 * start)
}

#[test]
fn ringing_goes_on_where_steps_resolve_it_and_ends_where_they_do_not() {
    // 40 steps a period: (ω dt)² = 0.025.
    let kept = energy_left(40.0, 2000);
    assert!((kept - 1.0).abs() < 0.02, "{kept}");
    let unresolved = energy_left(0.5, 100);
    assert!(unresolved < 1e-6, "{unresolved:e}");
}

/// A body thrown with a spin: linear momentum stays whatever the material, damping included.
#[test]
fn momentum_stays_to_round_off() {
    for model in common::MODELS {
        let material = Material { damping_stiffness: 0.002, ..elastic(model, 1e5, 0.3) };
        let thrown = body(crooked_box(2), material, |_| false);
        for theta in [ThetaStep::midpoint(0.01), ThetaStep::ringing(0.01), ThetaStep::implicit_euler(0.01)] {
            let mut x: Vec<f64> = thrown.rest_positions().collect();
            let spin = Vec3::new(1.0, -2.0, 1.5);
            let velocity = |x: &Vec3<f64>| Vec3::new(0.5, 0.2 + x.x * x.y, -0.3) + spin.cross(*x);
            let mut v: Vec<f64> = thrown.mesh.positions().iter().flat_map(|x| velocity(x).to_array()).collect();
            let mut d = Dynamics::new(&thrown);
            let start = momentum(&mut d, &x, &v);
            for _ in 0..100 {
                step(&mut d, &mut x, &mut v, &theta, Vec3::ZERO);
            }
            let end = momentum(&mut d, &x, &v);
            assert!((end - start).norm() < 1e-10 * start.norm(), "{model:?}: {start:?} {end:?}");
        }
    }
}

/// Linear momentum, by polarisation of the kinetic energy in rigid velocities.
fn momentum(d: &mut Dynamics, x: &[f64], v: &[f64]) -> Vec3<f64> {
    let mut along = |axis: usize| {
        let [plus, minus] = [1.0, -1.0].map(|s| {
            let moved = v.iter().enumerate().map(|(k, v)| if k % 3 == axis { v + s } else { *v });
            d.energy(x, &moved.collect::<Vec<_>>(), Vec3::ZERO).kinetic
        });
        0.5 * (plus - minus)
    };
    Vec3::new(along(0), along(1), along(2))
}

/// A body that spins, swings and falls: free motion with a shared factor beside that with one for each step.
#[test]
fn a_factor_lasts_while_a_body_flies() {
    let soft = body(crooked_box(7), elastic(MaterialModel::LinearCorotated, 1e6, 0.3), |_| false);
    let (mut x, theta) = (deformed(&soft, 0.002), ThetaStep::ringing(0.01));
    let mut v: Vec<f64> = x.chunks_exact(3).flat_map(|x| [-3.0 * x[1], 3.0 * x[0], 0.0]).collect();
    let (mut shares, mut own) = (Dynamics::new(&soft), Dynamics::new(&soft));
    let (mut origin, mut factorizations) = (None::<Vec<f64>>, 0);
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    for _ in 0..30 {
        shares.share_factor(origin.as_deref());
        let (mut x_own, mut v_own) = (x.clone(), v.clone());
        assert_eq!(common::step(&mut own, &mut x_own, &mut v_own, &theta, gravity).factorizations, 1);
        factorizations += common::step(&mut shares, &mut x, &mut v, &theta, gravity).factorizations;
        let apart = v.iter().zip(&v_own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "{apart:e}");
        origin = Some(shares.factor_origin().to_vec());
    }
    assert!((1..10).contains(&factorizations), "{factorizations}");
}

/// A step has the same bits with one thread and two.
#[test]
fn threads_do_not_change_bits() {
    for model in common::MODELS {
        let soft = body(crooked_box(4), elastic(model, 1e5, 0.3), |x| x.z < -0.5 + 1e-9);
        let run = |threads: usize| {
            let x = deformed(&soft, 0.05);
            let mut d = Dynamics::new(&soft);
            let mut pool = ThreadPool::new(threads).unwrap();
            let (v, theta) = (vec![0.0; x.len()], ThetaStep::implicit_euler(0.01));
            let none = Interrupt::default();
            d.free_motion(&x, &v, &theta, Vec3::ZERO, None, &[120, 60], &none, &mut pool).unwrap();
            (d.v_star().to_vec(), d.schur_factor().to_vec())
        };
        assert_eq!(run(1), run(2), "{model:?}");
    }
}

#[test]
fn bad_arguments_of_a_step_are_named() {
    let soft = body(crooked_box(2), Material::default(), |x| x.z < -0.5 + 1e-9);
    let (n, last) = (3 * soft.node_count(), soft.node_count() as u32 - 1);
    let pinned = soft.pinned[0];
    let good: Vec<f64> = soft.rest_positions().collect();
    let mut d = Dynamics::new(&soft);
    let mut of = |x: &[f64], v: &[f64], applied: Option<&[f64]>, touched: &[u32]| {
        let theta = ThetaStep::implicit_euler(0.01);
        let (none, pool) = (Interrupt::default(), &mut ThreadPool::default());
        d.free_motion(x, v, &theta, Vec3::ZERO, applied, touched, &none, pool).err()
    };
    let zero = vec![0.0; n];
    let mut bad = zero.clone();
    bad[7] = f64::NAN;
    assert_eq!(of(&good, &zero, None, &[last]), None);
    assert_eq!(of(&bad, &zero, None, &[]), Some(StepError::NotFinite { what: "positions", node: 2 }));
    assert_eq!(of(&good, &bad, None, &[]), Some(StepError::NotFinite { what: "velocities", node: 2 }));
    assert_eq!(of(&good, &zero, Some(&bad), &[]), Some(StepError::NotFinite { what: "applied forces", node: 2 }));
    let short = Some(StepError::Length { what: "velocities", got: 3, expected: n });
    assert_eq!(of(&good, &zero[..3], None, &[]), short);
    for touched in [&[pinned][..], &[last, last], &[last + 1]] {
        let node = touched[touched.len() - 1];
        assert_eq!(of(&good, &zero, None, touched), Some(StepError::Touched { node }));
    }
}
