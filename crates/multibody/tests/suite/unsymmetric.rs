//! Solutions of the unsymmetric factor put back into the equations, on trees with every kind of joint.

use crate::common::{Random, every_joint, random_tree, state};
use sapwood_multibody::{
    Dyad, Factor, JointImpedance, JointType, Kinematics, Model, UnsymmetricFactor, add_generalized_forces, apply,
    forward_kinematics,
};
use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench};

/// An impedance of contacts at random points of a node.
fn impedance(r: &mut Random) -> ArticulatedInertia<f64> {
    let stiffness = Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0) * 1e3_f64.powf(r.unit())).rotated(r.quat().to_mat3());
    let about_point = ArticulatedInertia { a: Sym3::ZERO, b: Mat3::ZERO, c: stiffness };
    about_point.shifted_back(r.vec3())
}

/// Friction at a random point of a random node, which grows with the normal impulse there.
fn dyad(model: &Model, r: &mut Random) -> Dyad {
    let node = ((r.unit() * 0.5 + 0.5) * model.tree.len() as f64) as usize;
    let (arm, normal, along) = (r.vec3(), r.vec3(), r.vec3());
    let at_point = |force: Vec3<f64>| Wrench { ang: arm.cross(force), lin: force };
    Dyad { node, wrench: at_point(along) * 0.5, per_motion: at_point(normal) }
}

fn check(model: &Model, seed: u64) {
    let tree = &model.tree;
    let mut r = Random(seed);
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), &state(model, seed).0, &mut kin);
    let mut joints = JointImpedance::new(tree);
    joints.diagonal.iter_mut().for_each(|d| *d = 0.5 + 0.5 * r.unit());
    for (node, ball) in tree.nodes.iter().zip(&mut joints.ball) {
        if node.joint == JointType::Ball {
            *ball = [0.1 * r.unit(), 0.1 * r.unit(), 0.1 * r.unit()];
        }
    }
    let impedances: Vec<_> = tree.nodes.iter().map(|_| impedance(&mut r)).collect();
    let dyads: Vec<_> = (0..tree.len()).map(|_| dyad(model, &mut r)).collect();
    let force: Vec<f64> = (0..tree.nv).map(|_| r.unit()).collect();

    let (mut factor, mut x) = (UnsymmetricFactor::default(), vec![0.0; tree.nv]);
    assert!(factor.factor(tree, &kin, &joints, &impedances, dyads.iter().copied()));
    factor.solve(tree, &kin, &force, &mut x);

    let (mut motions, mut wrenches) = (vec![Twist::ZERO; tree.len()], vec![Wrench::ZERO; tree.len()]);
    let mut pushed = vec![0.0; tree.nv];
    apply(tree, tree.all(), &kin, &joints, &x, &mut motions, &mut wrenches, &mut pushed);
    for ((wrench, impedance), motion) in wrenches.iter_mut().zip(&impedances).zip(&motions) {
        *wrench = impedance.apply(*motion);
    }
    for Dyad { node, wrench, per_motion } in &dyads {
        wrenches[*node] += *wrench * motions[*node].dot(*per_motion);
    }
    add_generalized_forces(tree, tree.all(), &kin, &mut wrenches, &mut pushed);
    let size = x.iter().fold(1.0, |size, x| f64::max(size, x.abs()));
    for (k, (pushed, force)) in pushed.iter().zip(&force).enumerate() {
        assert!((pushed - force).abs() < 1e-8 * size, "seed {seed}, {k}: {pushed} {force}");
    }

    // Without dyads it is the symmetric factor.
    let mut symmetric = Factor::new(tree);
    symmetric.factor(tree, tree.all(), &kin, &joints, Some(&impedances));
    let mut expected = vec![0.0; tree.nv];
    symmetric.solve(tree, tree.all(), &kin, &force, None, &mut expected);
    assert!(factor.factor(tree, &kin, &joints, &impedances, []));
    factor.solve(tree, &kin, &force, &mut x);
    for (x, expected) in x.iter().zip(&expected) {
        assert!((x - expected).abs() < 1e-9 * (1.0 + expected.abs()), "seed {seed}: {x} {expected}");
    }
}

#[test]
fn solutions_balance() {
    check(&every_joint(3), 11);
    for seed in 1..40 {
        check(&random_tree(seed, 9), seed + 100);
    }
}

#[test]
fn a_pivot_that_is_no_number_is_told() {
    let model = random_tree(5, 1);
    let mut kin = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kin);
    let mut joints = JointImpedance::new(&model.tree);
    joints.diagonal.fill(f64::NAN);
    let none = vec![ArticulatedInertia::ZERO; model.tree.len()];
    assert!(!UnsymmetricFactor::default().factor(&model.tree, &kin, &joints, &none, []));
}
