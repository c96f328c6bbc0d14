//! Soft bodies of nonlinear materials in contact: rest does not depend on the step, every solver says the same, violence is survived.

use deformable::{Material, MaterialModel, SoftBody, SoftBodyDescription};
use sapwood_sim::{Options, Scheme, Simulation};

use crate::common::G;
use crate::common::soft::{contact_force, cuboid, soft};

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
            assert!((force / (30.0 * G) - 1.0).abs() < 1e-4, "{model} {scheme} {dt}: {force}");
            assert!(worst <= 1e-6, "{model} {scheme} {dt}: {worst:e}");
            heights.push(s.state().q[0]);
        }
        let (low, high) = heights.iter().fold((f64::MAX, f64::MIN), |(low, high), z| (low.min(*z), high.max(*z)));
        assert!(high - low < 2e-6 && high < -0.019, "{model}: {heights:?}");
    }
}

/// A cube hits the ground with twice the speed of sound in it and rings on: no step fails, and none makes energy, not even undamped under midpoint,
/// whose steps are halved where they would. (A linear-corotated one, whose axes stay within a step, diverges there.)
#[test]
fn violent_impacts_make_no_energy() {
    for model in NONLINEAR {
        for (scheme, dt) in [(Scheme::Midpoint, 0.002), (Scheme::Bilinear, 0.01)] {
            let cube =
                cuboid([0.1; 3], [3; 3], 0.02, Material { model, damping_stiffness: 0.0, ..Material::default() });
            let ground = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="0.8"/></worldbody></mujoco>"#;
            let mut s = soft(ground, vec![cube], vec![], Options { timestep: Some(dt), scheme, ..Options::default() });
            s.state_mut().soft_velocities.chunks_exact_mut(3).for_each(|v| v[2] = -20.0);
            let start = s.energy().total();
            let (mut least, mut most, mut worst, mut substeps) = (start, 0.0_f64, 0.0_f64, 0);
            for _ in 0..(0.2 / dt) as usize {
                s.step().unwrap();
                least = least.min(s.energy().total());
                most = most.max(s.energy().total() / least);
                worst = worst.max(s.stats().soft_residual);
                substeps = substeps.max(s.stats().substeps);
            }
            assert!(worst <= 1e-6, "{model} {scheme}: {worst:e}");
            // Undamped midpoint swings about the energy that the impact has left.
            assert!(most < 1.1 && s.energy().total() < 0.9 * start, "{model} {scheme}: {most}");
        }
    }
}
