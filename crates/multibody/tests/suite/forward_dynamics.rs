//! Forward dynamics against inverse dynamics, the mass matrix and the factor.

use crate::common::{every_joint, random_tree, state};
use models::characters::{self, Character, Options};
use sapwood_multibody::{
    CrbaWorkspace, DynamicsInput, Factor, ForwardDynamics, JointImpedance, Kinematics, Model, ModelBuilder, NO_PARENT,
    Node, RneaWorkspace, forward_kinematics, mass_matrix, rnea, velocities,
};
use spatial::Vec3;
use support::SplitMix64;

/// A tree with every joint type, branches at several depths, turned frames, and a second tree.
const MENAGERIE: &str = r#"
<mujoco>
  <worldbody>
    <body name="torso" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".02 0 .1"/>
      <body name="a" pos=".1 0 .2" euler="20 30 -40"><joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 .3 .1 0"/>
        <body name="b" pos=".3 .1 0"><joint axis="1 2 3"/><geom type="sphere" size=".08" pos=".1 0 0"/>
          <body name="c" pos=".2 0 0" quat=".5 .5 -.5 .5"><joint type="ball"/><geom type="box" size=".1 .05 .02" pos="0 .1 0"/></body>
          <body name="d" pos="0 .2 0"><joint type="slide" axis="0 1 1"/><geom type="sphere" size=".06"/></body>
        </body>
        <body name="e" pos="0 0 .2"><joint axis="0 1 0"/><joint axis="0 0 1" pos=".1 0 0"/><geom type="sphere" size=".07" pos="0 .1 0"/></body>
      </body>
      <body name="f" pos="-.1 0 -.2" euler="0 90 0"><joint type="slide" axis="1 0 0"/><geom type="sphere" size=".07" pos="0 .1 0"/>
        <body name="g" pos="0 0 .2"><joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 .3 .1 0"/></body>
      </body>
    </body>
    <body name="pendulum" pos="2 0 1"><joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 .3 .1 0"/>
      <body name="tip" pos=".3 .1 0"><joint axis="0 1 0" ref="30"/><geom type="sphere" size=".1" pos="0 0 -.2"/></body>
    </body>
  </worldbody>
</mujoco>"#;

const GRAVITY: Vec3<f64> = Vec3::new(0.3, -0.2, -9.81);

fn load(text: &str) -> Model {
    formats::load_str(text, None, &formats::LoadOptions::default()).unwrap().model
}

struct Case {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

impl Case {
    fn new(model: &Model, random: &mut SplitMix64) -> Self {
        let mut q = model.q0.clone();
        sapwood_multibody::integrate(&model.tree, &mut q, &random.vector(model.nv(), 2.0), 1.0);
        Self { q, v: random.vector(model.nv(), 3.0), tau: random.vector(model.nv(), 20.0) }
    }

    fn with<'a>(&'a self, impedance: &'a [f64]) -> DynamicsInput<'a> {
        DynamicsInput { q: &self.q, v: &self.v, tau: &self.tau, impedance, gravity: GRAVITY }
    }

    fn kinematics(&self, model: &Model) -> Kinematics<f64> {
        let (tree, all) = (&model.tree, model.tree.all());
        let mut kin = Kinematics::new(tree);
        forward_kinematics(tree, all.clone(), &self.q, &mut kin);
        velocities(tree, all, &self.v, &mut kin);
        kin
    }

    /// M a + C, or C alone.
    fn inverse_dynamics(&self, model: &Model, kin: &Kinematics<f64>, a: Option<&[f64]>) -> Vec<f64> {
        let (tree, mut tau) = (&model.tree, vec![0.0; model.nv()]);
        rnea(tree, tree.all(), kin, &self.v, a, GRAVITY, &mut RneaWorkspace::new(tree), &mut tau);
        tau
    }
}

fn accelerate(model: &Model, input: &DynamicsInput<'_>) -> Vec<f64> {
    let mut out = vec![f64::NAN; model.nv()];
    ForwardDynamics::new(&model.tree).solve(&model.tree, input, &mut out);
    out
}

/// The same by placements, bias force and the factor, each on its own.
fn separate(model: &Model, case: &Case, impedance: &[f64]) -> Vec<f64> {
    let (tree, all, kin) = (&model.tree, model.tree.all(), case.kinematics(model));
    let bias = case.inverse_dynamics(model, &kin, None);
    let mut joints = JointImpedance::new(tree);
    joints.diagonal.copy_from_slice(impedance);
    let mut factor = Factor::new(tree);
    factor.factor(tree, all.clone(), &kin, &joints, None);
    let right: Vec<f64> = case.tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
    let mut acceleration = vec![0.0; tree.nv];
    factor.solve(tree, all, &kin, &right, None, &mut acceleration);
    acceleration
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    assert!(a.iter().chain(b).all(|x| x.is_finite()), "{a:?} {b:?}");
    let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

#[test]
fn inverse_dynamics_gives_the_forces_back() {
    let (model, mut random) = (load(MENAGERIE), SplitMix64(1));
    for _ in 0..50 {
        let case = Case::new(&model, &mut random);
        let acceleration = accelerate(&model, &case.with(&vec![0.0; model.nv()]));
        let tau = case.inverse_dynamics(&model, &case.kinematics(&model), Some(&acceleration));
        assert!(relative(&tau, &case.tau) < 1e-12, "{:e}", relative(&tau, &case.tau));
    }
}

/// What is missing of the forces, relative to them and to the bias. Mass matrices of the snakes have condition numbers of 1e7.
#[test]
fn characters_and_random_trees_have_the_forces_back() {
    let mut models: Vec<_> = Character::ALL.map(|c| load(&characters::mjcf(c, &Options::default()))).into();
    models.extend((1..40).map(every_joint));
    models.extend((1..60).map(|seed| random_tree(seed, 3 + seed as usize)));
    let mut random = SplitMix64(7);
    for model in &models {
        for _ in 0..10 {
            let case = Case::new(model, &mut random);
            let acceleration = accelerate(model, &case.with(&vec![0.0; model.nv()]));
            let kin = case.kinematics(model);
            let (bias, tau) =
                (case.inverse_dynamics(model, &kin, None), case.inverse_dynamics(model, &kin, Some(&acceleration)));
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let missing: Vec<f64> = tau.iter().zip(&case.tau).map(|(a, b)| a - b).collect();
            let error = largest(&missing) / (largest(&case.tau) + largest(&bias));
            let tolerance = if model.name.starts_with("snake") { 1e-10 } else { 1e-12 };
            assert!(error < tolerance, "{}: {error:e}", model.name);
        }
    }
}

#[test]
fn the_mass_matrix_gives_the_forces_back() {
    let (model, mut random) = (load(MENAGERIE), SplitMix64(5));
    let (tree, nv) = (&model.tree, model.nv());
    for _ in 0..50 {
        let case = Case::new(&model, &mut random);
        let impedance: Vec<f64> = random.vector(nv, 1.0).into_iter().map(f64::abs).collect();
        let a = accelerate(&model, &case.with(&impedance));
        let kin = case.kinematics(&model);
        let mut m = vec![0.0; nv * nv];
        mass_matrix(tree, tree.all(), &kin, None, &mut CrbaWorkspace::new(tree), &mut m, nv, 0);
        let bias = case.inverse_dynamics(&model, &kin, None);
        let row = |i: usize| m[i * nv..(i + 1) * nv].iter().zip(&a).map(|(m, a)| m * a).sum::<f64>();
        let tau: Vec<f64> = (0..nv).map(|i| row(i) + impedance[i] * a[i] + bias[i]).collect();
        assert!(relative(&tau, &case.tau) < 1e-12, "{:e}", relative(&tau, &case.tau));
    }
}

#[test]
fn impedances_up_to_a_million_agree_with_the_factor() {
    let (model, mut random) = (load(MENAGERIE), SplitMix64(2));
    for size in [0.0, 1e-3, 1.0, 1e3, 1e6] {
        for _ in 0..20 {
            let case = Case::new(&model, &mut random);
            let impedance: Vec<f64> = random.vector(model.nv(), size).into_iter().map(f64::abs).collect();
            let acceleration = accelerate(&model, &case.with(&impedance));
            let error = relative(&acceleration, &separate(&model, &case, &impedance));
            assert!(error < 1e-11, "{size:e}: {error:e}");
        }
    }
}

#[test]
fn impedances_alike_about_all_axes_keep_as_many_digits() {
    let (model, mut random) = (load(MENAGERIE), SplitMix64(6));
    for size in [0.0, 1e-9, 1e-3, 1.0, 1e3, 1e6] {
        for _ in 0..20 {
            let case = Case::new(&model, &mut random);
            let mut impedance: Vec<f64> = random.vector(model.nv(), size).into_iter().map(f64::abs).collect();
            for first in model.tree.nodes.iter().filter_map(Node::rotation) {
                let alike = impedance[first];
                impedance[first..first + 3].fill(alike);
            }
            let acceleration = accelerate(&model, &case.with(&impedance));
            let error = relative(&acceleration, &separate(&model, &case, &impedance));
            assert!(error < 1e-12, "{size:e}: {error:e}");
        }
    }
}

#[test]
fn free_flight_keeps_energy_and_momentum() {
    let (model, mut random) = (load(MENAGERIE), SplitMix64(4));
    let tree = model.tree.part(0);
    let mut dynamics = ForwardDynamics::new(&tree);
    let mut q = model.q0[..tree.nq].to_vec();
    sapwood_multibody::integrate(&tree, &mut q, &random.vector(tree.nv, 0.5), 1.0);
    let mut v = random.vector(tree.nv, 1.0);
    let zero = vec![0.0; tree.nv];
    let mut acceleration = |q: &[f64], v: &[f64]| {
        let mut out = vec![0.0; v.len()];
        let input = DynamicsInput { q, v, tau: &zero, impedance: &zero, gravity: Vec3::ZERO };
        dynamics.solve(&tree, &input, &mut out);
        out
    };
    let invariants = |q: &[f64], v: &[f64]| {
        let mut kin = Kinematics::new(&tree);
        forward_kinematics(&tree, tree.all(), q, &mut kin);
        velocities(&tree, tree.all(), v, &mut kin);
        let (mut energy, mut linear, mut angular) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
            let momentum = frame.inertia.momentum(*twist);
            energy += 0.5 * twist.dot(momentum);
            linear += momentum.lin;
            angular += momentum.ang + frame.pos.cross(momentum.lin);
        }
        (energy, linear, angular)
    };
    let (energy, linear, angular) = invariants(&q, &v);
    let dt = 1e-3;
    for _ in 0..500 {
        let half: Vec<f64> = v.iter().zip(acceleration(&q, &v)).map(|(v, a)| v + 0.5 * dt * a).collect();
        let mut middle = q.clone();
        sapwood_multibody::integrate(&tree, &mut middle, &v, 0.5 * dt);
        let a = acceleration(&middle, &half);
        sapwood_multibody::integrate(&tree, &mut q, &half, dt);
        v.iter_mut().zip(a).for_each(|(v, a)| *v += dt * a);
    }
    let (energy_then, linear_then, angular_then) = invariants(&q, &v);
    // Second order: 500 steps of 1e-3 leave some 1e-6.
    assert!((energy_then / energy - 1.0).abs() < 1e-5, "{energy} {energy_then}");
    assert!((linear_then - linear).norm() < 1e-5 * linear.norm(), "{linear:?} {linear_then:?}");
    assert!((angular_then - angular).norm() < 1e-5 * angular.norm(), "{angular:?} {angular_then:?}");
}

#[test]
fn no_tree_at_all_has_no_accelerations() {
    let model = ModelBuilder::new("nothing").build().unwrap();
    let input = DynamicsInput { q: &[], v: &[], tau: &[], impedance: &[], gravity: GRAVITY };
    assert!(accelerate(&model, &input).is_empty());
}

/// What is no number stays in its tree.
#[test]
fn a_tree_does_not_see_another() {
    let model = random_tree(17, 30);
    let (q, v) = state(&model, 1);
    let (tau, zero) = (vec![0.5; model.nv()], vec![0.0; model.nv()]);
    let roots: Vec<usize> = (0..model.tree.len()).filter(|i| model.tree.nodes[*i].parent == NO_PARENT).collect();
    let root_of = |mut i: usize| {
        while model.tree.nodes[i].parent != NO_PARENT {
            i = model.tree.nodes[i].parent;
        }
        i
    };
    assert!(roots.len() > 1);
    let run =
        |tau: &[f64]| accelerate(&model, &DynamicsInput { q: &q, v: &v, tau, impedance: &zero, gravity: GRAVITY });
    let (expected, mut broken) = (run(&tau), tau.clone());
    let first = &model.tree.nodes[roots[0]];
    broken[first.v] = f64::NAN;
    let found = run(&broken);
    assert!(found[first.v].is_nan());
    for (i, node) in model.tree.nodes.iter().enumerate().filter(|(i, _)| root_of(*i) != roots[0]) {
        let dofs = node.v..node.v + node.joint.nv();
        assert_eq!(found[dofs.clone()], expected[dofs], "node {i}");
    }
}

#[test]
fn slices_that_are_too_short_are_no_reads_beyond_them() {
    let model = every_joint(3);
    let (q, v) = state(&model, 1);
    let (nq, nv) = (model.nq(), model.nv());
    let lambda = vec![1.0; nv];
    for short in 0..5 {
        let mut n = [nq, nv, nv, nv, nv];
        n[short] -= 1;
        let run = std::panic::catch_unwind(|| {
            let (q, v, tau, impedance) = (&q[..n[0]], &v[..n[1]], &v[..n[2]], &lambda[..n[3]]);
            let input = DynamicsInput { q, v, tau, impedance, gravity: GRAVITY };
            ForwardDynamics::new(&model.tree).solve(&model.tree, &input, &mut vec![0.0; n[4]]);
        });
        assert!(run.is_err(), "{short}");
    }
}
