//! Products of loads by their way to the root, against whole solves, on trees with every kind of joint.

use crate::common::{Random, every_joint, random_tree, state};
use sapwood_multibody::{Factor, JointImpedance, Kinematics, Loads, Model, alone, forward_kinematics, velocities};
use spatial::{F64x4, Real, Twist, Vec3, Wrench};

fn wrench(r: &mut Random) -> Wrench<f64> {
    Wrench { ang: r.vec3(), lin: r.vec3() }
}

/// A load on the joint and the body of a node.
struct Load {
    node: usize,
    wrench: Wrench<f64>,
    joint: [f64; 6],
}

impl Load {
    fn random(model: &Model, r: &mut Random) -> Load {
        let node = ((r.unit() * 0.5 + 0.5) * model.tree.len() as f64) as usize;
        let mut joint = [0.0; 6];
        joint[..model.tree.nodes[node].joint.nv()].iter_mut().for_each(|x| *x = r.unit());
        Load { node, wrench: wrench(r), joint }
    }

    /// In lane 1.
    fn in_lanes(&self) -> Loads {
        let lane = |x: f64| F64x4::from_array([0.0, x, 0.0, 0.0]);
        let wrench = Wrench { ang: self.wrench.ang.map(lane), lin: self.wrench.lin.map(lane) };
        Loads { wrench, joint: self.joint.map(lane) }
    }
}

fn check(model: &Model, seed: u64) {
    let tree = &model.tree;
    let mut r = Random(seed);
    let (q, v) = state(model, seed);
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), &q, &mut kin);
    velocities(tree, tree.all(), &v, &mut kin);
    let mut joints = JointImpedance::new(tree);
    joints.diagonal.iter_mut().for_each(|d| *d = 0.5 + 0.5 * r.unit());
    let mut factor = Factor::new(tree);
    factor.factor(tree, tree.all(), &kin, &joints, None);

    let loads: Vec<Load> = (0..6).map(|_| Load::random(model, &mut r)).collect();
    let mut solved = Vec::new();
    let mut carried = Vec::new();
    for load in &loads {
        let (mut force, mut x) = (vec![0.0; tree.nv], vec![0.0; tree.nv]);
        let mut wrenches = vec![Wrench::ZERO; tree.len()];
        let node = &tree.nodes[load.node];
        force[node.v..node.v + node.joint.nv()].copy_from_slice(&load.joint[..node.joint.nv()]);
        wrenches[load.node] = load.wrench;
        factor.solve(tree, tree.all(), &kin, &force, Some(&wrenches), &mut x);
        solved.push((x, factor.motions.clone()));

        let (mut u, mut d) = (vec![0.0; tree.nv], vec![0.0; tree.nv]);
        factor.carry(tree, &kin, load.node, &load.in_lanes(), alone, |i, k, du, dd| {
            assert_eq!([0, 2, 3].map(|lane| du.to_array()[lane]), [0.0; 3]);
            u[tree.nodes[i].v + k] += du.lane(1);
            d[tree.nodes[i].v + k] += dd.lane(1);
        });
        carried.push((u, d));
    }
    for (a, (u, _)) in carried.iter().enumerate() {
        for (b, (_, d)) in carried.iter().enumerate() {
            let product: f64 = u.iter().zip(d).map(|(u, d)| u * d).sum();
            // The velocity that load b gives along load a.
            let (x, motions) = &solved[b];
            let Load { node, wrench, joint } = &loads[a];
            let along: f64 = joint.iter().zip(&x[tree.nodes[*node].v..]).map(|(f, x)| f * x).sum();
            let expected = along + motions[*node].dot(*wrench);
            assert!((product - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{a} {b}: {product} {expected}");
        }
    }
    // All loads at once.
    let (mut x, mut motions) = (vec![0.0; tree.nv], vec![Twist::ZERO; tree.len()]);
    carried.iter().for_each(|(u, _)| x.iter_mut().zip(u).for_each(|(x, u)| *x += u));
    factor.respond(tree, &kin, &mut x, &mut motions);
    for (k, x) in x.iter().enumerate() {
        let expected: f64 = solved.iter().map(|(x, _)| x[k]).sum();
        assert!((x - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{k}: {x} {expected}");
    }
    for (i, motion) in motions.iter().enumerate() {
        let expected = solved.iter().fold(Vec3::ZERO, |sum, (_, motions)| sum + motions[i].lin);
        assert!((motion.lin - expected).norm() < 1e-10 * (1.0 + expected.norm()), "node {i}");
    }
}

#[test]
fn products_of_loads_are_those_of_solves() {
    check(&every_joint(3), 11);
    for seed in 1..20 {
        check(&random_tree(seed, 9), seed + 100);
    }
}
