//! Tendons, equality constraints and actuators that do not fit the model are refused by name.

use sapwood_multibody::{
    Actuator, ActuatorLaw, BodySpec, BuildError, Compliance, Coordinate, ElementKind, Equality, EqualityKind,
    JointKind, JointSpec, ModelBuilder, Reference, Tendon, TendonLook, TendonPath, Transmission,
};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

/// Bodies 1 to 3 in a row: a hinge, a ball joint, and none; body 4 with a slide. Body `k` stands at (0, 0, 1) in its
/// parent, turned by half a turn about x.
fn builder() -> ModelBuilder {
    let mut builder = ModelBuilder::new("joints");
    let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0)) };
    let pose = Pose::new(Vec3::new(0.0, 0.0, 1.0), Quat::new(0.0, 1.0, 0.0, 0.0));
    let axis = Vec3::new(0.0, 0.0, 1.0);
    let kinds = [Some(JointKind::Revolute { axis }), Some(JointKind::Ball), None, Some(JointKind::Prismatic { axis })];
    for (body, kind) in kinds.into_iter().enumerate() {
        let parent = if body == 3 { 0 } else { body };
        let spec = BodySpec { name: format!("b{}", body + 1), parent, pose, inertia, ..BodySpec::default() };
        let body = builder.add_body(spec).expect("a body");
        if let Some(kind) = kind {
            builder.add_joint(body, JointSpec { reference: 0.5, ..JointSpec::new(kind) }).expect("a joint");
        }
    }
    builder
}

fn tendon() -> Tendon {
    Tendon {
        name: "rope".into(),
        path: TendonPath::Joints(vec![(0, 2.0), (2, -1.0)]),
        range: Some((-1.0, 1.0)),
        limit_compliance: Compliance::NearRigid,
        stiffness: 1.0,
        damping: 0.0,
        rest: (0.0, 0.0),
        friction_loss: 0.0,
        friction_compliance: Compliance::NearRigid,
        armature: 0.0,
        effort_limit: None,
        polynomial: sapwood_multibody::PolynomialForces::NONE,
        look: TendonLook::default(),
    }
}

fn terms(tendon: &mut Tendon) -> &mut Vec<(usize, f64)> {
    match &mut tendon.path {
        TendonPath::Joints(terms) => terms,
        TendonPath::Spatial(_) => unreachable!("a fixed tendon"),
    }
}

fn equality(kind: EqualityKind) -> Equality {
    Equality { name: "tie".into(), kind, compliance: Compliance::NearRigid, active: true }
}

fn connect(bodies: [usize; 2]) -> EqualityKind {
    EqualityKind::Connect { bodies, anchors: [Vec3::ZERO; 2] }
}

fn coupling(y: Coordinate, x: Option<Coordinate>) -> EqualityKind {
    EqualityKind::Coupling { y: (y, 0.0), x: x.map(|x| (x, 0.0)), polynomial: [0.0, 1.0, 0.0, 0.0, 0.0] }
}

#[test]
fn what_fits_is_kept() {
    let mut builder = builder();
    builder.tendons.push(tendon());
    let frames = [Pose::IDENTITY, Pose::new(Vec3::ZERO, Quat::new(2.0, 0.0, 0.0, 0.0))];
    builder.equalities.push(equality(connect([3, 0])));
    builder.equalities.push(equality(EqualityKind::Weld { bodies: [2, 4], frames, torque_scale: 1.0 }));
    let distance = EqualityKind::Distance { bodies: [1, 4], anchors: [Vec3::ZERO; 2], distance: 0.5 };
    builder.equalities.push(equality(distance));
    builder.equalities.push(equality(coupling(Coordinate::Joint(0), Some(Coordinate::Tendon(0)))));
    let model = builder.build().expect("a model");
    assert_eq!((model.tendons.len(), model.equalities.len()), (1, 4));
    // Rotations become unit quaternions.
    let expected = EqualityKind::Weld { bodies: [2, 4], frames: [Pose::IDENTITY; 2], torque_scale: 1.0 };
    assert_eq!(model.equalities[1].kind, expected);
}

#[test]
fn tendons_that_make_no_sense() {
    type Spoil = fn(&mut Tendon);
    let cases: [(&str, Spoil); 19] = [
        ("expected at least one joint", |t| terms(t).clear()),
        ("no joint with index 7", |t| terms(t)[1].0 = 7),
        ("3 degrees of freedom", |t| terms(t)[1].0 = 1),
        ("joint 0 comes twice", |t| terms(t)[1].0 = 0),
        ("coefficient", |t| terms(t)[0].1 = f64::NAN),
        ("upper end of the range", |t| t.range = Some((1.0, -1.0))),
        ("range: expected finite", |t| t.range = Some((f64::NEG_INFINITY, 1.0))),
        ("upper end of the rest length", |t| t.rest = (1.0, 0.0)),
        ("rest length: expected finite", |t| t.rest = (f64::NAN, 0.0)),
        ("stiffness: -1", |t| t.stiffness = -1.0),
        ("damping: NaN", |t| t.damping = f64::NAN),
        ("friction loss: inf", |t| t.friction_loss = f64::INFINITY),
        ("armature: -1", |t| t.armature = -1.0),
        ("least effort: 1", |t| t.effort_limit = Some((1.0, 2.0))),
        ("greatest effort: NaN", |t| t.effort_limit = Some((-1.0, f64::NAN))),
        ("stiffness of its compliance: 0", |t| {
            t.limit_compliance = Compliance::Physical { stiffness: 0.0, relaxation: 1.0 };
        }),
        ("stiffness of its compliance: inf", |t| {
            t.limit_compliance = Compliance::Physical { stiffness: f64::INFINITY, relaxation: 1.0 };
        }),
        ("reference of its compliance", |t| {
            t.limit_compliance = Compliance::Reference(Reference { solref: [0.02, -1.0], ..Reference::default() });
        }),
        ("relaxation time of its compliance: -1", |t| {
            t.limit_compliance = Compliance::Physical { stiffness: 1.0, relaxation: -1.0 };
        }),
    ];
    for (expected, spoil) in cases {
        let mut builder = builder();
        let mut spoilt = tendon();
        spoil(&mut spoilt);
        builder.tendons.extend([tendon(), spoilt]);
        let error = builder.build().map(|_| ()).expect_err(expected);
        assert!(matches!(error, BuildError::In { element: ElementKind::Tendon, index: 1, .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.starts_with("tendon \"rope\"") && message.contains(expected), "{message}: {expected}");
    }
}

#[test]
fn equality_constraints_that_make_no_sense() {
    let (far, none) = (Vec3::new(0.0, f64::INFINITY, 0.0), Quat::new(0.0, 0.0, 0.0, 0.0));
    let (frame, anchors) = (Pose::IDENTITY, [Vec3::ZERO; 2]);
    let weld = |second| EqualityKind::Weld { bodies: [1, 4], frames: [frame, second], torque_scale: 1.0 };
    let distance = |distance| EqualityKind::Distance { bodies: [1, 4], anchors, distance };
    let joint = Coordinate::Joint;
    let numbers = |reference, x: f64| EqualityKind::Coupling {
        y: (joint(0), reference),
        x: None,
        polynomial: [0.0, 0.0, 0.0, 0.0, x],
    };
    for (expected, kind) in [
        ("no body with index 9", connect([1, 9])),
        ("body 1 comes twice", connect([1, 1])),
        ("[\"b3\", \"b2\"] move as one", connect([3, 2])),
        ("anchor: expected finite", EqualityKind::Connect { bodies: [1, 0], anchors: [far, Vec3::ZERO] }),
        ("anchor: expected finite", weld(Pose::new(far, Quat::IDENTITY))),
        ("rotation: expected finite", weld(Pose::new(Vec3::ZERO, none))),
        ("distance: 0", distance(0.0)),
        ("distance: NaN", distance(f64::NAN)),
        ("no joint with index 3", coupling(joint(3), None)),
        ("3 degrees of freedom", coupling(joint(0), Some(joint(1)))),
        ("joint 2 comes twice", coupling(joint(2), Some(joint(2)))),
        ("no tendon with index 0", coupling(Coordinate::Tendon(0), None)),
        ("reference: expected finite", numbers(f64::NAN, 0.0)),
        ("polynomial: expected finite", numbers(0.0, f64::NAN)),
    ] {
        let mut builder = builder();
        builder.equalities.push(equality(kind));
        let error = builder.build().map(|_| ()).expect_err(expected);
        assert!(matches!(error, BuildError::In { element: ElementKind::Equality, index: 0, .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.starts_with("equality \"tie\"") && message.contains(expected), "{message}: {expected}");
    }
    let mut builder = builder();
    builder.equalities.push(Equality { name: String::new(), ..equality(connect([1, 9])) });
    let message = builder.build().map(|_| ()).expect_err("no body 9").to_string();
    assert!(message.starts_with("equality 0: "), "{message}");
}

#[test]
fn an_actuator_needs_its_tendon() {
    let mut builder = builder();
    builder.tendons.push(tendon());
    let law = ActuatorLaw::fixed(1.0, [0.0; 3]);
    let transmission = Transmission::Tendon { tendon: 1, gear: 1.0 };
    let name = "pull".into();
    builder.actuators.push(Actuator {
        name,
        transmission,
        law,
        activation: None,
        motor: None,
        ctrl_range: None,
        force_range: None,
        delay: None,
        group: 0,
    });
    let message = builder.build().map(|_| ()).expect_err("no tendon 1").to_string();
    assert_eq!(message, "actuator \"pull\": there is no tendon with index 1");
}

#[test]
fn bodies_before_the_model_is_built() {
    let builder = builder();
    // Two half turns about x are none, and the second step up is one down.
    assert_eq!(builder.default_pose(2).map(|p| p.pos), Some(Vec3::ZERO));
    assert_eq!(builder.default_pose(3).map(|p| p.pos), Some(Vec3::new(0.0, 0.0, 1.0)));
    assert_eq!(builder.default_pose(5), None);
    let groups: Vec<Option<usize>> = (0..6).map(|body| builder.rigid_group(body)).collect();
    assert_eq!(groups, [Some(0), Some(1), Some(2), Some(2), Some(4), None]);
}
