//! What a step of a soft cube costs: falling, and at rest on the ground.
//!
//! `cargo run --release -p sapwood-sim --example soft_cost`
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use deformable::{Material, SoftBody, TetMesh};
use sapwood_sim::{Options, Simulation};
use spatial::Vec3;

fn main() {
    let ground = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/></worldbody></mujoco>"#;
    println!("tetrahedra, nodes, ms free, ms at impact and after, ms at rest, points, iterations");
    for cells in [[6, 6, 6], [8, 8, 8], [10, 10, 10]] {
        let mut loaded = formats::load_str(ground, None, &formats::LoadOptions::default()).unwrap();
        let mesh = TetMesh::cuboid(Vec3::new(0.1, 0.1, 0.1), cells).unwrap();
        let mesh = mesh.transformed(|x| x + Vec3::new(0.0, 0.0, 0.1)).unwrap();
        let body = SoftBody::of("cube", mesh, Material::default()).unwrap();
        let (elements, nodes) = (body.mesh.element_count(), body.node_count());
        loaded.scene.soft_bodies.push(Arc::new(body));
        let options = Options { timestep: Some(0.01), ..Options::default() };
        let mut s = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap();
        let mut iterations = 0;
        let mut time = |s: &mut Simulation, steps: u32| {
            let start = Instant::now();
            for _ in 0..steps {
                s.step().unwrap();
                iterations += s.stats().iterations;
            }
            ms(start.elapsed() / steps)
        };
        let free = time(&mut s, 9);
        let falling = time(&mut s, 30);
        time(&mut s, 60);
        let rest = time(&mut s, 30);
        println!("{elements}, {nodes}, {free:.2}, {falling:.2}, {rest:.2}, {}, {iterations}", s.soft_contacts().len());
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
