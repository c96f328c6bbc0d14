//! A humanoid in free fall holds its posture by stable PD at 60 Hz, with gains far beyond what an explicit law could have.

use sapwood::embedded::{Character, CharacterOptions, character};
use sapwood::{Options, Pd, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::from_text(&character(Character::Humanoid, &CharacterOptions::default()))?;
    let mut simulation = world.simulate(Options { timestep: Some(1.0 / 60.0), ..Options::default() })?;
    let nv = simulation.model().nv();
    let target = simulation.state().q.clone();
    let mut gains = vec![1e4; nv];
    gains[..6].fill(0.0); // the root is free
    simulation.state_mut().pd = Pd {
        kd: gains.iter().map(|kp| 0.1 * kp).collect(),
        kp: gains,
        target: target.clone(),
        target_velocity: vec![0.0; nv],
        effort_limit: vec![300.0; nv],
    };
    (0..30).try_for_each(|_| simulation.step())?;
    let farthest =
        simulation.state().q[7..].iter().zip(&target[7..]).map(|(q, target)| (q - target).abs()).fold(0.0, f64::max);
    println!("after 0.5 s no joint coordinate is more than {farthest:.4} from its target");
    assert!(farthest < 0.05);
    Ok(())
}
