//! Bodies in a medium: steps in the lane of a world by itself are those of the step for all models.

use std::sync::Arc;

use sapwood_sim::{Options, Scheme, Simulation};

use crate::common::beside;

/// A swimmer between the ground and the surface, a plate that hangs, and gravity that the medium does not carry.
fn swimmer(medium: &str) -> String {
    let link = |name: &str, inside: &str| {
        format!(
            r#"<body pos=".2 0 0" euler="30 0 0"><joint name="{name}" axis="0 1 .3" range="-60 60" damping=".01"/>
            <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/><geom type="box" size=".05 .002 .06" pos=".1 .02 0"/>{inside}</body>"#
        )
    };
    format!(
        r#"<mujoco><option timestep=".004" {medium}/><worldbody><geom type="plane" size="5 5 1"/>
        <body pos="0 0 .3"><freejoint/><geom type="ellipsoid" size=".2 .08 .05"/>{}</body>
        <body pos="1 0 .6"><joint type="ball"/><geom type="box" size=".1 .002 .2" pos="0 0 -.2" density="3000"/></body>
        </worldbody><actuator><position joint="a" kp="2" forcerange="-1 1"/><motor joint="b"/></actuator></mujoco>"#,
        link("a", &link("b", ""))
    )
}

const MEDIA: [&str; 3] =
    [r#"density="800" viscosity=".001""#, r#"density="1.2" viscosity=".5" wind="4 -2 1""#, r#"viscosity="3""#];

#[test]
fn steps_in_lanes_are_those_of_the_step_for_all_models() {
    for medium in MEDIA {
        for scheme in [Scheme::Bilinear, Scheme::SymplecticEuler] {
            let options = Options { tolerance: 1e-12, scheme, ..Options::default() };
            let mut pushing = 0;
            let (worst, in_lane) = beside(&swimmer(medium), &options, |sim, step| {
                let phase = 0.05 * step as f64;
                sim.state_mut().ctrl.copy_from_slice(&[libm::sin(phase), 0.3 * libm::cos(phase)]);
                pushing += usize::from(sim.stats().active_contacts > 0);
            });
            println!("{medium}, {scheme:?}: {worst:e}, {in_lane}, {pushing}");
            assert!(worst < 1e-9 && in_lane > 100, "{medium}, {scheme:?}: {worst:e}, {in_lane}");
        }
    }
}

/// What the medium does is among the passive forces, whichever way the step was made.
#[test]
fn forces_after_a_step_in_the_lane() {
    let options = Options { tolerance: 1e-12, ..Options::default() };
    let loaded = formats::load_str(&swimmer(MEDIA[1]), None, &formats::LoadOptions::default()).unwrap();
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut lane = Simulation::new(model.clone(), scene.clone(), options.clone()).unwrap();
    let mut all = Simulation::without_lane(model, scene, options).unwrap();
    let mut in_lane = 0;
    for _ in 0..60 {
        all.state_mut().clone_from(lane.state());
        lane.step().unwrap();
        all.step().unwrap();
        in_lane += usize::from(lane.state().v != all.state().v);
        let (found, expected) = (lane.step_forces(), all.step_forces());
        let pairs = [(&found.passive, &expected.passive), (&found.constraint, &expected.constraint)];
        for (found, expected) in pairs {
            let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Newtons of bodies that weigh tens of them, by velocities that agree to 1e-12.
            assert!(error < 1e-8, "{found:?} {expected:?}");
        }
        assert!(found.passive.iter().any(|force| force.abs() > 1e-3));
    }
    assert!(in_lane > 30, "{in_lane}");
}
