//! Products and solutions about a common point against the recursions from node to node.

mod common;

use common::{Random, random_tree, state};
use multibody::{
    CommonPoint, CrbaWorkspace, Factor, JointImpedance, Kinematics, Model, Rows, Supports, forward_kinematics,
    mass_matrix, velocities,
};
use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Wrench};

const STRIDE: usize = 64;

/// A forest of 12 bodies in motion, and it about a common point.
struct Case {
    model: Model,
    v: Vec<f64>,
    kin: Kinematics<f64>,
    about: CommonPoint,
    random: Random,
}

impl Case {
    fn new(seed: u64) -> Self {
        let model = random_tree(seed, 12);
        let (q, v) = state(&model, seed + 50);
        let mut kin = Kinematics::new(&model.tree);
        forward_kinematics(&model.tree, model.tree.all(), &q, &mut kin);
        velocities(&model.tree, model.tree.all(), &v, &mut kin);
        let mut about = CommonPoint::default();
        about.place(&model.tree, &kin);
        Self { model, v, kin, about, random: Random(seed + 500) }
    }

    /// Three forces at a point of a node: as wrenches about the node's origin, and as rows.
    fn push(&mut self, node: usize) -> ([Wrench<f64>; 3], Rows) {
        let arm = self.random.vec3();
        let forces = [0; 3].map(|_| self.random.vec3());
        let wrenches = forces.map(|lin| Wrench { ang: arm.cross(lin), lin });
        (wrenches, wrenches.map(|w| self.about.wrench(w, self.kin.frames[node].pos)))
    }

    /// A contact with the world on every third node: impedances of the nodes, also given to the sum of composites.
    fn impedances(&mut self) -> Vec<ArticulatedInertia<f64>> {
        let mut impedances = vec![ArticulatedInertia::ZERO; self.model.tree.len()];
        self.about.start_composites();
        for node in (0..impedances.len()).step_by(3) {
            let (wrenches, rows) = self.push(node);
            let g = [3.0, 0.5, -0.2, 2.0, 0.1, 40.0];
            self.about.add_impedance(node, &rows, &g);
            let matrix = [[g[0], g[1], g[2]], [g[1], g[3], g[4]], [g[2], g[4], g[5]]];
            for (w, row) in wrenches.iter().zip(matrix) {
                let sum = wrenches.iter().zip(row).fold(Wrench::ZERO, |sum, (w, g)| sum + *w * g);
                impedances[node] += ArticulatedInertia {
                    a: Sym3::lower(Mat3::outer(w.ang, sum.ang)),
                    b: Mat3::outer(w.ang, sum.lin),
                    c: Sym3::lower(Mat3::outer(w.lin, sum.lin)),
                };
            }
        }
        impedances
    }

    /// M + Σ Jᵀ Ĝ J by the recursion from node to node.
    fn matrix(&self, impedances: &[ArticulatedInertia<f64>]) -> Vec<f64> {
        let (tree, nv) = (&self.model.tree, self.model.nv());
        let mut m = vec![0.0; nv * nv];
        mass_matrix(tree, tree.all(), &self.kin, Some(impedances), &mut CrbaWorkspace::new(tree), &mut m, nv, 0);
        m
    }
}

fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn velocities_of_points_are_those_of_the_nodes() {
    for seed in 1..20 {
        let mut case = Case::new(seed);
        case.about.propagate(&case.v);
        for node in 0..case.model.tree.len() {
            let (wrenches, rows) = case.push(node);
            for (wrench, row) in wrenches.iter().zip(&rows) {
                let error = (case.about.velocity(node, row) - case.kin.twists[node].dot(*wrench)).abs();
                assert!(error < 1e-12, "seed {seed}, node {node}: {error}");
            }
        }
    }
}

#[test]
fn products_are_those_from_node_to_node() {
    for seed in 1..20 {
        let mut case = Case::new(seed);
        let (tree, nv) = (&case.model.tree, case.model.nv());
        let mut expected = vec![0.0; nv];
        let (mut motions, mut momenta) = (vec![Twist::ZERO; tree.len()], vec![Wrench::ZERO; tree.len()]);
        let none = JointImpedance::new(tree);
        multibody::apply(tree, tree.all(), &case.kin, &none, &case.v, &mut motions, &mut momenta, &mut expected);
        let mut momentum = vec![0.0; nv];
        case.about.propagate(&case.v);
        case.about.set_momenta();
        case.about.add_generalized_forces(&mut momentum);
        let error = max_difference(&momentum, &expected);
        assert!(error < 1e-11, "seed {seed}: {error}");

        let x = [0.3, -2.0, 1.1];
        let (wrenches, rows) = case.push(7);
        let mut forces = vec![Wrench::ZERO; case.model.tree.len()];
        forces[7] = wrenches.iter().zip(x).fold(Wrench::ZERO, |sum, (w, x)| sum + *w * x);
        let (mut expected, mut force) = (vec![0.0; nv], vec![0.0; nv]);
        let tree = &case.model.tree;
        multibody::add_generalized_forces(tree, tree.all(), &case.kin, &mut forces, &mut expected);
        case.about.clear_wrenches();
        case.about.add_wrench(7, &rows, x);
        case.about.add_generalized_forces(&mut force);
        let error = max_difference(&force, &expected);
        assert!(error < 1e-12, "seed {seed}: {error}");
    }
}

#[test]
fn composites_and_rows_are_written_out() {
    for seed in 1..20 {
        let mut case = Case::new(seed);
        let impedances = case.impedances();
        let (expected, nv) = (case.matrix(&impedances), case.model.nv());
        let supports = Supports::new(&case.model.tree);
        let mut h = vec![f64::NAN; nv * STRIDE];
        case.about.write_composites(&supports, &mut h, STRIDE);
        for i in 0..nv {
            let error = max_difference(&h[i * STRIDE..=i * STRIDE + i], &expected[i * nv..]);
            assert!(error < 1e-11, "seed {seed}, row {i}: {error}");
        }
        let (_, rows) = case.push(9);
        let mut j = vec![0.0; 3 * STRIDE];
        case.about.add_rows((9, &rows), &supports, &mut j, STRIDE);
        case.about.propagate(&case.v);
        for (k, row) in rows.iter().enumerate() {
            let along: f64 = j[k * STRIDE..].iter().zip(&case.v).map(|(j, v)| j * v).sum();
            assert!((along - case.about.velocity(9, row)).abs() < 1e-12, "seed {seed}");
        }
    }
}

#[test]
fn elimination_solves_what_the_factor_solves() {
    for seed in 1..20 {
        let mut case = Case::new(seed);
        let impedances = case.impedances();
        let (tree, nv) = (&case.model.tree, case.model.nv());
        let mut joints = JointImpedance::new(tree);
        joints.diagonal.iter_mut().for_each(|d| *d = case.random.unit().abs());
        let b: Vec<f64> = (0..nv).map(|_| case.random.unit()).collect();
        let (mut expected, mut x) = (vec![0.0; nv], vec![0.0; nv]);
        let mut factor = Factor::new(tree);
        factor.factor(tree, tree.all(), &case.kin, &joints, Some(&impedances));
        factor.solve(tree, tree.all(), &case.kin, &b, None, &mut expected);
        case.about.factor(&joints.diagonal).unwrap();
        case.about.solve(&b, &mut x);
        let error = max_difference(&x, &expected);
        assert!(error < 1e-11, "seed {seed}: {error}");
    }
}

#[test]
fn what_is_not_positive_definite_is_refused() {
    let mut case = Case::new(3);
    let mut lambda = vec![0.0; case.model.nv()];
    lambda[5] = -1e9;
    case.about.start_composites();
    assert_eq!(case.about.factor(&lambda), Err(5));
    lambda[5] = f64::NAN;
    case.about.start_composites();
    assert_eq!(case.about.factor(&lambda), Err(5));
}
