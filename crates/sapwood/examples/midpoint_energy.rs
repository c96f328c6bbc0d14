//! A double pendulum under the symplectic midpoint rule: the energy does not drift in 10,000 steps.

use sapwood::embedded::scene;
use sapwood::{Options, Scheme, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::from_text(&scene("double-pendulum".parse()?))?;
    let options = Options { timestep: Some(2e-3), scheme: Scheme::Midpoint, ..Options::default() };
    let mut simulation = world.simulate(options)?;
    let total = |simulation: &mut sapwood::Simulation| {
        let energy = simulation.energy();
        energy.kinetic + energy.potential
    };
    simulation.state_mut().v[0] = 1.0;
    let start = total(&mut simulation);
    let mut farthest: f64 = 0.0;
    for _ in 0..10_000 {
        simulation.step()?;
        farthest = farthest.max((total(&mut simulation) - start).abs());
    }
    let moving = simulation.energy().kinetic.max(1.0);
    println!("energy {start:.6} J, never more than {farthest:.2e} J from it");
    assert!(farthest < 1e-6 * moving.max(start.abs()));
    Ok(())
}
