//! Soft bodies of nonlinear materials in contact: rest does not depend on the step, every solver says the same, violence is survived.

mod common;

use deformable::{Material, MaterialModel, SoftBody, SoftBodyDescription};
use sapwood_sim::{Factorization, Options, Scheme, Simulation};
use spatial::Vec3;

use common::G;
use common::soft::{contact_force, cuboid, run, soft};

const NONLINEAR: [MaterialModel; 2] = [MaterialModel::Corotated, MaterialModel::StableNeoHookean];

/// A plate of 30 kg on a soft cube of 0.1 m that is pinned below: pressed by a quarter or more.
fn pressed(model: MaterialModel, options: Options) -> Simulation {
    let plate = r#"<mujoco><worldbody><body pos="0 0 .11"><joint type="slide" axis="0 0 1"/>
        <geom type="box" size=".2 .2 .01" mass="30" friction="1"/></body></worldbody></mujoco>"#;
    let cube = cuboid([0.1; 3], [3; 3], 0.0, Material { model, damping_stiffness: 0.05, ..Material::default() });
    let nodes = cube.mesh.positions();
    let pinned = (0..nodes.len() as u32).filter(|i| nodes[*i as usize].z < 1e-9).collect();
    let cube = SoftBody::new(SoftBodyDescription { pinned, friction: 1.0, ..cube.description().clone() }).unwrap();
    soft(plate, vec![cube], vec![], options)
}

#[test]
fn rest_does_not_depend_on_the_step() {
    for model in NONLINEAR {
        let mut heights = Vec::new();
        for (scheme, dt) in [(Scheme::Bilinear, 0.002), (Scheme::Bilinear, 0.02), (Scheme::Midpoint, 0.005)] {
            let mut s = pressed(model, Options { timestep: Some(dt), scheme, ..Options::default() });
            let (mut most, mut worst) = (0, 0.0_f64);
            for _ in 0..(1.5 / dt) as usize {
                s.step().unwrap();
                most = most.max(s.stats().free_iterations);
                worst = worst.max(s.stats().soft_residual);
            }
            let force = contact_force(&s).z;
            println!(
                "{model} {scheme} {dt}: {} m, {force} N, {most} iterations, {worst:e}, {}",
                s.state().q[0],
                s.stats().iterations
            );
            assert!((force / (30.0 * G) - 1.0).abs() < 1e-4, "{model} {scheme} {dt}: {force}");
            assert!(worst <= 1e-6, "{model} {scheme} {dt}: {worst:e}");
            heights.push(s.state().q[0]);
        }
        let (low, high) = heights.iter().fold((f64::MAX, f64::MIN), |(low, high), z| (low.min(*z), high.max(*z)));
        assert!(high - low < 2e-6 && high < -0.019, "{model}: {heights:?}");
    }
}

#[test]
fn violent() {
    for model in [MaterialModel::LinearCorotated, MaterialModel::Corotated, MaterialModel::StableNeoHookean] {
        for scheme in [Scheme::Bilinear, Scheme::Midpoint, Scheme::ImplicitEuler] {
            for damping_stiffness in [0.0, 0.01] {
                for (speed, dt) in [(5.0, 0.002), (5.0, 0.01), (20.0, 0.002), (20.0, 0.01)] {
                    let material = Material { model, damping_stiffness, ..Material::default() };
                    let cube = cuboid([0.1; 3], [4; 3], 0.02, material);
                    let ground =
                        r#"<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="0.8"/></worldbody></mujoco>"#;
                    let mut s =
                        soft(ground, vec![cube], vec![], Options { timestep: Some(dt), scheme, ..Options::default() });
                    s.state_mut().soft_velocities.chunks_exact_mut(3).for_each(|v| v[2] = -speed);
                    let start = s.energy().total();
                    let (mut most, mut worst, mut iterations, mut failure, mut substeps, mut total) =
                        (0.0_f64, 0.0_f64, 0, None, 0, 0);
                    let steps = (0.4 / dt) as usize;
                    for k in 0..steps {
                        if let Err(error) = s.step() {
                            failure = Some((k, error.to_string()));
                            break;
                        }
                        most = most.max(s.energy().total() / start);
                        worst = worst.max(s.stats().soft_residual);
                        iterations = iterations.max(s.stats().free_iterations);
                        substeps = substeps.max(s.stats().substeps);
                        total += s.stats().free_iterations;
                    }
                    println!(
                        "{model} {scheme} beta {damping_stiffness} {speed} {dt}: energy {most:.3} end {:.3}, {iterations} its at most, mean {:.1}, {substeps} substeps, {worst:.1e} {failure:?}",
                        s.energy().total() / start,
                        total as f64 / steps as f64
                    );
                }
            }
        }
    }
}
