//! The free motion of a step against the recursions that do one thing at a time.

use crate::common::{Random, every_joint, random_tree, state};
use sapwood_multibody::{
    Factor, FreeStep, JointImpedance, JointType, Kinematics, Model, RneaWorkspace, apply, forward_kinematics, rnea,
    velocities,
};
use spatial::{RigidInertia, Twist, Vec3, Wrench};

fn relative(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// The greatest difference between what a step leaves behind and what the recursions do, against the greatest number of its
/// kind. `alike`: with one impedance about all axes, else with others.
fn difference(model: &Model, seed: u64, alike: bool) -> f64 {
    let tree = &model.tree;
    let (q, v) = state(model, seed);
    let mut r = Random(seed + 1000);
    let force: Vec<f64> = v.iter().map(|_| 0.1 * r.unit()).collect();
    let mut joints = JointImpedance::new(tree);
    joints.diagonal.iter_mut().for_each(|lambda| *lambda = if alike { 0.3 } else { r.unit().abs() });
    let loads: Vec<_> = (0..tree.len()).map(|_| Wrench { ang: r.vec3(), lin: r.vec3() }).collect();
    let gravity = Vec3::new(0.3, -0.2, -9.81);

    let (mut kin, mut factor) = (Kinematics::new(tree), Factor::new(tree));
    let (mut bias, mut x) = (vec![0.0; tree.nv], vec![0.0; tree.nv]);
    forward_kinematics(tree, tree.all(), &q, &mut kin);
    velocities(tree, tree.all(), &v, &mut kin);
    rnea(tree, tree.all(), &kin, &v, None, gravity, &mut RneaWorkspace::new(tree), &mut bias);
    let left: Vec<f64> = force.iter().zip(&bias).map(|(force, bias)| force - 0.01 * bias).collect();
    factor.factor(tree, tree.all(), &kin, &joints, None);
    factor.solve(tree, tree.all(), &kin, &left, Some(&loads), &mut x);

    let mut step = FreeStep::new(tree);
    let (mut step_kin, mut step_factor) = (Kinematics::new(tree), Factor::new(tree));
    let mut step_x = vec![f64::NAN; tree.nv];
    for _ in 0..2 {
        // Twice: what the first leaves behind is not to matter.
        step.place(tree, &q, &v, gravity, 0.01, &mut step_kin);
        loads.iter().enumerate().for_each(|(i, w)| step.load(i, *w));
        step.solve(tree, &step_kin, &joints, &force, &mut step_x, &mut step_factor);
    }

    let mut worst = relative(&step_x, &x);
    worst = worst.max(relative(&placements(&step_kin), &placements(&kin)));
    worst = worst.max(relative(&twists(&step_kin.twists), &twists(&kin.twists)));
    worst = worst.max(relative(&twists(&step_factor.motions), &twists(&factor.motions)));
    let (mut motions, mut wrenches) = (vec![Twist::ZERO; tree.len()], vec![Wrench::ZERO; tree.len()]);
    let (mut product, mut on_joints) = (vec![0.0; tree.nv], vec![f64::NAN; tree.nv]);
    apply(tree, tree.all(), &kin, &joints, &x, &mut motions, &mut wrenches, &mut product);
    step.loads(tree, &step_kin, &force, &mut wrenches, &mut on_joints);
    worst = worst.max(relative(&on_joints, &product));
    // The factors solve for something else.
    factor.solve(tree, tree.all(), &kin, &force, None, &mut x);
    step_factor.solve(tree, tree.all(), &step_kin, &force, None, &mut step_x);
    worst.max(relative(&step_x, &x))
}

fn twists(twists: &[Twist<f64>]) -> Vec<f64> {
    twists.iter().flat_map(|t| [t.ang.to_array(), t.lin.to_array()]).flatten().collect()
}

/// All numbers of the frames: a quaternion as what it rotates by.
fn placements(kin: &Kinematics<f64>) -> Vec<f64> {
    let numbers = kin.frames.iter().flat_map(|frame| {
        let (turned, i) = (frame.quat.to_mat3(), frame.inertia);
        let vectors = [turned.x, turned.y, turned.z, frame.rot.x, frame.rot.y, frame.rot.z];
        let vectors = vectors.into_iter().chain([frame.pos, frame.offset, frame.axis, i.com, i.inertia.diag()]);
        let rest = [i.mass, i.inertia.xy(), i.inertia.xz(), i.inertia.yz()];
        vectors.flat_map(|x| x.to_array()).chain(rest).collect::<Vec<_>>()
    });
    numbers.collect()
}

#[test]
fn a_step_leaves_what_the_recursions_leave() {
    for seed in 1..40 {
        for model in [every_joint(seed), random_tree(seed, 3 + seed as usize)] {
            for alike in [false, true] {
                let worst = difference(&model, seed, alike);
                // Round-off times the condition of the mass matrices of these trees.
                assert!(worst < 1e-11, "{seed}: {worst:e}");
            }
        }
    }
}

/// Nodes without bodies, and such as lie where their parents are: what a step is spared there changes nothing.
#[test]
fn hinges_between_hinges_are_like_others() {
    for seed in 1..20 {
        let mut model = random_tree(seed, 12);
        let is_hinge = |joint| matches!(joint, JointType::Revolute | JointType::Ball);
        let has_child: Vec<bool> =
            (0..model.tree.len()).map(|i| model.tree.nodes.iter().any(|node| node.parent == i)).collect();
        let nodes = model.tree.nodes.iter_mut().zip(has_child).enumerate();
        for (i, (node, has_child)) in nodes.filter(|(_, (node, _))| is_hinge(node.joint)) {
            if i % 3 == 0 {
                node.pos = Vec3::ZERO;
            }
            if i % 2 == 0 && has_child {
                node.inertia = RigidInertia::ZERO;
            }
        }
        let worst = difference(&model, seed, false);
        assert!(worst < 1e-11, "{seed}: {worst:e}");
    }
}

#[test]
fn angles_may_be_large() {
    let model = every_joint(3);
    let tree = &model.tree;
    let (mut q, v) = state(&model, 5);
    for node in tree.nodes.iter().filter(|node| node.joint == JointType::Revolute) {
        q[node.q] += 3e7;
    }
    let (mut kin, mut expected) = (Kinematics::new(tree), Kinematics::new(tree));
    FreeStep::new(tree).place(tree, &q, &v, Vec3::ZERO, 1.0, &mut kin);
    forward_kinematics(tree, tree.all(), &q, &mut expected);
    velocities(tree, tree.all(), &v, &mut expected);
    assert!(relative(&placements(&kin), &placements(&expected)) < 1e-13);
}
