//! After a warm-up a step does not touch the heap.

mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use std::sync::Arc;

use common::{BIPED, EVERYTHING, crawlers, run, set_going, simulation, tower, towers};
use counting_allocator::allocations;
use sapwood_sim::{Options, Scheme, Simulation};
use spatial::Vec3;

#[test]
fn steps_after_warm_up_do_not_allocate() {
    // One test in this file: the counter is the process's.
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
        // Shared: towers alike, so that it does not matter which thread's scratch has seen which.
        (&towers(8), 0.01, Options { threads: 2, ..Options::default() }),
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
