//! After a warm-up a step does not touch the heap.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use std::sync::Arc;

use common::{BIPED, EVERYTHING, crawlers, run, set_going, simulation, tower};
use counting_allocator::allocations;
use models::{characters, scenes};
use sapwood_sim::{Options, Pd, Scheme, Simulation};
use spatial::Vec3;

#[test]
fn steps_after_warm_up_do_not_allocate() {
    let midpoint = Options { scheme: Scheme::Midpoint, ..Options::default() };
    let accurate = Options { accuracy: Some(1e-2), ..midpoint.clone() };
    let cases = [
        (BIPED, 0.005, Options::default()),
        (&tower(), 0.01, Options::default()),
        (EVERYTHING, 0.005, Options::default()),
        (&crawlers(1), 0.005, Options::default()),
        (BIPED, 0.005, midpoint.clone()),
        (EVERYTHING, 0.005, midpoint),
        (BIPED, 0.005, accurate),
    ];
    for (scene, dt, options) in cases {
        let start = |s: &mut Simulation| {
            s.reset(None).unwrap();
            if scene == EVERYTHING {
                set_going(s);
            }
        };
        let mut s = simulation(scene, Options { timestep: Some(dt), ..options });
        start(&mut s);
        run(&mut s, 600);
        // The same motion once more: what it needed at its worst is there.
        start(&mut s);
        run(&mut s, 1);
        let before = allocations();
        run(&mut s, 599);
        let allocations = allocations() - before;
        assert_eq!(allocations, 0, "{:?}", s.options());
        assert!(s.stats().contacts > 0);
    }
    // PD control whose gains, limits and target velocities change in every step.
    let mut s = controlled_humanoid();
    let start = s.state().to_bytes();
    run_controlled(&mut s, 300);
    s.state_mut().restore(&start).unwrap();
    run_controlled(&mut s, 1);
    let before = allocations();
    run_controlled(&mut s, 299);
    assert_eq!(allocations() - before, 0);
    assert!(s.stats().active_contacts > 0);
    // Steps in parts.
    let arm = scenes::mjcf("flung-arm".parse().unwrap());
    for (conserve, least) in [(true, 100), (false, 200)] {
        let options = Options { timestep: Some(0.02), scheme: Scheme::Midpoint, conserve, ..Options::default() };
        let mut s = simulation(&arm, options);
        s.reset(Some("flung")).unwrap();
        run(&mut s, 500);
        let before = allocations();
        let parts: usize = (0..100)
            .map(|_| {
                run(&mut s, 1);
                s.stats().substeps
            })
            .sum();
        assert_eq!(allocations() - before, 0);
        assert!(parts > least, "{parts}");
    }
    // A finger on a body that is moved from outside pushes a cube.
    let mut s = simulation(FINGER, Options::default());
    let push = |s: &mut Simulation, steps: std::ops::Range<usize>| {
        for k in steps {
            s.state_mut().mocap[0] = -0.5 + 0.001 * k as f64;
            run(s, 1);
        }
    };
    push(&mut s, 0..500);
    s.reset(None).unwrap();
    push(&mut s, 0..2);
    let before = allocations();
    push(&mut s, 2..500);
    assert_eq!(allocations() - before, 0);
    assert!(s.stats().active_contacts > 0);
    // A soft cube with a rigid ball on it: the same motion once more.
    for model in [deformable::MaterialModel::LinearCorotated, deformable::MaterialModel::StableNeoHookean] {
        let mut s = soft_cube(model);
        s.reset(None).unwrap();
        run(&mut s, 100);
        s.reset(None).unwrap();
        run(&mut s, 1);
        let before = allocations();
        run(&mut s, 99);
        assert_eq!(allocations() - before, 0, "{model}");
        assert!(s.stats().active_contacts > 4);
    }
}

const FINGER: &str = r#"<mujoco><worldbody><geom type="plane" size="3 3 .1"/><body mocap="true" pos="-.5 0 .1">
    <body><joint type="slide" axis="0 1 0" range="-.1 .1" damping="5"/><geom type="box" size=".05 .05 .05"/></body></body>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"#;

fn controlled_humanoid() -> Simulation {
    let text = characters::mjcf(characters::Character::Humanoid, &characters::Options::default());
    let mut s = simulation(&text, Options { timestep: Some(0.01), ..Options::default() });
    let (nv, target) = (s.model().nv(), s.model().q0.clone());
    let zeros = vec![0.0; nv];
    let effort_limit = vec![f64::INFINITY; nv];
    s.state_mut().pd = Pd { kp: zeros.clone(), kd: zeros.clone(), target, target_velocity: zeros, effort_limit };
    s
}

fn run_controlled(s: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        let step = s.state().step as f64;
        let pd = &mut s.state_mut().pd;
        for i in 6..pd.kp.len() {
            let swing = libm::sin(0.1 * step + i as f64);
            (pd.kp[i], pd.kd[i]) = (300.0 + 50.0 * swing, 20.0 + 5.0 * swing);
            (pd.target_velocity[i], pd.effort_limit[i]) = (3.0 * swing, 60.0 - 20.0 * swing);
        }
        s.step().unwrap();
    }
}

fn soft_cube(model: deformable::MaterialModel) -> Simulation {
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .16"><freejoint/>
        <geom type="sphere" size=".03"/></body></worldbody></mujoco>"#;
    let mut loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    let material = deformable::Material { model, ..deformable::Material::default() };
    let mesh = deformable::TetMesh::cuboid(Vec3::new(0.1, 0.1, 0.1), [3; 3]).unwrap();
    let mesh = mesh.transformed(|x| x + Vec3::new(0.0, 0.0, 0.06)).unwrap();
    let cube = deformable::SoftBody::of("cube", mesh, material).unwrap();
    loaded.scene.soft_bodies.push(Arc::new(cube));
    let options = Options { timestep: Some(0.01), ..Options::default() };
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap()
}
