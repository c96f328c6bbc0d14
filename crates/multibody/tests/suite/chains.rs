//! Long straight chains that fall freely: as rigid bodies do, whatever their joints, by every recursion.

use sapwood_multibody::{
    BodySpec, Factor, FreeStep, JointImpedance, JointKind, JointSpec, Kinematics, Model, ModelBuilder, RneaWorkspace,
    forward_kinematics, rnea, velocities,
};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

const GRAVITY: Vec3<f64> = Vec3::new(0.0, 0.0, -9.81);

/// `n` thin links of 0.15 m along x behind a free root.
fn chain(n: usize, joint: impl Fn(usize) -> JointKind) -> Model {
    let mut builder = ModelBuilder::new("chain");
    for i in 0..n {
        let pos = if i == 0 { Vec3::ZERO } else { Vec3::new(0.15, 0.0, 0.0) };
        let inertia = RigidInertia {
            mass: 1.02,
            com: Vec3::new(0.075, 0.0, 0.0),
            inertia: Sym3::diagonal(Vec3::new(0.0008, 0.004, 0.004)),
        };
        let pose = Pose::new(pos, Quat::IDENTITY);
        let body = builder
            .add_body(BodySpec { name: format!("{i}"), parent: i, pose, inertia, ..BodySpec::default() })
            .unwrap();
        let kind = if i == 0 { JointKind::Free } else { joint(i) };
        builder.add_joint(body, JointSpec::new(kind)).unwrap();
    }
    builder.build().unwrap()
}

/// The greatest acceleration of a joint, of each recursion.
fn accelerations(model: &Model, turn: Quat<f64>, impedance: f64) -> [f64; 2] {
    let tree = &model.tree;
    let mut q = model.q0.clone();
    q[3..7].copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
    let v = vec![0.0; tree.nv];
    let mut joints = JointImpedance::new(tree);
    joints.diagonal[6..].fill(impedance);
    let greatest = |x: &[f64]| x[6..].iter().fold(0.0_f64, |most, x| most.max(x.abs()));

    let (mut kin, mut factor, mut x) = (Kinematics::new(tree), Factor::new(tree), vec![0.0; tree.nv]);
    forward_kinematics(tree, tree.all(), &q, &mut kin);
    velocities(tree, tree.all(), &v, &mut kin);
    let mut bias = v.clone();
    rnea(tree, tree.all(), &kin, &v, None, GRAVITY, &mut RneaWorkspace::new(tree), &mut bias);
    bias.iter_mut().for_each(|bias| *bias = -*bias);
    factor.factor(tree, tree.all(), &kin, &joints, None);
    factor.solve(tree, tree.all(), &kin, &bias, None, &mut x);
    let by_factor = greatest(&x);

    let mut step = FreeStep::new(tree);
    step.place(tree, &q, &v, GRAVITY, 1.0, &mut kin);
    step.solve(tree, &kin, &joints, &v, &mut x, &mut factor);
    [by_factor, greatest(&x)]
}

#[test]
fn a_straight_chain_that_falls_stays_straight() {
    let hinge = |i: usize| JointKind::Revolute {
        axis: if i.is_multiple_of(2) { Vec3::new(0.0, 1.0, 0.0) } else { Vec3::new(0.0, 0.0, 1.0) },
    };
    let chains = [
        chain(200, |_| JointKind::Ball),
        chain(200, hinge),
        chain(200, |i| if i.is_multiple_of(2) { JointKind::Ball } else { hinge(i / 2) }),
    ];
    let turns = [
        Quat::IDENTITY,
        Quat::new(1.0, 1e-5, 0.0, 0.0),
        Quat::new(1.0, 0.3, 0.0, 0.0),
        Quat::new(1.0, 0.0, 0.2, 0.0),
        Quat::new(0.5, -0.1, 0.7, 0.2),
    ];
    for (k, model) in chains.iter().enumerate() {
        for turn in turns.map(Quat::unit) {
            for impedance in [0.0, 1e-3, 1.0, 1e3] {
                let [by_factor, by_step] = accelerations(model, turn, impedance);
                // Round-off of 1e-16 of the weight's moment about the root, 2e5 N m, over a link's inertia of 0.01 kg m². What takes gravity
                // as an acceleration of the world has no such moment.
                let case = format!("chain {k}, {turn:?}, Λ = {impedance}");
                assert!(by_factor < 1e-7, "{case}: {by_factor}");
                assert!(by_step < 1e-9, "{case}: {by_step}");
            }
        }
    }
}
