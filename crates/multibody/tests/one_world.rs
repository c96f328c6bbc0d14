//! One world whose numbers are in lanes, limb by limb and node by node, against the same in scalars.

mod common;

use common::{Random, every_joint, state};
use models::characters::{self, Character, Options};
use sapwood_multibody::kernels::{Arguments, Impedance, KernelReal, LimbDynamics, NodeDynamics, OneWorld, PackedTree};
use sapwood_multibody::{Model, ModelBuilder, NO_PARENT, Tree};
use spatial::{F64x4, Vec3};

/// Forward dynamics of one world, by either kernel.
type Kernel = Box<dyn FnMut(&Arguments<'_, f64>, &mut [f64])>;

fn limbs(tree: &Tree<f64>) -> Kernel {
    let mut limbs = LimbDynamics::<F64x4>::new(tree);
    Box::new(move |arguments, out| limbs.forward_dynamics(arguments, out))
}

fn nodes(tree: &Tree<f64>) -> Kernel {
    let mut nodes = NodeDynamics::new(tree);
    Box::new(move |arguments, out| nodes.forward_dynamics(arguments, out))
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// The largest relative difference of either kernel over random states, without impedance, with one that is alike about all
/// axes, and with another.
fn difference(model: &Model, states: u64) -> f64 {
    let tree = &model.tree;
    let packed = PackedTree::new(tree);
    let (mut work, mut kernels) = (f64::work(&packed), [limbs(tree), nodes(tree)]);
    let mut worst = 0.0_f64;
    for seed in 1..=states {
        let (q, v) = state(model, seed);
        let mut r = Random(seed + 1000);
        let tau: Vec<f64> = v.iter().map(|_| 20.0 * r.unit()).collect();
        let lambda: Vec<f64> = v.iter().map(|_| 30.0 * r.unit().abs()).collect();
        let alike = vec![r.unit().abs() * 100.0; tree.nv];
        let impedances = [
            None,
            Some(Impedance { diagonal: &alike[..], uniform: true }),
            Some(Impedance { diagonal: &lambda[..], uniform: false }),
        ];
        for impedance in impedances {
            let arguments = Arguments { q: &q, v: &v, tau: &tau, impedance, gravity: Vec3::new(0.3, -0.2, -9.81) };
            let mut expected = vec![0.0; tree.nv];
            f64::forward_dynamics(&mut work, &packed, &arguments, &mut expected);
            for kernel in &mut kernels {
                let mut found = vec![f64::NAN; tree.nv];
                kernel(&arguments, &mut found);
                assert!(found.iter().all(|x| x.is_finite()), "{} {seed}: {found:?}", model.name);
                worst = worst.max(relative(&found, &expected));
            }
        }
    }
    worst
}

fn rows(tree: &Tree<f64>) -> usize {
    LimbDynamics::<F64x4>::new(tree).rows()
}

#[test]
fn characters_move_alike() {
    // Sums of children in another order, through condition numbers of 1e7 on the longest snake.
    let cases = [
        (Character::Humanoid, 5, 1e-12),
        (Character::Dog, 7, 1e-12),
        (Character::Snake36, 11, 1e-12),
        (Character::Snake72, 23, 1e-12),
        (Character::Snake195, 64, 1e-9),
    ];
    for (character, rows_expected, tolerance) in cases {
        let text = characters::mjcf(character, &Options::default());
        let model = formats::load_str(&text, None, &formats::LoadOptions::default()).unwrap().model;
        assert_eq!(rows(&model.tree), rows_expected, "{character}");
        let worst = difference(&model, 20);
        assert!(worst < tolerance, "{character}: {worst:e}");
    }
}

#[test]
fn trees_of_every_joint_move_alike() {
    for seed in 1..40 {
        let worst = difference(&every_joint(seed), 5);
        assert!(worst < 1e-11, "{seed}: {worst:e}");
    }
}

#[test]
fn random_trees_move_alike() {
    for seed in 1..60 {
        let model = common::random_tree(seed, 3 + seed as usize);
        let worst = difference(&model, 3);
        assert!(worst < 1e-10, "{seed}: {worst:e}");
    }
}

#[test]
fn a_chain_has_no_limbs() {
    let text = characters::mjcf(Character::Snake36, &Options::default());
    let model = formats::load_str(&text, None, &formats::LoadOptions::default()).unwrap().model;
    assert!(!LimbDynamics::<F64x4>::new(&model.tree).pays());
}

#[test]
fn no_tree_at_all_has_no_accelerations() {
    let model = ModelBuilder::new("nothing").build().unwrap();
    let arguments = Arguments { q: &[], v: &[], tau: &[], impedance: None, gravity: Vec3::ZERO };
    OneWorld::new(&model.tree).forward_dynamics(&arguments, &mut []);
    nodes(&model.tree)(&arguments, &mut []);
}

/// What is no number stays in its tree, though nodes of both are in one row.
#[test]
fn a_tree_does_not_see_another() {
    let model = common::random_tree(17, 30);
    let (q, v) = state(&model, 1);
    let tau = vec![0.5; model.nv()];
    let roots: Vec<usize> = (0..model.tree.len()).filter(|i| model.tree.nodes[*i].parent == NO_PARENT).collect();
    let root_of = |mut i: usize| {
        while model.tree.nodes[i].parent != NO_PARENT {
            i = model.tree.nodes[i].parent;
        }
        i
    };
    assert!(roots.len() > 1);
    for mut kernel in [limbs(&model.tree), nodes(&model.tree)] {
        let mut run = |tau: &[f64]| {
            let arguments = Arguments { q: &q, v: &v, tau, impedance: None, gravity: Vec3::new(0.0, 0.0, -9.81) };
            let mut out = vec![0.0; model.nv()];
            kernel(&arguments, &mut out);
            out
        };
        let expected = run(&tau);
        let mut broken = tau.clone();
        let first = &model.tree.nodes[roots[0]];
        broken[first.v] = f64::NAN;
        let found = run(&broken);
        assert!(found[first.v].is_nan());
        for (i, node) in model.tree.nodes.iter().enumerate().filter(|(i, _)| root_of(*i) != roots[0]) {
            let dofs = node.v..node.v + node.joint.nv();
            assert_eq!(found[dofs.clone()], expected[dofs], "node {i}");
        }
    }
}

#[test]
fn slices_that_are_too_short_are_no_reads_beyond_them() {
    let model = every_joint(3);
    let (q, v) = state(&model, 1);
    let (nq, nv) = (model.nq(), model.nv());
    let lambda = vec![1.0; nv];
    for make in [limbs as fn(&Tree<f64>) -> Kernel, nodes] {
        for short in 0..5 {
            let mut n = [nq, nv, nv, nv, nv];
            n[short] -= 1;
            let mut kernel = make(&model.tree);
            let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let impedance = Some(Impedance { diagonal: &lambda[..n[3]], uniform: true });
                let gravity = Vec3::ZERO;
                let arguments = Arguments { q: &q[..n[0]], v: &v[..n[1]], tau: &v[..n[2]], impedance, gravity };
                kernel(&arguments, &mut vec![0.0; n[4]]);
            }));
            assert!(run.is_err(), "{short}");
        }
    }
}
