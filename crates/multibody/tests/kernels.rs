//! The fused kernels against the factor and inverse dynamics, and lanes against scalars.

use sapwood_multibody::kernels::{Arguments, Impedance, KernelReal, LimbDynamics, NodeDynamics, PackedTree};
use sapwood_multibody::{
    Factor, JointImpedance, Kinematics, Model, Node, RneaWorkspace, forward_kinematics, rnea, velocities,
};
use spatial::{F32x8, F32x16, F64x4, F64x8, Vec3};
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

const GRAVITY: [f64; 3] = [0.3, -0.2, -9.81];

fn model() -> Model {
    formats::load_str(MENAGERIE, None, &formats::LoadOptions::default()).unwrap().model
}

struct Case {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

fn case(model: &Model, random: &mut SplitMix64) -> Case {
    let mut q = model.q0.clone();
    sapwood_multibody::integrate(&model.tree, &mut q, &random.vector(model.nv(), 2.0), 1.0);
    Case { q, v: random.vector(model.nv(), 3.0), tau: random.vector(model.nv(), 20.0) }
}

fn kernel<T: KernelReal<Scalar = T> + PartialEq>(model: &Model, case: &Case, impedance: Option<&[f64]>) -> Vec<T> {
    let tree = PackedTree::new(&model.tree);
    let cast = |x: &[f64]| x.iter().map(|x| T::from_f64(*x)).collect::<Vec<T>>();
    let (q, v, tau, lambda) = (cast(&case.q), cast(&case.v), cast(&case.tau), impedance.map(cast));
    let arguments = Arguments {
        q: &q,
        v: &v,
        tau: &tau,
        impedance: lambda.as_ref().map(|diagonal| Impedance { diagonal, uniform: tree.is_uniform(diagonal) }),
        gravity: Vec3::from(GRAVITY.map(T::from_f64)),
    };
    let mut out = vec![T::ZERO; model.nv()];
    T::forward_dynamics(&mut T::work(&tree), &tree, &arguments, &mut out);
    out
}

/// The same by placements, bias force and the factor, each on its own.
fn separate(model: &Model, case: &Case, impedance: &[f64]) -> (Kinematics<f64>, Vec<f64>) {
    let (tree, all) = (&model.tree, model.tree.all());
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, all.clone(), &case.q, &mut kin);
    velocities(tree, all.clone(), &case.v, &mut kin);
    let mut bias = vec![0.0; tree.nv];
    rnea(tree, all.clone(), &kin, &case.v, None, GRAVITY.into(), &mut RneaWorkspace::new(tree), &mut bias);
    let mut joints = JointImpedance::new(tree);
    joints.diagonal.copy_from_slice(impedance);
    let mut factor = Factor::new(tree);
    factor.factor(tree, all.clone(), &kin, &joints, None);
    let right: Vec<f64> = case.tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
    let mut acceleration = vec![0.0; tree.nv];
    factor.solve(tree, all, &kin, &right, None, &mut acceleration);
    (kin, acceleration)
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    assert!(a.iter().chain(b).all(|x| x.is_finite()), "{a:?} {b:?}");
    let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

#[test]
fn inverse_dynamics_gives_the_forces_back() {
    let (model, mut random) = (model(), SplitMix64(1));
    for _ in 0..50 {
        let case = case(&model, &mut random);
        let acceleration = kernel::<f64>(&model, &case, None);
        let (kin, _) = separate(&model, &case, &vec![0.0; model.nv()]);
        let mut tau = vec![0.0; model.nv()];
        let mut ws = RneaWorkspace::new(&model.tree);
        rnea(&model.tree, model.tree.all(), &kin, &case.v, Some(&acceleration), GRAVITY.into(), &mut ws, &mut tau);
        assert!(relative(&tau, &case.tau) < 1e-12, "{:e}", relative(&tau, &case.tau));
    }
}

#[test]
fn impedances_up_to_a_million_agree_with_the_factor() {
    let (model, mut random) = (model(), SplitMix64(2));
    for size in [0.0, 1e-3, 1.0, 1e3, 1e6] {
        for _ in 0..20 {
            let case = case(&model, &mut random);
            let impedance: Vec<f64> = random.vector(model.nv(), size).into_iter().map(f64::abs).collect();
            let acceleration = kernel::<f64>(&model, &case, Some(&impedance));
            let expected = separate(&model, &case, &impedance).1;
            assert!(relative(&acceleration, &expected) < 1e-11, "{size:e}: {:e}", relative(&acceleration, &expected));
            let single: Vec<f64> = kernel::<f32>(&model, &case, Some(&impedance)).into_iter().map(f64::from).collect();
            assert!(relative(&single, &expected) < 2e-3, "f32, {size:e}: {:e}", relative(&single, &expected));
        }
    }
}

#[test]
fn impedances_alike_about_all_axes_keep_as_many_digits() {
    let (model, mut random) = (model(), SplitMix64(6));
    let (mut limbs, mut nodes) = (LimbDynamics::<F64x4>::new(&model.tree), NodeDynamics::new(&model.tree));
    for size in [0.0, 1e-9, 1e-3, 1.0, 1e3, 1e6] {
        for _ in 0..20 {
            let case = case(&model, &mut random);
            let mut impedance: Vec<f64> = random.vector(model.nv(), size).into_iter().map(f64::abs).collect();
            for first in model.tree.nodes.iter().filter_map(Node::rotation) {
                let alike = impedance[first];
                impedance[first..first + 3].fill(alike);
            }
            let expected = separate(&model, &case, &impedance).1;
            let error = relative(&kernel::<f64>(&model, &case, Some(&impedance)), &expected);
            assert!(error < 1e-12, "{size:e}: {error:e}");
            let mut found = vec![f64::NAN; model.nv()];
            let impedance = Some(Impedance { diagonal: &impedance[..], uniform: true });
            let gravity = Vec3::from(GRAVITY);
            let arguments = Arguments { q: &case.q, v: &case.v, tau: &case.tau, impedance, gravity };
            limbs.forward_dynamics(&arguments, &mut found);
            assert!(relative(&found, &expected) < 1e-12, "limbs, {size:e}: {:e}", relative(&found, &expected));
            found.fill(f64::NAN);
            nodes.forward_dynamics(&arguments, &mut found);
            assert!(relative(&found, &expected) < 1e-12, "nodes, {size:e}: {:e}", relative(&found, &expected));
        }
    }
}

/// A world in every lane of `T` against the scalar, bit by bit.
fn lanes_equal_scalars<S, T>()
where
    S: KernelReal<Scalar = S> + PartialEq,
    T: KernelReal<Scalar = S>,
{
    if !T::is_available() {
        println!("not on this processor");
        return;
    }
    let (model, mut random) = (model(), SplitMix64(3));
    let tree = PackedTree::new(&model.tree);
    let cases: Vec<Case> = (0..T::LANES).map(|_| case(&model, &mut random)).collect();
    let impedance: Vec<f64> = random.vector(model.nv(), 50.0).into_iter().map(f64::abs).collect();
    let lanes = |of: fn(&Case) -> &[f64]| {
        let mut lanes = vec![T::ZERO; of(&cases[0]).len()];
        for (k, case) in cases.iter().enumerate() {
            lanes.iter_mut().zip(of(case)).for_each(|(lanes, x)| lanes.set_lane(k, S::from_f64(*x)));
        }
        lanes
    };
    let (q, v, tau) = (lanes(|c| &c.q), lanes(|c| &c.v), lanes(|c| &c.tau));
    let diagonal: Vec<T> = impedance.iter().map(|x| T::from_f64(*x)).collect();
    for is_impeded in [false, true] {
        let impedance = is_impeded.then_some(&impedance[..]);
        let of_lanes = is_impeded.then_some(Impedance { diagonal: &diagonal[..], uniform: false });
        let gravity = Vec3::from(GRAVITY.map(T::from_f64));
        let arguments = Arguments { q: &q, v: &v, tau: &tau, impedance: of_lanes, gravity };
        let mut found = vec![T::ZERO; model.nv()];
        T::forward_dynamics(&mut T::work(&tree), &tree, &arguments, &mut found);
        for (k, case) in cases.iter().enumerate() {
            let found: Vec<S> = found.iter().map(|x| x.lane(k)).collect();
            assert!(found == kernel::<S>(&model, case, impedance), "world {k}");
        }
    }
}

#[test]
fn every_lane_is_a_scalar_of_its_own() {
    lanes_equal_scalars::<f64, F64x4>();
    lanes_equal_scalars::<f64, F64x8>();
    lanes_equal_scalars::<f32, F32x8>();
    lanes_equal_scalars::<f32, F32x16>();
}

#[test]
fn free_flight_keeps_energy_and_momentum() {
    let (model, mut random) = (model(), SplitMix64(4));
    let tree = model.tree.part(0);
    let packed = PackedTree::<f64>::new(&tree);
    let mut work = f64::work(&packed);
    let mut q = model.q0[..tree.nq].to_vec();
    sapwood_multibody::integrate(&tree, &mut q, &random.vector(tree.nv, 0.5), 1.0);
    let mut v = random.vector(tree.nv, 1.0);
    let tau = vec![0.0; tree.nv];
    let mut acceleration = |q: &[f64], v: &[f64]| {
        let mut out = vec![0.0; v.len()];
        let arguments = Arguments { q, v, tau: &tau, impedance: None, gravity: Vec3::ZERO };
        f64::forward_dynamics(&mut work, &packed, &arguments, &mut out);
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
