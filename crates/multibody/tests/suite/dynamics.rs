//! The recursions against each other and against definitions, on trees with every kind of joint.

use crate::common::{Random, every_joint, state};
use sapwood_multibody::{
    BodySpec, CrbaWorkspace, Factor, JointImpedance, JointKind, JointSpec, Kinematics, Model, ModelBuilder, Retraction,
    RneaWorkspace, difference, difference_ahead, forward_kinematics, integrate, mass_matrix, rnea, velocities,
};
use spatial::{ArticulatedInertia, Mat3, Quat, RigidInertia, Sym3, Twist, Vec3, Wrench};

fn kinematics(model: &Model, q: &[f64], v: &[f64]) -> Kinematics<f64> {
    let mut kin = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), q, &mut kin);
    velocities(&model.tree, model.tree.all(), v, &mut kin);
    kin
}

fn mass(model: &Model, kin: &Kinematics<f64>) -> Vec<f64> {
    let nv = model.nv();
    let mut m = vec![0.0; nv * nv];
    let mut ws = CrbaWorkspace::new(&model.tree);
    mass_matrix(&model.tree, model.tree.all(), kin, None, &mut ws, &mut m, nv, 0);
    m
}

fn inverse_dynamics(model: &Model, kin: &Kinematics<f64>, v: &[f64], a: Option<&[f64]>) -> Vec<f64> {
    let mut tau = vec![0.0; model.nv()];
    let mut ws = RneaWorkspace::new(&model.tree);
    rnea(&model.tree, model.tree.all(), kin, v, a, model.gravity, &mut ws, &mut tau);
    tau
}

fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    assert!(a.iter().chain(b).all(|x| x.is_finite()), "{a:?} {b:?}");
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn velocities_are_the_rate_of_placements() {
    let model = every_joint(7);
    let (q, v) = state(&model, 8);
    let kin = kinematics(&model, &q, &v);
    let h = 1e-6;
    let at = |dt: f64| {
        let mut q = q.clone();
        integrate(&model.tree, &mut q, &v, dt);
        kinematics(&model, &q, &v)
    };
    let (before, after) = (at(-h), at(h));
    for i in 0..model.tree.len() {
        let lin = (after.frames[i].pos - before.frames[i].pos) * (0.5 / h);
        let ang = (after.frames[i].quat * before.frames[i].quat.conjugate()).rotation_vector() * (0.5 / h);
        let error = (lin - kin.twists[i].lin).norm() + (ang - kin.twists[i].ang).norm();
        // Central differences: h² and round-off / h.
        assert!(error < 2e-9, "node {i}: {error}");
    }
}

#[test]
fn mass_matrix_holds_the_columns_of_inverse_dynamics() {
    for seed in 1..6 {
        let model = every_joint(seed);
        let (q, v) = state(&model, seed + 100);
        let kin = kinematics(&model, &q, &v);
        let m = mass(&model, &kin);
        let bias = inverse_dynamics(&model, &kin, &v, None);
        let nv = model.nv();
        for k in 0..nv {
            let mut a = vec![0.0; nv];
            a[k] = 1.0;
            let column: Vec<f64> =
                inverse_dynamics(&model, &kin, &v, Some(&a)).iter().zip(&bias).map(|(t, b)| t - b).collect();
            let error = max_difference(&column, &m[k * nv..(k + 1) * nv]);
            assert!(error < 1e-12, "seed {seed} column {k}: {error}");
        }
    }
}

#[test]
fn bias_force_is_that_of_lagrange() {
    // d/dt(∂T/∂v) for a motion with v constant along q ⊞ v t is not a bias force on quaternions, so the check is
    // power: vᵀ(M a + bias) must equal the rate of kinetic and potential energy along the motion.
    let model = every_joint(3);
    let (q, v) = state(&model, 4);
    let mut r = Random(9);
    let a: Vec<f64> = (0..model.nv()).map(|_| r.unit()).collect();
    let kin = kinematics(&model, &q, &v);
    let tau = inverse_dynamics(&model, &kin, &v, Some(&a));
    let power: f64 = tau.iter().zip(&v).map(|(t, v)| t * v).sum();
    let energy = |dt: f64| {
        let mut q = q.clone();
        let half: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + 0.5 * dt * a).collect();
        integrate(&model.tree, &mut q, &half, dt);
        let v: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + dt * a).collect();
        let kin = kinematics(&model, &q, &v);
        kin.frames.iter().zip(&kin.twists).fold(0.0, |sum, (frame, twist)| {
            let kinetic = 0.5 * twist.dot(frame.inertia.momentum(*twist));
            sum + kinetic - frame.inertia.mass * model.gravity.dot(frame.pos + frame.inertia.com)
        })
    };
    let h = 1e-5;
    let rate = (energy(h) - energy(-h)) / (2.0 * h);
    assert!((power - rate).abs() < 1e-7 * (1.0 + power.abs()), "{power} {rate}");
}

fn random_impedance(model: &Model, r: &mut Random) -> (JointImpedance<f64>, Vec<ArticulatedInertia<f64>>) {
    let mut joints = JointImpedance::new(&model.tree);
    joints.diagonal.iter_mut().for_each(|d| *d = 1.0 + r.unit());
    for (i, node) in model.tree.nodes.iter().enumerate() {
        if node.joint == sapwood_multibody::JointType::Ball {
            joints.ball[i] = [0.01, -0.02, 0.03].map(|x| x * joints.diagonal[node.v]);
        }
    }
    let point = |r: &mut Random| {
        // The impedance Xᵀ G X of a point with a symmetric G.
        let (x, g) = (r.vec3(), Sym3::diagonal(Vec3::new(2.0, 3.0, 40.0)).rotated(r.quat().to_mat3()));
        let b = Mat3::skew(x) * g.to_mat3();
        ArticulatedInertia { a: Sym3::lower(b * Mat3::skew(x).transpose()), b, c: g }
    };
    let bodies = (0..model.tree.len()).map(|_| point(r)).collect();
    (joints, bodies)
}

#[test]
fn factor_solves_what_apply_multiplies() {
    for seed in 1..20 {
        let model = every_joint(seed);
        let (q, v) = state(&model, seed + 50);
        let kin = kinematics(&model, &q, &v);
        let mut r = Random(seed + 500);
        let (joints, bodies) = random_impedance(&model, &mut r);
        let (nv, all) = (model.nv(), model.tree.all());
        let mut factor = Factor::new(&model.tree);
        factor.factor(&model.tree, all.clone(), &kin, &joints, Some(&bodies));
        let rhs: Vec<f64> = (0..nv).map(|_| r.unit()).collect();
        let w: Vec<Wrench<f64>> = (0..model.tree.len()).map(|_| Wrench { ang: r.vec3(), lin: r.vec3() }).collect();
        let mut x = vec![0.0; nv];
        factor.solve(&model.tree, all.clone(), &kin, &rhs, Some(&w), &mut x);

        let mut motions = vec![Twist::ZERO; model.tree.len()];
        let mut momenta = vec![Wrench::ZERO; model.tree.len()];
        let mut y = vec![0.0; nv];
        sapwood_multibody::apply(&model.tree, all.clone(), &kin, &joints, &x, &mut motions, &mut momenta, &mut y);
        // (M + Λ) x + Σ Jᵀ (Ĝ J x − w) = r.
        let mut forces: Vec<Wrench<f64>> = (0..model.tree.len()).map(|i| bodies[i].apply(motions[i]) - w[i]).collect();
        sapwood_multibody::add_generalized_forces(&model.tree, all, &kin, &mut forces, &mut y);
        let error = max_difference(&y, &rhs);
        assert!(error < 1e-11, "seed {seed}: {error}");
        for (a, b) in factor.motions.iter().zip(&motions) {
            assert!((a.ang - b.ang).norm() + (a.lin - b.lin).norm() < 1e-12);
        }
    }
}

#[test]
fn forward_dynamics_inverts_inverse_dynamics() {
    let model = every_joint(11);
    let (q, v) = state(&model, 12);
    let kin = kinematics(&model, &q, &v);
    let mut r = Random(13);
    let tau: Vec<f64> = (0..model.nv()).map(|_| r.unit()).collect();
    let bias = inverse_dynamics(&model, &kin, &v, None);
    let rhs: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
    let mut factor = Factor::new(&model.tree);
    factor.factor(&model.tree, model.tree.all(), &kin, &JointImpedance::new(&model.tree), None);
    let mut a = vec![0.0; model.nv()];
    factor.solve(&model.tree, model.tree.all(), &kin, &rhs, None, &mut a);
    let back = inverse_dynamics(&model, &kin, &v, Some(&a));
    assert!(max_difference(&back, &tau) < 1e-12, "{}", max_difference(&back, &tau));
}

#[test]
fn single_precision_follows_double() {
    let model = every_joint(21);
    let (q, v) = state(&model, 22);
    let kin = kinematics(&model, &q, &v);
    let tree = model.tree.cast::<f32>();
    let narrow = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let mut kin32 = Kinematics::new(&tree);
    forward_kinematics(&tree, tree.all(), &narrow(&q), &mut kin32);
    velocities(&tree, tree.all(), &narrow(&v), &mut kin32);
    let mut tau = vec![0.0; model.nv()];
    let gravity = model.gravity.map(|x| x as f32);
    rnea(&tree, tree.all(), &kin32, &narrow(&v), None, gravity, &mut RneaWorkspace::new(&tree), &mut tau);
    let exact = inverse_dynamics(&model, &kin, &v, None);
    let scale = exact.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in tau.iter().zip(&exact) {
        assert!((f64::from(*a) - b).abs() < 1e-5 * scale);
    }
}

#[test]
fn difference_undoes_integration() {
    let model = every_joint(5);
    let (q, v) = state(&model, 6);
    let mut q1 = q.clone();
    integrate(&model.tree, &mut q1, &v, 0.7);
    let mut back = vec![0.0; model.nv()];
    difference(&model.tree, &q, &q1, &mut back);
    let expected: Vec<f64> = v.iter().map(|v| 0.7 * v).collect();
    assert!(max_difference(&back, &expected) < 1e-14);
}

/// A bush of ball joints with free roots and hinges between: more rotations than are worked on at a time, and a rest.
fn bush(balls: usize) -> Model {
    let mut builder = ModelBuilder::new("bush");
    let inertia =
        RigidInertia { mass: 1.0, com: Vec3::new(0.1, 0.2, 0.3), inertia: Sym3::diagonal(Vec3::new(1.0, 2.0, 2.5)) };
    for i in 0..=balls {
        let parent = if i == 0 { 0 } else { 1 };
        let body = builder.add_body(BodySpec { name: format!("{i}"), parent, inertia, ..BodySpec::default() }).unwrap();
        let kind = if i == 0 { JointKind::Free } else { JointKind::Ball };
        builder.add_joint(body, JointSpec { name: format!("{i}"), ..JointSpec::new(kind) }).unwrap();
        let leaf = builder
            .add_body(BodySpec { name: format!("leaf {i}"), parent: body, inertia, ..BodySpec::default() })
            .unwrap();
        let axis = Vec3::new(0.0, 1.0, 0.0);
        let hinge = JointSpec { name: format!("hinge {i}"), ..JointSpec::new(JointKind::Revolute { axis }) };
        builder.add_joint(leaf, hinge).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn the_difference_ahead_is_that_of_what_is_integrated() {
    for balls in 0..18 {
        let model = bush(balls);
        let (q, mut v) = state(&model, 3 + balls as u64);
        let (q0, _) = state(&model, 50);
        let mut found = vec![0.0; model.nv()];
        let mut expected = found.clone();
        // Short turns, turns of a radian or two, many turns; and of one joint alone.
        for dt in [0.0, 1e-9, 1.0 / 60.0, 1.0, 2.5, 1e4] {
            let mut next = q.clone();
            integrate(&model.tree, &mut next, &v, dt);
            difference(&model.tree, &q0, &next, &mut expected);
            difference_ahead(&model.tree, &q0, &q, &v, dt, &mut found);
            let error = max_difference(&found, &expected);
            // Angles of 1e4 are known to 1e-12.
            assert!(error < 2e-15 + 4e-16 * dt, "{balls} balls, {dt} s: {error:e}");
        }
        let before = found.clone();
        let last = model.tree.nodes[model.tree.len() - 2].rotation().unwrap();
        v[last] *= 0.01;
        difference_ahead(&model.tree, &q0, &q, &v, 1e4, &mut found);
        let changed: Vec<usize> = (0..model.nv()).filter(|i| before[*i].to_bits() != found[*i].to_bits()).collect();
        assert_eq!(changed, [last, last + 1, last + 2], "no rotation depends on another");
    }
}

#[test]
fn rotations_side_by_side_have_the_bits_of_one_alone() {
    // One more than balls: in a four, in an eight, and in more than that.
    for balls in [0, 3, 4, 7, 8] {
        let model = bush(balls);
        let ((q0, _), (q, v)) = (state(&model, 8), state(&model, 9));
        let mut all = vec![0.0; model.nv()];
        difference_ahead(&model.tree, &q0, &q, &v, 0.1, &mut all);
        let (mut next, mut cayley) = (q.clone(), q.clone());
        integrate(&model.tree, &mut next, &v, 0.1);
        Retraction::Cayley.advance(&model.tree, &mut cayley, &v, 0.1, 1.0);
        for node in &model.tree.nodes {
            let Some(turn) = node.rotation() else { continue };
            let at = node.q + node.joint.nq() - 4;
            let quat = |q: &[f64]| Quat::new(q[at], q[at + 1], q[at + 2], q[at + 3]);
            let u = Vec3::new(v[turn], v[turn + 1], v[turn + 2]) * 0.1;
            let (ahead, _) = Quat::from_short_rotation_vector(u);
            let alone = (quat(&q0).conjugate() * quat(&q) * ahead).rotation_vector();
            assert_eq!(alone.to_array(), all[turn..turn + 3]);
            assert_eq!((quat(&q) * ahead).unit(), quat(&next));
            let turned = Quat::new(1.0, 0.5 * u.x, 0.5 * u.y, 0.5 * u.z);
            assert_eq!((quat(&q) * turned).unit(), quat(&cayley));
        }
    }
}

/// Rotations of a configuration a fraction of the way, against sines, cosines and arctangents of the standard library, one by one.
#[test]
fn what_is_advanced_turns_by_its_angle() {
    for balls in [0, 3, 7, 12] {
        let model = bush(balls);
        let (q, v) = state(&model, 70 + balls as u64);
        for (retraction, dt, fraction) in [
            (Retraction::Exponential, 0.01, 1.0),
            (Retraction::Exponential, 5.0, 1.0),
            (Retraction::Exponential, 0.3, 0.25),
            (Retraction::Cayley, 0.01, 1.0),
            (Retraction::Cayley, 5.0, 0.5),
            (Retraction::Cayley, 0.3, 0.25),
        ] {
            let mut next = q.clone();
            retraction.advance(&model.tree, &mut next, &v, dt, fraction);
            for node in &model.tree.nodes {
                let Some(turn) = node.rotation() else {
                    assert_eq!(next[node.q], q[node.q] + fraction * dt * v[node.v]);
                    continue;
                };
                let at = node.q + node.joint.nq() - 4;
                let quat = |q: &[f64]| Quat::new(q[at], q[at + 1], q[at + 2], q[at + 3]);
                let omega = Vec3::new(v[turn], v[turn + 1], v[turn + 2]);
                let u = omega.norm() * dt;
                let angle = if retraction == Retraction::Cayley { 2.0 * (0.5 * u).atan() } else { u };
                let (sin, cos) = (0.5 * fraction * angle).sin_cos();
                let axis = omega * (sin / omega.norm());
                let expected = quat(&q) * Quat::new(cos, axis.x, axis.y, axis.z);
                let off = quat(&next).conjugate() * expected;
                let miss = off.vector().norm() + (off.w - 1.0).abs();
                assert!(miss < 4e-15, "{retraction:?}, {dt} s, {fraction}, {balls} balls: {miss:e}");
            }
        }
    }
}
