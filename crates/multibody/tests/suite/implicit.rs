//! The derivative of an implicit step: its recursion against finite differences.

use sapwood_multibody::{
    ImplicitFactor, JointDerivative, Kinematics, Rates, Retraction, RneaWorkspace, Tree, Whole, forward_kinematics,
    logarithm_tangent, rnea, velocities,
};
use spatial::{Mat3, Quat, RigidInertia, Sym3, Vec3, Wrench};

use crate::common;

const GRAVITY: Vec3<f64> = Vec3::new(0.3, -0.2, -9.81);

/// A step from (q₀, v₀) with θ_q, θ_v, θ_vq.
struct Step<'a> {
    tree: &'a Tree<f64>,
    q0: Vec<f64>,
    v0: Vec<f64>,
    dt: f64,
    thetas: [f64; 3],
    retraction: Retraction,
}

impl Step<'_> {
    fn blend(&self, v: &[f64], theta: f64) -> Vec<f64> {
        v.iter().zip(&self.v0).map(|(v, v0)| theta * v + (1.0 - theta) * v0).collect()
    }

    /// Positions, velocities and accelerations of the step.
    fn place(&self, v: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let [theta_q, theta_v, theta_vq] = self.thetas;
        let mut q = self.q0.clone();
        self.retraction.advance(self.tree, &mut q, &self.blend(v, theta_vq), self.dt, theta_q);
        let a = v.iter().zip(&self.v0).map(|(v, v0)| (v - v0) / self.dt).collect();
        (q, self.blend(v, theta_v), a)
    }

    fn force(&self, v: &[f64]) -> Vec<f64> {
        let (q, v_bar, a) = self.place(v);
        let mut kin = Kinematics::new(self.tree);
        forward_kinematics(self.tree, self.tree.all(), &q, &mut kin);
        velocities(self.tree, self.tree.all(), &v_bar, &mut kin);
        let mut tau = vec![0.0; self.tree.nv];
        let mut ws = RneaWorkspace::new(self.tree);
        rnea(self.tree, self.tree.all(), &kin, &v_bar, Some(&a), GRAVITY, &mut ws, &mut tau);
        tau
    }

    fn turns(&self, v: &[f64]) -> Vec<Mat3<f64>> {
        let [theta_q, _, theta_vq] = self.thetas;
        let u = self.blend(v, theta_vq);
        let turn = |node: &sapwood_multibody::Node<f64>| {
            let Some(first) = node.rotation() else { return Mat3::IDENTITY };
            let u = Vec3::new(u[first], u[first + 1], u[first + 2]) * self.dt;
            self.retraction.tangent(u, theta_q) * (self.dt * theta_vq)
        };
        self.tree.nodes.iter().map(turn).collect()
    }
}

#[test]
fn the_recursion_inverts_the_derivative_of_inverse_dynamics() {
    for (seed, thetas) in [(1, [0.5; 3]), (2, [1.0; 3]), (3, [0.0, 1.0, 1.0]), (4, [0.3, 0.7, 0.9])] {
        for retraction in [Retraction::Exponential, Retraction::Cayley] {
            let model = common::every_joint(seed);
            let (q0, v0) = common::state(&model, seed + 10);
            for k in 0..model.tree.trees.len() {
                let tree = model.tree.part(k);
                let first_q = model.tree.nodes[model.tree.trees[k].start].q;
                let dofs = model.tree.dofs[k].clone();
                let v0 = v0[dofs].to_vec();
                let q0 = q0[first_q..first_q + tree.nq].to_vec();
                check(&Step { tree: &tree, q0, v0, dt: 0.02, thetas, retraction });
            }
        }
    }
}

/// Up to eight joints with one degree of freedom each, in a chain and with limbs, are written out.
#[test]
fn few_joints_are_factored_as_many_are() {
    let link = |joint: &str, inner: &str| {
        format!(
            r#"<body pos=".1 .2 .3" quat="1 .2 .1 -.3"><joint {joint}/>
            <geom type="box" size=".2 .1 .05" pos=".1 .02 -.05" quat="1 .3 .2 .1" mass="1.3"/>{inner}</body>"#
        )
    };
    let (hinge, slide) = (r#"axis=".3 1 .2""#, r#"type="slide" axis="1 .2 .1""#);
    let chain = |n: usize| (0..n).fold(String::new(), |inner, k| link([hinge, slide][k % 3 / 2], &inner));
    let limbs = link(hinge, &format!("{}{}", chain(3), link(slide, &chain(2))));
    for (seed, body) in [chain(1), chain(4), chain(7), chain(8), chain(9), limbs].into_iter().enumerate() {
        let text = format!("<mujoco><worldbody>{body}</worldbody></mujoco>");
        let model = formats::load_str(&text, None, &formats::LoadOptions::default()).unwrap().model;
        let (q0, v0) = common::state(&model, seed as u64);
        check(&Step { tree: &model.tree, q0, v0, dt: 0.02, thetas: [0.5; 3], retraction: Retraction::Cayley });
    }
}

#[test]
fn a_tree_is_one_body() {
    let model = common::every_joint(5);
    let (q, v) = common::state(&model, 6);
    for k in 0..model.tree.trees.len() {
        let tree = model.tree.part(k);
        let (first_q, dofs) = (model.tree.nodes[model.tree.trees[k].start].q, model.tree.dofs[k].clone());
        let (q, v) = (&q[first_q..first_q + tree.nq], &v[dofs]);
        let mut kin = Kinematics::new(&tree);
        forward_kinematics(&tree, tree.all(), q, &mut kin);
        velocities(&tree, tree.all(), v, &mut kin);
        let origin = Vec3::new(0.2, -0.3, 0.5);
        let (mut momentum, mut kinetic) = (Wrench::ZERO, 0.0);
        let (mut moment, mut rotation) = (Vec3::ZERO, Sym3::ZERO);
        for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
            let (h, arm) = (frame.inertia.momentum(*twist), frame.pos - origin);
            momentum += h.shifted_back(arm);
            kinetic += 0.5 * twist.dot(h);
            let body = RigidInertia { com: frame.inertia.com + arm, ..frame.inertia };
            moment += body.com * body.mass;
            rotation += body.articulated().a;
        }
        let whole = Whole::of(&kin, origin);
        let apart = (whole.momentum.ang - momentum.ang).norm() + (whole.momentum.lin - momentum.lin).norm();
        assert!(apart < 1e-12 && (whole.kinetic - kinetic).abs() < 1e-12 && (whole.moment - moment).norm() < 1e-12);
        let turned = Vec3::new(1.0, 0.7, -0.4);
        assert!((whole.rotation * turned - rotation * turned).norm() < 1e-12);
    }
}

fn check(step: &Step<'_>) {
    let tree = step.tree;
    let nv = tree.nv;
    let v: Vec<f64> = step.v0.iter().enumerate().map(|(k, v)| v + 0.3 * (k as f64).sin()).collect();
    let diagonal: Vec<f64> = (0..nv).map(|k| 0.1 + 0.05 * k as f64).collect();
    let block = Mat3::from_columns(Vec3::new(0.1, 0.2, 0.3), Vec3::new(-0.2, 0.4, 0.1), Vec3::new(0.0, 0.3, 0.2));
    let (q, v_bar, a) = step.place(&v);
    let rates = Rates {
        position: step.dt * step.thetas[0] * step.thetas[2],
        velocity: step.thetas[1],
        acceleration: 1.0 / step.dt,
    };
    let mut factor = ImplicitFactor::new(tree);
    let blocks = vec![block; tree.len()];
    let mut tau = vec![0.0; nv];
    let (mut kin, mut expected) = (Kinematics::new(tree), Kinematics::new(tree));
    factor.inverse_dynamics(tree, &q, &v_bar, &a, GRAVITY, &mut kin, &mut tau);
    forward_kinematics(tree, tree.all(), &q, &mut expected);
    for (frame, expected) in kin.frames.iter().zip(&expected.frames) {
        assert!((frame.pos - expected.pos).norm() < 1e-13 && (frame.axis - expected.axis).norm() < 1e-13);
    }
    for (tau, rnea) in tau.iter().zip(step.force(&v)) {
        assert!((tau - rnea).abs() < 1e-12 * (1.0 + rnea.abs()), "{tau} {rnea}");
    }
    let r: Vec<f64> = (0..nv).map(|k| (1.0 + k as f64).cos()).collect();
    let (mut x, mut again) = (vec![0.0; nv], vec![0.0; nv]);
    let joints = JointDerivative { diagonal: &diagonal, blocks: &blocks, turns: &step.turns(&v) };
    factor.factor(rates, joints, &r, &mut x);
    factor.solve(&r, &mut again);
    for (x, again) in x.iter().zip(&again) {
        assert!((x - again).abs() < 1e-12 * (1.0 + x.abs()), "{x} {again}");
    }
    // (∂τ/∂v + d) x by a central difference along x.
    let scale = 1e-5 / x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let at = |s: f64| step.force(&v.iter().zip(&x).map(|(v, x)| v + s * x).collect::<Vec<_>>());
    let (plus, minus) = (at(scale), at(-scale));
    let mut product: Vec<f64> = plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * scale)).collect();
    for k in 0..nv {
        product[k] += diagonal[k] * x[k];
    }
    for node in &tree.nodes {
        let Some(first) = node.rotation() else { continue };
        let y = block * Vec3::new(x[first], x[first + 1], x[first + 2]);
        for (p, y) in product[first..].iter_mut().zip(y.to_array()) {
            *p += y;
        }
    }
    for (p, r) in product.iter().zip(&r) {
        assert!((p - r).abs() < 1e-7, "{p} {r} in {product:?}, thetas {:?}", step.thetas);
    }
}

#[test]
fn tangents_of_rotations_are_their_differences() {
    let of = |q: &[f64]| Quat::new(q[0], q[1], q[2], q[3]);
    let model = formats::load_str(
        r#"<mujoco><worldbody><body><joint type="ball"/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"#,
        None,
        &formats::LoadOptions::default(),
    )
    .unwrap()
    .model;
    for u in [Vec3::new(1e-5, 2e-5, -1e-5), Vec3::new(0.4, -0.3, 0.7), Vec3::new(1.5, 1.0, -1.2)] {
        for retraction in [Retraction::Exponential, Retraction::Cayley] {
            for fraction in [0.3, 0.5, 1.0] {
                let at = |u: Vec3<f64>| {
                    let mut q = model.q0.clone();
                    retraction.advance(&model.tree, &mut q, &u.to_array(), 1.0, fraction);
                    of(&q)
                };
                let tangent = retraction.tangent(u, fraction);
                let delta = Vec3::new(0.3, 0.5, -0.4);
                let h = 1e-5;
                let turned = (at(u + delta * -h).conjugate() * at(u + delta * h)).rotation_vector() * (0.5 / h);
                assert!((turned - tangent * delta).norm() < 1e-9, "{retraction:?} {turned:?} {:?}", tangent * delta);
            }
        }
        let start = Quat::from_rotation_vector(u);
        let (delta, h) = (Vec3::new(0.3, 0.5, -0.4), 1e-5);
        let log = |h: f64| (start * Quat::from_rotation_vector(delta * h)).rotation_vector();
        let change = (log(h) - log(-h)) * (0.5 / h);
        assert!((change - logarithm_tangent(u) * delta).norm() < 1e-9);
    }
}

#[test]
fn half_a_step_is_half_the_rotation() {
    let model = common::every_joint(5);
    let (q0, v) = common::state(&model, 6);
    for retraction in [Retraction::Exponential, Retraction::Cayley] {
        let (mut middle, mut end) = (q0.clone(), q0.clone());
        retraction.advance(&model.tree, &mut middle, &v, 0.3, 0.5);
        retraction.advance(&model.tree, &mut end, &v, 0.3, 1.0);
        let mut back = end;
        retraction.advance(&model.tree, &mut back, &v, -0.3, 0.5);
        let mut gap = vec![0.0; model.nv()];
        sapwood_multibody::difference(&model.tree, &middle, &back, &mut gap);
        assert!(gap.iter().all(|x| x.abs() < 1e-13), "{gap:?}");
    }
}
