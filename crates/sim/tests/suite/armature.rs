//! Armature on joints of several degrees of freedom under the midpoint rule.

use crate::common::{self, run, simulation};
use multibody::{Kinematics, forward_kinematics, velocities};
use sapwood_sim::{Options, Scheme, Simulation};
use spatial::Vec3;

const SPAN: f64 = 0.8;

/// A root with `joint`, and on it a hinge and a ball joint with armature `inner`; nothing touches.
fn limb(joint: &str, inner: f64) -> String {
    format!(
        r#"<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody><body>{joint}
        <geom type="box" size=".3 .1 .1" pos=".1 0 0" mass="2"/>
        <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 .1" mass=".6"/>
        <body pos=".3 0 .1"><joint type="ball" armature="{inner}"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .2 .1 0" mass=".5"/></body></body></body></worldbody></mujoco>"#
    )
}

fn free(armature: f64, inner: f64) -> String {
    limb(&format!(r#"<joint type="free" armature="{armature}"/>"#), inner)
}

fn start(mjcf: &str, scheme: Scheme, conserve: bool, dt: f64) -> Simulation {
    let mut s = simulation(mjcf, Options { scheme, conserve, timestep: Some(dt), ..Options::default() });
    let all = [1.0, 2.0, 0.5, 3.0, -2.0, 4.0, 5.0, -3.0, 2.0, 1.0];
    let first = all.len() - s.model().nv();
    s.state_mut().v.copy_from_slice(&all[first..]);
    s
}

/// Where it is in the end.
fn end(mjcf: &str, scheme: Scheme, conserve: bool, steps: usize) -> Vec<f64> {
    let mut s = start(mjcf, scheme, conserve, SPAN / steps as f64);
    run(&mut s, steps);
    s.state().q.clone()
}

fn distance(q: &[f64], other: &[f64]) -> f64 {
    q.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Errors of the midpoint rule in 200 and in 400 steps.
fn errors(mjcf: &str, conserve: bool) -> [f64; 2] {
    // Of the symplectic Euler scheme, errors of first order taken away.
    let [coarse, fine] = [40_000, 80_000].map(|steps| end(mjcf, Scheme::SymplecticEuler, conserve, steps));
    let reference: Vec<f64> = fine.iter().zip(&coarse).map(|(fine, coarse)| 2.0 * fine - coarse).collect();
    [200, 400].map(|steps| distance(&end(mjcf, Scheme::Midpoint, conserve, steps), &reference))
}

#[test]
fn midpoint_stays_of_second_order() {
    let planar = r#"<joint type="slide" axis="1 0 0" armature=".1"/><joint type="slide" axis="0 0 1" armature=".1"/>
        <joint axis="0 1 0" armature=".1"/>"#;
    let ball = r#"<joint type="ball" armature=".1"/>"#;
    for mjcf in [free(0.01, 0.0), free(0.1, 0.1), free(1.0, 1.0), limb(planar, 0.1), limb(ball, 0.1)] {
        let mut of_both = Vec::new();
        for conserve in [true, false] {
            let [coarse, fine] = errors(&mjcf, conserve);
            let slope = (coarse / fine).log2();
            assert!((slope - 2.0).abs() < 0.05, "{slope}, conserve {conserve}, {mjcf}");
            of_both.push(fine);
        }
        // Nor is what is mended more wrong than the rule.
        assert!(of_both[0] < 1.5 * of_both[1], "{of_both:?} {mjcf}");
    }
}

#[test]
fn armature_of_a_free_joint_is_that_of_mujoco() {
    // MuJoCo 4.0.0, RK4 in steps of 0.1 ms.
    let theirs: [f64; 12] = [
        0.995875863826,
        2.307302571807,
        -2.064714009641,
        -0.546619512074,
        0.443156264888,
        -0.043807287164,
        0.709154817725,
        5.349813590643,
        0.179294636281,
        -0.818897541253,
        0.480870741648,
        0.256950540293,
    ];
    let q = end(&free(1.0, 1.0), Scheme::Midpoint, true, 8000);
    assert!(distance(&q, &theirs) < 1e-6, "{q:?}");
}

/// Armature on translations is mass that moves with the root; that on rotations turns with its axes, and keeps no momentum.
#[test]
fn momentum_is_kept_with_the_armature_of_translations() {
    let mut s = start(&free(0.3, 0.1), Scheme::Midpoint, true, 0.01);
    let momentum = |s: &Simulation| {
        let tree = &s.model().tree;
        let mut kin = Kinematics::new(tree);
        forward_kinematics(tree, tree.all(), &s.state().q, &mut kin);
        velocities(tree, tree.all(), &s.state().v, &mut kin);
        let v = &s.state().v;
        let bodies = kin.frames.iter().zip(&kin.twists).map(|(frame, twist)| frame.inertia.momentum(*twist).lin);
        bodies.fold(Vec3::new(v[0], v[1], v[2]) * 0.3, |sum, lin| sum + lin)
    };
    let (energy, first) = (s.energy().total(), momentum(&s));
    for _ in 0..500 {
        run(&mut s, 1);
        let fallen = Vec3::new(0.0, 0.0, -common::G * 3.1 * s.state().time);
        assert!((momentum(&s) - first - fallen).norm() < 1e-12 * (first + fallen).norm());
        assert!((s.energy().total() - energy).abs() < 1e-10 * energy);
    }
}
