//! Steps of a simulation some of whose bodies follow motions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Simulation;

impl Simulation {
    /// As `advance_through`, where bodies follow a motion: each step asks for their places at its end.
    pub(super) fn advance_following(
        &self,
        py: Python<'_>,
        times: &[f64],
        mut frame: impl FnMut(&[f64], &[f64]),
    ) -> PyResult<()> {
        let Some(&end) = times.last() else { return Ok(()) };
        if !(times.is_sorted() && end.is_finite()) {
            return Err(PyValueError::new_err("times: expected finite numbers, an ascending sequence"));
        }
        self.observers.before_steps();
        let mut start = self.current_state(py)?;
        let passed = times.partition_point(|time| *time <= start.time);
        times[..passed].iter().for_each(|_| frame(&start.q, &start.v));
        let mut remaining = &times[passed..];
        while !remaining.is_empty() {
            self.place_followers(py, end)?;
            let mut simulation = self.lock_to_compute(py)?;
            start.copy_from(simulation.state());
            let stepper = &mut *simulation;
            let outcome = py.detach(|| {
                stepper.step_within(end)?;
                self.observers.after_step(&start, stepper);
                Ok(())
            });
            self.live.write_motion(py, simulation.state())?;
            outcome.map_err(|error| self.watch.error(py, &error))?;
            let (due, later) = remaining.split_at(remaining.partition_point(|time| *time <= simulation.state().time));
            for time in due {
                let (q, v) = simulation.between(&start, *time);
                frame(&q, &v);
            }
            remaining = later;
        }
        Ok(())
    }

    /// Puts the bodies that follow a motion where they are at the end of the next step, which does not pass `latest`.
    pub(super) fn place_followers(&self, py: Python<'_>, latest: f64) -> PyResult<()> {
        if self.followers.are_none() {
            return Ok(());
        }
        let end = {
            let simulation = self.lock()?;
            simulation.state().time + simulation.timestep()
        };
        self.followers.place(py, end.min(latest), &self.live.mocap)
    }
}
