//! Worlds on threads: each thread steps its own, all share one model. The results do not depend on the number of threads.

use sapwood::embedded::scene;
use sapwood::{Options, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::from_text(&scene("clutter-sphere-8".parse()?))?;
    let run = |seed: usize| -> Result<Vec<f64>, sapwood::SimulationError> {
        let mut simulation = world.simulate(Options::default())?;
        simulation.state_mut().v[0] = 0.1 * seed as f64;
        (0..100).try_for_each(|_| simulation.step())?;
        Ok(simulation.state().q.clone())
    };
    let ends: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread does not panic")).collect()
    });
    for (seed, end) in ends.into_iter().enumerate() {
        assert_eq!(end?, run(seed)?, "the same bits on another thread");
    }
    println!("4 worlds, 100 steps each: the same bits on threads of their own and on this one");
    Ok(())
}
