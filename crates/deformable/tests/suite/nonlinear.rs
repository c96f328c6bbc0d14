//! Corotated and stable Neo-Hookean bodies: steps against their own equation, conservation laws, what is left of violence.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::common::{NONLINEAR, body, crooked_box, deformed, elastic, largest, step, uniaxial, with_order};
use sapwood_deformable::{Dynamics, Material, MaterialModel, Order, SoftBody, TetMesh, ThetaStep};
use spatial::Vec3;
use support::{Interrupt, ThreadPool};

/// Linear and angular momentum of a body with consistent mass.
fn momenta(body: &Arc<SoftBody>, x: &[f64], v: &[f64]) -> (Vec3<f64>, Vec3<f64>) {
    // M v, by polarisation of the kinetic energy in rigid velocities.
    let mut d = Dynamics::new(body);
    let unit = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let mut against = |rigid: &dyn Fn(Vec3<f64>) -> Vec3<f64>| {
        let w: Vec<f64> = x.chunks_exact(3).flat_map(|x| rigid(Vec3::new(x[0], x[1], x[2])).to_array()).collect();
        let [plus, minus] = [1.0, -1.0].map(|s| v.iter().zip(&w).map(|(v, w)| v + s * w).collect::<Vec<_>>());
        0.5 * (d.energy(x, &plus, Vec3::ZERO).kinetic - d.energy(x, &minus, Vec3::ZERO).kinetic)
    };
    let linear = unit.map(|e| against(&|_| e));
    let angular = unit.map(|e| against(&|x| e.cross(x)));
    (Vec3::from(linear), Vec3::from(angular))
}

/// Without damping, midpoint keeps the angular momentum, and the energy within bounds; implicit Euler loses energy.
#[test]
fn midpoint_keeps_angular_momentum_and_nearly_energy() {
    for model in NONLINEAR {
        let free = body(crooked_box(2), elastic(model, 1e5, 0.3), |_| false);
        let run = |theta: ThetaStep| {
            let mut x: Vec<f64> = free.rest_positions().collect();
            let spin = Vec3::new(1.0, -2.0, 1.5);
            let velocity = |x: &Vec3<f64>| spin.cross(*x) + Vec3::new(1.5 * x.x, 0.0, -x.z);
            let mut v: Vec<f64> = free.mesh.positions().iter().flat_map(|x| velocity(x).to_array()).collect();
            let mut d = Dynamics::new(&free);
            let (_, l) = momenta(&free, &x, &v);
            let start = d.energy(&x, &v, Vec3::ZERO).total();
            let (mut worst, mut most) = (0.0_f64, 0);
            for _ in 0..1000 {
                most = most.max(step(&mut d, &mut x, &mut v, &theta, Vec3::ZERO).iterations);
                worst = worst.max((d.energy(&x, &v, Vec3::ZERO).total() / start - 1.0).abs());
            }
            let (_, l_end) = momenta(&free, &x, &v);
            let end = d.energy(&x, &v, Vec3::ZERO).total() / start;
            ((l_end - l).norm() / l.norm(), worst, end, most)
        };
        let (turned, worst, _, most) = run(ThetaStep::midpoint(0.002));
        assert!(turned < 1e-8, "{model:?}: {turned:e}");
        assert!(worst < 0.01, "{model:?}: {worst:e}");
        assert!((2..=8).contains(&most));
        let (_, worst, end, _) = run(ThetaStep::implicit_euler(0.01));
        assert!(end < 0.95 && worst <= 1.0, "{model:?}: {worst:e} {end}");
    }
}

/// What is missing of M (v − v₀) + dt (f(x) + α M v − M g), of implicit Euler's step, at the nodes that `counts`, as a part of the forces.
fn imbalance(soft: &Arc<SoftBody>, x: &[f64], v: &[f64], v0: &[f64], dt: f64, g: Vec3<f64>) -> Vec<f64> {
    let mut d = Dynamics::new(soft);
    let mut f = vec![0.0; x.len()];
    d.elastic_gradient(x, &mut f, &mut ThreadPool::default());
    let alpha = soft.material.damping_mass;
    let change: Vec<f64> = (0..x.len()).map(|k| v[k] - v0[k] + dt * (alpha * v[k] - g.to_array()[k % 3])).collect();
    // M by the gradient of the kinetic energy.
    let with = |d: &mut Dynamics, k: usize, s: f64| {
        let mut w = change.clone();
        w[k] += s;
        d.energy(x, &w, Vec3::ZERO).kinetic
    };
    let scale = dt * largest(&f);
    (0..x.len()).map(|k| (0.5 * (with(&mut d, k, 1.0) - with(&mut d, k, -1.0)) + dt * f[k]) / scale).collect()
}

/// Where a step ends its equation holds, from a start as bad as a body whose nodes are shuffled, inverted elements and all.
#[test]
fn steps_satisfy_their_equation() {
    for model in NONLINEAR {
        let material = Material { damping_mass: 0.3, damping_stiffness: 0.0, ..elastic(model, 1e5, 0.4) };
        for (order, size) in [
            (Order::Linear, 0.0),
            (Order::Linear, 0.1),
            (Order::Linear, 0.8),
            (Order::Quadratic, 0.1),
            (Order::Quadratic, 0.4),
        ] {
            let soft = body(with_order(crooked_box(2), order), material, |x| x.z < -0.5 + 1e-9);
            let mut x = deformed(&soft, size);
            for (node, rest) in soft.mesh.positions().iter().enumerate() {
                if soft.is_pinned(node as u32) {
                    x[3 * node..3 * node + 3].copy_from_slice(&rest.to_array());
                }
            }
            let mut v = vec![0.0; x.len()];
            let v0 = v.clone();
            let mut d = Dynamics::new(&soft);
            let (dt, gravity) = (0.01, Vec3::new(0.0, 0.0, -9.81));
            let report = step(&mut d, &mut x, &mut v, &ThetaStep::implicit_euler(dt), gravity);
            let missing = imbalance(&soft, &x, &v, &v0, dt, gravity);
            let of_free = missing.chunks(3).enumerate().filter(|(node, _)| !soft.is_pinned(*node as u32));
            let worst = of_free.flat_map(|(_, r)| r).fold(0.0, |most: f64, r| most.max(r.abs()));
            assert!(worst < 1e-8, "{model:?} {order:?} {size}: {worst:e}");
            assert!(report.iterations > 1 && report.iterations < 40 && report.residual < 1e-9);
        }
    }
}

/// Constraints solved in each linearisation lead to velocities where the nonlinear equation holds, with impulses on the touched nodes alone.
#[test]
fn refined_steps_satisfy_their_equation_with_constraints() {
    for model in NONLINEAR {
        let material = Material { damping_stiffness: 0.0, ..elastic(model, 1e5, 0.4) };
        let soft = body(crooked_box(2), material, |_| false);
        let x: Vec<f64> = soft.rest_positions().collect();
        let touched: Vec<u32> =
            (0..soft.node_count() as u32).filter(|i| x[3 * *i as usize + 2].abs() > 0.5 - 1e-9).collect();
        // Pressed together by a third of its height in one step.
        let wanted: Vec<f64> =
            touched.iter().flat_map(|&i| [1.0, 0.0, -16.0 * x[3 * i as usize + 2].signum()]).collect();
        let v0 = vec![0.0; x.len()];
        let theta = ThetaStep::implicit_euler(0.01);
        let mut d = Dynamics::new(&soft);
        let (none, mut pool) = (Interrupt::default(), ThreadPool::default());
        d.free_motion(&x, &v0, &theta, Vec3::ZERO, None, &touched, &none, &mut pool).unwrap();
        let (mut v, mut solutions) = (v0.clone(), 0);
        loop {
            let of_touched = touched.iter().flat_map(|&i| &d.v_star()[3 * i as usize..3 * i as usize + 3]);
            let change: Vec<f64> = wanted.iter().zip(of_touched).map(|(wanted, v)| wanted - v).collect();
            d.respond(&change, &mut v);
            solutions += 1;
            let refinement = d.refine(&x, &v0, &theta, &change, &v, &none, &mut pool).unwrap();
            if !refinement.is_needed {
                break;
            }
            assert!(solutions < 12, "{model:?}: {refinement:?}");
        }
        let ends: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + 0.01 * v).collect();
        let missing = imbalance(&soft, &ends, &v, &v0, 0.01, Vec3::ZERO);
        let is_touched = |k: usize| touched.contains(&(k as u32 / 3));
        let (mut inside, mut pushed) = (0.0_f64, 0.0_f64);
        missing.iter().enumerate().for_each(|(k, r)| {
            let most = if is_touched(k) { &mut pushed } else { &mut inside };
            *most = most.max(r.abs());
        });
        assert!(inside < 1e-5 && pushed > 0.1, "{model:?}: {inside:e} {pushed:e}");
        assert!(solutions > 2);
    }
}

/// Rubber that was pressed through itself or flat, or whose nodes were shuffled, comes back to its shape.
#[test]
fn neo_hookean_bodies_recover_their_shape() {
    let material = Material { damping_stiffness: 0.05, ..elastic(MaterialModel::StableNeoHookean, 1e5, 0.4) };
    let soft = body(crooked_box(2), material, |x| x.z < -0.5 + 1e-9);
    for what in ["inverted", "flat", "shuffled"] {
        let place = |x: f64, k: usize| match (what, k % 3) {
            ("inverted", 2) => -0.8 - 0.4 * x,
            ("flat", 2) => -0.6,
            ("shuffled", _) => 0.5 * (1.7 * (k * k) as f64).sin(),
            _ => x,
        };
        let mut x: Vec<f64> = soft.rest_positions().collect();
        for (k, x) in x.iter_mut().enumerate() {
            if !soft.is_pinned((k / 3) as u32) {
                *x = place(*x, k);
            }
        }
        let mut v = vec![0.0; x.len()];
        let mut d = Dynamics::new(&soft);
        let mut most = 0;
        for _ in 0..400 {
            most = most.max(step(&mut d, &mut x, &mut v, &ThetaStep::implicit_euler(0.02), Vec3::ZERO).iterations);
        }
        let error = x.iter().zip(soft.rest_positions()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 1e-6, "{what}: {error:e}");
    }
}

/// A long bar whose ends are twisted against each other by one and a half turns, let go and come to rest, has its shape again.
#[test]
fn twisted_bars_unwind() {
    for model in NONLINEAR {
        let material = Material { damping_stiffness: 0.01, ..elastic(model, 1e5, 0.4) };
        let mesh = TetMesh::cuboid(Vec3::new(0.4, 0.1, 0.1), [8, 2, 2]).unwrap();
        let bar = body(mesh, material, |x| x.x < -0.2 + 1e-9);
        let twist = |x: &Vec3<f64>| {
            let (s, c) = (1.5 * std::f64::consts::TAU * (x.x + 0.2) / 0.4).sin_cos();
            [x.x, c * x.y - s * x.z, s * x.y + c * x.z]
        };
        let mut x: Vec<f64> = bar.mesh.positions().iter().flat_map(twist).collect();
        let mut v = vec![0.0; x.len()];
        let mut d = Dynamics::new(&bar);
        let mut most = 0;
        for _ in 0..200 {
            most = most.max(step(&mut d, &mut x, &mut v, &ThetaStep::implicit_euler(0.02), Vec3::ZERO).iterations);
        }
        let error = x.iter().zip(bar.rest_positions()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 1e-6, "{model:?}: {error:e}");
    }
}

/// A free bar pulled at its ends by the force that the law has for a stretch comes to rest with that stretch.
#[test]
fn bars_stretch_by_the_law() {
    for model in NONLINEAR {
        let material = Material { damping_mass: 5.0, ..elastic(model, 1e5, 0.4) };
        let mesh = TetMesh::cuboid(Vec3::new(0.4, 0.1, 0.1), [4, 2, 2]).unwrap();
        let bar = body(mesh, material, |_| false);
        for stretch in [1.2, 1.6] {
            let (across, stress) = uniaxial(&material, stretch);
            let mut applied = vec![0.0; 3 * bar.node_count()];
            for triangle in &bar.surface().triangles {
                let [a, b, c] = triangle.map(|i| bar.mesh.positions()[i as usize]);
                let normal = (b - a).cross(c - a) * 0.5;
                triangle.iter().for_each(|&i| applied[3 * i as usize] += stress * normal.x / 3.0);
            }
            let mut x: Vec<f64> = bar.rest_positions().collect();
            let mut v = vec![0.0; x.len()];
            let mut d = Dynamics::new(&bar);
            let (theta, none, mut pool) = (ThetaStep::implicit_euler(0.1), Interrupt::default(), ThreadPool::default());
            for _ in 0..100 {
                d.free_motion(&x, &v, &theta, Vec3::ZERO, Some(&applied), &[], &none, &mut pool).unwrap();
                v.copy_from_slice(d.v_star());
                x.iter_mut().zip(&v).for_each(|(x, v)| *x += theta.dt * v);
            }
            let error = x.chunks(3).zip(bar.mesh.positions()).fold(0.0, |most: f64, (x, rest)| {
                let expected = [stretch * rest.x, across * rest.y, across * rest.z];
                x.iter().zip(expected).fold(most, |most, (x, y)| most.max((x - y).abs()))
            });
            assert!(error < 1e-9, "{model:?} {stretch}: {error:e} m");
        }
    }
}
