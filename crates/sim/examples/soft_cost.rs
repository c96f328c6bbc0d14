//! What a step of a soft cube costs: falling, in contact after it, and at rest on the ground.
//!
//! `cargo run --release -p sapwood-sim --example soft_cost`
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use deformable::{Material, MaterialModel, SoftBody, TetMesh};
use sapwood_sim::{Options, Simulation};
use spatial::Vec3;

fn main() {
    let ground = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/></worldbody></mujoco>"#;
    println!(
        "material, tetrahedra, nodes; ms free, after impact, at rest; contact points; Newton steps after impact, at rest"
    );
    for (cells, (name, model)) in
        [6, 8, 10].into_iter().flat_map(|cells| MaterialModel::NAMED.map(|named| (cells, named)))
    {
        let mut loaded = formats::load_str(ground, None, &formats::LoadOptions::default()).unwrap();
        let mesh = TetMesh::cuboid(Vec3::new(0.1, 0.1, 0.1), [cells; 3]).unwrap();
        let mesh = mesh.transformed(|x| x + Vec3::new(0.0, 0.0, 0.1)).unwrap();
        let body = SoftBody::of("cube", mesh, Material { model, ..Material::default() }).unwrap();
        let (elements, nodes) = (body.mesh.element_count(), body.node_count());
        loaded.scene.soft_bodies.push(Arc::new(body));
        let options = Options { timestep: Some(0.01), ..Options::default() };
        let mut s = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap();
        let time = |s: &mut Simulation, steps: u32| {
            let (start, mut iterations) = (Instant::now(), 0);
            for _ in 0..steps {
                s.step().unwrap();
                iterations += s.stats().free_iterations;
            }
            (ms(start.elapsed() / steps), iterations as f64 / f64::from(steps))
        };
        let (free, _) = time(&mut s, 9);
        let (moving, moving_iterations) = time(&mut s, 30);
        time(&mut s, 60);
        let (rest, rest_iterations) = time(&mut s, 30);
        println!(
            "{name}, {elements}, {nodes}; {free:.2}, {moving:.2}, {rest:.2}; {}; {moving_iterations:.1}, {rest_iterations:.1}",
            s.soft_contacts().len()
        );
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
