//! What no body is made of is refused with its name.
#![allow(clippy::unwrap_used)]

use sapwood_deformable::{Error, Material, MaterialModel, Order, SoftBody, SoftBodyDescription, TetMesh};
use spatial::Vec3;

fn corners() -> Vec<Vec3<f64>> {
    vec![Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)]
}

fn linear(positions: Vec<Vec3<f64>>, elements: &[u32]) -> Result<TetMesh, Error> {
    TetMesh::new(Order::Linear, positions, elements.to_vec())
}

#[test]
fn meshes() {
    let good = linear(corners(), &[0, 1, 2, 3]).unwrap();
    assert_eq!(good.surface().triangles.len(), 4);
    assert_eq!(linear(corners(), &[]), Err(Error::Empty));
    assert_eq!(linear(corners(), &[0, 1, 2]), Err(Error::ElementList { len: 3, per_element: 4 }));
    assert_eq!(linear(corners(), &[0, 2, 1, 3]), Err(Error::Inverted { element: 0, volume: -1.0 / 6.0 }));
    assert_eq!(linear(corners(), &[0, 1, 2, 9]), Err(Error::NodeIndex { element: 0, node: 9, last: 3 }));
    assert_eq!(linear(corners(), &[0, 1, 2, 2]), Err(Error::RepeatedNode { element: 0, node: 2 }));
    let mut flat = corners();
    flat[3] = Vec3::new(0.3, 0.3, 0.0);
    assert!(matches!(linear(flat, &[0, 1, 2, 3]), Err(Error::Flat { element: 0, .. })));
    for bad in [f64::NAN, f64::INFINITY] {
        let mut positions = corners();
        positions[2].y = bad;
        assert!(matches!(linear(positions, &[0, 1, 2, 3]), Err(Error::Coordinate { node: 2, .. })));
    }
    let mut loose = corners();
    loose.extend([Vec3::ZERO; 2]);
    assert_eq!(linear(loose, &[0, 1, 2, 3]), Err(Error::LooseNode { node: 4, count: 2 }));
    let many = vec![Vec3::ZERO; 100_001];
    assert!(matches!(linear(many, &[0, 1, 2, 3]), Err(Error::TooLarge { nodes: 100_001, limit: 100_000, .. })));
    // A curved element that is turned inside out at one corner only.
    let mut curved = good.to_quadratic().unwrap();
    assert!(curved.clone().transformed(|x| x).is_ok());
    let mut positions = curved.positions().to_vec();
    positions[4] = Vec3::new(0.9, 0.0, 0.0);
    curved = TetMesh::new(Order::Quadratic, curved.positions().to_vec(), curved.elements().to_vec()).unwrap();
    let folded = TetMesh::new(Order::Quadratic, positions, curved.elements().to_vec());
    assert!(matches!(folded, Err(Error::Inverted { element: 0, .. })), "{folded:?}");
}

#[test]
fn generators() {
    let one = Vec3::new(1.0, 1.0, 1.0);
    assert!(matches!(TetMesh::cuboid(one, [2, 0, 2]), Err(Error::Cells { got: 0, .. })));
    assert!(matches!(TetMesh::cuboid(one, [2, 2, 1000]), Err(Error::Cells { got: 1000, limit: 256, .. })));
    assert!(matches!(TetMesh::cuboid(one, [200, 200, 200]), Err(Error::TooLarge { .. })));
    assert!(matches!(TetMesh::cuboid(Vec3::new(1.0, -1.0, 1.0), [1; 3]), Err(Error::Length { .. })));
    assert!(matches!(TetMesh::cuboid(Vec3::new(1.0, f64::NAN, 1.0), [1; 3]), Err(Error::Length { .. })));
    assert!(matches!(TetMesh::ball(1.0, 2), Err(Error::Cells { got: 2, least: 3, .. })));
    assert!(matches!(TetMesh::ball(-1.0, 4), Err(Error::Length { what: "the ball's radius", .. })));
    assert!(matches!(TetMesh::ball(1.0, 200), Err(Error::TooLarge { .. })));
    assert!(matches!(TetMesh::cylinder(1.0, f64::NAN, [4, 4]), Err(Error::Length { .. })));
    assert!(matches!(TetMesh::cylinder(1.0, 1.0, [4, 0]), Err(Error::Cells { got: 0, least: 1, .. })));
}

#[test]
fn materials_and_bodies() {
    let mesh = || linear(corners(), &[0, 1, 2, 3]).unwrap();
    let refused = |material: Material, what: &str| {
        let error = SoftBody::of("", mesh(), material).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    };
    let good = Material::default();
    for poisson in [0.5, 0.7, -1.0, f64::NAN] {
        refused(Material { poisson, ..good }, "Poisson's ratio");
    }
    for bad in [0.0, -5.0, f64::NAN, f64::INFINITY] {
        refused(Material { density: bad, ..good }, "the density");
        refused(Material { young: bad, ..good }, "Young's modulus");
    }
    for model in [MaterialModel::Corotated, MaterialModel::StableNeoHookean] {
        refused(Material { model, poisson: -0.1, ..good }, "0 or more for a nonlinear material");
    }
    for (name, model) in MaterialModel::NAMED {
        assert_eq!((name.parse(), model.to_string().as_str()), (Ok(model), name));
    }
    let error = "rubber".parse::<MaterialModel>().unwrap_err();
    assert!(error.to_string().contains("stable-neo-hookean"), "{error}");
    refused(Material { damping_mass: -1.0, ..good }, "the mass-proportional damping");
    refused(Material { damping_stiffness: f64::NAN, ..good }, "the stiffness-proportional damping");
    let of = |change: &dyn Fn(&mut SoftBodyDescription)| {
        let mut description = SoftBodyDescription::new("", mesh(), good);
        change(&mut description);
        SoftBody::new(description)
    };
    assert!(of(&|_| ()).is_ok());
    assert_eq!(of(&|d| d.pinned = vec![1, 4]).unwrap_err(), Error::PinnedNode { node: 4, last: 3 });
    assert!(matches!(of(&|d| d.friction = -0.1), Err(Error::Parameter { what: "the friction coefficient", .. })));
    assert!(matches!(of(&|d| d.radius = f64::NAN), Err(Error::Parameter { what: "the radius", .. })));
}
