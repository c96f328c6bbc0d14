//! Stresses against closed forms.
#![allow(clippy::unwrap_used)]

use crate::common::{MODELS, NONLINEAR, ORDERS, body, crooked_box, elastic, uniaxial, with_order};
use sapwood_deformable::{Dynamics, MaterialModel, Order, SoftBody, von_mises};
use spatial::{Mat3, Quat, Sym3, Vec3};

const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.3;

fn places(body: &SoftBody, move_it: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Vec<f64> {
    body.mesh.positions().iter().flat_map(|x| move_it(*x).to_array()).collect()
}

fn diagonal(x: f64, y: f64, z: f64) -> Mat3<f64> {
    Mat3::from_columns(Vec3::new(x, 0.0, 0.0), Vec3::new(0.0, y, 0.0), Vec3::new(0.0, 0.0, z))
}

fn difference(a: Sym3<f64>, b: Sym3<f64>) -> f64 {
    let d = a - b;
    (d.xx() * d.xx() + d.yy() * d.yy() + d.zz() * d.zz() + 2.0 * (d.xy() * d.xy() + d.xz() * d.xz() + d.yz() * d.yz()))
        .sqrt()
}

/// Checks that elements and nodes have this stress everywhere when a body of the model is deformed by `f`.
fn has_stress(model: MaterialModel, f: Mat3<f64>, expected: Sym3<f64>, expected_von_mises: f64) {
    for order in ORDERS {
        let body = body(with_order(crooked_box(2), order), elastic(model, YOUNG, POISSON), |_| false);
        let mut d = Dynamics::new(&body);
        let x = places(&body, |x| f * x + Vec3::new(0.3, -0.2, 0.1));
        let mut of_elements = vec![Sym3::ZERO; body.mesh.element_count()];
        let mut of_nodes = vec![Sym3::ZERO; body.node_count()];
        let mut numbers = vec![0.0; body.node_count()];
        d.element_stresses(&x, &mut of_elements);
        d.node_stresses(&x, &mut of_nodes);
        d.von_mises(&x, &mut numbers);
        for stress in of_elements.iter().chain(&of_nodes) {
            let error = difference(*stress, expected);
            assert!(error < 1e-9 * YOUNG, "{model:?} {order:?}: {stress:?}, expected {expected:?}");
        }
        for number in numbers {
            assert!((number - expected_von_mises).abs() < 1e-9 * YOUNG, "{model:?}: {number} {expected_von_mises}");
        }
    }
}

/// A bar pulled along its axis and turned has that stress along the turned axis and no other.
#[test]
fn uniaxial_tension() {
    let strain = 0.2;
    let stretched = diagonal(1.0 + strain, 1.0 - POISSON * strain, 1.0 - POISSON * strain);
    let along = |stress: f64, axis: Vec3<f64>| Sym3::outer(stress, axis);
    let x = Vec3::new(1.0, 0.0, 0.0);
    has_stress(MaterialModel::Linear, stretched, along(YOUNG * strain, x), YOUNG * strain);
    // The force per undeformed area is E times the strain; the area has shrunk.
    let tension = YOUNG * strain / (1.0 - POISSON * strain).powi(2);
    let turn = Quat::new(0.2, -0.7, 0.4, 0.5).unit().to_mat3();
    has_stress(MaterialModel::LinearCorotated, turn * stretched, along(tension, turn * x), tension);
}

/// The same of nonlinear materials, pressed too: the stretch across is that by which nothing pulls sideways.
#[test]
fn uniaxial_stretch_of_nonlinear_materials() {
    let turn = Quat::new(0.2, -0.7, 0.4, 0.5).unit().to_mat3();
    for model in NONLINEAR {
        for stretch in [0.4, 0.8, 2.0] {
            let (across, force_per_area) = uniaxial(&elastic(model, YOUNG, POISSON), stretch);
            let tension = force_per_area / (across * across);
            let f = turn * diagonal(stretch, across, across);
            has_stress(model, f, Sym3::outer(tension, turn.x), tension.abs());
        }
    }
}

/// x += γ y: τ = μ γ by Hooke's law of small strains; by that of stretches the closed form of the two that are not 1.
#[test]
fn simple_shear() {
    let shear = 0.4;
    let f = Mat3::from_columns(Vec3::new(1.0, 0.0, 0.0), Vec3::new(shear, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
    let (lambda, mu) = elastic(MaterialModel::Linear, YOUNG, POISSON).lame();
    let hooke = Sym3::new([0.0, mu * shear, 0.0, 0.0, 0.0, 0.0]);
    has_stress(MaterialModel::Linear, f, hooke, 3.0_f64.sqrt() * mu * shear);
    let mean = (1.0 + 0.25 * shear * shear).sqrt();
    let stretches = [mean + 0.5 * shear, mean - 0.5 * shear, 1.0];
    let principal = stretches.map(|s| s * (2.0 * mu * (s - 1.0) + lambda * (2.0 * mean - 2.0)));
    // F Fᵀ has the axes of stress: tan 2φ = 2/γ.
    let angle = 0.5 * (2.0 / shear).atan();
    let (s, c) = angle.sin_cos();
    let axes = [Vec3::new(c, s, 0.0), Vec3::new(-s, c, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let expected = axes.iter().zip(principal).fold(Sym3::ZERO, |sum, (axis, p)| sum + Sym3::outer(p, *axis));
    let [a, b, c] = principal;
    let number = (0.5 * ((a - b).powi(2) + (b - c).powi(2) + (c - a).powi(2))).sqrt();
    has_stress(MaterialModel::LinearCorotated, f, expected, number);
}

#[test]
fn rotations_make_no_stress() {
    let turn = Quat::new(0.2, -0.7, 0.4, 0.5).unit().to_mat3();
    for model in MODELS.into_iter().filter(|model| *model != MaterialModel::Linear) {
        has_stress(model, turn, Sym3::ZERO, 0.0);
    }
}

/// Bent: ε_xx = κ z. At the nodes of quadratic elements this is exact; those of linear ones have the mean by volume.
#[test]
fn bending() {
    let curvature = 0.01;
    let bent = |x: Vec3<f64>| x + Vec3::new(curvature * x.x * x.z, 0.0, -0.5 * curvature * x.x * x.x);
    for order in ORDERS {
        let material = elastic(MaterialModel::Linear, YOUNG, POISSON);
        let (_, mu) = material.lame();
        let body = body(with_order(crooked_box(3), order), material, |_| false);
        let mut d = Dynamics::new(&body);
        let x = places(&body, bent);
        let mut numbers = vec![0.0; body.node_count()];
        d.von_mises(&x, &mut numbers);
        if order == Order::Quadratic {
            for (x, number) in body.mesh.positions().iter().zip(&numbers) {
                let expected = 2.0 * mu * curvature * x.z.abs();
                assert!((number - expected).abs() < 1e-10 * mu, "{x:?}: {number} {expected}");
            }
            continue;
        }
        let mut stresses = vec![Sym3::ZERO; body.mesh.element_count()];
        d.element_stresses(&x, &mut stresses);
        for node in [0, 5, body.node_count() as u32 / 2] {
            let (mut sum, mut volume) = (Sym3::ZERO, 0.0);
            for (e, stress) in stresses.iter().enumerate().filter(|(e, _)| body.mesh.element(*e).contains(&node)) {
                let corner = |k: usize| body.mesh.positions()[body.mesh.element(e)[k] as usize];
                let own = (corner(1) - corner(0)).cross(corner(2) - corner(0)).dot(corner(3) - corner(0)) / 6.0;
                sum += *stress * own;
                volume += own;
            }
            let expected = von_mises(&(sum * (1.0 / volume)));
            let number = numbers[node as usize];
            assert!((number - expected).abs() < 1e-10 * expected, "{node}: {number} {expected}");
        }
    }
}

/// An element without volume has finite stresses.
#[test]
fn collapsed_elements_have_finite_stresses() {
    for model in MODELS {
        let body = body(crooked_box(2), elastic(model, YOUNG, POISSON), |_| false);
        for squeezed in [0.0, -1.0] {
            let x = places(&body, |x| Vec3::new(x.x, x.y, squeezed * x.z));
            let mut numbers = vec![0.0; body.node_count()];
            Dynamics::new(&body).von_mises(&x, &mut numbers);
            assert!(numbers.iter().all(|s| s.is_finite()), "{model:?} {squeezed}: {numbers:?}");
        }
    }
}
