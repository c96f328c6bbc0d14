//! Microseconds per solve of every method on the five characters: best of short batches, one thread.

use std::hint::black_box;
use std::time::Instant;

use models::characters::{self, Character};
use sapwood_sim::stable_pd::{Command, Method, Solver, pd_force};

fn least(mut call: impl FnMut()) -> f64 {
    let batch = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..10).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e5
    };
    (0..100).map(|_| batch(&mut call)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("µs per solve     PD force     MABA    dense   sparse      PCG");
    for character in Character::ALL {
        let text = characters::mjcf(character, &characters::Options::default());
        let model = formats::load_str(&text, None, &formats::LoadOptions::default())?.model;
        let nv = model.nv();
        let wave = |size: f64| (0..nv).map(|i| size * (1.3 * i as f64).sin()).collect::<Vec<f64>>();
        let mut q = model.q0.clone();
        multibody::integrate(&model.tree, &mut q, &wave(0.4), 1.0);
        let (v, kp, kd) = (wave(1.0), vec![75_000.0; nv], vec![4_000.0; nv]);
        let command = Command { kp: &kp, kd: &kd, target: &model.q0, target_velocity: None, effort_limit: None };
        let mut force = v.clone();
        let pd = least(|| pd_force(&model.tree, black_box(&q), &v, &command, 1.0 / 60.0, &mut force));
        let times = [Method::Maba, Method::Dense, Method::Sparse, Method::Pcg].map(|method| {
            let mut solver = Solver::new(&model, method);
            least(|| {
                black_box(solver.solve(black_box(&q), &v, &command, 1.0 / 60.0).is_ok());
            })
        });
        let [maba, dense, sparse, pcg] = times;
        let name = character.name();
        println!("{name:<10}{nv:>5} {pd:>9.2} {maba:>8.2} {dense:>8.2} {sparse:>8.2} {pcg:>8.2}");
    }
    Ok(())
}
