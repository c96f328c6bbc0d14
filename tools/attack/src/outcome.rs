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

/// An error must say something.
pub fn refused(error: &str) -> Result<&'static str> {
    ensure!(error.len() > 10, "an error without a message");
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
