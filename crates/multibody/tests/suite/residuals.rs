//! How far a configuration is from the equality constraints, in closed form.

use sapwood_multibody::{
    BodySpec, Compliance, Coordinate, Equality, EqualityKind, JointKind, JointSpec, Kinematics, Model, ModelBuilder,
    Tendon, TendonLook, TendonPath, equality_residuals, forward_kinematics,
};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

/// A hinge about y that carries a slide along z, and constraints of every kind.
fn model() -> Model {
    let mut builder = ModelBuilder::new("hinge and slide");
    let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0)) };
    let (y, z) = (Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
    for (parent, kind) in [(0, JointKind::Revolute { axis: y }), (1, JointKind::Prismatic { axis: z })] {
        let body = builder.add_body(BodySpec { parent, inertia, ..BodySpec::default() }).expect("a body");
        builder.add_joint(body, JointSpec::new(kind)).expect("a joint");
    }
    builder.tendons.push(Tendon {
        name: String::new(),
        path: TendonPath::Joints(vec![(0, 2.0), (1, -3.0)]),
        range: None,
        limit_compliance: Compliance::NearRigid,
        stiffness: 0.0,
        damping: 0.0,
        rest: (0.0, 0.0),
        friction_loss: 0.0,
        friction_compliance: Compliance::NearRigid,
        armature: 0.0,
        effort_limit: None,
        polynomial: sapwood_multibody::PolynomialForces::NONE,
        look: TendonLook::default(),
    });
    let (joint, tendon) = (Coordinate::Joint(1), Coordinate::Tendon(0));
    for kind in [
        EqualityKind::Connect { bodies: [2, 0], anchors: [Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0)] },
        EqualityKind::Weld {
            bodies: [1, 0],
            frames: [Pose::IDENTITY, Pose::new(y, Quat::IDENTITY)],
            torque_scale: 1.0,
        },
        EqualityKind::Distance { bodies: [2, 0], anchors: [Vec3::ZERO; 2], distance: 0.5 },
        EqualityKind::Coupling { y: (joint, 0.25), x: None, polynomial: [1.0, 9.0, 9.0, 9.0, 9.0] },
        EqualityKind::Coupling { y: (joint, 0.25), x: Some((tendon, -3.0)), polynomial: [1.0, 2.0, 3.0, 4.0, 5.0] },
    ] {
        let name = String::new();
        builder.equalities.push(Equality { name, kind, compliance: Compliance::NearRigid, active: false });
    }
    builder.build().expect("a model")
}

#[test]
fn every_kind_in_closed_form() {
    let model = model();
    let q = [0.5, 2.0];
    let mut kinematics = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), &q, &mut kinematics);
    let mut found = vec![9.0];
    equality_residuals(&model, &kinematics, &q, &mut found);
    // The slide has moved by 2 along (sin q, 0, cos q); the tendon is 2 · 0.5 − 3 · 2 = −5 long, 2 below its reference.
    let (sin, cos) = 0.5_f64.sin_cos();
    let expected = [
        2.0 * sin - 1.0,
        -2.0,
        2.0 * cos - 3.0,
        0.0,
        -1.0,
        0.0,
        0.0,
        0.5,
        0.0,
        1.5,
        0.75,
        1.75 - (1.0 - 2.0 * 2.0 + 3.0 * 4.0 - 4.0 * 8.0 + 5.0 * 16.0),
    ];
    assert_eq!(found.len(), model.equalities.iter().map(|e| e.kind.rows()).sum::<usize>());
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-14, "row {k}: {found} instead of {expected}");
    }
}
