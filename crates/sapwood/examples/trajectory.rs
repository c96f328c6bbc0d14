//! A recording that numpy reads: `numpy.load("tower.npz")["q"]`.

use sapwood::embedded::scene;
use sapwood::trajectory::NpzWriter;
use sapwood::{Options, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = World::from_text(&scene("tower-3".parse()?))?.simulate(Options::default())?;
    let (mut times, mut q) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        simulation.step()?;
        times.push(simulation.state().time);
        q.extend_from_slice(&simulation.state().q);
    }
    let path = std::env::temp_dir().join(format!("sapwood-tower-{}.npz", std::process::id()));
    let mut file = NpzWriter::create(&path)?;
    file.array_f64("time", &[times.len()], &times)?;
    file.array_f64("q", &[times.len(), q.len() / times.len()], &q)?;
    file.finish()?;
    let size = std::fs::metadata(&path)?.len();
    println!("{} frames, {size} bytes in {}", times.len(), path.display());
    assert!(size as usize > 8 * q.len());
    Ok(())
}
