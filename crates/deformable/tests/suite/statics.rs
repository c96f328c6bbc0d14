//! Elements against closed forms, differences and tables.
#![allow(clippy::unwrap_used)]

use crate::common::{
    MODELS, ORDERS, body, crooked_box, deformed, elastic, is_on_box, largest, to_equilibrium, with_order,
};
use sapwood_deformable::mesh::EDGES;
use sapwood_deformable::{Dynamics, MaterialModel, Order, SoftBody, TetMesh};
use spatial::{Mat3, Quat, Vec3};
use support::ThreadPool;

/// A field of constant strain on the boundary is one inside, however crooked the mesh.
#[test]
fn patch_test() {
    let f = Mat3::from_columns(Vec3::new(1.01, 0.02, -0.01), Vec3::new(0.005, 0.97, 0.02), Vec3::new(0.0, 0.03, 1.02));
    for order in ORDERS {
        let body = body(with_order(crooked_box(3), order), elastic(MaterialModel::Linear, 1e5, 0.3), is_on_box);
        let exact: Vec<f64> = body.mesh.positions().iter().flat_map(|x| (f * *x).to_array()).collect();
        let mut x: Vec<f64> = body.rest_positions().collect();
        let mut inner = 0;
        for node in 0..body.node_count() {
            if body.is_pinned(node as u32) {
                x[3 * node..3 * node + 3].copy_from_slice(&exact[3 * node..3 * node + 3]);
            } else {
                inner += 1;
            }
        }
        assert!(inner >= 8);
        to_equilibrium(&body, &mut x, Vec3::ZERO, None);
        let error = x.iter().zip(&exact).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 1e-12, "{order:?}: {error:e}");
    }
}

#[test]
fn rigid_motions_give_no_force() {
    let turn = Quat::new(0.2, -0.7, 0.4, 0.5).unit().to_mat3();
    for order in ORDERS {
        for model in MODELS {
            let body = body(with_order(crooked_box(2), order), elastic(model, 1e5, 0.3), |_| false);
            let move_it = |x: &Vec3<f64>| (turn * *x + Vec3::new(0.3, -0.2, 0.1)).to_array();
            let x: Vec<f64> = body.mesh.positions().iter().flat_map(move_it).collect();
            let mut f = vec![0.0; x.len()];
            Dynamics::new(&body).elastic_gradient(&x, &mut f, &mut ThreadPool::default());
            // E times an area of 1/4 m² is 2.5e4 N.
            let is_free = largest(&f) < 1e-9;
            assert_eq!(is_free, model != MaterialModel::Linear, "{order:?} {model:?}: {:e}", largest(&f));
        }
    }
}

/// Forces are the gradient of the energy, and no net force or torque.
#[test]
fn forces_are_the_gradient_of_the_energy() {
    for order in ORDERS {
        for model in MODELS {
            let body = body(with_order(crooked_box(2), order), elastic(model, 1e5, 0.3), |_| false);
            let mut d = Dynamics::new(&body);
            let x = deformed(&body, 0.1);
            let mut f = vec![0.0; x.len()];
            d.elastic_gradient(&x, &mut f, &mut ThreadPool::default());
            let zero = vec![0.0; x.len()];
            let mut at = |k: usize, h: f64| {
                let mut x = x.clone();
                x[k] += h;
                d.energy(&x, &zero, Vec3::ZERO).elastic
            };
            for k in (0..x.len()).step_by(7) {
                let h = 1e-4;
                // Of fourth order.
                let slope = (8.0 * (at(k, h) - at(k, -h)) - at(k, 2.0 * h) + at(k, -2.0 * h)) / (12.0 * h);
                assert!((slope - f[k]).abs() < 1e-7 * largest(&f), "{order:?} {model:?} {k}: {slope} {}", f[k]);
            }
            let of = |v: &[f64], node: usize| Vec3::new(v[3 * node], v[3 * node + 1], v[3 * node + 2]);
            let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
            for node in 0..body.node_count() {
                force += of(&f, node);
                torque += of(&x, node).cross(of(&f, node));
            }
            assert!(force.norm() < 1e-12 * largest(&f), "{force:?}");
            let is_objective = torque.norm() < 1e-12 * largest(&f);
            assert_eq!(is_objective, model != MaterialModel::Linear, "{torque:?}");
        }
    }
}

/// The stiffness is the derivative of the forces: anywhere, but of linear-corotated elements at rest, where a turn of their axes does not
/// count to first order.
#[test]
fn stiffness_is_the_derivative_of_the_forces() {
    for order in ORDERS {
        for model in MODELS {
            let body = body(with_order(crooked_box(2), order), elastic(model, 1e5, 0.3), |_| false);
            let mut d = Dynamics::new(&body);
            let x: Vec<f64> = match model {
                MaterialModel::LinearCorotated => body.rest_positions().collect(),
                _ => deformed(&body, 0.1),
            };
            let direction: Vec<f64> = (0..x.len()).map(|k| (k as f64 * 1.7).sin()).collect();
            let mut k_d = vec![0.0; x.len()];
            d.stiffness_times(&x, &direction, &mut k_d, &mut ThreadPool::default());
            let h = 1e-5;
            let mut at = |h: f64| {
                let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
                let mut f = vec![0.0; x.len()];
                d.elastic_gradient(&moved, &mut f, &mut ThreadPool::default());
                f
            };
            let samples = [at(h), at(-h), at(2.0 * h), at(-2.0 * h)];
            for k in 0..x.len() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|s| samples[s][k]);
                let slope = (8.0 * (a - b) - c + d) / (12.0 * h);
                let error = (slope - k_d[k]).abs() / largest(&k_d);
                assert!(error < 1e-8, "{order:?} {model:?} {k}: {slope} {}", k_d[k]);
            }
        }
    }
}

/// A bar of 0.5 × 0.1 × 0.1 m whose cells are cut as in the table: the first is the mirror image of a cuboid's. It is a cuboid without its first
/// layer of cells.
fn bar(cells: usize) -> TetMesh {
    let edge = 0.1 / cells as f64;
    let longer = TetMesh::cuboid(Vec3::new(0.5 + edge, 0.1, 0.1), [5 * cells + 1, cells, cells]).unwrap();
    let start = -0.5 * (0.5 + edge) + edge - 1e-9;
    let at: Vec<Vec3<f64>> = longer.positions().iter().map(|x| *x - Vec3::new(0.5 * edge, 0.0, 0.0)).collect();
    let is_kept = |node: u32| longer.positions()[node as usize].x > start;
    let mut place = vec![u32::MAX; at.len()];
    let mut positions = Vec::new();
    for node in (0..at.len() as u32).filter(|&node| is_kept(node)) {
        place[node as usize] = positions.len() as u32;
        positions.push(at[node as usize]);
    }
    let kept = (0..longer.element_count()).map(|e| longer.element(e)).filter(|nodes| nodes.iter().all(|&n| is_kept(n)));
    let elements = kept.flat_map(|nodes| nodes.iter().map(|&node| place[node as usize])).collect();
    TetMesh::new(Order::Linear, positions, elements).unwrap()
}

fn tip_sag(order: Order, cells: usize) -> f64 {
    let body = body(with_order(bar(cells), order), elastic(MaterialModel::Linear, 2e6, 0.3), |x| x.x < -0.25 + 1e-9);
    let mut x: Vec<f64> = body.rest_positions().collect();
    to_equilibrium(&body, &mut x, Vec3::new(0.0, 0.0, -9.81), None);
    let end: Vec<f64> = body
        .mesh
        .positions()
        .iter()
        .enumerate()
        .filter(|(_, x)| (**x - Vec3::new(0.25, 0.0, 0.0)).norm() < 1e-9)
        .map(|(node, _)| x[3 * node + 2])
        .collect();
    assert_eq!(end.len(), 1, "the middle of the end face is a node");
    end[0]
}

/// A clamped bar of 0.5 × 0.1 × 0.1 m under its weight: deflection of the middle of its end, beside figures of other code.
#[test]
fn cantilever_sags_as_in_the_table() {
    for (order, cells, expected) in [
        (Order::Linear, 2, -0.031_396),
        (Order::Linear, 4, -0.041_628),
        (Order::Linear, 8, -0.045_489),
        (Order::Quadratic, 2, -0.046_510),
        (Order::Quadratic, 4, -0.046_903),
    ] {
        let sag = tip_sag(order, cells);
        assert!((sag - expected).abs() < 1e-5, "{order:?}, {cells} cells: {sag}, in the table {expected}");
    }
}

/// Points and weights on the reference tetrahedron that integrate polynomials of degree 5, as parts of the volume.
fn quadrature() -> Vec<([f64; 4], f64)> {
    let gauss =
        [(0.069_431_844_202_973_71, 0.173_927_422_568_726_93), (0.330_009_478_207_571_87, 0.326_072_577_431_273_1)];
    let gauss = [gauss[0], gauss[1], (1.0 - gauss[1].0, gauss[1].1), (1.0 - gauss[0].0, gauss[0].1)];
    let mut points = Vec::new();
    for (u, wu) in gauss {
        for (v, wv) in gauss {
            for (w, ww) in gauss {
                let (b, c, d) = (u, (1.0 - u) * v, (1.0 - u) * (1.0 - v) * w);
                let weight = 6.0 * wu * wv * ww * (1.0 - u) * (1.0 - u) * (1.0 - v);
                points.push(([1.0 - b - c - d, b, c, d], weight));
            }
        }
    }
    points
}

fn shapes(order: Order, l: [f64; 4]) -> Vec<f64> {
    match order {
        Order::Linear => l.to_vec(),
        Order::Quadratic => {
            let corners = l.iter().map(|l| l * (2.0 * l - 1.0));
            corners.chain(EDGES.iter().map(|&[a, b]| 4.0 * l[a] * l[b])).collect()
        }
    }
}

/// Calls `visit` with element, shape functions, position and volume of every quadrature point.
fn for_each_point(body: &SoftBody, mut visit: impl FnMut(&[u32], &[f64], Vec3<f64>, f64)) {
    let mesh = &body.mesh;
    let points: Vec<_> = quadrature().into_iter().map(|(l, w)| (l, shapes(mesh.order(), l), w)).collect();
    for e in 0..mesh.element_count() {
        let element = mesh.element(e);
        let corner = [0, 1, 2, 3].map(|k| mesh.positions()[element[k] as usize]);
        let volume = (corner[1] - corner[0]).cross(corner[2] - corner[0]).dot(corner[3] - corner[0]) / 6.0;
        for (l, n, weight) in &points {
            let x = (0..4).fold(Vec3::ZERO, |x, k| x + corner[k] * l[k]);
            visit(element, n, x, weight * volume);
        }
    }
}

/// The error in L² of a displacement u = c sin(a·X + 1), fixed at the boundary, with the body force that has it as its solution.
fn manufactured_error(order: Order, cells: usize) -> f64 {
    let material = elastic(MaterialModel::Linear, 1e5, 0.3);
    let (lambda, mu) = material.lame();
    let body = body(with_order(crooked_box(cells), order), material, is_on_box);
    let (a, c) = (Vec3::new(2.0, 1.5, -1.0), Vec3::new(0.01, -0.02, 0.015));
    let u = |x: Vec3<f64>| c * (a.dot(x) + 1.0).sin();
    let load = a * ((lambda + mu) * a.dot(c)) + c * (mu * a.dot(a));
    let mut applied = vec![0.0; 3 * body.node_count()];
    for_each_point(&body, |element, n, x, volume| {
        let f = (load * (volume * (a.dot(x) + 1.0).sin())).to_array();
        for (&node, n) in element.iter().zip(n) {
            (0..3).for_each(|k| applied[3 * node as usize + k] += f[k] * n);
        }
    });
    let place = |(node, x): (usize, &Vec3<f64>)| if body.is_pinned(node as u32) { *x + u(*x) } else { *x };
    let mut x: Vec<f64> = body.mesh.positions().iter().enumerate().flat_map(|p| place(p).to_array()).collect();
    to_equilibrium(&body, &mut x, Vec3::ZERO, Some(&applied));
    let mut square = 0.0;
    for_each_point(&body, |element, n, at, volume| {
        let mut found = Vec3::ZERO;
        for (&node, n) in element.iter().zip(n) {
            let node = 3 * node as usize;
            found += Vec3::new(x[node], x[node + 1], x[node + 2]) * *n;
        }
        square += volume * (found - at - u(at)).norm_squared();
    });
    square.sqrt()
}

/// Elements of degree p converge in L² with h^(p+1): 2 for P1, 3 for P2.
#[test]
fn displacements_converge_with_the_order_of_the_elements() {
    for (order, coarse, expected) in [(Order::Linear, 4, 2.0), (Order::Quadratic, 3, 3.0)] {
        let [a, b] = [coarse, 2 * coarse].map(|cells| manufactured_error(order, cells));
        let found = (a / b).log2();
        assert!((found - expected).abs() < 0.15, "{order:?}: {a:e} {b:e}: order {found}");
    }
}
