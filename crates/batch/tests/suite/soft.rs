//! Worlds with soft bodies are stepped one by one, and say so.

use std::sync::Arc;

use deformable::{Material, SoftBody, TetMesh};
use sapwood_batch::{Batch, BatchOptions};
use sim::{Options, Simulation};
use spatial::Vec3;

#[test]
fn worlds_with_soft_bodies_are_stepped_alone() {
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .13"><freejoint/><geom type="sphere" size=".02"/></body></worldbody></mujoco>"#;
    let mut loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    let mesh = TetMesh::cuboid(Vec3::new(0.1, 0.1, 0.1), [2; 3]).unwrap();
    let mesh = mesh.transformed(|x| x + Vec3::new(0.0, 0.0, 0.05)).unwrap();
    loaded.scene.soft_bodies.push(Arc::new(SoftBody::of("cube", mesh, Material::default()).unwrap()));
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut batch = Batch::new(model.clone(), scene.clone(), 3, BatchOptions::default()).unwrap();
    assert_eq!(batch.alone(), Some("it has soft bodies"));
    let mut one = Simulation::new(model, scene, Options::default()).unwrap();
    let start = one.state().clone();
    batch.step(30).unwrap();
    (0..30).for_each(|_| one.step().unwrap());
    for world in 0..3 {
        assert_eq!(batch.state(world), *one.state());
    }
    batch.reset(&[false, true, false], None).unwrap();
    assert_eq!(batch.state(1).soft_positions, start.soft_positions);
    assert_eq!(batch.state(2).soft_positions, one.state().soft_positions);
    let error = batch.set_state(0, &sim::State::new(one.model())).unwrap_err().to_string();
    assert!(error.contains("soft_positions"), "{error}");
}
