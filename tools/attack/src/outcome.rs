//! What becomes of a case: an error that says something, or a few steps that leave numbers.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sim::{Simulation, SimulationError};

/// What became of a case that has loaded.
pub const SIMULATED: &str = "simulated";

/// What became of a case that is refused.
pub const REFUSED: &str = "refused";

/// Steps of what loads.
const STEPS: usize = 5;

/// Steps go on for no longer than this.
const STEPPING: Duration = Duration::from_secs(1);

/// The longest message but for paths in it, letters: what a terminal shows in a few lines.
const LONGEST_MESSAGE: usize = 300;

/// An error must say something, in a few lines.
pub fn refused(error: &str) -> Result<&'static str> {
    ensure!(error.len() > 10, "an error without a message");
    let words = error.split_whitespace().filter(|word| !word.contains('/'));
    let letters: usize = words.map(|word| word.chars().count() + 1).sum();
    ensure!(letters <= LONGEST_MESSAGE, "a message of {letters} letters: {error}");
    Ok(REFUSED)
}

/// Steps that succeed leave numbers behind.
pub fn step(simulation: &mut Simulation) -> Result<()> {
    let start = Instant::now();
    let goes_on = || start.elapsed() < STEPPING;
    for _ in 0..STEPS {
        let stepped = match simulation.options().accuracy {
            None => simulation.step(),
            // As many steps as it takes, which may be any number: asked after each.
            Some(_) => {
                let end = simulation.state().time + simulation.timestep();
                simulation.trajectory_while(&[end], |_, _| {}, goes_on).map(drop)
            }
        };
        if let Err(error) = stepped {
            refused(&error.to_string())?;
            // What reads a state of another size panics, as its documentation says.
            let has_other_size = matches!(error, SimulationError::Size { .. });
            if has_other_size {
                return Ok(());
            }
            break;
        }
        let state = simulation.state();
        let soft = state.soft_positions.iter().chain(&state.soft_velocities);
        ensure!(
            state.q.iter().chain(&state.v).chain(soft).all(|x| x.is_finite()),
            "a step that succeeded left what is no number"
        );
        if !goes_on() {
            break;
        }
    }
    simulation.energy();
    simulation.body_poses(&mut Vec::new());
    simulation.contacts();
    Ok(())
}
