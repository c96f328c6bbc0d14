//! Bodies at rest: rigid motions, uniform strain, the sag of a cantilever, and what is no body.

use std::sync::Arc;

use sapwood_deformable::{
    Dynamics, Error, Material, MaterialModel, Order, SoftBody, SoftBodyDescription, TetMesh, ThetaStep,
};
use spatial::Vec3;

const LINEAR: Material = Material {
    model: MaterialModel::Linear,
    young: 2e6,
    poisson: 0.3,
    density: 1000.0,
    damping_mass: 0.0,
    damping_stiffness: 0.0,
};

/// One step from rest, for the velocities at its end.
fn step(body: &Arc<SoftBody>, x: &[f64], dt: f64, gravity: f64) -> Vec<f64> {
    let mut dynamics = Dynamics::new(body);
    let v = vec![0.0; x.len()];
    let gravity = Vec3::new(0.0, 0.0, -gravity);
    let step = ThetaStep::implicit_euler(dt);
    dynamics.free_motion(x, &v, &step, gravity, None, &[], &Default::default(), &mut Default::default()).unwrap();
    dynamics.v_star().to_vec()
}

/// How far the middle of the free end of a beam of 0.5 m sags, m: one step so long that inertia is nothing beside stiffness.
fn sag(cells: usize, order: Order) -> f64 {
    let mesh = TetMesh::cuboid(Vec3::new(0.5, 0.1, 0.1), [5 * cells, cells, cells]).unwrap();
    let mesh = if order == Order::Quadratic { mesh.to_quadratic().unwrap() } else { mesh };
    let at = |x: f64| move |node: &u32, mesh: &TetMesh| (mesh.positions()[*node as usize].x - x).abs() < 1e-9;
    let nodes = || 0..mesh.positions().len() as u32;
    let pinned = nodes().filter(|node| at(-0.25)(node, &mesh)).collect();
    let description = SoftBodyDescription { pinned, ..SoftBodyDescription::new("beam", mesh.clone(), LINEAR) };
    let description = SoftBodyDescription { mass: sapwood_deformable::MassModel::Consistent, ..description };
    let body = Arc::new(SoftBody::new(description).unwrap());
    let x: Vec<f64> = body.rest_positions().collect();
    let dt = 1e5;
    let v = step(&body, &x, dt, 9.81);
    let is_middle = |node: &u32| {
        at(0.25)(node, &mesh) && {
            let p = mesh.positions()[*node as usize];
            p.y.abs() < 1e-9 && p.z.abs() < 1e-9
        }
    };
    let tip = nodes().find(is_middle).unwrap();
    dt * v[3 * tip as usize + 2]
}

#[test]
fn a_cantilever_sags_as_the_reference_says() {
    // From other code with the same elements; Timoshenko's beam sags by 0.047861 m. How cells are cut into tetrahedra matters less the finer
    // they are: the finest meshes agree to 1e-5 m.
    for (cells, order, expected, tolerance) in [
        (2, Order::Linear, -0.031396, 2e-4),
        (4, Order::Linear, -0.041628, 5e-5),
        (8, Order::Linear, -0.045489, 1e-5),
        (2, Order::Quadratic, -0.046510, 4e-5),
        (4, Order::Quadratic, -0.046903, 1e-5),
    ] {
        let found = sag(cells, order);
        assert!((found - expected).abs() < tolerance, "{cells} cells, {order:?}: {found}, expected {expected}");
    }
}

/// A turn by 1 rad about (1, 2, 2) / 3, as a matrix by Rodrigues' formula.
fn turned(x: Vec3<f64>) -> Vec3<f64> {
    let axis = Vec3::new(1.0, 2.0, 2.0) * (1.0 / 3.0);
    let (sin, cos) = 1f64.sin_cos();
    x * cos + axis.cross(x) * sin + axis * (axis.dot(x) * (1.0 - cos))
}

#[test]
fn a_turned_body_feels_nothing() {
    for order in [Order::Linear, Order::Quadratic] {
        let mesh = TetMesh::cuboid(Vec3::new(0.2, 0.1, 0.1), [4, 2, 2]).unwrap();
        let mesh = if order == Order::Quadratic { mesh.to_quadratic().unwrap() } else { mesh };
        let x: Vec<f64> =
            mesh.positions().iter().flat_map(|x| (turned(*x) + Vec3::new(0.3, -0.2, 0.1)).to_array()).collect();
        let body = Arc::new(SoftBody::of("bar", mesh, Material { young: 1e7, ..Material::default() }).unwrap());
        // Coordinates of 0.3 m are rounded to 4e-17 m: strains of 1e-15, stresses of 1e-8 Pa, 1e-10 N on 0.1 g in 1 ms.
        let fastest = step(&body, &x, 1e-3, 0.0).iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        assert!(fastest < 1e-8, "{order:?} {fastest:e}");
        let energy = Dynamics::new(&body).energy(&x, &vec![0.0; x.len()], Vec3::ZERO).elastic;
        assert!(energy.abs() < 1e-18, "{order:?} {energy:e}");
    }
}

#[test]
fn uniform_strain_is_uniform() {
    // The patch test: where the boundary is strained uniformly, the inside is, too, and stays at rest.
    for order in [Order::Linear, Order::Quadratic] {
        let mesh = TetMesh::cuboid(Vec3::new(1.0, 1.0, 1.0), [3, 3, 3]).unwrap();
        let mesh = if order == Order::Quadratic { mesh.to_quadratic().unwrap() } else { mesh };
        let strain = |x: Vec3<f64>| Vec3::new(x.x * 1.01 + 0.003 * x.y, x.y * 0.99, x.z + 0.002 * x.x);
        let x: Vec<f64> = mesh.positions().iter().flat_map(|x| strain(*x).to_array()).collect();
        let pinned = mesh.surface().nodes;
        let inside = mesh.positions().len() - pinned.len();
        assert!(inside > 0);
        let description = SoftBodyDescription { pinned, ..SoftBodyDescription::new("patch", mesh, LINEAR) };
        let body = Arc::new(SoftBody::new(description).unwrap());
        let dt = 1e5;
        let moved = step(&body, &x, dt, 0.0).iter().fold(0.0, |most: f64, v| most.max((dt * v).abs()));
        assert!(moved < 1e-12, "{order:?} {moved:e}");
    }
}

#[test]
fn what_is_no_body_is_an_error_that_names_it() {
    let corners = |z: f64| vec![Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, z)];
    let mesh = |positions, elements| TetMesh::new(Order::Linear, positions, elements);
    let of = |material| SoftBody::of("", mesh(corners(1.0), vec![0, 1, 2, 3]).unwrap(), material).unwrap_err();
    assert!(matches!(mesh(corners(1.0), vec![0, 2, 1, 3]), Err(Error::Inverted { element: 0, .. })));
    assert!(matches!(mesh(corners(0.0), vec![0, 1, 2, 3]), Err(Error::Flat { element: 0, .. })));
    assert!(matches!(mesh(corners(f64::NAN), vec![0, 1, 2, 3]), Err(Error::Coordinate { node: 3, .. })));
    let loose = [corners(1.0), vec![Vec3::ZERO]].concat();
    assert!(matches!(mesh(loose, vec![0, 1, 2, 3]), Err(Error::LooseNode { node: 4, count: 1 })));
    assert!(matches!(mesh(corners(1.0), vec![0, 1, 2, 4]), Err(Error::NodeIndex { element: 0, node: 4, .. })));
    assert!(of(Material { poisson: 0.5, ..LINEAR }).to_string().contains("Poisson's ratio"));
    assert!(of(Material { density: -1.0, ..LINEAR }).to_string().contains("density"));
    assert!(matches!(of(Material { model: MaterialModel::StableNeoHookean, ..LINEAR }), Error::Nonlinear { .. }));
}
