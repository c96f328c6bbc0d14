//! Bodies and steps for tests.
#![allow(dead_code, clippy::unwrap_used)]

use std::sync::Arc;

use sapwood_deformable::{
    Dynamics, MassModel, Material, MaterialModel, Order, Report, SoftBody, SoftBodyDescription, TetMesh, ThetaStep,
};
use spatial::Vec3;
use support::{Interrupt, ThreadPool};

pub const MODELS: [MaterialModel; 4] =
    [MaterialModel::Linear, MaterialModel::LinearCorotated, MaterialModel::Corotated, MaterialModel::StableNeoHookean];
pub const NONLINEAR: [MaterialModel; 2] = [MaterialModel::Corotated, MaterialModel::StableNeoHookean];
pub const ORDERS: [Order; 2] = [Order::Linear, Order::Quadratic];

/// A material without damping.
pub fn elastic(model: MaterialModel, young: f64, poisson: f64) -> Material {
    Material { model, young, poisson, damping_stiffness: 0.0, ..Material::default() }
}

pub fn with_order(mesh: TetMesh, order: Order) -> TetMesh {
    if order == Order::Quadratic { mesh.to_quadratic().unwrap() } else { mesh }
}

/// A body with consistent mass of which the nodes that `is_pinned` are.
pub fn body(mesh: TetMesh, material: Material, is_pinned: impl Fn(Vec3<f64>) -> bool) -> Arc<SoftBody> {
    let pinned = (0..).zip(mesh.positions()).filter(|(_, x)| is_pinned(**x)).map(|(i, _)| i).collect();
    let description =
        SoftBodyDescription { mass: MassModel::Consistent, pinned, ..SoftBodyDescription::new("", mesh, material) };
    Arc::new(SoftBody::new(description).unwrap())
}

/// A box whose inner nodes are not on a grid.
pub fn crooked_box(cells: usize) -> TetMesh {
    let unit = TetMesh::cuboid(Vec3::new(1.0, 1.0, 1.0), [cells; 3]).unwrap();
    let bump = |x: f64| (0.25 - x * x) * 4.0;
    let shift = Vec3::new(0.12, -0.09, 0.1);
    unit.transformed(|x| x + shift * (bump(x.x) * bump(x.y) * bump(x.z) * (1.0 + x.x - 0.7 * x.y))).unwrap()
}

pub fn is_on_box(x: Vec3<f64>) -> bool {
    x.to_array().iter().any(|x| x.abs() > 0.5 - 1e-9)
}

/// Some deformation of the rest positions: a stretch, a turn and waves of size `size`.
pub fn deformed(body: &SoftBody, size: f64) -> Vec<f64> {
    let turn = spatial::Quat::new(0.8, 0.3, -0.4, 0.33).unit().to_mat3();
    body.mesh
        .positions()
        .iter()
        .flat_map(|x| {
            let wave = Vec3::new((3.0 * x.y + x.z).sin(), (2.0 * x.x - x.z).cos(), (x.x + 4.0 * x.y).sin());
            (turn * (*x + wave * size)).to_array()
        })
        .collect()
}

/// Steps without contact, forces and threads.
pub fn step(d: &mut Dynamics, x: &mut [f64], v: &mut [f64], theta: &ThetaStep, gravity: Vec3<f64>) -> Report {
    let report =
        d.free_motion(x, v, theta, gravity, None, &[], &Interrupt::default(), &mut ThreadPool::default()).unwrap();
    let theta_vq = if *theta == ThetaStep::midpoint(theta.dt) { 0.5 } else { 1.0 };
    for ((x, v), v_star) in x.iter_mut().zip(v.iter_mut()).zip(d.v_star()) {
        *x += theta.dt * (theta_vq * v_star + (1.0 - theta_vq) * *v);
        *v = *v_star;
    }
    report
}

/// Moves a linear body from `x` to equilibrium under `gravity` and forces `applied`: a step so long that inertia does not count.
pub fn to_equilibrium(body: &Arc<SoftBody>, x: &mut [f64], gravity: Vec3<f64>, applied: Option<&[f64]>) {
    let mut d = Dynamics::new(body);
    let theta = ThetaStep::implicit_euler(1e6);
    let v = vec![0.0; x.len()];
    d.free_motion(x, &v, &theta, gravity, applied, &[], &Interrupt::default(), &mut ThreadPool::default()).unwrap();
    x.iter_mut().zip(d.v_star()).for_each(|(x, v)| *x += theta.dt * v);
}

pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, x| x.abs().max(a))
}

/// The stretch across a bar that is stretched along by `s`, and the force per undeformed area, by the law alone.
pub fn uniaxial(material: &Material, s: f64) -> (f64, f64) {
    let (lambda, mu) = material.lame();
    // The principal first Piola–Kirchhoff stresses along and across.
    let stresses = |t: f64| match material.model {
        MaterialModel::StableNeoHookean => {
            let pressure = (lambda + mu) * (s * t * t - 1.0) - mu;
            (mu * s + pressure * t * t, mu * t + pressure * s * t)
        }
        _ => {
            let pressure = lambda * (s * t * t - 1.0);
            (2.0 * mu * (s - 1.0) + pressure * t * t, 2.0 * mu * (t - 1.0) + pressure * s * t)
        }
    };
    let (mut low, mut high) = (0.5, 1.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if stresses(middle).1 > 0.0 { high = middle } else { low = middle }
    }
    (low, stresses(low).0)
}
