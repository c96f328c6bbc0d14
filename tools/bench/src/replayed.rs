//! Frames of a run, made again without control.

use motion::tracking::{Control, Tracker, simulation, with_damping};
use multibody::Model;
use sim::Simulation;

use crate::{Error, Subject};

/// The states from which a run's steps start.
#[derive(Clone, Debug, Default)]
pub struct States {
    q: Vec<f64>,
    v: Vec<f64>,
}

impl States {
    /// Those of a tracker along its reference.
    ///
    /// # Errors
    /// When the motion diverges.
    pub fn of(tracker: &mut Tracker) -> Result<Self, Error> {
        tracker.restart();
        let mut states = Self::default();
        for _ in 0..tracker.reference().steps() {
            states.q.extend_from_slice(&tracker.simulation().state().q);
            states.v.extend_from_slice(&tracker.simulation().state().v);
            tracker.step()?;
        }
        Ok(states)
    }

    /// Positions and velocities, one pair a step.
    pub fn iter(&self, model: &Model) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.q.chunks_exact(model.nq()).zip(self.v.chunks_exact(model.nv()))
    }
}

/// A simulation whose controller's forces are known beforehand: steps without control.
pub struct Replay {
    simulation: Simulation,
    start: Vec<u8>,
    nv: usize,
    forces: Vec<f64>,
}

impl Replay {
    /// The forces of a tracker at these states. Of embedded control it is −K_p (q ⊞ dt v ⊟ q̄); K_d is damping of the model's
    /// joints, which the step has in its factor anyway: the same equations, so that contact has the same work to do.
    ///
    /// # Errors
    /// When a controller's system is singular.
    pub fn of(tracker: &mut Tracker, subject: &Subject, states: &States) -> Result<Self, Error> {
        tracker.restart();
        let (nv, dt) = (subject.model.nv(), tracker.reference().dt);
        let mut forces = Vec::with_capacity(states.v.len());
        for (k, (q, v)) in states.iter(&subject.model).enumerate() {
            tracker.place(q, v);
            tracker.simulation_mut().state_mut().step = k as u64;
            forces.extend_from_slice(tracker.find_force()?);
        }
        let is_embedded = tracker.controller().control == Control::Embedded;
        let model = if is_embedded { with_damping(&subject.model, &tracker.pd().kd) } else { subject.model.clone() };
        let simulation = simulation(&model, &subject.scene, dt)?;
        let start = simulation.state().to_bytes();
        Ok(Self { simulation, start, nv, forces })
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Goes back to the beginning.
    ///
    /// # Errors
    /// None, as the state is its own.
    pub fn restart(&mut self) -> Result<(), Error> {
        Ok(self.simulation.state_mut().restore(&self.start)?)
    }

    /// Puts the state where it is said to be.
    pub fn place(&mut self, q: &[f64], v: &[f64]) {
        let state = self.simulation.state_mut();
        state.q.copy_from_slice(q);
        state.v.copy_from_slice(v);
    }

    /// One step.
    ///
    /// # Errors
    /// When it fails, which it does not where the tracker's did not.
    pub fn step(&mut self) -> Result<(), Error> {
        let state = self.simulation.state_mut();
        let k = state.step as usize * self.nv;
        if let Some(force) = self.forces.get(k..k + self.nv) {
            state.applied_force.copy_from_slice(force);
        }
        Ok(self.simulation.step()?)
    }
}
